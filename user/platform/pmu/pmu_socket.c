// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/pmu/pmu_socket.h"

#include "platform/sys/cpus.h"

int32_t pmu_cpu_socket(const struct sysfs *fs, int cpu)
{
	uint32_t package;

	return cpu < 0 || cpu_package(fs, cpu, &package) || package > INT32_MAX ? -1
										: (int32_t)package;
}

/* The socket of all CPUs, -1 when they are on several. */
static int32_t only_socket(const struct sysfs *fs)
{
	struct cpulist cpus;
	int32_t only = -1;

	if (cpus_possible(fs, &cpus))
		return -1;
	for (int c = -1; (c = cpulist_next(&cpus, c)) >= 0;) {
		int32_t socket = pmu_cpu_socket(fs, c);

		if (socket >= 0 && only >= 0 && socket != only)
			return -1;
		only = socket >= 0 ? socket : only;
	}
	return only;
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
	for (int c = -1; socket < 0 && (c = cpulist_next(&pmu->cpus, c)) >= 0;)
		socket = pmu_cpu_socket(fs, c);
	return socket < 0 ? pmu_cpu_socket(fs, pmu->active_cpu) : socket;
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
	size_t nr;

	for (size_t i = 0; i < list->nr; i += nr) {
		for (nr = 1; i + nr < list->nr && list->pmus[i + nr].kind == list->pmus[i].kind;)
			nr++;
		if (list->pmus[i].family->socket_by != PMU_SOCKET_BY_NODE ||
		    on_all_sockets(fs, &list->pmus[i], nr))
			continue;
		for (size_t k = i; k < i + nr; k++)
			list->pmus[k].socket = -1;
	}
}
