// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Counters that BPF reads: memory traffic at each tick of a reader, and core events at each switch.
 * Both are watched, because they end when their CPU goes offline.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "live/lookup/live_readers.h"
#include "live/lookup/live_watch.h"
#include "live/sources/source.h"
#include "platform/core/weights.h"
#include "platform/pmu/fit.h"
#include "trace/header.h"

_Static_assert(LEDGER_MAX_WEIGHTS <= TRACE_MAX_WEIGHTS && WEIGHT_NAME_LEN <= TRACE_WEIGHT_NAME_LEN,
	       "the header has room for all weights");

struct memory {
	const struct source_context *c;
	struct counters counters;
	struct weights weights;
	struct live_watch watch;
	bool traffic;
	struct text_list doubts;
	char note[2 * sizeof(((struct diag *)NULL)->what)];
};

/* On any socket number: it is a NUMA node, which need not be 0 or 1. */
static bool count_memory(const struct pmu_list *pmus, unsigned int set)
{
	for (size_t i = 0; i < pmus->nr; i++)
		if (counter_rows_have(pmus->pmus[i].kind, set))
			return true;
	return false;
}

static int no_memory_counters(const struct source_context *c, struct diag *d)
{
	int err = no_pmu_diag(c->sysfs, d);

	if (c->args->devices.nr)
		str_append(d->help, sizeof(d->help),
			   " With --no-counters, -D tells who makes devices move data.");
	return err;
}

/*
 * No PMU counts memory traffic: there may be energy, or programs that count. Programs continue
 * without energy, whatever its error.
 */
static int find_others(struct memory *m, const struct source_context *c, unsigned int set,
		       struct diag *d)
{
	const struct run_options *a = c->args;
	bool energy = pmu_fit_energy(c->pmus) && !a->need_traffic;
	const char *absent = "no uncore PMU of this machine counts memory traffic: ";
	struct diag why = { 0 };
	int err;

	if (!energy && !a->sources.nr)
		return no_memory_counters(c, d);
	err = energy ? counters_open(&perf_kernel, c->pmus, set, &why, &m->counters) : 0;
	if (err == -ENOMEM || (err && !a->sources.nr)) {
		*d = why;
		return err;
	}
	if (!a->sources.nr)
		snprintf(m->note, sizeof(m->note), "%sonly energy is counted", absent);
	else if (m->counters.nr)
		snprintf(m->note, sizeof(m->note), "%sonly energy and programs (--source) count",
			 absent);
	else
		snprintf(m->note, sizeof(m->note), "%sonly programs (--source) count%s%s", absent,
			 err ? "; energy is not counted: " : "", err ? why.what : "");
	return 0;
}

static int check(void *s, struct source_context *c, struct diag *d)
{
	(void)s;
	return weights_check(c->sysfs, c->args->weights, d);
}

static int find(void *s, struct source_context *c, struct diag *d)
{
	unsigned int set = c->args->by_destination ? COUNTERS_DESTINATION : COUNTERS_SUMS;
	struct memory *m = s;

	m->c = c;
	c->counters = &m->counters;
	if (c->args->no_counters || c->args->esp)
		return 0;
	m->traffic = count_memory(c->pmus, set);
	if (!m->traffic)
		return find_others(m, c, set, d);
	if (pmu_fit_doubts(c->sysfs, c->pmus, &m->doubts))
		return diag_no_memory(d);
	return counters_open(&perf_kernel, c->pmus, set, d, &m->counters);
}

/*
 * "auto" uses no events if no window will be split by them: each switch would pay for it. Energy is
 * split by CPU time.
 */
static const char *wanted_weights(const struct memory *m, const struct run_options *a)
{
	bool useful = (m->traffic || a->sources.nr || a->esp) && method_row(a->method)->events;

	return useful || strcmp(a->weights, "auto") != 0 ? a->weights : "cpu-time";
}

static int open_all(void *s, struct source_context *c, struct diag *d)
{
	struct memory *m = s;
	const struct counters *k = &m->counters;
	struct trace_header *h = c->header;
	int err = header_add_counters(h, k->items, k->nr, k->groups, k->nr_groups);

	if (err)
		return diag_error(d, err, "cannot describe the counters");
	if (m->traffic)
		str_copy(h->host.platform, sizeof(h->host.platform),
			 pmu_platform_name(k->pmus[0].pmu->platform));
	err = weights_open(&perf_kernel, c->sysfs, wanted_weights(m, c->args), c->cpus->nr_cpus, d,
			   &m->weights);
	if (err)
		return err;
	for (uint32_t e = 0; e < m->weights.nr; e++)
		str_copy(h->weights[e], sizeof(h->weights[e]), m->weights.names[e]);
	h->nr_weights = m->weights.nr;
	c->ledger_options.nr_readers = k->max_readers;
	c->ledger_options.nr_events = k->nr_events;
	c->ledger_options.nr_weights = m->weights.nr;
	return 0;
}

static int start_reader(void *arg, const struct counter_reader *r, struct diag *d)
{
	const struct source_context *c = arg;

	return live_reader_start(r, c->ledger, c->args->window_ns, d);
}

/* From here on the ledger holds the core events itself. */
static int attach(void *s, struct diag *d)
{
	struct memory *m = s;
	const struct source_context *c = m->c;
	int err = 0;

	for (uint32_t e = 0; !err && e < m->weights.nr; e++)
		err = ledger_weights(c->ledger, e, m->weights.fds[e], d);
	weights_let_go(&m->weights);
	m->watch = (struct live_watch){ .counters = &m->counters,
					.weights = &m->weights,
					.ledger = c->ledger,
					.feed = c->feed,
					.sink = c->sink,
					.start = start_reader,
					.sysfs = c->sysfs,
					.cpus = c->cpus,
					.arg = (void *)c };
	if (!err && live_watch_new(&m->watch))
		err = diag_no_memory(d);
	return err;
}

static int start(void *s, struct diag *d)
{
	struct memory *m = s;

	return live_readers_start(&m->counters, m->c->ledger, m->c->args->window_ns, d);
}

static int step(void *s, struct diag *d)
{
	struct memory *m = s;

	return live_watch_step(&m->watch, d);
}

/* An inner mark uses the windows read so far. */
static int mark(void *s, enum mark_kind kind, struct diag *d)
{
	struct memory *m = s;

	(void)d;
	if (kind != MARK_INNER)
		live_readers_now(&m->counters, m->c->ledger);
	return 0;
}

static void quality(const void *s, struct quality *ret)
{
	const struct memory *m = s;

	ret->reader_moves = m->watch.reader_moves;
	ret->weights_reopened = m->watch.weights_reopened;
}

static void describe_counters(const struct counters *c, char *ret_text, size_t size)
{
	size_t pinned = 0;

	for (size_t i = 0; i < c->nr_pmus; i++)
		pinned += c->pmus[i].pinned;
	snprintf(ret_text, size, "%zu counters on %zu socket%s in %zu group%s%s", c->nr,
		 c->nr_sockets, c->nr_sockets == 1 ? "" : "s", c->nr_groups,
		 c->nr_groups == 1 ? "" : "s",
		 pinned == c->nr_pmus ? " (pinned)" : " (shared, may be multiplexed)");
}

static void describe_weights(const struct weights *w, char *ret_text, size_t size)
{
	str_copy(ret_text, size, "activity measured by ");
	if (w->nr == 2)
		str_append(ret_text, size, "%s (reads) and %s (writes)", w->names[0], w->names[1]);
	else
		str_append(ret_text, size, "%s", w->nr ? w->names[0] : "CPU time");
	if (w->note[0])
		str_append(ret_text, size, ": %s", w->note);
}

static void describe(const void *s, size_t i, char *ret_text, size_t size)
{
	const struct memory *m = s;

	if (i == 0)
		describe_counters(&m->counters, ret_text, size);
	if (i == 1)
		describe_weights(&m->weights, ret_text, size);
}

static const char *note(const void *s, size_t i)
{
	const struct memory *m = s;

	if (i < m->doubts.nr)
		return m->doubts.items[i];
	i -= m->doubts.nr;
	if (m->note[0] && !i)
		return m->note;
	return m->counters.no_energy[0] && !i ? m->counters.no_energy : NULL;
}

static bool news(void *s, char *ret_text, size_t size)
{
	struct memory *m = s;

	return live_watch_news(&m->watch, ret_text, size);
}

static bool trouble(const void *s, char *ret_text, size_t size)
{
	const struct memory *m = s;

	return live_watch_trouble(&m->watch, monotonic_ns(), ret_text, size);
}

static void free_all(void *s)
{
	struct memory *m = s;

	live_watch_release(&m->watch);
	counters_close(&m->counters);
	weights_close(&m->weights);
	text_list_free(&m->doubts);
}

const struct live_source source_memory = {
	.order = SOURCE_WITH,
	.size = sizeof(struct memory),
	.check = check,
	.find = find,
	.open = open_all,
	.attach = attach,
	.start = start,
	.step = step,
	.mark = mark,
	.quality = quality,
	.describe = describe,
	.note = note,
	.news = news,
	.trouble = trouble,
	.free = free_all,
};
