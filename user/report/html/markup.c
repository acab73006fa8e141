// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/html/markup.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/format.h"

static void put_character(FILE *out, char c)
{
	switch (c) {
	case '<':
		fputs("&lt;", out);
		break;
	case '>':
		fputs("&gt;", out);
		break;
	case '&':
		fputs("&amp;", out);
		break;
	case '"':
		fputs("&quot;", out);
		break;
	case '\'':
		fputs("&#39;", out);
		break;
	default:
		fputc(c, out);
	}
}

void markup_text(FILE *out, const char *text)
{
	for (; *text; text++)
		put_character(out, *text);
}

void markup_path(FILE *out, const char *text)
{
	for (; *text; text++) {
		put_character(out, *text);
		if (*text == '/' && text[1])
			fputs("<wbr>", out);
	}
}

/* In JSON these three occur in strings only, where a number can replace them. */
static int put_escaped(const char *text, size_t length, void *arg)
{
	FILE *out = arg;

	for (size_t i = 0; i < length; i++)
		if (strchr("<>&", text[i]) && text[i])
			fprintf(out, "\\u%04x", (unsigned int)text[i]);
		else
			fputc(text[i], out);
	return ferror(out) ? -1 : 0;
}

static int put_json(FILE *out, void *arg)
{
	/* Latencies, the only fractional numbers, have tenths. */
	int flags = JSON_COMPACT | JSON_REAL_PRECISION(12);

	return json_dump_callback(arg, put_escaped, out, flags) ? -ENOMEM : 0;
}

int markup_json_text(json_t *json, char **ret_text, size_t *ret_len)
{
	int err = format_text(put_json, json, ret_text, ret_len);

	json_decref(json);
	return err;
}

int markup_pre(FILE *out, int (*put)(FILE *out, void *arg), void *arg)
{
	cleanup_free char *text = NULL;
	size_t len;
	int err = format_text(put, arg, &text, &len);

	if (err)
		return err;
	fputs("<pre>", out);
	markup_text(out, text);
	fputs("</pre>\n", out);
	return 0;
}

void markup_cell(FILE *out, const char *text)
{
	fputs("<td>", out);
	markup_path(out, text);
	fputs("</td>", out);
}

/* With the exact number as a title where @unit is not NULL; it is that of @exact. */
static void put_number(FILE *out, const char *shown, uint64_t exact, const char *unit)
{
	fprintf(out, "<td class=\"n\" data-v=\"%" PRIu64 "\"", exact);
	if (unit)
		fprintf(out, " title=\"%" PRIu64 " %s\"", exact, unit);
	fputs(">", out);
	markup_text(out, shown);
	fputs("</td>", out);
}

void markup_number(FILE *out, const char *shown, uint64_t exact)
{
	put_number(out, shown, exact, NULL);
}

void markup_count(FILE *out, uint64_t value)
{
	fprintf(out, "<td class=\"n\">%" PRIu64 "</td>", value);
}

/* A sum of invalid values may exceed any integer type. */
static uint64_t whole_number(double v)
{
	return v < 1e18 ? (uint64_t)(v + 0.5) : (uint64_t)1e18;
}

/* Sorted by the upper end. */
static void put_range(FILE *out, const struct grid_cell *cell)
{
	uint64_t low = sum128_cut(cell->low, UINT64_MAX), high = sum128_cut(cell->high, UINT64_MAX);
	char text[FORMAT_NUMBER_LEN];

	grid_number(cell, text);
	fprintf(out,
		"<td class=\"n\" data-v=\"%" PRIu64 "\" data-low=\"%" PRIu64
		"\" data-high=\"%" PRIu64 "\" title=\"%" PRIu64 " to %" PRIu64 " %s\">%s</td>",
		high, low, high, low, high, cell->type == GRID_RANGE ? "bytes" : "nJ", text);
}

static const char *exact_unit(const struct grid_cell *cell)
{
	switch (cell->type) {
	case GRID_BYTES:
	case GRID_RATE:
		return "bytes";
	case GRID_JOULES:
		return "nJ";
	case GRID_SECONDS:
		return "ns";
	default:
		return NULL;
	}
}

void markup_value(FILE *out, struct grid_cell cell)
{
	bool percent = cell.type == GRID_PERCENT;
	char text[FORMAT_NUMBER_LEN];
	/* Numbers of an interval fit. */
	uint64_t exact = sum128_cut(cell.value, UINT64_MAX);

	if (cell.type == GRID_ABSENT || (percent && !cell.whole)) {
		markup_none(out);
		return;
	}
	if (cell.type == GRID_RANGE || cell.type == GRID_JOULES_RANGE) {
		put_range(out, &cell);
		return;
	}
	if (percent)
		exact = whole_number((double)cell.value / (double)cell.whole * 1e9);
	else if (cell.type == GRID_NS)
		exact = whole_number(cell.real * 10);
	grid_number(&cell, text);
	put_number(out, text, exact, exact_unit(&cell));
}

void markup_none(FILE *out)
{
	fputs("<td class=\"n none\">–</td>", out);
}

void markup_nones(FILE *out, int nr)
{
	while (nr-- > 0)
		markup_none(out);
}

void markup_table(FILE *out, const char *id, const char *caption, const char *columns)
{
	fprintf(out, "<div class=\"wide\"><table id=\"%s\"><caption>%s</caption>\n<thead><tr>", id,
		caption);
	while (*columns) {
		size_t length = strcspn(columns, "|");

		if (*columns == '#')
			fprintf(out, "<th scope=\"col\" class=\"n\">%.*s</th>", (int)length - 1,
				columns + 1);
		else
			fprintf(out, "<th scope=\"col\">%.*s</th>", (int)length, columns);
		columns += length + (columns[length] == '|');
	}
	fputs("</tr></thead>\n<tbody>\n", out);
}

void markup_table_end(FILE *out)
{
	fputs("</tbody></table></div>\n", out);
}
