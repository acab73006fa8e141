/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packing of numbers and texts, and reading them back. */
#ifndef REPORT_TOP_PACK_H
#define REPORT_TOP_PACK_H

#include "base/bytes.h"

/** pack_text() - a text with its NUL; NULL is kept apart from "" */
void pack_text(struct bytes *p, const char *text, size_t max);

/* The bytes were written here, so they are trusted. */
uint64_t unpack_number(struct bytes_in *u);
void unpack_raw(struct bytes_in *u, void *to, size_t size);
/** unpack_text() - it stays where it was packed */
const char *unpack_text(struct bytes_in *u);

/** pack_rounded() - a code of at most 14 bits for a number: eight bits, rounded up */
uint64_t pack_rounded(uint64_t value);
/** unpack_rounded() - the number of a code; UINT64_MAX if it is beyond that */
uint64_t unpack_rounded(uint64_t code);

#endif
