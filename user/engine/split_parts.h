/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside of the splitter, shared by its files only: see split.h. */
#ifndef ENGINE_SPLIT_PARTS_H
#define ENGINE_SPLIT_PARTS_H

#include "engine/filter.h"
#include "engine/split.h"

#define NO_COLUMN  UINT32_MAX
#define NO_CLUSTER UINT32_MAX

/**
 * struct member - a workload of a block
 * @workload: its number
 * @row: its row in the list of local rows; the last one is that of all without
 * @x: its activity in the block
 * @column: its column in the filter's matrices, or NO_COLUMN: pooled
 * @cluster: members that cannot be told apart have the same, or NO_CLUSTER
 * @bytes: what it was given
 */
struct member {
	uint32_t workload;
	uint32_t row;
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
 * @share: part of the window, by element of the block's activity
 * @background: part of the window
 * @given: bytes, by element of the block's activity
 * @kind: unit of activity
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
	double *share;
	uint64_t *given;
	enum filter_kind kind;
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

/* split_crowd.c: who is in a block, who is pooled, who is alike */
int crowd_make(const struct split_block *b, const struct split_sink *sink, struct crowd *ret);
void crowd_free(struct crowd *c);
void crowd_columns(struct crowd *c, const struct split_block *b, const double *x);
void crowd_clusters(struct crowd *c, const struct matrix *alike);

/* split_bounds.c: how sure it is */
int split_bounds(const struct crowd *c, const struct split_block *b, const struct part *p,
		 double lost, const struct split_sink *sink);

#endif
