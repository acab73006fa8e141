// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* t410trace report: what a recording holds, as a live run would have shown it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/run_check.h"
#include "replay/replay_file.h"
#include "cli/show.h"

struct reporting {
	const struct run_options *args;
	struct show show;
	struct replay_file file;
	bool in_summary;
};

static int on_reports(void *arg, struct report **reports, size_t nr, struct diag *d)
{
	struct reporting *r = arg;

	return r->args->output.summary && !r->in_summary ? 0
							 : show_reports(&r->show, reports, nr, d);
}

/* What was not recorded cannot be shown. */
static int check_destinations(const struct reporting *r, struct diag *d)
{
	const struct layout *l = &trace_file_header(r->file.file)->layout;

	for (size_t i = 0; i < l->nr_counters; i++)
		if (!l->counters[i].device && l->counters[i].destination != DESTINATION_ANY)
			return 0;
	diag_fail(d, -ENODATA, "%s does not tell where bytes went", replay_file_name(&r->file));
	return diag_advise(d, -ENODATA, "record with --split destination");
}

static int open_all(struct reporting *r, struct diag *d)
{
	const struct replay_output output = { on_reports, r };
	int err = replay_file_open(&r->file, &output, d);

	if (!err && r->args->by_destination)
		err = check_destinations(r, d);
	/* Not before all else is well: it empties a file that may be wanted. */
	if (!err)
		err = show_open(r->args, d, &r->show);
	return err;
}

static int read_all(struct reporting *r, struct diag *d)
{
	int err = replay_file_read(&r->file, d);

	r->in_summary = true;
	if (!err && r->args->output.summary && replay_intervals(r->file.replay))
		err = replay_summary(r->file.replay);
	return err;
}

static int report(struct options *o)
{
	struct reporting r = { .args = &o->run, .file = { .who = o->who, .args = &o->run } };
	struct diag d = { 0 };
	bool incomplete = false;
	int err, closed;

	signal(SIGPIPE, SIG_IGN);
	err = open_all(&r, &d);
	if (!err)
		err = read_all(&r, &d);
	closed = show_close(&r.show, err ? NULL : &d);
	if (!err)
		err = closed;
	if (err)
		output_diag(o->who, &d);
	else
		incomplete = replay_file_describe(&r.file);
	if (!err && r.show.incomplete) {
		fprintf(stderr, "%s: data is missing: see the quality of the reports\n", o->who);
		incomplete = true;
	}
	replay_file_close(&r.file);
	return err ? EXIT_FAILED : incomplete ? EXIT_INCOMPLETE : EXIT_OK_;
}

static int check(struct options *o, struct diag *d)
{
	int err = run_check_selection(&o->run, d);

	if (!err && !o->run.file)
		err = diag_fail(d, -EINVAL,
				"which recording? give its FILE, or - for the standard input");
	if (!err && o->run.by_destination && o->run.nr_methods > 1)
		err = diag_fail(d, -EINVAL, "--split and --compare exclude each other");
	return err;
}

const struct command command_report = {
	.name = "report",
	.brief = "reports from a recording",
	.args = "FILE",
	.doc = "Show the reports of a recording, as the live run would have shown them. FILE is a "
	       "recording or NDJSON (t410trace.trace/1); - is the standard input.",
	.bit = FOR_REPORT,
	.statuses = 1u << EXIT_INCOMPLETE,
	.argument = run_take_recording,
	.check = check,
	.run = report,
};
