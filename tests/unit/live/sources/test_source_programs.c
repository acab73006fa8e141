// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Programs that tell who uses devices, as a source of a run: started, read, restarted. */
#include "events.h"

#include <poll.h>

#include "base/clock.h"
#include "base/text_list.h"
#include "live/sources/source.h"
#include "trace/header.h"

/* Each fifth of a second it says who had a context then; its times are never of the future. */
#define PROGRAM                                                                          \
	"echo '{\"schema\":\"t410trace.source/1\",\"name\":\"%s\",\"devices\":["         \
	"{\"address\":\"000a:01:00.0\"},"                                                \
	"{\"address\":\"%s\",\"link\":\"c2c\",\"uuid\":\"GPU-5\"}],\"counters\":[%s]}';" \
	"now=%llu; while sleep 0.2; do now=$((now + 200000000)); "                       \
	"for i in 000a:01:00.0 %s; do echo '{\"time_ns\":'$now',\"device\":\"'$i'\","    \
	"\"contexts\":[{\"pid\":7,\"start_ns\":5}]}'; done; done"

struct world {
	struct event_log log;
	struct trace_sink sink;
	struct run_options args;
	struct trace_header header;
	struct counters counters;
	struct cpu_map cpus;
	struct source_context c;
	void *source;
	struct diag d;
};

static void add_program(struct world *w, const char *name, const char *device, const char *counters)
{
	assert_int_equal(text_list_print(&w->args.sources, PROGRAM, name, device, counters,
					 (unsigned long long)monotonic_ns(), device),
			 0);
}

/* A run that chose one device; a source that fails has told why. */
static int begin(struct world *w)
{
	static const struct device chosen = { .bdf = "0009:01:00.0", .kind = DEVICE_GPU };
	int err;

	w->sink = log_sink(&w->log);
	assert_int_equal(header_add_devices(&w->header, &chosen, 1), 0);
	w->c = (struct source_context){ .args = &w->args,
					.counters = &w->counters,
					.cpus = &w->cpus,
					.header = &w->header,
					.out = &w->sink };
	w->source = calloc(1, source_programs.size);
	assert_non_null(w->source);
	err = source_programs.find(w->source, &w->c, &w->d);
	if (!err)
		err = source_programs.open(w->source, &w->c, &w->d);
	if (!err)
		err = source_programs.start(w->source, &w->d);
	return err;
}

static void end(struct world *w)
{
	source_programs.free(w->source);
	free(w->source);
	free(w->log.text);
	text_list_free(&w->args.sources);
	header_release(&w->header);
}

static void users_of_chosen_devices_are_told(void **state)
{
	uint64_t until_ns = monotonic_ns() + 20 * NS_PER_S;
	struct world w = { 0 };
	char text[200];

	(void)state;
	add_program(&w, "gpu", "0009:01:00.0",
		    "{\"name\":\"a\",\"direction\":\"read\",\"source\":\"device\",\"device\":"
		    "\"0009:01:00.0\"}");
	assert_int_equal(begin(&w), 0);
	assert_true(w.header.contexts && w.header.nr_devices == 1);
	assert_int_equal(w.header.devices[0].link, LINK_C2C);
	assert_string_equal(w.header.devices[0].uuid, "GPU-5");
	assert_int_equal(w.header.layout.nr_counters, 0);
	source_programs.describe(w.source, 0, text, sizeof(text));
	assert_string_equal(text, "0 counters of source gpu, which tells the users of 2 devices");
	assert_string_equal(source_programs.note(w.source, 0),
			    "bytes that sources count at devices are not used yet");
	assert_null(source_programs.note(w.source, 1));
	while (w.log.events < 2 && monotonic_ns() < until_ns) {
		assert_int_equal(source_programs.step(w.source, &w.d), 0);
		poll(NULL, 0, 20);
	}
	assert_true(w.log.events >= 2);
	assert_non_null(strstr(w.log.text, "[7 5 -1 "));
	assert_null(strstr(w.log.text, "dev 1"));
	end(&w);
}

static void devices_that_nobody_chose_are_not(void **state)
{
	struct world w = { 0 };

	(void)state;
	add_program(&w, "gpu", "000b:01:00.0", "");
	assert_int_equal(begin(&w), 0);
	assert_false(w.header.contexts);
	assert_string_equal(source_programs.note(w.source, 0),
			    "sources tell who uses devices of which -D chose none");
	assert_null(source_programs.note(w.source, 1));
	end(&w);
}

static void two_sources_cannot_tell_of_one(void **state)
{
	struct world w = { 0 };

	(void)state;
	add_program(&w, "one", "0009:01:00.0", "");
	add_program(&w, "two", "0009:01:00.0", "");
	assert_int_equal(begin(&w), -EINVAL);
	assert_string_equal(w.d.what, "sources one and two both tell who uses device 0009:01:00.0");
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(users_of_chosen_devices_are_told),
		cmocka_unit_test(devices_that_nobody_chose_are_not),
		cmocka_unit_test(two_sources_cannot_tell_of_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
