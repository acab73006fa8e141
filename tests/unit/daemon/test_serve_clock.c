// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* When the wall clock is believed, and when it is again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/serve_clock.h"
#include "tree.h"

#define MINUTE (60 * NS_PER_S)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)
#define NOW    (20000 * DAY)
#define KEEP   (90 * DAY)

/* A machine with its two clocks; what was said last. */
struct machine {
	struct tree tree;
	char store[PATH_MAX];
	const char *boot;
	uint64_t wall_ns;
	uint64_t boot_ns;
	uint64_t keep_ns;
	struct serve_clock clock;
	char why[512];
};

static void start(struct machine *m, uint64_t until_ns)
{
	serve_clock_open(&m->clock, m->store, m->boot, until_ns);
}

static int make(void **state)
{
	static struct machine m;

	m = (struct machine){ .boot = "one", .wall_ns = NOW, .boot_ns = 5 * DAY, .keep_ns = KEEP };
	tree_make(&m.tree);
	tree_path(&m.tree, "accounts.db", m.store);
	tree_put(&m.tree, "accounts.db", "");
	start(&m, 0);
	*state = &m;
	return 0;
}

static int clear(void **state)
{
	struct machine *m = *state;

	tree_remove(&m->tree);
	return 0;
}

/* An interval later, with the wall clock set meanwhile. */
static bool believed(struct machine *m, uint64_t passed_ns, int64_t set_ns)
{
	bool right;

	m->boot_ns += passed_ns;
	m->wall_ns += passed_ns + (uint64_t)set_ns;
	right = serve_clock_check(&m->clock, m->wall_ns, m->boot_ns, m->keep_ns, m->why,
				  sizeof(m->why));
	assert_int_equal(right, !m->clock.wrong);
	assert_int_equal(right, access(m->clock.file, F_OK) != 0);
	return right;
}

static void assert_said(const struct machine *m, const char *text)
{
	if (!strstr(m->why, text))
		fail_msg("\"%s\" is not in \"%s\"", text, m->why);
}

/* Suspended, corrected little by little, or set by less than what matters. */
static void test_believed(void **state)
{
	struct machine *m = *state;

	assert_true(believed(m, 0, 0));
	assert_true(believed(m, 200 * DAY, 0));
	for (int i = 0; i < 1000; i++)
		assert_true(believed(m, DAY, 40 * NS_PER_S));
	assert_true(believed(m, MINUTE, 8 * DAY));
	assert_true(believed(m, MINUTE, -8 * (int64_t)DAY));
}

static void test_set_ahead(void **state)
{
	struct machine *m = *state;

	assert_true(believed(m, 0, 0));
	assert_false(believed(m, 10 * NS_PER_S, 100 * DAY));
	assert_said(m, "100.0 days ahead of the boot clock");
	assert_said(m, m->clock.file);
	/* it does not become right with time, nor by going halfway back */
	assert_false(believed(m, 300 * DAY, 0));
	assert_false(believed(m, 10 * NS_PER_S, -50 * (int64_t)DAY));
	assert_said(m, "50.0 days ahead");
	assert_true(believed(m, 10 * NS_PER_S, -49 * (int64_t)DAY));
	assert_true(believed(m, 10 * NS_PER_S, 0));
}

static void test_set_back(void **state)
{
	struct machine *m = *state;

	assert_true(believed(m, 0, 0));
	assert_false(believed(m, 10 * NS_PER_S, -(int64_t)(NOW - DAY)));
	assert_said(m, "19999.0 days behind the boot clock");
	assert_true(believed(m, 10 * NS_PER_S, NOW - DAY));
}

/* What is far depends on how long anything is kept; without that nothing is. */
static void test_kept_for(void **state)
{
	struct machine *m = *state;

	m->keep_ns = 12 * HOUR;
	assert_true(believed(m, 0, 0));
	assert_true(believed(m, MINUTE, HOUR));
	assert_false(believed(m, MINUTE, 90 * MINUTE));
	assert_said(m, "1.50 hours ahead");
	m->keep_ns = 0;
	assert_true(believed(m, MINUTE, 36500 * DAY));
	m->keep_ns = NS_PER_S;
	assert_true(believed(m, MINUTE, 30 * NS_PER_S));
	assert_false(believed(m, MINUTE, 2 * MINUTE));
}

/* Is the clock believed after a stop, by itself? */
static bool after_stop(struct machine *m, uint64_t keep_ns, int64_t later_ns)
{
	bool right;

	m->keep_ns = keep_ns;
	start(m, m->wall_ns - (uint64_t)later_ns);
	right = believed(m, 0, 0);
	if (!right)
		assert_int_equal(unlink(m->clock.file), 0);
	return right;
}

static void test_stop(void **state)
{
	struct machine *m = *state;

	assert_true(after_stop(m, KEEP, 22 * DAY));
	assert_false(after_stop(m, KEEP, 100 * DAY));
	assert_said(m, "100.0 days ahead of the last interval in the accounts");
	assert_true(after_stop(m, KEEP, -8 * (int64_t)DAY));
	assert_false(after_stop(m, KEEP, -10 * (int64_t)DAY));
	assert_said(m, "10.0 days behind");
	assert_true(after_stop(m, 12 * HOUR, 13 * HOUR));
	assert_false(after_stop(m, 12 * HOUR, 25 * HOUR));
}

/* It starts with the time of the epoch and is set soon: a stop of some days, as it turns out. */
static void test_late_set(void **state)
{
	struct machine *m = *state;

	m->wall_ns = DAY;
	start(m, NOW);
	assert_false(believed(m, 0, 0));
	assert_true(believed(m, 10 * NS_PER_S, NOW + 2 * DAY));
	/* and from here on the boot clock counts */
	assert_false(believed(m, 10 * NS_PER_S, 10 * DAY));
}

/* A restart does not make it right, though the store has the wrong time by then. */
static void test_restart(void **state)
{
	struct machine *m = *state;

	assert_true(believed(m, 0, 0));
	assert_false(believed(m, 10 * NS_PER_S, 10 * DAY));
	start(m, m->wall_ns);
	assert_false(believed(m, 30 * DAY, 0));
	assert_said(m, "10.0 days ahead of the boot clock");
	/* nobody knows how long another boot took */
	m->boot = "two";
	m->boot_ns = MINUTE;
	start(m, m->wall_ns);
	assert_false(believed(m, 10 * NS_PER_S, 0));
	assert_said(m, "40.0 days ahead of the last interval");
	start(m, m->wall_ns);
	assert_true(believed(m, 10 * NS_PER_S, -20 * (int64_t)DAY));
	start(m, m->wall_ns);
	assert_true(believed(m, 10 * NS_PER_S, 0));
}

static void test_removed(void **state)
{
	struct machine *m = *state;

	assert_true(believed(m, 0, 0));
	assert_false(believed(m, 10 * NS_PER_S, 100 * DAY));
	assert_int_equal(unlink(m->clock.file), 0);
	assert_true(believed(m, 10 * NS_PER_S, 0));
	assert_false(believed(m, 10 * NS_PER_S, -100 * (int64_t)DAY));
}

/* Accounts that are removed, and written anew, take nothing but the file along. */
static void test_removed_with_store(void **state)
{
	struct machine *m = *state;

	assert_true(believed(m, 0, 0));
	assert_false(believed(m, 10 * NS_PER_S, 100 * DAY));
	tree_drop(&m->tree, "accounts.db");
	assert_int_equal(unlink(m->clock.file), 0);
	assert_false(believed(m, 10 * NS_PER_S, 0));
	tree_put(&m->tree, "accounts.db", "");
	assert_false(believed(m, 10 * NS_PER_S, 0));
	assert_int_equal(unlink(m->clock.file), 0);
	assert_true(believed(m, 10 * NS_PER_S, 0));
}

/* What is in the file says nothing: the store does. */
static void test_no_content(void **state)
{
	struct machine *m = *state;
	FILE *f = fopen(m->clock.file, "w");

	assert_non_null(f);
	fclose(f);
	start(m, m->wall_ns - 100 * DAY);
	assert_true(m->clock.wrong);
	assert_false(believed(m, 0, 0));
	assert_true(believed(m, 0, -99 * (int64_t)DAY));
}

/* Without the file it is as wrong, and the file is made as soon as it can be. */
static void test_no_file(void **state)
{
	struct machine *m = *state;
	char good[sizeof(m->clock.file)];

	memcpy(good, m->clock.file, sizeof(good));
	assert_true(believed(m, 0, 0));
	snprintf(m->clock.file, sizeof(m->clock.file), "%s/nowhere/clock", m->tree.root);
	assert_false(serve_clock_check(&m->clock, m->wall_ns + 100 * DAY, m->boot_ns, KEEP, m->why,
				       sizeof(m->why)));
	assert_said(m, "cannot be written: No such file or directory");
	assert_false(serve_clock_check(&m->clock, m->wall_ns + 100 * DAY, m->boot_ns, KEEP, m->why,
				       sizeof(m->why)));
	memcpy(m->clock.file, good, sizeof(good));
	assert_false(believed(m, 10 * NS_PER_S, 100 * DAY));
	assert_said(m, "is removed because the clock is right");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clear)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_believed),
		TEST(test_set_ahead),
		TEST(test_set_back),
		TEST(test_kept_for),
		TEST(test_stop),
		TEST(test_late_set),
		TEST(test_restart),
		TEST(test_removed),
		TEST(test_no_content),
		TEST(test_no_file),
		TEST(test_removed_with_store),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
