// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/run/run.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/times.h"

/* The ring is emptied at this interval; a ring that fills faster wakes us. */
#define DRAIN_NS 100000000ull

static void log_line(const char *text)
{
	fputs(text, stderr);
}

int run_open(struct run *run, const struct live_recorder *recorder, struct diag *d)
{
	const struct run_options *a = run->args;
	int err = run_loop_open(&run->run_loop, d);

	if (!err)
		err = run_loop_find(&run->run_loop, a->command, d);
	if (err)
		return err;
	err = live_open(a, recorder, a->output.verbose ? log_line : NULL, d, &run->live);
	/* With -D the requests of tasks are reported anyway. */
	if (err == -ENODEV && !a->devices.nr && !a->neighbours)
		str_append(d->help, sizeof(d->help),
			   " With --no-counters there is CPU time, on any machine; --source "
			   "COMMAND counts what a program prints.");
	return err;
}

void run_describe(const struct run *run)
{
	const char *note, *job;
	char text[512];

	for (size_t i = 0; !run->args->output.quiet && (note = live_note(run->live, i)); i++)
		fprintf(stderr, "%s: %s\n", run->who, note);
	for (size_t i = 0; !run->args->output.quiet && (job = live_missing_job(run->live, i)); i++)
		fprintf(stderr,
			"%s: there is no job %s yet: it is followed when it begins; \"t410trace -a "
			"--by job\" shows those that run\n",
			run->who, job);
	if (!run->args->output.verbose)
		return;
	/* The first line comes last, with the number of processes: then all is ready. */
	for (size_t i = 1; live_describe_line(run->live, i, text, sizeof(text)); i++)
		fprintf(stderr, "%s: %s\n", run->who, text);
	live_describe(run->live, text, sizeof(text));
	fprintf(stderr, "%s: %s\n", run->who, text);
}

/* All processes may have ended; cgroups, jobs and commands are waited for. */
static bool all_ended(const struct run *run)
{
	const struct run_options *a = run->args;

	return a->pids.nr && !a->cgroups.nr && !a->jobs.nr && !a->command && !live_alive(run->live);
}

static int records_fd(void *arg)
{
	const struct run *run = arg;

	return live_fd(run->live);
}

static uint64_t next_ns(void *arg)
{
	const struct run *run = arg;

	return earlier(run->drain_ns, live_next_ns(run->live));
}

static int drain(void *arg, struct diag *d)
{
	struct run *run = arg;
	int err = live_drain(run->live, d);
	char news[LIVE_WATCH_NEWS_LEN];

	while (live_news(run->live, news))
		if (run->news)
			run->news(run->arg, news);
		else if (!run->args->output.quiet)
			fprintf(stderr, "%s: %s\n", run->who, news);
	run->drain_ns = monotonic_ns() + DRAIN_NS;
	if (all_ended(run))
		loop_end(&run->run_loop.loop);
	return err;
}

static const struct loop_source records = { .fd = records_fd, .when = next_ns, .run = drain };

static int on_interval(void *arg, struct diag *d)
{
	struct run *run = arg;

	return run->interval(run->arg, false, d);
}

/* Make the command's process, follow it, and let it run. */
static int start_command(struct run *run, struct diag *d)
{
	char **argv = run->args->command;
	int err;

	if (!argv)
		return 0;
	err = child_prepare(argv, &run->run_loop.mask, d, &run->run_loop.child);
	if (!err)
		err = live_follow(run->live, run->run_loop.child.pid, d);
	return err ? err : run_loop_start(&run->run_loop, argv[0], d);
}

int run_loop(struct run *run, struct diag *d)
{
	int err;

	run->run_loop.interval_ns = run->args->interval_ns;
	run->run_loop.duration_ns = run->args->duration_ns;
	run->run_loop.interval = on_interval;
	run->run_loop.arg = run;
	err = loop_add(&run->run_loop.loop, &records, run, d);
	if (!err)
		err = start_command(run, d);
	if (!err)
		err = run_loop_run(&run->run_loop, d);
	return err ? err : run->interval(run->arg, true, d);
}

void run_stop(struct run *run)
{
	live_free(run->live);
	run->live = NULL;
}

int run_end(struct run *run, int err, bool incomplete)
{
	run_stop(run);
	return run_loop_close(&run->run_loop, err, incomplete);
}
