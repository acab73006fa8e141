// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/sources/part_sums.h"

#include <errno.h>
#include <stdlib.h>

/*
 * An event since the last sum: @value was counted in @running_ns, and in @missed_ns it did not
 * count, up to @end_ns. @rest is a remainder below one byte, in parts of its scale.
 */
struct sum {
	uint32_t pmu;
	uint64_t end_ns;
	uint64_t value;
	uint64_t running_ns;
	uint64_t missed_ns;
	uint64_t rest;
};

struct part_sums {
	struct part_sums_options o;
	struct sum *sums;	   /* by want */
	uint64_t *start_ns;	   /* by part */
	bool *refused;		   /* by part */
	const struct reading **at; /* by want, its reading in the current segment */
	bool begun;
	uint64_t bad;
};

int part_sums_new(const struct part_sums_options *o, struct part_sums **ret)
{
	const struct part_plan *p = o->plan;
	struct part_sums *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->o = *o;
	s->sums = calloc(p->wants.nr + 1, sizeof(*s->sums));
	s->at = calloc(p->wants.nr + 1, sizeof(*s->at));
	s->start_ns = calloc(p->nr_parts + 1, sizeof(*s->start_ns));
	s->refused = calloc(p->nr_parts + 1, sizeof(*s->refused));
	if (!s->sums || !s->at || !s->start_ns || !s->refused) {
		part_sums_free(s);
		return -ENOMEM;
	}
	for (size_t i = 0; i < p->wants.nr; i++) {
		s->sums[i].pmu = o->pmus[i];
		s->refused[p->part_of[i]] |= o->refused[i];
	}
	*ret = s;
	return 0;
}

void part_sums_free(struct part_sums *s)
{
	if (!s)
		return;
	free(s->sums);
	free(s->at);
	free(s->start_ns);
	free(s->refused);
	free(s);
}

void part_sums_begin(struct part_sums *s, uint64_t now_ns)
{
	for (size_t i = 0; i < s->o.plan->nr_parts; i++)
		s->start_ns[i] = now_ns;
	s->begun = true;
}

/* An event without counts in a segment of its PMU had no turn, or others had the hardware. */
static void add_reading(struct sum *sum, const struct reading *r, uint64_t length)
{
	if (!r) {
		sum->missed_ns += length;
		return;
	}
	sum->value += r->value;
	sum->running_ns += r->running_ns;
	sum->missed_ns += r->enabled_ns > r->running_ns ? r->enabled_ns - r->running_ns : 0;
}

void part_sums_segment(struct part_sums *s, const struct stat_segment *segment)
{
	if (!s->begun)
		return;
	for (size_t i = 0; i < segment->nr; i++)
		s->at[segment->counters[i]] = &segment->readings[i];
	for (size_t i = 0; i < s->o.plan->wants.nr; i++)
		if (s->sums[i].pmu == segment->pmu) {
			add_reading(&s->sums[i], s->at[i], segment->end_ns - segment->start_ns);
			s->sums[i].end_ns = segment->end_ns;
		}
	for (size_t i = 0; i < segment->nr; i++)
		s->at[segment->counters[i]] = NULL;
}

/* Have all events of a part counted since its last sum? */
static bool is_complete(const struct part_sums *s, size_t part)
{
	for (size_t i = 0; i < s->o.plan->wants.nr; i++)
		if (s->o.plan->part_of[i] == part && !s->sums[i].running_ns)
			return false;
	return true;
}

/* The bytes of an event, which starts again from 0. */
static uint64_t take_bytes(struct sum *sum, const struct bytes_ratio *scale)
{
	unsigned __int128 counts = sum->value;

	if (sum->missed_ns)
		counts = counts * (sum->running_ns + sum->missed_ns) / sum->running_ns;
	counts = counts * scale->bytes + sum->rest;
	*sum = (struct sum){
		.pmu = sum->pmu,
		.end_ns = sum->end_ns,
		.rest = counts % scale->counts,
	};
	return counts / scale->counts;
}

/*
 * A part ends at the last reading of its PMUs: a busy machine may have no time to read them at the
 * end of an interval. For PMUs that were read at different times it is the first of these.
 */
static uint64_t end_of(const struct part_sums *s, size_t part)
{
	uint64_t end = UINT64_MAX;

	for (size_t i = 0; i < s->o.plan->wants.nr; i++)
		if (s->o.plan->part_of[i] == part && s->sums[i].end_ns < end)
			end = s->sums[i].end_ns;
	return end;
}

static int send_part(struct part_sums *s, size_t part, uint64_t end_ns)
{
	const struct part_plan *p = s->o.plan;
	struct trace_part t = { .part = s->o.first + part,
				.start_ns = s->start_ns[part],
				.end_ns = end_ns };

	for (size_t i = 0; i < p->wants.nr; i++) {
		struct sum *sum = &s->sums[i];

		if (p->part_of[i] != part)
			continue;
		t.enabled_ns += sum->running_ns + sum->missed_ns;
		t.running_ns += sum->running_ns;
		t.bytes += take_bytes(sum, &p->scale[i]);
	}
	s->start_ns[part] = end_ns;
	return trace_taken(trace_send_part(&s->o.out, &t), &s->bad);
}

int part_sums_end(struct part_sums *s)
{
	int err = 0;

	for (size_t i = 0; i < s->o.plan->nr_parts && s->begun && !err; i++) {
		uint64_t end = end_of(s, i);

		if (!s->refused[i] && end > s->start_ns[i] && is_complete(s, i))
			err = send_part(s, i, end);
	}
	return err;
}

uint64_t part_sums_bad(const struct part_sums *s)
{
	return s->bad;
}
