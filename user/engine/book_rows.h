/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside of the book, shared by its files only: see book.h. */
#ifndef ENGINE_BOOK_ROWS_H
#define ENGINE_BOOK_ROWS_H

#include "engine/book.h"

/* A process or thread: pid and start. A cgroup: its id. All zero: the pool. */
struct book_key {
	uint64_t start_ns;
	uint64_t cgroup_id;
	uint32_t pid;
	uint32_t zero;
};

/*
 * A counter in a row; @low and @high as in struct share. @squares: sum of the squares of
 * its windows' bytes, which tells how lumpy they came.
 */
struct entry_share {
	uint64_t value;
	uint64_t low;
	uint64_t high;
	uint64_t tangled; /* bytes of intervals in which it was not separable */
	double squares;
};

/* A latency in a row, for a link: @byte_ns is the sum of bytes times latency. */
struct entry_seen {
	uint64_t bytes;
	double byte_ns;
};

/**
 * struct book_row - entries of one row
 * @key: identity
 * @workload: one of its workloads, for the name
 * @tgid, @comm, @comm_known, @kernel, @exited, @cgroup_id, @path: names, set by
 *	book_finish(); @path is owned and NULL when unknown
 * @on_cpu_ns: CPU time
 * @number: of the row in the book plus 1, for the splitter; 0 = none yet
 * @tangled: some of the rows it cannot be told from; @nr_tangled_all: how many there are
 * @seen: one a link; in the same piece of memory
 * @shares: one a counter
 */
struct book_row {
	struct book_key key;
	uint32_t workload;
	uint32_t tgid;
	char comm[MODEL_COMM_LEN];
	bool comm_known;
	bool kernel;
	bool exited;
	uint64_t cgroup_id;
	char *path;
	uint64_t on_cpu_ns;
	uint32_t number;
	struct book_key *tangled;
	size_t nr_tangled, cap_tangled;
	size_t nr_tangled_all;
	UT_hash_handle hh;
	struct entry_seen *seen;
	struct entry_share shares[];
};

struct book {
	const struct layout *layout;
	struct book_scope scope;
	size_t nr_links;
	struct identity *id;
	struct report_counter *counters;
	struct report_socket *sockets;
	struct book_row *rows;
	struct book_row **row_of; /* by workload; NULL: not looked up yet */
	struct book_row **by_number;
	size_t nr_numbers, cap_numbers;
	size_t nr_row_of, cap_row_of;
	uint64_t windows;
	uint64_t pooled;
};

/** book_row_get() - the row of a key, made when new; 0 or -ENOMEM */
int book_row_get(struct book *b, const struct book_key *key, struct book_row **ret);

/** book_row_add() - enter another row's numbers and names; 0 or -ENOMEM */
int book_row_add(struct book *b, struct book_row *to, const struct book_row *from);

void book_row_delete(struct book *b, struct book_row *row);

/** book_row_tangle() - the row cannot be told from the one of a key; 0 or -ENOMEM */
int book_row_tangle(struct book_row *row, const struct book_key *other);

/** book_pool() - pool ended rows with the least bytes when there are more than @max */
int book_pool(struct book *b, size_t max);

/**
 * book_latencies() - the latencies that a row of a report saw
 * @b: the book
 * @seen: entries of the row, one a link
 * @row: has its shares; gets latencies, those of probes whose samples tell of some of
 *	its bytes
 *
 * Return: 0 or -ENOMEM.
 */
int book_latencies(const struct book *b, const struct entry_seen *seen, struct report_row *row);

/** book_of_bytes() - bytes of a row of a report that weigh the latency of a probe */
uint64_t book_of_bytes(const struct book *b, const struct report_row *row, uint32_t probe);

/**
 * cgroup_tree() - parents for the rows of a report by cgroup
 * @b: names
 * @r: has the leaf rows; gets a row for each parent, which includes its children
 *
 * Return: 0 or -ENOMEM.
 */
int cgroup_tree(const struct book *b, struct report *r);

#endif
