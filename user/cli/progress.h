/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Progress of reading, for a user who waits at a terminal. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "replay/replay_file.h"

/**
 * struct progress - a line on standard error
 * @file: the file being read, NULL: something else
 * @begin_ns, @shown_ns: start of reading, and time of the last line; 0 = not yet
 * @events: so far
 * @width: of the current line
 */
struct progress {
	const struct replay_file *file;
	uint64_t begin_ns;
	uint64_t shown_ns;
	uint64_t events;
	int width;
};

/**
 * progress_sink() - receives events, and shows the progress now and then
 * @p: empty; end it with progress_end()
 * @file: open
 * @out: where reports go; NULL: no output before the end
 *
 * Return: a sink without functions if no line is wanted: standard error is no terminal, or reports
 * appear on one as they are made, or go to a program that may show them on one.
 */
struct trace_sink progress_sink(struct progress *p, const struct replay_file *file, FILE *out);

/**
 * progress_count() - count an item of an unknown total
 * @p: as above, without a file
 * @who: name of the command
 * @what: kind of item: "jobs"
 */
void progress_count(struct progress *p, const char *who, const char *what);

/** progress_is_due() - is there a terminal, and the line on it not from just now? */
bool progress_is_due(const struct progress *p);

/** progress_line() - show a text of at most 79 columns; only for a terminal */
void progress_line(struct progress *p, const char *text);

/** progress_end() - remove the line */
void progress_end(struct progress *p);

#endif
