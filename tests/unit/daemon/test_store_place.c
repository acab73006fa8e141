// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The files of the store: whose they are, who can lock them, and what happens when they go. */
#include "store_world.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>

#include "base/array.h"

static int make(void **state)
{
	(void)state;
	tree_make(&tree);
	tree_path(&tree, "accounts.db", file);
	return chmod(tree.root, 02755);
}

static const char *beside(const char *suffix)
{
	static char path[PATH_MAX + 8];

	snprintf(path, sizeof(path), "%s%s", file, suffix);
	return path;
}

static void assert_modes(void)
{
	assert_int_equal(mode_of(file), 0640);
	assert_int_equal(mode_of(beside("-wal")), 0640);
	assert_int_equal(mode_of(beside("-shm")), 0640);
	assert_int_equal(mode_of(beside(".lock")), 0600);
}

/* Rights do not depend on the umask, and those that an earlier version gave are taken away. */
static void test_modes(void **state)
{
	static const mode_t masks[] = { 0, 077 };
	mode_t before = umask(0);
	struct diag d;
	struct store *s;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(masks); i++) {
		umask(masks[i]);
		s = writer();
		assert_int_equal(put_interval(s, 1, 3, 1, &d), 0);
		assert_modes();
		store_close(s);
		tree_drop(&tree, "accounts.db");
		tree_drop(&tree, "accounts.db.lock");
	}
	umask(before);
	s = writer();
	assert_int_equal(put_interval(s, 1, 3, 1, &d), 0);
	store_close(s);
	assert_int_equal(chmod(file, 0666), 0);
	assert_int_equal(chmod(beside(".lock"), 0644), 0);
	s = writer();
	assert_modes();
	store_close(s);
	/* where it is made, too; a folder that is there keeps its rights */
	assert_int_equal(mode_of(tree.root), 02755);
	tree_path(&tree, "new", file);
	strcat(file, "/accounts.db");
	umask(0);
	store_close(writer());
	umask(before);
	*strrchr(file, '/') = '\0';
	assert_int_equal(mode_of(file) & 0777, 0750);
}

/* Somebody who can read nothing of the store tries to lock what there is. */
static void nobody_locks(void *arg)
{
	static const char *const parts[] = { "", "-wal", "-shm", ".lock" };

	(void)arg;
	become_nobody(&tree);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		CHECK(open(beside(parts[i]), O_RDONLY) < 0);
}

/* Holds a shared lock on the lock file that an earlier version made for everybody. */
static pid_t hold_lock(void)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	int fd, pipes[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (!pid) {
		become_nobody(&tree);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fd = open(beside(".lock"), O_RDONLY);
		CHECK(fd >= 0 && !fcntl(fd, F_OFD_SETLK, &lock));
		CHECK(write(pipes[1], "x", 1) == 1);
		pause();
	}
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	close(pipes[0]);
	close(pipes[1]);
	return pid;
}

/* Who may not write cannot keep the writer from starting. */
static void test_foreign_locks(void **state)
{
	struct store *s;
	struct diag d;
	char holder[64];
	pid_t pid;

	(void)state;
	root_only();
	s = writer();
	assert_int_equal(put_interval(s, 1, 3, 1, &d), 0);
	in_child(nobody_locks, NULL);
	store_close(s);
	assert_int_equal(chmod(beside(".lock"), 0644), 0);
	pid = hold_lock();
	assert_int_equal(store_open(file, true, &d, &s), -EBUSY);
	snprintf(holder, sizeof(holder), "process %d (%s)", pid, own_name());
	assert_non_null(strstr(d.what, holder));
	assert_non_null(strstr(d.what, "not t410trace"));
	assert_null(strstr(d.what, "clean"));
	assert_non_null(strstr(d.help, "end that process"));
	/* the last time that this happens */
	in_child(nobody_locks, NULL);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	store_close(writer());
}

static void drop(const char *suffix)
{
	assert_int_equal(unlink(beside(suffix)), 0);
}

static void drop_all(void)
{
	drop("");
	drop("-wal");
	drop("-shm");
}

static void drop_file(void)
{
	drop("");
}

static void drop_log(void)
{
	drop("-wal");
}

static void drop_index(void)
{
	drop("-shm");
}

static void rename_file(void)
{
	char to[PATH_MAX];

	tree_path(&tree, "elsewhere", to);
	assert_int_equal(rename(file, to), 0);
}

static void rename_log(void)
{
	char to[PATH_MAX];

	tree_path(&tree, "elsewhere", to);
	assert_int_equal(rename(beside("-wal"), to), 0);
}

/* With an account of its own. */
static void replace_file(void)
{
	struct store *s;
	struct diag d;
	char to[PATH_MAX], old[PATH_MAX];

	tree_path(&tree, "other.db", to);
	assert_int_equal(store_open(to, true, &d, &s), 0);
	assert_int_equal(put_interval(s, 900, 900, 9, &d), 0);
	store_close(s);
	tree_path(&tree, "old.db", old);
	assert_int_equal(rename(file, old), 0);
	assert_int_equal(rename(to, file), 0);
}

static void replace_log(void)
{
	drop_log();
	tree_put(&tree, "accounts.db-wal", "not a log");
}

static void drop_lock_too(void)
{
	drop_all();
	drop(".lock");
}

static const struct {
	const char *name;
	void (*fn)(void);
} losses[] = {
	{ "all", drop_all },	       { "file", drop_file },
	{ "log", drop_log },	       { "index", drop_index },
	{ "renamed", rename_file },    { "log renamed", rename_log },
	{ "replaced", replace_file },  { "log replaced", replace_log },
	{ "lock too", drop_lock_too },
};

/* What the store had is in a file of its name again, in which it goes on, and of which it is the only writer. */
static void assert_restored(struct store *s, const char *what)
{
	struct store *second;
	struct found f;
	struct diag d = { 0 };

	if (put_interval(s, 1, 40, 2, &d) != -ESTALE)
		fail_msg("%s: not noticed", what);
	assert_non_null(strstr(d.what, file));
	assert_true(d.help[0]);
	if (store_restore(s, &d))
		fail_msg("%s: %s", what, d.what);
	assert_non_null(strstr(d.what, "new"));
	assert_modes();
	if (look(file, NULL, &f, &d) || f.nr != 50 || f.node != 1)
		fail_msg("%s: %zu of 50: %s", what, f.nr, d.what);
	assert_int_equal(put_interval(s, 1, 60, 2, &d), 0);
	assert_int_equal(look(file, NULL, &f, &d), 0);
	assert_int_equal(f.nr, 60);
	assert_int_equal(f.intervals, 2);
	assert_int_equal(store_open(file, true, &d, &second), -EBUSY);
	assert_int_not_equal(access(beside("-new"), F_OK), 0);
}

static void test_moved(void **state)
{
	struct store *s;
	struct found f;
	struct diag d;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(losses); i++) {
		s = writer();
		assert_int_equal(put_interval(s, 1, 50, 1, &d), 0);
		losses[i].fn();
		assert_restored(s, losses[i].name);
		store_close(s);
		assert_int_equal(look(file, NULL, &f, &d), 0);
		assert_int_equal(f.nr, 60);
		/* properly closed, and nothing is left that the next one stumbles over */
		store_close(writer());
		drop("");
	}
}

/* A file that took the name is kept. */
static void test_replaced(void **state)
{
	struct store *s = writer();
	struct found f;
	struct diag d;
	char aside[PATH_MAX];

	(void)state;
	assert_int_equal(put_interval(s, 1, 50, 1, &d), 0);
	replace_file();
	assert_int_equal(store_begin(s, &d), -ESTALE);
	assert_int_equal(store_restore(s, &d), 0);
	assert_int_equal(sscanf(strstr(d.help, file), "%4095s", aside), 1);
	assert_non_null(strstr(aside, ".replaced-"));
	assert_int_equal(look(aside, NULL, &f, &d), 0);
	assert_int_equal(f.nr, 1);
	store_close(s);
}

/* The whole folder is gone, or is another one; a place where none can be made is no end. */
static void test_folder_moved(void **state)
{
	struct store *s;
	struct found f;
	struct diag d;
	char folder[PATH_MAX], away[PATH_MAX];

	(void)state;
	tree_path(&tree, "state", folder);
	tree_path(&tree, "away", away);
	snprintf(file, sizeof(file), "%.4000s/accounts.db", folder);
	s = writer();
	assert_int_equal(put_interval(s, 1, 50, 1, &d), 0);
	assert_int_equal(rename(folder, away), 0);
	assert_int_equal(store_begin(s, &d), -ESTALE);
	tree_put(&tree, "state", "in the way");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(store_restore(s, &d), -ENOTDIR);
		assert_non_null(strstr(d.what, file));
		assert_int_equal(store_begin(s, &d), -ESTALE);
	}
	tree_drop(&tree, "state");
	assert_int_equal(store_restore(s, &d), 0);
	assert_int_equal(look(file, NULL, &f, &d), 0);
	assert_int_equal(f.nr, 50);
	store_close(s);
}

/* Somebody who took the lock file away and began accounts keeps them. */
static void test_lock_taken(void **state)
{
	struct store *s = writer(), *second;
	struct found f;
	struct diag d;

	(void)state;
	assert_int_equal(put_interval(s, 1, 50, 1, &d), 0);
	drop_lock_too();
	second = writer();
	assert_int_equal(put_interval(second, 1, 3, 7, &d), 0);
	assert_int_equal(store_begin(s, &d), -ESTALE);
	assert_int_equal(store_restore(s, &d), -EBUSY);
	assert_int_equal(look(file, NULL, &f, &d), 0);
	assert_int_equal(f.nr, 3);
	store_close(second);
	assert_int_equal(store_restore(s, &d), 0);
	store_close(s);
	/* the lock alone is made again */
	s = writer();
	drop(".lock");
	assert_int_equal(put_interval(s, 1, 50, 1, &d), 0);
	assert_int_equal(store_open(file, true, &d, &second), -EBUSY);
	store_close(s);
}

/* Without room for a new file, in place of one that was removed, none is begun and left. */
static void restored_on_full_disk(void *arg)
{
	char filler[PATH_MAX + 8], copy[PATH_MAX + 8];
	struct store *s;
	struct found f;
	struct diag d = { 0 };

	(void)arg;
	snprintf(filler, sizeof(filler), "%s/filler", tree.root);
	snprintf(copy, sizeof(copy), "%.4000s-new", file);
	if (!mount_small(tree.root, "size=4m"))
		skip_child("no rights to mount");
	CHECK(!store_open(file, true, &d, &s));
	CHECK(!put_interval(s, 1, 200, 1, &d));
	CHECK(!unlink(file));
	fill_up(filler);
	for (int i = 0; i < 3; i++) {
		CHECK(store_begin(s, &d) == -ESTALE);
		CHECK(store_restore(s, &d) == -ENOSPC && strstr(d.help, "space"));
		CHECK(access(copy, F_OK));
	}
	CHECK(!unlink(filler));
	CHECK(!store_restore(s, &d) && !look(file, NULL, &f, &d));
	CHECK(f.nr == 200 && access(copy, F_OK));
	store_close(s);
}

static void test_restored_on_full_disk(void **state)
{
	(void)state;
	in_child(restored_on_full_disk, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_modes, make, clear),
		cmocka_unit_test_setup_teardown(test_foreign_locks, make, clear),
		cmocka_unit_test_setup_teardown(test_moved, make, clear),
		cmocka_unit_test_setup_teardown(test_replaced, make, clear),
		cmocka_unit_test_setup_teardown(test_folder_moved, make, clear),
		cmocka_unit_test_setup_teardown(test_lock_taken, make, clear),
		cmocka_unit_test_setup_teardown(test_restored_on_full_disk, make, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
