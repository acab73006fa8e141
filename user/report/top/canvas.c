// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/top/canvas.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"
#include "report/format.h"

#define BRAILLE	     0x2800
#define LAST_BRAILLE 0x28ff

/**
 * struct canvas_cell - a place of a character
 * @text: the character; 0 for the second half of the one before
 * @look: enum canvas_look
 */
struct canvas_cell {
	uint32_t text;
	uint8_t look;
};

/* ASCII replacements of characters */
static const struct {
	uint32_t text;
	char ascii;
} substitutes[] = {
	{ 0x2588, '#' }, { 0x2593, '=' }, { 0x2592, '-' }, { 0x2591, '.' }, { 0x00b7, '.' },
	{ 0x2500, '-' }, { 0x2502, '|' }, { 0x2026, '~' }, { 0x2190, '<' }, { 0x2192, '>' },
	{ 0x25b8, '+' }, { 0x25be, '-' }, { 0x25bc, 'v' }, { 0x25b2, '^' }, { 0x25cf, '*' },
	{ 0x2013, '-' }, { 0x2191, '^' }, { 0x2193, 'v' },
};

/* Its ASCII form takes two columns. */
#define AT_MOST 0x2264

int canvas_resize(struct canvas *c, size_t rows, size_t columns)
{
	struct canvas_cell *cells = reallocarray(c->cells, rows * columns + 1, sizeof(*cells));

	if (!cells)
		return -ENOMEM;
	c->cells = cells;
	c->rows = rows;
	c->columns = columns;
	for (size_t i = 0; i < rows * columns; i++)
		cells[i] = (struct canvas_cell){ ' ', LOOK_PLAIN };
	return 0;
}

void canvas_free(struct canvas *c)
{
	free(c->cells);
	*c = (struct canvas){ 0 };
}

/* The existing columns from @column on, at most @width */
static size_t room(const struct canvas *c, size_t row, size_t column, size_t width)
{
	if (row >= c->rows || column >= c->columns)
		return 0;
	return width < c->columns - column ? width : c->columns - column;
}

/* Half of a wide character cannot be shown: its other half goes, too. */
static void cover(struct canvas *c, size_t row, size_t column, size_t width)
{
	struct canvas_cell *line = c->cells + row * c->columns;

	if (!line[column].text && column)
		line[column - 1].text = ' ';
	if (column + width < c->columns && !line[column + width].text)
		line[column + width].text = ' ';
}

/* "<=": its first half takes the place of a blank in front of it, if there is one. */
static size_t put_at_most(struct canvas *c, size_t row, size_t column, size_t left,
			  enum canvas_look look)
{
	struct canvas_cell *at = c->cells + row * c->columns + column;

	if (column && at[-1].text == ' ') {
		at[-1] = (struct canvas_cell){ '<', look };
		at[0] = (struct canvas_cell){ '=', look };
		return 1;
	}
	at[0] = (struct canvas_cell){ '<', look };
	if (left > 1)
		at[1] = (struct canvas_cell){ '=', look };
	return left > 1 ? 2 : 1;
}

size_t canvas_put(struct canvas *c, size_t row, size_t column, size_t width, enum canvas_look look,
		  const char *text)
{
	size_t left = room(c, row, column, width), used = 0;
	size_t length = strlen(text);

	while (length) {
		uint32_t one;
		size_t n = utf8_decode(text, length, &one), takes;

		if (!n || utf8_unsafe(one))
			one = '?';
		n = n ? n : 1;
		text += n;
		length -= n;
		takes = format_char_width(one);
		/* One column for each cell: combining characters are left out. */
		if (!takes)
			continue;
		if (used + takes > left)
			break;
		if (c->ascii && one == AT_MOST) {
			used += put_at_most(c, row, column + used, left - used, look);
			continue;
		}
		cover(c, row, column + used, takes);
		c->cells[row * c->columns + column + used] = (struct canvas_cell){ one, look };
		if (takes == 2)
			c->cells[row * c->columns + column + used + 1] =
				(struct canvas_cell){ 0, look };
		used += takes;
	}
	return used;
}

void canvas_right(struct canvas *c, size_t row, size_t column, size_t width, enum canvas_look look,
		  const char *text)
{
	size_t takes = format_width(text);
	size_t before = takes < width ? width - takes : 0;

	canvas_put(c, row, column + before, width - before, look, text);
}

void canvas_fill(struct canvas *c, size_t row, size_t column, size_t width, enum canvas_look look,
		 uint32_t text)
{
	width = room(c, row, column, width);
	if (!width)
		return;
	cover(c, row, column, width);
	for (size_t i = 0; i < width; i++)
		c->cells[row * c->columns + column + i] = (struct canvas_cell){ text, look };
}

void canvas_look(struct canvas *c, size_t row, size_t column, size_t width, enum canvas_look look)
{
	width = room(c, row, column, width);
	for (size_t i = 0; i < width; i++)
		c->cells[row * c->columns + column + i].look = look;
}

/* Higher dots, more of a character */
static uint32_t ascii_braille(uint32_t text)
{
	static const char by_height[] = " .:|#";
	static const uint8_t rows[] = { 0x09, 0x12, 0x24, 0xc0 };
	uint8_t dots = (uint8_t)(text - BRAILLE);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (dots & rows[i])
			return (uint32_t)by_height[4 - i];
	return ' ';
}

static uint32_t in_ascii(uint32_t text)
{
	/* The second half of a wide one, whose first half is a "?" */
	if (!text)
		return ' ';
	if (text < 0x80)
		return text;
	if (text >= BRAILLE && text <= LAST_BRAILLE)
		return ascii_braille(text);
	for (size_t i = 0; i < ARRAY_SIZE(substitutes); i++)
		if (substitutes[i].text == text)
			return (uint32_t)substitutes[i].ascii;
	return '?';
}

uint32_t canvas_shown(const struct canvas *c, size_t row, size_t column, enum canvas_look *ret_look)
{
	const struct canvas_cell blank = { ' ', LOOK_PLAIN };
	const struct canvas_cell *cell =
		room(c, row, column, 1) ? &c->cells[row * c->columns + column] : &blank;

	*ret_look = cell->look;
	return c->ascii ? in_ascii(cell->text) : cell->text;
}
