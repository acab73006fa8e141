// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/put.h"

#include <errno.h>
#include <inttypes.h>

#include "base/cleanup.h"
#include "base/digits.h"
#include "report/format.h"
#include "report/json_text.h"

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

json_t *exact_integer(sum128 value)
{
	char digits[DIGITS_MAX_128 + 1];

	if (value <= INT64_MAX)
		return json_integer((json_int_t)value);
	put_digits_128(digits, value);
	return json_string(digits);
}

void put_number(json_t *object, const char *key, sum128 value, int *err)
{
	put(object, key, exact_integer(value), err);
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

void put_host(json_t *object, const struct host_info *h, int *err)
{
	json_t *o = json_object();

	put_name(o, "name", h->name, sizeof(h->name), err);
	put_name(o, "kernel", h->kernel, sizeof(h->kernel), err);
	put_name(o, "platform", h->platform, sizeof(h->platform), err);
	put_number(o, "sockets", h->sockets, err);
	put(object, "host", o, err);
}

void put_interval(json_t *object, uint64_t start_ns, uint64_t end_ns, uint64_t start_time_ns,
		  int *err)
{
	char time[FORMAT_TIME_LEN];
	json_t *o = json_object();

	format_time(start_time_ns, time);
	put_number(o, "start_ns", start_ns, err);
	put_number(o, "end_ns", end_ns, err);
	put_number(o, "duration_ns", end_ns - start_ns, err);
	put_text(o, "start_time", time, err);
	put(object, "interval", o, err);
}

int put_line(FILE *out, json_t *object, size_t digits, int err)
{
	cleanup_free char *text = NULL;
	size_t length;

	if (!err && !object)
		err = -ENOMEM;
	err = err ? err : json_text(object, digits, &text, &length);
	json_decref(object);
	/* Together with its line break, in one write. */
	return err ? err : format_emit(out, text, length);
}
