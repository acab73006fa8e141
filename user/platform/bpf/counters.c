// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/bpf/counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/open_files.h"
#include "base/text.h"
#include "platform/pmu/fit.h"
#include "platform/pmu/perf_events.h"
#include "platform/pmu/pmu_scale.h"
#include "records.h"
#include "tables/events.h"

/* Events of one PMU take turns every few milliseconds (perf_event_mux_interval_ms). */
#define TURN_NS	      5000000
#define TURNS	      10

/* Events of one PMU; more than any PMU has counters. */
#define MAX_ROWS      32

/* More readers than now may be needed: drivers move PMUs when CPUs go offline. */
#define SPARE_READERS 8
/* Counter of an event that has none yet */
#define NO_COUNTER    UINT32_MAX

static int row_attr(const struct pmu *pmu, const struct counter_row *row, struct diag *d,
		    struct perf_event_attr *ret)
{
	struct pmu_config config;
	int err = pmu_row_config(pmu, row, d, &config);

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

/* A pinned group that cannot run is in the error state: it reads as nothing. */
static bool is_running(const struct perf_ops *ops, int leader)
{
	uint64_t reading[3];

	return ops->read(leader, reading, ARRAY_SIZE(reading)) == sizeof(reading);
}

/*
 * Groups that are not pinned take turns with other users' events. One that is larger than the space
 * left by other users' pinned events never gets a turn.
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
 * Lengths of groups of at most @size. CPU traffic stays together as far as it fits, so that the
 * parts of a workload are from the same moments; the rest follows. Each is divided equally, for
 * turns of equal value.
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

/* Attributes of a PMU's events: with @wait they take turns when other users hold the counters. */
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
		/* Single events cannot be split: they wait until other users release counters. */
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

/* The number of events that one group can hold; closes its probe again. */
static int group_size(const struct perf_ops *ops, const struct perf_event_attr *attrs, size_t nr,
		      int cpu, int *fds)
{
	int fit = perf_group_open(ops, attrs, nr, cpu, false, fds);

	if (fit > 0)
		perf_events_close(ops, fds, fit);
	return fit;
}

/* --- opening the events of each PMU */

/* A PMU's rows, ready for opening. */
struct found {
	struct perf_event_attr attrs[MAX_ROWS];
	struct counter items[MAX_ROWS]; /* with a source and an event */
	int fds[MAX_ROWS];
	size_t lengths[MAX_ROWS];
};

static int add_event(struct counters *c, const struct pmu *pmu, const struct counter_row *row,
		     const char *name, const struct perf_event_attr *attr, struct diag *d)
{
	struct bytes_ratio scale = pmu_row_bytes(row, pmu_event_find(pmu, name));

	if (!scale.bytes)
		return diag_fail(d, -ENODATA,
				 "%s/%s/: sysfs does not say how many bytes a count is", pmu->name,
				 name);
	if (array_reserve(c->events, c->cap_events, c->nr_events))
		return diag_no_memory(d);
	c->events[c->nr_events++] = (struct counted_event){
		.row = row, .attr = *attr, .fd = -1, .counter = NO_COUNTER, .scale = scale
	};
	return 0;
}

/* A PMU's rows of a set, as events and as attributes; returns their number. */
static int add_rows(struct counters *c, const struct pmu *pmu, unsigned int set, struct diag *d,
		    struct found *f)
{
	const struct counter_row *row;
	char name[PMU_NAME_LEN];
	size_t nr = 0;
	int err = 0;

	for (size_t i = 0; !err && (row = counter_row_at(i)); i++) {
		if (row->kind != pmu->kind || !(row->sets & set))
			continue;
		err = event_on_socket(row->event, pmu->socket, name, sizeof(name));
		if (!err && row->optional && !row->terms && !pmu_event_find(pmu, name))
			continue;
		if (err || nr == MAX_ROWS)
			return diag_fail(d, err ? err : -E2BIG, "%s: too many or too long events",
					 pmu->name);
		f->items[nr].source = row->source;
		str_copy(f->items[nr].event, sizeof(f->items[nr].event), name);
		err = row_attr(pmu, row, d, &f->attrs[nr]);
		if (!err)
			err = add_event(c, pmu, row, name, &f->attrs[nr++], d);
	}
	return err ? err : (int)nr;
}

/* All events that fit at the same time, pinned; otherwise in groups that take turns. */
static int open_found(const struct perf_ops *ops, const struct pmu *pmu, size_t nr, struct found *f,
		      bool *ret_pinned)
{
	struct how how = { .cpu = pmu->active_cpu };
	int fit = group_size(ops, f->attrs, nr, how.cpu, f->fds), err;
	size_t nr_groups, size = fit;

	if (fit <= 0)
		return fit ? fit : -EINVAL;
	nr_groups = counters_groups(f->items, nr, size, f->lengths);
	/* Pinned only if all fit at once: pinned groups never take turns. */
	how.pinned = nr_groups == 1;
	err = open_groups(ops, f->attrs, f->lengths, nr_groups, &how, f->fds);
	while (err == -EBUSY) {
		if (!how.pinned)
			size = (size + 1) / 2;
		how.pinned = false;
		nr_groups = counters_groups(f->items, nr, size, f->lengths);
		err = open_groups(ops, f->attrs, f->lengths, nr_groups, &how, f->fds);
	}
	*ret_pinned = how.pinned;
	return err;
}

/* The index of a PMU's socket; the first PMU tells which CPUs are on it. */
static int socket_of(struct counters *c, const struct pmu *pmu, uint32_t *ret)
{
	for (*ret = 0; *ret < c->nr_sockets; ++*ret)
		if (c->sockets[*ret].id == pmu->socket)
			return 0;
	if (array_reserve(c->sockets, c->cap_sockets, c->nr_sockets))
		return -ENOMEM;
	c->sockets[c->nr_sockets++] = (struct counted_socket){
		pmu->socket, pmu->family->socket_by == PMU_SOCKET_BY_NAME ? &pmu->cpus : NULL
	};
	return 0;
}

static int open_pmu(struct counters *c, const struct pmu *pmu, unsigned int set, struct diag *d)
{
	struct counted_pmu counted = { pmu, pmu->active_cpu, .first = c->nr_events };
	struct found *f = calloc(1, sizeof(*f));
	int err, nr = f ? add_rows(c, pmu, set, d, f) : -ENOMEM;
	size_t at = counted.first;

	err = nr < 0 ? nr : 0;
	if (!f || (!err && (array_reserve(c->pmus, c->cap_pmus, c->nr_pmus) ||
			    socket_of(c, pmu, &counted.socket))))
		err = diag_no_memory(d);
	if (!err && nr) {
		err = open_found(c->ops, pmu, nr, f, &counted.pinned);
		if (err)
			open_problem(pmu, f->items[0].event, err, d);
	}
	for (size_t g = 0; !err && at < c->nr_events; g++)
		for (size_t k = 0; k < f->lengths[g]; k++, at++) {
			c->events[at].fd = f->fds[at - counted.first];
			c->events[at].turn = g;
		}
	counted.nr = nr;
	if (!err && nr)
		c->pmus[c->nr_pmus++] = counted;
	free(f);
	return err;
}

/*
 * As open_pmu(), but a failing PMU is left out as if it did not exist; its socket may still be
 * learned from it. Without @memory there is nothing else to count, and it fails.
 */
static int open_energy(struct counters *c, const struct pmu *pmu, unsigned int set, bool memory,
		       struct diag *d)
{
	uint32_t events = c->nr_events;
	struct diag own = { 0 };
	int err;

	if (!memory)
		return open_pmu(c, pmu, set, d);
	err = open_pmu(c, pmu, set, &own);
	if (err == -ENOMEM)
		return diag_no_memory(d);
	if (!err)
		return 0;
	c->nr_events = events;
	snprintf(c->no_energy, sizeof(c->no_energy), "energy is not counted: %s", own.what);
	return 0;
}

/* --- counters that are sums of events */

/* Are the two read at the same time and added up? */
static bool summed(const struct counted_pmu *a, const struct counted_pmu *b)
{
	return a == b || (a->pinned && b->pinned && a->cpu == b->cpu && a->socket == b->socket &&
			  a->pmu->kind == b->pmu->kind);
}

/* The first of the PMUs that are summed with this one. */
static bool is_first(const struct counters *c, size_t p)
{
	for (size_t i = 0; i < p; i++)
		if (summed(&c->pmus[i], &c->pmus[p]))
			return false;
	return true;
}

/* "uncore_imc_0-7": the names of all PMUs that are summed with this one. */
static void put_pmu_names(const struct counters *c, const struct counted_pmu *p,
			  char ret[sizeof(((struct counter *)NULL)->pmu)])
{
	const size_t size = sizeof(((struct counter *)NULL)->pmu);
	size_t before = strcspn(p->pmu->family->pattern, "<");
	struct cpulist numbers = { 0 };
	char text[CPULIST_TEXT_LEN];
	size_t nr = 0;

	for (size_t i = 0; i < c->nr_pmus; i++) {
		uint32_t n = c->pmus[i].pmu->instance;

		if (!summed(&c->pmus[i], p))
			continue;
		nr++;
		cpulist_set(&numbers, n, true);
	}
	str_copy(ret, size, p->pmu->name);
	if (nr == 1)
		return;
	if (!strstr(p->pmu->family->pattern, "<n>") || cpulist_count(&numbers) != nr ||
	    cpulist_format(&numbers, text, sizeof(text)) || before + strlen(text) >= size)
		str_copy(text, sizeof(text), "*");
	snprintf(ret, size, "%.*s%.40s", (int)before, p->pmu->family->pattern, text);
}

/* "imc0", or where the socket has several such sums "imc0.3", or "imc0.cpu24" for one CPU's. */
static void put_name(const struct counters *c, const struct counted_pmu *p, char *ret, size_t size)
{
	size_t sums = 0, members = 0, same = 0;

	for (size_t i = 0; i < c->nr_pmus; i++) {
		const struct counted_pmu *o = &c->pmus[i];
		bool near = o->socket == p->socket && o->pmu->kind == p->pmu->kind;

		members += summed(o, p);
		sums += near && is_first(c, i);
		same += near && o->pmu->instance == p->pmu->instance;
	}
	snprintf(ret, size, "%s%d", p->pmu->family->short_name, p->pmu->socket);
	if (sums > 1 && members == 1 && p->pmu->instance >= 0)
		str_append(ret, size, ".%d", p->pmu->instance);
	if (sums > 1 && (members > 1 || same > 1))
		str_append(ret, size, ".cpu%d", p->cpu);
}

/* Name of a row's counter, the same on all PMUs that are summed. */
static void put_event(const struct counted_pmu *p, const struct counter_row *row, char *ret,
		      size_t size)
{
	event_on_socket(row->sum ? row->sum : row->event, p->pmu->socket, ret, size);
}

static int add_item(struct counters *c, const struct counted_pmu *p, const struct counter_row *row)
{
	struct counter *item;

	if (array_reserve(c->items, c->cap, c->nr))
		return -ENOMEM;
	item = &c->items[c->nr++];
	*item = (struct counter){
		.socket = p->socket,
		.group = c->nr_groups,
		.source = row->source,
		.direction = row->direction,
		.destination = row->destination,
		.unit = row->unit,
	};
	put_event(p, row, item->event, sizeof(item->event));
	put_name(c, p, item->name, sizeof(item->name));
	str_append(item->name, sizeof(item->name), "/%s%s%s", item->event,
		   row->filters[0] ? "/" : "", row->filters);
	put_pmu_names(c, p, item->pmu);
	str_copy(item->filters, sizeof(item->filters), row->filters);
	return 0;
}

/* Do two rows of a PMU belong to one counter? */
static bool same_sum(const struct counter_row *a, const struct counter_row *b)
{
	return a == b || (a->sum && b->sum && !strcmp(a->sum, b->sum));
}

/* A sum that does not fit into a turn becomes several counters, each with its own name. */
static void put_turn(const struct counters *c, const struct counted_pmu *p, uint32_t turn,
		     const struct counter_row *row, struct counter *item)
{
	for (uint32_t e = p->first; e < p->first + p->nr; e++) {
		if (!row->sum || c->events[e].turn >= turn || !same_sum(c->events[e].row, row))
			continue;
		str_append(item->name, sizeof(item->name), "/turn%u", turn);
		return;
	}
}

/* The counter that a row belongs to in this turn, unless the row begins one. */
static int add_row(struct counters *c, const struct counted_pmu *p, uint32_t turn,
		   const struct counter_row *row)
{
	bool added = false;

	for (size_t i = 0; i < c->nr_pmus; i++) {
		const struct counted_pmu *o = &c->pmus[i];

		for (size_t k = o->first; summed(o, p) && k < o->first + o->nr; k++) {
			struct counted_event *e = &c->events[k];

			if (e->turn != turn || e->counter != NO_COUNTER || !same_sum(e->row, row))
				continue;
			if (!added && add_item(c, p, row))
				return -ENOMEM;
			if (!added)
				put_turn(c, p, turn, row, &c->items[c->nr - 1]);
			added = true;
			e->counter = c->nr - 1;
		}
	}
	return 0;
}

static int add_groups(struct counters *c, const struct counted_pmu *p)
{
	uint32_t turns = c->events[p->first + p->nr - 1].turn + 1;
	const struct counter_row *row;

	for (uint32_t turn = 0; turn < turns; turn++) {
		uint32_t first = c->nr;

		if (array_reserve(c->groups, c->cap_groups, c->nr_groups))
			return -ENOMEM;
		for (size_t i = 0; (row = counter_row_at(i)); i++)
			if (row->kind == p->pmu->kind && add_row(c, p, turn, row))
				return -ENOMEM;
		c->groups[c->nr_groups++] =
			(struct group){ p->socket, first, (uint32_t)c->nr - first };
	}
	return 0;
}

static int make_counters(struct counters *c, struct diag *d)
{
	for (size_t i = 0; i < c->nr_pmus; i++)
		if (is_first(c, i) && add_groups(c, &c->pmus[i]))
			return diag_no_memory(d);
	return 0;
}

/* The number of events of a set's rows on all PMUs. */
static size_t nr_wanted(const struct pmu_list *pmus, unsigned int set)
{
	const struct counter_row *row;
	size_t nr = 0;

	for (size_t i = 0; (row = counter_row_at(i)); i++)
		for (size_t p = 0; row->sets & set && p < pmus->nr; p++)
			nr += pmus->pmus[p].kind == row->kind;
	return nr;
}

int counters_open(const struct perf_ops *ops, const struct pmu_list *pmus, unsigned int set,
		  struct diag *d, struct counters *ret)
{
	struct counters c = { .ops = ops };
	const struct pmu *damaged = NULL;
	bool memory = false, counted = false;
	int err = 0;

	c.soft_files = open_files_allow(nr_wanted(pmus, set));
	for (size_t i = 0; i < pmus->nr; i++)
		memory |= counter_rows_have(pmus->pmus[i].kind, set);
	for (size_t i = 0; i < pmus->nr && !err; i++) {
		const struct pmu *pmu = &pmus->pmus[i];

		if (!counter_rows_any(pmu->kind, set) || pmu_replaced_by(pmus, pmu, set))
			continue;
		if (!counter_rows_have(pmu->kind, set))
			err = pmu->usable && pmu->socket >= 0 ? open_energy(&c, pmu, set, memory, d)
							      : 0;
		else if (!pmu->usable || pmu->socket < 0)
			damaged = pmu;
		else
			err = open_pmu(&c, pmu, set, d);
	}
	for (size_t i = 0; i < c.nr_pmus; i++)
		counted |= !memory || counter_rows_have(c.pmus[i].pmu->kind, set);
	/* If such PMUs exist, the user did not mean energy alone. */
	if (!err && !counted) {
		const char *why = !damaged || damaged->problem[0] ? "" : "its socket is unknown";

		err = diag_fail(d, -ENODEV, "no usable PMU that counts memory traffic%s%s%s%s%s",
				damaged ? ": " : "", damaged ? damaged->name : "",
				damaged ? ": " : "", damaged ? damaged->problem : "", why);
		diag_help(d, "\"t410trace list\" shows what was found");
	}
	if (!err)
		err = make_counters(&c, d);
	if (err) {
		counters_close(&c);
		return err;
	}
	*ret = c;
	return 0;
}

/* --- opening again */

bool counters_closed(const struct counters *c, size_t pmu)
{
	return c->events[c->pmus[pmu].first].fd < 0;
}

bool counters_in_group(const struct counters *c, size_t pmu, uint32_t group)
{
	const struct counted_pmu *p = &c->pmus[pmu];

	for (uint32_t e = p->first; e < p->first + p->nr; e++)
		if (c->items[c->events[e].counter].group == group)
			return true;
	return false;
}

/* Does a counter of the PMU also sum events of other PMUs? */
static bool has_company(const struct counters *c, size_t pmu)
{
	for (size_t i = 0; i < c->nr_pmus; i++)
		if (i != pmu &&
		    counters_in_group(c, i, c->items[c->events[c->pmus[pmu].first].counter].group))
			return true;
	return false;
}

/* A PMU's events as they were found; returns the number of groups. */
static size_t found_before(const struct counters *c, const struct counted_pmu *p, struct found *f)
{
	size_t groups = 0;

	for (uint32_t i = 0; i < p->nr; i++) {
		const struct counted_event *e = &c->events[p->first + i];

		f->attrs[i] = e->attr;
		f->fds[i] = e->fd;
		groups = e->turn + 1;
		/* Another descriptor may still hold the old events: stop them at once. */
		if (!f->lengths[e->turn]++ && e->fd >= 0)
			c->ops->disable(e->fd);
	}
	return groups;
}

int counters_reopen(struct counters *c, size_t pmu)
{
	struct counted_pmu *p = &c->pmus[pmu];
	struct how how = { .cpu = p->cpu, .pinned = p->pinned, .wait = true };
	struct found *f = calloc(1, sizeof(*f));
	size_t nr_groups;
	int err;

	if (!f)
		return -ENOMEM;
	nr_groups = found_before(c, p, f);
	perf_events_close(c->ops, f->fds, p->nr);
	err = open_groups(c->ops, f->attrs, f->lengths, nr_groups, &how, f->fds);
	if (err == -EBUSY && how.pinned && !has_company(c, pmu)) {
		how.pinned = p->pinned = false;
		err = open_groups(c->ops, f->attrs, f->lengths, nr_groups, &how, f->fds);
	}
	if (err)
		perf_events_close(c->ops, f->fds, p->nr);
	for (uint32_t i = 0; i < p->nr; i++)
		c->events[p->first + i].fd = f->fds[i];
	free(f);
	return err;
}

/* --- assignment of readers */

static void free_readers(struct counters *c)
{
	for (size_t i = 0; i < c->nr_readers; i++) {
		free(c->readers[i].events);
		free(c->readers[i].fds);
	}
	c->nr_readers = 0;
}

static bool index_taken(const struct counters *c, uint32_t index)
{
	for (size_t i = 0; i < c->nr_readers; i++)
		if (c->readers[i].index == index)
			return true;
	return false;
}

/* The reader on a CPU; the first one on a socket has the socket's index. */
static struct counter_reader *reader_on(struct counters *c, int cpu, uint32_t socket,
					uint32_t nr_sockets)
{
	struct counter_reader *r;
	uint32_t index = socket;

	for (size_t i = 0; i < c->nr_readers; i++)
		if (c->readers[i].cpu == cpu)
			return &c->readers[i];
	if (array_reserve(c->readers, c->cap_readers, c->nr_readers))
		return NULL;
	if (index_taken(c, index))
		for (index = nr_sockets; index_taken(c, index);)
			index++;
	r = &c->readers[c->nr_readers];
	*r = (struct counter_reader){
		.cpu = cpu,
		.index = index,
		.events = calloc(c->nr_events, sizeof(*r->events)),
		.fds = calloc(c->nr_events, sizeof(*r->fds)),
	};
	c->nr_readers++;
	return r->events && r->fds ? r : NULL;
}

int counters_readers(struct counters *c, const uint32_t *cpu_socket, uint32_t nr_cpus,
		     uint32_t nr_sockets, struct diag *d)
{
	uint32_t first = 0, bound = nr_sockets;

	free_readers(c);
	for (size_t i = 0; i < c->nr_pmus; i++) {
		const struct counted_pmu *p = &c->pmus[i];
		struct counter_reader *r;
		uint32_t socket;

		if (p->cpu < 0 || (uint32_t)p->cpu >= nr_cpus)
			return diag_fail(d, -EINVAL, "%s is to be read on CPU %d, which cannot be",
					 p->pmu->name, p->cpu);
		/* A CPU that has just come online may have no socket yet. */
		socket = cpu_socket[p->cpu] < nr_sockets ? cpu_socket[p->cpu] : p->socket;
		r = reader_on(c, p->cpu, socket, nr_sockets);
		if (!r)
			return diag_no_memory(d);
		r->capacity += p->nr;
		for (uint32_t e = p->first; e < p->first + p->nr; e++) {
			if (c->events[e].fd < 0)
				continue;
			r->events[r->nr] = e;
			r->fds[r->nr++] = c->events[e].fd;
		}
	}
	for (size_t i = 0; i < c->nr_readers; i++) {
		struct counter_reader *r = &c->readers[i];

		if (r->capacity > LEDGER_MAX_EVENTS)
			return diag_fail(d, -E2BIG,
					 "%u events are to be read on CPU %d, at most %d "
					 "can be",
					 r->nr, r->cpu, LEDGER_MAX_EVENTS);
		r->first = first;
		first += r->capacity;
		if (r->index >= bound)
			bound = r->index + 1;
	}
	if (!c->max_readers)
		c->max_readers = bound + (c->nr_pmus ? SPARE_READERS : 0);
	if (bound > c->max_readers)
		return diag_fail(d, -E2BIG, "the counters are on %u CPUs, at most %u can be read",
				 (uint32_t)c->nr_readers, c->max_readers - nr_sockets);
	return 0;
}

void counters_close(struct counters *c)
{
	if (!c)
		return;
	/* Siblings go before their leader, which was opened first. */
	for (size_t i = c->nr_events; i--;)
		if (c->events[i].fd >= 0)
			c->ops->close(c->events[i].fd);
	open_files_restore(c->soft_files);
	free_readers(c);
	free(c->items);
	free(c->groups);
	free(c->events);
	free(c->pmus);
	free(c->sockets);
	free(c->readers);
	*c = (struct counters){ 0 };
}
