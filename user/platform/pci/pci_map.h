/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The user's map of root ports, see pci_map_read() in topology.h. */
#ifndef PLATFORM_PCI_PCI_MAP_H
#define PLATFORM_PCI_PCI_MAP_H

#include "platform/pci/pci_space.h"
#include "platform/pci/topology.h"

/**
 * struct pci_map_entry - a line of the map
 * @address: bus and function are 0 for a whole segment
 * @segment: it is about a whole segment
 * @socket, @rc, @rp: the place it gives
 * @gpu: as pci_wiring.gpu
 * @line: its number in the file
 */
struct pci_map_entry {
	struct bdf address;
	bool segment;
	uint32_t socket;
	uint32_t rc;
	uint32_t rp;
	uint32_t gpu;
	size_t line;
};

struct pci_map {
	struct pci_map_entry *entries;
	size_t nr;
	size_t cap;
};

/**
 * pci_map_find() - the map's line for a function or a segment
 * @m: the map, or NULL
 * @a: the function
 * @segment: find the line for its segment
 *
 * Return: the entry, owned by @m, or NULL.
 */
const struct pci_map_entry *pci_map_find(const struct pci_map *m, const struct bdf *a,
					 bool segment);

#endif
