/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A session: the engine put together. It takes the events of a trace and returns reports; live runs
 * and recordings use the same code. It has no clock and does not ask the system: a report depends
 * only on the events and the options.
 */
#ifndef ENGINE_SESSION_SESSION_H
#define ENGINE_SESSION_SESSION_H

#include "base/diag.h"
#include "engine/identity/identity.h"
#include "neighbourhood.h"
#include "trace.h"

/**
 * struct session_options - the content of reports
 * @by: the kind of a row
 * @all: every workload; otherwise followed tasks and selected cgroups
 * @method: how windows are split
 * @names_only: keep track of tasks and cgroups, but not of their time: for a
 *	recording without reports; session_report() is not called then
 * @replayed: reports say that they come from a recording
 * @neighbours: keep the data for session_neighbours()
 * @idle_units: by job, a unit of the service manager has a row in the first interval after it was
 *	reported, even when it did nothing; any other job has one in all intervals
 * @job_users: users whose own jobs are believed, see job_resolve_for(); must outlive the session
 * @two_threads: a second one may help to split; reports are the same
 * @no_summary: session_summary() is never called: keep nothing of intervals that were reported,
 *	so that memory does not grow with the run
 */
struct session_options {
	enum row_kind by;
	bool all;
	enum method method;
	bool names_only;
	bool replayed;
	bool neighbours;
	bool idle_units;
	const struct job_users *job_users;
	bool two_threads;
	bool no_summary;
};

struct session;

/**
 * session_new() - an empty session
 * @header: must outlive the session and its reports
 * @o: copied
 * @ret: free with session_free()
 *
 * Return: 0 or -ENOMEM.
 */
int session_new(const struct trace_header *header, const struct session_options *o,
		struct session **ret);
void session_free(struct session *s);

/**
 * session_sink() - events go in through this
 *
 * The first mark begins the books; later marks are to be handed to
 * session_report(), and do nothing here. When it is not one with @first, the trace
 * begins in the middle of a run, and losses before it are not reported. At @inner marks
 * complete windows are split and booked: without them an interval is kept as a whole.
 *
 * Slices that the writer of the trace lost (struct trace_lost) count as late ones.
 */
struct trace_sink session_sink(struct session *s);

/** session_identity() - its tasks, cgroups and jobs: to ask for some, and about them */
struct identity *session_identity(struct session *s);

/** session_start_of() - as identity_start_of(); @arg: the session */
uint64_t session_start_of(void *arg, uint32_t pid);

/** session_each_unnamed() - tasks that run without a known name; see identity.h */
int session_each_unnamed(struct session *s,
			 int (*fn)(void *arg, uint32_t pid, uint32_t tgid, uint64_t start_ns),
			 void *arg);

/** session_finding() - cgroups of events from now on were found, not made */
void session_finding(struct session *s, bool finding);

/** session_each_cgroup() - known cgroups that are not removed; as identity_each_cgroup() */
int session_each_cgroup(struct session *s, int (*fn)(void *arg, uint64_t id, const char *path),
			void *arg);

/**
 * session_unknown_cgroup() - did CPU time go to a cgroup that has no name?
 *
 * It reports each case once: the next call is about later slices.
 */
bool session_unknown_cgroup(struct session *s);

/** session_backlogged() - are so many slices kept that there should be an inner mark soon? */
bool session_backlogged(const struct session *s);

/**
 * session_report() - close the interval that ends with a mark
 * @s: the session
 * @m: not the first one
 * @ret: the report, without a sequence number; release with report_free()
 *
 * Return: 0, -EINVAL before the first mark, -ENOMEM, -ERANGE when numbers of the trace do not fit
 * into 64 bits together, -EDOM when the books do not add up.
 */
int session_report(struct session *s, const struct trace_mark *m, struct report **ret);

/**
 * session_summary() - one report for all intervals so far
 *
 * Return: as session_report(); -EINVAL also with the option @no_summary.
 */
int session_summary(struct session *s, struct report **ret);

/**
 * session_failed() - words for an error of the functions of reports
 * @err: their result, not 0
 * @d: gets the words, with a remedy
 *
 * Return: @err.
 */
int session_failed(int err, struct diag *d);

/**
 * session_neighbours() - the traffic of rows while latencies were high, in all intervals
 * @s: made with the option @neighbours
 * @rise: how much above the baseline is high, above 0
 * @ret: release with neighbours_report_free()
 *
 * Return: 0, -EINVAL before the first mark or without the option, -ENOMEM.
 */
int session_neighbours(struct session *s, double rise, struct neighbours_report **ret);

/** session_neighbours_progress() - as neighbours_progress(); -EINVAL without the option */
int session_neighbours_progress(const struct session *s, double rise, struct neighbourhood *ret);

#endif
