/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Base64 and base32 of RFC 4648. Own code, for the C library has none and the libraries that have
 * them (OpenSSL, nettle, GLib) are each a hundred times what is asked of them here. Base32 is in
 * small letters and without "=": text that survives those who do not keep the case of letters.
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stddef.h>
#include <stdint.h>

/** base64_encode(), base32_encode() - text of bytes, terminated; to be freed. NULL without memory */
char *base64_encode(const uint8_t *bytes, size_t nr);
char *base32_encode(const uint8_t *bytes, size_t nr);

/**
 * base64_decode(), base32_decode() - bytes of a text
 * @text: nothing but digits: base64 in whole groups of four, the last one filled up with "=";
 *	base32 with letters in any case
 * @ret: the bytes; to be freed
 * @ret_nr: how many
 *
 * Return: 0, -EINVAL, -ENOMEM. Outputs are untouched then.
 */
int base64_decode(const char *text, uint8_t **ret, size_t *ret_nr);
int base32_decode(const char *text, uint8_t **ret, size_t *ret_nr);

#endif
