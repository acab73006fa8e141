/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A job's part of the peak of memory. */
#ifndef REPORT_JOB_JOB_PEAK_H
#define REPORT_JOB_JOB_PEAK_H

#include "report/job/job_report.h"

/**
 * struct job_peak - a job's bytes compared with the peak of memory
 * @bytes_per_s: peaks of the memory of all sockets, added up
 * @sockets: number of these
 * @share, @low, @high: mean of the job as part of the peak; 95% interval. Mean: bytes over the time
 *	of its intervals, so gaps count in neither
 * @upper_bound: counters do not tell destinations: some bytes may have gone to other memory
 * @partial: a counter had no value in some interval: bytes are missing
 * @max_known, @max: the same for the interval with the maximum, of those kept
 * @max_start_ns, @max_end_ns: that interval
 */
struct job_peak {
	uint64_t bytes_per_s;
	size_t sockets;
	double share;
	double low;
	double high;
	bool upper_bound;
	bool partial;
	bool max_known;
	double max;
	uint64_t max_start_ns;
	uint64_t max_end_ns;
};

/**
 * job_peak_of() - the peak use of a job as a whole
 * @c: has the machine's last known peaks, and in @c->kept the intervals, if any
 * @j: the account
 * @ret: the result
 *
 * Return: false when it moved nothing, or the peak of a socket is not known.
 */
bool job_peak_of(const struct job_context *c, const struct account_job *j, struct job_peak *ret);

/** job_peak_line() - the same as a sentence for people; nothing if unknown. 0 or -ENOMEM */
int job_peak_line(FILE *out, const struct job_context *c, const struct account_job *j,
		  size_t width);

#endif
