/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fields of each event as rows. Both forms of trace files are written and read by walking
 * over them: encode.c and decode.c for recordings, ndjson_write.c and ndjson_event.c for NDJSON.
 */
#ifndef TRACE_FIELDS_H
#define TRACE_FIELDS_H

#include "base/fields.h"
#include "trace.h"

/*
 * Types of fields beside those of base/fields.h. The indexes are uint32_t in memory and in
 * recordings. NDJSON has the number or the name that people know, in which a reader looks them up.
 */
enum {
	FIELD_WHO = FIELD_OWN, /* struct trace_who; a key in recordings, a workload in NDJSON */
	FIELD_CPU,	       /* index */
	FIELD_SOCKET,	       /* index */
	FIELD_PLACE,	       /* index + 1, 0 for none; NDJSON leaves it out then */
	FIELD_PROBE,	       /* index */
	FIELD_DEVICE,	       /* index; in NDJSON the PCI address */
	FIELD_PART,	       /* index */
	FIELD_INSTANCE,	       /* number + 1, 0 for none; NDJSON has the number, or leaves it out */
	FIELD_GROUP,	       /* index; in NDJSON the socket of the group */
	FIELD_WEIGHTS,	       /* of a slice */
	FIELD_READINGS,	       /* of a window */
	FIELD_ENDS,	       /* of a mark; bytes have them if its flag is set */
	FIELD_TOTALS,	       /* of a mark: numbers, and how many there are */
};

/**
 * struct trace_row - an event
 * @name: NDJSON "type"
 * @code: enum recording_event; 0: slices, which recordings have in a form of their own
 * @own: in NDJSON, only traces that we wrote have it
 * @fields: of struct trace_event
 * @since: recordings have it from this version on; 0: from the first on that is read
 */
struct trace_row {
	const char *name;
	uint8_t code;
	bool own;
	struct fields fields;
	uint8_t since;
};

/** trace_rows - by enum trace_event_type */
extern const struct trace_row trace_rows[NR_TRACE_EVENTS];

/* The totals of a mark. Add at the end of both only: the order is that of recordings. */
extern const struct fields trace_losses;
extern const struct fields trace_costs;

/** struct trace_who - the first fields of a slice and of I/O */
struct trace_who {
	uint32_t pid;
	uint32_t tgid;
	uint64_t task_start_ns;
	uint64_t cgroup_id;
};

/** trace_who() - the task of a slice or of I/O; 0 where the pid alone identifies it */
struct trace_who trace_who(const struct trace_event *e);

/** trace_has_list() - does a reader get memory for events of this type? See fields_release() */
bool trace_has_list(enum trace_event_type type);

/** trace_unannounced() - is it a type that a trace with this header cannot have? */
bool trace_unannounced(const struct trace_header *h, enum trace_event_type type);

/** trace_bound() - an index must be below it; 0 if the field is not an index */
uint64_t trace_bound(const struct trace_header *h, const struct field *f);

/** trace_fits() - does the event make sense, and will readers take it? */
bool trace_fits(const struct trace_header *h, const struct trace_event *e);

#endif
