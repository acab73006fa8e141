// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Structures described by rows, as bytes and JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/fields.h"

struct leg {
	uint64_t start, length;
	uint32_t side;
};

struct animal {
	char name[8];
	bool wild, old;
	uint32_t nr_legs;
	struct leg *legs;
	char *note;
	uint64_t born, died;
};

static const char *side_name(unsigned int side)
{
	return side ? "right" : "left";
}

static const struct field leg_rows[] = {
	ROW("start", struct leg, start, .base = BASE_BEFORE),
	ROW("length", struct leg, length, .required = true),
	ROW_WORD("side", struct leg, side, side_name, 2, .terse = true),
};
static const struct fields leg_fields =
	FIELDS(leg_rows, struct leg, .unknown = "no side", .many = "too many legs");

static const struct field rows[] = {
	{ .type = FIELD_FLAGS, .place = 1 },
	ROW_CHARS("name", struct animal, name, .required = true, .place = 3),
	ROW("wild", struct animal, wild, .flag = 1),
	ROW("old", struct animal, old, .flag = 2, .terse = true),
	ROW_LIST("legs", struct animal, legs, nr_legs, &leg_fields, .max = 3, .place = 2),
	ROW(NULL, struct animal, note, .place = 6, .ends = true),
	ROW("born", struct animal, born, .place = 4),
	ROW("died", struct animal, died, .base = BASE_FIELD, .of = offsetof(struct animal, born),
	    .terse = true, .not_below = true, .place = 5),
};
static const struct fields fields = FIELDS(rows, struct animal, .placed = true);

static struct leg legs[] = { { 100, 7, 0 }, { 90, 8, 1 } };
static const struct animal dodo = { .name = "dodo",
				    .old = true,
				    .nr_legs = 2,
				    .legs = legs,
				    .note = "gone",
				    .born = 5,
				    .died = 9 };

static int take(const uint8_t *data, size_t size, struct animal *ret)
{
	struct fields_in in = { .bytes = bytes_from(data, size) };

	*ret = (struct animal){ 0 };
	fields_take(&in, &fields, ret);
	bytes_bad(&in.bytes, in.bytes.at != in.bytes.end);
	return in.bytes.err;
}

static void bytes_are_in_the_order_of_places(void **state)
{
	/* flags; two legs: difference from the one before, length, side; name, born, died, note */
	static const uint8_t expected[] = { 2,	 2,   200, 1, 7, 0, 19,	 8,   1,   5,  'd',
					    'o', 'd', 'o', 5, 8, 5, 'g', 'o', 'n', 'e' };
	struct fields_out o = { .own = NULL };
	struct animal got;
	uint8_t *part;

	(void)state;
	fields_put(&o, &fields, &dodo);
	assert_int_equal(o.bytes.nr, sizeof(expected));
	assert_memory_equal(o.bytes.data, expected, sizeof(expected));
	assert_int_equal(take(o.bytes.data, o.bytes.nr, &got), 0);
	assert_string_equal(got.name, "dodo");
	assert_string_equal(got.note, "gone");
	assert_true(got.old && !got.wild && got.nr_legs == 2 && got.died == 9);
	assert_memory_equal(got.legs, legs, sizeof(legs));
	fields_release(&fields, &got);
	/* cut anywhere but in front of the note, which older bytes do not have; a bit is unknown */
	for (size_t size = 0; size < o.bytes.nr; size++) {
		part = malloc(size + 1);
		memcpy(part, o.bytes.data, size);
		assert_int_equal(take(part, size, &got), size == 16 ? 0 : -EBADMSG);
		fields_release(&fields, &got);
		free(part);
	}
	free(o.bytes.data);
}

/* A structure with a number above its row's bound is refused. */
static void hostile_bytes_are_refused(void **state)
{
	static const struct {
		size_t at;
		uint8_t byte;
	} bad[] = { { 0, 4 }, { 1, 4 }, { 5, 2 }, { 9, 9 }, { 9, 0x80 }, { 10, 0 } };
	struct fields_out o = { .own = NULL };
	struct animal got;

	(void)state;
	fields_put(&o, &fields, &dodo);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		uint8_t was = o.bytes.data[bad[i].at];

		o.bytes.data[bad[i].at] = bad[i].byte;
		assert_int_equal(take(o.bytes.data, o.bytes.nr, &got), -EBADMSG);
		fields_release(&fields, &got);
		o.bytes.data[bad[i].at] = was;
	}
	free(o.bytes.data);
}

static void structures_are_checked(void **state)
{
	struct leg other[4] = { { 0, 0, 1 } };
	struct animal a = dodo;

	(void)state;
	assert_null(fields_check(&fields, &a));
	a.legs = other;
	a.nr_legs = 4;
	assert_string_equal(fields_check(&fields, &a), "too many legs");
	a.nr_legs = 1;
	other[0].side = 2;
	assert_string_equal(fields_check(&fields, &a), "no side");
}

static int read_json(const char *text, struct animal *ret, struct diag *d)
{
	struct ndjson_line line = { "f", 1, text, strlen(text), NULL, d };
	struct fields_line l = { .line = &line };
	int err = line_parse(&line);

	*ret = (struct animal){ 0 };
	if (!err)
		err = fields_read(&l, line.json, &fields, ret);
	json_decref(line.json);
	return err;
}

static void json_is_in_the_order_of_rows(void **state)
{
	char *text = NULL;
	size_t size = 0;
	struct fields_json j = { .f = open_memstream(&text, &size), .before = '{' };
	struct animal got;
	struct diag d;

	(void)state;
	fields_write(&j, &fields, &dodo);
	fputs("}", j.f);
	fclose(j.f);
	assert_string_equal(text, "{\"name\":\"dodo\",\"wild\":false,\"old\":true,\"legs\":["
				  "{\"start\":100,\"length\":7},"
				  "{\"start\":90,\"length\":8,\"side\":\"right\"}],"
				  "\"born\":5,\"died\":9}");
	assert_int_equal(read_json(text, &got, &d), 0);
	assert_memory_equal(got.legs, legs, sizeof(legs));
	assert_true(got.old && got.died == 9 && !got.note);
	fields_release(&fields, &got);
	free(text);
	/* without its key a number is its base */
	assert_int_equal(read_json("{\"name\":\"x\",\"born\":7}", &got, &d), 0);
	assert_int_equal(got.died, 7);
	fields_release(&fields, &got);
}

static void wrong_json_is_named(void **state)
{
	static const char *const wrong[][2] = {
		{ "{}", "\"name\" is missing" },
		{ "{\"name\":\"dodododo\"}", ":1:2: \"name\" is longer than 7 bytes" },
		{ "{\"name\":\"x\",\"legs\":[{},{},{},{}]}", "\"legs\" has more than 3" },
		{ "{\"name\":\"x\",\"legs\":[{}]}", "\"length\" is missing" },
		{ "{\"name\":\"x\",\"legs\":[{\"length\":1,\"side\":\"up\"}]}",
		  "\"side\" must be \"left\" or \"right\"" },
		{ "{\"name\":\"x\",\"born\":2,\"died\":1}", "\"died\" is before" },
	};
	struct animal got;
	struct diag d;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_int_equal(read_json(wrong[i][0], &got, &d), -EBADMSG);
		assert_non_null(strstr(d.what, wrong[i][1]));
		fields_release(&fields, &got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_in_the_order_of_places),
		cmocka_unit_test(hostile_bytes_are_refused),
		cmocka_unit_test(structures_are_checked),
		cmocka_unit_test(json_is_in_the_order_of_rows),
		cmocka_unit_test(wrong_json_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
