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
#include <getopt.h>
#include <stdbool.h>
#include <sys/mman.h>
#include "load.h"
#include "port.h"
#include "shm.h"

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
	struct span pause;
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

/* A linear generator's upper half: good enough for lengths of pauses */
static uint64_t draw(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 32;
}

static void rest(uint64_t *random)
{
	uint64_t spread = options.pause.most_ns - options.pause.least_ns;

	sleep_ns(options.pause.least_ns + (spread ? draw(random) * spread >> 32 : 0));
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
	while (!stopped && now_ns(CLOCK_MONOTONIC) - start < options.run_ns &&
	       (!options.requests || done.requests < options.requests)) {
		request(fd, buffer, options.write && (!options.read || done.requests % 2));
		if (done.requests % options.burst == 0)
			rest(&random);
	}
	close(fd);
	free(buffer);
}

static void report(uint64_t start)
{
	int fd = open_report(options.report), n;
	char line[PATH_MAX + 512];

	n = snprintf(line, sizeof(line),
		     "{\"name\":\"%s\",\"pid\":%d,\"cgroup_id\":%llu,\"cgroup\":\"%s\","
		     "\"read_bytes\":%llu,\"written_bytes\":%llu,\"requests\":%llu,"
		     "\"start_ns\":%llu,\"end_ns\":%llu}\n",
		     options.name, getpid(), own_cgroup_id, own_cgroup,
		     (unsigned long long)done.read_bytes, (unsigned long long)done.written_bytes,
		     (unsigned long long)done.requests, (unsigned long long)start,
		     (unsigned long long)now_ns(CLOCK_MONOTONIC));
	write_report(fd, options.report, line, n);
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
		options.run_ns = seconds(optarg);
	else if (c == 'B')
		options.burst = number(optarg, UINT64_MAX);
	else if (c == 'p')
		options.pause = parse_span(optarg, '\0', &end);
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
	uint64_t start;

	parse_options(argc, argv);
	if (options.totals) {
		print_totals();
		return 0;
	}
	begin_load(options.cpu, options.cgroup);
	start = now_ns(CLOCK_MONOTONIC);
	work(start);
	report(start);
	return 0;
}
