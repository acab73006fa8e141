// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/trace_args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "platform/sys/cgroup1.h"
#include "platform/core/weights.h"

#define NS_PER_MS    1000000ull
/* A recording needs room for a few blocks and the names of all tasks. */
#define MAX_SIZE_MIN (1u << 20)

enum {
	KEY_BY = ARG_OWN,
	KEY_RISE,
	KEY_TOP,
	KEY_WINDOW,
	KEY_NO_COUNTERS,
	KEY_MAX_SIZE,
	KEY_FORMAT,
	KEY_METHOD,
	KEY_COMPARE,
	KEY_WEIGHTS,
	KEY_SPLIT,
	KEY_PROBE_INTERVAL,
	KEY_READ_BUDGET,
	KEY_PCI_MAP,
	KEY_CGROUP_V1,
};

/* Which commands take an option. */
#define LIVE   (1u << COMMAND_LIVE)
#define RECORD (1u << COMMAND_RECORD)
#define REPORT (1u << COMMAND_REPORT)
#define NEAR   (1u << COMMAND_NEIGHBOURS)
#define RUN    (LIVE | RECORD | NEAR)
#define SHOW   (LIVE | REPORT | NEAR)
#define ALL    (LIVE | RECORD | REPORT | NEAR)

static const struct row {
	unsigned int commands;
	struct argp_option option;
} rows[] = {
	{ RUN, { NULL, 0, NULL, 0, "What to follow:", 1 } },
	{ REPORT,
	  { NULL, 0, NULL, 0, "What to show (default: what was asked for when recording):", 1 } },
	{ RUN,
	  { "pid", 'p', "PID[,PID...]", 0,
	    "These processes: all threads, and every child they start from now on", 1 } },
	{ REPORT,
	  { "pid", 'p', "PID[,PID...]", 0,
	    "These processes: all threads, and every child they start in the recording", 1 } },
	{ ALL,
	  { "cgroup", 'G', "CGROUP[,...]", 0,
	    "Everything in these cgroups (path in the v2 tree, or as freezer:/PATH) and below",
	    1 } },
	{ RUN,
	  { "cgroup-v1", KEY_CGROUP_V1, "CONTROLLER", 0,
	    "Where tasks are in a v1 cgroup of this controller, that one is theirs instead of the "
	    "v2 "
	    "one; none, or auto (default: freezer or cpuset, if mounted as v1)",
	    1 } },
	{ ALL,
	  { "job", 'J', "JOBID[,...]", 0,
	    "Jobs of this id, as 12 or slurm:12 (slurm, flux, kubernetes, docker, podman, libvirt, "
	    "systemd), also those that begin later",
	    1 } },
	{ LIVE | REPORT, { "all", 'a', NULL, 0, "Every workload on the machine", 1 } },
	{ RECORD | NEAR,
	  { "all", 'a', NULL, 0, "Every workload on the machine (default when nothing is given)",
	    1 } },
	{ LIVE | RECORD,
	  { "device", 'D', "DEVICE[,...]", 0,
	    "Also what these PCIe devices move, and who makes them: a PCI address, nvme0n1, eth0, "
	    "mlx5_0, or all",
	    1 } },
	{ LIVE | RECORD, { NULL, 0, NULL, 0, "When to report:", 2 } },
	{ NEAR, { NULL, 0, NULL, 0, "How it is measured:", 2 } },
	{ REPORT, { NULL, 0, NULL, 0, "How it is divided:", 2 } },
	{ LIVE, { "interval", 'i', "MS", 0, "Time between two reports (default 1000 ms)", 2 } },
	{ RECORD,
	  { "interval", 'i', "MS", 0, "Time between two reports of the recording (default 1000 ms)",
	    2 } },
	{ REPORT,
	  { "interval", 'i', "MS", 0,
	    "Time between two reports (default: as recorded, otherwise 1000 ms)", 2 } },
	{ NEAR,
	  { "interval", 'i', "MS", 0,
	    "Time that is estimated in one piece (default 1000 ms; of a recording: as recorded)",
	    2 } },
	{ RUN,
	  { "duration", 'd', "SECONDS", 0,
	    "End after this time; a COMMAND still running is left alone", 2 } },
	{ LIVE,
	  { "summary", ARG_SUMMARY, NULL, 0,
	    "One report for the whole run at the end; Ctrl-C always gives it", 2 } },
	{ REPORT, { "summary", ARG_SUMMARY, NULL, 0, "One report for the whole recording", 2 } },
	{ RUN,
	  { "window", KEY_WINDOW, "MS", 0,
	    "Time between two readings of the counters (default 10 ms)", 2 } },
	{ RUN,
	  { "probe-interval", KEY_PROBE_INTERVAL, "MS", 0,
	    "Time between two readings of latencies, if the budget allows it (default 100 ms)",
	    2 } },
	{ RUN,
	  { "read-budget", KEY_READ_BUDGET, "PERCENT", 0,
	    "Part of a CPU's time that readings of latencies may take (default 0.5), and as much "
	    "again those of devices, whose turns of 50 ms are longer if need be; 0 leaves "
	    "latencies out",
	    2 } },
	{ LIVE | RECORD,
	  { "pci-map", KEY_PCI_MAP, "FILE", 0,
	    "Where root ports are, if firmware does not say: lines \"ADDRESS socket=S rc=R rp=P\"",
	    1 } },
	{ NEAR,
	  { "rise", KEY_RISE, "PERCENT", 0,
	    "So much above its lower quartile a latency is high (default 20)", 3 } },
	{ SHOW, { NULL, 0, NULL, 0, "How to show it:", 3 } },
	{ RECORD, { NULL, 0, NULL, 0, "What to write:", 3 } },
	{ LIVE,
	  { "by", KEY_BY, "KIND", 0, "Rows are a process (default), cgroup, job or thread each",
	    3 } },
	{ REPORT,
	  { "by", KEY_BY, "KIND", 0,
	    "Rows are a process, cgroup, job or thread each (default: as recorded)", 3 } },
	{ NEAR,
	  { "by", KEY_BY, "KIND", 0,
	    "Rows are a process, cgroup, job or thread each (default: process, or as recorded)",
	    3 } },
	{ RECORD,
	  { "by", KEY_BY, "KIND", 0,
	    "Record by process (default), which cgroups and jobs can be made from, or by thread",
	    3 } },
	{ LIVE | REPORT,
	  { "top", KEY_TOP, "N", 0, "Only the N largest rows; the rest is added up", 3 } },
	{ NEAR, { "top", KEY_TOP, "N", 0, "Only N rows, those that rose first (default 20)", 3 } },
	{ NEAR, { "json", ARG_JSON, NULL, 0, "JSON (t410trace.neighbours/1), on one line", 3 } },
	{ LIVE | REPORT,
	  { "json", ARG_JSON, NULL, 0, "JSON (t410trace.report/1), one report per line", 3 } },
	{ SHOW,
	  { "method", KEY_METHOD, "METHOD", 0,
	    "How windows are split: state-space (default), weights or cpu-time", 3 } },
	{ REPORT,
	  { "compare", KEY_COMPARE, "METHOD,METHOD", 0,
	    "Show what two or three methods make of the same recording, side by side", 3 } },
	{ RUN,
	  { "split", KEY_SPLIT, "destination", 0,
	    "Also tell where the bytes go that tasks and devices cause: CMEM, GMEM, CXL or another "
	    "socket; "
	    "counters may take turns then",
	    3 } },
	{ REPORT,
	  { "split", KEY_SPLIT, "destination", 0,
	    "Also show where the bytes go that tasks cause, if that was recorded", 3 } },
	{ SHOW, { "output", 'o', "FILE", 0, "Write to FILE instead of standard output", 3 } },
	{ RECORD, { "output", 'o', "FILE", 0, "The recording; must be given", 3 } },
	{ RECORD,
	  { "format", KEY_FORMAT, "FORMAT", 0,
	    "recording (default; compact) or ndjson (t410trace.trace/1; FILE may be -)", 3 } },
	{ RECORD,
	  { "max-size", KEY_MAX_SIZE, "SIZE", 0,
	    "Keep the newest part in at most SIZE bytes; K, M and G are 1024-fold", 3 } },
	{ SHOW, { "quiet", 'q', NULL, 0, "Only numbers", 3 } },
	{ RECORD, { "quiet", 'q', NULL, 0, "Say nothing at the end", 3 } },
	{ NEAR,
	  { "verbose", 'v', NULL, 0, "Also all rows, how sure changes are, and all losses", 3 } },
	{ LIVE | REPORT,
	  { "verbose", 'v', NULL, 0, "Also bounds, all losses, and what the tracer costs", 3 } },
	{ RECORD, { "verbose", 'v', NULL, 0, "Say what is followed and counted", 3 } },
	{ RUN,
	  { "weights", KEY_WEIGHTS, "EVENT[,EVENT]", 0,
	    "Core events that measure what tasks do (the second one: writes), auto (default) or "
	    "cpu-time",
	    3 } },
	{ LIVE | RECORD,
	  { "no-counters", KEY_NO_COUNTERS, NULL, 0,
	    "Only CPU time; works on any machine, for trying out the scheduler side", 3 } },
};

const struct argp_option *trace_args_options(enum trace_command command)
{
	static struct argp_option made[NR_TRACE_COMMANDS][ARRAY_SIZE(rows) + 1];
	size_t nr = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].commands & (1u << command))
			made[command][nr++] = rows[i].option;
	return made[command];
}

/* What the rows fill in; the options come first, for those who need no more. */
struct input {
	struct run_options options;
	enum trace_command command;
};

static void add_pid(struct argp_state *state, char *part)
{
	struct run_options *a = state->input;

	if (array_room(a->pids, a->cap_pids, a->nr_pids))
		arg_no_memory(state);
	a->pids[a->nr_pids++] = arg_pid(state, part);
}

static void add_cgroup(struct argp_state *state, char *part)
{
	struct run_options *a = state->input;

	if (array_room(a->cgroups, a->cap_cgroups, a->nr_cgroups))
		arg_no_memory(state);
	a->cgroups[a->nr_cgroups++] = part;
}

static void add_job(struct argp_state *state, char *part)
{
	struct run_options *a = state->input;
	enum scheduler scheduler;
	const char *id;

	if (!job_text_parse(part, &scheduler, &id))
		argp_error(state,
			   "-J %s: must be the id of a job, as in 12 or slurm:12; schedulers are "
			   "slurm, flux, kubernetes, docker, podman, libvirt and systemd",
			   part);
	if (array_room(a->jobs, a->cap_jobs, a->nr_jobs))
		arg_no_memory(state);
	a->jobs[a->nr_jobs++] = part;
}

static void add_device(struct argp_state *state, char *part)
{
	struct run_options *a = state->input;

	if (array_room(a->devices, a->cap_devices, a->nr_devices))
		arg_no_memory(state);
	a->devices[a->nr_devices++] = part;
}

static enum row_kind kind_named(struct argp_state *state, const char *text)
{
	static const enum row_kind kinds[] = { ROW_PROCESS, ROW_CGROUP, ROW_THREAD, ROW_JOB };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(text, row_kind_name(kinds[i])))
			return kinds[i];
	argp_error(state, "--by %s: must be process, cgroup, job or thread", text);
	return ROW_PROCESS;
}

static enum method method_named(struct argp_state *state, const char *option, const char *text)
{
	enum method m = method_find(text);

	if (m == NR_METHODS)
		argp_error(state, "%s %s: methods are state-space, weights and cpu-time", option,
			   text);
	return m;
}

static void add_method(struct argp_state *state, char *part)
{
	struct run_options *a = state->input;
	enum method method = method_named(state, "--compare", part);

	for (size_t i = 0; i < a->nr_methods; i++)
		if (a->methods[i] == method)
			argp_error(state, "--compare: %s is there twice", part);
	a->methods[a->nr_methods++] = method;
}

/* "64M", "1G", "500000" */
static uint64_t size_of(struct argp_state *state, const char *text)
{
	static const char units[] = "KMG";
	size_t length = strlen(text);
	const char *unit = length ? strchr(units, text[length - 1]) : NULL;
	unsigned int shift = unit ? 10 * (unit - units + 1) : 0;
	char digits[24];
	uint64_t value;

	if (unit)
		length--;
	if (length >= sizeof(digits))
		length = 0;
	memcpy(digits, text, length);
	digits[length] = '\0';
	if (!length || digits[strspn(digits, "0123456789")] || parse_u64(digits, &value) ||
	    value > UINT64_MAX >> shift || value << shift < MAX_SIZE_MIN) {
		argp_error(state, "--max-size %s: must be a size from %uK on, as in 64M or 1G",
			   text, MAX_SIZE_MIN >> 10);
		return 0;
	}
	return value << shift;
}

/* Names are looked up when the machine is; here they must be some. */
static const char *weights_of(struct argp_state *state, const char *text)
{
	char names[LEDGER_MAX_WEIGHTS][WEIGHT_NAME_LEN];
	struct diag d = { 0 };
	uint32_t nr;

	if (weight_spec_parse(text, &d, names, &nr))
		argp_error(state, "--%s", d.what);
	return text;
}

static bool has_events(const struct run_options *a)
{
	return strcmp(a->weights, "auto") != 0 && strcmp(a->weights, "cpu-time") != 0;
}

/* What only a live run or a recording needs to be told. */
static void check_run(struct argp_state *state, struct run_options *a)
{
	const struct input *in = state->input;
	bool none = !a->nr_pids && !a->nr_cgroups && !a->nr_jobs && !a->all && !a->command;

	if (none && in->command == COMMAND_LIVE)
		argp_error(state,
			   "nothing to follow: give -p PID, -G CGROUP, -J JOBID, -a or -- COMMAND");
	if (none)
		a->all = true;
	if (!a->interval_ns)
		a->interval_ns = RUN_INTERVAL_NS;
	if (in->command == COMMAND_NEIGHBOURS && a->read_budget <= 0)
		argp_error(state, "--read-budget 0: without latencies there is nothing to compare");
	if (a->window_ns > a->interval_ns)
		argp_error(state, "--window is longer than the report interval (-i)");
	if (has_events(a) && a->methods[0] == METHOD_CPU_TIME)
		argp_error(state, "--weights %s: --method cpu-time would not use it", a->weights);
	if (a->pci_map && !a->nr_devices)
		argp_error(state, "--pci-map %s: it is for devices, which -D chooses", a->pci_map);
	if (a->no_counters && a->by_destination)
		argp_error(state, "--split destination: nothing is counted with --no-counters");
	if (in->command != COMMAND_RECORD)
		return;
	if (!a->output.file)
		argp_error(state, "where to? give -o FILE");
	else if (!strcmp(a->output.file, "-") && !a->ndjson)
		argp_error(state, "-o -: only --format ndjson can go to the standard output");
	if (a->by == ROW_CGROUP || a->by == ROW_JOB)
		argp_error(state,
			   "--by %s: record by process; \"t410trace report\" makes %ss of it",
			   row_kind_name(a->by), row_kind_name(a->by));
	if (a->ndjson && a->max_bytes)
		argp_error(state, "--max-size needs --format recording");
}

/* All arguments are read: do they make sense together? */
static void check_together(struct argp_state *state, struct run_options *a)
{
	const struct input *in = state->input;

	if (a->all && (a->nr_pids || a->nr_cgroups || a->nr_jobs))
		argp_error(state, "-a follows everything: it cannot be combined with -p, -G or -J");
	if (in->command == COMMAND_NEIGHBOURS && a->file && (a->command || a->duration_ns))
		argp_error(state, "%s is a recording: -d and COMMAND are for live runs", a->file);
	if (in->command != COMMAND_REPORT && !a->file)
		check_run(state, a);
	else if (!a->file)
		argp_error(state, "which recording? give its FILE, or - for the standard input");
	if (a->by_destination && a->nr_methods > 1)
		argp_error(state, "--split and --compare exclude each other");
}

static error_t parse_show_option(int key, char *arg, struct argp_state *state)
{
	struct run_options *a = state->input;

	switch (key) {
	case KEY_BY:
		a->by = kind_named(state, arg);
		a->by_given = true;
		return 0;
	case KEY_RISE:
		if (parse_double(arg, &a->rise) || a->rise < 1 || a->rise > 10000)
			argp_error(state, "--rise %s: must be a percentage from 1 to 10000", arg);
		a->rise /= 100;
		return 0;
	case KEY_TOP:
		a->top = arg_number_in(state, "--top", arg, 1, 1000000, "");
		return 0;
	case KEY_SPLIT:
		if (strcmp(arg, "destination") != 0)
			argp_error(state, "--split %s: must be destination", arg);
		a->by_destination = true;
		return 0;
	case KEY_METHOD:
		a->methods[0] = method_named(state, "--method", arg);
		a->nr_methods = 1;
		return 0;
	case KEY_COMPARE:
		a->nr_methods = 0;
		arg_each_part(state, "--compare", arg, add_method);
		if (a->nr_methods < 2)
			argp_error(state, "--compare: give at least two methods");
		return 0;
	}
	return arg_output(key, arg, state, &a->output);
}

static error_t parse_record_option(int key, char *arg, struct argp_state *state)
{
	struct run_options *a = state->input;

	switch (key) {
	case KEY_NO_COUNTERS:
		a->no_counters = true;
		return 0;
	case KEY_MAX_SIZE:
		a->max_bytes = size_of(state, arg);
		return 0;
	case KEY_WEIGHTS:
		a->weights = weights_of(state, arg);
		return 0;
	case KEY_PROBE_INTERVAL:
		a->probe_ns = NS_PER_MS * arg_number_in(state, "--probe-interval", arg,
							PROBE_MIN_MS, INTERVAL_MAX_MS, " ms");
		return 0;
	case KEY_READ_BUDGET:
		a->read_budget = arg_budget(state, arg, 0);
		return 0;
	case KEY_PCI_MAP:
		a->pci_map = arg;
		return 0;
	case KEY_CGROUP_V1:
		if (!cgroup1_is_wanted(arg))
			argp_error(state,
				   "--cgroup-v1 %s: must be none, auto or a controller such as "
				   "freezer or cpuset",
				   arg);
		a->cgroup_v1 = arg;
		return 0;
	case KEY_FORMAT:
		a->ndjson = !strcmp(arg, "ndjson");
		if (!a->ndjson && strcmp(arg, "recording"))
			argp_error(state, "--format %s: must be recording or ndjson", arg);
		return 0;
	}
	return parse_show_option(key, arg, state);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct input *in = state->input;
	struct run_options *a = &in->options;

	switch (key) {
	case 'p':
		arg_each_part(state, "-p", arg, add_pid);
		return 0;
	case 'G':
		arg_each_part(state, "-G", arg, add_cgroup);
		return 0;
	case 'J':
		arg_each_part(state, "-J", arg, add_job);
		return 0;
	case 'D':
		arg_each_part(state, "-D", arg, add_device);
		return 0;
	case 'a':
		a->all = true;
		return 0;
	case 'i':
		a->interval_ns = arg_interval_ns(state, arg);
		return 0;
	case 'd':
		a->duration_ns = arg_seconds_ns(state, arg);
		return 0;
	case KEY_WINDOW:
		a->window_ns = NS_PER_MS * arg_number_in(state, "--window", arg, WINDOW_MIN_MS,
							 WINDOW_MAX_MS, " ms");
		return 0;
	case ARGP_KEY_ARG:
		/* Behind "--", and without recordings: ARGP_KEY_ARGS takes them all. */
		if (in->command != COMMAND_REPORT &&
		    (in->command != COMMAND_NEIGHBOURS || state->quoted))
			return ARGP_ERR_UNKNOWN;
		if (a->file)
			argp_error(state, "%s: one recording at a time", arg);
		a->file = arg;
		return 0;
	case ARGP_KEY_ARGS:
		a->command = state->argv + state->next;
		return 0;
	case ARGP_KEY_END:
		check_together(state, a);
		return 0;
	}
	return parse_record_option(key, arg, state);
}

static const char *const args_docs[] = {
	[COMMAND_LIVE] =
		"-p PID[,PID...]\n-G CGROUP[,...]\n-J JOBID[,...]\n-a [-- COMMAND [ARG...]]\n"
		"-- COMMAND [ARG...]",
	[COMMAND_RECORD] = "-o FILE\n-o FILE -p PID[,PID...]\n-o FILE -G CGROUP[,...]\n-o FILE -J "
			   "JOBID[,...]\n"
			   "-o FILE -- COMMAND [ARG...]",
	[COMMAND_REPORT] = "FILE",
	[COMMAND_NEIGHBOURS] = "[-- COMMAND [ARG...]]\n-p PID[,PID...]\n-G CGROUP[,...]\n-J "
			       "JOBID[,...]\nFILE",
};

static const char *const docs[] = {
	[COMMAND_LIVE] =
		"Show which processes, threads, cgroups or jobs cause the memory traffic that the "
		"uncore counters of an NVIDIA T410 (Vera) or Grace see.\v"
		"Commands:\n"
		"  t410trace record      write a recording instead of reports\n"
		"  t410trace report      reports from a recording\n"
		"  t410trace stat        counts and metrics of the uncore PMUs, system-wide\n"
		"  t410trace neighbours  who moved more while a latency was high\n"
		"  t410trace serve       keep accounts of jobs: reports, totals, metrics\n"
		"  t410trace job         the account of a job\n"
		"  t410trace jobs        the jobs that accounts were kept of\n"
		"  t410trace list        the uncore PMUs here, their events and filters\n"
		"  t410trace topology    PCI devices, and the PMUs that count them\n"
		"  t410trace check       what this machine has and lacks for t410trace\n"
		"\n"
		"Exit status: 0 done, 1 failed, 2 wrong arguments, 3 done but data is missing; "
		"with "
		"COMMAND its own status.",
	[COMMAND_RECORD] =
		"Record what t410trace would report: \"t410trace report FILE\" shows it later, on "
		"any machine.\v"
		"Exit status: 0 done, 1 failed, 2 wrong arguments, 3 the recording lacks "
		"something; "
		"with COMMAND its own status.",
	[COMMAND_REPORT] =
		"Show the reports of a recording, as the live run would have shown them. FILE is a "
		"recording or NDJSON (t410trace.trace/1); - is the standard input.\v"
		"Exit status: 0 done, 1 failed, 2 wrong arguments, 3 done but data is missing.",
	[COMMAND_NEIGHBOURS] =
		"Show who held how much bandwidth while a latency was high: live, until -d, Ctrl-C "
		"or the end of COMMAND, or from a recording.\v"
		"What rose together with a latency may be its cause; that is not proof.\n"
		"\n"
		"Exit status: 0 done, 1 failed, 2 wrong arguments, 3 done but data is missing; "
		"with COMMAND its own status.",
};

void trace_args_parse(enum trace_command command, int argc, char **argv, struct run_options *ret)
{
	const struct argp argp = {
		.options = trace_args_options(command),
		.parser = parse_option,
		.args_doc = args_docs[command],
		.doc = docs[command],
	};
	struct input in = { .options = run_options_default(), .command = command };

	in.options.neighbours = command == COMMAND_NEIGHBOURS;
	if (command == COMMAND_REPORT || command == COMMAND_NEIGHBOURS)
		in.options.interval_ns = 0;
	/* In order: options behind COMMAND belong to it. */
	argp_parse(&argp, argc, argv, command == COMMAND_REPORT ? 0 : ARGP_IN_ORDER, NULL, &in);
	*ret = in.options;
}
