/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The self-test: is this machine right? Programs that move a known number of bytes run on one
 * socket after the other, and a live run attributes what the counters saw of them.
 */
#ifndef LIVE_SELFTEST_H
#define LIVE_SELFTEST_H

#include "base/diag.h"
#include "live/selftest/judge.h"

#define SELFTEST_MEASURED_NS 14000000000ull
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
 * selftest_phase_ns() - how long the programs of a socket read, or write
 * @nr_sockets: of the machine, at least 1: with many of them each has less time, so that all of them
 *	together and two seconds of rest are at most SELFTEST_MEASURED_NS
 */
uint64_t selftest_phase_ns(size_t nr_sockets);

/**
 * selftest_run() - do it; measures for at most SELFTEST_MEASURED_NS, and waits for its programs
 * @log: receives messages of the BPF library, NULL for none
 * @d: gets the problem
 * @ret: what was measured
 *
 * Return: 0 or a negative errno. Sockets that cannot be tested are no error.
 */
int selftest_run(void (*log)(const char *), struct diag *d, struct selftest *ret);

#endif
