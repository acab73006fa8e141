// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/csv/csv.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "report/csv/line.h"
#include "report/devices.h"
#include "report/format.h"

struct csv {
	FILE *out;
	const struct report *r;
};

#define TEXT(l, column, array) csv_text(l, column, array, sizeof(array))

/* What all lines of a report have. */
static struct csv_line line_of(const struct report *r, const char *time)
{
	struct csv_line l = { 0 };

	csv_number(&l, CSV_sequence, r->sequence);
	csv_bool(&l, CSV_summary, r->summary);
	csv_number(&l, CSV_start_ns, r->start_ns);
	csv_number(&l, CSV_end_ns, r->end_ns);
	csv_word(&l, CSV_start_time, r->start_time_ns ? time : NULL);
	TEXT(&l, CSV_host, r->host->name);
	csv_quality(&l, &r->quality);
	return l;
}

static struct csv_line record(const struct csv_line *base, const char *what, const char *unit)
{
	struct csv_line l = *base;

	csv_word(&l, CSV_record, what);
	csv_word(&l, CSV_unit, unit);
	return l;
}

/* A number that only has a name. */
static int put_number(const struct csv *f, const struct csv_line *base, const char *what,
		      const char *name, uint64_t value)
{
	size_t length = strlen(name);
	bool ns = length > 3 && !strcmp(name + length - 3, "_ns");
	bool bytes = length > 6 && !strcmp(name + length - 6, "_bytes");
	struct csv_line l = record(base, what, ns ? "ns" : bytes ? "bytes" : "count");

	csv_word(&l, CSV_name, name);
	csv_number(&l, CSV_value, value);
	return csv_put(f->out, &l);
}

static double ratio_of(uint64_t part, uint64_t whole)
{
	return part < whole ? (double)part / (double)whole : 1;
}

static void put_bounds(struct csv_line *l, uint64_t value, uint64_t low, uint64_t high)
{
	csv_number(l, CSV_value, value);
	csv_number(l, CSV_low, low);
	csv_number(l, CSV_high, high);
}

/* Which counter a number is of. */
static void put_counter(struct csv_line *l, const struct report *r, const struct report_counter *rc)
{
	const struct counter *c = rc->counter;
	const struct device *device = devices_of(r, c->device);

	TEXT(l, CSV_name, c->name);
	csv_word(l, CSV_unit, unit_name(c->unit));
	csv_number(l, CSV_socket, report_socket_id(r, c));
	if (device)
		TEXT(l, CSV_bdf, device->bdf);
	csv_word(l, CSV_source, source_name(c->source));
	csv_word(l, CSV_direction, direction_name(c->direction));
	csv_word(l, CSV_destination, destination_name(c->destination));
	csv_number(l, CSV_covered_ns, rc->covered_ns);
	if (rc->valid)
		csv_ratio(l, CSV_coverage, ratio_of(rc->running_ns, rc->enabled_ns));
}

static const char *why_absent(uint64_t enabled_ns, uint64_t running_ns)
{
	return enabled_ns && !running_ns ? "not_running" : "not_read";
}

static int put_counters(const struct csv *f, const struct csv_line *base)
{
	int err = 0;

	for (size_t i = 0; i < f->r->nr_counters && !err; i++) {
		const struct report_counter *rc = &f->r->counters[i];
		struct csv_line l = record(base, "counter", NULL), all;

		put_counter(&l, f->r, rc);
		all = l;
		if (rc->valid)
			put_bounds(&all, rc->value, rc->low, rc->high);
		else
			csv_word(&all, CSV_reason, why_absent(rc->enabled_ns, rc->running_ns));
		err = csv_put(f->out, &all);
		csv_word(&l, CSV_record, "unattributed");
		for (int k = 0; k < NR_REASONS && rc->valid && !err; k++) {
			if (!rc->unattributed[k] || !unit_is_split(rc->counter->unit))
				continue;
			csv_number(&l, CSV_value, rc->unattributed[k]);
			csv_word(&l, CSV_reason, reason_name(k));
			err = csv_put(f->out, &l);
		}
	}
	return err;
}

static int put_sockets(const struct csv *f, const struct csv_line *base)
{
	int err = 0;

	for (size_t i = 0; i < f->r->nr_sockets && !err; i++) {
		const struct report_socket *s = &f->r->sockets[i];
		struct csv_line l = *base;

		csv_number(&l, CSV_socket, s->id);
		err = put_number(f, &l, "cpu", "busy_ns", s->busy_ns);
		if (!err)
			err = put_number(f, &l, "cpu", "idle_ns", s->idle_ns);
		if (!err)
			err = put_number(f, &l, "cpu", "lost_ns", s->lost_ns);
	}
	return err;
}

/* --- latencies, parts */

static struct csv_line latency(const struct csv *f, const struct csv_line *base,
			       const struct probe *p)
{
	struct csv_line l = record(base, "latency", "ns");
	const struct device *device = devices_of(f->r, p->device);

	TEXT(&l, CSV_name, p->name);
	if (p->socket < f->r->nr_sockets)
		csv_number(&l, CSV_socket, f->r->sockets[p->socket].id);
	if (device)
		TEXT(&l, CSV_bdf, device->bdf);
	csv_word(&l, CSV_direction, direction_name(p->direction));
	csv_word(&l, CSV_destination, destination_name(p->destination));
	return l;
}

static void put_tenths(struct csv_line *l, double ns)
{
	csv_tenths(l, CSV_value, round(ns * 10) / 10);
}

static int put_probes(const struct csv *f, const struct csv_line *base)
{
	int err = 0;

	for (size_t i = 0; i < f->r->nr_probes && !err; i++) {
		const struct report_probe *p = &f->r->probes[i];
		struct csv_line l = latency(f, base, p->probe);

		csv_number(&l, CSV_covered_ns, p->covered_ns);
		if (p->valid)
			put_tenths(&l, p->latency_ns);
		else
			csv_word(&l, CSV_reason, p->samples ? "no_request" : "not_read");
		err = csv_put(f->out, &l);
	}
	return err;
}

static int put_parts(const struct csv *f, const struct csv_line *base)
{
	int err = 0;

	for (size_t i = 0; i < f->r->nr_parts && !err; i++) {
		const struct report_part *p = &f->r->parts[i];
		struct csv_line l = record(base, "part", "bytes");

		TEXT(&l, CSV_name, p->part->name);
		if (p->part->socket < f->r->nr_sockets)
			csv_number(&l, CSV_socket, f->r->sockets[p->part->socket].id);
		csv_word(&l, CSV_source, part_name(p->part->kind));
		csv_word(&l, CSV_direction, direction_name(p->part->direction));
		csv_number(&l, CSV_covered_ns, p->covered_ns);
		if (p->valid) {
			put_bounds(&l, p->bytes, p->low, p->high);
			csv_ratio(&l, CSV_coverage, ratio_of(p->running_ns, p->enabled_ns));
		} else {
			csv_word(&l, CSV_reason, why_absent(p->enabled_ns, p->running_ns));
		}
		err = csv_put(f->out, &l);
	}
	return err;
}

/* --- devices */

static int put_requests(const struct csv *f, const struct csv_line *base, enum direction direction,
			uint64_t bytes)
{
	struct csv_line l = record(base, "io", "bytes");

	csv_word(&l, CSV_direction, direction_name(direction));
	csv_number(&l, CSV_value, bytes);
	return csv_put(f->out, &l);
}

static int put_moved(const struct csv *f, const struct csv_line *base, enum direction direction,
		     const uint64_t bar[3])
{
	struct csv_line l = record(base, "device", "bytes");

	csv_word(&l, CSV_direction, direction_name(direction));
	put_bounds(&l, bar[0], bar[1], bar[2]);
	return csv_put(f->out, &l);
}

static struct csv_line device_line(const struct csv_line *base, const struct device *d)
{
	struct csv_line l = *base;

	TEXT(&l, CSV_bdf, d->bdf);
	if (d->name[0])
		TEXT(&l, CSV_name, d->name);
	else
		TEXT(&l, CSV_name, d->bdf);
	return l;
}

static int put_side(const struct csv *f, const struct csv_line *base, const struct report_device *d,
		    enum direction direction)
{
	const struct device_bytes *side = direction == DIRECTION_WRITE ? &d->write : &d->read;
	const uint64_t bar[] = { side->bytes, side->low, side->high };
	struct csv_line l = record(base, "device", "requests");
	int err = 0;

	if (side->valid)
		err = put_moved(f, base, direction, bar);
	if (!err && side->requests_valid) {
		csv_word(&l, CSV_direction, direction_name(direction));
		csv_number(&l, CSV_value, side->requests);
		err = csv_put(f->out, &l);
	}
	if (!err && d->device->kind != DEVICE_PORT)
		err = put_requests(f, base, direction, side->io_bytes);
	return err;
}

static int put_devices(const struct csv *f, const struct csv_line *base)
{
	int err = 0;

	for (size_t i = 0; i < f->r->nr_devices && !err; i++) {
		const struct report_device *d = &f->r->devices[i];
		struct csv_line l = device_line(base, d->device);

		if (d->device->wiring != WIRING_UNKNOWN)
			csv_number(&l, CSV_socket,
				   d->device->socket < f->r->nr_sockets
					   ? f->r->sockets[d->device->socket].id
					   : d->device->socket);
		if (d->enabled_ns) {
			csv_ratio(&l, CSV_coverage, devices_coverage(f->r, d));
			csv_number(&l, CSV_covered_ns, d->enabled_ns);
		}
		err = put_side(f, &l, d, DIRECTION_READ);
		if (!err)
			err = put_side(f, &l, d, DIRECTION_WRITE);
		if (err || !d->latency_valid)
			continue;
		l = record(&l, "device", "ns");
		csv_word(&l, CSV_direction, direction_name(DIRECTION_READ));
		put_tenths(&l, d->latency_ns);
		err = csv_put(f->out, &l);
	}
	return err;
}

/* --- rows */

static void put_who(struct csv_line *l, const struct report_row *row)
{
	TEXT(l, CSV_row, row->key);
	csv_word(l, CSV_kind, row_kind_name(row->kind));
	csv_bool(l, CSV_leaf, row->leaf);
	csv_bool(l, CSV_exited, row->exited);
	csv_bool(l, CSV_kernel, row->kernel);
	if (row->kind == ROW_CGROUP || row->kind == ROW_JOB) {
		TEXT(l, CSV_parent, row->parent);
	} else {
		csv_number(l, CSV_pid, row->pid);
		if (row->kind == ROW_THREAD)
			csv_number(l, CSV_tid, row->tid);
		csv_text(l, CSV_comm, row->comm_known ? row->comm : NULL, sizeof(row->comm));
	}
	csv_number(l, CSV_cgroup_id, row->cgroup_id);
	csv_word(l, CSV_cgroup, row->cgroup);
	if (!row->job)
		return;
	csv_word(l, CSV_scheduler, scheduler_name(row->job->scheduler));
	TEXT(l, CSV_job, row->job->id);
	TEXT(l, CSV_step, row->job->step);
	TEXT(l, CSV_job_name, row->job->name);
	TEXT(l, CSV_user, row->job->user);
}

static int put_shares(const struct csv *f, const struct csv_line *base,
		      const struct report_row *row)
{
	int err = 0;

	for (size_t i = 0; i < row->nr_shares && !err; i++) {
		const struct share *s = &row->shares[i];
		struct csv_line l = record(base, "share", NULL);

		put_counter(&l, f->r, &f->r->counters[s->counter]);
		put_bounds(&l, s->value, s->low, s->high);
		csv_bool(&l, CSV_separable, s->separable);
		err = csv_put(f->out, &l);
	}
	return err;
}

static int put_row_latencies(const struct csv *f, const struct csv_line *base,
			     const struct report_row *row)
{
	int err = 0;

	for (size_t i = 0; i < row->nr_latencies && !err; i++) {
		const struct seen_latency *s = &row->latencies[i];
		struct csv_line l = latency(f, base, f->r->probes[s->probe].probe);

		put_tenths(&l, s->latency_ns);
		if (s->of_bytes)
			csv_ratio(&l, CSV_coverage, ratio_of(s->bytes, s->of_bytes));
		err = csv_put(f->out, &l);
	}
	return err;
}

static int put_row_devices(const struct csv *f, const struct csv_line *base,
			   const struct report_row *row)
{
	int err = 0;

	for (size_t i = 0; i < row->nr_devices && !err; i++) {
		const struct row_device *d = &row->devices[i];
		const uint64_t read[] = { d->read_bytes, d->read_low, d->read_high };
		const uint64_t write[] = { d->write_bytes, d->write_low, d->write_high };
		const struct device *device = devices_of(f->r, d->device + 1);
		struct csv_line l;

		if (!device)
			continue;
		l = device_line(base, device);
		if (d->counted && f->r->devices[d->device].read.valid)
			err = put_moved(f, &l, DIRECTION_READ, read);
		if (!err && d->counted && f->r->devices[d->device].write.valid)
			err = put_moved(f, &l, DIRECTION_WRITE, write);
		if (!err)
			err = put_requests(f, &l, DIRECTION_READ, d->io_read_bytes);
		if (!err)
			err = put_requests(f, &l, DIRECTION_WRITE, d->io_write_bytes);
	}
	return err;
}

static int put_rows(const struct csv *f, const struct csv_line *base)
{
	int err = 0;

	for (size_t i = 0; i < f->r->nr_rows && !err; i++) {
		const struct report_row *row = &f->r->rows[i];
		struct csv_line l = *base;

		put_who(&l, row);
		err = put_number(f, &l, "cpu", "on_cpu_ns", row->on_cpu_ns);
		if (!err)
			err = put_shares(f, &l, row);
		if (!err)
			err = put_row_latencies(f, &l, row);
		if (!err)
			err = put_row_devices(f, &l, row);
	}
	return err;
}

/* --- quality */

static int put_quality(const struct csv *f, const struct csv_line *base)
{
	const struct quality *q = &f->r->quality;
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {
#define QUALITY_ROW(name, from) { #name, q->name },
		QUALITY_NUMBERS(QUALITY_ROW)
#undef QUALITY_ROW
			{ "saturated_windows", f->r->saturated_windows },
		{ "estimated_windows", f->r->estimated_windows },
		{ "simple_windows", f->r->simple_windows },
	};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(numbers) && !err; i++)
		err = put_number(f, base, "quality", numbers[i].name, numbers[i].value);
	return err;
}

static int put_report(FILE *out, void *arg)
{
	static int (*const steps[])(const struct csv *f, const struct csv_line *base) = {
		put_counters, put_sockets, put_probes,	put_parts,
		put_devices,  put_rows,	   put_quality,
	};
	const struct csv f = { out, arg };
	char time[FORMAT_TIME_LEN];
	struct csv_line base;
	int err = 0;

	format_time(f.r->start_time_ns, time);
	base = line_of(f.r, time);
	if (!f.r->sequence)
		csv_head(out);
	for (size_t i = 0; i < ARRAY_SIZE(steps) && !err; i++)
		err = steps[i](&f, &base);
	return err;
}

int csv_write(FILE *out, const struct report *r)
{
	return format_whole(out, put_report, (void *)r);
}
