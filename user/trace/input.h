/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Buffered reading of trace files, from disk or a pipe. */
#ifndef TRACE_INPUT_H
#define TRACE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct input_wait - a caller with other work while there is nothing to read
 * @more: called before each read(), and with @at_end when it found the end. Positive: read (again);
 *	0: this is the end; a negative errno. NULL: there is none
 * @arg: handed to it
 */
struct input_wait {
	int (*more)(void *arg, int fd, bool at_end);
	void *arg;
};

/**
 * struct input - a file being read
 * @fd: closed by input_release(), except standard input
 * @buf, @cap: buffer
 * @at, @nr: buffered bytes that are not used yet
 * @offset: of @at in the file
 * @eof: there is nothing behind the buffer
 * @wait: called before it waits
 */
struct input {
	int fd;
	uint8_t *buf;
	size_t cap;
	size_t at;
	size_t nr;
	uint64_t offset;
	bool eof;
	struct input_wait wait;
};

/** input_open() - @path, "-" is standard input; 0 or a negative errno */
int input_open(struct input *in, const char *path);
void input_release(struct input *in);

/** input_fill() - try to have @want bytes buffered; less only at the end of the file */
int input_fill(struct input *in, size_t want);

/** input_skip() - use @n bytes, which are buffered */
void input_skip(struct input *in, size_t n);

/** input_size() - of the file; 0 for a pipe */
uint64_t input_size(const struct input *in);

static inline const uint8_t *input_data(const struct input *in)
{
	return in->buf + in->at;
}

#endif
