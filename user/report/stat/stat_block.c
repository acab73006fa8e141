// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/stat/stat_block.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sums.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "report/grid.h"
#include "report/notes.h"
#include "tables/metric_units.h"

#define LABEL_LEN     128
#define HEAD_LINES    4
/* From this many places on, rows are places: there is too little room for columns. */
#define MANY_PLACES   3
#define ALL_PLACES    (-1)
/* A value, its mark and the blank in front of it. */
#define COLUMN(width) ((width) + 2)

/* A PMU with one filter setting: the place of values. */
struct block_place {
	uint32_t pmu;
	const char *label;
	const char *name; /* of many like it; NULL without a label */
	bool quiet;
	bool partly; /* no traffic in the values that were read; some were not */
	bool left_out;
	char text[LABEL_LEN];
	char head[2 * LABEL_LEN]; /* its place, and the choice of its filters */
};

/* A metric common to the places. */
struct kind {
	const struct stat_metric *m;
	char title[LABEL_LEN]; /* in full */
	char head[LABEL_LEN];  /* short, for the top of a column: wrapped to its width */
	const char *unit;
	size_t width;
};

struct block {
	struct stat_table *t;
	const struct stat_pmu *pmu; /* the first one */
	struct block_place *places;
	size_t nr_places, cap_places;
	struct kind *kinds;
	size_t nr_kinds, cap_kinds;
	struct block_place all; /* stands for the sum of all places */
	bool has_all;
	size_t nr_quiet;
	size_t nr_left_out;
};

const char *stat_mark_absent(struct stat_marks *m, enum stat_absence absence)
{
	static const char *const texts[NR_STAT_ABSENCES] = {
		[STAT_PRESENT] = "",   [STAT_NOT_READ] = "-n", [STAT_NOT_RUNNING] = "-t",
		[STAT_REFUSED] = "-r", [STAT_ZERO] = "-",      [STAT_APART] = "-x",
		[STAT_FEW] = "-f",
	};

	m->absent[absence] = true;
	return texts[absence];
}

double stat_off(double value, double low, double high)
{
	double off = fmax(value - low, high - value);

	return fabs(value) > 0 && off > 0 ? off / fabs(value) : 0;
}

char stat_mark_part(struct stat_marks *m, uint64_t covered_ns, uint64_t enabled_ns, double off)
{
	double part;

	if (covered_ns >= enabled_ns) {
		m->stopped = fmax(m->stopped, off);
		return 0;
	}
	part = (double)covered_ns / (double)enabled_ns;
	if (!m->part || part < m->least)
		m->least = part;
	if (!m->part || part > m->most)
		m->most = part;
	m->off = fmax(m->off, off);
	m->part = true;
	return '*';
}

/* Other tools may have further units. */
static const struct metric_unit *unit_of(const struct stat_metric *m)
{
	static const struct metric_unit other = { .decimals = 3 };

	return metric_unit_find(m->unit) ?: &other;
}

/* The heading need not repeat a column's unit. */
static bool says_unit(const char *word, const struct metric_unit *unit)
{
	for (size_t i = 0; i < ARRAY_SIZE(unit->words) && unit->words[i]; i++)
		if (!strcmp(word, unit->words[i]))
			return true;
	return false;
}

static const char *short_word(const char *word)
{
	static const char *const words[][2] = {
		{ "frequency", "clock" },
		{ "utilization", "util" },
		{ "bidirectional", "both" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(word, words[i][0]))
			return words[i][1];
	return word;
}

/* "read_latency_ns" with unit "ns" is "read latency". */
static void make_head(struct kind *k)
{
	const struct metric_unit *unit = unit_of(k->m);
	const char *name = strrchr(k->m->name, '.');
	const char *words[sizeof(k->m->name)], *word;
	char copy[sizeof(k->m->name)], *at = copy;
	size_t nr = 0, lines = 0, length = 0;

	str_copy(copy, sizeof(copy), name ? name + 1 : k->m->name);
	k->unit = unit->heading ?: k->m->unit;
	k->width = strlen(k->unit) > STAT_CELL_WIDTH ? strlen(k->unit) : STAT_CELL_WIDTH;
	while ((word = strsep(&at, "_"))) {
		if (says_unit(word, unit))
			continue;
		words[nr++] = short_word(word);
		if (strlen(words[nr - 1]) > k->width)
			k->width = strlen(words[nr - 1]);
	}
	for (size_t i = 0; i < nr; i++) {
		bool same = i && (length + 1 + strlen(words[i]) <= k->width || lines == HEAD_LINES);

		lines += !same;
		length = same ? length + 1 + strlen(words[i]) : strlen(words[i]);
		str_append(k->head, sizeof(k->head), "%s%s", same ? " " : i ? "\n" : "", words[i]);
	}
}

static bool same_kind(const struct stat_metric *a, const struct stat_metric *b)
{
	return !strcmp(a->id, b->id) && !strcmp(a->title, b->title) &&
	       !strcmp(a->to ? a->to : "", b->to ? b->to : "");
}

static void place_text(const struct stat_pmu *p, const char *label, char *text, size_t size)
{
	text[0] = '\0';
	if (p->socket >= 0)
		str_append(text, size, "socket %d", (int)p->socket);
	if (p->rc >= 0)
		str_append(text, size, " RC %d", (int)p->rc);
	if (*label)
		str_append(text, size, "%s%s", text[0] ? " " : "", label);
	if (!text[0])
		str_append(text, size, "%s", "value");
}

/*
 * Was there no traffic, as far as was read? A clock ticks anyway. Unreadable values deserve a row.
 */
static bool is_quiet(const struct stat_report *r, const struct block_place *place, bool *ret_partly)
{
	const struct stat_layout *l = r->layout;
	bool any = false, partly = false;

	if (l->pmus[place->pmu].cores)
		return false;
	for (size_t i = 0; i < l->nr_metrics; i++) {
		const struct stat_metric *m = &l->metrics[i];

		if (m->pmu != place->pmu || strcmp(m->label, place->label))
			continue;
		for (uint32_t n = 0; n < m->nr_inputs; n++) {
			uint32_t c = m->input[n];

			if (c >= STAT_CONSTANT || !strcmp(l->counters[c].unit, "cycles"))
				continue;
			if (r->counts[c].counted || (r->counts[c].absence != STAT_PRESENT &&
						     r->counts[c].absence != STAT_NOT_READ))
				return false;
			any |= r->counts[c].absence == STAT_PRESENT;
			partly |= r->counts[c].absence == STAT_NOT_READ;
		}
	}
	*ret_partly = partly;
	return any;
}

static int add_place(struct block *b, const struct stat_metric *m)
{
	struct block_place *p;

	for (size_t i = 0; i < b->nr_places; i++)
		if (b->places[i].pmu == m->pmu && !strcmp(b->places[i].label, m->label))
			return 0;
	if (array_reserve(b->places, b->cap_places, b->nr_places))
		return -ENOMEM;
	p = &b->places[b->nr_places++];
	*p = (struct block_place){ .pmu = m->pmu, .label = m->label, .name = m->places };
	place_text(&b->t->r->layout->pmus[m->pmu], m->label, p->text, sizeof(p->text));
	p->quiet = is_quiet(b->t->r, p, &p->partly);
	b->nr_quiet += p->quiet;
	return 0;
}

static int add_kind(struct block *b, const struct stat_metric *m)
{
	struct kind *k;

	for (size_t i = 0; i < b->nr_kinds; i++)
		if (same_kind(b->kinds[i].m, m))
			return 0;
	if (array_reserve(b->kinds, b->cap_kinds, b->nr_kinds))
		return -ENOMEM;
	k = &b->kinds[b->nr_kinds++];
	*k = (struct kind){ .m = m };
	/* Such a title stands for several metrics, one for each remote socket. */
	str_append(k->title, sizeof(k->title), "%s%s%s%s", m->title,
		   strstr(m->id, "<o>") ? " (" : "", strstr(m->id, "<o>") ? m->to : "",
		   strstr(m->id, "<o>") ? ")" : "");
	make_head(k);
	return 0;
}

/* Does a sum over all places tell more than they do? They must be like each other. */
static bool have_sum(const struct block *b)
{
	bool adds = false;

	for (size_t i = 1; i < b->nr_places; i++)
		if (strcmp(b->places[i].label, b->places[0].label) != 0)
			return false;
	for (size_t k = 0; k < b->nr_kinds; k++)
		adds |= unit_of(b->kinds[k].m)->adds;
	return adds && b->nr_places - b->nr_quiet > 1;
}

static int collect(struct block *b)
{
	const struct stat_layout *l = b->t->r->layout;
	int err = 0;

	for (size_t i = 0; !err && i < l->nr_metrics; i++) {
		const struct stat_metric *m = &l->metrics[i];

		if (strcmp(l->pmus[m->pmu].family, b->pmu->family))
			continue;
		err = add_place(b, m);
		if (!err)
			err = add_kind(b, m);
	}
	b->all = (struct block_place){ .text = "all" };
	b->has_all = have_sum(b);
	return err;
}

static const struct stat_value *value_at(const struct block *b, const struct block_place *p,
					 const struct kind *k)
{
	const struct stat_report *r = b->t->r;

	for (size_t i = 0; i < r->layout->nr_metrics; i++) {
		const struct stat_metric *m = &r->layout->metrics[i];

		if (m->pmu == p->pmu && !strcmp(m->label, p->label) && same_kind(m, k->m))
			return &r->values[i];
	}
	return NULL;
}

static void value_text(const struct kind *k, double v, char text[FORMAT_NUMBER_LEN])
{
	if (v < 0)
		snprintf(text, FORMAT_NUMBER_LEN, "%.3g", v);
	else
		format_decimals(v, unit_of(k->m)->decimals, text);
}

static double part_of_time(const struct stat_value *v)
{
	return v->enabled_ns ? (double)v->covered_ns / (double)v->enabled_ns : 1;
}

/* The sum over all places; absent if one is. */
static struct stat_value sum_of(const struct block *b, const struct kind *k)
{
	struct stat_value sum = { .absence = STAT_PRESENT };

	for (size_t i = 0; i < b->nr_places; i++) {
		const struct stat_value *v = value_at(b, &b->places[i], k);

		if (!v)
			continue;
		if (v->absence != STAT_PRESENT)
			return *v;
		sum.value += v->value;
		sum.low += v->low;
		sum.high += v->high;
		/* It covers as little of the time as the value that covers least. */
		if (!sum.enabled_ns || part_of_time(v) < part_of_time(&sum)) {
			sum.covered_ns = v->covered_ns;
			sum.enabled_ns = v->enabled_ns;
		}
	}
	return sum;
}

static struct grid_cell value_cell(const struct block *b, const struct block_place *p,
				   const struct kind *k)
{
	struct stat_value sum = { 0 };
	const struct stat_value *v = &sum;
	struct stat_marks *marks = b->t->marks;
	char text[FORMAT_NUMBER_LEN];
	struct grid_cell cell;

	if (p != &b->all)
		v = value_at(b, p, k);
	else if (unit_of(k->m)->adds)
		sum = sum_of(b, k);
	else
		v = NULL;
	if (!v)
		return grid_is(GRID_EMPTY);
	if (v->absence != STAT_PRESENT)
		return grid_text("%s", stat_mark_absent(marks, v->absence));
	value_text(k, v->value, text);
	cell = grid_text("%s", text);
	cell.mark = stat_mark_part(marks, v->covered_ns, v->enabled_ns,
				   stat_off(v->value, v->low, v->high));
	return cell;
}

static bool shown(const struct block *b, const struct block_place *p)
{
	return !p->left_out && (!p->quiet || b->t->o->verbose);
}

static size_t nr_shown(const struct block *b)
{
	size_t nr = b->t->o->verbose ? b->nr_places : b->nr_places - b->nr_quiet;

	return nr - b->nr_left_out;
}

/* Amount of traffic, to be compared within a block. Unreadable values never count as small. */
static uint64_t happened(const struct stat_report *r, const struct block_place *p)
{
	const struct stat_layout *l = r->layout;
	uint64_t sum = 0;

	for (size_t i = 0; i < l->nr_metrics; i++) {
		const struct stat_metric *m = &l->metrics[i];

		if (m->pmu != p->pmu || strcmp(m->label, p->label) != 0)
			continue;
		for (uint32_t n = 0; n < m->nr_inputs; n++) {
			uint32_t c = m->input[n];

			if (c < STAT_CONSTANT && strcmp(l->counters[c].unit, "cycles") != 0)
				sum = sum_capped(sum, r->counts[c].counted);
		}
	}
	return sum ? sum : UINT64_MAX;
}

/* The shown place with the least traffic */
static struct block_place *least_of(const struct block *b)
{
	struct block_place *least = NULL;
	uint64_t sum = 0;

	for (size_t i = 0; i < b->nr_places; i++) {
		struct block_place *p = &b->places[i];
		uint64_t own = shown(b, p) ? happened(b->t->r, p) : 0;

		if (!shown(b, p) || (least && own > sum))
			continue;
		least = p;
		sum = own;
	}
	return least;
}

static void leave_out(struct block *b)
{
	while (b->t->places && nr_shown(b) > b->t->places) {
		least_of(b)->left_out = true;
		b->nr_left_out++;
	}
}

GRID_CELL(place_name, struct block_place, grid_text("%s", row->text));
GRID_CELL(metric_at, struct block_place,
	  value_cell(at->table, row, &((const struct block *)at->table)->kinds[at->column->arg]));

/* Rows are places, columns are the metrics from @first to before @last. */
static int put_wide(struct block *b, size_t left, size_t first, size_t last)
{
	cleanup_free struct grid_column *columns = calloc(1 + last - first, sizeof(*columns));
	struct grid g = { .out = b->t->out, .columns = columns, .nr = 1, .indent = 2, .table = b };
	int err = 0;

	if (!columns)
		return -ENOMEM;
	columns[0] =
		(struct grid_column){ NULL, NULL, left - 2, .look = GRID_LEFT, .cell = place_name };
	for (size_t k = first; k < last; k++)
		columns[g.nr++] = (struct grid_column){ b->kinds[k].head,  b->kinds[k].unit,
							b->kinds[k].width, .marks = true,
							.cell = metric_at, .arg = (int)k };
	grid_heading(&g);
	if (b->has_all)
		err = grid_row(&g, &b->all);
	for (size_t i = 0; i < b->nr_places && !err; i++)
		if (shown(b, &b->places[i]))
			err = grid_row(&g, &b->places[i]);
	return err;
}

/* Widths of columns when rows are metrics. */
struct tall {
	size_t left;
	size_t unit;
	size_t column;
	size_t room; /* columns that fit beside each other */
};

GRID_CELL(kind_title, struct kind, grid_text("%s", row->title));
GRID_CELL(kind_unit, struct kind, grid_text("%s", row->m->unit));
static struct grid_cell place_at(const struct grid_place *at)
{
	const struct block *b = at->table;
	int i = at->column->arg;

	return value_cell(b, i == ALL_PLACES ? &b->all : &b->places[i], at->row);
}

/* Rows are metrics, columns are the places from @first to before @last. */
static int put_tall(struct block *b, const struct tall *t, size_t first, size_t last)
{
	cleanup_free struct grid_column *columns = calloc(3 + last - first, sizeof(*columns));
	struct grid g = { .out = b->t->out, .columns = columns, .nr = 2, .indent = 2, .table = b };
	bool labels = false, nowhere;
	const struct stat_pmu *pmu;
	int err = 0;

	if (!columns)
		return -ENOMEM;
	columns[0] = (struct grid_column){ NULL, NULL, t->left - 3, .look = GRID_LEFT,
					   .cell = kind_title };
	columns[1] =
		(struct grid_column){ NULL, NULL, t->unit, .look = GRID_LEFT, .cell = kind_unit };
	for (size_t i = first; i < last; i++)
		labels |= b->places[i].label[0] != '\0';
	if (b->has_all && !first)
		columns[g.nr++] = (struct grid_column){ b->all.text,	  NULL,
							t->column,	  .marks = true,
							.cell = place_at, .arg = ALL_PLACES };
	for (size_t i = first; i < last; i++) {
		struct block_place *p = &b->places[i];

		if (!shown(b, p))
			continue;
		pmu = &b->t->r->layout->pmus[p->pmu];
		nowhere = labels && pmu->socket < 0 && pmu->rc < 0;
		place_text(pmu, nowhere ? p->label : "", p->head, LABEL_LEN);
		if (labels && !nowhere)
			str_append(p->head, sizeof(p->head), "\n%s", p->label);
		columns[g.nr++] = (struct grid_column){ p->head,	  NULL,
							t->column,	  .marks = true,
							.cell = place_at, .arg = (int)i };
	}
	grid_heading(&g);
	for (size_t k = 0; k < b->nr_kinds && !err; k++)
		err = grid_row(&g, &b->kinds[k]);
	return err;
}

static struct tall tall_sizes(const struct block *b)
{
	struct tall t = { .column = STAT_CELL_WIDTH };
	char text[LABEL_LEN];

	for (size_t k = 0; k < b->nr_kinds; k++) {
		t.left = grid_larger(t.left, strlen(b->kinds[k].title));
		t.unit = grid_larger(t.unit, strlen(b->kinds[k].m->unit));
	}
	for (size_t i = 0; i < b->nr_places; i++) {
		const struct block_place *p = &b->places[i];

		if (!shown(b, p))
			continue;
		place_text(&b->t->r->layout->pmus[p->pmu], "", text, LABEL_LEN);
		t.column = grid_larger(t.column, grid_larger(strlen(text), strlen(p->label)));
	}
	t.left += 3;
	/* The mark of the last column may stick out, it is seldom there. */
	if (b->t->width + 1 > t.left + t.unit)
		t.room = (b->t->width + 1 - t.left - t.unit) / COLUMN(t.column);
	if (!t.room)
		t.room = 1;
	return t;
}

static int put_talls(struct block *b, const struct tall *t)
{
	size_t first = 0;
	int err = 0;

	while (first < b->nr_places && !err) {
		size_t last = first, taken = 0, room = t->room - (b->has_all && !first);

		while (last < b->nr_places && (taken < room || !shown(b, &b->places[last])))
			taken += shown(b, &b->places[last++]);
		if (taken)
			err = put_tall(b, t, first, last);
		first = last;
	}
	return err;
}

/* As many columns as fit, then the next ones below. */
static int put_wides(struct block *b, size_t left)
{
	size_t first = 0;
	int err = 0;

	while (first < b->nr_kinds && !err) {
		size_t last = first, width = left;

		do
			width += COLUMN(b->kinds[last++].width);
		while (last < b->nr_kinds &&
		       width + COLUMN(b->kinds[last].width) <= b->t->width + 1);
		err = put_wide(b, left, first, last);
		first = last;
	}
	return err;
}

/* Name of a place when there are many. */
static const char *places_name(const struct block *b)
{
	const struct block_place *first = &b->places[0];
	bool several = b->nr_places == 1;

	for (size_t i = 0; i < b->nr_places; i++)
		several |= strcmp(b->places[i].label, first->label) != 0;
	/* One label with several places: an address range, and the root complexes it may be behind */
	if (first->name && several)
		return first->name;
	return b->pmu->rc >= 0 ? "root complexes" : "sockets";
}

static const char *quiet_words(const struct block *b)
{
	for (size_t i = 0; i < b->nr_places; i++)
		if (b->places[i].quiet && b->places[i].partly)
			return "no traffic in what was read";
	return "no traffic";
}

/* "10 more root complexes: no traffic" */
static void put_quiet(const struct block *b)
{
	if (b->nr_left_out)
		fprintf(b->t->out, "  ... and %zu more %s (-v)\n", b->nr_left_out, places_name(b));
	if (!b->nr_quiet || b->t->o->verbose)
		return;
	if (b->nr_quiet > 1) {
		fprintf(b->t->out, "  %zu more %s: %s\n", b->nr_quiet, places_name(b),
			quiet_words(b));
		return;
	}
	for (size_t i = 0; i < b->nr_places; i++)
		if (b->places[i].quiet)
			fprintf(b->t->out, "  %s: %s\n", b->places[i].text, quiet_words(b));
}

static int put_block(struct block *b)
{
	struct tall tall = tall_sizes(b);
	size_t left = 0, width;

	for (size_t i = 0; i < b->nr_places; i++)
		if (shown(b, &b->places[i]))
			left = grid_larger(left, strlen(b->places[i].text));
	left += 2;
	width = left;
	for (size_t k = 0; k < b->nr_kinds; k++)
		width += COLUMN(b->kinds[k].width);
	if (nr_shown(b) + b->has_all > tall.room ||
	    (b->nr_places >= MANY_PLACES && width <= b->t->width + 1))
		return put_wides(b, left);
	return put_talls(b, &tall);
}

/* The title, which is all if there was no traffic. */
static int put_title(const struct block *b)
{
	char quiet[64] = "";

	if (!nr_shown(b) && b->nr_places > 1)
		snprintf(quiet, sizeof(quiet), ": %s, %zu %s", quiet_words(b), b->nr_places,
			 places_name(b));
	else if (!nr_shown(b))
		snprintf(quiet, sizeof(quiet), ": %s", quiet_words(b));
	return notes_line(b->t->out, b->t->width, "%s: %s%s%s%s", b->pmu->family, b->pmu->title,
			  b->pmu->peer[0] ? ", peer " : "", b->pmu->peer, quiet);
}

int stat_block_write(struct stat_table *t, size_t pmu)
{
	struct block b = { .t = t, .pmu = &t->r->layout->pmus[pmu] };
	int err = collect(&b);

	if (!err && b.nr_places) {
		bool table = nr_shown(&b);

		leave_out(&b);
		if (table || !t->after_quiet)
			fputc('\n', t->out);
		t->after_quiet = !table;
		err = put_title(&b);
		if (table && !err)
			err = put_block(&b);
		if (table)
			put_quiet(&b);
	}
	free(b.places);
	free(b.kinds);
	return err;
}
