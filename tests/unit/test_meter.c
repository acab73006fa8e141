// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/perf_event.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/array.h"
#include "fake_perf.h"
#include "platform/meter_parts.h"
#include "tree.h"

#define MS	  1000000ull
#define MAX_WANTS 64
#define MAX_SEGS  4096

/* PMUs of the virtual T410 and the tree they were found in. */
static struct tree tree;
static struct sysfs fs;
static struct pmu_list pmus;
static const struct pmu *ucf, *pcie, *tgt, *cmem;
static struct fake_pmu *on_ucf, *on_pcie, *on_tgt, *on_cmem;

static struct want wants[MAX_WANTS];
static struct want_list list;

/* What the sink was given. */
static struct seen {
	uint32_t pmu;
	uint64_t start_ns, end_ns;
	size_t nr;
	uint32_t counters[MAX_WANTS];
	struct reading readings[MAX_WANTS];
} seen[MAX_SEGS];
static size_t nr_seen;
static int sink_error;

static int keep(void *arg, const struct stat_segment *s)
{
	struct seen *at = &seen[nr_seen++];

	(void)arg;
	assert_true(nr_seen <= MAX_SEGS && s->nr <= MAX_WANTS);
	*at = (struct seen){
		.pmu = s->pmu, .start_ns = s->start_ns, .end_ns = s->end_ns, .nr = s->nr
	};
	memcpy(at->counters, s->counters, s->nr * sizeof(*s->counters));
	memcpy(at->readings, s->readings, s->nr * sizeof(*s->readings));
	return sink_error;
}

static const struct meter_sink sink = { .segment = keep };

static int find_all(void **state)
{
	(void)state;
	tree_make_t410(&tree);
	assert_int_equal(sysfs_open(tree.root, NULL, &fs), 0);
	assert_int_equal(pmu_list_read(&fs, NULL, &pmus), 0);
	ucf = pmu_find(&pmus, PMU_UCF, 0, -1);
	pcie = pmu_find(&pmus, PMU_PCIE, 0, 0);
	tgt = pmu_find(&pmus, PMU_PCIE_TGT, 0, 0);
	cmem = pmu_find(&pmus, PMU_CMEM_LATENCY, 0, -1);
	return !ucf || !pcie || !tgt || !cmem;
}

static int drop_all(void **state)
{
	(void)state;
	pmu_list_free(&pmus);
	sysfs_close(&fs);
	tree_remove(&tree);
	return 0;
}

static int start(void **state)
{
	(void)state;
	memset(wants, 0, sizeof(wants));
	list = (struct want_list){ .wants = wants };
	nr_seen = 0;
	sink_error = 0;
	fake_reset();
	on_ucf = fake_add(ucf->type, 4, 1);
	on_pcie = fake_add(pcie->type, 4, 1);
	on_pcie->has_setting = true;
	on_tgt = fake_add(tgt->type, 16, 1);
	on_tgt->max_windows = 8;
	on_cmem = fake_add(cmem->type, 32, 0);
	return 0;
}

/* Whatever a test did, it leaves no event open and nobody had to complain. */
static int finish(void **state)
{
	(void)state;
	assert_int_equal(fake.open_now, 0);
	return 0;
}

static struct want *add(const struct pmu *pmu, uint64_t config, uint64_t config1, uint64_t config2)
{
	struct want *want = &wants[list.nr++];

	assert_true(list.nr <= MAX_WANTS);
	want->pmu = pmu;
	want->type = pmu ? pmu->type : PERF_TYPE_SOFTWARE;
	want->config = (struct pmu_config){ config, config1, config2, 0 };
	snprintf(want->name, sizeof(want->name), "%s/%llx/", pmu ? pmu->name : "software",
		 (unsigned long long)config);
	return want;
}

static struct meter *open_meter(double budget)
{
	struct meter_options o = { .budget = budget, .turn_ns = 100 * MS };
	struct meter *m = NULL;
	struct diag d = { 0 };

	assert_int_equal(meter_open_with(&list, &fs, &o, &fake_kernel, &d, &m), 0);
	assert_string_equal(d.what, "");
	return m;
}

/* Let time pass in small steps, with readings every @every ns. */
static void run(struct meter *m, uint64_t ns, uint64_t every)
{
	uint64_t end = fake.now + ns, next = fake.now + every;

	while (fake.now < end) {
		fake_pass(MS / 2);
		assert_int_equal(meter_step(m, fake.now, &sink, NULL), 0);
		if (fake.now >= next) {
			assert_int_equal(meter_read(m, false, &sink, NULL), 0);
			next += every;
		}
	}
}

static struct reading sum_of(uint32_t want)
{
	struct reading sum = { 0 };

	for (size_t i = 0; i < nr_seen; i++) {
		for (size_t k = 0; k < seen[i].nr; k++) {
			if (seen[i].counters[k] != want)
				continue;
			sum.value += seen[i].readings[k].value;
			sum.enabled_ns += seen[i].readings[k].enabled_ns;
			sum.running_ns += seen[i].readings[k].running_ns;
		}
	}
	return sum;
}

/* The one fake event with this configuration that is open now. */
static const struct fake_event *open_event(const struct want *want)
{
	const struct fake_event *found = NULL;

	for (size_t i = 0; i < FAKE_MAX; i++) {
		const struct fake_event *e = &fake.events[i];

		if (!e->used || e->attr.type != want->type ||
		    e->attr.config != want->config.config ||
		    e->attr.config1 != want->config.config1)
			continue;
		assert_null(found);
		found = e;
	}
	return found;
}

static struct stat_cost cost_of(const struct meter *m, size_t want)
{
	struct stat_cost cost;

	meter_cost(m, meter_pmu(m, want), &cost);
	return cost;
}

/* Segments of a PMU do not overlap, and every reading is what the fake counts. */
static void check_segments(void)
{
	for (size_t i = 0; i < nr_seen; i++) {
		assert_true(seen[i].start_ns <= seen[i].end_ns);
		for (size_t k = 0; k < i; k++) {
			if (seen[k].pmu == seen[i].pmu)
				assert_true(seen[k].end_ns <= seen[i].start_ns);
		}
		for (size_t k = 0; k < seen[i].nr; k++) {
			const struct want *want = &wants[seen[i].counters[k]];

			assert_true(seen[i].readings[k].value ==
				    seen[i].readings[k].running_ns *
					    fake_rate(want->config.config));
		}
	}
}

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

/* Cheap PMUs are read whenever asked, and what they take is not there for dear ones. */
static void test_cheap_ones_do_not_wait(void **state)
{
	struct meter *m;

	(void)state;
	add(ucf, 0, 0, 0);
	add(cmem, 0, 0, 0);
	fake.read_ns = 2 * MS;
	m = open_meter(0.01);
	run(m, 2000 * MS, 100 * MS);
	assert_int_equal(cost_of(m, 0).readings, 21);
	assert_int_equal(cost_of(m, 0).deferred, 0);
	assert_int_equal(cost_of(m, 1).readings, 1);
	assert_int_equal(cost_of(m, 1).deferred, 20);
	meter_close(m);
}

/* Two dear PMUs share what there is: the one that has waited longer comes first. */
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
	assert_true(seen[3].start_ns == start_ns);
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

static void set_active_cpu(const char *cpu)
{
	char path[128];

	/* In the tree the PMU is a link to its device, which is fine for a path. */
	snprintf(path, sizeof(path), PMU_DEVICES "/%s/cpumask", ucf->name);
	tree_put(&tree, path, cpu);
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
	/* No CPU is left for a while: those events are absent, and the rest goes on. */
	fake.cpu_gone = 1;
	run(m, 200 * MS, 1000 * MS);
	assert_true(cost_of(m, 0).failed > 0);
	fake.cpu_gone = 0;
	set_active_cpu("0\n");
	nr_seen = 0;
	run(m, 400 * MS, 1000 * MS);
	for (uint32_t i = 0; i < 8; i++)
		assert_true(sum_of(i).running_ns > 50 * MS);
	check_segments();
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

/* A child that waits for a byte, touches pages, and lets a child of its own do the same. */
static pid_t child_with_pages(int go, bool exec)
{
	pid_t pid = fork();
	char byte;

	assert_true(pid >= 0);
	if (pid)
		return pid;
	touch_pages();
	if (read(go, &byte, 1) != 1)
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
	int go[2], status, err;
	pid_t pid;

	add(NULL, PERF_COUNT_SW_PAGE_FAULTS, 0, 0)->set = 1;
	add(NULL, PERF_COUNT_SW_TASK_CLOCK, 0, 0)->set = 1;
	add(NULL, PERF_COUNT_SW_CONTEXT_SWITCHES, 0, 0);
	assert_int_equal(pipe(go), 0);
	assert_int_equal(sysfs_open(NULL, &d, &real), 0);
	pid = child_with_pages(go[0], exec);
	o.pid = pid;
	err = meter_open(&list, &real, &o, &d, &m);
	assert_true(!err || err == -EACCES || err == -ENODEV);
	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(go[0]);
	close(go[1]);
	sysfs_close(&real);
	if (err)
		skip();
	assert_int_equal(meter_read(m, true, &sink, &d), 0);
	assert_int_equal(nr_seen, 1);
	assert_int_equal(seen[0].nr, 3);
	/* Before exec nothing counts; afterwards the pages of both, and few others. */
	if (exec)
		assert_in_range(sum_of(0).value, 10, PAGES - 1);
	else
		assert_in_range(sum_of(0).value, 2 * PAGES, 3 * PAGES - 1);
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
		skip();
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
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_everything_fits),
		TEST(test_turns),
		TEST(test_gap_has_base_only),
		TEST(test_dear_ones_wait),
		TEST(test_cheap_ones_do_not_wait),
		TEST(test_dear_ones_are_fair),
		TEST(test_failed_reading),
		TEST(test_thrown_out),
		TEST(test_failing_readings),
		TEST(test_active_cpu_changes),
		TEST(test_others_hold_counters),
		TEST(test_others_hold_the_setting),
		TEST(test_requester_ids),
		TEST(test_windows),
		TEST(test_refused),
		TEST(test_unusable_pmu),
		TEST(test_too_large_a_set),
		TEST(test_no_files_left),
		TEST(test_sink_error),
		TEST(test_limit_of_files),
		TEST(test_child_is_counted),
		TEST(test_child_from_exec_on),
		TEST(test_all_cpus),
		TEST(test_cores_beside_pmus),
	};

	return cmocka_run_group_tests(tests, find_all, drop_all);
}
