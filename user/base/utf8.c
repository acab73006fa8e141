// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/utf8.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"

static const struct {
	uint32_t first;
	uint32_t last;
} unsafe[] = {
	{ 0x0000, 0x001f },   { 0x007f, 0x009f }, { 0x00ad, 0x00ad },	{ 0x061c, 0x061c },
	{ 0x070f, 0x070f },   { 0x180b, 0x180f }, { 0x200b, 0x200f },	{ 0x2028, 0x202e },
	{ 0x2060, 0x206f },   { 0x3164, 0x3164 }, { 0xfe00, 0xfe0f },	{ 0xfeff, 0xfeff },
	{ 0xfff0, 0xfffb },   { 0xfffe, 0xffff }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a },
	{ 0xe0000, 0xe0fff },
};

bool utf8_unsafe(uint32_t c)
{
	for (size_t i = 0; i < ARRAY_SIZE(unsafe) && c >= unsafe[i].first; i++) {
		if (c <= unsafe[i].last)
			return true;
	}
	return false;
}

size_t utf8_decode(const char *text, size_t len, uint32_t *ret_char)
{
	const unsigned char *s = (const unsigned char *)text;
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t c;
	size_t n, i;

	if (!len)
		return 0;
	if (s[0] < 0x80) {
		*ret_char = s[0];
		return 1;
	}
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		n = 2;
	else if (s[0] >= 0xe0 && s[0] <= 0xef)
		n = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		n = 4;
	else
		return 0;
	if (n > len)
		return 0;
	c = s[0] & (0x7f >> n);
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*ret_char = c;
	return n;
}

int utf8_harmless(char *dst, size_t size, const char *src, size_t len)
{
	size_t used = 0, i = 0;

	while (i < len) {
		/* Nearly all names are plain ASCII. */
		bool plain = src[i] >= ' ' && src[i] < 0x7f;
		uint32_t c = ' ';
		size_t n = plain ? 1 : utf8_decode(src + i, len - i, &c);
		bool fine = n && !utf8_unsafe(c);
		size_t out = fine ? n : 1;

		if (used + out >= size)
			break;
		if (fine)
			memcpy(dst + used, src + i, n);
		else
			dst[used] = '?';
		used += out;
		i += n ? n : 1;
	}
	dst[used] = '\0';
	return i < len ? -ENAMETOOLONG : 0;
}
