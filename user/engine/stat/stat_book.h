/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The book of system-wide counts: takes what was counted between two readings, and makes
 * reports of intervals and of the whole run. Pure.
 *
 * A counter that did not count all the time is scaled to it. A metric is computed from the
 * segments in which all its counters counted, so that its parts are about the same time;
 * it is not scaled, but its value says how much time it is about.
 */
#ifndef ENGINE_STAT_STAT_BOOK_H
#define ENGINE_STAT_STAT_BOOK_H

#include "base/diag.h"
#include "stat.h"

struct stat_book;

/**
 * stat_book_new() - begin
 * @layout: what is counted; must outlive the book and its reports
 * @start_ns: when counting begins (CLOCK_MONOTONIC)
 * @d: gets a formula that does not fit its inputs
 * @ret: release with stat_book_free()
 *
 * Return: 0, -EINVAL for a layout that makes no sense, -ENOMEM.
 */
int stat_book_new(const struct stat_layout *layout, uint64_t start_ns, struct diag *d,
		  struct stat_book **ret);
void stat_book_free(struct stat_book *b);

/** stat_book_refuse() - a counter could not be opened: nothing will come of it */
void stat_book_refuse(struct stat_book *b, uint32_t counter);

/**
 * stat_book_segment() - a PMU was read
 * @b: the book
 * @s: counters are indexes of the layout
 *
 * A segment belongs to the interval in which it ends, whenever it began: a reading that
 * had to wait is not lost.
 *
 * Return: 0, or -EINVAL when the segment names something that is not in the layout, a
 * counter twice, or one of another PMU; then it is not booked.
 */
int stat_book_segment(struct stat_book *b, const struct stat_segment *s);

/**
 * stat_book_interval() - the interval ends, the next one begins
 * @b: the book
 * @end_ns: when
 * @costs: of each PMU of the layout since the beginning
 * @ret: release with stat_report_free(). The time of day, host, budget and so on are the
 *	caller's business
 *
 * Return: 0 or -ENOMEM; then the interval goes on.
 */
int stat_book_interval(struct stat_book *b, uint64_t end_ns, const struct stat_cost *costs,
		       struct stat_report **ret);

/** stat_book_summary() - the same for the whole run up to @end_ns; nothing ends by it */
int stat_book_summary(const struct stat_book *b, uint64_t end_ns, const struct stat_cost *costs,
		      struct stat_report **ret);

#endif
