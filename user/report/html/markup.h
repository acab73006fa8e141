/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* HTML, written to a memory stream: its errors show up when it is closed. */
#ifndef REPORT_HTML_MARKUP_H
#define REPORT_HTML_MARKUP_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/** markup_text() - an untrusted text, escaped */
void markup_text(FILE *out, const char *text);

/** markup_path() - as markup_text(), with line breaks allowed behind slashes */
void markup_path(FILE *out, const char *text);

/** markup_json() - JSON inside of a script element, which it cannot end; 0 or -ENOMEM */
int markup_json(FILE *out, const json_t *json);

/**
 * markup_json_text() - the same in memory
 * @json: released
 * @ret_text: to be freed; NULL after an error
 * @ret_len: its length in bytes
 *
 * Return: 0 or -ENOMEM.
 */
int markup_json_text(json_t *json, char **ret_text, size_t *ret_len);

/**
 * markup_pre() - a preformatted text, as on a terminal
 * @out: where to
 * @put: writes it, see format_text()
 * @arg: for @put
 *
 * Return: 0, -ENOMEM, or the error of @put.
 */
int markup_pre(FILE *out, int (*put)(FILE *out, void *arg), void *arg);

/** markup_cell() - a cell of a table with a text or a path */
void markup_cell(FILE *out, const char *text);

/** markup_count() - a cell with a whole number */
void markup_count(FILE *out, uint64_t value);

/**
 * markup_number() - a cell with a number
 * @out: where to
 * @shown: text for people, as format.h writes it
 * @exact: value for programs and sorting
 */
void markup_number(FILE *out, const char *shown, uint64_t exact);

/** markup_bytes(), markup_seconds() - cells formatted by the format functions */
void markup_bytes(FILE *out, uint64_t bytes);
void markup_seconds(FILE *out, uint64_t ns);

/** markup_rate() - a cell with bytes per second; sorted by bytes */
void markup_rate(FILE *out, uint64_t bytes, uint64_t ns);

/** markup_range() - a cell with both ends of an interval; sorted by its length */
void markup_range(FILE *out, uint64_t low, uint64_t high);

/** markup_tenths() - a cell with nanoseconds; sorted by tenths of them */
void markup_tenths(FILE *out, double ns);

/** markup_percent() - a cell with a part of a whole */
void markup_percent(FILE *out, uint64_t part, uint64_t whole);

/** markup_none(), markup_nones() - one or several cells for unknown values */
void markup_none(FILE *out);
void markup_nones(FILE *out, int nr);

/**
 * markup_table() - begin a table that can be sorted; end it with markup_table_end()
 * @out: where to
 * @id: of the table
 * @caption: its caption
 * @columns: headings between "|"; one that begins with "#" is of numbers
 */
void markup_table(FILE *out, const char *id, const char *caption, const char *columns);
void markup_table_end(FILE *out);

#endif
