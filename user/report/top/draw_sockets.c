// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/sums.h"
#include "report/devices.h"
#include "report/peaks.h"
#include "report/top/draw_internal.h"

#define LABEL_WIDTH  9
#define NUMBERS_WIDE 36
#define PEAK_WIDE    13 /* of the numbers; on a narrow terminal it gives way to the bar */
#define LEAST_BAR    8

static_assert(DRAW_MIN_COLUMNS > NUMBERS_WIDE &&
		      DRAW_MIN_COLUMNS > LABEL_WIDTH + NUMBERS_WIDE - PEAK_WIDE + 1,
	      "there is room for numbers, and for a bar beside them");

enum piece { PIECE_WORKLOADS, PIECE_DEVICES, PIECE_REMOTE, PIECE_NOBODY, NR_PIECES };

static const struct {
	const char *name, *brief;
	uint32_t text;
	enum canvas_look look;
} pieces[NR_PIECES] = {
	[PIECE_WORKLOADS] = { "workloads", "work", 0x2588, LOOK_WORKLOADS },
	[PIECE_DEVICES] = { "devices", "dev", 0x2593, LOOK_DEVICES },
	[PIECE_REMOTE] = { "remote", "rem", 0x2592, LOOK_REMOTE },
	[PIECE_NOBODY] = { "unattributed", "rest", 0x2591, LOOK_NOBODY },
};

/* A socket's memory traffic: the pieces are all of its counters, to the unit. */
struct bar {
	uint64_t bytes[NR_PIECES];
	uint64_t whole;
	bool counted;
	bool incomplete;
};

static void add(uint64_t *to, uint64_t bytes)
{
	*to = sum_capped(*to, bytes);
}

static void add_counter(struct bar *b, const struct report_counter *c)
{
	if (!c->valid) {
		b->incomplete = true;
		return;
	}
	b->counted = true;
	add(&b->whole, c->value);
	add(&b->bytes[devices_task_counter(c->counter) ? PIECE_WORKLOADS : PIECE_DEVICES],
	    c->attributed);
	for (int i = 0; i < NR_REASONS; i++)
		add(&b->bytes[i == REASON_DEVICE   ? PIECE_DEVICES
			      : i == REASON_REMOTE ? PIECE_REMOTE
						   : PIECE_NOBODY],
		    c->unattributed[i]);
}

static struct bar bar_of(const struct report *r, uint32_t socket)
{
	struct bar b = { 0 };

	for (size_t i = 0; i < r->nr_counters; i++) {
		const struct report_counter *c = &r->counters[i];

		if (c->counter->socket == socket && !c->counter->device &&
		    c->counter->unit == UNIT_BYTES)
			add_counter(&b, c);
	}
	return b;
}

/* Pieces of the bar, up to their limits; nonzero ones get a cell if there is one. */
static void put_bar(struct canvas *c, size_t row, size_t column, size_t width, const struct bar *b,
		    uint64_t most)
{
	double cell = (double)most / (double)width, sum = 0;
	size_t at = 0;

	canvas_fill(c, row, column, width, LOOK_DIM, 0x00b7);
	for (int i = 0; i < NR_PIECES; i++) {
		uint64_t end;

		sum += (double)b->bytes[i];
		end = cell > 0 ? whole_capped(sum / cell + 0.5) : 0;
		if (b->bytes[i] && end == at)
			end++;
		end = end < width ? end : width;
		if (end > at)
			canvas_fill(c, row, column + at, end - at, pieces[i].look, pieces[i].text);
		at = end > at ? end : at;
	}
}

/* Without counters a bar is CPU time; returns its full value. */
static uint64_t put_busy(struct bar *b, const struct report_socket *s)
{
	b->bytes[PIECE_WORKLOADS] = s->busy_ns;
	b->bytes[PIECE_NOBODY] = s->lost_ns;
	return sum_capped(sum_capped(s->busy_ns, s->idle_ns), s->lost_ns);
}

/* The use of a socket's memory; false when no peak is known. */
static bool find_peak(const struct report *r, uint32_t id, struct peak_use *ret)
{
	for (size_t at = 0; peaks_use(r, &at, ret);)
		if (ret->peak->of == PEAK_CMEM && ret->socket == id && !ret->device)
			return true;
	return false;
}

static size_t numbers_wide(const struct canvas *c)
{
	return c->columns > LABEL_WIDTH + NUMBERS_WIDE + LEAST_BAR ? NUMBERS_WIDE
								   : NUMBERS_WIDE - PEAK_WIDE;
}

/* "6.546 GB/s  12.0% of peak  CPU 83.7%", right-aligned */
static void put_numbers(const struct view *v, struct canvas *c, size_t row, uint32_t socket,
			const struct bar *b)
{
	const struct report *r = v->report;
	const struct report_socket *cpus = &r->sockets[socket];
	bool narrow = numbers_wide(c) < NUMBERS_WIDE;
	size_t column = c->columns - NUMBERS_WIDE, amount = c->columns - numbers_wide(c);
	char text[FORMAT_NUMBER_LEN], all[2 * FORMAT_NUMBER_LEN];
	struct peak_use use;

	if (b->counted) {
		draw_amount(v, b->whole, text);
		snprintf(all, sizeof(all), "%s %s%s", text, draw_unit(v), b->incomplete ? "?" : "");
		canvas_right(c, row, amount, 12, LOOK_STRONG, all);
	} else if (b->incomplete) {
		canvas_right(c, row, amount, 12, LOOK_BAD, "no data");
	}
	if (!narrow && b->counted && find_peak(r, cpus->id, &use) && use.valid) {
		format_percent(whole_capped(use.share * 1e6), 1000000, text);
		snprintf(all, sizeof(all), "%s%s", use.upper_bound ? "≤" : "", text);
		canvas_right(c, row, column + 12, 8, LOOK_STRONG, all);
		canvas_put(c, row, column + 21, 4, LOOK_DIM, "peak");
	}
	canvas_right(c, row, column + 25, 5, LOOK_DIM, "CPU");
	/* A socket without CPUs has only memory. */
	if (cpus->nr_cpus) {
		format_percent(cpus->busy_ns, sum_capped(cpus->busy_ns, cpus->idle_ns), text);
		canvas_right(c, row, column + 30, 6, LOOK_PLAIN, text);
	}
}

/* Variants of a legend, the best first: the first that fits is used, so that none is truncated. */
static const struct legend {
	bool words;
	bool numbers;
} legends[] = { { true, true }, { false, true }, { true, false }, { false, false } };

static const char *const without_peak[] = {
	"no peak is known: bars are parts of the largest (--peak)",
	"no peak: bars are parts of the largest",
	"no peak (--peak)",
};

/* Without a canvas only measure. Returns the column behind it. */
static size_t put_pieces(const struct view *v, struct canvas *c, size_t row, const struct bar *sum,
			 const struct legend *l)
{
	size_t column = 1;

	for (int i = 0; i < NR_PIECES; i++) {
		const char *name = l->words ? pieces[i].name : pieces[i].brief;
		char text[FORMAT_NUMBER_LEN] = "";

		if (l->numbers)
			draw_amount(v, sum->bytes[i], text);
		if (c) {
			canvas_fill(c, row, column, 1, pieces[i].look, pieces[i].text);
			canvas_put(c, row, column + 2, SIZE_MAX, LOOK_DIM, name);
			canvas_put(c, row, column + 3 + strlen(name), SIZE_MAX, LOOK_PLAIN, text);
		}
		column += 2 + strlen(name) + (text[0] ? 1 + format_width(text) : 0) + 2;
	}
	if (!l->numbers || !draw_unit(v)[0])
		return column - 2;
	if (c)
		canvas_put(c, row, column - 1, SIZE_MAX, LOOK_DIM, draw_unit(v));
	return column - 1 + strlen(draw_unit(v));
}

static void put_legend(const struct view *v, struct canvas *c, size_t row, const struct bar *sum,
		       bool peak)
{
	size_t i = 0, column;

	while (i + 1 < ARRAY_SIZE(legends) &&
	       put_pieces(v, NULL, row, sum, &legends[i]) > c->columns)
		i++;
	column = put_pieces(v, c, row, sum, &legends[i]) + 2;
	for (i = 0; !peak && i < ARRAY_SIZE(without_peak); i++)
		if (column + strlen(without_peak[i]) <= c->columns) {
			canvas_put(c, row, column, SIZE_MAX, LOOK_DIM, without_peak[i]);
			break;
		}
}

size_t draw_sockets(const struct view *v, struct canvas *c, size_t top, size_t most)
{
	const struct report *r = v->report;
	size_t lines = r->nr_sockets < most - 1 ? r->nr_sockets : most - 2, width;
	struct bar sum = { 0 };
	uint64_t largest = 0;
	bool peak = false;

	width = c->columns - LABEL_WIDTH - numbers_wide(c) - 1;
	for (uint32_t i = 0; i < r->nr_sockets; i++) {
		struct bar b = bar_of(r, i);

		largest = b.whole > largest ? b.whole : largest;
		peak |= peaks_memory(r, (int)i) > 0;
		for (int k = 0; k < NR_PIECES; k++)
			add(&sum.bytes[k], b.bytes[k]);
		sum.counted |= b.counted;
	}
	for (uint32_t i = 0; i < lines; i++) {
		struct bar b = bar_of(r, i);
		uint64_t scale = peaks_memory(r, (int)i);
		char label[32];

		snprintf(label, sizeof(label), "socket %" PRIu32, r->sockets[i].id);
		canvas_put(c, top + i, 0, LABEL_WIDTH, LOOK_PLAIN, label);
		if (!sum.counted)
			scale = put_busy(&b, &r->sockets[i]);
		put_bar(c, top + i, LABEL_WIDTH, width, &b, scale ? scale : largest);
		put_numbers(v, c, top + i, i, &b);
	}
	if (lines < r->nr_sockets) {
		char text[64];

		snprintf(text, sizeof(text),
			 "and %zu more socket%s, in the sums:", r->nr_sockets - lines,
			 r->nr_sockets - lines == 1 ? "" : "s");
		canvas_put(c, top + lines++, 0, SIZE_MAX, LOOK_DIM, text);
	}
	if (!sum.counted)
		canvas_put(c, top + lines, 1, SIZE_MAX, LOOK_DIM,
			   "nothing is counted: bars are CPU time");
	else
		put_legend(v, c, top + lines, &sum, peak);
	return lines + 1;
}
