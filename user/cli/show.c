// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/show.h"

#include <string.h>

#include "cli/formats.h"
#include "report/devices.h"
#include "report/losses.h"
#include "report/notes.h"

int show_open(const struct run_options *args, struct diag *d, struct show *ret)
{
	*ret = (struct show){ .args = args };
	return output_open(args->output.file, OUTPUT_REPORT, d, &ret->out);
}

/* Was data lost that no later report can bring back? */
static bool lacks_data(const struct report *r)
{
	for (size_t i = 0; i < r->nr_counters; i++)
		if (!r->counters[i].valid && !r->counters[i].counter->device)
			return true;
	return losses_lasting(&r->quality);
}

/* A port as a whole is only a check, unless its devices have no numbers of their own. */
static void note_devices(struct show *s, const struct report *r)
{
	for (size_t i = 0; i < r->nr_counters; i++) {
		const struct report_counter *c = &r->counters[i];
		size_t device = c->counter->device;

		if (!device || device > r->nr_devices || device > TRACE_MAX_DEVICES)
			continue;
		if (devices_is_port(&r->devices[device - 1]) && !devices_is_shared(r, device - 1))
			continue;
		/* The report says why a link has no value. */
		if (devices_is_link(&r->devices[device - 1]))
			continue;
		if (c->valid)
			s->counted[device - 1] = true;
		else
			s->uncounted[device - 1] = true;
	}
}

struct table_options show_options(const struct show *s)
{
	return (struct table_options){
		.width = output_width(s->out.file),
		.height = s->args->all_rows ? 0 : output_height(s->out.file),
		.top = s->args->top,
		.most = s->args->all_rows || s->args->output.verbose || !output_is_pipe(s->out.file)
				? 0
				: TABLE_PIPE_ROWS,
		.quiet = s->args->output.quiet,
		.verbose = s->args->output.verbose,
		.by_destination = s->args->by_destination,
	};
}

int show_report(struct show *s, struct report *r, struct diag *d)
{
	const struct report_format *w = &report_formats[s->args->output.format];
	struct table_options o = show_options(s);
	uint64_t constant = notes_constant(r), duration_ns = report_duration_ns(r);

	o.settled = s->sequence && s->constant == constant;
	s->constant = constant;
	o.cut_short = !r->summary && duration_ns < s->longest_ns / 2;
	if (!r->summary && duration_ns > s->longest_ns)
		s->longest_ns = duration_ns;
	r->sequence = s->sequence++;
	return show_written(s, r, w->report(s->out.file, r, &o), d);
}

int show_written(struct show *s, const struct report *r, int err, struct diag *d)
{
	if (lacks_data(r))
		s->incomplete = true;
	note_devices(s, r);
	if (err)
		return output_failed(&s->out, err, d);
	return s->args->file ? 0 : output_show(&s->out, d);
}

/* With -D all, and gpu, a device that could not be counted is a part that nobody named. */
static bool named_devices(const struct run_options *a)
{
	for (size_t i = 0; i < a->devices.nr; i++)
		if (strcmp(a->devices.items[i], "all") != 0 &&
		    strcmp(a->devices.items[i], "gpu") != 0)
			return true;
	return a->file;
}

int show_close(struct show *s, int err, struct diag *d)
{
	for (size_t i = 0; i < TRACE_MAX_DEVICES; i++)
		if (s->uncounted[i] && !s->counted[i] && named_devices(s->args))
			s->incomplete = true;
	return output_close(&s->out, err, d);
}
