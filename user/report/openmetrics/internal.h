/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parts of openmetrics.h: the series of jobs, and how families are written. */
#ifndef REPORT_OPENMETRICS_PARTS_H
#define REPORT_OPENMETRICS_PARTS_H

#include "report/openmetrics/openmetrics.h"
#include "trace.h"

/* What jobs are counted by. */
enum dim_kind {
	DIM_MEMORY,   /* socket, source, direction, destination */
	DIM_DEVICE,   /* device, direction */
	DIM_REQUESTS, /* the same, as the kernel saw it */
};

/**
 * struct dim - the labels of series besides the job
 * @socket: number of the socket, as users know it
 * @bdf, @name, @device: of a device
 */
struct dim {
	enum dim_kind kind;
	uint32_t socket;
	enum source source;
	enum direction direction;
	enum destination destination;
	char bdf[MODEL_BDF_LEN];
	char name[64];
	enum device_kind device;
};

/**
 * struct cell - a counter of a job
 * @value: bytes
 * @width: bytes, sum of the lengths of the 95% intervals
 * @since: number of the interval that opened it, 0 = it is not shown. What it had in that interval is
 *	in "other", so that it begins with 0
 */
struct cell {
	uint64_t value;
	uint64_t width;
	uint64_t since;
};

#define WORKLOAD_LEN (JOB_ID_LEN * 3 + 64) /* a byte that is not UTF-8 becomes three */

/**
 * struct series - of a job, or of "other" or "none"
 * @workload: label
 * @job: who it is, as known by now
 * @since_ns: when it began, CLOCK_REALTIME
 * @over: it takes no bytes but late ones, and goes after @left more intervals
 * @evicted: of these, one whose job goes on without it
 * @gone: it goes with this interval
 * @score: bytes per interval, lately
 * @gain: bytes in this interval
 * @cpu_ns, @cpu_since: CPU time; see struct cell
 * @cells: one for each of openmetrics.dims; owned
 */
struct series {
	char workload[WORKLOAD_LEN];
	struct row_job job;
	uint64_t since_ns;
	bool over;
	bool evicted;
	bool gone;
	uint32_t left;
	double score;
	uint64_t gain;
	uint64_t cpu_ns;
	uint64_t cpu_since;
	struct cell *cells;
	size_t nr_cells;
};

/* Series that are always there. */
enum {
	SERIES_OTHER,
	SERIES_NONE,
	NR_FIXED_SERIES,
};

struct socket_time {
	uint32_t id;
	uint64_t busy_ns;
	uint64_t idle_ns;
	uint64_t lost_ns;
};

/**
 * struct openmetrics - see openmetrics.h
 * @interval: number of the last one, from 1
 * @series, @nr_series: the fixed ones first; there is always room for those of @o
 * @counter_dims, @device_dims: of this interval's counters and devices; NO_DIM for none.
 *	A device has four, which follow each other: counted and requested, read and written
 */
struct openmetrics {
	struct openmetrics_options o;
	uint64_t interval;
	struct series *series;
	size_t nr_series;
	struct dim *dims;
	size_t nr_dims;
	size_t cap_dims;
	size_t *counter_dims;
	size_t *device_dims;
	struct socket_time sockets[TRACE_MAX_SOCKETS];
	size_t nr_sockets;
};
#define NO_DIM SIZE_MAX

/** dims_map() - find the dims of a report's counters and devices, with cells for all; 0, -ENOMEM */
int dims_map(struct openmetrics *m, const struct report *r);

/** series_find() - of a job by its cgroup, NULL for none */
struct series *series_find(struct openmetrics *m, uint64_t cgroup_id);

/** series_choose() - series that end, and those for the jobs that are large in this interval */
int series_choose(struct openmetrics *m, const struct report *r);

/** series_limit() - give up those beyond the bounds, and have room for what is within */
int series_limit(struct openmetrics *m, const struct openmetrics_options *o);

/* Writing */

enum metric_type {
	METRIC_COUNTER,
	METRIC_GAUGE,
	METRIC_INFO,
};

struct label {
	const char *name;
	const char *value;
};
#define LABELS(...) ((const struct label[]){ __VA_ARGS__, { NULL, NULL } })
#define NO_LABELS   ((const struct label[]){ { NULL, NULL } })

/**
 * struct exposer - where to and how
 * @family, @type: what is being written
 */
struct exposer {
	FILE *out;
	enum exposition format;
	const char *family;
	enum metric_type type;
};

/**
 * expose_family() - begin a family
 * @x: to
 * @name: without "_total" or "_info"
 * @type: what it is
 * @unit: that @name ends with, NULL for none
 * @help: one line
 */
void expose_family(struct exposer *x, const char *name, enum metric_type type, const char *unit,
		   const char *help);

/** expose_number() - a sample; labels that are NULL or "" are left out */
void expose_number(struct exposer *x, const struct label *labels, uint64_t value);

/** expose_seconds() - a sample in seconds */
void expose_seconds(struct exposer *x, const struct label *labels, uint64_t ns);

/** expose_created() - when a counter began, CLOCK_REALTIME; OpenMetrics only */
void expose_created(struct exposer *x, const struct label *labels, uint64_t ns);

/** expose_machine() - the machine's families, from its totals */
void expose_machine(struct exposer *x, const struct openmetrics *m,
		    const struct openmetrics_state *s);

/** expose_health() - how good the data is, and what it costs */
void expose_health(struct exposer *x, const struct openmetrics_state *s);

#endif
