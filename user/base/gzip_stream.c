// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/gzip_stream.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

struct gzip_stream {
	z_stream z;
	FILE *out;
	unsigned char packed[16384];
};

/* Pack all of the input; 0 or -1 with errno. */
static int pack(struct gzip_stream *g, int flush)
{
	do {
		size_t nr;

		g->z.next_out = g->packed;
		g->z.avail_out = sizeof(g->packed);
		deflate(&g->z, flush);
		nr = sizeof(g->packed) - g->z.avail_out;
		if (fwrite(g->packed, 1, nr, g->out) != nr)
			return -1;
	} while (!g->z.avail_out);
	return 0;
}

static ssize_t write_some(void *cookie, const char *bytes, size_t nr)
{
	struct gzip_stream *g = cookie;

	/* A stream writes what it has room for: that is less than an unsigned int holds. */
	g->z.next_in = (Bytef *)(uintptr_t)bytes;
	g->z.avail_in = (uInt)nr;
	return pack(g, Z_NO_FLUSH) ? 0 : (ssize_t)nr;
}

static int finish(void *cookie)
{
	struct gzip_stream *g = cookie;
	int err = pack(g, Z_FINISH) || fflush(g->out) ? -1 : 0, problem = errno;

	deflateEnd(&g->z);
	free(g);
	errno = problem;
	return err;
}

FILE *gzip_stream_open(FILE *out)
{
	const cookie_io_functions_t functions = { .write = write_some, .close = finish };
	struct gzip_stream *g = calloc(1, sizeof(*g));
	FILE *stream;

	if (!g)
		return NULL;
	g->out = out;
	/* 16: with the head of gzip */
	if (deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(g);
		return NULL;
	}
	stream = fopencookie(g, "w", functions);
	if (!stream) {
		deflateEnd(&g->z);
		free(g);
	}
	return stream;
}
