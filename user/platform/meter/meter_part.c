// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/meter/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "platform/pmu/gain.h"

/* A PMU that others hold is asked again that rarely: each refusal is a line in the kernel log. */
#define RETRY_NS   (10 * NS_PER_S)

/* Words in front of the values of a group: number of events, time enabled, time running. */
#define GROUP_HEAD 3

int meter_attr(const struct want *want, struct perf_event_attr *ret)
{
	return perf_attr(want->type, &want->config, PERF_TIMES, ret);
}

int meter_active_cpu(struct meter *m, const struct pmu *pmu)
{
	int cpu = m->fs ? pmu_cpu_now(m->fs, pmu) : -1;

	return cpu < 0 ? pmu->active_cpu : cpu;
}

static int find_account(struct meter *m, int cpu, size_t *ret)
{
	size_t i;

	for (i = 0; i < m->nr_accounts; i++) {
		if (m->accounts[i].cpu == cpu)
			break;
	}
	if (i == m->nr_accounts) {
		if (array_reserve(m->accounts, m->cap_accounts, m->nr_accounts))
			return -ENOMEM;
		m->accounts[m->nr_accounts++] = (struct meter_account){ .cpu = cpu };
	}
	*ret = i;
	return 0;
}

int part_make(const struct meter *m, const uint32_t *events, size_t nr, struct meter_part *ret)
{
	struct meter_part part = { 0 };

	part.wants = calloc(nr + 1, sizeof(*part.wants));
	part.fds = calloc(nr + 1, sizeof(*part.fds));
	part.last = calloc(nr + 1, sizeof(*part.last));
	part.now = calloc(nr + 1, sizeof(*part.now));
	part.gained = calloc(nr + 1, sizeof(*part.gained));
	if (!part.wants || !part.fds || !part.last || !part.now || !part.gained) {
		part_free(m, &part);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++) {
		if (m->refused[events[i]])
			continue;
		part.fds[part.nr] = -1;
		part.wants[part.nr++] = events[i];
	}
	part.group = part.nr;
	part.fallback = (part.nr + 1) / 2;
	*ret = part;
	return 0;
}

/*
 * Taking an event off the hardware stops all counters of its PMU for a moment, also
 * those of the base. Groups go as a whole, for which that happens once.
 */
static void disable_groups(const struct meter *m, const struct meter_part *part)
{
	for (size_t i = 0; i < part->nr && part->open && !part->stopped; i += part->group)
		m->ops->disable(part->fds[i]);
}

/*
 * The charge for a PMU's CPU is our own CPU time: a thread that reads a counter of another CPU
 * waits for it without leaving its own, so its CPU time is never less than that CPU spends on it.
 * Wall time would include time in which we do not run, and turns would wait for seconds after each.
 */
void part_stop(struct meter *m, const struct meter_pmu *p, struct meter_part *part)
{
	uint64_t spent = m->ops->spent();

	disable_groups(m, part);
	part->stopped = true;
	m->accounts[p->account].read_ns += m->ops->spent() - spent;
}

void part_close(const struct meter *m, struct meter_part *part)
{
	disable_groups(m, part);
	perf_events_close(m->ops, part->fds, part->nr);
	part->open = false;
	part->stopped = false;
	part->held = false;
}

void part_free(const struct meter *m, struct meter_part *part)
{
	if (part->fds)
		part_close(m, part);
	free(part->wants);
	free(part->fds);
	free(part->last);
	free(part->now);
	free(part->gained);
	*part = (struct meter_part){ 0 };
}

/* Requester id and switch that are in force while a part counts. */
static uint64_t setting_of(const struct meter *m, const struct meter_pmu *p,
			   const struct meter_part *part, uint64_t bits)
{
	const struct want *wants = m->wants->wants;

	for (size_t i = 0; i < part->nr; i++) {
		if (!plan_is_cycles(&wants[part->wants[i]]))
			return wants[part->wants[i]].config.config1 & bits;
	}
	/* Cycles alone are a base, which there is only if all events have one setting. */
	for (size_t i = 0; i < p->plan->nr_events; i++) {
		if (!plan_is_cycles(&wants[p->plan->events[i]]))
			return wants[p->plan->events[i]].config.config1 & bits;
	}
	return wants[part->wants[0]].config.config1 & bits;
}

/*
 * Open the events of a group. Cycles get the requester id of the other events: it does not change
 * their count, and a different id may be refused beside them.
 */
static int open_group(struct meter *m, struct meter_pmu *p, struct meter_part *part, size_t first,
		      size_t nr, bool pinned)
{
	uint64_t bits = plan_setting_bits(p->plan->pmu);
	uint64_t setting = bits ? setting_of(m, p, part, bits) : 0;
	struct perf_event_attr *attrs = calloc(nr, sizeof(*attrs));
	int got = attrs ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr && !got; i++) {
		const struct want *want = &m->wants->wants[part->wants[first + i]];

		got = meter_attr(want, &attrs[i]);
		attrs[i].read_format |= PERF_FORMAT_GROUP;
		if (bits && plan_is_cycles(want))
			attrs[i].config1 = (attrs[i].config1 & ~bits) | setting;
	}
	if (!got)
		got = perf_group_open(m->ops, attrs, nr, p->cpu, pinned, part->fds + first);
	free(attrs);
	if (got < 0)
		return got;
	if ((size_t)got == nr)
		return 0;
	perf_events_close(m->ops, part->fds + first, got);
	part->fds[first + got] = -1;
	return -EBUSY;
}

int pmu_locate(struct meter *m, struct meter_pmu *p)
{
	p->cpu = meter_active_cpu(m, p->plan->pmu);
	return find_account(m, p->cpu, &p->account);
}

int part_ready(struct meter *m, struct meter_pmu *p, struct meter_part *part)
{
	int err;

	part_close(m, part);
	memset(part->last, 0, part->nr * sizeof(*part->last));
	memset(part->now, 0, part->nr * sizeof(*part->now));
	part->since_ns = m->ops->now();
	part->group = part->nr;
	part->starved = false;
	part->shared = false;
	if (!part->nr)
		return 0;
	if (m->ops->now() < part->retry_ns) {
		part->held = true;
		return 0;
	}
	err = open_group(m, p, part, 0, part->nr, true);
	part->open = !err;
	/*
	 * The events that the plan groups fit: if not now, other users hold some counters.
	 */
	return err == -EBUSY ? 0 : err;
}

int part_prepare(struct meter *m, struct meter_pmu *p, struct meter_part *part)
{
	int err = pmu_locate(m, p);

	return err ? err : part_ready(m, p, part);
}

/*
 * Smaller groups that take turns with others' events are no way out where the kernel
 * refuses, each time with a line in its log, because of the requester id, nor where slots of
 * address ranges are found wrongly after events come and go.
 */
static bool may_share(const struct pmu *pmu)
{
	return !plan_setting_bits(pmu) && !pmu->family->ranges;
}

int part_share(struct meter *m, struct meter_pmu *p, struct meter_part *part)
{
	size_t size = part->fallback;
	int err = 0;

	part->group = size;
	part->shared = true;
	for (size_t i = 0; i < part->nr && !err; i += size) {
		size_t n = part->nr - i < size ? part->nr - i : size;

		err = open_group(m, p, part, i, n, false);
		if (!err)
			err = m->ops->enable(part->fds[i]);
	}
	part->open = !err;
	if (err)
		part_close(m, part);
	return err;
}

int part_start(struct meter *m, struct meter_pmu *p, struct meter_part *part)
{
	const struct pmu *pmu = p->plan->pmu;
	int err;

	if (part->held || !part->nr)
		return 0;
	if (part->open) {
		err = m->ops->enable(part->fds[0]);
		if (!err && !part_read(m, p, part))
			return 0;
		part_close(m, part);
		if (err)
			return err;
	}
	if (!part->alone && may_share(pmu))
		return part_share(m, p, part);
	part->held = true;
	part->retry_ns = m->ops->now() + RETRY_NS;
	return 0;
}

static int read_group(const struct meter *m, struct meter_part *part, size_t first, size_t nr,
		      uint64_t *words)
{
	ssize_t got = m->ops->read(part->fds[first], words, GROUP_HEAD + nr);
	uint64_t window_ns = m->ops->now() - part->since_ns;
	int err = 0;

	if (got < 0)
		return got;
	if (!got)
		return -EAGAIN;
	if ((size_t)got != (GROUP_HEAD + nr) * sizeof(*words) || words[0] != nr)
		return -EIO;
	/* No time has passed: its CPU is gone, and this is an old reading. */
	if (words[1] <= part->last[first].enabled_ns)
		return -ESTALE;
	for (size_t i = first; i < first + nr && !err; i++) {
		part->now[i] =
			(struct reading){ words[GROUP_HEAD + i - first], words[1], words[2] };
		err = gain_between(&part->last[i], &part->now[i], window_ns, &part->gained[i]);
	}
	return err;
}

static int read_part(struct meter *m, struct meter_pmu *p, struct meter_part *part, bool restart)
{
	uint64_t *words, spent;
	int err = 0;

	if (!part->open)
		return 0;
	words = calloc(GROUP_HEAD + part->nr, sizeof(*words));
	if (!words)
		return -ENOMEM;
	part->begin_ns = m->ops->now();
	spent = m->ops->spent();
	for (size_t i = 0; i < part->nr && !err; i += part->group) {
		size_t n = part->nr - i < part->group ? part->nr - i : part->group;

		err = read_group(m, part, i, n, words);
		/*
		 * A pinned group that lost its counters continues from its count if it may: not one
		 * that was stopped because another group counts now.
		 */
		if (err && restart && !part->stopped && !m->ops->enable(part->fds[i]))
			err = read_group(m, part, i, n, words);
	}
	m->accounts[p->account].read_ns += m->ops->spent() - spent;
	part->read_at_ns = part->begin_ns + (m->ops->now() - part->begin_ns) / 2;
	free(words);
	return err;
}

int part_look(struct meter *m, struct meter_pmu *p, struct meter_part *part)
{
	return read_part(m, p, part, false);
}

int part_read(struct meter *m, struct meter_pmu *p, struct meter_part *part)
{
	return read_part(m, p, part, true);
}

/* Has one of several groups not run at all since the last reading? */
static bool is_starved(const struct meter_part *part)
{
	for (size_t i = 0; i < part->nr && part->open && part->group < part->nr; i++) {
		if (!part->gained[i].running_ns)
			return true;
	}
	return false;
}

void part_use(struct meter_part *part)
{
	/* Single events cannot be made smaller: they wait until others let go. */
	part->starved = is_starved(part) && part->group > 1;
	if (part->starved)
		part->fallback = (part->group + 1) / 2;
	memcpy(part->last, part->now, part->nr * sizeof(*part->last));
	part->since_ns = part->begin_ns;
}
