/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines of a program that may print anything, in bounded memory. */
#ifndef LIVE_PROGRAM_LINES_H
#define LIVE_PROGRAM_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A longer line is left out, and counted. */
#define PROGRAM_LINE_MAX 65536

/**
 * struct program_lines - an incomplete line
 * @text: the line; owned
 * @nr: bytes of it
 * @skip: it is too long: the rest up to its end is left out
 * @too_long: lines that were too long
 * @take: gets each whole line, without its newline; never an empty one
 * @arg: handed to it
 */
struct program_lines {
	char *text;
	size_t nr;
	bool skip;
	uint64_t too_long;
	void (*take)(void *arg, const char *text, size_t size);
	void *arg;
};

/**
 * program_lines_read() - read available data from a descriptor
 * @l: all zero but for @take and @arg before the first call
 * @fd: nonblocking
 * @max: bytes to read at most
 *
 * Return: number of bytes; 0: no data now, or @max is used up; -EPIPE at the end; another negative
 * errno.
 */
ssize_t program_lines_read(struct program_lines *l, int fd, size_t max);

/** program_lines_end() - drop an incomplete line; was there one? */
bool program_lines_end(struct program_lines *l);

/** program_lines_free() - release */
void program_lines_free(struct program_lines *l);

#endif
