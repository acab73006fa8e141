// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/program/users.h"

#include "base/times.h"

static enum program_verdict judge(uint64_t time_ns, uint64_t last_ns, uint64_t begin_ns,
				  uint64_t now_ns)
{
	if (time_ns > now_ns)
		return PROGRAM_FUTURE;
	if (time_ns < last_ns)
		return PROGRAM_BACKWARD;
	if (time_ns == last_ns)
		return PROGRAM_AGAIN;
	if (time_ns < begin_ns)
		return PROGRAM_EARLY;
	return now_ns - time_ns > PROGRAM_LATE_NS ? PROGRAM_LATE : PROGRAM_GOOD;
}

/* A look from before the run tells who had a context at its begin. */
static int take_contexts(struct program_looks *l, struct program_users *u,
			 struct program_windows *w, uint64_t now_ns, enum program_verdict *ret)
{
	struct trace_contexts *c = &u->contexts;
	bool before = l->known;
	uint64_t begin_ns = later(l->seen_ns, w->begin_ns);

	*ret = judge(c->end_ns, l->seen_ns, w->begin_ns, now_ns);
	if (*ret != PROGRAM_GOOD && *ret != PROGRAM_EARLY)
		return 0;
	l->known = u->known;
	l->seen_ns = c->end_ns;
	if (*ret == PROGRAM_EARLY || !u->known || l->device == PROGRAM_NO_DEVICE)
		return 0;
	c->device = l->device;
	c->start_ns = before ? begin_ns : c->end_ns;
	return trace_taken(trace_send_contexts(w->out, c), &w->bad);
}

/* Activity that began before the run, or was told in part, cannot be cut: it is left out. */
static int take_activity(struct program_looks *l, struct program_users *u,
			 struct program_windows *w, uint64_t now_ns, enum program_verdict *ret)
{
	struct trace_activity *a = &u->activity;

	*ret = judge(a->end_ns, l->busy_ns, w->begin_ns, now_ns);
	if (*ret == PROGRAM_GOOD && a->start_ns < w->begin_ns)
		*ret = PROGRAM_EARLY;
	else if (*ret == PROGRAM_GOOD && a->start_ns < l->busy_ns)
		*ret = PROGRAM_BACKWARD;
	if (*ret == PROGRAM_GOOD || *ret == PROGRAM_EARLY)
		l->busy_ns = a->end_ns;
	if (*ret != PROGRAM_GOOD || l->device == PROGRAM_NO_DEVICE)
		return 0;
	a->device = l->device;
	return trace_taken(trace_send_activity(w->out, a), &w->bad);
}

int program_users_take(struct program_looks *l, struct program_users *u, struct program_windows *w,
		       uint64_t now_ns, enum program_verdict *ret)
{
	return u->active ? take_activity(l, u, w, now_ns, ret)
			 : take_contexts(l, u, w, now_ns, ret);
}

void program_users_anew(struct program_looks *l, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		l[i].known = false;
}
