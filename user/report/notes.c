// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fnv.h"
#include "base/sums.h"
#include "report/format.h"
#include "report/losses.h"
#include "report/notes.h"

int notes_wrapped(FILE *out, const char *text, size_t width)
{
	static const size_t indent = 2;
	size_t column = 0;

	while (*text) {
		size_t len = strcspn(text, " ");
		cleanup_free char *word = strndup(text, len);
		cleanup_free char *cut = NULL;
		size_t columns;
		int err;

		if (!word)
			return -ENOMEM;
		err = format_cut(word, width - indent, FORMAT_CUT_LEFT, &cut);
		if (err)
			return err;
		columns = format_width(cut);
		if (column && column + 1 + columns > width) {
			fprintf(out, "\n%*s%s", (int)indent, "", cut);
			column = indent + columns;
		} else {
			fprintf(out, "%s%s", column ? " " : "", cut);
			column += columns + (column ? 1 : 0);
		}
		text += len;
		text += strspn(text, " ");
	}
	fputc('\n', out);
	return 0;
}

int notes_line(FILE *out, size_t width, const char *format, ...)
{
	cleanup_free char *text = NULL;
	va_list args;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0) {
		text = NULL;
		return -ENOMEM;
	}
	return notes_wrapped(out, text, width);
}

FILE *sentence_begin(struct sentence *s)
{
	*s = (struct sentence){ 0 };
	s->f = open_memstream(&s->text, &s->len);
	return s->f;
}

int sentence_end(struct sentence *s, FILE *out, size_t width, int err)
{
	if (fclose(s->f) && !err)
		err = -ENOMEM;
	if (!err && out && s->len)
		err = notes_wrapped(out, s->text, width);
	free(s->text);
	return err;
}

/* Counters without a value are listed: sums leave them out. */
static int put_missing(FILE *out, const struct report *r, size_t width)
{
	int err = 0;

	for (size_t i = 0; i < r->nr_counters && !err; i++) {
		const struct report_counter *c = &r->counters[i];

		/* Devices have notes of their own. */
		if (!c->valid && !c->counter->device)
			err = notes_line(out, width, "no data: %s: %s; sums are without it",
					 FORMAT_SAFE(c->counter->name),
					 c->enabled_ns && !c->running_ns ? "it never got to count"
									 : "it could not be read");
	}
	return err;
}

/* Names of the core events; the list has blanks at which lines can break. */
static void put_events(FILE *out, const struct quality *q)
{
	for (const char *c = FORMAT_SAFE(q->weights); *c; c++)
		fprintf(out, *c == ',' ? "%c " : "%c", *c);
}

/* Method and activity, the same in all intervals of most runs; can core events be weights? */
static bool put_method(FILE *out, const struct quality *q)
{
	const struct method_row *method = method_row(q->method);
	bool events = method->events && strcmp(q->weights, "cpu-time") != 0;

	fprintf(out, "split %s ", method->says);
	if (events)
		put_events(out, q);
	else
		fputs("CPU time", out);
	return events;
}

static void put_alike(FILE *out, const struct quality *q)
{
	if (!method_row(q->method)->learns)
		fputs("; right only if workloads that share a window are alike", out);
}

static void put_fallback(FILE *out, const struct quality *q)
{
	if (q->fallback_windows)
		fprintf(out,
			"split by CPU time in %" PRIu64 " of %" PRIu64
			" window%s: the core events did not count",
			q->fallback_windows, q->windows, q->windows == 1 ? "" : "s");
}

/* How windows were split, and what weighed the workloads. */
static void put_split(FILE *out, const struct quality *q)
{
	bool events = put_method(out, q);

	if (events && (q->weight_windows != q->windows || q->fallback_windows))
		fprintf(out, " (%" PRIu64 " of ", q->weight_windows);
	else
		fputs(" (", out);
	fprintf(out, "%" PRIu64 " window%s", q->windows, q->windows == 1 ? "" : "s");
	if (q->fallback_windows)
		fprintf(out, "; CPU time in %" PRIu64, q->fallback_windows);
	fputc(')', out);
	if (q->pooled_workloads)
		fprintf(out, "; %" PRIu64 " small workload%s estimated together",
			q->pooled_workloads, q->pooled_workloads == 1 ? "" : "s");
	put_alike(out, q);
}

/* The losses, but those already said, as one sentence; empty when there is nothing to say. */
static void put_quality(FILE *out, const struct quality *q, uint64_t said, bool quiet, bool partial)
{
	char text[LOSS_TEXT_LEN];
	bool any = false;
	size_t i;

	if (!quiet)
		fprintf(out, "quality: ");
	for (i = 0; i < NR_LOSSES; i++) {
		uint64_t value = loss_value(q, &losses[i]);

		if (!value || !losses[i].one || said >> i & 1)
			continue;
		loss_say(&losses[i], value, false, text);
		fprintf(out, "%s%s", any ? "; " : quiet ? "quality: " : "", text);
		any = true;
	}
	if (!any && !quiet)
		fprintf(out, "nothing %swas lost", partial ? "else " : "");
}

/* Every loss with its value, also zeros. */
static void put_all_losses(FILE *out, const struct quality *q)
{
	for (size_t i = 0; i < NR_LOSSES; i++)
		fprintf(out, "%s%s %" PRIu64, i ? ", " : "all losses: ", losses[i].name,
			loss_value(q, &losses[i]));
}

static void put_self(FILE *out, const struct self_cost *s, uint64_t duration_ns)
{
	char text[FORMAT_NUMBER_LEN];

	format_percent(s->cpu_ns, duration_ns, text);
	fprintf(out, "tracer: %s of one CPU, %" PRIu64 " context switches", text, s->switches);
	if (s->switches && s->timed)
		fprintf(out, ", %.0f ns each (%" PRIu64 " timed)",
			(double)s->switch_ns / (double)s->switches, s->timed);
	else if (s->switches)
		fprintf(out, ", none timed");
	if (s->probes)
		fprintf(out, ", %" PRIu64 " latency readings of %.1f us", s->probes,
			(double)s->probe_ns / (double)s->probes / 1e3);
	if (s->probe_deferred)
		fprintf(out, ", %" PRIu64 " put off", s->probe_deferred);
	if (s->probe_failed)
		fprintf(out, ", %" PRIu64 " failed", s->probe_failed);
}

static void put_per_window(FILE *f, const struct notes_basis *b)
{
	/* Rounded like the rest: 99.96 % is not all. */
	double percent = floor(1000 * quality_per_window(b->quality)) / 10;

	fprintf(f, "activity of tasks known for each window in %.1f%% of their CPU time", percent);
	if (b->tick)
		fprintf(f, " (tick: %s)", b->tick);
}

int notes_trust(FILE *out, const struct notes_basis *b, size_t width, bool quiet, bool verbose)
{
	int part, err = 0;

	for (part = 0; !err && part < (verbose ? 5 : 2); part++) {
		struct sentence s;
		FILE *f = sentence_begin(&s);

		if (!f)
			return -ENOMEM;
		if (part == 0 && b->counted && quiet)
			put_fallback(f, b->quality);
		else if (part == 0 && b->counted)
			put_split(f, b->quality);
		else if (part == 1)
			put_quality(f, b->quality, 0, quiet, b->partial);
		else if (part == 2 && b->quality->tasks_ns)
			put_per_window(f, b);
		else if (part == 3)
			put_all_losses(f, b->quality);
		else if (part == 4)
			put_self(f, b->self, b->duration_ns);
		err = sentence_end(&s, out, width, 0);
	}
	return err;
}

/* Facts about the whole run. */
static int put_note(FILE *out, const char note[MODEL_NOTE_LEN], size_t width)
{
	char text[4 * MODEL_NOTE_LEN + 1];

	return note[0] ? notes_wrapped(out, format_safe(text, note, MODEL_NOTE_LEN), width) : 0;
}

/* Windows in which memory was saturated; if @all, with the counters and their limits. */
static int put_limit(FILE *out, const struct report *r, size_t width, bool all)
{
	const char *between = ": ";
	struct sentence s;
	FILE *f = sentence_begin(&s);

	if (!f)
		return -ENOMEM;
	fprintf(f,
		"memory at its limit in %" PRIu64 " window%s, divided there by what was asked for",
		r->saturated_windows, r->saturated_windows == 1 ? "" : "s");
	for (size_t i = 0; i < r->nr_counters && all; i++) {
		const struct report_counter *c = &r->counters[i];
		char rate[FORMAT_NUMBER_LEN];

		if (!c->limit_per_s)
			continue;
		format_rate(c->limit_per_s, NS_PER_S, rate);
		fprintf(f, "%s%s %s GB/s", between, FORMAT_SAFE(c->counter->name), rate);
		between = ", ";
	}
	return sentence_end(&s, out, width, 0);
}

/* The main weights by which windows were split. */
static int put_models(FILE *out, const struct report *r, size_t width)
{
	return notes_line(out, width,
			  "windows of counters split by an intensity for each workload: %" PRIu64
			  " of %" PRIu64 "; in proportion to activity: %" PRIu64,
			  r->estimated_windows, r->estimated_windows + r->simple_windows,
			  r->simple_windows);
}

/* Counters of requests, some of unknown size. */
static int put_estimates(FILE *out, const struct report *r, size_t width)
{
	static const char *const says[NR_ESTIMATES] = {
		[ESTIMATE_UPPER] = "upper estimates, each request as a large one: ",
		[ESTIMATE_LOWER] = "lower estimates, without partial requests: ",
	};

	int err = 0;

	for (int e = ESTIMATE_NONE + 1; e < NR_ESTIMATES && !err; e++) {
		const char *between = says[e];
		struct sentence s;
		FILE *f = sentence_begin(&s);

		if (!f)
			return -ENOMEM;
		for (size_t i = 0; i < r->nr_counters; i++) {
			const struct counter *c = r->counters[i].counter;

			if (c->estimate != (enum estimate)e)
				continue;
			fprintf(f, "%s%s", between, FORMAT_SAFE(c->name));
			between = ", ";
		}
		err = sentence_end(&s, out, width, 0);
	}
	return err;
}

static int put_cpu_time(FILE *out, const struct report *r, size_t width)
{
	char text[MODEL_NOTE_LEN];

	return verdict_cpu_time(r, text) ? notes_wrapped(out, text, width) : 0;
}

static int put_unplaced(FILE *out, const struct report *r, size_t width)
{
	char seconds[FORMAT_NUMBER_LEN];

	format_seconds(r->unplaced_ns, seconds);
	return notes_line(out, width,
			  "%s s of CPU time were on CPUs of no known socket and are in no row; a "
			  "socket that appears during a run is not counted",
			  seconds);
}

struct notes_basis notes_basis_of(const struct report *r)
{
	struct notes_basis b = {
		.quality = &r->quality,
		.self = &r->self,
		.tick = r->host->tick,
		.duration_ns = report_duration_ns(r),
		.counted = r->nr_counters != 0,
	};

	for (size_t i = 0; i < r->nr_counters; i++)
		b.partial |= !r->counters[i].valid;
	return b;
}

/* Notes that losses and the method have no part in; @settled leaves out those of the whole run. */
static int put_facts(FILE *out, const struct report *r, size_t width, bool quiet, bool brief,
		     bool settled)
{
	int err = put_missing(out, r, width);

	if (!err)
		err = put_cpu_time(out, r, width);
	if (!err && !settled)
		err = put_note(out, r->host->io_note, width);
	if (!err && !settled)
		err = put_note(out, r->host->tick_note, width);
	if (!err && r->unplaced_ns)
		err = put_unplaced(out, r, width);
	if (!err && !settled)
		err = put_estimates(out, r, width);
	if (!err && !quiet && r->saturated_windows)
		err = put_limit(out, r, width, !brief);
	return err;
}

int notes_write(FILE *out, const struct report *r, size_t width, bool quiet, bool verbose)
{
	struct notes_basis b = notes_basis_of(r);
	int err = put_facts(out, r, width, quiet, false, false);

	if (!err && verbose && (r->estimated_windows || r->simple_windows))
		err = put_models(out, r, width);
	return err ? err : notes_trust(out, &b, width, quiet, verbose);
}

uint64_t notes_constant(const struct report *r)
{
	uint64_t hash = fnv_text(FNV_BASIS, method_name(r->quality.method));

	hash = fnv_text(hash, r->quality.weights);
	hash = fnv_text(hash, r->host->io_note);
	return fnv_text(hash, r->host->tick_note);
}

int notes_rest(FILE *out, const struct report *r, const struct notes_beside *beside, size_t width,
	       bool quiet)
{
	uint64_t said = beside->verdict->said;
	struct sentence s;
	int err = put_facts(out, r, width, quiet, true, beside->settled);
	FILE *f;

	for (size_t i = 0; i < NR_LOSSES; i++)
		if (losses[i].whole == LOSS_INTERNAL)
			said |= 1ULL << i;
	for (int part = 0; part < 3 && !err; part++) {
		f = sentence_begin(&s);
		if (!f)
			return -ENOMEM;
		if (part == 0 && r->nr_counters && !quiet && !beside->settled) {
			put_method(f, &r->quality);
			put_alike(f, &r->quality);
		}
		if (part == 1 && !(said & VERDICT_SAID_FALLBACK))
			put_fallback(f, &r->quality);
		if (part == 2)
			put_quality(f, &r->quality, said, true, false);
		err = sentence_end(&s, out, width, 0);
	}
	return err;
}
