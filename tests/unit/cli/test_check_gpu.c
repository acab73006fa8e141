// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rows about GPUs that another program prints: it may print anything, fail or hang. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/check_gpu.h"

static struct check_list list;

static void ask(const char *command, uint64_t limit_ns)
{
	list.nr = 0;
	assert_int_equal(check_gpu_ask(command, limit_ns, &list), 0);
}

static void rows_are_taken(void **state)
{
	(void)state;
	ask("printf 'gpu_driver\\tok\\tnvidia 595\\t\\ngpu_holders\\tlimited\\ta \\033b\\tdo "
	    "it\\n'",
	    60 * NS_PER_S);
	assert_int_equal(list.nr, 2);
	assert_string_equal(list.rows[0].name, "gpu_driver");
	assert_int_equal(list.rows[0].status, CHECK_OK);
	assert_string_equal(list.rows[0].found, "nvidia 595");
	assert_string_equal(list.rows[0].remedy, "");
	assert_string_equal(list.rows[1].name, "gpu_holders");
	assert_int_equal(list.rows[1].status, CHECK_LIMITED);
	assert_string_equal(list.rows[1].found, "a ?b");
	assert_string_equal(list.rows[1].remedy, "do it");
}

static void other_rows_are_not(void **state)
{
	static const char *const lines[] = {
		"",
		"gpu_driver",
		"gpu_driver\\tok",
		"gpu_driver\\tok\\tfound",
		"gpu_driver\\tok\\t\\tdo",
		"gpu_drive\\tok\\tfound\\t",
		"pmus\\tok\\tfound\\t",
		"}{",
	};
	char command[100];

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(command, sizeof(command), "printf '%s\\n'", lines[i]);
		ask(command, 60 * NS_PER_S);
		assert_int_equal(list.nr, 1);
		assert_string_equal(list.rows[0].name, "gpu_helper");
		assert_string_equal(list.rows[0].found, "t410trace-gpu ended with status 0");
		assert_true(list.rows[0].remedy[0]);
	}
}

/* Rows that it had are kept beside the reason. */
static void one_that_fails_is_told(void **state)
{
	(void)state;
	ask("printf 'gpu_pids\\tok\\tfine\\t\\n'; echo no memory >&2; exit 1", 60 * NS_PER_S);
	assert_int_equal(list.nr, 2);
	assert_string_equal(list.rows[1].name, "gpu_helper");
	assert_string_equal(list.rows[1].found, "t410trace-gpu ended with status 1: no memory");
	ask("exec /no/such/program", 60 * NS_PER_S);
	assert_non_null(strstr(list.rows[0].found, "status 127: "));
}

static void one_that_hangs_is_told(void **state)
{
	uint64_t begin_ns = monotonic_ns();

	(void)state;
	ask("sleep 1000", NS_PER_S);
	assert_true(monotonic_ns() - begin_ns < 60 * NS_PER_S);
	assert_int_equal(list.nr, 1);
	assert_string_equal(list.rows[0].found, "t410trace-gpu says nothing for 1 s");
	assert_int_equal(list.rows[0].status, CHECK_LIMITED);
}

static void full_list_is_left(void **state)
{
	(void)state;
	list.nr = CHECK_MAX_ROWS;
	assert_int_equal(check_gpu_ask("printf 'gpu_pids\\tok\\tfine\\t\\n'", 60 * NS_PER_S, &list),
			 0);
	assert_int_equal(list.nr, CHECK_MAX_ROWS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_taken),	  cmocka_unit_test(other_rows_are_not),
		cmocka_unit_test(one_that_fails_is_told), cmocka_unit_test(one_that_hangs_is_told),
		cmocka_unit_test(full_list_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
