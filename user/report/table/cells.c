// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/peaks.h"
#include "report/table/cells.h"

bool cells_counter_is(const struct table *t, const struct counter *c, uint64_t sockets,
		      unsigned int sources)
{
	return !c->device &&
	       sockets & 1ULL << row_tree_socket(t->tree, report_socket_id(t->r, c)) &&
	       sources & SOURCE_BIT(c->source);
}

/* Add a counter to a sum: one value is enough, and missing values are noted. */
static void note_state(enum cell_state *state, const struct report_counter *c)
{
	enum cell_state one = c->valid ? CELL_DATA : CELL_NO_DATA;

	if (one > *state)
		*state = one;
}

/* Do sums over counters of these sockets and sources have any value? */
static void find_states(const struct table *t, uint64_t sockets, unsigned int sources,
			struct cells *ret)
{
	for (size_t i = 0; i < t->r->nr_counters; i++) {
		const struct report_counter *c = &t->r->counters[i];

		if (!cells_counter_is(t, c->counter, sockets, sources))
			continue;
		if (c->counter->unit == UNIT_NANOJOULES) {
			note_state(&ret->energy, c);
			continue;
		}
		note_state(&ret->bytes[c->counter->direction], c);
		note_state(&ret->to[c->counter->destination], c);
	}
}

/* Of one socket or of all; other lines have no PEAK. */
static uint64_t most_of(const struct table *t, uint64_t sockets)
{
	if (sockets == ALL_SOCKETS)
		return t->most;
	for (size_t i = 0; i < t->r->nr_sockets; i++)
		if (sockets == 1ULL << row_tree_socket(t->tree, t->r->sockets[i].id))
			return peaks_memory(t->r, (int)i);
	return 0;
}

struct cells cells_of(const struct table *t, const struct amounts *a, uint64_t sockets,
		      unsigned int sources)
{
	struct cells c = { .amounts = *a, .whole = row_tree_all(t->tree) };

	find_states(t, sockets, sources, &c);
	if (t->most)
		c.most = most_of(t, sockets);
	return c;
}

/* Is this the content of a direction's cell? */
static bool any_is(const struct cells *c, enum cell_state state)
{
	for (int d = 0; d < NR_DIRECTIONS; d++)
		if (c->bytes[d] == state)
			return true;
	return false;
}

bool cells_has_data(const struct cells *c)
{
	return any_is(c, CELL_DATA);
}

bool cells_no_data(const struct cells *c)
{
	return any_is(c, CELL_NO_DATA);
}

void cells_devices(const struct table *t, struct cells *c)
{
	memcpy(c->device, t->device_state, sizeof(c->device));
}

int cells_direction(const struct table *t, const char *label, const struct cells *c,
		    enum direction direction)
{
	struct grid destinations = t->grid;
	struct cells one = *c;

	if (!t->directions[direction])
		return 0;
	destinations.nr = COLUMN_READ;
	for (int to = 0; to < NR_DESTINATIONS; to++)
		for (int d = 0; d < NR_DIRECTIONS; d++)
			if (d != (int)direction)
				one.amounts.to[to][d] = 0;
	return grid_line(&destinations, label, COLUMN_NUMBERS, &one);
}

int cells_line(const struct table *t, const char *const *labels, const struct cells *c)
{
	while (labels[1] && format_width(labels[0]) > t->left)
		labels++;
	return grid_line(&t->grid, labels[0], COLUMN_NUMBERS, c);
}
