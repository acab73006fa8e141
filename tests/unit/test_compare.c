// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "report/table/table.h"
#include "sample_report.h"

static const enum method methods[] = { METHOD_CPU_TIME, METHOD_STATE_SPACE };

/* Two reports of which the second gives half of every share. */
static void make(struct report **ret)
{
	ret[0] = sample_report(ROW_PROCESS);
	ret[1] = sample_report(ROW_PROCESS);
	ret[0]->quality.method = METHOD_CPU_TIME;
	ret[1]->quality.method = METHOD_STATE_SPACE;
	for (size_t i = 0; i < ret[1]->nr_rows; i++)
		for (size_t k = 0; k < ret[1]->rows[i].nr_shares; k++)
			ret[1]->rows[i].shares[k].value /= 2;
}

static char *table_of(struct report *const *reports, const struct table_options *o)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(compare_table_write(out, reports, methods, 2, o), 0);
	fclose(out);
	return text;
}

static void columns_and_differences(void **state)
{
	const struct table_options o = { .width = 100 };
	struct report *r[2];
	char *text;

	(void)state;
	make(r);
	text = table_of(r, &o);
	assert_non_null(strstr(text, "cpu-time"));
	assert_non_null(strstr(text, "state-space"));
	assert_non_null(strstr(text, "-50.0%"));
	assert_null(strstr(text, "quality:"));
	assert_null(strstr(text, "  read"));
	free(text);
	report_free(r[0]);
	report_free(r[1]);
}

static void rest_on_a_terminal_has_sums(void **state)
{
	const struct table_options o = { .width = 100, .height = 12 };
	const char *rest;
	struct report *r[2];
	char *text;

	(void)state;
	make(r);
	for (uint32_t i = 0; i < 20; i++)
		for (int k = 0; k < 2; k++)
			sample_add_row(r[k], 7000 + i, "small", "/crowd", i < 12 ? 250 : 0, 1000);
	text = table_of(r, &o);
	/* 2 large, and 4 of 12 that have 4 counters of 250 bytes each; the others have nothing */
	rest = strstr(text, "... and ");
	assert_non_null(rest);
	assert_non_null(strstr(rest, " kB "));
	assert_null(strstr(rest, "small"));
	free(text);
	report_free(r[0]);
	report_free(r[1]);
}

static void what_was_not_used_is_said(void **state)
{
	const struct table_options o = { .top = 1, .verbose = true };
	struct report *r[2];
	char *text;

	(void)state;
	make(r);
	r[1]->quality.method = METHOD_CPU_TIME;
	text = table_of(r, &o);
	assert_non_null(
		strstr(text, "quality: state-space could not be used, its column is cpu-time"));
	assert_non_null(strstr(text, "more rows)"));
	assert_non_null(strstr(text, "  read"));
	free(text);
	report_free(r[0]);
	report_free(r[1]);
}

/* A line for each way that is counted: none for reads where nothing counts them alone. */
static void ways_that_are_counted(void **state)
{
	const struct table_options o = { .top = 1, .verbose = true };
	struct report *r[2];
	char *text;

	(void)state;
	make(r);
	sample_together(r[0], 0);
	sample_together(r[1], 0);
	text = table_of(r, &o);
	assert_non_null(strstr(text, "\n  read + write  "));
	assert_null(strstr(text, "\n  read  "));
	assert_null(strstr(text, "\n  write  "));
	free(text);
	report_free(r[0]);
	report_free(r[1]);
}

/* Energy is not compared: joules are no bytes. */
static void energy_is_left_out(void **state)
{
	const struct table_options o = { .top = 1 };
	struct report *r[2];
	char *all, *text;

	(void)state;
	make(r);
	all = table_of(r, &o);
	sample_with_energy(r[0]);
	sample_with_energy(r[1]);
	text = table_of(r, &o);
	assert_non_null(strstr(all, "46.5 GB"));
	assert_null(strstr(text, "46.5 GB"));
	assert_non_null(strstr(text, "31.2 GB"));
	free(all);
	free(text);
	report_free(r[0]);
	report_free(r[1]);
}

static void names_are_made_harmless(void **state)
{
	const struct table_options o = { .width = 100 };
	struct report *r[2];
	char *text;

	(void)state;
	make(r);
	strcpy(r[0]->rows[0].comm, "\033[31m");
	text = table_of(r, &o);
	assert_null(strchr(text, '\033'));
	free(text);
	report_free(r[0]);
	report_free(r[1]);
}

static json_t *json_of(struct report *const *reports)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	json_t *o;

	assert_int_equal(compare_json_write(out, reports, methods, 2), 0);
	fclose(out);
	assert_ptr_equal(strchr(text, '\n'), text + length - 1);
	o = json_loads(text, 0, NULL);
	assert_non_null(o);
	free(text);
	return o;
}

static void values_by_method(void **state)
{
	json_t *o, *row, *share, *values;
	struct report *r[2];

	(void)state;
	make(r);
	o = json_of(r);
	assert_string_equal(json_string_value(json_object_get(o, "schema")), "t410trace.compare/1");
	assert_int_equal(json_array_size(json_object_get(o, "methods")), 2);
	assert_int_equal(json_array_size(json_object_get(o, "workloads")), r[0]->nr_rows);
	row = json_array_get(json_object_get(o, "workloads"), 0);
	share = json_array_get(json_object_get(row, "shares"), 0);
	values = json_object_get(share, "values");
	assert_int_equal(json_integer_value(json_object_get(values, "cpu-time")) / 2,
			 json_integer_value(json_object_get(values, "state-space")));
	assert_true(json_is_integer(json_object_get(share, "low")));
	json_decref(o);
	report_free(r[0]);
	report_free(r[1]);
}

/* A row that only one method has is no reason to fail. */
static void a_row_may_be_missing(void **state)
{
	const struct table_options o = { .width = 100 };
	struct report *r[2];
	char *text;

	(void)state;
	make(r);
	strcpy(r[1]->rows[0].key, "pid:1:1");
	text = table_of(r, &o);
	assert_non_null(strstr(text, " - "));
	free(text);
	json_decref(json_of(r));
	report_free(r[0]);
	report_free(r[1]);
}

static void numbers_out_of_range(void **state)
{
	struct report *r[2];
	json_t *o;
	char *text;

	(void)state;
	make(r);
	r[1]->rows[0].shares[0].value = UINT64_MAX;
	o = json_of(r);
	text = json_dumps(o, JSON_COMPACT);
	assert_non_null(strstr(text, "\"18446744073709551615\""));
	free(text);
	json_decref(o);
	report_free(r[0]);
	report_free(r[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_and_differences),
		cmocka_unit_test(rest_on_a_terminal_has_sums),
		cmocka_unit_test(what_was_not_used_is_said),
		cmocka_unit_test(ways_that_are_counted),
		cmocka_unit_test(energy_is_left_out),
		cmocka_unit_test(names_are_made_harmless),
		cmocka_unit_test(values_by_method),
		cmocka_unit_test(a_row_may_be_missing),
		cmocka_unit_test(numbers_out_of_range),
	};

	return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
