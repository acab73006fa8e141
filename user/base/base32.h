/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Base32 of RFC 4648 in small letters and without "=": text that survives those who do not keep the
 * case of letters. Own code, for the C library has none, and the libraries that have it (nettle,
 * GLib) are each a hundred times what is asked of them here.
 */
#ifndef BASE_BASE32_H
#define BASE_BASE32_H

#include <stddef.h>
#include <stdint.h>

/** base32_encode() - text of bytes, terminated; to be freed. NULL without memory */
char *base32_encode(const uint8_t *bytes, size_t nr);

/**
 * base32_decode() - bytes of a text
 * @text: nothing but digits, with letters in any case
 * @ret: the bytes; to be freed
 * @ret_nr: how many
 *
 * Return: 0, -EINVAL, -ENOMEM. Outputs are untouched then.
 */
int base32_decode(const char *text, uint8_t **ret, size_t *ret_nr);

#endif
