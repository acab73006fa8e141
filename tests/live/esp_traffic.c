// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A program that moves data on an ESP, and the part of its hardware that counts it:
 * esp_traffic [-f] [-c CPU] [-l TILE] [-d NODE] [-a TILE] WINDOW TILE RATE ON OFF MS
 *
 * For MS milliseconds of time it is busy for ON and sleeps for OFF, and in each busy microsecond
 * RATE accesses to DRAM are counted in the registers of memory tile TILE: as those of a CPU, or
 * with -a of an accelerator in that tile, which works while the program sleeps; -d opens the
 * accelerator's node. A frozen tile keeps its counters, and what was counted meanwhile comes later.
 * Each eighth access of a CPU is a miss of the L2 in tile -l. -f asks for real-time scheduling.
 * Says "moved PID ACCESSES".
 */
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "burn.h"

#define TILE_WORDS (0x200 / 4)
#define STEP_NS	   20000

/* Words of a tile; counter i is at 1 + i. */
enum {
	CONTROL = 0,
	ACCESSES = 1,
	FROM_CACHES = 4,
	TO_CACHES = 5,
	DMA_REQUESTS = 6,
	DMA_RESPONSES = 7,
	L2_MISSES = 11,
	TLB = 14,
	MEMORY_LOW = 15,
	TOTAL_LOW = 17,
	INVOCATIONS = 19,
};

struct tile {
	_Atomic uint32_t *words;
	uint32_t waiting[TILE_WORDS]; /* counted while it is frozen */
};

/* What was counted becomes visible together, as far as that goes. */
static void show(struct tile *t)
{
	if (atomic_load(&t->words[CONTROL]) & 1)
		return;
	for (unsigned int i = 1; i < TILE_WORDS; i++) {
		if (t->waiting[i])
			atomic_fetch_add(&t->words[i], t->waiting[i]);
		t->waiting[i] = 0;
	}
}

static _Atomic uint32_t *map(const char *path)
{
	int fd = open(path, O_RDWR);
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	void *at =
		size > 0 ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;

	if (at == MAP_FAILED) {
		perror(path);
		exit(3);
	}
	return at;
}

/* One step of time: the CPU is busy, or an accelerator while the CPU is not. */
static uint64_t work(struct tile *memory, struct tile *l2, struct tile *acc, uint32_t rate)
{
	uint32_t nr = rate * (STEP_NS / 1000);

	if (acc)
		usleep(STEP_NS / 1000);
	else
		burn_ns(STEP_NS);
	/* A quarter are writes. */
	memory->waiting[acc ? DMA_REQUESTS : FROM_CACHES] += nr / 4;
	memory->waiting[acc ? DMA_RESPONSES : TO_CACHES] += nr - nr / 4;
	if (acc) {
		acc->waiting[TOTAL_LOW] += 4 * nr;
		acc->waiting[MEMORY_LOW] += nr;
		acc->waiting[TLB] += nr / 2;
		acc->waiting[INVOCATIONS]++;
		show(acc);
	}
	if (l2) {
		l2->waiting[L2_MISSES] += nr / 8;
		show(l2);
	}
	memory->waiting[ACCESSES] += nr;
	show(memory);
	return nr;
}

/* The reader may have frozen a tile, and all must be shown before we end. */
static void settle(struct tile *t)
{
	static const uint32_t nothing[TILE_WORDS];

	while (memcmp(t->waiting, nothing, sizeof(nothing)) != 0)
		show(t);
}

int main(int argc, char **argv)
{
	struct sched_param real_time = { .sched_priority = 1 };
	struct tile memory = { 0 }, l2 = { 0 }, acc = { 0 };
	uint64_t moved = 0, end, on, off;
	int option, acc_tile = -1, l2_tile = -1;
	_Atomic uint32_t *window;
	cpu_set_t set;

	while ((option = getopt(argc, argv, "fc:l:d:a:")) != -1) {
		CPU_ZERO(&set);
		if (option == 'a')
			acc_tile = (int)number(optarg);
		else if (option == 'l')
			l2_tile = (int)number(optarg);
		else if (option == 'd' && open(optarg, O_RDWR) >= 0)
			continue;
		else if (option == 'f' && !sched_setscheduler(0, SCHED_FIFO, &real_time))
			continue;
		else if (option == 'c') {
			CPU_SET((int)number(optarg), &set);
			if (sched_setaffinity(0, sizeof(set), &set))
				return 3;
		} else {
			return 3;
		}
	}
	if (argc - optind != 6)
		return 2;
	window = map(argv[optind]);
	memory.words = window + number(argv[optind + 1]) * TILE_WORDS;
	l2.words = window + (l2_tile < 0 ? 0 : l2_tile) * TILE_WORDS;
	acc.words = window + (acc_tile < 0 ? 0 : acc_tile) * TILE_WORDS;
	on = number(argv[optind + 3]) * NS_PER_MS;
	off = number(argv[optind + 4]) * NS_PER_MS;
	end = clock_now_ns(CLOCK_MONOTONIC) + number(argv[optind + 5]) * NS_PER_MS;
	while (clock_now_ns(CLOCK_MONOTONIC) < end) {
		uint64_t begin = clock_now_ns(CLOCK_MONOTONIC);

		while (clock_now_ns(CLOCK_MONOTONIC) < begin + on)
			moved += work(&memory, l2_tile < 0 ? NULL : &l2, acc_tile < 0 ? NULL : &acc,
				      (uint32_t)number(argv[optind + 2]));
		usleep((useconds_t)(off / 1000));
	}
	settle(&memory);
	settle(&l2);
	settle(&acc);
	printf("moved %d %" PRIu64 "\n", getpid(), moved);
	return 0;
}
