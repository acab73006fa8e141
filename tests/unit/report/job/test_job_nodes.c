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

#include "base/array.h"
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

/* The report of job 12 of a machine */
static char *report_text(const char *host, const char *platform, bool trouble)
{
	struct accounts *a = sample_accounts(trouble);
	struct host_info h = world_host;
	struct job_context c = { .host = &h, .node = accounts_node(a) };
	struct account_job j;
	char *text = NULL;
	size_t size;
	FILE *f = world_must(open_memstream(&text, &size));

	str_copy(h.name, sizeof(h.name), host);
	str_copy(h.platform, sizeof(h.platform), platform);
	assert_int_equal(accounts_each(a, take, &j), 0);
	assert_int_equal(job_json_write(f, &c, &j), 0);
	assert_int_equal(fclose(f), 0);
	account_job_release(&j);
	accounts_free(a);
	return text;
}

static void add(struct job_merge *m, const char *host, const char *platform, bool trouble)
{
	char *text = report_text(host, platform, trouble);
	struct job_reading r;
	struct diag d = { 0 };

	if (job_read(text, strlen(text), &r, &d))
		fail_msg("%s", d.what);
	assert_int_equal(job_merge_add(m, &r, 0), 0);
	free(text);
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

static char *compact_json(const struct job_merge *m)
{
	struct job_context c;
	const struct account_job *j = job_merge_run(m, 0, &c);
	char *record, *json;

	assert_int_equal(job_compact(&c, j, &record), 0);
	assert_int_equal(job_compact_decode(record, &json), 0);
	free(record);
	/* as files end */
	assert_true(asprintf(&record, "%s\n", json) > 0);
	free(json);
	return record;
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
	check("job-nodes-compact.json", compact_json(m));
	job_merge_free(m);
	m = merged(true);
	check("job-nodes-kinds-100.txt", table_text(m, &wide));
	check("job-nodes-kinds.json", json_of(m));
	check("job-nodes-kinds-compact.json", compact_json(m));
	job_merge_free(m);
}

/* Losses are told from nodes that the notes before have named. */
static void test_quality(void **state)
{
	static const char *const nodes[] = { "n1", "n[1-2]" };
	static const char *const says[] = { "\nquality: nothing was lost\n",
					    "\nquality: nothing else was lost\n" };
	struct table_options plain = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++) {
		struct job_merge *m = world_must(job_merge_new());
		struct text_list expected = { 0 };
		char *text;

		add(m, "n1", "t410", false);
		assert_int_equal(hostlist_expand(nodes[i], &expected, NULL), 0);
		assert_int_equal(job_merge_finish(m, &expected), 0);
		text = table_text(m, &plain);
		assert_non_null(strstr(text, says[i]));
		free(text);
		text_list_free(&expected);
		job_merge_free(m);
	}
}

/* Under valgrind fewer do */
#define MANY draw_times(1000, 50)

/* A name that says nothing about others, @length long */
static void draw_name(struct draw *d, size_t length, char *ret)
{
	for (size_t i = 0; i < length; i++)
		ret[i] = "abcdefghijklmnopqrstuvwxyz0123456789"[draw_below(d, 36)];
	ret[length] = '\0';
}

/* Sums and CPU time of a node that no other one has */
static void draw_account(struct draw *d, struct account_job *j)
{
	for (size_t i = 0; i < j->whole.nr_totals; i++) {
		struct account_total *t = &j->whole.totals[i];
		uint64_t more = draw_below(d, 1ull << 50);

		t->value += more;
		t->high += more;
		j->node[t->counter].value += more;
		j->node[t->counter].attributed += more;
	}
	j->whole.on_cpu_ns = draw_below(d, 1ull << 50);
	j->state = draw_below(d, 4) ? ACCOUNT_ENDED : ACCOUNT_STALE;
	j->gap_ns = draw_below(d, 4) ? 0 : 1;
}

/*
 * The record of a job on 1,000 nodes fits into the fields of databases, with names that cannot be
 * made shorter and kinds that are beside each other, too; and it has the extremes.
 */
static void record_of_many(size_t length, size_t nr_kinds)
{
	const size_t nr = MANY;
	struct draw d = { 1000 + length };
	char *text = report_text("n", "t410", false), name[65];
	struct text_list expected = { 0 };
	struct job_merge *m = world_must(job_merge_new());
	struct job_context c;
	const struct account_job *j;
	char *record, *json;

	for (size_t i = 0; i < nr; i++) {
		struct job_reading r;

		assert_int_equal(job_read(text, strlen(text), &r, NULL), 0);
		draw_name(&d, length, r.host.name);
		snprintf(r.host.platform, sizeof(r.host.platform), "p%zu", i % nr_kinds);
		draw_account(&d, &r.job);
		assert_int_equal(job_merge_add(m, &r, 0), 0);
		draw_name(&d, length, name);
		assert_int_equal(text_list_add(&expected, name), 0);
	}
	assert_int_equal(job_merge_finish(m, &expected), 0);
	j = job_merge_run(m, 0, &c);
	assert_int_equal(c.nodes->nr, nr);
	assert_int_equal(job_compact(&c, j, &record), 0);
	assert_in_range(strlen(record), 500, 4000);
	assert_int_equal(job_compact_decode(record, &json), 0);
	for (size_t i = 0; i < nr_kinds && i < 3; i++) {
		const struct job_spread *s = &c.nodes->kinds[i].spreads[JOB_SPREAD_CPUS];

		assert_non_null(strstr(json, c.nodes->items[s->first].name));
		assert_non_null(strstr(json, c.nodes->items[s->last].name));
	}
	free(json);
	free(record);
	free(text);
	text_list_free(&expected);
	job_merge_free(m);
}

static void test_many(void **state)
{
	(void)state;
	record_of_many(8, 1);
	record_of_many(64, 1);
	record_of_many(64, 3);
	record_of_many(64, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_quality),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
