/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arguments of the main job, t410trace -p PID | -G CGROUP | -a | -- COMMAND, and of
 * its two halves, t410trace record and t410trace report, and of t410trace neighbours,
 * which is either of them. One table has the options of all.
 */
#ifndef CLI_TRACE_ARGS_H
#define CLI_TRACE_ARGS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/arg_parts.h"
#include "model.h"

/* Limits of the options, in milliseconds. */
#define INTERVAL_DEFAULT_MS 1000
#define RISE_DEFAULT	    20.0 /* percent */
#define WINDOW_MIN_MS	    1
#define WINDOW_MAX_MS	    1000
#define WINDOW_DEFAULT_MS   10
#define PROBE_MIN_MS	    1
#define PROBE_DEFAULT_MS    100
#define READ_BUDGET_DEFAULT 0.5 /* percent */

/* Which of them. */
enum trace_job {
	JOB_LIVE,
	JOB_RECORD,
	JOB_REPORT,
	JOB_NEIGHBOURS,
	NR_TRACE_JOBS,
};

/**
 * struct trace_args - what the user asked for
 * @job: which command it is
 * @file: recording to report; with JOB_NEIGHBOURS NULL for a live run
 * @pids, @nr_pids: processes to follow
 * @cgroups, @nr_cgroups: cgroups to follow, as typed; strings of argv
 * @jobs, @nr_jobs: jobs to follow, see job_text_parse(); strings of argv
 * @all: every workload
 * @command: program to run and its arguments, NULL for none; part of argv
 * @interval_ns: time between two reports; 0 = as the recording has it
 * @duration_ns: end after this time, 0 = when interrupted
 * @window_ns: time between two readings of the counters
 * @probe_ns: time between two readings of latency counters
 * @read_budget: part of a CPU's time that these readings may take, 0 = no latencies
 * @by: what a row is; of a recording only when @by_given
 * @top: largest rows to show, 0 = all
 * @output: how reports are shown, and where; its @file may also be the recording's
 * @ndjson: record NDJSON
 * @max_bytes: bound on the size of the recording, 0 = none
 * @weights: how to measure what tasks do: "auto", "cpu-time" or names, see weights_open()
 * @methods, @nr_methods: how windows are split; more than one: compare them
 * @by_destination: CPU-caused bytes by where they go
 * @devices, @nr_devices: devices to count, as typed; strings of argv
 * @cgroup_v1: controller whose v1 hierarchy stands in for the v2 tree, "none" or "auto"; NULL: auto, and
 *	problems with it are no errors
 * @pci_map: file that says where root ports are, NULL for none
 * @rise: how much above its usual value a latency is high, 0.2 (JOB_NEIGHBOURS)
 * @no_counters: CPU time only, works without the PMUs
 * @idle_units: by job, units of the service manager have a row when they are first seen
 * @no_summary: nobody asks for a summary: memory does not grow with the run
 */
struct trace_args {
	enum trace_job job;
	const char *file;
	uint32_t *pids;
	size_t nr_pids, cap_pids;
	char **cgroups;
	size_t nr_cgroups, cap_cgroups;
	char **jobs;
	size_t nr_jobs, cap_jobs;
	bool all;
	char **command;
	uint64_t interval_ns;
	uint64_t duration_ns;
	uint64_t window_ns;
	uint64_t probe_ns;
	double read_budget;
	enum row_kind by;
	bool by_given;
	enum method methods[NR_METHODS];
	size_t nr_methods;
	size_t top;
	struct output_args output;
	bool ndjson;
	uint64_t max_bytes;
	const char *weights;
	bool by_destination;
	char **devices;
	size_t nr_devices, cap_devices;
	const char *cgroup_v1;
	const char *pci_map;
	double rise;
	bool no_counters;
	bool idle_units;
	bool no_summary;
};

/**
 * trace_args_options() - the option rows of a command, for the manual page and completion
 *
 * Return: rows that end with an empty one; never freed.
 */
const struct argp_option *trace_args_options(enum trace_job job);

/**
 * trace_args_parse() - read the command line
 * @job: which command
 * @argc, @argv: the whole command line
 * @ret: release with trace_args_free()
 *
 * Does not return when the arguments are wrong: argp prints the problem and ends
 * the process with status EXIT_USAGE.
 */
void trace_args_parse(enum trace_job job, int argc, char **argv, struct trace_args *ret);
void trace_args_free(struct trace_args *args);

#endif
