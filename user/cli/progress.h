/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How far something has been read, for somebody who waits at a terminal. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "replay/replay_file.h"

/**
 * struct progress - a line on standard error
 * @file: that is read, NULL: something else
 * @begin_ns, @shown_ns: when the reading began, and when the line was written; 0 = not yet
 * @events: so far
 * @width: of the line that stands there
 */
struct progress {
	const struct replay_file *file;
	uint64_t begin_ns;
	uint64_t shown_ns;
	uint64_t events;
	int width;
};

/**
 * progress_sink() - receives events, and says now and then how far they have come
 * @p: empty; end it with progress_end()
 * @file: open
 * @out: where reports go; NULL: there is nothing to be seen before the end
 *
 * Return: a sink without a function if nobody is to see a line: standard error is no terminal, or
 * reports come to one as they are made, or to a program that may show them on one.
 */
struct trace_sink progress_sink(struct progress *p, const struct replay_file *file, FILE *out);

/**
 * progress_count() - one more of something has been read, of nobody knows how many
 * @p: as above, without a file
 * @who: name of the command
 * @what: what it is: "jobs"
 */
void progress_count(struct progress *p, const char *who, const char *what);

/** progress_end() - remove the line */
void progress_end(struct progress *p);

#endif
