/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packets of a Perfetto trace: tracks, and what happens on them. Numbers of fields and values are
 * those of Perfetto's published messages (protos/perfetto/trace in its sources), which never
 * change; tests/fixtures/perfetto.proto has the same ones in the language of protoc.
 */
#ifndef REPORT_PERFETTO_PACKETS_H
#define REPORT_PERFETTO_PACKETS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/perfetto/proto.h"
#include "report/perfetto/track_set.h"

/* What values of a counter are */
enum track_unit {
	TRACK_TIME_NS = 1,
	TRACK_COUNT = 2,
	TRACK_BYTES = 3,
	TRACK_NANOJOULES, /* Perfetto has no number for it: it is named */
};

/**
 * struct packets - where packets go
 * @proto: the writer
 * @out: the file
 * @tracks: those of the interval that is written
 * @before: those of the interval before
 * @packet, @event: where these messages begin while an event is written
 * @err: the first error
 */
struct packets {
	struct proto proto;
	FILE *out;
	struct track_set tracks;
	struct track_set before;
	size_t packet;
	size_t event;
	int err;
};

/** struct track - a track as it is described; @parent 0 for none. Children stand in order of @rank */
struct track {
	uint64_t parent;
	const char *key; /* what it is, unique below @parent */
	const char *name;
	uint32_t rank;
};

/**
 * struct series - a track of values
 * @track: the track
 * @unit: of its values
 * @axis: tracks of the same parent and axis have the same scale; NULL for one of its own
 * @counter: where it has no value, that is zero if this counter has one: its index in the report; or
 *	TRACK_NONE, TRACK_ZERO
 */
struct series {
	struct track track;
	enum track_unit unit;
	const char *axis;
	uint32_t counter;
};

/** track_id() - the number of a track: the same for the same key and parent, in all files */
uint64_t track_id(uint64_t parent, const char *key);

/** packets_clock() - times are CLOCK_MONOTONIC; one of them in CLOCK_REALTIME, 0 = not known */
void packets_clock(struct packets *p, uint64_t monotonic_ns, uint64_t realtime_ns);

/** packets_group() - a track that holds others and events; described when it is new */
uint64_t packets_group(struct packets *p, const struct track *t);

/** packets_lane() - a track of slices: those of the same name and parent are shown as one */
uint64_t packets_lane(struct packets *p, const struct track *t);

/** packets_value(), packets_real() - a value from a time on */
void packets_value(struct packets *p, const struct series *s, uint64_t time_ns, uint64_t value);
void packets_real(struct packets *p, const struct series *s, uint64_t time_ns, double value);

/** packets_begin() - a slice of a track begins; to be followed by notes and packets_done() */
void packets_begin(struct packets *p, uint64_t track, uint64_t time_ns, const char *name);
void packets_end(struct packets *p, uint64_t track, uint64_t time_ns);

/** packets_instant() - something happened; to be followed by notes and packets_done() */
void packets_instant(struct packets *p, uint64_t track, uint64_t time_ns, const char *name);

/** packets_note() - a number that belongs to the event; packets_text_note() - a text */
void packets_note(struct packets *p, const char *name, uint64_t value);
void packets_text_note(struct packets *p, const char *name, const char *text);
void packets_done(struct packets *p);

/**
 * packets_interval_end() - tracks that had a value before and have none now are zero, where that is
 *	what it means
 * @p: the packets
 * @time_ns: begin of the interval
 * @valid: has the counter of this number a value?
 * @arg: for @valid
 */
void packets_interval_end(struct packets *p, uint64_t time_ns,
			  bool (*valid)(const void *arg, uint32_t counter), const void *arg);

void packets_free(struct packets *p);

#endif
