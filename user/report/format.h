/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers, times and names as text. Everything here is a function of its arguments alone: no
 * locale, no clock, no terminal. Number texts are at most FORMAT_NUMBER_WIDTH columns wide for any
 * value, so a table keeps its shape; they are meant for people and too coarse for programs, which
 * read the JSON.
 */
#ifndef REPORT_FORMAT_H
#define REPORT_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/sums.h"

/* Widest number text in columns, and a buffer size for any of them. */
#define FORMAT_NUMBER_WIDTH	7
#define FORMAT_NUMBER_LEN	32

/* Widest text of format_range() in columns, and of format_rate_range(). */
#define FORMAT_RANGE_WIDTH	12
#define FORMAT_RATE_RANGE_WIDTH 11

/* Widest text of format_duration() in columns. */
#define FORMAT_TIME_WIDTH	10

/* Room for the text of format_time(). */
#define FORMAT_TIME_LEN		32
#define FORMAT_WHEN_LEN		48

/* The end of a text that format_cut() drops. */
enum format_cut_side {
	FORMAT_CUT_LEFT,  /* paths: the last components tell the most */
	FORMAT_CUT_RIGHT, /* names of programs */
};

/**
 * format_bytes() - bytes with an SI unit and three digits: "999 B", "15.6 GB"
 * @bytes: the amount
 * @ret_text: receives the text, at most FORMAT_NUMBER_WIDTH columns
 *
 * A value that would round to 1000 of a unit is written as 1.00 of the next.
 */
void format_bytes(sum128 bytes, char ret_text[FORMAT_NUMBER_LEN]);

/** format_joules() - the same for energy in nanojoules: "999 nJ", "1.50 mJ", "15.6 kJ" */
void format_joules(sum128 nanojoules, char ret_text[FORMAT_NUMBER_LEN]);

/**
 * format_rate() - GB/s (10^9 bytes per second) with three decimals
 * @bytes: the amount
 * @ns: the time it took in nanoseconds
 * @ret_text: receives the text, at most FORMAT_NUMBER_WIDTH columns
 *
 * From 1000 on there are fewer decimals so that the text still fits. A nonzero rate is never
 * written as zero but as "<0.001". "-" when @ns is 0.
 */
void format_rate(sum128 bytes, sum128 ns, char ret_text[FORMAT_NUMBER_LEN]);

/**
 * format_seconds() - a time in seconds with three decimals
 * @ns: the time in nanoseconds
 * @ret_text: receives the text, at most FORMAT_NUMBER_WIDTH columns
 *
 * As format_rate(): "<0.001" for smaller nonzero values.
 */
void format_seconds(uint64_t ns, char ret_text[FORMAT_NUMBER_LEN]);

/**
 * format_duration() - a time as schedulers write it: "02:03:04", "1-02:03:04" with days
 * @ns: the time in nanoseconds
 * @ret_text: receives the text, at most FORMAT_TIME_WIDTH columns below ten days
 *
 * Times below a minute have decimals, as "12.345 s", because short steps differ only there.
 */
void format_duration(sum128 ns, char ret_text[FORMAT_NUMBER_LEN]);

/**
 * format_ratio() - a plain quotient with three decimals
 * @part: dividend
 * @whole: divisor
 * @ret_text: receives the text as format_rate() would write it
 */
void format_ratio(sum128 part, sum128 whole, char ret_text[FORMAT_NUMBER_LEN]);

/**
 * format_decimals() - a nonnegative number with a number of decimals
 * @v: finite
 * @decimals: 0 to 4; fewer when the text would be wider than FORMAT_NUMBER_WIDTH
 * @ret_text: receives the text; "<0.001" for nonzero values that would round to zero
 */
void format_decimals(double v, int decimals, char ret_text[FORMAT_NUMBER_LEN]);

/**
 * format_percent() - a part of a whole in percent: "43.2%"
 * @part: the part
 * @whole: what is 100%
 * @ret_text: receives the text, at most FORMAT_NUMBER_WIDTH columns, and no
 *	more than 6 as long as @part <= @whole
 *
 * "0.0%" and "100%" are exact; values that only round to them are written "<0.1%" and ">99.9%". "-"
 * when @whole is 0.
 */
void format_percent(sum128 part, sum128 whole, char ret_text[FORMAT_NUMBER_LEN]);

/**
 * format_range() - the interval of a value: "7.89-10.4 GB", "≤4.10 GB", "exact"
 * @value: the value in bytes
 * @low: lower end of its interval
 * @high: upper end
 * @ret_text: receives the text, at most FORMAT_RANGE_WIDTH columns
 *
 * Both ends in the unit of the upper one, rounded outwards. A value of 0 has an upper end alone. An
 * end on the wrong side of the value counts as the value.
 */
void format_range(sum128 value, sum128 low, sum128 high, char ret_text[FORMAT_NUMBER_LEN]);

/** format_joules_range() - the same for nanojoules */
void format_joules_range(sum128 value, sum128 low, sum128 high, char ret_text[FORMAT_NUMBER_LEN]);

/**
 * format_rate_range() - the same in GB/s with up to three decimals and without a unit: "7.890-10.40"
 * @value, @low, @high: in bytes
 * @ns: the time it took in nanoseconds; "-" when it is 0
 * @ret_text: receives the text, at most FORMAT_RATE_RANGE_WIDTH columns
 */
void format_rate_range(sum128 value, sum128 low, sum128 high, sum128 ns,
		       char ret_text[FORMAT_NUMBER_LEN]);

/**
 * format_time() - RFC 3339 time in UTC with milliseconds
 * @realtime_ns: CLOCK_REALTIME in nanoseconds
 * @ret_text: receives the text, e.g. "2026-11-20T16:00:00.000Z"
 */
void format_time(uint64_t realtime_ns, char ret_text[FORMAT_TIME_LEN]);

/**
 * format_when() - format_time(), or the time in the trace if the time of day is unknown
 * @realtime_ns: 0 = not known, as in traces of other tools
 * @start_ns: on the clock of the trace
 * @ret_text: receives the text, e.g. "at 12.000 s of the trace"
 */
void format_when(uint64_t realtime_ns, uint64_t start_ns, char ret_text[FORMAT_WHEN_LEN]);

/**
 * format_terminal() - make an untrusted name safe to print
 * @name: bytes of the name
 * @max: length of the buffer @name is in; a NUL ends the name earlier
 * @ret_text: receives the text; the caller frees it
 *
 * Control characters and invalid UTF-8 become "\xNN"; invisible characters that affect the terminal
 * (direction marks, zero-width characters) become "\uNNNN". Backslashes are left alone because
 * systemd's cgroup names are full of them; the text is for people and need not be reversible.
 *
 * Return: 0 or -ENOMEM.
 */
int format_terminal(const char *name, size_t max, char **ret_text);

/** format_safe() - the same into @to, which has room for 4 * @max + 1 bytes; returns @to */
char *format_safe(char *to, const char *name, size_t max);

/**
 * FORMAT_SAFE() - a name in an array, safe to print
 * @name: the array
 *
 * The text is on the stack, until the end of the block. A branch of "if" is a block, too.
 */
#define FORMAT_SAFE(name) format_safe((char[4 *sizeof(name) + 1]){ "" }, name, sizeof(name))

/**
 * format_utf8() - make a name valid UTF-8, as JSON requires
 * @name: bytes of the name
 * @max: length of the buffer @name is in; a NUL ends the name earlier
 * @ret_text: receives the text; the caller frees it
 *
 * Each byte that is not part of a character becomes U+FFFD. Control characters
 * stay: the JSON writer escapes them.
 *
 * Return: 0 or -ENOMEM.
 */
int format_utf8(const char *name, size_t max, char **ret_text);

/**
 * format_width() - columns a text takes on a terminal
 * @text: as format_terminal() made it
 *
 * Return: the number of columns.
 */
size_t format_width(const char *text);

/** format_char_width() - columns of a character: 0 if it is drawn over the one before, 1 or 2 */
size_t format_char_width(uint32_t c);

/**
 * format_cut() - shorten a text to a number of columns
 * @text: as format_terminal() made it
 * @width: columns it may take
 * @side: where "…" replaces the lost part
 * @ret_text: receives the text; the caller frees it
 *
 * A path cut on the left begins at a "/" if that costs at most a quarter of @width.
 *
 * Return: 0 or -ENOMEM.
 */
int format_cut(const char *text, size_t width, enum format_cut_side side, char **ret_text);

/** format_ns() - nanoseconds with three digits, in FORMAT_NUMBER_WIDTH columns */
void format_ns(double ns, char ret_text[FORMAT_NUMBER_LEN]);

/**
 * format_text() - build a text in memory
 * @put: writes it to a stream; 0 or a negative errno
 * @arg: for @put
 * @ret_text: the text, to be freed; NULL after an error
 * @ret_len: its length in bytes
 *
 * Return: 0, -ENOMEM, or the error of @put.
 */
int format_text(int (*put)(FILE *out, void *arg), void *arg, char **ret_text, size_t *ret_len);

/** format_lines() - number of lines of a text, see format_text(); or a negative errno */
long format_lines(int (*put)(FILE *out, void *arg), void *arg);

/**
 * format_whole() - build a text in memory and write it with format_emit()
 * @out: where to
 * @put: writes the text to a stream of its own; 0 or a negative errno
 * @arg: for @put
 *
 * A reader never sees a part of a text because memory ran out.
 *
 * Return: 0, or a negative errno of @put with nothing written, or of the write.
 */
int format_whole(FILE *out, int (*put)(FILE *out, void *arg), void *arg);

/**
 * format_emit() - write a finished text and flush it
 * @out: where to
 * @text: the text
 * @len: its length in bytes
 *
 * Reports are written in one piece so that the error of the one write is the error of the report. A
 * closed pipe is reported only if the program ignores SIGPIPE.
 *
 * Return: 0 or a negative errno, e.g. -ENOSPC or -EPIPE.
 */
int format_emit(FILE *out, const char *text, size_t len);

#endif
