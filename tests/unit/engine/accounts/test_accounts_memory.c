// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Memory runs out at each place where the keeper of accounts asks for some. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <cmocka.h>

#include "engine/accounts/accounts.h"
#include "report/job/job_report.h"
#include "account_world.h"
#include "random.h"

/* The linker gives these the calls of the program: see tests.mk. */
void *__real_calloc(size_t nr, size_t size);
void *__real_reallocarray(void *p, size_t nr, size_t size);
char *__real_strdup(const char *text);
void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_reallocarray(void *p, size_t nr, size_t size);
char *__wrap_strdup(const char *text);

/* How many more succeed; negative: all do. */
static long left = -1;

static bool fails(void)
{
	if (left < 0)
		return false;
	return left-- == 0;
}

/* After the one that fails, the next ones succeed: nothing may go on as if all were well. */
void *__wrap_calloc(size_t nr, size_t size)
{
	return fails() ? NULL : __real_calloc(nr, size);
}

void *__wrap_reallocarray(void *p, size_t nr, size_t size)
{
	return fails() ? NULL : __real_reallocarray(p, nr, size);
}

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

static struct accounts *keeper(void)
{
	struct accounts_options o = { .boot = WORLD_BOOT, .schedulers = 1U << SCHEDULER_SLURM };
	struct accounts *a = NULL;

	assert_int_equal(accounts_new(&o, &a), 0);
	return a;
}

static struct report *first(void)
{
	struct report *r = world_report(0);
	struct report_row *row = world_row(r, SCHEDULER_SLURM, "1", 100, "0", true);

	r->nr_counters = 3;
	world_share(r, row, 0, 1000);
	for (uint64_t i = 2; i < 30; i++)
		world_share(r, world_row(r, SCHEDULER_SLURM, "2", i, "", true), 1, i);
	return r;
}

/* New counters, jobs, steps, devices and shares; jobs end, and one is gone while nobody looked. */
static struct report *second(void)
{
	struct report *r = world_report(3);
	struct report_row *row;

	for (unsigned int k = 0; k < 6; k++) {
		char step[8];

		snprintf(step, sizeof(step), "%u", k);
		row = world_row(r, SCHEDULER_SLURM, "1", 100, step, true);
		for (uint32_t i = 0; i < WORLD_COUNTERS; i++)
			world_share(r, row, i, 10 + i);
		world_io(row, 0, 1, 2);
		world_io(row, 1, 3, 4);
	}
	for (uint64_t i = 3; i < 90; i++) {
		row = world_row(r, SCHEDULER_SLURM, "2", i, "", true);
		world_share(r, row, 2, i);
		row->exited = i % 7 == 0;
	}
	return r;
}

struct dump {
	FILE *out;
	struct job_context c;
};

static int dump_job(void *arg, const struct account_job *j)
{
	struct dump *d = arg;

	fprintf(d->out, "%zu steps %zu totals %zu io ", j->nr_steps, j->whole.nr_totals,
		j->whole.nr_io);
	return job_json_write(d->out, &d->c, j);
}

/* All that can be seen of the accounts, as text */
static char *dump(struct accounts *a)
{
	const struct accounts_node *n = accounts_node(a);
	struct dump d = { .c = { &world_host, n } };
	char *text = NULL;
	size_t len;

	d.out = world_must(open_memstream(&text, &len));
	fprintf(d.out,
		"%zu jobs %zu counters %" PRIu64 " intervals %" PRIu64 " ended %" PRIu64
		" stale %" PRIu64 " gap\n",
		accounts_nr(a), n->nr_counters, n->intervals, n->jobs_ended, n->jobs_stale,
		n->gap_ns);
	for (size_t i = 0; i < n->nr_totals; i++)
		fprintf(d.out, "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			(uint64_t)n->totals[i].value, (uint64_t)n->totals[i].attributed,
			n->totals[i].missing);
	assert_int_equal(accounts_each(a, dump_job, &d), 0);
	assert_int_equal(fclose(d.out), 0);
	return text;
}

static void test_interval(void **state)
{
	struct accounts *a = keeper();
	struct report *one = first(), *two = second();
	char *wanted, *before, *after;
	long at = 0;
	int err;

	(void)state;
	assert_int_equal(accounts_interval(a, one), 0);
	assert_int_equal(accounts_interval(a, two), 0);
	wanted = dump(a);
	accounts_free(a);
	do {
		a = keeper();
		assert_int_equal(accounts_interval(a, one), 0);
		before = dump(a);
		left = at;
		at += (long)draw_times(1, 41);
		err = accounts_interval(a, two);
		if (left < 0)
			assert_int_equal(err, -ENOMEM);
		else
			assert_int_equal(err, 0);
		left = -1;
		after = dump(a);
		if (err) {
			assert_string_equal(after, before);
			assert_int_equal(accounts_interval(a, two), 0);
			free(after);
			after = dump(a);
		}
		assert_string_equal(after, wanted);
		free(after);
		free(before);
		accounts_free(a);
	} while (err);
	/* Otherwise not much was tried. */
	assert_true(at > 200);
	free(wanted);
	report_free(one);
	report_free(two);
}

struct copies {
	struct account_job jobs[100];
	size_t nr;
};

static int copy(void *arg, const struct account_job *j)
{
	struct copies *c = arg;

	c->jobs[c->nr++] = world_copy_job(j);
	return 0;
}

static void test_restore(void **state)
{
	struct accounts *a = keeper();
	struct accounts_node node;
	struct copies jobs = { .nr = 0 };
	struct report *r = first();
	char *wanted, *after;
	long at = 0;
	int err;

	(void)state;
	assert_int_equal(accounts_interval(a, r), 0);
	report_free(r);
	assert_int_equal(accounts_each(a, copy, &jobs), 0);
	node = world_copy_node(accounts_node(a));
	wanted = dump(a);
	accounts_free(a);
	do {
		a = keeper();
		left = at;
		at += (long)draw_times(1, 13);
		err = accounts_restore(a, &node, jobs.jobs, jobs.nr, UINT64_MAX);
		if (left < 0)
			assert_int_equal(err, -ENOMEM);
		else
			assert_int_equal(err, 0);
		left = -1;
		if (err) {
			assert_int_equal(accounts_nr(a), 0);
			assert_int_equal(accounts_node(a)->nr_counters, 0);
			err = accounts_restore(a, &node, jobs.jobs, jobs.nr, UINT64_MAX);
			assert_int_equal(err, 0);
			err = -ENOMEM;
		}
		after = dump(a);
		assert_string_equal(after, wanted);
		free(after);
		accounts_free(a);
	} while (err);
	assert_true(at > 50);
	for (size_t i = 0; i < jobs.nr; i++)
		account_job_release(&jobs.jobs[i]);
	accounts_node_release(&node);
	free(wanted);
}

static void test_new(void **state)
{
	struct accounts_options o = { .boot = WORLD_BOOT };
	struct accounts *a = NULL;
	int err;

	(void)state;
	for (long at = 0; !a; at++) {
		left = at;
		err = accounts_new(&o, &a);
		left = -1;
		assert_int_equal(err, a ? 0 : -ENOMEM);
		assert_true(at < 10);
	}
	accounts_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interval),
		cmocka_unit_test(test_restore),
		cmocka_unit_test(test_new),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
