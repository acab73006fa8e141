// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/formats.h"
#include "cli/options.h"

/* A format can write every kind of report. */
static void test_complete(void **state)
{
	(void)state;
	for (int i = 0; i < NR_OUTPUT_FORMATS; i++) {
		const struct report_format *w = &report_formats[i];

		assert_non_null(w->report);
		assert_non_null(w->neighbours);
		assert_non_null(w->stat);
		assert_non_null(w->job);
		assert_non_null(w->jobs);
	}
}

/* A switch writes what its row says into a number, and nothing beside it. */
static void test_switch(void **state)
{
	static const struct option_row row = { AS_JSON };
	struct options o = { .run.output.format = OUTPUT_TEXT };
	struct diag d = { 0 };

	(void)state;
	assert_int_equal(option_set(&row, NULL, &o, &d), 0);
	assert_int_equal(o.run.output.format, OUTPUT_JSON);
	assert_null(o.run.output.file);
	assert_false(o.run.output.summary);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_complete),
		cmocka_unit_test(test_switch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
