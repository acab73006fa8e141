// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Numbers with units. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after the headers that it needs */
#include <cmocka.h>

#include "base/array.h"
#include "base/units.h"

#define REFUSED UINT64_MAX
#define MS	1000000ull
#define S	1000000000ull

static void test_times(void **state)
{
	static const struct {
		const char *text, *bare;
		uint64_t ns;
	} rows[] = {
		{ "250us", NULL, 250000 },
		{ "500ms", NULL, 500 * MS },
		{ "10s", "ms", 10 * S },
		{ "90 s", NULL, 90 * S },
		{ "2min", NULL, 120 * S },
		{ "10m", "s", 600 * S },
		{ "1.5h", NULL, 5400 * S },
		{ ".5s", NULL, 500 * MS },
		{ "0.1s", NULL, 100 * MS },
		{ "366d", NULL, 366 * 86400 * S },
		{ "36500d", NULL, 36500ull * 86400 * S },
		{ "500", "ms", 500 * MS },
		{ "10", "s", 10 * S },
		{ "90", "d", 90 * 86400 * S },
		{ "0", "s", 0 },
		{ "10", NULL, REFUSED },
		{ "", "s", REFUSED },
		{ "s", "s", REFUSED },
		{ "-1s", NULL, REFUSED },
		{ "+1s", NULL, REFUSED },
		{ "1e3", "ms", REFUSED },
		{ "0x10", "ms", REFUSED },
		{ "1.2.3s", NULL, REFUSED },
		{ "1,5s", NULL, REFUSED },
		{ ".", "s", REFUSED },
		{ "nan", "s", REFUSED },
		{ "10S", NULL, REFUSED },
		{ "10M", NULL, REFUSED },
		{ "10s ", NULL, REFUSED },
		{ " 10s", NULL, REFUSED },
		{ "10 ", "s", REFUSED },
		{ "10sec", NULL, REFUSED },
		{ "1h30m", NULL, REFUSED },
		{ "99999999999999999999", "s", REFUSED },
		{ "18446744073709551617", "ms", REFUSED },
		{ "1000000000000000000000000000000000000s", NULL, REFUSED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t ns = REFUSED;
		int err = parse_time(rows[i].text, rows[i].bare, &ns);

		if (err != (rows[i].ns == REFUSED ? -EINVAL : 0) || ns != rows[i].ns)
			fail_msg("\"%s\": %d, %llu", rows[i].text, err, (unsigned long long)ns);
	}
}

static void test_sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} rows[] = {
		{ "500000", 500000 },	  { "0", 0 },
		{ "1K", 1024 },		  { "64M", 64ull << 20 },
		{ "1.5G", 3ull << 29 },	  { "2T", 2ull << 40 },
		{ "1 G", 1ull << 30 },	  { "", REFUSED },
		{ "G", REFUSED },	  { "1k", REFUSED },
		{ "1GB", REFUSED },	  { "-1G", REFUSED },
		{ "1e6", REFUSED },	  { "0x10", REFUSED },
		{ "99999999T", REFUSED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t bytes = REFUSED;
		int err = parse_size(rows[i].text, &bytes);

		if (err != (rows[i].bytes == REFUSED ? -EINVAL : 0) || bytes != rows[i].bytes)
			fail_msg("\"%s\": %d, %llu", rows[i].text, err, (unsigned long long)bytes);
	}
}

static void test_percentages(void **state)
{
	static const char *const wrong[] = { "", "%", "x", "1%%", "-1", "1e1", "1 %", "0x1" };
	double value = 77;

	(void)state;
	assert_int_equal(parse_percent("0.5", &value), 0);
	assert_true(value == 0.5);
	assert_int_equal(parse_percent("20%", &value), 0);
	assert_true(value == 20);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_int_equal(parse_percent(wrong[i], &value), -EINVAL);
		assert_true(value == 20);
	}
}

static void test_texts(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} rows[] = {
		{ 0, "0" },	     { 200 * MS, "200ms" }, { 90 * S, "90s" },
		{ 120 * S, "2min" }, { 3600 * S, "1h" },    { 366 * 86400 * S, "366d" },
	};
	char text[UNITS_TEXT_LEN];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		time_text(rows[i].ns, text);
		assert_string_equal(text, rows[i].text);
	}
	size_text(1 << 20, text);
	assert_string_equal(text, "1M");
	size_text(5ull << 30, text);
	assert_string_equal(text, "5G");
	size_text(1000, text);
	assert_string_equal(text, "1000");
}

static void test_rates(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} rows[] = {
		{ "546GB/s", 546000000000 },
		{ "307.2 GB/s", 307200000000 },
		{ "1.2TB/s", 1200000000000 },
		{ "500MB/s", 500000000 },
		{ "3kB/s", 3000 },
		{ "1GiB/s", 1ull << 30 },
		{ "1TiB/s", 1ull << 40 },
		{ "546", REFUSED },
		{ "546GB", REFUSED },
		{ "546Gb/s", REFUSED },
		{ "546gb/s", REFUSED },
		{ "-1GB/s", REFUSED },
		{ "1e3GB/s", REFUSED },
		{ "GB/s", REFUSED },
		{ "", REFUSED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t got = REFUSED;

		assert_int_equal(parse_rate(rows[i].text, &got),
				 rows[i].bytes == REFUSED ? -EINVAL : 0);
		assert_int_equal(got, rows[i].bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates), cmocka_unit_test(test_times),
		cmocka_unit_test(test_sizes), cmocka_unit_test(test_percentages),
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
