/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cache model: what loads and stores of guest programs become behind the caches.
 *
 * Each emulated CPU has a private L2, the CPUs of a socket share an LLC. Both are
 * set-associative, write-back and write-allocate, with lines of 64 bytes; the least recently
 * used line of a set goes first. A store that misses reads its line first. What the L2 gives
 * up dirty goes to the LLC, what the LLC gives up dirty to memory. An LLC keeps what its L2s
 * dropped and does not invalidate what they have. Caches do not hear of each other's stores:
 * a line that two CPUs write is dirty in both.
 *
 * Lines belong to who stored to them last: a write-back is the owner's, whoever pushed it out.
 * Reads are those of whom the CPU worked for. Who that is comes from the guest's module.
 */
#ifndef T410_CACHE_H
#define T410_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#define CACHE_MAX_CPUS	 128
#define CACHE_MAX_OWNERS 65536 /* as many as a line's 16 bits can tell apart */

/** struct cache_counts - what a CPU has done since the model was switched on */
struct cache_counts {
	uint64_t loads, stores; /* lines touched */
	uint64_t refills;	/* lines read from memory */
	uint64_t write_backs;	/* lines that left its L2 dirty */
	uint64_t lost;		/* accesses whose address QEMU did not tell */
};

/** struct cache_owner - whose traffic it is, and how much: in lines */
struct cache_owner {
	uint64_t cgroup, pid;
	uint64_t refills;     /* lines read for it */
	uint64_t write_backs; /* lines written that it had stored to */
	uint64_t pushed_out;  /* lines written because it needed the room */
};

/**
 * cache_setup() - make empty caches
 * @sockets: CPUs are divided evenly among them, in order
 * @l2_kib: each CPU's, a power of two
 * @llc_kib: each socket's, a power of two
 *
 * Return: 0, -EINVAL for sizes that are none, or -ENOMEM.
 */
int cache_setup(unsigned int cpus, unsigned int sockets, unsigned int l2_kib, unsigned int llc_kib);

/** cache_work_for() - from now on CPU @cpu works for a process; by its own thread */
void cache_work_for(unsigned int cpu, uint64_t cgroup, uint64_t pid);

/** cache_touch() - a load or store of one line; by the thread of @cpu */
void cache_touch(unsigned int cpu, uint64_t line, bool store);

/** cache_lose() - an access that cannot be followed */
void cache_lose(unsigned int cpu);

/** cache_count() - counts of a CPU; all zero for one that does not exist */
struct cache_counts cache_count(unsigned int cpu);

/** cache_get_owner() - owner @i, false behind the last one */
bool cache_get_owner(unsigned int i, struct cache_owner *ret);

/** cache_moved() - told of a line that a socket read from or wrote to memory; of the caller */
void cache_moved(unsigned int socket, bool written);

#endif
