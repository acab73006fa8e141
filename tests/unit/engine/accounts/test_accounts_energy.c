// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Accounts of what is no bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "account_world.h"
#include "engine/accounts/accounts.h"

/* Energy has an account, in its own unit, to the nanojoule, and is in no sum of bytes. */
static void test_energy(void **state)
{
	struct accounts_options o = { .boot = WORLD_BOOT, .schedulers = ~0u };
	struct accounts *a = NULL;
	const struct accounts_node *n;
	struct account_list list = { 0 };
	const struct account_job *j;

	(void)state;
	assert_int_equal(accounts_new(&o, &a), 0);
	for (uint64_t i = 0; i < 3; i++) {
		struct report *r = world_report(i);
		struct report_row *row;

		/* Before, the same name was one of bytes: another counter. */
		if (i)
			world_with_energy(r);
		row = world_row(r, SCHEDULER_SLURM, "12", 881, "", true);
		world_share(r, row, 0, 1000);
		world_share(r, row, 3, 15000000001 + i);
		world_rest(r, 3, REASON_IDLE, 7);
		assert_int_equal(accounts_interval(a, r), 0);
		report_free(r);
	}
	n = accounts_node(a);
	assert_int_equal(n->nr_counters, WORLD_COUNTERS + 2);
	for (uint32_t i = WORLD_COUNTERS; i < WORLD_COUNTERS + 2; i++) {
		assert_int_equal(n->counters[i].unit, UNIT_NANOJOULES);
		assert_false(n->counters[i].whole);
	}
	assert_int_equal(n->totals[WORLD_COUNTERS].value, 30000000005 + 14);
	assert_int_equal(n->totals[WORLD_COUNTERS].attributed, 30000000005);
	assert_int_equal(n->totals[WORLD_COUNTERS].unattributed[REASON_IDLE], 14);
	assert_int_equal(accounts_each(a, account_list_add, &list), 0);
	assert_int_equal(list.nr, 1);
	j = &list.jobs[0];
	assert_int_equal(j->whole.totals[1].value, 15000000001);
	assert_int_equal(j->whole.totals[2].counter, WORLD_COUNTERS);
	assert_int_equal(j->whole.totals[2].value, 30000000005);
	account_list_release(&list);
	accounts_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_energy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
