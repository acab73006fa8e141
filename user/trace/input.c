// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trace/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

uint64_t input_size(const struct input *in)
{
	struct stat st;

	return !fstat(in->fd, &st) && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

/* Room for @want bytes at @at, and some more to read in large pieces. */
static int reserve(struct input *in, size_t want)
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

/* Without a caller who waits, the end of the file is final. */
static int ask(const struct input *in, bool at_end)
{
	return in->wait.more ? in->wait.more(in->wait.arg, in->fd, at_end) : !at_end;
}

int input_fill(struct input *in, size_t want)
{
	int err = in->nr < want ? reserve(in, want) : 0;
	ssize_t n;

	if (err)
		return err;
	while (in->nr < want && !in->eof) {
		err = ask(in, false);
		if (err < 0)
			return err;
		n = read(in->fd, in->buf + in->at + in->nr, in->cap - in->at - in->nr);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		in->nr += n;
		err = n ? 1 : ask(in, true);
		if (err < 0)
			return err;
		in->eof = !err;
	}
	return 0;
}

void input_skip(struct input *in, size_t n)
{
	in->at += n;
	in->nr -= n;
	in->offset += n;
}
