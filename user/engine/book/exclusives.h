/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who had devices open alone: was it one row, in all of an interval? */
#ifndef ENGINE_BOOK_EXCLUSIVES_H
#define ENGINE_BOOK_EXCLUSIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/split/split.h"

struct exclusives;

/** exclusives_new() - Return: 0 or -ENOMEM; free with exclusives_free() */
int exclusives_new(size_t nr_devices, struct exclusives **ret);
void exclusives_free(struct exclusives *x);

/**
 * exclusives_add() - a workload had a device open, and nobody outside of its cgroup had
 * @x: where
 * @device: index
 * @workload: who
 * @start_ns, @end_ns: in all of this time
 *
 * Return: 0 or -ENOMEM.
 */
int exclusives_add(struct exclusives *x, uint32_t device, uint32_t workload, uint64_t start_ns,
		   uint64_t end_ns);

/**
 * struct exclusives_rows - what is asked of others while an interval is closed
 * @row: as in struct split_sink
 * @keep: the workload will be named again
 * @arg: handed to both
 */
struct exclusives_rows {
	int (*row)(void *arg, uint32_t workload, uint32_t *ret);
	void (*keep)(void *arg, uint32_t workload);
	void *arg;
};

/**
 * exclusives_close() - the row that had a device to itself in an interval
 * @x: where
 * @device: index
 * @start_ns, @end_ns: the interval; ends do not go back from call to call
 * @rows: names
 * @ret: the row; SPLIT_NO_ROW when there is none, when there were several, or when what
 *	is known leaves out more than a fiftieth of the interval: files are looked at now and
 *	then, and not at its very ends
 * @ret_several: there were several, at once (of one cgroup) or one after another
 *
 * What ends in the interval is forgotten.
 *
 * Return: 0, or the first error of @rows.
 */
int exclusives_close(struct exclusives *x, uint32_t device, uint64_t start_ns, uint64_t end_ns,
		     const struct exclusives_rows *rows, uint32_t *ret, bool *ret_several);

/** exclusives_keep() - the interval goes on: call @rows->keep for all that it will be asked about */
void exclusives_keep(const struct exclusives *x, const struct exclusives_rows *rows);

#endif
