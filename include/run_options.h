/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Contract between the origin of options (the command line, the daemon's settings) and their users
 * (live runs, replay): the requested run. Plain data, checked.
 */
#ifndef T410TRACE_RUN_OPTIONS_H
#define T410TRACE_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text_list.h"
#include "model.h"

/* Defaults */
#define RUN_INTERVAL_NS	      1000000000ull
#define RUN_WINDOW_NS	      10000000ull
#define RUN_PROBE_INTERVAL_NS 100000000ull
#define RUN_READ_BUDGET	      0.005
/* A diagnosis is short and needs samples: all latencies of a T410 every 100 ms. */
#define RUN_NEIGHBOURS_BUDGET 0.05

/* Formats of reports: each has a row of writers, see user/cli/formats.c. */
enum output_format {
	OUTPUT_TEXT,
	OUTPUT_JSON,
	NR_OUTPUT_FORMATS,
};

/* When a window is closed on a CPU whose task keeps running: at the scheduler's tick */
enum tick_mode {
	TICK_AUTO, /* except isolated and nohz_full CPUs */
	TICK_ALL,  /* on each CPU */
	TICK_OFF,  /* never: at the next switch, or with the report */
	NR_TICK_MODES,
};

/** tick_mode_name() - as in options and reports: "auto", "all", "off"; NULL behind the last one */
const char *tick_mode_name(unsigned int mode);

/**
 * struct output_options - how reports are shown, and where
 * @format: of reports
 * @file: to write to, NULL for standard output
 * @html: a page of the whole run goes to this file, NULL: nobody wants one
 * @summary: also a report of the whole run, or that alone
 * @csv, @perfetto: files that get them as comma-separated values, as a timeline instead, "-":
 *	standard output; NULL for none
 * @quiet, @verbose: less or more text
 */
struct output_options {
	enum output_format format;
	const char *file;
	const char *csv;
	const char *perfetto;
	const char *html;
	bool summary;
	bool quiet;
	bool verbose;
};

/** struct pid_list - processes */
struct pid_list {
	uint32_t *items;
	size_t nr;
	size_t cap;
};

/* Which columns a report of a recording has. */
enum split_shown {
	SPLIT_RECORDED, /* those that were asked for when recording */
	SPLIT_NONE,
	SPLIT_DESTINATION,
};

/**
 * struct run_options - a live run, or a recording that is replayed
 * @file: recording to replay, NULL for a live run
 * @pids: processes to follow
 * @cgroups: cgroups to follow, as typed
 * @jobs: jobs to follow, see job_text_parse()
 * @all: every workload
 * @command: program to run and its arguments, NULL for none
 * @interval_ns: time between two reports; 0 = as in the recording
 * @duration_ns: end after this time, 0 = when interrupted
 * @window_ns: time between two readings of the counters
 * @probe_ns: time between two readings of latency counters
 * @read_budget: part of a CPU's time that these readings may take, 0 = no latencies
 * @by: kind of rows; for a recording only when @by_given
 * @top: largest rows to show, 0 = all, or on a terminal as many as fit
 * @all_rows: also on a terminal
 * @output: how reports are shown, and where; its @file may also be the recording's
 * @ndjson: record NDJSON
 * @max_bytes: bound on the size of the recording, 0 = none
 * @weights: how to measure what tasks do: "auto", "cpu-time" or names, see weights_open()
 * @method: how windows are split
 * @tick: when windows are closed on CPUs whose task goes on
 * @by_destination: CPU-caused bytes by where they go
 * @split_shown: of a recording: overrides @by_destination
 * @devices: devices to count, as typed
 * @cgroup_v1: controller whose v1 hierarchy stands in for the v2 tree, "none" or "auto"; NULL:
 *	auto, and problems with it are no errors
 * @host: name of the machine in reports, NULL or "": as the kernel says, which is a pod's in a pod
 * @pci_map: file with the places of root ports, NULL for none
 * @esp: description of an ESP system-on-chip whose monitors are counted, NULL for none
 * @neighbours: also find workloads with more traffic while a latency was high
 * @rise: threshold of a high latency above its usual value, 0.2
 * @no_counters: PMUs are not used; works without them
 * @need_traffic: energy alone is no reason to run
 * @ignored_holders: cgroups whose processes own no device that they have open
 * @sources: commands of programs that print readings of counters, see docs/SOURCES.md
 * @gpu: the program that tells who uses GPUs: "auto", "none", or as one of @sources
 * @peaks: the user's peaks
 * @resctrl: where the kernel's monitoring is mounted, NULL or "": ignored
 * @idle_units: by job, units of the service manager have a row when they are first seen
 * @job_users: users whose own jobs are trusted, NULL: all users
 * @no_summary: no summary is needed: memory does not grow with the run
 *
 * Lists are owned; single texts belong to the caller that set them.
 */
struct run_options {
	const char *file;
	struct pid_list pids;
	struct text_list cgroups;
	struct text_list jobs;
	bool all;
	char **command;
	uint64_t interval_ns;
	uint64_t duration_ns;
	uint64_t window_ns;
	uint64_t probe_ns;
	double read_budget;
	enum row_kind by;
	bool by_given;
	enum method method;
	size_t top;
	bool all_rows;
	struct output_options output;
	bool ndjson;
	uint64_t max_bytes;
	const char *weights;
	enum tick_mode tick;
	bool by_destination;
	enum split_shown split_shown;
	struct text_list devices;
	const char *cgroup_v1;
	const char *host;
	const char *pci_map;
	const char *esp;
	bool neighbours;
	double rise;
	bool no_counters;
	bool need_traffic;
	struct text_list ignored_holders;
	struct text_list sources;
	const char *gpu;
	struct peaks_wanted peaks;
	const char *resctrl;
	bool idle_units;
	const struct job_users *job_users;
	bool no_summary;
};

/** run_options_default() - the defaults of a live run */
struct run_options run_options_default(void);
void run_options_free(struct run_options *o);

#endif
