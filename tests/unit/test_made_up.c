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

#include "base/array.h"
#include "cli/commands.h"
#include "engine/session/session.h"
#include "live/feed.h"
#include "live/live_readers.h"
#include "platform/pmu/explain.h"
#include "platform/spec/event_spec.h"
#include "report/json/json.h"
#include "tables/counter_rows.h"
#include "tables/families.h"
#include "tree.h"

#define BOX	    ((enum pmu_kind)(PMU_CORE + 1))
#define PLATFORM    ((enum pmu_platform)(PMU_PLATFORM_UNKNOWN + 1))
#define WRITE_BYTES 32
#define WINDOW_NS   100
#define NR_WINDOWS  6
#define MAX_FDS	    4096

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
};
const size_t nr_counter_rows = ARRAY_SIZE(counter_rows);

/* --- the machine */

static struct {
	struct perf_event_attr attrs[MAX_FDS];
	int cpus[MAX_FDS], leaders[MAX_FDS];
	bool open[MAX_FDS];
	int nr, nr_open;
	uint32_t small_type; /* a PMU with one counter */
	uint32_t gone_type;  /* one that cannot be opened */
} kernel;

static int kernel_open(const struct perf_event_attr *attr, int pid, int cpu, int leader)
{
	assert_int_equal(pid, -1);
	assert_true(kernel.nr < MAX_FDS);
	if (leader >= 0 && attr->type == kernel.small_type)
		return -EINVAL;
	if (attr->type == kernel.gone_type)
		return -ENODEV;
	kernel.attrs[kernel.nr] = *attr;
	kernel.cpus[kernel.nr] = cpu;
	kernel.leaders[kernel.nr] = leader;
	kernel.open[kernel.nr] = true;
	kernel.nr_open++;
	return kernel.nr++;
}

static ssize_t kernel_read(int fd, uint64_t *words, size_t nr)
{
	(void)fd;
	for (size_t i = 0; i < nr; i++)
		words[i] = 1;
	return nr * sizeof(*words);
}

static int kernel_enable(int leader)
{
	assert_true(kernel.open[leader]);
	return 0;
}

static void kernel_close(int fd)
{
	assert_true(kernel.open[fd]);
	kernel.open[fd] = false;
	kernel.nr_open--;
}

static const struct perf_ops ops = {
	.open = kernel_open,
	.read = kernel_read,
	.enable = kernel_enable,
	.disable = kernel_enable,
	.close = kernel_close,
};

#define CPUS_OF_SOCKET 4

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

/* --- a run on it */

struct world {
	struct tree tree;
	struct sysfs fs;
	struct pmu_list pmus;
	struct counters counters;
	struct cpu_map cpus;
	struct trace_header header;
	struct session *session;
	struct feed feed;
	struct ledger_sink sink;
	uint64_t now, begin_ns, random;
	uint64_t total[MAX_FDS], sent[MAX_FDS]; /* counts of each event: all, in good windows */
};

/* @small: type of a PMU with one counter, or 0 */
static void start(struct world *w, int nr_sockets, int nr_pmus, const char *mask, uint32_t small)
{
	const struct session_options o = { .by = ROW_PROCESS, .all = true };
	struct diag d = { 0 };
	struct trace_sink out;

	w->now = WINDOW_NS;
	w->random = 1;
	make_machine(&w->tree, nr_sockets, nr_pmus, mask);
	kernel.small_type = small;
	assert_int_equal(sysfs_open(w->tree.root, &d, &w->fs), 0);
	assert_int_equal(pmu_list_read(&w->fs, &d, &w->pmus), 0);
	if (counters_open(&ops, &w->pmus, COUNTERS_SUMS, &d, &w->counters) ||
	    live_readers_map(&w->counters, &w->fs, &d, &w->cpus))
		fail_msg("%s", d.what);
	assert_int_equal(w->cpus.nr_sockets, nr_sockets);
	w->header.all = true;
	w->header.layout = (struct layout){
		.cpu_socket = w->cpus.socket,
		.nr_cpus = w->cpus.nr_cpus,
		.socket_ids = w->cpus.socket_ids,
		.nr_sockets = w->cpus.nr_sockets,
		.counters = w->counters.items,
		.nr_counters = w->counters.nr,
		.groups = w->counters.groups,
		.nr_groups = w->counters.nr_groups,
	};
	assert_int_equal(session_new(&w->header, &o, &w->session), 0);
	out = session_sink(w->session);
	assert_int_equal(feed_init(&w->feed, &w->header.layout, &w->counters, &out, WINDOW_NS), 0);
	w->sink = feed_sink(&w->feed);
}

static void end_world(struct world *w)
{
	feed_release(&w->feed);
	session_free(w->session);
	counters_close(&w->counters);
	assert_int_equal(kernel.nr_open, 0);
	cpu_map_free(&w->cpus);
	pmu_list_free(&w->pmus);
	sysfs_close(&w->fs);
	tree_remove(&w->tree);
	free(w);
}

/* Everything counts on, and a reader reads; @bad: index of one that fails, or -1. */
static void read_all(struct world *w, const struct counter_reader *r, int bad)
{
	struct ledger_window *record = calloc(1, sizeof(*record));

	assert_non_null(record);
	record->h = (struct ledger_header){ .type = LEDGER_WINDOW, .time_ns = w->now };
	record->reader = r->index;
	record->nr = r->nr;
	for (uint32_t i = 0; i < r->nr; i++) {
		uint32_t fd = r->fds[i];

		assert_int_equal(kernel.cpus[fd] / CPUS_OF_SOCKET, r->cpu / CPUS_OF_SOCKET);
		w->random = w->random * 6364136223846793005ull + 1442695040888963407ull;
		w->total[fd] += w->random >> 44;
		record->readings[i].value = (struct ledger_value){ w->total[fd], w->now, w->now };
		record->readings[i].error = (int)i == bad ? -EINVAL : 0;
	}
	w->sink.window(w->sink.arg, record);
	free(record);
}

/* A task on each socket: on its first CPU for half of the time. */
static void run_tasks(struct world *w)
{
	for (uint32_t cpu = 0; cpu < w->cpus.nr_cpus; cpu += CPUS_OF_SOCKET) {
		struct ledger_slices s = { .h = { .type = LEDGER_SLICES, .cpu = cpu }, .nr = 1 };

		s.slots[0] = (struct ledger_slot){ .pid = 10 + cpu,
						   .tgid = 10 + cpu,
						   .cgroup_id = 1,
						   .first_ns = w->now - WINDOW_NS,
						   .last_ns = w->now,
						   .on_cpu_ns = WINDOW_NS / 2 };
		w->sink.slices(w->sink.arg, &s, NULL);
	}
}

static void step(struct world *w, int bad)
{
	for (size_t i = 0; i < w->counters.nr_readers; i++)
		read_all(w, &w->counters.readers[i], i ? -1 : bad);
	run_tasks(w);
	w->now += WINDOW_NS;
}

static struct report *run(struct world *w)
{
	struct trace_mark mark = { .first = true };
	struct trace_sink out = session_sink(w->session);
	uint64_t ends[TRACE_MAX_SOCKETS];
	struct report *r;

	step(w, -1);
	memcpy(w->sent, w->total, sizeof(w->sent));
	for (uint32_t s = 0; s < w->cpus.nr_sockets; s++)
		assert_int_equal(ends[s] = w->feed.last_end_ns[s], WINDOW_NS);
	mark.ends_ns = ends;
	assert_int_equal(trace_send_mark(&out, &mark), 0);
	for (int i = 0; i < NR_WINDOWS; i++)
		step(w, i == 2 ? 0 : -1); /* what fails once is in the next window */
	for (uint32_t s = 0; s < w->cpus.nr_sockets; s++)
		ends[s] = w->feed.last_end_ns[s];
	mark = (struct trace_mark){ .last = true, .time_ns = w->now, .ends_ns = ends };
	assert_int_equal(session_report(w->session, &mark, &r), 0);
	return r;
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

/* To the byte: the socket's bytes are those that its PMUs counted, and each has an owner. */
static void check_sums(const struct world *w, const struct report *r)
{
	for (uint32_t s = 0; s < w->cpus.nr_sockets; s++) {
		uint64_t sum[2] = { 0 };

		for (size_t i = 0; i < r->nr_counters; i++) {
			const struct report_counter *c = &r->counters[i];
			uint64_t owned = c->attributed, shares = 0;

			if (c->counter->socket != s)
				continue;
			assert_true(c->valid);
			for (int k = 0; k < NR_REASONS; k++)
				owned += c->unattributed[k];
			assert_int_equal(owned, c->value);
			for (size_t k = 0; k < r->nr_rows; k++)
				for (size_t n = 0; n < r->rows[k].nr_shares; n++)
					shares += r->rows[k].shares[n].counter == i
							  ? r->rows[k].shares[n].value
							  : 0;
			assert_int_equal(shares, c->attributed);
			assert_true(c->attributed > 0);
			sum[c->counter->direction] += c->value;
		}
		assert_true(sum[DIRECTION_READ] > 0);
		assert_int_equal(sum[DIRECTION_READ], truth(w, s, DIRECTION_READ));
		assert_int_equal(sum[DIRECTION_WRITE], truth(w, s, DIRECTION_WRITE));
	}
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
	check_sums(w, r);
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
	check_sums(w, r);
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
	check_sums(w, r);
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
	check_sums(w, r);
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
	check_sums(w, r);
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
	assert_non_null(strstr(text, "madeup_box_1                1      -   4     -          -"));
	assert_non_null(strstr(text, "reads: 6.103515625e-05 MiB (64 bytes)"));
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
		cmocka_unit_test(pmus_move),
		cmocka_unit_test(a_part_is_opened_again),
		cmocka_unit_test(events_are_wanted_on_each_socket),
		cmocka_unit_test(it_is_listed),
		cmocka_unit_test(sysfs_and_the_table_differ),
	};

	return cmocka_run_group_tests_name("made-up machine", tests, NULL, NULL);
}
