/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Jobs that hold GPUs, for tests of accounts and metrics. */
#ifndef TESTS_GPU_WORLD_H
#define TESTS_GPU_WORLD_H

#include "account_world.h"

#define GPU_ONE	  0
#define GPU_LINK  1
#define GPU_OTHER 2
#define GPU_IDLE  71
#define GPU_BUSY  72

static const struct device gpu_devices[] = {
	[GPU_ONE] = { .bdf = "0009:01:00.0", .kind = DEVICE_GPU, .uuid = "GPU-0a" },
	[GPU_LINK] = { .bdf = "0009:01:00.0/c2c", .kind = DEVICE_LINK, .function = GPU_ONE + 1 },
	[GPU_OTHER] = { .bdf = "001b:01:00.0", .kind = DEVICE_GPU },
};

static inline struct device_user gpu_user(uint64_t cgroup_id, double share)
{
	struct device_user u = { .pid = 5,
				 .instance = DEVICE_NO_INSTANCE,
				 .held_ns = WORLD_SECOND,
				 .busy_ns = (uint64_t)(share * WORLD_SECOND / 2),
				 .share = share,
				 .low = share / 2,
				 .high = share + 0.125 };

	u.job = world_must(calloc(1, sizeof(*u.job)));
	u.job->cgroup_id = cgroup_id;
	return u;
}

static inline void gpu_use(struct report_device *d, struct device_user u)
{
	d->by.users = world_must(reallocarray(d->by.users, d->by.nr + 1, sizeof(u)));
	d->by.users[d->by.nr++] = u;
	d->by.nr_all = d->by.nr;
	d->by.rule = OWNER_CONTEXTS;
	d->by.told_ns = WORLD_SECOND / 2;
	d->by.samples = 4;
}

static inline void gpu_part(struct report_row *row, uint32_t device, uint64_t read, uint64_t write)
{
	world_io(row, device, 0, 0);
	row->devices[row->nr_devices - 1] = (struct row_device){ .device = device,
								 .counted = true,
								 .read_bytes = read,
								 .read_low = read - 1,
								 .read_high = read + 2,
								 .write_bytes = write,
								 .write_low = write - 3,
								 .write_high = write + 4 };
}

/*
 * The busy job has a step, and the first GPU to itself; both share the second one, on which the
 * idle job does nothing and the busy one has two instances. The idle job has no row in the last
 * interval, and the link no bytes of its own in the one before.
 */
static inline struct report *gpu_report(uint64_t number)
{
	struct report *r = world_report(number);
	struct report_device *link;
	struct report_row *row;

	free(r->devices);
	r->devices = world_must(calloc(3, sizeof(*r->devices)));
	r->nr_devices = 3;
	for (size_t i = 0; i < 3; i++)
		r->devices[i].device = &gpu_devices[i];
	link = &r->devices[GPU_LINK];
	link->read = (struct device_bytes){ number != 2, 1200, 900, 1300, .owned = 1000 };
	link->write = (struct device_bytes){ number != 2, 500, 500, 500, .owned = 500 };
	row = world_row(r, SCHEDULER_SLURM, "2", GPU_BUSY, "", false);
	gpu_part(row, GPU_LINK, 1000, 500);
	row = world_row(r, SCHEDULER_SLURM, "2", GPU_BUSY, "0", true);
	world_share(r, row, 0, 3000);
	/* of the function and of the link: PCIe, and what is in no sum */
	world_share(r, row, 5, 700);
	world_share(r, row, 11, 700000);
	gpu_part(row, GPU_LINK, 1000, 500);
	snprintf(r->devices[GPU_ONE].exclusive, sizeof(r->devices[GPU_ONE].exclusive), "%s",
		 row->key);
	if (number < 3) {
		row = world_row(r, SCHEDULER_SLURM, "1", GPU_IDLE, "", true);
		row->on_cpu_ns = 5;
	}
	gpu_use(&r->devices[GPU_ONE], gpu_user(GPU_BUSY, 0.5));
	gpu_use(&r->devices[GPU_OTHER], gpu_user(GPU_BUSY, 0.25));
	gpu_use(&r->devices[GPU_OTHER], gpu_user(GPU_BUSY, 0.125));
	gpu_use(&r->devices[GPU_OTHER], gpu_user(GPU_IDLE, 0));
	/* no account, and no job at all */
	gpu_use(&r->devices[GPU_OTHER], gpu_user(99, 1));
	gpu_use(&r->devices[GPU_OTHER], gpu_user(0, 1));
	return r;
}

#endif
