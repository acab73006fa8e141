/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What programs that make a known load have in common: how they read their options, when they
 * stop, and how they report the truth. Each is one file with a usage() of its own.
 */
#ifndef MACHINE_LOAD_H
#define MACHINE_LOAD_H
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "cgroup.h"
#include "shm.h"

#define NS_PER_MS 1000000ull

static void __attribute__((noreturn)) usage(void);

static volatile sig_atomic_t stopped;
static char own_cgroup[PATH_MAX];
static unsigned long long own_cgroup_id;

static void __attribute__((noreturn)) fail(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(1);
}

static void on_signal(int signal)
{
	(void)signal;
	stopped = 1;
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static void sleep_ns(uint64_t ns)
{
	struct timespec t = { ns / NS_PER_S, ns % NS_PER_S };

	nanosleep(&t, NULL);
}

/* The value of an option: a whole number up to @max */
static uint64_t number(const char *text, uint64_t max)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-' || v > max)
		usage();
	return v;
}

/* Decimal fractions of @unit_ns, up to @stop or the end; which of them, @ret_end says */
static uint64_t duration(const char *text, char stop, uint64_t unit_ns, const char **ret_end)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || (*end != stop && *end) || !(v >= 0 && v < 1e9))
		usage();
	*ret_end = end;
	return v * unit_ns;
}

/* The value of --seconds */
static uint64_t seconds(const char *text)
{
	const char *end;

	return duration(text, '\0', NS_PER_S, &end);
}

/* Lengths of time to draw from; often just one */
struct span {
	uint64_t least_ns;
	uint64_t most_ns;
};

/* TIME or LEAST-MOST, in milliseconds, up to @stop or the end */
static struct span parse_span(const char *text, char stop, const char **ret_end)
{
	struct span s;

	s.least_ns = duration(text, text[strspn(text, "0123456789.")] == '-' ? '-' : stop,
			      NS_PER_MS, &text);
	s.most_ns = *text == '-' ? duration(text + 1, stop, NS_PER_MS, &text) : s.least_ns;
	if (s.most_ns < s.least_ns)
		usage();
	*ret_end = text;
	return s;
}

/* SIGTERM and SIGINT end the load, @cpu is its CPU (-1: any), @group its cgroup (NULL: as it is) */
static void begin_load(int cpu, const char *group)
{
	struct sigaction action = { .sa_handler = on_signal };
	cpu_set_t set;

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	CPU_ZERO(&set);
	if (cpu >= 0) {
		CPU_SET(cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set))
			fail("--cpu");
	}
	if (group && cgroup_join(group))
		fail(group);
	if (cgroup_of_self(own_cgroup, sizeof(own_cgroup), &own_cgroup_id))
		fail("own cgroup");
}

/* Where the truth is said: behind what @file has, NULL for standard output */
static int open_report(const char *file)
{
	int fd = file ? open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : STDOUT_FILENO;

	if (fd < 0)
		fail(file);
	return fd;
}

/* One write each: lines of several processes must not mix. */
static void write_report(int fd, const char *file, const char *line, int length)
{
	if (write(fd, line, length) != length)
		fail(file ? file : "stdout");
}

#endif
