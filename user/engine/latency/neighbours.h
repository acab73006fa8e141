/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Neighbours: for each sample of a latency, the traffic of rows on its socket meanwhile.
 * At the end, samples with a high latency are compared with the rest. That is
 * coincidence in time: it says where to look, and proves nothing.
 *
 * Memory is bounded: beyond NEIGHBOURS_MAX_SLOTS samples of a probe, or its part of
 * NEIGHBOURS_MAX_ENTRIES numbers, each two samples that follow each other become one.
 */
#ifndef ENGINE_LATENCY_NEIGHBOURS_H
#define ENGINE_LATENCY_NEIGHBOURS_H

#include "engine/latency/links.h"
#include "engine/split/split.h"
#include "neighbourhood.h"

#define NEIGHBOURS_MAX_SLOTS   4096
#define NEIGHBOURS_MAX_ENTRIES 1048576
/* Rows that are told apart; later ones are pooled. */
#define NEIGHBOURS_MAX_ROWS    16384

/**
 * struct neighbours_names - rows and their keys
 * @row: the row of a workload, or SPLIT_NO_ROW, as in struct split_sink
 * @key: the key of a row, as in reports
 * @arg: handed to both
 */
struct neighbours_names {
	int (*row)(void *arg, uint32_t workload, uint32_t *ret);
	void (*key)(void *arg, uint32_t row, char ret[MODEL_KEY_LEN]);
	void *arg;
};

struct neighbours;

/**
 * neighbours_new() - nothing was sampled yet
 * @header: probes and counters; must outlive the neighbours
 * @links: of @header; must outlive the neighbours
 * @names: copied; numbers of rows are good up to neighbours_close()
 * @ret: free with neighbours_free()
 *
 * Return: 0 or -ENOMEM.
 */
int neighbours_new(const struct trace_header *header, const struct links *links,
		   const struct neighbours_names *names, struct neighbours **ret);
void neighbours_free(struct neighbours *n);

/**
 * neighbours_sample() - a probe was read twice
 *
 * It may come before or after the windows of its time. As for latency_sample(), it is valid and in
 * order.
 *
 * Return: 0 or -ENOMEM.
 */
int neighbours_sample(struct neighbours *n, const struct trace_sample *s);

/** neighbours_split() - windows that were split go in through this; see split_tee.h */
struct split_sink neighbours_split(struct neighbours *n);

/** neighbours_close() - an interval has ended: rows get new numbers */
void neighbours_close(struct neighbours *n);

/**
 * neighbours_progress() - how near a result is
 * @n: the neighbours
 * @rise: as below
 * @ret: of the probe that is nearest, without rows; no probe: there is none
 *
 * Return: 0 or -ENOMEM.
 */
int neighbours_progress(const struct neighbours *n, double rise, struct neighbourhood *ret);

/**
 * neighbours_report() - compare
 * @n: the neighbours
 * @rise: how much above the baseline is high, above 0
 * @summary: of all intervals; owned by the result when 0 is returned
 * @ret: release with neighbours_report_free()
 *
 * Return: 0 or -ENOMEM.
 */
int neighbours_report(const struct neighbours *n, double rise, struct report *summary,
		      struct neighbours_report **ret);

#endif
