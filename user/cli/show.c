// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/show.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "report/compare.h"
#include "report/json.h"
#include "report/table.h"

int show_open(const struct trace_args *args, struct diag *d, struct show *ret)
{
	struct show s = { .args = args, .out = stdout };

	if (args->output)
		s.out = fopen(args->output, "we");
	if (!s.out)
		return diag_fail(d, -errno, "cannot write to %s: %s", args->output,
				 strerror(errno));
	*ret = s;
	return 0;
}

static size_t terminal_width(FILE *out)
{
	struct winsize w;

	if (ioctl(fileno(out), TIOCGWINSZ, &w) || !w.ws_col)
		return TABLE_DEFAULT_WIDTH;
	return w.ws_col;
}

/* Was something lost that no later report can bring back? */
static bool lacks_data(const struct report *r)
{
	const struct quality *q = &r->quality;

	for (size_t i = 0; i < r->nr_counters; i++)
		if (!r->counters[i].valid)
			return true;
	return q->lost_slices_ns || q->lost_tasks || q->lost_cgroups || q->late_slices;
}

static int write_reports(const struct show *s, struct report *const *reports, size_t nr)
{
	const struct trace_args *a = s->args;
	struct table_options o = {
		.width = terminal_width(s->out),
		.top = a->top,
		.quiet = a->quiet,
		.verbose = a->verbose,
		.by_destination = a->by_destination,
	};

	if (nr > 1)
		return a->json ? compare_json_write(s->out, reports, a->methods, nr)
			       : compare_table_write(s->out, reports, a->methods, nr, &o);
	return a->json ? json_write(s->out, reports[0]) : table_write(s->out, reports[0], &o);
}

int show_reports(struct show *s, struct report **reports, size_t nr, struct diag *d)
{
	int err;

	for (size_t i = 0; i < nr; i++)
		reports[i]->sequence = s->sequence;
	s->sequence++;
	err = write_reports(s, reports, nr);
	if (lacks_data(reports[0]))
		s->incomplete = true;
	if (!err)
		return 0;
	diag_fail(d, err, "cannot write the report to %s: %s",
		  s->args->output ? s->args->output : "standard output", strerror(-err));
	if (err == -ENOSPC)
		diag_help(d, "free some space; reports before this one are complete");
	else if (err == -EPIPE)
		diag_help(d, "the reader of the output has ended");
	return err;
}

int show_close(struct show *s, struct diag *d)
{
	FILE *out = s->out;

	s->out = NULL;
	if (!out || !s->args->output || !fclose(out))
		return 0;
	return diag_fail(d, -errno, "cannot write to %s: %s", s->args->output, strerror(errno));
}
