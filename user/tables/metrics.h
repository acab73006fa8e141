/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Metrics: values computed from counters, as rows. Another platform, or another metric, is another
 * row.
 */
#ifndef TABLES_METRICS_H
#define TABLES_METRICS_H

#include "tables/families.h"

#define METRIC_ID_LEN 80

/**
 * struct metric_row - a metric of one PMU
 * @platform: its chip; for PMU_CORE the core whose documents it is from
 * @kind: family of the PMU whose events it uses
 * @id: unique, "t410.ucf.mem_read_bandwidth". "<s>" is the socket of the PMU and "<o>" a different
 *	one: such a row stands for one metric for each remote socket
 * @title: in words, short
 * @unit: one of metric_units.h
 * @formula: see formula.h. Names are events of the PMU ("<s>" and "<o>" as in @id),
 *	"duration_ns" and "duration_s" (time counted) and "ports" (number of ports that the
 *	filter lets through)
 * @from, @to: source and destination of the traffic, unless a filter changes them
 * @derived: not in a guide: derived from the guide
 * @own_core: PMU_CORE: the formula relies on a property of its core, such as the number of slots;
 *	the rest holds for any Arm core with the events
 * @by_default: shown when the user names no metrics
 * @source: source of the formula
 */
struct metric_row {
	enum pmu_platform platform;
	enum pmu_kind kind;
	const char *id;
	const char *title;
	const char *unit;
	const char *formula;
	const char *from;
	const char *to;
	bool derived;
	bool own_core;
	bool by_default;
	const char *source;
};

extern const struct metric_row metric_rows_t410[];
extern const size_t nr_metric_rows_t410;
extern const struct metric_row metric_rows_grace[];
extern const size_t nr_metric_rows_grace;
extern const struct metric_row metric_rows_controllers[];
extern const size_t nr_metric_rows_controllers;
extern const struct metric_row metric_rows_core[];
extern const size_t nr_metric_rows_core;

/** metric_row_at() - all rows of all tables in order, then the user's own; NULL behind the last */
const struct metric_row *metric_row_at(size_t i);

/** metric_is_constant() - is a name in a formula no event, but the time or the ports? */
bool metric_is_constant(const char *name);

/**
 * metric_text() - put socket numbers into an id or a formula
 * @text: with "<s>" and "<o>"
 * @socket: for "<s>"
 * @other: for "<o>"
 * @ret: the text
 * @size: size of @ret
 *
 * Return: 0 or -ENAMETOOLONG.
 */
int metric_text(const char *text, int32_t socket, int32_t other, char *ret, size_t size);

/** metric_has_other() - does the row stand for one metric per other socket? */
bool metric_has_other(const struct metric_row *row);

/**
 * struct core_event_row - a core event that metrics use
 * @name: Arm's name, in capitals as in the formulas
 * @code: number of the event
 * @platform: PMU_PLATFORM_UNKNOWN for architectural numbers that any Arm core may have
 * @source: source of the row
 */
struct core_event_row {
	const char *name;
	uint16_t code;
	enum pmu_platform platform;
	const char *source;
};

extern const struct core_event_row core_event_rows[];
extern const size_t nr_core_event_rows;

/** core_event_find() - the row of a core event for a platform's core, NULL when unknown */
const struct core_event_row *core_event_find(enum pmu_platform platform, const char *name);

#endif
