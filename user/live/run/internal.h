/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside of a live run: its state, and its marks. */
#ifndef LIVE_RUN_INTERNAL_H
#define LIVE_RUN_INTERNAL_H

#include "engine/session/session.h"
#include "live/run/live.h"
#include "live/lookup/live_cpus.h"
#include "live/lookup/live_jobs.h"
#include "live/lookup/live_tasks.h"
#include "live/lookup/live_ticks.h"
#include "live/sources/source.h"
#include "trace/tee.h"

/* A row of sources.c that the options request, with its data. */
struct running {
	const struct live_source *row;
	void *data;
};

struct live {
	const struct run_options *args;
	struct sysfs sysfs;
	struct pmu_list pmus;
	struct cpu_map cpus;
	struct live_cpus coming; /* and going */
	struct counters none;	 /* if no source has counters that BPF reads */
	struct source_context context;
	struct running *sources;
	size_t nr_sources;
	struct trace_header header;
	struct ledger *ledger;
	struct session *session;
	struct tee tee; /* session, recorder if there is one, names of jobs */
	bool recorded;
	int events;	       /* epoll: of the ledger, and of sources */
	struct trace_sink out; /* of @tee */
	struct feed feed;
	struct ledger_sink sink; /* of @feed */
	struct live_cgroups cgroups;
	struct live_tasks tasks;
	struct live_ticks ticks;
	struct live_jobs *jobs;
	uint64_t *ends_ns;	    /* of the last mark, by socket */
	struct trace_mark reported; /* the mark of the last report */
	struct quality seen;	    /* losses up to the last mark */
	uint64_t marked_ns;	    /* when that was */
	uint64_t inner_ns;	    /* when the next inner mark is due */
};

/* For each source that has a function */
#define EACH_SOURCE(r, l, function)                                                           \
	for (const struct running *r = (l)->sources; r < (l)->sources + (l)->nr_sources; r++) \
		if (r->row->function)

/* Call it for all sources, up to the first error, which it returns. @d has no older error. */
#define ALL_SOURCES(l, d, function, ...)                                              \
	({                                                                            \
		int err_ = 0;                                                         \
		(d)->what[0] = '\0';                                                  \
		EACH_SOURCE (r_, l, function)                                         \
			if (!err_)                                                    \
				err_ = r_->row->function(r_->data, ##__VA_ARGS__, d); \
		err_;                                                                 \
	})

/* live_trace_failed() - 0, or an error of the sinks, with words */
int live_trace_failed(const struct live *l, int err, struct diag *d);

/* live_books() - the first window, the first flush and the first mark: 0 or a negative errno */
int live_books(struct live *l, struct diag *d);

#endif
