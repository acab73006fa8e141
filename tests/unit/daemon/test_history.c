// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The history of jobs, from reports that are built by hand to intervals that are read again. */
#include "store_world.h"

#include <inttypes.h>
#include <sqlite3.h>

#include "account_world.h"
#include "cli/settings.h"
#include "daemon/serve_keeper.h"
#include "random.h"
#include "report/job/job_report.h"
#include "valgrind.h"

#define SLURM SCHEDULER_SLURM
#define S     WORLD_SECOND

struct bench {
	struct tree tree;
	struct serve_config config;
	struct serve_keeper keeper;
	struct draw draw;
	bool clock_set;
};

static const struct history_config history = {
	.nr = 2, .steps = { { 10 * S, 120 * S }, { 60 * S, 36000 * S } }
};

static void start(struct bench *b)
{
	struct diag d = { 0 };

	b->keeper = SERVE_KEEPER_INIT;
	assert_int_equal(serve_keeper_open(&b->keeper, &b->config, &d), 0);
}

static void setup(struct bench *b)
{
	*b = (struct bench){ .draw = { 5 } };
	tree_make(&b->tree);
	b->config = (struct serve_config){ .interval_ns = S,
					   .schedulers = 1u << SLURM,
					   .spool_max_files = 10000,
					   .history = history,
					   .top = 10 };
	tree_path(&b->tree, "accounts.db", b->config.state);
	tree_path(&b->tree, "spool", b->config.spool);
	start(b);
}

static void teardown(struct bench *b)
{
	serve_keeper_close(&b->keeper);
	tree_remove(&b->tree);
}

static void interval(struct bench *b, struct report *r)
{
	struct diag d = { 0 };

	assert_int_equal(serve_keeper_interval(&b->keeper, &b->config, r, &d), 0);
}

/* A job that is there, and does something or nothing */
static struct report_row *job(struct bench *b, struct report *r, uint64_t number, bool active)
{
	struct report_row *row;
	char id[16];

	snprintf(id, sizeof(id), "%" PRIu64, number);
	row = world_row(r, SLURM, id, 880 + number, "", true);
	for (uint32_t c = 0; active && c < WORLD_COUNTERS; c++)
		if (r->counters[c].valid && draw_u64(&b->draw) % 3)
			world_share(r, row, c, draw_u64(&b->draw) % 1000000007);
	if (active) {
		row->on_cpu_ns = draw_u64(&b->draw) % S;
		world_io(row, 0, draw_u64(&b->draw) % 4096, 7);
	}
	return row;
}

/* What a job's history comes to */
struct run_loop {
	struct account_list intervals;
	bool whole;
	uint64_t gap_ns;
	uint64_t longest_ns;
	size_t nr_short;
	size_t nr_gaps;
};

static int take_first(void *arg, const struct account_job *j)
{
	return account_list_add(arg, j) ?: 1;
}

static struct run_loop course_of(struct bench *b, const char *id)
{
	const struct store_query q = { .id = id };
	struct account_list found = { 0 };
	struct run_loop c = { 0 };
	struct diag d = { 0 };
	uint64_t covered_ns = 0;
	struct store *s;

	assert_int_equal(store_open(b->config.state, false, &d, &s), 0);
	assert_int_equal(store_each_job(s, &q, take_first, &found, &d), 1);
	assert_int_equal(store_each_span(s, found.jobs[0].key, account_list_add, &c.intervals, &d),
			 0);
	assert_int_equal(job_history_whole(&found.jobs[0], &c.intervals, &c.whole), 0);
	for (size_t i = 0; i < c.intervals.nr; i++) {
		const struct account_job *at = &c.intervals.jobs[i];
		uint64_t length = at->whole.end_ns - at->whole.start_ns;

		assert_true(at->whole.start_ns <= at->whole.end_ns);
		/* None reaches over a gap: all of it was looked at. */
		if (!b->clock_set)
			assert_int_equal(length, at->covered_ns);
		covered_ns += at->covered_ns;
		c.gap_ns += at->gap_ns;
		c.nr_gaps += at->gap_ns != 0;
		c.nr_short += length < 30 * S;
		c.longest_ns = length > c.longest_ns ? length : c.longest_ns;
	}
	assert_int_equal(c.gap_ns, found.jobs[0].gap_ns);
	if (c.whole)
		assert_in_range(covered_ns, found.jobs[0].covered_ns,
				found.jobs[0].covered_ns + 2 * ACCOUNTS_IDLE_SAVE * S);
	account_list_release(&found);
	store_close(s);
	return c;
}

static void release(struct run_loop *c)
{
	account_list_release(&c->intervals);
}

/* 2 works now and then, 3 is there from second 17 to 95, 5 does nothing at all. */
static struct report *second(struct bench *b, uint64_t number)
{
	struct report *r = world_report(number);

	/* A counter that cannot be read for a while */
	if (number % 100 > 60)
		r->counters[4].valid = false;
	job(b, r, 1, true);
	job(b, r, 2, number % 37 == 5);
	if (number >= 17 && number <= 95)
		job(b, r, 3, true)->exited = number == 95;
	if (number == 33)
		job(b, r, 4, true)->exited = true;
	job(b, r, 5, false);
	return r;
}

static void assert_whole(struct bench *b, const char *id)
{
	struct run_loop c = course_of(b, id);

	if (!c.whole)
		fail_msg("the history of job %s is not its account", id);
	release(&c);
}

/* All intervals of a job are its account, to the byte, however old and coarse they are. */
static void test_conserved(void **state)
{
	struct bench b;
	struct run_loop c;

	(void)state;
	setup(&b);
	for (uint64_t i = 0; i < 700; i++) {
		interval(&b, second(&b, i));
		if (i % 50 == 3) {
			assert_whole(&b, "1");
			if (i >= 17)
				assert_whole(&b, "3");
		}
	}
	assert_whole(&b, "2");
	assert_whole(&b, "4");
	assert_whole(&b, "5");
	c = course_of(&b, "1");
	/* The last two to three minutes are fine, the rest is by the minute. */
	assert_in_range(c.nr_short, 12, 20);
	assert_in_range(c.intervals.nr - c.nr_short, 8, 12);
	assert_in_range(c.longest_ns, 59 * S, 61 * S);
	release(&c);
	c = course_of(&b, "3");
	assert_int_equal(c.intervals.jobs[0].whole.start_ns, WORLD_TIME + 17 * S);
	assert_int_equal(c.intervals.jobs[c.intervals.nr - 1].whole.end_ns, WORLD_TIME + 96 * S);
	release(&c);
	teardown(&b);
}

/* An interval that begins in one minute and ends in the next belongs to the first: none stays fine. */
static void test_across_steps(void **state)
{
	struct bench b;
	struct run_loop c;

	(void)state;
	setup(&b);
	for (uint64_t i = 5; i < 700; i++)
		interval(&b, second(&b, i));
	assert_whole(&b, "1");
	c = course_of(&b, "1");
	/* As in test_conserved() */
	assert_in_range(c.nr_short, 12, 20);
	assert_in_range(c.intervals.nr - c.nr_short, 8, 12);
	assert_in_range(c.longest_ns, 59 * S, 70 * S);
	release(&c);
	teardown(&b);
}

/* A counter without a value is missing in an interval, also in one that was joined; 0 is a value. */
static void test_missing(void **state)
{
	struct bench b;
	struct run_loop c;
	size_t none = 0, some = 0;

	(void)state;
	setup(&b);
	for (uint64_t i = 0; i < 150; i++)
		interval(&b, second(&b, i));
	c = course_of(&b, "1");
	for (size_t i = 0; i < c.intervals.nr; i++) {
		const struct account_job *at = &c.intervals.jobs[i];

		assert_int_equal(at->node[4].counter, 4);
		assert_true(at->node[4].missing <= at->intervals);
		none += at->node[4].missing == at->intervals;
		some += at->node[4].missing && at->node[4].missing < at->intervals;
		if (at->node[4].missing == at->intervals)
			assert_int_equal(at->node[4].value, 0);
		assert_int_equal(at->node[0].missing, 0);
		assert_int_equal(at->node[0].enabled_ns, at->intervals * S);
		assert_int_equal(at->quality.windows, at->intervals * 100);
	}
	assert_true(none && some);
	release(&c);
	teardown(&b);
}

/* A daemon that is killed loses nothing that was in the store; what it did not see is a gap. */
static void killed(void *arg)
{
	struct bench *b = arg;

	for (uint64_t i = 100; i < 114; i++)
		interval(b, second(b, i));
	end_well();
}

static void test_killed(void **state)
{
	struct bench b;
	struct run_loop c;
	pid_t pid;
	int status;

	(void)state;
	setup(&b);
	for (uint64_t i = 0; i < 100; i++)
		interval(&b, second(&b, i));
	serve_keeper_close(&b.keeper);
	pid = fork();
	if (!pid) {
		start(&b);
		killed(&b);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	start(&b);
	for (uint64_t i = 150; i < under_valgrind(300, 600); i++)
		interval(&b, second(&b, i));
	assert_whole(&b, "2");
	assert_whole(&b, "3");
	c = course_of(&b, "1");
	assert_true(c.whole);
	/* none between 99 and 100: it was not there, but nothing was missed */
	assert_int_equal(c.nr_gaps, 1);
	assert_int_equal(c.gap_ns, (150 - 114) * S);
	release(&c);
	teardown(&b);
}

/* What the store does not take makes one longer interval, in which all of it is. */
static void test_locked(void **state)
{
	struct bench b;
	struct run_loop c;
	sqlite3 *db;

	(void)state;
	setup(&b);
	for (uint64_t i = 0; i < 25; i++)
		interval(&b, second(&b, i));
	assert_int_equal(sqlite3_open(b.config.state, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	for (uint64_t i = 25; i < 40; i++)
		interval(&b, second(&b, i));
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	for (uint64_t i = 40; i < 130; i++)
		interval(&b, second(&b, i));
	c = course_of(&b, "1");
	assert_true(c.whole);
	assert_int_equal(c.longest_ns, 21 * S);
	release(&c);
	assert_whole(&b, "3");
	assert_whole(&b, "4");
	teardown(&b);
}

/* A full disk: what was in the store stays, what came meanwhile is in the next interval. */
static void on_full_disk(void *arg)
{
	struct bench *b = arg;
	char filler[PATH_MAX];
	uint64_t i = 0;

	if (!mount_small(b->tree.root, "size=4m")) {
		fprintf(stderr, "no rights to mount: not tested\n");
		end_well();
	}
	start(b);
	for (; i < 45; i++)
		interval(b, second(b, i));
	tree_path(&b->tree, "filler", filler);
	fill_up(filler);
	/* there is room in the file and its log for some more jobs */
	for (; i < 400 && b->keeper.store_trouble.errors < 25; i++) {
		struct report *r = second(b, i);

		for (uint64_t k = 0; k < 30; k++)
			job(b, r, 1000 + i * 30 + k, true)->exited = true;
		interval(b, r);
	}
	CHECK(b->keeper.store_trouble.errors == 25);
	CHECK(!unlink(filler));
	for (uint64_t end = i + 20; i < end; i++)
		interval(b, second(b, i));
	CHECK(!b->keeper.store_trouble.now);
	assert_whole(b, "1");
	assert_whole(b, "2");
	serve_keeper_close(&b->keeper);
}

static void test_full_disk(void **state)
{
	struct bench b;

	(void)state;
	setup(&b);
	serve_keeper_close(&b.keeper);
	in_child(on_full_disk, &b);
	start(&b);
	teardown(&b);
}

/* A clock that is set back or forward changes times, and no number. */
static void test_clock(void **state)
{
	struct bench b;
	struct run_loop c;

	(void)state;
	setup(&b);
	b.clock_set = true;
	for (uint64_t i = 0; i < 400; i++) {
		struct report *r = second(&b, i);

		if (i >= 205)
			r->start_time_ns -= 3600 * S;
		if (i >= 305)
			r->start_time_ns += 3700 * S;
		/* with a new interval of the history */
		if (i >= 370)
			r->start_time_ns -= 100 * S;
		interval(&b, r);
	}
	c = course_of(&b, "1");
	assert_true(c.whole);
	assert_int_equal(c.nr_gaps, 0);
	release(&c);
	teardown(&b);
}

/* With another setting: nothing, then a history that does not begin with the job */
static void test_switched(void **state)
{
	struct bench b;
	struct run_loop c;

	(void)state;
	setup(&b);
	b.config.history.nr = 0;
	for (uint64_t i = 0; i < 30; i++)
		interval(&b, second(&b, i));
	c = course_of(&b, "1");
	assert_int_equal(c.intervals.nr, 0);
	assert_false(c.whole);
	b.config.history = history;
	for (uint64_t i = 30; i < 60; i++)
		interval(&b, second(&b, i));
	c = course_of(&b, "1");
	assert_int_equal(c.intervals.nr, 3);
	assert_int_equal(c.intervals.jobs[0].whole.start_ns, WORLD_TIME + 30 * S);
	assert_false(c.whole);
	release(&c);
	assert_whole(&b, "4");
	b.config.history.nr = 0;
	b.keeper.thin_ns = 0;
	/* a few of them each time, when it takes long */
	for (uint64_t i = 60; i < 90; i++)
		interval(&b, second(&b, i));
	c = course_of(&b, "1");
	assert_int_equal(c.intervals.nr, 0);
	release(&c);
	teardown(&b);
}

static int64_t number(struct bench *b, const char *sql)
{
	sqlite3_stmt *st;
	sqlite3 *db;
	int64_t value;

	assert_int_equal(sqlite3_open(b->config.state, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	value = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	return value;
}

/* While the clock is not believed nothing is old enough to be joined or dropped; then it goes on. */
static void test_wrong_clock(void **state)
{
	const char *joined = "SELECT count(*) FROM spans WHERE length_ns>10000000000";
	struct bench b;
	struct report *r;

	(void)state;
	setup(&b);
	b.clock_set = true;
	for (uint64_t i = 0; i < 350; i++) {
		r = second(&b, i);
		if (i >= 100 && i < 300)
			r->start_time_ns += 2 * 36000 * S;
		interval(&b, r);
		if (i == 299)
			assert_int_equal(number(&b, joined), 0);
	}
	assert_true(number(&b, joined) > 0);
	assert_whole(&b, "1");
	teardown(&b);
}

/* It is bounded, and what is dropped is missed. */
static void test_bounded(void **state)
{
	struct bench b;
	struct run_loop c;

	(void)state;
	setup(&b);
	b.config.history.steps[1].keep_ns = 300 * S;
	for (uint64_t i = 0; i < under_valgrind(600, 1500); i++)
		interval(&b, second(&b, i));
	/* 12 of 10 s, those of the minute that is not old enough, and 5 of a minute */
	assert_in_range(number(&b, "SELECT count(*) FROM spans"), 15, 25);
	assert_int_equal(number(&b, "SELECT count(*) FROM job_spans WHERE span NOT IN "
				    "(SELECT number FROM spans)"),
			 0);
	c = course_of(&b, "1");
	assert_false(c.whole);
	assert_in_range(c.intervals.nr, 15, 25);
	release(&c);
	c = course_of(&b, "4");
	assert_int_equal(c.intervals.nr, 0);
	release(&c);
	teardown(&b);
}

/* With a job that is forgotten its intervals go, and no others. */
static void test_forgotten(void **state)
{
	const struct store_bounds bounds = { .before_ns = WORLD_TIME + 97 * S,
					     .unreported_before_ns = WORLD_TIME + 97 * S };
	struct bench b;
	struct store_pruned p;
	struct diag d = { 0 };

	(void)state;
	setup(&b);
	for (uint64_t i = 0; i < 200; i++)
		interval(&b, second(&b, i));
	assert_true(number(&b, "SELECT count(*) FROM job_spans JOIN span_jobs USING(job) WHERE "
			       "key LIKE 'slurm-3-%'") > 0);
	assert_int_equal(store_prune(b.keeper.store, &bounds, &d, &p), 0);
	assert_int_equal(p.reported + p.unreported, 2);
	assert_int_equal(number(&b, "SELECT count(*) FROM span_jobs WHERE gone=1"), 2);
	for (uint64_t i = 200; i < 210; i++)
		interval(&b, second(&b, i));
	assert_int_equal(number(&b, "SELECT count(*) FROM span_jobs"), 3);
	assert_int_equal(number(&b, "SELECT count(*) FROM job_spans WHERE job NOT IN "
				    "(SELECT job FROM span_jobs)"),
			 0);
	assert_whole(&b, "1");
	assert_whole(&b, "2");
	teardown(&b);
}

/* A damaged interval costs itself: it is missed, joined with none, and not in the way. */
static void test_damaged(void **state)
{
	struct bench b;
	struct run_loop c;
	sqlite3 *db;

	(void)state;
	setup(&b);
	for (uint64_t i = 0; i < 100; i++)
		interval(&b, second(&b, i));
	assert_int_equal(sqlite3_open(b.config.state, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db,
				      "UPDATE spans SET details=x'0102030405' WHERE number IN "
				      "(1,4); UPDATE job_spans SET details=x'00' WHERE span=3",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	c = course_of(&b, "1");
	assert_int_equal(c.intervals.nr, 10 - 3);
	assert_false(c.whole);
	release(&c);
	for (uint64_t i = 100; i < 400; i++)
		interval(&b, second(&b, i));
	assert_false(b.keeper.store_trouble.now);
	assert_int_equal(b.keeper.store_trouble.errors, 0);
	c = course_of(&b, "1");
	assert_in_range(c.longest_ns, 59 * S, 61 * S);
	release(&c);
	teardown(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conserved),   cmocka_unit_test(test_across_steps),
		cmocka_unit_test(test_missing),	    cmocka_unit_test(test_killed),
		cmocka_unit_test(test_locked),	    cmocka_unit_test(test_clock),
		cmocka_unit_test(test_wrong_clock), cmocka_unit_test(test_switched),
		cmocka_unit_test(test_bounded),	    cmocka_unit_test(test_forgotten),
		cmocka_unit_test(test_damaged),	    cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
