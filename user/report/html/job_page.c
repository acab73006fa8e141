// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/html/job_page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/sums.h"
#include "report/format.h"
#include "report/html/markup.h"
#include "report/html/page.h"
#include "report/job/job_nodes_table.h"
#include "report/job/job_sums.h"
#include "report/put.h"

#define ACCOUNT_WIDTH 100
#define SETTING	      "history = 10s for 1h, 5m for 30d"
/* Shorter ones come from slewing the clock. */
#define LEAST_GAP_NS  NS_PER_S

/* Lines of the plots */
enum series {
	SERIES_READ,
	SERIES_WRITE,
	SERIES_BOTH,
	SERIES_DEVICE_READ,
	SERIES_DEVICE_WRITE,
	SERIES_ENERGY,
	SERIES_CPU,
	NR_SERIES,
};

/* A plot's quantity and unit: bytes and nanojoules per nanosecond, CPU time of time */
struct series_row {
	const char *label;
	const char *colour;
	int plot;
};

static const struct series_row series_rows[NR_SERIES] = {
	[SERIES_READ] = { "read", PAGE_READ, 0 },
	[SERIES_WRITE] = { "written", PAGE_WRITE, 0 },
	[SERIES_BOTH] = { "read or written", PAGE_BOTH, 0 },
	[SERIES_DEVICE_READ] = { "read by devices", PAGE_READ, 1 },
	[SERIES_DEVICE_WRITE] = { "written by devices", PAGE_WRITE, 1 },
	[SERIES_ENERGY] = { "power", PAGE_SOCKET, 2 },
	[SERIES_CPU] = { "CPUs", PAGE_SOCKET, 3 },
};

static const struct {
	const char *id, *title, *unit;
} plots[] = {
	{ "plot-memory", "Memory bandwidth of its CPUs, GB/s, with intervals", "GB/s" },
	{ "plot-pcie", "Moved by devices for it, GB/s, with intervals", "GB/s" },
	{ "plot-energy", "Power of packages and memory, W, with intervals", "W" },
	{ "plot-cpus", "CPUs used", "CPUs" },
};

/* A line at a point: sums over @counted_ns, 0 = nothing is known; @partial: 1 = a counter is missing */
struct cell {
	uint64_t counted_ns;
	uint64_t partial;
	uint64_t value;
	uint64_t low;
	uint64_t high;
};

struct point {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t intervals;
	struct cell cells[NR_SERIES];
};

struct points {
	struct point *items;
	size_t nr, cap;
};

/* --- points */

static struct cell cell_of(const struct account_job *i, const struct job_sum_value *v)
{
	if (!v->counted)
		return (struct cell){ 0 };
	/* Bytes of an interval fit: at 1.2 TB/s it would have to last for half a year. */
	return (struct cell){ i->covered_ns, v->partial, sum128_cut(v->value, UINT64_MAX),
			      sum128_cut(v->low, UINT64_MAX), sum128_cut(v->high, UINT64_MAX) };
}

static struct cell cell_at(const struct job_context *c, const struct account_job *i, enum series s)
{
	static const struct {
		enum job_sum sum;
		enum direction way;
	} sums[] = {
		[SERIES_READ] = { JOB_SUM_MEM, DIRECTION_READ },
		[SERIES_WRITE] = { JOB_SUM_MEM, DIRECTION_WRITE },
		[SERIES_BOTH] = { JOB_SUM_MEM, DIRECTION_READWRITE },
		[SERIES_DEVICE_READ] = { JOB_SUM_PCIE, DIRECTION_READ },
		[SERIES_DEVICE_WRITE] = { JOB_SUM_PCIE, DIRECTION_WRITE },
	};
	uint64_t cpu = sum128_cut(i->whole.on_cpu_ns, UINT64_MAX);
	struct job_sum_value v;

	if (s == SERIES_CPU)
		return (struct cell){ i->covered_ns, 0, cpu, cpu, cpu };
	if (s == SERIES_ENERGY)
		v = job_sum_energy(c->node, i, &i->whole);
	else
		v = job_sum_of(c->node, i, &i->whole, sums[s].sum, sums[s].way);
	return cell_of(i, &v);
}

static void join_cells(struct cell *to, const struct cell *from)
{
	to->counted_ns += from->counted_ns;
	to->partial |= from->partial;
	to->value = sum_capped(to->value, from->value);
	to->low = sum_capped(to->low, from->low);
	to->high = sum_capped(to->high, from->high);
}

/* Does an interval follow the one before? Otherwise there was a gap, or the clock was set. */
static bool goes_on(uint64_t end_ns, const struct account_job *next)
{
	return next->whole.start_ns < end_ns + LEAST_GAP_NS && !next->gap_ns;
}

/* Times never go back; after the clock was set back an interval begins at the last one's end. */
static int add_point(struct points *p, const struct job_context *c, const struct account_job *i,
		     bool join)
{
	uint64_t end_ns = p->nr ? p->items[p->nr - 1].end_ns : 0;
	struct point *last;

	if (p->nr && !goes_on(end_ns, i)) {
		if (array_reserve(p->items, p->cap, p->nr))
			return -ENOMEM;
		if (i->whole.start_ns > end_ns)
			p->items[p->nr++] =
				(struct point){ .start_ns = end_ns, .end_ns = i->whole.start_ns };
		join = false;
	}
	if (!join || !p->nr) {
		if (array_reserve(p->items, p->cap, p->nr))
			return -ENOMEM;
		p->items[p->nr++] = (struct point){
			.start_ns = i->whole.start_ns > end_ns ? i->whole.start_ns : end_ns,
		};
	}
	last = &p->items[p->nr - 1];
	last->end_ns = last->intervals ? last->end_ns : last->start_ns;
	last->end_ns =
		i->whole.end_ns > last->end_ns ? i->whole.end_ns : last->end_ns + i->covered_ns;
	last->intervals++;
	for (int s = 0; s < NR_SERIES; s++) {
		struct cell cell = cell_at(c, i, s);

		join_cells(&last->cells[s], &cell);
	}
	return 0;
}

static int make_points(const struct job_context *c, struct points *ret)
{
	size_t nr = c->history->nr, each = (nr + JOB_PAGE_POINTS - 1) / JOB_PAGE_POINTS;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		err = add_point(ret, c, &c->history->jobs[i], i % each != 0);
	return err;
}

/* --- data of plots */

static json_t *numbers(const struct points *p, size_t offset, uint64_t less, int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < p->nr && !*err; i++) {
		uint64_t value;

		memcpy(&value, (const char *)&p->items[i] + offset, sizeof(value));
		put_element(a, page_integer(value - less), err);
	}
	return a;
}

static bool any(const struct points *p, int series)
{
	for (size_t i = 0; i < p->nr; i++)
		if (p->items[i].cells[series].counted_ns && p->items[i].cells[series].high)
			return true;
	return false;
}

static json_t *layer_object(const struct points *p, int s, int *err)
{
	size_t at = offsetof(struct point, cells) + (size_t)s * sizeof(struct cell);
	json_t *o = json_object();

	put_text(o, "label", series_rows[s].label, err);
	put_text(o, "colour", series_rows[s].colour, err);
	put(o, "counted_ns", numbers(p, at + offsetof(struct cell, counted_ns), 0, err), err);
	put(o, "value", numbers(p, at + offsetof(struct cell, value), 0, err), err);
	put(o, "low", numbers(p, at + offsetof(struct cell, low), 0, err), err);
	put(o, "high", numbers(p, at + offsetof(struct cell, high), 0, err), err);
	return o;
}

/* Points at which a line of the plot lacks a counter */
static json_t *incomplete_array(const struct points *p, size_t n, int *err)
{
	json_t *a = json_array();

	for (size_t i = 0; i < p->nr; i++) {
		uint64_t partial = 0;

		for (int s = 0; s < NR_SERIES; s++)
			if (series_rows[s].plot == (int)n)
				partial |= p->items[i].cells[s].partial;
		put_element(a, page_integer(partial), err);
	}
	return a;
}

static json_t *plot_object(const struct points *p, size_t n, int *err)
{
	json_t *o = json_object(), *layers = json_array();

	put_text(o, "id", plots[n].id, err);
	put_text(o, "title", plots[n].title, err);
	put_text(o, "unit", plots[n].unit, err);
	put(o, "incomplete", incomplete_array(p, n, err), err);
	for (int s = 0; s < NR_SERIES; s++)
		if (series_rows[s].plot == (int)n && (any(p, s) || s == SERIES_CPU))
			put_element(layers, layer_object(p, s, err), err);
	put(o, "layers", layers, err);
	return o;
}

/* The form of page_data(), without workloads and sockets */
static int data_of(const struct points *p, json_t **ret)
{
	static const char *const none[] = { "sockets",	"probes", "devices",  "rows",
					    "counters", "units",  "latencies" };
	uint64_t start = p->nr ? p->items[0].start_ns : 0;
	json_t *o = json_object(), *all = json_array();
	int err = 0;

	put_text(o, "schema", "t410trace.page/1", &err);
	put_text(o, "by", "job", &err);
	put_number(o, "start_time_ms", start / 1000000, &err);
	put_number(o, "start_ns", start, &err);
	put(o, "begin_ns", numbers(p, offsetof(struct point, start_ns), start, &err), &err);
	put(o, "end_ns", numbers(p, offsetof(struct point, end_ns), start, &err), &err);
	put(o, "intervals", numbers(p, offsetof(struct point, intervals), 0, &err), &err);
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		put(o, none[i], json_array(), &err);
	for (size_t n = 0; n < ARRAY_SIZE(plots); n++)
		put_element(all, plot_object(p, n, &err), &err);
	put(o, "plots", all, &err);
	if (err)
		json_decref(o);
	else
		*ret = o;
	return err;
}

static int data_text(const struct points *p, char **ret, size_t *ret_length)
{
	json_t *data = NULL;
	int err = data_of(p, &data);

	return err ? err : markup_json_text(data, ret, ret_length);
}

/* --- sections */

static void put_title(FILE *out, const struct job_context *c, const struct account_job *j)
{
	char from[FORMAT_TIME_LEN], to[FORMAT_TIME_LEN], missing[JOB_NODES_TITLE];

	job_nodes_title(c->nodes, missing);
	format_time(j->whole.start_ns, from);
	format_time(j->whole.end_ns, to);
	fprintf(out, "<header><h1>%s job ", scheduler_name(j->job.scheduler));
	markup_text(out, FORMAT_SAFE(j->job.id));
	fputs(" on ", out);
	markup_text(out, FORMAT_SAFE(c->host->name));
	fprintf(out, "%s</h1>\n<p>", missing);
	markup_text(out, FORMAT_SAFE(j->job.name));
	fputs(j->job.name[0] ? ", " : "", out);
	fputs(j->job.user[0] ? "of " : "", out);
	markup_text(out, FORMAT_SAFE(j->job.user));
	fputs(j->job.user[0] ? ", " : "", out);
	fprintf(out, "%s, %s to %s</p>\n", account_state_name(j->state), from, to);
	fputs("<noscript><p class=\"warn\">Plots need JavaScript. The tables have the "
	      "numbers.</p></noscript>\n<nav>",
	      out);
	fputs(c->nodes ? "<a href=\"#nodes\">Nodes</a> " : "<a href=\"#course\">Over time</a> ",
	      out);
	fputs("<a href=\"#account\">Account</a></nav></header>\n<main>\n", out);
}

/* The page's content, complete before it is written */
struct job_page {
	const struct job_context *context;
	const struct account_job *job;
	struct points points;
};

/* The account as on a terminal */
static int put_account(FILE *out, void *arg)
{
	const struct table_options o = { .width = ACCOUNT_WIDTH, .verbose = true };
	const struct job_page *p = arg;

	return job_table_write(out, p->context, p->job, &o);
}

static struct grid_cell rate_of(const struct cell *c)
{
	return grid_if(c->counted_ns, grid_rate(c->value, c->counted_ns));
}

/* The smallest part of the time for which a counter counted */
static double least_counted(const struct account_job *i)
{
	double least = 1;

	for (size_t k = 0; k < i->nr_node; k++) {
		double ratio = job_running_ratio(&i->node[k]);

		least = ratio < least ? ratio : least;
	}
	return least;
}

static void put_note(FILE *out, const struct account_job *i)
{
	char text[FORMAT_NUMBER_LEN];
	const char *between = "";
	size_t none = 0, some = 0;

	for (size_t k = 0; k < i->nr_node; k++) {
		none += i->node[k].missing >= i->intervals;
		some += i->node[k].missing && i->node[k].missing < i->intervals;
	}
	fputs("<td>", out);
	if (i->gap_ns) {
		format_seconds(i->gap_ns, text);
		fprintf(out, "nobody looked for %s s before it", text);
		between = ", ";
	}
	if (none)
		fprintf(out, "%s%zu counter%s without a value", between, none,
			none == 1 ? "" : "s");
	between = none ? ", " : between;
	if (some)
		fprintf(out, "%s%zu without a value in a part of it", between, some);
	fputs("</td>", out);
}

static void put_line_of(FILE *out, const struct job_context *c, const struct account_job *i)
{
	struct cell cells[NR_SERIES], all = { 0 };
	const struct cell *energy = &cells[SERIES_ENERGY];
	char when[FORMAT_TIME_LEN];

	for (int s = 0; s < NR_SERIES; s++)
		cells[s] = cell_at(c, i, s);
	for (int s = SERIES_READ; s <= SERIES_BOTH; s++)
		join_cells(&all, &cells[s]);
	format_time(i->whole.start_ns, when);
	fprintf(out, "<tr><th scope=\"row\">%s</th>", when);
	markup_value(out, grid_seconds(i->covered_ns));
	markup_value(out, rate_of(&cells[SERIES_READ]));
	markup_value(out, rate_of(&cells[SERIES_WRITE]));
	markup_value(out, grid_if(all.counted_ns, grid_bytes(all.value)));
	markup_value(out, grid_if(all.counted_ns, grid_range(all.value, all.low, all.high, false)));
	markup_value(out, grid_if(energy->counted_ns, grid_joules(energy->value)));
	markup_value(out, grid_seconds(sum128_cut(i->whole.on_cpu_ns, UINT64_MAX)));
	markup_value(out, grid_if(i->nr_node,
				  grid_percent((uint64_t)(least_counted(i) * 1e9), 1000000000)));
	put_note(out, i);
	fputs("</tr>\n", out);
}

static void put_intervals(FILE *out, const struct job_context *c)
{
	size_t nr = c->history->nr, first = nr > JOB_PAGE_ROWS ? nr - JOB_PAGE_ROWS : 0;

	if (first)
		fprintf(out,
			"<p>The table has the last %d of %zu intervals; t410trace job --json "
			"--history has all.</p>\n",
			JOB_PAGE_ROWS, nr);
	markup_table(out, "intervals", "What the job had in each interval",
		     "Begin|#Seconds|#Read GB/s|#Write GB/s|#Bytes|#95 % interval|#Energy|#CPU s|"
		     "#Counted|Note");
	for (size_t i = first; i < nr; i++)
		put_line_of(out, c, &c->history->jobs[i]);
	markup_table_end(out);
}

static void put_plots(FILE *out, const struct points *p)
{
	fputs("<p class=\"script\">Drag to zoom in, double-click to see all; all plots go along. "
	      "The address keeps the view.</p>\n",
	      out);
	for (size_t n = 0; n < ARRAY_SIZE(plots); n++) {
		bool shown = false;

		for (int s = 0; s < NR_SERIES; s++)
			shown |= series_rows[s].plot == (int)n && (any(p, s) || s == SERIES_CPU);
		if (shown)
			fprintf(out, "<div id=\"%s\" class=\"plot\"></div>\n", plots[n].id);
	}
}

static int put_course(FILE *out, const struct job_context *c, const struct account_job *j,
		      const struct points *p)
{
	bool whole;
	int err = job_history_whole(j, c->history, &whole);

	fputs("<section id=\"course\"><h2>Over time</h2>\n", out);
	if (!p->nr) {
		fputs("<p class=\"warn\" id=\"no-history\">No intervals of this job are kept. The "
		      "setting history of \"t410trace serve\" keeps them, as in <code>" SETTING
		      "</code>: of jobs from then on.</p>\n</section>\n",
		      out);
		return err;
	}
	if (!whole)
		fputs("<p class=\"warn\" id=\"incomplete\">The intervals are not all of the "
		      "account: older ones were dropped, or the history was begun after the "
		      "job.</p>\n",
		      out);
	fputs("<p>Older intervals are joined into longer ones: bytes are added up, and so are the "
	      "ends of their 95 % intervals. The true interval of a sum is narrower. Where nobody "
	      "looked there is a gap.</p>\n",
	      out);
	if (c->history->nr > JOB_PAGE_POINTS)
		fprintf(out,
			"<p class=\"warn\" id=\"thinned\">Plots have %zu points for %zu "
			"intervals.</p>\n",
			p->nr, c->history->nr);
	put_plots(out, p);
	put_intervals(out, c);
	fputs("</section>\n", out);
	return err;
}

/* --- nodes of a merged account */

/* A node, and what it is sorted by: its memory traffic, or CPU time where none is counted */
struct node_row {
	const struct job_node *node;
	sum128 all;
};

static int compare_rows(const void *a, const void *b)
{
	const struct node_row *x = a, *y = b;

	return ORDER(y->all, x->all) ?: ORDER(x->node, y->node);
}

static const struct job_node_value *memory_of(const struct job_node *n, enum direction way)
{
	return &n->values[JOB_SUM_MEM * NR_DIRECTIONS + way];
}

/* Nodes of a kind, the largest first */
static struct node_row *rows_of(const struct job_nodes *n, size_t kind, size_t *ret_nr)
{
	struct node_row *rows = calloc(n->nr + 1, sizeof(*rows));
	size_t nr = 0;
	sum128 any = 0;

	for (size_t i = 0; rows && i < n->nr; i++) {
		struct node_row *r = &rows[nr];

		if (n->items[i].kind != kind)
			continue;
		*r = (struct node_row){ .node = &n->items[i] };
		for (int d = 0; d < NR_DIRECTIONS; d++)
			any += r->all += memory_of(r->node, d)->value;
		nr++;
	}
	for (size_t i = 0; rows && !any && i < nr; i++)
		rows[i].all = rows[i].node->on_cpu_ns;
	if (rows)
		qsort(rows, nr, sizeof(*rows), compare_rows);
	*ret_nr = nr;
	return rows;
}

/* A part of the longest bar */
static void put_bar(FILE *out, const char *colour, sum128 value, sum128 longest)
{
	if (value)
		fprintf(out, "<i style=\"width:%.2f%%;background:%s\"></i>",
			100.0 * (double)value / (double)longest, colour);
}

static void put_bars(FILE *out, const struct node_row *r, sum128 longest)
{
	static const char *const colours[NR_DIRECTIONS] = { PAGE_READ, PAGE_WRITE, PAGE_BOTH };
	sum128 memory = 0;

	fputs("<td class=\"bar\">", out);
	for (int d = 0; d < NR_DIRECTIONS; d++) {
		put_bar(out, colours[d], memory_of(r->node, d)->value, longest);
		memory += memory_of(r->node, d)->value;
	}
	if (!memory)
		put_bar(out, PAGE_SOCKET, r->all, longest);
	fputs("</td>", out);
}

static void put_node_note(FILE *out, const struct job_node *n)
{
	char text[FORMAT_NUMBER_LEN];

	fprintf(out, "<td>%s", account_state_name(n->state));
	if (n->gap_ns) {
		format_seconds(n->gap_ns, text);
		fprintf(out, ", nobody looked for %s s", text);
	}
	fputs(n->late_start ? ", late start" : "", out);
	fputs(n->incomplete ? ", data lost" : "", out);
	fputs("</td>", out);
}

static void put_node(FILE *out, const struct node_row *r, sum128 longest)
{
	const struct job_node *n = r->node;

	fputs("<tr><th scope=\"row\">", out);
	markup_text(out, FORMAT_SAFE(n->name));
	fputs("</th>", out);
	put_bars(out, r, longest);
	for (int d = 0; d < NR_DIRECTIONS; d++) {
		const struct job_node_value *v = memory_of(n, d);

		markup_value(out, grid_if(v->counted, grid_bytes(v->value)));
	}
	for (int d = 0; d < NR_WAYS; d++) {
		const struct job_node_value *v = &n->values[JOB_SUM_PCIE * NR_DIRECTIONS + d];

		markup_value(out, grid_if(v->counted, grid_bytes(v->value)));
	}
	markup_value(out, grid_if(n->values[NR_JOB_METRICS - 1].counted,
				  grid_joules(n->values[NR_JOB_METRICS - 1].value)));
	markup_value(out, grid_seconds(sum128_cut(n->on_cpu_ns, UINT64_MAX)));
	markup_value(out, grid_seconds(n->covered_ns));
	put_node_note(out, n);
	fputs("</tr>\n", out);
}

static int put_kind(FILE *out, const struct job_nodes *n, size_t kind)
{
	size_t nr;
	cleanup_free struct node_row *rows = rows_of(n, kind, &nr);
	char id[32], caption[128];

	if (!rows)
		return -ENOMEM;
	snprintf(id, sizeof(id), "nodes-%zu", kind);
	snprintf(caption, sizeof(caption), "Nodes (%.15s), the largest first",
		 FORMAT_SAFE(n->kinds[kind].host.platform));
	if (nr > JOB_PAGE_ROWS)
		fprintf(out,
			"<p>The table has the largest %d of %zu nodes; t410trace job --merge "
			"--json has all.</p>\n",
			JOB_PAGE_ROWS, nr);
	markup_table(
		out, id, caption,
		"Node|Memory read and written|#Read|#Written|#Read or written|#PCIe read|#PCIe "
		"written|#Energy|#CPU s|#Seconds|State");
	for (size_t i = 0; i < nr && i < JOB_PAGE_ROWS; i++)
		put_node(out, &rows[i], rows[0].all ?: 1);
	markup_table_end(out);
	return 0;
}

/* As on a terminal: what is missing comes first here. */
static int put_notes(FILE *out, void *arg)
{
	const struct job_nodes *const *n = arg;

	return job_nodes_notes(out, *n, ACCOUNT_WIDTH);
}

static int put_nodes(FILE *out, const struct job_nodes *n)
{
	int err = 0;

	fputs("<section id=\"nodes\"><h2>Nodes</h2>\n", out);
	if (job_nodes_incomplete(n)) {
		fputs("<div class=\"warn\" id=\"incomplete\">\n", out);
		err = markup_pre(out, put_notes, &n);
		fputs("</div>\n", out);
	}
	if (n->nr_kinds > 1)
		fputs("<p>Nodes count different things, so their bytes are not added up.</p>\n",
		      out);
	for (size_t i = 0; i < n->nr_kinds && !err; i++)
		err = put_kind(out, n, i);
	fputs("</section>\n", out);
	return err;
}

static int put_page(FILE *out, void *arg)
{
	struct job_page *p = arg;
	cleanup_free char *data = NULL;
	size_t length = 0;
	int err = data_text(&p->points, &data, &length);

	if (err)
		return err;
	page_head(out, p->context->host);
	put_title(out, p->context, p->job);
	err = p->context->nodes ? put_nodes(out, p->context->nodes)
				: put_course(out, p->context, p->job, &p->points);
	if (err)
		return err;
	fputs("<section id=\"account\"><h2>Account</h2>\n", out);
	err = markup_pre(out, put_account, p);
	fputs("</section>\n</main>\n", out);
	page_tail(out, data, length);
	return err;
}

int job_page_write(FILE *out, const struct job_context *c, const struct account_job *j)
{
	struct job_page p = { .context = c, .job = j };
	int err = c->nodes ? 0 : make_points(c, &p.points);

	err = err ?: format_whole(out, put_page, &p);

	free(p.points.items);
	return err;
}
