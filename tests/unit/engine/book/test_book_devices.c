// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "engine/book/book_rows.h"
#include "book_world.h"

static void rows_own_what_they_asked_for(void **state)
{
	const uint64_t all[] = { 1000, 500, 7 };
	struct world w = world_new(ROW_PROCESS, false);
	uint32_t mine = workload(&w, 7, 1), other = workload(&w, 8, 1);
	struct portion p[] = {
		{ mine, 600 }, { other, 100 }, { WORKLOAD_LOST, 50 }, { WORKLOAD_BACKGROUND, 250 }
	};
	const struct row_device *d;
	struct report *r;

	(void)state;
	identity_follow(w.id, 7);
	window(&w, 2, 10, all);
	bytes(&w, DISK_RD, 1000, p, 4);
	bounds(&w, DISK_RD, mine, 550, 700);
	bytes(&w, DISK_WR, 500, NULL, 0);
	bytes(&w, DISK_REQ, 7, NULL, 0);
	assert_int_equal(book_io(w.book, 0, mine, 590, 3), 0);
	assert_int_equal(book_io(w.book, 0, other, 100, 0), 0);
	assert_int_equal(book_io(w.book, 0, WORKLOAD_LOST, 50, 1), 0);
	assert_int_equal(book_io(w.book, 4, mine, 0, 4096), 0);
	r = report_of(&w);
	check(r);
	assert_int_equal(r->quality.windows, 0); /* of memory counters: none */
	assert_int_equal(r->quality.unowned_io_bytes, 51);
	assert_int_equal(r->counters[DISK_RD].unattributed[REASON_OTHER], 100);
	assert_int_equal(r->counters[DISK_RD].unattributed[REASON_LOST], 50);
	assert_int_equal(r->counters[DISK_RD].unattributed[REASON_DEVICE], 250);
	assert_int_equal(r->counters[DISK_WR].unattributed[REASON_DEVICE], 500);
	assert_int_equal(r->nr_devices, 5);
	assert_true(r->devices[0].read.valid && r->devices[0].read.requests_valid);
	assert_int_equal(r->devices[0].read.bytes, 1000);
	assert_int_equal(r->devices[0].read.low, 1000);
	assert_int_equal(r->devices[0].read.high, 1000);
	assert_int_equal(r->devices[0].read.owned, 600);
	assert_int_equal(r->devices[0].read.requests, 7);
	assert_int_equal(r->devices[0].read.io_bytes, 740);
	assert_int_equal(r->devices[0].write.io_bytes, 4);
	assert_false(r->devices[0].write.requests_valid);
	assert_false(r->devices[0].read.split);
	assert_int_equal(r->devices[0].turns, 1);
	/* neither counted, nor 0 */
	assert_false(r->devices[4].read.valid || r->devices[4].write.valid);
	assert_int_equal(r->devices[4].write.io_bytes, 4096);
	assert_int_equal(r->nr_rows, 1);
	assert_int_equal(r->rows[0].nr_devices, 2);
	d = part(&r->rows[0], DISK);
	assert_true(d->counted);
	assert_int_equal(d->read_bytes, 600);
	assert_int_equal(d->read_low, 550);
	assert_int_equal(d->read_high, 700);
	assert_int_equal(d->io_read_bytes, 590);
	assert_int_equal(d->io_write_bytes, 3);
	assert_false(part(&r->rows[0], SILENT)->counted);
	assert_int_equal(part(&r->rows[0], SILENT)->io_write_bytes, 4096);
	report_free(r);
	world_free(&w);
}

static void memory_traffic_is_the_owners(void **state)
{
	const uint64_t disk[] = { 1000, 500, 0 }, nic[] = { 300, 200, 400, 900 };
	const uint64_t few[] = { 0, 3000, 700 };
	struct world w = world_new(ROW_PROCESS, true);
	uint32_t a = workload(&w, 7, 1), b = workload(&w, 8, 1);
	struct portion pa[] = { { a, 800 }, { WORKLOAD_BACKGROUND, 200 } };
	struct portion pb[] = { { b, 300 } }, pg[] = { { b, 200 } }, pp[] = { { b, 400 } };
	struct portion wa[] = { { a, 500 } }, wb[] = { { b, 900 } };
	struct report *r;

	(void)state;
	nobodys(&w, 0, few);
	window(&w, 2, 10, disk);
	bytes(&w, DISK_RD, 1000, pa, 2);
	bounds(&w, DISK_RD, a, 700, 900);
	bytes(&w, DISK_WR, 500, wa, 1);
	bounds(&w, DISK_WR, a, 500, 500);
	window(&w, 3, 10, nic);
	bytes(&w, NIC_CMEM, 300, pb, 1);
	bounds(&w, NIC_CMEM, b, 300, 300);
	bytes(&w, NIC_GMEM, 200, pg, 1);
	bounds(&w, NIC_GMEM, b, 200, 200);
	bytes(&w, NIC_P2P, 400, pp, 1);
	bounds(&w, NIC_P2P, b, 400, 400);
	bytes(&w, NIC_WR, 900, wb, 1);
	bounds(&w, NIC_WR, b, 900, 900);
	r = report_of(&w);
	check(r);
	/* more traffic than devices moved: each row has its bytes, and no more */
	assert_int_equal(share(row(r, "pid:7:70"), UCF_RD)->value, 800);
	assert_int_equal(share(row(r, "pid:7:70"), UCF_RD)->low, 700);
	assert_int_equal(share(row(r, "pid:7:70"), UCF_RD)->high, 901);
	assert_int_equal(share(row(r, "pid:8:80"), UCF_RD)->value, 500); /* not to devices */
	assert_int_equal(r->counters[UCF_RD].unattributed[REASON_DEVICE], 1700);
	/* less: in proportion */
	assert_int_equal(share(row(r, "pid:7:70"), UCF_WR)->value, 250);
	assert_int_equal(share(row(r, "pid:8:80"), UCF_WR)->value, 450);
	assert_int_equal(r->counters[UCF_WR].unattributed[REASON_DEVICE], 0);
	assert_true(r->devices[NIC - 1].read.split);
	assert_int_equal(r->devices[NIC - 1].read.bytes, 900);
	assert_int_equal(r->devices[NIC - 1].read.to[DESTINATION_P2P], 400);
	assert_false(r->devices[NIC - 1].write.split);
	assert_int_equal(r->devices[NIC - 1].write.to[DESTINATION_ANY], 0);
	assert_null(share(row(r, "pid:7:70"), UCF_WR1)); /* the other socket's */
	report_free(r);
	world_free(&w);
}

static void turns_are_scaled_exactly(void **state)
{
	const uint64_t all[] = { 1001, 10, 1 };
	struct world w = world_new(ROW_PROCESS, true);
	uint32_t a = workload(&w, 7, 1), b = workload(&w, 8, 1);
	struct portion p[] = { { a, 333 }, { b, 668 } };
	struct report *r;

	(void)state;
	for (int turn = 0; turn < 5; turn++) {
		window(&w, 2, 10, all);
		bytes(&w, DISK_RD, 1001, p, 2);
		bounds(&w, DISK_RD, a, 333, 333);
		bounds(&w, DISK_RD, b, 668, 668);
		for (int k = 0; k < 3; k++)
			window(&w, 2, 0, all);
	}
	r = report_of(&w);
	check(r);
	assert_int_equal(r->counters[DISK_RD].value, 20020);
	assert_int_equal(r->counters[DISK_RD].enabled_ns, 200);
	assert_int_equal(r->counters[DISK_RD].running_ns, 50);
	assert_int_equal(r->devices[0].enabled_ns, 200);
	assert_int_equal(r->devices[0].running_ns, 50);
	assert_int_equal(r->devices[0].turns, 5);
	assert_int_equal(share(row(r, "pid:7:70"), DISK_RD)->value, 6660);
	/* five turns that do not differ */
	assert_true(r->devices[0].read.low > 20010 && r->devices[0].read.high < 20030 + 201);
	report_free(r);
	world_free(&w);
}

/* A reading that failed is no 0, and not a time without a turn. */
static void what_was_not_read_is_absent(void **state)
{
	struct reading none[4] = { 0 };
	struct trace_window window = { 3, 0, 10, none };
	struct world w = world_new(ROW_PROCESS, true);
	struct report *r;

	(void)state;
	assert_int_equal(w.sink.window(w.sink.arg, &window), 0);
	none[3] = (struct reading){ 5, 10, 10 }; /* writes could be read */
	assert_int_equal(w.sink.window(w.sink.arg, &window), 0);
	bytes(&w, NIC_WR, 5, NULL, 0);
	r = report_of(&w);
	check(r);
	assert_false(r->devices[NIC - 1].read.valid);
	assert_true(r->devices[NIC - 1].write.valid);
	assert_false(r->counters[NIC_CMEM].valid);
	report_free(r);
	world_free(&w);
}

static void ports_check_and_own_nothing(void **state)
{
	const uint64_t disk[] = { 1000, 0, 0 }, nic[] = { 100, 0, 0, 50 }, port[] = { 1160, 0 };
	const uint64_t traffic[] = { 0, 5000, 0 };
	struct world w = world_new(ROW_PROCESS, true);
	struct portion p[] = { { workload(&w, 7, 1), 1160 } };
	struct report *r;

	(void)state;
	nobodys(&w, 0, traffic);
	nobodys(&w, 2, disk);
	nobodys(&w, 3, nic);
	window(&w, 4, 10, port);
	bytes(&w, PORT_RD, 1160, p, 1);
	bounds(&w, PORT_RD, p[0].workload, 0, 1160);
	r = report_of(&w);
	check(r);
	assert_true(r->devices[PORT - 1].sum_valid);
	assert_int_equal(r->devices[PORT - 1].sum_bytes, 1150);
	assert_int_equal(r->devices[PORT - 1].sum_low, 1160);
	assert_int_equal(r->devices[PORT - 1].sum_high, 1160);
	assert_false(r->devices[DISK - 1].sum_valid);
	assert_int_equal(r->counters[PORT_RD].attributed, 0);
	assert_int_equal(r->counters[UCF_RD].attributed, 0);
	report_free(r);

	/* in turns, both sides are uncertain */
	book_clear(w.book);
	for (int turn = 0; turn < 10; turn++) {
		const uint64_t d[] = { 1000 + 10 * turn, 0, 0 }, n[] = { 100, 0, 0, 50 };
		const uint64_t all[] = { 1190 - 5 * turn, 0 };

		nobodys(&w, 2, d);
		window(&w, 2, 0, d);
		nobodys(&w, 3, n);
		nobodys(&w, 4, all);
		window(&w, 4, 0, all);
	}
	r = report_of(&w);
	check(r);
	assert_true(r->devices[PORT - 1].sum_low < 23350);
	assert_true(r->devices[PORT - 1].sum_high > 23350 + 200);
	assert_int_equal(r->devices[PORT - 1].sum_bytes, 20900 + 1500);
	report_free(r);
	world_free(&w);
}

/* Of a request whose task is not known, the cgroup may be. */
static void only_the_cgroup_is_known(void **state)
{
	const uint64_t all[] = { 100, 0, 0 };

	(void)state;
	for (int by = ROW_PROCESS; by <= ROW_CGROUP; by++) {
		struct world w = world_new(by, true);
		struct portion p[] = { { 0, 60 }, { WORKLOAD_BACKGROUND, 40 } };
		struct report *r;

		assert_int_equal(identity_workload(w.id, 0, 0, 0, 5, &p[0].workload), 0);
		assert_int_equal(identity_cgroup(w.id, 5, "/job"), 0);
		window(&w, 2, 10, all);
		bytes(&w, DISK_RD, 100, p, 2);
		assert_int_equal(book_io(w.book, 0, p[0].workload, 70, 0), 0);
		if (by == ROW_CGROUP) {
			bounds(&w, DISK_RD, p[0].workload, 60, 60);
			r = report_of(&w);
			assert_int_equal(share(row(r, "cgroup:5"), DISK_RD)->value, 60);
			assert_int_equal(part(row(r, "cgroup:5"), DISK)->io_read_bytes, 70);
			assert_int_equal(r->quality.unowned_io_bytes, 0);
			assert_false(row(r, "cgroup:5")->exited);
		} else {
			assert_int_equal(number(&w, p[0].workload), SPLIT_NO_ROW);
			r = report_of(&w);
			assert_int_equal(r->nr_rows, 0);
			assert_int_equal(r->counters[DISK_RD].unattributed[REASON_LOST], 60);
			assert_int_equal(r->quality.unowned_io_bytes, 70);
		}
		check(r);
		report_free(r);
		world_free(&w);
	}
}

static void exclusive_rows(void **state)
{
	struct world w = world_new(ROW_PROCESS, true);
	struct book *total = new_book(w.id, ROW_PROCESS, true);
	uint32_t a = workload(&w, 7, 1), b = workload(&w, 8, 1);
	struct report *r;

	(void)state;
	for (int i = 0; i < 2; i++) {
		book_exclusive(w.book, 0, number(&w, a), false);
		book_exclusive(w.book, 1, number(&w, i ? a : b), false);
		book_exclusive(w.book, 2, i ? number(&w, a) : SPLIT_NO_ROW, !i);
		book_exclusive(w.book, 3, SPLIT_NO_ROW, false);
		book_exclusive(w.book, 4, i ? number(&w, a) : SPLIT_NO_ROW, false);
		r = report_of(&w);
		assert_string_equal(r->devices[0].exclusive, "pid:7:70");
		assert_string_equal(r->devices[1].exclusive, i ? "pid:7:70" : "pid:8:80");
		assert_string_equal(r->devices[3].exclusive, "");
		assert_string_equal(r->devices[4].exclusive, i ? "pid:7:70" : "");
		for (int k = 0; k < 5; k++)
			assert_int_equal(r->devices[k].shared, k == 2 && !i);
		report_free(r);
		assert_int_equal(book_add(total, w.book), 0);
		book_clear(w.book);
	}
	r = calloc(1, sizeof(*r));
	assert_int_equal(book_report(total, r), 0);
	assert_string_equal(r->devices[0].exclusive, "pid:7:70");
	for (int k = 1; k < 5; k++) {
		assert_string_equal(r->devices[k].exclusive, "");
		/* who had it in turn shared it; what is not known of an interval, is not */
		assert_int_equal(r->devices[k].shared, k == 1 || k == 2);
	}
	report_free(r);
	book_free(total);
	world_free(&w);
}

/* Pooled rows, and rows of parents, have what those in them had. */
static void pooled_and_summed(void **state)
{
	const uint64_t all[] = { 1000, 0, 0 }, traffic[] = { 0, 800, 0 };
	struct world w = world_new(ROW_PROCESS, true);
	struct world c = world_new(ROW_CGROUP, true);
	struct portion p[100], q[3];
	const struct report_row *top;
	struct report *r;

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		p[i] = (struct portion){ workload(&w, 10 + i, 1), 10 };
		identity_exit(w.id, 10 + i, (10 + i) * 10);
		assert_int_equal(book_io(w.book, 0, p[i].workload, 9, 1), 0);
	}
	nobodys(&w, 0, traffic);
	window(&w, 2, 10, all);
	bytes(&w, DISK_RD, 1000, p, 100);
	for (uint32_t i = 0; i < 100; i++)
		bounds(&w, DISK_RD, p[i].workload, 5, 10);
	assert_int_equal(book_finish(w.book), 0);
	assert_int_equal(book_pool(w.book, 40), 0);
	r = calloc(1, sizeof(*r));
	assert_int_equal(book_report(w.book, r), 0);
	check(r);
	assert_true(r->quality.rows_pooled >= 60);
	top = row(r, "pid:0:0");
	assert_int_equal(share(top, DISK_RD)->value, 10 * r->quality.rows_pooled);
	assert_int_equal(part(top, DISK)->io_read_bytes, 9 * r->quality.rows_pooled);
	assert_int_equal(share(top, UCF_RD)->value, 8 * r->quality.rows_pooled);
	report_free(r);
	world_free(&w);

	assert_int_equal(identity_cgroup(c.id, 1, "/a"), 0);
	assert_int_equal(identity_cgroup(c.id, 2, "/a/x"), 0);
	assert_int_equal(identity_cgroup(c.id, 3, "/a/y"), 0);
	nobodys(&c, 0, traffic);
	window(&c, 2, 10, all);
	window(&c, 5, 10, all);
	for (uint32_t i = 0; i < 3; i++) {
		q[i] = (struct portion){ workload(&c, 10 + i, 1 + i), 300 + i };
		assert_int_equal(book_io(c.book, i, q[i].workload, 9, 1), 0);
	}
	bytes(&c, DISK_RD, 301 + 302, q + 1, 2);
	bytes(&c, DISK1_WR, 300, q, 1);
	bounds(&c, DISK_RD, q[1].workload, 0, 603);
	bounds(&c, DISK_RD, q[2].workload, 0, 603);
	bounds(&c, DISK1_WR, q[0].workload, 300, 300);
	r = report_of(&c);
	check(r);
	top = row(r, "cgroup:1");
	assert_false(top->leaf);
	assert_int_equal(share(top, DISK_RD)->value, 603);
	assert_int_equal(share(top, DISK_RD)->high, 603);
	assert_int_equal(share(top, DISK1_WR)->value, 300);
	assert_int_equal(top->nr_devices, 4 - 0);
	assert_int_equal(part(top, DISK)->read_bytes, 603);
	assert_int_equal(part(top, DISK1)->write_bytes, 300);
	assert_int_equal(part(top, PORT)->io_read_bytes, 9);
	assert_null(share(row(r, "cgroup:1:own"), DISK_RD));
	report_free(r);
	world_free(&c);
}

/* The first counter of a group may never count; turns are those of the others. */
static void a_counter_of_the_group_is_missing(void **state)
{
	struct world w = world_new(ROW_PROCESS, true);
	struct reading *r = w.readings[2];
	struct report *report;

	(void)state;
	for (uint64_t i = 0; i < 20; i++) {
		uint64_t moved = i % 4 ? 0 : 100 * (i / 4);

		r[0] = i % 2 ? (struct reading){ 0 } : (struct reading){ 0, 10, 0 };
		r[1] = (struct reading){ moved, 10, i % 4 ? 0 : 10 };
		r[2] = (struct reading){ 0 };
		w.last[2] = (struct trace_window){ 2, i * 10, i * 10 + 10, r };
		assert_int_equal(w.sink.window(w.sink.arg, &w.last[2]), 0);
		if (i % 4 == 0)
			bytes(&w, DISK_WR, moved, NULL, 0);
	}
	report = report_of(&w);
	check(report);
	assert_false(report->devices[DISK - 1].read.valid);
	assert_int_equal(report->devices[DISK - 1].write.bytes, 4000);
	assert_int_equal(report->devices[DISK - 1].running_ns, 50);
	assert_int_equal(report->devices[DISK - 1].turns, 5);
	assert_true(report->devices[DISK - 1].write.low < 3500);
	assert_true(report->devices[DISK - 1].write.high > 4500);
	report_free(report);
	world_free(&w);
}

/* What is not known of where a device is says nothing of which traffic is its own. */
static void doubt_is_where_it_is_counted(void **state)
{
	const uint64_t traffic[] = { 2000 };
	const struct share *disk, *memory;
	struct device lost[5];
	struct book_scope scope = { .all = true, .devices = lost, .nr_devices = 5 };
	struct world w = { 0 };
	struct report *r;
	struct portion p;

	(void)state;
	memcpy(lost, devices, sizeof(lost));
	lost[DISK1 - 1].socket = 0; /* counted on socket 1 */
	assert_int_equal(identity_new(&w.id), 0);
	assert_int_equal(book_new(&layout, &scope, w.id, &w.book), 0);
	w.sink = book_sink(w.book);
	p.workload = workload(&w, 7, 1);
	nobodys(&w, 1, traffic);
	for (uint64_t i = 0; i < 8; i++) {
		p.bytes = 500 + 10 * i;
		window(&w, 5, i % 2 ? 0 : 10, &p.bytes);
		if (i % 2)
			continue;
		bytes(&w, DISK1_WR, p.bytes, &p, 1);
		bounds(&w, DISK1_WR, p.workload, p.bytes, p.bytes);
	}
	r = report_of(&w);
	check(r);
	disk = share(&r->rows[0], DISK1_WR);
	memory = share(&r->rows[0], UCF_WR1);
	assert_int_equal(disk->value, 4240);
	assert_int_equal(memory->value, 2000);
	/* the row may have moved as little as it says, and the device more than that */
	assert_true(disk->low > 4000 && r->devices[DISK1 - 1].write.high > 4300);
	assert_true(memory->low < 2000 * disk->low / 4240 - 10);
	report_free(r);
	world_free(&w);
}

/* Bounds of rows that are pooled add up to no more than there is. */
static void the_pool_has_no_more_than_all(void **state)
{
	const uint64_t all[] = { 1000, 0, 0 };
	struct world w = world_new(ROW_PROCESS, true);
	struct portion p[100];
	struct report *r = calloc(1, sizeof(*r));

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		p[i] = (struct portion){ workload(&w, 10 + i, 1), 10 };
		identity_exit(w.id, 10 + i, (10 + i) * 10);
		for (int k = 0; k < 2; k++)
			assert_int_equal(book_io(w.book, 0, p[i].workload, 1ull << 63, 1), 0);
	}
	window(&w, 2, 10, all);
	bytes(&w, DISK_RD, 1000, p, 100);
	for (uint32_t i = 0; i < 100; i++)
		bounds(&w, DISK_RD, p[i].workload, 0, 1000);
	assert_int_equal(book_finish(w.book), 0);
	assert_int_equal(book_pool(w.book, 10), 0);
	assert_int_equal(book_report(w.book, r), 0);
	check(r);
	assert_int_equal(share(row(r, "pid:0:0"), DISK_RD)->high, 1000);
	assert_int_equal(part(row(r, "pid:0:0"), DISK)->io_read_bytes, UINT64_MAX);
	report_free(r);
	world_free(&w);
}

/* A device that had no turn in an interval is scaled up in the summary. */
static void intervals_without_a_turn(void **state)
{
	const uint64_t all[] = { 100, 0, 0 };
	struct world w = world_new(ROW_PROCESS, true);
	struct book *total = new_book(w.id, ROW_PROCESS, true);
	struct portion p[] = { { workload(&w, 7, 1), 70 }, { WORKLOAD_BACKGROUND, 30 } };
	struct report *r;

	(void)state;
	for (int i = 0; i < 4; i++) {
		window(&w, 2, i % 2 ? 0 : 10, all);
		if (i % 2 == 0) {
			bytes(&w, DISK_RD, 100, p, 2);
			bounds(&w, DISK_RD, p[0].workload, 60, 80);
		}
		r = report_of(&w);
		check(r);
		assert_int_equal(r->devices[0].read.valid, i % 2 == 0);
		report_free(r);
		assert_int_equal(book_add(total, w.book), 0);
		book_clear(w.book);
	}
	for (int i = 0; i < 2; i++) { /* the second one changes nothing */
		r = calloc(1, sizeof(*r));
		assert_int_equal(book_fill_gaps(total), 0);
		assert_int_equal(book_report(total, r), 0);
		check(r);
		assert_int_equal(r->devices[0].read.bytes, 400);
		assert_int_equal(r->devices[0].read.owned, 280);
		assert_int_equal(r->devices[0].turns, 2);
		assert_int_equal(r->devices[0].enabled_ns, 40);
		assert_int_equal(r->devices[0].running_ns, 20);
		report_free(r);
	}
	book_free(total);
	world_free(&w);
}

/*
 * Traffic by destination, and a disk that does not tell where its bytes go: what it moved is
 * not booked twice.
 */
static void destinations_share_a_claim(void **state)
{
	static struct counter split[] = {
		{ .source = SOURCE_DEVICE, .destination = DESTINATION_CMEM },
		{ .source = SOURCE_DEVICE, .destination = DESTINATION_GMEM },
		{ .source = SOURCE_DEVICE, .group = 1, .device = DISK },
		{ .source = SOURCE_DEVICE,
		  .group = 2,
		  .device = NIC,
		  .destination = DESTINATION_GMEM },
	};
	static struct group split_groups[] = { { 0, 0, 2 }, { 0, 2, 1 }, { 0, 3, 1 } };
	struct layout l = layout;
	struct book_scope scope = { .all = true, .devices = devices, .nr_devices = 5 };

	(void)state;
	l.counters = split;
	l.groups = split_groups;
	l.nr_counters = 4;
	l.nr_groups = 3;
	for (int with_disk = 0; with_disk < 2; with_disk++) {
		struct reading r[2] = { { 800, 10, 10 }, { 400, 10, 10 } };
		struct trace_window window = { 0, 0, 10, r };
		struct world w = { 0 };
		struct portion p;
		struct report *report;

		assert_int_equal(identity_new(&w.id), 0);
		assert_int_equal(book_new(&l, &scope, w.id, &w.book), 0);
		w.sink = book_sink(w.book);
		p = (struct portion){ workload(&w, 7, 1), 300 };
		for (uint32_t i = 0; i < 2; i++) {
			if (!i)
				assert_int_equal(w.sink.window(w.sink.arg, &window), 0);
			w.sink.bytes(w.sink.arg, i, &window, r[i].value, NULL, 0);
		}
		window.group = with_disk ? 1 : 2;
		assert_int_equal(w.sink.window(w.sink.arg, &window), 0);
		w.sink.bytes(w.sink.arg, with_disk ? 2 : 3, &window, 300, &p, 1);
		bounds(&w, with_disk ? 2 : 3, p.workload, 300, 300);
		report = report_of(&w);
		check(report);
		/* the disk's 300 are spread as the traffic is, the card's went to one place */
		assert_int_equal(report->counters[0].attributed, with_disk ? 200 : 0);
		assert_int_equal(report->counters[1].attributed, with_disk ? 100 : 300);
		report_free(report);
		world_free(&w);
	}
}

/*
 * The disk counts all of the time, and the card's and the port's turns stop its PMU, if it is the
 * same: for 10 of 40 ns at most when both have turns, for 20 when one has.
 */
static void turns_beside_are_in_bars(void **state)
{
	static const struct {
		const char *disk, *nic, *port;
		uint64_t high, row;
	} cases[] = {
		{ "p", "p", "p", 500, 300 },
		{ "p", "p", "q", 600, 360 },
		{ "p", "q", "q", 400, 240 },
		{ "", "", "", 400, 240 },
	};
	const uint64_t disk[] = { 100, 0, 0 }, other[] = { 0, 0, 0, 0 };
	struct counter named[NR];
	struct layout l = layout;
	struct book_scope scope = { .all = true, .devices = devices, .nr_devices = 5 };

	(void)state;
	l.counters = named;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world w = { 0 };
		struct portion p[2] = { { 0, 60 }, { WORKLOAD_BACKGROUND, 40 } };
		struct report *r;

		for (int c = 0; c < NR; c++) {
			const char *pmu = counters[c].device == DISK  ? cases[i].disk
					  : counters[c].device == NIC ? cases[i].nic
								      : cases[i].port;

			named[c] = counters[c];
			strcpy(named[c].pmu, pmu);
		}
		assert_int_equal(identity_new(&w.id), 0);
		assert_int_equal(book_new(&l, &scope, w.id, &w.book), 0);
		w.sink = book_sink(w.book);
		p[0].workload = workload(&w, 7, 1);
		for (int k = 0; k < 4; k++) {
			window(&w, 2, 10, disk);
			bytes(&w, DISK_RD, 100, p, 2);
			bounds(&w, DISK_RD, p[0].workload, 50, 60);
			window(&w, 3, k % 2 ? 0 : 10, other);
			window(&w, 4, k == 1 ? 10 : 0, other);
		}
		r = report_of(&w);
		check(r);
		assert_int_equal(r->devices[0].read.bytes, 400);
		assert_int_equal(r->devices[0].read.low, 400);
		assert_int_equal(r->devices[0].read.high, cases[i].high);
		assert_int_equal(r->counters[DISK_RD].high, cases[i].high);
		assert_int_equal(share(row(r, "pid:7:70"), DISK_RD)->high, cases[i].row);
		report_free(r);
		world_free(&w);
	}
}

/*
 * Memory traffic counts all of the time. Turns of the card stop its PMU, if it is the same: at most
 * for the 20 of 40 ns that the card has no turn.
 */
static void turns_stop_memory(void **state)
{
	const uint64_t memory[] = { 100, 100, 0 }, disk[] = { 10, 0, 0 }, nic[] = { 0, 0, 0, 0 };
	struct counter named[NR];
	struct layout l = layout;
	struct book_scope scope = { .all = true, .devices = devices, .nr_devices = 5 };

	(void)state;
	memcpy(named, counters, sizeof(named));
	l.counters = named;
	for (int same = 0; same < 2; same++) {
		struct world w = { 0 };
		struct portion p[2] = { { 0, 60 }, { WORKLOAD_LOST, 40 } }, d[1];
		struct report *r;

		for (int c = CPU; c <= UCF_WR; c++)
			strcpy(named[c].pmu, "u");
		for (int c = NIC_CMEM; c <= NIC_WR; c++)
			strcpy(named[c].pmu, same ? "u" : "v");
		assert_int_equal(identity_new(&w.id), 0);
		assert_int_equal(book_new(&l, &scope, w.id, &w.book), 0);
		w.sink = book_sink(w.book);
		p[0].workload = workload(&w, 7, 1);
		d[0] = (struct portion){ p[0].workload, 10 };
		for (int k = 0; k < 4; k++) {
			window(&w, 0, 10, memory);
			bytes(&w, CPU, 100, p, 2);
			bounds(&w, CPU, p[0].workload, 60, 60);
			bytes(&w, UCF_RD, 100, NULL, 0);
			window(&w, 2, 10, disk);
			bytes(&w, DISK_RD, 10, d, 1);
			bounds(&w, DISK_RD, p[0].workload, 10, 10);
			window(&w, 3, k % 2 ? 0 : 10, nic);
		}
		r = report_of(&w);
		check(r);
		assert_int_equal(r->counters[CPU].value, 400);
		assert_int_equal(r->counters[CPU].low, 400);
		assert_int_equal(r->counters[CPU].high, same ? 600 : 400);
		assert_int_equal(share(row(r, "pid:7:70"), CPU)->value, 240);
		assert_int_equal(share(row(r, "pid:7:70"), CPU)->high, same ? 360 : 240);
		assert_int_equal(r->counters[UCF_RD].high, same ? 600 : 400);
		/* more traffic than the disk moved: still no more than that */
		assert_int_equal(share(row(r, "pid:7:70"), UCF_RD)->value, 40);
		assert_int_equal(share(row(r, "pid:7:70"), UCF_RD)->low, 40);
		assert_int_equal(share(row(r, "pid:7:70"), UCF_RD)->high, 41);
		report_free(r);
		world_free(&w);
	}
}

/* Memory traffic that counted half of the time: an owner of all of it knows it no better. */
static void owners_of_memory_have_its_bar(void **state)
{
	const uint64_t memory[] = { 0, 0, 100 }, disk[] = { 0, 300, 0 };
	struct world w = world_new(ROW_PROCESS, true);
	struct portion p[] = { { workload(&w, 7, 1), 300 } };
	struct report *r;

	(void)state;
	window(&w, 0, 5, memory);
	bytes(&w, UCF_WR, 100, NULL, 0);
	window(&w, 2, 10, disk);
	bytes(&w, DISK_WR, 300, p, 1);
	bounds(&w, DISK_WR, p[0].workload, 300, 300);
	r = report_of(&w);
	check(r);
	assert_int_equal(r->counters[UCF_WR].value, 200);
	assert_true(r->counters[UCF_WR].low < 200 && r->counters[UCF_WR].high > 200);
	assert_int_equal(share(row(r, "pid:7:70"), UCF_WR)->value, 200);
	assert_int_equal(share(row(r, "pid:7:70"), UCF_WR)->low, r->counters[UCF_WR].low);
	assert_true(share(row(r, "pid:7:70"), UCF_WR)->high > 200);
	report_free(r);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_own_what_they_asked_for),
		cmocka_unit_test(memory_traffic_is_the_owners),
		cmocka_unit_test(turns_are_scaled_exactly),
		cmocka_unit_test(what_was_not_read_is_absent),
		cmocka_unit_test(ports_check_and_own_nothing),
		cmocka_unit_test(only_the_cgroup_is_known),
		cmocka_unit_test(exclusive_rows),
		cmocka_unit_test(pooled_and_summed),
		cmocka_unit_test(intervals_without_a_turn),
		cmocka_unit_test(a_counter_of_the_group_is_missing),
		cmocka_unit_test(doubt_is_where_it_is_counted),
		cmocka_unit_test(the_pool_has_no_more_than_all),
		cmocka_unit_test(destinations_share_a_claim),
		cmocka_unit_test(turns_beside_are_in_bars),
		cmocka_unit_test(turns_stop_memory),
		cmocka_unit_test(owners_of_memory_have_its_bar),
	};

	return cmocka_run_group_tests_name("book_devices", tests, NULL, NULL);
}
