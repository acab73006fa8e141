// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Trees for people: chains are one row, and no depth looks like another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/chains.h"
#include "report/rows.h"
#include "report/table/table.h"
#include "sample_report.h"

#define NONE CHAINS_NO_PARENT

/* 0 - 1 - 2 - (3, 4), 5 - 6, 7: own tasks of 6 */
static void test_join(void **state)
{
	size_t parents[] = { NONE, 0, 1, 2, 2, NONE, 5, 6 };
	const size_t nearest[] = { NONE, NONE, NONE, 2, 2, NONE, NONE, 6 };
	const bool apart[ARRAY_SIZE(parents)] = { [7] = true };
	const bool gone[] = { true, true, false, false, false, true, false, false };
	bool joined[ARRAY_SIZE(parents)];

	(void)state;
	assert_int_equal(chains_join(parents, ARRAY_SIZE(parents), apart, joined), 0);
	assert_memory_equal(joined, gone, sizeof(gone));
	assert_memory_equal(parents, nearest, sizeof(nearest));
}

/* A report of these cgroups: a row is a leaf unless a later one is below it. */
static struct report *cgroups(const char *const *paths, size_t nr)
{
	struct report *r = sample_report(ROW_CGROUP);

	for (size_t i = 0; i < r->nr_rows; i++)
		report_row_release(&r->rows[i]);
	free(r->rows);
	r->rows = calloc(nr, sizeof(*r->rows));
	assert_non_null(r->rows);
	r->nr_rows = nr;
	for (size_t i = 0; i < nr; i++) {
		struct report_row *row = &r->rows[i];

		*row = (struct report_row){
			.kind = ROW_CGROUP,
			.leaf = true,
			.separable = true,
			.cgroup_id = i + 1,
			.on_cpu_ns = 1000000 * (nr - i),
			.cgroup = strdup(paths[i]),
		};
		snprintf(row->key, sizeof(row->key), "cgroup:%zu", i + 1);
		for (size_t k = 0; k < i; k++) {
			size_t len = strlen(paths[k]);

			if (strncmp(paths[k], paths[i], len) || paths[i][len] != '/')
				continue;
			strcpy(row->parent, r->rows[k].key);
			r->rows[k].leaf = false;
			r->rows[k].on_cpu_ns = 0;
		}
	}
	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < i && r->rows[i].leaf; k++)
			if (!strncmp(paths[k], paths[i], strlen(paths[k])) && !r->rows[k].leaf)
				r->rows[k].on_cpu_ns += r->rows[i].on_cpu_ns;
	sample_balance(r);
	return r;
}

/* The names of the rows, without what is behind them. */
static char *names(const struct report *r)
{
	struct table_options o = { .width = 80 };
	char *text = sample_table(r, &o), *rest = text, *line, *ret = calloc(1, 4096);

	assert_non_null(ret);
	while ((line = strsep(&rest, "\n"))) {
		size_t indent = strspn(line, " ");

		/* Rows have no bytes here. */
		if (!strstr(line, "    0 B ") || !strncmp(line, "socket", 6) || line[2] == 'c')
			continue;
		strncat(ret, line, indent + strcspn(line + indent, " "));
		strcat(ret, "\n");
	}
	free(text);
	return ret;
}

static void check(const char *const *paths, size_t nr, bool ended, const char *wanted)
{
	struct report *r = cgroups(paths, nr);
	char *text;

	r->rows[nr - 1].exited = ended;
	text = names(r);
	assert_string_equal(text, wanted);
	free(text);
	report_free(r);
}

static void test_table(void **state)
{
	static const char *const job[] = { "/slurm", "/slurm/job_13", "/slurm/job_13/batch",
					   "/slurm/job_13/batch/task_0" };
	static const char *const two[] = { "/slurm", "/slurm/job_13", "/slurm/job_13/batch",
					   "/slurm/job_13/batch/task_0",
					   "/slurm/job_13/batch/task_1" };
	struct report *r;
	char *json;

	(void)state;
	check(job, 4, false, "/slurm/job_13/batch/task_0\n");
	/* Ended rows are marked, and nothing else. */
	check(job, 4, true, "/slurm/job_13/batch\n  task_0*\n");
	check(two, 5, false, "/slurm/job_13/batch\n  task_0\n  task_1\n");
	/* The row itself is in the report as before. */
	r = cgroups(job, 4);
	json = sample_json(r);
	for (size_t i = 0; i < 4; i++)
		assert_non_null(strstr(json, r->rows[i].key));
	free(json);
	report_free(r);
}

/* Twenty levels, each with a sibling: each level looks different from the one above. */
static void test_deep(void **state)
{
	enum { LEVELS = 20 };
	char paths[2 * LEVELS][64] = { "" };
	const char *all[2 * LEVELS];
	char *text, *rest, *line;
	size_t before = 0, depth = 0;
	struct report *r;

	(void)state;
	for (size_t i = 0; i < LEVELS; i++) {
		snprintf(paths[i], sizeof(paths[i]), "%s/a", i ? paths[i - 1] : "");
		snprintf(paths[LEVELS + i], sizeof(paths[i]), "%s/b", i ? paths[i - 1] : "");
		all[i] = paths[i];
		all[LEVELS + i] = paths[LEVELS + i];
	}
	r = cgroups(all, 2 * LEVELS);
	text = names(r);
	assert_non_null(strstr(text, "\n        >>a\n"));
	rest = text;
	while ((line = strsep(&rest, "\n")) && depth < 12) {
		size_t at = strcspn(line, "a");

		if (depth && at <= before)
			fail_msg("%zu: %s", depth, line);
		before = at;
		depth++;
	}
	assert_int_equal(depth, 12);
	free(text);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
