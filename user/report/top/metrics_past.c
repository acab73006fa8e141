// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/top/metrics_past.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static size_t bytes_of(const struct stat_report *r)
{
	return sizeof(*r) + r->layout->nr_counters * sizeof(*r->counts) +
	       r->layout->nr_metrics * sizeof(*r->values) + r->layout->nr_pmus * sizeof(*r->costs);
}

static void drop_oldest(struct metrics_past *p)
{
	p->bytes -= bytes_of(p->items[0].report);
	stat_report_free(p->items[0].report);
	memmove(p->items, p->items + 1, --p->nr * sizeof(*p->items));
}

int metrics_past_add(struct metrics_past *p, uint64_t number, struct stat_report *r)
{
	if (array_reserve(p->items, p->cap, p->nr)) {
		stat_report_free(r);
		return -ENOMEM;
	}
	p->items[p->nr++] = (struct metrics_at){ number, r };
	p->bytes += bytes_of(r);
	while (p->nr > 1 && p->bytes > METRICS_PAST_MAX_BYTES)
		drop_oldest(p);
	return 0;
}

const struct stat_report *metrics_past_find(const struct metrics_past *p, uint64_t number)
{
	for (size_t i = p->nr; i-- > 0;)
		if (p->items[i].number == number)
			return p->items[i].report;
	return NULL;
}

void metrics_past_forget(struct metrics_past *p)
{
	while (p->nr)
		drop_oldest(p);
	free(p->items);
	*p = (struct metrics_past){ 0 };
}
