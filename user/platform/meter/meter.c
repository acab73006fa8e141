// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/meter/meter.h"

#include <errno.h>
#include <string.h>

#include "platform/meter/internal.h"

static struct meter_part *turn_of(struct meter_pmu *p)
{
	return p->nr_turns ? &p->turns[p->turn] : NULL;
}

/* Readings of a part for every want that one of its events stands for. */
static size_t add_readings(struct meter *m, const struct meter_part *part, uint64_t duration,
			   size_t nr)
{
	for (size_t i = 0; i < part->nr; i++) {
		struct reading gained = { .enabled_ns = duration };

		if (!part->held)
			gained = part->gained[i];
		for (size_t w = 0; w < m->wants->nr; w++) {
			if (!m->wants->wants[w].pmu || m->plan.event_of[w] != part->wants[i])
				continue;
			m->counters[nr] = w;
			m->readings[nr++] = gained;
		}
	}
	return nr;
}

/*
 * Hand over what counted until @end, and go on from there. @turn may be NULL. Where nothing is open
 * the segment has no readings: it says that this time is missing.
 */
static int emit(struct meter *m, struct meter_pmu *p, struct meter_part *turn, uint64_t end,
		const struct meter_sink *sink)
{
	struct meter_part *parts[] = { &p->base, turn };
	struct stat_segment s = {
		.pmu = pmu_number(m, p),
		.start_ns = p->start_ns,
		.end_ns = end,
		.counters = m->counters,
		.readings = m->readings,
	};

	for (size_t i = 0; i < 2; i++) {
		if (!parts[i] || !(parts[i]->open || parts[i]->held))
			continue;
		s.nr = add_readings(m, parts[i], end - p->start_ns, s.nr);
		part_use(parts[i]);
	}
	p->start_ns = end;
	return sink->segment(sink->arg, &s);
}

/**
 * struct take - a reading of a PMU
 * @base, @turn: 0 or what was wrong with them
 * @at_ns: when
 */
struct take {
	int base;
	int turn;
	uint64_t at_ns;
};

static struct take take_reading(struct meter *m, struct meter_pmu *p, struct meter_part *turn)
{
	uint64_t before = m->accounts[p->account].read_ns, begin = m->ops->now(), spent;
	struct take take = { 0 };

	take.base = part_read(m, p, &p->base);
	take.turn = turn ? part_read(m, p, turn) : 0;
	take.at_ns = begin + (m->ops->now() - begin) / 2;
	p->cost.readings++;
	p->cost.failed += take.base || take.turn;
	spent = m->accounts[p->account].read_ns - before;
	/* Without its turn it is not a whole reading. */
	if (turn || !p->nr_turns)
		p->one_read_ns = spent;
	p->cost.read_ns += spent;
	p->failures = take.base || take.turn ? p->failures + 1 : 0;
	return take;
}

/*
 * After a reading, reopen events that could not be opened, whose groups are too large beside those
 * of other users, or whose counters other users may have released. A failure is no error: these
 * events are absent, and tried again next time.
 */
static void mend(struct meter *m, struct meter_pmu *p, struct meter_part *part)
{
	bool wrong = part->held ? m->ops->now() >= part->retry_ns : !part->open || part->starved;

	if (part->nr && wrong && !part_prepare(m, p, part))
		part_start(m, p, part);
}

static bool is_lost(struct meter_pmu *p)
{
	struct meter_part *turn = turn_of(p);

	return !p->base.open && !p->base.held && !(turn && (turn->open || turn->held));
}

/* The events are opened again; a segment without readings says that time is missing until then. */
static int begin_again(struct meter *m, struct meter_pmu *p, const struct meter_sink *sink)
{
	const struct stat_segment lost = {
		.pmu = pmu_number(m, p),
		.start_ns = p->start_ns,
		.end_ns = m->ops->now(),
	};

	p->failures = 0;
	p->start_ns = lost.end_ns;
	pmu_fresh(m, p);
	return sink->segment(sink->arg, &lost);
}

/*
 * The next good reading has what this one did not give. If that fails as well, something
 * has happened to the events themselves.
 */
static int after_failure(struct meter *m, struct meter_pmu *p, const struct meter_sink *sink)
{
	return p->failures < 2 ? 0 : begin_again(m, p, sink);
}

static int read_pmu(struct meter *m, struct meter_pmu *p, const struct meter_sink *sink)
{
	struct meter_part *turn = turn_of(p);
	struct take take;
	int err;

	p->care_ns = m->ops->now() + CARE_NS;
	if (is_lost(p)) {
		p->cost.failed++;
		return begin_again(m, p, sink);
	}
	take = take_reading(m, p, turn);
	if (take.base || take.turn)
		return after_failure(m, p, sink);
	err = emit(m, p, turn, take.at_ns, sink);
	if (err)
		return err;
	mend(m, p, &p->base);
	if (turn)
		mend(m, p, turn);
	return 0;
}

/*
 * The next turn beside a base. Switching its events on stops the base for a moment, so its
 * segment begins behind that, where both are read: what the base has lost is in the segment
 * before it, which is the base's alone.
 */
static int exchange(struct meter *m, struct meter_pmu *p, size_t next,
		    const struct meter_sink *sink)
{
	struct take take = take_reading(m, p, turn_of(p));
	struct meter_part *turn;
	int err, opened;

	if (take.base) {
		/*
		 * The base's counts are worth more than a turn: the turn stays until the base can
		 * be read.
		 */
		p->turn_end_ns = m->ops->now() + m->o.turn_ns;
		return after_failure(m, p, sink);
	}
	err = emit(m, p, take.turn ? NULL : turn_of(p), take.at_ns, sink);
	if (err)
		return err;
	part_close(m, turn_of(p));
	p->turn = next;
	p->cost.turns++;
	turn = turn_of(p);
	opened = part_prepare(m, p, turn);
	if (!opened)
		opened = part_start(m, p, turn);
	p->cost.failed += opened != 0;
	if (p->base.open) {
		take = take_reading(m, p, turn->open ? turn : NULL);
		if (turn->open && !take.turn)
			part_use(turn);
		if (!take.base)
			err = emit(m, p, NULL, take.at_ns, sink);
	}
	turns_begin(m, p);
	return err;
}

/* When a part that was started at @start_ns began to count: the kernel knows better. */
static uint64_t began_at(const struct meter_part *part, uint64_t start_ns)
{
	uint64_t began = part->nr ? part->read_at_ns - part->now[0].enabled_ns : 0;

	return part->open && part->read_at_ns > start_ns && began > start_ns ? began : start_ns;
}

/* Read the counts of a turn that was stopped at @end_ns; then close it. */
static int take_stopped(struct meter *m, struct meter_pmu *p, struct meter_part *was,
			uint64_t end_ns, const struct meter_sink *sink)
{
	int err = part_read(m, p, was);

	p->cost.readings++;
	p->cost.failed += err != 0;
	p->failures = err ? p->failures + 1 : 0;
	err = emit(m, p, err ? NULL : was, end_ns, sink);
	part_close(m, was);
	return err;
}

/*
 * The next turn where there is no base. Nothing is counted between the stop of one turn and the
 * start of the next, so only the necessary is done there: a group cannot be opened while another
 * requester id counts. The stopped turn is read and closed while the next one counts.
 */
static int relieve(struct meter *m, struct meter_pmu *p, size_t next, const struct meter_sink *sink)
{
	struct meter_part *was = turn_of(p), *turn = &p->turns[next];
	int opened = pmu_locate(m, p), err;
	uint64_t before = m->accounts[p->account].read_ns, stop = m->ops->now(), stopped, start;

	part_stop(m, p, was);
	stopped = stop + (m->ops->now() - stop) / 2;
	if (!opened)
		opened = part_ready(m, p, turn);
	start = m->ops->now();
	if (!opened)
		opened = part_start(m, p, turn);
	p->turn = next;
	p->cost.turns++;
	p->cost.failed += opened != 0;
	turns_begin(m, p);
	start = began_at(turn, start);
	turns_gap(p, start - stopped);
	err = take_stopped(m, p, was, stopped, sink);
	p->start_ns = start;
	p->one_read_ns = (m->accounts[p->account].read_ns - before) / 2;
	p->cost.read_ns += m->accounts[p->account].read_ns - before;
	return err;
}

/* Time that readings on a CPU may have taken by now. */
static double allowance(const struct meter *m)
{
	return m->o.budget * (m->ops->now() - m->start_ns);
}

/* Time to read every PMU of a CPU, as at the end of an interval. */
static uint64_t last_round_ns(const struct meter *m, size_t account, bool *ret_turns)
{
	uint64_t ns = 0;

	*ret_turns = false;
	for (size_t i = 0; i < m->plan.nr_pmus; i++) {
		const struct meter_pmu *p = &m->pmus[i];

		if (!p->counted || p->account != account)
			continue;
		ns += p->one_read_ns;
		*ret_turns |= p->nr_turns > 1;
	}
	return ns;
}

/* Time that its turns will have taken after the next one: base and turn are read twice for it. */
static uint64_t turns_cost(const struct meter_pmu *p)
{
	return p->turn_ns + 2 * p->one_read_ns;
}

/*
 * The PMU with the least time goes first, and none overtakes one that waits: each PMU of a CPU gets
 * an equal part of the time for turns.
 */
static bool is_before(const struct meter_pmu *a, const struct meter_pmu *b)
{
	uint64_t of_a = turns_cost(a), of_b = turns_cost(b);

	return of_a != of_b ? of_a < of_b : a < b;
}

static bool somebody_waits(const struct meter *m, const struct meter_pmu *p)
{
	for (size_t i = 0; i < m->plan.nr_pmus; i++) {
		const struct meter_pmu *other = &m->pmus[i];

		if (other->turn_waits && other->account == p->account && is_before(other, p))
			return true;
	}
	return false;
}

/*
 * Turns come more often than the ends of intervals and would leave nothing for these: they
 * have half of the budget. Events are exchanged no more often than that.
 */
static bool may_turn(const struct meter *m, const struct meter_pmu *p)
{
	return !somebody_waits(m, p) &&
	       m->accounts[p->account].turn_ns + 2 * p->one_read_ns <= allowance(m) / 2;
}

/*
 * Other readings have the rest, or all where nothing takes turns. That includes the last
 * round, as far as there is room for it yet.
 */
static bool may_read(const struct meter *m, const struct meter_pmu *p)
{
	const struct meter_account *a = &m->accounts[p->account];
	double allowed = allowance(m), reserve;
	uint64_t others;
	bool turns;

	reserve = last_round_ns(m, p->account, &turns);
	if (turns)
		allowed /= 2;
	if (reserve > allowed / 2)
		reserve = allowed / 2;
	others = a->read_ns > a->turn_ns ? a->read_ns - a->turn_ns : 0;
	return others + p->one_read_ns <= allowed - reserve;
}

/*
 * Is the next turn one that has never come, and due? The first ones are spread over their time: where
 * the budget allows changes, all have come long before.
 */
static bool first_is_due(const struct meter *m, const struct meter_pmu *p)
{
	uint64_t began = p->cost.turns + 1;

	return m->o.first_ns && began < p->nr_turns &&
	       m->ops->now() - m->start_ns >= m->o.first_ns / p->nr_turns * began;
}

static int change_turn(struct meter *m, struct meter_pmu *p, const struct meter_sink *sink)
{
	size_t account = p->account, next;
	uint64_t before = m->accounts[account].read_ns, spent;
	bool waited = p->turn_waits, owed = first_is_due(m, p);
	int err;

	next = turns_next(m, p);
	if (next == p->turn) {
		turns_begin(m, p);
		return 0;
	}
	p->turn_waits = !owed && !may_turn(m, p);
	p->cost.turns_deferred += p->turn_waits && !waited;
	if (p->turn_waits) {
		p->turn_end_ns = m->ops->now() + m->o.turn_ns;
		return 0;
	}
	err = p->base.nr ? exchange(m, p, next, sink) : relieve(m, p, next, sink);
	/* One that the budget would have put off lasts: it may be the only one for long. */
	if (owed && waited)
		p->turn_end_ns = m->ops->now() + m->o.first_ns / p->nr_turns;
	/* Its CPU may have changed, and another account cannot be compared with this one. */
	if (p->account != account)
		return err;
	spent = m->accounts[account].read_ns - before;
	m->accounts[account].turn_ns += spent;
	p->turn_ns += spent;
	return err;
}

/* Of the PMUs whose turn is over, the first one. */
static struct meter_pmu *next_turn(struct meter *m, uint64_t now_ns)
{
	struct meter_pmu *first = NULL;

	for (size_t i = 0; i < m->plan.nr_pmus; i++) {
		struct meter_pmu *p = &m->pmus[i];

		if (now_ns >= p->turn_end_ns && (!first || is_before(p, first)))
			first = p;
	}
	return first;
}

static bool is_kept(const struct meter_part *part)
{
	return part->nr && (part->held || !part->open || part->group < part->nr);
}

/*
 * If no interval ends for a long time, a PMU that other users keep from counting would not be read,
 * and it is reopened only after a reading.
 */
static bool needs_care(const struct meter_pmu *p)
{
	return p->counted && (is_kept(&p->base) || (p->nr_turns && is_kept(&p->turns[p->turn])));
}

static int take_care(struct meter *m, uint64_t now_ns, const struct meter_sink *sink)
{
	int err = 0;

	for (size_t i = 0; i < m->plan.nr_pmus && !err; i++) {
		struct meter_pmu *p = &m->pmus[i];

		if (now_ns < p->care_ns || !needs_care(p))
			continue;
		if (may_read(m, p))
			err = read_pmu(m, p, sink);
		else
			p->care_ns = m->ops->now() + CARE_SOON_NS;
	}
	return err;
}

/* A reading that the budget does not allow is left out: the next segment is longer. */
static int read_due(struct meter *m, uint64_t now_ns, const struct meter_sink *sink)
{
	int err = 0;

	for (size_t i = 0; i < m->plan.nr_pmus && !err; i++) {
		struct meter_pmu *p = &m->pmus[i];

		if (now_ns < p->read_next_ns)
			continue;
		if (may_read(m, p))
			err = read_pmu(m, p, sink);
		else
			p->cost.deferred++;
		/* All of them at once: one wake-up for many PMUs. */
		p->read_next_ns = now_ns + m->o.read_ns;
	}
	return err;
}

uint64_t meter_next_ns(const struct meter *m)
{
	uint64_t next = m->cores.look_ns;

	for (size_t i = 0; i < m->plan.nr_pmus; i++) {
		const struct meter_pmu *p = &m->pmus[i];

		if (p->turn_end_ns < next)
			next = p->turn_end_ns;
		if (p->read_next_ns < next)
			next = p->read_next_ns;
		if (needs_care(p) && p->care_ns < next)
			next = p->care_ns;
	}
	return next;
}

int meter_step(struct meter *m, uint64_t now_ns, const struct meter_sink *sink, struct diag *d)
{
	struct meter_pmu *p;
	int err = 0;

	for (size_t i = 0; i < m->plan.nr_pmus && !err && (p = next_turn(m, now_ns)); i++)
		err = change_turn(m, p, sink);
	if (!err)
		err = read_due(m, now_ns, sink);
	if (!err)
		err = take_care(m, now_ns, sink);
	if (!err && now_ns >= m->cores.look_ns)
		err = cores_look(m);
	return err ? diag_error(d, err, "counts could not be taken over") : 0;
}

/*
 * Of the PMUs that were not read in this round, the one that has taken the least time so far: where
 * the budget does not suffice, each PMU gets an equal part of it, so cheap ones are read more often
 * than expensive ones.
 */
static struct meter_pmu *next_pmu(struct meter *m, uint64_t round)
{
	struct meter_pmu *least = NULL;

	for (size_t i = 0; i < m->plan.nr_pmus; i++) {
		struct meter_pmu *p = &m->pmus[i];

		if (p->counted && p->round < round &&
		    (!least || p->cost.read_ns < least->cost.read_ns))
			least = p;
	}
	return least;
}

static int read_pmus(struct meter *m, bool last, const struct meter_sink *sink)
{
	uint64_t round = ++m->round;
	struct meter_pmu *p;
	int err = 0;

	while (!err && (p = next_pmu(m, round))) {
		struct meter_account *a = &m->accounts[p->account];
		bool must = last || !p->round;

		p->round = round;
		/* None overtakes one that waits: otherwise the cheapest would always fit. */
		if (!must && (a->round == round || !may_read(m, p))) {
			a->round = round;
			p->cost.deferred++;
			continue;
		}
		err = read_pmu(m, p, sink);
	}
	return err;
}

int meter_read(struct meter *m, bool last, const struct meter_sink *sink, struct diag *d)
{
	int err = cores_read(m, sink);

	turns_interval(m);
	if (!err)
		err = read_pmus(m, last, sink);
	return err ? diag_error(d, err, "counts could not be taken over") : 0;
}

int meter_refused(const struct meter *m, size_t want)
{
	return m->refused[want];
}

uint32_t meter_pmu(const struct meter *m, size_t want)
{
	return m->number[want];
}

void meter_cost(const struct meter *m, uint32_t pmu, struct stat_cost *ret)
{
	*ret = (struct stat_cost){ .sets = 1 };
	if (pmu == m->core_number)
		*ret = m->cores.cost;
	for (size_t i = 0; i < m->plan.nr_pmus; i++) {
		if (pmu_number(m, &m->pmus[i]) == pmu)
			*ret = m->pmus[i].cost;
	}
}

double meter_busiest(const struct meter *m)
{
	uint64_t elapsed = m->ops->now() - m->start_ns, max = 0;

	for (size_t i = 0; i < m->nr_accounts; i++) {
		if (m->accounts[i].read_ns > max)
			max = m->accounts[i].read_ns;
	}
	return elapsed ? (double)max / elapsed : 0;
}
