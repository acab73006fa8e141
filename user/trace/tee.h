/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One stream of events for several receivers. */
#ifndef TRACE_TEE_H
#define TRACE_TEE_H

#include "trace.h"

#define TEE_MAX 4

/**
 * struct tee - receivers, the first one judges
 * @sinks: an event goes to each in turn, up to the first that returns an error; so
 *	an event that the first one rejects reaches no other
 * @nr: length of @sinks, at most TEE_MAX
 * @events: that all have taken
 * @refused: which one returned the last error, counted from 1; 0: none has so far
 */
struct tee {
	struct trace_sink sinks[TEE_MAX];
	size_t nr;
	uint64_t events;
	size_t refused;
};

/** tee_sink() - a sink that hands on to all of @t; @t must outlive it */
struct trace_sink tee_sink(struct tee *t);

#endif
