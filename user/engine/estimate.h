/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The estimate: who caused the bytes of one counter in one window. Everything
 * else in the engine is bookkeeping; a better method is a change of this file.
 */
#ifndef ENGINE_ESTIMATE_H
#define ENGINE_ESTIMATE_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct claim - a workload that ran on the socket in the window
 * @workload: its number
 * @on_cpu_ns: CPU time in the window
 */
struct claim {
	uint32_t workload;
	uint64_t on_cpu_ns;
};

/**
 * struct estimate - a claim's part of the bytes
 * @value: most likely; the values of all claims add up to the bytes exactly
 * @low, @high: bounds
 */
struct estimate {
	uint64_t value;
	uint64_t low;
	uint64_t high;
};

/**
 * estimate_window() - split a counter's bytes of one window
 * @bytes: what the counter gained
 * @claims: who ran; at least one with CPU time
 * @nr: number of claims
 * @ret: one estimate a claim
 *
 * In proportion to CPU time. How dense the traffic of each was is unknown then, so
 * the bounds say only what is certain: who ran alone owns all, who shared the
 * window owns something between nothing and all.
 *
 * Return: 0, or a negative errno of apportion().
 */
int estimate_window(uint64_t bytes, const struct claim *claims, size_t nr, struct estimate *ret);

#endif
