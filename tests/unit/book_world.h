/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Two sockets with devices, and a book of them, for tests. */
#ifndef TESTS_BOOK_WORLD_H
#define TESTS_BOOK_WORLD_H

#include <stdlib.h>
#include <string.h>

#include "engine/book/book.h"

/*
 * Socket 0: reads of tasks; reads and writes of devices; a disk with reads, writes and
 * requests; a network card that tells where its reads go; the port above both. Socket 1:
 * writes of devices, and a disk that writes.
 */
enum {
	CPU,
	UCF_RD,
	UCF_WR,
	UCF_WR1,
	DISK_RD,
	DISK_WR,
	DISK_REQ,
	NIC_CMEM,
	NIC_GMEM,
	NIC_P2P,
	NIC_WR,
	PORT_RD,
	PORT_WR,
	DISK1_WR,
	NR,
};
enum { DISK = 1, NIC, PORT, DISK1, SILENT };

#define RD .direction = DIRECTION_READ
#define WR .direction = DIRECTION_WRITE
static struct counter counters[NR] = {
	[CPU] = { .name = "cpu", .source = SOURCE_CPU, RD },
	[UCF_RD] = { .name = "rd", .source = SOURCE_DEVICE, RD },
	[UCF_WR] = { .name = "wr", .source = SOURCE_DEVICE, WR },
	[UCF_WR1] = { .name = "wr1", .source = SOURCE_DEVICE, WR, .socket = 1, .group = 1 },
	[DISK_RD] = { .name = "d/rd", .source = SOURCE_DEVICE, RD, .group = 2, .device = DISK },
	[DISK_WR] = { .name = "d/wr", .source = SOURCE_DEVICE, WR, .group = 2, .device = DISK },
	[DISK_REQ] = { .name = "d/req",
		       .source = SOURCE_DEVICE,
		       RD,
		       .group = 2,
		       .unit = UNIT_REQUESTS,
		       .device = DISK },
	[NIC_CMEM] = { .name = "n/cmem",
		       .source = SOURCE_DEVICE,
		       RD,
		       .group = 3,
		       .device = NIC,
		       .destination = DESTINATION_CMEM },
	[NIC_GMEM] = { .name = "n/gmem",
		       .source = SOURCE_DEVICE,
		       RD,
		       .group = 3,
		       .device = NIC,
		       .destination = DESTINATION_GMEM },
	[NIC_P2P] = { .name = "n/p2p",
		      .source = SOURCE_DEVICE,
		      RD,
		      .group = 3,
		      .device = NIC,
		      .destination = DESTINATION_P2P },
	[NIC_WR] = { .name = "n/wr", .source = SOURCE_DEVICE, WR, .group = 3, .device = NIC },
	[PORT_RD] = { .name = "p/rd", .source = SOURCE_DEVICE, RD, .group = 4, .device = PORT },
	[PORT_WR] = { .name = "p/wr", .source = SOURCE_DEVICE, WR, .group = 4, .device = PORT },
	[DISK1_WR] = { .name = "e/wr",
		       .source = SOURCE_DEVICE,
		       WR,
		       .socket = 1,
		       .group = 5,
		       .device = DISK1 },
};
static struct group groups[] = {
	{ 0, CPU, 3 },	    { 1, UCF_WR1, 1 }, { 0, DISK_RD, 3 },
	{ 0, NIC_CMEM, 4 }, { 0, PORT_RD, 2 }, { 1, DISK1_WR, 1 },
};
static struct device devices[] = {
	{ .bdf = "0000:01:00.0", .kind = DEVICE_NVME, .filter = DEVICE_BY_ID, .port = PORT },
	{ .bdf = "0000:02:00.0", .kind = DEVICE_NET, .filter = DEVICE_BY_ID, .port = PORT },
	{ .bdf = "0000:00:00.0", .kind = DEVICE_PORT, .filter = DEVICE_BY_PORT },
	{ .bdf = "0008:01:00.0", .kind = DEVICE_NVME, .socket = 1, .filter = DEVICE_BY_PORT },
	{ .bdf = "0009:01:00.0", .kind = DEVICE_BLOCK, .filter = DEVICE_NOT_COUNTED },
};
static uint32_t cpu_socket[] = { 0, 1 };
static uint32_t socket_ids[] = { 0, 1 };
static const struct layout layout = {
	.cpu_socket = cpu_socket,
	.nr_cpus = 2,
	.socket_ids = socket_ids,
	.nr_sockets = 2,
	.counters = counters,
	.nr_counters = NR,
	.groups = groups,
	.nr_groups = 6,
};

struct world {
	struct identity *id;
	struct book *book;
	struct split_sink sink;
	struct trace_window last[6]; /* by group */
	struct reading readings[6][4];
};

static inline struct book *new_book(struct identity *id, enum row_kind by, bool all)
{
	struct book_scope scope = { .by = by, .all = all, .devices = devices, .nr_devices = 5 };
	struct book *b;

	assert_int_equal(book_new(&layout, &scope, id, &b), 0);
	return b;
}

static inline struct world world_new(enum row_kind by, bool all)
{
	struct world w = { 0 };

	assert_int_equal(identity_new(&w.id), 0);
	w.book = new_book(w.id, by, all);
	w.sink = book_sink(w.book);
	return w;
}

static inline void world_free(struct world *w)
{
	book_free(w->book);
	identity_free(w->id);
}

static inline uint32_t workload(struct world *w, uint32_t pid, uint64_t cgroup)
{
	uint32_t id;

	assert_int_equal(identity_workload(w->id, pid, pid, pid * 10, cgroup, &id), 0);
	return id;
}

static inline uint32_t number(struct world *w, uint32_t workload)
{
	uint32_t row;

	assert_int_equal(w->sink.row(w->sink.arg, workload, &row), 0);
	return row;
}

static inline void bounds(struct world *w, uint32_t counter, uint32_t workload, uint64_t low,
			  uint64_t high)
{
	struct bounds b = {
		.row = number(w, workload), .low = low, .high = high, .separable = true
	};

	if (b.row != SPLIT_NO_ROW)
		assert_int_equal(w->sink.bounds(w->sink.arg, counter, &b), 0);
}

/* A window of a group in which all counters ran for @running of 10 ns. */
static inline void window(struct world *w, uint32_t group, uint64_t running, const uint64_t *bytes)
{
	struct reading *r = w->readings[group];
	uint64_t start = w->last[group].end_ns;

	for (uint32_t i = 0; i < groups[group].nr; i++)
		r[i] = (struct reading){ running ? bytes[i] : 0, 10, running };
	w->last[group] = (struct trace_window){ group, start, start + 10, r };
	assert_int_equal(w->sink.window(w->sink.arg, &w->last[group]), 0);
}

static inline void bytes(struct world *w, uint32_t counter, uint64_t bytes, const struct portion *p,
			 size_t nr)
{
	struct reading some[4] = { { 0, 10, 10 }, { 0, 10, 10 }, { 0, 10, 10 }, { 0, 10, 10 } };
	struct trace_window window = w->last[counters[counter].group];

	if (!window.readings) /* the test made its own */
		window.readings = some;
	window.group = counters[counter].group;
	assert_int_equal(w->sink.bytes(w->sink.arg, counter, &window, bytes, p, nr), 0);
}

/* A window of a group that counted; the bytes of its counters have no owner. */
static inline void nobodys(struct world *w, uint32_t group, const uint64_t *all)
{
	window(w, group, 10, all);
	for (uint32_t i = 0; i < groups[group].nr; i++)
		bytes(w, groups[group].first + i, all[i], NULL, 0);
}

static inline struct report *report_of(struct world *w)
{
	struct report *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	assert_int_equal(book_finish(w->book), 0);
	assert_int_equal(book_report(w->book, r), 0);
	return r;
}

static inline const struct report_row *row(const struct report *r, const char *key)
{
	for (size_t i = 0; i < r->nr_rows; i++)
		if (!strcmp(r->rows[i].key, key))
			return &r->rows[i];
	return NULL;
}

static inline const struct share *share(const struct report_row *row, uint32_t counter)
{
	for (size_t i = 0; i < row->nr_shares; i++)
		if (row->shares[i].counter == counter)
			return &row->shares[i];
	return NULL;
}

static inline const struct row_device *part(const struct report_row *row, uint32_t device)
{
	for (size_t i = 0; i < row->nr_devices; i++)
		if (row->devices[i].device == device - 1)
			return &row->devices[i];
	return NULL;
}

/* Every byte is somewhere once, bounds hold values, and rows' devices are their shares. */
static inline void check(const struct report *r)
{
	for (size_t c = 0; c < r->nr_counters; c++) {
		uint64_t sum = 0;

		for (size_t i = 0; i < r->nr_rows; i++) {
			const struct share *s = share(&r->rows[i], c);

			if (!s)
				continue;
			assert_true(s->low <= s->value && s->value <= s->high);
			assert_true(s->high <= r->counters[c].high);
			sum += r->rows[i].leaf ? s->value : 0;
		}
		assert_true(sum == r->counters[c].attributed);
		for (int k = 0; k < NR_REASONS; k++)
			sum += r->counters[c].unattributed[k];
		assert_true(sum == r->counters[c].value);
		assert_true(r->counters[c].low <= sum && sum <= r->counters[c].high);
		if (r->counters[c].running_ns < r->counters[c].enabled_ns)
			continue;
		assert_true(r->counters[c].low == sum);
		/* Turns of others of its PMU may have stopped it. */
		assert_true(sum == r->counters[c].high || r->counters[c].counter->pmu[0]);
	}
	for (size_t d = 0; d < r->nr_devices; d++) {
		const struct report_device *rd = &r->devices[d];
		uint64_t read = 0, write = 0, io = 0;

		for (size_t i = 0; i < r->nr_rows; i++) {
			const struct row_device *p = part(&r->rows[i], d + 1);

			if (!p || !r->rows[i].leaf)
				continue;
			assert_true(p->read_low <= p->read_bytes && p->read_bytes <= p->read_high);
			assert_true(p->write_high <= rd->write.high);
			read += p->read_bytes;
			write += p->write_bytes;
			io += p->io_read_bytes + p->io_write_bytes;
		}
		assert_true(read == rd->read.owned && write == rd->write.owned);
		assert_true(io <= rd->read.io_bytes + rd->write.io_bytes);
		assert_true(rd->read.low <= rd->read.bytes && rd->read.bytes <= rd->read.high);
	}
	for (size_t i = 0; i < r->nr_rows; i++)
		for (size_t k = 1; k < r->rows[i].nr_shares; k++)
			assert_true(r->rows[i].shares[k - 1].counter <
				    r->rows[i].shares[k].counter);
}

#endif
