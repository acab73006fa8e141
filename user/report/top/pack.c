// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/top/pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/leb128.h"

#define FIRST_ROOM 1024

static bool make_room(struct pack *p, size_t more)
{
	size_t cap = p->cap ? p->cap : FIRST_ROOM;
	uint8_t *bytes;

	if (p->failed || p->nr + more <= p->cap)
		return !p->failed;
	while (cap < p->nr + more)
		cap *= 2;
	bytes = realloc(p->bytes, cap);
	if (!bytes) {
		p->failed = true;
		return false;
	}
	p->bytes = bytes;
	p->cap = cap;
	return true;
}

void pack_number(struct pack *p, uint64_t value)
{
	if (make_room(p, LEB128_MAX))
		p->nr += leb128_put(p->bytes + p->nr, value);
}

void pack_raw(struct pack *p, const void *from, size_t size)
{
	if (!size || !make_room(p, size))
		return;
	memcpy(p->bytes + p->nr, from, size);
	p->nr += size;
}

void pack_text(struct pack *p, const char *text, size_t max)
{
	size_t length = text ? strnlen(text, max) : 0;

	pack_number(p, text ? length + 1 : 0);
	if (text) {
		pack_raw(p, text, length);
		pack_raw(p, "", 1);
	}
}

uint64_t unpack_number(struct unpack *u)
{
	uint64_t value = 0;

	if (!leb128_get(&u->at, u->end, &value))
		abort();
	return value;
}

void unpack_raw(struct unpack *u, void *to, size_t size)
{
	if ((size_t)(u->end - u->at) < size)
		abort();
	if (size)
		memcpy(to, u->at, size);
	u->at += size;
}

const char *unpack_text(struct unpack *u)
{
	uint64_t size = unpack_number(u);
	const char *text = size ? (const char *)u->at : NULL;

	u->at += size;
	return text;
}

/* Up to 256 as it is; then 128 steps for each power of two. */
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
