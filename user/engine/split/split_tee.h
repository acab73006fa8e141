/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hands a split to several receivers, none of which knows the others. */
#ifndef ENGINE_SPLIT_SPLIT_TEE_H
#define ENGINE_SPLIT_SPLIT_TEE_H

#include "engine/split/split.h"

#define SPLIT_TEE_MAX 3

/**
 * struct split_tee - receivers
 * @sinks: windows and bytes go to each in turn, up to the first that returns an error;
 *	rows, bounds and names are the first one's alone, the others need not have these
 * @nr: length of @sinks
 */
struct split_tee {
	struct split_sink sinks[SPLIT_TEE_MAX];
	size_t nr;
};

/** split_tee_sink() - a sink that hands on to all of @t; @t must outlive it */
struct split_sink split_tee_sink(struct split_tee *t);

#endif
