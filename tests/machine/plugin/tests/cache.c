/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cache model without QEMU: run by plugin/tests/run. What it must do is known by counting
 * lines, or from a second model that searches one list per set.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cache.h"
#include "check.h"

#define L2_KIB	  8  /* 128 lines */
#define LLC_KIB	  32 /* 512 lines */
#define L2_LINES  (L2_KIB * 16)
#define LLC_LINES (LLC_KIB * 16)
#define L2_WAYS	  8
#define LLC_WAYS  16
#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

static uint64_t moved[2][2];

/* In place of watch.c */
void cache_moved(unsigned int socket, bool written)
{
	moved[socket][written]++;
}

static void start(unsigned int cpus, unsigned int sockets)
{
	memset(moved, 0, sizeof(moved));
	CHECK(cache_setup(cpus, sockets, L2_KIB, LLC_KIB), 0);
}

static void walk(unsigned int cpu, uint64_t from, uint64_t nr, bool store)
{
	for (uint64_t i = 0; i < nr; i++)
		cache_touch(cpu, from + i, store);
}

/* What there is of a process, by pid */
static struct cache_owner owner(uint64_t pid)
{
	struct cache_owner o, none = { 0 };

	for (unsigned int i = 0; cache_get_owner(i, &o); i++)
		if (o.pid == pid)
			return o;
	return none;
}

static void test_sizes(void)
{
	CHECK(cache_setup(4, 2, 48, 512) < 0, 1);
	CHECK(cache_setup(4, 2, 64, 0) < 0, 1);
	CHECK(cache_setup(4, 0, 64, 512) < 0, 1);
	CHECK(cache_setup(CACHE_MAX_CPUS + 1, 2, 64, 512) < 0, 1);
}

static void test_what_fits_is_read_once(void)
{
	start(1, 1);
	for (int i = 0; i < 3; i++)
		walk(0, 1000, L2_LINES, false);
	CHECK(moved[0][0], L2_LINES);
	CHECK(cache_count(0).loads, 3 * L2_LINES);
	/* more than the L2 holds, and no more than the LLC does */
	for (int i = 0; i < 3; i++)
		walk(0, 1000, LLC_LINES, false);
	CHECK(moved[0][0], LLC_LINES);
	CHECK(cache_count(0).refills, LLC_LINES);
	CHECK(moved[0][1], 0);
}

static void test_what_is_too_large_never_stays(void)
{
	start(1, 1);
	for (int i = 0; i < 3; i++)
		walk(0, 0, 2 * LLC_LINES, false);
	CHECK(moved[0][0], 6 * LLC_LINES);
}

static void test_dirty_lines_are_written_once(void)
{
	start(1, 1);
	cache_work_for(0, 7, 1);
	walk(0, 0, LLC_LINES, true);
	walk(0, 0, LLC_LINES, true);
	CHECK(moved[0][1], 0);
	CHECK(cache_count(0).stores, 2 * LLC_LINES);
	/* whoever pushes them out, they are the first one's */
	cache_work_for(0, 7, 2);
	walk(0, 10 * LLC_LINES, 4 * LLC_LINES, false);
	CHECK(moved[0][1], LLC_LINES);
	CHECK(owner(1).write_backs, LLC_LINES);
	CHECK(owner(1).pushed_out, 0);
	CHECK(owner(2).write_backs, 0);
	CHECK(owner(2).pushed_out, LLC_LINES);
	CHECK(owner(1).refills, LLC_LINES);
	CHECK(owner(2).refills, 4 * LLC_LINES);
	CHECK(owner(2).cgroup, 7);
}

static void test_sockets_and_cpus(void)
{
	start(4, 2);
	walk(0, 0, L2_LINES, false);
	walk(1, 0, L2_LINES, false); /* from the LLC */
	CHECK(moved[0][0], L2_LINES);
	CHECK(moved[1][0], 0);
	walk(3, 0, L2_LINES, false);
	CHECK(moved[1][0], L2_LINES);
	CHECK(cache_count(1).refills, 0);
	CHECK(cache_count(3).refills, L2_LINES);
	CHECK(cache_count(4).loads, 0);
}

/* --- a second model: one list of numbers a set, the last used one at the end */

struct list {
	uint64_t line[LLC_WAYS];
	bool dirty[LLC_WAYS];
	unsigned int nr;
};
static struct list lists_l2[L2_LINES / L2_WAYS], lists_llc[LLC_LINES / LLC_WAYS];

/* Takes a line out: 1 if it was there, 2 if dirty */
static int take(struct list *l, uint64_t line)
{
	for (unsigned int i = 0; i < l->nr; i++)
		if (l->line[i] == line) {
			int found = 1 + l->dirty[i];

			l->nr--;
			memmove(&l->line[i], &l->line[i + 1], (l->nr - i) * sizeof(l->line[0]));
			memmove(&l->dirty[i], &l->dirty[i + 1], (l->nr - i) * sizeof(bool));
			return found;
		}
	return 0;
}

static void append(struct list *l, uint64_t line, bool dirty)
{
	l->line[l->nr] = line;
	l->dirty[l->nr++] = dirty;
}

static void plain_llc(uint64_t line, bool dirty, uint64_t *reads, uint64_t *writes)
{
	struct list *l = &lists_llc[line % LENGTH(lists_llc)];
	int was = take(l, line);

	if (!was && l->nr == LLC_WAYS)
		*writes += take(l, l->line[0]) == 2;
	*reads += !was && !dirty;
	append(l, line, dirty || was == 2);
}

static void plain(uint64_t line, bool store, uint64_t *reads, uint64_t *writes)
{
	struct list *l = &lists_l2[line % LENGTH(lists_l2)];
	int was = take(l, line), old = 0;
	uint64_t victim = 0;

	if (!was && l->nr == L2_WAYS) {
		victim = l->line[0];
		old = take(l, victim);
	}
	append(l, line, store || was == 2);
	if (!was)
		plain_llc(line, false, reads, writes);
	if (old == 2)
		plain_llc(victim, true, reads, writes);
}

static void test_against_the_second_model(void)
{
	uint64_t reads = 0, writes = 0;

	start(1, 1);
	srand(11);
	for (int i = 0; i < 300000; i++) {
		uint64_t line = (uint64_t)rand() % (i % 3 ? 300 : 3000);
		bool store = rand() % 4 == 0;

		cache_touch(0, line, store);
		plain(line, store, &reads, &writes);
	}
	CHECK(moved[0][0], reads);
	CHECK(moved[0][1], writes);
	CHECK(reads > 1000 && writes > 1000, 1);
}

int main(void)
{
	test_sizes();
	test_what_fits_is_read_once();
	test_what_is_too_large_never_stays();
	test_dirty_lines_are_written_once();
	test_sockets_and_cpus();
	test_against_the_second_model();
	return checks_end("cache model");
}
