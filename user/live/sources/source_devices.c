// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Devices of a run (-D): their choice, their counters, and the kernel's settings for their disks
 * and interfaces.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "live/sources/device_io.h"
#include "live/sources/device_windows.h"
#include "live/sources/source.h"
#include "platform/meter/device_shares.h"
#include "platform/meter/meter.h"
#include "tables/link_rows.h"
#include "trace/header.h"

/* Hotplug is checked this often. */
#define REFRESH_NS NS_PER_S
/* Requests of a device wait for the end of its window, but not for an hour. */
#define INNER_NS   (5 * NS_PER_S)

struct devices {
	const struct source_context *c;
	struct pci_map *map;
	struct topology topology;
	struct device_list list;
	struct device_plan plan;
	struct meter *meter; /* NULL: nothing is counted */
	struct device_windows *windows;
	struct device_shares *shares;
	struct device_io *io;
	uint32_t first_group; /* in the layout; counters of memory come before */
	uint32_t first_probe;
	bool *reported_held; /* by group of the plan */
	uint64_t next_refresh_ns;
	uint64_t marked_ns;
	uint64_t ended_ns; /* see source_must_read() */
	uint64_t changes;
};

__attribute__((format(printf, 2, 3))) static void say(const struct devices *l, const char *fmt, ...)
{
	char text[512];
	va_list args;

	if (!l->c->log)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text) - 1, fmt, args);
	va_end(args);
	str_append(text, sizeof(text), "\n");
	l->c->log(text);
}

static const char *name_of(const struct device *d)
{
	return d->name[0] ? d->name : d->bdf;
}

/* --- setup */

/* A GPU whose driver is loaded is bound to it. */
static const char *gpu_driver(const struct devices *l)
{
	const char *found = NULL;

	for (size_t i = 0; i < l->list.nr && !found; i++)
		found = device_gpu_driver(&l->topology.functions[l->list.items[i].function]);
	return found;
}

static int check(void *s, struct source_context *c, struct diag *d)
{
	struct devices *l = s;
	struct topology_source source = {
		.sysfs = c->sysfs,
		.platform = pmu_list_platform(c->pmus),
	};
	int err = 0;

	l->c = c;
	if (c->args->pci_map)
		err = pci_map_read(c->args->pci_map, d, &l->map);
	source.map = l->map;
	if (!err)
		err = topology_read(&source, d, &l->topology);
	if (!err)
		err = devices_select(&l->topology, c->sysfs, c->args->devices.items,
				     c->args->devices.nr, d, &l->list);
	if (!err)
		c->gpu_driver = gpu_driver(l);
	return err;
}

/*
 * Counters of links beside those of memory: where these take turns already, more of them would cost
 * the rows of tasks.
 */
static const char *no_fabric(const struct devices *l)
{
	const struct counters *k = l->c->counters;

	for (size_t i = 0; k && i < k->nr_pmus; i++)
		if (link_is_fabric(k->pmus[i].pmu->kind) && !k->pmus[i].pinned)
			return "the counters of the UCF take turns already (by destination, or "
			       "others use them)";
	return NULL;
}

static struct device_plan_options plan_options(const struct devices *l, const struct pmu_list *pmus)
{
	const struct layout *layout = &l->c->header->layout;

	return (struct device_plan_options){
		.devices = &l->list,
		.pmus = pmus,
		.socket_ids = layout->socket_ids,
		.nr_sockets = layout->nr_sockets,
		.by_destination = l->c->args->by_destination,
		.latencies = l->c->args->read_budget > 0,
		.no_fabric = no_fabric(l),
	};
}

/* Each PMU's capacity, from the order of first wants to the order of the list. */
static int find_capacities(const struct devices *l, struct diag *d, struct plan_capacity *ret)
{
	const struct pmu_list *pmus = l->c->pmus;
	const struct want_list *wants = &l->plan.wants;
	cleanup_free struct plan_capacity *capacities = calloc(wants->nr + 1, sizeof(*capacities));
	size_t nr = 0;
	int err = capacities ? meter_capacities(wants, l->c->sysfs, d, capacities)
			     : diag_no_memory(d);

	if (err)
		return err;
	for (size_t i = 0; i < pmus->nr; i++)
		ret[i] = (struct plan_capacity){ UINT32_MAX, 1 };
	for (size_t i = 0; i < wants->nr; i++) {
		size_t k = 0;

		while (wants->wants[k].pmu != wants->wants[i].pmu)
			k++;
		if (k == i)
			ret[wants->wants[i].pmu - pmus->pmus] = capacities[nr++];
	}
	return 0;
}

/* Two plans: one for the wish, then one with the existing counters. */
static int make_plan(struct devices *l, struct diag *d)
{
	const struct pmu_list *pmus = l->c->pmus;
	cleanup_free struct plan_capacity *capacities = calloc(pmus->nr + 1, sizeof(*capacities));
	struct device_plan_options o = plan_options(l, l->c->args->no_counters ? NULL : pmus);
	int err = capacities ? device_plan_make(&o, d, &l->plan) : diag_no_memory(d);

	if (err || !l->plan.wants.nr)
		return err;
	err = find_capacities(l, d, capacities);
	if (err)
		return err;
	device_plan_free(&l->plan);
	o.capacities = capacities;
	return device_plan_make(&o, d, &l->plan);
}

/* Without counters: tasks that make devices move data can be noted all the same. */
static int go_without(struct devices *l, const struct diag *why)
{
	struct device_plan_options o = plan_options(l, NULL);
	struct diag d = { 0 };
	int err;

	device_plan_free(&l->plan);
	err = device_plan_make(&o, &d, &l->plan);
	return err ? err
		   : text_list_print(&l->plan.notes, "devices are not counted: %s%s%s", why->what,
				     why->help[0] ? "; " : "", why->help);
}

static int open_meter(struct devices *l, struct diag *d)
{
	struct meter_options o = {
		.budget = l->c->args->read_budget > 0 ? l->c->args->read_budget : RUN_READ_BUDGET,
		.turn_ns = SOURCE_TURN_NS,
		.interval_ns = l->c->args->interval_ns,
		.weighed = true,
		.read_ns = SOURCE_TURN_NS,
		.counted = l->c->counters->pmus,
		.nr_counted = l->c->counters->nr_pmus,
	};
	int err = meter_open(&l->plan.wants, l->c->sysfs, &o, d, &l->meter);

	if (err)
		return err;
	l->reported_held = calloc(l->plan.nr_groups + 1, sizeof(*l->reported_held));
	err = l->reported_held ? device_shares_new(&l->plan, l->meter, &l->shares) : -ENOMEM;
	if (err)
		return diag_error(d, err, "cannot prepare the counters of devices");
	for (size_t g = 0; g < l->plan.nr_groups; g++) {
		const struct counter *c = &l->plan.counters[l->plan.groups[g].first];
		int why = meter_refused(l->meter, l->plan.counter_wants[l->plan.groups[g].first]);

		if (why && text_list_print(&l->plan.notes, "%s: %s cannot be counted: %s",
					   name_of(&l->plan.devices[c->device - 1]), c->event,
					   strerror(-why)))
			return diag_no_memory(d);
	}
	return 0;
}

static int count_devices(struct devices *l, struct diag *d)
{
	int err = make_plan(l, d);

	if (!err && l->plan.wants.nr)
		err = open_meter(l, d);
	if (!err || err == -ENOMEM)
		return err;
	meter_close(l->meter);
	l->meter = NULL;
	err = go_without(l, d);
	d->what[0] = d->help[0] = '\0';
	return err ? diag_error(d, err, "cannot go on without the counters of devices") : 0;
}

/* As many latencies as a trace can hold beside this many counters. */
static int limit_probes(struct devices *l, size_t counters)
{
	const struct trace_header *h = l->c->header;
	size_t max = TRACE_MAX_PROBES;

	if (counters && TRACE_MAX_LINKS / counters < max)
		max = TRACE_MAX_LINKS / counters;
	max = max > h->nr_probes ? max - h->nr_probes : 0;
	if (l->plan.nr_probes <= max)
		return 0;
	l->plan.nr_probes = max;
	return text_list_print(&l->plan.notes,
			       "latencies of the first %zu devices only: a trace has no room for "
			       "more",
			       max);
}

/* Layout, probes and devices: existing ones come first, as the feed expects. */
static int extend_header(struct devices *l)
{
	const struct device_plan *p = &l->plan;
	struct trace_header *h = l->c->header;
	cleanup_free struct group *groups = calloc(p->nr_groups + 1, sizeof(*groups));

	if (!groups || limit_probes(l, h->layout.nr_counters + p->nr_counters))
		return -ENOMEM;
	for (size_t i = 0; i < p->nr_groups; i++)
		groups[i] = (struct group){
			.socket = p->counters[p->groups[i].first].socket,
			.first = p->groups[i].first,
			.nr = p->groups[i].nr,
		};
	l->first_group = h->layout.nr_groups;
	l->first_probe = h->nr_probes;
	if (header_add_counters(h, p->counters, p->nr_counters, groups, p->nr_groups) ||
	    header_add_latencies(h, p->probes, p->nr_probes))
		return -ENOMEM;
	for (size_t i = 0; i < p->nr_devices; i++)
		h->c2c |= p->devices[i].kind == DEVICE_LINK;
	return header_add_devices(h, p->devices, p->nr_devices);
}

static int make_windows(struct devices *l)
{
	cleanup_free uint32_t *pmus = calloc(l->plan.wants.nr + 1, sizeof(*pmus));
	struct device_windows_options o = {
		.plan = &l->plan,
		.pmus = pmus,
		.first_group = l->first_group,
		.first_probe = l->first_probe,
		.out = *l->c->out,
	};

	if (!pmus)
		return -ENOMEM;
	for (size_t i = 0; i < l->plan.wants.nr; i++)
		pmus[i] = meter_pmu(l->meter, i);
	return device_windows_new(&o, &l->windows);
}

static bool wanted(const struct run_options *args)
{
	return args->devices.nr > 0;
}

/*
 * A device that cannot be counted is no error: its requests are noted all the same. Neither is a
 * run without any PMU.
 */
static int open_all(void *s, struct source_context *c, struct diag *d)
{
	struct devices *l = s;
	int err;

	c->ledger_options.io = true;
	err = count_devices(l, d);
	if (!err && extend_header(l))
		err = diag_no_memory(d); /* nothing else can fail there */
	return err;
}

static void free_all(void *s)
{
	struct devices *l = s;

	device_shares_free(l->shares);
	device_windows_free(l->windows);
	device_io_free(l->io);
	meter_close(l->meter);
	device_plan_free(&l->plan);
	devices_free(&l->list);
	topology_free(&l->topology);
	pci_map_free(l->map);
	free(l->reported_held);
}

/* Kinds of which only open nodes tell who uses them. */
static bool has_no_requests(enum device_kind kind)
{
	return kind == DEVICE_GPU || kind == DEVICE_RDMA || kind == DEVICE_VFIO;
}

static int attach(void *s, struct diag *d)
{
	struct devices *l = s;
	struct trace_header *h = l->c->header;
	int err = device_io_new(&l->list, l->c->ledger, l->c->cgroups, &l->c->args->ignored_holders,
				l->c->out, l->c->feed, &l->io);

	if (err)
		return diag_error(d, err, "cannot look for users of devices in /proc");
	/* Behind the items there are ports, which have no requests. */
	for (size_t i = 0; i < h->nr_devices; i++)
		h->devices[i].io =
			i < l->list.nr ? device_io_noted(l->io, i, h->devices[i].kind) : IO_NONE;
	/* Older programs read a recording that does not announce it. */
	for (size_t i = 0; i < l->list.nr; i++)
		h->holders |= l->list.items[i].nr_nodes && has_no_requests(h->devices[i].kind);
	if (h->holders)
		device_io_tell(l->io);
	err = l->meter ? make_windows(l) : 0;
	return err ? diag_error(d, err, "cannot prepare the windows of devices") : 0;
}

/* --- while it runs */

static int on_segment(void *arg, const struct stat_segment *s)
{
	struct devices *l = arg;

	device_shares_segment(l->shares, s);
	return device_windows_segment(l->windows, s);
}

static struct meter_sink sink_of(struct devices *l)
{
	return (struct meter_sink){ .segment = on_segment, .arg = l };
}

static int start(void *s, struct diag *d)
{
	struct devices *l = s;
	uint64_t now;
	int err = 0;

	/* Counts up to now are in no interval. */
	if (l->meter) {
		const struct meter_sink sink = sink_of(l);

		err = meter_read(l->meter, true, &sink, d);
		meter_turns_restart(l->meter);
	}
	now = monotonic_ns();
	if (l->windows)
		device_windows_begin(l->windows, now);
	l->next_refresh_ns = now + REFRESH_NS;
	device_io_start(l->io, now);
	return err;
}

static uint64_t next_ns(const void *s)
{
	const struct devices *l = s;

	return l->meter ? meter_next_ns(l->meter) : UINT64_MAX;
}

/* Do what a new run would do with a device that is no longer alone. */
static const char *next_time(const struct devices *l, size_t device)
{
	const struct device_plan *p = &l->plan;

	for (size_t i = 0; i < p->nr_counters; i++)
		if (p->counters[i].device == device + 1 &&
		    p->wants.wants[p->counter_wants[i]].pmu->family->one_port)
			return "its port counted as a whole";
	return "it counted by its requester id";
}

/* A port mask would count the port's other devices as well: absent is better than wrong. */
static void stop_crowded(struct devices *l)
{
	for (size_t i = 0; i < l->list.nr && l->windows; i++) {
		const struct device *device = &l->plan.devices[i];

		if (device->filter != DEVICE_BY_PORT || l->list.items[i].alone ||
		    !device_windows_stop(l->windows, i))
			continue;
		say(l,
		    "%s is no longer alone below its root port and not counted from now on; start "
		    "again to have %s",
		    name_of(device), next_time(l, i));
	}
}

static void on_change(void *arg, const struct device_change *c)
{
	struct devices *l = arg;

	l->changes++;
	say(l, "%s", c->text);
	if (c->item < l->list.nr && c->kind != DEVICE_CROWD)
		device_io_changed(l->io, c->item);
}

static int refresh(struct devices *l, struct diag *d)
{
	uint64_t now = monotonic_ns(), changes = l->changes;
	int err;

	if (now < l->next_refresh_ns)
		return 0;
	l->next_refresh_ns = now + REFRESH_NS;
	/* A failed reading may work again in a second; until then the old values hold. */
	devices_refresh(&l->list, l->c->sysfs, on_change, l);
	if (l->changes == changes)
		return 0;
	stop_crowded(l);
	err = device_io_remap(l->io);
	return err ? diag_error(d, err, "cannot follow devices that changed") : 0;
}

/* Once for each PMU: other users have its counters. */
static void report_held(struct devices *l)
{
	for (size_t g = 0; g < l->plan.nr_groups && l->windows; g++) {
		const struct counter *c = &l->plan.counters[l->plan.groups[g].first];
		bool reported = l->reported_held[g];

		if (reported || !device_windows_held(l->windows, g))
			continue;
		l->reported_held[g] = true;
		for (size_t k = 0; k < l->plan.nr_groups; k++)
			reported |= k != g && l->reported_held[k] &&
				    !strcmp(l->plan.counters[l->plan.groups[k].first].pmu, c->pmu);
		if (!reported)
			say(l, "others are using %s: its devices are not counted meanwhile",
			    c->pmu);
	}
}

/* Errors of the sink are passed on unchanged, and without text. */
static int stepped(struct devices *l, int err, struct diag *d)
{
	report_held(l);
	if (!err)
		return refresh(l, d);
	d->what[0] = '\0';
	return err;
}

static int step(void *s, struct diag *d)
{
	struct devices *l = s;
	uint64_t now = monotonic_ns();
	int err = 0;

	if (l->meter && now >= meter_next_ns(l->meter)) {
		const struct meter_sink sink = sink_of(l);

		err = meter_step(l->meter, now, &sink, d);
	}
	if (!err)
		err = device_io_look(l->io, now, false);
	return stepped(l, err, d);
}

static int mark(void *s, enum mark_kind kind, struct diag *d)
{
	struct devices *l = s;
	uint64_t now = monotonic_ns();
	bool last = kind == MARK_LAST, must;
	int err = 0;

	if (kind == MARK_INNER && now < l->marked_ns + INNER_NS)
		return 0;
	l->marked_ns = now;
	must = source_must_read(kind, now, &l->ended_ns);
	if (l->meter) {
		const struct meter_sink sink = sink_of(l);

		err = meter_read(l->meter, must, &sink, d);
	}
	if (!err && l->windows)
		err = device_windows_fill(l->windows, now, last ? monotonic_ns() : 0);
	if (!err)
		err = device_io_look(l->io, monotonic_ns(), true);
	return stepped(l, err, d);
}

static void quality(const void *s, struct quality *ret)
{
	const struct devices *l = s;

	ret->device_changes = l->changes;
	if (!l->windows)
		return;
	ret->device_held_ns = device_windows_held(l->windows, DEVICE_WINDOWS_ALL);
	ret->bad_records += device_windows_bad(l->windows);
}

static const char *note(const void *s, size_t i)
{
	const struct devices *l = s;

	if (i < l->plan.notes.nr)
		return l->plan.notes.items[i];
	return i == l->plan.notes.nr && device_io_note(l->io)[0] ? device_io_note(l->io) : NULL;
}

static void describe(const void *s, size_t i, char *ret_text, size_t size)
{
	size_t nr[NR_DEVICE_FILTERS] = { 0 }, sharing = 0;
	const struct devices *l = s;
	size_t turns = l->meter ? meter_turning(l->meter) : 0;

	if (i)
		return;
	for (size_t k = 0; k < l->list.nr; k++) {
		const struct device *device = &l->plan.devices[k];

		nr[device->filter]++;
		sharing += device->filter == DEVICE_NOT_COUNTED && device->port;
	}
	str_append(ret_text, size,
		   "%zu device%s: %zu counted by port, %zu by requester id, %zu by requests only",
		   l->list.nr, l->list.nr == 1 ? "" : "s", nr[DEVICE_BY_PORT], nr[DEVICE_BY_ID],
		   nr[DEVICE_NOT_COUNTED] - sharing);
	if (sharing)
		str_append(ret_text, size, ", %zu with others below a port", sharing);
	if (turns)
		str_append(ret_text, size,
			   "; turns of %g ms, or longer to keep the budget, on %zu PMU%s",
			   SOURCE_TURN_NS / 1e6, turns, turns == 1 ? "" : "s");
}

const struct live_source source_devices = {
	.order = SOURCE_BEFORE,
	.size = sizeof(struct devices),
	.wanted = wanted,
	.check = check,
	.open = open_all,
	.attach = attach,
	.start = start,
	.next_ns = next_ns,
	.step = step,
	.mark = mark,
	.quality = quality,
	.describe = describe,
	.note = note,
	.free = free_all,
};
