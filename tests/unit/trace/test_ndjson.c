// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trace_files.h"

#include <errno.h>

#include "temp_file.h"
#include "trace/ndjson.h"

/* A random trace as NDJSON, to be freed; what it says goes to @said. */
static char *written(uint64_t seed, size_t events, struct event_log *said, size_t *ret_size)
{
	struct trace_sink to_log = log_sink(said), sink;
	struct ndjson_writer *w;
	struct diag d = { 0 };
	char *text = NULL;
	FILE *f = open_memstream(&text, ret_size);

	assert_non_null(f);
	random_trace(&to_log, seed, events, true);
	assert_int_equal(ndjson_create(f, &sample_header, &d, &w), 0);
	sink = ndjson_sink(w);
	random_trace(&sink, seed, events, true);
	assert_int_equal(ndjson_finish(w, &d), 0);
	assert_int_equal(fclose(f), 0);
	return text;
}

static void test_round_trip(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct event_log said = { 0 }, got = { 0 };
		struct trace_end end;
		struct diag d = { 0 };
		size_t size;
		char *text = written(seed, seed * 100, &said, &size);

		temp_write(text, size);
		assert_int_equal(read_back(temp_path, &got, &end, &d), 0);
		assert_string_equal(said.text, got.text);
		assert_true(end.complete);
		assert_int_equal(end.events, said.events);
		assert_int_equal(end.bytes, size);
		assert_int_equal(end.dropped_bytes, 0);
		free(text);
		free(said.text);
		free(got.text);
	}
}

static void test_header(void **state)
{
	static const struct trace_header bare = { .marked = true };
	static char *odd[] = { "/\xff" };
	struct trace_header headers[] = { sample_header, bare };
	struct counter counters[NR_SAMPLE_COUNTERS];
	struct ndjson_writer *w;
	struct trace_file *f;
	struct diag d = { 0 };

	(void)state;
	memcpy(counters, sample_counters, sizeof(counters));
	counters[3].direction = DIRECTION_READWRITE;
	counters[3].unit = UNIT_NANOJOULES;
	headers[0].layout.counters = counters;
	headers[0].cgroups = odd;
	headers[0].nr_cgroups = 1;
	strcpy(headers[0].host.name, "n\xfe");
	strcpy(headers[0].host.io_note, "sent packets cannot be attributed to processes");
	strcpy(headers[0].host.tick, "auto");
	strcpy(headers[0].host.tick_note, "CPUs 2-3 are left alone");
	for (size_t i = 0; i < 2; i++) {
		FILE *out = temp_open();

		assert_non_null(out);
		assert_int_equal(ndjson_create(out, &headers[i], &d, &w), 0);
		assert_int_equal(ndjson_finish(w, &d), 0);
		fclose(out);
		assert_int_equal(trace_file_open(temp_path, &d, &f), 0);
		assert_same_header(trace_file_header(f), &headers[i]);
		trace_file_close(f);
	}
}

#define HEADER_START                                                                   \
	"{\"type\":\"header\",\"schema\":\"t410trace.trace/1\",\"platform\":\"t410\"," \
	"\"host\":\"n1\",\"kernel\":\"7.2.13\","
#define SOCKETS "\"sockets\":[{\"id\":0,\"cpus\":\"0-3\"},{\"id\":36,\"cpus\":\"4-7\"}],"
#define COUNTER(id, socket, more)                                                         \
	"{\"id\":" #id ",\"name\":\"c" #id "\",\"pmu\":\"p\",\"event\":\"mem_bytes_wr\"," \
	"\"filters\":{\"src_loc_cpu\":1},\"socket\":" #socket ",\"source\":\"cpu\"" more "}"
#define FILTERS(text)                                                             \
	"\"counters\":[{\"id\":1,\"name\":\"c\",\"socket\":0,\"source\":\"cpu\"," \
	"\"filters\":" text "}]}\n"
#define HEADER	HEADER_START SOCKETS "\"counters\":[" COUNTER(5, 0, "") "," COUNTER(9, 36, "") "]}\n"
/* Of a trace that we wrote. */
#define OWN	HEADER_START SOCKETS "\"marked\":true,\"counters\":[]}\n"
#define TEN	"0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define PROBES(more)                                                                        \
	HEADER_START SOCKETS "\"counters\":[],\"probes\":[{\"id\":4,\"name\":\"cmem0/rd\"," \
			     "\"socket\":36" more "}]}\n"
#define SAMPLE(more)                                                                     \
	"{\"type\":\"sample\",\"probe\":4,\"start_ns\":10,\"end_ns\":20,\"requests\":3," \
	"\"cycles\":7" more "}\n"
#define WORKLOAD                                                                         \
	"{\"type\":\"workload\",\"id\":7,\"pid\":4242,\"start_ns\":99,\"comm\":\"lbm\"," \
	"\"cgroup\":\"/slurm/job_12\",\"cgroup_id\":881}\n"

/* A trace of another tool: what each line comes to. */
static void test_foreign(void **state)
{
	static const char text[] = HEADER WORKLOAD
		"\n"
		"{\"type\":\"slice\",\"workload\":7,\"cpu\":3,\"start_ns\":1000,\"end_ns\":9000,"
		"\"on_cpu_ns\":6500,\"weights\":{\"l2d_cache_wb\":4,\"l3d_cache_refill\":311}}\r\n"
		"{\"type\":\"slice\",\"workload\":7,\"cpu\":4,\"start_ns\":1000,\"end_ns\":9000,"
		"\"new\":[]}\n"
		"{\"type\":\"mark\",\"what\":\"not ours\"}\n"
		"{\"type\":\"sample\",\"of\":\"without probes not ours\"}\n"
		"{\"type\":\"workload\",\"id\":0,\"pid\":0,\"comm\":\"idle\"}\n"
		"{\"type\":\"slice\",\"workload\":0,\"cpu\":0,\"start_ns\":0,\"end_ns\":1}\n"
		"{\"type\":\"workload\",\"id\":2,\"pid\":6,\"cgroup\":\"/a\"}\n"
		"{\"type\":\"workload\",\"id\":1,\"pid\":5,\"tgid\":4}\n"
		"{\"type\":\"slice\",\"workload\":1,\"cpu\":0,\"start_ns\":"
		"\"18446744073709551614\","
		"\"end_ns\":\"18446744073709551615\"}\n"
		"{\"type\":\"window\",\"socket\":36,\"start_ns\":0,\"end_ns\":10,\"values\":"
		"[[9,7,10,10]]}\n"
		"{\"type\":\"window\",\"socket\":36,\"start_ns\":10,\"end_ns\":20,\"values\":[]}\n"
		"{\"type\":\"lost\",\"what\":\"slices\",\"socket\":36,\"start_ns\":0,\"end_ns\":10,"
		"\"count\":12}\n"
		"{\"type\":\"end\",\"time_ns\":10000000}\n";
	static const char want[] =
		"cgroup 881 [/slurm/job_12]\n"
		"task 4242 4242 0 0 99 881 0 [lbm]\n"
		"slice 4242 4242 99 881 cpu 3 1000 9000 6500 w 311 4 6500\n"
		"slice 4242 4242 99 881 cpu 4 1000 9000 8000 w 0 0 0\n"
		"slice 0 0 0 0 cpu 0 0 1 1 w 0 0 0\n"
		/* a number that JSON has */
		"cgroup 6305732280244525 [/a]\n"
		"task 6 6 0 0 0 6305732280244525 0 [(null)]\n"
		"task 5 4 0 0 0 0 0 [(null)]\n"
		"slice 5 4 0 0 cpu 0 18446744073709551614 18446744073709551615 1 w 0 0 0\n"
		"window 1 0 10 7/10/10\n"
		"lost slices 1 0 10 12\n"
		"mark 0 1 10000000 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"
		" 0 0 0 0 0 0 0 0 0\n";
	const struct trace_header *h;
	struct event_log got = { 0 };
	struct trace_sink sink = log_sink(&got);
	struct trace_file *f;
	struct trace_end end;
	struct diag d = { 0 };

	(void)state;
	temp_put(text);
	assert_int_equal(trace_file_open(temp_path, &d, &f), 0);
	h = trace_file_header(f);
	assert_false(h->marked);
	assert_true(h->all);
	assert_int_equal(h->layout.nr_cpus, 8);
	assert_int_equal(h->layout.cpu_socket[7], 1);
	assert_int_equal(h->layout.socket_ids[1], 36);
	assert_int_equal(h->layout.nr_groups, 2);
	assert_int_equal(h->layout.counters[1].socket, 1);
	assert_int_equal(h->layout.counters[1].direction, DIRECTION_WRITE);
	assert_string_equal(h->layout.counters[1].filters, "src_loc_cpu=1");
	assert_int_equal(h->layout.counters[1].destination, DESTINATION_ANY);
	assert_int_equal(h->nr_weights, 2);
	/* reads first, whatever the order in the line */
	assert_string_equal(h->weights[0], "l3d_cache_refill");
	assert_int_equal(trace_file_read(f, &sink, &d, &end), 0);
	assert_string_equal(got.text, want);
	assert_true(end.complete);
	trace_file_close(f);
	free(got.text);
}

/* Other tools may have probes too; times are those of the sample unless given. */
static void test_foreign_samples(void **state)
{
	static const char text[] =
		PROBES(",\"direction\":\"write\",\"destination\":\"cxl\",\"by_tasks\":true,\"x\":1")
			SAMPLE(",\"outstanding\":900,\"y\":2")
				SAMPLE(",\"outstanding\":1,\"enabled_ns\":9,\"running_ns\":5")
					SAMPLE(",\"outstanding\":1,\"enabled_ns\":9");
	static const char want[] = "sample 0 10 20 900/3/7 10/10\n"
				   "sample 0 10 20 1/3/7 9/5\n"
				   "sample 0 10 20 1/3/7 9/9\n";
	const struct trace_header *h;
	struct event_log got = { 0 };
	struct trace_sink sink = log_sink(&got);
	struct trace_file *f;
	struct trace_end end;
	struct diag d = { 0 };

	(void)state;
	temp_put(text);
	assert_int_equal(trace_file_open(temp_path, &d, &f), 0);
	h = trace_file_header(f);
	assert_int_equal(h->nr_probes, 1);
	assert_string_equal(h->probes[0].name, "cmem0/rd");
	assert_int_equal(h->probes[0].socket, 1);
	assert_int_equal(h->probes[0].direction, DIRECTION_WRITE);
	assert_int_equal(h->probes[0].destination, DESTINATION_CXL);
	assert_true(h->probes[0].by_tasks);
	assert_int_equal(trace_file_read(f, &sink, &d, &end), 0);
	assert_string_equal(got.text, want);
	trace_file_close(f);
	free(got.text);
}

static const struct {
	const char *text;
	const char *want; /* behind the name of the file */
} junk[] = {
	{ "", ": the file is empty" },
	{ "hello\n", ": is neither a recording nor an NDJSON trace" },
	{ "\n\n", ":3:1: the header is missing" },
	{ "{\"type\":\n", ":1:" },
	{ "{\"type\":\"slice\"}\n", ":1:2: the first line must be of type \"header\"" },
	{ "{\"type\":\"header\",\"schema\":\"t410trace.trace/2\"}\n",
	  ":1:18: \"schema\" must be \"t410trace.trace/1\"" },
	{ HEADER_START "\"counters\":[]}\n", ":1:1: \"sockets\" is missing" },
	{ HEADER_START "\"sockets\":{},\"counters\":[]}\n", ":1:95: \"sockets\" must be an array" },
	{ HEADER_START "\"sockets\":[{\"id\":0,\"cpus\":\"3-1\"}],\"counters\":[]}\n",
	  ":1:114: \"cpus\" must be a list of CPUs below 4096" },
	{ HEADER_START "\"sockets\":[{\"id\":0,\"cpus\":\"0-99999999999999999999\"}]}\n",
	  ":1:114: \"cpus\" must be a list of CPUs" },
	{ HEADER_START "\"sockets\":[{\"id\":0,\"cpus\":\"0\"},{\"id\":1,\"cpus\":\"0\"}]}\n",
	  ": CPU 0 is on two sockets" },
	{ HEADER_START "\"sockets\":[{\"id\":0,\"cpus\":\"0\"},{\"id\":0,\"cpus\":\"1\"}]}\n",
	  ": socket 0 is there twice" },
	{ HEADER_START SOCKETS "\"counters\":[" COUNTER(1, 0, ",\"destination\":\"moon\"") "]}\n",
	  ": \"destination\" must be" },
	{ HEADER_START SOCKETS FILTERS("[]"), ": \"filters\" must be an object" },
	{ HEADER_START SOCKETS FILTERS("{\"a\":-1}"), ": \"filters\" must be a whole number" },
	{ HEADER_START SOCKETS FILTERS("{\"a\":true}"), ": \"filters\" must be a whole number" },
	{ HEADER_START SOCKETS FILTERS("{\"a=1,b\":1}"),
	  ": \"a=1,b\" is not the name of a filter" },
	{ HEADER_START SOCKETS FILTERS("{\"\":1}"), ": filters of a counter that are none" },
	{ HEADER_START SOCKETS FILTERS("{\"a\":\"18446744073709551615\"}"),
	  ": filters of a counter that are none" },
	{ HEADER_START SOCKETS "\"counters\":[" COUNTER(1, 1, "") "]}\n",
	  ": counter 1 is on an unknown socket" },
	{ HEADER_START SOCKETS "\"counters\":[" COUNTER(1, 0, "") "," COUNTER(1, 0, "") "]}\n",
	  ": counter 1 is there twice" },
	{ HEADER_START SOCKETS
	  "\"counters\":[" COUNTER(1, 0, ",\"group\":0") "," COUNTER(2, 36, ",\"group\":0") "]}\n",
	  ": a group of counters on two sockets" },
	{ HEADER_START SOCKETS "\"counters\":[],\"weights\":[\"a\",\"b\",\"c\"]}\n",
	  ": \"weights\" has more than 2 elements" },
	{ HEADER "[1]\n", ":2:1: a line must be a JSON object" },
	{ HEADER "{\"type\":7}\n", ":2:2: \"type\" must be a text" },
	{ HEADER "{\"a\":1,\"a\":2}\n", ":2:" },
	{ HEADER "{\"type\":\"end\",\"time_ns\":1}x\n", ":2:" },
	{ HEADER "{\"type\":\"\xff\"}\n", ":2:" },
	{ HEADER HEADER, ":2:2: there is a second header" },
	{ HEADER "{\"type\":\"end\",\"time_ns\":-1}\n",
	  ":2:15: \"time_ns\" must be a whole number from 0" },
	{ HEADER "{\"type\":\"end\",\"time_ns\":1.0}\n",
	  ":2:15: \"time_ns\" must be a whole number from 0" },
	{ HEADER "{\"type\":\"end\",\"time_ns\":\"0x10\"}\n",
	  ":2:15: \"time_ns\" must be a whole number from 0" },
	{ HEADER "{\"type\":\"end\",\"time_ns\":\"18446744073709551616\"}\n",
	  ":2:15: \"time_ns\" must be a whole number from 0" },
	{ HEADER "{\"type\":\"end\",\"time_ns\":18446744073709551615}\n", ":2:" },
	{ HEADER "{\"type\":\"end\"}\n", ":2:1: \"time_ns\" is missing" },
	{ HEADER "{\"type\":\"end\",\"time_ns\":1}\n{\"type\":\"end\",\"time_ns\":1}\n",
	  ":3:2: the trace ends twice" },
	{ HEADER "{\"type\":\"workload\",\"id\":7,\"pid\":4294967296}\n",
	  ":2:27: \"pid\" must not be above 4294967295" },
	{ HEADER WORKLOAD "{\"type\":\"workload\",\"id\":7,\"pid\":4}\n",
	  ":3:20: workload 7 was announced as another one" },
	{ HEADER "{\"type\":\"workload\",\"id\":7,\"pid\":4,\"comm\":5}\n",
	  ":2:35: \"comm\" must be a text" },
	{ HEADER "{\"type\":\"slice\",\"workload\":7,\"cpu\":3,\"start_ns\":0,\"end_ns\":9}\n",
	  ":2:17: workload 7 was not announced before" },
	{ HEADER WORKLOAD
	  "{\"type\":\"slice\",\"workload\":7,\"cpu\":8,\"start_ns\":0,\"end_ns\":9}\n",
	  ":3:30: CPU 8 is not in the header" },
	{ HEADER WORKLOAD
	  "{\"type\":\"slice\",\"workload\":7,\"cpu\":3,\"start_ns\":10,\"end_ns\":9}\n",
	  ":3:52: \"end_ns\" is before \"start_ns\"" },
	{ HEADER WORKLOAD
	  "{\"type\":\"slice\",\"workload\":7,\"cpu\":3,\"start_ns\":1,\"end_ns\":9,"
	  "\"on_cpu_ns\":9}\n",
	  ":3:62: \"on_cpu_ns\" must not be above 8" },
	{ HEADER WORKLOAD
	  "{\"type\":\"slice\",\"workload\":7,\"cpu\":3,\"start_ns\":1,\"end_ns\":9,"
	  "\"weights\":{\"x\":-2}}\n",
	  ":3:73: \"x\" must be a whole number from 0" },
	{ OWN "{\"type\":\"job\",\"id\":\"3\"}\n", ":2:1: \"cgroup_id\" is missing" },
	{ OWN "{\"type\":\"job\",\"cgroup_id\":-1}\n",
	  ":2:15: \"cgroup_id\" must be a whole number from 0" },
	{ OWN "{\"type\":\"job\",\"cgroup_id\":1,\"id\":3}\n", ":2:29: \"id\" must be a text" },
	{ OWN "{\"type\":\"job\",\"cgroup_id\":1,\"name\":\"" HUNDRED HUNDRED "\"}\n",
	  ":2:29: \"name\" is longer than 127 bytes" },
	{ OWN "{\"type\":\"job\",\"cgroup_id\":1,\"user\":\"\",\"user_hex\":\"0\"}\n",
	  ":2:29: the bytes of \"user\" are not hexadecimal" },
	{ HEADER "{\"type\":\"window\",\"socket\":3,\"start_ns\":0,\"end_ns\":9,\"values\":[]}\n",
	  ":2:18: socket 3 is not in the header" },
	{ HEADER "{\"type\":\"window\",\"socket\":0,\"start_ns\":0,\"end_ns\":9,\"values\":[[4,0,0,"
		 "0]]}\n",
	  ":2:53: counter 4 is not in the header" },
	{ HEADER "{\"type\":\"window\",\"socket\":0,\"start_ns\":0,\"end_ns\":9,\"values\":[[9,0,0,"
		 "0]]}\n",
	  ":2:53: counter 9 is on another socket" },
	{ HEADER "{\"type\":\"window\",\"socket\":0,\"start_ns\":0,\"end_ns\":9,\"values\":[[5,0,"
		 "0]]}\n",
	  ":2:53: each of \"values\" must be [counter, delta, enabled, running]" },
	{ HEADER
	  "{\"type\":\"lost\",\"what\":\"slices\",\"socket\":0,\"start_ns\":0,\"end_ns\":9}\n",
	  ":2:1: \"count\" is missing" },
	{ PROBES(",\"destination\":\"there\""), ": \"destination\" must be \"any\", \"cmem\"" },
	{ PROBES(",\"direction\":\"up\""), ": \"direction\" must be \"read\" or \"write\"" },
	{ PROBES(",\"by_tasks\":1"), ": \"by_tasks\" must be true or false" },
	{ PROBES("},{\"id\":4,\"name\":\"b\",\"socket\":0"), ": probe 4 is there twice" },
	{ PROBES("},{\"id\":5,\"name\":\"b\",\"socket\":1"), ": probe 5 is on an unknown socket" },
	{ PROBES("},{\"id\":5,\"socket\":0"), ": \"name\" is missing" },
	{ HEADER_START SOCKETS "\"counters\":[],\"probes\":{}}\n",
	  ": \"probes\" must be an array" },
	{ PROBES("") "{\"type\":\"sample\",\"probe\":5}\n", ":2:18: probe 5 is not in the header" },
	{ PROBES("") SAMPLE(""), ":2:1: \"outstanding\" is missing" },
	{ PROBES("") SAMPLE(",\"outstanding\":-1"), ": \"outstanding\" must be a whole number" },
	{ PROBES("") SAMPLE(",\"outstanding\":1,\"running_ns\":\"x\""),
	  ": \"running_ns\" must be a whole number" },
	{ PROBES("") "{\"type\":\"sample\",\"probe\":4,\"start_ns\":2,\"end_ns\":1}\n",
	  ": \"end_ns\" is before \"start_ns\"" },
};

static void test_junk(void **state)
{
	char want[512];

	(void)state;
	for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++) {
		struct event_log got = { 0 };
		struct trace_end end;
		struct diag d = { 0 };

		temp_put(junk[i].text);
		assert_int_equal(read_back(temp_path, &got, &end, &d), -EBADMSG);
		snprintf(want, sizeof(want), "%s%s", temp_path, junk[i].want);
		if (!strstr(d.what, junk[i].want))
			print_error("wanted %s, got %s\n", want, d.what);
		/* where it starts with ": ", line and column come before */
		if (!strncmp(junk[i].want, ": ", 2) && i > 1)
			assert_non_null(strstr(d.what, junk[i].want));
		else
			assert_memory_equal(d.what, want, strlen(want));
		assert_true(d.help[0]);
		free(got.text);
	}
}

/* What the sink refuses is an error with its line; other errors are its own. */
static void test_sink_errors(void **state)
{
	struct event_log got = { .answer = -EINVAL };
	struct trace_end end;
	struct diag d = { 0 };
	char want[128];

	(void)state;
	temp_put(HEADER WORKLOAD);
	assert_int_equal(read_back(temp_path, &got, &end, &d), -EBADMSG);
	snprintf(want, sizeof(want), "%s:2:1: what the line says makes no sense", temp_path);
	assert_memory_equal(d.what, want, strlen(want));
	got.answer = -ECANCELED;
	assert_int_equal(read_back(temp_path, &got, &end, &d), -ECANCELED);
	assert_int_equal(d.what[0], '\0');
	free(got.text);
}

static void test_cut_anywhere(void **state)
{
	struct event_log said = { 0 }, got = { 0 };
	struct trace_end end;
	struct diag d;
	size_t size, line;
	char *text = written(3, 30, &said, &size);

	(void)state;
	temp_write(text, size);
	/* without its newline the last line is complete all the same */
	while (size > 50) {
		size -= under_valgrind(23, 1);
		assert_int_equal(truncate(temp_path, size), 0);
		d = (struct diag){ 0 };
		got.nr = got.events = 0;
		for (line = size; line && text[line - 1] != '\n'; line--)
			;
		if (read_back(temp_path, &got, &end, &d)) {
			assert_int_equal(line, 0); /* in the header */
			continue;
		}
		assert_int_equal(end.complete, text[size] == '\n' && !text[size + 1]);
		assert_memory_equal(said.text, got.text, got.nr);
		assert_int_equal(end.events, got.events);
		assert_true(end.dropped_bytes == size - line || text[size] == '\n');
		assert_int_equal(end.bytes, size);
	}
	free(text);
	free(said.text);
	free(got.text);
}

static void test_mutations(void **state)
{
	static const char pieces[] = "{}[]\",:-0123456789e.nulltrue\\\n ";
	struct event_log said = { 0 }, got = { 0 };
	struct trace_end end;
	struct diag d;
	size_t size, length;
	char *text = written(5, 12, &said, &size), *changed = malloc(size + 64);

	(void)state;
	assert_non_null(changed);
	random_state = 42;
	for (size_t i = 0; i < under_valgrind(400, 8000); i++) {
		memcpy(changed, text, size);
		length = size;
		for (uint64_t n = 1 + random_below(3); n; n--) {
			size_t at = random_below(length), n_cut = random_below(8);

			if (random_below(3)) {
				changed[at] = random_below(4)
						      ? pieces[random_below(sizeof(pieces) - 1)]
						      : (char)random_u64();
			} else if (length - at > n_cut) {
				memmove(changed + at, changed + at + n_cut, length - at - n_cut);
				length -= n_cut;
			}
		}
		temp_write(changed, length);
		got.nr = got.events = 0;
		d = (struct diag){ 0 };
		if (read_back(temp_path, &got, &end, &d))
			assert_true(d.what[0]);
	}
	free(changed);
	free(text);
	free(said.text);
	free(got.text);
}

static void test_refused(void **state)
{
	struct trace_window window = { .group = NR_SAMPLE_GROUPS },
			    backwards = { .start_ns = 2, .end_ns = 1 };
	struct trace_sample sample = { .probe = 2 }, rewound = { .start_ns = 2, .end_ns = 1 };
	struct trace_slice slice = { .cpu = 8 };
	struct trace_job_news job = { .name = HUNDRED HUNDRED };
	struct trace_mark mark = { .time_ns = 1 };
	struct trace_header wide = sample_header;
	struct ndjson_writer *w = NULL;
	struct trace_sink sink;
	struct diag d = { 0 };
	FILE *f = fopen("/dev/full", "w"), *null = fopen("/dev/null", "w");

	(void)state;
	assert_non_null(f);
	assert_non_null(null);
	assert_int_equal(ndjson_create(f, &sample_header, &d, &w), -ENOSPC);
	assert_non_null(strstr(d.what, "No space left"));
	fclose(f);
	wide.layout.nr_cpus = 5000;
	wide.layout.cpu_socket = calloc(5000, sizeof(uint32_t));
	assert_non_null(wide.layout.cpu_socket);
	assert_int_equal(ndjson_create(null, &wide, &d, &w), -EINVAL);
	free((void *)wide.layout.cpu_socket);
	assert_null(w);
	assert_int_equal(ndjson_create(null, &sample_header, &d, &w), 0);
	sink = ndjson_sink(w);
	assert_int_equal(trace_send_window(&sink, &window), -EINVAL);
	assert_int_equal(trace_send_window(&sink, &backwards), -EINVAL);
	assert_int_equal(trace_send_sample(&sink, &sample), -EINVAL);
	assert_int_equal(trace_send_sample(&sink, &rewound), -EINVAL);
	assert_int_equal(trace_send_slice(&sink, &slice), -EINVAL);
	assert_int_equal(trace_send_job(&sink, &job), -EINVAL);
	assert_int_equal(trace_send_mark(&sink, &mark), -EINVAL);
	assert_int_equal(ndjson_finish(w, &d), 0);
	assert_int_equal(ndjson_finish(NULL, &d), 0);
	fclose(null);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_foreign_samples),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_junk),
		cmocka_unit_test(test_sink_errors),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, temp_make, temp_drop);
}
