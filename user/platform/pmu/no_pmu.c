// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The message for a machine without a usable PMU. */
#include <errno.h>
#include <string.h>

#include "base/spelling.h"
#include "base/text.h"
#include "platform/pmu/pmu.h"
#include "tables/counter_rows.h"
#include "tables/weight_rows.h"

/* A PMU's hardware by its identifier, as a remark behind its name; nothing when it is unknown. */
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
 * Write names and hardware of the PMUs that the kernel has no table for to @text; return their
 * number.
 */
static size_t unknown_pmus(const struct sysfs *fs, char *text, size_t size)
{
	const struct pmu_family *family;
	cleanup_texts struct text_list names = { 0 };
	int32_t n, rc;
	size_t nr = 0;

	/* A list that cannot be read counts as empty: nothing can be said about its PMUs. */
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

/* Without such a PMU there is nothing to split; the rest is useful only beside one. */
static bool looked_for(const struct pmu_family *f, bool x86, enum pmu_platform cpu)
{
	if (!counter_rows_have(f->kind, COUNTERS_SUMS))
		return false;
	return f->by_cpu ? x86 && f->platform == cpu : !x86 || !f->identifier;
}

#define OWN_ROWS "--platform FILE takes rows of your own (docs/PLATFORMS.md)."
#define DEMO	 " `make demo` runs a virtual T410."

/* The machine, as sysfs describes its CPU. */
struct machine {
	char cpu[64];
	bool x86;
	bool virtual;			     /* the CPU says so; Arm CPUs do not */
	const struct pmu_platform_row *chip; /* NULL when no row is about it */
	const struct weight_core_row *core;  /* Arm only: several chips may have it */
};

static void read_machine(const struct sysfs *fs, struct machine *ret)
{
	enum pmu_platform platform = PMU_PLATFORM_UNKNOWN;
	struct cpu_id id;
	uint64_t midr;

	*ret = (struct machine){ .x86 = pmu_cpu_id(fs, &id), .virtual = pmu_cpu_virtual(fs) };
	pmu_cpu_text(fs, ret->cpu, sizeof(ret->cpu), &platform);
	ret->chip = pmu_platform_row(platform);
	if (ret->x86 || ret->chip || !pmu_cpu_midr(fs, &midr))
		return;
	ret->core = weight_core_find(midr);
	ret->chip = ret->core ? pmu_platform_row(ret->core->platform) : NULL;
}

/*
 * Patterns of PMUs that are here and do not help: those of this chip that count no total, those of
 * other chips, and those without a name in the kernel.
 */
static void useless_pmus(const struct sysfs *fs, const struct machine *m, char *text, size_t size)
{
	enum pmu_platform cpu = m->chip ? m->chip->platform : PMU_PLATFORM_UNKNOWN;
	cleanup_texts struct text_list names = { 0 };
	const char *last = NULL;

	text[0] = '\0';
	/* As above: an unreadable list counts as empty. */
	if (sysfs_list(fs, &names, PMU_DEVICES))
		return;
	for (size_t i = 0; i < names.nr; i++) {
		const char *is = pmu_name_fits(PMU_NAMELESS, names.items[i]) ? PMU_NAMELESS : NULL;

		for (size_t f = 0; f < nr_pmu_families && !is; f++)
			if (pmu_families[f].by_cpu &&
			    (!m->chip || pmu_families[f].platform == cpu) &&
			    pmu_name_fits(pmu_families[f].pattern, names.items[i]))
				is = pmu_families[f].pattern;
		if (is && is != last)
			str_append(text, size, "%s%s", text[0] ? ", " : "", is);
		last = is ? is : last;
	}
}

/* No row is about the CPU. */
static int advise_rows(const struct machine *m, const char *useless, struct diag *d)
{
	if (strstr(useless, PMU_NAMELESS))
		return diag_advise(d, -ENODEV,
				   "the kernel has no names for the PMUs of the CPU, %s (%s): it "
				   "is older than the CPU. Use a newer one. No row of t410trace is "
				   "about this CPU: " OWN_ROWS,
				   m->cpu, useless);
	if (useless[0])
		return diag_advise(d, -ENODEV,
				   "there are %s, but no row is about the CPU, %s, and other CPUs "
				   "have other codes. t410trace list --explain PMU says whose are "
				   "known; " OWN_ROWS,
				   useless, m->cpu);
	return diag_advise(d, -ENODEV,
			   "no row is about the CPU, %s%s. docs/PLATFORMS.md lists what is known; "
			   "where the kernel has PMUs, " OWN_ROWS DEMO,
			   m->cpu, m->virtual ? ", of this virtual machine" : "");
}

static int advise_x86(const struct machine *m, const char *useless, struct diag *d)
{
	if (!m->chip)
		return advise_rows(m, useless, d);
	if (strstr(useless, PMU_NAMELESS))
		return diag_advise(
			d, -ENODEV,
			"this kernel is older than the CPU, %s (%s), and has no names for "
			"its PMUs: %s. Use a newer one%s%s.",
			m->cpu, m->chip->title, useless, m->chip->since ? ", from Linux " : "",
			m->chip->since ? m->chip->since : "");
	if (useless[0])
		return diag_advise(
			d, -ENODEV,
			"the CPU is %s (%s), and there are %s, but no PMU of its memory "
			"controllers. Linux has it%s%s; the kernel's log may say what is "
			"wrong (dmesg).",
			m->cpu, m->chip->title, useless, m->chip->since ? " since " : "",
			m->chip->since ? m->chip->since : "");
	if (m->virtual)
		return diag_advise(d, -ENODEV,
				   "the CPU is %s (%s), and this is a virtual machine: hypervisors "
				   "show no uncore PMUs. Run t410trace on the host." DEMO,
				   m->cpu, m->chip->title);
	return diag_advise(d, -ENODEV,
			   "the CPU is %s (%s). Its PMUs come with %s, try modprobe." DEMO, m->cpu,
			   m->chip->title, m->chip->drivers);
}

/* All drivers of chips that the CPU does not identify. */
static int advise_drivers(const struct machine *m, struct diag *d)
{
	char text[300] = "";

	for (size_t i = 0; i < nr_pmu_platforms; i++)
		if (pmu_platforms[i].any_cpu)
			str_append(text, sizeof(text), "%s%s", text[0] ? ", " : "",
				   pmu_platforms[i].drivers);
	return diag_advise(d, -ENODEV,
			   "the CPU is %s%s%s, which tells no chip. PMUs that are known come with "
			   "%s, try modprobe; virtual machines have none of them." DEMO,
			   m->cpu, m->core ? ", " : "", m->core ? m->core->name : "", text);
}

static int advise_arm(const struct machine *m, struct diag *d)
{
	const struct pmu_platform_row *chip = m->chip ? m->chip : &pmu_platforms[0];
	char needs[400] = "";

	if (!m->chip && m->cpu[0])
		return advise_drivers(m, d);
	str_append(needs, sizeof(needs), "%s needs ", chip->title);
	if (chip->since)
		str_append(needs, sizeof(needs), "Linux %s or newer with ", chip->since);
	str_append(needs, sizeof(needs), "these drivers, try modprobe: %s", chip->drivers);
	if (m->core && chip->general_cores)
		return diag_advise(
			d, -ENODEV,
			"the cores are %s, which %s has: %s. Other chips with these "
			"cores have arm_cmn_<n> at most, and virtual machines none." DEMO,
			m->core->name, chip->title, needs);
	return diag_advise(d, -ENODEV, "%s. Without the hardware,%s", needs, DEMO);
}

static int nothing_found(const struct sysfs *fs, struct diag *d)
{
	char text[400] = "", useless[200];
	struct machine m;

	read_machine(fs, &m);
	for (size_t i = 0; i < nr_pmu_families; i++)
		if (looked_for(&pmu_families[i], m.x86,
			       m.chip ? m.chip->platform : PMU_PLATFORM_UNKNOWN))
			str_append(text, sizeof(text), "%s%s", text[0] ? ", " : "",
				   pmu_families[i].pattern);
	diag_fail(d, -ENODEV, "no uncore PMU that is known in %.80s/%s, looked for %s", fs->root,
		  PMU_DEVICES, text);
	if (!m.x86)
		return advise_arm(&m, d);
	useless_pmus(fs, &m, useless, sizeof(useless));
	return advise_x86(&m, useless, d);
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

	if (sysfs_list(fs, &names, PMU_DEVICES) || !names.nr)
		return err;
	for (size_t i = 0; i < names.nr; i++)
		spelling_add(&s, names.items[i]);
	return spelling_advise(&s, "there are", d, err);
}
