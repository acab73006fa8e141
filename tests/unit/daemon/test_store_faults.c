// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The store when things go wrong: full disks, deaths, damage, two writers, and other people. */
#include "store_world.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <time.h>

#include "base/array.h"
#include "valgrind.h"

static int make(void **state)
{
	(void)state;
	tree_make(&tree);
	tree_path(&tree, "accounts.db", file);
	/* as an administrator does it: a group may read what is made there */
	if (!geteuid() && chown(tree.root, -1, NOBODY))
		return -1;
	return chmod(tree.root, 02750);
}

static void second_writer(void *arg)
{
	struct store *s;
	struct diag d;

	CHECK(store_open(file, true, &d, &s) == -EBUSY);
	CHECK(strstr(d.what, file) && strstr(d.what, "another t410trace"));
	CHECK(strstr(d.what, (char *)arg));
	CHECK(d.help[0]);
}

static void test_two_writers(void **state)
{
	struct store *s;
	char holder[64];

	(void)state;
	/* not who wrote there last */
	store_close(writer());
	s = writer();
	snprintf(holder, sizeof(holder), "process %d (%s)", getpid(), own_name());
	/* here and in another process */
	second_writer(holder);
	in_child(second_writer, holder);
	store_close(s);
	store_close(writer());
}

/* Readers who may not write, at all times of a writer's life. */
static void nobody_reads(void *arg)
{
	uint64_t intervals = *(uint64_t *)arg;
	struct found f;
	struct diag d;

	become_nobody(&tree);
	if (look(file, NULL, &f, &d)) {
		fprintf(stderr, "%s (%s)\n", d.what, d.help);
		_exit(1);
	}
	CHECK(f.nr == 3);
	CHECK(f.intervals == intervals && f.node == intervals);
}

static void die_with_interval(void *arg)
{
	/* static: for valgrind it is not lost */
	static struct store *s;
	struct diag d;

	s = writer();
	CHECK(!put_interval(s, 1, 3, *(uint64_t *)arg, &d));
	/* and another one begun */
	CHECK(!store_begin(s, &d));
	put_node(s, 99, SAMPLE_COUNTERS);
	kill(getpid(), SIGKILL);
}

static void killed(void (*fn)(void *arg), void *arg)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		fn(arg);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

static void remove_log(void)
{
	sqlite3 *db;

	/* as the sqlite3 program does when it was the last to close */
	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "SELECT count(*) FROM jobs", NULL, NULL, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	assert_int_not_equal(access(strcat(strcpy((char[PATH_MAX]){ 0 }, file), "-wal"), F_OK), 0);
}

static void test_other_people(void **state)
{
	uint64_t i;
	struct store *s;
	struct diag d;

	(void)state;
	root_only();
	s = writer();
	/* each commit, also the first after the log was begun anew */
	for (i = 1; i < 30; i++) {
		assert_int_equal(put_interval(s, 1, 3, i, &d), 0);
		in_child(nobody_reads, &i);
	}
	store_close(s);
	i--;
	in_child(nobody_reads, &i);
	remove_log();
	in_child(nobody_reads, &i);
	i = 100;
	killed(die_with_interval, &i);
	in_child(nobody_reads, &i);
	/* with a log, and a writer who goes on */
	s = writer();
	in_child(nobody_reads, &i);
	i = 101;
	assert_int_equal(put_interval(s, 1, 3, i, &d), 0);
	in_child(nobody_reads, &i);
	store_close(s);
	in_child(nobody_reads, &i);
	/* the first commit into a log that was empty */
	s = writer();
	i = 102;
	assert_int_equal(put_interval(s, 1, 3, i, &d), 0);
	in_child(nobody_reads, &i);
	store_close(s);
}

/* The log is written from its begin again and again while somebody reads who may not write. */
static void test_other_people_for_long(void **state)
{
	struct store *s;
	struct diag d;
	size_t bad = 0;
	int status, pipes[2];
	pid_t pid;

	(void)state;
	root_only();
	s = writer();
	assert_int_equal(put_interval(s, 1, 200, 1, &d), 0);
	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (!pid) {
		struct found f;

		become_nobody(&tree);
		fcntl(pipes[0], F_SETFL, O_NONBLOCK);
		while (read(pipes[0], &status, 1) < 0) {
			if (look(file, NULL, &f, &d)) {
				fprintf(stderr, "%s\n", d.what);
				bad++;
			} else if (f.nr != 200 || !f.intervals || f.intervals != f.node) {
				bad++;
			}
		}
		CHECK(!bad);
		end_well();
	}
	for (uint64_t i = 2; i < under_valgrind(10, 100); i++)
		assert_int_equal(put_interval(s, 1, 200, i, &d), 0);
	assert_int_equal(write(pipes[1], "x", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(pipes[0]);
	close(pipes[1]);
	store_close(s);
}

/* A writer that comes and goes, whose log is there and gone again, is in no reader's way. */
static void test_coming_and_going(void **state)
{
	struct store *s = writer();
	struct diag d;
	int status, pipes[2];
	pid_t pid;

	(void)state;
	assert_int_equal(put_interval(s, 1, 3, 1, &d), 0);
	store_close(s);
	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (!pid) {
		struct found f;
		int err;

		become_nobody(&tree);
		fcntl(pipes[0], F_SETFL, O_NONBLOCK);
		while (read(pipes[0], &status, 1) < 0) {
			err = look(file, NULL, &f, &d);
			/* On a busy machine the writer may have the file locked for longer than we wait. */
			if (err && err != -EAGAIN && err != -EBUSY)
				fprintf(stderr, "%s\n", d.what);
			CHECK(!err || err == -EAGAIN || err == -EBUSY);
			CHECK(err || f.nr == 3);
		}
		end_well();
	}
	for (uint64_t i = 2; i < under_valgrind(10, 300); i++) {
		s = writer();
		assert_int_equal(put_interval(s, 1, 3, i, &d), 0);
		store_close(s);
	}
	assert_int_equal(write(pipes[1], "x", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(pipes[0]);
	close(pipes[1]);
}

/* A writer that came and went while a reader without a log was at it left no log, but was there. */
static void test_written_meanwhile(void **state)
{
	struct store *s = writer(), *reader;
	struct accounts_node node;
	struct host_info host;
	struct diag d;

	(void)state;
	assert_int_equal(put_interval(s, 1, 3, 1, &d), 0);
	store_close(s);
	assert_int_equal(store_open(file, false, &d, &reader), 0);
	s = writer();
	assert_int_equal(put_interval(s, 1, 3, 2, &d), 0);
	store_close(s);
	assert_int_equal(store_read_node(reader, &host, &node, &d), -EAGAIN);
	assert_non_null(strstr(d.what, "were changed"));
	assert_non_null(strstr(d.help, "try again"));
	store_close(reader);
}

/* A file half written, seen by a reader without locks, is not damaged. */
static void test_half_written(void **state)
{
	struct accounts_node node;
	struct host_info host;
	struct store *s = writer(), *reader;
	int fd = open(file, O_WRONLY);
	struct diag d;

	(void)state;
	assert_int_equal(put_interval(s, 1, 3, 1, &d), 0);
	store_close(s);
	assert_int_equal(store_open(file, false, &d, &reader), 0);
	for (off_t at = 100, end = lseek(fd, 0, SEEK_END); at < end; at++)
		assert_int_equal(pwrite(fd, "x", 1, at), 1);
	close(fd);
	assert_int_equal(store_read_node(reader, &host, &node, &d), -EAGAIN);
	store_close(reader);
	/* And without a writer it is. */
	nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
	assert_int_equal(store_open(file, false, &d, &reader), -EUCLEAN);
}

/* Somebody who has no right to write wants to. */
static void nobody_writes(void *arg)
{
	struct store *s;
	struct diag d;
	int err;

	(void)arg;
	become_nobody(&tree);
	err = store_open(file, true, &d, &s);
	CHECK(err == -EACCES || err == -EROFS);
	CHECK(strstr(d.what, file) && d.help[0]);
}

/* A reader lacks the right to the log: the file alone is not enough, and waiting does not help. */
static void nobody_reads_log(void *arg)
{
	struct found f;
	struct diag d;

	(void)arg;
	become_nobody(&tree);
	CHECK(look(file, NULL, &f, &d) == -EACCES);
	CHECK(strstr(d.what, "Permission denied") && strstr(d.help, "-wal"));
}

static void test_log_rights(void **state)
{
	struct store *s;
	char log[PATH_MAX];
	struct diag d;

	(void)state;
	root_only();
	s = writer();
	assert_int_equal(put_interval(s, 1, 3, 1, &d), 0);
	snprintf(log, sizeof(log), "%.4000s-wal", file);
	assert_int_equal(chmod(log, 0600), 0);
	in_child(nobody_reads_log, NULL);
	store_close(s);
}

static void test_rights(void **state)
{
	(void)state;
	root_only();
	in_child(nobody_writes, NULL);
	store_close(writer());
	in_child(nobody_writes, NULL);
}

static void test_wrong_places(void **state)
{
	struct store *s;
	struct diag d;

	(void)state;
	assert_int_equal(store_open("/nowhere/at/all", true, &d, &s), -ENOENT);
	assert_non_null(strstr(d.what, "/nowhere/at/all"));
	assert_true(d.help[0]);
	assert_int_equal(store_open("/nowhere/at/all", false, &d, &s), -ENOENT);
	assert_non_null(strstr(d.help, "t410trace serve"));
	assert_int_equal(store_open(tree.root, true, &d, &s), -EINVAL);
	assert_int_equal(store_open(tree.root, false, &d, &s), -EINVAL);
	assert_int_equal(store_open("/dev/null", true, &d, &s), -EINVAL);
}

static void test_locked(void **state)
{
	struct store *s = writer();
	struct found f;
	struct diag d;
	sqlite3 *db;

	(void)state;
	assert_int_equal(put_interval(s, 1, 3, 1, &d), 0);
	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(put_interval(s, 1, 3, 2, &d), -EBUSY);
	assert_non_null(strstr(d.help, "sqlite3"));
	assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(put_interval(s, 1, 3, 3, &d), 0);
	sqlite3_close(db);
	store_close(s);
	assert_int_equal(look(file, NULL, &f, &d), 0);
	assert_int_equal(f.intervals, 3);
}

static void on_full_disk(void *arg)
{
	char filler[PATH_MAX + 8];
	struct store *s;
	struct found f;
	struct diag d = { 0 };

	(void)arg;
	snprintf(filler, sizeof(filler), "%s/filler", tree.root);
	if (!mount_small(tree.root, "size=1m"))
		skip_child("no rights to mount");
	CHECK(!store_open(file, true, &d, &s));
	CHECK(!put_interval(s, 1, 3, 1, &d));
	fill_up(filler);
	for (int i = 0; i < 3; i++) {
		CHECK(put_interval(s, 1, 200, 2, &d) == -ENOSPC);
		CHECK(strstr(d.what, file) && strstr(d.help, "space"));
		CHECK(!look(file, NULL, &f, &d));
		CHECK(f.nr == 3 && f.intervals == 1 && f.node == 1);
	}
	/* a full disk does not stop it from closing and opening */
	store_close(s);
	CHECK(!store_open(file, true, &d, &s) && !d.what[0]);
	fill_up(filler);
	CHECK(store_reported(s, f.keys[0], &d) == -ENOSPC && strstr(d.what, "full"));
	CHECK(put_interval(s, 1, 200, 2, &d) == -ENOSPC);
	CHECK(!unlink(filler) && !put_interval(s, 1, 200, 2, &d));
	CHECK(!look(file, NULL, &f, &d));
	CHECK(f.nr == 200 && f.intervals == 2 && f.node == 2);
	store_close(s);
	/* nor can it be begun there */
	fill_up(filler);
	CHECK(store_open(strcat(file, "2"), true, &d, &s) == -ENOSPC);
	CHECK(d.help[0]);
}

static void test_full_disk(void **state)
{
	(void)state;
	in_child(on_full_disk, NULL);
}

/* A disk so small that the log alone fills it: it is given back, and all goes on. */
static void on_small_disk(void *arg)
{
	char filler[PATH_MAX + 8];
	struct store *s;
	struct found f;
	struct diag d = { 0 };
	uint64_t i;

	(void)arg;
	snprintf(filler, sizeof(filler), "%s/filler", tree.root);
	if (!mount_small(tree.root, "size=6m"))
		skip_child("no rights to mount");
	CHECK(!store_open(file, true, &d, &s));
	for (i = 1; i < 40; i++)
		CHECK(!put_interval(s, 1, 200, i, &d));
	/* full by others, and then not: without another start */
	fill_up(filler);
	for (int n = 0; n < 3; n++)
		CHECK(put_interval(s, 1, 900, i, &d) == -ENOSPC);
	CHECK(!unlink(filler));
	CHECK(!put_interval(s, 1, 900, i, &d));
	CHECK(!look(file, NULL, &f, &d));
	CHECK(f.nr == 900 && f.intervals == i && f.node == i);
	store_close(s);
}

static void test_small_disk(void **state)
{
	(void)state;
	in_child(on_small_disk, NULL);
}

/* Intervals without end, each job with the interval's number; tells which one was committed. */
static void write_for_ever(void *arg)
{
	int fd = *(int *)arg;
	struct found f = { 0 };
	struct store *s;
	struct diag d;

	look(file, NULL, &f, &d);
	CHECK(!store_open(file, true, &d, &s));
	CHECK(!d.what[0]);
	for (uint64_t i = f.node + 1;; i++) {
		CHECK(!put_interval(s, 1, 50, i, &d));
		CHECK(write(fd, &i, sizeof(i)) == sizeof(i));
	}
}

static void test_killed(void **state)
{
	uint64_t told = 0, last = 0;
	struct found f;
	struct diag d;
	int pipes[2];

	(void)state;
	for (size_t i = 0; i < under_valgrind(3, 40); i++) {
		pid_t pid;

		assert_int_equal(pipe(pipes), 0);
		pid = fork();
		if (!pid)
			write_for_ever(&pipes[1]);
		close(pipes[1]);
		/* at the latest in the middle of the third interval */
		for (size_t n = 0; n < i % 3 + 1; n++)
			assert_int_equal(read(pipes[0], &told, sizeof(told)), sizeof(told));
		usleep(i * 37 % 5000);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		while (read(pipes[0], &told, sizeof(told)) == sizeof(told))
			;
		close(pipes[0]);
		/* what was committed is there, and nothing in part */
		assert_int_equal(look(file, NULL, &f, &d), 0);
		assert_int_equal(f.nr, 50);
		assert_int_equal(f.intervals, f.node);
		assert_true(f.node == told || f.node == told + 1);
		assert_true(f.node > last);
		last = f.node;
	}
}

static void damage(long at, const char *text)
{
	FILE *f = fopen(file, "r+");

	assert_non_null(f);
	assert_int_equal(fseek(f, at, SEEK_SET), 0);
	assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
	assert_int_equal(fclose(f), 0);
}

/* A writer puts it aside, says so, and begins anew; readers say that it is damaged. */
static void assert_put_aside(void)
{
	struct found f;
	struct store *s;
	struct diag d = { 0 };
	char aside[PATH_MAX];
	const char *name;

	assert_int_equal(look(file, NULL, &f, &d), -EUCLEAN);
	assert_true(d.help[0]);
	assert_int_equal(store_open(file, true, &d, &s), 0);
	assert_non_null(strstr(d.what, file));
	name = strstr(d.help, file);
	assert_non_null(name);
	assert_int_equal(sscanf(name, "%4095[^ ,]", aside), 1);
	assert_non_null(strstr(aside, ".damaged-"));
	assert_int_equal(access(aside, F_OK), 0);
	assert_int_equal(put_interval(s, 1, 1, 1, &d), 0);
	assert_int_equal(look(file, NULL, &f, &d), 0);
	assert_int_equal(f.nr, 1);
	store_close(s);
	/* once */
	store_close(writer());
}

static void set_columns(const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void make_store(void)
{
	struct store *s = writer();
	struct diag d;

	assert_int_equal(put_interval(s, 1, 200, 1, &d), 0);
	store_close(s);
}

static void test_damaged_header(void **state)
{
	(void)state;
	make_store();
	damage(0, "no database");
	assert_put_aside();
}

/* An account that is damaged costs itself: readers leave it out, the writer puts it aside, once. */
static void test_damaged_account(void **state)
{
	static const char *const changes[] = {
		"UPDATE jobs SET details = zeroblob(100) WHERE id = '7'",
		"UPDATE jobs SET details = x'' WHERE id = '7'",
		"UPDATE jobs SET scheduler = 'x' WHERE id = '7'",
		"UPDATE jobs SET name = zeroblob(3) || printf('%.200c', 'x') WHERE id = '7'",
		"UPDATE jobs SET state = 'ended', details = zeroblob(9) WHERE id = '7'",
		/* no report can have this name, and no terminal should see it */
		"UPDATE jobs SET key = 'slurm-7-1007-' || char(27, 10) || '/' WHERE id = '7'",
	};
	static const struct store_query all, aside = { .id = "7" };

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct store *s;
		struct found f = { 0 };
		struct diag d = { 0 };

		make_store();
		set_columns(changes[i]);
		assert_int_equal(store_open(file, false, &d, &s), 0);
		assert_int_equal(store_each_job(s, &all, note_job, &f, &d), 0);
		assert_int_equal(f.nr, 199);
		assert_int_equal(store_damaged(s)->nr, 1);
		assert_int_equal(strncmp(store_damaged(s)->key, "slurm-7-1007-", 13), 0);
		assert_null(strpbrk(store_damaged(s)->key, "\033\n/"));
		store_close(s);
		/* found when it is opened: what the next interval is added to is read then */
		s = writer();
		assert_int_equal(store_damaged(s)->nr, 1);
		assert_int_equal(put_interval(s, 8, 8, 2, &d), 0);
		store_close(s);
		s = writer();
		assert_int_equal(store_damaged(s)->nr, 0);
		store_close(s);
		assert_int_equal(look(file, NULL, &f, &d), 0);
		assert_int_equal(f.nr, 199);
		assert_int_equal(look(file, &aside, &f, &d), 0);
		assert_int_equal(f.nr, 0);
		tree_drop(&tree, "accounts.db");
	}
}

/* The same while it is open, and it stays in the file for whoever wants to see it. */
static void test_damaged_while_open(void **state)
{
	static const struct store_query unreported = { .unreported = true };
	struct store *s;
	struct found f = { 0 };
	struct diag d = { 0 };
	const struct store_bounds bounds = { .before_ns = UINT64_MAX >> 1 };
	struct store_pruned nr = { 0 };

	(void)state;
	s = writer();
	assert_int_equal(put_interval(s, 1, 3, 1, &d), 0);
	set_columns("UPDATE jobs SET state = 'ended'");
	set_columns("UPDATE jobs SET details = zeroblob(length(details)) WHERE id = '1'");
	for (int i = 0; i < 2; i++) {
		f = (struct found){ 0 };
		assert_int_equal(store_each_job(s, &unreported, note_job, &f, &d), 0);
		assert_int_equal(f.nr, 2);
		assert_int_equal(store_damaged(s)->nr, 1);
	}
	set_columns("DELETE FROM jobs WHERE state <> 'damaged' OR reported <> 1 OR "
		    "length(details) < 1000");
	assert_int_equal(store_prune(s, &bounds, &d, &nr), 0);
	assert_int_equal(nr.reported, 1);
	store_close(s);
}

static void test_damaged_machine(void **state)
{
	(void)state;
	make_store();
	set_columns("UPDATE counters SET source = 'x' WHERE counter = 3");
	assert_put_aside();
}

static void test_damaged_columns(void **state)
{
	static const char *const changes[] = {
		"DELETE FROM counters WHERE counter = 1",
		"UPDATE keeper SET details = x'01'",
		"UPDATE counters SET details = x'01' WHERE counter = 1",
		"UPDATE keeper SET intervals = 'x'",
		"UPDATE keeper SET peaks = 'cmem 0 given 0' || char(10)",
		"UPDATE keeper SET peaks = 'cmem 0 given 5'",
		"PRAGMA user_version = 0",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct found f;
		struct diag d;

		make_store();
		set_columns(changes[i]);
		assert_int_equal(look(file, NULL, &f, &d), -EUCLEAN);
		tree_drop(&tree, "accounts.db");
	}
}

/* Damage that is seen only by looking at all of it: done when the last writer was killed. */
static void test_damaged_inside(void **state)
{
	uint64_t i = 1;
	struct store *s;
	struct diag d = { 0 };
	struct stat st;

	(void)state;
	make_store();
	killed(die_with_interval, &i);
	/* nothing that is read anyway when it is opened */
	set_columns("UPDATE jobs SET reported = 1, state = 'ended'");
	assert_int_equal(stat(file, &st), 0);
	/* the header of a page in the middle */
	damage(st.st_size / 16384 / 2 * 16384, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff");
	assert_int_equal(store_open(file, true, &d, &s), 0);
	assert_non_null(strstr(d.help, ".damaged-"));
	store_close(s);
}

/* What is not ours, or not yet known, is left alone. */
static void test_not_ours(void **state)
{
	struct found f;
	struct store *s;
	struct diag d;

	(void)state;
	make_store();
	set_columns("PRAGMA user_version = 10");
	assert_int_equal(look(file, NULL, &f, &d), -EPROTONOSUPPORT);
	assert_non_null(strstr(d.help, "later"));
	assert_int_equal(store_open(file, true, &d, &s), -EPROTONOSUPPORT);
	set_columns("PRAGMA user_version = 9; PRAGMA application_id = 5");
	assert_int_equal(look(file, NULL, &f, &d), -EINVAL);
	assert_int_equal(store_open(file, true, &d, &s), -EINVAL);
	assert_non_null(strstr(d.what, "another program"));
	set_columns("PRAGMA application_id = 1412706640");
	assert_int_equal(look(file, NULL, &f, &d), 0);
	assert_int_equal(f.nr, 200);
}

/* Files of older versions: readers name who upgrades them. Each row undoes the version behind it. */
static void test_older(void **state)
{
	static const char *const undo[] = {
		[1] = "DROP INDEX jobs_waiting; DROP INDEX jobs_unreported; DROP INDEX jobs_over;"
		      "ALTER TABLE jobs DROP COLUMN owner",
		[2] = "ALTER TABLE jobs DROP COLUMN mem_readwrite_bytes",
		[3] = "ALTER TABLE jobs DROP COLUMN energy_nanojoules;"
		      "ALTER TABLE counters DROP COLUMN unit",
		[4] = "DROP TRIGGER jobs_gone; DROP TABLE spans; DROP TABLE job_spans;"
		      "DROP TABLE span_jobs",
		[5] = "ALTER TABLE keeper DROP COLUMN peaks",
		[6] = "ALTER TABLE jobs DROP COLUMN resctrl_groups",
		[7] = "ALTER TABLE counters DROP COLUMN details",
		[8] = "ALTER TABLE jobs DROP COLUMN gpus",
	};
	uint64_t interval = 1;
	char sql[64], older[PATH_MAX + 32];
	struct found f;
	struct store *s;
	struct diag d;
	mode_t before;

	(void)state;
	make_store();
	for (size_t version = ARRAY_SIZE(undo) - 1; version; version--) {
		for (size_t i = ARRAY_SIZE(undo) - 1; i >= version; i--)
			set_columns(undo[i]);
		snprintf(sql, sizeof(sql), "PRAGMA user_version = %zu", version);
		set_columns(sql);
		assert_int_equal(look(file, NULL, &f, &d), -EPROTONOSUPPORT);
		assert_non_null(strstr(d.help, "t410trace serve"));
		before = umask(077);
		assert_int_equal(store_open(file, true, &d, &s), 0);
		umask(before);
		snprintf(older, sizeof(older), "%s.v%zu", file, version);
		assert_int_equal(mode_of(older), 0640);
		assert_int_equal(look(file, NULL, &f, &d), 0);
		assert_int_equal(f.nr, 200);
		assert_int_equal(f.intervals, interval);
		assert_int_equal(put_interval(s, 1, 200, ++interval, &d), 0);
		store_close(s);
		assert_int_equal(look(file, NULL, &f, &d), 0);
		assert_int_equal(f.nr, 200);
		assert_int_equal(f.intervals, interval);
	}
}

static void test_empty(void **state)
{
	struct found f;
	struct diag d;

	(void)state;
	tree_put(&tree, "accounts.db", "");
	assert_int_equal(look(file, NULL, &f, &d), -ENODATA);
	store_close(writer());
	assert_int_equal(look(file, NULL, &f, &d), -ENODATA);
}

/* Any name works, also one that means something to SQLite. */
static void test_names(void **state)
{
	struct found f;
	struct diag d;

	(void)state;
	tree_path(&tree, "a?mode=x#%41 ' ", file);
	make_store();
	assert_int_equal(look(file, NULL, &f, &d), 0);
	assert_int_equal(f.nr, 200);
	assert_int_equal(access(file, F_OK), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_two_writers, make, clear),
		cmocka_unit_test_setup_teardown(test_other_people, make, clear),
		cmocka_unit_test_setup_teardown(test_other_people_for_long, make, clear),
		cmocka_unit_test_setup_teardown(test_coming_and_going, make, clear),
		cmocka_unit_test_setup_teardown(test_written_meanwhile, make, clear),
		cmocka_unit_test_setup_teardown(test_half_written, make, clear),
		cmocka_unit_test_setup_teardown(test_rights, make, clear),
		cmocka_unit_test_setup_teardown(test_wrong_places, make, clear),
		cmocka_unit_test_setup_teardown(test_log_rights, make, clear),
		cmocka_unit_test_setup_teardown(test_locked, make, clear),
		cmocka_unit_test_setup_teardown(test_full_disk, make, clear),
		cmocka_unit_test_setup_teardown(test_small_disk, make, clear),
		cmocka_unit_test_setup_teardown(test_killed, make, clear),
		cmocka_unit_test_setup_teardown(test_damaged_header, make, clear),
		cmocka_unit_test_setup_teardown(test_damaged_account, make, clear),
		cmocka_unit_test_setup_teardown(test_damaged_while_open, make, clear),
		cmocka_unit_test_setup_teardown(test_damaged_machine, make, clear),
		cmocka_unit_test_setup_teardown(test_damaged_columns, make, clear),
		cmocka_unit_test_setup_teardown(test_damaged_inside, make, clear),
		cmocka_unit_test_setup_teardown(test_not_ours, make, clear),
		cmocka_unit_test_setup_teardown(test_older, make, clear),
		cmocka_unit_test_setup_teardown(test_empty, make, clear),
		cmocka_unit_test_setup_teardown(test_names, make, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
