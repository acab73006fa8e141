// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What all parts of the topology need of it: functions by their address, and notes. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/array.h"
#include "platform/pci/topology_parts.h"

/* Of notes about single functions, nobody reads more. */
#define MAX_NOTES 32

int topology_note(struct topology_job *job, const char *fmt, ...)
{
	struct topology *t = job->t;
	va_list args;
	int length;

	if (t->nr_notes >= MAX_NOTES) {
		job->nr_dropped++;
		return 0;
	}
	if (array_room(t->notes, job->cap_notes, t->nr_notes))
		return -ENOMEM;
	va_start(args, fmt);
	length = vasprintf(&t->notes[t->nr_notes], fmt, args);
	va_end(args);
	if (length < 0)
		return -ENOMEM;
	t->nr_notes++;
	return 0;
}

uint32_t topology_index(const struct topology *t, const struct bdf *a)
{
	size_t low = 0, high = t->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct pci_function *f = &t->functions[middle];
		struct bdf at = { .domain = f->domain, .bus = f->bus, .devfn = f->devfn };
		int order = bdf_compare(&at, a);

		if (!order)
			return (uint32_t)middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return TOPOLOGY_NONE;
}

uint32_t topology_find(const struct topology *t, const char *bdf)
{
	struct bdf a;

	return bdf_parse(bdf, &a) ? TOPOLOGY_NONE : topology_index(t, &a);
}
