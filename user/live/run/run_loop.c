// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/run/run_loop.h"

#include <errno.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/exit_status.h"
#include "live/run/signals.h"

/* After a signal a command gets this long to end, so that its last bytes are counted. */
#define GRACE_NS 1000000000ull

/* --- signals */

static int signals_fd(void *arg)
{
	const struct run_loop *c = arg;

	return c->signals;
}

/*
 * A second signal ends the run at once. Before that the command gets its time. Ctrl-C reaches the
 * command anyway, as it is in the same process group; other signals may go to us alone and are
 * passed on. The command stays in the books until it has ended.
 */
static int on_signal(void *arg, struct diag *d)
{
	struct run_loop *c = arg;
	int sig = signals_take(c->signals);

	(void)d;
	if (!sig)
		return 0;
	if (!c->ending)
		c->interrupted = sig == SIGINT;
	if (c->ending || !c->child.pid) {
		loop_end(&c->loop);
		return 0;
	}
	c->ending = true;
	c->next_ns = UINT64_MAX;
	c->end_ns = monotonic_ns() + GRACE_NS;
	if (sig != SIGINT)
		kill(c->child.pid, sig);
	return 0;
}

static const struct loop_source signals_source = { .fd = signals_fd, .run = on_signal };

/* --- the command */

static int child_fd(void *arg)
{
	const struct run_loop *c = arg;

	return c->child.pidfd;
}

static int on_child(void *arg, struct diag *d)
{
	struct run_loop *c = arg;

	(void)d;
	c->command_ended = true;
	loop_end(&c->loop);
	return 0;
}

/* --- times */

static uint64_t end_ns(void *arg)
{
	const struct run_loop *c = arg;

	return c->end_ns;
}

static int on_end(void *arg, struct diag *d)
{
	struct run_loop *c = arg;

	(void)d;
	loop_end(&c->loop);
	return 0;
}

static uint64_t next_ns(void *arg)
{
	const struct run_loop *c = arg;

	return c->next_ns;
}

static int on_interval(void *arg, struct diag *d)
{
	struct run_loop *c = arg;
	uint64_t now = monotonic_ns();

	/* If we are late, do not make up for it with short intervals. */
	while (c->next_ns <= now)
		c->next_ns += c->interval_ns;
	return c->interval(c->arg, d);
}

/* Behind the caller's sources: work due at the end of an interval belongs to it. */
static const struct loop_source last_sources[] = {
	{ .fd = child_fd, .run = on_child },
	{ .when = end_ns, .run = on_end },
	{ .when = next_ns, .run = on_interval },
};

/* --- from start to end */

int run_loop_open(struct run_loop *c, struct diag *d)
{
	int err = signals_open(c->hangup, d, &c->mask, &c->signals);

	return err ? err : loop_add(&c->loop, &signals_source, c, d);
}

int run_loop_find(struct run_loop *c, char **command, struct diag *d)
{
	int err = command ? child_find(command[0], d) : 0;

	c->not_started = err;
	return err;
}

int run_loop_start(struct run_loop *c, const char *name, struct diag *d)
{
	int err = child_start(&c->child, name, d);

	c->not_started = err;
	return err;
}

int run_loop_run(struct run_loop *c, struct diag *d)
{
	uint64_t start = monotonic_ns();
	int err = 0;

	c->next_ns = c->interval_ns ? start + c->interval_ns : UINT64_MAX;
	c->end_ns = c->duration_ns ? start + c->duration_ns : UINT64_MAX;
	for (size_t i = 0; !err && i < ARRAY_SIZE(last_sources); i++)
		err = loop_add(&c->loop, &last_sources[i], c, d);
	return err ? err : loop_run(&c->loop, d);
}

static int status_of(struct run_loop *c, int err, bool incomplete)
{
	int status;

	if (c->not_started && err == -ENOENT)
		return 127; /* as in shells */
	if (c->not_started && err == -EACCES)
		return 126;
	if (err)
		return exit_of(err);
	if (!c->command_ended)
		return incomplete ? EXIT_INCOMPLETE : EXIT_OK_;
	status = child_status(&c->child);
	return status < 0 ? EXIT_FAILED : status;
}

int run_loop_close(struct run_loop *c, int err, bool incomplete)
{
	int status = status_of(c, err, incomplete);

	child_end(&c->child);
	loop_free(&c->loop);
	if (c->signals >= 0)
		close(c->signals);
	*c = RUN_LOOP_INIT;
	return status;
}
