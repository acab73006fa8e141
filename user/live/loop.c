// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/loop.h"

#include <errno.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/times.h"
#include "base/exit_status.h"
#include "live/signals.h"

/* A command gets this long to end after a signal, so that its last bytes are counted. */
#define GRACE_NS 1000000000ull

/* Why a run ends. */
enum ending {
	GOING_ON,
	TIME_IS_UP,
	INTERRUPTED, /* SIGINT: the user wants the summary */
	TERMINATED,
	ALL_ENDED,
	COMMAND_ENDED,
};

int loop_open(struct loop *l, struct diag *d)
{
	return signals_open(false, d, &l->mask, &l->signals);
}

int loop_start(struct loop *l, const char *name, struct diag *d)
{
	int err = child_start(&l->child, name, d);

	l->not_started = err;
	return err;
}

/* Sleeps until something happens or @until, and does what is due. */
static int next_event(struct loop *l, uint64_t until, enum ending *ret, struct diag *d)
{
	struct pollfd fds[] = {
		{ .fd = l->signals, .events = POLLIN },
		{ .fd = l->child.pidfd, .events = POLLIN },
		{ .fd = l->wake_fd, .events = POLLIN },
	};
	int sig, err = wait_until(fds, ARRAY_SIZE(fds), earlier(l->next_ns(l->arg), until));

	if (err)
		return err;
	sig = fds[0].revents ? signals_take(l->signals) : 0;
	if (sig)
		*ret = sig == SIGINT ? INTERRUPTED : TERMINATED;
	else if (fds[1].revents)
		*ret = COMMAND_ENDED;
	return l->step(l->arg, d);
}

/* Ends one interval after the other until there is a reason to end. */
static int follow(struct loop *l, enum ending *ret, struct diag *d)
{
	uint64_t start = monotonic_ns(), now;
	uint64_t next = l->interval_ns ? start + l->interval_ns : UINT64_MAX;
	uint64_t end = l->duration_ns ? start + l->duration_ns : UINT64_MAX;
	int err = 0;

	while (!err && *ret == GOING_ON) {
		err = next_event(l, earlier(next, end), ret, d);
		if (err || *ret != GOING_ON)
			break;
		now = monotonic_ns();
		if (now >= end) {
			*ret = TIME_IS_UP;
		} else if (l->over && l->over(l->arg)) {
			*ret = ALL_ENDED;
		} else if (now >= next) {
			err = l->interval(l->arg, d);
			/* Late ourselves: do not make up for it with short intervals. */
			while (next <= now)
				next += l->interval_ns;
		}
	}
	return err;
}

/*
 * We were told to end while the command runs. Ctrl-C reaches it by itself, it is in
 * the same process group; SIGTERM was for us alone and is passed on. It stays in the
 * books until it has ended.
 */
static int end_command(struct loop *l, enum ending why, struct diag *d)
{
	uint64_t end = monotonic_ns() + GRACE_NS;
	enum ending event = GOING_ON;
	int err = 0;

	if (why == TERMINATED)
		kill(l->child.pid, SIGTERM);
	while (!err && event == GOING_ON && monotonic_ns() < end)
		err = next_event(l, end, &event, d);
	l->command_ended = event == COMMAND_ENDED;
	return err;
}

int loop_run(struct loop *l, struct diag *d)
{
	enum ending why = GOING_ON;
	int err = follow(l, &why, d);

	l->interrupted = why == INTERRUPTED;
	l->command_ended = why == COMMAND_ENDED;
	if (!err && l->child.pid && (why == INTERRUPTED || why == TERMINATED))
		err = end_command(l, why, d);
	return err;
}

static int status_of(struct loop *l, int err, bool incomplete)
{
	int status;

	if (l->not_started && err == -ENOENT)
		return 127; /* as shells say it */
	if (l->not_started && err == -EACCES)
		return 126;
	if (err)
		return EXIT_FAILED;
	if (!l->command_ended)
		return incomplete ? EXIT_INCOMPLETE : EXIT_OK_;
	status = child_status(&l->child);
	return status < 0 ? EXIT_FAILED : status;
}

int loop_close(struct loop *l, int err, bool incomplete)
{
	int status = status_of(l, err, incomplete);

	child_end(&l->child);
	if (l->signals >= 0)
		close(l->signals);
	*l = LOOP_INIT;
	return status;
}
