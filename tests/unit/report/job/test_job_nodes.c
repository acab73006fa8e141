// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* All that is written of an account that is merged of several nodes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/text.h"
#include "report/job/job_merge.h"
#include "report/job/job_report.h"
#include "sample_account.h"
#include "sample_report.h"

/* The examples in docs/ are what the program writes. */
#define EXAMPLE(name) "../../docs/examples/" name

static int take(void *arg, const struct account_job *j)
{
	if (j->job.cgroup_id == 881)
		*(struct account_job *)arg = world_copy_job(j);
	return 0;
}

/* The report of job 12 of a machine, as a node of the job */
static void add(struct job_merge *m, const char *host, const char *platform, bool trouble)
{
	struct accounts *a = sample_accounts(trouble);
	struct host_info h = world_host;
	struct job_context c = { .host = &h, .node = accounts_node(a) };
	struct account_job j;
	struct job_reading r;
	struct diag d = { 0 };
	char *text = NULL;
	size_t size;
	FILE *f = world_must(open_memstream(&text, &size));

	str_copy(h.name, sizeof(h.name), host);
	str_copy(h.platform, sizeof(h.platform), platform);
	assert_int_equal(accounts_each(a, take, &j), 0);
	assert_int_equal(job_json_write(f, &c, &j), 0);
	assert_int_equal(fclose(f), 0);
	if (job_read(text, size, &r, &d))
		fail_msg("%s", d.what);
	assert_int_equal(job_merge_add(m, &r, 0), 0);
	free(text);
	account_job_release(&j);
	accounts_free(a);
}

static struct job_merge *merged(bool mixed)
{
	struct job_merge *m = world_must(job_merge_new());
	struct text_list expected = { 0 };

	add(m, "n1", "t410", false);
	add(m, "n2", "t410", true);
	add(m, "n3", mixed ? "grace" : "t410", false);
	assert_int_equal(
		job_merge_refuse(m, "spool/n5.json", "damaged", "its \"value\" is missing"), 0);
	assert_int_equal(hostlist_expand("n[1-2,4-6]", &expected, NULL), 0);
	assert_int_equal(job_merge_finish(m, &expected), 0);
	assert_int_equal(job_merge_runs(m), 1);
	text_list_free(&expected);
	return m;
}

static char *table_text(const struct job_merge *m, const struct table_options *o)
{
	struct job_context c;
	const struct account_job *j = job_merge_run(m, 0, &c);
	char *text = NULL;
	size_t size;
	FILE *f = world_must(open_memstream(&text, &size));

	assert_int_equal(job_table_write(f, &c, j, o), 0);
	assert_int_equal(fclose(f), 0);
	return text;
}

static char *json_of(const struct job_merge *m)
{
	struct job_context c;
	const struct account_job *j = job_merge_run(m, 0, &c);
	char *text = NULL;
	size_t size;
	FILE *f = world_must(open_memstream(&text, &size));

	assert_int_equal(job_json_write(f, &c, j), 0);
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
	struct table_options plain = { 0 }, wide = { .width = 100, .verbose = true };
	struct job_merge *m = merged(false);

	(void)state;
	check(EXAMPLE("job-nodes.txt"), table_text(m, &plain));
	check(EXAMPLE("job-nodes.json"), json_of(m));
	job_merge_free(m);
	m = merged(true);
	check("job-nodes-kinds-100.txt", table_text(m, &wide));
	check("job-nodes-kinds.json", json_of(m));
	job_merge_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
