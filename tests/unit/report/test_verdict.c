// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The verdict on a report: its word, the reasons and their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/notes.h"
#include "report/table/table.h"
#include "report/verdict.h"
#include "sample_report.h"

#define MS 1000000ull

/* The sample without its doubts. */
static struct report *good_report(void)
{
	struct report *r = sample_report(ROW_PROCESS);

	for (size_t i = 0; i < r->nr_rows; i++)
		for (size_t k = 0; k < r->rows[i].nr_shares; k++)
			r->rows[i].shares[k].separable = true;
	r->quality.fallback_windows = 0;
	return r;
}

static void check(const struct report *r, const char *text)
{
	assert_string_equal(report_verdict(r).text, text);
}

static void test_good(void **state)
{
	struct report *r = good_report();
	struct quality *q = &r->quality;

	(void)state;
	check(r, "good");
	/* These make no number less certain. */
	q->kept_flushes = q->unseen_switches = q->unknown_tasks = q->reader_moves = 7;
	q->rows_pooled = q->unowned_io_bytes = q->device_held_ns = q->device_changes = 7;
	q->counter_restarts = q->weights_reopened = q->unweighed_ns = q->pooled_workloads = 7;
	check(r, "good");
	assert_int_equal(report_verdict(r).word, VERDICT_GOOD);
	report_free(r);
}

/* Each loss that matters is a reason, and named as such; nothing else is. */
static void test_each_loss(void **state)
{
	struct report *r = good_report();

	(void)state;
	for (size_t i = 0; i < NR_LOSSES; i++) {
		const uint64_t none = 0, one = 1;
		char *at = (char *)&r->quality + losses[i].offset;
		struct verdict v;

		memcpy(at, &one, sizeof(one));
		v = report_verdict(r);
		assert_int_equal(v.word,
				 losses[i].whole <= LOSS_HARMLESS ? VERDICT_GOOD : VERDICT_FAIR);
		assert_int_equal(v.said, losses[i].whole <= LOSS_HARMLESS ? 0 : 1ULL << i);
		memcpy(at, &none, sizeof(none));
	}
	r->quality.merged_windows = 2;
	check(r, "fair: 2 late windows");
	r->quality.lost_slices_ns = 120 * MS;
	check(r, "fair: 2 late windows, 0.120 s of CPU time lost");
	r->quality.late_slices = 3;
	r->unplaced_ns = 70 * MS;
	check(r, "fair: <0.1% of CPU time in no row, 2 late windows and 2 more");
	/* A reason that is not named is left for the notes. */
	assert_int_equal(__builtin_popcountll(report_verdict(r).said), 1);
	report_free(r);
}

/* Whatever is not 0 and matters is in the title or below the table; what the title has is not said twice. */
static void test_nothing_is_hidden(void **state)
{
	const struct table_options o = { .width = 4000, .settled = true };
	struct report *r = good_report();

	(void)state;
	for (uint64_t many = 0; many < 40; many++) {
		char *text;

		for (size_t i = 0; i < NR_LOSSES; i++) {
			const uint64_t value = many >> i % 5 & 1 ? 3 + i : 0;

			memcpy((char *)&r->quality + losses[i].offset, &value, sizeof(value));
		}
		r->quality.fallback_windows = many >> 5 ? 3 : 0;
		text = sample_table(r, &o);
		for (size_t i = 0; i < NR_LOSSES; i++) {
			uint64_t value = loss_value(&r->quality, &losses[i]);
			char brief[LOSS_TEXT_LEN], whole[LOSS_TEXT_LEN];
			bool titled;

			if (!losses[i].one || losses[i].whole == LOSS_INTERNAL)
				continue;
			loss_say(&losses[i], value, false, whole);
			titled = losses[i].short_one != NULL;
			if (titled)
				loss_say(&losses[i], value, true, brief);
			titled = titled && strstr(text, brief);
			assert_int_equal(titled + (strstr(text, whole) != NULL), value != 0);
		}
		assert_int_equal(strstr(text, "by CPU time") || strstr(text, "CPU time in 3 of"),
				 many >> 5);
		assert_null(strstr(text, "state-space"));
		free(text);
	}
	report_free(r);
}

/* A note that is told once a run is told again when it changes. */
static void test_constant(void **state)
{
	struct table_options o = { .width = 1000 };
	struct report *r = good_report();
	uint64_t constant = notes_constant(r);
	char *text = sample_table(r, &o);

	(void)state;
	assert_non_null(strstr(text, "split by state-space estimate, activity measured by l3d"));
	free(text);
	o.settled = true;
	o.verbose = true;
	text = sample_table(r, &o);
	assert_non_null(strstr(text, "split by state-space estimate, activity measured by l3d"));
	assert_non_null(strstr(text, "all losses: invalid_windows 0"));
	free(text);
	r->quality.merged_windows = 7;
	assert_int_equal(notes_constant(r), constant);
	strcpy(r->quality.weights, "cpu-time");
	assert_int_not_equal(notes_constant(r), constant);
	report_free(r);
}

/* Where losses are a tenth of what they are a part of, fair becomes poor. */
static void test_poor(void **state)
{
	struct report *r = good_report();
	struct quality *q = &r->quality;

	(void)state;
	q->invalid_windows = q->windows / 10;
	check(r, "fair: 20 unread windows");
	q->invalid_windows++;
	check(r, "poor: 21 unread windows");
	q->invalid_windows = 0;
	q->fallback_windows = 21;
	check(r, "poor: 21 windows by CPU time");
	q->fallback_windows = 0;
	q->uncounted_ns = 101 * MS;
	check(r, "poor: 0.101 s not counted");
	q->uncounted_ns = 0;
	/* 70 s of CPU time */
	q->lost_slices_ns = 7001 * MS;
	check(r, "poor: 7.001 s of CPU time lost");
	q->merged_windows = 1;
	check(r, "poor: 7.001 s of CPU time lost, 1 late window");
	assert_int_equal(report_verdict(r).word, VERDICT_POOR);
	report_free(r);
}

static void test_counters(void **state)
{
	struct report *r = good_report();

	(void)state;
	r->counters[0].running_ns = r->counters[0].enabled_ns / 2;
	check(r, "fair: counted 50.0% of the time");
	r->counters[0].running_ns = r->counters[0].enabled_ns / 20;
	check(r, "poor: counted 5.0% of the time");
	r->counters[0].valid = false;
	check(r, "poor: no data of 1 counter");
	r->counters[1].valid = false;
	r->quality.merged_windows = 1;
	check(r, "poor: no data of 2 counters, 1 late window");
	r->sockets[0].busy_ns = 0;
	r->sockets[0].idle_ns = 0;
	r->sockets[1].idle_ns = 0;
	check(r, "poor: no data of 2 counters, CPU time does not add up and 1 more");
	report_free(r);
}

/* The bytes whose split was expected and not measured. */
static void test_tangled(void **state)
{
	struct report *r = sample_report(ROW_CGROUP);

	(void)state;
	r->quality.fallback_windows = 0;
	check(r, "fair: 18.5% tangled");
	for (size_t i = 0; i < r->nr_rows; i++)
		for (size_t k = 0; k < r->rows[i].nr_shares; k++)
			r->rows[i].shares[k].separable = false;
	check(r, "poor: 100% tangled");
	sample_split_by_cpu_time(r);
	check(r, "fair: split by activity alone");
	report_free(r);
}

/* Which losses make a report incomplete, and the exit status 3: each kind counts once. */
static void test_lasting(void **state)
{
	struct quality q = {
		.invalid_windows = 1,
		.unscheduled_windows = 1,
		.lost_windows = 1,
		.merged_windows = 1,
		.kept_flushes = 1,
		.unweighed_ns = 1,
		.counter_restarts = 1,
	};
	uint64_t *const lasting[] = { &q.lost_slices_ns, &q.lost_tasks,	 &q.lost_cgroups,
				      &q.late_slices,	 &q.lost_slices, &q.bad_records,
				      &q.lost_io,	 &q.uncounted_ns };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lasting); i++) {
		assert_int_equal(losses_lasting(&q), i);
		*lasting[i] = 2;
	}
	assert_int_equal(losses_lasting(&q), ARRAY_SIZE(lasting));
}

/* Rows of small workloads that were estimated together. */
static void test_pooled(void **state)
{
	const struct table_options o = { .width = 80 };
	struct report *r = sample_report(ROW_PROCESS);
	char *text;

	(void)state;
	for (size_t i = 0; i < r->nr_rows; i++)
		r->rows[i].pooled = r->rows[i].exited || r->rows[i].kernel;
	text = sample_table(r, &o);
	assert_non_null(strstr(text, "\n    990& postgres"));
	assert_non_null(strstr(text, "\n      2+ [kworker"));
	assert_non_null(strstr(
		text, "\n+ small, estimated together; & ended and small, estimated together\n"));
	free(text);
	report_free(r);
	r = sample_report(ROW_CGROUP);
	for (size_t i = 0; i < r->nr_rows; i++)
		r->rows[i].pooled = r->rows[i].leaf;
	text = sample_table(r, &o);
	assert_non_null(strstr(text, "\n    step_0+ "));
	assert_non_null(strstr(text, "\n  job_12   "));
	assert_non_null(strstr(text, "postgresql.service& "));
	free(text);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),	 cmocka_unit_test(test_each_loss),
		cmocka_unit_test(test_poor),	 cmocka_unit_test(test_counters),
		cmocka_unit_test(test_tangled),	 cmocka_unit_test(test_nothing_is_hidden),
		cmocka_unit_test(test_constant), cmocka_unit_test(test_pooled),
		cmocka_unit_test(test_lasting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
