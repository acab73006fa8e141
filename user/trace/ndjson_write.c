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
#include "trace/fields.h"
#include "trace/header.h"
#include "base/json_out.h"
#include "trace/repeat_names.h"
#include "trace/ndjson.h"
#include "trace/ndjson_header.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/* Marks after which an unused workload loses its number; it gets another one if needed. */
#define KEEP_MARKS 16

struct known_workload {
	struct trace_who key;
	uint64_t id;
	uint64_t used_mark;
	UT_hash_handle hh;
};

struct ndjson_writer {
	FILE *f;
	const struct trace_header *h;
	struct repeat_names *names;
	struct known_workload *workloads;
	uint64_t next_id;
	uint64_t marks;
	uint64_t end_ns;
	uint64_t workload; /* of the event in hand */
	bool reported;
};

/* After a line: an error of the stream is reported once. */
static int settle(struct ndjson_writer *w)
{
	if (!ferror(w->f) || w->reported)
		return 0;
	w->reported = true;
	return errno ? -errno : -EIO;
}

static void put_place(struct ndjson_writer *w, uint64_t cgroup_id)
{
	const char *path = repeat_names_path(w->names, cgroup_id);

	if (path)
		json_name(w->f, "cgroup", path);
	json_number(w->f, "cgroup_id", cgroup_id);
}

static int announce(struct ndjson_writer *w, const struct known_workload *is)
{
	const char *comm = repeat_names_comm(w->names, is->key.pid, is->key.task_start_ns);

	fprintf(w->f, "{\"type\":\"workload\",\"id\":%" PRIu64 ",\"pid\":%u", is->id, is->key.pid);
	if (is->key.pid == TRACE_PID_IDLE && is->key.cgroup_id) {
		put_place(w, is->key.cgroup_id);
	} else if (is->key.pid == TRACE_PID_IDLE || is->key.pid == TRACE_PID_LOST) {
		json_name(w->f, "comm", is->key.pid == TRACE_PID_IDLE ? "idle" : "lost");
	} else {
		json_number(w->f, "tgid", is->key.tgid);
		json_number(w->f, "start_ns", is->key.task_start_ns);
		if (comm)
			json_name(w->f, "comm", comm);
		put_place(w, is->key.cgroup_id);
	}
	fputs("}\n", w->f);
	return settle(w);
}

static int find_workload(struct ndjson_writer *w, const struct trace_who *key, uint64_t *ret)
{
	struct known_workload *found;
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

static void put_weights(const struct ndjson_writer *w, const struct trace_slice *s)
{
	if (!s->weights_ns || !w->h->nr_weights)
		return;
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

static void put_readings(const struct ndjson_writer *w, const char *key,
			 const struct trace_window *win)
{
	const struct group *g = &w->h->layout.groups[win->group];

	fprintf(w->f, ",\"%s\":[", key);
	for (uint32_t i = 0; i < g->nr; i++) {
		fprintf(w->f, "%s[%u,", i ? "," : "", g->first + i);
		json_value(w->f, win->readings[i].value);
		putc(',', w->f);
		json_value(w->f, win->readings[i].enabled_ns);
		putc(',', w->f);
		json_value(w->f, win->readings[i].running_ns);
		putc(']', w->f);
	}
	putc(']', w->f);
}

static void put_ends(const struct ndjson_writer *w, const char *key, const struct trace_mark *m)
{
	if (!m->ends_ns)
		return;
	fprintf(w->f, ",\"%s\":[", key);
	for (uint32_t i = 0; i < w->h->layout.nr_sockets; i++) {
		fputs(i ? "," : "", w->f);
		json_value(w->f, m->ends_ns[i]);
	}
	putc(']', w->f);
}

/* Fields that base/fields.h leaves to their owner */
static void put_own(struct fields_json *j, const struct field *f, const void *of)
{
	const struct ndjson_writer *w = j->arg;
	const struct layout *l = &w->h->layout;
	const struct trace_event *e = of;

	switch (f->type) {
	case FIELD_WHO:
		json_number(w->f, f->name, w->workload);
		break;
	case FIELD_PLACE:
		if (field_get(f, e) == LAYOUT_NO_SOCKET)
			break;
		/* fallthrough */
	case FIELD_SOCKET:
		json_number(w->f, f->name, l->socket_ids[field_get(f, e)]);
		break;
	case FIELD_INSTANCE:
		if (field_get(f, of) != TRACE_NO_INSTANCE)
			json_number(w->f, f->name, field_get(f, of));
		break;
	case FIELD_GROUP:
		json_number(w->f, f->name, l->socket_ids[l->groups[field_get(f, e)].socket]);
		break;
	case FIELD_DEVICE:
		json_name(w->f, f->name, w->h->devices[field_get(f, e)].bdf);
		break;
	case FIELD_WEIGHTS:
		put_weights(w, &e->slice);
		break;
	case FIELD_READINGS:
		put_readings(w, f->name, &e->window);
		break;
	case FIELD_ENDS:
		put_ends(w, f->name, &e->mark);
		break;
	case FIELD_TOTALS:
		fields_key(j, f->name);
		j->before = '{';
		fields_write(j, f->each, field_at(f, of));
		putc('}', w->f);
		break;
	default:
		json_number(w->f, f->name, field_get(f, e));
	}
}

/* Workloads that were not seen for long lose their numbers: memory follows the living. */
static void forget_unused(struct ndjson_writer *w)
{
	struct known_workload *x, *next;

	w->marks++;
	HASH_ITER (hh, w->workloads, x, next) {
		if (w->marks - x->used_mark <= KEEP_MARKS)
			continue;
		HASH_DEL(w->workloads, x);
		free(x);
	}
}

static int on_event(void *arg, const struct trace_event *e)
{
	const struct trace_row *row = &trace_rows[e->type];
	struct ndjson_writer *w = arg;
	struct fields_json json = { .f = w->f, .before = ',', .own = put_own, .arg = w };
	struct trace_who who;
	int err = trace_fits(w->h, e) ? repeat_names_learn(w->names, e) : -EINVAL;

	if (!err && (e->type == TRACE_SLICE || e->type == TRACE_IO)) {
		who = trace_who(e);
		err = find_workload(w, &who, &w->workload);
	}
	if (err)
		return err;
	fprintf(w->f, "{\"type\":\"%s\"", row->name);
	fields_write(&json, &row->fields, e);
	fputs("}\n", w->f);
	if (e->type == TRACE_MARK) {
		forget_unused(w);
		w->end_ns = e->mark.time_ns;
		/* a reader at the other end of a pipe has all up to here; so has one after a kill */
		fflush(w->f);
	}
	return settle(w);
}

struct trace_sink ndjson_sink(struct ndjson_writer *w)
{
	return (struct trace_sink){ on_event, w };
}

static void writer_free(struct ndjson_writer *w)
{
	struct known_workload *x, *next;

	HASH_ITER (hh, w->workloads, x, next) {
		HASH_DEL(w->workloads, x);
		free(x);
	}
	repeat_names_free(w->names);
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
	err = repeat_names_new(&w->names);
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
