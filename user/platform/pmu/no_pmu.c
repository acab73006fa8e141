// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What to say on a machine without a PMU that we can work with. */
#include <errno.h>
#include <string.h>

#include "base/spelling.h"
#include "base/text.h"
#include "platform/pmu/pmu.h"
#include "tables/counter_rows.h"

/* What a PMU is by its identifier, as a remark behind its name; nothing when that is not known. */
static void append_identity(const struct sysfs *fs, const char *name, char *text, size_t size)
{
	char identifier[PMU_NAME_LEN];
	const struct pmu_family *family;

	if (sysfs_read(fs, identifier, sizeof(identifier), PMU_DEVICES "/%s/identifier", name))
		return;
	family = pmu_family_identified(identifier);
	if (family)
		str_append(text, size, " (%s: %s)", pmu_platform_name(family->platform),
			   family->short_name);
}

/*
 * Names of the PMUs that the kernel has no table for, and what they are, in @text; return how
 * many.
 */
static size_t unknown_pmus(const struct sysfs *fs, char *text, size_t size)
{
	const struct pmu_family *family;
	cleanup_texts struct text_list names = { 0 };
	int32_t n, rc;
	size_t nr = 0;

	/* Failing to list says the same as an empty list here: nothing can be said about them. */
	if (sysfs_list(fs, &names, PMU_DEVICES))
		return 0;
	for (size_t i = 0; i < names.nr; i++) {
		family = pmu_family_match(names.items[i], PMU_PLATFORM_UNKNOWN, &n, &rc);
		if (!family || family->kind != PMU_UNKNOWN)
			continue;
		str_append(text, size, "%s%s", nr++ ? ", " : "", names.items[i]);
		append_identity(fs, names.items[i], text, size);
	}
	return nr;
}

/* Without such a PMU there is nothing to split; all others are of use beside one only. */
static bool looked_for(const struct pmu_family *f, bool x86, enum pmu_platform cpu)
{
	if (!counter_rows_have(f->kind, COUNTERS_SUMS))
		return false;
	return f->by_cpu ? x86 && f->platform == cpu : !x86 || !f->identifier;
}

static int nothing_found(const struct sysfs *fs, struct diag *d)
{
	char text[400] = "", name[64];
	struct cpu_id id;
	bool x86 = pmu_cpu_id(fs, &id);
	enum pmu_platform cpu = x86 ? cpu_id_platform(&id) : PMU_PLATFORM_UNKNOWN;

	for (size_t i = 0; i < nr_pmu_families; i++)
		if (looked_for(&pmu_families[i], x86, cpu))
			str_append(text, sizeof(text), "%s%s", text[0] ? ", " : "",
				   pmu_families[i].pattern);
	diag_fail(d, -ENODEV, "no uncore PMU that is known in %.80s/%s, looked for %s", fs->root,
		  PMU_DEVICES, text);
	if (x86) {
		cpu_id_text(&id, name, sizeof(name));
		return diag_advise(
			d, -ENODEV,
			"the CPU is %s (%s). Its PMUs come with the modules intel_uncore or "
			"amd_uncore; virtual machines have none of them. docs/PLATFORMS.md lists "
			"what is known. `make demo` runs a virtual T410.",
			name,
			cpu == PMU_PLATFORM_UNKNOWN ? "no row is about it alone"
						    : pmu_platform_row(cpu)->title);
	}
	return diag_advise(
		d, -ENODEV,
		"the T410 needs Linux 7.1 or newer with these drivers, try modprobe: "
		"nvidia_cspmu (CONFIG_NVIDIA_CORESIGHT_PMU_ARCH_SYSTEM_PMU), "
		"nvidia_t410_c2c_pmu (CONFIG_NVIDIA_TEGRA410_C2C_PMU), "
		"nvidia_t410_cmem_latency_pmu (CONFIG_NVIDIA_TEGRA410_CMEM_LATENCY_PMU). "
		"Without a T410, `make demo` runs a virtual one.");
}

int no_pmu_diag(const struct sysfs *fs, struct diag *d)
{
	char text[400] = "";

	if (unknown_pmus(fs, text, sizeof(text))) {
		diag_fail(d, -ENODEV, "the kernel has no names for the NVIDIA PMUs in %.80s/%s: %s",
			  fs->root, PMU_DEVICES, text);
		return diag_advise(
			d, -ENODEV,
			"nvidia_uncore_pmu_* are PMUs whose device this kernel does not know "
			"yet: they show raw filters and cycles only. The T410 is known since "
			"Linux 7.1 (some vendors have it in 6.17 and 6.18). `make demo` runs "
			"a virtual T410 with a kernel that knows it.");
	}
	return nothing_found(fs, d);
}

int pmu_advise_names(const struct sysfs *fs, const char *name, int err, struct diag *d)
{
	cleanup_texts struct text_list names = { 0 };
	struct spelling s = { .word = name };
	char help[sizeof(d->help)];

	if (sysfs_list(fs, &names, PMU_DEVICES) || !names.nr)
		return err;
	for (size_t i = 0; i < names.nr; i++)
		spelling_add(&s, names.items[i]);
	spelling_help(&s, "there are", help, sizeof(help));
	spelling_free(&s);
	return diag_advise(d, err, "%s", help);
}
