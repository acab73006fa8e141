// SPDX-License-Identifier: GPL-2.0-only
/*
 * terminal OUT COMMAND...: runs a command in a terminal of 80 columns and 24 lines. What it writes
 * goes to the file OUT, and what comes from the standard input are its keys. When it has ended, a
 * JSON line says how, and whether it has given the terminal back as it was.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* So often it is looked whether the command has ended */
#define LOOK_MS 50

static void fail(const char *what)
{
	fprintf(stderr, "terminal: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct termios settings(int fd)
{
	struct termios t = { 0 };

	if (tcgetattr(fd, &t))
		fail("settings of the terminal");
	return t;
}

static bool same(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_cflag == b->c_cflag &&
	       a->c_lflag == b->c_lflag && !memcmp(a->c_cc, b->c_cc, sizeof(a->c_cc));
}

static pid_t start(int terminal, char **command)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (pid)
		return pid;
	if (setsid() < 0 || ioctl(terminal, TIOCSCTTY, 0))
		fail("the command's terminal");
	for (int fd = 0; fd < 3; fd++)
		if (dup2(terminal, fd) < 0)
			fail("dup2");
	execvp(command[0], command);
	fail(command[0]);
	return -1;
}

/* Passes on what there is; false: nothing more will come. */
static bool copy(int from, int to)
{
	char text[4096];
	ssize_t n = read(from, text, sizeof(text));

	for (ssize_t at = 0; at < n;) {
		ssize_t done = write(to, text + at, (size_t)(n - at));

		if (done < 0)
			fail("write");
		at += done;
	}
	return n > 0;
}

/* Passes on what comes in this time. Our end of the terminal is open: it does not hang up. */
static void pass(int master, int out, bool *keys, int ms)
{
	struct pollfd fds[] = { { .fd = master, .events = POLLIN },
				{ .fd = *keys ? STDIN_FILENO : -1, .events = POLLIN } };

	if (poll(fds, 2, ms) < 0)
		fail("poll");
	if (fds[0].revents)
		copy(master, out);
	if (fds[1].revents)
		*keys = copy(STDIN_FILENO, master);
}

/*
 * What the command wrote last may be on its way still: a worker of the kernel hands it on. poll()
 * waits for that worker before it says that there is nothing; FIONREAD does not.
 */
static void pass_rest(int master, int out)
{
	struct pollfd rest = { .fd = master, .events = POLLIN };

	while (poll(&rest, 1, 0) > 0 && rest.revents & POLLIN && copy(master, out))
		;
}

int main(int argc, char **argv)
{
	const struct winsize size = { .ws_row = 24, .ws_col = 80 };
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), terminal, out, status;
	struct termios before, after;
	bool keys = true, taken = false;
	pid_t pid;

	if (argc < 3) {
		fputs("usage: terminal OUT COMMAND...\n", stderr);
		return 2;
	}
	if (master < 0 || grantpt(master) || unlockpt(master))
		fail("a new terminal");
	terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	out = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
	if (terminal < 0 || ioctl(terminal, TIOCSWINSZ, &size))
		fail("the new terminal");
	if (out < 0)
		fail(argv[1]);
	before = settings(terminal);
	pid = start(terminal, argv + 2);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		pass(master, out, &keys, LOOK_MS);
		after = settings(terminal);
		taken |= !same(&before, &after);
	}
	pass_rest(master, out);
	after = settings(terminal);
	printf("{\"status\": %d, \"taken\": %s, \"given_back\": %s}\n",
	       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
	       taken ? "true" : "false", same(&before, &after) ? "true" : "false");
	return 0;
}
