// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* t410trace neighbours: bandwidth of workloads while a latency was high. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/commands.h"
#include "cli/formats.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/run_check.h"
#include "replay/replay_file.h"
#include "live/run/run.h"
#include "cli/show.h"

#define WHO "t410trace neighbours"

static int show_neighbours(struct show *s, const struct neighbours_report *r, struct diag *d)
{
	struct table_options o = show_options(s);
	int err = report_formats[s->args->output.format].neighbours(s->out.file, r, &o);

	return show_written(s, r->summary, err, d);
}

/* Without any latency an empty table would make no sense. */
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

static int on_report(void *arg, struct report *report, struct diag *d)
{
	(void)arg;
	(void)report;
	(void)d;
	return 0;
}

/* Output appears only at the end. */
static int read_file(struct replay_file *f, struct diag *d)
{
	struct progress p = { 0 };
	struct trace_sink sink = progress_sink(&p, f, NULL);
	int err;

	if (sink.event)
		f->also.sinks[f->also.nr++] = sink;
	err = replay_file_read(f, d);
	progress_end(&p);
	return err;
}

static int replay(struct replay_file *f, struct show *show, struct diag *d)
{
	const struct replay_output output = { .report = on_report };
	struct neighbours_report *r = NULL;
	int err = replay_file_open(f, &output, d);

	if (!err)
		err = read_file(f, d);
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
	int err;

	signal(SIGPIPE, SIG_IGN);
	err = replay(&f, &show, &d);
	err = show_close(&show, err, &d);
	if (err)
		output_diag(WHO, &d);
	else
		incomplete = replay_file_describe(&f) || show.incomplete;
	if (!err)
		warn_incomplete(&show);
	replay_file_close(&f);
	return err ? EXIT_FAILED : incomplete ? EXIT_INCOMPLETE : EXIT_OK_;
}

/* --- a live run */

/* A line on a terminal has the seconds and samples so far. */
struct watch {
	struct run run;
	struct progress progress;
	uint64_t start_ns;
	uint64_t next_ns;
};

static int on_interval(void *arg, bool last, struct diag *d)
{
	struct watch *w = arg;
	struct report *r;
	int err = live_report(w->run.live, last, d, &r);

	if (!err)
		report_free(r);
	return err;
}

static uint64_t next_ns(void *arg)
{
	const struct watch *w = arg;

	return w->next_ns;
}

static int count(void *arg, struct diag *d)
{
	struct watch *w = arg;
	uint64_t now = monotonic_ns();
	struct neighbourhood h;
	char text[80], of[32] = "";
	int err = live_neighbours_progress(w->run.live, &h);

	w->next_ns = now + NS_PER_S;
	if (err)
		return diag_error(d, err, "cannot count samples");
	if (w->run.args->duration_ns)
		snprintf(of, sizeof(of), " of %.0f", (double)w->run.args->duration_ns / NS_PER_S);
	snprintf(text, sizeof(text), "%.0f%s s, %zu high, %zu calm; %d of each are needed",
		 (double)(now - w->start_ns) / NS_PER_S, of, h.risen_samples, h.calm_samples,
		 NEIGHBOURS_MIN_SAMPLES);
	progress_line(&w->progress, text);
	return 0;
}

static const struct loop_source counting = { .when = next_ns, .run = count };

/* The loop begins. */
static int watch(struct watch *w, struct diag *d)
{
	int err = 0;

	w->start_ns = monotonic_ns();
	w->next_ns = w->start_ns + NS_PER_S;
	if (!w->run.args->output.quiet && isatty(STDERR_FILENO))
		err = loop_add(&w->run.run_loop.loop, &counting, w, d);
	if (!err)
		err = run_loop(&w->run, d);
	progress_end(&w->progress);
	return err;
}

static int follow(struct watch *w, struct show *show, struct diag *d)
{
	struct neighbours_report *r = NULL;
	struct run *run = &w->run;
	int err = run_open(run, NULL, d);

	if (!err)
		err = show_open(run->args, d, show);
	if (!err) {
		run_describe(run);
		err = watch(w, d);
	}
	if (!err)
		err = live_neighbours(run->live, d, &r);
	if (!err)
		r->read_budget = run->args->read_budget;
	if (!err)
		err = check_probes(r, d);
	if (!err)
		err = show_neighbours(show, r, d);
	neighbours_report_free(r);
	return err;
}

static int live_run(const struct run_options *args)
{
	struct watch w = { .run = RUN_INIT };
	struct show show = { .args = args };
	struct diag d = { 0 };
	int err;

	w.run.who = WHO;
	w.run.args = args;
	w.run.interval = on_interval;
	w.run.arg = &w;
	err = follow(&w, &show, &d);
	err = show_close(&show, err, &d);
	/* From here on nothing is left in the kernel, whatever the command still does. */
	run_stop(&w.run);
	if (!err)
		warn_incomplete(&show);
	if (err)
		output_diag(WHO, &d);
	return run_end(&w.run, err, show.incomplete);
}

static int neighbours(struct options *o)
{
	return o->run.file ? from_file(&o->run) : live_run(&o->run);
}

static void set_defaults(struct options *o)
{
	o->run.read_budget = RUN_NEIGHBOURS_BUDGET;
}

static int check(struct options *o, struct diag *d)
{
	struct run_options *r = &o->run;

	r->neighbours = true;
	r->need_traffic = true;
	if (r->file && (r->command || r->duration_ns))
		return diag_fail(d, -EINVAL, "%s is a recording: -d and COMMAND are for live runs",
				 r->file);
	if (r->file)
		return run_check_selection(r, d);
	if (r->read_budget <= 0)
		return diag_fail(d, -EINVAL,
				 "--read-budget 0: without latencies there is nothing to compare");
	return run_check_live(r, d);
}

const struct command command_neighbours = {
	.name = "neighbours",
	.brief = "which workloads moved more while a latency was high",
	.args = "[-- COMMAND [ARG...]]\n-p PID[,PID...]\n-G CGROUP[,...]\n-J JOBID[,...]\nFILE",
	.doc = "Show who held how much bandwidth while a latency was high: live, until -d, Ctrl-C "
	       "or the end of COMMAND, or from a recording.",
	.more = "What rose together with a latency may be its cause; that is not proof.",
	.bit = FOR_NEIGHBOURS,
	.statuses = 1u << EXIT_INCOMPLETE,
	.takes_command = true,
	.defaults = set_defaults,
	.argument = run_take_recording,
	.check = check,
	.run = neighbours,
};
