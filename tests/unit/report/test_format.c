// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <signal.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/array.h"
#include "report/format.h"

/* One call of a function of a part and a whole, and what it must say. */
struct number_row {
	uint64_t part;
	uint64_t whole;
	const char *text;
};

static void check_numbers(const struct number_row *rows, size_t nr,
			  void (*format)(sum128 part, sum128 whole,
					 char ret_text[FORMAT_NUMBER_LEN]))
{
	char text[FORMAT_NUMBER_LEN];
	size_t i;

	for (i = 0; i < nr; i++) {
		format(rows[i].part, rows[i].whole, text);
		assert_string_equal(text, rows[i].text);
		assert_true(strlen(text) <= FORMAT_NUMBER_WIDTH);
	}
}

static void bytes_without_whole(sum128 part, sum128 whole, char ret_text[FORMAT_NUMBER_LEN])
{
	(void)whole;
	format_bytes(part, ret_text);
}

static void seconds_without_whole(sum128 part, sum128 whole, char ret_text[FORMAT_NUMBER_LEN])
{
	(void)whole;
	format_seconds(part, ret_text);
}

static void test_bytes(void **state)
{
	static const struct number_row rows[] = {
		{ 0, 0, "0 B" },
		{ 1, 0, "1 B" },
		{ 999, 0, "999 B" },
		{ 1000, 0, "1.00 kB" },
		{ 9994, 0, "9.99 kB" },
		{ 9996, 0, "10.0 kB" },
		{ 99949, 0, "99.9 kB" },
		{ 99951, 0, "100 kB" },
		{ 999499, 0, "999 kB" },
		{ 999500, 0, "1.00 MB" },
		{ 999499999, 0, "999 MB" },
		{ 999999999, 0, "1.00 GB" },
		{ 15600000000, 0, "15.6 GB" },
		{ 1230000000000, 0, "1.23 TB" },
		{ 999999999999999, 0, "1.00 PB" },
		{ UINT64_MAX, 0, "18.4 EB" },
	};

	(void)state;
	check_numbers(rows, ARRAY_SIZE(rows), bytes_without_whole);
}

static void test_duration(void **state)
{
	const uint64_t second = 1000000000, day = 86400 * second;
	const struct {
		uint64_t ns;
		const char *text;
	} rows[] = {
		{ 0, "0.000 s" },
		{ 1, "<0.001 s" },
		{ 12345000000, "12.345 s" },
		{ 59999999999, "60.000 s" },
		{ 60 * second, "00:01:00" },
		{ 7384 * second + 999999999, "02:03:04" },
		{ day - 1, "23:59:59" },
		{ day, "1-00:00:00" },
		{ 12 * day + 3723 * second, "12-01:02:03" },
		{ UINT64_MAX, "213503-23:34:33" },
	};
	char text[FORMAT_NUMBER_LEN];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		format_duration(rows[i].ns, text);
		assert_string_equal(text, rows[i].text);
		if (rows[i].ns < 10 * day)
			assert_true(strlen(text) <= FORMAT_TIME_WIDTH);
	}
}

static void test_rate(void **state)
{
	static const struct number_row rows[] = {
		{ 0, 1000000000, "0.000" },
		{ 1, 1000000000, "<0.001" },
		{ 999999, 1000000000, "<0.001" },
		{ 1000000, 1000000000, "0.001" },
		{ 1234567890, 1000000000, "1.235" },
		{ 999999400000, 1000000000, "999.999" },
		{ 999999600000, 1000000000, "1000.00" },
		{ 1234567000000, 1000000000, "1234.57" },
		{ 9999999, 1, "9999999" },
		{ 99999999, 1, "1.0e+08" },
		{ UINT64_MAX, 1, "1.8e+19" },
		{ 1, UINT64_MAX, "<0.001" },
		{ 5, 0, "-" },
	};
	static const struct number_row seconds[] = {
		{ 0, 0, "0.000" },
		{ 1, 0, "<0.001" },
		{ 1000000000, 0, "1.000" },
		{ 15206400000000000, 0, "1.5e+07" },
		{ UINT64_MAX, 0, "1.8e+10" },
	};

	(void)state;
	check_numbers(rows, ARRAY_SIZE(rows), format_rate);
	check_numbers(seconds, ARRAY_SIZE(seconds), seconds_without_whole);
}

static void test_percent(void **state)
{
	static const struct number_row rows[] = {
		{ 0, 0, "-" },
		{ 0, 10, "0.0%" },
		{ 1, UINT64_MAX, "<0.1%" },
		{ 1, 1000, "0.1%" },
		{ 432, 1000, "43.2%" },
		{ 9994, 10000, "99.9%" },
		{ 9996, 10000, ">99.9%" },
		{ UINT64_MAX - 4096, UINT64_MAX, ">99.9%" },
		{ 7, 7, "100%" },
		{ 88, 1, "8800.0%" },
		{ UINT64_MAX, 1, "2e+21%" },
	};

	(void)state;
	check_numbers(rows, ARRAY_SIZE(rows), format_percent);
}

static void test_range(void **state)
{
	static const struct {
		uint64_t value, low, high;
		const char *text;
	} rows[] = {
		{ 0, 0, 0, "exact" },
		{ 100, 100, 100, "exact" },
		{ 100, 88, 112, "88-112 B" },
		{ 100, 0, 100, "0-100 B" },
		{ 10400000000, 7890000000, 10400000000, "7.89-10.4 GB" },
		/* Both ends are rounded outwards, in the unit of the upper one. */
		{ 1000, 999, 1000, "0.99-1.00 kB" },
		{ 1500000, 1239999, 9990001, "1.23-10.0 MB" },
		{ 99900001, 99890001, 99900001, "99.8-100 MB" },
		{ 998000001, 998000001, 999000001, "0.99-1.00 GB" },
		{ 4000000000, 9999999, 4100000000, "0-4.10 GB" },
		{ 4000000000, 10000000, 4100000000, "0.01-4.10 GB" },
		{ INT64_MAX, INT64_MAX - 1, INT64_MAX, "9.22-9.23 EB" },
		{ UINT64_MAX, 0, UINT64_MAX, "0-18.5 EB" },
		/* Nothing is expected: what it may be at most. */
		{ 0, 0, 1, "≤1 B" },
		{ 0, 0, 999, "≤999 B" },
		{ 0, 0, 1001, "≤1.01 kB" },
		{ 0, 0, 4100000000, "≤4.10 GB" },
		{ 0, 0, 999000001, "≤1.00 GB" },
		{ 0, 0, UINT64_MAX, "≤18.5 EB" },
		/* Ends on the wrong side of the value. */
		{ 100, 200, 100, "exact" },
		{ 100, 90, 50, "90-100 B" },
		{ UINT64_MAX, UINT64_MAX, 0, "exact" },
	};
	char text[FORMAT_NUMBER_LEN];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		format_range(rows[i].value, rows[i].low, rows[i].high, text);
		assert_string_equal(text, rows[i].text);
		assert_true(format_width(text) <= FORMAT_RANGE_WIDTH);
	}
	format_range((sum128)1 << 127, (sum128)1 << 126, ~(sum128)0, text);
	assert_string_equal(text, ">999->999 YB");
}

static void test_rate_range(void **state)
{
	static const struct {
		uint64_t value, low, high, ns;
		const char *text;
	} rows[] = {
		{ 0, 0, 0, 1000000000, "exact" },
		{ 7, 7, 7, 0, "-" },
		{ 3000000, 2900000, 3100001, 1000000000, "0.002-0.004" },
		{ 10400000000, 7890000000, 10400000000, 1000000000, "7.890-10.40" },
		{ 10400000000, 7890000000, 10400000000, 2000000000, "3.945-5.200" },
		{ 999999999999, 123456789012, 999999999999, 1000000000, "123.4-1000" },
		{ 1, 0, 1, 1000000000, "0-0.001" },
		{ 0, 0, 4100000000, 1000000000, "≤4.100" },
		{ UINT64_MAX, 0, UINT64_MAX, 1000, "0->9999" },
	};
	char text[FORMAT_NUMBER_LEN];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		format_rate_range(rows[i].value, rows[i].low, rows[i].high, rows[i].ns, text);
		assert_string_equal(text, rows[i].text);
		assert_true(format_width(text) <= FORMAT_RATE_RANGE_WIDTH);
	}
}

static void test_joules(void **state)
{
	static const struct {
		uint64_t value;
		const char *text, *range;
	} rows[] = {
		{ 0, "0 nJ", "exact" },
		{ 999, "999 nJ", "≤999 nJ" },
		{ 1500, "1.50 uJ", "≤1.50 uJ" },
		{ 15600000, "15.6 mJ", "≤15.6 mJ" },
		{ 999500000, "1.00 J", "≤1.00 J" },
		{ 15600000000000, "15.6 kJ", "≤15.6 kJ" },
		{ UINT64_MAX, "18.4 GJ", "≤18.5 GJ" },
	};
	char text[FORMAT_NUMBER_LEN];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		format_joules(rows[i].value, text);
		assert_string_equal(text, rows[i].text);
		format_joules_range(0, 0, rows[i].value, text);
		assert_string_equal(text, rows[i].range);
		assert_true(format_width(text) <= FORMAT_RANGE_WIDTH);
	}
}

static void test_time(void **state)
{
	char text[FORMAT_WHEN_LEN];

	(void)state;
	format_time(0, text);
	assert_string_equal(text, "1970-01-01T00:00:00.000Z");
	format_time(1795190400007999999, text);
	assert_string_equal(text, "2026-11-20T16:00:00.007Z");
	format_time(UINT64_MAX, text);
	assert_string_equal(text, "2554-07-21T23:34:33.709Z");
	format_when(1795190400007999999, 5, text);
	assert_string_equal(text, "2026-11-20T16:00:00.007Z");
	format_when(0, 12345678901, text);
	assert_string_equal(text, "at 12.346 s of the trace");
	format_when(0, UINT64_MAX, text);
	assert_string_equal(text, "at 18446744073.710 s of the trace");
}

/* One name, and what a terminal and a JSON file get to see of it. */
struct name_row {
	const char *name;
	const char *terminal;
	const char *utf8;
	size_t width; /* of the terminal's text */
};

static const struct name_row names[] = {
	{ "", "", "", 0 },
	{ "lbm", "lbm", "lbm", 3 },
	{ "a\x1b[2J", "a\\x1b[2J", "a\x1b[2J", 8 },
	{ "tab\tnl\n", "tab\\x09nl\\x0a", "tab\tnl\n", 13 },
	{ "del\x7f", "del\\x7f", "del\x7f", 7 },
	{ "dev\\x2ddisk", "dev\\x2ddisk", "dev\\x2ddisk", 11 },
	{ "csi\xc2\x9b", "csi\\u009b", "csi\xc2\x9b", 9 },
	{ "\xe2\x80\xae"
	  "abc",
	  "\\u202eabc",
	  "\xe2\x80\xae"
	  "abc",
	  9 },
	{ "\xf3\xa0\x81\x81", "\\U000e0041", "\xf3\xa0\x81\x81", 10 },
	{ "\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9", 3 },
	{ "e\xcc\x81", "e\xcc\x81", "e\xcc\x81", 1 },
	{ "\xe6\xbc\xa2\xe5\xad\x97", "\xe6\xbc\xa2\xe5\xad\x97", "\xe6\xbc\xa2\xe5\xad\x97", 4 },
	{ "\xf0\x9f\x9a\x80", "\xf0\x9f\x9a\x80", "\xf0\x9f\x9a\x80", 2 },
	{ "cut\xe6\xbc", "cut\\xe6\\xbc", "cut\xef\xbf\xbd\xef\xbf\xbd", 11 },
	{ "\xff\xfe", "\\xff\\xfe", "\xef\xbf\xbd\xef\xbf\xbd", 8 },
	{ "\xc0\xaf", "\\xc0\\xaf", "\xef\xbf\xbd\xef\xbf\xbd", 8 },
	{ "\xe0\x80\xaf", "\\xe0\\x80\\xaf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", 12 },
	{ "\xed\xa0\x80", "\\xed\\xa0\\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", 12 },
	{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80",
	  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", 16 },
};

static void test_names(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		char *text;

		assert_int_equal(format_terminal(names[i].name, SIZE_MAX, &text), 0);
		assert_string_equal(text, names[i].terminal);
		assert_int_equal(format_width(text), names[i].width);
		free(text);
		assert_int_equal(format_utf8(names[i].name, SIZE_MAX, &text), 0);
		assert_string_equal(text, names[i].utf8);
		free(text);
	}
}

/* A comm of 16 bytes has no NUL when somebody hands over a full buffer. */
static void test_name_without_nul(void **state)
{
	static const char comm[4] = { 'a', 'b', 'c', '\xc3' };
	char *text;

	(void)state;
	assert_int_equal(format_terminal(comm, sizeof(comm), &text), 0);
	assert_string_equal(text, "abc\\xc3");
	free(text);
	assert_int_equal(format_utf8(comm, 2, &text), 0);
	assert_string_equal(text, "ab");
	free(text);
}

static void test_cut(void **state)
{
	static const struct {
		const char *text;
		size_t width;
		enum format_cut_side side;
		const char *cut;
	} rows[] = {
		{ "/slurm/job_12/step_0", 20, FORMAT_CUT_LEFT, "/slurm/job_12/step_0" },
		{ "/slurm/job_12/step_0", 16, FORMAT_CUT_LEFT, "…/job_12/step_0" },
		{ "/slurm/job_12/step_0", 15, FORMAT_CUT_LEFT, "…/job_12/step_0" },
		{ "/slurm/job_12/step_0", 12, FORMAT_CUT_LEFT, "…b_12/step_0" },
		{ "/slurm/job_12/step_0", 4, FORMAT_CUT_LEFT, "…p_0" },
		{ "/a/b/", 3, FORMAT_CUT_LEFT, "…b/" },
		{ "abcdef", 6, FORMAT_CUT_RIGHT, "abcdef" },
		{ "abcdef", 5, FORMAT_CUT_RIGHT, "abcd…" },
		{ "abcdef", 1, FORMAT_CUT_RIGHT, "…" },
		{ "abcdef", 1, FORMAT_CUT_LEFT, "…" },
		{ "abcdef", 0, FORMAT_CUT_RIGHT, "" },
		{ "漢字漢字", 6, FORMAT_CUT_RIGHT, "漢字…" },
		{ "漢字漢字", 6, FORMAT_CUT_LEFT, "…漢字" },
		{ "xe\xcc\x81yz", 3, FORMAT_CUT_LEFT, "…yz" },
		{ "xe\xcc\x81yz", 3, FORMAT_CUT_RIGHT, "xe\xcc\x81…" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		char *cut;

		assert_int_equal(format_cut(rows[i].text, rows[i].width, rows[i].side, &cut), 0);
		assert_string_equal(cut, rows[i].cut);
		assert_true(format_width(cut) <= rows[i].width);
		free(cut);
	}
}

static void test_emit(void **state)
{
	FILE *f = fopen("/dev/full", "w");
	int fds[2];

	(void)state;
	assert_non_null(f);
	assert_int_equal(format_emit(f, "text\n", 5), -ENOSPC);
	fclose(f);

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fds), 0);
	close(fds[0]);
	f = fdopen(fds[1], "w");
	assert_non_null(f);
	assert_int_equal(format_emit(f, "text\n", 5), -EPIPE);
	fclose(f);

	f = fopen("/dev/null", "r");
	assert_non_null(f);
	assert_int_equal(format_emit(f, "text\n", 5), -EBADF);
	fclose(f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_duration),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_percent),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_name_without_nul),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_emit),
		cmocka_unit_test(test_range),
		cmocka_unit_test(test_rate_range),
		cmocka_unit_test(test_joules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
