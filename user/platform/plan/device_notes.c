// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Notes of a plan, below all that have something to say. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "platform/plan/device_plan.h"

int device_plan_note(struct device_plan *p, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (array_room(p->notes, p->cap_notes, p->nr_notes))
		return -ENOMEM;
	p->notes[p->nr_notes] = strdup(text);
	if (!p->notes[p->nr_notes])
		return -ENOMEM;
	p->nr_notes++;
	return 0;
}
