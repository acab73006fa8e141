// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* t410trace neighbours: who held how much bandwidth while a latency was high. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/trace_args.h"
#include "replay/replay_file.h"
#include "live/run.h"
#include "cli/show.h"
#include "report/json/neighbours_json.h"
#include "report/table/neighbours_table.h"

#define WHO "t410trace neighbours"

static int show_neighbours(struct show *s, const struct neighbours_report *r, struct diag *d)
{
	struct table_options o = show_options(s);
	int err = s->args->output.json ? neighbours_json_write(s->out, r)
				       : neighbours_table_write(s->out, r, &o);

	return show_written(s, r->summary, err, d);
}

/* Without a single latency there is no table to be empty. */
static int check_probes(const struct neighbours_report *r, struct diag *d)
{
	if (r->nr)
		return 0;
	if (r->summary->replayed) {
		diag_fail(d, -ENODATA, "the recording has no latencies that tasks cause");
		diag_help(d, "record again where \"t410trace list\" shows a latency PMU, "
			     "without --read-budget 0");
	} else {
		diag_fail(d, -ENODATA, "no latency that tasks cause can be measured here");
		diag_help(d, "with -v, t410trace says why; \"t410trace list\" shows the PMUs");
	}
	return -ENODATA;
}

static void warn_incomplete(const struct show *s)
{
	if (s->incomplete)
		fprintf(stderr, "%s: data is missing: see the quality\n", WHO);
}

/* --- a recording */

static int on_reports(void *arg, struct report **reports, size_t nr, struct diag *d)
{
	(void)arg;
	(void)reports;
	(void)nr;
	(void)d;
	return 0;
}

static int replay(struct replay_file *f, struct show *show, struct diag *d)
{
	const struct replay_output output = { on_reports, NULL };
	struct neighbours_report *r = NULL;
	int err = replay_file_open(f, &output, d);

	if (!err)
		err = replay_file_read(f, d);
	if (!err && !replay_intervals(f->replay))
		return 0;
	if (!err)
		err = replay_neighbours(f->replay, &r);
	if (!err)
		err = check_probes(r, d);
	if (!err)
		err = show_open(f->args, d, show);
	if (!err)
		err = show_neighbours(show, r, d);
	neighbours_report_free(r);
	return err;
}

static int from_file(const struct run_options *args)
{
	struct replay_file f = { .who = WHO, .args = args };
	struct show show = { .args = args };
	struct diag d = { 0 };
	bool incomplete = false;
	int err, closed;

	signal(SIGPIPE, SIG_IGN);
	err = replay(&f, &show, &d);
	closed = show_close(&show, err ? NULL : &d);
	if (!err)
		err = closed;
	if (err)
		print_diag(WHO, &d);
	else
		incomplete = replay_file_describe(&f) || show.incomplete;
	if (!err)
		warn_incomplete(&show);
	replay_file_close(&f);
	return err ? EXIT_FAILED : incomplete ? EXIT_INCOMPLETE : EXIT_OK_;
}

/* --- a live run */

static int on_interval(void *arg, bool last, struct diag *d)
{
	struct run *run = arg;
	struct report *r;
	int err = live_report(run->live, last, d, &r);

	if (!err)
		report_free(r);
	return err;
}

static int follow(struct run *run, struct show *show, struct diag *d)
{
	struct neighbours_report *r = NULL;
	int err = run_open(run, NULL, d);

	/* Not before all else is well: it empties a file that may be wanted. */
	if (!err)
		err = show_open(run->args, d, show);
	if (!err) {
		run_describe(run);
		err = run_loop(run, d);
	}
	if (!err)
		err = live_neighbours(run->live, d, &r);
	if (!err)
		err = check_probes(r, d);
	if (!err)
		err = show_neighbours(show, r, d);
	neighbours_report_free(r);
	return err;
}

static int live_run(const struct run_options *args)
{
	struct run run = RUN_INIT;
	struct show show = { .args = args };
	struct diag d = { 0 };
	int err, closed;

	run.who = WHO;
	run.args = args;
	run.interval = on_interval;
	run.arg = &run;
	err = follow(&run, &show, &d);
	closed = show_close(&show, err ? NULL : &d);
	if (!err)
		err = closed;
	/* Nothing is left in the kernel from here on, whatever the command still does. */
	run_stop(&run);
	if (!err)
		warn_incomplete(&show);
	if (err)
		print_diag(WHO, &d);
	return run_end(&run, err, show.incomplete);
}

int cmd_neighbours(int argc, char **argv)
{
	struct run_options args;
	int status;

	trace_args_parse(COMMAND_NEIGHBOURS, argc, argv, &args);
	status = args.file ? from_file(&args) : live_run(&args);
	run_options_free(&args);
	return status;
}
