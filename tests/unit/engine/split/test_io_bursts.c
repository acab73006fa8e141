// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Short bursts on a device that is counted all the time, in few windows. Requests are noted as the
 * ledger does: added up over some milliseconds, and the time ends at a tick of the clock.
 */
#include "io_world.h"

#include <math.h>

#define WINDOW_NS    (50 * MS)
#define SECOND	     (1000 * MS)
#define REQUEST	     131072
#define AGE_NS	     (5 * MS)
#define MAX_REQUESTS 1024

/* Windows of 50 ms that are all the device's, as when it is alone below its port. */
static struct io_sim *begin(uint64_t seed, size_t tenants)
{
	struct io_sim *s = io_sim_new(METHOD_STATE_SPACE, seed);

	s->nr = tenants;
	s->window_ns = WINDOW_NS;
	return s;
}

static void note(struct io_sim *s, size_t who, uint64_t first, uint64_t last, uint64_t tick,
		 uint64_t bytes)
{
	const struct trace_io io = { .write_bytes = bytes,
				     .start_ns = first,
				     .end_ns = tick ? (last / tick + 1) * tick : last };

	assert_int_equal(timeline_io(s->timeline, FIRST_TENANT + who, &io), 0);
}

/* @nr requests from @start on, as fast as @mbps; each is counted, and @lag_ms of @s later noted. */
static void burst(struct io_sim *s, size_t who, double start_ns, size_t nr, double mbps,
		  uint64_t tick)
{
	uint64_t lag = s->lag_ms * MS;
	uint64_t first = 0, last = 0, bytes = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t now = start_ns + i * (REQUEST / (mbps * 1e6) * 1e9);

		if (bytes && now - first > AGE_NS) {
			note(s, who, first + lag, last + lag, tick, bytes);
			bytes = 0;
		}
		if (!bytes)
			first = now;
		last = now;
		bytes += REQUEST;
		s->moved[(now - s->now) / BIN_NS][who][DIRECTION_WRITE] += REQUEST;
	}
	note(s, who, first + lag, last + lag, tick, bytes);
}

/* Bytes that nobody asked for, in the second that is made, as steadily as @change says. */
static void background(struct io_sim *s, double mbps, double change)
{
	for (size_t b = 0; b < BINS; b++)
		s->moved[b][s->nr][DIRECTION_WRITE] +=
			mbps * 1e6 * BIN_NS / 1e9 * (1 + change * (2 * draw_unit(&s->d) - 1));
}

static void end_of_second(struct io_sim *s)
{
	const struct timeline_sink sink = { .on_cpu = io_on_cpu, .block = io_on_block, .arg = s };
	uint64_t end = s->now + SECOND, late = 0;

	io_windows(s);
	assert_int_equal(timeline_close(s->timeline, &end, &sink, &late), 0);
	io_judge(s);
	memmove(s->moved, s->moved[BINS], sizeof(s->moved) / 2);
	memset(s->moved[BINS], 0, sizeof(s->moved) / 2);
	s->now = end;
}

static double part_of(const struct io_sim *s, size_t who)
{
	return s->rows[who].all_given[DIRECTION_WRITE] / s->rows[who].all_truth[DIRECTION_WRITE];
}

static void is_within(const struct io_sim *s, size_t who, double part, uint64_t seed)
{
	const struct io_row *r = &s->rows[who];
	double truth = r->all_truth[DIRECTION_WRITE];

	if (fabs(part_of(s, who) - 1) > part)
		fail_msg("seed %d: tenant %zu has %g of its bytes", (int)seed, who,
			 part_of(s, who));
	if (r->all_low[DIRECTION_WRITE] > truth || r->all_high[DIRECTION_WRITE] < truth)
		fail_msg("seed %d: tenant %zu: bars", (int)seed, who);
}

/* 10 MiB at once, the first bytes there ever were: wherever it lies in its windows. */
static void one_burst_has_its_owner(void **state)
{
	static const uint64_t ticks[] = { 0, MS, 4 * MS, 10 * MS };
	static const double speeds[] = { 100, 200, 400, 1500 };
	size_t nr = draw_times(400, 40);

	(void)state;
	for (uint64_t seed = 1; seed <= nr; seed++) {
		struct io_sim *s = begin(seed, 1);
		double at = 100 + 700 * draw_unit(&s->d);

		s->lag_ms = seed % 3 * 3;
		burst(s, 0, s->now + at * MS, 80, speeds[seed % 4], ticks[seed / 4 % 4]);
		end_of_second(s);
		is_within(s, 0, 0.03, seed);
		assert_true(part_of(s, 0) <= 1);
		io_sim_free(s);
	}
}

/* One at a time, or at the same time; one has ten times as much as the other. */
static void bursts_of_two(uint64_t seed, double lag_ms, double mbps, double part)
{
	static const uint64_t ticks[] = { 0, MS, 4 * MS, 10 * MS };
	struct io_sim *s = begin(seed, 2);

	s->lag_ms = lag_ms;
	for (int second = 0; second < 5; second++) {
		for (int i = 0; i < 4; i++) {
			double at = 250 * i + 20 + 100 * draw_unit(&s->d);
			double other = 250 * i + 20 + 200 * draw_unit(&s->d);

			burst(s, 0, s->now + at * MS, 160, 300, ticks[seed % 4]);
			burst(s, 1, s->now + other * MS, 16, 300, ticks[seed % 4]);
		}
		background(s, mbps, 0.3);
		end_of_second(s);
	}
	/* What is a matter of timing is somebody's, even if it is not known exactly whose. */
	if (mbps <= 0 &&
	    s->background[DIRECTION_WRITE] > 0.008 * s->rows[0].all_truth[DIRECTION_WRITE])
		fail_msg("seed %d: %g are nobody's", (int)seed,
			 (double)s->background[DIRECTION_WRITE]);
	for (int who = 0; who < 2 && lag_ms <= 0; who++)
		is_within(s, who, seed % 4 == 3 ? 0.04 : part, seed); /* ticks of 10 ms */
	io_sim_free(s);
}

static void two_with_bursts(void **state)
{
	size_t nr = draw_times(60, 6);

	(void)state;
	for (uint64_t seed = 1; seed <= nr; seed++)
		bursts_of_two(seed, seed % 3 * 2, 0, 0.03);
}

/* A tenth of all is nobody's. */
static void two_with_bursts_and_background(void **state)
{
	size_t nr = draw_times(60, 6);

	(void)state;
	for (uint64_t seed = 1; seed <= nr; seed++)
		bursts_of_two(seed, 0, 10.3, 0.03);
}

/* However much moves: without requests nearby it is nobody's. */
static void bytes_without_requests_are_nobodys(void **state)
{
	struct io_sim *s = begin(3, 1);

	(void)state;
	burst(s, 0, s->now + 610 * MS, 80, 400, 4 * MS);
	for (size_t b = 400; b < 1600; b++)
		s->moved[b][1][DIRECTION_WRITE] += 50000;
	end_of_second(s);
	is_within(s, 0, 0.08, 3);
	assert_true(s->background[DIRECTION_WRITE] >= 60000000);
	for (size_t b = 400; b < 1600; b++)
		s->moved[b][1][DIRECTION_WRITE] += 50000;
	end_of_second(s);
	assert_true(s->background[DIRECTION_WRITE] >= 120000000);
	io_sim_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_burst_has_its_owner),
		cmocka_unit_test(two_with_bursts),
		cmocka_unit_test(two_with_bursts_and_background),
		cmocka_unit_test(bytes_without_requests_are_nobodys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
