/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers with units, as people write them: times and sizes. */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define UNITS_TEXT_LEN 32

/* Units as messages list them */
#define UNITS_OF_TIMES "us, ms, s, min (or m), h or d"

/**
 * parse_time() - a length of time
 * @text: a decimal number and its unit: us, ms, s, min (or m), h or d
 * @bare: unit of a number that has none, NULL: it must have one
 * @ret_ns: in nanoseconds
 *
 * Return: 0, -EINVAL for something else.
 */
int parse_time(const char *text, const char *bare, uint64_t *ret_ns);

/**
 * parse_size() - a number of bytes
 * @text: a decimal number, and K, M, G or T behind it for 1024 bytes and so on
 * @ret_bytes: the size
 *
 * Return: 0, -EINVAL for something else.
 */
int parse_size(const char *text, uint64_t *ret_bytes);

/**
 * parse_rate() - bytes in a second
 * @text: a decimal number and its unit: kB/s, MB/s, GB/s, TB/s, or KiB/s, MiB/s, GiB/s, TiB/s
 * @ret_bytes: in a second
 *
 * Return: 0, -EINVAL for something else.
 */
int parse_rate(const char *text, uint64_t *ret_bytes);

/**
 * parse_percent() - a percentage, with or without "%" behind it
 * @text: "0.5" or "0.5%"
 * @ret: 0.5
 *
 * Return: 0, -EINVAL for something else.
 */
int parse_percent(const char *text, double *ret);

/** time_text() - a time in its largest whole unit, "200ms" or "1h" */
void time_text(uint64_t ns, char ret[UNITS_TEXT_LEN]);

/** size_text() - the same for a size, "1M" */
void size_text(uint64_t bytes, char ret[UNITS_TEXT_LEN]);

#endif
