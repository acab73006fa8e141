/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The readers of a run: one for each CPU that PMUs of memory traffic are active on. */
#ifndef LIVE_LOOKUP_LIVE_READERS_H
#define LIVE_LOOKUP_LIVE_READERS_H

#include "platform/bpf/counters.h"
#include "platform/bpf/ledger.h"
#include "platform/sys/cpus.h"

/**
 * live_readers_map() - map CPUs to sockets, and events to readers
 * @c: open counters, or none; their sockets get the first indexes
 * @domains, @nr_domains: sets of CPUs that serve as sockets without such counters
 * @fs: sysfs
 * @d: gets the problem
 * @ret: release with cpu_map_free()
 *
 * Return: 0 or a negative errno.
 */
int live_readers_map(struct counters *c, const struct cpu_socket *domains, size_t nr_domains,
		     const struct sysfs *fs, struct diag *d, struct cpu_map *ret);

/**
 * live_reader_start() - start a reader
 * @r: the reader
 * @l: runs it
 * @window_ns: time between two windows
 * @d: gets the problem
 *
 * Return: 0 or a negative errno.
 */
int live_reader_start(const struct counter_reader *r, struct ledger *l, uint64_t window_ns,
		      struct diag *d);

/** live_readers_start() - start all readers, each with its first window; as above */
int live_readers_start(const struct counters *c, struct ledger *l, uint64_t window_ns,
		       struct diag *d);

/** live_readers_on() - does a reader end the windows of this socket? */
bool live_readers_on(const struct counters *c, uint32_t socket);

/** live_readers_now() - end all windows now; where that fails, the last tick ended it */
void live_readers_now(const struct counters *c, struct ledger *l);

#endif
