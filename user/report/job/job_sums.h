/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sums of an account's counters, for all texts about it. */
#ifndef REPORT_JOB_JOB_SUMS_H
#define REPORT_JOB_JOB_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "account.h"

/* Useful sums of counters. Their names are those of metrics in reports. */
enum job_sum {
	JOB_SUM_MEM,	    /* by CPUs, to any destination */
	JOB_SUM_CMEM,	    /* of that, to memory of the CPUs, ... */
	JOB_SUM_GMEM,	    /* of GPUs, */
	JOB_SUM_CXL,	    /* CXL memory, */
	JOB_SUM_REMOTE,	    /* and another socket: the link between them */
	JOB_SUM_DEVICE_MEM, /* traffic of devices as counted by sockets */
	JOB_SUM_PCIE,	    /* traffic of devices as they see memory */
	NR_JOB_SUMS,
};

/**
 * struct job_sum_value - a counter of an account, or several together
 * @counted: there is a value; otherwise the rest is invalid
 * @value, @low, @high, @inseparable: of the job or its step
 * @others: of other workloads, in the intervals of the job
 * @unattributed: unattributed
 * @machine: the sum of the three, as counted
 * @partial: some counter had no value in some interval
 */
struct job_sum_value {
	bool counted;
	sum128 value;
	sum128 low;
	sum128 high;
	sum128 inseparable;
	sum128 others;
	sum128 unattributed;
	sum128 machine;
	bool partial;
};

/** job_sum_name() - "mem", "cmem", ... "pcie" */
const char *job_sum_name(enum job_sum sum);

/**
 * job_sum_of() - one of the sums
 * @n: has the counters
 * @j: the account
 * @p: the requested part of it
 * @sum: the sum
 * @direction: the direction, NR_DIRECTIONS for all of them
 *
 * Return: the sum over the counters that had a value in one of the job's intervals.
 */
struct job_sum_value job_sum_of(const struct accounts_node *n, const struct account_job *j,
				const struct account_part *p, enum job_sum sum,
				enum direction direction);

/** job_sum_all() - of all counters of sockets, in all directions, also what devices moved */
struct job_sum_value job_sum_all(const struct accounts_node *n, const struct account_job *j,
				 const struct account_part *p);

/** job_sum_energy() - the same for energy, in nanojoules; energy of devices has no owner */
struct job_sum_value job_sum_energy(const struct accounts_node *n, const struct account_job *j,
				    const struct account_part *p);

/* All sums by number: those of bytes by direction, and energy as the last one. */
#define NR_JOB_METRICS (NR_JOB_SUMS * NR_DIRECTIONS + 1)
#define JOB_METRIC_LEN 32

/** job_metric_name() - "mem_read_bytes", ... "energy_nanojoules" */
void job_metric_name(size_t metric, char ret[JOB_METRIC_LEN]);

/** job_metric() - job_sum_of() or job_sum_energy() by number */
struct job_sum_value job_metric(const struct accounts_node *n, const struct account_job *j,
				const struct account_part *p, size_t metric);

/** job_sum_device() - of the counters of a device that are in JOB_SUM_PCIE, of the job as a whole */
struct job_sum_value job_sum_device(const struct accounts_node *n, const struct account_job *j,
				    const char *bdf, enum direction direction);

/** job_sum_counter() - the same of a single counter, an index into account_job.node */
struct job_sum_value job_sum_counter(const struct account_job *j, const struct account_part *p,
				     size_t node);

/** job_running_ratio() - the part of its time for which a counter counted */
double job_running_ratio(const struct account_node_total *t);

/**
 * job_clock_set() - how far the clock was set forward while a job existed
 * @j: the account
 *
 * Begin and end are times of day, and the clock may have been set in between. The length of
 * intervals is from a clock that is never set.
 *
 * Return: the time from begin to end minus that of intervals and gaps, in ns; 0 for less than a
 * second.
 */
uint64_t job_clock_set(const struct account_job *j);

/**
 * job_clock_back() - how far the clock was set back while a job existed
 * @j: the account
 *
 * Return: its end minus the end by the clock, in ns; 0 for less than a second.
 */
uint64_t job_clock_back(const struct account_job *j);

/**
 * job_duration() - time from begin to end, including gaps
 * @j: the account
 * @p: the requested part of it; a step is no longer than its job
 *
 * Return: nanoseconds, without the time by which the clock was set.
 */
uint64_t job_duration(const struct account_job *j, const struct account_part *p);

#endif
