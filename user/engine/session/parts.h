/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parts of the sockets' traffic that are measured elsewhere than the counters. They are added up
 * by themselves, and no counter or row gets anything of them.
 */
#ifndef ENGINE_SESSION_PARTS_H
#define ENGINE_SESSION_PARTS_H

#include "trace.h"

struct parts;

/** parts_new() - @header must outlive it; 0 or -ENOMEM */
int parts_new(const struct trace_header *header, struct parts **ret);
void parts_free(struct parts *p);

/** parts_add() - take a reading, which waits for the end of its interval; 0 or -ENOMEM */
int parts_add(struct parts *p, const struct trace_part *part);

/**
 * parts_close() - an interval ends
 * @p: the parts
 * @ends_ns: by socket
 *
 * What reaches beyond the end is divided in proportion to time, to the byte: the rest is for the
 * next interval. What lies before the last end, because it had to wait for an event's turn, is in
 * this interval: covered_ns says of how much time it is.
 */
void parts_close(struct parts *p, const uint64_t *ends_ns);

/**
 * parts_report() - the parts of a report
 * @p: the parts
 * @all: of all intervals, otherwise of the last one that was closed
 * @ret: gets them
 *
 * Return: 0 or -ENOMEM.
 */
int parts_report(const struct parts *p, bool all, struct report *ret);

#endif
