// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/identity/identity.h"
#include "engine/latency/neighbours.h"
#include "engine/latency/neighbours_internal.h"

#define MS     1000000ull
#define WINDOW (10 * MS)
#define SAMPLE (100 * MS)

static uint32_t socket_ids[] = { 0, 1 };
static struct counter counters[] = {
	{ .name = "rd", .source = SOURCE_CPU },
	{ .name = "wr", .source = SOURCE_CPU, .direction = DIRECTION_WRITE },
	{ .name = "dev", .source = SOURCE_DEVICE },
	{ .name = "rd1", .source = SOURCE_CPU, .group = 1 },
	{ .name = "ssd", .source = SOURCE_DEVICE, .group = 2, .device = 1 },
};
static struct group groups[] = { { 0, 0, 3 }, { 1, 3, 1 }, { 0, 4, 1 } };
static struct probe probes[] = {
	{ .name = "cmem0/rd", .destination = DESTINATION_CMEM, .by_tasks = true },
	{ .name = "in/rd" },
};
static const struct trace_header header = {
	.layout = { NULL, 0, socket_ids, 2, counters, 5, groups, 3 },
	.probes = probes,
	.nr_probes = 2,
};

/* Workload n is row n of process 100 + n; from 1000 on they are no rows. */
static int row(void *arg, uint32_t workload, uint32_t *ret)
{
	(void)arg;
	*ret = workload < 1000000 ? workload : SPLIT_NO_ROW;
	return 0;
}

static void key(void *arg, uint32_t row, char ret[MODEL_KEY_LEN])
{
	(void)arg;
	snprintf(ret, MODEL_KEY_LEN, "pid:%u:0", 100 + row);
}

struct world {
	struct links links;
	struct neighbours *n;
	struct split_sink in;
};

/* In place: the neighbours refer to its links. */
static void world_init(struct world *w)
{
	const struct neighbours_names names = { row, key, NULL };

	assert_int_equal(links_make(&header, &w->links), 0);
	assert_int_equal(neighbours_new(&header, &w->links, &names, &w->n), 0);
	w->in = neighbours_split(w->n);
}

static void world_free(struct world *w)
{
	neighbours_free(w->n);
	links_free(&w->links);
}

static void sampled(struct world *w, uint64_t start, uint64_t end, uint64_t latency)
{
	const struct trace_sample s = { .start_ns = start,
					.end_ns = end,
					.outstanding = 1000 * latency,
					.requests = 1000,
					.cycles = end - start,
					.enabled_ns = end - start,
					.running_ns = end - start };

	assert_int_equal(neighbours_sample(w->n, &s), 0);
}

/* A window of socket 0 that counted @part of the time. */
static struct trace_window window_at(uint64_t start, uint64_t end, double part,
				     struct reading readings[3])
{
	for (int i = 0; i < 3; i++)
		readings[i] = (struct reading){ 0, end - start, part * (end - start) };
	return (struct trace_window){ 0, start, end, readings };
}

static void moved(struct world *w, const struct trace_window *window, uint32_t counter,
		  uint32_t workload, uint64_t bytes)
{
	const struct portion p = { workload, bytes };
	bool device = counter == 2;

	assert_int_equal(
		w->in.bytes(w->in.arg, counter, window, bytes, device ? NULL : &p, !device), 0);
}

/* Bursts of workload 3 in every fourth half second, and somebody steady. */
static void burst_window(struct world *w, uint64_t start)
{
	struct reading r[3];
	struct trace_window window = window_at(start, start + WINDOW, 1, r);

	assert_int_equal(w->in.window(w->in.arg, &window), 0);
	if (start / (500 * MS) % 4 == 3)
		moved(w, &window, 0, 3, 300000000);
	moved(w, &window, 0, 2, 50000000);
	moved(w, &window, 1, 2, 10000000);
	moved(w, &window, 2, 0, 20000000);
	/* The socket's counter has what a device's own counter has. */
	window.group = 2;
	assert_int_equal(w->in.window(w->in.arg, &window), 0);
	moved(w, &window, 4, 2, 90000000);
}

static uint64_t burst_latency(uint64_t start)
{
	return start / (500 * MS) % 4 == 3 ? 700 : 300;
}

/* Rows of the processes 100 to 105, and the pool with @pool. */
static struct neighbours_report *judge(struct world *w, bool pool)
{
	struct report *summary = calloc(1, sizeof(*summary));
	struct neighbours_report *r;

	assert_non_null(summary);
	summary->nr_rows = 6 + pool;
	summary->rows = calloc(summary->nr_rows, sizeof(*summary->rows));
	assert_non_null(summary->rows);
	for (size_t i = 0; i < summary->nr_rows; i++) {
		struct report_row *row = &summary->rows[i];

		row->leaf = true;
		row->pid = i < 6 ? 100 + i : 0;
		snprintf(row->key, sizeof(row->key), "pid:%u:0", row->pid);
	}
	assert_int_equal(neighbours_report(w->n, 0.2, summary, &r), 0);
	assert_int_equal(r->nr, 1);
	assert_ptr_equal(r->probes[0].probe, &probes[0]);
	return r;
}

static const struct neighbour *of_pid(const struct neighbourhood *h, uint32_t pid)
{
	for (size_t i = 0; i < h->nr; i++)
		if (h->rows[i].row && h->rows[i].row->pid == pid)
			return &h->rows[i];
	return NULL;
}

static const struct neighbour *of_reason(const struct neighbourhood *h, enum reason reason)
{
	for (size_t i = 0; i < h->nr; i++)
		if (!h->rows[i].row && h->rows[i].reason == reason)
			return &h->rows[i];
	return NULL;
}

static void near(double value, double want)
{
	if (fabs(value - want) > 1e-6 * fabs(want) + 1e-3)
		fail_msg("%g, not %g", value, want);
}

static void check_burst(const struct neighbourhood *h)
{
	const struct neighbour *burst = of_pid(h, 103), *steady = of_pid(h, 102);
	const struct neighbour *devices = of_reason(h, REASON_DEVICE);

	assert_true(h->enough);
	near(h->baseline_ns, 300);
	near(h->limit_ns, 360);
	assert_int_equal(h->nr, 3);
	assert_ptr_equal(&h->rows[0], burst);
	near(burst->calm, 0);
	near(burst->risen, 30e9);
	near(burst->increase, 30e9);
	near(burst->share, 30.0 / 38);
	near(burst->observed_calm, 0);
	near(burst->observed_risen, 700);
	assert_int_equal(burst->role, NEIGHBOUR_ROSE);
	near(steady->calm, 6e9);
	near(steady->risen, 6e9);
	near(steady->observed_calm, 300);
	near(steady->observed_risen, 700);
	assert_int_equal(steady->role, NEIGHBOUR_VICTIM);
	near(devices->risen, 2e9);
	near(devices->observed_risen, 0);
	assert_int_equal(devices->role, NEIGHBOUR_NONE);
	near(h->calm, 8e9);
	near(h->risen, 38e9);
}

/* Samples before, behind and between the windows of their time. */
static void a_burst(void **state)
{
	(void)state;
	for (int order = 0; order < 3; order++) {
		struct world w;
		struct neighbours_report *r;

		world_init(&w);
		for (uint64_t t = 0; t < 12000 * MS; t += SAMPLE) {
			if (order == 0)
				sampled(&w, t, t + SAMPLE, burst_latency(t));
			for (uint64_t at = t; at < t + SAMPLE; at += WINDOW)
				burst_window(&w, at);
			if (order == 1)
				sampled(&w, t, t + SAMPLE, burst_latency(t));
			if (t % (1000 * MS) == 900 * MS) {
				for (uint64_t s = t - 900 * MS; order == 2 && s <= t; s += SAMPLE)
					sampled(&w, s, s + SAMPLE, burst_latency(s));
				neighbours_close(w.n);
			}
		}
		r = judge(&w, false);
		assert_int_equal(r->probes[0].samples, 120);
		assert_int_equal(r->probes[0].risen_samples, 30);
		assert_int_equal(r->probes[0].calm_samples, 90);
		assert_int_equal(r->probes[0].episodes, 6);
		assert_int_equal(r->probes[0].risen_ns, 3000 * MS);
		check_burst(&r->probes[0]);
		neighbours_report_free(r);
		world_free(&w);
	}
}

/* A window across two samples is divided by time; one between samples is nobody's. */
static void windows_across_samples(void **state)
{
	struct world w;
	struct neighbours_report *r;

	(void)state;
	world_init(&w);
	for (uint64_t t = 0; t < 4000 * MS; t += SAMPLE) {
		struct reading readings[3];
		struct trace_window window =
			window_at(t + SAMPLE / 2, t + SAMPLE * 3 / 2, 1, readings);

		assert_int_equal(w.in.window(w.in.arg, &window), 0);
		moved(&w, &window, 0, 2, 1000000);
	}
	/* The second half of each 200 ms has no sample. */
	for (uint64_t t = 0; t < 4000 * MS; t += 2 * SAMPLE)
		sampled(&w, t, t + SAMPLE, t / (2 * SAMPLE) % 2 ? 700 : 300);
	r = judge(&w, false);
	assert_int_equal(r->probes[0].samples, 20);
	assert_int_equal(r->probes[0].risen_samples, 10);
	near(of_pid(&r->probes[0], 102)->risen, 1e7);
	near(of_pid(&r->probes[0], 102)->calm, 1e7);
	neighbours_report_free(r);
	world_free(&w);
}

static void too_few_say_nothing(void **state)
{
	struct neighbourhood h;
	struct world w;
	struct neighbours_report *r;

	(void)state;
	world_init(&w);
	for (uint64_t t = 0; t < 3000 * MS; t += SAMPLE) {
		for (uint64_t at = t; at < t + SAMPLE; at += WINDOW)
			burst_window(&w, at);
		sampled(&w, t, t + SAMPLE, t < 900 * MS ? 700 : 300);
		/* counted as it goes, by what was calm so far */
		assert_int_equal(neighbours_progress(w.n, 0.2, &h), 0);
		assert_int_equal(h.samples, t / SAMPLE + 1);
	}
	assert_int_equal(h.risen_samples, 9);
	assert_int_equal(h.calm_samples, 21);
	assert_ptr_equal(h.probe, &probes[0]);
	r = judge(&w, false);
	assert_int_equal(r->probes[0].risen_samples, 9);
	assert_false(r->probes[0].enough);
	assert_int_equal(r->probes[0].nr, 0);
	neighbours_report_free(r);
	world_free(&w);
	/* Nor does nothing at all. */
	world_init(&w);
	r = judge(&w, false);
	assert_int_equal(r->probes[0].samples, 0);
	assert_false(r->probes[0].enough);
	neighbours_report_free(r);
	world_free(&w);
}

/* Without requests, or without windows that tell who moved what. */
static void unusable_samples(void **state)
{
	struct world w;
	struct trace_sample s = { .outstanding = 1, .requests = 99, .cycles = 1 };
	struct neighbours_report *r;

	(void)state;
	world_init(&w);
	for (uint64_t t = 0; t < 6000 * MS; t += SAMPLE) {
		for (uint64_t at = t; t < 2000 * MS && at < t + SAMPLE; at += WINDOW)
			burst_window(&w, at);
		if (t >= 1000 * MS && t < 2000 * MS) {
			s.start_ns = t;
			s.end_ns = t + SAMPLE;
			s.enabled_ns = s.running_ns = SAMPLE;
			assert_int_equal(neighbours_sample(w.n, &s), 0);
		} else {
			sampled(&w, t, t + SAMPLE, 300);
		}
	}
	r = judge(&w, false);
	assert_int_equal(r->probes[0].samples, 10);
	assert_int_equal(r->probes[0].unusable, 50);
	assert_int_equal(r->probes[0].few, 10);
	neighbours_report_free(r);
	world_free(&w);
}

/* Moves more in two of three high episodes, and by chance: many samples, but few episodes. */
static void chance_is_not_blamed(void **state)
{
	struct world w;
	struct neighbours_report *r;
	const struct neighbour *n;

	(void)state;
	world_init(&w);
	for (uint64_t i = 0; i < 300; i++) {
		uint64_t t = i * SAMPLE;
		struct reading readings[3];
		struct trace_window window = window_at(t, t + SAMPLE, 1, readings);
		bool high = i / 10 == 10 || i / 10 == 13 || i / 10 == 20;

		assert_int_equal(w.in.window(w.in.arg, &window), 0);
		/* In runs of ten samples, one of three; of the high ones, the first two. */
		moved(&w, &window, 0, 4, i / 10 % 3 == 1 ? 900000000 : 100000000);
		moved(&w, &window, 0, 3, high ? 900000000 : 100000000);
		sampled(&w, t, t + SAMPLE, high ? 700 : 300);
	}
	r = judge(&w, false);
	n = of_pid(&r->probes[0], 104);
	assert_int_equal(r->probes[0].episodes, 3);
	assert_true(n->increase > 1e9);
	assert_true(n->error > n->increase);
	assert_int_equal(n->role, NEIGHBOUR_VICTIM);
	assert_int_equal(of_pid(&r->probes[0], 103)->role, NEIGHBOUR_ROSE);
	neighbours_report_free(r);
	world_free(&w);
}

/* Counters that took turns are scaled; bytes of nobody have their reason. */
static void scaled_and_unattributed(void **state)
{
	struct world w;
	struct neighbours_report *r;
	const struct neighbourhood *h;

	(void)state;
	world_init(&w);
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t t = i * SAMPLE;
		struct reading readings[3];
		struct trace_window window = window_at(t, t + SAMPLE, i & 1 ? 0.25 : 0.5, readings);

		assert_int_equal(w.in.window(w.in.arg, &window), 0);
		moved(&w, &window, 0, 2, 1000000);
		moved(&w, &window, 0, 2000000, 2000000);
		moved(&w, &window, 0, WORKLOAD_LOST, 3000000);
		moved(&w, &window, 0, WORKLOAD_BACKGROUND, 4000000);
		sampled(&w, t, t + SAMPLE, i & 1 ? 700 : 300);
	}
	r = judge(&w, false);
	h = &r->probes[0];
	near(of_pid(h, 102)->calm, 2e7);
	near(of_pid(h, 102)->risen, 4e7);
	near(of_reason(h, REASON_OTHER)->risen, 8e7);
	near(of_reason(h, REASON_LOST)->risen, 12e7);
	near(of_reason(h, REASON_BACKGROUND)->calm, 8e7);
	assert_int_equal(of_reason(h, REASON_OTHER)->role, NEIGHBOUR_ROSE);
	neighbours_report_free(r);
	world_free(&w);
}

/* Many samples become fewer, many rows a pool; sums and means stay. */
static void memory_is_bounded(void **state)
{
	struct world w;
	struct neighbours_report *r;
	const struct neighbourhood *h;
	const struct vicinity *v;

	(void)state;
	world_init(&w);
	v = w.n->vicinities;
	for (uint64_t i = 0; i < 3 * NEIGHBOURS_MAX_SLOTS; i++) {
		uint64_t t = i * SAMPLE;
		struct reading readings[3];
		struct trace_window window = window_at(t, t + SAMPLE, 1, readings);

		assert_int_equal(w.in.window(w.in.arg, &window), 0);
		moved(&w, &window, 0, 2, 10000000);
		for (uint32_t k = 0; k < 10; k++)
			moved(&w, &window, 0, 50 + (i * 10 + k) % 20000, 1000);
		if (i / 1000 % 2)
			moved(&w, &window, 0, 3, 90000000);
		sampled(&w, t, t + SAMPLE, i / 1000 % 2 ? 700 : 300);
		assert_true(v->nr <= NEIGHBOURS_MAX_SLOTS);
		assert_true(v->nr_entries <= NEIGHBOURS_MAX_ENTRIES + 100);
		assert_int_equal(v->nr_spans, 0);
	}
	assert_true(v->per_slot >= 4);
	r = judge(&w, true);
	h = &r->probes[0];
	assert_int_equal(h->merged, v->per_slot);
	assert_true(h->samples > NEIGHBOURS_MAX_SLOTS / 2);
	near(h->calm_ns + h->risen_ns, 3.0 * NEIGHBOURS_MAX_SLOTS * SAMPLE);
	near(of_pid(h, 102)->calm, 1e8);
	near(of_pid(h, 102)->risen, 1e8);
	near(of_pid(h, 0)->calm, 1e5);
	assert_int_equal(of_pid(h, 103)->role, NEIGHBOUR_ROSE);
	neighbours_report_free(r);
	world_free(&w);
}

/* Of a probe that is not read any more, what waits is dropped in the end. */
static void nothing_waits_for_ever(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	/* as if there were many probes */
	w.n->max_waiting = 65536;
	for (uint64_t i = 0; i < 200000; i++) {
		struct reading readings[3];
		struct trace_window window = window_at(i * WINDOW, (i + 1) * WINDOW, 1, readings);

		assert_int_equal(w.in.window(w.in.arg, &window), 0);
		moved(&w, &window, 0, 2, 1000);
		assert_true(w.n->vicinities[0].nr_waiting <= 65536);
		assert_true(w.n->vicinities[0].nr_spans <= 65536);
	}
	sampled(&w, 200000 * WINDOW - SAMPLE, 200000 * WINDOW, 300);
	assert_int_equal(w.n->vicinities[0].nr_spans, 0);
	assert_int_equal(w.n->vicinities[0].nr_waiting, 0);
	assert_int_equal(w.n->vicinities[0].slots[0].covered_ns, SAMPLE);
	world_free(&w);
}

static void a_probe_without_links_is_ignored(void **state)
{
	const struct trace_sample s = { .probe = 1, .start_ns = 0, .end_ns = SAMPLE };
	struct world w;

	(void)state;
	world_init(&w);
	assert_int_equal(neighbours_sample(w.n, &s), 0);
	assert_int_equal(w.n->vicinities[0].nr, 0);
	world_free(&w);
	neighbours_free(NULL);
	neighbours_report_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_burst),
		cmocka_unit_test(windows_across_samples),
		cmocka_unit_test(too_few_say_nothing),
		cmocka_unit_test(unusable_samples),
		cmocka_unit_test(chance_is_not_blamed),
		cmocka_unit_test(scaled_and_unattributed),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(nothing_waits_for_ever),
		cmocka_unit_test(a_probe_without_links_is_ignored),
	};

	return cmocka_run_group_tests_name("neighbours", tests, NULL, NULL);
}
