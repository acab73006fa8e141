// SPDX-License-Identifier: GPL-2.0-only
/*
 * diskload: a program whose input and output is known to the byte. It reads or writes a disk
 * (or a file) in requests of one size, in bursts with pauses of random length between them,
 * and says at the end how much that was, a JSON line as traffic.c does.
 *
 * Without --buffered no page cache is in between: what it reads and writes is what the disk
 * moves. With --totals it only prints what the machine has counted at its disks so far.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include "cgroup.h"
#include "port.h"
#include "shm.h"

#define NS_PER_MS 1000000ull
#define SECTOR	  512
#define ALIGNMENT 4096
#define MAX_SIZE  (64u << 20)

static struct {
	const char *file;
	bool read;
	bool write;
	bool buffered;
	bool totals;
	int cpu; /* -1: any */
	uint64_t size;
	uint64_t offset;
	uint64_t span;
	uint64_t requests; /* 0: no limit */
	uint64_t burst;
	uint64_t least_pause_ns;
	uint64_t most_pause_ns;
	uint64_t seed;
	uint64_t run_ns;
	const char *cgroup;
	const char *name;
	const char *report;
} options = { .cpu = -1,
	      .size = 65536,
	      .span = 16 << 20,
	      .burst = UINT64_MAX,
	      .run_ns = NS_PER_S,
	      .name = "diskload" };

static struct {
	uint64_t read_bytes;
	uint64_t written_bytes;
	uint64_t requests;
} done;

static volatile sig_atomic_t stopped;

static void __attribute__((noreturn)) fail(const char *what)
{
	fprintf(stderr, "diskload: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void on_signal(int signal)
{
	(void)signal;
	stopped = 1;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * (uint64_t)NS_PER_S + t.tv_nsec;
}

/* A linear generator's upper half: good enough for lengths of pauses */
static uint64_t draw(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 32;
}

static void rest(uint64_t *random)
{
	uint64_t spread = options.most_pause_ns - options.least_pause_ns;
	uint64_t ns = options.least_pause_ns + (spread ? draw(random) * spread >> 32 : 0);
	struct timespec t = { ns / NS_PER_S, ns % NS_PER_S };

	nanosleep(&t, NULL);
}

static void request(int fd, void *buffer, bool write_it)
{
	uint64_t place = options.offset + done.requests * options.size % options.span;
	ssize_t n;

	n = write_it ? pwrite(fd, buffer, options.size, place)
		     : pread(fd, buffer, options.size, place);
	if (n < 0)
		fail(options.file);
	*(write_it ? &done.written_bytes : &done.read_bytes) += n;
	done.requests++;
	if ((uint64_t)n != options.size) {
		fprintf(stderr, "diskload: %s: too short\n", options.file);
		exit(1);
	}
}

static void work(uint64_t start)
{
	int mode = options.write ? (options.read ? O_RDWR : O_WRONLY | O_CREAT) : O_RDONLY;
	int fd = open(options.file, mode | (options.buffered ? 0 : O_DIRECT) | O_CLOEXEC, 0644);
	uint64_t random = options.seed;
	void *buffer;

	if (fd < 0)
		fail(options.file);
	if (posix_memalign(&buffer, ALIGNMENT, options.size))
		fail("buffer");
	memset(buffer, 0x5a, options.size);
	while (!stopped && now_ns() - start < options.run_ns &&
	       (!options.requests || done.requests < options.requests)) {
		request(fd, buffer, options.write && (!options.read || done.requests % 2));
		if (done.requests % options.burst == 0)
			rest(&random);
	}
	close(fd);
	free(buffer);
}

static void report(uint64_t start, const char *cgroup, unsigned long long cgroup_id)
{
	char line[PATH_MAX + 512];
	int fd = STDOUT_FILENO, n;

	if (options.report)
		fd = open(options.report, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0)
		fail(options.report);
	n = snprintf(line, sizeof(line),
		     "{\"name\":\"%s\",\"pid\":%d,\"cgroup_id\":%llu,\"cgroup\":\"%s\","
		     "\"read_bytes\":%llu,\"written_bytes\":%llu,\"requests\":%llu,"
		     "\"start_ns\":%llu,\"end_ns\":%llu}\n",
		     options.name, getpid(), cgroup_id, cgroup, (unsigned long long)done.read_bytes,
		     (unsigned long long)done.written_bytes, (unsigned long long)done.requests,
		     (unsigned long long)start, (unsigned long long)now_ns());
	/* one write: lines of several processes must not mix */
	if (write(fd, line, n) != n)
		fail(options.report ? options.report : "stdout");
}

/* The machine's disks have slots behind those of programs */
static void print_totals(void)
{
	int fd = open("/dev/mem", O_RDONLY | O_SYNC | O_CLOEXEC);
	volatile const uint64_t *port;

	if (fd < 0)
		fail("/dev/mem");
	port = mmap(NULL, PORT_SIZE, PROT_READ, MAP_SHARED, fd, PORT_BASE);
	if (port == MAP_FAILED)
		fail("traffic port");
	for (int disk = 0; disk < SHM_MAX_DISKS; disk++) {
		const uint64_t stride = PORT_SLOT_STRIDE / sizeof(*port);
		volatile const uint64_t *slots = port + PORT_SLOTS / sizeof(*port);
		volatile const uint64_t *r = slots + DISK_READ(disk) * stride;
		volatile const uint64_t *w = slots + DISK_WRITTEN(disk) * stride;

		if (r[PORT_SLOT_BOUND / sizeof(*port)])
			printf("{\"disk\":%d,\"read_bytes\":%llu,\"written_bytes\":%llu}\n", disk,
			       (unsigned long long)r[PORT_SLOT_TOTAL / sizeof(*port)],
			       (unsigned long long)w[PORT_SLOT_TOTAL / sizeof(*port)]);
	}
}

static void __attribute__((noreturn)) usage(void)
{
	fputs("usage: diskload --file FILE [--read] [--write] [--size BYTES] [--buffered]\n"
	      "                [--requests N] [--seconds S] [--burst N --pause MS[-MS]] [--seed "
	      "N]\n"
	      "                [--offset BYTES] [--span BYTES] [--cpu N] [--cgroup PATH]\n"
	      "                [--name NAME] [--report FILE]\n"
	      "       diskload --totals\n"
	      "--size      of a request, a multiple of 512 (default 65536)\n"
	      "--burst     requests between two pauses\n"
	      "--span      of the file that is used, again and again, from --offset on\n"
	      "--cgroup    join this group first, below " CGROUP_MOUNT "; made if needed\n"
	      "--report    append the truth to FILE (default: standard output)\n",
	      stderr);
	exit(2);
}

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

static uint64_t duration(const char *text, char stop, uint64_t unit_ns, const char **ret_end)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || (*end != stop && *end) || !(v >= 0 && v < 1e9))
		usage();
	*ret_end = end;
	return v * unit_ns;
}

static void parse_pause(const char *text)
{
	options.least_pause_ns = duration(text, '-', NS_PER_MS, &text);
	options.most_pause_ns = options.least_pause_ns;
	if (*text)
		options.most_pause_ns = duration(text + 1, '\0', NS_PER_MS, &text);
	if (options.most_pause_ns < options.least_pause_ns)
		usage();
}

static void parse_option(int c)
{
	const char *end;

	if (c == 'f')
		options.file = optarg;
	else if (c == 'r')
		options.read = true;
	else if (c == 'w')
		options.write = true;
	else if (c == 'b')
		options.buffered = true;
	else if (c == 'T')
		options.totals = true;
	else if (c == 's')
		options.size = number(optarg, MAX_SIZE);
	else if (c == 'n')
		options.requests = number(optarg, UINT64_MAX);
	else if (c == 't')
		options.run_ns = duration(optarg, '\0', NS_PER_S, &end);
	else if (c == 'B')
		options.burst = number(optarg, UINT64_MAX);
	else if (c == 'p')
		parse_pause(optarg);
	else if (c == 'S')
		options.seed = number(optarg, UINT64_MAX);
	else if (c == 'O')
		options.offset = number(optarg, INT64_MAX);
	else if (c == 'R')
		options.span = number(optarg, INT64_MAX);
	else if (c == 'c')
		options.cpu = number(optarg, CPU_SETSIZE - 1);
	else if (c == 'g')
		options.cgroup = optarg;
	else if (c == 'N')
		options.name = optarg;
	else if (c == 'o')
		options.report = optarg;
	else
		usage();
}

static void parse_options(int argc, char **argv)
{
	static const struct option known[] = {
		{ "file", required_argument, NULL, 'f' },
		{ "read", no_argument, NULL, 'r' },
		{ "write", no_argument, NULL, 'w' },
		{ "buffered", no_argument, NULL, 'b' },
		{ "totals", no_argument, NULL, 'T' },
		{ "size", required_argument, NULL, 's' },
		{ "requests", required_argument, NULL, 'n' },
		{ "seconds", required_argument, NULL, 't' },
		{ "burst", required_argument, NULL, 'B' },
		{ "pause", required_argument, NULL, 'p' },
		{ "seed", required_argument, NULL, 'S' },
		{ "offset", required_argument, NULL, 'O' },
		{ "span", required_argument, NULL, 'R' },
		{ "cpu", required_argument, NULL, 'c' },
		{ "cgroup", required_argument, NULL, 'g' },
		{ "name", required_argument, NULL, 'N' },
		{ "report", required_argument, NULL, 'o' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1)
		parse_option(c);
	if (optind < argc)
		usage();
	if (options.totals)
		return;
	if (!options.file || (!options.read && !options.write) || !options.burst || !options.size ||
	    options.size % SECTOR || options.span < options.size)
		usage();
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	unsigned long long cgroup_id;
	char cgroup[PATH_MAX];
	uint64_t start;
	cpu_set_t set;

	parse_options(argc, argv);
	if (options.totals) {
		print_totals();
		return 0;
	}
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	CPU_ZERO(&set);
	if (options.cpu >= 0) {
		CPU_SET(options.cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set))
			fail("--cpu");
	}
	if (options.cgroup && cgroup_join(options.cgroup))
		fail(options.cgroup);
	if (cgroup_of_self(cgroup, sizeof(cgroup), &cgroup_id))
		fail("own cgroup");
	start = now_ns();
	work(start);
	report(start, cgroup, cgroup_id);
	return 0;
}
