// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/base32.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define BITS 5 /* of a digit */

/* By value */
static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";

char *base32_encode(const uint8_t *bytes, size_t nr)
{
	char *text = malloc(nr * 8 / BITS + 2), *to = text;
	uint32_t held = 0, bits = 0, mask = (1U << BITS) - 1;

	if (!text)
		return NULL;
	for (size_t i = 0; i < nr; i++) {
		held = held << 8 | bytes[i];
		for (bits += 8; bits >= BITS; bits -= BITS)
			*to++ = digits[held >> (bits - BITS) & mask];
	}
	if (bits)
		*to++ = digits[held << (BITS - bits) & mask];
	*to = 0;
	return text;
}

/* The value of a digit, -1 for what is none. */
static int value_of(char c)
{
	const char *at;

	if (c >= 'A' && c <= 'Z')
		c += 'a' - 'A';
	at = strchr(digits, c);
	return at ? (int)(at - digits) : -1;
}

int base32_decode(const char *text, uint8_t **ret, size_t *ret_nr)
{
	size_t len = strlen(text), nr = 0;
	cleanup_free uint8_t *bytes = malloc(len * BITS / 8 + 1);
	uint32_t held = 0, bits = 0;

	if (!bytes)
		return -ENOMEM;
	for (size_t i = 0; i < len; i++) {
		int value = value_of(text[i]);

		if (value < 0)
			return -EINVAL;
		held = held << BITS | (uint32_t)value;
		bits += BITS;
		if (bits < 8)
			continue;
		bits -= 8;
		bytes[nr++] = (uint8_t)(held >> bits);
	}
	/* Left-over bits fill up the last digit and are 0: one text for the same bytes. */
	if (bits >= BITS || (held & ((1U << bits) - 1)))
		return -EINVAL;
	*ret = take_ptr(bytes);
	*ret_nr = nr;
	return 0;
}
