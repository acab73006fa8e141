/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Accounts: traffic of each job from its begin to its end, over many intervals and over restarts of
 * the daemon. Plain data: the contract between the engine, which adds up, the store, which keeps,
 * and the reports and metrics, which show.
 *
 * Times are CLOCK_REALTIME nanoseconds: accounts outlive a boot.
 */
#ifndef T410TRACE_ACCOUNT_H
#define T410TRACE_ACCOUNT_H

#include "base/sums.h"
#include "model.h"

#define ACCOUNT_BOOT_LEN 40 /* /proc/sys/kernel/random/boot_id */

/**
 * struct account_counter - a counter in all accounts, independent of a run's layout
 * @name: as in reports
 * @socket: number of the socket, as users know it
 * @source, @direction, @destination: see struct counter
 * @bdf: device that it counts, "" for none. Counters of devices: the device's view
 * @unit: bytes, or nanojoules
 * @whole: its bytes are in no other counter of the same source and direction, so that sums may be
 *	made (false for a device's bytes by destination, for ports as a whole, and for energy)
 *
 * All of this is its identity: a counter with another direction is another counter, which begins
 * with 0 beside the old one. The members are a list, so that account_counter_same() has them all.
 */
#define ACCOUNT_COUNTER(TEXT, VALUE)         \
	TEXT(name, MODEL_NAME_LEN)           \
	VALUE(uint32_t, socket)              \
	VALUE(enum source, source)           \
	VALUE(enum direction, direction)     \
	VALUE(enum destination, destination) \
	TEXT(bdf, MODEL_BDF_LEN)             \
	VALUE(enum unit, unit)               \
	VALUE(bool, whole)

#define ACCOUNT_TEXT_MEMBER(name, size)	 char name[size];
#define ACCOUNT_VALUE_MEMBER(type, name) type name;

struct account_counter {
	ACCOUNT_COUNTER(ACCOUNT_TEXT_MEMBER, ACCOUNT_VALUE_MEMBER)
};

/** account_counter_same() - are both the same counter? */
bool account_counter_same(const struct account_counter *a, const struct account_counter *b);

/**
 * struct account_total - total of a counter in an account, in its unit
 * @counter: index into accounts.counters
 * @value, @low, @high: sums over the intervals; 95% interval
 * @inseparable: part of @value from intervals in which the job was inseparable
 */
struct account_total {
	uint32_t counter;
	sum128 value;
	sum128 low;
	sum128 high;
	sum128 inseparable;
};

/**
 * struct account_node_total - a counter of the machine, over the same intervals as something else
 * @counter: index into accounts.counters
 * @value: everything, in the counter's unit
 * @attributed: of this, the part of jobs and all other workloads. @value is @attributed plus all of
 *	@unattributed, to the unit
 * @unattributed: by reason
 * @enabled_ns, @running_ns: multiplexing: time it should have counted, time it did
 * @missing: intervals in which it had no value
 */
struct account_node_total {
	uint32_t counter;
	sum128 value;
	sum128 attributed;
	sum128 unattributed[NR_REASONS];
	uint64_t enabled_ns;
	uint64_t running_ns;
	uint64_t missing;
};

/* Bytes of requests of a device, as the kernel saw them; the device's view. */
struct account_io {
	char bdf[MODEL_BDF_LEN];
	char name[64];
	uint64_t read_bytes;
	uint64_t write_bytes;
};

/**
 * struct account_part - a job as a whole, or a step of it
 * @step: "" for the job as a whole; "own" is not used: tasks in no step are in the whole only
 * @start_ns, @end_ns: first seen, and last seen or ended
 * @ended: its cgroup is gone
 * @on_cpu_ns: CPU time; that of a large job over its nodes may exceed 2^64 after a day
 * @totals, @nr_totals: by counter, only those with bytes; owned
 * @io, @nr_io: by device, only those with bytes; owned
 */
struct account_part {
	char step[JOB_STEP_LEN];
	uint64_t start_ns;
	uint64_t end_ns;
	bool ended;
	sum128 on_cpu_ns;
	struct account_total *totals;
	size_t nr_totals;
	struct account_io *io;
	size_t nr_io;
};

/**
 * struct account_group - counts of a monitoring group of the kernel (resctrl) for a job or step
 * @group: its path below the mount of resctrl
 * @step: "" for the job as a whole
 * @bytes, @ns: in intervals in which it had a number at all of its domains, and their time
 * @intervals: in which it had all tasks of the job or step, from the first with a number on
 * @without: of these, those that are not in @bytes and @ns
 *
 * Never a part of anything else, and not to be added up: groups may contain others.
 */
struct account_group {
	char group[RESCTRL_GROUP_LEN];
	char step[JOB_STEP_LEN];
	uint64_t bytes;
	uint64_t ns;
	uint64_t intervals;
	uint64_t without;
};
#define ACCOUNT_MAX_GROUPS 64 /* later ones are in no account */

/* Bytes over the link of a GPU to its CPUs: sums over the intervals; 95% interval. */
struct account_link {
	sum128 value;
	sum128 low;
	sum128 high;
};

/**
 * struct account_gpu - use of a GPU by a job
 * @bdf: PCI address of its function
 * @uuid: of its vendor's tools, "" for none
 * @held_ns: time of intervals in which tasks of the job had contexts on it, or had it alone
 * @alone_ns: of this, intervals in which it was the job's alone, so that its bytes are the job's
 * @known_ns: of @held_ns, intervals in which it was told how busy the job's tasks were
 * @idle_ns: of @known_ns, intervals in which they were not busy at all
 * @busy_ns, @busy_low_ns, @busy_high_ns: time on its engines for tasks of the job; sums, with those
 *	of the 95% intervals. Engines may work at once
 * @link_ns: of @alone_ns, intervals in which there are bytes of its link
 * @link: bytes over its C2C link by direction, in the device's view. In no counter of the account,
 *	and never to be added to one
 *
 * Its bytes over PCIe are in the counters of @bdf.
 */
struct account_gpu {
	char bdf[MODEL_BDF_LEN];
	char uuid[DEVICE_UUID_LEN];
	uint64_t held_ns;
	uint64_t alone_ns;
	uint64_t known_ns;
	uint64_t idle_ns;
	uint64_t busy_ns;
	uint64_t busy_low_ns;
	uint64_t busy_high_ns;
	uint64_t link_ns;
	struct account_link link[NR_WAYS];
};
#define ACCOUNT_MAX_GPUS 64 /* later ones are in no account */

enum account_state {
	ACCOUNT_RUNNING,
	ACCOUNT_ENDED, /* its end was seen */
	ACCOUNT_STALE, /* it ended unobserved: later traffic is not included */
	NR_ACCOUNT_STATES,
};

/**
 * struct account_gap - time without observation while the job existed
 * @start_ns, @end_ns: in between its traffic is in no account
 */
struct account_gap {
	uint64_t start_ns;
	uint64_t end_ns;
};
#define ACCOUNT_MAX_GAPS 16 /* later ones make the last one longer */

/**
 * struct account_job - the account of a job
 * @job: its identity; @job.step is ""
 * @path: of its cgroup; owned
 * @boot: id of the boot in which it ran
 * @key: unique among all jobs of this machine: "slurm-12-881-1763740800" (scheduler, id made
 *	harmless and cut, cgroup, begin in seconds), with "-u1000" behind it when it is in a user's
 *	own part of the tree; names the file in the spool. It stays when a provisional id is replaced
 * @state: see enum account_state
 * @late_start: it existed before the daemon first looked: earlier traffic is not included
 * @gaps, @nr_gaps, @gap_ns: see struct account_gap; all gaps are in @gap_ns
 * @intervals, @covered_ns: intervals it is made of, and their time, from its begin on
 * @others_unknown_ns: of this, the time up to the first closing of the books, if it began within an
 *	interval. @node has only its own part of that interval
 * @clock_back_ns: @whole.end_ns is ahead of the clock by this, after it was set back
 * @whole: everything
 * @steps, @nr_steps: parts of @whole; owned. Further steps are added up in the last one of
 *	ACCOUNT_MAX_STEPS, which is then called ACCOUNT_OTHER_STEPS
 * @node, @nr_node: the machine's counters in the same intervals; owned
 * @groups, @nr_groups: see struct account_group; owned
 * @gpus, @nr_gpus: see struct account_gpu, by address; owned
 * @quality: sums of the intervals' losses; @quality.method and .weights of the last one
 * @self: sums of the intervals' cost of the tracer, of the machine as a whole
 * @reported: its closing report was written
 * @nodes: merged of the accounts of so many nodes: @gap_ns and @intervals are sums over them,
 *	@covered_ns is the longest, and @gaps is empty; 0: of one machine
 */
struct account_job {
	struct row_job job;
	char *path;
	char boot[ACCOUNT_BOOT_LEN];
	char key[JOB_ID_LEN + 64];
	enum account_state state;
	bool late_start;
	struct account_gap gaps[ACCOUNT_MAX_GAPS];
	size_t nr_gaps;
	uint64_t gap_ns;
	uint64_t intervals;
	uint64_t covered_ns;
	uint64_t others_unknown_ns;
	uint64_t clock_back_ns;
	struct account_part whole;
	struct account_part *steps;
	size_t nr_steps;
	struct account_node_total *node;
	size_t nr_node;
	struct account_group *groups;
	size_t nr_groups;
	struct account_gpu *gpus;
	size_t nr_gpus;
	struct quality quality;
	struct self_cost self;
	bool reported;
	uint32_t nodes;
};
#define ACCOUNT_MAX_STEPS   256
#define ACCOUNT_OTHER_STEPS "others"

/**
 * struct accounts_node - totals of the machine since the first account, over all restarts
 * @counters, @nr_counters: all counters that any account has; they are only ever added
 * @totals, @nr_totals: one a counter
 * @since_ns, @until_ns: first and last moment that they include
 * @intervals, @covered_ns: number of intervals, and their time
 * @gaps, @gap_ns: number of gaps in between, and their time
 * @jobs_started, @jobs_ended, @jobs_stale: jobs so far
 * @jobs_dropped: of these, ended jobs that had to be dropped before they were saved
 * @late_rows: rows of jobs whose account was closed already; their values are in @totals only
 * @quality, @self: sums
 */
struct accounts_node {
	struct account_counter *counters;
	size_t nr_counters;
	struct account_node_total *totals;
	size_t nr_totals;
	uint64_t since_ns;
	uint64_t until_ns;
	uint64_t intervals;
	uint64_t covered_ns;
	uint64_t gaps;
	uint64_t gap_ns;
	uint64_t jobs_started;
	uint64_t jobs_ended;
	uint64_t jobs_stale;
	uint64_t jobs_dropped;
	uint64_t late_rows;
	struct quality quality;
	struct self_cost self;
};

/** account_state_name() - "running", "ended", "stale" */
const char *account_state_name(enum account_state s);

/** account_key_owner() - uid of the user whose own job has this key, 0: the machine's; see struct job_path */
uint32_t account_key_owner(const char *key);

/* Room for the name of a closing report's file. */
#define ACCOUNT_FILE_LEN 256

/**
 * account_file_name() - the file of a closing report
 * @key: of the job
 * @node: name of the machine, for a folder that machines share; NULL: for its own one
 * @ret: "slurm-12-881-1763740800.json", "slurm-12-881-1763740800.n1.json"; other characters than
 *	letters, digits, ".", "-" and "_" are "_"
 */
void account_file_name(const char *key, const char *node, char ret[ACCOUNT_FILE_LEN]);

/** account_job_release() - free the memory of an account, not the structure */
void account_job_release(struct account_job *j);

/**
 * account_job_copy() - a deep copy
 * @from: any account
 * @ret: release with account_job_release(); untouched with an error
 *
 * Return: 0 or -ENOMEM.
 */
int account_job_copy(const struct account_job *from, struct account_job *ret);

/* A list of account copies; all zero is empty. */
struct account_list {
	struct account_job *jobs;
	size_t nr;
	size_t cap;
};

/** account_list_add() - callback that adds a copy of an account to the list @arg; 0 or -ENOMEM */
int account_list_add(void *arg, const struct account_job *j);

/** account_list_release() - free them; the list is empty then */
void account_list_release(struct account_list *l);

/** accounts_node_release() - the same for totals */
void accounts_node_release(struct accounts_node *n);

/*
 * Pieces of accounts. A piece is the growth of an account between two moments: the difference of
 * two states. So all pieces of an account add up to it, to the unit: bytes, and the ends of
 * intervals as well, which are sums in accounts, too. Consecutive pieces can be summed. In a piece
 * of struct accounts_node only @totals, @intervals, @covered_ns, @gaps, @gap_ns, @quality and @self
 * are valid; unknown counters are left out.
 */

/** account_part_release() - free the memory of a part, not the structure */
void account_part_release(struct account_part *p);

/** account_part_copy() - a deep copy, of a job as a whole; 0 or -ENOMEM */
int account_part_copy(const struct account_part *from, struct account_part *ret);

/** account_part_add() - append @from to @to; 0, or -ENOMEM with @to unusable */
int account_part_add(struct account_part *to, const struct account_part *from);

/**
 * account_part_since() - growth since an earlier state
 * @now: totals by counter, in ascending order
 * @before: an earlier state of it, in the same order
 * @ret: release with account_part_release(); its times are those of @now
 *
 * Return: 0 or -ENOMEM.
 */
int account_part_since(const struct account_part *now, const struct account_part *before,
		       struct account_part *ret);

/** account_part_empty() - neither CPU time nor bytes? */
bool account_part_empty(const struct account_part *p);

/** accounts_node_copy() - a deep copy of totals, without counters; 0 or -ENOMEM */
int accounts_node_copy(const struct accounts_node *from, struct accounts_node *ret);

/** accounts_node_add() - the same as account_part_add() */
int accounts_node_add(struct accounts_node *to, const struct accounts_node *from);

/** accounts_node_since() - the same as account_part_since() */
int accounts_node_since(const struct accounts_node *now, const struct accounts_node *before,
			struct accounts_node *ret);

#endif
