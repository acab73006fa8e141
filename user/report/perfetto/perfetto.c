// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/perfetto/perfetto.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/devices.h"
#include "report/format.h"
#include "report/perfetto/internal.h"

struct perfetto {
	struct events events;
	struct slices *slices;
	bool begun;
	uint64_t start_ns;
	uint64_t start_time_ns;
};

/* --- what the whole interval has */

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
#define QUALITY_NOTE(name, from) events_note(d->e, #name, q->name);
	QUALITY_NUMBERS(QUALITY_NOTE)
#undef QUALITY_NOTE
	events_done(d->e);
}

/* An instant for each kind of loss, at the begin of the interval that lacks something. */
static void put_losses(const struct drawing *d)
{
	const struct quality *q = &d->r->quality;
	const struct {
		const char *name;
		uint64_t value;
	} losses[] = {
		{ "lost_windows", q->lost_windows },
		{ "lost_slices", q->lost_slices },
		{ "late_slices", q->late_slices },
		{ "lost_slices_ns", q->lost_slices_ns },
		{ "lost_tasks", q->lost_tasks },
		{ "lost_cgroups", q->lost_cgroups },
		{ "lost_io", q->lost_io },
		{ "bad_records", q->bad_records },
		{ "invalid_windows", q->invalid_windows },
		{ "uncounted_ns", q->uncounted_ns },
		{ "unweighed_ns", q->unweighed_ns },
		{ "device_held_ns", q->device_held_ns },
	};
	cleanup_place struct place at = drawing_top(d, TOP_LOSSES);

	for (size_t i = 0; i < ARRAY_SIZE(losses); i++) {
		if (!losses[i].value)
			continue;
		events_instant(d->e, &at, d->r->start_ns, losses[i].name);
		events_note(d->e, "count", losses[i].value);
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

static const char *why_absent(uint64_t enabled_ns, uint64_t running_ns)
{
	return enabled_ns && !running_ns ? "not_running" : "not_read";
}

static void put_unattributed(const struct drawing *d, const char *name, uint32_t i)
{
	const struct report_counter *rc = &d->r->counters[i];
	cleanup_place struct place at =
		events_below(d->e, drawing_counter(d, rc->counter), "unattributed", "unattributed");

	for (int k = 0; k < NR_REASONS && unit_is_split(rc->counter->unit); k++) {
		cleanup_free char *title = drawing_text(d, "%s %s", name, reason_name(k));
		const struct series s = { title, drawing_unit(rc->counter), i };

		if (title && rc->unattributed[k])
			events_value(d->e, &at, &s, d->r->start_ns, rc->unattributed[k]);
	}
}

static void put_counter(const struct drawing *d, uint32_t i)
{
	const struct report_counter *rc = &d->r->counters[i];
	const struct counter *c = rc->counter;
	cleanup_place struct place at = drawing_counter(d, c);
	cleanup_free char *name = drawing_safe(d, c->name, sizeof(c->name));
	const struct series total = { name, drawing_unit(c), TRACK_NONE };
	const struct series coverage = { name, TRACK_COVERAGE, TRACK_NONE };

	if (!name)
		return;
	if (!rc->valid) {
		put_absent(d, &at, name, why_absent(rc->enabled_ns, rc->running_ns));
		return;
	}
	events_value(d->e, &at, &total, d->r->start_ns, rc->value);
	events_real(d->e, &at, &coverage, d->r->start_ns,
		    rc->running_ns < rc->enabled_ns
			    ? (double)rc->running_ns / (double)rc->enabled_ns
			    : 1);
	put_unattributed(d, name, i);
}

static void put_probe(const struct drawing *d, const struct report_probe *rp)
{
	const struct probe *p = rp->probe;
	cleanup_free char *name = drawing_safe(d, p->name, sizeof(p->name));
	cleanup_free char *title = name ? drawing_text(d, "latency %s", name) : NULL;
	const struct series s = { title, TRACK_NS, TRACK_NONE };
	cleanup_place struct place at = { 0 };

	if (!title || (!devices_of(d->r, p->device) && p->socket >= d->r->nr_sockets))
		return;
	at = devices_of(d->r, p->device) ? drawing_device(d, p->device - 1)
					 : drawing_socket(d, d->r->sockets[p->socket].id);
	if (rp->valid)
		events_real(d->e, &at, &s, d->r->start_ns, rp->latency_ns);
	else
		put_absent(d, &at, title, rp->samples ? "no_request" : "not_read");
}

static void put_part(const struct drawing *d, const struct report_part *rp)
{
	cleanup_free char *name = drawing_safe(d, rp->part->name, sizeof(rp->part->name));
	const struct series s = { name, TRACK_BYTES, TRACK_NONE };
	cleanup_place struct place at = { 0 };

	if (!name || rp->part->socket >= d->r->nr_sockets)
		return;
	at = events_below(d->e, drawing_socket(d, d->r->sockets[rp->part->socket].id), "parts",
			  "parts");
	if (rp->valid)
		events_value(d->e, &at, &s, d->r->start_ns, rp->bytes);
	else
		put_absent(d, &at, name, why_absent(rp->enabled_ns, rp->running_ns));
}

/* --- devices */

static void put_way(const struct drawing *d, const struct place *at, const struct device_bytes *b,
		    const char *name, const char *requests)
{
	const uint64_t bar[] = { b->bytes, b->low, b->high };
	const struct series bytes = { name, TRACK_BYTES, TRACK_NONE };
	const struct series counted = { requests, TRACK_COUNT, TRACK_NONE };

	if (b->valid)
		events_bar(d->e, at, &bytes, d->r->start_ns, bar);
	if (b->requests_valid)
		events_value(d->e, at, &counted, d->r->start_ns, b->requests);
}

static void put_device(const struct drawing *d, uint32_t i)
{
	const struct report_device *rd = &d->r->devices[i];
	cleanup_place struct place at = drawing_device(d, i);
	const struct series latency = { "latency of reads", TRACK_NS, TRACK_NONE };

	put_way(d, &at, &rd->read, "read", "counted reads");
	put_way(d, &at, &rd->write, "write", "counted writes");
	if (rd->latency_valid)
		events_real(d->e, &at, &latency, d->r->start_ns, rd->latency_ns);
	if (rd->device->kind != DEVICE_PORT)
		drawing_requests(d, &at,
				 (uint64_t[NR_WAYS]){ rd->read.io_bytes, rd->write.io_bytes });
}

static void put_cpus(const struct drawing *d)
{
	cleanup_place struct place at = drawing_top(d, TOP_CPU_TIME);

	for (size_t i = 0; i < d->r->nr_sockets; i++) {
		const struct report_socket *s = &d->r->sockets[i];
		const uint64_t values[] = { s->busy_ns, s->idle_ns, s->lost_ns };
		static const char *const names[] = { "busy", "idle", "lost" };

		for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
			char name[64];
			const struct series series = { name, TRACK_NS, TRACK_NONE };

			snprintf(name, sizeof(name), "socket %" PRIu32 " %s", s->id, names[k]);
			events_value(d->e, &at, &series, d->r->start_ns, values[k]);
		}
	}
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
	for (uint32_t i = 0; i < r->nr_counters && !d.e->err; i++)
		put_counter(&d, i);
	for (size_t i = 0; i < r->nr_probes && !d.e->err; i++)
		put_probe(&d, &r->probes[i]);
	for (size_t i = 0; i < r->nr_parts && !d.e->err; i++)
		put_part(&d, &r->parts[i]);
	put_cpus(&d);
	for (uint32_t i = 0; i < r->nr_devices && !d.e->err; i++)
		put_device(&d, i);
	drawing_rows(&d);
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
