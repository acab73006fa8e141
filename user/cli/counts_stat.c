// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/counts_stat.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/exit_status.h"
#include "base/text.h"
#include "cli/formats.h"
#include "cli/output.h"
#include "engine/stat/stat_book.h"
#include "sources/baytrail/counts.h"
#include "trace.h"

#define WHO "t410trace stat"

struct run {
	const struct options *args;
	struct counts counts;
	struct stat_book *book;
	struct stat_cost cost;
	struct host_info host;
	struct output out;
	uint64_t sequence;
	uint64_t next_ns; /* end of the interval */
	uint64_t end_ns;  /* of the last segment */
	uint64_t told_ns; /* end of the last interval */
	struct diag *d;
};

static int write_report(struct run *r, struct stat_report *report)
{
	report->host = &r->host;
	report->sequence = r->sequence++;
	/* Its times may use any clock; with calendar times, this is the date. */
	report->start_time_ns = report->start_ns;
	report->budget = 1;
	return formats_stat(&r->out, &r->args->run.output, report, r->d);
}

static int tell(struct run *r, bool summary)
{
	struct stat_report *report;
	int err = summary ? stat_book_summary(r->book, r->end_ns, &r->cost, &report)
			  : stat_book_interval(r->book, r->end_ns, &r->cost, &report);

	if (err)
		return diag_error(r->d, err, "cannot make the report");
	err = write_report(r, report);
	stat_report_free(report);
	r->told_ns = r->end_ns;
	return err;
}

static int on_segment(void *arg, const struct stat_segment *s)
{
	struct run *r = arg;
	uint64_t interval_ns = r->args->run.interval_ns;
	int err = 0;

	if (!r->book) {
		err = stat_book_new(&r->counts.layout, s->start_ns, r->d, &r->book);
		r->next_ns = s->start_ns + interval_ns;
	}
	if (!err)
		err = stat_book_segment(r->book, s);
	r->end_ns = s->end_ns;
	r->cost.readings++;
	if (err || !interval_ns || s->end_ns < r->next_ns)
		return err;
	while (r->next_ns <= s->end_ns)
		r->next_ns += interval_ns;
	return tell(r, false);
}

static int finish(struct run *r)
{
	const struct run_options *a = &r->args->run;
	uint64_t fallen = r->counts.fallen;
	int err = 0;

	if (!r->book)
		return diag_fail(r->d, -ENODATA, "%s: no two lines of counts",
				 r->args->counts.file);
	if (fallen && text_list_print(&r->counts.layout.notes,
				      "%llu count%s less than before: what they counted is missing",
				      (unsigned long long)fallen, fallen == 1 ? " was" : "s were"))
		return diag_no_memory(r->d);
	if (r->counts.disordered &&
	    text_list_print(&r->counts.layout.notes,
			    "%llu line%s not later than the one before, and left out",
			    (unsigned long long)r->counts.disordered,
			    r->counts.disordered == 1 ? " was" : "s were"))
		return diag_no_memory(r->d);
	if (a->interval_ns && r->told_ns != r->end_ns)
		err = tell(r, false);
	return err || (a->interval_ns && !a->output.summary) ? err : tell(r, true);
}

static int show(struct run *r)
{
	const struct counts_joining *a = &r->args->counts;
	bool piped = !strcmp(a->file, "-");
	int err = counts_new(&a->counts, r->d, &r->counts);
	FILE *in = NULL;

	if (err)
		return err;
	in = piped ? stdin : fopen(a->file, "re");
	if (!in)
		return diag_fail(r->d, -errno, "cannot read %s: %s", a->file, strerror(errno));
	err = output_open(r->args->run.output.file, OUTPUT_REPORT, r->d, &r->out);
	if (!err)
		err = counts_read(&r->counts, in, piped ? "standard input" : a->file, on_segment, r,
				  r->d);
	if (!piped)
		fclose(in);
	return err ? err : finish(r);
}

int counts_stat(const struct options *o)
{
	struct diag d = { 0 };
	struct run r = { .args = o, .cost = { .sets = 1 }, .d = &d };
	bool missing;
	int err;

	str_copy(r.host.platform, sizeof(r.host.platform), "baytrail");
	r.host.sockets = 1;
	err = show(&r);
	err = output_close(&r.out, err, &d);
	if (err)
		output_diag(WHO, &d);
	missing = r.counts.fallen || r.counts.disordered;
	stat_book_free(r.book);
	counts_free(&r.counts);
	if (err)
		return EXIT_FAILED;
	if (missing)
		fprintf(stderr, "%s: data is missing: the report says what\n", WHO);
	return missing ? EXIT_INCOMPLETE : EXIT_OK_;
}
