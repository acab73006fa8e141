// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The files of the store: whose they are, who can lock them, and what happens when they go. */
#include "store_world.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>

#include "base/array.h"

static struct tree tree;
static char file[PATH_MAX];

static int make(void **state)
{
	(void)state;
	tree_make(&tree);
	tree_path(&tree, "accounts.db", file);
	return chmod(tree.root, 02755);
}

static int clear(void **state)
{
	(void)state;
	tree_remove(&tree);
	return 0;
}

static struct store *writer(void)
{
	struct store *s;
	struct diag d;

	assert_int_equal(store_open(file, true, &d, &s), 0);
	assert_string_equal(d.what, "");
	return s;
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
	snprintf(holder, sizeof(holder), "process %d (test_store_plac)", pid);
	assert_non_null(strstr(d.what, holder));
	assert_non_null(strstr(d.what, "no t410trace"));
	assert_null(strstr(d.what, "clean"));
	assert_non_null(strstr(d.help, "end that process"));
	/* the last time that this happens */
	in_child(nobody_locks, NULL);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	store_close(writer());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_modes, make, clear),
		cmocka_unit_test_setup_teardown(test_foreign_locks, make, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
