// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>

#include "base/array.h"
#include "report/html/history.h"
#include "report/html/html.h"
#include "sample_report.h"

#define SECOND	   1000000000ULL
#define HOUR	   3600
#define STEP	   15 /* seconds: enough points for thinning, few enough for valgrind */
#define WORKLOADS  200
#define LONG	   (HISTORY_MAX_POINTS + 200)
#define PAGE_LIMIT 2000000

/* A number that looks as if it came from somewhere */
static uint64_t some(uint64_t seed)
{
	seed = (seed + 1) * 0x9e3779b97f4a7c15ULL;
	return (seed ^ seed >> 29) % 1000000000;
}

/* Replaces the rows: @nr processes that move bytes on both sockets, @t is the time in seconds. */
static struct report *busy_report(size_t nr, uint64_t t, uint64_t seconds)
{
	struct report *r = sample_without_rows();

	r->start_ns = t * SECOND;
	r->end_ns = (t + seconds) * SECOND;
	r->rows = calloc(nr, sizeof(*r->rows));
	r->nr_rows = nr;
	for (size_t i = 0; i < nr; i++) {
		struct report_row *row = &r->rows[i];

		row->kind = ROW_PROCESS;
		row->leaf = row->separable = row->comm_known = true;
		row->pid = (uint32_t)(1000 + i);
		snprintf(row->key, sizeof(row->key), "pid:%u:77", row->pid);
		snprintf(row->comm, sizeof(row->comm), "solver-%hu", (unsigned short)i);
		row->cgroup = strdup("/machine.slice/somebody/something");
		row->on_cpu_ns = some(t + i) * seconds;
		row->shares = calloc(SAMPLE_COUNTERS, sizeof(*row->shares));
		for (uint32_t c = 0; c < SAMPLE_COUNTERS; c++) {
			uint64_t value = some(t * 31 + i * 7 + c) * seconds;

			if (r->counters[c].counter->source != SOURCE_CPU)
				continue;
			row->shares[row->nr_shares++] =
				(struct share){ c, value, value - value / 11, value + value / 9,
						true };
		}
	}
	sample_balance(r);
	return r;
}

/* The data of a page, as its script reads it. */
static json_t *data_of(const char *page)
{
	static const char begin[] = "<script type=\"application/json\" id=\"data\">";
	const char *text = strstr(page, begin), *end;
	json_t *data;

	assert_non_null(text);
	text += strlen(begin);
	end = strstr(text, "</script>");
	assert_non_null(end);
	data = json_loadb(text, (size_t)(end - text), 0, NULL);
	assert_non_null(data);
	return data;
}

static char *page_of(struct html *h, const struct report *summary, size_t top)
{
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	assert_int_equal(html_write(f, h, summary, NULL, top), 0);
	assert_int_equal(fclose(f), 0);
	return text;
}

static uint64_t number_at(const json_t *array, size_t i)
{
	return (uint64_t)json_integer_value(json_array_get(array, i));
}

/* What a row moved of a kind on a socket, by point */
static void add_moved(const json_t *row, const char *kind, const char *socket, uint64_t *sums)
{
	const json_t *of_kind = json_object_get(json_object_get(row, "moved"), kind), *run;
	size_t i;

	json_array_foreach (json_object_get(of_kind, socket), i, run) {
		size_t point = (size_t)number_at(run, 0);

		for (size_t k = 1; k < json_array_size(run); k += 3)
			sums[point++] += number_at(run, k);
	}
}

/* At each point, rows, others, what devices own and what is unattributed are the value. */
static uint64_t check_kind(const json_t *data, const json_t *count, const char *kind,
			   const char *socket)
{
	const json_t *row, *rows = json_object_get(data, "rows"), *reason;
	size_t nr = json_array_size(json_object_get(data, "begin_ns")), i;
	uint64_t *sums = calloc(nr, sizeof(*sums)), all = 0;
	const char *name;

	assert_non_null(count);
	json_array_foreach (rows, i, row)
		if (!json_object_get(row, "leaf"))
			add_moved(row, kind, socket, sums);
	add_moved(json_object_get(data, "others"), kind, socket, sums);
	for (i = 0; i < nr; i++) {
		uint64_t sum = sums[i] + number_at(json_object_get(count, "owned"), i);

		json_object_foreach (json_object_get(count, "unattributed"), name, reason)
			sum += number_at(reason, i);
		assert_int_equal(sum, number_at(json_object_get(count, "value"), i));
		all += sum;
	}
	free(sums);
	return all;
}

/* So it is of each direction; both are all bytes. */
static uint64_t check_sums(const json_t *data)
{
	static const char *const kinds[] = { "read", "write" };
	const json_t *socket;
	uint64_t all = 0;
	size_t s;

	json_array_foreach (json_object_get(data, "sockets"), s, socket) {
		const json_t *counts = json_object_get(socket, "kinds");
		uint64_t bytes = 0;
		char key[24];
		size_t i;

		snprintf(key, sizeof(key), "%zu", s);
		for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
			bytes += check_kind(data, json_object_get(counts, kinds[k]), kinds[k], key);
		all += bytes;
		counts = json_object_get(json_object_get(counts, "bytes"), "value");
		for (i = 0; i < json_array_size(counts); i++)
			bytes -= number_at(counts, i);
		assert_int_equal(bytes, 0);
	}
	return all;
}

static size_t data_length(const char *page)
{
	const char *begin = strstr(page, " id=\"data\">");

	return begin ? (size_t)(strstr(begin, "</script>") - begin) - strlen(" id=\"data\">") : 0;
}

static void test_hour(void **state)
{
	struct html *h = html_new();
	struct report *summary = busy_report(WORKLOADS, 0, HOUR);
	uint64_t all = 0, intervals = 0;
	json_int_t first, newest;
	const json_t *n;
	json_t *data;
	char *page;
	size_t i;

	(void)state;
	for (uint64_t t = 0; t < HOUR; t += STEP) {
		struct report *r = busy_report(WORKLOADS, t, STEP);

		for (i = 0; i < r->nr_counters; i++)
			all += r->counters[i].value;
		assert_int_equal(html_interval(h, r), 0);
		report_free(r);
	}
	page = page_of(h, summary, 0);
	data = data_of(page);
	assert_true(strlen(page) < PAGE_LIMIT);
	assert_non_null(strstr(page, "id=\"thinned\""));
	assert_int_equal(check_sums(data), all);
	json_array_foreach (json_object_get(data, "intervals"), i, n)
		intervals += (uint64_t)json_integer_value(n);
	assert_int_equal(intervals, HOUR / STEP);
	assert_true(i > 40);
	/* The newest is the finest. */
	first = json_integer_value(json_array_get(json_object_get(data, "intervals"), 0));
	newest = json_integer_value(json_array_get(json_object_get(data, "intervals"), i - 1));
	assert_true(first > 2 * newest);
	json_decref(data);
	free(page);
	html_free(h);
	report_free(summary);
}

/* Rows have names and sums however few points there are: fewer rows come before fewer points. */
static void test_many_rows(void **state)
{
	struct html *h = html_new();
	struct report *summary = busy_report(20000, 0, 40);
	json_t *data;
	char *page;

	(void)state;
	assert_non_null(h);
	for (uint64_t t = 0; t < 40; t++) {
		struct report *r = busy_report(50, t, 1);

		assert_int_equal(html_interval(h, r), 0);
		report_free(r);
	}
	page = page_of(h, summary, 20000);
	data = data_of(page);
	assert_true(strlen(page) < 10 * PAGE_LIMIT);
	assert_non_null(strstr(page, "id=\"fewer\""));
	assert_true(data_length(page) <= HTML_DATA_SIZE);
	assert_in_range(json_array_size(json_object_get(data, "rows")), 100, 20000);
	assert_int_equal(json_array_size(json_object_get(data, "begin_ns")), 40);
	json_decref(data);
	free(page);
	html_free(h);
	report_free(summary);
}

static void test_history(void **state)
{
	struct history h = { 0 };
	uint64_t last = 0, intervals = 0;

	(void)state;
	for (uint64_t t = 0; t < LONG; t++) {
		struct report *r = busy_report(2, t, 1);

		assert_int_equal(history_add(&h, r), 0);
		assert_true(h.nr <= HISTORY_MAX_POINTS && h.nr_cells <= HISTORY_MAX_CELLS);
		report_free(r);
	}
	for (size_t i = 0; i < h.nr; i++) {
		assert_int_equal(h.points[i].start_ns, last);
		last = h.points[i].end_ns;
		intervals += h.points[i].intervals;
	}
	assert_int_equal(last, LONG * SECOND);
	assert_int_equal(intervals, LONG);
	assert_true(h.points[0].intervals > 1);
	assert_int_equal(h.points[h.nr - 1].intervals, 1);
	history_free(&h);
}

/* Many rows leave room for few points. */
static void test_cells(void **state)
{
	struct history h = { 0 };

	(void)state;
	for (uint64_t t = 0; t < 40; t++) {
		struct report *r = busy_report(3000, t, 1);

		assert_int_equal(history_add(&h, r), 0);
		assert_true(h.nr_cells <= HISTORY_MAX_CELLS);
		report_free(r);
	}
	assert_true(h.nr < 40 && h.nr > 10);
	history_free(&h);
}

/* With few rows shown, the others are one; nothing is missing. */
static void test_others(void **state)
{
	struct html *h = html_new();
	struct report *r = busy_report(20, 0, 1);
	uint64_t all = 0;
	json_t *data;
	char *page;

	(void)state;
	for (size_t i = 0; i < r->nr_counters; i++)
		all += r->counters[i].value;
	assert_int_equal(html_interval(h, r), 0);
	page = page_of(h, r, 3);
	data = data_of(page);
	assert_int_equal(json_array_size(json_object_get(data, "rows")), 3);
	assert_non_null(strstr(page, "17 more, together"));
	assert_int_equal(check_sums(data), all);
	json_decref(data);
	free(page);
	html_free(h);
	report_free(r);
}

/* A cgroup without others in it gets one: its own tasks are another row from then on. */
static void test_parent(void **state)
{
	struct html *h = html_new();
	struct report *before = busy_report(1, 0, 1), *after = busy_report(2, 1, 1);
	uint64_t all = 0;
	json_t *data;
	char *page;

	(void)state;
	before->by = after->by = ROW_CGROUP;
	strcpy(before->rows[0].key, "cgroup:5");
	strcpy(after->rows[0].key, "cgroup:5:own");
	strcpy(after->rows[1].key, "cgroup:6");
	after->rows = reallocarray(after->rows, 3, sizeof(*after->rows));
	after->rows[2] = (struct report_row){ .key = "cgroup:5", .on_cpu_ns = 7 };
	after->nr_rows = 3;
	for (size_t i = 0; i < 3; i++)
		after->rows[i].kind = ROW_CGROUP;
	before->rows[0].kind = ROW_CGROUP;
	strcpy(after->rows[0].parent, "cgroup:5");
	strcpy(after->rows[1].parent, "cgroup:5");
	after->rows[2].separable = true;
	for (size_t i = 0; i < before->nr_counters; i++)
		all += before->counters[i].value + after->counters[i].value;
	assert_int_equal(html_interval(h, before), 0);
	assert_int_equal(html_interval(h, after), 0);
	page = page_of(h, after, 0);
	data = data_of(page);
	assert_int_equal(check_sums(data), all);
	json_decref(data);
	free(page);
	html_free(h);
	report_free(before);
	report_free(after);
}

static const json_t *count_of(const json_t *data, size_t socket, const char *kind)
{
	json_t *s = json_array_get(json_object_get(data, "sockets"), socket);

	return json_object_get(json_object_get(s, "kinds"), kind);
}

/* Users of GPUs, whose the bytes are, and why a link has none. */
static void test_users(void **state)
{
	struct html *h = html_new();
	struct report *r = sample_report(ROW_PROCESS);
	char *page;

	(void)state;
	sample_with_users(r);
	strcpy(r->devices[2].why_none, "no <bit>");
	assert_int_equal(html_interval(h, r), 0);
	page = page_of(h, r, 0);
	assert_non_null(strstr(page, "no bytes: no &lt;bit"));
	assert_non_null(strstr(page, ": owner by contexts: slurm job 12</p>"));
	assert_non_null(strstr(page, ": owner by contexts: shared: slurm job 12 on instance 1"));
	assert_non_null(strstr(page, "Who used devices"));
	assert_null(strstr(page, "held but idle"));
	free(page);
	r->devices[2].by.users[0].busy_ns = 0;
	page = page_of(h, r, 0);
	assert_non_null(strstr(page, "<b>held but idle</b>"));
	free(page);
	report_free(r);
	html_free(h);
}

/* What was not counted is absent, not 0. */
static void test_absent(void **state)
{
	struct html *h = html_new();
	static const char *const counted[] = { "bytes", "read", "write" };
	struct report *r = busy_report(3, 0, 1);
	const json_t *count;
	json_t *data;
	char *page;

	(void)state;
	for (size_t i = 0; i < r->nr_counters; i++)
		r->counters[i].valid = r->counters[i].counter->socket == 1;
	assert_int_equal(html_interval(h, r), 0);
	page = page_of(h, r, 0);
	data = data_of(page);
	count = count_of(data, 0, "bytes");
	assert_true(json_is_null(json_array_get(json_object_get(count, "value"), 0)));
	assert_int_equal(number_at(json_object_get(count, "incomplete"), 0), 1);
	assert_null(count_of(data, 0, "read"));
	for (size_t i = 0; i < ARRAY_SIZE(counted); i++) {
		count = count_of(data, 1, counted[i]);
		assert_true(json_is_integer(json_array_get(json_object_get(count, "value"), 0)));
	}
	assert_null(count_of(data, 1, "energy"));
	json_decref(data);
	free(page);
	html_free(h);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hour),	cmocka_unit_test(test_many_rows),
		cmocka_unit_test(test_history), cmocka_unit_test(test_cells),
		cmocka_unit_test(test_others),	cmocka_unit_test(test_parent),
		cmocka_unit_test(test_absent),	cmocka_unit_test(test_users),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
