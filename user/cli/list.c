// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* t410trace list: the uncore PMUs, their events and their filters. */
#include "cli/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/text.h"
#include "cli/esp.h"
#include "cli/output.h"
#include "cli/values.h"
#include "cli/list_explain.h"
#include "platform/core/weights.h"
#include "platform/pmu/explain.h"
#include "platform/pmu/fit.h"
#include "platform/pmu/platform_file.h"
#include "platform/pmu/pmu.h"
#include "platform/sys/smbios.h"
#include "platform/sys/sysfs.h"
#include "report/grid.h"
#include "tables/own_rows.h"

#define LIST_SCHEMA "t410trace.list/1"

static json_t *hex(uint64_t value)
{
	/* Numbers of most JSON readers end at 53 or 63 bits, configurations do not. */
	return json_sprintf("0x%" PRIx64, value);
}

static json_t *event_to_json(const struct pmu_event *event)
{
	json_t *terms = json_object();

	for (size_t i = 0; i < event->nr_terms; i++) {
		if (json_object_set_new(terms, event->terms[i].name, hex(event->terms[i].value))) {
			json_decref(terms);
			return NULL;
		}
	}
	return json_pack("{s:s, s:s, s:o, s:o*, s:o*, s:o*, s:o*}", "name", event->name, "text",
			 event->text, "terms", terms, "scale",
			 event->scale[0] ? json_string(event->scale) : NULL, "unit",
			 event->unit[0] ? json_string(event->unit) : NULL, "bytes_per_count",
			 event->bytes ? json_integer(event->bytes) : NULL, "in_sysfs",
			 event->own ? json_false() : NULL);
}

static json_t *format_to_json(const struct pmu_format *format)
{
	static const char *const words[PMU_NR_WORDS] = { "config", "config1", "config2",
							 "config3" };
	json_t *bits = json_array();

	for (size_t i = 0; i < format->nr_ranges; i++)
		output_append(&bits,
			      json_pack("[i, i]", format->ranges[i].low, format->ranges[i].high));
	return json_pack("{s:s, s:s, s:s, s:o, s:i}", "name", format->name, "text", format->text,
			 "word", words[format->word], "bits", bits, "width", format->width);
}

/* A number, or null for -1, which means none. */
static json_t *number_or_null(int64_t value)
{
	return value < 0 ? json_null() : json_integer(value);
}

/* Text, or null when there is none. */
static json_t *text_or_null(const char *text)
{
	return text && *text ? json_string(text) : json_null();
}

static json_t *pmu_to_json(const struct pmu *pmu)
{
	int64_t mux_ms = pmu->mux_interval_ms ? pmu->mux_interval_ms : -1LL;
	int64_t type = pmu->type_known ? pmu->type : -1LL;
	char cpus[CPULIST_TEXT_LEN] = "";
	json_t *formats = json_array();
	json_t *events = json_array();

	cpulist_format(&pmu->cpus, cpus, sizeof(cpus));
	for (size_t i = 0; i < pmu->nr_events; i++)
		output_append(&events, event_to_json(&pmu->events[i]));
	for (size_t i = 0; i < pmu->nr_formats; i++)
		output_append(&formats, format_to_json(&pmu->formats[i]));
	return json_pack(
		"{s:s, s:s, s:s, s:s, s:i, s:o, s:o, s:b, s:o, s:o, s:o, s:s, s:o, s:o, "
		"s:o, s:o, s:o, s:o}",
		"name", pmu->name, "kind", pmu->family->short_name, "title", pmu->family->title,
		"platform", pmu_platform_name(pmu->platform), "instance", pmu->instance, "socket",
		number_or_null(pmu->socket), "root_complex", number_or_null(pmu->rc), "usable",
		pmu->usable, "problem", text_or_null(pmu->problem), "type", number_or_null(type),
		"active_cpu", number_or_null(pmu->active_cpu), "associated_cpus", cpus,
		"identifier", text_or_null(pmu->identifier), "identifier_expected",
		text_or_null(pmu->family->identifier), "peer", text_or_null(pmu->peer),
		"mux_interval_ms", number_or_null(mux_ms), "events", events, "formats", formats);
}

/* The next of the user's metrics for a PMU that is here, or for the cores; NULL behind the last. */
static const struct metric_row *next_metric(const struct pmu_list *list, size_t *at)
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

static json_t *metrics_to_json(const struct pmu_list *list)
{
	json_t *metrics = own_metric_at(0) ? json_array() : NULL;
	const struct metric_row *row;
	size_t at = 0;

	while ((row = next_metric(list, &at)))
		output_append(&metrics,
			      json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:b, s:s}", "name", row->id,
					"title", row->title, "unit", row->unit, "formula",
					row->formula, "from", text_or_null(row->from), "to",
					text_or_null(row->to), "default", row->by_default, "source",
					row->source));
	return metrics;
}

static json_t *list_to_json(const struct pmu_list *list, const struct text_list *notes)
{
	json_t *sentences = json_array();
	json_t *pmus = json_array();

	for (size_t i = 0; i < list->nr; i++)
		output_append(&pmus, pmu_to_json(&list->pmus[i]));
	for (size_t i = 0; i < notes->nr; i++)
		output_append(&sentences, json_string(notes->items[i]));
	return json_pack("{s:s, s:o, s:o*, s:o}", "schema", LIST_SCHEMA, "pmus", pmus, "metrics",
			 metrics_to_json(list), "notes", sentences);
}

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

/* -1 means none. */
static struct grid_cell number_cell(int value)
{
	return grid_if(value >= 0, grid_text("%d", value));
}

static struct grid_cell cell_cpus(const struct grid_place *at)
{
	char text[CPULIST_TEXT_LEN] = "", cpus[23];

	cpulist_format(&((const struct pmu *)at->row)->cpus, text, sizeof(text));
	/* The JSON form has the whole list; a truncated text shows that it is truncated. */
	if (str_copy(cpus, sizeof(cpus), text))
		memcpy(cpus + sizeof(cpus) - 4, "...", 4);
	return grid_if(cpus[0], grid_text("%s", cpus));
}

GRID_CELL(cell_name, struct pmu, grid_text("%s", row->name));
GRID_CELL(cell_socket, struct pmu, number_cell(row->socket));
GRID_CELL(cell_rc, struct pmu, number_cell(row->rc));
GRID_CELL(cell_cpu, struct pmu, number_cell(row->active_cpu));
GRID_CELL(cell_identifier, struct pmu,
	  grid_if(row->identifier[0], grid_text("%s", row->identifier)));

static const struct grid_column columns[] = {
	{ NULL, "PMU", 27, .look = GRID_LEFT, .cell = cell_name },
	{ NULL, "socket", 6, .look = GRID_LEFT, .cell = cell_socket },
	{ NULL, "RC", 3, .look = GRID_LEFT, .cell = cell_rc },
	{ NULL, "CPU", 5, .look = GRID_LEFT, .cell = cell_cpu },
	{ NULL, "identifier", 10, .look = GRID_LEFT, .cell = cell_identifier },
	{ NULL, "associated CPUs", 22, .look = GRID_LEFT, .cell = cell_cpus },
};

static int print_pmu(const struct grid *g, const struct pmu *pmu)
{
	char text[CPULIST_TEXT_LEN];
	int err = grid_row(g, pmu);

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

/* Print the names one after the other in columns under a heading. */
static void print_columns(const char *heading, const struct text_list *names)
{
	int room = OUTPUT_COLUMNS - 4;
	int width = 1;
	int columns;

	if (names->nr == 0)
		return;
	for (size_t i = 0; i < names->nr; i++) {
		if ((int)strlen(names->items[i]) > width)
			width = (int)strlen(names->items[i]);
	}
	/* Two blanks between columns, none after the last. */
	columns = (room + 2) / (width + 2);
	if (columns < 1)
		columns = 1;
	printf("  %s\n", heading);
	for (size_t i = 0; i < names->nr; i++) {
		bool last = i + 1 == names->nr || (i + 1) % columns == 0;

		printf("%s%-*s%s", i % columns ? "  " : "    ", last ? 0 : width, names->items[i],
		       last ? "\n" : "");
	}
}

static int print_events(const struct pmu *pmu)
{
	cleanup_texts struct text_list names = { 0 };

	for (size_t i = 0; i < pmu->nr_events; i++)
		if (text_list_add(&names, pmu->events[i].name))
			return -ENOMEM;
	print_columns("events", &names);
	return 0;
}

/* The unit of an event's count, if sysfs has one. */
static void print_scales(const struct pmu *pmu)
{
	bool first = true;

	for (size_t i = 0; i < pmu->nr_events; i++) {
		const struct pmu_event *e = &pmu->events[i];
		char bytes[32] = "";

		if (!e->scale[0] && !e->unit[0])
			continue;
		if (first)
			printf("  one count in sysfs\n");
		first = false;
		if (e->bytes)
			snprintf(bytes, sizeof(bytes), " (%u byte%s)", e->bytes,
				 e->bytes == 1 ? "" : "s");
		printf("    %s: %s%s%s%s\n", e->name, e->scale[0] ? e->scale : "1",
		       e->unit[0] ? " " : "", e->unit, bytes);
	}
}

/* The format "event" chooses the event, the other formats are filters. */
static int print_filters(const struct pmu *pmu)
{
	cleanup_texts struct text_list names = { 0 };

	for (size_t i = 0; i < pmu->nr_formats; i++) {
		const struct pmu_format *format = &pmu->formats[i];

		if (strcmp(format->name, "event") != 0 &&
		    text_list_print(&names, "%s (%u bit%s)", format->name, format->width,
				    format->width == 1 ? "" : "s"))
			return -ENOMEM;
	}
	print_columns("filters", &names);
	return 0;
}

/* Print the PMUs that share events and filters, from the one at @first on. */
static int print_group(const struct pmu_list *list, size_t first, bool *shown)
{
	GRID(g, columns, stdout, OUTPUT_COLUMNS, NULL);
	const struct pmu *pmu = &list->pmus[first];
	size_t nr = 0;
	int err = 0;

	for (size_t i = first; i < list->nr; i++)
		nr += !shown[i] && same_group(pmu, &list->pmus[i]);
	printf("%s%s: %s, %zu PMU%s%s%s\n", first ? "\n" : "", pmu->family->short_name,
	       pmu->family->title, nr, nr == 1 ? "" : "s", pmu->peer[0] ? ", peer " : "",
	       pmu->peer);
	g.indent = 2;
	grid_fit(&g);
	grid_heading(&g);
	for (size_t i = first; i < list->nr && !err; i++) {
		if (shown[i] || !same_group(pmu, &list->pmus[i]))
			continue;
		shown[i] = true;
		err = print_pmu(&g, &list->pmus[i]);
	}
	if (!err)
		err = print_events(pmu);
	print_scales(pmu);
	return err ? err : print_filters(pmu);
}

static void print_metrics(const struct pmu_list *list)
{
	const struct metric_row *row;
	size_t at = 0;

	if (own_metric_at(0))
		printf("\nmetrics of your file\n");
	while ((row = next_metric(list, &at))) {
		printf("  %s: %s, %s\n", row->id, row->title, row->unit);
		output_wrapped(stdout, 4, row->formula);
	}
}

static int print_list(const struct pmu_list *list, const struct text_list *notes)
{
	bool *shown = calloc(list->nr, sizeof(*shown));
	int err = shown ? 0 : -ENOMEM;

	for (size_t i = 0; i < list->nr && !err; i++) {
		if (!shown[i])
			err = print_group(list, i, shown);
	}
	free(shown);
	if (!err)
		print_metrics(list);
	if (notes->nr && !err)
		printf("\nnotes\n");
	for (size_t i = 0; i < notes->nr && !err; i++)
		output_wrapped(stdout, 2, notes->items[i]);
	return err;
}

/* Core events that a run would try. */
static int weight_notes(const struct sysfs *fs, struct text_list *notes)
{
	struct weight_cores cores;
	char text[512];
	int err = weight_cores_read(fs, &cores);

	if (err)
		return err == -ENOMEM ? err : 0;
	weight_cores_describe(&cores, text, sizeof(text));
	return text[0] ? text_list_add(notes, text) : 0;
}

static int show_list(const struct options *args, const struct sysfs *fs,
		     const struct pmu_list *list)
{
	cleanup_texts struct text_list notes = { 0 };
	struct diag absent = { 0 };
	struct utsname host;
	char text[512];
	/* A copy of sysfs may be of another machine, whose kernel is unknown. */
	int err =
		pmu_notes(list, args->machine.sysfs || uname(&host) ? NULL : host.release, &notes);

	if (!err)
		err = pmu_fit_notes(fs, list, &notes);
	if (!err)
		err = weight_notes(fs, &notes);
	if (!err && !smbios_sentence(fs, &absent, text, sizeof(text)))
		err = text_list_print(&notes, "peak of memory: %s", text);
	if (err)
		return err;
	return args->run.output.format == OUTPUT_JSON ? output_json(list_to_json(list, &notes))
						      : print_list(list, &notes);
}

static int show_one(const struct sysfs *fs, const struct pmu_list *list, const char *name,
		    struct diag *d)
{
	cleanup_texts struct text_list lines = { 0 };
	int err = list_explain(fs, list, name, d, &lines);

	if (err == -ENOMEM)
		return diag_no_memory(d);
	for (size_t i = 0; i < lines.nr && !err; i++) {
		size_t indent = strspn(lines.items[i], " ");

		output_wrapped(stdout, (int)indent, lines.items[i] + indent);
	}
	return err;
}

static int show(const struct options *args, const struct sysfs *fs, struct diag *d)
{
	struct pmu_list list = { 0 };
	int err;

	err = pmu_list_read(fs, d, &list);
	if (err)
		return err;
	err = platform_file_check(fs, &list, d);
	if (err) {
		pmu_list_free(&list);
		return err;
	}
	if (args->machine.explain)
		err = show_one(fs, &list, args->machine.explain, d);
	else if (list.nr == 0)
		err = no_pmu_diag(fs, d);
	else if ((err = show_list(args, fs, &list)))
		diag_error(d, err, "cannot show the PMUs");
	pmu_list_free(&list);
	return err;
}

static int run(struct options *o)
{
	struct sysfs fs = { .fd = -1 };
	struct diag d = { 0 };
	int err;

	if (o->run.esp)
		return output_end(o->who, esp_list(o, &d), &d) ? EXIT_FAILED : EXIT_OK_;
	err = sysfs_open(o->machine.sysfs, &d, &fs);
	if (!err)
		err = show(o, &fs, &d);
	sysfs_close(&fs);
	return output_end(o->who, err, &d) ? EXIT_FAILED : EXIT_OK_;
}

static int check(struct options *o, struct diag *d)
{
	if (o->run.esp && (o->machine.sysfs || o->machine.explain))
		return diag_fail(d, -EINVAL,
				 "--esp is about no PMU: without --sysfs and --explain");
	return o->machine.explain && o->run.output.format != OUTPUT_TEXT
		       ? diag_fail(d, -EINVAL, "--explain is text for people, without --json")
		       : 0;
}

static const struct option_row rows[] = {
	{ 0, 0, "Print JSON (" LIST_SCHEMA ")", AS_JSON },
	{ 0, 0, "Look into a copy of /sys at DIR",
	  OPTION("sysfs", 0, "DIR", value_text, machine.sysfs) },
	{ 0, 0, PLATFORM_IS, PLATFORM },
	{ 0, 0, "Show the tiles and monitors of the ESP system-on-chip that FILE describes",
	  OPTION("esp", 0, "FILE", value_text, run.esp) },
	{ 0, 0, "Tell which rows of t410trace fit one PMU, what reports count with it, and why not",
	  OPTION("explain", 0, "PMU", value_text, machine.explain) },
	{ 0 },
};

const struct command command_list = {
	.name = "list",
	.brief = "the uncore PMUs here, their events and filters",
	.doc = "Show the uncore PMUs of this machine with their events and filters.",
	.options = rows,
	.check = check,
	.run = run,
};
