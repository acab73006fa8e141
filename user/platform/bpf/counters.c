// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/bpf/counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/text.h"
#include "platform/pmu/perf_events.h"
#include "records.h"
#include "tables/events.h"

/* Events of one PMU take turns every few milliseconds (perf_event_mux_interval_ms). */
#define TURN_NS 5000000
#define TURNS	10

static int row_attr(const struct pmu *pmu, const struct counter_row *row, const char *event,
		    struct diag *d, struct perf_event_attr *ret)
{
	struct pmu_term terms[PMU_MAX_TERMS];
	const char *filters = row->filters;
	struct pmu_config config;
	size_t nr = 0;
	int err;

	while (nr < ARRAY_SIZE(terms) &&
	       !take_setting(&filters, terms[nr].name, sizeof(terms[nr].name), &terms[nr].value))
		nr++;
	err = pmu_encode(pmu, event, terms, nr, d, &config);
	return err ? err : perf_attr(pmu->type, &config, PERF_TIMES, ret);
}

static int open_problem(const struct pmu *pmu, const char *event, int err, struct diag *d)
{
	diag_fail(d, err, "cannot open %s/%s/ on CPU %d: %s", pmu->name, event, pmu->active_cpu,
		  strerror(-err));
	if (err == -EACCES || err == -EPERM)
		counters_rights_help(d);
	return err;
}

/* A pinned group that cannot run has been put into the error state: it reads as nothing. */
static bool is_running(const struct perf_ops *ops, int leader)
{
	uint64_t reading[3];

	return ops->read(leader, reading, ARRAY_SIZE(reading)) == sizeof(reading);
}

/*
 * Groups that are not pinned take turns with the events of others. One that is
 * larger than what pinned events of others leave never gets a turn.
 */
static bool gets_a_turn(const struct perf_ops *ops, int leader)
{
	struct timespec pause = { .tv_nsec = TURN_NS };
	uint64_t reading[3];

	for (int i = 0; i < TURNS; i++) {
		if (ops->read(leader, reading, ARRAY_SIZE(reading)) == sizeof(reading) &&
		    reading[2])
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

/*
 * Lengths of groups of at most @size. What CPUs cause stays together as far as it fits,
 * so that the parts of a workload are from the same moments; the rest is beside it. Each
 * is divided equally, for equal turns of equal worth.
 */
size_t counters_groups(const struct counter *items, size_t nr, size_t size, size_t *ret_lengths)
{
	size_t groups = 0, first = 0;

	if (nr <= size) {
		ret_lengths[0] = nr;
		return 1;
	}
	while (first < nr) {
		bool cpu = items[first].source == SOURCE_CPU;
		size_t end = first, parts;

		while (end < nr && (items[end].source == SOURCE_CPU) == cpu)
			end++;
		for (parts = (end - first + size - 1) / size; parts; parts--) {
			size_t length = (end - first + parts - 1) / parts;

			ret_lengths[groups++] = length;
			first += length;
		}
	}
	return groups;
}

/* How the events of a PMU are opened: @wait for a turn when others hold the counters now. */
struct how {
	int cpu;
	bool pinned;
	bool wait;
};

/* All events in groups; -EBUSY if they would never count. */
static int open_groups(const struct perf_ops *ops, const struct perf_event_attr *attrs,
		       const size_t *lengths, size_t nr, const struct how *how, int *fds)
{
	size_t first = 0, largest = 0;

	for (size_t i = 0; i < nr; i++)
		if (lengths[i] > lengths[largest])
			largest = i;
	for (size_t i = 0; i < nr; first += lengths[i++]) {
		size_t n = lengths[i];
		int got =
			perf_group_open(ops, attrs + first, n, how->cpu, how->pinned, fds + first);
		int err = got < 0 ? got : 0;

		if (!err && (size_t)got < n)
			err = -EINVAL;
		if (!err)
			err = ops->enable(fds[first]);
		if (!err && how->pinned && !is_running(ops, fds[first]))
			err = -EBUSY;
		/* Single events cannot be made smaller: they wait until others let go. */
		if (!err && !how->pinned && !how->wait && n > 1 && i == largest &&
		    !gets_a_turn(ops, fds[first]))
			err = -EBUSY;
		if (err) {
			perf_events_close(ops, fds, first + (got > 0 ? got : 0));
			return err;
		}
	}
	return 0;
}

/* How many events one group can hold; the probe is closed again. */
static int group_size(const struct perf_ops *ops, const struct perf_event_attr *attrs, size_t nr,
		      int cpu, int *fds)
{
	int fit = perf_group_open(ops, attrs, nr, cpu, false, fds);

	if (fit > 0)
		perf_events_close(ops, fds, fit);
	return fit;
}

static int add_groups(struct counters *c, uint32_t socket, uint32_t first, const size_t *lengths,
		      size_t nr)
{
	for (size_t i = 0; i < nr; first += lengths[i++]) {
		if (array_room(c->groups, c->cap_groups, c->nr_groups))
			return -ENOMEM;
		for (size_t k = 0; k < lengths[i]; k++)
			c->items[first + k].group = c->nr_groups;
		c->groups[c->nr_groups++] = (struct group){ socket, first, lengths[i] };
	}
	return 0;
}

static int add_item(struct counters *c, const struct pmu *pmu, const struct counter_row *row,
		    const char *event)
{
	struct perf_event_attr *attrs;
	struct counter *item;
	uint32_t *scales;
	int *fds;

	if (array_room(c->items, c->cap, c->nr))
		return -ENOMEM;
	fds = reallocarray(c->fds, c->cap, sizeof(*fds));
	if (!fds)
		return -ENOMEM;
	c->fds = fds;
	scales = reallocarray(c->scales, c->cap, sizeof(*scales));
	if (!scales)
		return -ENOMEM;
	c->scales = scales;
	attrs = reallocarray(c->attrs, c->cap, sizeof(*attrs));
	if (!attrs)
		return -ENOMEM;
	c->attrs = attrs;
	c->fds[c->nr] = -1;
	c->scales[c->nr] = row->scale;
	item = &c->items[c->nr++];
	*item = (struct counter){
		.socket = c->nr_sockets,
		.source = row->source,
		.direction = row->direction,
		.destination = row->destination,
	};
	snprintf(item->name, sizeof(item->name), "%s%d/%s%s%s", pmu->family->short_name,
		 pmu->socket, event, row->filters[0] ? "/" : "", row->filters);
	str_copy(item->pmu, sizeof(item->pmu), pmu->name);
	str_copy(item->event, sizeof(item->event), event);
	str_copy(item->filters, sizeof(item->filters), row->filters);
	return 0;
}

/* The rows of a set for a PMU; returns how many. */
static int add_items(struct counters *c, const struct pmu *pmu, unsigned int set, struct diag *d)
{
	struct perf_event_attr attr;
	char event[PMU_NAME_LEN];
	size_t nr = 0;
	int err;

	for (size_t i = 0; i < nr_counter_rows; i++) {
		const struct counter_row *row = &counter_rows[i];

		if (row->kind != pmu->kind || !(row->sets & set))
			continue;
		err = event_on_socket(row->event, pmu->socket, event, sizeof(event));
		if (!err && row->optional && !pmu_event_find(pmu, event))
			continue;
		if (!err && nr == LEDGER_MAX_EVENTS)
			err = -E2BIG;
		if (err)
			return diag_fail(d, err, "%s: too many or too long events", pmu->name);
		err = row_attr(pmu, row, event, d, &attr);
		if (err)
			return err;
		if (add_item(c, pmu, row, event))
			return diag_fail(d, -ENOMEM, "out of memory");
		c->attrs[c->nr - 1] = attr;
		nr++;
	}
	return nr;
}

static int open_pmu(struct counters *c, const struct pmu *pmu, unsigned int set, struct diag *d)
{
	size_t lengths[LEDGER_MAX_EVENTS], size, nr_groups;
	uint32_t first = c->nr, socket = c->nr_sockets;
	struct how how = { .cpu = pmu->active_cpu };
	const struct perf_event_attr *attrs;
	int err, nr = add_items(c, pmu, set, d);

	if (nr < 0)
		return nr;
	if (array_room(c->sockets, c->cap_sockets, c->nr_sockets))
		return diag_fail(d, -ENOMEM, "out of memory");
	attrs = c->attrs + first;
	err = group_size(c->ops, attrs, nr, pmu->active_cpu, c->fds + first);
	if (err <= 0)
		return open_problem(pmu, c->items[first].event, err, d);
	size = err;
	nr_groups = counters_groups(c->items + first, nr, size, lengths);
	/* Pinned only if all fit at once: pinned groups never take turns. */
	how.pinned = nr_groups == 1;
	err = open_groups(c->ops, attrs, lengths, nr_groups, &how, c->fds + first);
	while (err == -EBUSY) {
		if (!how.pinned)
			size = (size + 1) / 2;
		how.pinned = false;
		nr_groups = counters_groups(c->items + first, nr, size, lengths);
		err = open_groups(c->ops, attrs, lengths, nr_groups, &how, c->fds + first);
	}
	if (err)
		return open_problem(pmu, c->items[first].event, err, d);
	if (add_groups(c, socket, first, lengths, nr_groups))
		return diag_fail(d, -ENOMEM, "out of memory");
	c->sockets[c->nr_sockets++] = (struct socket_counters){ pmu->socket, pmu,   pmu->active_cpu,
								how.pinned,  first, nr };
	return 0;
}

int counters_reopen(struct counters *c, size_t socket)
{
	struct socket_counters *s = &c->sockets[socket];
	struct how how = { .cpu = s->cpu, .pinned = s->pinned, .wait = true };
	size_t lengths[LEDGER_MAX_EVENTS], nr = 0;
	int *fds = c->fds + s->first, err;

	for (size_t i = 0; i < c->nr_groups; i++) {
		const struct group *g = &c->groups[i];

		if (g->socket != socket)
			continue;
		lengths[nr++] = g->nr;
		/* Somebody may still hold the old ones: they leave the hardware at once. */
		if (c->fds[g->first] >= 0)
			c->ops->disable(c->fds[g->first]);
	}
	perf_events_close(c->ops, fds, s->nr);
	err = open_groups(c->ops, c->attrs + s->first, lengths, nr, &how, fds);
	if (err == -EBUSY && how.pinned) {
		how.pinned = s->pinned = false;
		err = open_groups(c->ops, c->attrs + s->first, lengths, nr, &how, fds);
	}
	if (err)
		perf_events_close(c->ops, fds, s->nr);
	return err;
}

int counters_open(const struct perf_ops *ops, const struct pmu_list *pmus, unsigned int set,
		  struct diag *d, struct counters *ret)
{
	struct counters c = { .ops = ops };
	const struct pmu *damaged = NULL;
	int err = 0;

	for (size_t i = 0; i < pmus->nr && !err; i++) {
		const struct pmu *pmu = &pmus->pmus[i];

		if (!counter_rows_have(pmu->kind, set))
			continue;
		if (!pmu->usable)
			damaged = pmu;
		else
			err = open_pmu(&c, pmu, set, d);
	}
	if (!err && !c.nr) {
		err = diag_fail(d, -ENODEV, "no usable PMU that counts memory traffic%s%s%s%s",
				damaged ? ": " : "", damaged ? damaged->name : "",
				damaged ? ": " : "", damaged ? damaged->problem : "");
		diag_help(d, "\"t410trace list\" shows what was found");
	}
	if (err) {
		counters_close(&c);
		return err;
	}
	*ret = c;
	return 0;
}

void counters_close(struct counters *c)
{
	if (!c)
		return;
	if (c->nr)
		perf_events_close(c->ops, c->fds, c->nr);
	free(c->attrs);
	free(c->items);
	free(c->fds);
	free(c->scales);
	free(c->groups);
	free(c->sockets);
	*c = (struct counters){ 0 };
}
