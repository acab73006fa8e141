/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Contract between the layers for system-wide counts ("t410trace stat"): the layout of counters,
 * their results, and a finished report. Plain data, no system types.
 *
 * Not every counter counts all the time: events of a PMU that do not fit the hardware take turns.
 * The counts between two readings of a PMU are a segment. A metric is computed over the segments in
 * which all its counters counted, so that numerator and denominator cover the same time.
 */
#ifndef T410TRACE_STAT_H
#define T410TRACE_STAT_H

#include "base/text_list.h"
#include "model.h"

/* Maximum number of different names in a formula. */
#define STAT_MAX_INPUTS 12

/**
 * struct stat_pmu - a counted PMU
 * @name: in sysfs; for the cores the name of their PMU
 * @family: short name of its family ("ucf"), "core" for the cores
 * @title: its hardware, for people
 * @socket, @rc: its place; -1 = none
 * @peer: peer of a link, "" = no link
 * @dear: one reading costs many device reads
 * @reads: device reads of one reading of all its events, at most; 0 = unknown
 * @cores: the cores: enabled times are sums over CPUs or threads, hence no duration
 */
struct stat_pmu {
	char name[64];
	char family[32];
	char title[64];
	int32_t socket;
	int32_t rc;
	char peer[64];
	bool dear;
	uint32_t reads;
	bool cores;
};

/**
 * struct stat_counter - an event with its filters on one PMU
 * @name: as users write it, "nvidia_ucf_pmu_0/mem_bytes_rd,src_loc_cpu=1/"
 * @event: name of the event, "" when it was given by number
 * @filters: "src_loc_cpu=1,dst_rem=1", "" when there are none
 * @label: meaning of the filters if the user named it differently: "0002:81:00.0 BAR0", "port 2";
 *	"" when @filters tell it
 * @unit: "bytes", "requests", "cycles", "beats", "outstanding", "" when unknown
 * @pmu: index of its PMU
 * @asked: the user named it; other counters serve a metric
 */
struct stat_counter {
	char name[MODEL_NAME_LEN * 2];
	char event[64];
	char filters[MODEL_NAME_LEN];
	char label[64];
	char unit[16];
	uint32_t pmu;
	bool asked;
};

/**
 * struct stat_metric - a metric of one PMU with one setting of filters
 * @id, @title, @unit, @formula, @from, @to: see struct metric_row; not owned
 * @name: @id with the socket numbers inserted
 * @filters, @label: of its counters, as in struct stat_counter
 * @places: the name of many with such labels, "ports"; NULL without a label. Not owned
 * @pmu: index of the PMU
 * @input: by name of the formula: index of a counter, or STAT_DURATION_*, STAT_CONSTANT
 * @constant: value of an input that is STAT_CONSTANT
 * @nr_inputs: number of names
 */
struct stat_metric {
	const char *id;
	const char *title;
	const char *unit;
	const char *formula;
	const char *from;
	const char *to;
	char name[80];
	char filters[MODEL_NAME_LEN];
	char label[64];
	const char *places;
	uint32_t pmu;
	uint32_t input[STAT_MAX_INPUTS];
	double constant[STAT_MAX_INPUTS];
	uint32_t nr_inputs;
};
#define STAT_DURATION_NS (UINT32_MAX - 1)
#define STAT_DURATION_S	 (UINT32_MAX - 2)
#define STAT_CONSTANT	 (UINT32_MAX - 3)

/**
 * struct stat_layout - constants of a run
 * @notes: facts that readers must know: PMUs that cannot be counted and why, settings of other
 *	users. Owned by the maker of the layout, like the rest
 */
struct stat_layout {
	struct stat_pmu *pmus;
	size_t nr_pmus;
	struct stat_counter *counters;
	size_t nr_counters;
	struct stat_metric *metrics;
	size_t nr_metrics;
	struct text_list notes;
};

/**
 * struct stat_segment - a PMU was read twice
 * @pmu: its index
 * @start_ns, @end_ns: the two readings (CLOCK_MONOTONIC). Segments of a PMU do not overlap; nothing
 *	was counted between them
 * @counters, @readings: counters that were on in between, @nr of them. The kernel measures the
 *	enabled time of a reading; running less than enabled: another user had the hardware
 */
struct stat_segment {
	uint32_t pmu;
	uint64_t start_ns;
	uint64_t end_ns;
	size_t nr;
	const uint32_t *counters;
	const struct reading *readings;
};

/* Reason for a missing number. */
enum stat_absence {
	STAT_PRESENT,
	STAT_NOT_READ,	  /* no reading in this interval: it was deferred, or it failed */
	STAT_NOT_RUNNING, /* other users had the counters */
	STAT_REFUSED,	  /* could not be opened */
	STAT_ZERO,	  /* metrics: the denominator was zero: there was no activity */
	STAT_APART,	  /* metrics: its counters never counted at the same time */
	STAT_FEW,	  /* latencies: fewer than STAT_LEAST_REQUESTS, or none that took time */
	NR_STAT_ABSENCES,
};

/*
 * Fewer requests have no latency: those in flight when a reading begins or ends are counted in part,
 * so that each of them puts the mean off by up to 1 % of itself at this number, and by all of it at
 * one. A machine at rest has a few such requests a second.
 */
#define STAT_LEAST_REQUESTS 100

/** stat_absence_name() - "", "not_read", "not_running", "refused", "undefined", "apart", "few" */
const char *stat_absence_name(enum stat_absence a);

/**
 * struct stat_count - a counter over an interval
 * @absence: STAT_PRESENT, or why there is no value
 * @value: scaled from the time it ran to the whole interval
 * @counted: the raw count
 * @enabled_ns: time that the interval's segments of its PMU cover
 * @running_ns: the part of it in which it counted. Equal: @value is what was counted
 * @low, @high: 95% interval; equal to @value when it is exact. Turns of others stop the PMU for
 *	moments, in which nothing was counted
 */
struct stat_count {
	enum stat_absence absence;
	uint64_t value;
	uint64_t counted;
	uint64_t enabled_ns;
	uint64_t running_ns;
	uint64_t low;
	uint64_t high;
};

/**
 * struct stat_value - a metric over an interval
 * @absence: STAT_PRESENT, or why there is no value
 * @value: in the metric's unit
 * @covered_ns: time in which all its counters counted
 * @enabled_ns: as in struct stat_count
 * @low, @high: 95% interval; equal to @value when all its counters counted all the time and no
 *	turns stopped them
 */
struct stat_value {
	enum stat_absence absence;
	double value;
	uint64_t covered_ns;
	uint64_t enabled_ns;
	double low;
	double high;
};

/**
 * struct stat_cost - cost of reading a PMU in an interval
 * @readings: times it was read
 * @read_ns: our CPU time for that
 * @failed: readings that failed
 * @deferred: readings that waited for the budget
 * @turns: number of changes between sets of events
 * @turns_deferred: changes that waited for the budget
 * @sets: sets of events that take turns; 1 = all events count all the time
 */
struct stat_cost {
	uint64_t readings;
	uint64_t read_ns;
	uint64_t failed;
	uint64_t deferred;
	uint64_t turns;
	uint64_t turns_deferred;
	uint32_t sets;
};

/**
 * struct stat_report - an interval
 * @layout, @host: not owned
 * @budget: part of the active CPU's time that readings may take
 * @busiest: the largest part that they took on any CPU
 * @counts, @values, @costs: by counter, metric, PMU; owned
 * @cpu_ns: CPU time of the tracer
 */
struct stat_report {
	const struct host_info *host;
	const struct stat_layout *layout;
	uint64_t sequence;
	bool summary;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t start_time_ns;
	double budget;
	double busiest;
	uint64_t cpu_ns;
	struct stat_count *counts;
	struct stat_value *values;
	struct stat_cost *costs;
};

/** stat_report_free() - release a report and its memory; NULL is fine */
void stat_report_free(struct stat_report *r);

#endif
