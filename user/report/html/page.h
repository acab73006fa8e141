/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parts of the page, for the files of this directory. */
#ifndef REPORT_HTML_PAGE_H
#define REPORT_HTML_PAGE_H

#include <jansson.h>
#include <stdio.h>

#include "neighbourhood.h"
#include "report/html/history.h"
#include "report/rows.h"

/* Names of files and folders may be long, a page must not be. */
#define PAGE_NAME_COLUMNS 120

/**
 * struct page_row - a row that is shown
 * @node: its place in the tree
 * @depth: number of rows above it
 */
struct page_row {
	const struct row_node *node;
	int depth;
};

/**
 * struct page - data of all parts
 * @history: over time
 * @summary: of the run
 * @neighbours: NULL: not requested
 * @tree: rows of @summary
 * @rows, @nr: the rows shown, each behind its parent
 * @fewer: number of leaf rows shown if the requested ones did not fit; 0 = all of them
 */
struct page {
	struct history *history;
	const struct report *summary;
	const struct neighbours_report *neighbours;
	struct row_tree *tree;
	struct page_row *rows;
	size_t nr;
	size_t fewer;
};

/** page_name() - name of a row; 0 or -ENOMEM. The caller frees @ret */
int page_name(const struct report_row *row, char **ret);

/** page_cgroup() - the cgroup of a row, "" for an unknown one; as page_name() */
int page_cgroup(const struct report_row *row, char **ret);

/* Colours of lines of reads and writes: no workload has one of them (PALETTE of report.js). */
#define PAGE_READ   "#3b82f6"
#define PAGE_WRITE  "#e0457b"
#define PAGE_BOTH   "#8b5cf6"
#define PAGE_SOCKET "#6b7c8c"

/** page_integer() - a number for plots: approximate beyond INT64_MAX */
static inline json_t *page_integer(uint64_t value)
{
	return value > INT64_MAX ? json_real((double)value) : json_integer((json_int_t)value);
}

/** page_data() - data for the script's plots; 0 or -ENOMEM */
int page_data(const struct page *p, json_t **ret);

/** page_head() - the begin of a page, up to its body */
void page_head(FILE *out, const struct host_info *host);

/** page_tail() - its end: licences, data of plots as markup_json_text() writes it, and scripts */
void page_tail(FILE *out, const char *data, size_t length);

/** page_tiles() - the sums of the run and its verdict, before anything else */
void page_tiles(FILE *out, const struct page *p);

/* Sections in order; 0 or -ENOMEM, if anything. */
int page_workloads(FILE *out, const struct page *p);
int page_cgroups(FILE *out, const struct page *p);
void page_devices(FILE *out, const struct page *p);
int page_resctrl(FILE *out, const struct page *p);
void page_latencies(FILE *out, const struct page *p);
int page_neighbours(FILE *out, const struct page *p);
void page_sockets(FILE *out, const struct page *p);
void page_counters(FILE *out, const struct page *p);

#endif
