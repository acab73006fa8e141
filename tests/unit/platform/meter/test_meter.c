// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/array.h"
#include "meter_world.h"

static void test_everything_fits(void **state)
{
	struct meter *m;

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		add(ucf, i, 0, 0);
	add(ucf, FAKE_CYCLES, 0, 0);
	add(ucf, 2, 0, 0); /* the same event again: has readings of its own, but no counter */
	m = open_meter(0.005);
	assert_true(meter_next_ns(m) == UINT64_MAX);
	run(m, 500 * MS, 100 * MS);
	assert_int_equal(meter_read(m, true, &sink, NULL), 0);
	check_segments();
	for (uint32_t i = 0; i < 5; i++) {
		const struct fake_event *e = open_event(&wants[i]);

		assert_non_null(e);
		assert_true(sum_of(i).value == e->told);
		assert_true(sum_of(i).enabled_ns == sum_of(i).running_ns);
		assert_int_equal(meter_refused(m, i), 0);
	}
	assert_true(sum_of(5).value == sum_of(2).value);
	for (size_t i = 1; i < nr_seen; i++)
		assert_true(seen[i].start_ns == seen[i - 1].end_ns);
	assert_int_equal(cost_of(m, 0).sets, 1);
	assert_int_equal(cost_of(m, 0).turns, 0);
	assert_int_equal(fake.open_now, 5);
	assert_int_equal(fake.complaints, 0);
	meter_close(m);
	meter_close(NULL);
}

static void test_turns(void **state)
{
	uint64_t least = UINT64_MAX, most = 0;
	struct meter *m;

	(void)state;
	for (uint32_t i = 0; i < 11; i++)
		add(ucf, i, 0, 0);
	wants[0].constant = true;
	add(ucf, FAKE_CYCLES, 0, 0);
	m = open_meter(0.005);
	assert_int_equal(cost_of(m, 0).sets, 4);
	assert_true(meter_next_ns(m) <= fake.now + 100 * MS);
	/* Readings at odd times cut turns. */
	run(m, 4000 * MS, 70 * MS);
	assert_int_equal(meter_read(m, true, &sink, NULL), 0);
	check_segments();
	/* Nothing of the base is lost by exchanging the others. */
	assert_true(sum_of(0).value == open_event(&wants[0])->told);
	assert_true(sum_of(11).value == open_event(&wants[11])->told);
	assert_true(sum_of(0).enabled_ns > 3999 * MS);
	for (uint32_t i = 1; i < 11; i++) {
		uint64_t ns = sum_of(i).running_ns;

		least = ns < least ? ns : least;
		most = ns > most ? ns : most;
	}
	assert_true(least > 900 * MS && most < 1110 * MS);
	assert_in_range(cost_of(m, 0).turns, 36, 40);
	/* Others' counters stop when events leave: once for all of a turn */
	assert_int_equal(fake.stops, cost_of(m, 0).turns);
	/* Base and turn at most: exchanging is closing first. */
	assert_true(fake.most_open <= 5);
	assert_int_equal(fake.complaints, 0);
	meter_close(m);
}

/* While events are exchanged only the base counts, and that time has a segment. */
static void test_gap_has_base_only(void **state)
{
	size_t gaps = 0;
	struct meter *m;

	(void)state;
	for (uint32_t i = 0; i < 5; i++)
		add(ucf, i, 0, 0);
	add(ucf, FAKE_CYCLES, 0, 0);
	m = open_meter(0.005);
	run(m, 1000 * MS, 1000 * MS);
	check_segments();
	for (size_t i = 0; i < nr_seen; i++) {
		gaps += seen[i].nr == 1;
		if (seen[i].nr == 1)
			assert_int_equal(seen[i].counters[0], 5);
		if (i)
			assert_true(seen[i].start_ns == seen[i - 1].end_ns);
	}
	assert_int_equal(gaps, cost_of(m, 0).turns);
	assert_in_range(gaps, 8, 10);
	meter_close(m);
}

static void test_dear_ones_wait(void **state)
{
	struct meter *m;
	struct stat_cost cost;

	(void)state;
	add(cmem, 0, 0, 0);
	add(cmem, 1, 0, 0);
	fake.read_ns = MS;
	m = open_meter(0.005);
	run(m, 2000 * MS, 100 * MS);
	cost = cost_of(m, 0);
	/* 1 ms a reading and 10 ms in all; the first one was made at the beginning */
	assert_in_range(cost.readings, 9, 10);
	assert_int_equal(cost.readings + cost.deferred, 1 + 20);
	assert_true(meter_busiest(m) <= 0.005);
	assert_true(meter_busiest(m) > 0.004);
	assert_int_equal(nr_seen, cost.readings - 1);
	/* The last one happens in any case. */
	assert_int_equal(meter_read(m, true, &sink, NULL), 0);
	assert_int_equal(cost_of(m, 0).deferred, cost.deferred);
	check_segments();
	assert_true(sum_of(1).value == open_event(&wants[1])->told);
	assert_true(cost_of(m, 0).read_ns == cost_of(m, 0).readings * MS);
	meter_close(m);
}

/* A reading takes more than the budget has: everything is read once all the same, and then waits. */
static void test_first_reading(void **state)
{
	struct meter *m;

	(void)state;
	add(cmem, 0, 0, 0);
	add(ucf, 0, 0, 0);
	add(pcie, 0, 0, 0);
	fake.read_ns = 5 * MS;
	m = open_meter(0.001);
	fake_pass(100 * MS);
	assert_int_equal(meter_read(m, false, &sink, NULL), 0);
	assert_int_equal(nr_seen, 3);
	fake_pass(100 * MS);
	assert_int_equal(meter_read(m, false, &sink, NULL), 0);
	assert_int_equal(nr_seen, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(cost_of(m, i).deferred, 1);
	assert_true(meter_busiest(m) > 0.001);
	meter_close(m);
}

/* So has each turn come once by the time that was given, spread over it, and the others wait. */
static void test_first_turns(void **state)
{
	for (int first = 0; first < 2; first++) {
		struct meter_options o = { .budget = 0.001,
					   .turn_ns = 50 * MS,
					   .first_ns = first * 1000 * MS };
		struct meter *m = NULL;
		size_t counted = 0;
		struct diag d;

		start(state);
		for (uint32_t i = 0; i < 16; i++)
			add(ucf, i, 0, 0);
		fake.read_ns = 5 * MS;
		assert_int_equal(meter_open_with(&list, &fs, &o, &fake_kernel, &d, &m), 0);
		assert_int_equal(cost_of(m, 0).sets, 4);
		run(m, 2000 * MS, 4000 * MS);
		assert_int_equal(meter_read(m, true, &sink, NULL), 0);
		for (uint32_t i = 0; i < 16; i++) {
			counted += sum_of(i).running_ns > 0;
			assert_true(!first || sum_of(i).running_ns > 190 * MS);
		}
		assert_int_equal(counted, first ? 16 : 4);
		assert_int_equal(cost_of(m, 0).turns, first ? 3 : 0);
		assert_true(cost_of(m, 0).turns_deferred > 0);
		check_segments();
		meter_close(m);
		finish(state);
	}
}

/*
 * A first turn that was owed to the time lasts, even if the budget allows the next change at once: the
 * reading at the start was slow, as they are on a busy machine.
 */
static void test_first_turns_last(void **state)
{
	struct meter_options o = { .budget = 0.005, .turn_ns = 20 * MS, .first_ns = 1000 * MS };
	struct meter *m = NULL;
	struct diag d;

	(void)state;
	for (uint32_t i = 0; i < 8; i++)
		add(ucf, i, 0, 0);
	fake.read_ns = 2 * MS;
	assert_int_equal(meter_open_with(&list, &fs, &o, &fake_kernel, &d, &m), 0);
	assert_int_equal(cost_of(m, 0).sets, 2);
	fake.read_ns = MS / 100;
	run(m, 1000 * MS, 4000 * MS);
	assert_int_equal(meter_read(m, true, &sink, NULL), 0);
	for (uint32_t i = 0; i < 8; i++)
		assert_true(sum_of(i).running_ns > 400 * MS);
	meter_close(m);
}

/* Where the budget does not do for all, each PMU gets an equal part: the cheap one is read more often. */
static void test_equal_parts(void **state)
{
	struct stat_cost cheap, dear;
	struct meter *m;

	(void)state;
	add(cmem, 0, 0, 0);
	add(ucf, 0, 0, 0);
	fake.read_ns = MS;
	fake.slow_type = cmem->type;
	fake.slow_ns = 8 * MS;
	m = open_meter(0.01);
	run(m, 8000 * MS, 100 * MS);
	dear = cost_of(m, 0);
	cheap = cost_of(m, 1);
	assert_true(meter_busiest(m) <= 0.01);
	assert_in_range(dear.readings, 4, 6);
	assert_in_range(cheap.readings, 32, 48);
	assert_true(cheap.deferred > 0 && dear.deferred > 0);
	/* With the last reading of both, for which there was room left. */
	assert_int_equal(meter_read(m, true, &sink, NULL), 0);
	assert_true(meter_busiest(m) > 0.007 && meter_busiest(m) <= 0.01);
	check_segments();
	assert_true(sum_of(0).value == open_event(&wants[0])->told);
	assert_true(sum_of(1).value == open_event(&wants[1])->told);
	meter_close(m);
}

/* Changes of turns take half of the budget: the other half is for the ends of intervals. */
static void test_turns_are_rationed(void **state)
{
	struct stat_cost cost;
	struct meter *m;

	(void)state;
	for (uint32_t i = 0; i < 11; i++)
		add(ucf, i, 0, 0);
	add(ucf, FAKE_CYCLES, 0, 0);
	fake.read_ns = MS / 2;
	m = open_meter(0.01);
	run(m, 8000 * MS, 1000 * MS);
	cost = cost_of(m, 0);
	/* 80 ms in all; a change reads base and turn, and the base, and looks at what it started */
	assert_in_range(cost.turns, 15, 24);
	assert_true(meter_busiest(m) <= 0.01);
	assert_int_equal(cost.deferred, 0);
	check_segments();
	meter_close(m);
}

/* The machine stood still while a PMU was read: that is not charged, and turns go on. */
static void test_pause_is_not_charged(void **state)
{
	uint64_t turns;
	struct meter *m;

	(void)state;
	for (uint32_t i = 0; i < 11; i++)
		add(ucf, i, 0, 0);
	add(ucf, FAKE_CYCLES, 0, 0);
	m = open_meter(0.005);
	run(m, 1000 * MS, 1000 * MS);
	fake.pause_ns = 50 * MS;
	run(m, 1000 * MS, 1000 * MS);
	assert_int_equal(fake.pause_ns, 0);
	turns = cost_of(m, 0).turns;
	/* Charged, it would be what turns may take in 20 s. */
	run(m, 1000 * MS, 1000 * MS);
	assert_in_range(cost_of(m, 0).turns - turns, 8, 12);
	assert_true(meter_busiest(m) <= 0.005);
	check_segments();
	meter_close(m);
}

/* Where the budget does not do for all turns, PMUs of a CPU get equal parts of it. */
static void test_turns_are_fair(void **state)
{
	uint64_t least = UINT64_MAX, most = 0;
	struct meter *m;

	(void)state;
	for (int32_t rc = 0; rc < 4; rc++) {
		const struct pmu *port = pmu_find(&pmus, PMU_PCIE, 0, rc);

		assert_non_null(port);
		if (rc)
			fake_add(port->type, 4, 1);
		for (uint32_t i = 0; i < 8; i++)
			add(port, i, 0, 0);
	}
	fake.read_ns = MS / 4;
	/* One is dearer: it has fewer turns, but it has some. */
	fake.slow_type = pcie->type;
	fake.slow_ns = MS;
	m = open_meter(0.01);
	run(m, 16000 * MS, 4000 * MS);
	assert_int_equal(m->nr_accounts, 1);
	for (uint32_t i = 8; i < 32; i += 8) {
		uint64_t turns = cost_of(m, i).turns;

		least = turns < least ? turns : least;
		most = turns > most ? turns : most;
	}
	assert_true(least > 8);
	assert_true(most - least <= 2);
	assert_true(cost_of(m, 0).turns >= 3);
	assert_true(cost_of(m, 0).turns < least / 2);
	assert_true(meter_busiest(m) <= 0.01);
	check_segments();
	meter_close(m);
}

/* Two PMUs that cost the same share what there is. */
static void test_dear_ones_are_fair(void **state)
{
	const struct pmu *other = pmu_find(&pmus, PMU_NVDLINK, 0, -1);
	struct meter *m;

	(void)state;
	assert_non_null(other);
	fake_add(other->type, 32, 0);
	add(cmem, 0, 0, 0);
	add(other, 0, 0, 0);
	fake.read_ns = MS;
	m = open_meter(0.01);
	run(m, 3000 * MS, 100 * MS);
	assert_in_range(cost_of(m, 0).readings, 14, 16);
	assert_in_range(cost_of(m, 1).readings, 14, 16);
	meter_close(m);
}

static void test_failed_reading(void **state)
{
	struct meter *m;
	uint64_t start_ns;

	(void)state;
	add(ucf, 0, 0, 0);
	add(pcie, 0, 0, 0);
	m = open_meter(0.005);
	fake_pass(10 * MS);
	assert_int_equal(meter_read(m, false, &sink, NULL), 0);
	assert_int_equal(nr_seen, 2);
	start_ns = seen[0].end_ns;
	/* Tried twice: once as it is, once after it was switched on again. */
	fake.fail_reads = 2;
	fake.fail_type = ucf->type;
	fake_pass(10 * MS);
	assert_int_equal(meter_read(m, false, &sink, NULL), 0);
	assert_int_equal(nr_seen, 3);
	assert_int_equal(seen[2].pmu, meter_pmu(m, 1));
	assert_int_equal(cost_of(m, 0).failed, 1);
	assert_int_equal(cost_of(m, 1).failed, 0);
	fake_pass(10 * MS);
	assert_int_equal(meter_read(m, false, &sink, NULL), 0);
	assert_int_equal(nr_seen, 5);
	/* The one that failed has taken longer, so it comes second. */
	assert_int_equal(seen[4].pmu, meter_pmu(m, 0));
	assert_true(seen[4].start_ns == start_ns);
	assert_true(sum_of(0).value == open_event(&wants[0])->told);
	check_segments();
	meter_close(m);
}

/* Thrown out by somebody, a pinned group is switched on again and goes on from its count. */
static void test_thrown_out(void **state)
{
	struct meter *m;

	(void)state;
	add(ucf, 0, 0, 0);
	m = open_meter(0.005);
	fake_pass(10 * MS);
	fake.events[0].error = true;
	fake.events[0].runs = false;
	fake_pass(5 * MS);
	assert_int_equal(meter_read(m, false, &sink, NULL), 0);
	assert_int_equal(nr_seen, 1);
	assert_true(seen[0].readings[0].enabled_ns >= 10 * MS);
	assert_true(seen[0].readings[0].enabled_ns < 11 * MS);
	assert_true(seen[0].end_ns - seen[0].start_ns >= 15 * MS);
	meter_close(m);
}

/* Readings that fail again and again: events are opened anew, nothing is made up. */
static void test_failing_readings(void **state)
{
	struct meter *m;
	uint32_t opened;

	(void)state;
	add(ucf, 0, 0, 0);
	m = open_meter(0.005);
	opened = fake.opened;
	fake.fail_reads = 5;
	for (int i = 0; i < 4; i++) {
		fake_pass(10 * MS);
		assert_int_equal(meter_read(m, false, &sink, NULL), 0);
	}
	assert_true(fake.opened > opened);
	assert_int_equal(cost_of(m, 0).failed, 2);
	assert_true(nr_seen >= 1);
	check_segments();
	for (size_t i = 0; i < nr_seen; i++)
		assert_true(seen[i].readings[0].enabled_ns <=
			    seen[i].end_ns - seen[i].start_ns + MS);
	meter_close(m);
}

/* A reading in which no time has passed is an old one: no zero is made of it. */
static void test_old_reading(void **state)
{
	struct meter *m;

	(void)state;
	add(ucf, 0, 0, 0);
	m = open_meter(0.005);
	fake_pass(10 * MS);
	assert_int_equal(meter_read(m, false, &sink, NULL), 0);
	fake.frozen = true;
	fake_pass(10 * MS);
	assert_int_equal(meter_read(m, false, &sink, NULL), 0);
	assert_int_equal(nr_seen, 1);
	assert_int_equal(cost_of(m, 0).failed, 1);
	fake.frozen = false;
	fake_pass(10 * MS);
	assert_int_equal(meter_read(m, false, &sink, NULL), 0);
	assert_int_equal(nr_seen, 2);
	assert_true(seen[1].start_ns == seen[0].end_ns);
	assert_true(sum_of(0).value == open_event(&wants[0])->told);
	meter_close(m);
}

static void set_active_cpu(const char *cpu)
{
	char path[128];

	/* In the tree the PMU is a link to its device, which is fine for a path. */
	snprintf(path, sizeof(path), PMU_DEVICES "/%s/cpumask", ucf->name);
	tree_put(&tree, path, cpu);
}

static uint64_t time_seen(void)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < nr_seen; i++)
		ns += seen[i].end_ns - seen[i].start_ns;
	return ns;
}

static void test_active_cpu_changes(void **state)
{
	struct meter *m;

	(void)state;
	for (uint32_t i = 0; i < 8; i++)
		add(ucf, i, 0, 0);
	m = open_meter(0.005);
	assert_int_equal(open_event(&wants[0])->cpu, 0);
	set_active_cpu("1\n");
	run(m, 150 * MS, 1000 * MS);
	assert_int_equal(cost_of(m, 0).turns, 1);
	for (size_t i = 0; i < FAKE_MAX; i++) {
		if (fake.events[i].used)
			assert_int_equal(fake.events[i].cpu, 1);
	}
	/*
	 * No CPU is left for a while: those events are absent, and the rest goes on. Their turns come
	 * and go as before, and none of them hides that time was missed.
	 */
	nr_seen = 0;
	fake.cpu_gone = 1;
	run(m, 500 * MS, 1000 * MS);
	assert_true(cost_of(m, 0).failed > 0);
	assert_true(time_seen() > 400 * MS);
	fake.cpu_gone = 0;
	set_active_cpu("0\n");
	/* Back: a reading notices, not only the next turn. */
	nr_seen = 0;
	assert_int_equal(fake.open_now, 0);
	assert_int_equal(meter_read(m, false, &sink, NULL), 0);
	assert_int_equal(fake.open_now, 4);
	nr_seen = 0;
	run(m, 400 * MS, 1000 * MS);
	for (uint32_t i = 0; i < 8; i++)
		assert_true(sum_of(i).running_ns > 50 * MS);
	check_segments();
	meter_close(m);
}

/* What other PMUs took on the new CPU is not taken for the time of a change of turns. */
static void test_account_changes(void **state)
{
	struct meter *m;

	(void)state;
	for (uint32_t i = 0; i < 8; i++)
		add(ucf, i, 0, 0);
	add(cmem, 0, 0, 0);
	fake.slow_type = cmem->type;
	fake.slow_ns = 10000;
	set_active_cpu("1\n");
	m = open_meter(0.005);
	run(m, 3000 * MS, 10 * MS);
	set_active_cpu("0\n");
	run(m, 1000 * MS, 10 * MS);
	assert_int_equal(m->nr_accounts, 2);
	for (size_t i = 0; i < 2; i++)
		assert_true(m->accounts[i].turn_ns < m->accounts[i].read_ns);
	assert_int_equal(m->accounts[1].cpu, 0);
	/* 4 readings for each of about 9 changes, of 1 us each */
	assert_true(m->accounts[1].turn_ns <= 50000);
	meter_close(m);
}

/* A turn whose events could not be opened is opened at the next reading. */
static void test_turn_comes_back(void **state)
{
	struct meter *m;

	(void)state;
	for (uint32_t i = 0; i < 8; i++)
		add(ucf, i, 0, 0);
	add(ucf, FAKE_CYCLES, 0, 0);
	m = open_meter(0.005);
	fake.refuse_config = 1;
	fake.refuse_with = -ENODEV;
	/* The second turn has the event that cannot be opened. */
	fake_pass(101 * MS);
	assert_int_equal(meter_step(m, fake.now, &sink, NULL), 0);
	assert_true(cost_of(m, 0).failed > 0);
	assert_int_equal(fake.open_now, 1);
	fake.refuse_config = ~0ull;
	fake_pass(10 * MS);
	assert_int_equal(meter_read(m, false, &sink, NULL), 0);
	assert_int_equal(fake.open_now, 5);
	fake_pass(10 * MS);
	assert_int_equal(meter_read(m, false, &sink, NULL), 0);
	check_segments();
	assert_int_equal(seen[nr_seen - 1].nr, 5);
	assert_true(sum_of(8).value == open_event(&wants[8])->told);
	meter_close(m);
}

/* Somebody else has three of four counters: ours share the last one, single if need be. */
static void test_others_hold_counters(void **state)
{
	uint32_t running = 0;
	struct meter *m;

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		add(ucf, i, 0, 0);
	on_ucf->held = 3;
	m = open_meter(0.005);
	run(m, 1000 * MS, 100 * MS);
	nr_seen = 0;
	run(m, 1000 * MS, 100 * MS);
	for (uint32_t i = 0; i < 4; i++) {
		struct reading sum = sum_of(i);

		assert_true(sum.enabled_ns > 900 * MS);
		running += sum.running_ns > 0;
		assert_true(sum.running_ns || !sum.value);
	}
	/* The fake never rotates, so one runs and the others wait. */
	assert_int_equal(running, 1);
	check_segments();
	meter_close(m);
}

/*
 * Where our counters of traffic count, nothing takes turns: neither sets of ours, nor in the kernel,
 * which would stop them. Where these take turns themselves, nothing else counts.
 */
static void test_beside_traffic(void **state)
{
	static const struct {
		bool pinned;
		uint32_t held, events, counting, refused;
	} cases[] = {
		{ true, 2, 2, 2, 0 },
		{ true, 3, 2, 0, 0 },
		{ true, 0, 6, 3, 3 },
		{ false, 0, 2, 0, 2 },
	};

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(cases); k++) {
		const struct counted_pmu counted = { .pmu = ucf, .pinned = cases[k].pinned };
		const struct meter_options o = {
			.budget = 0.5, .turn_ns = 100 * MS, .counted = &counted, .nr_counted = 1
		};
		uint32_t counting = 0, refused = 0, stops;
		struct meter *m = NULL;
		struct diag d = { 0 };

		start(state);
		for (uint32_t i = 0; i < cases[k].events; i++)
			add(ucf, i, 0, 0);
		add(cmem, 0, 0, 0);
		on_ucf->held = cases[k].held;
		assert_int_equal(meter_open_with(&list, &fs, &o, &fake_kernel, &d, &m), 0);
		stops = fake.stops;
		run(m, 1000 * MS, 100 * MS);
		for (uint32_t i = 0; i < FAKE_MAX; i++) {
			const struct fake_event *e = &fake.events[i];

			if (e->used && e->attr.type == ucf->type)
				assert_true(fake.events[e->leader].attr.pinned);
		}
		for (uint32_t i = 0; i < cases[k].events; i++) {
			struct reading sum = sum_of(i);

			refused += meter_refused(m, i) == -EBUSY;
			counting += sum.running_ns > 0;
			assert_true(!sum.running_ns || sum.running_ns == sum.enabled_ns);
		}
		assert_int_equal(fake.stops, stops);
		assert_int_equal(counting, cases[k].counting);
		assert_int_equal(refused, cases[k].refused);
		meter_close(m);
	}
}

/* A requester id that somebody else has set: reported as not running, and seldom tried. */
static void test_others_hold_the_setting(void **state)
{
	struct meter *m;
	uint32_t complaints;

	(void)state;
	add(pcie, 0, FAKE_BDF_EN | 0xa10000, 0);
	m = open_meter(0.005);
	assert_int_equal(fake.complaints, 0);
	meter_close(m);
	on_pcie->busy_setting = FAKE_BDF_EN | 0xc10000;
	m = open_meter(0.005);
	complaints = fake.complaints;
	assert_in_range(complaints, 1, 3);
	run(m, 2000 * MS, 100 * MS);
	assert_int_equal(fake.complaints, complaints);
	assert_true(sum_of(0).enabled_ns > 1900 * MS);
	assert_int_equal(sum_of(0).running_ns, 0);
	assert_int_equal(sum_of(0).value, 0);
	/* Released: found out within ten seconds. */
	on_pcie->busy_setting = 0;
	run(m, 11000 * MS, 100 * MS);
	assert_true(sum_of(0).running_ns > 0);
	assert_int_equal(fake.complaints, complaints);
	check_segments();
	meter_close(m);
	/* That it takes turns with others does not mean that it is tried at each of them. */
	add(pcie, 0, FAKE_BDF_EN | 0xe10000, 0);
	on_pcie->busy_setting = FAKE_BDF_EN | 0xc10000;
	m = open_meter(0.005);
	run(m, 2000 * MS, 100 * MS);
	assert_in_range(fake.complaints - complaints, 2, 6);
	meter_close(m);
}

/* Nobody reads while the run lasts: what others release is found all the same. */
static void test_care_without_readings(void **state)
{
	const uint64_t never = 1000000 * MS;
	uint32_t running = 0;
	struct meter *m;

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		add(ucf, i, 0, 0);
	add(pcie, 0, FAKE_BDF_EN | 0xa10000, 0);
	on_ucf->held = 3;
	on_pcie->busy_setting = FAKE_BDF_EN | 0xc10000;
	m = open_meter(0.005);
	assert_true(meter_next_ns(m) <= fake.now + 1000 * MS);
	assert_true(meter_next_ns(m) > fake.now + 900 * MS);
	run(m, 1100 * MS, never);
	assert_true(meter_next_ns(m) > fake.now + 9000 * MS);
	on_pcie->busy_setting = 0;
	run(m, 14000 * MS, never);
	assert_int_equal(meter_read(m, true, &sink, NULL), 0);
	check_segments();
	assert_true(sum_of(4).running_ns > 3000 * MS);
	for (uint32_t i = 0; i < 4; i++)
		running += sum_of(i).running_ns > 0;
	/* The fake never rotates: of four single events, one runs. */
	assert_int_equal(running, 1);
	assert_true(cost_of(m, 0).readings < 10);
	meter_close(m);
}

/* That somebody looks after it costs no more than the budget. */
static void test_care_is_rationed(void **state)
{
	struct meter *m;

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		add(ucf, i, 0, 0);
	on_ucf->held = 3;
	fake.read_ns = 20 * MS;
	m = open_meter(0.0005);
	run(m, 30000 * MS, 1000000 * MS);
	assert_int_equal(nr_seen, 0);
	assert_true(meter_next_ns(m) > fake.now);
	meter_close(m);
}

static void test_requester_ids(void **state)
{
	struct meter *m;

	(void)state;
	add(pcie, FAKE_CYCLES, 0, 0);
	add(pcie, 0, FAKE_BDF_EN | 0xa10000, 0);
	add(pcie, 1, FAKE_BDF_EN | 0xa10000, 0);
	add(pcie, 0, FAKE_BDF_EN | 0xc10000, 0);
	add(pcie, 0, 0, 0);
	m = open_meter(0.005);
	assert_int_equal(cost_of(m, 0).sets, 3);
	run(m, 2000 * MS, 100 * MS);
	for (uint32_t i = 1; i < 5; i++)
		assert_true(sum_of(i).running_ns > 500 * MS);
	assert_true(sum_of(0).running_ns > 1900 * MS);
	assert_int_equal(fake.complaints, 0);
	check_segments();
	meter_close(m);
	/* One setting: cycles are in the base, with the others' requester id. */
	list.nr = 3;
	for (uint32_t i = 2; i < 12; i++)
		add(pcie, i, FAKE_BDF_EN | 0xa10000, 0);
	m = open_meter(0.005);
	run(m, 1000 * MS, 100 * MS);
	assert_int_equal(fake.complaints, 0);
	for (size_t i = 0; i < FAKE_MAX; i++) {
		if (fake.events[i].used)
			assert_true(fake.events[i].attr.config1 == (FAKE_BDF_EN | 0xa10000));
	}
	meter_close(m);
}

static void test_windows(void **state)
{
	struct meter *m;

	(void)state;
	for (uint32_t i = 0; i < 12; i++)
		add(tgt, FAKE_WINDOW, (uint64_t)i << 20, ~0ull << 20);
	add(tgt, 4, 0, 0);
	m = open_meter(0.005);
	assert_int_equal(cost_of(m, 0).sets, 2);
	run(m, 1000 * MS, 100 * MS);
	for (uint32_t i = 0; i < 12; i++)
		assert_true(sum_of(i).running_ns > 300 * MS);
	assert_int_equal(fake.complaints, 0);
	meter_close(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_everything_fits),	  TEST(test_turns),
		TEST(test_gap_has_base_only),	  TEST(test_dear_ones_wait),
		TEST(test_first_reading),	  TEST(test_first_turns),
		TEST(test_first_turns_last),	  TEST(test_equal_parts),
		TEST(test_turns_are_rationed),	  TEST(test_pause_is_not_charged),
		TEST(test_turns_are_fair),	  TEST(test_dear_ones_are_fair),
		TEST(test_failed_reading),	  TEST(test_thrown_out),
		TEST(test_failing_readings),	  TEST(test_active_cpu_changes),
		TEST(test_account_changes),	  TEST(test_old_reading),
		TEST(test_turn_comes_back),	  TEST(test_others_hold_counters),
		TEST(test_beside_traffic),	  TEST(test_others_hold_the_setting),
		TEST(test_care_without_readings), TEST(test_care_is_rationed),
		TEST(test_requester_ids),	  TEST(test_windows),
	};

	return cmocka_run_group_tests(tests, find_all, drop_all);
}
