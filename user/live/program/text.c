// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/program/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/json_line.h"

#define SCHEMA	     "t410trace.source/1"
#define MAX_EVERY_MS 3600000

/* Text that becomes part of a counter's name, and of a series of /metrics. */
static int take_name(const struct ndjson_line *line, const json_t *object, char *buf, size_t size)
{
	int err = line_text(line, object, "name", REQUIRED, buf, size, NULL);

	if (err)
		return err;
	for (const char *c = buf; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("_.-", *c))
			return line_fail(line, "name",
					 "\"name\" may have letters, digits, \"_\", \".\", \"-\"");
	return buf[0] ? 0 : line_fail(line, "name", "\"name\" is empty");
}

static int take_cpus(const struct ndjson_line *line, const json_t *object,
		     struct program_counter *ret)
{
	const json_t *value = json_object_get(object, "cpus");
	const char *text = json_string_value(value);

	if (!value)
		return 0;
	if (!text || cpulist_parse(text, &ret->cpus) || cpulist_next(&ret->cpus, -1) < 0)
		return line_fail(line, "cpus", "\"cpus\" must be a list as in \"0-3,8\"");
	if (!ret->socket_given)
		return line_fail(line, "cpus",
				 "\"cpus\" needs a \"socket\": the number that reports call it by");
	ret->cpus_given = true;
	return 0;
}

/* Units of values, and their stored form: whole numbers, so that nothing is rounded. */
static const struct program_unit {
	const char *name;
	enum unit unit;
	uint32_t scale;
} units[] = {
	{ "bytes", UNIT_BYTES, 1 },
	{ "joules", UNIT_NANOJOULES, 1000000000 },
	{ "millijoules", UNIT_NANOJOULES, 1000000 },
	{ "microjoules", UNIT_NANOJOULES, 1000 },
	{ "nanojoules", UNIT_NANOJOULES, 1 },
};

static const char *unit_word(unsigned int i)
{
	return units[i].name;
}

/* Bytes have a destination, energy does not. */
static int take_way(const struct ndjson_line *line, const json_t *object, struct counter *c)
{
	static const char *const of_bytes[] = { "direction", "destination" };
	unsigned int direction = DIRECTION_READWRITE, destination = DESTINATION_ANY;
	int err = 0;

	for (size_t i = 0; c->unit != UNIT_BYTES && i < ARRAY_SIZE(of_bytes); i++)
		if (json_object_get(object, of_bytes[i]))
			return line_fail(line, of_bytes[i], "a counter of energy has no \"%s\"",
					 of_bytes[i]);
	if (c->unit == UNIT_BYTES)
		err = line_word(line, object, "direction", REQUIRED, direction_name, NR_DIRECTIONS,
				&direction);
	if (!err)
		err = line_word(line, object, "destination", OPTIONAL, destination_name,
				NR_DESTINATIONS, &destination);
	c->direction = direction;
	c->destination = destination;
	return err;
}

static int take_counter(const struct ndjson_line *line, json_t *object, const char *program,
			struct program_counter *ret)
{
	static const char *const keys[] = { "name",	   "unit",   "source", "direction",
					    "destination", "socket", "cpus",   "device" };
	unsigned int source = SOURCE_ANY, unit = 0;
	struct counter *c = &ret->counter;
	uint64_t socket = 0;
	int err = line_known_keys(line, object, keys, ARRAY_SIZE(keys));

	if (!err)
		err = take_name(line, object, c->event, sizeof(c->event));
	if (!err)
		err = line_word(line, object, "unit", OPTIONAL, unit_word, ARRAY_SIZE(units),
				&unit);
	c->unit = units[unit].unit;
	ret->scale = units[unit].scale;
	if (!err)
		err = line_word(line, object, "source", OPTIONAL, source_name, SOURCE_ANY + 1,
				&source);
	if (!err)
		err = take_way(line, object, c);
	if (!err)
		err = line_u64(line, object, "socket", OPTIONAL, UINT16_MAX, &socket);
	ret->socket_given = json_object_get(object, "socket");
	ret->socket = socket;
	if (!err)
		err = take_cpus(line, object, ret);
	str_copy(c->pmu, sizeof(c->pmu), program);
	snprintf(c->name, sizeof(c->name), "%s/%s", program, c->event);
	c->source = source;
	return err;
}

/*
 * Does a counter belong to one of the devices? Of these, bytes of links to the CPUs are used: each
 * has its device's address in its name.
 */
static int of_device(const struct ndjson_line *line, const json_t *object,
		     const struct program_header *h, struct program_counter *c, bool *ret_unused)
{
	const json_t *value = json_object_get(object, "device");
	const char *address = json_string_value(value);

	*ret_unused = value && strncmp(c->counter.event, "c2c_", 4) != 0;
	if (!value)
		return 0;
	for (size_t i = 0; address && i < h->nr_devices; i++)
		if (!strcmp(h->devices[i].address, address)) {
			c->device = i + 1;
			snprintf(c->counter.name, sizeof(c->counter.name), "%s/%s/%s", h->name,
				 address, c->counter.event);
			return c->counter.source == SOURCE_DEVICE && c->counter.unit == UNIT_BYTES
				       ? 0
				       : line_fail(
						 line, "device",
						 "a counter of a device has \"source\" \"device\" "
						 "and bytes");
		}
	return line_fail(line, "device", "\"device\" must be an address of \"devices\"");
}

static int take_counters(const struct ndjson_line *line, struct program_header *h)
{
	json_t *list, *object;
	bool unused = false;
	size_t i;
	int err = line_array(line, line->json, "counters", REQUIRED, PROGRAM_MAX_COUNTERS, &list);

	if (err)
		return err;
	if (!json_array_size(list) && !h->nr_devices)
		return line_fail(line, "counters", "\"counters\" is empty");
	h->counters = calloc(json_array_size(list) + 1, sizeof(*h->counters));
	if (!h->counters)
		return diag_no_memory(line->d);
	h->nr_values = json_array_size(list);
	json_array_foreach (list, i, object) {
		struct program_counter *c = &h->counters[h->nr];

		*c = (struct program_counter){ .place = i };
		if (!json_is_object(object))
			return line_fail(line, "counters", "a counter must be an object");
		err = take_counter(line, object, h->name, c);
		if (!err)
			err = of_device(line, object, h, c, &unused);
		for (size_t k = 0; k < h->nr && !err; k++)
			if (!strcmp(h->counters[k].counter.name, c->counter.name))
				err = line_fail(line, "counters", "two counters are called %.64s",
						c->counter.event);
		if (err)
			return err;
		h->nr += !unused;
	}
	return 0;
}

static int take_header(const struct ndjson_line *line, struct program_header *h)
{
	static const char *const keys[] = { "schema", "name", "every_ms", "devices", "counters" };
	uint64_t every_ms = PROGRAM_EVERY_NS / NS_PER_MS;
	char schema[sizeof(SCHEMA)] = "";
	int err = line_text(line, line->json, "schema", REQUIRED, schema, sizeof(schema), NULL);

	if (!err && strcmp(schema, SCHEMA) != 0)
		err = line_fail(line, "schema", "\"schema\" must be \"" SCHEMA "\"");
	if (!err)
		err = line_known_keys(line, line->json, keys, ARRAY_SIZE(keys));
	if (!err)
		err = take_name(line, line->json, h->name, sizeof(h->name));
	if (!err)
		err = line_u64(line, line->json, "every_ms", OPTIONAL, MAX_EVERY_MS, &every_ms);
	if (!err && !every_ms)
		err = line_fail(line, "every_ms", "\"every_ms\" must not be 0");
	h->every_ns = every_ms * NS_PER_MS;
	if (!err)
		err = program_devices_parse(line, h);
	return err ? err : take_counters(line, h);
}

int program_header_parse(const char *text, size_t size, struct diag *d, struct program_header *ret)
{
	struct ndjson_line line = { .file = "header", .number = 1, .text = text, .size = size };
	int err;

	line.d = d;
	*ret = (struct program_header){ 0 };
	err = line_parse(&line);
	if (!err)
		err = take_header(&line, ret);
	json_decref(line.json);
	if (err)
		program_header_free(ret);
	return err;
}

void program_header_free(struct program_header *h)
{
	free(h->counters);
	free(h->devices);
	*h = (struct program_header){ 0 };
}

static bool same_counter(const struct program_counter *a, const struct program_counter *b)
{
	const struct counter *x = &a->counter, *y = &b->counter;

	return !strcmp(x->name, y->name) && x->unit == y->unit && a->scale == b->scale &&
	       x->source == y->source && x->direction == y->direction &&
	       x->destination == y->destination && a->socket_given == b->socket_given &&
	       a->socket == b->socket && !memcmp(&a->cpus, &b->cpus, sizeof(a->cpus)) &&
	       a->place == b->place && a->device == b->device;
}

bool program_header_same(const struct program_header *a, const struct program_header *b)
{
	bool same = a->nr == b->nr && !strcmp(a->name, b->name) && a->nr_values == b->nr_values &&
		    a->nr_devices == b->nr_devices;

	for (size_t i = 0; i < a->nr_devices && same; i++)
		same = !strcmp(a->devices[i].address, b->devices[i].address);

	for (size_t i = 0; i < a->nr && same; i++)
		same = same_counter(&a->counters[i], &b->counters[i]);
	return same;
}

static int take_values(const struct ndjson_line *line, const struct program_header *h,
		       struct program_reading *ret)
{
	json_t *list, *value;
	int err = line_u64(line, line->json, "time_ns", REQUIRED, INT64_MAX, &ret->time_ns);

	if (!err)
		err = line_array(line, line->json, "values", REQUIRED, PROGRAM_MAX_COUNTERS, &list);
	if (err)
		return err;
	if (json_array_size(list) != h->nr_values)
		return line_fail(line, "values", "\"values\" must be %zu, one for each counter",
				 h->nr_values);
	ret->nr = h->nr;
	for (size_t i = 0; i < h->nr; i++) {
		uint32_t scale = h->counters[i].scale;

		value = json_array_get(list, h->counters[i].place);
		ret->read[i] = value && !json_is_null(value);
		if (ret->read[i] &&
		    line_number(line, value, "values", INT64_MAX / scale, &ret->values[i]))
			return -EBADMSG;
		ret->values[i] *= scale;
	}
	return 0;
}

int program_line_parse(const char *text, size_t size, const struct program_header *h,
		       struct diag *d, enum program_line *ret_kind,
		       struct program_reading *ret_reading, struct program_users *ret_users)
{
	static const char *const keys[] = { "time_ns", "values" };
	struct ndjson_line line = { .file = "line", .number = 1, .text = text, .size = size };
	int err;

	line.d = d;
	*ret_kind = PROGRAM_READING;
	err = line_parse(&line);
	if (!err && json_object_get(line.json, "device")) {
		*ret_kind = PROGRAM_USERS;
		err = program_users_parse(&line, h, ret_users);
	} else if (!err) {
		err = line_known_keys(&line, line.json, keys, ARRAY_SIZE(keys));
		if (!err)
			err = take_values(&line, h, ret_reading);
	}
	json_decref(line.json);
	return err;
}
