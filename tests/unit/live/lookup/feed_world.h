/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A feed with a session behind it, for tests. */
#ifndef TEST_FEED_WORLD_H
#define TEST_FEED_WORLD_H

#include "engine/session/session.h"
#include "live/lookup/feed.h"

/* One socket with two CPUs and two groups, of one and of two counters. */
static uint32_t cpu_socket[] = { 0, 0 };
static uint32_t socket_ids[] = { 0 };
static struct counter counters[] = {
	{ .name = "a", .source = SOURCE_CPU },
	{ .name = "b", .source = SOURCE_CPU, .group = 1 },
	{ .name = "c", .source = SOURCE_DEVICE, .group = 1 },
};
static struct group groups[] = { { 0, 0, 1 }, { 0, 1, 2 } };
static const struct trace_header header = {
	.layout = {
		.cpu_socket = cpu_socket,
		.nr_cpus = 2,
		.socket_ids = socket_ids,
		.nr_sockets = 1,
		.counters = counters,
		.nr_counters = 3,
		.groups = groups,
		.nr_groups = 2,
	},
	.all = true,
};

/* Each counter is one event, and all of them are read together. */
static struct counted_event events[] = {
	{ .counter = 0, .scale = { 1, 1 } },
	{ .counter = 1, .scale = { 1, 1 } },
	{ .counter = 2, .scale = { 1, 1 } },
};
static uint32_t all_events[] = { 0, 1, 2 };
static struct counter_reader reader = { .events = all_events, .nr = 3 };
static const struct counters counted = {
	.events = events,
	.nr_events = 3,
	.readers = &reader,
	.nr_readers = 1,
	.max_readers = 1,
};

struct world {
	struct counters counted;
	struct session *session;
	struct feed feed;
	struct ledger_sink sink;
};

static inline void setup_events(struct world *w, struct counted_event *of)
{
	const struct session_options o = { .by = ROW_PROCESS, .all = true };
	const uint64_t begin = 0;
	struct trace_mark mark = { .first = true, .ends_ns = &begin };
	struct trace_sink out;

	w->counted = counted;
	w->counted.events = of;
	assert_int_equal(session_new(&header, &o, &w->session), 0);
	out = session_sink(w->session);
	assert_int_equal(feed_init(&w->feed, &header.layout, &w->counted, &out, 100), 0);
	w->sink = feed_sink(&w->feed);
	assert_int_equal(trace_send_mark(&out, &mark), 0);
}

static inline void setup(struct world *w)
{
	setup_events(w, events);
}

static inline void teardown(struct world *w)
{
	feed_release(&w->feed);
	session_free(w->session);
}

/* A reading at @now: the totals of the three counters, always counting. */
static inline void window(struct world *w, uint64_t now, uint64_t a, uint64_t b, uint64_t c,
			  const int *errors)
{
	struct ledger_window r = { .h = { .type = LEDGER_WINDOW, .time_ns = now }, .nr = 3 };
	const uint64_t counts[] = { a, b, c };

	for (int i = 0; i < 3; i++) {
		r.readings[i].value = (struct ledger_value){ counts[i], now, now };
		r.readings[i].error = errors ? errors[i] : 0;
	}
	w->sink.window(w->sink.arg, &r);
}

static inline struct report *close_at(struct world *w, uint64_t end)
{
	struct trace_mark mark = { .time_ns = end, .ends_ns = &end };
	struct report *r;

	assert_int_equal(session_report(w->session, &mark, &r), 0);
	return r;
}

#endif
