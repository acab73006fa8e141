// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* t410trace stat --esp: counts of an ESP's monitors, tile by tile. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/esp.h"
#include "cli/formats.h"
#include "cli/output.h"
#include "engine/stat/stat_book.h"
#include "live/run/run_loop.h"
#include "sources/esp/layout.h"
#include "trace.h"

#define WHO "t410trace stat"

struct run {
	const struct options *args;
	struct run_loop run_loop;
	struct esp_soc soc;
	struct esp_layout layout;
	struct esp_reader reader;
	struct stat_book *book;
	struct stat_cost *costs;
	struct host_info host;
	struct output out;
	uint64_t sequence;
	uint64_t cpu_ns, interval_cpu_ns; /* our CPU time when the run and the interval began */
	uint64_t read_ns;		  /* when all tiles were read */
	bool late;
};

static int book(struct run *r, uint32_t tile, const struct esp_delta *delta, uint64_t read_ns)
{
	uint32_t counters[ESP_NR_COUNTERS];
	struct reading readings[ESP_NR_COUNTERS];
	int err = 0;

	for (uint32_t p = r->layout.pmus[tile]; !err && p < r->layout.pmus[tile + 1]; p++) {
		struct stat_segment s =
			esp_layout_segment(&r->layout, p, delta, counters, readings);

		err = stat_book_segment(r->book, &s);
	}
	/* The tile was read once. */
	r->costs[r->layout.pmus[tile]].readings++;
	r->costs[r->layout.pmus[tile]].read_ns += read_ns;
	return err;
}

/* An unreadable tile ends the run: the rest would tell half of the truth. */
static int read_all(struct run *r, struct diag *d)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < esp_nr_tiles(&r->soc); i++) {
		uint64_t begin = monotonic_ns();
		struct esp_delta delta;

		err = esp_reader_tile(&r->reader, i, d, &delta);
		if (err)
			return err;
		r->late |= delta.late;
		err = book(r, i, &delta, monotonic_ns() - begin);
		if (err)
			diag_error(d, err, "cannot book what a tile counted");
	}
	r->read_ns = monotonic_ns();
	return err;
}

static uint64_t next_ns(void *arg)
{
	const struct run *r = arg;

	return r->read_ns + esp_reader_pause_ns(&r->reader);
}

static int step(void *arg, struct diag *d)
{
	struct run *r = arg;

	return monotonic_ns() < next_ns(r) ? 0 : read_all(r, d);
}

static const struct loop_source source = { .when = next_ns, .run = step };

static int write_report(struct run *r, struct stat_report *report, struct diag *d)
{
	const struct options *a = r->args;
	uint64_t cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	int err;

	report->host = &r->host;
	report->sequence = r->sequence++;
	report->start_time_ns = report->start_ns + clock_ahead_ns(CLOCK_REALTIME);
	report->budget = 1;
	report->cpu_ns = cpu_ns - (report->summary ? r->cpu_ns : r->interval_cpu_ns);
	r->interval_cpu_ns = cpu_ns;
	err = formats_stat(&r->out, &a->run.output, report, d);
	return err ? err : output_show(&r->out, d);
}

static int end_interval(struct run *r, bool summary, struct diag *d)
{
	struct stat_report *report;
	int err = summary ? stat_book_summary(r->book, monotonic_ns(), r->costs, &report)
			  : stat_book_interval(r->book, monotonic_ns(), r->costs, &report);

	if (err)
		return diag_error(d, err, "cannot make the report");
	err = write_report(r, report, d);
	stat_report_free(report);
	return err;
}

static int on_interval(void *arg, struct diag *d)
{
	struct run *r = arg;
	int err = read_all(r, d);

	return err ? err : end_interval(r, false, d);
}

static int finish(struct run *r, struct diag *d)
{
	const struct run_options *a = &r->args->run;
	int err = read_all(r, d);

	if (!err && a->interval_ns)
		err = end_interval(r, false, d);
	if (!err && (!a->interval_ns || a->output.summary || r->run_loop.interrupted))
		err = end_interval(r, true, d);
	return err;
}

static void describe_host(struct run *r)
{
	struct utsname u;

	if (!uname(&u)) {
		str_copy(r->host.name, sizeof(r->host.name), u.nodename);
		str_copy(r->host.kernel, sizeof(r->host.kernel), u.release);
	}
	str_copy(r->host.platform, sizeof(r->host.platform), "esp");
	r->host.sockets = 1;
}

static int prepare(struct run *r, struct diag *d)
{
	const struct options *a = r->args;
	int err = esp_soc_read(a->run.esp, d, &r->soc);
	uint32_t frozen;

	if (!err)
		err = esp_tree_check(&r->soc, ESP_TREE, d);
	if (!err)
		err = esp_layout_make(&r->soc, &a->stat.metrics, &a->stat.events, d, &r->layout);
	if (err)
		return err;
	describe_host(r);
	r->costs = calloc(r->layout.stat.nr_pmus, sizeof(*r->costs));
	if (!r->costs)
		return diag_no_memory(d);
	for (size_t i = 0; i < r->layout.stat.nr_pmus; i++)
		r->costs[i].sets = 1;
	err = run_loop_open(&r->run_loop, d);
	if (!err && a->run.command)
		err = child_prepare(a->run.command, &r->run_loop.mask, d, &r->run_loop.child);
	if (!err)
		err = esp_reader_open(&r->soc, d, &r->reader);
	if (err)
		return err;
	frozen = esp_window_found_frozen(r->reader.window);
	if (frozen && text_list_print(&r->layout.stat.notes,
				      "%u tile%s had been left frozen by another program: released",
				      frozen, frozen == 1 ? "" : "s"))
		return diag_no_memory(d);
	r->read_ns = monotonic_ns();
	return stat_book_new(&r->layout.stat, r->read_ns, d, &r->book);
}

static int count(struct run *r, struct diag *d)
{
	const struct options *a = r->args;
	int err = prepare(r, d);

	if (!err)
		err = output_open(a->run.output.file, OUTPUT_REPORT, d, &r->out);
	if (!err && a->run.command)
		err = run_loop_start(&r->run_loop, a->run.command[0], d);
	if (!err)
		err = loop_add(&r->run_loop.loop, &source, r, d);
	if (!err)
		err = run_loop_run(&r->run_loop, d);
	return err ? err : finish(r, d);
}

int esp_stat(const struct options *o)
{
	struct run *r = calloc(1, sizeof(*r));
	struct diag d = { 0 };
	int err, status;

	if (!r) {
		diag_no_memory(&d);
		output_diag(WHO, &d);
		return EXIT_FAILED;
	}
	r->args = o;
	r->run_loop = RUN_LOOP_INIT;
	r->run_loop.interval_ns = o->run.interval_ns;
	r->run_loop.duration_ns = o->run.duration_ns;
	r->run_loop.interval = on_interval;
	r->run_loop.arg = r;
	r->cpu_ns = r->interval_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	err = count(r, &d);
	err = output_close(&r->out, err, &d);
	/* From here on no tile stays frozen, whatever the command still does. */
	esp_reader_close(&r->reader);
	if (err)
		output_diag(WHO, &d);
	else if (r->late)
		fprintf(stderr, "%s: data is missing: tiles were read too late\n", WHO);
	status = run_loop_close(&r->run_loop, err, r->late);
	stat_book_free(r->book);
	esp_layout_free(&r->layout);
	free(r->costs);
	free(r);
	return status;
}
