// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/program/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/open_files.h"
#include "base/text.h"

/* After SIGTERM the program gets this long. */
#define GRACE_MS      1000
#define GRACE_STEP_MS 50
/* Then SIGKILL needs this long at most, unless the kernel holds the program. */
#define KILL_MS	      2000
#define KILL_STEP_US  10000
/* The guard's pipe; it has no other descriptor of ours. */
#define LIFE_FD	      3

/* --- in the child: the program itself */

static void run_command(const char *command, pid_t guard)
{
	sigset_t none;

	setpgid(0, 0);
	/* In case the guard is killed, too; it may be gone already. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != guard)
		_exit(127);
	close(LIFE_FD);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	open_files_in_child();
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/* --- in the child: its guard */

/* SIGCHLD for its end, and for a mere stop, comes by @signals. It is not reaped here: see below. */
static bool has_ended(pid_t pid, int signals)
{
	struct signalfd_siginfo news;
	siginfo_t info = { 0 };

	if (read(signals, &news, sizeof(news)) < 0 && errno != EAGAIN)
		return true;
	return waitid(P_PID, pid, &info, WEXITED | WNOWAIT | WNOHANG) || info.si_pid;
}

/* Ends with the program's own status, once nothing of its group is left. */
static void guard_until(pid_t pid, int signals)
{
	struct pollfd fds[] = { { .fd = signals, .events = POLLIN }, { .fd = LIFE_FD } };
	int left = GRACE_MS, status;

	while (!has_ended(pid, signals) && !fds[1].revents)
		poll(fds, 2, -1);
	kill(-pid, SIGTERM);
	for (; !has_ended(pid, signals) && left > 0; left -= GRACE_STEP_MS)
		poll(fds, 1, GRACE_STEP_MS);
	/* Until it is reaped, its number is its group's. */
	kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static void guard(const char *command)
{
	pid_t self = getpid(), pid;
	sigset_t all, ends;
	int signals;

	/* Signals of a terminal are neither for the guard nor for the program. */
	setpgid(0, 0);
	prctl(PR_SET_NAME, "t410trace-guard");
	for (int s = 1; s < NSIG; s++)
		signal(s, SIG_DFL);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigemptyset(&ends);
	sigaddset(&ends, SIGCHLD);
	signals = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals < 0)
		_exit(126);
	pid = fork();
	if (!pid)
		run_command(command, self);
	if (pid < 0)
		_exit(126);
	setpgid(pid, pid);
	/* The program alone must hold the ends of these pipes. */
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	guard_until(pid, signals);
}

/* Above those that it gets, whichever we have closed. */
static int out_of_the_way(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, LIFE_FD + 1);
}

static void become_guard(const char *command, int out, int err, int life)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int from[] = { out_of_the_way(null), out_of_the_way(out), out_of_the_way(err),
		       out_of_the_way(life) };

	for (int to = 0; to <= LIFE_FD; to++)
		if (dup2(from[to], to) < 0)
			_exit(126);
	/* Our own descriptors do not concern it, and would keep other programs alive. */
	if (syscall(SYS_close_range, LIFE_FD + 1, ~0U, 0))
		for (long fd = sysconf(_SC_OPEN_MAX); fd > LIFE_FD; fd--)
			close((int)fd);
	guard(command);
}

/* --- on our side */

static void close_pair(int *fds)
{
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static int start(const char *command, int out[2], int err[2], int life[2],
		 struct program_process *ret)
{
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC) || pipe2(life, O_CLOEXEC) ||
	    fcntl(out[0], F_SETFL, O_NONBLOCK) || fcntl(err[0], F_SETFL, O_NONBLOCK))
		return -errno;
	pid = fork();
	if (!pid)
		become_guard(command, out[1], err[1], life[0]);
	if (pid < 0)
		return -errno;
	*ret = (struct program_process){
		.guard = pid, .out = out[0], .err = err[0], .life = life[1]
	};
	out[0] = err[0] = life[1] = -1;
	return 0;
}

static int connect_to(const char *path, struct diag *d, struct program_process *ret)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, err = 0;

	if (strlen(path) >= sizeof(address.sun_path))
		return diag_fail(d, -ENAMETOOLONG, "%s%.64s...: the path is too long",
				 PROGRAM_SOCKET, path);
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		err = -errno;
	if (err && fd >= 0)
		close(fd);
	if (err)
		return diag_fail(d, err, "cannot connect to %s: %s", path, strerror(-err));
	ret->out = fd;
	return 0;
}

int program_process_start(const char *command, struct diag *d, struct program_process *ret)
{
	int out[2] = { -1, -1 }, err[2] = { -1, -1 }, life[2] = { -1, -1 };
	int problem;

	*ret = PROGRAM_PROCESS_NONE;
	if (!strncmp(command, PROGRAM_SOCKET, strlen(PROGRAM_SOCKET)))
		return connect_to(command + strlen(PROGRAM_SOCKET), d, ret);
	problem = start(command, out, err, life, ret);
	close_pair(out);
	close_pair(err);
	close_pair(life);
	return problem ? diag_fail(d, problem, "cannot start a process: %s", strerror(-problem))
		       : 0;
}

void program_process_end(struct program_process *p)
{
	int *fds[] = { &p->out, &p->err, &p->life };

	for (int i = 0; i < 3; i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

/* Returns its number once it has ended, 0 before. */
static pid_t reap(pid_t guard, unsigned int most_ms, int *ret_status)
{
	uint64_t end_ns = monotonic_ns() + most_ms * NS_PER_MS;
	bool last;
	pid_t pid;

	for (;;) {
		/* before the look: it may have ended while we stood still */
		last = monotonic_ns() >= end_ns;
		do
			pid = waitpid(guard, ret_status, WNOHANG);
		while (pid < 0 && errno == EINTR);
		if (pid || last)
			return pid;
		usleep(KILL_STEP_US);
	}
}

bool program_process_ended(struct program_process *p, bool wait, char *ret_text, size_t size)
{
	int status = 0;
	pid_t pid;

	str_copy(ret_text, size, "ended");
	if (!p->guard)
		return true;
	pid = reap(p->guard, wait ? GRACE_MS + KILL_MS : 0, &status);
	if (!pid)
		return false;
	p->guard = 0;
	p->status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	program_process_end(p);
	if (pid < 0 || !WIFEXITED(status))
		snprintf(ret_text, size, "ended, and so did its guard");
	else if (WEXITSTATUS(status) > 128)
		snprintf(ret_text, size, "ended by signal %d", WEXITSTATUS(status) - 128);
	else
		snprintf(ret_text, size, "ended with status %d", WEXITSTATUS(status));
	return true;
}
