/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A closing report (t410trace.job/1) back into an account. */
#ifndef REPORT_JOB_JOB_READ_H
#define REPORT_JOB_JOB_READ_H

#include "account.h"
#include "base/diag.h"

/**
 * struct job_reading - what a closing report says
 * @host: the machine, without its peaks
 * @node: has the counters that @job refers to, and nothing else
 * @job: the account; @job.node[].enabled_ns and running_ns are made of their ratio. Counts of
 *	monitoring groups (resctrl) are not read
 */
struct job_reading {
	struct host_info host;
	struct accounts_node node;
	struct account_job job;
};

/**
 * job_read() - read a closing report
 * @text, @size: one JSON object; untrusted
 * @ret: release with job_reading_release(); untouched with an error
 * @d: gets the problem: "it ..."
 *
 * Whatever can be computed from other parts of the report is compared: sums of counters, and the
 * parts of each counter.
 *
 * Return: 0; -EBADMSG for what is none, or is damaged; -EPROTONOSUPPORT for another version;
 * -EALREADY for an account that is merged already; -ENOMEM.
 */
int job_read(const char *text, size_t size, struct job_reading *ret, struct diag *d);
void job_reading_release(struct job_reading *r);

#endif
