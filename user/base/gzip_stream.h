/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A stream that packs what is written to it, so that gunzip unpacks it. */
#ifndef BASE_GZIP_STREAM_H
#define BASE_GZIP_STREAM_H

#include <stdio.h>

/**
 * gzip_stream_open() - begin
 * @out: where the packed bytes go; stays open
 *
 * fclose() of it packs what is left, and fails if anything could not be written.
 *
 * Return: the stream, or NULL without memory.
 */
FILE *gzip_stream_open(FILE *out);

#endif
