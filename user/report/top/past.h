/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The intervals of a run in bounded memory: whole reports, packed. When there is no more room, the
 * oldest are dropped. An unpacked report equals the added one, so any report writer can show it.
 *
 * Two things differ: ends of error bars are rounded outwards to eight bits of their distance from
 * the value, and a row names at most PAST_TANGLED rows that it is tangled with (their number is
 * kept). Values are exact.
 */
#ifndef REPORT_TOP_PAST_H
#define REPORT_TOP_PAST_H

#include "model.h"

/* Memory limit: ten minutes of 1,000 rows at an interval of 1 s, with some room. */
#define PAST_MAX_BYTES (31u << 20)
#define PAST_TANGLED   3

struct past;

/**
 * struct past_when - an interval
 * @start_ns, @end_ns: its time
 * @number: number of earlier intervals, including dropped ones
 */
struct past_when {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t number;
};

/** past_new() - an empty past; @max_bytes: its memory limit. NULL without memory */
struct past *past_new(size_t max_bytes);
void past_free(struct past *p);

/**
 * past_add() - add an interval
 * @p: the past
 * @r: its report. Data that it points to and does not own must outlive @p
 *
 * The newest interval is always kept.
 *
 * Return: 0 or -ENOMEM.
 */
int past_add(struct past *p, const struct report *r);

/** past_forget() - drop all intervals: numbers restart */
void past_forget(struct past *p);

/** past_count() - number of kept intervals */
size_t past_count(const struct past *p);

/** past_dropped() - number of dropped intervals */
uint64_t past_dropped(const struct past *p);

/** past_bytes() - memory in use */
size_t past_bytes(const struct past *p);

/** past_when() - the time of the interval with this index, 0 is the oldest one */
struct past_when past_when(const struct past *p, size_t index);

/** past_find() - index of the interval with this number, or of the oldest one */
size_t past_find(const struct past *p, uint64_t number);

/**
 * past_report() - unpack the report of an interval
 * @p: the past
 * @index: of the interval
 * @ret: release with past_report_free(), before @p and before the next past_add()
 *
 * Return: 0 or -ENOMEM.
 */
int past_report(const struct past *p, size_t index, struct report **ret);
void past_report_free(struct report *r);

/**
 * struct past_line - a row over time
 * @key: of the row; points into the current report, or is a copy
 * @leaf: as in struct report_row: a cgroup may have been one after the other
 * @cpu: CPU time in nanoseconds, otherwise the bytes of CPUs, to eight bits
 * @values: added to, one for each interval; unchanged where it is missing
 */
struct past_line {
	const char *key;
	bool leaf;
	bool cpu;
	double *values;
};

/**
 * past_lines() - rows over a span of intervals
 * @p: the past
 * @first, @last: indexes, inclusive
 * @lines, @nr: the rows; @values has room for @last - @first + 1 numbers
 *
 * Return: 0 or -ENOMEM.
 */
int past_lines(const struct past *p, size_t first, size_t last, struct past_line *lines, size_t nr);

#endif
