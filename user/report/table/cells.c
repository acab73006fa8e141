// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sums.h"
#include "report/table/cells.h"

/* The mark of rows that cannot be told apart. */
#define TANGLED_MARK "~"

/* Value of all counters of a set of sockets. */
static uint64_t whole_of(const struct table *t, uint64_t sockets)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < t->tree->nr_sockets; i++)
		if (sockets & 1ULL << i)
			sum = sum_capped(sum, t->tree->sockets[i].bytes);
	return sum;
}

bool cells_counter_is(const struct table *t, const struct counter *c, uint64_t sockets,
		      unsigned int sources)
{
	return !c->device &&
	       sockets & 1ULL << row_tree_socket(t->tree, report_socket_id(t->r, c)) &&
	       sources & SOURCE_BIT(c->source);
}

/* One more counter in a sum: one value is enough, and none at all is said. */
static void note_state(enum cell_state *state, const struct report_counter *c)
{
	enum cell_state one = c->valid ? CELL_DATA : CELL_NO_DATA;

	if (one > *state)
		*state = one;
}

/* Whether sums over counters of some sockets and sources have anything to add. */
static void find_states(const struct table *t, uint64_t sockets, unsigned int sources,
			struct cells *ret)
{
	for (size_t i = 0; i < t->r->nr_counters; i++) {
		const struct report_counter *c = &t->r->counters[i];

		if (!cells_counter_is(t, c->counter, sockets, sources))
			continue;
		note_state(c->counter->direction == DIRECTION_READ ? &ret->read : &ret->write, c);
		note_state(&ret->to[c->counter->destination], c);
	}
}

struct cells cells_of(const struct table *t, const struct amounts *a, uint64_t sockets,
		      unsigned int sources)
{
	struct cells c = { .amounts = *a, .whole = whole_of(t, a->sockets) };

	find_states(t, sockets, sources, &c);
	return c;
}

void cells_devices(const struct table *t, struct cells *c)
{
	memcpy(c->device, t->device_state, sizeof(c->device));
}

void cells_pad(const struct table *t, const char *text, size_t width, bool right)
{
	size_t used = format_width(text);
	int pad = used < width ? (int)(width - used) : 0;

	if (right)
		fprintf(t->out, "%*s%s", pad, "", text);
	else
		fprintf(t->out, "%s%*s", text, pad, "");
}

int cells_cut(const struct table *t, const char *text, size_t width, enum format_cut_side side)
{
	cleanup_free char *cut = NULL;
	int err = format_cut(text, width, side, &cut);

	if (!err)
		cells_pad(t, cut, width, false);
	return err;
}

static void put_cell(const struct table *t, const char *text, size_t width)
{
	fputc(' ', t->out);
	cells_pad(t, text, width, true);
}

static void put_rate(const struct table *t, enum cell_state state, uint64_t bytes)
{
	char text[FORMAT_NUMBER_LEN] = "-";

	if (state == CELL_DATA)
		format_rate(bytes, t->duration_ns, text);
	else if (state == CELL_NO_DATA)
		strcpy(text, "no data");
	put_cell(t, text, FORMAT_NUMBER_WIDTH);
}

/* How far from BYTES the truth may be; only rows know. */
static void put_bar(const struct table *t, const struct cells *c)
{
	const struct amounts *a = &c->amounts;
	char text[FORMAT_NUMBER_LEN + sizeof(TANGLED_MARK)] = "";

	if (c->bar && (c->read == CELL_DATA || c->write == CELL_DATA)) {
		strcpy(text, a->tangled ? TANGLED_MARK : "");
		format_bar(amounts_bytes(a), a->low, a->high, text + strlen(text));
	}
	put_cell(t, text, BAR_WIDTH);
}

static void put_cpu(const struct table *t, const struct cells *c)
{
	char text[FORMAT_NUMBER_LEN] = "-";

	if (!c->no_cpu)
		format_seconds(c->amounts.cpu_ns, text);
	put_cell(t, text, FORMAT_NUMBER_WIDTH);
	if (t->traffic)
		return;
	if (!c->no_cpu)
		format_ratio(c->amounts.cpu_ns, t->duration_ns, text);
	put_cell(t, text, FORMAT_NUMBER_WIDTH);
}

static void put_rates(const struct table *t, const struct cells *c)
{
	const struct amounts *a = &c->amounts;

	if (!t->nr_to) {
		put_rate(t, c->read, a->read);
		put_rate(t, c->write, a->write);
	}
	for (size_t i = 0; i < t->nr_to; i++)
		put_rate(t, c->to[t->to[i]],
			 sum_capped(a->to[t->to[i]][DIRECTION_READ],
				    a->to[t->to[i]][DIRECTION_WRITE]));
}

void cells_write(const struct table *t, const struct cells *c)
{
	uint64_t bytes = amounts_bytes(&c->amounts);
	bool data = c->read == CELL_DATA || c->write == CELL_DATA;
	char text[FORMAT_NUMBER_LEN] = "-";

	if (t->traffic) {
		put_rates(t, c);
		if (data)
			format_percent(bytes, bytes ? c->whole : 1, text);
		put_cell(t, text, SHARE_WIDTH);
		if (data)
			format_bytes(bytes, text);
		else if (c->read == CELL_NO_DATA || c->write == CELL_NO_DATA)
			strcpy(text, "no data");
		put_cell(t, text, FORMAT_NUMBER_WIDTH);
	}
	/* Nothing follows what is left empty at the end of a line. */
	if (t->bars && (c->bar || t->cpu || t->device_columns || t->lat))
		put_bar(t, c);
	for (int i = 0; t->device_columns && i < 2; i++)
		put_rate(t, c->device[i], c->amounts.device[i]);
	if (t->lat)
		put_cell(t, c->lat ? c->lat : "", FORMAT_NUMBER_WIDTH);
	if (t->cpu)
		put_cpu(t, c);
	fputc('\n', t->out);
}

int cells_direction(const struct table *t, const char *label, const struct cells *c,
		    enum direction direction)
{
	int err = cells_cut(t, label, t->left, FORMAT_CUT_RIGHT);

	for (size_t i = 0; !err && i < t->nr_to; i++)
		put_rate(t, c->to[t->to[i]], c->amounts.to[t->to[i]][direction]);
	fputc('\n', t->out);
	return err;
}

int cells_line(const struct table *t, const char *const *labels, const struct cells *c)
{
	int err;

	while (labels[1] && format_width(labels[0]) > t->left)
		labels++;
	err = cells_cut(t, labels[0], t->left, FORMAT_CUT_RIGHT);
	if (!err)
		cells_write(t, c);
	return err;
}
