// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What an interval costs "top", beyond the run itself: it is packed, unpacked, sorted and drawn, with
 * a key between two intervals that draws it once more. CPU time of this process, not of the clock:
 * others may be busy. What the terminal's library and the terminal do is not in it.
 *
 * top [ROWS [INTERVALS]]: other sizes than 1,000 rows and ten minutes.
 */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/top/draw.h"
#include "report/top/keys.h"

#define NR_COUNTERS 4
#define NS_PER_S    1000000000ull

static const struct host_info host = { .name = "bench", .platform = "t410", .sockets = 2 };
static struct counter counters[NR_COUNTERS];

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

static void fill_row(struct report_row *row, uint32_t i, uint64_t second)
{
	row->kind = ROW_PROCESS;
	row->leaf = row->comm_known = true;
	row->separable = i % 10 != 0;
	row->pid = 1000 + i;
	snprintf(row->key, sizeof(row->key), "pid:%u:%u", row->pid, i);
	snprintf(row->comm, sizeof(row->comm), "worker%u", i % 100);
	if (asprintf(&row->cgroup, "/machine.slice/tenant%u.service", i % 50) < 0)
		abort();
	row->on_cpu_ns = 3000000 + i * 1000;
	row->nr_shares = 2;
	row->shares = must(calloc(2, sizeof(*row->shares)));
	for (uint32_t k = 0; k < 2; k++) {
		uint64_t bytes = 10000000 + (i * 7919ull + second * 104729) % 9000000;

		row->shares[k] = (struct share){ (i % 2) * 2 + k, bytes, bytes / 2, bytes * 2,
						 row->separable };
	}
}

static struct report *make(uint32_t rows, uint64_t second)
{
	struct report *r = must(calloc(1, sizeof(*r)));

	r->host = &host;
	r->start_ns = second * NS_PER_S;
	r->end_ns = (second + 1) * NS_PER_S;
	r->nr_counters = NR_COUNTERS;
	r->counters = must(calloc(NR_COUNTERS, sizeof(*r->counters)));
	for (int i = 0; i < NR_COUNTERS; i++)
		r->counters[i] = (struct report_counter){
			.counter = &counters[i],
			.valid = true,
			.enabled_ns = NS_PER_S,
			.running_ns = NS_PER_S,
		};
	r->nr_sockets = 2;
	r->sockets = must(calloc(2, sizeof(*r->sockets)));
	r->sockets[1].id = 1;
	r->rows = must(calloc(rows + 1, sizeof(*r->rows)));
	r->nr_rows = rows;
	for (uint32_t i = 0; i < rows; i++) {
		struct report_row *row = &r->rows[i];

		fill_row(row, i, second);
		for (size_t k = 0; k < row->nr_shares; k++) {
			struct report_counter *c = &r->counters[row->shares[k].counter];

			c->value += row->shares[k].value;
			c->attributed += row->shares[k].value;
		}
	}
	return r;
}

static void draw(struct view *v, struct canvas *c)
{
	if (canvas_resize(c, 60, 200) || draw_view(v, c))
		abort();
}

static void run(const char *what, uint32_t rows, uint32_t seconds, bool tree)
{
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
	struct past *past = must(past_new(PAST_MAX_BYTES));
	struct canvas canvas = { 0 };
	uint64_t spent = 0, key = 0;
	struct view v;

	view_init(&v, past);
	v.tree = tree;
	for (uint32_t k = 0; k < seconds; k++) {
		struct report *r = make(rows, k);
		uint64_t start = cpu_ns();

		if (view_add(&v, r))
			abort();
		draw(&v, &canvas);
		spent += cpu_ns() - start;
		report_free(r);
		start = cpu_ns();
		keys_press(&v, KEYS_ARROW_DOWN);
		draw(&v, &canvas);
		key += cpu_ns() - start;
	}
	printf("%s: %u rows, %u intervals of 1 s: %.2f ms an interval, %.3f%% of a CPU; %.2f ms a "
	       "key; %zu intervals kept in %.1f MiB\n",
	       what, rows, seconds, (double)spent / seconds / 1e6, (double)spent / seconds / 1e7,
	       (double)key / seconds / 1e6, past_count(past),
	       (double)(mallinfo2().uordblks + mallinfo2().hblkhd - before) / (1 << 20));
	view_free(&v);
	past_free(past);
	canvas_free(&canvas);
}

int main(int argc, char **argv)
{
	uint32_t rows = argc > 1 ? (uint32_t)atoi(argv[1]) : 1000;
	uint32_t seconds = argc > 2 ? (uint32_t)atoi(argv[2]) : 600;

	for (uint32_t i = 0; i < NR_COUNTERS; i++) {
		counters[i].socket = counters[i].group = i / 2;
		counters[i].direction = i % 2 ? DIRECTION_WRITE : DIRECTION_READ;
		snprintf(counters[i].name, sizeof(counters[i].name), "ucf%u/mem_bytes", i);
	}
	run("list", rows, seconds, false);
	run("tree", rows, seconds, true);
	return 0;
}
