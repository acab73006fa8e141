/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables for people. A column is an array element: its heading, width, cell function and priority.
 * So a new column is one more element. Cells are typed: a cell function gives the value, and the
 * grid formats it.
 */
#ifndef REPORT_GRID_H
#define REPORT_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "report/format.h"

enum grid_type {
	GRID_EMPTY,
	GRID_ABSENT,	   /* "-": no such number exists */
	GRID_NO_DATA,	   /* it exists, but has no value here */
	GRID_TEXT,	   /* @text */
	GRID_BYTES,	   /* @value */
	GRID_RATE,	   /* @value bytes in @whole nanoseconds */
	GRID_SECONDS,	   /* @value nanoseconds */
	GRID_RATIO,	   /* @value of @whole */
	GRID_PERCENT,	   /* the same in percent */
	GRID_RANGE,	   /* interval of @value: @low to @high */
	GRID_RATE_RANGE,   /* the same as rates: of bytes in @whole nanoseconds */
	GRID_JOULES,	   /* @value nanojoules */
	GRID_JOULES_RANGE, /* as GRID_RANGE, of nanojoules */
	GRID_NS,	   /* @real */
};

/* Width of a column of ranges: "~" may stand in front of one. */
#define GRID_RANGE_WIDTH (1 + FORMAT_RANGE_WIDTH)

/**
 * struct grid_cell - content of one place
 * @type: its type, which decides the fields used
 * @mark: a character behind it, where the column has room for one; 0 for none
 * @tangled: a GRID_RANGE of an inseparable row: "~" stands in front of it
 * @text: of GRID_TEXT, safe to print; the grid frees it
 * @err: 0, or -ENOMEM: there is no cell
 */
struct grid_cell {
	enum grid_type type;
	char mark;
	bool tangled;
	sum128 value;
	sum128 whole;
	sum128 low;
	sum128 high;
	double real;
	char *text;
	int err;
};

struct grid_place;

/* Alignment of cells, and treatment of a text that is too wide. */
enum grid_look {
	GRID_NUMBER, /* on the right; it moves the rest of the line */
	GRID_LEFT,   /* on the left; it moves the rest of the line */
	GRID_NAME,   /* on the left, cut on the right */
	GRID_PATH,   /* on the left, cut on the left */
	GRID_ID,     /* on the right, cut on the right */
};

/**
 * struct grid_column - a column
 * @head: lines of its heading, with line breaks between them; NULL for none
 * @unit: one more line below them; NULL for none. Headings end on the same line
 * @width: columns that it takes; 0: FORMAT_NUMBER_WIDTH
 * @least, @most: it takes free room from @least up to @most; 0: it has its @width
 * @gap: blanks in front of it in addition to one; -1 for none at all. The first has none
 * @look: alignment of its cells
 * @marks: there is room for a mark behind it, in addition to @width
 * @rank: 0 is always shown. Of the rest, rank 1 gets room first; columns of one rank are shown
 *	together or not at all
 * @or_none: if it finds no room, higher ranks are not tried
 * @early: its room beyond @width is taken before columns of this rank and later ones; 0: after all
 *	columns
 * @hidden: it is not shown
 * @shown: may it be shown at all? NULL: always
 * @cell: a row's cell here; NULL: none
 * @arg: for @cell
 */
struct grid_column {
	const char *head;
	const char *unit;
	size_t width;
	size_t least;
	size_t most;
	int gap;
	enum grid_look look;
	bool marks;
	int rank;
	bool or_none;
	int early;
	bool hidden;
	bool (*shown)(const struct grid_place *at);
	struct grid_cell (*cell)(const struct grid_place *at);
	int arg;
};

/**
 * struct grid_place - the place of a cell
 * @table: as in struct grid
 * @row: as in grid_row(); NULL when asking whether a column is shown
 * @column: the column, with the width that it has
 */
struct grid_place {
	const void *table;
	const void *row;
	const struct grid_column *column;
};

/**
 * struct grid - a table
 * @out: where to
 * @columns, @nr: the columns, from left to right
 * @width: of a line
 * @indent: blanks in front of all lines
 * @table: argument of cell functions besides the row
 *
 * No line ends with blanks.
 */
struct grid {
	FILE *out;
	struct grid_column *columns;
	size_t nr;
	size_t width;
	size_t indent;
	const void *table;
};

/** GRID() - declare a table with columns of its own, as they are in an array */
#define GRID(name, rows, to, line_width, of)                           \
	struct grid_column name##_columns[ARRAY_SIZE(rows)];           \
	struct grid name = {                                           \
		.out = (to),                                           \
		.columns = memcpy(name##_columns, rows, sizeof(rows)), \
		.nr = ARRAY_SIZE(rows),                                \
		.width = (line_width),                                 \
		.table = (of),                                         \
	}

/**
 * grid_fit() - choose the columns and their widths
 * @g: the table; columns are changed. Call this first
 *
 * If the permanent columns need more than the width, the one that may grow shrinks instead, if it
 * may.
 */
void grid_fit(struct grid *g);

/** grid_heading() - write the heading; empty lines are left out */
void grid_heading(const struct grid *g);

/** grid_row() - write the cells of a row; 0 or -ENOMEM */
int grid_row(const struct grid *g, const void *row);

/**
 * grid_line() - write a line with a label in place of its first columns
 * @g: the table
 * @label: safe to print; cut on the right
 * @nr: number of columns without a cell
 * @row: for the other cells
 *
 * Return: 0 or -ENOMEM.
 */
int grid_line(const struct grid *g, const char *label, size_t nr, const void *row);

/** grid_number() - the text of a cell as the table has it, "" for GRID_EMPTY and GRID_TEXT */
void grid_number(const struct grid_cell *cell, char text[FORMAT_NUMBER_LEN]);

/** grid_larger() - of two widths */
static inline size_t grid_larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/** grid_columns_width() - width of the first @nr columns, without the indent */
size_t grid_columns_width(const struct grid *g, size_t nr);

/* Cells. One for fixed texts: GRID_EMPTY, GRID_ABSENT, GRID_NO_DATA; and the types of numbers. */
static inline struct grid_cell grid_is(enum grid_type type)
{
	return (struct grid_cell){ .type = type };
}

static inline struct grid_cell grid_bytes(sum128 v)
{
	return (struct grid_cell){ .type = GRID_BYTES, .value = v };
}

static inline struct grid_cell grid_rate(sum128 v, uint64_t ns)
{
	return (struct grid_cell){ .type = GRID_RATE, .value = v, .whole = ns };
}

static inline struct grid_cell grid_seconds(uint64_t ns)
{
	return (struct grid_cell){ .type = GRID_SECONDS, .value = ns };
}

static inline struct grid_cell grid_ratio(sum128 v, sum128 whole)
{
	return (struct grid_cell){ .type = GRID_RATIO, .value = v, .whole = whole };
}

static inline struct grid_cell grid_percent(sum128 v, sum128 whole)
{
	return (struct grid_cell){ .type = GRID_PERCENT, .value = v, .whole = whole };
}

static inline struct grid_cell grid_ns(double ns)
{
	return (struct grid_cell){ .type = GRID_NS, .real = ns };
}

static inline struct grid_cell grid_range(sum128 v, sum128 low, sum128 high, bool tangled)
{
	return (struct grid_cell){
		.type = GRID_RANGE, .value = v, .low = low, .high = high, .tangled = tangled
	};
}

static inline struct grid_cell grid_rate_range(sum128 v, sum128 low, sum128 high, uint64_t ns)
{
	return (struct grid_cell){
		.type = GRID_RATE_RANGE, .value = v, .whole = ns, .low = low, .high = high
	};
}

static inline struct grid_cell grid_joules(sum128 nanojoules)
{
	return (struct grid_cell){ .type = GRID_JOULES, .value = nanojoules };
}

static inline struct grid_cell grid_joules_range(sum128 v, sum128 low, sum128 high, bool tangled)
{
	return (struct grid_cell){
		.type = GRID_JOULES_RANGE, .value = v, .low = low, .high = high, .tangled = tangled
	};
}

/** grid_if() - a cell, or GRID_ABSENT for an unknown value */
struct grid_cell grid_if(bool known, struct grid_cell cell);

/**
 * GRID_CELL() - define a cell function from an expression
 * @name: of the function
 * @type: of a row
 * @expression: the cell; @row points to the row, and @at is the place
 */
#define GRID_CELL(name, type, expression)                         \
	static struct grid_cell name(const struct grid_place *at) \
	{                                                         \
		const type *row = at->row;                        \
                                                                  \
		return expression;                                \
	}                                                         \
	struct grid_place

/** GRID_SHOWN() - define a function for a column's presence; @table points to the table */
#define GRID_SHOWN(name, type, expression)            \
	static bool name(const struct grid_place *at) \
	{                                             \
		const type *table = at->table;        \
                                                      \
		return expression;                    \
	}                                             \
	struct grid_place

/** grid_text() - a constant text */
__attribute__((format(printf, 1, 2))) struct grid_cell grid_text(const char *format, ...);

/** grid_name() - an untrusted name of at most @max bytes */
struct grid_cell grid_name(const char *name, size_t max);

/** grid_take() - a text that is safe to print; takes ownership; @err instead if set */
struct grid_cell grid_take(char *text, int err);

#endif
