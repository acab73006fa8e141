// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "daemon/store_peaks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define EVERY "all"

void store_peaks_text(const struct peaks *p, char ret[STORE_PEAKS_LEN])
{
	ret[0] = '\0';
	for (uint32_t i = 0; i < p->nr; i++) {
		const struct peak *peak = &p->items[i];
		char socket[16] = EVERY;

		if (peak->socket != PEAK_EVERY_SOCKET)
			snprintf(socket, sizeof(socket), "%" PRIu32, peak->socket);
		str_append(ret, STORE_PEAKS_LEN, "%s %s %s %" PRIu64 "\n", peak_name(peak->of),
			   socket, peak_from_name(peak->from), peak->bytes_per_s);
	}
}

/* The number of a name; as many as there are for one that is none. */
static unsigned int find(const char *(*name_of)(unsigned int), const char *name)
{
	unsigned int i = 0;

	while (name_of(i) && strcmp(name_of(i), name) != 0)
		i++;
	return i;
}

/* Digits alone, up to @max. */
static bool is_number(const char *text, uint64_t max, uint64_t *ret)
{
	return !text[strspn(text, "0123456789")] && !parse_u64(text, ret) && *ret <= max;
}

static int parse_line(const char *line, struct peak *ret)
{
	char of[16], socket[24], from[16], rate[24];
	uint64_t number = PEAK_EVERY_SOCKET;
	int end = 0;

	if (sscanf(line, "%15s %23s %15s %23s%n", of, socket, from, rate, &end) != 4 ||
	    line[end] != '\n')
		return -EINVAL;
	ret->of = (enum peak_of)find(peak_name, of);
	ret->from = (enum peak_from)find(peak_from_name, from);
	if (strcmp(socket, EVERY) != 0 && !is_number(socket, PEAK_EVERY_SOCKET - 1, &number))
		return -EINVAL;
	ret->socket = (uint32_t)number;
	if (!is_number(rate, PEAK_MOST, &ret->bytes_per_s))
		return -EINVAL;
	return 0;
}

int store_peaks_parse(const char *text, struct peaks *ret)
{
	struct peaks p = { 0 };
	const char *next;

	for (; *text; text = next) {
		next = strchr(text, '\n');
		if (!next++ || p.nr == PEAK_MAX || parse_line(text, &p.items[p.nr++]))
			return -EINVAL;
	}
	if (peaks_wrong(&p))
		return -EINVAL;
	*ret = p;
	return 0;
}
