/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measurement of system-wide metrics: finds PMUs, chooses metrics, lets a meter fill a book, and
 * makes reports of it. The caller decides when to read, and handles the reports.
 */
#ifndef LIVE_SOURCES_STAT_METER_H
#define LIVE_SOURCES_STAT_METER_H

#include <sys/types.h>

#include "base/diag.h"
#include "peak.h"
#include "platform/metrics/metric_select.h"
#include "stat.h"

/**
 * struct stat_meter_options - options of a measurement
 * @metrics: the metrics to count
 * @peaks: the user's peaks
 * @budget: part of an active CPU's time that readings may take
 * @cores: scope of core events, for people: "all CPUs"
 */
struct stat_meter_options {
	struct metric_options metrics;
	struct peaks_wanted peaks;
	double budget;
	const char *cores;
};

struct stat_meter;

/**
 * stat_meter_new() - find the PMUs and choose the counters, without counting yet
 * @o: its pointers are not needed later
 * @d: gets the problem, with a remedy
 * @ret: free with stat_meter_free(); its reports point to it
 *
 * Return: 0; -ENODEV without a PMU for the requested metrics; errors of metric_select(); another
 * negative errno.
 */
int stat_meter_new(const struct stat_meter_options *o, struct diag *d, struct stat_meter **ret);

/** stat_meter_free() - stop and release; NULL is fine */
void stat_meter_free(struct stat_meter *m);

/**
 * stat_meter_start() - start counting, with new books
 * @m: does not count
 * @time_ns: interval, or length of the run without one; 0 = unknown. Turns are short against it
 * @pid: core events count this process and its future children; 0 = all CPUs
 * @on_exec: they start when @pid calls execve()
 * @d: gets the problem
 *
 * Events that the kernel rejects are absent in reports, with a note. Return: 0 or an error of
 * meter_open().
 */
int stat_meter_start(struct stat_meter *m, uint64_t time_ns, pid_t pid, bool on_exec,
		     struct diag *d);

/** stat_meter_stop() - from here on nothing is left in the kernel; it may be started again */
void stat_meter_stop(struct stat_meter *m);

/** stat_meter_next_ns() - when stat_meter_step() has something to do (CLOCK_MONOTONIC) */
uint64_t stat_meter_next_ns(const struct stat_meter *m);

/** stat_meter_step() - as meter_step(); 0 or a negative errno */
int stat_meter_step(struct stat_meter *m, struct diag *d);

/**
 * stat_meter_read() - read every PMU up to now, within the budget
 * @m: counts
 * @last: the run ends: ignore the budget
 * @d: gets the problem
 *
 * Return: 0 or a negative errno.
 */
int stat_meter_read(struct stat_meter *m, bool last, struct diag *d);

/**
 * stat_meter_interval() - report of the readings since the previous interval, or the start
 * @m: counts
 * @d: gets the problem
 * @ret: release with stat_report_free(), before @m is freed
 *
 * Return: 0 or -ENOMEM.
 */
int stat_meter_interval(struct stat_meter *m, struct diag *d, struct stat_report **ret);

/** stat_meter_summary() - the same for all readings since the start */
int stat_meter_summary(struct stat_meter *m, struct diag *d, struct stat_report **ret);

#endif
