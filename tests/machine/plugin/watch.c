/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Real traffic: every load and store of the guest goes through the cache model, and what the
 * caches read from and write to memory are bytes of slots, which flows show to the counters.
 * Only machines with cache= have this; the others translate as if it did not exist.
 *
 * Translation is instrumented from the guest's request on, so booting is as quick as ever.
 *
 * Lines are numbered by the host's addresses of the guest's memory: one for each physical
 * address, and QEMU tells them without searching for the block. What has no such address, a
 * device, is no memory. Not seen: instruction fetches, page table walks, what devices do, and
 * DC ZVA, which QEMU does with one call that nobody is told of.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "machine.h"
#include "port.h"
#include "qemu_api.h"

static struct {
	unsigned int l2_kib, llc_kib;
	const char *truth;
	bool on;
	uint64_t cgroup[CACHE_MAX_CPUS]; /* said, but not for which process */
} watch;

int watch_option(const char *sizes)
{
	return sscanf(sizes, "%u:%u", &watch.l2_kib, &watch.llc_kib) == 2 ? 0 : -EINVAL;
}

/* The line of an address; false if it is none of memory */
static bool find_line(qemu_plugin_meminfo_t info, uint64_t address, uint64_t *ret_line)
{
	const struct qemu_plugin_hwaddr *where = qemu_plugin_get_hwaddr(info, address);

	if (!where || where->is_io)
		return false;
	*ret_line = (uintptr_t)where->v.ram.hostaddr / LINE_BYTES;
	return true;
}

static bool is_device(qemu_plugin_meminfo_t info, uint64_t address)
{
	const struct qemu_plugin_hwaddr *where = qemu_plugin_get_hwaddr(info, address);

	return where && where->is_io;
}

static void touched(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
	uint64_t last = address + (1u << qemu_plugin_mem_size_shift(info)) - 1, line;
	bool store = qemu_plugin_mem_is_store(info);

	(void)data;
	if (find_line(info, address, &line))
		cache_touch(cpu, line, store);
	else if (!is_device(info, address))
		cache_lose(cpu);
	if (last / LINE_BYTES == address / LINE_BYTES)
		return;
	if (find_line(info, last, &line))
		cache_touch(cpu, line, store);
	else
		cache_lose(cpu);
}

static void translated(uint64_t id, struct qemu_plugin_tb *block)
{
	size_t nr = qemu_plugin_tb_n_insns(block);

	(void)id;
	if (!__atomic_load_n(&watch.on, __ATOMIC_ACQUIRE))
		return;
	for (size_t i = 0; i < nr; i++)
		qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, i), touched,
						 QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
}

void cache_moved(unsigned int socket, bool written)
{
	__atomic_fetch_add(&shm->slot[CACHE_SLOT(socket, written)].bytes, LINE_BYTES,
			   __ATOMIC_RELAXED);
}

/* The truth: a line for each process, one for each CPU */
static void save(void)
{
	FILE *f = fopen(watch.truth, "w");
	struct cache_owner o;

	if (!f) {
		fprintf(stderr, "t410: %s: %s\n", watch.truth, strerror(errno));
		return;
	}
	for (unsigned int i = 0; cache_get_owner(i, &o); i++)
		if (o.refills || o.write_backs || o.pushed_out)
			fprintf(f,
				"{\"cgroup\":%" PRIu64 ",\"pid\":%" PRIu64 ",\"read\":%" PRIu64
				",\"written\":%" PRIu64 ",\"pushed_out\":%" PRIu64 "}\n",
				o.cgroup, o.pid, o.refills * LINE_BYTES, o.write_backs * LINE_BYTES,
				o.pushed_out * LINE_BYTES);
	for (unsigned int i = 0; i < (unsigned int)qemu_plugin_n_vcpus(); i++) {
		struct cache_counts c = cache_count(i);

		fprintf(f,
			"{\"cpu\":%u,\"loads\":%" PRIu64 ",\"stores\":%" PRIu64
			",\"refills\":%" PRIu64 ",\"l2_write_backs\":%" PRIu64 ",\"lost\":%" PRIu64
			"}\n",
			i, c.loads, c.stores, c.refills, c.write_backs, c.lost);
	}
	if (fclose(f))
		fprintf(stderr, "t410: %s: %s\n", watch.truth, strerror(errno));
}

/* What has been translated so far tells nobody what it touches: it is thrown away */
static void switch_on(void)
{
	if (watch.on)
		return;
	__atomic_store_n(&watch.on, true, __ATOMIC_RELEASE);
	tb_flush(qemu_get_cpu(0));
}

int watch_init(uint64_t id, const char *truth)
{
	int err;

	if (!watch.l2_kib)
		return 0;
	if (!truth)
		return -EINVAL;
	watch.truth = truth;
	err = cache_setup((unsigned int)qemu_plugin_n_vcpus(), machine.sockets, watch.l2_kib,
			  watch.llc_kib);
	if (!err)
		qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return err;
}

bool watch_read(uint64_t offset, uint64_t *ret_value)
{
	uint64_t cpu = (offset - PORT_CPUS) / PORT_CPU_STRIDE;
	struct cache_counts c;

	if (!watch.truth)
		return false;
	if (offset == PORT_CACHE_ON) {
		*ret_value = watch.on;
		return true;
	}
	if (offset < PORT_CPUS || cpu >= CACHE_MAX_CPUS)
		return false;
	c = cache_count(cpu);
	switch (offset % PORT_CPU_STRIDE) {
	case PORT_CPU_REFILLS:
		*ret_value = c.refills;
		return true;
	case PORT_CPU_WRITEBACKS:
		*ret_value = c.write_backs;
		return true;
	}
	return false;
}

bool watch_write(uint64_t offset, uint64_t value)
{
	uint64_t cpu = (offset - PORT_CPUS) / PORT_CPU_STRIDE;

	if (!watch.truth)
		return false;
	if (offset == PORT_CACHE_ON)
		switch_on();
	else if (offset == PORT_CACHE_SAVE)
		save();
	else if (offset < PORT_CPUS || cpu >= CACHE_MAX_CPUS)
		return false;
	else if (offset % PORT_CPU_STRIDE == PORT_CPU_CGROUP)
		watch.cgroup[cpu] = value;
	else if (offset % PORT_CPU_STRIDE == PORT_CPU_PID)
		cache_work_for(cpu, watch.cgroup[cpu], value);
	return true;
}
