// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* t410trace report: reports of a recording, as a live run would have shown them. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "cli/commands.h"
#include "cli/formats.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/run_check.h"
#include "replay/replay_file.h"
#include "cli/show.h"

struct reporting {
	const struct run_options *args;
	struct show show;
	struct format_files files;
	struct progress progress;
	struct replay_file file;
};

static int on_report(void *arg, struct report *report, struct diag *d)
{
	struct reporting *r = arg;
	const struct output_options *o = &r->args->output;
	bool shown = !o->summary || report->summary;
	int err = 0;

	if (!format_files_wanted(o))
		return shown ? show_report(&r->show, report, d) : 0;
	if (shown) {
		report->sequence = r->show.sequence++;
		err = show_written(&r->show, report, 0, d);
	}
	return err ? err : format_files_add(&r->files, report, d);
}

/* Data that was not recorded cannot be shown. */
static int check_destinations(const struct reporting *r, struct diag *d)
{
	const struct layout *l = &replay_file_header(&r->file)->layout;

	for (size_t i = 0; i < l->nr_counters; i++)
		if (!l->counters[i].device && l->counters[i].destination != DESTINATION_ANY)
			return 0;
	diag_fail(d, -ENODATA, "%s does not tell where bytes went", replay_file_name(&r->file));
	return diag_advise(d, -ENODATA, "record with --split destination");
}

/* Only --split destination makes several counters of one event. */
static bool was_split(const struct layout *l)
{
	for (size_t i = 0; i < l->nr_counters; i++)
		for (size_t k = i + 1; k < l->nr_counters; k++) {
			const struct counter *a = &l->counters[i], *b = &l->counters[k];

			if (!a->device && !b->device && a->destination != b->destination &&
			    a->source == b->source && !strcmp(a->pmu, b->pmu) &&
			    !strcmp(a->event, b->event))
				return true;
		}
	return false;
}

static int choose_split(struct reporting *r, struct run_options *args, struct diag *d)
{
	enum split_shown shown = args->split_shown;
	const struct layout *l = &replay_file_header(&r->file)->layout;

	args->by_destination =
		shown == SPLIT_DESTINATION || (shown == SPLIT_RECORDED && was_split(l));
	return args->by_destination ? check_destinations(r, d) : 0;
}

/* Further receivers of the events */
static void listen(struct reporting *r)
{
	const struct trace_sink sinks[] = {
		format_files_sink(&r->files),
		progress_sink(&r->progress, &r->file, r->show.out.file),
	};

	for (size_t i = 0; i < ARRAY_SIZE(sinks); i++)
		if (sinks[i].event)
			r->file.also.sinks[r->file.also.nr++] = sinks[i];
}

static int open_all(struct reporting *r, struct run_options *args, struct diag *d)
{
	const struct replay_output output = { .report = on_report, .arg = r };
	int err = replay_file_open(&r->file, &output, d);

	if (!err)
		err = choose_split(r, args, d);
	if (!err)
		err = show_open(r->args, d, &r->show);
	if (!err)
		err = format_files_open(r->args, d, &r->files);
	if (!err)
		listen(r);
	return err;
}

static int finish(struct reporting *r, struct diag *d)
{
	struct neighbours_report *n = NULL;
	int err = 0;

	if (format_files_at_end(&r->args->output) && replay_intervals(r->file.replay))
		err = replay_neighbours(r->file.replay, &n);
	if (!err)
		err = format_files_finish(&r->files, n, d);
	neighbours_report_free(n);
	return err;
}

static int read_all(struct reporting *r, struct diag *d)
{
	int err = replay_file_read(&r->file, d);

	progress_end(&r->progress);
	if (!err && r->args->output.summary && replay_intervals(r->file.replay))
		err = replay_summary(r->file.replay);
	return err ? err : finish(r, d);
}

static int report(struct options *o)
{
	struct reporting r = { .args = &o->run, .file = { .who = o->who, .args = &o->run } };
	struct diag d = { 0 };
	bool incomplete = false;
	int err;

	o->counts.recording = o->run.file;
	r.file.counts = o->counts.file ? &o->counts : NULL;
	signal(SIGPIPE, SIG_IGN);
	err = open_all(&r, &o->run, &d);
	if (!err)
		err = read_all(&r, &d);
	err = show_close(&r.show, err, &d);
	err = format_files_close(&r.files, o->who, err, &d);
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

	if (!err)
		err = run_check_counts(&o->counts, d);
	if (!err && !o->run.file)
		err = diag_fail(d, -EINVAL,
				"which recording? give its FILE, or - for the standard input");
	o->run.neighbours |= format_files_at_end(&o->run.output);
	return err;
}

const struct command command_report = {
	.name = "report",
	.brief = "reports from a recording",
	.args = "FILE",
	.doc = "Show the reports of a recording, as the live run would have shown them. FILE is a "
	       "recording or NDJSON (t410trace.trace/1); - is the standard input.",
	.bit = FOR_REPORT,
	.formats = FORMATS_INSTEAD,
	.statuses = 1u << EXIT_INCOMPLETE,
	.argument = run_take_recording,
	.check = check,
	.run = report,
};
