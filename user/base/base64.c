// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/base64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const uint8_t *bytes, size_t nr)
{
	char *text = malloc((nr + 2) / 3 * 4 + 1), *to = text;

	if (!text)
		return NULL;
	for (size_t i = 0; i < nr; i += 3) {
		size_t left = nr - i;
		uint32_t group = (uint32_t)bytes[i] << 16 |
				 (uint32_t)(left > 1 ? bytes[i + 1] : 0) << 8 |
				 (left > 2 ? bytes[i + 2] : 0);

		*to++ = digits[group >> 18];
		*to++ = digits[group >> 12 & 63];
		*to++ = left > 1 ? digits[group >> 6 & 63] : '=';
		*to++ = left > 2 ? digits[group & 63] : '=';
	}
	*to = 0;
	return text;
}

/* The value of a digit, -1 for what is none. */
static int digit(char c)
{
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

int base64_decode(const char *text, uint8_t **ret, size_t *ret_nr)
{
	size_t len = strlen(text), pad = 0, nr = 0;
	cleanup_free uint8_t *bytes = NULL;

	while (pad < 2 && pad < len && text[len - 1 - pad] == '=')
		pad++;
	if (len % 4)
		return -EINVAL;
	bytes = malloc(len / 4 * 3 + 1);
	if (!bytes)
		return -ENOMEM;
	for (size_t i = 0; i < len; i += 4) {
		uint32_t group = 0;

		for (size_t k = i; k < i + 4; k++) {
			int value = k < len - pad ? digit(text[k]) : 0;

			if (value < 0)
				return -EINVAL;
			group = group << 6 | (uint32_t)value;
		}
		for (int shift = 16; shift >= 0; shift -= 8)
			bytes[nr++] = (uint8_t)(group >> shift);
	}
	nr -= pad;
	/* What the padding hides must be nothing: one text for the same bytes. */
	for (size_t k = nr; k < nr + pad; k++)
		if (bytes[k])
			return -EINVAL;
	*ret = take_ptr(bytes);
	*ret_nr = nr;
	return 0;
}
