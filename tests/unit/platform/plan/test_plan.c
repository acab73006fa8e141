// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/array.h"
#include "platform/plan/plan.h"
#include "random.h"
#include "tree.h"

/* PMUs of the virtual T410, found once. */
static struct pmu_list pmus;
static const struct pmu *ucf, *pcie, *tgt, *cmem;

static int find_pmus(void **state)
{
	struct tree tree;
	struct sysfs fs;

	(void)state;
	tree_make_t410(&tree);
	assert_int_equal(sysfs_open(tree.root, NULL, &fs), 0);
	assert_int_equal(pmu_list_read(&fs, NULL, &pmus), 0);
	sysfs_close(&fs);
	tree_remove(&tree);
	ucf = pmu_find(&pmus, PMU_UCF, 0, -1);
	pcie = pmu_find(&pmus, PMU_PCIE, 0, 0);
	tgt = pmu_find(&pmus, PMU_PCIE_TGT, 0, 0);
	cmem = pmu_find(&pmus, PMU_CMEM_LATENCY, 0, -1);
	return !ucf || !pcie || !tgt || !cmem;
}

static int drop_pmus(void **state)
{
	(void)state;
	pmu_list_free(&pmus);
	return 0;
}

/* Wants of one test, at most so many. */
#define MAX_WANTS 64
static struct want wants[MAX_WANTS];
static struct want_list list;

static void start(void)
{
	memset(wants, 0, sizeof(wants));
	list = (struct want_list){ .wants = wants };
}

static struct want *add(const struct pmu *pmu, uint64_t config, uint64_t config1, uint64_t config2)
{
	struct want *want = &wants[list.nr++];

	assert_true(list.nr <= MAX_WANTS);
	want->pmu = pmu;
	want->type = pmu->type;
	want->config =
		(struct pmu_config){ .config = config, .config1 = config1, .config2 = config2 };
	snprintf(want->name, sizeof(want->name), "%s/%llx,%llx/", pmu->family->short_name,
		 (unsigned long long)config, (unsigned long long)config1);
	return want;
}

#define CYCLES	   0x100000000ull
#define TGT_CYCLES 0x4
#define BDF(n)	   (1ull << 24 | (n) << 8)
#define WINDOW	   (1ull << 11)

static struct want *add_set(const struct pmu *pmu, uint64_t config, uint32_t set)
{
	struct want *want = add(pmu, config, 0, 0);

	want->set = set;
	return want;
}

static bool has(const uint32_t *events, size_t nr, uint32_t want)
{
	for (size_t i = 0; i < nr; i++) {
		if (events[i] == want)
			return true;
	}
	return false;
}

static bool in_base(const struct plan_pmu *p, uint32_t want)
{
	return has(p->base, p->nr_base, want);
}

static uint32_t turns_with(const struct plan_pmu *p, uint32_t want)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < p->nr_turns; i++)
		nr += has(p->turns[i].events, p->turns[i].nr, want);
	return nr;
}

static struct plan make(uint32_t events, uint32_t cycles)
{
	struct plan_capacity capacity = { events, cycles };
	struct diag d = { 0 };
	struct plan plan;

	assert_int_equal(plan_make(&list, &capacity, &d, &plan), 0);
	assert_string_equal(d.what, "");
	return plan;
}

static void refuse(uint32_t events, uint32_t cycles, const char *a, const char *b)
{
	struct plan_capacity capacity = { events, cycles };
	struct plan plan = { .nr_pmus = 77 };
	struct diag d = { 0 };

	assert_int_equal(plan_make(&list, &capacity, &d, &plan), -E2BIG);
	assert_non_null(strstr(d.what, a));
	assert_non_null(strstr(d.what, b));
	assert_true(d.help[0]);
	assert_int_equal(plan.nr_pmus, 77);
}

static void test_all_fit(void **state)
{
	struct plan plan;

	(void)state;
	start();
	add(ucf, 1, 0, 0);
	add(ucf, CYCLES, 0, 0);
	add(ucf, 2, 0, 0);
	plan = make(2, 1);
	assert_int_equal(plan.nr_pmus, 1);
	assert_ptr_equal(plan.pmus[0].pmu, ucf);
	assert_int_equal(plan.pmus[0].nr_base, 3);
	assert_int_equal(plan.pmus[0].nr_turns, 0);
	plan_free(&plan);
	plan_free(NULL);
}

static void test_nothing(void **state)
{
	struct plan plan;

	(void)state;
	start();
	plan = make(8, 1);
	assert_int_equal(plan.nr_pmus, 0);
	plan_free(&plan);
	/* events of the cores are somebody else's business */
	list.nr = 1;
	plan = make(8, 1);
	assert_int_equal(plan.nr_pmus, 0);
	assert_int_equal(plan.event_of[0], 0);
	plan_free(&plan);
}

static void test_order_of_pmus(void **state)
{
	struct plan_capacity capacities[2] = { { 1, 1 }, { 8, 1 } };
	struct plan plan;

	(void)state;
	start();
	add(pcie, 1, 0, 0);
	add(ucf, 1, 0, 0);
	add(pcie, 2, 0, 0);
	add(ucf, 2, 0, 0);
	assert_int_equal(plan_make(&list, capacities, NULL, &plan), 0);
	assert_int_equal(plan.nr_pmus, 2);
	assert_ptr_equal(plan.pmus[0].pmu, pcie);
	assert_int_equal(plan.pmus[0].nr_turns, 2);
	assert_ptr_equal(plan.pmus[1].pmu, ucf);
	assert_int_equal(plan.pmus[1].nr_turns, 0);
	plan_free(&plan);
}

static void test_same_event(void **state)
{
	struct plan plan;

	(void)state;
	start();
	add(ucf, 1, 0, 0);
	add(ucf, 1, 1, 0); /* another filter: another event */
	add(ucf, 1, 0, 0)->constant = true;
	add(ucf, CYCLES, 0, 0);
	add(ucf, CYCLES, 1, 0); /* a filter does not change cycles */
	add(cmem, 0, 0, 0);
	add(cmem, 0, 1, 0); /* these are no counter of their own */
	{
		struct plan_capacity capacities[2] = { { 8, 1 }, { 32, 0 } };

		assert_int_equal(plan_make(&list, capacities, NULL, &plan), 0);
	}
	assert_int_equal(plan.event_of[2], 0);
	assert_int_equal(plan.event_of[1], 1);
	assert_int_equal(plan.event_of[4], 3);
	assert_int_equal(plan.event_of[6], 6);
	assert_int_equal(plan.pmus[0].nr_events, 3);
	assert_int_equal(plan.pmus[1].nr_events, 2);
	plan_free(&plan);
}

static void test_turns_are_balanced(void **state)
{
	struct plan plan;

	(void)state;
	start();
	for (uint32_t i = 0; i < 10; i++)
		add(ucf, i, 0, 0);
	add(ucf, CYCLES, 0, 0);
	plan = make(4, 1);
	/* 10 events, 4 at a time: 3 turns, of 4, 3 and 3 events */
	assert_int_equal(plan.pmus[0].nr_base, 1);
	assert_true(in_base(&plan.pmus[0], 10));
	assert_int_equal(plan.pmus[0].nr_turns, 3);
	for (size_t i = 0; i < 3; i++)
		assert_in_range(plan.pmus[0].turns[i].nr, 3, 4);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(turns_with(&plan.pmus[0], i), 1);
	plan_free(&plan);
}

/* Large sets first: small ones fill what they leave. */
static void test_turns_are_few(void **state)
{
	struct plan plan;

	(void)state;
	start();
	add(ucf, 1, 0, 0);
	add(ucf, 2, 0, 0);
	for (uint32_t i = 0; i < 6; i++)
		add_set(ucf, 10 + i, 1 + i / 3);
	plan = make(4, 1);
	assert_int_equal(plan.pmus[0].nr_turns, 2);
	assert_int_equal(plan.pmus[0].turns[0].nr, 4);
	plan_free(&plan);
}

static void test_constant_goes_to_base(void **state)
{
	struct plan plan;

	(void)state;
	start();
	for (uint32_t i = 0; i < 3; i++)
		add_set(ucf, 10 + i, 1);
	for (uint32_t i = 0; i < 3; i++)
		add_set(ucf, 20 + i, 2);
	for (uint32_t i = 0; i < 3; i++)
		add(ucf, i, 0, 0)->constant = true;
	plan = make(6, 1);
	assert_int_equal(plan.pmus[0].nr_base, 3);
	for (uint32_t i = 6; i < 9; i++)
		assert_true(in_base(&plan.pmus[0], i));
	assert_int_equal(plan.pmus[0].nr_turns, 2);
	plan_free(&plan);
	/* One counter less: not all can be constant, and the base is half of the counters. */
	plan = make(5, 1);
	assert_int_equal(plan.pmus[0].nr_base, 2);
	plan_free(&plan);
}

/* A set whose event counts anyway needs one counter less. */
static void test_set_beside_base(void **state)
{
	struct plan plan;

	(void)state;
	start();
	add_set(ucf, 1, 1)->constant = true;
	add_set(ucf, 2, 1);
	add_set(ucf, 3, 1);
	add_set(ucf, CYCLES, 1);
	add_set(ucf, 4, 2);
	add_set(ucf, 5, 2);
	plan = make(3, 1);
	assert_int_equal(plan.pmus[0].nr_base, 2);
	assert_true(in_base(&plan.pmus[0], 0));
	assert_true(in_base(&plan.pmus[0], 3));
	assert_int_equal(plan.pmus[0].nr_turns, 2);
	plan_free(&plan);
}

/* An event in two sets counts with both, in two turns if need be. */
static void test_event_in_two_sets(void **state)
{
	struct plan plan;

	(void)state;
	start();
	add_set(ucf, 1, 1);
	add_set(ucf, 2, 1);
	add_set(ucf, 1, 2);
	add_set(ucf, 3, 2);
	plan = make(2, 0);
	assert_int_equal(plan.event_of[2], 0);
	assert_int_equal(plan.pmus[0].nr_turns, 2);
	assert_int_equal(turns_with(&plan.pmus[0], 0), 2);
	assert_int_equal(turns_with(&plan.pmus[0], 1), 1);
	assert_int_equal(turns_with(&plan.pmus[0], 3), 1);
	plan_free(&plan);
}

static void test_too_large(void **state)
{
	struct plan plan;

	(void)state;
	start();
	add_set(ucf, 1, 1)->asked = true;
	add_set(ucf, 2, 1);
	add_set(ucf, 3, 1);
	refuse(2, 1, "ucf/2,0/", "nvidia_ucf_pmu_0");
	/* Nobody asked for it by name: taken apart. */
	wants[0].asked = false;
	plan = make(2, 1);
	assert_int_equal(plan.pmus[0].nr_turns, 2);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(turns_with(&plan.pmus[0], i), 1);
	plan_free(&plan);
}

static void test_room_of_none_and_one(void **state)
{
	struct plan plan;

	(void)state;
	start();
	add(ucf, CYCLES, 0, 0);
	plan = make(0, 1);
	assert_int_equal(plan.pmus[0].nr_base, 1);
	plan_free(&plan);
	refuse(0, 0, "ucf/100000000,0/", "no counter");
	add(ucf, 1, 0, 0)->constant = true;
	refuse(0, 1, "ucf/1,0/", "no counter");
	add(ucf, 2, 0, 0);
	plan = make(1, 1);
	assert_int_equal(plan.pmus[0].nr_base, 1);
	assert_int_equal(plan.pmus[0].nr_turns, 2);
	plan_free(&plan);
	/* Cycles have no counter of their own and take a turn like the others. */
	plan = make(1, 0);
	assert_int_equal(plan.pmus[0].nr_base, 0);
	assert_int_equal(plan.pmus[0].nr_turns, 3);
	plan_free(&plan);
}

static void test_requester_ids(void **state)
{
	const struct plan_pmu *p;
	struct plan plan;

	(void)state;
	start();
	add(pcie, 0, BDF(0xa100ull), 0)->constant = true;
	add(pcie, 1, BDF(0xa100ull), 0);
	add(pcie, CYCLES, 0, 0);
	plan = make(8, 1);
	assert_int_equal(plan.pmus[0].nr_turns, 0);
	plan_free(&plan);

	add(pcie, 0, BDF(0xc100ull), 0);
	add(pcie, 0, 0, 0);
	add(pcie, 1, 0xa10000, 0); /* not switched on: the same as none */
	add(pcie, CYCLES, BDF(0xc100ull), 0);
	plan = make(8, 1);
	p = &plan.pmus[0];
	assert_int_equal(p->nr_base, 0);
	assert_int_equal(p->nr_turns, 3);
	assert_int_equal(turns_with(p, 2), 3);
	assert_int_equal(plan.event_of[6], 2);
	for (size_t i = 0; i < p->nr_turns; i++) {
		assert_int_equal(has(p->turns[i].events, p->turns[i].nr, 0),
				 has(p->turns[i].events, p->turns[i].nr, 1));
		assert_int_equal(has(p->turns[i].events, p->turns[i].nr, 4),
				 has(p->turns[i].events, p->turns[i].nr, 5));
	}
	plan_free(&plan);

	wants[0].set = wants[3].set = 1;
	wants[0].asked = true;
	refuse(8, 1, "requester id", wants[3].name);
	/* Id 0 that is switched on is a setting, too. */
	start();
	add(pcie, 0, BDF(0ull), 0);
	add(pcie, 1, 0, 0);
	plan = make(8, 1);
	assert_int_equal(plan.pmus[0].nr_turns, 2);
	plan_free(&plan);
}

static void test_windows(void **state)
{
	const struct plan_pmu *p;
	struct plan plan;

	(void)state;
	start();
	for (uint32_t i = 0; i < 9; i++) {
		add(tgt, WINDOW, i << 20, ~0ull << 20)->constant = true;
		add(tgt, WINDOW | 1, i << 20, ~0ull << 20);
	}
	add(tgt, TGT_CYCLES, 0, 0);
	add(tgt, 0, 0, 0)->constant = true;
	/* Enough counters, but one window too many */
	plan = make(30, 1);
	p = &plan.pmus[0];
	assert_int_equal(p->nr_turns, 2);
	assert_int_equal(p->nr_base, 2);
	assert_true(in_base(p, 18));
	assert_true(in_base(p, 19));
	for (size_t t = 0; t < 2; t++) {
		assert_in_range(p->turns[t].nr, 8, 10);
		for (uint32_t i = 0; i < 9; i++)
			assert_int_equal(has(p->turns[t].events, p->turns[t].nr, 2 * i),
					 has(p->turns[t].events, p->turns[t].nr, 2 * i + 1));
	}
	plan_free(&plan);
	/* Another mask is another window; base and mask without the switch are none. */
	start();
	for (uint32_t i = 0; i < 8; i++)
		add(tgt, WINDOW, 0x100000, ~0ull << i);
	add(tgt, 0, 0x200000, ~0ull << 20);
	plan = make(30, 1);
	assert_int_equal(plan.pmus[0].nr_turns, 0);
	plan_free(&plan);
	add(tgt, WINDOW, 0x200000, ~0ull << 20);
	plan = make(30, 1);
	assert_int_equal(plan.pmus[0].nr_turns, 2);
	plan_free(&plan);
	for (uint32_t i = 0; i < list.nr; i++) {
		wants[i].set = 1;
		wants[i].asked = true;
	}
	refuse(30, 1, "ranges", wants[9].name);
}

/* --- anything: what must hold whatever is wanted */

static bool is_cycles(const struct want *want)
{
	return want->pmu == tgt ? (want->config.config & 7) == TGT_CYCLES
				: want->config.config == CYCLES;
}

/* The events of base and a turn obey the rules, counted in another way than plan.c does. */
static void check_turn(const struct plan_pmu *p, size_t turn, struct plan_capacity capacity)
{
	const struct want *seen[MAX_WANTS];
	uint32_t events = 0, cycles = 0, nr = 0, windows = 0;

	for (size_t i = 0; i < p->nr_base; i++)
		seen[nr++] = &wants[p->base[i]];
	for (size_t i = 0; p->nr_turns && i < p->turns[turn].nr; i++) {
		assert_false(in_base(p, p->turns[turn].events[i]));
		seen[nr++] = &wants[p->turns[turn].events[i]];
	}
	for (size_t i = 0; i < nr; i++) {
		bool first = seen[i]->config.config & WINDOW;

		if (is_cycles(seen[i]))
			cycles++;
		else
			events++;
		for (size_t k = 0; k < i; k++) {
			first = first &&
				memcmp(&seen[i]->config.config1, &seen[k]->config.config1, 16);
			if (p->pmu == pcie && !is_cycles(seen[i]) && !is_cycles(seen[k]))
				assert_int_equal(seen[i]->config.config1, seen[k]->config.config1);
		}
		windows += p->pmu == tgt && first && !is_cycles(seen[i]);
	}
	assert_true(cycles <= 1);
	assert_true(events + (capacity.cycles ? 0 : cycles) <= capacity.events);
	assert_true(windows <= 8);
}

static void check_sets(const struct plan *plan, const struct plan_pmu *p)
{
	for (uint32_t a = 0; a < list.nr; a++) {
		uint32_t ea = plan->event_of[a];
		bool met = in_base(p, ea);

		assert_true(in_base(p, ea) != !!turns_with(p, ea));
		/* Some turn has all of the set that the base does not have. */
		for (size_t t = 0; t < p->nr_turns && !met; t++) {
			met = has(p->turns[t].events, p->turns[t].nr, ea);
			for (uint32_t b = 0; b < list.nr && wants[a].set; b++) {
				uint32_t eb = plan->event_of[b];

				if (wants[b].set == wants[a].set && !in_base(p, eb))
					met = met && has(p->turns[t].events, p->turns[t].nr, eb);
			}
		}
		assert_true(met);
	}
}

static void random_wants(struct draw *draw, const struct pmu *pmu)
{
	uint32_t nr = 1 + draw_below(draw, 40), nr_sets = draw_below(draw, 12);

	start();
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t config = draw_below(draw, 4), config1 = 0, config2 = 0;
		struct want *want;

		if (!draw_below(draw, 8))
			config = pmu == tgt ? TGT_CYCLES : CYCLES;
		else if (pmu == ucf)
			config = draw_below(draw, 24);
		else if (pmu == pcie && draw_below(draw, 3))
			config1 = BDF(draw_below(draw, 3));
		else if (pmu == tgt && draw_below(draw, 3)) {
			config |= WINDOW;
			config1 = draw_below(draw, 12) << 20;
			config2 = ~0ull << 20;
		}
		want = add(pmu, config, config1, config2);
		want->constant = !draw_below(draw, 3);
		want->asked = true;
		want->set = nr_sets ? draw_below(draw, nr_sets) : 0;
	}
}

static void test_anything(void **state)
{
	const struct pmu *const kinds[] = { ucf, pcie, tgt };
	struct draw draw = { 20260101 };
	uint32_t made = 0, refused = 0, rotated = 0;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		struct plan_capacity capacity = { 1 + draw_below(&draw, 12), draw_below(&draw, 2) };
		struct plan plan;
		int err;

		random_wants(&draw, kinds[i % 3]);
		err = plan_make(&list, &capacity, NULL, &plan);
		if (err) {
			assert_int_equal(err, -E2BIG);
			refused++;
			continue;
		}
		made++;
		rotated += plan.pmus[0].nr_turns > 0;
		assert_true(plan.pmus[0].nr_turns != 1);
		check_sets(&plan, &plan.pmus[0]);
		for (size_t t = 0; !t || t < plan.pmus[0].nr_turns; t++)
			check_turn(&plan.pmus[0], t, capacity);
		plan_free(&plan);
	}
	assert_true(made > 500 && refused > 100 && rotated > 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_fit),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_order_of_pmus),
		cmocka_unit_test(test_same_event),
		cmocka_unit_test(test_turns_are_balanced),
		cmocka_unit_test(test_turns_are_few),
		cmocka_unit_test(test_constant_goes_to_base),
		cmocka_unit_test(test_set_beside_base),
		cmocka_unit_test(test_event_in_two_sets),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_room_of_none_and_one),
		cmocka_unit_test(test_requester_ids),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_anything),
	};

	return cmocka_run_group_tests(tests, find_pmus, drop_pmus);
}
