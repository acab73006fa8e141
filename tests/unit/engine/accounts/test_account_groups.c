// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the kernel's monitoring groups counted of a job: in its account, its report and the store. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "account_world.h"
#include "daemon/store_blob.h"
#include "engine/accounts/accounts.h"
#include "report/job/job_report.h"

static struct accounts *accounts;
static struct account_job job;

/* A group with all tasks of a row. */
static struct report_resctrl group_of(const struct report_row *row, const char *name,
				      uint64_t bytes)
{
	struct report_resctrl f = { .match = RESCTRL_BY_TASKS,
				    .tasks = 4,
				    .of_tasks = 4,
				    .state = RESCTRL_VALID,
				    .bytes = bytes,
				    .ns = WORLD_SECOND,
				    .domains = 2 };

	snprintf(f.row, sizeof(f.row), "%s", row->key);
	snprintf(f.group, sizeof(f.group), "%s", name);
	return f;
}

/*
 * A job with a step. Of the groups one has all of the job, but no number in intervals 0 and 3; one has
 * all of the step; others have a part of the job, a part of their domains, or belong to nobody.
 */
static void add_interval(uint64_t number)
{
	struct report *r = world_report(number);
	struct report_row *row = world_row(r, SCHEDULER_SLURM, "1", 71, "", true), *step;
	struct report_resctrl *f = world_must(calloc(5, sizeof(*f)));

	snprintf(row->key, sizeof(row->key), "job:slurm:1");
	world_share(r, row, 0, 3000);
	step = world_row(r, SCHEDULER_SLURM, "1", 71, "0", true);
	snprintf(step->key, sizeof(step->key), "job:slurm:1:0");
	world_share(r, step, 0, 500);
	row = &r->rows[0];
	f[0] = group_of(row, "web", 1000 + number);
	if (number == 0 || number == 3)
		f[0].state = RESCTRL_UNAVAILABLE;
	f[1] = group_of(step, "mon_groups/a", UINT64_MAX / 2);
	f[2] = group_of(row, "part", 50);
	f[2].of_tasks = 5;
	f[3] = group_of(row, "half", 50);
	f[3].missing = 1;
	f[4] = group_of(row, "stranger", 50);
	f[4].row[0] = '\0';
	r->resctrl = f;
	r->nr_resctrl = 5;
	assert_int_equal(accounts_interval(accounts, r), 0);
	report_free(r);
}

static int take(void *arg, const struct account_job *j)
{
	(void)arg;
	return account_job_copy(j, &job);
}

static int setup(void **state)
{
	struct accounts_options o = { .boot = WORLD_BOOT, .schedulers = ~0u };

	(void)state;
	if (accounts_new(&o, &accounts))
		return -1;
	for (uint64_t i = 0; i < 5; i++)
		add_interval(i);
	return accounts_each(accounts, take, NULL);
}

static int teardown(void **state)
{
	(void)state;
	account_job_release(&job);
	accounts_free(accounts);
	return 0;
}

static void assert_groups(const struct account_job *j)
{
	assert_int_equal(j->nr_groups, 2);
	/* it begins with its first number, and what is missing after that is said */
	assert_string_equal(j->groups[1].group, "web");
	assert_string_equal(j->groups[1].step, "");
	assert_int_equal(j->groups[1].bytes, 1001 + 1002 + 1004);
	assert_int_equal(j->groups[1].ns, 3 * WORLD_SECOND);
	assert_int_equal(j->groups[1].intervals, 4);
	assert_int_equal(j->groups[1].without, 1);
	assert_string_equal(j->groups[0].group, "mon_groups/a");
	assert_string_equal(j->groups[0].step, "0");
	assert_true(j->groups[0].bytes == UINT64_MAX);
	assert_int_equal(j->groups[0].without, 0);
}

/* The account's own numbers are what they are without groups. */
static void accounts_have_them(void **state)
{
	(void)state;
	assert_groups(&job);
	assert_int_equal(job.whole.nr_totals, 1);
	assert_int_equal(job.whole.totals[0].value, 5 * 3500);
}

static void the_store_keeps_them(void **state)
{
	struct account_job read = { 0 };
	struct bytes b = { 0 };

	(void)state;
	assert_int_equal(blob_job(&b, &job), 0);
	assert_int_equal(blob_read_job(b.data, b.nr, accounts_node(accounts)->nr_counters, &read),
			 0);
	assert_groups(&read);
	account_job_release(&read);
	free(b.data);
}

static char *text_of(bool json)
{
	const struct job_context c = { .host = &world_host, .node = accounts_node(accounts) };
	const struct table_options o = { .width = 300 };
	char *text = NULL;
	size_t len;
	FILE *f = world_must(open_memstream(&text, &len));

	if (json)
		assert_int_equal(job_json_write(f, &c, &job), 0);
	else
		assert_int_equal(job_table_write(f, &c, &job, &o), 0);
	assert_int_equal(fclose(f), 0);
	return text;
}

static void assert_has(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("not \"%s\" in:\n%s", words, text);
}

static void reports_show_them(void **state)
{
	char *text = text_of(false);

	(void)state;
	assert_has(text, "resctrl: group web: 3.01 kB in 3.000 s; no number in 1 of 4 intervals; "
			 "here 17.5 kB");
	assert_has(text, "resctrl: group mon_groups/a of step 0: ");
	assert_has(text, "; here 2.50 kB");
	assert_has(text, "nothing here rests on it");
	assert_null(strstr(text, "stranger"));
	free(text);
	text = text_of(true);
	assert_has(text, "\"resctrl\":[{\"group\":\"mon_groups/a\",\"step\":\"0\","
			 "\"mbm_total_bytes\":\"18446744073709551615\",");
	assert_has(text, "{\"group\":\"web\",\"step\":null,\"mbm_total_bytes\":3007,"
			 "\"duration_ns\":3000000000,\"intervals\":4,\"intervals_missing\":1}]");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accounts_have_them),
		cmocka_unit_test(the_store_keeps_them),
		cmocka_unit_test(reports_show_them),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
