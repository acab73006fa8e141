/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bytes in a buffer that grows, and bytes that are read again. Numbers are LEB128: seven bits a
 * byte, lowest first, bit 7 set in all but the last byte.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/sums.h"

/* Bytes of the longest number, and of the longest sum. */
#define LEB128_MAX     10
#define LEB128_MAX_128 19

/** leb128_put_128() - write a sum to @to, which has room for LEB128_MAX_128; returns its length */
static inline size_t leb128_put_128(uint8_t *to, sum128 value)
{
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		to[n++] = value | 0x80;
	to[n++] = value;
	return n;
}

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
 * leb128_get_128() - read a sum
 * @at: where it begins; afterwards, where it ends
 * @end: nothing is read from here on
 * @ret: the sum
 *
 * Return: false if it does not end before @end, or does not fit into 128 bits.
 */
static inline bool leb128_get_128(const uint8_t **at, const uint8_t *end, sum128 *ret)
{
	unsigned int shift = 0;
	sum128 value = 0;
	uint8_t byte;

	do {
		if (*at == end)
			return false;
		byte = *(*at)++;
		/* the last byte has room for two bits */
		if (shift == 126 && byte > 3)
			return false;
		value |= (sum128)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	*ret = value;
	return true;
}

/** leb128_get() - the same for a number of 64 bits */
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

/**
 * struct bytes - bytes that are written; all zero is an empty buffer
 * @data, @nr, @cap: what there is; free @data
 * @err: 0, or the first error; then bytes are missing
 */
struct bytes {
	uint8_t *data;
	size_t nr;
	size_t cap;
	int err;
};

/**
 * struct bytes_in - bytes that are read
 * @at, @end: what is left
 * @err: 0, or the first error, -EBADMSG where something was not as it must be; what is read
 *	from then on is 0
 */
struct bytes_in {
	const uint8_t *at;
	const uint8_t *end;
	int err;
};

/** bytes_reserve() - room for @size more bytes; sets @err when there is none */
static inline bool bytes_reserve(struct bytes *b, size_t size)
{
	size_t cap = b->cap ? b->cap : 4096;
	uint8_t *bigger;

	if (b->err)
		return false;
	if (size <= b->cap - b->nr)
		return true;
	while (cap - b->nr < size)
		cap *= 2;
	bigger = realloc(b->data, cap);
	if (!bigger) {
		b->err = -ENOMEM;
		return false;
	}
	b->data = bigger;
	b->cap = cap;
	return true;
}

static inline void bytes_put(struct bytes *b, uint64_t value)
{
	if (bytes_reserve(b, LEB128_MAX))
		b->nr += leb128_put(b->data + b->nr, value);
}

static inline void bytes_put_128(struct bytes *b, sum128 value)
{
	if (bytes_reserve(b, LEB128_MAX_128))
		b->nr += leb128_put_128(b->data + b->nr, value);
}

/** bytes_put_delta() - a difference of either sign, modulo 2^64 */
static inline void bytes_put_delta(struct bytes *b, uint64_t value)
{
	bytes_put(b, value << 1 ^ -(value >> 63));
}

static inline void bytes_put_raw(struct bytes *b, const void *from, size_t size)
{
	if (!size || !bytes_reserve(b, size))
		return;
	memcpy(b->data + b->nr, from, size);
	b->nr += size;
}

/** bytes_put_text() - a text: its length + 1, or 0 for NULL, and its bytes */
static inline void bytes_put_text(struct bytes *b, const char *text)
{
	size_t size = text ? strlen(text) : 0;

	bytes_put(b, text ? size + 1 : 0);
	bytes_put_raw(b, text, size);
}

static inline struct bytes_in bytes_from(const uint8_t *data, size_t size)
{
	return (struct bytes_in){ .at = data, .end = data + size };
}

/** bytes_bad() - what was read is @wrong: an error, if nothing was wrong before */
static inline void bytes_bad(struct bytes_in *in, bool wrong)
{
	if (wrong && !in->err)
		in->err = -EBADMSG;
}

static inline uint64_t bytes_get(struct bytes_in *in)
{
	uint64_t value = 0;

	if (in->err)
		return 0;
	bytes_bad(in, !leb128_get(&in->at, in->end, &value));
	return value;
}

static inline sum128 bytes_get_128(struct bytes_in *in)
{
	sum128 value = 0;

	if (in->err)
		return 0;
	bytes_bad(in, !leb128_get_128(&in->at, in->end, &value));
	return value;
}

static inline uint64_t bytes_get_delta(struct bytes_in *in)
{
	uint64_t value = bytes_get(in);

	return value >> 1 ^ -(value & 1);
}

/** bytes_get_max() - a number that must not be above @max */
static inline uint64_t bytes_get_max(struct bytes_in *in, uint64_t max)
{
	uint64_t value = bytes_get(in);

	bytes_bad(in, value > max);
	return value > max ? 0 : value;
}

/**
 * bytes_get_raw() - the next @size bytes
 *
 * Return: where they are; NULL, and @in->err is set, when so many are not there.
 */
static inline const void *bytes_get_raw(struct bytes_in *in, size_t size)
{
	const void *from = in->at;

	bytes_bad(in, (size_t)(in->end - in->at) < size);
	if (in->err)
		return NULL;
	in->at += size;
	return from;
}

/**
 * bytes_get_chars() - @size bytes of a text
 * @in: from where
 * @ret: gets them and NUL, or "" when there are not so many, or NUL is among them
 * @size: how many
 */
static inline void bytes_get_chars(struct bytes_in *in, char *ret, size_t size)
{
	const char *from = bytes_get_raw(in, size);

	bytes_bad(in, from && memchr(from, 0, size));
	if (in->err)
		size = 0;
	else
		memcpy(ret, from, size);
	ret[size] = '\0';
}

/**
 * bytes_get_text() - a text as bytes_put_text() writes it
 * @in: from where
 * @ret: gets at most @size - 1 bytes and NUL; longer texts and those with NUL are bad
 * @size: size of @ret
 *
 * Return: @ret, or NULL when there is no text.
 */
static inline char *bytes_get_text(struct bytes_in *in, char *ret, size_t size)
{
	size_t n = bytes_get_max(in, size);

	ret[0] = '\0';
	if (n)
		bytes_get_chars(in, ret, n - 1);
	return n && !in->err ? ret : NULL;
}

#endif
