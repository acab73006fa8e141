/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From segments of the meter to parts of a trace: counts of a part's PMUs, added up, and scaled by
 * event where events took turns.
 */
#ifndef LIVE_SOURCES_PART_SUMS_H
#define LIVE_SOURCES_PART_SUMS_H

#include "platform/plan/part_plan.h"
#include "stat.h"
#include "trace.h"

/**
 * struct part_sums_options - the plan, and the sink
 * @plan: must outlive the sums
 * @pmus: by want, the number of its PMU in segments; copied
 * @refused: by want, whether it is not counted; copied. A part with such a want has no sums
 * @first: place of the plan's first part in the trace
 * @out: gets the parts; copied
 */
struct part_sums_options {
	const struct part_plan *plan;
	const uint32_t *pmus;
	const bool *refused;
	uint32_t first;
	struct trace_sink out;
};

struct part_sums;

/** part_sums_new() - segments are ignored before part_sums_begin(); 0 or -ENOMEM */
int part_sums_new(const struct part_sums_options *o, struct part_sums **ret);
void part_sums_free(struct part_sums *s);

/** part_sums_begin() - start the sums */
void part_sums_begin(struct part_sums *s, uint64_t now_ns);

/** part_sums_segment() - take over a segment */
void part_sums_segment(struct part_sums *s, const struct stat_segment *segment);

/**
 * part_sums_end() - hand on all sums up to the last segments
 * @s: sums
 *
 * A part with an event that had no turn yet waits for the next time, so that its sum has all PMUs.
 *
 * Return: 0, or an error of the sink other than -EINVAL.
 */
int part_sums_end(struct part_sums *s);

/** part_sums_bad() - parts that the sink refused */
uint64_t part_sums_bad(const struct part_sums *s);

#endif
