/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events of a trace in the Trace Event Format, as they come. The format has groups (it calls them
 * processes) with counters and lanes of slices (threads) in them, each with a number; it has no
 * groups in groups, so the name of a group says what it stands in.
 */
#ifndef REPORT_PERFETTO_EVENTS_H
#define REPORT_PERFETTO_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/perfetto/track_set.h"

/* More groups and lanes than this are not remembered: one that comes back gets a new number. */
#define EVENTS_MAX_NUMBERS 262144

/* Units of values. The format has none, so the names of values have them */
enum track_unit {
	TRACK_NS,
	TRACK_COUNT,
	TRACK_BYTES,
	TRACK_NANOJOULES,
	TRACK_COVERAGE,
	NR_TRACK_UNITS,
};

/**
 * struct events - where events go
 * @out: the file
 * @numbers: of groups and lanes
 * @last_number: that was given
 * @tracks: counters of the interval that is written
 * @before: those of the interval before
 * @names: of counters, each once
 * @begun: there was an event
 * @noted: the open event has a note
 * @err: the first error
 */
struct events {
	FILE *out;
	struct track_set numbers;
	uint32_t last_number;
	struct track_set tracks;
	struct track_set before;
	struct track_name *names;
	bool begun;
	bool noted;
	int err;
};

/**
 * struct place - a group of counters, or what such groups stand in
 * @id: stands for the keys of all that it stands in
 * @order: where a viewer has it among all groups
 * @name: what it is called; to be freed. NULL without memory, which is noted
 */
struct place {
	uint64_t id;
	uint64_t order;
	char *name;
};

/**
 * struct series - values of one name
 * @name: unique in its group
 * @unit: of its values
 * @counter: where it has no value, that is zero if this counter has one: its index in the report; or
 *	TRACK_NONE, TRACK_ZERO
 */
struct series {
	const char *name;
	enum track_unit unit;
	uint32_t counter;
};

/** events_place() - a group at the top; @order: among these */
struct place events_place(struct events *e, const char *name, uint64_t order);

/** events_below() - a group in @parent, which is released; @key: what it is, unique there */
struct place events_below(struct events *e, struct place parent, const char *key, const char *name);

static inline void place_release(const struct place *p)
{
	free(p->name);
}

#define cleanup_place __attribute__((cleanup(place_release)))

/**
 * events_value(), events_bar(), events_real() - what a counter has from a time on: a value; an
 *	estimate with the low and the high end of its interval; a number that need not be whole
 */
void events_value(struct events *e, const struct place *at, const struct series *s,
		  uint64_t time_ns, uint64_t value);
void events_bar(struct events *e, const struct place *at, const struct series *s, uint64_t time_ns,
		const uint64_t bar[3]);
void events_real(struct events *e, const struct place *at, const struct series *s, uint64_t time_ns,
		 double value);

/**
 * events_slice() - something lasted; to be followed by notes and events_done()
 * @e: the events
 * @at: the group
 * @key, @lane: the lane, unique in the group, and what it is called. Its slices do not overlap
 * @name: of the slice
 * @start_ns, @end_ns: of the slice
 */
void events_slice(struct events *e, const struct place *at, const char *key, const char *lane,
		  const char *name, uint64_t start_ns, uint64_t end_ns);

/** events_instant() - something happened; to be followed by notes and events_done() */
void events_instant(struct events *e, const struct place *at, uint64_t time_ns, const char *name);

/** events_note() - a number that belongs to the event; events_text_note() - a text; each name once */
void events_note(struct events *e, const char *name, uint64_t value);
void events_text_note(struct events *e, const char *name, const char *text);
void events_done(struct events *e);

/**
 * events_interval_end() - counters that had a value before and have none now are zero, where that is
 *	what it means
 * @e: the events
 * @time_ns: begin of the interval
 * @valid: has the counter of this number a value?
 * @arg: for @valid
 */
void events_interval_end(struct events *e, uint64_t time_ns,
			 bool (*valid)(const void *arg, uint32_t counter), const void *arg);

/** events_end() - what stands behind all events; @start_time: the begin as a date, or NULL */
void events_end(struct events *e, const char *start_time);
void events_free(struct events *e);

#endif
