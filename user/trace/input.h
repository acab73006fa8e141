/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Buffered reading of trace files, from disk or a pipe. */
#ifndef TRACE_INPUT_H
#define TRACE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct input - a file being read
 * @fd: closed by input_release(), except standard input
 * @buf, @cap: buffer
 * @at, @nr: what is buffered and not used yet
 * @offset: of @at in the file
 * @eof: there is nothing behind the buffer
 */
struct input {
	int fd;
	uint8_t *buf;
	size_t cap;
	size_t at;
	size_t nr;
	uint64_t offset;
	bool eof;
};

/** input_open() - @path, "-" is standard input; 0 or a negative errno */
int input_open(struct input *in, const char *path);
void input_release(struct input *in);

/** input_fill() - try to have @want bytes buffered; less only at the end of the file */
int input_fill(struct input *in, size_t want);

/** input_skip() - use @n bytes, which are buffered */
void input_skip(struct input *in, size_t n);

static inline const uint8_t *input_data(const struct input *in)
{
	return in->buf + in->at;
}

#endif
