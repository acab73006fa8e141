// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "feed_world.h"

static void totals_become_deltas(void **state)
{
	struct report *r;
	struct world w;

	(void)state;
	setup(&w);
	window(&w, 100, 1000, 2000, 3000, NULL); /* where the books begin */
	window(&w, 200, 1010, 2020, 3030, NULL);
	r = close_at(&w, 200);
	assert_int_equal(r->counters[0].value, 10);
	assert_int_equal(r->counters[1].value, 20);
	assert_int_equal(r->counters[2].value, 30);
	assert_int_equal(w.feed.last_end_ns[0], 200);
	assert_int_equal(w.feed.long_windows, 0);
	report_free(r);
	teardown(&w);
}

/* Beats become bytes on the way in; what is more than any counter can hold is no reading. */
static void counts_become_bytes(void **state)
{
	struct counted_event scaled[] = {
		{ .counter = 0, .scale = { 32, 1 } },
		{ .counter = 1, .scale = { 1, 1 } },
		{ .counter = 2, .scale = { 7, 1 } },
	};
	struct report *r;
	struct world w;

	(void)state;
	setup(&w);
	w.counted.events = scaled;
	window(&w, 100, 1000, 2000, 3000, NULL);
	window(&w, 200, 1010, 2020, 3030, NULL);
	r = close_at(&w, 200);
	assert_int_equal(r->counters[0].value, 320);
	assert_int_equal(r->counters[1].value, 20);
	assert_int_equal(r->counters[2].value, 210);
	report_free(r);
	window(&w, 300, 1010 + UINT64_MAX / 32 + 1, 2020, 3031, NULL);
	assert_int_equal(w.feed.invalid_windows, 1);
	window(&w, 400, 1011, 2020, 3031, NULL);
	r = close_at(&w, 400);
	assert_int_equal(r->counters[0].value, 32);
	assert_int_equal(r->counters[2].value, 7);
	report_free(r);
	teardown(&w);
}

/* A failed read is absent, not zero, and its bytes come with the next good one. */
static void a_failed_read_loses_nothing(void **state)
{
	const int broken[] = { -EINVAL, 0, 0 };
	struct report *r;
	struct world w;

	(void)state;
	setup(&w);
	window(&w, 100, 1000, 2000, 3000, NULL);
	window(&w, 200, 0, 2020, 3030, broken);
	r = close_at(&w, 200);
	assert_false(r->counters[0].valid);
	assert_true(r->counters[1].valid); /* the other group is not affected */
	assert_int_equal(w.feed.invalid_windows, 1);
	report_free(r);
	window(&w, 300, 1055, 2020, 3030, NULL);
	r = close_at(&w, 300);
	assert_true(r->counters[0].valid);
	assert_int_equal(r->counters[0].value, 55);
	assert_int_equal(r->counters[0].covered_ns, 200);
	report_free(r);
	teardown(&w);
}

static void a_counter_never_runs_backwards(void **state)
{
	struct report *r;
	struct world w;

	(void)state;
	setup(&w);
	window(&w, 100, 1000, 0, 0, NULL);
	window(&w, 200, 900, 0, 0, NULL);
	assert_int_equal(w.feed.invalid_windows, 1);
	window(&w, 300, 1001, 0, 0, NULL);
	r = close_at(&w, 300);
	assert_int_equal(r->counters[0].value, 1);
	report_free(r);
	teardown(&w);
}

/* A counter that was reset: waiting until it has caught up would take as long as it had counted. */
static void lasting_backward_readings_are_a_new_base(void **state)
{
	const uint64_t step = NS_PER_S;
	struct report *r;
	struct world w;

	(void)state;
	setup(&w);
	window(&w, step, 1000000, 10, 10, NULL);
	window(&w, 2 * step, 1000100, 20, 20, NULL);
	for (int i = 3; i <= 6; i++)
		window(&w, i * step, 50 * i, 10 * i, 10 * i, NULL);
	assert_int_equal(w.feed.restarts, 0);
	assert_int_equal(w.feed.invalid_windows, 4);
	assert_int_equal(w.feed.groups[0].verdict, READING_BACKWARD);
	r = close_at(&w, 6 * step);
	assert_int_equal(r->counters[0].value, 100);
	assert_int_equal(r->counters[1].value, 50);
	report_free(r);
	/* More than three seconds after the first: it counts from here on. */
	window(&w, 7 * step, 350, 70, 70, NULL);
	assert_int_equal(w.feed.restarts, 1);
	assert_int_equal(w.feed.uncounted_ns, 5 * step);
	assert_int_equal(w.feed.groups[0].bad_ns, 0);
	window(&w, 8 * step, 357, 80, 80, NULL);
	r = close_at(&w, 8 * step);
	assert_true(r->counters[0].valid);
	assert_int_equal(r->counters[0].value, 7); /* nothing is made up for the time before */
	assert_int_equal(r->counters[0].covered_ns, step);
	assert_int_equal(r->counters[1].value, 20); /* the other group is not affected */
	report_free(r);
	teardown(&w);
}

/* A short one costs nothing: the next good window has all bytes, also after several of them. */
static void backward_readings_do_not_add_up(void **state)
{
	struct report *r;
	struct world w;

	(void)state;
	setup(&w);
	window(&w, NS_PER_S, 1000, 0, 0, NULL);
	for (int i = 2; i < 12; i += 2) {
		window(&w, i * NS_PER_S, 900, 0, 0, NULL);
		window(&w, (i + 1) * NS_PER_S, 1000 + i, 0, 0, NULL);
	}
	assert_int_equal(w.feed.invalid_windows, 5);
	assert_int_equal(w.feed.restarts, 0);
	r = close_at(&w, 11 * NS_PER_S);
	assert_int_equal(r->counters[0].value, 10);
	assert_int_equal(r->counters[0].covered_ns, 10 * NS_PER_S);
	report_free(r);
	teardown(&w);
}

/* Events that were opened again begin with 0, and may be beyond the old ones when they are read. */
static void events_opened_again_are_a_new_base(void **state)
{
	const int broken[] = { -EBUSY, 0, 0 };
	struct report *r;
	struct world w;

	(void)state;
	setup(&w);
	window(&w, 100, 10, 10, 10, NULL);
	window(&w, 200, 0, 20, 20, broken);
	assert_int_equal(w.feed.groups[0].verdict, READING_FAILED);
	assert_int_equal(w.feed.groups[0].err, -EBUSY);
	assert_int_equal(w.feed.groups[0].bad_ns, 200);
	feed_restart(&w.feed, 0);
	feed_restart(&w.feed, 1);
	window(&w, 300, 0, 5000, 5000, broken);
	assert_int_equal(w.feed.restarts, 1); /* of the other group */
	window(&w, 400, 7000, 5001, 5001, NULL);
	window(&w, 500, 7003, 5002, 5002, NULL);
	assert_int_equal(w.feed.restarts, 2);
	assert_int_equal(w.feed.uncounted_ns, 300 + 100);
	assert_int_equal(w.feed.seen_ns[0], 500);
	r = close_at(&w, 500);
	assert_int_equal(r->counters[0].value, 3);
	assert_int_equal(r->counters[1].value, 10 + 2);
	report_free(r);
	teardown(&w);
}

static void a_group_that_did_not_run_waits(void **state)
{
	struct ledger_window r = { .nr = 3 };
	struct report *rep;
	struct world w;

	(void)state;
	setup(&w);
	window(&w, 100, 0, 0, 0, NULL);
	window(&w, 200, 0, 0, 0, NULL);
	/* enabled goes on, running does not: multiplexed out for the whole window */
	r.h.time_ns = 300;
	for (int i = 0; i < 3; i++)
		r.readings[i].value = (struct ledger_value){ 0, 300, i ? 300 : 200 };
	w.sink.window(w.sink.arg, &r);
	assert_int_equal(w.feed.unscheduled_windows, 1);
	assert_int_equal(w.feed.invalid_windows, 0);
	r.h.time_ns = 400;
	for (int i = 0; i < 3; i++)
		r.readings[i].value = (struct ledger_value){ 70, 400, i ? 400 : 300 };
	w.sink.window(w.sink.arg, &r);
	rep = close_at(&w, 400);
	assert_int_equal(rep->counters[0].value, 105); /* counted 200 of 300 */
	assert_int_equal(rep->counters[1].value, 70);
	report_free(rep);
	teardown(&w);
}

static void windows_after_the_cut_do_not_count_yet(void **state)
{
	struct world w;

	(void)state;
	setup(&w);
	window(&w, 100, 0, 0, 0, NULL);
	w.feed.cut_ns = 250;
	window(&w, 200, 5, 0, 0, NULL);
	window(&w, 300, 9, 0, 0, NULL);
	assert_int_equal(w.feed.last_end_ns[0], 200);
	teardown(&w);
}

static void slots_become_workloads(void **state)
{
	struct ledger_slices s = { .h = { .type = LEDGER_SLICES, .cpu = 1 }, .nr = 5 };
	struct ledger_task t = { .h = { .type = LEDGER_TASK_FORK },
				 .pid = 7,
				 .tgid = 7,
				 .start_ns = 70,
				 .leader_start_ns = 70 };
	struct ledger_cgroup c = { .h = { .type = LEDGER_CGROUP_NEW }, .id = 9, .path = "/job" };
	struct report *r;
	struct world w;

	(void)state;
	setup(&w);
	memset(t.comm, 'x', sizeof(t.comm)); /* not terminated: must not run over */
	w.sink.task(w.sink.arg, &t);
	w.sink.cgroup(w.sink.arg, &c);
	s.slots[0] = (struct ledger_slot){ .pid = 7,
					   .tgid = 7,
					   .start_ns = 70,
					   .cgroup_id = 9,
					   .first_ns = 10,
					   .last_ns = 30,
					   .on_cpu_ns = 20 };
	s.slots[1] = (struct ledger_slot){ .first_ns = 30, .last_ns = 90, .on_cpu_ns = 60 };
	s.slots[2] = (struct ledger_slot){ .pid = LEDGER_LOST_PID,
					   .tgid = LEDGER_LOST_PID,
					   .first_ns = 90,
					   .last_ns = 95,
					   .on_cpu_ns = 5 };
	/* impossible: more time on the CPU than passed */
	s.slots[3] = (struct ledger_slot){
		.pid = 8, .cgroup_id = 9, .tgid = 8, .first_ns = 1, .last_ns = 2, .on_cpu_ns = 100
	};
	s.slots[4] = (struct ledger_slot){ .pid = 9, .tgid = 9, .cgroup_id = 1234 };
	w.sink.slices(w.sink.arg, &s, NULL);
	assert_false(session_unknown_cgroup(w.session)); /* slot 4 is empty */
	assert_int_equal(w.feed.bad_slices, 1);
	r = close_at(&w, 100);
	assert_int_equal(r->nr_rows, 1);
	assert_string_equal(r->rows[0].comm, "xxxxxxxxxxxxxxx");
	assert_string_equal(r->rows[0].cgroup, "/job");
	assert_int_equal(r->sockets[0].busy_ns, 20);
	assert_int_equal(r->sockets[0].idle_ns, 60);
	assert_int_equal(r->sockets[0].lost_ns, 5);
	report_free(r);
	s.nr = 5;
	s.slots[4].on_cpu_ns = 1;
	s.slots[4].last_ns = 1;
	w.sink.slices(w.sink.arg, &s, NULL);
	assert_true(session_unknown_cgroup(w.session));
	assert_false(session_unknown_cgroup(w.session)); /* said once */
	teardown(&w);
}

static void cut_paths_are_asked_for(void **state)
{
	struct ledger_cgroup c = { .h = { .type = LEDGER_CGROUP_NEW }, .id = 9 };
	struct ledger_slices s = { .h = { .type = LEDGER_SLICES }, .nr = 1 };
	struct world w;

	(void)state;
	setup(&w);
	memset(c.path, 'p', sizeof(c.path) - 1);
	w.sink.cgroup(w.sink.arg, &c);
	assert_true(w.feed.cut_path);
	s.slots[0] = (struct ledger_slot){
		.pid = 7, .tgid = 7, .cgroup_id = 9, .last_ns = 1, .on_cpu_ns = 1
	};
	w.sink.slices(w.sink.arg, &s, NULL);
	assert_true(session_unknown_cgroup(w.session)); /* half a path is no name */
	teardown(&w);
}

static int keep_path(void *arg, const struct trace_event *e)
{
	const struct trace_cgroup *c = &e->cgroup;
	char *text = arg;

	assert_int_equal(e->type, TRACE_CGROUP);
	assert_int_equal(c->made_ns, c->path ? 410 : 0);
	snprintf(text, LEDGER_PATH_LEN, "%llx %s", (unsigned long long)c->id,
		 c->path ? c->path : "gone");
	return 0;
}

static void cgroups_of_v1_have_their_controller(void **state)
{
	struct ledger_cgroup c = { .h = { .type = LEDGER_CGROUP_NEW, .time_ns = 410 } };
	struct ledger_sink sink;
	struct feed feed;
	char text[LEDGER_PATH_LEN];
	struct trace_sink out = { keep_path, text };

	(void)state;
	assert_int_equal(feed_init(&feed, &header.layout, &counted, &out, 100), 0);
	feed.v1 = "freezer";
	sink = feed_sink(&feed);
	strcpy(c.path, "/slurm");
	c.id = (1ull << LEDGER_V1_SHIFT) + 9;
	sink.cgroup(sink.arg, &c);
	assert_string_equal(text, "1000000000009 freezer:/slurm");
	c.path[0] = '\0';
	sink.cgroup(sink.arg, &c);
	assert_string_equal(text, "1000000000009 freezer:/");
	c.id = 9;
	sink.cgroup(sink.arg, &c);
	assert_string_equal(text, "9 /");
	memset(c.path, 'p', sizeof(c.path) - 1);
	c.id = (1ull << LEDGER_V1_SHIFT) + 9;
	sink.cgroup(sink.arg, &c);
	assert_true(feed.cut_path);
	assert_string_equal(text, "9 /");
	c.h.type = LEDGER_CGROUP_GONE;
	sink.cgroup(sink.arg, &c);
	assert_string_equal(text, "1000000000009 gone");
	feed_release(&feed);
}

/* --- weights: what comes out is looked at itself */

#define MAX_SLICES 8

struct slices {
	struct trace_slice items[MAX_SLICES];
	size_t nr;
};

static int keep_slice(void *arg, const struct trace_event *e)
{
	struct slices *slices = arg;

	assert_int_equal(e->type, TRACE_SLICE);
	assert_true(slices->nr < MAX_SLICES);
	slices->items[slices->nr++] = e->slice;
	return 0;
}

/* @s and @weights through a feed; slots have 100, 200, ... ns unless they say otherwise. */
static struct slices weighed(struct ledger_slices *s, const struct ledger_weights *weights)
{
	struct slices slices = { 0 };
	const struct trace_sink out = { keep_slice, &slices };
	struct ledger_sink sink;
	struct feed feed;

	for (uint32_t i = 0; i < s->nr; i++) {
		s->slots[i].pid = s->slots[i].tgid = i + 1;
		s->slots[i].last_ns = s->slots[i].on_cpu_ns = 100 * (i + 1);
	}
	assert_int_equal(feed_init(&feed, &header.layout, &counted, &out, 100), 0);
	sink = feed_sink(&feed);
	sink.slices(sink.arg, s, weights);
	feed_release(&feed);
	return slices;
}

static void assert_weights(const struct trace_slice *s, uint64_t first, uint64_t second,
			   uint64_t time_ns)
{
	assert_int_equal(s->weights[0], first);
	assert_int_equal(s->weights[1], second);
	assert_int_equal(s->weights_ns, time_ns);
}

static void weights_go_with_their_slots(void **state)
{
	struct ledger_slices s = { .h = { .type = LEDGER_SLICES, .cpu = 1 }, .nr = 3 };
	const struct ledger_weights w = {
		.h = { .type = LEDGER_WEIGHTS, .cpu = 1 },
		.nr = 3,
		.nr_events = 2,
		.slots = { { { 11, 12 }, 100 }, { { 21, 22 }, 150 }, { { 0, 32 }, 300 } },
	};
	struct slices out;

	(void)state;
	out = weighed(&s, &w);
	assert_int_equal(out.nr, 3);
	assert_int_equal(out.items[1].pid, 2);
	assert_int_equal(out.items[1].cpu, 1);
	assert_weights(&out.items[0], 11, 12, 100);
	assert_weights(&out.items[1], 21, 22, 150);
	assert_weights(&out.items[2], 0, 32, 300);
}

/* A slot without time gives no slice: the weights of the others do not move up. */
static void weights_stay_with_their_slots(void **state)
{
	struct ledger_slices s = { .h = { .type = LEDGER_SLICES }, .nr = 2 };
	const struct ledger_weights w = {
		.nr = 2,
		.nr_events = 1,
		.slots = { { { 7, 0 }, 50 }, { { 8, 0 }, 60 } },
	};
	struct slices slices = { 0 };
	const struct trace_sink out = { keep_slice, &slices };
	struct ledger_sink sink;
	struct feed feed;

	(void)state;
	s.slots[1] = (struct ledger_slot){ .pid = 9, .tgid = 9, .last_ns = 60, .on_cpu_ns = 60 };
	assert_int_equal(feed_init(&feed, &header.layout, &counted, &out, 100), 0);
	sink = feed_sink(&feed);
	sink.slices(sink.arg, &s, &w);
	feed_release(&feed);
	assert_int_equal(slices.nr, 1);
	assert_int_equal(slices.items[0].pid, 9);
	assert_weights(&slices.items[0], 8, 0, 60);
}

static void no_weights_are_none(void **state)
{
	struct ledger_slices s = { .h = { .type = LEDGER_SLICES }, .nr = 2 };
	struct slices out;

	(void)state;
	out = weighed(&s, NULL);
	assert_int_equal(out.nr, 2);
	assert_weights(&out.items[0], 0, 0, 0);
	assert_weights(&out.items[1], 0, 0, 0);
}

/* No more is believed than can be. */
static void weights_make_sense(void **state)
{
	struct ledger_slices s = { .h = { .type = LEDGER_SLICES }, .nr = 3 };
	struct ledger_weights w = {
		.nr = 2,
		.nr_events = 1,
		/* longer than it had the CPU; known at no time; of a slot that was not sent */
		.slots = { { { 11, 99 }, 1000 }, { { 21, 99 }, 0 }, { { 31, 99 }, 300 } },
	};
	struct slices out;

	(void)state;
	out = weighed(&s, &w);
	assert_int_equal(out.nr, 3);
	assert_weights(&out.items[0], 11, 0, 100);
	assert_weights(&out.items[1], 0, 0, 0);
	assert_weights(&out.items[2], 0, 0, 0);
	w.nr_events = UINT32_MAX;
	w.slots[0].count[0] = UINT64_MAX;
	w.slots[0].covered_ns = UINT64_MAX;
	out = weighed(&s, &w);
	assert_weights(&out.items[0], UINT64_MAX, 99, 100);
}

struct io_log {
	struct trace_io seen[8];
	int nr;
	int answer;
};

static int log_io(void *arg, const struct trace_event *e)
{
	struct io_log *log = arg;

	assert_int_equal(e->type, TRACE_IO);
	log->seen[log->nr++] = e->io;
	return log->answer;
}

static struct ledger_io_slot io_slot(uint32_t pid, uint64_t cgroup, uint64_t reads, uint64_t writes)
{
	return (struct ledger_io_slot){
		.pid = pid,
		.tgid = pid,
		.start_ns = 5,
		.cgroup_id = cgroup,
		.device = 3,
		.requests = 1,
		.read_bytes = reads,
		.write_bytes = writes,
		.first_ns = 100,
		.last_ns = 200,
	};
}

static void requests_become_io(void **state)
{
	struct ledger_io r = { .h = { .type = LEDGER_IO, .time_ns = 300 }, .nr = 4 };
	struct io_log log = { 0 };
	const struct trace_sink out = { log_io, &log };
	struct ledger_sink sink;
	struct feed f;

	(void)state;
	assert_int_equal(feed_init(&f, &header.layout, &counted, &out, 100), 0);
	sink = feed_sink(&f);
	r.slots[0] = io_slot(7, 9, 4096, 0);
	r.slots[1] = io_slot(8, 9, 0, 0); /* taken back */
	r.slots[2] = io_slot(LEDGER_LOST_PID, 0, 0, 512);
	r.slots[3] = io_slot(0, 9, 1, 2);
	sink.io(sink.arg, &r);
	assert_int_equal(log.nr, 3);
	assert_int_equal(log.seen[0].pid, 7);
	assert_int_equal(log.seen[0].tgid, 7);
	assert_int_equal(log.seen[0].task_start_ns, 5);
	assert_int_equal(log.seen[0].cgroup_id, 9);
	assert_int_equal(log.seen[0].device, 3);
	assert_int_equal(log.seen[0].read_bytes, 4096);
	assert_int_equal(log.seen[0].write_bytes, 0);
	assert_int_equal(log.seen[0].start_ns, 100);
	assert_int_equal(log.seen[0].end_ns, 200);
	assert_false(log.seen[0].exclusive);
	assert_int_equal(log.seen[1].pid, TRACE_PID_LOST);
	assert_int_equal(log.seen[2].pid, 0);
	assert_int_equal(log.seen[2].write_bytes, 2);
	assert_int_equal(f.bad_slices, 0);
	feed_release(&f);
}

static void tell_task(const struct world *w, uint32_t type, uint32_t pid, uint64_t start,
		      uint32_t old_pid)
{
	struct ledger_task t = {
		.h = { .type = type },
		.pid = pid,
		.tgid = 10,
		.parent = 1,
		.parent_start_ns = 1,
		.start_ns = start,
		.leader_start_ns = 100,
		.old_pid = old_pid,
		.comm = "a",
	};

	w->sink.task(w->sink.arg, &t);
}

/* By thread: leader 10 ends because thread 11 calls exec, and that goes on as 10. */
static void a_thread_becomes_the_leader(void **state)
{
	struct world w;

	(void)state;
	setup(&w);
	w.feed.start_of = session_start_of;
	w.feed.start_arg = w.session;
	tell_task(&w, LEDGER_TASK_FORK, 10, 100, 0);
	tell_task(&w, LEDGER_TASK_FORK, 11, 110, 0);
	tell_task(&w, LEDGER_TASK_FORK, 12, 120, 0);
	assert_int_equal(identity_follow(session_identity(w.session), 10), 3);
	tell_task(&w, LEDGER_TASK_EXIT, 12, 120, 0);
	tell_task(&w, LEDGER_TASK_EXIT, 10, 100, 0);
	assert_int_equal(identity_followed_alive(session_identity(w.session)), 1);
	tell_task(&w, LEDGER_TASK_NAME, 10, 100, 11);
	assert_int_equal(identity_followed_alive(session_identity(w.session)), 1);
	assert_int_equal(session_start_of(w.session, 10), 100);
	assert_int_equal(session_start_of(w.session, 11), 0);
	tell_task(&w, LEDGER_TASK_EXIT, 10, 100, 0);
	assert_int_equal(identity_followed_alive(session_identity(w.session)), 0);
	teardown(&w);
}

/* The leader had ended long before, and nobody remembers it. */
static void a_thread_becomes_a_forgotten_leader(void **state)
{
	struct world w;

	(void)state;
	setup(&w);
	w.feed.start_of = session_start_of;
	w.feed.start_arg = w.session;
	tell_task(&w, LEDGER_TASK_FORK, 11, 110, 0);
	assert_int_equal(identity_follow(session_identity(w.session), 10), 1);
	/* exec changes the name first */
	tell_task(&w, LEDGER_TASK_NAME, 10, 100, 0);
	tell_task(&w, LEDGER_TASK_NAME, 10, 100, 11);
	assert_int_equal(identity_followed_alive(session_identity(w.session)), 1);
	tell_task(&w, LEDGER_TASK_EXIT, 10, 100, 0);
	assert_int_equal(identity_followed_alive(session_identity(w.session)), 0);
	teardown(&w);
}

static void senseless_io_is_counted(void **state)
{
	struct ledger_io r = { .h = { .type = LEDGER_IO }, .nr = 3 };
	struct io_log log = { .answer = -EINVAL };
	const struct trace_sink out = { log_io, &log };
	struct ledger_sink sink;
	struct feed f;

	(void)state;
	assert_int_equal(feed_init(&f, &header.layout, &counted, &out, 100), 0);
	sink = feed_sink(&f);
	for (int i = 0; i < 3; i++)
		r.slots[i] = io_slot(7, 9, 1, 1);
	r.slots[0].device = LEDGER_MAX_DEVICES;
	r.slots[1].first_ns = r.slots[1].last_ns + 1;
	sink.io(sink.arg, &r);
	/* the third one is for the reader of the trace to refuse */
	assert_int_equal(log.nr, 1);
	assert_int_equal(f.bad_slices, 3);
	assert_int_equal(f.error, 0);
	log.answer = -ENOSPC;
	r.slots[0] = io_slot(7, 9, 1, 1);
	r.nr = 1;
	sink.io(sink.arg, &r);
	assert_int_equal(f.error, -ENOSPC);
	feed_release(&f);

	/* Who does not want to know says so with 0. */
	log = (struct io_log){ 0 };
	assert_int_equal(feed_init(&f, &header.layout, &counted, &out, 100), 0);
	sink = feed_sink(&f);
	sink.io(sink.arg, &r);
	assert_int_equal(f.bad_slices, 0);
	feed_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_become_deltas),
		cmocka_unit_test(counts_become_bytes),
		cmocka_unit_test(a_failed_read_loses_nothing),
		cmocka_unit_test(a_counter_never_runs_backwards),
		cmocka_unit_test(lasting_backward_readings_are_a_new_base),
		cmocka_unit_test(backward_readings_do_not_add_up),
		cmocka_unit_test(events_opened_again_are_a_new_base),
		cmocka_unit_test(a_group_that_did_not_run_waits),
		cmocka_unit_test(windows_after_the_cut_do_not_count_yet),
		cmocka_unit_test(slots_become_workloads),
		cmocka_unit_test(cut_paths_are_asked_for),
		cmocka_unit_test(cgroups_of_v1_have_their_controller),
		cmocka_unit_test(weights_go_with_their_slots),
		cmocka_unit_test(weights_stay_with_their_slots),
		cmocka_unit_test(no_weights_are_none),
		cmocka_unit_test(weights_make_sense),
		cmocka_unit_test(a_thread_becomes_the_leader),
		cmocka_unit_test(a_thread_becomes_a_forgotten_leader),
		cmocka_unit_test(requests_become_io),
		cmocka_unit_test(senseless_io_is_counted),
	};

	return cmocka_run_group_tests_name("feed", tests, NULL, NULL);
}
