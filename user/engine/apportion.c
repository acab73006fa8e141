// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/apportion.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

struct remainder {
	uint64_t rest;
	size_t i;
};

static int by_rest(const void *a, const void *b)
{
	const struct remainder *x = a, *y = b;

	if (x->rest != y->rest)
		return x->rest < y->rest ? 1 : -1;
	return x->i < y->i ? -1 : x->i > y->i;
}

int apportion(uint64_t total, const uint64_t *weights, size_t nr, uint64_t *ret_parts)
{
	struct remainder small[64];
	cleanup_free struct remainder *large = NULL;
	struct remainder *r = small;
	uint64_t sum = 0, given = 0;

	for (size_t i = 0; i < nr; i++)
		if (__builtin_add_overflow(sum, weights[i], &sum))
			return -ERANGE;
	if (!sum && total)
		return -EINVAL;
	if (nr > sizeof(small) / sizeof(small[0])) {
		r = large = malloc(nr * sizeof(*large));
		if (!large)
			return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++) {
		unsigned __int128 product = (unsigned __int128)total * weights[i];

		ret_parts[i] = sum ? (uint64_t)(product / sum) : 0;
		r[i].rest = sum ? (uint64_t)(product % sum) : 0;
		r[i].i = i;
		given += ret_parts[i];
	}
	if (given == total)
		return 0;
	/* Fewer units are left than there are remainders above zero. */
	qsort(r, nr, sizeof(*r), by_rest);
	for (size_t k = 0; given < total; k++, given++)
		ret_parts[r[k].i]++;
	return 0;
}

uint64_t scale_u64(uint64_t value, uint64_t num, uint64_t den)
{
	unsigned __int128 v;

	if (!den)
		return value;
	v = ((unsigned __int128)value * num + den / 2) / den;
	return v > UINT64_MAX ? UINT64_MAX : (uint64_t)v;
}
