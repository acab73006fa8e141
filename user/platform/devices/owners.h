/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Exclusive owners: cgroups that alone have a device open that programs use directly, past the
 * kernel's block and network layers (VFIO, RDMA, GPUs, NVMe passthrough). A virtual function whose
 * interface is in a network namespace of a single cgroup is one, too.
 */
#ifndef PLATFORM_DEVICES_OWNERS_H
#define PLATFORM_DEVICES_OWNERS_H

#include "base/text_list.h"
#include "platform/sys/cgroup1.h"
#include "platform/devices/devices.h"

/**
 * struct owner - a process that has a device open, and with it its whole cgroup
 * @item: index into the list of devices
 * @pid: the process; 0: any of the cgroup, because several processes are in the network
 *	namespace that has the device's interface
 * @start_ns: when it began, as /proc tells it: up to two hundredths of a second before or after
 *	what the kernel's records of this pid say, and more where the machine slept since
 * @cgroup_id: as in the trace
 */
struct owner {
	uint32_t item;
	uint32_t pid;
	uint64_t start_ns;
	uint64_t cgroup_id;
};

struct owners;

/**
 * owners_new() - nothing is known yet
 * @proc: "/proc", or a copy for tests
 * @cgroup_mount: where the cgroup v2 tree is, "" for nowhere: then nobody is an owner
 * @v1: the hierarchy whose cgroups stand in for those of the v2 tree, NULL for none; copied
 * @ret: free with owners_free()
 */
int owners_new(const char *proc, const char *cgroup_mount, const struct cgroup1 *v1,
	       struct owners **ret);
void owners_free(struct owners *o);

/**
 * owners_ignore() - leave out processes of some cgroups, as if they had nothing open
 * @o: owners
 * @cgroups: paths in the v2 tree, with all below them; must outlive @o
 */
void owners_ignore(struct owners *o, const struct text_list *cgroups);

/**
 * owners_find() - look through the open files of all processes, once
 * @o: owners
 * @l: the devices
 * @ret: the processes that have a device open, for devices that are open in one cgroup only;
 *	ordered by device, valid until the next call
 * @ret_nr: how many
 *
 * A device that the kernel itself uses (a mounted disk, an interface that is up in our own
 * namespace) has no owner. Costs a look at every open file of the machine: for once in some
 * seconds, and only when a chosen device has nodes; nothing is read otherwise. Processes that
 * end meanwhile are no error. Files that are open only inside of io_uring or on their way through a
 * socket are not seen.
 *
 * Return: 0 or a negative errno, with outputs untouched; -EACCES when files of others may not be
 * seen (no rights, a pid namespace or a cgroup namespace of our own): then nothing is certain and nobody is an owner.
 */
int owners_find(struct owners *o, const struct device_list *l, const struct owner **ret,
		size_t *ret_nr);

/**
 * owners_others() - after owners_find(): who prevents a single owner
 * @o: owners
 * @ret: the processes that have a device open that is open in several cgroups, or in one that is not
 *	known; ordered by device, valid until the next look
 *
 * Return: how many.
 */
size_t owners_others(const struct owners *o, const struct owner **ret);

#endif
