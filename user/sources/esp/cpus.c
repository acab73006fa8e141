// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sources/esp/cpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/cpulist.h"
#include "base/text.h"
#include "platform/sys/cpus.h"

/* A cell of the device tree has 32 bits, and a hart one or two of them. */
static uint64_t hart_of(const struct sysfs *fs, uint32_t cpu)
{
	cleanup_fclose FILE *in = file_at(fs->fd, "devices/system/cpu/cpu%u/of_node/reg", cpu);
	unsigned char bytes[8];
	size_t length = in ? fread(bytes, 1, sizeof(bytes), in) : 0;
	uint64_t hart = 0;

	if (length != 4 && length != 8)
		return cpu;
	for (size_t i = 0; i < length; i++)
		hart = hart << 8 | bytes[i];
	return hart;
}

int esp_cpus_find(const struct sysfs *fs, uint32_t nr, uint32_t *ret_cpus)
{
	struct cpulist possible;
	int err = cpus_possible(fs, &possible);

	if (err)
		return err;
	for (uint32_t i = 0; i < nr; i++)
		ret_cpus[i] = ESP_NO_CPU;
	for (int cpu = -1; (cpu = cpulist_next(&possible, cpu)) >= 0;) {
		uint64_t tile = hart_of(fs, (uint32_t)cpu);

		if (tile >= nr || ret_cpus[tile] != ESP_NO_CPU)
			return -ENODEV;
		ret_cpus[tile] = (uint32_t)cpu;
	}
	return 0;
}

/* "cpu1 USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL ...": all but those in which it had a rest */
static bool take_busy(const char *line, uint32_t *ret_cpu, uint64_t *ret)
{
	enum { IDLE = 3, IOWAIT = 4, NR_WORKED = 7 };
	char *at;

	if (strncmp(line, "cpu", 3) != 0 || line[3] < '0' || line[3] > '9')
		return false;
	*ret_cpu = (uint32_t)strtoul(line + 3, &at, 10);
	*ret = 0;
	for (int i = 0; i < NR_WORKED; i++) {
		uint64_t ticks = strtoull(at, &at, 10);

		*ret += i == IDLE || i == IOWAIT ? 0 : ticks;
	}
	return true;
}

int esp_cpus_busy(int proc, const uint32_t *cpus, uint32_t nr, uint64_t *ret)
{
	cleanup_fclose FILE *in = file_at(proc, "stat");
	char line[256];
	uint64_t busy;
	uint32_t cpu;

	memset(ret, 0, nr * sizeof(*ret));
	if (!in)
		return -errno;
	while (fgets(line, sizeof(line), in))
		for (uint32_t i = 0; take_busy(line, &cpu, &busy) && i < nr; i++)
			if (cpus[i] == cpu)
				ret[i] = busy;
	return 0;
}
