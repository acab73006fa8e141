/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside of the neighbours, shared by their files only: see neighbours.h. */
#ifndef ENGINE_LATENCY_NEIGHBOURS_INTERNAL_H
#define ENGINE_LATENCY_NEIGHBOURS_INTERNAL_H

#include "engine/identity/identity.h"
#include "engine/latency/latency.h"
#include "engine/latency/neighbours.h"

/* Numbers below are reasons. */
#define FIRST_ROW ((uint32_t)NR_REASONS)

/**
 * struct neighbour_entry - traffic of a row, or without one
 * @who: a reason, or FIRST_ROW and up: a row
 * @bytes: in both directions
 * @linked: of these, the bytes that weigh the latency
 */
struct neighbour_entry {
	uint32_t who;
	double bytes;
	double linked;
};

/**
 * struct slot - one or several samples of a probe
 * @start_ns, @end_ns: the first one's start and the last one's end
 * @length_ns: their length, without gaps
 * @covered_ns: time of windows between the two
 * @sums: its counts
 * @samples: how many they are
 * @entries: in no order, and the same one may be there more than once
 */
struct slot {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t length_ns;
	uint64_t covered_ns;
	struct latency_sums sums;
	size_t samples;
	struct neighbour_entry *entries;
	size_t nr, cap;
	size_t merged; /* of entries: the first ones are there once, in order */
};

/**
 * struct neighbour_span - bytes of a window that are not in a slot yet
 * @start_ns, @end_ns: of the window
 * @from_ns: earlier time was given to slots, or lies between samples
 * @cover: the window counts as covered time
 */
struct neighbour_span {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t from_ns;
	bool cover;
	struct neighbour_entry *entries;
	size_t nr;
};

/**
 * struct vicinity - a probe and the traffic around it
 * @slots: in the order of time
 * @per_slot: samples that make a slot
 * @nr_entries: of all slots
 * @spans: later than the last sample, oldest first
 * @nr_waiting: entries of all spans
 */
struct vicinity {
	uint32_t probe;
	uint32_t socket;
	uint32_t group; /* its windows give the covered time */
	uint64_t end_ns;
	struct slot *slots;
	size_t nr, cap;
	size_t per_slot;
	size_t nr_entries;
	struct neighbour_span *spans;
	size_t nr_spans, cap_spans;
	size_t nr_waiting;
};

/* A row that moved something. */
struct known {
	char key[MODEL_KEY_LEN];
	uint32_t who;
	UT_hash_handle hh;
};

struct neighbours {
	const struct trace_header *header;
	const struct links *links;
	struct neighbours_names names;
	struct vicinity *vicinities;
	size_t nr;
	struct known *known;
	uint32_t next;	  /* number of the next row */
	uint32_t *who_of; /* by number of the interval's row; 0 = not looked up */
	size_t nr_who, cap_who;
	struct neighbour_entry *scratch;
	size_t nr_scratch, cap_scratch;
	uint64_t *enabled_ns; /* of the block, by counter */
	uint64_t *running_ns;
	bool in_bytes;			 /* of a block, behind its windows */
	size_t max_entries, max_waiting; /* of one probe */
};

/* The row of all that are not told apart; it has no key. */
#define POOL_ROW (FIRST_ROW + NEIGHBOURS_MAX_ROWS)

/** neighbours_slot_merge() - each entry once, ordered by @who */
void neighbours_slot_merge(struct slot *s);

#endif
