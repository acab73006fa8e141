// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/json_out.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

static bool is_utf8(const char *text)
{
	const char *end = text + strlen(text);
	uint32_t character;
	size_t n;

	for (; text < end; text += n) {
		n = utf8_decode(text, end - text, &character);
		if (!n)
			return false;
	}
	return true;
}

void json_quoted(FILE *f, const char *text)
{
	const char *end = text + strlen(text);
	uint32_t c = 0;
	size_t n;

	putc('"', f);
	for (; text < end; text += n ? n : 1) {
		n = utf8_decode(text, end - text, &c);
		if (!n)
			fputs("\\ufffd", f);
		else if (c < ' ' || c == 0x7f)
			fprintf(f, "\\u%04x", c);
		else if (c == '"' || c == '\\')
			fprintf(f, "\\%c", *text);
		else
			fwrite(text, 1, n, f);
	}
	putc('"', f);
}

static void hex(FILE *f, const char *text)
{
	putc('"', f);
	for (; *text; text++)
		fprintf(f, "%02x", (uint8_t)*text);
	putc('"', f);
}

void json_value(FILE *f, uint64_t value)
{
	fprintf(f, value > INT64_MAX ? "\"%" PRIu64 "\"" : "%" PRIu64, value);
}

void json_number(FILE *f, const char *key, uint64_t value)
{
	fprintf(f, ",\"%s\":", key);
	json_value(f, value);
}

void json_name(FILE *f, const char *key, const char *text)
{
	fprintf(f, ",\"%s\":", key);
	json_foreign(f, key, text);
}

void json_foreign(FILE *f, const char *key, const char *text)
{
	json_quoted(f, text);
	if (is_utf8(text))
		return;
	fprintf(f, ",\"%s_hex\":", key);
	hex(f, text);
}

void json_element(FILE *f, const char *text)
{
	if (is_utf8(text)) {
		json_quoted(f, text);
		return;
	}
	fputs("{\"hex\":", f);
	hex(f, text);
	putc('}', f);
}
