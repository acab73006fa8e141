// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Rows as tracks. Below a socket, a device or the CPU time stand jobs, in them cgroups, in these
 * processes. Rows of cgroups and jobs are nested as they are in the report.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/devices.h"
#include "report/names.h"
#include "report/perfetto/internal.h"

/* Deeper than any tree of cgroups; beyond it a row stands at the top. */
#define MAX_DEPTH     64

/* Workloads come after what the socket itself has. */
#define RANK_WORKLOAD 100

static const struct report_row *parent_of(const struct drawing *d, const struct report_row *row)
{
	size_t low = 0, high = d->r->nr_rows;

	while (row->parent[0] && low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strncmp(d->sorted[middle]->key, row->parent, MODEL_KEY_LEN);

		if (!order)
			return d->sorted[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static uint64_t group(const struct drawing *d, uint64_t parent, const char *key, const char *name)
{
	return packets_group(d->p, &(struct track){ parent, key, name, RANK_WORKLOAD });
}

static uint64_t job_track(const struct drawing *d, uint64_t parent, const struct row_job *job)
{
	cleanup_free char *id = drawing_safe(d, job->id, job_id_shown(job->id));
	cleanup_free char *name = drawing_safe(d, job->name, sizeof(job->name));
	cleanup_free char *key = drawing_text(d, "job:%" PRIu64, job->cgroup_id);
	cleanup_free char *title =
		id && name ? drawing_text(d, "%s %s%s%s", scheduler_name(job->scheduler), id,
					  name[0] ? " " : "", name)
			   : NULL;

	return key && title ? group(d, parent, key, title) : parent;
}

/* What a process stands in: its job, then its cgroup; a thread then in its process. */
static uint64_t holder_track(const struct drawing *d, uint64_t parent, const struct report_row *row)
{
	cleanup_free char *path = NULL;

	if (row->job && row->job->scheduler != SCHEDULER_NONE)
		parent = job_track(d, parent, row->job);
	path = row->cgroup ? drawing_safe(d, row->cgroup, SIZE_MAX) : NULL;
	if (path) {
		cleanup_free char *key = drawing_text(d, "cgroup:%" PRIu64, row->cgroup_id);

		parent = key ? group(d, parent, key, path) : parent;
	}
	if (row->kind == ROW_THREAD) {
		cleanup_free char *process = drawing_text(d, "process %" PRIu32, row->pid);

		parent = process ? group(d, parent, process, process) : parent;
	}
	return parent;
}

/* What a row is called below the one that contains it, or alone. */
static int name_row(const struct report_row *row, const struct report_row *above, char **ret)
{
	if (above && row->kind == ROW_JOB)
		return names_job(row, true, ret);
	if (!above || row->kind != ROW_CGROUP)
		return names_row(row, ret);
	if (!names_is_own(row))
		return names_cgroup(row, above->cgroup, ret);
	*ret = strdup("(own tasks)");
	return *ret ? 0 : -ENOMEM;
}

/* Keys of cgroups whose number is not known are of one report only: their paths stay. */
static bool key_stays(const struct report_row *row)
{
	return strncmp(row->key, "cgroup:?", strlen("cgroup:?")) != 0;
}

static uint64_t row_track(const struct drawing *d, uint64_t parent, const struct report_row *row,
			  unsigned int depth)
{
	const struct report_row *above = depth < MAX_DEPTH ? parent_of(d, row) : NULL;
	cleanup_free char *name = NULL;
	char key[sizeof(row->key) + 1];
	int err = name_row(row, above, &name);

	if (err) {
		d->p->err = err;
		return parent;
	}
	if (above)
		parent = row_track(d, parent, above, depth + 1);
	else if (row->kind == ROW_PROCESS || row->kind == ROW_THREAD)
		parent = holder_track(d, parent, row);
	snprintf(key, sizeof(key), "%.*s", (int)sizeof(row->key), row->key);
	return group(d, parent, key_stays(row) ? key : name, name);
}

/* An event says which shares are a guess; once for each socket or device. */
static void put_tangled(const struct drawing *d, const struct report_row *row, uint64_t track,
			const char *counter)
{
	packets_instant(d->p, track, d->r->start_ns, "cannot be told apart");
	packets_text_note(d->p, "counter", counter);
	for (size_t i = 0; i < row->nr_tangled; i++) {
		cleanup_free char *key = drawing_safe(d, row->tangled[i], sizeof(row->tangled[i]));

		if (key)
			packets_text_note(d->p, "tangled_with", key);
	}
	packets_note(d->p, "tangled_count", row->nr_tangled_all);
	packets_done(d->p);
}

static void put_shares(const struct drawing *d, const struct report_row *row)
{
	for (size_t i = 0; i < row->nr_shares && !d->p->err; i++) {
		const struct share *share = &row->shares[i];
		const struct counter *c = d->r->counters[share->counter].counter;
		const uint64_t bar[] = { share->value, share->low, share->high };
		cleanup_free char *name = NULL;
		struct series s = { .unit = drawing_unit(c), .counter = share->counter };
		uint64_t track;

		/* Of most counters most rows have nothing, and thousands of tracks would say so. */
		if (!share->value && !share->high)
			continue;
		name = drawing_safe(d, c->name, sizeof(c->name));
		track = row_track(d, drawing_counter(d, c), row, 0);
		if (!name)
			return;
		s.track = (struct track){ track, name, name, share->counter };
		drawing_bar(d, &s, bar);
		if (!share->separable)
			put_tangled(d, row, track, name);
	}
}

static void put_cpu_time(const struct drawing *d, const struct report_row *row)
{
	struct series s = { .track = { .key = "on CPU", .name = "on CPU" },
			    .unit = TRACK_TIME_NS,
			    .counter = TRACK_ZERO };

	if (!row->on_cpu_ns)
		return;
	s.track.parent = row_track(d, drawing_cpu_time(d), row, 0);
	packets_value(d->p, &s, d->r->start_ns, row->on_cpu_ns);
}

static void put_latencies(const struct drawing *d, const struct report_row *row)
{
	for (size_t i = 0; i < row->nr_latencies && !d->p->err; i++) {
		const struct seen_latency *l = &row->latencies[i];
		const struct probe *p = d->r->probes[l->probe].probe;
		cleanup_free char *name = drawing_safe(d, p->name, sizeof(p->name));
		cleanup_free char *key = name ? drawing_text(d, "latency %s", name) : NULL;
		struct series s = {
			.track = { .key = key, .name = key, .rank = TRACE_MAX_COUNTERS },
			.unit = TRACK_TIME_NS,
			.axis = "latency",
			.counter = TRACK_NONE
		};

		if (!key || p->socket >= d->r->nr_sockets)
			continue;
		s.track.parent =
			row_track(d, drawing_socket(d, d->r->sockets[p->socket].id), row, 0);
		packets_real(d->p, &s, d->r->start_ns, l->latency_ns);
	}
}

static void put_devices(const struct drawing *d, const struct report_row *row)
{
	for (size_t i = 0; i < row->nr_devices && !d->p->err; i++) {
		const struct row_device *part = &row->devices[i];
		const uint64_t bytes[] = { part->io_read_bytes, part->io_write_bytes };

		if (!devices_of(d->r, part->device + 1) || (!bytes[0] && !bytes[1]))
			continue;
		drawing_requests(d, row_track(d, drawing_device(d, part->device), row, 0), bytes);
	}
}

void drawing_rows(struct drawing *d)
{
	for (size_t i = 0; i < d->r->nr_rows && !d->p->err; i++) {
		const struct report_row *row = &d->r->rows[i];

		put_shares(d, row);
		put_cpu_time(d, row);
		put_latencies(d, row);
		put_devices(d, row);
	}
}
