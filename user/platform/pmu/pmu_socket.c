// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/pmu/pmu_socket.h"

#include <errno.h>
#include <inttypes.h>

#include "base/text.h"
#include "platform/sys/cpus.h"
#include "platform/sys/nodes.h"

int32_t pmu_cpu_socket(const struct sysfs *fs, int cpu)
{
	uint32_t package;

	return cpu < 0 || cpu_package(fs, cpu, &package) || package > INT32_MAX ? -1
										: (int32_t)package;
}

int32_t pmu_cpus_socket(const struct sysfs *fs, const struct cpulist *cpus)
{
	int32_t only = -1;

	for (int c = -1; (c = cpulist_next(cpus, c)) >= 0;) {
		int32_t socket = pmu_cpu_socket(fs, c);

		if (socket >= 0 && only >= 0 && socket != only)
			return -1;
		only = socket >= 0 ? socket : only;
	}
	return only;
}

/* The socket of all CPUs, -1 when they are on several. */
static int32_t only_socket(const struct sysfs *fs)
{
	struct cpulist cpus;

	return cpus_possible(fs, &cpus) ? -1 : pmu_cpus_socket(fs, &cpus);
}

/*
 * The socket of the NUMA node of the PMU's device. Without a device, as before Linux 6.10, the
 * parent has no node. A node with CPUs of several sockets tells nothing.
 */
static int32_t device_socket(const struct sysfs *fs, const struct pmu *pmu)
{
	char line[CPULIST_TEXT_LEN];
	struct cpulist cpus;
	uint64_t node;

	/* "-1" where firmware says none */
	if (sysfs_read(fs, line, sizeof(line), "bus/event_source/devices/%s/../numa_node",
		       pmu->name) ||
	    parse_u64(line, &node) ||
	    sysfs_read(fs, line, sizeof(line), "devices/system/node/node%" PRIu64 "/cpulist",
		       node) ||
	    cpulist_parse(line, &cpus))
		return -1;
	return pmu_cpus_socket(fs, &cpus);
}

int32_t pmu_find_socket(const struct sysfs *fs, const struct pmu *pmu)
{
	int32_t socket = -1;

	if (pmu->family->socket_by == PMU_SOCKET_BY_NAME)
		return pmu->instance;
	if (pmu->family->socket_by == PMU_SOCKET_UNKNOWN)
		return -1;
	if (pmu->family->socket_by == PMU_SOCKET_ONLY)
		return only_socket(fs);
	if (pmu->family->socket_by == PMU_SOCKET_BY_DEVICE) {
		socket = only_socket(fs);
		return socket < 0 ? device_socket(fs, pmu) : socket;
	}
	for (int c = -1; socket < 0 && (c = cpulist_next(&pmu->cpus, c)) >= 0;)
		socket = pmu_cpu_socket(fs, c);
	return socket < 0 ? pmu_cpu_socket(fs, pmu->active_cpu) : socket;
}

/* Is the socket of each of them known? */
static bool all_known(const struct pmu *pmus, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (pmus[i].socket < 0)
			return false;
	return true;
}

/* Does each socket with a CPU have one of these PMUs? */
static bool on_all_sockets(const struct sysfs *fs, const struct pmu *pmus, size_t nr)
{
	struct cpulist cpus;

	if (cpus_possible(fs, &cpus))
		return false;
	for (int c = -1; (c = cpulist_next(&cpus, c)) >= 0;) {
		int32_t socket = pmu_cpu_socket(fs, c);
		size_t i = 0;

		while (socket >= 0 && i < nr && pmus[i].socket != socket)
			i++;
		if (i == nr)
			return false;
	}
	return true;
}

void pmu_sockets_doubt(const struct sysfs *fs, struct pmu_list *list)
{
	enum pmu_socket_by by;
	size_t nr;

	for (size_t i = 0; i < list->nr; i += nr) {
		for (nr = 1; i + nr < list->nr && list->pmus[i + nr].kind == list->pmus[i].kind;)
			nr++;
		by = list->pmus[i].family->socket_by;
		if (by != PMU_SOCKET_BY_NODE && by != PMU_SOCKET_BY_DEVICE)
			continue;
		if ((by == PMU_SOCKET_BY_NODE || all_known(&list->pmus[i], nr)) &&
		    on_all_sockets(fs, &list->pmus[i], nr))
			continue;
		for (size_t k = i; k < i + nr; k++)
			list->pmus[k].socket = -1;
	}
}

/* --- what the names of NVIDIA's PMUs say */

/* The socket of the first CPU that is on one; a node with CPUs of several sockets tells nothing. */
static int32_t node_of(const struct sysfs *fs, const struct numa_nodes *nodes,
		       const struct cpulist *cpus)
{
	for (int c = -1; (c = cpulist_next(cpus, c)) >= 0;)
		for (size_t i = 0; i < nodes->nr; i++)
			if (cpulist_contains(&nodes->items[i].cpus, c))
				return pmu_cpus_socket(fs, &nodes->items[i].cpus) < 0
					       ? -1
					       : nodes->items[i].number;
	return -1;
}

/*
 * The package's rank among all packages, whose numbers may be offsets such as 36 and 2364. For a
 * part of a package it is unknown: firmware may report no packages, and then all CPUs are in one.
 */
static int32_t rank_of(const struct cpu_map *m, const struct cpulist *cpus)
{
	int first = cpulist_next(cpus, -1);
	int32_t rank = 0;

	while (first >= 0 && (uint32_t)first < m->nr_cpus && m->socket[first] == CPU_NO_SOCKET)
		first = cpulist_next(cpus, first);
	if (first < 0 || (uint32_t)first >= m->nr_cpus)
		return -1;
	for (uint32_t c = 0; c < m->nr_cpus; c++)
		if (m->socket[c] != CPU_NO_SOCKET &&
		    (m->socket[c] == m->socket[first]) != cpulist_contains(cpus, c))
			return -1;
	for (uint32_t s = 0; s < m->nr_sockets; s++)
		rank += m->socket_ids[s] < m->socket_ids[m->socket[first]];
	return rank;
}

int pmu_sockets_named(const struct sysfs *fs, struct pmu_list *list)
{
	struct numa_nodes nodes = { 0 };
	struct cpu_map cpus = { 0 };
	struct diag d = { 0 };
	bool read = false;
	int err = numa_nodes_read(fs, &nodes);

	for (size_t i = 0; i < list->nr && err != -ENOMEM; i++) {
		struct pmu *pmu = &list->pmus[i];
		int32_t socket;

		if (pmu->family->socket_by != PMU_SOCKET_BY_NAME)
			continue;
		socket = node_of(fs, &nodes, &pmu->cpus);
		if (socket < 0 && !read)
			err = cpu_map_read(fs, NULL, 0, &d, &cpus);
		read |= socket < 0;
		socket = socket < 0 ? rank_of(&cpus, &pmu->cpus) : socket;
		pmu->socket = socket < 0 ? pmu->instance : socket;
	}
	cpu_map_free(&cpus);
	numa_nodes_free(&nodes);
	return err == -ENOMEM ? err : 0;
}

bool pmu_name_misleads(const struct pmu *pmu)
{
	return pmu->family->socket_by == PMU_SOCKET_BY_NAME && pmu->instance >= 0 &&
	       pmu->socket != pmu->instance;
}
