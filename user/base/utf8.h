/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names that anybody could have chosen: what in them is a character, and which do no harm. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * utf8_decode() - decode the first character of a text
 * @text: the text, need not end with NUL
 * @len: its length in bytes
 * @ret_char: the character
 *
 * Return: its length in bytes, or 0 when the bytes are not a character: cut short, overlong, a
 * surrogate, or beyond U+10FFFF; also for an empty text.
 */
size_t utf8_decode(const char *text, size_t len, uint32_t *ret_char);

/**
 * utf8_unsafe() - is it a character that is not to reach a terminal from a name?
 *
 * True for controls, and for format characters, which are invisible or reorder what stands
 * around them.
 */
bool utf8_unsafe(uint32_t c);

/**
 * utf8_harmless() - copy a name, so that it can be shown anywhere
 * @dst: always ends with NUL afterwards
 * @size: size of @dst in bytes, at least 1
 * @src: bytes of the name, may be anything
 * @len: how many
 *
 * Bytes that are no character, and unsafe characters, become a "?" each. What does not fit is cut
 * off between two characters.
 *
 * Return: 0, or -ENAMETOOLONG when it was cut.
 */
int utf8_harmless(char *dst, size_t size, const char *src, size_t len);

#endif
