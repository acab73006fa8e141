/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One line of JSON: checked access to its values, errors with line and column. */
#ifndef BASE_JSON_LINE_H
#define BASE_JSON_LINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

/**
 * struct ndjson_line - the line in hand
 * @file: for messages
 * @number: from 1
 * @text, @size: without the newline
 * @json: an object
 * @d: gets the problem
 */
struct ndjson_line {
	const char *file;
	uint64_t number;
	const char *text;
	size_t size;
	json_t *json;
	struct diag *d;
};

enum need {
	OPTIONAL,
	REQUIRED,
};

/** line_parse() - @json from @text; 0, -EBADMSG with the problem in @d */
int line_parse(struct ndjson_line *line);

/**
 * line_fail() - a problem of this line
 * @line: the line
 * @key: where the problem is, NULL for the line as a whole
 * @fmt: what is wrong
 *
 * Return: -EBADMSG.
 */
int line_fail(const struct ndjson_line *line, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * line_number() - a whole number of at most @max
 * @line: for messages
 * @value: a JSON integer, or a text of digits: JSON libraries differ above 2^63
 * @key: for messages
 * @max: largest
 * @ret: the number
 *
 * Return: 0 or -EBADMSG.
 */
int line_number(const struct ndjson_line *line, const json_t *value, const char *key, uint64_t max,
		uint64_t *ret);

/* Values of keys: 0 or -EBADMSG. Without the optional key, *ret stays as it is. */
int line_u64(const struct ndjson_line *line, const json_t *object, const char *key, enum need need,
	     uint64_t max, uint64_t *ret);
int line_bool(const struct ndjson_line *line, const json_t *object, const char *key, bool *ret);

/**
 * line_known_keys() - has an object only these keys?
 *
 * An unknown one is a typing error, which would change the meaning of the rest.
 *
 * Return: 0 or -EBADMSG.
 */
int line_known_keys(const struct ndjson_line *line, json_t *object, const char *const *keys,
		    size_t nr);

/** line_array() - an array of at most @max elements; NULL without the optional key */
int line_array(const struct ndjson_line *line, const json_t *object, const char *key,
	       enum need need, size_t max, json_t **ret);

/**
 * line_text() - a text; that of KEY_hex, bytes in hexadecimal, takes precedence
 * @line: for messages
 * @object: what has the key
 * @key: the key
 * @need: is it an error when there is none?
 * @buf, @size: gets the text; longer ones are errors
 * @ret_known: was there one? may be NULL
 *
 * Return: 0 or -EBADMSG.
 */
int line_text(const struct ndjson_line *line, const json_t *object, const char *key, enum need need,
	      char *buf, size_t size, bool *ret_known);

/**
 * line_word() - one of some words
 * @line, @object, @key, @need: as above
 * @name: gives the word of each number below @nr
 * @nr: how many there are
 * @ret: number of the word; stays as it is without the optional key
 *
 * Return: 0 or -EBADMSG.
 */
int line_word(const struct ndjson_line *line, const json_t *object, const char *key, enum need need,
	      const char *(*name)(unsigned int), unsigned int nr, unsigned int *ret);

/** line_element_text() - an element of an array: a text, or {"hex":BYTES} */
int line_element_text(const struct ndjson_line *line, const json_t *value, const char *key,
		      char *buf, size_t size);

#endif
