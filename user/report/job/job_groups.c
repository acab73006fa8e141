// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/job/job_groups.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sums.h"
#include "report/format.h"
#include "report/job/job_sums.h"
#include "report/notes.h"

/* The part of the account for a group; NULL when its step has been merged into the rest by now. */
static const struct account_part *part_of(const struct account_job *j,
					  const struct account_group *g)
{
	if (!g->step[0])
		return &j->whole;
	for (size_t i = 0; i < j->nr_steps; i++)
		if (!strcmp(j->steps[i].step, g->step))
			return &j->steps[i];
	return NULL;
}

/* Bytes of CPUs for it, all directions; false where no counter had a value. */
static bool own_bytes(const struct job_context *c, const struct account_job *j,
		      const struct account_part *p, uint64_t *ret)
{
	bool counted = false;

	*ret = 0;
	for (int d = 0; p && d < NR_DIRECTIONS; d++) {
		struct job_sum_value v = job_sum_of(c->node, j, p, JOB_SUM_MEM, d);

		counted |= v.counted;
		*ret = sum_capped(*ret, v.value);
	}
	return counted;
}

static int put_group(FILE *out, const struct job_context *c, const struct account_job *j,
		     const struct account_group *g, size_t width)
{
	char bytes[FORMAT_NUMBER_LEN], seconds[FORMAT_NUMBER_LEN], ours[FORMAT_NUMBER_LEN] = "-";
	cleanup_free char *group = NULL;
	cleanup_free char *step = NULL;
	char missing[80] = "";
	uint64_t own;
	int err = format_terminal(g->group, sizeof(g->group), &group);

	if (!err)
		err = format_terminal(g->step, sizeof(g->step), &step);
	if (err)
		return err;
	format_bytes(g->bytes, bytes);
	format_seconds(g->ns, seconds);
	if (own_bytes(c, j, part_of(j, g), &own))
		format_bytes(own, ours);
	if (g->without)
		snprintf(missing, sizeof(missing),
			 "; no number in %" PRIu64 " of %" PRIu64 " intervals", g->without,
			 g->intervals);
	return notes_line(out, width, "resctrl: group %s%s%s: %s in %s s%s; here %s", group,
			  g->step[0] ? " of step " : "", step, bytes, seconds, missing, ours);
}

int job_groups_write(FILE *out, const struct job_context *c, const struct account_job *j,
		     size_t width)
{
	int err = 0;

	for (size_t i = 0; i < j->nr_groups && !err; i++)
		err = put_group(out, c, j, &j->groups[i], width);
	if (err || !j->nr_groups)
		return err;
	return notes_line(out, width,
			  "resctrl is the kernel's own count of what caches asked of memory for "
			  "these tasks; nothing here rests on it");
}
