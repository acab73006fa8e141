// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the kernel's monitoring groups counted, as metrics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "account_world.h"
#include "engine/accounts/accounts.h"
#include "report/openmetrics/openmetrics.h"

#define BYTES "t410trace_workload_resctrl_bytes_total{workload=\"slurm:1\",group="

static struct accounts *accounts;
static struct openmetrics *metrics;

static void add(struct report *r)
{
	assert_int_equal(accounts_interval(accounts, r), 0);
	assert_int_equal(openmetrics_interval(metrics, r), 0);
	report_free(r);
}

/* All metrics with this in their lines, as text. */
static char *lines_with(const char *word)
{
	struct openmetrics_state s = { .host = &world_host, .node = accounts_node(accounts) };
	char *all = NULL, *found = NULL, *rest, *line;
	size_t size;
	FILE *f = open_memstream(&all, &size);

	assert_non_null(f);
	assert_int_equal(openmetrics_write(f, metrics, &s, EXPOSITION_OPENMETRICS), 0);
	fclose(f);
	f = open_memstream(&found, &size);
	assert_non_null(f);
	for (line = strtok_r(all, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (line[0] != '#' && strstr(line, word))
			fprintf(f, "%s\n", line);
	fclose(f);
	free(all);
	return found;
}

static void expect(const char *text)
{
	char *found = lines_with("t410trace_workload_resctrl_");

	assert_string_equal(found, text);
	free(found);
}

/* A group with all tasks of the first row. */
static struct report_resctrl group_of(const struct report *r, const char *name, uint64_t bytes)
{
	struct report_resctrl f = { .match = RESCTRL_BY_TASKS,
				    .tasks = 4,
				    .of_tasks = 4,
				    .state = RESCTRL_VALID,
				    .bytes = bytes,
				    .ns = WORLD_SECOND,
				    .domains = 2 };

	snprintf(f.row, sizeof(f.row), "%s", r->rows[0].key);
	snprintf(f.group, sizeof(f.group), "%s", name);
	return f;
}

/* One group of a whole job, four that lack something, and one that is a job's every other time. */
static struct report *report_with_groups(uint64_t number)
{
	struct report *r = world_report(number);
	struct report_row *row = world_row(r, SCHEDULER_SLURM, "1", 71, "", true);
	struct report_resctrl *f = world_must(calloc(6, sizeof(*f)));

	world_share(r, row, 0, 3000);
	snprintf(row->key, sizeof(row->key), "job:slurm:1");
	row->exited = number == 4;
	f[0] = group_of(r, "web", 1000 + number);
	if (number == 3)
		f[0].state = RESCTRL_UNAVAILABLE;
	for (int k = 1; k < 6; k++)
		f[k] = group_of(r, "other", 50);
	f[1].of_tasks = 5;
	f[2].missing = 1;
	f[3].state = RESCTRL_BACKWARD;
	f[4].row[0] = '\0';
	f[5] = group_of(r, "mon_groups/\"b\"", 50);
	f[5].of_tasks = 0;
	f[5].match = number % 2 ? RESCTRL_BY_NAME : RESCTRL_BY_NONE;
	r->resctrl = f;
	r->nr_resctrl = 6;
	return r;
}

/* Groups of whole workloads have series of their own; what lacks something has none, not 0. */
static void groups_have_series(void **state)
{
	struct accounts_options ao = { .boot = WORLD_BOOT, .schedulers = ~0u };
	struct openmetrics_options o = { .top = 4, .keep = 1 };

	(void)state;
	assert_int_equal(accounts_new(&ao, &accounts), 0);
	assert_int_equal(openmetrics_new(&o, &metrics), 0);
	expect("");
	for (uint64_t i = 0; i < 5; i++)
		add(report_with_groups(i));
	expect(BYTES "\"web\"} 3007\n" BYTES "\"mon_groups/\\\"b\\\"\"} 50\n"
		     "t410trace_workload_resctrl_seconds_total{workload=\"slurm:1\",group=\"web\"} "
		     "3.000000000\n"
		     "t410trace_workload_resctrl_seconds_total{workload=\"slurm:1\","
		     "group=\"mon_groups/\\\"b\\\"\"} 1.000000000\n");
	/* they go with the workload */
	for (uint64_t i = 5; i < 9; i++)
		add(world_report(i));
	expect("");
	accounts_free(accounts);
	openmetrics_free(metrics);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_have_series),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
