/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Short names and patterns for PMUs, beside their names in sysfs. */
#ifndef PLATFORM_PMU_PMU_MATCH_H
#define PLATFORM_PMU_PMU_MATCH_H

#include "platform/pmu/pmu.h"
#include "base/spelling.h"

/** struct pmu_choice - some of the PMUs, in the order of their list; they are not owned */
struct pmu_choice {
	const struct pmu **pmus;
	size_t nr;
	size_t cap;
};

/**
 * pmu_match() - the PMUs that a name stands for
 * @list: all PMUs
 * @name: the name in sysfs; that without its numbers ("nvidia_ucf_pmu"); the short name of a
 *	family ("ucf"), with numbers for some of it ("ucf0", "pcie0.rc1", "pcie0", "pcie.rc1");
 *	or a pattern with * and ? for names in sysfs and short ones with all their numbers
 * @ret: none when there is no such PMU; release with pmu_choice_free()
 *
 * Return: 0 or -ENOMEM.
 */
int pmu_match(const struct pmu_list *list, const char *name, struct pmu_choice *ret);

/** pmu_choice_add() - add a PMU; 0 or -ENOMEM */
int pmu_choice_add(struct pmu_choice *choice, const struct pmu *pmu);

/** pmu_choice_free() - NULL is fine */
void pmu_choice_free(struct pmu_choice *choice);

/** pmu_names_add() - all names that pmu_match() knows here */
void pmu_names_add(const struct pmu_list *list, struct spelling *s);

#endif
