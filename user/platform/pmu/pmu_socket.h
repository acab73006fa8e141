/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* On which socket a PMU is. */
#ifndef PLATFORM_PMU_PMU_SOCKET_H
#define PLATFORM_PMU_PMU_SOCKET_H

#include "platform/pmu/pmu.h"

/** pmu_cpu_socket() - the number of the socket that a CPU is on, -1 when it is offline */
int32_t pmu_cpu_socket(const struct sysfs *fs, int cpu);

/** pmu_cpus_socket() - the socket of these CPUs, -1 when they are on several */
int32_t pmu_cpus_socket(const struct sysfs *fs, const struct cpulist *cpus);

/** pmu_find_socket() - the socket of a PMU whose attributes were read, -1 when it is not known */
int32_t pmu_find_socket(const struct sysfs *fs, const struct pmu *pmu);

/**
 * pmu_sockets_doubt() - forget sockets that cannot be believed
 * @fs: the tree that the list was read from
 * @list: all PMUs, those of a kind beside each other
 *
 * A driver of PMU_SOCKET_BY_NODE reads its PMU on a CPU of the NUMA node that firmware reports.
 * Without a node all PMUs end up on CPU 0, so sockets are believed only where each one has a PMU.
 * Nodes of devices (PMU_SOCKET_BY_DEVICE) are believed if every device has one: a total that lacks
 * a memory controller is wrong.
 */
void pmu_sockets_doubt(const struct sysfs *fs, struct pmu_list *list);

/**
 * pmu_sockets_named() - the sockets of PMUs with a number in their name (PMU_SOCKET_BY_NAME)
 * @fs: the tree that the list was read from
 * @list: all PMUs
 *
 * The number is the NUMA node of the associated CPUs. Some vendor kernels number the PMUs of a kind
 * instead, so the CPUs are believed and not the name. Without nodes the rank of their package
 * decides. Only if that is unknown, too, the name is believed.
 *
 * Return: 0 or -ENOMEM.
 */
int pmu_sockets_named(const struct sysfs *fs, struct pmu_list *list);

/** pmu_name_misleads() - does the number in the name differ from the PMU's socket? */
bool pmu_name_misleads(const struct pmu *pmu);

#endif
