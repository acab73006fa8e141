// SPDX-License-Identifier: GPL-2.0-only
/*
 * count: count uncore events, independently of perf and of t410trace, so that a test
 * of either does not rest on itself. Numbers and bit positions come from sysfs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <linux/perf_event.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PMUS	   "/sys/bus/event_source/devices"
#define MAX_EVENTS 64
#define NS_PER_S   1000000000ull
/* Readings to choose from, see read_event() */
#define TRIES	   5

struct reading {
	uint64_t value;
	uint64_t enabled_ns;
	uint64_t running_ns;
};

static struct event {
	const char *spec;
	int fd;
	bool ok; /* the last reading was one */
	struct reading first;
	struct reading last;
} events[MAX_EVENTS];
static unsigned int nr_events;
static int forced_cpu = -1;
static bool pinned;

static int read_sysfs(const char *pmu, const char *folder, const char *name, char *text,
		      size_t size)
{
	char path[PATH_MAX];
	FILE *f;
	bool ok;

	snprintf(path, sizeof(path), PMUS "/%s/%s%s", pmu, folder, name);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	ok = fgets(text, size, f);
	fclose(f);
	if (!ok)
		return -EIO;
	text[strcspn(text, "\n")] = '\0';
	return 0;
}

/* format/@field says which bits of which word, as "config1:8-23" */
static int set_field(struct perf_event_attr *attr, const char *pmu, const char *field,
		     uint64_t value)
{
	unsigned int low, high;
	uint64_t *word;
	char text[64];
	int which = 0, r, used = 0;

	r = read_sysfs(pmu, "format/", field, text, sizeof(text));
	if (r)
		return r;
	if (sscanf(text, "config:%u%n", &low, &used) == 1)
		which = 0;
	else if (sscanf(text, "config%d:%u%n", &which, &low, &used) != 2)
		return -EINVAL;
	if (sscanf(text + used, "-%u", &high) != 1)
		high = low;
	if (high > 63 || low > high || (high - low < 63 && value >> (high - low + 1)))
		return -ERANGE;
	word = which == 0   ? (uint64_t *)&attr->config
	       : which == 1 ? (uint64_t *)&attr->config1
			    : (uint64_t *)&attr->config2;
	*word |= value << low;
	return 0;
}

/* FIELD=VALUE, or the name of an event, whose file holds such a pair */
static int set_term(struct perf_event_attr *attr, const char *pmu, char *term)
{
	char text[64];
	char *equals = strchr(term, '=');
	char *end;
	uint64_t value;
	int r;

	if (!equals) {
		r = read_sysfs(pmu, "events/", term, text, sizeof(text));
		if (r)
			return r;
		term = text;
		equals = strchr(term, '=');
		if (!equals)
			return -EINVAL;
	}
	*equals = '\0';
	value = strtoull(equals + 1, &end, 0);
	if (end == equals + 1 || *end)
		return -EINVAL;
	return set_field(attr, pmu, term, value);
}

static int parse_spec(const char *spec, struct perf_event_attr *attr, int *ret_cpu)
{
	char copy[512], text[64];
	char *terms = copy, *pmu, *term;
	int r;

	*attr = (struct perf_event_attr){
		.size = sizeof(*attr),
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	snprintf(copy, sizeof(copy), "%s", spec);
	pmu = strsep(&terms, "/");
	if (!terms)
		return -EINVAL;
	terms[strcspn(terms, "/")] = '\0';
	r = read_sysfs(pmu, "", "type", text, sizeof(text));
	if (r)
		return r;
	attr->type = strtoul(text, NULL, 10);
	r = read_sysfs(pmu, "", "cpumask", text, sizeof(text));
	if (r)
		return r;
	*ret_cpu = forced_cpu >= 0 ? forced_cpu : atoi(text);
	while ((term = strsep(&terms, ","))) {
		r = set_term(attr, pmu, term);
		if (r)
			return r;
	}
	return 0;
}

static bool open_event(const char *spec, int leader)
{
	struct perf_event_attr attr;
	int cpu, fd, r;

	r = parse_spec(spec, &attr, &cpu);
	if (r || nr_events == MAX_EVENTS) {
		printf("%s bad %d %s\n", spec, -r, strerror(-r));
		return false;
	}
	attr.pinned = pinned && leader < 0;
	fd = syscall(SYS_perf_event_open, &attr, -1, cpu, leader, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0) {
		printf("%s refused %d %s\n", spec, errno, strerror(errno));
		return false;
	}
	events[nr_events++] = (struct event){ .spec = spec, .fd = fd };
	return true;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/*
 * The kernel takes the time, then the value. An emulated CPU may be off its host CPU
 * for milliseconds in between, which shows as a long read: of some, the quickest is
 * the one to believe.
 */
static bool read_event(int fd, struct reading *ret_reading)
{
	uint64_t best = UINT64_MAX, begin, took;
	struct reading r;
	int i;

	for (i = 0; i < TRIES; i++) {
		begin = now_ns();
		/* a pinned event that could not run reads as end of file */
		if (read(fd, &r, sizeof(r)) != sizeof(r))
			return false;
		took = now_ns() - begin;
		if (took >= best)
			continue;
		best = took;
		*ret_reading = r;
	}
	return true;
}

static void read_first(void)
{
	unsigned int i;

	for (i = 0; i < nr_events; i++)
		events[i].ok = read_event(events[i].fd, &events[i].first);
}

static void read_last(void)
{
	unsigned int i;

	for (i = 0; i < nr_events; i++)
		events[i].ok = read_event(events[i].fd, &events[i].last);
}

static void print_results(void)
{
	const struct event *e;

	for (e = events; e < events + nr_events; e++) {
		if (!e->ok) {
			printf("%s no value\n", e->spec);
			continue;
		}
		printf("%s value %llu enabled_ns %llu running_ns %llu\n", e->spec,
		       (unsigned long long)(e->last.value - e->first.value),
		       (unsigned long long)(e->last.enabled_ns - e->first.enabled_ns),
		       (unsigned long long)(e->last.running_ns - e->first.running_ns));
	}
	fflush(stdout);
}

static void wait_seconds(double seconds)
{
	struct timespec t = { (time_t)seconds, (seconds - (time_t)seconds) * NS_PER_S };

	nanosleep(&t, NULL);
}

/* Count all open events for that time, and close them. */
static void measure(double seconds)
{
	read_first();
	wait_seconds(seconds);
	read_last();
	print_results();
	while (nr_events)
		close(events[--nr_events].fd);
}

/* The command's status */
static int measure_command(char **command)
{
	int status;
	pid_t pid;

	fflush(stdout);
	read_first();
	pid = fork();
	if (!pid) {
		execvp(command[0], command);
		fprintf(stderr, "count: %s: %s\n", command[0], strerror(errno));
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	read_last();
	print_results();
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void __attribute__((noreturn)) usage(void)
{
	fputs("usage: count [--cpu N] [--pinned] each   SECONDS EVENT...    one after the other\n"
	      "                                  count  SECONDS EVENT...    all at the same time\n"
	      "                                  group  SECONDS EVENT...    as one perf group\n"
	      "                                  around EVENT... -- COMMAND while COMMAND runs\n"
	      "EVENT is PMU/TERM,.../ with the names of sysfs. --cpu: open there, not on the "
	      "PMU's\n"
	      "own CPU. Output: EVENT value N enabled_ns N running_ns N, or EVENT refused ERRNO "
	      "...\n",
	      stderr);
	exit(2);
}

static int around(char **arguments)
{
	for (; *arguments; arguments++) {
		if (!strcmp(*arguments, "--") && arguments[1])
			return measure_command(arguments + 1);
		if (!open_event(*arguments, -1))
			return 1;
	}
	usage();
}

int main(int argc, char **argv)
{
	static const struct option known[] = { { "cpu", required_argument, NULL, 'c' },
					       { "pinned", no_argument, NULL, 'p' },
					       { 0 } };
	const char *mode;
	double seconds;
	char **spec;
	int c;

	/* "+": options of the command are not ours */
	while ((c = getopt_long(argc, argv, "+", known, NULL)) != -1) {
		if (c == 'c')
			forced_cpu = atoi(optarg);
		else if (c == 'p')
			pinned = true;
		else
			usage();
	}
	if (argc - optind < 3)
		usage();
	mode = argv[optind++];
	if (!strcmp(mode, "around"))
		return around(argv + optind);
	seconds = atof(argv[optind++]);
	if (seconds <= 0 ||
	    (strcmp(mode, "each") && strcmp(mode, "count") && strcmp(mode, "group")))
		usage();
	for (spec = argv + optind; *spec; spec++) {
		open_event(*spec, !strcmp(mode, "group") && nr_events ? events[0].fd : -1);
		if (!strcmp(mode, "each"))
			measure(seconds);
	}
	if (nr_events)
		measure(seconds);
	return 0;
}
