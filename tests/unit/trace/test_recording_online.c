// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The bytes of a recording in which CPUs come and go, and some devices have requests that nobody
 * noted, as they were written once. A live run's reports and those of its recording are the same,
 * byte for byte. A change here is a new version of the form, or of the report.
 */
#include "trace_files.h"

#include "base/array.h"
#include "engine/session/session.h"
#include "recording_format.h"
#include "replay/replay.h"
#include "sample_report.h"
#include "temp_file.h"
#include "trace/encode.h"
#include "trace/header.h"
#include "trace/midrun.h"
#include "trace/ndjson.h"
#include "tree.h"

#define RECORDING TESTS_DIR "/fixtures/recording-10"
#define MS	  1000000ull
#define BEGIN	  (100 * MS)
#define WINDOW	  (10 * MS)
#define LAST	  4

/* Only the first two are online at the start; nothing of the second socket is. */
static uint32_t cpus[] = { 0, 0, LAYOUT_NO_SOCKET, LAYOUT_NO_SOCKET };
static uint32_t sockets[] = { 0, 1 };
static struct counter counters[] = {
	{ "ucf0/mem_bytes_rd/src_loc_cpu=1", "nvidia_ucf_pmu_0", "mem_bytes_rd", "src_loc_cpu=1", 0,
	  0, SOURCE_CPU, DIRECTION_READ, DESTINATION_ANY, UNIT_BYTES, 0, 0, TERM_NONE },
	{ "ucf0/mem_bytes_wr/src_loc_cpu=1", "nvidia_ucf_pmu_0", "mem_bytes_wr", "src_loc_cpu=1", 0,
	  0, SOURCE_CPU, DIRECTION_WRITE, DESTINATION_ANY, UNIT_BYTES, 0, 0, TERM_NONE },
	{ "ucf1/mem_bytes_rd/src_loc_cpu=1", "nvidia_ucf_pmu_1", "mem_bytes_rd", "src_loc_cpu=1", 1,
	  1, SOURCE_CPU, DIRECTION_READ, DESTINATION_ANY, UNIT_BYTES, 0, 0, TERM_NONE },
};
/* As many of each as the log of events shows. */
static struct group groups[] = { { 0, 0, 2 }, { 1, 2, 1 } };
/* The network card's receptions are not noted, and the GPU has no requests. */
static struct device devices[] = {
	{ .bdf = "0001:01:00.0", .name = "vda", .kind = DEVICE_BLOCK, .io = IO_BOTH },
	{ .bdf = "0001:02:00.0", .name = "eth0", .kind = DEVICE_NET, .io = IO_READ },
	{ .bdf = "0001:03:00.0", .name = "gpu0", .kind = DEVICE_GPU, .io = IO_NONE },
};

static const struct trace_header header = {
	.host = { .name = "n1", .kernel = "7.2.13", .platform = "t410", .sockets = 2 },
	.layout = { cpus, 4, sockets, 2, counters, 3, groups, 2 },
	.window_ns = WINDOW,
	.interval_ns = WINDOW,
	.marked = true,
	.all = true,
	.online = true,
	.devices = devices,
	.nr_devices = ARRAY_SIZE(devices),
};

static void send_task(const struct trace_sink *s, uint32_t cpu, uint64_t start)
{
	const struct trace_slice slice = {
		.pid = 11 + cpu,
		.tgid = 11 + cpu,
		.task_start_ns = 11 + cpu,
		.cgroup_id = 70,
		.cpu = cpu,
		.start_ns = start,
		.end_ns = start + WINDOW,
		.on_cpu_ns = WINDOW,
	};

	assert_int_equal(trace_send_slice(s, &slice), 0);
}

static void send_cpu(const struct trace_sink *s, uint32_t cpu, uint32_t socket, bool online)
{
	const struct trace_cpu c = { cpu, socket, online };

	assert_int_equal(trace_send_cpu(s, &c), 0);
}

/*
 * Interval 1: CPUs 0 and 1. 2: CPU 2 comes, on socket 1, and CPU 3, on no socket of the run; CPU 1
 * goes. 3: CPUs 0, 2 and 3. 4: CPU 1 is back, CPU 2 goes, and has CPU time that comes late.
 */
static void send_interval(const struct trace_sink *s, int i, uint64_t start)
{
	const struct reading one[] = { { 1000, WINDOW, WINDOW }, { 7, WINDOW, WINDOW } };
	const struct reading two[] = { { 300, WINDOW, WINDOW } };
	const struct trace_window windows[] = { { 0, start, start + WINDOW, one },
						{ 1, start, start + WINDOW, two } };
	const struct trace_io io = { .pid = 11,
				     .tgid = 11,
				     .task_start_ns = 11,
				     .cgroup_id = 70,
				     .read_bytes = 4096,
				     .start_ns = start,
				     .end_ns = start + 1 };

	if (i == 2) {
		send_cpu(s, 2, 1, true);
		send_cpu(s, 3, LAYOUT_NO_SOCKET, true);
	}
	if (i == 4)
		send_cpu(s, 1, 0, true);
	send_task(s, 0, start);
	if (i != 3)
		send_task(s, 1, start);
	if (i == 4)
		send_cpu(s, 2, LAYOUT_NO_SOCKET, false);
	for (uint32_t cpu = 2; i > 1 && cpu < 4; cpu++)
		send_task(s, cpu, start);
	for (size_t k = 0; k < ARRAY_SIZE(windows); k++)
		assert_int_equal(trace_send_window(s, &windows[k]), 0);
	if (i == 2)
		send_cpu(s, 1, LAYOUT_NO_SOCKET, false);
	if (i == 1)
		assert_int_equal(trace_send_io(s, &io), 0);
}

static void send_names(const struct trace_sink *s)
{
	assert_int_equal(trace_send_cgroup(s, 70, "/web"), 0);
	for (uint32_t i = 0; i < 4; i++) {
		const struct trace_task t = { .pid = 11 + i,
					      .tgid = 11 + i,
					      .start_ns = 11 + i,
					      .cgroup_id = 70,
					      .comm = "lbm" };

		assert_int_equal(trace_send_task(s, &t), 0);
	}
}

/* @close: called behind each mark but the first */
static void send_all(const struct trace_sink *s,
		     void (*close)(void *arg, const struct trace_mark *m), void *arg)
{
	uint64_t at = BEGIN, ends[2];
	struct trace_mark m = { .first = true, .ends_ns = ends };

	for (int i = 0; i <= LAST; i++) {
		if (i)
			send_interval(s, i, at - WINDOW);
		m.time_ns = ends[0] = ends[1] = at;
		m.realtime_ns = 1000000000 * MS + at;
		m.first = !i;
		m.last = i == LAST;
		assert_int_equal(trace_send_mark(s, &m), 0);
		if (i && close)
			close(arg, &m);
		if (!i)
			send_names(s);
		at += WINDOW;
	}
}

static void create(const char *path)
{
	struct recording_writer *w;
	struct trace_sink sink;
	struct diag d = { 0 };

	unlink(path);
	assert_int_equal(recording_create(path, &header, 0, &d, &w), 0);
	sink = recording_sink(w);
	send_all(&sink, NULL, NULL);
	assert_int_equal(recording_finish(w, &d, NULL), 0);
}

static uint8_t *load(const char *name, size_t *ret_size)
{
	uint8_t *data = malloc(1 << 16);
	FILE *f = fopen(name, "r");

	if (!f)
		fail_msg("%s is missing", name);
	assert_non_null(data);
	*ret_size = fread(data, 1, 1 << 16, f);
	fclose(f);
	assert_int_equal(((struct recording_preamble *)data)->version, 10);
	/* Its identity is a random number. */
	memset(data + offsetof(struct recording_preamble, id), 0, sizeof(uint64_t));
	memset(data + offsetof(struct recording_preamble, crc), 0, sizeof(uint32_t));
	return data;
}

static void test_write(void **state)
{
	size_t size, now;
	uint8_t *was, *is;

	(void)state;
	if (getenv("T410_UPDATE_GOLDEN"))
		create(RECORDING);
	create(temp_path);
	was = load(RECORDING, &size);
	is = load(temp_path, &now);
	assert_int_equal(now, size);
	assert_memory_equal(is, was, size);
	free(was);
	free(is);
}

/* As events, from both forms: NDJSON has names where a recording has numbers. */
static void test_read(void **state)
{
	struct event_log said = { 0 };
	struct trace_sink to_log = log_sink(&said), sink;
	struct ndjson_writer *w;
	struct diag d = { 0 };
	FILE *out;

	(void)state;
	send_all(&to_log, NULL, NULL);
	for (int form = 0; form < 2; form++) {
		struct event_log got = { 0 };
		struct trace_file *f;
		struct trace_end end;
		const char *name = form ? temp_path : RECORDING;

		if (form) {
			out = temp_open();
			assert_int_equal(ndjson_create(out, &header, &d, &w), 0);
			sink = ndjson_sink(w);
			send_all(&sink, NULL, NULL);
			assert_int_equal(ndjson_finish(w, &d), 0);
			fclose(out);
		}
		assert_int_equal(trace_file_open(name, &d, &f), 0);
		assert_same_header(trace_file_header(f), &header);
		trace_file_close(f);
		assert_int_equal(read_back(name, &got, &end, &d), 0);
		assert_string_equal(said.text, got.text);
		assert_true(end.complete);
		assert_int_equal(end.refused, 0);
		free(got.text);
	}
	free(said.text);
}

/* --- reports */

struct said {
	char *text;
	size_t size;
	FILE *out;
	struct session *session;
	struct midrun *midrun;
};

static void put(struct said *s, struct report *r)
{
	char *text;

	/* It is not said of a live run; all else is the same. */
	r->replayed = true;
	text = sample_json(r);
	fputs(text, s->out);
	free(text);
}

static int put_report(void *arg, struct report *r, struct diag *d)
{
	(void)d;
	put(arg, r);
	return 0;
}

static char *replayed(const char *name)
{
	struct run_options args = run_options_default();
	struct said said = { 0 };
	const struct replay_output output = { .report = put_report, .arg = &said };
	struct trace_end end = { 0 };
	struct replay *replay;
	struct trace_sink sink;
	struct trace_file *f;
	struct diag d = { 0 };

	args.file = "recording";
	args.by_given = true;
	args.interval_ns = 0;
	args.method = METHOD_CPU_TIME;
	said.out = open_memstream(&said.text, &said.size);
	assert_non_null(said.out);
	assert_int_equal(trace_file_open(name, &d, &f), 0);
	assert_int_equal(replay_new(trace_file_header(f), &args, &output, &d, &replay), 0);
	sink = replay_sink(replay);
	assert_int_equal(trace_file_read(f, &sink, &d, &end), 0);
	assert_int_equal(replay_finish(replay), 0);
	replay_free(replay);
	trace_file_close(f);
	run_options_free(&args);
	fclose(said.out);
	return said.text;
}

static void close_interval(void *arg, const struct trace_mark *m)
{
	struct said *s = arg;
	struct report *r;

	assert_int_equal(session_report(s->session, m, &r), 0);
	put(s, r);
	report_free(r);
}

static struct session *begin_session(void)
{
	const struct session_options o = { .by = ROW_PROCESS,
					   .all = true,
					   .method = METHOD_CPU_TIME };
	struct session *ret;

	assert_int_equal(session_new(&header, &o, &ret), 0);
	return ret;
}

static char *live(void)
{
	struct said said = { .session = begin_session() };
	struct trace_sink sink = session_sink(said.session);

	said.out = open_memstream(&said.text, &said.size);
	assert_non_null(said.out);
	send_all(&sink, close_interval, &said);
	session_free(said.session);
	fclose(said.out);
	return said.text;
}

static void test_reports(void **state)
{
	char *is = live(), *was;

	(void)state;
	was = replayed(RECORDING);
	assert_string_equal(is, was);
	sample_check_golden("recording-10-process.json", was);
	free(was);
	create(temp_path);
	was = replayed(temp_path);
	assert_string_equal(is, was);
	free(was);
	free(is);
}

/* --- what the reports are */

struct judge {
	struct session *session;
	int interval;
};

static uint64_t attributed(const struct report *r, uint32_t counter)
{
	uint64_t sum = r->counters[counter].attributed;

	for (int i = 0; i < NR_REASONS; i++)
		sum += r->counters[counter].unattributed[i];
	assert_int_equal(sum, r->counters[counter].value);
	return r->counters[counter].attributed;
}

static void judge(void *arg, const struct trace_mark *m)
{
	static const struct {
		uint32_t cpus[2];
		uint64_t attributed[2], unplaced_ns;
	} rows[] = {
		{ { 2, 0 }, { 1000, 0 }, 0 },
		{ { 2, 1 }, { 1000, 300 }, WINDOW },
		{ { 1, 1 }, { 1000, 300 }, WINDOW },
		{ { 2, 1 }, { 1000, 300 }, WINDOW },
	};
	struct judge *j = arg;
	struct report *r;

	assert_int_equal(session_report(j->session, m, &r), 0);
	for (uint32_t s = 0; s < 2; s++) {
		assert_int_equal(r->sockets[s].nr_cpus, rows[j->interval].cpus[s]);
		assert_int_equal(attributed(r, 2 * s), rows[j->interval].attributed[s]);
	}
	assert_int_equal(r->unplaced_ns, rows[j->interval].unplaced_ns);
	assert_int_equal(r->nr_devices, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(r->devices[i].read.io_valid, i < 2);
		assert_int_equal(r->devices[i].write.io_valid, i < 1);
	}
	report_free(r);
	j->interval++;
}

static void test_numbers(void **state)
{
	struct judge j = { .session = begin_session() };
	struct trace_sink sink = session_sink(j.session);
	struct report *r;

	(void)state;
	send_all(&sink, judge, &j);
	assert_int_equal(j.interval, LAST);
	assert_int_equal(session_summary(j.session, &r), 0);
	assert_int_equal(r->sockets[0].nr_cpus, 2);
	assert_int_equal(r->sockets[1].nr_cpus, 1);
	assert_int_equal(r->unplaced_ns, 3 * WINDOW);
	report_free(r);
	session_free(j.session);
}

/* A late reader gets the CPUs first: a segment of a recording, or other rows of top. */
static void begin_late(void *arg, const struct trace_mark *m)
{
	struct said *s = arg;
	struct event_log told = { 0 };
	struct trace_sink to_log = log_sink(&told);
	static const char first[] = "cpu 1 -1 0\ncpu 2 1 1\ncpu 3 -1 1\n";

	if (m->last)
		return;
	assert_int_equal(midrun_tell(s->midrun, &to_log, m), 0);
	if (m->time_ns == BEGIN + 2 * WINDOW)
		assert_memory_equal(told.text, first, strlen(first));
	free(told.text);
}

static void test_late(void **state)
{
	struct said s = { 0 };
	struct trace_sink sink;

	(void)state;
	assert_int_equal(midrun_new(&header, &s.midrun), 0);
	sink = midrun_sink(s.midrun);
	send_all(&sink, begin_late, &s);
	midrun_free(s.midrun);
}

/* --- nonsense */

static void test_refused(void **state)
{
	const struct trace_cpu bad[] = {
		{ 4, 0, true }, /* no such CPU */
		{ UINT32_MAX, 0, true },
		{ 1, 2, true },	 /* no such socket */
		{ 1, 0, false }, /* offline, and on one */
	};
	struct trace_header older = header;
	struct recording_writer *w;
	struct session *s = begin_session();
	struct trace_sink sinks[2] = { session_sink(s) };
	struct diag d = { 0 };

	(void)state;
	assert_int_equal(recording_create(temp_path, &header, 0, &d, &w), 0);
	sinks[1] = recording_sink(w);
	for (size_t k = 0; k < ARRAY_SIZE(sinks); k++)
		for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
			assert_int_equal(trace_send_cpu(&sinks[k], &bad[i]), -EINVAL);
	assert_int_equal(recording_finish(w, &d, NULL), 0);
	session_free(s);
	/* a trace whose header does not announce it */
	older.online = false;
	assert_int_equal(recording_create(temp_path, &older, 0, &d, &w), 0);
	sinks[1] = recording_sink(w);
	assert_int_equal(trace_send_cpu(&sinks[1], &(struct trace_cpu){ 1, 0, true }), -EINVAL);
	assert_int_equal(recording_finish(w, &d, NULL), 0);
}

/* Without the header's word for it there are no users of devices: in NDJSON another tool's lines. */
static void test_unannounced(void **state)
{
	static const uint8_t codes[] = { RECORDING_CONTEXTS * 2, RECORDING_ACTIVITY * 2,
					 RECORDING_HOLDERS * 2 };
	static const char *const lines[] = { "{\"type\":\"contexts\",\"pid\":1}",
					     "{\"type\":\"activity\"}", "{\"type\":\"holders\"}" };
	struct event_log got = { 0 };
	struct trace_sink to_log = log_sink(&got);
	struct trace_header h = { 0 };
	struct bytes o = { 0 };
	struct ndjson_writer *w;
	struct trace_sink sink;
	struct bytes_in in;
	struct trace_end end;
	struct diag d = { 0 };
	const char *wrong;
	size_t events;
	FILE *out;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		const uint8_t payload[] = { codes[i], 1, 1, 1, 1, 1 };
		struct decoded decoded;
		struct decoder *decoder;
		bool first = false;

		assert_int_equal(decoder_new(&header, &decoder), 0);
		assert_int_equal(
			decoder_block(decoder, payload, sizeof(payload), &first, &to_log, &decoded),
			-EBADMSG);
		assert_int_equal(got.events, 0);
		decoder_free(decoder);
	}
	header_encode(&header, &o);
	assert_int_equal(o.err, 0);
	in = bytes_from(o.data, o.nr);
	assert_int_equal(header_decode(&in, &h, &wrong), 0);
	header_release(&h);
	o.data[0] |= RECORDING_LINKS;
	in = bytes_from(o.data, o.nr);
	assert_int_equal(header_decode(&in, &h, &wrong), -EBADMSG);
	free(o.data);
	for (int more = 0; more < 2; more++) {
		out = temp_open();
		assert_int_equal(ndjson_create(out, &header, &d, &w), 0);
		for (size_t i = 0; more && i < ARRAY_SIZE(lines); i++)
			fprintf(out, "%s\n", lines[i]);
		sink = ndjson_sink(w);
		send_all(&sink, NULL, NULL);
		assert_int_equal(ndjson_finish(w, &d), 0);
		fclose(out);
		got.events = 0;
		assert_int_equal(read_back(temp_path, &got, &end, &d), 0);
		assert_true(!more || got.events == events);
		events = got.events;
	}
	free(got.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write),	    cmocka_unit_test(test_read),
		cmocka_unit_test(test_reports),	    cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_late),	    cmocka_unit_test(test_refused),
		cmocka_unit_test(test_unannounced),
	};

	return cmocka_run_group_tests(tests, temp_make, temp_drop);
}
