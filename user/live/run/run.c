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
	int err = course_open(&run->course, d);

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
		loop_end(&run->course.loop);
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
	err = child_prepare(argv, &run->course.mask, d, &run->course.child);
	if (!err)
		err = live_follow(run->live, run->course.child.pid, d);
	return err ? err : course_start(&run->course, argv[0], d);
}

int run_loop(struct run *run, struct diag *d)
{
	int err;

	run->course.interval_ns = run->args->interval_ns;
	run->course.duration_ns = run->args->duration_ns;
	run->course.interval = on_interval;
	run->course.arg = run;
	err = loop_add(&run->course.loop, &records, run, d);
	if (!err)
		err = start_command(run, d);
	if (!err)
		err = course_run(&run->course, d);
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
	return course_close(&run->course, err, incomplete);
}
