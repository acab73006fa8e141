/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Growable arrays: a pointer, a length and a capacity kept in the owner. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Order of two numbers, for qsort(): orders of several are chained with "?:". */
#define ORDER(a, b)   (((a) > (b)) - ((a) < (b)))

/**
 * NAMES() - define a function that tells the name of an enum's value, "unknown" for any other
 * @function: its name
 * @type: the enum
 * Behind them, an initialiser of an array: [VALUE] = "name", for all values
 */
#define NAMES(function, type, ...)                                                           \
	const char *function(type value)                                                     \
	{                                                                                    \
		static const char *const names[] = { __VA_ARGS__ };                          \
                                                                                             \
		return (size_t)value < ARRAY_SIZE(names) ? names[(size_t)value] : "unknown"; \
	}

/**
 * array_reserve_() - make room for one more element; use array_reserve()
 * @items: address of the array pointer
 * @cap: capacity in elements, updated
 * @nr: elements in use
 * @size: size of one element in bytes
 *
 * Return: 0, or -ENOMEM with the array unchanged.
 */
static inline int array_reserve_(void *items, size_t *cap, size_t nr, size_t size)
{
	void **p = items;
	size_t want = *cap ? *cap * 2 : 16;
	void *bigger;

	if (nr < *cap)
		return 0;
	bigger = reallocarray(*p, want, size);
	if (!bigger)
		return -ENOMEM;
	*p = bigger;
	*cap = want;
	return 0;
}

/**
 * array_place() - the first of @nr elements for which @before is false, or @nr
 * @at: name of the index in @before
 * @before: whether element @at is before the wanted place: true for some first elements only
 */
#define array_place(nr, at, before)                            \
	({                                                     \
		size_t low_ = 0, high_ = (nr);                 \
		while (low_ < high_) {                         \
			size_t at = low_ + (high_ - low_) / 2; \
			if (before)                            \
				low_ = at + 1;                 \
			else                                   \
				high_ = at;                    \
		}                                              \
		low_;                                          \
	})

#define array_reserve(items, cap, nr) array_reserve_(&(items), &(cap), (nr), sizeof(*(items)))

#endif
