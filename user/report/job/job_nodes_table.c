// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/job/job_nodes_table.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hostlist.h"
#include "report/grid.h"
#include "report/notes.h"

#define NAMED	    3	/* refused reports that are told one by one */
#define NAMES_BYTES 300 /* of names in a sentence */
#define NODE_WIDTH  8
#define NODE_MOST   24
#define LABEL_WIDTH 21

void job_spread_label(size_t spread, char ret[JOB_SPREAD_LABEL])
{
	static const char *const sums[NR_JOB_SUMS] = {
		[JOB_SUM_MEM] = "memory",	   [JOB_SUM_CMEM] = "memory of CPUs",
		[JOB_SUM_GMEM] = "memory of GPUs", [JOB_SUM_CXL] = "CXL memory",
		[JOB_SUM_REMOTE] = "other socket", [JOB_SUM_DEVICE_MEM] = "device memory",
		[JOB_SUM_PCIE] = "PCIe",
	};
	static const char *const ways[NR_DIRECTIONS] = { "reads", "writes", "traffic" };

	if (spread == JOB_SPREAD_CPUS)
		snprintf(ret, JOB_SPREAD_LABEL, "CPU time");
	else if (spread == NR_JOB_METRICS - 1)
		snprintf(ret, JOB_SPREAD_LABEL, "energy");
	else
		snprintf(ret, JOB_SPREAD_LABEL, "%s %s", sums[spread / NR_DIRECTIONS],
			 ways[spread % NR_DIRECTIONS]);
}

struct grid_cell job_spread_cell(size_t spread, sum128 value)
{
	char text[FORMAT_NUMBER_LEN];

	if (spread == NR_JOB_METRICS - 1)
		return grid_joules(value);
	if (spread != JOB_SPREAD_CPUS)
		return grid_bytes(value);
	format_duration(value, text);
	return grid_text("%s", text);
}

/* --- the extremes */

struct spread_line {
	const struct job_spread *s;
	size_t spread;
};

static struct grid_cell spread_label(const struct grid_place *at)
{
	const struct spread_line *l = at->row;
	char label[JOB_SPREAD_LABEL];

	job_spread_label(l->spread, label);
	return grid_text("%s", label);
}

GRID_CELL(spread_point, struct spread_line,
	  job_spread_cell(row->spread, row->s->points[at->column->arg]));

static struct grid_cell spread_node(const struct grid_place *at)
{
	const struct job_nodes *n = at->table;
	const struct spread_line *l = at->row;
	const struct job_node *node = &n->items[at->column->arg ? l->s->last : l->s->first];

	return grid_name(node->name, sizeof(node->name));
}

static struct grid_cell spread_imbalance(const struct grid_place *at)
{
	const struct spread_line *l = at->row;
	char text[FORMAT_NUMBER_LEN];

	format_decimals(job_spread_imbalance(l->s), 2, text);
	return grid_if(l->s->sum > 0, grid_text("%s", text));
}

static const struct grid_column spread_columns[] = {
	{ NULL, "per node", LABEL_WIDTH, .least = 12, .most = LABEL_WIDTH, .look = GRID_NAME,
	  .cell = spread_label },
	{ NULL, "LEAST", FORMAT_TIME_WIDTH, .cell = spread_point, .arg = 0 },
	{ NULL, "ON", NODE_WIDTH, .most = NODE_MOST, .rank = 1, .look = GRID_NAME,
	  .cell = spread_node, .arg = 0 },
	{ NULL, "MEDIAN", FORMAT_TIME_WIDTH, .cell = spread_point, .arg = 2 },
	{ NULL, "LARGEST", FORMAT_TIME_WIDTH, .cell = spread_point, .arg = 4 },
	{ NULL, "ON", NODE_WIDTH, .most = NODE_MOST, .look = GRID_NAME, .cell = spread_node,
	  .arg = 1 },
	{ "MAX", "/MEAN", 5, .cell = spread_imbalance },
};

int job_nodes_spread(FILE *out, const struct job_nodes *n, const struct job_kind *k, size_t width)
{
	GRID(g, spread_columns, out, width, n);
	int err = 0;

	grid_fit(&g);
	fputc('\n', out);
	grid_heading(&g);
	for (size_t i = 0; i < NR_JOB_SPREADS && !err; i++) {
		/* CPU time, which all nodes have, comes first. */
		size_t at = i ? i - 1 : JOB_SPREAD_CPUS;
		const struct spread_line l = { &k->spreads[at], at };

		if (l.s->sum)
			err = grid_row(&g, &l);
	}
	return err;
}

/* --- all nodes */

GRID_CELL(node_name, struct job_node, grid_name(row->name, sizeof(row->name)));
GRID_CELL(node_state, struct job_node,
	  grid_text("%s%s", account_state_name(row->state),
		    row->incomplete || row->gap_ns || row->late_start ? "*" : ""));
GRID_CELL(node_time, struct job_node, job_spread_cell(JOB_SPREAD_CPUS, row->duration_ns));
GRID_CELL(node_cpu, struct job_node, job_spread_cell(JOB_SPREAD_CPUS, row->on_cpu_ns));

static struct grid_cell node_value(const struct grid_place *at)
{
	const struct job_node *n = at->row;
	size_t i = (size_t)at->column->arg;

	return grid_if(n->values[i].counted, job_spread_cell(i, n->values[i].value));
}

static bool has_value(const struct grid_place *at)
{
	const struct job_nodes *n = at->table;

	for (size_t i = 0; i < n->nr; i++)
		if (n->items[i].values[at->column->arg].counted)
			return true;
	return false;
}

#define VALUE(sum, way) \
	.shown = has_value, .cell = node_value, .arg = (sum)*NR_DIRECTIONS + DIRECTION_##way

static const struct grid_column node_columns[] = {
	{ NULL, "NODE", NODE_WIDTH, .least = 4, .most = NODE_MOST, .look = GRID_NAME,
	  .cell = node_name },
	{ NULL, "STATE", 8, .look = GRID_LEFT, .cell = node_state },
	{ NULL, "ELAPSED", FORMAT_TIME_WIDTH, .cell = node_time },
	{ NULL, "CPU TIME", FORMAT_TIME_WIDTH, .cell = node_cpu },
	{ NULL, "READ", VALUE(JOB_SUM_MEM, READ) },
	{ NULL, "WRITE", VALUE(JOB_SUM_MEM, WRITE) },
	{ NULL, "RD+WR", VALUE(JOB_SUM_MEM, READWRITE) },
	{ NULL, "PCIE-RD", .rank = 1, VALUE(JOB_SUM_PCIE, READ) },
	{ NULL, "PCIE-WR", .rank = 1, VALUE(JOB_SUM_PCIE, WRITE) },
	{ NULL, "ENERGY", .rank = 2, .shown = has_value, .cell = node_value,
	  .arg = NR_JOB_METRICS - 1 },
};

int job_nodes_list(FILE *out, const struct job_nodes *n, size_t width)
{
	GRID(g, node_columns, out, width, n);
	int err = 0;

	grid_fit(&g);
	fputc('\n', out);
	grid_heading(&g);
	for (size_t i = 0; i < n->nr && !err; i++)
		err = grid_row(&g, &n->items[i]);
	return err;
}

/* --- notes */

void job_nodes_title(const struct job_nodes *n, char ret[JOB_NODES_TITLE])
{
	ret[0] = '\0';
	if (n && n->missing.nr)
		snprintf(ret, JOB_NODES_TITLE, ", without %zu of %zu nodes", n->missing.nr,
			 n->expected);
}

static bool is_stale(const struct job_node *n)
{
	return n->state == ACCOUNT_STALE;
}

static bool is_late(const struct job_node *n)
{
	return n->late_start;
}

static bool has_gaps(const struct job_node *n)
{
	return n->gap_ns;
}

static bool has_lost(const struct job_node *n)
{
	return n->incomplete;
}

static bool has_clock(const struct job_node *n)
{
	return n->clock_set_ns || n->clock_back_ns;
}

static bool has_idle_gpus(const struct job_node *n)
{
	return n->gpus.known_ns && n->gpus.idle_ns >= n->gpus.known_ns;
}

static bool has_bounds(const struct job_node *n)
{
	return !method_row(n->quality.method)->learns;
}

/* A sentence about some of the nodes, with their names in it. */
static const struct {
	bool (*is)(const struct job_node *n);
	const char *front;
} sayings[] = {
	{ is_stale, "stale: it ended while nobody looked on " },
	{ is_late, "late start: it was perhaps there before t410trace began to look on " },
	{ has_gaps, "gaps: for some time nobody looked on " },
	{ has_lost, "lost data, or counters without a value at times: on " },
	{ has_clock, "clock: it was set while the job was there on " },
	{ has_idle_gpus, "held but idle: no GPU did anything for this job on " },
	{ has_bounds, "certain bounds, not 95%, are the ranges of " },
};

static int put_names(FILE *out, const struct text_list *names, const char *front,
		     const char *behind, size_t width)
{
	cleanup_free char *text =
		hostlist_fold((const char *const *)names->items, names->nr, NAMES_BYTES);

	return text ? notes_line(out, width, "%s%s%s", front, text, behind) : -ENOMEM;
}

static int put_refused(FILE *out, const struct job_nodes *n, size_t width)
{
	int err = 0;

	for (size_t i = 0; i < n->nr_refused && i < NAMED && !err; i++) {
		cleanup_free char *report = NULL;
		cleanup_free char *text = NULL;

		err = format_terminal(n->refused[i].report, SIZE_MAX, &report)
			      ?: format_terminal(n->refused[i].text, SIZE_MAX, &text);
		if (!err)
			err = notes_line(out, width, "left out: %s: %s", report, text);
	}
	if (!err && n->nr_refused > NAMED)
		err = notes_line(out, width, "left out: %zu more reports", n->nr_refused - NAMED);
	return err;
}

int job_nodes_notes(FILE *out, const struct job_nodes *n, size_t width)
{
	size_t nr = job_nodes_count(n);
	int err = notes_line(
		out, width, "merged of the reports of %zu node%s%s", nr, nr == 1 ? "" : "s",
		nr == 1 ? "" : "; their errors are taken as independent of each other");

	if (!err && n->missing.nr)
		err = put_names(out, &n->missing, "missing: there is no report of ",
				"; sums are without them", width);
	if (!err)
		err = put_refused(out, n, width);
	if (!err && n->extra.nr)
		err = put_names(out, &n->extra, "more nodes than --nodes has are in it: ", "",
				width);
	if (!err && n->twice->nr)
		err = notes_line(out, width, "twice: %zu report%s there already", n->twice->nr,
				 n->twice->nr == 1 ? " was" : "s were");
	for (size_t i = 0; i < ARRAY_SIZE(sayings) && !err; i++) {
		cleanup_free char *names = job_nodes_names(n, sayings[i].is, NAMES_BYTES);

		if (!names)
			return -ENOMEM;
		if (names[0])
			err = notes_line(out, width, "%s%s", sayings[i].front, names);
	}
	return err;
}
