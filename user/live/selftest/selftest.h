/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The self-test: is this machine right? Programs that move a known number of bytes run on one
 * socket after the other, and a live run attributes what the counters saw of them.
 */
#ifndef LIVE_SELFTEST_SELFTEST_H
#define LIVE_SELFTEST_SELFTEST_H

#include "base/diag.h"
#include "live/selftest/judge.h"

/* All of it, from begin to end, takes less than this. */
#define SELFTEST_NS	     20000000000ull
#define SELFTEST_MAX_SOCKETS 16

/* Memory for all buffers together, and the share of the intense program in it. */
#define SELFTEST_BYTES	     (256ull << 20)

/**
 * struct selftest_socket - what was done on a socket
 * @id: its number
 * @skipped: why nothing was, "" for nothing
 * @cpus: where the programs ran
 * @phases: reading, and writing
 */
struct selftest_socket {
	uint32_t id;
	char skipped[SELFTEST_REASON_LEN];
	unsigned int cpus[SELFTEST_PROGRAMS];
	struct selftest_phase phases[2];
};

/**
 * struct selftest - all that was measured
 * @host: the machine
 * @counters, @weights: what was counted, and what activity was measured by; for people
 * @cache: bytes of the largest cache of a CPU, 0 = sysfs does not say
 * @ns: how long it took
 * @quality: of the whole run
 * @sockets, @nr: by index
 */
struct selftest {
	struct host_info host;
	char counters[512];
	char weights[512];
	uint64_t cache;
	uint64_t ns;
	struct quality quality;
	struct selftest_socket sockets[SELFTEST_MAX_SOCKETS];
	size_t nr;
};

/**
 * selftest_phase_ns() - how long the programs of a socket may read, or write
 * @left_ns: of the socket's time
 * @phases: that are left to do in it, at least 1
 *
 * What is left beside them is for waiting until the programs rest.
 *
 * Return: 0 if so little time says nothing.
 */
uint64_t selftest_phase_ns(uint64_t left_ns, unsigned int phases);

/**
 * selftest_fill_ns() - how long the programs of a socket may take to fill their buffers
 * @left_ns: of the socket's time; what comes behind is enough for the shortest phases
 */
uint64_t selftest_fill_ns(uint64_t left_ns);

/**
 * selftest_run() - do it, within SELFTEST_NS
 * @log: receives messages of the BPF library, NULL for none
 * @d: gets the problem
 * @ret: what was measured
 *
 * Each socket has its share of the time. One that cannot be tested, or whose programs get no CPU in
 * its share, is skipped, and that is no error.
 *
 * Return: 0 or a negative errno.
 */
int selftest_run(void (*log)(const char *), struct diag *d, struct selftest *ret);

#endif
