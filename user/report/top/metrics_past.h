/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Metrics of the intervals in which they were measured, in bounded memory. */
#ifndef REPORT_TOP_METRICS_PAST_H
#define REPORT_TOP_METRICS_PAST_H

#include "stat.h"

#define METRICS_PAST_MAX_BYTES (4u << 20)

/* Of one interval; @number is that of the interval in the past */
struct metrics_at {
	uint64_t number;
	struct stat_report *report;
};

/**
 * struct metrics_past - the kept metrics, the oldest first
 * @items, @nr, @cap: an array
 * @bytes: of all reports
 *
 * All zero to begin with.
 */
struct metrics_past {
	struct metrics_at *items;
	size_t nr;
	size_t cap;
	size_t bytes;
};

/**
 * metrics_past_add() - keep one more; beyond METRICS_PAST_MAX_BYTES the oldest are dropped
 * @p: the kept metrics
 * @number: of the interval, larger than those before
 * @r: owned by @p from here on, also after an error. Its layout and host must outlive it
 *
 * Return: 0 or -ENOMEM.
 */
int metrics_past_add(struct metrics_past *p, uint64_t number, struct stat_report *r);

/** metrics_past_find() - metrics of an interval, NULL: not measured, or dropped */
const struct stat_report *metrics_past_find(const struct metrics_past *p, uint64_t number);

/** metrics_past_forget() - drop all; nothing is left to free */
void metrics_past_forget(struct metrics_past *p);

#endif
