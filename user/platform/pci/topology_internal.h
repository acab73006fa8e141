/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the topology's files only. */
#ifndef PLATFORM_PCI_TOPOLOGY_INTERNAL_H
#define PLATFORM_PCI_TOPOLOGY_INTERNAL_H

#include "platform/pci/pci_map.h"
#include "platform/pci/pci_space.h"
#include "platform/pci/topology.h"

/**
 * struct topology_job - a topology in the making
 * @src: of topology_read()
 * @space: configuration space
 * @t: the topology so far
 * @configs: of each function
 * @nr_dropped: notes beyond TOPOLOGY_NOTES
 */
struct topology_job {
	const struct topology_source *src;
	struct pci_space *space;
	struct topology *t;
	struct pci_config *configs;
	size_t nr_dropped;
};

/* More notes about single functions would not be read. */
#define TOPOLOGY_NOTES 32

/** topology_note() - add a note, formatted as by printf(); 0 or -ENOMEM */
#define topology_note(job, ...)                                                               \
	((job)->t->notes.nr < TOPOLOGY_NOTES ? text_list_print(&(job)->t->notes, __VA_ARGS__) \
					     : ((job)->nr_dropped++, 0))

/** topology_index() - index of the function at an address, or TOPOLOGY_NONE */
uint32_t topology_index(const struct topology *t, const struct bdf *a);

/** topology_link_function() - the last PCI function in the text of a link, or TOPOLOGY_NONE */
uint32_t topology_link_function(const struct topology_job *job, const char *path);

/** topology_tree() - roles, parents, root ports, physical functions; 0 or -ENOMEM */
int topology_tree(struct topology_job *job);

/** topology_wiring() - root complexes and sockets; 0 or -ENOMEM */
int topology_wiring(struct topology_job *job);

/** topology_occupants() - the use of functions; 0 or -ENOMEM */
int topology_occupants(struct topology_job *job);

/**
 * pci_wiring_find() - find the place of a root port
 * @config: its configuration space
 * @a: its address
 * @map: the user's map, or NULL
 * @platform: whose rule of thumb applies
 * @ret: its how is WIRING_UNKNOWN, with the reason in note, when it is not found
 */
void pci_wiring_find(const struct pci_config *config, const struct bdf *a,
		     const struct pci_map *map, enum pmu_platform platform, struct pci_wiring *ret);

#endif
