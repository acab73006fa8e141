// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tables/cpu_models.h"

#include <stdio.h>

#include "base/array.h"

/* arch/x86/include/asm/processor.h */
#define INTEL 0
#define AMD   2

/* What the kernel numbers too, Linux 6.12 arch/x86/include/asm/intel-family.h. */
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
};

bool cpu_id_parse(const char *modalias, struct cpu_id *ret)
{
	unsigned int vendor, family, model;

	if (sscanf(modalias, "cpu:type:x86,ven%4xfam%4xmod%4x:", &vendor, &family, &model) != 3)
		return false;
	*ret = (struct cpu_id){ vendor, family, model };
	return true;
}

enum pmu_platform cpu_id_platform(const struct cpu_id *id)
{
	for (size_t i = 0; i < ARRAY_SIZE(models); i++)
		if (models[i].vendor == id->vendor && models[i].family == id->family &&
		    models[i].model == id->model)
			return models[i].platform;
	return PMU_PLATFORM_UNKNOWN;
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
