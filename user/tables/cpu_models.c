// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tables/cpu_models.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

#define INTEL CPU_VENDOR_INTEL
#define AMD   CPU_VENDOR_AMD

/* Numbers of the kernel, too: Linux 6.12 arch/x86/include/asm/intel-family.h. */
static const struct {
	uint16_t vendor, family, model;
	enum pmu_platform platform;
} models[] = {
	/* Sandy Bridge, Ivy Bridge, Haswell, Broadwell (and D), Skylake to Cooper Lake */
	{ INTEL, 6, 0x2d, PMU_PLATFORM_SKX },
	{ INTEL, 6, 0x3e, PMU_PLATFORM_SKX },
	{ INTEL, 6, 0x3f, PMU_PLATFORM_SKX },
	{ INTEL, 6, 0x4f, PMU_PLATFORM_SKX },
	{ INTEL, 6, 0x56, PMU_PLATFORM_SKX },
	{ INTEL, 6, 0x55, PMU_PLATFORM_SKX },
	/* Ice Lake X and D */
	{ INTEL, 6, 0x6a, PMU_PLATFORM_ICX },
	{ INTEL, 6, 0x6c, PMU_PLATFORM_ICX },
	/* Sapphire Rapids, Emerald Rapids */
	{ INTEL, 6, 0x8f, PMU_PLATFORM_SPR },
	{ INTEL, 6, 0xcf, PMU_PLATFORM_SPR },
	/* Granite Rapids X and D, Sierra Forest, Grand Ridge, Clearwater Forest */
	{ INTEL, 6, 0xad, PMU_PLATFORM_GNR },
	{ INTEL, 6, 0xae, PMU_PLATFORM_GNR },
	{ INTEL, 6, 0xaf, PMU_PLATFORM_GNR },
	{ INTEL, 6, 0xb6, PMU_PLATFORM_GNR },
	{ INTEL, 6, 0xdd, PMU_PLATFORM_GNR },
	/* Sandy Bridge, Ivy Bridge, Haswell, Broadwell */
	{ INTEL, 6, 0x2a, PMU_PLATFORM_CLIENT },
	{ INTEL, 6, 0x3a, PMU_PLATFORM_CLIENT },
	{ INTEL, 6, 0x3c, PMU_PLATFORM_CLIENT },
	{ INTEL, 6, 0x45, PMU_PLATFORM_CLIENT },
	{ INTEL, 6, 0x46, PMU_PLATFORM_CLIENT },
	{ INTEL, 6, 0x3d, PMU_PLATFORM_CLIENT },
	{ INTEL, 6, 0x47, PMU_PLATFORM_CLIENT },
	/* Skylake, Kaby Lake, Comet Lake */
	{ INTEL, 6, 0x4e, PMU_PLATFORM_CLIENT },
	{ INTEL, 6, 0x5e, PMU_PLATFORM_CLIENT },
	{ INTEL, 6, 0x8e, PMU_PLATFORM_CLIENT },
	{ INTEL, 6, 0x9e, PMU_PLATFORM_CLIENT },
	{ INTEL, 6, 0xa5, PMU_PLATFORM_CLIENT },
	{ INTEL, 6, 0xa6, PMU_PLATFORM_CLIENT },
	/* Ice Lake, Rocket Lake, Tiger Lake */
	{ INTEL, 6, 0x7d, PMU_PLATFORM_CLIENT },
	{ INTEL, 6, 0x7e, PMU_PLATFORM_CLIENT },
	{ INTEL, 6, 0xa7, PMU_PLATFORM_CLIENT },
	{ INTEL, 6, 0x8c, PMU_PLATFORM_CLIENT },
	{ INTEL, 6, 0x8d, PMU_PLATFORM_CLIENT },
	/* Alder Lake (and N), Raptor Lake */
	{ INTEL, 6, 0x97, PMU_PLATFORM_CLIENT },
	{ INTEL, 6, 0x9a, PMU_PLATFORM_CLIENT },
	{ INTEL, 6, 0xbe, PMU_PLATFORM_CLIENT },
	{ INTEL, 6, 0xb7, PMU_PLATFORM_CLIENT },
	{ INTEL, 6, 0xba, PMU_PLATFORM_CLIENT },
	{ INTEL, 6, 0xbf, PMU_PLATFORM_CLIENT },
	/* Meteor Lake, Arrow Lake */
	{ INTEL, 6, 0xac, PMU_PLATFORM_CLIENT },
	{ INTEL, 6, 0xaa, PMU_PLATFORM_CLIENT },
	{ INTEL, 6, 0xc5, PMU_PLATFORM_CLIENT },
	{ INTEL, 6, 0xc6, PMU_PLATFORM_CLIENT },
	{ INTEL, 6, 0xb5, PMU_PLATFORM_CLIENT },
	/* EPYC of Zen 2 (Rome) and Zen 3 (Milan) */
	{ AMD, 0x17, 0x31, PMU_PLATFORM_ZEN2 },
	{ AMD, 0x19, 0x00, PMU_PLATFORM_ZEN2 },
	{ AMD, 0x19, 0x01, PMU_PLATFORM_ZEN2 },
};

/* Many models per chip, Linux 6.12 arch/x86/kernel/cpu/amd.c: bsp_init_amd() */
static const struct {
	uint16_t vendor, family, first, last;
	enum pmu_platform platform;
} ranges[] = {
	/* EPYC of Zen 4: Genoa; Bergamo and Siena */
	{ AMD, 0x19, 0x10, 0x1f, PMU_PLATFORM_ZEN },
	{ AMD, 0x19, 0xa0, 0xaf, PMU_PLATFORM_ZEN },
	/* EPYC of Zen 5: Turin */
	{ AMD, 0x1a, 0x00, 0x1f, PMU_PLATFORM_ZEN5 },
};

/* Implementer and part, Linux 6.12 arch/arm64/include/asm/cputype.h */
static const struct {
	uint32_t implementer, part;
	enum pmu_platform platform;
} parts[] = {
	{ 0xc0, 0xac3, PMU_PLATFORM_AMPEREONE },
	{ 0xc0, 0xac4, PMU_PLATFORM_AMPEREONE },
	{ 0x48, 0xd01, PMU_PLATFORM_KUNPENG },
	{ 0x48, 0xd02, PMU_PLATFORM_KUNPENG },
};
/* Variant and revision, which perf's list leaves out. */
#define MIDR_STEPPING 0xf0000full

bool cpu_id_parse(const char *modalias, struct cpu_id *ret)
{
	unsigned int vendor, family, model;

	if (sscanf(modalias, "cpu:type:x86,ven%4xfam%4xmod%4x:", &vendor, &family, &model) != 3)
		return false;
	*ret = (struct cpu_id){ vendor, family, model };
	return true;
}

bool cpu_id_among(const struct cpu_id *id, uint16_t vendor, uint16_t family, uint16_t first,
		  uint16_t last)
{
	return id->vendor == vendor && id->family == family && id->model >= first &&
	       id->model <= last;
}

/* A value that is no MIDR has high bits set, and matches no part. */
bool cpu_midr_is(uint64_t midr, uint32_t implementer, uint32_t part)
{
	return midr >> 24 == implementer && (midr >> 4 & 0xfff) == part;
}

enum pmu_platform cpu_id_platform(const struct cpu_id *id)
{
	for (size_t i = 0; i < ARRAY_SIZE(models); i++)
		if (cpu_id_among(id, models[i].vendor, models[i].family, models[i].model,
				 models[i].model))
			return models[i].platform;
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
		if (cpu_id_among(id, ranges[i].vendor, ranges[i].family, ranges[i].first,
				 ranges[i].last))
			return ranges[i].platform;
	return PMU_PLATFORM_UNKNOWN;
}

enum pmu_platform cpu_midr_platform(uint64_t midr)
{
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (cpu_midr_is(midr, parts[i].implementer, parts[i].part))
			return parts[i].platform;
	return PMU_PLATFORM_UNKNOWN;
}

void cpu_midr_text(uint64_t midr, char *ret, size_t size)
{
	snprintf(ret, size, "0x%016" PRIx64, midr);
}

bool cpu_text_fits(const char *want, const char *here)
{
	uint64_t wanted, is;

	if (!strcmp(want, here))
		return true;
	if (strncmp(want, "0x", 2) || strncmp(here, "0x", 2) || parse_u64(want, &wanted) ||
	    parse_u64(here, &is))
		return false;
	return wanted == (wanted & MIDR_STEPPING ? is : is & ~MIDR_STEPPING);
}

void cpu_id_text(const struct cpu_id *id, char *ret, size_t size)
{
	const char *vendor = id->vendor == INTEL ? "GenuineIntel"
			     : id->vendor == AMD ? "AuthenticAMD"
						 : NULL;

	if (vendor)
		snprintf(ret, size, "%s-%u-%X", vendor, id->family, id->model);
	else
		snprintf(ret, size, "vendor %u-%u-%X", id->vendor, id->family, id->model);
}
