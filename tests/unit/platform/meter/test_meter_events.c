// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "meter_world.h"
#include "skip.h"
#include "valgrind.h"

static void test_refused(void **state)
{
	struct meter_options o = { .budget = 0.005, .turn_ns = 100 * MS };
	struct meter *m = NULL, *none = NULL;
	struct diag d = { 0 };

	(void)state;
	add(cmem, 0, 0, 0);
	add(cmem, 3, 0, 0);
	add(ucf, 3, 0, 0);
	add(ucf, 4, 0, 0);
	fake.refuse_config = 3;
	fake.refuse_with = -ENOENT;
	m = open_meter(0.005);
	assert_int_equal(meter_refused(m, 0), 0);
	assert_int_equal(meter_refused(m, 1), -ENOENT);
	assert_int_equal(meter_refused(m, 2), -ENOENT);
	assert_int_equal(meter_refused(m, 3), 0);
	run(m, 100 * MS, 10 * MS);
	assert_int_equal(sum_of(1).enabled_ns, 0);
	assert_true(sum_of(3).running_ns > 80 * MS);
	meter_close(m);

	wants[0] = wants[1];
	wants[3] = wants[2];
	assert_int_equal(meter_open_with(&list, &fs, &o, &fake_kernel, &d, &none), -ENODEV);
	assert_non_null(strstr(d.what, wants[0].name));
	fake.refuse_with = -EACCES;
	assert_int_equal(meter_open_with(&list, &fs, &o, &fake_kernel, &d, &none), -EACCES);
	assert_non_null(strstr(d.help, "perf_event_paranoid"));
	list.nr = 0;
	assert_int_equal(meter_open_with(&list, &fs, &o, &fake_kernel, &d, &none), -ENODEV);
	assert_null(none);
}

static void test_unusable_pmu(void **state)
{
	struct pmu broken = *ucf;
	struct meter *m;

	(void)state;
	broken.usable = false;
	for (uint32_t i = 0; i < 9; i++)
		add(&broken, i, 0, 0);
	add(pcie, 0, 0, 0);
	m = open_meter(0.005);
	assert_int_equal(meter_refused(m, 0), -ENODEV);
	assert_int_equal(meter_refused(m, 9), 0);
	assert_int_equal(meter_pmu(m, 8), 0);
	assert_int_equal(meter_pmu(m, 9), 1);
	run(m, 50 * MS, 10 * MS);
	assert_true(sum_of(9).value > 0);
	assert_int_equal(sum_of(0).enabled_ns, 0);
	meter_close(m);
}

/* Each PMU has its own number of counters. */
static void test_room_of_each(void **state)
{
	struct meter *m;

	(void)state;
	for (uint32_t i = 0; i < 8; i++)
		add(ucf, i, 0, 0);
	for (uint32_t i = 0; i < 8; i++)
		add(tgt, i & 3, (uint64_t)(i >> 2), 0);
	add(cmem, 0, 0, 0);
	m = open_meter(0.005);
	assert_int_equal(cost_of(m, 0).sets, 2);
	assert_int_equal(cost_of(m, 8).sets, 1);
	assert_int_equal(cost_of(m, 16).sets, 1);
	meter_close(m);
}

/* What one PMU cannot say because of others' requester id, another of its kind does. */
static void test_room_of_a_busy_pmu(void **state)
{
	const struct pmu *other = pmu_find(&pmus, PMU_PCIE, 0, 1);
	struct meter *m;

	(void)state;
	fake_add(other->type, 4, 1)->has_setting = true;
	on_pcie->busy_setting = FAKE_BDF_EN | 0xc10000;
	for (uint32_t i = 0; i < 3; i++) {
		add(pcie, i, FAKE_BDF_EN | 0xa10000, 0)->set = 1;
		wants[i].asked = true;
	}
	for (uint32_t i = 0; i < 5; i++)
		add(other, i, 0, 0);
	m = open_meter(0.005);
	assert_int_equal(cost_of(m, 0).sets, 1);
	on_pcie->busy_setting = 0;
	run(m, 11000 * MS, 500 * MS);
	assert_true(sum_of(2).running_ns > 0);
	assert_true(sum_of(2).running_ns < sum_of(2).enabled_ns);
	meter_close(m);
}

static void test_too_large_a_set(void **state)
{
	struct meter_options o = { .budget = 0.005, .turn_ns = 100 * MS };
	struct meter *none = NULL;
	struct diag d = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		add(ucf, i, 0, 0)->set = 1;
		wants[i].asked = true;
	}
	assert_int_equal(meter_open_with(&list, &fs, &o, &fake_kernel, &d, &none), -E2BIG);
	assert_non_null(strstr(d.what, wants[4].name));
	assert_null(none);
}

/* Out of files, whenever that happens: an error while opening, absent events later. */
static void test_no_files_left(void **state)
{
	struct meter_options o = { .budget = 0.005, .turn_ns = 100 * MS };
	uint32_t at, good = 0;

	for (at = 1; !good; at++) {
		struct meter *m = NULL;
		struct diag d = { 0 };
		int err;

		start(state);
		for (uint32_t i = 0; i < 9; i++)
			add(ucf, i, 0, 0);
		add(ucf, FAKE_CYCLES, 0, 0);
		add(cmem, 0, 0, 0);
		add(NULL, PERF_COUNT_SW_PAGE_FAULTS, 0, 0);
		fake_add(PERF_TYPE_SOFTWARE, 1000, 0);
		o.pid = getpid();
		fake.fail_open_at = at;
		fake.fail_open_with = -EMFILE;
		err = meter_open_with(&list, &fs, &o, &fake_kernel, &d, &m);
		if (err) {
			assert_int_equal(err, -EMFILE);
			assert_non_null(strstr(d.help, "ulimit"));
			assert_int_equal(fake.open_now, 0);
			continue;
		}
		good = at;
		run(m, 1000 * MS, 100 * MS);
		check_segments();
		meter_close(m);
		assert_int_equal(fake.open_now, 0);
	}
	assert_true(good > 20);
}

static void test_sink_error(void **state)
{
	struct meter *m;
	struct diag d = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 8; i++)
		add(ucf, i, 0, 0);
	m = open_meter(0.005);
	fake_pass(200 * MS);
	sink_error = -ENOSPC;
	assert_int_equal(meter_step(m, fake.now, &sink, &d), -ENOSPC);
	assert_true(d.what[0]);
	assert_int_equal(meter_read(m, false, &sink, &d), -ENOSPC);
	meter_close(m);
}

static void test_limit_of_files(void **state)
{
	struct rlimit was, now;
	struct meter *m;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	now = was;
	now.rlim_cur = 64;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
	add(ucf, 0, 0, 0);
	m = open_meter(0.005);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &now), 0);
	assert_true(now.rlim_cur > 64);
	meter_close(m);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &now), 0);
	assert_int_equal(now.rlim_cur, 64);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
}

/* --- the kernel of this machine: it has software events, where they are allowed */

#define PAGES 700
#define PAGE  4096

static void touch_pages(void)
{
	char *at = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);

	if (at == MAP_FAILED)
		_exit(1);
	madvise(at, PAGES * PAGE, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		at[i * PAGE] = 1;
	munmap(at, PAGES * PAGE);
}

/*
 * A child that touches pages and writes to @ready. At a byte from @go it touches them again, and lets a
 * child of its own do the same.
 */
static pid_t child_with_pages(int go, int ready, bool exec)
{
	pid_t pid = fork();
	char byte;

	assert_true(pid >= 0);
	if (pid)
		return pid;
	touch_pages();
	if (write(ready, "", 1) != 1 || read(go, &byte, 1) != 1)
		_exit(1);
	if (exec) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	touch_pages();
	pid = fork();
	if (!pid) {
		touch_pages();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	_exit(0);
}

static void count_child(bool exec)
{
	struct meter_options o = { .enable_on_exec = exec };
	struct sysfs real;
	struct meter *m = NULL;
	struct diag d = { 0 };
	int go[2], ready[2], status, err;
	pid_t pid;
	char byte;

	add(NULL, PERF_COUNT_SW_PAGE_FAULTS, 0, 0)->set = 1;
	add(NULL, PERF_COUNT_SW_TASK_CLOCK, 0, 0)->set = 1;
	add(NULL, PERF_COUNT_SW_CONTEXT_SWITCHES, 0, 0);
	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(sysfs_open(NULL, &d, &real), 0);
	pid = child_with_pages(go[0], ready[1], exec);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	o.pid = pid;
	err = meter_open(&list, &real, &o, &d, &m);
	assert_true(!err || err == -EACCES || err == -ENODEV);
	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(go[0]);
	close(go[1]);
	close(ready[0]);
	close(ready[1]);
	sysfs_close(&real);
	if (err)
		skip_because("this kernel or user may count no software events");
	assert_int_equal(meter_read(m, true, &sink, &d), 0);
	assert_int_equal(nr_seen, 1);
	assert_int_equal(seen[0].nr, 3);
	/* Before exec nothing counts; afterwards the pages of both, and few others. */
	if (exec)
		assert_in_range(sum_of(0).value, 10, PAGES - 1);
	else
		assert_in_range(sum_of(0).value, 2 * PAGES,
				under_valgrind(20 * PAGES, 3 * PAGES - 1));
	assert_true(sum_of(1).value > 0);
	assert_true(sum_of(1).running_ns > 0);
	assert_true(sum_of(1).enabled_ns == sum_of(1).running_ns);
	assert_int_equal(cost_of(m, 0).failed, 0);
	meter_close(m);
}

static void test_child_is_counted(void **state)
{
	(void)state;
	count_child(false);
}

static void test_child_from_exec_on(void **state)
{
	(void)state;
	count_child(true);
}

static void test_all_cpus(void **state)
{
	struct meter_options o = { 0 };
	long nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct sysfs real;
	struct meter *m = NULL;
	struct diag d = { 0 };
	int err;

	(void)state;
	add(NULL, PERF_COUNT_SW_CPU_CLOCK, 0, 0);
	add(NULL, PERF_COUNT_SW_PAGE_FAULTS, 0, 0);
	assert_int_equal(sysfs_open(NULL, &d, &real), 0);
	err = meter_open(&list, &real, &o, &d, &m);
	sysfs_close(&real);
	assert_true(!err || err == -EACCES || err == -ENODEV);
	if (err)
		skip_because("this kernel or user may count no software events");
	touch_pages();
	assert_int_equal(meter_read(m, true, &sink, &d), 0);
	assert_int_equal(nr_seen, 1);
	assert_true(sum_of(1).value >= PAGES);
	/* Sums over the CPUs */
	assert_true(sum_of(0).enabled_ns >= (uint64_t)nr_cpus * 1000);
	assert_true(sum_of(0).running_ns == sum_of(0).enabled_ns);
	meter_close(m);
}

/* An event of cores on the fake, beside PMUs: numbers, sets, and one that does not fit. */
static void test_cores_beside_pmus(void **state)
{
	struct meter_options o = { .budget = 0.005, .turn_ns = 100 * MS, .pid = getpid() };
	struct meter *m = NULL;

	(void)state;
	fake_add(PERF_TYPE_SOFTWARE, 2, 0);
	o.enable_on_exec = true;
	add(ucf, 0, 0, 0);
	for (uint32_t i = 0; i < 3; i++)
		add(NULL, i, 0, 0)->set = 1;
	add(pcie, 0, 0, 0);
	assert_int_equal(meter_open_with(&list, &fs, &o, &fake_kernel, NULL, &m), 0);
	assert_int_equal(meter_pmu(m, 0), 0);
	assert_int_equal(meter_pmu(m, 1), 1);
	assert_int_equal(meter_pmu(m, 3), 1);
	assert_int_equal(meter_pmu(m, 4), 2);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(meter_refused(m, i), 0);
	/* Two in one group, the third leads its own; all wait for exec. */
	assert_true(open_event(&wants[1])->attr.enable_on_exec);
	assert_false(open_event(&wants[2])->attr.enable_on_exec);
	assert_true(open_event(&wants[3])->attr.enable_on_exec);
	assert_true(open_event(&wants[2])->attr.inherit);
	assert_false(open_event(&wants[1])->enabled);
	run(m, 100 * MS, 50 * MS);
	assert_true(sum_of(0).value > 0 && sum_of(4).value > 0);
	assert_int_equal(sum_of(1).value, 0);
	assert_true(cost_of(m, 1).readings > 0);
	meter_close(m);
	/* Sets that follow each other are groups of their own, and hardware leads. */
	wants[1].set = wants[3].set = 2;
	wants[2].set = 3;
	wants[3].type = ucf->type;
	fake.pmus[fake.nr_pmus - 1].events = 10;
	assert_int_equal(meter_open_with(&list, &fs, &o, &fake_kernel, NULL, &m), 0);
	assert_true(open_event(&wants[3])->attr.disabled);
	assert_true(open_event(&wants[2])->attr.disabled);
	meter_close(m);
}

/* The first place is gone: the event counts at the others, and is refused where all are. */
static void test_first_place_is_gone(void **state)
{
	struct meter *m;

	(void)state;
	fake_add(PERF_TYPE_SOFTWARE, 10, 0);
	add(ucf, 0, 0, 0);
	add(NULL, PERF_COUNT_SW_PAGE_FAULTS, 0, 0);
	fake.cpu_gone = 1;
	tree_put(&tree, "devices/system/cpu/online", "1-3\n");
	m = open_meter(0.005);
	assert_int_equal(meter_refused(m, 1), 0);
	run(m, 10 * MS, 5 * MS);
	assert_true(sum_of(1).value > 0);
	meter_close(m);
	tree_put(&tree, "devices/system/cpu/online", "1\n");
	m = open_meter(0.005);
	assert_int_equal(meter_refused(m, 1), -ENODEV);
	meter_close(m);
}

static const struct fake_event *event_on(int cpu)
{
	for (size_t i = 0; i < FAKE_MAX; i++)
		if (fake.events[i].used && fake.events[i].attr.type == PERF_TYPE_SOFTWARE &&
		    fake.events[i].cpu == cpu)
			return &fake.events[i];
	return NULL;
}

/* The meter counts page faults on CPUs 1 and 2; the first interval of a second has all of both. */
static struct meter *count_on_two_cpus(void)
{
	struct meter *m;

	fake_add(PERF_TYPE_SOFTWARE, 10, 0);
	add(NULL, PERF_COUNT_SW_PAGE_FAULTS, 0, 0);
	tree_put(&tree, "devices/system/cpu/online", "1-2\n");
	m = open_meter(0.005);
	run(m, NS_PER_S, NS_PER_S);
	assert_int_equal(nr_seen, 1);
	assert_true(sum_of(0).running_ns > 1990 * MS && sum_of(0).running_ns < 2010 * MS);
	assert_int_equal(sum_of(0).enabled_ns, sum_of(0).running_ns);
	return m;
}

/* A CPU comes online: it is counted within a second, and that second is missing. */
static void test_a_cpu_comes(void **state)
{
	struct meter *m = count_on_two_cpus();
	struct reading before = sum_of(0), sum;

	(void)state;
	tree_put(&tree, "devices/system/cpu/online", "1-3\n");
	run(m, 1500 * MS, 10 * NS_PER_S);
	assert_non_null(event_on(3));
	run(m, 8500 * MS, 8500 * MS - MS);
	sum = sum_of(0);
	assert_int_equal(sum.value, sum.running_ns * fake_rate(PERF_COUNT_SW_PAGE_FAULTS));
	assert_true(sum.running_ns - before.running_ns > 28900 * MS);
	assert_in_range(sum.enabled_ns - sum.running_ns, 1, 1010 * MS);
	meter_close(m);
}

/* One goes off: nothing of it is missing. It comes back to events that stand: they are opened again. */
static void test_a_cpu_goes_and_comes_back(void **state)
{
	struct meter *m = count_on_two_cpus();
	struct reading before;

	(void)state;
	tree_put(&tree, "devices/system/cpu/online", "1\n");
	fake.events[event_on(2) - fake.events].enabled = false;
	run(m, 5 * NS_PER_S, NS_PER_S);
	before = sum_of(0);
	assert_int_equal(before.enabled_ns, before.running_ns);
	assert_true(before.running_ns < 7010 * MS);
	tree_put(&tree, "devices/system/cpu/online", "1-2\n");
	run(m, 5 * NS_PER_S, NS_PER_S);
	assert_true(event_on(2)->enabled);
	assert_true(sum_of(0).running_ns - before.running_ns > 8900 * MS);
	assert_in_range(sum_of(0).enabled_ns - sum_of(0).running_ns, 1, 1010 * MS);
	/* Off and on again between two looks: what stands is noticed at the next reading. */
	before = sum_of(0);
	fake.events[event_on(2) - fake.events].enabled = false;
	run(m, 4 * NS_PER_S, NS_PER_S);
	assert_true(event_on(2)->enabled);
	assert_in_range(sum_of(0).enabled_ns - sum_of(0).running_ns, 1500 * MS, 4000 * MS);
	assert_true(sum_of(0).running_ns - before.running_ns > 5500 * MS);
	assert_int_equal(cost_of(m, 0).failed, 0);
	meter_close(m);
}

/* A total of one CPU that goes back hides in no sum, and cannot be made up for by others. */
static void test_a_cpu_counts_back(void **state)
{
	struct meter *m = count_on_two_cpus();
	struct reading before = sum_of(0);

	(void)state;
	fake.events[event_on(2) - fake.events].value = 0;
	run(m, 500 * MS, 400 * MS);
	assert_int_equal(nr_seen, 1);
	assert_int_equal(cost_of(m, 0).failed, 1);
	run(m, 400 * MS, 300 * MS);
	assert_int_equal(nr_seen, 2);
	assert_int_equal(cost_of(m, 0).failed, 1);
	assert_true(sum_of(0).value - before.value < 1000 * MS * fake_rate(2));
	assert_true(sum_of(0).enabled_ns - sum_of(0).running_ns > 700 * MS);
	meter_close(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_refused),
		TEST(test_unusable_pmu),
		TEST(test_too_large_a_set),
		TEST(test_room_of_each),
		TEST(test_room_of_a_busy_pmu),
		TEST(test_no_files_left),
		TEST(test_sink_error),
		TEST(test_limit_of_files),
		TEST(test_child_is_counted),
		TEST(test_child_from_exec_on),
		TEST(test_all_cpus),
		TEST(test_cores_beside_pmus),
		TEST(test_first_place_is_gone),
		TEST(test_a_cpu_comes),
		TEST(test_a_cpu_goes_and_comes_back),
		TEST(test_a_cpu_counts_back),
	};

	return cmocka_run_group_tests(tests, find_all, drop_all);
}
