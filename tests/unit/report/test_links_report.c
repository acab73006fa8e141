// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Links of GPUs in reports: shown with their devices, and in no sum that was there without them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>

#include "base/array.h"
#include "report/devices.h"
#include "report/table/table.h"
#include "sample_report.h"

#define BYTES 7777777777

/* Of card0, which is the fifth device of the sample. */
#define CARD  5

static const struct device links[] = {
	{ .bdf = "000c:01:00.0/c2c",
	  .kind = DEVICE_LINK,
	  .socket = 1,
	  .wiring = WIRING_USER,
	  .filter = DEVICE_BY_LINK,
	  .function = CARD },
	{ .bdf = "000d:01:00.0/c2c", .kind = DEVICE_LINK, .why = "nobody tells which" },
};

static struct report *with_devices(void)
{
	struct report *r = sample_report(ROW_PROCESS);

	sample_with_devices(r);
	return r;
}

/* The sample, with a link that the first row owns, and one without a value. */
static struct report *with_links(void)
{
	const struct device_bytes moved = {
		.valid = true, .bytes = BYTES, .low = 1, .high = 2 * (uint64_t)BYTES, .owned = BYTES
	};
	struct report *r = with_devices();
	struct report_row *row = &r->rows[0];
	struct report_device *d;
	struct row_device *part;

	d = reallocarray(r->devices, r->nr_devices + ARRAY_SIZE(links), sizeof(*d));
	part = reallocarray(row->devices, row->nr_devices + 1, sizeof(*part));
	assert_true(d && part);
	part[row->nr_devices++] = (struct row_device){ .device = (uint32_t)r->nr_devices,
						       .counted = true,
						       .read_bytes = BYTES,
						       .read_high = BYTES };
	row->devices = part;
	r->devices = d;
	d[r->nr_devices++] = (struct report_device){ .device = &links[0],
						     .read = moved,
						     .write = moved,
						     .how = HOW_DERIVED,
						     .enabled_ns = 1,
						     .running_ns = 1,
						     .turns = 1 };
	d[r->nr_devices] = (struct report_device){ .device = &links[1] };
	strcpy(d[r->nr_devices++].why_none, links[1].why);
	return r;
}

static void test_sums(void **state)
{
	struct report *without = with_devices(), *with = with_links();

	(void)state;
	for (int way = 0; way < NR_WAYS; way++) {
		assert_true(devices_valid(with, way) == devices_valid(without, way));
		for (uint32_t s = 0; s < with->nr_sockets; s++)
			assert_true(devices_on_socket(with, with->sockets[s].id, way) ==
				    devices_on_socket(without, without->sockets[s].id, way));
		for (size_t i = 0; i < with->nr_rows; i++)
			assert_true(devices_moved(with, &with->rows[i], way) ==
				    devices_moved(without, &without->rows[i], way));
	}
	report_free(without);
	report_free(with);
}

static void test_table(void **state)
{
	static const char *const parts[] = {
		"000c:01:00.0/c2c", "(derived)",
		"no bytes of link 000d:01:00.0/c2c: nobody tells which", "link to the CPUs"
	};
	struct table_options o = { .width = 130 };
	struct report *r = with_links();
	char *text = sample_table(r, &o);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (!strstr(text, parts[i]))
			fail_msg("\"%s\" is not in:\n%s", parts[i], text);
	free(text);
	report_free(r);
}

/* All that a reader adds up: every number that the name of a row's or the report's key calls bytes. */
static json_int_t bytes_of(const json_t *o)
{
	json_int_t sum = 0;
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)o, key, value) {
		if (json_is_integer(value) && strstr(key, "bytes"))
			sum += json_integer_value(value);
	}
	return sum;
}

static void test_json(void **state)
{
	struct report *r = with_links(), *plain = with_devices();
	char *text = sample_json(r), *before = sample_json(plain);
	json_t *o = json_loads(text, 0, NULL), *was = json_loads(before, 0, NULL), *d, *row;
	json_t *devices = json_object_get(o, "devices");
	size_t i;

	(void)state;
	assert_true(o && was);
	d = json_array_get(devices, SAMPLE_DEVICES);
	assert_string_equal(json_string_value(json_object_get(d, "kind")), "link");
	assert_string_equal(json_string_value(json_object_get(d, "how")), "derived");
	assert_string_equal(json_string_value(json_object_get(d, "function")), "000c:01:00.0");
	assert_true(json_integer_value(json_object_get(d, "read_bytes")) == BYTES);
	d = json_array_get(devices, SAMPLE_DEVICES + 1);
	assert_string_equal(json_string_value(json_object_get(d, "how")), "none");
	assert_string_equal(json_string_value(json_object_get(d, "why_none")),
			    "nobody tells which");
	assert_null(json_object_get(d, "read_bytes"));
	/* The rest of the report is as if there was no link. */
	json_array_foreach (json_object_get(o, "workloads"), i, row)
		assert_true(
			bytes_of(json_object_get(row, "metrics")) ==
			bytes_of(json_object_get(
				json_array_get(json_object_get(was, "workloads"), i), "metrics")));
	assert_true(json_equal(json_object_get(o, "counters"), json_object_get(was, "counters")));
	assert_true(json_equal(json_object_get(o, "sockets"), json_object_get(was, "sockets")));
	json_decref(o);
	json_decref(was);
	free(text);
	free(before);
	report_free(r);
	report_free(plain);
}

/* Where a link alone is counted, rows have the requests that the kernel saw. */
static void test_mode(void **state)
{
	struct report *r = with_links();
	struct device plain[16];

	(void)state;
	assert_true(r->nr_devices <= ARRAY_SIZE(plain));
	assert_int_equal(devices_mode(r), DEVICES_COUNTED);
	for (size_t i = 0; i < r->nr_devices; i++) {
		plain[i] = *r->devices[i].device;
		if (devices_is_link(&r->devices[i]))
			continue;
		plain[i].filter = DEVICE_NOT_COUNTED;
		r->devices[i].device = &plain[i];
		r->devices[i].read.valid = r->devices[i].write.valid = false;
	}
	assert_int_equal(devices_mode(r), DEVICES_IO);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_mode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
