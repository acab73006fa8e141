// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "engine/filter/wide.h"
#include "engine/split/apportion.h"

static void exact_shares(void **state)
{
	const uint64_t weights[] = { 1, 2, 3 };
	uint64_t parts[3];

	(void)state;
	assert_int_equal(apportion(600, weights, 3, parts), 0);
	assert_int_equal(parts[0], 100);
	assert_int_equal(parts[1], 200);
	assert_int_equal(parts[2], 300);
}

static void largest_remainder_wins(void **state)
{
	/* 10 * 1/6 = 1 rest 4, 10 * 2/6 = 3 rest 2, 10 * 3/6 = 5: the first gets the unit */
	const uint64_t weights[] = { 1, 2, 3 };
	/* all remainders equal: the first ones get the units */
	const uint64_t equal[] = { 5, 5, 5 };
	uint64_t parts[3];

	(void)state;
	assert_int_equal(apportion(10, weights, 3, parts), 0);
	assert_int_equal(parts[0], 2);
	assert_int_equal(parts[1], 3);
	assert_int_equal(parts[2], 5);
	assert_int_equal(apportion(5, equal, 3, parts), 0);
	assert_int_equal(parts[0], 2);
	assert_int_equal(parts[1], 2);
	assert_int_equal(parts[2], 1);
}

static void zero_weights(void **state)
{
	const uint64_t some[] = { 0, 7, 0 }, none[] = { 0, 0 };
	uint64_t parts[3] = { 9, 9, 9 };

	(void)state;
	assert_int_equal(apportion(11, none, 2, parts), -EINVAL);
	assert_int_equal(parts[0], 9);
	assert_int_equal(apportion(0, none, 2, parts), 0);
	assert_int_equal(parts[0], 0);
	assert_int_equal(apportion(11, some, 3, parts), 0);
	assert_int_equal(parts[0], 0);
	assert_int_equal(parts[1], 11);
	assert_int_equal(parts[2], 0);
}

static void huge_numbers(void **state)
{
	const uint64_t weights[] = { UINT64_MAX / 2, UINT64_MAX / 2 };
	const uint64_t too_much[] = { UINT64_MAX, 1 };
	uint64_t parts[2] = { 9, 9 };

	(void)state;
	assert_int_equal(apportion(UINT64_MAX, weights, 2, parts), 0);
	assert_true(parts[0] + parts[1] == UINT64_MAX);
	assert_true(parts[0] == UINT64_MAX / 2 + 1);
	parts[0] = 9;
	assert_int_equal(apportion(1, too_much, 2, parts), -ERANGE);
	assert_int_equal(parts[0], 9);
}

/* Whatever the numbers: nothing is invented, nothing lost, nobody off by a unit or more. */
static void always_exact(void **state)
{
	uint64_t weights[300], parts[300];

	(void)state;
	srandom(1);
	for (int round = 0; round < 2000; round++) {
		size_t nr = 1 + random() % 300;
		uint64_t total = (uint64_t)random() << (random() % 32), sum = 0, given = 0;

		for (size_t i = 0; i < nr; i++) {
			weights[i] = random() % 3 ? random() : 0;
			sum += weights[i];
		}
		if (!sum)
			continue;
		assert_int_equal(apportion(total, weights, nr, parts), 0);
		for (size_t i = 0; i < nr; i++) {
			uint64_t floor = (unsigned __int128)total * weights[i] / sum;

			assert_true(parts[i] == floor || parts[i] == floor + 1);
			given += parts[i];
		}
		assert_true(given == total);
	}
}

/* Does @x come before @y? The larger remainder does, and of equal ones the first. */
static bool comes_first(const uint64_t *rests, size_t x, size_t y)
{
	return rests[x] > rests[y] || (rests[x] == rests[y] && x < y);
}

/* Whoever is rounded up comes before all who are not, also where many are the same. */
static void largest_of_many(void **state)
{
	uint64_t weights[300], parts[300], rests[300];

	(void)state;
	srandom(2);
	for (int round = 0; round < 3000; round++) {
		size_t nr = 1 + random() % 300, last = SIZE_MAX, next = SIZE_MAX;
		uint64_t total = random(), most = 1 + (random() >> random() % 31), sum = 0;

		for (size_t i = 0; i < nr; i++)
			sum += weights[i] = random() % 3 ? random() % most : most;
		if (!sum)
			continue;
		assert_int_equal(apportion(total, weights, nr, parts), 0);
		for (size_t i = 0; i < nr; i++) {
			unsigned __int128 product = (unsigned __int128)total * weights[i];

			rests[i] = product % sum;
			if (parts[i] == (uint64_t)(product / sum)) {
				if (next == SIZE_MAX || comes_first(rests, i, next))
					next = i;
			} else if (last == SIZE_MAX || comes_first(rests, last, i)) {
				last = i;
			}
		}
		assert_true(last == SIZE_MAX || next == SIZE_MAX || comes_first(rests, last, next));
	}
}

static void scaling(void **state)
{
	(void)state;
	assert_true(apportion_scale(1000, 4, 2) == 2000);
	assert_true(apportion_scale(10, 1, 3) == 3);
	assert_true(apportion_scale(11, 1, 2) == 6);
	assert_true(apportion_scale(7, 5, 0) == 7);
	assert_true(apportion_scale(UINT64_MAX, 2, 1) == UINT64_MAX);
	assert_true(apportion_scale(UINT64_MAX, UINT64_MAX, UINT64_MAX) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_shares), cmocka_unit_test(largest_remainder_wins),
		cmocka_unit_test(zero_weights), cmocka_unit_test(huge_numbers),
		cmocka_unit_test(always_exact), cmocka_unit_test(largest_of_many),
		cmocka_unit_test(scaling),
	};

	int failed = 0;

	/* All variants for wider registers, as far as the machine has them. */
	for (int wide = WIDE_NONE; wide <= WIDE_AVX512; wide++) {
		wide_max = (enum wide)wide;
		failed += cmocka_run_group_tests_name("apportion", tests, NULL, NULL);
	}
	return failed;
}
