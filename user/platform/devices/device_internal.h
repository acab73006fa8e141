/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parts of the choice of devices: names (device_names.c), what uses them (device_use.c). */
#ifndef PLATFORM_DEVICES_DEVICE_INTERNAL_H
#define PLATFORM_DEVICES_DEVICE_INTERNAL_H

#include "platform/devices/devices.h"

/**
 * struct device_set - functions that were found, by index into the topology
 * @topology: not owned
 * @chosen: one flag a function
 * @missing: a PCI address that was found and is not in the topology; "" for none
 * @nr: functions added, also those that were in the set before
 */
struct device_set {
	const struct topology *topology;
	bool *chosen;
	char missing[MODEL_BDF_LEN];
	size_t nr;
};

/** device_set_add() - add a function by its address as Linux writes it */
void device_set_add(struct device_set *s, const char *bdf);

/** device_path_has() - is @part one of the components of the path? */
bool device_path_has(const char *path, const char *part);

/**
 * device_name_find() - the functions that a name stands for
 * @fs: sysfs
 * @name: of a disk, partition, network interface, RDMA device, NVMe controller, GPU
 * @set: they are added to it
 * @ret_known: there is something of this name
 *
 * Return: 0, also when nothing was found, or -ENOMEM.
 */
int device_name_find(const struct sysfs *fs, const char *name, struct device_set *set,
		     bool *ret_known);

/** device_name_help() - "did you mean ...?" for a name that is not there */
void device_name_help(const struct sysfs *fs, const char *name, char *ret, size_t size);

/**
 * struct device_use - how the kernel knows a device; see struct device_item
 * @disks, @interfaces, @nodes: owned, in order
 */
struct device_use {
	char (*disks)[32];
	size_t nr_disks, cap_disks;
	uint32_t *interfaces;
	size_t nr_interfaces, cap_interfaces;
	dev_t *nodes;
	size_t nr_nodes, cap_nodes;
};

/**
 * device_uses_read() - for all devices of a list
 * @l: the devices
 * @fs: sysfs
 * @ret: one a device, all empty; released by the caller in any case
 *
 * Directories that are not there are as good as empty.
 *
 * Return: 0 or -ENOMEM.
 */
int device_uses_read(const struct device_list *l, const struct sysfs *fs, struct device_use *ret);
void device_use_release(struct device_use *u);

/** device_use_add_node() - keeps them in order, each once; 0 or -ENOMEM */
int device_use_add_node(struct device_use *u, dev_t node);

/** device_use_gpu() - the node of NVIDIA's driver, which sysfs does not have; 0 or -ENOMEM */
int device_use_gpu(const struct sysfs *fs, const char *bdf, struct device_use *u);
#define DEVICE_NVIDIA_MAJOR 195

/**
 * device_shares_mask() - is a function that can move data below another port that is said to be the
 *	same one of its root complex? A map that says where a segment is does so
 */
bool device_shares_mask(const struct topology *t, uint32_t index);

/** device_class_moves() - the same by class code alone */
bool device_class_moves(uint32_t class_code);

#endif
