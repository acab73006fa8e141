// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/formats.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/gzip_stream.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "report/csv/csv.h"
#include "report/html/html.h"
#include "report/html/job_page.h"
#include "report/json/json.h"
#include "report/perfetto/perfetto.h"
#include "report/stat/stat_report.h"
#include "report/table/table.h"

/* --- formats for programs: always complete, for any width of the terminal */

static int report_as_json(FILE *out, const struct report *r, const struct table_options *o)
{
	(void)o;
	return json_write(out, r);
}

static int neighbours_as_json(FILE *out, const struct neighbours_report *r,
			      const struct table_options *o)
{
	(void)o;
	return neighbours_json_write(out, r);
}

static int stat_as_json(FILE *out, const struct stat_report *r, const struct table_options *o)
{
	(void)o;
	return stat_json_write(out, r);
}

static int job_as_json(FILE *out, const struct job_context *c, const struct account_job *j,
		       const struct table_options *o)
{
	(void)o;
	return job_json_write(out, c, j);
}

static int job_as_page(FILE *out, const struct job_context *c, const struct account_job *j,
		       const struct table_options *o)
{
	(void)o;
	return job_page_write(out, c, j);
}

static int job_as_csv(FILE *out, const struct job_context *c, const struct account_job *j,
		      const struct table_options *o)
{
	(void)o;
	return job_csv_write(out, c, j);
}

static int jobs_as_json(FILE *out, const struct job_context *c, const struct account_job *jobs,
			size_t nr, const struct table_options *o)
{
	(void)o;
	return jobs_json_write(out, c, jobs, nr);
}

/* --- a run as a page */

static int page_open(struct format_file *f)
{
	f->state = html_new();
	return f->state ? 0 : -ENOMEM;
}

static int page_add(struct format_file *f, const struct report *r)
{
	return html_interval(f->state, r);
}

static int page_finish(struct format_file *f, const struct neighbours_report *n)
{
	return html_write(f->out.file, f->state, n->summary, n, f->args->top);
}

static void page_close(struct format_file *f)
{
	html_free(f->state);
}

/* --- as comma-separated values */

static int csv_add(struct format_file *f, const struct report *r)
{
	return csv_write(f->out.file, r);
}

/* --- as a timeline */

static int timeline_open(struct format_file *f)
{
	const char *end = strrchr(f->out.path, '.');
	struct perfetto *timeline = NULL;
	int err;

	if (end && !strcmp(end, ".gz")) {
		f->packed = gzip_stream_open(f->out.file);
		if (!f->packed)
			return -ENOMEM;
	}
	err = perfetto_new(f->packed ? f->packed : f->out.file, &timeline);
	f->state = timeline;
	return err;
}

static int timeline_add(struct format_file *f, const struct report *r)
{
	return perfetto_write(f->state, r);
}

static int timeline_finish(struct format_file *f, const struct neighbours_report *n)
{
	int err = perfetto_finish(f->state);

	(void)n;
	/* The rest of the packed bytes */
	if (f->packed && fclose(take_ptr(f->packed)) && !err)
		err = errno ? -errno : -EIO;
	return err;
}

static void timeline_close(struct format_file *f)
{
	perfetto_free(f->state);
	if (f->packed)
		fclose(f->packed);
}

static struct trace_sink timeline_sink_of(const struct format_file *f)
{
	return perfetto_sink(f->state);
}

/* --- the table */

#define OWN_FILE(member) offsetof(struct output_options, member)

const struct report_format report_formats[NR_FORMATS] = {
	[OUTPUT_TEXT] = { .report = table_write,
			  .neighbours = neighbours_table_write,
			  .stat = stat_table_write,
			  .job = job_table_write,
			  .jobs = jobs_table_write },
	[OUTPUT_JSON] = { "--json", .report = report_as_json, .neighbours = neighbours_as_json,
			  .stat = stat_as_json, .job = job_as_json, .jobs = jobs_as_json },
	[FORMAT_PAGE] = { "--html", OWN_FILE(html), .at_end = true, .job = job_as_page,
			  .open = page_open, .add = page_add, .finish = page_finish,
			  .close = page_close },
	[FORMAT_CSV] = { "--csv", OWN_FILE(csv), .job = job_as_csv, .add = csv_add },
	[FORMAT_TIMELINE] = { "--perfetto", OWN_FILE(perfetto), .for_programs = true,
			      .open = timeline_open, .add = timeline_add, .finish = timeline_finish,
			      .close = timeline_close, .sink = timeline_sink_of },
};

const char *format_path(const struct report_format *f, const struct output_options *o)
{
	return f->path ? *(const char *const *)((const char *)o + f->path) : NULL;
}

bool formats_hidden(const struct output_options *o)
{
	for (size_t i = NR_OUTPUT_FORMATS; i < NR_FORMATS; i++) {
		const struct report_format *f = &report_formats[i];
		const char *path = format_path(f, o);

		if (path && (f->at_end || f->for_programs || !out_file_is_stdout(path)))
			return true;
	}
	return false;
}

const struct report_format *formats_chosen(const struct output_options *o)
{
	for (size_t i = NR_OUTPUT_FORMATS; i < NR_FORMATS; i++)
		if (format_path(&report_formats[i], o))
			return &report_formats[i];
	return &report_formats[o->format];
}

int formats_stat(const struct output *out, const struct output_options *o,
		 const struct stat_report *r, struct diag *d)
{
	const struct table_options t = {
		.width = output_width(out->file),
		.height = output_height(out->file),
		.quiet = o->quiet,
		.verbose = o->verbose,
	};
	int err = report_formats[o->format].stat(out->file, r, &t);

	return err ? output_failed(out, err, d) : 0;
}

/* --- the rule */

/* Options about where reports go. @format: it is a format, and not only about standard output */
struct choice {
	const char *option;
	const char *path;
	bool format;
};

static int check_pair(const struct choice *a, const struct choice *b, enum format_rule rule,
		      struct diag *d)
{
	bool one = rule == FORMATS_ONE && a->format && b->format;

	if (rule == FORMATS_BESIDE || (!one && !a->path == !b->path))
		return 0;
	diag_fail(d, -EINVAL, "%s and %s exclude each other", a->option, b->option);
	if (b->path)
		diag_help(d, "%s names its own file and format: leave %s out", b->option,
			  a->option);
	else
		diag_help(d, "leave one of them out");
	return -EINVAL;
}

static int check_alone(const struct choice *c, const struct report_format *f,
		       const struct options *o, struct diag *d)
{
	if (!c->path || !out_file_is_stdout(c->path))
		return 0;
	if (o->command->formats == FORMATS_BESIDE && !o->run.output.file)
		return diag_fail(d, -EINVAL, "%s -: reports go there, too: give them -o FILE",
				 c->option);
	if (f->for_programs && isatty(STDOUT_FILENO))
		return diag_fail(d, -EINVAL, "%s -: this is for programs, not for a terminal",
				 c->option);
	return 0;
}

int formats_check(const struct options *o, struct diag *d)
{
	const struct output_options *out = &o->run.output;
	struct choice given[3 + NR_FORMATS];
	size_t nr = 0;
	int err = 0;

	if (out->file)
		given[nr++] = (struct choice){ .option = "-o" };
	if (o->account.all)
		given[nr++] = (struct choice){ .option = "--all" };
	if (out->format != OUTPUT_TEXT)
		given[nr++] = (struct choice){ report_formats[out->format].option, NULL, true };
	if (o->account.compact)
		given[nr++] = (struct choice){ "--compact", NULL, true };
	for (size_t i = NR_OUTPUT_FORMATS; i < NR_FORMATS && !err; i++) {
		const struct report_format *f = &report_formats[i];

		given[nr] = (struct choice){ f->option, format_path(f, out), true };
		err = check_alone(&given[nr], f, o, d);
		nr += given[nr].path != NULL;
	}
	for (size_t i = 0; i < nr; i++)
		for (size_t k = i + 1; k < nr && !err; k++)
			err = check_pair(&given[i], &given[k], o->command->formats, d);
	return err;
}

int formats_writable(const struct output_options *o, struct diag *d)
{
	int err = output_check(o->file, d);

	for (size_t i = NR_OUTPUT_FORMATS; i < NR_FORMATS && !err; i++)
		err = output_check(format_path(&report_formats[i], o), d);
	return err;
}

/* --- a run in files */

bool format_files_wanted(const struct output_options *o)
{
	return formats_chosen(o)->path;
}

bool format_files_at_end(const struct output_options *o)
{
	bool wanted = false;

	for (size_t i = NR_OUTPUT_FORMATS; i < NR_FORMATS; i++)
		wanted |= report_formats[i].at_end && format_path(&report_formats[i], o);
	return wanted;
}

int format_files_open(const struct run_options *args, struct diag *d, struct format_files *ret)
{
	int err = 0;

	*ret = (struct format_files){ 0 };
	for (size_t i = 0; i < NR_FORMATS && !err; i++) {
		const struct report_format *row = &report_formats[i];
		const char *path = format_path(row, &args->output);
		struct format_file *f = &ret->files[i];

		if (!path)
			continue;
		f->args = args;
		f->complete = !row->at_end;
		err = output_open(path, OUTPUT_REPORT, d, &f->out);
		if (!err && row->open && row->open(f))
			err = diag_no_memory(d);
	}
	return err;
}

struct trace_sink format_files_sink(const struct format_files *f)
{
	for (size_t i = 0; i < NR_FORMATS; i++)
		if (f->files[i].out.file && report_formats[i].sink)
			return report_formats[i].sink(&f->files[i]);
	return (struct trace_sink){ 0 };
}

int format_files_add(struct format_files *files, const struct report *r, struct diag *d)
{
	int err = 0;

	for (size_t i = 0; i < NR_FORMATS && !err; i++) {
		struct format_file *f = &files->files[i];

		if (!f->out.file)
			continue;
		/* A file that is written at the end has its own summary. */
		if (report_formats[i].at_end ? r->summary : f->args->output.summary && !r->summary)
			continue;
		err = report_formats[i].add(f, r);
		if (err)
			output_failed(&f->out, err, d);
	}
	return err;
}

int format_files_finish(struct format_files *files, const struct neighbours_report *n,
			struct diag *d)
{
	int err = 0;

	for (size_t i = 0; i < NR_FORMATS && !err; i++) {
		const struct report_format *row = &report_formats[i];
		struct format_file *f = &files->files[i];

		if (!f->out.file || !row->finish || (row->at_end && !n))
			continue;
		err = row->finish(f, n);
		f->complete = true;
		if (err)
			output_failed(&f->out, err, d);
	}
	return err;
}

/* A file that would be empty, without an interval, is not shown. */
int format_files_close(struct format_files *files, const char *who, int err, struct diag *d)
{
	for (size_t i = 0; i < NR_FORMATS; i++) {
		struct format_file *f = &files->files[i];

		if (f->args && report_formats[i].close)
			report_formats[i].close(f);
		if (f->complete)
			err = output_close(&f->out, err, d);
		if (f->complete && !err && f->args && !f->args->output.quiet)
			output_told(who, &f->out);
		if (!f->complete)
			output_close(&f->out, -ENODATA, NULL);
		*f = (struct format_file){ 0 };
	}
	return err;
}
