// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finding out what can be counted, and opening it. */
#include "platform/meter/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/open_files.h"

/* Problems of the process and not of an event: nothing else would open either. */
static bool is_fatal(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM;
}

static int explain(int err, const char *what, struct diag *d)
{
	diag_fail(d, err, "cannot count %s: %s", what, strerror(-err));
	if (err == -EACCES || err == -EPERM)
		counters_rights_help(d);
	if (err == -EMFILE)
		diag_help(d, "each event is an open file: \"ulimit -n\" must allow more");
	return err;
}

static void refuse_all(struct meter *m, const struct pmu *pmu, int err)
{
	for (size_t i = 0; i < m->wants->nr; i++) {
		if (m->wants->wants[i].pmu == pmu && !m->refused[i])
			m->refused[i] = err;
	}
}

/* Try every event of a PMU alone, switched off: the hardware does not notice. */
static int try_events(struct meter *m, const struct pmu *pmu, struct diag *d)
{
	int cpu = meter_active_cpu(m, pmu);

	for (size_t i = 0; i < m->wants->nr; i++) {
		struct perf_event_attr attr;
		int fd;

		if (m->wants->wants[i].pmu != pmu)
			continue;
		fd = meter_attr(&m->wants->wants[i], &attr);
		attr.disabled = 1;
		if (!fd)
			fd = m->ops->open(&attr, -1, cpu, -1);
		if (is_fatal(fd))
			return explain(fd, m->wants->wants[i].name, d);
		if (fd >= 0)
			m->ops->close(fd);
		else
			m->refused[i] = fd;
	}
	return 0;
}

/*
 * How many events fit into one group: the same event again and again, so that nothing is
 * asked for that the PMU cannot bear, such as two requester ids or nine windows. Then
 * whether cycles find a counter beside them.
 */
static int try_groups(struct meter *m, const struct pmu *pmu, const struct want *event,
		      const struct want *cycles, size_t max, struct plan_capacity *ret)
{
	uint64_t bits = plan_setting_bits(pmu);
	int cpu = meter_active_cpu(m, pmu), got;
	cleanup_free struct perf_event_attr *attrs = calloc(max + 1, sizeof(*attrs));
	cleanup_free int *fds = calloc(max + 1, sizeof(*fds));
	struct plan_capacity capacity;

	if (!attrs || !fds)
		return -ENOMEM;
	for (size_t i = 0; i < max; i++)
		meter_attr(event, &attrs[i]);
	got = perf_group_open(m->ops, attrs, max, cpu, false, fds);
	if (got < 0)
		return got;
	perf_events_close(m->ops, fds, got);
	capacity = (struct plan_capacity){ got, 0 };
	if (cycles) {
		size_t nr = got + 1;

		meter_attr(cycles, &attrs[got]);
		attrs[got].config1 = (attrs[got].config1 & ~bits) | (attrs[0].config1 & bits);
		got = perf_group_open(m->ops, attrs, nr, cpu, false, fds);
		if (got < 0)
			return got;
		perf_events_close(m->ops, fds, got);
		capacity.cycles = (size_t)got == nr;
	}
	*ret = capacity;
	return 0;
}

static int find_capacity(struct meter *m, const struct pmu *pmu, struct diag *d,
			 struct plan_capacity *ret)
{
	const struct want *event = NULL, *cycles = NULL;
	size_t max = 0;
	int err;

	/* A PMU of which nothing is opened may have any plan. */
	*ret = (struct plan_capacity){ UINT32_MAX, 1 };
	if (!pmu->usable) {
		refuse_all(m, pmu, -ENODEV);
		return 0;
	}
	err = try_events(m, pmu, d);
	if (err)
		return err;
	for (size_t i = 0; i < m->wants->nr; i++) {
		const struct want *want = &m->wants->wants[i];
		bool is_cycles = want->pmu == pmu && plan_is_cycles(want);

		if (want->pmu != pmu || m->refused[i])
			continue;
		max++;
		if (is_cycles && !cycles)
			cycles = want;
		else if (!is_cycles && !event)
			event = want;
	}
	if (pmu->family->max_events)
		*ret = (struct plan_capacity){ pmu->family->max_events, 0 };
	else if (event)
		err = try_groups(m, pmu, event, cycles, max, ret);
	if (is_fatal(err))
		return explain(err, event->name, d);
	if (err)
		refuse_all(m, pmu, err);
	return 0;
}

/*
 * While another user counts with another requester id, a second event is refused whatever the
 * number of counters. Then the capacity is taken to be that of another PMU of this kind.
 */
static void guess_capacities(const struct pmu *const *pmus, size_t nr,
			     struct plan_capacity *capacities)
{
	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < nr && plan_setting_bits(pmus[i]); k++) {
			if (capacities[i].events == 1 && capacities[k].events != UINT32_MAX &&
			    capacities[k].events > 1 && pmus[k]->kind == pmus[i]->kind)
				capacities[i] = capacities[k];
		}
	}
}

/* Number PMUs by their first want, and find out what each can count at a time. */
static int find_capacities(struct meter *m, struct diag *d, struct plan_capacity *capacities)
{
	cleanup_free const struct pmu **pmus = calloc(m->wants->nr + 1, sizeof(*pmus));
	uint32_t nr = 0, nr_pmus = 0;
	int err = pmus ? 0 : diag_no_memory(d);

	m->core_number = UINT32_MAX;
	for (size_t i = 0; i < m->wants->nr && !err; i++) {
		const struct pmu *pmu = m->wants->wants[i].pmu;
		size_t k = 0;

		while (m->wants->wants[k].pmu != pmu)
			k++;
		m->number[i] = k < i ? m->number[k] : nr++;
		if (k < i)
			continue;
		if (!pmu) {
			m->core_number = m->number[i];
			continue;
		}
		pmus[nr_pmus] = pmu;
		err = find_capacity(m, pmu, d, &capacities[nr_pmus++]);
	}
	if (!err)
		guess_capacities(pmus, nr_pmus, capacities);
	return err;
}

static int make_plan(struct meter *m, struct diag *d)
{
	cleanup_free struct plan_capacity *capacities =
		calloc(m->wants->nr + 1, sizeof(*capacities));
	int err = capacities ? find_capacities(m, d, capacities) : diag_no_memory(d);

	return err ? err : plan_make(m->wants, capacities, d, &m->plan);
}

int pmu_fresh(struct meter *m, struct meter_pmu *p)
{
	struct meter_part *turn = p->nr_turns ? &p->turns[p->turn] : NULL;
	int err = part_prepare(m, p, &p->base);
	uint64_t before;

	if (!err && turn)
		err = part_prepare(m, p, turn);
	if (err)
		goto fail;
	p->start_ns = m->ops->now();
	before = m->accounts[p->account].read_ns;
	err = part_start(m, p, &p->base);
	if (!err && turn)
		err = part_start(m, p, turn);
	p->one_read_ns = m->accounts[p->account].read_ns - before;
	p->cost.readings++;
	p->cost.read_ns += p->one_read_ns;
	if (!err)
		return 0;
fail:
	part_close(m, &p->base);
	if (turn)
		part_close(m, turn);
	return err;
}

static const struct counted_pmu *find_counted(const struct meter *m, const struct pmu *pmu)
{
	for (size_t i = 0; i < m->o.nr_counted; i++)
		if (m->o.counted[i].pmu == pmu)
			return &m->o.counted[i];
	return NULL;
}

static void refuse_turn(struct meter *m, const struct plan_turn *turn)
{
	for (size_t i = 0; i < turn->nr; i++)
		for (size_t w = 0; w < m->wants->nr; w++)
			if (m->plan.event_of[w] == turn->events[i] && !m->refused[w])
				m->refused[w] = -EBUSY;
}

/*
 * Beside counters of traffic nothing takes turns: neither our sets, nor in the kernel with others,
 * which would stop these counters at each of its ticks. What does not fit beside them is absent.
 */
static void leave_traffic_alone(struct meter *m, const struct plan_pmu *plan,
				const struct counted_pmu *counted)
{
	if (!counted->pinned)
		refuse_all(m, plan->pmu, -EBUSY);
	for (size_t i = 1; i < plan->nr_turns; i++)
		refuse_turn(m, &plan->turns[i]);
}

/* Copy the plan, without events that are refused and turns of nothing else. */
static int make_parts(struct meter *m, struct meter_pmu *p, const struct plan_pmu *plan)
{
	const struct counted_pmu *counted = find_counted(m, plan->pmu);
	int err;

	if (counted)
		leave_traffic_alone(m, plan, counted);
	p->plan = plan;
	p->turn_end_ns = UINT64_MAX;
	p->read_next_ns = UINT64_MAX;
	p->turns = calloc(plan->nr_turns + 1, sizeof(*p->turns));
	p->shares = calloc(plan->nr_turns + 1, sizeof(*p->shares));
	err = p->turns && p->shares ? part_make(m, plan->base, plan->nr_base, &p->base) : -ENOMEM;
	p->base.alone = counted != NULL;
	for (size_t i = 0; i < plan->nr_turns && !err; i++) {
		struct meter_part *turn = &p->turns[p->nr_turns];

		err = part_make(m, plan->turns[i].events, plan->turns[i].nr, turn);
		turn->alone = counted != NULL;
		if (!err && turn->nr)
			p->shares[p->nr_turns++] = (struct meter_share){ 1, 1, 0 };
		else if (!err)
			part_free(m, turn);
	}
	p->cost.sets = p->nr_turns ? p->nr_turns : 1;
	p->counted = p->base.nr || p->nr_turns;
	return err;
}

/* Room for as many files as will be open at a time; meter_close() restores the limit. */
static void allow_files(struct meter *m)
{
	size_t need = 0;

	for (size_t i = 0; i < m->plan.nr_pmus; i++) {
		size_t longest = 0;

		for (size_t k = 0; k < m->pmus[i].nr_turns; k++) {
			if (m->pmus[i].turns[k].nr > longest)
				longest = m->pmus[i].turns[k].nr;
		}
		need += m->pmus[i].base.nr + longest;
	}
	need += m->cores.nr * m->cores.nr_places;
	m->soft_files = open_files_allow(need);
}

static int open_pmus(struct meter *m, struct diag *d)
{
	for (size_t i = 0; i < m->plan.nr_pmus; i++) {
		struct meter_pmu *p = &m->pmus[i];
		int err = p->counted ? pmu_fresh(m, p) : 0;

		if (is_fatal(err))
			return explain(err, p->plan->pmu->name, d);
		if (err) {
			refuse_all(m, p->plan->pmu, err);
			p->counted = false;
		}
		p->care_ns = m->ops->now() + CARE_SOON_NS;
		if (p->counted && p->nr_turns > 1)
			turns_begin(m, p);
		else if (p->counted && m->o.read_ns)
			p->read_next_ns = m->start_ns + m->o.read_ns;
	}
	return 0;
}

static int open_all(struct meter *m, struct diag *d)
{
	int err = make_plan(m, d);

	if (err)
		return err;
	m->pmus = calloc(m->plan.nr_pmus + 1, sizeof(*m->pmus));
	if (!m->pmus)
		return diag_no_memory(d);
	for (size_t i = 0; i < m->plan.nr_pmus && !err; i++)
		err = make_parts(m, &m->pmus[i], &m->plan.pmus[i]);
	if (err)
		return diag_error(d, err, "cannot prepare the events");
	err = cores_find(m, d);
	if (err)
		return err;
	allow_files(m);
	m->start_ns = m->ops->now();
	err = open_pmus(m, d);
	if (err)
		return err;
	err = cores_open(m);
	return err ? explain(err, "events of the cores", d) : 0;
}

/* Is there an event that counts? Rights are a better reason than others, if there are many. */
static int check_any(const struct meter *m, struct diag *d)
{
	int worst = -ENODEV;
	size_t which = 0;

	for (size_t i = 0; i < m->wants->nr; i++) {
		int err = m->refused[i];

		if (!err)
			return 0;
		if (err == -EACCES || err == -EPERM) {
			worst = -EACCES;
			which = i;
		}
	}
	if (!m->wants->nr)
		return diag_fail(d, -ENODEV, "there is nothing to count");
	diag_fail(d, worst, "cannot count %s%s: %s", m->wants->wants[which].name,
		  m->wants->nr > 1 ? " and all the others" : "", strerror(-m->refused[which]));
	if (worst == -EACCES)
		counters_rights_help(d);
	return worst;
}

struct meter *meter_new(const struct want_list *wants, const struct sysfs *fs,
			const struct perf_ops *ops)
{
	struct meter *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	*m = (struct meter){ .wants = wants, .fs = fs, .ops = ops, .start_ns = ops->now() };
	m->random = m->start_ns | 1;
	m->refused = calloc(wants->nr + 1, sizeof(*m->refused));
	m->number = calloc(wants->nr + 1, sizeof(*m->number));
	m->counters = calloc(wants->nr + 1, sizeof(*m->counters));
	m->readings = calloc(wants->nr + 1, sizeof(*m->readings));
	if (m->refused && m->number && m->counters && m->readings)
		return m;
	meter_close(m);
	return NULL;
}

int meter_capacities_with(const struct want_list *wants, const struct sysfs *fs,
			  const struct perf_ops *ops, struct diag *d, struct plan_capacity *ret)
{
	struct meter *m = meter_new(wants, fs, ops);
	int err = m ? find_capacities(m, d, ret) : diag_no_memory(d);

	meter_close(m);
	return err;
}

int meter_capacities(const struct want_list *wants, const struct sysfs *fs, struct diag *d,
		     struct plan_capacity *ret)
{
	return meter_capacities_with(wants, fs, &perf_kernel, d, ret);
}

int meter_open_with(const struct want_list *wants, const struct sysfs *fs,
		    const struct meter_options *o, const struct perf_ops *ops, struct diag *d,
		    struct meter **ret)
{
	struct meter *m = meter_new(wants, fs, ops);
	int err;

	if (!m)
		return diag_no_memory(d);
	m->o = *o;
	err = open_all(m, d);
	if (!err)
		err = check_any(m, d);
	if (err) {
		meter_close(m);
		return err;
	}
	*ret = m;
	return 0;
}

int meter_open(const struct want_list *wants, const struct sysfs *fs, const struct meter_options *o,
	       struct diag *d, struct meter **ret)
{
	return meter_open_with(wants, fs, o, &perf_kernel, d, ret);
}

void meter_close(struct meter *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->plan.nr_pmus && m->pmus; i++) {
		struct meter_pmu *p = &m->pmus[i];

		for (size_t k = 0; k < p->nr_turns; k++)
			part_free(m, &p->turns[k]);
		free(p->turns);
		free(p->shares);
		part_free(m, &p->base);
	}
	cores_close(m);
	open_files_restore(m->soft_files);
	plan_free(&m->plan);
	free(m->pmus);
	free(m->accounts);
	free(m->refused);
	free(m->number);
	free(m->counters);
	free(m->readings);
	free(m);
}
