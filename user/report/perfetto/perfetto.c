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
	struct packets packets;
	struct slices *slices;
	bool begun;
	uint64_t start_ns;
};

/* Order among tracks of the same parent; workloads come after all of them. */
enum {
	RANK_TOTAL,
	RANK_COVERAGE,
	RANK_LATENCY,
	RANK_UNATTRIBUTED,
	RANK_PART,
	RANK_ABSENT,
};

/* --- what the whole interval has */

static void put_interval(const struct drawing *d)
{
	const struct quality *q = &d->r->quality;
	uint64_t track =
		packets_group(d->p, &(struct track){ .key = "intervals", .name = "intervals" });
	char name[64], time[FORMAT_TIME_LEN];
	cleanup_free char *weights = drawing_safe(d, q->weights, sizeof(q->weights));

	snprintf(name, sizeof(name), d->r->summary ? "summary" : "interval %" PRIu64,
		 d->r->sequence);
	format_time(d->r->start_time_ns, time);
	packets_begin(d->p, track, d->r->start_ns, name);
	if (d->r->start_time_ns)
		packets_text_note(d->p, "start_time", time);
	packets_text_note(d->p, "method", method_name(q->method));
	packets_text_note(d->p, "weights", weights ? weights : "");
#define QUALITY_NOTE(name, from) packets_note(d->p, #name, q->name);
	QUALITY_NUMBERS(QUALITY_NOTE)
#undef QUALITY_NOTE
	packets_done(d->p);
	packets_end(d->p, track, d->r->end_ns);
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
	uint64_t track = 0;

	for (size_t i = 0; i < ARRAY_SIZE(losses); i++) {
		if (!losses[i].value)
			continue;
		if (!track)
			track = packets_group(d->p,
					      &(struct track){ .key = "losses", .name = "losses" });
		packets_instant(d->p, track, d->r->start_ns, losses[i].name);
		packets_note(d->p, "count", losses[i].value);
		packets_done(d->p);
	}
}

/* There is no value: a slice says so, for a track cannot show that it has none. */
static void put_absent(const struct drawing *d, uint64_t parent, const char *key, const char *why)
{
	uint64_t group = packets_group(
		d->p, &(struct track){ parent, "absent", "not measured", RANK_ABSENT });
	uint64_t track = packets_lane(d->p, &(struct track){ group, key, "not measured", 0 });

	packets_begin(d->p, track, d->r->start_ns, key);
	packets_text_note(d->p, "reason", why);
	packets_done(d->p);
	packets_end(d->p, track, d->r->end_ns);
}

static const char *why_absent(uint64_t enabled_ns, uint64_t running_ns)
{
	return enabled_ns && !running_ns ? "not_running" : "not_read";
}

static void put_coverage(const struct drawing *d, uint64_t parent, const char *name,
			 uint64_t running_ns, uint64_t enabled_ns)
{
	cleanup_free char *key = drawing_text(d, "%s coverage", name);
	const struct series s = { .track = { parent, key, key, RANK_COVERAGE },
				  .unit = TRACK_COUNT,
				  .counter = TRACK_NONE };

	if (!key)
		return;
	packets_real(d->p, &s, d->r->start_ns,
		     running_ns < enabled_ns ? (double)running_ns / (double)enabled_ns : 1);
}

static void put_unattributed(const struct drawing *d, uint64_t parent, const char *name, uint32_t i)
{
	const struct report_counter *rc = &d->r->counters[i];
	uint64_t track = 0;

	for (int k = 0; k < NR_REASONS && unit_is_split(rc->counter->unit); k++) {
		struct series s = { .track = { .key = reason_name(k), .name = reason_name(k) },
				    .unit = drawing_unit(rc->counter),
				    .axis = "reasons",
				    .counter = i };

		if (!rc->unattributed[k])
			continue;
		if (!track) {
			track = packets_group(d->p,
					      &(struct track){ parent, "unattributed",
							       "unattributed", RANK_UNATTRIBUTED });
			track = packets_group(d->p, &(struct track){ track, name, name, i });
		}
		s.track.parent = track;
		packets_value(d->p, &s, d->r->start_ns, rc->unattributed[k]);
	}
}

static void put_counter(const struct drawing *d, uint32_t i)
{
	const struct report_counter *rc = &d->r->counters[i];
	const struct counter *c = rc->counter;
	uint64_t parent = drawing_counter(d, c);
	cleanup_free char *name = drawing_safe(d, c->name, sizeof(c->name));
	const struct series s = {
		.track = { parent, name, name, RANK_TOTAL },
		.unit = drawing_unit(c),
		.counter = TRACK_NONE,
	};

	if (!name)
		return;
	if (!rc->valid) {
		put_absent(d, parent, name, why_absent(rc->enabled_ns, rc->running_ns));
		return;
	}
	packets_value(d->p, &s, d->r->start_ns, rc->value);
	put_coverage(d, parent, name, rc->running_ns, rc->enabled_ns);
	put_unattributed(d, parent, name, i);
}

static void put_probe(const struct drawing *d, const struct report_probe *rp)
{
	const struct probe *p = rp->probe;
	uint64_t parent = devices_of(d->r, p->device) ? drawing_device(d, p->device - 1)
			  : p->socket < d->r->nr_sockets
				  ? drawing_socket(d, d->r->sockets[p->socket].id)
				  : 0;
	cleanup_free char *name = drawing_safe(d, p->name, sizeof(p->name));
	cleanup_free char *key = name ? drawing_text(d, "latency %s", name) : NULL;
	const struct series s = { .track = { parent, key, key, RANK_LATENCY },
				  .unit = TRACK_TIME_NS,
				  .axis = "latency",
				  .counter = TRACK_NONE };

	if (!key)
		return;
	if (rp->valid)
		packets_real(d->p, &s, d->r->start_ns, rp->latency_ns);
	else
		put_absent(d, parent, key, rp->samples ? "no_request" : "not_read");
}

static void put_part(const struct drawing *d, const struct report_part *rp)
{
	uint64_t parent = rp->part->socket < d->r->nr_sockets
				  ? drawing_socket(d, d->r->sockets[rp->part->socket].id)
				  : 0;
	uint64_t group =
		packets_group(d->p, &(struct track){ parent, "parts", "parts", RANK_PART });
	cleanup_free char *name = drawing_safe(d, rp->part->name, sizeof(rp->part->name));
	const struct series s = { .track = { group, name, name, 0 },
				  .unit = TRACK_BYTES,
				  .axis = "parts",
				  .counter = TRACK_NONE };

	if (!name)
		return;
	if (rp->valid)
		packets_value(d->p, &s, d->r->start_ns, rp->bytes);
	else
		put_absent(d, parent, name, why_absent(rp->enabled_ns, rp->running_ns));
}

/* --- devices */

static void put_way(const struct drawing *d, uint64_t parent, const struct device_bytes *b,
		    uint32_t rank, const char *name, const char *requests)
{
	const uint64_t bar[] = { b->bytes, b->low, b->high };
	struct series s = { .track = { parent, name, name, rank },
			    .unit = TRACK_BYTES,
			    .counter = TRACK_NONE };

	if (b->valid)
		drawing_bar(d, &s, bar);
	s.track.key = s.track.name = requests;
	s.track.rank = 6 + rank;
	s.unit = TRACK_COUNT;
	if (b->requests_valid)
		packets_value(d->p, &s, d->r->start_ns, b->requests);
}

static void put_device(const struct drawing *d, uint32_t i)
{
	const struct report_device *rd = &d->r->devices[i];
	uint64_t track = drawing_device(d, i);
	const struct series latency = { .track = { track, "latency", "latency of reads", 8 },
					.unit = TRACK_TIME_NS,
					.counter = TRACK_NONE };

	put_way(d, track, &rd->read, 0, "read", "counted reads");
	put_way(d, track, &rd->write, 1, "write", "counted writes");
	if (rd->latency_valid)
		packets_real(d->p, &latency, d->r->start_ns, rd->latency_ns);
	if (rd->device->kind != DEVICE_PORT)
		drawing_requests(d, track,
				 (uint64_t[NR_WAYS]){ rd->read.io_bytes, rd->write.io_bytes });
}

static void put_cpus(const struct drawing *d)
{
	uint64_t parent = drawing_cpu_time(d);

	for (size_t i = 0; i < d->r->nr_sockets; i++) {
		const struct report_socket *s = &d->r->sockets[i];
		const uint64_t values[] = { s->busy_ns, s->idle_ns, s->lost_ns };
		static const char *const names[] = { "busy", "idle", "lost" };

		for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
			char name[64];
			const struct series series = { .track = { parent, name, name, 0 },
						       .unit = TRACK_TIME_NS,
						       .counter = TRACK_NONE };

			snprintf(name, sizeof(name), "socket %" PRIu32 " %s", s->id, names[k]);
			packets_value(d->p, &series, d->r->start_ns, values[k]);
		}
	}
}

/* --- the trace */

int perfetto_new(FILE *out, struct perfetto **ret)
{
	struct perfetto *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->packets.out = out;
	p->slices = slices_new();
	if (!p->slices) {
		free(p);
		return -ENOMEM;
	}
	*ret = p;
	return 0;
}

static int take(void *arg, const struct trace_event *e)
{
	struct perfetto *p = arg;

	return slices_take(p->slices, e);
}

struct trace_sink perfetto_sink(struct perfetto *p)
{
	return (struct trace_sink){ take, p };
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

int perfetto_write(struct perfetto *p, const struct report *r)
{
	cleanup_free const struct report_row **sorted = calloc(r->nr_rows + 1, sizeof(*sorted));
	struct drawing d = { .p = &p->packets, .r = r, .sorted = sorted };

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_rows; i++)
		sorted[i] = &r->rows[i];
	qsort(sorted, r->nr_rows, sizeof(*sorted), compare_keys);
	if (!p->begun) {
		packets_clock(&p->packets, r->start_ns, r->start_time_ns);
		p->start_ns = r->start_ns;
		p->begun = true;
	}
	put_interval(&d);
	put_losses(&d);
	for (uint32_t i = 0; i < r->nr_counters && !d.p->err; i++)
		put_counter(&d, i);
	for (size_t i = 0; i < r->nr_probes && !d.p->err; i++)
		put_probe(&d, &r->probes[i]);
	for (size_t i = 0; i < r->nr_parts && !d.p->err; i++)
		put_part(&d, &r->parts[i]);
	put_cpus(&d);
	for (uint32_t i = 0; i < r->nr_devices && !d.p->err; i++)
		put_device(&d, i);
	drawing_rows(&d);
	packets_interval_end(d.p, r->start_ns, has_value, r);
	return d.p->err;
}

int perfetto_finish(struct perfetto *p)
{
	if (!p->packets.err)
		slices_write(p->slices, &p->packets, p->start_ns);
	return p->packets.err ? p->packets.err
			      : proto_flush(&p->packets.proto, p->packets.out, true);
}

void perfetto_free(struct perfetto *p)
{
	if (!p)
		return;
	packets_free(&p->packets);
	slices_free(p->slices);
	free(p);
}
