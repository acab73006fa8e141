/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the parts of metric selection only. */
#ifndef PLATFORM_METRICS_INTERNAL_H
#define PLATFORM_METRICS_INTERNAL_H

#include "platform/metrics/metric_select.h"
#include "platform/pci/root_port.h"
#include "tables/formula.h"
#include "tables/metrics.h"

/**
 * struct metric_job - a selection in the making
 * @fs, @pmus, @o: of metric_select()
 * @s: the selection so far. Inputs of metrics are indexes of wants until the end
 * @hits: by pattern: metrics that it matched
 * @ports, @nr_ports: root ports that say where they are
 * @ranges: the requested address ranges, as many as in @o
 * @d: gets the problem
 */
struct metric_job {
	const struct sysfs *fs;
	const struct pmu_list *pmus;
	const struct metric_options *o;
	struct metric_selection *s;
	size_t *hits;
	struct root_port *ports;
	size_t nr_ports;
	struct metric_range *ranges;
	struct diag *d;
};

/**
 * struct metric_variant - one filter setting for which metrics are made
 * @terms, @nr_terms: the filters
 * @ports: number of ports that they let through, 0 = unknown
 * @label: their meaning in words
 * @places: see struct stat_metric
 */
struct metric_variant {
	struct pmu_term terms[3];
	size_t nr_terms;
	unsigned int ports;
	char label[64];
	const char *places;
};

/**
 * struct metric_range - an address range
 * @setting: its filters
 * @port: the root port that its device is below
 * @placed: that port is known
 */
struct metric_range {
	struct metric_variant setting;
	struct root_port port;
	bool placed;
};

struct metric_variants {
	struct metric_variant *v;
	size_t nr;
	size_t cap;
};

/** metric_has_socket() - is there a PMU of this kind on this socket? */
bool metric_has_socket(const struct pmu_list *pmus, enum pmu_kind kind, int32_t socket);

/** metric_asks_variants() - does the user want parts of PMUs separately? */
bool metric_asks_variants(const struct metric_options *o);

/**
 * metric_ranges_read() - look up the requested address ranges
 *
 * Return: 0, -ENOMEM, or an error of range_spec_terms().
 */
int metric_ranges_read(struct metric_job *job);

/**
 * metric_variants_make() - the filter settings for which metrics of a PMU are made
 * @job: the job
 * @pmu: the PMU
 * @list: filled; release its @v. None: the PMU is not shown
 *
 * Return: 0 or -ENOMEM.
 */
int metric_variants_make(struct metric_job *job, const struct pmu *pmu,
			 struct metric_variants *list);

/* A metric about to be added. */
struct metric_plan {
	const struct metric_row *row;
	struct stat_metric metric;
	struct formula *formula;
	struct want wants[STAT_MAX_INPUTS];
	uint32_t nr_wants;
};

/** metric_note() - add a note, once; 0 or -ENOMEM */
int metric_note(struct metric_job *job, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/**
 * metric_wanted() - was this metric requested?
 * @job: the job
 * @row: the metric
 * @name: its name with the numbers of sockets in it
 * @by_default: show it when no pattern was given
 * @ret_by_name: it was requested without * or ?
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

/** metric_constant() - is a formula's name a constant? Then the input is set */
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
