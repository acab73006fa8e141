/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parts of the search for owners: processes (owners.c), kernel (owner_kernel.c), networks. */
#ifndef PLATFORM_DEVICES_OWNER_INTERNAL_H
#define PLATFORM_DEVICES_OWNER_INTERNAL_H

#include <stdbool.h>

#include "base/text_list.h"
#include "platform/devices/owners.h"

/**
 * struct owner_node - a device node that is looked for among open files
 * @dev: major and minor
 * @item: whose it is; a VFIO group has one entry for each of its functions
 * @block: a disk or partition: then it goes through the kernel
 */
struct owner_node {
	dev_t dev;
	uint32_t item;
	bool block;
};

/**
 * struct owner_state - what was found out about a device
 * @by_nodes: it has nodes that programs open
 * @by_network: its interface may be in another network namespace
 * @used: the kernel uses it, or that is not certain
 * @held: somebody has it
 * @shared: in several cgroups, or in an unknown one
 * @cgroup_id: with @held
 */
struct owner_state {
	bool by_nodes;
	bool by_network;
	bool used;
	bool held;
	bool shared;
	uint64_t cgroup_id;
};

/**
 * struct owner_network - a network namespace that is not ours
 * @link: its identity, as /proc/PID/ns/net shows it
 * @items: flags by item: interfaces of these are in it; NULL until some are
 * @tries: processes whose sysfs was looked at
 */
struct owner_network {
	char link[64];
	bool *items;
	unsigned int tries;
};

/* A mount namespace whose mounts were read, by /proc/PID/ns/mnt. */
struct owner_mounts {
	char link[64];
};

struct owners {
	int proc;
	char cgroup_mount[PATH_MAX];
	struct cgroup1 v1;
	const struct text_list *ignored; /* NULL for none */
	struct owner *found;
	size_t nr, cap;
	size_t nr_owners; /* of @found: the first ones */
	/* while looking */
	const struct device_list *l;
	struct owner_state *states; /* by item */
	struct owner_node *nodes;
	size_t nr_nodes, cap_nodes;
	struct owner_network *networks;
	size_t nr_networks, cap_networks;
	struct owner_mounts *mounts;
	size_t nr_mounts, cap_mounts;
	char own_network[64];
	bool any_disks;
	bool any_networks;
};

/** owner_link() - what a link of a process says; 0 or a negative errno */
int owner_link(const struct owners *o, const char *pid, const char *name, char *ret, size_t size);

/** owner_is_gone() - is this the error of a process that has ended? */
bool owner_is_gone(int err);

/** owner_hold() - a process has a device; its owner is found out. 0 or -ENOMEM */
int owner_hold(struct owners *o, uint32_t item, const char *pid, bool whole_cgroup);

/** owner_add_node() - look for it among open files; 0 or -ENOMEM */
int owner_add_node(struct owners *o, dev_t dev, uint32_t item, bool block);

/** owner_kernel_start() - holders, swap and interfaces; adds nodes of disks; 0 or -ENOMEM */
int owner_kernel_start(struct owners *o);

/** owner_kernel_process() - mounts of the process's namespace; 0, -ENOMEM, -EACCES */
int owner_kernel_process(struct owners *o, const char *pid);

/** owner_network_process() - interfaces in the process's network namespace; the same */
int owner_network_process(struct owners *o, const char *pid);

/** owner_network_end() - all processes are known: who has the namespaces; the same */
int owner_network_end(struct owners *o, const struct text_list *pids);

#endif
