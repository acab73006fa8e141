// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lines of programs about the users of devices: read, judged, and made events. */
#include "events.h"

#include "base/array.h"
#include "base/clock.h"
#include "live/program/program.h"

#define GPU   "\"0009:01:00.0\""
#define START "{\"schema\":\"t410trace.source/1\",\"name\":\"gpu\","
#define HEADER                                                                                    \
	START "\"devices\":[{\"address\":" GPU ",\"link\":\"c2c\",\"uuid\":\"GPU-5\"},"           \
	      "{\"address\":\"000a:01:00.0\"}],\"counters\":["                                    \
	      "{\"name\":\"a\",\"direction\":\"read\",\"source\":\"device\",\"device\":" GPU "}," \
	      "{\"name\":\"b\",\"direction\":\"read\",\"socket\":1}]}"
#define BEGIN (1000 * NS_PER_S)

static struct program_users users;

static int parse(const char *text, const struct program_header *h, struct diag *d)
{
	struct program_reading r = { 0 };
	enum program_line kind;
	int err = program_line_parse(text, strlen(text), h, d, &kind, &r, &users);

	assert_true(err || kind == (strstr(text, "values") ? PROGRAM_READING : PROGRAM_USERS));
	if (!err && kind == PROGRAM_READING)
		assert_true(r.nr == 1 && r.values[0] == 8);
	return err;
}

static void read_header(struct program_header *ret)
{
	struct diag d = { 0 };

	assert_int_equal(program_header_parse(HEADER, strlen(HEADER), &d, ret), 0);
}

static void header_is_read(void **state)
{
	struct program_header h, other;
	struct diag d = { 0 };
	const char *no_counters = START "\"devices\":[{\"address\":" GPU "}],\"counters\":[]}";

	(void)state;
	read_header(&h);
	assert_int_equal(h.nr_devices, 2);
	assert_string_equal(h.devices[0].address, "0009:01:00.0");
	assert_int_equal(h.devices[0].link, LINK_C2C);
	assert_string_equal(h.devices[0].uuid, "GPU-5");
	assert_int_equal(h.devices[1].link, LINK_UNKNOWN);
	/* The counter of the device is not used, but has its place in a line. */
	assert_int_equal(h.nr, 1);
	assert_int_equal(h.nr_values, 2);
	assert_string_equal(h.counters[0].counter.name, "gpu/b");
	assert_int_equal(parse("{\"time_ns\":5,\"values\":[7,8]}", &h, &d), 0);
	assert_int_equal(program_header_parse(no_counters, strlen(no_counters), &d, &other), 0);
	assert_int_equal(other.nr, 0);
	assert_true(program_header_same(&h, &h));
	assert_false(program_header_same(&h, &other));
	program_header_free(&other);
	program_header_free(&h);
}

/* Bytes of links have the device; the same name of two devices is no mistake, of one it is. */
static void links_are_counted(void **state)
{
#define LINK(of) \
	"{\"name\":\"c2c_in\",\"direction\":\"read\",\"source\":\"device\",\"device\":" of "}"
	static const char *const texts[] = {
		START "\"devices\":[{\"address\":" GPU "},{\"address\":\"000a:01:00.0\"}],"
		      "\"counters\":[" LINK("\"000a:01:00.0\"") "," LINK(GPU) "]}",
		START "\"devices\":[{\"address\":" GPU
		      "}],\"counters\":[" LINK(GPU) "," LINK(GPU) "]}",
	};
#undef LINK
	struct program_header h, other;
	struct diag d = { 0 };

	(void)state;
	assert_int_equal(program_header_parse(texts[0], strlen(texts[0]), &d, &h), 0);
	assert_int_equal(h.nr, 2);
	assert_int_equal(h.counters[0].device, 2);
	assert_int_equal(h.counters[1].device, 1);
	assert_string_equal(h.counters[0].counter.name, "gpu/000a:01:00.0/c2c_in");
	assert_int_equal(h.counters[1].place, 1);
	assert_int_equal(h.counters[1].counter.direction, DIRECTION_READ);
	program_header_free(&h);
	assert_int_equal(program_header_parse(texts[1], strlen(texts[1]), &d, &other), -EBADMSG);
	assert_non_null(strstr(d.what, "two counters"));
}

static void wrong_headers_are_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} wrong[] = {
		{ "\"devices\":[],\"counters\":[]}", "is empty" },
		{ "\"devices\":[{\"address\":\"9:1:0.0\"}],\"counters\":[]}", "PCI address" },
		{ "\"devices\":[{}],\"counters\":[]}", "\"address\" is missing" },
		{ "\"devices\":[7],\"counters\":[]}", "must be an object" },
		{ "\"devices\":[{\"address\":" GPU "},{\"address\":" GPU "}],\"counters\":[]}",
		  "there twice" },
		{ "\"devices\":[{\"address\":" GPU ",\"link\":\"usb\"}],\"counters\":[]}",
		  "\"link\"" },
		{ "\"devices\":[{\"address\":" GPU ",\"bus\":1}],\"counters\":[]}", "not known" },
		{ "\"counters\":[{\"name\":\"a\",\"direction\":\"read\",\"device\":" GPU "}]}",
		  "must be an address of" },
		{ "\"devices\":[{\"address\":" GPU "}],\"counters\":[{\"name\":\"a\","
		  "\"direction\":\"read\",\"device\":" GPU "}]}",
		  "has \"source\" \"device\"" },
	};
	struct program_header h;
	char text[400];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct diag d = { 0 };

		snprintf(text, sizeof(text), "%s%s", START, wrong[i].text);
		assert_int_equal(program_header_parse(text, strlen(text), &d, &h), -EBADMSG);
		if (!strstr(d.what, wrong[i].why))
			fail_msg("%s: %s", text, d.what);
	}
}

static void lines_are_read(void **state)
{
	struct program_header h;
	struct diag d = { 0 };

	(void)state;
	read_header(&h);
	assert_int_equal(parse("{\"time_ns\":50,\"device\":\"000a:01:00.0\",\"contexts\":["
			       "{\"pid\":7,\"start_ns\":5,\"instance\":0,\"since_ns\":40},"
			       "{\"pid\":7,\"start_ns\":5,\"instance\":3}]}",
			       &h, &d),
			 0);
	assert_true(users.known && !users.active);
	assert_true(users.contexts.device == 1 && users.contexts.nr == 2);
	assert_true(users.context[0].instance == 0 && users.context[0].since_ns == 40);
	assert_true(users.context[1].instance == 3 && users.context[1].since_ns == 50);
	assert_int_equal(parse("{\"time_ns\":50,\"device\":" GPU ",\"contexts\":null}", &h, &d), 0);
	assert_true(!users.known && !users.active && !users.contexts.nr);
	assert_int_equal(parse("{\"time_ns\":50,\"since_ns\":20,\"device\":" GPU ",\"activity\":["
			       "{\"pid\":7,\"start_ns\":5,\"busy_ns\":40,\"copy_ns\":40}],"
			       "\"samples\":2,\"period_ns\":15}",
			       &h, &d),
			 0);
	assert_true(users.active && users.activity.start_ns == 20 && users.activity.copies);
	assert_true(users.activity.samples == 2 && users.activity.period_ns == 15);
	assert_true(users.busy[0].busy_ns == 40 && users.busy[0].copy_ns == 40);
	/* 1024 engines */
	assert_int_equal(parse("{\"time_ns\":50,\"since_ns\":20,\"device\":" GPU ",\"activity\":["
			       "{\"pid\":7,\"start_ns\":5,\"busy_ns\":30720}]}",
			       &h, &d),
			 0);
	program_header_free(&h);
}

static void wrong_lines_are_refused(void **state)
{
#define LINE(rest)    "{\"time_ns\":50,\"device\":" GPU "," rest "}"
#define CONTEXT(rest) LINE("\"contexts\":[" rest "]")
#define BUSY(rest)    LINE("\"since_ns\":20,\"activity\":[" rest "]")
	static const char *const wrong[] = {
		LINE("\"contexts\":7"),
		LINE("\"values\":[7,8]"),
		LINE("\"contexts\":[],\"more\":1"),
		LINE("\"contexts\":[],\"since_ns\":1"),
		"{\"device\":" GPU ",\"contexts\":[]}",
		"{\"time_ns\":50,\"device\":\"000b:01:00.0\",\"contexts\":[]}",
		"{\"time_ns\":50,\"device\":7,\"contexts\":[]}",
		CONTEXT("7"),
		CONTEXT("{\"pid\":7}"),
		CONTEXT("{\"pid\":0,\"start_ns\":5}"),
		CONTEXT("{\"pid\":4194305,\"start_ns\":5}"),
		CONTEXT("{\"pid\":7,\"start_ns\":50000000}"),
		CONTEXT("{\"pid\":7,\"start_ns\":5,\"since_ns\":51}"),
		CONTEXT("{\"pid\":7,\"start_ns\":5,\"instance\":4294967295}"),
		CONTEXT("{\"pid\":7,\"start_ns\":5},{\"pid\":7,\"start_ns\":6}"),
		LINE("\"activity\":[]"),
		"{\"time_ns\":50,\"since_ns\":51,\"device\":" GPU ",\"activity\":[]}",
		LINE("\"since_ns\":20,\"activity\":null"),
		LINE("\"since_ns\":20,\"activity\":[],\"samples\":7"),
		LINE("\"since_ns\":20,\"activity\":[],\"contexts\":[]"),
		LINE("\"contexts\":[]") "}",
		CONTEXT("{\"pid\":-7,\"start_ns\":5}"),
		CONTEXT("{\"pid\":7.5,\"start_ns\":5}"),
		CONTEXT("{\"pid\":1e99,\"start_ns\":5}"),
		CONTEXT("{\"pid\":7,\"start_ns\":-5}"),
		CONTEXT("{\"pid\":7,\"start_ns\":5,\"instance\":-1}"),
		CONTEXT("{\"pid\":7,\"pid\":7,\"start_ns\":5}"),
		"{\"time_ns\":-50,\"device\":" GPU ",\"contexts\":[]}",
		"{\"time_ns\":9223372036854775808,\"device\":" GPU ",\"contexts\":[]}",
		"{\"time_ns\":50,\"device\":\"0009:01:00.0\\u0000\",\"contexts\":[]}",
		"{\"time_ns\":50,\"device\":\"0009:01:00.0\xff\",\"contexts\":[]}",
		BUSY("{\"pid\":7,\"start_ns\":5,\"busy_ns\":-1}"),
		BUSY("{\"pid\":7,\"start_ns\":5,\"busy_ns\":30721}"),
		"{\"time_ns\":50,\"since_ns\":50,\"device\":" GPU
		",\"activity\":[{\"pid\":7,\"start_ns\":5,\"busy_ns\":1}]}",
		BUSY("{\"pid\":7,\"start_ns\":5}"),
		BUSY("{\"pid\":7,\"start_ns\":5,\"busy_ns\":1,\"copy_ns\":2}"),
		BUSY("{\"pid\":7,\"start_ns\":5,\"busy_ns\":1},{\"pid\":7,\"start_ns\":5,\"busy_"
		     "ns\":1}"),
	};
	static char many[40000];
	struct program_header h;
	struct diag d = { 0 };

	(void)state;
	read_header(&h);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		if (parse(wrong[i], &h, &d) != -EBADMSG)
			fail_msg("%s", wrong[i]);
	snprintf(many, sizeof(many), "{\"time_ns\":50,\"device\":" GPU ",\"contexts\":[");
	for (size_t i = 1; i <= TRACE_MAX_CONTEXTS + 1; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many),
			 "%s{\"pid\":%zu,\"start_ns\":5}", i > 1 ? "," : "", i);
	strcat(many, "]}");
	assert_int_equal(parse(many, &h, &d), -EBADMSG);
	program_header_free(&h);
}

/* --- events */

struct world {
	struct event_log log;
	struct trace_sink sink;
	struct program_windows w;
	struct program_looks looks;
};

static void begin(struct world *w)
{
	*w = (struct world){ .looks.device = 4 };
	w->sink = log_sink(&w->log);
	w->w.out = &w->sink;
	w->w.begin_ns = BEGIN;
}

/* Times are seconds behind the begin. */
static enum program_verdict look(struct world *w, int at, int now, bool known)
{
	enum program_verdict verdict;

	users.active = false;
	users.known = known;
	users.contexts = (struct trace_contexts){ .end_ns = BEGIN + at * NS_PER_S };
	assert_int_equal(
		program_users_take(&w->looks, &users, &w->w, BEGIN + now * NS_PER_S, &verdict), 0);
	return verdict;
}

static enum program_verdict busy(struct world *w, int since, int at, int now)
{
	enum program_verdict verdict;

	users.active = users.known = true;
	users.activity = (struct trace_activity){ .start_ns = BEGIN + since * NS_PER_S,
						  .end_ns = BEGIN + at * NS_PER_S };
	assert_int_equal(
		program_users_take(&w->looks, &users, &w->w, BEGIN + now * NS_PER_S, &verdict), 0);
	return verdict;
}

static void expect(struct world *w, const char *text)
{
	assert_string_equal(w->log.text ? w->log.text : "", text);
	w->log.nr = 0;
	if (w->log.text)
		w->log.text[0] = '\0';
}

/* A look covers the time since the one before, if that told who there was. */
static void looks_become_events(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	assert_int_equal(look(&w, -2, 0, true), PROGRAM_EARLY);
	expect(&w, "");
	look(&w, 1, 1, true);
	expect(&w, "contexts dev 4 1000000000000 1001000000000\n");
	look(&w, 2, 2, false);
	expect(&w, "");
	look(&w, 3, 3, true);
	expect(&w, "contexts dev 4 1003000000000 1003000000000\n");
	look(&w, 4, 4, true);
	expect(&w, "contexts dev 4 1003000000000 1004000000000\n");
	program_users_anew(&w.looks, 1);
	look(&w, 5, 5, true);
	expect(&w, "contexts dev 4 1005000000000 1005000000000\n");
	assert_int_equal(look(&w, 5, 5, true), PROGRAM_AGAIN);
	assert_int_equal(look(&w, 4, 5, true), PROGRAM_BACKWARD);
	assert_int_equal(look(&w, 7, 6, true), PROGRAM_FUTURE);
	assert_int_equal(look(&w, 6, 12, true), PROGRAM_LATE);
	expect(&w, "");
	free(w.log.text);
}

/* The books begin later, and a sink may refuse. */
static void activity_becomes_events(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	assert_int_equal(busy(&w, -1, 1, 1), PROGRAM_EARLY);
	assert_int_equal(busy(&w, 1, 2, 2), PROGRAM_GOOD);
	expect(&w, "activity dev 4 1001000000000 1002000000000 0 0 0\n");
	assert_int_equal(busy(&w, 1, 3, 3), PROGRAM_BACKWARD);
	assert_int_equal(busy(&w, 2, 2, 3), PROGRAM_AGAIN);
	assert_int_equal(busy(&w, 4, 5, 5), PROGRAM_GOOD);
	expect(&w, "activity dev 4 1004000000000 1005000000000 0 0 0\n");
	w.log.answer = -EINVAL;
	assert_int_equal(busy(&w, 5, 6, 6), PROGRAM_GOOD);
	assert_int_equal(w.w.bad, 1);
	free(w.log.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(header_is_read),
		cmocka_unit_test(links_are_counted),
		cmocka_unit_test(wrong_headers_are_refused),
		cmocka_unit_test(lines_are_read),
		cmocka_unit_test(wrong_lines_are_refused),
		cmocka_unit_test(looks_become_events),
		cmocka_unit_test(activity_becomes_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
