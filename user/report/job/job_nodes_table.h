/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The nodes of a merged account, for people. */
#ifndef REPORT_JOB_JOB_NODES_TABLE_H
#define REPORT_JOB_JOB_NODES_TABLE_H

#include <stdio.h>

#include "report/grid.h"
#include "report/job/job_nodes.h"
#include "report/job/job_report.h"

#define JOB_SPREAD_LABEL 32

/** job_spread_label() - "CPU time", "memory reads", "energy" */
void job_spread_label(size_t spread, char ret[JOB_SPREAD_LABEL]);

/** job_spread_cell() - a number of the kind that @spread is of */
struct grid_cell job_spread_cell(size_t spread, sum128 value);

/** job_nodes_spread() - how nodes of a kind differ, as a table behind an empty line; 0 or -ENOMEM */
int job_nodes_spread(FILE *out, const struct job_nodes *n, const struct job_kind *k, size_t width);

/** job_nodes_list() - all nodes, as a table behind an empty line; 0 or -ENOMEM */
int job_nodes_list(FILE *out, const struct job_nodes *n, size_t width);

/** job_nodes_title() - for a title behind the nodes: ", without 3 of 5 nodes"; @n: may be NULL */
#define JOB_NODES_TITLE 64
void job_nodes_title(const struct job_nodes *n, char ret[JOB_NODES_TITLE]);

/** job_nodes_notes() - missing nodes, refused reports, nodes with gaps and losses; 0 or -ENOMEM */
int job_nodes_notes(FILE *out, const struct job_nodes *n, size_t width);

#endif
