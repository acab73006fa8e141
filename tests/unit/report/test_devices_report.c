// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Devices in reports: tables, JSON, and what of them is not to be in other sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>
#include <jansson.h>

#include "base/array.h"
#include "report/table/table.h"
#include "report/format.h"
#include "report/json/json.h"
#include "sample_report.h"
#include "valgrind.h"

static char *table_of(const struct report *r, struct table_options o)
{
	return sample_table(r, &o);
}

static struct report *with_devices(enum row_kind by)
{
	struct report *r = sample_report(by);

	sample_with_devices(r);
	return r;
}

static struct report *with_requests(enum row_kind by)
{
	struct report *r = sample_report(by);

	sample_with_requests(r);
	return r;
}

static struct report *with_users(enum row_kind by)
{
	struct report *r = sample_report(by);

	sample_with_users(r);
	return r;
}

static void check_table(struct report *r, struct table_options o, const char *name)
{
	char *text = table_of(r, o);

	sample_check_golden(name, text);
	free(text);
	report_free(r);
}

static void check_json(struct report *r, const char *name)
{
	char *text = sample_json(r);

	sample_check_golden(name, text);
	free(text);
	report_free(r);
}

static void goldens(void **state)
{
	(void)state;
	check_table(with_devices(ROW_PROCESS), (struct table_options){ .width = 80 },
		    "devices-process.txt");
	check_table(with_devices(ROW_PROCESS), (struct table_options){ .width = 60, .quiet = true },
		    "devices-process-60-quiet.txt");
	check_table(with_devices(ROW_PROCESS),
		    (struct table_options){ .width = 130, .verbose = true },
		    "devices-process-verbose-130.txt");
	check_table(with_devices(ROW_CGROUP), (struct table_options){ .width = 100, .top = 2 },
		    "devices-cgroup-top-100.txt");
	check_table(with_requests(ROW_PROCESS), (struct table_options){ .width = 100 },
		    "devices-requests-100.txt");
	check_json(with_devices(ROW_PROCESS), "devices-process.json");
	check_json(with_devices(ROW_CGROUP), "devices-cgroup.json");
	check_json(with_requests(ROW_PROCESS), "devices-requests.json");
	check_table(with_users(ROW_PROCESS), (struct table_options){ .width = 100 },
		    "devices-users-100.txt");
	check_json(with_users(ROW_PROCESS), "devices-users.json");
}

static void expect(const struct report *r, struct table_options o, const char *part)
{
	char *text = table_of(r, o);

	if (!strstr(text, part))
		fail_msg("\"%s\" is not in:\n%s", part, text);
	free(text);
}

static void expect_not(const struct report *r, struct table_options o, const char *part)
{
	char *text = table_of(r, o);

	if (strstr(text, part))
		fail_msg("\"%s\" is in:\n%s", part, text);
	free(text);
}

static const struct table_options usual = { .width = 80 };
static const struct table_options wide = { .width = 300 };
static const struct table_options terse = { .width = 300, .quiet = true };

/* Sums over sockets and rows are what they were before there were devices. */
static void sums_are_without_devices(void **state)
{
	struct report *without = sample_report(ROW_PROCESS), *with = with_devices(ROW_PROCESS);

	(void)state;
	expect(with, wide, "lbm");
	for (int i = 0; i < 2; i++) {
		struct report *r = i ? with : without;

		expect(r, wide, " 31.235  15.235  69.3% 46.5 GB  43.5-48.8 GB");
		expect(r, wide, " 36.577  17.769  81.0% 54.3 GB ");
	}
	/* What devices moved for rows is no longer without an owner. */
	expect(without, wide, "unattributed device: moved by devices ");
	expect(without, usual, "unattributed device          2.469   2.469");
	expect(with, usual, "unattributed device          1.907   2.209");
	expect(with, usual, "by devices, for rows         0.562   0.260");
	expect_not(without, wide, "for the rows");
	expect_not(without, wide, "PCIE");
	expect_not(without, wide, "DEVICE");
	report_free(without);
	report_free(with);
}

/* Counters of destinations are a part of the one that has all: their bytes are not more bytes. */
static void destinations_beside_all(void **state)
{
	struct report *r = with_devices(ROW_PROCESS);
	struct counter all = *r->counters[SAMPLE_COUNTERS].counter;

	(void)state;
	expect(r, usual, "unattributed device          1.907   2.209   6.1%                 0.253");
	r->counters[SAMPLE_COUNTERS + 1].unattributed[REASON_DEVICE] = 1000000000;
	expect(r, usual, "6.1%                 1.253");
	all.destination = DESTINATION_ANY;
	r->counters[SAMPLE_COUNTERS].counter = &all;
	expect(r, usual, "6.1%                 0.253");
	report_free(r);
}

static void port_check(void **state)
{
	struct report *r = with_devices(ROW_PROCESS);
	struct report_device *port = &r->devices[6];

	(void)state;
	expect(r, wide, "port 0002:80:00.0: its devices make 92.2% of its bytes\n");
	expect_not(r, terse, "port 0002");
	port->sum_low = port->sum_bytes + 1;
	expect(r, terse, "warning: port 0002:80:00.0: its devices moved 8.11 GB, where its own");
	expect(r, terse, "something below it that is not counted moves data\n");
	port->sum_low = 0;
	port->sum_high = port->sum_bytes - 1;
	expect(r, terse, "what was seen of the devices is not like the rest\n");
	port->sum_valid = false;
	expect_not(r, wide, "port 0002");
	expect(r, (struct table_options){ .verbose = true }, "was not counted as a whole\n");
	report_free(r);
}

static json_t *object_of(const struct report *r)
{
	json_t *o = NULL;

	assert_int_equal(json_report(r, &o), 0);
	return o;
}

static json_t *device_of(json_t *report, size_t i)
{
	return json_array_get(json_object_get(report, "devices"), i);
}

/* The port of devices 0 and 2, which are not counted by themselves. */
static struct report *with_shared_port(struct device seen[3])
{
	struct report *r = with_devices(ROW_PROCESS);

	for (size_t i = 0; i < 3; i++)
		seen[i] = *r->devices[i * 2].device;
	for (size_t i = 0; i < 2; i++) {
		seen[i].filter = DEVICE_NOT_COUNTED;
		seen[i].wiring = WIRING_UNKNOWN;
		r->devices[i * 2].device = &seen[i];
		r->devices[i * 2].read.valid = r->devices[i * 2].write.valid = false;
	}
	seen[2] = *r->devices[6].device;
	strcpy(seen[2].name, "0002:81:00.0, 0002:81:00.1, 0002:81:00.2");
	r->devices[6].device = &seen[2];
	r->devices[6].sum_valid = false;
	return r;
}

static void shared_port(void **state)
{
	struct device seen[3];
	struct report *r = with_shared_port(seen);
	struct report_device *port = &r->devices[6];
	json_t *o;

	(void)state;
	port->running_ns = port->enabled_ns / 4;
	port->read.bytes = 6300000000;
	port->read.low = 6000000000;
	port->read.high = 6600000000;
	port->write.valid = false;
	expect(r, wide,
	       "port 0002:80:00.0: READ 6.300 GB/s (6.000-6.600), WRITE no data, counted at least "
	       "25.0% of the time: of 0002:81:00.0, 0002:81:00.1, 0002:81:00.2 together, which "
	       "its counter does not tell apart\n");
	expect(r, wide,
	       "never counted one by one: nvme0n1 (0002:81:00.0), 0002:81:00.1: others are below "
	       "the "
	       "same root port");
	expect_not(r, terse, "counted: nvme0n1");
	o = object_of(r);
	assert_int_equal(json_array_size(json_object_get(device_of(o, 6), "shared_by")), 2);
	assert_string_equal(
		json_string_value(json_array_get(json_object_get(device_of(o, 6), "shared_by"), 1)),
		"0002:81:00.1");
	assert_null(json_object_get(device_of(o, 0), "shared_by"));
	assert_string_equal(json_string_value(json_object_get(device_of(o, 0), "port")),
			    "0002:80:00.0");
	json_decref(o);
	/* One that is counted: the port is a check again. */
	seen[0].filter = DEVICE_BY_ID;
	expect_not(r, terse, "port 0002:80:00.0");
	o = object_of(r);
	assert_null(json_object_get(device_of(o, 6), "shared_by"));
	json_decref(o);
	report_free(r);
}

static void notes(void **state)
{
	struct report *r = with_devices(ROW_PROCESS);

	(void)state;
	expect(r, terse, "took turns: 2 devices, counted 25.0% to 50.0% of the time (COVER)");
	r->devices[0].running_ns = r->devices[0].enabled_ns;
	expect(r, terse, "took turns: 1 device, counted 25.0% of the time (COVER); what it moved");
	r->devices[2].running_ns = r->devices[2].enabled_ns;
	expect_not(r, terse, "took turns");
	expect(r, terse, "unread: nvme3n1 (0003:41:00.0): not read in this time, because its turn");
	expect(r, terse, "never counted: sda (0000:03:00.0): nothing tells which root complex");
	expect(r, terse, "?: eth0,eth1 (000a:01:00.0): where it is was guessed");
	expect_not(r, terse, "(a disk is written");
	expect(r, wide, "PCIE-RD and READ of devices: memory that they read (a disk is written");
	r->quality.lost_io = 1;
	r->quality.unowned_io_bytes = 0;
	r->quality.device_held_ns = 120000000;
	r->quality.device_changes = 2;
	expect(r, terse, "unread: nvme3n1 (0003:41:00.0): not read in this time, because others");
	expect(r, terse,
	       "quality: 1 request to a device could not be noted; 0.120 s of devices' turns were "
	       "lost to other users of the counters; 2 times functions came, went");
	report_free(r);
}

/* A device that does not move, a direction that no device has, owners that there are none of */
static void folded(void **state)
{
	struct report *r = with_devices(ROW_PROCESS);

	(void)state;
	expect(r, wide, "95%   WRITE");
	expect(r, usual, " 95% PCIE-RD PCIE-WR\n");
	expect(r, usual, "  SHARE         RANGE    GB/s    GB/s\n");
	expect(r, wide, "  OWNED\n");
	expect(r, wide, "(1 more device moved nothing)\n");
	expect_not(r, wide, "unread \n");
	for (size_t i = 0; i < r->nr_devices; i++) {
		struct device_bytes *w = &r->devices[i].write;

		w->bytes = w->low = w->high = w->io_bytes = w->owned = 0;
		memset(w->to, 0, sizeof(w->to));
		r->devices[i].read.owned = 0;
	}
	expect_not(r, wide, "95%   WRITE");
	/* The column that is left out makes room for one that was. */
	expect(r, usual, " 95% PCIE-RD\n");
	expect(r, usual, "  SHARE   BYTES         RANGE    GB/s\n");
	expect_not(r, wide, "OWNED\n");
	expect(r, wide, "(1 more device moved nothing; none wrote to memory)\n");
	expect(r, (struct table_options){ .width = 200, .verbose = true }, "95%   WRITE");
	expect(r, (struct table_options){ .width = 200, .verbose = true }, "unread");
	/* a bound is no zero, and a column of ranges is as wide as they are */
	r->devices[0].write.high = 5;
	expect(r, wide, "RANGE    GB/s  RANGE");
	expect(r, wide, " 4.522-4.998   0.000 ≤0.001");
	report_free(r);
}

static double coverage_of(const struct report *r)
{
	json_t *o = object_of(r);
	double ret = json_real_value(json_object_get(device_of(o, 0), "coverage"));

	json_decref(o);
	return ret;
}

/* Bytes of another time than the report's: never as if all of it had been counted. */
static void other_times(void **state)
{
	struct report *r = with_devices(ROW_PROCESS);
	struct report_device *d = &r->devices[0];

	(void)state;
	d->read.bytes = d->read.high = 8000000000;
	d->read.low = 0;
	d->enabled_ns = d->running_ns = 4000000000;
	assert_true(coverage_of(r) == 0.25);
	expect(r, wide, " 2.000 ");
	expect(r, wide, "25.0%");
	expect(r, wide,
	       "1 device was read late, for the last 4 s, which began before this report: rates "
	       "are "
	       "of that time\n");
	d->enabled_ns = d->running_ns = 500000000;
	assert_true(coverage_of(r) == 0.5);
	expect(r, wide, " 16.000 ");
	expect(r, wide,
	       "1 device was read for 0.5 s of this report only: rates are of that time\n");
	r->devices[2].enabled_ns = 600000000;
	expect(r, wide,
	       "2 devices were read for 0.5 to 0.6 s of this report only: rates are of that "
	       "time\n");
	r->devices[2].enabled_ns = r->devices[4].enabled_ns;
	/* As readings are, which are made one after the other */
	d->enabled_ns = d->running_ns = 1030000000;
	assert_true(coverage_of(r) == 1);
	expect(r, wide, " 8.000 ");
	expect_not(r, wide, "rates are of that time");
	report_free(r);
}

/* What the kernel does not tell is in every report, not only where the run began. */
static void note_of_requests(void **state)
{
	struct report *r = with_devices(ROW_PROCESS);
	struct host_info host = *r->host;
	json_t *o = object_of(r);

	(void)state;
	assert_null(json_object_get(json_object_get(o, "quality"), "io_note"));
	json_decref(o);
	strcpy(host.io_note, "sent packets cannot be attributed to processes: \x1b[31m");
	r->host = &host;
	expect(r, terse, "\nsent packets cannot be attributed to processes: \\x1b[31m\n");
	o = object_of(r);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(o, "quality"), "io_note")),
		"sent packets cannot be attributed to processes: \x1b[31m");
	json_decref(o);
	report_free(r);
}

/* A column of bytes that nobody counted would be a lie. */
static void nothing_counted(void **state)
{
	struct report *r = with_devices(ROW_PROCESS);

	(void)state;
	for (size_t i = 0; i < r->nr_devices; i++)
		r->devices[i].read.valid = r->devices[i].write.valid = false;
	for (size_t i = 0; i < r->nr_rows; i++)
		for (size_t k = 0; k < r->rows[i].nr_devices; k++)
			r->rows[i].devices[k].counted = false;
	expect(r, wide, "43.5-48.8 GB no data no data  44.000");
	expect(r, wide, "requests the kernel saw: READ 4.521, WRITE 1.890 GB/s\n");
	report_free(r);
	r = with_requests(ROW_PROCESS);
	expect_not(r, wide, "PCIE-RD");
	expect_not(r, wide, "OWNED");
	expect(r, wide, "IO-RD, IO-WR: requests to devices as the kernel saw them, not counted");
	expect(r, (struct table_options){ .width = 60 }, "IO: RD 4.390, WR 0.000 GB/s\n");
	report_free(r);
}

/* A machine without counters: requests are all that is known. */
static void without_counters(void **state)
{
	static const struct device disk = { .bdf = "0000:03:00.0",
					    .name = "sda",
					    .kind = DEVICE_BLOCK };
	struct report *r = sample_without_counters();
	struct row_device *part = calloc(1, sizeof(*part));

	(void)state;
	assert_non_null(part);
	*part = (struct row_device){ .io_read_bytes = 1500000000 };
	r->rows[3].devices = part;
	r->rows[3].nr_devices = 1;
	r->devices = calloc(1, sizeof(*r->devices));
	assert_non_null(r->devices);
	r->nr_devices = 1;
	r->devices[0].device = &disk;
	r->devices[0].read.io_bytes = 1500000000;
	r->devices[0].read.io_valid = r->devices[0].write.io_valid = true;
	check_table(r, (struct table_options){ .width = 80 }, "devices-no-counters.txt");
}

static void tangled_on_devices(void **state)
{
	struct report *r = with_devices(ROW_PROCESS);
	struct report_row *row = &r->rows[1];

	(void)state;
	row->separable = false;
	row->nr_tangled_all = 1;
	row->nr_tangled = 1;
	row->tangled = calloc(1, sizeof(*row->tangled));
	assert_non_null(row->tangled);
	strcpy(row->tangled[0], "pid:2:99");
	row->shares[row->nr_shares - 1].separable = false;
	/* What CPUs moved has no mark. */
	expect(r, wide, "46.5 GB  43.5-48.8 GB");
	expect(r, wide, "\ntangled on devices: 4242 lbm and 2 [kworker/u352:11] used them at");
	row->shares[0].separable = false;
	expect(r, wide, "46.5 GB ~43.5-48.8 GB");
	expect(r, wide, "\n~ tangled: 4242 lbm and 2 [kworker/u352:11] ran at");
	report_free(r);
}

/* Latencies of devices are not those of their socket. */
static void latencies(void **state)
{
	static const struct probe probes[] = {
		{ .name = "cmem0/rd", .title = "reads", .by_tasks = true },
		{ .name = "pcie0/rd", .title = "reads", .device = 1 },
	};
	struct report *r = with_devices(ROW_PROCESS);
	json_t *o = NULL, *list;

	(void)state;
	r->probes = calloc(2, sizeof(*r->probes));
	assert_non_null(r->probes);
	r->nr_probes = 2;
	for (int i = 0; i < 2; i++)
		r->probes[i] = (struct report_probe){
			.probe = &probes[i],
			.valid = true,
			.requests = 10,
			.latency_ns = 100 + 900 * i,
		};
	expect(r, wide, "latency: reads 100 ns\n");
	assert_int_equal(json_report(r, &o), 0);
	list = json_object_get(o, "latencies");
	assert_null(json_object_get(json_array_get(list, 0), "bdf"));
	assert_string_equal(json_string_value(json_object_get(json_array_get(list, 1), "bdf")),
			    "0002:81:00.0");
	json_decref(o);
	report_free(r);
}

/* --- JSON */

static json_t *metrics_of(json_t *report, size_t row)
{
	return json_object_get(json_array_get(json_object_get(report, "workloads"), row),
			       "metrics");
}

static void check_absent(const json_t *o, const char *const *keys, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (json_object_get(o, keys[i]))
			fail_msg("%s is there", keys[i]);
}

/* Beside who had it open; what was not read is absent, and there are no means of nothing. */
static void work_by_invocation(void **state)
{
	struct report *r = with_devices(ROW_PROCESS);
	struct report_device *d = &r->devices[2];
	json_t *o, *work;
	char *text;

	(void)state;
	assert_true(d->exclusive[0]);
	d->work_valid[WORK_INVOCATIONS] = d->work_valid[WORK_CYCLES] = true;
	d->work_valid[WORK_TLB_CYCLES] = true;
	d->work[WORK_INVOCATIONS] = 4;
	d->work[WORK_CYCLES] = 1002;
	o = object_of(r);
	work = json_object_get(device_of(o, 2), "work");
	assert_int_equal(json_integer_value(json_object_get(work, "invocations")), 4);
	assert_int_equal(json_integer_value(json_object_get(work, "cycles")), 1002);
	assert_null(json_object_get(work, "memory_cycles"));
	work = json_object_get(work, "per_invocation");
	assert_true(json_real_value(json_object_get(work, "cycles")) == 250.5);
	assert_true(json_real_value(json_object_get(work, "tlb_cycles")) == 0);
	assert_int_equal(json_object_size(work), 2);
	assert_null(json_object_get(device_of(o, 2), "shared"));
	json_decref(o);
	text = table_of(r, (struct table_options){ .width = 200 });
	assert_non_null(
		strstr(text, "4 invocations: 250.5 cycles, 0 for its TLB each; all by one"));
	free(text);
	d->exclusive[0] = '\0';
	text = table_of(r, (struct table_options){ .width = 200 });
	assert_non_null(strstr(text, "each; shared by cgroups, or it is not known by whom"));
	free(text);
	d->shared = true;
	text = table_of(r, (struct table_options){ .width = 200 });
	assert_non_null(strstr(text, "each; shared\n"));
	free(text);
	o = object_of(r);
	assert_true(json_is_true(json_object_get(device_of(o, 2), "shared")));
	json_decref(o);
	d->work[WORK_INVOCATIONS] = 0;
	o = object_of(r);
	work = json_object_get(device_of(o, 2), "work");
	assert_null(json_object_get(work, "per_invocation"));
	json_decref(o);
	text = table_of(r, (struct table_options){ .width = 200 });
	assert_null(strstr(text, "invocation"));
	free(text);
	report_free(r);
}

static void absent_is_not_zero(void **state)
{
	static const char *const counted[] = {
		"read_bytes",	     "read_low",	   "read_high",	    "write_bytes",
		"write_low",	     "write_high",	   "read_requests", "write_requests",
		"read_destinations", "write_destinations", "attributed",    "unattributed",
		"read_latency_ns",   "port_check",	   "exclusive",	    "work",
	};
	static const char *const placed[] = { "socket", "rc", "rp", "coverage", "turns", "port" };
	static const char *const metrics[] = { "pcie_read_bytes", "pcie_write_bytes",
					       "device_mem_read_bytes", "device_mem_write_bytes" };
	struct report *r = with_devices(ROW_PROCESS);
	json_t *o = object_of(r), *d = device_of(o, 3);

	(void)state;
	/* Place unknown, so not counted; and one that had no turn. */
	check_absent(d, counted, ARRAY_SIZE(counted));
	check_absent(d, placed, ARRAY_SIZE(placed));
	d = device_of(o, 5);
	check_absent(d, counted, ARRAY_SIZE(counted));
	assert_true(json_real_value(json_object_get(d, "coverage")) == 0);
	/* Counted, and zero. */
	d = device_of(o, 4);
	assert_true(json_is_integer(json_object_get(d, "read_bytes")));
	assert_null(json_object_get(d, "read_destinations"));
	assert_null(json_object_get(device_of(o, 6), "io"));
	assert_int_equal(json_integer_value(json_object_get(metrics_of(o, 0), "pcie_read_bytes")),
			 0);
	json_decref(o);
	/* One direction only. */
	r->devices[1].write.valid = false;
	o = object_of(r);
	d = device_of(o, 1);
	assert_non_null(json_object_get(d, "read_bytes"));
	check_absent(d, counted + 3, 3);
	assert_null(json_object_get(json_object_get(d, "attributed"), "write_bytes"));
	d = json_array_get(
		json_object_get(json_array_get(json_object_get(o, "workloads"), 2), "devices"), 1);
	assert_non_null(json_object_get(d, "read_bytes"));
	check_absent(d, counted + 3, 3);
	json_decref(o);
	report_free(r);
	r = with_requests(ROW_PROCESS);
	o = object_of(r);
	check_absent(metrics_of(o, 1), metrics, ARRAY_SIZE(metrics));
	json_decref(o);
	report_free(r);
	r = sample_report(ROW_PROCESS);
	o = object_of(r);
	check_absent(metrics_of(o, 1), metrics, ARRAY_SIZE(metrics));
	assert_null(json_object_get(json_array_get(json_object_get(o, "workloads"), 1), "devices"));
	assert_int_equal(json_array_size(json_object_get(o, "devices")), 0);
	json_decref(o);
	report_free(r);
}

static void ranges(void **state)
{
	struct report *r = with_devices(ROW_PROCESS);
	uint64_t *const numbers[] = {
		&r->devices[0].read.bytes,
		&r->devices[1].write.high,
		&r->devices[0].read.requests,
		&r->devices[0].read.to[DESTINATION_CMEM],
		&r->devices[3].write.io_bytes,
		&r->devices[0].turns,
		&r->devices[6].sum_high,
		&r->rows[1].devices[0].read_bytes,
		&r->rows[1].devices[0].write_high,
		&r->rows[2].devices[2].io_read_bytes,
		&r->quality.lost_io,
		&r->quality.unowned_io_bytes,
		&r->quality.device_held_ns,
		&r->quality.device_changes,
	};
	char *text;
	json_t *o;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		uint64_t saved = *numbers[i];

		*numbers[i] = (uint64_t)INT64_MAX + 1;
		o = object_of(r);
		text = json_dumps(o, JSON_COMPACT);
		assert_non_null(strstr(text, "\"9223372036854775808\""));
		free(text);
		json_decref(o);
		*numbers[i] = saved;
	}
	/* More owned than there is: nothing is left, not a huge number. */
	r->devices[0].read.owned = r->devices[0].read.bytes + 5;
	o = object_of(r);
	assert_int_equal(json_integer_value(json_object_get(
				 json_object_get(device_of(o, 0), "unattributed"), "read_bytes")),
			 0);
	json_decref(o);
	report_free(r);
}

/* --- input that makes no sense */

static void make_huge(struct report *r, struct device *devices)
{
	for (size_t i = 0; i < r->nr_devices; i++) {
		struct report_device *d = &r->devices[i];

		devices[i] = *d->device;
		memset(devices[i].name, '\xff', sizeof(devices[i].name));
		memset(devices[i].bdf, '\x1b', sizeof(devices[i].bdf));
		devices[i].socket = devices[i].rc = devices[i].rp = UINT32_MAX;
		d->device = &devices[i];
		memset(&d->read.bytes, 0xff, sizeof(d->read.bytes));
		d->write = d->read;
		d->read.owned = d->read.high = d->read.requests = UINT64_MAX;
		for (int to = 0; to < NR_DESTINATIONS; to++)
			d->read.to[to] = UINT64_MAX;
		d->read.io_bytes = d->write.io_bytes = UINT64_MAX;
		d->read.io_valid = d->write.io_valid = true;
		d->read.split = d->read.requests_valid = d->latency_valid = true;
		d->latency_ns = 1e30;
		d->enabled_ns = 1;
		d->running_ns = d->turns = UINT64_MAX;
		d->sum_valid = true;
		d->sum_bytes = UINT64_MAX;
		memset(d->exclusive, '\xff', sizeof(d->exclusive));
	}
	for (size_t i = 0; i < r->nr_rows; i++)
		for (size_t k = 0; k < r->rows[i].nr_devices; k++)
			r->rows[i].devices[k] = (struct row_device){
				k ? (uint32_t)k : UINT32_MAX,
				true,
				UINT64_MAX,
				0,
				UINT64_MAX,
				UINT64_MAX,
				0,
				UINT64_MAX,
				UINT64_MAX,
				UINT64_MAX,
			};
	memset(&r->quality.lost_io, 0xff, 4 * sizeof(uint64_t));
}

static void check_widths(const struct report *r)
{
	static const size_t widths[] = {
		60, 63, 64, 71, 75, 79, 80, 81, 87, 88, 96, 104, 130, 400
	};

	for (size_t i = 0; i < ARRAY_SIZE(widths); i++)
		for (size_t bits = 0; bits < 8; bits += under_valgrind(3, 1)) {
			struct table_options o = { .width = widths[i],
						   .quiet = bits & 1,
						   .verbose = bits & 2,
						   .by_destination = bits & 4 };
			size_t least = o.by_destination && o.width < 80 ? 80 : o.width;
			char *text = table_of(r, o), *rest = text, *line;

			for (char *c = text; *c; c++)
				assert_true((unsigned char)*c >= 0x20 || *c == '\n');
			while ((line = strsep(&rest, "\n")))
				if (format_width(line) > least)
					fail_msg("wider than %zu: %s", least, line);
			free(text);
		}
}

static void widths(void **state)
{
	struct report *reports[] = { with_devices(ROW_PROCESS), with_devices(ROW_CGROUP),
				     with_requests(ROW_PROCESS), with_requests(ROW_CGROUP) };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(reports); i++) {
		struct device devices[SAMPLE_DEVICES];

		check_widths(reports[i]);
		make_huge(reports[i], devices);
		check_widths(reports[i]);
		reports[i]->end_ns = reports[i]->start_ns;
		check_widths(reports[i]);
		report_free(reports[i]);
	}
}

static void hostile_names(void **state)
{
	struct device evil = { .bdf = "0002:81:00.0\x1b[2J",
			       .name = "\x1b]0;x\x07\xff\n",
			       .kind = NR_DEVICE_KINDS,
			       .wiring = NR_WIRINGS,
			       .filter = DEVICE_BY_ID };
	struct report *r = with_devices(ROW_PROCESS);
	struct report_device *d = &r->devices[0];
	json_t *o;

	(void)state;
	d->device = &evil;
	strcpy(d->exclusive, "\x1b[31m");
	expect(r, wide, "\\x1b]0;x\\x07\\xff\\x0a");
	expect(r, wide, "open in \\x1b[31m alone\n");
	check_widths(r);
	o = object_of(r);
	assert_string_equal(json_string_value(json_object_get(device_of(o, 0), "name")),
			    "\x1b]0;x\x07\xef\xbf\xbd\n");
	assert_string_equal(json_string_value(json_object_get(device_of(o, 0), "kind")), "unknown");
	json_decref(o);
	report_free(r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(goldens),
		cmocka_unit_test(sums_are_without_devices),
		cmocka_unit_test(destinations_beside_all),
		cmocka_unit_test(port_check),
		cmocka_unit_test(shared_port),
		cmocka_unit_test(notes),
		cmocka_unit_test(folded),
		cmocka_unit_test(other_times),
		cmocka_unit_test(note_of_requests),
		cmocka_unit_test(nothing_counted),
		cmocka_unit_test(without_counters),
		cmocka_unit_test(tangled_on_devices),
		cmocka_unit_test(latencies),
		cmocka_unit_test(absent_is_not_zero),
		cmocka_unit_test(work_by_invocation),
		cmocka_unit_test(ranges),
		cmocka_unit_test(widths),
		cmocka_unit_test(hostile_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
