/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside of the timeline, shared by its files only: see timeline.h. */
#ifndef ENGINE_TIMELINE_INTERNAL_H
#define ENGINE_TIMELINE_INTERNAL_H

#include "engine/timeline/timeline.h"

/* A slice, or a piece of one. @before_ns, @behind_ns: the length cut off, if it fits. */
struct slice {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t on_cpu_ns;
	uint64_t weights[TRACE_MAX_WEIGHTS];
	uint64_t weights_ns;
	uint32_t workload;
	uint32_t before_ns;
	uint32_t behind_ns;
};

/**
 * struct slices - of a socket
 * @nr_old: the first ones: before the last close, for windows yet to come
 * @max: the most there were since the capacity was last checked, @closes ago
 */
struct slices {
	struct slice *items;
	size_t nr, cap;
	size_t nr_old;
	size_t max;
	unsigned int closes;
};

struct windows {
	struct trace_window *items; /* with readings of their own */
	size_t nr, cap;
};

struct cell_place;

/**
 * struct timeline_cells - activity of workloads in windows
 * @items, @nr: ordered by window, then workload; each pair once
 * @raw, @nr_raw: of devices: in any order, not yet added up
 * @places, @other: while they are put in order
 * @ends: of the places of each window; before they are in order, how many there are
 * @nr_workloads: their numbers are below
 * @is_there: workloads of the window that is looked at, a bit each; empty between windows
 * @nr_words: of those, 64 workloads each
 * @at: which of @items is theirs
 */
struct timeline_cells {
	struct activity *items;
	size_t nr, cap;
	struct activity *raw;
	size_t nr_raw, cap_raw;
	struct cell_place *places;
	size_t nr_places, cap_places;
	struct cell_place *other;
	size_t cap_other;
	size_t *ends;
	size_t nr_workloads;
	uint64_t *is_there;
	size_t nr_words;
	size_t *at;
};

/* Slices longer than a window, of a block. */
struct longs {
	struct long_slice *items;
	size_t nr, cap;
};

/* CPU time of the slices of an interval, by workload; 0 when it is not among @who. */
struct on_cpu {
	uint64_t *ns;
	size_t nr, cap;
	uint32_t *who;
	size_t nr_who, cap_who;
};

/* Requests of a workload to a device, see struct trace_io; bytes by enum direction. */
struct io {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t bytes[2];
	uint32_t workload;
	bool exclusive;
};

struct ios {
	struct io *items;
	size_t nr, cap;
};

/* The I/O of a device, as slices are of a socket. */
struct flow {
	struct ios pending;
	struct ios history; /* stays empty when the device is not counted */
	uint32_t socket;    /* its intervals apply */
	bool counted;
};

struct timeline {
	const struct layout *layout;
	const uint32_t *cpu_socket; /* now */
	size_t nr_devices;
	struct slices *slices;	     /* one list a socket */
	struct slices behind;	     /* while a socket is closed: slices after the end */
	struct windows *windows;     /* one list a group */
	uint64_t *split_ns;	     /* end of the last window split, by group */
	uint64_t *closed_ns;	     /* up to here all was handed out, but for windows; by socket */
	struct timeline_cells cells; /* of the group that is closed; the memory is kept */
	struct longs longs;	     /* of the block that is handed out; the memory is kept */
	struct on_cpu on_cpu;	     /* of the socket that is closed; the memory is kept */
	uint64_t *begin_ns;	     /* of the first interval, by socket; 0 = not begun */
	struct flow *flows;	     /* by device */
	uint64_t *kept;		     /* by workload: the last close that kept it */
	size_t nr_kept, cap_kept;
	uint64_t closes;
};

/*
 * A group that cannot be read has no windows; when it can again, the first one
 * spans the outage. Slices are kept this long for it.
 */
#define HISTORY_NS 10000000000ull

/*
 * More of them than this of a socket, or of a device, do not wait for windows that would make a
 * better block: 100 windows of 200 CPUs with 15 slots each are as many.
 */
#define MANY	   300000

/**
 * struct timeline_closing - up to where everything is handed out
 * @end_ns: of the socket
 * @inner: no interval ends: windows wait until they make a good block
 */
struct timeline_closing {
	uint64_t end_ns;
	bool inner;
};

/* timeline.c: tell the sink, once a close, that a workload is still needed; 0 or -ENOMEM */
int timeline_keep(struct timeline *t, const struct timeline_sink *sink, uint32_t workload);

/* timeline_cells.c: index of the window that holds @ns or, in a gap, of the next one */
size_t timeline_window_at(const struct windows *w, uint64_t ns);

/* timeline_cells.c: CPU time of a slice up to a moment; the part of a count that goes with it */
uint64_t timeline_on_cpu_until(const struct slice *s, uint64_t ns);
uint64_t timeline_part_of(uint64_t count, uint64_t ns, uint64_t on_cpu_ns);

/*
 * timeline_cells.c: divide each old slice among the first @nr windows, as far as it touches them;
 * put the raw cells in order. 0 or -ENOMEM
 */
int timeline_cells_of_slices(const struct slices *slices, const struct windows *w, size_t nr,
			     struct timeline_cells *ret);
int timeline_cells_of_raw(struct timeline_cells *c, size_t nr_windows);
void timeline_cells_free(struct timeline_cells *c);

/* timeline_cells.c: the block's long slices that have counts; 0 or -ENOMEM */
int timeline_longs_of(struct timeline *t, struct split_block *b);

/* timeline_io.c: I/O of devices */
int timeline_flows_new(struct timeline *t);
void timeline_flows_free(struct timeline *t);
int timeline_flows_begin(struct timeline *t, const uint64_t *starts_ns);
int timeline_flows_cells(const struct timeline *t, uint32_t group, size_t nr,
			 struct timeline_cells *ret);
int timeline_flows_close(struct timeline *t, uint32_t socket, uint64_t end,
			 const struct timeline_sink *sink, uint64_t *late);
void timeline_flows_trim(struct timeline *t, uint32_t socket, const struct timeline_closing *c);
int timeline_flows_keep(struct timeline *t, const struct timeline_sink *sink);
uint32_t timeline_group_device(const struct layout *l, uint32_t group);
uint64_t timeline_needed_from(const struct timeline *t, uint32_t socket, uint32_t device,
			      const struct timeline_closing *c);
bool timeline_backlogged_at(const struct timeline *t, uint32_t socket, uint32_t device);

#endif
