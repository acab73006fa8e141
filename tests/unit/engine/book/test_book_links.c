// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Links of GPUs in the books: derived and counted bytes, owners, and nothing twice. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "engine/book/book_rows.h"
#include "random.h"

/*
 * A socket: reads of tasks, traffic of devices in both directions; a GPU that its root port counts,
 * its link with the fabric's bytes, requests and two root complexes; and a link with counters of
 * its own.
 */
enum {
	CPU,
	MEM_RD,
	MEM_WR,
	GPU_RD,
	GPU_WR,
	SLC_RD,
	SLC_WR,
	REQ_RD,
	REQ_WR,
	ALL_RD,
	ALL_WR,
	RC0_RD,
	RC0_WR,
	RC1_RD,
	RC1_WR,
	C2C0_RD,
	C2C0_WR,
	C2C1_RD,
	C2C1_WR,
	NR,
};
enum { GPU = 1, LINK, COUNTED };
enum { G_MEM, G_GPU, G_SLC, G_REQ, G_RC0, G_RC1, G_C2C0, G_C2C1, NR_GROUPS };

#define COUNTER(group_, device_, way, what, term_)                                            \
	{                                                                                     \
		.name = "c", .source = SOURCE_DEVICE, .group = (group_), .device = (device_), \
		.direction = DIRECTION_##way, .unit = UNIT_##what, .term = TERM_##term_       \
	}
static struct counter counters[NR] = {
	[CPU] = { .name = "cpu", .source = SOURCE_CPU },
	[MEM_RD] = COUNTER(G_MEM, 0, READ, BYTES, NONE),
	[MEM_WR] = COUNTER(G_MEM, 0, WRITE, BYTES, NONE),
	[GPU_RD] = COUNTER(G_GPU, GPU, READ, BYTES, NONE),
	[GPU_WR] = COUNTER(G_GPU, GPU, WRITE, BYTES, NONE),
	[SLC_RD] = COUNTER(G_SLC, LINK, READ, BYTES, WHOLE),
	[SLC_WR] = COUNTER(G_SLC, LINK, WRITE, BYTES, WHOLE),
	[REQ_RD] = COUNTER(G_REQ, LINK, READ, REQUESTS, NONE),
	[REQ_WR] = COUNTER(G_REQ, LINK, WRITE, REQUESTS, NONE),
	[ALL_RD] = COUNTER(G_REQ, LINK, READ, REQUESTS, WHOLE),
	[ALL_WR] = COUNTER(G_REQ, LINK, WRITE, REQUESTS, WHOLE),
	[RC0_RD] = COUNTER(G_RC0, LINK, READ, BYTES, LESS),
	[RC0_WR] = COUNTER(G_RC0, LINK, WRITE, BYTES, LESS),
	[RC1_RD] = COUNTER(G_RC1, LINK, READ, BYTES, LESS),
	[RC1_WR] = COUNTER(G_RC1, LINK, WRITE, BYTES, LESS),
	/* Two PMUs of "any" destination each: one is no part of the other */
	[C2C0_RD] = COUNTER(G_C2C0, COUNTED, READ, BYTES, NONE),
	[C2C0_WR] = COUNTER(G_C2C0, COUNTED, WRITE, BYTES, NONE),
	[C2C1_RD] = COUNTER(G_C2C1, COUNTED, READ, BYTES, NONE),
	[C2C1_WR] = COUNTER(G_C2C1, COUNTED, WRITE, BYTES, NONE),
};
static struct group groups[NR_GROUPS] = {
	{ 0, CPU, 3 },	  { 0, GPU_RD, 2 }, { 0, SLC_RD, 2 },  { 0, REQ_RD, 4 },
	{ 0, RC0_RD, 2 }, { 0, RC1_RD, 2 }, { 0, C2C0_RD, 2 }, { 0, C2C1_RD, 2 },
};
static struct device devices[] = {
	{ .bdf = "0009:01:00.0", .kind = DEVICE_GPU, .filter = DEVICE_BY_PORT },
	{ .bdf = "0009:01:00.0/c2c",
	  .kind = DEVICE_LINK,
	  .filter = DEVICE_BY_LINK,
	  .function = GPU },
	{ .bdf = "000a:01:00.0/c2c", .kind = DEVICE_LINK, .filter = DEVICE_BY_LINK },
};
static uint32_t cpu_socket[] = { 0 };
static uint32_t socket_ids[] = { 0 };
static const struct layout layout = {
	.cpu_socket = cpu_socket,
	.nr_cpus = 1,
	.socket_ids = socket_ids,
	.nr_sockets = 1,
	.counters = counters,
	.nr_counters = NR,
	.groups = groups,
	.nr_groups = NR_GROUPS,
};

static struct identity *names;
static uint64_t now;

static struct book *book_make(void)
{
	struct book_scope scope = { .by = ROW_PROCESS,
				    .all = true,
				    .devices = devices,
				    .nr_devices = ARRAY_SIZE(devices) };
	struct book *b;

	assert_int_equal(book_new(&layout, &scope, names, &b), 0);
	return b;
}

/* A window of 100 ns of each group; groups in @off did not count in it. */
static void window(struct book *b, const uint64_t *bytes, unsigned int off)
{
	struct split_sink sink = book_sink(b);

	for (uint32_t g = 0; g < NR_GROUPS; g++) {
		struct reading readings[4];
		struct trace_window w = { g, now, now + 100, readings };
		bool on = !(off >> g & 1);

		for (uint32_t i = 0; i < groups[g].nr; i++)
			readings[i] = (struct reading){ on ? bytes[groups[g].first + i] : 0, 100,
							on ? 100 : 0 };
		assert_int_equal(sink.window(sink.arg, &w), 0);
		for (uint32_t i = 0; i < groups[g].nr && on; i++)
			assert_int_equal(sink.bytes(sink.arg, groups[g].first + i, &w,
						    bytes[groups[g].first + i], NULL, 0),
					 0);
	}
	now += 100;
}

static uint32_t owner(struct book *b, uint32_t pid)
{
	struct split_sink sink = book_sink(b);
	uint32_t workload, row;

	assert_int_equal(identity_workload(names, pid, pid, pid * 10, 1, &workload), 0);
	assert_int_equal(sink.row(sink.arg, workload, &row), 0);
	return row;
}

/* All that a reader may add up: each byte of a counter is in one place, and none is negative. */
static void check(const struct report *r)
{
	for (size_t c = 0; c < r->nr_counters; c++) {
		uint64_t sum = 0, rows = 0;

		for (size_t i = 0; i < r->nr_rows; i++)
			for (size_t k = 0; k < r->rows[i].nr_shares; k++)
				if (r->rows[i].shares[k].counter == c)
					rows += r->rows[i].shares[k].value;
		assert_true(rows == r->counters[c].attributed);
		for (int k = 0; k < NR_REASONS; k++)
			sum += r->counters[c].unattributed[k];
		assert_true(sum + rows == r->counters[c].value);
		assert_true(!counters[c].term || !rows);
	}
	for (size_t d = 0; d < r->nr_devices; d++) {
		const struct device_bytes *sides[] = { &r->devices[d].read, &r->devices[d].write };
		uint64_t owned[2] = { 0 };

		for (size_t i = 0; i < r->nr_rows; i++)
			for (size_t k = 0; k < r->rows[i].nr_devices; k++) {
				const struct row_device *p = &r->rows[i].devices[k];

				if (p->device != d)
					continue;
				assert_true(p->read_low <= p->read_bytes &&
					    p->read_bytes <= p->read_high);
				assert_true(p->write_low <= p->write_bytes &&
					    p->write_bytes <= p->write_high);
				owned[0] += p->read_bytes;
				owned[1] += p->write_bytes;
			}
		for (int k = 0; k < 2; k++) {
			assert_true(owned[k] == sides[k]->owned);
			assert_true(sides[k]->owned <= sides[k]->bytes);
			assert_true(sides[k]->low <= sides[k]->bytes);
			assert_true(sides[k]->bytes <= sides[k]->high);
		}
	}
}

static struct report *report_of(struct book *b)
{
	struct report *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	assert_int_equal(book_report(b, r), 0);
	check(r);
	return r;
}

static struct report *close_book(struct book *b)
{
	assert_int_equal(book_finish(b), 0);
	return report_of(b);
}

static void make_names(void)
{
	now = 0;
	assert_int_equal(identity_new(&names), 0);
}

static void test_derived(void **state)
{
	uint64_t bytes[NR] = {
		[SLC_RD] = 1000, [RC0_RD] = 100, [RC1_RD] = 200, [REQ_RD] = 9, [ALL_RD] = 9,
		[SLC_WR] = 500,	 [RC0_WR] = 510, [REQ_WR] = 1,	 [ALL_WR] = 1, [GPU_RD] = 40,
		[GPU_WR] = 50,	 [C2C0_RD] = 7,	 [C2C1_RD] = 8,	 [C2C1_WR] = 9
	};
	const struct report_device *d;
	struct report *r;
	struct book *b;

	(void)state;
	make_names();
	b = book_make();
	window(b, bytes, 0);
	r = close_book(b);
	d = &r->devices[LINK - 1];
	assert_int_equal(d->how, HOW_DERIVED);
	assert_true(d->read.valid && d->write.valid);
	assert_int_equal(d->read.bytes, 700);
	assert_int_equal(d->read.low, 700);
	assert_int_equal(d->read.high, 1000);
	assert_int_equal(d->read.requests, 9);
	/* less than nothing is nothing */
	assert_int_equal(d->write.bytes, 0);
	assert_int_equal(d->write.low, 0);
	assert_int_equal(d->write.high, 500);
	assert_int_equal(d->enabled_ns, 100);
	/* The function has its own, the other link all of its counters. */
	assert_int_equal(r->devices[GPU - 1].how, HOW_COUNTED);
	assert_int_equal(r->devices[GPU - 1].read.bytes, 40);
	assert_int_equal(r->devices[COUNTED - 1].how, HOW_COUNTED);
	assert_int_equal(r->devices[COUNTED - 1].read.bytes, 15);
	assert_int_equal(r->devices[COUNTED - 1].write.bytes, 9);
	report_free(r);
	book_free(b);
	identity_free(names);
}

/* The sum of signed differences is cut, not each of them. */
static void test_cut_once(void **state)
{
	const uint64_t more[NR] = { [SLC_RD] = 1100, [RC0_RD] = 1000, [REQ_RD] = 1, [ALL_RD] = 1 };
	const uint64_t less[NR] = { [SLC_RD] = 900, [RC0_RD] = 1000, [REQ_RD] = 1, [ALL_RD] = 1 };
	struct book *total, *b;
	struct report *r;

	(void)state;
	make_names();
	total = book_make();
	for (int i = 0; i < 10; i++) {
		b = book_make();
		window(b, i % 2 ? less : more, 0);
		window(b, i % 2 ? more : less, 0);
		book_exclusive(b, GPU - 1, owner(b, 7), false);
		book_exclusive(b, LINK - 1, owner(b, 7), false);
		r = close_book(b);
		assert_int_equal(r->devices[LINK - 1].read.bytes, 0);
		report_free(r);
		assert_int_equal(book_add(total, b), 0);
		book_free(b);
	}
	b = book_make();
	window(b, more, 0);
	book_exclusive(b, LINK - 1, owner(b, 7), false);
	r = close_book(b);
	assert_int_equal(r->devices[LINK - 1].read.bytes, 100);
	assert_int_equal(r->devices[LINK - 1].read.owned, 100);
	report_free(r);
	assert_int_equal(book_add(total, b), 0);
	book_free(b);
	r = report_of(total);
	assert_int_equal(r->devices[LINK - 1].read.bytes, 100);
	assert_int_equal(r->devices[LINK - 1].read.owned, 100);
	report_free(r);
	book_free(total);
	identity_free(names);
}

static void test_no_requests(void **state)
{
	const uint64_t bytes[NR] = { [SLC_RD] = 5000, [RC0_RD] = 3000, [ALL_RD] = 4,
				     [SLC_WR] = 10,   [REQ_WR] = 1,    [ALL_WR] = 2 };
	const struct report_device *d;
	struct report *r;
	struct book *b;

	(void)state;
	make_names();
	b = book_make();
	window(b, bytes, 0);
	r = close_book(b);
	d = &r->devices[LINK - 1];
	/* Not one request of this GPU: exactly nothing, whatever the rest says. */
	assert_int_equal(d->read.bytes, 0);
	assert_int_equal(d->read.high, 0);
	/* One of two GPUs has its part of the requests, and may have all or none. */
	assert_int_equal(d->write.bytes, 5);
	assert_int_equal(d->write.low, 0);
	assert_int_equal(d->write.high, 10);
	report_free(r);
	book_free(b);
	identity_free(names);
}

/* A root complex in turns makes the range wider, and the difference is that of the scaled bytes. */
static void test_turns(void **state)
{
	const uint64_t bytes[NR] = {
		[SLC_RD] = 1000, [RC0_RD] = 400, [RC1_RD] = 100, [REQ_RD] = 1, [ALL_RD] = 1
	};
	const uint64_t busy[NR] = {
		[SLC_RD] = 1200, [RC0_RD] = 600, [RC1_RD] = 100, [REQ_RD] = 1, [ALL_RD] = 1
	};
	const struct report_device *d;
	struct report *r;
	struct book *b;

	(void)state;
	make_names();
	b = book_make();
	for (int i = 0; i < 20; i++)
		window(b, i % 3 ? bytes : busy, i % 2 ? 1u << G_RC0 : 0);
	r = close_book(b);
	d = &r->devices[LINK - 1];
	assert_int_equal(d->how, HOW_DERIVED);
	/* 500 in each window */
	assert_true(d->read.low < 20 * 500 && d->read.high > 20 * 500);
	assert_true(d->read.bytes > 20 * 350 && d->read.bytes < 20 * 650);
	assert_true(d->read.low < d->read.bytes);
	assert_int_equal(d->running_ns * 2, d->enabled_ns);
	report_free(r);
	book_free(b);
	identity_free(names);
}

static void why_is(unsigned int off, const char *why)
{
	const uint64_t bytes[NR] = { [SLC_RD] = 1000, [REQ_RD] = 1, [ALL_RD] = 1 };
	struct report *r;
	struct book *b;

	make_names();
	b = book_make();
	window(b, bytes, off);
	r = close_book(b);
	assert_int_equal(r->devices[LINK - 1].how, HOW_NONE);
	assert_false(r->devices[LINK - 1].read.valid || r->devices[LINK - 1].write.valid);
	assert_string_equal(r->devices[LINK - 1].why_none, why);
	report_free(r);
	book_free(b);
	identity_free(names);
}

static void test_reasons(void **state)
{
	(void)state;
	why_is(1u << G_SLC, "the fabric's bytes were not read");
	why_is(1u << G_RC1, "a root complex was not read");
	why_is(1u << G_REQ, "its requests were not read");
	strcpy(devices[LINK - 1].why, "which of two");
	why_is(~0u, "the fabric's bytes were not read");
	devices[LINK - 1].why[0] = '\0';
}

/* Of memory's traffic the owner of the link has what no PCIe device has, and never more. */
static void test_memory(void **state)
{
	const struct {
		uint64_t memory, pcie, moved, want;
	} rows[] = {
		{ 1000, 100, 700, 700 }, { 1000, 400, 700, 600 }, { 1000, 1000, 700, 0 },
		{ 1000, 2000, 700, 0 },	 { 0, 100, 700, 0 },	  { 1000, 0, 5000, 1000 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const uint64_t bytes[NR] = { [MEM_RD] = rows[i].memory,
					     [GPU_RD] = rows[i].pcie,
					     [RC0_RD] = rows[i].pcie,
					     [SLC_RD] = rows[i].pcie + rows[i].moved,
					     [REQ_RD] = 1,
					     [ALL_RD] = 1 };
		struct report *r;
		struct book *b;

		make_names();
		b = book_make();
		window(b, bytes, 0);
		book_exclusive(b, LINK - 1, owner(b, 7), false);
		r = close_book(b);
		assert_int_equal(r->counters[MEM_RD].attributed, rows[i].want);
		assert_int_equal(r->devices[LINK - 1].read.owned, rows[i].moved);
		report_free(r);
		book_free(b);
		identity_free(names);
	}
}

/* Processes 7 and 8 of one cgroup have contexts on the GPU, and worked for so long. */
static void use(struct book *b, uint64_t busy_7, uint64_t busy_8)
{
	struct book_process processes[] = {
		{ .pid = 7, .start_ns = 70, .to_ns = now, .busy_ns = busy_7 },
		{ .pid = 8, .start_ns = 80, .to_ns = now, .busy_ns = busy_8 },
	};
	const struct book_use u = { .rule = OWNER_CONTEXTS,
				    .known = true,
				    .end_ns = now,
				    .told_ns = 100,
				    .processes = processes,
				    .nr = 2 };

	for (int i = 0; i < 2; i++)
		assert_int_equal(identity_workload(names, processes[i].pid, processes[i].pid,
						   processes[i].start_ns, 1,
						   &processes[i].workload),
				 0);
	assert_int_equal(book_use(b, GPU - 1, &u), 0);
	assert_int_equal(book_use(b, LINK - 1, &u), 0);
}

/* Two rows of one owner: both sides of the link, and its memory, in proportion to their work. */
static void test_divided(void **state)
{
	const uint64_t bytes[NR] = { [MEM_RD] = 1000, [SLC_RD] = 1000, [REQ_RD] = 1, [ALL_RD] = 1 };

	(void)state;
	for (int told = 0; told < 2; told++) {
		const struct row_device *part;
		struct report *r;
		struct book *b;

		make_names();
		b = book_make();
		window(b, bytes, 0);
		use(b, told ? 30 : 0, told ? 10 : 0);
		r = close_book(b);
		assert_int_equal(r->devices[LINK - 1].read.owned, told ? 1000 : 0);
		assert_int_equal(r->counters[MEM_RD].attributed, told ? 1000 : 0);
		assert_int_equal(r->devices[LINK - 1].by.undivided, !told);
		for (size_t i = 0; told && i < r->nr_rows; i++) {
			part = &r->rows[i].devices[0];
			while (part->device != LINK - 1)
				part++;
			assert_int_equal(part->read_bytes, r->rows[i].pid == 7 ? 750 : 250);
			assert_true(part->read_low == 0 && part->read_high == 1000);
		}
		report_free(r);
		book_free(b);
		identity_free(names);
	}
}

/* Whatever is counted, nothing is twice or lost, and owners never have more than there is. */
static void test_random(void **state)
{
	struct draw draw = { 41 };

	(void)state;
	for (int run = 0; run < 200; run++) {
		struct book *total, *b;

		make_names();
		total = book_make();
		for (int k = 0; k < 4; k++) {
			b = book_make();
			for (int i = 0; i < 3; i++) {
				uint64_t bytes[NR];

				for (size_t c = 0; c < NR; c++)
					bytes[c] =
						draw_below(&draw, 3) * draw_below(&draw, 1u << 20);
				bytes[ALL_RD] += bytes[REQ_RD];
				bytes[ALL_WR] += bytes[REQ_WR];
				window(b, bytes, (unsigned int)draw_below(&draw, 4) << G_RC0);
			}
			if (!draw_below(&draw, 3))
				use(b, draw_below(&draw, 1000), draw_below(&draw, 1000));
			else if (draw_below(&draw, 2))
				book_exclusive(b, LINK - 1, owner(b, 7 + draw_below(&draw, 2)),
					       false);
			report_free(close_book(b));
			assert_int_equal(book_add(total, b), 0);
			book_free(b);
		}
		report_free(report_of(total));
		book_free(total);
		identity_free(names);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_derived),	    cmocka_unit_test(test_cut_once),
		cmocka_unit_test(test_no_requests), cmocka_unit_test(test_turns),
		cmocka_unit_test(test_reasons),	    cmocka_unit_test(test_memory),
		cmocka_unit_test(test_divided),	    cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
