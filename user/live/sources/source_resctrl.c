// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Counts of the kernel's existing monitoring groups: beside the rows of reports, never in them.
 * Each reading interrupts CPUs, so there is only one, at the end of an interval.
 */
#include <stdio.h>

#include "live/lookup/live_resctrl.h"
#include "live/sources/source.h"

struct resctrl_source {
	const struct source_context *c;
	struct live_resctrl resctrl;
	bool there;
	uint64_t bad;
};

static bool wanted(const struct run_options *args)
{
	return args->resctrl && args->resctrl[0];
}

static int open_all(void *s, struct source_context *c, struct diag *d)
{
	struct resctrl_source *r = s;

	(void)d;
	r->c = c;
	r->there = resctrl_is_there(c->args->resctrl);
	c->header->resctrl = r->there;
	return 0;
}

static int start(void *s, struct diag *d)
{
	struct resctrl_source *r = s;

	r->resctrl = (struct live_resctrl){
		.root = r->c->args->resctrl,
		.proc = "/proc",
		.cgroups = r->c->cgroups->mount,
	};
	return r->there && live_resctrl_begin(&r->resctrl) ? diag_no_memory(d) : 0;
}

static int mark(void *s, enum mark_kind kind, struct diag *d)
{
	struct resctrl_source *r = s;

	(void)d;
	return r->there && kind != MARK_INNER ? live_resctrl_send(&r->resctrl, r->c->out, &r->bad)
					      : 0;
}

static void quality(const void *s, struct quality *ret)
{
	const struct resctrl_source *r = s;

	ret->bad_records += r->bad;
}

static void free_all(void *s)
{
	struct resctrl_source *r = s;

	live_resctrl_free(&r->resctrl);
}

/* Read after CPU time and windows, as close to the end of the interval as possible. */
const struct live_source source_resctrl = {
	.order = SOURCE_BEHIND,
	.size = sizeof(struct resctrl_source),
	.wanted = wanted,
	.open = open_all,
	.start = start,
	.mark = mark,
	.quality = quality,
	.free = free_all,
};
