// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/split/apportion.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "engine/filter/wide.h"

struct remainder {
	uint64_t rest;
	size_t i;
};

/* The larger remainder first, and the first of equal ones; without branches. */
static bool before(const struct remainder *x, const struct remainder *y)
{
	return (x->rest > y->rest) | ((x->rest == y->rest) & (x->i < y->i));
}

static void swap(struct remainder *x, struct remainder *y)
{
	struct remainder t = *x;

	*x = *y;
	*y = t;
}

/*
 * Moves the @k remainders that come first to the front, in any order (quickselect). A
 * sort would be most of the cost of a split.
 */
static void select_first(struct remainder *r, size_t nr, size_t k)
{
	size_t low = 0, high = nr;

	while (high - low > 1 && k > low && k < high) {
		size_t mid = low + (high - low) / 2, store = low;
		struct remainder pivot;

		/* of three, so that ordered input is no trap */
		if (before(&r[high - 1], &r[low]))
			swap(&r[high - 1], &r[low]);
		if (before(&r[mid], &r[low]))
			swap(&r[mid], &r[low]);
		if (before(&r[mid], &r[high - 1]))
			swap(&r[mid], &r[high - 1]);
		pivot = r[high - 1];
		/* Always, and only the step depends: a wrong guess of a branch costs more. */
		for (size_t i = low; i < high - 1; i++) {
			size_t step = before(&r[i], &pivot);

			swap(&r[i], &r[store]);
			store += step;
		}
		swap(&r[store], &r[high - 1]);
		if (store < k)
			low = store + 1;
		else
			high = store;
	}
}

/*
 * @total times @weight by @sum, whole and rest, exactly; @by is about @total / @sum. For totals
 * below 2^50 the product of doubles, five roundings, is off by one at most, and the rest says in
 * which direction: whatever is beyond 64 bits of it cancels out, as long as it is small beside
 * them. So is a sum below 2^62.
 */
static INLINE uint64_t divide(uint64_t total, int64_t weight, int64_t sum, double by,
			      uint64_t *ret_rest)
{
	int64_t q = (int64_t)((double)weight * by);
	int64_t rest = (int64_t)(total * (uint64_t)weight - (uint64_t)q * (uint64_t)sum);
	/* Without branches: rests are as good as random. */
	int64_t step = (rest >= sum) - (rest < 0);

	*ret_rest = (uint64_t)(rest - step * sum);
	return (uint64_t)(q + step);
}

/* The same for all numbers; slow where machines have no division of 128 bits. */
static uint64_t divide_any(uint64_t total, uint64_t weight, uint64_t sum, uint64_t *ret_rest)
{
	unsigned __int128 product = (unsigned __int128)total * weight;

	*ret_rest = (uint64_t)(product % sum);
	return (uint64_t)(product / sum);
}

/* Whole shares and rests as divide() makes them; returns the sum of shares. */
static INLINE uint64_t divide_small_any(uint64_t total, const uint64_t *restrict weights, size_t nr,
					uint64_t sum, uint64_t *restrict ret_shares,
					uint64_t *restrict ret_rests)
{
	double by = (double)total / (double)sum;
	uint64_t given = 0;

	for (size_t i = 0; i < nr; i++) {
		ret_shares[i] = divide(total, (int64_t)weights[i], (int64_t)sum, by, &ret_rests[i]);
		given += ret_shares[i];
	}
	return given;
}

WIDE(static, uint64_t, divide_small,
     (uint64_t total, const uint64_t *restrict weights, size_t nr, uint64_t sum,
      uint64_t *restrict ret_shares, uint64_t *restrict ret_rests),
     (total, weights, nr, sum, ret_shares, ret_rests))

/*
 * The whole shares, and the remainder of each; @sum is that of the weights, above 0. Returns the
 * sum of the shares.
 */
static uint64_t divide_all(uint64_t total, const uint64_t *weights, size_t nr, uint64_t sum,
			   uint64_t *ret_shares, uint64_t *ret_rests)
{
	uint64_t given = 0;

	if (total < 1ull << 50 && sum < 1ull << 62)
		return divide_small(total, weights, nr, sum, ret_shares, ret_rests);
	for (size_t i = 0; i < nr; i++) {
		ret_shares[i] = divide_any(total, weights[i], sum, &ret_rests[i]);
		given += ret_shares[i];
	}
	return given;
}

/*
 * Number of buckets into which remainders are sorted by size, roughly; below @sum they fit into
 * these after @shift.
 */
#define SIZES 128

static int shift_for(uint64_t sum)
{
	int bits = 64 - __builtin_clzll(sum), max = __builtin_ctz(SIZES);

	return bits > max ? bits - max : 0;
}

/*
 * One more unit for each of the @k largest remainders. The approximate size of the smallest of
 * these is found by counting; only remainders of about that size are compared with each other.
 * @scratch: @nr remainders.
 */
static void round_up(const uint64_t *rests, size_t nr, size_t k, uint64_t sum, uint64_t *shares,
		     struct remainder *scratch)
{
	uint32_t nr_of[SIZES] = { 0 };
	int shift = shift_for(sum);
	size_t above = 0, same = 0, size = SIZES - 1;

	for (size_t i = 0; i < nr; i++)
		nr_of[rests[i] >> shift]++;
	while (above + nr_of[size] < k)
		above += nr_of[size--];
	/* Always, and only the step depends: a wrong guess of a branch costs more. */
	for (size_t i = 0; i < nr; i++) {
		uint64_t own = rests[i] >> shift;

		shares[i] += own > size;
		scratch[same] = (struct remainder){ rests[i], i };
		same += own == size;
	}
	select_first(scratch, same, k - above);
	for (size_t i = 0; i < k - above; i++)
		shares[scratch[i].i]++;
}

int apportion(uint64_t total, const uint64_t *weights, size_t nr, uint64_t *ret_shares)
{
	uint64_t small_rests[64];
	struct remainder small[64];
	cleanup_free void *large = NULL;
	uint64_t *rests = small_rests;
	struct remainder *scratch = small;
	uint64_t sum = 0, given;

	for (size_t i = 0; i < nr; i++)
		if (__builtin_add_overflow(sum, weights[i], &sum))
			return -ERANGE;
	if (!sum) {
		if (total)
			return -EINVAL;
		for (size_t i = 0; i < nr; i++)
			ret_shares[i] = 0;
		return 0;
	}
	if (nr > sizeof(small) / sizeof(small[0])) {
		large = malloc(nr * (sizeof(*scratch) + sizeof(*rests)));
		if (!large)
			return -ENOMEM;
		scratch = large;
		rests = (uint64_t *)(scratch + nr);
	}
	given = divide_all(total, weights, nr, sum, ret_shares, rests);
	/* Fewer units are left than there are remainders above zero. */
	if (given < total)
		round_up(rests, nr, total - given, sum, ret_shares, scratch);
	return 0;
}

uint64_t apportion_scale(uint64_t value, uint64_t num, uint64_t den)
{
	unsigned __int128 v;

	if (!den)
		return value;
	v = ((unsigned __int128)value * num + den / 2) / den;
	return v > UINT64_MAX ? UINT64_MAX : (uint64_t)v;
}
