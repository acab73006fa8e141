/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists of hosts as Slurm writes them: "n[001-128],login1", "r[0-3]n[01-16]". */
#ifndef BASE_HOSTLIST_H
#define BASE_HOSTLIST_H

#include "base/diag.h"
#include "base/text_list.h"

#define HOSTLIST_MOST 65536

/**
 * hostlist_expand() - the names of a list
 * @text: names between commas, with any number of brackets; numbers are as wide as the first one of
 *	their range. Steps ("[1-9:2]") are not in it
 * @ret: gets the names in the list's order; may have some after an error
 * @d: gets the problem
 *
 * Return: 0, -EINVAL for what is no list, -E2BIG for more than HOSTLIST_MOST names, -ENOMEM.
 */
int hostlist_expand(const char *text, struct text_list *ret, struct diag *d);

/** hostlist_compare() - order of two names: by text, and by value where both have a number */
int hostlist_compare(const char *a, const char *b);

/**
 * hostlist_fold() - a list of names
 * @names, @nr: in the order of hostlist_compare()
 * @size: bytes that the text may take, with its terminator; at least 32. What finds no room is
 *	counted: "n[1-3] and 7 more"
 *
 * Return: the text, to be freed; NULL without memory.
 */
char *hostlist_fold(const char *const *names, size_t nr, size_t size);

#endif
