// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The bytes of both forms of a trace: what was written once is read as it was meant, and what is
 * written today is the same, byte for byte. A change here is a new version of the form.
 */
#include "trace_files.h"

#include <unistd.h>
#include <zlib.h>

#include "golden_events.h"
#include "recording_format.h"
#include "trace/ndjson.h"
#include "trace/recording.h"
#include "tree.h"

#define RECORDING TESTS_DIR "/fixtures/recording-7"
#define VERSION_6 TESTS_DIR "/fixtures/recording-6"
#define NDJSON	  TESTS_DIR "/fixtures/trace-1.ndjson"

static uint8_t *load(const char *name, size_t *ret_size)
{
	uint8_t *data = malloc(1 << 16);
	FILE *f = fopen(name, "r");

	assert_non_null(f);
	assert_non_null(data);
	*ret_size = fread(data, 1, 1 << 16, f);
	fclose(f);
	return data;
}

/* Its identity is a random number. */
static void without_identity(uint8_t *recording)
{
	memset(recording + offsetof(struct recording_preamble, id), 0, sizeof(uint64_t));
	memset(recording + offsetof(struct recording_preamble, crc), 0, sizeof(uint32_t));
}

static void test_read(void **state)
{
	const char *const names[] = { RECORDING, NDJSON };
	struct event_log said = { 0 };
	struct trace_sink to_log = log_sink(&said);

	(void)state;
	golden_events(&to_log);
	for (size_t i = 0; i < 2; i++) {
		struct event_log got = { 0 };
		struct trace_file *f;
		struct trace_end end;
		struct diag d = { 0 };

		assert_int_equal(trace_file_open(names[i], &d, &f), 0);
		assert_same_header(trace_file_header(f), &sample_header);
		trace_file_close(f);
		assert_int_equal(read_back(names[i], &got, &end, &d), 0);
		assert_string_equal(said.text, got.text);
		assert_true(end.complete);
		assert_int_equal(end.refused, 0);
		free(got.text);
	}
	free(said.text);
}

/* A file that version 6 wrote: its header says nothing of ticks, and its marks have 27 losses. */
static void test_version_6(void **state)
{
	struct event_log got = { 0 };
	struct trace_file *f;
	struct trace_end end;
	struct diag d = { 0 };

	(void)state;
	assert_int_equal(trace_file_open(VERSION_6, &d, &f), 0);
	assert_same_header(trace_file_header(f), &sample_header);
	trace_file_close(f);
	assert_int_equal(read_back(VERSION_6, &got, &end, &d), 0);
	assert_non_null(strstr(got.text, " 24 25 26 27 0 0 101 102 103 "));
	assert_true(end.complete);
	assert_int_equal(end.refused, 0);
	free(got.text);
}

static void test_write_recording(void **state)
{
	char path[] = "/tmp/t410trace-golden-XXXXXX";
	int fd = mkstemp(path);
	struct recording_writer *w;
	struct trace_sink sink;
	struct diag d = { 0 };
	uint8_t *was, *is;
	size_t size, now;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(recording_create(path, &sample_header, 0, &d, &w), 0);
	sink = recording_sink(w);
	golden_events(&sink);
	assert_int_equal(recording_finish(w, &d, NULL), 0);
	was = load(RECORDING, &size);
	is = load(path, &now);
	without_identity(was);
	without_identity(is);
	assert_int_equal(now, size);
	assert_memory_equal(is, was, size);
	free(was);
	free(is);
	unlink(path);
}

static void test_write_ndjson(void **state)
{
	struct ndjson_writer *w;
	struct trace_sink sink;
	struct diag d = { 0 };
	size_t size, now = 0;
	char *is = NULL;
	uint8_t *was = load(NDJSON, &size);
	FILE *out = open_memstream(&is, &now);

	(void)state;
	assert_non_null(out);
	assert_int_equal(ndjson_create(out, &sample_header, &d, &w), 0);
	sink = ndjson_sink(w);
	golden_events(&sink);
	assert_int_equal(ndjson_finish(w, &d), 0);
	fclose(out);
	was[size] = '\0';
	assert_string_equal(is, (char *)was);
	free(was);
	free(is);
}

/* The file as another version, with the answer and the problem of a reader. */
static int read_as(uint32_t version, struct diag *d)
{
	char path[] = "/tmp/t410trace-golden-XXXXXX";
	struct recording_preamble p;
	struct trace_file *f;
	size_t size;
	uint8_t *data = load(RECORDING, &size);
	int fd = mkstemp(path), err;

	memcpy(&p, data, sizeof(p));
	p.version = version;
	p.crc = crc32(0, (const void *)&p, offsetof(struct recording_preamble, crc));
	memcpy(data, &p, sizeof(p));
	assert_int_equal(write(fd, data, size), size);
	close(fd);
	free(data);
	err = trace_file_open(path, d, &f);
	if (!err)
		trace_file_close(f);
	unlink(path);
	return err;
}

/* Version 5 differs by what it does not have; what came before was in no release. */
static void test_versions(void **state)
{
	struct diag d = { 0 };

	(void)state;
	assert_int_equal(read_as(6, &d), 0);
	assert_int_equal(read_as(5, &d), 0);
	assert_int_equal(read_as(4, &d), -EBADMSG);
	assert_non_null(strstr(d.what, "a recording of version 4, and only 5 to 11 are known"));
	assert_string_equal(d.help,
			    "report it with the t410trace that recorded it, or record again: "
			    "versions before 5 were in no release");
	assert_int_equal(read_as(8, &d), 0);
	assert_int_equal(read_as(9, &d), 0);
	assert_int_equal(read_as(11, &d), 0);
	assert_int_equal(read_as(10, &d), 0);
	assert_int_equal(read_as(12, &d), -EBADMSG);
	assert_non_null(strstr(d.what, "a recording of version 12, and only 5 to 11 are known"));
	assert_string_equal(d.help, "use the t410trace that recorded it, or a newer one");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_version_6),
		cmocka_unit_test(test_write_recording),
		cmocka_unit_test(test_write_ndjson),
		cmocka_unit_test(test_versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
