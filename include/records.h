/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Contract between the BPF programs and user space: the content of shared maps, and the records of
 * the ring buffer. Fixed-width types and explicit padding only; both sides assert the layout below.
 *
 * All times are CLOCK_MONOTONIC nanoseconds (bpf_ktime_get_ns()).
 */
#ifndef T410TRACE_RECORDS_H
#define T410TRACE_RECORDS_H

#define LEDGER_COMM_LEN	   16
#define LEDGER_PATH_LEN	   512 /* longer cgroup paths are truncated, and read again from cgroupfs */
#define LEDGER_MAX_EVENTS  512 /* uncore events of one reader */
#define LEDGER_MAX_WEIGHTS 2   /* core events read at each switch */

/*
 * Slots of one CPU: if more processes take turns on it, each switch sends a slice to user space,
 * which may not keep up (docs/PERFORMANCE.md). The last two have a fixed use, see struct
 * cpu_ledger. A power of two, because BPF code bounds an index with a mask.
 */
#define LEDGER_SLOTS	   128
#define LEDGER_KEY_SLOTS   (LEDGER_SLOTS - 2) /* for any task */
#define LEDGER_RUN_SLOT	   (LEDGER_SLOTS - 2) /* spare: a run that crosses windows */
#define LEDGER_LOST_SLOT   (LEDGER_SLOTS - 1) /* CPU time whose task could not be noted */
#define LEDGER_INDEX	   1024		      /* hash places, power of two */
#define LEDGER_WAYS	   4		      /* places of a key, power of two */

#define LEDGER_LOST_PID	   0xffffffffu
#define LEDGER_NO_SOCKET   0xffffffffu
#define LEDGER_NO_READER   0xffffffffu

/* Instructions "r0 = this" are stand-ins for calls, see preempt_off() in bpf/shared.bpf.h. */
#define LEDGER_PREEMPT_OFF 0x7410d15a
#define LEDGER_PREEMPT_ON  0x7410e4ab

/* Ids of cgroups: as the kernel numbers those of the v2 tree, or above this bit the number of a v1 controller. */
#define LEDGER_V1_SHIFT	   48

enum ledger_record_type {
	LEDGER_SLICES = 1, /* struct ledger_slices */
	LEDGER_WINDOW,	   /* struct ledger_window */
	LEDGER_TASK_FORK,  /* struct ledger_task */
	LEDGER_TASK_NAME,  /* struct ledger_task: exec or rename */
	LEDGER_TASK_EXIT, /* struct ledger_task: last thread, or the thread itself with by_thread */
	LEDGER_CGROUP_NEW,  /* struct ledger_cgroup: made or renamed */
	LEDGER_CGROUP_GONE, /* struct ledger_cgroup, without path */
	LEDGER_WEIGHTS,	    /* struct ledger_weights: of the LEDGER_SLICES that follows */
	LEDGER_IO,	    /* struct ledger_io */
};

struct ledger_header {
	__u32 type;
	__u32 cpu;
	__u64 time_ns;
};

/**
 * struct ledger_slot - CPU time of one (task, cgroup) on one CPU
 * @css_set: kernel address of the task's css_set: the cgroup part of the key; 0: the slot can no
 *	longer be found. With @pid unique within a window: a css_set outlives an RCU grace period
 *	after its last task has left it. Slots that live longer are forgotten at moves.
 * @pid: thread group id (thread id when the ledger is kept by thread); 0 is the idle task,
 *	LEDGER_LOST_PID time without an owner
 * @tgid: thread group id
 * @start_ns: start time of the task @pid names
 * @cgroup_id: see LEDGER_V1_SHIFT
 * @first_ns: the task was first put on this CPU
 * @last_ns: the task was last taken off
 * @on_cpu_ns: time on the CPU between the two
 */
struct ledger_slot {
	__u64 css_set;
	__u32 pid;
	__u32 tgid;
	__u64 start_ns;
	__u64 cgroup_id;
	__u64 first_ns;
	__u64 last_ns;
	__u64 on_cpu_ns;
};

/**
 * struct ledger_slices - slots of one CPU since its last flush
 * @nr: number of @slots sent
 * @until_ns: all CPU time of this CPU up to then is in this record and those before it
 */
struct ledger_slices {
	struct ledger_header h;
	__u32 nr;
	__u32 pad0;
	__u64 until_ns;
	struct ledger_slot slots[LEDGER_SLOTS];
};

/**
 * struct ledger_move - a task was moved to another cgroup while it had a CPU
 * @task, @css_set: the run, as in the CPU's ledger
 * @from_id: cgroup that it was in until then
 * @to_id: its new cgroup
 * @time_ns: when it was moved
 * @check: sum of the other members
 */
struct ledger_move {
	__u64 task;
	__u64 css_set;
	__u64 from_id;
	__u64 to_id;
	__u64 time_ns;
	__u64 check;
};

/* Moves kept for one run, power of two; more are counted as lost. */
#define LEDGER_MOVES	  8

/*
 * cpu_ledger.rest: 0 while a task has the CPU or may have it, otherwise one of these two and, in
 * the bits above, a time: the start of its idle task's run, or the time up to which user space has
 * taken the slots. The CPU sets it as its last step when it goes idle, and clears it as its first
 * step when it leaves. User space takes the slots by a compare-and-exchange of the value that it
 * has read, so one of the two wins and the other one sees that.
 */
#define LEDGER_REST_SHIFT 1
#define LEDGER_REST_TAKEN 1ull	 /* the slots are user space's, and idle time up to then */
#define LEDGER_REST_NS	  100000 /* after this time all earlier writes of a CPU are visible */
#define LEDGER_RESTS(ns)  ((__u64)(ns) << LEDGER_REST_SHIFT)

/**
 * struct cpu_ledger - state of one CPU, written only by that CPU, except for moves and @rest
 * @since_ns: CPU time up to here is in the slots; 0 = never switched
 * @boundary_ns: start of the window that the slots belong to
 * @socket: its windows apply; written by user space, and again when it learns of it later
 * @nr: slots in use
 * @switches: context switches seen
 * @idle: address of the idle task of this CPU, once it has been seen
 * @task: address of the task that was put on the CPU last
 * @css_set: that of its css_set, when it was put there
 * @moved: filled @moves: set by other CPUs, cleared by this one
 * @index: hash of the key to slot number, LEDGER_WAYS places a key
 * @timed_ns: duration of the timed switches
 * @timed: switches that were timed
 * @flush_failed: times the ring buffer was full; slots were kept
 * @unseen: switches that must have happened without a call of the program
 * @rest: see LEDGER_REST_SHIFT
 * @out: the slots, laid out as the record they are sent in; its @nr is set when it is
 * @full_ns: when the ring buffer had no room for them last; 0 = it had the last time
 * @reader: index of the reader on this CPU, or LEDGER_NO_READER; written by user space
 * @no_tick: windows are not closed at the ticks of this CPU; written by user space
 * @asked: user space's flush is running
 * @moves: the task was moved while it ran here; written by the CPUs that moved it
 *
 * Fields that every switch touches fill the first cache line.
 */
struct cpu_ledger {
	__u64 since_ns;
	__u64 boundary_ns;
	__u32 socket;
	__u32 nr;
	__u64 switches;
	__u64 idle;
	__u64 task;
	__u64 css_set;
	__u64 moved;
	__u8 index[LEDGER_INDEX];
	__u64 timed_ns;
	__u64 timed;
	__u64 flush_failed;
	__u64 unseen;
	__u64 rest;
	struct ledger_slices out;
	__u64 full_ns;
	__u32 reader;
	__u32 no_tick;
	__u32 asked;
	__u32 pad0;
	struct ledger_move moves[LEDGER_MOVES];
	__u8 tail[96]; /* to a multiple of two cache lines */
};

/* Devices: rows of user space's list. */
#define LEDGER_MAX_DEVICES 512
#define LEDGER_NO_DEVICE   0xffffffffu
#define LEDGER_IO_SLOTS	   32
#define LEDGER_IO_INDEX	   64 /* hash places, power of two */
#define LEDGER_DISK_LEN	   32 /* DISK_NAME_LEN of the kernel */

/**
 * struct ledger_io_slot - bytes that one workload made one device move
 * @pid: thread group id (thread id when the ledger is kept by thread); 0: only the cgroup is known;
 *	LEDGER_LOST_PID: the owner is unknown
 * @tgid: thread group id
 * @start_ns: start time of the task @pid names
 * @cgroup_id: see LEDGER_V1_SHIFT, 0 = not known
 * @device: index in user space's list
 * @requests: requests or packets
 * @read_bytes: bytes that the device read from memory: written to disk, sent
 * @write_bytes: bytes that it wrote to memory: read from disk, received
 * @first_ns, @last_ns: of the first and the last of them
 */
struct ledger_io_slot {
	__u32 pid;
	__u32 tgid;
	__u64 start_ns;
	__u64 cgroup_id;
	__u32 device;
	__u32 requests;
	__u64 read_bytes;
	__u64 write_bytes;
	__u64 first_ns;
	__u64 last_ns;
};

/**
 * struct ledger_io - slots of one CPU, some milliseconds long
 * @nr: number of @slots sent
 * @tick: low half of the kernel's count of ticks at h.time_ns. In the ring, the slots' last_ns are
 *	such counts; ledger.c converts them to times before it hands them on
 */
struct ledger_io {
	struct ledger_header h;
	__u32 nr;
	__u32 tick;
	struct ledger_io_slot slots[LEDGER_IO_SLOTS];
};

/*
 * Each CPU has two tables for each of these, so that one can be filled while an interrupt or a
 * flush uses the other.
 */
enum ledger_io_kind { LEDGER_IO_BLOCK, LEDGER_IO_SENT, LEDGER_IO_RECEIVED, LEDGER_IO_KINDS };
#define LEDGER_IO_TABLES (2 * LEDGER_IO_KINDS)

/**
 * struct ledger_io_table - slots of one CPU being filled
 * @busy: a program is using it
 * @nr: slots in use
 * @since_tick: when the first of them was taken, in ticks of the kernel
 * @undo: packet booked last, as a number; 0 = none that can be undone
 * @undo_slot, @undo_bytes: its slot and bytes
 * @last: slot that was found last
 * @index: hash of the key to slot number, two places a key
 * @out: the slots, laid out as the record they are sent in; its @nr is set when it is
 */
struct ledger_io_table {
	__u32 busy;
	__u32 nr;
	__u64 since_tick;
	__u64 undo;
	__u32 undo_slot;
	__u32 undo_bytes;
	__u32 last;
	__u32 pad0; /* each of the slots fills a cache line */
	__u8 index[LEDGER_IO_INDEX];
	struct ledger_io out;
};

/* Bytes that found no slot, by device; user space takes them at each flush. */
struct ledger_io_lost {
	__u64 requests;
	__u64 read_bytes;
	__u64 write_bytes;
};

/*
 * Network interfaces that are devices: LEDGER_IF_WAYS places for each set of ifindexes
 * with the same low bits. 0 = free, otherwise ifindex in the high half, device in the low one.
 *
 * LEDGER_IF_STACKED, in the low half: an interface made of other interfaces. Packets that it sends
 * pass the one below, and are counted there; packets that it receives have its name.
 */
#define LEDGER_IF_SETS	  512
#define LEDGER_IF_WAYS	  4
#define LEDGER_IF_STACKED (1u << 31)

/* Disks looked up last, see block.bpf.c. */
#define LEDGER_DISK_CACHE 256

/* One reading of an event, as bpf_perf_event_read_value() fills it. */
struct ledger_value {
	__u64 count;
	__u64 enabled_ns;
	__u64 running_ns;
};

/**
 * struct ledger_weight - counts of core events while a slot's task had the CPU
 * @count: one per event
 * @covered_ns: the part of the slot's CPU time covered by @count: all events were counting, and no
 *	other task had the CPU. 0 means "unknown", regardless of @count
 */
struct ledger_weight {
	__u64 count[LEDGER_MAX_WEIGHTS];
	__u64 covered_ns;
};

/**
 * struct ledger_weights - weights of the slots of one CPU
 * @h: its cpu and time_ns are those of the slices record that it belongs to, the next
 *	one of that CPU. If that one did not fit, these are void: they come again
 * @nr: number of @slots sent, one for each slot of the slices record
 * @nr_events: used part of each slot's counts
 */
struct ledger_weights {
	struct ledger_header h;
	__u32 nr;
	__u32 nr_events;
	struct ledger_weight slots[LEDGER_SLOTS];
};

/**
 * struct cpu_weights - core events of one CPU, written only by that CPU
 * @last: last good reading of each event; enabled_ns 0 = none yet
 * @piece: counts of the piece of time being booked, not yet in a slot
 * @piece_ns: length of that piece, not yet in a slot; 0 = it has no weight
 * @failed: bit per event whose last reading failed: @last is older than the ledger
 * @lost: times the ring buffer had no room for weights though it had for the slices
 * @unowned: counts at times that no slot covers
 * @out: the weights, laid out as the record they are sent in
 */
struct cpu_weights {
	struct ledger_value last[LEDGER_MAX_WEIGHTS];
	__u64 piece[LEDGER_MAX_WEIGHTS];
	__u64 piece_ns;
	__u64 failed;
	__u64 lost;
	__u64 unowned[LEDGER_MAX_WEIGHTS];
	struct ledger_weights out;
};

/**
 * struct ledger_reading - one event in a window
 * @value: running totals, not deltas: a lost record loses no bytes
 * @error: 0, or a negative errno: the value is meaningless then
 */
struct ledger_reading {
	struct ledger_value value;
	__s64 error;
};

/**
 * struct ledger_window - counter readings that close a window
 * @reader: index of the reader
 * @nr: number of @readings
 * @begin_ns: before the first read
 * @end_ns: after the last read; the window ends half-way between the two
 * @readings: in the order of the reader's events
 *
 * Only the first @nr readings are sent.
 */
struct ledger_window {
	struct ledger_header h;
	__u32 reader;
	__u32 nr;
	__u64 begin_ns;
	__u64 end_ns;
	struct ledger_reading readings[LEDGER_MAX_EVENTS];
};

/**
 * struct ledger_task - news about a task
 * @pid: thread id
 * @tgid: thread group id
 * @parent: thread group id of the parent
 * @parent_start_ns: start time of the parent's thread group leader
 * @start_ns: start time of the thread
 * @leader_start_ns: start time of the thread group leader
 * @cgroup_id: see LEDGER_V1_SHIFT
 * @flags: LEDGER_TASK_*
 * @old_pid: with @by_thread, of a thread that became the leader by exec: its thread id until then,
 *	which gets no more records; 0 otherwise
 * @ns_pid: of listed tasks: @pid in our own pid namespace; 0 otherwise
 * @comm: name, always terminated
 */
struct ledger_task {
	struct ledger_header h;
	__u32 pid;
	__u32 tgid;
	__u32 parent;
	__u32 flags;
	__u64 parent_start_ns;
	__u64 start_ns;
	__u64 leader_start_ns;
	__u64 cgroup_id;
	__u32 old_pid;
	__u32 ns_pid;
	char comm[LEDGER_COMM_LEN];
};
#define LEDGER_TASK_KTHREAD 1u

/**
 * struct ledger_cgroup - a cgroup is made, renamed or removed
 * @path: if not removed, ends with 0. The record ends behind it: many cgroups can come and go at
 *	once, and most paths are short
 */
struct ledger_cgroup {
	struct ledger_header h;
	__u64 id;
	char path[LEDGER_PATH_LEN];
};

/**
 * struct ledger_reader - settings of a CPU's window program
 *
 * The first ones have the indexes of the sockets, whether or not a CPU reads there: there the CPUs
 * of a socket find the end of its window. A socket with PMUs on several CPUs has more readers
 * behind them.
 *
 * @first: index of the first event in the event array
 * @nr: number of events
 * @busy: set by the program while it runs, so that an interrupt cannot nest
 * @lost: windows whose record did not fit; their bytes are in the next one
 * @skipped: ticks during the closing of a window
 * @boundary_ns: end of the last window, read by every CPU of the socket at each
 *	switch; alone in its cache line pair
 */
struct ledger_reader {
	__u32 first;
	__u32 nr;
	__u32 busy;
	__u32 pad0;
	__u64 lost;
	__u64 skipped;
	__u64 pad1[12];
	__u64 boundary_ns;
	__u64 pad2[15];
};

_Static_assert(sizeof(struct ledger_slot) == 56, "ledger_slot layout");
_Static_assert(LEDGER_SLOTS < 255, "255 is no slot in cpu_ledger.index");
_Static_assert(__builtin_offsetof(struct ledger_slices, slots) == 32, "ledger_slices layout");
_Static_assert(__builtin_offsetof(struct cpu_ledger, index) == 64 &&
		       sizeof(struct cpu_ledger) % 128 == 0,
	       "cpu_ledger fills cache line pairs");
_Static_assert(__builtin_offsetof(struct ledger_weights, slots) == 24, "ledger_weights layout");
_Static_assert(__builtin_offsetof(struct cpu_weights, piece) == 48 &&
		       sizeof(struct cpu_weights) % 128 == 0,
	       "cpu_weights fills cache line pairs");
_Static_assert(__builtin_offsetof(struct ledger_window, readings) == 40 &&
		       sizeof(struct ledger_reading) == 32,
	       "ledger_window layout");
_Static_assert(sizeof(struct ledger_io_slot) == 64 &&
		       __builtin_offsetof(struct ledger_io, slots) == 24,
	       "ledger_io layout");
_Static_assert(__builtin_offsetof(struct ledger_io_table, out.slots) % 64 == 0 &&
		       sizeof(struct ledger_io_table) % 128 == 0,
	       "ledger_io_table fills cache line pairs");
_Static_assert(sizeof(struct ledger_task) == 88, "ledger_task layout");
_Static_assert(__builtin_offsetof(struct ledger_reader, boundary_ns) == 128 &&
		       sizeof(struct ledger_reader) == 256,
	       "ledger_reader layout");

#endif
