// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/pmu/pmu_socket.h"

#include <inttypes.h>

#include "base/text.h"
#include "platform/sys/cpus.h"

int32_t pmu_cpu_socket(const struct sysfs *fs, int cpu)
{
	uint32_t package;

	return cpu < 0 || cpu_package(fs, cpu, &package) || package > INT32_MAX ? -1
										: (int32_t)package;
}

/* The socket of these CPUs, -1 when they are on several. */
static int32_t socket_of(const struct sysfs *fs, const struct cpulist *cpus)
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

	return cpus_possible(fs, &cpus) ? -1 : socket_of(fs, &cpus);
}

/*
 * That of the NUMA node of the device that the PMU belongs to. Without a device, as before Linux 6.10,
 * what lies above it has no node. A node with CPUs of several sockets says nothing.
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
	return socket_of(fs, &cpus);
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

/* Has each socket with a CPU one of these PMUs? */
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
