// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "platform/perf_events.h"

/* Events of one PMU take turns every few milliseconds (perf_event_mux_interval_ms). */
#define TURN_NS 5000000
#define TURNS	10

#define UCF_DOC "T410 PMU guide, UCF; driver nvidia_cspmu.c"

/*
 * Bytes that left the system level cache for memory, by who started them. Filters
 * of one event are disjoint, so that the three sources add up to the socket.
 */
const struct counter_row counter_rows[] = {
	{ PMU_UCF, "mem_bytes_rd", "src_loc_cpu", SOURCE_CPU, DIRECTION_READ, UCF_DOC },
	{ PMU_UCF, "mem_bytes_wr", "src_loc_cpu", SOURCE_CPU, DIRECTION_WRITE, UCF_DOC },
	{ PMU_UCF, "mem_bytes_rd", "src_loc_noncpu", SOURCE_DEVICE, DIRECTION_READ, UCF_DOC },
	{ PMU_UCF, "mem_bytes_wr", "src_loc_noncpu", SOURCE_DEVICE, DIRECTION_WRITE, UCF_DOC },
	{ PMU_UCF, "mem_bytes_rd", "src_rem", SOURCE_REMOTE, DIRECTION_READ, UCF_DOC },
	{ PMU_UCF, "mem_bytes_wr", "src_rem", SOURCE_REMOTE, DIRECTION_WRITE, UCF_DOC },
};
const size_t nr_counter_rows = ARRAY_SIZE(counter_rows);

static int row_attr(const struct pmu *pmu, const struct counter_row *row, struct diag *d,
		    struct perf_event_attr *ret)
{
	struct pmu_term term = { .value = 1 };
	struct pmu_config config;
	int err;

	str_copy(term.name, sizeof(term.name), row->filter);
	err = pmu_encode(pmu, row->event, &term, 1, d, &config);
	if (err)
		return err;
	*ret = (struct perf_event_attr){
		.size = sizeof(*ret),
		.type = pmu->type,
		.config = config.config,
		.config1 = config.config1,
		.config2 = config.config2,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	return 0;
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

/* All events in groups of at most @size; -EBUSY if they would never count. */
static int open_groups(const struct perf_event_attr *attrs, size_t nr, int cpu, bool pinned,
		       size_t size, int *fds)
{
	for (size_t i = 0; i < nr; i += size) {
		size_t n = nr - i < size ? nr - i : size;
		int got = perf_group_open(&perf_kernel, attrs + i, n, cpu, pinned, fds + i);
		int err = got < 0 ? got : 0;

		if (!err && (size_t)got < n)
			err = -EINVAL;
		if (!err)
			err = perf_kernel.enable(fds[i]);
		if (!err && pinned && !is_running(fds[i]))
			err = -EBUSY;
		/* Single events cannot be made smaller: they wait until others let go. */
		if (!err && !pinned && size > 1 && !i && !gets_a_turn(fds[0]))
			err = -EBUSY;
		if (err) {
			perf_events_close(&perf_kernel, fds, i + (got > 0 ? got : 0));
			return err;
		}
	}
	return 0;
}

/*
 * How many events one group can hold; the probe is closed again. Groups are then
 * made equally large, so that they get equal turns of equal worth.
 */
static int group_size(const struct perf_event_attr *attrs, size_t nr, int cpu, int *fds)
{
	int fit = perf_group_open(&perf_kernel, attrs, nr, cpu, false, fds);
	int groups;

	if (fit <= 0)
		return fit;
	perf_events_close(&perf_kernel, fds, fit);
	groups = (nr + fit - 1) / fit;
	return (nr + groups - 1) / groups;
}

static int add_groups(struct counters *c, uint32_t socket, uint32_t first, size_t nr, size_t size)
{
	for (size_t i = 0; i < nr; i += size) {
		size_t n = nr - i < size ? nr - i : size;

		if (array_room(c->groups, c->cap_groups, c->nr_groups))
			return -ENOMEM;
		for (size_t k = 0; k < n; k++)
			c->items[first + i + k].group = c->nr_groups;
		c->groups[c->nr_groups++] = (struct group){ socket, first + i, n };
	}
	return 0;
}

static int add_items(struct counters *c, const struct pmu *pmu)
{
	for (size_t i = 0; i < nr_counter_rows; i++) {
		const struct counter_row *row = &counter_rows[i];
		struct counter *item;
		int *fds;

		if (row->kind != pmu->kind)
			continue;
		if (array_room(c->items, c->cap, c->nr))
			return -ENOMEM;
		fds = reallocarray(c->fds, c->cap, sizeof(*fds));
		if (!fds)
			return -ENOMEM;
		c->fds = fds;
		c->fds[c->nr] = -1;
		item = &c->items[c->nr++];
		*item = (struct counter){
			.socket = pmu->socket,
			.source = row->source,
			.direction = row->direction,
		};
		snprintf(item->name, sizeof(item->name), "%s%d/%s/%s=1", pmu->family->short_name,
			 pmu->socket, row->event, row->filter);
		str_copy(item->pmu, sizeof(item->pmu), pmu->name);
		str_copy(item->event, sizeof(item->event), row->event);
		str_copy(item->filter, sizeof(item->filter), row->filter);
	}
	return 0;
}

static int open_pmu(struct counters *c, const struct pmu *pmu, struct diag *d)
{
	struct perf_event_attr attrs[32];
	uint32_t first = c->nr, socket = c->nr_sockets;
	size_t nr = 0, size;
	bool pinned;
	int err;

	for (size_t i = 0; i < nr_counter_rows && nr < ARRAY_SIZE(attrs); i++) {
		if (counter_rows[i].kind != pmu->kind)
			continue;
		err = row_attr(pmu, &counter_rows[i], d, &attrs[nr++]);
		if (err)
			return err;
	}
	if (add_items(c, pmu) || array_room(c->sockets, c->cap_sockets, c->nr_sockets))
		return diag_fail(d, -ENOMEM, "out of memory");
	err = group_size(attrs, nr, pmu->active_cpu, c->fds + first);
	if (err <= 0)
		return open_problem(pmu, counter_rows[0].event, err, d);
	size = err;
	/* Pinned only if all fit at once: pinned groups never take turns. */
	pinned = size == nr;
	err = open_groups(attrs, nr, pmu->active_cpu, pinned, size, c->fds + first);
	while (err == -EBUSY) {
		if (!pinned)
			size = (size + 1) / 2;
		pinned = false;
		err = open_groups(attrs, nr, pmu->active_cpu, pinned, size, c->fds + first);
	}
	if (err)
		return open_problem(pmu, counter_rows[0].event, err, d);
	if (add_groups(c, socket, first, nr, size))
		return diag_fail(d, -ENOMEM, "out of memory");
	c->sockets[c->nr_sockets++] =
		(struct socket_counters){ pmu->socket, pmu, pmu->active_cpu, pinned, first, nr };
	return 0;
}

int counters_open(const struct pmu_list *pmus, struct diag *d, struct counters *ret)
{
	struct counters c = { 0 };
	const struct pmu *damaged = NULL;
	int err = 0;

	for (size_t i = 0; i < pmus->nr && !err; i++) {
		const struct pmu *pmu = &pmus->pmus[i];

		if (pmu->kind != PMU_UCF)
			continue;
		if (!pmu->usable)
			damaged = pmu;
		else
			err = open_pmu(&c, pmu, d);
	}
	if (!err && !c.nr) {
		err = diag_fail(d, -ENODEV, "no usable UCF PMU%s%s%s%s", damaged ? ": " : "",
				damaged ? damaged->name : "", damaged ? ": " : "",
				damaged ? damaged->problem : "");
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
	free(c->groups);
	free(c->sockets);
	*c = (struct counters){ 0 };
}
