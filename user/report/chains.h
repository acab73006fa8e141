/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Chains in trees for people: rows that would only repeat the numbers of their only child. */
#ifndef REPORT_CHAINS_H
#define REPORT_CHAINS_H

#include <stdbool.h>
#include <stddef.h>

#define CHAINS_NO_PARENT ((size_t)-1)

/**
 * chains_join() - join each node that has one child with it
 * @parents: by node, the index of its parent, CHAINS_NO_PARENT for none: a tree. Receives the
 *	nearest one that is not joined
 * @nr: number of nodes
 * @apart: by node, it is not joined with its parent, as a row of own tasks
 * @ret_joined: by node, receives whether the row of its only child stands for both
 *
 * The name of the child is then the rest of its path below its new parent.
 *
 * Return: 0 or -ENOMEM.
 */
int chains_join(size_t *parents, size_t nr, const bool *apart, bool *ret_joined);

#endif
