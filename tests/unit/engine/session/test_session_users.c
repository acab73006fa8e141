// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Owners and users of devices by contexts. */
#include <math.h>

#include "user_world.h"

/* A process is the owner to the byte; its bounds are exact; the link is its as well. */
static void one_process(void **state)
{
	struct world w = make(ROW_PROCESS);
	const struct device_users *u;
	struct report *r;

	(void)state;
	LOOK(&w, 100, 1);
	LOOK(&w, 1100, 1);
	LOOK(&w, 2000, 1);
	r = close_at(&w, 2000);
	u = owned(r);
	assert_string_equal(r->devices[0].exclusive, "pid:1:1000000000");
	assert_int_equal(bytes_of(r, "pid:1:1000000000", 1), 1001);
	assert_int_equal(bytes_of(r, "pid:1:1000000000", 2), 77);
	assert_int_equal(bytes_of(r, "pid:1:1000000000", 3), 1001);
	/* the socket's view of devices: what its devices did not move beside it */
	assert_int_equal(bytes_of(r, "pid:1:1000000000", 0), 1001);
	for (size_t i = 0; i < row(r, "pid:1:1000000000")->nr_shares; i++) {
		const struct share *s = &row(r, "pid:1:1000000000")->shares[i];

		assert_true(s->separable && s->low == s->value && s->high == s->value);
	}
	assert_int_equal(u->nr, 1);
	assert_int_equal(u->nr_all, 1);
	assert_int_equal(u->users[0].pid, 1);
	assert_int_equal(u->users[0].start_ns, start_of(1));
	assert_string_equal(u->users[0].comm, "python");
	assert_string_equal(u->users[0].job->id, "12");
	assert_int_equal(u->users[0].processes, 1);
	assert_string_equal(u->users[0].key, "pid:1:1000000000");
	assert_int_equal(u->users[0].held_ns, 2000 * MS);
	assert_int_equal(u->told_ns, 0);
	assert_string_equal(r->devices[1].by.users[0].comm, "python");
	done(&w, r);
}

/* Tasks of a step are in several cgroups: one job all the same. A monitor has no context. */
static void one_job(void **state)
{
	static const struct {
		enum row_kind by;
		const char *key;
	} rows[] = { { ROW_JOB, "job:10" },
		     { ROW_JOB, "job:10" },
		     { ROW_CGROUP, NULL },
		     { ROW_PROCESS, NULL } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world w = make(rows[i].by);
		struct report *r;

		LOOK(&w, 500, 1, 2);
		/* three, of two steps */
		if (i)
			LOOK(&w, 1000, 1, 2, 3);
		r = close_at(&w, 1000);
		if (rows[i].key) {
			assert_int_equal(owned(r)->nr, 1);
			assert_int_equal(bytes_of(r, rows[i].key, 1), 1001);
			assert_int_equal(bytes_of(r, i ? "job:10:own" : "job:10:0", 1), 1001);
			assert_string_equal(r->devices[0].exclusive, i ? "job:10" : "job:10:0");
			assert_string_equal(r->devices[0].by.users[0].job->step, i ? "" : "0");
		} else {
			/* nothing tells who of them moved what */
			assert_true(unowned(r, OWNERSHIP_ONE)->undivided);
			assert_true(r->devices[0].shared);
			assert_int_equal(r->counters[1].unattributed[REASON_DEVICE], 1001);
		}
		assert_int_equal(r->devices[0].by.users[0].processes, i ? 3 : 2);
		done(&w, r);
	}
}

/* Busy time divides the bytes of one job among its rows, to the byte, with wide bounds. */
static void divided_by_busy_time(void **state)
{
	static const struct {
		enum row_kind by;
		const char *keys[3];
	} rows[] = {
		{ ROW_PROCESS, { "pid:1:1000000000", "pid:2:2000000000", "pid:3:3000000000" } },
		{ ROW_CGROUP, { "cgroup:11", "cgroup:12", "cgroup:13" } },
	};
	const struct trace_busy list[] = { { 1, start_of(1), 300 * MS, 100 * MS },
					   { 2, start_of(2) + OFF, 200 * MS, 0 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world w = make(rows[i].by);
		const struct report_row *first;
		struct report *r;

		LOOK(&w, 500, 1, 2, 3);
		busy(&w, 0, 500, 0, list, 2);
		LOOK(&w, 1000, 1, 2, 3);
		busy(&w, 500, 1000, 0, list, 2);
		r = close_at(&w, 1000);
		owned(r);
		assert_int_equal(bytes_of(r, rows[i].keys[0], 1), 601);
		assert_int_equal(bytes_of(r, rows[i].keys[1], 1), 400);
		assert_int_equal(bytes_of(r, rows[i].keys[2], 1), 0);
		assert_int_equal(bytes_of(r, rows[i].keys[0], 2), 46);
		first = row(r, rows[i].keys[0]);
		assert_false(first->separable);
		assert_int_equal(first->nr_tangled, 2);
		for (size_t k = 0; k < first->nr_shares; k++)
			if (first->shares[k].counter == 1)
				assert_true(!first->shares[k].low && first->shares[k].high == 1001);
		assert_int_equal(r->devices[0].by.users[0].busy_ns, 1000 * MS);
		assert_int_equal(r->devices[0].by.users[0].copy_ns, 200 * MS);
		assert_true(r->devices[0].by.copies && !r->devices[0].by.samples);
		assert_true(r->devices[0].by.users[0].share == 1);
		assert_true(r->devices[0].by.users[0].error == 0);
		assert_true(r->devices[0].by.users[0].low == 1);
		done(&w, r);
	}
}

/* A part of the one job is not in the report. */
static void partly_selected(void **state)
{
	const struct trace_busy list[] = { { 1, start_of(1), 300 * MS, 0 },
					   { 2, start_of(2), 100 * MS, 0 } };

	(void)state;
	for (int told = 0; told < 2; told++) {
		struct world w = make(ROW_PROCESS);
		struct session_options o = { .by = ROW_PROCESS };
		struct trace_mark m = { .first = true };
		uint64_t end = 1000000 * MS;
		struct report *r;

		session_free(w.s);
		assert_int_equal(session_new(&header, &o, &w.s), 0);
		w.out = session_sink(w.s);
		cgroup(&w, TASK0, "/system.slice/slurmstepd.scope/job_12/step_0/user/task_0");
		task(&w, 1, TASK0, "python");
		task(&w, 2, TASK0, "python");
		assert_int_equal(trace_send_follow(&w.out, 1), 0);
		m.time_ns = end;
		m.ends_ns = &end;
		assert_int_equal(trace_send_mark(&w.out, &m), 0);
		LOOK(&w, 500, 1, 2);
		if (told)
			busy(&w, 0, 500, 0, list, 2);
		r = close_at(&w, 1000);
		assert_int_equal(r->devices[0].by.found, OWNERSHIP_ONE);
		assert_int_equal(r->devices[0].by.undivided, !told);
		assert_int_equal(bytes_of(r, "pid:1:1000000000", 1), told ? 751 : 0);
		assert_int_equal(r->counters[1].unattributed[REASON_OTHER], told ? 250 : 0);
		assert_int_equal(r->counters[1].unattributed[REASON_DEVICE], told ? 0 : 1001);
		done(&w, r);
	}
}

/* Two jobs share it, and both are named; the next interval has one of them. */
static void two_jobs(void **state)
{
	struct world w = make(ROW_JOB);
	const struct device_users *u;
	struct report *r;

	(void)state;
	LOOK(&w, 500, 1, 2, 4);
	LOOK(&w, 1000, 1, 2, 4);
	r = close_at(&w, 1000);
	u = unowned(r, OWNERSHIP_SHARED);
	assert_int_equal(u->nr_blockers, 2);
	assert_int_equal(u->nr_blockers_all, 2);
	assert_string_equal(u->blockers[0].job->id, "12");
	assert_string_equal(u->blockers[0].comm, "python");
	assert_string_equal(u->blockers[1].job->id, "13");
	assert_string_equal(u->blockers[1].cgroup,
			    "/system.slice/slurmstepd.scope/job_13/step_0/user/task_0");
	report_free(r);
	/* in one of two looks is in both intervals */
	LOOK(&w, 1500, 1, 2);
	r = close_at(&w, 2000);
	unowned(r, OWNERSHIP_SHARED);
	report_free(r);
	LOOK(&w, 2500, 1, 2);
	r = close_at(&w, 3000);
	owned(r);
	report_free(r);
	assert_int_equal(session_summary(w.s, &r), 0);
	assert_int_equal(r->devices[0].by.found, OWNERSHIP_SHARED);
	assert_int_equal(r->devices[0].by.nr, 2);
	assert_int_equal(r->devices[0].read.owned, 1001);
	assert_int_equal(r->devices[0].by.users[0].held_ns, 3000 * MS - 500 * MS + 500 * MS);
	done(&w, r);
}

/* Cgroups without a job are owners, one at a time. */
static void without_jobs(void **state)
{
	struct world w = make(ROW_CGROUP);
	struct report *r;

	(void)state;
	task(&w, 6, SERVICE, "worker");
	task(&w, 7, LOOSE, "worker");
	LOOK(&w, 500, 5, 6);
	r = close_at(&w, 1000);
	assert_string_equal(r->devices[0].exclusive, "cgroup:16");
	assert_int_equal(owned(r)->nr, 1);
	report_free(r);
	LOOK(&w, 1500, 5, 7);
	r = close_at(&w, 2000);
	unowned(r, OWNERSHIP_SHARED);
	done(&w, r);
}

/* Numbers that come again, and processes that nobody knows, are no owners. */
static void unknown_processes(void **state)
{
	struct world w = make(ROW_PROCESS);
	struct trace_context again[] = { context(1), context(1) };
	const struct device_users *u;
	struct report *r;

	(void)state;
	LOOK(&w, 500, 99);
	r = close_at(&w, 1000);
	u = unowned(r, OWNERSHIP_UNKNOWN);
	assert_int_equal(u->users[0].pid, 99);
	assert_null(u->users[0].cgroup);
	report_free(r);
	/* beside a known one it prevents an owner */
	LOOK(&w, 1500, 1, 99);
	r = close_at(&w, 2000);
	assert_int_equal(unowned(r, OWNERSHIP_SHARED)->nr_blockers, 2);
	report_free(r);
	/* pid 1 ends, and another job gets its number */
	LOOK(&w, 2500, 1);
	assert_int_equal(trace_send_exit(&w.out, 1, start_of(1)), 0);
	again[1].start_ns += 50 * MS;
	look_list(&w, 3000, true, &again[1], 1);
	r = close_at(&w, 3000);
	assert_int_equal(unowned(r, OWNERSHIP_SHARED)->nr, 3);
	report_free(r);
	/* once its task is known, it is the owner */
	task_from(&w, 1, again[1].start_ns - OFF, OTHER_TASK, "lbm");
	look_list(&w, 3500, true, &again[1], 1);
	r = close_at(&w, 4000);
	assert_int_equal(owned(r)->nr, 1);
	assert_string_equal(r->devices[0].by.users[0].job->id, "13");
	report_free(r);
	/* its ended one is listed again: no task of that start is known */
	look_list(&w, 4500, true, again, 2);
	r = close_at(&w, 5000);
	unowned(r, OWNERSHIP_SHARED);
	done(&w, r);
}

/* A look that is late is forgiven once, one that could not tell is not. */
static void missing_looks(void **state)
{
	static const struct {
		uint64_t looks[8];
		uint64_t unknown; /* the look before this one could not tell */
		enum ownership found;
	} rows[] = {
		{ { 0 }, 0, OWNERSHIP_UNKNOWN },
		{ { 1000, 2000, 3000, 4000 }, 0, OWNERSHIP_ONE },
		{ { 1000, 2000, 4000 }, 0, OWNERSHIP_ONE },
		{ { 1000, 2000, 3000, 3000 }, 0, OWNERSHIP_ONE },
		{ { 1000, 2000, 5000 }, 0, OWNERSHIP_ONE }, /* these are the looks there are */
		{ { 500, 1000, 1500, 2000, 3500, 4000 }, 0, OWNERSHIP_UNKNOWN },
		{ { 500, 1000, 1500, 2000, 3000, 4000 }, 3000, OWNERSHIP_UNKNOWN },
		{ { 500, 1000, 1500, 2000, 2500 }, 0, OWNERSHIP_UNKNOWN },
		{ { 2500, 3000, 3500 }, 0, OWNERSHIP_UNKNOWN },
		{ { 1900, 2900, 3900 }, 0, OWNERSHIP_ONE },
		{ { 3900 }, 0, OWNERSHIP_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world w = make(ROW_JOB);
		struct report *r;

		for (size_t k = 0; rows[i].looks[k]; k++) {
			const struct trace_context one = context(1);

			look_list(&w, rows[i].looks[k], rows[i].looks[k] != rows[i].unknown, &one,
				  1);
		}
		r = close_at(&w, 4000);
		if (!i)
			assert_int_equal(r->devices[0].by.rule, OWNER_NODES);
		else if (r->devices[0].by.found != rows[i].found)
			fail_msg("row %zu: %s", i, ownership_name(r->devices[0].by.found));
		assert_int_equal(r->devices[0].read.owned,
				 rows[i].found == OWNERSHIP_ONE ? 1001 : 0);
		done(&w, r);
	}
}

/* Looks come once a second, reports four times as often, and later once in ten seconds. */
static void other_intervals(void **state)
{
	struct world w = make(ROW_JOB);
	struct report *r;

	(void)state;
	LOOK(&w, 10, 1);
	for (uint64_t ms = 250; ms <= 4000; ms += 250) {
		if (ms % 1000 == 0)
			LOOK(&w, ms, 1);
		r = close_at(&w, ms);
		owned(r);
		assert_int_equal(r->devices[0].by.users[0].held_ns, (ms == 250 ? 250 : 250) * MS);
		report_free(r);
	}
	/* no look any more: it holds for two more seconds */
	for (uint64_t ms = 4500; ms <= 7000; ms += 500) {
		r = close_at(&w, ms);
		assert_int_equal(r->devices[0].by.found,
				 ms <= 6000 ? OWNERSHIP_ONE : OWNERSHIP_UNKNOWN);
		report_free(r);
	}
	for (uint64_t ms = 7500; ms < 27500; ms += 1000)
		LOOK(&w, ms, 1);
	r = close_at(&w, 17000);
	unowned(r, OWNERSHIP_UNKNOWN);
	report_free(r);
	r = close_at(&w, 27000);
	owned(r);
	done(&w, r);
}

/* No process at all: free, and that changes no owner before or behind it. */
static void nobody(void **state)
{
	struct world w = make(ROW_JOB);
	struct report *r;

	(void)state;
	look_list(&w, 500, true, NULL, 0);
	r = close_at(&w, 1000);
	assert_int_equal(unowned(r, OWNERSHIP_FREE)->nr, 0);
	report_free(r);
	LOOK(&w, 1500, 1);
	look_list(&w, 2000, true, NULL, 0);
	r = close_at(&w, 2000);
	assert_int_equal(owned(r)->users[0].held_ns, 500 * MS);
	report_free(r);
	assert_int_equal(session_summary(w.s, &r), 0);
	assert_int_equal(r->devices[0].by.found, OWNERSHIP_ONE);
	assert_string_equal(r->devices[0].exclusive, "job:10:0");
	done(&w, r);
}

/* It came and went between two looks, and was busy: it is a user. */
static void short_lived(void **state)
{
	struct world w = make(ROW_JOB);
	const struct trace_busy other = { 4, start_of(4), 5 * MS, 0 };
	struct report *r;

	(void)state;
	LOOK(&w, 500, 1);
	LOOK(&w, 1000, 1);
	busy(&w, 500, 1000, 5, &other, 1);
	r = close_at(&w, 1000);
	assert_int_equal(unowned(r, OWNERSHIP_SHARED)->nr, 2);
	done(&w, r);
}

static void instances(void **state)
{
	struct world w = make(ROW_JOB);
	struct trace_context list[] = { context(1), context(2), context(1), context(4) };
	const struct device_users *u;
	struct report *r;

	(void)state;
	for (uint32_t i = 0; i < ARRAY_SIZE(list); i++)
		list[i].instance = i;
	look_list(&w, 500, true, list, 3);
	r = close_at(&w, 1000);
	u = owned(r);
	assert_int_equal(u->nr, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_string_equal(u->users[i].job->id, "12");
	report_free(r);
	look_list(&w, 1500, true, list, 4);
	r = close_at(&w, 2000);
	u = unowned(r, OWNERSHIP_SHARED);
	assert_int_equal(u->nr, 4);
	assert_int_equal(u->nr_blockers, 3); /* by process: pid 1 is on two instances */
	assert_int_equal(u->nr_blockers_all, 3);
	done(&w, r);
}

/* Sampled shares have the error of their samples; nothing of ten is not nothing. */
static void sampled(void **state)
{
	struct world w = make(ROW_JOB);
	const struct trace_busy list[] = { { 1, start_of(1), 300 * MS, 0 },
					   { 4, start_of(4), 0, 0 } };
	const struct device_users *u;
	struct report *r;

	(void)state;
	LOOK(&w, 500, 1, 4);
	busy(&w, 0, 1000, 10, list, 2);
	r = close_at(&w, 1000);
	u = unowned(r, OWNERSHIP_SHARED);
	assert_int_equal(u->samples, 10);
	assert_int_equal(u->told_ns, 1000 * MS);
	assert_true(fabs(u->users[0].share - 0.3) < 1e-12);
	assert_true(fabs(u->users[0].error - 0.1449) < 1e-4);
	assert_true(fabs(u->users[0].low - 0.1078) < 1e-4);
	assert_true(fabs(u->users[0].high - 0.6032) < 1e-4);
	assert_true(u->users[1].share == 0 && u->users[1].low == 0);
	assert_true(fabs(u->users[1].high - 0.2775) < 1e-4);
	report_free(r);
	/* two engines at once */
	busy(&w, 1000, 1100, 1, (const struct trace_busy[]){ { 1, start_of(1), 150 * MS, 0 } }, 1);
	LOOK(&w, 1500, 1);
	r = close_at(&w, 2000);
	u = &r->devices[0].by;
	assert_true(u->users[0].share == 1.5 && u->users[0].low < 1.5 && u->users[0].high > 1.5);
	report_free(r);
	assert_int_equal(session_summary(w.s, &r), 0);
	u = &r->devices[0].by;
	assert_int_equal(u->samples, 11);
	assert_int_equal(u->users[0].busy_ns, 450 * MS);
	assert_true(fabs(u->users[0].share - 450.0 / 1100) < 1e-12);
	done(&w, r);
}

/* A process that a manager moves to another job has been in both. */
static void moved_process(void **state)
{
	struct world w = make(ROW_JOB);
	struct report *r;

	(void)state;
	LOOK(&w, 500, 1);
	task(&w, 1, OTHER_TASK, "python");
	LOOK(&w, 1000, 1);
	r = close_at(&w, 1000);
	unowned(r, OWNERSHIP_SHARED);
	report_free(r);
	LOOK(&w, 1500, 1);
	r = close_at(&w, 2000);
	owned(r);
	assert_string_equal(r->devices[0].exclusive, "job:14:0");
	done(&w, r);
}

/* The move is known after the look, for the task has to run first. */
static void moved_before_it_was_known(void **state)
{
	struct world w = make(ROW_JOB);
	struct report *r;

	(void)state;
	LOOK(&w, 500, 1);
	task(&w, 1, OTHER_TASK, "python");
	r = close_at(&w, 1000);
	assert_int_equal(unowned(r, OWNERSHIP_SHARED)->nr_all, 2);
	report_free(r);
	LOOK(&w, 1500, 1);
	r = close_at(&w, 2000);
	assert_int_equal(owned(r)->nr_all, 1);
	assert_string_equal(r->devices[0].exclusive, "job:14:0");
	done(&w, r);
}

/* The windows of all groups up to @ms, before the interval ends. */
static void windows(struct world *w, uint64_t ms)
{
	for (uint32_t g = 0; g < header.layout.nr_groups; g++)
		window(w, g, ms, moved);
	w->now = 1000000 + ms;
}

/* After the last look that found none, a newcomer may have moved bytes: only those up to it are owned. */
static void gone_before_the_end(void **state)
{
	const uint64_t later[] = { 500, 5 };

	(void)state;
	for (int cut = 0; cut < 2; cut++) {
		struct world w = make(ROW_JOB);
		struct report *r;

		LOOK(&w, 500, 1);
		windows(&w, 800);
		look_list(&w, 900, true, NULL, 0);
		windows(&w, cut ? 901 : 900);
		r = close_with(&w, 1000, later);
		assert_int_equal(r->devices[0].by.found, OWNERSHIP_ONE);
		assert_int_equal(r->devices[0].by.nr, 1);
		assert_true(r->devices[0].by.gone && r->devices[1].by.gone);
		assert_string_equal(r->devices[0].exclusive, "");
		assert_int_equal(r->counters[1].value, 2502);
		assert_int_equal(bytes_of(r, "job:10:0", 1), cut ? 1001 : 2002);
		assert_int_equal(bytes_of(r, "job:10:0", 3), cut ? 1001 : 2002);
		assert_int_equal(r->counters[1].unattributed[REASON_DEVICE], cut ? 1501 : 500);
		for (size_t i = 0; i < row(r, "job:10:0")->nr_shares; i++)
			if (row(r, "job:10:0")->shares[i].counter == 1)
				assert_int_equal(row(r, "job:10:0")->shares[i].high, 2502);
		report_free(r);
		/* Nobody came, then a newcomer before its first look. */
		look_list(&w, 1900, true, NULL, 0);
		r = close_at(&w, 2000);
		unowned(r, OWNERSHIP_FREE);
		report_free(r);
		LOOK(&w, 2900, 4);
		r = close_at(&w, 3000);
		assert_false(owned(r)->gone);
		done(&w, r);
	}
}

/* A process that only its work shows: nothing tells until when it was there. */
static void worked_while_none_was_found(void **state)
{
	const struct trace_busy list[] = { { 1, start_of(1), 300 * MS, 0 } };
	struct world w = make(ROW_JOB);
	struct report *r;

	(void)state;
	LOOK(&w, 500, 1);
	look_list(&w, 900, true, NULL, 0);
	r = close_at(&w, 1000);
	report_free(r);
	windows(&w, 1300);
	busy(&w, 900, 1500, 0, list, 1);
	look_list(&w, 1500, true, NULL, 0);
	r = close_at(&w, 2000);
	unowned(r, OWNERSHIP_UNKNOWN);
	done(&w, r);
}

/* More users than a report has room for. */
static void many(void **state)
{
	struct world w = make(ROW_PROCESS);
	static struct trace_context list[TRACE_MAX_CONTEXTS];
	uint64_t looks = 0, all = 0;
	struct report *r;

	(void)state;
	for (uint32_t k = 0; k < 12; k++) {
		for (uint32_t i = 0; i < TRACE_MAX_CONTEXTS; i++)
			list[i] = context(1000 + k * TRACE_MAX_CONTEXTS + i);
		look_list(&w, looks += 100, true, list, TRACE_MAX_CONTEXTS);
		all += TRACE_MAX_CONTEXTS;
	}
	r = close_at(&w, looks);
	assert_int_equal(unowned(r, OWNERSHIP_SHARED)->nr, DEVICE_MAX_USERS);
	assert_true(r->devices[0].by.nr_all > DEVICE_MAX_USERS && r->devices[0].by.nr_all <= all);
	assert_int_equal(r->devices[0].by.nr_blockers, DEVICE_MAX_BLOCKERS);
	report_free(r);
	/* forgotten with the interval */
	LOOK(&w, looks + 100, 1);
	r = close_at(&w, looks + 100);
	unowned(r, OWNERSHIP_UNKNOWN);
	report_free(r);
	LOOK(&w, looks + 200, 1);
	r = close_at(&w, looks + 200);
	owned(r);
	done(&w, r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_process),
		cmocka_unit_test(one_job),
		cmocka_unit_test(divided_by_busy_time),
		cmocka_unit_test(partly_selected),
		cmocka_unit_test(two_jobs),
		cmocka_unit_test(without_jobs),
		cmocka_unit_test(unknown_processes),
		cmocka_unit_test(missing_looks),
		cmocka_unit_test(other_intervals),
		cmocka_unit_test(nobody),
		cmocka_unit_test(short_lived),
		cmocka_unit_test(instances),
		cmocka_unit_test(sampled),
		cmocka_unit_test(moved_process),
		cmocka_unit_test(moved_before_it_was_known),
		cmocka_unit_test(gone_before_the_end),
		cmocka_unit_test(worked_while_none_was_found),
		cmocka_unit_test(many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
