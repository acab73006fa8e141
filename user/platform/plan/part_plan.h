/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The plan for parts: events for a part of a socket's traffic that is measured elsewhere than the
 * total. Pure: the machine is an argument.
 */
#ifndef PLATFORM_PLAN_PART_PLAN_H
#define PLATFORM_PLAN_PART_PLAN_H

#include "base/text_list.h"
#include "platform/spec/want.h"
#include "tables/counter_rows.h"
#include "trace.h"

/**
 * struct part_plan - the plan
 * @wants: the events to count
 * @part_of: by want, its part
 * @scale: by want, bytes of a count
 * @parts, @nr_parts: their results: sums over the PMUs of a family on a socket, or one for each PMU
 *	where the family says so
 * @notes: parts that cannot be counted, and why
 */
struct part_plan {
	struct want_list wants;
	uint32_t *part_of;
	struct bytes_ratio *scale;
	struct traffic_part *parts;
	size_t nr_parts;
	struct text_list notes;
};

/**
 * part_plan_make() - decide
 * @pmus: all PMUs; must outlive the plan
 * @layout: its sockets: parts of other sockets have no total. A PMU with a single counter that the
 *	layout already uses is left out, and a note says so
 * @d: gets the problem
 * @ret: release with part_plan_free()
 *
 * Return: 0 or -ENOMEM.
 */
int part_plan_make(const struct pmu_list *pmus, const struct layout *layout, struct diag *d,
		   struct part_plan *ret);
void part_plan_free(struct part_plan *p);

#endif
