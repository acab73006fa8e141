/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside of the selection of metrics: what its parts share. */
#ifndef PLATFORM_METRIC_PARTS_H
#define PLATFORM_METRIC_PARTS_H

#include "platform/metric_select.h"
#include "tables/formula.h"
#include "tables/metrics.h"

/**
 * struct metric_job - a selection in the making
 * @fs, @pmus, @o: of metric_select()
 * @s: what there is so far. Inputs of metrics are indexes of wants until the end
 * @hits: by pattern: metrics that it has brought
 * @d: gets the problem
 */
struct metric_job {
	const struct sysfs *fs;
	const struct pmu_list *pmus;
	const struct metric_options *o;
	struct metric_selection *s;
	size_t *hits;
	struct diag *d;
};

/* A metric about to be added. */
struct metric_plan {
	const struct metric_row *row;
	struct stat_metric metric;
	struct formula *formula;
	struct want wants[STAT_MAX_INPUTS];
	uint32_t nr_wants;
};

/** metric_matches() - does a pattern fit the name of a metric? */
bool metric_matches(const char *pattern, const char *name);

/** metric_note() - add a note, once; 0 or -ENOMEM */
int metric_note(struct metric_job *job, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/**
 * metric_wanted() - was this metric asked for?
 * @job: the job
 * @row: the metric
 * @name: its name with the numbers of sockets in it
 * @by_default: show it when no pattern was given
 * @ret_by_name: it was asked for without * or ?
 */
bool metric_wanted(struct metric_job *job, const struct metric_row *row, const char *name,
		   bool by_default, bool *ret_by_name);

/**
 * metric_begin() - the texts of a metric with the numbers of sockets in them
 * @job: the job
 * @row: the metric
 * @socket, @other: see metric_text()
 * @ret: release with metric_end()
 */
int metric_begin(struct metric_job *job, const struct metric_row *row, int32_t socket,
		 int32_t other, struct metric_plan *ret);
void metric_end(struct metric_plan *p);

/** metric_constant() - is a name of the formula no event? then the input is set */
bool metric_constant(struct metric_plan *p, uint32_t input, unsigned int ports);

/** metric_input() - an input is what @want counts */
void metric_input(struct metric_plan *p, uint32_t input, const struct want *want);

/** metric_commit() - the metric is complete: add it with its wants; 0 or -ENOMEM */
int metric_commit(struct metric_job *job, const struct metric_plan *p);

/**
 * metric_layout_make() - counters and PMUs of the layout from the wants
 * @s: its metrics' inputs become indexes of counters
 *
 * Return: 0 or -ENOMEM.
 */
int metric_layout_make(struct metric_selection *s);

/** metric_select_core() - metrics of the cores; 0 or -ENOMEM */
int metric_select_core(struct metric_job *job);

#endif
