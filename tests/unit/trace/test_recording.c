// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trace_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "recording_format.h"
#include "trace/encode.h"
#include "tree.h"

static char dir[] = "/tmp/t410trace-test-XXXXXX";
static char path[128], copy[128];

static int make_dir(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/rec", dir);
	snprintf(copy, sizeof(copy), "%s/copy", dir);
	return 0;
}

/* Calls @fn for each file in the directory. */
static void each_file(void (*fn)(const char *name, void *arg), void *arg)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char name[512];

	assert_non_null(d);
	while ((e = readdir(d)))
		if (e->d_name[0] != '.') {
			snprintf(name, sizeof(name), "%s/%s", dir, e->d_name);
			fn(name, arg);
		}
	closedir(d);
}

static void remove_file(const char *name, void *arg)
{
	(void)arg;
	unlink(name);
}

static void add_size(const char *name, void *arg)
{
	struct stat st;

	assert_int_equal(stat(name, &st), 0);
	*(uint64_t *)arg += st.st_size;
}

static int empty_dir(void **state)
{
	(void)state;
	each_file(remove_file, NULL);
	return 0;
}

static int drop_dir(void **state)
{
	empty_dir(state);
	return rmdir(dir);
}

static uint8_t *load(const char *name, size_t *ret_size)
{
	FILE *f = fopen(name, "r");
	uint8_t *data = malloc(1 << 22);

	assert_non_null(f);
	assert_non_null(data);
	*ret_size = fread(data, 1, 1 << 22, f);
	fclose(f);
	return data;
}

static void store(const char *name, const void *data, size_t size)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), size);
	close(fd);
}

/* Read a file; the log must be freed by the caller. */
/* Record a random trace; gives what it said. */
static void record(uint64_t seed, size_t events, uint64_t max_bytes, struct event_log *said)
{
	struct trace_sink to_log = log_sink(said), sink;
	struct recording_writer *w;
	struct diag d = { 0 };
	uint64_t bytes = 0;

	random_trace(&to_log, seed, events, true);
	assert_int_equal(recording_create(path, &sample_header, max_bytes, &d, &w), 0);
	sink = recording_sink(w);
	random_trace(&sink, seed, events, true);
	assert_int_equal(recording_finish(w, &d, &bytes), 0);
	assert_true(bytes > 0);
}

static void test_round_trip(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct event_log said = { 0 }, read = { 0 };
		struct trace_end end;
		struct diag d = { 0 };
		struct stat st;

		record(seed, seed * 200, 0, &said);
		assert_int_equal(read_back(path, &read, &end, &d), 0);
		assert_string_equal(said.text, read.text);
		assert_true(end.complete);
		assert_int_equal(end.events, said.events);
		assert_int_equal(end.dropped_bytes, 0);
		assert_int_equal(end.rotated, 0);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(end.bytes, st.st_size);
		free(said.text);
		free(read.text);
	}
}

static void test_header(void **state)
{
	static const struct trace_header bare = { .marked = true, .all = true };
	const struct trace_header *headers[] = { &sample_header, &bare };
	struct recording_writer *w;
	struct trace_file *f;
	struct diag d = { 0 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(recording_create(path, headers[i], 0, &d, &w), 0);
		/* it is there before anything else happens */
		assert_int_equal(trace_file_open(path, &d, &f), 0);
		assert_same_header(trace_file_header(f), headers[i]);
		trace_file_close(f);
		assert_int_equal(recording_finish(w, &d, NULL), 0);
	}
}

static void test_other_versions(void **state)
{
	struct recording_preamble p;
	struct event_log said = { 0 }, got = { 0 };
	struct trace_end end;
	struct diag d = { 0 };
	uint8_t *data;
	size_t size;

	(void)state;
	record(1, 20, 0, &said);
	data = load(path, &size);
	memcpy(&p, data, sizeof(p));
	assert_int_equal(p.version, RECORDING_NO_PARTS);
	for (uint32_t version = 0; version < 13; version += RECORDING_VERSION + 1) {
		p.version = version;
		p.crc = crc32(0, (const void *)&p, offsetof(struct recording_preamble, crc));
		memcpy(data, &p, sizeof(p));
		store(copy, data, size);
		assert_int_equal(read_back(copy, &got, &end, &d), -EBADMSG);
		assert_non_null(strstr(d.what, "and only 5 to 11 are known"));
	}
	assert_int_equal(got.events, 0);
	free(data);
	free(said.text);
	free(got.text);
}

/* What a decoder with the header @h makes of the event that @e has encoded. */
static int decoded(struct encoder *e, const struct trace_header *h, struct event_log *log)
{
	const struct bytes *o = encoder_out(e);
	struct trace_sink sink = log_sink(log);
	struct decoder *d;
	struct decoded ret;
	bool first = false;
	int err;

	assert_int_equal(decoder_new(h, &d), 0);
	err = decoder_block(d, o->data, o->nr, &first, &sink, &ret);
	assert_int_equal(ret.bad, err == -EBADMSG);
	decoder_free(d);
	encoder_reset(e);
	return err;
}

/* Indexes into the header are damage; whether there is a socket is for the sink to say. */
static void test_indexes(void **state)
{
	const struct reading readings[2] = { { 0 } };
	const struct trace_window window = { 3, 1, 2, readings };
	const struct trace_sample sample = { .probe = 0, .start_ns = 1, .end_ns = 2 };
	const struct trace_io io = { .pid = 1, .device = 3, .start_ns = 1, .end_ns = 2 };
	const struct trace_lost lost = { "slices", 1, 1, 2, 3 };
	struct trace_header h = sample_header;
	struct event_log log = { 0 };
	struct encoder *e;
	struct trace_sink sink;

	(void)state;
	assert_int_equal(encoder_new(&sample_header, 0, &e), 0);
	sink = encoder_sink(e);
	h.layout.nr_groups = 3;
	h.nr_probes = 0;
	h.nr_devices = 3;
	h.layout.nr_sockets = 1;
	assert_int_equal(trace_send_window(&sink, &window), 0);
	assert_int_equal(decoded(e, &h, &log), -EBADMSG);
	assert_int_equal(trace_send_sample(&sink, &sample), 0);
	assert_int_equal(decoded(e, &h, &log), -EBADMSG);
	assert_int_equal(trace_send_io(&sink, &io), 0);
	assert_int_equal(decoded(e, &h, &log), -EBADMSG);
	assert_int_equal(log.events, 0);
	assert_int_equal(trace_send_lost(&sink, &lost), 0);
	assert_int_equal(decoded(e, &h, &log), 0);
	assert_int_equal(log.events, 1);
	encoder_free(e);
	free(log.text);
}

static void test_refused(void **state)
{
	static struct group bad_groups[] = { { 0, 0, 2 }, { 0, 2, 1 }, { 7, 3, 1 }, { 0, 4, 2 } };
	struct trace_header h = sample_header;
	struct recording_writer *w = NULL;
	struct probe bad_probes[2] = { sample_probes[0], sample_probes[1] };
	struct trace_window window = { .group = NR_SAMPLE_GROUPS };
	struct trace_sample sample = { .probe = 2, .start_ns = 1, .end_ns = 2 };
	struct trace_lost lost = { 0 };
	struct trace_job_news job = { .cgroup_id = 1 };
	struct event_log log = { 0 };
	struct trace_end end;
	struct trace_sink sink;
	struct diag d = { 0 };
	char *longest;

	(void)state;
	h.layout.groups = bad_groups;
	assert_int_equal(recording_create(path, &h, 0, &d, &w), -EINVAL);
	assert_non_null(strstr(d.what, "unknown socket"));
	h = sample_header;
	h.probes = bad_probes;
	bad_probes[1].socket = 2;
	assert_int_equal(recording_create(path, &h, 0, &d, &w), -EINVAL);
	assert_non_null(strstr(d.what, "a probe on an unknown socket"));
	bad_probes[1].socket = 0;
	bad_probes[1].destination = NR_DESTINATIONS;
	assert_int_equal(recording_create(path, &h, 0, &d, &w), -EINVAL);
	assert_non_null(strstr(d.what, "a probe of an unknown kind"));
	assert_int_equal(recording_create(path, &sample_header, 4096, &d, &w), -EINVAL);
	assert_string_equal(d.help, "allow at least 1048576 bytes");
	assert_int_equal(recording_create("/dev/null", &sample_header, 1 << 20, &d, &w), -EINVAL);
	assert_int_equal(recording_create(dir, &sample_header, 0, &d, &w), -EISDIR);
	assert_int_equal(recording_create("/nowhere/x", &sample_header, 0, &d, &w), -ENOENT);
	assert_null(w);
	assert_int_equal(access(path, F_OK), -1);

	longest = malloc(RECORDING_MAX_TEXT + 2);
	assert_non_null(longest);
	memset(longest, 'x', RECORDING_MAX_TEXT + 1);
	longest[RECORDING_MAX_TEXT + 1] = '\0';
	assert_int_equal(recording_create(path, &sample_header, 0, &d, &w), 0);
	sink = recording_sink(w);
	assert_int_equal(trace_send_window(&sink, &window), -EINVAL);
	assert_int_equal(trace_send_sample(&sink, &sample), -EINVAL);
	assert_int_equal(trace_send_lost(&sink, &lost), -EINVAL);
	assert_int_equal(trace_send_cgroup(&sink, 1, longest), -EINVAL);
	job.id = longest + RECORDING_MAX_TEXT + 1 - JOB_ID_LEN;
	assert_int_equal(trace_send_job(&sink, &job), -EINVAL);
	job = (struct trace_job_news){ .user = longest };
	assert_int_equal(trace_send_job(&sink, &job), -EINVAL);
	assert_int_equal(trace_send_cgroup(&sink, 2, longest + 1), 0);
	assert_int_equal(recording_finish(w, &d, NULL), 0);
	assert_int_equal(read_back(path, &log, &end, &d), 0);
	assert_int_equal(log.events, 1);
	free(longest);
	free(log.text);
	assert_int_equal(recording_finish(NULL, &d, NULL), 0);
}

static void test_full_disk(void **state)
{
	struct recording_writer *w;
	struct trace_sink sink;
	struct diag d = { 0 };

	(void)state;
	assert_int_equal(recording_create("/dev/full", &sample_header, 0, &d, &w), -ENOSPC);
	assert_non_null(strstr(d.what, "/dev/full"));
	/* a device stays what it is */
	assert_int_equal(recording_create("/dev/null", &sample_header, 0, &d, &w), 0);
	sink = recording_sink(w);
	random_trace(&sink, 1, 100, false);
	assert_int_equal(recording_finish(w, &d, NULL), 0);
}

/* What every reading of a damaged file must keep to. */
static void check_damaged(const struct event_log *said, size_t events_before, bool cut)
{
	struct event_log read = { 0 };
	struct trace_end end;
	struct diag d = { 0 };
	int err = read_back(copy, &read, &end, &d);

	assert_true(err == 0 || err == -EBADMSG);
	assert_true(read.nr <= said->nr);
	if (read.nr)
		assert_memory_equal(said->text, read.text, read.nr);
	assert_true(read.events >= events_before);
	if (err) {
		assert_non_null(strstr(d.what, copy));
		assert_true(d.help[0]);
	} else {
		assert_false(end.complete);
		assert_true(cut || end.dropped_bytes);
	}
	free(read.text);
}

/* Events in complete blocks that lie before @size. */
static size_t events_before(const uint8_t *data, size_t size)
{
	size_t at = sizeof(struct recording_preamble), events = 0;
	struct recording_block b;

	while (size >= at + sizeof(b)) {
		memcpy(&b, data + at, sizeof(b));
		at += sizeof(b) + b.length;
		if (at <= size && b.type == RECORDING_EVENTS)
			events += b.events;
	}
	return events;
}

static void test_cut_anywhere(void **state)
{
	struct event_log said = { 0 };
	uint8_t *data;
	size_t size;

	(void)state;
	record(3, 150, 0, &said);
	data = load(path, &size);
	assert_true(events_before(data, size) == said.events);
	store(copy, data, size);
	while (size) {
		size -= size < 200 ? 1 : under_valgrind(11, 1);
		assert_int_equal(truncate(copy, size), 0);
		check_damaged(&said, events_before(data, size), true);
	}
	free(data);
	free(said.text);
}

static void test_corrupt_anywhere(void **state)
{
	struct event_log said = { 0 };
	uint8_t *data, value;
	size_t size;
	int fd;

	(void)state;
	record(4, 150, 0, &said);
	data = load(path, &size);
	store(copy, data, size);
	fd = open(copy, O_WRONLY);
	assert_true(fd >= 0);
	for (size_t i = 0; i < size; i += under_valgrind(11, 1)) {
		value = data[i] ^ (1 + i % 255);
		assert_int_equal(pwrite(fd, &value, 1, i), 1);
		check_damaged(&said, events_before(data, i), false);
		assert_int_equal(pwrite(fd, &data[i], 1, i), 1);
	}
	close(fd);
	free(data);
	free(said.text);
}

static void test_damage_is_named(void **state)
{
	struct event_log said = { 0 }, read = { 0 };
	struct recording_block b;
	struct trace_end end;
	struct diag d = { 0 };
	char want[64];
	uint8_t *data;
	size_t size, at = sizeof(struct recording_preamble);

	(void)state;
	record(5, 500, 0, &said);
	data = load(path, &size);
	for (int i = 0; i < 3; i++) { /* into the fourth block */
		memcpy(&b, data + at, sizeof(b));
		at += sizeof(b) + b.length;
	}
	data[at + sizeof(b) + 5] ^= 1;
	store(copy, data, size);
	assert_int_equal(read_back(copy, &read, &end, &d), -EBADMSG);
	snprintf(want, sizeof(want), "damaged at byte %zu: the checksum of a block", at);
	assert_non_null(strstr(d.what, want));
	assert_int_equal(read.events, events_before(data, at));
	assert_int_equal(end.events, read.events);
	/* bytes after the end are not ours */
	free(read.text);
	read = (struct event_log){ 0 };
	data[at + sizeof(b) + 5] ^= 1;
	data[size] = 0;
	store(copy, data, size + 1);
	assert_int_equal(read_back(copy, &read, &end, &d), -EBADMSG);
	assert_non_null(strstr(d.what, "something follows the end"));
	assert_string_equal(read.text, said.text);
	free(read.text);
	free(said.text);
	free(data);
}

static void test_sink_errors(void **state)
{
	struct event_log said = { 0 }, read = { .answer = -EINVAL };
	struct trace_end end;
	struct diag d = { 0 };

	(void)state;
	record(6, 100, 0, &said);
	assert_int_equal(read_back(path, &read, &end, &d), 0);
	assert_int_equal(end.refused, said.events);
	assert_int_equal(end.events, said.events);
	free(read.text);
	read = (struct event_log){ .answer = -ECANCELED };
	assert_int_equal(read_back(path, &read, &end, &d), -ECANCELED);
	assert_int_equal(read.events, 1);
	assert_int_equal(d.what[0], '\0');
	free(read.text);
	free(said.text);
}

/* Give a small mutated file valid checksums, so that what is inside is reached. */
static void mend(uint8_t *data, size_t size)
{
	struct recording_preamble p;
	struct recording_block b;
	size_t at = sizeof(p);

	memcpy(&p, data, sizeof(p));
	p.crc = crc32(0, data, offsetof(struct recording_preamble, crc));
	memcpy(data, &p, sizeof(p));
	while (size - at >= sizeof(b)) {
		memcpy(&b, data + at, sizeof(b));
		if (b.length > size - at - sizeof(b))
			return;
		b.payload_crc = crc32(0, data + at + sizeof(b), b.length);
		b.crc = crc32(0, (const void *)&b, offsetof(struct recording_block, crc));
		memcpy(data + at, &b, sizeof(b));
		at += sizeof(b) + b.length;
	}
}

static void test_mutations(void **state)
{
	struct event_log said = { 0 }, read = { 0 };
	uint8_t *data, *changed;
	struct trace_end end;
	struct diag d;
	size_t size;

	(void)state;
	record(7, 40, 0, &said);
	data = load(path, &size);
	changed = malloc(size);
	assert_non_null(changed);
	random_state = 4711;
	for (size_t i = 0; i < under_valgrind(500, 12000); i++) {
		memcpy(changed, data, size);
		for (uint64_t n = 1 + random_below(4); n; n--)
			changed[random_below(size)] = random_u64();
		if (i % 8)
			mend(changed, size);
		store(copy, changed, size);
		read.nr = read.events = 0;
		d = (struct diag){ 0 };
		if (read_back(copy, &read, &end, &d))
			assert_true(d.what[0]);
	}
	free(changed);
	free(data);
	free(read.text);
	free(said.text);
}

#define BOUND  (1u << 20)
#define LENGTH 250000

/* What is true for the whole of a recording, and must be in whatever is left of it. */
static void tell_lasting(const struct trace_sink *s)
{
	const uint64_t job = (1ull << TRACE_HIERARCHY_SHIFT) + 3;
	const struct trace_job_news news = { job, "3", NULL, "root", 0 };
	const struct trace_job_news more = { job, NULL, "fluid", "alice", 0 };
	const struct trace_job_news nobody = { 4711, "4711", NULL, NULL, 0 };
	struct trace_task t = { .pid = 7, .tgid = 7, .start_ns = 70, .comm = "keeper" };
	struct trace_task child = { .pid = 8,
				    .tgid = 8,
				    .start_ns = 80,
				    .parent = 7,
				    .parent_start_ns = 70,
				    .comm = "child" };
	struct trace_task orphan = { .pid = 9,
				     .tgid = 9,
				     .start_ns = 90,
				     .parent = 1,
				     .parent_start_ns = 10,
				     .comm = "orphan" };

	trace_send_task(s, &t);
	trace_send_cgroup(s, 5, "/keeper");
	trace_send_cgroup(s, job, "freezer:/slurm/uid_0/job_3");
	trace_send_job(s, &news);
	trace_send_job(s, &more);
	trace_send_job(s, &nobody);
	trace_send_follow(s, 7);
	trace_send_task(s, &child);
	/* two that no list has; the second one ends */
	trace_send_follow(s, 1);
	trace_send_task(s, &orphan);
	trace_send_follow(s, 2);
	trace_send_exit(s, 2, 20);
}

static void test_rotation(void **state)
{
	struct event_log said = { 0 }, read = { 0 };
	struct trace_sink to_log = log_sink(&said), sink;
	struct recording_writer *w;
	struct trace_end end;
	struct diag d = { 0 };
	uint64_t now = 1000000000, size = 0, bytes, largest = 0;
	const char *rest, *mark;
	char first[64];

	(void)state;
	assert_int_equal(recording_create(path, &sample_header, BOUND, &d, &w), 0);
	sink = recording_sink(w);
	for (int pass = 0; pass < 2; pass++) {
		struct trace_sink *s = pass ? &sink : &to_log;

		random_state = 99;
		now = 1000000000;
		tell_lasting(s);
		random_mark(s, now, true, false, false);
		for (int i = 1; i < LENGTH; i++, now += 1000) {
			if (i % 5000)
				random_slice(s, now, false);
			else
				random_mark(s, now, false, i == LENGTH - 5000, false);
			if (pass && i % 5000 < 2) {
				size = 0;
				each_file(add_size, &size);
				assert_in_range(size, 0, BOUND);
				largest = size > largest ? size : largest;
			}
		}
	}
	assert_int_equal(recording_finish(w, &d, &bytes), 0);
	size = 0;
	each_file(add_size, &size);
	assert_int_equal(size, bytes);
	/* the bound is used, not wasted */
	assert_true(largest > BOUND / 2);

	assert_int_equal(read_back(path, &read, &end, &d), 0);
	assert_true(end.complete);
	assert_true(end.rotated > 0);
	assert_non_null(strstr(read.text, "cgroup 5 [/keeper]\n"));
	/* what was said bit by bit is said in one piece; of cgroups that nobody told of, nothing */
	assert_non_null(strstr(read.text, "cgroup 281474976710659 [freezer:/slurm/uid_0/job_3]\n"
					  "job 281474976710659 [3] [fluid] [alice]\n"));
	assert_null(strstr(read.text, "job 4711 "));
	assert_non_null(strstr(read.text, "follow 1\ntask 7 7 0 0 70 0 0 [keeper]\n"));
	assert_non_null(strstr(read.text, "task 8 8 7 70 80 0 0 [child]\n"));
	assert_non_null(strstr(read.text, "[orphan]\nfollow 7\nfollow 8\nfollow 9\n"));
	assert_null(strstr(read.text, "follow 2\n"));
	/* then the first mark, and from there all that was said */
	mark = strstr(read.text, "mark 1 0 ");
	assert_non_null(mark);
	rest = strchr(mark, '\n') + 1;
	assert_true(strlen(rest) > 100000);
	assert_string_equal(said.text + said.nr - strlen(rest), rest);
	/* the same mark in the original, but for its being the first */
	snprintf(first, sizeof(first), "%.*s", 40, strchr(mark + 7, ' '));
	assert_non_null(strstr(said.text, first));

	/* a new recording in its place removes what is left of it */
	assert_int_equal(recording_create(path, &sample_header, 0, &d, &w), 0);
	assert_int_equal(recording_finish(w, &d, &bytes), 0);
	size = 0;
	each_file(add_size, &size);
	assert_int_equal(size, bytes);
	free(read.text);
	free(said.text);
}

/* Rotation before anything is lost: announcements are not told twice. */
static void test_segments_together(void **state)
{
	struct event_log said = { 0 }, read = { 0 };
	struct trace_end end;
	struct diag d = { 0 };
	char second[160];

	(void)state;
	record(8, 30000, BOUND, &said);
	snprintf(second, sizeof(second), "%s.1", path);
	assert_int_equal(access(second, F_OK), 0);
	assert_int_equal(read_back(path, &read, &end, &d), 0);
	assert_int_equal(end.rotated, 0);
	assert_string_equal(said.text, read.text);
	free(read.text);
	read = (struct event_log){ 0 };
	/* an older segment that was cut is damage, not the work of a kill */
	assert_int_equal(truncate(second, 100000), 0);
	assert_int_equal(read_back(path, &read, &end, &d), -EBADMSG);
	assert_memory_equal(said.text, read.text, read.nr);
	free(read.text);
	free(said.text);
}

static void test_too_many_names(void **state)
{
	struct recording_writer *w;
	struct trace_sink sink;
	struct diag d = { 0 };
	uint64_t size = 0;
	int err = 0;

	(void)state;
	assert_int_equal(recording_create(path, &sample_header, BOUND, &d, &w), 0);
	sink = recording_sink(w);
	for (uint32_t i = 1; i < 200000 && !err; i++) {
		struct trace_task t = {
			.pid = i, .tgid = i, .start_ns = i, .comm = "sixteen bytes.."
		};

		err = trace_send_task(&sink, &t);
	}
	assert_int_equal(err, -ENOSPC);
	assert_int_equal(trace_send_resync(&sink, true), 0); /* told once */
	assert_int_equal(recording_finish(w, &d, NULL), -ENOSPC);
	assert_non_null(strstr(d.what, "do not fit"));
	each_file(add_size, &size);
	assert_in_range(size, 0, BOUND);
}

/* A writer that is killed at any time leaves all up to its last mark. */
static void check_killed(uint64_t max_bytes, unsigned int wait_marks)
{
	struct event_log got = { 0 };
	struct trace_end end;
	struct diag d = { 0 };
	uint64_t told = 0, marks;
	int fds[2], status;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct recording_writer *w;
		struct trace_sink sink;

		if (recording_create(path, &sample_header, max_bytes, &d, &w))
			_exit(1);
		sink = recording_sink(w);
		for (marks = 1;; marks++) {
			for (int i = 0; i < 500; i++)
				random_slice(&sink, marks * 1000000, false);
			random_mark(&sink, marks * 1000000, marks == 1, false, false);
			if (write(fds[1], &marks, sizeof(marks)) != sizeof(marks))
				_exit(1);
		}
	}
	close(fds[1]);
	while (told < wait_marks)
		assert_int_equal(read(fds[0], &told, sizeof(told)), sizeof(told));
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	assert_true(WIFSIGNALED(status));
	while (read(fds[0], &marks, sizeof(marks)) == sizeof(marks))
		told = marks;
	close(fds[0]);

	assert_int_equal(read_back(path, &got, &end, &d), 0);
	assert_false(end.complete);
	if (max_bytes) {
		char last[64];

		snprintf(last, sizeof(last), "mark 0 0 %llu ", LLU(told * 1000000));
		assert_true(end.rotated > 0);
		assert_non_null(strstr(got.text, last));
	} else {
		assert_true(got.marks >= told);
	}
	free(got.text);
	empty_dir(NULL);
}

static void test_killed(void **state)
{
	(void)state;
	check_killed(0, 1);
	check_killed(0, 40);
	check_killed(BOUND, 400);
	check_killed(BOUND, 411);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_round_trip, empty_dir),
		cmocka_unit_test_teardown(test_header, empty_dir),
		cmocka_unit_test_teardown(test_other_versions, empty_dir),
		cmocka_unit_test(test_indexes),
		cmocka_unit_test_teardown(test_refused, empty_dir),
		cmocka_unit_test_teardown(test_full_disk, empty_dir),
		cmocka_unit_test_teardown(test_cut_anywhere, empty_dir),
		cmocka_unit_test_teardown(test_corrupt_anywhere, empty_dir),
		cmocka_unit_test_teardown(test_damage_is_named, empty_dir),
		cmocka_unit_test_teardown(test_sink_errors, empty_dir),
		cmocka_unit_test_teardown(test_mutations, empty_dir),
		cmocka_unit_test_teardown(test_rotation, empty_dir),
		cmocka_unit_test_teardown(test_segments_together, empty_dir),
		cmocka_unit_test_teardown(test_too_many_names, empty_dir),
		cmocka_unit_test_teardown(test_killed, empty_dir),
	};

	return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
