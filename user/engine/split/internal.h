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
 * struct crowd_member - a workload of a block
 * @workload: its number
 * @kin, @ended: see identity_kin()
 * @row: its row in the list of local rows; the last one is that of all without
 * @x: its activity in the block
 * @column: its column in the filter's matrices, or NO_COLUMN: pooled
 * @cluster: members that cannot be told apart have the same, or NO_CLUSTER
 * @bytes: what it was given
 */
struct crowd_member {
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
 * struct part - a counter's part of a block while it is split
 * @counter: which
 * @nr_windows: windows in which it counted
 * @window: their index in the block
 * @bytes, @ratio: what was counted, in which part of the window
 * @x: activity, by element of the block's activity
 * @x_of: by which weight it was chosen and has got its columns; counters share it
 * @activity: the same by window that counted and column of the filter
 * @within: like @activity: see struct filter_input
 * @activity_whole: both are of all windows of the block, so that other counters can have it
 * @share: part of the window, by element of the block's activity
 * @background: part of the window
 * @given: bytes, by element of the block's activity
 * @cap: elements that @x, @share and @given have room for
 * @kind: unit of activity
 * @full: a counter of the group was at its limit, by window of the block
 * @estimated: the filter's result; NULL when bytes were split in proportion
 */
struct part {
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
	bool full[SPLIT_MAX_WINDOWS];
	const struct filter_output *estimated;
};

/**
 * struct crowd - who is in a block
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
struct crowd {
	struct crowd_member *members;
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

/* split_crowd.c: who is in a block, who is pooled, who is alike */
int crowd_make(const struct split_block *b, const struct split_sink *sink, struct crowd *ret);
void crowd_free(struct crowd *c);
const struct crowd_member *crowd_find(const struct crowd *c, uint32_t workload);
void crowd_columns(struct crowd *c, const struct split_block *b, const double *x);
void crowd_clusters(struct crowd *c, const struct filter_output *estimated);
void crowd_workloads(const struct crowd *c, uint32_t *ret);
void crowd_kin(const struct crowd *c, uint64_t *ret, bool *ret_ended);

/* split_shares.c: parts of windows, by activity or by the estimate; as whole numbers, and their sum */
void split_in_proportion(const struct crowd *c, const struct split_block *b, struct part *p);
int split_as_estimated(const struct crowd *c, struct part *p);
uint64_t split_units(const double *share, size_t nr, uint64_t *ret);

/**
 * struct split_fewer - are lines that were read and left an L2, or those that left it?
 * @evidence: for the fewer of both, log likelihood
 * @holds: they are what writes go by
 */
struct split_fewer {
	double evidence;
	bool holds;
};

/**
 * struct split_fewer_of - two weights, of which the fewer count
 * @written, @read: which
 * @ratio: bytes of a count that was read, by those of one that left
 */
struct split_fewer_of {
	uint32_t written;
	uint32_t read;
	double ratio;
};

/*
 * split_activity.c: what core events say of activity; false: too little, or nothing. Which of it is
 * only known as sums over several windows: 0 or -ENOMEM, free @ret
 */
bool split_activity_counts(const struct split_block *b, uint32_t weight, double *x);
int split_activity_slices(const struct trace_header *h, const struct crowd *c,
			  const struct split_block *b, const struct part *p,
			  struct filter_slice **ret, size_t *ret_nr);
bool split_fewer_find(const struct trace_header *h, uint32_t written, struct split_fewer_of *ret);
bool split_fewer_judge(struct split_fewer *f, const struct crowd *c, const struct split_block *b,
		       const struct part *p, const struct split_fewer_of *of);
bool split_fewer_take(const struct split_block *b, const struct split_fewer_of *of, struct part *p);

/* split_bounds.c: how sure it is */
int split_bounds(const struct crowd *c, const struct split_block *b, const struct part *p,
		 double lost, const struct split_sink *sink);
uint64_t split_bound_whole(double v, double max);

/**
 * struct split_io_how - how a device's counter is split
 * @direction: the counter's
 * @filter: its filter, made when needed; NULL: as requests say
 * @room: for it
 * @lost: part of the requests that is missing
 */
struct split_io_how {
	enum direction direction;
	struct filter **filter;
	struct filter_room *room;
	double lost;
};

/**
 * struct io_claim - a workload that may own bytes of a window
 * @element: what it did there; or, if it did nothing there, right before or behind it
 * @here: it did something in the window itself, or has the device for itself
 * @share: bytes
 * @matched: of that: taken from what was counted right beside the window of its requests
 * @given: the same as @share in whole bytes, so that all add up
 */
struct io_claim {
	size_t element;
	bool here;
	double share;
	double matched;
	uint64_t given;
};

/**
 * struct split_io_part - a device counter's part of a block while it is split
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
struct split_io_part {
	struct part *p;
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
static inline uint32_t io_column(const struct crowd *c, const struct crowd_member *m)
{
	if (m->column != NO_COLUMN || !c->nr_pooled || !(m->x > 0))
		return m->column;
	return c->nr_columns - 1;
}

/* split_io.c: counters of devices */
int split_io(struct crowd *c, const struct split_block *b, struct part *p, uint32_t in_group,
	     const struct split_io_how *how, const struct split_sink *sink, size_t *ret_pooled);

/* split_io_match.c: bytes beside the window of their requests */
void split_io_match(const struct split_block *b, struct split_io_part *io);

/* split_io_bounds.c: how sure that is */
int split_io_bounds(const struct crowd *c, const struct split_block *b,
		    const struct split_io_part *io, double lost, const struct split_sink *sink);

#endif
