/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where reports go: a table or JSON, in a file or on standard output. */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

#include "base/diag.h"
#include "cli/output.h"
#include "report/table/table.h"
#include "run_options.h"
#include "trace.h"

/**
 * struct show - state of the output
 * @args: its appearance
 * @out: where to
 * @sequence: of the next report
 * @constant: notes_constant() of the one before
 * @longest_ns: longest interval so far
 * @incomplete: a report lacks data, or, after show_close(), no report had a count of some device: a
 *	device without a turn in one interval has it in a later one
 * @uncounted, @counted: devices with counters: without a value in a report, with one
 */
struct show {
	const struct run_options *args;
	struct output out;
	uint64_t sequence;
	uint64_t constant;
	uint64_t longest_ns;
	bool incomplete;
	bool uncounted[TRACE_MAX_DEVICES];
	bool counted[TRACE_MAX_DEVICES];
};

/**
 * show_open() - open the output, as output_open() does
 * @args: its appearance; must outlive @ret
 * @d: gets the problem
 * @ret: end with show_close()
 *
 * Return: 0 or a negative errno.
 */
int show_open(const struct run_options *args, struct diag *d, struct show *ret);

/** show_report() - give a report its sequence number and write it; 0 or a negative errno */
int show_report(struct show *s, struct report *r, struct diag *d);

/** show_options() - appearance of a table: the user's options, and the terminal */
struct table_options show_options(const struct show *s);

/**
 * show_written() - note that a report was written, or describe the error
 *
 * The file of a live run moves to its place with the first report: it can be read as it grows.
 *
 * Return: @err, or the error of moving it.
 */
int show_written(struct show *s, const struct report *r, int err, struct diag *d);

/** show_close() - close the output, as output_close() does */
int show_close(struct show *s, int err, struct diag *d);

#endif
