/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What an account says of a counter and of several together, for all texts of it. */
#ifndef REPORT_JOB_JOB_SUMS_H
#define REPORT_JOB_JOB_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "account.h"

/* Sums of counters that people ask for. Their names are those of metrics in reports. */
enum job_sum {
	JOB_SUM_MEM,	    /* by CPUs, wherever it goes */
	JOB_SUM_CMEM,	    /* of that, to memory of the CPUs, ... */
	JOB_SUM_GMEM,	    /* of GPUs, */
	JOB_SUM_CXL,	    /* CXL memory, */
	JOB_SUM_REMOTE,	    /* and another socket: the link between them */
	JOB_SUM_DEVICE_MEM, /* memory traffic of devices as sockets count it */
	JOB_SUM_PCIE,	    /* what devices moved, as they see memory */
	NR_JOB_SUMS,
};

/**
 * struct job_sum_value - a counter of an account, or several together
 * @counted: there is a value; otherwise nothing else means anything
 * @value, @low, @high, @inseparable: of the job or its step
 * @others: of other workloads, in the intervals of the job
 * @unattributed: of nobody
 * @machine: all three together, as counted
 * @partial: some counter had no value in some interval
 *
 * Sums that are too large stay at UINT64_MAX.
 */
struct job_sum_value {
	bool counted;
	uint64_t value;
	uint64_t low;
	uint64_t high;
	uint64_t inseparable;
	uint64_t others;
	uint64_t unattributed;
	uint64_t machine;
	bool partial;
};

/** job_sum_name() - "mem", "cmem", ... "pcie" */
const char *job_sum_name(enum job_sum sum);

/**
 * job_sum_of() - one of the sums
 * @n: has the counters
 * @j: the account
 * @p: the part of it that is asked for
 * @sum: which
 * @direction: which
 *
 * Return: the sum over the counters that had a value in one of the job's intervals.
 */
struct job_sum_value job_sum_of(const struct accounts_node *n, const struct account_job *j,
				const struct account_part *p, enum job_sum sum,
				enum direction direction);

/** job_sum_energy() - the same of energy, in nanojoules; that of devices is nobody's and not in it */
struct job_sum_value job_sum_energy(const struct accounts_node *n, const struct account_job *j,
				    const struct account_part *p);

/** job_sum_counter() - the same of a single counter, an index into account_job.node */
struct job_sum_value job_sum_counter(const struct account_job *j, const struct account_part *p,
				     size_t node);

/** job_running_ratio() - part of its time that a counter counted, 1 for all of it */
double job_running_ratio(const struct account_node_total *t);

/**
 * job_clock_set() - how far the clock was set forward while a job was there
 * @j: the account
 *
 * Begin and end are what the clock said, which somebody may have set in between. The length of intervals
 * is of a clock that nobody sets.
 *
 * Return: by how much the time from begin to end is longer than that of intervals and gaps, in ns; 0 for
 * less than a second.
 */
uint64_t job_clock_set(const struct account_job *j);

/**
 * job_clock_back() - how far the clock was set back while a job was there
 * @j: the account
 *
 * Return: by how much its end is later than the clock said, in ns; 0 for less than a second.
 */
uint64_t job_clock_back(const struct account_job *j);

/**
 * job_duration() - from begin to end, however much of it was seen
 * @j: the account
 * @p: the part of it that is asked for; a step is no longer than its job
 *
 * Return: nanoseconds, without the time by which the clock was set.
 */
uint64_t job_duration(const struct account_job *j, const struct account_part *p);

#endif
