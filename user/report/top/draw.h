/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From a view to a picture of text. */
#ifndef REPORT_TOP_DRAW_H
#define REPORT_TOP_DRAW_H

#include "report/top/canvas.h"
#include "report/top/view.h"

/* Less than this is said, and nothing is drawn. */
#define DRAW_MIN_ROWS	 10
#define DRAW_MIN_COLUMNS 40

/**
 * draw_view() - draw all of it
 * @v: looked up anew if it is stale; gets the number of lines that rows have room for
 * @c: of the size of the terminal
 *
 * Return: 0 or -ENOMEM.
 */
int draw_view(struct view *v, struct canvas *c);

#endif
