// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/pmu/platform_file.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json_place.h"
#include "base/spelling.h"
#include "base/text.h"
#include "platform/pmu/fit.h"
#include "platform/pmu/pmu_scale.h"

#define MAX_BYTES    (1 << 20)
#define MAX_FAMILIES 16
#define MAX_ROWS     128
#define MAX_EVENTS   32 /* of one family */

/* The rows' strings belong to @json. */
struct platform_file {
	char *path;
	char *text;
	json_t *json;
	struct pmu_platform_row platform;
	struct pmu_family families[MAX_FAMILIES];
	struct counter_row rows[MAX_ROWS];
	const char *family_at[MAX_FAMILIES]; /* where they begin in @text */
	const char *row_at[MAX_ROWS];
	struct own_rows own;
};

/* --- what is wrong, and where */

static int __attribute__((format(printf, 5, 6)))
wrong(const struct platform_file *f, const char *at, struct diag *d, int err, const char *fmt, ...)
{
	char what[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return diag_fail(d, err, "%.150s:%u: %s", f->path, json_place_line(f->text, at), what);
}

/* --- objects and their fields */

enum field_type { FIELD_TEXT, FIELD_NUMBER, FIELD_SWITCH, FIELD_WORD, FIELD_LIST };

struct field {
	const char *name;
	enum field_type type;
	bool required;
	size_t offset;		  /* in the structure that is filled in; lists do not use it */
	size_t longest;		  /* text without its end, or the largest number */
	const char *const *words; /* of FIELD_WORD, by value */
};

/* An object of the file: its parsed fields and its position. */
struct object {
	const struct platform_file *f;
	json_t *json;
	const char *at;
};

static void put_words(const char *const *words, char *ret, size_t size)
{
	ret[0] = '\0';
	for (size_t i = 0; words[i]; i++)
		str_append(ret, size, "%s\"%s\"", i ? ", " : "", words[i]);
}

static int unknown_key(const struct object *o, const char *key, const struct field *fields,
		       struct diag *d)
{
	struct spelling s = { .word = key };

	for (const struct field *k = fields; k->name; k++)
		spelling_add(&s, k->name);
	wrong(o->f, json_place_key(o->at, key) ?: o->at, d, -EINVAL, "unknown key \"%.60s\"", key);
	return spelling_advise(&s, "known are", d, -EINVAL);
}

static int fill_text(const struct object *o, const struct field *k, const json_t *value,
		     const char *at, void *to, struct diag *d)
{
	const char *text = json_string_value(value);

	if (!text || !text[0] || strlen(text) > k->longest)
		return wrong(o->f, at, d, -EINVAL, "\"%s\" must be text of 1 to %zu bytes", k->name,
			     k->longest);
	for (const char *c = text; *c; c++)
		if (*c < ' ' || *c > '~')
			return wrong(o->f, at, d, -EINVAL, "\"%s\" must be printable ASCII",
				     k->name);
	*(const char **)to = text;
	return 0;
}

static int fill_number(const struct object *o, const struct field *k, const json_t *value,
		       const char *at, void *to, struct diag *d)
{
	json_int_t number = json_integer_value(value);

	if (!json_is_integer(value) || number < 1 || (uint64_t)number > k->longest)
		return wrong(o->f, at, d, -EINVAL, "\"%s\" must be a whole number from 1 to %zu",
			     k->name, k->longest);
	*(uint32_t *)to = (uint32_t)number;
	return 0;
}

static int fill_word(const struct object *o, const struct field *k, const json_t *value,
		     const char *at, void *to, struct diag *d)
{
	const char *text = json_string_value(value);
	char words[200];

	for (unsigned int i = 0; text && k->words[i]; i++) {
		if (strcmp(k->words[i], text))
			continue;
		*(unsigned int *)to = i;
		return 0;
	}
	put_words(k->words, words, sizeof(words));
	return wrong(o->f, at, d, -EINVAL, "\"%s\" must be one of %s", k->name, words);
}

static int fill(const struct object *o, const struct field *k, void *ret, struct diag *d)
{
	const json_t *value = json_object_get(o->json, k->name);
	const char *at = json_place_member(o->at, k->name) ?: o->at;
	void *to = (char *)ret + k->offset;

	if (!value && k->required)
		return wrong(o->f, o->at, d, -EINVAL, "\"%s\" is missing", k->name);
	if (!value)
		return 0;
	switch (k->type) {
	case FIELD_TEXT:
		return fill_text(o, k, value, at, to, d);
	case FIELD_NUMBER:
		return fill_number(o, k, value, at, to, d);
	case FIELD_WORD:
		return fill_word(o, k, value, at, to, d);
	case FIELD_SWITCH:
		if (!json_is_boolean(value))
			return wrong(o->f, at, d, -EINVAL, "\"%s\" must be true or false", k->name);
		*(bool *)to = json_is_true(value);
		return 0;
	case FIELD_LIST:
		break;
	}
	if (!json_is_array(value) || !json_array_size(value) || json_array_size(value) > k->longest)
		return wrong(o->f, at, d, -EINVAL, "\"%s\" must be a list of 1 to %zu objects",
			     k->name, k->longest);
	return 0;
}

/* Read all fields of an object; unknown ones are errors. */
static int fill_all(const struct object *o, const struct field *fields, void *ret, struct diag *d)
{
	const char *key;
	json_t *value;
	int err = 0;

	if (!json_is_object(o->json))
		return wrong(o->f, o->at, d, -EINVAL, "this must be an object, { ... }");
	json_object_foreach (o->json, key, value) {
		const struct field *k = fields;

		while (k->name && strcmp(k->name, key))
			k++;
		if (!k->name)
			return unknown_key(o, key, fields, d);
	}
	for (const struct field *k = fields; k->name && !err; k++)
		err = fill(o, k, ret, d);
	return err;
}

static struct object item_of(const struct object *o, const char *list, size_t i)
{
	const char *at = json_place_member(o->at, list);

	return (struct object){ o->f, json_array_get(json_object_get(o->json, list), i),
				at ? json_place_item(at, i) ?: o->at : o->at };
}

/* --- what they mean */

static const char *const directions[] = { "read", "write", "readwrite", NULL };
static const char *const units[] = { "bytes", "joules", NULL };
static const char *const sources[] = { "cpu", "device", "remote", "any", NULL };
static const char *const destinations[] = { "any", "cmem", "gmem", "cxl", "remote", NULL };
/* By enum part_kind; the first one is a row without the key. */
static const char *const parts[] = { "none",  "local", "devices", "remote",
				     "ports", "links", "cxl",	  NULL };
static const char *const places[] = { "name", "cpus", "only", NULL };

#define ROW(key, kind, must, member, most)                                                \
	{                                                                                 \
		key, FIELD_##kind, must, offsetof(struct counter_row, member), most, NULL \
	}
static const struct field row_fields[] = {
	ROW("event", TEXT, true, event, PMU_NAME_LEN - 1),
	ROW("terms", TEXT, false, terms, PMU_TEXT_LEN - 1),
	ROW("filters", TEXT, false, filters, PMU_TEXT_LEN - 1),
	ROW("sum", TEXT, false, sum, PMU_NAME_LEN - 1),
	ROW("bytes", NUMBER, false, scale, UINT32_MAX),
	ROW("nanojoules", NUMBER, false, scale, UINT32_MAX),
	ROW("counts", NUMBER, false, counts, UINT32_MAX),
	ROW("optional", SWITCH, false, optional, 0),
	ROW("from", TEXT, true, doc, 300),
	{ "source", FIELD_WORD, true, offsetof(struct counter_row, source), 0, sources },
	{ "unit", FIELD_WORD, false, offsetof(struct counter_row, unit), 0, units },
	{ "direction", FIELD_WORD, false, offsetof(struct counter_row, direction), 0, directions },
	{ "destination", FIELD_WORD, false, offsetof(struct counter_row, destination), 0,
	  destinations },
	{ "part", FIELD_WORD, false, offsetof(struct counter_row, part), 0, parts },
	{ 0 },
};

struct family_words {
	const char *pattern, *name, *title, *from;
	unsigned int place;
};

#define PMU(key, kind, must, member, most)                                                 \
	{                                                                                  \
		key, FIELD_##kind, must, offsetof(struct family_words, member), most, NULL \
	}
static const struct field family_fields[] = {
	PMU("pmu", TEXT, true, pattern, PMU_NAME_LEN - 24),
	PMU("name", TEXT, true, name, 15),
	PMU("title", TEXT, true, title, 60),
	PMU("from", TEXT, true, from, 300),
	{ "socket", FIELD_WORD, true, offsetof(struct family_words, place), 0, places },
	{ "rows", FIELD_LIST, true, 0, MAX_EVENTS, NULL },
	{ 0 },
};

struct file_words {
	const char *schema, *name, *title, *cpu, *comment;
};

#define FILE_TEXT(key, must, member, most)                                             \
	{                                                                              \
		key, FIELD_TEXT, must, offsetof(struct file_words, member), most, NULL \
	}
static const struct field file_fields[] = {
	FILE_TEXT("schema", true, schema, 40),
	FILE_TEXT("$schema", false, comment, 300),
	FILE_TEXT("platform", true, name, 15),
	FILE_TEXT("title", true, title, 60),
	FILE_TEXT("cpu", false, cpu, 40),
	{ "pmus", FIELD_LIST, true, 0, MAX_FAMILIES, NULL },
	{ 0 },
};

/* "name=number,name=number" */
static int check_settings(const struct object *o, const char *key, const char *text, struct diag *d)
{
	char name[PMU_NAME_LEN];
	uint64_t value;
	size_t nr = 0;

	while (text && *text && nr <= PMU_MAX_TERMS &&
	       !take_setting(&text, name, sizeof(name), &value))
		nr++;
	if (!text || (!*text && nr <= PMU_MAX_TERMS))
		return 0;
	return wrong(o->f, json_place_member(o->at, key), d, -EINVAL,
		     "\"%s\" must be up to %d settings such as \"event=0x4,umask=0x3\"", key,
		     PMU_MAX_TERMS);
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
static int check_unit(const struct object *o, struct counter_row *row, struct diag *d)
{
	static const char *const of_bytes[] = { "bytes", "direction", "destination" };

	if (row->unit == UNIT_BYTES) {
		if (json_object_get(o->json, "nanojoules"))
			return wrong(o->f, json_place_member(o->at, "nanojoules"), d, -EINVAL,
				     "\"nanojoules\" needs \"unit\": \"joules\"");
		if (!json_object_get(o->json, "direction"))
			return wrong(o->f, o->at, d, -EINVAL, "\"direction\" is missing");
		return 0;
	}
	row->unit = UNIT_NANOJOULES;
	row->direction = DIRECTION_READWRITE;
	for (size_t i = 0; i < ARRAY_SIZE(of_bytes); i++)
		if (json_object_get(o->json, of_bytes[i]))
			return wrong(o->f, json_place_member(o->at, of_bytes[i]), d, -EINVAL,
				     "a row of joules has no \"%s\"", of_bytes[i]);
	if (!row->scale)
		return wrong(o->f, o->at, d, -EINVAL, "\"nanojoules\" is missing");
	return 0;
}

static int read_row(struct platform_file *f, const struct object *o, enum pmu_kind kind,
		    struct diag *d)
{
	struct counter_row *row = &f->rows[f->own.nr_rows];
	int err;

	if (f->own.nr_rows == MAX_ROWS)
		return wrong(f, o->at, d, -E2BIG, "more than %d rows", MAX_ROWS);
	*row = (struct counter_row){ .kind = kind, .filters = "" };
	err = fill_all(o, row_fields, row, d);
	if (!err && row->part && row->direction == DIRECTION_READWRITE)
		return wrong(f, json_place_member(o->at, "direction"), d, -EINVAL,
			     "a part is of reads or of writes");
	row->sets = row->part ? COUNTERS_PARTS : COUNTERS_SUMS | COUNTERS_DESTINATION;
	if (!err)
		err = check_settings(o, "terms", row->terms, d);
	if (!err)
		err = check_settings(o, "filters", row->filters, d);
	if (!err)
		err = check_unit(o, row, d);
	if (!err && row->counts && !row->scale)
		return wrong(f, o->at, d, -EINVAL, "\"counts\" is of no use without \"bytes\"");
	for (size_t i = 0; i < f->own.nr_rows && !err; i++)
		if (f->rows[i].kind == kind && f->rows[i].sum && row->sum &&
		    !strcmp(f->rows[i].sum, row->sum) && f->rows[i].unit != row->unit)
			return wrong(f, json_place_member(o->at, "sum"), d, -EINVAL,
				     "the row at line %u of this sum has another unit",
				     json_place_line(f->text, f->row_at[i]));
	for (size_t i = 0; i < f->own.nr_rows && !err; i++)
		if (same_bytes(&f->rows[i], row))
			return wrong(f, o->at, d, -EINVAL,
				     "this row counts the bytes of the row at line %u once more",
				     json_place_line(f->text, f->row_at[i]));
	if (!err)
		f->row_at[f->own.nr_rows++] = o->at;
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

static int read_family(struct platform_file *f, const struct object *o, struct diag *d)
{
	static const enum pmu_socket_by by[] = { PMU_SOCKET_BY_NAME, PMU_SOCKET_BY_CPUS,
						 PMU_SOCKET_ONLY };
	struct pmu_family *family = &f->families[f->own.nr_families];
	enum pmu_kind kind = (enum pmu_kind)(PMU_OWN + f->own.nr_families);
	struct family_words words = { 0 };
	int err = fill_all(o, family_fields, &words, d);
	size_t nr;

	if (err)
		return err;
	if (!is_pattern(words.pattern))
		return wrong(f, json_place_member(o->at, "pmu"), d, -EINVAL,
			     "\"pmu\" must be a name in sysfs; <n> and <i> stand for decimal "
			     "numbers, <x> for a hexadecimal one");
	for (size_t i = 0; i < f->own.nr_families; i++)
		if (!strcmp(f->families[i].pattern, words.pattern))
			return wrong(f, o->at, d, -EINVAL, "the PMU of line %u once more",
				     json_place_line(f->text, f->family_at[i]));
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
	f->family_at[f->own.nr_families++] = o->at;
	nr = json_array_size(json_object_get(o->json, "rows"));
	for (size_t i = 0; i < nr && !err; i++) {
		struct object row = item_of(o, "rows", i);

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
	struct object o = { f, f->json, json_place_value(f->text) };
	struct file_words words = { 0 };
	int err = fill_all(&o, file_fields, &words, d);
	size_t nr = json_array_size(json_object_get(f->json, "pmus"));

	if (err)
		return err;
	if (strcmp(words.schema, PLATFORM_FILE_SCHEMA))
		return wrong(f, json_place_member(o.at, "schema"), d, -EINVAL,
			     "\"schema\" must be \"" PLATFORM_FILE_SCHEMA "\"");
	if (words.name[strspn(words.name, "abcdefghijklmnopqrstuvwxyz0123456789-")])
		return wrong(f, json_place_member(o.at, "platform"), d, -EINVAL,
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
		struct object family = item_of(&o, "pmus", i);

		err = read_family(f, &family, d);
	}
	if (!err && !has_total(f))
		return wrong(f, json_place_member(o.at, "pmus"), d, -EINVAL,
			     "all rows are parts, and none counts the total");
	f->own.platform = &f->platform;
	f->own.families = f->families;
	f->own.rows = f->rows;
	return err;
}

/* --- the file */

static int read_text(const char *path, char **ret, struct diag *d)
{
	char *text = malloc(MAX_BYTES + 1);
	FILE *file = text ? fopen(path, "re") : NULL;
	int err = text ? 0 : -ENOMEM;
	size_t size = 0;

	if (text && !file)
		err = -errno;
	if (file) {
		errno = 0;
		size = fread(text, 1, MAX_BYTES + 1, file);
		if (ferror(file))
			err = errno ? -errno : -EIO;
		fclose(file);
	}
	if (!err && size > MAX_BYTES)
		err = -E2BIG;
	if (!err && memchr(text, '\0', size))
		err = -EINVAL;
	if (err) {
		free(text);
		return err == -ENOMEM  ? diag_no_memory(d)
		       : err == -E2BIG ? diag_fail(d, err, "%.200s: larger than 1 MiB", path)
		       : err == -EINVAL
			       ? diag_fail(d, err, "%.200s: not text", path)
			       : diag_fail(d, err, "cannot read %.200s: %s", path, strerror(-err));
	}
	text[size] = '\0';
	*ret = text;
	return 0;
}

static void free_file(struct platform_file *f)
{
	json_decref(f->json);
	free(f->path);
	free(f->text);
	free(f);
}

static int load(const char *path, struct diag *d, struct platform_file **ret)
{
	struct platform_file *f = calloc(1, sizeof(*f));
	json_error_t error;
	int err;

	if (!f)
		return diag_no_memory(d);
	f->path = strdup(path);
	err = f->path ? read_text(path, &f->text, d) : diag_no_memory(d);
	if (!err) {
		f->json = json_loads(f->text, JSON_REJECT_DUPLICATES, &error);
		if (!f->json)
			err = diag_fail(d, -EINVAL, "%.200s:%d: no JSON: %.150s", path,
					error.line > 0 ? error.line : 1, error.text);
	}
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

	if (in_use && !strcmp(in_use->path, path))
		return 0;
	if (in_use)
		return diag_fail(d, -EBUSY, "one file has all rows, and %.150s is in use",
				 in_use->path);
	err = load(path, d, &in_use);
	if (!err)
		own_rows_use(&in_use->own);
	return err;
}

void platform_file_drop(void)
{
	own_rows_use(NULL);
	if (in_use)
		free_file(in_use);
	in_use = NULL;
}

/* --- against a machine */

static int check_cpu(const struct platform_file *f, const struct sysfs *fs, struct diag *d)
{
	const char *want = json_string_value(json_object_get(f->json, "cpu"));
	const char *at = json_place_value(f->text);
	char here[40] = "none that sysfs tells";
	enum pmu_platform platform;

	if (!want)
		return 0;
	pmu_cpu_text(fs, here, sizeof(here), &platform);
	if (cpu_text_fits(want, here))
		return 0;
	return wrong(f, json_place_member(at, "cpu") ?: at, d, -ENODEV,
		     "the rows are for %s, and the CPU is %s", want, here);
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
			wrong(f, f->row_at[i], d, err, "%s", why.what);
			return diag_advise(d, err, "%s", why.help);
		}
		if (!pmu_row_bytes(row, pmu_row_event(pmu, row)).bytes)
			return wrong(f, f->row_at[i], d, -ENODATA,
				     "\"bytes\" is missing, and sysfs does not say them of %s/%s/",
				     pmu->name, row->event);
		for (size_t k = 0; k < nr; k++)
			if (!memcmp(&configs[k], &configs[nr], sizeof(configs[k])))
				return wrong(f, f->row_at[i], d, -EINVAL,
					     "on %s this counts the bytes of the row at line %u "
					     "once more",
					     pmu->name,
					     json_place_line(f->text, f->row_at[rows[k]]));
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
			wrong(f, f->family_at[k], d, -ENODEV, "no PMU in %.80s is called %s",
			      fs->root, f->families[k].pattern);
			err = pmu_advise_names(fs, f->families[k].pattern, -ENODEV, d);
		}
	}
	return err;
}
