// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Documents as text: what the library says is right. */
#include <float.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "report/json_text.h"

static void same(json_t *value, size_t digits)
{
	char *right =
		json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits));
	char *text = NULL;
	size_t length = 0;

	assert_non_null(right);
	assert_int_equal(json_text(value, digits, &text, &length), 0);
	assert_int_equal(length, strlen(right) + 1);
	assert_int_equal(strlen(text), length);
	assert_int_equal(text[length - 1], '\n');
	assert_memory_equal(text, right, length - 1);
	free(right);
	free(text);
}

static void same_once(json_t *value)
{
	assert_non_null(value);
	same(value, 0);
	same(value, 4);
	same(value, 17);
	json_decref(value);
}

static void numbers(void **state)
{
	static const json_int_t whole[] = { 0, 1, -1, 9, 10, -10, 4096, INT64_MAX, INT64_MIN };
	static const double real[] = { 0,	-0.0, 1,	0.1,	 1.0 / 3, 1e15,
				       1e16,	1e17, 1e22,	1e-5,	 1e-300,  DBL_MAX,
				       DBL_MIN, -2.5, 123456.7, 99999.5, 5e-324 };

	(void)state;
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		same_once(json_integer(whole[i]));
	for (size_t i = 0; i < sizeof(real) / sizeof(real[0]); i++)
		same_once(json_real(real[i]));
}

static void strings(void **state)
{
	char all[128];

	(void)state;
	for (size_t i = 0; i < sizeof(all) - 1; i++)
		all[i] = i + 1;
	all[sizeof(all) - 1] = 0;
	same_once(json_string(all));
	same_once(json_string(""));
	same_once(json_string("\"\\\"\\"));
	same_once(json_string("/slurm/uid_0/job_1\n"));
	same_once(json_string("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80 \x7f"));
	same_once(json_stringn("a\0b", 3));
}

static void nested(void **state)
{
	json_t *o = json_object(), *a = json_array();

	(void)state;
	/* In the order in which they were put there, not in that of their names. */
	json_object_set_new(o, "z \"quoted\"\t", json_true());
	json_object_set_new(o, "a", json_false());
	json_object_set_new(o, "", json_null());
	json_object_set_new(o, "none", json_object());
	json_object_set_new(o, "empty", json_array());
	json_array_append_new(a, json_integer(1));
	json_array_append_new(a, json_pack("{s:[f, n], s:{s:i}}", "real", 0.5, "deep", "x", 3));
	json_array_append_new(a, json_array());
	json_object_set_new(o, "array", a);
	same_once(o);
}

/* Its room grows many times, also in the middle of a string. */
static void large(void **state)
{
	json_t *a = json_array();
	char text[5000];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	for (int i = 0; i < 1000; i++) {
		json_array_append_new(a, json_integer((json_int_t)1 << i % 63));
		json_array_append_new(a, json_real(i / 7.0));
		json_array_append_new(a, json_string(text + i * 4));
	}
	same_once(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(strings),
		cmocka_unit_test(nested),
		cmocka_unit_test(large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
