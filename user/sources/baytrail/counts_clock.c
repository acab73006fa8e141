// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sources/baytrail/counts_clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/times.h"
#include "trace/recording.h"

/* NTP may slew the time of day by this much; a larger difference means that it was set. */
#define SLEW_PER_NS 1000
#define SLACK_NS    2000000

#define NS	    1e9

static int on_event(void *arg, const struct trace_event *e)
{
	struct counts_clock *c = arg;

	if (e->type != TRACE_MARK || e->mark.inner)
		return 0;
	if (array_reserve(c->marks, c->cap, c->nr))
		return -ENOMEM;
	c->marks[c->nr++] = (struct clock_pair){ e->mark.time_ns, e->mark.realtime_ns };
	return 0;
}

int counts_clock_read(const char *path, struct diag *d, struct counts_clock *ret)
{
	const struct trace_sink sink = { on_event, ret };
	struct trace_end end;
	struct trace_file *f;
	int err;

	*ret = (struct counts_clock){ 0 };
	if (!strcmp(path, "-")) {
		diag_fail(d, -ESPIPE,
			  "--counts reads the recording twice, which a pipe does not "
			  "allow");
		return diag_advise(d, -ESPIPE, "give the recording as a file");
	}
	err = trace_file_open(path, d, &f);
	if (err)
		return err;
	err = trace_file_header(f)->marked ? trace_file_read(f, &sink, d, &end) : 0;
	trace_file_close(f);
	if (err)
		return d->what[0] ? err : diag_error(d, err, "cannot read the recording");
	if (ret->nr)
		return 0;
	diag_fail(d, -ENODATA, "%s: without marks, nothing tells what time of day it was", path);
	return diag_advise(d, -ENODATA, "record with \"t410trace record --no-counters\"");
}

void counts_clock_free(struct counts_clock *c)
{
	free(c->marks);
	*c = (struct counts_clock){ 0 };
}

/* The clocks must run alike between marks: if one was set, the moment is unknown. */
static int check_steps(const struct counts_clock *c, struct diag *d)
{
	for (size_t i = 1; i < c->nr; i++) {
		const struct clock_pair *a = &c->marks[i - 1], *b = &c->marks[i];
		int64_t time = (int64_t)(b->monotonic_ns - a->monotonic_ns);
		int64_t wall = (int64_t)(b->realtime_ns - a->realtime_ns);

		if (time >= 0 && wall >= 0 && llabs(wall - time) <= time / SLEW_PER_NS + SLACK_NS)
			continue;
		diag_fail(d, -ERANGE,
			  "counts have the time of day, and that was set by %.3f s during the "
			  "recording",
			  (double)(wall - time) / NS);
		return diag_advise(d, -ERANGE,
				   "record again, or have the tool print times of CLOCK_MONOTONIC");
	}
	return 0;
}

static bool overlap(uint64_t begin, uint64_t end, uint64_t from, uint64_t to)
{
	return begin < to && end > from;
}

int counts_clock_choose(struct counts_clock *c, uint64_t begin_ns, uint64_t end_ns, struct diag *d)
{
	const struct clock_pair *first = &c->marks[0], *last = &c->marks[c->nr - 1];

	c->wall = false;
	if (overlap(begin_ns, end_ns, first->monotonic_ns, last->monotonic_ns))
		return 0;
	c->wall = true;
	if (overlap(begin_ns, end_ns, first->realtime_ns, last->realtime_ns))
		return check_steps(c, d);
	diag_fail(
		d, -ERANGE,
		"counts and the recording are of different times: counts are from %.3f to %.3f, "
		"the recording from %.3f to %.3f (CLOCK_MONOTONIC), which is %.3f to %.3f s since "
		"1970",
		(double)begin_ns / NS, (double)end_ns / NS, (double)first->monotonic_ns / NS,
		(double)last->monotonic_ns / NS, (double)first->realtime_ns / NS,
		(double)last->realtime_ns / NS);
	return diag_advise(d, -ERANGE,
			   "record while the tool counts; if its times are of another clock, "
			   "--counts-offset SECONDS is added to them");
}

/* The last mark that is not later; the first one if all are. */
static size_t mark_before(const struct counts_clock *c, uint64_t realtime_ns)
{
	size_t low = 0, high = c->nr;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (c->marks[middle].realtime_ns <= realtime_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

uint64_t counts_clock_ns(const struct counts_clock *c, uint64_t ns)
{
	size_t i = c->wall ? mark_before(c, ns) : 0;
	const struct clock_pair *a = &c->marks[i], *b = i + 1 < c->nr ? a + 1 : a;

	if (!c->wall)
		return ns;
	/* Interpolated between two marks; outside of the recording as at its end. */
	if (ns < a->realtime_ns)
		return a->monotonic_ns - earlier(a->realtime_ns - ns, a->monotonic_ns);
	if (b->realtime_ns == a->realtime_ns)
		return a->monotonic_ns + ns - a->realtime_ns;
	return a->monotonic_ns + (uint64_t)((double)(ns - a->realtime_ns) *
					    (double)(b->monotonic_ns - a->monotonic_ns) /
					    (double)(b->realtime_ns - a->realtime_ns));
}
