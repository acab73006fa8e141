// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/program/windows.h"

#include <errno.h>

/* As with the kernel's counters: totals below earlier ones for this long have restarted. */
#define BACKWARD_NS (3 * NS_PER_S)

static void take_base(struct program_total *t, uint64_t time_ns, uint64_t value)
{
	*t = (struct program_total){ .known = true, .base_ns = time_ns, .base = value };
}

static int send(struct program_windows *w, size_t i)
{
	struct program_total *t = &w->totals[i];
	uint64_t time = t->next_ns - t->base_ns;
	const struct reading reading = { t->next - t->base, time, time };
	const struct trace_window window = { w->groups[i], t->base_ns, t->next_ns, &reading };
	int err;

	if (!t->next_ns)
		return 0;
	err = trace_send_window(w->out, &window);
	/* Refused: its bytes are in the next one. */
	if (err == -EINVAL) {
		w->bad++;
		t->next_ns = 0;
		return 0;
	}
	take_base(t, t->next_ns, t->next);
	return err;
}

/* Counts since the last window are unknown: they are in no window. */
static void begin_anew(struct program_windows *w, size_t i, uint64_t time_ns, uint64_t value)
{
	w->restarts++;
	w->uncounted_ns += time_ns - w->totals[i].base_ns;
	take_base(&w->totals[i], time_ns, value);
}

/*
 * The total went back. One line may be out of order, or the newest reading was too large: it is not
 * used then. If it lasts, the total has restarted.
 */
static int fallen(struct program_windows *w, size_t i, uint64_t time_ns, uint64_t value)
{
	struct program_total *t = &w->totals[i];
	int err;

	if (value >= t->base) {
		w->failed++;
		t->fallen_ns = 0;
		t->next_ns = time_ns;
		t->next = value;
		return 0;
	}
	if (!t->fallen_ns)
		t->fallen_ns = time_ns;
	if (time_ns - t->fallen_ns <= BACKWARD_NS) {
		w->failed++;
		return 0;
	}
	err = send(w, i);
	begin_anew(w, i, time_ns, value);
	return err;
}

static int take_value(struct program_windows *w, size_t i, uint64_t time_ns, uint64_t value)
{
	struct program_total *t = &w->totals[i];
	int err = 0;

	if (!t->known) {
		take_base(t, time_ns, value);
		return 0;
	}
	if (t->anew) {
		begin_anew(w, i, time_ns, value);
		return 0;
	}
	if (value < (t->next_ns ? t->next : t->base))
		return fallen(w, i, time_ns, value);
	t->fallen_ns = 0;
	if (t->next_ns && t->next_ns - t->base_ns >= w->window_ns / 2)
		err = send(w, i);
	t->next_ns = time_ns;
	t->next = value;
	return err;
}

static enum program_verdict judge(const struct program_windows *w, const struct program_reading *r,
				  uint64_t now_ns)
{
	if (r->time_ns > now_ns)
		return PROGRAM_FUTURE;
	if (r->time_ns < w->begin_ns)
		return PROGRAM_EARLY;
	if (r->time_ns < w->last_ns)
		return PROGRAM_BACKWARD;
	if (r->time_ns == w->last_ns)
		return PROGRAM_AGAIN;
	return now_ns - r->time_ns > PROGRAM_LATE_NS ? PROGRAM_LATE : PROGRAM_GOOD;
}

int program_windows_take(struct program_windows *w, const struct program_reading *r,
			 uint64_t now_ns, enum program_verdict *ret)
{
	int err = 0;

	*ret = judge(w, r, now_ns);
	if (*ret != PROGRAM_GOOD)
		return 0;
	w->last_ns = r->time_ns;
	for (size_t i = 0; i < w->nr && !err; i++) {
		uint64_t failed = w->failed;

		if (w->groups[i] == PROGRAM_NO_GROUP)
			continue;
		if (r->read[i])
			err = take_value(w, i, r->time_ns, r->values[i]);
		else
			w->failed++;
		if (w->failed == failed)
			w->good_ns[i] = now_ns;
	}
	return err;
}

int program_windows_flush(struct program_windows *w)
{
	int err = 0;

	for (size_t i = 0; i < w->nr && !err; i++)
		err = send(w, i);
	return err;
}

void program_windows_anew(struct program_windows *w)
{
	for (size_t i = 0; i < w->nr; i++)
		w->totals[i].anew = w->totals[i].known;
}
