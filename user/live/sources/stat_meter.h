/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * System-wide metrics while they are measured: finds PMUs, chooses metrics, lets a meter fill a
 * book, and makes reports of it. When to read, and what becomes of reports, is up to the caller.
 */
#ifndef LIVE_SOURCES_STAT_METER_H
#define LIVE_SOURCES_STAT_METER_H

#include <sys/types.h>

#include "base/diag.h"
#include "peak.h"
#include "platform/metrics/metric_select.h"
#include "stat.h"

/**
 * struct stat_meter_options - what is measured, and how
 * @metrics: what is counted
 * @peaks: what the user says of peaks
 * @budget: part of an active CPU's time that readings may take
 * @cores: whose events of the cores are counted, for people: "all CPUs"
 */
struct stat_meter_options {
	struct metric_options metrics;
	struct peaks_wanted peaks;
	double budget;
	const char *cores;
};

struct stat_meter;

/**
 * stat_meter_new() - find the PMUs and choose what is counted; nothing counts so far
 * @o: what it points to is not needed later
 * @d: gets the problem, with a remedy
 * @ret: free with stat_meter_free(); its reports point to it
 *
 * Return: 0; -ENODEV without a PMU that counts what was asked for; errors of metric_select();
 * another negative errno.
 */
int stat_meter_new(const struct stat_meter_options *o, struct diag *d, struct stat_meter **ret);

/** stat_meter_free() - stop, and release; NULL is fine */
void stat_meter_free(struct stat_meter *m);

/**
 * stat_meter_start() - begin to count, and new books
 * @m: does not count
 * @time_ns: length of an interval, or of the run where there are none; 0 = not known. Turns are
 *	short against it
 * @pid: events of the cores count this process and its children to be; 0 = all CPUs
 * @on_exec: they begin when @pid calls execve()
 * @d: gets the problem
 *
 * What the kernel refuses is absent in reports, with a note. Return: 0 or an error of meter_open().
 */
int stat_meter_start(struct stat_meter *m, uint64_t time_ns, pid_t pid, bool on_exec,
		     struct diag *d);

/** stat_meter_stop() - nothing is left in the kernel from here on; it may be started again */
void stat_meter_stop(struct stat_meter *m);

/** stat_meter_next_ns() - when stat_meter_step() has something to do (CLOCK_MONOTONIC) */
uint64_t stat_meter_next_ns(const struct stat_meter *m);

/** stat_meter_step() - what meter_step() does; 0 or a negative errno */
int stat_meter_step(struct stat_meter *m, struct diag *d);

/**
 * stat_meter_read() - read every PMU up to now, within the budget
 * @m: counts
 * @last: the run ends: whatever the budget says
 * @d: gets the problem
 *
 * Return: 0 or a negative errno.
 */
int stat_meter_read(struct stat_meter *m, bool last, struct diag *d);

/**
 * stat_meter_interval() - what was read since the interval before, or the start
 * @m: counts
 * @d: gets the problem
 * @ret: release with stat_report_free(), before @m is freed
 *
 * Return: 0 or -ENOMEM.
 */
int stat_meter_interval(struct stat_meter *m, struct diag *d, struct stat_report **ret);

/** stat_meter_summary() - the same of all since the start */
int stat_meter_summary(struct stat_meter *m, struct diag *d, struct stat_report **ret);

#endif
