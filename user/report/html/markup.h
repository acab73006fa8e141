/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* HTML, written to a memory stream: its errors show up when it is closed. */
#ifndef REPORT_HTML_MARKUP_H
#define REPORT_HTML_MARKUP_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "report/grid.h"

/** markup_text() - an untrusted text, escaped */
void markup_text(FILE *out, const char *text);

/** markup_path() - as markup_text(), with line breaks allowed behind slashes */
void markup_path(FILE *out, const char *text);

/**
 * markup_json_text() - JSON inside of a script element, which it cannot end, in memory
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

/**
 * markup_value() - a cell with a typed number, as tables for people have it
 * @out: where to
 * @cell: GRID_ABSENT, and a percentage of nothing, is an unknown value. Ranges are sorted by their
 *	upper end, rates by bytes. Bytes, energy and times have the exact number as their title
 */
void markup_value(FILE *out, struct grid_cell cell);

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
