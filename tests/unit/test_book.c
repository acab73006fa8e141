// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/book.h"
#include "engine/book_rows.h"

static const uint32_t cpu_socket[] = { 0, 0 };
static const uint32_t socket_ids[] = { 0 };
static const struct counter counters[] = {
	{ .name = "rd", .source = SOURCE_CPU },
	{ .name = "dev", .source = SOURCE_DEVICE, .direction = DIRECTION_WRITE },
	{ .name = "rem", .source = SOURCE_REMOTE },
};
static const struct group groups[] = { { 0, 0, 3 } };
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
	struct timeline_sink sink;
};

static struct world world_new(enum row_kind by, bool all)
{
	struct book_scope scope = { by, all };
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

/* One window in which @nr workloads ran for 10 ns each and split @bytes of counter 0. */
static void split(struct world *w, uint64_t bytes, const uint32_t *ids, size_t nr)
{
	struct claim claims[16];
	struct estimate e[16];

	assert_int_equal(w->sink.window(w->sink.arg, 0, 10, counted), 0);
	for (size_t i = 0; i < nr; i++) {
		claims[i] = (struct claim){ ids[i], 10 };
		assert_int_equal(w->sink.on_cpu(w->sink.arg, 0, ids[i], 10), 0);
	}
	if (nr)
		assert_int_equal(estimate_window(bytes, claims, nr, e), 0);
	assert_int_equal(w->sink.bytes(w->sink.arg, 0, bytes, claims, e, nr), 0);
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
	assert_int_equal(w.sink.on_cpu(w.sink.arg, 0, WORKLOAD_IDLE, 3), 0);
	assert_int_equal(w.sink.bytes(w.sink.arg, 1, 70, NULL, NULL, 0), 0);
	assert_int_equal(w.sink.bytes(w.sink.arg, 2, 9, NULL, NULL, 0), 0);
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
	assert_int_equal(w.sink.window(w.sink.arg, 0, 10, none), 0);
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
	struct claim claims[] = { { ids[0], 1 }, { ids[1], 2 } };
	struct estimate e[2];
	const struct report_row *a;
	struct report *r;

	(void)state;
	assert_int_equal(w.sink.window(w.sink.arg, 0, 10, third), 0);
	assert_int_equal(estimate_window(100, claims, 2, e), 0);
	assert_int_equal(w.sink.bytes(w.sink.arg, 0, 100, claims, e, 2), 0);
	assert_int_equal(w.sink.bytes(w.sink.arg, 0, 7, NULL, NULL, 0), 0);
	assert_int_equal(estimate_window(10, claims, 1, e), 0);
	assert_int_equal(w.sink.bytes(w.sink.arg, 0, 10, claims, e, 1), 0);
	r = report_of(&w);
	check_conserved(r);
	a = row(r, "pid:7:70");
	assert_int_equal(r->counters[0].value, 351);
	assert_int_equal(r->counters[0].unattributed[REASON_IDLE], 21);
	assert_int_equal(a->shares[0].value, 129);
	assert_int_equal(a->shares[0].low, 10); /* seen while it was alone */
	assert_int_equal(a->shares[0].high, 351);
	report_free(r);
	world_free(&w);
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
	struct book_scope scope = { ROW_PROCESS, true };
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_and_reasons),
		cmocka_unit_test(only_what_was_asked_for),
		cmocka_unit_test(no_reading_no_value),
		cmocka_unit_test(shared_counters_are_scaled),
		cmocka_unit_test(alone_as_a_cgroup),
		cmocka_unit_test(parents_include_children),
		cmocka_unit_test(nothing_above_the_selection),
		cmocka_unit_test(the_total_is_the_sum),
		cmocka_unit_test(too_many_rows_are_pooled),
	};

	return cmocka_run_group_tests_name("book", tests, NULL, NULL);
}
