// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/cpulist.h"

static void test_good(void **state)
{
	static const struct {
		const char *text;
		unsigned int count;
		const char *canonical;
	} rows[] = {
		{ "", 0, "" },
		{ "\n", 0, "" },
		{ "0", 1, "0" },
		{ "0\n", 1, "0" },
		{ "0-87,176-263", 176, "0-87,176-263" },
		{ "63-64", 2, "63-64" },
		{ "5-5", 1, "5" },
		{ "3,1,2", 3, "1-3" },
		{ "1-4,2-6,6", 6, "1-6" },
		{ "00012", 1, "12" },
		{ "4095", 1, "4095" },
		{ "0-4095", 4096, "0-4095" },
	};
	char text[CPULIST_TEXT_LEN];
	struct cpulist list;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(cpulist_parse(rows[i].text, &list), 0);
		assert_int_equal(cpulist_count(&list), rows[i].count);
		assert_int_equal(cpulist_format(&list, text, sizeof(text)), 0);
		assert_string_equal(text, rows[i].canonical);
	}
}

static void test_bad(void **state)
{
	static const char *const rows[] = {
		"3-1",	      "a",	 "1-",	  "1,,2", ",",	  "1,",	    ",1",
		"-",	      "-1",	 "1-2-3", "0x1",  "1 ",	  " 1",	    "1 2",
		"1\n2",	      "\n1",	 "\n\n",  "1,\n", "4096", "0-4096", "18446744073709551616",
		"4294967296", "0-3:1/2", "1.5",	  "+1",
	};
	struct cpulist list, before;

	(void)state;
	memset(&before, 0x5a, sizeof(before));
	list = before;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(cpulist_parse(rows[i], &list), -EINVAL);
		assert_memory_equal(&list, &before, sizeof(list));
	}
}

static void test_contains(void **state)
{
	struct cpulist list;

	(void)state;
	assert_int_equal(cpulist_parse("0,63-64,4095", &list), 0);
	assert_true(cpulist_contains(&list, 0));
	assert_false(cpulist_contains(&list, 1));
	assert_true(cpulist_contains(&list, 63));
	assert_true(cpulist_contains(&list, 64));
	assert_false(cpulist_contains(&list, 65));
	assert_true(cpulist_contains(&list, 4095));
	assert_false(cpulist_contains(&list, 4096));
	assert_false(cpulist_contains(&list, UINT32_MAX));
}

static void test_next(void **state)
{
	static const int expected[] = { 0, 63, 64, 130, 4095, -1 };
	struct cpulist list;
	int cpu = -1;

	(void)state;
	assert_int_equal(cpulist_parse("0,63-64,130,4095", &list), 0);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		cpu = cpulist_next(&list, cpu);
		assert_int_equal(cpu, expected[i]);
	}
	assert_int_equal(cpulist_next(&list, 4096), -1);
	/* Starting inside an otherwise empty word. */
	assert_int_equal(cpulist_next(&list, 100), 130);
	assert_int_equal(cpulist_parse("", &list), 0);
	assert_int_equal(cpulist_next(&list, -1), -1);
}

static void test_format_room(void **state)
{
	char text[CPULIST_TEXT_LEN] = "before";
	struct cpulist list;

	(void)state;
	assert_int_equal(cpulist_parse("10-12", &list), 0);
	assert_int_equal(cpulist_format(&list, text, 5), -ENOSPC);
	assert_string_equal(text, "before");
	assert_int_equal(cpulist_format(&list, text, 6), 0);
	assert_string_equal(text, "10-12");

	/* The longest text of all sets: pairs with gaps of one. */
	memset(&list, 0, sizeof(list));
	for (unsigned int cpu = 0; cpu < CPULIST_MAX_CPUS; cpu++) {
		if (cpu % 3 != 2)
			list.bits[cpu / 64] |= 1ULL << cpu % 64;
	}
	assert_int_equal(cpulist_format(&list, text, sizeof(text)), 0);
	assert_memory_equal(text, "0-1,3-4,6-7,", 12);
	assert_non_null(strstr(text, ",4092-4093,4095"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),	    cmocka_unit_test(test_bad),
		cmocka_unit_test(test_contains),    cmocka_unit_test(test_next),
		cmocka_unit_test(test_format_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
