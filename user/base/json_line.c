// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/json_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static int fail_at(const struct ndjson_line *line, size_t column, const char *what)
{
	diag_fail(line->d, -EBADMSG, "%s:%llu:%zu: %s", line->file,
		  (unsigned long long)line->number, column, what);
	diag_help(line->d, "correct or remove the line; docs/RECORDING.md says how lines look");
	return -EBADMSG;
}

int line_fail(const struct ndjson_line *line, const char *key, const char *fmt, ...)
{
	char what[256], quoted[64];
	const char *at = NULL;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (key) {
		snprintf(quoted, sizeof(quoted), "\"%s\"", key);
		at = memmem(line->text, line->size, quoted, strlen(quoted));
	}
	return fail_at(line, at ? at - line->text + 1 : 1, what);
}

int line_parse(struct ndjson_line *line)
{
	json_error_t error;

	line->json = json_loadb(line->text, line->size, JSON_REJECT_DUPLICATES, &error);
	if (!line->json)
		return fail_at(line, error.column > 0 ? error.column : 1, error.text);
	if (json_is_object(line->json))
		return 0;
	json_decref(line->json);
	line->json = NULL;
	return fail_at(line, 1, "a line must be a JSON object");
}

int line_number(const struct ndjson_line *line, const json_t *value, const char *key, uint64_t max,
		uint64_t *ret)
{
	const char *text = json_string_value(value);
	uint64_t number;

	if (json_is_integer(value) && json_integer_value(value) >= 0)
		number = json_integer_value(value);
	else if (!text || strspn(text, "0123456789") != json_string_length(value) ||
		 parse_u64(text, &number))
		return line_fail(line, key, "\"%s\" must be a whole number from 0", key);
	if (number > max)
		return line_fail(line, key, "\"%s\" must not be above %llu", key,
				 (unsigned long long)max);
	*ret = number;
	return 0;
}

static int missing(const struct ndjson_line *line, const char *key, enum need need)
{
	return need == REQUIRED ? line_fail(line, NULL, "\"%s\" is missing", key) : 0;
}

int line_u64(const struct ndjson_line *line, const json_t *object, const char *key, enum need need,
	     uint64_t max, uint64_t *ret)
{
	const json_t *value = json_object_get(object, key);

	return value ? line_number(line, value, key, max, ret) : missing(line, key, need);
}

int line_bool(const struct ndjson_line *line, const json_t *object, const char *key, bool *ret)
{
	const json_t *value = json_object_get(object, key);

	if (value && !json_is_boolean(value))
		return line_fail(line, key, "\"%s\" must be true or false", key);
	if (value)
		*ret = json_is_true(value);
	return 0;
}

int line_known_keys(const struct ndjson_line *line, json_t *object, const char *const *keys,
		    size_t nr)
{
	const char *key;
	json_t *value;
	size_t i;

	json_object_foreach (object, key, value) {
		for (i = 0; i < nr && strcmp(key, keys[i]) != 0; i++)
			;
		if (i == nr)
			return line_fail(line, key, "the key \"%.40s\" is not known", key);
	}
	return 0;
}

int line_array(const struct ndjson_line *line, const json_t *object, const char *key,
	       enum need need, size_t max, json_t **ret)
{
	json_t *value = json_object_get(object, key);

	*ret = NULL;
	if (!value)
		return missing(line, key, need);
	if (!json_is_array(value))
		return line_fail(line, key, "\"%s\" must be an array", key);
	if (json_array_size(value) > max)
		return line_fail(line, key, "\"%s\" has more than %zu elements", key, max);
	*ret = value;
	return 0;
}

static int digit(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;

	return at ? at - digits : -1;
}

/* Bytes that no JSON text can hold; there is no byte 0 in a text. */
static int take_hex(const struct ndjson_line *line, const json_t *value, const char *key, char *buf,
		    size_t size)
{
	const char *hex = json_string_value(value);
	size_t n = json_string_length(value);

	if (!hex || n % 2)
		return line_fail(line, key, "the bytes of \"%s\" are not hexadecimal", key);
	if (n / 2 >= size)
		return line_fail(line, key, "\"%s\" is longer than %zu bytes", key, size - 1);
	for (size_t i = 0; i < n / 2; i++) {
		int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);

		if (high < 0 || low < 0 || high + low == 0)
			return line_fail(line, key, "the bytes of \"%s\" are not hexadecimal", key);
		buf[i] = high << 4 | low;
	}
	buf[n / 2] = '\0';
	return 0;
}

static int take_text(const struct ndjson_line *line, const json_t *value, const char *key,
		     char *buf, size_t size)
{
	size_t n = json_string_length(value);

	if (!json_is_string(value))
		return line_fail(line, key, "\"%s\" must be a text", key);
	if (n >= size)
		return line_fail(line, key, "\"%s\" is longer than %zu bytes", key, size - 1);
	memcpy(buf, json_string_value(value), n);
	buf[n] = '\0';
	return 0;
}

int line_text(const struct ndjson_line *line, const json_t *object, const char *key, enum need need,
	      char *buf, size_t size, bool *ret_known)
{
	const json_t *value = json_object_get(object, key), *hex;
	char hex_key[64];

	if (ret_known)
		*ret_known = value;
	if (!value)
		return missing(line, key, need);
	snprintf(hex_key, sizeof(hex_key), "%s_hex", key);
	hex = json_object_get(object, hex_key);
	return hex ? take_hex(line, hex, key, buf, size) : take_text(line, value, key, buf, size);
}

int line_word(const struct ndjson_line *line, const json_t *object, const char *key, enum need need,
	      const char *(*name)(unsigned int), unsigned int nr, unsigned int *ret)
{
	const json_t *value = json_object_get(object, key);
	const char *text = json_string_value(value);
	char words[160] = "";

	if (!value)
		return missing(line, key, need);
	for (unsigned int i = 0; i < nr; i++) {
		if (text && !strcmp(text, name(i))) {
			*ret = i;
			return 0;
		}
		str_append(words, sizeof(words), "%s\"%s\"", i ? i + 1 < nr ? ", " : " or " : "",
			   name(i));
	}
	return line_fail(line, key, "\"%s\" must be %s", key, words);
}

int line_element_text(const struct ndjson_line *line, const json_t *value, const char *key,
		      char *buf, size_t size)
{
	if (json_is_object(value))
		return take_hex(line, json_object_get(value, "hex"), key, buf, size);
	return take_text(line, value, key, buf, size);
}
