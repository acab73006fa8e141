/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines of t410trace.source/1, the output of a source of counters: a header, then readings, and of
 * devices contexts and activity. Nothing in them is trusted. See docs/SOURCES.md and share/t410trace.source-1.schema.json.
 */
#ifndef LIVE_PROGRAM_TEXT_H
#define LIVE_PROGRAM_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpulist.h"
#include "base/diag.h"
#include "base/json_line.h"
#include "trace.h"

#define PROGRAM_MAX_COUNTERS 64
#define PROGRAM_MAX_DEVICES  64
#define PROGRAM_NAME_LEN     48
#define PROGRAM_EVERY_NS     1000000000ull

/* A counter of a trace that the program does not have at present */
#define PROGRAM_NO_PLACE     SIZE_MAX

/**
 * struct program_counter - a counter, as the program describes it
 * @counter: without its place in the trace
 * @scale: size of its unit in the counter's unit
 * @socket_given, @socket: number of the socket
 * @cpus_given, @cpus: CPUs that cause its traffic; @socket is their name then
 * @place: index of its value in a reading, or PROGRAM_NO_PLACE
 * @device: number (from 1) in the header's devices of the one whose link it counts, 0 = none
 */
struct program_counter {
	struct counter counter;
	uint32_t scale;
	bool socket_given;
	uint32_t socket;
	bool cpus_given;
	struct cpulist cpus;
	size_t place;
	size_t device;
};

/**
 * struct program_device - a device whose users the program tells
 * @address: its PCI address
 * @link, @uuid: see struct device
 */
struct program_device {
	char address[MODEL_BDF_LEN];
	enum device_link link;
	char uuid[DEVICE_UUID_LEN];
};

/**
 * struct program_header - the first line
 * @name: of the program
 * @every_ns: approximate period of its readings
 * @counters, @nr: owned; those of sockets and of devices' links to the CPUs ("c2c_..."). Others of
 *	devices are not used
 * @nr_values: values in a reading
 * @devices, @nr_devices: owned
 */
struct program_header {
	char name[PROGRAM_NAME_LEN];
	uint64_t every_ns;
	struct program_counter *counters;
	size_t nr;
	size_t nr_values;
	struct program_device *devices;
	size_t nr_devices;
};

/**
 * struct program_reading - a line of values
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
 * struct program_users - a line about the users of a device; a program has one of it
 * @known: false: the program could not tell
 * @contexts: processes with a context, at its end. Its start is not set
 * @activity: with @active: what they did
 * @context, @busy: room for their processes
 */
struct program_users {
	bool known;
	bool active;
	struct trace_contexts contexts;
	struct trace_activity activity;
	struct trace_context context[TRACE_MAX_CONTEXTS];
	struct trace_busy busy[TRACE_MAX_CONTEXTS];
};

/* Kinds of lines */
enum program_line {
	PROGRAM_READING,
	PROGRAM_USERS,
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

/**
 * program_line_parse() - read a line behind the header
 * @text, @size: the line, without its newline
 * @h: the header
 * @d: gets the problem, with the column
 * @ret_kind: which of the others is set
 * @ret_reading: values, one for each counter of @h
 * @ret_users: its devices are indexes into those of @h
 *
 * Return: 0, -EBADMSG or -ENOMEM.
 */
int program_line_parse(const char *text, size_t size, const struct program_header *h,
		       struct diag *d, enum program_line *ret_kind,
		       struct program_reading *ret_reading, struct program_users *ret_users);

/** program_users_parse() - the part of program_line_parse() for "contexts" and "activity" */
int program_users_parse(const struct ndjson_line *line, const struct program_header *h,
			struct program_users *ret);

/** program_devices_parse() - the key "devices" of a header */
int program_devices_parse(const struct ndjson_line *line, struct program_header *h);

#endif
