/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which CPU belongs to which socket. */
#ifndef PLATFORM_SYS_CPUS_H
#define PLATFORM_SYS_CPUS_H

#include <stdint.h>

#include "base/cpulist.h"
#include "base/diag.h"
#include "platform/sys/sysfs.h"

/**
 * struct cpu_map - CPUs and sockets
 * @nr_cpus: possible CPUs are below this
 * @socket: index of the socket of each CPU, or CPU_NO_SOCKET; owned
 * @online: CPUs that were online
 * @socket_ids: number of each socket, as users know it; owned
 * @packages: the package whose CPUs, and no others, are on each socket, or CPU_NO_SOCKET; owned
 * @nr_sockets: number of sockets
 */
struct cpu_map {
	uint32_t nr_cpus;
	uint32_t *socket;
	struct cpulist online;
	uint32_t *socket_ids;
	uint32_t *packages;
	uint32_t nr_sockets;
};
#define CPU_NO_SOCKET UINT32_MAX

/**
 * struct cpu_socket - a socket whose CPUs are known, from a PMU
 * @id: its number
 * @cpus: its CPUs; NULL: those of the package with this number
 */
struct cpu_socket {
	uint32_t id;
	const struct cpulist *cpus;
};

/** cpus_possible() - CPUs that may ever exist; 0 or a negative errno */
int cpus_possible(const struct sysfs *fs, struct cpulist *ret);

/**
 * cpu_map_read() - assign CPUs to sockets
 * @fs: sysfs
 * @known: sockets with known CPUs; they get the first indexes, in this order
 * @nr_known: number of them, may be 0
 * @d: gets the problem
 * @ret: release with cpu_map_free()
 *
 * Other online CPUs go to the socket that shares their package (topology/ physical_package_id), or
 * to a new one with the package's number. Offline CPUs have the socket that a known set says, or
 * none: see cpu_map_find(). Without any package all online CPUs are on one socket.
 *
 * Return: 0 or a negative errno.
 */
int cpu_map_read(const struct sysfs *fs, const struct cpu_socket *known, uint32_t nr_known,
		 struct diag *d, struct cpu_map *ret);
void cpu_map_free(struct cpu_map *m);

/**
 * cpu_map_find() - find the socket of a CPU that has come online
 * @m: gets the socket, which may be none of those that it has
 * @fs: sysfs
 * @cpu: below cpu_map.nr_cpus
 *
 * Return: 0, -ENOENT for a CPU that is offline again, or another negative errno.
 */
int cpu_map_find(struct cpu_map *m, const struct sysfs *fs, uint32_t cpu);

/**
 * cpus_kept_quiet() - CPUs that are reserved for their owner
 * @fs: sysfs
 * @ret: isolated and nohz_full CPUs; an unreadable list counts as empty
 */
void cpus_kept_quiet(const struct sysfs *fs, struct cpulist *ret);

/**
 * cpu_package() - the package that a CPU is in
 * @fs: sysfs
 * @cpu: the CPU
 * @ret: its number, 0 when firmware knows no packages
 *
 * Return: 0, -ENOENT for a CPU that is offline, or another negative errno.
 */
int cpu_package(const struct sysfs *fs, uint32_t cpu, uint32_t *ret);

/**
 * cpu_of_l3() - a CPU behind an L3 cache
 * @fs: sysfs
 * @nr_cpus: CPUs below this are asked
 * @id: the cache's number, cache/index<n>/id
 *
 * Return: its number, or -1 when no CPU reports the cache.
 */
int cpu_of_l3(const struct sysfs *fs, uint32_t nr_cpus, uint64_t id);

#endif
