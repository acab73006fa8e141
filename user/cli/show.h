/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where reports go: a table or JSON, in a file or on standard output. */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include <stdio.h>

#include "base/diag.h"
#include "cli/trace_args.h"

/**
 * struct show - state of the output
 * @args: how it is to look
 * @out: where to
 * @sequence: of the next report
 * @incomplete: a report said that data is missing
 */
struct show {
	const struct trace_args *args;
	FILE *out;
	uint64_t sequence;
	bool incomplete;
};

/**
 * show_open() - open the output; empties an existing file
 * @args: how it is to look; must outlive @ret
 * @d: gets the problem
 * @ret: end with show_close()
 *
 * Return: 0 or a negative errno.
 */
int show_open(const struct trace_args *args, struct diag *d, struct show *ret);

/**
 * show_reports() - write a report, or reports of several methods side by side
 * @s: where to
 * @reports: of the same interval; get a sequence number
 * @nr: at least 1
 * @d: gets the problem
 *
 * Return: 0 or a negative errno.
 */
int show_reports(struct show *s, struct report **reports, size_t nr, struct diag *d);

/** show_close() - make sure that all has been written; 0 or a negative errno */
int show_close(struct show *s, struct diag *d);

#endif
