/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Draw a view as a picture of text. */
#ifndef REPORT_TOP_DRAW_H
#define REPORT_TOP_DRAW_H

#include "report/top/canvas.h"
#include "report/top/view.h"

/* A smaller terminal gets only a message. */
#define DRAW_MIN_ROWS	 10
#define DRAW_MIN_COLUMNS 40

/**
 * draw_view() - draw all of it
 * @v: updated if it is stale; gets the number of lines available for rows
 * @c: a canvas of the size of the terminal
 *
 * Return: 0 or -ENOMEM.
 */
int draw_view(struct view *v, struct canvas *c);

#endif
