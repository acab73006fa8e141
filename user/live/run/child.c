// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/run/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/open_files.h"

#define STATUS_NOT_RUN 127

/* In the child: wait for the gate, run the program, or report the error. */
static void run(char **argv, const sigset_t *mask, int gate, int error)
{
	char byte;
	int err;

	/* One byte starts the program; the end of the pipe cancels it. */
	if (read(gate, &byte, 1) != 1)
		_exit(STATUS_NOT_RUN);
	signal(SIGPIPE, SIG_DFL);
	open_files_in_child();
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	err = errno;
	if (write(error, &err, sizeof(err)) < 0)
		_exit(STATUS_NOT_RUN);
	_exit(STATUS_NOT_RUN);
}

static int not_run(const char *name, int err, struct diag *d)
{
	diag_fail(d, err, "cannot run %s: %s", name, strerror(-err));
	if (err == -ENOENT)
		diag_help(d, "give a path, or a program that is in $PATH");
	return err;
}

int child_find(const char *name, struct diag *d)
{
	const char *path = strchr(name, '/') || !name[0] ? "" : getenv("PATH"), *end;
	int err = -ENOENT;

	/* Without $PATH the system has its own. */
	for (; path; path = *end ? end + 1 : NULL) {
		char file[PATH_MAX];
		struct stat st;

		end = strchrnul(path, ':');
		if (snprintf(file, sizeof(file), "%.*s%s%s", (int)(end - path), path,
			     end > path ? "/" : "", name) >= (int)sizeof(file))
			return 0;
		if (stat(file, &st))
			err = errno == ENOENT || errno == ENOTDIR ? err : -EACCES;
		else if (S_ISREG(st.st_mode) && !access(file, X_OK))
			return 0;
		else
			err = -EACCES;
		if (!*end)
			return not_run(name, err, d);
	}
	return 0;
}

static void close_pair(int *fds)
{
	close(fds[0]);
	close(fds[1]);
}

int child_prepare(char **argv, const sigset_t *mask, struct diag *d, struct child *ret)
{
	int gate[2], error[2], pidfd;
	pid_t pid;

	if (pipe2(gate, O_CLOEXEC))
		return diag_fail(d, -errno, "cannot make a pipe: %s", strerror(errno));
	if (pipe2(error, O_CLOEXEC)) {
		close_pair(gate);
		return diag_fail(d, -errno, "cannot make a pipe: %s", strerror(errno));
	}
	pid = fork();
	if (!pid) {
		close(gate[1]);
		close(error[0]);
		run(argv, mask, gate[0], error[1]);
	}
	close(gate[0]);
	close(error[1]);
	pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	*ret = (struct child){ pid > 0 ? pid : 0, pidfd, gate[1], error[0] };
	if (pid < 0 || pidfd < 0) {
		int err = -errno;

		child_end(ret);
		return diag_fail(d, err, "cannot start a process: %s", strerror(-err));
	}
	return 0;
}

int child_start(struct child *c, const char *name, struct diag *d)
{
	ssize_t n;
	int err;

	if (write(c->gate, "", 1) != 1)
		return diag_fail(d, -errno, "cannot start %s: %s", name, strerror(errno));
	close(c->gate);
	c->gate = -1;
	/* The pipe closes without data when the program runs. */
	do
		n = read(c->error, &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	return n == sizeof(err) ? not_run(name, -err, d) : 0;
}

int child_status(struct child *c)
{
	int status;

	while (waitpid(c->pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	c->pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void child_end(struct child *c)
{
	if (c->gate >= 0)
		close(c->gate);
	if (c->error >= 0)
		close(c->error);
	if (c->pidfd >= 0)
		close(c->pidfd);
	*c = CHILD_NONE;
}
