// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The list of jobs for people: a line each. */
#include "report/grid.h"
#include "report/job/job_report.h"
#include "report/job/job_sums.h"
#include "report/job/job_text.h"
#include "report/notes.h"

#define START_WIDTH 16 /* up to the minute */
/* Room for the job's id that more columns must leave: what it takes, within these bounds. */
#define ID_LEAST    11
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

/* Columns that ids take, so that one can be told from the other and asked for. */
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
	  grid_text("%s%s", account_state_name(row->state), is_incomplete(row) ? "!" : ""));

static struct grid_cell cell_start(const struct grid_place *at)
{
	const struct account_job *j = at->row;
	char start[FORMAT_TIME_LEN];

	format_time(j->whole.start_ns, start);
	return grid_text("%.*s", (int)at->column->width, start);
}

GRID_CELL(cell_time, struct account_job, grid_seconds(job_duration(row, &row->whole)));
GRID_CELL(cell_cpu, struct account_job, grid_seconds(row->whole.on_cpu_ns));

/* What a sum's column is about: the sum, and the direction. */
#define SUM(sum, direction) ((sum)*2 + (direction))

static struct grid_cell cell_sum(const struct grid_place *at)
{
	const struct list *l = at->table;
	const struct account_job *j = at->row;
	struct job_sum_value v =
		job_sum_of(l->c->node, j, &j->whole, at->column->arg / 2, at->column->arg % 2);

	return grid_if(v.counted, grid_bytes(v.value));
}

GRID_SHOWN(some_user, struct list, table->users);

/* In which order columns get room, and none without those before it. */
#define OPTIONAL(nr) .rank = nr, .or_none = true

static const struct grid_column columns[] = {
	{ NULL, "JOB", .least = 1, .most = ID_MAX, .look = GRID_NAME, .cell = cell_id },
	{ NULL, "USER", 9, OPTIONAL(1), .look = GRID_NAME, .shown = some_user, .cell = cell_user },
	{ NULL, "NAME", 20, OPTIONAL(3), .look = GRID_NAME, .cell = cell_name },
	{ NULL, "STATE", 8, .look = GRID_LEFT, .cell = cell_state },
	{ NULL, "START (UTC)", START_WIDTH, .look = GRID_LEFT, .cell = cell_start },
	{ NULL, "TIME s", .cell = cell_time },
	{ NULL, "CPU s", OPTIONAL(2), .cell = cell_cpu },
	{ NULL, "READ", .cell = cell_sum, .arg = SUM(JOB_SUM_MEM, DIRECTION_READ) },
	{ NULL, "WRITE", .cell = cell_sum, .arg = SUM(JOB_SUM_MEM, DIRECTION_WRITE) },
	{ NULL, "PCIE-RD", OPTIONAL(4), .cell = cell_sum, .arg = SUM(JOB_SUM_PCIE, 0) },
	{ NULL, "PCIE-WR", OPTIONAL(4), .cell = cell_sum, .arg = SUM(JOB_SUM_PCIE, 1) },
};

static int put_list(FILE *out, void *arg)
{
	struct list *l = arg;
	size_t shown = l->o->top && l->o->top < l->nr ? l->o->top : l->nr;
	size_t width = job_text_width(l->o);
	GRID(g, columns, out, width, l);
	int err = 0;

	if (!l->nr)
		return notes_wrapped(out, "(no jobs)", width);
	look_at(l);
	g.columns[0].width = id_columns(l);
	grid_fit(&g);
	grid_heading(&g);
	for (size_t i = 0; i < shown && !err; i++)
		err = grid_row(&g, &l->jobs[i]);
	if (!err && shown < l->nr)
		fprintf(out, "(%zu more)\n", l->nr - shown);
	if (!err && l->incomplete && !l->o->quiet)
		err = notes_wrapped(out,
				    "! a part of its time is not in its account; \"t410trace job\" "
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
