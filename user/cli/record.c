// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* t410trace record: write the events of a live run to a file, for later reports. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/commands.h"
#include "live/run/live.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/run_check.h"
#include "live/run/run.h"
#include "platform/sys/resctrl.h"
#include "report/format.h"
#include "trace/ndjson.h"
#include "trace/recording.h"

struct record {
	struct run run;
	struct output out; /* of @ndjson */
	struct recording_writer *recording;
	struct ndjson_writer *ndjson;
	uint64_t begin_ns;
	uint64_t end_ns;
	struct quality losses; /* up to the last mark */
	struct progress progress;
};

static int open_ndjson(struct record *r, const struct trace_header *header, struct diag *d,
		       struct trace_sink *ret)
{
	int err = output_open(r->run.args->output.file, OUTPUT_RECORDING, d, &r->out);

	if (!err)
		err = ndjson_create(r->out.file, header, d, &r->ndjson);
	if (!err)
		err = output_show(&r->out, d);
	if (!err)
		*ret = ndjson_sink(r->ndjson);
	return err;
}

static int open_recording(void *arg, const struct trace_header *header, struct diag *d,
			  struct trace_sink *ret)
{
	struct record *r = arg;
	int err;

	r->begin_ns = monotonic_ns();
	if (r->run.args->ndjson)
		return open_ndjson(r, header, d, ret);
	err = recording_create(r->run.args->output.file, header, r->run.args->max_bytes, d,
			       &r->recording);
	if (!err)
		*ret = recording_sink(r->recording);
	return err;
}

/* Name the losses; false when there are none. */
static bool describe_losses(const struct quality *q, const struct live_progress *p, char *ret_text,
			    size_t size)
{
	const struct {
		uint64_t nr;
		const char *what;
	} lost[] = { { p->lost_weights, "records of weights" },
		     { q->lost_tasks, "records of tasks" },
		     { q->lost_cgroups, "records of cgroups" },
		     { q->bad_records, "impossible records" } };

	ret_text[0] = '\0';
	if (p->lost_ns)
		str_append(ret_text, size, ", %.3f s of CPU time", p->lost_ns / 1e9);
	for (size_t i = 0; i < ARRAY_SIZE(lost); i++)
		if (lost[i].nr)
			str_append(ret_text, size, ", %llu %s", (unsigned long long)lost[i].nr,
				   lost[i].what);
	return ret_text[0];
}

/* The command has the terminal, if there is one. */
static void show_status(struct record *r, bool last)
{
	const struct run_options *a = r->run.args;
	char text[80], size[FORMAT_NUMBER_LEN], losses[256];
	struct live_progress p;
	struct stat st;

	if (a->output.quiet || a->command || last || !progress_is_due(&r->progress))
		return;
	live_progress(r->run.live, &p);
	format_bytes(!stat(a->output.file, &st) ? (uint64_t)st.st_size : 0, size);
	snprintf(text, sizeof(text), "%s: %.0f s, %s, %llu events, %s; Ctrl-C ends it", r->run.who,
		 (double)(r->end_ns - r->begin_ns) / 1e9, size, (unsigned long long)p.events,
		 describe_losses(&r->losses, &p, losses, sizeof(losses)) ? "with losses"
									 : "nothing lost");
	progress_line(&r->progress, text);
}

static void on_news(void *arg, const char *text)
{
	struct record *r = arg;

	progress_end(&r->progress);
	if (!r->run.args->output.quiet)
		fprintf(stderr, "%s: %s\n", r->run.who, text);
}

static int on_interval(void *arg, bool last, struct diag *d)
{
	struct record *r = arg;
	struct trace_mark mark;
	int err = live_mark(r->run.live, last, d, &mark);

	if (err)
		return err;
	r->losses = mark.losses;
	r->end_ns = mark.time_ns;
	show_status(r, last);
	/* A reader at the other end of a pipe wants events now, not when a buffer is full. */
	return r->out.file && fflush(r->out.file) ? diag_fail(d, -errno, "cannot write to %s: %s",
							      r->out.path, strerror(errno))
						  : 0;
}

/* Finish the file, also after an error: its content can be reported. */
static int close_recording(struct record *r, struct diag *d, uint64_t *ret_bytes)
{
	int err = 0;
	long at;

	if (r->recording)
		err = recording_finish(r->recording, d, ret_bytes);
	if (r->ndjson) {
		err = ndjson_finish(r->ndjson, d);
		at = r->out.file != stdout ? ftell(r->out.file) : -1;
		*ret_bytes = at > 0 ? at : 0;
	}
	return output_close(&r->out, err, d);
}

/* One line on the recorded data; returns whether data is missing. */
static bool describe(const struct record *r, const struct live_progress *p, uint64_t bytes)
{
	char losses[256], size[FORMAT_NUMBER_LEN] = "";
	bool lost = describe_losses(&r->losses, p, losses, sizeof(losses));

	if (r->run.args->output.quiet && !lost)
		return false;
	format_bytes(bytes, size);
	fprintf(stderr, "%s: %.1f s in %s: %llu events%s%s; %s%s\n", r->run.who,
		(r->end_ns - r->begin_ns) / 1e9,
		out_file_is_stdout(r->run.args->output.file) ? "standard output"
							     : r->run.args->output.file,
		(unsigned long long)p->events, bytes ? ", " : "", bytes ? size : "",
		lost ? "lost: " : "nothing lost", lost ? losses + 2 : "");
	return lost;
}

static int prepare(struct record *r, struct diag *d)
{
	const struct live_recorder recorder = { .open = open_recording, .arg = r };
	const struct run_options *a = r->run.args;
	char seconds[FORMAT_NUMBER_LEN], limit[64] = "";
	int err = run_open(&r->run, &recorder, d);

	if (err)
		return err;
	run_describe(&r->run);
	format_seconds(a->duration_ns, seconds);
	if (a->duration_ns)
		snprintf(limit, sizeof(limit), ", at most for %s s", seconds);
	if (!a->output.quiet)
		fprintf(stderr, "%s: into %s, until %s%s\n", r->run.who,
			out_file_is_stdout(a->output.file) ? "standard output" : a->output.file,
			a->command ? "the command ends" : "Ctrl-C", limit);
	return 0;
}

static int record(struct options *o)
{
	struct record r = { .run = RUN_INIT };
	struct live_progress progress = { 0 };
	struct diag d = { 0 };
	uint64_t bytes = 0;
	bool lost = false;
	int err, closed;

	if (!o->run.resctrl)
		o->run.resctrl = RESCTRL_ROOT;
	r.run.who = o->who;
	r.run.args = &o->run;
	r.run.interval = on_interval;
	r.run.news = on_news;
	r.run.arg = &r;
	err = prepare(&r, &d);
	if (!err)
		err = run_loop(&r.run, &d);
	progress_end(&r.progress);
	if (r.run.live)
		live_progress(r.run.live, &progress);
	/* Recording has ended, and the header is not needed after the close. */
	closed = close_recording(&r, err ? NULL : &d, &bytes);
	if (!err)
		err = closed;
	run_stop(&r.run);
	if (!err)
		lost = describe(&r, &progress, bytes);
	if (err)
		output_diag(o->who, &d);
	return run_end(&r.run, err, lost);
}

static int check(struct options *o, struct diag *d)
{
	const struct run_options *r = &o->run;
	static char name[64];
	int err = run_check_live(&o->run, d);

	if (err)
		return err;
	if (!o->run.output.file) {
		output_dated_name(name, sizeof(name), r->ndjson ? ".ndjson" : ".rec");
		o->run.output.file = name;
	}
	if (out_file_is_stdout(r->output.file) && !r->ndjson && isatty(STDOUT_FILENO))
		return diag_fail(d, -EINVAL, "-o -: a recording is no text for a terminal");
	if (r->by == ROW_CGROUP || r->by == ROW_JOB)
		return diag_fail(d, -EINVAL,
				 "--by %s: record by process; \"t410trace report\" makes %ss of it",
				 row_kind_name(r->by), row_kind_name(r->by));
	if (r->ndjson && r->max_bytes)
		return diag_fail(d, -EINVAL, "--max-size needs --format recording");
	return 0;
}

const struct command command_record = {
	.name = "record",
	.brief = "write a recording instead of reports",
	.args = "[-o FILE]\n[-o FILE] -p PID[,PID...]\n[-o FILE] -G CGROUP[,...]\n[-o FILE] -J "
		"JOBID[,...]\n[-o FILE] -- COMMAND [ARG...]",
	.doc = "Record what t410trace would report: \"t410trace report FILE\" shows it later, on "
	       "any machine. Without -o, FILE is t410trace-DATE.rec.",
	.bit = FOR_RECORD,
	.statuses = 1u << EXIT_INCOMPLETE,
	.incomplete = "the recording lacks something",
	.takes_command = true,
	.check = check,
	.run = record,
};
