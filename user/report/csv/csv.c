// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/csv/csv.h"

#include <math.h>

#include "report/csv/line.h"
#include "report/facts.h"
#include "report/format.h"

/**
 * struct csv - a file that is written
 * @interval: cells that all lines of the report have
 * @of_row: the same, and those of @row
 */
struct csv {
	FILE *out;
	struct csv_line interval;
	struct csv_line of_row;
	const struct report_row *row;
};

#define TEXT(l, column, array) csv_text(l, column, array, sizeof(array))

static const char *const records[] = {
	[FACT_COUNTER] = "counter",
	[FACT_UNATTRIBUTED] = "unattributed",
	[FACT_CPU] = "cpu",
	[FACT_LATENCY] = "latency",
	[FACT_PART] = "part",
	[FACT_DEVICE] = "device",
	[FACT_IO] = "io",
	[FACT_SHARE] = "share",
	[FACT_USER] = "user",
	[FACT_QUALITY] = "quality",
	[FACT_ESTIMATE] = "quality",
};

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

/* A user of a device: its job, or a process with its cgroup. */
static void put_user(struct csv_line *l, const struct device_user *u)
{
	TEXT(l, CSV_row, u->key);
	if (u->pid)
		csv_number(l, CSV_pid, u->pid);
	csv_text(l, CSV_comm, u->comm[0] ? u->comm : NULL, sizeof(u->comm));
	csv_word(l, CSV_cgroup, u->cgroup);
	if (!u->job)
		return;
	csv_number(l, CSV_cgroup_id, u->job->cgroup_id);
	csv_word(l, CSV_scheduler, scheduler_name(u->job->scheduler));
	TEXT(l, CSV_job, u->job->id);
	TEXT(l, CSV_step, u->job->step);
	TEXT(l, CSV_job_name, u->job->name);
	TEXT(l, CSV_user, u->job->user);
}

static const struct csv_line *base_of(struct csv *c, const struct report_row *row)
{
	if (!row)
		return &c->interval;
	if (row != c->row) {
		c->of_row = c->interval;
		c->row = row;
		put_who(&c->of_row, row);
	}
	return &c->of_row;
}

static void put_value(struct csv_line *l, const struct fact *f)
{
	if (f->known == FACT_WHOLE || f->known == FACT_BAR)
		csv_number(l, CSV_value, f->value);
	if (f->known == FACT_TENTHS)
		csv_tenths(l, CSV_value, round(f->real * 10) / 10);
	if (f->known != FACT_BAR)
		return;
	csv_number(l, CSV_low, f->low);
	csv_number(l, CSV_high, f->high);
}

static int put_fact(void *arg, const struct fact *f)
{
	struct csv *c = arg;
	struct csv_line l = *base_of(c, f->row);

	csv_word(&l, CSV_record, records[f->record]);
	csv_text(&l, CSV_name, f->name, f->max);
	put_value(&l, f);
	csv_word(&l, CSV_unit, fact_unit_name(f->unit));
	csv_word(&l, CSV_source, f->source);
	csv_word(&l, CSV_reason, f->reason);
	if (f->has_socket)
		csv_number(&l, CSV_socket, f->socket);
	if (f->device)
		TEXT(&l, CSV_bdf, f->device->device->bdf);
	if (f->user)
		put_user(&l, f->user);
	if (f->has_direction)
		csv_word(&l, CSV_direction, direction_name(f->direction));
	if (f->has_destination)
		csv_word(&l, CSV_destination, destination_name(f->destination));
	if (f->has_coverage)
		csv_ratio(&l, CSV_coverage, f->coverage);
	if (f->covers)
		csv_number(&l, CSV_covered_ns, f->covered_ns);
	if (f->has_separable)
		csv_bool(&l, CSV_separable, f->separable);
	return csv_put(c->out, &l);
}

static int put_report(FILE *out, void *arg)
{
	const struct report *r = arg;
	char time[FORMAT_TIME_LEN];
	struct csv c = { .out = out };

	format_time(r->start_time_ns, time);
	c.interval = line_of(r, time);
	if (!r->sequence)
		csv_head(out);
	return facts_each(r, put_fact, &c);
}

int csv_write(FILE *out, const struct report *r)
{
	return format_whole(out, put_report, (void *)r);
}
