// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/html/html.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/format.h"
#include "report/html/assets.h"
#include "report/html/markup.h"
#include "report/html/page.h"
#include "report/notes.h"
#include "report/parts.h"
#include "report/peaks.h"

#define NOTE_WIDTH 100

struct html {
	struct history history;
};

struct html *html_new(void)
{
	return calloc(1, sizeof(struct html));
}

void html_free(struct html *h)
{
	if (!h)
		return;
	history_free(&h->history);
	free(h);
}

int html_interval(struct html *h, const struct report *r)
{
	return history_add(&h->history, r);
}

/* --- data of plots */

static int data_text(const struct page *p, char **ret, size_t *ret_length)
{
	json_t *data = NULL;
	int err = page_data(p, &data);

	return err ? err : markup_json_text(data, ret, ret_length);
}

/* Reduce the points until the data is short enough: the number of rows is bounded. */
static int fitting_data(const struct page *p, char **ret, size_t *ret_length)
{
	struct history *h = p->history;
	int err = data_text(p, ret, ret_length);

	while (!err && *ret_length > HTML_DATA_SIZE && h->nr > 2) {
		double part = 0.95 * HTML_DATA_SIZE / (double)*ret_length;
		size_t points = (size_t)((double)h->nr * part);

		free(take_ptr(*ret));
		err = history_thin(h, points > 2 ? points : 2, SIZE_MAX);
		if (!err)
			err = data_text(p, ret, ret_length);
	}
	return err;
}

/* --- sections */

void page_head(FILE *out, const struct host_info *host)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	      /* Nothing is ever loaded, whatever a browser or a name attempts. */
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "script-src 'unsafe-inline'; style-src 'unsafe-inline'\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>t410trace: ",
	      out);
	markup_text(out, FORMAT_SAFE(host->name));
	fputs("</title>\n<style>\n", out);
	asset_write(out, ASSET_PLOT_STYLE);
	asset_write(out, ASSET_STYLE);
	fputs("</style></head>\n<body>\n", out);
}

static void put_title(FILE *out, const struct page *p)
{
	const struct report *r = p->summary;
	char when[FORMAT_WHEN_LEN], seconds[FORMAT_NUMBER_LEN];

	format_when(r->start_time_ns, r->start_ns, when);
	format_seconds(r->end_ns - r->start_ns, seconds);
	fputs("<header><h1>Memory traffic of ", out);
	markup_text(out, FORMAT_SAFE(r->host->name));
	fprintf(out, "</h1>\n<p>%s, %s s, by %s, %zu socket%s, ", when, seconds,
		row_kind_name(r->by), p->tree->nr_sockets, p->tree->nr_sockets == 1 ? "" : "s");
	markup_text(out, FORMAT_SAFE(r->host->platform));
	fputs(", Linux ", out);
	markup_text(out, FORMAT_SAFE(r->host->kernel));
	fprintf(out, ", %s</p>\n", r->replayed ? "from a recording" : "live");
	if (p->history->nr < p->history->intervals)
		fprintf(out,
			"<p class=\"warn\" id=\"thinned\">Plots have %zu points for %" PRIu64
			" intervals: the older, the more of them are one point. Their bytes are "
			"added up, and so are the ends of their intervals. Tables are exact.</p>\n",
			p->history->nr, p->history->intervals);
	if (p->fewer)
		fprintf(out,
			"<p class=\"warn\" id=\"fewer\">The %zu largest rows are shown: with more "
			"there would be no room for plots. The others are added up.</p>\n",
			p->fewer);
	page_tiles(out, p);
	fputs("<noscript><p class=\"warn\">Plots need JavaScript. The tables have the "
	      "numbers.</p></noscript>\n<nav><a href=\"#bandwidth\">Bandwidth</a> "
	      "<a href=\"#rows\">Workloads</a> ",
	      out);
	if (r->by != ROW_CGROUP)
		fputs("<a href=\"#tree\">Cgroups</a> ", out);
	if (r->nr_devices)
		fputs("<a href=\"#device\">Devices</a> ", out);
	if (r->nr_resctrl)
		fputs("<a href=\"#resctrl\">Kernel's count</a> ", out);
	if (r->nr_probes)
		fputs("<a href=\"#latency\">Latencies</a> ", out);
	if (p->neighbours && p->neighbours->nr)
		fputs("<a href=\"#neighbours\">Neighbours</a> ", out);
	fprintf(out,
		"<a href=\"#cpu\">CPU</a> <a href=\"#quality\">Quality</a>%s</nav></header>\n"
		"<main>\n",
		r->nr_counters ? " <a href=\"#counters\">Counters</a>" : "");
}

static void put_bandwidth(FILE *out, const struct page *p)
{
	fputs("<section id=\"bandwidth\"><h2>Bandwidth over time</h2>\n", out);
	if (!p->summary->nr_counters)
		fputs("<p>Nothing was counted: there is CPU time alone.</p>\n", out);
	fputs("<p class=\"script\">Drag to zoom in, double-click to see all; all plots go along. "
	      "The address keeps the view.</p>\n",
	      out);
	for (size_t i = 0; i < p->history->nr_sockets; i++)
		fprintf(out, "<div id=\"plot-socket-%zu\" class=\"plot\"></div>\n", i);
	fputs("<div id=\"plot-ways\" class=\"plot\"></div>\n"
	      "<div id=\"plot-power\" class=\"plot\"></div>\n",
	      out);
	fputs("<div id=\"selected\" hidden><h3></h3>", out);
	for (size_t i = 0; i < p->history->nr_sockets; i++)
		fprintf(out, "<div id=\"plot-selected-%zu\" class=\"plot\"></div>\n", i);
	fputs("<div id=\"plot-selected-cpu\" class=\"plot\"></div>\n"
	      "<div id=\"detail\"></div></div>\n</section>\n",
	      out);
}

static int put_latency(FILE *out, const struct page *p)
{
	int err;

	if (!p->summary->nr_probes)
		return 0;
	fputs("<section id=\"latency\"><h2>Latencies</h2>\n", out);
	page_latencies(out, p);
	err = page_neighbours(out, p);
	fputs("</section>\n", out);
	return err;
}

/* Notes for people, as below the tables of a terminal. */
static int put_lines(FILE *out, void *arg)
{
	const struct report *r = arg;

	return parts_write(out, r, NOTE_WIDTH, true) ?: peaks_write(out, r, false, NOTE_WIDTH, false)
	       ?: notes_write(out, r, NOTE_WIDTH, false, true);
}

static int put_sections(FILE *out, const struct page *p)
{
	int err;

	put_bandwidth(out, p);
	fputs("<section id=\"rows\"><h2>Workloads</h2>\n", out);
	err = page_workloads(out, p);
	fputs("</section>\n", out);
	err = err ?: page_cgroups(out, p);
	page_devices(out, p);
	err = err ?: page_resctrl(out, p) ?: put_latency(out, p);
	fputs("<section id=\"cpu\"><h2>CPU</h2>\n<div id=\"plot-cpu\" class=\"plot\"></div>\n",
	      out);
	page_sockets(out, p);
	fputs("</section>\n<section id=\"quality\"><h2>Quality</h2>\n", out);
	err = err ?: markup_pre(out, put_lines, (void *)p->summary);
	page_counters(out, p);
	fputs("</section>\n</main>\n", out);
	return err;
}

static void put_licence(FILE *out)
{
	struct asset_text t = asset_text(ASSET_PLOT_LICENCE);
	cleanup_free char *text = strndup(t.begin, (size_t)(t.end - t.begin));

	fputs("<footer><details><summary>Made by t410trace; plots by dygraphs (MIT "
	      "licence)</summary>\n<pre>",
	      out);
	markup_text(out, text ? text : "");
	fputs("</pre></details></footer>\n", out);
}

void page_tail(FILE *out, const char *data, size_t length)
{
	put_licence(out);
	fputs("<script type=\"application/json\" id=\"data\">", out);
	fwrite(data, 1, length, out);
	fputs("</script>\n<script>\n", out);
	asset_write(out, ASSET_PLOT_SCRIPT);
	fputs("</script>\n<script>\n", out);
	asset_write(out, ASSET_SCRIPT);
	fputs("</script>\n</body></html>\n", out);
}

static int put_page(FILE *out, const struct page *p)
{
	cleanup_free char *data = NULL;
	size_t length = 0;
	int err = fitting_data(p, &data, &length);

	if (err)
		return err;
	page_head(out, p->summary->host);
	put_title(out, p);
	err = put_sections(out, p);
	page_tail(out, data, length);
	return err;
}

/* --- rows that are shown, each behind its parent */

static void list_rows(struct page *p)
{
	const struct row_node *root = &p->tree->root, *node = root->child;
	int depth = 0;

	while (node) {
		if (node->shown)
			p->rows[p->nr++] = (struct page_row){ node, depth };
		if (node->shown && node->child) {
			node = node->child;
			depth++;
			continue;
		}
		while (node != root && !node->next) {
			node = node->parent;
			depth--;
		}
		node = node == root ? NULL : node->next;
	}
}

static void drop_rows(struct page *p)
{
	free(p->rows);
	row_tree_free(p->tree);
	p->rows = NULL;
	p->tree = NULL;
	p->nr = 0;
}

static int choose_rows(struct page *p, size_t top)
{
	int err = row_tree_new(p->summary, top, false, &p->tree);

	if (err)
		return err;
	p->rows = calloc(p->summary->nr_rows + 1, sizeof(*p->rows));
	if (!p->rows)
		return -ENOMEM;
	list_rows(p);
	return 0;
}

/* The least size of the data: names and sums of rows, independent of points. */
static int least_data(const struct page *p, size_t *ret_length)
{
	struct history two = *p->history;
	struct page few = *p;
	cleanup_free char *text = NULL;

	two.nr = two.nr < 2 ? two.nr : 2;
	few.history = &two;
	return data_text(&few, &text, ret_length);
}

/* As many rows as leave half of the data for points */
static int fitting_rows(struct page *p, size_t top)
{
	size_t length = 0;
	int err = choose_rows(p, top);

	if (!err)
		err = least_data(p, &length);
	while (!err && length > HTML_DATA_SIZE / 2 && top > 1) {
		double part = 0.45 * HTML_DATA_SIZE / (double)length;

		top = top < p->nr ? top : p->nr;
		top = part * (double)top < 1 ? 1 : (size_t)(part * (double)top);
		p->fewer = top;
		drop_rows(p);
		err = choose_rows(p, top) ?: least_data(p, &length);
	}
	return err;
}

static int put_whole(FILE *out, void *arg)
{
	return put_page(out, arg);
}

int html_write(FILE *out, struct html *h, const struct report *summary,
	       const struct neighbours_report *neighbours, size_t top)
{
	struct page p = { .history = &h->history, .summary = summary, .neighbours = neighbours };
	int err = fitting_rows(&p, top ? top : HTML_TOP);

	if (!err)
		err = format_whole(out, put_whole, &p);
	drop_rows(&p);
	return err;
}
