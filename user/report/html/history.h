/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * History of a run in bounded memory: its intervals as points. When there are too many, neighbours
 * are merged, so that older points are longer. Sums stay exact.
 */
#ifndef REPORT_HTML_HISTORY_H
#define REPORT_HTML_HISTORY_H

#include "model.h"
#include "report/facts.h"

#define HISTORY_MAX_POINTS 1500
#define HISTORY_MAX_CELLS  200000
#define HISTORY_MAX_ROWS   65536

/* The column of the first of a row's numbers, FACTS_OF_ROWS; the rest is given by history_column(). */
#define HISTORY_NUMBERS	   (UINT32_MAX - NR_FACTS_OF_ROWS)
/* The number of all leaf rows that came after the first HISTORY_MAX_ROWS */
#define HISTORY_POOLED	   0

/* Quantities split among rows: bytes by direction, and nanojoules. Of sockets, also all bytes. */
enum history_kind {
	HISTORY_READ = DIRECTION_READ,
	HISTORY_WRITE = DIRECTION_WRITE,
	HISTORY_READWRITE = DIRECTION_READWRITE,
	HISTORY_ENERGY,
	NR_HISTORY_SPLIT,
	HISTORY_BYTES = NR_HISTORY_SPLIT,
	NR_HISTORY_KINDS,
};

/* Of a cell: a row's bytes or energy on a socket */
static inline uint32_t history_column(uint32_t socket, enum history_kind kind)
{
	return socket * NR_HISTORY_SPLIT + kind;
}

/**
 * struct history_cell - a row's bytes or energy on a socket
 * @row: number of the row, see history_row()
 * @column: see history_column(), or HISTORY_NUMBERS
 * @value, @low, @high: bytes that CPUs moved, or nanojoules, and sums of the ends of intervals
 */
struct history_cell {
	uint32_t row;
	uint32_t column;
	uint64_t value;
	uint64_t low;
	uint64_t high;
};

/**
 * struct history_count - counts of one kind on a socket
 * @counted_ns: time of the intervals in which a counter had a value; 0 = none
 * @incomplete: in part of it, a counter had no value
 * @value: bytes or nanojoules; those of rows' cells, @owned and @unattributed add up to it
 * @owned: bytes that devices moved for rows
 */
struct history_count {
	uint64_t counted_ns;
	bool incomplete;
	uint64_t value;
	uint64_t owned;
	uint64_t unattributed[NR_REASONS];
};

/**
 * struct history_socket - a socket in a point
 * @kinds: counts, without counters of devices
 * @numbers: FACTS_OF_SOCKETS
 */
struct history_socket {
	struct history_count kinds[NR_HISTORY_KINDS];
	uint64_t numbers[NR_FACTS_OF_SOCKETS];
};

/* A latency in a point: the mean is @ns_requests / @requests, if there were any. */
struct history_probe {
	double ns_requests;
	double requests;
};

/* A device's bytes in both directions; unknown if @counted_ns is 0. */
struct history_device {
	uint64_t counted_ns;
	uint64_t value;
	uint64_t low;
	uint64_t high;
};

/**
 * struct history_point - an interval, or several in a row
 * @start_ns, @end_ns: its time
 * @intervals: number of intervals
 * @cells, @nr: sorted by row and column; missing ones are 0
 * @sockets, @probes, @devices: by index, all of the history
 */
struct history_point {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t intervals;
	struct history_cell *cells;
	size_t nr;
	struct history_socket *sockets;
	struct history_probe *probes;
	struct history_device *devices;
};

struct history_row;

/**
 * struct history - points of a run, the oldest first
 * @points, @nr: points
 * @nr_cells: of all points
 * @nr_sockets, @nr_probes, @nr_devices: as the first report had them
 * @start_time_ns: time of day of the begin, 0 = not known
 * @intervals: of the run
 * @rows, @nr_rows: numbers of rows, from 1 on; @leaf: by number. Of history.c
 */
struct history {
	struct history_point *points;
	size_t nr;
	size_t cap;
	size_t nr_cells;
	size_t nr_sockets;
	size_t nr_probes;
	size_t nr_devices;
	uint64_t start_time_ns;
	uint64_t intervals;
	struct history_row *rows;
	size_t nr_rows;
	bool *leaf;
	size_t cap_leaf;
};

/** history_add() - add an interval; 0 or -ENOMEM. The history begins as all zeros */
int history_add(struct history *h, const struct report *r);

/** history_thin() - join neighbours until there are at most @points points and @cells cells */
int history_thin(struct history *h, size_t points, size_t cells);

/**
 * history_row() - the number of a row
 * @h: the history
 * @key: of the row
 * @leaf: as a leaf row, or as a parent row: a cgroup may have been one after the other
 *
 * Return: HISTORY_POOLED when it has no own number.
 */
uint32_t history_row(const struct history *h, const char *key, bool leaf);

/** history_is_leaf() - is it a number of leaf rows? */
bool history_is_leaf(const struct history *h, uint32_t number);

/** history_cell_add() - add the numbers of a cell to another one */
void history_cell_add(struct history_cell *to, const struct history_cell *from);

/** history_free() - release its memory, not the structure */
void history_free(struct history *h);

#endif
