// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The spool: whole files or none, whatever happens. */
#include "store_world.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

#include "daemon/spool.h"
#include "skip.h"
#include "valgrind.h"

static char folder[PATH_MAX];

static int make(void **state)
{
	(void)state;
	tree_make(&tree);
	tree_path(&tree, "spool", folder);
	return 0;
}

static void assert_content(const char *name, const char *text)
{
	char path[2 * PATH_MAX], content[128] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(content, sizeof(content), f));
	assert_string_equal(content, text);
	fclose(f);
}

/* All entries but the lock, also hidden ones. */
static size_t nr_entries(void)
{
	DIR *d = opendir(folder);
	struct dirent *entry;
	size_t nr = 0;

	assert_non_null(d);
	while ((entry = readdir(d)))
		nr += strcmp(entry->d_name, ".t410trace-lock") != 0;
	closedir(d);
	return nr - 2;
}

static struct spool open_spool(size_t max_files)
{
	struct spool s;
	struct diag d;

	assert_int_equal(spool_open(folder, max_files, 0, &d, &s), 0);
	return s;
}

static void test_write(void **state)
{
	struct spool s = open_spool(0);
	struct diag d;

	(void)state;
	assert_int_equal(spool_write(&s, "slurm-12-881-5.json", "one", 3, &d), 0);
	assert_content("slurm-12-881-5.json", "one");
	assert_int_equal(spool_write(&s, "slurm-12-881-5.json", "another", 7, &d), 0);
	assert_content("slurm-12-881-5.json", "another");
	assert_int_equal(spool_write(&s, "b", "", 0, &d), 0);
	assert_int_equal(nr_entries(), 2);
	spool_close(&s);
}

static void test_names(void **state)
{
	static const char *const bad[] = { "",	  ".",	 "..",	 ".hidden", "a/b",    "../x",
					   "a b", "a\n", "\x80", "a:b",	    "-x/../y" };
	struct spool s = open_spool(0);
	char name[300];
	struct diag d;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(spool_write(&s, bad[i], "x", 1, &d), -EINVAL);
	memset(name, 'a', sizeof(name));
	name[256] = '\0';
	assert_int_equal(spool_write(&s, name, "x", 1, &d), -EINVAL);
	name[255] = '\0';
	assert_int_equal(spool_write(&s, name, "x", 1, &d), 0);
	assert_int_equal(nr_entries(), 1);
	spool_close(&s);
}

/* Links in the folder lead nowhere. */
static void test_links(void **state)
{
	struct spool s = open_spool(0);
	char victim[PATH_MAX];
	struct diag d;
	struct stat st;

	(void)state;
	tree_put(&tree, "victim", "precious");
	tree_path(&tree, "victim", victim);
	tree_link(&tree, "spool/report", victim);
	tree_link(&tree, "spool/.t410trace-unfinished", victim);
	assert_int_equal(spool_write(&s, "report", "x", 1, &d), 0);
	assert_int_equal(stat(victim, &st), 0);
	assert_int_equal(st.st_size, 8);
	assert_content("report", "x");
	assert_int_equal(nr_entries(), 1);
	spool_close(&s);
	/* nor is the folder one */
	tree_link(&tree, "link", folder);
	tree_path(&tree, "link", victim);
	assert_int_equal(spool_open(victim, 0, 0, &d, &s), -ENOTDIR);
	assert_true(d.help[0]);
}

static void test_open(void **state)
{
	struct spool s = open_spool(0), second;
	struct diag d;
	char path[PATH_MAX];

	(void)state;
	assert_int_equal(spool_open(folder, 0, 0, &d, &second), -EBUSY);
	assert_non_null(strstr(d.what, folder));
	assert_non_null(strstr(d.what, own_name()));
	spool_close(&s);
	tree_put(&tree, "spool/.t410trace-unfinished", "half");
	tree_put(&tree, "spool/report", "whole");
	s = open_spool(0);
	assert_int_equal(nr_entries(), 1);
	spool_close(&s);
	assert_int_equal(chmod(folder, 0757), 0);
	assert_int_equal(spool_open(folder, 0, 0, &d, &s), -EPERM);
	assert_non_null(strstr(d.help, "chmod"));
	tree_path(&tree, "spool/report", path);
	assert_int_equal(spool_open(path, 0, 0, &d, &s), -ENOTDIR);
	assert_int_equal(spool_open("/nowhere/at/all", 0, 0, &d, &s), -ENOENT);
}

/* Rights do not depend on the umask, and those that an earlier version gave are taken away. */
static void test_modes(void **state)
{
	static const mode_t masks[] = { 0, 077 };
	mode_t before = umask(0);
	char path[PATH_MAX];
	struct diag d;
	struct spool s;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		umask(masks[i]);
		s = open_spool(0);
		assert_int_equal(mode_of(folder), 0750);
		assert_int_equal(spool_write(&s, "slurm-1-1-1.json", "x", 1, &d), 0);
		tree_path(&tree, "spool/slurm-1-1-1.json", path);
		assert_int_equal(mode_of(path), 0640);
		assert_int_equal(chmod(path, 0646), 0);
		tree_path(&tree, "spool/.t410trace-lock", path);
		assert_int_equal(mode_of(path), 0600);
		spool_close(&s);
		/* a folder that is there keeps its rights */
		assert_int_equal(chmod(folder, 02775), 0);
		s = open_spool(0);
		assert_int_equal(mode_of(folder), 02775);
		tree_path(&tree, "spool/slurm-1-1-1.json", path);
		assert_int_equal(mode_of(path), 0640);
		spool_close(&s);
		tree_drop(&tree, "spool/slurm-1-1-1.json");
		tree_drop(&tree, "spool/.t410trace-lock");
		tree_drop(&tree, "spool");
	}
	umask(before);
}

/* Who may only read the folder can lock it; that keeps nobody from writing. */
static void nobody_locks(void *arg)
{
	int fd, lock;

	become_nobody(&tree);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fd = open(folder, O_RDONLY | O_DIRECTORY);
	CHECK(fd >= 0 && !flock(fd, LOCK_SH));
	lock = openat(fd, ".t410trace-lock", O_RDONLY);
	CHECK(lock < 0 && errno == EACCES);
	CHECK(write(*(int *)arg, "x", 1) == 1);
	pause();
}

static void test_foreign_lock(void **state)
{
	struct spool s = open_spool(0);
	struct diag d;
	int pipes[2];
	char byte;
	pid_t pid;

	(void)state;
	spool_close(&s);
	root_only();
	assert_int_equal(chmod(tree.root, 0755), 0);
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (!pid)
		nobody_locks(&pipes[1]);
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	s = open_spool(0);
	assert_int_equal(spool_write(&s, "report", "x", 1, &d), 0);
	spool_close(&s);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(pipes[0]);
	close(pipes[1]);
}

/* What cannot be replaced concerns the report of its name alone; anything else gives way. */
static void test_in_the_way(void **state)
{
	struct spool s = open_spool(0);
	struct diag d;

	(void)state;
	tree_put(&tree, "spool/slurm-1-1-1.json/x", "in the way");
	tree_put(&tree, "spool/.t410trace-unfinished/x", "in the way");
	tree_put(&tree, "spool/no-rights", "old");
	tree_link(&tree, "spool/nowhere", "/nowhere/at/all");
	assert_int_equal(fchmodat(s.folder, "no-rights", 0, 0), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(spool_write(&s, "slurm-1-1-1.json", "x", 1, &d), -EEXIST);
		assert_non_null(strstr(d.what, "slurm-1-1-1.json"));
		assert_non_null(strstr(d.help, folder));
		assert_int_equal(spool_write(&s, "slurm-2-1-1.json", "two", 3, &d), 0);
		assert_content("slurm-2-1-1.json", "two");
		assert_int_equal(spool_write(&s, "no-rights", "three", 5, &d), 0);
		assert_content("no-rights", "three");
		assert_int_equal(spool_write(&s, "nowhere", "four", 4, &d), 0);
		assert_content("nowhere", "four");
		assert_int_equal(nr_entries(), 5);
		spool_close(&s);
		s = open_spool(0);
	}
	tree_drop(&tree, "spool/slurm-1-1-1.json/x");
	tree_drop(&tree, "spool/slurm-1-1-1.json");
	assert_int_equal(spool_write(&s, "slurm-1-1-1.json", "one", 3, &d), 0);
	assert_content("slurm-1-1-1.json", "one");
	spool_close(&s);
}

/* Reports go to the folder of the name, also when the one that was opened is gone or elsewhere. */
static void test_folder_moved(void **state)
{
	struct spool s = open_spool(7), second;
	struct diag d;
	char away[PATH_MAX];

	(void)state;
	tree_path(&tree, "away", away);
	assert_int_equal(spool_write(&s, "one", "x", 1, &d), 0);
	assert_int_equal(rename(folder, away), 0);
	s.removed = 3;
	assert_int_equal(spool_write(&s, "two", "two", 3, &d), 0);
	assert_content("two", "two");
	assert_int_equal(nr_entries(), 1);
	assert_int_equal(s.max_files, 7);
	assert_int_equal(s.removed, 3);
	assert_int_equal(spool_open(folder, 0, 0, &d, &second), -EBUSY);
	tree_drop(&tree, "spool/two");
	tree_drop(&tree, "spool/.t410trace-lock");
	tree_drop(&tree, "spool");
	tree_put(&tree, "spool", "in the way");
	for (int i = 0; i < 3; i++)
		assert_int_equal(spool_write(&s, "three", "three", 5, &d), -ENOTDIR);
	assert_non_null(strstr(d.what, folder));
	tree_drop(&tree, "spool");
	assert_int_equal(spool_write(&s, "three", "three", 5, &d), 0);
	assert_content("three", "three");
	spool_close(&s);
}

static void test_bound(void **state)
{
	struct spool s;
	struct diag d;
	struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };

	(void)state;
	s = open_spool(0);
	assert_int_equal(spool_write(&s, "a", "x", 1, &d), 0);
	spool_close(&s);
	s = open_spool(2);
	assert_int_equal(spool_write(&s, "b", "x", 1, &d), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(spool_write(&s, "c", "x", 1, &d), -EDQUOT);
		assert_non_null(strstr(d.what, "2 are there"));
	}
	/* replacing is no more than there was */
	assert_int_equal(spool_write(&s, "b", "y", 1, &d), 0);
	/* seen once the folder is known not to have changed for a while, too */
	assert_int_equal(futimens(s.folder, old), 0);
	assert_int_equal(spool_write(&s, "c", "x", 1, &d), -EDQUOT);
	assert_int_equal(spool_write(&s, "c", "x", 1, &d), -EDQUOT);
	tree_drop(&tree, "spool/a");
	assert_int_equal(spool_write(&s, "c", "x", 1, &d), 0);
	assert_int_equal(spool_write(&s, "d", "x", 1, &d), -EDQUOT);
	assert_int_equal(nr_entries(), 2);
	spool_close(&s);
}

static void put(struct spool *s, const char *form, unsigned int number, uint64_t age_s)
{
	struct timespec times[2];
	struct diag d = { 0 };
	char name[64];

	snprintf(name, sizeof(name), form, number);
	assert_int_equal(spool_write(s, name, "x", 1, &d), 0);
	clock_gettime(CLOCK_REALTIME, &times[0]);
	times[0].tv_sec -= age_s;
	times[1] = times[0];
	assert_int_equal(utimensat(s->folder, name, times, AT_SYMLINK_NOFOLLOW), 0);
}

/* How many files have names with this part. */
static size_t nr_with(const char *part)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	size_t nr = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		nr += strstr(entry->d_name, part) != NULL;
	closedir(dir);
	return nr;
}

/* Nobody picks reports up: the next one is written nevertheless, and the oldest one is gone. */
static void test_oldest_gives(void **state)
{
	struct spool s = open_spool(10);

	(void)state;
	put(&s, "somebody-elses", 0, 9999);
	for (unsigned int i = 0; i < 50; i++)
		put(&s, "slurm-%u-1-1.json", i, 1000 - i);
	assert_int_equal(nr_entries(), 10);
	assert_int_equal(s.removed, 41);
	for (unsigned int i = 41; i < 50; i++) {
		char name[32];

		snprintf(name, sizeof(name), "slurm-%u-1-1.json", i);
		assert_int_equal(nr_with(name), 1);
	}
	/* what is not called as reports are stays */
	assert_int_equal(nr_with("somebody"), 1);
	spool_close(&s);
	/* a smaller bound */
	s = open_spool(4);
	put(&s, "slurm-%u-1-1.json", 50, 0);
	assert_int_equal(nr_entries(), 4);
	assert_int_equal(nr_with("somebody"), 1);
	spool_close(&s);
}

/* By the kernel's call: chattr is not on every machine. */
static void set_immutable(const char *name, bool on)
{
	char path[2 * PATH_MAX];
	int flags = 0, fd;
	bool done;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	done = fd >= 0 && !ioctl(fd, FS_IOC_GETFLAGS, &flags);
	flags = on ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
	done = done && !ioctl(fd, FS_IOC_SETFLAGS, &flags);
	if (fd >= 0)
		close(fd);
	if (!done && on)
		skip_because("no file can be made immutable here");
}

/* The oldest one cannot be removed: the next one makes room, and the others are written. */
static void test_oldest_is_stuck(void **state)
{
	struct spool s = open_spool(3);
	struct diag d;

	(void)state;
	put(&s, "slurm-%u-1-1.json", 0, 1000);
	put(&s, "slurm-%u-1-1.json", 1, 900);
	put(&s, "slurm-%u-1-1.json", 2, 800);
	set_immutable("slurm-0-1-1.json", true);
	for (unsigned int i = 3; i < 6; i++)
		put(&s, "slurm-%u-1-1.json", i, 700 - i);
	/* nor can it be replaced, which is no trouble of the folder */
	assert_int_equal(spool_write(&s, "slurm-0-1-1.json", "x", 1, &d), -EEXIST);
	set_immutable("slurm-0-1-1.json", false);
	assert_int_equal(nr_entries(), 3);
	assert_int_equal(nr_with("slurm-0-"), 1);
	assert_int_equal(nr_with("slurm-5-"), 1);
	spool_close(&s);
}

/* A user who makes jobs by the thousand takes nobody's place. */
static void test_users_share(void **state)
{
	struct spool s = open_spool(100);

	(void)state;
	for (unsigned int i = 0; i < 40; i++)
		put(&s, "slurm-%u-1-1.json", i, 9999);
	for (unsigned int i = 0; i < 10; i++)
		put(&s, "podman-%u-1-1-u1001.json", i, 9999);
	for (unsigned int i = 0; i < 120; i++)
		put(&s, "docker-%u-1-1-u1000.json", i, 1);
	assert_int_equal(nr_with("slurm"), 40);
	assert_int_equal(nr_with("-u1001"), 10);
	assert_in_range(nr_with("-u1000"), 48, 50);
	/* the machine's own have half at least, and of users none has more than another */
	for (unsigned int i = 0; i < 80; i++)
		put(&s, "podman-%u-2-1-u1001.json", i, 1);
	for (unsigned int i = 40; i < 120; i++)
		put(&s, "slurm-%u-1-1.json", i, 1);
	assert_in_range(nr_with("slurm"), 48, 51);
	assert_in_range(nr_with("-u1000"), 24, 26);
	assert_in_range(nr_with("-u1001"), 24, 26);
	assert_in_range(nr_entries(), 98, 100);
	spool_close(&s);
}

static void put_size(struct spool *s, const char *form, unsigned int number, size_t size)
{
	static char text[5000];
	struct timespec times[2] = { { .tv_sec = 1000000 + number },
				     { .tv_sec = 1000000 + number } };
	struct diag d = { 0 };
	char name[64];

	assert_true(size <= sizeof(text));
	snprintf(name, sizeof(name), form, number);
	assert_int_equal(spool_write(s, name, text, size, &d), 0);
	assert_int_equal(utimensat(s->folder, name, times, AT_SYMLINK_NOFOLLOW), 0);
}

/* All files but hidden ones. */
static uint64_t nr_bytes(void)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	uint64_t bytes = 0;
	struct stat st;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.' && !fstatat(dirfd(dir), entry->d_name, &st, 0))
			bytes += st.st_size;
	closedir(dir);
	return bytes;
}

/* The bound in bytes, whatever there are in number. */
static void test_bytes(void **state)
{
	struct spool s;
	struct diag d;

	(void)state;
	assert_int_equal(spool_open(folder, 0, 10000, &d, &s), 0);
	for (unsigned int i = 0; i < 10; i++)
		put_size(&s, "slurm-%u-1-1.json", i, 1000);
	assert_int_equal(s.removed, 0);
	assert_int_equal(s.bytes, 10000);
	/* a smaller one in place of the first, and one more of what that left */
	put_size(&s, "slurm-%u-1-1.json", 0, 400);
	put_size(&s, "slurm-%u-1-1.json", 10, 600);
	assert_int_equal(s.removed, 0);
	/* 3,000 and a hundredth of the bound: the four oldest, 400 and three of 1,000 */
	put_size(&s, "slurm-%u-1-1.json", 11, 3000);
	assert_int_equal(s.removed, 4);
	assert_int_equal(nr_with("slurm-3-") + nr_with("slurm-0-"), 0);
	assert_int_equal(nr_with("slurm-4-"), 1);
	assert_int_equal(nr_bytes(), 9600);
	assert_int_equal(s.bytes, 9600);
	spool_close(&s);
	/* a smaller bound, and a report that is larger than that */
	assert_int_equal(spool_open(folder, 100, 4000, &d, &s), 0);
	assert_int_equal(s.bytes, 9600);
	put_size(&s, "slurm-%u-1-1.json", 12, 100);
	assert_int_equal(nr_bytes(), 3700);
	put_size(&s, "slurm-%u-1-1.json", 13, 5000);
	assert_int_equal(nr_entries(), 1);
	put_size(&s, "slurm-%u-1-1.json", 14, 100);
	assert_int_equal(nr_entries(), 1);
	assert_int_equal(nr_bytes(), 100);
	spool_close(&s);
}

/* Somebody picks them up: that makes room, and nothing is lost. */
static void test_bytes_picked_up(void **state)
{
	struct spool s;
	struct diag d;

	(void)state;
	assert_int_equal(spool_open(folder, 0, 3000, &d, &s), 0);
	for (unsigned int i = 0; i < 3; i++)
		put_size(&s, "slurm-%u-1-1.json", i, 1000);
	tree_drop(&tree, "spool/slurm-0-1-1.json");
	tree_drop(&tree, "spool/slurm-1-1-1.json");
	put_size(&s, "slurm-%u-1-1.json", 3, 2000);
	assert_int_equal(s.removed, 0);
	assert_int_equal(s.bytes, 3000);
	/* what is not called as reports are stays, and leaves no room */
	tree_drop(&tree, "spool/slurm-2-1-1.json");
	tree_drop(&tree, "spool/slurm-3-1-1.json");
	put_size(&s, "elsewhere%u", 0, 2500);
	assert_int_equal(spool_write(&s, "slurm-4-1-1.json", folder, 600, &d), -EDQUOT);
	assert_non_null(strstr(d.what, "2500 bytes"));
	assert_int_equal(spool_write(&s, "slurm-5-1-1.json", folder, 500, &d), 0);
	assert_int_equal(s.removed, 0);
	spool_close(&s);
}

/* Large reports of a user take nobody's place, also where they are few. */
static void test_users_share_bytes(void **state)
{
	struct spool s;
	struct diag d;

	(void)state;
	assert_int_equal(spool_open(folder, 0, 20000, &d, &s), 0);
	for (unsigned int i = 0; i < 10; i++)
		put_size(&s, "slurm-%u-1-1.json", i, 1000);
	for (unsigned int i = 0; i < 8; i++)
		put_size(&s, "podman-%u-1-1-u1001.json", i, 100);
	for (unsigned int i = 0; i < 20; i++)
		put_size(&s, "docker-%u-1-1-u1000.json", i, 3000);
	/* users have half, and what the one report adds that comes when they have just less */
	assert_int_equal(nr_with("slurm"), 7);
	assert_int_equal(nr_with("-u1001"), 8);
	assert_int_equal(nr_with("-u1000"), 4);
	assert_int_equal(s.removed, 19);
	spool_close(&s);
}

static void on_full_disk(void *arg)
{
	static char text[100000];
	struct spool s;
	struct diag d = { 0 };
	size_t nr = 0;
	int err;

	(void)arg;
	memset(text, 'x', sizeof(text));
	mkdir(folder, 0755);
	if (!mount_small(folder, "size=1m"))
		skip_child("no rights to mount");
	CHECK(!chmod(folder, 0755));
	CHECK(!spool_open(folder, 0, 0, &d, &s));
	do {
		char name[16];

		snprintf(name, sizeof(name), "r%zu", nr);
		err = spool_write(&s, name, text, sizeof(text), &d);
		nr += !err;
	} while (!err);
	CHECK(err == -ENOSPC && nr == 10);
	CHECK(strstr(d.what, "r10") && strstr(d.help, "space"));
	CHECK(nr_entries() == nr);
	/* what is there already stays, too */
	CHECK(spool_write(&s, "r0", text, sizeof(text), &d) == -ENOSPC);
	CHECK(nr_entries() == nr);
	CHECK(!unlinkat(s.folder, "r1", 0));
	CHECK(!spool_write(&s, "r10", text, sizeof(text), &d));
	spool_close(&s);
}

static void test_full_disk(void **state)
{
	(void)state;
	in_child(on_full_disk, NULL);
}

#define BIG 20000

static void write_for_ever(void *arg)
{
	static char text[BIG];
	struct spool s;
	struct diag d;

	CHECK(!spool_open(folder, 0, 0, &d, &s));
	CHECK(write(*(int *)arg, "x", 1) == 1);
	for (unsigned int i = 0;; i++) {
		char name[16];

		snprintf(name, sizeof(name), "r%u", i % 50);
		memset(text, 'a' + i % 26, sizeof(text));
		CHECK(!spool_write(&s, name, text, sizeof(text), &d));
	}
}

static void assert_whole(const char *name)
{
	char path[2 * PATH_MAX], text[BIG + 1];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fread(text, 1, sizeof(text), f), BIG);
	fclose(f);
	assert_int_equal(text[0], text[BIG - 1]);
}

static void test_killed(void **state)
{
	struct dirent *entry;
	int pipes[2];
	char byte;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	for (size_t i = 0; i < under_valgrind(3, 60); i++) {
		pid_t pid = fork();
		DIR *dir;

		if (!pid)
			write_for_ever(&pipes[1]);
		/* it has opened the folder: the lock of the one before was gone */
		assert_int_equal(read(pipes[0], &byte, 1), 1);
		usleep(i * 211 % 7000);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		dir = opendir(folder);
		assert_non_null(dir);
		while ((entry = readdir(dir)))
			if (entry->d_name[0] != '.')
				assert_whole(entry->d_name);
		closedir(dir);
	}
	close(pipes[0]);
	close(pipes[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_write, make, clear),
		cmocka_unit_test_setup_teardown(test_names, make, clear),
		cmocka_unit_test_setup_teardown(test_links, make, clear),
		cmocka_unit_test_setup_teardown(test_open, make, clear),
		cmocka_unit_test_setup_teardown(test_modes, make, clear),
		cmocka_unit_test_setup_teardown(test_foreign_lock, make, clear),
		cmocka_unit_test_setup_teardown(test_in_the_way, make, clear),
		cmocka_unit_test_setup_teardown(test_folder_moved, make, clear),
		cmocka_unit_test_setup_teardown(test_bound, make, clear),
		cmocka_unit_test_setup_teardown(test_oldest_gives, make, clear),
		cmocka_unit_test_setup_teardown(test_oldest_is_stuck, make, clear),
		cmocka_unit_test_setup_teardown(test_users_share, make, clear),
		cmocka_unit_test_setup_teardown(test_bytes, make, clear),
		cmocka_unit_test_setup_teardown(test_bytes_picked_up, make, clear),
		cmocka_unit_test_setup_teardown(test_users_share_bytes, make, clear),
		cmocka_unit_test_setup_teardown(test_full_disk, make, clear),
		cmocka_unit_test_setup_teardown(test_killed, make, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
