/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A line of comma-separated values: its columns, and how cells are written. */
#ifndef REPORT_CSV_LINE_H
#define REPORT_CSV_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/sums.h"
#include "model.h"

/* In the order of the file; docs/EXPORT.md says what they hold. New ones go last. */
#define CSV_COLUMNS(X) \
	X(sequence)    \
	X(summary)     \
	X(start_ns)    \
	X(end_ns)      \
	X(start_time)  \
	X(host)        \
	X(record)      \
	X(name)        \
	X(value)       \
	X(low)         \
	X(high)        \
	X(unit)        \
	X(socket)      \
	X(bdf)         \
	X(source)      \
	X(direction)   \
	X(destination) \
	X(reason)      \
	X(method)      \
	X(weights)     \
	X(coverage)    \
	X(covered_ns)  \
	X(separable)   \
	X(row)         \
	X(kind)        \
	X(parent)      \
	X(leaf)        \
	X(pid)         \
	X(tid)         \
	X(comm)        \
	X(exited)      \
	X(kernel)      \
	X(cgroup_id)   \
	X(cgroup)      \
	X(scheduler)   \
	X(job)         \
	X(step)        \
	X(job_name)    \
	X(user)        \
	X(lost)        \
	X(lost_cpu_ns)

#define CSV_ID(name) CSV_##name,
enum csv_column { CSV_COLUMNS(CSV_ID) NR_CSV_COLUMNS };
#undef CSV_ID

enum csv_type {
	CSV_EMPTY,
	CSV_NUMBER, /* @number */
	CSV_BOOL,   /* @number */
	CSV_RATIO,  /* @real, with all its digits */
	CSV_TENTHS, /* @real, with one decimal */
	CSV_TEXT,   /* @text, of at most @max bytes */
};

/** struct csv_cell - what stands in a column; texts are not owned */
struct csv_cell {
	enum csv_type type;
	sum128 number;
	double real;
	const char *text;
	size_t max;
};

/** struct csv_line - the cells that have something in them */
struct csv_line {
	struct csv_cell cells[NR_CSV_COLUMNS];
};

/** csv_number(), csv_bool(), csv_ratio(), csv_tenths() - fill a cell */
void csv_number(struct csv_line *l, enum csv_column c, sum128 value);
void csv_bool(struct csv_line *l, enum csv_column c, bool value);
void csv_ratio(struct csv_line *l, enum csv_column c, double value);
void csv_tenths(struct csv_line *l, enum csv_column c, double value);

/** csv_text() - fill a cell with a text in a buffer of @max bytes; NULL leaves it empty */
void csv_text(struct csv_line *l, enum csv_column c, const char *text, size_t max);

/** csv_word() - the same with a text of our own */
void csv_word(struct csv_line *l, enum csv_column c, const char *word);

/** csv_quality() - how bytes were split, and what was lost */
void csv_quality(struct csv_line *l, const struct quality *q);

/** csv_head() - write the names of the columns */
void csv_head(FILE *out);

/**
 * csv_put() - write a line
 * @out: where to
 * @l: what
 *
 * Names that anybody could have chosen are made harmless, for terminals and for programs that
 * take a text for a formula.
 *
 * Return: 0 or -ENOMEM. Errors of the stream are left to the caller.
 */
int csv_put(FILE *out, const struct csv_line *l);

#endif
