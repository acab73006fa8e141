/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A job on several nodes: the account that is merged of their closing reports. */
#ifndef REPORT_JOB_JOB_NODES_H
#define REPORT_JOB_JOB_NODES_H

#include "account.h"
#include "base/text_list.h"
#include "report/job/job_sums.h"

/* A sum of a node; see struct job_sum_value */
struct job_node_value {
	bool counted;
	sum128 value;
	sum128 low;
	sum128 high;
};

/**
 * struct job_node - a node of a job, or what a node has of one kind
 * @name: of the machine
 * @kind: index into job_nodes.kinds
 * @reports: closing reports of it, more than one when the job's cgroup was made again
 * @state, @late_start, @gaps, @nr_gaps, @gap_ns, @covered_ns, @on_cpu_ns: as in its account
 * @start_ns, @end_ns, @duration_ns: from the begin of its first account to the end of its last; the
 *	length of all of them
 * @clock_set_ns, @clock_back_ns: see job_clock_set()
 * @counters_missing: counters without a value in some interval
 * @incomplete: data was lost while somebody looked
 * @quality: method, and losses
 * @gpus: how many it held, and sums over them, see struct account_gpu
 * @values: by number, see job_metric()
 */
struct job_node {
	char name[65];
	uint32_t kind;
	uint32_t reports;
	enum account_state state;
	bool late_start;
	struct account_gap gaps[ACCOUNT_MAX_GAPS];
	size_t nr_gaps;
	uint64_t gap_ns;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t duration_ns;
	uint64_t covered_ns;
	sum128 on_cpu_ns;
	uint64_t clock_set_ns;
	uint64_t clock_back_ns;
	uint64_t counters_missing;
	bool incomplete;
	struct quality quality;
	struct job_node_gpus {
		uint64_t nr;
		uint64_t held_ns;
		uint64_t known_ns;
		uint64_t idle_ns;
		uint64_t busy_ns;
	} gpus;
	struct job_node_value values[NR_JOB_METRICS];
};

/* The sums of nodes, and their CPU time behind them */
#define NR_JOB_SPREADS	(NR_JOB_METRICS + 1)
#define JOB_SPREAD_CPUS NR_JOB_METRICS

/** job_node_value() - a number of a node; false: it has none */
bool job_node_value(const struct job_node *n, size_t spread, sum128 *ret);

/**
 * struct job_spread - how a number differs between the nodes that have it
 * @nr: how many these are; 0: the rest is invalid
 * @points: least, lower quartile, median, upper quartile, largest
 * @first, @last: node of the least and of the largest, indexes into job_nodes.items
 * @sum: of all
 */
struct job_spread {
	size_t nr;
	sum128 points[5];
	size_t first;
	size_t last;
	sum128 sum;
};

/** job_spread_imbalance() - the largest over the mean; 0 where all are 0 */
double job_spread_imbalance(const struct job_spread *s);

/* Errors of the sum of a total over nodes: squares, those that are certain, and of how many */
struct job_bar {
	double low;
	double high;
	double sure_low;
	double sure_high;
	uint32_t nr;
};

struct job_bars {
	struct job_bar *items;
	size_t nr;
};

/**
 * struct job_kind - nodes that count the same on the same platform, as one account
 * @host: platform, sockets of all, and names of the nodes as a list
 * @node: its counters
 * @job: sums of the nodes; @job.node has one for each counter, in order
 * @nr_nodes: how many they are
 * @of: by counter, nodes that have it, and their intervals
 * @bars: by part, the job as a whole first, and by counter
 * @spreads: over its nodes
 */
struct job_kind {
	struct host_info host;
	struct accounts_node node;
	struct account_job job;
	size_t nr_nodes;
	struct job_kind_counter {
		uint32_t nodes;
		uint64_t intervals;
	} * of;
	struct job_bars *bars;
	struct job_spread spreads[NR_JOB_SPREADS];
};

/* A report that is not in the account. @reason: a word for programs */
struct job_refused {
	char *report;
	const char *reason;
	char *text;
};

/**
 * struct job_nodes - nodes of an account
 * @items, @nr: in the order of their names
 * @kinds, @nr_kinds: if there are several, sums of bytes and energy are in these only
 * @covered_ns, @duration_ns: sums over nodes
 * @expected: the nodes were given: so many
 * @missing, @extra: of these, those without a report; and nodes that are not among them
 * @refused, @nr_refused: reports that are not in it
 * @twice: reports that were there already
 */
struct job_nodes {
	struct job_node *items;
	size_t nr;
	struct job_kind *kinds;
	size_t nr_kinds;
	uint64_t covered_ns;
	uint64_t duration_ns;
	size_t expected;
	struct text_list missing;
	struct text_list extra;
	const struct job_refused *refused;
	size_t nr_refused;
	const struct text_list *twice;
};

/** job_nodes_incomplete() - is something missing? Then the exit status says so */
bool job_nodes_incomplete(const struct job_nodes *n);

/** job_nodes_count() - how many nodes these are; one that changed its kind is one */
size_t job_nodes_count(const struct job_nodes *n);

/** job_nodes_names() - a list of those of which @is is true, at most @size bytes; NULL: no memory */
char *job_nodes_names(const struct job_nodes *n, bool (*is)(const struct job_node *n), size_t size);

#endif
