/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Looks at what a diagnosis with a caret points at. */
#ifndef TEST_CARET_H
#define TEST_CARET_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"

/*
 * Take @d apart: a message, the text, and a caret below @ret_at of it. @line gets the text
 * as shown. False when it is not of this form.
 */
static inline bool caret_read(const struct diag *d, char line[sizeof(d->what)], size_t *ret_at)
{
	const char *text = strchr(d->what, '\n'), *caret;
	size_t blanks, length;

	if (!text || text == d->what || strncmp(text, "\n  ", 3))
		return false;
	text += 3;
	caret = strchr(text, '\n');
	if (!caret || strncmp(caret, "\n  ", 3))
		return false;
	length = (size_t)(caret - text);
	caret += 3;
	blanks = strspn(caret, " ");
	if (strcmp(caret + blanks, "^") || blanks > length)
		return false;
	memcpy(line, text, length);
	line[length] = '\0';
	*ret_at = blanks;
	return true;
}

#endif
