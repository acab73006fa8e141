// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/perfetto/packets.h"

#include <errno.h>

#include "base/fnv.h"

/* Fields of the messages Trace, TracePacket, ClockSnapshot and Clock */
#define TRACE_PACKET	      1
#define PACKET_CLOCKS	      6
#define PACKET_TIMESTAMP      8
#define PACKET_SEQUENCE	      10
#define PACKET_EVENT	      11
#define PACKET_SEQUENCE_FLAGS 13
#define PACKET_CLOCK	      58
#define PACKET_TRACK	      60
#define CLOCKS_CLOCK	      1
#define CLOCKS_PRIMARY	      2
#define CLOCK_ID	      1
#define CLOCK_TIMESTAMP	      2

/* TrackDescriptor and CounterDescriptor */
#define TRACK_UUID	      1
#define TRACK_NAME	      2
#define TRACK_PARENT	      5
#define TRACK_COUNTER	      8
#define TRACK_ORDERING	      11
#define TRACK_RANK	      12
#define TRACK_MERGE	      15
#define COUNTER_UNIT	      3
#define COUNTER_UNIT_NAME     6
#define COUNTER_AXIS	      7

/* TrackEvent and DebugAnnotation */
#define EVENT_NOTE	      4
#define EVENT_TYPE	      9
#define EVENT_TRACK	      11
#define EVENT_NAME	      23
#define EVENT_VALUE	      30
#define EVENT_REAL	      44
#define NOTE_NUMBER	      3
#define NOTE_TEXT	      6
#define NOTE_NAME	      10

/* Values of enums */
#define CLOCK_IS_REALTIME     1
#define CLOCK_IS_MONOTONIC    3
#define STATE_CLEARED	      1
#define ORDER_BY_RANK	      3
#define MERGE_BY_NAME	      1
#define MERGE_NEVER	      2
#define EVENT_IS_BEGIN	      1
#define EVENT_IS_END	      2
#define EVENT_IS_INSTANT      3
#define EVENT_IS_COUNTER      4

/* All packets are of one writer. */
#define SEQUENCE	      1

uint64_t track_id(uint64_t parent, const char *key)
{
	uint64_t hash = fnv_text(FNV_BASIS ^ parent, key);

	/* FNV alone leaves the last bytes in the lower bits. */
	hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdull;
	hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53ull;
	hash ^= hash >> 33;
	return hash ? hash : 1;
}

/* --- packets */

static size_t open_packet(struct packets *p)
{
	size_t at = proto_open(&p->proto, TRACE_PACKET);

	proto_number(&p->proto, PACKET_SEQUENCE, SEQUENCE);
	return at;
}

static void close_packet(struct packets *p, size_t at)
{
	int err;

	proto_close(&p->proto, at);
	err = proto_flush(&p->proto, p->out, false);
	if (!p->err)
		p->err = err;
}

static void put_clock(struct packets *p, uint32_t id, uint64_t time_ns)
{
	size_t at = proto_open(&p->proto, CLOCKS_CLOCK);

	proto_number(&p->proto, CLOCK_ID, id);
	proto_number(&p->proto, CLOCK_TIMESTAMP, time_ns);
	proto_close(&p->proto, at);
}

void packets_clock(struct packets *p, uint64_t monotonic_ns, uint64_t realtime_ns)
{
	size_t at = open_packet(p), clocks;

	proto_number(&p->proto, PACKET_SEQUENCE_FLAGS, STATE_CLEARED);
	clocks = proto_open(&p->proto, PACKET_CLOCKS);
	put_clock(p, CLOCK_IS_MONOTONIC, monotonic_ns);
	if (realtime_ns)
		put_clock(p, CLOCK_IS_REALTIME, realtime_ns);
	proto_number(&p->proto, CLOCKS_PRIMARY, CLOCK_IS_MONOTONIC);
	proto_close(&p->proto, clocks);
	close_packet(p, at);
}

/* --- tracks */

/*
 * Whether a track has to be described: its description may be in the file already. A process that
 * became another program is described again, and the last name holds.
 */
static bool is_new(struct packets *p, uint64_t id, uint32_t counter, const char *name)
{
	const struct known_track now = { id, counter, (uint32_t)track_id(0, name) };
	const struct known_track *before;

	if (track_set_find(&p->tracks, id))
		return false;
	if (track_set_add(&p->tracks, &now) && !p->err)
		p->err = -ENOMEM;
	before = track_set_find(&p->before, id);
	return !before || before->name != now.name;
}

static void describe(struct packets *p, uint64_t id, const struct track *t, uint32_t merge,
		     const struct series *s)
{
	size_t at = open_packet(p), track = proto_open(&p->proto, PACKET_TRACK), counter;

	proto_number(&p->proto, TRACK_UUID, id);
	proto_text(&p->proto, TRACK_NAME, t->name);
	if (t->parent)
		proto_number(&p->proto, TRACK_PARENT, t->parent);
	proto_number(&p->proto, TRACK_ORDERING, ORDER_BY_RANK);
	proto_number(&p->proto, TRACK_RANK, t->rank);
	proto_number(&p->proto, TRACK_MERGE, merge);
	if (s) {
		counter = proto_open(&p->proto, TRACK_COUNTER);
		if (s->unit == TRACK_NANOJOULES)
			proto_text(&p->proto, COUNTER_UNIT_NAME, "nJ");
		else
			proto_number(&p->proto, COUNTER_UNIT, s->unit);
		if (s->axis)
			proto_text(&p->proto, COUNTER_AXIS, s->axis);
		proto_close(&p->proto, counter);
	}
	proto_close(&p->proto, track);
	close_packet(p, at);
}

static uint64_t put_track(struct packets *p, const struct track *t, uint32_t merge)
{
	uint64_t id = track_id(t->parent, t->key);

	if (is_new(p, id, TRACK_NONE, t->name))
		describe(p, id, t, merge, NULL);
	return id;
}

uint64_t packets_group(struct packets *p, const struct track *t)
{
	return put_track(p, t, MERGE_NEVER);
}

uint64_t packets_lane(struct packets *p, const struct track *t)
{
	return put_track(p, t, MERGE_BY_NAME);
}

/* --- events */

/* An event has at most one packet and one message open: their places are known. */
static void open_event(struct packets *p, uint64_t track, uint64_t time_ns, uint32_t type)
{
	p->packet = open_packet(p);
	proto_number(&p->proto, PACKET_TIMESTAMP, time_ns);
	proto_number(&p->proto, PACKET_CLOCK, CLOCK_IS_MONOTONIC);
	p->event = proto_open(&p->proto, PACKET_EVENT);
	proto_number(&p->proto, EVENT_TYPE, type);
	proto_number(&p->proto, EVENT_TRACK, track);
}

void packets_done(struct packets *p)
{
	proto_close(&p->proto, p->event);
	close_packet(p, p->packet);
}

static uint64_t series_of(struct packets *p, const struct series *s)
{
	uint64_t id = track_id(s->track.parent, s->track.key);

	if (is_new(p, id, s->counter, s->track.name))
		describe(p, id, &s->track, MERGE_NEVER, s);
	return id;
}

static void put_value(struct packets *p, uint64_t track, uint64_t time_ns, uint64_t value)
{
	open_event(p, track, time_ns, EVENT_IS_COUNTER);
	/* Whole numbers are signed. */
	if (value > INT64_MAX)
		proto_double(&p->proto, EVENT_REAL, (double)value);
	else
		proto_number(&p->proto, EVENT_VALUE, value);
	packets_done(p);
}

void packets_value(struct packets *p, const struct series *s, uint64_t time_ns, uint64_t value)
{
	put_value(p, series_of(p, s), time_ns, value);
}

void packets_real(struct packets *p, const struct series *s, uint64_t time_ns, double value)
{
	open_event(p, series_of(p, s), time_ns, EVENT_IS_COUNTER);
	proto_double(&p->proto, EVENT_REAL, value);
	packets_done(p);
}

void packets_begin(struct packets *p, uint64_t track, uint64_t time_ns, const char *name)
{
	open_event(p, track, time_ns, EVENT_IS_BEGIN);
	proto_text(&p->proto, EVENT_NAME, name);
}

void packets_end(struct packets *p, uint64_t track, uint64_t time_ns)
{
	open_event(p, track, time_ns, EVENT_IS_END);
	packets_done(p);
}

void packets_instant(struct packets *p, uint64_t track, uint64_t time_ns, const char *name)
{
	open_event(p, track, time_ns, EVENT_IS_INSTANT);
	proto_text(&p->proto, EVENT_NAME, name);
}

void packets_note(struct packets *p, const char *name, uint64_t value)
{
	size_t at = proto_open(&p->proto, EVENT_NOTE);

	proto_text(&p->proto, NOTE_NAME, name);
	proto_number(&p->proto, NOTE_NUMBER, value);
	proto_close(&p->proto, at);
}

void packets_text_note(struct packets *p, const char *name, const char *text)
{
	size_t at = proto_open(&p->proto, EVENT_NOTE);

	proto_text(&p->proto, NOTE_NAME, name);
	proto_text(&p->proto, NOTE_TEXT, text);
	proto_close(&p->proto, at);
}

/* --- intervals */

void packets_interval_end(struct packets *p, uint64_t time_ns,
			  bool (*valid)(const void *arg, uint32_t counter), const void *arg)
{
	struct track_set spare = p->before;

	for (size_t i = 0; i < p->before.capacity; i++) {
		const struct known_track *t = &p->before.slots[i];

		if (!t->id || t->counter == TRACK_NONE || track_set_find(&p->tracks, t->id))
			continue;
		if (t->counter == TRACK_ZERO || valid(arg, t->counter))
			put_value(p, t->id, time_ns, 0);
	}
	track_set_clear(&spare);
	p->before = p->tracks;
	p->tracks = spare;
}

void packets_free(struct packets *p)
{
	proto_free(&p->proto);
	track_set_free(&p->tracks);
	track_set_free(&p->before);
}
