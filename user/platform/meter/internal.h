/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside of the meter: what its source files share, and how tests replace the kernel. */
#ifndef PLATFORM_METER_INTERNAL_H
#define PLATFORM_METER_INTERNAL_H

#include "base/clock.h"
#include "platform/meter/meter.h"
#include "platform/pmu/perf_events.h"
#include "platform/plan/plan.h"
#include "trace.h"

/* Soon after opening, others' counters may be free already; after that it takes its time. */
#define CARE_SOON_NS NS_PER_S
#define CARE_NS	     (10 * NS_PER_S)

/**
 * struct meter_part - events of a PMU that are opened and closed together: its base, or
 *	what counts in a turn
 * @wants: the events; owned
 * @nr: their number
 * @fds: descriptors, -1 when not open
 * @last: what the last reading that was used said, since opening
 * @now: what the newest reading says
 * @gained: from one to the other
 * @read_at_ns: when the newest was made
 * @begin_ns: when it began
 * @since_ns: when the last one that was used began, or when the events were opened
 * @group: events of each group; @nr = one group, which is pinned
 * @fallback: events of each group when others hold counters; halved while one does
 *	not run
 * @starved: in the last reading one of several groups had not run at all
 * @open: the events are open
 * @stopped: they were switched off, and are to be read and closed
 * @alone: it never takes turns with the events of others: rather held
 * @shared: it does
 * @held: others have what is needed, and more groups would not help: not open
 * @retry_ns: when that is tried again
 */
struct meter_part {
	uint32_t *wants;
	size_t nr;
	int *fds;
	struct reading *last;
	struct reading *now;
	struct reading *gained;
	uint64_t read_at_ns;
	uint64_t begin_ns;
	uint64_t since_ns;
	size_t group;
	size_t fallback;
	bool starved;
	bool open;
	bool stopped;
	bool alone;
	bool shared;
	bool held;
	uint64_t retry_ns;
};

/**
 * struct meter_share - a turn's part of the time
 * @weight, @length: see meter_weigh()
 * @had: time that it has had, divided by its weight: the turn with the least is next
 */
struct meter_share {
	double weight;
	double length;
	double had;
};

/**
 * struct meter_pmu - a PMU that is counted
 * @plan: its plan; not owned
 * @counted: some of its events can be opened
 * @cpu: CPU its events were opened on last
 * @account: index of this CPU's account
 * @base, @turns: its parts
 * @turn: which one counts
 * @turn_end_ns: when it is over, UINT64_MAX = never
 * @turn_begin_ns: when it began
 * @shares: by turn, what it shall have and has had
 * @read_next_ns: a PMU without turns is read then, UINT64_MAX = never
 * @turn_ns: time that changes of its turns took
 * @gap_ns: how long nothing counts between two turns without a base, of late
 * @turn_waits: the last one that was due was refused
 * @care_ns: a PMU that others keep from counting is looked after then
 * @start_ns: last reading that was used: the next segment begins there
 * @one_read_ns: how long one reading takes
 * @round: the last round of readings in which it was asked
 * @failures: readings in a row that failed
 * @cost: see meter_cost()
 */
struct meter_pmu {
	const struct plan_pmu *plan;
	bool counted;
	int cpu;
	size_t account;
	struct meter_part base;
	struct meter_part *turns;
	size_t nr_turns;
	size_t turn;
	uint64_t turn_end_ns;
	uint64_t turn_begin_ns;
	struct meter_share *shares;
	uint64_t read_next_ns;
	uint64_t turn_ns;
	double gap_ns;
	bool turn_waits;
	uint64_t care_ns;
	uint64_t start_ns;
	uint64_t one_read_ns;
	uint64_t round;
	uint32_t failures;
	struct stat_cost cost;
};

/**
 * struct meter_cores - events of the cores or of the kernel
 * @wants: in the order of opening; @nr of them
 * @places: tasks or CPUs where each is open
 * @gained: by want, over the places since @start_ns, with the time that is missing
 * @look_ns: when CPUs that have come are looked for next, UINT64_MAX = never
 * @looked_ns: when that was last
 * @failures: readings in a row that failed
 */
struct meter_cores {
	uint32_t *wants;
	size_t nr;
	struct meter_place {
		int pid;
		int cpu;
		bool online;
		bool stands;	      /* its events do not go on though it is online */
		uint64_t since_ns;    /* begin of the last reading that was used */
		int *fds;	      /* by want; a negative errno */
		struct reading *last; /* by want, as for a part; owns the others, too */
		struct reading *now, *gained;
	} * places;
	size_t nr_places, cap_places;
	struct reading *gained;
	uint64_t start_ns;
	uint64_t look_ns;
	uint64_t looked_ns;
	uint32_t failures;
	struct stat_cost cost;
};

/**
 * struct meter - see meter.h
 * @refused: by want, an errno or 0
 * @number: by want, its PMU's number
 * @core_number: number of the cores
 * @accounts: time that readings took, by CPU; @turn_ns is the part of changes of turns,
 *	@round the last round of readings in which one of its PMUs had to wait
 * @round: number of rounds of readings so far
 * @end_ns: when this interval will end
 * @counters, @readings: memory for a segment
 * @random: state of random numbers
 * @soft_files: limit of open files to restore, 0 = was not changed
 */
struct meter {
	const struct want_list *wants;
	const struct sysfs *fs;
	const struct perf_ops *ops;
	struct meter_options o;
	struct plan plan;
	struct meter_pmu *pmus;
	int *refused;
	uint32_t *number;
	uint32_t core_number;
	struct meter_cores cores;
	struct meter_account {
		int cpu;
		uint64_t read_ns;
		uint64_t turn_ns;
		uint64_t round;
	} * accounts;
	size_t nr_accounts, cap_accounts;
	uint64_t start_ns;
	uint64_t round;
	uint64_t end_ns;
	uint32_t *counters;
	struct reading *readings;
	uint64_t random;
	uint64_t soft_files;
};

/* pmu_number() - as in segments */
static inline uint32_t pmu_number(const struct meter *m, const struct meter_pmu *p)
{
	return m->number[p->plan->events[0]];
}

/* meter_open_with() - meter_open() with a kernel of one's own */
int meter_open_with(const struct want_list *wants, const struct sysfs *fs,
		    const struct meter_options *o, const struct perf_ops *ops, struct diag *d,
		    struct meter **ret);

/* meter_capacities_with() - the same */
int meter_capacities_with(const struct want_list *wants, const struct sysfs *fs,
			  const struct perf_ops *ops, struct diag *d, struct plan_capacity *ret);

/* --- meter_part.c */

/* meter_attr() - how a want is opened: 0, or -EOPNOTSUPP for what this build cannot say */
int meter_attr(const struct want *want, struct perf_event_attr *ret);

/* meter_active_cpu() - the CPU on which a PMU's events are opened now */
int meter_active_cpu(struct meter *m, const struct pmu *pmu);

/* part_make() - copy events that are not refused; nothing is opened */
int part_make(const struct meter *m, const uint32_t *events, size_t nr, struct meter_part *ret);
void part_free(const struct meter *m, struct meter_part *part);

/*
 * part_prepare() - open a part's events, not counting yet: pmu_locate() and part_ready(). When others have what it takes
 * that is no error: part_start() takes the way out.
 */
int part_prepare(struct meter *m, struct meter_pmu *p, struct meter_part *part);

/* pmu_locate() - find the CPU where events are opened from now on: 0 or -ENOMEM */
int pmu_locate(struct meter *m, struct meter_pmu *p);

/* part_ready() - open a part's events there */
int part_ready(struct meter *m, struct meter_pmu *p, struct meter_part *part);

/* part_start() - let it count, in smaller groups if others have counters */
int part_start(struct meter *m, struct meter_pmu *p, struct meter_part *part);

/* part_share() - open it as groups of @fallback events, which take turns with those of others */
int part_share(struct meter *m, struct meter_pmu *p, struct meter_part *part);

/*
 * part_look() - read it into @now and @gained: 0; -EAGAIN when a group gave nothing: it was thrown
 * out; GAIN_BACK; or another negative errno. part_read() - the same, but a group that was thrown out is started again
 */
int part_look(struct meter *m, struct meter_pmu *p, struct meter_part *part);
int part_read(struct meter *m, struct meter_pmu *p, struct meter_part *part);

/* part_stop() - stop counting; counts so far can still be read */
void part_stop(struct meter *m, const struct meter_pmu *p, struct meter_part *part);

/* part_use() - the newest reading is where the next one starts */
void part_use(struct meter_part *part);
void part_close(const struct meter *m, struct meter_part *part);

/* --- meter_open.c */

/* meter_new() - a meter that has nothing open yet; NULL: no memory */
struct meter *meter_new(const struct want_list *wants, const struct sysfs *fs,
			const struct perf_ops *ops);

/* pmu_fresh() - reopen a PMU's base and its turn: 0 or a negative errno */
int pmu_fresh(struct meter *m, struct meter_pmu *p);

/* --- meter_turns.c */

/* turns_begin() - the PMU's turn begins now */
void turns_begin(struct meter *m, struct meter_pmu *p);

/* turns_next() - the next turn, which may be the current one; the current one has had its time */
size_t turns_next(struct meter *m, struct meter_pmu *p);

/* turns_interval() - an interval has ended, now or a little before, and the next one begins */
void turns_interval(struct meter *m);

/* turns_gap() - nothing counted for so long between two turns */
void turns_gap(struct meter_pmu *p, uint64_t ns);

/* --- meter_cores.c */
/* cores_find() - which tasks or CPUs; cores_open() - open and start the events there */
int cores_find(struct meter *m, struct diag *d);
int cores_open(struct meter *m);
/* cores_look() - open events on CPUs that have come online: 0 or -ENOMEM */
int cores_look(struct meter *m);
void cores_close(struct meter *m);
int cores_read(struct meter *m, const struct meter_sink *sink);

#endif
