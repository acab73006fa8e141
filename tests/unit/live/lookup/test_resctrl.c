// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The kernel's monitoring groups on made-up trees, and what check makes of their sum. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "base/array.h"
#include "engine/session/resctrl_groups.h"
#include "fake_perf.h"
#include "live/lookup/live_resctrl.h"
#include "platform/check/checks_resctrl.h"
#include "platform/sys/resctrl.h"
#include "report/resctrl_report.h"
#include "sample_report.h"
#include "tables/counter_rows.h"
#include "tree.h"

static void put_total(const struct tree *t, const char *group, const char *domain, const char *text)
{
	char name[256], line[64];

	snprintf(name, sizeof(name), "%s%smon_data/%s/mbm_total_bytes", group, group[0] ? "/" : "",
		 domain);
	snprintf(line, sizeof(line), "%s\n", text);
	tree_put(t, name, line);
}

static void read_tree(const struct tree *t, struct resctrl_reading *ret)
{
	assert_int_equal(resctrl_read(t->root, ret), 0);
}

/* What a group counted since @from, of which it is the later reading. */
static struct report_resctrl since(const struct resctrl_reading *from,
				   const struct resctrl_reading *to, const char *path)
{
	struct report_resctrl r = { 0 };
	const struct resctrl_group *group = resctrl_find(to, path);

	if (!group)
		fail_msg("there is no group \"%s\"", path);
	resctrl_since(resctrl_find(from, path), group, &r);
	return r;
}

static void groups_are_found(void **state)
{
	static const struct {
		const char *path;
		bool control;
	} rows[] = { { "", true },
		     { "mon_groups/a", false },
		     { "web", true },
		     { "web/mon_groups/b", false } };
	struct resctrl_reading r;
	struct tree t;

	(void)state;
	tree_make(&t);
	assert_int_equal(resctrl_read("/nonexistent", &r), -ENOENT);
	assert_int_equal(resctrl_read(t.root, &r), -ENOENT);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		put_total(&t, rows[i].path, "mon_L3_00", "7");
	/* no groups: the folder of facts, and something that is not monitored */
	put_total(&t, "info", "mon_L3_00", "99");
	tree_put(&t, "plain/schemata", "L3:0=f\n");
	read_tree(&t, &r);
	assert_int_equal(r.nr, ARRAY_SIZE(rows));
	assert_string_equal(r.groups[0].path, "");
	assert_false(r.cut);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct resctrl_group *g = resctrl_find(&r, rows[i].path);

		assert_non_null(g);
		assert_int_equal(g->control, rows[i].control);
		assert_int_equal(g->nr, 1);
		assert_int_equal(g->domains[0].bytes, 7);
	}
	resctrl_free(&r);
	tree_remove(&t);
}

/* Of several kinds of domains one is taken, and of a cache with nodes its own sum. */
static void domains_count_once(void **state)
{
	struct resctrl_reading r;
	struct tree t;

	(void)state;
	tree_make(&t);
	put_total(&t, "", "mon_L3_00", "100");
	put_total(&t, "", "mon_L3_00/mon_sub_L3_00", "60");
	put_total(&t, "", "mon_L3_00/mon_sub_L3_01", "40");
	put_total(&t, "", "mon_L3_01/mon_sub_L3_02", "5");
	put_total(&t, "", "mon_L3_01/mon_sub_L3_03", "6");
	read_tree(&t, &r);
	assert_int_equal(r.groups[0].nr, 3);
	assert_string_equal(r.groups[0].domains[0].name, "mon_L3_00");
	assert_int_equal(r.groups[0].domains[0].bytes, 100);
	assert_string_equal(r.groups[0].domains[2].name, "mon_L3_01/mon_sub_L3_03");
	resctrl_free(&r);
	put_total(&t, "", "mon_NODE_00", "3");
	read_tree(&t, &r);
	assert_int_equal(r.groups[0].nr, 1);
	assert_int_equal(r.groups[0].domains[0].bytes, 3);
	resctrl_free(&r);
	put_total(&t, "", "mon_MB_00", "1");
	put_total(&t, "", "mon_MB_01", "2");
	read_tree(&t, &r);
	assert_int_equal(r.groups[0].nr, 2);
	assert_string_equal(r.groups[0].domains[1].name, "mon_MB_01");
	resctrl_free(&r);
	tree_remove(&t);
}

/* What each pair of readings comes to; the other domain always gains 10. */
static void differences_are_judged(void **state)
{
	static const struct {
		const char *before, *after;
		enum resctrl_state alone;
		uint64_t bytes;
	} rows[] = {
		{ "100", "350", RESCTRL_VALID, 250 },
		{ "100", "100", RESCTRL_VALID, 0 },
		{ "100", "Unavailable", RESCTRL_UNAVAILABLE, 0 },
		{ "Unavailable", "100", RESCTRL_NEW, 0 },
		{ "Unavailable", "Unavailable", RESCTRL_UNAVAILABLE, 0 },
		{ "100", "Unassigned", RESCTRL_UNASSIGNED, 0 },
		{ "Unassigned", "5", RESCTRL_NEW, 0 },
		{ "100", "99", RESCTRL_BACKWARD, 0 },
		{ "100", "18446744073709551615", RESCTRL_BACKWARD, 0 },
		{ "100", "Error", RESCTRL_UNREADABLE, 0 },
		{ "100", "-5", RESCTRL_UNREADABLE, 0 },
		{ "100", "1e9", RESCTRL_UNREADABLE, 0 },
		{ "100", "99999999999999999999999", RESCTRL_UNREADABLE, 0 },
		{ "100", "", RESCTRL_UNREADABLE, 0 },
	};
	struct resctrl_reading from, to;
	struct report_resctrl r;
	struct tree t;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		tree_make(&t);
		put_total(&t, "", "mon_L3_00", rows[i].before);
		put_total(&t, "two", "mon_L3_00", rows[i].before);
		put_total(&t, "two", "mon_L3_01", "1000");
		read_tree(&t, &from);
		put_total(&t, "", "mon_L3_00", rows[i].after);
		put_total(&t, "two", "mon_L3_00", rows[i].after);
		put_total(&t, "two", "mon_L3_01", "1010");
		read_tree(&t, &to);
		r = since(&from, &to, "");
		assert_int_equal(r.state, rows[i].alone);
		assert_int_equal(r.missing, rows[i].alone != RESCTRL_VALID);
		if (r.state == RESCTRL_VALID)
			assert_int_equal(r.bytes, rows[i].bytes);
		/* beside another domain: its bytes, and that one is missing; never a wrong sum */
		r = since(&from, &to, "two");
		if (rows[i].alone == RESCTRL_BACKWARD) {
			assert_int_equal(r.state, RESCTRL_BACKWARD);
		} else {
			assert_int_equal(r.state, RESCTRL_VALID);
			assert_int_equal(r.bytes, rows[i].bytes + 10);
			assert_int_equal(r.missing, rows[i].alone != RESCTRL_VALID);
			assert_int_equal(r.domains, 2);
		}
		resctrl_free(&from);
		resctrl_free(&to);
		tree_remove(&t);
	}
}

/* A group that went back once is not trusted for the whole run, though it ends higher. */
static void going_back_is_not_forgotten(void **state)
{
	static const char *const values[] = { "100", "50", "500" };
	struct resctrl_reading first, last, now;
	struct tree t;

	(void)state;
	tree_make(&t);
	put_total(&t, "", "mon_L3_00", values[0]);
	read_tree(&t, &first);
	read_tree(&t, &last);
	for (size_t i = 1; i < 3; i++) {
		put_total(&t, "", "mon_L3_00", values[i]);
		put_total(&t, "new", "mon_L3_00", values[i]);
		read_tree(&t, &now);
		resctrl_follow(&last, &now);
		resctrl_free(&last);
		last = now;
	}
	assert_int_equal(since(&first, &last, "").state, RESCTRL_BACKWARD);
	assert_int_equal(since(&first, &last, "new").state, RESCTRL_NEW);
	resctrl_free(&first);
	resctrl_free(&last);
	tree_remove(&t);
}

static void put_task(const struct tree *t, unsigned int tid, const char *cgroup)
{
	char name[64], text[128];

	snprintf(name, sizeof(name), "proc/%u/cgroup", tid);
	snprintf(text, sizeof(text), "4:freezer:/other\n0::%s\n", cgroup);
	tree_put(t, name, text);
}

static void cgroups_of_tasks_meet(void **state)
{
	static const struct {
		const char *tasks;
		const char *cgroup;
		uint32_t nr;
	} rows[] = {
		{ "1\n", "/a/b", 1 },	  { "1\n2\n", "/a/b", 2 }, { "1\n3\n", "/a", 2 },
		{ "3\n1\n2\n", "/a", 3 }, { "1\n4\n", "", 2 },	   { "1\n5\n", "", 2 },
		{ "1\n99\n", "/a/b", 1 }, { "", "", 0 },	   { "x\n-1\n1\n", "/a/b", 1 },
		{ "1\n6\n", "/a", 2 },
	};
	char proc[128], got[256];
	struct tree t;

	(void)state;
	tree_make(&t);
	snprintf(proc, sizeof(proc), "%s/proc", t.root);
	put_task(&t, 1, "/a/b");
	put_task(&t, 2, "/a/b");
	put_task(&t, 3, "/a/bc");
	put_task(&t, 4, "/z");
	put_task(&t, 5, "/");
	put_task(&t, 6, "/a");
	assert_int_equal(resctrl_tasks(t.root, "web", proc, got, sizeof(got)), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		tree_put(&t, "web/tasks", rows[i].tasks);
		assert_int_equal(resctrl_tasks(t.root, "web", proc, got, sizeof(got)), rows[i].nr);
		assert_string_equal(got, rows[i].cgroup);
	}
	tree_remove(&t);
}

static int write_lines(FILE *out, const struct report *r, const void *arg)
{
	return resctrl_groups_write(out, r, 300, *(const bool *)arg);
}

static const struct report_resctrl *resctrl(const struct report *r, const char *group)
{
	for (size_t i = 0; i < r->nr_resctrl; i++)
		if (!strcmp(r->resctrl[i].group, group))
			return &r->resctrl[i];
	fail_msg("no referee %s", group);
	return NULL;
}

static const struct report_row *row_of(const struct report *r, const struct report_resctrl *f)
{
	for (size_t i = 0; f->row[0] && i < r->nr_rows; i++)
		if (!strcmp(r->rows[i].key, f->row))
			return &r->rows[i];
	return NULL;
}

static int take_event(void *arg, const struct trace_event *e)
{
	assert_int_equal(e->type, TRACE_RESCTRL);
	return resctrl_groups_add(arg, &e->resctrl);
}

/* What the groups said since the last time, with the rows of a report. */
static void say(struct live_resctrl *l, struct resctrl_groups *groups)
{
	const struct trace_sink sink = { take_event, groups };
	uint64_t bad = 0;

	assert_int_equal(live_resctrl_send(l, &sink, &bad), 0);
	assert_int_equal(bad, 0);
	assert_int_equal(resctrl_groups_close(groups), 0);
}

static struct report *report_of(const struct resctrl_groups *groups, enum row_kind by, bool all)
{
	struct report *r = sample_report(by);

	r->summary = all;
	assert_int_equal(resctrl_groups_report(groups, all, r), 0);
	return r;
}

static void assert_lines(const struct report *r, bool all, const char *const *words)
{
	char *text = sample_text(write_lines, r, &all);

	for (; *words; words++)
		if (!strstr(text, *words))
			fail_msg("not \"%s\" in:\n%s", *words, text);
	assert_int_equal(strstr(text, "stranger") != NULL, all);
	free(text);
}

/* From files to lines: one group by its tasks, one by its name, one of nobody. */
static void rows_have_their_groups(void **state)
{
	static const char *const brief[] = { "resctrl: /slurm/job_12: ", "(group x, by its 1 task)",
					     "no number, its counter went back, here ",
					     "1 group belongs to no row (-v shows it)", NULL };
	static const char *const all[] = {
		"no row: no number, no hardware counter is assigned to it", NULL
	};
	struct resctrl_groups *groups;
	struct live_resctrl l;
	char proc[128];
	struct report *r;
	struct tree t;

	(void)state;
	tree_make(&t);
	snprintf(proc, sizeof(proc), "%s/proc", t.root);
	l = (struct live_resctrl){ .root = t.root, .proc = proc, .cgroups = "" };
	assert_int_equal(resctrl_groups_new(true, &groups), 0);
	put_task(&t, 7, "/slurm/job_12");
	put_total(&t, "", "mon_L3_00", "0");
	put_total(&t, "x", "mon_L3_00", "1000");
	tree_put(&t, "x/tasks", "7\n");
	put_total(&t, "mon_groups/postgresql.service", "mon_L3_00", "5");
	put_total(&t, "stranger", "mon_L3_00", "Unassigned");
	assert_int_equal(live_resctrl_begin(&l), 0);
	put_total(&t, "x", "mon_L3_00", "3001");
	put_total(&t, "mon_groups/postgresql.service", "mon_L3_00", "4");
	say(&l, groups);
	r = report_of(groups, ROW_CGROUP, false);
	assert_int_equal(r->nr_resctrl, 3);
	assert_string_equal(row_of(r, resctrl(r, "x"))->cgroup, "/slurm/job_12");
	assert_int_equal(resctrl(r, "x")->match, RESCTRL_BY_TASKS);
	assert_int_equal(resctrl(r, "x")->bytes, 2001);
	assert_int_equal(resctrl(r, "mon_groups/postgresql.service")->match, RESCTRL_BY_NAME);
	assert_int_equal(resctrl(r, "mon_groups/postgresql.service")->state, RESCTRL_BACKWARD);
	assert_int_equal(resctrl(r, "stranger")->match, RESCTRL_BY_NONE);
	assert_lines(r, false, brief);
	assert_lines(r, true, all);
	report_free(r);
	/* the next interval begins where this one ended; a group may be without a number for a while */
	put_total(&t, "x", "mon_L3_00", "Unavailable");
	say(&l, groups);
	r = report_of(groups, ROW_CGROUP, false);
	assert_int_equal(resctrl(r, "x")->state, RESCTRL_UNAVAILABLE);
	report_free(r);
	put_total(&t, "x", "mon_L3_00", "3001");
	say(&l, groups);
	put_total(&t, "x", "mon_L3_00", "3011");
	say(&l, groups);
	r = report_of(groups, ROW_CGROUP, false);
	assert_int_equal(resctrl(r, "x")->bytes, 10);
	report_free(r);
	/* all of it is the sum of those intervals that had a number, and says how many had none */
	r = report_of(groups, ROW_CGROUP, true);
	assert_int_equal(r->nr_resctrl, 3);
	assert_int_equal(resctrl(r, "x")->state, RESCTRL_VALID);
	assert_int_equal(resctrl(r, "x")->bytes, 2011);
	assert_int_equal(resctrl(r, "x")->intervals, 4);
	assert_int_equal(resctrl(r, "x")->without, 2);
	assert_int_equal(resctrl(r, "mon_groups/postgresql.service")->state, RESCTRL_BACKWARD);
	assert_lines(r, true, (const char *const[]){ "; no number in 2 of 4 intervals)", NULL });
	report_free(r);
	/* nothing for processes */
	r = report_of(groups, ROW_PROCESS, false);
	assert_int_equal(r->nr_resctrl, 0);
	report_free(r);
	resctrl_groups_free(groups);
	live_resctrl_free(&l);
	tree_remove(&t);
}

static void audits_are_judged(void **state)
{
	static const struct {
		uint64_t monitored, counted;
		uint32_t missing;
		const char *why;
		enum check_status status;
		const char *found;
	} rows[] = {
		{ 1000000000, 1200000000, 0, "", CHECK_OK, "2.400 GB/s" },
		{ 1000000000, 810000000, 0, "", CHECK_OK, "2.000 GB/s together" },
		{ 1000000000, 64000000000, 0, "", CHECK_LIMITED, "say 64.0 times less" },
		{ 2000000000, 1000000000, 0, "", CHECK_LIMITED, "say 2.0 times more" },
		{ 0, 1000000000, 0, "", CHECK_LIMITED, "nothing was moved" },
		{ 1000, 3000, 0, "", CHECK_OK, "too little" },
		{ 500000000, 1000000000, 2, "", CHECK_LIMITED, "2 of 4 domains" },
		{ 2000000000, 1000000000, 2, "", CHECK_LIMITED, "2.0 times more" },
		{ 2000000000, 0, 0, "no PMU", CHECK_OK, "not compared with counters: no PMU" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct resctrl_audit a = { .groups = 3,
					   .domains = 4,
					   .missing = rows[i].missing,
					   .monitored = rows[i].monitored,
					   .counted = rows[i].counted,
					   .ns = 500000000 };
		struct check_row row;

		strcpy(a.why, rows[i].why);
		check_judge_resctrl(&a, &row);
		assert_int_equal(row.status, rows[i].status);
		if (!strstr(row.found, rows[i].found))
			fail_msg("%s: not \"%s\"", row.found, rows[i].found);
		assert_int_equal(!row.remedy[0], row.status == CHECK_OK);
	}
}

/* A socket that is off is found in a sum that fits; what others have too much was moved elsewhere. */
static void sockets_are_judged(void **state)
{
	static const struct {
		uint64_t monitored[2];
		uint32_t missing;
		enum check_status status;
		const char *found, *not_found;
	} rows[] = {
		{ { 5000, 1000 }, 0, CHECK_OK, "counters: 12.000 GB/s", "socket" },
		{ { 4800, 500 },
		  0,
		  CHECK_LIMITED,
		  "socket 7: the groups say 2.0 times less",
		  "socket 3" },
		{ { 4800, 500 }, 1, CHECK_OK, "counters", "socket" },
		{ { 3000, 3000 },
		  0,
		  CHECK_OK,
		  "socket 7: the groups say 3.0 times more, as when",
		  "no number" },
		{ { 80, 1000 },
		  0,
		  CHECK_LIMITED,
		  "socket 3: the groups say 62.5 times less",
		  "as when" },
		{ { 5000, 0 },
		  0,
		  CHECK_LIMITED,
		  "socket 7: the groups say that nothing was moved",
		  "socket 3" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const uint64_t *m = rows[i].monitored;
		struct resctrl_audit a = {
			.groups = 1,
			.domains = 2,
			.monitored = (m[0] + m[1]) * 1000000,
			.counted = 6000000000,
			.ns = 500000000,
			.sockets = { { .id = 3,
				       .monitored = m[0] * 1000000,
				       .counted = 5000000000 },
				     { .id = 7,
				       .missing = rows[i].missing,
				       .monitored = m[1] * 1000000,
				       .counted = 1000000000 } },
			.nr_sockets = 2,
		};
		struct check_row row;

		check_judge_resctrl(&a, &row);
		if (!strstr(row.found, rows[i].found) || strstr(row.found, rows[i].not_found))
			fail_msg("%zu: %s: not \"%s\"", i, row.found, rows[i].found);
		assert_int_equal(row.status, rows[i].status);
		assert_int_equal(!row.remedy[0], row.status == CHECK_OK);
	}
}

/* Without PMUs the groups are summed all the same: only control groups, which have the others. */
static void check_sums_groups(void **state)
{
	struct pmu_list none = { 0 };
	struct sysfs fs = { .fd = -1 };
	struct check_row row;
	struct tree t;

	(void)state;
	tree_make(&t);
	assert_int_equal(check_resctrl(&perf_kernel, &fs, t.root, &none, &row), -ENOENT);
	put_total(&t, "", "mon_L3_00", "1");
	put_total(&t, "mon_groups/a", "mon_L3_00", "1");
	put_total(&t, "b", "mon_L3_00", "1");
	assert_int_equal(check_resctrl(&perf_kernel, &fs, t.root, &none, &row), 0);
	assert_int_equal(row.status, CHECK_OK);
	assert_non_null(strstr(row.found, "3 monitoring groups, 0.000 GB/s together"));
	assert_non_null(strstr(row.found, "not compared"));
	tree_remove(&t);
}

/* --- the audit, with counters of a kernel of our own */

#define MOST_DOMAINS 3

static struct {
	const struct tree *tree;
	struct {
		const char *name;
		uint64_t step; /* what the group gains in it with each reading of a counter */
		uint64_t total;
	} domains[MOST_DOMAINS];
} world;

static ssize_t read_and_move(int fd, uint64_t *words, size_t nr)
{
	char text[32];

	for (size_t i = 0; i < MOST_DOMAINS && world.domains[i].name; i++) {
		world.domains[i].total += world.domains[i].step;
		snprintf(text, sizeof(text), "%llu", (unsigned long long)world.domains[i].total);
		put_total(world.tree, "", world.domains[i].name, text);
	}
	return fake_kernel.read(fd, words, nr);
}

static uint64_t a_thousand(const struct perf_event_attr *attr)
{
	(void)attr;
	return 1000;
}

static void begin_audit(const struct pmu_list *pmus, uint32_t room)
{
	fake_reset();
	fake.rate = a_thousand;
	fake.read_ns = 1000000;
	for (size_t p = 0; p < pmus->nr; p++)
		if (counter_rows_have(pmus->pmus[p].kind, COUNTERS_SUMS))
			fake_add(pmus->pmus[p].type, room, 0);
	memset(&world, 0, sizeof(world));
}

/*
 * A T410 has four counters of what CPUs move. Each counts 1000 bytes in a nanosecond, and between its
 * two readings there are four readings of a millisecond: 16 GB together. The groups are read after
 * the first four.
 */
static void counters_are_the_measure(void **state)
{
	static const struct {
		uint64_t total;
		bool held;
		enum check_status status;
		const char *found;
	} rows[] = {
		{ 250000000ull, false, CHECK_LIMITED, "the groups say 64.0 times less" },
		{ 16000000000ull, false, CHECK_OK, "together; counters: " },
		{ 32000000000ull, false, CHECK_LIMITED, "the groups say 2.0 times more" },
		{ 16000000000ull, true, CHECK_OK, "others hold some of them" },
	};
	struct perf_ops ops = fake_kernel;
	struct pmu_list pmus = { 0 };
	struct tree machine, t;
	struct check_row row;
	struct sysfs fs;

	(void)state;
	ops.read = read_and_move;
	tree_make_t410(&machine);
	assert_int_equal(sysfs_open(machine.root, NULL, &fs), 0);
	assert_int_equal(pmu_list_read(&fs, NULL, &pmus), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		tree_make(&t);
		put_total(&t, "", "mon_L3_00", "0");
		begin_audit(&pmus, rows[i].held ? 1 : 100);
		world.tree = &t;
		world.domains[0].name = "mon_L3_00";
		world.domains[0].step = rows[i].total / 4;
		assert_int_equal(check_resctrl(&ops, &fs, t.root, &pmus, &row), 0);
		assert_int_equal(row.status, rows[i].status);
		if (!strstr(row.found, rows[i].found))
			fail_msg("%s: not \"%s\"", row.found, rows[i].found);
		assert_int_equal(fake.open_now, 0);
		tree_remove(&t);
	}
	pmu_list_free(&pmus);
	sysfs_close(&fs);
	tree_remove(&machine);
}

/* CPUs 0 and 1 have L3 cache @a, the others @b. */
static void put_caches(const struct tree *t, const char *a, const char *b)
{
	char name[128];

	tree_put(t, "devices/system/cpu/possible", "0-3\n");
	for (int cpu = 0; cpu < 4; cpu++) {
		snprintf(name, sizeof(name), "devices/system/cpu/cpu%d/cache/index0/level", cpu);
		tree_put(t, name, "1\n");
		snprintf(name, sizeof(name), "devices/system/cpu/cpu%d/cache/index0/id", cpu);
		tree_put(t, name, cpu < 2 ? b : a);
		snprintf(name, sizeof(name), "devices/system/cpu/cpu%d/cache/index1/level", cpu);
		tree_put(t, name, "3\n");
		snprintf(name, sizeof(name), "devices/system/cpu/cpu%d/cache/index1/id", cpu);
		tree_put(t, name, cpu < 2 ? a : b);
	}
}

/* Each of the two sockets has counted 8 GB. Which of them a domain is on, its L3 cache says. */
static void sockets_have_their_caches(void **state)
{
	static const struct {
		const char *names[MOST_DOMAINS];
		uint64_t totals[MOST_DOMAINS]; /* in MB */
		enum check_status status;
		const char *found, *not_found;
	} rows[] = {
		{ { "mon_L3_04", "mon_L3_09" }, { 8000, 8000 }, CHECK_OK, "counters: ", "socket" },
		{ { "mon_L3_04", "mon_L3_09" },
		  { 9600, 4000 },
		  CHECK_LIMITED,
		  "; socket 1: the groups say 2.0 times less",
		  "socket 0" },
		{ { "mon_L3_04", "mon_L3_09" },
		  { 4000, 12000 },
		  CHECK_OK,
		  "; socket 0: the groups say 2.0 times less, as when tasks use memory",
		  "no number" },
		/* sub-NUMA clusters: two nodes of a cache */
		{ { "mon_L3_04/mon_sub_L3_00", "mon_L3_04/mon_sub_L3_01",
		    "mon_L3_09/mon_sub_L3_02" },
		  { 2000, 2000, 12000 },
		  CHECK_OK,
		  "; socket 0: the groups say 2.0 times less",
		  "no number" },
		/* another numbering than that of caches, or a cache that no CPU has */
		{ { "mon_MB_04", "mon_MB_09" }, { 9600, 4000 }, CHECK_OK, "counters: ", "socket" },
		{ { "mon_L3_04", "mon_L3_05" }, { 9600, 4000 }, CHECK_OK, "counters: ", "socket" },
	};
	struct perf_ops ops = fake_kernel;
	struct pmu_list pmus = { 0 };
	struct tree machine, t;
	struct check_row row;
	struct sysfs fs;

	(void)state;
	ops.read = read_and_move;
	tree_make_t410(&machine);
	put_caches(&machine, "4\n", "9\n");
	assert_int_equal(sysfs_open(machine.root, NULL, &fs), 0);
	assert_int_equal(pmu_list_read(&fs, NULL, &pmus), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		tree_make(&t);
		begin_audit(&pmus, 100);
		world.tree = &t;
		for (size_t k = 0; k < MOST_DOMAINS && rows[i].names[k]; k++) {
			put_total(&t, "", rows[i].names[k], "0");
			world.domains[k].name = rows[i].names[k];
			world.domains[k].step = rows[i].totals[k] * 1000000 / 4;
		}
		assert_int_equal(check_resctrl(&ops, &fs, t.root, &pmus, &row), 0);
		if (!strstr(row.found, rows[i].found) || strstr(row.found, rows[i].not_found))
			fail_msg("%zu: %s: not \"%s\"", i, row.found, rows[i].found);
		assert_int_equal(row.status, rows[i].status);
		tree_remove(&t);
	}
	pmu_list_free(&pmus);
	sysfs_close(&fs);
	tree_remove(&machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_are_found),
		cmocka_unit_test(domains_count_once),
		cmocka_unit_test(differences_are_judged),
		cmocka_unit_test(going_back_is_not_forgotten),
		cmocka_unit_test(cgroups_of_tasks_meet),
		cmocka_unit_test(rows_have_their_groups),
		cmocka_unit_test(audits_are_judged),
		cmocka_unit_test(sockets_are_judged),
		cmocka_unit_test(check_sums_groups),
		cmocka_unit_test(counters_are_the_measure),
		cmocka_unit_test(sockets_have_their_caches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
