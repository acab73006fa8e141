// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The main job: follow workloads and report what they cause. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/child.h"
#include "cli/commands.h"
#include "cli/live.h"
#include "cli/output.h"
#include "cli/trace_args.h"
#include "report/json.h"
#include "report/table.h"

#define WHO	 "t410trace"

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

struct run {
	const struct trace_args *args;
	struct live *live;
	struct child child;
	sigset_t mask; /* before we blocked anything */
	int signals;
	FILE *out;
	uint64_t sequence; /* of the next report */
	bool incomplete;
	bool command_ended;
};

static void log_line(const char *text)
{
	fputs(text, stderr);
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

static int write_report(struct run *run, struct report *r, struct diag *d)
{
	const struct trace_args *a = run->args;
	struct table_options o = {
		.width = terminal_width(run->out),
		.top = a->top,
		.quiet = a->quiet,
		.verbose = a->verbose,
	};
	int err;

	r->sequence = run->sequence++;
	err = a->json ? json_write(run->out, r) : table_write(run->out, r, &o);

	if (lacks_data(r))
		run->incomplete = true;
	if (!err)
		return 0;
	diag_fail(d, err, "cannot write the report to %s: %s",
		  a->output ? a->output : "standard output", strerror(-err));
	if (err == -ENOSPC)
		diag_help(d, "free some space; reports before this one are complete");
	else if (err == -EPIPE)
		diag_help(d, "the reader of the output has ended");
	return err;
}

static int report(struct run *run, bool last, struct diag *d)
{
	struct report *r;
	int err = live_report(run->live, last, d, &r);

	if (err)
		return err;
	if (!run->args->summary)
		err = write_report(run, r, d);
	report_free(r);
	return err;
}

static int summary(struct run *run, struct diag *d)
{
	struct report *r;
	int err = live_summary(run->live, d, &r);

	if (err)
		return err;
	err = write_report(run, r, d);
	report_free(r);
	return err;
}

/* Sleeps until something happens or @until. */
static int wait_until(struct run *run, uint64_t until, enum ending *ret)
{
	struct pollfd fds[] = {
		{ .fd = live_fd(run->live), .events = POLLIN },
		{ .fd = run->signals, .events = POLLIN },
		{ .fd = run->child.pidfd, .events = POLLIN }, /* ignored when negative */
	};
	struct signalfd_siginfo s;
	uint64_t now = monotonic_ns();
	struct timespec t = { 0 };

	if (until > now) {
		t.tv_sec = (until - now) / NS_PER_S;
		t.tv_nsec = (until - now) % NS_PER_S;
	}
	if (ppoll(fds, sizeof(fds) / sizeof(fds[0]), &t, NULL) < 0)
		return errno == EINTR ? 0 : -errno;
	if (fds[1].revents && read(run->signals, &s, sizeof(s)) == sizeof(s))
		*ret = s.ssi_signo == SIGINT ? INTERRUPTED : TERMINATED;
	else if (fds[2].revents)
		*ret = COMMAND_ENDED;
	return 0;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Reports one interval after the other until there is a reason to end. */
static int follow(struct run *run, enum ending *ret, struct diag *d)
{
	const struct trace_args *a = run->args;
	uint64_t start = monotonic_ns(), next = start + a->interval_ns, drain = start + DRAIN_NS,
		 now;
	uint64_t end = a->duration_ns ? start + a->duration_ns : UINT64_MAX;
	bool only_pids = a->nr_pids && !a->nr_cgroups && !a->command;
	int err = 0;

	while (!err && *ret == GOING_ON) {
		err = wait_until(run, earlier(drain, earlier(next, end)), ret);
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
			err = report(run, false, d);
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
		err = wait_until(run, end, &event);
		if (!err)
			err = live_drain(run->live, d);
	}
	*ret_ended = event == COMMAND_ENDED;
	return err;
}

/* What the run ended with: the rest of an interval, and the summary. */
static int finish(struct run *run, enum ending why, struct diag *d)
{
	const struct trace_args *a = run->args;
	int err = 0;

	run->command_ended = why == COMMAND_ENDED;
	if (run->child.pid && (why == INTERRUPTED || why == TERMINATED))
		err = end_command(run, why, &run->command_ended, d);
	if (!err)
		err = report(run, true, d);
	if (!err && (a->summary || why == INTERRUPTED))
		err = summary(run, d);
	return err;
}

static int prepare(struct run *run, struct diag *d)
{
	const struct trace_args *a = run->args;
	sigset_t block;
	char text[256];
	int err;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigaddset(&block, SIGTERM);
	sigprocmask(SIG_BLOCK, &block, &run->mask);
	run->signals = signalfd(-1, &block, SFD_CLOEXEC | SFD_NONBLOCK);
	if (run->signals < 0)
		return diag_fail(d, -errno, "cannot receive signals: %s", strerror(errno));
	err = live_open(a, NULL, a->verbose ? log_line : NULL, d, &run->live);
	if (err)
		return err;
	/* Not before all else is well: it empties a file that may be wanted. */
	if (a->output) {
		run->out = fopen(a->output, "we");
		if (!run->out) {
			err = diag_fail(d, -errno, "cannot write to %s: %s", a->output,
					strerror(errno));
			return err;
		}
	}
	if (a->verbose) {
		live_describe(run->live, text, sizeof(text));
		fprintf(stderr, "%s: %s\n", WHO, text);
	}
	return 0;
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
	if (!err)
		err = child_start(&run->child, argv[0], d);
	return err;
}

/* The exit status of a run that went well. */
static int status_of(struct run *run)
{
	int status;

	if (run->incomplete)
		fprintf(stderr, "%s: data is missing in this run: see the quality of its reports\n",
			WHO);
	if (run->command_ended) {
		status = child_status(&run->child);
		return status < 0 ? EXIT_FAILED : status;
	}
	return run->incomplete ? EXIT_INCOMPLETE : EXIT_OK_;
}

int cmd_trace(int argc, char **argv)
{
	struct trace_args args;
	struct run run = { .args = &args, .child = CHILD_NONE, .signals = -1, .out = stdout };
	struct diag d = { 0 };
	enum ending why = GOING_ON;
	int err, status = EXIT_FAILED;

	trace_args_parse(argc, argv, &args);
	err = prepare(&run, &d);
	if (!err)
		err = start_command(&run, &d);
	if (err == -ENOENT && run.child.pid)
		status = 127; /* as shells say it */
	else if (err == -EACCES && run.child.pid)
		status = 126;
	if (!err)
		err = follow(&run, &why, &d);
	if (!err)
		err = finish(&run, why, &d);
	if (!err && args.output && fclose(run.out)) {
		err = diag_fail(&d, -errno, "cannot write to %s: %s", args.output, strerror(errno));
		run.out = NULL;
	}
	/* Nothing is left in the kernel from here on, whatever the command still does. */
	live_free(run.live);
	if (!err)
		status = status_of(&run);
	else
		print_diag(WHO, &d);
	child_end(&run.child);
	if (run.signals >= 0)
		close(run.signals);
	trace_args_free(&args);
	return status;
}
