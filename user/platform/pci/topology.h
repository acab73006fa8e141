/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The PCI topology: every function, their tree, and the root port, root complex and socket above
 * each. From this machine's sysfs, a copy of another machine's, or lspci's output there.
 * Configuration space is read with libpci.
 */
#ifndef PLATFORM_PCI_TOPOLOGY_H
#define PLATFORM_PCI_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "model.h"
#include "platform/pmu/pmu.h"
#include "platform/sys/sysfs.h"

#define TOPOLOGY_NONE UINT32_MAX

/* The device/port types of the PCI Express capability that matter here. */
enum pci_role {
	PCI_ROLE_ENDPOINT,
	PCI_ROLE_ROOT_PORT,
	PCI_ROLE_UPSTREAM,   /* of a switch */
	PCI_ROLE_DOWNSTREAM, /* of a switch */
	PCI_ROLE_PCI_BRIDGE, /* from PCI Express to PCI or back: may put its own id on requests */
	PCI_ROLE_INTEGRATED, /* endpoint of the root complex: no port above it */
	PCI_ROLE_HOST_BRIDGE,
};

/**
 * struct pci_wiring - the place of a root port
 * @how: source of the knowledge
 * @socket: number of the socket, as in the names of PMUs
 * @rc, @rp: root complex; bit in port masks
 * @note: a warning about it, for people; "" for none
 * @gpu: of a GPU at a link to the CPUs: its bit in the masks of the link's PMU, from 1; 0 = unknown
 */
struct pci_wiring {
	enum wiring how;
	uint32_t socket;
	uint32_t rc;
	uint32_t rp;
	char note[160];
	uint32_t gpu;
};

/**
 * struct pci_function - a PCI function
 * @bdf: address, "0002:81:00.0"
 * @domain, @bus, @devfn: the same as numbers; bus << 8 | devfn is the requester id
 * @vendor, @device, @class_code: of configuration space; class with its programming interface
 * @role: its role in the tree
 * @secondary, @subordinate: of bridges: buses below
 * @parent: index of the bridge above, TOPOLOGY_NONE at the top
 * @port: index of the root port above (itself for a root port), TOPOLOGY_NONE without one
 * @physfn: index of the physical function of a virtual one, TOPOLOGY_NONE otherwise
 * @alias_bridge: index of the first PCI_ROLE_PCI_BRIDGE above, which may replace the id of this
 *	function's requests; TOPOLOGY_NONE without one
 * @numa_node: -1 = unknown
 * @link_mts, @link_width: of bridges: speed (MT/s) and lanes of the link below; 0 = unknown or down
 * @driver: name of its driver, "" for none or unknown
 * @wiring: of the port above; how = WIRING_UNKNOWN without one
 * @kind: its use
 * @names: "nvme0n1 nvme0n2", "eth0", "mlx5_0 eth0"; separated by spaces; "" for none
 * @what: vendor and device or class as text for people
 */
struct pci_function {
	char bdf[MODEL_BDF_LEN];
	uint32_t domain;
	uint8_t bus;
	uint8_t devfn;
	uint16_t vendor;
	uint16_t device;
	uint32_t class_code;
	enum pci_role role;
	uint8_t secondary;
	uint8_t subordinate;
	uint32_t parent;
	uint32_t port;
	uint32_t physfn;
	uint32_t alias_bridge;
	int32_t numa_node;
	uint32_t link_mts;
	uint8_t link_width;
	struct pci_wiring wiring;
	enum device_kind kind;
	char names[128];
	char what[128];
	char driver[32];
};

/**
 * struct topology - all functions, ordered by address
 * @cut: without rights, only the header of configuration space could be read
 * @notes: for people
 */
struct topology {
	struct pci_function *functions;
	size_t nr;
	bool cut;
	struct text_list notes;
};

/**
 * struct topology_source - where to read the topology
 * @sysfs: of this machine or a copy of another one's; NULL with @dump
 * @dump: output of "lspci -D -xxxx" (also -vxxxx), NULL for none
 * @map: the user's map, see pci_map_read(); NULL for none
 * @platform: chooses the rule of thumb for ports that firmware does not describe;
 *	PMU_PLATFORM_UNKNOWN: none
 */
struct pci_map;
struct topology_source {
	const struct sysfs *sysfs;
	const char *dump;
	const struct pci_map *map;
	enum pmu_platform platform;
};

/**
 * topology_read() - read everything
 *
 * Return: 0; -ENOENT when there is no PCI; -EINVAL for a file that is no dump; -ENOMEM.
 */
int topology_read(const struct topology_source *src, struct diag *d, struct topology *ret);
void topology_free(struct topology *t);

/** topology_find() - index of a function by its address ("2:81:0.0" works, too), or TOPOLOGY_NONE */
uint32_t topology_find(const struct topology *t, const char *bdf);

/**
 * topology_port_pmu() - the name of a root port's own PMU, see pmu_family.one_port
 * @port: the root port
 * @ret_name: "dwc_rootport_10008": segment, bus, device and function in one number, as the kernel's
 *	drivers/perf/dwc_pcie_pmu.c makes it; cut to fit
 * @size: size of @ret_name in bytes
 */
void topology_port_pmu(const struct pci_function *port, char *ret_name, size_t size);

/**
 * pci_map_read() - the user's map: where root ports or devices are
 * @file: lines "ADDRESS socket=S rc=R rp=P", where ADDRESS is that of a root port, of any other
 *	function (for that one alone), or a segment ("0002:*"); # begins a comment
 * @d: the error, with line and column
 * @ret: release with pci_map_free()
 *
 * Return: 0, -EINVAL, an error of reading, -ENOMEM.
 */
int pci_map_read(const char *file, struct diag *d, struct pci_map **ret);
void pci_map_free(struct pci_map *m);

#endif
