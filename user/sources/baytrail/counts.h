/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts printed by a vendor's tool: groups of Bay Trail become counters and metrics like those of
 * PMUs. docs/BAYTRAIL.md describes the files; counts_read.c reads them.
 */
#ifndef SOURCES_BAYTRAIL_COUNTS_H
#define SOURCES_BAYTRAIL_COUNTS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/diag.h"
#include "counts_options.h"
#include "stat.h"

/**
 * struct counts - a group
 * @layout: its counters and metrics, for the book
 * @texts: of the metrics
 * @fallen: counts that were less than in the line before: their bytes are missing
 * @disordered: lines or samples that were not later than the one before; left out. For totals the
 *	next line includes their counts, otherwise these are missing
 * @relative: the file gives durations instead of times
 */
struct counts {
	struct stat_layout layout;
	struct text_list texts;
	uint64_t fallen;
	uint64_t disordered;
	bool relative;
};

/**
 * counts_new() - counters and metrics of a group
 * @o: options
 * @d: gets the problem
 * @ret: release with counts_free()
 *
 * Return: 0, -EINVAL for an unknown group, -ENOMEM.
 */
int counts_new(const struct counts_options *o, struct diag *d, struct counts *ret);
void counts_free(struct counts *c);

/**
 * counts_read() - read a file to its end
 * @c: the group
 * @in: the file
 * @name: of the file, for messages
 * @take: gets each segment in order of time; a negative errno ends the reading
 * @arg: handed to it
 * @d: gets the problem, with the line
 *
 * Return: 0, -EBADMSG for a file that makes no sense, the error of @take or of reading.
 */
int counts_read(struct counts *c, FILE *in, const char *name,
		int (*take)(void *arg, const struct stat_segment *s), void *arg, struct diag *d);

#endif
