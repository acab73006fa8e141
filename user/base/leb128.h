/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers as LEB128: seven bits a byte, lowest first, bit 7 set in all but the last byte. */
#ifndef BASE_LEB128_H
#define BASE_LEB128_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the longest number. */
#define LEB128_MAX 10

/** leb128_put() - write a number to @to, which has room for LEB128_MAX; returns its length */
static inline size_t leb128_put(uint8_t *to, uint64_t value)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		to[n++] = value | 0x80;
	to[n++] = value;
	return n;
}

/**
 * leb128_get() - read a number
 * @at: where it begins; afterwards, where it ends
 * @end: nothing is read from here on
 * @ret: the number
 *
 * Return: false if it does not end before @end, or does not fit into 64 bits.
 */
static inline bool leb128_get(const uint8_t **at, const uint8_t *end, uint64_t *ret)
{
	unsigned int shift = 0;
	uint64_t value = 0;
	uint8_t byte;

	do {
		if (*at == end)
			return false;
		byte = *(*at)++;
		/* the tenth byte has room for one bit */
		if (shift == 63 && byte > 1)
			return false;
		value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	*ret = value;
	return true;
}

#endif
