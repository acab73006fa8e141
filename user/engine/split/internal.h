/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside of the splitter, shared by its files only: see split.h. */
#ifndef ENGINE_SPLIT_INTERNAL_H
#define ENGINE_SPLIT_INTERNAL_H

#include "engine/filter/filter.h"
#include "engine/split/split.h"

#define NO_COLUMN	  UINT32_MAX
#define NO_CLUSTER	  UINT32_MAX
#define NO_ACTIVITY	  UINT32_MAX
#define NO_WEIGHT	  (UINT32_MAX - 1) /* activity is CPU time, whatever core events there are */

/* Shares become whole numbers of this size before bytes are apportioned. */
#define SPLIT_SHARE_UNITS 1099511627776.0 /* 2^40 */

/**
 * struct member - a workload of a block
 * @workload: its number
 * @kin, @ended: see identity_kin()
 * @row: its row in the list of local rows; the last one is that of all without
 * @x: its activity in the block
 * @column: its column in the filter's matrices, or NO_COLUMN: pooled
 * @cluster: members that cannot be told apart have the same, or NO_CLUSTER
 * @bytes: what it was given
 */
struct member {
	uint32_t workload;
	uint32_t row;
	uint64_t kin;
	bool ended;
	double x;
	uint32_t column;
	uint32_t cluster;
	uint64_t bytes;
};

/**
 * struct counter_block - a counter's readings of a block while they are split
 * @counter: which
 * @nr_windows: windows in which it counted
 * @window: their index in the block
 * @bytes, @ratio: what was counted, in which fraction of the window
 * @x: activity, by element of the block's activity
 * @x_of: by which weight it was chosen and has got its columns; counters share it
 * @activity: the same by window that counted and column of the filter
 * @within: like @activity: see struct filter_input
 * @activity_whole: both are of all windows of the block, so that other counters can have it
 * @share: fraction of the window, by element of the block's activity
 * @background: fraction of the window
 * @given: bytes, by element of the block's activity
 * @cap: elements that @x, @share and @given have memory for
 * @kind: unit of activity
 * @saturated: a counter of the group was at its limit, by window of the block
 * @estimated: the filter's result; NULL when bytes were split in proportion
 */
struct counter_block {
	uint32_t counter;
	size_t nr_windows;
	size_t window[SPLIT_MAX_WINDOWS];
	double bytes[SPLIT_MAX_WINDOWS];
	double ratio[SPLIT_MAX_WINDOWS];
	double background[SPLIT_MAX_WINDOWS];
	double *x;
	uint32_t x_of;
	struct matrix activity;
	struct matrix within;
	bool activity_whole;
	double *share;
	uint64_t *given;
	size_t cap;
	enum filter_kind kind;
	bool saturated[SPLIT_MAX_WINDOWS];
	const struct filter_output *estimated;
};

/**
 * struct workloads - who is in a block
 * @members, @nr: ordered by workload
 * @of: member of each element of the block's activity
 * @first: first element of each window, and the end
 * @rows: the sink's number of each local row
 * @nr_rows: without the last one, which is for all that have no row
 * @columns: member of each column of the filter; the last one may be the pool
 * @nr_columns: the pool included
 * @nr_pooled: members in the pool
 * @nr_clusters: clusters
 */
struct workloads {
	struct member *members;
	size_t nr;
	uint32_t *of;
	size_t first[SPLIT_MAX_WINDOWS + 1];
	uint32_t *rows;
	size_t nr_rows;
	uint32_t columns[FILTER_MAX_WORKLOADS];
	size_t nr_columns;
	size_t nr_pooled;
	uint32_t nr_clusters;
};

/* split_workloads.c: who is in a block, who is pooled, who is alike */
int workloads_make(const struct split_block *b, const struct split_sink *sink,
		   struct workloads *ret);
void workloads_free(struct workloads *ws);
const struct member *workloads_find(const struct workloads *ws, uint32_t workload);
void workloads_columns(struct workloads *ws, const struct split_block *b, const double *x);
void workloads_clusters(struct workloads *ws, const struct filter_output *estimated);
void workloads_numbers(const struct workloads *ws, uint32_t *ret);
void workloads_kin(const struct workloads *ws, uint64_t *ret, bool *ret_ended);

/* split_shares.c: shares of windows, by activity or by the estimate; as whole numbers, and their sum */
void split_in_proportion(const struct workloads *ws, const struct split_block *b,
			 struct counter_block *p);
int split_as_estimated(const struct workloads *ws, struct counter_block *p);
uint64_t split_units(const double *share, size_t nr, uint64_t *ret);

/**
 * struct split_minimum - activity of writes: lines that left an L2, or the smaller of these and those read?
 * @evidence: for the smaller of both, log likelihood
 * @holds: they are what writes go by
 */
struct split_minimum {
	double evidence;
	bool holds;
};

/**
 * struct split_weight_pair - two weights, of which the smaller counts
 * @written, @read: which
 * @ratio: bytes of a count that was read, by those of one that left
 */
struct split_weight_pair {
	uint32_t written;
	uint32_t read;
	double ratio;
};

/*
 * split_activity.c: what core events say of activity; false: too little, or nothing. Which of it is
 * only known as sums over several windows: 0 or -ENOMEM, free @ret
 */
bool split_activity_counts(const struct split_block *b, uint32_t weight, double *x);
int split_activity_slices(const struct trace_header *h, const struct workloads *ws,
			  const struct split_block *b, const struct counter_block *p,
			  struct filter_slice **ret, size_t *ret_nr);
bool split_minimum_find(const struct trace_header *h, uint32_t written,
			struct split_weight_pair *ret);
bool split_minimum_judge(struct split_minimum *f, const struct workloads *ws,
			 const struct split_block *b, const struct counter_block *p,
			 const struct split_weight_pair *of);
bool split_minimum_take(const struct split_block *b, const struct split_weight_pair *of,
			struct counter_block *p);

/* split_bounds.c: how sure it is */
int split_bounds(const struct workloads *ws, const struct split_block *b,
		 const struct counter_block *p, double lost, const struct split_sink *sink);
uint64_t split_bound_whole(double v, double max);

/**
 * struct split_io_how - how a device's counter is split
 * @direction: the counter's
 * @filter: its filter, made when needed; NULL: as requests say
 * @workspace: for it
 * @lost: fraction of the requests that is missing
 */
struct split_io_how {
	enum direction direction;
	struct filter **filter;
	struct filter_workspace *workspace;
	double lost;
};

/**
 * struct io_claim - a workload that may own bytes of a window
 * @element: what it did there; or, if it did nothing there, right before or behind it
 * @here: it did something in the window itself, or has the device for itself
 * @share: bytes
 * @given: the same as @share in whole bytes, so that all add up
 */
struct io_claim {
	size_t element;
	bool here;
	double share;
	uint64_t given;
};

/**
 * struct io_block - a device counter's readings of a block while they are split
 * @p: what it has in common with others; @share, @given and @background are not used
 * @owners: workloads that have the device for themselves, by window of the block
 * @sums: activity by second, by window of the block
 * @before, @behind: window right before and behind, or SIZE_MAX
 * @rates: activity by second, by window of the block and column
 * @row: row of the filter's matrices, by window that counted; SIZE_MAX: not estimated
 * @at: place among those that counted, by window of the block; SIZE_MAX: it did not
 * @claims: by window that counted, then workload
 * @first: first claim of each window that counted, and the end
 * @asked: what requests are expected to have moved, by window that counted
 * @owned: what was given for them
 * @quiet: what goes on without requests
 * @units, @portions: of the window that is given
 */
struct io_block {
	struct counter_block *p;
	size_t owners[SPLIT_MAX_WINDOWS];
	double sums[SPLIT_MAX_WINDOWS];
	size_t before[SPLIT_MAX_WINDOWS];
	size_t behind[SPLIT_MAX_WINDOWS];
	struct matrix rates;
	size_t row[SPLIT_MAX_WINDOWS];
	size_t at[SPLIT_MAX_WINDOWS];
	struct io_claim *claims;
	size_t first[SPLIT_MAX_WINDOWS + 1];
	double asked[SPLIT_MAX_WINDOWS];
	double owned[SPLIT_MAX_WINDOWS];
	double quiet[SPLIT_MAX_WINDOWS];
	uint64_t *units;
	struct portion *portions;
};

/* The filter's column of a member, the pool's included; NO_COLUMN: it did nothing. */
static inline uint32_t io_column(const struct workloads *ws, const struct member *m)
{
	if (m->column != NO_COLUMN || !ws->nr_pooled || !(m->x > 0))
		return m->column;
	return ws->nr_columns - 1;
}

/* split_io.c: counters of devices */
int split_io(struct workloads *ws, const struct split_block *b, struct counter_block *p,
	     uint32_t in_group, const struct split_io_how *how, const struct split_sink *sink,
	     size_t *ret_pooled);

/* split_io_match.c: bytes beside the window of their requests */
void split_io_match(const struct split_block *b, struct io_block *io);

/* split_io_bounds.c: how sure that is */
int split_io_bounds(const struct workloads *ws, const struct split_block *b,
		    const struct io_block *io, double lost, const struct split_sink *sink);

#endif
