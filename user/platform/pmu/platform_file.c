// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/pmu/platform_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_file.h"
#include "base/text.h"
#include "platform/pmu/fit.h"
#include "platform/pmu/pmu_scale.h"

#define MAX_FAMILIES 16
#define MAX_ROWS     128
#define MAX_EVENTS   32 /* of one family */

/* The rows' strings belong to @file. */
struct platform_file {
	struct json_file file;
	struct pmu_platform_row platform;
	struct pmu_family families[MAX_FAMILIES];
	struct counter_row rows[MAX_ROWS];
	struct json_node family_at[MAX_FAMILIES];
	struct json_node row_at[MAX_ROWS];
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

struct file_words {
	const char *schema, *name, *title, *cpu, *comment;
};

static const struct field file_keys[] = {
	TEXT("schema", struct file_words, schema, 40, .required = true),
	TEXT("$schema", struct file_words, comment, 300),
	TEXT("platform", struct file_words, name, 15, .required = true),
	TEXT("title", struct file_words, title, 60, .required = true),
	TEXT("cpu", struct file_words, cpu, 40),
	LIST("pmus", MAX_FAMILIES, .required = true),
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

	if (err)
		return err;
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
	if (!err && !has_total(f))
		return json_node_wrong(&o, "pmus", d, -EINVAL,
				       "all rows are parts, and none counts the total");
	f->own.platform = &f->platform;
	f->own.families = f->families;
	f->own.rows = f->rows;
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
		if (err) {
			json_node_wrong(&f->row_at[i], NULL, d, err, "%s", why.what);
			return diag_advise(d, err, "%s", why.help);
		}
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
	return err;
}
