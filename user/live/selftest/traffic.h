/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs that move a known number of bytes: the truth of the self-test. Each is a process of
 * its own, pinned to a CPU. It walks through a buffer, touches every cache line once, and counts
 * the lines. As long as the buffer is much larger than the caches, each line comes from memory.
 *
 * The programs come and go at random, for some tens of milliseconds at a time. Otherwise no
 * estimate could separate two of them by CPU time.
 */
#ifndef LIVE_SELFTEST_TRAFFIC_H
#define LIVE_SELFTEST_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "model.h"

#define TRAFFIC_STOP_NS 500000000ull

/* The next action of a program. */
enum traffic_order {
	TRAFFIC_REST,  /* sleep */
	TRAFFIC_FILL,  /* get its buffer, touch it once, and rest */
	TRAFFIC_READ,  /* read until the next order */
	TRAFFIC_WRITE, /* write until the next order */
	TRAFFIC_FLUSH, /* read through the buffer once, so that caches write back; then rest */
	TRAFFIC_DROP,  /* give the buffer back, and rest */
};

/**
 * struct traffic_program - a program, as its starter sees it
 * @name: of the process, shorter than MODEL_COMM_LEN
 * @cpu: its CPU
 * @bytes: size of its buffer
 * @rest: for each unit of time moving bytes, this many units computing without any; 9 gives a tenth
 *	of the intensity
 * @seed: for its random pauses
 * @pid: from traffic_start() on, 0 before
 * @shared: memory shared by both sides; of traffic_start()
 */
struct traffic_program {
	char name[MODEL_COMM_LEN];
	unsigned int cpu;
	uint64_t bytes;
	unsigned int rest;
	uint32_t seed;
	pid_t pid;
	struct traffic_shared *shared;
};

/**
 * traffic_start() - make the process; it rests
 * @p: filled in up to @seed
 * @d: gets the problem
 *
 * The process dies with its starter.
 *
 * Return: 0 or a negative errno.
 */
int traffic_start(struct traffic_program *p, struct diag *d);

/**
 * traffic_stop() - end the process and release everything; fine for one that never started
 *
 * Return: false when it has not ended within TRAFFIC_STOP_NS, because it is frozen or traced, or
 * gets no CPU. It was killed: it ends as soon as it can.
 */
bool traffic_stop(struct traffic_program *p);

/** traffic_order() - give it an order */
void traffic_order(struct traffic_program *p, enum traffic_order order);

/**
 * traffic_obeys() - has it done or begun its last order?
 * @ret_err: 0, or a negative errno: it got no memory, or could not go to its CPU; -ESRCH: it died
 */
bool traffic_obeys(struct traffic_program *p, int *ret_err);

/** traffic_moved() - bytes that it has read or written so far; exact while it rests */
uint64_t traffic_moved(const struct traffic_program *p, enum direction direction);

#endif
