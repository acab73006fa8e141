/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A small PCI tree for tests: the topology, and the sysfs that goes with it. */
#ifndef TESTS_DEVICES_WORLD_H
#define TESTS_DEVICES_WORLD_H

#include "platform/devices/devices.h"
#include "tree.h"

#define HOST "pci0002:80"

/* Indexes into the topology */
enum {
	F_HOST,
	F_INTEGRATED,
	F_PORT1,
	F_NVME,
	F_PORT2,
	F_NIC,
	F_NIC1,
	F_VF,
	F_PORT3,
	F_UP,
	F_DOWN,
	F_NVME1,
	F_PORT4,
	F_PCI_BRIDGE,
	F_OLD,
	F_PORT5,
	F_GPU,
	F_USER,
	NR_F,
};

struct pci_world {
	struct tree tree;
	struct sysfs fs;
	struct pci_function functions[NR_F];
	struct topology t;
};

/* @path: components above the function, "" for the host bridge */
static inline void world_function(struct pci_world *w, uint32_t index, const char *bdf,
				  enum pci_role role, uint32_t parent, uint32_t port,
				  uint32_t class_code)
{
	struct pci_function *f = &w->functions[index];
	unsigned int domain, bus, device, function;

	assert_int_equal(sscanf(bdf, "%x:%x:%x.%x", &domain, &bus, &device, &function), 4);
	*f = (struct pci_function){ .domain = domain,
				    .bus = bus,
				    .devfn = device << 3 | function,
				    .class_code = class_code,
				    .role = role,
				    .parent = parent,
				    .port = port,
				    .physfn = TOPOLOGY_NONE,
				    .alias_bridge = TOPOLOGY_NONE };
	strcpy(f->bdf, bdf);
	if (port != TOPOLOGY_NONE)
		f->wiring = (struct pci_wiring){ WIRING_FIRMWARE, 0, 1, port, "", 0 };
}

/* Where the function is, below the root of sysfs. */
static inline void world_path(const struct pci_world *w, uint32_t index, char ret[PATH_MAX])
{
	const struct pci_function *f = &w->functions[index];
	char above[PATH_MAX] = "devices/pci0000:00";

	if (f->parent != TOPOLOGY_NONE)
		world_path(w, f->parent, above);
	assert_true(snprintf(ret, PATH_MAX, "%.3000s/%s", above, f->bdf) < PATH_MAX);
}

/* A link of a directory to something below a function. */
static inline void world_link(const struct pci_world *w, const char *name, uint32_t index,
			      const char *behind)
{
	char path[PATH_MAX], target[PATH_MAX];

	world_path(w, index, path);
	assert_true(snprintf(target, sizeof(target), "../../%.3000s/%.500s", path, behind) <
		    (int)sizeof(target));
	tree_link(&w->tree, name, target);
}

static inline void world_add_pci(const struct pci_world *w, uint32_t index)
{
	char name[128];

	snprintf(name, sizeof(name), "sys/bus/pci/devices/%s", w->functions[index].bdf);
	world_link(w, name, index, "");
}

/* An interface that belongs to a function, or (NR_F) to none. */
static inline void world_add_net(const struct pci_world *w, const char *if_name, uint32_t index,
				 unsigned int number)
{
	char name[256], text[16], path[PATH_MAX] = "devices/virtual/net", behind[64] = "";

	if (index < NR_F) {
		world_path(w, index, path);
		strcpy(behind, "net/");
	}
	assert_true(snprintf(name, sizeof(name), "sys/%.180s/%s%s/ifindex", path, behind, if_name) <
		    (int)sizeof(name));
	snprintf(text, sizeof(text), "%u\n", number);
	tree_put(&w->tree, name, text);
	snprintf(name, sizeof(name), "sys/class/net/%s", if_name);
	strncat(behind, if_name, sizeof(behind) - strlen(behind) - 1);
	if (index < NR_F) {
		world_link(w, name, index, behind);
	} else {
		char target[PATH_MAX];

		snprintf(target, sizeof(target), "../../devices/virtual/net/%s", if_name);
		tree_link(&w->tree, name, target);
	}
}

static inline void world_add_disk(const struct pci_world *w, const char *disk, uint32_t index,
				  const char *behind)
{
	char name[128];

	snprintf(name, sizeof(name), "sys/class/block/%s", disk);
	world_link(w, name, index, behind);
	snprintf(name, sizeof(name), "sys/block/%s", disk);
	/* one level less than a class */
	world_link(w, name, index, behind);
}

static inline void world_make(struct pci_world *w)
{
	const uint32_t none = TOPOLOGY_NONE;
	struct diag d = { 0 };
	char root[128];

	memset(w, 0, sizeof(*w));
	tree_make(&w->tree);
	world_function(w, F_HOST, "0000:00:00.0", PCI_ROLE_HOST_BRIDGE, none, none, 0x060000);
	world_function(w, F_INTEGRATED, "0000:00:02.0", PCI_ROLE_INTEGRATED, none, none, 0x010000);
	world_function(w, F_PORT1, "0002:80:00.0", PCI_ROLE_ROOT_PORT, none, F_PORT1, 0x060400);
	world_function(w, F_NVME, "0002:81:00.0", PCI_ROLE_ENDPOINT, F_PORT1, F_PORT1, 0x010802);
	world_function(w, F_PORT2, "0002:a0:00.0", PCI_ROLE_ROOT_PORT, none, F_PORT2, 0x060400);
	world_function(w, F_NIC, "0002:a1:00.0", PCI_ROLE_ENDPOINT, F_PORT2, F_PORT2, 0x020000);
	world_function(w, F_NIC1, "0002:a1:00.1", PCI_ROLE_ENDPOINT, F_PORT2, F_PORT2, 0x020000);
	world_function(w, F_VF, "0002:a1:00.2", PCI_ROLE_ENDPOINT, F_PORT2, F_PORT2, 0x020000);
	world_function(w, F_PORT3, "0002:c0:00.0", PCI_ROLE_ROOT_PORT, none, F_PORT3, 0x060400);
	world_function(w, F_UP, "0002:c1:00.0", PCI_ROLE_UPSTREAM, F_PORT3, F_PORT3, 0x060400);
	world_function(w, F_DOWN, "0002:c2:00.0", PCI_ROLE_DOWNSTREAM, F_UP, F_PORT3, 0x060400);
	world_function(w, F_NVME1, "0002:c3:00.0", PCI_ROLE_ENDPOINT, F_DOWN, F_PORT3, 0x010802);
	world_function(w, F_PORT4, "0003:00:00.0", PCI_ROLE_ROOT_PORT, none, F_PORT4, 0x060400);
	world_function(w, F_PCI_BRIDGE, "0003:01:00.0", PCI_ROLE_PCI_BRIDGE, F_PORT4, F_PORT4,
		       0x060400);
	world_function(w, F_OLD, "0003:02:04.0", PCI_ROLE_ENDPOINT, F_PCI_BRIDGE, F_PORT4,
		       0x020000);
	world_function(w, F_PORT5, "0009:00:00.0", PCI_ROLE_ROOT_PORT, none, F_PORT5, 0x060400);
	world_function(w, F_GPU, "0009:81:00.0", PCI_ROLE_ENDPOINT, F_PORT5, F_PORT5, 0x030200);
	world_function(w, F_USER, "0009:f0:00.0", PCI_ROLE_INTEGRATED, none, none, 0x010802);
	w->functions[F_PCI_BRIDGE].secondary = 2;
	w->functions[F_OLD].alias_bridge = F_PCI_BRIDGE;
	w->functions[F_VF].physfn = F_NIC;
	w->functions[F_NVME].kind = w->functions[F_NVME1].kind = DEVICE_NVME;
	w->functions[F_GPU].kind = DEVICE_GPU;
	w->functions[F_USER].wiring.how = WIRING_USER;
	strcpy(w->functions[F_NVME].names, "nvme0n1 nvme0n2");
	w->t = (struct topology){ .functions = w->functions, .nr = NR_F };
	for (uint32_t i = 0; i < NR_F; i++)
		world_add_pci(w, i);
	snprintf(root, sizeof(root), "%s/sys", w->tree.root);
	assert_int_equal(sysfs_open(root, &d, &w->fs), 0);
}

static inline void world_drop(struct pci_world *w)
{
	sysfs_close(&w->fs);
	tree_remove(&w->tree);
}

#endif
