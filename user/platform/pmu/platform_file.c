// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/pmu/platform_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_file.h"
#include "base/spelling.h"
#include "base/text.h"
#include "platform/pmu/fit.h"
#include "platform/pmu/pmu_scale.h"
#include "stat.h"
#include "tables/formula.h"
#include "tables/metric_units.h"

#define MAX_FAMILIES	16
#define MAX_ROWS	128
#define MAX_EVENTS	32 /* of one family */
#define MAX_METRICS	64
/* A row for each built-in family of a name */
#define MAX_METRIC_ROWS (MAX_METRICS * 8)

/* A metric of the file. */
struct own_metric {
	struct json_node at;
	char id[METRIC_ID_LEN];
	struct metric_row row; /* for one of its families */
	const char *pmu;
	const char *name;
	bool optional;
	size_t first, nr; /* its rows */
};

/* The rows' strings belong to @file. */
struct platform_file {
	struct json_file file;
	struct pmu_platform_row platform;
	struct pmu_family families[MAX_FAMILIES];
	struct counter_row rows[MAX_ROWS];
	struct json_node family_at[MAX_FAMILIES];
	struct json_node row_at[MAX_ROWS];
	struct own_metric metrics[MAX_METRICS];
	size_t nr_metrics;
	struct metric_row metric_rows[MAX_METRIC_ROWS];
	struct own_rows own;
};

/* --- keys */

static const char *unit_word(unsigned int i)
{
	return i ? "joules" : "bytes";
}

static const char *place_word(unsigned int i)
{
	static const char *const words[] = { "name", "cpus", "only" };

	return words[i];
}

#define TEXT(key, structure, member, longest, ...) \
	ROW(key, structure, member, .max = longest, __VA_ARGS__)
#define LIST(key, most, ...)                                              \
	{                                                                 \
		.name = key, .type = FIELD_LIST, .max = most, __VA_ARGS__ \
	}

static const struct field row_keys[] = {
	TEXT("event", struct counter_row, event, PMU_NAME_LEN - 1, .required = true),
	TEXT("terms", struct counter_row, terms, PMU_TEXT_LEN - 1),
	TEXT("filters", struct counter_row, filters, PMU_TEXT_LEN - 1),
	TEXT("sum", struct counter_row, sum, PMU_NAME_LEN - 1),
	ROW("bytes", struct counter_row, scale, .max = UINT32_MAX),
	ROW("nanojoules", struct counter_row, scale, .max = UINT32_MAX),
	ROW("counts", struct counter_row, counts, .max = UINT32_MAX),
	ROW("optional", struct counter_row, optional),
	TEXT("from", struct counter_row, doc, 300, .required = true),
	ROW_WORD("source", struct counter_row, source, source_name, SOURCE_ANY + 1,
		 .required = true),
	ROW_WORD("unit", struct counter_row, unit, unit_word, 2),
	ROW_WORD("direction", struct counter_row, direction, direction_name, NR_DIRECTIONS),
	ROW_WORD("destination", struct counter_row, destination, destination_name,
		 DESTINATION_REMOTE + 1),
	ROW_WORD("part", struct counter_row, part, part_name, NR_PARTS),
};
static const struct fields row_fields = FIELDS(row_keys, struct counter_row);

struct family_words {
	const char *pattern, *name, *title, *from;
	unsigned int place;
};

static const struct field family_keys[] = {
	TEXT("pmu", struct family_words, pattern, PMU_NAME_LEN - 24, .required = true),
	TEXT("name", struct family_words, name, 15, .required = true),
	TEXT("title", struct family_words, title, 60, .required = true),
	TEXT("from", struct family_words, from, 300, .required = true),
	ROW_WORD("socket", struct family_words, place, place_word, 3, .required = true),
	LIST("rows", MAX_EVENTS, .required = true),
};
static const struct fields family_fields = FIELDS(family_keys, struct family_words);

static const struct field metric_keys[] = {
	TEXT("pmu", struct own_metric, pmu, 20, .required = true),
	TEXT("name", struct own_metric, name, 40, .required = true),
	TEXT("title", struct own_metric, row.title, 60, .required = true),
	TEXT("unit", struct own_metric, row.unit, 30, .required = true),
	TEXT("formula", struct own_metric, row.formula, 512, .required = true),
	TEXT("traffic_from", struct own_metric, row.from, 60),
	TEXT("traffic_to", struct own_metric, row.to, 60),
	ROW("default", struct own_metric, row.by_default),
	ROW("optional", struct own_metric, optional),
	TEXT("from", struct own_metric, row.source, 300, .required = true),
};
static const struct fields metric_fields = FIELDS(metric_keys, struct own_metric);

struct file_words {
	const char *schema, *name, *title, *cpu, *comment;
};

static const struct field file_keys[] = {
	TEXT("schema", struct file_words, schema, 40, .required = true),
	TEXT("$schema", struct file_words, comment, 300),
	TEXT("platform", struct file_words, name, 15, .required = true),
	TEXT("title", struct file_words, title, 60, .required = true),
	TEXT("cpu", struct file_words, cpu, 40),
	LIST("pmus", MAX_FAMILIES),
	LIST("metrics", MAX_METRICS),
};
static const struct fields file_fields = FIELDS(file_keys, struct file_words);

/* --- their meaning */

/* "name=number,name=number" */
static int check_settings(const struct json_node *o, const char *key, const char *text,
			  struct diag *d)
{
	char name[PMU_NAME_LEN];
	uint64_t value;
	size_t nr = 0;

	while (text && *text && nr <= PMU_MAX_TERMS &&
	       !take_setting(&text, name, sizeof(name), &value))
		nr++;
	if (!text || (!*text && nr <= PMU_MAX_TERMS))
		return 0;
	return json_node_wrong(o, key, d, -EINVAL,
			       "\"%s\" must be up to %d settings such as \"event=0x4,umask=0x3\"",
			       key, PMU_MAX_TERMS);
}

/* The same event and direction without a filter, or with the same one, counts the same bytes. */
static bool same_bytes(const struct counter_row *a, const struct counter_row *b)
{
	bool event = !strcmp(a->event, b->event) ||
		     (a->terms && b->terms && !strcmp(a->terms, b->terms));

	return a->kind == b->kind && event &&
	       (!a->filters[0] || !b->filters[0] || !strcmp(a->filters, b->filters));
}

/* Energy has no direction, and its counts are not bytes. */
static int check_unit(const struct json_node *o, struct counter_row *row, struct diag *d)
{
	static const char *const of_bytes[] = { "bytes", "direction", "destination" };

	if (row->unit == UNIT_BYTES) {
		if (json_object_get(o->json, "nanojoules"))
			return json_node_wrong(o, "nanojoules", d, -EINVAL,
					       "\"nanojoules\" needs \"unit\": \"joules\"");
		if (!json_object_get(o->json, "direction"))
			return json_node_wrong(o, NULL, d, -EINVAL, "\"direction\" is missing");
		return 0;
	}
	row->unit = UNIT_NANOJOULES;
	row->direction = DIRECTION_READWRITE;
	for (size_t i = 0; i < ARRAY_SIZE(of_bytes); i++)
		if (json_object_get(o->json, of_bytes[i]))
			return json_node_wrong(o, of_bytes[i], d, -EINVAL,
					       "a row of joules has no \"%s\"", of_bytes[i]);
	if (!row->scale)
		return json_node_wrong(o, NULL, d, -EINVAL, "\"nanojoules\" is missing");
	return 0;
}

static int read_row(struct platform_file *f, const struct json_node *o, enum pmu_kind kind,
		    struct diag *d)
{
	struct counter_row *row = &f->rows[f->own.nr_rows];
	int err;

	if (f->own.nr_rows == MAX_ROWS)
		return json_node_wrong(o, NULL, d, -E2BIG, "more than %d rows", MAX_ROWS);
	*row = (struct counter_row){ .kind = kind, .filters = "" };
	err = json_node_read(o, &row_fields, row, d);
	if (!err && row->part && row->direction == DIRECTION_READWRITE)
		return json_node_wrong(o, "direction", d, -EINVAL,
				       "a part is of reads or of writes");
	row->sets = row->part ? COUNTERS_PARTS : COUNTERS_SUMS | COUNTERS_DESTINATION;
	if (!err)
		err = check_settings(o, "terms", row->terms, d);
	if (!err)
		err = check_settings(o, "filters", row->filters, d);
	if (!err)
		err = check_unit(o, row, d);
	if (!err && row->counts && !row->scale)
		return json_node_wrong(o, NULL, d, -EINVAL,
				       "\"counts\" is of no use without \"bytes\"");
	for (size_t i = 0; i < f->own.nr_rows && !err; i++)
		if (f->rows[i].kind == kind && f->rows[i].sum && row->sum &&
		    !strcmp(f->rows[i].sum, row->sum) && f->rows[i].unit != row->unit)
			return json_node_wrong(o, "sum", d, -EINVAL,
					       "the row at line %u of this sum has another unit",
					       json_node_line(&f->row_at[i]));
	for (size_t i = 0; i < f->own.nr_rows && !err; i++)
		if (same_bytes(&f->rows[i], row))
			return json_node_wrong(
				o, NULL, d, -EINVAL,
				"this row counts the bytes of the row at line %u once more",
				json_node_line(&f->row_at[i]));
	if (!err)
		f->row_at[f->own.nr_rows++] = *o;
	return err;
}

static bool is_pattern(const char *text)
{
	static const char *const numbers[] = { "<n>", "<i>", "<x>", NULL };
	size_t letters = 0;

	while (*text) {
		size_t i = 0;

		while (numbers[i] && strncmp(text, numbers[i], 3))
			i++;
		if (!numbers[i] && !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789_-.",
					   *text))
			return false;
		letters += !numbers[i];
		text += numbers[i] ? 3 : 1;
	}
	return letters;
}

static int read_family(struct platform_file *f, const struct json_node *o, struct diag *d)
{
	static const enum pmu_socket_by by[] = { PMU_SOCKET_BY_NAME, PMU_SOCKET_BY_CPUS,
						 PMU_SOCKET_ONLY };
	struct pmu_family *family = &f->families[f->own.nr_families];
	enum pmu_kind kind = (enum pmu_kind)(PMU_OWN + f->own.nr_families);
	struct family_words words = { 0 };
	int err = json_node_read(o, &family_fields, &words, d);
	size_t nr;

	if (err)
		return err;
	if (!is_pattern(words.pattern))
		return json_node_wrong(
			o, "pmu", d, -EINVAL,
			"\"pmu\" must be a name in sysfs; <n> and <i> stand for decimal "
			"numbers, <x> for a hexadecimal one");
	for (size_t i = 0; i < f->own.nr_families; i++)
		if (!strcmp(f->families[i].pattern, words.pattern))
			return json_node_wrong(o, NULL, d, -EINVAL, "the PMU of line %u once more",
					       json_node_line(&f->family_at[i]));
	*family = (struct pmu_family){
		.kind = kind,
		.platform = PMU_PLATFORM_OWN,
		.short_name = words.name,
		.title = words.title,
		.pattern = words.pattern,
		.socket_by = by[words.place],
		.no_events = true,
		.read_cost = 1,
		.cycles_cost = 1,
		.source = words.from,
	};
	f->family_at[f->own.nr_families++] = *o;
	nr = json_array_size(json_object_get(o->json, "rows"));
	for (size_t i = 0; i < nr && !err; i++) {
		struct json_node row = json_node_item(o, "rows", i);

		err = read_row(f, &row, kind, d);
	}
	return err;
}

/* --- metrics */

/* Copy a text of a deeper problem. */
static int wrong_because(const struct json_node *o, const char *key, const struct diag *why,
			 struct diag *d, int err)
{
	json_node_wrong(o, key, d, err, "%s", why->what);
	return diag_advise(d, err, "%s", why->help);
}

static int check_metric_name(const struct json_node *o, const struct own_metric *m, struct diag *d)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

	for (const char *c = m->name; *c; c++) {
		if (!strncmp(c, "<s>", 3) || !strncmp(c, "<o>", 3))
			c += 2;
		else if (!strchr(letters, *c))
			return json_node_wrong(o, "name", d, -EINVAL,
					       "\"name\" must be small letters, digits and _; <s> "
					       "and <o> stand for this socket and another one");
	}
	if (strstr(m->row.formula, "<o>") && !strstr(m->name, "<o>"))
		return json_node_wrong(o, "name", d, -EINVAL,
				       "\"name\" needs <o> as \"formula\" has it: each other "
				       "socket has a metric");
	return 0;
}

static int check_metric_unit(const struct json_node *o, const char *unit, struct diag *d)
{
	struct spelling s = { .word = unit };

	if (metric_unit_find(unit))
		return 0;
	for (size_t i = 0; i < nr_metric_units; i++)
		spelling_add(&s, metric_units[i].name);
	json_node_wrong(o, "unit", d, -EINVAL, "unknown unit \"%s\"", unit);
	return spelling_advise(&s, "known are", d, -EINVAL);
}

/* A formula that has a value for some counts, of events that can count together. */
static int check_formula(const struct json_node *o, const char *text, struct diag *d)
{
	double values[STAT_MAX_INPUTS], value;
	struct formula *formula = NULL;
	size_t nr = 0, nr_events = 0;
	struct diag why = { 0 };
	int err = formula_parse(text, &why, &formula);

	if (err)
		return wrong_because(o, "formula", &why, d, err);
	nr = formula_nr_names(formula);
	for (size_t i = 0; i < nr && nr <= STAT_MAX_INPUTS; i++) {
		nr_events += !metric_is_constant(formula_name(formula, i));
		/* no simple ratios, so that only what is always 0 is 0 */
		values[i] = 1e6 / ((double)i + 1.37);
	}
	if (nr > STAT_MAX_INPUTS)
		err = json_node_wrong(o, "formula", d, -E2BIG, "more than %d names in a formula",
				      STAT_MAX_INPUTS);
	else if (!nr_events)
		err = json_node_wrong(o, "formula", d, -EINVAL, "the formula has no event");
	else if (!formula_eval(formula, values, &value))
		err = json_node_wrong(o, "formula", d, -EINVAL,
				      "the formula has no value, whatever the events count: it "
				      "divides by zero, or is too large");
	formula_free(formula);
	return err;
}

static int check_same_metric(const struct platform_file *f, const struct json_node *o,
			     const struct own_metric *m, struct diag *d)
{
	const struct metric_row *row;

	for (size_t i = 0; i < f->nr_metrics; i++)
		if (!strcmp(f->metrics[i].id, m->id))
			return json_node_wrong(o, "name", d, -EINVAL,
					       "the metric of line %u is %s, too",
					       json_node_line(&f->metrics[i].at), m->id);
	for (size_t i = 0; (row = metric_row_at(i)) && row->platform != PMU_PLATFORM_OWN; i++)
		if (!strcmp(row->id, m->id))
			return json_node_wrong(o, "name", d, -EINVAL, "%s is a built-in metric",
					       m->id);
	return 0;
}

static int add_metric_row(struct platform_file *f, struct own_metric *m, enum pmu_kind kind)
{
	if (f->own.nr_metrics == MAX_METRIC_ROWS)
		return -E2BIG;
	m->row.kind = kind;
	f->metric_rows[f->own.nr_metrics++] = m->row;
	m->nr++;
	return 0;
}

/* A row for each family of the name: the file's own, or else the built-in ones. */
static int add_metric_rows(struct platform_file *f, const struct json_node *o, struct own_metric *m,
			   struct diag *d)
{
	struct spelling s = { .word = m->pmu };
	bool own;
	int err = 0;

	for (size_t i = 0; i < f->own.nr_families && !err; i++)
		if (!strcmp(f->families[i].short_name, m->pmu))
			err = add_metric_row(f, m, f->families[i].kind);
	own = m->nr;
	for (size_t i = 0; i < nr_pmu_families && !own && !err; i++)
		if (!strcmp(pmu_families[i].short_name, m->pmu))
			err = add_metric_row(f, m, pmu_families[i].kind);
	if (!err && !strcmp(m->pmu, "core"))
		err = add_metric_row(f, m, PMU_CORE);
	if (err)
		return json_node_wrong(o, NULL, d, err, "too many metrics");
	if (m->nr)
		return 0;
	for (size_t i = 0; i < f->own.nr_families; i++)
		spelling_add(&s, f->families[i].short_name);
	spelling_add(&s, "core");
	for (size_t i = 0; i < nr_pmu_families; i++)
		spelling_add(&s, pmu_families[i].short_name);
	json_node_wrong(o, "pmu", d, -EINVAL, "no PMU is called \"%s\"", m->pmu);
	return spelling_advise(&s, "known are", d, -EINVAL);
}

static int read_metric(struct platform_file *f, const struct json_node *o, struct diag *d)
{
	struct own_metric *m = &f->metrics[f->nr_metrics];
	int err;

	*m = (struct own_metric){
		.at = *o,
		.row = { .platform = PMU_PLATFORM_OWN, .derived = true, .by_default = true },
		.first = f->own.nr_metrics,
	};
	err = json_node_read(o, &metric_fields, m, d);
	if (err)
		return err;
	snprintf(m->id, sizeof(m->id), "%s.%s.%s", f->platform.name, m->pmu, m->name);
	m->row.id = m->id;
	err = check_metric_name(o, m, d);
	if (!err)
		err = check_metric_unit(o, m->row.unit, d);
	if (!err)
		err = check_formula(o, m->row.formula, d);
	if (!err)
		err = check_same_metric(f, o, m, d);
	if (!err)
		err = add_metric_rows(f, o, m, d);
	f->nr_metrics += !err;
	return err;
}

/* --- the whole file */

/* Parts supplement a total: without one nothing could be split. */
static bool has_total(const struct platform_file *f)
{
	for (size_t i = 0; i < f->own.nr_rows; i++)
		if (!f->rows[i].part)
			return true;
	return false;
}

static int read_file(struct platform_file *f, struct diag *d)
{
	struct json_node o = json_file_top(&f->file);
	struct file_words words = { 0 };
	int err = json_node_read(&o, &file_fields, &words, d);
	size_t nr = json_array_size(json_object_get(o.json, "pmus"));
	size_t nr_metrics = json_array_size(json_object_get(o.json, "metrics"));

	if (err)
		return err;
	if (!nr && !nr_metrics)
		return json_node_wrong(&o, NULL, d, -EINVAL, "\"pmus\" or \"metrics\" is missing");
	if (strcmp(words.schema, PLATFORM_FILE_SCHEMA))
		return json_node_wrong(&o, "schema", d, -EINVAL,
				       "\"schema\" must be \"" PLATFORM_FILE_SCHEMA "\"");
	if (words.name[strspn(words.name, "abcdefghijklmnopqrstuvwxyz0123456789-")])
		return json_node_wrong(&o, "platform", d, -EINVAL,
				       "\"platform\" must be small letters, digits and -");
	f->platform = (struct pmu_platform_row){
		.platform = PMU_PLATFORM_OWN,
		.name = words.name,
		.title = words.title,
		.mistaken_for = PMU_PLATFORM_UNKNOWN,
		.pcie = PMU_UNKNOWN,
		.pcie_target = PMU_UNKNOWN,
	};
	for (size_t i = 0; i < nr && !err; i++) {
		struct json_node family = json_node_item(&o, "pmus", i);

		err = read_family(f, &family, d);
	}
	if (!err && nr && !has_total(f))
		return json_node_wrong(&o, "pmus", d, -EINVAL,
				       "all rows are parts, and none counts the total");
	for (size_t i = 0; i < nr_metrics && !err; i++) {
		struct json_node metric = json_node_item(&o, "metrics", i);

		err = read_metric(f, &metric, d);
	}
	f->own.platform = &f->platform;
	f->own.families = f->families;
	f->own.rows = f->rows;
	f->own.metrics = f->metric_rows;
	return err;
}

/* --- the file */

static void free_file(struct platform_file *f)
{
	if (f)
		json_file_free(&f->file);
	free(f);
}

static int load(const char *path, struct diag *d, struct platform_file **ret)
{
	struct platform_file *f = calloc(1, sizeof(*f));
	int err = f ? json_file_read(path, d, &f->file) : diag_no_memory(d);

	if (!err)
		err = read_file(f, d);
	if (err)
		free_file(f);
	else
		*ret = f;
	return err;
}

int platform_file_try(const char *path, struct diag *d)
{
	struct platform_file *f;
	int err = load(path, d, &f);

	if (!err)
		free_file(f);
	return err;
}

/* The file whose rows are in use. */
static struct platform_file *in_use;

int platform_file_use(const char *path, struct diag *d)
{
	int err;

	if (in_use && !strcmp(in_use->file.path, path))
		return 0;
	if (in_use)
		return diag_fail(d, -EBUSY, "one file has all rows, and %.150s is in use",
				 in_use->file.path);
	err = load(path, d, &in_use);
	if (!err)
		own_rows_use(&in_use->own);
	return err;
}

void platform_file_drop(void)
{
	own_rows_use(NULL);
	free_file(in_use);
	in_use = NULL;
}

/* --- against a machine */

static int check_cpu(const struct platform_file *f, const struct sysfs *fs, struct diag *d)
{
	const struct json_node top = json_file_top(&f->file);
	const char *want = json_string_value(json_object_get(top.json, "cpu"));
	char here[40] = "none that sysfs tells";
	enum pmu_platform platform;

	if (!want)
		return 0;
	pmu_cpu_text(fs, here, sizeof(here), &platform);
	if (cpu_text_fits(want, here))
		return 0;
	return json_node_wrong(&top, "cpu", d, -ENODEV, "the rows are for %s, and the CPU is %s",
			       want, here);
}

/* The rows of one PMU: known to sysfs, and no two of them the same. */
static int check_pmu(const struct platform_file *f, const struct pmu *pmu, struct diag *d)
{
	struct pmu_config configs[MAX_EVENTS];
	size_t rows[MAX_EVENTS], nr = 0;

	for (size_t i = 0; i < f->own.nr_rows; i++) {
		const struct counter_row *row = &f->rows[i];
		struct diag why = { 0 };
		int err;

		if (row->kind != pmu->kind)
			continue;
		err = pmu_row_config(pmu, row, &why, &configs[nr]);
		if (err && row->optional)
			continue;
		if (err)
			return wrong_because(&f->row_at[i], NULL, &why, d, err);
		if (!pmu_row_bytes(row, pmu_row_event(pmu, row)).bytes)
			return json_node_wrong(
				&f->row_at[i], NULL, d, -ENODATA,
				"\"bytes\" is missing, and sysfs does not say them of %s/%s/",
				pmu->name, row->event);
		for (size_t k = 0; k < nr; k++)
			if (!memcmp(&configs[k], &configs[nr], sizeof(configs[k])))
				return json_node_wrong(
					&f->row_at[i], NULL, d, -EINVAL,
					"on %s this counts the bytes of the row at line %u "
					"once more",
					pmu->name, json_node_line(&f->row_at[rows[k]]));
		rows[nr++] = i;
	}
	return 0;
}

/* The first event of a formula that a PMU does not have; "" when it has all. */
static int find_missing(const struct pmu *pmu, const struct metric_row *row, char *ret, size_t size)
{
	struct formula *formula = NULL;
	int err = formula_parse(row->formula, NULL, &formula);

	ret[0] = '\0';
	for (size_t i = 0; !err && i < formula_nr_names(formula) && !ret[0]; i++) {
		const char *name = formula_name(formula, i);

		if (metric_text(name, pmu->socket, !pmu->socket, ret, size) ||
		    metric_is_constant(name) || pmu_event_find(pmu, ret))
			ret[0] = '\0';
	}
	formula_free(formula);
	return err;
}

static int no_event(const struct own_metric *m, const struct pmu *pmu, const char *event,
		    struct diag *d)
{
	struct spelling s = { .word = event };

	json_node_wrong(&m->at, "formula", d, -ENOENT, "%s has no event \"%.80s\"", pmu->name,
			event);
	for (size_t i = 0; i < pmu->nr_events; i++)
		spelling_add(&s, pmu->events[i].name);
	return spelling_advise(&s, "it has", d, -ENOENT);
}

/* Some PMU has all events of a metric. Events of cores are looked up when they are wanted. */
static int check_metric(const struct platform_file *f, const struct own_metric *m,
			const struct pmu_list *list, struct diag *d)
{
	const struct pmu *lacks = NULL;
	char event[METRIC_ID_LEN], first[METRIC_ID_LEN];

	for (size_t i = m->first; i < m->first + m->nr; i++) {
		const struct metric_row *row = &f->metric_rows[i];

		if (row->kind == PMU_CORE)
			return 0;
		for (size_t k = 0; k < list->nr; k++) {
			if (list->pmus[k].kind != row->kind)
				continue;
			if (find_missing(&list->pmus[k], row, event, sizeof(event)))
				return diag_no_memory(d);
			if (!event[0])
				return 0;
			if (!lacks)
				str_copy(first, sizeof(first), event);
			lacks = lacks ?: &list->pmus[k];
		}
	}
	if (m->optional)
		return 0;
	if (lacks)
		return no_event(m, lacks, first, d);
	json_node_wrong(&m->at, "pmu", d, -ENODEV, "this machine has no PMU \"%s\"", m->pmu);
	return diag_advise(d, -ENODEV,
			   "t410trace list shows the PMUs; with \"optional\": true a metric may "
			   "lack its PMU or events");
}

int platform_file_check(const struct sysfs *fs, const struct pmu_list *list, struct diag *d)
{
	const struct platform_file *f = in_use;
	int err = f ? check_cpu(f, fs, d) : 0;

	if (!f)
		return 0;

	for (size_t k = 0; k < f->own.nr_families && !err; k++) {
		bool found = false;

		for (size_t i = 0; i < list->nr && !err; i++) {
			if (list->pmus[i].kind != f->families[k].kind)
				continue;
			found = true;
			err = check_pmu(f, &list->pmus[i], d);
		}
		if (!err && !found) {
			json_node_wrong(&f->family_at[k], NULL, d, -ENODEV,
					"no PMU in %.80s is called %s", fs->root,
					f->families[k].pattern);
			err = pmu_advise_names(fs, f->families[k].pattern, -ENODEV, d);
		}
	}
	for (size_t i = 0; i < f->nr_metrics && !err; i++)
		err = check_metric(f, &f->metrics[i], list, d);
	return err;
}
