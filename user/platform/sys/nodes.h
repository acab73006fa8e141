/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* NUMA nodes and their CPUs. */
#ifndef PLATFORM_SYS_NODES_H
#define PLATFORM_SYS_NODES_H

#include <stddef.h>

#include "base/cpulist.h"
#include "platform/sys/sysfs.h"

/**
 * struct numa_nodes - nodes that have CPUs
 * @items: number and CPUs of each; owned
 * @nr: none where the kernel knows no nodes
 */
struct numa_nodes {
	struct numa_node {
		int32_t number;
		struct cpulist cpus;
	} * items;
	size_t nr;
	size_t cap;
};

/** numa_nodes_read() - all of them; 0 or -ENOMEM. Release with numa_nodes_free() */
int numa_nodes_read(const struct sysfs *fs, struct numa_nodes *ret);
void numa_nodes_free(struct numa_nodes *nodes);

#endif
