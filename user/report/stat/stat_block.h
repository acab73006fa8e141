/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Internal to the tables of counts: the block of one family of PMUs. */
#ifndef REPORT_STAT_STAT_BLOCK_H
#define REPORT_STAT_STAT_BLOCK_H

#include "report/format.h"
#include "report/table/table.h"
#include "stat.h"

#define STAT_CELL_WIDTH FORMAT_NUMBER_WIDTH

/* Explanations needed below the tables, because a value had the mark. */
struct stat_marks {
	bool absent[NR_STAT_ABSENCES];
	bool part;
	double least; /* smallest part of the time that a value covers */
	double most;
	double off;	/* largest part of a value that the truth may be off */
	double stopped; /* the same of values that cover all of the time, beside turns */
};

/* A table while it is written. */
struct stat_table {
	FILE *out;
	const struct stat_report *r;
	const struct table_options *o;
	size_t width;
	size_t places; /* of a block: rows shown, those with the most traffic; 0: all */
	struct stat_marks *marks;
	bool after_quiet; /* the last block was a single line without traffic */
	bool gap;	  /* an empty line comes before the next note */
};

/** stat_block_write() - the metrics of the family of PMU @pmu; 0 or -ENOMEM */
int stat_block_write(struct stat_table *t, size_t pmu);

/**
 * stat_mark_absent() - the text in place of a value: "-", or with a letter that a line below the
 * tables explains
 */
const char *stat_mark_absent(struct stat_marks *m, enum stat_absence absence);

/**
 * stat_mark_part() - "*" for a value that covers a part of the time, otherwise 0
 * @m: will be explained; so will be a value without the mark that may be off
 * @covered_ns, @enabled_ns: that part
 * @off: how far off the value may be, see stat_off()
 */
char stat_mark_part(struct stat_marks *m, uint64_t covered_ns, uint64_t enabled_ns, double off);

/** stat_off() - the larger side of an interval as a part of the value; 0 for the value 0 */
double stat_off(double value, double low, double high);

#endif
