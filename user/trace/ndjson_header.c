// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trace/ndjson_header.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/cpulist.h"
#include "base/text.h"
#include "trace/header.h"

/* Enter the CPUs of a socket into a table of CPULIST_MAX_CPUS. */
static int take_cpus(const struct ndjson_line *line, const json_t *socket, uint32_t index,
		     uint32_t *cpus, uint32_t *nr_cpus)
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
		if ((uint32_t)cpu >= *nr_cpus)
			*nr_cpus = cpu + 1;
	}
	return 0;
}

static int take_sockets(const struct ndjson_line *line, struct trace_header *h)
{
	uint32_t *cpus = malloc(CPULIST_MAX_CPUS * sizeof(*cpus));
	uint32_t *ids = calloc(TRACE_MAX_SOCKETS, sizeof(*ids));
	uint64_t id = 0, nr_cpus = 0, host_sockets;
	json_t *sockets, *socket;
	size_t i;
	int err;

	h->layout.cpu_socket = cpus;
	h->layout.socket_ids = ids;
	if (!cpus || !ids)
		return -ENOMEM;
	memset(cpus, 0xff, CPULIST_MAX_CPUS * sizeof(*cpus));
	err = line_array(line, line->json, "sockets", REQUIRED, TRACE_MAX_SOCKETS, &sockets);
	if (err)
		return err;
	json_array_foreach (sockets, i, socket) {
		err = line_u64(line, socket, "id", REQUIRED, UINT32_MAX, &id);
		ids[i] = id;
		for (size_t j = 0; j < i && !err; j++)
			if (ids[j] == id)
				err = line_fail(line, "sockets", "socket %u is there twice",
						ids[i]);
		if (!err)
			err = take_cpus(line, socket, i, cpus, &h->layout.nr_cpus);
		if (err)
			return err;
	}
	h->layout.nr_sockets = json_array_size(sockets);
	host_sockets = h->layout.nr_sockets;
	err = line_u64(line, line->json, "nr_cpus", OPTIONAL, CPULIST_MAX_CPUS, &nr_cpus);
	if (!err)
		err = line_u64(line, line->json, "host_sockets", OPTIONAL, UINT32_MAX,
			       &host_sockets);
	if (nr_cpus > h->layout.nr_cpus)
		h->layout.nr_cpus = nr_cpus;
	h->host.sockets = host_sockets;
	return err;
}

/* Whether the list makes sense is up to header_check(). */
static int take_filters(const struct ndjson_line *line, json_t *value, struct counter *c)
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
			return line_fail(line, "filters", "\"%s\" is no name of a filter", name);
		if (str_append(c->filters, sizeof(c->filters), "%s%s=%" PRIu64,
			       c->filters[0] ? "," : "", name, number))
			return line_fail(line, "filters", "the filters of a counter are too long");
	}
	return 0;
}

/* Events of root complexes are named "wr_bytes", others "mem_bytes_wr". */
static enum direction direction_of(const char *event)
{
	return strstr(event, "_wr") || !strncmp(event, "wr_", 3) ? DIRECTION_WRITE : DIRECTION_READ;
}

static int take_counter(const struct ndjson_line *line, struct trace_header *h, json_t *value,
			struct counter *c, uint64_t *ret_id)
{
	const struct layout *l = &h->layout;
	unsigned int source = 0, direction, destination = DESTINATION_ANY, unit = UNIT_BYTES;
	uint64_t socket = 0;
	int err = line_u64(line, value, "id", REQUIRED, UINT64_MAX, ret_id);

	if (!err)
		err = line_text(line, value, "name", REQUIRED, c->name, sizeof(c->name), NULL);
	if (!err)
		err = line_text(line, value, "pmu", OPTIONAL, c->pmu, sizeof(c->pmu), NULL);
	if (!err)
		err = line_text(line, value, "event", OPTIONAL, c->event, sizeof(c->event), NULL);
	if (!err)
		err = line_u64(line, value, "socket", REQUIRED, UINT32_MAX, &socket);
	if (!err)
		err = line_word(line, value, "source", REQUIRED, source_name, SOURCE_ANY + 1,
				&source);
	direction = direction_of(c->event);
	if (!err)
		err = line_word(line, value, "direction", OPTIONAL, direction_name, NR_DIRECTIONS,
				&direction);
	if (!err)
		err = take_filters(line, value, c);
	if (!err)
		err = line_word(line, value, "destination", OPTIONAL, destination_name,
				NR_DESTINATIONS, &destination);
	/* values of another unit must not be taken for bytes */
	if (!err)
		err = line_word(line, value, "unit", OPTIONAL, unit_name, NR_UNITS, &unit);
	c->source = source;
	c->direction = direction;
	c->destination = destination;
	c->unit = unit;
	if (!err)
		err = ndjson_counter_device(line, value, h, c);
	if (err)
		return err;
	c->socket = ndjson_socket(l, socket);
	if (c->socket == l->nr_sockets)
		return line_fail(line, "counters", "counter %llu is on an unknown socket",
				 (unsigned long long)*ret_id);
	return 0;
}

/*
 * Groups as the counters' "group" says, with those of each device by themselves; without
 * that, each counter is one.
 */
static int take_groups(const struct ndjson_line *line, const json_t *values, struct counter *c,
		       struct group *groups, struct layout *l)
{
	uint64_t number = 0, before = 0;
	bool grouped = true;
	size_t i, g = 0;
	json_t *value;

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

static int take_counters(const struct ndjson_line *line, struct trace_header *h,
			 struct ndjson_names *names)
{
	struct layout *l = &h->layout;
	struct counter *counters;
	struct group *groups;
	json_t *values, *value;
	size_t i, nr;
	int err;

	err = line_array(line, line->json, "counters", REQUIRED, TRACE_MAX_COUNTERS, &values);
	if (err)
		return err;
	nr = json_array_size(values);
	l->counters = counters = calloc(nr + 1, sizeof(*counters));
	l->groups = groups = calloc(nr + 1, sizeof(*groups));
	names->counter_ids = calloc(nr + 1, sizeof(*names->counter_ids));
	if (!counters || !groups || !names->counter_ids)
		return -ENOMEM;
	json_array_foreach (values, i, value) {
		err = take_counter(line, h, value, &counters[i], &names->counter_ids[i]);
		if (err)
			return err;
		for (size_t j = 0; j < i; j++)
			if (names->counter_ids[j] == names->counter_ids[i])
				return line_fail(line, "counters", "counter %llu is there twice",
						 (unsigned long long)names->counter_ids[i]);
	}
	l->nr_counters = nr;
	return take_groups(line, values, counters, groups, l);
}

static int take_probe(const struct ndjson_line *line, const struct trace_header *h, json_t *value,
		      struct probe *p, uint64_t *ret_id)
{
	const struct layout *l = &h->layout;
	unsigned int direction = DIRECTION_READ, destination = DESTINATION_ANY;
	char bdf[MODEL_BDF_LEN];
	uint64_t socket = 0;
	int err = line_u64(line, value, "id", REQUIRED, UINT64_MAX, ret_id);

	if (!err)
		err = line_text(line, value, "name", REQUIRED, p->name, sizeof(p->name), NULL);
	if (!err)
		err = line_text(line, value, "title", OPTIONAL, p->title, sizeof(p->title), NULL);
	if (!err)
		err = line_text(line, value, "pmu", OPTIONAL, p->pmu, sizeof(p->pmu), NULL);
	if (!err)
		err = line_u64(line, value, "socket", REQUIRED, UINT32_MAX, &socket);
	if (!err)
		err = line_word(line, value, "direction", OPTIONAL, direction_name, NR_WAYS,
				&direction);
	if (!err)
		err = line_word(line, value, "destination", OPTIONAL, destination_name,
				NR_DESTINATIONS, &destination);
	p->direction = direction;
	p->destination = destination;
	if (!err)
		err = line_bool(line, value, "by_tasks", &p->by_tasks);
	if (!err)
		err = ndjson_bdf(line, value, "bdf", OPTIONAL, bdf);
	if (err)
		return err;
	p->device = ndjson_device(h, bdf);
	if (bdf[0] && !p->device)
		return line_fail(line, "bdf", "device %s is not in the header", bdf);
	p->socket = ndjson_socket(l, socket);
	if (p->socket == l->nr_sockets)
		return line_fail(line, "probes", "probe %llu is on an unknown socket",
				 (unsigned long long)*ret_id);
	return 0;
}

static int take_probes(const struct ndjson_line *line, struct trace_header *h,
		       struct ndjson_names *names)
{
	struct probe *probes;
	json_t *values, *value;
	size_t i, nr;
	int err = line_array(line, line->json, "probes", OPTIONAL, TRACE_MAX_PROBES, &values);

	if (err)
		return err;
	nr = json_array_size(values);
	h->probes = probes = calloc(nr + 1, sizeof(*probes));
	names->probe_ids = calloc(nr + 1, sizeof(*names->probe_ids));
	if (!probes || !names->probe_ids)
		return -ENOMEM;
	json_array_foreach (values, i, value) {
		err = take_probe(line, h, value, &probes[i], &names->probe_ids[i]);
		if (err)
			return err;
		for (size_t j = 0; j < i; j++)
			if (names->probe_ids[j] == names->probe_ids[i])
				return line_fail(line, "probes", "probe %llu is there twice",
						 (unsigned long long)names->probe_ids[i]);
	}
	h->nr_probes = nr;
	return 0;
}

static int take_texts(const struct ndjson_line *line, const char *key, char ***ret, size_t *ret_nr)
{
	cleanup_free char *text = malloc(RECORDING_MAX_TEXT + 1);
	json_t *values, *value;
	char **texts;
	size_t i;
	int err = line_array(line, line->json, key, OPTIONAL, TRACE_MAX_SELECTED, &values);

	if (err)
		return err;
	*ret = texts = calloc(json_array_size(values) + 1, sizeof(*texts));
	if (!texts || !text)
		return -ENOMEM;
	json_array_foreach (values, i, value) {
		err = line_element_text(line, value, key, text, RECORDING_MAX_TEXT + 1);
		if (err)
			return err;
		texts[i] = strdup(text);
		if (!texts[i])
			return -ENOMEM;
		*ret_nr = i + 1;
	}
	return 0;
}

static int take_lists(const struct ndjson_line *line, struct trace_header *h,
		      struct ndjson_names *names)
{
	json_t *values, *value;
	size_t i;
	int err;

	err = line_array(line, line->json, "weights", OPTIONAL, TRACE_MAX_WEIGHTS, &values);
	names->weights_known = values;
	json_array_foreach (values, i, value) {
		if (!err)
			err = line_element_text(line, value, "weights", h->weights[i],
						sizeof(h->weights[i]));
	}
	h->nr_weights = json_array_size(values);
	if (!err)
		err = take_texts(line, "cgroups", &h->cgroups, &h->nr_cgroups);
	return err ? err : take_texts(line, "jobs", &h->jobs, &h->nr_jobs);
}

static int take_host(const struct ndjson_line *line, struct host_info *host)
{
	int err =
		line_text(line, line->json, "host", OPTIONAL, host->name, sizeof(host->name), NULL);

	if (!err)
		err = line_text(line, line->json, "kernel", OPTIONAL, host->kernel,
				sizeof(host->kernel), NULL);
	if (!err)
		err = line_text(line, line->json, "platform", OPTIONAL, host->platform,
				sizeof(host->platform), NULL);
	if (!err)
		err = line_text(line, line->json, "io_note", OPTIONAL, host->io_note,
				sizeof(host->io_note), NULL);
	if (!err)
		err = line_text(line, line->json, "tick", OPTIONAL, host->tick, sizeof(host->tick),
				NULL);
	if (!err)
		err = line_text(line, line->json, "tick_note", OPTIONAL, host->tick_note,
				sizeof(host->tick_note), NULL);
	return err;
}

static int take_peaks(const struct ndjson_line *line, struct peaks *p)
{
	json_t *values, *value;
	size_t i;
	int err = line_array(line, line->json, "peaks", OPTIONAL, PEAK_MAX, &values);

	json_array_foreach (values, i, value) {
		uint64_t socket = PEAK_EVERY_SOCKET, rate = 0;
		unsigned int of = 0, from = 0;

		if (!err)
			err = line_word(line, value, "of", REQUIRED, peak_name, NR_PEAKS, &of);
		if (!err)
			err = line_word(line, value, "from", REQUIRED, peak_from_name, NR_PEAK_FROM,
					&from);
		if (!err)
			err = line_u64(line, value, "socket", OPTIONAL, UINT32_MAX, &socket);
		if (!err)
			err = line_u64(line, value, "bytes_per_s", REQUIRED, PEAK_MOST, &rate);
		if (err)
			return err;
		p->items[p->nr++] = (struct peak){
			.of = of, .from = from, .socket = (uint32_t)socket, .bytes_per_s = rate
		};
	}
	if (!err)
		err = line_text(line, line->json, "peak_note", OPTIONAL, p->note, sizeof(p->note),
				NULL);
	return err;
}

int ndjson_header(const struct ndjson_line *line, struct trace_header *h,
		  struct ndjson_names *names)
{
	const json_t *o = line->json;
	const char *type = json_string_value(json_object_get(o, "type"));
	const char *schema = json_string_value(json_object_get(o, "schema"));
	const char *wrong;
	int err;

	if (!type || strcmp(type, "header"))
		return line_fail(line, "type", "the first line must be of type \"header\"");
	if (!schema || strcmp(schema, NDJSON_SCHEMA))
		return line_fail(line, "schema", "\"schema\" must be \"%s\"", NDJSON_SCHEMA);
	names->own = json_object_get(o, "marked");
	names->devices_known = json_object_get(o, "devices");
	h->all = true;
	err = take_host(line, &h->host);
	if (!err)
		err = take_peaks(line, &h->host.peaks);
	if (!err)
		err = take_sockets(line, h);
	if (!err)
		err = ndjson_devices(line, h);
	if (!err)
		err = take_counters(line, h, names);
	if (!err)
		err = take_probes(line, h, names);
	if (!err)
		err = ndjson_parts(line, h);
	if (!err)
		err = take_lists(line, h, names);
	if (!err)
		err = line_u64(line, o, "window_ns", OPTIONAL, UINT64_MAX, &h->window_ns);
	if (!err)
		err = line_u64(line, o, "interval_ns", OPTIONAL, UINT64_MAX, &h->interval_ns);
	if (!err)
		err = line_bool(line, o, "by_thread", &h->by_thread);
	if (!err)
		err = line_bool(line, o, "marked", &h->marked);
	if (!err)
		err = line_bool(line, o, "all", &h->all);
	if (!err)
		err = line_bool(line, o, "resctrl", &h->resctrl);
	wrong = err ? NULL : header_check(h);
	return wrong ? line_fail(line, NULL, "%s", wrong) : err;
}
