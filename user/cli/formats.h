/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The formats of reports: one table. Text and JSON go to standard output or -o; other formats name
 * a file of their own.
 */
#ifndef CLI_FORMATS_H
#define CLI_FORMATS_H

#include <stdio.h>

#include "base/diag.h"
#include "cli/output.h"
#include "neighbourhood.h"
#include "report/job/job_report.h"
#include "run_options.h"
#include "stat.h"
#include "trace.h"

struct options;

/* Behind those of enum output_format */
enum {
	FORMAT_PAGE = NR_OUTPUT_FORMATS,
	FORMAT_CSV,
	FORMAT_TIMELINE,
	NR_FORMATS,
};

/**
 * struct format_file - the file of a run's reports in one format
 * @args: the user's options
 * @out: where to; open while @state is there
 * @packed: bytes written to it go to @out packed; or NULL
 * @state: of the writer
 * @complete: the file may be shown
 */
struct format_file {
	const struct run_options *args;
	struct output out;
	FILE *packed;
	void *state;
	bool complete;
};

/**
 * struct report_format - a format
 * @option: selects it; NULL for text
 * @path: offset of its file in struct output_options, 0: it has none of its own
 * @at_end: its file is written at the end of a run, from all intervals and the neighbours
 * @for_programs: never on a terminal
 * @report, @neighbours, @stat, @job, @jobs: write a report to a stream; 0 or a negative errno. NULL:
 *	it cannot. Formats for programs do not look at how a table is to look
 * @open, @add, @finish, @close: a run in a file of its own, each 0 or a negative errno; NULL: nothing
 *	to do. @close ends what @open began, also after an error
 * @sink: of the events of the trace; without function if it needs none
 */
struct report_format {
	const char *option;
	size_t path;
	bool at_end;
	bool for_programs;
	int (*report)(FILE *out, const struct report *r, const struct table_options *o);
	int (*neighbours)(FILE *out, const struct neighbours_report *r,
			  const struct table_options *o);
	int (*stat)(FILE *out, const struct stat_report *r, const struct table_options *o);
	int (*job)(FILE *out, const struct job_context *c, const struct account_job *j,
		   const struct table_options *o);
	int (*jobs)(FILE *out, const struct job_context *c, const struct account_job *jobs,
		    size_t nr, const struct table_options *o);
	int (*open)(struct format_file *f);
	int (*add)(struct format_file *f, const struct report *r);
	int (*finish)(struct format_file *f, const struct neighbours_report *n);
	void (*close)(struct format_file *f);
	struct trace_sink (*sink)(const struct format_file *f);
};

extern const struct report_format report_formats[NR_FORMATS];

/** format_path() - its own file, as the user named it; NULL: not wanted, or there is none */
const char *format_path(const struct report_format *f, const struct output_options *o);

/** formats_hidden() - is there one that no terminal shows while it is written? */
bool formats_hidden(const struct output_options *o);

/** formats_chosen() - the format for a single report: the one with a file of its own, or @o->format */
const struct report_format *formats_chosen(const struct output_options *o);

/**
 * formats_check() - do the options for output go together?
 * @o: all options of a command; its struct command has the rule
 * @d: gets the two options that do not, and the remedy
 *
 * Return: 0 or -EINVAL.
 */
int formats_check(const struct options *o, struct diag *d);

/**
 * formats_writable() - can all files of the output be written?
 * @o: the options for output
 * @d: gets the file that cannot
 *
 * So that a run does not find out when it has measured. Return: 0 or a negative errno.
 */
int formats_writable(const struct output_options *o, struct diag *d);

/**
 * formats_stat() - write a report of "stat"
 * @out: where to
 * @o: the format; its file is named if writing fails
 * @r: the report
 * @d: gets the problem
 *
 * Return: 0 or a negative errno.
 */
int formats_stat(const struct output *out, const struct output_options *o,
		 const struct stat_report *r, struct diag *d);

/* --- a run in files */

/** struct format_files - those of a run; without such options all functions do nothing */
struct format_files {
	struct format_file files[NR_FORMATS];
};

/** format_files_wanted() - is there any? */
bool format_files_wanted(const struct output_options *o);

/** format_files_at_end() - is there one that format_files_finish() needs the neighbours for? */
bool format_files_at_end(const struct output_options *o);

/**
 * format_files_open() - open them, as output_open() does
 * @args: must outlive @ret
 * @d: gets the problem
 * @ret: always needs format_files_close()
 *
 * Return: 0 or a negative errno.
 */
int format_files_open(const struct run_options *args, struct diag *d, struct format_files *ret);

/** format_files_sink() - a sink for the events of the trace; without function if none is needed */
struct trace_sink format_files_sink(const struct format_files *f);

/** format_files_add() - a report of the run, or the summary; 0 or a negative errno */
int format_files_add(struct format_files *f, const struct report *r, struct diag *d);

/** format_files_finish() - write all that is left; @n: NULL: there were no intervals. 0 or an errno */
int format_files_finish(struct format_files *f, const struct neighbours_report *n, struct diag *d);

/** format_files_close() - close them, as output_close() does, and tell so; @who: the command */
int format_files_close(struct format_files *f, const char *who, int err, struct diag *d);

#endif
