// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/stat/stat_block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "report/notes.h"

#define LABEL_LEN     128
#define HEAD_LINES    4
/* From so many places on, rows are places: there is too little room for columns. */
#define MANY_PLACES   3
/* A value, its mark and the blank in front of it. */
#define COLUMN(width) ((width) + 2)

/* A PMU with one setting of its filters: what values are about. */
struct place {
	uint32_t pmu;
	const char *label;
	bool quiet;
	bool partly; /* quiet in what was read: not all of it was */
	char text[LABEL_LEN];
};

/* A metric that the places have in common. */
struct kind {
	const struct stat_metric *m;
	char title[LABEL_LEN]; /* in full */
	char head[LABEL_LEN];  /* short, for the top of a column */
	const char *unit;
	size_t width;
};

struct block {
	struct stat_table *t;
	const struct stat_pmu *pmu; /* the first one */
	struct place *places;
	size_t nr_places, cap_places;
	struct kind *kinds;
	size_t nr_kinds, cap_kinds;
	size_t nr_quiet;
};

const char *stat_mark_absent(struct stat_marks *m, enum stat_absence absence)
{
	static const char *const texts[NR_STAT_ABSENCES] = {
		[STAT_PRESENT] = "",   [STAT_NOT_READ] = "-n", [STAT_NOT_RUNNING] = "-t",
		[STAT_REFUSED] = "-r", [STAT_ZERO] = "-",      [STAT_APART] = "-x",
	};

	m->absent[absence] = true;
	return texts[absence];
}

char stat_mark_part(struct stat_marks *m, uint64_t covered_ns, uint64_t enabled_ns)
{
	double part;

	if (covered_ns >= enabled_ns)
		return ' ';
	part = (double)covered_ns / (double)enabled_ns;
	if (!m->part || part < m->least)
		m->least = part;
	if (!m->part || part > m->most)
		m->most = part;
	m->part = true;
	return '*';
}

static const char *short_unit(const char *unit)
{
	static const char *const names[][2] = {
		{ "requests/cycle", "req/cyc" },
		{ "instructions/cycle", "ins/cyc" },
		{ "percent", "%" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(unit, names[i][0]))
			return names[i][1];
	return unit;
}

/* What a column's unit says need not be said by its heading as well. */
static bool says_unit(const char *word, const char *unit)
{
	static const char *const words[][2] = {
		{ "bandwidth", "GB/s" },
		{ "request", "requests/cycle" },
		{ "rate", "requests/cycle" },
		{ "cycles", "cycles" },
		{ "ns", "ns" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(word, words[i][0]) && !strcmp(unit, words[i][1]))
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
	const char *name = strrchr(k->m->name, '.');
	char copy[sizeof(k->m->name)], *at = copy;
	const char *word;

	str_copy(copy, sizeof(copy), name ? name + 1 : k->m->name);
	k->unit = short_unit(k->m->unit);
	k->width = strlen(k->unit) > STAT_CELL_WIDTH ? strlen(k->unit) : STAT_CELL_WIDTH;
	while ((word = strsep(&at, "_"))) {
		if (says_unit(word, k->m->unit))
			continue;
		word = short_word(word);
		str_append(k->head, sizeof(k->head), "%s%s", k->head[0] ? " " : "", word);
		if (strlen(word) > k->width)
			k->width = strlen(word);
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
 * Did nothing happen there, as far as it was read? A clock ticks anyway. What should have
 * been read and could not is worth a row.
 */
static bool is_quiet(const struct stat_report *r, const struct place *place, bool *ret_partly)
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
	struct place *p;

	for (size_t i = 0; i < b->nr_places; i++)
		if (b->places[i].pmu == m->pmu && !strcmp(b->places[i].label, m->label))
			return 0;
	if (array_room(b->places, b->cap_places, b->nr_places))
		return -ENOMEM;
	p = &b->places[b->nr_places++];
	*p = (struct place){ .pmu = m->pmu, .label = m->label };
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
	if (array_room(b->kinds, b->cap_kinds, b->nr_kinds))
		return -ENOMEM;
	k = &b->kinds[b->nr_kinds++];
	*k = (struct kind){ .m = m };
	/* Such a title stands for several metrics, one for each other socket. */
	str_append(k->title, sizeof(k->title), "%s%s%s%s", m->title,
		   strstr(m->id, "<o>") ? " (" : "", strstr(m->id, "<o>") ? m->to : "",
		   strstr(m->id, "<o>") ? ")" : "");
	make_head(k);
	return 0;
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
	return err;
}

static const struct stat_value *value_at(const struct block *b, const struct place *p,
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
	bool coarse = !strcmp(k->m->unit, "ns") || !strcmp(k->m->unit, "cycles") ||
		      !strcmp(k->m->unit, "percent");

	if (v < 0)
		snprintf(text, FORMAT_NUMBER_LEN, "%.3g", v);
	else
		format_decimals(v, coarse ? 1 : 3, text);
}

/* A blank, the value, and its mark or a blank. */
static void put_cell(const struct block *b, const struct place *p, const struct kind *k,
		     size_t width)
{
	const struct stat_value *v = value_at(b, p, k);
	struct stat_marks *marks = &b->t->marks;
	char text[FORMAT_NUMBER_LEN];
	char mark = ' ';

	if (!v) {
		text[0] = '\0';
	} else if (v->absence != STAT_PRESENT) {
		snprintf(text, sizeof(text), "%s", stat_mark_absent(marks, v->absence));
	} else {
		value_text(k, v->value, text);
		mark = stat_mark_part(marks, v->covered_ns, v->enabled_ns);
	}
	fprintf(b->t->out, " %*s%c", (int)width, text, mark);
}

static bool shown(const struct block *b, const struct place *p)
{
	return !p->quiet || b->t->o->verbose;
}

static size_t nr_shown(const struct block *b)
{
	return b->t->o->verbose ? b->nr_places : b->nr_places - b->nr_quiet;
}

/* Break a heading at blanks into lines of at most @width columns; returns their number. */
static size_t break_head(const char *head, size_t width, char lines[HEAD_LINES][LABEL_LEN])
{
	char copy[LABEL_LEN], *at = copy, *word;
	size_t nr = 0;

	str_copy(copy, sizeof(copy), head);
	while ((word = strsep(&at, " "))) {
		if (nr && (strlen(lines[nr - 1]) + 1 + strlen(word) <= width || nr == HEAD_LINES))
			str_append(lines[nr - 1], LABEL_LEN, " %s", word);
		else
			str_copy(lines[nr++], LABEL_LEN, word);
	}
	return nr;
}

/* Headings of all columns; the last line of each is above its unit. */
static void put_heads(const struct block *b, size_t left, size_t first, size_t last)
{
	char lines[HEAD_LINES][LABEL_LEN];
	size_t height = 1;

	for (size_t k = first; k < last; k++) {
		size_t nr = break_head(b->kinds[k].head, b->kinds[k].width, lines);

		height = nr > height ? nr : height;
	}
	for (size_t row = 0; row < height; row++) {
		fprintf(b->t->out, "%*s", (int)left, "");
		for (size_t k = first; k < last; k++) {
			size_t nr = break_head(b->kinds[k].head, b->kinds[k].width, lines);

			fprintf(b->t->out, " %*s ", (int)b->kinds[k].width,
				row + nr < height ? "" : lines[row + nr - height]);
		}
		fputc('\n', b->t->out);
	}
}

/* Rows are places, columns are the metrics from @first to before @last. */
static void put_wide(struct block *b, size_t left, size_t first, size_t last)
{
	FILE *out = b->t->out;

	put_heads(b, left, first, last);
	fprintf(out, "%*s", (int)left, "");
	for (size_t k = first; k < last; k++)
		fprintf(out, " %*s ", (int)b->kinds[k].width, b->kinds[k].unit);
	fputc('\n', out);
	for (size_t i = 0; i < b->nr_places; i++) {
		if (!shown(b, &b->places[i]))
			continue;
		fprintf(out, "  %-*s", (int)left - 2, b->places[i].text);
		for (size_t k = first; k < last; k++)
			put_cell(b, &b->places[i], &b->kinds[k], b->kinds[k].width);
		fputc('\n', out);
	}
}

/* The place's text in two lines: where it is, and what the filters choose. */
static void split_place(const struct block *b, const struct place *p, bool second, char *text)
{
	const struct stat_pmu *pmu = &b->t->r->layout->pmus[p->pmu];

	if (second)
		str_copy(text, LABEL_LEN, p->label);
	else
		place_text(pmu, "", text, LABEL_LEN);
}

/* Widths of columns when rows are metrics. */
struct tall {
	size_t left;
	size_t unit;
	size_t column;
	size_t room; /* columns that fit beside each other */
};

/* Rows are metrics, columns are the places from @first to before @last. */
static void put_tall(struct block *b, const struct tall *t, size_t first, size_t last)
{
	FILE *out = b->t->out;
	bool labels = false;
	char text[LABEL_LEN];

	for (size_t i = first; i < last; i++)
		labels |= b->places[i].label[0] != '\0';
	for (int line = 0; line < 1 + labels; line++) {
		fprintf(out, "%*s", (int)(t->left + t->unit), "");
		for (size_t i = first; i < last; i++) {
			if (!shown(b, &b->places[i]))
				continue;
			split_place(b, &b->places[i], line, text);
			fprintf(out, " %*s ", (int)t->column, text);
		}
		fputc('\n', out);
	}
	for (size_t k = 0; k < b->nr_kinds; k++) {
		fprintf(out, "  %-*s %-*s", (int)t->left - 3, b->kinds[k].title, (int)t->unit,
			b->kinds[k].m->unit);
		for (size_t i = first; i < last; i++)
			if (shown(b, &b->places[i]))
				put_cell(b, &b->places[i], &b->kinds[k], t->column);
		fputc('\n', out);
	}
}

static struct tall tall_sizes(const struct block *b)
{
	struct tall t = { .column = STAT_CELL_WIDTH };
	char text[LABEL_LEN];

	for (size_t k = 0; k < b->nr_kinds; k++) {
		size_t title = strlen(b->kinds[k].title), unit = strlen(b->kinds[k].m->unit);

		t.left = title > t.left ? title : t.left;
		t.unit = unit > t.unit ? unit : t.unit;
	}
	for (size_t i = 0; i < b->nr_places; i++) {
		for (int second = 0; second < 2; second++) {
			split_place(b, &b->places[i], second, text);
			if (shown(b, &b->places[i]) && strlen(text) > t.column)
				t.column = strlen(text);
		}
	}
	t.left += 3;
	/* The mark of the last column may stick out, it is seldom there. */
	if (b->t->width + 1 > t.left + t.unit)
		t.room = (b->t->width + 1 - t.left - t.unit) / COLUMN(t.column);
	if (!t.room)
		t.room = 1;
	return t;
}

static void put_talls(struct block *b, const struct tall *t)
{
	size_t first = 0;

	while (first < b->nr_places) {
		size_t last = first, taken = 0;

		while (last < b->nr_places && (taken < t->room || !shown(b, &b->places[last])))
			taken += shown(b, &b->places[last++]);
		if (taken)
			put_tall(b, t, first, last);
		first = last;
	}
}

/* As many columns as fit, then the others below. */
static void put_wides(struct block *b, size_t left)
{
	size_t first = 0;

	while (first < b->nr_kinds) {
		size_t last = first, width = left;

		do
			width += COLUMN(b->kinds[last++].width);
		while (last < b->nr_kinds &&
		       width + COLUMN(b->kinds[last].width) <= b->t->width + 1);
		put_wide(b, left, first, last);
		first = last;
	}
}

/* What places are called when they are many. */
static const char *places_name(const struct block *b)
{
	const char *label = b->places[0].label;
	bool several = false;

	for (size_t i = 0; i < b->nr_places; i++)
		several |= strcmp(b->places[i].label, label) != 0;
	/* One window, and all the root complexes that it might be behind. */
	if (!label[0] || (!several && b->nr_places > 1))
		return b->pmu->rc >= 0 ? "root complexes" : "sockets";
	if (!strncmp(label, "port ", 5))
		return "ports";
	if (!strncmp(label, "GPU ", 4))
		return "GPUs";
	return !strncmp(label, "socket ", 7) ? "pairs of sockets" : "windows";
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

static void put_block(struct block *b)
{
	struct tall tall = tall_sizes(b);
	size_t left = 0, width;

	for (size_t i = 0; i < b->nr_places; i++)
		if (shown(b, &b->places[i]) && strlen(b->places[i].text) > left)
			left = strlen(b->places[i].text);
	left += 2;
	width = left;
	for (size_t k = 0; k < b->nr_kinds; k++)
		width += COLUMN(b->kinds[k].width);
	if (nr_shown(b) > tall.room || (b->nr_places >= MANY_PLACES && width <= b->t->width + 1))
		put_wides(b, left);
	else
		put_talls(b, &tall);
}

/* The title, which says it all where nothing happened. */
static int put_title(const struct block *b)
{
	cleanup_free char *text = NULL;
	char quiet[64] = "";

	if (!nr_shown(b) && b->nr_places > 1)
		snprintf(quiet, sizeof(quiet), ": %s, %zu %s", quiet_words(b), b->nr_places,
			 places_name(b));
	else if (!nr_shown(b))
		snprintf(quiet, sizeof(quiet), ": %s", quiet_words(b));
	if (asprintf(&text, "%s: %s%s%s%s", b->pmu->family, b->pmu->title,
		     b->pmu->peer[0] ? ", peer " : "", b->pmu->peer, quiet) < 0) {
		text = NULL;
		return -ENOMEM;
	}
	return notes_wrapped(b->t->out, text, b->t->width);
}

int stat_block_write(struct stat_table *t, size_t pmu)
{
	struct block b = { .t = t, .pmu = &t->r->layout->pmus[pmu] };
	int err = collect(&b);

	if (!err && b.nr_places) {
		bool table = nr_shown(&b);

		if (table || !t->after_quiet)
			fputc('\n', t->out);
		t->after_quiet = !table;
		err = put_title(&b);
		if (table) {
			put_block(&b);
			put_quiet(&b);
		}
	}
	free(b.places);
	free(b.kinds);
	return err;
}
