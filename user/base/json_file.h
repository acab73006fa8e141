/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A JSON file that a person writes: objects by rows of base/fields, problems by file and line. */
#ifndef BASE_JSON_FILE_H
#define BASE_JSON_FILE_H

#include <jansson.h>

#include "base/diag.h"
#include "base/fields.h"

/**
 * struct json_file - a file; texts that were read by rows belong to it
 * @path, @text, @json: its name, its content, and the same as a value
 */
struct json_file {
	char *path;
	char *text;
	json_t *json;
};

/**
 * struct json_node - a value of a file
 * @file, @json: the file and the value
 * @at: where it begins in the text
 */
struct json_node {
	const struct json_file *file;
	json_t *json;
	const char *at;
};

/**
 * json_file_read() - read a file of up to 1 MiB
 * @path: its name
 * @d: gets the problem
 * @ret: release with json_file_free(), also after an error
 *
 * Return: 0; -EINVAL when it is no JSON, -E2BIG, -ENOMEM, or the error of reading it.
 */
int json_file_read(const char *path, struct diag *d, struct json_file *ret);
void json_file_free(struct json_file *f);

/** json_file_top() - the outermost value */
struct json_node json_file_top(const struct json_file *f);

/** json_node_item() - an item of a list of an object */
struct json_node json_node_item(const struct json_node *o, const char *list, size_t i);

/** json_node_line() - the number of its line */
unsigned int json_node_line(const struct json_node *n);

/** json_node_wrong() - a problem of a value, or of its key if it has it; returns @err */
int json_node_wrong(const struct json_node *n, const char *key, struct diag *d, int err,
		    const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/**
 * json_node_read() - read an object by rows; it may have no other keys
 * @o: the object
 * @rows: FIELD_TEXT (printable ASCII) of up to field.max bytes, FIELD_U32 from 1 to field.max,
 *	FIELD_BOOL, FIELD_WORD, and FIELD_LIST of 1 to field.max items, which the caller reads
 * @ret: the structure; without its key a member stays as it is
 * @d: gets the problem
 *
 * Return: 0 or -EINVAL.
 */
int json_node_read(const struct json_node *o, const struct fields *rows, void *ret, struct diag *d);

#endif
