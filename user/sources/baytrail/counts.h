/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts that a vendor's tool has printed: groups of Bay Trail become counters and metrics as those
 * of PMUs. docs/BAYTRAIL.md says what files look like; counts_read.c reads them.
 */
#ifndef SOURCES_BAYTRAIL_COUNTS_H
#define SOURCES_BAYTRAIL_COUNTS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/diag.h"
#include "stat.h"

/**
 * struct counts_options - what the file cannot tell
 * @group: name of the group that was counted
 * @one_channel: the machine has one channel of memory: a count is 32 bytes instead of 64
 * @dram_hz: base frequency of the memory, 0 = not known: no metric needs it then
 */
struct counts_options {
	const char *group;
	bool one_channel;
	double dram_hz;
};

/**
 * struct counts - a group
 * @layout: its counters and metrics, for the book
 * @texts: of the metrics
 * @fallen: counts that were less than in the line before: what they counted there is missing
 * @disordered: lines or samples that were not later than the one before: they are left out. Of
 *	totals the next one has their counts, otherwise these are missing
 * @relative: the file says how long counts are of, and not when
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
 * @d: gets what is wrong
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
 * @take: gets each segment, in the order of time; 0 or a negative errno, which ends it
 * @arg: handed to it
 * @d: gets what is wrong, with the line
 *
 * Return: 0, -EBADMSG for a file that makes no sense, the error of @take or of reading.
 */
int counts_read(struct counts *c, FILE *in, const char *name,
		int (*take)(void *arg, const struct stat_segment *s), void *arg, struct diag *d);

#endif
