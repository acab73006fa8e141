// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/perfetto/events.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "base/array.h"
#include "base/fnv.h"
#include "base/json_out.h"

/* Names of values. A viewer puts them behind the name of the counter. */
static const char *const unit_names[] = {
	[TRACK_NS] = "ns",	   [TRACK_COUNT] = "count",	  [TRACK_BYTES] = "bytes",
	[TRACK_NANOJOULES] = "nJ", [TRACK_COVERAGE] = "coverage",
};
_Static_assert(ARRAY_SIZE(unit_names) == NR_TRACK_UNITS, "a name for each");

/* The same counter names come again in each interval and row. */
struct track_name {
	UT_hash_handle hh;
	char text[];
};

static void fail(struct events *e, int err)
{
	if (!e->err)
		e->err = err;
}

static uint64_t id_of(uint64_t parent, const char *key)
{
	uint64_t hash = fnv_text(FNV_BASIS ^ parent, key);

	/* FNV alone leaves the last bytes in the lower bits. */
	hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdull;
	hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53ull;
	hash ^= hash >> 33;
	return hash ? hash : 1;
}

/* --- JSON */

static void open_event(struct events *e, char phase, uint32_t group, const char *name)
{
	errno = 0;
	fprintf(e->out, "%s{\"ph\":\"%c\",\"pid\":%" PRIu32 ",\"name\":",
		e->begun ? ",\n" : "{\"traceEvents\":[\n", phase, group);
	json_quoted(e->out, name);
	e->begun = true;
	e->noted = false;
}

/* The format's unit is the microsecond. */
static void put_time(struct events *e, const char *key, uint64_t ns)
{
	fprintf(e->out, ",\"%s\":%" PRIu64 ".%03" PRIu64, key, ns / 1000, ns % 1000);
}

static void begin_note(struct events *e, const char *name)
{
	fputs(e->noted ? "," : ",\"args\":{", e->out);
	json_quoted(e->out, name);
	fputc(':', e->out);
	e->noted = true;
}

void events_note(struct events *e, const char *name, uint64_t value)
{
	begin_note(e, name);
	fprintf(e->out, "%" PRIu64, value);
}

void events_text_note(struct events *e, const char *name, const char *text)
{
	begin_note(e, name);
	json_quoted(e->out, text);
}

void events_done(struct events *e)
{
	fputs(e->noted ? "}}" : "}", e->out);
	if (ferror(e->out))
		fail(e, errno ? -errno : -EIO);
}

/* --- groups and lanes */

struct place events_place(struct events *e, const char *name, uint64_t order)
{
	struct place place = { id_of(0, name), 2 * order, strdup(name) };

	if (!place.name)
		fail(e, -ENOMEM);
	return place;
}

struct place events_below(struct events *e, struct place parent, const char *key, const char *name)
{
	/* right behind the group at the top */
	struct place place = { id_of(parent.id, key), parent.order | 1, NULL };

	if (parent.name && asprintf(&place.name, "%s / %s", parent.name, name) < 0) {
		place.name = NULL;
		fail(e, -ENOMEM);
	}
	free(parent.name);
	return place;
}

/* The number of a group or lane; whether its name has to be told. */
static uint32_t number_of(struct events *e, uint64_t id, const char *name, bool *tell)
{
	struct known_track now = { .id = id, .called = (uint32_t)id_of(0, name) };
	struct known_track *known = track_set_find(&e->numbers, id);

	*tell = !known || known->called != now.called;
	if (known) {
		known->called = now.called;
		return known->number;
	}
	if (e->numbers.nr >= EVENTS_MAX_NUMBERS)
		track_set_clear(&e->numbers);
	now.number = ++e->last_number;
	if (track_set_add(&e->numbers, &now))
		fail(e, -ENOMEM);
	return now.number;
}

static uint32_t group_of(struct events *e, const struct place *at)
{
	const char *name = at->name ? at->name : "";
	bool tell;
	uint32_t number = number_of(e, at->id, name, &tell);

	if (!tell)
		return number;
	open_event(e, 'M', number, "process_name");
	events_text_note(e, "name", name);
	events_done(e);
	open_event(e, 'M', number, "process_sort_index");
	events_note(e, "sort_index", at->order);
	events_done(e);
	return number;
}

/* A viewer tells lanes apart by their numbers alone, whatever group they are in. */
static uint32_t lane_of(struct events *e, const struct place *at, uint32_t group, const char *key,
			const char *lane)
{
	bool tell;
	uint32_t number = number_of(e, id_of(~at->id, key), lane, &tell);

	if (!tell)
		return number;
	open_event(e, 'M', group, "thread_name");
	fprintf(e->out, ",\"tid\":%" PRIu32, number);
	events_text_note(e, "name", lane);
	events_done(e);
	return number;
}

/* --- values */

static const char *kept_name(struct events *e, const char *text)
{
	size_t length = strlen(text);
	struct track_name *name;

	HASH_FIND(hh, e->names, text, length, name);
	if (name)
		return name->text;
	name = malloc(sizeof(*name) + length + 1);
	if (!name) {
		fail(e, -ENOMEM);
		return NULL;
	}
	memcpy(name->text, text, length + 1);
	HASH_ADD_KEYPTR(hh, e->names, name->text, length, name);
	if (name->hh.tbl)
		return name->text;
	free(name);
	fail(e, -ENOMEM);
	return NULL;
}

static void note_track(struct events *e, const struct place *at, uint32_t group,
		       const struct series *s, bool bar)
{
	struct known_track now = { .id = id_of(at->id, s->name),
				   .counter = s->counter,
				   .number = group,
				   .unit = s->unit,
				   .bar = bar };

	if (s->counter == TRACK_NONE || track_set_find(&e->tracks, now.id))
		return;
	now.name = kept_name(e, s->name);
	if (now.name && track_set_add(&e->tracks, &now))
		fail(e, -ENOMEM);
}

/* An event of a counter, up to its values */
static void open_values(struct events *e, const struct place *at, const struct series *s,
			uint64_t time_ns, bool bar)
{
	uint32_t group = group_of(e, at);

	note_track(e, at, group, s, bar);
	open_event(e, 'C', group, s->name);
	put_time(e, "ts", time_ns);
}

static void put_values(struct events *e, enum track_unit unit, bool bar, const uint64_t *values)
{
	static const char *const ends[] = { " low", " high" };

	events_note(e, unit_names[unit], values[0]);
	for (size_t i = 0; bar && i < ARRAY_SIZE(ends); i++) {
		char name[32];

		snprintf(name, sizeof(name), "%s%s", unit_names[unit], ends[i]);
		events_note(e, name, values[i + 1]);
	}
	events_done(e);
}

void events_value(struct events *e, const struct place *at, const struct series *s,
		  uint64_t time_ns, uint64_t value)
{
	open_values(e, at, s, time_ns, false);
	put_values(e, s->unit, false, &value);
}

void events_bar(struct events *e, const struct place *at, const struct series *s, uint64_t time_ns,
		const uint64_t bar[3])
{
	open_values(e, at, s, time_ns, true);
	put_values(e, s->unit, true, bar);
}

void events_real(struct events *e, const struct place *at, const struct series *s, uint64_t time_ns,
		 double value)
{
	/* JSON has no other numbers. */
	if (!isfinite(value))
		return;
	open_values(e, at, s, time_ns, false);
	begin_note(e, unit_names[s->unit]);
	fprintf(e->out, "%.17g", value);
	events_done(e);
}

/* --- slices and instants */

void events_slice(struct events *e, const struct place *at, const char *key, const char *lane,
		  const char *name, uint64_t start_ns, uint64_t end_ns)
{
	uint32_t group = group_of(e, at), number = lane_of(e, at, group, key, lane);

	open_event(e, 'X', group, name);
	fprintf(e->out, ",\"tid\":%" PRIu32, number);
	put_time(e, "ts", start_ns);
	put_time(e, "dur", end_ns - start_ns);
}

void events_instant(struct events *e, const struct place *at, uint64_t time_ns, const char *name)
{
	uint32_t group = group_of(e, at);

	open_event(e, 'i', group, name);
	/* of the group, not of a lane */
	fputs(",\"s\":\"p\"", e->out);
	put_time(e, "ts", time_ns);
}

/* --- intervals */

void events_interval_end(struct events *e, uint64_t time_ns,
			 bool (*valid)(const void *arg, uint32_t counter), const void *arg)
{
	static const uint64_t zeros[3];
	struct track_set spare = e->before;

	for (size_t i = 0; i < e->before.capacity; i++) {
		const struct known_track *t = &e->before.slots[i], *now;

		if (!t->id)
			continue;
		/* It may have got another number. */
		now = track_set_find(&e->tracks, t->id);
		if (now && now->number == t->number)
			continue;
		if (t->counter != TRACK_ZERO && !valid(arg, t->counter))
			continue;
		open_event(e, 'C', t->number, t->name);
		put_time(e, "ts", time_ns);
		put_values(e, t->unit, t->bar, zeros);
	}
	track_set_clear(&spare);
	e->before = e->tracks;
	e->tracks = spare;
}

void events_end(struct events *e, const char *start_time)
{
	errno = 0;
	/* No displayTimeUnit: versions of a viewer take it for the unit of times. */
	fprintf(e->out, "%s\n],\"otherData\":{\"clock\":\"CLOCK_MONOTONIC\"",
		e->begun ? "" : "{\"traceEvents\":[");
	if (start_time)
		fprintf(e->out, ",\"start_time\":\"%s\"", start_time);
	fputs("}}\n", e->out);
	if (fflush(e->out) || ferror(e->out))
		fail(e, errno ? -errno : -EIO);
}

void events_free(struct events *e)
{
	struct track_name *name, *next;

	HASH_ITER (hh, e->names, name, next) {
		HASH_DEL(e->names, name);
		free(name);
	}
	track_set_free(&e->numbers);
	track_set_free(&e->tracks);
	track_set_free(&e->before);
}
