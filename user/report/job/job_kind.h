/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Adding up the accounts of nodes that count the same. */
#ifndef REPORT_JOB_JOB_KIND_H
#define REPORT_JOB_JOB_KIND_H

#include "report/job/job_nodes.h"
#include "report/job/job_read.h"

/** job_kind_of() - a kind of one node; takes what @r has, also with an error. 0 or -ENOMEM */
int job_kind_of(struct job_reading *r, struct job_kind *ret);

/** job_kind_same() - do the nodes of both count the same, so that their sums may be added? */
bool job_kind_same(const struct job_kind *a, const struct job_kind *b);

/**
 * job_kind_join() - add the nodes of @from to those of @to
 * @to: may be all zero: no nodes
 * @counters: otherwise only times are added
 *
 * Return: 0, or -ENOMEM with @to unusable.
 */
int job_kind_join(struct job_kind *to, const struct job_kind *from, bool counters);

/** job_kind_finish() - all nodes are in it: make the ends of intervals of their errors */
void job_kind_finish(struct job_kind *k);
void job_kind_release(struct job_kind *k);

#endif
