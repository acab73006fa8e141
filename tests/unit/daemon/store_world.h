/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stores for tests, and children that do something as somebody else or die. */
#ifndef TEST_STORE_WORLD_H
#define TEST_STORE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stored_accounts.h"
#include "daemon/store.h"
#include "daemon/store_blob.h"
#include "skip.h"
#include "tree.h"

#define SAMPLE_COUNTERS 12
#define NOBODY		65534

/* The folder of a test, and the store in it */
static struct tree tree;
static char file[PATH_MAX];

static inline int clear(void **state)
{
	(void)state;
	tree_remove(&tree);
	return 0;
}

static inline struct store *writer(void)
{
	struct diag d = { .what = "old" };
	struct store *s;

	assert_int_equal(store_open(file, true, &d, &s), 0);
	assert_string_equal(d.what, "");
	return s;
}

/* In a child, where cmocka's asserts do not work: say what is wrong and end. */
#define CHECK(condition)                                                                \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			_exit(1);                                                       \
		}                                                                       \
	} while (0)

/*
 * The good end of a child. By another program, so that valgrind does not look for what the parent
 * still has: in the child nothing points to it any more.
 */
static inline void end_well(void)
{
	execlp("true", "true", NULL);
	_exit(1);
}

/* The end of a child that cannot do what it should: in_child() skips its test. */
#define SKIPPED 77

static inline void skip_child(const char *reason)
{
	fprintf(stderr, "skipped: %s\n", reason);
	_exit(SKIPPED);
}

/* As /proc has it, which is another name under valgrind */
static inline const char *own_name(void)
{
	static char name[16];

	assert_int_equal(prctl(PR_GET_NAME, name), 0);
	return name;
}

/* What only root can do: become another user. */
static inline void root_only(void)
{
	if (geteuid())
		skip_because("only root can become another user");
}

/* Run something in a child, and see it succeed. */
static inline void in_child(void (*fn)(void *arg), void *arg)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		fn(arg);
		end_well();
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
		skip_because("a child lacks a right, and says which on the standard error");
	assert_int_equal(status, 0);
}

static inline mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 07777;
}

/* Somebody who may write nothing here. Tests that are not run by root stay who they are. */
static inline void become_nobody(const struct tree *tree)
{
	if (geteuid())
		return;
	CHECK(!syscall(SYS_setgroups, 0, NULL));
	CHECK(!setgid(NOBODY) && !setuid(NOBODY));
	CHECK(access(tree->root, W_OK));
}

static inline bool say_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool said = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return said;
}

/* A namespace of its own, with this user alone: who has no number there can make no file. */
static inline bool enter_namespace(void)
{
	char user[32], group[32];

	snprintf(user, sizeof(user), "%u %u 1", geteuid(), geteuid());
	snprintf(group, sizeof(group), "%u %u 1", getegid(), getegid());
	return !unshare(CLONE_NEWUSER | CLONE_NEWNS) && say_to("/proc/self/uid_map", user) &&
	       say_to("/proc/self/setgroups", "deny") && say_to("/proc/self/gid_map", group);
}

/* A file system of its own at @path, which is gone with the child; false where that is forbidden. */
static inline bool mount_small(const char *path, const char *size)
{
	char options[64];

	if (unshare(CLONE_NEWNS) && !enter_namespace())
		return false;
	if (mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL))
		return false;
	snprintf(options, sizeof(options), "%s,mode=0777", size);
	return !mount("tmpfs", path, "tmpfs", 0, options);
}

/* Take all room that is left. */
static inline void fill_up(const char *name)
{
	static const char block[4096];
	int fd = open(name, O_WRONLY | O_CREAT | O_APPEND, 0600);

	CHECK(fd >= 0);
	while (write(fd, block, sizeof(block)) > 0)
		;
	close(fd);
}

static inline void put_node(struct store *s, uint64_t intervals, size_t nr_counters)
{
	struct host_info host = sample_host();
	struct accounts_node node;
	struct diag d = { 0 };
	int err;

	sample_node(&node, nr_counters);
	node.intervals = intervals;
	err = store_node(s, &host, &node, &d);
	accounts_node_release(&node);
	assert_int_equal(err, 0);
}

/* Jobs @first to @last with @intervals in them: a whole interval. */
static inline int put_interval(struct store *s, uint32_t first, uint32_t last, uint64_t intervals,
			       struct diag *d)
{
	struct host_info host = sample_host();
	struct accounts_node node;
	int err = store_begin(s, d);

	if (err)
		return err;
	sample_node(&node, SAMPLE_COUNTERS);
	node.intervals = intervals;
	err = store_node(s, &host, &node, d);
	accounts_node_release(&node);
	for (uint32_t i = first; !err && i <= last; i++) {
		struct account_job j;

		sample_job(&j, i, SAMPLE_COUNTERS, 2);
		j.intervals = intervals;
		err = store_job(s, &j, d);
		account_job_release(&j);
	}
	if (err)
		store_rollback(s);
	return err ? err : store_commit(s, d);
}

/* What a store holds, as told by a reader. */
struct found {
	size_t nr;
	uint64_t intervals; /* of all jobs, if they agree; 0 if not */
	uint64_t node;
	char keys[8][sizeof(((struct account_job *)NULL)->key)];
};

static inline int note_job(void *arg, const struct account_job *j)
{
	struct found *f = arg;

	if (f->nr < 8)
		snprintf(f->keys[f->nr], sizeof(f->keys[0]), "%s", j->key);
	f->intervals = !f->nr || f->intervals == j->intervals ? j->intervals : 0;
	f->nr++;
	return 0;
}

static inline int look(const char *file, const struct store_query *q, struct found *f,
		       struct diag *d)
{
	static const struct store_query all;
	struct accounts_node node;
	struct host_info host;
	struct store *s;
	int err = store_open(file, false, d, &s);

	*f = (struct found){ 0 };
	if (err)
		return err;
	err = store_read_node(s, &host, &node, d);
	if (!err) {
		f->node = node.intervals;
		accounts_node_release(&node);
		err = store_each_job(s, q ? q : &all, note_job, f, d);
	}
	store_close(s);
	return err;
}

#endif
