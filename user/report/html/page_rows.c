// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The tables of workloads and of cgroups. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/sums.h"
#include "report/devices.h"
#include "report/format.h"
#include "report/html/markup.h"
#include "report/html/page.h"
#include "report/latencies.h"
#include "report/names.h"

/* Lines of the tree of cgroups, the largest first */
#define MAX_FOLDERS 400
/* Deeper cgroups are counted in the last of these levels. */
#define MAX_DEPTH   32

static int cut(char *text, enum format_cut_side side, char **ret)
{
	int err = format_cut(text, PAGE_NAME_COLUMNS, side, ret);

	free(text);
	return err;
}

int page_name(const struct report_row *row, char **ret)
{
	char *text = NULL;

	return names_row(row, &text) ?: cut(text, FORMAT_CUT_LEFT, ret);
}

int page_cgroup(const struct report_row *row, char **ret)
{
	char *text = NULL;

	return format_terminal(row->cgroup ? row->cgroup : "", SIZE_MAX, &text)
		       ?: cut(text, FORMAT_CUT_LEFT, ret);
}

/**
 * struct columns - columns of the tables
 * @cgroup: rows are in cgroups, but are none
 * @exists, @counted: by direction, a counter of CPU traffic exists, has a value
 * @sums: there are counters of memory
 * @energy: there are counters of energy
 * @devices: bytes of devices for rows
 * @latency: rows have latencies
 */
struct columns {
	bool cgroup;
	bool exists[NR_DIRECTIONS];
	bool counted[NR_DIRECTIONS];
	bool sums;
	bool energy;
	enum devices_mode devices;
	bool latency;
	uint64_t ns;
	uint64_t all; /* bytes of the machine: 100% */
};

static struct columns columns_of(const struct page *p)
{
	const struct report *r = p->summary;
	struct columns c = {
		.cgroup = r->by != ROW_CGROUP,
		.devices = devices_mode(r),
		.latency = r->nr_probes != 0,
		.ns = r->end_ns - r->start_ns,
		.all = row_tree_all(p->tree),
	};

	for (size_t i = 0; i < r->nr_counters; i++) {
		const struct report_counter *rc = &r->counters[i];

		c.energy |= rc->counter->unit == UNIT_NANOJOULES;
		if (rc->counter->device || rc->counter->unit != UNIT_BYTES)
			continue;
		c.sums = true;
		if (!devices_task_counter(rc->counter))
			continue;
		c.exists[rc->counter->direction] = true;
		c.counted[rc->counter->direction] |= rc->valid;
	}
	return c;
}

static void head(FILE *out, const struct page *p, const struct columns *c, const char *id,
		 const char *caption, const char *name)
{
	static const char *const rates[NR_DIRECTIONS] = {
		[DIRECTION_READ] = "|#Read GB/s",
		[DIRECTION_WRITE] = "|#Write GB/s",
		[DIRECTION_READWRITE] = "|#Read+write GB/s",
	};
	bool tree = !strcmp(id, "cgroups");
	char columns[256], sums[64] = "";

	if (c->sums)
		snprintf(sums, sizeof(sums), "|#Bytes|#%s|#Share",
			 method_row(p->summary->quality.method)->learns ? "95% interval"
									: "Certain bounds");
	snprintf(columns, sizeof(columns), "%s%s%s%s%s%s%s%s%s|#CPU s|%s", name,
		 c->cgroup && !tree ? "|Cgroup" : "", c->exists[0] ? rates[0] : "",
		 c->exists[1] ? rates[1] : "", c->exists[2] ? rates[2] : "", sums,
		 c->devices == DEVICES_NONE || tree ? ""
		 : c->devices == DEVICES_IO	    ? "|#I/O read|#I/O written"
						    : "|#By devices read|#By devices written",
		 c->latency && !tree ? "|#Latency seen ns" : "",
		 c->energy && !tree ? "|#Energy|#Energy interval" : "", tree ? "#Rows" : "Note");
	markup_table(out, id, caption, columns);
}

static void put_rates(FILE *out, const struct columns *c, const uint64_t bytes[NR_DIRECTIONS])
{
	for (int d = 0; d < NR_DIRECTIONS; d++)
		if (c->exists[d])
			markup_value(out, grid_if(c->counted[d], grid_rate(bytes[d], c->ns)));
}

static bool any_counted(const struct columns *c)
{
	return c->counted[DIRECTION_READ] || c->counted[DIRECTION_WRITE] ||
	       c->counted[DIRECTION_READWRITE];
}

/* Bytes, interval and share; @range: there is an interval. */
static void put_sum(FILE *out, const struct columns *c, const struct amounts *a, bool range)
{
	uint64_t bytes = amounts_bytes(a);

	if (!any_counted(c)) {
		markup_nones(out, c->sums ? 3 : 0);
		return;
	}
	markup_value(out, grid_bytes(bytes));
	markup_value(out, grid_if(range, grid_range(bytes, a->low, a->high, false)));
	markup_value(out, grid_percent(bytes, c->all));
}

static void put_moved(FILE *out, const struct page *p, const struct columns *c,
		      const uint64_t device[NR_WAYS])
{
	for (int d = 0; d < NR_WAYS && c->devices != DEVICES_NONE; d++)
		markup_value(out, grid_if(c->devices == DEVICES_IO || devices_valid(p->summary, d),
					  grid_bytes(device[d])));
}

static void put_latency(FILE *out, const struct page *p, const struct columns *c,
			const struct report_row *row)
{
	double ns = 0;
	bool seen = row && latencies_seen(p->summary, row, &ns);

	if (c->latency)
		markup_value(out, grid_if(seen, grid_ns(ns)));
}

/* A row's use by counters that had a value; the sum of the ends of its intervals */
static void put_energy(FILE *out, const struct page *p, const struct columns *c,
		       const struct report_row *row)
{
	uint64_t value = 0, low = 0, high = 0;
	bool any = false;

	if (!c->energy)
		return;
	for (size_t i = 0; i < row->nr_shares; i++) {
		const struct share *s = &row->shares[i];

		if (p->summary->counters[s->counter].counter->unit != UNIT_NANOJOULES)
			continue;
		value = sum_capped(value, s->value);
		low = sum_capped(low, s->low);
		high = sum_capped(high, s->high);
		any = true;
	}
	if (!any) {
		markup_nones(out, 2);
		return;
	}
	markup_value(out, grid_joules(value));
	markup_value(out, grid_joules_range(value, low, high, false));
}

/* A job's name and user */
static const char *put_job(FILE *out, const struct row_job *job)
{
	markup_text(out, FORMAT_SAFE(job->name));
	if (job->user[0])
		fputs(job->name[0] ? " of " : "of ", out);
	markup_text(out, FORMAT_SAFE(job->user));
	return job->name[0] || job->user[0] ? ", " : "";
}

static void put_note(FILE *out, const struct row_node *node)
{
	const struct report_row *row = node->row;
	const char *between = "";

	fputs("<td>", out);
	if (row->kind == ROW_JOB && row->job && !node->parent->row)
		between = put_job(out, row->job);
	if (node->amounts.tangled) {
		fprintf(out, "%s<span class=\"tangled\">not separable</span> from %zu other%s",
			between, row->nr_tangled_all, row->nr_tangled_all == 1 ? "" : "s");
		between = ", ";
	}
	if (row->exited)
		fprintf(out, "%sended", between);
	fputs("</td>", out);
}

/* In a tree, the part that the row above does not show; otherwise the whole name */
static int name_below(const struct row_node *node, char **ret)
{
	const struct report_row *row = node->row, *above = node->parent->row;
	char *text = NULL;
	int err;

	if (!above || (row->kind != ROW_CGROUP && row->kind != ROW_JOB))
		return page_name(row, ret);
	if (row->kind == ROW_JOB)
		err = names_job(row, true, &text);
	else if (names_is_own(row))
		err = (text = strdup("(own tasks)")) ? 0 : -ENOMEM;
	else
		err = names_cgroup(row, above->cgroup, &text);
	return err ?: cut(text, FORMAT_CUT_LEFT, ret);
}

static int put_row(FILE *out, const struct page *p, const struct columns *c, size_t i)
{
	const struct row_node *node = p->rows[i].node;
	cleanup_free char *name = NULL, *cgroup = NULL;
	int err = name_below(node, &name) ?: page_cgroup(node->row, &cgroup);

	if (err)
		return err;
	fprintf(out, "<tr data-row=\"%zu\"><th scope=\"row\" style=\"--depth:%d\"><span>", i,
		p->rows[i].depth);
	markup_path(out, name);
	fputs("</span></th>", out);
	if (c->cgroup)
		markup_cell(out, cgroup);
	put_rates(out, c, node->amounts.bytes);
	put_sum(out, c, &node->amounts, true);
	put_moved(out, p, c, node->amounts.device);
	put_latency(out, p, c, node->row);
	put_energy(out, p, c, node->row);
	markup_value(out, grid_seconds(node->row->on_cpu_ns));
	put_note(out, node);
	fputs("</tr>\n", out);
	return 0;
}

static void foot_row(FILE *out, const struct page *p, const struct columns *c, const char *name,
		     const struct amounts *a, bool rows)
{
	fprintf(out, "<tr><th scope=\"row\" colspan=\"%d\">%s</th>", c->cgroup ? 2 : 1, name);
	put_rates(out, c, a->bytes);
	put_sum(out, c, a, rows);
	if (rows)
		put_moved(out, p, c, a->device);
	else
		for (int d = 0; d < NR_WAYS && c->devices != DEVICES_NONE; d++)
			fputs("<td></td>", out);
	fputs(c->latency ? "<td></td>" : "", out);
	if (c->energy) {
		markup_value(out, grid_joules(a->energy));
		markup_none(out);
	}
	if (rows)
		markup_value(out, grid_seconds(a->cpu_ns));
	else
		fputs("<td></td>", out);
	fputs("<td></td></tr>\n", out);
}

static const char *const reasons[NR_REASONS] = {
	[REASON_IDLE] = "Unattributed: idle, no task was running",
	[REASON_DEVICE] = "Unattributed: by devices",
	[REASON_REMOTE] = "Unattributed: by other sockets",
	[REASON_OTHER] = "Unattributed: tasks that are not followed",
	[REASON_LOST] = "Unattributed: CPU time not recorded",
	[REASON_BACKGROUND] = "Unattributed: background, goes on anyway",
};

/* Counts of sockets, for all originators; reason -1: bytes of devices for rows. */
static struct amounts counted(const struct report *r, int reason)
{
	struct amounts sum = { 0 };

	for (size_t i = 0; i < r->nr_counters; i++) {
		const struct report_counter *rc = &r->counters[i];

		if (!rc->valid || rc->counter->device || !unit_is_split(rc->counter->unit))
			continue;
		if (reason >= 0)
			amounts_add_bytes(&sum, rc->counter, rc->unattributed[reason]);
		else if (rc->counter->unit == UNIT_BYTES && !devices_task_counter(rc->counter))
			amounts_add_bytes(&sum, rc->counter, rc->attributed);
	}
	return sum;
}

/* With it, the rows and these lines are everything that was counted. */
static void put_foot(FILE *out, const struct page *p, const struct columns *c)
{
	struct amounts hidden = p->tree->root.hidden, sum;
	size_t nr = p->tree->root.nr_hidden;
	char text[64];

	for (size_t i = 0; i < p->nr; i++) {
		const struct row_node *node = p->rows[i].node;

		nr += node->nr_hidden;
		amounts_add(&hidden, &node->hidden);
	}
	fputs("<tfoot>\n", out);
	snprintf(text, sizeof(text), "%zu more, together", nr);
	if (nr)
		foot_row(out, p, c, text, &hidden, true);
	sum = counted(p->summary, -1);
	if (amounts_bytes(&sum))
		foot_row(out, p, c, "Moved by devices for the rows above", &sum, false);
	for (int r = 0; r < NR_REASONS; r++) {
		sum = counted(p->summary, r);
		if (amounts_bytes(&sum) || sum.energy)
			foot_row(out, p, c, reasons[r], &sum, false);
	}
	fputs("</tfoot>", out);
}

int page_workloads(FILE *out, const struct page *p)
{
	struct columns c = columns_of(p);
	int err = 0;

	head(out, p, &c, "workloads", "What workloads moved, and the rest of all that was counted",
	     p->summary->by == ROW_CGROUP   ? "Cgroup"
	     : p->summary->by == ROW_JOB    ? "Job"
	     : p->summary->by == ROW_THREAD ? "Thread"
					    : "Process");
	for (size_t i = 0; i < p->nr && !err; i++)
		err = put_row(out, p, &c, i);
	put_foot(out, p, &c);
	markup_table_end(out);
	return err;
}

/* --- cgroups */

/* A cgroup with all rows in it and below */
struct folder {
	const char *path; /* neither owned nor ended */
	size_t length;
	int depth;
	uint64_t rows;
	struct amounts amounts;
	UT_hash_handle hh;
};

/* A slash sorts before all else: a cgroup's content stands behind it. */
static int by_path(const void *x, const void *y)
{
	const struct folder *a = *(struct folder *const *)x, *b = *(struct folder *const *)y;
	size_t i = 0;

	while (i < a->length && i < b->length && a->path[i] == b->path[i])
		i++;
	if (i == a->length || i == b->length)
		return ORDER(a->length, b->length);
	if (a->path[i] == '/' || b->path[i] == '/')
		return a->path[i] == '/' ? -1 : 1;
	return ORDER((unsigned char)a->path[i], (unsigned char)b->path[i]);
}

static int by_bytes(struct folder *a, struct folder *b)
{
	return ORDER(amounts_bytes(&b->amounts), amounts_bytes(&a->amounts))
		       ?: ORDER(b->amounts.cpu_ns, a->amounts.cpu_ns) ?: ORDER(a->depth, b->depth)
		       ?: by_path(&a, &b);
}

static int add_folder(struct folder **all, const char *path, size_t length, int depth,
		      const struct row_node *node)
{
	struct folder *f;

	HASH_FIND(hh, *all, path, length, f);
	if (!f) {
		f = calloc(1, sizeof(*f));
		if (f) {
			f->path = path;
			f->length = length;
			f->depth = depth;
			HASH_ADD_KEYPTR(hh, *all, f->path, length, f);
		}
		if (!f || !f->hh.tbl) {
			free(f);
			return -ENOMEM;
		}
	}
	f->rows++;
	amounts_add(&f->amounts, &node->amounts);
	return 0;
}

/* The root, and each folder down to the row's cgroup: "/", "/a", "/a/b" or "freezer:/" and so on */
static int add_row(struct folder **all, const struct row_node *node)
{
	const char *path = node->row->cgroup ? node->row->cgroup : "";
	size_t root = strcspn(path, "/"), length = strlen(path);
	int depth = 0, err;

	if (!path[root])
		return add_folder(all, "(unknown)", strlen("(unknown)"), 0, node);
	err = add_folder(all, path, root + 1, depth, node);
	for (size_t i = root + 1; i < length && depth < MAX_DEPTH && !err; i++) {
		i += strcspn(path + i, "/");
		err = add_folder(all, path, i, ++depth, node);
	}
	return err;
}

static int put_folder(FILE *out, const struct columns *c, const struct folder *f)
{
	cleanup_free char *path = strndup(f->path, f->length), *name = NULL, *whole = NULL;
	const char *last = path ? strrchr(path, '/') : NULL;
	char *text = NULL;
	int err = path ? format_terminal(last && f->depth ? last + 1 : path, SIZE_MAX, &text)
				  ?: cut(text, FORMAT_CUT_RIGHT, &name)
		       : -ENOMEM;

	if (!err)
		err = format_terminal(path, SIZE_MAX, &text) ?: cut(text, FORMAT_CUT_LEFT, &whole);
	if (err)
		return err;
	fprintf(out, "<tr data-depth=\"%d\"><th scope=\"row\" style=\"--depth:%d\" title=\"",
		f->depth, f->depth);
	markup_text(out, whole);
	fputs("\">", out);
	markup_text(out, name);
	fputs("</th>", out);
	put_rates(out, c, f->amounts.bytes);
	put_sum(out, c, &f->amounts, true);
	markup_value(out, grid_seconds(f->amounts.cpu_ns));
	markup_count(out, f->rows);
	fputs("</tr>\n", out);
	return 0;
}

/* The largest; parents are larger than their children */
static int put_folders(FILE *out, const struct columns *c, struct folder **all)
{
	cleanup_free struct folder **order = NULL;
	struct folder *f, *next;
	size_t nr = 0;
	int err = 0;

	HASH_SORT(*all, by_bytes);
	order = calloc(MAX_FOLDERS, sizeof(*order));
	if (!order)
		return -ENOMEM;
	HASH_ITER (hh, *all, f, next) {
		if (nr < MAX_FOLDERS)
			order[nr++] = f;
	}
	qsort(order, nr, sizeof(*order), by_path);
	for (size_t i = 0; i < nr && !err; i++)
		err = put_folder(out, c, order[i]);
	if (HASH_COUNT(*all) > nr)
		fprintf(out,
			"<tfoot><tr><th scope=\"row\">(%zu smaller ones are in those above them)"
			"</th></tr></tfoot>",
			HASH_COUNT(*all) - nr);
	return err;
}

/* Where rows are cgroups, the tree replaces the table of workloads. */
int page_cgroups(FILE *out, const struct page *p)
{
	struct columns c = columns_of(p);
	struct folder *all = NULL, *f, *next;
	int err = 0;

	if (p->summary->by == ROW_CGROUP)
		return 0;
	for (size_t i = 0; i < p->summary->nr_rows && !err; i++)
		if (p->summary->rows[i].leaf)
			err = add_row(&all, &p->tree->nodes[i]);
	fputs("<section id=\"tree\"><h2>Cgroups</h2>\n<p>Each with all that is in it. Ends of "
	      "intervals are added up, so a sum is better known than it says.</p>\n",
	      out);
	head(out, p, &c, "cgroups", "What workloads moved, by cgroup", "Cgroup");
	if (!err)
		err = put_folders(out, &c, &all);
	markup_table_end(out);
	fputs("</section>\n", out);
	HASH_ITER (hh, all, f, next) {
		HASH_DEL(all, f);
		free(f);
	}
	return err;
}
