// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/put.h"

#include <errno.h>

#include "base/cleanup.h"
#include "report/format.h"

void put(json_t *object, const char *key, json_t *value, int *err)
{
	if (*err)
		json_decref(value);
	else if (json_object_set_new(object, key, value) < 0)
		*err = -ENOMEM;
}

void put_element(json_t *array, json_t *value, int *err)
{
	if (*err)
		json_decref(value);
	else if (json_array_append_new(array, value) < 0)
		*err = -ENOMEM;
}

void put_number(json_t *object, const char *key, uint64_t value, int *err)
{
	if (!*err && value > INT64_MAX)
		*err = -ERANGE;
	if (!*err)
		put(object, key, json_integer((json_int_t)value), err);
}

void put_bool(json_t *object, const char *key, bool value, int *err)
{
	put(object, key, json_boolean(value), err);
}

void put_name(json_t *object, const char *key, const char *name, size_t max, int *err)
{
	cleanup_free char *text = NULL;

	if (*err)
		return;
	if (!name) {
		put(object, key, json_null(), err);
		return;
	}
	*err = format_utf8(name, max, &text);
	if (!*err)
		put(object, key, json_string(text), err);
}

void put_text(json_t *object, const char *key, const char *text, int *err)
{
	put_name(object, key, text, SIZE_MAX, err);
}
