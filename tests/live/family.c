// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Processes with relations and names: family MODE [MS [PROGRAM ARGS]]
 *
 * Each waits for a line on the standard input, then
 *   tree      starts a child, whose child outlives it and has a child of its own
 *             then; and a daemon (its own session, no parent)
 *   rename    runs under three names in turn: two given with prctl, then PROGRAM's;
 *             waits for a line before each new one
 *   hostile   children with names that would harm a terminal or a JSON file
 *   exec      PROGRAM is started by a second thread
 *   exec-late the same, MS after the first thread has ended
 *   zombie    waits for another line with a child that has ended, "child PID" said first
 *   idle      waits for another line with a second thread, "thread TID" said first
 * Each process uses MS of CPU time and says "process PID NAME NS" at its end, and who waits for
 * it "ended PID NS".
 */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

static uint64_t each_ns = 60 * NS_PER_MS;

static void named(const char *name)
{
	prctl(PR_SET_NAME, name);
	burn_ns(each_ns);
	say_process(getpid(), name);
}

/* Returns twice, like fork; exits when that fails. */
static pid_t split(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0) {
		perror("family: fork");
		exit(3);
	}
	return pid;
}

static void wait_all(void)
{
	while (wait_for_child() > 0)
		;
	fflush(stdout);
}

static void grandchild(pid_t parent)
{
	/* Not often, see whole_ns() of held.py */
	while (getppid() == parent)
		usleep(20000);
	if (!split()) {
		named("fam-orphan");
		_exit(0);
	}
	wait_all();
	named("fam-grand");
	_exit(0);
}

static int tree(void)
{
	prctl(PR_SET_NAME, "fam-top");
	if (!split()) {
		pid_t self = getpid();

		if (!split())
			grandchild(self);
		named("fam-child");
		_exit(0);
	}
	if (!split()) {
		if (!split()) {
			setsid();
			named("fam-daemon");
			_exit(0);
		}
		_exit(0);
	}
	wait_all();
	named("fam-top");
	return 0;
}

/* By the byte: what comes behind the line is for others. */
static void wait_for_a_line(void)
{
	char c = 0;

	while (c != '\n' && read(STDIN_FILENO, &c, 1) == 1)
		;
}

static int rename_self(char **command)
{
	named("name-one");
	wait_for_a_line();
	named("name-two");
	wait_for_a_line();
	execv(command[0], command);
	perror("family: exec");
	return 3;
}

static int hostile(void)
{
	static const char *const names[] = {
		"\033[2J\033[31mred",	   "\xff\xfe\x80\xc3(", "a\nb\tc\"\\d",
		"\xe2\x80\xae\xc2\x9bRTL", "</script>&<b>",	"%s%n%p%n",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (split())
			continue;
		prctl(PR_SET_NAME, names[i]);
		burn_ns(each_ns);
		say_process(getpid(), "hostile");
		_exit(0);
	}
	wait_all();
	return 0;
}

static void *sleeper(void *arg)
{
	(void)arg;
	printf("thread %d\n", gettid());
	fflush(stdout);
	for (;;)
		pause();
	return NULL;
}

static char **program;
static bool late;

static void *starter(void *arg)
{
	(void)arg;
	burn_ns(each_ns);
	if (late)
		usleep(each_ns / 1000);
	execv(program[0], program);
	perror("family: exec");
	exit(3);
}

static int exec_by_thread(char **command, bool alone)
{
	pthread_t thread;

	program = command;
	late = alone;
	if (pthread_create(&thread, NULL, starter, NULL))
		return 3;
	if (alone)
		pthread_exit(NULL);
	pthread_join(thread, NULL);
	return 3;
}

static int zombie(void)
{
	siginfo_t info;
	pid_t pid = split();

	if (!pid)
		_exit(0);
	if (waitid(P_PID, pid, &info, WEXITED | WNOWAIT))
		return 3;
	printf("child %d\n", pid);
	fflush(stdout);
	wait_for_a_line();
	return 0;
}

static int idle(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, sleeper, NULL))
		return 3;
	wait_for_a_line();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	wait_for_a_line();
	if (argc > 2)
		each_ns = number(argv[2]) * NS_PER_MS;
	if (!strcmp(argv[1], "tree"))
		return tree();
	if (!strcmp(argv[1], "rename") && argc > 3)
		return rename_self(argv + 3);
	if (!strncmp(argv[1], "exec", 4) && argc > 3)
		return exec_by_thread(argv + 3, argv[1][4]);
	if (!strcmp(argv[1], "zombie"))
		return zombie();
	if (!strcmp(argv[1], "hostile"))
		return hostile();
	if (!strcmp(argv[1], "idle"))
		return idle();
	fprintf(stderr, "family: unknown mode %s\n", argv[1]);
	return 2;
}
