/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Points in time as people give them: how long ago, or when. */
#ifndef CLI_TIME_ARG_H
#define CLI_TIME_ARG_H

#include <stdint.h>

/**
 * time_arg_parse() - a point in time
 * @text: how long before @now_ns ("90s", "15m", "2.5h", "7d"), seconds since 1970 ("@1763740800"),
 *	a time of today ("16:30", "16:30:05"), or a date with or without a time ("2026-11-22",
 *	"2026-11-22T16:30", "2026-11-22 16:30:05"); local time, with a Z behind it UTC
 * @now_ns: CLOCK_REALTIME
 * @ret_ns: CLOCK_REALTIME, untouched when this fails
 *
 * Return: 0, or -EINVAL for something else and for times before 1970.
 */
int time_arg_parse(const char *text, uint64_t now_ns, uint64_t *ret_ns);

#endif
