/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The chip of a CPU by the CPU's identification in sysfs: for PMUs whose names do not tell it. */
#ifndef TABLES_CPU_MODELS_H
#define TABLES_CPU_MODELS_H

#include "tables/families.h"

/* X86_VENDOR_* of arch/x86/include/asm/processor.h */
#define CPU_VENDOR_INTEL 0
#define CPU_VENDOR_AMD	 2

/**
 * struct cpu_id - identification of an x86 CPU
 * @vendor: as the kernel numbers them
 * @family, @model: with their extensions
 */
struct cpu_id {
	uint16_t vendor;
	uint16_t family;
	uint16_t model;
};

/**
 * cpu_id_parse() - parse a CPU's modalias
 * @modalias: "cpu:type:x86,ven0000fam0006mod006A:feature:..."
 * @ret: the CPU
 *
 * Return: false when the CPU is no x86 one.
 */
bool cpu_id_parse(const char *modalias, struct cpu_id *ret);

/** cpu_id_among() - is it one of a family's models from @first to @last? */
bool cpu_id_among(const struct cpu_id *id, uint16_t vendor, uint16_t family, uint16_t first,
		  uint16_t last);

/** cpu_midr_is() - has a MIDR_EL1 this implementer and part? Any variant and revision fit */
bool cpu_midr_is(uint64_t midr, uint32_t implementer, uint32_t part);

/** cpu_id_platform() - the chip of such a CPU, PMU_PLATFORM_UNKNOWN when no row knows it */
enum pmu_platform cpu_id_platform(const struct cpu_id *id);

/** cpu_id_text() - "GenuineIntel-6-6A", as in perf's list of CPUs; cut to @size */
void cpu_id_text(const struct cpu_id *id, char *ret, size_t size);

/** cpu_midr_platform() - the chip of an Arm CPU by its MIDR_EL1, PMU_PLATFORM_UNKNOWN as above */
enum pmu_platform cpu_midr_platform(uint64_t midr);

/** cpu_midr_text() - "0x00000000480fd010", as in perf's list of CPUs; cut to @size */
void cpu_midr_text(uint64_t midr, char *ret, size_t size);

/**
 * cpu_text_fits() - does a CPU match a text?
 * @want: text of cpu_id_text() or cpu_midr_text(); a MIDR without variant and revision matches all
 * @here: the CPU's own text
 */
bool cpu_text_fits(const char *want, const char *here);

#endif
