// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* When jobs are asked for their names, and how often: on a clock of ours. */
#include "events.h"

#include <errno.h>

#include "live/lookup/live_jobs.h"

#define MS 1000000ull
#define S  (1000 * MS)

/* One answer for all jobs, and who was asked for it. */
static struct {
	uint64_t now;
	uint64_t takes_ns; /* to ask one */
	int answer;
	struct job_env env;
	size_t asked;
	char folder[PATH_MAX];
} world;

static uint64_t now(void)
{
	return world.now;
}

static int ask(enum scheduler s, const char *folder, const char *host, struct job_env *ret)
{
	assert_string_equal(host, "node7");
	assert_true(s == SCHEDULER_SLURM || s == SCHEDULER_KUBERNETES);
	world.asked++;
	world.now += world.takes_ns;
	snprintf(world.folder, sizeof(world.folder), "%s", folder);
	*ret = world.env;
	return world.answer;
}

static struct live_cgroups cgroups = {
	.mount = "/v2",
	.v1 = { "freezer", 1, "/v1/freezer" },
};
static struct live_jobs *jobs;
static struct trace_sink in, out;
static struct event_log told;

static int setup(void **state)
{
	static const struct live_jobs_source source = { ask, now };

	(void)state;
	memset(&world, 0, sizeof(world));
	world.now = 5 * S;
	world.env = (struct job_env){ .name = "fluid", .user = "alice" };
	told = (struct event_log){ 0 };
	out = log_sink(&told);
	if (live_jobs_new(&cgroups, NULL, "node7", &source, &jobs))
		return -1;
	in = live_jobs_sink(jobs);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	live_jobs_free(jobs);
	free(told.text);
	return 0;
}

static void step(void)
{
	assert_int_equal(live_jobs_step(jobs, &out), 0);
}

static void cgroup(uint64_t id, const char *path)
{
	assert_int_equal(trace_send_cgroup(&in, id, path), 0);
}

static void assert_told(const char *want)
{
	assert_string_equal(told.text ? told.text : "", want);
}

static void test_asked_at_once(void **state)
{
	(void)state;
	assert_true(live_jobs_next_ns(jobs) == UINT64_MAX);
	cgroup(7, "/system.slice/slurmstepd.scope/job_3");
	assert_true(live_jobs_next_ns(jobs) <= world.now);
	step();
	assert_told("job 7 [(null)] [fluid] [alice]\n");
	assert_string_equal(world.folder, "/v2/system.slice/slurmstepd.scope/job_3");
	world.now += 60 * S;
	step();
	assert_int_equal(world.asked, 1);
	assert_true(live_jobs_next_ns(jobs) == UINT64_MAX);
}

static void test_who_is_asked(void **state)
{
	(void)state;
	/* steps are part of their job; units know no more than their name; others are no jobs */
	cgroup(1, "/");
	cgroup(2, "/system.slice");
	cgroup(3, "/system.slice/ssh.service");
	cgroup(4, "/system.slice/slurmstepd.scope/job_3/step_0");
	cgroup(5, "/system.slice/slurmstepd.scope/job_3/step_0/user");
	step();
	assert_int_equal(world.asked, 0);
	/* a hierarchy that is not looked at */
	cgroup(6, "cpuset:/slurm/uid_0/job_4");
	step();
	assert_int_equal(world.asked, 0);
	cgroup((1ull << TRACE_HIERARCHY_SHIFT) + 6, "freezer:/slurm/uid_0/job_4");
	step();
	assert_int_equal(world.asked, 1);
	assert_string_equal(world.folder, "/v1/freezer/slurm/uid_0/job_4");
	assert_told("job 281474976710662 [(null)] [fluid] [alice]\n");
}

/* Whose own containers are not believed is not asked about them: not one of thousands that they make. */
static void test_not_believed(void **state)
{
	static const struct live_jobs_source source = { ask, now };
	static const struct job_users users = { .nr = 1, .uids = { 500 } };
	char path[256];

	live_jobs_free(jobs);
	assert_int_equal(live_jobs_new(&cgroups, &users, "node7", &source, &jobs), 0);
	in = live_jobs_sink(jobs);
	for (int uid = 500; uid <= 501; uid++) {
		snprintf(path, sizeof(path),
			 "/user.slice/user-%d.slice/user@%d.service/kubepods/pod%032d", uid, uid,
			 7);
		cgroup(uid, path);
	}
	(void)state;
	step();
	assert_told("job 500 [(null)] [fluid] [alice]\n");
}

static void test_asked_again(void **state)
{
	uint64_t first = world.now, next;

	(void)state;
	world.answer = -ESRCH;
	cgroup(7, "/system.slice/slurmstepd.scope/job_3");
	step();
	/* with growing pauses, and not for ever */
	for (next = live_jobs_next_ns(jobs); next != UINT64_MAX; next = live_jobs_next_ns(jobs)) {
		assert_true(next > world.now);
		world.now = next - 1;
		step();
		world.now = next;
		step();
	}
	assert_in_range(world.asked, 8, 20);
	assert_in_range(world.now - first, 10 * S, 60 * S);
	assert_told("");
	/* found by a walk through the tree, it has another chance */
	world.answer = 0;
	cgroup(7, "/system.slice/slurmstepd.scope/job_3");
	step();
	assert_told("job 7 [(null)] [fluid] [alice]\n");
}

static void test_number_first(void **state)
{
	(void)state;
	/* slurmstepd says its number; who could know the name is not there yet */
	world.answer = -EAGAIN;
	world.env = (struct job_env){ .id = "77" };
	cgroup(7, "/system.slice/slurmstepd.scope/s4WEM9Y8PT4800");
	step();
	world.now += 20 * MS;
	step();
	assert_told("job 7 [77] [(null)] [(null)]\n");
	world.answer = 0;
	world.env = (struct job_env){ .id = "78", .name = "fluid" };
	world.now += 100 * MS;
	step();
	/* a number is said once */
	assert_told("job 7 [77] [(null)] [(null)]\njob 7 [(null)] [fluid] [(null)]\n");
	assert_true(live_jobs_next_ns(jobs) == UINT64_MAX);
}

/* The number of a task of an array comes with what it is called there. */
static void test_array(void **state)
{
	bool asked;

	(void)state;
	world.env = (struct job_env){ .id = "14", .array = "12_3", .name = "fluid" };
	cgroup(7, "/system.slice/slurmstepd.scope/job_14");
	cgroup(8, "/system.slice/slurmstepd.scope/s4WEM9Y8PT4800");
	/* at once, without waiting for their turn */
	for (int i = 0; i < 3; i++) {
		assert_int_equal(live_jobs_first(jobs, &out, &asked), 0);
		assert_int_equal(asked, i < 2);
	}
	assert_told("job 7 [14 12_3] [fluid] [(null)]\njob 8 [14 12_3] [fluid] [(null)]\n");
	assert_true(live_jobs_next_ns(jobs) < UINT64_MAX);
}

static void test_array_of_another_job(void **state)
{
	(void)state;
	world.answer = -EAGAIN;
	world.env = (struct job_env){ .id = "77" };
	cgroup(7, "/system.slice/slurmstepd.scope/s4WEM9Y8PT4800");
	step();
	world.answer = 0;
	world.env = (struct job_env){ .id = "78", .array = "12_3", .name = "fluid" };
	world.now += 100 * MS;
	step();
	assert_told("job 7 [77] [(null)] [(null)]\njob 7 [(null)] [fluid] [(null)]\n");
}

static void test_number_is_needed(void **state)
{
	(void)state;
	world.env = (struct job_env){ .name = "fluid" };
	cgroup(7, "/system.slice/slurmstepd.scope/s4WEM9Y8PT4800");
	step();
	assert_told("job 7 [(null)] [fluid] [(null)]\n");
	world.env.id[0] = '9';
	world.now += S;
	step();
	assert_told("job 7 [(null)] [fluid] [(null)]\njob 7 [9] [fluid] [(null)]\n");
}

/* The number in the path is the scheduler's. */
static void test_of_another_job(void **state)
{
	(void)state;
	strcpy(world.env.id, "4");
	cgroup(7, "/system.slice/slurmstepd.scope/job_3");
	step();
	assert_told("");
	strcpy(world.env.id, "3");
	world.now += S;
	step();
	assert_told("job 7 [(null)] [fluid] [alice]\n");
}

static void test_gone(void **state)
{
	(void)state;
	world.answer = -ESRCH;
	cgroup(7, "/system.slice/slurmstepd.scope/job_3");
	step();
	cgroup(7, NULL);
	cgroup(8, NULL);
	world.now += S;
	step();
	assert_int_equal(world.asked, 1);
	assert_true(live_jobs_next_ns(jobs) == UINT64_MAX);
}

/* Many jobs at once: some milliseconds at a time, and all have their turn. */
static void test_bounded(void **state)
{
	char path[128];
	uint64_t before, busy = 0, first = world.now;
	size_t was;

	(void)state;
	world.takes_ns = MS / 10;
	for (int i = 1; i <= 1000; i++) {
		snprintf(path, sizeof(path), "/system.slice/slurmstepd.scope/job_%d", i);
		cgroup(i, path);
	}
	while (told.events < 1000) {
		assert_true(live_jobs_next_ns(jobs) < UINT64_MAX);
		if (live_jobs_next_ns(jobs) > world.now)
			world.now = live_jobs_next_ns(jobs);
		before = world.now;
		was = world.asked;
		step();
		assert_in_range(world.now - before, 0, 3 * MS);
		assert_true(world.asked > was || world.now == before);
		busy += world.now - before;
	}
	assert_int_equal(world.asked, 1000);
	assert_in_range((world.now - first) / busy, 5, 20);
	/* memory, too: others are left without names */
	world.answer = -ESRCH;
	world.takes_ns = 0;
	for (int i = 1; i <= 20000; i++) {
		snprintf(path, sizeof(path), "/system.slice/slurmstepd.scope/job_%d", i);
		cgroup(i, path);
	}
	world.asked = 0;
	world.now += S;
	step();
	assert_in_range(world.asked, 1000, 5000);
}

/* A record of one cgroup woke us; those of others made with it are in the ring a little later. */
static void test_looks_again(void **state)
{
	(void)state;
	cgroup(2, "/system.slice");
	assert_in_range(live_jobs_next_ns(jobs) - world.now, MS, 20 * MS);
	world.now = live_jobs_next_ns(jobs);
	step();
	assert_true(live_jobs_next_ns(jobs) == UINT64_MAX);
	assert_int_equal(world.asked, 0);
}

static void test_refused(void **state)
{
	(void)state;
	told.answer = -ENOSPC;
	cgroup(7, "/system.slice/slurmstepd.scope/job_3");
	assert_int_equal(live_jobs_step(jobs, &out), -ENOSPC);
	/* somebody who does not care */
	told.answer = 0;
	cgroup(8, "/system.slice/slurmstepd.scope/job_4");
	step();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_asked_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_who_is_asked, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_believed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_asked_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_number_first, setup, teardown),
		cmocka_unit_test_setup_teardown(test_array, setup, teardown),
		cmocka_unit_test_setup_teardown(test_array_of_another_job, setup, teardown),
		cmocka_unit_test_setup_teardown(test_number_is_needed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_of_another_job, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_looks_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
