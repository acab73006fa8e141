// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Devices of a report, and the shares of rows. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sums.h"
#include "base/text.h"
#include "engine/book/book_rows.h"

/* Numbers this large are rounded; the value lies inside all the same. */
static uint64_t below(uint64_t value, double doubt)
{
	return doubt < (double)value ? value - (uint64_t)doubt : 0;
}

static uint64_t above(uint64_t value, double doubt)
{
	double sum = ceil((double)value + doubt);

	if (!(doubt > 0))
		return value;
	if (sum >= 0x1p64)
		return UINT64_MAX;
	return (uint64_t)sum > value ? (uint64_t)sum : value;
}

static void enter_sum(const struct book *b, uint32_t device, int direction,
		      struct device_bytes *ret)
{
	struct device_sum s = book_device_sum(b, device, direction);

	ret->io_bytes = b->devices[device].io[direction];
	ret->io_valid = ret->io_bytes || device_notes_io(&b->scope.devices[device], direction);
	if (!s.counted)
		return;
	ret->valid = true;
	ret->bytes = s.value;
	ret->low = below(s.value, s.below);
	ret->high = above(s.value, s.above);
	ret->split = true;
}

/* Adds one counter of the device to a direction. */
static void enter_counter(const struct book *b, size_t i, struct device_bytes *ret)
{
	const struct report_counter *c = &b->counters[i];

	if (!c->valid)
		return;
	if (b->roles[i] == ROLE_REQUESTS) {
		ret->requests_valid = true;
		ret->requests += c->value;
	}
	if (b->roles[i] != ROLE_BYTES || !ret->valid)
		return;
	ret->owned += c->attributed;
	ret->to[c->counter->destination] += c->value;
	ret->split &= c->counter->destination != DESTINATION_ANY;
}

static void enter_work(const struct report_counter *c, struct report_device *ret)
{
	for (int i = 0; c->valid && i < NR_WORKS; i++) {
		if (strcmp(c->counter->event, work_name(i)) != 0)
			continue;
		ret->work[i] = c->value;
		ret->work_valid[i] = true;
	}
}

/* A device that took turns with several groups was counted as long as the least of them. */
static void enter_times(const struct rotation *r, bool first, struct report_device *ret)
{
	double least = ret->enabled_ns ? (double)ret->running_ns / ret->enabled_ns : 1;

	if (!first && (!r->enabled_ns || (double)r->running_ns / r->enabled_ns >= least))
		return;
	ret->enabled_ns = r->enabled_ns;
	ret->running_ns = r->running_ns;
	ret->turns = r->turns;
}

static void enter_derived(const struct book *b, uint32_t device, struct report_device *ret)
{
	struct device_bytes *sides[] = { &ret->read, &ret->write };
	const char *why = "";

	for (int k = 0; k < 2; k++) {
		struct book_derived d = book_derive(b, device, k);

		if (!d.known) {
			why = d.why;
			continue;
		}
		ret->how = HOW_DERIVED;
		sides[k]->valid = true;
		sides[k]->bytes = book_derived_value(&d);
		sides[k]->low = d.low;
		sides[k]->high = d.high;
	}
	if (ret->how == HOW_NONE)
		str_copy(ret->why_none, sizeof(ret->why_none), why);
}

static void enter_device(const struct book *b, uint32_t device, struct report_device *ret)
{
	ret->device = &b->scope.devices[device];
	enter_sum(b, device, DIRECTION_READ, &ret->read);
	enter_sum(b, device, DIRECTION_WRITE, &ret->write);
	if (ret->read.valid || ret->write.valid)
		ret->how = HOW_COUNTED;
	else if (book_is_derived(b, device))
		enter_derived(b, device, ret);
	else
		memcpy(ret->why_none, ret->device->why, sizeof(ret->why_none));
	if (b->devices[device].exclusive == EXCLUSIVE_ONE)
		book_row_key(b, &b->devices[device].owner, ret->exclusive);
	ret->shared = b->devices[device].exclusive == EXCLUSIVE_SEVERAL;
}

static void enter_groups(const struct book *b, struct report *r)
{
	const struct layout *l = b->layout;

	for (size_t g = 0; g < l->nr_groups; g++) {
		const struct group *group = &l->groups[g];
		const struct counter *c = &l->counters[group->first];
		struct report_device *d;

		if (!group->nr || !c->device)
			continue;
		d = &r->devices[c->device - 1];
		/* Requests that take turns beside the bytes do not make these less certain. */
		if (b->roles[group->first] == ROLE_BYTES || b->roles[group->first] == ROLE_TERM)
			enter_times(&b->rotations[g], !d->enabled_ns, d);
		for (uint32_t i = group->first; i < group->first + group->nr; i++) {
			if (b->roles[i] == ROLE_WORK)
				enter_work(&b->counters[i], d);
			enter_counter(b, i,
				      l->counters[i].direction == DIRECTION_READ ? &d->read
										 : &d->write);
		}
	}
	for (size_t i = 0; i < r->nr_devices; i++) {
		struct device_bytes *both[] = { &r->devices[i].read, &r->devices[i].write };

		for (int k = 0; k < 2; k++)
			if (!both[k]->split)
				memset(both[k]->to, 0, sizeof(both[k]->to));
	}
}

static void enter_latencies(struct report *r)
{
	for (size_t i = 0; i < r->nr_probes; i++) {
		const struct report_probe *p = &r->probes[i];

		if (!p->valid || !p->probe->device || p->probe->direction != DIRECTION_READ)
			continue;
		r->devices[p->probe->device - 1].latency_valid = true;
		r->devices[p->probe->device - 1].latency_ns = p->latency_ns;
	}
}

/* A port as a whole has short turns: fewer or shorter ones in an interval prove nothing. */
#define LEAST_TURNS    2
#define LEAST_COVERAGE 0.005

static bool counted_enough(const struct report_device *port)
{
	return port->turns >= LEAST_TURNS && port->running_ns >= LEAST_COVERAGE * port->enabled_ns;
}

/* Do the counts below a port add up to the port's own? Turns make both uncertain. */
static void check_port(const struct book *b, uint32_t port, struct report *r)
{
	struct device_sum all = book_device_sum(b, port, ROTATION_BOTH);
	struct report_device *ret = &r->devices[port];
	double down = all.below * all.below, up = all.above * all.above;
	bool any = false;

	/* Without one of the directions it is not all of the port's traffic. */
	if (!ret->read.valid || !ret->write.valid)
		return;
	if (ret->running_ns < ret->enabled_ns && !counted_enough(ret))
		return;
	for (uint32_t i = 0; i < r->nr_devices; i++) {
		struct device_sum s;

		if (b->scope.devices[i].port != port + 1)
			continue;
		s = book_device_sum(b, i, ROTATION_BOTH);
		if (!s.counted)
			continue;
		any = true;
		ret->sum_bytes = sum_capped(ret->sum_bytes, s.value);
		/*
		 * A device that moved more than its value makes the sum too small: the range begins
		 * lower.
		 */
		down += s.above * s.above;
		up += s.below * s.below;
	}
	if (!any)
		return;
	ret->sum_valid = true;
	ret->sum_low = below(all.value, sqrt(down));
	ret->sum_high = above(all.value, sqrt(up));
}

/* --- rows */

static struct row_device *device_of(struct report_row *row, uint32_t device)
{
	size_t at = 0;

	while (at < row->nr_devices && row->devices[at].device < device)
		at++;
	if (at == row->nr_devices || row->devices[at].device != device) {
		struct row_device *more =
			reallocarray(row->devices, row->nr_devices + 1, sizeof(*more));

		if (!more)
			return NULL;
		row->devices = more;
		memmove(more + at + 1, more + at, (row->nr_devices++ - at) * sizeof(*more));
		more[at] = (struct row_device){ .device = device };
	}
	return &row->devices[at];
}

/* A row's part of a derived link; parents have their children's. */
static void enter_owned(const struct report_row *row, struct row_device *d,
			struct report_device *all)
{
	d->read_high = sum128_cut(d->read_high, all->read.high);
	d->write_high = sum128_cut(d->write_high, all->write.high);
	if (!row->leaf)
		return;
	all->read.owned += d->read_bytes;
	all->write.owned += d->write_bytes;
}

static int enter_row(const struct book *b, const struct report *r, struct report_row *row)
{
	for (size_t i = 0; i < row->nr_shares; i++) {
		const struct share *s = &row->shares[i];
		const struct counter *c = &b->layout->counters[s->counter];
		const struct report_device *all;
		struct row_device *d;

		if (b->roles[s->counter] != ROLE_BYTES)
			continue;
		d = device_of(row, c->device - 1);
		if (!d)
			return -ENOMEM;
		all = &r->devices[c->device - 1];
		if (c->direction == DIRECTION_READ && all->read.valid) {
			d->read_bytes += s->value;
			d->read_low += s->low;
			d->read_high = sum128_cut((sum128)d->read_high + s->high, all->read.high);
		} else if (c->direction == DIRECTION_WRITE && all->write.valid) {
			d->write_bytes += s->value;
			d->write_low += s->low;
			d->write_high =
				sum128_cut((sum128)d->write_high + s->high, all->write.high);
		}
	}
	for (size_t i = 0; i < row->nr_devices; i++) {
		struct row_device *d = &row->devices[i];
		struct report_device *all = &r->devices[d->device];

		d->counted = all->read.valid || all->write.valid;
		if (all->how == HOW_DERIVED)
			enter_owned(row, d, all);
	}
	return 0;
}

int book_report_devices(const struct book *b, struct report *r)
{
	int err = 0;

	if (!b->scope.nr_devices)
		return 0;
	r->devices = calloc(b->scope.nr_devices, sizeof(*r->devices));
	if (!r->devices)
		return -ENOMEM;
	r->nr_devices = b->scope.nr_devices;
	for (uint32_t i = 0; i < r->nr_devices && !err; i++) {
		enter_device(b, i, &r->devices[i]);
		err = book_users_report(b, i, &r->devices[i].by);
	}
	enter_groups(b, r);
	enter_latencies(r);
	for (uint32_t i = 0; i < r->nr_devices; i++)
		if (b->scope.devices[i].kind == DEVICE_PORT)
			check_port(b, i, r);
	for (size_t i = 0; i < r->nr_rows && !err; i++)
		err = enter_row(b, r, &r->rows[i]);
	return err;
}
