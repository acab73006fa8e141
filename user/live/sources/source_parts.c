// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Parts of the sockets' traffic, counted by PMUs other than those of the total: devices, other
 * sockets, links. They are read at the end of an interval, so they cost nothing in between unless
 * events take turns, which stays within the budget.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "live/sources/part_sums.h"
#include "live/sources/source.h"
#include "platform/meter/meter.h"
#include "trace/header.h"

struct parts {
	const struct source_context *c;
	struct part_plan plan;
	struct meter *meter; /* NULL: there are no parts */
	struct part_sums *sums;
	uint32_t first;	   /* in the header */
	uint64_t ended_ns; /* see source_must_read() */
};

static bool wanted(const struct run_options *args)
{
	return !args->no_counters && args->read_budget > 0;
}

static int note_refused(struct parts *l)
{
	for (size_t i = 0; i < l->plan.wants.nr; i++) {
		const struct traffic_part *p = &l->plan.parts[l->plan.part_of[i]];
		int why = meter_refused(l->meter, i);

		/* One for each part is enough. */
		for (size_t k = 0; k < i && why; k++)
			if (l->plan.part_of[k] == l->plan.part_of[i] && meter_refused(l->meter, k))
				why = 0;
		if (why && text_list_print(&l->plan.notes, "%s is not known: %s: %s", p->name,
					   l->plan.wants.wants[i].name, strerror(-why)))
			return -ENOMEM;
	}
	return 0;
}

/* The total does not need its parts: errors here are reported, and the run continues. */
static int open_meter(struct parts *l, struct diag *d)
{
	struct meter_options o = {
		.budget = l->c->args->read_budget,
		.turn_ns = SOURCE_TURN_NS,
		.interval_ns = l->c->args->interval_ns,
		.counted = l->c->counters->pmus,
		.nr_counted = l->c->counters->nr_pmus,
	};
	struct diag why = { 0 };
	int err = meter_open(&l->plan.wants, l->c->sysfs, &o, &why, &l->meter);

	if (err == -ENOMEM)
		return diag_no_memory(d);
	if (!err)
		return note_refused(l) ? diag_no_memory(d) : 0;
	l->meter = NULL;
	return text_list_print(&l->plan.notes, "parts of the traffic are not known: %s%s%s",
			       why.what, why.help[0] ? "; " : "", why.help)
		       ? diag_no_memory(d)
		       : 0;
}

static int open_all(void *s, struct source_context *c, struct diag *d)
{
	struct parts *l = s;
	int err;

	l->c = c;
	err = part_plan_make(c->pmus, &c->header->layout, d, &l->plan);
	if (!err && l->plan.wants.nr)
		err = open_meter(l, d);
	l->first = c->header->nr_parts;
	if (!err && l->meter && header_add_parts(c->header, l->plan.parts, l->plan.nr_parts))
		err = diag_no_memory(d);
	return err;
}

static void free_all(void *s)
{
	struct parts *l = s;

	part_sums_free(l->sums);
	meter_close(l->meter);
	part_plan_free(&l->plan);
}

static int attach(void *s, struct diag *d)
{
	struct parts *l = s;
	size_t nr = l->plan.wants.nr;
	cleanup_free uint32_t *pmus = calloc(nr + 1, sizeof(*pmus));
	cleanup_free bool *refused = calloc(nr + 1, sizeof(*refused));
	struct part_sums_options o = { .plan = &l->plan,
				       .pmus = pmus,
				       .refused = refused,
				       .first = l->first,
				       .out = *l->c->out };

	if (!l->meter)
		return 0;
	if (!pmus || !refused)
		return diag_no_memory(d);
	for (size_t i = 0; i < nr; i++) {
		pmus[i] = meter_pmu(l->meter, i);
		refused[i] = meter_refused(l->meter, i) != 0;
	}
	return part_sums_new(&o, &l->sums) ? diag_no_memory(d) : 0;
}

static int on_segment(void *arg, const struct stat_segment *segment)
{
	struct parts *l = arg;

	part_sums_segment(l->sums, segment);
	return 0;
}

static struct meter_sink sink_of(struct parts *l)
{
	return (struct meter_sink){ .segment = on_segment, .arg = l };
}

static int start(void *s, struct diag *d)
{
	struct parts *l = s;
	const struct meter_sink sink = sink_of(l);
	int err;

	if (!l->meter)
		return 0;
	/* Counts up to now are in no interval. */
	err = meter_read(l->meter, true, &sink, d);
	meter_turns_restart(l->meter);
	part_sums_begin(l->sums, monotonic_ns());
	return err;
}

static uint64_t next_ns(const void *s)
{
	const struct parts *l = s;

	return l->meter ? meter_next_ns(l->meter) : UINT64_MAX;
}

static int step(void *s, struct diag *d)
{
	struct parts *l = s;
	uint64_t now = monotonic_ns();
	const struct meter_sink sink = sink_of(l);

	return l->meter && now >= meter_next_ns(l->meter) ? meter_step(l->meter, now, &sink, d) : 0;
}

static int mark(void *s, enum mark_kind kind, struct diag *d)
{
	struct parts *l = s;
	const struct meter_sink sink = sink_of(l);
	int err;

	if (!l->meter || kind == MARK_INNER)
		return 0;
	err = meter_read(l->meter, source_must_read(kind, monotonic_ns(), &l->ended_ns), &sink, d);
	if (err)
		return err;
	err = part_sums_end(l->sums);
	/* An error of the trace, without text. */
	d->what[0] = '\0';
	return err;
}

static void quality(const void *s, struct quality *ret)
{
	const struct parts *l = s;

	if (l->sums)
		ret->bad_records += part_sums_bad(l->sums);
}

static const char *note(const void *s, size_t i)
{
	const struct parts *l = s;

	return i < l->plan.notes.nr ? l->plan.notes.items[i] : NULL;
}

static void describe(const void *s, size_t i, char *ret_text, size_t size)
{
	const struct parts *l = s;
	size_t turns;

	if (i || !l->meter)
		return;
	turns = meter_turning(l->meter);
	str_append(ret_text, size, "%zu part%s measured elsewhere, by %zu events", l->plan.nr_parts,
		   l->plan.nr_parts == 1 ? "" : "s", l->plan.wants.nr);
	if (turns)
		str_append(ret_text, size, "; turns of %g ms, or longer, on %zu PMU%s",
			   SOURCE_TURN_NS / 1e6, turns, turns == 1 ? "" : "s");
}

const struct live_source source_parts = {
	.order = SOURCE_BEFORE,
	.size = sizeof(struct parts),
	.wanted = wanted,
	.open = open_all,
	.attach = attach,
	.start = start,
	.next_ns = next_ns,
	.step = step,
	.mark = mark,
	.quality = quality,
	.describe = describe,
	.note = note,
	.free = free_all,
};
