/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Uncore groups of Bay Trail (Intel Atom, Celeron and Pentium of 2013): at most eight counters, in
 * groups that count one at a time. A vendor's tool programs them; its output is read from a file.
 * Source: the article on Bay Trail's uncore; where it contradicts itself its detail tables are
 * right.
 */
#ifndef SOURCES_BAYTRAIL_BAYTRAIL_ROWS_H
#define SOURCES_BAYTRAIL_BAYTRAIL_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model.h"

#define BAYTRAIL_MAX_EVENTS 8
#define BAYTRAIL_MAX_PARTS  8

/* Formulas of a part of a group. */
enum baytrail_kind {
	BAYTRAIL_NOTHING,
	BAYTRAIL_CHANNEL, /* a memory channel */
	BAYTRAIL_DDR,	  /* both channels */
	BAYTRAIL_REFRESH, /* self-refresh of a channel */
	BAYTRAIL_REQS,	  /* requests of an agent */
	BAYTRAIL_ALL,	  /* requests of all agents */
	BAYTRAIL_MODULE,  /* a module: its "Partial" counts all requests */
	BAYTRAIL_SIZES,	  /* a module whose partial requests are not counted */
	BAYTRAIL_AGENT,	  /* another agent: its "Partial" counts partial requests only */
};

/**
 * struct baytrail_part - a unit that a group counts
 * @kind: its formulas
 * @prefix: of its events, "Mod0"
 * @id: its name in metrics, "module0"
 * @who: for people, "module 0"
 */
struct baytrail_part {
	enum baytrail_kind kind;
	const char *prefix;
	const char *id;
	const char *who;
};

/**
 * struct baytrail_group - a row
 * @name: as the vendor's tool calls it
 * @title: for people
 * @events: in the order of the counters; NULL behind the last one
 * @parts: up to BAYTRAIL_NOTHING
 */
struct baytrail_group {
	const char *name;
	const char *title;
	const char *events[BAYTRAIL_MAX_EVENTS];
	struct baytrail_part parts[BAYTRAIL_MAX_PARTS + 1];
};

/**
 * struct baytrail_metric - a metric of a kind of parts
 * @kind: the kind
 * @id: with "@" for the part's
 * @title: with "@" for the part's name
 * @unit: as in struct metric_row
 * @formula: see formula.h, with "@" for the prefix of the events. Other names are "duration_s",
 *	"ddr_bytes" (bytes of a memory count) and "dram_hz" (base frequency of the memory)
 */
struct baytrail_metric {
	enum baytrail_kind kind;
	const char *id;
	const char *title;
	const char *unit;
	const char *formula;
};

/* The originator of an event's traffic. */
enum baytrail_owner {
	BAYTRAIL_ANYBODY, /* unknown: the memory's own counters do not tell */
	BAYTRAIL_MODULE0, /* tasks on the CPUs of the module */
	BAYTRAIL_MODULE1,
	BAYTRAIL_DEVICE,
};
#define BAYTRAIL_MODULES 2

/**
 * struct baytrail_agent - an agent that moves data
 * @prefix: of its events
 * @who: for people; a device's name
 * @owner: see above
 */
struct baytrail_agent {
	const char *prefix;
	const char *who;
	enum baytrail_owner owner;
};

/**
 * struct baytrail_traffic - data that an event counts
 * @agent: its originator
 * @direction: as memory sees it
 * @bytes: of a count; of the memory's own counters with two channels
 * @estimate: the agent's bytes are an estimate
 */
struct baytrail_traffic {
	const struct baytrail_agent *agent;
	enum direction direction;
	uint32_t bytes;
	enum estimate estimate;
};

/** baytrail_traffic() - the data that an event counts; false for clocks and the like */
bool baytrail_traffic(const char *event, struct baytrail_traffic *ret);

extern const struct baytrail_group baytrail_groups[];
extern const size_t nr_baytrail_groups;
extern const struct baytrail_metric baytrail_metrics[];
extern const size_t nr_baytrail_metrics;

#endif
