// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/grid.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* Pending blanks, written only before other text. */
struct pen {
	const struct grid *g;
	size_t blanks;
	bool first; /* no column yet */
};

static struct pen pen_at(const struct grid *g)
{
	return (struct pen){ .g = g, .blanks = g->indent, .first = true };
}

static size_t gap_of(const struct grid_column *c, bool first)
{
	return first ? 0 : (size_t)(1 + c->gap);
}

size_t grid_columns_width(const struct grid *g, size_t nr)
{
	size_t width = 0;
	bool first = true;

	for (size_t i = 0; i < nr; i++) {
		if (g->columns[i].hidden)
			continue;
		width += gap_of(&g->columns[i], first) + g->columns[i].width + g->columns[i].marks;
		first = false;
	}
	return width;
}

/* --- choice of columns */

static void hide_from(struct grid *g, int rank)
{
	for (size_t i = 0; i < g->nr; i++)
		g->columns[i].hidden |= g->columns[i].rank >= rank;
}

/* Do all columns up to a rank fit? */
static bool fits(const struct grid *g, int rank, long *ret_room)
{
	size_t taken = g->indent;
	bool first = true;

	for (size_t i = 0; i < g->nr; i++) {
		if (g->columns[i].hidden || g->columns[i].rank > rank)
			continue;
		taken += gap_of(&g->columns[i], first) + g->columns[i].width + g->columns[i].marks;
		first = false;
	}
	*ret_room = (long)g->width - (long)taken;
	return *ret_room >= 0;
}

static void grow(struct grid *g, int rank, int early)
{
	for (size_t i = 0; i < g->nr; i++) {
		struct grid_column *c = &g->columns[i];
		long room, width;

		if (c->hidden || !c->most || c->early != early)
			continue;
		fits(g, rank, &room);
		width = (long)c->width + room;
		if (width < (long)c->least)
			width = (long)c->least;
		c->width = (size_t)width < c->most ? (size_t)width : c->most;
	}
}

void grid_fit(struct grid *g)
{
	int ranks = 0;
	bool or_none;
	long room;

	for (size_t i = 0; i < g->nr; i++) {
		struct grid_column *c = &g->columns[i];
		const struct grid_place at = { .table = g->table, .column = c };

		if (!c->width && !c->most)
			c->width = FORMAT_NUMBER_WIDTH;
		c->hidden = c->hidden || (c->shown && !c->shown(&at));
		ranks = c->rank > ranks ? c->rank : ranks;
	}
	for (int rank = 1; rank <= ranks; rank++) {
		grow(g, rank - 1, rank);
		if (fits(g, rank, &room))
			continue;
		or_none = false;
		for (size_t i = 0; i < g->nr; i++) {
			struct grid_column *c = &g->columns[i];

			if (c->rank != rank || c->hidden)
				continue;
			c->hidden = true;
			or_none |= c->or_none;
		}
		if (or_none)
			hide_from(g, rank);
	}
	grow(g, ranks, 0);
}

/* --- texts */

static void put_text(struct pen *p, const char *text)
{
	if (!*text)
		return;
	fprintf(p->g->out, "%*s%s", (int)p->blanks, "", text);
	p->blanks = 0;
}

static void put_padded(struct pen *p, const struct grid_column *c, const char *text, char mark)
{
	size_t used = format_width(text), pad = used < c->width ? c->width - used : 0;
	bool left = c->look != GRID_NUMBER && c->look != GRID_ID;

	p->blanks += gap_of(c, p->first) + (left ? 0 : pad);
	p->first = false;
	put_text(p, text);
	p->blanks += left ? pad : 0;
	if (c->marks && mark)
		put_text(p, (const char[]){ mark, '\0' });
	else
		p->blanks += c->marks;
}

/* A line of a heading; NULL: none. @from_end is 0 for the last one. */
static const char *head_line(const struct grid_column *c, size_t from_end, size_t *ret_len)
{
	const char *line = c->head, *end;

	if (c->unit && !from_end--) {
		*ret_len = strlen(c->unit);
		return c->unit;
	}
	if (!line)
		return NULL;
	for (end = line + strlen(line);; end = line - 1, from_end--) {
		line = memrchr(c->head, '\n', (size_t)(end - c->head));
		line = line ? line + 1 : c->head;
		*ret_len = (size_t)(end - line);
		if (!from_end || line == c->head)
			return from_end ? NULL : line;
	}
}

/* Does any column have a word on a line of the heading, and does the line exist? */
static bool head_has(const struct grid *g, size_t from_end, bool *ret_word)
{
	bool any = false;
	size_t len;

	*ret_word = false;
	for (size_t i = 0; i < g->nr; i++) {
		if (g->columns[i].hidden || !head_line(&g->columns[i], from_end, &len))
			continue;
		any = true;
		*ret_word |= len > 0;
	}
	return any;
}

void grid_heading(const struct grid *g)
{
	size_t height = 0, len;
	bool word;

	while (head_has(g, height, &word))
		height++;
	while (height--) {
		struct pen p = pen_at(g);

		if (!head_has(g, height, &word) || !word)
			continue;
		for (size_t i = 0; i < g->nr; i++) {
			const char *line = head_line(&g->columns[i], height, &len);
			char text[128];

			snprintf(text, sizeof(text), "%.*s", line ? (int)len : 0, line ? line : "");
			if (!g->columns[i].hidden)
				put_padded(&p, &g->columns[i], text, '\0');
		}
		fputc('\n', g->out);
	}
}

void grid_number(const struct grid_cell *cell, char text[FORMAT_NUMBER_LEN])
{
	text[0] = '\0';
	switch (cell->type) {
	case GRID_EMPTY:
	case GRID_TEXT:
		break;
	case GRID_ABSENT:
		strcpy(text, "-");
		break;
	case GRID_NO_DATA:
		strcpy(text, "no data");
		break;
	case GRID_BYTES:
		format_bytes(cell->value, text);
		break;
	case GRID_JOULES:
		format_joules(cell->value, text);
		break;
	case GRID_RATE:
		format_rate(cell->value, cell->whole, text);
		break;
	case GRID_SECONDS:
		format_seconds((uint64_t)cell->value, text);
		break;
	case GRID_RATIO:
		format_ratio(cell->value, cell->whole, text);
		break;
	case GRID_PERCENT:
		format_percent(cell->value, cell->whole, text);
		break;
	case GRID_RANGE:
		text[0] = '~';
		format_range(cell->value, cell->low, cell->high, text + cell->tangled);
		break;
	case GRID_RATE_RANGE:
		format_rate_range(cell->value, cell->low, cell->high, cell->whole, text);
		break;
	case GRID_JOULES_RANGE:
		text[0] = '~';
		format_joules_range(cell->value, cell->low, cell->high, text + cell->tangled);
		break;
	case GRID_NS:
		format_ns(cell->real, text);
		break;
	}
}

static int put_cut(struct pen *p, const struct grid_column *c, const char *text, char mark)
{
	cleanup_free char *cut = NULL;
	int err;

	if (c->look == GRID_NUMBER || c->look == GRID_LEFT || format_width(text) <= c->width) {
		put_padded(p, c, text, mark);
		return 0;
	}
	err = format_cut(text, c->width, c->look == GRID_PATH ? FORMAT_CUT_LEFT : FORMAT_CUT_RIGHT,
			 &cut);
	if (!err)
		put_padded(p, c, cut, mark);
	return err;
}

static int put_cells(struct pen *p, size_t first, const void *row)
{
	const struct grid *g = p->g;
	int err = 0;

	for (size_t i = first; i < g->nr && !err; i++) {
		const struct grid_column *c = &g->columns[i];
		const struct grid_place at = { g->table, row, c };
		struct grid_cell cell = { 0 };
		char number[FORMAT_NUMBER_LEN];

		if (c->hidden)
			continue;
		if (c->cell)
			cell = c->cell(&at);
		grid_number(&cell, number);
		err = cell.err ? cell.err
			       : put_cut(p, c, cell.text ? cell.text : number, cell.mark);
		free(cell.text);
	}
	fputc('\n', g->out);
	return err;
}

int grid_row(const struct grid *g, const void *row)
{
	struct pen p = pen_at(g);

	return put_cells(&p, 0, row);
}

int grid_line(const struct grid *g, const char *label, size_t nr, const void *row)
{
	struct pen p = pen_at(g);
	const struct grid_column left = {
		.width = grid_columns_width(g, nr),
		.look = GRID_NAME,
	};
	int err = put_cut(&p, &left, label, '\0');

	return err ? err : put_cells(&p, nr, row);
}

/* --- cells */

struct grid_cell grid_if(bool known, struct grid_cell cell)
{
	if (known)
		return cell;
	free(cell.text);
	return grid_is(GRID_ABSENT);
}

struct grid_cell grid_take(char *text, int err)
{
	return (struct grid_cell){ .type = GRID_TEXT, .text = text, .err = err };
}

struct grid_cell grid_text(const char *format, ...)
{
	char *text;
	va_list args;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	return len < 0 ? grid_take(NULL, -ENOMEM) : grid_take(text, 0);
}

struct grid_cell grid_name(const char *name, size_t max)
{
	char *text = NULL;
	int err = format_terminal(name, max, &text);

	return grid_take(text, err);
}
