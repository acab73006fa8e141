// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The main job: follow workloads and report their traffic. */
#include <errno.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/formats.h"
#include "cli/output.h"
#include "cli/run_check.h"
#include "live/run/live.h"
#include "live/run/run.h"
#include "cli/show.h"
#include "platform/sys/resctrl.h"

/* The run and the output of its reports. */
struct trace {
	struct run run;
	struct show show;
	struct format_files files;
};

static int on_interval(void *arg, bool last, struct diag *d)
{
	struct trace *t = arg;
	struct report *r;
	int err = live_report(t->run.live, last, d, &r);

	if (err)
		return err;
	if (!t->run.args->output.summary)
		err = show_report(&t->show, r, d);
	if (!err)
		err = format_files_add(&t->files, r, d);
	report_free(r);
	return err;
}

static int summary(struct trace *t, struct diag *d)
{
	struct report *r;
	int err = live_summary(t->run.live, d, &r);

	if (err)
		return err;
	err = show_report(&t->show, r, d);
	report_free(r);
	return err;
}

static int write_page(struct trace *t, struct diag *d)
{
	struct neighbours_report *r = NULL;
	int err = live_neighbours(t->run.live, d, &r);

	if (!err)
		err = format_files_finish(&t->files, r, d);
	neighbours_report_free(r);
	return err;
}

static int prepare(struct trace *t, struct diag *d)
{
	const struct run_options *a = t->run.args;
	int err = run_open(&t->run, NULL, d);

	if (!err)
		err = show_open(t->run.args, d, &t->show);
	if (!err)
		err = format_files_open(t->run.args, d, &t->files);
	if (err)
		return err;
	run_describe(&t->run);
	/* Nothing appears meanwhile. */
	if (!a->output.quiet && !a->command && (a->output.summary || formats_hidden(&a->output)))
		fprintf(stderr, "%s: until Ctrl-C; %s\n", t->run.who,
			a->output.summary ? "the report comes then" : "reports go to a file");
	return 0;
}

static int follow(struct options *o)
{
	struct trace t = { .run = RUN_INIT };
	struct diag d = { 0 };
	int err;

	/* Each reading interrupts CPUs: none is made for reports that cannot show it. */
	if (o->run.by != ROW_CGROUP && o->run.by != ROW_JOB)
		o->run.resctrl = NULL;
	else if (!o->run.resctrl)
		o->run.resctrl = RESCTRL_ROOT;
	t.run.who = o->who;
	t.run.args = &o->run;
	t.run.interval = on_interval;
	t.run.arg = &t;
	err = prepare(&t, &d);
	if (!err)
		err = run_loop(&t.run, &d);
	if (!err && (o->run.output.summary || t.run.run_loop.interrupted))
		err = summary(&t, &d);
	if (!err && o->run.output.html)
		err = write_page(&t, &d);
	err = show_close(&t.show, err, &d);
	err = format_files_close(&t.files, o->who, err, &d);
	/* From here on nothing is left in the kernel, whatever the command still does. */
	run_stop(&t.run);
	if (!err && t.show.incomplete)
		fprintf(stderr, "%s: data is missing in this run: see the quality of its reports\n",
			o->who);
	if (err)
		output_diag(o->who, &d);
	return run_end(&t.run, err, t.show.incomplete);
}

static int check(struct options *o, struct diag *d)
{
	const struct run_options *r = &o->run;

	if (!r->pids.nr && !r->cgroups.nr && !r->jobs.nr && !r->all && !r->command)
		return diag_fail(d, -EINVAL,
				 "nothing to follow: give -p PID, -G CGROUP, -J JOBID, -a or -- "
				 "COMMAND");
	o->run.neighbours |= format_files_at_end(&r->output);
	return run_check_live(&o->run, d);
}

const struct command command_trace = {
	.name = "",
	.args = "-p PID[,PID...]\n-G CGROUP[,...]\n-J JOBID[,...]\n-a [-- COMMAND [ARG...]]\n"
		"-- COMMAND [ARG...]",
	.doc = "Show which processes, threads, cgroups or jobs cause the memory traffic that a "
	       "machine's uncore counters see: of NVIDIA T410 (Vera) and Grace, and of others "
	       "(docs/PLATFORMS.md).",
	.more = "@COMMANDS@",
	.bit = FOR_LIVE,
	.statuses = 1u << EXIT_INCOMPLETE,
	.takes_command = true,
	.check = check,
	.run = follow,
};
