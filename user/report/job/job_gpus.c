// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/job/job_gpus.h"

#include <string.h>

#include "base/array.h"
#include "report/format.h"
#include "report/grid.h"
#include "report/job/job_sums.h"
#include "report/notes.h"
#include "report/put.h"

#define GPU_WIDTH   14
#define SHARE_WIDTH 11

struct gpu_table {
	const struct job_context *c;
	const struct account_job *j;
};

/* Bytes that its PCIe function moved, by the counters of its address. */
static struct job_sum_value pcie_of(const struct gpu_table *t, const struct account_gpu *g,
				    enum direction direction)
{
	return job_sum_device(t->c->node, t->j, g->bdf, direction);
}

static bool has_pcie(const struct gpu_table *t, enum direction direction)
{
	for (size_t i = 0; i < t->j->nr_gpus; i++)
		if (pcie_of(t, &t->j->gpus[i], direction).counted)
			return true;
	return false;
}

static bool has_link(const struct gpu_table *t)
{
	for (size_t i = 0; i < t->j->nr_gpus; i++)
		if (t->j->gpus[i].link_ns)
			return true;
	return false;
}

/* --- the table */

static struct grid_cell held_cell(const struct account_gpu *g)
{
	char text[FORMAT_NUMBER_LEN];

	format_duration(g->held_ns, text);
	return grid_text("%s", text);
}

/* "40.0-50.5%" */
static struct grid_cell share_range(const struct account_gpu *g)
{
	char low[FORMAT_NUMBER_LEN], high[FORMAT_NUMBER_LEN];

	if (g->busy_low_ns == g->busy_high_ns)
		return grid_text("exact");
	format_percent(g->busy_low_ns, g->known_ns, low);
	format_percent(g->busy_high_ns, g->known_ns, high);
	return grid_text("%.*s-%s", (int)strcspn(low, "%"), low, high);
}

static struct grid_cell link_cell(const struct account_gpu *g, enum direction direction)
{
	return grid_if(g->link_ns, grid_bytes(g->link[direction].value));
}

static struct grid_cell link_range(const struct account_gpu *g, enum direction direction)
{
	const struct account_link *l = &g->link[direction];

	return grid_if(g->link_ns, grid_range(l->value, l->low, l->high, false));
}

static struct grid_cell cell_pcie(const struct grid_place *at)
{
	struct job_sum_value v = pcie_of(at->table, at->row, at->column->arg);

	return grid_if(v.counted, grid_bytes(v.value));
}

GRID_CELL(cell_gpu, struct account_gpu, grid_name(row->bdf, sizeof(row->bdf)));
GRID_CELL(cell_held, struct account_gpu, held_cell(row));
GRID_CELL(cell_alone, struct account_gpu, grid_percent(row->alone_ns, row->held_ns));
GRID_CELL(cell_busy, struct account_gpu,
	  grid_if(row->known_ns, grid_percent(row->busy_ns, row->known_ns)));
GRID_CELL(cell_share, struct account_gpu, grid_if(row->known_ns, share_range(row)));
GRID_CELL(cell_link, struct account_gpu, link_cell(row, at->column->arg));
GRID_CELL(cell_range, struct account_gpu, link_range(row, at->column->arg));

GRID_SHOWN(shows_pcie, struct gpu_table, has_pcie(table, at->column->arg));
GRID_SHOWN(shows_link, struct gpu_table, has_link(table));

static const struct grid_column columns[] = {
	{ NULL, "GPU", GPU_WIDTH, .least = 1, .most = 16, .look = GRID_NAME, .cell = cell_gpu },
	{ NULL, "HELD", FORMAT_TIME_WIDTH, .cell = cell_held },
	{ NULL, "ALONE", .rank = 1, .cell = cell_alone },
	{ NULL, "BUSY", .cell = cell_busy },
	{ NULL, "95%", SHARE_WIDTH, .rank = 3, .cell = cell_share },
	{ NULL, "C2C-RD", .shown = shows_link, .cell = cell_link, .arg = DIRECTION_READ },
	{ NULL, "RANGE", GRID_RANGE_WIDTH, .rank = 2, .shown = shows_link, .cell = cell_range,
	  .arg = DIRECTION_READ },
	{ NULL, "C2C-WR", .shown = shows_link, .cell = cell_link, .arg = DIRECTION_WRITE },
	{ NULL, "RANGE", GRID_RANGE_WIDTH, .rank = 2, .shown = shows_link, .cell = cell_range,
	  .arg = DIRECTION_WRITE },
	{ NULL, "PCIE-RD", .rank = 4, .shown = shows_pcie, .cell = cell_pcie,
	  .arg = DIRECTION_READ },
	{ NULL, "PCIE-WR", .rank = 4, .shown = shows_pcie, .cell = cell_pcie,
	  .arg = DIRECTION_WRITE },
};

int job_gpus_write(FILE *out, const struct job_context *c, const struct account_job *j,
		   size_t width)
{
	const struct gpu_table t = { c, j };
	GRID(g, columns, out, width, &t);
	int err = 0;

	if (!j->nr_gpus)
		return 0;
	grid_fit(&g);
	fputc('\n', out);
	grid_heading(&g);
	for (size_t i = 0; i < j->nr_gpus && !err; i++)
		err = grid_row(&g, &j->gpus[i]);
	return err;
}

/* --- notes */

int job_gpus_notes(FILE *out, const struct account_job *j, size_t width)
{
	int err = 0;

	if (j->nr_gpus)
		err = notes_line(out, width,
				 "GPUs: HELD is the time with a context of the job, ALONE the part "
				 "without one of others, and BUSY the part in which it worked for "
				 "the job; C2C is its link to the CPUs, beside all sums");
	for (size_t i = 0; i < j->nr_gpus && !err; i++) {
		const struct account_gpu *g = &j->gpus[i];
		char idle[FORMAT_NUMBER_LEN], known[FORMAT_NUMBER_LEN];

		/* Half of the time: a job that reads its input first is no news. */
		if (g->idle_ns <= g->known_ns / 2)
			continue;
		format_duration(g->idle_ns, idle);
		format_duration(g->known_ns, known);
		err = notes_line(out, width,
				 "held but idle: GPU %s did nothing for this job in %s of %s",
				 FORMAT_SAFE(g->bdf), idle, known);
	}
	return err;
}

/* --- JSON */

static void put_bounds(json_t *o, const char *key, const struct account_link *l, int *err)
{
	json_t *v = json_object();

	put_number(v, "value", l->value, err);
	put_number(v, "low", l->low, err);
	put_number(v, "high", l->high, err);
	put(o, key, v, err);
}

/* Numbers of these have no limit of their own, and readers have. */
static void put_ns(json_t *o, const char *key, uint64_t ns, int *err)
{
	put_number(o, key, ns < INT64_MAX ? ns : INT64_MAX, err);
}

static void put_link(json_t *o, const struct account_gpu *g, int *err)
{
	json_t *link;

	if (!g->link_ns)
		return;
	link = json_object();
	put_ns(link, "duration_ns", g->link_ns, err);
	put_bounds(link, "read_bytes", &g->link[DIRECTION_READ], err);
	put_bounds(link, "write_bytes", &g->link[DIRECTION_WRITE], err);
	put(o, "c2c", link, err);
}

static void put_pcie(json_t *o, const struct gpu_table *t, const struct account_gpu *g, int *err)
{
	static const char *const keys[NR_WAYS] = { "read_bytes", "write_bytes" };
	json_t *pcie = NULL;

	for (int d = 0; d < NR_WAYS; d++) {
		struct job_sum_value v = pcie_of(t, g, d);

		if (!v.counted)
			continue;
		pcie = pcie ?: json_object();
		put_bounds(pcie, keys[d], &(struct account_link){ v.value, v.low, v.high }, err);
	}
	if (pcie)
		put(o, "pcie", pcie, err);
}

static json_t *gpu_object(const struct gpu_table *t, const struct account_gpu *g, int *err)
{
	json_t *o = json_object();

	put_name(o, "bdf", g->bdf, sizeof(g->bdf), err);
	put_name(o, "uuid", g->uuid[0] ? g->uuid : NULL, sizeof(g->uuid), err);
	put_ns(o, "held_ns", g->held_ns, err);
	put_ns(o, "alone_ns", g->alone_ns, err);
	put_ns(o, "known_ns", g->known_ns, err);
	if (g->known_ns) {
		put_ns(o, "idle_ns", g->idle_ns, err);
		put_ns(o, "busy_ns", g->busy_ns, err);
		put_ns(o, "busy_low_ns", g->busy_low_ns, err);
		put_ns(o, "busy_high_ns", g->busy_high_ns, err);
	}
	put_link(o, g, err);
	put_pcie(o, t, g, err);
	return o;
}

json_t *job_gpus_json(const struct job_context *c, const struct account_job *j, int *err)
{
	const struct gpu_table t = { c, j };
	json_t *a = json_array();

	for (size_t i = 0; i < j->nr_gpus && !*err; i++)
		put_element(a, gpu_object(&t, &j->gpus[i], err), err);
	return a;
}
