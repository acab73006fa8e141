// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The bytes that the store keeps of an account: exact, the same on all machines, and hostile. */
#include "store_world.h"

#include <zlib.h>

#include "random.h"
#include "valgrind.h"

#define COUNTERS 5

static void sample(struct account_job *j, struct bytes *b)
{
	sample_job(j, 3, COUNTERS, 2);
	j->gaps[0] = (struct account_gap){ 100, 200 };
	j->gaps[1] = (struct account_gap){ 300, 700 };
	j->nr_gaps = 2;
	assert_int_equal(blob_job(b, j), 0);
}

/* Make the checksum right again, as somebody would who wants to do harm. */
static void seal(uint8_t *data, size_t size)
{
	uint32_t crc = crc32(0, data, size - 4);

	for (size_t i = 0; i < 4; i++)
		data[size - 4 + i] = crc >> 8 * i;
}

static void test_form(void **state)
{
	/* version 8, cgroup 300, no flags, no path, boot "b", and so on: all of a job without anything */
	static const uint8_t expected[] = { 8, 0xac, 2, 0, 0, 0, 0, 1, 'b', 0, 0, 0, 0,
					    0, 0,    0, 0, 0, 0, 0, 0, 6,   0, 2, 0 };
	struct account_job j = { .job.cgroup_id = 300, .boot = "b" };
	struct bytes b = { 0 };

	(void)state;
	j.quality.method = METHOD_CPU_TIME;
	assert_int_equal(blob_job(&b, &j), 0);
	assert_memory_equal(b.data, expected, sizeof(expected));
	/* 29 losses, 8 costs, how far the clock was set back, no groups, time, no GPUs, checksum */
	assert_int_equal(b.nr, sizeof(expected) + 29 + 8 + 1 + 1 + 1 + 1 + 4);
	free(b.data);
}

static void assert_version_7(const struct bytes *b)
{
	struct account_job read = { 0 };

	b->data[0] = 7;
	seal(b->data, b->nr);
	assert_int_equal(blob_read_job(b->data, b->nr, COUNTERS, &read), 0);
	assert_int_equal(read.others_unknown_ns, 4);
	assert_int_equal(read.nr_gpus, 0);
	account_job_release(&read);
}

static void assert_version_6(const struct bytes *b)
{
	struct account_job read = { 0 };

	b->data[0] = 6;
	seal(b->data, b->nr);
	assert_int_equal(blob_read_job(b->data, b->nr, COUNTERS, &read), 0);
	assert_int_equal(read.quality.tasks_ns, 10);
	assert_int_equal(read.others_unknown_ns, 0);
	account_job_release(&read);
}

/*
 * Version 7 has no GPUs. Version 6 has sums of 64 bits, and no time without others. Version 5 has no
 * groups. Version 4 has 28 losses, version 3 has 27, version 2 has 20, and version 1 has not how far
 * the clock was set back either.
 */
static void test_older_forms(void **state)
{
	struct account_job j = { .job.cgroup_id = 300, .clock_back_ns = 5, .others_unknown_ns = 4 },
			   read = { 0 };
	struct bytes b = { 0 };

	(void)state;
	j.quality.device_changes = 6;
	j.quality.unweighed_ns = 7;
	j.quality.spread_ns = 9;
	j.quality.tasks_ns = 10;
	j.self.cpu_ns = 8;
	assert_int_equal(blob_job(&b, &j), 0);
	assert_int_equal(blob_read_job(b.data, b.nr, COUNTERS, &read), 0);
	assert_int_equal(read.clock_back_ns, 5);
	assert_int_equal(read.others_unknown_ns, 4);
	assert_int_equal(read.quality.unweighed_ns, 7);
	assert_int_equal(read.quality.spread_ns, 9);
	assert_int_equal(read.quality.tasks_ns, 10);
	account_job_release(&read);
	read = (struct account_job){ 0 };
	read = (struct account_job){ 0 };
	/* In front of the checksum */
	b.nr--;
	assert_version_7(&b);
	b.nr--;
	assert_version_6(&b);
	/* In front of the checksum: there are no groups. */
	b.nr--;
	b.data[0] = 5;
	seal(b.data, b.nr);
	assert_int_equal(blob_read_job(b.data, b.nr, COUNTERS, &read), 0);
	assert_int_equal(read.quality.tasks_ns, 10);
	assert_int_equal(read.nr_groups, 0);
	account_job_release(&read);
	read = (struct account_job){ 0 };
	/* Behind the losses: 8 costs, the clock, the checksum. */
	memmove(&b.data[b.nr - 13 - 1], &b.data[b.nr - 13], 13);
	b.nr--;
	b.data[0] = 4;
	seal(b.data, b.nr);
	assert_int_equal(blob_read_job(b.data, b.nr, COUNTERS, &read), 0);
	assert_int_equal(read.quality.spread_ns, 9);
	assert_int_equal(read.quality.tasks_ns, 0);
	assert_int_equal(read.self.cpu_ns, 8);
	account_job_release(&read);
	read = (struct account_job){ 0 };
	/* Behind the losses: 8 costs, the clock, the checksum. */
	memmove(&b.data[b.nr - 13 - 1], &b.data[b.nr - 13], 13);
	b.nr--;
	b.data[0] = 3;
	seal(b.data, b.nr);
	assert_int_equal(blob_read_job(b.data, b.nr, COUNTERS, &read), 0);
	assert_int_equal(read.quality.unweighed_ns, 7);
	assert_int_equal(read.quality.spread_ns, 0);
	assert_int_equal(read.self.cpu_ns, 8);
	account_job_release(&read);
	read = (struct account_job){ 0 };
	/* Behind the losses: 8 costs, the clock, the checksum. */
	memmove(&b.data[b.nr - 13 - 7], &b.data[b.nr - 13], 13);
	b.nr -= 7;
	b.data[0] = 2;
	seal(b.data, b.nr);
	assert_int_equal(blob_read_job(b.data, b.nr, COUNTERS, &read), 0);
	assert_int_equal(read.clock_back_ns, 5);
	assert_int_equal(read.quality.device_changes, 6);
	assert_int_equal(read.quality.unweighed_ns, 0);
	assert_int_equal(read.self.cpu_ns, 8);
	account_job_release(&read);
	b.data[0] = 1;
	seal(b.data, b.nr - 1);
	assert_int_equal(blob_read_job(b.data, b.nr - 1, COUNTERS, &read), 0);
	assert_int_equal(read.clock_back_ns, 0);
	assert_int_equal(read.job.cgroup_id, 300);
	account_job_release(&read);
	b.data[0] = 0;
	seal(b.data, b.nr - 1);
	assert_int_equal(blob_read_job(b.data, b.nr - 1, COUNTERS, &read), -EUCLEAN);
	free(b.data);
}

static void test_extremes(void **state)
{
	struct account_job j, read = { 0 };
	struct bytes b = { 0 }, again = { 0 };

	(void)state;
	sample_job(&j, 3, COUNTERS, 1);
	memset(&j.gaps, 0xff, sizeof(j.gaps));
	j.nr_gaps = ACCOUNT_MAX_GAPS;
	j.whole.start_ns = UINT64_MAX;
	j.whole.end_ns = 1;
	j.whole.totals[0] = (struct account_total){ 4, 5, 9, 1, UINT64_MAX };
	j.whole.totals[1] = (struct account_total){ 4, UINT64_MAX, 0, UINT64_MAX, 0 };
	j.node[0].running_ns = j.node[0].enabled_ns + 1;
	memset(j.steps[0].step, 'x', sizeof(j.steps[0].step) - 1);
	free(j.path);
	j.path = NULL;
	assert_int_equal(blob_job(&b, &j), 0);
	assert_int_equal(blob_read_job(b.data, b.nr, COUNTERS, &read), 0);
	assert_int_equal(read.whole.totals[0].low, 9);
	assert_int_equal(read.whole.totals[0].high, 1);
	assert_int_equal(read.whole.totals[1].value, UINT64_MAX);
	assert_int_equal(read.whole.start_ns, UINT64_MAX);
	assert_int_equal(read.whole.end_ns, 1);
	assert_int_equal(read.node[0].running_ns, j.node[0].running_ns);
	assert_null(read.path);
	assert_int_equal(blob_job(&again, &read), 0);
	assert_int_equal(again.nr, b.nr);
	assert_memory_equal(again.data, b.data, b.nr);
	account_job_release(&j);
	account_job_release(&read);
	free(b.data);
	free(again.data);
}

static void test_cut(void **state)
{
	struct account_job j, read = { .intervals = 77 };
	struct bytes b = { 0 };
	uint8_t *part;

	(void)state;
	sample(&j, &b);
	for (size_t size = 0; size < b.nr; size++) {
		/* memory of its own: reading too far is seen */
		part = malloc(size + 1);
		memcpy(part, b.data, size);
		assert_int_equal(blob_read_job(part, size, COUNTERS, &read), -EUCLEAN);
		if (size > 4) {
			seal(part, size);
			assert_int_equal(blob_read_job(part, size, COUNTERS, &read), -EUCLEAN);
		}
		free(part);
	}
	assert_int_equal(blob_read_job(NULL, 0, COUNTERS, &read), -EUCLEAN);
	/* nothing was touched */
	assert_int_equal(read.intervals, 77);
	assert_null(read.steps);
	/* too long is wrong, too */
	part = calloc(1, b.nr + 1);
	memcpy(part, b.data, b.nr);
	seal(part, b.nr + 1);
	assert_int_equal(blob_read_job(part, b.nr + 1, COUNTERS, &read), -EUCLEAN);
	free(part);
	/* a counter that is not there, and a later version */
	assert_int_equal(blob_read_job(b.data, b.nr, COUNTERS - 1, &read), -EUCLEAN);
	b.data[0]++;
	assert_int_equal(blob_read_job(b.data, b.nr, COUNTERS, &read), -EUCLEAN);
	seal(b.data, b.nr);
	assert_int_equal(blob_read_job(b.data, b.nr, COUNTERS, &read), -EPROTONOSUPPORT);
	account_job_release(&j);
	free(b.data);
}

/* Whatever comes out of it can be read safely: it is encoded again. */
static void use(const struct account_job *j)
{
	struct bytes b = { 0 };

	assert_true(j->nr_gaps <= ACCOUNT_MAX_GAPS && j->nr_steps <= ACCOUNT_MAX_STEPS);
	assert_true(j->quality.method < NR_METHODS);
	for (size_t i = 0; i < j->whole.nr_totals; i++)
		assert_true(j->whole.totals[i].counter < COUNTERS);
	assert_int_equal(blob_job(&b, j), 0);
	free(b.data);
}

static void test_hostile(void **state)
{
	struct draw random = { .state = 5 };
	struct account_job j, read = { 0 };
	struct bytes b = { 0 };
	size_t good = 0;
	uint8_t *copy;

	(void)state;
	sample(&j, &b);
	copy = malloc(b.nr);
	for (size_t i = 0; i < under_valgrind(1000, 100000); i++) {
		memcpy(copy, b.data, b.nr);
		for (size_t n = draw_below(&random, 3) + 1; n; n--)
			copy[1 + draw_below(&random, b.nr - 5)] = draw_below(&random, 256);
		seal(copy, b.nr);
		memset(&read, 0, sizeof(read));
		if (blob_read_job(copy, b.nr, COUNTERS, &read))
			continue;
		use(&read);
		account_job_release(&read);
		good++;
	}
	assert_true(good > 0);
	/* without the checksum being made right nothing is believed */
	copy[b.nr / 2] ^= 1;
	assert_int_equal(blob_read_job(copy, b.nr, COUNTERS, &read), -EUCLEAN);
	account_job_release(&j);
	free(copy);
	free(b.data);
}

/* A few bytes cannot ask for much memory. */
static void test_long_lists(void **state)
{
	uint8_t data[64] = { 1 };
	struct account_job read = { 0 };

	(void)state;
	/* behind the version: zeros up to the number of the whole's totals */
	for (size_t i = 1; i < sizeof(data) - 14; i++) {
		memset(data + 1, 0, sizeof(data) - 1);
		memset(data + i, 0xff, 9);
		data[i + 9] = 1;
		seal(data, sizeof(data));
		assert_int_equal(blob_read_job(data, sizeof(data), COUNTERS, &read), -EUCLEAN);
	}
}

static void test_node(void **state)
{
	struct accounts_node n, read = { .intervals = 3 };
	struct bytes b = { 0 };

	(void)state;
	sample_node(&n, 4);
	assert_int_equal(blob_node(&b, &n), 0);
	assert_int_equal(blob_read_node(b.data, b.nr, &read), 0);
	assert_memory_equal(&read.self, &n.self, sizeof(n.self));
	assert_int_equal(read.quality.merged_windows, 2);
	assert_int_equal(read.intervals, 3);
	for (size_t size = 0; size < b.nr; size++)
		assert_int_equal(blob_read_node(b.data, size, &read), -EUCLEAN);
	accounts_node_release(&n);
	free(b.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_form),	 cmocka_unit_test(test_older_forms),
		cmocka_unit_test(test_extremes), cmocka_unit_test(test_cut),
		cmocka_unit_test(test_hostile),	 cmocka_unit_test(test_long_lists),
		cmocka_unit_test(test_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
