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
#include <cmocka.h>

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

/* As a double, which is what the reader makes of it */
static void test_numbers_out_of_range(void **state)
{
	const double value = 18446744073709551615.0;
	struct report *r = sample_report(ROW_PROCESS);
	struct written w;

	(void)state;
	begin(&w);
	r->counters[0].value = UINT64_MAX;
	assert_int_equal(perfetto_write(w.p, r), 0);
	end(&w);
	assert_non_null(memmem(w.bytes, w.length, &value, sizeof(value)));
	free(w.bytes);
	report_free(r);
}

static void test_full_disk(void **state)
{
	struct report *r = sample_report(ROW_PROCESS);
	FILE *full = fopen("/dev/full", "w");
	struct perfetto *p;

	(void)state;
	assert_non_null(full);
	assert_int_equal(perfetto_new(full, &p), 0);
	assert_int_equal(perfetto_write(p, r), 0);
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
		assert_int_equal(track_set_add(&s, &(struct known_track){ 1024ull * i, i, 0 }), 0);
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
		cmocka_unit_test(test_too_many_slices),
		cmocka_unit_test(test_numbers_out_of_range),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_track_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
