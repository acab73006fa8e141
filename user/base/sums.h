/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sums and quotients of absurd input. */
#ifndef BASE_SUMS_H
#define BASE_SUMS_H

#include <stdint.h>

/** sum_capped() - a sum that stays at UINT64_MAX instead of wrapping */
static inline uint64_t sum_capped(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/** whole_capped() - without what is behind the point; 0 for less than that, and UINT64_MAX for more */
static inline uint64_t whole_capped(double v)
{
	if (!(v > 0))
		return 0;
	return v < 0x1p64 ? (uint64_t)v : UINT64_MAX;
}

#endif
