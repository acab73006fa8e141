// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/sys/job_env.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "platform/sys/pid_namespace.h"
#include "tables/job_rules.h"

/* Bounds of one look, whatever users of the machine have created */
#define MAX_TASKS     16
#define MAX_OF_FOLDER 2 /* tasks of one cgroup: many steps tell more than many tasks of one step */
#define MAX_FOLDERS   64
#define MAX_ENTRIES   8192 /* files and folders; a cgroup has some 60 files */
#define MAX_DEPTH     8
#define BLOCK_SIZE    (128 << 10)
#define LIST_SIZE     4096

/* Value of a variable, if the string @s is "NAME=value". */
static const char *value_of(const char *s, const char *name)
{
	size_t n = name ? strlen(name) : 0;

	return n && !strncmp(s, name, n) && s[n] == '=' ? s + n + 1 : NULL;
}

static void put(char *dst, size_t size, const char *value)
{
	utf8_harmless(dst, size, value, strnlen(value, 4 * size));
}

/* Length of a job's number at the beginning of a text: 32 bits, and not 0; 0 for anything else. */
static size_t number_length(const char *text)
{
	size_t n = strspn(text, "0123456789");

	return n <= 10 && text[0] != '0' ? n : 0;
}

/* Engines name a container's host by the first digits of its id, unless the user names it. */
static bool is_short_id(const char *name)
{
	return strlen(name) == 12 && strspn(name, "0123456789abcdef") == 12;
}

static bool is_number(const char *text)
{
	return number_length(text) && !text[number_length(text)];
}

bool job_env_parse(enum scheduler s, const char *block, size_t size, struct job_env *ret)
{
	const struct job_variables *v = job_variables(s);
	const char *id = NULL, *name = NULL, *user = NULL, *proof = NULL;
	const char *array = NULL, *task = NULL;
	const char *end = block + size, *next;

	memset(ret, 0, sizeof(*ret));
	for (; block < end; block = next + 1) {
		next = memchr(block, '\0', (size_t)(end - block));
		if (!next)
			break;
		/* As in getenv(), the first one counts. */
		id = id ? id : value_of(block, v->id);
		array = array ? array : value_of(block, v->array);
		task = task ? task : value_of(block, v->task);
		name = name ? name : value_of(block, v->name);
		user = user ? user : value_of(block, v->user);
		proof = proof ? proof : value_of(block, v->proof);
	}
	if (v->proof && !proof)
		return false;
	if (id && is_number(id))
		put(ret->id, sizeof(ret->id), id);
	if (ret->id[0] && array && is_number(array) && task &&
	    (is_number(task) || !strcmp(task, "0")))
		snprintf(ret->array, sizeof(ret->array), "%s_%s", array, task);
	if (name && !(v->hostname && is_short_id(name)))
		put(ret->name, sizeof(ret->name), name);
	if (user)
		put(ret->user, sizeof(ret->user), user);
	return ret->id[0] || ret->name[0] || ret->user[0];
}

/* A look at the tasks of a job. */
struct env_look {
	enum scheduler scheduler;
	const struct job_variables *v;
	struct job_env *ret;
	const char *host;
	char *block;
	unsigned int folders;
	unsigned int entries;
	unsigned int tasks;
	unsigned int denied;
	bool certain; /* ret->id is from the scheduler itself */
};

static bool is_enough(const struct env_look *l)
{
	const struct job_variables *v = l->v;
	bool id = l->certain || (l->ret->id[0] && !v->title);

	return l->tasks == MAX_TASKS ||
	       ((!v->id || id) && (!v->name || l->ret->name[0]) && (!v->user || l->ret->user[0]));
}

/* Read what there is of a file, up to @size. Returns the length, or a negative errno. */
static ssize_t read_some(int dir, const char *name, char *ret, size_t size)
{
	cleanup_close int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	size_t used = 0;
	ssize_t got;

	if (fd < 0)
		return -errno;
	while (used < size) {
		got = read(fd, ret + used, size - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		used += (size_t)got;
	}
	return (ssize_t)used;
}

/* The processes of a cgroup as lines; none for one that has threads only. A line that was cut is left out. */
static void read_list(int folder, char ret_list[LIST_SIZE + 1])
{
	ssize_t n = read_some(folder, "cgroup.procs", ret_list, LIST_SIZE);
	char *end;

	ret_list[n > 0 ? n : 0] = '\0';
	end = strrchr(ret_list, '\n');
	ret_list[end ? end + 1 - ret_list : 0] = '\0';
}

/*
 * Is the process with the folder @task still in the cgroup? Its number could have been used again
 * between the list and the opening; if it lives after its number was listed, it was not.
 */
static bool is_member(int folder, int task, const char *pid)
{
	char list[LIST_SIZE + 1], line[32];
	const char *at;

	read_list(folder, list);
	snprintf(line, sizeof(line), "%s\n", pid);
	at = strstr(list, line);
	while (at && at != list && at[-1] != '\n')
		at = strstr(at + 1, line);
	return at && !faccessat(task, "stat", F_OK, 0);
}

static void fill(char *dst, size_t size, const char *src)
{
	if (!dst[0])
		snprintf(dst, size, "%s", src);
}

/* Take a task's variables over, unless they are about another job. */
static void believe(struct env_look *l, const struct job_env *env)
{
	struct job_env *ret = l->ret;

	if (l->certain && env->id[0] && strcmp(env->id, ret->id))
		return;
	fill(ret->id, sizeof(ret->id), env->id);
	if (!strcmp(ret->id, env->id))
		fill(ret->array, sizeof(ret->array), env->array);
	if (!l->v->hostname || strcmp(env->name, l->host))
		fill(ret->name, sizeof(ret->name), env->name);
	if (!ret->user[0])
		ret->uid = env->uid;
	fill(ret->user, sizeof(ret->user), env->user);
}

/* The scheduler's own process has the job's number in its title. */
static void ask_keeper(struct env_look *l, int folder, int task, const char *pid)
{
	char line[64], *number = line + strlen(l->v->title);
	ssize_t n = read_some(task, "cmdline", line, sizeof(line) - 1);
	size_t digits;

	line[n > 0 ? n : 0] = '\0';
	if (n <= 0 || strncmp(line, l->v->title, strlen(l->v->title)))
		return;
	digits = number_length(number);
	if (!digits || !strchr(".+]", number[digits]) || !number[digits] ||
	    !is_member(folder, task, pid))
		return;
	number[digits] = '\0';
	/* If earlier tasks gave another id, their answers are about another job. */
	if (l->ret->id[0] && strcmp(l->ret->id, number))
		memset(l->ret, 0, sizeof(*l->ret));
	fill(l->ret->id, sizeof(l->ret->id), number);
	l->certain = true;
}

static void ask_task(struct env_look *l, int folder, int task, const char *pid)
{
	ssize_t n = read_some(task, "environ", l->block, BLOCK_SIZE);
	struct job_env env;
	struct stat st;

	if (n == -EACCES || n == -EPERM)
		l->denied++;
	if (n > 0 && job_env_parse(l->scheduler, l->block, (size_t)n, &env) &&
	    is_member(folder, task, pid)) {
		env.uid = env.user[0] && !fstat(task, &st) ? st.st_uid : 0;
		believe(l, &env);
	}
}

/* Ask the first processes of a cgroup. */
static void ask_folder(struct env_look *l, int folder, bool keeper)
{
	char list[LIST_SIZE + 1], path[32], *save = NULL;
	unsigned int asked = 0;

	read_list(folder, list);
	for (char *pid = strtok_r(list, "\n", &save); pid && asked < MAX_OF_FOLDER && !is_enough(l);
	     pid = strtok_r(NULL, "\n", &save)) {
		cleanup_close int task = -1;

		/* 0: a process of another namespace */
		if (!number_length(pid) ||
		    snprintf(path, sizeof(path), "/proc/%s", pid) >= (int)sizeof(path))
			continue;
		task = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (task < 0)
			continue;
		asked++;
		l->tasks++;
		if (keeper)
			ask_keeper(l, folder, task, pid);
		else
			ask_task(l, folder, task, pid);
	}
}

/*
 * Ask the tasks below a cgroup, then its own: a task outside of the steps may be the scheduler's.
 * Closes @fd.
 */
static int ask_below(struct env_look *l, int fd, unsigned int depth, bool keeper)
{
	cleanup_closedir DIR *d = fdopendir(fd);
	const struct dirent *e;

	if (!d) {
		close(fd);
		return -errno;
	}
	l->folders++;
	while (depth < MAX_DEPTH && l->folders < MAX_FOLDERS && l->entries++ < MAX_ENTRIES &&
	       !is_enough(l) && (e = readdir(d))) {
		int below;

		if (e->d_type != DT_DIR || !strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		below = openat(dirfd(d), e->d_name,
			       O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		/* A job's steps are one level down, their cgroups two. */
		if (below >= 0)
			ask_below(l, below, depth + 1,
				  depth == 1 && l->v->keeper && !strcmp(e->d_name, l->v->keeper));
	}
	ask_folder(l, dirfd(d), keeper);
	return 0;
}

int job_env_read(enum scheduler s, const char *folder, const char *host, struct job_env *ret)
{
	cleanup_free char *block = malloc(BLOCK_SIZE);
	struct env_look l = {
		.scheduler = s, .v = job_variables(s), .ret = ret, .host = host, .block = block
	};
	int fd, err;

	memset(ret, 0, sizeof(*ret));
	/* Thread numbers are those of our pid namespace. */
	if ((!l.v->id && !l.v->name && !l.v->user) || !pid_namespace_has_proc("/proc"))
		return -ENODATA;
	if (!block)
		return -ENOMEM;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = ask_below(&l, fd, 0, false);
	if (err)
		return err;
	if (ret->name[0] || ret->user[0])
		return 0;
	if (ret->id[0])
		return l.certain ? -EAGAIN : 0;
	if (!l.tasks)
		return -ESRCH;
	return l.denied == l.tasks ? -EACCES : -ENODATA;
}
