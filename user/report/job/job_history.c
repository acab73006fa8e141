// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reassemble an account from its intervals. */
#include <errno.h>
#include <string.h>

#include "report/job/job_report.h"

static bool same_total(const struct account_total *a, const struct account_total *b)
{
	return a->counter == b->counter && a->value == b->value && a->low == b->low &&
	       a->high == b->high && a->inseparable == b->inseparable;
}

static bool same_part(const struct account_part *a, const struct account_part *b)
{
	if (a->on_cpu_ns != b->on_cpu_ns || a->nr_totals != b->nr_totals || a->nr_io != b->nr_io)
		return false;
	for (size_t i = 0; i < a->nr_totals; i++)
		if (!same_total(&a->totals[i], &b->totals[i]))
			return false;
	/* Devices are in the order of their appearance. */
	for (size_t i = 0; i < a->nr_io; i++)
		if (memcmp(&a->io[i], &b->io[i], sizeof(a->io[i])) != 0)
			return false;
	return true;
}

int job_history_whole(const struct account_job *j, const struct account_list *history, bool *ret)
{
	struct account_part sum = { 0 };
	int err = 0;

	for (size_t i = 0; i < history->nr && !err; i++)
		err = account_part_add(&sum, &history->jobs[i].whole);
	*ret = !err && history->nr && same_part(&sum, &j->whole);
	account_part_release(&sum);
	return err;
}
