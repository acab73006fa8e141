/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Devices below root ports, made up by hand, beside the PMUs of a virtual machine. */
#ifndef TEST_PORT_WORLD_H
#define TEST_PORT_WORLD_H

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "platform/plan/device_plan.h"
#include "tree.h"

#define WORLD_MAX 64

static struct {
	struct tree tree;
	struct sysfs fs;
	struct pmu_list pmus;
	struct pci_function functions[2 * WORLD_MAX];
	struct device_item items[WORLD_MAX];
	struct topology topology;
	struct device_list list;
} world;

static inline struct pci_function *world_function(size_t item)
{
	return &world.functions[world.items[item].function];
}

/* The root port of these numbers; made when it is not there. */
static inline uint32_t world_port(uint32_t socket, uint32_t rc, uint32_t rp)
{
	struct pci_function *f;
	uint32_t i;

	for (i = 0; i < world.topology.nr; i++) {
		f = &world.functions[i];
		if (f->role == PCI_ROLE_ROOT_PORT && f->wiring.socket == socket &&
		    f->wiring.rc == rc && f->wiring.rp == rp)
			return i;
	}
	f = &world.functions[world.topology.nr++];
	*f = (struct pci_function){
		.role = PCI_ROLE_ROOT_PORT,
		.port = i,
		.parent = TOPOLOGY_NONE,
		.wiring = { WIRING_FIRMWARE, socket, rc, rp, "", 0 },
	};
	snprintf(f->bdf, sizeof(f->bdf), "%04x:80:%02x.0", socket * 8 + rc + 1, rp);
	return i;
}

/* A device below a root port: its index. */
static inline size_t world_add(uint32_t socket, uint32_t rc, uint32_t rp, bool alone)
{
	uint32_t port = world_port(socket, rc, rp), at = world.topology.nr++;
	struct pci_function *f = &world.functions[at];
	size_t item = world.list.nr++;

	*f = (struct pci_function){
		.role = PCI_ROLE_ENDPOINT,
		.bus = 0x81 + item,
		.port = port,
		.parent = port,
		.wiring = { WIRING_FIRMWARE, socket, rc, rp, "", 0 },
	};
	snprintf(f->bdf, sizeof(f->bdf), "%04x:%02x:00.0", socket * 8 + rc + 1, f->bus);
	world.items[item] = (struct device_item){
		.function = at,
		.requester_id = f->bus << 8,
		.alone = alone,
	};
	return item;
}

static inline int world_plan(const struct plan_capacity *capacities, bool by_destination,
			     struct diag *d, struct device_plan *ret)
{
	static const uint32_t sockets[] = { 0, 1 };
	struct device_plan_options o = {
		.devices = &world.list,
		.pmus = &world.pmus,
		.capacities = capacities,
		.socket_ids = sockets,
		.nr_sockets = ARRAY_SIZE(sockets),
		.by_destination = by_destination,
		.latencies = true,
	};

	return device_plan_make(&o, d, ret);
}

static inline int world_start(void (*fill)(struct tree *))
{
	memset(&world, 0, sizeof(world));
	fill(&world.tree);
	world.topology.functions = world.functions;
	world.list.topology = &world.topology;
	world.list.items = world.items;
	return sysfs_open(world.tree.root, NULL, &world.fs) ||
	       pmu_list_read(&world.fs, NULL, &world.pmus);
}

static inline int world_start_t410(void **state)
{
	(void)state;
	return world_start(tree_make_t410);
}

static inline int world_start_grace(void **state)
{
	(void)state;
	return world_start(tree_make_grace);
}

static inline void world_fill_ampereone(struct tree *tree)
{
	tree_make_platform(tree, "ampereone");
}

static inline int world_start_ampereone(void **state)
{
	(void)state;
	return world_start(world_fill_ampereone);
}

static inline int world_finish(void **state)
{
	(void)state;
	pmu_list_free(&world.pmus);
	sysfs_close(&world.fs);
	tree_remove(&world.tree);
	return 0;
}

#endif
