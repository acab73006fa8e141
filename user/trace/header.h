/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Headers that readers of traces build: checked, and owning all they point to. */
#ifndef TRACE_HEADER_H
#define TRACE_HEADER_H

#include "trace.h"
#include "trace/wire.h"

/* Far above what exists, as with TRACE_MAX_*. */
#define TRACE_MAX_SELECTED 65536

/** header_release() - free what a header built by a reader points to; NULLs are fine */
void header_release(struct trace_header *h);

/**
 * header_check() - do the parts of a header fit together?
 *
 * Return: NULL, or what is wrong.
 */
const char *header_check(const struct trace_header *h);

/** header_encode() - append a header as in recordings; errors are in @o */
void header_encode(const struct trace_header *h, struct wire_out *o);

/**
 * header_decode() - read a header
 * @in: all of the payload
 * @version: of the recording
 * @ret: released with header_release()
 * @ret_wrong: what is wrong, with -EBADMSG
 *
 * Return: 0, -EBADMSG, -ENOMEM.
 */
int header_decode(struct wire_in *in, uint32_t version, struct trace_header *ret,
		  const char **ret_wrong);

#endif
