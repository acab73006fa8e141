// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/sys/cpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

#define POSSIBLE "devices/system/cpu/possible"
#define ONLINE	 "devices/system/cpu/online"

int cpu_package(const struct sysfs *fs, uint32_t cpu, uint32_t *ret)
{
	char line[32];
	uint64_t id;
	int err;

	err = sysfs_read(fs, line, sizeof(line),
			 "devices/system/cpu/cpu%u/topology/physical_package_id", cpu);
	if (err)
		return err;
	/* Firmware that knows no packages makes the kernel say -1: then there is one. */
	if (parse_u64(line, &id) || id >= CPU_NO_SOCKET)
		id = 0;
	*ret = id;
	return 0;
}

/* The L3 of a CPU; false for none. */
static bool l3_of(const struct sysfs *fs, uint32_t cpu, uint64_t *ret)
{
	uint64_t level;
	char line[32];

	for (int i = 0; !sysfs_read(fs, line, sizeof(line),
				    "devices/system/cpu/cpu%u/cache/index%d/level", cpu, i);
	     i++)
		if (!parse_u64(line, &level) && level == 3)
			return !sysfs_read(fs, line, sizeof(line),
					   "devices/system/cpu/cpu%u/cache/index%d/id", cpu, i) &&
			       !parse_u64(line, ret);
	return false;
}

int cpu_of_l3(const struct sysfs *fs, uint32_t nr_cpus, uint64_t id)
{
	uint64_t own;

	for (uint32_t c = 0; c < nr_cpus; c++)
		if (l3_of(fs, c, &own) && own == id)
			return (int)c;
	return -1;
}

/* The socket of a package: the one with a CPU of it, else a new one. */
static uint32_t socket_of_package(struct cpu_map *m, const uint32_t *package, uint32_t cpu)
{
	for (uint32_t c = 0; c < m->nr_cpus; c++)
		if (c != cpu && package[c] == package[cpu] && m->socket[c] != CPU_NO_SOCKET)
			return m->socket[c];
	m->socket_ids[m->nr_sockets] = package[cpu];
	return m->nr_sockets++;
}

static void assign(struct cpu_map *m, const struct cpu_socket *known, uint32_t nr_known,
		   const uint32_t *package)
{
	for (uint32_t s = 0; s < nr_known; s++) {
		m->socket_ids[m->nr_sockets++] = known[s].id;
		for (int c = -1; known[s].cpus && (c = cpulist_next(known[s].cpus, c)) >= 0;)
			if ((uint32_t)c < m->nr_cpus)
				m->socket[c] = s;
		for (uint32_t c = 0; !known[s].cpus && c < m->nr_cpus; c++)
			if (package[c] == known[s].id)
				m->socket[c] = s;
	}
	for (uint32_t c = 0; c < m->nr_cpus; c++)
		if (m->socket[c] == CPU_NO_SOCKET && package[c] != CPU_NO_SOCKET)
			m->socket[c] = socket_of_package(m, package, c);
	for (uint32_t c = 0; !m->nr_sockets && c < m->nr_cpus; c++)
		if (cpulist_contains(&m->online, c))
			m->socket[c] = 0;
	if (!m->nr_sockets)
		m->nr_sockets = 1;
}

/*
 * A CPU that comes online later is on the socket of its package, if one socket and one package are
 * the same: sets of CPUs may divide a package, or join several.
 */
static void name_packages(struct cpu_map *m, const struct cpu_socket *known, uint32_t nr_known,
			  const uint32_t *package)
{
	for (uint32_t s = 0; s < m->nr_sockets; s++) {
		uint32_t *own = &m->packages[s];
		bool mixed = false;

		*own = s < nr_known && !known[s].cpus ? known[s].id : CPU_NO_SOCKET;
		for (uint32_t c = 0; c < m->nr_cpus; c++) {
			if (m->socket[c] != s || package[c] == CPU_NO_SOCKET)
				continue;
			mixed |= *own != CPU_NO_SOCKET && *own != package[c];
			*own = package[c];
		}
		for (uint32_t c = 0; c < m->nr_cpus; c++)
			mixed |= package[c] == *own && m->socket[c] != s;
		if (mixed)
			*own = CPU_NO_SOCKET;
	}
}

int cpu_map_find(struct cpu_map *m, const struct sysfs *fs, uint32_t cpu)
{
	uint32_t package;
	char line[8];
	int err = 0;

	/* The first CPU of some machines cannot go offline, and has no such file. */
	if (!sysfs_read(fs, line, sizeof(line), "devices/system/cpu/cpu%u/online", cpu) &&
	    !strcmp(line, "0"))
		err = -ENOENT;
	if (!err)
		err = cpu_package(fs, cpu, &package);
	/* A set of CPUs knows better, and a number of a CPU stays on its socket. */
	for (uint32_t s = 0; !err && m->socket[cpu] == CPU_NO_SOCKET && s < m->nr_sockets; s++)
		if (m->packages[s] == package)
			m->socket[cpu] = s;
	return err;
}

/* Without the list, CPUs with a package are. */
static void find_online(const struct sysfs *fs, const uint32_t *package, struct cpu_map *m)
{
	char line[CPULIST_TEXT_LEN];

	if (!sysfs_read(fs, line, sizeof(line), ONLINE) && !cpulist_parse(line, &m->online))
		return;
	m->online = (struct cpulist){ 0 };
	for (uint32_t c = 0; c < m->nr_cpus; c++)
		if (package[c] != CPU_NO_SOCKET)
			cpulist_set(&m->online, c, true);
}

int cpus_possible(const struct sysfs *fs, struct cpulist *ret)
{
	char line[CPULIST_TEXT_LEN];
	int err = sysfs_read(fs, line, sizeof(line), POSSIBLE);

	return err ? err : cpulist_parse(line, ret);
}

int cpu_map_read(const struct sysfs *fs, const struct cpu_socket *known, uint32_t nr_known,
		 struct diag *d, struct cpu_map *ret)
{
	struct cpulist possible;
	struct cpu_map m = { 0 };
	uint32_t *package;
	int err = cpus_possible(fs, &possible);

	if (err)
		return diag_fail(d, err, "cannot read %s/%s: %s", fs->root, POSSIBLE,
				 strerror(-err));
	for (int c = -1; (c = cpulist_next(&possible, c)) >= 0;)
		m.nr_cpus = c + 1;
	m.socket = calloc(m.nr_cpus, sizeof(*m.socket));
	m.socket_ids = calloc(m.nr_cpus + nr_known, sizeof(*m.socket_ids));
	m.packages = calloc(m.nr_cpus + nr_known, sizeof(*m.packages));
	package = calloc(m.nr_cpus, sizeof(*package));
	if (!m.socket || !m.socket_ids || !m.packages || !package) {
		free(package);
		cpu_map_free(&m);
		return diag_no_memory(d);
	}
	for (uint32_t c = 0; c < m.nr_cpus; c++) {
		m.socket[c] = CPU_NO_SOCKET;
		package[c] = CPU_NO_SOCKET;
		cpu_package(fs, c, &package[c]);
	}
	find_online(fs, package, &m);
	/* Some kernels keep the package of a CPU that is offline: sockets are those of the rest. */
	for (uint32_t c = 0; c < m.nr_cpus; c++)
		if (!cpulist_contains(&m.online, c))
			package[c] = CPU_NO_SOCKET;
	assign(&m, known, nr_known, package);
	name_packages(&m, known, nr_known, package);
	free(package);
	*ret = m;
	return 0;
}

void cpu_map_free(struct cpu_map *m)
{
	free(m->socket);
	free(m->socket_ids);
	free(m->packages);
	*m = (struct cpu_map){ 0 };
}

void cpus_kept_quiet(const struct sysfs *fs, struct cpulist *ret)
{
	static const char *const files[] = { "isolated", "nohz_full" };
	char line[CPULIST_TEXT_LEN];
	struct cpulist one;

	*ret = (struct cpulist){ 0 };
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		/* Without nohz_full CPUs the file says "(null)". */
		if (sysfs_read(fs, line, sizeof(line), "devices/system/cpu/%s", files[i]) ||
		    cpulist_parse(line, &one))
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(one.bits); k++)
			ret->bits[k] |= one.bits[k];
	}
}
