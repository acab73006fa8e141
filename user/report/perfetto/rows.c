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
#include "report/names.h"
#include "report/rows.h"
#include "report/perfetto/internal.h"

/* Deeper than any tree of cgroups; beyond it a row stands at the top. */
#define MAX_DEPTH 64

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

static struct place in_job(const struct drawing *d, struct place place, const struct row_job *job)
{
	cleanup_free char *id = drawing_safe(d, job->id, job_id_shown(job->id));
	cleanup_free char *name = drawing_safe(d, job->name, sizeof(job->name));
	cleanup_free char *key = drawing_text(d, "job:%" PRIu64, job->cgroup_id);
	cleanup_free char *title =
		id && name ? drawing_text(d, "%s %s%s%s", scheduler_name(job->scheduler), id,
					  name[0] ? " " : "", name)
			   : NULL;

	return key && title ? events_below(d->e, place, key, title) : place;
}

/* What a process stands in: its job, then its cgroup; a thread then in its process. */
static struct place in_holders(const struct drawing *d, struct place place,
			       const struct report_row *row)
{
	cleanup_free char *path = NULL;

	if (row->job && row->job->scheduler != SCHEDULER_NONE)
		place = in_job(d, place, row->job);
	path = row->cgroup ? drawing_safe(d, row->cgroup, SIZE_MAX) : NULL;
	if (path) {
		cleanup_free char *key = drawing_text(d, "cgroup:%" PRIu64, row->cgroup_id);

		place = key ? events_below(d->e, place, key, path) : place;
	}
	if (row->kind == ROW_THREAD) {
		cleanup_free char *process = drawing_text(d, "process %" PRIu32, row->pid);

		place = process ? events_below(d->e, place, process, process) : place;
	}
	return place;
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

static struct place of_row(const struct drawing *d, struct place place,
			   const struct report_row *row, unsigned int depth)
{
	const struct report_row *above = depth < MAX_DEPTH ? parent_of(d, row) : NULL;
	cleanup_free char *name = NULL;
	char key[sizeof(row->key) + 1];
	int err = name_row(row, above, &name);

	if (err) {
		d->e->err = err;
		return place;
	}
	if (above)
		place = of_row(d, place, above, depth + 1);
	else if (row->kind == ROW_PROCESS || row->kind == ROW_THREAD)
		place = in_holders(d, place, row);
	snprintf(key, sizeof(key), "%.*s", (int)sizeof(row->key), row->key);
	return events_below(d->e, place, rows_key_stays(row) ? key : name, name);
}

struct place drawing_row(const struct drawing *d, struct place place, const struct report_row *row)
{
	return of_row(d, place, row, 0);
}

void drawing_tangled(const struct drawing *d, const struct report_row *row, const struct place *at,
		     const char *counter)
{
	events_instant(d->e, at, d->r->start_ns, "cannot be told apart");
	events_text_note(d->e, "counter", counter);
	for (size_t i = 0; i < row->nr_tangled; i++) {
		cleanup_free char *key = drawing_safe(d, row->tangled[i], sizeof(row->tangled[i]));
		char name[40];

		snprintf(name, sizeof(name), "tangled_with_%zu", i + 1);
		if (key)
			events_text_note(d->e, name, key);
	}
	events_note(d->e, "tangled_count", row->nr_tangled_all);
	events_done(d->e);
}
