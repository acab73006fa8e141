/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A picture made of text: cells with a character and a look each. It is drawn without a terminal,
 * and then shown on one, or compared as lines of text.
 */
#ifndef REPORT_TOP_CANVAS_H
#define REPORT_TOP_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kind of a cell; the terminal decides on its colour and style. */
enum canvas_look {
	LOOK_PLAIN,
	LOOK_DIM,
	LOOK_STRONG,
	LOOK_TITLE,
	LOOK_HEADING,
	LOOK_SELECTED,
	LOOK_KEY,
	LOOK_GOOD,
	LOOK_WARNING,
	LOOK_BAD,
	LOOK_WORKLOADS,
	LOOK_DEVICES,
	LOOK_REMOTE,
	LOOK_NOBODY,
	LOOK_GRAPH,
	NR_LOOKS,
};

/* Private to canvas.c: the rest uses functions, which keep within the canvas. */
struct canvas_cell;

/**
 * struct canvas - a picture
 * @rows, @columns: its size
 * @ascii: the terminal has ASCII only
 * @cells: row by row
 */
struct canvas {
	size_t rows;
	size_t columns;
	bool ascii;
	struct canvas_cell *cells;
};

/** canvas_resize() - empty, of this size; 0 or -ENOMEM. It begins as all zeros */
int canvas_resize(struct canvas *c, size_t rows, size_t columns);
void canvas_free(struct canvas *c);

/**
 * canvas_put() - write a text, truncated to its width
 * @c: the picture
 * @row, @column: its place
 * @width: columns that it may take; clipped at the canvas' edge
 * @look: of its cells
 * @text: UTF-8; controls become "?"
 *
 * Return: columns that it takes.
 */
size_t canvas_put(struct canvas *c, size_t row, size_t column, size_t width, enum canvas_look look,
		  const char *text);

/** canvas_right() - the same, ending at the end of its width */
void canvas_right(struct canvas *c, size_t row, size_t column, size_t width, enum canvas_look look,
		  const char *text);

/** canvas_fill() - write one character @width times */
void canvas_fill(struct canvas *c, size_t row, size_t column, size_t width, enum canvas_look look,
		 uint32_t text);

/** canvas_look() - change the look of cells, not their content */
void canvas_look(struct canvas *c, size_t row, size_t column, size_t width, enum canvas_look look);

/**
 * canvas_shown() - the character of a cell as this terminal can show it
 * @ret_look: gets its look
 *
 * Return: 0 for the second half of the character before; a blank outside of the canvas.
 */
uint32_t canvas_shown(const struct canvas *c, size_t row, size_t column,
		      enum canvas_look *ret_look);

#endif
