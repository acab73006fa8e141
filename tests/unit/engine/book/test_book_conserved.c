// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "book_world.h"
#include "random.h"

/* Bytes of a row in 10 ms: even, or in bursts. */
static uint64_t moved(struct draw *d, bool bursts, int *burst)
{
	if (!bursts)
		return 95000 + draw_below(d, 10000);
	if (*burst)
		--*burst;
	else if (draw_below(d, 10) == 0)
		*burst = draw_below(d, 8);
	return *burst ? 300000 : 2000;
}

/*
 * A disk that has its turn for 50 ms of each 200 ms of two seconds; two rows use it, and other
 * devices move memory, too. How often is what a row moved inside its interval?
 */
static void intervals_of_rows_hold_the_truth(void **state)
{
	size_t runs = draw_times(500, 40);

	(void)state;
	for (int bursts = 0; bursts < 2; bursts++) {
		size_t disk = 0, mine = 0, memory = 0;

		for (size_t run = 0; run < runs; run++) {
			struct draw d = { 1000 + run };
			struct world w = world_new(ROW_PROCESS, true);
			struct portion p[] = { { workload(&w, 7, 1), 0 },
					       { workload(&w, 8, 1), 0 } };
			uint64_t truth[2] = { 0 }, seen[2] = { 0 };
			const struct share *s;
			struct report *r;
			int burst[2] = { 0 };

			for (int k = 0; k < 200; k++) {
				bool turn = k / 5 % 4 == 2;
				uint64_t all[3] = { 0 }, traffic[3] = { 0 };

				for (int i = 0; i < 2; i++) {
					p[i].bytes = moved(&d, bursts, &burst[i]);
					truth[i] += p[i].bytes;
					seen[i] += turn ? p[i].bytes : 0;
					all[0] += p[i].bytes;
				}
				traffic[1] = all[0] + 50000;
				nobodys(&w, 0, traffic);
				window(&w, 2, turn ? 10 : 0, all);
				if (turn)
					bytes(&w, DISK_RD, all[0], p, 2);
			}
			for (int i = 0; i < 2; i++)
				bounds(&w, DISK_RD, p[i].workload, seen[i], seen[i]);
			r = report_of(&w);
			check(r);
			disk += r->devices[0].read.low <= truth[0] + truth[1] &&
				truth[0] + truth[1] <= r->devices[0].read.high;
			s = share(row(r, "pid:7:70"), DISK_RD);
			mine += s->low <= truth[0] && truth[0] <= s->high;
			s = share(row(r, "pid:7:70"), UCF_RD);
			memory += s->low <= truth[0] && truth[0] <= s->high;
			report_free(r);
			world_free(&w);
		}
		print_message(
			"# %s: truth inside for %zu disks, %zu rows, %zu rows' memory of %zu\n",
			bursts ? "bursts" : "even", disk, mine, memory, runs);
		assert_true(100 * disk >= 90 * runs);
		assert_true(100 * mine >= 90 * runs);
		assert_true(100 * memory >= 90 * runs);
	}
}

/* Random portions of one counter in one window. */
static void random_bytes(struct world *w, struct draw *d, uint32_t counter, uint64_t all,
			 const uint32_t *ids, size_t nr)
{
	struct portion p[16];
	uint64_t left = all;
	size_t n = 0;

	for (size_t i = 0; i < nr; i++)
		if (draw_below(d, 3) == 0) {
			p[n] = (struct portion){ ids[i], draw_below(d, left + 1) };
			left -= p[n++].bytes;
		}
	if (n && draw_below(d, 4) == 0) {
		p[n] = (struct portion){ WORKLOAD_LOST, draw_below(d, left + 1) };
		left -= p[n++].bytes;
	}
	if (n)
		p[n++] = (struct portion){ WORKLOAD_BACKGROUND, left };
	bytes(w, counter, all, p, n);
	/* once for each row */
	for (size_t i = 0; i < n && p[i].workload < WORKLOAD_BACKGROUND; i++) {
		bool first = true;

		for (size_t k = 0; k < i; k++)
			first &= number(w, p[k].workload) != number(w, p[i].workload);
		if (first)
			bounds(w, counter, p[i].workload, p[i].bytes / (1 + draw_below(d, 3)), all);
	}
}

static void random_interval(struct world *w, struct draw *d, const uint32_t *ids, size_t nr,
			    bool gaps)
{
	for (int k = 0; k < 40; k++) {
		uint32_t g = draw_below(d, 6);
		uint64_t all[4], running = 10;

		if (gaps)
			running = draw_below(d, 3)   ? 10
				  : draw_below(d, 2) ? 0
						     : 1 + draw_below(d, 9);
		for (int i = 0; i < 4; i++)
			all[i] = draw_below(d, 4) ? draw_below(d, 1ull << draw_below(d, 45)) : 0;
		window(w, g, running, all);
		for (uint32_t i = groups[g].first; running && i < groups[g].first + groups[g].nr;
		     i++)
			if (counters[i].source == SOURCE_CPU || counters[i].device)
				random_bytes(w, d, i, all[i - groups[g].first], ids,
					     counters[i].unit == UNIT_BYTES ? nr : 0);
			else
				bytes(w, i, all[i - groups[g].first], NULL, 0);
		assert_int_equal(book_io(w->book, draw_below(d, 5),
					 draw_below(d, 5) ? ids[draw_below(d, nr)] : WORKLOAD_LOST,
					 draw_below(d, 1000), draw_below(d, 1000)),
				 0);
	}
}

/* The summary is the sum: of counters, rows' shares, and what devices moved. */
static void check_sum(const struct report *sum, struct report *const *parts, size_t nr)
{
	for (size_t c = 0; c < sum->nr_counters; c++) {
		uint64_t all = 0;

		for (size_t k = 0; k < nr; k++)
			all += parts[k]->counters[c].value;
		assert_true(all == sum->counters[c].value);
		for (size_t i = 0; i < sum->nr_rows; i++) {
			const struct share *s = share(&sum->rows[i], c);

			all = 0;
			for (size_t k = 0; k < nr; k++) {
				const struct report_row *r = row(parts[k], sum->rows[i].key);
				const struct share *p = r ? share(r, c) : NULL;

				all += p ? p->value : 0;
			}
			assert_true(all == (s ? s->value : 0));
		}
	}
}

static void nothing_is_lost_or_invented(void **state)
{
	size_t runs = draw_times(300, 20);

	(void)state;
	for (size_t run = 0; run < runs; run++) {
		struct draw d = { 1 + run };
		enum row_kind by = run % 2 ? ROW_CGROUP : ROW_PROCESS;
		bool gaps = run / 2 % 2;
		struct world w = world_new(by, run / 4 % 2);
		struct book *total = new_book(w.id, by, run / 4 % 2);
		struct report *parts[4], *r = calloc(1, sizeof(*r));
		uint32_t ids[8];

		assert_int_equal(identity_cgroup(w.id, 1, "/"), 0);
		assert_int_equal(identity_cgroup(w.id, 2, "/a"), 0);
		assert_int_equal(identity_cgroup(w.id, 3, "/a/b"), 0);
		assert_int_equal(identity_select(w.id, "/a"), 0);
		for (uint32_t i = 0; i < 7; i++)
			ids[i] = workload(&w, 5 + i, 1 + draw_below(&d, 4));
		assert_int_equal(identity_workload(w.id, 0, 0, 0, 3, &ids[7]), 0);
		identity_follow(w.id, 6);
		for (int i = 0; i < 4; i++) {
			random_interval(&w, &d, ids, 8, gaps);
			parts[i] = report_of(&w);
			check(parts[i]);
			assert_int_equal(book_add(total, w.book), 0);
			book_clear(w.book);
		}
		if (gaps)
			assert_int_equal(book_fill_gaps(total), 0);
		assert_int_equal(book_report(total, r), 0);
		check(r);
		if (!gaps)
			check_sum(r, parts, 4);
		for (int i = 0; i < 4; i++)
			report_free(parts[i]);
		report_free(r);
		book_free(total);
		world_free(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_of_rows_hold_the_truth),
		cmocka_unit_test(nothing_is_lost_or_invented),
	};

	return cmocka_run_group_tests_name("book_conserved", tests, NULL, NULL);
}
