// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/exports.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/output.h"
#include "report/csv/csv.h"
#include "report/perfetto/perfetto.h"

/* NULL for standard output, as output_open() has it. */
static const char *path_of(const char *file)
{
	return strcmp(file, "-") ? file : NULL;
}

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
	if (args->nr_methods > 1)
		return diag_fail(d, -EINVAL, "%s is of one method: --compare has several", name);
	if (o->csv && o->perfetto && !strcmp(o->csv, o->perfetto))
		return diag_fail(d, -EINVAL, "--csv and --perfetto need a file each");
	if (o->perfetto && !path_of(o->perfetto) && isatty(STDOUT_FILENO))
		return diag_fail(d, -EINVAL, "--perfetto -: this is no text for a terminal");
	return 0;
}

static int open_timeline(struct exports *e, struct diag *d)
{
	int err = output_open(path_of(e->args->output.perfetto), d, &e->perfetto);

	if (!err && perfetto_new(e->perfetto, &e->timeline))
		err = diag_no_memory(d);
	return err;
}

int exports_open(const struct run_options *args, struct diag *d, struct exports *ret)
{
	int err = 0;

	*ret = (struct exports){ .args = args };
	if (args->output.csv)
		err = output_open(path_of(args->output.csv), d, &ret->csv);
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
	int err = e->csv ? csv_write(e->csv, r) : 0;

	if (err)
		return output_failed(path_of(e->args->output.csv), err, d);
	err = e->timeline ? perfetto_write(e->timeline, r) : 0;
	return err ? output_failed(path_of(e->args->output.perfetto), err, d) : 0;
}

int exports_finish(struct exports *e, struct diag *d)
{
	int err = e->timeline ? perfetto_finish(e->timeline) : 0;

	return err ? output_failed(path_of(e->args->output.perfetto), err, d) : 0;
}

static int close_one(FILE **file, const char *path, struct diag *d)
{
	FILE *out = *file;

	*file = NULL;
	return out ? output_close(out, path_of(path), d) : 0;
}

int exports_close(struct exports *e, struct diag *d)
{
	int err = close_one(&e->csv, e->args ? e->args->output.csv : NULL, d), other;

	perfetto_free(e->timeline);
	e->timeline = NULL;
	other = close_one(&e->perfetto, e->args ? e->args->output.perfetto : NULL, err ? NULL : d);
	return err ? err : other;
}
