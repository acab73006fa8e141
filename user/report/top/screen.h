/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A view on a terminal: keys, size, colours. Only screen.c uses ncurses. */
#ifndef REPORT_TOP_SCREEN_H
#define REPORT_TOP_SCREEN_H

#include "base/diag.h"
#include "base/loop.h"
#include "report/top/keys.h"
#include "report/top/view.h"

struct screen;

/**
 * struct screen_owner - callbacks of the program
 * @wish: handle a key's request; 0, or a negative errno that ends the loop
 * @gone: the terminal has gone: nothing can be shown
 * @arg: handed to both
 */
struct screen_owner {
	int (*wish)(void *arg, enum keys_wish wish, struct diag *d);
	void (*gone)(void *arg);
	void *arg;
};

/** screen_check() - is there a terminal to draw on? 0, or -ENOTTY with an alternative */
int screen_check(struct diag *d);

/**
 * screen_open() - take the terminal
 * @v: the view; must outlive the screen
 * @owner: copied
 * @d: gets the problem
 * @ret: screen_close() gives the terminal back
 *
 * Signals about the terminal's size and end are blocked from here on.
 *
 * Return: 0 or a negative errno.
 */
int screen_open(struct view *v, const struct screen_owner *owner, struct diag *d,
		struct screen **ret);

/** screen_add() - add keys, size and redrawing to an event loop; 0 or -ENOMEM */
int screen_add(struct screen *s, struct loop *l, struct diag *d);

/** screen_old() - the picture is old: redraw it soon, but not too often */
void screen_old(struct screen *s);

/**
 * screen_look() - handle pending keys and redraw if needed, where no loop runs
 *
 * Return: 0 or a negative errno.
 */
int screen_look(struct screen *s, struct diag *d);

/** screen_close() - NULL is fine */
void screen_close(struct screen *s);

#endif
