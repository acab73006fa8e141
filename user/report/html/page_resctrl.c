// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table of the kernel's monitoring groups, beside the page's own numbers of workloads. */
#include <errno.h>
#include <inttypes.h>

#include "base/cleanup.h"
#include "report/format.h"
#include "report/html/markup.h"
#include "report/html/page.h"
#include "report/resctrl_report.h"

static void put_missing(FILE *out, uint32_t missing, uint32_t of)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu32 " of %" PRIu32, missing, of);
	markup_number(out, text, missing);
}

static int put_group(FILE *out, const struct page *p, const struct report_resctrl *f)
{
	const struct report *r = p->summary;
	const struct report_row *row = resctrl_groups_row(r, f);
	cleanup_free char *name = NULL;
	bool valid = f->state == RESCTRL_VALID;
	uint64_t own = 0;
	bool ours = row && resctrl_groups_own_bytes(r, row, &own);

	if (row && page_name(row, &name))
		return -ENOMEM;
	markup_cell(out, FORMAT_SAFE(f->group));
	if (row)
		markup_cell(out, name);
	else
		markup_none(out);
	fputs("<td>", out);
	if (row)
		resctrl_groups_put_match(out, f);
	fputs("</td>", out);
	markup_value(out, grid_if(valid, grid_rate(f->bytes, f->ns)));
	markup_value(out, grid_if(valid, grid_bytes(f->bytes)));
	markup_value(out, grid_if(ours, grid_rate(own, r->end_ns - r->start_ns)));
	markup_value(out, grid_if(ours, grid_bytes(own)));
	fprintf(out, "<td>%s</td>", valid ? "counted" : resctrl_groups_why_not(f->state));
	put_missing(out, f->without, f->intervals);
	put_missing(out, f->missing, f->domains);
	return 0;
}

int page_resctrl(FILE *out, const struct page *p)
{
	const struct report *r = p->summary;
	int err = 0;

	if (!r->nr_resctrl)
		return 0;
	fputs("<section id=\"resctrl\"><h2>The kernel's own count</h2>\n"
	      "<p>Monitoring groups (resctrl) that others have made: what caches asked of memory "
	      "for "
	      "their tasks, beside what this page says. Nothing here rests on it. Groups may "
	      "contain "
	      "others: they are not to be added up.</p>\n",
	      out);
	markup_table(out, "groups",
		     "Monitoring groups, and the workloads that they have the tasks of",
		     "Group|Workload|How that is known|#resctrl GB/s|#resctrl|#Here GB/s|#Here|"
		     "State|#Missing intervals|#Missing domains");
	for (size_t i = 0; i < r->nr_resctrl && !err; i++) {
		fputs("<tr>", out);
		err = put_group(out, p, &r->resctrl[i]);
		fputs("</tr>\n", out);
	}
	markup_table_end(out);
	fputs("</section>\n", out);
	return err;
}
