// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/bdf.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

/* Hexadecimal digits up to something else; they must not be above @max. */
static int take_hex(const char **text, uint32_t max, uint32_t *ret)
{
	uint64_t value = 0;

	if (!isxdigit((unsigned char)**text))
		return -EINVAL;
	for (; isxdigit((unsigned char)**text); ++*text) {
		int c = tolower((unsigned char)**text);

		value = value << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
		if (value > max)
			return -EINVAL;
	}
	*ret = value;
	return 0;
}

static int take_char(const char **text, char c)
{
	if (**text != c)
		return -EINVAL;
	++*text;
	return 0;
}

/* The text behind the domain. */
static int take_rest(const char *text, uint32_t domain, struct bdf *ret)
{
	uint32_t bus, device, function;

	if (take_hex(&text, 0xff, &bus) || take_char(&text, ':') ||
	    take_hex(&text, 0x1f, &device) || take_char(&text, '.') ||
	    take_hex(&text, 7, &function) || *text)
		return -EINVAL;
	*ret = (struct bdf){ .domain = domain, .bus = bus, .devfn = device << 3 | function };
	return 0;
}

int bdf_parse(const char *text, struct bdf *ret)
{
	const char *rest = text;
	uint32_t domain;

	if (!take_hex(&rest, INT32_MAX, &domain) && !take_char(&rest, ':') &&
	    !take_rest(rest, domain, ret))
		return 0;
	return take_rest(text, 0, ret);
}

void bdf_format(const struct bdf *b, char *ret, size_t size)
{
	snprintf(ret, size, "%04x:%02x:%02x.%x", b->domain, b->bus, b->devfn >> 3, b->devfn & 7);
}

bool bdf_is_name(const char *text, size_t length)
{
	char copy[20], written[20];

	if (length >= sizeof(copy))
		return false;
	memcpy(copy, text, length);
	copy[length] = '\0';
	return !bdf_canonical(copy, written, sizeof(written)) && !strcmp(copy, written);
}

const char *bdf_of_path(const char *path, char *ret)
{
	const char *behind = NULL;

	while (*path) {
		size_t length = strcspn(path, "/");

		/* other names have colons and dots, too: only the full form counts */
		if (bdf_is_name(path, length)) {
			memcpy(ret, path, length);
			ret[length] = '\0';
			behind = path + length;
		}
		path += length + (path[length] == '/');
	}
	return behind;
}

int bdf_compare(const struct bdf *a, const struct bdf *b)
{
	return ORDER(a->domain, b->domain) ?: ORDER(a->bus, b->bus) ?: ORDER(a->devfn, b->devfn);
}

int bdf_canonical(const char *text, char *ret, size_t size)
{
	struct bdf b;
	int err = bdf_parse(text, &b);

	if (!err)
		bdf_format(&b, ret, size);
	return err;
}

int device_address(const char *text, char *ret, size_t size)
{
	static const char *const kinds[] = { "acc", "agent" };
	size_t words = strcspn(text, "/");
	char function[20], address[20];

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t len = strlen(kinds[i]);
		const char *number = text + len;
		int32_t n;

		if (strncmp(text, kinds[i], len) != 0)
			continue;
		if (!take_number(&number, &n) || *number)
			return -EINVAL;
		snprintf(ret, size, "%s%d", kinds[i], (int)n);
		return 0;
	}
	if (!text[words])
		return bdf_canonical(text, ret, size);
	/* the link itself, or as the GPU counts it */
	if ((strcmp(text + words, "/c2c") != 0 && strcmp(text + words, "/gpm") != 0) ||
	    words >= sizeof(function))
		return -EINVAL;
	memcpy(function, text, words);
	function[words] = '\0';
	if (bdf_canonical(function, address, sizeof(address)))
		return -EINVAL;
	snprintf(ret, size, "%s%s", address, text + words);
	return 0;
}
