/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the two forms in which t410trace topology writes. */
#ifndef CLI_TOPOLOGY_TEXT_H
#define CLI_TOPOLOGY_TEXT_H

#include "platform/pmu/pmu.h"
#include "platform/pci/topology.h"

/**
 * topology_pmu_name() - the PMU that counts what devices below a root port do
 * @w: where the port is
 * @target: the one that counts accesses to them instead; there is none on Grace
 * @platform: decides how it is called
 * @ret_name: "nvidia_pcie_pmu_0_rc_1"; "" when that is not known
 */
void topology_pmu_name(const struct pci_wiring *w, bool target, enum pmu_platform platform,
		       char ret_name[PMU_NAME_LEN]);

/**
 * topology_print() - a table of the root ports, then all functions as a tree
 * @t: the topology
 * @platform: of the PMUs
 * @note: one more for the end, "" for none
 *
 * Return: 0 or -ENOMEM.
 */
int topology_print(const struct topology *t, enum pmu_platform platform, const char *note);

#endif
