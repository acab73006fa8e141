// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/json_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json_place.h"
#include "base/spelling.h"
#include "base/text.h"

#define MAX_BYTES (1 << 20)

/* --- the file */

static int read_text(const char *path, char **ret)
{
	cleanup_fclose FILE *file = fopen(path, "re");
	cleanup_free char *text = file ? malloc(MAX_BYTES + 1) : NULL;
	size_t size;

	if (!file)
		return -errno;
	if (!text)
		return -ENOMEM;
	errno = 0;
	size = fread(text, 1, MAX_BYTES + 1, file);
	if (ferror(file))
		return errno ? -errno : -EIO;
	if (size > MAX_BYTES)
		return -E2BIG;
	if (memchr(text, '\0', size))
		return -EINVAL;
	text[size] = '\0';
	*ret = take_ptr(text);
	return 0;
}

int json_file_read(const char *path, struct diag *d, struct json_file *ret)
{
	json_error_t error;
	int err;

	*ret = (struct json_file){ .path = strdup(path) };
	err = ret->path ? read_text(path, &ret->text) : -ENOMEM;
	if (err == -ENOMEM)
		return diag_no_memory(d);
	if (err == -E2BIG)
		return diag_fail(d, err, "%.200s: larger than 1 MiB", path);
	if (err == -EINVAL)
		return diag_fail(d, err, "%.200s: not text", path);
	if (err)
		return diag_fail(d, err, "cannot read %.200s: %s", path, strerror(-err));
	ret->json = json_loads(ret->text, JSON_REJECT_DUPLICATES, &error);
	if (ret->json)
		return 0;
	return diag_fail(d, -EINVAL, "%.200s:%d: no JSON: %.150s", path,
			 error.line > 0 ? error.line : 1, error.text);
}

void json_file_free(struct json_file *f)
{
	json_decref(f->json);
	free(f->path);
	free(f->text);
	*f = (struct json_file){ 0 };
}

/* --- its values */

struct json_node json_file_top(const struct json_file *f)
{
	return (struct json_node){ f, f->json, json_place_value(f->text) };
}

struct json_node json_node_item(const struct json_node *o, const char *list, size_t i)
{
	const char *at = json_place_member(o->at, list);

	return (struct json_node){ o->file, json_array_get(json_object_get(o->json, list), i),
				   at ? json_place_item(at, i) ?: o->at : o->at };
}

unsigned int json_node_line(const struct json_node *n)
{
	return json_place_line(n->file->text, n->at);
}

int json_node_wrong(const struct json_node *n, const char *key, struct diag *d, int err,
		    const char *fmt, ...)
{
	const char *at = key ? json_place_member(n->at, key) : NULL;
	char what[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return diag_fail(d, err, "%.150s:%u: %s", n->file->path,
			 json_place_line(n->file->text, at ?: n->at), what);
}

/* @to: the member; @ret_must: what the value must be */
static bool take_text(const struct field *f, const json_t *value, void *to, char *ret_must,
		      size_t size)
{
	const char *text = json_string_value(value);

	snprintf(ret_must, size, "text of 1 to %zu bytes", (size_t)f->max);
	if (!text || !text[0] || strlen(text) > f->max)
		return false;
	snprintf(ret_must, size, "printable ASCII");
	for (const char *c = text; *c; c++)
		if (*c < ' ' || *c > '~')
			return false;
	*(const char **)to = text;
	return true;
}

static bool take_whole(const struct field *f, const json_t *value, uint32_t *to, char *ret_must,
		       size_t size)
{
	json_int_t number = json_integer_value(value);

	snprintf(ret_must, size, "a whole number from 1 to %zu", (size_t)f->max);
	if (!json_is_integer(value) || number < 1 || (uint64_t)number > f->max)
		return false;
	*to = (uint32_t)number;
	return true;
}

static bool take_word(const struct field *f, const json_t *value, unsigned int *to, char *ret_must,
		      size_t size)
{
	const char *text = json_string_value(value);

	snprintf(ret_must, size, "one of ");
	for (unsigned int i = 0; i <= f->max; i++) {
		if (text && !strcmp(f->word(i), text)) {
			*to = i;
			return true;
		}
		str_append(ret_must, size, "%s\"%s\"", i ? ", " : "", f->word(i));
	}
	return false;
}

static bool take_value(const struct field *f, const json_t *value, void *to, char *ret_must,
		       size_t size)
{
	switch (f->type) {
	case FIELD_TEXT:
		return take_text(f, value, to, ret_must, size);
	case FIELD_U32:
		return take_whole(f, value, to, ret_must, size);
	case FIELD_WORD:
		return take_word(f, value, to, ret_must, size);
	case FIELD_BOOL:
		snprintf(ret_must, size, "true or false");
		if (json_is_boolean(value))
			*(bool *)to = json_is_true(value);
		return json_is_boolean(value);
	}
	snprintf(ret_must, size, "a list of 1 to %zu objects", (size_t)f->max);
	return json_is_array(value) && json_array_size(value) && json_array_size(value) <= f->max;
}

static int take_member(const struct json_node *o, const struct field *f, void *ret, struct diag *d)
{
	const json_t *value = json_object_get(o->json, f->name);
	char must[200];

	if (!value && f->required)
		return json_node_wrong(o, NULL, d, -EINVAL, "\"%s\" is missing", f->name);
	if (!value || take_value(f, value, (char *)ret + f->offset, must, sizeof(must)))
		return 0;
	return json_node_wrong(o, f->name, d, -EINVAL, "\"%s\" must be %s", f->name, must);
}

static int check_key(const struct json_node *o, const char *key, const struct fields *rows,
		     struct diag *d)
{
	struct spelling s = { .word = key };

	for (size_t i = 0; i < rows->nr; i++)
		if (!strcmp(rows->rows[i].name, key))
			return 0;
	for (size_t i = 0; i < rows->nr; i++)
		spelling_add(&s, rows->rows[i].name);
	json_node_wrong(o, key, d, -EINVAL, "unknown key \"%.60s\"", key);
	return spelling_advise(&s, "known are", d, -EINVAL);
}

int json_node_read(const struct json_node *o, const struct fields *rows, void *ret, struct diag *d)
{
	const char *key;
	json_t *value;
	int err = 0;

	if (!json_is_object(o->json))
		return json_node_wrong(o, NULL, d, -EINVAL, "this must be an object, { ... }");
	json_object_foreach (o->json, key, value)
		err = err ?: check_key(o, key, rows, d);
	for (size_t i = 0; i < rows->nr && !err; i++)
		err = take_member(o, &rows->rows[i], ret, d);
	return err;
}
