/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Times as numbers, of whatever clock; what asks a clock is in clock.h. */
#ifndef BASE_TIMES_H
#define BASE_TIMES_H

#include <stdint.h>

/** earlier() - of two times */
static inline uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/** later() - of two times */
static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
