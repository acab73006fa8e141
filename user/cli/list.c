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
#include "cli/list_text.h"
#include "platform/core/weights.h"
#include "platform/pmu/explain.h"
#include "platform/pmu/fit.h"
#include "platform/pmu/platform_file.h"
#include "platform/pmu/pmu.h"
#include "platform/sys/smbios.h"
#include "platform/sys/sysfs.h"
#include "tables/events.h"
#include "tables/own_rows.h"

#define LIST_SCHEMA "t410trace.list/1"

static json_t *hex(uint64_t value)
{
	/* Numbers of most JSON readers end at 53 or 63 bits, configurations do not. */
	return json_sprintf("0x%" PRIx64, value);
}

static json_t *event_to_json(const struct pmu *pmu, const struct pmu_event *event)
{
	const struct event_row *row = event_row_find(pmu->kind, event->name);
	json_t *terms = json_object();

	for (size_t i = 0; i < event->nr_terms; i++) {
		if (json_object_set_new(terms, event->terms[i].name, hex(event->terms[i].value))) {
			json_decref(terms);
			return NULL;
		}
	}
	return json_pack("{s:s, s:s, s:o*, s:o, s:o*, s:o*, s:o*, s:o*}", "name", event->name,
			 "text", event->text, "meaning", row ? json_string(row->counts) : NULL,
			 "terms", terms, "scale",
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
		output_append(&events, event_to_json(pmu, &pmu->events[i]));
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

static json_t *metrics_to_json(const struct pmu_list *list)
{
	json_t *metrics = own_metric_at(0) ? json_array() : NULL;
	const struct metric_row *row;
	size_t at = 0;

	while ((row = list_next_metric(list, &at)))
		output_append(&metrics,
			      json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:b, s:s}", "name", row->id,
					"title", row->title, "unit", row->unit, "formula",
					row->formula, "from", text_or_null(row->from), "to",
					text_or_null(row->to), "default", row->by_default, "source",
					row->source));
	return metrics;
}

static json_t *list_to_json(const struct pmu_list *list, const char *one,
			    const struct text_list *notes)
{
	json_t *sentences = json_array();
	json_t *pmus = json_array();

	for (size_t i = 0; i < list->nr; i++)
		if (!one || list_is_of(&list->pmus[i], one))
			output_append(&pmus, pmu_to_json(&list->pmus[i]));
	for (size_t i = 0; i < notes->nr; i++)
		output_append(&sentences, json_string(notes->items[i]));
	return json_pack("{s:s, s:o, s:o*, s:o}", "schema", LIST_SCHEMA, "pmus", pmus, "metrics",
			 metrics_to_json(list), "notes", sentences);
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
	return args->run.output.format == OUTPUT_JSON
		       ? output_json(list_to_json(list, args->machine.pmu, &notes))
		       : list_text(list, args->machine.pmu, &notes);
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

/* Is there a PMU, or a family of PMUs, of this name? */
static int find(const struct pmu_list *list, const char *name, struct diag *d)
{
	char families[400] = "";

	for (size_t i = 0; i < list->nr; i++) {
		const struct pmu *pmu = &list->pmus[i];

		if (list_is_of(pmu, name))
			return 0;
		if (!i || pmu->family != pmu[-1].family)
			str_append(families, sizeof(families), "%s%s", i ? ", " : "",
				   pmu->family->short_name);
	}
	diag_fail(d, -ENOENT, "no PMU and no family here is called \"%.64s\"", name);
	diag_help(d, "there are %s; \"t410trace list\" has the names of their PMUs", families);
	return -ENOENT;
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
	else if (args->machine.pmu && (err = find(&list, args->machine.pmu, d)))
		; /* said */
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
	if (o->machine.pmu && (o->run.esp || o->machine.explain))
		return diag_fail(d, -EINVAL, "a PMU to list and %s exclude each other",
				 o->run.esp ? "--esp" : "--explain");
	return o->machine.explain && o->run.output.format != OUTPUT_TEXT
		       ? diag_fail(d, -EINVAL, "--explain is text for people, without --json")
		       : 0;
}

static int take_pmu(struct options *o, const char *text, struct diag *d)
{
	if (o->machine.pmu)
		return diag_fail(d, -EINVAL, "unexpected argument \"%s\": one PMU or family", text);
	o->machine.pmu = text;
	return 0;
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
	.args = "[PMU]",
	.doc = "Show the uncore PMUs of this machine with their events and filters.",
	.more = "With a PMU, or the short name of a family, only that: with each event as perf and "
		"\"stat -e\" take it.",
	.options = rows,
	.argument = take_pmu,
	.check = check,
	.run = run,
};
