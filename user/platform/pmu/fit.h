/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which rows of the tables fit the PMUs of a machine, and why others do not. */
#ifndef PLATFORM_PMU_FIT_H
#define PLATFORM_PMU_FIT_H

#include "platform/pmu/pmu.h"
#include "tables/counter_rows.h"

/**
 * pmu_replaced_by() - the PMU that reports take instead of one that counts the same bytes
 * @list: all PMUs
 * @pmu: one of them
 * @set: which rows of counter_rows
 *
 * Return: a PMU of the better family, NULL when there is none: then reports take @pmu.
 */
const struct pmu *pmu_replaced_by(const struct pmu_list *list, const struct pmu *pmu,
				  unsigned int set);

/**
 * pmu_terms_differ() - does sysfs encode the event of a row in another way than the table?
 *
 * What sysfs says is used.
 */
bool pmu_terms_differ(const struct pmu *pmu, const struct counter_row *row);

/** pmu_fit_energy() - can energy be counted? Not all machines with its PMU have events of it */
bool pmu_fit_energy(const struct pmu_list *list);

/**
 * pmu_fit_notes() - what reports count on this machine, and what they leave out
 * @fs: sysfs
 * @list: its PMUs
 * @ret_notes: sentences are added
 *
 * Return: 0 or -ENOMEM.
 */
int pmu_fit_notes(const struct sysfs *fs, const struct pmu_list *list, struct text_list *ret_notes);

/** pmu_fit_doubts() - those of the notes that say why the total is not what it seems; 0 or -ENOMEM */
int pmu_fit_doubts(const struct sysfs *fs, const struct pmu_list *list,
		   struct text_list *ret_notes);

/** pmu_fit_left_out() - those of the notes that say what reports leave out; 0 or -ENOMEM */
int pmu_fit_left_out(const struct sysfs *fs, const struct pmu_list *list,
		     struct text_list *ret_notes);

/** pmu_fit_chips() - who has PMUs of this name, "Ice Lake servers; ..."; "" for nobody */
void pmu_fit_chips(const char *name, char *ret, size_t size);

/** pmu_fit_cpu() - the machine's CPU, "GenuineIntel-6-6A (Ice Lake servers)" */
void pmu_fit_cpu(const struct sysfs *fs, char *ret, size_t size);

#endif
