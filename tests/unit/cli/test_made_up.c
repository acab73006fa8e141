// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A machine that does not exist, from sysfs to the report: a family of memory controllers with
 * several PMUs on each socket and one cpumask for all sockets. All that it needs are the rows
 * below, which stand here for those in user/tables: if it needed more, this would not link.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>

#include "box_world.h"
#include "cli/commands.h"
#include "platform/pmu/explain.h"
#include "platform/spec/event_spec.h"
#include "report/json/json.h"
#include "tables/counter_rows.h"
#include "tables/families.h"

#define BOX	    ((enum pmu_kind)(PMU_CORE + 1))
#define PLATFORM    ((enum pmu_platform)(PMU_PLATFORM_UNKNOWN + 1))
#define WRITE_BYTES 32

const struct pmu_family pmu_families[] = {
	{
		.kind = BOX,
		.platform = PLATFORM,
		.short_name = "box",
		.title = "memory controller of no machine",
		.pattern = "madeup_box_<n>",
		.socket_by = PMU_SOCKET_BY_CPUS,
		.read_cost = 1,
		.source = "made up",
	},
};
const size_t nr_pmu_families = ARRAY_SIZE(pmu_families);

const struct pmu_platform_row pmu_platforms[] = {
	{ .platform = PLATFORM,
	  .name = "madeup",
	  .title = "no machine",
	  .mistaken_for = PMU_PLATFORM_UNKNOWN,
	  .pcie = PMU_UNKNOWN,
	  .pcie_target = PMU_UNKNOWN },
};
const size_t nr_pmu_platforms = ARRAY_SIZE(pmu_platforms);

/* Nine of them carry 64 bytes, and both kinds are one counter. */
#define FLITS(name, code)                                                                    \
	{                                                                                    \
		.kind = BOX, .sets = COUNTERS_DESTINATION, .event = (name), .terms = (code), \
		.sum = "flits", .filters = "", .direction = DIRECTION_READ, .scale = 64,     \
		.counts = 9, .doc = "made up",                                               \
	}

/* Bytes per read are those of sysfs; sysfs has no event for writes. */
const struct counter_row counter_rows[] = {
	{ .kind = BOX,
	  .sets = COUNTERS_SUMS,
	  .event = "reads",
	  .filters = "",
	  .direction = DIRECTION_READ,
	  .doc = "made up" },
	{ .kind = BOX,
	  .sets = COUNTERS_SUMS,
	  .event = "writes",
	  .terms = "event=0x2,mask=0x3",
	  .filters = "",
	  .direction = DIRECTION_WRITE,
	  .scale = WRITE_BYTES,
	  .doc = "made up" },
	FLITS("flits_a", "event=0x3"),
	FLITS("flits_b", "event=0x4"),
};
const size_t nr_counter_rows = ARRAY_SIZE(counter_rows);

/* PMUs whose cpumask is @mask, or, where it is NULL, the first CPU of each socket. */
static void make_machine(struct tree *tree, int nr_sockets, int nr_pmus, const char *mask)
{
	char name[96], text[512] = "";

	memset(&kernel, 0, sizeof(kernel));
	tree_make(tree);
	snprintf(text, sizeof(text), "0-%d\n", nr_sockets * CPUS_OF_SOCKET - 1);
	tree_put(tree, "devices/system/cpu/possible", text);
	for (int c = 0; c < nr_sockets * CPUS_OF_SOCKET; c++) {
		snprintf(name, sizeof(name),
			 "devices/system/cpu/cpu%d/topology/physical_package_id", c);
		snprintf(text, sizeof(text), "%d\n", c / CPUS_OF_SOCKET);
		tree_put(tree, name, text);
	}
	text[0] = '\0';
	for (int s = 0; s < nr_sockets; s++)
		sprintf(text + strlen(text), "%s%d", s ? "," : "", s * CPUS_OF_SOCKET);
	for (int p = 0; p < nr_pmus; p++) {
		const struct {
			const char *file, *text;
		} files[] = {
			{ "cpumask", mask ? mask : text },
			{ "events/reads", "event=0x1" },
			{ "events/reads.scale", "6.103515625e-05" },
			{ "events/reads.unit", "MiB" },
			{ "format/event", "config:0-7" },
			{ "format/mask", "config:8-15" },
		};

		for (size_t f = 0; f < ARRAY_SIZE(files); f++) {
			snprintf(name, sizeof(name), PMU_DEVICES "/madeup_box_%d/%s", p,
				 files[f].file);
			tree_put(tree, name, files[f].text);
		}
		snprintf(name, sizeof(name), PMU_DEVICES "/madeup_box_%d/type", p);
		sprintf(text + 400, "%d\n", 100 + p);
		tree_put(tree, name, text + 400);
	}
}

/* @small: type of a PMU with one counter, or 0 */
static void start(struct world *w, int nr_sockets, int nr_pmus, const char *mask, uint32_t small)
{
	make_machine(&w->tree, nr_sockets, nr_pmus, mask);
	kernel.small_type = small;
	world_open(w, COUNTERS_SUMS);
	assert_int_equal(w->cpus.nr_sockets, nr_sockets);
}

/* The bytes of a socket in one direction, from what the machine counted, known by PMU and CPU. */
static uint64_t truth(const struct world *w, int socket, enum direction direction)
{
	uint64_t sum = 0;

	for (int fd = 0; fd < kernel.nr; fd++) {
		uint64_t count = w->total[fd] - w->sent[fd];

		if (!kernel.open[fd] || kernel.cpus[fd] / CPUS_OF_SOCKET != socket)
			continue;
		if (direction == DIRECTION_READ && kernel.attrs[fd].config == 0x1)
			sum += count * 64;
		if (direction == DIRECTION_WRITE && kernel.attrs[fd].config == 0x302)
			sum += count * WRITE_BYTES;
	}
	return sum;
}

static void two_controllers_on_a_socket(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct report *r;
	char *text = NULL;
	size_t length;
	FILE *out;

	(void)state;
	start(w, 2, 2, NULL, 0);
	assert_int_equal(w->pmus.nr, 4);
	for (size_t i = 0; i < w->pmus.nr; i++) {
		assert_string_equal(w->pmus.pmus[i].problem, "");
		assert_int_equal(w->pmus.pmus[i].instance, i / 2);
		assert_int_equal(w->pmus.pmus[i].socket, i % 2);
		assert_int_equal(w->pmus.pmus[i].active_cpu, i % 2 * CPUS_OF_SOCKET);
		assert_int_equal(pmu_cpu_now(&w->fs, &w->pmus.pmus[i]), w->pmus.pmus[i].active_cpu);
		assert_int_equal(w->pmus.pmus[i].events[0].bytes, 64);
	}
	assert_int_equal(w->counters.nr, 4);
	assert_int_equal(w->counters.nr_groups, 2);
	assert_int_equal(w->counters.nr_events, 8);
	assert_int_equal(w->counters.nr_readers, 2);
	assert_string_equal(w->counters.items[0].name, "box0/reads");
	assert_string_equal(w->counters.items[0].pmu, "madeup_box_0-1");
	assert_string_equal(w->counters.items[3].name, "box1/writes");
	r = run(w);
	check_sums(w, r, truth);
	assert_int_equal(w->feed.invalid_windows, 1);
	out = open_memstream(&text, &length);
	assert_int_equal(json_write(out, r), 0);
	fclose(out);
	assert_non_null(strstr(text, "\"madeup_box_0-1\""));
	free(text);
	report_free(r);
	end_world(w);
}

static void a_large_machine(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct report *r;

	(void)state;
	start(w, 16, 64, NULL, 0);
	assert_int_equal(w->pmus.nr, 16 * 64);
	assert_int_equal(w->counters.nr, 16 * 2);
	assert_int_equal(w->counters.nr_events, 16 * 64 * 2);
	assert_int_equal(w->counters.nr_readers, 16);
	for (size_t i = 0; i < 16; i++) {
		assert_int_equal(w->counters.readers[i].nr, 64 * 2);
		assert_int_equal(w->counters.readers[i].index, i);
		assert_int_equal(w->counters.readers[i].first, i * 64 * 2);
	}
	r = run(w);
	check_sums(w, r, truth);
	report_free(r);
	end_world(w);
}

/* PMUs on two CPUs of a socket cannot be read at once: each has windows of its own. */
static void two_readers_on_a_socket(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct report *r;

	(void)state;
	start(w, 1, 1, "1,3", 0);
	assert_int_equal(w->counters.nr_readers, 2);
	assert_int_equal(w->counters.readers[0].index, 0);
	assert_int_equal(w->counters.readers[1].index, 1);
	assert_int_equal(w->counters.nr_groups, 2);
	assert_string_equal(w->counters.items[0].name, "box0.0.cpu1/reads");
	assert_string_equal(w->counters.items[2].name, "box0.0.cpu3/reads");
	assert_int_equal(pmu_cpu_now(&w->fs, &w->pmus.pmus[1]), 3);
	r = run(w);
	check_sums(w, r, truth);
	report_free(r);
	end_world(w);
}

/* One that has too few counters takes turns, with its own times; the others are one sum. */
static void one_that_takes_turns(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct report *r;

	(void)state;
	start(w, 2, 3, NULL, 101);
	assert_int_equal(w->counters.nr, 8);
	assert_int_equal(w->counters.nr_groups, 2 + 4);
	assert_string_equal(w->counters.items[0].name, "box0.cpu0/reads");
	assert_string_equal(w->counters.items[0].pmu, "madeup_box_0,2");
	assert_string_equal(w->counters.items[4].name, "box0.1/reads");
	assert_string_equal(w->counters.items[4].pmu, "madeup_box_1");
	r = run(w);
	check_sums(w, r, truth);
	report_free(r);
	end_world(w);
}

/* No fraction of a byte is lost, however many windows there are. */
static uint64_t flit_truth(const struct world *w, int socket, enum direction direction)
{
	uint64_t sum = 0;

	for (int fd = 0; fd < kernel.nr; fd++)
		if (kernel.open[fd] && kernel.cpus[fd] / CPUS_OF_SOCKET == socket &&
		    direction == DIRECTION_READ)
			sum += w->total[fd] * 64 / 9 - w->sent[fd] * 64 / 9;
	return sum;
}

static void a_ratio_and_a_sum(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct report *r;

	(void)state;
	make_machine(&w->tree, 2, 3, NULL);
	world_open(w, COUNTERS_DESTINATION);
	assert_int_equal(w->counters.nr_events, 2 * 3 * 2);
	assert_int_equal(w->counters.nr, 2);
	assert_string_equal(w->counters.items[0].name, "box0/flits");
	assert_string_equal(w->counters.items[0].event, "flits");
	assert_string_equal(w->counters.items[1].name, "box1/flits");
	r = run(w);
	check_sums(w, r, flit_truth);
	report_free(r);
	end_world(w);
}

static void put_mask(const struct world *w, int pmu, const char *text)
{
	char name[96];

	snprintf(name, sizeof(name), PMU_DEVICES "/madeup_box_%d/cpumask", pmu);
	tree_put(&w->tree, name, text);
}

/* CPU 0 goes offline: one PMU moves to CPU 1, the other to CPU 2. The sum stays a sum. */
static void pmus_move(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	uint64_t ends[2] = { WINDOW_NS, WINDOW_NS };
	struct trace_mark mark = { .first = true, .ends_ns = ends };
	struct trace_sink out;
	struct diag d = { 0 };
	struct report *r;

	(void)state;
	start(w, 2, 2, NULL, 0);
	step(w, -1);
	memcpy(w->sent, w->total, sizeof(w->sent));
	out = session_sink(w->session);
	assert_int_equal(trace_send_mark(&out, &mark), 0);
	step(w, -1);
	put_mask(w, 0, "1,4");
	put_mask(w, 1, "2,4");
	for (size_t i = 0; i < w->counters.nr_pmus; i++)
		w->counters.pmus[i].cpu = pmu_cpu_now(&w->fs, w->counters.pmus[i].pmu);
	assert_int_equal(counters_readers(&w->counters, w->cpus.socket, w->cpus.nr_cpus,
					  w->cpus.nr_sockets, &d),
			 0);
	assert_int_equal(w->counters.nr_readers, 3);
	for (int i = 0; i < NR_WINDOWS; i++)
		step(w, -1);
	ends[0] = w->feed.last_end_ns[0];
	ends[1] = w->feed.last_end_ns[1];
	mark = (struct trace_mark){ .last = true, .time_ns = w->now, .ends_ns = ends };
	assert_int_equal(session_report(w->session, &mark, &r), 0);
	assert_int_equal(w->feed.invalid_windows, 0);
	check_sums(w, r, truth);
	report_free(r);
	/* All CPUs of socket 0 are gone: nobody reads there, and nobody reads socket 1 twice. */
	put_mask(w, 0, "4");
	assert_int_equal(pmu_cpu_now(&w->fs, &w->pmus.pmus[0]), -1);
	assert_int_equal(pmu_cpu_now(&w->fs, &w->pmus.pmus[1]), 4);
	end_world(w);
}

/* A part of a sum that is closed: its reader reads the rest, and the sum is absent, not less. */
static void a_part_is_opened_again(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct diag d = { 0 };
	uint64_t end;

	(void)state;
	start(w, 2, 2, NULL, 0);
	step(w, -1);
	end = w->feed.last_end_ns[0];
	assert_false(counters_closed(&w->counters, 0));
	kernel.gone_type = 100;
	assert_int_equal(counters_reopen(&w->counters, 0), -ENODEV);
	assert_true(counters_closed(&w->counters, 0));
	feed_restart(&w->feed, 0);
	assert_int_equal(counters_readers(&w->counters, w->cpus.socket, w->cpus.nr_cpus,
					  w->cpus.nr_sockets, &d),
			 0);
	assert_int_equal(w->counters.readers[0].nr, 2);
	assert_int_equal(w->counters.readers[1].nr, 4);
	assert_int_equal(w->counters.readers[1].first, 4);
	step(w, -1);
	assert_int_equal(w->feed.last_end_ns[0], end);
	assert_true(w->feed.last_end_ns[1] > end);
	kernel.gone_type = 0;
	assert_int_equal(counters_reopen(&w->counters, 0), 0);
	assert_true(w->counters.pmus[0].pinned);
	feed_restart(&w->feed, 0);
	assert_int_equal(counters_readers(&w->counters, w->cpus.socket, w->cpus.nr_cpus,
					  w->cpus.nr_sockets, &d),
			 0);
	assert_int_equal(w->counters.readers[0].nr, 4);
	step(w, -1);
	assert_int_equal(w->feed.restarts, 1);
	assert_true(w->feed.last_end_ns[0] > end);
	end_world(w);
}

/* One PMU on two CPUs is two for who counts events by name, and each has a name. */
static void events_are_wanted_on_each_socket(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct want_list list = { 0 };
	struct diag d = { 0 };

	(void)state;
	start(w, 2, 2, NULL, 0);
	assert_int_equal(event_spec_add(&w->fs, &w->pmus, -1, "madeup_box_1/reads/", &d, &list), 0);
	assert_int_equal(list.nr, 2);
	assert_string_equal(list.wants[0].name, "madeup_box_1.cpu0/reads/");
	assert_string_equal(list.wants[1].name, "madeup_box_1.cpu4/reads/");
	assert_false(want_same_event(&list.wants[0], &list.wants[1]));
	assert_int_equal(event_spec_add(&w->fs, &w->pmus, 1, "box/reads/", &d, &list), 0);
	assert_int_equal(list.nr, 4);
	assert_int_equal(list.wants[2].pmu->active_cpu, 4);
	assert_int_equal(event_spec_add(&w->fs, &w->pmus, -1, list.wants[1].name, &d, &list), 0);
	assert_int_equal(list.nr, 5);
	assert_true(want_same_event(&list.wants[1], &list.wants[4]));
	want_list_free(&list);
	end_world(w);
}

/* What "list" prints of a copy of sysfs. */
static char *list_text(const struct world *w, bool json)
{
	char *text = calloc(1, 1 << 16);
	struct options o = { .who = "list" };
	int old = dup(STDOUT_FILENO);
	FILE *file = tmpfile();

	assert_non_null(text);
	o.machine.sysfs = w->tree.root;
	o.run.output.format = json ? OUTPUT_JSON : OUTPUT_TEXT;
	fflush(stdout);
	dup2(fileno(file), STDOUT_FILENO);
	assert_int_equal(command_list.run(&o), 0);
	fflush(stdout);
	dup2(old, STDOUT_FILENO);
	close(old);
	rewind(file);
	assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
	fclose(file);
	return text;
}

static void it_is_listed(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	char *text;

	(void)state;
	start(w, 2, 2, NULL, 0);
	text = list_text(w, false);
	assert_non_null(strstr(text, "box: memory controller of no machine, 4 PMUs"));
	assert_non_null(strstr(text, "\n  madeup_box_<0-1> 1      4\n"));
	assert_non_null(strstr(text, "\n    reads    64 bytes each\n"));
	assert_null(strstr(text, "problem"));
	free(text);
	text = list_text(w, true);
	assert_non_null(strstr(text, "\"bytes_per_count\": 64"));
	free(text);
	end_world(w);
}

/* The table is believed, and it is said that sysfs says something else. */
static void sysfs_and_the_table_differ(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct text_list notes = { 0 };

	(void)state;
	start(w, 2, 1, NULL, 0);
	assert_int_equal(pmu_notes(&w->pmus, NULL, &notes), 0);
	assert_int_equal(notes.nr, 0);
	text_list_free(&notes);
	pmu_list_free(&w->pmus);
	tree_put(&w->tree, PMU_DEVICES "/madeup_box_0/events/writes", "event=0x2,mask=0x3");
	tree_put(&w->tree, PMU_DEVICES "/madeup_box_0/events/writes.scale", "8");
	tree_put(&w->tree, PMU_DEVICES "/madeup_box_0/events/writes.unit", "Bytes");
	assert_int_equal(pmu_list_read(&w->fs, NULL, &w->pmus), 0);
	assert_int_equal(pmu_notes(&w->pmus, NULL, &notes), 0);
	assert_int_equal(notes.nr, 1);
	assert_string_equal(notes.items[0],
			    "madeup_box_0: sysfs says that a count of writes is 8 bytes, "
			    "and documents say 32 (made up). Reports use 32.");
	text_list_free(&notes);
	end_world(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_controllers_on_a_socket),
		cmocka_unit_test(a_large_machine),
		cmocka_unit_test(two_readers_on_a_socket),
		cmocka_unit_test(one_that_takes_turns),
		cmocka_unit_test(a_ratio_and_a_sum),
		cmocka_unit_test(pmus_move),
		cmocka_unit_test(a_part_is_opened_again),
		cmocka_unit_test(events_are_wanted_on_each_socket),
		cmocka_unit_test(it_is_listed),
		cmocka_unit_test(sysfs_and_the_table_differ),
	};

	return cmocka_run_group_tests_name("made-up machine", tests, NULL, NULL);
}
