// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "replay/replay_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *replay_file_name(const struct replay_file *f)
{
	return strcmp(f->args->file, "-") ? f->args->file : "the standard input";
}

/*
 * Without counters there are no bytes to compare with a peak. CPU tiles of an ESP are sockets of a
 * trace, but share one memory.
 */
static int check_peaks(const struct replay_file *f, struct diag *d)
{
	const struct trace_header *h = replay_file_header(f);
	bool given = peaks_given(&f->args->peaks);

	if (given && !h->layout.nr_counters) {
		diag_fail(d, -ENODATA, "%s has no counters: no bytes use a part of a peak",
			  replay_file_name(f));
		return diag_advise(d, -ENODATA,
				   "leave --peak out, or record without --no-counters");
	}
	if (!given || strcmp(h->host.platform, "esp") != 0 || h->layout.nr_sockets == 1)
		return 0;
	diag_fail(d, -EINVAL, "%s: its sockets are CPU tiles of an ESP, and a peak is that of all",
		  replay_file_name(f));
	return diag_advise(d, -EINVAL,
			   "leave --peak out, or record with it: all CPUs are one socket then");
}

int replay_file_open(struct replay_file *f, const struct replay_output *output, struct diag *d)
{
	int err = trace_file_open(f->args->file, d, &f->file);

	if (!err)
		trace_file_peaks(f->file, &f->args->peaks);
	if (!err && f->counts)
		err = counts_join_new(f->counts, trace_file_header(f->file), d, &f->join);
	if (!err)
		err = check_peaks(f, d);
	if (!err)
		err = replay_new(replay_file_header(f), f->args, output, d, &f->replay);
	return err;
}

const struct trace_header *replay_file_header(const struct replay_file *f)
{
	return f->join ? counts_join_header(f->join) : trace_file_header(f->file);
}

void replay_file_progress(const struct replay_file *f, uint64_t *ret_done, uint64_t *ret_all)
{
	trace_file_progress(f->file, ret_done, ret_all);
}

void replay_file_wait(struct replay_file *f, const struct input_wait *w)
{
	trace_file_wait(f->file, w);
}

bool replay_file_ended(const struct replay_file *f)
{
	return trace_file_ended(f->file);
}

int replay_file_read(struct replay_file *f, struct diag *d)
{
	struct tee both = { .sinks = { replay_sink(f->replay), tee_sink(&f->also) }, .nr = 2 };
	struct trace_sink sink = f->also.nr ? tee_sink(&both) : both.sinks[0];
	struct trace_sink first = f->join ? counts_join_sink(f->join, &sink) : sink;
	struct diag file_diag = { 0 };
	int err = trace_file_read(f->file, &first, &file_diag, &f->end);

	if (err && file_diag.what[0])
		*d = file_diag;
	if (!err)
		err = replay_finish(f->replay);
	if (!err)
		err = replay_check_selection(f->replay, replay_file_name(f));
	if (!err && !replay_intervals(f->replay) && f->end.complete)
		err = diag_fail(d, -ENODATA,
				"%s: no interval is complete, there is nothing to report",
				replay_file_name(f));
	return err;
}

bool replay_file_describe(const struct replay_file *f)
{
	const struct trace_end *e = &f->end;
	bool missing = f->join && counts_join_describe(f->join, f->who);

	if (e->rotated && !f->args->output.quiet)
		fprintf(stderr, "%s: the oldest part of %s was removed to keep its size\n", f->who,
			f->args->file);
	if (e->refused)
		fprintf(stderr, "%s: %" PRIu64 " events made no sense and were left out\n", f->who,
			e->refused);
	if (e->complete)
		return e->refused || missing;
	fprintf(stderr,
		"%s: %s ends without its end (its writer was killed, or is still at work): the "
		"last %" PRIu64 " bytes were dropped, and %s\n",
		f->who, replay_file_name(f), e->dropped_bytes,
		replay_intervals(f->replay)
			? "what came after the last complete interval is not shown"
			: "no interval is complete: there is nothing to show");
	return true;
}

void replay_file_close(struct replay_file *f)
{
	replay_free(f->replay);
	counts_join_free(f->join);
	trace_file_close(f->file);
}
