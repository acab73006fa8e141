// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Parts of a socket's traffic, from the rows to the report: what is planned for a machine, what
 * becomes of segments, how a recording keeps it, and that no total gets a byte of it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>

#include "trace_files.h"

#include "engine/session/session.h"
#include "live/sources/part_sums.h"
#include "platform/pmu/pmu.h"
#include "report/json/json.h"
#include "report/parts.h"
#include "temp_file.h"
#include "trace/ndjson.h"
#include "tree.h"

#define MS   1000000ull
#define FREE "uncore_iio_free_running_<n>"

static const struct traffic_part *part_find(const struct part_plan *p, const char *name)
{
	for (size_t i = 0; i < p->nr_parts; i++)
		if (!strcmp(p->parts[i].name, name))
			return &p->parts[i];
	fail_msg("there is no part %s", name);
	return NULL;
}

static void plan_of_a_machine(void **state)
{
	static uint32_t sockets[] = { 0, 1 };
	static const struct layout layout = { .socket_ids = sockets, .nr_sockets = 2 };
	static const struct layout other = { .socket_ids = sockets + 1, .nr_sockets = 1 };
	const struct traffic_part *p;
	struct part_plan plan, one;
	struct pmu_list pmus;
	struct diag d = { 0 };
	struct sysfs fs;
	struct tree tree;

	(void)state;
	tree_make_platform(&tree, "icelake");
	assert_int_equal(sysfs_open(tree.root, &d, &fs), 0);
	assert_int_equal(pmu_list_read(&fs, &d, &pmus), 0);
	assert_int_equal(part_plan_make(&pmus, &layout, &d, &plan), 0);
	assert_int_equal(plan.notes.nr, 0);
	/* of each socket: in the stacks 8 ports, links 2, home agents 4 + 1 + 2 events; 2 each */
	assert_int_equal(plan.wants.nr, 2 * 2 * (8 + 2 + 7));
	/* and ports 1, links 2, home agents 4 + 1 + 1 parts */
	assert_int_equal(plan.nr_parts, 2 * (1 + 2 + 6));
	p = part_find(&plan, "cha1/requests.reads_remote");
	assert_int_equal(p->kind, PART_REMOTE);
	assert_int_equal(p->direction, DIRECTION_READ);
	assert_int_equal(p->socket, 1);
	assert_int_equal(p->nr_pmus, 2);
	assert_string_equal(p->pmu, "uncore_cha_<n>");
	assert_int_equal(part_find(&plan, "cha0/tor_inserts.io_miss")->kind, PART_DEVICES);
	assert_int_equal(part_find(&plan, "iio_free0/bw_in")->kind, PART_PORTS);
	assert_string_equal(part_find(&plan, "iio_free0/bw_in")->pmu, FREE);
	assert_int_equal(part_find(&plan, "upi1/txl_flits.all_data")->kind, PART_LINKS);
	for (size_t i = 0; i < plan.wants.nr; i++)
		if (!strcmp(plan.wants.wants[i].event, "tor_inserts.io_miss_pcirdcur"))
			assert_int_equal(plan.wants.wants[i].config.config, 0xc8f3fe00000435);
	/* A socket without a total has no parts. */
	assert_int_equal(part_plan_make(&pmus, &other, &d, &one), 0);
	assert_int_equal(one.nr_parts, 1 + 2 + 6);
	assert_int_equal(one.parts[0].socket, 0);
	part_plan_free(&one);
	part_plan_free(&plan);
	pmu_list_free(&pmus);
	sysfs_close(&fs);
	tree_remove(&tree);
}

/* The plan of a machine with such a layout; its PMUs are gone afterwards. */
static void plan_with(const char *machine, const struct layout *layout, struct part_plan *ret)
{
	struct pmu_list pmus;
	struct diag d = { 0 };
	struct sysfs fs;
	struct tree tree;

	if (strcmp(machine, "t410"))
		tree_make_platform(&tree, machine);
	else
		tree_make_t410(&tree);
	assert_int_equal(sysfs_open(tree.root, &d, &fs), 0);
	assert_int_equal(pmu_list_read(&fs, &d, &pmus), 0);
	assert_int_equal(part_plan_make(&pmus, layout, &d, ret), 0);
	pmu_list_free(&pmus);
	sysfs_close(&fs);
	tree_remove(&tree);
}

/* The same of one with so many sockets, where nothing else counts. */
static void plan_on(const char *machine, uint32_t sockets, struct part_plan *ret)
{
	static uint32_t ids[] = { 0, 1 };
	const struct layout layout = { .socket_ids = ids, .nr_sockets = sockets };

	plan_with(machine, &layout, ret);
}

/* The only counter of a root port is not taken from a device that -D asks for. */
static void plan_beside_devices(void **state)
{
	static struct counter counters[] = {
		{ .pmu = "dwc_rootport_8", .device = 1 },
		{ .pmu = "ampere_mcu_pmu_0", .device = 1 },
	};
	static uint32_t ids[] = { 0, 1 };
	struct layout layout = { .socket_ids = ids, .nr_sockets = 2, .counters = counters };
	struct part_plan without, plan;

	(void)state;
	plan_with("ampereone", &layout, &without);
	layout.nr_counters = 2;
	plan_with("ampereone", &layout, &plan);
	assert_int_equal(plan.nr_parts, without.nr_parts - 2);
	for (size_t i = 0; i < plan.nr_parts; i++)
		assert_string_not_equal(plan.parts[i].pmu, "dwc_rootport_8");
	assert_int_equal(without.notes.nr, 0);
	assert_int_equal(plan.notes.nr, 1);
	assert_non_null(strstr(plan.notes.items[0], "dwc_rootport_8 is in no part: "));
	part_plan_free(&without);
	part_plan_free(&plan);
}

static void plans_of_others(void **state)
{
	const struct traffic_part *p;
	struct part_plan plan;

	(void)state;
	plan_on("zen4", 2, &plan);
	assert_int_equal(plan.nr_parts, 2 * 7);
	assert_int_equal(plan.wants.nr, 2 * (4 * 12 + 2 * 4 + 8));
	p = part_find(&plan, "df1/local_socket_outbound_data_beats_link*");
	assert_int_equal(p->kind, PART_LINKS);
	assert_int_equal(p->direction, DIRECTION_WRITE);
	p = part_find(&plan, "df1/remote_processor_write_data_beats_cs*");
	assert_int_equal(p->kind, PART_REMOTE);
	assert_int_equal(p->direction, DIRECTION_WRITE);
	assert_int_equal(p->nr_pmus, 1);
	part_plan_free(&plan);
	/* No part of reads but those of devices and links: the two sockets are together there. */
	plan_on("zen5", 1, &plan);
	assert_int_equal(plan.nr_parts, 6);
	assert_int_equal(plan.wants.nr, 2 * 12 + 2 * 8 + 2 * 6);
	part_find(&plan, "df0/local_socket_upstream_read_data_beats_io_*");
	p = part_find(&plan, "df0/local_socket_inbound_data_beats_link_*");
	assert_int_equal(p->kind, PART_LINKS);
	assert_int_equal(p->direction, DIRECTION_READ);
	part_plan_free(&plan);
	/* Each root port is a place by itself. */
	plan_on("ampereone", 2, &plan);
	assert_int_equal(plan.nr_parts, 3 * 2);
	p = part_find(&plan, "dwc_rootport_10008/tx_pcie_tlp_data_payload");
	assert_int_equal(p->kind, PART_DEVICES);
	assert_int_equal(p->socket, 1);
	assert_string_equal(p->pmu, "dwc_rootport_10008");
	part_plan_free(&plan);
	/* An event that the device does not have is left out, and its part is there. */
	plan_on("granite", 2, &plan);
	assert_int_equal(plan.notes.nr, 0);
	assert_int_equal(part_find(&plan, "cxl1/m2s_rwd")->kind, PART_CXL);
	part_plan_free(&plan);
	/* Counters that tell sources apart have no parts. */
	plan_on("t410", 2, &plan);
	assert_int_equal(plan.nr_parts, 0);
	part_plan_free(&plan);
}

/* --- sums */

#define NR_WANTS 4

/* Part 0: two PMUs, lines; part 1: a PMU, nine flits of 64 bytes; part 2: refused. */
static struct want wants[NR_WANTS];
static uint32_t part_of[NR_WANTS] = { 0, 0, 1, 2 };
static struct bytes_ratio scales[NR_WANTS] = { { 64, 1 }, { 64, 1 }, { 64, 9 }, { 64, 1 } };
static struct traffic_part sum_parts[3];
static const struct part_plan sum_plan = { .wants = { .wants = wants, .nr = NR_WANTS },
					   .part_of = part_of,
					   .scale = scales,
					   .parts = sum_parts,
					   .nr_parts = 3 };

struct got {
	struct trace_part parts[16];
	size_t nr;
	int answer;
};

static int take(void *arg, const struct trace_event *e)
{
	struct got *got = arg;

	assert_int_equal(e->type, TRACE_PART);
	got->parts[got->nr++] = e->part;
	return got->answer;
}

static struct part_sums *sums_of(struct got *got)
{
	static const uint32_t pmus[NR_WANTS] = { 0, 1, 0, 1 };
	static const bool refused[NR_WANTS] = { [3] = true };
	const struct part_sums_options o = { .plan = &sum_plan,
					     .pmus = pmus,
					     .refused = refused,
					     .first = 5,
					     .out = { take, got } };
	struct part_sums *s;

	assert_int_equal(part_sums_new(&o, &s), 0);
	part_sums_begin(s, 100);
	return s;
}

/* What a want counted in a segment of its PMU. */
static void segment(struct part_sums *s, uint32_t pmu, uint64_t start, uint64_t end, uint32_t want,
		    uint64_t value, uint64_t running)
{
	const struct reading r = { value, end - start, running };
	const struct stat_segment segment = { .pmu = pmu,
					      .start_ns = start,
					      .end_ns = end,
					      .counters = &want,
					      .readings = &r,
					      .nr = want < NR_WANTS };

	part_sums_segment(s, &segment);
}

static void sums_are_exact(void **state)
{
	struct got got = { 0 };
	struct part_sums *s = sums_of(&got);
	const uint32_t both[] = { 0, 2 };
	const struct reading r[] = { { 1000, 100, 100 }, { 10, 100, 100 } };
	const struct stat_segment first = { 0, 100, 200, 2, both, r };

	(void)state;
	part_sums_segment(s, &first);
	segment(s, 1, 100, 200, 1, 7, 100);
	assert_int_equal(part_sums_end(s), 0);
	assert_int_equal(got.nr, 2);
	assert_int_equal(got.parts[0].part, 5);
	assert_int_equal(got.parts[0].start_ns, 100);
	assert_int_equal(got.parts[0].end_ns, 200);
	assert_int_equal(got.parts[0].bytes, 1007 * 64);
	assert_int_equal(got.parts[0].enabled_ns, 200);
	assert_int_equal(got.parts[0].running_ns, 200);
	assert_int_equal(got.parts[1].bytes, 10 * 64 / 9);
	/* What was less than a byte is not lost. */
	part_sums_segment(s, &(struct stat_segment){ 0, 200, 300, 2, both, r });
	segment(s, 1, 200, 300, 1, 0, 100);
	assert_int_equal(part_sums_end(s), 0);
	assert_int_equal(got.parts[2].start_ns, 200);
	assert_int_equal(got.parts[1].bytes + got.parts[3].bytes, 20 * 64 / 9);
	got.answer = -EINVAL;
	part_sums_segment(s, &(struct stat_segment){ 0, 300, 400, 2, both, r });
	assert_int_equal(part_sums_end(s), 0);
	assert_int_equal(part_sums_bad(s), 1);
	part_sums_free(s);
}

/* Each event is scaled by itself: one that counted half of the time, one that counted always. */
static void turns_are_scaled(void **state)
{
	struct got got = { 0 };
	struct part_sums *s = sums_of(&got);

	(void)state;
	segment(s, 0, 100, 150, 0, 30, 50);
	segment(s, 0, 150, 200, 2, 90, 50);
	segment(s, 1, 100, 200, 1, 7, 100);
	assert_int_equal(part_sums_end(s), 0);
	assert_int_equal(got.nr, 2);
	assert_int_equal(got.parts[0].bytes, (60 + 7) * 64);
	assert_int_equal(got.parts[0].enabled_ns, 200);
	assert_int_equal(got.parts[0].running_ns, 150);
	assert_int_equal(got.parts[1].bytes, 180 * 64 / 9);
	/* One without a turn: the sum would lack it, and waits. The other part does not. */
	segment(s, 0, 200, 300, 0, 30, 100);
	segment(s, 1, 200, 300, 1, 3, 100);
	assert_int_equal(part_sums_end(s), 0);
	assert_int_equal(got.nr, 3);
	assert_int_equal(got.parts[2].part, 5);
	segment(s, 0, 300, 400, 2, 9, 100);
	assert_int_equal(part_sums_end(s), 0);
	assert_int_equal(got.nr, 4);
	assert_int_equal(got.parts[3].part, 6);
	assert_int_equal(got.parts[3].start_ns, 200);
	assert_int_equal(got.parts[3].bytes, 18 * 64 / 9);
	part_sums_free(s);
}

/* What was not read when an interval ended is about a shorter time, and the next one a longer. */
static void time_ends_with_the_reading(void **state)
{
	struct got got = { 0 };
	struct part_sums *s = sums_of(&got);

	(void)state;
	segment(s, 0, 100, 300, 0, 30, 200);
	segment(s, 1, 100, 250, 1, 7, 150);
	assert_int_equal(part_sums_end(s), 0);
	assert_int_equal(got.nr, 1);
	assert_int_equal(got.parts[0].end_ns, 250);
	/* nothing was read since */
	assert_int_equal(part_sums_end(s), 0);
	assert_int_equal(got.nr, 1);
	segment(s, 0, 300, 900, 0, 60, 600);
	segment(s, 1, 250, 900, 1, 9, 650);
	assert_int_equal(part_sums_end(s), 0);
	assert_int_equal(got.nr, 2);
	assert_int_equal(got.parts[1].start_ns, 250);
	assert_int_equal(got.parts[1].end_ns, 900);
	assert_int_equal(got.parts[0].bytes + got.parts[1].bytes, (30 + 7 + 60 + 9) * 64);
	part_sums_free(s);
}

/* --- a trace with parts */

static struct traffic_part parts[] = {
	{ "cha0/reads_local", "uncore_cha_<n>", "reads_local", 0, PART_LOCAL, DIRECTION_READ, 4 },
	{ "cha0/reads_remote", "uncore_cha_<n>", "reads_remote", 0, PART_REMOTE, DIRECTION_READ,
	  4 },
	{ "cha0/io", "uncore_cha_<n>", "io", 0, PART_DEVICES, DIRECTION_READ, 4 },
	{ "iio0/in", "uncore_iio_<n>", "in", 0, PART_PORTS, DIRECTION_WRITE, 2 },
};

static struct trace_header header_with_parts(void)
{
	struct trace_header h = sample_header;

	h.parts = parts;
	h.nr_parts = 4;
	return h;
}

static void assert_same_parts(const struct trace_header *h)
{
	assert_int_equal(h->nr_parts, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(h->parts[i].name, parts[i].name);
		assert_string_equal(h->parts[i].pmu, parts[i].pmu);
		assert_string_equal(h->parts[i].event, parts[i].event);
		assert_int_equal(h->parts[i].socket, parts[i].socket);
		assert_int_equal(h->parts[i].kind, parts[i].kind);
		assert_int_equal(h->parts[i].direction, parts[i].direction);
		assert_int_equal(h->parts[i].nr_pmus, parts[i].nr_pmus);
	}
}

static const struct trace_part said = { 2, 1000, 2000, 4096, 400, 100 };

static int count(void *arg, const struct trace_event *e)
{
	size_t *nr = arg;

	if (e->type != TRACE_PART)
		return 0;
	assert_int_equal(e->part.part, said.part);
	assert_int_equal(e->part.start_ns, said.start_ns);
	assert_int_equal(e->part.end_ns, said.end_ns);
	assert_int_equal(e->part.bytes, said.bytes);
	assert_int_equal(e->part.enabled_ns, said.enabled_ns);
	assert_int_equal(e->part.running_ns, said.running_ns);
	++*nr;
	return 0;
}

static void assert_file_has_it(void)
{
	struct trace_end end = { 0 };
	struct trace_file *f;
	struct diag d = { 0 };
	size_t nr = 0;
	const struct trace_sink sink = { count, &nr };

	if (trace_file_open(temp_path, &d, &f))
		fail_msg("%s", d.what);
	assert_same_parts(trace_file_header(f));
	if (trace_file_read(f, &sink, &d, &end))
		fail_msg("%s", d.what);
	assert_int_equal(nr, 1);
	trace_file_close(f);
}

static void files_keep_parts(void **state)
{
	const struct trace_header h = header_with_parts();
	struct recording_writer *w;
	struct ndjson_writer *n;
	struct trace_sink sink;
	struct diag d = { 0 };
	FILE *f = temp_open();

	(void)state;
	assert_int_equal(ndjson_create(f, &h, &d, &n), 0);
	sink = ndjson_sink(n);
	assert_int_equal(trace_send_part(&sink, &said), 0);
	assert_int_equal(trace_send_part(&sink, &(struct trace_part){ 4, 1, 2, 3, 1, 1 }), -EINVAL);
	assert_int_equal(ndjson_finish(n, &d), 0);
	fclose(f);
	assert_file_has_it();
	assert_int_equal(unlink(temp_path), 0);
	assert_int_equal(recording_create(temp_path, &h, 0, &d, &w), 0);
	sink = recording_sink(w);
	assert_int_equal(trace_send_part(&sink, &said), 0);
	assert_int_equal(recording_finish(w, &d, NULL), 0);
	assert_file_has_it();
}

/* --- reports */

struct run {
	struct trace_header header;
	struct session *session;
	struct trace_sink in;
};

static void begin(struct run *run)
{
	const struct session_options o = { .by = ROW_PROCESS, .all = true };
	const uint64_t starts[] = { 0, 0 };
	const struct trace_mark mark = { .first = true, .ends_ns = starts };

	run->header = header_with_parts();
	assert_int_equal(session_new(&run->header, &o, &run->session), 0);
	run->in = session_sink(run->session);
	assert_int_equal(trace_send_mark(&run->in, &mark), 0);
}

static struct report *end_at(struct run *run, uint64_t ns)
{
	const uint64_t ends[] = { ns, ns };
	const struct trace_mark mark = { .time_ns = ns, .ends_ns = ends };
	struct report *r;

	assert_int_equal(session_report(run->session, &mark, &r), 0);
	return r;
}

static void part(struct run *run, uint32_t part, uint64_t start, uint64_t end, uint64_t bytes)
{
	const struct trace_part t = { part, start, end, bytes, end - start, end - start };

	assert_int_equal(trace_send_part(&run->in, &t), 0);
}

/* Cut in proportion to time, and nothing is lost; what came late says of which time it is. */
static void intervals_share_parts(void **state)
{
	struct report *first, *second, *all;
	struct run run;

	(void)state;
	begin(&run);
	part(&run, 0, 0, 3 * MS, 1000);
	first = end_at(&run, 2 * MS);
	assert_true(first->parts[0].valid);
	assert_int_equal(first->parts[0].bytes, 666);
	assert_false(first->parts[1].valid);
	part(&run, 1, 0, 4 * MS, 100);
	second = end_at(&run, 4 * MS);
	assert_int_equal(second->parts[0].bytes, 334);
	assert_int_equal(second->parts[0].covered_ns, 1 * MS);
	assert_int_equal(second->parts[1].bytes, 100);
	assert_int_equal(second->parts[1].covered_ns, 4 * MS);
	assert_int_equal(session_summary(run.session, &all), 0);
	assert_int_equal(all->parts[0].bytes, 1000);
	assert_int_equal(all->parts[1].bytes, 100);
	for (size_t i = 0; i < all->nr_counters; i++)
		assert_int_equal(all->counters[i].value, 0);
	report_free(first);
	report_free(second);
	report_free(all);
	session_free(run.session);
}

static void nonsense_is_refused(void **state)
{
	static const struct trace_part wrong[] = {
		{ 4, 1, 2, 1, 1, 1 },
		{ 0, 2, 2, 1, 1, 1 },
		{ 0, 1, 2, 1, 1, 2 },
	};
	struct run run;

	(void)state;
	begin(&run);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(trace_send_part(&run.in, &wrong[i]), -EINVAL);
	session_free(run.session);
}

/* --- what is said */

static struct counter total_counters[] = {
	{ .name = "imc0/read", .source = SOURCE_ANY },
	{ .name = "imc0/write", .source = SOURCE_ANY, .direction = DIRECTION_WRITE },
};

static void said_of(uint64_t local, uint64_t remote, uint64_t devices, bool valid,
		    const char *expected)
{
	struct report_counter counters[] = {
		{ .counter = &total_counters[0], .valid = true, .value = 1000000 },
		{ .counter = &total_counters[1], .valid = true, .value = 500000 },
	};
	struct report_part rows[] = {
		{ &parts[0], valid, local, 100, 100, 1000, local, local },
		{ &parts[1], true, remote, 100, 50, 1000, remote / 2, remote + 1000 },
		{ &parts[2], true, devices, 100, 100, 1000, devices, devices },
		{ &parts[3], true, 2000000, 100, 100, 500, 2000000, 2000000 },
	};
	struct report_socket socket = { .id = 0 };
	const struct report r = { .end_ns = 1000,
				  .counters = counters,
				  .nr_counters = 2,
				  .parts = rows,
				  .nr_parts = 4,
				  .sockets = &socket,
				  .nr_sockets = 1 };
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_int_equal(parts_write(f, &r, 1000, false), 0);
	fclose(f);
	assert_string_equal(text, expected);
	free(text);
}

#define WRITES                                                                               \
	"parts of socket 0, write, not added: beside it: PCIe ports 2.00 MB (of 50% of the " \
	"interval)\n"

static void lines_say_how_far_they_agree(void **state)
{
	(void)state;
	said_of(800000, 100000, 50000, true,
		"parts of socket 0, read, not added: own socket 800 kB, other sockets 100 kB "
		"(counted 50% of the time, scaled, 50.0-101 kB), devices 50.0 kB; total 1.00 MB, "
		"of which own and other sockets together are 90.0%\n" WRITES);
	said_of(1000000, 30000, 50000, true,
		"parts of socket 0, read, not added: own socket 1.00 MB, other sockets 30.0 kB "
		"(counted 50% of the time, scaled, 15.0-31.0 kB), devices 50.0 kB; total 1.00 MB, "
		"which own and other sockets exceed by 3.0%\n" WRITES);
	said_of(7, 100000, 50000, false,
		"parts of socket 0, read, not added: other sockets 100 kB (counted 50% of the "
		"time, scaled, 50.0-101 kB), devices 50.0 kB; total 1.00 MB, of which these parts "
		"are 15.0%; cha0/reads_local was not counted\n" WRITES);
}

/* What waited for a turn is about two intervals: no agreement is claimed. */
static void other_times_are_not_compared(void **state)
{
	struct report_counter counter = { .counter = &total_counters[0],
					  .valid = true,
					  .value = 1000000 };
	struct report_part rows[] = { { &parts[1], true, 1500000, 100, 100, 2000, 1500000,
					1500000 } };
	struct report_socket socket = { .id = 0 };
	const struct report r = { .end_ns = 1000,
				  .counters = &counter,
				  .nr_counters = 1,
				  .parts = rows,
				  .nr_parts = 1,
				  .sockets = &socket,
				  .nr_sockets = 1 };
	struct parts_side s;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	assert_true(parts_side(&r, 0, DIRECTION_READ, &s));
	assert_false(s.same_time);
	assert_int_equal(parts_write(f, &r, 1000, false), 0);
	fclose(f);
	assert_string_equal(text, "parts of socket 0, read, not added: other sockets 1.50 MB (of "
				  "200% of the interval); total 1.00 MB, of another time than the "
				  "parts\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plan_of_a_machine),
		cmocka_unit_test(plans_of_others),
		cmocka_unit_test(plan_beside_devices),
		cmocka_unit_test(sums_are_exact),
		cmocka_unit_test(turns_are_scaled),
		cmocka_unit_test(time_ends_with_the_reading),
		cmocka_unit_test(files_keep_parts),
		cmocka_unit_test(intervals_share_parts),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(lines_say_how_far_they_agree),
		cmocka_unit_test(other_times_are_not_compared),
	};

	return cmocka_run_group_tests(tests, temp_make, temp_drop);
}
