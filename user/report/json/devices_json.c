// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/json/internal.h"

#include <stdio.h>

#include "base/sums.h"
#include "report/devices.h"
#include "report/latencies.h"
#include "report/put.h"
#include "report/rows.h"

/* Objects with both directions: what @read and @write say, where they are valid. */
static json_t *both(const struct device_bytes *read, uint64_t read_bytes,
		    const struct device_bytes *write, uint64_t write_bytes, int *err)
{
	json_t *o = json_object();

	if (read->valid)
		put_number(o, "read_bytes", read_bytes, err);
	if (write->valid)
		put_number(o, "write_bytes", write_bytes, err);
	return o;
}

/* Does a counter tell what the device moved to a destination? */
static bool tells(const struct report *r, const struct report_device *d, enum direction direction,
		  enum destination to)
{
	for (size_t i = 0; i < r->nr_counters; i++) {
		const struct counter *c = r->counters[i].counter;

		if (r->counters[i].valid && c->device &&
		    c->device - 1 == (size_t)(d - r->devices) && c->unit == UNIT_BYTES &&
		    c->direction == direction && c->destination == to)
			return true;
	}
	return false;
}

static void put_side(json_t *o, const struct report *r, const struct report_device *d,
		     enum direction direction, int *err)
{
	const char *name = direction_name(direction);
	const struct device_bytes *side = direction == DIRECTION_WRITE ? &d->write : &d->read;
	char key[32];
	json_t *to;

	if (side->valid) {
		snprintf(key, sizeof(key), "%s_bytes", name);
		put_number(o, key, side->bytes, err);
		snprintf(key, sizeof(key), "%s_low", name);
		put_number(o, key, side->low, err);
		snprintf(key, sizeof(key), "%s_high", name);
		put_number(o, key, side->high, err);
	}
	if (side->requests_valid) {
		snprintf(key, sizeof(key), "%s_requests", name);
		put_number(o, key, side->requests, err);
	}
	if (!side->valid || !side->split)
		return;
	to = json_object();
	for (int i = 0; i < NR_DESTINATIONS; i++)
		if (side->to[i] || tells(r, d, direction, i))
			put_number(to, destination_name(i), side->to[i], err);
	snprintf(key, sizeof(key), "%s_destinations", name);
	put(o, key, to, err);
}

/* What cannot be less than nothing, whatever nonsense the two are. */
static uint64_t rest(const struct device_bytes *side)
{
	return side->bytes > side->owned ? side->bytes - side->owned : 0;
}

static void put_owners(json_t *o, const struct report_device *d, int *err)
{
	json_t *io = json_object();

	if (d->read.valid || d->write.valid) {
		put(o, "attributed", both(&d->read, d->read.owned, &d->write, d->write.owned, err),
		    err);
		put(o, "unattributed",
		    both(&d->read, rest(&d->read), &d->write, rest(&d->write), err), err);
	}
	if (d->read.io_valid)
		put_number(io, "read_bytes", d->read.io_bytes, err);
	if (d->write.io_valid)
		put_number(io, "write_bytes", d->write.io_bytes, err);
	put(o, "io", io, err);
	if (d->exclusive[0])
		put_name(o, "exclusive", d->exclusive, sizeof(d->exclusive), err);
	if (d->shared)
		put(o, "shared", json_true(), err);
	json_users(o, &d->by, err);
}

/* A mean is there where there was an invocation. */
static void put_work(json_t *o, const struct report_device *d, int *err)
{
	uint64_t nr = d->work_valid[WORK_INVOCATIONS] ? d->work[WORK_INVOCATIONS] : 0;
	json_t *work = json_object(), *each = json_object();

	for (int i = 0; i < NR_WORKS; i++) {
		if (!d->work_valid[i])
			continue;
		put_number(work, work_name(i), d->work[i], err);
		if (nr && i != WORK_INVOCATIONS)
			put(each, work_name(i), json_real((double)d->work[i] / (double)nr), err);
	}
	if (json_object_size(each))
		put(work, "per_invocation", json_incref(each), err);
	if (json_object_size(work))
		put(o, "work", json_incref(work), err);
	json_decref(each);
	json_decref(work);
}

/* Devices of the run below a port that nobody can divide its bytes among; others may share it too. */
static json_t *sharers(const struct report *r, size_t port, int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->nr_devices; i++) {
		const struct device *d = r->devices[i].device;

		if (d->port == port + 1)
			put_element(a, json_string(d->bdf), err);
	}
	return a;
}

static void put_link(json_t *o, const struct report *r, const struct report_device *d, int *err)
{
	const struct device *function = devices_of(r, d->device->function);

	if (function)
		put_name(o, "function", function->bdf, sizeof(function->bdf), err);
	put_text(o, "how", device_how_name(d->how), err);
	if (d->why_none[0])
		put_name(o, "why_none", d->why_none, sizeof(d->why_none), err);
}

static json_t *device_object(const struct report *r, const struct report_device *rd, int *err)
{
	const struct device *d = rd->device, *port = devices_of(r, d->port);
	json_t *o = json_object();

	put_name(o, "bdf", d->bdf, sizeof(d->bdf), err);
	if (d->name[0])
		put_name(o, "name", d->name, sizeof(d->name), err);
	put_text(o, "kind", device_kind_name(d->kind), err);
	if (d->link != LINK_UNKNOWN)
		put_text(o, "link", device_link_name(d->link), err);
	if (d->uuid[0])
		put_name(o, "uuid", d->uuid, sizeof(d->uuid), err);
	if (devices_is_link(rd))
		put_link(o, r, rd, err);
	put_text(o, "wiring", wiring_name(d->wiring), err);
	if (d->wiring != WIRING_UNKNOWN) {
		put_number(o, "socket", report_socket_at(r, d->socket), err);
		put_number(o, "rc", d->rc, err);
		put_number(o, "rp", d->rp, err);
	}
	put_text(o, "filter", device_filter_name(d->filter), err);
	if (port)
		put_name(o, "port", port->bdf, sizeof(port->bdf), err);
	put_side(o, r, rd, DIRECTION_READ, err);
	put_side(o, r, rd, DIRECTION_WRITE, err);
	/* Nobody tried to count it: that is no coverage of zero. */
	if (rd->enabled_ns) {
		put(o, "coverage", json_real(devices_coverage(r, rd)), err);
		put_number(o, "covered_ns", rd->enabled_ns, err);
		put_number(o, "turns", rd->turns, err);
	}
	if (rd->latency_valid)
		put(o, "read_latency_ns", latencies_tenths(rd->latency_ns), err);
	put_work(o, rd, err);
	if (d->kind != DEVICE_PORT)
		put_owners(o, rd, err);
	else if (devices_is_shared(r, (size_t)(rd - r->devices)))
		put(o, "shared_by", sharers(r, (size_t)(rd - r->devices), err), err);
	if (rd->sum_valid) {
		json_t *check = json_object();

		put_number(check, "sum_bytes", rd->sum_bytes, err);
		put_number(check, "expected_low", rd->sum_low, err);
		put_number(check, "expected_high", rd->sum_high, err);
		put(o, "port_check", check, err);
	}
	return o;
}

json_t *devices_json(const struct report *r, int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->nr_devices && !*err; i++)
		put_element(a, device_object(r, &r->devices[i], err), err);
	return a;
}

json_t *devices_json_row(const struct report *r, const struct report_row *row, int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < row->nr_devices; i++) {
		const struct row_device *part = &row->devices[i];
		const struct device *d = devices_of(r, part->device + 1);
		const struct report_device *all;
		json_t *o;

		if (!d)
			continue;
		o = json_object();
		put_name(o, "bdf", d->bdf, sizeof(d->bdf), err);
		all = &r->devices[part->device];
		if (part->counted && all->read.valid) {
			put_number(o, "read_bytes", part->read_bytes, err);
			put_number(o, "read_low", part->read_low, err);
			put_number(o, "read_high", part->read_high, err);
		}
		if (part->counted && all->write.valid) {
			put_number(o, "write_bytes", part->write_bytes, err);
			put_number(o, "write_low", part->write_low, err);
			put_number(o, "write_high", part->write_high, err);
		}
		if (all->read.io_valid)
			put_number(o, "io_read_bytes", part->io_read_bytes, err);
		if (all->write.io_valid)
			put_number(o, "io_write_bytes", part->io_write_bytes, err);
		put_element(a, o, err);
	}
	return a;
}

/* Has a socket counted what its devices moved in a direction? */
static bool socket_counted(const struct report *r, enum direction direction)
{
	for (size_t i = 0; i < r->nr_counters; i++) {
		const struct report_counter *rc = &r->counters[i];

		if (rc->valid && !rc->counter->device && rc->counter->source == SOURCE_DEVICE &&
		    rc->counter->direction == direction)
			return true;
	}
	return false;
}

void devices_json_metrics(const struct report *r, const struct report_row *row, json_t *metrics,
			  int *err)
{
	static const char *const pcie[] = { "pcie_read_bytes", "pcie_write_bytes" };
	static const char *const mem[] = { "device_mem_read_bytes", "device_mem_write_bytes" };
	uint64_t sums[NR_WAYS] = { 0 };
	bool any[NR_WAYS] = { false };

	if (!r->nr_devices)
		return;
	for (size_t i = 0; i < row->nr_shares; i++) {
		const struct share *s = &row->shares[i];
		const struct counter *c = r->counters[s->counter].counter;

		/* No device is known to have a part of both directions together. */
		if (c->device || c->source != SOURCE_DEVICE || c->direction >= NR_WAYS)
			continue;
		sums[c->direction] = sum_capped(sums[c->direction], s->value);
		any[c->direction] = true;
	}
	for (int i = 0; i < NR_WAYS; i++) {
		if (devices_valid(r, i))
			put_number(metrics, pcie[i], devices_moved(r, row, i), err);
		if (any[i] || (devices_valid(r, i) && socket_counted(r, i)))
			put_number(metrics, mem[i], sums[i], err);
	}
}
