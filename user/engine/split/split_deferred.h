/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Results of a counter's split, kept until those of earlier counters were handed out: sinks get
 * everything in the same order, whichever thread splits.
 */
#ifndef ENGINE_SPLIT_SPLIT_DEFERRED_H
#define ENGINE_SPLIT_SPLIT_DEFERRED_H

#include "engine/split/split.h"

/**
 * struct split_deferred - calls of a sink, in their order; the memory is used again
 * @bytes, @nr_bytes: calls of split_sink.bytes, all of them before the others
 * @portions, @nr_portions: theirs, one behind the other
 * @bounds, @nr_bounds: calls of split_sink.bounds
 * @inseparable, @nr_inseparable: theirs
 */
struct split_deferred {
	struct deferred_bytes *bytes;
	size_t nr_bytes, cap_bytes;
	struct portion *portions;
	size_t nr_portions, cap_portions;
	struct bounds *bounds;
	size_t nr_bounds, cap_bounds;
	uint32_t *inseparable;
	size_t nr_inseparable, cap_inseparable;
};

/** split_deferred_sink() - keeps what it gets; only of one counter, only bytes and bounds */
struct split_sink split_deferred_sink(struct split_deferred *l);

/** split_deferred_play() - hand on what was kept, and keep nothing; 0 or the first error of @sink */
int split_deferred_play(struct split_deferred *l, uint32_t counter, const struct split_sink *sink);

void split_deferred_free(struct split_deferred *l);

#endif
