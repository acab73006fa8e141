/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a counter's split hands out, kept until others have handed out theirs: whichever thread
 * splits, sinks get everything in the same order.
 */
#ifndef ENGINE_SPLIT_SPLIT_LATER_H
#define ENGINE_SPLIT_SPLIT_LATER_H

#include "engine/split/split.h"

/**
 * struct split_later - calls of a sink, in their order; the memory is used again
 * @bytes, @nr_bytes: calls of split_sink.bytes, all of them before the others
 * @portions, @nr_portions: theirs, one behind the other
 * @bounds, @nr_bounds: calls of split_sink.bounds
 * @tangled, @nr_tangled: theirs
 */
struct split_later {
	struct later_bytes *bytes;
	size_t nr_bytes, cap_bytes;
	struct portion *portions;
	size_t nr_portions, cap_portions;
	struct bounds *bounds;
	size_t nr_bounds, cap_bounds;
	uint32_t *tangled;
	size_t nr_tangled, cap_tangled;
};

/** split_later_sink() - keeps what it gets; only of one counter, only bytes and bounds */
struct split_sink split_later_sink(struct split_later *l);

/** split_later_play() - hand on what was kept, and keep nothing; 0 or the first error of @sink */
int split_later_play(struct split_later *l, uint32_t counter, const struct split_sink *sink);

void split_later_free(struct split_later *l);

#endif
