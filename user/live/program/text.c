// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/program/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "base/json_line.h"

#define SCHEMA	     "t410trace.source/1"
#define NS_PER_MS    1000000ull
#define MAX_EVERY_MS 3600000

/* An unknown key is a typing error, which would change the meaning of the rest. */
static int known_keys(const struct ndjson_line *line, json_t *object, const char *const *keys,
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
					    "destination", "socket", "cpus" };
	unsigned int source = SOURCE_ANY, unit = 0;
	struct counter *c = &ret->counter;
	uint64_t socket = 0;
	int err = known_keys(line, object, keys, ARRAY_SIZE(keys));

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

static int take_counters(const struct ndjson_line *line, struct program_header *h)
{
	json_t *list, *object;
	size_t i;
	int err = line_array(line, line->json, "counters", REQUIRED, PROGRAM_MAX_COUNTERS, &list);

	if (err)
		return err;
	if (!json_array_size(list))
		return line_fail(line, "counters", "\"counters\" is empty");
	h->counters = calloc(json_array_size(list), sizeof(*h->counters));
	if (!h->counters)
		return diag_no_memory(line->d);
	json_array_foreach (list, i, object) {
		if (!json_is_object(object))
			return line_fail(line, "counters", "a counter must be an object");
		err = take_counter(line, object, h->name, &h->counters[i]);
		for (size_t k = 0; k < i && !err; k++)
			if (!strcmp(h->counters[k].counter.name, h->counters[i].counter.name))
				err = line_fail(line, "counters", "two counters are called %.64s",
						h->counters[i].counter.event);
		if (err)
			return err;
	}
	h->nr = json_array_size(list);
	return 0;
}

static int take_header(const struct ndjson_line *line, struct program_header *h)
{
	static const char *const keys[] = { "schema", "name", "every_ms", "counters" };
	uint64_t every_ms = PROGRAM_EVERY_NS / NS_PER_MS;
	char schema[sizeof(SCHEMA)] = "";
	int err = line_text(line, line->json, "schema", REQUIRED, schema, sizeof(schema), NULL);

	if (!err && strcmp(schema, SCHEMA) != 0)
		err = line_fail(line, "schema", "\"schema\" must be \"" SCHEMA "\"");
	if (!err)
		err = known_keys(line, line->json, keys, ARRAY_SIZE(keys));
	if (!err)
		err = take_name(line, line->json, h->name, sizeof(h->name));
	if (!err)
		err = line_u64(line, line->json, "every_ms", OPTIONAL, MAX_EVERY_MS, &every_ms);
	if (!err && !every_ms)
		err = line_fail(line, "every_ms", "\"every_ms\" must not be 0");
	h->every_ns = every_ms * NS_PER_MS;
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
	*h = (struct program_header){ 0 };
}

static bool same_counter(const struct program_counter *a, const struct program_counter *b)
{
	const struct counter *x = &a->counter, *y = &b->counter;

	return !strcmp(x->name, y->name) && x->unit == y->unit && a->scale == b->scale &&
	       x->source == y->source && x->direction == y->direction &&
	       x->destination == y->destination && a->socket_given == b->socket_given &&
	       a->socket == b->socket && !memcmp(&a->cpus, &b->cpus, sizeof(a->cpus));
}

bool program_header_same(const struct program_header *a, const struct program_header *b)
{
	bool same = a->nr == b->nr && !strcmp(a->name, b->name);

	for (size_t i = 0; i < a->nr && same; i++)
		same = same_counter(&a->counters[i], &b->counters[i]);
	return same;
}

static int take_values(const struct ndjson_line *line, const struct program_header *h,
		       struct program_reading *ret)
{
	json_t *list, *value;
	size_t i;
	int err = line_u64(line, line->json, "time_ns", REQUIRED, INT64_MAX, &ret->time_ns);

	if (!err)
		err = line_array(line, line->json, "values", REQUIRED, PROGRAM_MAX_COUNTERS, &list);
	if (err)
		return err;
	if (json_array_size(list) != h->nr)
		return line_fail(line, "values", "\"values\" must be %zu, one for each counter",
				 h->nr);
	ret->nr = h->nr;
	json_array_foreach (list, i, value) {
		uint32_t scale = h->counters[i].scale;

		ret->read[i] = !json_is_null(value);
		if (ret->read[i] &&
		    line_number(line, value, "values", INT64_MAX / scale, &ret->values[i]))
			return -EBADMSG;
		ret->values[i] *= scale;
	}
	return 0;
}

int program_reading_parse(const char *text, size_t size, const struct program_header *h,
			  struct diag *d, struct program_reading *ret)
{
	static const char *const keys[] = { "time_ns", "values" };
	struct ndjson_line line = { .file = "line", .number = 1, .text = text, .size = size };
	int err;

	line.d = d;
	err = line_parse(&line);
	if (!err)
		err = known_keys(&line, line.json, keys, ARRAY_SIZE(keys));
	if (!err)
		err = take_values(&line, h, ret);
	json_decref(line.json);
	return err;
}
