/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The numbers of a report as a stream of facts. CSV and the timeline read it; JSON, metrics and
 * pages share the tables of sockets and rows, so that a new number of these is in all of them.
 * docs/EXPORT.md has the records.
 */
#ifndef REPORT_FACTS_H
#define REPORT_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model.h"

/* Kind of a number; counters have those of enum unit. */
enum fact_unit {
	FACT_BYTES = UNIT_BYTES,
	FACT_NANOJOULES = UNIT_NANOJOULES,
	FACT_NS = NR_UNITS,
	FACT_COUNT,
};

/* "bytes", "ns", "count" */
const char *fact_unit_name(enum fact_unit u);

enum fact_record {
	FACT_COUNTER,	   /* of a counter: all */
	FACT_UNATTRIBUTED, /* of a counter: no row's, by @reason */
	FACT_CPU,	   /* of a socket or row: FACTS_OF_SOCKETS, FACTS_OF_ROWS */
	FACT_LATENCY,	   /* of a socket or device; and as a row saw it */
	FACT_PART,	   /* of a socket, measured elsewhere */
	FACT_DEVICE,	   /* of a device, and a row's part in it: bytes, requests, latency */
	FACT_IO,	   /* of a device, and a row's part in it: bytes of requests */
	FACT_SHARE,	   /* of a row: its part in a counter */
	FACT_USER,	   /* of a user of a device: time that it held it, and was busy there */
	FACT_QUALITY,	   /* of the interval */
	FACT_ESTIMATE,	   /* of the interval: windows, by how they were split */
};
#define FACTS(record) (1u << (record))
#define FACTS_ALL     (~0u)

/* Numbers of a socket: X(member, name in the timeline and in metrics, unit). Each has the mode of
 * its CPUs' time. */
#define FACTS_OF_SOCKETS(X)    \
	X(busy_ns, "busy", NS) \
	X(idle_ns, "idle", NS) \
	X(lost_ns, "lost", NS)

/*
 * Numbers that a row has once: X(member, name in the timeline, unit, key in the data of a page, metric
 * of workloads, its meaning). All are numbers of struct report_row.
 */
#define FACTS_OF_ROWS(X)                                                    \
	X(on_cpu_ns, "on CPU", NS, "cpu", "t410trace_workload_cpu_seconds", \
	  "CPU time of a workload.")

#define FACTS_COUNT_(...)   +1
#define NR_FACTS_OF_SOCKETS (0 FACTS_OF_SOCKETS(FACTS_COUNT_))
#define NR_FACTS_OF_ROWS    (0 FACTS_OF_ROWS(FACTS_COUNT_))

/**
 * struct fact_of - a row of FACTS_OF_SOCKETS or FACTS_OF_ROWS
 * @name: of the member, also in CSV and JSON
 * @title: short name
 * @at: offset of the member, an uint64_t
 * @key, @metric, @help: of rows: see FACTS_OF_ROWS
 */
struct fact_of {
	const char *name;
	const char *title;
	enum fact_unit unit;
	size_t at;
	const char *key;
	const char *metric;
	const char *help;
};
extern const struct fact_of facts_of_sockets[NR_FACTS_OF_SOCKETS];
extern const struct fact_of facts_of_rows[NR_FACTS_OF_ROWS];

/* A number of struct quality, for formats that have some of them in an order of their own. */
#define OF_QUALITY(member)                                              \
	{                                                               \
		.name = #member, .at = offsetof(struct quality, member) \
	}

/** fact_of() - the number of a struct report_socket, report_row or quality */
static inline uint64_t fact_of(const struct fact_of *of, const void *subject)
{
	return *(const uint64_t *)((const char *)subject + of->at);
}

/* Forms of a number. */
enum fact_value {
	FACT_ABSENT, /* nothing: it was not measured */
	FACT_WHOLE,  /* @value */
	FACT_BAR,    /* @value, and @low and @high of its 95% interval */
	FACT_TENTHS, /* @real, to a tenth */
};

/**
 * struct fact - a number of a report
 * @record, @unit: kind
 * @known: what it has
 * @name, @max: name, at most @max bytes
 * @value, @low, @high, @real: the number; @value is 0 when it is absent
 * @reason: why it is absent, or has no owner; NULL
 * @of: of FACT_CPU
 * @row: whose it is, NULL: the machine's
 * @user: of FACT_USER, whose it is; @device is the function's, also for a link
 * @has_socket, @socket: number of the socket
 * @device, @counter, @probe, @part: what it is of, or NULL. Counters and probes of devices have
 *	@device too
 * @source: origin, NULL: none
 * @has_direction, @direction: of bytes, requests and latencies
 * @has_destination, @destination: of counters and latencies
 * @covers, @covered_ns: time between the first and the last reading
 * @has_coverage, @coverage: part of the time, or of a row's bytes, that it is about: 0 to 1
 * @has_separable, @separable: of shares
 *
 * Nothing is owned; pointers are into the report.
 */
struct fact {
	enum fact_record record;
	enum fact_unit unit;
	enum fact_value known;
	const char *name;
	size_t max;
	uint64_t value;
	uint64_t low;
	uint64_t high;
	double real;
	const char *reason;
	const struct fact_of *of;
	const struct report_row *row;
	const struct device_user *user;
	const struct report_device *device;
	const struct report_counter *counter;
	const struct report_probe *probe;
	const struct report_part *part;
	const char *source;
	enum direction direction;
	enum destination destination;
	uint32_t socket;
	uint64_t covered_ns;
	double coverage;
	bool has_socket;
	bool has_direction;
	bool has_destination;
	bool covers;
	bool has_coverage;
	bool has_separable;
	bool separable;
};

/** typedef fact_fn - takes a fact, which is gone afterwards; not 0 ends the walk */
typedef int (*fact_fn)(void *arg, const struct fact *f);

/**
 * facts_machine(), facts_device(), facts_row(), facts_quality() - the facts of counters, sockets,
 *	latencies and parts; of a device; of a row; of the interval
 * @r: the report
 * @records: FACTS() that are wanted
 * @fn: takes them
 * @arg: for @fn
 *
 * Return: 0, or the first other value of @fn.
 */
int facts_machine(const struct report *r, unsigned int records, fact_fn fn, void *arg);
int facts_device(const struct report *r, size_t device, unsigned int records, fact_fn fn,
		 void *arg);
int facts_row(const struct report *r, const struct report_row *row, unsigned int records,
	      fact_fn fn, void *arg);
int facts_quality(const struct report *r, unsigned int records, fact_fn fn, void *arg);

/** facts_each() - all facts of a report, in the order of these */
int facts_each(const struct report *r, fact_fn fn, void *arg);

/** facts_why_absent() - why a counter that ran for a part of its time has no value */
const char *facts_why_absent(uint64_t enabled_ns, uint64_t running_ns);

#endif
