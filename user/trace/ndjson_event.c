// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "trace/fields.h"
#include "trace/ndjson_read.h"

/* Times of a line, in order. */
static int take_times(const struct ndjson_line *l, uint64_t *start_ns, uint64_t *end_ns)
{
	int err = line_u64(l, l->json, "start_ns", REQUIRED, UINT64_MAX, start_ns);

	if (!err)
		err = line_u64(l, l->json, "end_ns", REQUIRED, UINT64_MAX, end_ns);
	if (!err && *end_ns < *start_ns)
		err = line_fail(l, "end_ns", "\"end_ns\" is before \"start_ns\"");
	return err;
}

static int take_u32(const struct ndjson_line *l, const char *key, enum need need, uint32_t *ret)
{
	uint64_t value = *ret;
	int err = line_u64(l, l->json, key, need, UINT32_MAX, &value);

	*ret = value;
	return err;
}

/* The index of the socket that a line names by its number. */
static int take_socket(const struct ndjson_reader *r, uint32_t *ret)
{
	const struct layout *l = &r->header->layout;
	uint32_t number = 0;
	int err = take_u32(&r->line, "socket", REQUIRED, &number);

	if (err)
		return err;
	for (*ret = 0; *ret < l->nr_sockets; ++*ret)
		if (l->socket_ids[*ret] == number)
			return 0;
	return line_fail(&r->line, "socket", "socket %u is not in the header", number);
}

/* A number for a cgroup that has none: no kernel gives one so large, but every JSON reader has it. */
static uint64_t number_of(const char *path)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *path; path++)
		hash = (hash ^ (uint8_t)*path) * 0x100000001b3u;
	return (hash & ((1ull << 52) - 1)) | 1ull << 52;
}

static int enter_workload(struct ndjson_reader *r, const struct ndjson_workload *is)
{
	struct ndjson_workload *w;

	HASH_FIND(hh, r->workloads, &is->id, sizeof(is->id), w);
	if (w && (w->pid != is->pid || w->tgid != is->tgid || w->start_ns != is->start_ns ||
		  w->cgroup_id != is->cgroup_id))
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

/* In traces of others, a workload stands for its task and its cgroup. */
static int tell_workload(struct ndjson_reader *r, const struct ndjson_workload *w, bool has_comm,
			 bool has_path, const struct trace_sink *sink)
{
	struct trace_task t = {
		.pid = w->pid,
		.tgid = w->tgid,
		.start_ns = w->start_ns,
		.cgroup_id = w->cgroup_id,
		.comm = has_comm ? r->text : NULL,
	};
	int err = 0;

	if (has_path) {
		r->events++;
		err = trace_send_cgroup(sink, w->cgroup_id, r->path_text);
	}
	/* pid 0 with a cgroup stands for all of it; without one, for the idle task */
	if (err || w->pid == TRACE_PID_IDLE)
		return err;
	r->events++;
	return trace_send_task(sink, &t);
}

static int on_workload(struct ndjson_reader *r, const struct trace_sink *sink)
{
	const struct ndjson_line *l = &r->line;
	struct ndjson_workload w = { 0 };
	bool has_comm, has_path;
	int err = line_u64(l, l->json, "id", REQUIRED, UINT64_MAX, &w.id);

	if (!err)
		err = take_u32(l, "pid", REQUIRED, &w.pid);
	w.tgid = w.pid;
	if (!err)
		err = take_u32(l, "tgid", OPTIONAL, &w.tgid);
	if (!err)
		err = line_u64(l, l->json, "start_ns", OPTIONAL, UINT64_MAX, &w.start_ns);
	if (!err)
		err = line_text(l, l->json, "comm", OPTIONAL, r->text, sizeof(r->text), &has_comm);
	if (!err)
		err = line_text(l, l->json, "cgroup", OPTIONAL, r->path_text, sizeof(r->path_text),
				&has_path);
	if (err)
		return err;
	if (has_path)
		w.cgroup_id = number_of(r->path_text);
	err = line_u64(l, l->json, "cgroup_id", OPTIONAL, UINT64_MAX, &w.cgroup_id);
	if (w.pid == TRACE_PID_IDLE || w.pid == TRACE_PID_LOST)
		w.tgid = w.start_ns = 0;
	if (w.pid == TRACE_PID_LOST)
		w.cgroup_id = 0;
	if (!err)
		err = enter_workload(r, &w);
	if (err || r->names.own || w.pid == TRACE_PID_LOST)
		return err;
	return tell_workload(r, &w, has_comm, has_path, sink);
}

/* The workload that a line names. */
static int take_workload(struct ndjson_reader *r, const struct ndjson_workload **ret)
{
	const struct ndjson_line *l = &r->line;
	struct ndjson_workload *w;
	uint64_t id = 0;
	int err = line_u64(l, l->json, "workload", REQUIRED, UINT64_MAX, &id);

	if (err)
		return err;
	HASH_FIND(hh, r->workloads, &id, sizeof(id), w);
	if (!w)
		return line_fail(l, "workload", "workload %llu was not announced before",
				 (unsigned long long)id);
	*ret = w;
	return 0;
}

static int take_weights(const struct ndjson_reader *r, struct trace_slice *s)
{
	const struct ndjson_line *l = &r->line;
	const struct trace_header *h = r->header;
	const json_t *weights = json_object_get(l->json, "weights"), *value;
	bool any = false;
	int err;

	if (!weights)
		return 0;
	if (!json_is_object(weights))
		return line_fail(l, "weights", "\"weights\" must be an object");
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

static int on_slice(struct ndjson_reader *r, const struct trace_sink *sink)
{
	const struct ndjson_line *l = &r->line;
	const struct ndjson_workload *w = NULL;
	struct trace_slice s = { 0 };
	int err = take_workload(r, &w);

	if (!err)
		err = take_u32(l, "cpu", REQUIRED, &s.cpu);
	if (!err && s.cpu >= r->header->layout.nr_cpus)
		err = line_fail(l, "cpu", "CPU %u is not in the header", s.cpu);
	if (!err)
		err = take_times(l, &s.start_ns, &s.end_ns);
	if (err)
		return err;
	s.on_cpu_ns = s.end_ns - s.start_ns;
	err = line_u64(l, l->json, "on_cpu_ns", OPTIONAL, s.on_cpu_ns, &s.on_cpu_ns);
	if (!err)
		err = take_weights(r, &s);
	if (err)
		return err;
	s.pid = w->pid;
	s.tgid = w->tgid;
	s.task_start_ns = w->start_ns;
	s.cgroup_id = w->pid == TRACE_PID_IDLE ? 0 : w->cgroup_id;
	r->events++;
	return trace_send_slice(sink, &s);
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

static int on_window(struct ndjson_reader *r, const struct trace_sink *sink)
{
	const struct layout *layout = &r->header->layout;
	struct trace_window w;
	json_t *values, *value;
	uint32_t socket = 0;
	size_t i;
	int err = take_socket(r, &socket);

	if (!err)
		err = take_times(&r->line, &w.start_ns, &w.end_ns);
	if (!err)
		err = line_array(&r->line, r->line.json, "values", REQUIRED, TRACE_MAX_COUNTERS,
				 &values);
	if (err)
		return err;
	memset(r->readings, 0, layout->nr_counters * sizeof(r->readings[0]));
	memset(r->has_group, 0, layout->nr_groups * sizeof(r->has_group[0]));
	json_array_foreach (values, i, value) {
		err = take_value(r, value, socket);
		if (err)
			return err;
	}
	for (w.group = 0; w.group < layout->nr_groups && !err; w.group++) {
		if (!r->has_group[w.group])
			continue;
		w.readings = &r->readings[layout->groups[w.group].first];
		r->events++;
		err = trace_send_window(sink, &w);
	}
	return err;
}

static int on_sample(struct ndjson_reader *r, const struct trace_sink *sink)
{
	const struct ndjson_line *l = &r->line;
	struct trace_sample s = { 0 };
	uint64_t id = 0;
	int err;

	/* without probes, it is a line of another tool and means something else */
	if (!r->header->nr_probes)
		return 0;
	err = line_u64(l, l->json, "probe", REQUIRED, UINT64_MAX, &id);
	if (err)
		return err;
	while (s.probe < r->header->nr_probes && r->names.probe_ids[s.probe] != id)
		s.probe++;
	if (s.probe == r->header->nr_probes)
		return line_fail(l, "probe", "probe %llu is not in the header",
				 (unsigned long long)id);
	err = take_times(l, &s.start_ns, &s.end_ns);
	s.enabled_ns = s.end_ns - s.start_ns;
	if (!err)
		err = line_u64(l, l->json, "outstanding", REQUIRED, UINT64_MAX, &s.outstanding);
	if (!err)
		err = line_u64(l, l->json, "requests", REQUIRED, UINT64_MAX, &s.requests);
	if (!err)
		err = line_u64(l, l->json, "cycles", REQUIRED, UINT64_MAX, &s.cycles);
	if (!err)
		err = line_u64(l, l->json, "enabled_ns", OPTIONAL, UINT64_MAX, &s.enabled_ns);
	s.running_ns = s.enabled_ns;
	if (!err)
		err = line_u64(l, l->json, "running_ns", OPTIONAL, UINT64_MAX, &s.running_ns);
	if (err)
		return err;
	r->events++;
	return trace_send_sample(sink, &s);
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

static int take_io(const struct ndjson_line *l, struct trace_io *io)
{
	enum need need;
	int err = line_bool(l, l->json, "exclusive", &io->exclusive);

	need = io->exclusive ? OPTIONAL : REQUIRED;
	if (!err)
		err = line_u64(l, l->json, "read_bytes", need, UINT64_MAX, &io->read_bytes);
	if (!err)
		err = line_u64(l, l->json, "write_bytes", need, UINT64_MAX, &io->write_bytes);
	if (!err && io->exclusive && (io->read_bytes || io->write_bytes))
		err = line_fail(l, "exclusive", "\"exclusive\" goes with no bytes");
	return err ? err : take_times(l, &io->start_ns, &io->end_ns);
}

static int on_io(struct ndjson_reader *r, const struct trace_sink *sink)
{
	const struct ndjson_line *l = &r->line;
	const struct ndjson_workload *w = NULL;
	struct trace_io io = { 0 };
	char bdf[MODEL_BDF_LEN];
	uint32_t device;
	int err = take_workload(r, &w);

	if (!err)
		err = ndjson_bdf(l, l->json, "bdf", REQUIRED, bdf);
	if (!err)
		err = take_io(l, &io);
	if (err)
		return err;
	device = ndjson_device(r->header, bdf);
	if (!device)
		return lose_io(r, &io, sink);
	io.device = device - 1;
	io.pid = w->pid;
	io.tgid = w->tgid;
	io.task_start_ns = w->start_ns;
	io.cgroup_id = w->cgroup_id;
	r->events++;
	return trace_send_io(sink, &io);
}

static int on_lost(struct ndjson_reader *r, const struct trace_sink *sink)
{
	const struct ndjson_line *l = &r->line;
	struct trace_lost lost = { .what = r->text };
	int err = line_text(l, l->json, "what", REQUIRED, r->text, sizeof(r->text), NULL);

	if (!err)
		err = take_socket(r, &lost.socket);
	if (!err)
		err = take_times(l, &lost.start_ns, &lost.end_ns);
	if (!err)
		err = line_u64(l, l->json, "count", REQUIRED, UINT64_MAX, &lost.count);
	if (err)
		return err;
	r->events++;
	return trace_send_lost(sink, &lost);
}

static int on_end(struct ndjson_reader *r, const struct trace_sink *sink)
{
	(void)sink;
	if (r->ended)
		return line_fail(&r->line, "type", "the trace ends twice");
	r->ended = true;
	return line_u64(&r->line, r->line.json, "time_ns", REQUIRED, UINT64_MAX, &r->end_ns);
}

static int on_task(struct ndjson_reader *r, const struct trace_sink *sink)
{
	const struct ndjson_line *l = &r->line;
	struct trace_task t = { 0 };
	bool has_comm;
	int err = take_u32(l, "pid", REQUIRED, &t.pid);

	if (!err)
		err = take_u32(l, "tgid", REQUIRED, &t.tgid);
	if (!err)
		err = line_u64(l, l->json, "start_ns", REQUIRED, UINT64_MAX, &t.start_ns);
	if (!err)
		err = take_u32(l, "parent", OPTIONAL, &t.parent);
	if (!err)
		err = line_u64(l, l->json, "parent_start_ns", OPTIONAL, UINT64_MAX,
			       &t.parent_start_ns);
	if (!err)
		err = line_u64(l, l->json, "cgroup_id", OPTIONAL, UINT64_MAX, &t.cgroup_id);
	if (!err)
		err = line_bool(l, l->json, "kernel", &t.kernel);
	if (!err)
		err = line_text(l, l->json, "comm", OPTIONAL, r->text, sizeof(r->text), &has_comm);
	if (err)
		return err;
	t.comm = has_comm ? r->text : NULL;
	r->events++;
	return trace_send_task(sink, &t);
}

static int on_exit_(struct ndjson_reader *r, const struct trace_sink *sink)
{
	uint64_t start_ns = 0;
	uint32_t pid = 0;
	int err = take_u32(&r->line, "pid", REQUIRED, &pid);

	if (!err)
		err = line_u64(&r->line, r->line.json, "start_ns", REQUIRED, UINT64_MAX, &start_ns);
	if (err)
		return err;
	r->events++;
	return trace_send_exit(sink, pid, start_ns);
}

static int on_follow(struct ndjson_reader *r, const struct trace_sink *sink)
{
	uint32_t pid = 0;
	int err = take_u32(&r->line, "pid", REQUIRED, &pid);

	if (err)
		return err;
	r->events++;
	return trace_send_follow(sink, pid);
}

static int on_resync(struct ndjson_reader *r, const struct trace_sink *sink)
{
	bool begin = false;
	int err = line_bool(&r->line, r->line.json, "begin", &begin);

	if (err)
		return err;
	r->events++;
	return trace_send_resync(sink, begin);
}

static int on_cgroup(struct ndjson_reader *r, const struct trace_sink *sink)
{
	uint64_t id = 0;
	bool has_path;
	int err = line_u64(&r->line, r->line.json, "id", REQUIRED, UINT64_MAX, &id);

	if (!err)
		err = line_text(&r->line, r->line.json, "path", OPTIONAL, r->path_text,
				sizeof(r->path_text), &has_path);
	if (err)
		return err;
	r->events++;
	return trace_send_cgroup(sink, id, has_path ? r->path_text : NULL);
}

static int on_job(struct ndjson_reader *r, const struct trace_sink *sink)
{
	const struct ndjson_line *l = &r->line;
	char id[JOB_ID_LEN], name[JOB_NAME_LEN], user[JOB_NAME_LEN];
	bool has_id = false, has_name = false, has_user = false;
	struct trace_job_news j = { 0 };
	int err = line_u64(l, l->json, "cgroup_id", REQUIRED, UINT64_MAX, &j.cgroup_id);

	if (!err)
		err = line_text(l, l->json, "id", OPTIONAL, id, sizeof(id), &has_id);
	if (!err)
		err = line_text(l, l->json, "name", OPTIONAL, name, sizeof(name), &has_name);
	if (!err)
		err = line_text(l, l->json, "user", OPTIONAL, user, sizeof(user), &has_user);
	if (err)
		return err;
	j.id = has_id ? id : NULL;
	j.name = has_name ? name : NULL;
	j.user = has_user ? user : NULL;
	r->events++;
	return trace_send_job(sink, &j);
}

static int take_fields(const struct ndjson_line *l, const char *key, void *into,
		       const struct trace_field *fields, size_t nr)
{
	const json_t *o = json_object_get(l->json, key);
	uint64_t value;
	int err = 0;

	if (o && !json_is_object(o))
		return line_fail(l, key, "\"%s\" must be an object", key);
	for (size_t i = 0; o && !err && i < nr; i++) {
		value = 0;
		err = line_u64(l, o, fields[i].name, OPTIONAL, UINT64_MAX, &value);
		trace_field_set(into, &fields[i], value);
	}
	return err;
}

static int on_mark(struct ndjson_reader *r, const struct trace_sink *sink)
{
	const struct ndjson_line *l = &r->line;
	uint32_t nr_sockets = r->header->layout.nr_sockets;
	struct trace_mark m = { 0 };
	json_t *ends, *value;
	size_t i;
	int err = line_bool(l, l->json, "first", &m.first);

	if (!err)
		err = line_bool(l, l->json, "last", &m.last);
	if (!err)
		err = line_bool(l, l->json, "inner", &m.inner);
	if (!err)
		err = line_u64(l, l->json, "time_ns", REQUIRED, UINT64_MAX, &m.time_ns);
	if (!err)
		err = line_u64(l, l->json, "realtime_ns", OPTIONAL, UINT64_MAX, &m.realtime_ns);
	if (!err)
		err = take_fields(l, "losses", &m.losses, trace_losses, TRACE_NR_LOSSES);
	if (!err)
		err = take_fields(l, "cost", &m.cost, trace_costs, TRACE_NR_COSTS);
	if (!err)
		err = line_array(l, l->json, "ends_ns", OPTIONAL, nr_sockets, &ends);
	if (err)
		return err;
	if (ends && json_array_size(ends) != nr_sockets)
		return line_fail(l, "ends_ns", "\"ends_ns\" must have %u elements", nr_sockets);
	json_array_foreach (ends, i, value)
		if (line_number(l, value, "ends_ns", UINT64_MAX, &r->ends_ns[i]))
			return -EBADMSG;
	m.ends_ns = ends ? r->ends_ns : NULL;
	/* only at the end of a trace without marks is there a mark without ends */
	if (!ends && !m.last)
		return line_fail(l, NULL, "\"ends_ns\" is missing");
	if (m.inner && (m.first || m.last))
		return line_fail(l, "inner", "\"inner\" is neither first nor last");
	r->events++;
	return trace_send_mark(sink, &m);
}

static const struct {
	const char *type;
	int (*take)(struct ndjson_reader *r, const struct trace_sink *sink);
	bool own; /* only in traces that we wrote */
} types[] = {
	{ "slice", on_slice, false },	    { "window", on_window, false },
	{ "workload", on_workload, false }, { "lost", on_lost, false },
	{ "end", on_end, false },	    { "task", on_task, true },
	{ "exit", on_exit_, true },	    { "resync", on_resync, true },
	{ "cgroup", on_cgroup, true },	    { "job", on_job, true },
	{ "follow", on_follow, true },	    { "mark", on_mark, true },
	{ "sample", on_sample, false },	    { "io", on_io, false },
};

int ndjson_event(struct ndjson_reader *r, const struct trace_sink *sink)
{
	const char *type = json_string_value(json_object_get(r->line.json, "type"));

	if (!type)
		return line_fail(&r->line, "type", "\"type\" must be a text");
	if (!strcmp(type, "header"))
		return line_fail(&r->line, "type", "there is a second header");
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(type, types[i].type) && (r->names.own || !types[i].own))
			return types[i].take(r, sink);
	return 0;
}
