// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The setting "history": kept intervals of jobs, and for how long. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/units.h"
#include "cli/values.h"

#define AS_IN	    "as in 10s for 1h, 5m for 30d: intervals of 10 s for an hour, then of 5 minutes"
#define FOR	    " for "
/* Joining this many intervals of 1,000 jobs takes about as long as saving an interval. */
#define MAX_TIMES   60
/* Some MB for the machine, and 1 to 2 MB for each permanent job */
#define MAX_KEPT    20000
#define MAX_KEEP_NS (3660ull * 86400 * NS_PER_S)

static int not_a_history(struct diag *d, const char *part)
{
	diag_fail(d, -EINVAL, "\"%.40s\" is not TIME for TIME", part);
	return diag_advise(d, -EINVAL, AS_IN "; or none");
}

/* "10s for 1h" */
static int parse_step(char *part, struct history_config *h, struct diag *d)
{
	char *middle = strstr(part, FOR), *end = part + strlen(part);
	uint64_t step, keep;

	while (end > part && end[-1] == ' ')
		*--end = '\0';

	if (!middle)
		return not_a_history(d, part);
	for (end = middle; end > part && end[-1] == ' '; end--)
		;
	*end = '\0';
	middle += strlen(FOR);
	middle += strspn(middle, " ");
	if (parse_time(part, NULL, &step) || parse_time(middle, NULL, &keep)) {
		*end = ' ';
		return not_a_history(d, part);
	}
	if (h->nr == HISTORY_MAX_STEPS) {
		diag_fail(d, -EINVAL, "more than %d steps", HISTORY_MAX_STEPS);
		return diag_advise(d, -EINVAL, "leave one out");
	}
	h->steps[h->nr].step_ns = step;
	h->steps[h->nr++].keep_ns = keep;
	return 0;
}

static int check_step(const struct history_config *h, size_t i, struct diag *d)
{
	uint64_t step = h->steps[i].step_ns, keep = h->steps[i].keep_ns;
	char text[UNITS_TEXT_LEN], other[UNITS_TEXT_LEN];

	time_text(step, text);
	time_text(keep, other);
	if (step < NS_PER_S || keep > MAX_KEEP_NS || keep < step) {
		diag_fail(d, -EINVAL, "%s for %s cannot be", text, other);
		return diag_advise(d, -EINVAL,
				   "intervals have 1s at least, and are kept for at least one of "
				   "them and at most 3660d");
	}
	if (!i)
		return 0;
	time_text(h->steps[i - 1].step_ns, other);
	if (step <= h->steps[i - 1].step_ns || step % h->steps[i - 1].step_ns) {
		diag_fail(d, -EINVAL, "%s is not a multiple of %s, the step before", text, other);
		return diag_advise(d, -EINVAL, "steps go from fine to coarse, " AS_IN);
	}
	if (step / h->steps[i - 1].step_ns > MAX_TIMES) {
		diag_fail(d, -EINVAL, "%s is more than %d times %s, the step before", text,
			  MAX_TIMES, other);
		return diag_advise(d, -EINVAL, "give a step in between");
	}
	if (keep <= h->steps[i - 1].keep_ns) {
		diag_fail(d, -EINVAL, "%s are not kept for longer than the finer %s", text, other);
		return diag_advise(d, -EINVAL, "the coarser a step, the longer it is kept, " AS_IN);
	}
	return 0;
}

static int check_number(const struct history_config *h, struct diag *d)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < h->nr; i++)
		nr += h->steps[i].keep_ns / h->steps[i].step_ns;
	if (nr <= MAX_KEPT)
		return 0;
	diag_fail(d, -EINVAL, "these are %" PRIu64 " intervals, and there may be %d", nr, MAX_KEPT);
	return diag_advise(d, -EINVAL, "keep them for a shorter time, or make them longer, " AS_IN);
}

int value_history(const struct option_row *o, const char *text, void *field, struct diag *d)
{
	cleanup_free char *copy = strdup(text);
	struct history_config h = { 0 };
	char *rest = copy, *part;
	int err = copy ? 0 : diag_no_memory(d);

	(void)o;
	while (!err && strcmp(text, "none") != 0 && (part = strsep(&rest, ","))) {
		err = parse_step(part + strspn(part, " "), &h, d);
		if (!err)
			err = check_step(&h, h.nr - 1, d);
	}
	if (!err)
		err = check_number(&h, d);
	if (!err)
		*(struct history_config *)field = h;
	return err;
}
