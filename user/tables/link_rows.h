/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The events that tell the traffic of a GPU's NVLink-C2C, as rows of meaning. */
#ifndef TABLES_LINK_ROWS_H
#define TABLES_LINK_ROWS_H

#include "model.h"
#include "tables/families.h"

/**
 * struct link_chip - the links of a chip
 * @link: PMU family of a socket's link
 * @peers: the PMU tells how many GPUs are at the other end (pmu.peer); otherwise the other end is a
 *	GPU's where the GPU is one of a superchip
 * @fabric, @complexes: where bytes are derived: families with all bytes, and with those of root
 *	complexes; PMU_UNKNOWN where the link has its own
 */
struct link_chip {
	enum pmu_kind link;
	bool peers;
	enum pmu_kind fabric;
	enum pmu_kind complexes;
};

extern const struct link_chip link_chips[];
extern const size_t nr_link_chips;

/** link_is_fabric() - are bytes of links derived from this family? */
bool link_is_fabric(enum pmu_kind kind);

/**
 * struct link_row - an event of a link
 * @kind: PMU family, one PMU of the GPU's socket; of PCIe all of its root complexes
 * @event: name in sysfs
 * @filters: format fields that are 1, two with a comma between, "" for none
 * @direction, @destination: as the GPU sees memory
 * @unit: bytes or requests
 * @term: see enum term
 * @source: source of the meaning
 *
 * Rows of a family follow each other.
 */
struct link_row {
	enum pmu_kind kind;
	const char *event;
	const char *filters;
	enum direction direction;
	enum destination destination;
	enum unit unit;
	enum term term;
	const char *source;
};

extern const struct link_row link_rows[];
extern const size_t nr_link_rows;

/** link_gpu_known() - is the GPU with this PCI device id one of a superchip, linked by C2C? */
bool link_gpu_known(uint16_t device);

#endif
