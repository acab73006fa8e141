// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <cmocka.h>

#include "base/array.h"
#include "engine/accounts/accounts.h"
#include "account_world.h"

#define SLURM SCHEDULER_SLURM

static struct accounts *keeper(void)
{
	struct accounts_options o = { .boot = WORLD_BOOT, .schedulers = 1U << SLURM };
	struct accounts *a = NULL;

	assert_int_equal(accounts_new(&o, &a), 0);
	return a;
}

static void interval(struct accounts *a, struct report *r)
{
	assert_int_equal(accounts_interval(a, r), 0);
	report_free(r);
}

/* An interval in which a job without steps reads so many bytes of the first counter. */
static void simple(struct accounts *a, uint64_t number, uint64_t cgroup, uint64_t bytes, bool ends)
{
	struct report *r = world_report(number);
	struct report_row *row = world_row(r, SLURM, "12", cgroup, "", true);

	row->on_cpu_ns = bytes ? 1000 : 0;
	if (bytes)
		world_share(r, row, 0, bytes);
	row->exited = ends;
	interval(a, r);
}

struct wanted {
	uint64_t cgroup;
	const struct account_job *found;
	struct account_job copy;
};

static int look(void *arg, const struct account_job *j)
{
	struct wanted *w = arg;

	if (j->job.cgroup_id != w->cgroup)
		return 0;
	assert_null(w->found);
	w->copy = world_copy_job(j);
	w->found = &w->copy;
	return 0;
}

/* The account of a cgroup; to be released */
static struct account_job get(struct accounts *a, uint64_t cgroup)
{
	struct wanted w = { .cgroup = cgroup };

	assert_int_equal(accounts_each(a, look, &w), 0);
	assert_non_null(w.found);
	return w.copy;
}

static int count(void *arg, const struct account_job *j)
{
	(void)j;
	++*(size_t *)arg;
	return 0;
}

static size_t changed(struct accounts *a)
{
	size_t nr = 0;

	assert_int_equal(accounts_each_changed(a, count, &nr), 0);
	return nr;
}

static int stop_there(void *arg, const struct account_job *j)
{
	(void)j;
	(void)arg;
	return 7;
}

static void test_life(void **state)
{
	struct accounts *a = keeper();
	struct account_job j;

	(void)state;
	interval(a, world_report(0));
	simple(a, 1, 881, 1000, false);
	simple(a, 2, 881, 500, false);
	j = get(a, 881);
	assert_int_equal(j.state, ACCOUNT_RUNNING);
	assert_string_equal(j.key, "slurm-12-881-1795190401");
	assert_string_equal(j.path, "/slurm/job_12");
	assert_string_equal(j.boot, WORLD_BOOT);
	assert_false(j.late_start);
	assert_int_equal(j.intervals, 2);
	assert_int_equal(j.covered_ns, 2 * WORLD_SECOND);
	assert_int_equal(j.whole.start_ns, WORLD_TIME + WORLD_SECOND);
	assert_int_equal(j.whole.end_ns, WORLD_TIME + 3 * WORLD_SECOND);
	assert_int_equal(j.whole.nr_totals, 1);
	assert_int_equal(j.whole.totals[0].value, 1500);
	assert_int_equal(j.whole.totals[0].low, 1500 - 125 - 62);
	assert_int_equal(j.whole.totals[0].high, 1500 + 125 + 62);
	assert_int_equal(j.nr_node, WORLD_COUNTERS);
	assert_int_equal(j.node[0].value, 1500);
	assert_int_equal(j.node[0].missing, 0);
	assert_int_equal(j.quality.windows, 200);
	assert_int_equal(j.self.switches, 20000);
	account_job_release(&j);
	assert_int_equal(accounts_each(a, stop_there, NULL), 7);
	simple(a, 3, 881, 1, true);
	j = get(a, 881);
	assert_int_equal(j.state, ACCOUNT_ENDED);
	assert_true(j.whole.ended);
	assert_int_equal(j.whole.end_ns, WORLD_TIME + 4 * WORLD_SECOND);
	assert_int_equal(j.intervals, 3);
	assert_int_equal(j.node[0].value, 1501);
	account_job_release(&j);
	/* Over: nothing that comes later is its own. */
	interval(a, world_report(4));
	j = get(a, 881);
	assert_int_equal(j.intervals, 3);
	account_job_release(&j);
	assert_int_equal(changed(a), 1);
	assert_int_equal(accounts_nr(a), 1);
	accounts_saved(a);
	assert_int_equal(accounts_nr(a), 0);
	assert_int_equal(accounts_node(a)->jobs_started, 1);
	assert_int_equal(accounts_node(a)->jobs_ended, 1);
	assert_int_equal(accounts_node(a)->intervals, 5);
	assert_int_equal(accounts_node(a)->totals[0].value, 1501);
	accounts_free(a);
}

/* The clock is set back by an hour: times stay in order, and so does how long it took. */
static void test_times_in_order(void **state)
{
	struct accounts *a = keeper();
	struct account_job j;

	(void)state;
	for (uint64_t i = 0; i < 3; i++) {
		struct report *r = world_report(i);

		if (i)
			r->start_time_ns -= 3600 * WORLD_SECOND;
		world_row(r, SLURM, "1", 881, "0", true)->exited = i == 2;
		world_row(r, SLURM, "1", 881, "", true)->exited = i == 2;
		interval(a, r);
	}
	j = get(a, 881);
	assert_int_equal(j.state, ACCOUNT_ENDED);
	assert_int_equal(j.whole.end_ns - j.whole.start_ns, 3 * WORLD_SECOND);
	assert_int_equal(j.clock_back_ns, 3600 * WORLD_SECOND);
	assert_int_equal(j.nr_steps, 1);
	assert_true(j.steps[0].end_ns >= j.steps[0].start_ns);
	assert_true(j.steps[0].start_ns >= j.whole.start_ns);
	account_job_release(&j);
	accounts_free(a);
}

/* In the first interval: who was there may be older, who was seen being made is not. */
static void test_made(void **state)
{
	struct accounts *a = keeper();
	struct report *r = world_report(0);
	struct account_job j;

	(void)state;
	world_row(r, SLURM, "1", 881, "", true)->job->made = true;
	world_row(r, SLURM, "2", 882, "", true);
	interval(a, r);
	j = get(a, 881);
	assert_false(j.late_start);
	account_job_release(&j);
	j = get(a, 882);
	assert_true(j.late_start);
	account_job_release(&j);
	accounts_free(a);
}

/* Rows of a job that is over, forgotten or not, begin none, and are in the machine's totals. */
static void test_late_rows(void **state)
{
	struct accounts *a = keeper();
	struct account_job j;

	(void)state;
	simple(a, 0, 881, 1000, true);
	simple(a, 1, 881, 100, false);
	j = get(a, 881);
	assert_true(j.late_start);
	assert_int_equal(j.state, ACCOUNT_ENDED);
	assert_int_equal(j.whole.totals[0].value, 1000);
	account_job_release(&j);
	assert_int_equal(changed(a), 1);
	accounts_saved(a);
	simple(a, 2, 881, 10, true);
	/* A row without anything in it is none to speak of. */
	simple(a, 3, 881, 0, false);
	assert_int_equal(accounts_nr(a), 0);
	assert_int_equal(accounts_node(a)->late_rows, 2);
	assert_int_equal(accounts_node(a)->totals[0].value, 1110);
	assert_int_equal(accounts_node(a)->jobs_started, 1);
	accounts_free(a);
}

/* Closed cgroups are remembered for long, but not for ever. */
static void test_many_closed(void **state)
{
	struct accounts *a = keeper();
	uint64_t n = 0;

	(void)state;
	for (uint64_t i = 0; i < 20; i++) {
		struct report *r = world_report(n++);

		for (uint64_t k = 0; k < 1000; k++)
			world_row(r, SLURM, "1", 1 + i * 1000 + k, "", true)->exited = true;
		interval(a, r);
		assert_int_equal(changed(a), 1000);
		accounts_saved(a);
	}
	simple(a, n++, 19999, 5, false);
	/* 10,000 jobs may end at once. */
	simple(a, n++, 9999, 5, false);
	assert_int_equal(accounts_node(a)->late_rows, 2);
	assert_int_equal(accounts_nr(a), 0);
	accounts_free(a);
}

/* However many jobs end with one interval, all of them are given to the store. */
static void test_many_end_at_once(void **state)
{
	const size_t many = 2 * ACCOUNTS_MAX_OVER + 100;
	struct accounts *a = keeper();
	struct report *r = world_report(0);

	(void)state;
	for (uint64_t k = 0; k < many; k++)
		world_row(r, SLURM, "1", 1 + k, "", true)->exited = true;
	interval(a, r);
	assert_int_equal(accounts_node(a)->jobs_dropped, 0);
	assert_int_equal(changed(a), many);
	/* The store did not take them, nor those that come now. */
	simple(a, 1, 900000, 5, true);
	assert_int_equal(accounts_node(a)->jobs_dropped, many - ACCOUNTS_MAX_OVER);
	assert_int_equal(changed(a), ACCOUNTS_MAX_OVER + 1);
	accounts_saved(a);
	assert_int_equal(accounts_nr(a), 0);
	accounts_free(a);
}

/* Without a store, the oldest of those that are over are dropped, and counted. */
static void test_store_fails(void **state)
{
	struct accounts *a = keeper();

	(void)state;
	for (uint64_t i = 0; i < 7; i++) {
		struct report *r = world_report(i);

		world_row(r, SLURM, "7", 900000, "", true);
		if (i == 6) {
			interval(a, r);
			break;
		}
		for (uint64_t k = 0; k < 1000; k++)
			world_row(r, SLURM, "1", 1 + i * 1000 + k, "", true)->exited = true;
		interval(a, r);
	}
	assert_int_equal(accounts_nr(a), ACCOUNTS_MAX_OVER + 1);
	assert_int_equal(accounts_nr_running(a), 1);
	assert_int_equal(accounts_node(a)->jobs_dropped, 6000 - ACCOUNTS_MAX_OVER);
	assert_int_equal(accounts_node(a)->jobs_ended, 6000);
	assert_int_equal(changed(a), ACCOUNTS_MAX_OVER + 1);
	accounts_saved(a);
	assert_int_equal(accounts_nr(a), 1);
	accounts_free(a);
}

/* What changes between giving and saving is not saved. */
static void test_saved_is_what_was_given(void **state)
{
	struct accounts *a = keeper();

	(void)state;
	simple(a, 0, 881, 1, false);
	assert_int_equal(changed(a), 1);
	simple(a, 1, 881, 1, true);
	accounts_saved(a);
	assert_int_equal(accounts_nr(a), 1);
	assert_int_equal(changed(a), 1);
	accounts_saved(a);
	assert_int_equal(accounts_nr(a), 0);
	accounts_free(a);
}

static void test_idle_is_saved_seldom(void **state)
{
	struct accounts *a = keeper();
	size_t saves = 0;

	(void)state;
	simple(a, 0, 881, 1, false);
	assert_int_equal(changed(a), 1);
	accounts_saved(a);
	for (uint64_t i = 1; i <= 2 * ACCOUNTS_IDLE_SAVE; i++) {
		simple(a, i, 881, 0, false);
		saves += changed(a);
		accounts_saved(a);
	}
	assert_int_equal(saves, 2);
	accounts_free(a);
}

static void test_steps(void **state)
{
	struct accounts *a = keeper();
	struct report *r = world_report(0);
	struct report_row *row = world_row(r, SLURM, "12", 881, "0", true);
	struct account_job j;

	(void)state;
	row->on_cpu_ns = 30;
	world_share(r, row, 0, 800);
	world_io(row, 1, 10, 20);
	row = world_row(r, SLURM, "12", 881, "own", true);
	row->on_cpu_ns = 3;
	world_share(r, row, 0, 80);
	/* The job as a whole is better known than its parts. */
	row = world_row(r, SLURM, "12", 881, "", false);
	row->on_cpu_ns = 33;
	world_share(r, row, 0, 880);
	row->shares[0].low = 870;
	row->shares[0].high = 890;
	row = world_row(r, SLURM, "12", 881, "batch", true);
	row->exited = true;
	interval(a, r);
	j = get(a, 881);
	assert_int_equal(j.whole.on_cpu_ns, 33);
	assert_int_equal(j.whole.totals[0].value, 880);
	assert_int_equal(j.whole.totals[0].low, 870);
	assert_int_equal(j.whole.totals[0].high, 890);
	assert_int_equal(j.whole.nr_io, 1);
	assert_string_equal(j.whole.io[0].name, "nvme1n1");
	assert_int_equal(j.whole.io[0].write_bytes, 20);
	assert_int_equal(j.nr_steps, 2);
	assert_string_equal(j.steps[0].step, "0");
	assert_int_equal(j.steps[0].totals[0].value, 800);
	assert_int_equal(j.steps[0].totals[0].low, 700);
	assert_int_equal(j.steps[0].io[0].read_bytes, 10);
	assert_false(j.steps[0].ended);
	assert_string_equal(j.steps[1].step, "batch");
	assert_true(j.steps[1].ended);
	assert_int_equal(j.steps[1].nr_totals, 0);
	assert_false(j.whole.ended);
	assert_string_equal(j.path, "/slurm/job_12");
	account_job_release(&j);
	accounts_free(a);
}

/* Too many steps: the last one takes all that have no place, and itself. */
static void test_many_steps(void **state)
{
	struct accounts *a = keeper();
	struct account_job j;
	char step[16];

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct report *r = world_report(i);

		for (unsigned int k = 0; k < (i ? 300 : ACCOUNT_MAX_STEPS); k++) {
			struct report_row *row;

			snprintf(step, sizeof(step), "%u", k);
			row = world_row(r, SLURM, "12", 881, step, true);
			row->exited = true;
			world_share(r, row, 0, 1);
		}
		interval(a, r);
		j = get(a, 881);
		assert_int_equal(j.nr_steps, ACCOUNT_MAX_STEPS);
		assert_string_equal(j.steps[ACCOUNT_MAX_STEPS - 1].step,
				    i ? ACCOUNT_OTHER_STEPS : "255");
		assert_int_equal(j.steps[ACCOUNT_MAX_STEPS - 1].ended, !i);
		assert_int_equal(j.steps[ACCOUNT_MAX_STEPS - 1].totals[0].value, 1 + i * 45);
		assert_int_equal(j.whole.totals[0].value, 256 + i * 300);
		account_job_release(&j);
	}
	accounts_free(a);
}

/* A stand-in for the id is replaced; the key stays. Ids become harmless in keys. */
static void test_identity(void **state)
{
	struct accounts *a = keeper();
	struct report *r = world_report(0);
	struct report_row *row = world_row(r, SLURM, "s6F/../x", 881, "", true);
	struct account_job j;

	(void)state;
	row->job->provisional = true;
	interval(a, r);
	j = get(a, 881);
	assert_true(j.job.provisional);
	assert_string_equal(j.key, "slurm-s6F_.._x-881-1795190400");
	account_job_release(&j);
	r = world_report(1);
	row = world_row(r, SLURM, "12", 881, "", true);
	snprintf(row->job->name, sizeof(row->job->name), "lbm");
	interval(a, r);
	r = world_report(2);
	row = world_row(r, SLURM, "s6F", 881, "", true);
	row->job->provisional = true;
	snprintf(row->job->user, sizeof(row->job->user), "ann");
	interval(a, r);
	j = get(a, 881);
	assert_false(j.job.provisional);
	assert_string_equal(j.job.id, "12");
	assert_string_equal(j.job.name, "lbm");
	assert_string_equal(j.job.user, "ann");
	assert_string_equal(j.key, "slurm-s6F_.._x-881-1795190400");
	account_job_release(&j);
	accounts_free(a);
}

/* Who has no account is in the machine's totals only. */
static void test_others(void **state)
{
	struct accounts *a = keeper();
	struct report *r = world_report(0);

	(void)state;
	world_share(r, world_row(r, SCHEDULER_NONE, NULL, 0, "", true), 0, 11);
	world_share(r, world_row(r, SCHEDULER_SYSTEMD, "cron", 5, "", true), 0, 31);
	world_rest(r, 0, REASON_IDLE, 8);
	interval(a, r);
	assert_int_equal(accounts_nr(a), 0);
	assert_int_equal(accounts_node(a)->totals[0].value, 50);
	assert_int_equal(accounts_node(a)->totals[0].attributed, 42);
	assert_int_equal(accounts_node(a)->totals[0].unattributed[REASON_IDLE], 8);
	accounts_free(a);
}

/* Sums pass 2^64 and stay exact, over a restart as well. */
static void test_large_sums(void **state)
{
	struct accounts *a = keeper();
	struct account_job j;

	(void)state;
	for (uint64_t i = 0; i < 3; i++)
		simple(a, i, 881, UINT64_MAX - 5, false);
	j = get(a, 881);
	assert_true(j.whole.totals[0].value == 3 * (sum128)(UINT64_MAX - 5));
	assert_true(j.node[0].value == j.whole.totals[0].value);
	assert_true(j.node[0].attributed == j.whole.totals[0].value);
	assert_true(accounts_node(a)->totals[0].value == j.whole.totals[0].value);
	account_job_release(&j);
	/* A job that comes later is not hurt by it. */
	simple(a, 3, 882, 17, true);
	j = get(a, 882);
	assert_int_equal(j.node[0].value, 17);
	account_job_release(&j);
	accounts_free(a);
}

static void test_refused(void **state)
{
	struct accounts *a = keeper();
	struct report *r = world_report(0);

	(void)state;
	r->by = ROW_CGROUP;
	assert_int_equal(accounts_interval(a, r), -EINVAL);
	r->by = ROW_JOB;
	r->summary = true;
	assert_int_equal(accounts_interval(a, r), -EINVAL);
	r->summary = false;
	r->end_ns = r->start_ns - 1;
	assert_int_equal(accounts_interval(a, r), -EINVAL);
	report_free(r);
	assert_int_equal(accounts_node(a)->intervals, 0);
	accounts_free(a);
}

/* --- restarts */

static struct accounts *restart(struct accounts *a, const char *boot, uint64_t now_ns)
{
	struct accounts_options o = { .schedulers = 1U << SLURM };
	struct accounts_node node = world_copy_node(accounts_node(a));
	struct account_job j = get(a, 881);
	struct accounts *b = NULL;

	snprintf(o.boot, sizeof(o.boot), "%s", boot);
	accounts_free(a);
	assert_int_equal(accounts_new(&o, &b), 0);
	assert_int_equal(accounts_restore(b, &node, &j, 1, now_ns), 0);
	/* Only before the first interval, and only once. */
	assert_int_equal(accounts_restore(b, &node, &j, 1, now_ns), -EINVAL);
	accounts_node_release(&node);
	account_job_release(&j);
	return b;
}

static void test_goes_on(void **state)
{
	struct accounts *a = keeper();
	struct account_job j;

	(void)state;
	simple(a, 0, 881, 100, false);
	simple(a, 1, 881, 10, false);
	a = restart(a, WORLD_BOOT, UINT64_MAX);
	j = get(a, 881);
	assert_int_equal(j.whole.totals[0].value, 110);
	assert_int_equal(j.node[0].value, 110);
	account_job_release(&j);
	assert_int_equal(changed(a), 0);
	simple(a, 5, 881, 1, false);
	j = get(a, 881);
	assert_int_equal(j.state, ACCOUNT_RUNNING);
	assert_int_equal(j.nr_gaps, 1);
	assert_int_equal(j.gaps[0].start_ns, WORLD_TIME + 2 * WORLD_SECOND);
	assert_int_equal(j.gaps[0].end_ns, WORLD_TIME + 5 * WORLD_SECOND);
	assert_int_equal(j.gap_ns, 3 * WORLD_SECOND);
	assert_int_equal(j.intervals, 3);
	assert_int_equal(j.covered_ns, 3 * WORLD_SECOND);
	assert_int_equal(j.whole.totals[0].value, 111);
	assert_int_equal(j.node[0].value, 111);
	assert_int_equal(j.whole.start_ns, WORLD_TIME);
	account_job_release(&j);
	assert_int_equal(accounts_node(a)->gaps, 1);
	assert_int_equal(accounts_node(a)->gap_ns, 3 * WORLD_SECOND);
	assert_int_equal(accounts_node(a)->jobs_started, 1);
	assert_int_equal(accounts_node(a)->totals[0].value, 111);
	accounts_free(a);
}

static void test_stale(void **state)
{
	struct accounts *a;
	struct account_job j;

	(void)state;
	for (int reboot = 0; reboot < 2; reboot++) {
		a = keeper();
		simple(a, 0, 881, 100, false);
		a = restart(a, reboot ? "another" : WORLD_BOOT, UINT64_MAX);
		/* Numbers of cgroups begin anew with each boot. */
		simple(a, 5, reboot ? 881 : 882, 1, false);
		assert_int_equal(accounts_nr(a), 2);
		assert_int_equal(accounts_node(a)->jobs_stale, 1);
		assert_int_equal(changed(a), 2);
		accounts_saved(a);
		assert_int_equal(accounts_nr(a), 1);
		j = get(a, reboot ? 881 : 882);
		assert_true(j.late_start);
		assert_int_equal(j.nr_gaps, 0);
		assert_int_equal(j.node[0].value, 1);
		account_job_release(&j);
		accounts_free(a);
	}
	a = keeper();
	simple(a, 0, 881, 100, false);
	a = restart(a, WORLD_BOOT, UINT64_MAX);
	interval(a, world_report(9));
	j = get(a, 881);
	assert_int_equal(j.state, ACCOUNT_STALE);
	assert_false(j.whole.ended);
	assert_int_equal(j.whole.end_ns, WORLD_TIME + WORLD_SECOND);
	assert_int_equal(j.intervals, 1);
	assert_int_equal(j.nr_gaps, 0);
	account_job_release(&j);
	accounts_free(a);
}

/* Another session in the same keeper: there is a hole between two intervals. */
static void test_hole(void **state)
{
	struct accounts *a = keeper();
	struct report *r;
	struct account_job j;

	(void)state;
	r = world_report(0);
	world_share(r, world_row(r, SLURM, "1", 5, "", true), 0, 7);
	world_share(r, world_row(r, SLURM, "2", 6, "", true), 0, 7);
	interval(a, r);
	r = world_report(3);
	world_share(r, world_row(r, SLURM, "1", 5, "", true), 0, 7);
	world_share(r, world_row(r, SLURM, "3", 8, "", true), 0, 7);
	interval(a, r);
	j = get(a, 5);
	assert_int_equal(j.gap_ns, 2 * WORLD_SECOND);
	assert_int_equal(j.node[0].value, 28);
	account_job_release(&j);
	j = get(a, 6);
	assert_int_equal(j.state, ACCOUNT_STALE);
	assert_int_equal(j.node[0].value, 14);
	account_job_release(&j);
	j = get(a, 8);
	assert_true(j.late_start);
	account_job_release(&j);
	accounts_free(a);
}

static void test_many_gaps(void **state)
{
	struct accounts *a = keeper();
	struct account_job j;

	(void)state;
	for (uint64_t i = 0; i < 20; i++)
		simple(a, i * 2, 881, 1, false);
	j = get(a, 881);
	assert_int_equal(j.nr_gaps, ACCOUNT_MAX_GAPS);
	assert_int_equal(j.gap_ns, 19 * WORLD_SECOND);
	assert_int_equal(j.gaps[ACCOUNT_MAX_GAPS - 1].end_ns, WORLD_TIME + 38 * WORLD_SECOND);
	account_job_release(&j);
	accounts_free(a);
}

/* The clock was set back: what was "after now" is now. */
static void test_clock_set_back(void **state)
{
	struct accounts *a = keeper();
	struct account_job j;

	(void)state;
	simple(a, 8, 881, 1, false);
	a = restart(a, WORLD_BOOT, WORLD_TIME + 3 * WORLD_SECOND);
	simple(a, 5, 881, 1, false);
	j = get(a, 881);
	assert_int_equal(j.gap_ns, 2 * WORLD_SECOND);
	assert_int_equal(accounts_node(a)->gap_ns, 2 * WORLD_SECOND);
	account_job_release(&j);
	accounts_free(a);
}

static void test_restore_refuses(void **state)
{
	struct accounts *a = keeper(), *b = keeper();
	struct accounts_node node;
	struct account_job j, bad;

	(void)state;
	simple(a, 0, 881, 100, false);
	node = world_copy_node(accounts_node(a));
	j = get(a, 881);
	accounts_free(a);
	bad = j;
	bad.state = ACCOUNT_ENDED;
	assert_int_equal(accounts_restore(b, &node, &bad, 1, UINT64_MAX), -EINVAL);
	bad = j;
	bad.nr_gaps = ACCOUNT_MAX_GAPS + 1;
	assert_int_equal(accounts_restore(b, &node, &bad, 1, UINT64_MAX), -EINVAL);
	j.whole.totals[0].counter = WORLD_COUNTERS;
	assert_int_equal(accounts_restore(b, &node, &j, 1, UINT64_MAX), -EINVAL);
	j.whole.totals[0].counter = 0;
	j.node[3].counter = WORLD_COUNTERS;
	assert_int_equal(accounts_restore(b, &node, &j, 1, UINT64_MAX), -EINVAL);
	j.node[3].counter = 3;
	node.totals[2].counter = 1;
	assert_int_equal(accounts_restore(b, &node, &j, 1, UINT64_MAX), -EINVAL);
	node.totals[2].counter = 2;
	assert_int_equal(accounts_nr(b), 0);
	assert_int_equal(accounts_node(b)->intervals, 0);
	assert_int_equal(accounts_restore(b, &node, &j, 1, UINT64_MAX), 0);
	accounts_free(b);
	accounts_node_release(&node);
	account_job_release(&j);
}

/* Another set of counters after a restart: who they are does not depend on their places. */
static void test_other_layout(void **state)
{
	static struct counter more;
	struct accounts *a = keeper();
	struct report *r = world_report(0);
	struct report_row *row = world_row(r, SLURM, "12", 881, "", true);
	struct account_job j;

	(void)state;
	world_share(r, row, 0, 100);
	world_share(r, row, 1, 200);
	interval(a, r);
	a = restart(a, WORLD_BOOT, UINT64_MAX);
	r = world_report(3);
	more = (struct counter){ .name = "new", .socket = 1 };
	r->counters[0].counter = &world_counters[1];
	r->counters[1].counter = &more;
	r->nr_counters = 2;
	row = world_row(r, SLURM, "12", 881, "", true);
	world_share(r, row, 0, 7);
	world_share(r, row, 1, 9);
	interval(a, r);
	j = get(a, 881);
	assert_int_equal(accounts_node(a)->nr_counters, WORLD_COUNTERS + 1);
	assert_int_equal(accounts_node(a)->totals[WORLD_COUNTERS].missing, 1);
	assert_int_equal(accounts_node(a)->totals[0].missing, 1);
	assert_int_equal(j.whole.nr_totals, 3);
	assert_int_equal(j.whole.totals[0].value, 100);
	assert_int_equal(j.whole.totals[1].value, 207);
	assert_int_equal(j.whole.totals[2].value, 9);
	assert_int_equal(j.nr_node, WORLD_COUNTERS + 1);
	assert_int_equal(j.node[0].missing, 1);
	assert_int_equal(j.node[1].missing, 0);
	assert_int_equal(j.node[1].value, 207);
	assert_int_equal(j.node[WORLD_COUNTERS].counter, WORLD_COUNTERS);
	assert_int_equal(j.node[WORLD_COUNTERS].missing, 1);
	account_job_release(&j);
	accounts_free(a);
}

static void test_counters(void **state)
{
	struct accounts *a = keeper();
	struct report *r = world_report(0);
	static struct counter requests, to_cmem;

	(void)state;
	requests = world_counters[0];
	requests.unit = UNIT_REQUESTS;
	r->counters[0].counter = &requests;
	to_cmem = world_counters[5];
	to_cmem.destination = DESTINATION_CMEM;
	snprintf(to_cmem.name, sizeof(to_cmem.name), "pcie0/rd_cmem");
	r->counters[1].counter = &to_cmem;
	r->counters[2].valid = false;
	interval(a, r);
	/* Requests are no bytes. */
	assert_int_equal(accounts_node(a)->nr_counters, WORLD_COUNTERS - 1);
	assert_string_equal(accounts_node(a)->counters[0].name, "pcie0/rd_cmem");
	assert_false(accounts_node(a)->counters[0].whole);
	assert_string_equal(accounts_node(a)->counters[0].bdf, "0002:81:00.0");
	assert_int_equal(accounts_node(a)->totals[1].missing, 1);
	assert_int_equal(accounts_node(a)->totals[1].enabled_ns, WORLD_SECOND);
	assert_true(accounts_node(a)->counters[4].whole);
	assert_string_equal(accounts_node(a)->counters[4].bdf, "0002:81:00.0");
	assert_true(accounts_node(a)->counters[1].whole);
	assert_int_equal(accounts_node(a)->counters[10].socket, 1);
	accounts_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_times_in_order),
		cmocka_unit_test(test_made),
		cmocka_unit_test(test_late_rows),
		cmocka_unit_test(test_many_closed),
		cmocka_unit_test(test_many_end_at_once),
		cmocka_unit_test(test_store_fails),
		cmocka_unit_test(test_saved_is_what_was_given),
		cmocka_unit_test(test_idle_is_saved_seldom),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_many_steps),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_large_sums),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_goes_on),
		cmocka_unit_test(test_stale),
		cmocka_unit_test(test_hole),
		cmocka_unit_test(test_many_gaps),
		cmocka_unit_test(test_clock_set_back),
		cmocka_unit_test(test_restore_refuses),
		cmocka_unit_test(test_other_layout),
		cmocka_unit_test(test_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
