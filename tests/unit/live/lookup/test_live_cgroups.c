// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* When known cgroups are looked at, and which of them are gone: in folders that stand for the trees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "live/lookup/live_cgroups.h"
#include "tree.h"

static struct tree tree;
static struct live_cgroups cgroups;

static void folder(const char *name, char path[PATH_MAX])
{
	tree_path(&tree, name, path);
	assert_true(!mkdir(path, 0755) || !access(path, F_OK));
}

static uint64_t number(const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	folder(name, path);
	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

static int setup(void **state)
{
	(void)state;
	tree_make(&tree);
	cgroups = (struct live_cgroups){ .v1 = { "freezer", cgroup1_number("freezer"), "" } };
	folder("v2", cgroups.mount);
	folder("v1", cgroups.v1.mount);
	tree_put(&tree, "v2/cgroup.procs", "");
	tree_put(&tree, "v1/cgroup.procs", "");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tree_remove(&tree);
	return 0;
}

static void unmount(const char *procs)
{
	char path[PATH_MAX];

	tree_path(&tree, procs, path);
	assert_int_equal(unlink(path), 0);
}

/* Once a minute, and at once when records were lost. */
static void test_when(void **state)
{
	uint64_t now = 7 * NS_PER_S;

	(void)state;
	assert_false(live_cgroups_look(&cgroups, false, now));
	assert_false(live_cgroups_look(&cgroups, false, now + 59 * NS_PER_S));
	assert_true(live_cgroups_look(&cgroups, false, now + 60 * NS_PER_S));
	assert_false(live_cgroups_look(&cgroups, false, now + 61 * NS_PER_S));
	assert_true(live_cgroups_look(&cgroups, true, now + 62 * NS_PER_S));
	assert_false(live_cgroups_look(&cgroups, false, now + 121 * NS_PER_S));
	assert_true(live_cgroups_look(&cgroups, false, now + 122 * NS_PER_S));
	/* an hour in which nobody asked is one look */
	assert_true(live_cgroups_look(&cgroups, false, now + 3722 * NS_PER_S));
	assert_false(live_cgroups_look(&cgroups, false, now + 3723 * NS_PER_S));
}

static void test_gone(void **state)
{
	uint64_t id = number("v2/job_1");
	uint64_t frozen = cgroup1_id(&cgroups.v1, number("v1/job_1"));

	(void)state;
	assert_false(live_cgroups_gone(&cgroups, id, "/job_1"));
	assert_false(live_cgroups_gone(&cgroups, frozen, "freezer:/job_1"));
	assert_true(live_cgroups_gone(&cgroups, id, "/job_2"));
	assert_true(live_cgroups_gone(&cgroups, frozen, "freezer:/job_2"));
	/* another one of this name */
	assert_true(live_cgroups_gone(&cgroups, id + 1, "/job_1"));
	assert_true(live_cgroups_gone(&cgroups, frozen + 1, "freezer:/job_1"));
	/* where nobody can look, nothing is known */
	assert_false(live_cgroups_gone(&cgroups, id, "cpuset:/job_2"));
	assert_false(live_cgroups_gone(&cgroups, id, "job_2"));
}

/* Somebody unmounts a tree: that ends no job, and not the root either. */
static void test_tree_gone(void **state)
{
	(void)state;
	unmount("v2/cgroup.procs");
	assert_false(live_cgroups_gone(&cgroups, 77, "/job_1"));
	assert_false(live_cgroups_gone(&cgroups, 1, "/"));
	assert_true(live_cgroups_gone(&cgroups, 77, "freezer:/job_1"));
	unmount("v1/cgroup.procs");
	assert_false(live_cgroups_gone(&cgroups, 77, "freezer:/job_1"));
	assert_false(live_cgroups_gone(&cgroups, cgroup1_id(&cgroups.v1, 1), "freezer:/"));
	cgroups.mount[0] = '\0';
	assert_false(live_cgroups_gone(&cgroups, 77, "/job_1"));
}

static int count_cgroup(void *arg, const struct trace_event *e)
{
	unsigned int *nr_walks = arg;

	assert_int_equal(e->type, TRACE_CGROUP);
	*nr_walks += !strcmp(e->cgroup.path, "/");
	return 0;
}

/* How many walks through the v2 tree a call makes. */
static unsigned int find(uint64_t now_ns, bool cut, bool unknown)
{
	const struct live_cgroups_news news = { .cut = cut, .unknown = unknown };
	unsigned int nr_walks = 0;
	const struct trace_sink out = { count_cgroup, &nr_walks };

	assert_int_equal(live_cgroups_find(&cgroups, &news, now_ns, &out), 0);
	return nr_walks;
}

#define HOUR_NS	    (3600 * NS_PER_S)
#define INTERVAL_NS (10 * NS_PER_S)

/* Months with a cgroup of a long path once an hour: each has its name with the interval. */
static void test_long_paths(void **state)
{
	uint64_t now = 7 * NS_PER_S;

	(void)state;
	cgroups.v1 = (struct cgroup1){ 0 };
	for (int hour = 0; hour < 24 * 90; hour++, now += HOUR_NS) {
		assert_int_equal(find(now, true, true), 1);
		assert_int_equal(find(now + INTERVAL_NS, false, false), 0);
	}
	/* the same for one whose record nobody missed: it does something, and has no name */
	for (int hour = 0; hour < 24 * 90; hour++, now += HOUR_NS)
		assert_int_equal(find(now, false, true), 1);
}

/* One that never gets a name costs a walk a minute, and does not keep the others waiting. */
static void test_no_name(void **state)
{
	uint64_t now = 7 * NS_PER_S, last, longest = 0, end = now + 24 * HOUR_NS;
	unsigned int walks = 0;

	(void)state;
	cgroups.v1 = (struct cgroup1){ 0 };
	for (last = now; now < end; now += INTERVAL_NS) {
		if (!find(now, false, true))
			continue;
		walks++;
		longest = now - last > longest ? now - last : longest;
		last = now;
	}
	assert_in_range(longest, 50 * NS_PER_S, 60 * NS_PER_S);
	assert_in_range(walks, 24 * 60, 24 * 60 + 10);
	/* right after such a walk */
	while (!find(now, false, true))
		now += INTERVAL_NS;
	last = now;
	assert_int_equal(find(last + NS_PER_S, true, true), 0);
	assert_int_equal(find(last + 10 * NS_PER_S, false, false), 1);
	/* 100 closings a second, each with one more: they do not make it walk all the time */
	for (now = last + 60 * NS_PER_S, walks = 0, end = now + HOUR_NS; now < end;
	     now += NS_PER_S / 100)
		walks += find(now, true, true);
	assert_in_range(walks, 360, 370);
}

/* Lost records: at once, whatever was before. */
static void test_lost(void **state)
{
	const struct live_cgroups_news lost = { .lost = true };
	unsigned int nr_walks = 0;
	const struct trace_sink out = { count_cgroup, &nr_walks };

	(void)state;
	cgroups.v1 = (struct cgroup1){ 0 };
	for (uint64_t i = 1; i <= 5; i++)
		assert_int_equal(live_cgroups_find(&cgroups, &lost, i, &out), 0);
	assert_int_equal(nr_walks, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_when, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tree_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_long_paths, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_name, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lost, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
