// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/formats.h"

#include "cli/output.h"
#include "report/json/json.h"
#include "report/stat/stat_report.h"
#include "report/table/table.h"

/* JSON is always complete, for any width of the terminal. */
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

static int jobs_as_json(FILE *out, const struct job_context *c, const struct account_job *jobs,
			size_t nr, const struct table_options *o)
{
	(void)o;
	return jobs_json_write(out, c, jobs, nr);
}

const struct report_writers report_writers[NR_OUTPUT_FORMATS] = {
	[OUTPUT_TEXT] = { table_write, neighbours_table_write, stat_table_write, job_table_write,
			  jobs_table_write },
	[OUTPUT_JSON] = { report_as_json, neighbours_as_json, stat_as_json, job_as_json,
			  jobs_as_json },
};

int formats_stat(const struct output *out, const struct output_options *o,
		 const struct stat_report *r, struct diag *d)
{
	const struct table_options t = {
		.width = output_width(out->file),
		.height = output_height(out->file),
		.quiet = o->quiet,
		.verbose = o->verbose,
	};
	int err = report_writers[o->format].stat(out->file, r, &t);

	return err ? output_failed(out, err, d) : 0;
}
