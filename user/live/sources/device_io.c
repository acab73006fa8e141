// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/sources/device_io.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "platform/devices/owners.h"

/* Open files of all processes are looked through so often. */
#define LOOK_NS	    (3 * NS_PER_S)
/*
 * Where intervals are shorter, at the end of one: what came before the last end is reported, and a
 * look in between would give an owner to the rest only. Ends are not to be missed by a little.
 */
#define LOOK_END_NS (LOOK_NS * 5 / 6)
/* At the end of an interval earlier, if looking takes less than this part of the time. */
#define LOOK_SHARE  100
/*
 * On machines with very many open files less often: it takes no more than this part. Both are of CPU
 * time: who has to wait for a CPU takes nothing from others.
 */
#define LOOK_MOST   20
/* Two starts of one process, as /proc tells them by the clock's ticks, differ by less than this. */
#define SAME_NS	    (NS_PER_S / 50)

/* What the ledger knows of an item. */
struct mapped {
	char (*disks)[32];
	size_t nr_disks;
	uint32_t *interfaces;
	size_t nr_interfaces;
	bool changed;
	bool refused;
};

struct device_io {
	const struct device_list *list;
	struct ledger *ledger;
	struct trace_sink out;
	const struct feed *feed;
	struct mapped *mapped; /* by item */
	struct owners *owners;
	struct owner *last; /* of the last look */
	size_t nr_last;
	uint64_t last_ns; /* 0: not begun */
	uint64_t marked_ns;
	uint64_t took_ns;
	bool tells;
	char note[256];
};

static void unmap(struct device_io *io, struct mapped *m)
{
	/* What is not there any more cannot be taken back, nor need it be. */
	for (size_t i = 0; i < m->nr_disks; i++)
		ledger_io_disk(io->ledger, m->disks[i], LEDGER_NO_DEVICE);
	for (size_t i = 0; i < m->nr_interfaces; i++)
		ledger_io_interface(io->ledger, m->interfaces[i] & ~DEVICE_STACKED, false,
				    LEDGER_NO_DEVICE);
	free(m->disks);
	free(m->interfaces);
	*m = (struct mapped){ 0 };
}

static void refused(struct device_io *io, struct mapped *m, const char *what, int err)
{
	m->refused |= err != 0;
	/* What the kernel side does not have at all, it tells itself, and why. */
	if (err && err != -EOPNOTSUPP && !io->note[0])
		snprintf(io->note, sizeof(io->note), "requests of %s cannot be noted: %s", what,
			 strerror(-err));
}

static int map(struct device_io *io, size_t at)
{
	const struct device_item *item = &io->list->items[at];
	struct mapped *m = &io->mapped[at];

	m->disks = calloc(item->nr_disks + 1, sizeof(*m->disks));
	m->interfaces = calloc(item->nr_interfaces + 1, sizeof(*m->interfaces));
	if (!m->disks || !m->interfaces)
		return -ENOMEM;
	for (size_t i = 0; i < item->nr_disks; i++) {
		memcpy(m->disks[m->nr_disks++], item->disks[i], sizeof(m->disks[0]));
		refused(io, m, item->disks[i], ledger_io_disk(io->ledger, item->disks[i], at));
	}
	for (size_t i = 0; i < item->nr_interfaces; i++) {
		uint32_t index = item->interfaces[i] & ~DEVICE_STACKED;
		bool stacked = item->interfaces[i] & DEVICE_STACKED;
		char name[32];

		snprintf(name, sizeof(name), "interface %u", index);
		m->interfaces[m->nr_interfaces++] = item->interfaces[i];
		refused(io, m, name, ledger_io_interface(io->ledger, index, stacked, at));
	}
	return 0;
}

int device_io_new(const struct device_list *list, struct ledger *ledger,
		  const struct live_cgroups *cgroups, const struct text_list *ignored,
		  const struct trace_sink *out, const struct feed *feed, struct device_io **ret)
{
	struct device_io *io = calloc(1, sizeof(*io));
	int err = 0;

	if (!io)
		return -ENOMEM;
	io->list = list;
	io->ledger = ledger;
	io->out = *out;
	io->feed = feed;
	io->mapped = calloc(list->nr + 1, sizeof(*io->mapped));
	if (!io->mapped)
		err = -ENOMEM;
	for (size_t i = 0; i < list->nr && !err; i++)
		err = map(io, i);
	if (!err)
		err = owners_new("/proc", cgroups->mount, &cgroups->v1, &io->owners);
	if (err) {
		device_io_free(io);
		return err;
	}
	owners_ignore(io->owners, ignored);
	*ret = io;
	return 0;
}

void device_io_free(struct device_io *io)
{
	if (!io)
		return;
	for (size_t i = 0; io->mapped && i < io->list->nr; i++) {
		free(io->mapped[i].disks);
		free(io->mapped[i].interfaces);
	}
	free(io->mapped);
	owners_free(io->owners);
	free(io->last);
	free(io);
}

void device_io_changed(struct device_io *io, size_t item)
{
	io->mapped[item].changed = true;
}

int device_io_remap(struct device_io *io)
{
	int err = 0;

	/* All that is old first: a name may have gone from one device to another. */
	for (size_t i = 0; i < io->list->nr; i++) {
		if (!io->mapped[i].changed)
			continue;
		unmap(io, &io->mapped[i]);
		io->mapped[i].changed = true;
	}
	for (size_t i = 0; i < io->list->nr && !err; i++) {
		if (!io->mapped[i].changed)
			continue;
		io->mapped[i].changed = false;
		err = map(io, i);
	}
	return err;
}

void device_io_start(struct device_io *io, uint64_t now_ns)
{
	io->last_ns = now_ns;
	io->marked_ns = now_ns;
}

static bool was_owner(const struct device_io *io, const struct owner *o)
{
	for (size_t i = 0; i < io->nr_last; i++) {
		const struct owner *was = &io->last[i];

		if (was->item == o->item && was->pid == o->pid && was->cgroup_id == o->cgroup_id &&
		    was->start_ns < o->start_ns + SAME_NS && o->start_ns < was->start_ns + SAME_NS)
			return true;
	}
	return false;
}

/* The trace has it to the nanosecond: with another start it would be another process. */
static uint64_t exact_start(const struct device_io *io, const struct owner *o)
{
	uint64_t known =
		o->pid && io->feed->start_of ? io->feed->start_of(io->feed->start_arg, o->pid) : 0;

	return known ? known : o->start_ns;
}

static int send_owners(struct device_io *io, const struct owner *owners, size_t nr, uint64_t now)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		const struct trace_io event = {
			.pid = owners[i].pid,
			.tgid = owners[i].pid,
			.task_start_ns = exact_start(io, &owners[i]),
			.cgroup_id = owners[i].cgroup_id,
			.device = owners[i].item,
			.exclusive = true,
			.start_ns = io->last_ns,
			.end_ns = now,
		};

		if (was_owner(io, &owners[i]))
			err = trace_send_io(&io->out, &event);
		if (err == -EINVAL)
			err = 0;
	}
	return err;
}

/* Holders of a device that several cgroups have open; a process of a namespace has no number. */
static int send_others(struct device_io *io, uint64_t now)
{
	static const size_t most = TRACE_MAX_CONTEXTS;
	const struct owner *others;
	size_t nr = io->tells ? owners_others(io->owners, &others) : 0;
	struct trace_context list[TRACE_MAX_CONTEXTS];
	int err = 0;

	for (size_t i = 0, next = 0; i < nr && !err; i = next) {
		struct trace_contexts event = { .device = others[i].item,
						.start_ns = io->last_ns,
						.end_ns = now,
						.processes = list };

		for (; next < nr && others[next].item == others[i].item; next++)
			if (others[next].pid && event.nr < most)
				list[event.nr++] = (struct trace_context){
					.pid = others[next].pid,
					.start_ns = exact_start(io, &others[next]),
					.instance = TRACE_NO_INSTANCE,
					.since_ns = now
				};
		err = trace_send_holders(&io->out, &event);
		if (err == -EINVAL)
			err = 0;
	}
	return err;
}

static bool is_due(const struct device_io *io, uint64_t now_ns, bool mark)
{
	uint64_t since = now_ns - io->last_ns;

	if (since < LOOK_MOST * io->took_ns)
		return false;
	if (mark)
		return since >= LOOK_END_NS || since >= LOOK_SHARE * io->took_ns;
	return since >= LOOK_NS && now_ns - io->marked_ns >= LOOK_NS;
}

int device_io_look(struct device_io *io, uint64_t now_ns, bool mark)
{
	const struct owner *owners = NULL;
	struct owner *copy;
	bool due = io->last_ns && is_due(io, now_ns, mark);
	uint64_t begun;
	size_t nr = 0;
	int err = 0;

	if (mark)
		io->marked_ns = now_ns;
	if (!due)
		return 0;
	begun = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (owners_find(io->owners, io->list, &owners, &nr))
		nr = 0; /* nothing is certain */
	io->took_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun;
	err = send_owners(io, owners, nr, now_ns);
	if (!err)
		err = send_others(io, now_ns);
	copy = calloc(nr + 1, sizeof(*copy));
	if (copy && nr)
		memcpy(copy, owners, nr * sizeof(*copy));
	free(io->last);
	io->last = copy;
	io->nr_last = copy ? nr : 0;
	io->last_ns = now_ns;
	return err;
}

void device_io_tell(struct device_io *io)
{
	io->tells = true;
}

enum io_noted device_io_noted(const struct device_io *io, size_t item, enum device_kind kind)
{
	return io->mapped[item].refused ? IO_NONE : ledger_io_noted(io->ledger, kind);
}

const char *device_io_note(const struct device_io *io)
{
	return io->note[0] ? io->note : ledger_io_note(io->ledger);
}
