// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/live_watch.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "platform/sys/sysfs.h"

/* A reader that has been silent this long, and ten windows, may have lost its CPU. */
#define SILENT_NS 100000000ull
/* After this long its clock is dead, even if the CPU is back. */
#define DEAD_NS	  (10 * SILENT_NS)
#define LOOK_NS	  NS_PER_S
/* A group that cannot be read for so long is opened again, and not more often than that. */
#define STUCK_NS  (5 * NS_PER_S)
#define PAUSE_NS  (30 * NS_PER_S)
/* A group without a good window for so long is trouble, */
#define UNWELL_NS (10 * NS_PER_S)
/* and new bases are said at most so often. */
#define SAY_NS	  (60 * NS_PER_S)

static void __attribute__((format(printf, 2, 3))) tell(struct live_watch *w, const char *fmt, ...)
{
	va_list ap;

	/* Nobody takes them: the newest is what counts. */
	if (w->nr_news == LIVE_WATCH_NEWS)
		memmove(w->news[0], w->news[1], --w->nr_news * sizeof(w->news[0]));
	va_start(ap, fmt);
	vsnprintf(w->news[w->nr_news++], sizeof(w->news[0]), fmt, ap);
	va_end(ap);
}

bool live_watch_news(struct live_watch *w, char ret_text[LIVE_WATCH_NEWS_LEN])
{
	if (!w->nr_news)
		return false;
	str_copy(ret_text, LIVE_WATCH_NEWS_LEN, w->news[0]);
	memmove(w->news[0], w->news[1], --w->nr_news * sizeof(w->news[0]));
	return true;
}

/* --- readers */

static bool is_closed(const struct live_watch *w, uint32_t socket)
{
	return w->counters->fds[w->counters->sockets[socket].first] < 0;
}

/* When the active CPU goes offline, the driver moves the events and says so in cpumask. */
static int follow_reader(struct live_watch *w, uint32_t socket, bool dead, struct diag *d)
{
	struct socket_counters *s = &w->counters->sockets[socket];
	char path[128], line[64];
	uint64_t cpu;

	snprintf(path, sizeof(path), PMU_DEVICES "/%s/cpumask", s->pmu->name);
	if (sysfs_read(w->sysfs, path, line, sizeof(line)) || parse_u64(line, &cpu) ||
	    cpu >= w->nr_cpus)
		return 0; /* no CPU of the socket is online: nothing to read, no window */
	if ((int)cpu != s->cpu)
		w->reader_moves++;
	else if (!dead)
		return 0; /* the machine is busy, that is all */
	s->cpu = cpu;
	/* Closed: they are opened there before they are read. */
	return is_closed(w, socket) ? 0 : w->start(w->arg, socket, d);
}

static int look_at_readers(struct live_watch *w, uint64_t now, struct diag *d)
{
	uint64_t limit = SILENT_NS + 10 * w->feed->window_ns;
	int err = 0;

	for (uint32_t s = 0; s < w->counters->nr_sockets && !err; s++) {
		uint64_t silent = now - w->feed->seen_ns[s];

		if (silent > limit)
			err = follow_reader(w, s, silent > limit + DEAD_NS, d);
	}
	/* An offline CPU cannot be told from one that is about to be: try again later. */
	return err == -ENODEV || err == -ENXIO ? 0 : err;
}

/* --- counters */

static const char *problem(const struct feed_group *g, uint64_t silent)
{
	if (silent > UNWELL_NS)
		return "nobody reads it: is no CPU of its socket online?";
	switch (g->verdict) {
	case READING_FAILED:
		return strerror(-g->err);
	case READING_BACKWARD:
		return "its totals go backward";
	default:
		return "it has no turn: others hold the counters";
	}
}

/* A pinned group that has no turn was put into the error state; others wait for theirs. */
static bool is_stuck(const struct feed_group *g, bool pinned, uint64_t now)
{
	if (!g->bad_ns || now < g->bad_ns + STUCK_NS)
		return false;
	return g->verdict == READING_FAILED || (g->verdict == READING_WAITED && pinned);
}

/* A group of the socket that has to be opened again: all are, for none can be left behind alone. */
static const struct feed_group *stuck_group(const struct live_watch *w, uint32_t socket,
					    uint64_t now)
{
	bool closed = is_closed(w, socket);

	for (size_t i = 0; i < w->counters->nr_groups; i++) {
		const struct feed_group *g = &w->feed->groups[i];

		if (w->counters->groups[i].socket == socket &&
		    (closed || is_stuck(g, w->counters->sockets[socket].pinned, now)))
			return g;
	}
	return NULL;
}

/* Before new events are opened nobody reads the old ones, and none of their records waits. */
static int reopen(struct live_watch *w, uint32_t socket, const struct feed_group *g, uint64_t now,
		  struct diag *d)
{
	struct diag start = { 0 };
	int id = w->counters->sockets[socket].id, err;
	const char *why = problem(g, 0);

	ledger_reader_stop(w->ledger, socket);
	err = ledger_drain(w->ledger, w->sink);
	if (err)
		return diag_fail(d, err, "cannot read the ring buffer: %s", strerror(-err));
	w->opened_ns[socket] = now;
	err = counters_reopen(w->counters, socket);
	feed_restart(w->feed, socket);
	if (!err)
		err = w->start(w->arg, socket, &start);
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

	for (uint32_t s = 0; s < w->counters->nr_sockets && !err; s++) {
		const struct feed_group *g = stuck_group(w, s, now);

		if (g && (!w->opened_ns[s] || now - w->opened_ns[s] >= PAUSE_NS))
			err = reopen(w, s, g, now, d);
	}
	if (w->feed->restarts == w->restarts || (w->said_ns && now - w->said_ns < SAY_NS))
		return err;
	tell(w, "groups of counters began anew %llu times; %.1f s of what they counted are missing",
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
		uint64_t silent = now - w->feed->seen_ns[group->socket];

		if (now < g->end_ns + UNWELL_NS)
			continue;
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
