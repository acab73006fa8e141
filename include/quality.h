/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Contract between the layers: how a report was made, and every loss behind it. Plain data. */
#ifndef T410TRACE_QUALITY_H
#define T410TRACE_QUALITY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How windows are split, the default first: X(ID, name, then, events, learns, says). A method that
 * does more than divide in proportion to activity has a function in engine/split/split.c. Stored
 * accounts have the number: a new one goes last.
 *
 * @then: text behind the name where all are listed
 * @events: activity is the counts of core events, if there are any; otherwise CPU time
 * @learns: intensities are learned from how traffic and activity move; bars are error bars then
 * @says: in a report, in front of the weights
 */
#define METHODS(X)                                                     \
	X(STATE_SPACE, "state-space", " (default), ", true, true,      \
	  "by state-space estimate, activity measured by")             \
	X(WEIGHTS, "weights", " or ", true, false, "in proportion to") \
	X(CPU_TIME, "cpu-time", "", false, false, "in proportion to")

#define METHOD_ID(id, ...)		  METHOD_##id,
#define METHOD_WORDS(id, name, then, ...) name then
enum method { METHODS(METHOD_ID) NR_METHODS };
#undef METHOD_ID

/* A method's row; see METHODS. */
struct method_row {
	const char *name;
	bool events;
	bool learns;
	const char *says;
};

/*
 * The numbers of struct quality: X(name, RUN, unit) for a running total of the run, X(name, REPORT,
 * unit) for a number that the report computes. Recordings and stored accounts have them in this
 * order: add at the end only. The unit is NS, BYTES or COUNT.
 */
#define QUALITY_NUMBERS(X)                 \
	X(windows, REPORT, COUNT)          \
	X(weight_windows, REPORT, COUNT)   \
	X(fallback_windows, REPORT, COUNT) \
	X(pooled_workloads, REPORT, COUNT) \
	X(invalid_windows, RUN, COUNT)     \
	X(lost_windows, RUN, COUNT)        \
	X(merged_windows, RUN, COUNT)      \
	X(lost_slices_ns, REPORT, NS)      \
	X(kept_flushes, RUN, COUNT)        \
	X(lost_tasks, RUN, COUNT)          \
	X(lost_cgroups, RUN, COUNT)        \
	X(late_slices, RUN, COUNT)         \
	X(unseen_switches, RUN, COUNT)     \
	X(unknown_tasks, REPORT, COUNT)    \
	X(reader_moves, RUN, COUNT)        \
	X(rows_pooled, REPORT, COUNT)      \
	X(lost_io, RUN, COUNT)             \
	X(unowned_io_bytes, REPORT, BYTES) \
	X(device_held_ns, RUN, NS)         \
	X(device_changes, RUN, COUNT)      \
	X(unscheduled_windows, RUN, COUNT) \
	X(lost_slices, RUN, COUNT)         \
	X(bad_records, RUN, COUNT)         \
	X(counter_restarts, RUN, COUNT)    \
	X(uncounted_ns, RUN, NS)           \
	X(weights_reopened, RUN, COUNT)    \
	X(unweighed_ns, RUN, NS)           \
	X(spread_ns, RUN, NS)              \
	X(tasks_ns, RUN, NS)

#define QUALITY_COUNT_(...) +1
#define NR_QUALITY_NUMBERS  (0 QUALITY_NUMBERS(QUALITY_COUNT_))

/**
 * struct quality - quality of the numbers, with every loss
 * @method: how windows were split, see method_name()
 * @weights: measure of activity in a window: "cpu-time", or names of core events as in
 *	"l3d_cache_refill" or "l3d_cache_refill,l2d_cache_wb"
 * @windows: windows used
 * @weight_windows: of these, windows in which the core events counted
 * @fallback_windows: of these, windows in which they should have counted and did not:
 *	CPU time was used
 * @pooled_workloads: workloads too small to be estimated one by one
 * @invalid_windows: windows whose reading failed or was invalid, and invalid lines of a program
 *	(--source); their bytes are in the next one
 * @lost_windows: records that did not fit; their bytes are in the next one
 * @merged_windows: windows much longer than requested (late reader)
 * @lost_slices_ns: CPU time whose task could not be noted
 * @kept_flushes: times slices had to wait because the ring buffer was full
 * @lost_tasks: fork, exec and exit records that did not fit, or that the kernel omitted
 * @late_slices: slices, or requests of devices, that arrived after their interval was closed
 * @unseen_switches: context switches that the kernel did not report; the time was booked from the
 *	scheduler's own books
 * @unknown_tasks: rows whose name is unknown
 * @reader_moves: times a PMU's active CPU changed
 * @rows_pooled: rows that were merged because there were too many
 * @lost_io: requests or packets of devices whose bytes could not be noted
 * @unowned_io_bytes: bytes of requests of devices without a known owner
 * @device_held_ns: time that other users kept a device's counters from counting in its turn
 * @device_changes: functions that appeared, vanished or changed owner below a counted port
 * @unscheduled_windows: windows in which a group of counters had no turn; the next one covers them
 * @lost_slices: slices and requests that a trace of another tool says it lost
 * @bad_records: invalid records of the kernel, slices, windows and requests
 * @counter_restarts: times a group of counters restarted, see @uncounted_ns
 * @uncounted_ns: time between the last good reading of such a group and its restart: its counts
 *	then are unknown and in no window
 * @weights_reopened: times the core events of a CPU were opened again: they end when it goes
 *	offline
 * @unweighed_ns: CPU time of tasks in which no core event counted although some exist
 * @spread_ns: CPU time of tasks that is known for several windows together: their activity is
 *	spread evenly. Only when host_info.tick tells how windows were closed, otherwise 0
 * @tasks_ns: CPU time of tasks of which @spread_ns is a part: 0 when unknown
 */
struct quality {
	enum method method;
	char weights[160];
#define QUALITY_MEMBER(name, ...) uint64_t name;
	QUALITY_NUMBERS(QUALITY_MEMBER)
#undef QUALITY_MEMBER
};

/* Cost of the tracer itself in the interval. */
struct self_cost {
	uint64_t cpu_ns;	 /* of the t410trace process */
	uint64_t switches;	 /* context switches at which its program ran */
	uint64_t switch_ns;	 /* time of these runs, extrapolated from timed ones */
	uint64_t timed;		 /* number of timed switches */
	uint64_t probes;	 /* readings of latency counters */
	uint64_t probe_ns;	 /* time they took, on the PMUs' CPUs */
	uint64_t probe_deferred; /* readings deferred to keep within the budget */
	uint64_t probe_failed;	 /* readings without a result */
};

#endif
