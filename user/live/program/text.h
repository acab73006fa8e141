/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines of t410trace.source/1, the output of a source of counters: a header, then readings. Nothing
 * in them is trusted. See docs/SOURCES.md and share/t410trace.source-1.schema.json.
 */
#ifndef LIVE_PROGRAM_TEXT_H
#define LIVE_PROGRAM_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpulist.h"
#include "base/diag.h"
#include "model.h"

#define PROGRAM_MAX_COUNTERS 64
#define PROGRAM_NAME_LEN     48
#define PROGRAM_EVERY_NS     1000000000ull

/**
 * struct program_counter - a counter, as the program describes it
 * @counter: without its place in the trace
 * @scale: size of its unit in the counter's unit
 * @socket_given, @socket: number of the socket
 * @cpus_given, @cpus: CPUs that cause its traffic; @socket is their name then
 */
struct program_counter {
	struct counter counter;
	uint32_t scale;
	bool socket_given;
	uint32_t socket;
	bool cpus_given;
	struct cpulist cpus;
};

/**
 * struct program_header - the first line
 * @name: of the program
 * @every_ns: approximate period of its readings
 * @counters, @nr: owned
 */
struct program_header {
	char name[PROGRAM_NAME_LEN];
	uint64_t every_ns;
	struct program_counter *counters;
	size_t nr;
};

/**
 * struct program_reading - any other line
 * @time_ns: its time (CLOCK_MONOTONIC)
 * @nr: number of values, that of the header's counters
 * @read: which of them are present; an absent counter could not be read
 * @values: running totals, each in its counter's unit
 */
struct program_reading {
	uint64_t time_ns;
	size_t nr;
	bool read[PROGRAM_MAX_COUNTERS];
	uint64_t values[PROGRAM_MAX_COUNTERS];
};

/**
 * program_header_parse() - read a header
 * @text, @size: the line, without its newline
 * @d: gets the problem, with the column
 * @ret: release with program_header_free()
 *
 * Return: 0, -EBADMSG or -ENOMEM.
 */
int program_header_parse(const char *text, size_t size, struct diag *d, struct program_header *ret);
void program_header_free(struct program_header *h);

/** program_header_same() - do two headers describe the same counters? */
bool program_header_same(const struct program_header *a, const struct program_header *b);

/** program_reading_parse() - read a line of values, one for each counter of @h; as above */
int program_reading_parse(const char *text, size_t size, const struct program_header *h,
			  struct diag *d, struct program_reading *ret);

#endif
