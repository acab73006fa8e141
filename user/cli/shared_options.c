// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Options shared by several commands, and settings of the daemon. Name and argument of an option
 * are in a macro where its text differs from command to command.
 */
#include "cli/commands.h"
#include "cli/values.h"
#include "daemon/http.h"
#include "daemon/spool.h"
#include "daemon/store.h"
#include "platform/sys/resctrl.h"

#define LIVE   FOR_LIVE
#define RECORD FOR_RECORD
#define REPORT FOR_REPORT
#define NEAR   FOR_NEIGHBOURS
#define STAT   FOR_STAT
#define SERVE  FOR_SERVE
#define LOOK   FOR_TOP
#define RUN    (LIVE | RECORD | NEAR | LOOK)
#define SHOW   (LIVE | REPORT | NEAR)
#define ALL    (LIVE | RECORD | REPORT | NEAR | LOOK)

#define MS     1e6
#define S      1e9
#define H      (3600 * S)
#define DAY    (24 * H)

static const char *kind(unsigned int value)
{
	return value <= ROW_JOB ? row_kind_name((enum row_kind)value) : NULL;
}

static const char *method(unsigned int value)
{
	return value < NR_METHODS ? method_name((enum method)value) : NULL;
}

/* Define a function that returns a word by its number */
#define WORDS(function, ...)                                              \
	static const char *function(unsigned int value)                   \
	{                                                                 \
		static const char *const words[] = { __VA_ARGS__, NULL }; \
                                                                          \
		return words[value];                                      \
	}

WORDS(weights, "auto", "cpu-time") /* names of events are looked up later */
WORDS(split, "none", "destination")
WORDS(split_shown, "recorded", "none", "destination")
WORDS(format, "recording", "ndjson")
WORDS(counters, "yes", "no") /* of no_counters */
WORDS(no_or_yes, "no", "yes")

#define TICK	   OPTION("tick", 0, "auto|all|off", value_choice, run.tick), .choice = tick_mode_name

#define PIDS	   OPTION("pid", 'p', "PID[,PID...]", value_pids, run.pids)
#define EVERYTHING SWITCH("all", 'a', run.all)
#define HOST	   OPTION("host", 0, "NAME", value_host, run.host)
#define CGROUP_V1  OPTION("cgroup-v1", 0, "CONTROLLER", value_cgroup_v1, run.cgroup_v1)
#define INTERVAL                                                                          \
	OPTION("interval", 'i', "TIME", value_time, run.interval_ns), WITHIN(10 * MS, H), \
		.bare = "ms"
#define DURATION                                                                             \
	OPTION("duration", 'd', "TIME", value_time, run.duration_ns), WITHIN(MS, 366 * DAY), \
		.bare = "s"
#define WINDOW	    OPTION("window", 0, "TIME", value_time, run.window_ns), WITHIN(MS, S)
#define READ_BUDGET OPTION("read-budget", 0, "PERCENT", value_percent, run.read_budget)
#define WEIGHTS	    OPTION("weights", 0, "EVENT[,EVENT]", value_weights, run.weights), .choice = weights
#define METHOD	    OPTION("method", 0, "METHOD", value_choice, run.method), .choice = method
#define SPLIT \
	OPTION("split", 0, "destination|none", value_choice, run.by_destination), .choice = split
#define ESP	OPTION("esp", 0, "FILE", value_text, run.esp)
#define KIND	OPTION("by", 0, "KIND", value_by, run), .choice = kind
#define TOP	OPTION("top", 0, "N", value_number, run.top), WITHIN(1, 1e6)
#define SUMMARY SWITCH("summary", 0, run.output.summary)
#define JSON	AS_JSON
#define OUTPUT	OPTION("output", 'o', "FILE", value_text, run.output.file)
#define HTML	OPTION("html", 0, "OUT", value_text, run.output.html)
#define QUIET	SWITCH("quiet", 'q', run.output.quiet)
#define VERBOSE SWITCH("verbose", 'v', run.output.verbose)

#define RESCTRL OPTION("resctrl", 0, "DIR|none", value_resctrl, run.resctrl)
#define PEAK	OPTION("peak", 0, "RATE|NAME=RATE,...", value_peak, run.peaks)
#define PEAK_IS                                                                                   \
	"Also what part of this peak is used: of each socket's memory, as 546GB/s, or of links, " \
	"cmem=546GB/s,gmem=450GB/s (cxl, remote, pcie); none: no peak "
#define PEAK_ELSE "(default: the firmware's memory table, if it tells)"

#define HOST_IS	  "Name of this machine in what is written (default: its host name)"
#define CGROUP_V1_IS                                                                            \
	"Where tasks are in a v1 cgroup of this controller, that one is theirs instead of the " \
	"v2 one; none, or auto (default: freezer or cpuset, if mounted as v1)"

#define TICK_IS                                                                                  \
	"Where a task keeps its CPU, close windows at the scheduler's tick: auto (default; not " \
	"on "                                                                                    \
	"isolated and nohz_full CPUs), all or off"

#define GPU OPTION("gpu", 0, "auto|none|COMMAND", value_text, run.gpu)
#define GPU_IS                                                                                     \
	"Program that tells who uses the GPUs among the devices: auto (default; t410trace-gpu, "   \
	"if the driver of one is loaded), none, unix:PATH (a socket), or a COMMAND like those of " \
	"--source"

#define IGNORED_HOLDERS                                                                        \
	"Processes in these cgroups (path in the v2 tree) and below do not count among those " \
	"that "                                                                                \
	"have a device open: for monitors of GPUs"

/* A number without a unit is allowed on the command line only: in a file it would be misread. */
#define SETTING(text) .setting = true, .fallback = text
#define FIXED(text)   .setting = true, .restart = true, .fallback = text

/* Settings are in the order of packaging/serve.conf. */
const struct option_row shared_options[] = {
	{ RUN, 1, HEADING("What to follow:") },
	{ REPORT, 1, HEADING("What to show (default: what was asked for when recording):") },
	{ LIVE | RECORD | LOOK, 1,
	  "Also the counters that this program prints, started with sh -c; may be given several "
	  "times; see docs/SOURCES.md",
	  OPTION("source", 0, "COMMAND", value_item, run.sources) },
	{ LIVE | RECORD | LOOK, 1, IGNORED_HOLDERS,
	  OPTION("ignore-holder", 0, "CGROUP[,...]", value_list, run.ignored_holders) },
	{ LIVE | RECORD | LOOK, 1, GPU_IS, GPU },
	{ STAT, 1, HEADING("What to count (default: all metrics of the PMUs found):") },
	{ SERVE, 1, HEADING("What is measured:") },
	{ RUN, 1, "These processes: all threads, and every child they start from now on", PIDS },
	{ REPORT, 1, "These processes: all threads, and every child they start in the recording",
	  PIDS },
	{ ALL, 1,
	  "Everything in these cgroups (path in the v2 tree, or as freezer:/PATH) and below",
	  OPTION("cgroup", 'G', "CGROUP[,...]", value_list, run.cgroups) },
	{ RUN, 1, CGROUP_V1_IS, CGROUP_V1 },
	{ ALL, 1, "Jobs of this id, as 12 or slurm:12 (%s), also those that begin later",
	  OPTION("job", 'J', "JOBID[,...]", value_jobs, run.jobs) },
	{ LIVE | REPORT, 1, "Every workload on the machine", EVERYTHING },
	{ RECORD | NEAR | LOOK, 1, "Every workload on the machine (default when nothing is given)",
	  EVERYTHING },
	{ LIVE | RECORD | LOOK, 1,
	  "Also the traffic of these PCIe devices, and its owners: a PCI address, nvme0n1, eth0, "
	  "mlx5_0, gpu for all GPUs, or all",
	  OPTION("device", 'D', "DEVICE[,...]", value_list, run.devices) },
	{ STAT, 1, "These metrics: the whole name, its last part, or a pattern with * and ?",
	  OPTION("metrics", 'M', "METRIC[,...]", value_list, stat.metrics) },
	{ STAT, 1,
	  "These events, written as for perf: PMU/EVENT,FILTER=VALUE/, {groups}, names of core and "
	  "software events; may be given several times",
	  OPTION("event", 'e', "EVENT[,...]", value_item, stat.events) },
	{ STAT, 1, "Only PMUs of this socket", OPTION("socket", 0, "N", value_number, stat.socket),
	  WITHIN(0, 255) },
	{ STAT, 1, "Metrics of each root port or link port apart",
	  SWITCH("per-port", 0, stat.per_port) },
	{ STAT, 1, "Metrics of each GPU of NVLink-C2C apart", SWITCH("per-gpu", 0, stat.per_gpu) },
	{ STAT, 1,
	  "PCIe target traffic to the address range of this BAR; may be given several times",
	  OPTION("window-of", 0, "BDF:BARn", value_item, stat.windows) },
	{ STAT, 1,
	  "Until this process ends; core metrics and events are about it and its children to be",
	  OPTION("pid", 'p', "PID", value_pid, stat.pid) },

	{ LIVE | RECORD | LOOK, 1,
	  "Accesses to DRAM of an ESP system-on-chip instead of PMUs: FILE is the .esp_config of "
	  "its bitstream",
	  ESP },
	{ STAT, 1,
	  "The monitors of an ESP system-on-chip instead of PMUs: FILE is the .esp_config of its "
	  "bitstream",
	  ESP },
	{ STAT, 1,
	  "Counts of Bay Trail's uncore that another tool printed, instead of PMUs; FILE may be - "
	  "(docs/BAYTRAIL.md)",
	  OPTION("counts", 0, "FILE", value_text, counts.file) },
	{ REPORT, 1,
	  "Counts of Bay Trail's uncore that another tool printed while a machine without "
	  "counters was recorded (record --no-counters); FILE may be - (docs/BAYTRAIL.md)",
	  OPTION("counts", 0, "FILE", value_text, counts.file) },
	{ STAT | REPORT, 1, "The group that --counts is about, as in UNC_SOC_Memory_DDR_BW",
	  OPTION("group", 0, "NAME", value_text, counts.counts.group) },
	{ STAT | REPORT, 1, "One channel of memory is fitted: its counts are of 32 bytes, not 64",
	  SWITCH("one-channel", 0, counts.counts.one_channel) },
	{ STAT, 1, "Base frequency of the memory, for self-refresh",
	  OPTION("dram-hz", 0, "HZ", value_number, counts.counts.dram_hz), WITHIN(1, 1e12) },
	{ REPORT, 1, "CPUs of module 0 and of module 1 (default 0-1:2-3)",
	  OPTION("modules", 0, "LIST:LIST", value_text, counts.modules) },
	{ REPORT, 1, "Add this to the times of counts; needed where they have none",
	  OPTION("counts-offset", 0, "SECONDS", value_text, counts.offset_s) },

	{ LIVE | RECORD | STAT | LOOK, 2, HEADING("When to report:") },
	{ NEAR, 2, HEADING("How it is measured:") },
	{ REPORT, 2, HEADING("How it is divided:") },
	{ LIVE, 2, "Time between two reports (default 1s)", INTERVAL },
	{ RECORD, 2, "Time between two reports of the recording (default 1s)", INTERVAL },
	{ LOOK, 2, "Time between two pictures (default 1s; of a recording: as recorded)",
	  INTERVAL },
	{ REPORT, 2, "Time between two reports (default: as recorded, otherwise 1s)", INTERVAL },
	{ NEAR, 2, "Time that is estimated in one piece (default 1s; of a recording: as recorded)",
	  INTERVAL },
	{ STAT, 2, "Time between two reports (default: one report at the end)", INTERVAL },
	{ SERVE, 1, "Time between two closings of the books (default 10s)",
	  OPTION("interval", 0, "TIME", value_time, serve.interval_ns), WITHIN(200 * MS, H),
	  SETTING("10s") },
	{ LIVE | RECORD | NEAR | STAT, 2,
	  "End after this time; a COMMAND still running is left alone", DURATION },
	{ LIVE, 2, "One report for the whole run at the end; Ctrl-C always gives it", SUMMARY },
	{ REPORT, 2, "One report for the whole recording", SUMMARY },
	{ STAT, 2, "With -i, a report of the whole run at the end as well; Ctrl-C always gives it",
	  SUMMARY },
	{ RUN, 2, "Time between two readings of the counters (default 10ms)", WINDOW,
	  .bare = "ms" },
	{ SERVE, 1, "Time between two readings of the counters (default 10ms)", WINDOW,
	  FIXED("10ms") },
	{ SERVE, 1, "Whose jobs have accounts: %s (default: all of these but the last)",
	  OPTION("schedulers", 0, "NAME[,...]", value_schedulers, serve.schedulers), FIXED(NULL) },
	{ SERVE, 1,
	  "Users whose own containers, Flux jobs and units are jobs: names and uids, yes for all, "
	  "no for none (default " USER_JOBS_DEFAULT ")",
	  OPTION("user-jobs", 0, "USER[,...]", value_user_jobs, serve.user_jobs),
	  FIXED(USER_JOBS_DEFAULT) },
	{ SERVE, 1, CGROUP_V1_IS, CGROUP_V1, FIXED("auto") },
	{ SERVE, 1, "no: only CPU time and requests of devices; works on any machine",
	  OPTION("counters", 0, "yes|no", value_choice, run.no_counters), .choice = counters,
	  FIXED("yes") },
	{ SERVE, 1,
	  "Also what these PCIe devices move: as -D; gpu for all GPUs, all for all of them",
	  OPTION("devices", 0, "DEVICE[,...]", value_list, run.devices), FIXED("") },
	{ SERVE, 1, IGNORED_HOLDERS,
	  OPTION("ignore-holder", 0, "CGROUP[,...]", value_list, run.ignored_holders), FIXED("") },
	{ SERVE, 1, GPU_IS, GPU, FIXED("auto") },
	{ SERVE, 1,
	  "Also the counters that this program prints, started with sh -c; may be given several "
	  "times; see docs/SOURCES.md",
	  OPTION("source", 0, "COMMAND", value_lines, run.sources), .many = true, FIXED("") },
	{ RUN, 2, "Time between two readings of latencies, if the budget allows it (default 100ms)",
	  OPTION("probe-interval", 0, "TIME", value_time, run.probe_ns), WITHIN(MS, H),
	  .bare = "ms" },
	{ RUN, 2,
	  "Part of a CPU's time that readings of latencies may take (default 0.5, of neighbours "
	  "5), and as "
	  "much again those of devices, whose turns of 50 ms are longer if need be, beside one at "
	  "the end of each interval; 0 leaves latencies out",
	  READ_BUDGET, WITHIN(0, 100) },
	{ STAT, 2,
	  "Part of a CPU's time that readings may take (default 0.5); beyond it PMUs are read "
	  "less often",
	  READ_BUDGET, WITHIN(0.001, 100) },
	{ RUN | STAT, 1, PLATFORM_IS, PLATFORM },
	{ LIVE | RECORD | LOOK, 1,
	  "Where root ports are, if firmware does not say: lines \"ADDRESS socket=S rc=R rp=P\"",
	  OPTION("pci-map", 0, "FILE", value_text, run.pci_map) },
	{ SERVE, 1, "Where root ports are, if firmware does not say",
	  OPTION("pci-map", 0, "FILE", value_path, run.pci_map), FIXED("") },
	{ SERVE, 1, PLATFORM_IS, PLATFORM, FIXED("") },

	{ NEAR, 3,
	  "A latency is high if it exceeds its lower quartile by this percentage (default 20)",
	  OPTION("rise", 0, "PERCENT", value_percent, run.rise), WITHIN(1, 1e4) },
	{ SHOW | STAT | LOOK, 3, HEADING("How to show it:") },
	{ RECORD, 3, HEADING("What to write:") },
	{ LIVE, 3, "Rows are a process (default), cgroup, job or thread each", KIND },
	{ REPORT, 3, "Rows are a process, cgroup, job or thread each (default: as recorded)",
	  KIND },
	{ NEAR | LOOK, 3,
	  "Rows are a process, cgroup, job or thread each (default: process, or as recorded)",
	  KIND },
	{ RECORD, 3,
	  "Record by process (default), which cgroups and jobs can be made from, or by thread",
	  KIND },
	{ LIVE | REPORT, 3, "Only the N largest rows; the rest is added up", TOP },
	{ LIVE | REPORT, 3,
	  "All rows: otherwise a terminal has as many as fit, of those that did something, and a "
	  "pipe the 20 largest; the rest is one line",
	  SWITCH("all-rows", 0, run.all_rows) },
	{ NEAR, 3, "Only N rows, those that rose first (default 20)", TOP },
	{ NEAR, 3, "JSON (t410trace.neighbours/1), on one line", JSON },
	{ LIVE | REPORT, 3, "JSON (t410trace.report/1), one report per line", JSON },
	{ STAT, 3, "JSON (t410trace.stat/1), one report per line", JSON },
	{ REPORT, 3,
	  "Instead, write comma-separated values to FILE, - for standard output: a line for each "
	  "number, for spreadsheets and pandas (docs/EXPORT.md)",
	  OPTION("csv", 0, "FILE", value_text, run.output.csv) },
	{ REPORT, 3,
	  "Instead, write a timeline to FILE, packed if it ends with .gz: Trace Event Format "
	  "(JSON), "
	  "for ui.perfetto.dev and other viewers (docs/EXPORT.md)",
	  OPTION("perfetto", 0, "FILE", value_text, run.output.perfetto) },
	{ SHOW | LOOK, 3, "How windows are split: " METHODS(METHOD_WORDS), METHOD },
	{ LIVE | RECORD | NEAR, 3,
	  "Also tell where the bytes go that tasks and devices cause: CMEM, GMEM, CXL or another "
	  "socket; counters may take turns then",
	  SPLIT },
	{ REPORT, 3, "Show where the bytes go that tasks cause (default as recorded)",
	  OPTION("split", 0, "recorded|destination|none", value_choice, run.split_shown),
	  .choice = split_shown },
	{ SERVE, 1, "Also tell where the bytes go that tasks cause", SPLIT, FIXED("none") },
	{ SERVE, 1, "How windows are split: " METHODS(METHOD_WORDS), METHOD, FIXED("state-space") },
	{ LIVE, 3,
	  "By cgroup and job, also what the kernel's monitoring groups say, which others have made "
	  "(default " RESCTRL_ROOT "); none: nothing of it",
	  RESCTRL },
	{ RECORD, 3,
	  "Also what the kernel's monitoring groups say, which others have made, for reports by "
	  "cgroup and job (default " RESCTRL_ROOT "); none: nothing of it",
	  RESCTRL },
	{ SERVE, 1,
	  "Also what the kernel's monitoring groups say, which others have made, such as "
	  "at " RESCTRL_ROOT "; each reading interrupts CPUs (default none)",
	  RESCTRL, FIXED("none") },
	{ LIVE | RECORD | STAT | LOOK, 3, PEAK_IS PEAK_ELSE, PEAK },
	{ NEAR, 3, PEAK_IS "(default: the firmware's memory table, or as recorded)", PEAK },
	{ REPORT, 3, PEAK_IS "(default: as recorded)", PEAK },
	{ SERVE, 1, PEAK_IS PEAK_ELSE, PEAK, FIXED("") },
	{ RUN, 3, HOST_IS, HOST },
	{ SERVE, 1, HOST_IS, HOST, FIXED("") },
	{ SHOW | STAT, 3, "Write to FILE instead of standard output", OUTPUT },
	{ LIVE, 3,
	  "At the end, also write the run to OUT as one HTML page: plots over time, tables, "
	  "quality",
	  HTML },
	{ REPORT, 3,
	  "Instead, write one HTML page to OUT: plots over time, tables, quality (docs/PAGE.md)",
	  HTML },
	{ RECORD, 3, "The recording, - for standard output; must be given", OUTPUT },
	{ LOOK, 3, "Where the key r records to (default t410trace-DATE-TIME.rec in this folder)",
	  OUTPUT },
	{ RECORD, 3, "recording (default; compact) or ndjson (t410trace.trace/1; FILE may be -)",
	  OPTION("format", 0, "FORMAT", value_choice, run.ndjson), .choice = format },
	/* A recording needs room for a few blocks and the names of all tasks. */
	{ RECORD, 3, "Keep the newest part in at most SIZE bytes; K, M, G and T are 1024-fold",
	  OPTION("max-size", 0, "SIZE", value_size, run.max_bytes), .min = 1 << 20 },
	{ SHOW | STAT, 3, "Only numbers", QUIET },
	{ RECORD, 3, "Say nothing at the end", QUIET },
	{ NEAR, 3, "Also all rows, how sure changes are, and all losses", VERBOSE },
	{ LIVE | REPORT, 3, "Also bounds, all losses, and what the tracer costs", VERBOSE },
	{ STAT, 3, "Also PMUs without traffic, and the counts behind metrics", VERBOSE },
	{ RECORD, 3, "Say what is followed and counted", VERBOSE },
	{ RUN, 3,
	  "Core events that measure what tasks do (the second one: writes), auto (default) or "
	  "cpu-time",
	  WEIGHTS },
	{ SERVE, 1, "Core events that measure what tasks do, auto (default) or cpu-time", WEIGHTS,
	  FIXED("auto") },
	{ RUN, 3, TICK_IS, TICK },
	{ SERVE, 1, TICK_IS, TICK, FIXED("auto") },
	{ LIVE | RECORD | LOOK, 3,
	  "Leave PMUs alone: only CPU time, and what programs count (--source); works on any "
	  "machine",
	  SWITCH("no-counters", 0, run.no_counters) },
	{ SERVE, 1,
	  "Part of a CPU's time that readings of latencies may take (default 0.5); 0 leaves them "
	  "out",
	  READ_BUDGET, WITHIN(0, 100), FIXED("0.5") },

	{ SERVE, 2, HEADING("Where accounts and reports are kept:") },
	{ SERVE, 2, "Where accounts are kept (default " STORE_DEFAULT_FILE ")",
	  OPTION("state", 0, "FILE", value_path, serve.state), FIXED(STORE_DEFAULT_FILE) },
	{ SERVE, 2, "Forget jobs so long after their end (default 90d; 0 keeps them forever)",
	  OPTION("keep-days", 0, "TIME", value_time, serve.keep_ns), WITHIN(0, 36500 * DAY),
	  .least = H, .bare = "d", SETTING("90") },
	{ SERVE, 2, "Keep at most this many jobs that are over (default 200000; 0 = no bound)",
	  OPTION("max-jobs", 0, "N", value_number, serve.max_jobs), WITHIN(0, 1e9),
	  SETTING("200000") },
	{ SERVE, 2,
	  "Also keep intervals of each job, for its page (t410trace job): TIME for TIME, so "
	  "long ones for so long, then joined into longer ones, as in \"10s for 1h, 5m for 30d\" "
	  "(default none)",
	  OPTION("history", 0, "PERIOD[,...]", value_history, serve.history), SETTING("none") },
	{ SERVE, 2, "Where closing reports go (default " SPOOL_DEFAULT_FOLDER "; none: nowhere)",
	  OPTION("spool", 0, "FOLDER", value_spool, serve.spool), SETTING(SPOOL_DEFAULT_FOLDER) },
	{ SERVE, 2,
	  "With this many files there, the oldest reports make room (default 100000; 0 = no bound)",
	  OPTION("spool-max-files", 0, "N", value_number, serve.spool_max_files), WITHIN(0, 1e9),
	  SETTING("100000") },
	{ SERVE, 2,
	  "With this size of all files there, the oldest make room, too (default 2G; 0 = no bound)",
	  OPTION("spool-max-size", 0, "SIZE", value_size, serve.spool_max_bytes), .least = 1 << 20,
	  SETTING("2G") },
	{ SERVE, 3, HEADING("What is shown:") },
	{ SERVE, 3,
	  "Where /metrics and the other pages are: addresses with ports, and paths of unix sockets "
	  "(default " HTTP_DEFAULT_ADDRESS "; empty: nowhere)",
	  OPTION("listen", 0, "ADDRESS:PORT[,...]", value_addresses, serve.listen),
	  SETTING(HTTP_DEFAULT_ADDRESS) },
	{ SERVE, 3,
	  "yes: at addresses with ports, too, names of jobs and users are shown to anybody, and "
	  "all "
	  "pages (default no)",
	  OPTION("names", 0, "no|yes", value_choice, serve.names), .choice = no_or_yes,
	  SETTING("no") },
	{ SERVE, 3,
	  "Group whose members see all jobs at unix sockets, as root does; other users see their "
	  "own "
	  "(default none)",
	  OPTION("readers", 0, "GROUP", value_group, serve.readers), SETTING("") },
	{ SERVE, 3,
	  "Further names under which the pages may be asked for (default none; addresses, "
	  "localhost "
	  "and the machine's own name are right without)",
	  OPTION("hosts", 0, "NAME[,...]", value_hosts, serve.hosts), SETTING("") },
	{ SERVE, 3, "Jobs with metrics of their own; the rest is \"other\" (default 10)",
	  OPTION("top", 0, "N", value_number, serve.top), WITHIN(0, 1e4), SETTING("10") },
	{ SERVE, 4, HEADING("The daemon itself:") },
	{ SERVE, 4, "Settings, lines of \"key = value\" (default " SERVE_CONFIG_FILE ")",
	  OPTION("config", 0, "FILE", value_text, config) },
	{ SERVE, 4,
	  "Only say whether the settings are right, and their paths, addresses and programs "
	  "can be used here",
	  SWITCH("check-config", 0, check_config) },
	{ SERVE, 4, "Also say when jobs end, and what the BPF library has to say", VERBOSE },
	{ 0 },
};
