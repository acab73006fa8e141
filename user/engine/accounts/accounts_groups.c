// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the kernel's monitoring groups counted of jobs, beside their accounts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/accounts/internal.h"

/* The row that has all tasks of a group; NULL if the group is a part of a row, or of none. */
static const struct report_row *row_of(const struct report *r, const struct report_resctrl *f)
{
	bool whole = f->match == RESCTRL_BY_NAME || (f->tasks && f->tasks == f->of_tasks);

	for (size_t i = 0; whole && i < r->nr_rows; i++)
		if (!strcmp(r->rows[i].key, f->row))
			return &r->rows[i];
	return NULL;
}

/* Does it have a count for the interval, from all of its domains? */
static bool is_counted(const struct report_resctrl *f)
{
	return f->state == RESCTRL_VALID && !f->missing;
}

static struct account_group *find(const struct account_job *j, const char *group, const char *step)
{
	for (size_t i = 0; i < j->nr_groups; i++)
		if (!strcmp(j->groups[i].group, group) && !strcmp(j->groups[i].step, step))
			return &j->groups[i];
	return NULL;
}

static int reserve(struct account_job *j, const char *group, const char *step)
{
	struct account_group *more;

	if (find(j, group, step) || j->nr_groups == ACCOUNT_MAX_GROUPS)
		return 0;
	more = reallocarray(j->groups, j->nr_groups + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	j->groups = more;
	j->groups[j->nr_groups] = (struct account_group){ 0 };
	str_copy(j->groups[j->nr_groups].group, sizeof(more->group), group);
	str_copy(j->groups[j->nr_groups].step, sizeof(more->step), step);
	j->nr_groups++;
	return 0;
}

/* A group begins in an account with the first number that it has. */
int accounts_groups_reserve(struct accounts *a, const struct report *r)
{
	int err = 0;

	for (size_t i = 0; i < r->nr_resctrl && !err; i++) {
		const struct report_resctrl *f = &r->resctrl[i];
		const struct report_row *row = row_of(r, f);
		const struct target *t = row ? &a->targets[row - r->rows] : NULL;

		if (t && t->entry && is_counted(f))
			err = reserve(&t->entry->account, f->group, row->job->step);
	}
	return err;
}

void accounts_groups_trim(struct account_job *j)
{
	size_t nr = 0;

	for (size_t i = 0; i < j->nr_groups; i++)
		if (j->groups[i].intervals)
			j->groups[nr++] = j->groups[i];
	j->nr_groups = nr;
}

void accounts_groups_add(struct accounts *a, const struct report *r)
{
	for (size_t i = 0; i < r->nr_resctrl; i++) {
		const struct report_resctrl *f = &r->resctrl[i];
		const struct report_row *row = row_of(r, f);
		const struct target *t = row ? &a->targets[row - r->rows] : NULL;
		struct account_group *g =
			t && t->entry ? find(&t->entry->account, f->group, row->job->step) : NULL;

		if (!g)
			continue;
		g->intervals++;
		g->without += !is_counted(f);
		if (!is_counted(f))
			continue;
		g->bytes = sum_capped(g->bytes, f->bytes);
		g->ns = sum_capped(g->ns, f->ns);
	}
}
