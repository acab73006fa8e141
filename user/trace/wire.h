/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bytes of recordings: numbers as LEB128, and texts. */
#ifndef TRACE_WIRE_H
#define TRACE_WIRE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/leb128.h"
#include "recording_format.h"

/**
 * struct wire_out - bytes to be written
 * @data, @nr, @cap: what there is
 * @err: 0, or the first error; then bytes are missing
 */
struct wire_out {
	uint8_t *data;
	size_t nr;
	size_t cap;
	int err;
};

/**
 * struct wire_in - bytes to be read
 * @at, @end: what is left
 * @bad: something was not as it must be; what was read since is 0
 */
struct wire_in {
	const uint8_t *at;
	const uint8_t *end;
	bool bad;
};

/** wire_room() - room for @size more bytes; sets @err when there is none */
static inline bool wire_room(struct wire_out *o, size_t size)
{
	size_t cap = o->cap ? o->cap : 4096;
	uint8_t *bigger;

	if (o->err)
		return false;
	if (size <= o->cap - o->nr)
		return true;
	while (cap - o->nr < size)
		cap *= 2;
	bigger = realloc(o->data, cap);
	if (!bigger) {
		o->err = -ENOMEM;
		return false;
	}
	o->data = bigger;
	o->cap = cap;
	return true;
}

static inline void wire_put(struct wire_out *o, uint64_t v)
{
	if (wire_room(o, LEB128_MAX))
		o->nr += leb128_put(o->data + o->nr, v);
}

/** wire_put_delta() - a difference of either sign, modulo 2^64 */
static inline void wire_put_delta(struct wire_out *o, uint64_t v)
{
	wire_put(o, v << 1 ^ -(v >> 63));
}

static inline void wire_put_bytes(struct wire_out *o, const void *bytes, size_t size)
{
	if (!wire_room(o, size) || !size)
		return;
	memcpy(o->data + o->nr, bytes, size);
	o->nr += size;
}

/** wire_put_text() - a text, or NULL; sets @err to -EINVAL when it is too long */
static inline void wire_put_text(struct wire_out *o, const char *text)
{
	size_t size = text ? strlen(text) : 0;

	if (size > RECORDING_MAX_TEXT) {
		o->err = o->err ? o->err : -EINVAL;
		return;
	}
	wire_put(o, text ? size + 1 : 0);
	wire_put_bytes(o, text, size);
}

static inline uint64_t wire_get(struct wire_in *in)
{
	uint64_t v = 0;

	if (in->bad || !leb128_get(&in->at, in->end, &v)) {
		in->bad = true;
		return 0;
	}
	return v;
}

static inline uint64_t wire_get_delta(struct wire_in *in)
{
	uint64_t v = wire_get(in);

	return v >> 1 ^ -(v & 1);
}

/** wire_get_max() - a number that must not be above @max */
static inline uint64_t wire_get_max(struct wire_in *in, uint64_t max)
{
	uint64_t v = wire_get(in);

	if (v <= max)
		return v;
	in->bad = true;
	return 0;
}

/**
 * wire_get_text() - a text
 * @in: from where
 * @ret: gets at most @size - 1 bytes and NUL; longer texts and those with NUL are bad
 * @size: room
 *
 * Return: @ret, or NULL when there is no text.
 */
static inline char *wire_get_text(struct wire_in *in, char *ret, size_t size)
{
	size_t n = wire_get_max(in, size);

	ret[0] = '\0';
	if (!n)
		return NULL;
	n--;
	if ((size_t)(in->end - in->at) < n || memchr(in->at, 0, n)) {
		in->bad = true;
		return NULL;
	}
	memcpy(ret, in->at, n);
	ret[n] = '\0';
	in->at += n;
	return ret;
}

#endif
