/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside of the session, shared by its files only: see session.h. */
#ifndef ENGINE_SESSION_INTERNAL_H
#define ENGINE_SESSION_INTERNAL_H

#include "engine/book/book.h"
#include "engine/book/contexts.h"
#include "engine/book/exclusives.h"
#include "engine/identity/identity.h"
#include "engine/latency/latency.h"
#include "engine/latency/neighbours.h"
#include "engine/session/cpus.h"
#include "engine/session/parts.h"
#include "engine/session/resctrl_groups.h"
#include "engine/session/session.h"
#include "engine/split/split_tee.h"
#include "engine/timeline/timeline.h"

/* Totals up to some moment, for differences. */
struct totals {
	struct quality losses;
	struct self_cost cost;
};

struct session {
	const struct trace_header *header;
	struct session_options o;
	struct identity *id;
	struct timeline *timeline;
	struct splitter *splitter;
	struct book *interval;
	struct book *total;
	struct links links;
	struct latency *latency;
	struct exclusives *exclusives;
	struct contexts *contexts;
	struct neighbours *neighbours;
	struct parts *parts;
	struct resctrl_groups *resctrl;
	struct split_tee split;	     /* the interval's book, and latencies */
	uint64_t *window_end_ns;     /* of the last window, by group */
	uint64_t *sample_end_ns;     /* of the last sample, by probe */
	struct trace_mark last;	     /* @ends_ns points to our copy */
	uint64_t *ends_ns;	     /* of the last mark, by socket */
	uint64_t start_ns, begin_ns; /* of the interval, of the run */
	struct totals seen;	     /* up to the last report */
	struct totals begin;	     /* before the run */
	uint64_t late;		     /* slices that came after their interval */
	struct quality reported;     /* running totals of "lost" events */
	struct session_cpus cpus;
	uint64_t unplaced_ns, reported_unplaced_ns; /* see struct report */
	bool begun;
	bool finding; /* see session_finding() */
	bool unknown_cgroup;
};

/**
 * session_somebody() - the number of a workload
 * @s: from now on also a task without a name has an entry
 * @who: pid, start time and cgroup
 * @tgid: its process
 * @ret: the number
 *
 * Return: 0 or -ENOMEM.
 */
int session_somebody(struct session *s, const struct workload_key *who, uint32_t tgid,
		     uint32_t *ret);

/** session_io() - an event of I/O; answers as a trace_sink does */
int session_io(struct session *s, const struct trace_io *io);

/** session_users() - an event about the users of a device; answers as a trace_sink does */
int session_users(struct session *s, const struct trace_event *e);

/** session_close_inner() - book complete windows and slices; the interval continues */
int session_close_inner(struct session *s, const struct trace_mark *m);

/** session_keep_ends() - @m is the last mark now */
void session_keep_ends(struct session *s, const struct trace_mark *m);

#endif
