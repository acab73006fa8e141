// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "platform/sys/job_env.h"
#include "random.h"
#include "skip.h"
#include "tree.h"

#define SHORT_ID     "0123456789ab"

#define MAX_CHILDREN 64

static struct tree tree;
static pid_t children[MAX_CHILDREN];
static size_t nr_children;

static void check_block(enum scheduler s, const char *block, size_t size, const char *id,
			const char *name, const char *user)
{
	struct job_env env;
	/* In memory of its own, so that a byte too far is seen */
	char *exact = malloc(size + !size);

	assert_non_null(exact);
	memcpy(exact, block, size);
	memset(&env, 0xa5, sizeof(env));
	assert_int_equal(job_env_parse(s, exact, size, &env), *id || *name || *user);
	assert_string_equal(env.id, id);
	assert_string_equal(env.name, name);
	assert_string_equal(env.user, user);
	free(exact);
}

#define CHECK(s, block, id, name, user) \
	check_block(SCHEDULER_##s, block, sizeof(block) - 1, id, name, user)

/* What tasks of arrays are called, if their environment says all of it */
static void test_arrays(void **state)
{
	static const struct {
		const char *array, *task, *want;
	} rows[] = {
		{ "4700", "3", "4700_3" },
		{ "4700", "0", "4700_0" },
		{ "4294967295", "4294967295", "4294967295_4294967295" },
		{ "4700", "", "" },
		{ "", "3", "" },
		{ "4700", "3x", "" },
		{ "0", "3", "" },
		{ "4700", "03", "" },
		{ "12345678901", "3", "" },
	};
	char block[200];
	struct job_env env;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int n = snprintf(block, sizeof(block),
				 "SLURM_JOB_ID=4711%cSLURM_ARRAY_JOB_ID=%s%cSLURM_ARRAY_TASK_ID=%s",
				 0, rows[i].array, 0, rows[i].task);

		assert_true(job_env_parse(SCHEDULER_SLURM, block, (size_t)n + 1, &env));
		assert_string_equal(env.id, "4711");
		assert_string_equal(env.array, rows[i].want);
	}
	/* of no job */
	memcpy(block, "SLURM_ARRAY_JOB_ID=1\0SLURM_ARRAY_TASK_ID=2", 43);
	assert_false(job_env_parse(SCHEDULER_SLURM, block, 43, &env));
}

static void test_parse(void **state)
{
	(void)state;
	CHECK(SLURM, "A=1\0SLURM_JOB_ID=12\0SLURM_JOB_NAME=lbm\0SLURM_JOB_USER=ann\0", "12", "lbm",
	      "ann");
	CHECK(SLURM, "SLURM_JOB_NAME=a b=c\0", "", "a b=c", "");
	CHECK(SLURM, "SLURM_JOB_ID=4294967295\0", "4294967295", "", "");
	/* the first one, and whole names only */
	CHECK(SLURM, "SLURM_JOB_ID=1\0SLURM_JOB_ID=2\0", "1", "", "");
	CHECK(SLURM, "XSLURM_JOB_ID=1\0SLURM_JOB_ID_=2\0SLURM_JOB_IDX=2\0SLURM_JOB\0", "", "", "");
	CHECK(SLURM, "SLURM_JOB_ID\0=3\0SLURM_JOB_NAME=\0", "", "", "");
	/* no numbers of jobs */
	CHECK(SLURM, "SLURM_JOB_ID=\0", "", "", "");
	CHECK(SLURM, "SLURM_JOB_ID=0\0", "", "", "");
	CHECK(SLURM, "SLURM_JOB_ID=012\0", "", "", "");
	CHECK(SLURM, "SLURM_JOB_ID=12x\0", "", "", "");
	CHECK(SLURM, "SLURM_JOB_ID=-12\0", "", "", "");
	CHECK(SLURM, "SLURM_JOB_ID=12345678901\0", "", "", "");
	CHECK(SLURM, "SLURM_JOB_ID=../12\0", "", "", "");
	/* what does not end was cut */
	CHECK(SLURM, "SLURM_JOB_NAME=x\0SLURM_JOB_ID=12", "", "x", "");
	CHECK(SLURM, "", "", "", "");
	CHECK(SLURM, "\0\0\0\0", "", "", "");
	/* harmless */
	CHECK(SLURM, "SLURM_JOB_NAME=a\nb\x1b[m\xff\0", "", "a?b?[m?", "");
	/* others' */
	CHECK(SYSTEMD, "SLURM_JOB_ID=12\0HOSTNAME=x\0", "", "", "");
	CHECK(LIBVIRT, "SLURM_JOB_ID=12\0HOSTNAME=x\0", "", "", "");
	CHECK(NONE, "SLURM_JOB_ID=12\0=\0", "", "", "");
}

static void test_parse_containers(void **state)
{
	(void)state;
	CHECK(KUBERNETES, "HOSTNAME=web-0\0KUBERNETES_SERVICE_HOST=10.0.0.1\0", "", "web-0", "");
	CHECK(KUBERNETES, "HOSTNAME=web-0\0", "", "", "");
	CHECK(DOCKER, "HOSTNAME=db\0", "", "db", "");
	CHECK(DOCKER, "HOSTNAME=" SHORT_ID "\0", "", "", "");
	CHECK(DOCKER, "HOSTNAME=" SHORT_ID "c\0", "", SHORT_ID "c", "");
	CHECK(PODMAN, "HOSTNAME=db\0container=podman\0", "", "db", "");
	CHECK(PODMAN, "HOSTNAME=db\0", "", "", "");
	CHECK(FLUX,
	      "USER=ann\0FLUX_JOB_ID=\xc6\x92"
	      "2A\0",
	      "", "", "ann");
	CHECK(FLUX, "USER=ann\0", "", "", "");
}

/* Cut between characters, and never longer than there is room */
static void test_parse_long(void **state)
{
	static char block[300000];
	struct job_env env;

	(void)state;
	strcpy(block, "SLURM_JOB_NAME=");
	memset(block + 15, 'x', sizeof(block) - 16);
	assert_true(job_env_parse(SCHEDULER_SLURM, block, sizeof(block), &env));
	assert_int_equal(strlen(env.name), JOB_NAME_LEN - 1);
	for (size_t i = 15; i + 3 < sizeof(block); i += 3)
		memcpy(block + i, "\xe2\x82\xac", 3);
	assert_true(job_env_parse(SCHEDULER_SLURM, block, sizeof(block), &env));
	assert_int_equal(strlen(env.name), (JOB_NAME_LEN - 1) / 3 * 3);
	memset(block + 15, 'x', sizeof(block) - 15);
	assert_false(job_env_parse(SCHEDULER_SLURM, block, sizeof(block), &env));
}

static void test_parse_mutations(void **state)
{
	static const char text[] = "A=1\0SLURM_JOB_ID=12\0SLURM_JOB_NAME=lbm\0HOSTNAME=x\0USER=u\0"
				   "KUBERNETES_SERVICE_HOST=1\0FLUX_JOB_ID=1\0container=podman\0";
	struct draw d = { 41 };

	(void)state;
	for (size_t i = draw_times(100000, 3000); i; i--) {
		size_t size = draw_below(&d, sizeof(text));
		char *block = malloc(size + !size);
		struct job_env env;

		assert_non_null(block);
		memcpy(block, text, size);
		for (uint64_t n = size ? draw_below(&d, 6) : 0; n; n--)
			block[draw_below(&d, size)] = (char)draw_u64(&d);
		memset(&env, 0xa5, sizeof(env));
		job_env_parse((enum scheduler)draw_below(&d, NR_SCHEDULERS + 1), block, size, &env);
		assert_non_null(memchr(env.id, '\0', sizeof(env.id)));
		assert_non_null(memchr(env.name, '\0', sizeof(env.name)));
		assert_non_null(memchr(env.user, '\0', sizeof(env.user)));
		free(block);
	}
}

/* The kernel closes what exec closes before the new command line and environment are there. */
static void wait_for_exec(pid_t pid, bool has_environment)
{
	char path[64], byte;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid,
		 has_environment ? "environ" : "cmdline");
	do {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		assert_true(fd >= 0);
		n = read(fd, &byte, 1);
		close(fd);
	} while (!n && !usleep(100));
	assert_int_equal(n, 1);
}

/* A process of ours with a command line and an environment, listed in a cgroup of the tree */
static void start(const char *cgroup, const char *title, const char *const *env)
{
	char *argv[] = { (char *)title, "1000", NULL };
	char name[256], path[PATH_MAX], byte;
	int ready[2];
	pid_t pid;
	FILE *f;

	assert_true(nr_children < MAX_CHILDREN);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		execve("/bin/sleep", argv, (char *const *)env);
		_exit(1);
	}
	children[nr_children++] = pid;
	close(ready[1]);
	/* ends with exec */
	assert_int_equal(read(ready[0], &byte, 1), 0);
	close(ready[0]);
	wait_for_exec(pid, env[0] != NULL);
	snprintf(name, sizeof(name), "%s/cgroup.procs", cgroup);
	tree_path(&tree, name, path);
	f = fopen(path, "a");
	assert_non_null(f);
	fprintf(f, "%d\n", (int)pid);
	fclose(f);
}

static int make(void **state)
{
	(void)state;
	tree_make(&tree);
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_children; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	nr_children = 0;
	tree_remove(&tree);
	return 0;
}

static int look(enum scheduler s, const char *cgroup, struct job_env *env)
{
	char path[PATH_MAX];

	tree_path(&tree, cgroup, path);
	memset(env, 0xa5, sizeof(*env));
	return job_env_read(s, path, "node7", env);
}

static const char *const nothing[] = { "A=1", NULL };
static const char *const job_12[] = { "SLURM_JOB_ID=12", "SLURM_JOB_NAME=lbm", "SLURM_JOB_USER=ann",
				      NULL };
static const char *const job_13[] = { "SLURM_JOB_ID=13", "SLURM_JOB_NAME=liar",
				      "SLURM_JOB_USER=eve", NULL };

static void test_read(void **state)
{
	struct job_env env;

	(void)state;
	assert_int_equal(look(SCHEDULER_SLURM, "job", &env), -ENOENT);
	tree_put(&tree, "job/cgroup.procs", "");
	assert_int_equal(look(SCHEDULER_SLURM, "job", &env), -ESRCH);
	assert_string_equal(env.id, "");
	start("job/step_0/user/task_0", "a.out", nothing);
	assert_int_equal(look(SCHEDULER_SLURM, "job", &env), -ENODATA);
	start("job/step_0/user/task_0", "a.out", job_12);
	assert_int_equal(look(SCHEDULER_SLURM, "job", &env), 0);
	assert_string_equal(env.id, "12");
	assert_string_equal(env.name, "lbm");
	assert_string_equal(env.user, "ann");
	assert_int_equal(env.uid, geteuid());
	assert_int_equal(look(SCHEDULER_SYSTEMD, "job", &env), -ENODATA);
	assert_int_equal(look(SCHEDULER_KUBERNETES, "job", &env), -ENODATA);
}

/* Tasks of steps come before those beside the steps. */
static void test_steps_first(void **state)
{
	struct job_env env;

	(void)state;
	start("job", "a.out", job_13);
	start("job/step_0/user/task_0", "a.out", job_12);
	assert_int_equal(look(SCHEDULER_SLURM, "job", &env), 0);
	assert_string_equal(env.id, "12");
}

/* The scheduler's own process knows better, whatever is looked at first. */
static void test_keeper(void **state)
{
	struct job_env env;

	(void)state;
	start("job/step_0/user/task_0", "a.out", job_13);
	start("job/step_0/slurm", "slurmstepd: [12.0]", nothing);
	assert_int_equal(look(SCHEDULER_SLURM, "job", &env), -EAGAIN);
	assert_string_equal(env.id, "12");
	assert_string_equal(env.name, "");
	start("job/step_1/user/task_0", "a.out", job_12);
	assert_int_equal(look(SCHEDULER_SLURM, "job", &env), 0);
	assert_string_equal(env.id, "12");
	assert_string_equal(env.name, "lbm");
	assert_string_equal(env.user, "ann");
}

/* Tasks that speak of another job are not believed, whoever is asked first. */
static void test_liars(void **state)
{
	struct job_env env;
	char name[64];

	(void)state;
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "job/step_%d/user/task_0", i);
		start(name, "a.out", job_13);
		snprintf(name, sizeof(name), "job/step_%d/slurm", i);
		start(name, "slurmstepd: [12.batch]", nothing);
	}
	assert_int_equal(look(SCHEDULER_SLURM, "job", &env), -EAGAIN);
	assert_string_equal(env.id, "12");
	assert_string_equal(env.name, "");
	assert_string_equal(env.user, "");
}

/* What a task can arrange is not the scheduler's process. */
static void test_false_keeper(void **state)
{
	static const char *const titles[] = {
		"slurmstepd: [",     "slurmstepd: [0.0]",	    "slurmstepd: [14",
		"slurmstepd: [14x]", "slurmstepd: [12345678901.0]", "a slurmstepd: [14.0]"
	};
	struct job_env env;

	(void)state;
	start("job/step_0/user/task_0", "slurmstepd: [13.0]", job_12);
	start("job/step_0/user/task_0/slurm", "slurmstepd: [13.0]", nothing);
	start("job/slurm", "slurmstepd: [13.0]", nothing);
	for (size_t i = 0; i < ARRAY_SIZE(titles); i++) {
		char step[64];

		snprintf(step, sizeof(step), "job/step_%zu/slurm", i);
		start(step, titles[i], nothing);
	}
	assert_int_equal(look(SCHEDULER_SLURM, "job", &env), 0);
	assert_string_equal(env.id, "12");
}

static void test_hostname(void **state)
{
	static const char *const env_own[] = { "HOSTNAME=node7", "container=podman", NULL };
	static const char *const env_web[] = { "HOSTNAME=web", "container=podman", NULL };
	struct job_env env;

	(void)state;
	start("libpod", "a.out", env_own);
	assert_int_equal(look(SCHEDULER_PODMAN, "libpod", &env), -ENODATA);
	start("libpod/container", "a.out", env_web);
	assert_int_equal(look(SCHEDULER_PODMAN, "libpod", &env), 0);
	assert_string_equal(env.name, "web");
}

/* Lists that no kernel writes, numbers of nobody, links and loops */
static void test_hostile(void **state)
{
	static char list[20000];
	char path[PATH_MAX];
	struct job_env env;

	(void)state;
	tree_put(&tree, "a/cgroup.procs", "0\n-1\n1x\n\n99999999999999999999\n4294967295\n../1\n");
	assert_int_equal(look(SCHEDULER_SLURM, "a", &env), -ESRCH);
	memset(list, '1', sizeof(list));
	tree_write(&tree, "b/cgroup.procs", list, sizeof(list));
	assert_int_equal(look(SCHEDULER_SLURM, "b", &env), -ESRCH);
	tree_put(&tree, "c/x", "");
	tree_link(&tree, "c/loop", "../c");
	tree_link(&tree, "c/cgroup.procs", "../d/cgroup.procs");
	start("d", "a.out", job_12);
	assert_int_equal(look(SCHEDULER_SLURM, "c", &env), -ESRCH);
	assert_int_equal(look(SCHEDULER_SLURM, "d/cgroup.procs", &env), -ENOTDIR);
	/* deeper than anybody's job: not found, but also not followed for ever */
	strcpy(path, "e");
	for (int i = 0; i < 12; i++)
		strcat(path, "/x");
	start(path, "a.out", job_12);
	assert_int_equal(look(SCHEDULER_SLURM, "e", &env), -ESRCH);
}

/* However many tasks and folders there are, few are looked at. */
static void test_bounds(void **state)
{
	struct job_env env;
	char name[64];

	(void)state;
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "job/step_%d", i);
		start(name, "a.out", nothing);
	}
	start("job", "a.out", job_12);
	assert_int_equal(look(SCHEDULER_SLURM, "job", &env), -ENODATA);
	start("few", "a.out", nothing);
	start("few", "a.out", nothing);
	start("few", "a.out", job_12);
	assert_int_equal(look(SCHEDULER_SLURM, "few", &env), -ENODATA);
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "wide/%d/cgroup.procs", i);
		tree_put(&tree, name, "");
	}
	start("wide", "a.out", job_12);
	assert_int_equal(look(SCHEDULER_SLURM, "wide", &env), 0);
	assert_string_equal(env.id, "12");
}

/* A huge environment is read in part only; ours is at its beginning. */
static void test_huge(void **state)
{
	static char big[100000], bigger[100000];
	static const char *const before[] = { "SLURM_JOB_ID=12", "SLURM_JOB_NAME=lbm", big, bigger,
					      NULL };
	static const char *const behind[] = { big, bigger, "SLURM_JOB_ID=12", NULL };
	struct job_env env;

	(void)state;
	memset(big, 'A', sizeof(big) - 1);
	memset(bigger, 'B', sizeof(bigger) - 1);
	start("a", "a.out", before);
	assert_int_equal(look(SCHEDULER_SLURM, "a", &env), 0);
	assert_string_equal(env.name, "lbm");
	start("b", "a.out", behind);
	assert_int_equal(look(SCHEDULER_SLURM, "b", &env), -ENODATA);
}

/* Processes of other users do not tell us anything without the capability. */
static void test_denied(void **state)
{
	struct job_env env;
	int status;
	pid_t pid;

	(void)state;
	tree_put(&tree, "job/cgroup.procs", "1\n");
	assert_int_equal(chmod(tree.root, 0755), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (!geteuid() && setresuid(65534, 65534, 65534))
			_exit(2);
		_exit(look(SCHEDULER_SLURM, "job", &env) != -EACCES);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* In a pid namespace with a proc of another one, numbers are those of others. */
static void test_foreign_proc(void **state)
{
	struct job_env env;
	int status;
	pid_t pid;

	(void)state;
	start("job", "a.out", job_12);
	assert_int_equal(look(SCHEDULER_SLURM, "job", &env), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (unshare(CLONE_NEWPID))
			_exit(77);
		pid = fork();
		if (!pid)
			_exit(look(SCHEDULER_SLURM, "job", &env) != -ENODATA || env.name[0]);
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			_exit(2);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip_because("only root can make a pid namespace");
	assert_int_equal(status, 0);
}

/* A process that ended */
static void test_gone(void **state)
{
	struct job_env env;

	(void)state;
	start("job", "a.out", job_12);
	kill(children[0], SIGKILL);
	waitpid(children[0], NULL, 0);
	children[0] = children[--nr_children];
	assert_int_equal(look(SCHEDULER_SLURM, "job", &env), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_arrays),
		cmocka_unit_test(test_parse_containers),
		cmocka_unit_test(test_parse_long),
		cmocka_unit_test(test_parse_mutations),
		cmocka_unit_test_setup_teardown(test_read, make, end),
		cmocka_unit_test_setup_teardown(test_steps_first, make, end),
		cmocka_unit_test_setup_teardown(test_keeper, make, end),
		cmocka_unit_test_setup_teardown(test_liars, make, end),
		cmocka_unit_test_setup_teardown(test_false_keeper, make, end),
		cmocka_unit_test_setup_teardown(test_hostname, make, end),
		cmocka_unit_test_setup_teardown(test_hostile, make, end),
		cmocka_unit_test_setup_teardown(test_bounds, make, end),
		cmocka_unit_test_setup_teardown(test_huge, make, end),
		cmocka_unit_test_setup_teardown(test_denied, make, end),
		cmocka_unit_test_setup_teardown(test_foreign_proc, make, end),
		cmocka_unit_test_setup_teardown(test_gone, make, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
