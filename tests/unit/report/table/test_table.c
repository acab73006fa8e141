// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#include "base/array.h"
#include "report/format.h"
#include "report/table/table.h"
#include "sample_report.h"

static char *table_text(const struct report *r, struct table_options o)
{
	return sample_table(r, &o);
}

static void check_golden(struct report *r, struct table_options o, const char *name)
{
	char *text = table_text(r, o);

	sample_check_golden(name, text);
	free(text);
	report_free(r);
}

static void expect(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in:\n%s", part, text);
}

static void expect_not(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("\"%s\" is in:\n%s", part, text);
}

/* Trouble of every kind: no data, multiplexing, losses. */
static struct report *troubled_report(void)
{
	struct report *r = sample_report(ROW_PROCESS);

	r->counters[0].running_ns /= 2;
	r->counters[1].running_ns /= 2;
	r->counters[8].running_ns -= 1;
	r->counters[2].valid = false;
	r->counters[2].running_ns = 0;
	r->counters[0].unattributed[REASON_LOST] = 5000;
	sample_balance(r);
	r->sockets[0].lost_ns = 120000000;
	r->quality.lost_slices_ns = 120000000;
	r->quality.invalid_windows = 1;
	r->quality.late_slices = 3;
	return r;
}

static struct report *cpu_time_report(enum row_kind by)
{
	struct report *r = sample_report(by);

	sample_split_by_cpu_time(r);
	return r;
}

/* No line of a text is wider than asked for. */
static void check_width(const char *text, size_t width)
{
	char *copy = strdup(text), *rest = copy, *line;

	assert_non_null(copy);
	while ((line = strsep(&rest, "\n")))
		if (format_width(line) > width)
			fail_msg("wider than %zu: %s", width, line);
	free(copy);
}

/* By destination: as it is shown at 80 and 100 columns, and never wider than that. */
static void test_destinations(void **state)
{
	static const enum row_kind kinds[] = { ROW_PROCESS, ROW_THREAD, ROW_CGROUP, ROW_JOB };
	struct table_options o = { .width = 80, .by_destination = true };
	struct report *r = sample_report(ROW_PROCESS);
	char *text;

	(void)state;
	/* Nothing tells where bytes go: the table is as always. */
	text = table_text(r, o);
	assert_non_null(strstr(text, " READ   WRITE "));
	assert_null(strstr(text, "CMEM"));
	free(text);
	sample_by_destination(r);
	check_golden(r, o, "report-destinations.txt");
	r = troubled_report();
	sample_by_destination(r);
	o = (struct table_options){ .width = 100, .by_destination = true, .verbose = true };
	check_golden(r, o, "report-destinations-verbose-100.txt");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		r = sample_report(kinds[i]);
		sample_by_destination(r);
		for (o.width = 60; o.width < 130; o.width++) {
			text = table_text(r, o);
			check_width(text, o.width < 80 ? 80 : o.width);
			free(text);
		}
		report_free(r);
	}
}

/* One column where reads and writes are one number; three where that is so on a socket only. */
static void test_together(void **state)
{
	struct table_options o = { .width = 80 };
	struct report *r = sample_report(ROW_PROCESS);
	char *text;

	(void)state;
	sample_together(r, 0);
	text = table_text(r, o);
	expect(text, "   RD+WR   ");
	expect_not(text, "READ");
	expect_not(text, "WRITE");
	free(text);
	o.by_destination = o.verbose = true;
	text = table_text(r, o);
	expect(text, "CMEM");
	expect(text, "reads and writes  ");
	expect_not(text, " reads   ");
	free(text);
	report_free(r);
	o = (struct table_options){ .width = 80 };
	r = sample_report(ROW_CGROUP);
	sample_together(r, 0);
	check_golden(r, o, "report-together.txt");
	r = sample_report(ROW_PROCESS);
	sample_together(r, 1);
	for (o.width = 60; o.width < 130; o.width++) {
		text = table_text(r, o);
		expect(text, "   READ   WRITE   RD+WR   ");
		check_width(text, o.width < 68 ? 68 : o.width);
		free(text);
	}
	o.width = 100;
	check_golden(r, o, "report-together-partly-100.txt");
}

/* Energy has a column of its own, which adds up to the sockets; bytes are without it. */
static void test_energy(void **state)
{
	struct table_options o = { .width = 80 };
	struct report *r = sample_report(ROW_PROCESS);
	char *text;

	(void)state;
	sample_with_energy(r);
	for (o.width = 60; o.width < 130; o.width++) {
		text = table_text(r, o);
		expect(text, " ENERGY");
		check_width(text, o.width < 68 ? 68 : o.width);
		free(text);
	}
	o.width = 88;
	check_golden(r, o, "report-energy-88.txt");
	/* What cannot be told of energy is no mark on bytes. */
	r = sample_report(ROW_PROCESS);
	sample_with_energy(r);
	for (size_t i = 0; i < r->nr_rows; i++)
		for (size_t k = 0; k < r->rows[i].nr_shares; k++) {
			struct share *s = &r->rows[i].shares[k];

			s->separable |= r->counters[s->counter].counter->unit == UNIT_BYTES;
		}
	text = table_text(r, o);
	expect(text, "energy tangled: 1104310 python3 and 990 postgres ran at the same times");
	assert_null(strchr(text, '~'));
	free(text);
	report_free(r);
}

static void test_golden(void **state)
{
	struct report *summary = sample_report(ROW_PROCESS);

	(void)state;
	check_golden(cpu_time_report(ROW_PROCESS), (struct table_options){ .verbose = true },
		     "report-cpu-time-verbose.txt");
	check_golden(cpu_time_report(ROW_THREAD), (struct table_options){ .width = 60 },
		     "report-cpu-time-60.txt");
	check_golden(sample_report(ROW_PROCESS), (struct table_options){ 0 }, "report-process.txt");
	check_golden(sample_report(ROW_PROCESS),
		     (struct table_options){ .width = 60, .quiet = true, .top = 2 },
		     "report-process-60-quiet-top.txt");
	check_golden(sample_report(ROW_THREAD), (struct table_options){ .width = 80 },
		     "report-thread.txt");
	check_golden(sample_report(ROW_THREAD), (struct table_options){ .width = 60 },
		     "report-thread-60.txt");
	check_golden(sample_report(ROW_CGROUP), (struct table_options){ .width = 80 },
		     "report-cgroup.txt");
	check_golden(sample_report(ROW_CGROUP), (struct table_options){ .width = 80, .top = 1 },
		     "report-cgroup-top.txt");
	check_golden(sample_report(ROW_JOB), (struct table_options){ .width = 60 },
		     "report-job-60.txt");
	check_golden(sample_report(ROW_JOB), (struct table_options){ .width = 80 },
		     "report-job.txt");
	check_golden(sample_report(ROW_JOB), (struct table_options){ .width = 120, .top = 3 },
		     "report-job-120-top.txt");
	check_golden(sample_without_counters(), (struct table_options){ .width = 80 },
		     "report-no-counters.txt");
	check_golden(sample_without_rows(), (struct table_options){ .width = 80 },
		     "report-empty.txt");
	check_golden(troubled_report(), (struct table_options){ .width = 80 },
		     "report-trouble.txt");
	summary->summary = true;
	summary->sequence = 12;
	check_golden(summary, (struct table_options){ .width = 120, .verbose = true },
		     "report-summary-verbose-120.txt");
}

static void check_all_widths(const struct report *r)
{
	static const size_t widths[] = { 60, 61, 71, 72, 75, 79, 80, 81, 100, 120, 200, 5000 };
	size_t i;
	int bits;

	for (i = 0; i < ARRAY_SIZE(widths); i++)
		for (bits = 0; bits < 8; bits++) {
			char *text = table_text(r, (struct table_options){
							   .width = widths[i],
							   .top = bits & 1 ? 1 : 0,
							   .quiet = bits & 2,
							   .verbose = bits & 4,
						   });

			check_width(text, widths[i]);
			free(text);
		}
}

static void make_huge(struct report *r)
{
	char path[4096];
	size_t i, j;

	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	for (i = 0; i < r->nr_rows; i++) {
		struct report_row *row = &r->rows[i];

		free(row->cgroup);
		row->cgroup = strdup(path);
		row->cgroup_id = UINT64_MAX;
		row->pid = row->tid = UINT32_MAX;
		row->comm_known = true;
		memset(row->comm, '\xff', sizeof(row->comm));
		row->on_cpu_ns = UINT64_MAX / 3;
		sample_tangle(row, "tid:4243:99 x x x x x x", SIZE_MAX);
		memset(row->tangled[5], '\xff', sizeof(row->tangled[5]));
		row->nr_tangled = MODEL_MAX_TANGLED;
		for (j = 0; j < row->nr_shares; j++)
			row->shares[j].value = row->shares[j].low = row->shares[j].high =
				UINT64_MAX / 3;
	}
	for (i = 0; i < r->nr_counters; i++) {
		r->counters[i].value = UINT64_MAX;
		r->counters[i].unattributed[REASON_LOST] = UINT64_MAX;
		r->counters[i].unattributed[REASON_OTHER] = UINT64_MAX;
		r->counters[i].unattributed[REASON_IDLE] = UINT64_MAX;
		r->counters[i].running_ns = 1;
		r->counters[i].valid = i % 5 != 4;
	}
	for (i = 0; i < r->nr_sockets; i++)
		r->sockets[i] = (struct report_socket){ (uint32_t)(UINT32_MAX - i), UINT32_MAX,
							UINT64_MAX, UINT64_MAX, UINT64_MAX };
	memset(&r->self, 0xff, sizeof(r->self));
	memset(r->quality.weights, '\xff', sizeof(r->quality.weights));
	r->quality.fallback_windows = r->quality.weight_windows = UINT64_MAX;
	r->quality.pooled_workloads = UINT64_MAX;
	r->quality.windows = r->quality.late_slices = r->quality.lost_slices_ns = UINT64_MAX;
	r->start_time_ns = UINT64_MAX;
}

static void test_width(void **state)
{
	struct report *reports[] = {
		sample_report(ROW_PROCESS), sample_report(ROW_THREAD), sample_report(ROW_CGROUP),
		sample_report(ROW_JOB),	    sample_without_counters(), sample_without_rows(),
		troubled_report(),
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(reports); i++) {
		check_all_widths(reports[i]);
		make_huge(reports[i]);
		check_all_widths(reports[i]);
		/* An interval without length has no rates, and no division by zero. */
		reports[i]->end_ns = reports[i]->start_ns;
		check_all_widths(reports[i]);
		report_free(reports[i]);
	}
}

static void test_small_widths_count_as_least(void **state)
{
	struct report *r = sample_report(ROW_PROCESS);
	char *tiny = table_text(r, (struct table_options){ .width = 1 });
	char *least = table_text(r, (struct table_options){ .width = TABLE_MIN_WIDTH });

	(void)state;
	assert_string_equal(tiny, least);
	free(tiny);
	free(least);
	report_free(r);
}

static void test_hostile_names(void **state)
{
	struct report *r = sample_report(ROW_PROCESS);
	char *text;
	size_t i;

	(void)state;
	sample_add_row(r, 666, "\x1b]0;root\x07\n\xc2\x9b", "/evil\x1b[31m\n\xff\xe2\x80\xae", 1000,
		       1000000);
	sample_balance(r);
	text = table_text(r, (struct table_options){ .width = 200 });
	for (i = 0; text[i]; i++)
		assert_true((unsigned char)text[i] >= 0x20 || text[i] == '\n');
	expect(text, "\\x1b]0;root\\x07");
	expect(text, "/evil\\x1b[31m\\x0a\\xff\\u202e");
	expect_not(text, "\xe2\x80\xae");
	free(text);
	report_free(r);
}

static void test_cells(void **state)
{
	struct report *r = troubled_report();
	char *text;
	size_t i;

	(void)state;
	sample_split_by_cpu_time(r);
	text = table_text(r, (struct table_options){ .width = 80 });
	expect(text, "socket 0: 88 CPUs, 56.9% busy, incomplete");
	expect(text, "  cpu: counted 50% of the time, scaled");
	expect(text, "  device                                  no data   1.235");
	expect(text, "no data: ucf0/mem_bytes_rd/src_loc_noncpu=1: it never got to count");
	expect(text, "  device, scaled >99%");
	expect(text, "unattributed lost");
	expect(text, "; 0.120 s of\n  CPU time could");
	expect_not(text, "tracer:");
	free(text);

	for (i = 0; i < r->nr_counters; i++)
		r->counters[i].valid = false;
	text = table_text(r, (struct table_options){ .width = 80, .quiet = true });
	expect(text, "no data no data      - no data");
	expect_not(text, " 0.000");
	free(text);
	report_free(r);
}

/* Quiet tables keep to themselves only what is as it should be. */
static void test_quiet(void **state)
{
	struct report *r = sample_report(ROW_PROCESS);
	char *text = table_text(r, (struct table_options){ .width = 80, .quiet = true });

	(void)state;
	expect_not(text, "quality");
	expect_not(text, "  device");
	free(text);
	r->quality.rows_pooled = 1;
	text = table_text(r, (struct table_options){ .width = 80, .quiet = true });
	expect(text, "quality: 1 row was merged because there were too many\n");
	free(text);
	report_free(r);
}

/* Every row shown or hidden is in the tree once, whatever parents say. */
/* A clock that is not the kernel's, and CPUs of which nothing came */
static void test_cpu_time_does_not_add_up(void **state)
{
	struct report *r = sample_report(ROW_PROCESS);
	char *text = table_text(r, (struct table_options){ .quiet = true });

	(void)state;
	expect_not(text, "add up");
	free(text);
	for (size_t i = 0; i < r->nr_sockets; i++)
		r->sockets[i].idle_ns = r->sockets[i].busy_ns = 0;
	text = table_text(r, (struct table_options){ .quiet = true });
	expect(text, "CPU time does not add up: 0.000 s are known of the 176.000 s of 176 CPUs");
	free(text);
	text = sample_json(r);
	expect(text, "\"cpu_note\":\"CPU time does not add up: ");
	free(text);
	/* Another tool's trace, without idle time */
	r->replayed = true;
	text = sample_json(r);
	expect_not(text, "add up");
	free(text);
	r->sockets[0].idle_ns = 353 * 1000000000ull + 1760000000ull;
	text = table_text(r, (struct table_options){ .quiet = true });
	expect(text, "354.760 s are known of the 176.000 s");
	free(text);
	r->sockets[0].idle_ns = 80 * 1000000000ull;
	text = table_text(r, (struct table_options){ .quiet = true });
	expect(text, "add up");
	r->sockets[0].idle_ns = 88 * 1000000000ull;
	free(text);
	text = table_text(r, (struct table_options){ .quiet = true });
	expect_not(text, "add up");
	free(text);
	report_free(r);
}

static void test_broken_parents(void **state)
{
	struct report *r = sample_report(ROW_CGROUP);
	char *text;
	size_t i;

	(void)state;
	for (i = 0; i < r->nr_rows; i++)
		r->rows[i].leaf = true;
	strcpy(r->rows[1].parent, r->rows[0].key);
	strcpy(r->rows[5].parent, r->rows[5].key);
	strcpy(r->rows[6].parent, "cgroup:none");
	text = table_text(r, (struct table_options){ .width = 200 });
	expect(text, "step_0");
	expect(text, "job_12");
	expect(text, "postgresql.service*");
	expect(text, "\n/    ");
	free(text);
	text = table_text(r, (struct table_options){ .width = 80, .top = 3 });
	expect(text, " more)");
	free(text);
	report_free(r);
}

static void test_share_of_machine(void **state)
{
	struct report *r = sample_without_rows();
	char *text;
	size_t i;

	(void)state;
	for (i = 0; i < r->nr_counters; i++)
		memset(r->counters[i].unattributed, 0, sizeof(r->counters[i].unattributed));
	r->counters[6].unattributed[REASON_OTHER] = 900;
	r->counters[1].unattributed[REASON_OTHER] = 5000;
	sample_add_row(r, 7, "one", "/", 0, 0);
	r->rows[0].shares[2].value = 100;
	sample_balance(r);
	sample_split_by_cpu_time(r);
	text = table_text(r, (struct table_options){ .width = 80 });
	/* 100 of the 1000 bytes of socket 1, and of the 5000 of socket 0. */
	expect(text, "all                                        <0.001  <0.001   100% 6.00 kB  "
		     "70.000\n");
	expect(text, "<0.001   0.000   1.7%   100 B   0.000\n");
	free(text);
	report_free(r);
}

/* One row with bytes of one counter, out of 10^12. */
static struct report *one_share(uint64_t value, uint64_t low, uint64_t high)
{
	struct report *r = sample_without_rows();

	sample_add_row(r, 7, "one", "/", 0, 0);
	r->counters[0].unattributed[REASON_OTHER] = 1000000000000;
	r->rows[0].shares[0].value = value;
	sample_balance(r);
	r->rows[0].shares[0].low = low;
	r->rows[0].shares[0].high = high;
	return r;
}

static void expect_range(uint64_t value, uint64_t low, uint64_t high, const char *part)
{
	struct report *r = one_share(value, low, high);
	char *text = table_text(r, (struct table_options){ .width = 80 });

	expect(text, part);
	free(text);
	report_free(r);
}

static void test_range(void **state)
{
	struct report *r = one_share(1000, 1000, 1000);
	char *text;

	(void)state;
	expect_range(0, 0, 0, "    0 B         exact   0.000\n");
	expect_range(0, 0, 2000000, "    0 B      ≤2.00 MB   0.000\n");
	expect_range(1000, 900, 1100, "1.00 kB  0.90-1.10 kB   0.000\n");
	expect_range(1000, 0, 11000, "1.00 kB     0-11.0 kB   0.000\n");
	expect_range(INT64_MAX, 0, INT64_MAX, "9.22 EB     0-9.23 EB   0.000\n");
	/* A counter without a value has no interval either. */
	r->counters[0].valid = r->counters[1].valid = false;
	r->counters[6].valid = r->counters[7].valid = false;
	text = table_text(r, (struct table_options){ .width = 80 });
	expect(text, "\nall, incomplete              2.469   4.444   100% 6.91 GB                "
		     "70.000\n");
	expect(text, " no data no data      - no data                 0.000\n");
	free(text);
	r->quality.method = METHOD_WEIGHTS;
	text = table_text(r, (struct table_options){ .width = 80, .verbose = true });
	expect_not(text, "RANGE");
	expect_not(text, "95%");
	expect(text, "(certain)");
	free(text);
	report_free(r);
}

static void test_tangled(void **state)
{
	struct report *r = sample_report(ROW_PROCESS);
	char *text;
	size_t i;

	(void)state;
	/* Names where there are any, in one sentence; without a list they are none. */
	sample_tangle(&r->rows[1], "pid:2:99 pid:31337:99 pid:5:5 pid:6:6 pid:7:7", 12);
	sample_tangle(&r->rows[2], "", 0);
	sample_balance(r);
	text = table_text(r, (struct table_options){ .width = 500 });
	expect(text, "\n~ tangled: 4242 lbm, 2 [kworker/u352:11], 31337 (unknown), pid:5:5 and 9 "
		     "more ran at the same times: their split is what was expected");
	expect(text, "\n~ tangled: 1104310 python3 cannot be told from the rest: its part is");
	expect(text, "\n~ tangled: 990 postgres and 1104310 python3 ran");
	free(text);
	text = table_text(r, (struct table_options){ .width = 500, .verbose = true });
	expect(text, "(unknown), pid:5:5, pid:6:6, pid:7:7 and 7 more ran");
	free(text);
	/* Only what is shown is explained. */
	text = table_text(r, (struct table_options){ .width = 500, .top = 1, .quiet = true });
	expect(text, "tangled: 4242 lbm");
	expect_not(text, "990 postgres");
	free(text);
	for (i = 0; i < r->nr_rows; i++)
		sample_tangle(&r->rows[i], "", 0);
	text = table_text(r, (struct table_options){ .width = 500 });
	expect(text, "\n~ tangled: 2 more rows marked like this; -v names them\n");
	free(text);
	text = table_text(r, (struct table_options){ .width = 500, .verbose = true });
	expect_not(text, "marked like this");
	expect(text, "~ tangled: 31337 (unknown) cannot");
	expect_not(text, "windows of counters");
	free(text);
	r->estimated_windows = 580;
	r->simple_windows = 20;
	text = table_text(r, (struct table_options){ .width = 500, .verbose = true });
	expect(text, "windows of counters split by an intensity for each workload: 580 of 600; in "
		     "proportion to activity: 20\n");
	free(text);
	sample_split_by_cpu_time(r);
	text = table_text(r, (struct table_options){ .width = 500 });
	expect_not(text, "~");
	free(text);
	report_free(r);
}

static void expect_split(struct report *r, const char *part)
{
	char *text = table_text(r, (struct table_options){ .width = 500, .verbose = true });

	expect(text, part);
	free(text);
}

static size_t count_lines(const char *text)
{
	size_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

/* Sum of the last column, CPU seconds, of the lines in front of the totals. */
static double cpu_seconds(const char *text)
{
	const char *end = strstr(text, "\nunattributed"), *next;
	double sum = 0;

	assert_non_null(end);
	for (const char *line = strstr(text, "CPU s\n") + 6; line < end; line = next) {
		next = strchr(line, '\n') + 1;
		/* without what is said of a row below it */
		if (!strchr("\n ", next[-2]) && next[-5] == '.')
			sum += atof(next - 7);
	}
	return sum;
}

#define QUIET 11 /* one of them in every sample */

/* Thirty rows that did something, and ten that did next to nothing. */
static struct report *crowd(void)
{
	struct report *r = sample_report(ROW_PROCESS);

	for (uint32_t i = 0; i < 29 + QUIET; i++) {
		sample_add_row(r, 7000 + i, i < 30 ? "busy" : "quiet", "/crowd", 0,
			       i < 30 ? 20000000 : 900000);
	}
	sample_balance(r);
	return r;
}

static void test_fits_on_terminal(void **state)
{
	struct report *r = crowd();
	char *whole = table_text(r, (struct table_options){ .width = 100 });
	double all = cpu_seconds(whole);

	(void)state;
	assert_true(all > 60);
	for (size_t height = 10; height < 80; height += 3) {
		char *text =
			table_text(r, (struct table_options){ .width = 100, .height = height });
		size_t lines = count_lines(text);
		unsigned int left_out = 0;

		expect(text, " more rows (--all-rows)");
		expect_not(text, "quiet");
		assert_non_null(strstr(text, "... and "));
		sscanf(strstr(text, "... and "), "... and %u", &left_out);
		/* As many as fit, but five at least; the quiet ones never. */
		assert_true(left_out >= QUIET && left_out <= r->nr_rows - TABLE_LEAST_ROWS);
		if (left_out == r->nr_rows - TABLE_LEAST_ROWS)
			assert_true(lines >= height);
		else
			assert_true(lines == height || left_out == QUIET);
		/* What is not shown is in the sum: to half a thousandth a row. */
		assert_true(cpu_seconds(text) > all - 0.03 && cpu_seconds(text) < all + 0.03);
		free(text);
	}
	free(whole);
	whole = table_text(r, (struct table_options){ .width = 100, .height = 20, .top = 35 });
	expect(whole, "more)");
	expect_not(whole, "--all-rows");
	assert_true(count_lines(whole) > 40);
	free(whole);
	report_free(r);
}

static void test_split(void **state)
{
	struct report *r = sample_report(ROW_PROCESS);
	struct quality *q = &r->quality;

	(void)state;
	expect_split(r, "\nsplit by state-space estimate, activity measured by l3d_cache_refill, "
			"l2d_cache_wb (198 of 200 windows; CPU time in 2); 37 small workloads "
			"estimated together\nquality: nothing was lost\n");
	r->counters[0].valid = false;
	expect_split(r, "\nquality: nothing else was lost\n");
	r->counters[0].valid = true;
	q->fallback_windows = 0;
	q->pooled_workloads = 1;
	expect_split(r, "l2d_cache_wb (198 of 200 windows); 1 small workload estimated together\n");
	q->weight_windows = 200;
	q->pooled_workloads = 0;
	expect_split(r, "l2d_cache_wb (200 windows)\n");
	strcpy(q->weights, "evil\x1b[31m");
	expect_split(r, "evil\\x1b[31m (200 windows)\n");
	strcpy(q->weights, "cpu-time");
	q->weight_windows = 0;
	expect_split(r, "activity measured by CPU time (200 windows)\n");
	q->method = METHOD_WEIGHTS;
	strcpy(q->weights, "l3d_cache_refill");
	q->weight_windows = 1;
	q->windows = 1;
	expect_split(r, "\nsplit in proportion to l3d_cache_refill (1 window); right only if");
	q->method = NR_METHODS;
	expect_split(r, "\nsplit by unknown method, l3d_cache_refill (1 window)");
	r->replayed = true;
	expect_split(r, ", recorded, fair: split by activity alone, 18.5% tangled\n");
	report_free(r);
}

static void test_first_has_no_gap(void **state)
{
	struct report *r = sample_report(ROW_PROCESS);
	char *text = table_text(r, (struct table_options){ .width = 80 });

	(void)state;
	assert_int_equal(text[0], '2');
	free(text);
	r->sequence = 1;
	text = table_text(r, (struct table_options){ .width = 80 });
	assert_memory_equal(text, "\n2", 2);
	free(text);
	report_free(r);
}

static void test_errors(void **state)
{
	static const struct table_options o = { .width = 80 };
	struct report *r = sample_report(ROW_PROCESS);
	struct report_socket *sockets;
	FILE *f = fopen("/dev/full", "w");
	size_t i;

	(void)state;
	assert_non_null(f);
	assert_int_equal(table_write(f, r, &o), -ENOSPC);
	sockets = reallocarray(r->sockets, 65, sizeof(*sockets));
	assert_non_null(sockets);
	for (i = 0; i < 65; i++)
		sockets[i] = (struct report_socket){ .id = (uint32_t)i };
	r->sockets = sockets;
	r->nr_sockets = 65;
	assert_int_equal(table_write(f, r, &o), -E2BIG);
	fclose(f);
	report_free(r);
	report_free(NULL);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(source_name(SOURCE_CPU), "cpu");
	assert_string_equal(source_name(SOURCE_DEVICE), "device");
	assert_string_equal(source_name(SOURCE_REMOTE), "remote");
	assert_string_equal(source_name(SOURCE_ANY), "any");
	assert_string_equal(reason_name(REASON_IDLE), "idle");
	assert_string_equal(reason_name(REASON_DEVICE), "device");
	assert_string_equal(reason_name(REASON_REMOTE), "remote");
	assert_string_equal(reason_name(REASON_OTHER), "other");
	assert_string_equal(reason_name(REASON_LOST), "lost");
	assert_string_equal(reason_name(REASON_BACKGROUND), "background");
	assert_string_equal(reason_name(NR_REASONS), "unknown");
	assert_string_equal(method_name(METHOD_STATE_SPACE), "state-space");
	assert_string_equal(method_name(METHOD_WEIGHTS), "weights");
	assert_string_equal(method_name(METHOD_CPU_TIME), "cpu-time");
	assert_string_equal(method_name(NR_METHODS), "unknown");
	/* An account that a later version has stored is shown, without bars. */
	assert_false(method_row(NR_METHODS)->learns);
	for (int m = 0; m < NR_METHODS; m++) {
		const struct method_row *row = method_row(m);

		assert_true(row->name[0] && row->says[0]);
		/* What is learned from rests on no less than what is known. */
		assert_true(row->events || !row->learns);
		for (int k = 0; k < m; k++)
			assert_string_not_equal(row->name, method_name(k));
	}
	assert_string_equal(row_kind_name(ROW_PROCESS), "process");
	assert_string_equal(row_kind_name(ROW_CGROUP), "cgroup");
	assert_string_equal(row_kind_name(ROW_THREAD), "thread");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_destinations),
		cmocka_unit_test(test_together),
		cmocka_unit_test(test_energy),
		cmocka_unit_test(test_width),
		cmocka_unit_test(test_small_widths_count_as_least),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_cells),
		cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_cpu_time_does_not_add_up),
		cmocka_unit_test(test_broken_parents),
		cmocka_unit_test(test_share_of_machine),
		cmocka_unit_test(test_range),
		cmocka_unit_test(test_tangled),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_first_has_no_gap),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_fits_on_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
