// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/csv/line.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/digits.h"
#include "base/sums.h"
#include "report/format.h"

void csv_number(struct csv_line *l, enum csv_column c, sum128 value)
{
	l->cells[c] = (struct csv_cell){ .type = CSV_NUMBER, .number = value };
}

void csv_bool(struct csv_line *l, enum csv_column c, bool value)
{
	l->cells[c] = (struct csv_cell){ .type = CSV_BOOL, .number = value };
}

void csv_ratio(struct csv_line *l, enum csv_column c, double value)
{
	l->cells[c] = (struct csv_cell){ .type = CSV_RATIO, .real = value };
}

void csv_tenths(struct csv_line *l, enum csv_column c, double value)
{
	l->cells[c] = (struct csv_cell){ .type = CSV_TENTHS, .real = value };
}

void csv_text(struct csv_line *l, enum csv_column c, const char *text, size_t max)
{
	l->cells[c] =
		(struct csv_cell){ .type = text ? CSV_TEXT : CSV_EMPTY, .text = text, .max = max };
}

void csv_word(struct csv_line *l, enum csv_column c, const char *word)
{
	csv_text(l, c, word, SIZE_MAX);
}

void csv_quality(struct csv_line *l, const struct quality *q)
{
	uint64_t lost[] = { q->lost_windows, q->lost_tasks,  q->lost_cgroups, q->lost_io,
			    q->late_slices,  q->lost_slices, q->bad_records };
	uint64_t sum = 0;

	for (size_t i = 0; i < ARRAY_SIZE(lost); i++)
		sum = sum_capped(sum, lost[i]);
	csv_word(l, CSV_method, method_name(q->method));
	csv_text(l, CSV_weights, q->weights, sizeof(q->weights));
	csv_number(l, CSV_lost, sum);
	csv_number(l, CSV_lost_cpu_ns, q->lost_slices_ns);
}

/* Whether a text can stand in the file as it is. */
static bool is_plain(const char *text, size_t length)
{
	if (length && strchr("=+-@", text[0]))
		return false;
	for (size_t i = 0; i < length; i++)
		if (text[i] < ' ' || text[i] > '~' || text[i] == '"' || text[i] == ',')
			return false;
	return true;
}

static int put_text(FILE *out, const char *text, size_t max)
{
	size_t length = strnlen(text, max);
	cleanup_free char *safe = NULL;
	int err;

	if (is_plain(text, length)) {
		fwrite(text, 1, length, out);
		return 0;
	}
	err = format_terminal(text, max, &safe);
	if (err)
		return err;
	fputc('"', out);
	/* Spreadsheets compute a cell that begins like this, also in quotes. */
	if (strchr("=+-@", safe[0]))
		fputc('\'', out);
	for (const char *c = safe; *c; c++) {
		if (*c == '"')
			fputc('"', out);
		fputc(*c, out);
	}
	fputc('"', out);
	return 0;
}

static int put_cell(FILE *out, const struct csv_cell *c)
{
	char digits[DIGITS_MAX_128 + 1];

	switch (c->type) {
	case CSV_EMPTY:
		break;
	case CSV_NUMBER:
		put_digits_128(digits, c->number);
		fputs(digits, out);
		break;
	case CSV_BOOL:
		fputs(c->number ? "true" : "false", out);
		break;
	case CSV_RATIO:
		fprintf(out, "%.15g", c->real);
		break;
	case CSV_TENTHS:
		fprintf(out, "%.1f", c->real);
		break;
	case CSV_TEXT:
		return put_text(out, c->text, c->max);
	}
	return 0;
}

void csv_head(FILE *out)
{
#define CSV_HEAD(name) "," #name
	/* without the first comma */
	fputs(&(CSV_COLUMNS(CSV_HEAD) "\n")[1], out);
#undef CSV_HEAD
}

int csv_put(FILE *out, const struct csv_line *l)
{
	int err = 0;

	for (size_t i = 0; i < NR_CSV_COLUMNS && !err; i++) {
		if (i)
			fputc(',', out);
		err = put_cell(out, &l->cells[i]);
	}
	fputc('\n', out);
	return err;
}
