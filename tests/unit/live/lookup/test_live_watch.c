// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Counters and core events that stop counting, with a faked kernel, ledger and clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/clock.h"
#include "fake_perf.h"
#include "live/lookup/live_watch.h"
#include "tree.h"

#define NR_CPUS 4

static uint32_t cpu_socket[NR_CPUS] = { 0, 0, 1, 1 };
static struct tree tree;
static struct sysfs fs;
static struct pmu_list pmus;
static uint64_t now_ns;

/* --- the ledger */

static struct {
	uint32_t stops, drains, starts, drops, puts;
	bool still[NR_CPUS];
	int start_fails_with, drop_fails_with;
} ledger;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);
void __wrap_ledger_reader_stop(struct ledger *l, uint32_t socket);
int __wrap_ledger_drain(struct ledger *l, const struct ledger_sink *sink);
bool __wrap_ledger_weights_stand_still(struct ledger *l, uint32_t cpu);
int __wrap_ledger_weights_drop(struct ledger *l, uint32_t cpu);
int __wrap_ledger_weights_put(struct ledger *l, uint32_t event, uint32_t cpu, int fd);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	(void)clock;
	*ret = (struct timespec){ now_ns / NS_PER_S, now_ns % NS_PER_S };
	return 0;
}

void __wrap_ledger_reader_stop(struct ledger *l, uint32_t socket)
{
	(void)l;
	assert_int_equal(socket, 1);
	ledger.stops++;
}

/* What is there was read before the new events are opened. */
int __wrap_ledger_drain(struct ledger *l, const struct ledger_sink *sink)
{
	(void)l;
	assert_non_null(sink);
	assert_true(ledger.stops > ledger.drains);
	ledger.drains++;
	return 0;
}

bool __wrap_ledger_weights_stand_still(struct ledger *l, uint32_t cpu)
{
	(void)l;
	return ledger.still[cpu];
}

int __wrap_ledger_weights_drop(struct ledger *l, uint32_t cpu)
{
	(void)l;
	assert_true(ledger.still[cpu]);
	ledger.drops++;
	return ledger.drop_fails_with;
}

int __wrap_ledger_weights_put(struct ledger *l, uint32_t event, uint32_t cpu, int fd)
{
	(void)l;
	assert_true(event < 2 && fd >= 0);
	assert_int_equal(fake.events[fd - FAKE_FD].cpu, cpu);
	ledger.puts++;
	return 0;
}

static int start(void *arg, const struct counter_reader *r, struct diag *d)
{
	(void)arg;
	(void)d;
	assert_int_equal(r->index, 1);
	ledger.starts++;
	return ledger.start_fails_with;
}

/* --- a run */

struct world {
	struct counters counters;
	struct cpu_map cpus;
	struct weights weights;
	struct feed feed;
	struct ledger_sink sink;
	struct live_watch watch;
	struct trace_sink out;
	struct layout layout;
	uint64_t count;
	uint32_t windows;
};

static int on_window(void *arg, const struct trace_event *e)
{
	assert_int_equal(e->type, TRACE_WINDOW);
	++*(uint32_t *)arg;
	return 0;
}

static void setup(struct world *w)
{
	struct diag d = { 0 };

	*w = (struct world){ 0 };
	memset(&ledger, 0, sizeof(ledger));
	now_ns = 1000 * NS_PER_S;
	fake_reset();
	for (size_t i = 0; i < pmus.nr; i++)
		if (counter_rows_have(pmus.pmus[i].kind, COUNTERS_SUMS))
			fake_add(pmus.pmus[i].type, 100, 0);
	fake_add(77, 100, 0);
	assert_int_equal(counters_open(&fake_kernel, &pmus, COUNTERS_SUMS, &d, &w->counters), 0);
	w->weights = (struct weights){ .ops = &fake_kernel, .nr = 2, .nr_cpus = NR_CPUS };
	w->weights.events[0].type = w->weights.events[1].type = 77;
	w->cpus = (struct cpu_map){ .socket = cpu_socket, .nr_cpus = NR_CPUS, .nr_sockets = 2 };
	assert_int_equal(counters_readers(&w->counters, cpu_socket, NR_CPUS, 2, &d), 0);
	w->layout = (struct layout){ .counters = w->counters.items,
				     .nr_counters = w->counters.nr,
				     .groups = w->counters.groups,
				     .nr_groups = w->counters.nr_groups,
				     .nr_sockets = 2 };
	w->out = (struct trace_sink){ on_window, &w->windows };
	assert_int_equal(feed_init(&w->feed, &w->layout, &w->counters, &w->out, NS_PER_S / 10), 0);
	w->sink = feed_sink(&w->feed);
	w->watch = (struct live_watch){ .counters = &w->counters,
					.weights = &w->weights,
					.feed = &w->feed,
					.sink = &w->sink,
					.sysfs = &fs,
					.cpus = &w->cpus,
					.start = start };
	assert_int_equal(live_watch_new(&w->watch), 0);
}

static void teardown(struct world *w)
{
	live_watch_release(&w->watch);
	feed_release(&w->feed);
	counters_close(&w->counters);
	assert_int_equal(fake.open_now, 0);
}

static void reading(struct world *w, uint32_t socket, uint64_t count, int err, bool ran)
{
	static struct ledger_window r;

	r = (struct ledger_window){ .h = { .type = LEDGER_WINDOW, .time_ns = now_ns },
				    .reader = socket,
				    .nr = w->counters.pmus[socket].nr };
	for (uint32_t i = 0; i < r.nr; i++) {
		r.readings[i].value = (struct ledger_value){ count, now_ns, ran ? now_ns : 5 };
		r.readings[i].error = err;
	}
	w->sink.window(w->sink.arg, &r);
}

/* Seconds in which socket 0 is well and the readings of socket 1 are what is said. */
static void seconds(struct world *w, int nr, int err, bool ran)
{
	struct diag d = { 0 };

	for (int i = 0; i < nr; i++) {
		now_ns += NS_PER_S;
		w->count += 10;
		reading(w, 0, w->count, 0, true);
		reading(w, 1, w->count, err, ran);
		assert_int_equal(live_watch_step(&w->watch, &d), 0);
	}
}

static void nothing_happens(struct world *w)
{
	char text[LIVE_WATCH_NEWS_LEN];

	assert_int_equal(ledger.stops + ledger.starts + ledger.drops + ledger.puts, 0);
	assert_false(live_watch_news(&w->watch, text, sizeof(text)));
	assert_false(live_watch_trouble(&w->watch, now_ns, text, sizeof(text)));
}

static void news_are(struct world *w, const char *part)
{
	char text[LIVE_WATCH_NEWS_LEN];

	assert_true(live_watch_news(&w->watch, text, sizeof(text)));
	if (!strstr(text, part))
		fail_msg("\"%s\" is not about \"%s\"", text, part);
}

static void all_is_well(void **state)
{
	struct world w;

	(void)state;
	setup(&w);
	seconds(&w, 100, 0, true);
	nothing_happens(&w);
	teardown(&w);
}

static void lasting_errors_open_again(void **state)
{
	char text[LIVE_WATCH_NEWS_LEN];
	struct world w;
	uint32_t opened;

	(void)state;
	setup(&w);
	seconds(&w, 3, 0, true);
	opened = fake.opened;
	seconds(&w, 5, -EBUSY, true);
	nothing_happens(&w);
	seconds(&w, 1, -EBUSY, true);
	assert_int_equal(ledger.stops, 1);
	assert_int_equal(ledger.starts, 1);
	assert_int_equal(fake.opened, opened + w.counters.pmus[1].nr);
	news_are(&w, "Device or resource busy): they were opened again");
	/* The first reading of the new events is where they begin. */
	w.count = 0;
	now_ns += NS_PER_S;
	reading(&w, 1, 500, 0, true);
	assert_int_equal(w.feed.restarts, 1);
	assert_int_equal(w.feed.uncounted_ns, 7 * NS_PER_S);
	w.windows = 0;
	now_ns += NS_PER_S;
	reading(&w, 1, 501, 0, true);
	assert_int_equal(w.windows, 1);
	assert_false(live_watch_trouble(&w.watch, now_ns, text, sizeof(text)));
	teardown(&w);
}

/* It stays so: tried every half a minute, and bad health from 10 s on. */
static void trouble_is_said(void **state)
{
	char text[LIVE_WATCH_NEWS_LEN];
	struct world w;

	(void)state;
	setup(&w);
	seconds(&w, 3, 0, true);
	seconds(&w, 9, -EINVAL, true);
	assert_false(live_watch_trouble(&w.watch, now_ns, text, sizeof(text)));
	seconds(&w, 1, -EINVAL, true);
	assert_true(live_watch_trouble(&w.watch, now_ns, text, sizeof(text)));
	assert_non_null(strstr(text, w.counters.items[w.counters.groups[1].first].name));
	assert_non_null(strstr(text, "Invalid argument"));
	assert_int_equal(ledger.starts, 1);
	seconds(&w, 25, -EINVAL, true);
	assert_int_equal(ledger.starts, 1);
	seconds(&w, 5, -EINVAL, true);
	assert_int_equal(ledger.starts, 2);
	seconds(&w, 1, 0, true);
	assert_false(live_watch_trouble(&w.watch, now_ns, text, sizeof(text)));
	teardown(&w);
}

/* A pinned group that does not run is in the error state for good; others wait for their turn. */
static void only_pinned_groups_must_run(void **state)
{
	char text[LIVE_WATCH_NEWS_LEN];
	struct world w;

	(void)state;
	setup(&w);
	seconds(&w, 3, 0, false);
	assert_int_equal(w.feed.groups[w.counters.nr_groups - 1].verdict, READING_WAITED);
	w.counters.pmus[1].pinned = false;
	seconds(&w, 20, 0, false);
	assert_int_equal(ledger.starts, 0);
	assert_true(live_watch_trouble(&w.watch, now_ns, text, sizeof(text)));
	assert_non_null(strstr(text, "others hold the counters"));
	w.counters.pmus[1].pinned = true;
	seconds(&w, 1, 0, false);
	assert_int_equal(ledger.starts, 1);
	teardown(&w);
}

/* Not even the opening works: nothing is read meanwhile, and it is tried again. */
static void closed_counters_are_opened_later(void **state)
{
	struct world w;

	(void)state;
	setup(&w);
	seconds(&w, 3, 0, true);
	fake.fail_open_at = fake.opened + 1;
	fake.fail_open_with = -ENODEV;
	seconds(&w, 6, -EBUSY, true);
	assert_int_equal(ledger.stops, 1);
	assert_int_equal(ledger.starts, 0);
	news_are(&w, "nor be opened again: No such device");
	w.feed.seen_ns[1] = now_ns; /* no reading from here on */
	for (int i = 0; i < 30; i++) {
		struct diag d = { 0 };

		now_ns += NS_PER_S;
		w.feed.seen_ns[0] = now_ns;
		assert_int_equal(live_watch_step(&w.watch, &d), 0);
	}
	assert_int_equal(ledger.starts, 1);
	news_are(&w, "they were opened again");
	teardown(&w);
}

static void new_bases_are_said(void **state)
{
	struct world w;

	(void)state;
	setup(&w);
	seconds(&w, 3, 0, true);
	w.feed.restarts = 2;
	w.feed.uncounted_ns = 12 * NS_PER_S;
	seconds(&w, 1, 0, true);
	news_are(&w, "restarted 2 times; 12.0 s");
	w.feed.restarts = 3;
	seconds(&w, 59, 0, true);
	nothing_happens(&w);
	seconds(&w, 1, 0, true);
	news_are(&w, "restarted 3 times");
	teardown(&w);
}

static void core_events_come_back(void **state)
{
	struct world w;
	uint32_t open;

	(void)state;
	setup(&w);
	open = fake.open_now;
	seconds(&w, 3, 0, true);
	ledger.still[2] = true;
	/* Offline again before it could be done. */
	ledger.drop_fails_with = -ENXIO;
	seconds(&w, 1, 0, true);
	assert_int_equal(ledger.drops, 1);
	assert_int_equal(w.watch.weights_reopened, 0);
	assert_int_equal(w.watch.nr_news, 0);
	ledger.drop_fails_with = 0;
	fake.fail_open_at = fake.opened + 1;
	fake.fail_open_with = -EACCES;
	seconds(&w, 1, 0, true);
	news_are(&w, "core events of CPU 2 ended and cannot be opened again: Permission denied");
	assert_int_equal(w.watch.weights_reopened, 0);
	seconds(&w, 1, 0, true);
	assert_int_equal(ledger.puts, 2);
	assert_int_equal(w.watch.weights_reopened, 1);
	news_are(&w, "core events of CPU 2 had ended");
	ledger.still[2] = false;
	seconds(&w, 5, 0, true);
	assert_int_equal(ledger.puts, 2);
	assert_int_equal(w.watch.nr_news, 0);
	assert_int_equal(fake.open_now, open);
	teardown(&w);
}

static int find_pmus(void **state)
{
	(void)state;
	tree_make_t410(&tree);
	assert_int_equal(sysfs_open(tree.root, NULL, &fs), 0);
	assert_int_equal(pmu_list_read(&fs, NULL, &pmus), 0);
	return 0;
}

static int forget_pmus(void **state)
{
	(void)state;
	pmu_list_free(&pmus);
	sysfs_close(&fs);
	tree_remove(&tree);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_well),
		cmocka_unit_test(lasting_errors_open_again),
		cmocka_unit_test(trouble_is_said),
		cmocka_unit_test(only_pinned_groups_must_run),
		cmocka_unit_test(closed_counters_are_opened_later),
		cmocka_unit_test(new_bases_are_said),
		cmocka_unit_test(core_events_come_back),
	};

	return cmocka_run_group_tests(tests, find_pmus, forget_pmus);
}
