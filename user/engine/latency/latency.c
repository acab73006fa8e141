// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/latency/latency.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/times.h"
#include "engine/identity/identity.h"

/* A window that spans an outage reaches back this far at most, as slices are kept. */
#define HISTORY_NS 10000000000ull

/* @ns: the sample's latency; 0 when it has none. */
struct item {
	struct trace_sample sample;
	double ns;
};

struct latency_pair {
	struct report_probe counted;
	struct latency_sums scaled;
};

/* A probe while the trace is read. */
struct track {
	struct item *items;
	size_t nr, cap;
	uint64_t end_ns;    /* of the last sample */
	uint64_t begin_ns;  /* of the first interval */
	uint64_t closed_ns; /* up to here all was added up */
	uint64_t start_ns;  /* of the interval */
	bool ended;	    /* @interval is of the one before */
	struct latency_pair interval;
	struct latency_pair all;
};

struct latency {
	const struct trace_header *header;
	const struct links *links;
	struct track *tracks; /* by probe */
	struct latency_sink to;
};

int latency_new(const struct trace_header *header, const struct links *links, struct latency **ret)
{
	struct latency *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->header = header;
	l->links = links;
	l->tracks = calloc(header->nr_probes + 1, sizeof(*l->tracks));
	if (!l->tracks) {
		free(l);
		return -ENOMEM;
	}
	*ret = l;
	return 0;
}

void latency_free(struct latency *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->header->nr_probes; i++)
		free(l->tracks[i].items);
	free(l->tracks);
	free(l);
}

void latency_add(struct latency_sums *to, const struct trace_sample *s, double part)
{
	double scale;

	if (!s->running_ns)
		return;
	scale = part * (s->enabled_ns > s->running_ns ? (double)s->enabled_ns / s->running_ns : 1);
	to->outstanding += scale * s->outstanding;
	to->requests += scale * s->requests;
	to->cycles += scale * s->cycles;
	to->enabled_ns += scale * s->running_ns;
}

bool latency_mean(const struct latency_sums *s, double *ret_cycles, double *ret_ns)
{
	if (s->requests <= 0 || s->cycles <= 0)
		return false;
	*ret_cycles = s->outstanding / s->requests;
	*ret_ns = *ret_cycles * (s->enabled_ns / s->cycles);
	return true;
}

/* The part of a count between two moments of a sample; adjacent parts add up exactly. */
static uint64_t part_of(uint64_t count, const struct trace_sample *s, uint64_t from, uint64_t to)
{
	uint64_t length = s->end_ns - s->start_ns;
	unsigned __int128 until_to = (unsigned __int128)count * (to - s->start_ns) / length;

	return until_to - (unsigned __int128)count * (from - s->start_ns) / length;
}

static void sums_add(struct latency_pair *to, const struct trace_sample *s, uint64_t from,
		     uint64_t until)
{
	if (!s->running_ns || from >= until)
		return;
	to->counted.outstanding += part_of(s->outstanding, s, from, until);
	to->counted.requests += part_of(s->requests, s, from, until);
	to->counted.cycles += part_of(s->cycles, s, from, until);
	to->counted.covered_ns += until - from;
	latency_add(&to->scaled, s, (double)(until - from) / (s->end_ns - s->start_ns));
}

/*
 * What lies before the last close was added up without it. The run can still have all of it, the
 * interval what lies in it.
 */
static void add_late(struct track *t, const struct trace_sample *s)
{
	uint64_t until = earlier(s->end_ns, t->closed_ns);

	sums_add(&t->all, s, later(s->start_ns, t->begin_ns), until);
	t->all.counted.samples += s->running_ns && until > t->begin_ns;
	/* The last close was in the middle of the interval. */
	if (until > t->start_ns) {
		sums_add(&t->interval, s, later(s->start_ns, t->start_ns), until);
		t->interval.counted.samples += s->running_ns != 0;
	}
}

int latency_sample(struct latency *l, const struct trace_sample *s)
{
	struct latency_sums sums = { 0 };
	double cycles, ns = 0;
	struct track *t;

	assert(s->probe < l->header->nr_probes);
	t = &l->tracks[s->probe];
	assert(t->end_ns <= s->start_ns && s->start_ns < s->end_ns);
	if (array_reserve(t->items, t->cap, t->nr))
		return -ENOMEM;
	latency_add(&sums, s, 1);
	if (!latency_mean(&sums, &cycles, &ns))
		ns = 0;
	t->items[t->nr++] = (struct item){ *s, ns };
	t->end_ns = s->end_ns;
	if (s->start_ns < t->closed_ns)
		add_late(t, s);
	return 0;
}

void latency_begin(struct latency *l, const uint64_t *starts_ns)
{
	for (size_t i = 0; i < l->header->nr_probes; i++)
		l->tracks[i].begin_ns = l->tracks[i].closed_ns = l->tracks[i].start_ns =
			starts_ns[l->header->probes[i].socket];
}

/* The mean over the part of a window that samples tell of; 0: they tell nothing. */
static double window_ns(const struct track *t, const struct trace_window *w)
{
	size_t at = array_place(t->nr, k, t->items[k].sample.end_ns <= w->start_ns);
	double sum = 0, covered = 0;

	for (; at < t->nr && t->items[at].sample.start_ns < w->end_ns; at++) {
		const struct item *i = &t->items[at];
		double time = earlier(i->sample.end_ns, w->end_ns) -
			      later(i->sample.start_ns, w->start_ns);

		if (i->ns <= 0)
			continue;
		sum += time * i->ns;
		covered += time;
	}
	return covered > 0 ? sum / covered : 0;
}

static int on_window(void *arg, const struct trace_window *w)
{
	(void)arg;
	(void)w;
	return 0;
}

static int on_bytes(void *arg, uint32_t counter, const struct trace_window *w, uint64_t bytes,
		    const struct portion *p, size_t nr)
{
	struct latency *l = arg;
	int err = 0;

	(void)bytes;
	for (size_t k = 0; k < l->links->nr && nr; k++) {
		const struct link *link = &l->links->items[k];
		double ns;

		if (link->counter != counter)
			continue;
		ns = window_ns(&l->tracks[link->probe], w);
		for (size_t i = 0; i < nr && ns > 0 && !err; i++)
			if (p[i].workload != WORKLOAD_BACKGROUND && p[i].workload != WORKLOAD_LOST)
				err = l->to.observed(l->to.arg, k, p[i].workload, p[i].bytes, ns);
	}
	return err;
}

struct split_sink latency_split(struct latency *l, struct latency_sink to)
{
	l->to = to;
	return (struct split_sink){ .window = on_window, .bytes = on_bytes, .arg = l };
}

static void close_track(struct track *t, uint64_t end)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->nr; i++) {
		const struct trace_sample *s = &t->items[i].sample;
		uint64_t from = later(s->start_ns, t->closed_ns), until = earlier(s->end_ns, end);

		if (from < until && s->running_ns) {
			sums_add(&t->interval, s, from, until);
			sums_add(&t->all, s, from, until);
			t->interval.counted.samples +=
				s->start_ns >= t->closed_ns || t->closed_ns == t->start_ns;
			/*
			 * A sample that began before the last close was counted in the interval
			 * before.
			 */
			t->all.counted.samples +=
				s->start_ns >= t->closed_ns || t->closed_ns == t->begin_ns;
		}
		if (s->end_ns > end || end - s->end_ns < HISTORY_NS)
			t->items[kept++] = t->items[i];
	}
	t->nr = kept;
	t->closed_ns = end;
}

/* The sums of the last interval are there until something is added to the next one. */
static void begin_interval(struct track *t)
{
	if (t->ended)
		t->interval = (struct latency_pair){ 0 };
	t->ended = false;
}

void latency_close(struct latency *l, const uint64_t *ends_ns)
{
	for (size_t i = 0; i < l->header->nr_probes; i++) {
		struct track *t = &l->tracks[i];

		begin_interval(t);
		close_track(t, ends_ns[l->header->probes[i].socket]);
		t->start_ns = t->closed_ns;
		t->ended = true;
	}
}

void latency_close_inner(struct latency *l, const uint64_t *ends_ns)
{
	for (size_t i = 0; i < l->header->nr_probes; i++) {
		struct track *t = &l->tracks[i];
		uint64_t end = ends_ns[l->header->probes[i].socket];

		begin_interval(t);
		if (end > t->closed_ns)
			close_track(t, end);
	}
}

int latency_report(const struct latency *l, bool all, struct report *ret)
{
	const struct trace_header *h = l->header;

	ret->probes = calloc(h->nr_probes + 1, sizeof(*ret->probes));
	if (!ret->probes)
		return -ENOMEM;
	ret->nr_probes = h->nr_probes;
	for (size_t i = 0; i < h->nr_probes; i++) {
		const struct latency_pair *s = all ? &l->tracks[i].all : &l->tracks[i].interval;
		struct report_probe *p = &ret->probes[i];
		size_t nr, first = links_of(l->links, i, &nr);

		*p = s->counted;
		p->probe = &h->probes[i];
		p->valid = latency_mean(&s->scaled, &p->latency_cycles, &p->latency_ns);
		p->weighed = nr > 0;
		if (nr)
			p->destination =
				h->layout.counters[l->links->items[first].counter].destination;
	}
	return 0;
}
