// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <cmocka.h>
#include <jansson.h>

#include "base/array.h"
#include "base/base64.h"
#include "report/job_report.h"
#include "sample_account.h"
#include "sample_report.h"

/* The examples in docs/ are what the program writes. */
#define EXAMPLE(name) "../../docs/examples/" name

struct wanted {
	uint64_t cgroup;
	struct account_job jobs[2];
	size_t nr;
};

static int take(void *arg, const struct account_job *j)
{
	struct wanted *w = arg;

	if (!w->cgroup || j->job.cgroup_id == w->cgroup)
		w->jobs[w->nr++] = world_copy_job(j);
	return 0;
}

/* The accounts, jobs 12 and 13, and what they are read with. */
struct sample {
	struct accounts *a;
	struct job_context c;
	struct account_job jobs[2];
};

static struct sample sample(bool trouble)
{
	struct sample s = { .a = sample_accounts(trouble) };
	struct wanted w = { 0 };

	assert_int_equal(accounts_each(s.a, take, &w), 0);
	assert_int_equal(w.nr, 2);
	s.c = (struct job_context){ &world_host, accounts_node(s.a) };
	memcpy(s.jobs, w.jobs, sizeof(s.jobs));
	return s;
}

static void sample_free(struct sample *s)
{
	account_job_release(&s->jobs[0]);
	account_job_release(&s->jobs[1]);
	accounts_free(s->a);
}

static char *json_text(const struct sample *s, size_t job)
{
	char *text = NULL;
	size_t len;
	FILE *f = world_must(open_memstream(&text, &len));

	assert_int_equal(job_json_write(f, &s->c, &s->jobs[job]), 0);
	assert_int_equal(fclose(f), 0);
	return text;
}

static char *table_text(const struct sample *s, size_t job, const struct table_options *o)
{
	char *text = NULL;
	size_t len;
	FILE *f = world_must(open_memstream(&text, &len));

	assert_int_equal(job_table_write(f, &s->c, &s->jobs[job], o), 0);
	assert_int_equal(fclose(f), 0);
	return text;
}

static char *list_text(const struct sample *s, size_t nr, const struct table_options *o)
{
	char *text = NULL;
	size_t len;
	FILE *f = world_must(open_memstream(&text, &len));

	if (o)
		assert_int_equal(jobs_table_write(f, &s->c, s->jobs, nr, o), 0);
	else
		assert_int_equal(jobs_json_write(f, &s->c, s->jobs, nr), 0);
	assert_int_equal(fclose(f), 0);
	return text;
}

static void check(const char *name, char *text)
{
	sample_check_golden(name, text);
	free(text);
}

static void test_golden(void **state)
{
	struct table_options plain = { 0 }, wide = { .width = 120, .verbose = true };
	struct table_options narrow = { .width = 60, .quiet = true, .top = 1 };
	struct sample s = sample(false);

	(void)state;
	check(EXAMPLE("job.json"), json_text(&s, 0));
	check(EXAMPLE("job.txt"), table_text(&s, 0, &plain));
	check(EXAMPLE("jobs.json"), list_text(&s, 2, NULL));
	check(EXAMPLE("jobs.txt"), list_text(&s, 2, &plain));
	check("job-verbose-120.txt", table_text(&s, 0, &wide));
	check("job-60-quiet-top.txt", table_text(&s, 0, &narrow));
	check("jobs-120.txt", list_text(&s, 2, &wide));
	check("jobs-60-top.txt", list_text(&s, 2, &narrow));
	check("jobs-none.txt", list_text(&s, 0, &plain));
	check("jobs-none.json", list_text(&s, 0, NULL));
	sample_free(&s);
	s = sample(true);
	check(EXAMPLE("job-trouble.json"), json_text(&s, 0));
	check(EXAMPLE("job-trouble.txt"), table_text(&s, 0, &plain));
	check("job-running-trouble.txt", table_text(&s, 1, &plain));
	check("jobs-trouble.txt", list_text(&s, 2, &plain));
	sample_free(&s);
}

static void test_compact(void **state)
{
	struct sample s = sample(false);
	char *record = NULL, *json = NULL;

	(void)state;
	assert_int_equal(job_compact(&s.c, &s.jobs[0], &record), 0);
	print_message("%zu bytes\n", strlen(record));
	assert_int_equal(job_compact_decode(record, &json), 0);
	print_message("%zu %s\n", strlen(json), json);
	assert_true(strlen(record) < 1024);
	free(json);
	free(record);
	sample_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_compact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
