/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CPUs that come and go: which socket each is on, and how many of a socket were online. */
#ifndef ENGINE_SESSION_CPUS_H
#define ENGINE_SESSION_CPUS_H

#include "trace.h"

/**
 * struct session_cpus - the CPUs of a run
 * @socket: index of the socket of each, or LAYOUT_NO_SOCKET
 * @was: when each was online: now, in this interval, in the run
 * @nr: length of both
 */
struct session_cpus {
	uint32_t *socket;
	uint8_t *was;
	uint32_t nr;
};

/** session_cpus_new() - as the header has them; 0 or -ENOMEM, free with session_cpus_free() */
int session_cpus_new(const struct layout *layout, struct session_cpus *ret);
void session_cpus_free(struct session_cpus *c);

/** session_cpu() - one has come or gone; the event is valid, see trace_valid() */
void session_cpu(struct session_cpus *c, const struct trace_cpu *e);

/** session_cpus_begin() - the run begins with those that are online now */
void session_cpus_begin(struct session_cpus *c);

/** session_cpus_begin_interval() - and so does an interval */
void session_cpus_begin_interval(struct session_cpus *c);

/** session_cpus_count() - count those that were online in the run (@summary) or the interval */
void session_cpus_count(const struct session_cpus *c, bool summary, struct report *r);

#endif
