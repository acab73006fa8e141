// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* t410trace report: what a recording holds, as a live run would have shown it. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/replay.h"
#include "cli/show.h"
#include "trace/recording.h"

#define WHO "t410trace report"

struct reporting {
	const struct trace_args *args;
	struct show show;
	struct trace_file *file;
	struct replay *replay;
	struct trace_end end;
	bool in_summary;
};

static int on_reports(void *arg, struct report **reports, size_t nr, struct diag *d)
{
	struct reporting *r = arg;

	return r->args->summary && !r->in_summary ? 0 : show_reports(&r->show, reports, nr, d);
}

static const char *name_of(const struct reporting *r)
{
	return strcmp(r->args->file, "-") ? r->args->file : "the standard input";
}

/* What was not recorded cannot be shown. */
static int check_destinations(const struct reporting *r, struct diag *d)
{
	const struct layout *l = &trace_file_header(r->file)->layout;

	for (size_t i = 0; i < l->nr_counters; i++)
		if (l->counters[i].destination != DESTINATION_ANY)
			return 0;
	diag_fail(d, -ENODATA, "%s does not tell where bytes went", name_of(r));
	diag_help(d, "record with --split destination");
	return -ENODATA;
}

static int open_all(struct reporting *r, struct diag *d)
{
	const struct replay_output output = { on_reports, r };
	int err = trace_file_open(r->args->file, d, &r->file);

	if (!err && r->args->by_destination)
		err = check_destinations(r, d);
	if (!err)
		err = replay_new(trace_file_header(r->file), r->args, &output, d, &r->replay);
	/* Not before all else is well: it empties a file that may be wanted. */
	if (!err)
		err = show_open(r->args, d, &r->show);
	return err;
}

static int read_all(struct reporting *r, struct diag *d)
{
	struct trace_sink sink = replay_sink(r->replay);
	struct diag file_diag = { 0 };
	int err = trace_file_read(r->file, &sink, &file_diag, &r->end);

	if (err && file_diag.what[0])
		*d = file_diag;
	if (!err)
		err = replay_finish(r->replay);
	if (!err)
		err = replay_check_selection(r->replay, name_of(r));
	if (!err && !replay_intervals(r->replay) && r->end.complete)
		err = diag_fail(d, -ENODATA,
				"%s: no interval is complete, there is nothing to report",
				name_of(r));
	r->in_summary = true;
	if (!err && r->args->summary && replay_intervals(r->replay))
		err = replay_summary(r->replay);
	return err;
}

/* What the user must know about the file; true when something is missing. */
static bool describe_end(const struct reporting *r)
{
	const struct trace_end *e = &r->end;

	if (e->rotated && !r->args->quiet)
		fprintf(stderr, "%s: the oldest part of %s was removed to keep its size\n", WHO,
			r->args->file);
	if (e->refused)
		fprintf(stderr, "%s: %" PRIu64 " events made no sense and were left out\n", WHO,
			e->refused);
	if (e->complete)
		return e->refused;
	fprintf(stderr,
		"%s: the recording ends without its end (its writer was killed, or is still at "
		"work): the last %" PRIu64 " bytes were dropped, and what came after the last "
		"complete interval is not shown\n",
		WHO, e->dropped_bytes);
	return true;
}

int cmd_report(int argc, char **argv)
{
	struct trace_args args;
	struct reporting r = { .args = &args };
	struct diag d = { 0 };
	bool incomplete = false;
	int err, closed;

	trace_args_parse(JOB_REPORT, argc, argv, &args);
	signal(SIGPIPE, SIG_IGN);
	err = open_all(&r, &d);
	if (!err)
		err = read_all(&r, &d);
	closed = show_close(&r.show, err ? NULL : &d);
	if (!err)
		err = closed;
	if (err)
		print_diag(WHO, &d);
	else
		incomplete = describe_end(&r);
	if (!err && r.show.incomplete) {
		fprintf(stderr, "%s: data is missing: see the quality of the reports\n", WHO);
		incomplete = true;
	}
	replay_free(r.replay);
	trace_file_close(r.file);
	trace_args_free(&args);
	return err ? EXIT_FAILED : incomplete ? EXIT_INCOMPLETE : EXIT_OK_;
}
