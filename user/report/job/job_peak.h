/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which part of what memory can move a job moved. */
#ifndef REPORT_JOB_JOB_PEAK_H
#define REPORT_JOB_JOB_PEAK_H

#include "report/job/job_report.h"

/**
 * struct job_peak - what a job moved beside the peak of memory
 * @bytes_per_s: peaks of the memory of the sockets whose counters have bytes of the job, added up
 * @sockets: how many these are
 * @share, @low, @high: mean of the job as part of the peak; 95% interval. Mean: bytes over the time of
 *	its intervals, so time that nobody looked is in neither
 * @at_most: counters do not tell where bytes went: some may have gone to other memory
 * @partial: a counter had no value in some interval: there were more bytes
 * @most_known, @most: the same of the interval in which it was largest, of those that are kept
 * @most_start_ns, @most_end_ns: that interval
 */
struct job_peak {
	uint64_t bytes_per_s;
	size_t sockets;
	double share;
	double low;
	double high;
	bool at_most;
	bool partial;
	bool most_known;
	double most;
	uint64_t most_start_ns;
	uint64_t most_end_ns;
};

/**
 * job_peak_of() - of a job as a whole
 * @c: has the peaks of the machine as it was last seen; of @c->kept the intervals, if there are any
 * @j: the account
 * @ret: what there is
 *
 * Return: false when it moved nothing, or the peak of one of its sockets is not known.
 */
bool job_peak_of(const struct job_context *c, const struct account_job *j, struct job_peak *ret);

/** job_peak_line() - the same as a sentence for people; nothing where nothing is known. 0 or -ENOMEM */
int job_peak_line(FILE *out, const struct job_context *c, const struct account_job *j,
		  size_t width);

#endif
