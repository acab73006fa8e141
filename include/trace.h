/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The trace: everything the engine ever learns about a run, as a stream of events. A live run makes
 * it from kernel records, a recording or an NDJSON file holds it, and a report is a function of it
 * alone: the same events give the same report.
 *
 * Plain data. Except for the header, pointers are valid during the call only.
 */
#ifndef T410TRACE_TRACE_H
#define T410TRACE_TRACE_H

#include <errno.h>

#include "model.h"

/* Events of the core PMU whose counts go with each slice. */
#define TRACE_MAX_WEIGHTS     2
#define TRACE_WEIGHT_NAME_LEN 64

/* Limits that a reader enforces; far above what exists. */
#define TRACE_MAX_CPUS	      65536
#define TRACE_MAX_SOCKETS     64
#define TRACE_MAX_COUNTERS    4096
#define TRACE_MAX_DEVICES     512
#define TRACE_MAX_PROBES      256
#define TRACE_MAX_PARTS	      1024
#define TRACE_MAX_CONTEXTS    400   /* on a device at a time */
#define TRACE_HIERARCHY_SHIFT 48    /* cgroup ids: number of the v1 controller above this bit */
#define TRACE_MAX_LINKS	      16384 /* probes times counters: each row may have this many */

/**
 * struct layout - constants of a run
 * @cpu_socket: index of the socket of each CPU, or LAYOUT_NO_SOCKET; see trace_header.online
 * @nr_cpus: length of @cpu_socket
 * @socket_ids: number of each socket, as users know it
 * @nr_sockets: length of @socket_ids
 * @counters, @nr_counters: all counters; those of a group follow each other
 * @groups, @nr_groups: their groups; counters[i].group and groups[] agree
 */
struct layout {
	uint32_t *cpu_socket;
	uint32_t nr_cpus;
	uint32_t *socket_ids;
	uint32_t nr_sockets;
	struct counter *counters;
	size_t nr_counters;
	struct group *groups;
	size_t nr_groups;
};
#define LAYOUT_NO_SOCKET UINT32_MAX

/**
 * struct trace_header - facts known before the first event; owns all it points to
 * @host: name, kernel, platform, number of sockets
 * @layout: CPUs, sockets, counters
 * @window_ns: requested time between two readings, 0 = unknown
 * @interval_ns: requested time between two marks, 0 = unknown
 * @by_thread: tasks are threads; otherwise processes
 * @marked: the trace has marks; otherwise the reader of the events must choose the ends of
 *	intervals by the windows
 * @all: every workload was selected; otherwise followed ones and @cgroups
 * @cgroups, @nr_cgroups: selected, as paths from the root of the v2 tree
 * @jobs, @nr_jobs: selected, see job_text_parse()
 * @weights, @nr_weights: names of the core events counted per slice. With two, the
 *	first stands for reads and the second for writes; with one, it is for both
 * @probes, @nr_probes: measured latencies
 * @devices, @nr_devices: devices with counters, or with noted requests
 * @parts, @nr_parts: parts measured elsewhere than the counters
 * @resctrl: the kernel's monitoring groups were read
 * @contexts: a program told who uses devices: their links and UUIDs are known where they have any,
 *	and there may be TRACE_CONTEXTS and TRACE_ACTIVITY
 * @holders: open nodes of devices were looked at: there may be TRACE_HOLDERS
 * @c2c: there may be links (DEVICE_LINK) among the devices, and terms among the counters
 * @online: CPUs with a socket were online at the start, and TRACE_CPU tells what changes; otherwise
 *	CPUs with a socket are those of the machine
 */
struct trace_header {
	struct host_info host;
	struct layout layout;
	uint64_t window_ns;
	uint64_t interval_ns;
	bool by_thread;
	bool marked;
	bool all;
	char **cgroups;
	size_t nr_cgroups;
	char **jobs;
	size_t nr_jobs;
	char weights[TRACE_MAX_WEIGHTS][TRACE_WEIGHT_NAME_LEN];
	uint32_t nr_weights;
	struct probe *probes;
	size_t nr_probes;
	struct device *devices;
	size_t nr_devices;
	struct traffic_part *parts;
	size_t nr_parts;
	bool resctrl;
	bool contexts;
	bool c2c;
	bool holders;
	bool online;
};

/**
 * struct trace_task - a task exists, was started or renamed
 * @pid: thread group id, or thread id when the trace is by thread
 * @tgid: thread group id
 * @parent: process that started it, 0 = unknown
 * @parent_start_ns: start time of the parent's thread group leader
 * @start_ns: start time; with @pid its identity
 * @cgroup_id: its cgroup, 0 = unknown
 * @comm: name, NULL = unknown
 * @kernel: a kernel thread
 */
struct trace_task {
	uint32_t pid;
	uint32_t tgid;
	uint32_t parent;
	uint64_t parent_start_ns;
	uint64_t start_ns;
	uint64_t cgroup_id;
	const char *comm;
	bool kernel;
};

/* Tasks with a fixed meaning; @tgid and the rest are not used then. */
#define TRACE_PID_IDLE 0u	  /* the idle task */
#define TRACE_PID_LOST UINT32_MAX /* CPU time whose task could not be noted */

/**
 * struct trace_slice - a task was on a CPU
 * @pid, @tgid, @task_start_ns, @cgroup_id: the task
 * @cpu: the CPU
 * @start_ns, @end_ns: the time was somewhere between these
 * @on_cpu_ns: its amount, at most the distance of the two
 * @weights: counts of the core events for the task in the part of @on_cpu_ns that is @weights_ns
 *	long
 * @weights_ns: CPU time during which they counted; 0 = no weights
 */
struct trace_slice {
	uint32_t pid;
	uint32_t tgid;
	uint64_t task_start_ns;
	uint64_t cgroup_id;
	uint32_t cpu;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t on_cpu_ns;
	uint64_t weights[TRACE_MAX_WEIGHTS];
	uint64_t weights_ns;
};

/**
 * struct reading - one counter in one window
 * @value: bytes that it gained
 * @enabled_ns: time it should have counted
 * @running_ns: time it counted; 0 = no data
 */
struct reading {
	uint64_t value;
	uint64_t enabled_ns;
	uint64_t running_ns;
};

/**
 * struct trace_window - a group of counters was read
 * @group: its index
 * @start_ns, @end_ns: windows of a group do not overlap
 * @readings: one a counter of the group
 */
struct trace_window {
	uint32_t group;
	uint64_t start_ns;
	uint64_t end_ns;
	const struct reading *readings;
};

/**
 * struct trace_sample - a probe was read twice
 * @probe: index into trace_header.probes
 * @start_ns, @end_ns: samples of a probe do not overlap
 * @outstanding, @requests, @cycles: counts in between
 * @enabled_ns, @running_ns: as in struct reading; 0 running = no data
 */
struct trace_sample {
	uint32_t probe;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t outstanding;
	uint64_t requests;
	uint64_t cycles;
	uint64_t enabled_ns;
	uint64_t running_ns;
};

/**
 * struct trace_part - bytes of a part over some time
 * @part: index into trace_header.parts
 * @start_ns, @end_ns: parts of the same kind and socket may be read at slightly different times
 * @bytes: scaled to all of the time
 * @enabled_ns, @running_ns: of all its events together; less running than enabled: they took turns,
 *	or other users had the hardware. 0 running = no data
 */
struct trace_part {
	uint32_t part;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t bytes;
	uint64_t enabled_ns;
	uint64_t running_ns;
};

/**
 * struct trace_resctrl - count of a monitoring group of the kernel (resctrl) between two readings
 * @group: its path below the mount of resctrl, shorter than RESCTRL_GROUP_LEN
 * @state: of its number, see resctrl_state_name()
 * @start_ns, @end_ns: the readings
 * @bytes: with the state "counted"; otherwise 0
 * @domains: caches or memories at which it is counted
 * @missing: of these, those without a number
 * @tasks: tasks in the group, threads each
 * @cgroup: the deepest cgroup of the v2 tree that has them all, shorter than RESCTRL_PATH_LEN;
 *	NULL: it has none, or only the root has them all
 * @of_tasks: tasks in @cgroup and below it, 0 = unknown
 * @above: number of cgroups above @cgroup without other tasks
 *
 * It belongs to the interval that the next mark ends, regardless of its times.
 */
struct trace_resctrl {
	const char *group;
	const char *state;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t bytes;
	uint32_t domains;
	uint32_t missing;
	uint32_t tasks;
	const char *cgroup;
	uint32_t of_tasks;
	uint32_t above;
};

/**
 * struct trace_io - a workload made a device move data, or alone could have
 * @pid, @tgid, @task_start_ns, @cgroup_id: the task; @pid 0: only the cgroup is known;
 *	TRACE_PID_LOST: the owner is unknown
 * @device: index into trace_header.devices
 * @exclusive: from start to end no process outside of this workload's cgroup had the device open,
 *	so that all its bytes belong to it (or to the other processes of the cgroup that are
 *	reported to have it open at the same time). No bytes then
 * @read_bytes, @write_bytes: the device's view: bytes written to disk or sent are @read_bytes,
 *	because the device reads memory
 * @start_ns, @end_ns: its time was between these
 */
struct trace_io {
	uint32_t pid;
	uint32_t tgid;
	uint64_t task_start_ns;
	uint64_t cgroup_id;
	uint32_t device;
	bool exclusive;
	uint64_t read_bytes;
	uint64_t write_bytes;
	uint64_t start_ns;
	uint64_t end_ns;
};

/**
 * struct trace_job_news - facts about a job beyond its cgroup's path
 * @cgroup_id: the job's own cgroup, from an earlier event
 * @id: its number, shorter than JOB_ID_LEN; NULL = as in the path. Behind a blank its name as the
 *	task of a Slurm array, if it is one: "14 12_3"
 * @name, @user: shorter than JOB_NAME_LEN; NULL = unknown
 * @uid: of the task that told the user, 0 = unknown. In no recording: it is for the daemon, which
 *	shows users their own jobs
 *
 * NULL fields and 0 keep their previous value.
 */
struct trace_job_news {
	uint64_t cgroup_id;
	const char *id;
	const char *name;
	const char *user;
	uint32_t uid;
};

/**
 * struct trace_lost - data is known to be missing (NDJSON "lost")
 * @what: "slices", "windows", "tasks", "cgroups" or "io"; others are ignored
 * @socket: index
 * @start_ns, @end_ns: the time
 * @count: the number of them
 */
struct trace_lost {
	const char *what;
	uint32_t socket;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t count;
};

/**
 * struct trace_mark - everything before it is in the trace
 * @first: the books begin here; all later marks end an interval
 * @last: the run ended here
 * @inner: inside an interval, which continues: windows up to here can be split
 * @time_ns: its time
 * @realtime_ns: CLOCK_REALTIME at @time_ns
 * @ends_ns: end (with @first: begin; with @inner: complete up to here) on each socket of the
 *	layout. NULL only with @last, at the end of a trace without marks: its end
 * @losses: running totals since the start; names and the engine's own counts are not set
 * @cost: running totals since the start; switch_ns is that of the timed switches
 */
struct trace_mark {
	bool first;
	bool last;
	bool inner;
	uint64_t time_ns;
	uint64_t realtime_ns;
	const uint64_t *ends_ns;
	struct quality losses;
	struct self_cost cost;
};

/**
 * struct trace_exit - a task has ended
 * @pid, @start_ns: as in struct trace_task
 */
struct trace_exit {
	uint32_t pid;
	uint64_t start_ns;
};

/**
 * struct trace_resync - the living tasks are listed
 * @begin: all living tasks follow as TRACE_TASK, up to the event without @begin; tasks
 *	not among them have ended
 */
struct trace_resync {
	bool begin;
};

/**
 * struct trace_cgroup - a cgroup was made, renamed or found, or removed
 * @id: ids of the v2 tree are below 1 << TRACE_HIERARCHY_SHIFT. Tasks may instead be in a cgroup of
 *	a v1 hierarchy: the number of its controller (1 to 15) is in the upper bits. So all ids are
 *	below 2^53, which every JSON reader takes exactly: on 64-bit kernels, ids count up from 1
 *	and reach bit 31 after 2^31 files of cgroups
 * @path: begins with a slash; in a v1 hierarchy the name of the controller comes before it:
 *	"freezer:/slurm/uid_0/job_3". NULL: removed. A path reused with a different id is a
 *	different cgroup
 * @made_ns: when it was made, 0: not known, or found. Not in recordings: no report shows it, only
 *	accounts of a live run begin there
 */
struct trace_cgroup {
	uint64_t id;
	const char *path;
	uint64_t made_ns;
};

/**
 * struct trace_follow - a process and the children it starts are followed from now on
 * @pid: its thread group id
 */
struct trace_follow {
	uint32_t pid;
};

/**
 * struct trace_cpu - a CPU has come online, or has gone offline
 * @cpu: the CPU
 * @socket: index of its socket from now on; LAYOUT_NO_SOCKET for one that is none of the layout.
 *	An offline CPU has none, and slices of it that come late are on its last one
 * @online: it is online
 */
struct trace_cpu {
	uint32_t cpu;
	uint32_t socket;
	bool online;
};

#define TRACE_NO_INSTANCE DEVICE_NO_INSTANCE

/**
 * struct trace_context - a process that can have work done by a device
 * @pid, @start_ns: the process. Its start is known to a hundredth of a second
 * @instance: the part of a split device, TRACE_NO_INSTANCE for all of it
 * @since_ns: the look that saw it first
 */
struct trace_context {
	uint32_t pid;
	uint64_t start_ns;
	uint32_t instance;
	uint64_t since_ns;
};

/**
 * struct trace_contexts - a look at a device: all processes that have a context
 * @device: index into trace_header.devices
 * @start_ns: the look before, if that told them too; otherwise @end_ns
 * @end_ns: this look
 * @processes, @nr: at @end_ns, at most TRACE_MAX_CONTEXTS. A look that could not tell is no event
 */
struct trace_contexts {
	uint32_t device;
	uint64_t start_ns;
	uint64_t end_ns;
	const struct trace_context *processes;
	uint32_t nr;
};

/**
 * struct trace_busy - work of a process on a device
 * @pid, @start_ns: as in struct trace_context
 * @busy_ns: time on its engines, of all engines together
 * @copy_ns: part of it on copy engines
 */
struct trace_busy {
	uint32_t pid;
	uint64_t start_ns;
	uint64_t busy_ns;
	uint64_t copy_ns;
};

/**
 * struct trace_activity - all processes that a device worked for
 * @device: index into trace_header.devices
 * @start_ns, @end_ns: in this time
 * @copies: copy_ns is known
 * @samples: busy_ns is of so many samples of one process each; 0: it was measured
 * @period_ns: between two samples
 * @processes, @nr: at most TRACE_MAX_CONTEXTS
 */
struct trace_activity {
	uint32_t device;
	uint64_t start_ns;
	uint64_t end_ns;
	bool copies;
	uint32_t samples;
	uint64_t period_ns;
	const struct trace_busy *processes;
	uint32_t nr;
};

/** enum trace_event_type - which member of struct trace_event is set */
enum trace_event_type {
	TRACE_TASK,
	TRACE_EXIT,
	TRACE_RESYNC,
	TRACE_CGROUP,
	TRACE_JOB,
	TRACE_FOLLOW,
	TRACE_SLICE,
	TRACE_WINDOW,
	TRACE_SAMPLE,
	TRACE_IO,
	TRACE_PART,
	TRACE_RESCTRL,
	TRACE_LOST,
	TRACE_MARK,
	TRACE_CPU,
	TRACE_CONTEXTS,
	TRACE_ACTIVITY,
	TRACE_HOLDERS,
	NR_TRACE_EVENTS
};

/**
 * struct trace_event - one event of a trace
 * @type: the member that is set. TRACE_HOLDERS has @contexts: a look at open nodes, of processes
 *	that have the device's open if these are in several cgroups. Without such an event they are
 *	in one cgroup, or there are none, or nothing is known
 */
struct trace_event {
	enum trace_event_type type;
	union {
		struct trace_task task;
		struct trace_exit exit;
		struct trace_resync resync;
		struct trace_cgroup cgroup;
		struct trace_job_news job;
		struct trace_follow follow;
		struct trace_slice slice;
		struct trace_window window;
		struct trace_sample sample;
		struct trace_io io;
		struct trace_part part;
		struct trace_resctrl resctrl;
		struct trace_lost lost;
		struct trace_mark mark;
		struct trace_cpu cpu;
		struct trace_contexts contexts;
		struct trace_activity activity;
	};
};

/**
 * trace_device_socket() - the socket whose intervals hold for a device
 * @h: with sockets
 * @device: index
 *
 * Return: the index of its own one, or of the first where its place is not known: sockets differ
 * by very little.
 */
static inline uint32_t trace_device_socket(const struct trace_header *h, uint32_t device)
{
	uint32_t socket = h->devices[device].socket;

	return socket < h->layout.nr_sockets ? socket : 0;
}

/**
 * trace_valid() - do the indexes, times and amounts of an event make sense?
 * @h: what its indexes are about
 * @e: the event
 *
 * The engine judges a single event by this alone: the session and the boundaries of a replay ask it
 * first, and the rooms below assert. It does not look at the order of events. Files may hold more,
 * see trace_fits() in user/trace/fields.h.
 */
bool trace_valid(const struct trace_header *h, const struct trace_event *e);

/**
 * struct trace_sink - receives the events of a trace, in order
 * @event: returns 0 or a negative errno: -EINVAL for an invalid event (times, indexes), which was
 *	left out; other errors end the trace. A sink that ignores a type of event returns 0
 * @arg: its argument
 */
struct trace_sink {
	int (*event)(void *arg, const struct trace_event *e);
	void *arg;
};

/** trace_send() - hand an event to a sink; returns its result. There is one for each type */
static inline int trace_send(const struct trace_sink *to, const struct trace_event *e)
{
	return to->event(to->arg, e);
}

/** trace_taken() - result of a sink: 0 also for an event left out, which is counted */
static inline int trace_taken(int err, uint64_t *left_out)
{
	*left_out += err == -EINVAL;
	return err == -EINVAL ? 0 : err;
}

/* Only what the type needs is set: a slice must not cost the size of a mark. */
#define TRACE_SEND(to, of_type, member, ...) \
	({                                   \
		struct trace_event e_;       \
		e_.type = (of_type);         \
		e_.member = __VA_ARGS__;     \
		trace_send(to, &e_);         \
	})

static inline int trace_send_task(const struct trace_sink *to, const struct trace_task *t)
{
	return TRACE_SEND(to, TRACE_TASK, task, *t);
}

static inline int trace_send_job(const struct trace_sink *to, const struct trace_job_news *j)
{
	return TRACE_SEND(to, TRACE_JOB, job, *j);
}

static inline int trace_send_slice(const struct trace_sink *to, const struct trace_slice *s)
{
	return TRACE_SEND(to, TRACE_SLICE, slice, *s);
}

static inline int trace_send_window(const struct trace_sink *to, const struct trace_window *w)
{
	return TRACE_SEND(to, TRACE_WINDOW, window, *w);
}

static inline int trace_send_sample(const struct trace_sink *to, const struct trace_sample *s)
{
	return TRACE_SEND(to, TRACE_SAMPLE, sample, *s);
}

static inline int trace_send_io(const struct trace_sink *to, const struct trace_io *io)
{
	return TRACE_SEND(to, TRACE_IO, io, *io);
}

static inline int trace_send_part(const struct trace_sink *to, const struct trace_part *p)
{
	return TRACE_SEND(to, TRACE_PART, part, *p);
}

static inline int trace_send_resctrl(const struct trace_sink *to, const struct trace_resctrl *r)
{
	return TRACE_SEND(to, TRACE_RESCTRL, resctrl, *r);
}

static inline int trace_send_lost(const struct trace_sink *to, const struct trace_lost *l)
{
	return TRACE_SEND(to, TRACE_LOST, lost, *l);
}

static inline int trace_send_mark(const struct trace_sink *to, const struct trace_mark *m)
{
	return TRACE_SEND(to, TRACE_MARK, mark, *m);
}

static inline int trace_send_cpu(const struct trace_sink *to, const struct trace_cpu *c)
{
	return TRACE_SEND(to, TRACE_CPU, cpu, *c);
}

static inline int trace_send_exit(const struct trace_sink *to, uint32_t pid, uint64_t start_ns)
{
	return TRACE_SEND(to, TRACE_EXIT, exit, (struct trace_exit){ pid, start_ns });
}

static inline int trace_send_resync(const struct trace_sink *to, bool begin)
{
	return TRACE_SEND(to, TRACE_RESYNC, resync, (struct trace_resync){ begin });
}

static inline int trace_send_cgroup(const struct trace_sink *to, uint64_t id, const char *path)
{
	return TRACE_SEND(to, TRACE_CGROUP, cgroup, (struct trace_cgroup){ id, path, 0 });
}

static inline int trace_send_follow(const struct trace_sink *to, uint32_t pid)
{
	return TRACE_SEND(to, TRACE_FOLLOW, follow, (struct trace_follow){ pid });
}

static inline int trace_send_contexts(const struct trace_sink *to, const struct trace_contexts *c)
{
	return TRACE_SEND(to, TRACE_CONTEXTS, contexts, *c);
}

static inline int trace_send_holders(const struct trace_sink *to, const struct trace_contexts *c)
{
	return TRACE_SEND(to, TRACE_HOLDERS, contexts, *c);
}

static inline int trace_send_activity(const struct trace_sink *to, const struct trace_activity *a)
{
	return TRACE_SEND(to, TRACE_ACTIVITY, activity, *a);
}

#endif
