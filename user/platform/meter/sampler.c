// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Latencies use the meter's groups and accounts, but are read in another order: the first one due
 * is read first, with the whole budget, and probes that do not fit are given up instead of taking
 * turns.
 */
#include "platform/meter/sampler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "platform/meter/internal.h"
#include "platform/meter/latency_fit.h"
#include "platform/pmu/gain.h"
#include "tables/events.h"

/* Probes of one PMU, and their events: the cycles first, then two a probe. */
#define MAX_PROBES    8
#define EVENTS_OF(nr) (1 + 2 * (nr))
/* At a mark, what was read this part of the interval ago is not read again. */
#define RECENT_PART   10

/*
 * The probes of a PMU, read together: the base of a meter_pmu that has no turns.
 *
 * @rows: what they measure; @nr of them, from @first on
 * @want: the first of their events
 * @known: the last reading is something to start from
 * @stopped: it gave nothing at all
 * @waits: for the budget
 */
struct set {
	struct plan_pmu plan;
	struct meter_pmu pmu;
	const struct latency_row *rows[MAX_PROBES];
	uint32_t first, nr;
	uint32_t want;
	bool gone;
	bool known;
	bool stopped;
	bool waits;
	uint64_t due_ns;
};

struct sampler {
	struct sampler_options o;
	struct want_list wants;
	struct meter *meter; /* has groups and accounts, no plan */
	struct probe *probes;
	size_t nr_probes, cap_probes;
	struct set *sets;
	size_t nr_sets;
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

/* An event that cannot be encoded is refused; it has an entry nevertheless. */
static int add_want(struct sampler *s, const struct pmu *pmu, const char *name)
{
	struct want want = { .pmu = pmu };
	char event[PMU_NAME_LEN];
	struct diag d = { 0 };

	if (event_on_socket(name, pmu->socket, event, sizeof(event)) ||
	    want_make(pmu, event, NULL, 0, &d, &want))
		want = (struct want){ .type = UINT32_MAX };
	return want_add(&s->wants, &want);
}

/* The events of all rows that fit the PMU. */
static int add_set(struct sampler *s, const struct pmu *pmu)
{
	struct set set = { .plan.pmu = pmu, .want = s->wants.nr };
	int err = 0;

	for (size_t i = 0; i < nr_latency_rows && set.nr < MAX_PROBES && !err; i++) {
		const struct latency_row *row = &latency_rows[i];

		if (!latency_row_fits(row, pmu))
			continue;
		if (!set.nr)
			err = add_want(s, pmu, LATENCY_CYCLES);
		if (!err)
			err = add_want(s, pmu, row->outstanding);
		if (!err)
			err = add_want(s, pmu, row->requests);
		set.rows[set.nr++] = row;
	}
	if (set.nr)
		s->sets[s->nr_sets++] = set;
	return err;
}

/* A reading was made, since the account of its CPU had @before. */
static void charge(struct sampler *s, struct set *set, uint64_t before)
{
	set->pmu.cost.readings++;
	set->pmu.cost.read_ns += s->meter->accounts[set->pmu.account].read_ns - before;
}

/* Opens and starts @nr probes; -EBUSY if they cannot count now, -E2BIG if they never can. */
static int open_probes(struct sampler *s, struct set *set, uint32_t nr, bool alone)
{
	struct meter_part *part = &set->pmu.base;
	uint32_t events[EVENTS_OF(MAX_PROBES)];
	uint64_t before;
	int err;

	for (uint32_t i = 0; i < EVENTS_OF(nr); i++)
		events[i] = set->want + i;
	err = part_make(s->meter, events, EVENTS_OF(nr), part);
	if (err)
		return err;
	part->fallback = part->nr; /* if not pinned, then still together */
	part->alone = alone;
	err = part_prepare(s->meter, &set->pmu, part);
	if (!err && !part->open)
		err = -E2BIG;
	if (!err) {
		before = s->meter->accounts[set->pmu.account].read_ns;
		err = part_start(s->meter, &set->pmu, part);
		charge(s, set, before);
	}
	if (!err && part->held)
		err = -EBUSY;
	if (err)
		part_free(s->meter, part);
	return err;
}

/* As many probes as the PMU can count at the same time; beside our own counters what these leave. */
static int open_set(struct sampler *s, struct set *set, bool beside)
{
	uint32_t all = set->nr;
	int err = -EBUSY;

	set->pmu.plan = &set->plan;
	for (; set->nr; set->nr--) {
		err = open_probes(s, set, set->nr, beside);
		if (err != -EBUSY && err != -E2BIG)
			break;
	}
	if (!err && set->nr < all)
		note(s, set->plan.pmu, "not enough counters for all latencies");
	return err;
}

static int add_probes(struct sampler *s, struct set *set, uint32_t socket)
{
	set->first = s->nr_probes;
	for (uint32_t i = 0; i < set->nr; i++) {
		if (array_reserve(s->probes, s->cap_probes, s->nr_probes))
			return -ENOMEM;
		latency_probe(set->rows[i], set->plan.pmu, socket, &s->probes[s->nr_probes++]);
	}
	return 0;
}

static bool is_known(const struct sampler *s, const struct set *set)
{
	for (uint32_t i = 0; i < EVENTS_OF(set->nr); i++)
		if (!s->wants.wants[set->want + i].pmu)
			return false;
	return set->plan.pmu->usable;
}

/* The reason why a set is not opened, "" if it is, or NULL: no memory. */
static const char *try_set(struct sampler *s, struct set *set)
{
	const struct pmu *pmu = set->plan.pmu;
	const struct counted_pmu *counted = find_counted(&s->o, pmu);
	uint32_t socket;
	int err;

	if (!is_known(s, set) || !find_socket(&s->o, pmu->socket, &socket))
		return pmu->problem[0] ? pmu->problem : "its socket or events are unknown";
	if (counted && !counted->pinned)
		return "all counters are used for traffic";
	if (s->nr_probes + set->nr > TRACE_MAX_PROBES)
		return "there are too many latencies";
	err = open_set(s, set, counted);
	if (err == -EBUSY || err == -E2BIG)
		return "no counters are left for latencies";
	if (err)
		return err == -ENOMEM ? NULL : strerror(-err);
	return add_probes(s, set, socket) ? NULL : "";
}

/* Probes that cannot be opened are left out. */
static int open_sets(struct sampler *s)
{
	size_t nr = s->nr_sets;

	s->nr_sets = 0;
	for (size_t i = 0; i < nr; i++) {
		struct set *set = &s->sets[s->nr_sets];
		const char *why;

		*set = s->sets[i];
		why = try_set(s, set);
		if (!why)
			return -ENOMEM;
		if (why[0])
			note(s, set->plan.pmu, why);
		else
			s->nr_sets++;
	}
	return 0;
}

int sampler_open(const struct pmu_list *pmus, const struct sampler_options *o, struct sampler **ret)
{
	struct sampler *s = calloc(1, sizeof(*s));
	int err = 0;

	if (!s)
		return -ENOMEM;
	s->o = *o;
	s->sets = calloc(pmus->nr + 1, sizeof(*s->sets));
	if (!s->sets)
		err = -ENOMEM;
	for (size_t i = 0; i < pmus->nr && !err; i++)
		err = add_set(s, &pmus->pmus[i]);
	if (!err) {
		s->meter = meter_new(&s->wants, NULL, o->ops);
		err = s->meter ? open_sets(s) : -ENOMEM;
	}
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
	for (size_t i = 0; i < s->nr_sets && s->meter; i++)
		part_free(s->meter, &s->sets[i].pmu.base);
	meter_close(s->meter);
	want_list_free(&s->wants);
	free(s->sets);
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

void sampler_cost(const struct sampler *s, struct self_cost *ret)
{
	for (size_t i = 0; i < s->nr_sets; i++) {
		const struct stat_cost *c = &s->sets[i].pmu.cost;

		ret->probes += c->readings;
		ret->probe_ns += c->read_ns;
		ret->probe_deferred += c->deferred;
		ret->probe_failed += c->failed;
	}
}

/* --- reading */

/* The next reading is one to start from, whatever it says. */
static void forget(struct set *set)
{
	set->known = false;
	memset(set->pmu.base.last, 0, set->pmu.base.nr * sizeof(*set->pmu.base.last));
}

/*
 * The group has stopped counting: being pinned, it lost its place when its CPU changed or another
 * user was first. It is restarted; if that does not help, it takes turns.
 */
static void revive(struct sampler *s, struct set *set)
{
	struct meter_part *part = &set->pmu.base;

	forget(set);
	if (set->stopped && !part->shared && !part->alone) {
		part_close(s->meter, part);
		set->gone = part_share(s->meter, &set->pmu, part);
		return;
	}
	s->o.ops->enable(part->fds[0]);
	set->stopped = true;
}

static int send(struct set *set, const struct trace_sink *out)
{
	const struct meter_part *part = &set->pmu.base;
	const struct reading *gained = part->gained;
	bool refused = false;
	int err = 0;

	for (uint32_t i = 0; i < set->nr && !err; i++) {
		struct trace_sample sample = {
			.probe = set->first + i,
			.start_ns = set->pmu.start_ns,
			.end_ns = part->read_at_ns,
			.outstanding = gained[1 + 2 * i].value,
			.requests = gained[2 + 2 * i].value,
			.cycles = gained[0].value,
			.enabled_ns = gained[0].enabled_ns,
			.running_ns = gained[0].running_ns,
		};

		err = trace_send_sample(out, &sample);
		refused |= err == -EINVAL;
		err = err == -EINVAL ? 0 : err;
	}
	set->pmu.cost.failed += refused;
	return err;
}

/* @out: NULL for a reading that samples begin with */
static int sample(struct sampler *s, struct set *set, const struct trace_sink *out)
{
	uint64_t before = s->meter->accounts[set->pmu.account].read_ns;
	struct meter_part *part = &set->pmu.base;
	int err = part_look(s->meter, &set->pmu, part);

	charge(s, set, before);
	set->due_ns = part->read_at_ns + s->o.interval_ns;
	set->waits = false;
	if (err == -EAGAIN)
		revive(s, set);
	else if (!err)
		set->stopped = false;
	/* A driver that read a register wrong makes up for it the next time, or never. */
	set->pmu.failures = err == GAIN_BACK ? set->pmu.failures + 1 : 0;
	if (set->pmu.failures > 1)
		forget(set);
	if (err || (set->known && out && !part->gained[0].running_ns)) {
		set->pmu.cost.failed++;
		return 0;
	}
	if (set->known && out)
		err = send(set, out);
	set->known = true;
	set->pmu.start_ns = part->read_at_ns;
	part_use(part);
	return err;
}

/* When the account of its CPU has what a reading of the set is likely to cost. */
static uint64_t payable_ns(const struct sampler *s, const struct set *set)
{
	const struct stat_cost *c = &set->pmu.cost;
	double price = c->readings ? (double)c->read_ns / (double)c->readings : 0;
	double spent = s->meter->accounts[set->pmu.account].read_ns;
	double wait = (spent + price) / s->o.budget;

	return wait < (double)(UINT64_MAX / 2) ? s->meter->start_ns + (uint64_t)wait : UINT64_MAX;
}

/*
 * The set of a CPU that is due first, if that is not after @until_ns. In this order, cheap
 * ones cannot keep dear ones from their turn.
 */
static struct set *first_of(const struct sampler *s, size_t account, uint64_t until_ns)
{
	struct set *first = NULL;

	for (size_t i = 0; i < s->nr_sets; i++) {
		struct set *set = &s->sets[i];

		if (set->gone || set->pmu.account != account || set->due_ns > until_ns)
			continue;
		if (!first || set->due_ns < first->due_ns)
			first = set;
	}
	return first;
}

static void put_off(struct sampler *s, size_t account, uint64_t until_ns)
{
	for (size_t i = 0; i < s->nr_sets; i++) {
		struct set *set = &s->sets[i];

		if (set->gone || set->pmu.account != account || set->due_ns > until_ns ||
		    set->waits)
			continue;
		set->pmu.cost.deferred++;
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

	for (size_t a = 0; a < s->meter->nr_accounts; a++) {
		const struct set *set = first_of(s, a, UINT64_MAX);
		uint64_t ready = set ? payable_ns(s, set) : UINT64_MAX;

		if (set && ready < set->due_ns)
			ready = set->due_ns;
		if (ready < next)
			next = ready;
	}
	return next;
}

/* Reads the sets of a CPU that are due until @until_ns, as far as the account goes. */
static int step_cpu(struct sampler *s, size_t account, uint64_t until_ns,
		    const struct trace_sink *out)
{
	struct set *set;
	int err = 0;

	while (!err && (set = first_of(s, account, until_ns))) {
		if (payable_ns(s, set) > s->o.ops->now()) {
			put_off(s, account, until_ns);
			break;
		}
		err = sample(s, set, out);
	}
	return err;
}

int sampler_step(struct sampler *s, const struct trace_sink *out)
{
	uint64_t now = s->o.ops->now();
	int err = 0;

	for (size_t a = 0; a < s->meter->nr_accounts && !err; a++)
		err = step_cpu(s, a, now, out);
	return err;
}

int sampler_mark(struct sampler *s, bool last, const struct trace_sink *out)
{
	/* due this far ahead: read longer ago than a moment */
	uint64_t ahead = s->o.interval_ns - s->o.interval_ns / RECENT_PART;
	uint64_t now = s->o.ops->now();
	int err = 0;

	for (size_t i = 0; last && i < s->nr_sets && !err; i++)
		if (!s->sets[i].gone)
			err = sample(s, &s->sets[i], out);
	for (size_t a = 0; !last && a < s->meter->nr_accounts && !err; a++)
		err = step_cpu(s, a, now + ahead, out);
	return err;
}
