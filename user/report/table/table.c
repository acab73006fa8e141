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

#include "base/cleanup.h"
#include "report/table/cells.h"
#include "report/latencies.h"
#include "report/names.h"
#include "report/notes.h"
#include "report/table/devices_table.h"
#include "report/table/table.h"
#include "report/table/tangled.h"
#include "report/table/totals.h"

#define PID_WIDTH      7
#define COMMAND_WIDTH  15
#define COMMAND_WIDE   17
#define CGROUP_MIN     8
/* Of a report by job: least and most of the columns behind the job. */
#define JOB_MIN	       18
#define USER_WIDTH     10
#define NAME_MIN       8
#define NAME_MAX_WIDTH 32
/* From here on there is room for LAT ns beside all others. */
#define LAT_WIDTH      88
/* Where "(unknown)" has room. */
#define CGROUP_UNKNOWN 9
/* Below it RANGE takes the place of CPU s. */
#define BAR_CPU_WIDTH  72
/* What is in front of the numbers at 80 columns; more only where it helps. */
#define LEFT_BASE      41
/* From here on there is room for what devices moved for rows, beside two columns of rates. */
#define DEVICE_WIDTH   80
/* As the first two, where destinations have columns. */
#define TO_CPU_WIDTH   88
#define TO_MIN_WIDTH   80
/* Columns of the numbers: READ, WRITE or destinations; SHARE, BYTES; RANGE; CPU s; CPUS. */
#define RATE_WIDTH     (FORMAT_NUMBER_WIDTH + 1)
#define BYTES_WIDTH    (SHARE_WIDTH + 1 + FORMAT_NUMBER_WIDTH + 1)
#define RANGE_WIDTH    (BAR_WIDTH + 1)
#define TIME_WIDTH     (FORMAT_NUMBER_WIDTH + 1)

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

/* The name of a row that has a place in a tree. */
static int tree_text(const struct table *t, const struct row_node *node, char **ret_text)
{
	if (t->r->by == ROW_JOB)
		return names_job(node->row, node->parent->row, ret_text);
	return cgroup_text(node, ret_text);
}

static int put_in_tree(struct table *t, const struct row_node *node, size_t width)
{
	size_t indent = indent_of(t, depth_of(node)), room = width - indent - 1;
	cleanup_free char *text = NULL;
	cleanup_free char *cut = NULL;
	int err = tree_text(t, node, &text);

	if (!err)
		err = format_cut(text, room,
				 t->r->by == ROW_JOB ? FORMAT_CUT_RIGHT : FORMAT_CUT_LEFT, &cut);
	if (err)
		return err;
	/* The mark follows the name; a column is kept free for it. */
	fprintf(t->out, "%*s%s", (int)indent, "", cut);
	cells_pad(t, node->row->exited ? "*" : "", room + 1 - format_width(cut), false);
	return 0;
}

static int put_text(const struct table *t, const char *text, size_t width)
{
	cleanup_free char *safe = NULL;
	int err = format_terminal(text, SIZE_MAX, &safe);

	fputc(' ', t->out);
	return err ? err : cells_cut(t, safe, width, FORMAT_CUT_RIGHT);
}

/* Whose job, and what it is called, is said once: of the job as a whole. */
static int put_job(struct table *t, const struct row_node *node)
{
	const struct row_job *job = node->parent->row ? NULL : node->row->job;
	int err = put_in_tree(t, node, t->job);

	if (!err && t->user)
		err = put_text(t, job ? job->user : "", t->user);
	if (!err && t->name)
		err = put_text(t, job ? job->name : "", t->name);
	return err;
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
		return cells_cut(t, "(unknown)", t->command, FORMAT_CUT_RIGHT);
	err = format_terminal(row->comm, sizeof(row->comm), &text);
	if (!err)
		err = format_cut(text, room, FORMAT_CUT_RIGHT, &cut);
	if (err)
		return err;
	if (asprintf(&name, row->kernel ? "[%s]" : "%s", cut) < 0) {
		name = NULL;
		return -ENOMEM;
	}
	cells_pad(t, name, t->command, false);
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
	return cells_cut(t, text, PID_WIDTH, FORMAT_CUT_RIGHT);
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
		return cells_cut(t, "?", t->cgroup, FORMAT_CUT_RIGHT);
	err = names_cgroup(row, NULL, &path);
	return err ? err : cells_cut(t, path, t->cgroup, FORMAT_CUT_LEFT);
}

/* Columns in front of a row's name: PID, TID, mark of the ended, or indent. */
static size_t name_column(const struct table *t, const struct row_node *node)
{
	if (t->tree_rows)
		return indent_of(t, depth_of(node)) + 2;
	return (t->pid ? PID_WIDTH : 0) + (t->r->by == ROW_THREAD ? PID_WIDTH : 0) +
	       (t->pid && t->r->by == ROW_THREAD ? 1 : 0) + 2;
}

/* With destinations both directions are one number; here they are two. */
static int put_directions(const struct table *t, const struct row_node *node, const struct cells *c)
{
	char label[TABLE_DEFAULT_WIDTH];
	int indent = (int)name_column(t, node), err;

	snprintf(label, sizeof(label), "%*sreads", indent, "");
	err = cells_direction(t, label, c, DIRECTION_READ);
	snprintf(label, sizeof(label), "%*swrites", indent, "");
	return err ? err : cells_direction(t, label, c, DIRECTION_WRITE);
}

static int put_who(struct table *t, const struct row_node *node)
{
	if (t->r->by == ROW_JOB)
		return put_job(t, node);
	return t->r->by == ROW_CGROUP ? put_in_tree(t, node, t->left) : put_task(t, node);
}

static int put_row(struct table *t, const struct row_node *node)
{
	struct cells c = cells_of(t, &node->amounts, ALL_SOCKETS, TASK_SOURCES);
	char low[FORMAT_NUMBER_LEN], high[FORMAT_NUMBER_LEN], lat[FORMAT_NUMBER_LEN] = "-";
	double ns;
	int err = put_who(t, node);

	if (err)
		return err;
	c.bar = true;
	cells_devices(t, &c);
	if (latencies_seen(t->r, node->row, &ns))
		format_ns(ns, lat);
	c.lat = lat;
	cells_write(t, &c);
	t->ended = t->ended || node->row->exited;
	if (t->o->verbose && t->nr_to && amounts_bytes(&node->amounts))
		err = put_directions(t, node, &c);
	if (!err && t->o->verbose && node->amounts.high) {
		format_bytes(node->amounts.low, low);
		format_bytes(node->amounts.high, high);
		fprintf(t->out, "%*sbetween %s and %s (%s)\n", (int)name_column(t, node), "", low,
			high, t->bars ? "95%" : "certain");
	}
	if (!err && t->devices && !t->device_columns)
		devices_put_moved(t, node->amounts.device, (int)name_column(t, node));
	if (!err && t->o->verbose)
		err = devices_put_row(t, node->row, (int)name_column(t, node));
	if (!err && t->o->verbose)
		err = latencies_write_row(t->out, t->r, node->row, name_column(t, node));
	return err;
}

/* What --top hides below a node, in one line at the place of its children. */
static int put_hidden(struct table *t, const struct row_node *node)
{
	struct cells c = cells_of(t, &node->hidden, ALL_SOCKETS, TASK_SOURCES);
	size_t indent = t->tree_rows && node->row ? indent_of(t, depth_of(node) + 1) : 0;
	char text[64];
	const char *const labels[] = { text, NULL };

	if (!node->nr_hidden)
		return 0;
	c.bar = true;
	cells_devices(t, &c);
	snprintf(text, sizeof(text), "%*s(%zu more)", (int)indent, "", node->nr_hidden);
	return cells_line(t, labels, &c);
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

/* The upper line of the heading. */
static void put_quantities(const struct table *t)
{
	static const char *const names[NR_DESTINATIONS] = {
		[DESTINATION_CMEM] = "CMEM", [DESTINATION_GMEM] = "GMEM",
		[DESTINATION_CXL] = "CXL",   [DESTINATION_REMOTE] = "REMOTE",
		[DESTINATION_P2P] = "P2P",
	};
	bool io = t->devices == DEVICES_IO;

	fprintf(t->out, "%*s", (int)t->left, "");
	for (size_t i = 0; i < t->nr_to; i++)
		fprintf(t->out, " %7s", names[t->to[i]]);
	if (t->traffic && !t->nr_to)
		fprintf(t->out, " %7s %7s", "READ", "WRITE");
	if (t->bars)
		fprintf(t->out, "%*s", (int)(BYTES_WIDTH + RANGE_WIDTH), "95%");
	else if (t->traffic && t->device_columns)
		fprintf(t->out, "%*s", (int)BYTES_WIDTH, "");
	if (t->device_columns)
		fprintf(t->out, " %7s %7s", io ? "IO-RD" : "PCIE-RD", io ? "IO-WR" : "PCIE-WR");
	fputc('\n', t->out);
}

static void put_heading(const struct table *t)
{
	if (t->traffic || t->device_columns)
		put_quantities(t);
	if (t->r->by == ROW_CGROUP) {
		cells_pad(t, "CGROUP", t->left, false);
	} else if (t->r->by == ROW_JOB) {
		cells_pad(t, "JOB", t->job, false);
		if (t->user)
			cells_pad(t, " USER", t->user + 1, false);
		if (t->name)
			cells_pad(t, " NAME", t->name + 1, false);
	} else {
		if (t->pid)
			fprintf(t->out, "%*s", PID_WIDTH, "PID");
		if (t->pid && t->r->by == ROW_THREAD)
			fputc(' ', t->out);
		if (t->r->by == ROW_THREAD)
			fprintf(t->out, "%*s", PID_WIDTH, "TID");
		fputs("  ", t->out);
		cells_pad(t, "COMMAND", t->command, false);
		if (t->cgroup) {
			fputc(' ', t->out);
			cells_pad(t, "CGROUP", t->cgroup, false);
		}
	}
	for (size_t i = 0; t->traffic && i < (t->nr_to ? t->nr_to : 2); i++)
		fprintf(t->out, " %7s", "GB/s");
	if (t->traffic)
		fprintf(t->out, " %6s %7s", "SHARE", "BYTES");
	if (t->bars)
		fprintf(t->out, " %*s", BAR_WIDTH, "RANGE");
	if (t->device_columns)
		fprintf(t->out, " %7s %7s", "GB/s", "GB/s");
	if (t->lat)
		fprintf(t->out, " %*s", FORMAT_NUMBER_WIDTH, "LAT ns");
	if (t->cpu)
		fprintf(t->out, " %7s%s", "CPU s", t->traffic ? "" : "    CPUS");
	fputc('\n', t->out);
}

static int put_title(const struct table *t)
{
	const struct report *r = t->r;
	char time[FORMAT_WHEN_LEN], seconds[FORMAT_NUMBER_LEN];
	cleanup_free char *text = NULL;

	format_when(r->start_time_ns, r->start_ns, time);
	format_seconds(t->duration_ns, seconds);
	if (asprintf(&text, "%s, %s%s s, by %s%s, %zu socket%s%s%s", time,
		     r->summary ? "summary of " : "", seconds, row_kind_name(r->by),
		     t->nr_to ? " and destination" : "", t->tree->nr_sockets,
		     t->tree->nr_sockets == 1 ? "" : "s",
		     t->traffic			     ? ""
		     : t->devices == DEVICES_COUNTED ? ", CPU time and PCIe only"
		     : t->devices == DEVICES_IO	     ? ", CPU time and IO only"
						     : ", CPU time only",
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
		int err = t->tree_rows ? tree_text(t, node, &text)
				       : names_cgroup(node->row, NULL, &text);

		if (err)
			return err;
		width = format_width(text);
		if (t->tree_rows)
			width += indent_of(t, depth_of(node)) + 1;
		if (width > widest)
			widest = width;
	}
	*ret_width = widest;
	return 0;
}

/* Which destinations have a column: those that are counted, if they are to be shown. */
static void find_destinations(struct table *t)
{
	for (int d = DESTINATION_ANY + 1; t->o->by_destination && d < NR_DESTINATIONS; d++) {
		size_t i = 0;

		while (i < t->r->nr_counters && (t->r->counters[i].counter->device ||
						 (int)t->r->counters[i].counter->destination != d))
			i++;
		if (i < t->r->nr_counters)
			t->to[t->nr_to++] = d;
	}
}

/* Is there a latency that rows see, of the kind that has a column? */
static bool has_main_latency(const struct report *r)
{
	for (size_t i = 0; i < r->nr_probes; i++)
		if (r->probes[i].weighed && latencies_main(r->probes[i].probe))
			return true;
	return false;
}

/* Choose the columns of numbers. */
static void lay_out_numbers(struct table *t)
{
	size_t want = t->o->width ? t->o->width : TABLE_DEFAULT_WIDTH;
	size_t least, more, numbers;

	find_destinations(t);
	least = t->nr_to ? TO_MIN_WIDTH : TABLE_MIN_WIDTH;
	t->width = want < least ? least : want;
	/* What the columns of destinations and devices take beyond the usual ones. */
	more = t->nr_to > 2 ? (t->nr_to - 2) * RATE_WIDTH : 0;
	t->device_columns = t->devices && t->width >= (t->traffic ? DEVICE_WIDTH + more : 0);
	more += t->device_columns ? 2 * RATE_WIDTH : 0;
	/* Bounds that are certain are wide where it matters; -v shows them. */
	t->bars = t->traffic && t->r->quality.method == METHOD_STATE_SPACE;
	if (t->device_columns)
		t->cpu = !t->bars || t->width >= BAR_CPU_WIDTH + more;
	else
		t->cpu = !t->bars || t->width >= (t->nr_to ? TO_CPU_WIDTH : BAR_CPU_WIDTH);
	t->lat = t->traffic && has_main_latency(t->r) && t->width >= LAT_WIDTH + more;
	numbers = t->traffic ? (t->nr_to ? t->nr_to : 2) * RATE_WIDTH + BYTES_WIDTH : TIME_WIDTH;
	numbers += t->device_columns ? 2 * RATE_WIDTH : 0;
	numbers +=
		(t->bars ? RANGE_WIDTH : 0) + (t->cpu ? TIME_WIDTH : 0) + (t->lat ? TIME_WIDTH : 0);
	t->left = t->width - numbers;
}

static size_t widest_job_text(const struct report *r, const char *(*of)(const struct row_job *j))
{
	size_t widest = 0;

	for (size_t i = 0; i < r->nr_rows; i++) {
		const struct row_job *j = r->rows[i].job;
		size_t width = j && !r->rows[i].parent[0] ? format_width(of(j)) : 0;

		widest = width > widest ? width : widest;
	}
	return widest;
}

static const char *user_of(const struct row_job *j)
{
	return j->user;
}

static const char *name_of(const struct row_job *j)
{
	return j->name;
}

static size_t between(size_t value, size_t least, size_t most)
{
	return value < least ? least : value > most ? most : value;
}

/* Columns for the job's user and name where somebody has one and there is room, the name first. */
static void lay_out_jobs(struct table *t, size_t widest)
{
	size_t user = widest_job_text(t->r, user_of), name = widest_job_text(t->r, name_of), want;

	user = user ? between(user, strlen("USER"), USER_WIDTH) : 0;
	name = name ? between(name, NAME_MIN, NAME_MAX_WIDTH) : 0;
	widest = between(widest, JOB_MIN, SIZE_MAX);
	t->job = t->left;
	if (name && t->left >= JOB_MIN + 1 + NAME_MIN) {
		want = t->left - 1 - between(widest, JOB_MIN, t->left - 1 - NAME_MIN);
		t->name = name < want ? name : want;
		t->job -= t->name + 1;
	}
	if (user && t->job >= JOB_MIN + 1 + user) {
		t->user = user;
		t->job -= user + 1;
	}
	/* Wide tables are not wider than they need be. */
	if (widest + t->left - t->job < LEFT_BASE)
		widest = LEFT_BASE - (t->left - t->job);
	if (t->job > widest) {
		t->left -= t->job - widest;
		t->job = widest;
	}
}

/* Share the columns in front of the numbers among PID, COMMAND and CGROUP. */
static int lay_out(struct table *t)
{
	size_t widest, fixed, left;
	int err;

	t->tree_rows = t->r->by == ROW_CGROUP || t->r->by == ROW_JOB;
	lay_out_numbers(t);
	left = t->left;
	err = widest_name(t, &widest);
	if (err)
		return err;
	if (t->r->by == ROW_JOB) {
		lay_out_jobs(t, widest);
		return 0;
	}
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
	if (!err)
		err = totals_owned(t);
	for (reason = 0; !err && reason < NR_REASONS; reason++)
		err = totals_reason(t, reason);
	for (i = 0; !err && i < t->tree->nr_sockets; i++)
		err = totals_socket(t, i);
	if (!err)
		err = devices_write(t);
	if (!err && t->ended)
		err = notes_wrapped(t->out, "* ended", t->width);
	if (!err && t->always && !t->o->quiet)
		err = notes_wrapped(t->out, "background: goes on whatever the workloads do",
				    t->width);
	if (!err && t->bars)
		err = tangled_write(t->out, t->r, t->tree, t->width, t->o->verbose);
	if (!err)
		err = devices_notes(t);
	if (!err)
		err = notes_write(t->out, t->r, t->width, t->o->quiet, t->o->verbose);
	return err;
}

int table_write(FILE *out, const struct report *r, const struct table_options *o)
{
	cleanup_free char *text = NULL;
	struct table t = { .r = r, .o = o, .devices = devices_mode(r) };
	size_t len;
	int err = row_tree_new(r, o->top, &t.tree);

	if (err)
		return err;
	for (size_t i = 0; i < r->nr_counters && !t.traffic; i++)
		t.traffic = !r->counters[i].counter->device;
	for (int d = 0; d < 2; d++)
		t.device_state[d] = t.devices == DEVICES_NONE			     ? CELL_ABSENT
				    : t.devices == DEVICES_IO || devices_valid(r, d) ? CELL_DATA
										     : CELL_NO_DATA;
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
