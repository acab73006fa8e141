/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the files of openmetrics.h: the series of jobs, and writing of families. */
#ifndef REPORT_OPENMETRICS_INTERNAL_H
#define REPORT_OPENMETRICS_INTERNAL_H

#include "report/facts.h"
#include "report/openmetrics/openmetrics.h"
#include "trace.h"

/* Counters of jobs. */
enum dim_kind {
	DIM_MEMORY,   /* socket, source, direction, destination */
	DIM_DEVICE,   /* device, direction */
	DIM_REQUESTS, /* the same, as the kernel saw it */
	DIM_ENERGY,   /* socket, counter: in nanojoules */
};

/**
 * struct dim - the labels of series besides the job
 * @socket: number of the socket, as users know it
 * @bdf, @device: of a device
 * @name: of a device, or of a counter of energy
 */
struct dim {
	enum dim_kind kind;
	uint32_t socket;
	enum source source;
	enum direction direction;
	enum destination destination;
	char bdf[MODEL_BDF_LEN];
	char name[MODEL_NAME_LEN];
	enum device_kind device;
};

/**
 * struct cell - a counter of a job
 * @value: bytes, nanojoules, or a number of FACTS_OF_ROWS
 * @width: the same, sum of the lengths of the 95% intervals
 * @since: number of the interval that opened it, 0 = not shown. Its value in that interval is in
 *	"other", so that it begins with 0
 */
struct cell {
	sum128 value;
	sum128 width;
	uint64_t since;
};

#define WORKLOAD_LEN (JOB_ID_LEN * 3 + 64) /* a byte that is not UTF-8 becomes three */

/**
 * struct series - of a job, or of "other" or "none"
 * @workload: label
 * @job: the job, as known by now
 * @since_ns: when it began, CLOCK_REALTIME
 * @over: it takes only late bytes, and is removed after @left more intervals
 * @evicted: of these, one whose job still runs
 * @gone: it is removed with this interval
 * @score: recent bytes per interval
 * @gain: bytes in this interval
 * @numbers: FACTS_OF_ROWS
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
	struct cell numbers[NR_FACTS_OF_ROWS];
	struct cell *cells;
	size_t nr_cells;
};

/* Permanent series. */
enum {
	SERIES_OTHER,
	SERIES_NONE,
	NR_FIXED_SERIES,
};

struct socket_time {
	uint32_t id;
	uint64_t numbers[NR_FACTS_OF_SOCKETS];
};

/* The used part of a socket's peak in the last interval. */
struct peak_part {
	struct peak peak;
	uint32_t socket;
	double share;
};

/**
 * struct part_series - a part of a socket's traffic
 * @bytes: since the start
 * @enabled_ns, @running_ns: of its events
 * @socket: number of the socket
 * @kind, @direction: the part
 */
struct part_series {
	sum128 bytes;
	uint64_t enabled_ns;
	uint64_t running_ns;
	uint32_t socket;
	enum part_kind kind;
	enum direction direction;
};
/* Two directions each; further sockets are not shown. */
#define MAX_PART_SERIES (16 * NR_WAYS * NR_PARTS)

/**
 * struct group_series - a monitoring group of the kernel, beside a workload
 * @group: its path below the mount of resctrl
 * @cgroup_id: of the job; series_find() knows the workload
 * @bytes, @ns: its count and time since it was first seen
 */
struct group_series {
	char group[RESCTRL_GROUP_LEN];
	uint64_t cgroup_id;
	uint64_t bytes;
	uint64_t ns;
};

#define GPU_BUS_ID_LEN 32

/* A direction of a link. @known: it had bytes in some interval; @width: between their bounds */
struct link_series {
	bool known;
	sum128 bytes;
	sum128 width;
	sum128 owned;
};

/**
 * struct gpu_series - a GPU
 * @bdf, @uuid: see struct device
 * @bus_id: the address as NVIDIA's driver has it
 * @has_link: a link of it is among the devices
 * @missing: intervals without bytes of it
 * @link: by direction
 */
struct gpu_series {
	char bdf[MODEL_BDF_LEN];
	char uuid[DEVICE_UUID_LEN];
	char bus_id[GPU_BUS_ID_LEN];
	bool has_link;
	uint64_t missing;
	struct link_series link[NR_WAYS];
};

/**
 * struct gpu_use - a job on a GPU
 * @cgroup_id: of the job; series_find() knows the workload
 * @gpu: index of the GPU
 * @told: it was told once how busy it was, otherwise only @held_ns is known
 * @held_ns, @known_ns, @busy_ns, @idle_ns: since it was first seen, as in struct account_gpu
 * @link: bytes of the GPU's link that are the job's
 */
struct gpu_use {
	uint64_t cgroup_id;
	size_t gpu;
	bool told;
	uint64_t held_ns;
	uint64_t known_ns;
	uint64_t busy_ns;
	uint64_t idle_ns;
	struct link_series link[NR_WAYS];
};

/**
 * struct openmetrics - see openmetrics.h
 * @interval: number of the last one, from 1
 * @series, @nr_series: the permanent ones first; there is always room for those of @o
 * @only_energy: no dim is of bytes: energy decides the size of jobs
 * @counter_dims, @device_dims: of this interval's counters and devices; NO_DIM for none. A device
 *	has four consecutive ones: counted and requested, read and written
 * @peaks, @nr_peaks: of the last interval, if their counters had values
 */
struct openmetrics {
	struct openmetrics_options o;
	uint64_t interval;
	struct series *series;
	size_t nr_series;
	struct dim *dims;
	size_t nr_dims;
	size_t cap_dims;
	bool only_energy;
	size_t *counter_dims;
	size_t *device_dims;
	struct socket_time sockets[TRACE_MAX_SOCKETS];
	size_t nr_sockets;
	struct peak_part peaks[PEAK_MAX];
	size_t nr_peaks;
	struct part_series parts[MAX_PART_SERIES];
	size_t nr_parts;
	struct group_series *groups;
	size_t nr_groups;
	size_t cap_groups;
	struct gpu_series *gpus;
	size_t nr_gpus;
	size_t cap_gpus;
	struct gpu_use *uses;
	size_t nr_uses;
	size_t cap_uses;
};
#define NO_DIM SIZE_MAX

/** dims_map() - find the dims of a report's counters and devices, with cells for all; 0, -ENOMEM */
int dims_map(struct openmetrics *m, const struct report *r);

/** dim_of() - the dim of a row's number; NO_DIM for none */
size_t dim_of(const struct openmetrics *m, const struct report *r, const struct fact *f);

/** dims_size() - weight of a value in the size of a job: joules are no bytes */
uint64_t dims_size(const struct openmetrics *m, size_t dim, uint64_t value);

/** series_find() - find a job's series by its cgroup, NULL for none */
struct series *series_find(const struct openmetrics *m, uint64_t cgroup_id);

/** series_choose() - end series, and begin those of jobs that are large in this interval */
int series_choose(struct openmetrics *m, const struct report *r);

/** series_limit() - drop those beyond the bounds, and make room up to the bounds */
int series_limit(struct openmetrics *m, const struct openmetrics_options *o);

/** groups_interval() - add the counts of monitoring groups of jobs with series; 0 or -ENOMEM */
int groups_interval(struct openmetrics *m, const struct report *r);

/** gpus_interval() - add GPUs, and what jobs with series had of them; 0 or -ENOMEM */
int gpus_interval(struct openmetrics *m, const struct report *r);

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
 * struct exposer - the output and its format
 * @family, @type: of the current family
 */
struct exposer {
	FILE *out;
	enum exposition format;
	const char *family;
	enum metric_type type;
};

/**
 * expose_family() - begin a family
 * @x: the output
 * @name: without "_total" or "_info"
 * @type: its type
 * @unit: suffix of @name, NULL for none
 * @help: one line
 */
void expose_family(struct exposer *x, const char *name, enum metric_type type, const char *unit,
		   const char *help);

/** expose_number() - a sample; labels that are NULL or "" are left out */
void expose_number(struct exposer *x, const struct label *labels, sum128 value);

/** expose_seconds() - a sample in seconds */
void expose_seconds(struct exposer *x, const struct label *labels, uint64_t ns);

/** expose_fact() - a sample in the unit that metrics have: seconds, joules, bytes, a number */
void expose_fact(struct exposer *x, const struct label *labels, enum fact_unit unit, sum128 value);

/** expose_ratio() - a sample that is a ratio */
void expose_ratio(struct exposer *x, const struct label *labels, double value);

/** expose_created() - start of a counter, CLOCK_REALTIME; OpenMetrics only */
void expose_created(struct exposer *x, const struct label *labels, uint64_t ns);

/** expose_machine() - the machine's families, from its totals */
void expose_machine(struct exposer *x, const struct openmetrics *m,
		    const struct openmetrics_state *s);

/** expose_health() - quality and cost of the data */
void expose_health(struct exposer *x, const struct openmetrics_state *s);

/** groups_expose() - families of monitoring groups, if any; 0 or -ENOMEM */
int groups_expose(struct exposer *x, const struct openmetrics *m);

/** gpus_expose() - families of GPUs, if any */
void gpus_expose(struct exposer *x, const struct openmetrics *m);

#endif
