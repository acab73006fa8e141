// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The report as a table. It is built in memory and written in one piece: a
 * reader never sees half a table because memory ran out.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "report/format.h"
#include "report/names.h"
#include "report/notes.h"
#include "report/rows.h"
#include "report/table.h"
#include "report/tangled.h"

#define PID_WIDTH      7
#define COMMAND_WIDTH  15
#define COMMAND_WIDE   17
#define CGROUP_MIN     8
/* Where "(unknown)" has room. */
#define CGROUP_UNKNOWN 9
/* RANGE and the mark in front of it; it takes the place of CPU s in narrow tables. */
#define BAR_WIDTH      (1 + FORMAT_BAR_WIDTH)
#define BAR_CPU_WIDTH  72
/* The mark of rows that cannot be told apart. */
#define TANGLED_MARK   "~"
/* What is in front of the numbers at 80 columns; more only where it helps. */
#define LEFT_BASE      41
#define SHARE_WIDTH    6
/* Columns of the numbers: READ, WRITE, SHARE, BYTES; RANGE; CPU s; CPUS. */
#define TRAFFIC_WIDTH  (3 * (FORMAT_NUMBER_WIDTH + 1) + SHARE_WIDTH + 1)
#define RANGE_WIDTH    (BAR_WIDTH + 1)
#define TIME_WIDTH     (FORMAT_NUMBER_WIDTH + 1)

/* CPU time that is worth a line though no bytes go with it. */
#define NOTABLE_NS     1000000ULL

#define SOURCE_BIT(s)  (1U << (s))
#define TASK_SOURCES   (SOURCE_BIT(SOURCE_CPU) | SOURCE_BIT(SOURCE_ANY))
#define ALL_SOURCES    (~0U)
#define ALL_SOCKETS    (~0ULL)

/* What a cell can say. */
enum cell_state {
	CELL_ABSENT,  /* nobody asked for such a counter */
	CELL_NO_DATA, /* counters there are, but none has a value */
	CELL_DATA,
};

struct cells {
	enum cell_state read;
	enum cell_state write;
	struct amounts amounts;
	uint64_t whole; /* bytes that are 100% */
	bool no_cpu;	/* CPU time has no meaning here */
	bool bar;	/* the interval has one */
};

struct table {
	FILE *out;
	const struct report *r;
	const struct table_options *o;
	struct row_tree *tree;
	uint64_t duration_ns;
	size_t width;
	size_t left; /* columns in front of the numbers */
	size_t command;
	size_t cgroup; /* 0: no such column */
	bool pid;      /* there is a PID column */
	bool traffic;  /* there are counters */
	bool bars;     /* there is a RANGE column */
	bool cpu;      /* there is a CPU s column */
	bool ended;    /* a row with the mark of ended tasks was written */
	bool always;   /* so was the line for REASON_BACKGROUND */
};

/* Value of all counters of a set of sockets. */
static uint64_t whole_of(const struct table *t, uint64_t sockets)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < t->tree->nr_sockets; i++)
		if (sockets & 1ULL << i)
			sum = amounts_sum(sum, t->tree->sockets[i].bytes);
	return sum;
}

static bool counter_is(const struct table *t, const struct counter *c, uint64_t sockets,
		       unsigned int sources)
{
	return sockets & 1ULL << row_tree_socket(t->tree, c->socket) &&
	       sources & SOURCE_BIT(c->source);
}

/* Whether a sum over counters of some sockets and sources has anything to add. */
static enum cell_state state_of(const struct table *t, uint64_t sockets, unsigned int sources,
				enum direction direction)
{
	enum cell_state state = CELL_ABSENT;
	size_t i;

	for (i = 0; i < t->r->nr_counters; i++) {
		const struct report_counter *c = &t->r->counters[i];

		if (c->counter->direction != direction ||
		    !counter_is(t, c->counter, sockets, sources))
			continue;
		if (c->valid)
			return CELL_DATA;
		state = CELL_NO_DATA;
	}
	return state;
}

static struct cells cells_of(const struct table *t, const struct amounts *a, uint64_t sockets,
			     unsigned int sources)
{
	return (struct cells){
		.read = state_of(t, sockets, sources, DIRECTION_READ),
		.write = state_of(t, sockets, sources, DIRECTION_WRITE),
		.amounts = *a,
		.whole = whole_of(t, a->sockets),
	};
}

/* Write a text that fits, and fill up to a width. */
static void put(const struct table *t, const char *text, size_t width, bool right)
{
	size_t used = format_width(text);
	int pad = used < width ? (int)(width - used) : 0;

	if (right)
		fprintf(t->out, "%*s%s", pad, "", text);
	else
		fprintf(t->out, "%s%*s", text, pad, "");
}

/* Write a text of any length in so many columns. */
static int put_cut(const struct table *t, const char *text, size_t width, enum format_cut_side side)
{
	cleanup_free char *cut = NULL;
	int err = format_cut(text, width, side, &cut);

	if (!err)
		put(t, cut, width, false);
	return err;
}

static void put_cell(const struct table *t, const char *text, size_t width)
{
	fputc(' ', t->out);
	put(t, text, width, true);
}

static void put_rate(const struct table *t, enum cell_state state, uint64_t bytes)
{
	char text[FORMAT_NUMBER_LEN] = "-";

	if (state == CELL_DATA)
		format_rate(bytes, t->duration_ns, text);
	else if (state == CELL_NO_DATA)
		strcpy(text, "no data");
	put_cell(t, text, FORMAT_NUMBER_WIDTH);
}

/* How far from BYTES the truth may be; only rows know. */
static void put_bar(const struct table *t, const struct cells *c)
{
	const struct amounts *a = &c->amounts;
	char text[FORMAT_NUMBER_LEN + sizeof(TANGLED_MARK)] = "";

	if (c->bar && (c->read == CELL_DATA || c->write == CELL_DATA)) {
		strcpy(text, a->tangled ? TANGLED_MARK : "");
		format_bar(amounts_bytes(a), a->low, a->high, text + strlen(text));
	}
	put_cell(t, text, BAR_WIDTH);
}

static void put_cpu(const struct table *t, const struct cells *c)
{
	char text[FORMAT_NUMBER_LEN] = "-";

	if (!c->no_cpu)
		format_seconds(c->amounts.cpu_ns, text);
	put_cell(t, text, FORMAT_NUMBER_WIDTH);
	if (t->traffic)
		return;
	if (!c->no_cpu)
		format_ratio(c->amounts.cpu_ns, t->duration_ns, text);
	put_cell(t, text, FORMAT_NUMBER_WIDTH);
}

/* The numbers of a line, and its end. */
static void put_cells(const struct table *t, const struct cells *c)
{
	uint64_t bytes = amounts_bytes(&c->amounts);
	bool data = c->read == CELL_DATA || c->write == CELL_DATA;
	char text[FORMAT_NUMBER_LEN] = "-";

	if (t->traffic) {
		put_rate(t, c->read, c->amounts.read);
		put_rate(t, c->write, c->amounts.write);
		if (data)
			format_percent(bytes, bytes ? c->whole : 1, text);
		put_cell(t, text, SHARE_WIDTH);
		if (data)
			format_bytes(bytes, text);
		else if (c->read == CELL_NO_DATA || c->write == CELL_NO_DATA)
			strcpy(text, "no data");
		put_cell(t, text, FORMAT_NUMBER_WIDTH);
	}
	/* Nothing follows what is left empty at the end of a line. */
	if (t->bars && (c->bar || t->cpu))
		put_bar(t, c);
	if (t->cpu)
		put_cpu(t, c);
	fputc('\n', t->out);
}

/*
 * A line that is not a row, under the wordiest of its labels that fits in
 * front of the numbers. The labels go from long to short and end with NULL;
 * the last is cut when even that is too long.
 */
static int put_line(const struct table *t, const char *const *labels, const struct cells *c)
{
	int err;

	while (labels[1] && format_width(labels[0]) > t->left)
		labels++;
	err = put_cut(t, labels[0], t->left, FORMAT_CUT_RIGHT);
	if (!err)
		put_cells(t, c);
	return err;
}

static size_t depth_of(const struct row_node *node)
{
	size_t depth = 0;

	for (node = node->parent; node->row; node = node->parent)
		depth++;
	return depth;
}

/* Deep trees may not push the names out of their column. */
static size_t indent_of(const struct table *t, size_t depth)
{
	return depth * 2 < t->left / 3 ? depth * 2 : t->left / 3;
}

/* The name of a cgroup's row: below its parent's row the rest of the path. */
static int cgroup_text(const struct row_node *node, char **ret_text)
{
	const struct report_row *row = node->row, *above = node->parent->row;
	cleanup_free char *path = NULL;
	char *text;
	int err;

	if (above && names_is_own(row) && above->cgroup_id == row->cgroup_id) {
		text = strdup("(own tasks)");
		if (!text)
			return -ENOMEM;
		*ret_text = text;
		return 0;
	}
	err = names_cgroup(row, above ? above->cgroup : NULL, &path);
	if (err)
		return err;
	if (asprintf(&text, "%s%s", path, names_is_own(row) ? " (own tasks)" : "") < 0)
		return -ENOMEM;
	*ret_text = text;
	return 0;
}

static int put_cgroup(struct table *t, const struct row_node *node)
{
	size_t indent = indent_of(t, depth_of(node)), room = t->left - indent - 1;
	cleanup_free char *text = NULL;
	cleanup_free char *cut = NULL;
	int err = cgroup_text(node, &text);

	if (!err)
		err = format_cut(text, room, FORMAT_CUT_LEFT, &cut);
	if (err)
		return err;
	/* The mark follows the name; a column is kept free for it. */
	fprintf(t->out, "%*s%s", (int)indent, "", cut);
	put(t, node->row->exited ? "*" : "", room + 1 - format_width(cut), false);
	return 0;
}

/* Names of kernel threads stand in brackets, which must survive the cut. */
static int put_command(const struct table *t, const struct report_row *row)
{
	size_t room = t->command - (row->kernel ? 2 : 0);
	cleanup_free char *text = NULL;
	cleanup_free char *cut = NULL;
	cleanup_free char *name = NULL;
	int err;

	if (!row->comm_known)
		return put_cut(t, "(unknown)", t->command, FORMAT_CUT_RIGHT);
	err = format_terminal(row->comm, sizeof(row->comm), &text);
	if (!err)
		err = format_cut(text, room, FORMAT_CUT_RIGHT, &cut);
	if (err)
		return err;
	if (asprintf(&name, row->kernel ? "[%s]" : "%s", cut) < 0) {
		name = NULL;
		return -ENOMEM;
	}
	put(t, name, t->command, false);
	return 0;
}

/*
 * Linux allows 4194304 processes, and the column is made for that; what a
 * recording claims beyond it is cut visibly.
 */
static int put_id(const struct table *t, uint32_t id)
{
	char text[16];

	snprintf(text, sizeof(text), "%*" PRIu32, PID_WIDTH, id);
	return put_cut(t, text, PID_WIDTH, FORMAT_CUT_RIGHT);
}

static int put_task(struct table *t, const struct row_node *node)
{
	const struct report_row *row = node->row;
	bool thread = t->r->by == ROW_THREAD;
	cleanup_free char *path = NULL;
	int err = 0;

	if (t->pid)
		err = put_id(t, row->pid);
	if (t->pid && thread)
		fputc(' ', t->out);
	if (!err && thread)
		err = put_id(t, row->tid);
	if (err)
		return err;
	fprintf(t->out, "%c ", row->exited ? '*' : ' ');
	err = put_command(t, row);
	if (err || !t->cgroup)
		return err;
	fputc(' ', t->out);
	if (!row->cgroup && t->cgroup < CGROUP_UNKNOWN)
		return put_cut(t, "?", t->cgroup, FORMAT_CUT_RIGHT);
	err = names_cgroup(row, NULL, &path);
	return err ? err : put_cut(t, path, t->cgroup, FORMAT_CUT_LEFT);
}

/* Columns in front of a row's name: PID, TID, mark of the ended, or indent. */
static size_t name_column(const struct table *t, const struct row_node *node)
{
	if (t->r->by == ROW_CGROUP)
		return indent_of(t, depth_of(node)) + 2;
	return (t->pid ? PID_WIDTH : 0) + (t->r->by == ROW_THREAD ? PID_WIDTH : 0) +
	       (t->pid && t->r->by == ROW_THREAD ? 1 : 0) + 2;
}

static int put_row(struct table *t, const struct row_node *node)
{
	struct cells c = cells_of(t, &node->amounts, ALL_SOCKETS, TASK_SOURCES);
	char low[FORMAT_NUMBER_LEN], high[FORMAT_NUMBER_LEN];
	int err = t->r->by == ROW_CGROUP ? put_cgroup(t, node) : put_task(t, node);

	if (err)
		return err;
	c.bar = true;
	put_cells(t, &c);
	t->ended = t->ended || node->row->exited;
	if (t->o->verbose && node->amounts.high) {
		format_bytes(node->amounts.low, low);
		format_bytes(node->amounts.high, high);
		fprintf(t->out, "%*sbetween %s and %s (%s)\n", (int)name_column(t, node), "", low,
			high, t->bars ? "95%" : "certain");
	}
	return 0;
}

/* What --top hides below a node, in one line at the place of its children. */
static int put_hidden(struct table *t, const struct row_node *node)
{
	struct cells c = cells_of(t, &node->hidden, ALL_SOCKETS, TASK_SOURCES);
	size_t indent = t->r->by == ROW_CGROUP && node->row ? indent_of(t, depth_of(node) + 1) : 0;
	char text[64];
	const char *const labels[] = { text, NULL };

	if (!node->nr_hidden)
		return 0;
	c.bar = true;
	snprintf(text, sizeof(text), "%*s(%zu more)", (int)indent, "", node->nr_hidden);
	return put_line(t, labels, &c);
}

static int put_rows(struct table *t)
{
	const struct row_node *node = &t->tree->root, *next = node->child;
	int err = 0;

	if (!next)
		fprintf(t->out, "(no %s ran)\n",
			t->r->by == ROW_CGROUP ? "task" : row_kind_name(t->r->by));
	while (!err) {
		while (next && !next->shown)
			next = next->next;
		if (next) {
			node = next;
			err = put_row(t, node);
			next = node->child;
			continue;
		}
		/* Nothing more below this node: close it and go on beside it. */
		err = put_hidden(t, node);
		if (!node->row)
			break;
		next = node->next;
		node = node->parent;
	}
	return err;
}

/* CPU time that goes with unattributed bytes. */
static uint64_t reason_cpu(const struct table *t, enum reason reason)
{
	uint64_t busy = 0, lost = 0, rows = t->tree->root.amounts.cpu_ns;
	size_t i;

	for (i = 0; i < t->r->nr_sockets; i++) {
		busy = amounts_sum(busy, t->r->sockets[i].busy_ns);
		lost = amounts_sum(lost, t->r->sockets[i].lost_ns);
	}
	if (reason == REASON_OTHER)
		return busy > rows ? busy - rows : 0;
	return reason == REASON_LOST ? lost : 0;
}

static int put_reason(struct table *t, enum reason reason)
{
	static const char *const labels[NR_REASONS][4] = {
		[REASON_IDLE] = { "unattributed idle: no task was running",
				  "unattributed idle: nobody ran", "unattributed idle" },
		[REASON_DEVICE] = { "unattributed device: moved by devices",
				    "unattributed device: by devices", "unattributed device" },
		[REASON_REMOTE] = { "unattributed remote: from other sockets",
				    "unattributed remote: other socket", "unattributed remote" },
		[REASON_OTHER] = { "unattributed other: tasks not followed",
				   "unattributed other: not followed", "unattributed other" },
		[REASON_LOST] = { "unattributed lost: CPU time not recorded",
				  "unattributed lost: not recorded", "unattributed lost" },
		[REASON_BACKGROUND] = { "unattributed background: goes on anyway",
					"unattributed background: always", "unattributed backgr." },
	};
	unsigned int sources = reason == REASON_DEVICE	 ? SOURCE_BIT(SOURCE_DEVICE)
			       : reason == REASON_REMOTE ? SOURCE_BIT(SOURCE_REMOTE)
							 : TASK_SOURCES;
	struct amounts sum = { .cpu_ns = reason_cpu(t, reason) };
	struct cells c;
	size_t i;

	for (i = 0; i < t->r->nr_counters; i++) {
		const struct report_counter *rc = &t->r->counters[i];

		if (!rc->valid || !rc->unattributed[reason])
			continue;
		amounts_add_bytes(&sum, rc->counter->direction, rc->unattributed[reason]);
		sum.sockets |= 1ULL << row_tree_socket(t->tree, rc->counter->socket);
		sources |= SOURCE_BIT(rc->counter->source);
	}
	if (!amounts_bytes(&sum) && sum.cpu_ns < NOTABLE_NS)
		return 0;
	c = cells_of(t, &sum, ALL_SOCKETS, sources);
	c.no_cpu = reason != REASON_OTHER && reason != REASON_LOST;
	t->always = t->always || reason == REASON_BACKGROUND;
	return put_line(t, labels[reason], &c);
}

/* Totals of some sources of a socket, and the share of its time they counted. */
static struct amounts source_total(const struct table *t, size_t socket, unsigned int sources,
				   double *ret_ratio)
{
	struct amounts sum = { .sockets = 1ULL << socket };
	double ratio = 1;
	size_t i;

	for (i = 0; i < t->r->nr_counters; i++) {
		const struct report_counter *rc = &t->r->counters[i];

		if (!rc->valid || !counter_is(t, rc->counter, 1ULL << socket, sources))
			continue;
		amounts_add_bytes(&sum, rc->counter->direction, rc->value);
		if (rc->running_ns < rc->enabled_ns &&
		    (double)rc->running_ns / (double)rc->enabled_ns < ratio)
			ratio = (double)rc->running_ns / (double)rc->enabled_ns;
	}
	*ret_ratio = ratio;
	return sum;
}

static int put_source(const struct table *t, size_t socket, enum source source)
{
	char with_words[96], with_number[64], plain[32], percent[16];
	const char *labels[4] = { with_words, with_number, plain, NULL };
	struct cells c;
	double ratio;
	struct amounts sum = source_total(t, socket, SOURCE_BIT(source), &ratio);

	c = cells_of(t, &sum, 1ULL << socket, SOURCE_BIT(source));
	c.no_cpu = true;
	if (c.read == CELL_ABSENT && c.write == CELL_ABSENT)
		return 0;
	if (t->o->quiet && ratio == 1 && c.read != CELL_NO_DATA && c.write != CELL_NO_DATA)
		return 0;
	snprintf(plain, sizeof(plain), "  %s", source_name(source));
	if (ratio == 1)
		return put_line(t, labels + 2, &c);
	if (ratio < 0.01)
		strcpy(percent, "<1%");
	else if (ratio > 0.99)
		strcpy(percent, ">99%");
	else
		snprintf(percent, sizeof(percent), "%.0f%%", ratio * 100);
	snprintf(with_words, sizeof(with_words), "%s: counted %s of the time, scaled", plain,
		 percent);
	snprintf(with_number, sizeof(with_number), "%s, scaled %s", plain, percent);
	return put_line(t, labels, &c);
}

static int put_socket(const struct table *t, size_t socket)
{
	const struct socket_total *s = &t->tree->sockets[socket];
	const struct report_socket *cpus = s->cpus;
	char full[96], brief[64], plain[32], percent[FORMAT_NUMBER_LEN] = "-";
	const char *labels[4] = { full, brief, plain, NULL };
	const char *mark = s->incomplete ? ", incomplete" : "";
	uint64_t all = 0;
	double ratio;
	struct amounts sum = source_total(t, socket, ALL_SOURCES, &ratio);
	struct cells c;
	int source, err;

	if (cpus) {
		sum.cpu_ns = amounts_sum(cpus->busy_ns, cpus->lost_ns);
		all = amounts_sum(sum.cpu_ns, cpus->idle_ns);
		format_percent(sum.cpu_ns, all, percent);
	}
	snprintf(plain, sizeof(plain), "socket %" PRIu32 "%s", s->id, mark);
	snprintf(brief, sizeof(brief), "socket %" PRIu32 ": %s busy%s", s->id, percent, mark);
	snprintf(full, sizeof(full), "socket %" PRIu32 ": %" PRIu32 " CPU%s, %s busy%s", s->id,
		 cpus ? cpus->nr_cpus : 0, cpus && cpus->nr_cpus == 1 ? "" : "s", percent, mark);
	c = cells_of(t, &sum, 1ULL << socket, ALL_SOURCES);
	c.no_cpu = !cpus;
	err = put_line(t, cpus && all ? labels : labels + 2, &c);
	for (source = SOURCE_CPU; !err && source <= SOURCE_ANY; source++)
		err = put_source(t, socket, source);
	return err;
}

static void put_heading(const struct table *t)
{
	if (t->traffic)
		fprintf(t->out, "%*s %7s %7s%s\n", (int)t->left, "", "READ", "WRITE",
			t->bars ? "                    95%" : "");
	if (t->r->by == ROW_CGROUP) {
		put(t, "CGROUP", t->left, false);
	} else {
		if (t->pid)
			fprintf(t->out, "%*s", PID_WIDTH, "PID");
		if (t->pid && t->r->by == ROW_THREAD)
			fputc(' ', t->out);
		if (t->r->by == ROW_THREAD)
			fprintf(t->out, "%*s", PID_WIDTH, "TID");
		fputs("  ", t->out);
		put(t, "COMMAND", t->command, false);
		if (t->cgroup) {
			fputc(' ', t->out);
			put(t, "CGROUP", t->cgroup, false);
		}
	}
	if (t->traffic)
		fprintf(t->out, " %7s %7s %6s %7s", "GB/s", "GB/s", "SHARE", "BYTES");
	if (t->bars)
		fprintf(t->out, " %*s", BAR_WIDTH, "RANGE");
	if (t->cpu)
		fprintf(t->out, " %7s%s", "CPU s", t->traffic ? "" : "    CPUS");
	fputc('\n', t->out);
}

static int put_title(const struct table *t)
{
	const struct report *r = t->r;
	char time[FORMAT_TIME_LEN], seconds[FORMAT_NUMBER_LEN];
	cleanup_free char *text = NULL;

	format_time(r->start_time_ns, time);
	format_seconds(t->duration_ns, seconds);
	if (asprintf(&text, "%s, %s%s s, by %s, %zu socket%s%s%s", time,
		     r->summary ? "summary of " : "", seconds, row_kind_name(r->by),
		     t->tree->nr_sockets, t->tree->nr_sockets == 1 ? "" : "s",
		     t->traffic ? "" : ", CPU time only",
		     r->replayed ? ", from a recording" : "") < 0) {
		text = NULL;
		return -ENOMEM;
	}
	return notes_wrapped(t->out, text, t->width);
}

/* Widest name in front of the numbers, so that wide tables are not too wide. */
static int widest_name(const struct table *t, size_t *ret_width)
{
	size_t i, width, widest = 0;

	for (i = 0; i < t->r->nr_rows; i++) {
		const struct row_node *node = &t->tree->nodes[i];
		cleanup_free char *text = NULL;
		int err = t->r->by == ROW_CGROUP ? cgroup_text(node, &text)
						 : names_cgroup(node->row, NULL, &text);

		if (err)
			return err;
		width = format_width(text);
		if (t->r->by == ROW_CGROUP)
			width += indent_of(t, depth_of(node)) + 1;
		if (width > widest)
			widest = width;
	}
	*ret_width = widest;
	return 0;
}

/* Share the columns in front of the numbers among PID, COMMAND and CGROUP. */
static int lay_out(struct table *t)
{
	size_t want = t->o->width ? t->o->width : TABLE_DEFAULT_WIDTH;
	size_t widest, fixed, left;
	int err;

	t->width = want < TABLE_MIN_WIDTH ? TABLE_MIN_WIDTH : want;
	/* Bounds that are certain are wide where it matters; -v shows them. */
	t->bars = t->traffic && t->r->quality.method == METHOD_STATE_SPACE;
	t->cpu = !t->bars || t->width >= BAR_CPU_WIDTH;
	left = t->width - (t->traffic ? TRAFFIC_WIDTH : TIME_WIDTH);
	left -= (t->bars ? RANGE_WIDTH : 0) + (t->cpu ? TIME_WIDTH : 0);
	t->left = left;
	err = widest_name(t, &widest);
	if (err)
		return err;
	if (t->r->by == ROW_CGROUP) {
		if (widest < LEFT_BASE)
			widest = LEFT_BASE;
		t->left = left < widest ? left : widest;
		return 0;
	}
	/* At the smallest width a TID must do: it says which thread it is. */
	t->pid = t->r->by == ROW_PROCESS || left >= 2 * PID_WIDTH + COMMAND_WIDTH;
	fixed = name_column(t, NULL);
	if (left < fixed + COMMAND_WIDTH + 1 + CGROUP_MIN) {
		t->command = left - fixed < COMMAND_WIDE ? left - fixed : COMMAND_WIDE;
		t->left = fixed + t->command;
		return 0;
	}
	t->command = left > LEFT_BASE + 8 ? COMMAND_WIDE : COMMAND_WIDTH;
	fixed += t->command + 1;
	if (fixed + widest < LEFT_BASE)
		widest = LEFT_BASE - fixed;
	t->left = left < fixed + widest ? left : fixed + widest;
	t->cgroup = t->left - fixed;
	return 0;
}

static int put_table(struct table *t)
{
	size_t i;
	int err, reason;

	if (t->r->sequence)
		fputc('\n', t->out);
	err = put_title(t);
	if (err)
		return err;
	put_heading(t);
	err = put_rows(t);
	for (reason = 0; !err && reason < NR_REASONS; reason++)
		err = put_reason(t, reason);
	for (i = 0; !err && i < t->tree->nr_sockets; i++)
		err = put_socket(t, i);
	if (!err && t->ended)
		err = notes_wrapped(t->out, "* ended", t->width);
	if (!err && t->always && !t->o->quiet)
		err = notes_wrapped(t->out, "background: goes on whatever the workloads do",
				    t->width);
	if (!err && t->bars)
		err = tangled_write(t->out, t->r, t->tree, t->width, t->o->verbose);
	if (!err)
		err = notes_write(t->out, t->r, t->width, t->o->quiet, t->o->verbose);
	return err;
}

int table_write(FILE *out, const struct report *r, const struct table_options *o)
{
	cleanup_free char *text = NULL;
	struct table t = { .r = r, .o = o, .traffic = r->nr_counters > 0 };
	size_t len;
	int err = row_tree_new(r, o->top, &t.tree);

	if (err)
		return err;
	t.duration_ns = r->end_ns > r->start_ns ? r->end_ns - r->start_ns : 0;
	t.out = open_memstream(&text, &len);
	if (!t.out) {
		row_tree_free(t.tree);
		return -ENOMEM;
	}
	err = lay_out(&t);
	if (!err)
		err = put_table(&t);
	/* The text is complete only once the stream is closed. */
	if (fclose(t.out) && !err)
		err = -ENOMEM;
	row_tree_free(t.tree);
	return err ? err : format_emit(out, text, len);
}
