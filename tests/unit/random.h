/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers for tests of the estimate that are the same everywhere. */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct draw {
	uint64_t state; /* not 0 */
};

/* xorshift64* */
static inline uint64_t draw_u64(struct draw *d)
{
	d->state ^= d->state >> 12;
	d->state ^= d->state << 25;
	d->state ^= d->state >> 27;
	return d->state * 0x2545f4914f6cdd1du;
}

static inline uint64_t draw_below(struct draw *d, uint64_t n)
{
	return draw_u64(d) % n;
}

/* From 0 up to 1. */
static inline double draw_unit(struct draw *d)
{
	return (draw_u64(d) >> 11) / 9007199254740992.0;
}

/* Mean 0, standard deviation 1: twelve of the above. */
static inline double draw_normal(struct draw *d)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += draw_unit(d);
	return sum;
}

/* Under valgrind, which is 30 times slower, long loops do a part of their work. */
static inline size_t draw_times(size_t whole, size_t part)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, "vgpreload") ? part : whole;
}

#endif
