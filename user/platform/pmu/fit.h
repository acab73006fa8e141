/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which rows of the tables fit the PMUs of a machine, and why the rest does not. */
#ifndef PLATFORM_PMU_FIT_H
#define PLATFORM_PMU_FIT_H

#include "platform/pmu/pmu.h"
#include "tables/counter_rows.h"

/**
 * pmu_replaced_by() - the PMU that reports use instead of one that counts the same bytes
 * @list: all PMUs
 * @pmu: one of them
 * @set: which rows of counter_rows
 *
 * Return: a PMU of the better family, NULL when there is none: then reports use @pmu.
 */
const struct pmu *pmu_replaced_by(const struct pmu_list *list, const struct pmu *pmu,
				  unsigned int set);

/**
 * pmu_terms_differ() - does sysfs encode a row's event differently from the table?
 *
 * The encoding of sysfs is used.
 */
bool pmu_terms_differ(const struct pmu *pmu, const struct counter_row *row);

/** pmu_fit_energy() - can energy be counted? Not all machines with its PMU have events of it */
bool pmu_fit_energy(const struct pmu_list *list);

/**
 * pmu_fit_notes() - list what reports count on this machine, and what they leave out
 * @fs: sysfs
 * @list: its PMUs
 * @ret_notes: sentences are added
 *
 * Return: 0 or -ENOMEM.
 */
int pmu_fit_notes(const struct sysfs *fs, const struct pmu_list *list, struct text_list *ret_notes);

/** pmu_fit_doubts() - only the notes why the total may be wrong; 0 or -ENOMEM */
int pmu_fit_doubts(const struct sysfs *fs, const struct pmu_list *list,
		   struct text_list *ret_notes);

/** pmu_fit_left_out() - only the notes on what reports leave out; 0 or -ENOMEM */
int pmu_fit_left_out(const struct sysfs *fs, const struct pmu_list *list,
		     struct text_list *ret_notes);

/** pmu_fit_chips() - chips with PMUs of this name, "Ice Lake servers; ..."; "" for none */
void pmu_fit_chips(const char *name, char *ret, size_t size);

/** pmu_fit_cpu() - the machine's CPU, "GenuineIntel-6-6A (Ice Lake servers)" */
void pmu_fit_cpu(const struct sysfs *fs, char *ret, size_t size);

#endif
