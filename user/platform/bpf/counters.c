// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/bpf/counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "platform/pmu/perf_events.h"
#include "records.h"

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
static bool is_running(int leader)
{
	uint64_t reading[3];

	return read(leader, reading, sizeof(reading)) == sizeof(reading);
}

/*
 * Groups that are not pinned take turns with the events of others. One that is
 * larger than what pinned events of others leave never gets a turn.
 */
static bool gets_a_turn(int leader)
{
	struct timespec pause = { .tv_nsec = TURN_NS };
	uint64_t reading[3];

	for (int i = 0; i < TURNS; i++) {
		if (read(leader, reading, sizeof(reading)) == sizeof(reading) && reading[2])
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

/* All events in groups; -EBUSY if they would never count. */
static int open_groups(const struct perf_event_attr *attrs, const size_t *lengths, size_t nr,
		       int cpu, bool pinned, int *fds)
{
	size_t first = 0, largest = 0;

	for (size_t i = 0; i < nr; i++)
		if (lengths[i] > lengths[largest])
			largest = i;
	for (size_t i = 0; i < nr; first += lengths[i++]) {
		size_t n = lengths[i];
		int got = perf_group_open(&perf_kernel, attrs + first, n, cpu, pinned, fds + first);
		int err = got < 0 ? got : 0;

		if (!err && (size_t)got < n)
			err = -EINVAL;
		if (!err)
			err = perf_kernel.enable(fds[first]);
		if (!err && pinned && !is_running(fds[first]))
			err = -EBUSY;
		/* Single events cannot be made smaller: they wait until others let go. */
		if (!err && !pinned && n > 1 && i == largest && !gets_a_turn(fds[first]))
			err = -EBUSY;
		if (err) {
			perf_events_close(&perf_kernel, fds, first + (got > 0 ? got : 0));
			return err;
		}
	}
	return 0;
}

/* How many events one group can hold; the probe is closed again. */
static int group_size(const struct perf_event_attr *attrs, size_t nr, int cpu, int *fds)
{
	int fit = perf_group_open(&perf_kernel, attrs, nr, cpu, false, fds);

	if (fit > 0)
		perf_events_close(&perf_kernel, fds, fit);
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

/* The rows of a set for a PMU, as items and as attributes; returns how many. */
static int add_items(struct counters *c, const struct pmu *pmu, unsigned int set, struct diag *d,
		     struct perf_event_attr attrs[LEDGER_MAX_EVENTS])
{
	char event[PMU_NAME_LEN];
	size_t nr = 0;
	int err;

	for (size_t i = 0; i < nr_counter_rows; i++) {
		const struct counter_row *row = &counter_rows[i];

		if (row->kind != pmu->kind || !(row->sets & set))
			continue;
		err = counter_row_event(row, pmu->socket, event, sizeof(event));
		if (!err && row->optional && !pmu_event_find(pmu, event))
			continue;
		if (!err && nr == LEDGER_MAX_EVENTS)
			err = -E2BIG;
		if (err)
			return diag_fail(d, err, "%s: too many or too long events", pmu->name);
		err = row_attr(pmu, row, event, d, &attrs[nr++]);
		if (err)
			return err;
		if (add_item(c, pmu, row, event))
			return diag_fail(d, -ENOMEM, "out of memory");
	}
	return nr;
}

static int open_pmu(struct counters *c, const struct pmu *pmu, unsigned int set, struct diag *d)
{
	struct perf_event_attr attrs[LEDGER_MAX_EVENTS];
	size_t lengths[LEDGER_MAX_EVENTS], size, nr_groups;
	uint32_t first = c->nr, socket = c->nr_sockets;
	bool pinned;
	int err, nr = add_items(c, pmu, set, d, attrs);

	if (nr < 0)
		return nr;
	if (array_room(c->sockets, c->cap_sockets, c->nr_sockets))
		return diag_fail(d, -ENOMEM, "out of memory");
	err = group_size(attrs, nr, pmu->active_cpu, c->fds + first);
	if (err <= 0)
		return open_problem(pmu, c->items[first].event, err, d);
	size = err;
	nr_groups = counters_groups(c->items + first, nr, size, lengths);
	/* Pinned only if all fit at once: pinned groups never take turns. */
	pinned = nr_groups == 1;
	err = open_groups(attrs, lengths, nr_groups, pmu->active_cpu, pinned, c->fds + first);
	while (err == -EBUSY) {
		if (!pinned)
			size = (size + 1) / 2;
		pinned = false;
		nr_groups = counters_groups(c->items + first, nr, size, lengths);
		err = open_groups(attrs, lengths, nr_groups, pmu->active_cpu, pinned,
				  c->fds + first);
	}
	if (err)
		return open_problem(pmu, c->items[first].event, err, d);
	if (add_groups(c, socket, first, lengths, nr_groups))
		return diag_fail(d, -ENOMEM, "out of memory");
	c->sockets[c->nr_sockets++] =
		(struct socket_counters){ pmu->socket, pmu, pmu->active_cpu, pinned, first, nr };
	return 0;
}

int counters_open(const struct pmu_list *pmus, unsigned int set, struct diag *d,
		  struct counters *ret)
{
	struct counters c = { 0 };
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
	perf_events_close(&perf_kernel, c->fds, c->nr);
	free(c->items);
	free(c->fds);
	free(c->scales);
	free(c->groups);
	free(c->sockets);
	*c = (struct counters){ 0 };
}
