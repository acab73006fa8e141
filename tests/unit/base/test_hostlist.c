// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/array.h"
#include "base/hostlist.h"
#include "random.h"

/* The names of a list, between blanks. */
static void expect(const char *list, const char *names)
{
	struct text_list l = { 0 };
	struct diag d = { 0 };
	char text[4096] = "";

	assert_int_equal(hostlist_expand(list, &l, &d), 0);
	for (size_t i = 0; i < l.nr; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
			 l.items[i]);
	assert_string_equal(text, names);
	text_list_free(&l);
}

static void test_expand(void **state)
{
	(void)state;
	expect("n1", "n1");
	expect("n1,login-2.example.org", "n1 login-2.example.org");
	expect("n[1-3]", "n1 n2 n3");
	expect("n[001-003,7,010]", "n001 n002 n003 n7 n010");
	expect("n[8-11]", "n8 n9 n10 n11");
	expect("n[08-11]x", "n08x n09x n10x n11x");
	expect("r[0-1]n[1-2],z", "r0n1 r0n2 r1n1 r1n2 z");
	expect("[1-2]", "1 2");
	expect("r[0-1]n[1-2]c[0-1]", "r0n1c0 r0n1c1 r0n2c0 r0n2c1 r1n1c0 r1n1c1 r1n2c0 r1n2c1");
	expect("n[0-1][08-09]", "n008 n009 n108 n109");
	expect("n[098-101]", "n098 n099 n100 n101");
	expect("n[0,00,000]", "n0 n00 n000");
	expect("n[1,3],n[5]", "n1 n3 n5");
}

static void test_refused(void **state)
{
	static const char *const lists[] = {
		"",
		",",
		"n1,",
		"n[",
		"n[]",
		"n[1",
		"n[1-]",
		"n[3-1]",
		"n[1-2",
		"n]",
		"n[a-b]",
		"n[1-9:2]",
		"n 1",
		"n1,,n2",
		"n[1,]",
		"n[-2]",
		"n[1--2]",
		"n[[1]]",
		"n/1",
		"n\n",
		"n[1]]",
		"n[1-2-3]",
		"n[9999999999999999999]",
		"n[[1-2],3]",
		"n[[[[[[[[",
		"]",
		"n[1]\xff",
		"n[+1]",
		"n[1-\t2]",
		"n[0x10]",
		"n%s",
		"$(reboot)",
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct text_list l = { 0 };
		struct diag d = { 0 };

		assert_int_equal(hostlist_expand(lists[i], &l, &d), -EINVAL);
		assert_non_null(strstr(d.what, "is no list of hosts"));
		text_list_free(&l);
	}
}

static void test_bounds(void **state)
{
	static const char *const lists[] = { "n[0-65536]", "n[0-999]m[0-99]", "n[0-99999999999]" };
	struct text_list l = { 0 };
	struct diag d = { 0 };
	char name[300];

	(void)state;
	assert_int_equal(hostlist_expand("n[0-65535]", &l, &d), 0);
	assert_int_equal(l.nr, 65536);
	text_list_free(&l);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		assert_int_equal(hostlist_expand(lists[i], &l, &d), -E2BIG);
		text_list_free(&l);
		l = (struct text_list){ 0 };
	}
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(hostlist_expand(name, &l, &d), -EINVAL);
	/* the bracket makes it too long */
	strcpy(name + 250, "[1000000-1000001]");
	assert_int_equal(hostlist_expand(name, &l, &d), -EINVAL);
	text_list_free(&l);
	/* as many dimensions as a name has room for, and more */
	l = (struct text_list){ 0 };
	for (int i = 0; i < 16; i++)
		strcpy(name + i * 5, "[1-2]");
	assert_int_equal(hostlist_expand(name, &l, &d), 0);
	assert_int_equal(l.nr, 65536);
	text_list_free(&l);
	l = (struct text_list){ 0 };
	strcpy(name + 80, "[1-2]");
	assert_int_equal(hostlist_expand(name, &l, &d), -E2BIG);
	text_list_free(&l);
}

static void folds(const char *list, const char *wanted, size_t size)
{
	struct text_list l = { 0 };
	char *text;

	assert_int_equal(hostlist_expand(list, &l, NULL), 0);
	text = hostlist_fold((const char *const *)l.items, l.nr, size);
	assert_non_null(text);
	assert_string_equal(text, wanted);
	free(text);
	text_list_free(&l);
}

static void test_fold(void **state)
{
	char *text;

	(void)state;
	folds("n1", "n1", 100);
	folds("n[1-3]", "n[1-3]", 100);
	folds("n[8-11,20]", "n[8-11,20]", 100);
	folds("n[001,003-005]", "n[001,003-005]", 100);
	folds("a1,b1,n[1-2].org", "a1,b1,n[1-2].org", 100);
	folds("r0n[1-2],r1n[1-2]", "r0n[1-2],r1n[1-2]", 100);
	folds("login", "login", 100);
	folds("a1,b1,c1,d1,e1,f1,g1,h1,i1,j1,k1,l1", "a1,b1,c1,d1,e1 and 7 more", 32);
	text = hostlist_fold(NULL, 0, 100);
	assert_string_equal(text, "");
	free(text);
}

/* A folded list has the names that it was made of. */
static void test_round(void **state)
{
	struct draw d = { 38 };

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct text_list l = { 0 }, again = { 0 };
		uint64_t number = 0;
		char *text;

		for (int i = 0; i < 100; i++) {
			number += 1 + (draw_below(&d, 4) ? 0 : draw_below(&d, 300));
			assert_int_equal(
				text_list_print(&l, round % 2 ? "n%03d" : "n%d.x", (int)number), 0);
		}
		text = hostlist_fold((const char *const *)l.items, l.nr, 100000);
		assert_int_equal(hostlist_expand(text, &again, NULL), 0);
		assert_int_equal(again.nr, l.nr);
		for (size_t i = 0; i < l.nr; i++)
			assert_string_equal(again.items[i], l.items[i]);
		free(text);
		text_list_free(&l);
		text_list_free(&again);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expand), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_bounds), cmocka_unit_test(test_fold),
		cmocka_unit_test(test_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
