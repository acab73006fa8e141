// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/base64.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/**
 * struct encoding - one of RFC 4648
 * @digits: by value
 * @bits: of a digit
 * @group: text is as long as a number of these, filled up with "="; at most half of one is
 * @caseless: capital letters are digits as well as small ones
 */
struct encoding {
	const char *digits;
	uint32_t bits;
	size_t group;
	bool caseless;
};

static const struct encoding base32 = {
	.digits = "abcdefghijklmnopqrstuvwxyz234567",
	.bits = 5,
	.group = 1,
	.caseless = true,
};

static const struct encoding base64 = {
	.digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
	.bits = 6,
	.group = 4,
};

static char *encode(const struct encoding *e, const uint8_t *bytes, size_t nr)
{
	char *text = malloc(nr * 8 / e->bits + 1 + e->group + 1), *to = text;
	uint32_t held = 0, bits = 0, mask = (1U << e->bits) - 1;

	if (!text)
		return NULL;
	for (size_t i = 0; i < nr; i++) {
		held = held << 8 | bytes[i];
		for (bits += 8; bits >= e->bits; bits -= e->bits)
			*to++ = e->digits[held >> (bits - e->bits) & mask];
	}
	if (bits)
		*to++ = e->digits[held << (e->bits - bits) & mask];
	while ((size_t)(to - text) % e->group)
		*to++ = '=';
	*to = 0;
	return text;
}

/* The value of a digit, -1 for what is none. */
static int digit(const struct encoding *e, char c)
{
	const char *at;

	if (e->caseless && c >= 'A' && c <= 'Z')
		c += 'a' - 'A';
	at = strchr(e->digits, c);
	return at ? (int)(at - e->digits) : -1;
}

static int decode(const struct encoding *e, const char *text, uint8_t **ret, size_t *ret_nr)
{
	size_t len = strlen(text), pad = 0, nr = 0;
	cleanup_free uint8_t *bytes = malloc(len * e->bits / 8 + 1);
	uint32_t held = 0, bits = 0;

	if (len % e->group)
		return -EINVAL;
	if (!bytes)
		return -ENOMEM;
	while (pad < e->group / 2 && pad < len && text[len - 1 - pad] == '=')
		pad++;
	for (size_t i = 0; i < len - pad; i++) {
		int value = digit(e, text[i]);

		if (value < 0)
			return -EINVAL;
		held = held << e->bits | (uint32_t)value;
		bits += e->bits;
		if (bits < 8)
			continue;
		bits -= 8;
		bytes[nr++] = (uint8_t)(held >> bits);
	}
	/* What is left over fills up the last digit, and is 0: one text for the same bytes. */
	if (bits >= e->bits || (held & ((1U << bits) - 1)))
		return -EINVAL;
	*ret = take_ptr(bytes);
	*ret_nr = nr;
	return 0;
}

char *base32_encode(const uint8_t *bytes, size_t nr)
{
	return encode(&base32, bytes, nr);
}

int base32_decode(const char *text, uint8_t **ret, size_t *ret_nr)
{
	return decode(&base32, text, ret, ret_nr);
}

char *base64_encode(const uint8_t *bytes, size_t nr)
{
	return encode(&base64, bytes, nr);
}

int base64_decode(const char *text, uint8_t **ret, size_t *ret_nr)
{
	return decode(&base64, text, ret, ret_nr);
}
