// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/sources/device_windows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A PMU that cannot be read at the end of a run may have been read this long before. */
#define JUST_NOW_NS 500000000ull

/*
 * @pmu_of: by want, its PMU; @pmu_end: by PMU, end of its last segment
 * @end: by group, end of its last window; @held: by group
 * @stopped: by device
 * @at: by want, its reading in the segment, NULL otherwise
 * @readings: memory for a window
 */
struct device_windows {
	struct device_windows_options o;
	uint32_t *pmu_of;
	uint64_t *pmu_end;
	size_t nr_pmus;
	uint64_t *end;
	uint64_t *held;
	bool *stopped;
	const struct reading **at;
	struct reading *readings;
	bool begun;
	uint64_t bad;
};

int device_windows_new(const struct device_windows_options *o, struct device_windows **ret)
{
	const struct device_plan *p = o->plan;
	struct device_windows *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->o = *o;
	w->pmu_of = calloc(p->wants.nr + 1, sizeof(*w->pmu_of));
	w->pmu_end = calloc(p->wants.nr + 1, sizeof(*w->pmu_end));
	w->end = calloc(p->nr_groups + 1, sizeof(*w->end));
	w->held = calloc(p->nr_groups + 1, sizeof(*w->held));
	w->stopped = calloc(p->nr_devices + 1, sizeof(*w->stopped));
	w->at = calloc(p->wants.nr + 1, sizeof(*w->at));
	w->readings = calloc(p->nr_counters + 1, sizeof(*w->readings));
	if (!w->pmu_of || !w->pmu_end || !w->end || !w->held || !w->stopped || !w->at ||
	    !w->readings) {
		device_windows_free(w);
		return -ENOMEM;
	}
	for (size_t i = 0; i < p->wants.nr; i++) {
		w->pmu_of[i] = o->pmus[i];
		if (o->pmus[i] >= w->nr_pmus)
			w->nr_pmus = o->pmus[i] + 1;
	}
	*ret = w;
	return 0;
}

void device_windows_free(struct device_windows *w)
{
	if (!w)
		return;
	free(w->pmu_of);
	free(w->pmu_end);
	free(w->end);
	free(w->held);
	free(w->stopped);
	free(w->at);
	free(w->readings);
	free(w);
}

void device_windows_begin(struct device_windows *w, uint64_t now_ns)
{
	for (size_t g = 0; g < w->o.plan->nr_groups; g++)
		w->end[g] = now_ns;
	for (size_t i = 0; i < w->nr_pmus; i++)
		w->pmu_end[i] = now_ns;
	w->begun = true;
}

static const struct counter *first_counter(const struct device_windows *w, size_t g)
{
	return &w->o.plan->counters[w->o.plan->groups[g].first];
}

static uint32_t pmu_of_group(const struct device_windows *w, size_t g)
{
	return w->pmu_of[w->o.plan->counter_wants[w->o.plan->groups[g].first]];
}

static int send_window(struct device_windows *w, size_t g, uint64_t end)
{
	struct trace_window window = {
		.group = w->o.first_group + g,
		.start_ns = w->end[g],
		.end_ns = end,
		.readings = w->readings,
	};

	if (end <= w->end[g])
		return 0;
	w->end[g] = end;
	return trace_taken(trace_send_window(&w->o.out, &window), &w->bad);
}

/* A window in which nothing ran, up to @end. */
static int send_gap(struct device_windows *w, size_t g, uint64_t end)
{
	const struct device_group *group = &w->o.plan->groups[g];

	for (uint32_t i = 0; i < group->nr && end > w->end[g]; i++)
		w->readings[i] = (struct reading){ .enabled_ns = end - w->end[g] };
	return send_window(w, g, end);
}

/* Time that is missing is that of bytes: what is beside them is in the same time. */
static void note_held(struct device_windows *w, size_t g, const struct reading *r)
{
	if (first_counter(w, g)->unit == UNIT_BYTES && r->running_ns < r->enabled_ns)
		w->held[g] += r->enabled_ns - r->running_ns;
}

static int group_window(struct device_windows *w, size_t g, const struct stat_segment *s)
{
	const struct device_group *group = &w->o.plan->groups[g];
	const uint32_t *wants = w->o.plan->counter_wants + group->first;
	int err;

	if (!w->at[wants[0]])
		return 0;
	note_held(w, g, w->at[wants[0]]);
	if (w->stopped[first_counter(w, g)->device - 1])
		return 0; /* it is one long gap */
	err = send_gap(w, g, s->start_ns);
	for (uint32_t i = 0; i < group->nr; i++) {
		const struct reading *r = w->at[wants[i]];

		/* One that was refused never runs. */
		w->readings[i] = r ? *r : (struct reading){ .enabled_ns = s->end_ns - s->start_ns };
	}
	return err ? err : send_window(w, g, s->end_ns);
}

static int send_sample(struct device_windows *w, size_t probe, const struct stat_segment *s)
{
	const struct device_latency *l = &w->o.plan->latencies[probe];
	const struct reading *cycles = w->at[l->cycles];
	struct trace_sample sample = {
		.probe = w->o.first_probe + probe,
		.start_ns = s->start_ns,
		.end_ns = s->end_ns,
	};

	if (!cycles || !cycles->running_ns || w->stopped[w->o.plan->probes[probe].device - 1])
		return 0;
	sample.cycles = cycles->value;
	sample.enabled_ns = cycles->enabled_ns;
	sample.running_ns = cycles->running_ns;
	for (uint32_t i = 0; i < l->nr; i++) {
		const struct reading *outstanding = w->at[l->outstanding[i]];
		const struct reading *requests = w->at[l->requests[i]];

		/* Not its turn, or not all of it: cycles are in every turn. */
		if (!outstanding || !requests || outstanding->running_ns != requests->running_ns ||
		    !outstanding->running_ns)
			return 0;
		sample.outstanding += outstanding->value;
		sample.requests += requests->value;
		sample.enabled_ns = outstanding->enabled_ns;
		sample.running_ns = outstanding->running_ns;
	}
	/* Cycles of a base have run longer than those that waited in a turn, if only a little. */
	if (cycles->running_ns != sample.running_ns)
		sample.cycles =
			(unsigned __int128)cycles->value * sample.running_ns / cycles->running_ns;
	return trace_taken(trace_send_sample(&w->o.out, &sample), &w->bad);
}

int device_windows_segment(struct device_windows *w, const struct stat_segment *s)
{
	const struct device_plan *p = w->o.plan;
	int err = 0;

	if (!w->begun)
		return 0;
	for (size_t i = 0; i < s->nr; i++)
		w->at[s->counters[i]] = &s->readings[i];
	for (size_t g = 0; g < p->nr_groups && !err; g++)
		if (pmu_of_group(w, g) == s->pmu)
			err = group_window(w, g, s);
	for (size_t i = 0; i < p->nr_probes && !err; i++)
		if (w->pmu_of[p->latencies[i].cycles] == s->pmu)
			err = send_sample(w, i, s);
	for (size_t i = 0; i < s->nr; i++)
		w->at[s->counters[i]] = NULL;
	if (s->end_ns > w->pmu_end[s->pmu])
		w->pmu_end[s->pmu] = s->end_ns;
	return err;
}

int device_windows_fill(struct device_windows *w, uint64_t read_ns, uint64_t end_ns)
{
	int err = 0;

	for (size_t g = 0; g < w->o.plan->nr_groups && !err && w->begun; g++) {
		uint64_t read = w->pmu_end[pmu_of_group(w, g)];
		bool missing = read < read_ns && end_ns > read + JUST_NOW_NS;

		/* What was read at the end ends there: no time is missing that would be scaled. */
		err = send_gap(w, g, missing ? end_ns : read);
	}
	return err;
}

bool device_windows_stop(struct device_windows *w, size_t device)
{
	bool was = w->stopped[device];

	w->stopped[device] = true;
	return !was;
}

uint64_t device_windows_held(const struct device_windows *w, size_t group)
{
	uint64_t ns = 0;

	for (size_t g = 0; g < w->o.plan->nr_groups; g++)
		if (group == DEVICE_WINDOWS_ALL || group == g)
			ns += w->held[g];
	return ns;
}

uint64_t device_windows_bad(const struct device_windows *w)
{
	return w->bad;
}
