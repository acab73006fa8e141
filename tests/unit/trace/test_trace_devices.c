// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Devices and their I/O in trace files: what is kept, what is refused, what others may write. */
#include "trace_files.h"

#include <errno.h>

#include "base/bdf.h"
#include "replay/boundaries.h"
#include "trace/encode.h"
#include "trace/header.h"
#include "temp_file.h"
#include "trace/ndjson.h"

static void addresses(void **state)
{
	static const struct {
		const char *text, *want;
	} good[] = {
		{ "0002:81:00.0", "0002:81:00.0" },
		{ "2:81:0.0", "0002:81:00.0" },
		{ "81:00.0", "0000:81:00.0" },
		{ "000D:C1:1f.7", "000d:c1:1f.7" },
		{ "10000:e1:00.0", "10000:e1:00.0" },
		{ "7fffffff:ff:1f.7", "7fffffff:ff:1f.7" },
		{ "00000000002:81:00.0", "0002:81:00.0" },
	};
	static const char *const bad[] = {
		"",
		":",
		"81",
		"81:00",
		"81:00.",
		"81:00.8",
		"81:20.0",
		"100:00.0",
		":81:00.0",
		"0002:81:00.0 ",
		" 0002:81:00.0",
		"0002:81:00.0.0",
		"0x2:81:00.0",
		"1:2:3:4.5",
		"80000000:81:00.0",
		"100000000:81:00.0",
		"0002:81:00.-1",
		"nvme0n1",
		"0002:81:+0.0",
	};
	char text[MODEL_BDF_LEN] = "before";
	struct bdf b = { 7, 7, 7 };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(bdf_canonical(good[i].text, text, sizeof(text)), 0);
		assert_string_equal(text, good[i].want);
	}
	assert_int_equal(bdf_parse("2:81:1f.3", &b), 0);
	assert_int_equal(b.domain, 2);
	assert_int_equal(b.bus << 8 | b.devfn, 0x81fb);
	strcpy(text, "before");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(bdf_canonical(bad[i], text, sizeof(text)), -EINVAL);
		assert_int_equal(bdf_parse(bad[i], &b), -EINVAL);
	}
	assert_string_equal(text, "before");
	assert_int_equal(b.domain, 2);
}

/* Paths in sysfs have addresses among their components, in one spelling only. */
static void addresses_in_paths(void **state)
{
	static const struct {
		const char *path;
		const char *bdf; /* NULL for none */
		const char *behind;
	} rows[] = {
		{ "../pci0002:80/0002:80:00.0/0002:81:00.0/nvme/nvme0", "0002:81:00.0",
		  "/nvme/nvme0" },
		{ "0002:81:00.0", "0002:81:00.0", "" },
		{ "10000:e1:00.0/", "10000:e1:00.0", "/" },
		{ "", NULL, NULL },
		{ "a/81:00.0/2:81:0.0/0002:81:00.0:x", NULL, NULL },
		{ "000D:C1:1f.7/80000000:81:00.0", NULL, NULL },
		{ "devices/0000000000000000000002:81:00.0/x", NULL, NULL },
	};
	const struct bdf low = { 1, 2, 3 };
	char bdf[MODEL_BDF_LEN];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *behind;

		strcpy(bdf, "before");
		behind = bdf_of_path(rows[i].path, bdf);
		assert_string_equal(bdf, rows[i].bdf ? rows[i].bdf : "before");
		assert_int_equal(behind != NULL, rows[i].bdf != NULL);
		if (behind)
			assert_string_equal(behind, rows[i].behind);
	}
	assert_true(bdf_is_name("0002:81:00.0/nvme", 12));
	assert_false(bdf_is_name("0002:81:00.0/nvme", 13));
	assert_int_equal(bdf_compare(&low, &low), 0);
	assert_true(bdf_compare(&low, &(struct bdf){ 2, 0, 0 }) < 0);
	assert_true(bdf_compare(&low, &(struct bdf){ 1, 1, 9 }) > 0);
	assert_true(bdf_compare(&low, &(struct bdf){ 1, 2, 4 }) < 0);
}

/* Each of these alone makes the header impossible. */
static void impossible_devices(void **state)
{
	struct counter counters[NR_SAMPLE_COUNTERS];
	struct device devices[NR_SAMPLE_DEVICES];
	struct probe probes[2];
	struct trace_header h = sample_header;

	(void)state;
	h.layout.counters = counters;
	h.devices = devices;
	h.probes = probes;
#define WRONG(change, want)                                                      \
	do {                                                                     \
		memcpy(counters, sample_counters, sizeof(counters));             \
		memcpy(devices, sample_devices, sizeof(devices));                \
		memcpy(probes, sample_probes, sizeof(probes));                   \
		change;                                                          \
		if (want)                                                        \
			assert_string_equal(header_check(&h), want ? want : ""); \
		else                                                             \
			assert_null(header_check(&h));                           \
	} while (0)
	WRONG((void)0, (const char *)NULL);
	WRONG(strcpy(devices[1].bdf, ""), "a device without an address");
	WRONG(strcpy(devices[1].bdf, "81:00.0"), "a device without an address");
	WRONG(strcpy(devices[1].bdf, "0002:80:00.0"), "two devices with one address");
	WRONG(devices[1].kind = NR_DEVICE_KINDS, "a device of an unknown kind");
	WRONG(devices[1].wiring = NR_WIRINGS, "a device of an unknown kind");
	WRONG(devices[1].filter = NR_DEVICE_FILTERS, "a device of an unknown kind");
	WRONG(devices[1].socket = 2, "a device on an unknown socket");
	WRONG(devices[2].socket = 2, (const char *)NULL);
	WRONG(devices[1].port = NR_SAMPLE_DEVICES + 1, "a device below a port that is none");
	WRONG(devices[1].port = 3, "a device below a port that is none");
	WRONG(devices[1].port = 2, "a device below a port that is none");
	WRONG(devices[0].port = 1, "a device below a port that is none");
	WRONG(counters[4].device = NR_SAMPLE_DEVICES + 1, "a counter of an unknown device");
	WRONG(counters[4].source = SOURCE_CPU, "a counter of a device that counts others too");
	WRONG(counters[4].unit = UNIT_NANOJOULES, "a counter of a device's energy");
	WRONG(counters[0].unit = UNIT_EVENTS, "a counter of what no accelerator did");
	WRONG(counters[4].direction = DIRECTION_READWRITE,
	      "a counter of a device in both directions at once");
	WRONG(counters[4].direction = NR_DIRECTIONS, "a counter of an unknown kind");
	WRONG(counters[4].unit = NR_UNITS, "a counter of an unknown kind");
	WRONG(counters[4].device = 1, "a group of counters with different devices");
	WRONG(counters[5].device = 0, "a group of counters with different devices");
	WRONG(probes[1].device = NR_SAMPLE_DEVICES + 1, "a probe of an unknown device");
	WRONG(probes[0].device = 1, "a probe of a device and of tasks");
	h.nr_devices = TRACE_MAX_DEVICES + 1;
	assert_string_equal(header_check(&h), "too many devices");
#undef WRONG
}

/* What neither form can hold is refused, and nothing of it is written. */
static void impossible_io(void **state)
{
	const struct trace_io bad[] = {
		{ .pid = 1, .device = NR_SAMPLE_DEVICES, .read_bytes = 1 },
		{ .pid = 1, .exclusive = true, .read_bytes = 1 },
		{ .pid = 1, .exclusive = true, .write_bytes = 1 },
	};
	const struct trace_io reversed = { .pid = 1, .start_ns = 2, .end_ns = 1 };
	struct ndjson_writer *w;
	struct encoder *e;
	struct trace_sink sink;
	struct diag d = { 0 };
	char *text = NULL;
	size_t size, before;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	assert_int_equal(encoder_new(&sample_header, 0, &e), 0);
	sink = encoder_sink(e);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(trace_send_io(&sink, &bad[i]), -EINVAL);
	assert_int_equal(encoder_out(e)->nr, 0);
	assert_int_equal(encoder_events(e), 0);
	encoder_free(e);
	assert_int_equal(ndjson_create(f, &sample_header, &d, &w), 0);
	before = size;
	sink = ndjson_sink(w);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(trace_send_io(&sink, &bad[i]), -EINVAL);
	assert_int_equal(trace_send_io(&sink, &reversed), -EINVAL);
	fflush(f);
	assert_int_equal(size, before);
	assert_int_equal(ndjson_finish(w, &d), 0);
	fclose(f);
	free(text);
}

/* A block of one event, which a reader must refuse as damage. */
static void check_block(const uint64_t *numbers, size_t nr, bool good)
{
	struct event_log log = { 0 };
	struct trace_sink sink = log_sink(&log);
	struct bytes o = { 0 };
	struct decoder *decoder;
	struct decoded done;
	bool first = false;

	for (size_t i = 0; i < nr; i++)
		bytes_put(&o, numbers[i]);
	assert_int_equal(decoder_new(&sample_header, &decoder), 0);
	assert_int_equal(decoder_block(decoder, o.data, o.nr, &first, &sink, &done),
			 good ? 0 : -EBADMSG);
	assert_int_equal(log.events, good);
	assert_int_equal(done.bad, !good);
	decoder_free(decoder);
	free(o.data);
	free(log.text);
}

static void hostile_blocks(void **state)
{
	/* event, key 0 is new: pid, tgid, start, cgroup; device, flags, start, length, bytes */
	static const uint64_t good[] = { RECORDING_IO * 2, 0, 5, 5, 9, 1, 3, 0, 20, 20, 7, 8 };
	uint64_t bad[12];

	(void)state;
	check_block(good, 12, true);
	for (size_t cut = 1; cut < 12; cut++)
		check_block(good, cut, false);
#define CHANGED(at, value, is_good)             \
	do {                                    \
		memcpy(bad, good, sizeof(bad)); \
		bad[at] = value;                \
		check_block(bad, 12, is_good);  \
	} while (0)
	CHANGED(1, 1, false);		      /* a key that was not told */
	CHANGED(2, 1ull << 32, false);	      /* a pid that is none */
	CHANGED(6, NR_SAMPLE_DEVICES, false); /* device out of range */
	CHANGED(6, 1ull << 32, false);	      /* the same, modulo 2^32 device 0 */
	CHANGED(7, 2, false);		      /* unknown flags */
	CHANGED(10, UINT64_MAX, true);
#undef CHANGED
	memcpy(bad, good, sizeof(bad));
	bad[7] = RECORDING_IO_EXCLUSIVE;
	check_block(bad, 10, true);
}

/* Recordings of both forms say the same of I/O whose workload is a cgroup, or nobody. */
static void whose_it_was(void **state)
{
	static const struct trace_io all[] = {
		{ .pid = 7,
		  .tgid = 7,
		  .task_start_ns = 70,
		  .cgroup_id = 5,
		  .device = 1,
		  .read_bytes = UINT64_MAX,
		  .write_bytes = 0,
		  .start_ns = 10,
		  .end_ns = 10 },
		{ .cgroup_id = 5, .device = 3, .exclusive = true, .end_ns = UINT64_MAX },
		{ .cgroup_id = UINT64_MAX, .device = 2, .write_bytes = 3 },
		{ .pid = TRACE_PID_LOST, .device = 2, .write_bytes = UINT64_MAX },
		{ .device = 2, .read_bytes = 1 },
	};
	const struct trace_slice idle = { .cpu = 0, .start_ns = 1, .end_ns = 2, .on_cpu_ns = 1 };
	struct event_log said = { 0 };

	(void)state;
	for (int form = 0; form < 3; form++) {
		struct event_log got = { 0 };
		struct recording_writer *recorder = NULL;
		struct ndjson_writer *w = NULL;
		struct trace_sink sink = log_sink(&said);
		struct trace_end end;
		struct diag d = { 0 };
		FILE *f = NULL;

		if (form == 1) {
			assert_int_equal(
				recording_create(temp_path, &sample_header, 0, &d, &recorder), 0);
			sink = recording_sink(recorder);
		} else if (form == 2) {
			f = temp_open();
			assert_int_equal(ndjson_create(f, &sample_header, &d, &w), 0);
			sink = ndjson_sink(w);
		}
		assert_int_equal(trace_send_cgroup(&sink, 5, "/job"), 0);
		for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
			assert_int_equal(trace_send_io(&sink, &all[i]), 0);
			assert_int_equal(trace_send_slice(&sink, &idle), 0);
		}
		assert_int_equal(recording_finish(recorder, &d, NULL), 0);
		assert_int_equal(ndjson_finish(w, &d), 0);
		if (f)
			fclose(f);
		if (!form)
			continue;
		assert_int_equal(read_back(temp_path, &got, &end, &d), 0);
		assert_string_equal(got.text, said.text);
		free(got.text);
	}
	assert_non_null(strstr(said.text, "io 0 0 0 5 dev 3 1 0/0 0 18446744073709551615\n"));
	free(said.text);
}

#define START                                                                          \
	"{\"type\":\"header\",\"schema\":\"t410trace.trace/1\",\"platform\":\"t410\"," \
	"\"sockets\":[{\"id\":0,\"cpus\":\"0-3\"},{\"id\":36,\"cpus\":\"4-7\"}]"
#define COUNTER(id, more) \
	"{\"id\":" #id ",\"name\":\"c" #id "\",\"socket\":36,\"source\":\"device\"" more "}"
#define HEADER                                                                                          \
	START ",\"counters\":[" COUNTER(5, ",\"event\":\"rd_bytes\",\"bdf\":\"2:81:0.0\"") "," COUNTER( \
		6,                                                                                      \
		",\"event\":\"wr_bytes\",\"bdf\":\"0002:81:00.0\"") "," COUNTER(7,                      \
										",\"unit\":"            \
										"\"requests\","         \
										"\"filters\":{"         \
										"\"src_rp_"             \
										"mask\":2},"            \
										"\"bdf\":"              \
										"\"0009:00:00."         \
										"0\"") "," COUNTER(8,   \
												   ",\"unit\":\"bytes\"") "]}\n"
#define WORKLOAD      "{\"type\":\"workload\",\"id\":7,\"pid\":42,\"start_ns\":99}\n"
#define IO(bdf, more) "{\"type\":\"io\",\"workload\":7,\"bdf\":\"" bdf "\"" more "}\n"
#define TIMES	      ",\"start_ns\":1,\"end_ns\":9"
#define BYTES	      ",\"read_bytes\":3,\"write_bytes\":\"18446744073709551615\""

/* Another tool only names addresses: at counters, and at I/O. */
static void foreign(void **state)
{
	static const char text[] = HEADER WORKLOAD IO("0002:81:00.0", BYTES TIMES)
		IO("2:81:0.0", ",\"exclusive\":true" TIMES)
			IO("000F:01:00.0", BYTES TIMES
			   ",\"new\":1") "{\"type\":\"workload\",\"id\":8,\"pid\":0,\"cgroup\":\"/"
					 "vm\",\"cgroup_id\":12}\n"
					 "{\"type\":\"io\",\"workload\":8,\"bdf\":\"9:0:0.0\","
					 "\"exclusive\":true" TIMES "}\n"
					 "{\"type\":\"slice\",\"workload\":8,\"cpu\":0" TIMES "}\n"
					 "{\"type\":\"window\",\"socket\":36,\"start_ns\":0,\"end_"
					 "ns\":10,\"values\":"
					 "[[5,0,10,0],[7,4,10,10]]}\n"
					 "{\"type\":\"end\",\"time_ns\":10}\n";
	static const char want[] = "task 42 42 0 0 99 0 0 [(null)]\n"
				   "io 42 42 99 0 dev 0 0 3/18446744073709551615 1 9\n"
				   "io 42 42 99 0 dev 0 1 0/0 1 9\n"
				   "io 42 42 99 0 dev 2 0 3/18446744073709551615 1 9\n"
				   "cgroup 12 [/vm]\n"
				   "io 0 0 0 12 dev 1 1 0/0 1 9\n"
				   "slice 0 0 0 0 cpu 0 1 9 8 w 0 0 0\n"
				   "window 0 0 10 0/10/0 0/0/0\n"
				   "window 2 0 10 4/10/10\n";
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
	assert_int_equal(h->nr_devices, 3);
	assert_string_equal(h->devices[0].bdf, "0002:81:00.0");
	assert_string_equal(h->devices[1].bdf, "0009:00:00.0");
	assert_string_equal(h->devices[2].bdf, "000f:01:00.0");
	assert_int_equal(h->devices[0].wiring, WIRING_UNKNOWN);
	assert_int_equal(h->devices[0].filter, DEVICE_BY_ID);
	assert_int_equal(h->devices[1].filter, DEVICE_BY_PORT);
	assert_int_equal(h->devices[2].filter, DEVICE_NOT_COUNTED);
	assert_int_equal(h->layout.nr_groups, 4);
	assert_int_equal(h->layout.counters[0].device, 1);
	assert_int_equal(h->layout.counters[0].direction, DIRECTION_READ);
	assert_int_equal(h->layout.counters[1].device, 1);
	assert_int_equal(h->layout.counters[1].direction, DIRECTION_WRITE);
	assert_int_equal(h->layout.counters[2].device, 2);
	assert_int_equal(h->layout.counters[2].unit, UNIT_REQUESTS);
	assert_int_equal(h->layout.counters[3].device, 0);
	assert_int_equal(trace_file_read(f, &sink, &d, &end), 0);
	/* log_window() takes our own groups for their sizes: compare up to the windows */
	assert_memory_equal(got.text, want, strstr(want, "window 0") - want);
	assert_non_null(strstr(got.text, "window 0 0 10 0/10/0"));
	assert_non_null(strstr(got.text, "window 2 0 10 4/10/10\n"));
	trace_file_close(f);
	free(got.text);
}

/* Groups that mix devices are taken apart; other sources have no device. */
static void foreign_groups(void **state)
{
	static const char text[] = START ",\"counters\":[" COUNTER(
		0,
		",\"group\":3,\"bdf\":\"1:0:"
		"0.0\"") "," COUNTER(1,
				     ",\"g"
				     "roup"
				     "\":"
				     "3,"
				     "\"bd"
				     "f\":"
				     "\"1:"
				     "0:0."
				     "0\"") "," COUNTER(2,
							",\"group\":3,\"bdf\":\"1:0:0."
							"1\"") "," COUNTER(3,
									   ",\"group\":"
									   "3") "," COUNTER(4,
											    ",\"gro"
											    "up\":"
											    "4") ","
												 "{"
												 "\"id\":5,\"name\":\"c\",\"socket\":0,\"source\":\"cpu\",\"group\":5,"
												 "\"bdf\":\"1:0:0.0\"}]}\n";
	static const struct group want[] = {
		{ 1, 0, 2 }, { 1, 2, 1 }, { 1, 3, 1 }, { 1, 4, 1 }, { 0, 5, 1 }
	};
	const struct trace_header *h;
	struct trace_file *f;
	struct diag d = { 0 };

	(void)state;
	temp_put(text);
	assert_int_equal(trace_file_open(temp_path, &d, &f), 0);
	h = trace_file_header(f);
	assert_int_equal(h->layout.nr_groups, 5);
	assert_memory_equal(h->layout.groups, want, sizeof(want));
	assert_int_equal(h->layout.counters[5].device, 0);
	assert_int_equal(h->nr_devices, 2);
	trace_file_close(f);
}

/* Too late for the header: the I/O is ignored, and counted. */
static void devices_seen_too_late(void **state)
{
	static const char known[] =
		START ",\"counters\":[],\"devices\":[{\"bdf\":\"1:0:0.0\"}]}\n" WORKLOAD IO(
			"1:0:0.0", BYTES TIMES) IO("1:0:0.1", BYTES TIMES);
	static const char want[] = "task 42 42 0 0 99 0 0 [(null)]\n"
				   "io 42 42 99 0 dev 0 0 3/18446744073709551615 1 9\n"
				   "lost io 0 1 9 1\n";
	struct event_log got = { 0 };
	struct trace_end end;
	struct diag d = { 0 };
	FILE *f;

	(void)state;
	temp_put(known);
	assert_int_equal(read_back(temp_path, &got, &end, &d), 0);
	assert_string_equal(got.text, want);
	/* one more than there is room for */
	f = temp_open();
	fputs(START ",\"counters\":[]}\n" WORKLOAD, f);
	for (int i = 0; i <= TRACE_MAX_DEVICES; i++)
		fprintf(f, IO("%x:0:0.0", BYTES TIMES), i);
	fclose(f);
	got.nr = got.events = 0;
	assert_int_equal(read_back(temp_path, &got, &end, &d), 0);
	assert_int_equal(got.events, TRACE_MAX_DEVICES + 2);
	assert_non_null(strstr(got.text, "dev 511 0"));
	assert_non_null(strstr(got.text, "lost io 0 1 9 1\n"));
	free(got.text);
}

#define DEVICES(text) START ",\"counters\":[],\"devices\":[" text "]}\n"

static const struct {
	const char *text;
	const char *want;
} junk[] = {
	{ DEVICES("{}"), ": \"bdf\" is missing" },
	{ DEVICES("{\"bdf\":\"nvme0n1\"}"), ": \"bdf\" must be a PCI address" },
	{ DEVICES("{\"bdf\":\"acc\"}"), ": \"bdf\" must be a PCI address" },
	{ DEVICES("{\"bdf\":\"acc0x\"}"), ": \"bdf\" must be a PCI address" },
	{ DEVICES("{\"bdf\":\"agent-1\"}"), ": \"bdf\" must be a PCI address" },
	{ DEVICES("{\"bdf\":\"agent1\"},{\"bdf\":\"agent1\"}"), "device agent1 is there twice" },
	{ DEVICES("{\"bdf\":\"acc7\"},{\"bdf\":\"acc7\"}"), "device acc7 is there twice" },
	{ DEVICES("{\"bdf\":\"1:0:0.0\"},{\"bdf\":\"0001:00:00.0\"}"),
	  ": device 0001:00:00.0 is there twice" },
	{ DEVICES("{\"bdf\":\"1:0:0.0\",\"kind\":\"toaster\"}"),
	  ": \"kind\" must be \"other\", \"nvme\", \"block\", \"net\", \"rdma\", \"gpu\", "
	  "\"vfio\", "
	  "\"port\", \"accelerator\", \"agent\" or \"link\"" },
	{ DEVICES("{\"bdf\":\"1:0:0.0\",\"wiring\":\"x\"}"),
	  ": \"wiring\" must be \"unknown\", \"firmware\", \"user\", \"medium\" or \"low\"" },
	{ DEVICES("{\"bdf\":\"1:0:0.0\",\"filter\":\"x\"}"),
	  ": \"filter\" must be \"none\", \"port\", \"requester id\", \"tile\" or \"link\"" },
	{ DEVICES("{\"bdf\":\"1:0:0.0\",\"wiring\":\"low\"}"), ": \"socket\" is missing" },
	{ DEVICES("{\"bdf\":\"1:0:0.0\",\"wiring\":\"low\",\"socket\":5}"),
	  ": device 0001:00:00.0 is on an unknown socket" },
	{ DEVICES("{\"bdf\":\"1:0:0.0\",\"port\":\"1:0:0.1\"}"),
	  ": port 0001:00:00.1 is not among the devices" },
	{ DEVICES("{\"bdf\":\"1:0:0.0\",\"port\":\"1:0:0.1\"},{\"bdf\":\"1:0:0.1\"}"),
	  ":1:1: a device below a port that is none" },
	{ START ",\"counters\":[],\"devices\":{}}\n", ": \"devices\" must be an array" },
	{ START ",\"counters\":[" COUNTER(1, ",\"bdf\":\"0\"") "]}\n",
	  ": \"bdf\" must be a PCI address" },
	{ START ",\"counters\":[" COUNTER(1, ",\"unit\":\"beats\"") "]}\n",
	  ": \"unit\" must be \"bytes\", \"requests\", \"nanojoules\" or \"events\"" },
	{ START ",\"counters\":[],\"probes\":[{\"id\":1,\"name\":\"p\",\"socket\":0,"
		"\"bdf\":\"1:0:0.0\"}]}\n",
	  ": device 0001:00:00.0 is not in the header" },
	{ HEADER IO("0002:81:00.0", BYTES TIMES), ":2:14: workload 7 was not announced before" },
	{ HEADER WORKLOAD "{\"type\":\"io\",\"workload\":7" BYTES TIMES "}\n",
	  ":3:1: \"bdf\" is missing" },
	{ HEADER WORKLOAD IO("0002:81:00", BYTES TIMES), ":3:27: \"bdf\" must be a PCI address" },
	{ HEADER WORKLOAD IO("0002:81:00.0", TIMES), ":3:1: \"read_bytes\" is missing" },
	{ HEADER WORKLOAD IO("0002:81:00.0", ",\"read_bytes\":1" TIMES),
	  ":3:1: \"write_bytes\" is missing" },
	{ HEADER WORKLOAD IO("0002:81:00.0",
			     ",\"read_bytes\":\"18446744073709551616\",\"write_bytes\":0" TIMES),
	  ":3:48: \"read_bytes\" must be a whole number" },
	{ HEADER WORKLOAD IO("0002:81:00.0", ",\"read_bytes\":-1,\"write_bytes\":0" TIMES),
	  ":3:48: \"read_bytes\" must be a whole number" },
	{ HEADER WORKLOAD IO("0002:81:00.0", ",\"exclusive\":1" TIMES),
	  ":3:48: \"exclusive\" must be true or false" },
	{ HEADER WORKLOAD IO("0002:81:00.0", ",\"exclusive\":true" BYTES TIMES),
	  ":3:48: \"exclusive\" goes with no bytes" },
	{ HEADER WORKLOAD IO("0002:81:00.0", BYTES ",\"start_ns\":9,\"end_ns\":8"),
	  ": \"end_ns\" is before \"start_ns\"" },
	{ HEADER WORKLOAD IO("0002:81:00.0", BYTES ",\"end_ns\":8"), ": \"start_ns\" is missing" },
};

static void junk_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++) {
		struct event_log got = { 0 };
		struct trace_end end;
		struct diag d = { 0 };

		temp_put(junk[i].text);
		assert_int_equal(read_back(temp_path, &got, &end, &d), -EBADMSG);
		if (!strstr(d.what, junk[i].want))
			print_error("wanted %s, got %s\n", junk[i].want, d.what);
		assert_non_null(strstr(d.what, junk[i].want));
		free(got.text);
	}
}

static void too_many_devices(void **state)
{
	struct event_log got = { 0 };
	struct trace_end end;
	struct diag d = { 0 };
	FILE *f = temp_open();

	(void)state;
	assert_non_null(f);
	fputs(START ",\"counters\":[],\"devices\":[", f);
	for (int i = 0; i <= TRACE_MAX_DEVICES; i++)
		fprintf(f, "%s{\"bdf\":\"%x:0:0.0\"}", i ? "," : "", i);
	fputs("]}\n", f);
	fclose(f);
	assert_int_equal(read_back(temp_path, &got, &end, &d), -EBADMSG);
	assert_non_null(strstr(d.what, "\"devices\" has more than 512 elements"));
	f = temp_open();
	fputs(START ",\"counters\":[", f);
	for (int i = 0; i <= TRACE_MAX_DEVICES; i++)
		fprintf(f,
			"%s{\"id\":%d,\"name\":\"c\",\"socket\":0,\"source\":\"device\","
			"\"bdf\":\"%x:0:0.0\"}",
			i ? "," : "", i, i);
	fputs("]}\n", f);
	fclose(f);
	assert_int_equal(read_back(temp_path, &got, &end, &d), -EBADMSG);
	assert_non_null(strstr(d.what, "the counters are of more than 512 devices"));
	free(got.text);
}

#define MS 1000000ull

/* A counter of CPUs with windows of 10 ms, and one of a device with turns of 35 ms. */
static void turns_do_not_end_intervals(void **state)
{
	static struct counter counters[] = {
		{ .name = "a", .source = SOURCE_CPU },
		{ .name = "b", .source = SOURCE_DEVICE, .group = 1, .device = 1 },
	};
	static struct group groups[] = { { 0, 0, 1 }, { 0, 1, 1 } };
	static uint32_t zero[] = { 0 };
	const struct trace_header h = {
		.layout = { zero, 1, zero, 1, counters, 2, groups, 2 },
		.devices = sample_devices,
		.nr_devices = 1,
	};
	const struct trace_event io = {
		.type = TRACE_IO,
		.io = { .pid = 1, .start_ns = 300 * MS, .end_ns = 305 * MS },
	};
	struct boundaries *b;
	struct trace_event e = { .type = TRACE_WINDOW };
	const struct trace_window *w = &e.window;
	struct trace_mark m;
	struct reading r = { 1, 0, 0 };
	unsigned int turns = 0, without_data = 0;

	(void)state;
	assert_int_equal(boundaries_new(&h, 100 * MS, &b), 0);
	for (uint64_t t = 0; t < 300; t += 10) {
		e.window = (struct trace_window){ 0, t * MS, (t + 10) * MS, &r };
		r.enabled_ns = r.running_ns = 10 * MS;
		assert_int_equal(boundaries_add(b, &e), 0);
	}
	for (uint64_t t = 0; t < 280; t += 35) {
		e.window = (struct trace_window){ 1, t * MS, (t + 35) * MS, &r };
		r.enabled_ns = 35 * MS;
		r.running_ns = t % 2 ? 0 : 35 * MS;
		assert_int_equal(boundaries_add(b, &e), 0);
	}
	assert_int_equal(boundaries_add(b, &io), 0);
	assert_true(boundaries_next(b, true, &m));
	assert_true(m.first);
	for (int i = 1; i <= 3; i++) {
		assert_true(boundaries_next(b, true, &m));
		assert_int_equal(m.ends_ns[0], (i < 3 ? i * 100 : 305) * MS);
		while (boundaries_event(b, &m, &e)) {
			assert_int_equal(e.type, TRACE_WINDOW);
			turns += w->group == 1;
			if (w->group == 1 && !w->readings->running_ns) {
				assert_int_equal(w->readings->enabled_ns, 35 * MS);
				without_data++;
			}
		}
	}
	assert_int_equal(turns, 8);
	assert_int_equal(without_data, 4);
	assert_true(m.last);
	assert_false(boundaries_next(b, true, &m));
	boundaries_free(b);
}

/* A trace of I/O alone has intervals, too. */
static void io_alone_has_intervals(void **state)
{
	static uint32_t zero[] = { 0 };
	const struct trace_header h = {
		.layout = { .cpu_socket = zero, .nr_cpus = 1, .socket_ids = zero, .nr_sockets = 1 }
	};
	const struct trace_event io = { .type = TRACE_IO,
					.io = { .start_ns = 50 * MS, .end_ns = 170 * MS } };
	struct boundaries *b;
	struct trace_mark m;

	(void)state;
	assert_int_equal(boundaries_new(&h, 100 * MS, &b), 0);
	assert_int_equal(boundaries_add(b, &io), 0);
	assert_true(boundaries_next(b, true, &m));
	assert_int_equal(m.ends_ns[0], 50 * MS);
	assert_true(boundaries_next(b, true, &m));
	assert_int_equal(m.ends_ns[0], 150 * MS);
	assert_true(boundaries_next(b, true, &m));
	assert_int_equal(m.ends_ns[0], 170 * MS);
	assert_true(m.last);
	assert_false(boundaries_next(b, true, &m));
	boundaries_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		cmocka_unit_test(addresses_in_paths),
		cmocka_unit_test(impossible_devices),
		cmocka_unit_test(impossible_io),
		cmocka_unit_test(hostile_blocks),
		cmocka_unit_test(whose_it_was),
		cmocka_unit_test(foreign),
		cmocka_unit_test(foreign_groups),
		cmocka_unit_test(devices_seen_too_late),
		cmocka_unit_test(junk_is_named),
		cmocka_unit_test(too_many_devices),
		cmocka_unit_test(turns_do_not_end_intervals),
		cmocka_unit_test(io_alone_has_intervals),
	};

	return cmocka_run_group_tests_name("trace_devices", tests, temp_make, temp_drop);
}
