// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/stat_run.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "cli/commands.h"
#include "cli/signals.h"

/* A command gets this long to end after a signal, so that its last counts are there. */
#define GRACE_NS 1000000000ull

/* Why a run ends. */
enum ending {
	GOING_ON,
	TIME_IS_UP,
	INTERRUPTED,
	TERMINATED,
	PROCESS_ENDED,
	COMMAND_ENDED,
};

int stat_run_open(struct stat_run *run, struct diag *d)
{
	const struct stat_args *a = run->args;
	int err = signals_open(false, d, &run->mask, &run->signals);

	if (err)
		return err;
	if (a->command)
		return child_prepare(a->command, &run->mask, d, &run->child);
	if (!a->pid)
		return 0;
	run->pidfd = (int)syscall(SYS_pidfd_open, a->pid, 0);
	if (run->pidfd < 0)
		return diag_fail(d, -errno, "cannot follow process %d: %s", a->pid,
				 strerror(errno));
	return 0;
}

int stat_run_pid(const struct stat_run *run)
{
	return run->child.pid ? run->child.pid : run->args->pid;
}

/* Sleeps until something happens or @until. */
static int next_event(struct stat_run *run, uint64_t until, enum ending *ret)
{
	struct pollfd fds[] = {
		{ .fd = run->signals, .events = POLLIN },
		{ .fd = run->child.pidfd, .events = POLLIN },
		{ .fd = run->pidfd, .events = POLLIN },
	};
	int sig, err = wait_until(fds, ARRAY_SIZE(fds), until);

	if (err)
		return err;
	sig = fds[0].revents ? signals_take(run->signals) : 0;
	if (sig)
		*ret = sig == SIGINT ? INTERRUPTED : TERMINATED;
	else if (fds[1].revents)
		*ret = COMMAND_ENDED;
	else if (fds[2].revents)
		*ret = PROCESS_ENDED;
	return 0;
}

static int follow(struct stat_run *run, enum ending *ret, struct diag *d)
{
	const struct stat_args *a = run->args;
	uint64_t start = monotonic_ns(), now;
	uint64_t next = a->interval_ns ? start + a->interval_ns : UINT64_MAX;
	uint64_t end = a->duration_ns ? start + a->duration_ns : UINT64_MAX;
	int err = 0;

	while (!err && *ret == GOING_ON) {
		uint64_t step = run->next_ns(run->arg);

		err = next_event(run, earlier(step, earlier(next, end)), ret);
		now = monotonic_ns();
		if (err || *ret != GOING_ON)
			break;
		if (now >= step)
			err = run->step(run->arg, d);
		if (now >= end) {
			*ret = TIME_IS_UP;
		} else if (!err && now >= next) {
			err = run->interval(run->arg, d);
			/* Late ourselves: do not make up for it with short intervals. */
			while (next <= now)
				next += a->interval_ns;
		}
	}
	return err;
}

/*
 * We were told to end while the command runs. Ctrl-C reaches it by itself, it is in
 * the same process group; SIGTERM was for us alone and is passed on.
 */
static int end_command(struct stat_run *run, enum ending why, struct diag *d)
{
	uint64_t end = monotonic_ns() + GRACE_NS;
	enum ending event = GOING_ON;
	int err = 0;

	if (why == TERMINATED)
		kill(run->child.pid, SIGTERM);
	while (!err && event != COMMAND_ENDED && monotonic_ns() < end) {
		uint64_t step = run->next_ns(run->arg);

		err = next_event(run, earlier(step, end), &event);
		if (!err && monotonic_ns() >= step)
			err = run->step(run->arg, d);
	}
	run->command_ended = event == COMMAND_ENDED;
	return err;
}

int stat_run_loop(struct stat_run *run, struct diag *d)
{
	enum ending why = GOING_ON;
	int err = 0;

	if (run->args->command) {
		err = child_start(&run->child, run->args->command[0], d);
		run->not_started = err;
	}
	if (!err)
		err = follow(run, &why, d);
	run->interrupted = why == INTERRUPTED;
	run->command_ended = why == COMMAND_ENDED;
	if (!err && run->child.pid && (why == INTERRUPTED || why == TERMINATED))
		err = end_command(run, why, d);
	return err;
}

static int status_of(struct stat_run *run, int err, bool incomplete)
{
	int status;

	if (err && run->not_started && err == -ENOENT)
		return 127; /* as shells say it */
	if (err && run->not_started && err == -EACCES)
		return 126;
	if (err)
		return EXIT_FAILED;
	if (!run->command_ended)
		return incomplete ? EXIT_INCOMPLETE : EXIT_OK_;
	status = child_status(&run->child);
	return status < 0 ? EXIT_FAILED : status;
}

int stat_run_close(struct stat_run *run, int err, bool incomplete)
{
	int status = status_of(run, err, incomplete);

	child_end(&run->child);
	if (run->pidfd >= 0)
		close(run->pidfd);
	if (run->signals >= 0)
		close(run->signals);
	*run = STAT_RUN_INIT;
	return status;
}
