// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How bytes of devices are split: block by block, and from requests to rows with io_world.h. */
#include "io_world.h"

#include <errno.h>
#include <math.h>

#define MAX_CELLS 40000
#define NR_ROWS	  600

struct told {
	uint64_t given, low, high;
	unsigned int bounds, portions;
	bool separable;
	uint32_t inseparable[8];
	size_t nr_inseparable;
};

struct fixture {
	struct trace_header header;
	struct splitter *splitter;
	struct split_block block;
	struct trace_window windows[SPLIT_MAX_WINDOWS];
	struct reading readings[SPLIT_MAX_WINDOWS][NR_IO_COUNTERS];
	struct activity activity[MAX_CELLS];
	uint64_t now;
	uint32_t row_of[NR_ROWS];
	struct told told[2][NR_ROWS];
	uint64_t nobody[2], lost[2];
	size_t next[NR_IO_COUNTERS];
	int fail;
};

static int f_window(void *arg, const struct trace_window *w)
{
	(void)arg;
	(void)w;
	return 0;
}

/* Did a workload do something in a window next to @at? */
static bool did_beside(const struct fixture *f, size_t at, uint32_t workload, uint32_t counter)
{
	for (size_t k = 0; k < f->block.nr; k++) {
		const struct activity *a = &f->activity[k];

		if (a->workload == workload && a->io_bytes[counter] &&
		    (a->window + 1 == at || a->window == at + 1))
			return true;
	}
	return false;
}

static void book(struct fixture *f, uint32_t counter, const struct portion *p)
{
	if (p->workload == WORKLOAD_LOST)
		f->lost[counter] += p->bytes;
	if (f->row_of[p->workload] == SPLIT_NO_ROW)
		return;
	f->told[counter][f->row_of[p->workload]].given += p->bytes;
	f->told[counter][f->row_of[p->workload]].portions++;
}

/* To the byte, and only to those who did something in the window or right beside it. */
static int f_bytes(void *arg, uint32_t counter, const struct trace_window *w, uint64_t bytes,
		   const struct portion *p, size_t nr)
{
	struct fixture *f = arg;
	size_t at = w - f->windows, i = 0, k = 0;
	unsigned __int128 sum = 0;
	bool owned = false;

	assert_true(at >= f->next[counter] && at < f->block.nr_windows);
	f->next[counter] = at + 1;
	assert_true(f->readings[at][counter].running_ns > 0);
	assert_true(bytes == f->readings[at][counter].value);
	if (counter == IO_REQUESTS) {
		assert_int_equal(nr, 0);
		return f->fail;
	}
	for (k = 0; k < f->block.nr; k++) {
		const struct activity *a = &f->activity[k];

		if (a->window != at || (!a->io_bytes[counter] && !a->exclusive))
			continue;
		for (; i < nr && p[i].workload < a->workload; i++) {
			assert_true(p[i].bytes && did_beside(f, at, p[i].workload, counter));
			sum += p[i].bytes;
			book(f, counter, &p[i]);
		}
		assert_true(i < nr);
		assert_int_equal(p[i].workload, a->workload);
		owned |= a->exclusive;
		sum += p[i].bytes;
		book(f, counter, &p[i++]);
	}
	for (; i < nr && p[i].workload != WORKLOAD_BACKGROUND; i++) {
		assert_true(p[i].bytes && did_beside(f, at, p[i].workload, counter));
		sum += p[i].bytes;
		book(f, counter, &p[i]);
	}
	if (i < nr) {
		assert_int_equal(nr, i + 1);
		assert_false(owned);
		assert_int_equal(p[i].workload, WORKLOAD_BACKGROUND);
		assert_true(p[i].bytes > 0);
		f->nobody[counter] += p[i].bytes;
		sum += p[i].bytes;
	}
	if (nr)
		assert_true(sum == bytes);
	else
		f->nobody[counter] += bytes;
	return f->fail;
}

static int f_row(void *arg, uint32_t workload, uint32_t *ret)
{
	struct fixture *f = arg;

	*ret = f->row_of[workload];
	return 0;
}

static int f_bounds(void *arg, uint32_t counter, const struct bounds *b)
{
	struct fixture *f = arg;
	struct told *t = &f->told[counter][b->row];

	t->bounds++;
	t->low = b->low;
	t->high = b->high;
	t->separable = b->separable;
	t->nr_inseparable = b->nr_inseparable;
	assert_true(!b->nr_inseparable || !b->separable);
	for (size_t i = 0; i < b->nr_inseparable && i < 8; i++)
		t->inseparable[i] = b->inseparable[i];
	return 0;
}

static struct fixture *make(enum method method)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->header.layout =
		(struct layout){ io_cpu_socket, 1, io_socket_ids, 1, io_counters, NR_IO_COUNTERS,
				 io_groups,	1 };
	f->header.nr_devices = 1;
	f->block.windows = f->windows;
	f->block.activity = f->activity;
	for (uint32_t i = 0; i < NR_ROWS; i++)
		f->row_of[i] = i > WORKLOAD_LOST ? i : SPLIT_NO_ROW;
	assert_int_equal(splitter_new(&f->header, method, &f->splitter), 0);
	return f;
}

static void drop(struct fixture *f)
{
	splitter_free(f->splitter);
	free(f);
}

/* One more window of 10 ms, counted for a part of it. */
static void window(struct fixture *f, uint64_t reads, uint64_t writes, unsigned int percent)
{
	size_t at = f->block.nr_windows++;
	uint64_t values[] = { reads, writes, 5 };

	for (int c = 0; c < NR_IO_COUNTERS; c++)
		f->readings[at][c] = (struct reading){ values[c], 10 * MS, percent * MS / 10 };
	f->windows[at] = (struct trace_window){ 0, f->now, f->now + 10 * MS, f->readings[at] };
	f->now += 10 * MS;
}

static struct activity *did(struct fixture *f, uint32_t workload, uint64_t reads, uint64_t writes)
{
	struct activity *a = &f->activity[f->block.nr++];

	assert_true(f->block.nr <= MAX_CELLS);
	*a = (struct activity){ .window = f->block.nr_windows - 1,
				.workload = workload,
				.io_bytes = { reads, writes } };
	return a;
}

static int split_try(struct fixture *f)
{
	const struct split_sink sink = { f_window, f_bytes, f_row, f_bounds, f, NULL };
	int err;

	memset(f->told, 0, sizeof(f->told));
	memset(f->nobody, 0, sizeof(f->nobody));
	memset(f->lost, 0, sizeof(f->lost));
	memset(f->next, 0, sizeof(f->next));
	err = splitter_block(f->splitter, &f->block, &sink);
	f->block.nr = f->block.nr_windows = 0;
	return err;
}

/* Splits, and looks at what holds whatever was put in. */
static void split(struct fixture *f)
{
	assert_int_equal(split_try(f), 0);
	for (int c = 0; c < 2; c++)
		for (uint32_t r = 0; r < NR_ROWS; r++) {
			const struct told *t = &f->told[c][r];

			assert_int_equal(t->bounds, t->portions > 0);
			if (!t->bounds)
				continue;
			assert_true(t->low <= t->given && t->given <= t->high);
		}
}

static void near(double value, double expected, double part)
{
	if (fabs(value - expected) > part * expected)
		fail_msg("%g is not %g", value, expected);
}

static const enum method methods[] = { METHOD_STATE_SPACE, METHOD_WEIGHTS, METHOD_CPU_TIME };

static void directions_are_apart(void **state)
{
	(void)state;
	for (int m = 0; m < 3; m++) {
		struct fixture *f = make(methods[m]);

		for (int i = 0; i < 50; i++) {
			window(f, 1000000, 500000, 100);
			did(f, 5, 1000000, 0);
			did(f, 6, 0, 500000);
		}
		split(f);
		near(f->told[IO_READS][5].given, 50e6, 0.01);
		near(f->told[IO_WRITES][6].given, 25e6, 0.01);
		assert_int_equal(f->told[IO_READS][6].bounds, 0);
		assert_int_equal(f->told[IO_WRITES][5].bounds, 0);
		drop(f);
	}
}

/* More than requests explain is nobody's, even if only one workload was there; less is theirs. */
static void what_io_does_not_explain(void **state)
{
	(void)state;
	for (int m = 0; m < 3; m++) {
		struct fixture *f = make(methods[m]);

		for (int block = 0; block < 5; block++) {
			for (int i = 0; i < 100; i++) {
				window(f, 2000000, 300000, 100);
				did(f, 5, 1000000, 400000);
				did(f, 6, 0, 200000);
			}
			split(f);
		}
		near(f->told[IO_READS][5].given, 100e6, 0.05);
		near(f->nobody[IO_READS], 100e6, 0.05);
		assert_true(f->told[IO_READS][5].high < 125e6 || methods[m] != METHOD_STATE_SPACE);
		near(f->told[IO_WRITES][5].given, 20e6, 0.03);
		near(f->told[IO_WRITES][6].given, 10e6, 0.03);
		assert_true(f->nobody[IO_WRITES] < 300000);
		drop(f);
	}
}

static void nobody_did_anything(void **state)
{
	(void)state;
	for (int m = 0; m < 3; m++) {
		struct fixture *f = make(methods[m]);

		window(f, 1000, 2000, 100);
		split(f);
		assert_int_equal(f->nobody[IO_READS], 1000);
		assert_int_equal(f->nobody[IO_WRITES], 2000);
		/* I/O in a window that was not counted is no reason to own another one */
		window(f, 1000, 2000, 100);
		window(f, 0, 0, 0);
		did(f, 5, 1 << 20, 1 << 20);
		window(f, 3000, 0, 100);
		did(f, 6, 0, 1 << 20);
		split(f);
		assert_int_equal(f->nobody[IO_READS], 4000);
		assert_int_equal(f->nobody[IO_WRITES], 2000);
		assert_int_equal(f->told[IO_READS][5].bounds, 0);
		assert_int_equal(f->told[IO_WRITES][6].bounds, 1);
		assert_int_equal(f->told[IO_WRITES][6].given, 0);
		drop(f);
	}
}

/* A counter that saw half of the window saw half of the requests' bytes. */
static void part_of_a_window(void **state)
{
	(void)state;
	for (int m = 0; m < 3; m++) {
		struct fixture *f = make(methods[m]);

		for (int i = 0; i < 100; i++) {
			window(f, 1000000, 0, 50);
			did(f, 5, 1000000, 0);
		}
		split(f);
		near(f->told[IO_READS][5].given, 50e6, 0.05);
		near(f->nobody[IO_READS], 50e6, 0.05);
		drop(f);
	}
}

/*
 * Requests that go on evenly do not tell overhead from what nobody asked for; but their bytes are
 * theirs, and so not another's. On a device that moves less than it is asked for they are not.
 */
static void bytes_of_requests_are_theirs(void **state)
{
	(void)state;
	for (int less = 0; less < 2; less++) {
		struct fixture *f = make(METHOD_STATE_SPACE);
		const struct told *t = &f->told[IO_READS][5];

		for (int i = 0; i < 100; i++) {
			window(f, less ? 800000 : 1010000, 0, 100);
			did(f, 5, 500000, 0);
			did(f, 6, 500000, 0);
		}
		split(f);
		if (less) {
			assert_true(t->low < 40e6 && t->high > 42e6);
		} else {
			near(t->low, 50e6, 0.08);
			near(t->high, 51e6, 0.08);
			assert_true(f->told[IO_READS][6].low + t->high <= 101000001);
		}
		drop(f);
	}
}

static void requests_of_nobody_known(void **state)
{
	struct fixture *f = make(METHOD_STATE_SPACE);

	(void)state;
	for (int i = 0; i < 50; i++) {
		window(f, 1000000, 0, 100);
		did(f, WORKLOAD_LOST, 500000, 0);
		did(f, 5, 500000, 0);
	}
	split(f);
	near(f->lost[IO_READS], 25e6, 0.02);
	near(f->told[IO_READS][5].given, 25e6, 0.02);
	drop(f);
}

static void exclusive_devices(void **state)
{
	(void)state;
	for (int m = 0; m < 3; m++) {
		struct fixture *f = make(methods[m]);
		struct told *t = f->told[IO_READS];

		/* one: all of it, exactly, also of what it asked the kernel for */
		for (int i = 0; i < 20; i++) {
			window(f, 1001, 77, 100);
			did(f, 5, i % 2 ? 10 : 0, 0)->exclusive = true;
		}
		split(f);
		assert_true(t[5].given == 20020 && t[5].low == 20020 && t[5].high == 20020);
		assert_true(f->told[IO_WRITES][5].low == 1540);
		assert_true(t[5].separable);
		assert_int_equal(f->nobody[IO_READS], 0);

		/* two: in equal parts, and nobody can tell */
		for (int i = 0; i < 20; i++) {
			window(f, 1001, 77, 100);
			did(f, 5, 0, 0)->exclusive = true;
			did(f, 6, 0, 0)->exclusive = true;
		}
		split(f);
		assert_int_equal(t[5].given + t[6].given, 20020);
		assert_true(t[5].given >= 10000 && t[6].given >= 10000);
		assert_true(t[5].low == 0 && t[5].high == 20020);
		assert_true(t[6].low == 0 && t[6].high == 20020);
		assert_false(t[5].separable);
		assert_int_equal(t[5].nr_inseparable, 1);
		assert_int_equal(t[5].inseparable[0], 6);

		/* two of one row are that row's */
		f->row_of[6] = 5;
		for (int i = 0; i < 20; i++) {
			window(f, 1001, 77, 100);
			did(f, 5, 0, 0)->exclusive = true;
			did(f, 6, 0, 0)->exclusive = true;
		}
		split(f);
		assert_true(t[5].given == 20020 && t[5].low == 20020 && t[5].high == 20020);
		assert_true(t[5].separable);

		/* requests of others first, and then only as much as there was */
		for (int i = 0; i < 20; i++) {
			window(f, 100000, 77, 100);
			did(f, 5, 0, 0)->exclusive = true;
			did(f, 7, 30000, 1000);
		}
		split(f);
		assert_int_equal(t[5].given, 20 * 70000);
		assert_int_equal(t[7].given, 20 * 30000);
		assert_true(t[5].low > 0 && t[5].low < t[5].given && t[5].high > t[5].given);
		assert_int_equal(f->told[IO_WRITES][7].given, 1540);
		assert_int_equal(f->told[IO_WRITES][5].given, 0);
		drop(f);
	}
}

/* Windows that are somebody's alone teach nothing about the others. */
static void exclusive_now_and_then(void **state)
{
	struct fixture *f = make(METHOD_STATE_SPACE);

	(void)state;
	for (int block = 0; block < 3; block++) {
		for (int i = 0; i < 100; i++) {
			bool alone = i >= 40 && i < 60;

			window(f, alone ? 9000000 : 1000000, 0, 100);
			if (alone)
				did(f, 5, 0, 0)->exclusive = true;
			else
				did(f, 6, 900000, 0);
		}
		split(f);
		assert_int_equal(f->told[IO_READS][5].given, 180000000);
		assert_int_equal(f->told[IO_READS][5].low, 180000000);
		near(f->told[IO_READS][6].given, 72e6, 0.08);
	}
	drop(f);
}

/* More workloads than are estimated one by one. */
static void very_many(void **state)
{
	struct fixture *f = make(METHOD_STATE_SPACE);
	struct quality q = { 0 };

	(void)state;
	for (int i = 0; i < 50; i++) {
		window(f, 400000, 0, 100);
		for (uint32_t k = 0; k < 400; k++)
			did(f, 10 + k, 1000, 0);
	}
	split(f);
	for (uint32_t k = 0; k < 400; k++) {
		near(f->told[IO_READS][10 + k].given, 50000, 0.1);
		assert_true(f->told[IO_READS][10 + k].high < 3 * 50000);
	}
	splitter_quality(f->splitter, false, &q);
	assert_int_equal(q.pooled_workloads, 400 - 255);
	assert_int_equal(q.fallback_windows, 0);
	drop(f);
}

static void lost_requests_widen_the_bars(void **state)
{
	struct trace_lost lost = { "io", 0, 0, UINT64_MAX, 1000 };
	struct fixture *f = make(METHOD_STATE_SPACE);
	uint64_t width[3];

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 50; i++) {
			window(f, 2000000, 0, 100);
			did(f, 5, 1000000, 0);
		}
		split(f);
		width[round] = f->told[IO_READS][5].high - f->told[IO_READS][5].low;
		lost.what = round ? "io" : "slices"; /* those are no matter of devices */
		splitter_lost(f->splitter, &lost);
	}
	assert_true(width[1] < 1.2 * width[0]);
	assert_true(width[2] > 2 * width[1]);
	drop(f);
}

static void errors_of_the_sink_end_it(void **state)
{
	struct fixture *f = make(METHOD_STATE_SPACE);

	(void)state;
	f->fail = -EPIPE;
	window(f, 100, 0, 100);
	did(f, 5, 100, 0);
	assert_int_equal(split_try(f), -EPIPE);
	drop(f);
}

/* Whatever comes: to the byte, inside the bars, and nothing for those who did nothing. */
static void nothing_is_lost_or_invented(void **state)
{
	static const unsigned int shifts[] = { 0, 1, 30, 44, 54 };
	struct draw d = { 7 };

	(void)state;
	for (size_t round = 0; round < draw_times(120, 12); round++) {
		struct fixture *f = make(methods[round % 3]);
		uint32_t nr = 1 + draw_below(&d, round % 10 ? 12 : 300);

		for (uint32_t i = 2; i < NR_ROWS; i++)
			f->row_of[i] = draw_below(&d, 5) ? i / (1 + round % 2) : SPLIT_NO_ROW;
		for (int block = 0; block < 4; block++) {
			size_t windows = 1 + draw_below(&d, round % 10 ? 100 : 20);
			unsigned int shift = shifts[draw_below(&d, 5)];

			for (size_t k = 0; k < windows; k++) {
				unsigned int percent =
					draw_below(&d, 3) ? 100 : draw_below(&d, 101);
				uint64_t r = draw_u64(&d) >> shift, w = draw_below(&d, 3);

				if (draw_below(&d, 10) == 0)
					f->now += draw_below(&d, 20 * MS); /* a gap */
				window(f, percent && draw_below(&d, 5) ? r : 0, percent ? w : 0,
				       percent);
				for (uint32_t i = 1; i <= nr; i++) {
					struct activity *a;

					if (draw_below(&d, 3))
						continue;
					a = did(f, i, draw_below(&d, 2) ? draw_u64(&d) >> shift : 0,
						draw_below(&d, 4));
					a->exclusive = draw_below(&d, 30) == 0;
					if (!a->io_bytes[0] && !a->io_bytes[1])
						a->exclusive = true;
				}
			}
			split(f);
			splitter_forget(f->splitter, 1 + draw_below(&d, nr));
		}
		drop(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(directions_are_apart),
		cmocka_unit_test(what_io_does_not_explain),
		cmocka_unit_test(nobody_did_anything),
		cmocka_unit_test(part_of_a_window),
		cmocka_unit_test(bytes_of_requests_are_theirs),
		cmocka_unit_test(requests_of_nobody_known),
		cmocka_unit_test(exclusive_devices),
		cmocka_unit_test(exclusive_now_and_then),
		cmocka_unit_test(very_many),
		cmocka_unit_test(lost_requests_widen_the_bars),
		cmocka_unit_test(errors_of_the_sink_end_it),
		cmocka_unit_test(nothing_is_lost_or_invented),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
