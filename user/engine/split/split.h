/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The split: which workloads caused the bytes of a block of windows, to the byte, and how sure that
 * is. Methods differ in the proportions; all of them split windows exactly, and give no workload
 * bytes of a window it did not run in.
 */
#ifndef ENGINE_SPLIT_SPLIT_H
#define ENGINE_SPLIT_SPLIT_H

#include "trace.h"

/* Windows that are split at a time. */
#define SPLIT_MAX_WINDOWS   100

/* Bytes that belong to nobody's activity; see REASON_BACKGROUND. */
#define WORKLOAD_BACKGROUND UINT32_MAX
/* A workload that is not a row of the report. */
#define SPLIT_NO_ROW	    UINT32_MAX

/* Unit of struct activity's @within; of longer windows of hundreds of CPUs it is not in 64 bits. */
#define WITHIN_NS	    4096
#define WITHIN_MAX_NS	    10000000000ull

/**
 * struct activity - what a workload did in a window
 * @window: index in the block
 * @workload: its number
 * @on_cpu_ns: CPU time, above 0; 0 in blocks of devices
 * @weights: counts of the core events in @weights_ns of it
 * @weights_ns: CPU time during which they counted
 * @io_bytes: in blocks of devices: bytes of its requests by enum direction, one above 0 at least
 *	unless @exclusive
 * @exclusive: in blocks of devices: its cgroup alone had the device open all the window
 * @within: sum over @on_cpu_ns of how much later than the window's middle it was, in units of
 *	WITHIN_NS; not in blocks of devices
 */
struct activity {
	uint32_t window;
	uint32_t workload;
	uint64_t on_cpu_ns;
	uint64_t weights[TRACE_MAX_WEIGHTS];
	uint64_t weights_ns;
	union {
		uint64_t io_bytes[2];
		int64_t within;
	};
	bool exclusive;
};

/* How much later than the window's middle activity was on average, and the unit of that. */
static inline double within_mean(const struct activity *a)
{
	return (double)a->within / (double)(int64_t)a->on_cpu_ns;
}

/* As a fraction of the window's length: -1/2 at its start, 1/2 at its end. */
static inline double within_unit(const struct trace_window *w)
{
	uint64_t length = w->end_ns - w->start_ns;

	return length <= WITHIN_MAX_NS ? (double)WITHIN_NS / length : 0;
}

/**
 * struct long_slice - a slice longer than a window, or the piece of it that an interval cut off
 * @workload: whose
 * @start_ns, @end_ns: of the piece
 * @whole_start_ns, @whole_end_ns: of the slice; the same if it was not cut
 * @weights: counts of the piece, as if those of the slice were spread evenly
 */
struct long_slice {
	uint32_t workload;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t whole_start_ns;
	uint64_t whole_end_ns;
	uint64_t weights[TRACE_MAX_WEIGHTS];
};

/**
 * struct split_block - windows of a group of counters, one after the other. Activity is CPU time,
 *	or I/O when the counters are of a device: what no workload caused is background then
 * @group: whose counters
 * @nr_windows: at most SPLIT_MAX_WINDOWS
 * @windows: in the order of time
 * @activity, @nr: ordered by window, then workload; each pair once
 * @longs, @nr_longs: slices with counts that reach over several windows; they are in @activity, too
 */
struct split_block {
	uint32_t group;
	size_t nr_windows;
	const struct trace_window *windows;
	const struct activity *activity;
	size_t nr;
	const struct long_slice *longs;
	size_t nr_longs;
};

/* A workload's bytes of one counter in one window. */
struct portion {
	uint32_t workload;
	uint64_t bytes;
};

/**
 * struct bounds - what is known of a row's bytes of a counter in a block
 * @row: see split_sink.row
 * @low, @high: 95% interval of the bytes counted
 * @separable: see struct share
 * @inseparable, @nr_inseparable: rows it cannot be told from
 * @below: how far the interval would begin below 0, at most the row's own bytes; 0 if @low is not
 * @sure: of @low, what does not rest on the estimate
 * @pooled: of its bytes, those of workloads that were estimated together
 */
struct bounds {
	uint32_t row;
	uint64_t low;
	uint64_t high;
	bool separable;
	const uint32_t *inseparable;
	size_t nr_inseparable;
	uint64_t below;
	uint64_t sure;
	uint64_t pooled;
};

struct identity;

/**
 * struct split_sink - receives a block that was split
 * @window: a window, first of all
 * @bytes: the bytes of a counter in a window; portions add up to @bytes. Without
 *	portions nobody can own them. Called after @window for all windows of the block
 * @row: which row a workload is in, or SPLIT_NO_ROW; in @ret
 * @bounds: of a counter over the block; for each row that has portions
 * @arg: handed to all
 * @id: who is the same program again; NULL: that is not known
 *
 * Each call returns 0 or a negative errno, which ends the split.
 */
struct split_sink {
	int (*window)(void *arg, const struct trace_window *w);
	int (*bytes)(void *arg, uint32_t counter, const struct trace_window *w, uint64_t bytes,
		     const struct portion *p, size_t nr);
	int (*row)(void *arg, uint32_t workload, uint32_t *ret);
	int (*bounds)(void *arg, uint32_t counter, const struct bounds *b);
	void *arg;
	const struct identity *id;
};

struct splitter;

/**
 * splitter_new() - nothing is known yet
 * @header: layout and weights; must outlive the splitter
 * @method: how
 * @ret: free with splitter_free()
 *
 * Return: 0 or -ENOMEM.
 */
int splitter_new(const struct trace_header *header, enum method method, struct splitter **ret);
void splitter_free(struct splitter *s);

/**
 * splitter_two_threads() - split two counters of a group at the same time; before any block
 *
 * What sinks get is the same, in the same order, and they are called by this thread.
 *
 * Return: 0; -ENOMEM, or another negative errno when there can be no thread: one does all.
 */
int splitter_two_threads(struct splitter *s);

/** splitter_forget() - the number of a workload is going to be used for another one */
void splitter_forget(struct splitter *s, uint32_t workload);

/**
 * splitter_lost() - slices of a socket, or I/O of its devices, are known to be missing in some time
 *
 * Bounds of blocks that overlap it are wider; what follows from who ran in a window is
 * no longer certain there.
 */
void splitter_lost(struct splitter *s, const struct trace_lost *lost);

/**
 * splitter_block() - split a block; blocks of a group come in the order of time
 *
 * Return: 0, -ENOMEM, or the first error of the sink.
 */
int splitter_block(struct splitter *s, const struct split_block *b, const struct split_sink *sink);

/**
 * splitter_quality() - how blocks were split
 * @s: the splitter
 * @all: since the beginning; otherwise since the last call without @all
 * @ret: gets method, weights, weight_windows, fallback_windows, pooled_workloads
 */
void splitter_quality(struct splitter *s, bool all, struct quality *ret);

/** splitter_saturated() - windows with the memory at its limit; @all as above, to be asked before */
uint64_t splitter_saturated(const struct splitter *s, bool all);

/**
 * splitter_models() - windows of counters of tasks, by what weighs more in how they were
 *	split: an intensity for each workload, or activity alone; none if the method learns nothing.
 *	@all as above, to be asked before splitter_quality()
 */
void splitter_models(const struct splitter *s, bool all, uint64_t *estimated, uint64_t *simple);

/** splitter_limit() - bytes by second beyond which a counter has not gone so far; 0: not known */
uint64_t splitter_limit(const struct splitter *s, uint32_t counter);

#endif
