// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/top/pack.h"

#include <stdlib.h>
#include <string.h>

void pack_text(struct bytes *p, const char *text, size_t max)
{
	size_t length = text ? strnlen(text, max) : 0;

	bytes_put(p, text ? length + 1 : 0);
	if (text) {
		bytes_put_raw(p, text, length);
		bytes_put_raw(p, "", 1);
	}
}

uint64_t unpack_number(struct bytes_in *u)
{
	uint64_t value = bytes_get(u);

	if (u->err)
		abort();
	return value;
}

void unpack_raw(struct bytes_in *u, void *to, size_t size)
{
	const void *from = bytes_get_raw(u, size);

	if (!from)
		abort();
	memcpy(to, from, size);
}

const char *unpack_text(struct bytes_in *u)
{
	uint64_t size = unpack_number(u);

	return size ? bytes_get_raw(u, size) : NULL;
}

/* Up to 256 exact; then 128 steps for each power of two. */
uint64_t pack_rounded(uint64_t value)
{
	unsigned int shift;
	uint64_t steps;

	if (value <= 256)
		return value;
	shift = 64 - 8 - (unsigned int)__builtin_clzll(value);
	steps = (value >> shift) + !!(value & ((1ull << shift) - 1));
	return 256 + (shift - 1) * 128ull + (steps - 128);
}

uint64_t unpack_rounded(uint64_t code)
{
	unsigned int shift;
	uint64_t steps;

	if (code <= 256)
		return code;
	shift = (unsigned int)((code - 256) / 128) + 1;
	steps = (code - 256) % 128 + 128;
	return shift > 56 ? UINT64_MAX : steps << shift;
}
