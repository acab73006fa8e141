// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The page of metrics: the tables of "stat", or why there are none. */
#include "report/notes.h"
#include "report/stat/stat_report.h"
#include "report/top/draw_internal.h"

static int put_absence(const struct view *v, FILE *out, size_t width)
{
	if (v->source)
		return notes_line(
			out, width,
			"Recordings hold no metrics: they are made of other events, which "
			"are counted live only, by \"t410trace stat\" or on this page of "
			"\"t410trace top\" without a file.");
	if (v->metrics_problem[0] && v->follow)
		return notes_line(out, width, "%s", v->metrics_problem);
	if (v->measuring && v->follow)
		return notes_line(out, width,
				  "Measuring: the first metrics come at the end of this interval.");
	return notes_line(out, width,
			  "Not measured in this interval: metrics are counted only while this page "
			  "is open.");
}

int draw_metrics(const struct view *v, FILE *out, size_t width)
{
	const struct stat_report *r = metrics_past_find(&v->metrics, v->number);
	const struct table_options o = { .width = width };
	int err;

	fputs("# METRICS OF THE MACHINE, as \"t410trace stat\" has them\n", out);
	if (!r)
		return put_absence(v, out, width);
	err = notes_line(
		out, width,
		"While this page is open, these may take turns with events of rows (page 4).");
	return err ? err : stat_table_write(out, r, &o);
}
