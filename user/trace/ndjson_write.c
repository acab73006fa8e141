// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Lines that other tools understand (workload, slice, window, lost, end), and lines
 * that they ignore and that make the trace as good as a recording.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpulist.h"
#include "base/text.h"
#include "recording_format.h"
#include "trace/fields.h"
#include "trace/header.h"
#include "trace/json_text.h"
#include "trace/living.h"
#include "trace/ndjson.h"
#include "trace/ndjson_header.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* Marks after which an unused workload loses its number; it gets another one if needed. */
#define KEEP_MARKS 16

struct workload_key {
	uint64_t start_ns;
	uint64_t cgroup_id;
	uint32_t pid;
	uint32_t tgid;
};

struct workload {
	struct workload_key key;
	uint64_t id;
	uint64_t used_mark;
	UT_hash_handle hh;
};

struct ndjson_writer {
	FILE *f;
	const struct trace_header *h;
	struct living *living;
	struct workload *workloads;
	uint64_t next_id;
	uint64_t marks;
	uint64_t end_ns;
	bool told;
};

/* After a line: an error of the stream is told once. */
static int settle(struct ndjson_writer *w)
{
	if (!ferror(w->f) || w->told)
		return 0;
	w->told = true;
	return errno ? -errno : -EIO;
}

static bool too_long(const char *text)
{
	return text && strlen(text) > RECORDING_MAX_TEXT;
}

static void put_place(struct ndjson_writer *w, uint64_t cgroup_id)
{
	const char *path = living_path(w->living, cgroup_id);

	if (path)
		json_name(w->f, "cgroup", path);
	json_number(w->f, "cgroup_id", cgroup_id);
}

static int announce(struct ndjson_writer *w, const struct workload *is)
{
	const char *comm = living_comm(w->living, is->key.pid, is->key.start_ns);

	fprintf(w->f, "{\"type\":\"workload\",\"id\":%" PRIu64 ",\"pid\":%u", is->id, is->key.pid);
	if (is->key.pid == TRACE_PID_IDLE && is->key.cgroup_id) {
		put_place(w, is->key.cgroup_id);
	} else if (is->key.pid == TRACE_PID_IDLE || is->key.pid == TRACE_PID_LOST) {
		json_name(w->f, "comm", is->key.pid == TRACE_PID_IDLE ? "idle" : "lost");
	} else {
		json_number(w->f, "tgid", is->key.tgid);
		json_number(w->f, "start_ns", is->key.start_ns);
		if (comm)
			json_name(w->f, "comm", comm);
		put_place(w, is->key.cgroup_id);
	}
	fputs("}\n", w->f);
	return settle(w);
}

static int find_workload(struct ndjson_writer *w, const struct workload_key *key, uint64_t *ret)
{
	struct workload *found;
	int err = 0;

	HASH_FIND(hh, w->workloads, key, sizeof(*key), found);
	if (!found) {
		found = calloc(1, sizeof(*found));
		if (found) {
			found->key = *key;
			HASH_ADD(hh, w->workloads, key, sizeof(found->key), found);
		}
		if (!found || !found->hh.tbl) {
			free(found);
			return -ENOMEM;
		}
		found->id = w->next_id++;
		err = announce(w, found);
	}
	found->used_mark = w->marks;
	*ret = found->id;
	return err;
}

/* Does the event make sense, and can a reader take it? */
static bool fits(const struct trace_header *h, const struct trace_event *e)
{
	const struct trace_io *io = &e->io;
	const struct trace_lost *lost = &e->lost;
	const struct trace_slice *s = &e->slice;

	switch (e->type) {
	case TRACE_TASK:
		return !too_long(e->task.comm);
	case TRACE_CGROUP:
		return !too_long(e->cgroup.path);
	case TRACE_JOB:
		return trace_job_fits(&e->job);
	case TRACE_SLICE:
		return s->cpu < h->layout.nr_cpus && s->end_ns >= s->start_ns &&
		       s->on_cpu_ns <= s->end_ns - s->start_ns && s->weights_ns <= s->on_cpu_ns;
	case TRACE_WINDOW:
		return e->window.group < h->layout.nr_groups &&
		       e->window.end_ns >= e->window.start_ns;
	case TRACE_SAMPLE:
		return e->sample.probe < h->nr_probes && e->sample.end_ns >= e->sample.start_ns;
	case TRACE_IO:
		return io->device < h->nr_devices && io->end_ns >= io->start_ns &&
		       !(io->exclusive && (io->read_bytes || io->write_bytes));
	case TRACE_LOST:
		return lost->what && !too_long(lost->what) && lost->socket < h->layout.nr_sockets &&
		       lost->end_ns >= lost->start_ns;
	case TRACE_MARK:
		return e->mark.ends_ns || e->mark.last;
	default:
		return true;
	}
}

static int put_slice(struct ndjson_writer *w, const struct trace_slice *s)
{
	bool reserved = s->pid == TRACE_PID_IDLE || s->pid == TRACE_PID_LOST;
	struct workload_key key = {
		.pid = s->pid,
		.tgid = reserved ? 0 : s->tgid,
		.start_ns = reserved ? 0 : s->task_start_ns,
		.cgroup_id = reserved ? 0 : s->cgroup_id,
	};
	uint64_t id, length = s->end_ns - s->start_ns;
	int err;

	err = find_workload(w, &key, &id);
	if (err)
		return err;
	fprintf(w->f, "{\"type\":\"slice\",\"workload\":%" PRIu64 ",\"cpu\":%u", id, s->cpu);
	json_number(w->f, "start_ns", s->start_ns);
	json_number(w->f, "end_ns", s->end_ns);
	if (s->on_cpu_ns != length)
		json_number(w->f, "on_cpu_ns", s->on_cpu_ns);
	if (s->weights_ns && w->h->nr_weights) {
		fputs(",\"weights\":{", w->f);
		for (uint32_t i = 0; i < w->h->nr_weights; i++) {
			fputs(i ? "," : "", w->f);
			json_quoted(w->f, w->h->weights[i]);
			putc(':', w->f);
			json_value(w->f, s->weights[i]);
		}
		putc('}', w->f);
		if (s->weights_ns != s->on_cpu_ns)
			json_number(w->f, "weights_ns", s->weights_ns);
	}
	fputs("}\n", w->f);
	return 0;
}

static void put_task(struct ndjson_writer *w, const struct trace_task *t)
{
	fprintf(w->f, "{\"type\":\"task\",\"pid\":%u,\"tgid\":%u", t->pid, t->tgid);
	json_number(w->f, "start_ns", t->start_ns);
	json_number(w->f, "parent", t->parent);
	json_number(w->f, "parent_start_ns", t->parent_start_ns);
	json_number(w->f, "cgroup_id", t->cgroup_id);
	json_bool(w->f, "kernel", t->kernel);
	if (t->comm)
		json_name(w->f, "comm", t->comm);
	fputs("}\n", w->f);
}

static void put_exit(struct ndjson_writer *w, const struct trace_exit *x)
{
	fprintf(w->f, "{\"type\":\"exit\",\"pid\":%u", x->pid);
	json_number(w->f, "start_ns", x->start_ns);
	fputs("}\n", w->f);
}

static void put_resync(struct ndjson_writer *w, bool begin)
{
	fprintf(w->f, "{\"type\":\"resync\",\"begin\":%s}\n", begin ? "true" : "false");
}

static void put_cgroup(struct ndjson_writer *w, const struct trace_cgroup *c)
{
	fputs("{\"type\":\"cgroup\"", w->f);
	json_number(w->f, "id", c->id);
	if (c->path)
		json_name(w->f, "path", c->path);
	fputs("}\n", w->f);
}

static void put_job(struct ndjson_writer *w, const struct trace_job_news *j)
{
	fputs("{\"type\":\"job\"", w->f);
	json_number(w->f, "cgroup_id", j->cgroup_id);
	if (j->id)
		json_name(w->f, "id", j->id);
	if (j->name)
		json_name(w->f, "name", j->name);
	if (j->user)
		json_name(w->f, "user", j->user);
	fputs("}\n", w->f);
}

static void put_follow(struct ndjson_writer *w, uint32_t pid)
{
	fprintf(w->f, "{\"type\":\"follow\",\"pid\":%u}\n", pid);
}

static void put_socket(struct ndjson_writer *w, uint32_t index, uint64_t start_ns, uint64_t end_ns)
{
	json_number(w->f, "socket", w->h->layout.socket_ids[index]);
	json_number(w->f, "start_ns", start_ns);
	json_number(w->f, "end_ns", end_ns);
}

static void put_window(struct ndjson_writer *w, const struct trace_window *win)
{
	const struct group *g = &w->h->layout.groups[win->group];

	fputs("{\"type\":\"window\"", w->f);
	put_socket(w, g->socket, win->start_ns, win->end_ns);
	fputs(",\"values\":[", w->f);
	for (uint32_t i = 0; i < g->nr; i++) {
		fprintf(w->f, "%s[%u,", i ? "," : "", g->first + i);
		json_value(w->f, win->readings[i].value);
		putc(',', w->f);
		json_value(w->f, win->readings[i].enabled_ns);
		putc(',', w->f);
		json_value(w->f, win->readings[i].running_ns);
		putc(']', w->f);
	}
	fputs("]}\n", w->f);
}

static void put_sample(struct ndjson_writer *w, const struct trace_sample *s)
{
	fprintf(w->f, "{\"type\":\"sample\",\"probe\":%u", s->probe);
	json_number(w->f, "start_ns", s->start_ns);
	json_number(w->f, "end_ns", s->end_ns);
	json_number(w->f, "outstanding", s->outstanding);
	json_number(w->f, "requests", s->requests);
	json_number(w->f, "cycles", s->cycles);
	json_number(w->f, "enabled_ns", s->enabled_ns);
	json_number(w->f, "running_ns", s->running_ns);
	fputs("}\n", w->f);
}

static int put_io(struct ndjson_writer *w, const struct trace_io *io)
{
	bool reserved = io->pid == TRACE_PID_IDLE || io->pid == TRACE_PID_LOST;
	struct workload_key key = {
		.pid = io->pid,
		.tgid = reserved ? 0 : io->tgid,
		.start_ns = reserved ? 0 : io->task_start_ns,
		/* pid 0 with a cgroup is anybody of that cgroup */
		.cgroup_id = io->pid == TRACE_PID_LOST ? 0 : io->cgroup_id,
	};
	uint64_t id;
	int err;

	err = find_workload(w, &key, &id);
	if (err)
		return err;
	fprintf(w->f, "{\"type\":\"io\",\"workload\":%" PRIu64 ",\"bdf\":\"%s\"", id,
		w->h->devices[io->device].bdf);
	if (io->exclusive) {
		json_bool(w->f, "exclusive", true);
	} else {
		json_number(w->f, "read_bytes", io->read_bytes);
		json_number(w->f, "write_bytes", io->write_bytes);
	}
	json_number(w->f, "start_ns", io->start_ns);
	json_number(w->f, "end_ns", io->end_ns);
	fputs("}\n", w->f);
	return 0;
}

static void put_lost(struct ndjson_writer *w, const struct trace_lost *l)
{
	fputs("{\"type\":\"lost\"", w->f);
	json_name(w->f, "what", l->what);
	put_socket(w, l->socket, l->start_ns, l->end_ns);
	json_number(w->f, "count", l->count);
	fputs("}\n", w->f);
}

static void put_fields(FILE *f, const char *key, const void *from, const struct trace_field *fields,
		       size_t nr)
{
	fprintf(f, ",\"%s\":{", key);
	for (size_t i = 0; i < nr; i++) {
		fprintf(f, "%s\"%s\":", i ? "," : "", fields[i].name);
		json_value(f, trace_field_get(from, &fields[i]));
	}
	putc('}', f);
}

/* Workloads that were not seen for long lose their numbers: memory follows the living. */
static void forget_unused(struct ndjson_writer *w)
{
	struct workload *x, *next;

	w->marks++;
	HASH_ITER (hh, w->workloads, x, next) {
		if (w->marks - x->used_mark <= KEEP_MARKS)
			continue;
		HASH_DEL(w->workloads, x);
		free(x);
	}
}

static void put_mark(struct ndjson_writer *w, const struct trace_mark *m)
{
	forget_unused(w);
	w->end_ns = m->time_ns;
	fputs("{\"type\":\"mark\"", w->f);
	if (m->first)
		json_bool(w->f, "first", true);
	if (m->last)
		json_bool(w->f, "last", true);
	if (m->inner)
		json_bool(w->f, "inner", true);
	json_number(w->f, "time_ns", m->time_ns);
	json_number(w->f, "realtime_ns", m->realtime_ns);
	for (uint32_t i = 0; m->ends_ns && i < w->h->layout.nr_sockets; i++) {
		fputs(i ? "," : ",\"ends_ns\":[", w->f);
		json_value(w->f, m->ends_ns[i]);
	}
	if (m->ends_ns)
		fputs(w->h->layout.nr_sockets ? "]" : ",\"ends_ns\":[]", w->f);
	put_fields(w->f, "losses", &m->losses, trace_losses, TRACE_NR_LOSSES);
	put_fields(w->f, "cost", &m->cost, trace_costs, TRACE_NR_COSTS);
	fputs("}\n", w->f);
	/* a reader at the other end of a pipe has all up to here; so has one after a kill */
	fflush(w->f);
}

static int put(struct ndjson_writer *w, const struct trace_event *e)
{
	switch (e->type) {
	case TRACE_SLICE:
		return put_slice(w, &e->slice);
	case TRACE_IO:
		return put_io(w, &e->io);
	case TRACE_TASK:
		put_task(w, &e->task);
		break;
	case TRACE_EXIT:
		put_exit(w, &e->exit);
		break;
	case TRACE_RESYNC:
		put_resync(w, e->resync.begin);
		break;
	case TRACE_CGROUP:
		put_cgroup(w, &e->cgroup);
		break;
	case TRACE_JOB:
		put_job(w, &e->job);
		break;
	case TRACE_FOLLOW:
		put_follow(w, e->follow.pid);
		break;
	case TRACE_WINDOW:
		put_window(w, &e->window);
		break;
	case TRACE_SAMPLE:
		put_sample(w, &e->sample);
		break;
	case TRACE_LOST:
		put_lost(w, &e->lost);
		break;
	default:
		put_mark(w, &e->mark);
	}
	return 0;
}

static int on_event(void *arg, const struct trace_event *e)
{
	struct ndjson_writer *w = arg;
	int err = fits(w->h, e) ? living_learn(w->living, e) : -EINVAL;

	if (!err)
		err = put(w, e);
	return err ? err : settle(w);
}

struct trace_sink ndjson_sink(struct ndjson_writer *w)
{
	return (struct trace_sink){ on_event, w };
}

static void writer_free(struct ndjson_writer *w)
{
	struct workload *x, *next;

	HASH_ITER (hh, w->workloads, x, next) {
		HASH_DEL(w->workloads, x);
		free(x);
	}
	living_free(w->living);
	free(w);
}

static int stream_problem(int err, struct diag *d)
{
	diag_fail(d, err, "the trace could not be written: %s", strerror(-err));
	diag_help(d, "make room on the disk, or write to another place");
	return err;
}

int ndjson_create(FILE *out, const struct trace_header *header, struct diag *d,
		  struct ndjson_writer **ret)
{
	const char *wrong = header_check(header);
	struct ndjson_writer *w;
	int err;

	if (!wrong && header->layout.nr_cpus > CPULIST_MAX_CPUS)
		wrong = "too many CPUs";
	if (wrong)
		return diag_fail(d, -EINVAL, "the trace cannot be written as NDJSON: %s", wrong);
	w = calloc(1, sizeof(*w));
	if (!w)
		return diag_no_memory(d);
	w->f = out;
	w->h = header;
	err = living_new(&w->living);
	if (err) {
		free(w);
		return diag_error(d, err, "the trace cannot be written as NDJSON");
	}
	errno = 0;
	ndjson_put_header(out, header);
	if (fflush(out) == EOF || ferror(out)) {
		err = errno ? -errno : -EIO;
		writer_free(w);
		return stream_problem(err, d);
	}
	*ret = w;
	return 0;
}

int ndjson_finish(struct ndjson_writer *w, struct diag *d)
{
	int err = 0;

	if (!w)
		return 0;
	errno = 0;
	fputs("{\"type\":\"end\"", w->f);
	json_number(w->f, "time_ns", w->end_ns);
	fputs("}\n", w->f);
	if (fflush(w->f) == EOF || ferror(w->f))
		err = stream_problem(errno ? -errno : -EIO, d);
	writer_free(w);
	return err;
}
