/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A device, workloads that make it move data, and the truth of it: from single requests to what
 * rows are told, through the timeline and the splitter.
 */
#ifndef TESTS_IO_WORLD_H
#define TESTS_IO_WORLD_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "engine/identity/identity.h"
#include "engine/timeline/timeline.h"
#include "random.h"

#define MS	       1000000ull
#define BIN_NS	       250000ull
#define BINS	       4000 /* a second */
#define MAX_TENANTS    64
#define FIRST_TENANT   10
#define SLOT_NS	       (4 * MS)
#define NR_IO_COUNTERS 3

enum { IO_READS, IO_WRITES, IO_REQUESTS };

static uint32_t io_cpu_socket[] = { 0 };
static uint32_t io_socket_ids[] = { 0 };
static struct counter io_counters[NR_IO_COUNTERS] = {
	{ .name = "rd", .source = SOURCE_DEVICE, .direction = DIRECTION_READ, .device = 1 },
	{ .name = "wr", .source = SOURCE_DEVICE, .direction = DIRECTION_WRITE, .device = 1 },
	{ .name = "rq", .source = SOURCE_DEVICE, .unit = UNIT_REQUESTS, .device = 1 },
};
static struct group io_groups[] = { { 0, 0, NR_IO_COUNTERS } };

/**
 * struct io_tenant - a workload, and how it uses the device
 * @mbps: while it is busy; @on_ms, @off_ms: mean times, 0 = always on
 * @size: of a request; @write: part of requests in which the device writes memory
 * @theta: bytes on the way to memory for each byte of a request
 */
struct io_tenant {
	double mbps, on_ms, off_ms, size, write, theta;
	bool busy;
	double until_ns, next_ns;
};

/* What was said of a row and what is true, for one interval and for all, by direction. */
struct io_row {
	double truth[2], given[2], low[2], high[2];
	double all_truth[2], all_given[2], all_low[2], all_high[2];
	bool told[2];
};

struct io_sim {
	struct trace_header header;
	struct timeline *timeline;
	struct splitter *splitter;
	struct draw d;
	struct io_tenant tenants[MAX_TENANTS];
	size_t nr;
	double lag_ms, lag_jitter_ms;		   /* data move so much before they are noted */
	double background_mbps, background_change; /* and by how much of it that varies */
	bool background_bursts;			   /* it comes in a fifth of the time */
	uint64_t window_ns;
	unsigned int turn_of;			    /* one window in so many is counted */
	double moved[2 * BINS][MAX_TENANTS + 1][2]; /* bytes; the last one is the background's */
	uint64_t now;				    /* start of the second that is made */
	uint64_t background[2];			    /* given to nobody */
	double background_truth[2];
	struct io_row rows[MAX_TENANTS];
	size_t held, asked;
	double width;
};

static inline int io_on_window(void *arg, const struct trace_window *w)
{
	(void)arg;
	assert_true(w->end_ns > w->start_ns);
	return 0;
}

static inline int io_on_bytes(void *arg, uint32_t counter, const struct trace_window *w,
			      uint64_t bytes, const struct portion *p, size_t nr)
{
	struct io_sim *s = arg;
	uint64_t sum = 0;

	assert_true(w->readings[counter].running_ns > 0);
	assert_int_equal(bytes, w->readings[counter].value);
	if (counter == IO_REQUESTS) {
		assert_int_equal(nr, 0);
		return 0;
	}
	for (size_t i = 0; i < nr; i++) {
		sum += p[i].bytes;
		if (i)
			assert_true(p[i].workload > p[i - 1].workload);
		if (p[i].workload == WORKLOAD_BACKGROUND)
			s->background[counter] += p[i].bytes;
		else
			s->rows[p[i].workload - FIRST_TENANT].given[counter] += p[i].bytes;
	}
	if (nr)
		assert_int_equal(sum, bytes);
	else
		s->background[counter] += bytes;
	return 0;
}

static inline int io_on_row(void *arg, uint32_t workload, uint32_t *ret)
{
	(void)arg;
	*ret = workload - FIRST_TENANT;
	return 0;
}

static inline int io_on_bounds(void *arg, uint32_t counter, const struct bounds *b)
{
	struct io_sim *s = arg;
	struct io_row *r = &s->rows[b->row];

	assert_true(b->low <= b->high);
	r->low[counter] += b->low;
	r->high[counter] += b->high;
	r->told[counter] = true;
	return 0;
}

static inline int io_on_block(void *arg, const struct split_block *b)
{
	const struct split_sink sink = { io_on_window, io_on_bytes, io_on_row,
					 io_on_bounds, arg,	    NULL };
	struct io_sim *s = arg;

	return splitter_block(s->splitter, b, &sink);
}

static inline int io_on_cpu(void *arg, uint32_t socket, uint32_t workload, uint64_t ns)
{
	(void)arg;
	(void)socket;
	(void)workload;
	(void)ns;
	return 0;
}

static inline struct io_sim *io_sim_new(enum method method, uint64_t seed)
{
	struct io_sim *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->header.layout =
		(struct layout){ io_cpu_socket, 1, io_socket_ids, 1, io_counters, NR_IO_COUNTERS,
				 io_groups,	1 };
	s->header.nr_devices = 1;
	s->d.state = seed * 2654435761u + 1;
	s->window_ns = 10 * MS;
	s->turn_of = 1;
	s->now = 1000 * MS;
	assert_int_equal(
		timeline_new(&s->header.layout, s->header.layout.cpu_socket, 1, &s->timeline), 0);
	assert_int_equal(splitter_new(&s->header, method, &s->splitter), 0);
	assert_int_equal(timeline_begin(s->timeline, &s->now), 0);
	return s;
}

static inline void io_sim_free(struct io_sim *s)
{
	timeline_free(s->timeline);
	splitter_free(s->splitter);
	free(s);
}

/* Data of one request, spread over the time in which they moved. */
static inline void io_move(struct io_sim *s, size_t who, int direction, double end_ns,
			   double length_ns, double bytes)
{
	int nr = length_ns / BIN_NS + 1;

	for (int i = 0; i < nr; i++) {
		double at = (end_ns - length_ns * (i + 0.5) / nr - s->now) / BIN_NS;

		/* what moved in the second before was counted there, or not */
		if (at >= 0 && at < 2 * BINS)
			s->moved[(size_t)at][who][direction] += bytes / nr;
	}
}

/* Requests of a tenant that complete up to @to_ns, booked as a CPU's slots are. */
static inline void io_requests(struct io_sim *s, size_t who, double to_ns)
{
	struct io_tenant *t = &s->tenants[who];
	struct trace_io slot = { 0 };

	while (t->next_ns < to_ns) {
		double size = t->size * (0.5 + draw_unit(&s->d)), now = t->next_ns;
		double lag = (s->lag_ms + s->lag_jitter_ms * draw_unit(&s->d)) * MS;
		int direction = draw_unit(&s->d) < t->write ? DIRECTION_WRITE : DIRECTION_READ;
		uint64_t ns = now;

		if (t->off_ms > 0 && now >= t->until_ns) {
			t->busy = !t->busy;
			t->until_ns = now - log(1 - draw_unit(&s->d)) * MS *
						    (t->busy ? t->on_ms : t->off_ms);
		}
		if (t->off_ms > 0 && !t->busy) {
			t->next_ns = t->until_ns;
			continue;
		}
		if (slot.start_ns && ns >= slot.start_ns / SLOT_NS * SLOT_NS + SLOT_NS) {
			assert_int_equal(timeline_io(s->timeline, FIRST_TENANT + who, &slot), 0);
			slot = (struct trace_io){ 0 };
		}
		if (!slot.start_ns)
			slot.start_ns = ns;
		slot.end_ns = ns;
		if (direction == DIRECTION_READ)
			slot.read_bytes += size;
		else
			slot.write_bytes += size;
		io_move(s, who, direction, now - lag, size / 3e9 * 1e9, size * t->theta);
		t->next_ns = now + size / (t->mbps * 1e6) * 1e9 * (0.5 + draw_unit(&s->d));
	}
	if (slot.start_ns)
		assert_int_equal(timeline_io(s->timeline, FIRST_TENANT + who, &slot), 0);
}

/* The interval's windows: what was counted in those that had a turn. */
static inline void io_windows(struct io_sim *s)
{
	size_t per = s->window_ns / BIN_NS;

	for (size_t k = 0; k < BINS / per; k++) {
		struct reading r[NR_IO_COUNTERS];
		double sum[2] = { 0 };
		bool turn = k % s->turn_of == 0;
		const struct trace_window w = { 0, s->now + k * s->window_ns,
						s->now + (k + 1) * s->window_ns, r };

		for (size_t b = k * per; turn && b < (k + 1) * per; b++)
			for (size_t i = 0; i <= s->nr; i++)
				for (int c = 0; c < 2; c++) {
					sum[c] += s->moved[b][i][c];
					if (i < s->nr)
						s->rows[i].truth[c] += s->moved[b][i][c];
					else
						s->background_truth[c] += s->moved[b][i][c];
				}
		for (int c = 0; c < NR_IO_COUNTERS; c++)
			r[c] = (struct reading){ c < 2 ? sum[c] : 7 * turn, s->window_ns,
						 turn ? s->window_ns : 0 };
		assert_int_equal(timeline_window(s->timeline, &w), 0);
	}
}

/* The interval is over: what was said is held against the truth. */
static inline void io_judge(struct io_sim *s)
{
	for (size_t i = 0; i < s->nr; i++)
		for (int c = 0; c < 2; c++) {
			struct io_row *r = &s->rows[i];

			if (r->told[c]) {
				s->asked++;
				s->held += r->truth[c] >= r->low[c] - 1 &&
					   r->truth[c] <= r->high[c] + 1;
			}
			r->all_truth[c] += r->truth[c];
			r->all_given[c] += r->given[c];
			r->all_low[c] += r->low[c];
			r->all_high[c] += r->high[c];
			r->truth[c] = r->given[c] = r->low[c] = r->high[c] = 0;
			r->told[c] = false;
		}
}

/* One second: what happens, and what is made of it. */
static inline void io_second(struct io_sim *s)
{
	const struct timeline_sink sink = { .on_cpu = io_on_cpu, .block = io_on_block, .arg = s };
	uint64_t end = s->now + 1000 * MS, late = 0;
	double level = 1;

	/* requests that complete a little later have moved data before */
	for (size_t i = 0; i < s->nr; i++) {
		struct io_tenant *t = &s->tenants[i];

		if (t->next_ns == 0)
			t->next_ns = s->now + draw_unit(&s->d) * MS;
		io_requests(s, i, end + 20 * MS);
	}
	for (size_t b = 0; b < BINS; b++) {
		double bytes = s->background_mbps * 1e6 * BIN_NS / 1e9;

		if (b % 80 == 0)
			level = 1 + s->background_change * (2 * draw_unit(&s->d) - 1);
		if (b % 80 == 0 && s->background_bursts)
			level = draw_below(&s->d, 5) ? 0 : 5;
		s->moved[b][s->nr][0] += bytes * level * (0.5 + draw_unit(&s->d));
		s->moved[b][s->nr][1] += bytes * level * (0.5 + draw_unit(&s->d));
	}
	io_windows(s);
	assert_int_equal(timeline_close(s->timeline, &end, &sink, &late), 0);
	assert_int_equal(late, 0);
	io_judge(s);
	memmove(s->moved, s->moved[BINS], sizeof(s->moved) / 2);
	memset(s->moved[BINS], 0, sizeof(s->moved) / 2);
	s->now = end;
}

/* Sum of all rows' errors by what is theirs. */
static inline double io_error(const struct io_sim *s)
{
	double wrong = 0, all = 0;

	for (size_t i = 0; i < s->nr; i++)
		for (int c = 0; c < 2; c++) {
			wrong += fabs(s->rows[i].all_given[c] - s->rows[i].all_truth[c]);
			all += s->rows[i].all_truth[c];
		}
	return all > 0 ? wrong / all : 0;
}

static inline double io_width(const struct io_sim *s)
{
	double width = 0, all = 0;

	for (size_t i = 0; i < s->nr; i++)
		for (int c = 0; c < 2; c++) {
			width += s->rows[i].all_high[c] - s->rows[i].all_low[c];
			all += s->rows[i].all_truth[c];
		}
	return all > 0 ? width / all : 0;
}

#endif
