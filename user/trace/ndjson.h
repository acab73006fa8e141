/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Traces as NDJSON, t410trace.trace/1: the form that other tools read and write. */
#ifndef TRACE_NDJSON_H
#define TRACE_NDJSON_H

#include <stdio.h>

#include "base/diag.h"
#include "trace.h"

struct ndjson_writer;

/**
 * ndjson_create() - write a header
 * @out: not closed
 * @header: must outlive the writer
 * @d: gets the problem
 * @ret: finish with ndjson_finish()
 *
 * Return: 0 or a negative errno.
 */
int ndjson_create(FILE *out, const struct trace_header *header, struct diag *d,
		  struct ndjson_writer **ret);

/**
 * ndjson_sink() - events go in through this
 *
 * An error of the stream is returned once; -EINVAL is for an event that a reader
 * would refuse, which is left out. Each mark is flushed.
 */
struct trace_sink ndjson_sink(struct ndjson_writer *w);

/** ndjson_finish() - write the end and flush; frees @w, NULL is fine; 0 or a negative errno */
int ndjson_finish(struct ndjson_writer *w, struct diag *d);

#endif
