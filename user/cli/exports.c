// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/exports.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/gzip_stream.h"
#include "report/csv/csv.h"
#include "report/perfetto/perfetto.h"

bool exports_wanted(const struct run_options *args)
{
	return args->output.csv || args->output.perfetto;
}

int exports_check(const struct run_options *args, struct diag *d)
{
	const struct output_options *o = &args->output;
	const char *name = o->csv ? "--csv" : "--perfetto";

	if (!exports_wanted(args))
		return 0;
	if (o->format != OUTPUT_TEXT || o->file)
		return diag_fail(d, -EINVAL,
				 "%s names its own file and format: leave --json and -o out", name);
	if (o->perfetto && out_file_is_stdout(o->perfetto) && isatty(STDOUT_FILENO))
		return diag_fail(d, -EINVAL,
				 "--perfetto -: this is for programs, not for a terminal");
	return 0;
}

static int open_timeline(struct exports *e, struct diag *d)
{
	const char *path = e->args->output.perfetto, *end = strrchr(path, '.');
	int err = output_open(path, OUTPUT_REPORT, d, &e->perfetto);

	if (err)
		return err;
	if (end && !strcmp(end, ".gz")) {
		e->packed = gzip_stream_open(e->perfetto.file);
		if (!e->packed)
			return diag_no_memory(d);
	}
	return perfetto_new(e->packed ? e->packed : e->perfetto.file, &e->timeline)
		       ? diag_no_memory(d)
		       : 0;
}

int exports_open(const struct run_options *args, struct diag *d, struct exports *ret)
{
	int err = 0;

	*ret = (struct exports){ .args = args };
	if (args->output.csv)
		err = output_open(args->output.csv, OUTPUT_REPORT, d, &ret->csv);
	if (!err && args->output.perfetto)
		err = open_timeline(ret, d);
	return err;
}

struct trace_sink exports_sink(const struct exports *e)
{
	return e->timeline ? perfetto_sink(e->timeline) : (struct trace_sink){ 0 };
}

int exports_write(struct exports *e, const struct report *r, struct diag *d)
{
	int err = e->csv.file ? csv_write(e->csv.file, r) : 0;

	if (err)
		return output_failed(&e->csv, err, d);
	err = e->timeline ? perfetto_write(e->timeline, r) : 0;
	return err ? output_failed(&e->perfetto, err, d) : 0;
}

int exports_finish(struct exports *e, struct diag *d)
{
	int err = e->timeline ? perfetto_finish(e->timeline) : 0;

	/* The rest of the packed bytes */
	if (e->packed && fclose(take_ptr(e->packed)) && !err)
		err = errno ? -errno : -EIO;
	return err ? output_failed(&e->perfetto, err, d) : 0;
}

int exports_close(struct exports *e, int err, struct diag *d)
{
	perfetto_free(take_ptr(e->timeline));
	if (e->packed)
		fclose(take_ptr(e->packed));
	err = output_close(&e->csv, err, d);
	return output_close(&e->perfetto, err, d);
}
