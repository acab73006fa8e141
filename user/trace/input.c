// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trace/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_SIZE (256u << 10)

int input_open(struct input *in, const char *path)
{
	*in = (struct input){ .fd = STDIN_FILENO };
	if (strcmp(path, "-"))
		in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return in->fd < 0 ? -errno : 0;
}

void input_release(struct input *in)
{
	if (in->fd > STDERR_FILENO)
		close(in->fd);
	free(in->buf);
	*in = (struct input){ .fd = -1 };
}

/* Room for @want bytes at @at, and some more to read in large pieces. */
static int make_room(struct input *in, size_t want)
{
	size_t cap = want + READ_SIZE;
	uint8_t *bigger;

	if (in->cap - in->at >= want)
		return 0;
	if (in->nr)
		memmove(in->buf, in->buf + in->at, in->nr);
	in->at = 0;
	if (in->cap >= want)
		return 0;
	bigger = realloc(in->buf, cap);
	if (!bigger)
		return -ENOMEM;
	in->buf = bigger;
	in->cap = cap;
	return 0;
}

int input_fill(struct input *in, size_t want)
{
	int err = in->nr < want ? make_room(in, want) : 0;
	ssize_t n;

	if (err)
		return err;
	while (in->nr < want && !in->eof) {
		n = read(in->fd, in->buf + in->at + in->nr, in->cap - in->at - in->nr);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		in->eof = n == 0;
		in->nr += n;
	}
	return 0;
}

void input_skip(struct input *in, size_t n)
{
	in->at += n;
	in->nr -= n;
	in->offset += n;
}
