/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exclusive use of devices: was it one row, in all of an interval? */
#ifndef ENGINE_BOOK_EXCLUSIVES_H
#define ENGINE_BOOK_EXCLUSIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/book/book.h"

struct exclusives;

/**
 * exclusives_new() - no device in exclusive use so far
 * @header: its devices; must outlive @ret
 * @id: keeps the workloads that will be named again; must outlive @ret
 * @ret: free with exclusives_free()
 *
 * Return: 0 or -ENOMEM.
 */
int exclusives_new(const struct trace_header *header, struct identity *id, struct exclusives **ret);
void exclusives_free(struct exclusives *x);

/**
 * exclusives_add() - a workload had a device open, and no process outside of its cgroup had
 * @x: where
 * @device: index
 * @workload: its number
 * @start_ns, @end_ns: in all of this time
 *
 * Return: 0 or -ENOMEM.
 */
int exclusives_add(struct exclusives *x, uint32_t device, uint32_t workload, uint64_t start_ns,
		   uint64_t end_ns);

/** exclusives_forget() - another rule tells the owner of a device: forget its spans */
void exclusives_forget(struct exclusives *x, uint32_t device);

/**
 * exclusives_close() - enter in a book which row had each device to itself in an interval
 * @x: where
 * @starts_ns, @ends_ns: the interval on each socket; ends do not go back from call to call
 * @book: gets them, see book_exclusive(). A device has no row if there were several, at once (of
 *	one cgroup) or one after another, or if more than a fiftieth of the interval is unknown:
 *	open files are looked at now and then, and not at its very ends
 *
 * Spans that end in the interval are forgotten.
 *
 * Return: 0 or -ENOMEM.
 */
int exclusives_close(struct exclusives *x, const uint64_t *starts_ns, const uint64_t *ends_ns,
		     struct book *book);

/** exclusives_keep() - the interval goes on: keep all workloads that its end will ask for */
void exclusives_keep(const struct exclusives *x);

#endif
