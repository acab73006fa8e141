/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Wants: events to be counted, from a command line or for a metric, before anything is opened. */
#ifndef PLATFORM_SPEC_WANT_H
#define PLATFORM_SPEC_WANT_H

#include "base/diag.h"
#include "platform/pmu/pmu.h"
#include "tables/events.h"

#define WANT_NAME_LEN	 256
#define WANT_FILTERS_LEN 128

/**
 * struct want - an event on one PMU
 * @pmu: not owned; NULL for an event of the cores or of the kernel: @core says which
 * @type, @config: as in struct perf_event_attr
 * @name: as users write it, "nvidia_ucf_pmu_0/mem_bytes_rd,src_loc_cpu=1/"
 * @event: name in sysfs, "" when it was given by number
 * @filters: the terms beside the event, "src_loc_cpu=1,dst_rem=1", "" for none
 * @label: see struct stat_counter
 * @set: wants of one PMU with the same set are to count at the same time; 0 = alone
 * @constant: keep it counting if others must take turns: bytes first
 * @asked: the user named it
 */
struct want {
	const struct pmu *pmu;
	uint32_t type;
	struct pmu_config config;
	char name[WANT_NAME_LEN];
	char event[PMU_NAME_LEN];
	char filters[WANT_FILTERS_LEN];
	char label[64];
	uint32_t set;
	bool constant;
	bool asked;
};

/** struct want_list - wants, in the order in which results are shown */
struct want_list {
	struct want *wants;
	size_t nr;
	size_t cap;
	uint32_t last_set; /* sets are numbered from 1 */
};

/**
 * want_make() - an event with filters on a PMU, encoded and checked
 * @pmu: where
 * @event: name in sysfs, NULL when @terms choose it by number ("event")
 * @terms, @nr: filters
 * @d: the error and what would fit
 * @ret: the want, without a set
 *
 * Return: 0, an error of pmu_encode(), or that of want_check().
 */
int want_make(const struct pmu *pmu, const char *event, const struct pmu_term *terms, size_t nr,
	      struct diag *d, struct want *ret);

/**
 * want_check() - do the hardware and the driver allow this?
 * @pmu: where
 * @event: name in sysfs, NULL when it was given by number
 * @terms, @nr: filters (and the event, when given by number)
 * @d: the broken rule of constraint_rows, its reason, and the alternative
 *
 * Return: 0, or -EINVAL when a rule about a single event is broken. The plan keeps the rules about
 * several events.
 */
int want_check(const struct pmu *pmu, const char *event, const struct pmu_term *terms, size_t nr,
	       struct diag *d);

/** want_same_event() - do both mean the same event of the same PMU, filters included? */
bool want_same_event(const struct want *a, const struct want *b);

/** want_add() - add to a list: 0 or -ENOMEM */
int want_add(struct want_list *list, const struct want *want);

/** want_list_free() - NULL is fine */
void want_list_free(struct want_list *list);

/**
 * want_broken() - the first broken rule about a single event
 * @pmu: where
 * @event: name in sysfs, NULL when @terms choose it by number
 * @terms, @nr: filters
 * @ret_term: index of the term at fault
 *
 * Return: the row of the rule, or NULL when all is well.
 */
const struct constraint_row *want_broken(const struct pmu *pmu, const char *event,
					 const struct pmu_term *terms, size_t nr, size_t *ret_term);

#endif
