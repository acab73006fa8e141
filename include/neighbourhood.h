/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Noisy neighbours: bandwidth of workloads while a latency was high. Contract between the engine,
 * which finds them, and the report, which shows them.
 */
#ifndef T410TRACE_NEIGHBOURHOOD_H
#define T410TRACE_NEIGHBOURHOOD_H

#include "model.h"

/* With fewer high, or fewer calm samples there is no result. */
#define NEIGHBOURS_MIN_SAMPLES	10

/* A mean over fewer requests is not much of a latency. */
#define NEIGHBOURS_MIN_REQUESTS 100

/* A row with less than this part of the socket's bytes, calm or high, has next to nothing of them. */
#define NEIGHBOURS_MIN_SHARE	0.01

/* A neighbour's bandwidth while the latency was high. */
enum neighbour_role {
	NEIGHBOUR_NONE,	  /* inconclusive */
	NEIGHBOUR_ROSE,	  /* clearly higher than while it was calm: it may be the cause */
	NEIGHBOUR_VICTIM, /* not higher, and it saw the high latency */
	NR_NEIGHBOUR_ROLES,
};

/**
 * struct neighbour - a row or a reason beside a probe
 * @row: of the summary; NULL: the bytes of @reason, of all counters
 * @calm, @risen: bytes per second of the socket while the latency was calm or high
 * @increase: @risen - @calm
 * @error: its random error: twice the standard error, where samples of one episode count as one, as
 *	they are not independent
 * @share: part of the socket's bytes while it was high
 * @active: samples, of those with a high latency, in which it moved bytes
 * @observed: of these, samples in which its bytes waited for the probe
 * @observed_calm, @observed_risen: the latency it saw with its bytes; 0: none
 * @role: its possible role
 */
struct neighbour {
	const struct report_row *row;
	enum reason reason;
	double calm;
	double risen;
	double increase;
	double error;
	double share;
	size_t active;
	size_t observed;
	double observed_calm;
	double observed_risen;
	enum neighbour_role role;
};

/**
 * struct neighbourhood - a probe and its neighbours
 * @probe: not owned
 * @samples: usable samples
 * @unusable: other samples: too few requests, or no windows with owners of bytes
 * @few: of these, samples with fewer requests than NEIGHBOURS_MIN_REQUESTS
 * @merged: samples that were merged into one, 1 = none
 * @calm_samples, @risen_samples: of the former, by latency
 * @episodes: times that it rose: high samples without a calm one between
 * @calm_ns, @risen_ns: time covered by them
 * @baseline_ns: their lower quartile; @limit_ns: from here on it is high
 * @calm_latency_ns, @risen_latency_ns: means over samples
 * @calm, @risen: bytes per second of the socket, of all sources
 * @enough: there are NEIGHBOURS_MIN_SAMPLES of both; otherwise there are no rows
 * @rows: by @increase, the largest first; owned
 * @nr: length of @rows
 */
struct neighbourhood {
	const struct probe *probe;
	size_t samples;
	size_t unusable;
	size_t few;
	size_t merged;
	size_t calm_samples;
	size_t risen_samples;
	size_t episodes;
	uint64_t calm_ns;
	uint64_t risen_ns;
	double baseline_ns;
	double limit_ns;
	double calm_latency_ns;
	double risen_latency_ns;
	double calm;
	double risen;
	bool enough;
	struct neighbour *rows;
	size_t nr;
};

/**
 * struct neighbours_report - all probes of a run for requests of tasks
 * @summary: of the run, with the rows and probes referred to; owned
 * @rise: threshold above the baseline, 0.2
 * @read_budget: of the live run, for advice; 0: not known
 * @probes, @nr: owned
 */
struct neighbours_report {
	struct report *summary;
	double rise;
	double read_budget;
	struct neighbourhood *probes;
	size_t nr;
};

/** neighbours_report_free() - NULL is fine */
void neighbours_report_free(struct neighbours_report *r);

/** neighbour_role_name() - as in reports: "none", "rose", "victim" */
const char *neighbour_role_name(enum neighbour_role role);

#endif
