// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The list of jobs for people: a line each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/job/job_report.h"
#include "report/job/job_sums.h"
#include "report/job/job_text.h"
#include "report/notes.h"

#define NUMBER	    (FORMAT_NUMBER_WIDTH + 1)
#define STATE_WIDTH 8  /* "running" and the mark */
#define START_WIDTH 16 /* up to the minute */
#define USER_WIDTH  9
#define NAME_WIDTH  20
/* Room for the job's id that more columns must leave: what it takes, within these bounds. */
#define ID_LEAST    11
#define ID_ENOUGH   24
#define ID_MAX	    48
#define ID_TEXT	    (JOB_ID_LEN + 32)

/* Which columns there is room for. */
struct list {
	FILE *out;
	const struct job_context *c;
	size_t width;
	size_t id;
	bool user;
	bool cpu;
	bool name;
	bool pcie;
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
static size_t id_columns(const struct list *l, const struct account_job *jobs, size_t nr)
{
	size_t columns = ID_LEAST, length;
	char text[ID_TEXT];

	for (size_t i = 0; i < nr && columns < ID_ENOUGH; i++) {
		length = id_text(l, &jobs[i], text, sizeof(text));
		if (length > columns)
			columns = length;
	}
	return columns < ID_ENOUGH ? columns : ID_ENOUGH;
}

static void look_at(struct list *l, const struct account_job *jobs, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		l->mixed = l->mixed || jobs[i].job.scheduler != jobs[0].job.scheduler;
		l->users = l->users || jobs[i].job.user[0];
		l->incomplete = l->incomplete || jobs[i].late_start || jobs[i].nr_gaps ||
				jobs[i].state == ACCOUNT_STALE;
	}
}

static void lay_out(struct list *l, const struct account_job *jobs, size_t nr)
{
	size_t room = l->width - (1 + STATE_WIDTH) - (1 + START_WIDTH) - 3 * NUMBER, id;
	struct {
		bool *column;
		size_t width;
	} more[] = {
		{ &l->user, 1 + USER_WIDTH },
		{ &l->cpu, NUMBER },
		{ &l->name, 1 + NAME_WIDTH },
		{ &l->pcie, 2 * NUMBER },
	};

	look_at(l, jobs, nr);
	id = id_columns(l, jobs, nr);
	for (size_t i = l->users ? 0 : 1; i < ARRAY_SIZE(more); i++) {
		if (room < id + more[i].width)
			break;
		*more[i].column = true;
		room -= more[i].width;
	}
	l->id = room < ID_MAX ? room : ID_MAX;
}

static void put_heading(const struct list *l)
{
	fprintf(l->out, "%-*s", (int)l->id, "JOB");
	if (l->user)
		fprintf(l->out, " %-*s", USER_WIDTH, "USER");
	if (l->name)
		fprintf(l->out, " %-*s", NAME_WIDTH, "NAME");
	fprintf(l->out, " %-*s %-*s %7s", STATE_WIDTH, "STATE", START_WIDTH, "START (UTC)",
		"TIME s");
	if (l->cpu)
		fprintf(l->out, " %7s", "CPU s");
	fprintf(l->out, " %7s %7s", "READ", "WRITE");
	if (l->pcie)
		fprintf(l->out, " %7s %7s", "PCIE-RD", "PCIE-WR");
	fputc('\n', l->out);
}

/* A name in a column, which may be anything. */
static int put_name_cell(const struct list *l, const char *name, size_t max, size_t width)
{
	cleanup_free char *text = NULL;
	int err = format_terminal(name, max, &text);

	return err ? err : job_text_put(l->out, text[0] ? text : "-", width, FORMAT_CUT_RIGHT);
}

static int put_id(const struct list *l, const struct account_job *j)
{
	char text[ID_TEXT];

	id_text(l, j, text, sizeof(text));
	return put_name_cell(l, text, sizeof(text), l->id);
}

static void put_sum(const struct list *l, const struct account_job *j, enum job_sum sum,
		    enum direction direction)
{
	struct job_sum_value v = job_sum_of(l->c->node, j, &j->whole, sum, direction);
	char text[FORMAT_NUMBER_LEN] = "-";

	if (v.counted)
		format_bytes(v.value, text);
	fprintf(l->out, " %7s", text);
}

static int put_job(const struct list *l, const struct account_job *j)
{
	bool incomplete = j->late_start || j->nr_gaps || j->state == ACCOUNT_STALE;
	char state[16], start[FORMAT_TIME_LEN], seconds[FORMAT_NUMBER_LEN];
	int err = put_id(l, j);

	if (!err && l->user) {
		fputc(' ', l->out);
		err = put_name_cell(l, j->job.user, sizeof(j->job.user), USER_WIDTH);
	}
	if (!err && l->name) {
		fputc(' ', l->out);
		err = put_name_cell(l, j->job.name, sizeof(j->job.name), NAME_WIDTH);
	}
	if (err)
		return err;
	snprintf(state, sizeof(state), "%s%s", account_state_name(j->state), incomplete ? "!" : "");
	format_time(j->whole.start_ns, start);
	format_seconds(job_duration(j, &j->whole), seconds);
	fprintf(l->out, " %-*s %.*s %7s", STATE_WIDTH, state, START_WIDTH, start, seconds);
	if (l->cpu) {
		format_seconds(j->whole.on_cpu_ns, seconds);
		fprintf(l->out, " %7s", seconds);
	}
	put_sum(l, j, JOB_SUM_MEM, DIRECTION_READ);
	put_sum(l, j, JOB_SUM_MEM, DIRECTION_WRITE);
	if (l->pcie) {
		put_sum(l, j, JOB_SUM_PCIE, DIRECTION_READ);
		put_sum(l, j, JOB_SUM_PCIE, DIRECTION_WRITE);
	}
	fputc('\n', l->out);
	return 0;
}

static int put_list(struct list *l, const struct account_job *jobs, size_t nr,
		    const struct table_options *o)
{
	size_t shown = o->top && o->top < nr ? o->top : nr;
	int err = 0;

	if (!nr)
		return notes_wrapped(l->out, "(no jobs)", l->width);
	lay_out(l, jobs, nr);
	put_heading(l);
	for (size_t i = 0; i < shown && !err; i++)
		err = put_job(l, &jobs[i]);
	if (!err && shown < nr)
		fprintf(l->out, "(%zu more)\n", nr - shown);
	if (!err && l->incomplete && !o->quiet)
		err = notes_wrapped(l->out,
				    "! a part of its time is not in its account; \"t410trace job\" "
				    "says which",
				    l->width);
	return err;
}

int jobs_table_write(FILE *out, const struct job_context *c, const struct account_job *jobs,
		     size_t nr, const struct table_options *o)
{
	struct list l = { .c = c, .width = job_text_width(o) };
	char *text = NULL;
	size_t len;
	int err;

	l.out = open_memstream(&text, &len);
	if (!l.out)
		return -ENOMEM;
	err = put_list(&l, jobs, nr, o);
	if (fclose(l.out) && !err)
		err = -ENOMEM;
	if (!err)
		err = format_emit(out, text, len);
	free(text);
	return err;
}
