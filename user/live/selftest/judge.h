/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The self-test's verdicts on its measurements. Functions of their arguments alone: no system
 * calls, so that tests can use their own numbers.
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
 * struct selftest_phase - a time in which the programs of one socket moved bytes one way
 * @socket: its number
 * @direction: read or write
 * @ns: its duration
 * @counted: a counter of CPU traffic of that socket and direction had a value
 * @together: no value, as its counter mixes reads and writes: the lines read for written ones are
 *	unknown
 * @value: its bytes
 * @before, @after: bytes per second on the same counter before and after all phases, while the
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
 * @verdict: the verdict
 * @known: bytes that were moved
 * @seen: bytes that were counted or given, minus those of other tasks
 * @doubt: bytes that other tasks and caches may account for
 * @held: of programs: the interval includes the known bytes
 * @reason: why the verdict is not "right", "" if it is
 */
struct selftest_result {
	enum selftest_verdict verdict;
	uint64_t known;
	uint64_t seen;
	uint64_t doubt;
	bool held;
	char reason[SELFTEST_REASON_LEN];
};

/** selftest_judge_counter() - did the counter count the bytes of both programs? */
struct selftest_result selftest_judge_counter(const struct selftest_phase *phase);

/**
 * selftest_judge_program() - was a program given its bytes?
 * @phase: the phase
 * @counter: the verdict on its counter: shares of a wrong counter cannot be right
 * @program: its index
 */
struct selftest_result selftest_judge_program(const struct selftest_phase *phase,
					      const struct selftest_result *counter,
					      size_t program);

/** selftest_worst() - the worse of two verdicts: wrong before undecided before right */
enum selftest_verdict selftest_worst(enum selftest_verdict a, enum selftest_verdict b);

/** selftest_verdict_name() - "right", "wrong", "undecided" */
const char *selftest_verdict_name(enum selftest_verdict verdict);

#endif
