// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fake_perf.h"
#include "platform/bpf/counters.h"
#include "tree.h"

static struct tree tree;
static struct sysfs fs;
static struct pmu_list pmus;

static int find_pmus(void **state)
{
	(void)state;
	tree_make_t410(&tree);
	assert_int_equal(sysfs_open(tree.root, NULL, &fs), 0);
	assert_int_equal(pmu_list_read(&fs, NULL, &pmus), 0);
	return 0;
}

static int forget_pmus(void **state)
{
	(void)state;
	pmu_list_free(&pmus);
	sysfs_close(&fs);
	tree_remove(&tree);
	return 0;
}

/* All PMUs for memory traffic, with room for so many events each. */
static struct fake_pmu *make_kernel(uint32_t room)
{
	struct fake_pmu *last = NULL;

	fake_reset();
	for (size_t i = 0; i < pmus.nr; i++)
		if (counter_rows_have(pmus.pmus[i].kind, COUNTERS_SUMS))
			last = fake_add(pmus.pmus[i].type, room, 0);
	return last;
}

static uint64_t value_of(const struct counters *c, uint32_t event)
{
	return fake.events[c->events[event].fd - FAKE_FD].value;
}

/* New events in the same groups, of this socket alone, and counting from 0. */
static void opened_again(void **state)
{
	struct counters c;
	struct diag d = { 0 };
	uint32_t open, other;
	uint64_t before;

	(void)state;
	make_kernel(100);
	assert_int_equal(counters_open(&fake_kernel, &pmus, COUNTERS_SUMS, &d, &c), 0);
	assert_int_equal(c.nr_sockets, 2);
	assert_true(c.pmus[1].pinned);
	open = fake.open_now;
	other = c.pmus[0].first;
	fake_pass(1000000);
	before = value_of(&c, c.pmus[1].first);
	c.pmus[1].cpu = 3;
	assert_int_equal(counters_reopen(&c, 1), 0);
	assert_int_equal(fake.open_now, open);
	assert_true(c.pmus[1].pinned);
	assert_true(value_of(&c, c.pmus[1].first) < before / 10);
	assert_int_equal(fake.events[c.events[c.pmus[1].first].fd - FAKE_FD].cpu, 3);
	assert_true(value_of(&c, other) >= before);
	fake_pass(1000000);
	for (uint32_t i = 0; i < c.pmus[1].nr; i++)
		assert_true(value_of(&c, c.pmus[1].first + i));
	counters_close(&c);
	assert_int_equal(fake.open_now, 0);
	assert_int_equal(fake.complaints, 0);
}

/* Others hold the counters by now: the group waits for a turn, and gets it when they let go. */
static void others_were_faster(void **state)
{
	struct fake_pmu *last;
	struct counters c;
	struct diag d = { 0 };

	(void)state;
	last = make_kernel(100);
	assert_int_equal(counters_open(&fake_kernel, &pmus, COUNTERS_SUMS, &d, &c), 0);
	last->held = 100;
	assert_int_equal(counters_reopen(&c, 1), 0);
	assert_false(c.pmus[1].pinned);
	fake_pass(1000000);
	assert_int_equal(value_of(&c, c.pmus[1].first), 0);
	last->held = 0;
	fake_schedule();
	fake_pass(1000000);
	assert_true(value_of(&c, c.pmus[1].first));
	counters_close(&c);
	assert_int_equal(fake.open_now, 0);
}

/* What cannot be opened is closed, and a later call does better. */
static void not_now(void **state)
{
	struct counters c;
	struct diag d = { 0 };
	uint32_t open;

	(void)state;
	make_kernel(100);
	assert_int_equal(counters_open(&fake_kernel, &pmus, COUNTERS_SUMS, &d, &c), 0);
	open = fake.open_now;
	fake.fail_open_at = fake.opened + 2;
	fake.fail_open_with = -ENODEV;
	assert_int_equal(counters_reopen(&c, 1), -ENODEV);
	assert_int_equal(fake.open_now, open - c.pmus[1].nr);
	for (uint32_t i = 0; i < c.pmus[1].nr; i++)
		assert_int_equal(c.events[c.pmus[1].first + i].fd, -1);
	assert_int_equal(counters_reopen(&c, 1), 0);
	assert_int_equal(fake.open_now, open);
	counters_close(&c);
	assert_int_equal(fake.open_now, 0);
	assert_int_equal(fake.complaints, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opened_again),
		cmocka_unit_test(others_were_faster),
		cmocka_unit_test(not_now),
	};

	return cmocka_run_group_tests(tests, find_pmus, forget_pmus);
}
