// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/trace_args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

#define NS_PER_MS  1000000ull
#define MAX_PID	   4194304 /* PID_MAX_LIMIT of 64-bit kernels */
#define MAX_DAYS_S (366.0 * 86400)

enum {
	KEY_BY = 0x100,
	KEY_TOP,
	KEY_JSON,
	KEY_SUMMARY,
	KEY_WINDOW,
	KEY_NO_COUNTERS,
};

const char trace_doc[] =
	"Show which processes, threads or cgroups cause the memory traffic that the uncore "
	"counters of an NVIDIA T410 (Vera) see.\v"
	"Commands:\n"
	"  t410trace list     the uncore PMUs of this machine, their events and filters\n"
	"  t410trace check    what this machine has and lacks for t410trace\n"
	"\n"
	"Exit status: 0 done, 1 failed, 2 wrong arguments, 3 done but data is missing; with "
	"COMMAND its own status.";

const struct argp_option trace_options[] = {
	{ NULL, 0, NULL, 0, "What to follow:", 1 },
	{ "pid", 'p', "PID[,PID...]", 0,
	  "These processes: all threads, and every child they start from now on", 1 },
	{ "cgroup", 'G', "CGROUP[,...]", 0,
	  "Everything in these cgroups (path in the v2 tree) and below", 1 },
	{ "all", 'a', NULL, 0, "Every workload on the machine", 1 },
	{ NULL, 0, NULL, 0, "When to report:", 2 },
	{ "interval", 'i', "MS", 0, "Time between two reports (default 1000 ms)", 2 },
	{ "duration", 'd', "SECONDS", 0,
	  "End after this time; a COMMAND still running is left alone", 2 },
	{ "summary", KEY_SUMMARY, NULL, 0,
	  "One report for the whole run at the end; Ctrl-C always gives it", 2 },
	{ "window", KEY_WINDOW, "MS", 0,
	  "Time between two readings of the counters (default 10 ms)", 2 },
	{ NULL, 0, NULL, 0, "What to show:", 3 },
	{ "by", KEY_BY, "KIND", 0, "Rows are a process (default), cgroup or thread each", 3 },
	{ "top", KEY_TOP, "N", 0, "Only the N largest rows; the rest is added up", 3 },
	{ "json", KEY_JSON, NULL, 0, "JSON (t410trace.report/1), one report per line", 3 },
	{ "output", 'o', "FILE", 0, "Write to FILE instead of standard output", 3 },
	{ "quiet", 'q', NULL, 0, "Only numbers", 3 },
	{ "verbose", 'v', NULL, 0, "Also bounds, all losses, and what the tracer costs", 3 },
	{ "no-counters", KEY_NO_COUNTERS, NULL, 0,
	  "Only CPU time; works on any machine, for trying out the scheduler side", 3 },
	{ 0 },
};

/* Calls @add for each part of a list with commas. */
static void each_part(struct argp_state *state, const char *option, char *list,
		      void (*add)(struct argp_state *state, char *part))
{
	char *part;

	if (!list[0] || list[0] == ',' || list[strlen(list) - 1] == ',' || strstr(list, ",,"))
		argp_error(state, "%s %s: an empty entry in the list", option, list);
	while ((part = strsep(&list, ",")))
		add(state, part);
}

static void out_of_memory(struct argp_state *state)
{
	argp_failure(state, EXIT_FAILURE, ENOMEM, "arguments");
}

static void add_pid(struct argp_state *state, char *part)
{
	struct trace_args *a = state->input;
	uint64_t pid = 0;

	/* parse_u64() also takes hexadecimal, which no list of processes shows */
	if (part[strspn(part, "0123456789")] || parse_u64(part, &pid) || !pid || pid > MAX_PID)
		argp_error(state, "-p %s: not a process id", part);
	if (array_room(a->pids, a->cap_pids, a->nr_pids))
		out_of_memory(state);
	a->pids[a->nr_pids++] = pid;
}

static void add_cgroup(struct argp_state *state, char *part)
{
	struct trace_args *a = state->input;

	if (array_room(a->cgroups, a->cap_cgroups, a->nr_cgroups))
		out_of_memory(state);
	a->cgroups[a->nr_cgroups++] = part;
}

static uint64_t number_in(struct argp_state *state, const char *option, const char *text,
			  uint64_t min, uint64_t max, const char *unit)
{
	uint64_t value;

	if (parse_u64(text, &value) || value < min || value > max)
		argp_error(state, "%s %s: must be a whole number from %llu to %llu%s", option, text,
			   (unsigned long long)min, (unsigned long long)max, unit);
	return value;
}

static uint64_t seconds_ns(struct argp_state *state, const char *text)
{
	double seconds;

	if (parse_double(text, &seconds) || seconds < 0.001 || seconds > MAX_DAYS_S)
		argp_error(state, "-d %s: must be a number of seconds from 0.001 on", text);
	return seconds * 1e9;
}

static enum row_kind kind_named(struct argp_state *state, const char *text)
{
	static const enum row_kind kinds[] = { ROW_PROCESS, ROW_CGROUP, ROW_THREAD };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(text, row_kind_name(kinds[i])))
			return kinds[i];
	argp_error(state, "--by %s: must be process, cgroup or thread", text);
	return ROW_PROCESS;
}

/* All arguments are read: do they make sense together? */
static void check_together(struct argp_state *state, const struct trace_args *a)
{
	if (!a->nr_pids && !a->nr_cgroups && !a->all && !a->command)
		argp_error(state, "nothing to follow: give -p PID, -G CGROUP, -a or -- COMMAND");
	if (a->all && (a->nr_pids || a->nr_cgroups))
		argp_error(state, "-a follows everything: it cannot be combined with -p or -G");
	if (a->window_ns > a->interval_ns)
		argp_error(state, "--window is longer than the report interval (-i)");
	if (a->quiet && a->verbose)
		argp_error(state, "-q and -v exclude each other");
}

static error_t parse_show_option(int key, char *arg, struct argp_state *state)
{
	struct trace_args *a = state->input;

	switch (key) {
	case KEY_BY:
		a->by = kind_named(state, arg);
		return 0;
	case KEY_TOP:
		a->top = number_in(state, "--top", arg, 1, 1000000, "");
		return 0;
	case KEY_JSON:
		a->json = true;
		return 0;
	case 'o':
		a->output = arg;
		return 0;
	case 'q':
		a->quiet = true;
		return 0;
	case 'v':
		a->verbose = true;
		return 0;
	case KEY_NO_COUNTERS:
		a->no_counters = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct trace_args *a = state->input;

	switch (key) {
	case 'p':
		each_part(state, "-p", arg, add_pid);
		return 0;
	case 'G':
		each_part(state, "-G", arg, add_cgroup);
		return 0;
	case 'a':
		a->all = true;
		return 0;
	case 'i':
		a->interval_ns = NS_PER_MS * number_in(state, "-i", arg, INTERVAL_MIN_MS,
						       INTERVAL_MAX_MS, " ms");
		return 0;
	case 'd':
		a->duration_ns = seconds_ns(state, arg);
		return 0;
	case KEY_SUMMARY:
		a->summary = true;
		return 0;
	case KEY_WINDOW:
		a->window_ns = NS_PER_MS * number_in(state, "--window", arg, WINDOW_MIN_MS,
						     WINDOW_MAX_MS, " ms");
		return 0;
	case ARGP_KEY_ARGS:
		a->command = state->argv + state->next;
		return 0;
	case ARGP_KEY_END:
		check_together(state, a);
		return 0;
	}
	return parse_show_option(key, arg, state);
}

const struct argp trace_argp = {
	.options = trace_options,
	.parser = parse_option,
	.args_doc = "-p PID[,PID...]\n-G CGROUP[,...]\n-a [-- COMMAND [ARG...]]\n"
		    "-- COMMAND [ARG...]",
	.doc = trace_doc,
};

void trace_args_parse(int argc, char **argv, struct trace_args *ret)
{
	struct trace_args a = {
		.interval_ns = INTERVAL_DEFAULT_MS * NS_PER_MS,
		.window_ns = WINDOW_DEFAULT_MS * NS_PER_MS,
		.by = ROW_PROCESS,
	};

	/* In order: options behind COMMAND belong to it. */
	argp_parse(&trace_argp, argc, argv, ARGP_IN_ORDER, NULL, &a);
	*ret = a;
}

void trace_args_free(struct trace_args *args)
{
	free(args->pids);
	free(args->cgroups);
}
