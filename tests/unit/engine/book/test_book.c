// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/book/book.h"
#include "engine/book/book_rows.h"

static uint32_t cpu_socket[] = { 0, 0 };
static uint32_t socket_ids[] = { 0 };
static struct counter counters[] = {
	{ .name = "rd", .source = SOURCE_CPU },
	{ .name = "dev", .source = SOURCE_DEVICE, .direction = DIRECTION_WRITE },
	{ .name = "rem", .source = SOURCE_REMOTE },
};
static struct group groups[] = { { 0, 0, 3 } };
static const struct layout layout = {
	.cpu_socket = cpu_socket,
	.nr_cpus = 2,
	.socket_ids = socket_ids,
	.nr_sockets = 1,
	.counters = counters,
	.nr_counters = 3,
	.groups = groups,
	.nr_groups = 1,
};
static const struct reading counted[3] = { { 0, 10, 10 }, { 0, 10, 10 }, { 0, 10, 10 } };

struct world {
	struct identity *id;
	struct book *book;
	struct split_sink sink;
};

static struct world world_new(enum row_kind by, bool all)
{
	struct book_scope scope = { .by = by, .all = all };
	struct world w;

	assert_int_equal(identity_new(&w.id), 0);
	assert_int_equal(book_new(&layout, &scope, w.id, &w.book), 0);
	w.sink = book_sink(w.book);
	return w;
}

static void world_free(struct world *w)
{
	book_free(w->book);
	identity_free(w->id);
}

static uint32_t workload(struct world *w, uint32_t pid, uint64_t cgroup, const char *comm)
{
	struct trace_task n = {
		.pid = pid, .tgid = pid, .start_ns = pid * 10, .comm = comm, .cgroup_id = cgroup
	};
	uint32_t id;

	assert_int_equal(identity_task(w->id, &n, NULL), 0);
	assert_int_equal(identity_workload(w->id, pid, pid, pid * 10, cgroup, &id), 0);
	return id;
}

static void window(struct world *w, const struct reading *r)
{
	const struct trace_window window = { 0, 0, 10, r };

	assert_int_equal(w->sink.window(w->sink.arg, &window), 0);
}

static void bytes(struct world *w, uint32_t counter, uint64_t bytes, const struct portion *p,
		  size_t nr)
{
	const struct trace_window window = { 0, 0, 10, counted };

	assert_int_equal(w->sink.bytes(w->sink.arg, counter, &window, bytes, p, nr), 0);
}

static uint32_t number(struct world *w, uint32_t workload)
{
	uint32_t row;

	assert_int_equal(w->sink.row(w->sink.arg, workload, &row), 0);
	return row;
}

static void bounds(struct world *w, uint32_t workload, uint64_t low, uint64_t high)
{
	struct bounds b = {
		.row = number(w, workload), .low = low, .high = high, .separable = true
	};

	assert_int_equal(w->sink.bounds(w->sink.arg, 0, &b), 0);
}

/* What is sure whatever the intensities are, by row: all when it is alone, else nothing. */
static void bound_rows(struct world *w, uint64_t all, const uint32_t *ids, size_t nr)
{
	uint32_t rows[16];
	size_t different = 0;

	for (size_t i = 0; i < nr; i++) {
		size_t k = 0;

		rows[i] = number(w, ids[i]);
		while (rows[k] != rows[i])
			k++;
		different += k == i;
	}
	for (size_t i = 0; i < nr; i++) {
		size_t k = 0;

		while (rows[k] != rows[i])
			k++;
		if (k == i && rows[i] != SPLIT_NO_ROW)
			bounds(w, ids[i], different == 1 ? all : 0, all);
	}
}

/* One window in which @nr workloads ran for 10 ns each and split @all of counter 0. */
static void split(struct world *w, uint64_t all, const uint32_t *ids, size_t nr)
{
	struct portion p[16];

	window(w, counted);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(book_on_cpu(w->book, 0, ids[i], 10), 0);
		p[i] = (struct portion){ ids[i], all / nr + (i < all % nr) };
	}
	bytes(w, 0, all, p, nr);
	bound_rows(w, all, ids, nr);
}

static struct report *report_of(struct world *w)
{
	struct report *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	assert_int_equal(book_finish(w->book), 0);
	assert_int_equal(book_report(w->book, r), 0);
	return r;
}

static const struct report_row *row(const struct report *r, const char *key)
{
	for (size_t i = 0; i < r->nr_rows; i++)
		if (!strcmp(r->rows[i].key, key))
			return &r->rows[i];
	return NULL;
}

static void check_conserved(const struct report *r)
{
	for (size_t c = 0; c < r->nr_counters; c++) {
		uint64_t sum = 0;

		for (size_t i = 0; i < r->nr_rows; i++)
			for (size_t k = 0; k < r->rows[i].nr_shares; k++)
				if (r->rows[i].leaf && r->rows[i].shares[k].counter == c)
					sum += r->rows[i].shares[k].value;
		assert_true(sum == r->counters[c].attributed);
		for (int k = 0; k < NR_REASONS; k++)
			sum += r->counters[c].unattributed[k];
		assert_true(sum == r->counters[c].value);
	}
}

static void rows_and_reasons(void **state)
{
	struct world w = world_new(ROW_PROCESS, true);
	uint32_t ids[] = { workload(&w, 7, 1, "a"), workload(&w, 8, 1, "b"), WORKLOAD_LOST };
	const struct report_row *a;
	struct report *r;

	(void)state;
	split(&w, 100, ids, 2);
	split(&w, 31, ids, 3);
	split(&w, 5, NULL, 0);
	assert_int_equal(book_on_cpu(w.book, 0, WORKLOAD_IDLE, 3), 0);
	bytes(&w, 1, 70, NULL, 0);
	bytes(&w, 2, 9, NULL, 0);
	r = report_of(&w);
	check_conserved(r);
	a = row(r, "pid:7:70");
	assert_non_null(a);
	assert_string_equal(a->comm, "a");
	assert_int_equal(a->nr_shares, 1); /* device and remote counters have none */
	assert_int_equal(a->shares[0].value, 50 + 11);
	assert_int_equal(a->shares[0].low, 0);
	assert_int_equal(a->shares[0].high, 131);
	assert_int_equal(a->on_cpu_ns, 20);
	assert_int_equal(r->counters[0].unattributed[REASON_LOST], 10);
	assert_int_equal(r->counters[0].unattributed[REASON_IDLE], 5);
	assert_int_equal(r->counters[1].unattributed[REASON_DEVICE], 70);
	assert_int_equal(r->counters[2].unattributed[REASON_REMOTE], 9);
	assert_int_equal(r->sockets[0].busy_ns, 40);
	assert_int_equal(r->sockets[0].lost_ns, 10);
	assert_int_equal(r->sockets[0].idle_ns, 3);
	assert_int_equal(r->quality.lost_slices_ns, 10);
	report_free(r);
	world_free(&w);
}

static void only_what_was_asked_for(void **state)
{
	struct world w = world_new(ROW_PROCESS, false);
	uint32_t ids[] = { workload(&w, 7, 1, "mine"), workload(&w, 8, 1, "not mine"),
			   workload(&w, 9, 2, "in my cgroup") };
	struct report *r;

	(void)state;
	workload(&w, 10, 1, "mine, asleep");
	identity_follow(w.id, 7);
	identity_follow(w.id, 10);
	assert_int_equal(identity_cgroup(w.id, 2, "/job"), 0);
	assert_int_equal(identity_select(w.id, "/job"), 0);
	split(&w, 300, ids, 3);
	r = report_of(&w);
	check_conserved(r);
	assert_int_equal(r->nr_rows, 3);
	assert_int_equal(row(r, "pid:7:70")->shares[0].value, 100);
	assert_string_equal(row(r, "pid:9:90")->cgroup, "/job");
	assert_int_equal(r->counters[0].unattributed[REASON_OTHER], 100);
	/* a process that did nothing is a row too */
	assert_int_equal(row(r, "pid:10:100")->shares[0].value, 0);
	report_free(r);
	world_free(&w);
}

static void no_reading_no_value(void **state)
{
	struct reading none[3] = { { 0, 10, 0 }, { 0, 10, 10 }, { 0, 10, 10 } };
	struct world w = world_new(ROW_PROCESS, true);
	struct report *r;

	(void)state;
	workload(&w, 7, 1, "a");
	window(&w, none);
	r = report_of(&w);
	assert_false(r->counters[0].valid);
	assert_true(r->counters[1].valid);
	report_free(r);
	world_free(&w);
}

/* Counted a third of the time: scaled once, and still exact. */
static void shared_counters_are_scaled(void **state)
{
	struct reading third[3] = { { 0, 30, 10 }, { 0, 10, 10 }, { 0, 10, 10 } };
	struct world w = world_new(ROW_PROCESS, true);
	uint32_t ids[] = { workload(&w, 7, 1, "a"), workload(&w, 8, 1, "b") };
	struct portion p[] = { { ids[0], 33 }, { ids[1], 67 } }, alone = { ids[0], 10 };
	const struct report_row *a;
	struct report *r;

	(void)state;
	window(&w, third);
	bytes(&w, 0, 100, p, 2);
	bytes(&w, 0, 7, NULL, 0);
	bytes(&w, 0, 10, &alone, 1);
	bounds(&w, ids[0], 10, 110);
	bounds(&w, ids[1], 0, 100);
	r = report_of(&w);
	check_conserved(r);
	a = row(r, "pid:7:70");
	assert_int_equal(r->counters[0].value, 351);
	assert_int_equal(r->counters[0].unattributed[REASON_IDLE], 21);
	assert_int_equal(a->shares[0].value, 129);
	assert_int_equal(a->shares[0].low, 10); /* seen while it was alone */
	/* 3 times 110; what was not counted may differ; and the begin of a turn that short */
	assert_int_equal(a->shares[0].high, 330 + 165 + 129);
	assert_int_equal(row(r, "pid:8:80")->shares[0].high, 300 + 321 + 201);
	/* The same of all: what was counted is sure */
	assert_int_equal(r->counters[0].low, 117);
	assert_int_equal(r->counters[0].high, 351 + 484 + 351);
	report_free(r);
	world_free(&w);
}

/* 10,000 bytes seen half of the time, in @nr windows: how far is the scaled value in doubt? */
static uint64_t doubt_of(int nr)
{
	struct reading half[3] = { { 0, 20, 10 }, { 0, 10, 10 }, { 0, 10, 10 } };
	struct world w = world_new(ROW_PROCESS, true);
	uint32_t ids[] = { workload(&w, 7, 1, "a"), workload(&w, 8, 1, "b") };
	struct portion p[] = { { ids[0], 10000 / nr }, { ids[1], 100000 / nr } };
	const struct report_row *a;
	struct report *r;
	uint64_t doubt;

	for (int i = 0; i < nr; i++) {
		window(&w, half);
		bytes(&w, 0, 110000 / nr, p, 2);
		bounds(&w, ids[0], 10000 / nr, 10000 / nr);
		bounds(&w, ids[1], 100000 / nr, 100000 / nr);
	}
	r = report_of(&w);
	check_conserved(r);
	a = row(r, "pid:7:70");
	assert_int_equal(a->shares[0].value, 20000);
	assert_int_equal(a->shares[0].low >= 10000, 1); /* these were seen */
	/* The other side has the begins of turns, too, and they are short. */
	doubt = a->shares[0].value - a->shares[0].low;
	assert_true(a->shares[0].high > a->shares[0].value + doubt);
	report_free(r);
	world_free(&w);
	return doubt;
}

/* Few large lumps may have come while nobody looked, or only then. */
static void lumps_widen_scaled_bounds(void **state)
{
	(void)state;
	/* even traffic: 30% of what was not seen */
	assert_int_equal(doubt_of(1000), 3000);
	/* 1.96 * sqrt(2 * (2 - 1) * nr * (10000 / nr)^2) */
	assert_int_equal(doubt_of(10), 8766);
	assert_int_equal(doubt_of(40), 4383);
}

/* Two processes of one cgroup alone in a window: the cgroup owns it, neither process does. */
static void alone_as_a_cgroup(void **state)
{
	struct world w = world_new(ROW_CGROUP, true);
	uint32_t ids[] = { workload(&w, 7, 5, "a"), workload(&w, 8, 5, "b") };
	const struct report_row *c;
	struct report *r;

	(void)state;
	assert_int_equal(identity_cgroup(w.id, 5, "/x"), 0);
	split(&w, 101, ids, 2);
	r = report_of(&w);
	check_conserved(r);
	c = row(r, "cgroup:5");
	assert_int_equal(c->shares[0].value, 101);
	assert_int_equal(c->shares[0].low, 101);
	assert_int_equal(c->shares[0].high, 101);
	report_free(r);
	world_free(&w);
}

static void parents_include_children(void **state)
{
	struct world w = world_new(ROW_CGROUP, true);
	uint32_t ids[] = { workload(&w, 7, 1, "in root"), workload(&w, 8, 2, "in job"),
			   workload(&w, 9, 3, "in step"), workload(&w, 10, 99, "nameless") };
	const struct report_row *root, *job, *step;
	struct report *r;

	(void)state;
	assert_int_equal(identity_cgroup(w.id, 1, "/"), 0);
	assert_int_equal(identity_cgroup(w.id, 2, "/job"), 0);
	assert_int_equal(identity_cgroup(w.id, 3, "/job/step"), 0);
	split(&w, 400, ids, 4);
	r = report_of(&w);
	check_conserved(r);
	root = row(r, "cgroup:1");
	job = row(r, "cgroup:2");
	step = row(r, "cgroup:3");
	assert_false(root->leaf);
	assert_false(job->leaf);
	assert_true(step->leaf);
	assert_int_equal(root->shares[0].value, 300);
	assert_int_equal(job->shares[0].value, 200);
	assert_int_equal(step->shares[0].value, 100);
	assert_string_equal(step->parent, "cgroup:2");
	assert_string_equal(job->parent, "cgroup:1");
	assert_string_equal(root->parent, "");
	assert_true(row(r, "cgroup:2:own")->leaf);
	assert_string_equal(row(r, "cgroup:2:own")->parent, "cgroup:2");
	assert_string_equal(row(r, "cgroup:1:own")->parent, "cgroup:1");
	assert_null(row(r, "cgroup:99")->cgroup);
	assert_int_equal(job->on_cpu_ns, 20);
	/* bounds of children add up to more than the counter: clipped */
	assert_true(root->shares[0].high <= r->counters[0].value);
	report_free(r);
	world_free(&w);
}

static void nothing_above_the_selection(void **state)
{
	struct world w = world_new(ROW_CGROUP, false);
	uint32_t ids[] = { workload(&w, 9, 3, "in step") };
	struct report *r;

	(void)state;
	assert_int_equal(identity_cgroup(w.id, 1, "/"), 0);
	assert_int_equal(identity_cgroup(w.id, 2, "/job"), 0);
	assert_int_equal(identity_cgroup(w.id, 3, "/job/step"), 0);
	assert_int_equal(identity_select(w.id, "/job"), 0);
	split(&w, 50, ids, 1);
	r = report_of(&w);
	check_conserved(r);
	assert_null(row(r, "cgroup:1"));
	assert_int_equal(row(r, "cgroup:2")->shares[0].value, 50);
	report_free(r);
	world_free(&w);
}

static void the_total_is_the_sum(void **state)
{
	struct world w = world_new(ROW_PROCESS, true);
	struct book_scope scope = { .by = ROW_PROCESS, .all = true };
	struct book *total;
	struct report *r = calloc(1, sizeof(*r));
	uint32_t ids[] = { workload(&w, 7, 1, "a"), workload(&w, 8, 1, "b") };

	(void)state;
	assert_int_equal(book_new(&layout, &scope, w.id, &total), 0);
	for (int i = 0; i < 3; i++) {
		split(&w, 101, ids, 2);
		assert_int_equal(book_finish(w.book), 0);
		assert_int_equal(book_add(total, w.book), 0);
		book_clear(w.book);
	}
	assert_int_equal(book_report(total, r), 0);
	check_conserved(r);
	assert_int_equal(r->counters[0].value, 303);
	assert_int_equal(r->quality.windows, 3);
	assert_int_equal(row(r, "pid:7:70")->shares[0].value, 153);
	report_free(r);
	book_free(total);
	world_free(&w);
}

/* Three intervals of 100 bytes, each shared with another; @first: bounds of the first one. */
static uint64_t low_of_three(struct bounds first)
{
	struct world w = world_new(ROW_PROCESS, true);
	struct book_scope scope = { .by = ROW_PROCESS, .all = true };
	struct report *r = calloc(1, sizeof(*r));
	struct book *total;
	uint64_t low;

	assert_int_equal(book_new(&layout, &scope, w.id, &total), 0);
	for (int i = 0; i < 3; i++) {
		struct bounds b = { .high = 100, .below = 30, .separable = true };
		uint32_t ids[] = { workload(&w, 7, 1, "a"), workload(&w, 8, 1, "b") };

		split(&w, 100, ids, 2);
		b = i ? b : first;
		b.row = number(&w, ids[0]);
		assert_int_equal(w.sink.bounds(w.sink.arg, 0, &b), 0);
		assert_int_equal(book_finish(w.book), 0);
		assert_int_equal(book_add(total, w.book), 0);
		book_clear(w.book);
	}
	assert_int_equal(book_report(total, r), 0);
	low = row(r, "pid:7:70")->shares[0].low;
	report_free(r);
	book_free(total);
	world_free(&w);
	return low;
}

/* Bars that would have begun below 0 take it back from the others, but nothing of what is sure. */
static void what_was_cut_off_counts_in_the_total(void **state)
{
	struct bounds first = { .low = 25, .high = 90, .separable = true };

	(void)state;
	assert_int_equal(low_of_three(first), 0);
	first.low = 70;
	assert_int_equal(low_of_three(first), 10);
	first.sure = 40;
	assert_int_equal(low_of_three(first), 40);
}

/* Rows of ended processes beyond the limit are pooled; bytes and CPU time stay. */
static void too_many_rows_are_pooled(void **state)
{
	struct world w = world_new(ROW_PROCESS, true);
	struct report *r;
	uint64_t on_cpu = 0;

	(void)state;
	for (uint32_t pid = 10; pid < 110; pid++) {
		uint32_t id = workload(&w, pid, 1, "short");

		split(&w, pid, &id, 1);
		if (pid != 50)
			identity_exit(w.id, pid, pid * 10);
	}
	assert_int_equal(book_finish(w.book), 0);
	assert_int_equal(book_pool(w.book, 40), 0);
	r = calloc(1, sizeof(*r));
	assert_int_equal(book_report(w.book, r), 0);
	check_conserved(r);
	assert_true(r->nr_rows <= 41);
	assert_int_equal(r->quality.rows_pooled, 100 - (r->nr_rows - 1));
	assert_non_null(row(r, "pid:50:500"));	 /* alive */
	assert_non_null(row(r, "pid:109:1090")); /* large */
	assert_string_equal(row(r, "pid:0:0")->comm, "(pooled)");
	for (size_t i = 0; i < r->nr_rows; i++)
		on_cpu += r->rows[i].on_cpu_ns;
	assert_int_equal(on_cpu, 1000);
	report_free(r);
	world_free(&w);
}

/* What goes on whatever the workloads do is nobody's, and says so. */
static void the_background_has_a_reason(void **state)
{
	struct world w = world_new(ROW_PROCESS, true);
	uint32_t id = workload(&w, 7, 1, "a");
	struct portion p[] = { { id, 90 }, { WORKLOAD_BACKGROUND, 12 } };
	struct report *r;

	(void)state;
	window(&w, counted);
	bytes(&w, 0, 102, p, 2);
	bounds(&w, id, 80, 101);
	r = report_of(&w);
	check_conserved(r);
	assert_int_equal(r->counters[0].unattributed[REASON_BACKGROUND], 12);
	assert_int_equal(row(r, "pid:7:70")->shares[0].value, 90);
	assert_int_equal(row(r, "pid:7:70")->shares[0].low, 80);
	assert_int_equal(row(r, "pid:7:70")->shares[0].high, 101);
	report_free(r);
	world_free(&w);
}

/* Workloads of a row have its number; what is not a row has none. */
static void rows_have_numbers(void **state)
{
	struct world w = world_new(ROW_PROCESS, false);
	uint32_t a = workload(&w, 7, 1, "a"), moved, other = workload(&w, 8, 1, "other");

	(void)state;
	assert_int_equal(identity_workload(w.id, 7, 7, 70, 2, &moved), 0);
	assert_int_not_equal(a, moved);
	identity_follow(w.id, 7);
	assert_int_equal(number(&w, a), number(&w, moved));
	assert_int_not_equal(number(&w, a), SPLIT_NO_ROW);
	assert_int_equal(number(&w, other), SPLIT_NO_ROW);
	assert_int_equal(number(&w, WORKLOAD_LOST), SPLIT_NO_ROW);
	book_clear(w.book);
	assert_int_equal(number(&w, moved), 0); /* begins anew with each interval */
	world_free(&w);
}

/* Most of a row's bytes are from blocks in which it could not be told from another. */
static void tangled_rows_name_each_other(void **state)
{
	struct world w = world_new(ROW_PROCESS, true);
	uint32_t ids[] = { workload(&w, 7, 1, "a"), workload(&w, 8, 1, "b"),
			   workload(&w, 9, 1, "c") };
	struct book_scope scope = { .by = ROW_PROCESS, .all = true };
	uint32_t a, b;
	struct bounds tangled;
	struct report *r;
	struct book *total;

	(void)state;
	split(&w, 300, ids, 3);
	a = number(&w, ids[0]);
	b = number(&w, ids[1]);
	tangled = (struct bounds){
		.row = a, .high = 5000, .inseparable = &b, .nr_inseparable = 1, .pooled = 50
	};
	assert_int_equal(w.sink.bounds(w.sink.arg, 0, &tangled), 0);
	assert_int_equal(w.sink.bounds(w.sink.arg, 0, &tangled), 0);
	tangled = (struct bounds){
		.row = b, .high = 200, .inseparable = &a, .nr_inseparable = 1, .pooled = 49
	}; /* too little to matter */
	assert_int_equal(w.sink.bounds(w.sink.arg, 0, &tangled), 0);
	assert_int_equal(book_new(&layout, &scope, w.id, &total), 0);
	assert_int_equal(book_finish(w.book), 0);
	assert_int_equal(book_add(total, w.book), 0);
	r = calloc(1, sizeof(*r));
	assert_int_equal(book_report(total, r), 0);
	assert_false(row(r, "pid:7:70")->separable);
	assert_false(row(r, "pid:7:70")->shares[0].separable);
	assert_int_equal(row(r, "pid:7:70")->nr_tangled, 1);
	assert_int_equal(row(r, "pid:7:70")->nr_tangled_all, 1);
	assert_string_equal(row(r, "pid:7:70")->tangled[0], "pid:8:80");
	assert_true(row(r, "pid:8:80")->separable);
	assert_int_equal(row(r, "pid:8:80")->nr_tangled, 0);
	assert_true(row(r, "pid:9:90")->separable);
	/* Of 100 bytes of each row: 2 * 50, 49, none. */
	assert_true(row(r, "pid:7:70")->pooled);
	assert_false(row(r, "pid:8:80")->pooled);
	assert_false(row(r, "pid:9:90")->pooled);
	report_free(r);
	book_free(total);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_and_reasons),
		cmocka_unit_test(only_what_was_asked_for),
		cmocka_unit_test(no_reading_no_value),
		cmocka_unit_test(shared_counters_are_scaled),
		cmocka_unit_test(lumps_widen_scaled_bounds),
		cmocka_unit_test(alone_as_a_cgroup),
		cmocka_unit_test(parents_include_children),
		cmocka_unit_test(nothing_above_the_selection),
		cmocka_unit_test(the_total_is_the_sum),
		cmocka_unit_test(what_was_cut_off_counts_in_the_total),
		cmocka_unit_test(too_many_rows_are_pooled),
		cmocka_unit_test(the_background_has_a_reason),
		cmocka_unit_test(rows_have_numbers),
		cmocka_unit_test(tangled_rows_name_each_other),
	};

	return cmocka_run_group_tests_name("book", tests, NULL, NULL);
}
