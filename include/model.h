/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Contract between the layers: counters on sockets, workloads as owners of the counts, and a
 * finished report. Plain data, no system types.
 *
 * Times are CLOCK_MONOTONIC nanoseconds unless named otherwise. Strings are
 * owned by the structure they are in, unless a comment says otherwise.
 */
#ifndef T410TRACE_MODEL_H
#define T410TRACE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device.h"
#include "device_user.h"
#include "job.h"
#include "peak.h"
#include "quality.h"
#include "resctrl_group.h"

#define MODEL_COMM_LEN 16
#define MODEL_NAME_LEN 128
#define MODEL_KEY_LEN  112 /* a job, its cgroup's id and its step fit */

/* Which workloads may own a counter's bytes (formats.md: "source"). */
enum source {
	SOURCE_CPU,    /* tasks on the counter's socket */
	SOURCE_DEVICE, /* local devices: never split among tasks */
	SOURCE_REMOTE, /* agents of another socket: never split among tasks */
	SOURCE_ANY,
};

enum direction {
	DIRECTION_READ,
	DIRECTION_WRITE,
	DIRECTION_READWRITE, /* both together, which the counter does not tell apart */
	NR_DIRECTIONS,
};

/* Devices, latencies and parts have these two alone. */
#define NR_WAYS DIRECTION_READWRITE

/* Destination of traffic, as seen from the counter's socket. */
enum destination {
	DESTINATION_ANY,    /* any destination */
	DESTINATION_CMEM,   /* memory of the socket's CPUs */
	DESTINATION_GMEM,   /* memory of the socket's GPUs */
	DESTINATION_CXL,    /* CXL memory of the socket */
	DESTINATION_REMOTE, /* memory of another socket */
	DESTINATION_P2P,    /* another PCIe device of the socket; devices only */
	NR_DESTINATIONS,
};

/* Kind of a counter's readings. */
enum unit {
	UNIT_BYTES,
	UNIT_REQUESTS,	 /* never split among workloads */
	UNIT_NANOJOULES, /* energy: without direction and destination, in no sum of bytes */
	UNIT_EVENTS,	 /* work of an accelerator (enum work): never split, in no sum */
	NR_UNITS,
};

/*
 * A part of a socket's traffic that is measured elsewhere than the total. It is never added to a
 * counter: the total already includes these bytes, or they never reached the memory.
 */
enum part_kind {
	PART_NONE,
	PART_LOCAL,   /* by CPUs and devices of the socket itself */
	PART_DEVICES, /* by its devices */
	PART_REMOTE,  /* by other sockets */
	PART_PORTS,   /* through its PCIe ports: caches may have answered */
	PART_LINKS,   /* over its links to other sockets, for any purpose */
	PART_CXL,     /* of CXL memory, which is not in the total */
	NR_PARTS,
};

/*
 * A counter that does not count a link alone, but helps to derive its bytes. A term is in no sum,
 * and nobody owns its bytes: the device has those of TERM_WHOLE less those of TERM_LESS.
 */
enum term {
	TERM_NONE,
	TERM_WHOLE, /* of the link and of others */
	TERM_LESS,  /* of these others */
	NR_TERMS,
};

/* Meaning of a counter's bytes if it counts requests of partly unknown size. */
enum estimate {
	ESTIMATE_NONE,
	ESTIMATE_UPPER, /* upper bound */
	ESTIMATE_LOWER, /* lower bound */
	NR_ESTIMATES,
};

/** unit_is_split() - is it split among workloads? */
static inline bool unit_is_split(enum unit u)
{
	return u == UNIT_BYTES || u == UNIT_NANOJOULES;
}

/**
 * struct probe - counters that together measure a latency: requests, requests under
 *	way added up each cycle, and cycles
 * @name: short name, "cmem0/rd" or "nvclink1/out_rd"
 * @title: the requests, for people: "reads of CPU memory"
 * @pmu: sysfs name of the PMU
 * @socket: index of the socket
 * @direction: of the requests
 * @destination: their destination. Workloads see the latency with their traffic of this direction
 *	and destination
 * @by_tasks: tasks of @socket cause these requests; otherwise no row here "sees" them
 * @device: number (from 1) of the device whose reads these are, 0 = not of a device. Never
 *	@by_tasks
 */
struct probe {
	char name[MODEL_NAME_LEN];
	char title[64];
	char pmu[64];
	uint32_t socket;
	enum direction direction;
	enum destination destination;
	bool by_tasks;
	uint32_t device;
};

/**
 * struct counter - one uncore event with its filters
 * @name: short name, e.g. "ucf0/mem_bytes_rd/src_loc_cpu=1"
 * @pmu: sysfs name of the PMU
 * @event: event name in sysfs
 * @filters: its filters, "src_loc_cpu=1,dst_loc_cmem=1"; "" for none. Names are format fields, each
 *	with a whole number: take_setting() parses it
 * @socket: index of the socket whose traffic it counts
 * @group: counters of one group are read together and share their times
 * @source: possible owners of the bytes
 * @direction: read, write, or both together, as memory sees it; of devices never both
 * @destination: of the bytes; DESTINATION_ANY when the counter does not tell
 * @unit: of readings in a trace, independent of the hardware's unit
 * @device: number (from 1) of the device whose traffic it counts, 0 = not of one device. @direction
 *	is the device's view of memory: a write to a disk reads memory
 * @estimate: the bytes are an upper or a lower bound; not in traces
 * @term: of a link only: see enum term
 *
 * Counters of devices have groups of their own, in which all counters are of one device. Their
 * windows tile the time; while it was not the device's turn, all running times are 0.
 */
struct counter {
	char name[MODEL_NAME_LEN];
	char pmu[64];
	char event[64];
	char filters[128];
	uint32_t socket;
	uint32_t group;
	enum source source;
	enum direction direction;
	enum destination destination;
	enum unit unit;
	uint32_t device;
	enum estimate estimate;
	enum term term;
};

/**
 * struct traffic_part - a part of a socket's traffic, measured elsewhere than the total
 * @name: short name, "cha0/reads_remote"
 * @pmu: sysfs names of the PMUs that it is the sum of, "uncore_cha_0-39"
 * @event: name of the event, or of the sum of several
 * @socket: index of the socket
 * @kind: its kind
 * @direction: read or write, as memory sees it; of ports: from
 *	devices is a write; of links: received is a read
 * @nr_pmus: number of PMUs
 */
struct traffic_part {
	char name[MODEL_NAME_LEN];
	char pmu[64];
	char event[64];
	uint32_t socket;
	enum part_kind kind;
	enum direction direction;
	uint32_t nr_pmus;
};

/**
 * struct group - counters of one socket that are scheduled and read together
 * @socket: index of the socket
 * @first: index of the first counter; they follow each other
 * @nr: number of counters
 */
struct group {
	uint32_t socket;
	uint32_t first;
	uint32_t nr;
};

/* Kind of a report's rows. */
enum row_kind {
	ROW_PROCESS,
	ROW_CGROUP,
	ROW_THREAD,
	ROW_JOB,
};

/* Reason why bytes of a counter belong to no row. */
enum reason {
	REASON_IDLE,	   /* no task ran on the socket in that window */
	REASON_DEVICE,	   /* caused by devices of the socket */
	REASON_REMOTE,	   /* caused by another socket */
	REASON_OTHER,	   /* caused by tasks outside of the selection */
	REASON_LOST,	   /* caused by tasks whose CPU time was lost */
	REASON_BACKGROUND, /* independent of the workloads */
	NR_REASONS,
};

/**
 * struct share - one counter's part in a row
 * @counter: index into report.counters
 * @value: attributed to the row, in the counter's unit
 * @low: lower end of the 95% interval
 * @high: upper end of the 95% interval
 * @separable: false when the data cannot separate the row's part from other rows': it is the prior
 *	expectation, and the interval is wide
 */
struct share {
	uint32_t counter;
	uint64_t value;
	uint64_t low;
	uint64_t high;
	bool separable;
};

/**
 * struct report_probe - a latency over the interval
 * @probe: the probe; not owned
 * @valid: it was read at least twice and there were requests; otherwise no latency
 * @latency_cycles, @latency_ns: mean over the requests
 * @requests, @outstanding, @cycles: sums of the samples, as counted
 * @samples: number of samples, also those that are partly in the interval
 * @covered_ns: time they cover
 * @weighed: rows have a latency, weighted by their bytes of counters of this
 *	@destination, which is DESTINATION_ANY where no counter tells the probe's own
 */
struct report_probe {
	const struct probe *probe;
	bool valid;
	double latency_cycles;
	double latency_ns;
	uint64_t requests;
	uint64_t outstanding;
	uint64_t cycles;
	uint64_t samples;
	uint64_t covered_ns;
	bool weighed;
	enum destination destination;
};

/**
 * struct report_part - a part over the interval
 * @part: the part; not owned
 * @valid: it was counted; otherwise there is no value
 * @bytes: scaled where events took turns
 * @enabled_ns: time its events should have counted, of all PMUs together
 * @running_ns: time they counted
 * @covered_ns: time between the first and the last reading
 * @low, @high: 95% interval; equal to @bytes when all its events counted all the time
 */
struct report_part {
	const struct traffic_part *part;
	bool valid;
	uint64_t bytes;
	uint64_t enabled_ns;
	uint64_t running_ns;
	uint64_t covered_ns;
	uint64_t low;
	uint64_t high;
};

/**
 * struct seen_latency - the latency of a probe as seen by a row: the mean of the windows'
 * latencies, weighted by the row's estimated bytes in them
 * @probe: index into report.probes
 * @latency_ns: the mean
 * @bytes: bytes of the row behind the mean
 * @of_bytes: all bytes of the row of this direction and destination; @bytes is less where
 *	a window had no sample
 */
struct seen_latency {
	uint32_t probe;
	double latency_ns;
	uint64_t bytes;
	uint64_t of_bytes;
};

/**
 * struct report_counter - a counter over the interval
 * @counter: the counter
 * @valid: false when no reading of the interval was usable: then there is no value
 * @value: in @counter's unit, scaled when the event was multiplexed
 * @low, @high: 95% interval; equal to @value when it counted all the time
 * @attributed: sum of the rows' shares (leaf rows for cgroups)
 * @unattributed: by reason; @attributed plus their sum is @value
 * @enabled_ns: time the event should have counted
 * @running_ns: time it counted
 * @covered_ns: time that the used windows cover
 * @limit_per_s: upper limit in bytes a second; 0 = unknown
 */
struct report_counter {
	const struct counter *counter; /* not owned */
	bool valid;
	uint64_t value;
	uint64_t low;
	uint64_t high;
	uint64_t attributed;
	uint64_t unattributed[NR_REASONS];
	uint64_t enabled_ns;
	uint64_t running_ns;
	uint64_t covered_ns;
	uint64_t limit_per_s;
};

/**
 * struct device_bytes - bytes of a device in one direction
 * @valid: it was counted; otherwise no value
 * @bytes: scaled when it took turns
 * @low, @high: 95% interval; equal to @bytes when it counted all the time
 * @owned: part of @bytes that rows own (leaf rows for cgroups); the rest is unattributed
 * @to: @bytes by destination, if counters tell it (@split); sums to @bytes then
 * @split: @to is known
 * @requests_valid, @requests: requests, scaled
 * @io_valid: requests were noted; otherwise none are known, whatever there were
 * @io_bytes: bytes of requests that the kernel saw for this device, from any task. Not a part of
 * @bytes: a separate source, which knows the task
 */
struct device_bytes {
	bool valid;
	uint64_t bytes;
	uint64_t low;
	uint64_t high;
	uint64_t owned;
	uint64_t to[NR_DESTINATIONS];
	bool split;
	bool requests_valid;
	uint64_t requests;
	bool io_valid;
	uint64_t io_bytes;
};

/* Origin of a device's bytes. */
enum device_how {
	HOW_NONE,    /* there are none */
	HOW_COUNTED, /* counters of its own */
	HOW_DERIVED, /* of a link: other counters' difference, see enum term */
	NR_DEVICE_HOWS,
};

/**
 * struct report_device - a device over the interval
 * @device: the device; not owned
 * @read, @write: the device's view: it read memory, it wrote memory. Bytes of a link are in
 *	none of its function's. Where they are derived, @low and @high are the range that holds
 *	them for certain, as far as the counters are right
 * @how: origin of both
 * @why_none: of a link without bytes: why, "" when it is not known
 * @enabled_ns, @running_ns: time it should have been counted, time it was: its coverage
 * @turns: number of turns; 1 = all the time
 * @latency_valid, @latency_ns: mean latency of its reads
 * @sum_valid: its port was counted as a whole, too (DEVICE_PORT only)
 * @sum_bytes, @sum_low, @sum_high: bytes of the counted devices below the port in both directions,
 *	and the expected sum by the port's own count
 * @exclusive: key of the row that alone had it open, or a context on it, all the time, "" for none
 * @shared: several rows had it open, processes of one cgroup at once, or one after another. Without
 *	either, several cgroups had it at once, or its users are unknown
 * @work, @work_valid: work of an accelerator, where it was counted
 * @by: its users, and who prevented a single owner
 */
struct report_device {
	const struct device *device;
	struct device_bytes read;
	struct device_bytes write;
	enum device_how how;
	char why_none[MODEL_WHY_LEN];
	uint64_t enabled_ns;
	uint64_t running_ns;
	uint64_t turns;
	bool latency_valid;
	double latency_ns;
	bool sum_valid;
	uint64_t sum_bytes;
	uint64_t sum_low;
	uint64_t sum_high;
	char exclusive[MODEL_KEY_LEN];
	bool shared;
	uint64_t work[NR_WORKS];
	bool work_valid[NR_WORKS];
	struct device_users by;
};

/**
 * struct row_device - a row's part in a device's traffic
 * @device: index into report.devices
 * @read_bytes, @read_low, @read_high: estimate and its 95% interval; @counted
 * @write_bytes, @write_low, @write_high: the same
 * @counted: the device was counted
 * @io_read_bytes, @io_write_bytes: bytes of its requests as the kernel saw them, in the device's
 *	view; where device_bytes.io_valid
 */
struct row_device {
	uint32_t device;
	bool counted;
	uint64_t read_bytes;
	uint64_t read_low;
	uint64_t read_high;
	uint64_t write_bytes;
	uint64_t write_low;
	uint64_t write_high;
	uint64_t io_read_bytes;
	uint64_t io_write_bytes;
};

/**
 * struct report_row - a process, thread, cgroup or job
 * @key: stable identity: "pid:PID:START", "tid:TID:START", "cgroup:ID", or "cgroup:ID:own" for the
 *	tasks directly in a cgroup that also has children. Jobs: "job:ID" with the id of the job's
 *	own cgroup, "job:ID:STEP" for a step of it, "job:ID:own" for tasks in no step of a job with
 *	steps, "job:none" for tasks in no job
 * @parent: key of the row this one is contained in, "" for none (cgroups and steps only)
 * @leaf: rows whose values add up to the counters; true for all but parent cgroups and jobs with
 *	steps
 * @pid, @tid, @comm: process and thread rows
 * @comm_known: false when the name is unknown
 * @exited: it has ended; of a job: its cgroup was removed, which is reported in exactly one
 *	interval, the job's last one unless slices come late
 * @kernel: a kernel thread
 * @job: the job that the row is or belongs to; owned, NULL for none
 * @cgroup_id, @cgroup: cgroup of the row; NULL when the path is unknown
 * @on_cpu_ns: CPU time in the interval
 * @shares: one for each counter with @source SOURCE_CPU that had a value, and for those of
 *	devices and with @source SOURCE_DEVICE in which it has a part
 * @latencies: latencies seen by it; owned
 * @devices: devices in which it has a part, by their order in the report; owned
 * @separable: false when one of the shares with bytes is not
 * @pooled: a leaf that was too small to be estimated alone, for most of its bytes
 * @tangled: keys of the rows it is tangled with, the largest first; owned
 * @nr_tangled: length of @tangled, at most MODEL_MAX_TANGLED
 * @nr_tangled_all: number of all of them
 */
struct report_row {
	enum row_kind kind;
	char key[MODEL_KEY_LEN];
	char parent[MODEL_KEY_LEN];
	bool leaf;
	bool comm_known;
	bool exited;
	bool kernel;
	uint32_t pid;
	uint32_t tid;
	uint64_t start_ns;
	char comm[MODEL_COMM_LEN];
	struct row_job *job;
	uint64_t cgroup_id;
	char *cgroup;
	uint64_t on_cpu_ns;
	struct share *shares;
	size_t nr_shares;
	struct seen_latency *latencies;
	size_t nr_latencies;
	struct row_device *devices;
	size_t nr_devices;
	bool separable;
	bool pooled;
	char (*tangled)[MODEL_KEY_LEN];
	size_t nr_tangled;
	size_t nr_tangled_all;
};
#define MODEL_MAX_TANGLED 8

/**
 * struct report_socket - CPU time of a socket over the interval
 * @id: socket number
 * @nr_cpus: CPUs that were online at some time
 * @busy_ns: CPU time of all tasks, followed or not
 * @idle_ns: time of the idle tasks
 * @lost_ns: time that could not be booked to a task
 */
struct report_socket {
	uint32_t id;
	uint32_t nr_cpus;
	uint64_t busy_ns;
	uint64_t idle_ns;
	uint64_t lost_ns;
};

/* Longest sentence about gaps of a kernel, with its terminator. */
#define MODEL_NOTE_LEN 640

struct host_info {
	char name[65];
	char kernel[65];
	char platform[16]; /* "t410", "grace", or "none" when there are no counters */
	uint32_t sockets;
	char io_note[MODEL_NOTE_LEN]; /* gaps in requests of devices in this run, and why */
	char tick[8];		      /* tick_mode_name(), "" = unknown, or no windows */
	/* where windows are not closed at ticks, and why; how they were made or divided */
	char tick_note[MODEL_NOTE_LEN];
	struct peaks peaks; /* peaks of memory and links */
};

/**
 * struct report - everything about one interval
 * @host: not owned
 * @sequence: number of the report, from 0
 * @summary: covers the whole run, not one interval
 * @start_ns, @end_ns: the interval
 * @start_time_ns: its start on CLOCK_REALTIME
 * @by: kind of its rows
 * @replayed: made from a recording
 * @resctrl, @nr_resctrl: counts of the kernel's monitoring; owned
 * @parts: measured elsewhere than the counters, and in none of them
 * @unplaced_ns: CPU time of tasks on CPUs whose socket is not known, or is not counted: in no row
 * @saturated_windows: windows in which the memory was saturated, for at least one counter
 * @estimated_windows, @simple_windows: windows of counters that were split by an intensity for each
 *	workload, in proportion to activity alone, or mostly so
 */
struct report {
	const struct host_info *host;
	uint64_t sequence;
	bool summary;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t start_time_ns;
	enum row_kind by;
	bool replayed;
	struct report_counter *counters;
	size_t nr_counters;
	struct report_probe *probes;
	size_t nr_probes;
	struct report_part *parts;
	size_t nr_parts;
	struct report_device *devices;
	size_t nr_devices;
	struct report_row *rows;
	size_t nr_rows;
	struct report_socket *sockets;
	size_t nr_sockets;
	struct report_resctrl *resctrl;
	size_t nr_resctrl;
	uint64_t unplaced_ns;
	uint64_t saturated_windows;
	uint64_t estimated_windows;
	uint64_t simple_windows;
	struct quality quality;
	struct self_cost self;
};

/** report_socket_at() - the number of a socket, as users know it, by its index */
uint32_t report_socket_at(const struct report *r, uint32_t socket);

/* Readings may miss the ends of an interval by this part of it without being called early or late. */
#define REPORT_NEARLY 0.05

/** report_duration_ns() - the length of a report's interval; 0 if its end is before its start */
uint64_t report_duration_ns(const struct report *r);

/** report_socket_id() - the number of a counter's socket, as users know it */
uint32_t report_socket_id(const struct report *r, const struct counter *c);

/**
 * quality_per_window() - part of the tasks' CPU time in which activity was known window by window
 * @q: with quality.tasks_ns
 */
double quality_per_window(const struct quality *q);

/** report_row_release() - free the memory of a row, not the structure */
void report_row_release(struct report_row *row);

/** report_free() - release a report and all its memory; NULL is fine */
void report_free(struct report *r);

/* Names as they appear in reports. */
const char *source_name(enum source s);
const char *direction_name(enum direction d); /* "read", "write", "readwrite" */
const char *reason_name(enum reason r);
/** reason_unsplit() - why bytes of a counter that were not split are unattributed */
enum reason reason_unsplit(const struct counter *c);
const char *row_kind_name(enum row_kind k);
const char *destination_name(
	enum destination d);		/* "any", "cmem", "gmem", "cxl", "remote", "p2p" */
const char *method_name(enum method m); /* see METHODS */
/** method_row() - the row of a method, or a row named "unknown" */
const struct method_row *method_row(enum method m);
const char *unit_name(enum unit u);	    /* "bytes", "requests", "nanojoules", "events" */
const char *work_name(enum work w);	    /* "invocations", "memory_cycles" */
const char *estimate_name(enum estimate e); /* "none", "upper", "lower" */
/* "none", "local", "devices", "remote", "ports", "links", "cxl" */
const char *part_name(enum part_kind k);
const char *term_name(enum term t);		/* "none", "whole", "less" */
const char *device_how_name(enum device_how h); /* "none", "counted", "derived" */
/* "other", "nvme", "block", "net", "rdma", "gpu", "vfio", "port", ..., "link" */
const char *device_kind_name(enum device_kind k);
const char *wiring_name(enum wiring w); /* "unknown", "firmware", "user", "medium", "low" */
const char *device_filter_name(enum device_filter f); /* "none", "port", "requester id" */
const char *device_link_name(enum device_link link);  /* "unknown", "pcie", "c2c" */
const char *io_noted_name(enum io_noted io); /* "untold", "none", "read", "write", "both" */
/**
 * device_notes_io() - were its requests noted?
 * @d: the device; where a trace does not tell, its kind does: disks and network cards have requests
 * @direction: DIRECTION_READ or DIRECTION_WRITE
 */
bool device_notes_io(const struct device *d, enum direction direction);

#endif
