// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* t410trace stat: what the PMUs count, system-wide, and metrics made of it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/counts_stat.h"
#include "cli/esp.h"
#include "live/course.h"
#include "cli/formats.h"
#include "cli/output.h"
#include "cli/run_check.h"
#include "engine/stat/stat_book.h"
#include "platform/pmu/explain.h"
#include "platform/pmu/platform_file.h"
#include "platform/meter/meter.h"
#include "platform/metrics/metric_select.h"
#include "platform/sys/pid_namespace.h"
#include "platform/sys/smbios.h"
#include "trace.h"

#define WHO		   "t410trace stat"

/*
 * A turn should be long against what changing turns costs, some microseconds for each PMU
 * of a CPU, and short against the changes of a workload. In an interval each set of events
 * should have had two turns, in a short one rather short turns than none.
 */
#define TURN_NS		   50000000ull
#define TURN_MANY_NS	   20000000ull
#define TURN_MIN_NS	   5000000ull
#define TURNS_PER_INTERVAL 8
/* For the guess how many sets there will be; what really fits only trying tells. */
#define EVENTS_PER_TURN	   6

struct stat_run {
	const struct options *args;
	struct course course;
	int pidfd; /* of -p */
	struct sysfs fs;
	struct pmu_list pmus;
	struct metric_selection selection;
	struct meter *meter;
	struct stat_book *book;
	struct host_info host;
	struct stat_cost *costs; /* by PMU of the layout */
	uint32_t *pmu_of;	 /* by number of the meter: PMU of the layout */
	uint32_t *counters;	 /* of the segment that is handed on */
	struct reading *readings;
	uint8_t *taken; /* by counter: it is in that segment already */
	FILE *out;
	uint64_t sequence;
	uint64_t cpu_ns, interval_cpu_ns; /* our CPU time when the run and the interval began */
	bool incomplete;
};

static uint64_t own_cpu_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static bool has_socket(const struct pmu_list *pmus, int32_t socket)
{
	for (size_t i = 0; i < pmus->nr; i++)
		if (pmus->pmus[i].socket == socket)
			return true;
	return false;
}

/* As live runs do. */
static void find_peaks(struct stat_run *s)
{
	const struct peaks_wanted *wanted = &s->args->run.peaks;
	uint32_t ids[SMBIOS_MAX_SOCKETS], nr = 0;
	struct diag absent = { 0 };

	for (; nr < s->host.sockets && nr < SMBIOS_MAX_SOCKETS; nr++)
		ids[nr] = nr;
	if (nr && !wanted->none && !wanted->bytes_per_s[PEAK_CMEM])
		smbios_peaks(&s->fs, ids, nr, &absent, &s->host.peaks);
	peaks_apply(&s->host.peaks, wanted);
}

static void describe_host(struct stat_run *s)
{
	const struct pmu_platform_row *platform;
	struct utsname u;

	if (!uname(&u)) {
		str_copy(s->host.name, sizeof(s->host.name), u.nodename);
		str_copy(s->host.kernel, sizeof(s->host.kernel), u.release);
	}
	platform = pmu_platform_row(pmu_list_platform(&s->pmus));
	str_copy(s->host.platform, sizeof(s->host.platform), platform ? platform->name : "none");
	for (size_t i = 0; i < s->pmus.nr; i++) {
		const struct pmu *pmu = &s->pmus.pmus[i];

		if (pmu->socket >= 0 && (uint32_t)pmu->socket >= s->host.sockets)
			s->host.sockets = pmu->socket + 1;
	}
	find_peaks(s);
}

/* Whose core events are counted. */
static void describe_cores(struct stat_run *s)
{
	const struct options *a = s->args;

	for (size_t i = 0; i < s->selection.layout.nr_pmus; i++) {
		struct stat_pmu *p = &s->selection.layout.pmus[i];

		if (!p->cores)
			continue;
		if (a->run.command)
			snprintf(p->title, sizeof(p->title), "COMMAND and what it starts");
		else if (a->stat.pid)
			snprintf(p->title, sizeof(p->title),
				 "process %d and what it starts from now on", a->stat.pid);
		else
			snprintf(p->title, sizeof(p->title), "all CPUs");
	}
}

static int add_notes(struct stat_run *s, struct diag *d)
{
	cleanup_texts struct text_list notes = { 0 };
	int err = pmu_notes(&s->pmus, s->host.kernel, &notes);

	for (size_t i = 0; !err && i < notes.nr; i++)
		err = metric_selection_note(&s->selection, notes.items[i]);
	return err ? diag_error(d, err, "cannot say how the PMUs are") : 0;
}

static int choose(struct stat_run *s, struct diag *d)
{
	const struct options *a = s->args;
	const struct metric_options o = {
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
	};
	int err = sysfs_open(NULL, d, &s->fs);

	if (!err)
		err = pmu_list_read(&s->fs, d, &s->pmus);
	if (!err)
		err = platform_file_check(&s->fs, &s->pmus, d);
	if (!err && a->stat.socket >= 0 && s->pmus.nr && !has_socket(&s->pmus, a->stat.socket)) {
		err = diag_fail(d, -ENODEV, "no uncore PMU is about socket %d", a->stat.socket);
		diag_help(d, "\"t410trace list\" shows which sockets there are");
	}
	if (!err)
		err = metric_select(&s->fs, &s->pmus, &o, d, &s->selection);
	if (!err && !s->selection.wants.nr) {
		if (!s->pmus.nr)
			return no_pmu_diag(&s->fs, d);
		err = diag_fail(d, -ENODEV, "no PMU here counts what was asked for");
		diag_help(d, "\"t410trace list\" shows the PMUs, their events and filters");
	}
	describe_host(s);
	describe_cores(s);
	return err ? err : add_notes(s, d);
}

/* What the kernel refused goes into the book, with a note for each PMU. */
static int note_refused(struct stat_run *s, struct diag *d)
{
	const struct stat_layout *l = &s->selection.layout;
	uint32_t last = UINT32_MAX;
	char text[512];
	int err = 0;

	for (size_t i = 0; !err && i < s->selection.wants.nr; i++) {
		int refused = meter_refused(s->meter, i);
		uint32_t counter = s->selection.counter_of[i];

		if (!refused)
			continue;
		stat_book_refuse(s->book, counter);
		if (l->counters[counter].pmu == last)
			continue;
		last = l->counters[counter].pmu;
		snprintf(text, sizeof(text), "%s is refused: %s", l->counters[counter].name,
			 strerror(-refused));
		err = metric_selection_note(&s->selection, text);
	}
	return err ? diag_error(d, err, "cannot say what is refused") : 0;
}

static uint64_t turn_length(const struct stat_run *s)
{
	const struct options *a = s->args;
	const struct stat_layout *l = &s->selection.layout;
	uint64_t time = NS_PER_S, turn, most = 1;

	if (a->run.interval_ns)
		time = a->run.interval_ns;
	else if (a->run.duration_ns)
		time = a->run.duration_ns;
	for (size_t i = 0, nr = 0; i < l->nr_counters; i++) {
		/* The kernel exchanges events of the cores, and not we. */
		if (l->pmus[l->counters[i].pmu].cores)
			continue;
		/* counters of a PMU follow each other, mostly */
		nr = i && l->counters[i].pmu == l->counters[i - 1].pmu ? nr + 1 : 1;
		most = nr > most ? nr : most;
	}
	turn = time / 2 / (most / EVENTS_PER_TURN + 1);
	if (turn < TURN_MANY_NS)
		turn = TURN_MANY_NS;
	if (turn > time / TURNS_PER_INTERVAL)
		turn = time / TURNS_PER_INTERVAL;
	if (turn < TURN_MIN_NS)
		turn = TURN_MIN_NS;
	return turn < TURN_NS ? turn : TURN_NS;
}

static int start(struct stat_run *s, struct diag *d)
{
	const struct options *a = s->args;
	const struct stat_layout *l = &s->selection.layout;
	struct meter_options o = {
		.budget = a->run.read_budget,
		.turn_ns = turn_length(s),
		.pid = s->course.child.pid ? s->course.child.pid : a->stat.pid,
		.enable_on_exec = a->run.command,
	};
	int err;

	s->costs = calloc(l->nr_pmus + 1, sizeof(*s->costs));
	s->pmu_of = calloc(l->nr_pmus + 1, sizeof(*s->pmu_of));
	s->counters = calloc(l->nr_counters + 1, sizeof(*s->counters));
	s->readings = calloc(l->nr_counters + 1, sizeof(*s->readings));
	s->taken = calloc(l->nr_counters + 1, sizeof(*s->taken));
	if (!s->costs || !s->pmu_of || !s->counters || !s->readings || !s->taken)
		return diag_no_memory(d);
	s->cpu_ns = own_cpu_ns();
	s->interval_cpu_ns = s->cpu_ns;
	err = stat_book_new(l, monotonic_ns(), d, &s->book);
	if (!err)
		err = meter_open(&s->selection.wants, &s->fs, &o, d, &s->meter);
	if (err)
		return err;
	for (size_t i = 0; i < s->selection.wants.nr; i++) {
		uint32_t number = meter_pmu(s->meter, i);

		if (number < l->nr_pmus)
			s->pmu_of[number] = l->counters[s->selection.counter_of[i]].pmu;
	}
	return note_refused(s, d);
}

/* From wants, of which several may mean the same event, to counters. */
static int on_segment(void *arg, const struct stat_segment *segment)
{
	struct stat_run *s = arg;
	const struct stat_layout *l = &s->selection.layout;
	struct stat_segment mine = *segment;

	mine.nr = 0;
	mine.counters = s->counters;
	mine.readings = s->readings;
	if (segment->pmu >= l->nr_pmus)
		return -EINVAL;
	mine.pmu = s->pmu_of[segment->pmu];
	for (size_t i = 0; i < segment->nr; i++) {
		uint32_t counter = s->selection.counter_of[segment->counters[i]];

		if (s->taken[counter])
			continue;
		s->taken[counter] = 1;
		s->counters[mine.nr] = counter;
		s->readings[mine.nr++] = segment->readings[i];
	}
	for (size_t i = 0; i < mine.nr; i++)
		s->taken[s->counters[i]] = 0;
	return stat_book_segment(s->book, &mine);
}

/* Signals, the command's process (it waits), or the process to follow. */
static int open_run(struct stat_run *s, struct diag *d)
{
	const struct options *a = s->args;
	int err = course_open(&s->course, d);

	if (err)
		return err;
	if (a->run.command)
		return child_prepare(a->run.command, &s->course.mask, d, &s->course.child);
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
	loop_end(&s->course.loop);
	return 0;
}

static uint64_t next_ns(void *arg)
{
	const struct stat_run *s = arg;

	return meter_next_ns(s->meter);
}

static int step(void *arg, struct diag *d)
{
	struct stat_run *s = arg;
	const struct meter_sink sink = { on_segment, s };

	return meter_step(s->meter, monotonic_ns(), &sink, d);
}

static const struct loop_source sources[] = {
	{ .when = next_ns, .run = step },
	{ .fd = process_fd, .run = process_ended },
};

static int follow(struct stat_run *s, struct diag *d)
{
	int err = 0;

	for (size_t i = 0; !err && i < ARRAY_SIZE(sources); i++)
		err = loop_add(&s->course.loop, &sources[i], s, d);
	return err ? err : course_run(&s->course, d);
}

static int write_report(struct stat_run *s, struct stat_report *r, struct diag *d)
{
	const struct options *a = s->args;
	uint64_t cpu_ns = own_cpu_ns();

	r->host = &s->host;
	r->sequence = s->sequence++;
	r->start_time_ns = clock_ns(CLOCK_REALTIME) - (monotonic_ns() - r->start_ns);
	r->budget = a->run.read_budget;
	r->busiest = meter_busiest(s->meter);
	r->cpu_ns = cpu_ns - (r->summary ? s->cpu_ns : s->interval_cpu_ns);
	s->interval_cpu_ns = cpu_ns;
	return formats_stat(s->out, &a->run.output, r, d);
}

static int read_all(struct stat_run *s, bool last, struct diag *d)
{
	const struct stat_layout *l = &s->selection.layout;
	const struct meter_sink sink = { on_segment, s };
	int err = meter_read(s->meter, last, &sink, d);

	for (size_t i = 0; !err && i < l->nr_pmus; i++)
		meter_cost(s->meter, i, &s->costs[s->pmu_of[i]]);
	return err;
}

static int write_interval(struct stat_run *s, struct diag *d)
{
	struct stat_report *r;
	int err = stat_book_interval(s->book, monotonic_ns(), s->costs, &r);

	if (err)
		return diag_error(d, err, "cannot make the report");
	err = write_report(s, r, d);
	stat_report_free(r);
	return err;
}

static int on_interval(void *arg, struct diag *d)
{
	struct stat_run *s = arg;
	int err = read_all(s, false, d);

	return err ? err : write_interval(s, d);
}

/* Did something fail that more time would not have brought? Only the whole run can tell. */
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
	int err = read_all(s, true, d);

	if (!err && s->args->run.interval_ns)
		err = write_interval(s, d);
	if (err)
		return err;
	err = stat_book_summary(s->book, monotonic_ns(), s->costs, &r);
	if (err)
		return diag_error(d, err, "cannot make the report");
	s->incomplete = lacks_data(r);
	if (!s->args->run.interval_ns || s->args->run.output.summary || s->course.interrupted)
		err = write_report(s, r, d);
	stat_report_free(r);
	return err;
}

static int count(struct stat_run *s, struct diag *d)
{
	int err = choose(s, d);

	if (!err)
		err = open_run(s, d);
	if (!err)
		err = start(s, d);
	/* Not before all else is well: it empties a file that may be wanted. */
	if (!err)
		err = output_open(s->args->run.output.file, d, &s->out);
	if (!err && s->args->run.command)
		err = course_start(&s->course, s->args->run.command[0], d);
	if (!err)
		err = follow(s, d);
	if (!err)
		err = finish(s, d);
	return err;
}

static void release(struct stat_run *s)
{
	stat_book_free(s->book);
	metric_selection_free(&s->selection);
	pmu_list_free(&s->pmus);
	sysfs_close(&s->fs);
	free(s->costs);
	free(s->pmu_of);
	free(s->counters);
	free(s->readings);
	free(s->taken);
	if (s->pidfd >= 0)
		close(s->pidfd);
}

static int run(struct options *o)
{
	struct stat_run s = { .course = COURSE_INIT, .pidfd = -1, .fs = { .fd = -1 }, .args = o };
	struct diag d = { 0 };
	int err, closed, status;

	if (o->run.esp)
		return esp_stat(o);
	if (o->counts.file)
		return counts_stat(o);
	s.course.interval_ns = o->run.interval_ns;
	s.course.duration_ns = o->run.duration_ns;
	s.course.interval = on_interval;
	s.course.arg = &s;
	err = count(&s, &d);
	closed = output_close(s.out, o->run.output.file, err ? NULL : &d);
	if (!err)
		err = closed;
	/* Nothing is left in the kernel from here on, whatever the command still does. */
	meter_close(s.meter);
	if (err)
		output_diag(WHO, &d);
	else if (s.incomplete)
		fprintf(stderr, "%s: data is missing: the report says where and why\n", WHO);
	status = course_close(&s.course, err, s.incomplete);
	release(&s);
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
	for (int i = 0; o->run.esp && i < NR_PEAKS; i++)
		if (o->run.peaks.bytes_per_s[i])
			return diag_fail(d, -EINVAL,
					 "--peak: no metric of an ESP is compared with it");
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
