/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside of the plan for devices: device_plan.c chooses, device_sets.c makes sets of events. */
#ifndef PLATFORM_PLAN_DEVICE_PLAN_INTERNAL_H
#define PLATFORM_PLAN_DEVICE_PLAN_INTERNAL_H

#include "platform/plan/device_plan.h"
#include "tables/device_rows.h"
#include "tables/events.h"

/**
 * struct device_depth - how much is counted of the devices of a PMU that are filtered in one way
 * @pmu: the PMU
 * @capacity: its events at the same time
 * @wanted: parts that it should have
 * @parts: parts that it has
 * @beside: parts other than bytes take turns beside them, as a separate set
 * @by_destination: bytes by destination: sets of reads and of writes
 */
struct device_depth {
	const struct pmu *pmu;
	struct plan_capacity capacity;
	unsigned int wanted;
	unsigned int parts;
	bool beside;
	bool by_destination;
};

/**
 * device_depth_find() - as much as bytes allow
 * @o: the plan's input
 * @pmu: the PMU
 * @nr_by_port, @nr_by_id: number of devices filtered in each way
 * @ret_port, @ret_id: how much of them is counted
 */
void device_depth_find(const struct device_plan_options *o, const struct pmu *pmu,
		       size_t nr_by_port, size_t nr_by_id, struct device_depth *ret_port,
		       struct device_depth *ret_id);

/** device_reason_add() - remember a name with its reason; 0 or -ENOMEM */
int device_reason_add(struct device_reasons *r, const char *name, const char *why);

/** device_reasons_note() - a note of the plan for each reason of devices, and one for PMUs */
int device_reasons_note(struct device_plan *p);
void device_reasons_free(struct device_reasons *r);

/** device_depth_note() - remember the dropped parts, if any; 0 or -ENOMEM */
int device_depth_note(struct device_plan *p, const struct device_depth *depth);

/**
 * struct device_sets - how to count a device
 * @depth: how much
 * @device: index in the plan
 * @terms, @nr_terms: the filters that select it
 */
struct device_sets {
	const struct device_depth *depth;
	size_t device;
	struct pmu_term terms[2];
	size_t nr_terms;
};

/**
 * device_sets_add() - add wants, counters, groups and the probe of a device
 *
 * Return: 0; -ENOMEM; or another negative errno with @d, and the plan as it was.
 */
int device_sets_add(struct device_plan *p, const struct device_sets *s, struct diag *d);

/**
 * device_links_need() - counters of a root complex' PMU that links need all the time
 *
 * What all its devices moved to the memory of CPUs is no GPU's, see tables/link_rows.h.
 */
uint32_t device_links_need(const struct device_plan_options *o, const struct pmu *pmu);

/**
 * device_links_add() - a device for the link of each chosen GPU that has one
 * @p: has the devices themselves, and ports
 * @o: the plan's input
 *
 * A link that cannot be counted has the reason (device.why), and there is a note. Return: 0 or
 * -ENOMEM.
 */
int device_links_add(struct device_plan *p, const struct device_plan_options *o);

#endif
