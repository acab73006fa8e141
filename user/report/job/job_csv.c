// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The intervals or nodes of an account as comma-separated values, in the columns of reports. */
#include <string.h>

#include "report/csv/line.h"
#include "report/facts.h"
#include "report/format.h"
#include "report/job/job_nodes.h"
#include "report/job/job_report.h"
#include "report/job/job_sums.h"

#define TEXT(l, column, array) csv_text(l, column, array, sizeof(array))

struct job_csv {
	const struct job_context *context;
	const struct account_job *job;
};

/* Cells common to all lines of an interval, or of the account; @time is filled, and not copied. */
static struct csv_line line_of(const struct job_csv *f, const struct account_job *at,
			       char time[FORMAT_TIME_LEN])
{
	const struct row_job *who = &f->job->job;
	struct csv_line l = { 0 };

	format_time(at->whole.start_ns, time);
	csv_bool(&l, CSV_summary, f->context->nodes != NULL);
	csv_number(&l, CSV_start_ns, at->whole.start_ns);
	csv_number(&l, CSV_end_ns, at->whole.end_ns);
	csv_word(&l, CSV_start_time, time);
	TEXT(&l, CSV_host, f->context->host->name);
	csv_quality(&l, &at->quality);
	csv_number(&l, CSV_covered_ns, at->covered_ns);
	TEXT(&l, CSV_row, f->job->key);
	csv_word(&l, CSV_kind, "job");
	csv_bool(&l, CSV_leaf, true);
	csv_number(&l, CSV_cgroup_id, who->cgroup_id);
	csv_word(&l, CSV_cgroup, f->job->path);
	csv_word(&l, CSV_scheduler, scheduler_name(who->scheduler));
	TEXT(&l, CSV_job, who->id);
	TEXT(&l, CSV_job_name, who->name);
	TEXT(&l, CSV_user, who->user);
	return l;
}

static int put_number(FILE *out, const struct csv_line *base, const char *record, const char *name,
		      sum128 value)
{
	struct csv_line l = *base;

	csv_word(&l, CSV_record, record);
	csv_word(&l, CSV_unit, "ns");
	csv_word(&l, CSV_name, name);
	csv_number(&l, CSV_value, value);
	return csv_put(out, &l);
}

/* A counter without a value in the whole interval has no cell: it is not 0. */
static int put_share(FILE *out, const struct job_csv *f, const struct csv_line *base,
		     const struct account_job *at, size_t k)
{
	const struct account_node_total *t = &at->node[k];
	const struct account_counter *c = &f->context->node->counters[t->counter];
	struct job_sum_value v = job_sum_counter(at, &at->whole, k);
	struct csv_line l = *base;

	csv_word(&l, CSV_record, "share");
	TEXT(&l, CSV_name, c->name);
	csv_word(&l, CSV_unit, unit_name(c->unit));
	csv_number(&l, CSV_socket, c->socket);
	if (c->bdf[0])
		TEXT(&l, CSV_bdf, c->bdf);
	csv_word(&l, CSV_source, source_name(c->source));
	csv_word(&l, CSV_direction, direction_name(c->direction));
	csv_word(&l, CSV_destination, destination_name(c->destination));
	if (!v.counted) {
		csv_word(&l, CSV_reason, facts_why_absent(t->enabled_ns, t->running_ns));
		return csv_put(out, &l);
	}
	csv_number(&l, CSV_value, v.value);
	csv_number(&l, CSV_low, v.low);
	csv_number(&l, CSV_high, v.high);
	csv_ratio(&l, CSV_coverage, job_running_ratio(t));
	csv_bool(&l, CSV_separable, !v.inseparable);
	return csv_put(out, &l);
}

static int put_io(FILE *out, const struct csv_line *base, const struct account_io *io)
{
	struct csv_line l = *base;
	int err = 0;

	csv_word(&l, CSV_record, "io");
	csv_word(&l, CSV_unit, "bytes");
	TEXT(&l, CSV_name, io->name);
	TEXT(&l, CSV_bdf, io->bdf);
	csv_word(&l, CSV_direction, direction_name(DIRECTION_READ));
	csv_number(&l, CSV_value, io->read_bytes);
	/* Perhaps nobody noted any. */
	if (io->read_bytes)
		err = csv_put(out, &l);
	csv_word(&l, CSV_direction, direction_name(DIRECTION_WRITE));
	csv_number(&l, CSV_value, io->write_bytes);
	return err || !io->write_bytes ? err : csv_put(out, &l);
}

static int put_account(FILE *out, const struct job_csv *f, size_t i, const struct account_job *at)
{
	char time[FORMAT_TIME_LEN];
	struct csv_line base;
	int err;

	base = line_of(f, at, time);
	csv_number(&base, CSV_sequence, i);
	err = put_number(out, &base, "cpu", "on_cpu_ns", at->whole.on_cpu_ns);
	if (!err && at->gap_ns)
		err = put_number(out, &base, "quality", "gap_ns", at->gap_ns);
	for (size_t k = 0; k < at->nr_node && !err; k++)
		err = put_share(out, f, &base, at, k);
	for (size_t k = 0; k < at->whole.nr_io && !err; k++)
		err = put_io(out, &base, &at->whole.io[k]);
	return err;
}

/* --- GPUs: of the account as a whole */

static int put_link(FILE *out, const struct csv_line *base, const struct account_gpu *g,
		    enum direction direction)
{
	struct csv_line l = *base;

	csv_word(&l, CSV_name, "c2c");
	csv_word(&l, CSV_unit, "bytes");
	csv_word(&l, CSV_direction, direction_name(direction));
	csv_number(&l, CSV_value, g->link[direction].value);
	csv_number(&l, CSV_low, g->link[direction].low);
	csv_number(&l, CSV_high, g->link[direction].high);
	csv_number(&l, CSV_covered_ns, g->link_ns);
	return csv_put(out, &l);
}

static int put_busy(FILE *out, const struct csv_line *base, const struct account_gpu *g)
{
	struct csv_line l = *base;

	csv_word(&l, CSV_name, "busy_ns");
	csv_word(&l, CSV_unit, "ns");
	csv_number(&l, CSV_value, g->busy_ns);
	csv_number(&l, CSV_low, g->busy_low_ns);
	csv_number(&l, CSV_high, g->busy_high_ns);
	csv_number(&l, CSV_covered_ns, g->known_ns);
	return csv_put(out, &l);
}

static int put_gpu(FILE *out, const struct csv_line *base, const struct account_gpu *g)
{
	struct csv_line l = *base;
	int err;

	TEXT(&l, CSV_bdf, g->bdf);
	err = put_number(out, &l, "gpu", "held_ns", g->held_ns)
		      ?: put_number(out, &l, "gpu", "alone_ns", g->alone_ns);
	if (!err && g->known_ns)
		err = put_number(out, &l, "gpu", "idle_ns", g->idle_ns);
	csv_word(&l, CSV_record, "gpu");
	if (!err && g->known_ns)
		err = put_busy(out, &l, g);
	for (int d = 0; d < NR_WAYS && g->link_ns && !err; d++)
		err = put_link(out, &l, g, d);
	return err;
}

static int put_gpus(FILE *out, const struct job_csv *f)
{
	const struct account_job *j = f->job;
	char time[FORMAT_TIME_LEN];
	struct csv_line l = line_of(f, j, time);
	int err = 0;

	csv_bool(&l, CSV_summary, true);
	for (size_t i = 0; i < j->nr_gpus && !err; i++)
		err = put_gpu(out, &l, &j->gpus[i]);
	return err;
}

/* --- a job on several nodes */

static int put_node_value(FILE *out, const struct csv_line *base, const struct job_node *n,
			  size_t metric)
{
	const struct job_node_value *v = &n->values[metric];
	char name[JOB_METRIC_LEN];
	struct csv_line l = *base;

	job_metric_name(metric, name);
	csv_word(&l, CSV_record, "node");
	csv_word(&l, CSV_name, name);
	csv_word(&l, CSV_unit, metric == NR_JOB_METRICS - 1 ? "nanojoules" : "bytes");
	csv_number(&l, CSV_value, v->value);
	csv_number(&l, CSV_low, v->low);
	csv_number(&l, CSV_high, v->high);
	return v->counted ? csv_put(out, &l) : 0;
}

static int put_node(FILE *out, const struct job_csv *f, size_t i, const struct job_node *n)
{
	char time[FORMAT_TIME_LEN];
	struct csv_line base;
	int err;

	base = line_of(f, f->job, time);
	format_time(n->start_ns, time);
	csv_number(&base, CSV_sequence, i);
	csv_bool(&base, CSV_summary, false);
	csv_number(&base, CSV_start_ns, n->start_ns);
	csv_number(&base, CSV_end_ns, n->end_ns);
	csv_number(&base, CSV_covered_ns, n->covered_ns);
	TEXT(&base, CSV_host, n->name);
	csv_quality(&base, &n->quality);
	err = put_number(out, &base, "node", "on_cpu_ns", n->on_cpu_ns);
	if (!err && n->gap_ns)
		err = put_number(out, &base, "node", "gap_ns", n->gap_ns);
	for (size_t k = 0; k < NR_JOB_METRICS && !err; k++)
		err = put_node_value(out, &base, n, k);
	return err;
}

/* The account, of each kind of nodes on its own; then all nodes. */
static int put_nodes(FILE *out, const struct job_csv *f)
{
	const struct job_nodes *n = f->context->nodes;
	size_t sequence = 0;
	int err = 0;

	for (size_t i = 0; i < n->nr_kinds && !err; i++) {
		struct job_context c = *f->context;
		const struct job_csv own = { &c, &n->kinds[i].job };

		c.host = &n->kinds[i].host;
		c.node = &n->kinds[i].node;
		err = put_account(out, &own, sequence++, &n->kinds[i].job) ?: put_gpus(out, &own);
	}
	for (size_t i = 0; i < n->nr && !err; i++)
		err = put_node(out, f, sequence++, &n->items[i]);
	return err;
}

static int put_all(FILE *out, void *arg)
{
	const struct job_csv *f = arg;
	int err = 0;

	csv_head(out);
	if (f->context->nodes)
		return put_nodes(out, f);
	for (size_t i = 0; i < f->context->history->nr && !err; i++)
		err = put_account(out, f, i, &f->context->history->jobs[i]);
	return err ? err : put_gpus(out, f);
}

int job_csv_write(FILE *out, const struct job_context *c, const struct account_job *j)
{
	struct job_csv f = { c, j };

	return format_whole(out, put_all, &f);
}
