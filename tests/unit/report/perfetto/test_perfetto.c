// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What test_perfetto.py cannot do: very many slices, and numbers that do not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <math.h>
#include <cmocka.h>

#include "report/perfetto/events.h"
#include "report/perfetto/perfetto.h"
#include "report/perfetto/track_set.h"
#include "sample_report.h"

struct written {
	struct perfetto *p;
	FILE *out;
	char *bytes;
	size_t length;
};

static void begin(struct written *w)
{
	w->out = open_memstream(&w->bytes, &w->length);
	assert_non_null(w->out);
	assert_int_equal(perfetto_new(w->out, &w->p), 0);
}

static void end(struct written *w)
{
	assert_int_equal(perfetto_finish(w->p), 0);
	perfetto_free(w->p);
	fclose(w->out);
}

static bool has(const struct written *w, const char *text)
{
	return memmem(w->bytes, w->length, text, strlen(text)) != NULL;
}

static void take_slices(struct perfetto *p, uint32_t nr)
{
	const struct trace_sink sink = perfetto_sink(p);

	for (uint32_t i = 0; i < nr; i++) {
		const struct trace_slice s = {
			.pid = 42, .task_start_ns = 1, .cpu = i % 4, .start_ns = i, .end_ns = i + 1
		};

		assert_int_equal(trace_send_slice(&sink, &s), 0);
	}
}

static void test_too_many_slices(void **state)
{
	struct report *r = sample_report(ROW_PROCESS);
	struct written w;

	(void)state;
	begin(&w);
	take_slices(w.p, PERFETTO_MAX_SLICES + 1);
	assert_int_equal(perfetto_write(w.p, r), 0);
	end(&w);
	assert_true(has(&w, "too many slices: they are left out"));
	assert_false(has(&w, "CPU 0"));
	/* the rest is there */
	assert_true(has(&w, "lbm"));
	free(w.bytes);
	begin(&w);
	take_slices(w.p, 1000);
	assert_int_equal(perfetto_write(w.p, r), 0);
	end(&w);
	assert_false(has(&w, "too many slices"));
	assert_true(has(&w, "CPU 0"));
	free(w.bytes);
	report_free(r);
}

/* All digits are there, whatever a reader makes of them: up to 2^53 a double has them all. */
static void test_large_numbers(void **state)
{
	struct report *r = sample_report(ROW_PROCESS);
	struct written w;

	(void)state;
	begin(&w);
	r->counters[0].value = (1ull << 53) - 1;
	r->counters[1].value = UINT64_MAX;
	assert_int_equal(perfetto_write(w.p, r), 0);
	end(&w);
	assert_true(has(&w, "{\"bytes\":9007199254740991}"));
	assert_true(has(&w, "{\"bytes\":18446744073709551615}"));
	free(w.bytes);
	report_free(r);
}

/* Infinities and NaN have no value: JSON cannot hold them. */
static void test_no_number(void **state)
{
	const struct series s = { "x", TRACK_NS, TRACK_NONE };
	struct events e = { .out = tmpfile() };
	struct place at = events_place(&e, "top", 1);

	(void)state;
	assert_non_null(e.out);
	events_real(&e, &at, &s, 1, NAN);
	events_real(&e, &at, &s, 1, INFINITY);
	assert_int_equal(ftell(e.out), 0);
	events_real(&e, &at, &s, 1, 0.1);
	assert_true(ftell(e.out) > 0);
	place_release(&at);
	fclose(e.out);
	events_free(&e);
}

static void put_group(struct events *e, const char *name)
{
	const struct series s = { "x", TRACK_COUNT, TRACK_ZERO };
	struct place at = events_place(e, name, 1);

	events_value(e, &at, &s, 1000, 7);
	place_release(&at);
}

static bool never(const void *arg, uint32_t counter)
{
	(void)arg, (void)counter;
	return false;
}

/*
 * So many groups that the first is forgotten: it gets another number and is described again. What
 * stood below the old number is zero from then on.
 */
static void test_many_groups(void **state)
{
	static const char again[] = "{\"ph\":\"M\",\"pid\":262147,\"name\":\"process_name\","
				    "\"args\":{\"name\":\"first\"}}";
	static const char zero[] = "{\"ph\":\"C\",\"pid\":1,\"name\":\"x\",\"ts\":2.000,"
				   "\"args\":{\"count\":0}}";
	struct written w = { 0 };
	struct events e = { .out = open_memstream(&w.bytes, &w.length) };

	(void)state;
	put_group(&e, "first");
	events_interval_end(&e, 1000, never, NULL);
	while (++e.last_number < EVENTS_MAX_NUMBERS)
		assert_int_equal(
			track_set_add(&e.numbers,
				      &(struct known_track){ .id = 1024ull * e.last_number }),
			0);
	put_group(&e, "one more");
	put_group(&e, "one more too");
	put_group(&e, "first");
	events_interval_end(&e, 2000, never, NULL);
	fclose(e.out);
	assert_int_equal(e.err, 0);
	assert_non_null(memmem(w.bytes, w.length, again, strlen(again)));
	assert_non_null(memmem(w.bytes, w.length, zero, strlen(zero)));
	free(w.bytes);
	events_free(&e);
}

static void test_full_disk(void **state)
{
	struct report *r = sample_report(ROW_PROCESS);
	FILE *full = fopen("/dev/full", "w");
	struct perfetto *p;

	(void)state;
	assert_non_null(full);
	assert_int_equal(perfetto_new(full, &p), 0);
	/* it may be held in memory first */
	perfetto_write(p, r);
	assert_int_equal(perfetto_finish(p), -ENOSPC);
	perfetto_free(p);
	fclose(full);
	report_free(r);
}

static void test_track_set(void **state)
{
	struct track_set s = { 0 };

	(void)state;
	assert_null(track_set_find(&s, 1));
	for (uint32_t i = 1; i < 10000; i++)
		assert_int_equal(
			track_set_add(&s, &(struct known_track){ .id = 1024ull * i, .counter = i }),
			0);
	for (uint32_t i = 1; i < 10000; i++)
		assert_int_equal(track_set_find(&s, 1024ull * i)->counter, i);
	assert_null(track_set_find(&s, 1));
	track_set_clear(&s);
	assert_null(track_set_find(&s, 1024));
	track_set_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_too_many_slices), cmocka_unit_test(test_large_numbers),
		cmocka_unit_test(test_no_number),	cmocka_unit_test(test_many_groups),
		cmocka_unit_test(test_full_disk),	cmocka_unit_test(test_track_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
