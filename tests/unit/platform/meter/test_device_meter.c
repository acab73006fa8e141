// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Devices counted by the meter, on a kernel that logs what must not be: plan, turns, windows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "live/sources/device_windows.h"
#include "port_world.h"
#include "fake_perf.h"
#include "platform/meter/device_shares.h"
#include "platform/plan/device_turns.h"
#include "platform/meter/internal.h"

#define MS	    1000000ull
#define MAX_SEEN    20000
#define FIRST_GROUP 7
#define FIRST_PROBE 3

static struct device_plan plan;
static struct meter *meter;
static struct device_windows *windows;
static struct device_shares *shares;

static struct window_seen {
	uint32_t group;
	uint64_t start_ns, end_ns;
	struct reading readings[16];
} seen[MAX_SEEN];
static struct trace_sample samples[MAX_SEEN];
static size_t nr_seen, nr_samples;
static int sink_error;
static uint64_t interval_ns;

static int on_window(const struct trace_window *w)
{
	const struct device_group *g = &plan.groups[w->group - FIRST_GROUP];
	struct window_seen *s = &seen[nr_seen++];

	assert_true(nr_seen < MAX_SEEN && w->group >= FIRST_GROUP);
	*s = (struct window_seen){ w->group - FIRST_GROUP, w->start_ns, w->end_ns, { { 0 } } };
	memcpy(s->readings, w->readings, g->nr * sizeof(*w->readings));
	return sink_error;
}

static int on_event(void *arg, const struct trace_event *e)
{
	const struct trace_sample *s = &e->sample;

	(void)arg;
	if (e->type == TRACE_WINDOW)
		return on_window(&e->window);
	assert_int_equal(e->type, TRACE_SAMPLE);
	assert_true(s->probe >= FIRST_PROBE && s->start_ns < s->end_ns);
	samples[nr_samples++] = *s;
	return 0;
}

static int on_segment(void *arg, const struct stat_segment *s)
{
	(void)arg;
	if (shares)
		device_shares_segment(shares, s);
	return device_windows_segment(windows, s);
}

static const struct meter_sink sink = { .segment = on_segment };

/* Plans, opens and begins. */
static void open_all(uint32_t events, bool by_destination, double budget)
{
	struct device_windows_options o = {
		.plan = &plan,
		.first_group = FIRST_GROUP,
		.first_probe = FIRST_PROBE,
		.out = { on_event, NULL },
	};
	struct meter_options how = {
		.budget = budget,
		.turn_ns = 50 * MS,
		.interval_ns = interval_ns,
		.weighed = true,
		.read_ns = 50 * MS,
	};
	uint32_t pmus[256];
	struct plan_capacity capacities[64], found[256];
	struct diag d = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(capacities); i++)
		capacities[i] = (struct plan_capacity){ events, 1 };
	assert_int_equal(world_plan(capacities, by_destination, &d, &plan), 0);
	assert_int_equal(meter_capacities_with(&plan.wants, &world.fs, &fake_kernel, &d, found), 0);
	assert_int_equal(fake.open_now, 0);
	assert_int_equal(meter_open_with(&plan.wants, &world.fs, &how, &fake_kernel, &d, &meter),
			 0);
	for (size_t i = 0; i < plan.wants.nr; i++)
		pmus[i] = meter_pmu(meter, i);
	o.pmus = pmus;
	assert_int_equal(device_windows_new(&o, &windows), 0);
	assert_int_equal(device_shares_new(&plan, meter, &shares), 0);
	assert_int_equal(meter_read(meter, false, &sink, NULL), 0);
	assert_int_equal(nr_seen, 0);
	device_windows_begin(windows, fake.now);
}

/* As in a live run: steps, and every so often a mark. */
static void run(uint64_t ns, uint64_t every)
{
	uint64_t end = fake.now + ns, next = fake.now + every;

	while (fake.now < end) {
		fake_pass(MS / 2);
		assert_int_equal(meter_step(meter, fake.now, &sink, NULL), 0);
		if (fake.now < next)
			continue;
		assert_int_equal(meter_read(meter, false, &sink, NULL), 0);
		assert_int_equal(device_windows_fill(windows, 0, 0), 0);
		next += every;
	}
	end = fake.now;
	assert_int_equal(meter_read(meter, true, &sink, NULL), 0);
	assert_int_equal(device_windows_fill(windows, end, fake.now), 0);
}

static uint64_t rate_of(const struct perf_event_attr *a);

/* Windows of each group tile the time, and have what the fake counts and nothing else. */
static void check(uint64_t begin)
{
	for (size_t g = 0; g < plan.nr_groups; g++) {
		const struct device_group *group = &plan.groups[g];
		uint64_t at = begin;

		for (size_t i = 0; i < nr_seen; i++) {
			if (seen[i].group != g)
				continue;
			assert_true(seen[i].start_ns == at && seen[i].end_ns > at);
			at = seen[i].end_ns;
			for (uint32_t k = 0; k < group->nr && !fake.rate; k++) {
				const struct want *want =
					&plan.wants.wants[plan.counter_wants[group->first + k]];
				const struct reading *r = &seen[i].readings[k];

				assert_true(r->value ==
					    r->running_ns * fake_rate(want->config.config));
				assert_true(r->running_ns <= r->enabled_ns);
			}
		}
		/* up to the PMU's last reading, which takes its time */
		assert_true(at <= fake.now && at + 5 * MS > fake.now);
	}
	assert_int_equal(device_windows_bad(windows), 0);
	assert_int_equal(fake.complaints, 0);
}

/* Part of the time in which a group (of a device's first counter) counted. */
static double coverage(size_t device)
{
	uint64_t running = 0, all = 0;

	for (size_t i = 0; i < nr_seen; i++) {
		const struct device_group *g = &plan.groups[seen[i].group];

		if (plan.counters[g->first].device != device + 1)
			continue;
		running += seen[i].readings[0].running_ns;
		all += seen[i].end_ns - seen[i].start_ns;
	}
	return (double)running / all;
}

static void reset(void)
{
	memset(seen, 0, sizeof(seen));
	nr_seen = nr_samples = 0;
	sink_error = 0;
	interval_ns = 0;
	fake_reset();
}

static int start(void **state)
{
	int err = world_start_t410(state);

	reset();
	for (size_t i = 0; i < world.pmus.nr && !err; i++) {
		const struct pmu *pmu = &world.pmus.pmus[i];

		if (pmu->kind == PMU_PCIE && pmu->socket == 0 && pmu->rc < 3)
			fake_add(pmu->type, 8, 1)->has_setting = true;
	}
	return err;
}

static int start_ports(void **state)
{
	int err = world_start_ampereone(state);

	reset();
	for (size_t i = 0; i < world.pmus.nr && !err; i++)
		if (world.pmus.pmus[i].kind == PMU_DWC_PORT)
			fake_add(world.pmus.pmus[i].type, 1, 0);
	return err;
}

static int finish(void **state)
{
	device_shares_free(shares);
	device_windows_free(windows);
	device_windows_free(NULL);
	device_shares_free(NULL);
	meter_close(meter);
	device_plan_free(&plan);
	shares = NULL;
	windows = NULL;
	meter = NULL;
	assert_int_equal(fake.open_now, 0);
	return world_finish(state);
}

static void test_four_on_one(void **state)
{
	uint64_t begin;

	(void)state;
	for (int i = 0; i < 4; i++)
		world_add(0, 1, 0, false);
	open_all(8, false, 0.005);
	begin = fake.now;
	run(10000 * MS, 1000 * MS);
	check(begin);
	for (size_t i = 0; i < 4; i++)
		assert_true(coverage(i) > 0.24 && coverage(i) < 0.25);
	/* The port as a whole, which here is not the sum of its devices */
	assert_true(coverage(4) > 0.015 && coverage(4) < 0.03);
	assert_true(meter_busiest(meter) < 0.005);
	assert_true(nr_samples > 150);
	for (size_t i = 0; i < nr_samples; i++) {
		assert_true(samples[i].cycles == 2 * samples[i].running_ns);
		assert_true(samples[i].outstanding == 7 * samples[i].running_ns);
		assert_true(samples[i].requests == 5 * samples[i].running_ns);
	}
	assert_true(device_windows_held(windows, DEVICE_WINDOWS_ALL) == 0);
}

/* Four devices below a port move the same, and together as much as the port. */
static uint64_t rate_of_four(const struct perf_event_attr *a)
{
	if (a->config == FAKE_CYCLES)
		return 2;
	return a->config1 & FAKE_BDF_EN ? 5 : 20;
}

/* The end of intervals is known: nobody has a turn more than others then. */
static void test_level(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++)
		world_add(0, 1, 0, false);
	fake.rate = rate_of_four;
	interval_ns = 1000 * MS;
	fake.open_ns = MS / 8;
	open_all(8, false, 0.005);
	meter_turns_restart(meter);
	nr_seen = 0;
	for (int k = 0; k < 10; k++) {
		run(1000 * MS, 1000 * MS);
		for (size_t i = 0; i < 4; i++)
			assert_true(fabs(coverage(i) - coverage(0)) < 0.025 / (k + 1));
	}
	assert_int_equal(fake.complaints, 0);
}

/* After weeks the last ns of an interval are nothing beside what all have had. */
static void test_level_after_weeks(void **state)
{
	struct meter_pmu *p;

	(void)state;
	for (int i = 0; i < 4; i++)
		world_add(0, 1, 0, false);
	interval_ns = 1000 * MS;
	open_all(8, false, 0.005);
	p = &meter->pmus[0];
	assert_true(p->nr_turns > 1);
	for (size_t t = 0; t < p->nr_turns; t++)
		p->shares[t].had = 1e16;
	meter->end_ns = fake.now + 1;
	turns_begin(meter, p);
	assert_in_range(p->turn_end_ns - p->turn_begin_ns, MS, 200 * MS);
}

/* Opening takes its time: then turns are longer, and changes take a hundredth all the same. */
static void slow_gaps(uint64_t ns, double least, uint32_t least_turns, uint32_t most_turns)
{
	struct stat_cost cost;

	for (int i = 0; i < 4; i++)
		world_add(0, 1, 0, false);
	interval_ns = 2000 * MS;
	fake.rate = rate_of_four;
	fake.open_ns = ns;
	open_all(8, false, 0.005);
	meter_turns_restart(meter);
	nr_seen = 0;
	run(10000 * MS, 2000 * MS);
	for (size_t i = 0; i < 4; i++)
		assert_true(coverage(i) > least && coverage(i) < 0.25);
	/* The port as a whole: some times at first, and rarely as the sum fits */
	assert_true(coverage(4) > 0.006 && coverage(4) < 0.012);
	meter_cost(meter, 0, &cost);
	assert_in_range(cost.turns, least_turns, most_turns);
	assert_int_equal(fake.complaints, 0);
}

static void test_slow_gaps(void **state)
{
	(void)state;
	/* a set is six events */
	slow_gaps(MS / 8, 0.243, 120, 145);
}

static void test_quick_gaps(void **state)
{
	(void)state;
	slow_gaps(MS / 100, 0.245, 190, 215);
}

/* Masks of ports are one setting: nothing takes turns, and nothing is missed. */
static void test_ports_do_not_turn(void **state)
{
	uint64_t begin;

	(void)state;
	world_add(0, 1, 0, true);
	world_add(0, 2, 1, true);
	world_add(0, 2, 2, true);
	open_all(8, false, 0.005);
	assert_int_equal(plan.nr_devices, 3);
	/* Where two do not fit with all their events, these take turns beside the bytes. */
	assert_int_equal(meter_turns(meter, 0), 0);
	assert_int_equal(meter_turns(meter, 1), 2);
	begin = fake.now;
	run(2000 * MS, 500 * MS);
	check(begin);
	for (size_t i = 0; i < plan.nr_groups; i++) {
		const struct counter *c = &plan.counters[plan.groups[i].first];
		uint64_t running = 0, nr = 0;

		for (size_t k = 0; k < nr_seen; k++) {
			if (seen[k].group != i || c->unit != UNIT_BYTES)
				continue;
			running += seen[k].readings[0].running_ns;
			nr++;
		}
		if (c->unit != UNIT_BYTES)
			continue;
		assert_true(running + MS > 2000 * MS);
		assert_in_range(nr, 35, 200);
	}
}

/* One RC with a mask and ids: the mask has turns, too. */
static void test_mixed(void **state)
{
	uint64_t begin;

	(void)state;
	world_add(0, 1, 0, true);
	world_add(0, 1, 1, false);
	world_add(0, 1, 1, false);
	open_all(8, false, 0.005);
	begin = fake.now;
	run(6000 * MS, 1000 * MS);
	check(begin);
	for (size_t i = 0; i < 3; i++)
		assert_true(coverage(i) > 0.3 && coverage(i) < 0.36);
}

static void test_destinations(void **state)
{
	uint64_t begin;

	(void)state;
	world_add(0, 1, 1, false);
	world_add(0, 1, 1, false);
	open_all(8, true, 0.005);
	begin = fake.now;
	run(4000 * MS, 1000 * MS);
	check(begin);
	assert_true(coverage(0) > 0.2 && coverage(0) < 0.26);
	assert_true(coverage(1) > 0.2 && coverage(1) < 0.26);
}

/* The first device rests, the second changes from turn to turn, the others do not. */
static uint64_t rate_of(const struct perf_event_attr *a)
{
	uint64_t bus = a->config1 >> 16 & 0xff;

	if (a->config == FAKE_CYCLES)
		return 2;
	if (bus == 0x81)
		return 0;
	if (bus == 0x82)
		return fake.now / (40 * MS) * 2654435761u >> 8 & 31;
	return 8;
}

static void test_weights(void **state)
{
	uint64_t begin;

	(void)state;
	for (int i = 0; i < 4; i++)
		world_add(0, 1, 0, false);
	fake.rate = rate_of;
	open_all(8, false, 0.005);
	begin = fake.now;
	run(10000 * MS, 1000 * MS);
	check(begin);
	assert_true(coverage(0) > 0.03 && coverage(0) < 0.1);
	assert_true(coverage(1) > 0.35 && coverage(1) < 0.65);
	assert_true(coverage(2) > 0.15 && coverage(3) > 0.15);
}

/* Somebody else counts with another id: absent, and said. Nothing but the rare try is made. */
static void test_held(void **state)
{
	(void)state;
	world_add(0, 1, 0, false);
	world_add(0, 1, 0, false);
	open_all(8, false, 0.005);
	run(1000 * MS, 1000 * MS);
	assert_true(device_windows_held(windows, DEVICE_WINDOWS_ALL) == 0);
	nr_seen = 0;
	for (size_t i = 0; i < fake.nr_pmus; i++)
		fake.pmus[i].held = 8;
	run(4000 * MS, 1000 * MS);
	/* The turn that was on the hardware goes on; no other one gets there. */
	for (size_t i = 0; i < nr_seen; i++)
		if (!seen[i].readings[0].running_ns)
			assert_true(seen[i].readings[0].value == 0);
	assert_true(device_windows_held(windows, DEVICE_WINDOWS_ALL) > 3500 * MS);
	assert_true(device_windows_held(windows, 0) > 1000 * MS);
	for (size_t i = 0; i < fake.nr_pmus; i++)
		fake.pmus[i].held = 0;
	run(11000 * MS, 1000 * MS);
	nr_seen = 0;
	run(2000 * MS, 1000 * MS);
	assert_true(coverage(0) > 0.4 && coverage(1) > 0.4);
	assert_int_equal(fake.complaints, 0);
}

/* Changes are dear: turns are longer, and the budget is kept. */
static void test_budget(void **state)
{
	uint64_t begin;

	(void)state;
	for (int i = 0; i < 4; i++)
		world_add(0, 1, 0, false);
	fake.read_ns = MS / 2;
	open_all(8, false, 0.005);
	begin = fake.now;
	run(10000 * MS, 2000 * MS);
	check(begin);
	assert_true(meter_busiest(meter) <= 0.0055);
	for (size_t i = 0; i < 4; i++)
		assert_true(coverage(i) > 0.1);
}

/* A device alone below dwc_rootport_8, and two below dwc_rootport_10 */
static void open_ports(void)
{
	world_add(0, 0, 0, true);
	world_add(0, 0, 1, false);
	world_add(0, 0, 1, false);
	for (size_t i = 0; i < world.list.nr; i++)
		world_function(i)->wiring.how = WIRING_UNKNOWN;
	for (int i = 0; i < 2; i++) {
		struct pci_function *port = &world.functions[world_port(0, 0, i)];

		port->domain = port->bus = 0;
		port->devfn = i ? 0x10 : 0x08;
	}
	open_all(1, false, 0.005);
	assert_int_equal(plan.nr_groups, 4);
}

static uint64_t running_of(size_t group)
{
	uint64_t running = 0;

	for (size_t i = 0; i < nr_seen; i++)
		running += seen[i].group == group ? seen[i].readings[0].running_ns : 0;
	return running;
}

/* Root ports have one counter each: reads and writes take turns, and nobody waits for another. */
static void test_ports_of_their_own(void **state)
{
	uint64_t begin;

	(void)state;
	open_ports();
	begin = fake.now;
	run(4000 * MS, 1000 * MS);
	check(begin);
	for (size_t g = 0; g < plan.nr_groups; g++)
		assert_in_range(running_of(g), 1900 * MS, 2050 * MS);
	assert_true(device_windows_held(windows, DEVICE_WINDOWS_ALL) == 0);
	assert_int_equal(nr_samples, 0);
}

/* The code of what a port receives is odd. */
static uint64_t rate_of_senders(const struct perf_event_attr *a)
{
	return a->config & 1 ? 0 : 8;
}

/* A direction that rests has less time, whether the port is one device's or stands for two. */
static void test_ports_that_send(void **state)
{
	(void)state;
	fake.rate = rate_of_senders;
	open_ports();
	run(8000 * MS, 1000 * MS);
	for (size_t g = 0; g < plan.nr_groups; g++)
		if (plan.counters[plan.groups[g].first].direction == DIRECTION_READ)
			assert_in_range(running_of(g), 5600 * MS, 6800 * MS);
		else
			assert_in_range(running_of(g), 1200 * MS, 2400 * MS);
	assert_int_equal(fake.complaints, 0);
}

/* --- conversion alone */

static int give(uint64_t start_ns, uint64_t end_ns, size_t nr, const uint32_t *counters,
		const struct reading *readings)
{
	struct stat_segment s = { 0, start_ns, end_ns, nr, counters, readings };

	return device_windows_segment(windows, &s);
}

static void make_windows(void)
{
	static const uint32_t pmus[16];
	struct device_windows_options o = {
		.plan = &plan,
		.pmus = pmus,
		.first_group = FIRST_GROUP,
		.first_probe = FIRST_PROBE,
		.out = { on_event, NULL },
	};
	struct diag d = { 0 };

	assert_int_equal(world_plan(NULL, false, &d, &plan), 0);
	assert_true(plan.wants.nr <= ARRAY_SIZE(pmus));
	assert_int_equal(device_windows_new(&o, &windows), 0);
}

static void test_tiling(void **state)
{
	static const uint32_t first[] = { 0, 1, 2, 3, 4, 5 };
	static const struct reading full[] = { { 10, 50, 50 }, { 20, 50, 50 }, { 3, 50, 50 },
					       { 40, 50, 50 }, { 5, 50, 50 },  { 60, 50, 50 } };

	(void)state;
	world_add(0, 1, 0, false);
	world_add(0, 1, 0, false);
	make_windows();
	/* Before the begin nothing is handed on. */
	assert_int_equal(give(50, 100, 6, first, full), 0);
	assert_int_equal(device_windows_fill(windows, 0, 0), 0);
	assert_int_equal(nr_seen, 0);
	device_windows_begin(windows, 100);
	assert_int_equal(give(110, 160, 6, first, full), 0);
	assert_int_equal(nr_seen, 2);
	assert_true(seen[0].end_ns == 110 && seen[0].readings[3].enabled_ns == 10);
	assert_true(seen[0].readings[0].running_ns == 0);
	assert_true(seen[1].start_ns == 110 && seen[1].end_ns == 160);
	assert_int_equal(seen[1].readings[0].value, 10);
	/* Order of counters is that of the plan, not that of the segment. */
	assert_int_equal(seen[1].readings[1].value, 20);
	assert_int_equal(nr_samples, 1);
	assert_int_equal(samples[0].probe, FIRST_PROBE);
	assert_int_equal(samples[0].cycles, 60);
	/* What is certain: up to the last segment of the PMU */
	assert_int_equal(device_windows_fill(windows, 0, 0), 0);
	assert_int_equal(nr_seen, 4);
	assert_true(seen[2].group == 1 && seen[2].start_ns == 100 && seen[2].end_ns == 160);
	assert_int_equal(device_windows_fill(windows, 0, 0), 0);
	assert_int_equal(nr_seen, 4);
	/* Held: no value, and said. */
	assert_int_equal(give(160, 210, 6, first,
			      (struct reading[6]){ { 0, 50, 0 },
						   { 0, 50, 0 },
						   { 0, 50, 0 },
						   { 0, 50, 0 },
						   { 0, 50, 0 },
						   { 60, 50, 50 } }),
			 0);
	assert_int_equal(nr_samples, 1);
	assert_int_equal(device_windows_held(windows, 0), 50);
	assert_int_equal(device_windows_held(windows, 1), 0);
	/* Right after the last reading nothing is missing; long after it the rest is one gap. */
	assert_int_equal(device_windows_fill(windows, 220, 300), 0);
	assert_true(seen[nr_seen - 1].end_ns == 210);
	/* So it is when the machine stood still behind that reading. */
	assert_int_equal(device_windows_fill(windows, 190, 1000 * MS), 0);
	assert_true(seen[nr_seen - 1].end_ns == 210);
	assert_int_equal(device_windows_fill(windows, 220, 1000 * MS), 0);
	assert_true(seen[nr_seen - 1].end_ns == 1000 * MS && seen[nr_seen - 2].end_ns == 1000 * MS);
}

/* A device that is no longer alone: its counts are those of others, too. */
static void test_stop(void **state)
{
	static const uint32_t first[] = { 5, 4, 3, 2, 1, 0 };
	static const struct reading full[6] = { { 1, 50, 50 }, { 1, 50, 50 }, { 1, 50, 50 },
						{ 1, 50, 50 }, { 1, 50, 50 }, { 1, 50, 50 } };

	(void)state;
	world_add(0, 1, 0, true);
	make_windows();
	device_windows_begin(windows, 100);
	assert_int_equal(give(100, 150, 6, first, full), 0);
	assert_true(device_windows_stop(windows, 0));
	assert_false(device_windows_stop(windows, 0));
	assert_int_equal(give(150, 200, 6, first, full), 0);
	assert_int_equal(nr_seen, 1);
	assert_int_equal(nr_samples, 1);
	assert_int_equal(device_windows_fill(windows, 0, 0), 0);
	assert_int_equal(nr_seen, 2);
	assert_true(seen[1].start_ns == 150 && seen[1].end_ns == 200);
	assert_true(seen[1].readings[0].value == 0 && seen[1].readings[0].running_ns == 0);
}

static void test_sink_errors(void **state)
{
	static const uint32_t first[] = { 0 };
	static const struct reading full[] = { { 1, 50, 50 } };

	(void)state;
	world_add(0, 1, 0, true);
	make_windows();
	device_windows_begin(windows, 100);
	sink_error = -EINVAL;
	assert_int_equal(give(100, 150, 1, first, full), 0);
	assert_int_equal(device_windows_bad(windows), 1);
	sink_error = -ENOSPC;
	assert_int_equal(give(150, 200, 1, first, full), -ENOSPC);
	assert_int_equal(device_windows_fill(windows, 300, 1000 * MS), -ENOSPC);
}

static void test_weigh(void **state)
{
	struct device_turn t[4] = { 0 };
	double weights[4];

	(void)state;
	device_turns_weigh(t, 0, weights);
	device_turns_weigh(t, 4, weights);
	for (int i = 0; i < 4; i++)
		assert_true(weights[i] == 1);
	/* Constant rates of any size: equal parts */
	for (int k = 0; k < 20; k++)
		for (int i = 0; i < 4; i++)
			device_turn_add(&t[i], 50000000ull << i, 50000000);
	device_turns_weigh(t, 4, weights);
	for (int i = 0; i < 4; i++)
		assert_true(weights[i] == 1);
	/* One falls silent, not at once. */
	device_turn_add(&t[0], 0, 50000000);
	device_turns_weigh(t, 4, weights);
	assert_true(weights[0] >= 1);
	for (int k = 0; k < 3; k++)
		device_turn_add(&t[0], 0, 50000000);
	device_turns_weigh(t, 4, weights);
	assert_true(weights[0] == DEVICE_IDLE_WEIGHT);
	/* And wakes up. */
	device_turn_add(&t[0], 50000000, 50000000);
	device_turns_weigh(t, 4, weights);
	assert_true(weights[0] >= 1);
	for (int k = 0; k < 20; k++)
		device_turn_add(&t[3], k & 1 ? 0 : 1000000000, 50000000);
	device_turns_weigh(t, 4, weights);
	assert_true(weights[3] == DEVICE_MAX_WEIGHT);
	assert_true(weights[1] == 1);
	t[1].apart = true;
	device_turns_weigh(t, 4, weights);
	assert_true(weights[1] == 0);
}

/* How often a port is looked at as a whole. */
static void test_port_part(void **state)
{
	struct device_turn t[] = {
		{ .port = 5 },
		{ .port = 5 },
		{ .port = 6 },
		{ .port = 5, .apart = true },
	};

	(void)state;
	for (int k = 0; k < 20; k++)
		for (int i = 0; i < 3; i++)
			device_turn_add(&t[i], 50000000, 50000000);
	assert_true(device_turns_port(t, 4, 3) == DEVICE_PORT_PART);
	for (int k = 0; k < DEVICE_PORT_TURNS; k++) {
		assert_true(device_turns_port(t, 4, 3) == DEVICE_PORT_PART);
		device_turn_add(&t[3], 40000000, 20000000);
	}
	assert_true(device_turns_port(t, 4, 3) == DEVICE_PORT_LATER);
	/* One that nobody counts begins to move. */
	for (int k = 0; k < 20; k++)
		device_turn_add(&t[3], 44000000, 20000000);
	assert_true(device_turns_port(t, 4, 3) == DEVICE_PORT_PART);
	/* As much as that is nothing where the rate differs all the time. */
	for (int k = 0; k < 40; k++)
		device_turn_add(&t[0], k & 1 ? 100000000 : 0, 50000000);
	assert_true(device_turns_port(t, 4, 3) == DEVICE_PORT_LATER);
}

#define TEST(f)	 cmocka_unit_test_setup_teardown(f, start, finish)
#define PORTS(f) cmocka_unit_test_setup_teardown(f, start_ports, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_four_on_one),
		TEST(test_level),
		TEST(test_level_after_weeks),
		TEST(test_slow_gaps),
		TEST(test_quick_gaps),
		TEST(test_ports_do_not_turn),
		TEST(test_mixed),
		TEST(test_destinations),
		TEST(test_weights),
		TEST(test_held),
		TEST(test_budget),
		PORTS(test_ports_of_their_own),
		PORTS(test_ports_that_send),
		TEST(test_tiling),
		TEST(test_stop),
		TEST(test_sink_errors),
		cmocka_unit_test(test_weigh),
		cmocka_unit_test(test_port_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
