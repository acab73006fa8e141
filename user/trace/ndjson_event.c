// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "base/fnv.h"
#include "trace/fields.h"
#include "trace/ndjson_read.h"

/* A number for a cgroup that has none: no kernel gives one so large, but every JSON reader has it. */
static uint64_t number_of(const char *path)
{
	return (fnv_text(FNV_BASIS, path) & ((1ull << 52) - 1)) | 1ull << 52;
}

static int enter_workload(struct ndjson_reader *r, const struct ndjson_workload *is)
{
	struct ndjson_workload *w;

	HASH_FIND(hh, r->workloads, &is->id, sizeof(is->id), w);
	if (w && memcmp(&w->who, &is->who, sizeof(w->who)))
		return line_fail(&r->line, "id", "workload %llu was announced as another one",
				 (unsigned long long)is->id);
	if (w)
		return 0;
	w = malloc(sizeof(*w));
	if (!w)
		return -ENOMEM;
	*w = *is;
	HASH_ADD(hh, r->workloads, id, sizeof(w->id), w);
	if (!w->hh.tbl) {
		free(w);
		return -ENOMEM;
	}
	return 0;
}

/* In foreign traces, a workload stands for its task and its cgroup. */
static int tell_workload(struct ndjson_reader *r, const struct ndjson_workload *w, bool has_comm,
			 bool has_path, const struct trace_sink *sink)
{
	struct trace_task t = {
		.pid = w->who.pid,
		.tgid = w->who.tgid,
		.start_ns = w->who.task_start_ns,
		.cgroup_id = w->who.cgroup_id,
		.comm = has_comm ? r->text : NULL,
	};
	int err = 0;

	if (has_path) {
		r->events++;
		err = trace_send_cgroup(sink, w->who.cgroup_id, r->path_text);
	}
	/* pid 0 with a cgroup stands for all of it; without one, for the idle task */
	if (err || w->who.pid == TRACE_PID_IDLE)
		return err;
	r->events++;
	return trace_send_task(sink, &t);
}

static int take_u32(const struct ndjson_line *l, const char *key, enum need need, uint32_t *ret)
{
	uint64_t value = *ret;
	int err = line_u64(l, l->json, key, need, UINT32_MAX, &value);

	*ret = value;
	return err;
}

static int on_workload(struct ndjson_reader *r, const struct trace_sink *sink)
{
	const struct ndjson_line *l = &r->line;
	struct ndjson_workload w = { 0 };
	bool has_comm, has_path;
	int err = line_u64(l, l->json, "id", REQUIRED, UINT64_MAX, &w.id);

	if (!err)
		err = take_u32(l, "pid", REQUIRED, &w.who.pid);
	w.who.tgid = w.who.pid;
	if (!err)
		err = take_u32(l, "tgid", OPTIONAL, &w.who.tgid);
	if (!err)
		err = line_u64(l, l->json, "start_ns", OPTIONAL, UINT64_MAX, &w.who.task_start_ns);
	if (!err)
		err = line_text(l, l->json, "comm", OPTIONAL, r->text, sizeof(r->text), &has_comm);
	if (!err)
		err = line_text(l, l->json, "cgroup", OPTIONAL, r->path_text, sizeof(r->path_text),
				&has_path);
	if (err)
		return err;
	if (has_path)
		w.who.cgroup_id = number_of(r->path_text);
	err = line_u64(l, l->json, "cgroup_id", OPTIONAL, UINT64_MAX, &w.who.cgroup_id);
	if (w.who.pid == TRACE_PID_IDLE || w.who.pid == TRACE_PID_LOST)
		w.who.tgid = w.who.task_start_ns = 0;
	if (w.who.pid == TRACE_PID_LOST)
		w.who.cgroup_id = 0;
	if (!err)
		err = enter_workload(r, &w);
	if (err || r->names.own || w.who.pid == TRACE_PID_LOST)
		return err;
	return tell_workload(r, &w, has_comm, has_path, sink);
}

/* The workload that a line names; the event begins with its task. */
static int take_workload(const struct ndjson_reader *r, const char *key, struct trace_event *e)
{
	const struct ndjson_line *l = &r->line;
	const struct ndjson_workload *w;
	struct trace_who who;
	uint64_t id = 0;
	int err = line_u64(l, l->json, key, REQUIRED, UINT64_MAX, &id);

	if (err)
		return err;
	HASH_FIND(hh, r->workloads, &id, sizeof(id), w);
	if (!w)
		return line_fail(l, key, "workload %llu was not announced before",
				 (unsigned long long)id);
	memcpy(&e->slice, &w->who, sizeof(w->who));
	who = trace_who(e);
	memcpy(&e->slice, &who, sizeof(who));
	return 0;
}

static int take_weights(const struct ndjson_reader *r, const char *key, struct trace_slice *s)
{
	const struct ndjson_line *l = &r->line;
	const struct trace_header *h = r->header;
	const json_t *weights = json_object_get(l->json, key), *value;
	bool any = false;
	int err;

	if (!weights)
		return 0;
	if (!json_is_object(weights))
		return line_fail(l, key, "\"%s\" must be an object", key);
	for (uint32_t i = 0; i < h->nr_weights; i++) {
		value = json_object_get(weights, h->weights[i]);
		if (!value)
			continue;
		any = true;
		err = line_number(l, value, h->weights[i], UINT64_MAX, &s->weights[i]);
		if (err)
			return err;
	}
	if (!any)
		return 0;
	s->weights_ns = s->on_cpu_ns;
	return line_u64(l, l->json, "weights_ns", OPTIONAL, s->on_cpu_ns, &s->weights_ns);
}

/* The counter with a number; most are their own index. */
static size_t find_counter(const struct ndjson_reader *r, uint64_t id)
{
	size_t nr = r->header->layout.nr_counters;

	if (id < nr && r->names.counter_ids[id] == id)
		return id;
	for (size_t i = 0; i < nr; i++)
		if (r->names.counter_ids[i] == id)
			return i;
	return nr;
}

/* One of "values": [counter, delta, time enabled, time running]. */
static int take_value(struct ndjson_reader *r, const json_t *value, uint32_t socket)
{
	const struct layout *layout = &r->header->layout;
	uint64_t n[4] = { 0 };
	size_t i;

	if (json_array_size(value) != 4)
		return line_fail(&r->line, "values",
				 "each of \"values\" must be [counter, delta, enabled, running]");
	for (i = 0; i < 4; i++)
		if (line_number(&r->line, json_array_get(value, i), "values", UINT64_MAX, &n[i]))
			return -EBADMSG;
	i = find_counter(r, n[0]);
	if (i == layout->nr_counters)
		return line_fail(&r->line, "values", "counter %llu is not in the header",
				 (unsigned long long)n[0]);
	if (layout->counters[i].socket != socket)
		return line_fail(&r->line, "values", "counter %llu is on another socket",
				 (unsigned long long)n[0]);
	r->readings[i] = (struct reading){ n[1], n[2], n[3] };
	r->has_group[layout->counters[i].group] = true;
	return 0;
}

static int take_readings(struct ndjson_reader *r, const char *key, uint32_t socket)
{
	const struct layout *layout = &r->header->layout;
	json_t *values, *value;
	size_t i;
	int err = line_array(&r->line, r->line.json, key, REQUIRED, TRACE_MAX_COUNTERS, &values);

	memset(r->readings, 0, layout->nr_counters * sizeof(r->readings[0]));
	memset(r->has_group, 0, layout->nr_groups * sizeof(r->has_group[0]));
	json_array_foreach (values, i, value) {
		if (!err)
			err = take_value(r, value, socket);
	}
	return err;
}

static int take_ends(struct ndjson_reader *r, const char *key, struct trace_mark *m)
{
	const struct ndjson_line *l = &r->line;
	uint32_t nr_sockets = r->header->layout.nr_sockets;
	json_t *ends, *value;
	size_t i;
	int err = line_array(l, l->json, key, OPTIONAL, nr_sockets, &ends);

	if (err)
		return err;
	if (ends && json_array_size(ends) != nr_sockets)
		return line_fail(l, key, "\"%s\" must have %u elements", key, nr_sockets);
	json_array_foreach (ends, i, value)
		if (line_number(l, value, key, UINT64_MAX, &r->ends_ns[i]))
			return -EBADMSG;
	m->ends_ns = ends ? r->ends_ns : NULL;
	/* only at the end of a trace without marks is there a mark without ends */
	if (!ends && !m->last)
		return line_fail(l, NULL, "\"%s\" is missing", key);
	if (m->inner && (m->first || m->last))
		return line_fail(l, "inner", "\"inner\" is neither first nor last");
	return 0;
}

static int take_totals(struct fields_line *from, const json_t *object, const struct field *f,
		       void *of)
{
	const json_t *totals = json_object_get(object, f->name);

	if (totals && !json_is_object(totals))
		return line_fail(from->line, f->name, "\"%s\" must be an object", f->name);
	return fields_read(from, totals, f->each, (char *)of + f->offset);
}

/* An index, by the number that a line has for it: the index itself of CPUs and parts. */
static int take_index(const struct ndjson_reader *r, const struct field *f, uint32_t *ret)
{
	bool cpu = f->type == FIELD_CPU, probe = f->type == FIELD_PROBE;
	bool direct = cpu || f->type == FIELD_PART;
	const struct layout *l = &r->header->layout;
	uint32_t nr = direct || probe ? trace_bound(r->header, f) : l->nr_sockets, i = 0;
	uint64_t max = probe ? UINT64_MAX : UINT32_MAX, number = 0;
	bool optional = f->type == FIELD_PLACE;
	int err = line_u64(&r->line, r->line.json, f->name, optional ? OPTIONAL : REQUIRED, max,
			   &number);

	if (!err && optional && !json_object_get(r->line.json, f->name)) {
		*ret = LAYOUT_NO_SOCKET;
		return 0;
	}
	if (err)
		return err;
	if (direct)
		i = number < nr ? number : nr;
	while (!direct && i < nr && number != (probe ? r->names.probe_ids[i] : l->socket_ids[i]))
		i++;
	*ret = i;
	return i < nr ? 0
		      : line_fail(&r->line, f->name, "%s %llu is not in the header",
				  cpu ? "CPU" : f->name, (unsigned long long)number);
}

/* The index of a device, UINT32_MAX for one that the header does not know. */
static int take_device(const struct ndjson_reader *r, const struct field *f, struct trace_event *e)
{
	char bdf[MODEL_BDF_LEN];
	int err = ndjson_bdf(&r->line, r->line.json, f->name, REQUIRED, bdf);

	if (!err)
		field_set(f, e, ndjson_device(r->header, bdf) - 1u);
	return err;
}

static int take_text(struct ndjson_reader *r, const struct field *f, struct trace_event *e)
{
	char *to = r->text + r->used_text;
	bool known = false;
	int err = line_text(&r->line, r->line.json, f->name, f->required ? REQUIRED : OPTIONAL, to,
			    f->size, &known);

	if (err || !known)
		return err;
	r->used_text += strlen(to) + 1;
	*(const char **)((char *)e + f->offset) = to;
	return 0;
}

static int take_instance(const struct fields_line *from, const json_t *object,
			 const struct field *f, void *of)
{
	uint64_t number = TRACE_NO_INSTANCE;
	int err = line_u64(from->line, object, f->name, OPTIONAL, TRACE_NO_INSTANCE - 1, &number);

	field_set(f, of, number);
	return err;
}

/* Fields that base/fields.h leaves to their owner */
static int take_own(struct fields_line *from, const json_t *object, const struct field *f, void *of)
{
	struct ndjson_reader *r = from->arg;
	struct trace_event *e = of;

	switch (f->type) {
	case FIELD_WHO:
		return take_workload(r, f->name, e);
	case FIELD_TEXT:
		return take_text(r, f, e);
	case FIELD_DEVICE:
		return take_device(r, f, e);
	case FIELD_INSTANCE:
		return take_instance(from, object, f, of);
	case FIELD_GROUP:
		return take_index(r, f, &r->socket);
	case FIELD_WEIGHTS:
		return take_weights(r, f->name, &e->slice);
	case FIELD_READINGS:
		return take_readings(r, f->name, r->socket);
	case FIELD_ENDS:
		return take_ends(r, f->name, &e->mark);
	case FIELD_TOTALS:
		return take_totals(from, object, f, of);
	default:
		return take_index(r, f, (uint32_t *)((char *)e + f->offset));
	}
}

/* A device that the header does not know cannot be added any more: that much is lost. */
static int lose_io(struct ndjson_reader *r, const struct trace_io *io,
		   const struct trace_sink *sink)
{
	const struct trace_lost lost = {
		.what = "io", .start_ns = io->start_ns, .end_ns = io->end_ns, .count = 1
	};

	if (!r->header->layout.nr_sockets)
		return 0;
	r->events++;
	return trace_send_lost(sink, &lost);
}

static int send_io(struct ndjson_reader *r, const struct trace_event *e,
		   const struct trace_sink *sink)
{
	const struct trace_io *io = &e->io;

	if (io->exclusive && (io->read_bytes || io->write_bytes))
		return line_fail(&r->line, "exclusive", "\"exclusive\" goes with no bytes");
	if (io->device == UINT32_MAX)
		return lose_io(r, io, sink);
	r->events++;
	return trace_send(sink, e);
}

/* A line may have the readings of several groups of its socket. */
static int send_windows(struct ndjson_reader *r, struct trace_event *e,
			const struct trace_sink *sink)
{
	const struct layout *layout = &r->header->layout;
	struct trace_window *w = &e->window;
	int err = 0;

	for (w->group = 0; w->group < layout->nr_groups && !err; w->group++) {
		if (!r->has_group[w->group])
			continue;
		w->readings = &r->readings[layout->groups[w->group].first];
		r->events++;
		err = trace_send(sink, e);
	}
	return err;
}

static int send_row(struct ndjson_reader *r, struct trace_event *e, const struct trace_sink *sink)
{
	if (e->type == TRACE_WINDOW)
		return send_windows(r, e, sink);
	if (e->type == TRACE_IO)
		return send_io(r, e, sink);
	r->events++;
	return trace_send(sink, e);
}

static int take_row(struct ndjson_reader *r, enum trace_event_type type,
		    const struct trace_sink *sink)
{
	struct fields_line line = { .line = &r->line, .own = take_own, .arg = r };
	struct trace_event e;
	int err;

	/* without probes, it is a line of another tool and means something else */
	if ((type == TRACE_SAMPLE && !r->header->nr_probes) || trace_unannounced(r->header, type))
		return 0;
	memset(&e, 0, sizeof(e));
	e.type = type;
	r->used_text = 0;
	err = fields_read(&line, r->line.json, &trace_rows[type].fields, &e);
	if (!err)
		err = send_row(r, &e, sink);
	fields_release(&trace_rows[type].fields, &e);
	return err;
}

static int on_end(struct ndjson_reader *r)
{
	if (r->ended)
		return line_fail(&r->line, "type", "the trace ends twice");
	r->ended = true;
	return line_u64(&r->line, r->line.json, "time_ns", REQUIRED, UINT64_MAX, &r->end_ns);
}

int ndjson_event(struct ndjson_reader *r, const struct trace_sink *sink)
{
	const char *type = json_string_value(json_object_get(r->line.json, "type"));

	if (!type)
		return line_fail(&r->line, "type", "\"type\" must be a text");
	if (!strcmp(type, "header"))
		return line_fail(&r->line, "type", "there is a second header");
	if (!strcmp(type, "workload"))
		return on_workload(r, sink);
	if (!strcmp(type, "end"))
		return on_end(r);
	for (int i = 0; i < NR_TRACE_EVENTS; i++)
		if (!strcmp(type, trace_rows[i].name) && (r->names.own || !trace_rows[i].own))
			return take_row(r, i, sink);
	return 0;
}
