/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files for other programs that "report" writes instead of its reports. */
#ifndef CLI_EXPORTS_H
#define CLI_EXPORTS_H

#include <stdbool.h>

#include "base/diag.h"
#include "cli/output.h"
#include "run_options.h"
#include "trace.h"

struct perfetto;

/**
 * struct exports - the export files of a run
 * @args: choose the files
 * @csv, @perfetto: open while they are written
 * @packed: what is written to it goes to @perfetto packed, if its name asks for that
 * @timeline: writes @perfetto
 */
struct exports {
	const struct run_options *args;
	struct output csv;
	struct output perfetto;
	FILE *packed;
	struct perfetto *timeline;
};

/** exports_wanted() - is any export requested? */
bool exports_wanted(const struct run_options *args);

/** exports_check() - do the options make sense together? 0 or -EINVAL */
int exports_check(const struct run_options *args, struct diag *d);

/**
 * exports_open() - open the files, as output_open() does
 * @args: must outlive @ret
 * @d: gets the problem
 * @ret: always needs exports_close()
 *
 * Return: 0 or a negative errno.
 */
int exports_open(const struct run_options *args, struct diag *d, struct exports *ret);

/** exports_sink() - a sink for the events of the trace; without functions if none is needed */
struct trace_sink exports_sink(const struct exports *e);

/** exports_write() - write a report to all files; 0 or a negative errno */
int exports_write(struct exports *e, const struct report *r, struct diag *d);

/** exports_finish() - write the parts behind the last report; 0 or an errno */
int exports_finish(struct exports *e, struct diag *d);

/** exports_close() - close the files, as output_close() does */
int exports_close(struct exports *e, int err, struct diag *d);

#endif
