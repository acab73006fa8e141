// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trace/json_text.h"

#include <stdbool.h>

/*
 * Length of the UTF-8 character at @s, 0 if there is none: over-long forms, surrogates
 * and what is above U+10FFFF are none.
 */
static size_t character(const uint8_t *s)
{
	size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	if (s[0] > 0xf4)
		return 0;
	/* NUL is no continuation: this ends with the text */
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

static bool is_utf8(const char *text)
{
	const uint8_t *s = (const uint8_t *)text;
	size_t n;

	for (; *s; s += n) {
		n = character(s);
		if (!n)
			return false;
	}
	return true;
}

void json_quoted(FILE *f, const char *text)
{
	const uint8_t *s = (const uint8_t *)text;
	size_t n;

	putc('"', f);
	for (; *s; s += n ? n : 1) {
		n = character(s);
		if (!n)
			fputs("\\ufffd", f);
		else if (*s < ' ' || *s == 0x7f)
			fprintf(f, "\\u%04x", *s);
		else if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else
			fwrite(s, 1, n, f);
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

void json_bool(FILE *f, const char *key, int value)
{
	fprintf(f, ",\"%s\":%s", key, value ? "true" : "false");
}

void json_name(FILE *f, const char *key, const char *text)
{
	fprintf(f, ",\"%s\":", key);
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
