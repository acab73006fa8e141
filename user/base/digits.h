/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef BASE_DIGITS_H
#define BASE_DIGITS_H

#include <stddef.h>
#include <stdint.h>

/* The largest number has so many digits. */
#define DIGITS_MAX 20

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

#endif
