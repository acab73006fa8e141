// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/selftest/judge.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"

/*
 * A counter is right within a tenth: hardware reads a little more than programs request (page
 * tables, prefetched lines), and a wrong unit or scale is wrong by more than that.
 */
#define RIGHT	    0.1
/*
 * A share is right within this part of the bytes of both programs, or if its interval includes the
 * truth. One interval of twenty does not. Halves instead of ten to one are off by 0.4.
 */
#define SHARE_RIGHT 0.1
#define SHARE_WRONG 0.2
/* A phase with fewer bytes tells nothing. */
#define LEAST_BYTES (1u << 20)
/* A cache this many times smaller than the buffers keeps nothing of them between passes. */
#define FAR_BEYOND  3

__attribute__((format(printf, 3, 4))) static void conclude(struct selftest_result *r,
							   enum selftest_verdict verdict,
							   const char *fmt, ...)
{
	va_list args;

	r->verdict = verdict;
	va_start(args, fmt);
	vsnprintf(r->reason, sizeof(r->reason), fmt, args);
	va_end(args);
}

static uint64_t known_of(const struct selftest_phase *p)
{
	uint64_t known = 0;

	for (size_t i = 0; i < SELFTEST_PROGRAMS; i++)
		known += p->parts[i].known;
	return known;
}

/* Bytes that may be other tasks', or still in a cache, or never left it. */
static double doubt_of(const struct selftest_phase *p, double known)
{
	double seconds = p->ns / (double)NS_PER_S;
	double doubt = fabs(p->before - p->after) * seconds + p->left;

	if (p->cache && p->buffer < FAR_BEYOND * p->cache)
		doubt += known * p->cache / (double)p->buffer;
	return doubt;
}

struct selftest_result selftest_judge_counter(const struct selftest_phase *p)
{
	struct selftest_result r = { .known = known_of(p) };
	double others = (p->before + p->after) / 2 * (p->ns / (double)NS_PER_S);
	double known = r.known, seen = p->value > others ? p->value - others : 0, off;

	r.seen = seen;
	r.doubt = doubt_of(p, known);
	off = fabs(seen - known);
	if (!p->counted && p->together)
		conclude(&r, SELFTEST_UNDECIDED,
			 "writes are counted together with reads, and how much is read for a write "
			 "is not known");
	else if (!p->counted)
		conclude(&r, SELFTEST_UNDECIDED, "no counter of this direction had a value");
	else if (r.known < LEAST_BYTES)
		conclude(&r, SELFTEST_UNDECIDED,
			 "the programs moved next to nothing: the CPUs were busy with others");
	else if (off <= RIGHT * known && r.doubt <= RIGHT * known)
		r.verdict = SELFTEST_RIGHT;
	else if (off <= RIGHT * known + r.doubt && p->cache && p->buffer < FAR_BEYOND * p->cache)
		conclude(&r, SELFTEST_UNDECIDED,
			 "the cache is too large for the programs' buffers");
	else if (off <= RIGHT * known + r.doubt)
		conclude(&r, SELFTEST_UNDECIDED,
			 "others moved too much, or too unevenly, meanwhile");
	else
		conclude(&r, SELFTEST_WRONG, "the counter shows %.2f times what was moved",
			 seen / known);
	return r;
}

struct selftest_result selftest_judge_program(const struct selftest_phase *p,
					      const struct selftest_result *counter, size_t program)
{
	const struct selftest_part *part = &p->parts[program];
	struct selftest_result r = { .known = part->known, .seen = part->given };
	double all = counter->known, off;

	if (counter->verdict != SELFTEST_RIGHT) {
		conclude(&r, SELFTEST_UNDECIDED, "its counter is %s",
			 selftest_verdict_name(counter->verdict));
		return r;
	}
	if (!part->found) {
		conclude(&r, SELFTEST_WRONG, "the report has no row of this program");
		return r;
	}
	off = fabs((double)part->given - (double)part->known);
	/* The counter's own error is not the share's fault. */
	r.doubt = fabs((double)counter->seen - all) + counter->doubt;
	r.held = part->known + r.doubt >= part->low && part->known <= part->high + r.doubt;
	if (r.held || off <= SHARE_RIGHT * all + r.doubt)
		r.verdict = SELFTEST_RIGHT;
	else if (off > SHARE_WRONG * all + r.doubt)
		conclude(&r, SELFTEST_WRONG, "the interval does not hold what it moved");
	else
		conclude(&r, SELFTEST_UNDECIDED, "the interval just misses what it moved");
	return r;
}

enum selftest_verdict selftest_worst(enum selftest_verdict a, enum selftest_verdict b)
{
	if (a == SELFTEST_WRONG || b == SELFTEST_WRONG)
		return SELFTEST_WRONG;
	return a == SELFTEST_UNDECIDED ? a : b;
}

const char *selftest_verdict_name(enum selftest_verdict verdict)
{
	static const char *const names[] = {
		[SELFTEST_RIGHT] = "right",
		[SELFTEST_WRONG] = "wrong",
		[SELFTEST_UNDECIDED] = "undecided",
	};

	return names[verdict];
}
