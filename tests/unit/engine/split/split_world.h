/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Blocks for the splitter, and a sink that checks what everybody may rely on. */
#ifndef TESTS_SPLIT_WORLD_H
#define TESTS_SPLIT_WORLD_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <pthread.h>
#include <string.h>

#include "engine/identity/identity.h"
#include "engine/split/split.h"
#include "random.h"

#define MS	      1000000ull
#define NR_COUNTERS   4
#define MAX_ACTIVITY  50000
#define MAX_WORKLOADS 600

enum { READS, WRITES, DEVICE, ANY };

static uint32_t world_cpu_socket[] = { 0, 0 };
static uint32_t world_socket_ids[] = { 0, 1 };
static struct counter world_counters[NR_COUNTERS] = {
	{ .name = "rd", .source = SOURCE_CPU, .direction = DIRECTION_READ },
	{ .name = "wr", .source = SOURCE_CPU, .direction = DIRECTION_WRITE },
	{ .name = "dev", .source = SOURCE_DEVICE },
	{ .name = "any", .source = SOURCE_ANY },
};
static struct group world_groups[] = { { 0, 0, NR_COUNTERS } };

/* New worlds have splitters with two threads. */
static bool world_two_threads;

/* What the sink was told of a row and a counter. */
struct seen_row {
	unsigned __int128 given;
	uint64_t low, high, below, sure, pooled;
	unsigned int bounds; /* how often it was told */
	bool separable;
	uint32_t inseparable[MAX_WORKLOADS];
	size_t nr_inseparable;
};

/**
 * struct world - a splitter, the block that is made, and what came of the last one
 * @rows: of a workload; no entry (0 workloads): row = workload
 * @id: who is the same program again; NULL: nobody is known
 * @fail: callback that fails, counted down over all calls of all kinds; 0 = none
 * @background: bytes of each counter that are nobody's
 */
struct world {
	struct trace_header header;
	struct splitter *splitter;
	struct split_block block;
	struct trace_window windows[SPLIT_MAX_WINDOWS];
	struct reading readings[SPLIT_MAX_WINDOWS][NR_COUNTERS];
	struct activity activity[MAX_ACTIVITY];
	uint64_t now;
	uint32_t rows[MAX_WORKLOADS];
	struct identity *id;
	struct seen_row seen[NR_COUNTERS][MAX_WORKLOADS];
	size_t next[NR_COUNTERS]; /* window whose bytes come next */
	uint64_t background[NR_COUNTERS];
	unsigned int calls;
	unsigned int fail;
	uint64_t hash;
	pthread_t thread;
};

static inline void world_note(struct world *w, uint64_t v)
{
	w->hash = (w->hash ^ v) * 0x100000001b3u;
}

static inline int world_call(struct world *w)
{
	/* Sinks have no locks. */
	assert_true(pthread_equal(w->thread, pthread_self()));
	w->calls++;
	return w->fail && w->calls == w->fail ? -EPIPE : 0;
}

static inline int world_window(void *arg, const struct trace_window *window)
{
	struct world *w = arg;

	assert_int_equal(window->group, 0);
	assert_true(window->end_ns > window->start_ns);
	assert_non_null(window->readings);
	return world_call(w);
}

/* Exact; everybody who ran, in order, and nobody else; then the background, if any. */
static inline int world_bytes(void *arg, uint32_t counter, const struct trace_window *window,
			      uint64_t bytes, const struct portion *p, size_t nr)
{
	struct world *w = arg;
	const struct split_block *b = &w->block;
	unsigned __int128 sum = 0;
	size_t at = w->next[counter], i = 0, first = 0, ran = 0;

	while (at < b->nr_windows && !w->readings[at][counter].running_ns)
		at++;
	assert_true(at < b->nr_windows);
	w->next[counter] = at + 1;
	assert_ptr_equal(window, &w->windows[at]);
	assert_true(bytes == w->readings[at][counter].value);
	while (first < b->nr && b->activity[first].window < at)
		first++;
	while (first + ran < b->nr && b->activity[first + ran].window == at)
		ran++;
	if (world_counters[counter].source == SOURCE_DEVICE)
		ran = 0;
	for (; i < ran; i++) {
		assert_true(i < nr);
		assert_int_equal(p[i].workload, b->activity[first + i].workload);
		sum += p[i].bytes;
		if (w->rows[p[i].workload] != SPLIT_NO_ROW)
			w->seen[counter][w->rows[p[i].workload]].given += p[i].bytes;
		world_note(w, p[i].bytes);
	}
	if (nr > ran) {
		assert_int_equal(nr, ran + 1);
		assert_true(ran > 1);
		assert_int_equal(p[i].workload, WORKLOAD_BACKGROUND);
		assert_true(p[i].bytes > 0);
		w->background[counter] += p[i].bytes;
		sum += p[i].bytes;
	}
	if (ran)
		assert_true(sum == bytes);
	return world_call(w);
}

static inline int world_row(void *arg, uint32_t workload, uint32_t *ret)
{
	struct world *w = arg;

	assert_true(workload < MAX_WORKLOADS);
	*ret = w->rows[workload];
	return world_call(w);
}

static inline int world_bounds(void *arg, uint32_t counter, const struct bounds *b)
{
	struct world *w = arg;
	struct seen_row *s;

	assert_true(b->row < MAX_WORKLOADS);
	s = &w->seen[counter][b->row];
	s->bounds++;
	s->low = b->low;
	s->high = b->high;
	s->below = b->below;
	s->sure = b->sure;
	s->pooled = b->pooled;
	assert_true(s->pooled <= s->given);
	assert_true(s->sure <= s->low && (!s->low || !s->below));
	assert_true(s->below <= s->given);
	s->separable = b->separable;
	s->nr_inseparable = b->nr_inseparable;
	for (size_t i = 0; i < b->nr_inseparable; i++) {
		assert_int_not_equal(b->inseparable[i], b->row);
		assert_false(b->separable);
		s->inseparable[i] = b->inseparable[i];
	}
	world_note(w, b->low);
	world_note(w, b->high);
	return world_call(w);
}

static inline struct world *world_new(enum method method, uint32_t nr_weights)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->header.layout = (struct layout){ world_cpu_socket, 2, world_socket_ids, 2,
					    world_counters,   4, world_groups,	   1 };
	strcpy(w->header.weights[0], "refill");
	strcpy(w->header.weights[1], "writeback");
	w->header.nr_weights = nr_weights;
	w->block.windows = w->windows;
	w->block.activity = w->activity;
	for (uint32_t i = 0; i < MAX_WORKLOADS; i++)
		w->rows[i] = i;
	w->thread = pthread_self();
	assert_int_equal(splitter_new(&w->header, method, &w->splitter), 0);
	if (world_two_threads)
		assert_int_equal(splitter_two_threads(w->splitter), 0);
	return w;
}

static inline void world_free(struct world *w)
{
	splitter_free(w->splitter);
	free(w);
}

/* One more window, in which every counter gained @bytes. */
static inline void add_window(struct world *w, uint64_t length, uint64_t bytes)
{
	size_t at = w->block.nr_windows++;

	assert_true(at < SPLIT_MAX_WINDOWS);
	for (int c = 0; c < NR_COUNTERS; c++)
		w->readings[at][c] = (struct reading){ bytes, length, length };
	w->windows[at] = (struct trace_window){ 0, w->now, w->now + length, w->readings[at] };
	w->now += length;
}

/* @workload ran in the last window; in order of workloads. */
static inline struct activity *ran(struct world *w, uint32_t workload, uint64_t on_cpu_ns)
{
	struct activity *a = &w->activity[w->block.nr++];

	assert_true(w->block.nr <= MAX_ACTIVITY);
	*a = (struct activity){ .window = w->block.nr_windows - 1,
				.workload = workload,
				.on_cpu_ns = on_cpu_ns };
	return a;
}

/* Splits the block, and begins the next one. */
static inline int world_try(struct world *w)
{
	struct split_sink sink = { world_window, world_bytes, world_row, world_bounds, w, w->id };
	int err;

	memset(w->seen, 0, sizeof(w->seen));
	memset(w->next, 0, sizeof(w->next));
	memset(w->background, 0, sizeof(w->background));
	w->calls = 0;
	err = splitter_block(w->splitter, &w->block, &sink);
	w->block.nr_windows = w->block.nr = 0;
	return err;
}

/* The same; and every window's bytes came, and bounds hold what rows were given. */
static inline void world_split(struct world *w)
{
	struct split_block b = w->block;

	assert_int_equal(world_try(w), 0);
	for (int c = 0; c < NR_COUNTERS; c++) {
		for (size_t k = w->next[c]; k < b.nr_windows; k++)
			assert_int_equal(w->readings[k][c].running_ns, 0);
		for (uint32_t r = 0; r < MAX_WORKLOADS; r++) {
			const struct seen_row *s = &w->seen[c][r];
			bool here = false;

			for (size_t i = 0; i < b.nr && !here; i++)
				here = w->rows[b.activity[i].workload] == r;
			if (world_counters[c].source == SOURCE_DEVICE)
				here = false;
			assert_int_equal(s->bounds, here);
			if (s->given >> 64)
				continue; /* beyond what a counter can show */
			assert_true(s->low <= s->given);
			assert_true(!here || s->given <= s->high);
		}
	}
}

#endif
