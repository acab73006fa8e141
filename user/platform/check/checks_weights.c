// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/check/checks_weights.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "platform/core/weights.h"
#include "platform/sys/cpus.h"

static void say(const struct weights *w, struct check_row *row)
{
	char *found = row->found;

	row->status = w->nr ? CHECK_OK : CHECK_LIMITED;
	for (uint32_t i = 0; i < w->nr; i++)
		str_append(found, sizeof(row->found), "%s%s", i ? ", " : "", w->names[i]);
	if (w->nr)
		str_append(found, sizeof(row->found), "; seen counting%s%s", w->note[0] ? "; " : "",
			   w->note);
	else
		str_append(found, sizeof(row->found), "CPU time: %s", w->note);
}

int check_weights(const struct perf_ops *ops, const struct sysfs *fs, struct check_row *ret_row)
{
	struct check_row row = { .name = "weights", .status = CHECK_LIMITED };
	struct weights w = { 0 };
	struct diag d = { 0 };
	struct cpulist possible;
	uint32_t nr_cpus = 0;
	int err = cpus_possible(fs, &possible);

	for (int c = -1; !err && (c = cpulist_next(&possible, c)) >= 0;)
		nr_cpus = c + 1;
	if (!err)
		err = weights_open(ops, fs, "auto", nr_cpus, &d, &w);
	else
		diag_fail(&d, err, "cannot tell which CPUs there are: %s", strerror(-err));
	if (err == -ENOMEM)
		return err;
	if (err)
		str_append(row.found, sizeof(row.found), "CPU time: %s", d.what);
	else
		say(&w, &row);
	if (!w.nr)
		str_copy(row.remedy, sizeof(row.remedy),
			 "what a task moved is learned from the CPU time that it had; "
			 "--weights EVENT takes an event of your choice");
	weights_close(&w);
	*ret_row = row;
	return 0;
}
