/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How far one may rely on the numbers of a report: one word, and why it is not a better one. */
#ifndef REPORT_VERDICT_H
#define REPORT_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "model.h"
#include "report/losses.h"

/*
 * Good: nothing is missing, and at most VERDICT_TANGLED of the bytes of rows are inseparable. Fair:
 * there are losses, but small ones, or the method of splitting learns nothing. Poor: a counter has
 * no value, it counted less than VERDICT_COUNTED of the time, CPU time does not add up, most bytes
 * of rows are inseparable, or losses are more than VERDICT_LOST of the windows, of the CPU time or
 * of the time. Losses that make no number of the report less certain do not count; see losses.c.
 */
enum verdict_word { VERDICT_GOOD, VERDICT_FAIR, VERDICT_POOR };
#define VERDICT_TANGLED	      0.05
#define VERDICT_COUNTED	      0.10
#define VERDICT_LOST	      0.10
/* A counter that misses less than this of the time has counted all of it. */
#define VERDICT_NEARLY	      0.001

#define VERDICT_LEN	      192
/* Windows that were split by CPU time. */
#define VERDICT_SAID_FALLBACK (1ULL << NR_LOSSES)

/**
 * struct verdict - a word with its reasons
 * @word: the word
 * @text: "good", "fair: 2 late windows", "poor: no data of 1 counter, 2 late windows and 3 more"
 * @said: losses that the text names: bits of their places in losses, and VERDICT_SAID_FALLBACK
 */
struct verdict {
	enum verdict_word word;
	char text[VERDICT_LEN];
	uint64_t said;
};

/**
 * struct verdict_facts - the facts that are judged
 * @quality: losses
 * @duration_ns, @cpu_ns: the time that the numbers are about, and CPU time in it
 * @no_data: counters without a value, except those of single devices
 * @counted: least part of the time that one of the rest counted
 * @bytes, @tangled_bytes: of rows, and of inseparable rows
 * @unplaced_ns: CPU time in no row
 * @cpu_doubtful: CPU time does not add up
 */
struct verdict_facts {
	const struct quality *quality;
	uint64_t duration_ns;
	uint64_t cpu_ns;
	uint64_t no_data;
	double counted;
	uint64_t bytes;
	uint64_t tangled_bytes;
	uint64_t unplaced_ns;
	bool cpu_doubtful;
};

/** verdict_of() - judge facts; the reasons for the word come first */
struct verdict verdict_of(const struct verdict_facts *f);

/** report_verdict() - judge a report */
struct verdict report_verdict(const struct report *r);

/** verdict_cpu_time() - is CPU time less than half or more than twice that of the CPUs? In a sentence */
bool verdict_cpu_time(const struct report *r, char ret_text[MODEL_NOTE_LEN]);

/** verdict_word_name() - "good", "fair" or "poor" */
const char *verdict_word_name(enum verdict_word w);

#endif
