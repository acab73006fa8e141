/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What tests of the meter share: PMUs of the virtual T410, wants, and what a sink was given. */
#ifndef TEST_METER_WORLD_H
#define TEST_METER_WORLD_H

#include "fake_perf.h"
#include "platform/meter/internal.h"
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

static inline int keep(void *arg, const struct stat_segment *s)
{
	struct seen *at = &seen[nr_seen++];

	(void)arg;
	assert_true(nr_seen <= MAX_SEGS && s->nr <= MAX_WANTS);
	*at = (struct seen){
		.pmu = s->pmu, .start_ns = s->start_ns, .end_ns = s->end_ns, .nr = s->nr
	};
	for (size_t i = 0; i < s->nr; i++) {
		at->counters[i] = s->counters[i];
		at->readings[i] = s->readings[i];
	}
	return sink_error;
}

static const struct meter_sink sink = { .segment = keep };

static inline int find_all(void **state)
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

static inline int drop_all(void **state)
{
	(void)state;
	pmu_list_free(&pmus);
	sysfs_close(&fs);
	tree_remove(&tree);
	return 0;
}

static inline int start(void **state)
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
static inline int finish(void **state)
{
	(void)state;
	assert_int_equal(fake.open_now, 0);
	return 0;
}

static inline struct want *add(const struct pmu *pmu, uint64_t config, uint64_t config1,
			       uint64_t config2)
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

static inline struct meter *open_meter(double budget)
{
	struct meter_options o = { .budget = budget, .turn_ns = 100 * MS };
	struct meter *m = NULL;
	struct diag d = { 0 };

	assert_int_equal(meter_open_with(&list, &fs, &o, &fake_kernel, &d, &m), 0);
	assert_string_equal(d.what, "");
	return m;
}

/* Let time pass in small steps, with readings every @every ns. */
static inline void run(struct meter *m, uint64_t ns, uint64_t every)
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

static inline struct reading sum_of(uint32_t want)
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
static inline const struct fake_event *open_event(const struct want *want)
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

static inline struct stat_cost cost_of(const struct meter *m, size_t want)
{
	struct stat_cost cost;

	meter_cost(m, meter_pmu(m, want), &cost);
	return cost;
}

/* Segments of a PMU do not overlap, and every reading is what the fake counts. */
static inline void check_segments(void)
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

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, finish)

#endif
