/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fields of each event as rows. Both forms of trace files are written and read by walking
 * over them: encode.c and decode.c for recordings, ndjson_write.c and ndjson_event.c for NDJSON.
 */
#ifndef TRACE_FIELDS_H
#define TRACE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace.h"

/* Add at the end of both only: the order is that of recordings. */
#define TRACE_NR_LOSSES NR_QUALITY_NUMBERS
#define TRACE_NR_COSTS	8

/**
 * enum field_type - what a field is
 *
 * The first four are what their type in C says, and need no code of their own. The indexes are
 * uint32_t in memory and in recordings. NDJSON has the number or the name that people know, in
 * which a reader looks them up.
 */
enum field_type {
	FIELD_U64,
	FIELD_U32,
	FIELD_BOOL,
	FIELD_TEXT,
	FIELD_WHO,	/* struct trace_who; a key in recordings, a workload in NDJSON */
	FIELD_CPU,	/* index */
	FIELD_SOCKET,	/* index */
	FIELD_PROBE,	/* index */
	FIELD_DEVICE,	/* index; in NDJSON the PCI address */
	FIELD_PART,	/* index */
	FIELD_GROUP,	/* index; in NDJSON the socket of the group */
	FIELD_FLAGS,	/* recordings: the bools of the event in one number; not in NDJSON */
	FIELD_WEIGHTS,	/* of a slice */
	FIELD_READINGS, /* of a window */
	FIELD_ENDS,	/* of a mark */
	FIELD_LOSSES,	/* of a mark: trace_losses */
	FIELD_COSTS,	/* of a mark: trace_costs */
};

/**
 * enum field_base - what a number is close to
 *
 * A recording has the difference from it. In NDJSON it is what an optional number is without
 * its key.
 */
enum field_base {
	BASE_NONE,
	BASE_TIME,   /* the last time in the block, which the field becomes */
	BASE_FIELD,  /* the field at trace_field.of */
	BASE_LENGTH, /* end - start; trace_field.of is the start, and the end follows it */
};

/**
 * struct trace_field - a field of an event
 * @name: in NDJSON
 * @type: what it is
 * @offset: in struct trace_event
 * @base, @of: see enum field_base
 * @size: texts: room, with NUL, that a reader has
 * @flag: bools and ends: their bit in the FIELD_FLAGS of a recording
 * @required: a reader refuses an event without it; other texts may be NULL
 * @terse: NDJSON leaves it out when it is what a reader takes it for without the key
 * @not_below, @not_above: how it must compare with its base
 * @unless: a bool of the event, as offset: with it, this is 0 and left out. In recordings such
 *	fields follow all others. 0: there is none
 */
struct trace_field {
	const char *name;
	enum field_type type;
	uint16_t offset;
	enum field_base base;
	uint16_t of;
	uint16_t size;
	uint8_t flag;
	bool required;
	bool terse;
	bool not_below;
	bool not_above;
	uint16_t unless;
};

/**
 * struct trace_row - an event
 * @name: NDJSON "type"
 * @code: enum recording_event; 0: slices, which recordings have in a form of their own
 * @own: in NDJSON, only traces that we wrote have it
 * @fields, @nr: in the order of both forms
 */
struct trace_row {
	const char *name;
	uint8_t code;
	bool own;
	const struct trace_field *fields;
	size_t nr;
};

/** trace_rows - by enum trace_event_type */
extern const struct trace_row trace_rows[NR_TRACE_EVENTS];

/**
 * struct trace_total - a uint64_t of struct quality or struct self_cost
 * @name: in NDJSON
 * @offset: in the structure
 */
struct trace_total {
	const char *name;
	size_t offset;
};

extern const struct trace_total trace_losses[TRACE_NR_LOSSES];
extern const struct trace_total trace_costs[TRACE_NR_COSTS];

static inline uint64_t trace_total_get(const void *s, const struct trace_total *t)
{
	return *(const uint64_t *)((const char *)s + t->offset);
}

static inline void trace_total_set(void *s, const struct trace_total *t, uint64_t value)
{
	*(uint64_t *)((char *)s + t->offset) = value;
}

/** struct trace_who - the first fields of a slice and of I/O */
struct trace_who {
	uint32_t pid;
	uint32_t tgid;
	uint64_t task_start_ns;
	uint64_t cgroup_id;
};

/** trace_who() - of a slice or of I/O, 0 where the pid alone says all */
struct trace_who trace_who(const struct trace_event *e);

static inline const void *trace_at(const struct trace_event *e, size_t offset)
{
	return (const char *)e + offset;
}

/** trace_get() - the value of a number, bool or index */
static inline uint64_t trace_get(const struct trace_event *e, const struct trace_field *f)
{
	if (f->type == FIELD_U64)
		return *(const uint64_t *)trace_at(e, f->offset);
	if (f->type == FIELD_BOOL)
		return *(const bool *)trace_at(e, f->offset);
	return *(const uint32_t *)trace_at(e, f->offset);
}

/** trace_set() - the counterpart; the value must fit */
static inline void trace_set(struct trace_event *e, const struct trace_field *f, uint64_t value)
{
	if (f->type == FIELD_U64)
		*(uint64_t *)((char *)e + f->offset) = value;
	else if (f->type == FIELD_BOOL)
		*(bool *)((char *)e + f->offset) = value;
	else
		*(uint32_t *)((char *)e + f->offset) = value;
}

/** trace_text() - the text of a FIELD_TEXT, NULL for none */
static inline const char *trace_text(const struct trace_event *e, const struct trace_field *f)
{
	return *(const char *const *)trace_at(e, f->offset);
}

/** trace_absent() - is the field left out of this event? see trace_field.unless */
static inline bool trace_absent(const struct trace_event *e, const struct trace_field *f)
{
	return f->unless && *(const bool *)trace_at(e, f->unless);
}

/** trace_base() - what the number is close to; 0 without such, and for BASE_TIME */
uint64_t trace_base(const struct trace_event *e, const struct trace_field *f);

/** trace_bound() - an index must be below it; 0 for what is no index */
uint64_t trace_bound(const struct trace_header *h, const struct trace_field *f);

/** trace_fits() - does the event make sense, and will readers take it? */
bool trace_fits(const struct trace_header *h, const struct trace_event *e);

#endif
