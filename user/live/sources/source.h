/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Contract between a live run and its sources: whatever counts, and becomes windows, samples or
 * requests of the trace. A source is a file that defines a struct live_source, and a row in
 * user/live/run/sources.c. The run asks all rows in turn and knows none of them by name.
 */
#ifndef LIVE_SOURCES_SOURCE_H
#define LIVE_SOURCES_SOURCE_H

#include "base/diag.h"
#include "live/lookup/feed.h"
#include "live/lookup/live_cgroups.h"
#include "platform/bpf/counters.h"
#include "platform/bpf/ledger.h"
#include "platform/pmu/pmu.h"
#include "platform/sys/cpus.h"
#include "platform/sys/sysfs.h"
#include "run_options.h"
#include "trace.h"

/**
 * struct source_context - the run's data for its sources; the run owns it, and it outlives them
 * @args: the user's options
 * @sysfs: of the machine
 * @pmus: all PMUs; none with --no-counters
 * @gpu_driver: the driver of a GPU among the devices of the run, as loaded; NULL: there is none. From
 *	@find on
 * @log: gets a line now and then; NULL for none
 * @counters: counters that BPF reads. The source that has some puts them here in @find; their
 *	counters and groups are the first of the header. Otherwise there are none
 * @domains, @nr_domains: sets of CPUs that serve as the sockets of a run without counters that BPF
 *	reads; a source sets them in @find
 * @cuts: a source ends windows with ledger_mark(), so CPU time must be cut there; set in @open
 * @cpus: CPUs and their sockets; from @open on
 * @header: of the trace; sockets are there from @open on. In @open a source appends its parts
 *	(trace/header.h), and keeps the place of its first group or latency there
 * @ledger_options: sources add their needs in @open
 * @ledger: loaded; from @attach on, as are all that follow
 * @feed: translates the kernel's records
 * @sink: of @feed
 * @out: where events go, from @start on. It returns 0; -EINVAL for an invalid event, which the
 *	source counts as bad; another error ends the run
 * @cgroups: the trees of workloads
 */
struct source_context {
	const struct run_options *args;
	const struct sysfs *sysfs;
	const struct pmu_list *pmus;
	const char *gpu_driver;
	void (*log)(const char *text);
	struct counters *counters;
	const struct cpu_socket *domains;
	size_t nr_domains;
	bool cuts;
	struct cpu_map *cpus;
	struct trace_header *header;
	struct ledger_options ledger_options;
	struct ledger *ledger;
	struct feed *feed;
	const struct ledger_sink *sink;
	const struct trace_sink *out;
	const struct live_cgroups *cgroups;
};

/**
 * enum source_order - when a source starts, and when it gets a mark
 * @SOURCE_BEFORE: before CPU time is closed. For counters that user space reads: their windows end
 *	a little before the interval
 * @SOURCE_WITH: while CPU time is closed, at the start even before the first mark. For windows
 *	that BPF ends: the CPU time of their sockets is closed where they end
 * @SOURCE_BEHIND: when all windows and CPU time are in the trace. For events that must reach to the
 *	end of the interval or beyond it
 *
 * Those of SOURCE_BEFORE and SOURCE_BEHIND start right behind the first mark.
 */
enum source_order {
	SOURCE_BEFORE,
	SOURCE_WITH,
	SOURCE_BEHIND,
};

/* The kinds of marks; sources do not get the first one: they start with it. */
enum mark_kind {
	MARK_FIRST,
	MARK_BETWEEN,
	MARK_LAST,
	MARK_INNER,
};

/* Length of an event's turn, and period of reading what needs none. */
#define SOURCE_TURN_NS 50000000ull

/**
 * source_must_read() - must PMUs be read at a mark, whatever their budget says?
 * @ended_ns: of the source: the last mark that had to; its counts go into the next interval if it
 *	does not read now, so an interval of at least a turn has to
 */
static inline bool source_must_read(enum mark_kind kind, uint64_t now_ns, uint64_t *ended_ns)
{
	bool must =
		kind == MARK_LAST || (kind == MARK_BETWEEN && now_ns >= *ended_ns + SOURCE_TURN_NS);

	if (must)
		*ended_ns = now_ns;
	return must;
}

/**
 * struct live_source - a source; functions may be NULL, except where noted
 * @order: see there
 * @size: of its own data, which the run allocates as zeros. It is @s of the functions
 * @wanted: do the options ask for it? If not, nothing else is called. NULL: always
 * @check: are the user's arguments right? Called before any hardware is looked for, so that a
 *	mistake is not hidden behind missing hardware
 * @find: look for its hardware. Counters it opens may count from here on; there are no sockets yet
 * @open: open it, and append to the header; never NULL
 * @attach: the ledger is loaded and does not run yet. No event has been seen
 * @start: the books begin: earlier counts are in no interval
 * @next_ns: when @step has work (CLOCK_MONOTONIC), UINT64_MAX = never
 * @fd: readable when @step has work; called once, after @find
 * @step: do due work. Called more often than @next_ns requests, also when nothing is due
 * @mark: an interval ends (MARK_BETWEEN), the run ends (MARK_LAST), or an interval that is long is
 *	booked up to here (MARK_INNER, at most every 0.2 s: a source may leave it out). With
 *	MARK_LAST all counts must be handed on, regardless of a budget
 * @cost: add its cost so far
 * @quality: add its losses so far
 * @describe: line @i of the text of -v. Without text @ret_text stays as it is
 * @note: line @i of the notes that users must know; NULL behind the last one
 * @news: take a line of news; false when there is none
 * @trouble: does it count nothing, although it should? @ret_text gets the reason
 * @free: release the memory of @s; called also when @check, @find or @open failed. The ledger is gone
 *
 * Order of calls: check of all rows, find of all, open of all, attach of all, start, then next_ns, step and mark
 * in any order; a mark is always followed by quality and cost; free, last row first.
 *
 * Errors: negative errnos, which end the run. With text in @d they are shown as they are. Without
 * text they are errors of @out, and the run names the sink. Optional parts are no error: they are
 * absent, mentioned by @note or counted by @quality.
 */
struct live_source {
	enum source_order order;
	size_t size;
	bool (*wanted)(const struct run_options *args);
	int (*check)(void *s, struct source_context *c, struct diag *d);
	int (*find)(void *s, struct source_context *c, struct diag *d);
	int (*open)(void *s, struct source_context *c, struct diag *d);
	int (*attach)(void *s, struct diag *d);
	int (*start)(void *s, struct diag *d);
	uint64_t (*next_ns)(const void *s);
	int (*fd)(const void *s);
	int (*step)(void *s, struct diag *d);
	int (*mark)(void *s, enum mark_kind kind, struct diag *d);
	void (*cost)(const void *s, struct self_cost *ret);
	void (*quality)(const void *s, struct quality *ret);
	void (*describe)(const void *s, size_t i, char *ret_text, size_t size);
	const char *(*note)(const void *s, size_t i);
	bool (*news)(void *s, char *ret_text, size_t size);
	bool (*trouble)(const void *s, char *ret_text, size_t size);
	void (*free)(void *s);
};

/* All sources, see sources.c; those of one order are called in the order of the rows. */
extern const struct live_source *const live_sources[];
extern const size_t nr_live_sources;

extern const struct live_source source_memory;
extern const struct live_source source_latencies;
extern const struct live_source source_devices;
extern const struct live_source source_programs;
extern const struct live_source source_esp;
extern const struct live_source source_parts;
extern const struct live_source source_resctrl;

#endif
