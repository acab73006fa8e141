// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/lookup/live_watch.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "platform/sys/sysfs.h"

/* A reader that has been silent for this long, and ten windows, may have lost its CPU. */
#define SILENT_NS 100000000ull
/* After this long its clock is dead, even if the CPU is back. */
#define DEAD_NS	  (10 * SILENT_NS)
#define LOOK_NS	  NS_PER_S
/* A group that cannot be read for this long is opened again, with at least this pause. */
#define STUCK_NS  (5 * NS_PER_S)
#define PAUSE_NS  (30 * NS_PER_S)
/* A group without a good window for this long is in trouble, */
#define UNWELL_NS (10 * NS_PER_S)
/* and new bases are reported at most this often. */
#define SAY_NS	  (60 * NS_PER_S)

static void __attribute__((format(printf, 2, 3))) tell(struct live_watch *w, const char *fmt, ...)
{
	va_list ap;

	/* Nobody takes them: the newest one matters most. */
	if (w->nr_news == LIVE_WATCH_NEWS)
		memmove(w->news[0], w->news[1], --w->nr_news * sizeof(w->news[0]));
	va_start(ap, fmt);
	vsnprintf(w->news[w->nr_news++], sizeof(w->news[0]), fmt, ap);
	va_end(ap);
}

bool live_watch_news(struct live_watch *w, char *ret_text, size_t size)
{
	if (!w->nr_news)
		return false;
	str_copy(ret_text, size, w->news[0]);
	memmove(w->news[0], w->news[1], --w->nr_news * sizeof(w->news[0]));
	return true;
}

/* --- readers */

static struct counter_reader *reader_on(const struct live_watch *w, int cpu)
{
	for (size_t i = 0; i < w->counters->nr_readers; i++)
		if (w->counters->readers[i].cpu == cpu)
			return &w->counters->readers[i];
	return NULL;
}

/* How long the reader on a CPU has been silent; 0 without a reader that reads events. */
static uint64_t silent_on(const struct live_watch *w, int cpu, uint64_t now)
{
	const struct counter_reader *r = reader_on(w, cpu);
	uint64_t seen = r && r->nr ? w->feed->seen_ns[r->index] : now;

	return now > seen ? now - seen : 0;
}

/* The same, also when its events are closed. */
static uint64_t silent_since(const struct live_watch *w, int cpu, uint64_t now)
{
	const struct counter_reader *r = reader_on(w, cpu);

	return r ? now - w->feed->seen_ns[r->index] : 0;
}

static int lay_out(struct live_watch *w, struct diag *d)
{
	const struct cpu_map *m = w->cpus;

	return counters_readers(w->counters, m->socket, m->nr_cpus, m->nr_sockets, d);
}

/* No reader runs, and no record waits: records do not tell which events they are about. */
static int stop_reader(struct live_watch *w, const struct counter_reader *r, struct diag *d)
{
	int err;

	if (r)
		ledger_reader_stop(w->ledger, r->index);
	err = ledger_drain(w->ledger, w->sink);
	return err ? diag_error(d, err, "cannot read the ring buffer") : 0;
}

/* PMUs have moved to other CPUs: assign events to readers again. */
static int move_readers(struct live_watch *w, const int *cpus, struct diag *d)
{
	struct counters *c = w->counters;
	int err = 0, one;

	for (size_t i = 0; i < c->nr_readers; i++)
		ledger_reader_stop(w->ledger, c->readers[i].index);
	err = stop_reader(w, NULL, d);
	if (err)
		return err;
	for (size_t i = 0; i < c->nr_pmus; i++)
		c->pmus[i].cpu = cpus[i];
	w->reader_moves++;
	err = lay_out(w, d);
	/* If one cannot be started, the rest runs all the same. */
	for (size_t i = 0; i < c->nr_readers && err != -E2BIG && err != -ENOMEM; i++) {
		one = c->readers[i].nr ? w->start(w->arg, &c->readers[i], d) : 0;
		err = err ? err : one;
	}
	return err;
}

/* Do PMUs still name this CPU for reading? */
static bool is_online(const struct live_watch *w, int cpu)
{
	for (size_t i = 0; i < w->counters->nr_pmus; i++)
		if (w->counters->pmus[i].cpu == cpu &&
		    pmu_cpu_now(w->sysfs, w->counters->pmus[i].pmu) == cpu)
			return true;
	return false;
}

/*
 * When the active CPU goes offline, the driver moves the events and updates cpumask. Without a CPU
 * of the socket online there is nothing to read, and no window.
 */
static int look_at_readers(struct live_watch *w, uint64_t now, struct diag *d)
{
	uint64_t limit = SILENT_NS + 10 * w->feed->window_ns;
	struct counters *c = w->counters;
	int *cpus, err = 0;
	bool moved = false;

	/* All clocks restart with the readers. */
	if (!c->nr_pmus || now - w->restarted_ns < limit)
		return 0;
	cpus = calloc(c->nr_pmus, sizeof(*cpus));
	if (!cpus)
		return diag_no_memory(d);
	for (size_t i = 0; i < c->nr_pmus; i++) {
		const struct counted_pmu *p = &c->pmus[i];
		bool look = counters_closed(c, i) || silent_on(w, p->cpu, now) > limit;
		int cpu = look ? pmu_cpu_now(w->sysfs, p->pmu) : -1;

		cpus[i] = cpu >= 0 && (uint32_t)cpu < w->cpus->nr_cpus ? cpu : p->cpu;
		moved |= cpus[i] != p->cpu;
	}
	if (moved) {
		w->restarted_ns = now;
		err = move_readers(w, cpus, d);
	}
	free(cpus);
	/* A clock is dead; otherwise the machine is merely busy. */
	for (size_t i = 0; i < c->nr_readers && !moved && !err; i++) {
		const struct counter_reader *r = &c->readers[i];

		if (silent_on(w, r->cpu, now) <= limit + DEAD_NS || !is_online(w, r->cpu))
			continue;
		w->restarted_ns = now;
		err = w->start(w->arg, r, d);
	}
	/* An offline CPU looks like one that is about to go offline: try again later. */
	return err == -ENODEV || err == -ENXIO ? 0 : err;
}

/* --- counters */

static const char *problem(const struct feed_group *g, uint64_t silent)
{
	if (silent > UNWELL_NS)
		return "it is not read: are all CPUs of its socket offline?";
	switch (g->verdict) {
	case READING_FAILED:
		return strerror(-g->err);
	case READING_BACKWARD:
		return "its totals go backward";
	default:
		return "it has no turn: others hold the counters";
	}
}

/* A pinned group without a turn was put into the error state; other groups wait for theirs. */
static bool is_stuck(const struct feed_group *g, bool pinned, uint64_t now)
{
	if (!g->bad_ns || now < g->bad_ns + STUCK_NS)
		return false;
	return g->verdict == READING_FAILED || (g->verdict == READING_WAITED && pinned);
}

/* Do the PMUs of a group need to be opened again? */
static bool needs_opening(const struct live_watch *w, uint32_t group, uint64_t now)
{
	bool closed = false, pinned = true;

	for (size_t i = 0; i < w->counters->nr_pmus; i++) {
		if (!counters_in_group(w->counters, i, group))
			continue;
		closed |= counters_closed(w->counters, i);
		pinned &= w->counters->pmus[i].pinned;
	}
	return closed || is_stuck(&w->feed->groups[group], pinned, now);
}

/* All groups of a PMU, as none can be left behind alone. */
static void restart_groups(struct live_watch *w, size_t pmu, uint64_t now)
{
	for (uint32_t g = 0; g < w->counters->nr_groups; g++) {
		if (!counters_in_group(w->counters, pmu, g))
			continue;
		feed_restart(w->feed, g);
		w->opened_ns[g] = now;
	}
}

/* The PMUs of a group, on the CPU of the first of them. */
static int reopen(struct live_watch *w, uint32_t group, uint64_t now, struct diag *d)
{
	struct counters *c = w->counters;
	const char *why = problem(&w->feed->groups[group], 0);
	struct counter_reader *r = NULL;
	struct diag start = { 0 };
	int id = c->sockets[c->groups[group].socket].id, err = 0, one;

	for (size_t i = 0; i < c->nr_pmus; i++) {
		struct counted_pmu *p = &c->pmus[i];

		if (!counters_in_group(c, i, group))
			continue;
		r = reader_on(w, p->cpu);
		one = stop_reader(w, r, d);
		if (one)
			return one;
		one = counters_reopen(c, i);
		err = err ? err : one;
		restart_groups(w, i, now);
		one = lay_out(w, d);
		if (one)
			return one;
		r = reader_on(w, p->cpu);
		one = r && r->nr ? w->start(w->arg, r, &start) : 0;
		err = err ? err : one;
	}
	if (err)
		tell(w, "counters of socket %d could not be read (%s), nor be opened again: %s", id,
		     why, strerror(-err));
	else
		tell(w, "counters of socket %d could not be read (%s): they were opened again", id,
		     why);
	return 0;
}

static int look_at_counters(struct live_watch *w, uint64_t now, struct diag *d)
{
	int err = 0;

	for (uint32_t g = 0; g < w->counters->nr_groups && !err; g++)
		if ((!w->opened_ns[g] || now - w->opened_ns[g] >= PAUSE_NS) &&
		    needs_opening(w, g, now))
			err = reopen(w, g, now, d);
	if (w->feed->restarts == w->restarts || (w->said_ns && now - w->said_ns < SAY_NS))
		return err;
	tell(w, "groups of counters restarted %llu times; %.1f s of their counts are missing",
	     (unsigned long long)w->feed->restarts, w->feed->uncounted_ns / 1e9);
	w->restarts = w->feed->restarts;
	w->said_ns = now;
	return err;
}

bool live_watch_trouble(const struct live_watch *w, uint64_t now, char *ret_text, size_t size)
{
	for (size_t i = 0; i < w->counters->nr_groups; i++) {
		const struct group *group = &w->counters->groups[i];
		const struct feed_group *g = &w->feed->groups[i];
		uint64_t silent = 0;

		if (now < g->end_ns + UNWELL_NS)
			continue;
		for (size_t p = 0; p < w->counters->nr_pmus; p++)
			if (counters_in_group(w->counters, p, i))
				silent = silent_since(w, w->counters->pmus[p].cpu, now);
		snprintf(ret_text, size, "no good reading of %s and %u more for %.0f s: %s",
			 w->counters->items[group->first].name, group->nr - 1,
			 (now - g->end_ns) / 1e9, problem(g, silent));
		return true;
	}
	return false;
}

/* --- core events */

/* -ENODEV, or -ENXIO: it is offline again. Then it stands still, until it is back. */
static int reopen_weights(struct live_watch *w, uint32_t cpu)
{
	int err = ledger_weights_drop(w->ledger, cpu);

	for (uint32_t e = 0; e < w->weights->nr && !err; e++) {
		int fd = weights_open_on(w->weights, e, cpu);

		if (fd < 0)
			return fd;
		err = ledger_weights_put(w->ledger, e, cpu, fd);
		w->weights->ops->close(fd);
	}
	return err;
}

static void look_at_weights(struct live_watch *w)
{
	uint32_t opened = 0, last = 0;
	int err;

	for (uint32_t cpu = 0; w->weights->nr && cpu < w->weights->nr_cpus; cpu++) {
		if (!ledger_weights_stand_still(w->ledger, cpu))
			continue;
		err = reopen_weights(w, cpu);
		if (!err) {
			opened++;
			last = cpu;
		} else if (err != -ENODEV && err != -ENXIO && !w->weights_refused) {
			w->weights_refused = true;
			tell(w, "the core events of CPU %u ended and cannot be opened again: %s",
			     cpu, strerror(-err));
		}
	}
	if (!opened)
		return;
	w->weights_reopened += opened;
	w->weights_refused = false;
	tell(w, "the core events of CPU %u%s had ended, as when it was offline: opened again", last,
	     opened > 1 ? " and others" : "");
}

int live_watch_new(struct live_watch *w)
{
	w->opened_ns = calloc(w->counters->nr_groups + 1, sizeof(*w->opened_ns));
	return w->opened_ns ? 0 : -ENOMEM;
}

void live_watch_release(struct live_watch *w)
{
	free(w->opened_ns);
	w->opened_ns = NULL;
}

int live_watch_step(struct live_watch *w, struct diag *d)
{
	uint64_t now = monotonic_ns();
	int err = look_at_readers(w, now, d);

	if (err || now < w->next_ns)
		return err;
	w->next_ns = now + LOOK_NS;
	look_at_weights(w);
	return look_at_counters(w, now, d);
}
