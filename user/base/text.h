/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Strict parsing of small texts: numbers and the one-line files of sysfs and
 * proc. Nothing here guesses: what is not wholly understood is an error.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/**
 * parse_u64() - read an unsigned number that fills the whole string
 * @text: decimal digits, or 0x and hexadecimal digits; no sign, no blanks
 * @ret_value: the number
 *
 * Return: 0, -EINVAL when @text is not such a number, -ERANGE when it needs
 * more than 64 bits.
 */
int parse_u64(const char *text, uint64_t *ret_value);

/**
 * take_number() - read a number in front of other text
 * @text: the text as the kernel prints it: decimal, no zeros in front; moved behind it
 * @ret_value: the number
 *
 * Return: false when there is none, or one above INT32_MAX; @text may have moved then.
 */
bool take_number(const char **text, int32_t *ret_value);

/**
 * take_setting() - read the next of a list "name=number,name=number"
 * @list: the list; moved behind what was read. At its end there is none left
 * @ret_name: the name: letters, digits, "_", "-" and "."
 * @size: size of @ret_name in bytes
 * @ret_value: the number, as in parse_u64()
 *
 * Return: 0, or -EINVAL for something else (an empty list or entry, too); outputs and
 * @list are untouched then.
 */
int take_setting(const char **list, char *ret_name, size_t size, uint64_t *ret_value);

/**
 * parse_double() - read a finite decimal number that fills the whole string
 * @text: for example "0.25", "-3" or "1e6"; a decimal point whatever the locale
 *	of the user, no blanks, no hexadecimal form, no infinity and no NaN
 * @ret_value: the number
 *
 * Return: 0, -EINVAL when @text is not such a number, -ERANGE when it is too
 * large or too close to zero for a double, -ENOMEM.
 */
int parse_double(const char *text, double *ret_value);

/**
 * read_line_at() - read the first line of a file
 * @dirfd: directory that @path starts from, or AT_FDCWD
 * @path: file to read
 * @ret_line: the line without its newline; "" for an empty file
 * @size: size of @ret_line in bytes, with the final NUL
 *
 * Return: 0, -E2BIG when the line does not fit, -EINVAL when it contains a NUL
 * byte, -ENOMEM, or the error of opening or reading the file.
 */
int read_line_at(int dirfd, const char *path, char *ret_line, size_t size);

/** file_at() - open a file for reading whose path, from @dirfd on, is printed; NULL with errno */
__attribute__((format(printf, 2, 3))) FILE *file_at(int dirfd, const char *path, ...);

/**
 * next_line() - read the next line of a text of any length
 * @in: the text; may be anything, also one without an end
 * @ret_line: the line without its newline
 * @size: size of @ret_line in bytes, with the final NUL
 *
 * Return: 1, 0 at the end of the text, -E2BIG when the line does not fit, -EINVAL when it contains
 * a NUL byte, or the error of reading.
 */
int next_line(FILE *in, char *ret_line, size_t size);

/**
 * str_copy() - copy a string into a buffer of fixed size
 * @dst: always ends with NUL afterwards
 * @size: size of @dst in bytes, at least 1
 * @src: what to copy
 *
 * Return: 0, or -ENAMETOOLONG when @src was cut.
 */
int str_copy(char *dst, size_t size, const char *src);

/**
 * str_append() - add formatted text to a string in a buffer of fixed size
 * @dst: the string so far; always ends with NUL afterwards
 * @size: size of @dst in bytes
 * @fmt: what to add
 *
 * Return: 0, or -ENAMETOOLONG when the text was cut.
 */
int str_append(char *dst, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
