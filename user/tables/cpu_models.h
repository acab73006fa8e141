/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which chip a CPU is of, for PMUs whose names do not tell it. */
#ifndef TABLES_CPU_MODELS_H
#define TABLES_CPU_MODELS_H

#include "tables/families.h"

/**
 * struct cpu_id - what an x86 CPU says of itself
 * @vendor: as the kernel numbers them
 * @family, @model: with their extensions
 */
struct cpu_id {
	uint16_t vendor;
	uint16_t family;
	uint16_t model;
};

/**
 * cpu_id_parse() - take a CPU's modalias apart
 * @modalias: "cpu:type:x86,ven0000fam0006mod006A:feature:..."
 * @ret: what it says
 *
 * Return: false when it is of no x86 CPU.
 */
bool cpu_id_parse(const char *modalias, struct cpu_id *ret);

/** cpu_id_platform() - the chip of such a CPU, PMU_PLATFORM_UNKNOWN when no row knows it */
enum pmu_platform cpu_id_platform(const struct cpu_id *id);

/** cpu_id_text() - "GenuineIntel-6-6A", as in perf's list of CPUs; cut to @size */
void cpu_id_text(const struct cpu_id *id, char *ret, size_t size);

#endif
