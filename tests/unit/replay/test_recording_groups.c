// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The bytes of recordings with monitoring groups, and of those without, as they were written once:
 * today's program writes the same, and its reports of both say what they said. A change here is a
 * new version of the form, or of the report.
 */
#include "trace_files.h"

#include "base/array.h"
#include "recording_format.h"
#include "replay/replay.h"
#include "sample_report.h"
#include "temp_file.h"
#include "tree.h"

#define WITH	TESTS_DIR "/fixtures/recording-9"
#define WITHOUT TESTS_DIR "/fixtures/recording-7-whole"
#define MS	1000000ull
#define BEGIN	(100 * MS)
#define WINDOW	(10 * MS)
#define LAST	4 /* windows: one a mark but the third, whose mark is an inner one */

#define JOB	"/system.slice/slurmstepd.scope/job_12"

/* As many of each as the log of events shows; nothing runs on the second socket. */
static uint32_t cpus[] = { 0, 0, 0, 1 };
static uint32_t sockets[] = { 0, 1 };
static struct counter counters[] = {
	{ "ucf0/mem_bytes_rd/src_loc_cpu=1", "nvidia_ucf_pmu_0", "mem_bytes_rd", "src_loc_cpu=1", 0,
	  0, SOURCE_CPU, DIRECTION_READ, DESTINATION_ANY, UNIT_BYTES, 0, 0, TERM_NONE },
	{ "ucf0/mem_bytes_wr/src_loc_cpu=1", "nvidia_ucf_pmu_0", "mem_bytes_wr", "src_loc_cpu=1", 0,
	  0, SOURCE_CPU, DIRECTION_WRITE, DESTINATION_ANY, UNIT_BYTES, 0, 0, TERM_NONE },
};
static struct group groups[] = { { 0, 0, 2 } };

static struct trace_header header(bool resctrl)
{
	return (struct trace_header){
		.host = { .name = "n1", .kernel = "7.2.13", .platform = "t410", .sockets = 2 },
		.layout = { cpus, 4, sockets, 2, counters, 2, groups, 1 },
		.window_ns = WINDOW,
		.interval_ns = WINDOW,
		.marked = true,
		.all = true,
		.resctrl = resctrl,
	};
}

/* A task on each CPU; the first two are of a job, the third is not. */
static void send_names(const struct trace_sink *s)
{
	static const struct trace_task tasks[] = {
		{ 11, 11, 1, 1, 11, 881, "lbm", false },
		{ 12, 12, 1, 1, 12, 882, "bash", false },
		{ 13, 13, 1, 1, 13, 70, "nginx", false },
	};

	assert_int_equal(trace_send_cgroup(s, 1, "/"), 0);
	assert_int_equal(trace_send_cgroup(s, 70, "/web"), 0);
	assert_int_equal(trace_send_cgroup(s, 880, JOB), 0);
	assert_int_equal(trace_send_cgroup(s, 881, JOB "/step_0"), 0);
	assert_int_equal(trace_send_cgroup(s, 882, JOB "/step_1"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
		assert_int_equal(trace_send_task(s, &tasks[i]), 0);
}

static void send_window(const struct trace_sink *s, uint64_t start)
{
	const struct reading r[] = { { 1000, WINDOW, WINDOW }, { 300, WINDOW, WINDOW } };
	const struct trace_window w = { 0, start, start + WINDOW, r };
	const uint64_t cgroup[] = { 881, 882, 70 };

	for (uint32_t i = 0; i < ARRAY_SIZE(cgroup); i++) {
		const struct trace_slice slice = {
			.pid = 11 + i,
			.tgid = 11 + i,
			.task_start_ns = 11 + i,
			.cgroup_id = cgroup[i],
			.cpu = i,
			.start_ns = start,
			.end_ns = start + WINDOW,
			.on_cpu_ns = WINDOW / (1 + i),
		};

		assert_int_equal(trace_send_slice(s, &slice), 0);
	}
	assert_int_equal(trace_send_window(s, &w), 0);
}

/* Each state, with and without each field that may be left out */
static void send_groups(const struct trace_sink *s, uint64_t start, uint64_t end, bool later)
{
	const char *const gone = later ? "backward" : "counted";
	const char *const none = later ? "counted" : "unassigned";
	const struct trace_resctrl all[] = {
		{ "step", "counted", start, end, 4096, 2, 0, 1, JOB "/step_0", 1, 0 },
		{ "job", "counted", start + 1, end, 1ull << 40, 2, 1, 2, JOB, 2, 1 },
		{ "web", gone, start, end, later ? 0 : 77, 1, 0, 1, "/web", 3, 0 },
		{ "mon_groups/web", "unavailable", start, end, 0, 2, 2, 0, NULL, 0, 0 },
		{ "a/mon_groups/\xff\"\\", none, start, end, later ? 5 : 0, 1, 0, 0, NULL, 0, 0 },
		{ "late", "new", end, end, 0, 1, 0, 9, NULL, 0, 0 },
		{ "shut", "unreadable", start, end, 0, 0, 0, UINT32_MAX, "/x", UINT32_MAX, 3 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		assert_int_equal(trace_send_resctrl(s, &all[i]), 0);
}

static void send_all(const struct trace_sink *s, bool resctrl)
{
	uint64_t at = BEGIN, ends[2];
	struct trace_mark m = { .first = true, .ends_ns = ends };

	for (int i = 0;; i++) {
		m.time_ns = ends[0] = ends[1] = at;
		m.realtime_ns = 1000000000 * MS + at;
		if (resctrl && i && !m.inner)
			send_groups(s, at - WINDOW, at, i > 1);
		assert_int_equal(trace_send_mark(s, &m), 0);
		if (i == LAST)
			return;
		if (!i)
			send_names(s);
		send_window(s, at);
		at += WINDOW;
		m.first = false;
		m.inner = i + 1 == 3;
		m.last = i + 1 == LAST;
	}
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
	return data;
}

static void create(const char *path, bool resctrl)
{
	struct trace_header h = header(resctrl);
	struct recording_writer *w;
	struct trace_sink sink;
	struct diag d = { 0 };

	unlink(path);
	assert_int_equal(recording_create(path, &h, 0, &d, &w), 0);
	sink = recording_sink(w);
	send_all(&sink, resctrl);
	assert_int_equal(recording_finish(w, &d, NULL), 0);
}

/* Its identity is a random number. */
static void without_identity(uint8_t *recording)
{
	memset(recording + offsetof(struct recording_preamble, id), 0, sizeof(uint64_t));
	memset(recording + offsetof(struct recording_preamble, crc), 0, sizeof(uint32_t));
}

static void test_write(void **state)
{
	const char *const names[] = { WITHOUT, WITH };

	(void)state;
	for (int resctrl = 0; resctrl < 2; resctrl++) {
		uint8_t *was, *is;
		size_t size, now;

		if (getenv("T410_UPDATE_GOLDEN"))
			create(names[resctrl], resctrl);
		create(temp_path, resctrl);
		was = load(names[resctrl], &size);
		is = load(temp_path, &now);
		assert_int_equal(((struct recording_preamble *)was)->version, resctrl ? 9 : 7);
		without_identity(was);
		without_identity(is);
		assert_int_equal(now, size);
		assert_memory_equal(is, was, size);
		free(was);
		free(is);
	}
}

static void test_read(void **state)
{
	const char *const names[] = { WITHOUT, WITH };

	(void)state;
	for (int resctrl = 0; resctrl < 2; resctrl++) {
		struct event_log said = { 0 }, got = { 0 };
		struct trace_sink to_log = log_sink(&said);
		struct trace_end end;
		struct diag d = { 0 };

		send_all(&to_log, resctrl);
		assert_int_equal(read_back(names[resctrl], &got, &end, &d), 0);
		assert_string_equal(said.text, got.text);
		assert_true(end.complete);
		assert_int_equal(end.refused, 0);
		free(said.text);
		free(got.text);
	}
}

/* What reports say, a line each; @groups: with what the groups counted, if there is anything */
struct said {
	char *text;
	size_t size;
	FILE *out;
	bool groups;
};

static int put_report(void *arg, struct report *r, struct diag *d)
{
	struct said *s = arg;
	char *text;

	(void)d;
	if (!s->groups)
		r->nr_resctrl = 0;
	text = sample_json(r);
	fputs(text, s->out);
	free(text);
	return 0;
}

static char *reports_of(const char *name, enum row_kind by, uint64_t interval_ns, bool with_groups)
{
	struct run_options args = run_options_default();
	struct said said = { .groups = with_groups };
	const struct replay_output output = { .report = put_report, .arg = &said };
	struct trace_end end = { 0 };
	struct replay *replay;
	struct trace_sink sink;
	struct trace_file *f;
	struct diag d = { 0 };

	/* not where this file lies */
	args.file = "recording";
	args.by = by;
	args.by_given = true;
	args.interval_ns = interval_ns;
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

/* What a version says is what it said; but for the groups, both say the same. */
static void test_reports(void **state)
{
	static const struct {
		enum row_kind by;
		uint64_t interval_ns; /* 0: those of the recording */
		const char *golden;
	} rows[] = {
		{ ROW_CGROUP, 0, "recording-9-cgroup.json" },
		{ ROW_CGROUP, 1000 * MS, "recording-9-cgroup-joined.json" },
		{ ROW_JOB, 1000 * MS, "recording-9-job-joined.json" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *with = reports_of(WITH, rows[i].by, rows[i].interval_ns, true);
		char *less = reports_of(WITH, rows[i].by, rows[i].interval_ns, false);
		char *without = reports_of(WITHOUT, rows[i].by, rows[i].interval_ns, true);

		sample_check_golden(rows[i].golden, with);
		assert_non_null(strstr(with, "\"resctrl\""));
		assert_null(strstr(without, "\"resctrl\""));
		assert_string_equal(without, less);
		free(with);
		free(less);
		free(without);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_reports),
	};

	return cmocka_run_group_tests(tests, temp_make, temp_drop);
}
