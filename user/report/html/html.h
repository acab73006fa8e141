/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A run as one self-contained HTML file: tables, written here, and plots, drawn by its script from
 * its data.
 */
#ifndef REPORT_HTML_HTML_H
#define REPORT_HTML_HTML_H

#include <stdio.h>

#include "model.h"
#include "neighbourhood.h"

/* Rows in tables and plots unless the user gives a number; the rest is added up. */
#define HTML_TOP       250
/* Limit for the text of the plots' data: fewer rows, then fewer points keep it. */
#define HTML_DATA_SIZE 1500000

struct html;

/** html_new() - an empty page, to be freed with html_free(); NULL without memory */
struct html *html_new(void);
void html_free(struct html *h);

/** html_interval() - add an interval; 0 or -ENOMEM. Memory stays bounded */
int html_interval(struct html *h, const struct report *r);

/**
 * html_write() - write the page
 * @out: where to; flushed
 * @h: has all intervals; its plots are thinned if need be
 * @summary: of all of them
 * @neighbours: NULL: not requested
 * @top: rows to show, 0 for HTML_TOP; fewer if they leave no room for points
 *
 * Return: 0, -ENOMEM, -E2BIG (more than 64 sockets) with nothing written, or the negative errno of a
 * failed write.
 */
int html_write(FILE *out, struct html *h, const struct report *summary,
	       const struct neighbours_report *neighbours, size_t top);

#endif
