/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the self-test concludes from what it measured. A function of its arguments alone: no
 * system calls, so that tests can try it with numbers of their own.
 */
#ifndef LIVE_SELFTEST_JUDGE_H
#define LIVE_SELFTEST_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model.h"

#define SELFTEST_PROGRAMS   2 /* a socket: the first is ten times as intense as the second */
#define SELFTEST_REASON_LEN 160

enum selftest_verdict {
	SELFTEST_RIGHT,
	SELFTEST_WRONG,
	SELFTEST_UNDECIDED,
};

/**
 * struct selftest_part - a program's part in a phase
 * @known: bytes that it moved
 * @found: it had a row in the report
 * @given: bytes that the report gave to it
 * @low, @high: the report's 95% interval
 * @on_cpu_ns: its CPU time
 */
struct selftest_part {
	uint64_t known;
	bool found;
	uint64_t given;
	uint64_t low;
	uint64_t high;
	uint64_t on_cpu_ns;
};

/**
 * struct selftest_phase - some seconds in which the programs of one socket moved bytes one way
 * @socket: its number
 * @direction: read or write
 * @ns: how long it took
 * @counted: a counter of CPUs' bytes of that socket and direction had a value
 * @together: no value, for its counter counts reads and writes together: nobody knows how many
 *	lines are read for those that are written
 * @value: its bytes
 * @before, @after: bytes per second on the same counter before and after all phases, when the
 *	programs rested
 * @left: bytes that may still have been in caches at the end
 * @cache, @buffer: bytes of the largest cache, 0 = not known, and of both programs' buffers
 * @parts: the programs
 */
struct selftest_phase {
	uint32_t socket;
	enum direction direction;
	uint64_t ns;
	bool counted;
	bool together;
	uint64_t value;
	double before;
	double after;
	uint64_t left;
	uint64_t cache;
	uint64_t buffer;
	struct selftest_part parts[SELFTEST_PROGRAMS];
};

/**
 * struct selftest_result - a verdict
 * @verdict: what it is
 * @known: bytes that were moved
 * @seen: bytes that were counted or given, less what others moved
 * @doubt: how many bytes others and caches may account for
 * @held: of programs: the interval held what is known
 * @reason: why it is not right, "" for right
 */
struct selftest_result {
	enum selftest_verdict verdict;
	uint64_t known;
	uint64_t seen;
	uint64_t doubt;
	bool held;
	char reason[SELFTEST_REASON_LEN];
};

/** selftest_judge_counter() - did the counter count what both programs moved? */
struct selftest_result selftest_judge_counter(const struct selftest_phase *phase);

/**
 * selftest_judge_program() - was a program given what it moved?
 * @phase: the phase
 * @counter: the verdict on its counter: no share can be right of a counter that is wrong
 * @program: which one
 */
struct selftest_result selftest_judge_program(const struct selftest_phase *phase,
					      const struct selftest_result *counter,
					      size_t program);

/** selftest_worst() - of two verdicts: wrong before undecided before right */
enum selftest_verdict selftest_worst(enum selftest_verdict a, enum selftest_verdict b);

/** selftest_verdict_name() - "right", "wrong", "undecided" */
const char *selftest_verdict_name(enum selftest_verdict verdict);

#endif
