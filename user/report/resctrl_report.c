// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/resctrl_report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sums.h"
#include "report/devices.h"
#include "report/format.h"
#include "report/names.h"
#include "report/notes.h"
#include "report/put.h"
#include "report/rows.h"

const struct report_row *resctrl_groups_row(const struct report *r, const struct report_resctrl *f)
{
	return f->row[0] ? rows_find(r, f->row) : NULL;
}

/* --- JSON */

static json_t *resctrl_object(const struct report_resctrl *f, bool summary, int *err)
{
	json_t *o = json_object();

	put_name(o, "group", f->group, sizeof(f->group), err);
	put_name(o, "key", f->row[0] ? f->row : NULL, sizeof(f->row), err);
	put_text(o, "matched", resctrl_match_name(f->match), err);
	put_number(o, "tasks", f->tasks, err);
	if (f->match == RESCTRL_BY_TASKS && f->of_tasks)
		put_number(o, "of_tasks", f->of_tasks, err);
	put_text(o, "state", resctrl_state_name(f->state), err);
	if (f->state == RESCTRL_VALID) {
		put_number(o, "mbm_total_bytes", f->bytes, err);
		put_number(o, "duration_ns", f->ns, err);
	}
	put_number(o, "domains", f->domains, err);
	put_number(o, "domains_missing", f->missing, err);
	if (summary) {
		put_number(o, "intervals", f->intervals, err);
		put_number(o, "intervals_missing", f->without, err);
	}
	return o;
}

json_t *resctrl_groups_array(const struct report *r, int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->nr_resctrl && !*err; i++)
		put_element(a, resctrl_object(&r->resctrl[i], r->summary, err), err);
	return a;
}

/* --- text */

bool resctrl_groups_own_bytes(const struct report *r, const struct report_row *row, uint64_t *ret)
{
	bool any = false;

	*ret = 0;
	for (size_t i = 0; i < row->nr_shares; i++) {
		const struct counter *c = r->counters[row->shares[i].counter].counter;

		if (!devices_task_counter(c))
			continue;
		any = true;
		*ret = sum_capped(*ret, row->shares[i].value);
	}
	return any;
}

void resctrl_groups_put_match(FILE *f, const struct report_resctrl *r)
{
	const char *s = r->tasks == 1 ? "" : "s";

	if (r->match == RESCTRL_BY_NAME)
		fputs("by its name, it has no tasks", f);
	else if (r->of_tasks > r->tasks)
		fprintf(f, "by its tasks, %" PRIu32 " of the row's %" PRIu32, r->tasks,
			r->of_tasks);
	else
		fprintf(f, "by its %" PRIu32 " task%s", r->tasks, s);
}

const char *resctrl_groups_why_not(enum resctrl_state s)
{
	static const char *const words[NR_RESCTRL_STATES] = {
		[RESCTRL_UNAVAILABLE] = "unavailable",
		[RESCTRL_UNASSIGNED] = "no hardware counter is assigned to it",
		[RESCTRL_BACKWARD] = "its counter went back",
		[RESCTRL_NEW] = "it is new",
		[RESCTRL_UNREADABLE] = "it cannot be read",
	};

	return s < NR_RESCTRL_STATES && words[s] ? words[s] : "not known";
}

int resctrl_groups_explain(FILE *out, size_t width)
{
	return notes_line(out, width,
			  "resctrl is the kernel's own count of what caches asked of memory for "
			  "these tasks; nothing here rests on it");
}

static int put_resctrl(FILE *out, const struct report *r, const struct report_resctrl *f,
		       const struct report_row *row, size_t width)
{
	uint64_t duration = report_duration_ns(r), own;
	char rate[FORMAT_NUMBER_LEN], ours[FORMAT_NUMBER_LEN] = "-";
	cleanup_free char *name = NULL;
	struct sentence s;
	FILE *line = row && names_row(row, &name) ? NULL : sentence_begin(&s);

	if (!line)
		return -ENOMEM;
	fprintf(line, "resctrl: %s", row ? name : "no row");
	if (f->state == RESCTRL_VALID) {
		format_rate(f->bytes, f->ns, rate);
		fprintf(line, ": %s GB/s", rate);
	} else {
		fprintf(line, ": no number, %s", resctrl_groups_why_not(f->state));
	}
	if (row && resctrl_groups_own_bytes(r, row, &own) && duration)
		format_rate(own, duration, ours);
	if (row)
		fprintf(line, ", here %s", ours);
	fprintf(line, " (group %s", FORMAT_SAFE(f->group));
	if (row) {
		fputs(", ", line);
		resctrl_groups_put_match(line, f);
	}
	if (f->state == RESCTRL_VALID && f->missing)
		fprintf(line, "; %" PRIu32 " of %" PRIu32 " domains have no number", f->missing,
			f->domains);
	if (r->summary && f->state == RESCTRL_VALID && f->without)
		fprintf(line, "; no number in %" PRIu32 " of %" PRIu32 " intervals", f->without,
			f->intervals);
	fputs(")", line);
	return sentence_end(&s, out, width, 0);
}

int resctrl_groups_write(FILE *out, const struct report *r, size_t width, bool all)
{
	size_t strangers = 0, shown = 0;
	int err = 0;

	for (size_t i = 0; i < r->nr_resctrl && !err; i++) {
		const struct report_row *row = resctrl_groups_row(r, &r->resctrl[i]);

		strangers += !row;
		if (!row && !all)
			continue;
		shown++;
		err = put_resctrl(out, r, &r->resctrl[i], row, width);
	}
	if (!err && strangers && !all)
		err = notes_line(out, width,
				 "resctrl: %zu group%s belong%s to no row (-v shows %s)", strangers,
				 strangers == 1 ? "" : "s", strangers == 1 ? "s" : "",
				 strangers == 1 ? "it" : "them");
	return err || !shown ? err : resctrl_groups_explain(out, width);
}
