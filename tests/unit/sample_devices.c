// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/array.h"
#include "sample_report.h"

#define SECOND 1000000000ULL

static const struct device devices[SAMPLE_DEVICES] = {
	{ "0002:81:00.0", "nvme0n1", DEVICE_NVME, 0, 1, 2, WIRING_FIRMWARE, DEVICE_BY_ID, 7,
	  IO_UNTOLD, LINK_UNKNOWN, "", 0, "" },
	{ "000a:01:00.0", "eth0,eth1", DEVICE_NET, 1, 3, 0, WIRING_LOW, DEVICE_BY_PORT, 0,
	  IO_UNTOLD, LINK_UNKNOWN, "", 0, "" },
	{ "0002:81:00.1", "", DEVICE_VFIO, 0, 1, 2, WIRING_FIRMWARE, DEVICE_BY_ID, 7, IO_UNTOLD,
	  LINK_UNKNOWN, "", 0, "" },
	{ "0000:03:00.0", "sda", DEVICE_BLOCK, 0, 0, 0, WIRING_UNKNOWN, DEVICE_NOT_COUNTED, 0,
	  IO_UNTOLD, LINK_UNKNOWN, "", 0, "" },
	{ "000c:01:00.0", "card0", DEVICE_GPU, 1, 5, 0, WIRING_USER, DEVICE_BY_PORT, 0, IO_UNTOLD,
	  LINK_UNKNOWN, "", 0, "" },
	{ "0003:41:00.0", "nvme3n1", DEVICE_NVME, 0, 2, 1, WIRING_FIRMWARE, DEVICE_BY_ID, 0,
	  IO_UNTOLD, LINK_UNKNOWN, "", 0, "" },
	{ "0002:80:00.0", "", DEVICE_PORT, 0, 1, 2, WIRING_FIRMWARE, DEVICE_BY_PORT, 0, IO_UNTOLD,
	  LINK_UNKNOWN, "", 0, "" },
};

#define COUNTER(d, s, what, dir, to, of)                                                  \
	{                                                                                 \
		.name = "pcie" #d "/" what "/" #to, .pmu = "nvidia_pcie_pmu_" #s "_rc_1", \
		.event = what, .filters = "src_bdf=" #d, .socket = s, .group = 2 + d,     \
		.source = SOURCE_DEVICE, .direction = DIRECTION_##dir,                    \
		.destination = DESTINATION_##to, .unit = UNIT_##of, .device = d + 1,      \
	}
#define BOTH(d, s)                                       \
	COUNTER(d, s, "rd_bytes_all", READ, ANY, BYTES), \
		COUNTER(d, s, "wr_bytes_all", WRITE, ANY, BYTES)

static const struct counter counters[SAMPLE_DEVICE_COUNTERS] = {
	COUNTER(0, 0, "rd_bytes", READ, CMEM, BYTES),
	COUNTER(0, 0, "rd_bytes", READ, GMEM, BYTES),
	COUNTER(0, 0, "wr_bytes", WRITE, CMEM, BYTES),
	COUNTER(0, 0, "rd_req", READ, ANY, REQUESTS),
	COUNTER(0, 0, "wr_req", WRITE, ANY, REQUESTS),
	BOTH(1, 1),
	BOTH(2, 0),
	BOTH(4, 1),
	BOTH(5, 0),
	BOTH(6, 0),
};

/* What nobody caused, by counter; requests never have an owner. */
static const uint64_t unowned[SAMPLE_DEVICE_COUNTERS] = {
	250000000, 0, 120000000, 900000, 410000, 3000000,    9000000,	 0,
	0,	   0, 0,	 0,	 0,	 6300000000, 2500000000,
};

/* Parts of a row: in bytes of the counters of devices, and in requests. */
struct part {
	size_t row;
	uint64_t bytes[SAMPLE_DEVICE_COUNTERS];
	uint64_t io[4][2]; /* devices 0 to 3; read, write */
	uint64_t ucf[4];   /* what sockets count of it */
};

static const struct part process_parts[] = {
	{ 1, { 4200000000, 310000000, 0 }, { { 4390000000, 0 } }, { 400000000, 0, 0, 0 } },
	{ 2,
	  { 0, 0, 1900000000, 0, 0, 420000000, 612000000, 0, 0 },
	  { { 0, 1890000000 }, { 400000000, 600000000 }, { 0, 0 }, { 52000000, 4096 } },
	  { 0, 190000000, 42000000, 61000000 } },
	{ 3,
	  { 0, 0, 0, 0, 0, 0, 0, 1234567890, 98765432 },
	  { { 0 } },
	  { 120000000, 9000000, 0, 0 } },
};

static const struct part cgroup_parts[] = {
	{ 0, { 4200000000, 310000000, 0 }, { { 4390000000, 0 } }, { 400000000, 0, 0, 0 } },
	{ 1, { 4200000000, 310000000, 0 }, { { 4390000000, 0 } }, { 400000000, 0, 0, 0 } },
	{ 3, { 4200000000, 310000000, 0 }, { { 4390000000, 0 } }, { 400000000, 0, 0, 0 } },
	{ 5,
	  { 0, 0, 0, 0, 0, 0, 0, 1234567890, 98765432 },
	  { { 0 } },
	  { 120000000, 9000000, 0, 0 } },
};

static void *must(void *p)
{
	assert_non_null(p);
	return p;
}

static void add_share(struct report_row *row, size_t counter, uint64_t value, uint64_t off)
{
	if (value)
		row->shares[row->nr_shares++] = (struct share){
			(uint32_t)counter, value, value - value / off, value + value / off, true,
		};
}

/* Counters of sockets for devices, in the order: socket, direction. */
static const size_t ucf[4] = { 2, 3, 8, 9 };

static void add_part(struct report *r, const struct part *p)
{
	struct report_row *row = &r->rows[p->row];

	row->shares = must(reallocarray(row->shares, row->nr_shares + 4 + SAMPLE_DEVICE_COUNTERS,
					sizeof(*row->shares)));
	row->devices = must(calloc(SAMPLE_DEVICES, sizeof(*row->devices)));
	for (size_t i = 0; i < ARRAY_SIZE(ucf); i++)
		add_share(row, ucf[i], p->ucf[i], 10);
	for (uint32_t d = 0; d < 4; d++) {
		struct row_device part = {
			.device = d,
			.counted = d != 3,
			.io_read_bytes = p->io[d][0],
			.io_write_bytes = p->io[d][1],
		};

		for (size_t i = 0; i < SAMPLE_DEVICE_COUNTERS; i++)
			if (counters[i].device == d + 1 && counters[i].direction == DIRECTION_READ)
				part.read_bytes += p->bytes[i];
			else if (counters[i].device == d + 1)
				part.write_bytes += p->bytes[i];
		part.read_low = part.read_bytes - part.read_bytes / 20;
		part.read_high = part.read_bytes + part.read_bytes / 20;
		part.write_low = part.write_bytes - part.write_bytes / 20;
		part.write_high = part.write_bytes + part.write_bytes / 20;
		if (part.read_bytes || part.write_bytes || part.io_read_bytes ||
		    part.io_write_bytes)
			row->devices[row->nr_devices++] = part;
	}
	for (size_t i = 0; i < SAMPLE_DEVICE_COUNTERS; i++)
		add_share(row, SAMPLE_COUNTERS + i, p->bytes[i], 20);
}

static void add_counters(struct report *r)
{
	r->counters = must(reallocarray(r->counters, SAMPLE_COUNTERS + SAMPLE_DEVICE_COUNTERS,
					sizeof(*r->counters)));
	for (size_t i = 0; i < SAMPLE_DEVICE_COUNTERS; i++) {
		struct report_counter *c = &r->counters[r->nr_counters++];

		memset(c, 0, sizeof(*c));
		c->counter = &counters[i];
		c->unattributed[REASON_DEVICE] = unowned[i];
		c->enabled_ns = c->covered_ns = SECOND;
		c->running_ns = counters[i].device == 1	  ? SECOND / 2
				: counters[i].device == 3 ? SECOND / 4
				: counters[i].device == 6 ? 0
							  : SECOND;
		c->valid = c->running_ns > 0;
	}
}

/* What a device moved in a direction, from its counters. */
static void fill_side(const struct report *r, size_t device, enum direction dir,
		      struct device_bytes *ret)
{
	for (size_t i = SAMPLE_COUNTERS; i < r->nr_counters; i++) {
		const struct report_counter *rc = &r->counters[i];
		const struct counter *c = rc->counter;

		if (c->device != device + 1 || c->direction != dir || !rc->valid)
			continue;
		if (c->unit == UNIT_REQUESTS) {
			ret->requests_valid = true;
			ret->requests = rc->value;
			continue;
		}
		ret->valid = true;
		ret->bytes += rc->value;
		ret->owned += rc->attributed;
		ret->to[c->destination] += rc->value;
		ret->split = c->destination != DESTINATION_ANY;
	}
	ret->low = ret->bytes;
	ret->high = ret->bytes;
}

static void add_devices(struct report *r)
{
	r->devices = must(calloc(SAMPLE_DEVICES, sizeof(*r->devices)));
	r->nr_devices = SAMPLE_DEVICES;
	for (size_t i = 0; i < SAMPLE_DEVICES; i++) {
		struct report_device *d = &r->devices[i];

		d->device = &devices[i];
		fill_side(r, i, DIRECTION_READ, &d->read);
		fill_side(r, i, DIRECTION_WRITE, &d->write);
		d->enabled_ns = i == 3 ? 0 : SECOND;
		d->running_ns = i == 0		   ? SECOND / 2
				: i == 2	   ? SECOND / 4
				: i == 3 || i == 5 ? 0
						   : SECOND;
		d->turns = i == 0 ? 5 : i == 2 ? 3 : i == 3 || i == 5 ? 0 : 1;
	}
	for (size_t i = 0; i < 3; i += 2) {
		struct device_bytes *sides[] = { &r->devices[i].read, &r->devices[i].write };

		for (size_t k = 0; k < 2; k++) {
			sides[k]->low -= sides[k]->bytes / 20;
			sides[k]->high += sides[k]->bytes / 20;
		}
	}
	r->devices[0].latency_valid = true;
	r->devices[0].latency_ns = 912.34;
	r->devices[6].sum_valid = true;
	r->devices[6].sum_bytes = r->devices[0].read.bytes + r->devices[0].write.bytes +
				  r->devices[2].read.bytes + r->devices[2].write.bytes;
	r->devices[6].sum_low = 8100000000;
	r->devices[6].sum_high = 9100000000;
}

/* As the book: where requests were noted, there may be none. */
static void find_noted(struct report *r)
{
	for (size_t i = 0; i < r->nr_devices; i++) {
		struct report_device *d = &r->devices[i];

		d->read.io_valid = d->read.io_bytes || device_notes_io(d->device, DIRECTION_READ);
		d->write.io_valid =
			d->write.io_bytes || device_notes_io(d->device, DIRECTION_WRITE);
	}
}

/* Requests of all rows, and some that nobody is known to have caused. */
static void add_requests(struct report *r)
{
	for (size_t i = 0; i < r->nr_rows; i++)
		for (size_t k = 0; r->rows[i].leaf && k < r->rows[i].nr_devices; k++) {
			const struct row_device *part = &r->rows[i].devices[k];

			r->devices[part->device].read.io_bytes += part->io_read_bytes;
			r->devices[part->device].write.io_bytes += part->io_write_bytes;
		}
	r->devices[0].read.io_bytes += 131072000;
	r->quality.unowned_io_bytes = 131072000;
	find_noted(r);
}

/* Nobody has more of a device than it moved. */
static void clip(struct report *r, struct report_row *row)
{
	for (size_t i = 0; i < row->nr_devices; i++) {
		struct row_device *part = &row->devices[i];
		const struct report_device *d = &r->devices[part->device];

		if (part->read_high > d->read.bytes)
			part->read_high = d->read.bytes;
		if (part->write_high > d->write.bytes)
			part->write_high = d->write.bytes;
	}
}

void sample_with_devices(struct report *r)
{
	bool cgroups = r->by == ROW_CGROUP;
	const struct part *parts = cgroups ? cgroup_parts : process_parts;
	size_t nr = cgroups ? ARRAY_SIZE(cgroup_parts) : ARRAY_SIZE(process_parts);
	uint64_t bytes[4] = { 0 };

	for (size_t i = 0; i < nr; i++) {
		add_part(r, &parts[i]);
		for (size_t k = 0; r->rows[parts[i].row].leaf && k < ARRAY_SIZE(ucf); k++)
			bytes[k] += parts[i].ucf[k];
	}
	for (size_t k = 0; k < ARRAY_SIZE(ucf); k++)
		r->counters[ucf[k]].unattributed[REASON_DEVICE] -= bytes[k];
	add_counters(r);
	sample_balance(r);
	add_devices(r);
	add_requests(r);
	for (size_t i = 0; i < nr; i++)
		clip(r, &r->rows[parts[i].row]);
	strcpy(r->devices[2].exclusive, r->rows[parts[nr - 1].row].key);
}

static struct device_user *users_of(const struct device_user *users, size_t nr)
{
	struct device_user *copy = calloc(nr, sizeof(*copy));

	assert_non_null(copy);
	memcpy(copy, users, nr * sizeof(*copy));
	for (size_t i = 0; i < nr; i++) {
		copy[i].cgroup = users[i].cgroup ? strdup(users[i].cgroup) : NULL;
		if (!users[i].job)
			continue;
		copy[i].job = calloc(1, sizeof(*copy[i].job));
		assert_non_null(copy[i].job);
		*copy[i].job = *users[i].job;
	}
	return copy;
}

void sample_with_users(struct report *r)
{
	static struct row_job job = {
		.scheduler = SCHEDULER_SLURM, .id = "12", .user = "anna", .cgroup_id = 31
	};
	static struct device gpus[2];
	const struct device_user alone = {
		.pid = 101,
		.start_ns = 5,
		.comm = "python",
		.processes = 1,
		.cgroup = "/slurm/job_12/step_0",
		.job = &job,
		.instance = DEVICE_NO_INSTANCE,
		.held_ns = SECOND,
		.busy_ns = SECOND / 2,
		.copy_ns = SECOND / 8,
		.share = 0.5,
		.low = 0.5,
		.high = 0.5,
	};
	const struct device_user both[] = {
		{ .pid = 101,
		  .start_ns = 5,
		  .comm = "python",
		  .processes = 2,
		  .cgroup = "/slurm/job_12/step_0",
		  .job = &job,
		  .instance = 1,
		  .held_ns = SECOND,
		  .busy_ns = SECOND * 4 / 7,
		  .share = 4.0 / 7,
		  .error = 0.187,
		  .low = 0.25,
		  .high = 0.842 },
		{ .pid = 77,
		  .start_ns = 3,
		  .comm = "Xorg",
		  .processes = 1,
		  .cgroup = "/system.slice/gdm.service",
		  .instance = 2,
		  .held_ns = SECOND / 4,
		  .busy_ns = SECOND / 7,
		  .share = 1.0 / 7,
		  .error = 0.132,
		  .low = 0.026,
		  .high = 0.513 },
	};

	sample_with_devices(r);
	for (size_t i = 0; i < 2; i++) {
		gpus[i] = *r->devices[2 + 2 * i].device;
		gpus[i].kind = DEVICE_GPU;
		gpus[i].link = i ? LINK_C2C : LINK_PCIE;
		snprintf(gpus[i].uuid, sizeof(gpus[i].uuid), "GPU-%zu", i);
		r->devices[2 + 2 * i].device = &gpus[i];
	}
	r->devices[2].by = (struct device_users){
		.rule = OWNER_CONTEXTS,
		.found = OWNERSHIP_ONE,
		.users = users_of(&alone, 1),
		.nr = 1,
		.nr_all = 1,
		.told_ns = SECOND,
		.copies = true,
	};
	r->devices[4].by = (struct device_users){
		.rule = OWNER_CONTEXTS,
		.found = OWNERSHIP_SHARED,
		.users = users_of(both, 2),
		.nr = 2,
		.nr_all = 2,
		.blockers = users_of(both, 2),
		.nr_blockers = 2,
		.nr_blockers_all = 2,
		.told_ns = SECOND,
		.samples = 7,
	};
}

void sample_with_requests(struct report *r)
{
	static struct device seen[SAMPLE_DEVICES];

	sample_with_devices(r);
	memcpy(seen, devices, sizeof(seen));
	r->nr_devices = 6;
	r->nr_counters = SAMPLE_COUNTERS;
	for (size_t i = 0; i < r->nr_devices; i++) {
		struct report_device *d = &r->devices[i];
		uint64_t read = d->read.io_bytes, written = d->write.io_bytes;

		seen[i].filter = DEVICE_NOT_COUNTED;
		seen[i].port = 0;
		*d = (struct report_device){ .device = &seen[i] };
		d->read.io_bytes = read;
		d->write.io_bytes = written;
	}
	find_noted(r);
	for (size_t i = 0; i < r->nr_rows; i++) {
		struct report_row *row = &r->rows[i];
		size_t nr = 0;

		for (size_t k = 0; k < row->nr_shares; k++) {
			struct report_counter *c = &r->counters[row->shares[k].counter];

			if (c->counter->source == SOURCE_CPU)
				row->shares[nr++] = row->shares[k];
			else if (!c->counter->device && row->leaf)
				c->unattributed[REASON_DEVICE] += row->shares[k].value;
		}
		row->nr_shares = nr;
		nr = 0;
		for (size_t k = 0; k < row->nr_devices; k++)
			if (row->devices[k].io_read_bytes || row->devices[k].io_write_bytes)
				row->devices[nr++] = (struct row_device){
					.device = row->devices[k].device,
					.io_read_bytes = row->devices[k].io_read_bytes,
					.io_write_bytes = row->devices[k].io_write_bytes,
				};
		row->nr_devices = nr;
	}
	sample_balance(r);
}
