// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <math.h>

#include "base/sums.h"
#include "report/devices.h"

const struct device *devices_of(const struct report *r, uint32_t number)
{
	return number && number <= r->nr_devices ? r->devices[number - 1].device : NULL;
}

bool devices_is_port(const struct report_device *d)
{
	return d->device->kind == DEVICE_PORT;
}

bool devices_is_link(const struct report_device *d)
{
	return d->device->kind == DEVICE_LINK;
}

/* Bytes of others' once more: a port's devices have them; a link's may be in its function's view. */
static bool is_beside(const struct report_device *d)
{
	return devices_is_port(d) || devices_is_link(d);
}

bool devices_is_shared(const struct report *r, size_t device)
{
	bool any = false;

	for (size_t i = 0; i < r->nr_devices; i++) {
		const struct device *d = r->devices[i].device;

		if (d->port != device + 1)
			continue;
		if (d->filter != DEVICE_NOT_COUNTED)
			return false;
		any = true;
	}
	return any;
}

bool devices_is_guess(const struct device *d)
{
	return d->wiring == WIRING_MEDIUM || d->wiring == WIRING_LOW;
}

uint64_t devices_time_ns(const struct report *r, const struct report_device *d)
{
	double duration = (double)report_duration_ns(r), time = (double)d->enabled_ns;

	return d->enabled_ns && fabs(time - duration) > REPORT_NEARLY * duration
		       ? d->enabled_ns
		       : report_duration_ns(r);
}

void devices_cover(const struct report *r, const struct report_device *d, uint64_t *ret_part,
		   uint64_t *ret_whole)
{
	uint64_t duration = report_duration_ns(r), time = devices_time_ns(r, d);

	*ret_part = d->running_ns < d->enabled_ns ? d->running_ns : d->enabled_ns;
	*ret_whole = d->enabled_ns;
	if (time < duration)
		*ret_whole = duration;
	else if (time > duration)
		*ret_part = (uint64_t)((double)*ret_part * (double)duration / (double)time);
}

double devices_coverage(const struct report *r, const struct report_device *d)
{
	uint64_t part, whole;

	devices_cover(r, d, &part, &whole);
	return whole ? (double)part / (double)whole : 1;
}

enum devices_mode devices_mode(const struct report *r)
{
	enum devices_mode mode = DEVICES_NONE;

	for (size_t i = 0; i < r->nr_devices && mode != DEVICES_COUNTED; i++) {
		const struct report_device *d = &r->devices[i];
		bool counted =
			d->device->filter != DEVICE_NOT_COUNTED || d->read.valid || d->write.valid;

		if (!is_beside(d))
			mode = counted ? DEVICES_COUNTED : DEVICES_IO;
	}
	return mode;
}

bool devices_task_counter(const struct counter *c)
{
	return !c->device && c->source != SOURCE_DEVICE && c->unit == UNIT_BYTES;
}

/* Is there a counter of all bytes of @c's device, for any destination? */
static bool has_whole(const struct report *r, const struct counter *c)
{
	for (size_t i = 0; i < r->nr_counters; i++) {
		const struct counter *other = r->counters[i].counter;

		if (other->device == c->device && other->direction == c->direction &&
		    other->unit == UNIT_BYTES && other->destination == DESTINATION_ANY)
			return true;
	}
	return false;
}

bool devices_pcie_counter(const struct report *r, const struct counter *c)
{
	const struct device *d = devices_of(r, c->device);

	if (!d || is_beside(&r->devices[c->device - 1]) || c->unit != UNIT_BYTES)
		return false;
	return c->destination == DESTINATION_ANY || !has_whole(r, c);
}

static const struct device_bytes *side_of(const struct report_device *d, enum direction direction)
{
	return direction == DIRECTION_WRITE ? &d->write : &d->read;
}

bool devices_valid(const struct report *r, enum direction direction)
{
	for (size_t i = 0; i < r->nr_devices; i++)
		if (!is_beside(&r->devices[i]) && side_of(&r->devices[i], direction)->valid)
			return true;
	return false;
}

const struct device *devices_part(const struct report *r, const struct row_device *part)
{
	const struct device *d =
		part->device < r->nr_devices ? r->devices[part->device].device : NULL;

	return d && d->kind != DEVICE_PORT ? d : NULL;
}

uint64_t devices_moved(const struct report *r, const struct report_row *row,
		       enum direction direction)
{
	bool write = direction == DIRECTION_WRITE;
	enum devices_mode mode = row->nr_devices ? devices_mode(r) : DEVICES_NONE;
	uint64_t sum = 0;

	for (size_t i = 0; i < row->nr_devices; i++) {
		const struct row_device *part = &row->devices[i];
		uint64_t bytes = 0;

		if (!devices_part(r, part) || devices_is_link(&r->devices[part->device]))
			continue;
		if (mode == DEVICES_IO)
			bytes = write ? part->io_write_bytes : part->io_read_bytes;
		else if (part->counted)
			bytes = write ? part->write_bytes : part->read_bytes;
		sum = sum_capped(sum, bytes);
	}
	return sum;
}

enum tangle devices_tangle(const struct report *r, const struct report_row *row)
{
	enum tangle ret = TANGLE_MEMORY;

	for (size_t i = 0; i < row->nr_shares; i++) {
		const struct share *s = &row->shares[i];
		const struct counter *c = r->counters[s->counter].counter;

		if (s->separable || !s->value)
			continue;
		if (devices_task_counter(c))
			return TANGLE_MEMORY;
		if (c->unit != UNIT_NANOJOULES)
			ret = TANGLE_DEVICES;
		else if (ret == TANGLE_MEMORY)
			ret = TANGLE_ENERGY;
	}
	return ret;
}

/* Is the device on the socket? In traces of other tools only its counters may tell. */
static bool is_on_socket(const struct report *r, size_t device, uint32_t socket)
{
	const struct device *d = r->devices[device].device;

	if (d->wiring != WIRING_UNKNOWN)
		return d->socket < r->nr_sockets && r->sockets[d->socket].id == socket;
	for (size_t i = 0; i < r->nr_counters; i++)
		if (r->counters[i].counter->device == device + 1)
			return report_socket_id(r, r->counters[i].counter) == socket;
	return false;
}

bool devices_any_moved(const struct report *r, enum direction direction)
{
	for (size_t i = 0; i < r->nr_devices; i++) {
		const struct report_device *d = &r->devices[i];
		const struct device_bytes *side = side_of(d, direction);
		/* A direction whose requests were not noted has no 0. */
		bool unknown = devices_mode(r) == DEVICES_IO && !side->io_valid &&
			       (d->read.io_valid || d->write.io_valid);

		if (!devices_is_port(d) &&
		    (unknown || side->io_bytes || (side->valid && (side->bytes || side->high))))
			return true;
	}
	return false;
}

uint64_t devices_on_socket(const struct report *r, uint32_t socket, enum direction direction)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->nr_devices; i++) {
		const struct device_bytes *side = side_of(&r->devices[i], direction);

		if (!is_beside(&r->devices[i]) && side->valid && is_on_socket(r, i, socket))
			sum = sum_capped(sum, side->bytes);
	}
	return sum;
}
