// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "engine/identity/internal.h"

static int setup(void **state)
{
	struct identity *id;

	if (identity_new(&id))
		return -1;
	*state = id;
	return 0;
}

static int teardown(void **state)
{
	identity_free(*state);
	return 0;
}

static struct task *add(struct identity *id, uint32_t pid, uint64_t start, uint32_t parent,
			uint64_t parent_start, const char *comm)
{
	struct trace_task n = { .pid = pid,
				.tgid = pid,
				.parent = parent,
				.parent_start_ns = parent_start,
				.start_ns = start,
				.comm = comm };
	struct task *t = NULL;

	assert_int_equal(identity_task(id, &n, &t), 0);
	assert_non_null(t);
	return t;
}

static void children_of_followed_are_followed(void **state)
{
	struct identity *id = *state;
	struct task *child, *early, *other;

	add(id, 10, 100, 1, 1, "shell");
	early = add(id, 11, 110, 10, 100, "early");
	assert_int_equal(identity_follow(id, 10), 1);
	assert_int_equal(identity_follow(id, 99), 0);
	child = add(id, 12, 120, 10, 100, "child");
	other = add(id, 13, 130, 1, 1, "other");
	assert_false(early->followed); /* started before */
	assert_true(child->followed);
	assert_false(other->followed);
	/* grandchildren too, also when the child is gone already */
	identity_exit(id, 12, 120);
	assert_true(add(id, 14, 140, 12, 120, "grandchild")->followed);
	assert_int_equal(identity_followed_alive(id), 2);
}

static void followed_when_it_first_runs(void **state)
{
	struct identity *id = *state;
	uint32_t workload;

	assert_int_equal(identity_await(id, 10), 0);
	assert_int_equal(identity_await(id, 10), 0);
	assert_int_equal(identity_await(id, 20), 0);
	assert_int_equal(identity_followed_alive(id), 2);
	/* Its fork is told before its own time is. */
	assert_true(add(id, 11, 110, 10, 100, "child")->followed);
	assert_false(add(id, 12, 120, 9, 90, "other")->followed);
	assert_int_equal(identity_workload(id, 10, 10, 100, 7, &workload), 0);
	assert_true(identity_get(id, workload)->task->followed);
	assert_int_equal(identity_followed_alive(id), 3);
	/* A list that does not have it is no end. */
	identity_resync(id);
	add(id, 11, 110, 10, 100, "child");
	identity_resync_end(id);
	assert_false(identity_get(id, workload)->task->exited);
	/* Its end is, and the number is somebody else's then. */
	identity_exit(id, 10, 100);
	identity_exit(id, 20, 200);
	assert_int_equal(identity_followed_alive(id), 1);
	assert_false(add(id, 10, 300, 9, 90, "next")->followed);
	assert_int_equal(identity_workload(id, 20, 20, 400, 7, &workload), 0);
	assert_false(identity_get(id, workload)->task->followed);
}

static void a_reused_pid_is_someone_else(void **state)
{
	struct identity *id = *state;
	uint32_t first, second, again;

	add(id, 10, 100, 1, 1, "old");
	assert_int_equal(identity_follow(id, 10), 1);
	identity_exit(id, 10, 100);
	assert_false(add(id, 10, 200, 1, 1, "new")->followed);
	assert_int_equal(identity_workload(id, 10, 10, 100, 7, &first), 0);
	assert_int_equal(identity_workload(id, 10, 10, 200, 7, &second), 0);
	assert_int_equal(identity_workload(id, 10, 10, 100, 7, &again), 0);
	assert_true(first != second);
	assert_int_equal(first, again);
	assert_string_equal(identity_get(id, first)->task->comm, "old");
	assert_string_equal(identity_get(id, second)->task->comm, "new");
}

static void workloads_are_task_and_cgroup(void **state)
{
	struct identity *id = *state;
	uint32_t a, b;

	assert_int_equal(identity_workload(id, 5, 5, 50, 1, &a), 0);
	assert_int_equal(identity_workload(id, 5, 5, 50, 2, &b), 0);
	assert_true(a != b && a > WORKLOAD_LOST && b > WORKLOAD_LOST);
	assert_ptr_equal(identity_get(id, a)->task, identity_get(id, b)->task);
	assert_false(identity_get(id, a)->task->comm_known);
	assert_null(identity_get(id, WORKLOAD_IDLE));
	assert_null(identity_get(id, 1000));
}

static void names_follow_exec(void **state)
{
	struct identity *id = *state;
	struct task *t = add(id, 10, 100, 1, 1, "sh");

	assert_ptr_equal(add(id, 10, 100, 1, 1, "lbm"), t);
	assert_string_equal(t->comm, "lbm");
}

static void selection_covers_what_is_below(void **state)
{
	struct identity *id = *state;

	assert_int_equal(identity_cgroup(id, 1, "/"), 0);
	assert_int_equal(identity_cgroup(id, 2, "/job"), 0);
	assert_int_equal(identity_cgroup(id, 3, "/jobless"), 0);
	assert_int_equal(identity_select(id, "/job"), 0);
	assert_int_equal(identity_cgroup(id, 4, "/job/step"), 0);
	assert_false(identity_cgroup_find(id, 1)->selected);
	assert_true(identity_cgroup_find(id, 2)->selected);
	assert_false(identity_cgroup_find(id, 3)->selected);
	assert_true(identity_cgroup_find(id, 4)->selected);
	/* renamed: it is still what was asked for */
	assert_int_equal(identity_cgroup(id, 4, "/elsewhere"), 0);
	assert_true(identity_cgroup_find(id, 4)->selected);
}

static void removed_cgroups_keep_their_name(void **state)
{
	struct identity *id = *state;

	assert_int_equal(identity_cgroup(id, 8, "/job"), 0);
	identity_cgroup_gone(id, 8);
	assert_string_equal(identity_cgroup_find(id, 8)->path, "/job");
	/* a new cgroup of the same path is another one, and the one that lives */
	assert_int_equal(identity_cgroup(id, 9, "/job"), 0);
	assert_int_equal(identity_cgroup_by_path(id, "/job")->id, 9);
	identity_closed(id);
	assert_non_null(identity_cgroup_find(id, 8));
	for (int i = 0; i < 100; i++)
		identity_closed(id);
	assert_null(identity_cgroup_find(id, 8));
	assert_non_null(identity_cgroup_find(id, 9));
}

/* A million short processes must not fill the memory: numbers are used again. */
static void the_dead_are_forgotten(void **state)
{
	struct identity *id = *state;
	uint32_t w;

	for (uint32_t round = 0; round < 2000; round++) {
		for (uint32_t k = 0; k < 10; k++) {
			uint32_t pid = 100 + round * 10 + k;

			add(id, pid, pid, 1, 1, "short");
			assert_int_equal(identity_workload(id, pid, pid, pid, 1, &w), 0);
			identity_active(id, w);
			identity_exit(id, pid, pid);
		}
		identity_closed(id);
	}
	assert_true(id->nr_ids < 100);
}

/* Those that share a place before the hashes, and what is left there when one is forgotten. */
static void neighbours_are_told_apart(void **state)
{
	const uint32_t pids[] = { 5, 5 + NEAR_WORKLOADS, 5 + 2 * NEAR_WORKLOADS };
	struct identity *id = *state;
	uint32_t first[3], again;

	for (uint32_t round = 0; round < 3; round++)
		for (uint32_t i = 0; i < 3; i++) {
			assert_int_equal(identity_workload(id, pids[i], pids[i], 50, 1, &again), 0);
			if (!round)
				first[i] = again;
			assert_int_equal(again, first[i]);
		}
	assert_true(first[0] != first[1] && first[1] != first[2]);
	/* The same number, started later; and in another cgroup */
	assert_int_equal(identity_workload(id, 5, 5, 60, 1, &again), 0);
	assert_int_not_equal(again, first[0]);
	assert_int_equal(identity_workload(id, 5, 5, 50, 2, &again), 0);
	assert_int_not_equal(again, first[0]);
	/* Only the last one of the place is used from here on; the others are forgotten. */
	for (int i = 0; i < 100; i++) {
		assert_int_equal(identity_workload(id, pids[2], pids[2], 50, 1, &again), 0);
		assert_int_equal(again, first[2]);
		identity_active(id, again);
		identity_closed(id);
	}
	assert_null(identity_get(id, first[0]));
	assert_int_equal(identity_workload(id, 5, 5, 50, 1, &again), 0);
	assert_int_equal(identity_get(id, again)->key.pid, 5);
	for (int i = 0; i < 100; i++)
		identity_closed(id);
	assert_null(identity_get(id, again));
	assert_int_equal(identity_workload(id, 5, 5, 50, 1, &again), 0);
	assert_int_equal(identity_get(id, again)->key.pid, 5);
}

static void near_cgroups_are_told_apart(void **state)
{
	struct identity *id = *state;

	assert_int_equal(identity_cgroup(id, 7, "/one"), 0);
	assert_int_equal(identity_cgroup(id, 7 + NEAR_CGROUPS, "/two"), 0);
	assert_string_equal(identity_cgroup_find(id, 7)->path, "/one");
	assert_string_equal(identity_cgroup_find(id, 7 + NEAR_CGROUPS)->path, "/two");
	assert_null(identity_cgroup_find(id, 7 + 2 * NEAR_CGROUPS));
	identity_cgroup_gone(id, 7 + NEAR_CGROUPS);
	for (int i = 0; i < 100; i++)
		identity_closed(id);
	assert_null(identity_cgroup_find(id, 7 + NEAR_CGROUPS));
	assert_string_equal(identity_cgroup_find(id, 7)->path, "/one");
}

static void the_recent_dead_are_kept(void **state)
{
	struct identity *id = *state;
	uint32_t w;

	add(id, 10, 100, 1, 1, "ended");
	assert_int_equal(identity_workload(id, 10, 10, 100, 1, &w), 0);
	identity_exit(id, 10, 100);
	identity_closed(id);
	assert_string_equal(identity_get(id, w)->task->comm, "ended");
	for (int i = 0; i < 10; i++)
		identity_closed(id);
	assert_null(identity_get(id, w));
}

static void resync_ends_what_is_not_there(void **state)
{
	struct identity *id = *state;
	struct task *gone = add(id, 10, 100, 1, 1, "gone"), *here = add(id, 11, 110, 1, 1, "here");

	identity_resync(id);
	add(id, 11, 110, 1, 1, "here");
	identity_resync_end(id);
	assert_true(gone->exited);
	assert_false(here->exited);
}

static uint64_t kin_of(struct identity *id, uint32_t pid, uint64_t start, uint64_t cgroup,
		       bool *ended)
{
	uint32_t w;

	assert_int_equal(identity_workload(id, pid, pid, start, cgroup, &w), 0);
	return identity_kin(id, w, ended);
}

static void kin_have_name_and_cgroup_in_common(void **state)
{
	struct identity *id = *state;
	uint64_t kin;
	bool ended;

	add(id, 10, 100, 1, 1, "gzip");
	add(id, 11, 110, 1, 1, "gzip");
	add(id, 12, 120, 1, 1, "sh");
	kin = kin_of(id, 10, 100, 7, &ended);
	assert_true(kin != 0);
	assert_false(ended);
	assert_true(kin_of(id, 11, 110, 7, &ended) == kin);
	assert_true(kin_of(id, 11, 110, 8, &ended) != kin);
	assert_true(kin_of(id, 12, 120, 7, &ended) != kin);
	/* another name by exec */
	add(id, 12, 120, 1, 1, "gzip");
	assert_true(kin_of(id, 12, 120, 7, &ended) == kin);
	identity_exit(id, 10, 100);
	assert_true(kin_of(id, 10, 100, 7, &ended) == kin);
	assert_true(ended);
	/* nobody told of its name; there is none; nobody has this number */
	assert_true(kin_of(id, 13, 130, 7, &ended) == 0);
	assert_false(ended);
	assert_true(identity_kin(id, WORKLOAD_IDLE, &ended) == 0);
	assert_true(identity_kin(id, 4711, &ended) == 0);
	assert_false(ended);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(children_of_followed_are_followed),
		TEST(followed_when_it_first_runs),
		TEST(a_reused_pid_is_someone_else),
		TEST(workloads_are_task_and_cgroup),
		TEST(names_follow_exec),
		TEST(selection_covers_what_is_below),
		TEST(removed_cgroups_keep_their_name),
		TEST(the_dead_are_forgotten),
		TEST(neighbours_are_told_apart),
		TEST(near_cgroups_are_told_apart),
		TEST(the_recent_dead_are_kept),
		TEST(resync_ends_what_is_not_there),
		TEST(kin_have_name_and_cgroup_in_common),
	};

	return cmocka_run_group_tests_name("identity", tests, NULL, NULL);
}
