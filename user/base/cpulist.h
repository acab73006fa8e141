/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sets of CPUs, written as in sysfs: "0-87,176-263". */
#ifndef BASE_CPULIST_H
#define BASE_CPULIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPULIST_MAX_CPUS 4096

/* Text of any set fits: the longest is pairs with one CPU between, "1000-1001,". */
#define CPULIST_TEXT_LEN ((CPULIST_MAX_CPUS / 3 + 1) * 10 + 1)

/**
 * struct cpulist - a set of CPUs below CPULIST_MAX_CPUS; all zero is empty
 * @bits: CPU n is bit n % 64 of word n / 64
 */
struct cpulist {
	uint64_t bits[CPULIST_MAX_CPUS / 64];
};

/**
 * cpulist_parse() - read a set from text
 * @text: CPU numbers and ranges "low-high" with commas between them, in any
 *	order; "" is the empty set; one newline at the end is fine
 * @ret_list: the set
 *
 * Return: 0, or -EINVAL when @text is anything else or names a CPU too large.
 */
int cpulist_parse(const char *text, struct cpulist *ret_list);

/** cpulist_contains() - is @cpu in the set? false for numbers out of range */
bool cpulist_contains(const struct cpulist *list, unsigned int cpu);

/** cpulist_set() - put @cpu into the set, or take it out; numbers out of range change nothing */
void cpulist_set(struct cpulist *list, unsigned int cpu, bool in);

/** cpulist_count() - number of CPUs in the set */
unsigned int cpulist_count(const struct cpulist *list);

/**
 * cpulist_next() - walk the set upwards
 * @list: the set
 * @after: the CPU before, -1 to get the first one
 *
 * Return: the lowest CPU above @after, or -1 at the end.
 */
int cpulist_next(const struct cpulist *list, int after);

/**
 * cpulist_format() - write a set as sysfs does
 * @list: the set
 * @ret_text: the text without newline; "" for the empty set
 * @size: size of @ret_text in bytes; CPULIST_TEXT_LEN is always enough
 *
 * Return: 0, or -ENOSPC when the text does not fit.
 */
int cpulist_format(const struct cpulist *list, char *ret_text, size_t size);

#endif
