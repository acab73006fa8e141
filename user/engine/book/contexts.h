/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Looks at the users of devices, as events of a trace tell them, put together by interval. */
#ifndef ENGINE_BOOK_CONTEXTS_H
#define ENGINE_BOOK_CONTEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/book/book.h"

struct contexts;

/**
 * contexts_new() - nothing is known of any device
 * @header: its devices; must outlive @ret
 * @id: tasks and their cgroups; must outlive @ret
 * @ret: free with contexts_free()
 *
 * Return: 0 or -ENOMEM.
 */
int contexts_new(const struct trace_header *header, struct identity *id, struct contexts **ret);
void contexts_free(struct contexts *x);

/** contexts_tell() - was there a look at a device? Then open nodes do not tell its owner */
bool contexts_tell(const struct contexts *x, uint32_t device);

/**
 * contexts_gone() - by device, kept up to date: the end of the look that found the users gone; 0
 *	where the last look found some, or there never were any
 */
const uint64_t *contexts_gone(const struct contexts *x);

/** contexts_look() - all processes that have a context; 0 or -ENOMEM */
int contexts_look(struct contexts *x, const struct trace_contexts *look);

/** contexts_holders() - processes that prevent a single owner by open nodes; 0 or -ENOMEM */
int contexts_holders(struct contexts *x, const struct trace_contexts *look);

/** contexts_activity() - work of a device; 0 or -ENOMEM */
int contexts_activity(struct contexts *x, const struct trace_activity *a);

/**
 * contexts_close() - enter the users of each device in an interval in a book
 * @x: where
 * @starts_ns, @ends_ns: the interval on each socket; ends do not go back from call to call
 * @book: gets them, see book_use()
 *
 * The users of an interval are known if no two looks, and no look and an end of the interval, are
 * further apart than two usual distances of looks (a second, as long as there are none), and no
 * look is missing. The last look holds until the next one; if all are gone by then, only what was
 * moved up to it is theirs. Nothing waits for later looks.
 *
 * Return: 0 or a negative errno.
 */
int contexts_close(struct contexts *x, const uint64_t *starts_ns, const uint64_t *ends_ns,
		   struct book *book);

/** contexts_keep() - the interval goes on: keep all workloads that its end will ask for */
void contexts_keep(const struct contexts *x);

#endif
