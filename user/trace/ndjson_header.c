// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trace/ndjson_header.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpulist.h"
#include "base/json_out.h"
#include "base/text.h"
#include "trace/header.h"

/* --- written */

static void put_cpus(FILE *f, const struct layout *l, uint32_t socket)
{
	char text[CPULIST_TEXT_LEN];
	struct cpulist cpus = { 0 };

	for (uint32_t cpu = 0; cpu < l->nr_cpus; cpu++)
		if (l->cpu_socket[cpu] == socket)
			cpulist_set(&cpus, cpu, true);
	cpulist_format(&cpus, text, sizeof(text));
	json_quoted(f, text);
}

static void put_filters(FILE *f, const char *text)
{
	char name[sizeof(((struct counter *)NULL)->filters)];
	bool first = true;
	uint64_t value;

	putc('{', f);
	for (; !take_setting(&text, name, sizeof(name), &value); first = false) {
		fputs(first ? "" : ",", f);
		json_quoted(f, name);
		putc(':', f);
		json_value(f, value);
	}
	putc('}', f);
}

/* Fields that base/fields.h leaves to their owner */
static void put_own(struct fields_json *j, const struct field *f, const void *of)
{
	const struct trace_header *h = j->arg;
	uint64_t value = f->type == HEADER_ID ? j->index : *(const uint32_t *)field_at(f, of);

	/* a device or socket of nothing */
	if ((f->type == HEADER_DEVICE && !value) ||
	    (f->type == HEADER_PEAK_SOCKET && value == PEAK_EVERY_SOCKET))
		return;
	fields_key(j, f->name);
	if (f->type == HEADER_CPUS)
		put_cpus(j->f, &h->layout, j->index);
	else if (f->type == HEADER_FILTERS)
		put_filters(j->f, field_at(f, of));
	else if (f->type == HEADER_DEVICE)
		json_quoted(j->f, h->devices[value - 1].bdf);
	else
		json_value(j->f, f->type == HEADER_SOCKET ? h->layout.socket_ids[value] : value);
}

void ndjson_put_header(FILE *f, const struct trace_header *h)
{
	struct fields_json j = { .f = f, .before = ',', .own = put_own, .arg = h };

	fputs("{\"type\":\"header\",\"schema\":\"" NDJSON_SCHEMA "\"", f);
	fields_write(&j, &header_fields, h);
	fputs("}\n", f);
}

/* --- read */

struct taken {
	struct trace_header *h;
	struct ndjson_names *names;
};

static int take_cpus(const struct ndjson_line *line, const json_t *socket, uint32_t index,
		     uint32_t *cpus)
{
	const char *text = json_string_value(json_object_get(socket, "cpus"));
	struct cpulist list;

	if (!text || cpulist_parse(text, &list))
		return line_fail(line, "cpus",
				 "\"cpus\" must be a list of CPUs below %d, as in \"0-87,176\"",
				 CPULIST_MAX_CPUS);
	for (int cpu = cpulist_next(&list, -1); cpu >= 0; cpu = cpulist_next(&list, cpu)) {
		if (cpus[cpu] != LAYOUT_NO_SOCKET)
			return line_fail(line, "cpus", "CPU %d is on two sockets", cpu);
		cpus[cpu] = index;
	}
	return 0;
}

/* Whether the list makes sense is up to header_check(). */
static int take_filters(const struct ndjson_line *line, const json_t *value, struct counter *c)
{
	json_t *filters = json_object_get(value, "filters"), *setting;
	const char *name;
	uint64_t number;

	if (filters && !json_is_object(filters))
		return line_fail(line, "filters", "\"filters\" must be an object");
	json_object_foreach (filters, name, setting) {
		if (line_number(line, setting, "filters", UINT64_MAX, &number))
			return -EBADMSG;
		if (strpbrk(name, ",="))
			return line_fail(line, "filters", "\"%s\" is not the name of a filter",
					 name);
		if (str_append(c->filters, sizeof(c->filters), "%s%s=%" PRIu64,
			       c->filters[0] ? "," : "", name, number))
			return line_fail(line, "filters", "the filters of a counter are too long");
	}
	return 0;
}

/* Fields that base/fields.h leaves to their owner; done() looks up numbers, names and addresses */
static int take_own(struct fields_line *l, const json_t *object, const struct field *f, void *of)
{
	struct taken *t = l->arg;
	struct field number = *f;

	switch (f->type) {
	case HEADER_CPUS:
		return take_cpus(l->line, object, l->index, t->h->layout.cpu_socket);
	case HEADER_FILTERS:
		return take_filters(l->line, object, of);
	case HEADER_PEAK_SOCKET:
		field_set(f, of, PEAK_EVERY_SOCKET);
		/* fall through */
	case HEADER_SOCKET:
		number.type = FIELD_U32;
		return field_read(l, object, &number, of);
	default:
		return 0;
	}
}

/* The number of a counter or probe, which no other one has */
static int take_id(struct fields_line *l, const json_t *object, const char *one, uint64_t *ids)
{
	int err = line_u64(l->line, object, "id", REQUIRED, UINT64_MAX, &ids[l->index]);

	for (size_t i = 0; i < l->index && !err; i++)
		if (ids[i] == ids[l->index])
			err = line_fail(l->line, "id", "%s %llu is there twice", one,
					(unsigned long long)ids[i]);
	return err;
}

/* The index of a socket, by the number that @socket is */
static int find_socket(struct fields_line *l, const char *one, uint64_t id, uint32_t *socket)
{
	const struct layout *layout = &((struct taken *)l->arg)->h->layout;

	*socket = ndjson_socket(layout, *socket);
	return *socket < layout->nr_sockets
		       ? 0
		       : line_fail(l->line, "socket", "%s %llu is on an unknown socket", one,
				   (unsigned long long)id);
}

/* Events of root complexes are named "wr_bytes", those of memory "mem_bytes_wr". */
static enum direction direction_of(const char *event)
{
	return strstr(event, "_wr") || !strncmp(event, "wr_", 3) ? DIRECTION_WRITE : DIRECTION_READ;
}

static int done_counter(struct fields_line *l, const json_t *object, struct counter *c)
{
	struct taken *t = l->arg;
	int err = take_id(l, object, "counter", t->names->counter_ids);

	if (!json_object_get(object, "direction"))
		c->direction = direction_of(c->event);
	if (!err)
		err = ndjson_counter_device(l->line, object, t->h, c);
	return err ? err : find_socket(l, "counter", t->names->counter_ids[l->index], &c->socket);
}

static int done_probe(struct fields_line *l, const json_t *object, struct probe *p)
{
	struct taken *t = l->arg;
	char bdf[MODEL_BDF_LEN];
	int err = take_id(l, object, "probe", t->names->probe_ids);

	if (!err)
		err = ndjson_bdf(l->line, object, "bdf", OPTIONAL, bdf);
	if (err)
		return err;
	p->device = ndjson_device(t->h, bdf);
	if (bdf[0] && !p->device)
		return line_fail(l->line, "bdf", "device %s is not in the header", bdf);
	return find_socket(l, "probe", t->names->probe_ids[l->index], &p->socket);
}

static int done_part(struct fields_line *l, const json_t *object, struct traffic_part *p)
{
	uint64_t id = 0;
	int err = line_u64(l->line, object, "id", REQUIRED, UINT64_MAX, &id);

	if (!err && id != l->index)
		return line_fail(l->line, "parts", "\"id\" of parts must count from 0");
	return err ? err : find_socket(l, "part", id, &p->socket);
}

static int done_socket(struct fields_line *l, const uint32_t *ids)
{
	for (size_t i = 0; i < l->index; i++)
		if (ids[i] == ids[l->index])
			return line_fail(l->line, "sockets", "socket %u is there twice", ids[i]);
	return 0;
}

static int done(struct fields_line *l, const json_t *object, const struct field *list, void *of)
{
	struct trace_header *h = ((struct taken *)l->arg)->h;

	if (!strcmp(list->name, "sockets"))
		return done_socket(l, h->layout.socket_ids);
	if (!strcmp(list->name, "devices"))
		return ndjson_device_done(l->line, object, h, of);
	if (!strcmp(list->name, "counters"))
		return done_counter(l, object, of);
	if (!strcmp(list->name, "probes"))
		return done_probe(l, object, of);
	return strcmp(list->name, "parts") ? 0 : done_part(l, object, of);
}

/*
 * Groups as the counters' "group" says, with those of each device by themselves; without
 * that, each counter is one.
 */
static int take_groups(const struct ndjson_line *line, struct layout *l)
{
	const json_t *values = json_object_get(line->json, "counters");
	struct group *groups = calloc(l->nr_counters + 1, sizeof(*groups));
	struct counter *c = l->counters;
	uint64_t number = 0, before = 0;
	bool grouped = true;
	size_t i, g = 0;
	json_t *value;

	l->groups = groups;
	if (!groups)
		return -ENOMEM;
	json_array_foreach (values, i, value)
		grouped &= json_object_get(value, "group") != NULL;
	json_array_foreach (values, i, value) {
		if (grouped && line_u64(line, value, "group", REQUIRED, UINT64_MAX, &number))
			return -EBADMSG;
		if (i && grouped && number < before)
			return line_fail(line, "group", "groups of counters must be in order");
		if (!i || !grouped || number != before || c[i].device != c[i - 1].device)
			groups[g++] = (struct group){ .socket = c[i].socket, .first = i };
		before = number;
		if (c[i].socket != groups[g - 1].socket)
			return line_fail(line, "group", "a group of counters on two sockets");
		groups[g - 1].nr++;
		c[i].group = g - 1;
	}
	l->nr_groups = g;
	return 0;
}

/* Values that depend on several keys */
static int complete(const struct ndjson_line *line, struct trace_header *h)
{
	struct layout *l = &h->layout;
	uint32_t nr_cpus = CPULIST_MAX_CPUS;
	int err = ndjson_ports(line, h);

	while (nr_cpus > l->nr_cpus && l->cpu_socket[nr_cpus - 1] == LAYOUT_NO_SOCKET)
		nr_cpus--;
	l->nr_cpus = nr_cpus;
	if (!json_object_get(line->json, "host_sockets"))
		h->host.sockets = l->nr_sockets;
	return err ? err : take_groups(line, l);
}

int ndjson_header(const struct ndjson_line *line, struct trace_header *h,
		  struct ndjson_names *names)
{
	const json_t *o = line->json;
	const char *type = json_string_value(json_object_get(o, "type"));
	const char *schema = json_string_value(json_object_get(o, "schema"));
	struct taken t = { h, names };
	struct fields_line l = { .line = line, .own = take_own, .done = done, .arg = &t };
	const char *wrong;
	int err;

	if (!type || strcmp(type, "header"))
		return line_fail(line, "type", "the first line must be of type \"header\"");
	if (!schema || strcmp(schema, NDJSON_SCHEMA))
		return line_fail(line, "schema", "\"schema\" must be \"%s\"", NDJSON_SCHEMA);
	names->own = json_object_get(o, "marked");
	names->devices_known = json_object_get(o, "devices");
	names->weights_known = json_object_get(o, "weights");
	names->counter_ids = calloc(TRACE_MAX_COUNTERS, sizeof(*names->counter_ids));
	names->probe_ids = calloc(TRACE_MAX_PROBES, sizeof(*names->probe_ids));
	h->all = true;
	/* more are added while it is read */
	h->devices = calloc(TRACE_MAX_DEVICES, sizeof(*h->devices));
	h->layout.cpu_socket = malloc(CPULIST_MAX_CPUS * sizeof(*h->layout.cpu_socket));
	if (!names->counter_ids || !names->probe_ids || !h->devices || !h->layout.cpu_socket)
		return -ENOMEM;
	memset(h->layout.cpu_socket, 0xff, CPULIST_MAX_CPUS * sizeof(*h->layout.cpu_socket));
	err = fields_read(&l, o, &header_fields, h);
	if (!err)
		err = complete(line, h);
	wrong = err ? NULL : header_check(h);
	return wrong ? line_fail(line, NULL, "%s", wrong) : err;
}
