/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The counters of "t410trace stat": metrics by name for the PMUs of the machine, and events as
 * users write them. Gives wants for the meter and the layout of the results.
 */
#ifndef PLATFORM_METRICS_METRIC_SELECT_H
#define PLATFORM_METRICS_METRIC_SELECT_H

#include "base/text_list.h"
#include "platform/spec/want.h"
#include "stat.h"

/**
 * struct metric_options - the user's request
 * @metrics, @nr_metrics: patterns with * and ?; a metric's whole id, its id without the platform,
 *	or its last part. None: the default metrics, unless there are @events
 * @events, @nr_events: event specifications, see event_spec_add()
 * @ranges, @nr_ranges: address ranges, see range_spec_terms()
 * @socket: only PMUs of this socket, -1 for all
 * @per_port: one set of metrics for each port of PMUs that can tell ports apart
 * @per_gpu: one for each GPU of an NVLink-C2C
 * @workload: processes are followed: metrics of the cores are wanted, too
 *
 * With @ranges, @per_port or @per_gpu and no @metrics, only PMUs are shown that have
 * such a filter.
 */
struct metric_options {
	char **metrics;
	size_t nr_metrics;
	char **events;
	size_t nr_events;
	char **ranges;
	size_t nr_ranges;
	int32_t socket;
	bool per_port;
	bool per_gpu;
	bool workload;
};

/**
 * struct metric_selection - the counters and the layout of results
 * @wants: for the meter
 * @counter_of: by want: index of its counter in @layout. Several metrics may want the
 *	same event; it is one counter
 * @layout: PMUs are numbered as in the meter: as they first appear in @wants
 * @texts: memory behind @layout
 */
struct metric_selection {
	struct want_list wants;
	uint32_t *counter_of;
	struct stat_layout layout;
	struct text_list texts;
	size_t cap_metrics;
};

/**
 * metric_select() - choose the counters
 * @fs: sysfs
 * @pmus: all NVIDIA PMUs of the tree; must outlive the selection
 * @o: the request
 * @d: gets the problem
 * @ret: release with metric_selection_free(); may have no wants
 *
 * A metric whose events a PMU does not list is left out there; a note tells so when the user named
 * it without * or ?.
 *
 * Return: 0; -ENOENT for a name or pattern that fits no metric here; errors of
 * event_spec_add() and range_spec_terms(); -ENOMEM.
 */
int metric_select(const struct sysfs *fs, const struct pmu_list *pmus,
		  const struct metric_options *o, struct diag *d, struct metric_selection *ret);
void metric_selection_free(struct metric_selection *s);

/**
 * metric_matches() - does a pattern fit the name of a metric?
 * @pattern: with * and ?
 * @name: it must fit the name, its part behind the first dot, or its part behind the last dot
 */
bool metric_matches(const char *pattern, const char *name);

/** metric_selection_note() - add a note to the layout; 0 or -ENOMEM */
int metric_selection_note(struct metric_selection *s, const char *text);

#endif
