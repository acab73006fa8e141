// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sums.h"
#include "base/text.h"
#include "report/devices.h"
#include "report/format.h"

#define MAX_REASONS 2

/* Reasons of one word; the rest is counted. */
struct reasons {
	enum verdict_word word;
	struct verdict *v;
	size_t nr;
};

const char *verdict_word_name(enum verdict_word w)
{
	static const char *const names[] = { "good", "fair", "poor" };

	return names[w];
}

/* A reason counts for its own word alone: reasons are walked through once for each word. */
static bool add(struct reasons *s, enum verdict_word word, const char *text)
{
	if (word != s->word)
		return false;
	if (s->v->word == VERDICT_GOOD) {
		s->v->word = word;
		str_copy(s->v->text, sizeof(s->v->text), verdict_word_name(word));
	}
	if (s->nr++ >= MAX_REASONS)
		return false;
	str_append(s->v->text, sizeof(s->v->text), "%s%s", s->nr == 1 ? ": " : ", ", text);
	return true;
}

static enum verdict_word fair_or_poor(bool poor)
{
	return poor ? VERDICT_POOR : VERDICT_FAIR;
}

static enum verdict_word judge_part(double part, double whole, double poor)
{
	return part > 0 ? fair_or_poor(part > poor * whole) : VERDICT_GOOD;
}

static void add_part(struct reasons *s, enum verdict_word word, uint64_t part, uint64_t whole,
		     const char *begins, const char *says)
{
	char percent[FORMAT_NUMBER_LEN], text[LOSS_TEXT_LEN];

	format_percent(part, whole, percent);
	snprintf(text, sizeof(text), "%s%s%s", begins, percent, says);
	add(s, word, text);
}

static void add_counters(struct reasons *s, const struct verdict_facts *f)
{
	char text[LOSS_TEXT_LEN];

	snprintf(text, sizeof(text), "no data of %" PRIu64 " counter%s", f->no_data,
		 f->no_data == 1 ? "" : "s");
	if (f->no_data)
		add(s, VERDICT_POOR, text);
	if (f->cpu_doubtful)
		add(s, VERDICT_POOR, "CPU time does not add up");
	if (f->counted < 1 - VERDICT_NEARLY)
		add_part(s, fair_or_poor(f->counted < VERDICT_COUNTED),
			 (uint64_t)(f->counted * 1e6), 1000000, "counted ", " of the time");
	/* Without intervals none is known to be small. */
	if (f->bytes && !method_row(f->quality->method)->learns)
		add(s, VERDICT_FAIR, "split by activity alone");
	if ((double)f->tangled_bytes > VERDICT_TANGLED * (double)f->bytes)
		add_part(s, fair_or_poor((double)f->tangled_bytes > (double)f->bytes / 2),
			 f->tangled_bytes, f->bytes, "", " tangled");
}

static enum verdict_word judge_loss(const struct verdict_facts *f, const struct loss *l,
				    uint64_t value)
{
	const double wholes[] = {
		[LOSS_OF_NOTHING] = INFINITY,
		[LOSS_OF_WINDOWS] = (double)f->quality->windows,
		[LOSS_OF_CPU_TIME] = (double)f->cpu_ns,
		[LOSS_OF_TIME] = (double)f->duration_ns,
	};

	if (l->whole <= LOSS_HARMLESS)
		return VERDICT_GOOD;
	return judge_part((double)value, wholes[l->whole], VERDICT_LOST);
}

static void add_losses(struct reasons *s, const struct verdict_facts *f)
{
	const struct quality *q = f->quality;
	char text[LOSS_TEXT_LEN];

	snprintf(text, sizeof(text), "%" PRIu64 " window%s by CPU time", q->fallback_windows,
		 q->fallback_windows == 1 ? "" : "s");
	if (q->fallback_windows &&
	    add(s, judge_part((double)q->fallback_windows, (double)q->windows, VERDICT_LOST), text))
		s->v->said |= VERDICT_SAID_FALLBACK;
	if (f->unplaced_ns)
		add_part(s, judge_part((double)f->unplaced_ns, (double)f->cpu_ns, VERDICT_LOST),
			 f->unplaced_ns, sum_capped(f->cpu_ns, f->unplaced_ns), "",
			 " of CPU time in no row");
	for (size_t i = 0; i < NR_LOSSES; i++) {
		uint64_t value = loss_value(q, &losses[i]);
		enum verdict_word word = judge_loss(f, &losses[i], value);

		if (word == VERDICT_GOOD)
			continue;
		loss_say(&losses[i], value, true, text);
		if (add(s, word, text))
			s->v->said |= 1ULL << i;
	}
}

struct verdict verdict_of(const struct verdict_facts *f)
{
	struct verdict v = { .word = VERDICT_GOOD, .text = "good" };
	struct reasons s = { .v = &v };

	for (s.word = VERDICT_POOR; s.word > VERDICT_GOOD; s.word--) {
		add_counters(&s, f);
		add_losses(&s, f);
	}
	if (s.nr > MAX_REASONS)
		str_append(v.text, sizeof(v.text), " and %zu more", s.nr - MAX_REASONS);
	return v;
}

static void add_rows(const struct report *r, struct verdict_facts *f)
{
	for (size_t i = 0; i < r->nr_rows; i++) {
		const struct report_row *row = &r->rows[i];

		for (size_t k = 0; row->leaf && k < row->nr_shares; k++) {
			const struct share *s = &row->shares[k];
			const struct counter *c = r->counters[s->counter].counter;

			if (c->unit != UNIT_BYTES || !devices_task_counter(c))
				continue;
			f->bytes = sum_capped(f->bytes, s->value);
			if (!s->separable)
				f->tangled_bytes = sum_capped(f->tangled_bytes, s->value);
		}
	}
}

/* Ends of sockets and of the run differ by a window; a shorter interval tells nothing. */
#define SLACK_NS 10000000ull

bool verdict_cpu_time(const struct report *r, char ret_text[MODEL_NOTE_LEN])
{
	uint64_t known = 0, idle = 0, cpus = 0, all;
	char have[FORMAT_NUMBER_LEN], want[FORMAT_NUMBER_LEN];
	double slack;

	for (size_t i = 0; i < r->nr_sockets; i++) {
		const struct report_socket *s = &r->sockets[i];

		cpus += s->nr_cpus;
		idle = sum_capped(idle, s->idle_ns);
		known = sum_capped(known, sum_capped(s->busy_ns, s->lost_ns));
	}
	/* Traces of other tools may have no idle time. */
	if (r->replayed && !idle)
		return false;
	known = sum_capped(known, idle);
	slack = (double)cpus * SLACK_NS;
	if (__builtin_mul_overflow(cpus, report_duration_ns(r), &all))
		all = UINT64_MAX;
	if ((double)known + slack >= (double)all / 2 && (double)known <= 2 * (double)all + slack)
		return false;
	format_seconds(known, have);
	format_seconds(all, want);
	snprintf(ret_text, MODEL_NOTE_LEN,
		 "CPU time does not add up: %s s are known of the %s s of %" PRIu64
		 " CPU%s; do not rely on CPU time and attributed bytes here",
		 have, want, cpus, cpus == 1 ? "" : "s");
	return true;
}

struct verdict report_verdict(const struct report *r)
{
	struct verdict_facts f = {
		.quality = &r->quality,
		.duration_ns = report_duration_ns(r),
		.counted = 1,
		.unplaced_ns = r->unplaced_ns,
	};
	char text[MODEL_NOTE_LEN];

	for (size_t i = 0; i < r->nr_sockets; i++)
		f.cpu_ns = sum_capped(f.cpu_ns,
				      sum_capped(r->sockets[i].busy_ns, r->sockets[i].lost_ns));
	for (size_t i = 0; i < r->nr_counters; i++) {
		const struct report_counter *c = &r->counters[i];
		double part = c->enabled_ns ? (double)c->running_ns / (double)c->enabled_ns : 1;

		if (c->counter->device)
			continue;
		f.no_data += !c->valid;
		if (c->valid && part < f.counted)
			f.counted = part;
	}
	f.cpu_doubtful = verdict_cpu_time(r, text);
	add_rows(r, &f);
	return verdict_of(&f);
}
