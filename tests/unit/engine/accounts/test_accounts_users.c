// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Accounts of users' own jobs, of which users can make as many as they like. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/accounts/accounts.h"
#include "account_world.h"

#define SLURM SCHEDULER_SLURM

static void interval(struct accounts *a, struct report *r)
{
	assert_int_equal(accounts_interval(a, r), 0);
	report_free(r);
}

static struct report *ends_of(uint64_t number, uint32_t owner, uint64_t first, size_t nr)
{
	struct report *r = world_report(number);

	for (uint64_t k = 0; k < nr; k++) {
		struct report_row *row = world_row(r, SLURM, "1", first + k, "", true);

		row->job->owner = owner;
		row->exited = true;
	}
	return r;
}

static int count_owner(void *arg, const struct account_job *j)
{
	size_t *nr = arg;

	nr[account_key_owner(j->key) != 0]++;
	return 0;
}

/* A user's own jobs are dropped before those of the machine; their key says whose they are. */
static void test_users_are_dropped_first(void **state)
{
	struct accounts_options o = { .boot = WORLD_BOOT, .schedulers = 1U << SLURM };
	struct accounts *a = NULL;
	size_t nr[2] = { 0 };

	(void)state;
	assert_int_equal(accounts_new(&o, &a), 0);
	interval(a, ends_of(0, 0, 1, 1000));
	interval(a, ends_of(1, 1000, 10001, 9000));
	interval(a, world_report(2));
	assert_int_equal(accounts_each(a, count_owner, nr), 0);
	assert_int_equal(nr[false], 1000);
	assert_int_equal(nr[true], ACCOUNTS_MAX_OVER - 1000);
	assert_int_equal(accounts_node(a)->jobs_dropped, 10000 - ACCOUNTS_MAX_OVER);
	accounts_free(a);
}

static void test_key_owner(void **state)
{
	(void)state;
	assert_int_equal(account_key_owner("docker-abc-881-1763740800"), 0);
	assert_int_equal(account_key_owner("docker-abc-881-1763740800-u1000"), 1000);
	assert_int_equal(account_key_owner("docker-abc-881-1-u4294967295"), JOB_OWNER_UNKNOWN);
	/* no number of a user */
	assert_int_equal(account_key_owner("docker-abc-881-1-u4294967296"), 0);
	assert_int_equal(account_key_owner("docker-abc-u12-1"), 0);
	assert_int_equal(account_key_owner("docker-u"), 0);
	assert_int_equal(account_key_owner(""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_users_are_dropped_first),
		cmocka_unit_test(test_key_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
