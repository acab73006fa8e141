/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers and texts, packed one behind the other, and read again. */
#ifndef REPORT_TOP_PACK_H
#define REPORT_TOP_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct pack - bytes that are being written
 * @bytes: owned
 * @failed: there was no memory, @bytes lacks something
 */
struct pack {
	uint8_t *bytes;
	size_t nr;
	size_t cap;
	bool failed;
};

/* What is being read; it was written here, so it is believed. */
struct unpack {
	const uint8_t *at;
	const uint8_t *end;
};

void pack_number(struct pack *p, uint64_t value);
void pack_raw(struct pack *p, const void *from, size_t size);
/** pack_text() - a text with its NUL; NULL is kept apart from "" */
void pack_text(struct pack *p, const char *text, size_t max);

uint64_t unpack_number(struct unpack *u);
void unpack_raw(struct unpack *u, void *to, size_t size);
/** unpack_text() - it stays where it was packed */
const char *unpack_text(struct unpack *u);

/** pack_rounded() - a code of at most 14 bits for a number: eight bits, rounded up */
uint64_t pack_rounded(uint64_t value);
/** unpack_rounded() - the number of a code; UINT64_MAX if it is beyond that */
uint64_t unpack_rounded(uint64_t code);

#endif
