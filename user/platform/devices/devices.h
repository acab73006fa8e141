/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Devices that a run is about: from what users type (-D nvme0n1) to PCI functions, and from
 * these to the disks, network interfaces and device nodes by which the kernel knows them.
 */
#ifndef PLATFORM_DEVICES_DEVICES_H
#define PLATFORM_DEVICES_DEVICES_H

#include <sys/types.h>

#include "base/diag.h"
#include "model.h"
#include "platform/sys/sysfs.h"
#include "platform/pci/topology.h"

/* With the index of an interface that is made of others; no index is as large. */
#define DEVICE_STACKED (1u << 31)

/**
 * struct device_item - a device that was chosen
 * @function: index into the topology
 * @requester_id: on its requests
 * @alone: nothing else below its root port, or one said to be the same, can move data: a port mask
 *	counts it
 * @gone: it is not there (any more)
 * @disks, @nr_disks: kernel names of its disks, "nvme0n1", hidden paths "nvme0c0n1" too
 * @interfaces, @nr_interfaces: indexes of its network interfaces in our network namespace,
 *	and, with DEVICE_STACKED, of those made of them alone (VLANs)
 * @nodes, @nr_nodes: device nodes through which programs use it directly: VFIO groups, RDMA,
 *	GPUs, NVMe's character devices
 */
struct device_item {
	uint32_t function;
	uint16_t requester_id;
	bool alone;
	bool gone;
	char (*disks)[32];
	size_t nr_disks;
	uint32_t *interfaces;
	size_t nr_interfaces;
	dev_t *nodes;
	size_t nr_nodes;
};

/**
 * struct device_list - the devices of a run
 * @topology: not owned; NULL: they are no PCI functions, and @function means nothing
 * @items, @nr: in the order of addresses, each once
 */
struct device_list {
	const struct topology *topology;
	struct device_item *items;
	size_t nr;
};

/**
 * devices_select() - what users want counted
 * @t: must outlive the list
 * @fs: sysfs, to resolve names
 * @specs, @nr: each a PCI address, the name of a disk (or partition), network interface, RDMA
 *	device, NVMe controller, "gpu": every GPU, or "all": every function that can move data. RAID and device-mapper
 *	disks, bonds and VLANs stand for all devices below them
 * @d: what is wrong with which, and the remedy: no such device, a bridge (its devices are
 *	listed), a device that is not PCI, one behind a bridge that puts its own id on requests, more
 *	than TRACE_MAX_DEVICES
 * @ret: release with devices_free()
 *
 * "all" leaves out bridges and what is behind PCI bridges, without an error.
 *
 * Return: 0 or a negative errno: -ENODEV for a device that is not there, -EINVAL for one that
 * cannot be told from others.
 */
int devices_select(const struct topology *t, const struct sysfs *fs, char *const *specs, size_t nr,
		   struct diag *d, struct device_list *ret);
void devices_free(struct device_list *l);

/** device_gpu_driver() - the function's driver, if it is one of GPUs: nvidia, amdgpu, xe, i915; or NULL */
const char *device_gpu_driver(const struct pci_function *f);

/** device_moves() - can a function of this kind move data by itself? */
bool device_moves(const struct pci_function *f);

/**
 * struct device_change - what is different since devices_select() or the last refresh
 * @item: index; of the first device concerned
 * @kind: what happened
 * @text: for people, one line
 */
enum device_change_kind {
	DEVICE_CAME_BACK,
	DEVICE_WENT,
	DEVICE_USE,   /* its disks, interfaces or nodes are others */
	DEVICE_CROWD, /* it is no longer alone below its port, or alone now: item->alone */
};
struct device_change {
	uint32_t item;
	enum device_change_kind kind;
	char text[160];
};

/**
 * devices_refresh() - look again: hotplug, virtual functions, renamed interfaces
 * @l: brought up to date; functions that are new are not added to it
 * @fs: sysfs
 * @change: called for each difference, when the item is up to date
 * @arg: handed to it
 *
 * Reads directories only, no configuration space: cheap enough for once a second.
 *
 * Return: number of differences or a negative errno.
 */
int devices_refresh(struct device_list *l, const struct sysfs *fs,
		    void (*change)(void *arg, const struct device_change *c), void *arg);

/** device_item_describe() - the part of struct device that is known here; socket is 0 */
void device_item_describe(const struct device_list *l, size_t item, struct device *ret);

#endif
