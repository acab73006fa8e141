/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The meter: opens what was planned, exchanges events that take turns, and reads PMUs
 * within a budget. What it gives are segments: what counted between two readings.
 */
#ifndef PLATFORM_METER_METER_H
#define PLATFORM_METER_METER_H

#include "platform/bpf/counters.h"
#include "platform/plan/plan.h"
#include "platform/spec/want.h"
#include "stat.h"

/**
 * struct meter_options - how to count
 * @budget: part of an active CPU's time that readings may take, 0.005; where that does not do
 *	for all its PMUs, each gets an equal part of it. Changes of turns take half of it at most
 * @turn_ns: how long a turn lasts. Weighed ones up to twice as long where changes would take more
 *	than a hundredth of the time otherwise
 * @interval_ns: meter_read() will be called so often. Where several rounds of turns fit in, each
 *	turn has its part of the time at every end; 0 = not known
 * @first_ns: each turn has come once by then, whatever the budget says; 0 = the budget comes first.
 *	Not with @weighed
 * @weighed: turns come by weight instead of one after the other, see meter_weigh(), and their
 *	lengths differ a little, so that nothing that happens regularly falls into the same one
 * @read_ns: PMUs where nothing takes turns are read so often by meter_step(); 0 = never
 * @counted, @nr_counted: PMUs whose counters count traffic already: turns would stop these. Of our
 *	events there only one set counts, as far as counters are left; the others are refused
 * @pid: events of the cores count this process and its children to be; 0 = all CPUs
 * @enable_on_exec: they begin when @pid calls execve()
 */
struct meter_options {
	double budget;
	uint64_t turn_ns;
	uint64_t interval_ns;
	uint64_t first_ns;
	bool weighed;
	uint64_t read_ns;
	const struct counted_pmu *counted;
	size_t nr_counted;
	int pid;
	bool enable_on_exec;
};

/**
 * struct meter_sink - receives what was counted
 * @segment: see struct stat_segment; counters are indexes of wants. Wants that are the same
 *	event have a reading each. Readings of the cores are sums over threads or CPUs; all
 *	zero means that the process did not run, and time in which an online CPU had no event
 *	yet is enabled, not running
 * @arg: handed to it
 *
 * Returns 0 or a negative errno, which ends the reading.
 */
struct meter_sink {
	int (*segment)(void *arg, const struct stat_segment *s);
	void *arg;
};

struct meter;

/**
 * meter_open() - open and start
 * @wants: must outlive the meter
 * @fs: sysfs, where cpumask is read again when a CPU goes away
 * @o: copied
 * @d: gets the problem
 * @ret: release with meter_close(), which leaves nothing behind
 *
 * How many events a PMU can count is found out by opening a growing group. Groups are pinned,
 * so that nothing is multiplexed behind our back; where others hold counters, events are
 * opened flexible, and the running time says what was missed. PMUs with requester ids or
 * address windows are the exception: there nothing of the group counts, with a running time
 * of 0, until it is tried again ten seconds later. An event that is refused is remembered
 * (meter_refused()) and the rest goes on.
 *
 * Events that count all the time have each of their counts in exactly one segment. But the
 * kernel stops all counters of a PMU while events are put on it, some microseconds for
 * each change of turns, and does not take that off the running time. Where nothing takes
 * turns nothing is missed.
 *
 * Return: 0; -EACCES with what is missing; -ENODEV when nothing could be opened; another
 * negative errno.
 */
int meter_open(const struct want_list *wants, const struct sysfs *fs, const struct meter_options *o,
	       struct diag *d, struct meter **ret);
void meter_close(struct meter *m);

/**
 * meter_capacities() - find out how many events PMUs can count at the same time
 * @wants: at least as many events of each PMU as somebody would like to count at a time
 * @fs, @d: as for meter_open()
 * @ret: by the order in which PMUs first appear in @wants, cores left out; room for one for each
 *	want. A PMU of which nothing can be opened has room for everything
 *
 * Nothing stays open. Return: 0 or a negative errno.
 */
int meter_capacities(const struct want_list *wants, const struct sysfs *fs, struct diag *d,
		     struct plan_capacity *ret);

/** meter_refused() - why a want is not counted: a negative errno, or 0 when it is */
int meter_refused(const struct meter *m, size_t want);

/**
 * meter_pmu() - the number of a want's PMU in segments and costs
 *
 * PMUs are numbered as they first appear in the wants; events without a PMU (cores,
 * kernel) have one number together.
 */
uint32_t meter_pmu(const struct meter *m, size_t want);

/** meter_turns() - number of turns of a PMU, at most 1 where nothing takes turns */
size_t meter_turns(const struct meter *m, uint32_t pmu);

/** meter_turning() - number of PMUs whose events take turns */
size_t meter_turning(const struct meter *m);

/** meter_turn() - the first turn of its PMU in which a want counts, METER_ALWAYS for the base */
#define METER_ALWAYS SIZE_MAX
size_t meter_turn(const struct meter *m, size_t want);

/**
 * meter_weigh() - how much of the time a turn shall have from now on
 * @m: opened with @weighed
 * @pmu, @turn: which
 * @weight: its part in relation to the other turns of the PMU, above 0; 1 at first
 * @length: how long it lasts each time, in relation to @turn_ns; 1 at first. The shorter,
 *	the more often it comes
 *
 * The budget holds all the same: where changes cost too much, turns are longer.
 */
void meter_weigh(struct meter *m, uint32_t pmu, size_t turn, double weight, double length);

/** meter_next_ns() - when meter_step() has something to do next (CLOCK_MONOTONIC) */
uint64_t meter_next_ns(const struct meter *m);

/**
 * meter_step() - change turns that are due, read what is to be read without turns, and look
 *	after PMUs that others keep from counting; 0, an error of the sink or a negative errno
 */
int meter_step(struct meter *m, uint64_t now_ns, const struct meter_sink *sink, struct diag *d);

/**
 * meter_read() - read every PMU up to now: an interval ends
 * @m: the meter
 * @last: PMUs are read whatever the budget says: the run ends, or somebody needs it now.
 *	meter_step() leaves room for one such round. So they are the first time
 * @sink: gets the segments
 * @d: gets the problem
 *
 * Return: 0, an error of the sink or a negative errno. A PMU that cannot be read is no
 * error: it has no segment, and its cost says so.
 */
int meter_read(struct meter *m, bool last, const struct meter_sink *sink, struct diag *d);

/**
 * meter_turns_restart() - what turns have had up to now is forgotten
 *
 * For a caller who begins its own books some time after opening: the turn that had the
 * time in between would have less of what is in them.
 */
void meter_turns_restart(struct meter *m);

/** meter_cost() - of a PMU since the beginning (@readings and so on are running totals) */
void meter_cost(const struct meter *m, uint32_t pmu, struct stat_cost *ret);

/** meter_busiest() - largest part of an active CPU's time that readings took so far */
double meter_busiest(const struct meter *m);

#endif
