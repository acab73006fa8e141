// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/base32.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";

char *base32_encode(const uint8_t *bytes, size_t nr)
{
	char *text = malloc(nr * 8 / 5 + 2), *to = text;
	uint32_t held = 0, bits = 0;

	if (!text)
		return NULL;
	for (size_t i = 0; i < nr; i++) {
		held = held << 8 | bytes[i];
		for (bits += 8; bits >= 5; bits -= 5)
			*to++ = digits[held >> (bits - 5) & 31];
	}
	if (bits)
		*to++ = digits[held << (5 - bits) & 31];
	*to = 0;
	return text;
}

/* The value of a digit, -1 for what is none. */
static int digit(char c)
{
	if (c >= 'a' && c <= 'z')
		return c - 'a';
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	return c >= '2' && c <= '7' ? c - '2' + 26 : -1;
}

int base32_decode(const char *text, uint8_t **ret, size_t *ret_nr)
{
	cleanup_free uint8_t *bytes = malloc(strlen(text) * 5 / 8 + 1);
	uint32_t held = 0, bits = 0;
	size_t nr = 0;

	if (!bytes)
		return -ENOMEM;
	for (; *text; text++) {
		int value = digit(*text);

		if (value < 0)
			return -EINVAL;
		held = held << 5 | (uint32_t)value;
		bits += 5;
		if (bits < 8)
			continue;
		bits -= 8;
		bytes[nr++] = (uint8_t)(held >> bits);
	}
	/* What is left over are bits that fill up the last digit, and they are 0. */
	if (bits >= 5 || (held & ((1U << bits) - 1)))
		return -EINVAL;
	*ret = take_ptr(bytes);
	*ret_nr = nr;
	return 0;
}
