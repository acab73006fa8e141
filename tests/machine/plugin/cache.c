/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The caches. A set is an array of words, the last used line first. The L2 of a CPU is touched
 * by that CPU's thread alone; each set of an LLC has a lock of its own, which is held for some
 * ten instructions. Nothing is sampled: every access goes through.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "shm.h"

#define L2_WAYS	      8
#define LLC_WAYS      16

/* A line in a set: 0 is none. QEMU's addresses have 47 bits, a line's number 41 */
#define LINE_BITS     42
#define LINE_NUMBER   ((1ull << LINE_BITS) - 1)
#define OWNER_SHIFT   LINE_BITS
#define OWNER_BITS    16
#define OWNER_FIELD   (((1ull << OWNER_BITS) - 1) << OWNER_SHIFT)
#define DIRTY	      (1ull << 62)
#define VALID	      (1ull << 63)
#define OWNER_OF(way) (((way)&OWNER_FIELD) >> OWNER_SHIFT)

struct l2 {
	struct cache_counts count;
	unsigned int socket;
	uint64_t owner; /* in place, as in a line */
	uint64_t (*sets)[L2_WAYS];
} __attribute__((aligned(128)));

struct llc_set {
	uint64_t ways[LLC_WAYS];
	char lock;
};

static struct {
	unsigned int cpus;
	uint64_t l2_mask, llc_mask;
	struct l2 *l2;
	struct llc_set *llc[2];
	struct cache_owner *owners;
	unsigned int nr_owners;
} cache;

static bool is_power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

static void *zeros(size_t nr, size_t size)
{
	void *p;

	if (posix_memalign(&p, 128, nr * size))
		return NULL;
	return memset(p, 0, nr * size);
}

int cache_setup(unsigned int cpus, unsigned int sockets, unsigned int l2_kib, unsigned int llc_kib)
{
	uint64_t l2_sets = (uint64_t)l2_kib * 1024 / LINE_BYTES / L2_WAYS;
	uint64_t llc_sets = (uint64_t)llc_kib * 1024 / LINE_BYTES / LLC_WAYS;

	if (!is_power_of_two(l2_sets) || !is_power_of_two(llc_sets) || !sockets || sockets > 2 ||
	    cpus < sockets || cpus > CACHE_MAX_CPUS)
		return -EINVAL;
	cache.l2_mask = l2_sets - 1;
	cache.llc_mask = llc_sets - 1;
	cache.l2 = zeros(cpus, sizeof(*cache.l2));
	cache.owners = zeros(CACHE_MAX_OWNERS, sizeof(*cache.owners));
	if (!cache.l2 || !cache.owners)
		return -ENOMEM;
	for (unsigned int i = 0; i < cpus; i++) {
		cache.l2[i].socket = i / (cpus / sockets) < sockets ? i / (cpus / sockets) : 0;
		cache.l2[i].sets = zeros(l2_sets, sizeof(*cache.l2[i].sets));
		if (!cache.l2[i].sets)
			return -ENOMEM;
	}
	for (unsigned int i = 0; i < sockets; i++) {
		cache.llc[i] = zeros(llc_sets, sizeof(*cache.llc[i]));
		if (!cache.llc[i])
			return -ENOMEM;
	}
	/* owner 0: nobody has said yet for whom the CPU works */
	cache.nr_owners = 1;
	cache.cpus = cpus;
	return 0;
}

/* Called by one CPU at a time, under QEMU's lock: no two find the same place */
static unsigned int find_owner(uint64_t cgroup, uint64_t pid)
{
	static uint16_t index[2 * CACHE_MAX_OWNERS];
	uint64_t hash = (cgroup * 0x9e3779b97f4a7c15ull + pid) * 0xff51afd7ed558ccdull >> 47;

	for (;; hash = (hash + 1) % (2 * CACHE_MAX_OWNERS)) {
		unsigned int i = index[hash];

		if (i && cache.owners[i].cgroup == cgroup && cache.owners[i].pid == pid)
			return i;
		if (i)
			continue;
		/* more than there is room for: those who come later are nobody */
		if (cache.nr_owners == CACHE_MAX_OWNERS)
			return 0;
		i = cache.nr_owners;
		cache.owners[i].cgroup = cgroup;
		cache.owners[i].pid = pid;
		__atomic_store_n(&cache.nr_owners, i + 1, __ATOMIC_RELEASE);
		return index[hash] = (uint16_t)i;
	}
}

void cache_work_for(unsigned int cpu, uint64_t cgroup, uint64_t pid)
{
	if (cpu < cache.cpus)
		cache.l2[cpu].owner = (uint64_t)find_owner(cgroup, pid) << OWNER_SHIFT;
}

static void add_one(uint64_t *count)
{
	__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

static void lock(struct llc_set *set)
{
	while (__atomic_test_and_set(&set->lock, __ATOMIC_ACQUIRE))
		;
}

static void unlock(struct llc_set *set)
{
	__atomic_clear(&set->lock, __ATOMIC_RELEASE);
}

/* The place of a line in its set, or the last one, whose line has to go */
static unsigned int place_of(const uint64_t *ways, unsigned int nr, uint64_t line)
{
	unsigned int i;

	for (i = 0; i < nr - 1; i++)
		if ((ways[i] & (VALID | LINE_NUMBER)) == (VALID | line))
			break;
	return i;
}

/* @way becomes the line that was used last; that of place @i goes */
static void put_first(uint64_t *ways, unsigned int i, uint64_t way)
{
	for (; i; i--)
		ways[i] = ways[i - 1];
	ways[0] = way;
}

/* What an L2 reads from its LLC (clean) or writes to it: @way is the line with its owner */
static void touch_llc(struct l2 *l2, uint64_t way)
{
	uint64_t line = way & LINE_NUMBER;
	struct llc_set *set = &cache.llc[l2->socket][line & cache.llc_mask];
	uint64_t old;
	unsigned int i;
	bool hit;

	lock(set);
	i = place_of(set->ways, LLC_WAYS, line);
	old = set->ways[i];
	hit = (old & (VALID | LINE_NUMBER)) == (VALID | line);
	if (hit && !(way & DIRTY))
		way = old;
	put_first(set->ways, i, way);
	unlock(set);
	if (hit)
		return;
	/* a whole line comes from the L2: nothing has to be read for it */
	if (!(way & DIRTY)) {
		l2->count.refills++;
		add_one(&cache.owners[OWNER_OF(way)].refills);
		cache_moved(l2->socket, false);
	}
	if (old & DIRTY) {
		add_one(&cache.owners[OWNER_OF(old)].write_backs);
		add_one(&cache.owners[OWNER_OF(l2->owner)].pushed_out);
		cache_moved(l2->socket, true);
	}
}

void cache_touch(unsigned int cpu, uint64_t line, bool store)
{
	struct l2 *l2 = &cache.l2[cpu];
	uint64_t *ways, old, way;
	unsigned int i;

	line &= LINE_NUMBER;
	ways = l2->sets[line & cache.l2_mask];
	if (store)
		l2->count.stores++;
	else
		l2->count.loads++;
	i = place_of(ways, L2_WAYS, line);
	old = ways[i];
	way = VALID | line | l2->owner;
	if ((old & (VALID | LINE_NUMBER)) == (VALID | line)) {
		put_first(ways, i, store ? way | DIRTY : old);
		return;
	}
	put_first(ways, i, store ? way | DIRTY : way);
	touch_llc(l2, way);
	if (old & DIRTY) {
		l2->count.write_backs++;
		touch_llc(l2, old);
	}
}

void cache_lose(unsigned int cpu)
{
	cache.l2[cpu].count.lost++;
}

struct cache_counts cache_count(unsigned int cpu)
{
	return cpu < cache.cpus ? cache.l2[cpu].count : (struct cache_counts){ 0 };
}

bool cache_get_owner(unsigned int i, struct cache_owner *ret)
{
	if (i >= __atomic_load_n(&cache.nr_owners, __ATOMIC_ACQUIRE))
		return false;
	*ret = cache.owners[i];
	return true;
}
