/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * t410ctl: describe the traffic of a virtual machine, before or while it runs.
 *
 * The commands are also the lines of a scenario file. Nothing that is changed
 * makes a counter jump: a new rate counts from now on, and a stopped flow keeps
 * what it has counted.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "flow.h"
#include "names.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MAX_WORDS     64
#define EXIT_USAGE    2

struct shm *shm;
uint64_t now;

static void ramp_change(struct ramp *r, uint64_t rate)
{
	*r = (struct ramp){ .base = ramp_at(r, now), .rate = rate, .since_ns = now };
}

static int cmd_clock(int nr, char **words)
{
	enum kind kind = kind_by_name(words[1]);
	uint64_t hz;

	(void)nr;
	if (kind == KIND_NONE)
		return complain("unknown kind", words[1]);
	if (parse_number(words[2], &hz))
		return complain("bad frequency", words[2]);
	ramp_change(&shm->clock[kind], hz);
	return 0;
}

static int cmd_flow(int nr, char **words)
{
	return flow_add(words[1], words[2], NO_SLOT, nr - 3, words + 3);
}

static int cmd_slot(int nr, char **words)
{
	struct slot *s;
	uint64_t n;
	int err;

	if (parse_number(words[1], &n) || n >= SHM_MAX_SLOTS)
		return complain("bad slot number", words[1]);
	err = flow_add(words[2], words[3], (int)n, nr - 4, words + 4);
	if (err)
		return err;
	s = &shm->slot[n];
	s->bound = 1;
	snprintf(s->name, sizeof(s->name), "%s", words[2]);
	return 0;
}

/*
 * One direction of a disk: @slot feeds a flow. @words are the command's; copies of them are
 * used, for who reads words cuts them to pieces.
 */
static int half_of_disk(const char *direction, uint32_t slot, int nr, char **words)
{
	char copies[MAX_WORDS][SHM_NAME_LEN], name[2 * SHM_NAME_LEN], dir[16];
	char *list[MAX_WORDS];
	int n = 0;

	for (int i = 3; i < nr; i++) {
		const char *mark = strpbrk(words[i], "=:");

		if (strlen(words[i]) >= sizeof(copies[0]) || !mark || *mark == ':' ||
		    !strncmp(words[i], "dir=", 4))
			return complain("not for a disk", words[i]);
		list[n] = strcpy(copies[n], words[i]);
		n++;
	}
	snprintf(dir, sizeof(dir), "dir=%s", direction);
	list[n++] = dir;
	snprintf(name, sizeof(name), "%s.%s", words[1], direction);
	return flow_add(name, words[2], (int)slot, n, list);
}

static int cmd_disk(int nr, char **words)
{
	uint32_t nr_flows = shm->nr_flows, n = shm->nr_disks;
	int err;

	if (strlen(words[1]) >= SHM_NAME_LEN)
		return complain("name too long", words[1]);
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(shm->slot[DISK_READ(i)].name, words[1]))
			return complain("a disk is described once", words[1]);
	if (n == SHM_MAX_DISKS)
		return complain("too many disks", words[1]);
	/* Who writes to a disk lets it read memory */
	err = half_of_disk("rd", DISK_WRITTEN(n), nr, words);
	if (!err)
		err = half_of_disk("wr", DISK_READ(n), nr, words);
	if (err) {
		shm->nr_flows = nr_flows;
		return err;
	}
	for (uint32_t slot = DISK_READ(n); slot <= DISK_WRITTEN(n); slot++) {
		shm->slot[slot].bound = 1;
		strcpy(shm->slot[slot].name, words[1]);
	}
	shm->nr_disks++;
	return 0;
}

static int cmd_rate(int nr, char **words)
{
	bool found = false;
	uint64_t rate;

	(void)nr;
	if (parse_number(words[3], &rate))
		return complain("bad rate", words[3]);
	for (uint32_t i = 0; i < shm->nr_flows; i++) {
		struct flow *f = &shm->flow[i];
		uint64_t id;

		if (strcmp(f->name, words[1]))
			continue;
		if (event_by_name(f->kind, words[2], &id))
			return complain("unknown event", words[2]);
		for (uint32_t e = 0; e < f->nr_events; e++)
			if (f->event[e].id == id) {
				ramp_change(&f->event[e].ramp, rate);
				found = true;
			}
	}
	return found ? 0 : complain("no flow with this event", words[1]);
}

static int cmd_stop(int nr, char **words)
{
	bool found = false;

	(void)nr;
	for (uint32_t i = 0; i < shm->nr_flows; i++) {
		struct flow *f = &shm->flow[i];

		if (strcmp(f->name, words[1]))
			continue;
		for (uint32_t e = 0; e < f->nr_events; e++)
			f->event[e].ramp =
				(struct ramp){ .base = flow_event_total(shm, f, &f->event[e], now),
					       .since_ns = now };
		f->slot = NO_SLOT;
		found = true;
	}
	return found ? 0 : complain("no such flow", words[1]);
}

static int cmd_list(int nr, char **words)
{
	(void)nr;
	(void)words;
	for (uint32_t i = 0; i < shm->nr_flows; i++) {
		const struct flow *f = &shm->flow[i];

		printf("%s %s socket=%u rc=%u port=%u bdf=0x%04x src=%u dst=%u addr=0x%llx "
		       "req=%u latency=%u slot=%d",
		       f->name, kind_name(f->kind), f->socket, f->rc, f->port, f->bdf, f->src,
		       f->dst, (unsigned long long)f->address, f->request_bytes, f->latency_cycles,
		       f->slot);
		for (uint32_t e = 0; e < f->nr_events; e++)
			printf(" 0x%x:%llu/s=%llu", f->event[e].id,
			       (unsigned long long)f->event[e].ramp.rate,
			       (unsigned long long)flow_event_total(shm, f, &f->event[e], now));
		putchar('\n');
	}
	return 0;
}

static int cmd_stat(int nr, char **words)
{
	(void)nr;
	(void)words;
	for (int i = 0; i < SHM_MAX_SLOTS; i++) {
		const struct slot *s = &shm->slot[i];

		if (s->bound || s->writes)
			printf("slot %d name %s bytes %llu writes %llu\n", i,
			       s->bound ? s->name : "-", (unsigned long long)s->bytes,
			       (unsigned long long)s->writes);
	}
	for (uint32_t i = 0; i < shm->nr_disks; i++) {
		const struct slot *r = &shm->slot[DISK_READ(i)], *w = &shm->slot[DISK_WRITTEN(i)];

		printf("disk %s read_bytes %llu reads %llu written_bytes %llu writes %llu\n",
		       r->name, (unsigned long long)r->bytes, (unsigned long long)r->writes,
		       (unsigned long long)w->bytes, (unsigned long long)w->writes);
	}
	return 0;
}

static int cmd_load(int nr, char **words);

static const struct command {
	const char *name;
	int min_words, max_words;
	int (*run)(int nr, char **words);
	const char *usage;
} commands[] = {
	{ "load", 2, 2, cmd_load, "load FILE" },
	{ "clock", 3, 3, cmd_clock, "clock KIND HZ" },
	{ "flow", 4, MAX_WORDS, cmd_flow, "flow NAME KIND key=value... EVENT:RATE..." },
	{ "slot", 5, MAX_WORDS, cmd_slot, "slot N NAME KIND dir=DIR key=value..." },
	{ "disk", 3, MAX_WORDS, cmd_disk, "disk NAME KIND key=value..." },
	{ "rate", 4, 4, cmd_rate, "rate NAME EVENT RATE" },
	{ "stop", 2, 2, cmd_stop, "stop NAME" },
	{ "list", 1, 1, cmd_list, "list" },
	{ "stat", 1, 1, cmd_stat, "stat" },
};

static int run_command(int nr, char **words)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(commands[i].name, words[0]))
			continue;
		if (nr < commands[i].min_words || nr > commands[i].max_words)
			return complain("usage", commands[i].usage);
		return commands[i].run(nr, words);
	}
	return complain("unknown command", words[0]);
}

static int run_line(char *line)
{
	char *words[MAX_WORDS], *save;
	int nr = 0;

	line[strcspn(line, "#\n")] = 0;
	for (char *w = strtok_r(line, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
		if (nr == MAX_WORDS)
			return complain("too many words", w);
		words[nr++] = w;
	}
	if (!nr)
		return 0;
	if (!strcmp(words[0], "load"))
		return complain("no load inside of a file", words[0]);
	return run_command(nr, words);
}

static int cmd_load(int nr, char **words)
{
	FILE *f = fopen(words[1], "r");
	char line[2048];
	int err = 0;

	(void)nr;
	if (!f)
		return complain(strerror(errno), words[1]);
	for (int n = 1; !err && fgets(line, sizeof(line), f); n++) {
		err = run_line(line);
		if (err)
			fprintf(stderr, "t410ctl: in line %d of %s\n", n, words[1]);
	}
	fclose(f);
	return err;
}

/* The lock, which lasts until we exit, makes this the only describer */
static int open_shm(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *map;

	if (fd < 0 || ftruncate(fd, sizeof(*shm)) || flock(fd, LOCK_EX))
		return complain(strerror(errno), path);
	map = mmap(NULL, sizeof(*shm), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return complain(strerror(errno), path);
	shm = map;
	if (shm->magic && shm->magic != SHM_MAGIC)
		return complain("is no traffic file of this machine", path);
	shm->magic = SHM_MAGIC;
	return 0;
}

static uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
	int err;

	if (argc < 3) {
		fprintf(stderr, "usage: t410ctl FILE COMMAND\n");
		for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
			fprintf(stderr, "       %s\n", commands[i].usage);
		return EXIT_USAGE;
	}
	if (open_shm(argv[1]))
		return EXIT_FAILURE;
	/* Odd while we write; |1, because an earlier writer may have been killed */
	__atomic_store_n(&shm->seq, shm->seq | 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	/* after that: readers compute no total of a time later than ours meanwhile */
	now = monotonic_ns();
	err = run_command(argc - 2, argv + 2);
	__atomic_fetch_add(&shm->seq, 1, __ATOMIC_RELEASE);
	return err ? EXIT_USAGE : EXIT_SUCCESS;
}
