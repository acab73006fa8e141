// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Accounts of jobs that begin within an interval. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/accounts/accounts.h"
#include "account_world.h"

#define SLURM SCHEDULER_SLURM

static struct accounts *keeper(void)
{
	struct accounts_options o = { .boot = WORLD_BOOT, .schedulers = 1U << SLURM };
	struct accounts *a = NULL;

	assert_int_equal(accounts_new(&o, &a), 0);
	return a;
}

static void interval(struct accounts *a, struct report *r)
{
	assert_int_equal(accounts_interval(a, r), 0);
	report_free(r);
}

static int look(void *arg, const struct account_job *j)
{
	struct account_job *ret = arg;

	if (j->job.cgroup_id == ret->job.cgroup_id)
		*ret = world_copy_job(j);
	return 0;
}

/* The account of a cgroup; to be released */
static struct account_job get(struct accounts *a, uint64_t cgroup)
{
	struct account_job j = { .job.cgroup_id = cgroup };

	assert_int_equal(accounts_each(a, look, &j), 0);
	assert_true(j.key[0]);
	return j;
}

/* Others move 1000 bytes a second all the time; a job begins 700 ms after the last closing. */
static struct report *report_within(uint64_t number, uint64_t begin_ns, uint64_t bytes)
{
	struct report *r = world_report(number);
	struct report_row *row = world_row(r, SLURM, "12", 881, "", false);

	row->job->made = true;
	row->job->begin_ns = begin_ns;
	world_share(r, row, 1, bytes);
	row = world_row(r, SLURM, "12", 881, "0", true);
	row->job->begin_ns = begin_ns ? begin_ns + 1000 : 0;
	world_share(r, row, 1, bytes);
	world_share(r, world_row(r, SLURM, NULL, 0, "", true), 1, 1000);
	world_rest(r, 0, REASON_IDLE, 9);
	world_rest(r, 1, REASON_IDLE, 9);
	return r;
}

/* Duration, rates and what others did are from the begin of a job on, not from the last closing. */
static void test_begins_within(void **state)
{
	const uint64_t late = 7 * WORLD_SECOND / 10, begin = 6 * WORLD_SECOND + late;
	struct accounts *a = keeper();
	struct account_job j;

	(void)state;
	interval(a, world_report(0));
	interval(a, report_within(1, begin, 500));
	j = get(a, 881);
	assert_int_equal(j.whole.start_ns, WORLD_TIME + WORLD_SECOND + late);
	assert_int_equal(j.whole.end_ns, WORLD_TIME + 2 * WORLD_SECOND);
	assert_int_equal(j.covered_ns, WORLD_SECOND - late);
	assert_int_equal(j.others_unknown_ns, WORLD_SECOND - late);
	assert_int_equal(j.intervals, 1);
	assert_false(j.late_start);
	assert_int_equal(j.steps[0].start_ns, j.whole.start_ns + 1000);
	assert_int_equal(j.quality.windows, 100);
	/* its own bytes are all that the account has of the machine, and no other counter is missing */
	assert_int_equal(j.whole.totals[0].value, 500);
	assert_int_equal(j.nr_node, WORLD_COUNTERS);
	assert_int_equal(j.node[0].value, 0);
	assert_int_equal(j.node[1].value, 500);
	assert_int_equal(j.node[1].attributed, 500);
	assert_int_equal(j.node[1].missing, 0);
	assert_int_equal(j.node[1].enabled_ns, WORLD_SECOND - late);
	assert_int_equal(j.node[1].running_ns, WORLD_SECOND - late);
	account_job_release(&j);
	interval(a, report_within(2, begin, 70));
	j = get(a, 881);
	assert_int_equal(j.covered_ns, 2 * WORLD_SECOND - late);
	assert_int_equal(j.others_unknown_ns, WORLD_SECOND - late);
	assert_int_equal(j.intervals, 2);
	assert_int_equal(j.node[1].value, 570 + 1000 + 9);
	assert_int_equal(j.node[1].attributed, 570 + 1000);
	assert_int_equal(j.node[1].unattributed[REASON_IDLE], 9);
	assert_int_equal(j.node[0].value, 9);
	assert_int_equal(j.self.switches, 10000);
	account_job_release(&j);
	/* the machine's totals have everything */
	assert_int_equal(accounts_node(a)->totals[1].value, 500 + 70 + 2 * 1009);
	accounts_free(a);
}

/* It begins and ends between two closings, or its cgroup is made while the books are closed. */
static void test_short_life(void **state)
{
	struct accounts *a = keeper();
	struct report *r;
	struct account_job j;

	(void)state;
	interval(a, world_report(0));
	r = report_within(1, 6 * WORLD_SECOND + 1, 500);
	r->counters[2].valid = false;
	r->rows[0].exited = r->rows[1].exited = true;
	interval(a, r);
	j = get(a, 881);
	assert_int_equal(j.state, ACCOUNT_ENDED);
	assert_int_equal(j.covered_ns, WORLD_SECOND - 1);
	assert_int_equal(j.whole.end_ns - j.whole.start_ns, WORLD_SECOND - 1);
	assert_int_equal(j.intervals, 1);
	assert_int_equal(j.node[1].value, 500);
	assert_int_equal(j.node[2].missing, 1);
	account_job_release(&j);
	r = world_report(2);
	world_row(r, SLURM, "13", 882, "", true);
	r->rows[0].job->made = true;
	r->rows[0].job->begin_ns = r->end_ns + 5;
	interval(a, r);
	interval(a, world_report(3));
	j = get(a, 882);
	assert_int_equal(j.whole.start_ns, WORLD_TIME + 3 * WORLD_SECOND);
	assert_int_equal(j.whole.end_ns - j.whole.start_ns, WORLD_SECOND);
	assert_int_equal(j.covered_ns, WORLD_SECOND);
	assert_int_equal(j.others_unknown_ns, 0);
	account_job_release(&j);
	accounts_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_begins_within),
		cmocka_unit_test(test_short_life),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
