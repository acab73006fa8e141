/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A kernel for tests of the meter: PMUs with few counters, a clock that moves when the test
 * says so, and every rule that the real drivers have about what may count together. What
 * they would complain about is counted in fake.complaints.
 */
#ifndef TEST_FAKE_PERF_H
#define TEST_FAKE_PERF_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "platform/pmu/perf_events.h"

#define FAKE_MAX    512
#define FAKE_FD	    1000
#define FAKE_CYCLES 0x100000000ull
#define FAKE_BDF    0x1ffff00ull
#define FAKE_BDF_EN 0x1000000ull
#define FAKE_WINDOW 0x800ull

struct fake_event {
	bool used, enabled, runs, error;
	struct perf_event_attr attr;
	int cpu, leader;
	uint64_t value, enabled_ns, running_ns;
	uint64_t told; /* value that was read last */
};

/**
 * struct fake_pmu - counters of a type
 * @held: of these, counters that others have, pinned
 * @busy_setting: requester id that somebody else counts with, 0 = nobody does
 */
struct fake_pmu {
	uint32_t type, events, cycles, held;
	uint64_t busy_setting;
	bool has_setting;
	uint32_t max_windows;
};

static struct {
	struct fake_event events[FAKE_MAX];
	struct fake_pmu pmus[8];
	size_t nr_pmus;
	uint64_t now, read_ns;
	uint64_t pause_ns; /* the machine stands still for so long during the next reading */
	uint64_t paused_ns;
	uint64_t open_ns; /* what opening an event takes */
	uint64_t slow_ns; /* what a reading of PMUs of slow_type takes */
	uint32_t slow_type;
	uint32_t opened, open_now, most_open, complaints, reads;
	uint32_t stops;	       /* times that running events were taken off the hardware */
	uint32_t fail_open_at; /* the so-manieth opening fails, 0 = none */
	int fail_open_with;
	uint64_t refuse_config; /* events that do not exist */
	int refuse_with;
	int fail_reads; /* so many readings fail */
	int fail_type;	/* of PMUs of this type only, 0 = all */
	uint32_t cpu_gone;
	bool frozen;					      /* readings are old ones */
	uint64_t (*rate)(const struct perf_event_attr *attr); /* NULL: fake_rate() */
} fake;

static inline void fake_reset(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.now = 1000000;
	fake.read_ns = 1000;
	fake.refuse_config = ~0ull;
}

static inline struct fake_pmu *fake_add(uint32_t type, uint32_t events, uint32_t cycles)
{
	fake.pmus[fake.nr_pmus] = (struct fake_pmu){ type, events, cycles, 0, 0, false, 0 };
	return &fake.pmus[fake.nr_pmus++];
}

static inline struct fake_pmu *fake_pmu_of(const struct fake_event *e)
{
	for (size_t i = 0; i < fake.nr_pmus; i++) {
		if (fake.pmus[i].type == e->attr.type)
			return &fake.pmus[i];
	}
	return NULL;
}

/* What an event counts in a nanosecond: known to the test without asking the meter. */
static inline uint64_t fake_rate(uint64_t config)
{
	return config >= FAKE_CYCLES ? 2 : 3 + (config & 0xff);
}

static inline void fake_pass(uint64_t ns)
{
	fake.now += ns;
	for (size_t i = 0; i < FAKE_MAX && !fake.frozen; i++) {
		struct fake_event *e = &fake.events[i], *leader = &fake.events[e->leader];

		if (!e->used || !leader->enabled || leader->error)
			continue;
		e->enabled_ns += ns;
		if (!leader->runs)
			continue;
		e->running_ns += ns;
		e->value += ns * (fake.rate ? fake.rate(&e->attr) : fake_rate(e->attr.config));
	}
}

static inline bool fake_is_cycles(const struct fake_pmu *p, const struct fake_event *e)
{
	return p->cycles &&
	       (e->attr.config == FAKE_CYCLES || (p->max_windows && (e->attr.config & 7) == 4));
}

static inline uint64_t fake_setting(const struct fake_event *e)
{
	return e->attr.config1 & FAKE_BDF_EN ? e->attr.config1 & FAKE_BDF : 0;
}

/* Do the members of a group fit beside all that runs? */
static inline bool fake_fits(size_t leader, bool beside)
{
	struct fake_pmu *p = fake_pmu_of(&fake.events[leader]);
	uint32_t events = beside ? p->held : 0, cycles = 0, windows = 0;
	uint64_t window[FAKE_MAX];

	for (size_t i = 0; i < FAKE_MAX; i++) {
		struct fake_event *e = &fake.events[i];
		bool ours = e->used && (size_t)e->leader == leader;
		bool theirs =
			beside && e->used && fake.events[e->leader].runs && e->attr.type == p->type;
		bool known = !(e->attr.config & FAKE_WINDOW) || !p->max_windows;

		if (!ours && !theirs)
			continue;
		if (fake_is_cycles(p, e)) {
			cycles++;
			continue;
		}
		events++;
		for (uint32_t k = 0; k < windows && !known; k++)
			known = window[k] == e->attr.config1;
		if (!known)
			window[windows++] = e->attr.config1;
		if (!p->has_setting || (theirs && !ours && fake_is_cycles(p, &fake.events[leader])))
			continue;
		if (fake_setting(e) != fake_setting(&fake.events[leader]) ||
		    (p->busy_setting && p->busy_setting != fake_setting(e))) {
			fake.complaints++;
			return false;
		}
	}
	if (p->max_windows && windows > p->max_windows)
		fake.complaints++;
	return events <= p->events && cycles <= p->cycles;
}

/* Flexible groups take what pinned ones leave, in the order in which they were opened. */
static inline void fake_schedule(void)
{
	for (size_t i = 0; i < FAKE_MAX; i++) {
		if (fake.events[i].used && (size_t)fake.events[i].leader == i &&
		    !fake.events[i].attr.pinned)
			fake.events[i].runs = false;
	}
	for (size_t i = 0; i < FAKE_MAX; i++) {
		struct fake_event *e = &fake.events[i];

		if (!e->used || (size_t)e->leader != i || !e->enabled || e->error || e->runs)
			continue;
		e->runs = fake_fits(i, true);
		if (!e->runs && e->attr.pinned)
			e->error = true;
	}
}

/* The driver looks at what counts when a sibling is opened, and says so in the log. */
static inline bool fake_bears(const struct fake_event *e)
{
	const struct fake_pmu *p = fake_pmu_of(e);

	for (size_t i = 0; i < FAKE_MAX && p->has_setting; i++) {
		const struct fake_event *other = &fake.events[i];

		if (other->used && other->attr.type == p->type && fake.events[other->leader].runs &&
		    !fake_is_cycles(p, other) &&
		    fake_setting(other) != fake_setting(&fake.events[e->leader])) {
			fake.complaints++;
			return false;
		}
	}
	return true;
}

static inline int fake_open(const struct perf_event_attr *attr, int pid, int cpu, int leader)
{
	size_t i = 0;
	struct fake_event *e;

	(void)pid;
	fake.opened++;
	if (fake.open_ns)
		fake_pass(fake.open_ns);
	if (fake.fail_open_at && fake.opened == fake.fail_open_at)
		return fake.fail_open_with;
	if (fake.cpu_gone && cpu == (int)fake.cpu_gone)
		return -ENODEV;
	if ((attr->config & 0xff) == fake.refuse_config)
		return fake.refuse_with;
	while (fake.events[i].used)
		i++;
	e = &fake.events[i];
	*e = (struct fake_event){ .used = true, .attr = *attr, .cpu = cpu };
	e->leader = leader < 0 ? (int)i : leader - FAKE_FD;
	e->enabled = leader < 0 && !attr->disabled;
	if (!fake_pmu_of(e) || (leader >= 0 && !(fake_fits(e->leader, false) && fake_bears(e)))) {
		e->used = false;
		return -EINVAL;
	}
	fake.open_now++;
	if (fake.open_now > fake.most_open)
		fake.most_open = fake.open_now;
	if (e->enabled)
		fake_schedule();
	return FAKE_FD + i;
}

static inline ssize_t fake_read(int fd, uint64_t *words, size_t nr)
{
	struct fake_event *e = &fake.events[fd - FAKE_FD];
	size_t members = 0;

	fake.reads++;
	fake_pass(fake.slow_type && e->attr.type == fake.slow_type ? fake.slow_ns : fake.read_ns);
	fake_pass(fake.pause_ns);
	fake.paused_ns += fake.pause_ns;
	fake.pause_ns = 0;
	if (e->error)
		return 0;
	if (fake.fail_reads && (!fake.fail_type || fake.fail_type == (int)e->attr.type)) {
		fake.fail_reads--;
		return -EINVAL;
	}
	if (!(e->attr.read_format & PERF_FORMAT_GROUP)) {
		words[0] = e->value;
		e->told = e->value;
		words[1] = e->enabled_ns;
		words[2] = e->running_ns;
		return 3 * sizeof(*words);
	}
	words[1] = e->enabled_ns;
	words[2] = e->running_ns;
	for (size_t i = 0; i < FAKE_MAX; i++) {
		if (!fake.events[i].used || fake.events[i].leader != fd - FAKE_FD)
			continue;
		if (3 + members >= nr)
			return -ENOSPC;
		words[3 + members++] = fake.events[i].value;
		fake.events[i].told = fake.events[i].value;
	}
	words[0] = members;
	return (3 + members) * sizeof(*words);
}

static inline int fake_enable(int leader)
{
	struct fake_event *e = &fake.events[leader - FAKE_FD];

	e->enabled = true;
	e->error = false;
	fake_schedule();
	return 0;
}

static inline int fake_disable(int leader)
{
	struct fake_event *e = &fake.events[leader - FAKE_FD];

	fake.stops += e->runs;
	e->enabled = e->runs = false;
	fake_schedule();
	return 0;
}

static inline void fake_close(int fd)
{
	struct fake_event *e = &fake.events[fd - FAKE_FD];

	fake.stops += fake.events[e->leader].runs;
	if (!e->used)
		fake.complaints++;
	/* A leader that goes first leaves its siblings behind as events of their own. */
	for (size_t i = 0; i < FAKE_MAX && e->leader == fd - FAKE_FD; i++) {
		if (fake.events[i].used && &fake.events[i] != e &&
		    fake.events[i].leader == fd - FAKE_FD)
			fake.complaints++;
	}
	*e = (struct fake_event){ 0 };
	fake.open_now--;
	fake_schedule();
}

static inline uint64_t fake_now(void)
{
	return fake.now;
}

static inline uint64_t fake_spent(void)
{
	return fake.now - fake.paused_ns;
}

static const struct perf_ops fake_kernel = {
	.open = fake_open,
	.read = fake_read,
	.enable = fake_enable,
	.disable = fake_disable,
	.close = fake_close,
	.now = fake_now,
	.spent = fake_spent,
};

#endif
