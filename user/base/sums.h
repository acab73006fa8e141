/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sums and quotients of absurd input. */
#ifndef BASE_SUMS_H
#define BASE_SUMS_H

#include <math.h>
#include <stdint.h>

/*
 * A sum that cannot wrap: bytes of a machine reach 2^64 after half a year at 1.2 TB/s, its energy in
 * nanojoules after 14 months at 500 W.
 */
typedef unsigned __int128 sum128;

/** sum128_cut() - for readers of 64 bits: it stays at @max instead of wrapping */
static inline uint64_t sum128_cut(sum128 v, uint64_t max)
{
	return v < max ? (uint64_t)v : max;
}

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

/** grown_capped() - @to and a part of @value more, rounded up */
static inline uint64_t grown_capped(uint64_t to, uint64_t value, double part)
{
	return sum_capped(to, whole_capped(ceil((double)value * part)));
}

/** bounds_around() - @value is scaled and rounded, and may have left its own bounds: put it inside */
static inline void bounds_around(uint64_t value, uint64_t *low, uint64_t *high)
{
	*low = *low < value ? *low : value;
	*high = *high > value ? *high : value;
}

#endif
