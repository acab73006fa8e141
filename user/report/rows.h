/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rows of a report in reading order: a tree (flat for processes and threads), the largest
 * first, and the hidden rest added up.
 */
#ifndef REPORT_ROWS_H
#define REPORT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "model.h"

/* Tables keep sets of sockets as bits. */
#define ROWS_MAX_SOCKETS 64

/**
 * struct amounts - bytes and CPU time of a row or of several together
 * @bytes: by direction, bytes that CPUs moved
 * @to: the part of them with a known destination, by destination and direction
 * @low, @high: sum of the ends of the intervals, bytes
 * @device: by direction, bytes of devices for it, see devices_moved()
 * @energy: nanojoules
 * @cpu_ns: CPU time
 * @tangled: an inseparable row; sums have no mark, because they are often better known than their
 *	parts
 *
 * Sums of absurd input stay at UINT64_MAX instead of wrapping.
 */
struct amounts {
	uint64_t bytes[NR_DIRECTIONS];
	uint64_t to[NR_DESTINATIONS][NR_DIRECTIONS];
	uint64_t low;
	uint64_t high;
	uint64_t device[NR_WAYS];
	uint64_t energy;
	uint64_t cpu_ns;
	bool tangled;
};

/**
 * struct row_node - a row and its place
 * @row: the row; NULL for the root
 * @amounts: of the row; of the root, of all leaf rows
 * @hidden: of the hidden leaf rows whose nearest shown ancestor this is, so that the lines below a
 *	node add up to it; or of all hidden ones in the root
 * @nr_hidden: number of these leaf rows
 * @parent, @child, @next: the tree; siblings are sorted, the largest first
 * @shown: the row is shown; always true for the root
 */
struct row_node {
	const struct report_row *row;
	struct amounts amounts;
	struct amounts hidden;
	size_t nr_hidden;
	struct row_node *parent;
	struct row_node *child;
	struct row_node *next;
	bool shown;
};

/**
 * struct socket_total - a socket that the report knows of
 * @id: socket number
 * @cpus: its CPU time; NULL when it has counters only
 * @bytes: value of all its counters that have one, except those of single devices
 * @incomplete: some of these have none
 */
struct socket_total {
	uint32_t id;
	const struct report_socket *cpus;
	uint64_t bytes;
	bool incomplete;
};

/**
 * struct row_tree - all rows of a report
 * @root: parent of the rows without one
 * @nodes, @nr_nodes: one for each row of the report, in its order
 * @sockets: in the order of the report
 */
struct row_tree {
	struct row_node root;
	struct row_node *nodes;
	size_t nr_nodes;
	struct socket_total sockets[ROWS_MAX_SOCKETS];
	size_t nr_sockets;
};

/**
 * row_tree_new() - sort the rows of a report
 * @r: the report; must outlive the tree
 * @top: leaf rows to show; 0 shows all
 * @together: the rest is one sum, that of the root
 * @ret_tree: receives the tree; the caller frees it with row_tree_free()
 *
 * Return: 0, -ENOMEM, or -E2BIG for more than ROWS_MAX_SOCKETS sockets.
 */
int row_tree_new(const struct report *r, size_t top, bool together, struct row_tree **ret_tree);

/**
 * row_tree_join() - for people: join chains, see chains_join()
 * @t: the tree; joined nodes are neither shown nor in it any more, only in @nodes
 *
 * Rows of own tasks stay apart, and so does a row that has ended from one above it that has not.
 *
 * Return: 0 or -ENOMEM.
 */
int row_tree_join(struct row_tree *t);

/** row_tree_free() - release a tree; NULL is fine */
void row_tree_free(struct row_tree *t);

/**
 * row_tree_busy() - number of leaf rows with activity
 * @t: the tree
 * @least_ns: CPU time that counts as activity; so does any byte
 */
size_t row_tree_busy(const struct row_tree *t, uint64_t least_ns);

/** row_tree_socket() - index of a socket of the report in row_tree.sockets */
size_t row_tree_socket(const struct row_tree *t, uint32_t id);

/**
 * row_tree_all() - all bytes of the machine: the 100% of each share of a report
 * @t: the tree
 *
 * Rows, what devices moved for them, and unattributed bytes add up to it.
 *
 * Return: the bytes, but at least 1: a row without any has 0%.
 */
uint64_t row_tree_all(const struct row_tree *t);

/**
 * rows_machine() - the amounts of the whole machine, attributed or not
 * @r: the report
 *
 * Counters without a value are left out. @low and @high differ only where a counter was scaled.
 */
struct amounts rows_machine(const struct report *r);

/**
 * rows_socket_cpu() - CPU time of a socket
 * @s: the socket
 * @duration_ns: of the report
 * @ret_all: also idle time; at least that of its CPUs, where a trace has none
 *
 * Return: the time that was used, known to be of a task or not.
 */
uint64_t rows_socket_cpu(const struct report_socket *s, uint64_t duration_ns, uint64_t *ret_all);

/**
 * rows_put_parts() - write a row's part of each socket's bytes: "74.9% of socket 0, 4.0% of socket 1"
 * @out: where to
 * @r: the report
 * @t: its tree
 * @row: the row; sockets on which it has no bytes are left out
 */
void rows_put_parts(FILE *out, const struct report *r, const struct row_tree *t,
		    const struct report_row *row);

/** rows_key_stays() - does the key identify the row in other reports, too? */
bool rows_key_stays(const struct report_row *row);

/** rows_find() - the row with this key; NULL for none */
const struct report_row *rows_find(const struct report *r, const char *key);

/** amounts_add() - add the amounts of another row; @tangled stays */
void amounts_add(struct amounts *to, const struct amounts *from);

/** amounts_add_bytes() - add a counter's bytes or energy; @low and @high stay */
void amounts_add_bytes(struct amounts *to, const struct counter *c, uint64_t bytes);

/** amounts_bytes() - bytes of all directions */
uint64_t amounts_bytes(const struct amounts *a);

/** amounts_to() - of these, bytes with this known destination */
uint64_t amounts_to(const struct amounts *a, enum destination to);

/** amounts_to_memory() - without those that are known to have gone elsewhere */
uint64_t amounts_to_memory(const struct amounts *a);

/** amounts_all() - those of CPUs and of devices: a row that makes devices work is as large */
uint64_t amounts_all(const struct amounts *a);

#endif
