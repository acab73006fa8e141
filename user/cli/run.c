// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/signals.h"

/* A command gets this long to end after a signal, so that its last bytes are counted. */
#define GRACE_NS 1000000000ull

/* The ring is emptied this often; a ring that fills faster wakes us itself. */
#define DRAIN_NS 100000000ull

/* Why a run ends. */
enum ending {
	GOING_ON,
	TIME_IS_UP,
	INTERRUPTED, /* SIGINT: the user wants the summary */
	TERMINATED,
	ALL_ENDED,
	COMMAND_ENDED,
};

static void log_line(const char *text)
{
	fputs(text, stderr);
}

int run_open(struct run *run, const struct live_recorder *recorder, struct diag *d)
{
	const struct trace_args *a = run->args;
	int err = signals_open(false, d, &run->mask, &run->signals);

	if (err)
		return err;
	return live_open(a, recorder, a->verbose ? log_line : NULL, d, &run->live);
}

void run_describe(const struct run *run)
{
	const char *note, *job;
	char text[512];

	for (size_t i = 0; !run->args->quiet && (note = live_note(run->live, i)); i++)
		fprintf(stderr, "%s: %s\n", run->who, note);
	for (size_t i = 0; !run->args->quiet && (job = live_missing_job(run->live, i)); i++)
		fprintf(stderr, "%s: there is no job %s yet: it is followed when it begins\n",
			run->who, job);
	if (!run->args->verbose)
		return;
	live_describe_weights(run->live, text, sizeof(text));
	fprintf(stderr, "%s: %s\n", run->who, text);
	live_describe_probes(run->live, text, sizeof(text));
	if (text[0])
		fprintf(stderr, "%s: %s\n", run->who, text);
	live_describe_devices(run->live, text, sizeof(text));
	if (text[0])
		fprintf(stderr, "%s: %s\n", run->who, text);
	live_describe(run->live, text, sizeof(text));
	fprintf(stderr, "%s: %s\n", run->who, text);
}

/* Sleeps until something happens or @until. */
static int next_event(struct run *run, uint64_t until, enum ending *ret)
{
	struct pollfd fds[] = {
		{ .fd = live_fd(run->live), .events = POLLIN },
		{ .fd = run->signals, .events = POLLIN },
		{ .fd = run->child.pidfd, .events = POLLIN },
	};
	int sig, err = wait_until(fds, ARRAY_SIZE(fds), until);

	if (err)
		return err;
	sig = fds[1].revents ? signals_take(run->signals) : 0;
	if (sig)
		*ret = sig == SIGINT ? INTERRUPTED : TERMINATED;
	else if (fds[2].revents)
		*ret = COMMAND_ENDED;
	return 0;
}

/* Ends one interval after the other until there is a reason to end. */
static int follow(struct run *run, enum ending *ret, struct diag *d)
{
	const struct trace_args *a = run->args;
	uint64_t start = monotonic_ns(), next = start + a->interval_ns, drain = start + DRAIN_NS,
		 wake, now;
	uint64_t end = a->duration_ns ? start + a->duration_ns : UINT64_MAX;
	bool only_pids = a->nr_pids && !a->nr_cgroups && !a->nr_jobs && !a->command;
	int err = 0;

	while (!err && *ret == GOING_ON) {
		wake = earlier(earlier(drain, live_next_ns(run->live)), earlier(next, end));
		err = next_event(run, wake, ret);
		if (!err)
			err = live_drain(run->live, d);
		now = monotonic_ns();
		drain = now + DRAIN_NS;
		if (err || *ret != GOING_ON)
			break;
		if (now >= end)
			*ret = TIME_IS_UP;
		else if (only_pids && !live_alive(run->live))
			*ret = ALL_ENDED;
		else if (now >= next) {
			err = run->interval(run->arg, false, d);
			/* Late ourselves: do not make up for it with short intervals. */
			while (next <= now)
				next += a->interval_ns;
		}
	}
	return err;
}

/*
 * We were told to end while the command runs. Ctrl-C reaches it by itself, it is in
 * the same process group; SIGTERM was for us alone and is passed on. It stays in the
 * books until it has ended.
 */
static int end_command(struct run *run, enum ending why, bool *ret_ended, struct diag *d)
{
	uint64_t end = monotonic_ns() + GRACE_NS;
	enum ending event = GOING_ON;
	int err = 0;

	if (why == TERMINATED)
		kill(run->child.pid, SIGTERM);
	while (!err && event == GOING_ON && monotonic_ns() < end) {
		err = next_event(run, end, &event);
		if (!err)
			err = live_drain(run->live, d);
	}
	*ret_ended = event == COMMAND_ENDED;
	return err;
}

/* Makes the command's process, follows it, and lets it run. */
static int start_command(struct run *run, struct diag *d)
{
	char **argv = run->args->command;
	int err;

	if (!argv)
		return 0;
	err = child_prepare(argv, &run->mask, d, &run->child);
	if (!err)
		err = live_follow(run->live, run->child.pid, d);
	if (err)
		return err;
	err = child_start(&run->child, argv[0], d);
	run->not_started = err;
	return err;
}

int run_loop(struct run *run, struct diag *d)
{
	enum ending why = GOING_ON;
	int err = start_command(run, d);

	if (!err)
		err = follow(run, &why, d);
	run->interrupted = why == INTERRUPTED;
	run->command_ended = why == COMMAND_ENDED;
	if (!err && run->child.pid && (why == INTERRUPTED || why == TERMINATED))
		err = end_command(run, why, &run->command_ended, d);
	return err ? err : run->interval(run->arg, true, d);
}

void run_stop(struct run *run)
{
	live_free(run->live);
	run->live = NULL;
}

/* The exit status of a run that went well. */
static int status_of(struct run *run, bool incomplete)
{
	int status;

	if (!run->command_ended)
		return incomplete ? EXIT_INCOMPLETE : EXIT_OK_;
	status = child_status(&run->child);
	return status < 0 ? EXIT_FAILED : status;
}

int run_end(struct run *run, int err, bool incomplete, const struct diag *d)
{
	int status = EXIT_FAILED;

	run_stop(run);
	if (!err)
		status = status_of(run, incomplete);
	else if (run->not_started && err == -ENOENT)
		status = 127; /* as shells say it */
	else if (run->not_started && err == -EACCES)
		status = 126;
	if (err)
		print_diag(run->who, d);
	child_end(&run->child);
	if (run->signals >= 0)
		close(run->signals);
	return status;
}
