// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The account of a job for people. Built in memory and written in one piece, as table.c does it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/format.h"
#include "report/job/job_notes.h"
#include "report/job/job_report.h"
#include "report/job/job_sums.h"
#include "report/job/job_text.h"
#include "report/notes.h"

/* A number's column with the blank before it; RANGE has the mark "~", too. */
#define NUMBER	     (FORMAT_NUMBER_WIDTH + 1)
#define RANGE	     (FORMAT_BAR_WIDTH + 2)
#define PERCENT	     7
/* What is in front of the numbers, at most and at least. */
#define LABEL_MAX    36
#define LABEL_MIN    26
#define STEP_MAX     24
#define STEP_NUMBERS (5 * NUMBER + RANGE)
#define DEVICE_WIDTH 40

/* A job's table while it is written. */
struct job_table {
	FILE *out;
	const struct job_context *c;
	const struct account_job *j;
	const struct table_options *o;
	size_t width;
};

static int put_title(const struct job_table *t)
{
	const struct account_job *j = t->j;
	char start[FORMAT_TIME_LEN], end[FORMAT_TIME_LEN];
	char seconds[FORMAT_NUMBER_LEN], cpu[FORMAT_NUMBER_LEN], cpus[FORMAT_NUMBER_LEN];
	cleanup_free char *who = NULL;
	cleanup_free char *life = NULL;
	cleanup_free char *path = NULL;
	cleanup_free char *cut = NULL;
	int err = job_text_title(t->c->host, j, &who);

	if (err)
		return err;
	format_time(j->whole.start_ns, start);
	format_time(j->whole.end_ns, end);
	format_seconds(job_duration(j, &j->whole), seconds);
	format_seconds(j->whole.on_cpu_ns, cpu);
	format_ratio(j->whole.on_cpu_ns, j->covered_ns, cpus);
	if (asprintf(&life, "%s to %s, %s s, CPU time %s s (%s CPUs)", start, end, seconds, cpu,
		     cpus) < 0) {
		life = NULL;
		return -ENOMEM;
	}
	err = notes_wrapped(t->out, who, t->width);
	if (!err)
		err = notes_wrapped(t->out, life, t->width);
	if (err || !j->path || t->o->quiet)
		return err;
	err = format_terminal(j->path, SIZE_MAX, &path);
	if (!err)
		err = format_cut(path, t->width - strlen("cgroup "), FORMAT_CUT_LEFT, &cut);
	if (!err)
		fprintf(t->out, "cgroup %s\n", cut);
	return err;
}

/* --- what it moved */

/* Is most of the account's doubt that it could not be told from others? */
static bool is_tangled(const struct job_sum_value *v)
{
	return v->inseparable > v->value / 20;
}

static void put_range(const struct job_table *t, const struct job_sum_value *v)
{
	char bar[FORMAT_NUMBER_LEN], text[FORMAT_NUMBER_LEN + 1];

	format_bar(v->value, v->low, v->high, bar);
	snprintf(text, sizeof(text), "%s%s", is_tangled(v) ? "~" : "", bar);
	/* "±" and "≤" are one column and more bytes. */
	fprintf(t->out, "%*s%s", (int)(RANGE - format_width(text)), "", text);
}

static void put_percent(const struct job_table *t, uint64_t part, uint64_t whole)
{
	char text[FORMAT_NUMBER_LEN];

	format_percent(part, whole, text);
	fprintf(t->out, " %*s", PERCENT, text);
}

static bool has_parts(const struct job_table *t)
{
	return t->width >= LABEL_MIN + 2 * NUMBER + RANGE + 3 * (PERCENT + 1);
}

static size_t label_width(const struct job_table *t)
{
	size_t numbers = 2 * NUMBER + RANGE + (has_parts(t) ? 3 : 1) * (PERCENT + 1);

	return t->width - numbers < LABEL_MAX ? t->width - numbers : LABEL_MAX;
}

static int put_sum(const struct job_table *t, enum job_sum sum, enum direction direction)
{
	static const char *const labels[NR_JOB_SUMS][2] = {
		[JOB_SUM_MEM] = { "memory reads", "memory writes" },
		[JOB_SUM_CMEM] = { "  memory of CPUs", "  memory of CPUs" },
		[JOB_SUM_GMEM] = { "  memory of GPUs", "  memory of GPUs" },
		[JOB_SUM_CXL] = { "  CXL memory", "  CXL memory" },
		[JOB_SUM_REMOTE] = { "  another socket", "  another socket" },
		[JOB_SUM_DEVICE_MEM] = { "memory reads of devices", "memory writes of devices" },
		[JOB_SUM_PCIE] = { "PCIe reads", "PCIe writes" },
	};
	struct job_sum_value v = job_sum_of(t->c->node, t->j, &t->j->whole, sum, direction);
	char rate[FORMAT_NUMBER_LEN], bytes[FORMAT_NUMBER_LEN];
	int err;

	/* Where nobody knows whose devices' traffic is, there is nothing to say of the job. */
	if (!v.counted || (sum == JOB_SUM_DEVICE_MEM && !v.high))
		return 0;
	err = job_text_put(t->out, labels[sum][direction == DIRECTION_WRITE], label_width(t),
			   FORMAT_CUT_RIGHT);
	if (err)
		return err;
	format_rate(v.value, t->j->covered_ns, rate);
	format_bytes(v.value, bytes);
	fprintf(t->out, " %7s %7s", rate, bytes);
	put_range(t, &v);
	put_percent(t, v.value, v.machine);
	if (has_parts(t)) {
		put_percent(t, v.others, v.machine);
		put_percent(t, v.unattributed, v.machine);
	}
	fputc('\n', t->out);
	return 0;
}

static int put_sums(const struct job_table *t)
{
	int err = 0;

	if (!t->j->nr_node)
		return notes_wrapped(t->out, "(no counters: CPU time only)", t->width);
	fprintf(t->out, "%*s %7s %7s%*s %*s", (int)label_width(t), "", "GB/s", "BYTES", RANGE,
		"RANGE", PERCENT, "SHARE");
	if (has_parts(t))
		fprintf(t->out, " %*s %*s", PERCENT, "OTHERS", PERCENT, "NOBODY");
	fputc('\n', t->out);
	/* A direction with its destinations, then devices with both directions. */
	for (int d = 0; d < 2 && !err; d++)
		for (int i = JOB_SUM_MEM; i <= JOB_SUM_REMOTE && !err; i++)
			err = put_sum(t, i, d);
	for (int i = JOB_SUM_DEVICE_MEM; i < NR_JOB_SUMS && !err; i++)
		for (int d = 0; d < 2 && !err; d++)
			err = put_sum(t, i, d);
	return err;
}

/* --- steps */

struct step_line {
	const struct account_part *part; /* NULL: several together, or what is in no step */
	uint64_t time_ns;
	uint64_t cpu_ns;
	struct job_sum_value mem[2];
	struct job_sum_value pcie[2];
};

static struct step_line line_of(const struct job_table *t, const struct account_part *p)
{
	struct step_line l = { .part = p,
			       .time_ns = job_duration(t->j, p),
			       .cpu_ns = p->on_cpu_ns };

	for (int d = 0; d < 2; d++) {
		l.mem[d] = job_sum_of(t->c->node, t->j, p, JOB_SUM_MEM, d);
		l.pcie[d] = job_sum_of(t->c->node, t->j, p, JOB_SUM_PCIE, d);
	}
	return l;
}

static uint64_t bytes_of(const struct step_line *l)
{
	return job_sum_add(job_sum_add(l->mem[0].value, l->mem[1].value),
			   job_sum_add(l->pcie[0].value, l->pcie[1].value));
}

static int compare_lines(const void *a, const void *b)
{
	const struct step_line *x = a, *y = b;

	if (bytes_of(x) != bytes_of(y))
		return bytes_of(x) < bytes_of(y) ? 1 : -1;
	if (x->cpu_ns != y->cpu_ns)
		return x->cpu_ns < y->cpu_ns ? 1 : -1;
	return (x->part > y->part) - (x->part < y->part);
}

static void put_bytes(const struct job_table *t, const struct job_sum_value *v)
{
	char text[FORMAT_NUMBER_LEN] = "-";

	if (v->counted)
		format_bytes(v->value, text);
	fprintf(t->out, " %7s", text);
}

static bool has_pcie(const struct job_table *t)
{
	bool counted = false;

	for (int d = 0; d < 2; d++)
		counted |= job_sum_of(t->c->node, t->j, &t->j->whole, JOB_SUM_PCIE, d).counted;
	return counted && t->width >= TABLE_DEFAULT_WIDTH;
}

static size_t step_width(const struct job_table *t)
{
	size_t room = t->width - STEP_NUMBERS + NUMBER - (has_pcie(t) ? 2 * NUMBER : 0);

	return room < STEP_MAX ? room : STEP_MAX;
}

static int put_line_of(const struct job_table *t, const struct step_line *l, const char *label)
{
	char time[FORMAT_NUMBER_LEN] = "-", cpu[FORMAT_NUMBER_LEN];
	struct job_sum_value both = l->mem[0];
	int err = job_text_put(t->out, label, step_width(t), FORMAT_CUT_RIGHT);

	if (err)
		return err;
	if (l->part)
		format_seconds(l->time_ns, time);
	format_seconds(l->cpu_ns, cpu);
	fprintf(t->out, " %7s %7s", time, cpu);
	put_bytes(t, &l->mem[0]);
	put_bytes(t, &l->mem[1]);
	both.value = job_sum_add(both.value, l->mem[1].value);
	both.low = job_sum_add(both.low, l->mem[1].low);
	both.high = job_sum_add(both.high, l->mem[1].high);
	both.inseparable = job_sum_add(both.inseparable, l->mem[1].inseparable);
	if (l->part && (l->mem[0].counted || l->mem[1].counted))
		put_range(t, &both);
	else
		fprintf(t->out, "%*s", RANGE, "-");
	if (has_pcie(t)) {
		put_bytes(t, &l->pcie[0]);
		put_bytes(t, &l->pcie[1]);
	}
	fputc('\n', t->out);
	return 0;
}

static void take_away(struct step_line *from, const struct step_line *l)
{
	from->cpu_ns -= l->cpu_ns < from->cpu_ns ? l->cpu_ns : from->cpu_ns;
	for (int d = 0; d < 2; d++) {
		uint64_t mem = l->mem[d].value, pcie = l->pcie[d].value;

		from->mem[d].value -= mem < from->mem[d].value ? mem : from->mem[d].value;
		from->pcie[d].value -= pcie < from->pcie[d].value ? pcie : from->pcie[d].value;
	}
}

static int put_step(const struct job_table *t, const struct step_line *l)
{
	cleanup_free char *name = NULL;
	cleanup_free char *label = NULL;
	int err = format_terminal(l->part->step, sizeof(l->part->step), &name);

	if (err)
		return err;
	if (asprintf(&label, "step %s%s", name,
		     l->part->ended && t->j->state == ACCOUNT_RUNNING ? " *" : "") < 0) {
		label = NULL;
		return -ENOMEM;
	}
	return put_line_of(t, l, label);
}

static int put_step_lines(const struct job_table *t, struct step_line *lines, size_t nr)
{
	struct step_line rest = line_of(t, &t->j->whole), hidden;
	size_t shown = t->o->top && t->o->top < nr ? t->o->top : nr;
	char label[32];
	int err = 0;

	for (size_t i = 0; i < shown && !err; i++) {
		err = put_step(t, &lines[i]);
		take_away(&rest, &lines[i]);
	}
	rest.part = NULL;
	hidden = rest;
	/* First what all hidden ones are not, so that the rest is what is in no step at all. */
	for (size_t i = shown; i < nr; i++)
		take_away(&rest, &lines[i]);
	take_away(&hidden, &rest);
	snprintf(label, sizeof(label), "(%zu more)", nr - shown);
	if (!err && shown < nr)
		err = put_line_of(t, &hidden, label);
	if (!err && (bytes_of(&rest) || rest.cpu_ns))
		err = put_line_of(t, &rest, "(in no step)");
	return err;
}

static int put_steps(const struct job_table *t)
{
	cleanup_free struct step_line *lines = calloc(t->j->nr_steps + 1, sizeof(*lines));

	if (!lines)
		return -ENOMEM;
	if (!t->j->nr_steps)
		return 0;
	for (size_t i = 0; i < t->j->nr_steps; i++)
		lines[i] = line_of(t, &t->j->steps[i]);
	qsort(lines, t->j->nr_steps, sizeof(*lines), compare_lines);
	fprintf(t->out, "\n%*s %7s %7s %7s %7s%*s", (int)step_width(t), "", "TIME s", "CPU s",
		"READ", "WRITE", RANGE, "RANGE");
	if (has_pcie(t))
		fprintf(t->out, " %7s %7s", "PCIE-RD", "PCIE-WR");
	fputc('\n', t->out);
	return put_step_lines(t, lines, t->j->nr_steps);
}

/* --- devices and counters */

static int put_devices(const struct job_table *t)
{
	size_t name = t->width - 2 * NUMBER < DEVICE_WIDTH ? t->width - 2 * NUMBER : DEVICE_WIDTH;
	int err = 0;

	if (t->j->whole.nr_io)
		fprintf(t->out, "\n%-*s %7s %7s\n", (int)name, "requests to devices", "IO-RD",
			"IO-WR");
	for (size_t i = 0; i < t->j->whole.nr_io && !err; i++) {
		const struct account_io *io = &t->j->whole.io[i];
		char read[FORMAT_NUMBER_LEN], written[FORMAT_NUMBER_LEN];
		cleanup_free char *text = NULL;
		cleanup_free char *both = NULL;

		format_bytes(io->read_bytes, read);
		format_bytes(io->write_bytes, written);
		if (asprintf(&both, "%.*s%s%.*s", (int)sizeof(io->bdf), io->bdf,
			     io->name[0] ? " " : "", (int)sizeof(io->name), io->name) < 0) {
			both = NULL;
			return -ENOMEM;
		}
		err = format_terminal(both, SIZE_MAX, &text);
		if (!err)
			err = job_text_put(t->out, text, name, FORMAT_CUT_RIGHT);
		fprintf(t->out, " %7s %7s\n", read, written);
	}
	return err;
}

static int put_counter(const struct job_table *t, size_t i, size_t width)
{
	const struct account_node_total *n = &t->j->node[i];
	const struct account_counter *c = &t->c->node->counters[n->counter];
	struct job_sum_value v = job_sum_counter(t->j, &t->j->whole, i);
	cleanup_free char *name = NULL;
	char bytes[FORMAT_NUMBER_LEN];
	int err = format_terminal(c->name, sizeof(c->name), &name);

	if (!err)
		err = job_text_put(t->out, name, width, FORMAT_CUT_LEFT);
	if (err)
		return err;
	fprintf(t->out, " %3" PRIu32, c->socket);
	if (!v.counted) {
		fprintf(t->out, " %7s\n", "no data");
		return 0;
	}
	format_bytes(v.value, bytes);
	fprintf(t->out, " %7s", bytes);
	put_range(t, &v);
	put_percent(t, v.value, v.machine);
	put_percent(t, n->running_ns < n->enabled_ns ? n->running_ns : n->enabled_ns,
		    n->enabled_ns);
	fputc('\n', t->out);
	return 0;
}

static int put_counters(const struct job_table *t)
{
	size_t width = t->width - 4 - NUMBER - RANGE - 2 * (PERCENT + 1);
	int err = 0;

	if (!t->o->verbose || !t->j->nr_node)
		return 0;
	fprintf(t->out, "\n%-*s %3s %7s%*s %*s %*s\n", (int)width, "counter", "SKT", "BYTES", RANGE,
		"RANGE", PERCENT, "SHARE", PERCENT, "COUNTED");
	for (size_t i = 0; i < t->j->nr_node && !err; i++)
		err = put_counter(t, i, width);
	return err;
}

static int put_legend(const struct job_table *t)
{
	bool ended = false;
	int err = 0;

	for (size_t i = 0; i < t->j->nr_steps; i++)
		ended = ended || (t->j->steps[i].ended && t->j->state == ACCOUNT_RUNNING);
	if (ended)
		err = notes_wrapped(t->out, "* ended", t->width);
	if (err || t->o->quiet || !t->j->nr_node)
		return err;
	return notes_wrapped(
		t->out,
		has_parts(t) ? "SHARE, OTHERS, NOBODY: of all that the machine moved in the "
			       "job's time: its part, that of other workloads, and the rest "
			       "(idle, devices, background). RANGE: 95%"
			     : "SHARE: of all that the machine moved in the job's time. "
			       "RANGE: 95%",
		t->width);
}

static int put_table(const struct job_table *t)
{
	int err = put_title(t);

	if (!err && !t->o->quiet)
		fputc('\n', t->out);
	if (!err)
		err = put_sums(t);
	if (!err)
		err = put_steps(t);
	if (!err)
		err = put_devices(t);
	if (!err)
		err = put_counters(t);
	if (!err && !t->o->quiet)
		fputc('\n', t->out);
	if (!err)
		err = put_legend(t);
	return err ? err : job_notes_write(t->out, t->c, t->j, t->width, t->o);
}

int job_table_write(FILE *out, const struct job_context *c, const struct account_job *j,
		    const struct table_options *o)
{
	struct job_table t = { .c = c, .j = j, .o = o, .width = job_text_width(o) };
	char *text = NULL;
	size_t len;
	int err;

	t.out = open_memstream(&text, &len);
	if (!t.out)
		return -ENOMEM;
	err = put_table(&t);
	if (fclose(t.out) && !err)
		err = -ENOMEM;
	if (!err)
		err = format_emit(out, text, len);
	free(text);
	return err;
}
