/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packing of numbers, texts and identities of rows, and reading them back. */
#ifndef REPORT_TOP_PACK_H
#define REPORT_TOP_PACK_H

#include "base/bytes.h"
#include "model.h"

/* The bytes were written here, so they are trusted. */
uint64_t unpack_number(struct bytes_in *u);
void unpack_raw(struct bytes_in *u, void *to, size_t size);
/** unpack_text() - it stays where it was packed */
const char *unpack_text(struct bytes_in *u);

/** pack_rounded() - a code of at most 14 bits for a number: eight bits, rounded up */
uint64_t pack_rounded(uint64_t value);
/** unpack_rounded() - the number of a code; UINT64_MAX if it is beyond that */
uint64_t unpack_rounded(uint64_t code);

/**
 * pack_who() - a row's identity: the part that stays the same between intervals
 * @w: empty
 * @r: the row
 * @ret_key: where the row's key is in it, as a packed text
 */
void pack_who(struct bytes *w, const struct report_row *r, size_t *ret_key);

/** unpack_who() - the reverse; texts that are no arrays stay in @bytes. 0 or -ENOMEM */
int unpack_who(const uint8_t *bytes, size_t size, struct report_row *r);

/* Users that are kept of a device, and as many that prevent an owner; the rest is their number. */
#define PACK_USERS 32

/** pack_users() - the lists of the users of a device; the rest of it is packed as it is */
void pack_users(struct bytes *w, const struct device_users *u);

/**
 * unpack_users() - the reverse
 * @u: where to read
 * @ret: the rest of it; gets new lists, to be freed with device_users_release() also after an error
 *
 * Return: 0 or -ENOMEM.
 */
int unpack_users(struct bytes_in *u, struct device_users *ret);

#endif
