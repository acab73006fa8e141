// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/list_text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/output.h"
#include "report/grid.h"
#include "tables/events.h"
#include "tables/own_rows.h"

#define LABEL_LEN 64 /* of several names together; longer ones stay apart */

bool list_is_of(const struct pmu *pmu, const char *name)
{
	return !strcmp(pmu->name, name) || !strcmp(pmu->family->short_name, name);
}

const struct metric_row *list_next_metric(const struct pmu_list *list, size_t *at)
{
	const struct metric_row *row;

	while ((row = own_metric_at((*at)++))) {
		bool here = row->kind == PMU_CORE;

		for (size_t i = 0; i < list->nr && !here; i++)
			here = list->pmus[i].kind == row->kind;
		if (here)
			return row;
	}
	return NULL;
}

/* --- names that differ in one number */

/* Ascending numbers of a line as text, "0-11,16", which has @runs parts. */
struct numbers {
	char text[LABEL_LEN];
	uint64_t first, last;
	size_t nr;
	size_t runs;
	bool full; /* they are too many for the text */
};

static void put_run(struct numbers *n)
{
	char run[48];

	if (!n->nr)
		return;
	snprintf(run, sizeof(run), n->last > n->first ? "%s%" PRIu64 "-%" PRIu64 : "%s%" PRIu64,
		 n->text[0] ? "," : "", n->first, n->last);
	n->full |= strlen(n->text) + strlen(run) >= sizeof(n->text);
	str_append(n->text, sizeof(n->text), "%s", run);
	n->runs++;
}

static void add_number(struct numbers *n, uint64_t value)
{
	if (n->nr && value == n->last + 1) {
		n->last = value;
		n->nr++;
		return;
	}
	put_run(n);
	n->first = n->last = value;
	n->nr++;
}

/* The number at @at of a name that otherwise is like @first, which has one of @length digits. */
static bool number_in(const char *name, const char *first, size_t at, size_t length, uint64_t *ret)
{
	char digits[24];
	size_t n;

	if (strncmp(name, first, at))
		return false;
	n = strspn(name + at, "0123456789");
	if (!n || n >= sizeof(digits) || (n > 1 && name[at] == '0') ||
	    strcmp(name + at + n, first + at + length))
		return false;
	snprintf(digits, sizeof(digits), "%.*s", (int)n, name + at);
	return !parse_u64(digits, ret);
}

/**
 * struct fold - names to be shown together
 * @name: the name of the line with a number
 * @same: are two lines equal apart from their names?
 * @lines: for these functions
 * @done: lines that were shown
 * @nr: number of lines
 */
struct fold {
	const char *(*name)(const void *lines, size_t i);
	bool (*same)(const void *lines, size_t a, size_t b);
	const void *lines;
	bool *done;
	size_t nr;
};

/* Members of line @i if the number at @at is left open; with @take they are done. */
static size_t fold_at(const struct fold *f, size_t i, size_t at, size_t length, bool take,
		      struct numbers *ret)
{
	const char *first = f->name(f->lines, i);
	struct numbers n = { 0 };
	uint64_t value;

	for (size_t k = i; k < f->nr; k++) {
		if (f->done[k] || !f->same(f->lines, i, k) ||
		    !number_in(f->name(f->lines, k), first, at, length, &value) ||
		    (n.nr && value <= n.last))
			continue;
		add_number(&n, value);
		f->done[k] |= take;
	}
	put_run(&n);
	*ret = n;
	return n.nr;
}

/*
 * The label of line @i, which then is done with all that share it: "amd_umc_<0-11>". Numbers none of
 * which follows another may be parts of an address, and stay apart.
 */
static void fold_line(const struct fold *f, size_t i, char ret[LABEL_LEN])
{
	const char *name = f->name(f->lines, i);
	struct numbers n;

	ret[0] = '\0';
	for (size_t end = strlen(name); end > 0;) {
		size_t at;

		while (end > 0 && !isdigit((unsigned char)name[end - 1]))
			end--;
		for (at = end; at > 0 && isdigit((unsigned char)name[at - 1]);)
			at--;
		if (at < end && fold_at(f, i, at, end - at, false, &n) > n.runs && !n.full &&
		    !str_append(ret, LABEL_LEN, "%.*s<%s>%s", (int)at, name, n.text, name + end)) {
			fold_at(f, i, at, end - at, true, &n);
			return;
		}
		ret[0] = '\0';
		end = at;
	}
	f->done[i] = true;
	str_copy(ret, LABEL_LEN, name);
}

/* --- PMUs */

/* Can both share one list of events and filters? */
static bool same_group(const struct pmu *a, const struct pmu *b)
{
	if (a->kind != b->kind || strcmp(a->peer, b->peer) || a->nr_events != b->nr_events ||
	    a->nr_formats != b->nr_formats)
		return false;
	for (size_t i = 0; i < a->nr_events; i++) {
		if (strcmp(a->events[i].name, b->events[i].name) ||
		    strcmp(a->events[i].text, b->events[i].text) ||
		    strcmp(a->events[i].scale, b->events[i].scale) ||
		    strcmp(a->events[i].unit, b->events[i].unit))
			return false;
	}
	for (size_t i = 0; i < a->nr_formats; i++) {
		if (strcmp(a->formats[i].name, b->formats[i].name) ||
		    strcmp(a->formats[i].text, b->formats[i].text))
			return false;
	}
	return true;
}

/* A line of PMUs: one, or several that differ only in a number of their names. */
struct pmu_line {
	char label[LABEL_LEN];
	const struct pmu *pmu;
	bool several;
};

static const char *pmu_line_name(const void *lines, size_t i)
{
	return ((const struct pmu *)lines)[i].name;
}

static bool same_line(const void *lines, size_t a, size_t b)
{
	const struct pmu *x = (const struct pmu *)lines + a, *y = (const struct pmu *)lines + b;

	return x->socket == y->socket && x->active_cpu == y->active_cpu &&
	       !strcmp(x->identifier, y->identifier) && !strcmp(x->problem, y->problem) &&
	       x->usable == y->usable && !memcmp(&x->cpus, &y->cpus, sizeof(x->cpus)) &&
	       same_group(x, y);
}

/* -1 means none. */
static struct grid_cell number_cell(int value)
{
	return grid_if(value >= 0, grid_text("%d", value));
}

static struct grid_cell cell_cpus(const struct grid_place *at)
{
	const struct pmu_line *line = at->row;
	char text[CPULIST_TEXT_LEN] = "", cpus[17];

	cpulist_format(&line->pmu->cpus, text, sizeof(text));
	/* The JSON form has the whole list; a truncated text shows that it is truncated. */
	if (str_copy(cpus, sizeof(cpus), text))
		memcpy(cpus + sizeof(cpus) - 4, "...", 4);
	return grid_if(cpus[0], grid_text("%s", cpus));
}

GRID_CELL(cell_name, struct pmu_line, grid_text("%s", row->label));
GRID_CELL(cell_socket, struct pmu_line, number_cell(row->pmu->socket));
/* The label of several has their root complexes. */
GRID_CELL(cell_rc, struct pmu_line, row->several ? grid_is(GRID_EMPTY) : number_cell(row->pmu->rc));
GRID_CELL(cell_cpu, struct pmu_line, number_cell(row->pmu->active_cpu));
GRID_CELL(cell_identifier, struct pmu_line,
	  grid_if(row->pmu->identifier[0], grid_text("%s", row->pmu->identifier)));

enum { COLUMN_RC = 2, COLUMN_IDENTIFIER = 4, COLUMN_CPUS };

static const struct grid_column columns[] = {
	{ NULL, "PMU", 27, .look = GRID_LEFT, .cell = cell_name },
	{ NULL, "socket", 6, .look = GRID_LEFT, .cell = cell_socket },
	[COLUMN_RC] = { NULL, "RC", 3, .look = GRID_LEFT, .cell = cell_rc },
	{ NULL, "CPU", 5, .look = GRID_LEFT, .cell = cell_cpu },
	[COLUMN_IDENTIFIER] = { NULL, "identifier", 10, .look = GRID_LEFT,
				.cell = cell_identifier },
	[COLUMN_CPUS] = { NULL, "associated CPUs", 16, .look = GRID_LEFT, .cell = cell_cpus },
};

static int print_pmu(const struct grid *g, const struct pmu_line *line)
{
	const struct pmu *pmu = line->pmu;
	char text[CPULIST_TEXT_LEN];
	int err = grid_row(g, line);

	if (pmu->family->identifier && pmu->identifier[0] &&
	    strcmp(pmu->identifier, pmu->family->identifier))
		printf("    identifier of the known hardware: %s\n", pmu->family->identifier);
	if (pmu->problem[0]) {
		snprintf(text, sizeof(text), "%s: %s", pmu->usable ? "problem" : "not usable",
			 pmu->problem);
		output_wrapped(stdout, 4, text);
	}
	return err;
}

/* Columns without a value in any line are left out. */
static int print_lines(const struct pmu_line *lines, size_t nr)
{
	GRID(g, columns, stdout, OUTPUT_COLUMNS, NULL);
	bool rc = false, identifier = false, cpus = false;
	size_t width = strlen("PMU");
	int err = 0;

	for (size_t i = 0; i < nr; i++) {
		rc |= lines[i].pmu->rc >= 0 && !lines[i].several;
		identifier |= lines[i].pmu->identifier[0] != '\0';
		cpus |= cpulist_count(&lines[i].pmu->cpus) > 0;
		width = grid_larger(width, strlen(lines[i].label));
	}
	g.columns[0].width = width;
	g.columns[COLUMN_RC].hidden = !rc;
	g.columns[COLUMN_IDENTIFIER].hidden = !identifier;
	g.columns[COLUMN_CPUS].hidden = !cpus;
	g.indent = 2;
	grid_fit(&g);
	grid_heading(&g);
	for (size_t i = 0; i < nr && !err; i++)
		err = print_pmu(&g, &lines[i]);
	return err;
}

/* --- events and filters */

/* A name with its meaning behind it or, where it is too long for that, below it. */
static void print_meaning(int width, const char *name, const char *meaning)
{
	char label[LABEL_LEN + 5];

	if ((int)strlen(name) > width || !meaning[0]) {
		printf("    %s\n", name);
		output_wrapped(stdout, 8, meaning);
		return;
	}
	snprintf(label, sizeof(label), "    %.*s", LABEL_LEN - 1, name);
	output_labelled(stdout, 4 + width + 2, label, meaning);
}

static const char *event_name(const void *lines, size_t i)
{
	return ((const struct pmu *)lines)->events[i].name;
}

static const char *meaning_of(const struct pmu *pmu, size_t i)
{
	const struct event_row *row = event_row_find(pmu->kind, pmu->events[i].name);

	return row ? row->counts : "";
}

/* Codes differ where names do: they are left to "list PMU" and to JSON. */
static bool same_event(const void *lines, size_t a, size_t b)
{
	const struct pmu *pmu = lines;
	const struct pmu_event *x = &pmu->events[a], *y = &pmu->events[b];

	return !strcmp(meaning_of(pmu, a), meaning_of(pmu, b)) && !strcmp(x->scale, y->scale) &&
	       !strcmp(x->unit, y->unit) && x->own == y->own;
}

/* Its meaning, and the unit of its count where sysfs has one; @several share the line. */
static void event_words(const struct pmu *pmu, size_t i, bool several, char *ret, size_t size)
{
	const struct pmu_event *e = &pmu->events[i];

	snprintf(ret, size, "%s", meaning_of(pmu, i));
	if (e->bytes)
		str_append(ret, size, "%s%u byte%s each", ret[0] ? ", " : "", e->bytes,
			   e->bytes == 1 ? "" : "s");
	else if (e->scale[0] || e->unit[0])
		str_append(ret, size, "%s%.4g%s%s each", ret[0] ? ", " : "",
			   e->scale[0] ? strtod(e->scale, NULL) : 1, e->unit[0] ? " " : "",
			   e->unit);
	if (e->own)
		str_append(ret, size, "%snot in sysfs: %s%s", ret[0] ? ", " : "", e->text,
			   several ? ", ..." : "");
}

/* Lines with names that are filled one after the other; then they are printed with one width. */
static int print_events(const struct pmu *pmu)
{
	cleanup_free bool *done = calloc(pmu->nr_events + 1, sizeof(*done));
	const struct fold f = { event_name, same_event, pmu, done, pmu->nr_events };
	cleanup_texts struct text_list names = { 0 }, meanings = { 0 };
	char label[LABEL_LEN], words[PMU_TEXT_LEN + 200];
	int width = 0;

	if (!done)
		return -ENOMEM;
	for (size_t i = 0; i < pmu->nr_events; i++) {
		if (done[i])
			continue;
		fold_line(&f, i, label);
		event_words(pmu, i, strcmp(label, pmu->events[i].name) != 0, words, sizeof(words));
		if (text_list_add(&names, label) || text_list_add(&meanings, words))
			return -ENOMEM;
		if ((int)strlen(label) > width && strlen(label) <= 28)
			width = (int)strlen(label);
	}
	if (names.nr)
		printf("  events: perf stat -a -e %s/EVENT/\n", pmu->name);
	for (size_t i = 0; i < names.nr; i++)
		print_meaning(width, names.items[i], meanings.items[i]);
	return 0;
}

/* Each event as perf and stat take it. Only its fields name one that is not in sysfs. */
static void print_for_perf(const struct pmu *pmu)
{
	char name[2 * PMU_NAME_LEN + PMU_TEXT_LEN], words[PMU_TEXT_LEN + 200];

	printf("  events\n");
	for (size_t i = 0; i < pmu->nr_events; i++) {
		const struct pmu_event *e = &pmu->events[i];

		snprintf(name, sizeof(name), "%s/%s/", pmu->name, e->own ? e->text : e->name);
		if (e->own) {
			snprintf(words, sizeof(words), "%s, not in sysfs", e->name);
		} else {
			event_words(pmu, i, false, words, sizeof(words));
			str_append(words, sizeof(words), "%s%s", words[0] ? ": " : "", e->text);
		}
		print_meaning(0, name, words);
	}
}

static const struct filter_row *find_filter(enum pmu_kind kind, const char *name)
{
	for (size_t i = 0; i < nr_filter_rows; i++)
		if (filter_rows[i].kind == kind && !strcmp(filter_rows[i].name, name))
			return &filter_rows[i];
	return NULL;
}

/* The format "event" chooses the event, the other formats are filters. */
static void print_filters(const struct pmu *pmu)
{
	char text[OUTPUT_COLUMNS * 8] = "";
	int width = 0;
	bool any = false;

	for (size_t i = 0; i < pmu->nr_formats; i++)
		if (find_filter(pmu->kind, pmu->formats[i].name) &&
		    (int)strlen(pmu->formats[i].name) > width)
			width = (int)strlen(pmu->formats[i].name);
	for (size_t i = 0; i < pmu->nr_formats; i++) {
		const struct pmu_format *format = &pmu->formats[i];
		const struct filter_row *row = find_filter(pmu->kind, format->name);
		char meaning[200];

		if (!strcmp(format->name, "event"))
			continue;
		if (!any)
			printf("  filters: %s/EVENT,FILTER=VALUE/\n", pmu->name);
		any = true;
		snprintf(meaning, sizeof(meaning), "%u bit%s", format->width,
			 format->width == 1 ? "" : "s");
		if (!row) {
			str_append(text, sizeof(text), "%s%s (%s)", text[0] ? ", " : "",
				   format->name, meaning);
			continue;
		}
		str_append(meaning, sizeof(meaning), ": %s", row->meaning);
		print_meaning(width, format->name, meaning);
	}
	output_wrapped(stdout, 4, text);
}

/* Print the PMUs that share events and filters, from the one at @first on. */
static int print_group(const struct pmu_list *list, size_t first, const char *one, bool *shown)
{
	const struct fold f = { pmu_line_name, same_line, list->pmus, shown, list->nr };
	cleanup_free struct pmu_line *lines = calloc(list->nr, sizeof(*lines));
	const struct pmu *pmu = &list->pmus[first];
	size_t nr = 0, nr_lines = 0;
	int err;

	if (!lines)
		return -ENOMEM;
	for (size_t i = first; i < list->nr; i++)
		nr += !shown[i] && same_group(pmu, &list->pmus[i]);
	printf("%s: %s, %zu PMU%s%s%s\n", pmu->family->short_name, pmu->family->title, nr,
	       nr == 1 ? "" : "s", pmu->peer[0] ? ", peer " : "", pmu->peer);
	for (size_t i = first; i < list->nr; i++) {
		struct pmu_line *line = &lines[nr_lines];

		if (shown[i] || !same_group(pmu, &list->pmus[i]))
			continue;
		line->pmu = &list->pmus[i];
		fold_line(&f, i, line->label);
		line->several = strcmp(line->label, line->pmu->name) != 0;
		nr_lines++;
	}
	err = print_lines(lines, nr_lines);
	if (!err && one)
		print_for_perf(pmu);
	else if (!err)
		err = print_events(pmu);
	if (!err)
		print_filters(pmu);
	return err;
}

static void print_metrics(const struct pmu_list *list)
{
	const struct metric_row *row;
	size_t at = 0;

	if (own_metric_at(0))
		printf("\nmetrics of your file\n");
	while ((row = list_next_metric(list, &at))) {
		printf("  %s: %s, %s\n", row->id, row->title, row->unit);
		output_wrapped(stdout, 4, row->formula);
	}
}

int list_text(const struct pmu_list *list, const char *one, const struct text_list *notes)
{
	cleanup_free bool *shown = calloc(list->nr, sizeof(*shown));
	bool first = true;
	int err = shown ? 0 : -ENOMEM;

	for (size_t i = 0; i < list->nr && !err; i++)
		shown[i] = one && !list_is_of(&list->pmus[i], one);
	for (size_t i = 0; i < list->nr && !err; i++) {
		if (shown[i])
			continue;
		if (!first)
			putchar('\n');
		first = false;
		err = print_group(list, i, one, shown);
	}
	if (err || one)
		return err;
	print_metrics(list);
	if (notes->nr)
		printf("\nnotes\n");
	for (size_t i = 0; i < notes->nr; i++)
		output_wrapped(stdout, 2, notes->items[i]);
	return 0;
}
