// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* t410trace stat: system-wide counts of the PMUs, and metrics. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "cli/commands.h"
#include "cli/counts_stat.h"
#include "cli/esp.h"
#include "cli/formats.h"
#include "cli/output.h"
#include "cli/run_check.h"
#include "live/run/run_loop.h"
#include "live/sources/stat_meter.h"
#include "platform/sys/pid_namespace.h"

#define WHO "t410trace stat"

struct stat_run {
	const struct options *args;
	struct run_loop run_loop;
	int pidfd; /* of -p */
	struct stat_meter *meter;
	struct output out;
	bool incomplete;
};

static int choose(struct stat_run *s, struct diag *d)
{
	const struct options *a = s->args;
	char cores[64] = "all CPUs";
	const struct stat_meter_options o = {
		.metrics = {
			.metrics = a->stat.metrics.items,
			.nr_metrics = a->stat.metrics.nr,
			.events = a->stat.events.items,
			.nr_events = a->stat.events.nr,
			.ranges = a->stat.windows.items,
			.nr_ranges = a->stat.windows.nr,
			.socket = a->stat.socket,
			.per_port = a->stat.per_port,
			.per_gpu = a->stat.per_gpu,
			.workload = a->stat.pid || a->run.command,
		},
		.peaks = a->run.peaks,
		.budget = a->run.read_budget,
		.cores = cores,
	};

	if (a->run.command)
		snprintf(cores, sizeof(cores), "COMMAND and what it starts");
	else if (a->stat.pid)
		snprintf(cores, sizeof(cores), "process %d and what it starts from now on",
			 a->stat.pid);
	return stat_meter_new(&o, d, &s->meter);
}

static int start(struct stat_run *s, struct diag *d)
{
	const struct options *a = s->args;
	pid_t child = s->run_loop.child.pid;
	uint64_t time_ns = a->run.interval_ns ? a->run.interval_ns : a->run.duration_ns;

	return stat_meter_start(s->meter, time_ns, child ? child : a->stat.pid, a->run.command, d);
}

/* Signals, the command's process (it waits), or the process to follow. */
static int open_run(struct stat_run *s, struct diag *d)
{
	const struct options *a = s->args;
	int err = run_loop_open(&s->run_loop, d);

	if (!err)
		err = run_loop_find(&s->run_loop, a->run.command, d);
	if (err)
		return err;
	if (a->run.command)
		return child_prepare(a->run.command, &s->run_loop.mask, d, &s->run_loop.child);
	if (!a->stat.pid)
		return 0;
	if (!pid_namespace_has_proc("/proc")) {
		diag_fail(d, -EXDEV, "-p %d: /proc is of another pid namespace", a->stat.pid);
		return diag_advise(d, -EXDEV,
				   "mount that of this one: mount -t proc proc /proc, or unshare "
				   "--mount-proc");
	}
	s->pidfd = (int)syscall(SYS_pidfd_open, a->stat.pid, 0);
	if (s->pidfd < 0)
		return diag_fail(d, -errno, "cannot follow process %d: %s", a->stat.pid,
				 strerror(errno));
	return 0;
}

static int process_fd(void *arg)
{
	const struct stat_run *s = arg;

	return s->pidfd;
}

static int process_ended(void *arg, struct diag *d)
{
	struct stat_run *s = arg;

	(void)d;
	loop_end(&s->run_loop.loop);
	return 0;
}

static uint64_t next_ns(void *arg)
{
	const struct stat_run *s = arg;

	return stat_meter_next_ns(s->meter);
}

static int step(void *arg, struct diag *d)
{
	struct stat_run *s = arg;

	return stat_meter_step(s->meter, d);
}

static const struct loop_source sources[] = {
	{ .when = next_ns, .run = step },
	{ .fd = process_fd, .run = process_ended },
};

static int follow(struct stat_run *s, struct diag *d)
{
	int err = 0;

	for (size_t i = 0; !err && i < ARRAY_SIZE(sources); i++)
		err = loop_add(&s->run_loop.loop, &sources[i], s, d);
	return err ? err : run_loop_run(&s->run_loop, d);
}

static int write_report(struct stat_run *s, struct stat_report *r, struct diag *d)
{
	int err = formats_stat(&s->out, &s->args->run.output, r, d);

	return err ? err : output_show(&s->out, d);
}

static int write_interval(struct stat_run *s, struct diag *d)
{
	struct stat_report *r;
	int err = stat_meter_interval(s->meter, d, &r);

	if (err)
		return err;
	err = write_report(s, r, d);
	stat_report_free(r);
	return err;
}

static int on_interval(void *arg, struct diag *d)
{
	struct stat_run *s = arg;
	int err = stat_meter_read(s->meter, false, d);

	return err ? err : write_interval(s, d);
}

/* Did a count fail that more time would not have helped? Only the whole run can tell. */
static bool lacks_data(const struct stat_report *r)
{
	for (size_t i = 0; i < r->layout->nr_counters; i++)
		if (r->counts[i].absence != STAT_PRESENT)
			return true;
	for (size_t i = 0; i < r->layout->nr_metrics; i++)
		if (r->values[i].absence == STAT_APART)
			return true;
	for (size_t i = 0; i < r->layout->nr_pmus; i++)
		if (r->costs[i].failed)
			return true;
	return false;
}

/* The last interval, and the whole run. */
static int finish(struct stat_run *s, struct diag *d)
{
	struct stat_report *r;
	int err = stat_meter_read(s->meter, true, d);

	if (!err && s->args->run.interval_ns)
		err = write_interval(s, d);
	if (err)
		return err;
	err = stat_meter_summary(s->meter, d, &r);
	if (err)
		return err;
	s->incomplete = lacks_data(r);
	if (!s->args->run.interval_ns || s->args->run.output.summary || s->run_loop.interrupted)
		err = write_report(s, r, d);
	stat_report_free(r);
	return err;
}

static int count(struct stat_run *s, struct diag *d)
{
	int err = open_run(s, d);

	if (!err)
		err = choose(s, d);
	if (!err)
		err = start(s, d);
	if (!err)
		err = output_open(s->args->run.output.file, OUTPUT_REPORT, d, &s->out);
	if (!err && s->args->run.command)
		err = run_loop_start(&s->run_loop, s->args->run.command[0], d);
	if (!err)
		err = follow(s, d);
	if (!err)
		err = finish(s, d);
	return err;
}

static int run(struct options *o)
{
	struct stat_run s = { .run_loop = RUN_LOOP_INIT, .pidfd = -1, .args = o };
	struct diag d = { 0 };
	int err, status;

	if (o->run.esp)
		return esp_stat(o);
	if (o->counts.file)
		return counts_stat(o);
	s.run_loop.interval_ns = o->run.interval_ns;
	s.run_loop.duration_ns = o->run.duration_ns;
	s.run_loop.interval = on_interval;
	s.run_loop.arg = &s;
	err = count(&s, &d);
	err = output_close(&s.out, err, &d);
	/* From here on nothing is left in the kernel, whatever the command still does. */
	if (s.meter)
		stat_meter_stop(s.meter);
	if (err)
		output_diag(WHO, &d);
	else if (s.incomplete)
		fprintf(stderr, "%s: data is missing: the report says where and why\n", WHO);
	status = run_loop_close(&s.run_loop, err, s.incomplete);
	stat_meter_free(s.meter);
	if (s.pidfd >= 0)
		close(s.pidfd);
	return status;
}

static int check_counts(const struct options *o, struct diag *d)
{
	const struct stat_options *s = &o->stat;

	if (o->run.esp || o->run.command || o->run.duration_ns || s->pid || s->socket >= 0 ||
	    s->per_port || s->per_gpu || s->windows.nr || s->metrics.nr || s->events.nr)
		return diag_fail(d, -EINVAL,
				 "--counts shows all of a file: it goes with -i, --summary, --json "
				 "and how to show it only");
	return 0;
}

static int check(struct options *o, struct diag *d)
{
	const struct stat_options *s = &o->stat;
	int err = run_check_counts(&o->counts, d);

	if (err || o->counts.file)
		return err ? err : check_counts(o, d);
	if (s->pid && o->run.command)
		return diag_fail(d, -EINVAL, "-p and COMMAND exclude each other");
	if (o->run.esp && (s->pid || s->socket >= 0 || s->per_port || s->per_gpu || s->windows.nr))
		return diag_fail(d, -EINVAL,
				 "--esp counts whole tiles: without -p, --socket, --per-port, "
				 "--per-gpu and --window-of");
	if (o->run.esp && peaks_given(&o->run.peaks))
		return diag_fail(d, -EINVAL, "--peak: no metric of an ESP is compared with it");
	return 0;
}

const struct command command_stat = {
	.name = "stat",
	.brief = "counts and metrics of the uncore PMUs, system-wide",
	.args = "\n-p PID\n-- COMMAND [ARG...]",
	.doc = "Count with the uncore PMUs, system-wide, and show bandwidths, latencies and other "
	       "metrics per socket, root complex and link.",
	.more = "Without -d, -p and COMMAND it counts until Ctrl-C.",
	.bit = FOR_STAT,
	.statuses = 1u << EXIT_INCOMPLETE,
	.takes_command = true,
	.check = check,
	.run = run,
};
