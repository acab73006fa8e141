// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/fields.h"

#include "base/json_out.h"

static size_t list_nr(const struct field *f, const void *of)
{
	const void *at = (const char *)of + f->of;

	return f->wide ? *(const size_t *)at : *(const uint32_t *)at;
}

static void set_nr(const struct field *f, void *of, size_t nr)
{
	void *at = (char *)of + f->of;

	if (f->wide)
		*(size_t *)at = nr;
	else
		*(uint32_t *)at = nr;
}

static const void *list_item(const struct field *f, const void *of, size_t i)
{
	const char *items = f->inside ? field_at(f, of) : *(char *const *)field_at(f, of);

	return items + i * f->each->size;
}

static void *list_reserve(const struct field *f, void *of, size_t nr)
{
	void **at = (void **)((char *)of + f->offset);

	if (!f->inside && !*at)
		/* none of zero, so that NULL always means no memory */
		*at = calloc(nr + 1, f->each->size);
	return f->inside ? (void *)at : *at;
}

void fields_release(const struct fields *rows, void *of)
{
	for (size_t i = 0; i < rows->nr; i++) {
		const struct field *f = &rows->rows[i];
		void **at = (void **)((char *)of + f->offset);

		for (size_t k = 0; f->type == FIELD_LIST && k < list_nr(f, of); k++)
			fields_release(f->each, (void *)list_item(f, of, k));
		if (f->type == FIELD_STRING || (f->type == FIELD_LIST && !f->inside))
			free(*at);
	}
}

const char *fields_check(const struct fields *rows, const void *of)
{
	const char *wrong = NULL;

	for (size_t i = 0; i < rows->nr && !wrong; i++) {
		const struct field *f = &rows->rows[i];

		if (f->type == FIELD_WORD && field_get(f, of) > f->max)
			return rows->unknown;
		if (f->type != FIELD_LIST)
			continue;
		if (list_nr(f, of) > f->max)
			return f->each->many;
		for (size_t k = 0; k < list_nr(f, of) && !wrong; k++)
			wrong = fields_check(f->each, list_item(f, of, k));
	}
	return wrong;
}

/* --- bytes */

/* The row of a place, from 0 on; NULL behind the last one. */
static const struct field *row_at(const struct fields *rows, size_t place)
{
	if (!rows->placed)
		return place < rows->nr ? &rows->rows[place] : NULL;
	for (size_t i = 0; i < rows->nr; i++)
		if (rows->rows[i].place == place + 1)
			return &rows->rows[i];
	return NULL;
}

/* A field with a flag is a bool, or a pointer whose flag says that it is not NULL. */
static uint64_t flags_of(const struct fields *rows, const void *of)
{
	uint64_t flags = 0;

	for (size_t i = 0; i < rows->nr; i++) {
		const struct field *f = &rows->rows[i];

		if (f->flag && (f->type == FIELD_BOOL ? field_get(f, of)
						      : *(void *const *)field_at(f, of) != NULL))
			flags |= f->flag;
	}
	return flags;
}

static void put_text(struct fields_out *o, const char *text)
{
	struct bytes *b = &o->bytes;

	if (!b->err && text && strlen(text) > FIELD_MAX_TEXT)
		b->err = -EINVAL;
	if (o->plain) {
		bytes_put(b, strlen(text));
		bytes_put_raw(b, text, strlen(text));
	} else {
		bytes_put_text(b, text);
	}
}

/* The base of a number. @time, @before: of the walk */
static uint64_t base_of(const struct field *f, const void *of, uint64_t time, const void *before)
{
	if (f->base == BASE_TIME || f->base == BASE_ORIGIN)
		return time;
	if (f->base == BASE_BEFORE)
		return before ? field_get(f, before) : 0;
	return field_base(f, of);
}

static void put_number(struct fields_out *o, const struct field *f, const void *of)
{
	uint64_t value = field_get(f, of), base = base_of(f, of, o->time, o->before);

	if (f->base == BASE_NONE || o->plain)
		bytes_put(&o->bytes, f->below ? base - value : value - base);
	else
		bytes_put_delta(&o->bytes, value - base);
	if (f->base == BASE_TIME)
		o->time = value;
}

/* As field_base(), for sums: the base is a sum, too, or several that are added up. */
static sum128 sum_base(const struct field *f, const void *of)
{
	const sum128 *at = (const void *)((const char *)of + f->of);
	sum128 sum = f->base == BASE_FIELD ? at[0] : 0;

	for (size_t i = 0; f->base == BASE_SUM && i < f->size; i++)
		sum += at[i];
	return sum;
}

static void put_sum(struct fields_out *o, const struct field *f, const void *of)
{
	sum128 value = *(const sum128 *)field_at(f, of), base = sum_base(f, of);

	bytes_put_128(&o->bytes, f->below ? base - value : value - base);
}

static void put_list(struct fields_out *o, const struct field *f, const void *of)
{
	size_t nr = list_nr(f, of);

	bytes_put(&o->bytes, nr);
	for (size_t i = 0; i < nr; i++) {
		o->before = i ? list_item(f, of, i - 1) : NULL;
		fields_put(o, f->each, list_item(f, of, i));
	}
}

static void put_field(struct fields_out *o, const struct fields *rows, const struct field *f,
		      const void *of)
{
	switch (f->type) {
	case FIELD_TEXT:
	case FIELD_STRING:
	case FIELD_CHARS:
		put_text(o, field_text(f, of));
		break;
	case FIELD_FLAGS:
		bytes_put(&o->bytes, flags_of(rows, of));
		break;
	case FIELD_U64S:
		for (size_t i = 0; i < f->size; i++)
			bytes_put(&o->bytes, ((const uint64_t *)field_at(f, of))[i]);
		break;
	case FIELD_SUM:
		put_sum(o, f, of);
		break;
	case FIELD_SUMS:
		for (size_t i = 0; i < f->size; i++)
			bytes_put_128(&o->bytes, ((const sum128 *)field_at(f, of))[i]);
		break;
	case FIELD_STRUCT:
		fields_put(o, f->each, field_at(f, of));
		break;
	case FIELD_LIST:
		put_list(o, f, of);
		break;
	case FIELD_U64:
	case FIELD_U32:
	case FIELD_WORD:
		put_number(o, f, of);
		break;
	case FIELD_BOOL:
		if (!f->flag)
			put_number(o, f, of);
		break;
	default:
		o->own(o, f, of);
	}
}

void fields_put(struct fields_out *o, const struct fields *rows, const void *of)
{
	fields_put_until(o, rows, of, SIZE_MAX);
}

void fields_put_until(struct fields_out *o, const struct fields *rows, const void *of, size_t last)
{
	const struct field *f;

	for (size_t i = 0; i < last && (f = row_at(rows, i)); i++)
		if (!field_absent(f, of))
			put_field(o, rows, f, of);
}

static void take_number(struct fields_in *in, const struct field *f, void *of)
{
	uint64_t most = f->type == FIELD_U64 || f->base ? UINT64_MAX : UINT32_MAX;
	uint64_t base = base_of(f, of, in->time, in->before), value;

	if (f->base == BASE_NONE || in->plain)
		value = bytes_get_max(&in->bytes, f->max ? f->max : most);
	else
		value = bytes_get_delta(&in->bytes);
	value = f->below ? base - value : base + value;
	if (f->base == BASE_TIME)
		in->time = value;
	field_set(f, of, value);
}

static void take_sum(struct fields_in *in, const struct field *f, void *of)
{
	sum128 value = bytes_get_128(&in->bytes), base = sum_base(f, of);

	*(sum128 *)((char *)of + f->offset) = f->below ? base - value : base + value;
}

static void take_flags(struct fields_in *in, const struct fields *rows, void *of)
{
	uint64_t known = 0;

	for (size_t i = 0; i < rows->nr; i++)
		known |= rows->rows[i].flag;
	in->flags = bytes_get_max(&in->bytes, known);
	for (size_t i = 0; i < rows->nr; i++)
		if (rows->rows[i].flag && rows->rows[i].type == FIELD_BOOL)
			field_set(&rows->rows[i], of, (in->flags & rows->rows[i].flag) != 0);
}

static void take_string(struct fields_in *in, char **ret)
{
	char *text = malloc(FIELD_MAX_TEXT + 1);

	if (!text && !in->bytes.err)
		in->bytes.err = -ENOMEM;
	if (text && bytes_get_text(&in->bytes, text, FIELD_MAX_TEXT + 1)) {
		*ret = strdup(text);
		if (!*ret)
			in->bytes.err = -ENOMEM;
	}
	bytes_bad(&in->bytes, text && !*ret);
	free(text);
}

static void take_list(struct fields_in *in, const struct field *f, void *of)
{
	size_t left = in->bytes.end - in->bytes.at;
	size_t nr = bytes_get_max(&in->bytes, f->max ? f->max : left / f->each->nr);

	if (!in->bytes.err && !list_reserve(f, of, nr))
		in->bytes.err = -ENOMEM;
	for (size_t i = 0; i < nr && !in->bytes.err; i++) {
		set_nr(f, of, i + 1);
		in->before = i ? list_item(f, of, i - 1) : NULL;
		fields_take(in, f->each, (void *)list_item(f, of, i));
	}
}

static void take_field(struct fields_in *in, const struct fields *rows, const struct field *f,
		       void *of)
{
	void *to = (char *)of + f->offset;

	switch (f->type) {
	case FIELD_STRING:
		take_string(in, to);
		break;
	case FIELD_CHARS:
		if (in->plain)
			bytes_get_chars(&in->bytes, to, bytes_get_max(&in->bytes, f->size - 1));
		else
			bytes_get_text(&in->bytes, to, f->size);
		break;
	case FIELD_U64S:
		for (size_t i = 0; i < f->size; i++)
			((uint64_t *)to)[i] = bytes_get(&in->bytes);
		break;
	case FIELD_SUM:
		take_sum(in, f, of);
		break;
	case FIELD_SUMS:
		for (size_t i = 0; i < f->size; i++)
			((sum128 *)to)[i] = bytes_get_128(&in->bytes);
		break;
	case FIELD_STRUCT:
		fields_take(in, f->each, to);
		break;
	case FIELD_FLAGS:
		take_flags(in, rows, of);
		break;
	case FIELD_LIST:
		take_list(in, f, of);
		break;
	case FIELD_BOOL:
		if (!f->flag)
			field_set(f, of, bytes_get_max(&in->bytes, 1));
		break;
	case FIELD_U64:
	case FIELD_U32:
	case FIELD_WORD:
		take_number(in, f, of);
		break;
	default:
		in->own(in, f, of);
	}
}

void fields_take(struct fields_in *in, const struct fields *rows, void *of)
{
	const struct field *f;

	for (size_t i = 0; !in->bytes.err && (f = row_at(rows, i)); i++) {
		in->ended = f->ends && in->bytes.at == in->bytes.end;
		if (in->ended)
			break;
		if (!field_absent(f, of) && (!f->since || in->version >= f->since))
			take_field(in, rows, f, of);
	}
}

/* --- JSON */

void fields_key(struct fields_json *j, const char *key)
{
	fprintf(j->f, "%c\"%s\":", j->before, key);
	j->before = ',';
}

static void write_text(struct fields_json *j, const char *key, const char *text)
{
	fields_key(j, key);
	json_foreign(j->f, key, text);
}

/* Is it what a reader takes it for without the key? */
static bool is_default(const struct field *f, const void *of)
{
	if (f->type == FIELD_CHARS)
		return !field_text(f, of)[0];
	if (f->type == FIELD_LIST)
		return !list_nr(f, of);
	return f->type < FIELD_OWN && field_get(f, of) == field_base(f, of);
}

static void write_list(struct fields_json *j, const struct field *f, const void *of)
{
	const struct fields *each = f->each;

	fields_key(j, f->name);
	putc('[', j->f);
	for (size_t i = 0; i < list_nr(f, of); i++) {
		const void *item = list_item(f, of, i);

		fputs(i ? "," : "", j->f);
		if (!each->rows[0].name) {
			json_element(j->f, field_text(&each->rows[0], item));
			continue;
		}
		j->before = '{';
		j->index = i;
		fields_write(j, each, item);
		putc('}', j->f);
	}
	putc(']', j->f);
}

static void write_field(struct fields_json *j, const struct field *f, const void *of)
{
	switch (f->type) {
	case FIELD_TEXT:
	case FIELD_STRING:
	case FIELD_CHARS:
		if (field_text(f, of))
			write_text(j, f->name, field_text(f, of));
		break;
	case FIELD_BOOL:
		fields_key(j, f->name);
		fputs(field_get(f, of) ? "true" : "false", j->f);
		break;
	case FIELD_WORD:
		write_text(j, f->name, f->word(field_get(f, of)));
		break;
	case FIELD_LIST:
		write_list(j, f, of);
		break;
	case FIELD_U64:
	case FIELD_U32:
		fields_key(j, f->name);
		json_value(j->f, field_get(f, of));
		break;
	default:
		j->own(j, f, of);
	}
}

void fields_write(struct fields_json *j, const struct fields *rows, const void *of)
{
	for (size_t i = 0; i < rows->nr; i++) {
		const struct field *f = &rows->rows[i];

		if (!f->name || field_absent(f, of) || (f->terse && is_default(f, of)))
			continue;
		if (!f->when || *(const uint32_t *)((const char *)of + f->when))
			write_field(j, f, of);
	}
}

static int read_number(struct fields_line *l, const json_t *object, const struct field *f, void *of)
{
	enum need need = f->required && !field_absent(f, of) ? REQUIRED : OPTIONAL;
	uint64_t base = field_base(f, of), value = f->base == BASE_NONE ? field_get(f, of) : base;
	uint64_t most = f->max ? f->max : f->type == FIELD_U32 ? UINT32_MAX : UINT64_MAX;
	int err = line_u64(l->line, object, f->name, need, f->not_above ? base : most, &value);

	if (!err && f->not_below && value < base)
		return line_fail(l->line, f->name, "\"%s\" is before \"start_ns\"", f->name);
	field_set(f, of, value);
	return err;
}

static int read_string(struct fields_line *l, const json_t *value, const struct field *list,
		       char **ret)
{
	char *text = malloc(FIELD_MAX_TEXT + 1);
	int err = text ? line_element_text(l->line, value, list->name, text, FIELD_MAX_TEXT + 1)
		       : -ENOMEM;

	if (!err) {
		*ret = strdup(text);
		err = *ret ? 0 : -ENOMEM;
	}
	free(text);
	return err;
}

/* An element of a list without names */
static int read_value(struct fields_line *l, const json_t *value, const struct field *list,
		      void *item)
{
	const struct field *f = &list->each->rows[0];

	if (f->type == FIELD_STRING)
		return read_string(l, value, list, item);
	return line_element_text(l->line, value, list->name, item, f->size);
}

static int read_list(struct fields_line *l, const json_t *object, const struct field *f, void *of)
{
	json_t *values, *value;
	size_t i;
	int err = line_array(l->line, object, f->name, f->required ? REQUIRED : OPTIONAL, f->max,
			     &values);

	if (!err && !list_reserve(f, of, json_array_size(values)))
		return -ENOMEM;
	json_array_foreach (values, i, value) {
		void *item = (void *)list_item(f, of, i);

		set_nr(f, of, i + 1);
		l->index = i;
		if (!f->each->rows[0].name)
			err = read_value(l, value, f, item);
		else
			err = fields_read(l, value, f->each, item);
		if (!err && l->done && f->each->rows[0].name)
			err = l->done(l, value, f, item);
		if (err)
			return err;
	}
	return err;
}

int field_read(struct fields_line *l, const json_t *object, const struct field *f, void *of)
{
	enum need need = f->required ? REQUIRED : OPTIONAL;
	void *to = (char *)of + f->offset;
	unsigned int word;
	int err;

	switch (f->type) {
	case FIELD_FLAGS:
		return 0;
	case FIELD_CHARS:
		return line_text(l->line, object, f->name, need, to, f->size, NULL);
	case FIELD_BOOL:
		return line_bool(l->line, object, f->name, to);
	case FIELD_WORD:
		word = field_get(f, of);
		err = line_word(l->line, object, f->name, need, f->word, f->max + 1, &word);
		field_set(f, of, word);
		return err;
	case FIELD_LIST:
		return read_list(l, object, f, of);
	case FIELD_U64:
	case FIELD_U32:
		return read_number(l, object, f, of);
	default:
		return l->own(l, object, f, of);
	}
}

int fields_read(struct fields_line *l, const json_t *object, const struct fields *rows, void *of)
{
	int err = 0;

	for (size_t i = 0; i < rows->nr && !err; i++)
		if (rows->rows[i].name)
			err = field_read(l, object, &rows->rows[i], of);
	return err;
}
