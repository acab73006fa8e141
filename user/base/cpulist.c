// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/cpulist.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Read one CPU number and move @text behind it; -1 when there is none. */
static int take_cpu(const char **text)
{
	int cpu = 0;

	if (!isdigit((unsigned char)**text))
		return -1;
	while (isdigit((unsigned char)**text)) {
		cpu = cpu * 10 + (*(*text)++ - '0');
		if (cpu >= CPULIST_MAX_CPUS)
			return -1;
	}
	return cpu;
}

int cpulist_parse(const char *text, struct cpulist *ret_list)
{
	struct cpulist list = { 0 };
	bool more = *text && strcmp(text, "\n");
	int low, high;

	while (more) {
		low = high = take_cpu(&text);
		if (low >= 0 && *text == '-') {
			text++;
			high = take_cpu(&text);
		}
		if (low < 0 || high < low)
			return -EINVAL;
		for (; low <= high; low++)
			cpulist_set(&list, low, true);
		more = *text == ',';
		if (more)
			text++;
	}
	if (*text == '\n')
		text++;
	if (*text)
		return -EINVAL;
	*ret_list = list;
	return 0;
}

bool cpulist_contains(const struct cpulist *list, unsigned int cpu)
{
	return cpu < CPULIST_MAX_CPUS && list->bits[cpu / 64] >> cpu % 64 & 1;
}

void cpulist_set(struct cpulist *list, unsigned int cpu, bool in)
{
	uint64_t bit = 1ULL << cpu % 64;

	if (cpu >= CPULIST_MAX_CPUS)
		return;
	if (in)
		list->bits[cpu / 64] |= bit;
	else
		list->bits[cpu / 64] &= ~bit;
}

unsigned int cpulist_count(const struct cpulist *list)
{
	unsigned int count = 0;

	for (size_t i = 0; i < CPULIST_MAX_CPUS / 64; i++)
		count += __builtin_popcountll(list->bits[i]);
	return count;
}

int cpulist_next(const struct cpulist *list, int after)
{
	for (int cpu = after + 1; cpu < CPULIST_MAX_CPUS; cpu++) {
		/* Skip empty words as a whole, most of a set is empty. */
		if (cpu % 64 == 0 && !list->bits[cpu / 64])
			cpu += 63;
		else if (cpulist_contains(list, cpu))
			return cpu;
	}
	return -1;
}

int cpulist_format(const struct cpulist *list, char *ret_text, size_t size)
{
	char text[CPULIST_TEXT_LEN] = "";
	size_t used = 0;
	int low, high;

	for (low = cpulist_next(list, -1); low >= 0; low = cpulist_next(list, high)) {
		for (high = low; cpulist_contains(list, high + 1); high++)
			;
		used += snprintf(text + used, sizeof(text) - used, "%s%d", used ? "," : "", low);
		if (high > low)
			used += snprintf(text + used, sizeof(text) - used, "-%d", high);
	}
	if (used >= size)
		return -ENOSPC;
	memcpy(ret_text, text, used + 1);
	return 0;
}
