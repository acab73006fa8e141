// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "tables/formula.h"

/* Names a, b, c have these values. */
static const double abc[] = { 6, 3, 0.5 };

static const struct {
	const char *text;
	double value;
} good[] = {
	{ "a", 6 },
	{ "1", 1 },
	{ " 1.5e3 ", 1500 },
	{ "2e-1", 0.2 },
	{ "a + b", 9 },
	{ "a-b-c", 2.5 },
	{ "a / b / c", 4 },
	{ "a / (b / c)", 1 },
	{ "a - (b - c)", 3.5 },
	{ "a + b * c", 7.5 },
	{ "(a + b) * c", 4.5 },
	{ "a * b + b * c - c", 19 },
	{ "100 * (a - b) / a", 50 },
	{ "((((a))))", 6 },
	{ "'a' - b", 3 },
	{ "'a'-'b'", 3 },
	{ "a + a * (a + a * (b))", 150 },
};

static double value_of(const char *name)
{
	assert_int_equal(strlen(name), 1);
	assert_in_range(name[0], 'a', 'c');
	return abc[name[0] - 'a'];
}

static void test_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct formula *f = NULL;
		double values[3], got = -1;
		struct diag d = { 0 };

		assert_int_equal(formula_parse(good[i].text, &d, &f), 0);
		assert_string_equal(d.what, "");
		for (size_t j = 0; j < formula_nr_names(f); j++)
			values[j] = value_of(formula_name(f, j));
		assert_true(formula_eval(f, values, &got));
		assert_true(got == good[i].value);
		formula_free(f);
	}
	formula_free(NULL);
}

static void test_names(void **state)
{
	struct formula *f = NULL;

	(void)state;
	assert_int_equal(formula_parse("_x1 + socket_<o>_rd / _x1 - A", NULL, &f), 0);
	assert_int_equal(formula_nr_names(f), 3);
	assert_string_equal(formula_name(f, 0), "_x1");
	assert_string_equal(formula_name(f, 1), "socket_<o>_rd");
	assert_string_equal(formula_name(f, 2), "A");
	formula_free(f);
}

static void test_undefined(void **state)
{
	static const struct {
		const char *text;
		double values[2];
	} rows[] = {
		{ "a / b", { 1, 0 } },
		{ "a / b", { 0, 0 } },
		{ "a / b", { 1, -0.0 } },
		{ "a / (b - b)", { 1, 5 } },
		{ "1 / (a / b)", { 0, 5 } },
		{ "a + b", { NAN, 1 } },
		{ "a * 0 + b", { NAN, 1 } },
		{ "a + b", { 1, INFINITY } },
		{ "a / b", { 1, INFINITY } },
		{ "a * b", { 1e300, 1e300 } },
		/* infinite on the way, not in the end */
		{ "1 / (a * b)", { 1e300, 1e300 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct formula *f = NULL;
		double got = 42;

		assert_int_equal(formula_parse(rows[i].text, NULL, &f), 0);
		assert_false(formula_eval(f, rows[i].values, &got));
		assert_true(got == 42);
		formula_free(f);
	}
}

static void test_junk(void **state)
{
	static const struct {
		const char *text;
		const char *what;
	} rows[] = {
		{ "", "ends where a name" },
		{ "   ", "ends where a name" },
		{ "a +", "ends where a name" },
		{ "a /  ", "ends where a name" },
		{ "* a", "\"*\" at position 1" },
		{ "-a", "\"-\" at position 1" },
		{ "a - -b", "\"-\" at position 5" },
		{ "(a", "ends where \")\"" },
		{ "((a)", "ends where \")\"" },
		{ "a)", "\")\" at position 2" },
		{ "()", "\")\" at position 2" },
		{ "a b", "\"b\" at position 3" },
		{ "a (b)", "\"(\" at position 3" },
		{ "a + 2x", "\"2\" at position 5" },
		{ "0x10", "position 1" },
		{ "1.2.3", "position 1" },
		{ "1e", "position 1" },
		{ "1e999", "position 1" },
		{ ".5", "\".\" at position 1" },
		{ "11111111111111111111111111111111", "a shorter number" },
		{ "a % b", "\"%\" at position 3" },
		{ "<a>", "\"<\" at position 1" },
		{ "a\tb", "byte 0x09 at position 2" },
		{ "a+\033[2J", "byte 0x1b at position 3" },
		{ "a+\377", "byte 0xff at position 3" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct formula *f = (struct formula *)&rows[i];
		struct diag d = { 0 };

		assert_int_equal(formula_parse(rows[i].text, &d, &f), -EINVAL);
		assert_ptr_equal(f, &rows[i]);
		assert_non_null(strstr(d.what, rows[i].what));
		assert_string_not_equal(d.help, "");
		assert_null(strchr(d.what, '\033'));
		assert_int_equal(formula_parse(rows[i].text, NULL, &f), -EINVAL);
	}
}

/* The text repeated @nr times, between two others. */
static void repeat(char *ret, const char *before, const char *text, size_t nr, const char *after)
{
	ret += sprintf(ret, "%s", before);
	while (nr--)
		ret += sprintf(ret, "%s", text);
	sprintf(ret, "%s", after);
}

static void test_limits(void **state)
{
	struct formula *f = NULL, *none = NULL;
	struct diag d = { 0 };
	char text[4096], end[256];
	double got, one = 1;

	(void)state;
	/* 32 levels, each of which waits for a sum and a product. */
	repeat(end, "a+a*a", ")", 32, "");
	repeat(text, "", "a+a*(", 32, end);
	assert_int_equal(formula_parse(text, &d, &f), 0);
	assert_true(formula_eval(f, &one, &got));
	assert_true(got == 34);
	formula_free(f);
	repeat(end, "a", ")", 33, "");
	repeat(text, "", "(", 33, end);
	assert_int_equal(formula_parse(text, &d, &none), -E2BIG);
	assert_non_null(strstr(d.what, "32"));

	/* 512 characters */
	repeat(text, "aa", "+a", 255, "");
	assert_int_equal(formula_parse(text, &d, &f), 0);
	formula_free(f);
	repeat(text, "aaa", "+a", 255, "");
	assert_int_equal(formula_parse(text, &d, &none), -E2BIG);
	assert_non_null(strstr(d.what, "512"));
	repeat(text, "", "(", 2000, "");
	assert_int_equal(formula_parse(text, &d, &none), -E2BIG);
	assert_null(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),	  cmocka_unit_test(test_names),
		cmocka_unit_test(test_undefined), cmocka_unit_test(test_junk),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
