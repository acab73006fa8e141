/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The self-test: are this machine's counts right? Programs that move a known number of bytes run on
 * one socket after the other, and a live run attributes the counted bytes.
 */
#ifndef LIVE_SELFTEST_SELFTEST_H
#define LIVE_SELFTEST_SELFTEST_H

#include "base/diag.h"
#include "live/selftest/judge.h"

/* Upper bound of its duration. */
#define SELFTEST_NS	     20000000000ull
#define SELFTEST_MAX_SOCKETS 16

/* Memory for all buffers together, and the share of the intense program in it. */
#define SELFTEST_BYTES	     (256ull << 20)

/**
 * struct selftest_socket - the test of a socket
 * @id: its number
 * @skipped: why it was skipped, "" if it was not
 * @cpus: the CPUs of the programs
 * @phases: reading, and writing
 */
struct selftest_socket {
	uint32_t id;
	char skipped[SELFTEST_REASON_LEN];
	unsigned int cpus[SELFTEST_PROGRAMS];
	struct selftest_phase phases[2];
};

/**
 * struct selftest - all measurements
 * @host: the machine
 * @counters, @weights: counters, and weights of activity; for people
 * @cache: bytes of the largest cache of a CPU, 0 = unknown
 * @ns: its duration
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
 * selftest_phase_ns() - time for the programs of a socket to read, or to write
 * @left_ns: of the socket's time
 * @phases: number of phases left in it, at least 1
 *
 * The rest of the time is for waiting until the programs rest.
 *
 * Return: 0 if the time is too short for a result.
 */
uint64_t selftest_phase_ns(uint64_t left_ns, unsigned int phases);

/**
 * selftest_fill_ns() - time for the programs of a socket to fill their buffers
 * @left_ns: of the socket's time; the rest is enough for the shortest phases
 */
uint64_t selftest_fill_ns(uint64_t left_ns);

/**
 * selftest_run() - run the test, within SELFTEST_NS
 * @log: receives messages of the BPF library, NULL for none
 * @d: gets the problem
 * @ret: the measurements
 *
 * Each socket has its share of the time. One that cannot be tested, or whose programs get no CPU in
 * its share, is skipped, and that is no error.
 *
 * Return: 0 or a negative errno.
 */
int selftest_run(void (*log)(const char *), struct diag *d, struct selftest *ret);

#endif
