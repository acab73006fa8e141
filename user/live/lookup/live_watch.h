/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Restart of counting that has stopped in a live run: readers move to another CPU, groups of
 * counters whose readings fail for long are opened again, and so are the core events of a CPU that
 * was offline.
 */
#ifndef LIVE_LOOKUP_LIVE_WATCH_H
#define LIVE_LOOKUP_LIVE_WATCH_H

#include "live/lookup/feed.h"
#include "platform/bpf/counters.h"
#include "platform/core/weights.h"
#include "platform/sys/cpus.h"

#define LIVE_WATCH_NEWS	    8
#define LIVE_WATCH_NEWS_LEN 192

/**
 * struct live_watch - see above
 * @counters, @weights, @ledger, @feed, @sink: of the run; not owned
 * @sysfs: not owned
 * @cpus: CPUs and their sockets; not owned
 * @start: starts a reader of @counters again; 0 or a negative errno with the problem in @d
 * @arg: handed to @start
 * @next_ns: when it looks again (CLOCK_MONOTONIC)
 * @opened_ns: when the counters of a group were opened again, 0 = never; owned, see
 *	live_watch_new()
 * @restarted_ns: when all readers were started again
 * @reader_moves: times a PMU's active CPU changed
 * @weights_reopened: times the core events of a CPU were opened again
 * @restarts: of the feed, as far as reported
 * @said_ns: time of that report
 * @weights_refused: reopening them failed, which has been reported
 * @news: lines for people, oldest first; @nr_news of them
 */
struct live_watch {
	struct counters *counters;
	const struct weights *weights;
	struct ledger *ledger;
	struct feed *feed;
	const struct ledger_sink *sink;
	const struct sysfs *sysfs;
	const struct cpu_map *cpus;
	int (*start)(void *arg, const struct counter_reader *r, struct diag *d);
	void *arg;
	uint64_t next_ns;
	uint64_t *opened_ns;
	uint64_t restarted_ns;
	uint64_t reader_moves;
	uint64_t weights_reopened;
	uint64_t restarts;
	uint64_t said_ns;
	bool weights_refused;
	char news[LIVE_WATCH_NEWS][LIVE_WATCH_NEWS_LEN];
	size_t nr_news;
};

/** live_watch_new() - allocate @opened_ns; the other fields are set. 0 or -ENOMEM */
int live_watch_new(struct live_watch *w);
void live_watch_release(struct live_watch *w);

/**
 * live_watch_step() - check readers, and once a second all counters
 *
 * Call it whenever records have been taken. Return: 0, or a negative errno with the problem in @d.
 */
int live_watch_step(struct live_watch *w, struct diag *d);

/**
 * live_watch_trouble() - has a group been without a good window for long?
 * @ret_text: gets the group and the reason
 *
 * Return: true if there is such a group.
 */
bool live_watch_trouble(const struct live_watch *w, uint64_t now, char *ret_text, size_t size);

/** live_watch_news() - take the oldest line of news; false when there is none */
bool live_watch_news(struct live_watch *w, char *ret_text, size_t size);

#endif
