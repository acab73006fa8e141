/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* System-wide counts as t410trace.stat/1, and as tables for people, one for each family of PMUs. */
#ifndef REPORT_STAT_STAT_REPORT_H
#define REPORT_STAT_STAT_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "report/table/table.h"
#include "stat.h"

/**
 * stat_json() - build the JSON object of a report
 * @r: the report
 * @ret: receives a new reference; the caller drops it with json_decref()
 *
 * Has all counters and metrics; those without a value have the reason.
 *
 * Return: 0 or -ENOMEM.
 */
int stat_json(const struct stat_report *r, json_t **ret);

/** stat_json_write() - write it as one line; 0, an error of stat_json(), or of writing */
int stat_json_write(FILE *out, const struct stat_report *r);

/**
 * stat_table_write() - write a report as tables
 * @out: where to; flushed
 * @r: the report
 * @o: its appearance; @o->top is ignored. With @o->height and without @o->verbose, the rows of PMUs
 *	with the least traffic are left out of each family as far as needed
 *
 * Families with many PMUs have a row for each and columns for metrics; the rest has a row for each
 * metric. PMUs that counted only their clock share one line, unless @o->verbose. A value that
 * covers only part of the time is marked, an absent one has a reason below the tables. Notes of the
 * layout come with the first report only.
 *
 * Return: 0, -ENOMEM with nothing written, or the negative errno of a failed write.
 */
int stat_table_write(FILE *out, const struct stat_report *r, const struct table_options *o);

#endif
