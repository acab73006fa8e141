// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* GPUs that jobs hold: in their accounts, their reports and the store. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/store_blob.h"
#include "engine/accounts/accounts.h"
#include "gpu_world.h"
#include "report/job/job_report.h"

static struct accounts *accounts;
static struct account_list jobs;

static int setup(void **state)
{
	struct accounts_options o = { .boot = WORLD_BOOT, .schedulers = ~0u };

	(void)state;
	if (accounts_new(&o, &accounts))
		return -1;
	for (uint64_t i = 0; i < 4; i++) {
		struct report *r = gpu_report(i);

		assert_int_equal(accounts_interval(accounts, r), 0);
		report_free(r);
	}
	return accounts_each(accounts, account_list_add, &jobs);
}

static int teardown(void **state)
{
	(void)state;
	account_list_release(&jobs);
	accounts_free(accounts);
	return 0;
}

static const struct account_job *job(uint64_t cgroup_id)
{
	for (size_t i = 0; i < jobs.nr; i++)
		if (jobs.jobs[i].job.cgroup_id == cgroup_id)
			return &jobs.jobs[i];
	fail_msg("no job %" PRIu64, cgroup_id);
	return NULL;
}

static void assert_busy_one(const struct account_job *j)
{
	const struct account_gpu *g = j->gpus;

	assert_int_equal(j->nr_gpus, 2);
	assert_string_equal(g->bdf, "0009:01:00.0");
	assert_string_equal(g->uuid, "GPU-0a");
	assert_int_equal(g->held_ns, 4 * WORLD_SECOND);
	assert_int_equal(g->alone_ns, 4 * WORLD_SECOND);
	assert_int_equal(g->known_ns, 2 * WORLD_SECOND);
	assert_int_equal(g->idle_ns, 0);
	assert_int_equal(g->busy_ns, WORLD_SECOND);
	assert_int_equal(g->busy_low_ns, WORLD_SECOND / 2);
	assert_int_equal(g->busy_high_ns, WORLD_SECOND + WORLD_SECOND / 4);
	/* once, not for the step and the job */
	assert_int_equal(g->link_ns, 4 * WORLD_SECOND);
	assert_int_equal(g->link[DIRECTION_READ].value, 4000);
	assert_int_equal(g->link[DIRECTION_READ].low, 3996);
	assert_int_equal(g->link[DIRECTION_READ].high, 4008);
	assert_int_equal(g->link[DIRECTION_WRITE].value, 2000);
	assert_int_equal(g->link[DIRECTION_WRITE].low, 1988);
	assert_int_equal(g->link[DIRECTION_WRITE].high, 2016);
	g++;
	/* two instances: held as long as one of them, and busy on both */
	assert_string_equal(g->bdf, "001b:01:00.0");
	assert_string_equal(g->uuid, "");
	assert_int_equal(g->held_ns, 4 * WORLD_SECOND);
	assert_int_equal(g->alone_ns, 0);
	assert_int_equal(g->known_ns, 2 * WORLD_SECOND);
	assert_int_equal(g->busy_ns, 3 * WORLD_SECOND / 4);
	assert_int_equal(g->link_ns, 0);
}

static void assert_idle_one(const struct account_job *j)
{
	assert_int_equal(j->nr_gpus, 1);
	assert_string_equal(j->gpus->bdf, "001b:01:00.0");
	/* Also without a row, when it used no CPU. */
	assert_int_equal(j->gpus->held_ns, 4 * WORLD_SECOND);
	assert_int_equal(j->gpus->known_ns, 2 * WORLD_SECOND);
	assert_int_equal(j->gpus->idle_ns, 2 * WORLD_SECOND);
	assert_int_equal(j->gpus->busy_ns, 0);
	assert_int_equal(j->gpus->busy_high_ns, WORLD_SECOND / 4);
}

/* Bytes of a link are in nothing else of an account. */
static void accounts_have_them(void **state)
{
	(void)state;
	assert_int_equal(jobs.nr, 2);
	assert_busy_one(job(GPU_BUSY));
	assert_idle_one(job(GPU_IDLE));
	assert_int_equal(job(GPU_BUSY)->whole.nr_totals, 3);
	assert_int_equal(job(GPU_BUSY)->whole.totals[0].value, 4 * 3000);
	assert_true(accounts_node(accounts)->counters[5].whole);
	assert_false(accounts_node(accounts)->counters[11].whole);
}

static void the_store_keeps_them(void **state)
{
	struct account_job read = { 0 };
	struct bytes b = { 0 };

	(void)state;
	assert_int_equal(blob_job(&b, job(GPU_BUSY)), 0);
	assert_int_equal(blob_read_job(b.data, b.nr, accounts_node(accounts)->nr_counters, &read),
			 0);
	assert_busy_one(&read);
	account_job_release(&read);
	free(b.data);
}

static char *text_of(const struct account_job *j, bool json, size_t width)
{
	const struct job_context c = { .host = &world_host, .node = accounts_node(accounts) };
	const struct table_options o = { .width = width };
	char *text = NULL;
	size_t len;
	FILE *f = world_must(open_memstream(&text, &len));

	if (json)
		assert_int_equal(job_json_write(f, &c, j), 0);
	else
		assert_int_equal(job_table_write(f, &c, j, &o), 0);
	assert_int_equal(fclose(f), 0);
	return text;
}

static void assert_has(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("not \"%s\" in:\n%s", words, text);
}

static void tables_show_them(void **state)
{
	char *text = text_of(job(GPU_BUSY), false, 120);

	(void)state;
	assert_has(text, "    HELD   ALONE    BUSY         95%  C2C-RD         RANGE  C2C-WR"
			 "         RANGE PCIE-RD\n0009:01:00.0 ");
	assert_has(text, " 4.000 s    100%   50.0%  25.0-62.5% 4.00 kB  3.99-4.01 kB 2.00 kB"
			 "  1.98-2.02 kB 2.80 kB\n");
	assert_has(text, " 4.000 s    0.0%   37.5%  18.8-62.5%       -             -       -"
			 "             -       -\n");
	assert_has(text, "GPUs: HELD");
	assert_null(strstr(text, "idle:"));
	free(text);
	text = text_of(job(GPU_IDLE), false, 80);
	assert_has(text, "held but idle: GPU 001b:01:00.0 did nothing for this job in 2.000 s of "
			 "2.000 s");
	free(text);
}

static void json_has_them(void **state)
{
	char *text = text_of(job(GPU_BUSY), true, 0);

	(void)state;
	assert_has(text,
		   "\"gpus\":[{\"bdf\":\"0009:01:00.0\",\"uuid\":\"GPU-0a\",\"held_ns\":4000000000,"
		   "\"alone_ns\":4000000000,\"known_ns\":2000000000,\"idle_ns\":0,"
		   "\"busy_ns\":1000000000,\"busy_low_ns\":500000000,\"busy_high_ns\":1250000000,"
		   "\"c2c\":{\"duration_ns\":4000000000,"
		   "\"read_bytes\":{\"value\":4000,\"low\":3996,\"high\":4008},"
		   "\"write_bytes\":{\"value\":2000,\"low\":1988,\"high\":2016}},"
		   "\"pcie\":{\"read_bytes\":{\"value\":2800,\"low\":0,\"high\":0}}},"
		   "{\"bdf\":\"001b:01:00.0\",\"uuid\":null,");
	assert_has(text, "\"pcie_read_bytes\":{\"value\":2800,");
	free(text);
}

/* GPUs have no intervals of their own: they are lines of the account as a whole. */
static void csv_has_them(void **state)
{
	const struct account_list none = { 0 };
	const struct job_context c = { .host = &world_host,
				       .node = accounts_node(accounts),
				       .history = &none };
	char *text = NULL;
	size_t len;
	FILE *f = world_must(open_memstream(&text, &len));

	(void)state;
	assert_int_equal(job_csv_write(f, &c, job(GPU_BUSY)), 0);
	assert_int_equal(fclose(f), 0);
	assert_has(text, ",gpu,held_ns,4000000000,,,ns,,0009:01:00.0,");
	assert_has(text, ",gpu,busy_ns,1000000000,500000000,1250000000,ns,,0009:01:00.0,");
	assert_has(text, ",gpu,c2c,4000,3996,4008,bytes,,0009:01:00.0,,read,");
	assert_has(text, ",gpu,c2c,2000,1988,2016,bytes,,0009:01:00.0,,write,");
	assert_has(text, ",gpu,alone_ns,0,,,ns,,001b:01:00.0,");
	assert_has(text, "\n,true,");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accounts_have_them), cmocka_unit_test(the_store_keeps_them),
		cmocka_unit_test(tables_show_them),   cmocka_unit_test(json_has_them),
		cmocka_unit_test(csv_has_them),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
