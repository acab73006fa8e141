// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Links of GPUs and terms of counters in headers: both forms, and what is refused. */
#include "trace_files.h"

#include "base/array.h"
#include "base/bdf.h"
#include "recording_format.h"
#include "temp_file.h"
#include "trace/header.h"
#include "trace/ndjson.h"

enum { GPU = 1, LINK, LOST };

static const struct device devices[] = {
	{ .bdf = "0009:01:00.0", .kind = DEVICE_GPU, .io = IO_NONE },
	{ .bdf = "0009:01:00.0/c2c",
	  .kind = DEVICE_LINK,
	  .filter = DEVICE_BY_LINK,
	  .io = IO_NONE,
	  .function = GPU },
	{ .bdf = "000a:01:00.0/c2c",
	  .kind = DEVICE_LINK,
	  .io = IO_NONE,
	  .why = "the bit of its GPU is not known" },
};
static const struct counter counters[] = {
	{ .name = "w", .source = SOURCE_DEVICE, .device = LINK, .term = TERM_WHOLE },
	{ .name = "l", .source = SOURCE_DEVICE, .device = LINK, .term = TERM_LESS },
	{ .name = "r", .source = SOURCE_DEVICE, .device = LINK, .unit = UNIT_REQUESTS },
	{ .name = "g", .source = SOURCE_DEVICE, .device = GPU, .group = 1 },
};
static const struct group groups[] = { { 0, 0, 3 }, { 0, 3, 1 } };

static void header_make(struct trace_header *ret)
{
	const uint32_t socket = 0;

	*ret = (struct trace_header){ .c2c = true, .marked = true };
	assert_int_equal(header_add_sockets(ret, &socket, 1, &socket, 1), 0);
	assert_int_equal(header_add_devices(ret, devices, ARRAY_SIZE(devices)), 0);
	assert_int_equal(header_add_counters(ret, counters, ARRAY_SIZE(counters), groups,
					     ARRAY_SIZE(groups)),
			 0);
	assert_null(header_check(ret));
}

static void is_same(const struct trace_header *h)
{
	assert_true(h->c2c);
	assert_int_equal(h->nr_devices, ARRAY_SIZE(devices));
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
		assert_string_equal(h->devices[i].bdf, devices[i].bdf);
		assert_int_equal(h->devices[i].kind, devices[i].kind);
		assert_int_equal(h->devices[i].filter, devices[i].filter);
		assert_int_equal(h->devices[i].function, devices[i].function);
		assert_string_equal(h->devices[i].why, devices[i].why);
	}
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		assert_int_equal(h->layout.counters[i].term, counters[i].term);
}

static void test_recording(void **state)
{
	struct trace_header h, got;
	struct bytes o = { 0 };
	const char *wrong;
	struct bytes_in in;

	(void)state;
	header_make(&h);
	header_encode(&h, &o);
	assert_int_equal(o.err, 0);
	in = bytes_from(o.data, o.nr);
	assert_int_equal(header_decode(&in, &got, &wrong), 0);
	is_same(&got);
	header_release(&got);
	/* A part of it is no header. */
	for (size_t nr = 0; nr < o.nr; nr++) {
		in = bytes_from(o.data, nr);
		assert_int_equal(header_decode(&in, &got, &wrong), -EBADMSG);
	}
	free(o.data);
	header_release(&h);
}

static void test_version(void **state)
{
	struct recording_preamble p;
	struct recording_writer *w;
	struct trace_header h;
	struct diag d = { 0 };
	FILE *f;

	(void)state;
	header_make(&h);
	assert_int_equal(recording_create(temp_path, &h, 0, &d, &w), 0);
	assert_int_equal(recording_finish(w, &d, NULL), 0);
	f = fopen(temp_path, "r");
	assert_non_null(f);
	assert_int_equal(fread(&p, sizeof(p), 1, f), 1);
	fclose(f);
	assert_int_equal(p.version, 11);
	header_release(&h);
}

static void test_ndjson(void **state)
{
	struct trace_header h;
	struct ndjson_writer *w;
	struct trace_file *file;
	struct diag d = { 0 };
	FILE *f;

	(void)state;
	header_make(&h);
	f = temp_open();
	assert_int_equal(ndjson_create(f, &h, &d, &w), 0);
	assert_int_equal(ndjson_finish(w, &d), 0);
	fclose(f);
	assert_int_equal(trace_file_open(temp_path, &d, &file), 0);
	is_same(trace_file_header(file));
	trace_file_close(file);
	header_release(&h);
}

static void refuses(void (*spoil)(struct trace_header *h), const char *why)
{
	struct trace_header h;

	header_make(&h);
	spoil(&h);
	assert_string_equal(header_check(&h), why);
	header_release(&h);
}

static void unannounced(struct trace_header *h)
{
	h->c2c = false;
}

static void link_of_link(struct trace_header *h)
{
	h->devices[LOST - 1].function = LINK;
}

static void function_that_is_none(struct trace_header *h)
{
	h->devices[LINK - 1].function = LOST + 1;
}

static void name_of_a_function(struct trace_header *h)
{
	strcpy(h->devices[LINK - 1].bdf, "0009:02:00.0");
}

static void function_named_as_link(struct trace_header *h)
{
	h->devices[LINK - 1].kind = DEVICE_GPU;
}

static void term_of_function(struct trace_header *h)
{
	h->layout.counters[3].term = TERM_LESS;
}

static void test_refused(void **state)
{
	static const char *const no_link = "a link that fits no function";

	(void)state;
	refuses(unannounced, no_link);
	refuses(link_of_link, no_link);
	refuses(function_that_is_none, no_link);
	refuses(name_of_a_function, no_link);
	refuses(function_named_as_link, no_link);
	refuses(term_of_function, "a term of no link");
}

static void test_addresses(void **state)
{
	static const char *const bad[] = {
		"0009:01:00.0/",
		"0009:01:00.0/c2",
		"0009:01:00.0/c2c/",
		"/c2c",
		"0009:01:00/c2c",
		"acc0/c2c",
		"0009:01:00.0 /c2c",
		"0009:01:00.0/pcie",
		"0000000000000000000000009:01:00.0/c2c",
	};
	char text[MODEL_BDF_LEN];

	(void)state;
	assert_int_equal(device_address("9:1:0.0/c2c", text, sizeof(text)), 0);
	assert_string_equal(text, "0009:01:00.0/c2c");
	assert_int_equal(device_address("7fffffff:ff:1f.7/gpm", text, sizeof(text)), 0);
	assert_string_equal(text, "7fffffff:ff:1f.7/gpm");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(device_address(bad[i], text, sizeof(text)), -EINVAL);
	assert_string_equal(text, "7fffffff:ff:1f.7/gpm");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recording), cmocka_unit_test(test_version),
		cmocka_unit_test(test_ndjson),	  cmocka_unit_test(test_refused),
		cmocka_unit_test(test_addresses),
	};

	return cmocka_run_group_tests(tests, temp_make, temp_drop);
}
