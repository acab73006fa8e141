/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A view on a terminal: keys, size, colours. The only file that knows ncurses is screen.c. */
#ifndef REPORT_TOP_SCREEN_H
#define REPORT_TOP_SCREEN_H

#include "base/diag.h"
#include "base/loop.h"
#include "report/top/keys.h"
#include "report/top/view.h"

struct screen;

/**
 * struct screen_owner - who runs it all
 * @wish: a key asks for this; 0, or a negative errno that ends the loop
 * @gone: the terminal has gone: nothing can be shown any more
 * @arg: handed to both
 */
struct screen_owner {
	int (*wish)(void *arg, enum keys_wish wish, struct diag *d);
	void (*gone)(void *arg);
	void *arg;
};

/** screen_check() - is there a terminal to draw on? 0, or -ENOTTY with what to use instead */
int screen_check(struct diag *d);

/**
 * screen_open() - take the terminal
 * @v: what is shown; must outlive the screen
 * @owner: copied
 * @d: gets the problem
 * @ret: screen_close() gives the terminal back
 *
 * Signals of the size and of the terminal's end are blocked from here on.
 *
 * Return: 0 or a negative errno.
 */
int screen_open(struct view *v, const struct screen_owner *owner, struct diag *d,
		struct screen **ret);

/** screen_add() - let a loop wait for keys, the size and pictures; 0 or -ENOMEM */
int screen_add(struct screen *s, struct loop *l, struct diag *d);

/** screen_old() - what is shown is old: it is drawn soon, but not too often */
void screen_old(struct screen *s);

/**
 * screen_look() - take keys that wait and draw if need be, where no loop runs
 *
 * Return: 0 or a negative errno.
 */
int screen_look(struct screen *s, struct diag *d);

/** screen_close() - NULL is fine */
void screen_close(struct screen *s);

#endif
