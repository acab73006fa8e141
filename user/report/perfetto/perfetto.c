// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/perfetto/perfetto.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/facts.h"
#include "report/format.h"
#include "report/gpus.h"
#include "report/perfetto/internal.h"

struct perfetto {
	struct events events;
	struct slices *slices;
	bool begun;
	uint64_t start_ns;
	uint64_t start_time_ns;
};

/* --- what the whole interval has */

static int put_note(void *arg, const struct fact *f)
{
	const struct drawing *d = arg;

	events_note(d->e, f->name, f->value);
	return 0;
}

static void put_interval(const struct drawing *d)
{
	const struct quality *q = &d->r->quality;
	cleanup_place struct place at = drawing_top(d, TOP_INTERVALS);
	char name[64], time[FORMAT_TIME_LEN];
	cleanup_free char *weights = drawing_safe(d, q->weights, sizeof(q->weights));

	snprintf(name, sizeof(name), d->r->summary ? "summary" : "interval %" PRIu64,
		 d->r->sequence);
	format_time(d->r->start_time_ns, time);
	events_slice(d->e, &at, "intervals", "intervals", name, d->r->start_ns, d->r->end_ns);
	if (d->r->start_time_ns)
		events_text_note(d->e, "start_time", time);
	events_text_note(d->e, "method", method_name(q->method));
	events_text_note(d->e, "weights", weights ? weights : "");
	facts_quality(d->r, FACTS(FACT_QUALITY), put_note, (void *)d);
	events_done(d->e);
}

/* An instant for each kind of loss, at the begin of the interval that lacks something. */
static void put_losses(const struct drawing *d)
{
	static const struct fact_of losses[] = {
		OF_QUALITY(lost_windows),   OF_QUALITY(lost_slices),  OF_QUALITY(late_slices),
		OF_QUALITY(lost_slices_ns), OF_QUALITY(lost_tasks),   OF_QUALITY(lost_cgroups),
		OF_QUALITY(lost_io),	    OF_QUALITY(bad_records),  OF_QUALITY(invalid_windows),
		OF_QUALITY(uncounted_ns),   OF_QUALITY(unweighed_ns), OF_QUALITY(device_held_ns)
	};
	cleanup_place struct place at = drawing_top(d, TOP_LOSSES);

	for (size_t i = 0; i < ARRAY_SIZE(losses); i++) {
		uint64_t value = fact_of(&losses[i], &d->r->quality);

		if (!value)
			continue;
		events_instant(d->e, &at, d->r->start_ns, losses[i].name);
		events_note(d->e, "count", value);
		events_done(d->e);
	}
}

/* There is no value: a slice says so, for a counter cannot show that it has none. */
static void put_absent(const struct drawing *d, const struct place *at, const char *name,
		       const char *why)
{
	cleanup_free char *lane = drawing_text(d, "not measured: %s", name);

	if (!lane)
		return;
	events_slice(d->e, at, lane, lane, "not measured", d->r->start_ns, d->r->end_ns);
	events_text_note(d->e, "reason", why);
	events_done(d->e);
}

/* --- numbers */

static enum track_unit unit_of(enum fact_unit u)
{
	return u == FACT_BYTES	      ? TRACK_BYTES
	       : u == FACT_NANOJOULES ? TRACK_NANOJOULES
	       : u == FACT_NS	      ? TRACK_NS
				      : TRACK_COUNT;
}

/* To be freed */
static char *title_of(const struct drawing *d, const struct fact *f)
{
	const char *direction = direction_name(f->direction);
	cleanup_free char *name = drawing_safe(d, f->name, f->max);
	char user[GPUS_TEXT_LEN];

	if (!name)
		return NULL;
	switch (f->record) {
	case FACT_UNATTRIBUTED:
		return drawing_text(d, "%s %s", name, f->reason);
	case FACT_CPU:
		if (f->row)
			return drawing_text(d, "%s", f->of->title);
		return drawing_text(d, "socket %" PRIu32 " %s", f->socket, f->of->title);
	case FACT_LATENCY:
		return drawing_text(d, "latency %s", name);
	case FACT_DEVICE:
		if (f->unit == FACT_BYTES)
			return drawing_text(d, "%s", direction);
		return drawing_text(d, "%s %ss", f->unit == FACT_NS ? "latency of" : "counted",
				    direction);
	case FACT_IO:
		return drawing_text(d, "requests %s", direction);
	case FACT_USER:
		gpus_user(f->user, user);
		return drawing_text(d, "%s %s", user, f->name);
	default:
		return take_ptr(name);
	}
}

static struct place place_of(const struct drawing *d, const struct fact *f)
{
	struct place at = f->record == FACT_CPU ? drawing_top(d, TOP_CPU_TIME)
			  : f->device		? drawing_device(d, f->device->device)
						: drawing_socket(d, f->socket);

	if (f->record == FACT_PART)
		at = events_below(d->e, at, "parts", "parts");
	if (f->record == FACT_UNATTRIBUTED)
		at = events_below(d->e, at, "unattributed", "unattributed");
	if (f->record == FACT_USER)
		at = events_below(d->e, at, "users", "users");
	return f->row ? drawing_row(d, at, f->row) : at;
}

/* The meaning of a number that an interval lacks */
static uint32_t absence_of(const struct drawing *d, const struct fact *f)
{
	if (f->record == FACT_SHARE || f->record == FACT_UNATTRIBUTED)
		return (uint32_t)(f->counter - d->r->counters);
	return f->record == FACT_IO || f->record == FACT_USER || (f->row && f->of) ? TRACK_ZERO
										   : TRACK_NONE;
}

/* Of most counters most rows have nothing, and thousands of counters would say so. */
static bool is_nothing(const struct fact *f)
{
	return (f->row || f->record == FACT_IO) &&
	       (f->known == FACT_WHOLE || f->known == FACT_BAR) && !f->value && !f->high;
}

/* A row's bytes of a device are shares of the device's counters already, but for derived ones. */
static bool is_share(const struct fact *f)
{
	return f->row && f->record == FACT_DEVICE && f->device->how != HOW_DERIVED;
}

static void put_value(const struct drawing *d, const struct place *at, const char *title,
		      const struct fact *f)
{
	const struct series s = { title, unit_of(f->unit), absence_of(d, f) };
	const struct series coverage = { title, TRACK_COVERAGE, TRACK_NONE };
	const uint64_t bar[] = { f->value, f->low, f->high };

	if (f->known == FACT_TENTHS)
		events_real(d->e, at, &s, d->r->start_ns, f->real);
	else if (f->record == FACT_SHARE || (f->record == FACT_DEVICE && f->known == FACT_BAR))
		events_bar(d->e, at, &s, d->r->start_ns, bar);
	else
		events_value(d->e, at, &s, d->r->start_ns, f->value);
	if (f->record == FACT_COUNTER)
		events_real(d->e, at, &coverage, d->r->start_ns, f->coverage);
}

static int put_fact(void *arg, const struct fact *f)
{
	const struct drawing *d = arg;
	cleanup_free char *title = NULL;
	cleanup_place struct place at = { 0 };

	if (is_nothing(f) || is_share(f) || !(f->record == FACT_CPU || f->device || f->has_socket))
		return 0;
	title = title_of(d, f);
	if (!title)
		return d->e->err;
	at = place_of(d, f);
	if (f->known == FACT_ABSENT)
		put_absent(d, &at, title, f->reason);
	else
		put_value(d, &at, title, f);
	if (f->record == FACT_SHARE && !f->separable)
		drawing_tangled(d, f->row, &at, title);
	return d->e->err;
}

static int put_facts(struct drawing *d)
{
	const struct report *r = d->r;
	const unsigned int rest = ~FACTS(FACT_SHARE);
	int err = facts_machine(r, ~FACTS(FACT_CPU), put_fact, d);

	if (!err)
		err = facts_machine(r, FACTS(FACT_CPU), put_fact, d);
	for (size_t i = 0; i < r->nr_devices && !err; i++)
		err = facts_device(r, i, ~FACTS(FACT_IO), put_fact, d)
			      ?: facts_device(r, i, FACTS(FACT_IO), put_fact, d);
	for (size_t i = 0; i < r->nr_rows && !err; i++)
		err = facts_row(r, &r->rows[i], FACTS(FACT_SHARE), put_fact, d)
			      ?: facts_row(r, &r->rows[i], rest, put_fact, d);
	return err;
}

/* --- the trace */

int perfetto_new(FILE *out, struct perfetto **ret)
{
	struct perfetto *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->events.out = out;
	t->slices = slices_new();
	if (!t->slices) {
		free(t);
		return -ENOMEM;
	}
	*ret = t;
	return 0;
}

static int take(void *arg, const struct trace_event *e)
{
	struct perfetto *t = arg;

	return slices_take(t->slices, e);
}

struct trace_sink perfetto_sink(struct perfetto *t)
{
	return (struct trace_sink){ take, t };
}

static int compare_keys(const void *a, const void *b)
{
	const struct report_row *const *x = a, *const *y = b;

	return strncmp((*x)->key, (*y)->key, MODEL_KEY_LEN);
}

static bool has_value(const void *arg, uint32_t counter)
{
	const struct report *r = arg;

	return counter < r->nr_counters && r->counters[counter].valid;
}

int perfetto_write(struct perfetto *t, const struct report *r)
{
	cleanup_free const struct report_row **sorted = calloc(r->nr_rows + 1, sizeof(*sorted));
	struct drawing d = { .e = &t->events, .r = r, .sorted = sorted };

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_rows; i++)
		sorted[i] = &r->rows[i];
	qsort(sorted, r->nr_rows, sizeof(*sorted), compare_keys);
	if (!t->begun) {
		t->start_ns = r->start_ns;
		t->start_time_ns = r->start_time_ns;
		t->begun = true;
	}
	put_interval(&d);
	put_losses(&d);
	if (!d.e->err)
		put_facts(&d);
	events_interval_end(d.e, r->start_ns, has_value, r);
	return d.e->err;
}

int perfetto_finish(struct perfetto *t)
{
	const struct drawing d = { .e = &t->events };
	char time[FORMAT_TIME_LEN];

	if (!t->events.err)
		slices_write(t->slices, &d, t->start_ns);
	format_time(t->start_time_ns, time);
	if (!t->events.err)
		events_end(&t->events, t->start_time_ns ? time : NULL);
	return t->events.err;
}

void perfetto_free(struct perfetto *t)
{
	if (!t)
		return;
	events_free(&t->events);
	slices_free(t->slices);
	free(t);
}
