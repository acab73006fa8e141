// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The columns of the table: choice, widths and content. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/latencies.h"
#include "report/names.h"
#include "report/peaks.h"
#include "report/table/cells.h"

#define NANOJOULES     1000000000u /* in a joule */

#define PID_WIDTH      7
#define COMMAND_WIDTH  15
#define COMMAND_WIDE   17
#define CGROUP_MIN     8
/* Reports by job: minimum and maximum width of the columns behind the job. */
#define JOB_MIN	       18
#define USER_WIDTH     10
#define NAME_MIN       8
#define NAME_MAX_WIDTH 32
/* From this width on there is room for LAT ns beside all other columns. */
#define LAT_WIDTH      88
/* Width of "(unknown)". */
#define CGROUP_UNKNOWN 9
/* Below this width RANGE replaces BYTES and CPU s. */
#define CPU_WIDTH      72
/* Width in front of the numbers at 80 columns; more only where it helps. */
#define LEFT_BASE      41
/* From this width on there is room for bytes of devices beside two columns of rates. */
#define DEVICE_WIDTH   80
/* From this width on there is room for PEAK. */
#define PEAK_WIDTH     80
/* Like the first two, if destinations have columns. */
#define TO_CPU_WIDTH   88
#define TO_MIN_WIDTH   80
/* Levels of a tree that find no room for blanks. */
#define MARKS	       ">>>>>>>>>>>>>>>>>>>>>>>>"

size_t columns_depth(const struct row_node *node)
{
	size_t depth = 0;

	for (node = node->parent; node->row; node = node->parent)
		depth++;
	return depth;
}

/* From where on there is a mark for each level instead of blanks, and the most marks. */
static size_t deepest_indent(const struct table *t)
{
	return t->left / 6 * 2;
}

static size_t columns_marks(const struct table *t, size_t depth)
{
	size_t beyond = depth * 2 > deepest_indent(t) ? depth - deepest_indent(t) / 2 : 0;
	size_t most = t->left / 3 < strlen(MARKS) ? t->left / 3 : strlen(MARKS);

	return beyond < most ? beyond : most;
}

size_t columns_indent(const struct table *t, size_t depth)
{
	size_t marks = columns_marks(t, depth);

	return marks ? deepest_indent(t) + marks : depth * 2;
}

static size_t between(size_t value, size_t least, size_t most)
{
	return value < least ? least : value > most ? most : value;
}

static const char *mark_of(const struct report_row *row)
{
	return row->exited ? row->pooled ? "&" : "*" : row->pooled ? "+" : "";
}

/* Name of a cgroup's row: below its parent's row the rest of the path. */
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

/* Name of a row in a tree. */
static int tree_text(const struct table *t, const struct row_node *node, char **ret_text)
{
	if (t->r->by == ROW_JOB)
		return names_job(node->row, node->parent->row, ret_text);
	return cgroup_text(node, ret_text);
}

/* --- the row's names */

static const struct report_row *row_at(const struct grid_place *at)
{
	return ((const struct cells *)at->row)->node->row;
}

static struct grid_cell cell_tree(const struct grid_place *at)
{
	const struct table *t = at->table;
	const struct row_node *node = ((const struct cells *)at->row)->node;
	size_t depth = columns_depth(node), marks = columns_marks(t, depth);
	size_t indent = columns_indent(t, depth);
	cleanup_free char *text = NULL;
	cleanup_free char *cut = NULL;
	int err = tree_text(t, node, &text);

	/* The mark follows the name; a column is kept free for it. */
	if (!err)
		err = format_cut(text, at->column->width - indent - 1,
				 t->r->by == ROW_JOB ? FORMAT_CUT_RIGHT : FORMAT_CUT_LEFT, &cut);
	if (err)
		return grid_take(NULL, err);
	return grid_text("%*s%.*s%s%s", (int)(indent - marks), "", (int)marks, MARKS, cut,
			 mark_of(node->row));
}

/* A job's user and name appear once: for the job as a whole. */
static const struct row_job *job_of(const struct row_node *node)
{
	static const struct row_job none;

	return node->parent->row || !node->row->job ? &none : node->row->job;
}

GRID_CELL(cell_user, struct cells, grid_name(job_of(row->node)->user, SIZE_MAX));
GRID_CELL(cell_name, struct cells, grid_name(job_of(row->node)->name, SIZE_MAX));
/*
 * Linux allows 4194304 processes, and the columns are sized for that; larger numbers in a recording
 * are visibly truncated.
 */
GRID_CELL(cell_pid, struct cells, grid_text("%" PRIu32, row->node->row->pid));
GRID_CELL(cell_tid, struct cells, grid_text("%" PRIu32, row->node->row->tid));
GRID_CELL(cell_mark, struct cells, grid_text("%s", mark_of(row->node->row)));

/* Names of kernel threads have brackets, which must survive truncation. */
static struct grid_cell cell_command(const struct grid_place *at)
{
	const struct report_row *row = row_at(at);
	cleanup_free char *cut = NULL;

	if (!row->comm_known)
		return grid_text("(unknown)");
	if (format_cut(FORMAT_SAFE(row->comm), at->column->width - (row->kernel ? 2 : 0),
		       FORMAT_CUT_RIGHT, &cut))
		return grid_take(NULL, -ENOMEM);
	return row->kernel ? grid_text("[%s]", cut) : grid_text("%s", cut);
}

static struct grid_cell cell_cgroup(const struct grid_place *at)
{
	const struct report_row *row = row_at(at);
	char *path = NULL;
	int err;

	if (!row->cgroup && at->column->width < CGROUP_UNKNOWN)
		return grid_text("?");
	err = names_cgroup(row, NULL, &path);
	return grid_take(path, err);
}

/* --- numbers */

static struct grid_cell rate_if(const struct grid_place *at, enum cell_state state, uint64_t bytes)
{
	if (state != CELL_DATA)
		return grid_is(state == CELL_NO_DATA ? GRID_NO_DATA : GRID_ABSENT);
	return grid_rate(bytes, ((const struct table *)at->table)->duration_ns);
}

static struct grid_cell cell_to(const struct grid_place *at)
{
	const struct cells *c = at->row;

	return rate_if(at, c->to[at->column->arg], amounts_to(&c->amounts, at->column->arg));
}

static struct grid_cell cell_device(const struct grid_place *at)
{
	const struct cells *c = at->row;

	return rate_if(at, c->device[at->column->arg], c->amounts.device[at->column->arg]);
}

static struct grid_cell cell_share(const struct grid_place *at)
{
	const struct cells *c = at->row;

	return grid_if(cells_has_data(c), grid_percent(amounts_bytes(&c->amounts), c->whole));
}

/* Compared with the peak of memory. */
GRID_CELL(cell_peak, struct cells,
	  grid_if(cells_has_data(row) && row->most,
		  grid_percent(amounts_to_memory(&row->amounts), row->most)));

static struct grid_cell cell_bytes(const struct grid_place *at)
{
	const struct cells *c = at->row;

	if (!cells_has_data(c) && cells_no_data(c))
		return grid_is(GRID_NO_DATA);
	return grid_if(cells_has_data(c), grid_bytes(amounts_bytes(&c->amounts)));
}

/* Interval of BYTES: of rows, and of counters that were scaled. */
static struct grid_cell cell_range(const struct grid_place *at)
{
	const struct cells *c = at->row;
	const struct amounts *a = &c->amounts;

	if (!c->range || !cells_has_data(c))
		return grid_is(GRID_EMPTY);
	return grid_range(amounts_bytes(a), a->low, a->high, a->tangled);
}

static struct grid_cell cell_lat(const struct grid_place *at)
{
	const struct cells *c = at->row;

	if (c->lat == CELL_DATA)
		return grid_ns(c->lat_ns);
	return grid_is(c->lat == CELL_NO_DATA ? GRID_ABSENT : GRID_EMPTY);
}

static struct grid_cell cell_cpus(const struct grid_place *at)
{
	const struct cells *c = at->row;
	const struct table *t = at->table;

	return grid_if(!c->no_cpu, grid_ratio(c->amounts.cpu_ns, t->duration_ns));
}

GRID_CELL(cell_rate, struct cells,
	  rate_if(at, row->bytes[at->column->arg], row->amounts.bytes[at->column->arg]));
GRID_CELL(cell_energy, struct cells,
	  row->energy == CELL_DATA
		  ? grid_ratio(row->amounts.energy, NANOJOULES)
		  : grid_is(row->energy == CELL_NO_DATA ? GRID_NO_DATA : GRID_ABSENT));
GRID_CELL(cell_cpu, struct cells, grid_if(!row->no_cpu, grid_seconds(row->amounts.cpu_ns)));

/* --- choice of columns */

/* RANGE is wider than other numbers: all other columns need so much more. */
static size_t range_more(const struct table *t)
{
	return t->ranges ? GRID_RANGE_WIDTH - FORMAT_NUMBER_WIDTH : 0;
}

/* Extra width of the columns of destinations and devices. */
static size_t beyond(const struct table *t, bool devices)
{
	size_t more = t->nr_to > 2 ? t->nr_to - 2 : 0;

	return (more + (devices ? t->device_columns : 0)) * (FORMAT_NUMBER_WIDTH + 1);
}

/* Do rows have a latency of the kind that has a column? */
static bool sees_latency(const struct report *r)
{
	for (size_t i = 0; i < r->nr_probes; i++)
		if (r->probes[i].weighed && latencies_main(r->probes[i].probe))
			return true;
	return false;
}

/* Is a direction of devices worth a column? Zeros are not. */
static bool moves(const struct table *t, enum direction way)
{
	return t->o->verbose || t->device_state[way] == CELL_NO_DATA ||
	       devices_any_moved(t->r, way);
}

static bool cpu_fits(const struct table *t)
{
	if (t->device_columns)
		return t->width >= CPU_WIDTH + beyond(t, true) + range_more(t);
	return t->width >= (t->nr_to ? TO_CPU_WIDTH : CPU_WIDTH) + range_more(t);
}

GRID_SHOWN(has_to, struct table, table->traffic && table->to[at->column->arg]);
GRID_SHOWN(has_direction, struct table,
	   table->traffic && !table->nr_to && table->directions[at->column->arg]);
GRID_SHOWN(has_traffic, struct table, table->traffic);
GRID_SHOWN(has_bytes, struct table, table->traffic && (!table->ranges || cpu_fits(table)));
GRID_SHOWN(has_peaks, struct table, table->most);
GRID_SHOWN(has_ranges, struct table, table->ranges);
GRID_SHOWN(has_devices, struct table, table->device_columns &&moves(table, at->column->arg));
GRID_SHOWN(has_latency, struct table,
	   table->traffic &&sees_latency(table->r) &&
		   table->width >= LAT_WIDTH + beyond(table, true) + range_more(table));
GRID_SHOWN(has_energy, struct table, table->energy);
GRID_SHOWN(has_cpu, struct table, !table->ranges || cpu_fits(table));
GRID_SHOWN(has_cpus, struct table, !table->traffic);

/* The columns in front of these name the row; lay_out() shares out their room. */
static const struct grid_column columns[] = {
	[COLUMN_TREE] = { NULL, "CGROUP", .look = GRID_LEFT, .cell = cell_tree },
	[COLUMN_USER] = { NULL, "USER", .look = GRID_NAME, .cell = cell_user },
	[COLUMN_NAME] = { NULL, "NAME", .look = GRID_NAME, .cell = cell_name },
	[COLUMN_PID] = { NULL, "PID", .look = GRID_ID, .cell = cell_pid },
	[COLUMN_TID] = { NULL, "TID", .look = GRID_ID, .cell = cell_tid },
	[COLUMN_MARK] = { NULL, NULL, 1, .gap = -1, .look = GRID_LEFT, .cell = cell_mark },
	[COLUMN_COMMAND] = { NULL, "COMMAND", .look = GRID_NAME, .cell = cell_command },
	[COLUMN_CGROUP] = { NULL, "CGROUP", .look = GRID_PATH, .cell = cell_cgroup },
	[COLUMN_NUMBERS] = { "CMEM", "GB/s", .shown = has_to, .cell = cell_to,
			     .arg = DESTINATION_CMEM },
	{ "GMEM", "GB/s", .shown = has_to, .cell = cell_to, .arg = DESTINATION_GMEM },
	{ "CXL", "GB/s", .shown = has_to, .cell = cell_to, .arg = DESTINATION_CXL },
	{ "REMOTE", "GB/s", .shown = has_to, .cell = cell_to, .arg = DESTINATION_REMOTE },
	{ "P2P", "GB/s", .shown = has_to, .cell = cell_to, .arg = DESTINATION_P2P },
	[COLUMN_READ] = { "READ", "GB/s", .shown = has_direction, .cell = cell_rate,
			  .arg = DIRECTION_READ },
	{ "WRITE", "GB/s", .shown = has_direction, .cell = cell_rate, .arg = DIRECTION_WRITE },
	{ "RD+WR", "GB/s", .shown = has_direction, .cell = cell_rate, .arg = DIRECTION_READWRITE },
	{ NULL, "SHARE", 6, .shown = has_traffic, .cell = cell_share },
	{ NULL, "PEAK", 6, .shown = has_peaks, .cell = cell_peak },
	[COLUMN_BYTES] = { NULL, "BYTES", .shown = has_bytes, .cell = cell_bytes },
	{ "95%", "RANGE", GRID_RANGE_WIDTH, .shown = has_ranges, .cell = cell_range },
	[COLUMN_DEVICES] = { "PCIE-RD", "GB/s", .shown = has_devices, .cell = cell_device,
			     .arg = DIRECTION_READ },
	{ "PCIE-WR", "GB/s", .shown = has_devices, .cell = cell_device, .arg = DIRECTION_WRITE },
	{ NULL, "LAT ns", .shown = has_latency, .cell = cell_lat },
	/* Joules have as many decimals as seconds: the base units of both are a billionth */
	{ "ENERGY", "J", .shown = has_energy, .cell = cell_energy },
	[COLUMN_CPU] = { NULL, "CPU s", .shown = has_cpu, .cell = cell_cpu },
	{ NULL, "CPUS", .shown = has_cpus, .cell = cell_cpus },
};

static_assert(ARRAY_SIZE(columns) <= MAX_COLUMNS, "struct table has room for the columns");

/* Destinations with a column: the counted ones, if they are to be shown. */
static void find_destinations(struct table *t)
{
	for (int d = DESTINATION_ANY + 1; t->o->by_destination && d < NR_DESTINATIONS; d++) {
		size_t i = 0;

		while (i < t->r->nr_counters && (t->r->counters[i].counter->device ||
						 (int)t->r->counters[i].counter->destination != d))
			i++;
		if (i < t->r->nr_counters)
			t->to[d] = ++t->nr_to;
	}
}

/* Columns beyond READ and WRITE, where some counters separate these and others do not. */
static size_t directions_beyond(const struct table *t)
{
	return !t->nr_to && t->directions[DIRECTION_READ] && t->directions[DIRECTION_READWRITE];
}

/* Choose the columns of numbers. */
static void lay_out_numbers(struct table *t)
{
	size_t want = t->o->width ? t->o->width : TABLE_DEFAULT_WIDTH, least, left;

	find_destinations(t);
	least = t->nr_to ? TO_MIN_WIDTH : TABLE_MIN_WIDTH;
	least += (directions_beyond(t) + t->energy) * (FORMAT_NUMBER_WIDTH + 1);
	t->width = want < least ? least : want;
	if (t->devices && t->width >= (t->traffic ? DEVICE_WIDTH + beyond(t, false) : 0))
		t->device_columns = moves(t, DIRECTION_READ) + moves(t, DIRECTION_WRITE);
	/* Certain bounds are wide exactly where it matters; -v shows them. */
	t->ranges = t->traffic && method_row(t->r->quality.method)->learns;
	if (t->traffic && t->width >= PEAK_WIDTH + beyond(t, true) + range_more(t))
		t->most = peaks_memory(t->r, -1);
	memcpy(t->columns, columns, sizeof(columns));
	t->grid = (struct grid){ .out = t->out,
				 .columns = t->columns,
				 .nr = ARRAY_SIZE(columns),
				 .width = t->width,
				 .table = t };
	if (t->devices == DEVICES_IO) {
		t->columns[COLUMN_DEVICES].head = "IO-RD";
		t->columns[COLUMN_DEVICES + 1].head = "IO-WR";
	}
	grid_fit(&t->grid);
	left = grid_columns_width(&t->grid, COLUMN_NUMBERS);
	t->left = t->width - (grid_columns_width(&t->grid, t->grid.nr) - left);
	for (int i = 0; i < COLUMN_NUMBERS; i++)
		t->columns[i].hidden = true;
}

static void show(struct table *t, int column, size_t width)
{
	t->columns[column].hidden = false;
	t->columns[column].width = width;
}

/* Width of the widest name in front of the numbers, so that wide tables stay compact. */
static int widest_name(const struct table *t, size_t *ret_width)
{
	size_t i, width, widest = 0;

	for (i = 0; i < t->r->nr_rows; i++) {
		const struct row_node *node = &t->tree->nodes[i];
		cleanup_free char *text = NULL;
		int err;

		if (!node->shown)
			continue;
		err = t->tree_rows ? tree_text(t, node, &text)
				   : names_cgroup(node->row, NULL, &text);
		if (err)
			return err;
		width = format_width(text);
		if (t->tree_rows)
			width += columns_indent(t, columns_depth(node)) + 1;
		if (width > widest)
			widest = width;
	}
	*ret_width = widest;
	return 0;
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

/* Width of the columns of users and names; 0 where no job has any. */
static void job_widths(const struct table *t, size_t *ret_user, size_t *ret_name)
{
	size_t user = widest_job_text(t->r, user_of), name = widest_job_text(t->r, name_of);

	*ret_user = user ? between(user, strlen("USER"), USER_WIDTH) : 0;
	*ret_name = name ? between(name, NAME_MIN, NAME_MAX_WIDTH) : 0;
}

/* Columns for the job's user and name if any job has one and there is room, the name first. */
static void lay_out_jobs(struct table *t, size_t widest)
{
	size_t user, name, want, job = t->left;

	job_widths(t, &user, &name);
	widest = between(widest, JOB_MIN, SIZE_MAX);
	if (name && t->left >= JOB_MIN + 1 + NAME_MIN) {
		want = t->left - 1 - between(widest, JOB_MIN, t->left - 1 - NAME_MIN);
		name = name < want ? name : want;
		show(t, COLUMN_NAME, name);
		job -= name + 1;
	}
	if (user && job >= JOB_MIN + 1 + user) {
		show(t, COLUMN_USER, user);
		job -= user + 1;
	}
	/* Wide tables are no wider than necessary. */
	if (widest + t->left - job < LEFT_BASE)
		widest = LEFT_BASE - (t->left - job);
	t->columns[COLUMN_TREE].unit = "JOB";
	show(t, COLUMN_TREE, job < widest ? job : widest);
}

size_t columns_before_name(const struct table *t, const struct row_node *node)
{
	if (t->tree_rows)
		return columns_indent(t, columns_depth(node)) + 2;
	return grid_columns_width(&t->grid, COLUMN_COMMAND) + 1;
}

/* Share the columns in front of the numbers among PID, COMMAND and CGROUP. */
static void lay_out_tasks(struct table *t, size_t widest)
{
	size_t left = t->left, fixed, command;

	show(t, COLUMN_MARK, 1);
	/* At the smallest width only the TID remains: it identifies the thread. */
	if (t->r->by == ROW_PROCESS || left >= 2 * PID_WIDTH + COMMAND_WIDTH)
		show(t, COLUMN_PID, PID_WIDTH);
	if (t->r->by == ROW_THREAD)
		show(t, COLUMN_TID, PID_WIDTH);
	fixed = columns_before_name(t, NULL);
	if (left < fixed + COMMAND_WIDTH + 1 + CGROUP_MIN) {
		show(t, COLUMN_COMMAND, left - fixed < COMMAND_WIDE ? left - fixed : COMMAND_WIDE);
		return;
	}
	command = left > LEFT_BASE + 8 ? COMMAND_WIDE : COMMAND_WIDTH;
	show(t, COLUMN_COMMAND, command);
	fixed += command + 1;
	if (fixed + widest < LEFT_BASE)
		widest = LEFT_BASE - fixed;
	show(t, COLUMN_CGROUP, left < fixed + widest ? left - fixed : widest);
}

/* Room for all that names a row, none of it cut more than at the usual width */
static size_t names_need(const struct table *t, size_t widest)
{
	size_t user, name;

	job_widths(t, &user, &name);
	if (t->r->by == ROW_JOB)
		return between(widest, JOB_MIN, SIZE_MAX) + (user ? 1 + user : 0) +
		       (name ? 1 + NAME_MIN : 0);
	if (t->r->by == ROW_CGROUP)
		return widest;
	return (t->r->by == ROW_THREAD ? 2 : 1) * (PID_WIDTH + 1) + 1 + COMMAND_WIDTH;
}

/* Where RANGE has replaced BYTES, names may be short enough for both. */
static void try_bytes(struct table *t, size_t widest)
{
	if (!t->ranges || cpu_fits(t) || t->left < names_need(t, widest) + FORMAT_NUMBER_WIDTH + 1)
		return;
	show(t, COLUMN_BYTES, FORMAT_NUMBER_WIDTH);
	t->left -= FORMAT_NUMBER_WIDTH + 1;
}

/* RANGE has the room of a job's user, which tells more than its CPU time. */
static void try_user(struct table *t)
{
	struct grid_column *cpu = &t->columns[COLUMN_CPU];

	if (t->r->by != ROW_JOB || !t->ranges || cpu->hidden || t->left >= names_need(t, JOB_MIN))
		return;
	cpu->hidden = true;
	t->left += FORMAT_NUMBER_WIDTH + 1;
}

int columns_lay_out(struct table *t)
{
	size_t widest;
	int err;

	t->tree_rows = t->r->by == ROW_CGROUP || t->r->by == ROW_JOB;
	lay_out_numbers(t);
	err = widest_name(t, &widest);
	if (err)
		return err;
	try_bytes(t, widest);
	try_user(t);
	if (t->r->by == ROW_JOB) {
		lay_out_jobs(t, widest);
	} else if (t->r->by == ROW_CGROUP) {
		widest = between(widest, LEFT_BASE, SIZE_MAX);
		show(t, COLUMN_TREE, t->left < widest ? t->left : widest);
	} else {
		lay_out_tasks(t, widest);
	}
	t->left = grid_columns_width(&t->grid, COLUMN_NUMBERS);
	return 0;
}
