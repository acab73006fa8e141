/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Internal to the table: columns, lines of numbers, totals, and text about devices. */
#ifndef REPORT_TABLE_CELLS_H
#define REPORT_TABLE_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "model.h"
#include "report/devices.h"
#include "report/grid.h"
#include "report/rows.h"
#include "report/table/table.h"
#include "report/verdict.h"

/* The columns with fixed names; the rest follows. */
enum {
	COLUMN_TREE,
	COLUMN_USER,
	COLUMN_NAME,
	COLUMN_PID,
	COLUMN_TID,
	COLUMN_MARK,
	COLUMN_COMMAND,
	COLUMN_CGROUP,
	COLUMN_NUMBERS, /* the first without a fixed name: of a destination */
	COLUMN_READ = COLUMN_NUMBERS + 5,
	COLUMN_BYTES = COLUMN_READ + 5,
	COLUMN_DEVICES = COLUMN_READ + 7,
	COLUMN_CPU = COLUMN_DEVICES + 4,
	MAX_COLUMNS = 32,
};

/* Sets of sources and of sockets, as bits. */
#define SOURCE_BIT(s) (1U << (s))
#define TASK_SOURCES  (SOURCE_BIT(SOURCE_CPU) | SOURCE_BIT(SOURCE_ANY))
#define ALL_SOURCES   (~0U)
#define ALL_SOCKETS   (~0ULL)

/* Content of a cell. */
enum cell_state {
	CELL_ABSENT,  /* there is no such counter */
	CELL_NO_DATA, /* there are counters, but none has a value */
	CELL_DATA,
};

#define TABLE_BRIEFEST 2

/* The numbers of a line. */
struct cells {
	const struct row_node *node; /* NULL: not of a row */
	enum cell_state bytes[NR_DIRECTIONS];
	enum cell_state to[NR_DESTINATIONS];
	enum cell_state energy;
	struct amounts amounts;
	enum cell_state device[NR_WAYS]; /* by direction; of amounts.device */
	uint64_t whole;			 /* bytes of the machine: they are 100% */
	uint64_t most;			 /* most bytes that memory could have moved, 0 = unknown */
	bool no_cpu;			 /* CPU time does not apply here */
	bool range;			 /* the interval of the bytes is known */
	enum cell_state lat;		 /* latency; CELL_ABSENT: does not apply here */
	double lat_ns;
};

/* A table while it is written. */
struct table {
	FILE *out;
	const struct report *r;
	const struct table_options *o;
	struct row_tree *tree;
	struct verdict verdict;
	uint64_t duration_ns;
	size_t width;
	struct grid grid;
	struct grid_column columns[MAX_COLUMNS];
	size_t left;	/* columns in front of the numbers */
	bool fitted;	/* rows are left out to fit on a terminal */
	int brief;	/* lines are left out for more rows; the larger, the more */
	bool tree_rows; /* rows are in a tree: of cgroups, or of jobs and steps */
	/* Destinations with a column, instead of READ and WRITE: 0 if they have none */
	size_t to[NR_DESTINATIONS];
	size_t nr_to;
	/* Knowledge about devices, and by direction whether this interval has it */
	enum devices_mode devices;
	enum cell_state device_state[NR_WAYS];
	bool names_as_addresses;	/* of devices: there is no room for both */
	size_t device_columns;		/* their number; 0 where there is no room */
	bool traffic;			/* there are counters of sockets */
	bool energy;			/* there are counters of energy */
	bool directions[NR_DIRECTIONS]; /* of these, and READ and WRITE if there are none */
	bool ranges;			/* there is a RANGE column */
	uint64_t most;			/* as in cells, of all lines; 0: there is no PEAK column */
	bool marked[2][2];		/* a row was written that [has ended][is pooled] */
	bool always;			/* so was the line for REASON_BACKGROUND */
};

/** cells_counter_is() - is a counter of one of these sockets and sources, and not of a device? */
bool cells_counter_is(const struct table *t, const struct counter *c, uint64_t sockets,
		      unsigned int sources);

/**
 * cells_of() - the numbers of a line
 * @t: the table
 * @a: the amounts
 * @sockets: sockets whose counters they sum
 * @sources: sources whose counters they sum
 *
 * Return: the cells, which tell for each direction whether it was counted.
 */
struct cells cells_of(const struct table *t, const struct amounts *a, uint64_t sockets,
		      unsigned int sources);

/** cells_has_data() - is there a value in any direction? */
bool cells_has_data(const struct cells *c);

/** cells_no_data() - is there a direction whose counters have no value? */
bool cells_no_data(const struct cells *c);

/** cells_devices() - a line's bytes of devices are known as for rows */
void cells_devices(const struct table *t, struct cells *c);

/**
 * cells_direction() - write a line with one direction's bytes to each destination
 * @t: the table, with columns for destinations
 * @label: the line's label
 * @c: numbers of the row
 * @direction: the direction
 *
 * Return: 0 or -ENOMEM. A direction without counters has no line.
 */
int cells_direction(const struct table *t, const char *label, const struct cells *c,
		    enum direction direction);

/**
 * cells_line() - write a line that is not a row
 * @t: the table
 * @labels: its labels, from long to short, ending with NULL: the longest that fits in front of the
 *	numbers is used, and the last one is truncated if even that is too long
 * @c: its numbers
 *
 * Return: 0 or -ENOMEM.
 */
int cells_line(const struct table *t, const char *const *labels, const struct cells *c);

/** columns_lay_out() - choose columns and their widths; 0 or -ENOMEM */
int columns_lay_out(struct table *t);

/** columns_depth() - number of rows above a row */
size_t columns_depth(const struct row_node *node);

/** columns_indent() - blanks in front of a name at this depth, which must stay in its column */
size_t columns_indent(const struct table *t, size_t depth);

/** columns_before_name() - columns in front of a row's name, or of a line about it */
size_t columns_before_name(const struct table *t, const struct row_node *node);

/** totals_machine() - write the line of the whole machine, "all"; 0 or -ENOMEM */
int totals_machine(const struct table *t);

/**
 * totals_reason() - write the unattributed bytes of a reason
 * @t: the table
 * @reason: the reason; without significant bytes or CPU time there is no line
 *
 * Return: 0 or -ENOMEM.
 */
int totals_reason(struct table *t, enum reason reason);

/** totals_reasons() - write the unattributed bytes of all reasons in one line; 0 or -ENOMEM */
int totals_reasons(const struct table *t);

/**
 * totals_owned() - write the bytes that devices moved for rows
 * @t: the table
 *
 * Sockets count them, and the numbers of rows exclude them: this line makes the sums right. Without
 * such bytes there is none.
 *
 * Return: 0 or -ENOMEM.
 */
int totals_owned(const struct table *t);

/**
 * totals_socket() - write a socket's bytes, in total and by source
 * @t: the table
 * @socket: index into row_tree.sockets
 *
 * Return: 0 or -ENOMEM.
 */
int totals_socket(const struct table *t, size_t socket);

/**
 * devices_put_moved() - a line with the bytes of devices for a row, where there are no columns
 * @t: the table
 * @bytes: by direction
 * @indent: blanks in front
 *
 * Writes nothing for a row without such bytes.
 */
void devices_put_moved(const struct table *t, const uint64_t bytes[2], int indent);

/**
 * devices_put_row() - a line for each device and direction in which a row has a part
 * @t: the table
 * @row: the row
 * @indent: blanks in front
 *
 * Return: 0 or -ENOMEM.
 */
int devices_put_row(const struct table *t, const struct report_row *row, int indent);

/** users_write() - sentences about the owner and the users of a device; 0 or -ENOMEM */
int users_write(const struct table *t, const struct report_device *d);

/**
 * devices_write() - the block of devices: their bytes and quality
 * @t: the table
 *
 * Return: 0 or -ENOMEM.
 */
int devices_write(struct table *t);

/**
 * devices_notes() - notes on these numbers, in sentences
 * @t: the table
 *
 * Return: 0 or -ENOMEM.
 */
int devices_notes(const struct table *t);

/**
 * tangled_write() - name the groups of inseparable rows among those shown
 * @out: where to
 * @r: the report
 * @tree: its rows
 * @width: columns of a line
 * @most: groups to name, the largest first; the rest is counted. TANGLED_ALL: all, with all their rows
 *
 * Rows in the report are called by name, others by key. Writes nothing when every shown row is
 * separable.
 *
 * Return: 0 or -ENOMEM. Errors of the stream are left to the caller.
 */
int tangled_write(FILE *out, const struct report *r, const struct row_tree *tree, size_t width,
		  size_t most);

#define TANGLED_ALL SIZE_MAX

#endif
