// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Counts of the kernel's monitoring groups for workloads, beside the attributed bytes. */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "report/format.h"
#include "report/openmetrics/internal.h"

/* The job of a group that has all tasks of the job or of a step, at all of its domains. */
static const struct row_job *job_of(const struct report *r, const struct report_resctrl *f)
{
	bool whole = f->match == RESCTRL_BY_NAME || (f->tasks && f->tasks == f->of_tasks);

	if (!whole || f->missing || f->state != RESCTRL_VALID)
		return NULL;
	for (size_t i = 0; i < r->nr_rows; i++)
		if (!strcmp(r->rows[i].key, f->row))
			return r->rows[i].job;
	return NULL;
}

static struct group_series *find(struct openmetrics *m, uint64_t cgroup_id, const char *group)
{
	for (size_t i = 0; i < m->nr_groups; i++)
		if (m->groups[i].cgroup_id == cgroup_id && !strcmp(m->groups[i].group, group))
			return &m->groups[i];
	return NULL;
}

/* It begins at 0 in its first interval: a rate needs two samples. */
static int add(struct openmetrics *m, uint64_t cgroup_id, const struct report_resctrl *f)
{
	struct group_series *g = find(m, cgroup_id, f->group);

	if (g) {
		g->bytes += f->bytes;
		g->ns += f->ns;
		return 0;
	}
	if (array_reserve(m->groups, m->cap_groups, m->nr_groups))
		return -ENOMEM;
	g = &m->groups[m->nr_groups++];
	*g = (struct group_series){ .cgroup_id = cgroup_id };
	str_copy(g->group, sizeof(g->group), f->group);
	return 0;
}

int groups_interval(struct openmetrics *m, const struct report *r)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < m->nr_groups; i++)
		if (series_find(m, m->groups[i].cgroup_id))
			m->groups[kept++] = m->groups[i];
	m->nr_groups = kept;
	for (size_t i = 0; i < r->nr_resctrl && !err; i++) {
		const struct row_job *job = job_of(r, &r->resctrl[i]);

		if (job && series_find(m, job->cgroup_id))
			err = add(m, job->cgroup_id, &r->resctrl[i]);
	}
	return err;
}

static int expose_all(struct exposer *x, const struct openmetrics *m, bool seconds)
{
	for (size_t i = 0; i < m->nr_groups; i++) {
		const struct group_series *g = &m->groups[i];
		const struct series *s = series_find(m, g->cgroup_id);
		cleanup_free char *group = NULL;

		if (format_utf8(g->group, sizeof(g->group), &group))
			return -ENOMEM;
		if (!s)
			continue;
		if (seconds)
			expose_seconds(x, LABELS({ "workload", s->workload }, { "group", group }),
				       g->ns);
		else
			expose_number(x, LABELS({ "workload", s->workload }, { "group", group }),
				      g->bytes);
	}
	return 0;
}

int groups_expose(struct exposer *x, const struct openmetrics *m)
{
	int err;

	if (!m->nr_groups)
		return 0;
	expose_family(x, "t410trace_workload_resctrl_bytes", METRIC_COUNTER, "bytes",
		      "What the kernel counted for a monitoring group with all tasks of a workload "
		      "or of a step of it; never to be added up.");
	err = expose_all(x, m, false);
	if (err)
		return err;
	expose_family(x, "t410trace_workload_resctrl_seconds", METRIC_COUNTER, "seconds",
		      "Time in which the group had a number.");
	return expose_all(x, m, true);
}
