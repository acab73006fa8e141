// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Programs that tell who uses devices, as a source of a run: started, read, restarted. */
#include "events.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text_list.h"
#include "live/sources/source.h"
#include "trace/header.h"

/* The time in a shell; on a busy machine that is long after the shell was started. */
#define NOW "now() { read up rest </proc/uptime; now=$((${up%%.*}${up#*.}0000000 %+lld)); }; "

/* Each fifth of a second it says who has a context. */
#define PROGRAM                                                                              \
	"echo '{\"schema\":\"t410trace.source/1\",\"name\":\"%s\",\"devices\":["             \
	"{\"address\":\"000a:01:00.0\"},"                                                    \
	"{\"address\":\"%s\",\"link\":\"c2c\",\"uuid\":\"GPU-5\"}],\"counters\":[%s]}';" NOW \
	"while sleep 0.2; do now; "                                                          \
	"for i in 000a:01:00.0 %s; do echo '{\"time_ns\":'$now',\"device\":\"'$i'\","        \
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

/*
 * CLOCK_MONOTONIC, less what a shell reads. That is rounded down to 10 ms, here as there: 20 ms less are
 * never of the future.
 */
static long long ahead_of_uptime(void)
{
	FILE *f = fopen("/proc/uptime", "r");
	long long now = (long long)monotonic_ns(), seconds, hundredths;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lld.%lld", &seconds, &hundredths), 2);
	fclose(f);
	return now - (seconds * 100 + hundredths) * 10000000 - 20000000;
}

static void make_file(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static void add_program(struct world *w, const char *name, const char *device, const char *counters)
{
	assert_int_equal(text_list_print(&w->args.sources, PROGRAM, name, device, counters,
					 ahead_of_uptime(), device),
			 0);
}

/* A run that chose one device; a source that fails has told why. */
static int begin(struct world *w)
{
	static const struct device chosen = { .bdf = "0009:01:00.0", .kind = DEVICE_GPU };
	int err;

	w->sink = log_sink(&w->log);
	w->log.layout = &w->header.layout;
	assert_int_equal(header_add_devices(&w->header, &chosen, 1), 0);
	w->c = (struct source_context){ .args = &w->args,
					.gpu_driver = w->c.gpu_driver,
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
	text_list_free(&w->args.devices);
	header_release(&w->header);
}

static void users_of_chosen_devices_are_told(void **state)
{
	uint64_t until_ns = monotonic_ns() + 60 * NS_PER_S;
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
	assert_string_equal(
		source_programs.note(w.source, 0),
		"bytes that sources count at devices are used of links alone (c2c_...)");
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

/* A link as its GPU counts it is a device of its own, and no counter of a socket. */
static void links_of_chosen_devices_are_counted(void **state)
{
	struct world w = { 0 };
	const struct counter *c;

	(void)state;
	add_program(
		&w, "gpu", "0009:01:00.0",
		"{\"name\":\"c2c_out\",\"direction\":\"write\",\"source\":\"device\",\"device\":"
		"\"0009:01:00.0\"}");
	assert_int_equal(begin(&w), 0);
	assert_true(w.header.c2c);
	assert_int_equal(w.header.nr_devices, 2);
	assert_string_equal(w.header.devices[1].bdf, "0009:01:00.0/gpm");
	assert_int_equal(w.header.devices[1].kind, DEVICE_LINK);
	assert_int_equal(w.header.devices[1].function, 1);
	assert_string_equal(w.header.devices[1].uuid, "");
	assert_int_equal(w.header.layout.nr_counters, 1);
	c = &w.header.layout.counters[0];
	assert_int_equal(c->device, 2);
	assert_int_equal(c->direction, DIRECTION_WRITE);
	assert_string_equal(c->name, "gpu/0009:01:00.0/c2c_out");
	assert_null(source_programs.note(w.source, 0));
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

/* --- the program for GPUs */

static int begin_gpu(struct world *w, const char *gpu)
{
	w->args.gpu = gpu;
	if (!w->args.devices.nr)
		assert_int_equal(text_list_print(&w->args.devices, "0009:01:00.0"), 0);
	return begin(w);
}

/* Step until there is an event more, or a news; 60 s at most. */
static void step_until(struct world *w, size_t events, const char *news)
{
	uint64_t until_ns = monotonic_ns() + 60 * NS_PER_S;
	char text[200] = "";

	while ((w->log.events < events || (news && !strstr(text, news))) &&
	       monotonic_ns() < until_ns) {
		assert_int_equal(source_programs.step(w->source, &w->d), 0);
		if (news && !strstr(text, news))
			source_programs.news(w->source, text, sizeof(text));
		poll(NULL, 0, 20);
	}
	assert_true(w->log.events >= events);
	assert_true(!news || strstr(text, news));
}

static void gpus_without_driver_are_left_alone(void **state)
{
	static const char *const words[] = { "auto", "none" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct world w = { 0 };

		assert_int_equal(begin_gpu(&w, words[i]), 0);
		assert_true(source_programs.wanted(&w.args) == !i);
		assert_null(source_programs.note(w.source, 0));
		assert_false(w.header.contexts || w.c.cuts);
		end(&w);
	}
}

static void missing_program_for_gpus_is_a_note(void **state)
{
	struct world w = { .c.gpu_driver = "nvidia" };
	const char *path = getenv("PATH");
	char kept[4096];

	(void)state;
	snprintf(kept, sizeof(kept), "%s", path ? path : "");
	setenv("PATH", "/nowhere:", 1);
	assert_int_equal(begin_gpu(&w, "auto"), 0);
	setenv("PATH", kept, 1);
	assert_non_null(
		strstr(source_programs.note(w.source, 0), "t410trace-gpu is not beside t410trace"));
	assert_null(source_programs.note(w.source, 1));
	/* Owners are those who have nodes open. */
	assert_false(w.header.contexts);
	end(&w);
}

static void program_for_gpus_that_has_none_is_a_note(void **state)
{
	static const char *const commands[] = { "echo there is none >&2; exit 3", "/no/such/one" };
	static const char *const notes[] = { "ended with status 3: there is none",
					     "ended with status 127" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct world w = { 0 };

		assert_int_equal(begin_gpu(&w, commands[i]), 0);
		assert_non_null(strstr(source_programs.note(w.source, 0), notes[i]));
		assert_null(strstr(source_programs.note(w.source, 0), "tried again"));
		assert_false(w.header.contexts);
		end(&w);
	}
}

/* Until then nothing is known, and the recording has room for what may come. */
static void program_for_gpus_may_come_later(void **state)
{
	char folder[] = "/tmp/gpuXXXXXX", flag[64], command[1000];
	struct world w = { 0 };
	const char *note;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(flag, sizeof(flag), "%s/flag", folder);
	snprintf(command, sizeof(command), "[ -e %s ] || { echo not yet >&2; exit 1; }; " PROGRAM,
		 flag, "gpu", "0009:01:00.0", "", ahead_of_uptime(), "0009:01:00.0");
	assert_int_equal(begin_gpu(&w, command), 0);
	note = source_programs.note(w.source, 0);
	assert_non_null(strstr(note, "ended with status 1: not yet (it is tried again)"));
	assert_true(w.header.contexts);
	assert_string_equal(w.header.devices[0].uuid, "");
	make_file(flag);
	step_until(&w, 2, "source gpu: it can be read now");
	assert_non_null(strstr(w.log.text, "[7 5 -1 "));
	assert_string_equal(w.header.devices[0].uuid, "");
	unlink(flag);
	rmdir(folder);
	end(&w);
}

#define LINK(name)          \
	"{\"name\":\"" name \
	"\",\"direction\":\"write\",\"source\":\"device\",\"device\":\"0009:01:00.0\"}"
#define OUT LINK("c2c_out")
#define IN  LINK("c2c_in")
/*
 * Its first header has one counter, the next ones have others before it, or another in its place.
 * Readings of before the begin of the run would not count: it waits for that.
 */
static const char counting[] =
	NOW "now; n=$(cat %s || echo 0); echo $((n + 1)) >%s; case $n in "
	    "0) c='" OUT "'; v=X;; 1) c='" IN "," OUT "'; v=7$now,X;; *) c='" IN "'; v=X;; esac; "
	    "echo '{\"schema\":\"t410trace.source/1\",\"name\":\"gpu\",\"devices\":["
	    "{\"address\":\"0009:01:00.0\"}],\"counters\":['$c']}'; "
	    "while [ ! -e %s.begun ]; do sleep 0.1; done; "
	    "for i in 1000 2000 3000 4000 5000; do sleep 0.2; now; "
	    "echo '{\"time_ns\":'$now',\"values\":['$(echo $v | sed \"s/X/$i/\")']}'; done; exit 1";

/* Bytes of a link keep their counter whatever comes; one that was not there at the begin is none. */
static void program_for_gpus_counts_links(void **state)
{
	char folder[] = "/tmp/gpuXXXXXX", file[64], begun[80], command[2000];
	struct world w = { 0 };

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/n", folder);
	snprintf(begun, sizeof(begun), "%s.begun", file);
	snprintf(command, sizeof(command), counting, ahead_of_uptime(), file, file, file);
	assert_int_equal(begin_gpu(&w, command), 0);
	assert_true(w.header.c2c && w.header.nr_devices == 2);
	assert_string_equal(w.header.devices[1].bdf, "0009:01:00.0/gpm");
	assert_int_equal(w.header.layout.nr_counters, 1);
	assert_string_equal(w.header.layout.counters[0].name, "gpu/0009:01:00.0/c2c_out");
	assert_false(w.c.cuts);
	make_file(begun);
	step_until(&w, 4, NULL);
	step_until(&w, 8, "1 counters of links are left out");
	step_until(&w, 8, "1 counters of links are left out");
	assert_int_equal(w.log.events, 8);
	assert_null(strstr(w.log.text, "window 1 "));
	end(&w);
	unlink(begun);
	unlink(file);
	rmdir(folder);
}

static void link_has_one_source(void **state)
{
	char command[1000];
	struct world w = { 0 };

	(void)state;
	add_program(&w, "own", "0009:01:00.0", LINK("c2c_out"));
	snprintf(command, sizeof(command), PROGRAM, "gpu", "0009:01:00.0", LINK("c2c_out"),
		 ahead_of_uptime(), "0009:01:00.0");
	assert_int_equal(begin_gpu(&w, command), 0);
	assert_int_equal(w.header.layout.nr_counters, 1);
	end(&w);
}

static void program_for_gpus_must_not_count_for_sockets(void **state)
{
	char command[1000];
	struct world w = { 0 };

	(void)state;
	snprintf(command, sizeof(command), PROGRAM, "gpu", "0009:01:00.0",
		 "{\"name\":\"a\",\"direction\":\"read\",\"socket\":0}", ahead_of_uptime(),
		 "0009:01:00.0");
	assert_int_equal(begin_gpu(&w, command), 0);
	assert_non_null(strstr(source_programs.note(w.source, 0), "counts for sockets"));
	end(&w);
}

/* The user's own program comes first. */
static void program_of_the_user_tells_of_gpus(void **state)
{
	char command[1000];
	struct world w = { 0 };

	(void)state;
	add_program(&w, "own", "0009:01:00.0", "");
	snprintf(command, sizeof(command), PROGRAM, "own", "0009:01:00.0", "", ahead_of_uptime(),
		 "0009:01:00.0");
	assert_int_equal(begin_gpu(&w, command), 0);
	assert_string_equal(source_programs.note(w.source, 0),
			    "users of GPUs are not known: two sources are called own");
	step_until(&w, 1, NULL);
	end(&w);
}

static int listen_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 4), 0);
	return fd;
}

static void print_to(int fd, const char *devices, const char *device)
{
	assert_true(dprintf(fd,
			    "{\"schema\":\"t410trace.source/1\",\"name\":\"gpu\",\"devices\":[%s],"
			    "\"counters\":[]}\n",
			    devices) > 0);
	for (int i = 0; i < 2 && device[0]; i++) {
		assert_true(dprintf(fd,
				    "{\"time_ns\":%llu,\"device\":\"%s\",\"contexts\":[{\"pid\":7,"
				    "\"start_ns\":5}]}\n",
				    (unsigned long long)monotonic_ns(), device) > 0);
		poll(NULL, 0, 2);
	}
}

/* It is read again after it was restarted, also with other devices, and until it is there. */
static void program_for_gpus_at_a_socket(void **state)
{
	char folder[] = "/tmp/gpuXXXXXX", path[64], command[80], trouble[300] = "";
	struct world w = { 0 };
	int listens, fd;
	size_t events;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/s", folder);
	snprintf(command, sizeof(command), "unix:%s", path);
	assert_int_equal(begin_gpu(&w, command), 0);
	assert_non_null(strstr(source_programs.note(w.source, 0), "cannot connect to /tmp/gpu"));
	listens = listen_at(path);
	while (poll(&(struct pollfd){ .fd = listens, .events = POLLIN }, 1, 20) == 0)
		assert_int_equal(source_programs.step(w.source, &w.d), 0);
	fd = accept(listens, NULL, NULL);
	print_to(fd, "{\"address\":\"0009:01:00.0\"}", "");
	step_until(&w, 0, "source gpu: it can be read now");
	print_to(fd, "", "0009:01:00.0");
	step_until(&w, 1, NULL);
	close(fd);
	step_until(&w, 1, "source gpu: ended; it is started again in");
	while (poll(&(struct pollfd){ .fd = listens, .events = POLLIN }, 1, 20) == 0)
		assert_int_equal(source_programs.step(w.source, &w.d), 0);
	fd = accept(listens, NULL, NULL);
	events = w.log.events;
	print_to(fd, "{\"address\":\"000a:01:00.0\"},{\"address\":\"0009:01:00.0\"}",
		 "0009:01:00.0");
	step_until(&w, events + 1, "source gpu: it can be read now");
	assert_null(strstr(w.log.text, "dev 1"));
	assert_false(source_programs.trouble(w.source, trouble, sizeof(trouble)));
	close(fd);
	close(listens);
	unlink(path);
	rmdir(folder);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(users_of_chosen_devices_are_told),
		cmocka_unit_test(links_of_chosen_devices_are_counted),
		cmocka_unit_test(devices_that_nobody_chose_are_not),
		cmocka_unit_test(two_sources_cannot_tell_of_one),
		cmocka_unit_test(gpus_without_driver_are_left_alone),
		cmocka_unit_test(missing_program_for_gpus_is_a_note),
		cmocka_unit_test(program_for_gpus_that_has_none_is_a_note),
		cmocka_unit_test(program_for_gpus_may_come_later),
		cmocka_unit_test(program_for_gpus_counts_links),
		cmocka_unit_test(link_has_one_source),
		cmocka_unit_test(program_for_gpus_must_not_count_for_sockets),
		cmocka_unit_test(program_of_the_user_tells_of_gpus),
		cmocka_unit_test(program_for_gpus_at_a_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
