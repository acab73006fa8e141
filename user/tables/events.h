/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Meanings of uncore events and filters. Whether a PMU has an event, and its encoding, is up to
 * sysfs; an event without a row is counted without a unit.
 */
#ifndef TABLES_EVENTS_H
#define TABLES_EVENTS_H

#include "tables/families.h"

enum event_unit {
	EVENT_CYCLES,
	EVENT_REQUESTS,
	EVENT_BYTES,
	EVENT_BEATS,	   /* of up to 32 bytes */
	EVENT_OUTSTANDING, /* requests under way, added up each cycle */
	NR_EVENT_UNITS,
};

/* Bytes per beat of events that count beats; T241 (Grace) tuning guide. */
#define EVENT_BEAT_BYTES 32

/**
 * struct event_row - an event
 * @kind: PMU family
 * @name: in sysfs; "<s>" stands for the number of a socket, 0 to 3
 * @unit: its unit
 * @code: value of the "event" field, for the first socket where @name has "<s>". For tests and
 *	people: sysfs wins
 * @counts: its meaning in words
 * @source: source of the meaning; "name" when only the name tells
 */
struct event_row {
	enum pmu_kind kind;
	const char *name;
	enum event_unit unit;
	uint64_t code;
	const char *counts;
	const char *source;
};

extern const struct event_row event_rows[];
extern const size_t nr_event_rows;

/** event_row_find() - the row of an event by its sysfs name, NULL when there is none */
const struct event_row *event_row_find(enum pmu_kind kind, const char *name);

/** event_unit_name() - "cycles", "requests", "bytes", "beats", "outstanding" */
const char *event_unit_name(enum event_unit unit);

enum filter_use {
	FILTER_SOURCE,	    /* originator of the traffic; one bit each */
	FILTER_DESTINATION, /* destination; one bit each */
	FILTER_PORTS,	    /* mask: root ports, link ports or remote sockets */
	FILTER_GPUS,	    /* mask */
	FILTER_BDF,	    /* requester id */
	FILTER_BDF_ENABLE,  /* the requester id counts instead of the port mask */
	FILTER_RANGE_BASE,  /* address range: base, compared bits, switch */
	FILTER_RANGE_MASK,
	FILTER_RANGE_ENABLE,
};

/**
 * struct filter_row - a filter
 * @kind: PMU family
 * @name: name of its format in sysfs
 * @use: its purpose
 * @all: value of a mask that passes everything, 0 where that makes no sense
 * @meaning: the traffic that passes, in words
 * @source: source of the meaning
 */
struct filter_row {
	enum pmu_kind kind;
	const char *name;
	enum filter_use use;
	uint64_t all;
	const char *meaning;
	const char *source;
};

extern const struct filter_row filter_rows[];
extern const size_t nr_filter_rows;

/**
 * event_on_socket() - put the number of a socket into the name of an event
 * @name: of a row; "<s>" stands for the number
 * @socket: number of the PMU's own socket
 * @ret: the name
 * @size: size of @ret
 *
 * Return: 0 or -ENAMETOOLONG, with @ret untouched.
 */
int event_on_socket(const char *name, int32_t socket, char *ret, size_t size);

/** filter_row_use() - the first filter of a family with this use, NULL when it has none */
const struct filter_row *filter_row_use(enum pmu_kind kind, enum filter_use use);

/* Settings that must not be used although the driver may accept them. */
enum constraint {
	CONSTRAINT_EMPTY_RANGE,	    /* base 0 with mask 0: looks like a free slot */
	CONSTRAINT_RANGE_ON_CYCLES, /* frees a slot that it never took */
	CONSTRAINT_RANGE_NOT_ON,    /* base or mask given, but not switched on */
	CONSTRAINT_RANGES,	    /* at most as many at the same time as there are slots */
	CONSTRAINT_BDF_NOT_ON,	    /* requester id without the switch: counts nothing */
	CONSTRAINT_BDF_AND_PORTS,   /* rejected by the driver, or never runs */
	CONSTRAINT_ONE_BDF,	    /* one setting of the requester id at a time */
	CONSTRAINT_UNLISTED_EVENT,  /* hidden for this peer: opens but tells nothing */
	CONSTRAINT_EMPTY_PORTS,	    /* port mask 0: all or none, depending on the kernel */
	NR_CONSTRAINTS,
};

/**
 * struct constraint_row - a rule for a family
 * @kind: PMU family
 * @rule: the forbidden setting
 * @why: its consequence
 * @remedy: the alternative
 * @source: source of the rule
 */
struct constraint_row {
	enum pmu_kind kind;
	enum constraint rule;
	const char *why;
	const char *remedy;
	const char *source;
};

extern const struct constraint_row constraint_rows[];
extern const size_t nr_constraint_rows;

/** constraint_find() - the rule for a family, NULL when the family has none */
const struct constraint_row *constraint_find(enum pmu_kind kind, enum constraint rule);

#endif
