// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The end of an interval: hand on CPU time of all CPUs up to the end of the last window, and
 * interrupt as few of them as possible.
 *
 * A sleeping CPU is left asleep. Its idle task runs, and its ledger is at rest (cpu_ledger.rest):
 * we take its slots, and know its idle time up to now without it. A busy CPU sees the end of the
 * window at its next switch or tick, and sends its slots on its own; all busy CPUs do so in
 * parallel. The rest is interrupted: CPUs without a tick, late ones, and those with device requests
 * in their tables.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpulist.h"
#include "platform/bpf/ledger_internal.h"

/* How long, and in which steps, to wait for records that are still being written. */
#define SETTLE_NS    200000000ull
#define STEP_NS	     200000
/* A host that stops all CPUs takes that time, and they need more: so many steps follow it. */
#define SETTLE_STEPS 50

/* The CPUs that are online now; when that is unknown, none is left asleep. */
static void find_online(struct ledger *l)
{
	char text[CPULIST_TEXT_LEN + 1];
	ssize_t size;

	l->online_ns = monotonic_ns();
	size = l->online_fd < 0 ? -1 : pread(l->online_fd, text, sizeof(text) - 1, 0);

	text[size > 0 ? size : 0] = '\0';
	if (cpulist_parse(text, &l->online))
		l->online = (struct cpulist){ 0 };
}

static void hand_on(struct ledger *l, const struct ledger_slices *r, const struct ledger_weights *w,
		    const struct ledger_sink *sink)
{
	ledger_came(l, r);
	sink->slices(sink->arg, r, w);
}

/* The slots in use; too many are passed as none, and the caller sees that by the number. */
static void copy_slices(const volatile struct cpu_ledger *c, struct ledger_slices *ret)
{
	const struct ledger_slices *out = (const void *)&c->out;

	memcpy(ret, out, offsetof(struct ledger_slices, slots));
	ret->nr = c->nr;
	if (ret->nr <= LEDGER_SLOTS)
		memcpy(ret->slots, out->slots, ret->nr * sizeof(out->slots[0]));
}

static void copy_weights(const struct ledger *l, uint32_t cpu, uint32_t nr,
			 struct ledger_weights *ret)
{
	const struct ledger_weights *out = (const void *)&l->cpu_weights[cpu].out;

	memcpy(ret, out, offsetof(struct ledger_weights, slots));
	if (nr <= LEDGER_SLOTS)
		memcpy(ret->slots, out->slots, nr * sizeof(out->slots[0]));
	ret->nr = nr;
	ret->nr_events = l->nr_weights;
}

/* The idle task had @cpu from @from to @to; its core events are not counted. */
static void hand_on_idle(struct ledger *l, uint32_t cpu, uint64_t from, uint64_t to,
			 const struct ledger_sink *sink)
{
	struct ledger_slices r; /* most of it is slots that are not read */

	r.h = (struct ledger_header){ .type = LEDGER_SLICES, .cpu = cpu, .time_ns = to };
	r.nr = 1;
	r.until_ns = to;
	r.slots[0] =
		(struct ledger_slot){ .first_ns = from, .last_ns = to, .on_cpu_ns = to - from };
	hand_on(l, &r, NULL, sink);
}

/*
 * Take the slots of a CPU whose ledger is at rest. It may wake up while we copy: then the exchange
 * fails, and the copy is dropped.
 *
 * All records that the CPU sent on its own must have come before: nothing older may follow. And
 * after hidden switches the idle task may have left unnoticed.
 */
static bool take_rest(struct ledger *l, uint32_t cpu, const struct ledger_sink *sink)
{
	struct cpu_ledger *c = (struct cpu_ledger *)&l->cpus[cpu];
	__u64 rest = __atomic_load_n(&c->rest, __ATOMIC_ACQUIRE);
	uint64_t from = rest >> LEDGER_REST_SHIFT, to;
	struct ledger_weights weights;
	struct ledger_slices copy;

	/* A CPU without the exchange would not see that its slots were taken. */
	if (!l->rests || !rest || l->cpus[cpu].unseen != l->flushed[cpu].unseen)
		return false;
	copy.nr = 0;
	if (!(rest & LEDGER_REST_TAKEN)) {
		if (monotonic_ns() < from + LEDGER_REST_NS)
			return false;
		copy_slices(c, &copy);
		if (copy.until_ns > l->flushed[cpu].until_ns)
			return false;
		copy.until_ns = from;
		if (l->cpu_weights)
			copy_weights(l, cpu, copy.nr, &weights);
	}
	to = monotonic_ns();
	if (to <= from || copy.nr > LEDGER_SLOTS ||
	    !__atomic_compare_exchange_n(&c->rest, &rest, LEDGER_RESTS(to) | LEDGER_REST_TAKEN,
					 false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return false;
	if (copy.nr)
		hand_on(l, &copy, l->cpu_weights ? &weights : NULL, sink);
	hand_on_idle(l, cpu, from, to, sink);
	l->ways.asleep++;
	return true;
}

/*
 * An offline CPU does not touch its ledger. Its slots are taken over, and the ledger starts from
 * scratch when the CPU comes back.
 */
static void adopt_offline(struct ledger *l, uint32_t cpu, const struct ledger_sink *sink)
{
	volatile struct cpu_ledger *c = &l->cpus[cpu];
	bool taken = c->rest & LEDGER_REST_TAKEN;
	struct ledger_slices copy;

	if (!c->since_ns)
		return;
	copy_slices(c, &copy);
	copy.until_ns = c->since_ns;
	c->nr = 0;
	c->since_ns = 0;
	c->rest = 0;
	if (!taken && copy.nr <= LEDGER_SLOTS)
		hand_on(l, &copy, NULL, sink);
}

/* If the ring is full there is no record to wait for; the slots are kept. */
static int run_flush(struct ledger *l, uint32_t cpu, const struct ledger_sink *sink)
{
	uint64_t full;
	/* Before the slices: when their record has come, these have come, too. */
	int err = ledger_io_flush(l, cpu, sink);

	if (err && err != -ENXIO)
		return err;
	full = l->cpus[cpu].flush_failed;
	err = ledger_run_on(l->skel->progs.ledger_flush, cpu, NULL);
	l->flushed[cpu].asked = !err && l->cpus[cpu].flush_failed == full;
	return err;
}

static int interrupt(struct ledger *l, uint32_t cpu, const struct ledger_sink *sink)
{
	struct flushed *f = &l->flushed[cpu];
	bool begins = !l->cpus[cpu].since_ns;
	int err = run_flush(l, cpu, sink);

	l->ways.interrupted++;
	f->unseen = l->cpus[cpu].unseen;
	/* It has filled up since the last drain: we may have waited for a CPU. */
	if (!err && !f->asked)
		err = ledger_drain(l, sink);
	if (!err && !f->asked)
		err = run_flush(l, cpu, sink);
	/* A ledger that has just begun has nothing to send. */
	if (begins || err == -ENXIO || !f->asked)
		f->need_ns = 0;
	if (err == -ENXIO) {
		adopt_offline(l, cpu, sink);
		err = 0;
	}
	return err;
}

/* Will the CPU see the request at its own next switch or tick? */
static bool will_see(const struct ledger *l, uint32_t cpu)
{
	return l->tick && !l->cpus[cpu].no_tick && l->flushed[cpu].need_ns < l->flush_ns;
}

static int flush_cpu(struct ledger *l, uint32_t cpu, const struct ledger_sink *sink)
{
	struct flushed *f = &l->flushed[cpu];
	uint32_t socket = l->cpus[cpu].socket;
	uint64_t boundary = socket < l->nr_readers ? l->readers[socket].boundary_ns : 0;

	/* If no window has ended since the last flush, all time up to now is wanted. */
	f->need_ns = boundary > f->boundary_ns ? boundary : l->flush_ns;
	f->boundary_ns = boundary;
	f->asked = false;
	if (l->cpus[cpu].since_ns && cpulist_contains(&l->online, cpu) &&
	    !ledger_io_waits(l, cpu)) {
		if (f->until_ns >= f->need_ns || take_rest(l, cpu, sink))
			return 0;
		/* Running on our own CPU is no interrupt. */
		if (will_see(l, cpu) && (int)cpu != sched_getcpu())
			return 0;
	}
	return interrupt(l, cpu, sink);
}

int ledger_flush(struct ledger *l, const struct ledger_sink *sink)
{
	int err;

	find_online(l);
	/* Many CPUs have seen the end of the window by now. */
	err = ledger_drain(l, sink);
	l->flush_ns = monotonic_ns();
	for (uint32_t cpu = 0; !err && cpu < l->nr_cpus; cpu++)
		err = flush_cpu(l, cpu, sink);
	if (!err)
		ledger_io_take_lost(l, sink);
	if (l->ring_reserved)
		l->flush_end = __atomic_load_n(l->ring_reserved, __ATOMIC_ACQUIRE);
	return err;
}

/*
 * The rest of the last flush: the number of records under way and of CPUs that have not seen it.
 * @late: interrupt these now.
 */
static int look_again(struct ledger *l, bool late, const struct ledger_sink *sink,
		      uint32_t *ret_coming, uint32_t *ret_unseen)
{
	int err = 0;

	*ret_coming = *ret_unseen = 0;
	for (uint32_t cpu = 0; !err && cpu < l->nr_cpus; cpu++) {
		struct flushed *f = &l->flushed[cpu];

		if (f->until_ns >= f->need_ns || (!f->asked && take_rest(l, cpu, sink)))
			continue;
		if (late && !f->asked)
			err = interrupt(l, cpu, sink);
		*ret_coming += f->asked;
		*ret_unseen += !f->asked;
	}
	return err;
}

/*
 * Are there records in the ring that were begun before the last flush had ended? An unfinished one
 * holds up all records behind it. Tasks keep their CPU meanwhile if the kernel supports that
 * (ledger_preempt.c); a host may still stop it.
 */
static bool is_held_up(const struct ledger *l)
{
	return l->ring_read && __atomic_load_n(l->ring_read, __ATOMIC_ACQUIRE) < l->flush_end;
}

int ledger_settle(struct ledger *l, const struct ledger_sink *sink)
{
	uint64_t tick = ledger_tick_ns(), patience = l->flush_ns + tick + tick / 4;
	uint64_t end = patience + SETTLE_NS, now;
	uint32_t coming, unseen, steps = 0;
	bool held;
	int err;

	do {
		struct timespec step = { .tv_nsec = STEP_NS };

		/* before the look: what has come while we stood still is not given up */
		now = monotonic_ns();
		err = ledger_drain(l, sink);
		if (!err)
			err = look_again(l, now >= patience, sink, &coming, &unseen);
		held = is_held_up(l);
		if (err || !(coming + unseen + held))
			return err;
		if (!coming && !held)
			step.tv_nsec = tick / 4;
		nanosleep(&step, NULL);
	} while (now < end || ++steps < SETTLE_STEPS);
	l->held += held;
	return 0;
}

void ledger_ways(const struct ledger *l, struct ledger_ways *ret)
{
	*ret = l->ways;
}
