// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Programs that are sources of counters: their lines, what becomes of their readings, their end. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "live/program/program.h"

#define MS 1000000ull

/* --- lines */

struct taken {
	char text[256];
	size_t longest;
};

static void take(void *arg, const char *text, size_t size)
{
	struct taken *t = arg;
	size_t n = strlen(t->text);

	if (size > t->longest)
		t->longest = size;
	if (size < 64)
		snprintf(t->text + n, sizeof(t->text) - n, "[%.*s]", (int)size, text);
}

static void lines_are_cut(void **state)
{
	struct taken t = { 0 };
	struct program_lines l = { .take = take, .arg = &t };
	int fds[2];

	(void)state;
	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	assert_int_equal(program_lines_read(&l, fds[0], 100), 0);
	assert_int_equal(write(fds[1], "one\n\ntw", 7), 7);
	assert_int_equal(program_lines_read(&l, fds[0], 100), 7);
	assert_string_equal(t.text, "[one]");
	assert_int_equal(write(fds[1], "o\nhalf", 6), 6);
	close(fds[1]);
	assert_int_equal(program_lines_read(&l, fds[0], 100), 6);
	assert_string_equal(t.text, "[one][two]");
	assert_int_equal(program_lines_read(&l, fds[0], 100), -EPIPE);
	assert_true(program_lines_end(&l));
	assert_false(program_lines_end(&l));
	close(fds[0]);
	program_lines_free(&l);
}

/* 300 KB without a newline are no line, and cost no memory; what follows is one. */
static void long_lines_are_left_out(void **state)
{
	static char many[30000];
	struct taken t = { 0 };
	struct program_lines l = { .take = take, .arg = &t };
	int fds[2];

	(void)state;
	memset(many, 'x', sizeof(many));
	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(write(fds[1], many, sizeof(many)), sizeof(many));
		assert_int_equal(program_lines_read(&l, fds[0], sizeof(many)), sizeof(many));
	}
	assert_int_equal(write(fds[1], "\nnext\n", 6), 6);
	assert_int_equal(program_lines_read(&l, fds[0], 100), 6);
	assert_string_equal(t.text, "[next]");
	assert_int_equal(t.longest, 4);
	assert_int_equal(l.too_long, 1);
	close(fds[0]);
	close(fds[1]);
	program_lines_free(&l);
}

/* --- headers and readings */

#define START "{\"schema\":\"t410trace.source/1\",\"name\":\"bmc\","

static int header(const char *text, struct diag *d, struct program_header *ret)
{
	return program_header_parse(text, strlen(text), d, ret);
}

/* A line of values; nothing else is one. */
static int reading_of(const char *text, const struct program_header *h, struct diag *d,
		      struct program_reading *ret)
{
	static struct program_users users;
	enum program_line kind;
	int err = program_line_parse(text, strlen(text), h, d, &kind, ret, &users);

	return !err && kind != PROGRAM_READING ? -EINVAL : err;
}

static void header_is_read(void **state)
{
	struct program_header h, other;
	const struct program_counter *c;
	struct diag d = { 0 };

	(void)state;
	assert_int_equal(header(START
				"\"every_ms\":250,\"counters\":[{\"name\":\"in\","
				"\"direction\":\"write\",\"source\":\"cpu\","
				"\"destination\":\"cmem\",\"unit\":\"bytes\",\"socket\":1,"
				"\"cpus\":\"4-7\"},{\"name\":\"out\",\"direction\":\"read\"}]}",
				&d, &h),
			 0);
	assert_string_equal(h.name, "bmc");
	assert_int_equal(h.every_ns, 250 * MS);
	assert_int_equal(h.nr, 2);
	c = &h.counters[0];
	assert_string_equal(c->counter.name, "bmc/in");
	assert_string_equal(c->counter.pmu, "bmc");
	assert_string_equal(c->counter.event, "in");
	assert_int_equal(c->counter.source, SOURCE_CPU);
	assert_int_equal(c->counter.direction, DIRECTION_WRITE);
	assert_int_equal(c->counter.destination, DESTINATION_CMEM);
	assert_true(c->socket_given && c->socket == 1 && c->cpus_given);
	assert_int_equal(cpulist_count(&c->cpus), 4);
	assert_int_equal(h.counters[1].counter.source, SOURCE_ANY);
	assert_false(h.counters[1].socket_given || h.counters[1].cpus_given);
	assert_true(program_header_same(&h, &h));
	assert_int_equal(header(START "\"counters\":[{\"name\":\"in\",\"direction\":\"read\"}]}",
				&d, &other),
			 0);
	assert_int_equal(other.every_ns, NS_PER_S);
	assert_false(program_header_same(&h, &other));
	program_header_free(&other);
	program_header_free(&h);
}

static void wrong_headers_are_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} wrong[] = {
		{ "", "expected" },
		{ "[]", "must be a JSON object" },
		{ "{\"name\":\"bmc\"}", "\"schema\" is missing" },
		{ "{\"schema\":\"t410trace.source/2\",\"name\":\"x\"}",
		  "must be \"t410trace.source/1" },
		{ START "\"counters\":[]}", "is empty" },
		{ START "\"counter\":[]}", "\"counter\" is not known" },
		{ START "\"every_ms\":0,\"counters\":[]}", "must not be 0" },
		{ START "\"counters\":[7]}", "must be an object" },
		{ START "\"counters\":[{\"name\":\"a b\",\"direction\":\"read\"}]}", "letters" },
		{ START "\"counters\":[{\"name\":\"\",\"direction\":\"read\"}]}", "empty" },
		{ START "\"counters\":[{\"name\":\"a\"}]}", "\"direction\" is missing" },
		{ START "\"counters\":[{\"name\":\"a\",\"direction\":\"up\"}]}",
		  "must be \"read\"" },
		{ START
		  "\"counters\":[{\"name\":\"a\",\"direction\":\"read\",\"unit\":\"requests\"}]}",
		  "\"unit\" must be" },
		{ START "\"counters\":[{\"name\":\"a\",\"unit\":\"bytes\"}]}",
		  "\"direction\" is missing" },
		{ START "\"counters\":[{\"name\":\"a\",\"direction\":\"read\","
			"\"unit\":\"joules\"}]}",
		  "energy has no \"direction\"" },
		{ START "\"counters\":[{\"name\":\"a\",\"destination\":\"cmem\","
			"\"unit\":\"microjoules\"}]}",
		  "energy has no \"destination\"" },
		{ START "\"counters\":[{\"name\":\"a\",\"unit\":\"joule\"}]}",
		  "\"unit\" must be \"bytes\", \"joules\"" },
		{ START "\"counters\":[{\"name\":\"a\",\"direction\":\"read\",\"dest\":1}]}",
		  "\"dest\" is not known" },
		{ START "\"counters\":[{\"name\":\"a\",\"direction\":\"read\",\"cpus\":\"1\"}]}",
		  "needs a \"socket\"" },
		{ START "\"counters\":[{\"name\":\"a\",\"direction\":\"read\",\"socket\":0,"
			"\"cpus\":\"\"}]}",
		  "must be a list" },
		{ START "\"counters\":[{\"name\":\"a\",\"direction\":\"read\"},"
			"{\"name\":\"a\",\"direction\":\"read\"}]}",
		  "two counters are called a" },
	};
	struct program_header h;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct diag d = { 0 };

		if (header(wrong[i].text, &d, &h) != -EBADMSG || !strstr(d.what, wrong[i].why))
			fail_msg("%s: %s", wrong[i].text, d.what);
		assert_null(h.counters);
	}
}

/* Units of energy are one in reports, and a direction may be both. */
static void units_are_read(void **state)
{
	static const struct {
		const char *unit, *most, *more;
		uint64_t scale;
	} rows[] = {
		{ "joules", "9223372036", "9223372037", 1000000000 },
		{ "millijoules", "9223372036854", "9223372036855", 1000000 },
		{ "microjoules", "9223372036854775", "9223372036854776", 1000 },
		{ "nanojoules", "9223372036854775807", "9223372036854775808", 1 },
	};
	struct program_header h, first = { 0 };
	struct program_reading r;
	struct diag d = { 0 };
	char text[300];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		snprintf(text, sizeof(text),
			 START "\"counters\":[{\"name\":\"e\",\"unit\":\"%s\"},{\"name\":\"b\","
			       "\"direction\":\"readwrite\"}]}",
			 rows[i].unit);
		assert_int_equal(header(text, &d, &h), 0);
		assert_int_equal(h.counters[0].counter.unit, UNIT_NANOJOULES);
		assert_int_equal(h.counters[0].counter.direction, DIRECTION_READWRITE);
		assert_int_equal(h.counters[1].counter.unit, UNIT_BYTES);
		assert_int_equal(h.counters[1].counter.direction, DIRECTION_READWRITE);
		snprintf(text, sizeof(text), "{\"time_ns\":5,\"values\":[7,9]}");
		assert_int_equal(reading_of(text, &h, &d, &r), 0);
		assert_int_equal(r.values[0], 7 * rows[i].scale);
		assert_int_equal(r.values[1], 9);
		snprintf(text, sizeof(text), "{\"time_ns\":5,\"values\":[%s,9]}", rows[i].most);
		assert_int_equal(reading_of(text, &h, &d, &r), 0);
		snprintf(text, sizeof(text), "{\"time_ns\":5,\"values\":[%s,9]}", rows[i].more);
		assert_int_equal(reading_of(text, &h, &d, &r), -EBADMSG);
		/* Started again with another unit, its values would mean something else. */
		if (i)
			assert_false(program_header_same(&first, &h));
		program_header_free(&first);
		first = h;
	}
	program_header_free(&first);
}

static void readings_are_read(void **state)
{
	struct program_counter counters[2] = { { .scale = 1 }, { .scale = 1, .place = 1 } };
	const struct program_header h = { .counters = counters, .nr = 2, .nr_values = 2 };
	static const char *const wrong[] = {
		"{\"time_ns\":1}",
		"{\"values\":[1,2]}",
		"{\"time_ns\":1,\"values\":[1]}",
		"{\"time_ns\":1,\"values\":[1,2,3]}",
		"{\"time_ns\":1,\"values\":[1,-2]}",
		"{\"time_ns\":1,\"values\":[1,2.5]}",
		"{\"time_ns\":1,\"values\":[1,18446744073709551615]}",
		"{\"time_ns\":-1,\"values\":[1,2]}",
		"{\"time_ns\":1,\"time_ns\":2,\"values\":[1,2]}",
		"{\"time_ns\":1,\"values\":[1,2],\"x\":0}",
		"{\"time_ns\":1,\"values\":[1,2]",
	};
	const char *good = "{\"time_ns\":5,\"values\":[null,\"9223372036854775807\"]}";
	struct program_reading r;
	struct diag d = { 0 };

	(void)state;
	assert_int_equal(reading_of(good, &h, &d, &r), 0);
	assert_int_equal(r.time_ns, 5);
	assert_false(r.read[0]);
	assert_true(r.read[1] && r.values[1] == INT64_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		if (reading_of(wrong[i], &h, &d, &r) != -EBADMSG)
			fail_msg("%s", wrong[i]);
}

/* --- windows */

struct world {
	struct program_windows w;
	struct trace_sink sink;
	uint64_t now;
	uint64_t bytes;
	uint64_t end_ns;
	unsigned int nr;
	int refuse;
};

static int on_event(void *arg, const struct trace_event *e)
{
	struct world *w = arg;

	assert_int_equal(e->type, TRACE_WINDOW);
	assert_int_equal(e->window.group, 7);
	if (w->refuse)
		return w->refuse;
	assert_true(e->window.start_ns >= w->end_ns && e->window.end_ns > e->window.start_ns);
	assert_int_equal(e->window.readings->running_ns, e->window.end_ns - e->window.start_ns);
	assert_int_equal(e->window.readings->enabled_ns, e->window.readings->running_ns);
	w->bytes += e->window.readings->value;
	w->end_ns = e->window.end_ns;
	w->nr++;
	return 0;
}

/* The books begin at 1000 s. */
#define BEGIN (1000 * NS_PER_S)

static void begin(struct world *w)
{
	*w = (struct world){ .now = BEGIN };
	w->sink = (struct trace_sink){ on_event, w };
	w->w.nr = 1;
	w->w.groups[0] = 7;
	w->w.out = &w->sink;
	w->w.window_ns = 10 * MS;
	w->w.begin_ns = BEGIN;
}

/* A reading at a time in ms after the begin, taken at once. */
static enum program_verdict reading(struct world *w, uint64_t ms, uint64_t value)
{
	struct program_reading r = { .time_ns = BEGIN + ms * MS, .nr = 1 };
	enum program_verdict verdict;

	r.read[0] = true;
	r.values[0] = value;
	if (w->now < r.time_ns)
		w->now = r.time_ns;
	assert_int_equal(program_windows_take(&w->w, &r, w->now, &verdict), 0);
	return verdict;
}

static void differences_become_windows(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	w.now = BEGIN + 100 * MS;
	w.w.begin_ns = BEGIN + 5 * MS;
	assert_int_equal(reading(&w, 0, 5000), PROGRAM_EARLY);
	assert_int_equal(reading(&w, 10, 7000), PROGRAM_GOOD);
	assert_int_equal(reading(&w, 20, 7003), PROGRAM_GOOD);
	assert_int_equal(w.nr, 0); /* nothing confirms it */
	reading(&w, 30, 7003);
	assert_int_equal(w.bytes, 3);
	reading(&w, 40, 7013);
	assert_int_equal(w.nr, 2); /* nothing was counted: that is a number, too */
	assert_int_equal(program_windows_flush(&w.w), 0);
	assert_int_equal(program_windows_flush(&w.w), 0);
	assert_int_equal(w.nr, 3);
	assert_int_equal(w.bytes, 13);
	assert_int_equal(w.end_ns, BEGIN + 40 * MS);
}

/* Thousands of lines are some windows, and no byte less. */
static void floods_are_put_together(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	for (uint64_t i = 0; i <= 1000; i++)
		reading(&w, i, i * 11);
	program_windows_flush(&w.w);
	assert_int_equal(w.bytes, 11000);
	assert_in_range(w.nr, 100, 201);
}

static int take_any(void *arg, const struct trace_event *e)
{
	(void)arg;
	(void)e;
	return 0;
}

/* One of two counters has no value: the other one does not hide it. To begin anew is no trouble. */
static void one_bad_counter_is_trouble(void **state)
{
	struct program p = { .greeted = true, .started_ns = BEGIN, .name = "bmc" };
	struct program_reading r = { .nr = 2, .read = { true, true } };
	enum program_verdict verdict;
	struct diag d = { 0 };
	const struct trace_sink any = { take_any, NULL };
	struct world w;
	char text[256];

	(void)state;
	begin(&w);
	assert_int_equal(header(START "\"counters\":[{\"name\":\"in\",\"direction\":\"read\"},"
				      "{\"name\":\"out\",\"direction\":\"write\"}]}",
				&d, &p.header),
			 0);
	p.windows = w.w;
	p.windows.nr = 2;
	p.windows.out = &any;
	for (int i = 1; i <= 40; i++) {
		p.good_ns = r.time_ns = BEGIN + i * NS_PER_S;
		r.read[1] = i < 5 || i > 20;
		r.values[0] = r.values[1] = 1000 + i;
		if (i > 25)
			r.values[1] = 40 - i; /* ever less */
		assert_int_equal(program_windows_take(&p.windows, &r, r.time_ns, &verdict), 0);
		assert_int_equal(verdict, PROGRAM_GOOD);
		assert_int_equal(program_trouble(&p, r.time_ns, text, sizeof(text)),
				 i > 14 && i <= 20);
		if (i > 14 && i <= 20)
			assert_non_null(strstr(text, "bmc/out"));
	}
	program_header_free(&p.header);
}

static void lines_out_of_time_are_refused(void **state)
{
	struct program_reading future = { .time_ns = BEGIN + 100 * MS, .nr = 1 };
	enum program_verdict verdict;
	struct world w;

	(void)state;
	begin(&w);
	reading(&w, 10, 100);
	reading(&w, 20, 200);
	assert_int_equal(reading(&w, 20, 200), PROGRAM_AGAIN);
	assert_int_equal(reading(&w, 20, 900), PROGRAM_AGAIN);
	assert_int_equal(reading(&w, 15, 150), PROGRAM_BACKWARD);
	program_windows_take(&w.w, &future, BEGIN + 99 * MS, &verdict);
	assert_int_equal(verdict, PROGRAM_FUTURE);
	w.now = BEGIN + 6000 * MS;
	assert_int_equal(reading(&w, 900, 300), PROGRAM_LATE);
	assert_int_equal(reading(&w, 1100, 400), PROGRAM_GOOD);
	program_windows_flush(&w.w);
	assert_int_equal(w.bytes, 300); /* those of the late line are in the next window */
	assert_int_equal(w.w.uncounted_ns, 0);
}

static void what_is_not_read_comes_with_the_next(void **state)
{
	struct program_reading r = { .time_ns = BEGIN + 20 * MS, .nr = 1 };
	enum program_verdict verdict;
	struct world w;

	(void)state;
	begin(&w);
	reading(&w, 10, 100);
	assert_int_equal(program_windows_take(&w.w, &r, w.now = r.time_ns, &verdict), 0);
	assert_int_equal(verdict, PROGRAM_GOOD);
	assert_int_equal(w.w.failed, 1);
	reading(&w, 30, 350);
	program_windows_flush(&w.w);
	assert_int_equal(w.nr, 1);
	assert_int_equal(w.bytes, 250);
}

/* A total that is less for a moment is out of order; one that stays there began anew. */
static void totals_that_fall(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	reading(&w, 0, 1000);
	reading(&w, 100, 2000);
	reading(&w, 200, 5);
	reading(&w, 300, 2500);
	program_windows_flush(&w.w);
	assert_int_equal(w.bytes, 1500);
	assert_int_equal(w.w.failed, 1);
	for (uint64_t ms = 400; ms <= 3500; ms += 100)
		reading(&w, ms, ms / 2);
	program_windows_flush(&w.w);
	assert_int_equal(w.w.restarts, 1);
	assert_int_equal(w.w.uncounted_ns, 3200 * MS);
	assert_int_equal(w.bytes, 1500); /* nothing of the gap: no huge difference either */
	reading(&w, 3600, 1950);
	program_windows_flush(&w.w);
	assert_int_equal(w.bytes, 1700);
	assert_int_equal(w.end_ns, BEGIN + 3600 * MS);
}

/* A number far too large that the next line takes back was never counted. */
static void one_line_that_leaps(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	reading(&w, 0, 1000);
	reading(&w, 100, 1100);
	reading(&w, 200, INT64_MAX);
	reading(&w, 300, 1300);
	program_windows_flush(&w.w);
	assert_int_equal(w.bytes, 300);
	assert_int_equal(w.w.failed, 1);
	assert_int_equal(w.w.restarts, 0);
}

static void started_again_is_a_gap(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	reading(&w, 0, 1000);
	reading(&w, 100, 1100);
	program_windows_flush(&w.w);
	program_windows_anew(&w.w);
	reading(&w, 2100, 999999);
	reading(&w, 2200, 1000000);
	program_windows_flush(&w.w);
	assert_int_equal(w.bytes, 101);
	assert_int_equal(w.w.restarts, 1);
	assert_int_equal(w.w.uncounted_ns, 2000 * MS);
}

static void refused_windows_are_not_lost(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	reading(&w, 0, 1000);
	reading(&w, 100, 1100);
	w.refuse = -EINVAL;
	assert_int_equal(program_windows_flush(&w.w), 0);
	assert_int_equal(w.w.bad, 1);
	w.refuse = 0;
	reading(&w, 200, 1200);
	program_windows_flush(&w.w);
	assert_int_equal(w.bytes, 200);
	reading(&w, 300, 1300);
	w.refuse = -ENOSPC;
	assert_int_equal(program_windows_flush(&w.w), -ENOSPC);
}

/* --- programs */

#define HEAD                                                                   \
	"printf '%s\\n' '{\"schema\":\"t410trace.source/1\",\"name\":\"toy\"," \
	"\"counters\":[{\"name\":\"a\",\"direction\":\"read\"}]}'; "

static void pause_ms(unsigned int ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * MS }, NULL);
}

static bool heard(struct program *p, const char *words)
{
	char text[PROGRAM_NEWS_LEN];
	bool found = false;

	while (program_news(p, text, sizeof(text)))
		found |= strstr(text, words) != NULL;
	return found;
}

#define HANGS "sleep 100"

static void no_header_is_told(void **state)
{
	static const struct {
		const char *command, *what, *help;
	} wrong[] = {
		{ "echo 'no BMC here' >&2; exit 3", "ended with status 3", "no BMC here" },
		{ "echo '{}'", "\"schema\" is missing", "docs/SOURCES.md" },
		{ "no-such-program-at-all", "ended with status 127", "not found" },
		{ "kill -9 $$", "ended by signal 9", "docs" },
		{ HANGS, "no header", "nothing on standard error" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		/* A shell may get no CPU for longer than anybody wants to wait for the one that hangs. */
		uint64_t ms = strcmp(wrong[i].command, HANGS) ? 60000 : 1000;
		struct program p = { 0 };
		struct diag d = { 0 };

		assert_int_equal(program_open(&p, wrong[i].command, 1, &d), 0);
		assert_int_equal(program_greet(&p, monotonic_ns() + ms * MS, &d), -ENODATA);
		if (!strstr(d.what, wrong[i].what) || !strstr(d.help, wrong[i].help))
			fail_msg("%s: %s; %s", wrong[i].command, d.what, d.help);
		program_free(&p);
	}
}

static void it_is_started_again(void **state)
{
	struct program p = { 0 };
	struct diag d = { 0 };
	uint64_t end = monotonic_ns() + 60 * NS_PER_S;

	(void)state;
	assert_int_equal(program_open(&p, HEAD "sleep 0.1; printf '{\"ti'; exit 4", 1, &d), 0);
	assert_int_equal(program_greet(&p, end, &d), 0);
	assert_string_equal(p.name, "toy");
	while (!p.restarts && monotonic_ns() < end) {
		assert_int_equal(program_step(&p, monotonic_ns()), 0);
		pause_ms(10);
	}
	assert_int_equal(p.restarts, 1);
	assert_int_equal(p.bad_lines, 1); /* the half line */
	assert_true(heard(&p, "ended with status 4; it is started again in 1 s"));
	program_free(&p);
}

/* Nothing of its group is left, whatever it does with signals, and its errors have its name. */
static void its_group_ends_with_it(void **state)
{
	struct program p = { 0 };
	struct diag d = { 0 };
	uint64_t end = monotonic_ns() + 60 * NS_PER_S;
	int child = 0,
	    fd = open("/proc/self/status", O_RDONLY); /* no descriptor of ours is left to it */

	(void)state;
	assert_int_equal(program_open(&p,
				      "trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & "
				      "echo $! >&2; ls /proc/self/fd | wc -l >&2; " HEAD "wait",
				      1, &d),
			 0);
	assert_int_equal(program_greet(&p, end, &d), 0);
	pause_ms(300);
	program_step(&p, monotonic_ns());
	assert_int_equal(sscanf(p.news[0], "source 1: %d", &child), 1);
	assert_string_equal(p.news[1], "source 1: 4"); /* 0, 1, 2 and that of ls */
	assert_int_equal(kill(child, 0), 0);
	program_free(&p);
	/* It waits for init, which may take a moment. */
	while (!kill(child, 0) && monotonic_ns() < end)
		pause_ms(10);
	assert_true(kill(child, 0) && errno == ESRCH);
	close(fd);
}

/* Whatever it prints, and wherever: no control of a terminal gets through. */
static void its_words_do_no_harm(void **state)
{
	static const char *const prints[] = {
		"printf 'slow \\033[31m \\233 \\302\\233 \\342\\200\\256\\n' >&2; ",
		"printf '{\"\\\\u001b[31m\":1}\\n'; ",
		"printf '\\033[31m\\n'; ",
		"printf '\\302\\233\\n'; ",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(prints) / sizeof(*prints); i++) {
		uint64_t end = monotonic_ns() + 60 * NS_PER_S;
		struct program p = { 0 };
		struct diag d = { 0 };
		char command[512];

		snprintf(command, sizeof(command), "%ssleep 0.1; %ssleep 100", HEAD, prints[i]);
		assert_int_equal(program_open(&p, command, 1, &d), 0);
		assert_int_equal(program_greet(&p, end, &d), 0);
		while (!p.nr_news && monotonic_ns() < end) {
			program_step(&p, monotonic_ns());
			pause_ms(10);
		}
		assert_int_equal(p.nr_news, 1);
		assert_non_null(strchr(p.news[0], '?'));
		for (const char *c = p.news[0]; *c; c++)
			assert_in_range(*c, ' ', '~');
		program_free(&p);
	}
}

/* The one that is started by somebody who is killed. */
static void it_does_not_outlive_us(void **state)
{
	char text[32] = "";
	int fds[2], child = 0;
	pid_t pid;
	uint64_t end = monotonic_ns() + 60 * NS_PER_S;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		struct program p = { 0 };
		struct diag d = { 0 };

		program_open(&p, "echo $$ >&2; while :; do sleep 1; done", 1, &d);
		while (!p.nr_news)
			program_step(&p, monotonic_ns());
		if (write(fds[1], p.said, sizeof(text)) < 0)
			_exit(1);
		pause();
	}
	assert_true(read(fds[0], text, sizeof(text)) > 0);
	assert_int_equal(sscanf(text, "%d", &child), 1);
	assert_int_equal(kill(child, 0), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	while (!kill(child, 0) && monotonic_ns() < end)
		pause_ms(10);
	assert_true(kill(child, 0) && errno == ESRCH);
	close(fds[0]);
	close(fds[1]);
}

/* A driver that hangs can hold a program against SIGKILL: its guard is left, and ends it later. */
static void one_that_cannot_end_is_left(void **state)
{
	struct program p = { 0 };
	struct diag d = { 0 };
	pid_t guard;

	(void)state;
	assert_int_equal(program_open(&p, "sleep 60", 1, &d), 0);
	guard = p.process.guard;
	assert_int_equal(kill(guard, SIGSTOP), 0);
	/* it comes back, which a wait for the guard would not */
	program_free(&p);
	assert_int_equal(kill(guard, 0), 0);
	assert_int_equal(kill(guard, SIGCONT), 0);
	assert_int_equal(waitpid(guard, NULL, 0), guard);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_cut),
		cmocka_unit_test(long_lines_are_left_out),
		cmocka_unit_test(header_is_read),
		cmocka_unit_test(wrong_headers_are_refused),
		cmocka_unit_test(units_are_read),
		cmocka_unit_test(readings_are_read),
		cmocka_unit_test(differences_become_windows),
		cmocka_unit_test(floods_are_put_together),
		cmocka_unit_test(one_bad_counter_is_trouble),
		cmocka_unit_test(lines_out_of_time_are_refused),
		cmocka_unit_test(what_is_not_read_comes_with_the_next),
		cmocka_unit_test(totals_that_fall),
		cmocka_unit_test(one_line_that_leaps),
		cmocka_unit_test(started_again_is_a_gap),
		cmocka_unit_test(refused_windows_are_not_lost),
		cmocka_unit_test(no_header_is_told),
		cmocka_unit_test(it_is_started_again),
		cmocka_unit_test(its_group_ends_with_it),
		cmocka_unit_test(its_words_do_no_harm),
		cmocka_unit_test(it_does_not_outlive_us),
		cmocka_unit_test(one_that_cannot_end_is_left),
	};

	return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}
