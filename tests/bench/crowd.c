// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A crowd of processes that live but rarely run: starts N of them, says "ready",
 * and lets each run for a moment every so often, until its standard input ends.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A process that is never on a CPU costs the tracer nothing: that would be too easy. */
#define NAP_MS 500

static void member(pid_t parent)
{
	struct timespec nap = { 0, NAP_MS * 1000000 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent)
		nanosleep(&nap, NULL);
	_exit(0);
}

int main(int argc, char **argv)
{
	int nr = argc == 2 ? atoi(argv[1]) : 0, i;
	pid_t self = getpid(), pid = 0;
	char byte;

	if (nr < 1) {
		fprintf(stderr, "usage: crowd N\n");
		return 2;
	}
	setpgid(0, 0);
	for (i = 0; i < nr && pid >= 0; i++) {
		pid = fork();
		if (!pid)
			member(self);
	}
	if (pid < 0)
		perror("crowd: fork");
	else
		puts("ready");
	fflush(stdout);
	while (pid > 0 && read(STDIN_FILENO, &byte, 1) > 0)
		;
	signal(SIGTERM, SIG_IGN);
	kill(0, SIGTERM);
	while (wait(NULL) > 0)
		;
	return pid < 0;
}
