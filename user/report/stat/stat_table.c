// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/stat/stat_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/grid.h"
#include "report/notes.h"
#include "report/stat/stat_block.h"
#include "report/stat/stat_peaks.h"

#define COUNT_LEN	  32
#define TEXT(number)	  #number
#define TEXT_OF(number)	  TEXT(number)
/* Rows of a block on even the smallest terminal */
#define STAT_LEAST_PLACES 3

/* A line below the tables, possibly after an empty one. */
#define note(t, ...)	  (first_note(t), notes_line((t)->out, (t)->width, __VA_ARGS__))

static void first_note(struct stat_table *t)
{
	if (t->gap)
		fputc('\n', t->out);
	t->gap = false;
}

static int put_title(struct stat_table *t)
{
	const struct stat_report *r = t->r;
	char time[FORMAT_TIME_LEN], seconds[FORMAT_NUMBER_LEN];
	size_t pmus = 0;

	for (size_t i = 0; i < r->layout->nr_pmus; i++)
		pmus += !r->layout->pmus[i].cores;
	format_time(r->start_time_ns, time);
	format_seconds(r->end_ns - r->start_ns, seconds);
	if (!pmus)
		return note(t, "%s, %s%s s", time, r->summary ? "summary of " : "", seconds);
	return note(t, "%s, %s%s s, %zu uncore PMU%s", time, r->summary ? "summary of " : "",
		    seconds, pmus, pmus == 1 ? "" : "s");
}

/* "12,345,678": counts are shown to the unit. */
static void grouped(uint64_t v, char text[COUNT_LEN])
{
	char digits[24];
	size_t len = snprintf(digits, sizeof(digits), "%" PRIu64, v), at = 0;

	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	text[at] = '\0';
}

static bool count_shown(const struct stat_table *t, size_t i)
{
	return t->r->layout->counters[i].asked || t->o->verbose;
}

static void count_text(const struct stat_table *t, size_t i, char text[COUNT_LEN])
{
	const struct stat_count *c = &t->r->counts[i];

	if (c->absence == STAT_PRESENT)
		grouped(c->value, text);
	else
		str_copy(text, COUNT_LEN, stat_mark_absent(t->marks, c->absence));
}

/* Does it cover part of the time? Then the text tells how much. */
static char part_text(const struct stat_table *t, size_t i, char text[FORMAT_NUMBER_LEN])
{
	const struct stat_count *c = &t->r->counts[i];
	char mark = 0;

	text[0] = '\0';
	if (c->absence == STAT_PRESENT)
		mark = stat_mark_part(t->marks, c->running_ns, c->enabled_ns,
				      stat_off((double)c->value, (double)c->low, (double)c->high));
	if (mark)
		format_percent(c->running_ns, c->enabled_ns, text);
	return mark;
}

static struct grid_cell cell_count(const struct grid_place *at)
{
	char text[COUNT_LEN], part[FORMAT_NUMBER_LEN];
	struct grid_cell cell;

	count_text(at->table, *(const size_t *)at->row, text);
	cell = grid_text("%s", text);
	cell.mark = part_text(at->table, *(const size_t *)at->row, part);
	return cell;
}

static const struct stat_counter *counter_at(const struct grid_place *at)
{
	return &((const struct stat_table *)at->table)
			->r->layout->counters[*(const size_t *)at->row];
}

static struct grid_cell cell_unit(const struct grid_place *at)
{
	return grid_text("%s", counter_at(at)->unit);
}

static struct grid_cell cell_event(const struct grid_place *at)
{
	char part[FORMAT_NUMBER_LEN];

	part_text(at->table, *(const size_t *)at->row, part);
	return grid_text("%s%s%s%s", counter_at(at)->name, part[0] ? " (" : "", part,
			 part[0] ? " of the time)" : "");
}

static const struct grid_column count_columns[] = {
	{ NULL, "COUNT", 5, .marks = true, .cell = cell_count },
	{ NULL, "UNIT", 0, .look = GRID_LEFT, .cell = cell_unit },
	{ NULL, "EVENT", 0, .look = GRID_LEFT, .cell = cell_event },
};

/* Events named by the user, with exact numbers. */
static int put_counts(struct stat_table *t)
{
	const struct stat_layout *l = t->r->layout;
	GRID(g, count_columns, t->out, t->width, t);
	char text[COUNT_LEN];
	size_t nr = 0;
	int err = 0;

	for (size_t i = 0; i < l->nr_counters; i++) {
		if (!count_shown(t, i))
			continue;
		nr++;
		count_text(t, i, text);
		g.columns[0].width = grid_larger(g.columns[0].width, strlen(text));
		g.columns[1].width = grid_larger(g.columns[1].width, strlen(l->counters[i].unit));
	}
	if (!nr)
		return 0;
	g.indent = 2;
	g.columns[1].hidden = !g.columns[1].width;
	fputc('\n', t->out);
	grid_heading(&g);
	for (size_t i = 0; i < l->nr_counters && !err; i++)
		if (count_shown(t, i))
			err = grid_row(&g, &i);
	return err;
}

/* "; off by up to 0.4% of the value", "" for 0 */
static void off_text(double off, char *ret, size_t size)
{
	ret[0] = '\0';
	if (off > 0)
		snprintf(ret, size,
			 off < 0.1 ? "; off by up to %.2g%% of the value"
				   : "; off by up to %.0f%% of the value",
			 off * 100);
}

/* Explanations of the marks that were used. */
static int put_marks(struct stat_table *t)
{
	static const char *const texts[NR_STAT_ABSENCES] = {
		[STAT_ZERO] = "- nothing happened: there is no ratio or latency to tell",
		[STAT_NOT_READ] = "-n not read in this interval: its readings wait for the budget "
				  "(--read-budget), it had no turn yet, or a reading failed",
		[STAT_NOT_RUNNING] = "-t never had a hardware counter: somebody else holds them, "
				     "for example perf",
		[STAT_REFUSED] = "-r refused by the kernel or its driver",
		[STAT_APART] = "-x its events never counted at the same time",
		[STAT_FEW] = "-f fewer than " TEXT_OF(
			STAT_LEAST_REQUESTS) " requests, or none that took time: no latency to "
					     "tell",
	};
	const struct stat_marks *m = t->marks;
	char least[FORMAT_NUMBER_LEN], most[FORMAT_NUMBER_LEN];
	char why[64] = "others use the counters, too", off[64];
	uint32_t sets = 0;
	int err = 0;

	for (size_t i = 0; i < t->r->layout->nr_pmus; i++)
		if (t->r->costs[i].sets > sets)
			sets = t->r->costs[i].sets;
	if (m->part && sets > 1)
		snprintf(why, sizeof(why), "up to %u sets of events take turns", sets);
	if (m->part) {
		format_percent(m->least * 1e9, 1000000000, least);
		format_percent(m->most * 1e9, 1000000000, most);
		off_text(m->off, off, sizeof(off));
		if (!strcmp(least, most))
			err = note(t, "* counted in %s of the time: %s%s", least, why, off);
		else
			err = note(t, "* counted in %s to %s of the time: %s%s", least, most, why,
				   off);
	}
	off_text(m->stopped, off, sizeof(off));
	if (!err && off[0])
		err = note(t, "without a mark: counted, but turns stop a PMU for a moment%s", off);
	for (int a = 0; !err && a < NR_STAT_ABSENCES; a++)
		if (m->absent[a] && texts[a])
			err = note(t, "%s", texts[a]);
	return err;
}

/* PMUs that are read seldom, whose numbers cover more than the interval. */
static int put_late(struct stat_table *t)
{
	const struct stat_report *r = t->r;
	uint64_t interval = r->end_ns - r->start_ns, longest = 0;
	char seconds[FORMAT_NUMBER_LEN];

	for (size_t i = 0; i < r->layout->nr_counters; i++) {
		const struct stat_count *c = &r->counts[i];

		if (r->layout->pmus[r->layout->counters[i].pmu].cores)
			continue;
		if (c->absence == STAT_PRESENT && c->enabled_ns > longest)
			longest = c->enabled_ns;
	}
	/* Reading takes a moment, too, which is not mentioned. */
	if (longest < interval + interval / 20)
		return 0;
	format_seconds(longest, seconds);
	return note(t, "readings had waited for the budget: some numbers are about the last %s s",
		    seconds);
}

static struct stat_cost cost_of_all(const struct stat_report *r)
{
	struct stat_cost sum = { 0 };

	for (size_t i = 0; i < r->layout->nr_pmus; i++) {
		sum.readings += r->costs[i].readings;
		sum.read_ns += r->costs[i].read_ns;
		sum.failed += r->costs[i].failed;
		sum.deferred += r->costs[i].deferred;
		sum.turns += r->costs[i].turns;
		sum.turns_deferred += r->costs[i].turns_deferred;
	}
	return sum;
}

/* Was the budget kept, why not, and what has waited for it? */
static int put_budget(struct stat_table *t, const struct stat_cost *sum)
{
	char busiest[FORMAT_NUMBER_LEN], budget[FORMAT_NUMBER_LEN], waited[96] = "nothing waited";

	format_decimals(t->r->busiest * 100, 3, busiest);
	format_decimals(t->r->budget * 100, 3, budget);
	if (sum->deferred || sum->turns_deferred)
		snprintf(waited, sizeof(waited),
			 "%" PRIu64 " reading%s and %" PRIu64 " turn%s waited for it",
			 sum->deferred, sum->deferred == 1 ? "" : "s", sum->turns_deferred,
			 sum->turns_deferred == 1 ? "" : "s");
	if (t->r->busiest <= t->r->budget)
		return note(t, "budget: at most %s%% of a CPU, of %s%%; %s", busiest, budget,
			    waited);
	return note(
		t,
		"budget: %s%% of a CPU, above %s%%, because each set of events is read once, and "
		"all at the end, whatever it takes; %s",
		busiest, budget, waited);
}

static int put_cost(struct stat_table *t)
{
	const struct stat_cost sum = cost_of_all(t->r);
	char ms[FORMAT_NUMBER_LEN], own[FORMAT_NUMBER_LEN];
	int err;

	format_decimals(sum.read_ns / 1e6, 3, ms);
	format_decimals(t->r->cpu_ns / 1e6, 3, own);
	err = note(t,
		   "cost: %" PRIu64 " reading%s in %s ms, %" PRIu64 " failed, %" PRIu64
		   " turn%s; own CPU time %s ms",
		   sum.readings, sum.readings == 1 ? "" : "s", ms, sum.failed, sum.turns,
		   sum.turns == 1 ? "" : "s", own);
	return err ? err : put_budget(t, &sum);
}

static int put_notes(struct stat_table *t)
{
	const struct stat_layout *l = t->r->layout;
	int err = 0;

	/* Notes for the whole run. */
	for (size_t i = 0; !err && !t->r->sequence && i < l->notes.nr; i++) {
		cleanup_free char *text = NULL;

		err = format_terminal(l->notes.items[i], SIZE_MAX, &text);
		if (!err)
			err = note(t, "note: %s", text);
	}
	return err;
}

static int put_table(FILE *out, void *arg)
{
	struct stat_table *t = arg;
	const struct stat_layout *l = t->r->layout;
	int err;

	t->out = out;
	if (t->r->sequence)
		fputc('\n', t->out);
	err = put_title(t);
	for (size_t i = 0; !err && i < l->nr_pmus; i++) {
		bool first = true;

		for (size_t j = 0; j < i; j++)
			first &= strcmp(l->pmus[i].family, l->pmus[j].family) != 0;
		if (first)
			err = stat_block_write(t, i);
	}
	if (!err)
		err = put_counts(t);
	t->gap = true;
	if (!err)
		err = put_marks(t);
	if (!err)
		err = put_late(t);
	if (err || t->o->quiet)
		return err;
	err = stat_peaks_write(t->out, t->r, t->width);
	if (!err)
		err = put_notes(t);
	return err ? err : put_cost(t);
}

/* A table with this many places a block */
struct tried {
	const struct stat_report *r;
	const struct table_options *o;
	size_t places;
};

static int put_tried(FILE *out, void *arg)
{
	const struct tried *a = arg;
	struct stat_marks marks = { 0 };
	struct stat_table t = { .r = a->r, .o = a->o, .marks = &marks, .places = a->places };

	t.width = a->o->width ? a->o->width : TABLE_DEFAULT_WIDTH;
	if (t.width < TABLE_MIN_WIDTH)
		t.width = TABLE_MIN_WIDTH;
	return put_table(out, &t);
}

/* The most places that fit, but a minimum in any case. */
static int write_fitting(FILE *out, const struct stat_report *r, const struct table_options *o)
{
	size_t least = STAT_LEAST_PLACES, most = o->height;
	struct tried t = { r, o, 0 };
	long lines = format_lines(put_tried, &t);

	if (lines < 0)
		return (int)lines;
	if (lines <= (long)o->height)
		return format_whole(out, put_tried, &t);
	while (least < most) {
		t.places = least + (most - least + 1) / 2;
		lines = format_lines(put_tried, &t);
		if (lines < 0)
			return (int)lines;
		if (lines > (long)o->height)
			most = t.places - 1;
		else
			least = t.places;
	}
	t.places = least;
	return format_whole(out, put_tried, &t);
}

int stat_table_write(FILE *out, const struct stat_report *r, const struct table_options *o)
{
	struct tried whole = { r, o, 0 };

	return o->height && !o->verbose ? write_fitting(out, r, o)
					: format_whole(out, put_tried, &whole);
}
