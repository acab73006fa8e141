// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/meter/sampler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "platform/meter/latency_fit.h"
#include "tables/events.h"

/* Probes of one PMU, and their events: the cycles first, then two a probe. */
#define MAX_PROBES  8
#define MAX_EVENTS  (1 + 2 * MAX_PROBES)
/* In front of the counts: how many, time enabled, time running. */
#define NR_TIMES    3
/* At a mark, what was read this part of the interval ago is not read again. */
#define RECENT_PART 10

/* What a PMU said. */
struct state {
	uint64_t time_ns;
	uint64_t enabled_ns;
	uint64_t running_ns;
	uint64_t counts[MAX_EVENTS];
};

/* The probes of a PMU, read together. */
struct set {
	const struct pmu *pmu;
	size_t cpu;	    /* index into cpus */
	uint32_t first, nr; /* probes */
	size_t nr_events;
	struct perf_event_attr attrs[MAX_EVENTS];
	int fds[MAX_EVENTS];
	bool pinned;
	bool beside;  /* our own traffic counters are on the PMU: never in their way */
	bool stopped; /* the last reading gave nothing at all */
	bool gone;
	bool known; /* @last is something to start from */
	struct state last;
	uint64_t due_ns;
	bool waits; /* for the budget */
	uint64_t readings, ns;
};

/* Readings of all PMUs with the same active CPU are paid from one account. */
struct cpu {
	int cpu;
	uint64_t ns;
};

struct sampler {
	struct sampler_options o;
	struct probe *probes;
	size_t nr_probes, cap_probes;
	struct set *sets;
	size_t nr_sets, cap_sets;
	struct cpu *cpus;
	size_t nr_cpus, cap_cpus;
	uint64_t begin_ns;
	struct sampler_cost cost;
	char note[256];
};

/* --- opening */

static void note(struct sampler *s, const struct pmu *pmu, const char *what)
{
	str_append(s->note, sizeof(s->note), "%s%s: %s", s->note[0] ? "; " : "", pmu->name, what);
}

static bool find_socket(const struct sampler_options *o, int32_t number, uint32_t *ret)
{
	for (*ret = 0; *ret < o->nr_sockets; ++*ret)
		if (number >= 0 && o->socket_ids[*ret] == (uint32_t)number)
			return true;
	return false;
}

static const struct counted_pmu *find_counted(const struct sampler_options *o,
					      const struct pmu *pmu)
{
	for (size_t i = 0; i < o->nr_counted; i++)
		if (o->counted[i].pmu == pmu)
			return &o->counted[i];
	return NULL;
}

static int event_attr(const struct pmu *pmu, const char *name, struct perf_event_attr *ret)
{
	char event[PMU_NAME_LEN];
	struct pmu_config config;
	int err = event_on_socket(name, pmu->socket, event, sizeof(event));

	if (!err)
		err = pmu_encode(pmu, event, NULL, 0, NULL, &config);
	return err ? err : perf_attr(pmu->type, &config, PERF_FORMAT_GROUP | PERF_TIMES, ret);
}

/* The events of all rows that fit the PMU; @ret_rows has room for MAX_PROBES. */
static int make_attrs(struct set *set, const struct latency_row **ret_rows)
{
	int err = 0;

	for (size_t i = 0; i < nr_latency_rows && set->nr < MAX_PROBES && !err; i++) {
		const struct latency_row *row = &latency_rows[i];

		if (!latency_row_fits(row, set->pmu))
			continue;
		if (!set->nr)
			err = event_attr(set->pmu, LATENCY_CYCLES, &set->attrs[0]);
		if (!err)
			err = event_attr(set->pmu, row->outstanding, &set->attrs[1 + 2 * set->nr]);
		if (!err)
			err = event_attr(set->pmu, row->requests, &set->attrs[2 + 2 * set->nr]);
		ret_rows[set->nr++] = row;
	}
	set->nr_events = 1 + 2 * set->nr;
	return err;
}

static void close_set(const struct sampler *s, struct set *set)
{
	perf_events_close(s->o.ops, set->fds, set->nr_events);
}

/* Reads all counts of a PMU; the bytes that came, or a negative errno. */
static ssize_t read_set(struct sampler *s, struct set *set, struct state *ret)
{
	uint64_t words[NR_TIMES + MAX_EVENTS] = { 0 };
	uint64_t before = s->o.ops->now(), after;
	ssize_t got = s->o.ops->read(set->fds[0], words, NR_TIMES + set->nr_events);

	after = s->o.ops->now();
	s->cost.readings++;
	s->cost.ns += after - before;
	s->cpus[set->cpu].ns += after - before;
	set->readings++;
	set->ns += after - before;
	ret->time_ns = before + (after - before) / 2;
	ret->enabled_ns = words[1];
	ret->running_ns = words[2];
	memcpy(ret->counts, words + NR_TIMES, set->nr_events * sizeof(*words));
	if (got > 0 && words[0] != set->nr_events)
		return -EIO;
	return got;
}

static bool is_whole(const struct set *set, ssize_t got)
{
	return got == (ssize_t)((NR_TIMES + set->nr_events) * sizeof(uint64_t));
}

/* Opens and starts the set; -EBUSY if it cannot count now, -E2BIG if it never can. */
static int open_events(struct sampler *s, struct set *set, bool pinned)
{
	struct state state;
	ssize_t read;
	int got = perf_group_open(s->o.ops, set->attrs, set->nr_events, set->pmu->active_cpu,
				  pinned, set->fds);
	int err = got < 0 ? got : 0;

	if (err)
		return err;
	if ((size_t)got < set->nr_events) {
		perf_events_close(s->o.ops, set->fds, got);
		return -E2BIG;
	}
	err = s->o.ops->enable(set->fds[0]);
	if (!err && pinned) {
		/* a pinned group for which there is no room reads as nothing */
		read = read_set(s, set, &state);
		err = read == 0 ? -EBUSY : read < 0 ? read : 0;
	}
	if (err)
		close_set(s, set);
	set->pinned = pinned;
	return err;
}

/* As many probes as the PMU can count at the same time. */
static int open_set(struct sampler *s, struct set *set)
{
	uint32_t all = set->nr;
	int err = -EBUSY;

	for (; set->nr; set->nr--) {
		set->nr_events = 1 + 2 * set->nr;
		err = open_events(s, set, true);
		/* others hold the counters, and may let go */
		if (err == -EBUSY && !set->beside)
			err = open_events(s, set, false);
		if (err != -EBUSY && err != -E2BIG)
			break;
	}
	if (!err && set->nr < all)
		note(s, set->pmu, "not enough counters for all latencies");
	return err;
}

static size_t account_of(struct sampler *s, int cpu)
{
	size_t i = 0;

	while (i < s->nr_cpus && s->cpus[i].cpu != cpu)
		i++;
	if (i < s->nr_cpus)
		return i;
	if (array_room(s->cpus, s->cap_cpus, s->nr_cpus))
		return SIZE_MAX;
	s->cpus[s->nr_cpus++] = (struct cpu){ .cpu = cpu };
	return i;
}

static int add_probes(struct sampler *s, const struct set *set, const struct latency_row **rows,
		      uint32_t socket)
{
	for (uint32_t i = 0; i < set->nr; i++) {
		if (array_room(s->probes, s->cap_probes, s->nr_probes))
			return -ENOMEM;
		latency_probe(rows[i], set->pmu, socket, &s->probes[s->nr_probes++]);
	}
	return 0;
}

static int add_pmu(struct sampler *s, const struct pmu *pmu)
{
	const struct counted_pmu *counted = find_counted(&s->o, pmu);
	const struct latency_row *rows[MAX_PROBES];
	struct set set = { .pmu = pmu, .beside = counted, .first = s->nr_probes };
	uint32_t socket;
	int err = make_attrs(&set, rows);

	if (!set.nr)
		return 0;
	if (err || !pmu->usable || !find_socket(&s->o, pmu->socket, &socket)) {
		note(s, pmu, pmu->problem[0] ? pmu->problem : "its socket or events are unknown");
		return 0;
	}
	if (counted && !counted->pinned) {
		note(s, pmu, "all counters are used for traffic");
		return 0;
	}
	if (s->nr_probes + set.nr > TRACE_MAX_PROBES) {
		note(s, pmu, "there are too many latencies");
		return 0;
	}
	set.cpu = account_of(s, pmu->active_cpu);
	if (set.cpu == SIZE_MAX || array_room(s->sets, s->cap_sets, s->nr_sets))
		return -ENOMEM;
	err = open_set(s, &set);
	if (err) {
		note(s, pmu,
		     err == -EBUSY || err == -E2BIG ? "no counters are left for latencies"
						    : strerror(-err));
		return 0;
	}
	s->sets[s->nr_sets++] = set;
	return add_probes(s, &set, rows, socket);
}

int sampler_open(const struct pmu_list *pmus, const struct sampler_options *o, struct sampler **ret)
{
	struct sampler *s = calloc(1, sizeof(*s));
	int err = 0;

	if (!s)
		return -ENOMEM;
	s->o = *o;
	s->begin_ns = o->ops->now();
	for (size_t i = 0; i < pmus->nr && !err; i++)
		err = add_pmu(s, &pmus->pmus[i]);
	if (err) {
		sampler_free(s);
		return err;
	}
	*ret = s;
	return 0;
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nr_sets; i++)
		if (!s->sets[i].gone)
			close_set(s, &s->sets[i]);
	free(s->sets);
	free(s->cpus);
	free(s->probes);
	free(s);
}

const struct probe *sampler_probes(const struct sampler *s, size_t *ret_nr)
{
	*ret_nr = s->nr_probes;
	return s->probes;
}

size_t sampler_pmus(const struct sampler *s)
{
	return s->nr_sets;
}

const char *sampler_note(const struct sampler *s)
{
	return s->note;
}

void sampler_cost(const struct sampler *s, struct sampler_cost *ret)
{
	*ret = s->cost;
}

/* --- reading */

/*
 * The group does not count any more: pinned, it lost its place when its CPU changed or
 * somebody was first. It is started again; if that did not help, it takes turns.
 */
static void revive(struct sampler *s, struct set *set)
{
	set->known = false;
	if (set->stopped && set->pinned && !set->beside) {
		close_set(s, set);
		set->gone = open_events(s, set, false);
		return;
	}
	s->o.ops->enable(set->fds[0]);
	set->stopped = true;
}

/* What was counted since the last good reading; false if that makes no sense. */
static bool gained(const struct set *set, const struct state *now, struct state *ret)
{
	const struct state *last = &set->last;
	bool backwards = now->time_ns <= last->time_ns || now->enabled_ns < last->enabled_ns ||
			 now->running_ns <= last->running_ns;

	ret->time_ns = now->time_ns;
	ret->enabled_ns = now->enabled_ns - last->enabled_ns;
	ret->running_ns = now->running_ns - last->running_ns;
	for (size_t i = 0; i < set->nr_events; i++) {
		ret->counts[i] = now->counts[i] - last->counts[i];
		/* a driver that read a register wrong makes up for it the next time */
		backwards |= ret->counts[i] >> 63;
	}
	return !backwards;
}

static int send(struct sampler *s, const struct set *set, const struct state *g,
		const struct sampler_sink *sink)
{
	bool refused = false;
	int err = 0;

	for (uint32_t i = 0; i < set->nr && !err; i++) {
		struct trace_sample sample = {
			.probe = set->first + i,
			.start_ns = set->last.time_ns,
			.end_ns = g->time_ns,
			.outstanding = g->counts[1 + 2 * i],
			.requests = g->counts[2 + 2 * i],
			.cycles = g->counts[0],
			.enabled_ns = g->enabled_ns,
			.running_ns = g->running_ns,
		};

		err = sink->sample(sink->arg, &sample);
		refused |= err == -EINVAL;
		err = err == -EINVAL ? 0 : err;
	}
	s->cost.failed += refused;
	return err;
}

/* @sink: NULL for a reading that samples begin with */
static int sample(struct sampler *s, struct set *set, const struct sampler_sink *sink)
{
	struct state now, g;
	ssize_t got = read_set(s, set, &now);
	int err = 0;

	set->due_ns = now.time_ns + s->o.interval_ns;
	set->waits = false;
	if (!is_whole(set, got)) {
		s->cost.failed++;
		if (!got)
			revive(s, set);
		return 0;
	}
	set->stopped = false;
	if (!set->known || !sink) {
		set->known = true;
		set->last = now;
		return 0;
	}
	if (!gained(set, &now, &g)) {
		s->cost.failed++;
		return 0;
	}
	err = send(s, set, &g, sink);
	set->last = now;
	return err;
}

/* When the account of its CPU has what a reading of the set is likely to cost. */
static uint64_t payable_ns(const struct sampler *s, const struct set *set)
{
	double price = set->readings ? (double)set->ns / (double)set->readings : 0;
	double wait = ((double)s->cpus[set->cpu].ns + price) / s->o.budget;

	return wait < (double)(UINT64_MAX / 2) ? s->begin_ns + (uint64_t)wait : UINT64_MAX;
}

/*
 * The set of a CPU that is due first, if that is not after @until_ns. In this order, cheap
 * ones cannot keep dear ones from their turn.
 */
static struct set *first_of(const struct sampler *s, size_t cpu, uint64_t until_ns)
{
	struct set *first = NULL;

	for (size_t i = 0; i < s->nr_sets; i++) {
		struct set *set = &s->sets[i];

		if (set->gone || set->cpu != cpu || set->due_ns > until_ns)
			continue;
		if (!first || set->due_ns < first->due_ns)
			first = set;
	}
	return first;
}

static void put_off(struct sampler *s, size_t cpu, uint64_t until_ns)
{
	for (size_t i = 0; i < s->nr_sets; i++) {
		struct set *set = &s->sets[i];

		if (set->gone || set->cpu != cpu || set->due_ns > until_ns || set->waits)
			continue;
		s->cost.deferred++;
		set->waits = true;
	}
}

void sampler_start(struct sampler *s)
{
	for (size_t i = 0; i < s->nr_sets; i++)
		sample(s, &s->sets[i], NULL);
}

uint64_t sampler_next_ns(const struct sampler *s)
{
	uint64_t next = UINT64_MAX;

	for (size_t c = 0; c < s->nr_cpus; c++) {
		const struct set *set = first_of(s, c, UINT64_MAX);
		uint64_t ready = set ? payable_ns(s, set) : UINT64_MAX;

		if (set && ready < set->due_ns)
			ready = set->due_ns;
		if (ready < next)
			next = ready;
	}
	return next;
}

/* Reads the sets of a CPU that are due until @until_ns, as far as the account goes. */
static int step_cpu(struct sampler *s, size_t cpu, uint64_t until_ns,
		    const struct sampler_sink *sink)
{
	struct set *set;
	int err = 0;

	while (!err && (set = first_of(s, cpu, until_ns))) {
		if (payable_ns(s, set) > s->o.ops->now()) {
			put_off(s, cpu, until_ns);
			break;
		}
		err = sample(s, set, sink);
	}
	return err;
}

int sampler_step(struct sampler *s, const struct sampler_sink *sink)
{
	uint64_t now = s->o.ops->now();
	int err = 0;

	for (size_t c = 0; c < s->nr_cpus && !err; c++)
		err = step_cpu(s, c, now, sink);
	return err;
}

int sampler_mark(struct sampler *s, bool last, const struct sampler_sink *sink)
{
	/* due this far ahead: read longer ago than a moment */
	uint64_t ahead = s->o.interval_ns - s->o.interval_ns / RECENT_PART;
	uint64_t now = s->o.ops->now();
	int err = 0;

	for (size_t i = 0; last && i < s->nr_sets && !err; i++)
		if (!s->sets[i].gone)
			err = sample(s, &s->sets[i], sink);
	for (size_t c = 0; !last && c < s->nr_cpus && !err; c++)
		err = step_cpu(s, c, now + ahead, sink);
	return err;
}
