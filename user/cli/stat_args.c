// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/stat_args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

#define BUDGET_DEFAULT 0.005
#define BUDGET_MIN     0.001 /* percent */
#define MAX_SOCKET     255

enum {
	KEY_SOCKET = ARG_OWN,
	KEY_BUDGET,
	KEY_PER_PORT,
	KEY_PER_GPU,
	KEY_WINDOW_OF,
};

const struct argp_option stat_options[] = {
	{ NULL, 0, NULL, 0, "What to count (default: all metrics of the PMUs found):", 1 },
	{ "metrics", 'M', "METRIC[,...]", 0,
	  "These metrics: the whole name, its last part, or a pattern with * and ?", 1 },
	{ "event", 'e', "EVENT[,...]", 0,
	  "These events, written as for perf: PMU/EVENT,FILTER=VALUE/, {groups}, names of core and "
	  "software events; may be given several times",
	  1 },
	{ "socket", KEY_SOCKET, "N", 0, "Only PMUs of this socket", 1 },
	{ "per-port", KEY_PER_PORT, NULL, 0, "Metrics of each root port or link port apart", 1 },
	{ "per-gpu", KEY_PER_GPU, NULL, 0, "Metrics of each GPU of NVLink-C2C apart", 1 },
	{ "window-of", KEY_WINDOW_OF, "BDF:BARn", 0,
	  "PCIe target traffic to the address window of this BAR; may be given several times", 1 },
	{ "pid", 'p', "PID", 0,
	  "Until this process ends; core metrics and events are about it and its children to be",
	  1 },
	{ NULL, 0, NULL, 0, "When to report:", 2 },
	{ "interval", 'i', "MS", 0, "Time between two reports (default: one report at the end)",
	  2 },
	{ "duration", 'd', "SECONDS", 0,
	  "End after this time; a COMMAND still running is left alone", 2 },
	{ "summary", ARG_SUMMARY, NULL, 0,
	  "With -i, a report of the whole run at the end as well; Ctrl-C always gives it", 2 },
	{ "read-budget", KEY_BUDGET, "PERCENT", 0,
	  "Part of a CPU's time that readings may take (default 0.5); beyond it PMUs are read "
	  "less often",
	  2 },
	{ NULL, 0, NULL, 0, "How to show it:", 3 },
	{ "json", ARG_JSON, NULL, 0, "JSON (t410trace.stat/1), one report per line", 3 },
	{ "output", 'o', "FILE", 0, "Write to FILE instead of standard output", 3 },
	{ "quiet", 'q', NULL, 0, "Only numbers", 3 },
	{ "verbose", 'v', NULL, 0, "Also PMUs without traffic, and the counts behind metrics", 3 },
	{ 0 },
};

static void add_text(struct argp_state *state, struct stat_list *list, char *text)
{
	if (array_room(list->items, list->cap, list->nr))
		arg_no_memory(state);
	list->items[list->nr++] = text;
}

static void add_metric(struct argp_state *state, char *part)
{
	struct stat_args *a = state->input;

	add_text(state, &a->metrics, part);
}

static void check_together(struct argp_state *state, const struct stat_args *a)
{
	if (a->pid && a->command)
		argp_error(state, "-p and COMMAND exclude each other");
}

static error_t parse_what(int key, char *arg, struct argp_state *state)
{
	struct stat_args *a = state->input;

	switch (key) {
	case 'M':
		arg_each_part(state, "-M", arg, add_metric);
		return 0;
	case 'e':
		add_text(state, &a->events, arg);
		return 0;
	case KEY_WINDOW_OF:
		add_text(state, &a->windows, arg);
		return 0;
	case KEY_SOCKET:
		a->socket = arg_number_in(state, "--socket", arg, 0, MAX_SOCKET, "");
		return 0;
	case KEY_PER_PORT:
		a->per_port = true;
		return 0;
	case KEY_PER_GPU:
		a->per_gpu = true;
		return 0;
	case 'p':
		a->pid = arg_pid(state, arg);
		return 0;
	}
	return arg_output(key, arg, state, &a->output);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct stat_args *a = state->input;

	switch (key) {
	case 'i':
		a->interval_ns = arg_interval_ns(state, arg);
		return 0;
	case 'd':
		a->duration_ns = arg_seconds_ns(state, arg);
		return 0;
	case KEY_BUDGET:
		a->budget = arg_budget(state, arg, BUDGET_MIN);
		return 0;
	case ARGP_KEY_ARGS:
		a->command = state->argv + state->next;
		return 0;
	case ARGP_KEY_END:
		check_together(state, a);
		return 0;
	}
	return parse_what(key, arg, state);
}

void stat_args_parse(int argc, char **argv, struct stat_args *ret)
{
	const struct argp argp = {
		.options = stat_options,
		.parser = parse_option,
		.args_doc = "\n-p PID\n-- COMMAND [ARG...]",
		.doc = "Count with the uncore PMUs, system-wide, and show bandwidths, latencies "
		       "and "
		       "other metrics per socket, root complex and link.\v"
		       "Without -d, -p and COMMAND it counts until Ctrl-C.\n"
		       "\n"
		       "Exit status: 0 done, 1 failed, 2 wrong arguments, 3 done but data is "
		       "missing; with COMMAND its own status.",
	};
	struct stat_args a = { .socket = -1, .budget = BUDGET_DEFAULT };

	/* In order: options behind COMMAND belong to it. */
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &a);
	*ret = a;
}

void stat_args_free(struct stat_args *args)
{
	free(args->metrics.items);
	free(args->events.items);
	free(args->windows.items);
}
