/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The intervals of a run, in bounded memory: whole reports, packed. When there is no more room, the
 * oldest go. What is unpacked is a report as it was added, so all that shows reports can show it.
 *
 * Two things are not as they were: the ends of intervals are rounded outwards to eight bits of
 * their distance from the value, and a row names at most PAST_TANGLED of the rows that it cannot be
 * told from (how many there are is kept). Values are exact.
 */
#ifndef REPORT_TOP_PAST_H
#define REPORT_TOP_PAST_H

#include "model.h"

/* What is kept at most: ten minutes of 1,000 rows at an interval of 1 s, with some room. */
#define PAST_MAX_BYTES (31u << 20)
#define PAST_TANGLED   3

struct past;

/**
 * struct past_when - an interval
 * @start_ns, @end_ns: its time
 * @number: how many came before it, also those that are gone
 */
struct past_when {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t number;
};

/** past_new() - nothing so far; @max_bytes: what it may take. NULL without memory */
struct past *past_new(size_t max_bytes);
void past_free(struct past *p);

/**
 * past_add() - an interval has ended
 * @p: the past
 * @r: its report. What it points to and does not own must outlive @p
 *
 * The newest interval is kept, however large it is.
 *
 * Return: 0 or -ENOMEM.
 */
int past_add(struct past *p, const struct report *r);

/** past_forget() - drop all intervals: the numbers begin anew */
void past_forget(struct past *p);

/** past_count() - number of intervals that are kept */
size_t past_count(const struct past *p);

/** past_dropped() - number of intervals that had to go */
uint64_t past_dropped(const struct past *p);

/** past_bytes() - memory that is in use */
size_t past_bytes(const struct past *p);

/** past_when() - the time of the interval with this index, 0 is the oldest that is kept */
struct past_when past_when(const struct past *p, size_t index);

/** past_find() - index of the interval with this number, or of the oldest that is kept */
size_t past_find(const struct past *p, uint64_t number);

/**
 * past_report() - unpack the report of an interval
 * @p: the past
 * @index: which one
 * @ret: release with past_report_free(), before @p and before the next past_add()
 *
 * Return: 0 or -ENOMEM.
 */
int past_report(const struct past *p, size_t index, struct report **ret);
void past_report_free(struct report *r);

/**
 * struct past_line - what a row did over time
 * @key: of the row; of a row of the report that it is in, or copied
 * @leaf: as in struct report_row: a cgroup may have been both, one after the other
 * @cpu: CPU time in nanoseconds, otherwise the bytes of CPUs, to eight bits
 * @values: added to, one for each interval; nothing where it is not
 */
struct past_line {
	const char *key;
	bool leaf;
	bool cpu;
	double *values;
};

/**
 * past_lines() - what rows did from one interval to another, both included
 * @p: the past
 * @first, @last: indexes
 * @lines, @nr: the rows; @values has room for @last - @first + 1 numbers
 *
 * Return: 0 or -ENOMEM.
 */
int past_lines(const struct past *p, size_t first, size_t last, struct past_line *lines, size_t nr);

#endif
