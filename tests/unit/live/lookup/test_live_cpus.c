// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* CPUs that are offline at the start, come online and go: with a faked sysfs, ledger and clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "live/lookup/feed.h"
#include "live/lookup/live_cpus.h"
#include "live/lookup/live_readers.h"
#include "tree.h"

#define NR_CPUS 8

static struct tree tree;
static struct sysfs fs;
static uint64_t now_ns;
static bool runs[NR_CPUS];
static uint32_t socket_of[NR_CPUS];

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);
bool __wrap_ledger_cpu_runs(const struct ledger *l, uint32_t cpu);
void __wrap_ledger_cpu_socket(struct ledger *l, uint32_t cpu, uint32_t socket);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	(void)clock;
	*ret = (struct timespec){ now_ns / NS_PER_S, now_ns % NS_PER_S };
	return 0;
}

bool __wrap_ledger_cpu_runs(const struct ledger *l, uint32_t cpu)
{
	(void)l;
	return runs[cpu];
}

void __wrap_ledger_cpu_socket(struct ledger *l, uint32_t cpu, uint32_t socket)
{
	(void)l;
	socket_of[cpu] = socket;
}

/* A CPU with a package is there; without one it has gone. */
static void put_cpu(uint32_t cpu, const char *package)
{
	char name[96], path[PATH_MAX];

	snprintf(name, sizeof(name), "devices/system/cpu/cpu%u/topology/physical_package_id", cpu);
	if (package) {
		tree_put(&tree, name, package);
		return;
	}
	tree_path(&tree, name, path);
	unlink(path);
}

/* Eight are possible; CPU 0 is online on package 0, CPU 1 on package 1. */
static int make_machine(void **state)
{
	struct diag d = { 0 };

	(void)state;
	tree_make(&tree);
	tree_put(&tree, "devices/system/cpu/possible", "0-7\n");
	tree_put(&tree, "devices/system/cpu/online", "0-1\n");
	put_cpu(0, "0\n");
	put_cpu(1, "1\n");
	return sysfs_open(tree.root, &d, &fs);
}

static int drop_machine(void **state)
{
	(void)state;
	sysfs_close(&fs);
	tree_remove(&tree);
	return 0;
}

struct world {
	struct cpu_map map;
	struct live_cpus cpus;
	struct trace_sink out;
	char events[512];
};

static int on_event(void *arg, const struct trace_event *e)
{
	struct world *w = arg;
	char line[64];

	if (e->type == TRACE_CPU)
		snprintf(line, sizeof(line), "%u %s %d;", e->cpu.cpu, e->cpu.online ? "on" : "off",
			 (int)e->cpu.socket);
	else
		snprintf(line, sizeof(line), "slice %u;", e->slice.cpu);
	strcat(w->events, line);
	return 0;
}

static void setup(struct world *w)
{
	struct diag d = { 0 };

	*w = (struct world){ 0 };
	now_ns = 100 * NS_PER_S;
	memset(runs, 0, sizeof(runs));
	memset(socket_of, 0xff, sizeof(socket_of));
	for (uint32_t cpu = 2; cpu < NR_CPUS; cpu++)
		put_cpu(cpu, NULL);
	assert_int_equal(cpu_map_read(&fs, NULL, 0, &d, &w->map), 0);
	w->out = (struct trace_sink){ on_event, w };
	w->cpus = (struct live_cpus){ .map = &w->map, .fs = &fs, .out = &w->out };
	assert_int_equal(live_cpus_new(&w->cpus), 0);
}

static void teardown(struct world *w)
{
	live_cpus_free(&w->cpus);
	cpu_map_free(&w->map);
}

static struct cpulist list(const char *text)
{
	struct cpulist ret;

	assert_int_equal(cpulist_parse(text, &ret), 0);
	return ret;
}

/* Those that are offline, or do not exist, are on no socket, and not on the first one. */
static void offline_is_on_no_socket(void **state)
{
	struct world w;

	(void)state;
	setup(&w);
	assert_int_equal(w.map.nr_cpus, 8);
	assert_int_equal(w.map.nr_sockets, 2);
	assert_int_equal(w.map.socket[0], 0);
	assert_int_equal(w.map.socket[1], 1);
	for (uint32_t cpu = 2; cpu < NR_CPUS; cpu++)
		assert_int_equal(w.map.socket[cpu], CPU_NO_SOCKET);
	assert_int_equal(cpulist_count(&w.map.online), 2);
	teardown(&w);
}

/* A kernel may keep the package of a CPU that is offline: it counts from when it comes. */
static void kept_packages_do_not_count(void **state)
{
	struct diag d = { 0 };
	struct cpu_map m;

	(void)state;
	put_cpu(2, "7\n");
	assert_int_equal(cpu_map_read(&fs, NULL, 0, &d, &m), 0);
	assert_int_equal(m.nr_sockets, 2);
	assert_int_equal(m.socket[2], CPU_NO_SOCKET);
	put_cpu(2, NULL);
	cpu_map_free(&m);
}

/* The CPUs of a PMU hold for offline ones, too; sets are no packages. */
static void sets_know_better(void **state)
{
	const struct cpulist first = list("0,4"), second = list("1,5-6");
	const struct cpu_socket known[] = { { 0, &first }, { 1, &second } };
	const struct cpulist both = list("0-1");
	const struct cpu_socket joined[] = { { 3, &both } };
	struct diag d = { 0 };
	struct cpu_map m;

	(void)state;
	assert_int_equal(cpu_map_read(&fs, known, 2, &d, &m), 0);
	assert_int_equal(m.socket[4], 0);
	assert_int_equal(m.socket[6], 1);
	assert_int_equal(m.socket[3], CPU_NO_SOCKET);
	/* in no set, but on the package that is the second one */
	put_cpu(3, "1\n");
	assert_int_equal(cpu_map_find(&m, &fs, 3), 0);
	assert_int_equal(m.socket[3], 1);
	cpu_map_free(&m);
	/* A set that joins packages says nothing of a CPU that is not in it. */
	put_cpu(3, NULL);
	assert_int_equal(cpu_map_read(&fs, joined, 1, &d, &m), 0);
	put_cpu(3, "1\n");
	assert_int_equal(cpu_map_find(&m, &fs, 3), 0);
	assert_int_equal(m.socket[3], CPU_NO_SOCKET);
	put_cpu(3, NULL);
	cpu_map_free(&m);
}

/* The event comes before the first CPU time, and once. */
static void first_time_tells(void **state)
{
	static struct ledger_slices r = { .h = { .type = LEDGER_SLICES, .cpu = 5 }, .nr = 1 };
	static const struct counters none = { 0 };
	struct layout layout = { 0 };
	struct ledger_sink sink;
	struct feed feed;
	struct world w;

	(void)state;
	setup(&w);
	r.slots[0] = (struct ledger_slot){
		.pid = 7, .tgid = 7, .first_ns = 1, .last_ns = 9, .on_cpu_ns = 8
	};
	layout.nr_cpus = NR_CPUS;
	assert_int_equal(feed_init(&feed, &layout, &none, &w.out, NS_PER_S), 0);
	feed.met = (int (*)(void *, uint32_t))live_cpus_met;
	feed.met_arg = &w.cpus;
	sink = feed_sink(&feed);
	put_cpu(5, "1\n");
	sink.slices(sink.arg, &r, NULL);
	sink.slices(sink.arg, &r, NULL);
	assert_string_equal(w.events, "5 on 1;slice 5;slice 5;");
	assert_int_equal(socket_of[5], 1);
	feed_release(&feed);
	teardown(&w);
}

/* Sysfs without an answer is asked again after a second, and not at each record. */
static void no_answer(void **state)
{
	struct world w;

	(void)state;
	setup(&w);
	assert_int_equal(live_cpus_met(&w.cpus, 4), 0);
	put_cpu(4, "0\n");
	now_ns += NS_PER_S / 2;
	assert_int_equal(live_cpus_met(&w.cpus, 4), 0);
	assert_string_equal(w.events, "");
	now_ns += NS_PER_S / 2;
	assert_int_equal(live_cpus_met(&w.cpus, 4), 0);
	assert_string_equal(w.events, "4 on 0;");
	/* nonsense of the kernel's records */
	assert_int_equal(live_cpus_met(&w.cpus, NR_CPUS), 0);
	assert_int_equal(live_cpus_met(&w.cpus, UINT32_MAX), 0);
	assert_string_equal(w.events, "4 on 0;");
	teardown(&w);
}

/* A CPU that has run is found once a second, before it sends anything. */
static void step_finds_those_that_ran(void **state)
{
	struct world w;

	(void)state;
	setup(&w);
	assert_int_equal(live_cpus_step(&w.cpus), 0);
	put_cpu(2, "0\n");
	put_cpu(3, "1\n");
	runs[3] = true;
	assert_int_equal(live_cpus_step(&w.cpus), 0);
	assert_string_equal(w.events, "");
	now_ns += NS_PER_S;
	assert_int_equal(live_cpus_step(&w.cpus), 0);
	assert_string_equal(w.events, "3 on 1;");
	assert_int_equal(socket_of[2], UINT32_MAX);
	teardown(&w);
}

/* The end of an interval finds those that sleep, and those that have gone; they may come again. */
static void marks_tell_the_rest(void **state)
{
	struct world w;
	struct cpulist now;

	(void)state;
	setup(&w);
	put_cpu(2, "0\n");
	now = list("0,2");
	assert_int_equal(live_cpus_mark(&w.cpus, &now), 0);
	assert_string_equal(w.events, "1 off -1;2 on 0;");
	assert_int_equal(live_cpus_mark(&w.cpus, &now), 0);
	assert_string_equal(w.events, "1 off -1;2 on 0;");
	/* CPU time that comes late does not bring it back */
	tree_put(&tree, "devices/system/cpu/cpu1/online", "0\n");
	assert_int_equal(live_cpus_met(&w.cpus, 1), 0);
	assert_string_equal(w.events, "1 off -1;2 on 0;");
	tree_put(&tree, "devices/system/cpu/cpu1/online", "1\n");
	now_ns += NS_PER_S;
	assert_int_equal(live_cpus_met(&w.cpus, 1), 0);
	assert_string_equal(w.events, "1 off -1;2 on 0;1 on 1;");
	/* an unreadable list is no news */
	now = (struct cpulist){ 0 };
	assert_int_equal(live_cpus_mark(&w.cpus, &now), 0);
	assert_string_equal(w.events, "1 off -1;2 on 0;1 on 1;");
	teardown(&w);
}

/* A socket that appears is told once, and its CPUs are on none. */
static void new_sockets_are_not_counted(void **state)
{
	char text[LIVE_CPUS_NEWS_LEN];
	struct world w;

	(void)state;
	setup(&w);
	put_cpu(6, "2\n");
	put_cpu(7, "2\n");
	assert_false(live_cpus_news(&w.cpus, text, sizeof(text)));
	assert_int_equal(live_cpus_met(&w.cpus, 6), 0);
	assert_int_equal(live_cpus_met(&w.cpus, 7), 0);
	assert_string_equal(w.events, "6 on -1;7 on -1;");
	assert_int_equal(socket_of[6], UINT32_MAX);
	assert_true(live_cpus_news(&w.cpus, text, sizeof(text)));
	assert_non_null(strstr(text, "CPU 6 came online on no socket"));
	assert_false(live_cpus_news(&w.cpus, text, sizeof(text)));
	teardown(&w);
}

/* A PMU that moves to a CPU without a socket is read as one of its own. */
static void readers_have_a_socket(void **state)
{
	static const uint32_t sockets[] = { 0, 1, CPU_NO_SOCKET };
	struct counted_pmu pmus[] = { { .cpu = 2, .socket = 1 } };
	struct counters c = { .pmus = pmus, .nr_pmus = 1 };
	struct diag d = { 0 };

	(void)state;
	assert_int_equal(counters_readers(&c, sockets, 3, 2, &d), 0);
	assert_int_equal(c.nr_readers, 1);
	assert_int_equal(c.readers[0].index, 1);
	free(c.readers[0].events);
	free(c.readers[0].fds);
	free(c.readers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offline_is_on_no_socket),
		cmocka_unit_test(kept_packages_do_not_count),
		cmocka_unit_test(sets_know_better),
		cmocka_unit_test(first_time_tells),
		cmocka_unit_test(no_answer),
		cmocka_unit_test(step_finds_those_that_ran),
		cmocka_unit_test(marks_tell_the_rest),
		cmocka_unit_test(new_sockets_are_not_counted),
		cmocka_unit_test(readers_have_a_socket),
	};

	return cmocka_run_group_tests(tests, make_machine, drop_machine);
}
