// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/program/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Hand on the complete lines; the rest moves to the front. */
static void cut(struct program_lines *l)
{
	size_t from = 0;
	const char *end;

	while ((end = memchr(l->text + from, '\n', l->nr - from))) {
		size_t size = end - (l->text + from);

		if (!l->skip && size)
			l->take(l->arg, l->text + from, size);
		l->skip = false;
		from += size + 1;
	}
	l->nr -= from;
	memmove(l->text, l->text + from, l->nr);
	if (l->nr < PROGRAM_LINE_MAX && !l->skip)
		return;
	l->too_long += !l->skip;
	l->skip = true;
	l->nr = 0;
}

ssize_t program_lines_read(struct program_lines *l, int fd, size_t max)
{
	size_t sum = 0, room;
	ssize_t n;

	if (!l->text)
		l->text = malloc(PROGRAM_LINE_MAX);
	if (!l->text)
		return -ENOMEM;
	while (sum < max) {
		room = PROGRAM_LINE_MAX - l->nr;
		n = read(fd, l->text + l->nr, room < max - sum ? room : max - sum);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0)
			return -errno;
		/* Earlier data is handed on first. */
		if (!n)
			return sum ? (ssize_t)sum : -EPIPE;
		l->nr += n;
		sum += n;
		cut(l);
	}
	return sum;
}

bool program_lines_end(struct program_lines *l)
{
	bool half = l->nr || l->skip;

	l->nr = 0;
	l->skip = false;
	return half;
}

void program_lines_free(struct program_lines *l)
{
	free(l->text);
	l->text = NULL;
}
