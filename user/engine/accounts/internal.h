/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside of the keeper of accounts, shared by its files only: see accounts.h. */
#ifndef ENGINE_ACCOUNTS_INTERNAL_H
#define ENGINE_ACCOUNTS_INTERNAL_H

#include <stdlib.h>

/* The table asks calloc() for memory, as all of the keeper does, and says when there is none. */
#define HASH_NONFATAL_OOM    1
#define uthash_malloc(bytes) calloc(1, bytes)
#include <uthash.h>

#include "base/times.h"
#include "engine/accounts/accounts.h"

/*
 * What is added up for the machine, as one row of numbers since the keeper began. The difference
 * of two of them is what was in the intervals between, so that a job costs nothing for the
 * machine's counters while it runs. Wide enough that nothing can wrap.
 */
#define QUALITY_FIELDS NR_QUALITY_NUMBERS
#define SELF_FIELDS    (sizeof(struct self_cost) / sizeof(uint64_t))

/* Numbers in front of those of counters. */
enum {
	SUM_INTERVALS,
	SUM_COVERED,
	SUM_QUALITY,
	SUM_SELF = SUM_QUALITY + QUALITY_FIELDS,
	NR_SUMS = SUM_SELF + SELF_FIELDS,
};

/* Numbers of a counter. */
enum {
	OF_VALUE,
	OF_ATTRIBUTED,
	OF_UNATTRIBUTED,
	OF_ENABLED = OF_UNATTRIBUTED + NR_REASONS,
	OF_RUNNING,
	OF_VALID,  /* intervals in which it had a value */
	OF_LISTED, /* and in which somebody asked for one */
	NR_OF_COUNTER,
};

/* The numbers at some time; shared by the jobs that began then. */
struct sums_base {
	size_t refs;
	size_t nr_counters;
	sum128 cells[];
};

/**
 * struct account_entry - a job in memory
 * @hh: by cgroup; its table is NULL for one that is not found any more
 * @account: the account. Of a running job, @account.node, .quality, .self, .intervals and
 *	.covered_ns are what was before @base
 * @base: the machine's numbers when the job began or went on; NULL when it is over or @waiting
 * @waiting: restored, and not seen since
 * @changed, @stored: generations of its last change, and of what the store has
 * @idle: intervals since the last change
 * @attempt: accounts_interval() call that the rest is about
 * @pending: not in the accounts yet
 * @whole_row: there is a row of the job as a whole besides those of its parts
 * @ends: a row says that it is over
 * @active: a row has something
 * @others: its steps are too many now
 * @next_step: where to look for the next one
 * @pending_steps: steps behind @account.nr_steps that are new
 * @pending_path: its path, known now; owned
 * @who: its row that says who it is
 * @begin_ns: of a new one: when it began within the interval (CLOCK_MONOTONIC), 0: with it
 * @node: room for @account.node if it is over with this interval; owned
 */
struct account_entry {
	UT_hash_handle hh;
	struct account_job account;
	struct sums_base *base;
	bool waiting;
	uint64_t changed;
	uint64_t stored;
	uint32_t idle;
	uint64_t attempt;
	bool pending;
	bool whole_row;
	bool ends;
	bool active;
	bool others;
	size_t next_step;
	size_t pending_steps;
	char *pending_path;
	const struct row_job *who;
	uint64_t begin_ns;
	struct account_node_total *node;
};

/* Where a row goes to. @step: its index; NO_STEP for none. @active: there is something in it. */
struct target {
	struct account_entry *entry;
	size_t step;
	bool active;
	bool late;
};
#define NO_STEP	     SIZE_MAX

/*
 * Jobs that are over and forgotten, by cgroup: rows that come late are none of new jobs. @ring:
 * in the order they ended; @table: where they are found, 0 = free.
 */
#define CLOSED_MAX   16384
#define CLOSED_TABLE (2 * CLOSED_MAX)
struct closed {
	uint64_t ring[CLOSED_MAX];
	uint64_t table[CLOSED_TABLE];
	size_t nr;
};

/**
 * struct accounts - the keeper
 * @o: options
 * @node: the machine; its arrays have room for @cap_counters
 * @sums: the machine's numbers, of as many counters
 * @started: there was an interval
 * @last_end_ns: its end, CLOCK_MONOTONIC
 * @jobs: in the order they began
 * @by_cgroup: those that are found
 * @closed: see struct closed
 * @generation: number of the interval, for what changed
 * @offered: generation that accounts_each_changed() gave
 * @attempt: see struct account_entry
 * @map: index in @node.counters by the report's, NO_COUNTER for none; the last report's until then
 * @pending_counters: counters behind @node.nr_counters that are new
 * @targets: by row
 * @fresh: the numbers before this interval, for jobs that begin with it
 * @after: those behind it, for jobs that begin within it
 * @broken: this interval does not begin where the last one ended
 * @view: room for the machine's counters in an account that is shown
 */
struct accounts {
	struct accounts_options o;
	struct accounts_node node;
	size_t cap_counters;
	sum128 *sums;
	bool started;
	uint64_t last_end_ns;
	struct account_entry **jobs;
	size_t nr_jobs, cap_jobs;
	struct account_entry *by_cgroup;
	struct closed *closed;
	uint64_t generation;
	uint64_t offered;
	uint64_t attempt;
	uint32_t *map;
	size_t nr_map, cap_map;
	size_t pending_counters;
	struct target *targets;
	size_t cap_targets;
	struct sums_base *fresh;
	struct sums_base *after;
	bool broken;
	struct account_node_total *view;
	size_t cap_view;
};
#define NO_COUNTER UINT32_MAX

/* accounts_sums.c */

/** capped() - a sum of 64 bits, as sum_capped() */
static inline uint64_t capped(uint64_t a, sum128 b)
{
	return b > UINT64_MAX - a ? UINT64_MAX : a + (uint64_t)b;
}

/** accounts_sums_of() - numbers of a counter */
static inline sum128 *accounts_sums_of(sum128 *cells, size_t counter)
{
	return cells + NR_SUMS + counter * NR_OF_COUNTER;
}

/** accounts_reserve() - room for @want elements, new ones zero; 0 or -ENOMEM, all as it was */
int accounts_reserve_(void *items, size_t *cap, size_t want, size_t size);
#define accounts_reserve(items, cap, want) \
	accounts_reserve_(&(items), &(cap), (want), sizeof(*(items)))

/** accounts_sums_reserve() - make room for so many counters; 0 or -ENOMEM */
int accounts_sums_reserve(struct accounts *a, size_t nr_counters);

/** accounts_sums_add() - add an interval to the machine's numbers and totals */
void accounts_sums_add(struct accounts *a, const struct report *r);

/** accounts_sums_take() - the numbers as they are now, of so many counters; NULL without memory */
struct sums_base *accounts_sums_take(const struct accounts *a, size_t nr_counters);

/** accounts_sums_retake() - the same again, later */
void accounts_sums_retake(const struct accounts *a, struct sums_base *b);
void accounts_sums_drop(struct sums_base *b);

/** accounts_sums_account() - complete a running account with what came since; @node: room */
void accounts_sums_account(const struct accounts *a, const struct account_entry *e,
			   struct account_node_total *node, struct account_job *ret);

/* accounts_totals.c: parts of accounts */

/** accounts_part_search() - what a part has of a counter, or NULL. @hint: moved behind it */
struct account_total *accounts_part_search(struct account_part *p, uint32_t counter, size_t *hint);

/** accounts_part_total() - the same, when it is mostly where @hint says: one row after the other */
static inline struct account_total *accounts_part_total(struct account_part *p, uint32_t counter,
							size_t *hint)
{
	if (*hint < p->nr_totals && p->totals[*hint].counter == counter)
		return &p->totals[(*hint)++];
	return accounts_part_search(p, counter, hint);
}

/** accounts_part_reserve() - see to it that there is one, empty if it is new; 0 or -ENOMEM */
int accounts_part_reserve(struct account_part *p, uint32_t counter, size_t *hint);

/** accounts_part_io() - what a part has of a device; NULL for nothing yet */
struct account_io *accounts_part_io(struct account_part *p, const char *bdf);

/** accounts_part_reserve_io() - see to it that there is one; 0 or -ENOMEM */
int accounts_part_reserve_io(struct account_part *p, const struct device *d);

/** accounts_part_trim() - take out what was reserved and stayed empty */
void accounts_part_trim(struct account_part *p);

/** accounts_part_step() - a new step behind those that are there; 0 or -ENOMEM */
int accounts_part_step(struct account_entry *e, const char *step);

/** accounts_part_drop_steps() - forget the steps that were to be new */
void accounts_part_drop_steps(struct account_entry *e);

/** accounts_part_fold_others() - from now on the last step is all that have no place */
void accounts_part_fold_others(struct account_job *j);

/** accounts_part_sort_node() - bring the machine's counters of an account into their order */
void accounts_part_sort_node(struct account_job *j);

/** accounts_part_copy_job() - copy a job's account; 0, -EINVAL or -ENOMEM */
int accounts_part_copy_job(const struct accounts *a, const struct account_job *from,
			   struct account_job *ret);

/* accounts_begin.c: jobs that begin within an interval */

/** accounts_begin_prepare() - does a new job begin within @r? Room for that; 0 or -ENOMEM */
int accounts_begin_prepare(struct account_entry *e, const struct report *r);

/** accounts_begin_job() - the account of such a job is of its own time: all but its bytes */
void accounts_begin_job(const struct accounts *a, struct account_entry *e, const struct report *r);

/** accounts_begin_own() - its own bytes of @r are known now: the machine's, as far as it knows */
void accounts_begin_own(struct account_entry *e);

/** accounts_begin_time() - CLOCK_REALTIME of a time within a report, or of its nearer end */
uint64_t accounts_begin_time(const struct report *r, uint64_t ns);

/* accounts_groups.c: counts of the kernel's monitoring groups */

/** accounts_groups_reserve() - make room for what groups have in a report; 0 or -ENOMEM */
int accounts_groups_reserve(struct accounts *a, const struct report *r);

/** accounts_groups_trim() - take out what was reserved and stayed empty */
void accounts_groups_trim(struct account_job *j);

/** accounts_groups_add() - add what groups have in a report */
void accounts_groups_add(struct accounts *a, const struct report *r);

/* accounts_gpus.c: GPUs that jobs hold */

/** accounts_gpus_reserve() - make room for the GPUs that jobs hold in a report; 0 or -ENOMEM */
int accounts_gpus_reserve(struct accounts *a, const struct report *r);

/** accounts_gpus_trim() - take out what was reserved and stayed empty */
void accounts_gpus_trim(struct account_job *j);

/** accounts_gpus_add() - add what jobs had of GPUs in a report */
void accounts_gpus_add(struct accounts *a, const struct report *r);

/* accounts.c: jobs in memory */

/** accounts_entry_find() - the job of a cgroup; NULL for none */
struct account_entry *accounts_entry_find(const struct accounts *a, uint64_t cgroup_id);

/** accounts_entry_new() - a job behind all others; NULL without memory */
struct account_entry *accounts_entry_new(struct accounts *a, uint64_t cgroup_id, bool hashed);

/** accounts_entry_unhash() - it is not found any more */
void accounts_entry_unhash(struct accounts *a, struct account_entry *e);

/** accounts_entry_free() - release what is in no list any more */
void accounts_entry_free(struct account_entry *e);

/** accounts_entry_over() - close it; @state is not ACCOUNT_RUNNING. @e->node: spare memory if it ran */
void accounts_entry_over(struct accounts *a, struct account_entry *e, enum account_state state,
			 uint64_t end_ns);

/** accounts_entry_sweep() - forget jobs that are over: saved ones, the oldest beyond the bound */
void accounts_entry_sweep(struct accounts *a, uint64_t saved);

/** accounts_closed_has() - see struct closed */
bool accounts_closed_has(const struct closed *c, uint64_t cgroup_id);

#endif
