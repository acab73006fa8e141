// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What part of the peak of memory a job moved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>

#include "report/job/job_report.h"
#include "sample_account.h"
#include "sample_report.h"

static double number(json_t *o, const char *a, const char *b)
{
	json_t *at = json_object_get(json_object_get(o, a), b);

	assert_true(json_is_number(at));
	return json_number_value(at);
}

static json_t *peak_json(const struct job_context *c, const struct account_job *j)
{
	char *text = NULL;
	size_t len;
	FILE *f = world_must(open_memstream(&text, &len));
	json_t *o;

	assert_int_equal(job_json_write(f, c, j), 0);
	assert_int_equal(fclose(f), 0);
	o = json_loads(text, 0, NULL);
	free(text);
	assert_non_null(o);
	return o;
}

static char *table_text(const struct job_context *c, const struct account_job *j)
{
	const struct table_options wide = { .width = 200 };
	char *text = NULL;
	size_t len;
	FILE *f = world_must(open_memstream(&text, &len));

	assert_int_equal(job_table_write(f, c, j, &wide), 0);
	assert_int_equal(fclose(f), 0);
	return text;
}

/* Job 12: the first one. */
static int take(void *arg, const struct account_job *j)
{
	struct account_job *to = arg;

	if (!to->key[0])
		*to = world_copy_job(j);
	return 0;
}

/* Its traffic in the mean, and in the largest interval, beside the peak of two sockets. */
static void test_peak(void **state)
{
	struct host_info host = world_host;
	struct accounts *a = sample_accounts(false);
	struct job_context c = { .host = &host, .node = accounts_node(a) };
	struct account_list kept = { 0 };
	struct account_job job = { 0 };
	double sum = 0, share;
	char *text;
	json_t *o;

	(void)state;
	assert_int_equal(accounts_each(a, take, &job), 0);
	host.peaks.nr = 0;
	o = peak_json(&c, &job);
	assert_null(json_object_get(o, "peak"));
	json_decref(o);
	host.peaks = (struct peaks){
		.items = { { PEAK_CMEM, PEAK_GIVEN, 0, 8000000000 },
			   { PEAK_CMEM, PEAK_GIVEN, 1, 2000000000 } },
		.nr = 2,
	};
	o = peak_json(&c, &job);
	sum = number(json_object_get(o, "metrics"), "cmem_read_bytes", "value") +
	      number(json_object_get(o, "metrics"), "cmem_write_bytes", "value");
	share = sum * 1e9 / job.covered_ns / number(o, "peak", "bytes_per_second");
	assert_true(share > 0);
	assert_float_equal(number(o, "peak", "share"), share, 1e-9);
	assert_true(number(o, "peak", "low") <= share && share <= number(o, "peak", "high"));
	assert_null(json_object_get(json_object_get(o, "peak"), "largest_interval"));
	json_decref(o);
	/* The account itself as an interval, and another one that is half as long */
	assert_int_equal(account_list_add(&kept, &job), 0);
	assert_int_equal(account_list_add(&kept, &job), 0);
	kept.jobs[1].covered_ns /= 2;
	kept.jobs[1].whole.start_ns += 1000000000;
	c.kept = &kept;
	o = peak_json(&c, &job);
	assert_float_equal(number(json_object_get(o, "peak"), "largest_interval", "share"),
			   2 * share, 1e-6);
	assert_true(number(json_object_get(o, "peak"), "largest_interval", "start_ns") ==
		    (double)kept.jobs[1].whole.start_ns);
	json_decref(o);
	text = table_text(&c, &job);
	assert_non_null(strstr(text, " of the machine's peak (10.000 GB/s)"));
	assert_non_null(strstr(text, " in the largest interval that is kept ("));
	free(text);
	/* A socket has no known peak: nothing is said. */
	host.peaks.items[0].socket = host.peaks.items[1].socket = 7;
	o = peak_json(&c, &job);
	assert_null(json_object_get(o, "peak"));
	json_decref(o);
	account_list_release(&kept);
	account_job_release(&job);
	accounts_free(a);
}

static void expect_line(const struct job_context *c, const struct account_job *j, const char *said)
{
	char *text = table_text(c, j);

	assert_non_null(strstr(text, said));
	free(text);
}

/* What is very little is not nothing, and a peak that was given far too small is no disaster. */
static void test_extremes(void **state)
{
	struct host_info host = world_host;
	struct accounts *a = sample_accounts(false);
	struct job_context c = { .host = &host, .node = accounts_node(a) };
	struct account_job job = { 0 };

	(void)state;
	assert_int_equal(accounts_each(a, take, &job), 0);
	host.peaks = (struct peaks){
		.items = { { PEAK_CMEM, PEAK_GIVEN, PEAK_EVERY_SOCKET, 1 } },
		.nr = 1,
	};
	for (size_t i = 0; i < job.whole.nr_totals; i++)
		job.whole.totals[i].value = (uint64_t)1 << 50;
	expect_line(&c, &job, "memory of CPUs: 1e+11% of the machine's peak");
	host.peaks.items[0].bytes_per_s = PEAK_MOST;
	for (size_t i = 0; i < job.whole.nr_totals; i++)
		job.whole.totals[i].value = 1;
	expect_line(&c, &job, "memory of CPUs: <0.1% of the machine's peak");
	account_job_release(&job);
	accounts_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_peak),
		cmocka_unit_test(test_extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
