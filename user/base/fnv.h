/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers for texts, the same in each run: FNV-1a of 64 bits, by Fowler, Noll and Vo. */
#ifndef BASE_FNV_H
#define BASE_FNV_H

#include <stdint.h>

#define FNV_BASIS 0xcbf29ce484222325ull

/**
 * fnv_text() - go on with a number by the bytes of a text
 * @hash: FNV_BASIS, or the number of what is before the text
 * @text: without its end
 */
static inline uint64_t fnv_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
	return hash;
}

#endif
