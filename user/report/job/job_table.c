// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The account of a job, and the list of jobs, for people. Built in memory and written in one piece,
 * as in table.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/grid.h"
#include "report/job/job_gpus.h"
#include "report/job/job_nodes_table.h"
#include "report/job/job_notes.h"
#include "report/job/job_peak.h"
#include "report/job/job_report.h"
#include "report/job/job_sums.h"
#include "report/notes.h"

/* Width of the columns in front of the numbers, at most and at least. */
#define LABEL_MAX    36
#define LABEL_MIN    26
#define STEP_WIDTH   18
#define STEP_MAX     24
#define DEVICE_WIDTH 40

static size_t width_of(const struct table_options *o)
{
	size_t width = o->width ? o->width : TABLE_DEFAULT_WIDTH;

	return width < TABLE_MIN_WIDTH ? TABLE_MIN_WIDTH : width;
}

static struct grid_cell duration_cell(sum128 ns)
{
	char text[FORMAT_NUMBER_LEN];

	format_duration(ns, text);
	return grid_text("%s", text);
}

/* A job's table while it is written. */
struct job_table {
	FILE *out;
	const struct job_context *c;
	const struct account_job *j;
	const struct table_options *o;
	size_t width;
	bool parts; /* there is room for columns of other workloads and of unattributed bytes */
};

static int put_title(const struct job_table *t)
{
	const struct account_job *j = t->j;
	char start[FORMAT_TIME_LEN], end[FORMAT_TIME_LEN];
	char elapsed[FORMAT_NUMBER_LEN], cpu[FORMAT_NUMBER_LEN], cpus[FORMAT_NUMBER_LEN];
	const char *name = FORMAT_SAFE(j->job.name), *user = FORMAT_SAFE(j->job.user);
	char missing[JOB_NODES_TITLE];
	cleanup_free char *path = NULL;
	cleanup_free char *cut = NULL;
	int err;

	job_nodes_title(t->c->nodes, missing);
	format_time(j->whole.start_ns, start);
	format_time(j->whole.end_ns, end);
	format_duration(job_duration(j, &j->whole), elapsed);
	format_duration(j->whole.on_cpu_ns, cpu);
	format_ratio(j->whole.on_cpu_ns, j->covered_ns, cpus);
	/* "slurm job 12 (lbm) of ann on n1: ended" */
	err = notes_line(t->out, t->width, "%s job %s%s%s%s%s%s%s on %s%s: %s",
			 scheduler_name(j->job.scheduler), FORMAT_SAFE(j->job.id),
			 j->job.provisional ? " (stand-in: its number is not known)" : "",
			 name[0] ? " (" : "", name, name[0] ? ")" : "", user[0] ? " of " : "", user,
			 FORMAT_SAFE(t->c->host->name), missing, account_state_name(j->state));
	if (!err)
		err = notes_line(t->out, t->width, "%s to %s, %s, CPU time %s (%s CPUs)", start,
				 end, elapsed, cpu, cpus);
	if (err || !j->path || t->o->quiet)
		return err;
	err = format_terminal(j->path, SIZE_MAX, &path);
	if (!err)
		err = format_cut(path, t->width - strlen("cgroup "), FORMAT_CUT_LEFT, &cut);
	if (!err)
		fprintf(t->out, "cgroup %s\n", cut);
	return err;
}

/* --- bytes */

/* Does most of the account's uncertainty come from inseparable workloads? */
static bool is_tangled(const struct job_sum_value *v)
{
	return v->inseparable > v->value / 20;
}

/* Of bytes, or of nanojoules */
static struct grid_cell amount_of(const struct job_sum_value *v, bool energy)
{
	return energy ? grid_joules(v->value) : grid_bytes(v->value);
}

static struct grid_cell range_of(const struct job_sum_value *v, bool energy)
{
	return energy ? grid_joules_range(v->value, v->low, v->high, is_tangled(v))
		      : grid_range(v->value, v->low, v->high, is_tangled(v));
}

/* A line of sums, or that of energy, which is in no sum of bytes. @whole: the machine's, 100% */
struct sum_line {
	const char *label;
	uint64_t covered_ns;
	struct job_sum_value v;
	sum128 whole;
	bool energy;
};

GRID_CELL(sum_label, struct sum_line, grid_text("%s", row->label));
/* GB/s are bytes a nanosecond, and watts are nanojoules a nanosecond. */
GRID_CELL(sum_rate, struct sum_line, grid_ratio(row->v.value, row->covered_ns));
GRID_CELL(sum_amount, struct sum_line, amount_of(&row->v, row->energy));
GRID_CELL(sum_range, struct sum_line, range_of(&row->v, row->energy));

/* The parts of the machine's bytes, of any direction. */
enum { PART_JOB, PART_OTHERS, PART_NOBODY };

static struct grid_cell sum_part(const struct grid_place *at)
{
	const struct sum_line *l = at->row;
	const sum128 parts[] = { l->v.value, l->v.others, l->v.unattributed };

	return grid_percent(parts[at->column->arg], l->whole);
}

enum { COLUMN_RATE = 1, COLUMN_AMOUNT, COLUMN_OTHERS = 5 };

static const struct grid_column sum_columns[] = {
	{ NULL, NULL, LABEL_MIN, .least = 1, .most = LABEL_MAX, .look = GRID_NAME,
	  .cell = sum_label },
	[COLUMN_RATE] = { NULL, "GB/s", .cell = sum_rate },
	[COLUMN_AMOUNT] = { NULL, "BYTES", .cell = sum_amount },
	{ NULL, "RANGE", GRID_RANGE_WIDTH, .cell = sum_range },
	{ NULL, "SHARE", .cell = sum_part, .arg = PART_JOB },
	[COLUMN_OTHERS] = { NULL, "OTHERS", .rank = 1, .cell = sum_part, .arg = PART_OTHERS },
	{ NULL, "NOBODY", .rank = 1, .cell = sum_part, .arg = PART_NOBODY },
};

/* All tables but the first begin with an empty line. */
static void begin(struct grid *g)
{
	grid_fit(g);
	fputc('\n', g->out);
	grid_heading(g);
}

static int put_sum(const struct grid *g, enum job_sum sum, enum direction direction, sum128 whole)
{
	/* Indented lines belong to each direction. */
	static const char *const labels[NR_JOB_SUMS][NR_DIRECTIONS] = {
		[JOB_SUM_MEM] = { "memory reads", "memory writes", "memory reads and writes" },
		[JOB_SUM_CMEM] = { "  memory of CPUs" },
		[JOB_SUM_GMEM] = { "  memory of GPUs" },
		[JOB_SUM_CXL] = { "  CXL memory" },
		[JOB_SUM_REMOTE] = { "  another socket" },
		[JOB_SUM_DEVICE_MEM] = { "memory reads of devices", "memory writes of devices",
					 "memory traffic of devices" },
		[JOB_SUM_PCIE] = { "PCIe reads", "PCIe writes", "PCIe reads and writes" },
	};
	const struct job_table *t = g->table;
	const struct sum_line l = {
		.label = labels[sum][direction] ?: labels[sum][0],
		.covered_ns = t->j->covered_ns,
		.v = job_sum_of(t->c->node, t->j, &t->j->whole, sum, direction),
		.whole = whole,
	};

	/* If traffic of devices has no owner, there is no line for the job. */
	if (!l.v.counted || (sum == JOB_SUM_DEVICE_MEM && !l.v.high))
		return 0;
	return grid_row(g, &l);
}

static int put_sums(struct job_table *t)
{
	const struct accounts_node *n = t->c->node;
	const struct account_part *job = &t->j->whole;
	const struct job_sum_value all = job_sum_all(n, t->j, job);
	const struct job_sum_value pcie = job_sum_of(n, t->j, job, JOB_SUM_PCIE, NR_DIRECTIONS);
	const struct sum_line first = { "all memory", t->j->covered_ns, all, all.machine, false };
	GRID(g, sum_columns, t->out, t->width, t);
	int err = 0;

	if (!t->j->nr_node)
		return notes_wrapped(t->out, "(no counters: CPU time only)", t->width);
	grid_fit(&g);
	t->parts = !g.columns[COLUMN_OTHERS].hidden;
	grid_heading(&g);
	if (all.counted)
		err = grid_row(&g, &first);
	/* A direction with its destinations, then devices with all directions. */
	for (int d = 0; d < NR_DIRECTIONS && !err; d++)
		for (int i = JOB_SUM_MEM; i <= JOB_SUM_REMOTE && !err; i++)
			err = put_sum(&g, i, d, all.machine);
	for (int i = JOB_SUM_DEVICE_MEM; i < NR_JOB_SUMS && !err; i++)
		for (int d = 0; d < NR_DIRECTIONS && !err; d++)
			err = put_sum(&g, i, d, i == JOB_SUM_PCIE ? pcie.machine : all.machine);
	return err;
}

static int put_energy(struct job_table *t)
{
	const struct job_sum_value v = job_sum_energy(t->c->node, t->j, &t->j->whole);
	const struct sum_line l = { "energy", t->j->covered_ns, v, v.machine, true };
	GRID(g, sum_columns, t->out, t->width, t);

	if (!l.v.counted)
		return 0;
	g.columns[COLUMN_RATE].unit = "W";
	g.columns[COLUMN_AMOUNT].unit = "ENERGY";
	begin(&g);
	return grid_row(&g, &l);
}

/* Does a counter of the machine count CPU traffic in this direction? */
static bool counts(const struct accounts_node *n, enum direction direction)
{
	for (size_t i = 0; i < n->nr_counters; i++) {
		const struct account_counter *c = &n->counters[i];
		bool by_cpus = c->source == SOURCE_CPU || c->source == SOURCE_ANY;

		if (!c->bdf[0] && by_cpus && c->direction == direction && c->unit == UNIT_BYTES)
			return true;
	}
	return false;
}

static bool counts_energy(const struct accounts_node *n)
{
	for (size_t i = 0; i < n->nr_counters; i++)
		if (n->counters[i].unit == UNIT_NANOJOULES)
			return true;
	return false;
}

/* Does it get a column? If nothing counts both directions as one, there are two. */
static bool counts_way(const struct accounts_node *n, enum direction direction)
{
	bool together = counts(n, DIRECTION_READWRITE),
	     apart = counts(n, DIRECTION_READ) || counts(n, DIRECTION_WRITE);

	return direction == DIRECTION_READWRITE ? together : apart || !together;
}

/* --- steps */

struct step_line {
	const struct account_part *part; /* NULL: several together, or the rest outside of steps */
	const char *label;
	uint64_t time_ns;
	sum128 cpu_ns;
	struct job_sum_value mem[NR_DIRECTIONS];
	struct job_sum_value pcie[NR_WAYS];
	struct job_sum_value energy;
};

static struct step_line line_of(const struct job_table *t, const struct account_part *p)
{
	struct step_line l = { .part = p,
			       .time_ns = job_duration(t->j, p),
			       .cpu_ns = p->on_cpu_ns };

	for (int d = 0; d < NR_DIRECTIONS; d++)
		l.mem[d] = job_sum_of(t->c->node, t->j, p, JOB_SUM_MEM, d);
	for (int d = 0; d < NR_WAYS; d++)
		l.pcie[d] = job_sum_of(t->c->node, t->j, p, JOB_SUM_PCIE, d);
	l.energy = job_sum_energy(t->c->node, t->j, p);
	return l;
}

static sum128 bytes_of(const struct step_line *l)
{
	sum128 sum = l->pcie[0].value + l->pcie[1].value;

	for (int d = 0; d < NR_DIRECTIONS; d++)
		sum += l->mem[d].value;
	return sum;
}

static int compare_lines(const void *a, const void *b)
{
	const struct step_line *x = a, *y = b;

	return ORDER(bytes_of(y), bytes_of(x)) ?: ORDER(y->cpu_ns, x->cpu_ns) ?:
	       ORDER(x->part, y->part);
}

static struct grid_cell step_label(const struct grid_place *at)
{
	const struct job_table *t = at->table;
	const struct step_line *l = at->row;

	if (!l->part)
		return grid_text("%s", l->label);
	return grid_text("step %s%s", FORMAT_SAFE(l->part->step),
			 l->part->ended && t->j->state == ACCOUNT_RUNNING ? " (ended)" : "");
}

static struct grid_cell step_time(const struct grid_place *at)
{
	const struct step_line *l = at->row;

	return l->part ? duration_cell(l->time_ns) : grid_is(GRID_ABSENT);
}

GRID_CELL(step_cpu, struct step_line, duration_cell(row->cpu_ns));

static struct grid_cell bytes_if(const struct job_sum_value *v)
{
	return grid_if(v->counted, grid_bytes(v->value));
}

GRID_CELL(step_mem, struct step_line, bytes_if(&row->mem[at->column->arg]));
GRID_CELL(step_pcie, struct step_line, bytes_if(&row->pcie[at->column->arg]));
GRID_CELL(step_energy, struct step_line,
	  grid_if(row->energy.counted, grid_joules(row->energy.value)));

static struct grid_cell step_range(const struct grid_place *at)
{
	const struct job_table *t = at->table;
	const struct step_line *l = at->row;
	struct job_sum_value all = { 0 };

	if (l->part)
		all = job_sum_of(t->c->node, t->j, l->part, JOB_SUM_MEM, NR_DIRECTIONS);
	return grid_if(all.counted, range_of(&all, false));
}

static bool counts_pcie(const struct job_table *t)
{
	const struct account_part *p = &t->j->whole;

	return job_sum_of(t->c->node, t->j, p, JOB_SUM_PCIE, DIRECTION_READ).counted ||
	       job_sum_of(t->c->node, t->j, p, JOB_SUM_PCIE, DIRECTION_WRITE).counted;
}

GRID_SHOWN(has_pcie, struct job_table, counts_pcie(table));
GRID_SHOWN(has_energy, struct job_table,
	   job_sum_energy(table->c->node, table->j, &table->j->whole).counted);
GRID_SHOWN(has_mem, struct job_table, counts_way(table->c->node, at->column->arg));

static const struct grid_column step_columns[] = {
	{ NULL, NULL, STEP_WIDTH, .least = 1, .most = STEP_MAX, .look = GRID_NAME,
	  .cell = step_label },
	{ NULL, "ELAPSED", FORMAT_TIME_WIDTH, .cell = step_time },
	{ NULL, "CPU TIME", FORMAT_TIME_WIDTH, .cell = step_cpu },
	{ NULL, "READ", .shown = has_mem, .cell = step_mem, .arg = DIRECTION_READ },
	{ NULL, "WRITE", .shown = has_mem, .cell = step_mem, .arg = DIRECTION_WRITE },
	{ NULL, "RD+WR", .shown = has_mem, .cell = step_mem, .arg = DIRECTION_READWRITE },
	{ NULL, "RANGE", GRID_RANGE_WIDTH, .cell = step_range },
	{ NULL, "PCIE-RD", .rank = 1, .shown = has_pcie, .cell = step_pcie, .arg = DIRECTION_READ },
	{ NULL, "PCIE-WR", .rank = 1, .shown = has_pcie, .cell = step_pcie,
	  .arg = DIRECTION_WRITE },
	{ NULL, "ENERGY", .rank = 2, .shown = has_energy, .cell = step_energy },
};

static void take_value(struct job_sum_value *from, const struct job_sum_value *v)
{
	from->value -= v->value < from->value ? v->value : from->value;
}

static void take_away(struct step_line *from, const struct step_line *l)
{
	from->cpu_ns -= l->cpu_ns < from->cpu_ns ? l->cpu_ns : from->cpu_ns;
	for (int d = 0; d < NR_DIRECTIONS; d++)
		take_value(&from->mem[d], &l->mem[d]);
	for (int d = 0; d < NR_WAYS; d++)
		take_value(&from->pcie[d], &l->pcie[d]);
	take_value(&from->energy, &l->energy);
}

static int put_step_lines(const struct grid *g, struct step_line *lines, size_t nr)
{
	const struct job_table *t = g->table;
	struct step_line rest = line_of(t, &t->j->whole), hidden;
	size_t shown = t->o->top && t->o->top < nr ? t->o->top : nr;
	char label[32];
	int err = 0;

	for (size_t i = 0; i < shown && !err; i++) {
		err = grid_row(g, &lines[i]);
		take_away(&rest, &lines[i]);
	}
	rest.part = NULL;
	rest.label = "(in no step)";
	hidden = rest;
	hidden.label = label;
	/* Subtract all hidden steps first, so that the rest is outside of steps. */
	for (size_t i = shown; i < nr; i++)
		take_away(&rest, &lines[i]);
	take_away(&hidden, &rest);
	snprintf(label, sizeof(label), "(%zu more)", nr - shown);
	if (!err && shown < nr)
		err = grid_row(g, &hidden);
	if (!err && (bytes_of(&rest) || rest.energy.value || rest.cpu_ns))
		err = grid_row(g, &rest);
	return err;
}

static int put_steps(const struct job_table *t)
{
	cleanup_free struct step_line *lines = calloc(t->j->nr_steps + 1, sizeof(*lines));
	GRID(g, step_columns, t->out, t->width, t);

	if (!lines)
		return -ENOMEM;
	if (!t->j->nr_steps)
		return 0;
	for (size_t i = 0; i < t->j->nr_steps; i++)
		lines[i] = line_of(t, &t->j->steps[i]);
	qsort(lines, t->j->nr_steps, sizeof(*lines), compare_lines);
	begin(&g);
	return put_step_lines(&g, lines, t->j->nr_steps);
}

/* --- devices and counters */

static struct grid_cell device_name(const struct grid_place *at)
{
	const struct account_io *io = at->row;
	char both[sizeof(io->bdf) + sizeof(io->name) + 2];

	snprintf(both, sizeof(both), "%.*s%s%.*s", (int)sizeof(io->bdf), io->bdf,
		 io->name[0] ? " " : "", (int)sizeof(io->name), io->name);
	return grid_name(both, sizeof(both));
}

/* Perhaps nobody noted any. */
static struct grid_cell device_bytes(const struct grid_place *at)
{
	const struct account_io *io = at->row;
	uint64_t bytes = at->column->arg == DIRECTION_WRITE ? io->write_bytes : io->read_bytes;

	return grid_if(bytes > 0, grid_bytes(bytes));
}

static const struct grid_column device_columns[] = {
	{ NULL, "requests to devices", DEVICE_WIDTH, .look = GRID_NAME, .cell = device_name },
	{ NULL, "IO-RD", .cell = device_bytes, .arg = DIRECTION_READ },
	{ NULL, "IO-WR", .cell = device_bytes, .arg = DIRECTION_WRITE },
};

static int put_devices(const struct job_table *t)
{
	GRID(g, device_columns, t->out, t->width, t);
	int err = 0;

	if (!t->j->whole.nr_io)
		return 0;
	begin(&g);
	for (size_t i = 0; i < t->j->whole.nr_io && !err; i++)
		err = grid_row(&g, &t->j->whole.io[i]);
	return err;
}

/* A line of the counters: of account_job.node. */
struct counter_line {
	const struct account_node_total *n;
	const struct account_counter *c;
	struct job_sum_value v;
	uint64_t running_ns;
};

/* A counter without a value has no further text. */
static struct grid_cell said_if(const struct counter_line *l, struct grid_cell cell)
{
	return l->v.counted ? cell : grid_is(GRID_EMPTY);
}

GRID_CELL(counter_name, struct counter_line, grid_name(row->c->name, sizeof(row->c->name)));
GRID_CELL(counter_socket, struct counter_line, grid_text("%" PRIu32, row->c->socket));

GRID_CELL(counter_value, struct counter_line,
	  row->v.counted ? amount_of(&row->v, row->c->unit == UNIT_NANOJOULES)
			 : grid_is(GRID_NO_DATA));
GRID_CELL(counter_range, struct counter_line,
	  said_if(row, range_of(&row->v, row->c->unit == UNIT_NANOJOULES)));
GRID_CELL(counter_share, struct counter_line,
	  said_if(row, grid_percent(row->v.value, row->v.machine)));
GRID_CELL(counter_time, struct counter_line,
	  said_if(row, grid_percent(row->running_ns, row->n->enabled_ns)));

static const struct grid_column counter_columns[] = {
	{ NULL, "counter", .most = SIZE_MAX, .look = GRID_PATH, .cell = counter_name },
	{ NULL, "SKT", 3, .cell = counter_socket },
	{ NULL, "BYTES", .cell = counter_value },
	{ NULL, "RANGE", GRID_RANGE_WIDTH, .cell = counter_range },
	{ NULL, "OF IT", .cell = counter_share },
	{ NULL, "COUNTED", .cell = counter_time },
};

static int put_counters(const struct job_table *t)
{
	GRID(g, counter_columns, t->out, t->width, t);
	int err = 0;

	if (!t->o->verbose || !t->j->nr_node)
		return 0;
	begin(&g);
	for (size_t i = 0; i < t->j->nr_node && !err; i++) {
		const struct account_node_total *n = &t->j->node[i];
		const struct counter_line l = {
			.n = n,
			.c = &t->c->node->counters[n->counter],
			.v = job_sum_counter(t->j, &t->j->whole, i),
			.running_ns = n->running_ns < n->enabled_ns ? n->running_ns : n->enabled_ns,
		};

		err = grid_row(&g, &l);
	}
	return err;
}

static int put_legend(const struct job_table *t)
{
	if (t->o->quiet || !t->j->nr_node)
		return 0;
	return notes_wrapped(
		t->out,
		t->parts ? "SHARE, OTHERS, NOBODY: of all memory traffic of the machine in the "
			   "job's time, or all of PCIe, or all energy: its part, that of other "
			   "workloads, and the rest (idle, devices, background). RANGE: 95%"
			 : "SHARE: of all memory traffic of the machine in the job's time, or "
			   "all of PCIe, or all energy. RANGE: 95%",
		t->width);
}

/* Sums and steps */
static int put_body(struct job_table *t)
{
	int err = put_sums(t) ?: job_peak_line(t->out, t->c, t->j, t->width);

	return err ?: put_energy(t) ?: put_steps(t);
}

/* Nodes that count different things are beside each other. */
static int put_kinds(struct job_table *t)
{
	const struct job_nodes *n = t->c->nodes;
	int err = 0;

	for (size_t i = 0; i < n->nr_kinds && !err; i++) {
		const struct job_kind *k = &n->kinds[i];
		struct job_context c = *t->c;
		struct job_table own = *t;

		c.host = &k->host;
		c.node = &k->node;
		own.c = &c;
		own.j = &k->job;
		if (n->nr_kinds > 1)
			err = notes_line(t->out, t->width, "%son %s (%s):", i ? "\n" : "",
					 FORMAT_SAFE(k->host.name), FORMAT_SAFE(k->host.platform));
		if (!err)
			err = put_body(&own);
		if (!err)
			err = job_nodes_spread(t->out, n, k, t->width);
		t->parts = own.parts;
	}
	return err || !t->o->verbose ? err : job_nodes_list(t->out, n, t->width);
}

static int put_table(FILE *out, void *arg)
{
	struct job_table *t = arg;
	int err;

	t->out = out;
	err = put_title(t);
	if (!err && !t->o->quiet)
		fputc('\n', out);
	if (!err)
		err = t->c->nodes ? put_kinds(t) : put_body(t);
	if (!err)
		err = job_gpus_write(t->out, t->c, t->j, t->width) ?: put_devices(t);
	if (!err)
		err = put_counters(t);
	if (!err && !t->o->quiet)
		fputc('\n', out);
	if (!err)
		err = put_legend(t);
	if (!err && t->c->nodes)
		err = job_nodes_notes(out, t->c->nodes, t->width);
	return err ? err : job_notes_write(out, t->c, t->j, t->width, t->o);
}

int job_table_write(FILE *out, const struct job_context *c, const struct account_job *j,
		    const struct table_options *o)
{
	struct job_table t = { .c = c, .j = j, .o = o, .width = width_of(o) };

	return format_whole(out, put_table, &t);
}

/* --- the list of jobs: a line each */

#define START_WIDTH 19 /* up to the second */
#define START_SHORT 16 /* up to the minute */
#define SHORT_BELOW 72 /* on lines narrower than this */
/* Width that other columns must leave for the job's id: its length, within these bounds. */
#define ID_LEAST    5
#define ID_ENOUGH   24
#define ID_MAX	    48
#define ID_TEXT	    (JOB_ID_LEN + 32)

struct list {
	const struct job_context *c;
	const struct account_job *jobs;
	size_t nr;
	const struct table_options *o;
	bool users; /* some have one */
	bool mixed; /* jobs of several schedulers */
	bool incomplete;
};

static size_t id_text(const struct list *l, const struct account_job *j, char *ret, size_t size)
{
	return (size_t)snprintf(ret, size, "%s%s%.*s",
				l->mixed ? scheduler_name(j->job.scheduler) : "",
				l->mixed ? "/" : "", (int)job_id_shown(j->job.id), j->job.id);
}

/* Width of ids that keeps them distinct and usable as arguments. */
static size_t id_columns(const struct list *l)
{
	size_t columns = ID_LEAST, length;
	char text[ID_TEXT];

	for (size_t i = 0; i < l->nr && columns < ID_ENOUGH; i++) {
		length = id_text(l, &l->jobs[i], text, sizeof(text));
		if (length > columns)
			columns = length;
	}
	return columns < ID_ENOUGH ? columns : ID_ENOUGH;
}

static bool is_incomplete(const struct account_job *j)
{
	return j->late_start || j->nr_gaps || j->state == ACCOUNT_STALE;
}

static void look_at(struct list *l)
{
	for (size_t i = 0; i < l->nr; i++) {
		l->mixed = l->mixed || l->jobs[i].job.scheduler != l->jobs[0].job.scheduler;
		l->users = l->users || l->jobs[i].job.user[0];
		l->incomplete = l->incomplete || is_incomplete(&l->jobs[i]);
	}
}

/* --- cells */

static struct grid_cell cell_id(const struct grid_place *at)
{
	char text[ID_TEXT];

	id_text(at->table, at->row, text, sizeof(text));
	return grid_name(text[0] ? text : "-", sizeof(text));
}

GRID_CELL(cell_user, struct account_job,
	  grid_if(row->job.user[0], grid_name(row->job.user, sizeof(row->job.user))));
GRID_CELL(cell_name, struct account_job,
	  grid_if(row->job.name[0], grid_name(row->job.name, sizeof(row->job.name))));
GRID_CELL(cell_state, struct account_job,
	  grid_text("%s%s", account_state_name(row->state), is_incomplete(row) ? "*" : ""));

static struct grid_cell cell_start(const struct grid_place *at)
{
	const struct account_job *j = at->row;
	char start[FORMAT_TIME_LEN];

	format_time(j->whole.start_ns, start);
	return grid_text("%.*s", (int)at->column->width, start);
}

GRID_CELL(cell_time, struct account_job, duration_cell(job_duration(row, &row->whole)));
GRID_CELL(cell_cpu, struct account_job, duration_cell(row->whole.on_cpu_ns));

/* The sum and direction of a column. */
#define SUM(sum, direction) ((sum)*NR_DIRECTIONS + (direction))

static struct grid_cell cell_sum(const struct grid_place *at)
{
	const struct list *l = at->table;
	const struct account_job *j = at->row;
	struct job_sum_value v =
		job_sum_of(l->c->node, j, &j->whole, at->column->arg / NR_DIRECTIONS,
			   at->column->arg % NR_DIRECTIONS);

	return grid_if(v.counted, grid_bytes(v.value));
}

/* Of reads and writes together: how fast, and how sure their sum is. */
static struct grid_cell cell_rate(const struct grid_place *at)
{
	const struct list *l = at->table;
	const struct account_job *j = at->row;
	struct job_sum_value v = job_sum_of(l->c->node, j, &j->whole, JOB_SUM_MEM, NR_DIRECTIONS);

	return grid_if(v.counted, grid_ratio(v.value, j->covered_ns));
}

static struct grid_cell cell_range(const struct grid_place *at)
{
	const struct list *l = at->table;
	const struct account_job *j = at->row;
	struct job_sum_value v = job_sum_of(l->c->node, j, &j->whole, JOB_SUM_MEM, NR_DIRECTIONS);

	return grid_if(v.counted, range_of(&v, false));
}

static struct grid_cell cell_energy(const struct grid_place *at)
{
	const struct list *l = at->table;
	const struct account_job *j = at->row;
	struct job_sum_value v = job_sum_energy(l->c->node, j, &j->whole);

	return grid_if(v.counted, grid_joules(v.value));
}

GRID_SHOWN(some_user, struct list, table->users);
GRID_SHOWN(some_energy, struct list, counts_energy(table->c->node));
GRID_SHOWN(some_mem, struct list, counts_way(table->c->node, at->column->arg % NR_DIRECTIONS));

enum { COLUMN_START = 4 };

/* Order in which columns get room; none without those before it. */
#define OPTIONAL(nr) .rank = nr, .or_none = true

static const struct grid_column columns[] = {
	{ NULL, "JOB", .least = 1, .most = ID_MAX, .look = GRID_NAME, .cell = cell_id },
	{ NULL, "USER", 8, OPTIONAL(1), .look = GRID_NAME, .shown = some_user, .cell = cell_user },
	{ NULL, "NAME", 8, OPTIONAL(2), .least = 8, .most = 20, .early = 7, .look = GRID_NAME,
	  .cell = cell_name },
	{ NULL, "STATE", 8, .look = GRID_LEFT, .cell = cell_state },
	[COLUMN_START] = { NULL, "START (UTC)", START_WIDTH, .look = GRID_LEFT,
			   .cell = cell_start },
	{ NULL, "ELAPSED", FORMAT_TIME_WIDTH, .cell = cell_time },
	{ NULL, "CPU TIME", FORMAT_TIME_WIDTH, OPTIONAL(5), .cell = cell_cpu },
	{ NULL, "READ", .shown = some_mem, .cell = cell_sum,
	  .arg = SUM(JOB_SUM_MEM, DIRECTION_READ) },
	{ NULL, "WRITE", .shown = some_mem, .cell = cell_sum,
	  .arg = SUM(JOB_SUM_MEM, DIRECTION_WRITE) },
	{ NULL, "RD+WR", .shown = some_mem, .cell = cell_sum,
	  .arg = SUM(JOB_SUM_MEM, DIRECTION_READWRITE) },
	{ NULL, "GB/s", OPTIONAL(3), .cell = cell_rate },
	{ NULL, "RD+WR RANGE", GRID_RANGE_WIDTH, OPTIONAL(4), .cell = cell_range },
	{ NULL, "ENERGY", OPTIONAL(6), .shown = some_energy, .cell = cell_energy },
	{ NULL, "PCIE-RD", OPTIONAL(7), .cell = cell_sum, .arg = SUM(JOB_SUM_PCIE, 0) },
	{ NULL, "PCIE-WR", OPTIONAL(7), .cell = cell_sum, .arg = SUM(JOB_SUM_PCIE, 1) },
};

static int put_list(FILE *out, void *arg)
{
	struct list *l = arg;
	size_t shown = l->o->top && l->o->top < l->nr ? l->o->top : l->nr;
	size_t width = width_of(l->o);
	GRID(g, columns, out, width, l);
	int err = 0;

	if (!l->nr)
		return notes_wrapped(out, "(no jobs)", width);
	look_at(l);
	g.columns[0].width = id_columns(l);
	if (width < SHORT_BELOW)
		g.columns[COLUMN_START].width = START_SHORT;
	grid_fit(&g);
	grid_heading(&g);
	for (size_t i = 0; i < shown && !err; i++)
		err = grid_row(&g, &l->jobs[i]);
	if (!err && shown < l->nr)
		fprintf(out, "(%zu more)\n", l->nr - shown);
	if (!err && l->incomplete && !l->o->quiet)
		err = notes_wrapped(out,
				    "* a part of its time is not in its account; \"t410trace job\" "
				    "says which",
				    width);
	return err;
}

int jobs_table_write(FILE *out, const struct job_context *c, const struct account_job *jobs,
		     size_t nr, const struct table_options *o)
{
	struct list l = { .c = c, .jobs = jobs, .nr = nr, .o = o };

	return format_whole(out, put_list, &l);
}
