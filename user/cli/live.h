/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A live run: counters, ledger and engine put together. One struct live per run;
 * the loop that decides when to report is in trace.c.
 */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include <sys/types.h>

#include "base/diag.h"
#include "cli/trace_args.h"
#include "model.h"

struct live;

/**
 * live_open() - load, attach and start counting
 * @args: what the user asked for; must outlive @ret
 * @log: receives messages of the BPF library, NULL for none
 * @d: gets the problem
 * @ret: free with live_free()
 *
 * From here on every byte and every nanosecond belongs to the first interval.
 *
 * Return: 0 or a negative errno.
 */
int live_open(const struct trace_args *args, void (*log)(const char *), struct diag *d,
	      struct live **ret);
void live_free(struct live *l);

/**
 * live_follow() - follow a process from now on, with the children it starts
 *
 * Return: 0, -ESRCH when there is none of this pid.
 */
int live_follow(struct live *l, pid_t pid, struct diag *d);

/** live_fd() - readable when records wait; for poll() */
int live_fd(const struct live *l);

/**
 * live_drain() - take over the records that wait; call some ten times a second
 *
 * Also notices when a PMU's active CPU has changed.
 *
 * Return: 0 or a negative errno.
 */
int live_drain(struct live *l, struct diag *d);

/** live_alive() - number of followed processes that have not ended */
size_t live_alive(const struct live *l);

/**
 * live_report() - close the interval that began at the last call
 * @l: the run
 * @d: gets the problem
 * @ret: the report, without a sequence number; release with report_free()
 *
 * Return: 0 or a negative errno.
 */
int live_report(struct live *l, struct diag *d, struct report **ret);

/** live_summary() - one report for all intervals so far; 0 or a negative errno */
int live_summary(struct live *l, struct diag *d, struct report **ret);

/** live_describe() - one line on what is followed and counted, for people */
void live_describe(const struct live *l, char *ret_text, size_t size);

#endif
