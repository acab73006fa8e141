/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From segments of the meter to events of a trace: each group of counters of a device has windows
 * that tile the time; those between its turns say that nothing ran. What a segment has
 * is in exactly one window of each of its groups.
 */
#ifndef LIVE_SOURCES_DEVICE_WINDOWS_H
#define LIVE_SOURCES_DEVICE_WINDOWS_H

#include "platform/plan/device_plan.h"
#include "stat.h"
#include "trace.h"

/**
 * struct device_windows_options - what is counted, and where it goes
 * @plan: must outlive the windows
 * @pmus: by want, the number of its PMU in segments; copied
 * @first_group, @first_probe: place of the plan's first ones in the trace
 * @out: gets windows and samples; copied
 */
struct device_windows_options {
	const struct device_plan *plan;
	const uint32_t *pmus;
	uint32_t first_group;
	uint32_t first_probe;
	struct trace_sink out;
};

struct device_windows;

/** device_windows_new() - nothing is handed on before device_windows_begin(); 0 or -ENOMEM */
int device_windows_new(const struct device_windows_options *o, struct device_windows **ret);
void device_windows_free(struct device_windows *w);

/** device_windows_begin() - the first window of every group begins now */
void device_windows_begin(struct device_windows *w, uint64_t now_ns);

/**
 * device_windows_segment() - take over a segment
 *
 * Return: 0, or an error of the sink other than -EINVAL.
 */
int device_windows_segment(struct device_windows *w, const struct stat_segment *s);

/**
 * device_windows_fill() - hand on the time in which groups did not have their turn
 * @w: windows
 * @read_ns: the last readings began here. The end of a PMU that was read since then is its reading,
 *	however long ago that is by now: the host may have stopped us in between
 * @end_ns: the trace ends here: everything up to it, for PMUs that could not be read for half a
 *	second before. 0, and otherwise: what is certain, up to the last segment of each PMU
 *
 * Return: 0, or an error of the sink other than -EINVAL.
 */
int device_windows_fill(struct device_windows *w, uint64_t read_ns, uint64_t end_ns);

/**
 * device_windows_stop() - a device (from 0) has no counts from here on: they are not its own
 *
 * Return: whether it had until now.
 */
bool device_windows_stop(struct device_windows *w, size_t device);

/** device_windows_held() - time that others kept counters from counting; of a group, or all */
#define DEVICE_WINDOWS_ALL SIZE_MAX
uint64_t device_windows_held(const struct device_windows *w, size_t group);

/** device_windows_bad() - windows and samples that the sink refused */
uint64_t device_windows_bad(const struct device_windows *w);

#endif
