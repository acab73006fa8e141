/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef BASE_DIGITS_H
#define BASE_DIGITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/sums.h"

/* The largest number has so many digits, */
#define DIGITS_MAX     20
/* and the largest sum so many. */
#define DIGITS_MAX_128 39

/**
 * put_digits() - a number in decimal digits, for texts that are made by the thousand
 * @at: room for DIGITS_MAX and the NUL
 *
 * Return: where the NUL is.
 */
static inline char *put_digits(char *at, uint64_t value)
{
	char digits[DIGITS_MAX];
	size_t nr = 0;

	do
		digits[nr++] = '0' + value % 10;
	while (value /= 10);
	while (nr)
		*at++ = digits[--nr];
	*at = '\0';
	return at;
}

/** put_digits_128() - the same of a sum; @at: room for DIGITS_MAX_128 and the NUL */
static inline char *put_digits_128(char *at, sum128 value)
{
	const uint64_t part = 10000000000000000000u;
	char *end, low[DIGITS_MAX + 1];
	size_t nr;

	if (value < part)
		return put_digits(at, (uint64_t)value);
	end = put_digits_128(at, value / part);
	nr = (size_t)(put_digits(low, (uint64_t)(value % part)) - low);
	memset(end, '0', 19 - nr);
	memcpy(end + 19 - nr, low, nr + 1);
	return end + 19;
}

#endif
