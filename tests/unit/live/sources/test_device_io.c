// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Who has a device to itself: two looks must agree. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "base/clock.h"
#include "live/sources/device_io.h"
#include "platform/devices/owners.h"

#define LOOK_NS (4 * NS_PER_S)
#define PID	160
#define START	4020000000u
#define MS(n)	((n) * (NS_PER_S / 1000))

/* What the next look finds, and its CPU time */
static struct owner found;
static size_t nr_found;
static uint64_t takes_ns;

/* The CPU time of all looks: that of this thread may have in it what a host took. */
static uint64_t taken_ns;

static struct owner others[4];
static size_t nr_others;

int __real_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	if (clock != CLOCK_THREAD_CPUTIME_ID)
		return __real_clock_gettime(clock, ret);
	*ret = (struct timespec){ taken_ns / NS_PER_S, taken_ns % NS_PER_S };
	return 0;
}

static struct trace_io told;
static struct trace_contexts held[4];
static struct trace_context holders[4][3];
static size_t nr_held;
static size_t nr_told;
static uint64_t known_start;

int __wrap_owners_find(struct owners *o, const struct device_list *l, const struct owner **ret,
		       size_t *ret_nr);
int __wrap_owners_find(struct owners *o, const struct device_list *l, const struct owner **ret,
		       size_t *ret_nr)
{
	(void)o;
	(void)l;
	taken_ns += takes_ns;
	*ret = &found;
	*ret_nr = nr_found;
	return 0;
}

size_t __wrap_owners_others(const struct owners *o, const struct owner **ret);
size_t __wrap_owners_others(const struct owners *o, const struct owner **ret)
{
	(void)o;
	*ret = others;
	return nr_others;
}

static int take(void *arg, const struct trace_event *e)
{
	(void)arg;
	if (e->type == TRACE_HOLDERS) {
		assert_true(nr_held < sizeof(held) / sizeof(held[0]));
		held[nr_held] = e->contexts;
		assert_true(e->contexts.nr <= 3);
		memcpy(holders[nr_held++], e->contexts.processes,
		       e->contexts.nr * sizeof(holders[0][0]));
		return 0;
	}
	assert_int_equal(e->type, TRACE_IO);
	told = e->io;
	nr_told++;
	return 0;
}

static uint64_t start_of(void *arg, uint32_t pid)
{
	(void)arg;
	return pid == PID ? known_start : 0;
}

static const struct trace_sink out = { take, NULL };

/* Two looks, at which the process began at these times */
static void look_twice(uint32_t second_pid, uint64_t first, uint64_t second)
{
	struct device_item item = { 0 };
	const struct device_list list = { .items = &item, .nr = 1 };
	struct live_cgroups cgroups = { .mount = "" };
	struct feed feed = { .start_of = start_of };
	struct device_io *io;
	uint64_t now;

	nr_told = 0;
	nr_found = 1;
	found = (struct owner){ .pid = PID, .start_ns = first, .cgroup_id = 7 };
	assert_int_equal(device_io_new(&list, NULL, &cgroups, NULL, &out, &feed, &io), 0);
	now = monotonic_ns();
	device_io_start(io, now - LOOK_NS);
	assert_int_equal(device_io_look(io, now, false), 0);
	assert_int_equal(nr_told, 0);
	found.pid = second_pid;
	found.start_ns = second;
	assert_int_equal(device_io_look(io, now + LOOK_NS, false), 0);
	device_io_free(io);
}

/* /proc has ticks, and what it says is moved by the time between two readings of clocks. */
static void test_same(void **state)
{
	(void)state;
	known_start = 0;
	look_twice(PID, START - 70, START - 30);
	assert_int_equal(nr_told, 1);
	assert_true(told.exclusive);
	assert_int_equal(told.pid, PID);
	assert_int_equal(told.task_start_ns, START - 30);
	assert_int_equal(told.end_ns - told.start_ns, LOOK_NS);
}

/* The trace knows it better: no second row for the same process. */
static void test_known(void **state)
{
	(void)state;
	known_start = START + 1234567;
	look_twice(PID, START - 70, START - 30);
	assert_int_equal(nr_told, 1);
	assert_int_equal(told.task_start_ns, START + 1234567);
}

static void test_others(void **state)
{
	(void)state;
	known_start = 0;
	look_twice(PID + 1, START, START);
	assert_int_equal(nr_told, 0);
	look_twice(PID, START, START + NS_PER_S);
	assert_int_equal(nr_told, 0);
}

/*
 * Looks that take too long for every end of an interval: they wait for one, because it has all of that
 * interval. Where ends are rare, they do not.
 */
static void test_waits_for_an_end(void **state)
{
	struct device_item item = { 0 };
	const struct device_list list = { .items = &item, .nr = 1 };
	struct live_cgroups cgroups = { .mount = "" };
	struct feed feed = { 0 };
	struct device_io *io;
	uint64_t now = monotonic_ns();

	(void)state;
	nr_told = 0;
	nr_found = 1;
	takes_ns = MS(40);
	found = (struct owner){ .pid = PID, .start_ns = START, .cgroup_id = 7 };
	assert_int_equal(device_io_new(&list, NULL, &cgroups, NULL, &out, &feed, &io), 0);
	device_io_start(io, now - MS(1200));
	assert_int_equal(device_io_look(io, now, true), 0);
	takes_ns = 0;
	assert_int_equal(device_io_look(io, now + MS(1200), true), 0);
	assert_int_equal(device_io_look(io, now + MS(2400), true), 0);
	assert_int_equal(device_io_look(io, now + MS(3100), false), 0);
	assert_int_equal(nr_told, 0);
	assert_int_equal(device_io_look(io, now + MS(3600), true), 0);
	assert_int_equal(nr_told, 1);
	assert_true(told.start_ns == now && told.end_ns == now + MS(3600));
	assert_int_equal(device_io_look(io, now + MS(6500), false), 0);
	assert_int_equal(nr_told, 1);
	assert_int_equal(device_io_look(io, now + MS(6700), false), 0);
	assert_int_equal(nr_told, 2);
	device_io_free(io);
}

/* Devices that several cgroups have open: who has them, once a look; no owner by network alone. */
static void test_others_hold(void **state)
{
	struct device_item items[3] = { 0 };
	const struct device_list list = { .items = items, .nr = 3 };
	struct live_cgroups cgroups = { .mount = "" };
	struct feed feed = { .start_of = start_of };
	struct device_io *io;
	uint64_t now = monotonic_ns();

	(void)state;
	nr_found = nr_held = 0;
	nr_others = 4;
	known_start = START + 5;
	others[0] = (struct owner){ .pid = PID, .start_ns = START, .cgroup_id = 7 };
	others[1] = (struct owner){ .pid = PID + 1, .start_ns = START, .cgroup_id = 8 };
	others[2] = (struct owner){ .item = 2, .pid = PID, .start_ns = START, .cgroup_id = 7 };
	others[3] = (struct owner){ .item = 2, .cgroup_id = 9 };
	for (int tells = 0; tells < 2; tells++) {
		assert_int_equal(device_io_new(&list, NULL, &cgroups, NULL, &out, &feed, &io), 0);
		if (tells)
			device_io_tell(io);
		device_io_start(io, now - LOOK_NS);
		assert_int_equal(device_io_look(io, now, false), 0);
		assert_int_equal(nr_held, tells ? 2 : 0);
		device_io_free(io);
	}
	assert_int_equal(held[0].device, 0);
	assert_int_equal(held[0].nr, 2);
	assert_true(held[0].start_ns == now - LOOK_NS && held[0].end_ns == now);
	assert_true(holders[0][0].pid == PID && holders[0][0].start_ns == START + 5);
	assert_true(holders[0][1].pid == PID + 1 && holders[0][1].start_ns == START);
	assert_int_equal(held[1].device, 2);
	assert_int_equal(held[1].nr, 1);
	nr_others = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),	    cmocka_unit_test(test_known),
		cmocka_unit_test(test_others),	    cmocka_unit_test(test_waits_for_an_end),
		cmocka_unit_test(test_others_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
