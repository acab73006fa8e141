// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Users of devices in both forms of traces: written, read again, refused. */
#include "trace_files.h"

#include "base/array.h"
#include "engine/session/session.h"
#include "recording_format.h"
#include "temp_file.h"
#include "trace/header.h"
#include "trace/ndjson.h"
#include "tree.h"

#define RECORDING TESTS_DIR "/fixtures/recording-11"

static struct device devices[] = {
	{ .bdf = "0009:01:00.0",
	  .kind = DEVICE_GPU,
	  .io = IO_NONE,
	  .link = LINK_C2C,
	  .uuid = "GPU-5" },
	{ .bdf = "0001:03:00.0", .io = IO_NONE },
};

static struct trace_header header_with(bool contexts)
{
	struct trace_header h = sample_header;

	h.probes = NULL;
	h.nr_probes = 0;
	h.layout.nr_counters = 2;
	h.layout.nr_groups = 1;
	h.devices = devices;
	h.nr_devices = ARRAY_SIZE(devices);
	h.contexts = contexts;
	return h;
}

static const struct trace_context processes[] = {
	{ 7, 99, TRACE_NO_INSTANCE, 400 },
	{ 7, 99, 0, 500 },
	{ 4194304, 500, 13, 500 },
};
static const struct trace_busy busy[] = { { 7, 99, 30, 0 }, { 8, UINT64_MAX, UINT64_MAX, 4 } };

static void send_users(const struct trace_sink *s)
{
	const struct trace_contexts contexts[] = {
		{ 0, 400, 500, processes, 3 },
		{ 1, 500, 500, NULL, 0 },
	};
	const struct trace_activity activity[] = {
		{ 0, 400, 500, false, 7, 139000000, busy, 1 },
		{ 1, 400, 500, true, 0, 0, busy, 2 },
		{ 1, 500, 600, false, 0, 0, NULL, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(contexts); i++)
		assert_int_equal(trace_send_contexts(s, &contexts[i]), 0);
	for (size_t i = 0; i < ARRAY_SIZE(activity); i++)
		assert_int_equal(trace_send_activity(s, &activity[i]), 0);
}

static void check(const char *path, const struct event_log *said)
{
	struct event_log got = { 0 };
	struct trace_file *f;
	struct trace_end end;
	struct diag d = { 0 };

	assert_int_equal(trace_file_open(path, &d, &f), 0);
	assert_true(trace_file_header(f)->contexts);
	assert_int_equal(trace_file_header(f)->devices[0].link, LINK_C2C);
	assert_string_equal(trace_file_header(f)->devices[0].uuid, "GPU-5");
	assert_int_equal(trace_file_header(f)->devices[1].link, LINK_UNKNOWN);
	trace_file_close(f);
	assert_int_equal(read_back(path, &got, &end, &d), 0);
	assert_string_equal(got.text, said->text);
	assert_int_equal(end.refused, 0);
	free(got.text);
}

static void record(const char *path)
{
	const struct trace_header h = header_with(true);
	struct recording_writer *w;
	struct trace_sink sink;
	struct diag d = { 0 };

	assert_int_equal(recording_create(path, &h, 0, &d, &w), 0);
	sink = recording_sink(w);
	send_users(&sink);
	assert_int_equal(recording_finish(w, &d, NULL), 0);
}

/* All but the identity, which is a random number, and with it the sum of the preamble. */
static size_t load(const char *name, uint8_t *ret, size_t size)
{
	FILE *f = fopen(name, "r");
	size_t n;

	assert_non_null(f);
	n = fread(ret, 1, size, f);
	fclose(f);
	assert_true(n > sizeof(struct recording_preamble) && n < size);
	memset(ret + offsetof(struct recording_preamble, id), 0, sizeof(uint64_t));
	memset(ret + offsetof(struct recording_preamble, crc), 0, sizeof(uint32_t));
	return n;
}

/* The bytes as they were written once: another form is another version. */
static void test_bytes(void **state)
{
	static uint8_t was[4096], is[4096];
	struct recording_preamble p;
	size_t size;

	(void)state;
	if (getenv("T410_UPDATE_GOLDEN"))
		record(RECORDING);
	record(temp_path);
	size = load(RECORDING, was, sizeof(was));
	assert_int_equal(load(temp_path, is, sizeof(is)), size);
	assert_memory_equal(is, was, size);
	memcpy(&p, is, sizeof(p));
	assert_int_equal(p.version, 11);
}

static void test_both_forms(void **state)
{
	const struct trace_header h = header_with(true);
	struct event_log said = { 0 };
	struct trace_sink sink = log_sink(&said);
	struct ndjson_writer *n;
	struct diag d = { 0 };
	FILE *f;

	(void)state;
	send_users(&sink);
	check(RECORDING, &said);
	f = temp_open();
	assert_int_equal(ndjson_create(f, &h, &d, &n), 0);
	sink = ndjson_sink(n);
	send_users(&sink);
	assert_int_equal(ndjson_finish(n, &d), 0);
	fclose(f);
	check(temp_path, &said);
	free(said.text);
}

/* Open nodes are looked at without a program that tells contexts, too. */
static void test_holders(void **state)
{
	const struct trace_contexts look = { 1, 400, 500, processes, 3 };
	static struct device plain[] = { { .bdf = "0009:01:00.0", .kind = DEVICE_GPU },
					 { .bdf = "0001:03:00.0" } };
	struct trace_header h = header_with(false), without;
	struct event_log said = { 0 };
	struct trace_sink sink = log_sink(&said);
	struct recording_writer *w;
	struct ndjson_writer *n;
	struct trace_end end;
	struct diag d = { 0 };
	FILE *f;

	(void)state;
	h.devices = plain;
	without = h;
	assert_int_equal(trace_send_holders(&sink, &look), 0);
	for (int i = 0; i < 3; i++) {
		struct event_log got = { 0 };

		h.holders = i < 2;
		if (i) {
			assert_int_equal(recording_create(temp_path, &h, 0, &d, &w), 0);
			sink = recording_sink(w);
			assert_int_equal(trace_send_holders(&sink, &look), i < 2 ? 0 : -EINVAL);
			assert_int_equal(recording_finish(w, &d, NULL), 0);
		} else {
			f = temp_open();
			assert_int_equal(ndjson_create(f, &h, &d, &n), 0);
			sink = ndjson_sink(n);
			assert_int_equal(trace_send_holders(&sink, &look), 0);
			assert_int_equal(ndjson_finish(n, &d), 0);
			fclose(f);
		}
		assert_int_equal(read_back(temp_path, &got, &end, &d), 0);
		assert_string_equal(i < 2 ? got.text : "", i < 2 ? said.text : "");
		assert_int_equal(end.refused, 0);
		free(got.text);
	}
	assert_false(without.holders);
	assert_false(trace_valid(&without,
				 &(struct trace_event){ .type = TRACE_HOLDERS, .contexts = look }));
	free(said.text);
}

/* By all that get events */
static void test_refused(void **state)
{
	const struct trace_context idle = { 0, 1, TRACE_NO_INSTANCE, 1 };
	const struct trace_context later = { 7, 1, TRACE_NO_INSTANCE, 501 };
	const struct trace_busy more = { 7, 1, 5, 6 };
	const struct trace_contexts bad[] = {
		{ 2, 400, 500, processes, 1 },
		{ 0, 501, 500, processes, 1 },
		{ 0, 400, 500, processes, TRACE_MAX_CONTEXTS + 1 },
		{ 0, 400, 500, &idle, 1 },
		{ 0, 400, 500, &later, 1 },
	};
	const struct trace_activity wrong[] = {
		{ 2, 400, 500, false, 0, 0, busy, 1 },
		{ 0, 400, 500, false, 7, 0, busy, 1 },
		{ 0, 400, 500, false, 0, 7, busy, 1 },
		{ 0, 400, 500, false, 0, 0, busy, 2 }, /* copies that are not known */
		{ 0, 400, 500, true, 0, 0, &more, 1 },
	};
	const struct trace_contexts good = { 0, 400, 500, processes, 1 };
	struct trace_header h = header_with(true), without = header_with(false);
	struct session_options options = { 0 };
	struct recording_writer *w;
	struct diag d = { 0 };
	struct session *s;
	struct trace_sink sinks[2];

	(void)state;
	assert_int_equal(session_new(&h, &options, &s), 0);
	assert_int_equal(recording_create(temp_path, &h, 0, &d, &w), 0);
	sinks[0] = session_sink(s);
	sinks[1] = recording_sink(w);
	for (size_t k = 0; k < 2; k++) {
		for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
			assert_int_equal(trace_send_contexts(&sinks[k], &bad[i]), -EINVAL);
		for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
			assert_int_equal(trace_send_activity(&sinks[k], &wrong[i]), -EINVAL);
		assert_int_equal(trace_send_contexts(&sinks[k], &good), 0);
	}
	assert_int_equal(recording_finish(w, &d, NULL), 0);
	session_free(s);
	assert_string_equal(header_check(&without), "a device's link in a trace without contexts");
	devices[0].link = LINK_UNKNOWN;
	devices[0].uuid[0] = '\0';
	assert_null(header_check(&without));
	assert_int_equal(recording_create(temp_path, &without, 0, &d, &w), 0);
	sinks[1] = recording_sink(w);
	assert_int_equal(trace_send_contexts(&sinks[1], &good), -EINVAL);
	assert_int_equal(recording_finish(w, &d, NULL), 0);
}

static void test_wrong_lines(void **state)
{
	static const struct {
		const char *line, *why;
	} rows[] = {
		{ "\"bdf\":\"0009:01:00.0\",\"start_ns\":1,\"end_ns\":2",
		  "\"processes\" is missing" },
		{ "\"bdf\":\"0009:01:00.0\",\"start_ns\":3,\"end_ns\":2,\"processes\":[]",
		  "before" },
		{ "\"bdf\":\"0009:01:00.0\",\"start_ns\":1,\"end_ns\":2,\"processes\":[{\"pid\":1}"
		  "]",
		  "\"start_ns\" is missing" },
		{ "\"bdf\":\"0009:01:00.0\",\"start_ns\":1,\"end_ns\":2,\"processes\":[{\"pid\":1,"
		  "\"start_ns\":1,\"since_ns\":1,\"instance\":-1}]",
		  "\"instance\" must be" },
		{ "\"bdf\":\"0009:01:00.0\",\"start_ns\":1,\"end_ns\":2,\"processes\":[{\"pid\":1,"
		  "\"start_ns\":1,\"since_ns\":1},7]",
		  "" },
	};
	const struct trace_header h = header_with(true);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct event_log got = { 0 };
		struct ndjson_writer *n;
		struct trace_end end;
		struct diag d = { 0 };
		FILE *f = temp_open();

		assert_int_equal(ndjson_create(f, &h, &d, &n), 0);
		fprintf(f, "{\"type\":\"contexts\",%s}\n", rows[i].line);
		assert_int_equal(ndjson_finish(n, &d), 0);
		fclose(f);
		assert_int_equal(read_back(temp_path, &got, &end, &d), -EBADMSG);
		if (!strstr(d.what, rows[i].why))
			fail_msg("%s: %s", rows[i].line, d.what);
		free(got.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),	cmocka_unit_test(test_both_forms),
		cmocka_unit_test(test_holders), cmocka_unit_test(test_wrong_lines),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, temp_make, temp_drop);
}
