// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Metrics over restarts of the daemon, as Prometheus adds them up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/serve_pages.h"
#include "keeper_world.h"

/* Has a sample of the metrics this value, digit by digit? */
static bool has_sample(struct bench *b, const char *series, const char *value)
{
	struct serve_pages pages = { .keeper = &b->keeper, .config = &b->config };
	const struct http_request q = { "/metrics", "", -1 };
	struct http_page got = { 0 };
	const char *at;
	bool has;

	assert_int_equal(serve_pages_get(&pages, &q, &got), 0);
	at = memmem(got.body, got.size, series, strlen(series));
	has = at && !strncmp(at + strlen(series), value, strlen(value));
	if (!has)
		print_message("%s%.40s\n", series, at ? at + strlen(series) : "is not there");
	free(got.body);
	serve_pages_release(&pages);
	return has;
}

/* A sample of the metrics; 0 when there is none. */
static uint64_t sample(struct bench *b, const char *series)
{
	struct serve_pages pages = { .keeper = &b->keeper, .config = &b->config };
	const struct http_request q = { "/metrics", "", -1 };
	struct http_page got = { 0 };
	const char *at;
	uint64_t value;

	assert_int_equal(serve_pages_get(&pages, &q, &got), 0);
	at = memmem(got.body, got.size, series, strlen(series));
	value = at ? strtoull(at + strlen(series), NULL, 10) : 0;
	free(got.body);
	serve_pages_release(&pages);
	return value;
}

static const char *const growing[] = {
	"t410trace_memory_bytes_total{socket=\"0\",source=\"cpu\",direction=\"read\","
	"destination=\"cmem\"} ",
	"t410trace_memory_attributed_bytes_total{socket=\"0\",source=\"cpu\",direction=\"read\","
	"destination=\"cmem\"} ",
	"\nt410trace_intervals_total ",
	"\nt410trace_windows_total ",
	"\nt410trace_jobs_total{event=\"started\"} ",
};
#define GROWING (sizeof(growing) / sizeof(growing[0]))

/* As Prometheus: a counter that goes back was reset, and all that it has is new. */
static void scrape(struct bench *b, uint64_t last[GROWING], uint64_t sum[GROWING])
{
	for (size_t i = 0; i < GROWING; i++) {
		uint64_t now = sample(b, growing[i]);

		sum[i] += now < last[i] ? now : now - last[i];
		last[i] = now;
	}
}

static void share_and_scrape(struct bench *b, uint64_t number, uint64_t bytes, uint64_t *last,
			     uint64_t *sum)
{
	struct report *r = world_report(number);

	world_share(r, world_row(r, SLURM, "1", 881 + number, "", true), 0, bytes);
	interval(b, r);
	scrape(b, last, sum);
}

static void fail_and_restart(struct bench *b, uint64_t sum[GROWING])
{
	uint64_t last[GROWING] = { 0 };
	sqlite3 *db;

	share_and_scrape(b, 0, 1000, last, sum);
	restart(b);
	scrape(b, last, sum);
	share_and_scrape(b, 1, 50, last, sum);
	assert_int_equal(sqlite3_open(b->config.state, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	share_and_scrape(b, 2, 100, last, sum);
	share_and_scrape(b, 3, 100, last, sum);
	assert_true(b->keeper.store_trouble.now);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	restart(b);
	share_and_scrape(b, 4, 10, last, sum);
}

/* Prometheus sees each byte once, also when the last intervals of a run were not stored. */
static void test_metrics_after_restart(void **state)
{
	static const uint64_t expected[GROWING] = { 1260, 1260, 5, 500, 5 };
	uint64_t sums[GROWING] = { 0 };
	struct bench b;

	(void)state;
	setup(&b);
	fail_and_restart(&b, sums);
	for (size_t i = 0; i < GROWING; i++)
		if (sums[i] != expected[i])
			fail_msg("%s: %" PRIu64 ", not %" PRIu64, growing[i], sums[i], expected[i]);
	/* Accounts go on over restarts, without what was not stored. */
	assert_int_equal(accounts_node(b.keeper.accounts)->intervals, 3);
	teardown(&b);
}

/* A report whose first counter is another one, with a job that reads so much of it. */
static void share_of(struct bench *b, uint64_t number, const struct counter *first, uint64_t bytes)
{
	struct report *r = world_report(number);

	r->counters[0].counter = first;
	world_share(r, world_row(r, SLURM, "1", 881, "", true), 0, bytes);
	world_rest(r, 0, REASON_IDLE, 5);
	interval(b, r);
}

static int both_totals(void *arg, const struct account_job *j)
{
	const struct account_part *p = &j->whole;
	const size_t *last = arg;

	assert_int_equal(p->nr_totals, 2);
	assert_int_equal(p->totals[0].value, 1000);
	assert_int_equal(p->totals[1].counter, *last);
	assert_int_equal(p->totals[1].value, 30);
	assert_int_equal(j->node[0].value, 1005);
	assert_int_equal(j->node[*last].value, 35);
	assert_int_equal(j->node[*last].missing, 1);
	return 1;
}

/* A restart with a changed first counter: the old one keeps its number and its sums. */
static void change_counter(const struct counter *to)
{
	const struct accounts_node *n;
	struct account_counter was;
	size_t last = WORLD_COUNTERS;
	struct bench b;

	setup(&b);
	share_of(&b, 0, &world_counters[0], 1000);
	was = accounts_node(b.keeper.accounts)->counters[0];
	restart(&b);
	share_of(&b, 1, to, 30);
	for (int again = 0; again < 2; again++) {
		n = accounts_node(b.keeper.accounts);
		assert_int_equal(n->nr_counters, last + 1);
		assert_true(account_counter_same(&n->counters[0], &was));
		assert_false(account_counter_same(&n->counters[last], &was));
		assert_int_equal(n->counters[last].direction, to->direction);
		assert_int_equal(n->counters[last].source, to->source);
		assert_int_equal(n->counters[last].destination, to->destination);
		assert_int_equal(n->totals[0].value, 1005);
		assert_int_equal(n->totals[0].attributed, 1000);
		assert_int_equal(n->totals[0].missing, 1);
		assert_int_equal(n->totals[last].value, 35);
		assert_int_equal(accounts_each(b.keeper.accounts, both_totals, &last), 1);
		restart(&b);
	}
	teardown(&b);
}

/* Each member is a part of the identity, to its last byte. */
static void test_counter_same(void **state)
{
	struct account_counter a, b;

	(void)state;
	memset(&a, 0, sizeof(a));
	/* padding, and the bytes behind the end of a text, do not matter */
	memset(&b, 0, sizeof(b));
	snprintf(a.name, sizeof(a.name), "x");
	memset(b.name, 'y', sizeof(b.name));
	snprintf(b.name, sizeof(b.name), "x");
	assert_true(account_counter_same(&a, &b));
#define FLIP_TEXT(name_, size)                     \
	memset(a.name_, 'n', sizeof(a.name_));     \
	b = a;                                     \
	assert_true(account_counter_same(&a, &b)); \
	b.name_[(size)-1] ^= 1;                    \
	assert_false(account_counter_same(&a, &b));
#define FLIP_VALUE(type, name_)                    \
	b = a;                                     \
	assert_true(account_counter_same(&a, &b)); \
	b.name_ = (type)!b.name_;                  \
	assert_false(account_counter_same(&a, &b));
	ACCOUNT_COUNTER(FLIP_TEXT, FLIP_VALUE)
#undef FLIP_TEXT
#undef FLIP_VALUE
}

/* A member beside the list would be in no comparison. */
struct listed_counter {
	ACCOUNT_COUNTER(ACCOUNT_TEXT_MEMBER, ACCOUNT_VALUE_MEMBER)
};
_Static_assert(sizeof(struct listed_counter) == sizeof(struct account_counter), "all in the list");

/* The header of a source or a platform file was corrected while the daemon was down. */
static void test_corrected_counter(void **state)
{
	struct counter to = world_counters[0];

	(void)state;
	to.direction = DIRECTION_WRITE;
	change_counter(&to);
	to = world_counters[0];
	to.source = SOURCE_ANY;
	change_counter(&to);
	to = world_counters[0];
	to.destination = DESTINATION_CXL;
	change_counter(&to);
	to = world_counters[0];
	to.socket = 1;
	change_counter(&to);
	to = world_counters[0];
	to.unit = UNIT_NANOJOULES;
	change_counter(&to);
	to = world_counters[0];
	to.device = 1;
	to.source = SOURCE_DEVICE;
	change_counter(&to);
	to = world_counters[0];
	snprintf(to.name, sizeof(to.name), "renamed");
	change_counter(&to);
}

/* Bytes of half a year: sums and metrics go on beyond 2^64, over restarts as well. */
static void test_beyond_64_bits(void **state)
{
	const uint64_t half = 1ull << 63;
	const struct accounts_node *n;
	struct bench b;

	(void)state;
	setup(&b);
	for (uint64_t i = 0; i < 6; i++) {
		share_of(&b, i, &world_counters[0], half);
		n = accounts_node(b.keeper.accounts);
		assert_true(n->totals[0].value == (i + 1) * ((sum128)half + 5));
		assert_true(n->totals[0].attributed == (i + 1) * (sum128)half);
		assert_int_equal(n->totals[0].unattributed[REASON_IDLE], 5 * (i + 1));
		if (i == 1)
			restart(&b);
	}
	/* of this run: four intervals, which are 2^65 and 20 bytes */
	assert_true(has_sample(&b, growing[0], "36893488147419103252\n"));
	assert_true(has_sample(&b, growing[1], "36893488147419103232\n"));
	assert_true(has_sample(&b,
			       "t410trace_workload_memory_bytes_total{workload=\"slurm:1\",socket="
			       "\"0\",source=\"cpu\",direction=\"read\",destination=\"cmem\"} ",
			       "27670116110564327424\n"));
	teardown(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counter_same),
		cmocka_unit_test(test_corrected_counter),
		cmocka_unit_test(test_beyond_64_bits),
		cmocka_unit_test(test_metrics_after_restart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
