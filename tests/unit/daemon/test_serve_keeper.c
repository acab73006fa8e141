// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The daemon's data path, fed with reports that are built by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <sqlite3.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/settings.h"
#include "daemon/serve_pages.h"
#include "daemon/store.h"
#include "keeper_world.h"

#define SLURM SCHEDULER_SLURM
#define HOUR  (3600 * WORLD_SECOND)

static json_t *page(struct bench *b, const char *path)
{
	struct serve_pages pages = { .keeper = &b->keeper, .config = &b->config };
	const struct http_request q = { path, "", -1 };
	struct http_page got = { 0 };
	json_t *o;

	assert_int_equal(serve_pages_get(&pages, &q, &got), 0);
	o = json_loadb(got.body, got.size, 0, NULL);
	assert_non_null(o);
	free(got.body);
	serve_pages_release(&pages);
	return o;
}

/* Jobs that were there with other counters than the last one: each is shown with its own. */
static void test_running_jobs(void **state)
{
	struct bench b;
	struct report *r = world_report(0);
	json_t *o, *job;
	json_int_t bytes;

	(void)state;
	setup(&b);
	world_share(r, world_row(r, SLURM, "1", 881, "", true), 0, 100);
	interval(&b, r);
	r = world_report(1);
	r->counters[0].counter = &world_counters[WORLD_COUNTERS / 2];
	r->nr_counters = 1;
	world_share(r, world_row(r, SLURM, "1", 881, "", true), 0, 20);
	world_share(r, world_row(r, SLURM, "2", 882, "", true), 0, 3);
	interval(&b, r);
	o = page(&b, "/jobs");
	job = json_array_get(json_object_get(o, "jobs"), 0);
	assert_int_equal(json_unpack(job, "{s:{s:I}}", "metrics", "mem_read_bytes", &bytes), 0);
	assert_int_equal(bytes, 120);
	job = json_array_get(json_object_get(o, "jobs"), 1);
	assert_int_equal(json_unpack(job, "{s:{s:I}}", "metrics", "mem_read_bytes", &bytes), 0);
	assert_int_equal(bytes, 3);
	json_decref(o);
	teardown(&b);
}

/* What the daemon says while a function runs; free it. */
static char *said(struct bench *b, void (*fn)(struct bench *b))
{
	char path[PATH_MAX], *text;
	int old = dup(STDERR_FILENO), fd;
	struct stat st;

	tree_path(&b->tree, "said", path);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_true(old >= 0 && fd >= 0);
	dup2(fd, STDERR_FILENO);
	fn(b);
	dup2(old, STDERR_FILENO);
	close(old);
	assert_int_equal(fstat(fd, &st), 0);
	text = calloc(1, st.st_size + 1);
	assert_non_null(text);
	assert_int_equal(pread(fd, text, st.st_size, 0), st.st_size);
	close(fd);
	return text;
}

static size_t count(const char *text, const char *what)
{
	size_t nr = 0;

	for (; (text = strstr(text, what)); text++)
		nr++;
	return nr;
}

static void many_ends(struct bench *b, uint64_t number)
{
	struct report *r = world_report(number);

	for (uint64_t k = 0; k < 2000; k++)
		world_row(r, SLURM, "1", 1 + number * 2000 + k, "", true)->exited = true;
	interval(b, r);
}

/* Somebody has the store locked for four intervals with 2,000 ends each. */
static void lock_long(struct bench *b)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(b->config.state, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	for (uint64_t i = 0; i < 4; i++)
		many_ends(b, i);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	assert_int_equal(accounts_nr_running(b->keeper.accounts), 0);
	assert_int_equal(accounts_nr(b->keeper.accounts), 4096 + 2000);
	many_ends(b, 4);
	many_ends(b, 5);
}

/* Jobs that are lost because the store fails for long are told, once and with their number. */
static void test_dropped(void **state)
{
	struct bench b;
	char *text;

	(void)state;
	setup(&b);
	text = said(&b, lock_long);
	/* 8,000 were over, with 2,000 more that had not been given yet */
	assert_int_equal(accounts_node(b.keeper.accounts)->jobs_dropped, 8000 - 4096);
	assert_int_equal(b.keeper.unreported, 12000 - (8000 - 4096));
	assert_int_equal(count(text, "forgotten without a closing report"), 1);
	assert_int_equal(count(text, "3904 jobs were forgotten before"), 1);
	assert_int_equal(count(text, "\n"), 4);
	free(text);
	teardown(&b);
}

static void sql(struct bench *b, const char *text)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(b->config.state, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static size_t reports_in_spool(struct bench *b)
{
	struct serve_keeper *k = &b->keeper;

	serve_keeper_reports(k, UINT64_MAX);
	return k->reported;
}

/* Ends of jobs of the machine (owner 0) or of a user. */
static void ends(struct bench *b, uint64_t number, uint32_t owner, uint64_t first, size_t nr)
{
	struct report *r = world_report(number);

	for (uint64_t k = 0; k < nr; k++) {
		struct report_row *row = world_row(r, SLURM, "1", first + k, "", true);

		row->job->owner = owner;
		row->exited = true;
	}
	interval(b, r);
}

static size_t files_with(struct bench *b, const char *part)
{
	DIR *dir = opendir(b->config.spool);
	struct dirent *entry;
	size_t nr = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		nr += strstr(entry->d_name, part) != NULL;
	closedir(dir);
	return nr;
}

static json_int_t health_of(struct bench *b, const char *key)
{
	json_t *o = page(b, "/healthz");
	json_int_t value = -1;

	assert_int_equal(json_unpack(o, "{s:I}", key, &value), 0);
	json_decref(o);
	return value;
}

/* A user ends jobs by the hundred, and nobody picks reports up: the machine's are written all the same. */
static void flood(struct bench *b)
{
	uint64_t cgroup = 100;

	for (uint64_t i = 0; i < 10; i++) {
		ends(b, 2 * i, 1000, cgroup, 30);
		ends(b, 2 * i + 1, 0, cgroup + 30, 2);
		cgroup += 32;
		serve_keeper_reports(&b->keeper, UINT64_MAX);
	}
}

static void test_full_spool(void **state)
{
	struct bench b;
	char *text;

	(void)state;
	setup(&b);
	text = said(&b, flood);
	assert_int_equal(b.keeper.reported, 10 * 32);
	assert_int_equal(b.keeper.unreported, 0);
	assert_false(b.keeper.spool_trouble.now);
	assert_int_equal(files_with(&b, "-u1000"), 320 - b.keeper.removed - 20);
	assert_int_equal(files_with(&b, "slurm-"), 320 - b.keeper.removed);
	assert_in_range(files_with(&b, "slurm-"), 98, 100);
	assert_int_equal(health_of(&b, "reports_removed"), b.keeper.removed);
	assert_int_equal(health_of(&b, "reports_unwritten"), 0);
	/* once, and not for each */
	assert_int_equal(count(text, "the spool is full"), 1);
	assert_int_equal(count(text, "\n"), 1);
	free(text);
	teardown(&b);
}

/* The spool fails for long: what waits is bounded, what is given up is counted, and the machine's come first. */
static void fail_long(struct bench *b)
{
	b->keeper.spool.max_files = 1;
	b->config.max_jobs = 100;
	for (uint64_t i = 0; i < 5; i++) {
		ends(b, 2 * i, 1000, 10000 * (i + 1), 600);
		ends(b, 2 * i + 1, 0, 10000 * (i + 1) + 5000, 4);
		serve_keeper_reports(&b->keeper, UINT64_MAX);
	}
}

/* Somebody else's file: where there is room for one, it fills the spool. */
static void make_foreign_file(struct bench *b)
{
	char path[PATH_MAX];
	FILE *f;

	tree_path(&b->tree, "spool/not-ours", path);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
	b->keeper.spool.nr_files = 1;
}

static void test_spool_fails(void **state)
{
	struct bench b;
	char *text;

	(void)state;
	setup(&b);
	make_foreign_file(&b);
	text = said(&b, fail_long);
	assert_true(b.keeper.spool_trouble.now);
	assert_in_range(b.keeper.unreported, 20, 2 * STORE_PRUNE_MAX);
	assert_int_equal(b.keeper.unwritten, 5 * 604 - b.keeper.unreported);
	assert_int_equal(health_of(&b, "reports_unwritten"), b.keeper.unwritten);
	assert_true(count(text, "forgotten before the closing report") >= 1);
	/* when it works again, all of the machine's are there, first of all */
	b.keeper.spool.max_files = 10000;
	interval(&b, world_report(10));
	serve_keeper_reports(&b.keeper, UINT64_MAX);
	assert_int_equal(files_with(&b, ".json") - files_with(&b, "-u1000"), 20);
	assert_int_equal(b.keeper.unreported, 0);
	free(text);
	teardown(&b);
}

/* A folder has the name of one report, of the machine's and of a user's: those of others are written. */
static void block_two(struct bench *b)
{
	DIR *dir;
	struct dirent *entry;

	for (uint32_t owner = 0; owner <= 1000; owner += 1000) {
		ends(b, owner != 0, owner, 1 + owner, 1);
		serve_keeper_reports(&b->keeper, UINT64_MAX);
	}
	dir = opendir(b->config.spool);
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		if (!strstr(entry->d_name, ".json"))
			continue;
		assert_int_equal(unlinkat(dirfd(dir), entry->d_name, 0), 0);
		assert_int_equal(mkdirat(dirfd(dir), entry->d_name, 0700), 0);
	}
	closedir(dir);
	sql(b, "UPDATE jobs SET reported = 0");
	b->keeper.unreported = 2;
	for (uint64_t i = 2; i < 6; i++) {
		ends(b, i, i % 2 ? 1000 : 0, 100 * i, 40);
		while (serve_keeper_reports(&b->keeper, UINT64_MAX))
			;
	}
}

static void let_through(struct bench *b)
{
	DIR *dir = opendir(b->config.spool);
	struct dirent *entry;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	closedir(dir);
	interval(b, world_report(6));
	serve_keeper_reports(&b->keeper, UINT64_MAX);
}

static void test_report_in_the_way(void **state)
{
	struct bench b;
	const char *part, *text, *schema;
	char *log;
	json_t *o;
	int ok;

	(void)state;
	setup(&b);
	b.config.spool_max_files = b.keeper.spool.max_files = 0;
	log = said(&b, block_two);
	assert_int_equal(b.keeper.reported, 2 + 4 * 40);
	assert_int_equal(b.keeper.unreported, 2);
	assert_false(b.keeper.spool_trouble.now);
	assert_int_equal(count(log, "a closing report cannot be written"), 1);
	assert_int_equal(count(log, "slurm-"), 2); /* what it is, and what to remove */
	assert_int_equal(count(log, "\n"), 1);
	free(log);
	o = page(&b, "/healthz");
	assert_int_equal(json_unpack(o, "{s:s, s:[{s:s, s:s}], s:{s:b}}", "status", &schema,
				     "problems", "part", &part, "text", &text, "spool", "ok", &ok),
			 0);
	assert_string_equal(part, "spool");
	assert_non_null(strstr(text, "slurm-"));
	assert_non_null(strstr(text, "and 1 more"));
	assert_false(ok);
	json_decref(o);
	assert_true(b.keeper.spool_trouble.errors >= 2);
	log = said(&b, let_through);
	assert_int_equal(b.keeper.unreported, 0);
	assert_int_equal(b.keeper.reported, 4 + 4 * 40);
	assert_int_equal(count(log, "can be written again"), 1);
	free(log);
	assert_false(b.keeper.report_trouble.now);
	teardown(&b);
}

static void lose_store(struct bench *b)
{
	interval(b, world_report(1));
}

/* The accounts are removed under the daemon: it says so, and all of them are there again. */
static void test_store_lost(void **state)
{
	struct bench b;
	char *log;

	(void)state;
	setup(&b);
	ends(&b, 0, 0, 1, 30);
	tree_drop(&b.tree, "accounts.db");
	tree_drop(&b.tree, "accounts.db-wal");
	log = said(&b, lose_store);
	assert_int_equal(count(log, "was removed, renamed or replaced"), 1);
	assert_int_equal(count(log, "all accounts were written to a new"), 1);
	assert_int_equal(count(log, "accounts can be written again"), 1);
	free(log);
	assert_false(b.keeper.store_trouble.now);
	assert_int_equal(b.keeper.store_trouble.errors, 1);
	sql(&b, "CREATE TEMP TABLE t(x CHECK(x = 30));"
		"INSERT INTO t SELECT count(*) FROM jobs");
	assert_int_equal(reports_in_spool(&b), 30);
	teardown(&b);
}

/*
 * An interval with nothing in it, so long after its number, with the wall clock so far ahead; what is
 * old is looked for.
 */
static void idle(struct bench *b, uint64_t number, uint64_t after_ns, uint64_t ahead_ns)
{
	struct report *r = world_report(number);

	r->start_ns += after_ns;
	r->end_ns += after_ns;
	r->start_time_ns += after_ns + ahead_ns;
	b->keeper.prune_ns = 0;
	interval(b, r);
}

static size_t nr_kept(struct bench *b)
{
	struct account_list found = { 0 };
	struct diag d = { 0 };
	size_t nr;

	assert_int_equal(store_each_job(b->keeper.store, &(struct store_query){ 0 },
					account_list_add, &found, &d),
			 0);
	nr = found.nr;
	account_list_release(&found);
	return nr;
}

/* Down for longer than jobs are kept: the reports that waited are written, of running jobs too. */
static void test_long_stop(void **state)
{
	struct bench b;
	struct report *r = world_report(3);

	(void)state;
	setup(&b);
	b.config.keep_ns = 12 * HOUR;
	ends(&b, 2, 0, 1, 4);
	world_row(r, SLURM, "1", 5, "", true);
	interval(&b, r);
	restart(&b);
	idle(&b, 4, 13 * HOUR, 0);
	assert_int_equal(reports_in_spool(&b), 5);
	assert_int_equal(b.keeper.unwritten, 0);
	/* and now they are old */
	idle(&b, 5, 13 * HOUR, 0);
	assert_int_equal(nr_kept(&b), 0);
	teardown(&b);
}

/* What could not be written for a day is not kept for ever; a report that is written begins the day again. */
static void fail_for_a_day(struct bench *b)
{
	struct serve_keeper *k = &b->keeper;

	b->config.keep_ns = 12 * HOUR;
	k->spool.max_files = 1;
	ends(b, 0, 0, 1, 4);
	assert_int_equal(reports_in_spool(b), 0);
	k->failed_ns -= 23 * HOUR;
	idle(b, 1, 13 * HOUR, 0);
	assert_int_equal(nr_kept(b), 4);
	k->spool.max_files = 10000;
	assert_int_equal(reports_in_spool(b), 4);
	k->spool.max_files = 1;
	ends(b, 2, 0, 5, 2);
	assert_int_equal(reports_in_spool(b), 4);
	k->failed_ns -= 23 * HOUR;
	idle(b, 3, 26 * HOUR, 0);
	assert_int_equal(nr_kept(b), 2);
	assert_int_equal(k->unwritten, 0);
	k->failed_ns -= 2 * HOUR;
	idle(b, 4, 26 * HOUR, 0);
	assert_int_equal(nr_kept(b), 0);
	assert_int_equal(k->unwritten, 2);
}

static void test_fails_for_a_day(void **state)
{
	struct bench b;
	char *text;

	(void)state;
	setup(&b);
	make_foreign_file(&b);
	text = said(&b, fail_for_a_day);
	assert_int_equal(count(text, "2 jobs were forgotten before the closing report"), 1);
	free(text);
	teardown(&b);
}

static double metric(struct bench *b, const char *name)
{
	struct serve_pages pages = { .keeper = &b->keeper, .config = &b->config };
	const struct http_request q = { "/metrics", "", -1 };
	struct http_page got = { 0 };
	char *text, *line;
	double value;

	assert_int_equal(serve_pages_get(&pages, &q, &got), 0);
	text = strndup(got.body, got.size);
	assert_non_null(text);
	line = strstr(text, name);
	assert_non_null(line);
	assert_int_equal(sscanf(line + strlen(name), "%lf", &value), 1);
	free(text);
	free(got.body);
	serve_pages_release(&pages);
	return value;
}

static void assert_clock(struct bench *b, bool believed)
{
	json_t *o = page(b, "/healthz");
	const char *part;
	int ok;

	assert_int_equal(json_unpack(o, "{s:{s:b}}", "clock", "ok", &ok), 0);
	assert_int_equal(ok, believed);
	assert_int_equal(json_array_size(json_object_get(o, "problems")), !believed);
	if (!believed) {
		assert_int_equal(json_unpack(o, "{s:[{s:s}]}", "problems", "part", &part), 0);
		assert_string_equal(part, "clock");
	}
	json_decref(o);
	assert_int_equal(metric(b, "\nt410trace_clock_wrong "), !believed);
}

/* A start with a clock that is 100 days ahead, a second one, and then somebody says that it is right. */
static void wrong_at_start(struct bench *b)
{
	struct report *r = world_report(3);

	b->config.keep_ns = 2160 * HOUR;
	ends(b, 2, 0, 1, 4);
	assert_int_equal(reports_in_spool(b), 4);
	world_row(r, SLURM, "1", 5, "", true);
	interval(b, r);
	restart(b);
	for (uint64_t i = 4; i < 6; i++) {
		idle(b, i, 0, 2400 * HOUR);
		assert_clock(b, false);
		/* The one that was running is not there any more. */
		assert_int_equal(reports_in_spool(b), 1);
		assert_int_equal(nr_kept(b), 5);
	}
	restart(b);
	idle(b, 6, 0, 2400 * HOUR);
	assert_clock(b, false);
	assert_int_equal(nr_kept(b), 5);
	assert_int_equal(unlink(b->keeper.clock.file), 0);
	idle(b, 7, 0, 2400 * HOUR);
	assert_clock(b, true);
	assert_int_equal(nr_kept(b), 0);
}

/* It jumps while jobs run, and comes back. */
static void jumps(struct bench *b)
{
	b->config.keep_ns = 2160 * HOUR;
	ends(b, 0, 0, 1, 4);
	assert_int_equal(reports_in_spool(b), 4);
	for (uint64_t i = 1; i < 4; i++) {
		struct report *r = world_report(i);

		r->start_time_ns += i == 1 ? 0 : 2400 * HOUR;
		world_row(r, SLURM, "1", 5, "", true);
		b->keeper.prune_ns = 0;
		interval(b, r);
		assert_clock(b, i == 1);
		assert_int_equal(nr_kept(b), 5);
	}
	idle(b, 4, 0, 0);
	assert_clock(b, true);
	assert_int_equal(nr_kept(b), 5);
}

/* What ended while it was behind is not old when it is back, but some time later. */
static void falls_behind(struct bench *b)
{
	struct report *r = world_report(1);

	b->config.keep_ns = 2160 * HOUR;
	ends(b, 0, 0, 1, 4);
	assert_int_equal(reports_in_spool(b), 4);
	r->start_time_ns -= 2400 * HOUR;
	world_row(r, SLURM, "1", 5, "", true)->exited = true;
	interval(b, r);
	assert_clock(b, false);
	assert_int_equal(reports_in_spool(b), 5);
	idle(b, 2, 0, 0);
	assert_clock(b, true);
	assert_int_equal(nr_kept(b), 5);
	sql(b, "CREATE TEMP TABLE t(x CHECK(x = 1000000000));"
	       "INSERT INTO t SELECT end_ns - start_ns FROM jobs");
	idle(b, 3, 2159 * HOUR, 0);
	assert_int_equal(nr_kept(b), 5);
	idle(b, 4, 2161 * HOUR, 0);
	assert_int_equal(nr_kept(b), 0);
}

static void assert_forgets_nothing(void (*fn)(struct bench *b), size_t nr_said, const char *again)
{
	struct bench b;
	char *text;

	setup(&b);
	text = said(&b, fn);
	assert_int_equal(count(text, "nothing is forgotten for its age"), nr_said);
	assert_int_equal(count(text, "the clock is believed again"), 1);
	assert_int_equal(count(text, "forgotten"), nr_said + (again != NULL));
	if (again)
		assert_int_equal(count(text, again), 1);
	free(text);
	teardown(&b);
}

static void test_clock(void **state)
{
	(void)state;
	assert_forgets_nothing(wrong_at_start, 2, "5 old jobs forgotten");
	assert_forgets_nothing(jumps, 1, NULL);
	assert_forgets_nothing(falls_behind, 1, "5 old jobs forgotten");
}

static void damage_one(struct bench *b)
{
	json_int_t damaged, unreported;
	struct report *r = world_report(0);
	json_t *o;

	for (uint64_t k = 1; k <= 40; k++)
		world_row(r, SLURM, "1", k, "", true)->exited = true;
	interval(b, r);
	sql(b, "UPDATE jobs SET details = zeroblob(300) WHERE number = 40");
	sql(b, "UPDATE jobs SET key = '../' || key WHERE number = 3");
	assert_int_equal(reports_in_spool(b), 38);
	interval(b, world_report(1));
	assert_int_equal(reports_in_spool(b), 38);
	o = page(b, "/healthz");
	assert_int_equal(
		json_unpack(o, "{s:I, s:I}", "damaged", &damaged, "unreported", &unreported), 0);
	assert_int_equal(damaged, 2);
	assert_int_equal(unreported, 0);
	json_decref(o);
}

/* A page as text; its status */
static int get_page(struct serve_pages *p, const char *path, char **ret)
{
	const struct http_request q = { path, "", -1 };
	struct http_page got = { 0 };

	assert_int_equal(serve_pages_get(p, &q, &got), 0);
	*ret = strndup(got.body, got.size);
	assert_non_null(*ret);
	free(got.body);
	return got.status;
}

/* Each page that the index lists is there, and a wrong path gets the same list. */
static void test_index(void **state)
{
	struct serve_pages pages;
	struct bench b;
	char *index, *text, *line, *rest;
	size_t nr = 0;

	(void)state;
	setup(&b);
	pages = (struct serve_pages){ .keeper = &b.keeper, .config = &b.config };
	assert_int_equal(get_page(&pages, "/", &index), 200);
	assert_int_equal(get_page(&pages, "/nothing", &text), 404);
	assert_non_null(strstr(text, index));
	free(text);
	assert_int_equal(get_page(&pages, "/report", &text), 503);
	assert_non_null(strstr(text, "first interval"));
	free(text);
	interval(&b, world_report(0));
	for (line = strtok_r(index, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (line[0] != '/')
			continue;
		line[strcspn(line, " ")] = '\0';
		assert_int_not_equal(get_page(&pages, line, &text), 404);
		assert_true(text[0]);
		free(text);
		nr++;
	}
	assert_int_equal(nr, 4);
	free(index);
	serve_pages_release(&pages);
	teardown(&b);
}

/* The status of the page, and what it says of the counters. */
static int health_of_counters(struct bench *b, const char *problem)
{
	struct serve_pages pages = { .keeper = &b->keeper, .config = &b->config };
	const struct http_request q = { "/healthz", "", -1 };
	struct http_page got = { 0 };
	const char *part, *text;
	json_t *o;

	pages.started_ns = monotonic_ns();
	assert_int_equal(serve_pages_get(&pages, &q, &got), 0);
	o = json_loadb(got.body, got.size, 0, NULL);
	assert_non_null(o);
	if (problem) {
		assert_int_equal(json_unpack(o, "{s:[{s:s, s:s}]}", "problems", "part", &part,
					     "text", &text),
				 0);
		assert_string_equal(part, "counters");
		assert_string_equal(text, problem);
	}
	json_decref(o);
	free(got.body);
	serve_pages_release(&pages);
	return got.status;
}

static void counters_fail(struct bench *b)
{
	b->config.interval_ns = 10 * NS_PER_S;
	interval(b, world_report(0));
	assert_int_equal(health_of_counters(b, NULL), 200);
	serve_keeper_counters(&b->keeper, "x: busy for 11 s");
	serve_keeper_counters(&b->keeper, "x: busy for 12 s");
	assert_int_equal(health_of_counters(b, "x: busy for 12 s"), 503);
	serve_keeper_counters(&b->keeper, NULL);
	assert_int_equal(health_of_counters(b, NULL), 200);
}

/* Health is bad while counters cannot be read, with one line in the log each way. */
static void test_counters_fail(void **state)
{
	struct bench b;
	char *text;

	(void)state;
	setup(&b);
	text = said(&b, counters_fail);
	assert_int_equal(count(text, "\n"), 2);
	assert_int_equal(count(text, "counters: x: busy for 11 s"), 1);
	assert_int_equal(count(text, "can be read again"), 1);
	free(text);
	teardown(&b);
}

/* Accounts that are damaged cost their own closing reports only. */
static void test_damaged(void **state)
{
	struct bench b;
	char *text;

	(void)state;
	setup(&b);
	text = said(&b, damage_one);
	assert_int_equal(count(text, "damaged"), 4); /* twice a line */
	assert_int_equal(count(text, "\n"), 2);
	free(text);
	assert_false(b.keeper.store_trouble.now);
	teardown(&b);
}

/* Refused with the reason and a remedy that is taken, on a machine that is too large for it. */
static void short_windows_need_few_cpus(void **state)
{
	struct options c = { .serve.interval_ns = WORLD_SECOND, .run.window_ns = 1000000 };
	struct diag d = { 0 };

	(void)state;
	assert_int_equal(settings_judge(&c, 352, &d), 0);
	c.serve.interval_ns = 3600 * WORLD_SECOND;
	assert_int_equal(settings_judge(&c, 400, &d), 0);
	assert_int_equal(settings_judge(&c, 401, &d), -EINVAL);
	assert_string_equal(d.what,
			    "window = 1ms: 401 CPUs send more in windows as short as these than "
			    "fits into the daemon's memory");
	assert_string_equal(d.help, "give a window of at least 2ms");
	c.run.window_ns = 2000000;
	assert_int_equal(settings_judge(&c, 401, &d), 0);
	c.run.window_ns = 10000000;
	assert_int_equal(settings_judge(&c, 4000, &d), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_index),
		cmocka_unit_test(test_running_jobs),
		cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_full_spool),
		cmocka_unit_test(test_spool_fails),
		cmocka_unit_test(short_windows_need_few_cpus),
		cmocka_unit_test(test_counters_fail),
		cmocka_unit_test(test_report_in_the_way),
		cmocka_unit_test(test_store_lost),
		cmocka_unit_test(test_long_stop),
		cmocka_unit_test(test_fails_for_a_day),
		cmocka_unit_test(test_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
