// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/page_file.h"

#include "report/html/html.h"

void page_file_ask(struct run_options *r)
{
	r->neighbours |= r->output.html != NULL;
}

int page_file_open(const struct run_options *args, struct diag *d, struct page_file *ret)
{
	*ret = (struct page_file){ .args = args };
	if (!args->output.html)
		return 0;
	ret->html = html_new();
	return ret->html ? output_open(args->output.html, OUTPUT_REPORT, d, &ret->out)
			 : diag_no_memory(d);
}

int page_file_add(struct page_file *p, const struct report *r, struct diag *d)
{
	return p->html && html_interval(p->html, r) ? diag_no_memory(d) : 0;
}

int page_file_write(struct page_file *p, const struct neighbours_report *r, struct diag *d)
{
	int err = html_write(p->out.file, p->html, r->summary, r, p->args->top);

	p->written = !err;
	return err ? output_failed(&p->out, err, d) : 0;
}

int page_file_close(struct page_file *p, int err, struct diag *d)
{
	html_free(p->html);
	p->html = NULL;
	if (p->written)
		return output_close(&p->out, err, d);
	output_close(&p->out, -ENODATA, NULL);
	return err;
}
