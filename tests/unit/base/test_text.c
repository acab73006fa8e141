// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>

#include "base/array.h"
#include "base/digits.h"
#include "base/text.h"
#include "tree.h"

#define UNTOUCHED 4711

static void test_u64_good(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
	} rows[] = {
		{ "0", 0 },
		{ "7", 7 },
		{ "007", 7 },
		{ "0x0", 0 },
		{ "0x1D", 0x1d },
		{ "0XfF", 0xff },
		{ "0x100000000", 0x100000000 },
		{ "18446744073709551615", UINT64_MAX },
		{ "0xffffffffffffffff", UINT64_MAX },
	};
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		value = UNTOUCHED;
		assert_int_equal(parse_u64(rows[i].text, &value), 0);
		assert_int_equal(value, rows[i].value);
	}
}

static void test_u64_bad(void **state)
{
	static const struct {
		const char *text;
		int err;
	} rows[] = {
		{ "", -EINVAL },
		{ " 1", -EINVAL },
		{ "1 ", -EINVAL },
		{ "1\n", -EINVAL },
		{ "-1", -EINVAL },
		{ "+1", -EINVAL },
		{ "0x", -EINVAL },
		{ "0x-1", -EINVAL },
		{ "0x0x1", -EINVAL },
		{ "0x 1", -EINVAL },
		{ "1x", -EINVAL },
		{ "ff", -EINVAL },
		{ "1.0", -EINVAL },
		{ "18446744073709551616", -ERANGE },
		{ "0x10000000000000000", -ERANGE },
		{ "99999999999999999999999x", -EINVAL },
	};
	uint64_t value = UNTOUCHED;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(parse_u64(rows[i].text, &value), rows[i].err);
		assert_int_equal(value, UNTOUCHED);
	}
}

static void test_double_good(void **state)
{
	static const struct {
		const char *text;
		double value;
	} rows[] = {
		{ "0", 0 },	{ "0.25", 0.25 }, { "-3", -3 },
		{ "1e6", 1e6 }, { ".5", .5 },	  { "2.", 2 },
	};
	double value;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		value = UNTOUCHED;
		assert_int_equal(parse_double(rows[i].text, &value), 0);
		assert_true(value == rows[i].value);
	}
}

static void test_double_bad(void **state)
{
	static const struct {
		const char *text;
		int err;
	} rows[] = {
		{ "", -EINVAL },      { " 1", -EINVAL },     { "1 ", -EINVAL },
		{ "nan", -EINVAL },   { "inf", -EINVAL },    { "0x10", -EINVAL },
		{ "1e", -EINVAL },    { "1,5", -EINVAL },    { "1.2.3", -EINVAL },
		{ "e5", -EINVAL },    { ".", -EINVAL },	     { "--1", -EINVAL },
		{ "1e999", -ERANGE }, { "-1e999", -ERANGE }, { "1e-999", -ERANGE },
	};
	double value = UNTOUCHED;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(parse_double(rows[i].text, &value), rows[i].err);
		assert_true(value == UNTOUCHED);
	}
}

static void test_read_line(void **state)
{
	static const struct {
		const char *content;
		const char *line;
		int err;
	} rows[] = {
		{ "abc\n", "abc", 0 },
		{ "abc", "abc", 0 },
		{ "abc\ndef\n", "abc", 0 },
		{ "", "", 0 },
		{ "\n", "", 0 },
		{ " a \n", " a ", 0 },
		{ "1234567\n", "1234567", 0 },
		{ "1234567", "1234567", 0 },
		{ "12345678\n", NULL, -E2BIG },
		{ "12345678", NULL, -E2BIG },
	};
	struct tree tree;
	char line[8];
	int dir;

	(void)state;
	tree_make(&tree);
	dir = open(tree.root, O_RDONLY | O_DIRECTORY);
	assert_true(dir >= 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		tree_put(&tree, "file", rows[i].content);
		strcpy(line, "before");
		assert_int_equal(read_line_at(dir, "file", line, sizeof(line)), rows[i].err);
		assert_string_equal(line, rows[i].line ? rows[i].line : "before");
	}
	close(dir);
	tree_remove(&tree);
}

static void test_read_line_bad_files(void **state)
{
	struct tree tree;
	char path[PATH_MAX];
	char line[64] = "before";
	char *large;

	(void)state;
	tree_make(&tree);
	tree_path(&tree, "none", path);
	assert_int_equal(read_line_at(AT_FDCWD, path, line, sizeof(line)), -ENOENT);
	assert_int_equal(read_line_at(AT_FDCWD, tree.root, line, sizeof(line)), -EISDIR);
	tree_link(&tree, "loop", "loop");
	tree_path(&tree, "loop", path);
	assert_int_equal(read_line_at(AT_FDCWD, path, line, sizeof(line)), -ELOOP);

	tree_write(&tree, "nul", "a\0b\n", 4);
	tree_path(&tree, "nul", path);
	assert_int_equal(read_line_at(AT_FDCWD, path, line, sizeof(line)), -EINVAL);

	large = malloc(10 << 20);
	assert_non_null(large);
	memset(large, 'x', 10 << 20);
	tree_write(&tree, "large", large, 10 << 20);
	free(large);
	tree_path(&tree, "large", path);
	assert_int_equal(read_line_at(AT_FDCWD, path, line, sizeof(line)), -E2BIG);
	assert_string_equal(line, "before");

	/* Nobody writes to the FIFO; reading it must not wait for that. */
	tree_path(&tree, "fifo", path);
	assert_int_equal(mkfifo(path, 0644), 0);
	assert_int_equal(read_line_at(AT_FDCWD, path, line, sizeof(line)), 0);
	assert_string_equal(line, "");
	tree_remove(&tree);
}

static void test_copy(void **state)
{
	char text[4];

	(void)state;
	assert_int_equal(str_copy(text, sizeof(text), "abc"), 0);
	assert_string_equal(text, "abc");
	assert_int_equal(str_copy(text, sizeof(text), "abcd"), -ENAMETOOLONG);
	assert_string_equal(text, "abc");
	assert_int_equal(str_copy(text, sizeof(text), ""), 0);
	assert_string_equal(text, "");
	assert_int_equal(str_copy(text, 1, "x"), -ENAMETOOLONG);
	assert_string_equal(text, "");
}

static void test_append(void **state)
{
	char text[8] = "ab";

	(void)state;
	assert_int_equal(str_append(text, sizeof(text), "%d", 123), 0);
	assert_string_equal(text, "ab123");
	assert_int_equal(str_append(text, sizeof(text), "%s", "xyz"), -ENAMETOOLONG);
	assert_string_equal(text, "ab123xy");
	assert_int_equal(str_append(text, sizeof(text), "%s", "z"), -ENAMETOOLONG);
	assert_int_equal(str_append(text, sizeof(text), "%s", ""), 0);
	assert_string_equal(text, "ab123xy");
}

static void test_settings(void **state)
{
	const char *list = "src_loc_cpu=1,dst-2.x=0x1f,a=18446744073709551615";
	static const char *const bad[] = {
		"",
		"a",
		"=1",
		"a=",
		"a=1,",
		"a=1,,b=2",
		",a=1",
		"a=-1",
		"a=1 ",
		"a =1",
		"a=b",
		"a;b=1",
		"a=1=2",
		"\xff=1",
		"a=18446744073709551616",
		"a=000000000000000000000000001",
	};
	char name[12] = "before";
	uint64_t value = 7;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		const char *at = bad[i];

		/* Of "a=1,,b=2" the first is one. */
		if (i == 5)
			assert_int_equal(take_setting(&at, name, sizeof(name), &value), 0);
		strcpy(name, "before");
		value = 7;
		assert_int_equal(take_setting(&at, name, sizeof(name), &value), -EINVAL);
		assert_ptr_equal(at, i == 5 ? bad[i] + 4 : bad[i]);
		assert_string_equal(name, "before");
		assert_int_equal(value, 7);
	}
	assert_int_equal(take_setting(&list, name, strlen("src_loc_cpu"), &value), -EINVAL);
	assert_int_equal(take_setting(&list, name, sizeof(name), &value), 0);
	assert_string_equal(name, "src_loc_cpu");
	assert_int_equal(value, 1);
	assert_int_equal(take_setting(&list, name, sizeof(name), &value), 0);
	assert_string_equal(name, "dst-2.x");
	assert_int_equal(value, 31);
	assert_int_equal(take_setting(&list, name, sizeof(name), &value), 0);
	assert_string_equal(name, "a");
	assert_true(value == UINT64_MAX);
	assert_string_equal(list, "");
}

static void test_lines(void **state)
{
	static const char text[] = "a\n\n1234567\nlast";
	static const struct {
		const char *text;
		size_t length;
		int err;
	} bad[] = { { "12345678\n", 9, -E2BIG }, { "a\0b\n", 4, -EINVAL } };
	char line[8];
	FILE *in = fmemopen((char *)text, sizeof(text) - 1, "r");

	(void)state;
	assert_non_null(in);
	for (const char *const *want = (const char *const[]){ "a", "", "1234567", "last", NULL };
	     *want; want++) {
		assert_int_equal(next_line(in, line, sizeof(line)), 1);
		assert_string_equal(line, *want);
	}
	assert_int_equal(next_line(in, line, sizeof(line)), 0);
	fclose(in);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		in = fmemopen((char *)bad[i].text, bad[i].length, "r");
		assert_non_null(in);
		assert_int_equal(next_line(in, line, sizeof(line)), bad[i].err);
		fclose(in);
	}
	in = fopen("/", "r");
	assert_non_null(in);
	assert_int_equal(next_line(in, line, sizeof(line)), -EISDIR);
	fclose(in);
}

/* As printf() does it. */
static void test_digits(void **state)
{
	static const uint64_t values[] = {
		0, 7, 10, 999, 1000, 4294967296, 1ull << 63, UINT64_MAX
	};
	char text[DIGITS_MAX + 1], expected[32];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		memset(text, 'x', sizeof(text));
		snprintf(expected, sizeof(expected), "%llu", (unsigned long long)values[i]);
		assert_ptr_equal(put_digits(text, values[i]), text + strlen(expected));
		assert_string_equal(text, expected);
	}
	assert_int_equal(strlen(text), DIGITS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_u64_good),
		cmocka_unit_test(test_u64_bad),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_double_good),
		cmocka_unit_test(test_double_bad),
		cmocka_unit_test(test_read_line),
		cmocka_unit_test(test_read_line_bad_files),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_append),
		cmocka_unit_test(test_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
