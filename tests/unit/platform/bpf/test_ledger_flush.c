// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Who sleeps is left asleep: user space's side of cpu_ledger.rest, beside a thread that goes idle
 * and leaves as bpf/ledger.bpf.c does. What the kernel does itself is in tests/live/test_weights.py.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "platform/bpf/ledger_internal.h"

#define NR_CPUS 3
#define SLEEPER 2
#define WORKER	7 /* who has the CPU when nobody sleeps */
#define RUN_NS	300000000ull

struct world {
	struct ledger l;
	struct t410trace skel;
	struct cpu_ledger cpus[NR_CPUS];
	struct ledger_reader readers[1];
	struct flushed flushed[NR_CPUS];
	uint64_t came_ns; /* all CPU time of the sleeper that was handed on, from its begin on */
	uint64_t begin_ns;
	uint64_t idle_ns;
	uint64_t weight;
	unsigned int records;
	unsigned int handed[NR_CPUS]; /* slots */
	unsigned int runs[NR_CPUS];
	unsigned long ring_read, ring_reserved;
	uint64_t finished_ns; /* when the record that is first in the ring is */
	uint64_t ran_ns;      /* up to when CPU 1 ran, by a record in the ring; 0 = there is none */
	uint64_t stop_ns;     /* the machine stands still for so long when records are waited for */
	unsigned int drains;
	bool stop;
};

static struct world *world;

/* The kernel, as far as it is called from here */

int __wrap_ledger_drain(struct ledger *l, const struct ledger_sink *sink);
int __wrap_ledger_drain(struct ledger *l, const struct ledger_sink *sink)
{
	struct ledger_slices r = { .h.cpu = 1, .until_ns = world->ran_ns };

	(void)sink;
	if (++world->drains == 2 && world->stop_ns)
		nanosleep(&(struct timespec){ .tv_nsec = (long)world->stop_ns }, NULL);
	if (world->ran_ns)
		ledger_came(l, &r);
	if (monotonic_ns() >= world->finished_ns)
		world->ring_read = world->ring_reserved;
	return 0;
}

int __wrap_ledger_run_on(const struct bpf_program *prog, int cpu, uint32_t *ret);
int __wrap_ledger_run_on(const struct bpf_program *prog, int cpu, uint32_t *ret)
{
	(void)prog;
	(void)ret;
	world->runs[cpu]++;
	return cpu == 1 ? -ENXIO : 0; /* that one is offline */
}

/* None of the three: on the CPU of the one that flushes another way is taken. */
int __wrap_sched_getcpu(void);
int __wrap_sched_getcpu(void)
{
	return NR_CPUS;
}

static void on_slices(void *arg, const struct ledger_slices *r, const struct ledger_weights *w)
{
	struct world *t = arg;

	assert_true(r->nr <= LEDGER_SLOTS);
	t->handed[r->h.cpu] += r->nr;
	if (r->h.cpu != SLEEPER)
		return;
	t->records++;
	for (uint32_t i = 0; i < r->nr; i++) {
		t->came_ns += r->slots[i].on_cpu_ns;
		t->idle_ns += r->slots[i].tgid ? 0 : r->slots[i].on_cpu_ns;
		t->weight += w && i < w->nr ? w->slots[i].count[0] : 0;
	}
	/* Each record is complete up to the moment that it names. */
	assert_int_equal(t->begin_ns + t->came_ns, r->until_ns);
}

static void flush(struct world *t)
{
	const struct ledger_sink sink = { .slices = on_slices, .arg = t };

	t->readers[0].boundary_ns = monotonic_ns();
	assert_int_equal(ledger_flush(&t->l, &sink), 0);
}

static int setup(void **state)
{
	struct world *t = calloc(1, sizeof(*t));

	if (!t)
		return -1;
	t->l.skel = &t->skel;
	t->l.rests = true;
	t->l.cpus = t->cpus;
	t->l.nr_cpus = NR_CPUS;
	t->l.readers = t->readers;
	t->l.nr_readers = 1;
	t->l.flushed = t->flushed;
	t->l.tick = true;
	t->l.online_fd = memfd_create("online", 0);
	if (write(t->l.online_fd, "0,2\n", 4) != 4)
		return -1;
	for (uint32_t i = 0; i < NR_CPUS; i++) {
		t->cpus[i].out.h.cpu = i;
		t->cpus[i].since_ns = monotonic_ns();
	}
	t->begin_ns = t->cpus[SLEEPER].since_ns;
	*state = world = t;
	return 0;
}

static int teardown(void **state)
{
	struct world *t = *state;

	close(t->l.online_fd);
	free(t->l.cpu_weights ? (void *)t->l.cpu_weights : NULL);
	free(t);
	return 0;
}

/* The other side: bpf/ledger.bpf.c has the same steps under the same names. */

static uint64_t end_rest(struct cpu_ledger *c, uint64_t now)
{
	uint64_t rest = __atomic_exchange_n(&c->rest, 0, __ATOMIC_SEQ_CST);

	if (!(rest & LEDGER_REST_TAKEN))
		return now;
	c->nr = 0;
	c->since_ns = rest >> LEDGER_REST_SHIFT;
	now = monotonic_ns();
	return now > c->since_ns ? now : c->since_ns;
}

static void begin_rest(struct cpu_ledger *c)
{
	__atomic_store_n(&c->rest, LEDGER_RESTS(c->since_ns), __ATOMIC_RELEASE);
}

/* For so long that it may be taken */
static void fall_asleep(struct cpu_ledger *c)
{
	begin_rest(c);
	while (monotonic_ns() < c->since_ns + LEDGER_REST_NS)
		;
}

static void book(struct cpu_ledger *c, uint32_t pid, uint64_t now)
{
	struct ledger_slot *s = NULL;

	for (uint32_t i = 0; i < c->nr && !s; i++)
		s = c->out.slots[i].pid == pid ? &c->out.slots[i] : NULL;
	if (!s) {
		s = &c->out.slots[c->nr++];
		*s = (struct ledger_slot){ .pid = pid, .tgid = pid, .first_ns = c->since_ns };
	}
	s->on_cpu_ns += now - c->since_ns;
	s->last_ns = now;
	c->since_ns = now;
}

static void *sleeper(void *arg)
{
	struct world *t = arg;
	struct cpu_ledger *c = &t->cpus[SLEEPER];
	uint32_t dice = 1;

	while (!__atomic_load_n(&t->stop, __ATOMIC_RELAXED)) {
		book(c, WORKER, monotonic_ns());
		begin_rest(c);
		/* About as long as user space waits for */
		dice = dice * 1103515245 + 12345;
		while (monotonic_ns() < c->since_ns + (dice >> 16) * 3)
			;
		book(c, 0, end_rest(c, monotonic_ns()));
	}
	book(c, WORKER, monotonic_ns());
	fall_asleep(c);
	return NULL;
}

static void nothing_is_lost_or_doubled(void **state)
{
	struct world *t = *state;
	uint64_t end = monotonic_ns() + RUN_NS;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, sleeper, t), 0);
	/* once at least, also where the machine stood still meanwhile */
	do {
		flush(t);
	} while (monotonic_ns() < end);
	__atomic_store_n(&t->stop, true, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(thread, NULL), 0);
	flush(t);
	assert_true(t->l.ways.asleep > 0 && t->idle_ns > 0);
	assert_true(t->idle_ns < t->came_ns);
	/* It was never interrupted: it has ticks, and will see that the window has ended. */
	assert_int_equal(t->runs[SLEEPER], 0);
}

static void sleep_goes_on(void **state)
{
	struct world *t = *state;
	struct cpu_ledger *c = &t->cpus[SLEEPER];

	book(c, WORKER, monotonic_ns());
	fall_asleep(c);
	flush(t);
	/* Its slots, and its idle time up to now */
	assert_int_equal(t->records, 2);
	flush(t);
	/* The slots were taken: there is idle time only. */
	assert_int_equal(t->records, 3);
	assert_int_equal(t->l.ways.asleep, 2);
	book(c, 0, end_rest(c, monotonic_ns()));
	assert_int_equal(c->nr, 1);
	assert_int_equal(c->out.slots[0].tgid, 0);
	assert_int_equal(t->begin_ns + t->came_ns + c->out.slots[0].on_cpu_ns, c->since_ns);
}

static void weights_come_along(void **state)
{
	struct world *t = *state;
	struct cpu_weights *w = calloc(NR_CPUS, sizeof(*w));

	assert_non_null(w);
	t->l.cpu_weights = w;
	t->l.nr_weights = 1;
	book(&t->cpus[SLEEPER], WORKER, monotonic_ns());
	w[SLEEPER].out.slots[0].count[0] = 17;
	fall_asleep(&t->cpus[SLEEPER]);
	flush(t);
	flush(t);
	assert_int_equal(t->weight, 17);
}

/* What it wrote before may not be seen yet. */
static void who_has_just_fallen_asleep_is_not_taken(void **state)
{
	struct world *t = *state;
	struct cpu_ledger *c = &t->cpus[SLEEPER];

	book(c, WORKER, monotonic_ns());
	c->rest = LEDGER_RESTS(monotonic_ns() + 3600 * NS_PER_S);
	flush(t);
	assert_int_equal(t->records, 0);
}

/* Its record is on its way: nothing may come before that. */
static void unread_records_come_first(void **state)
{
	struct world *t = *state;
	struct cpu_ledger *c = &t->cpus[SLEEPER];

	book(c, WORKER, monotonic_ns());
	c->out.until_ns = c->since_ns;
	t->begin_ns = c->since_ns;
	c->nr = 0;
	fall_asleep(c);
	flush(t);
	assert_int_equal(t->records, 0);
	t->flushed[SLEEPER].until_ns = c->since_ns;
	flush(t);
	assert_int_equal(t->records, 1);
}

static void hidden_switches_are_not_trusted(void **state)
{
	struct world *t = *state;

	book(&t->cpus[SLEEPER], WORKER, monotonic_ns());
	fall_asleep(&t->cpus[SLEEPER]);
	t->cpus[SLEEPER].unseen = 1;
	flush(t);
	assert_int_equal(t->records, 0);
}

/* What an offline CPU left is handed on once, and it has no idle time. */
static void offline_is_not_asleep(void **state)
{
	struct world *t = *state;

	book(&t->cpus[1], WORKER, monotonic_ns());
	fall_asleep(&t->cpus[1]);
	flush(t);
	flush(t);
	assert_int_equal(t->handed[1], 1);
	assert_int_equal(t->cpus[1].since_ns, 0);
	assert_int_equal(t->cpus[1].rest, 0);
	assert_int_equal(t->cpus[1].nr, 0);
}

static void what_was_taken_is_not_adopted(void **state)
{
	struct world *t = *state;

	assert_int_equal(pwrite(t->l.online_fd, "0-2\n", 4, 0), 4);
	book(&t->cpus[1], WORKER, monotonic_ns());
	fall_asleep(&t->cpus[1]);
	flush(t);
	assert_int_equal(t->handed[1], 2); /* its slot, and idle time */
	assert_int_equal(pwrite(t->l.online_fd, "0,2\n", 4, 0), 4);
	flush(t);
	assert_int_equal(t->handed[1], 2);
	assert_int_equal(t->cpus[1].since_ns, 0);
}

/* The list is read first: a CPU that ran after that has come, one that ran before that has gone. */
static void who_comes_while_it_is_flushed_is_online(void **state)
{
	struct world *t = *state;

	t->ran_ns = monotonic_ns();
	flush(t);
	assert_false(cpulist_contains(ledger_online(&t->l), 1));
	t->ran_ns = UINT64_MAX;
	flush(t);
	assert_true(cpulist_contains(ledger_online(&t->l), 1));
	t->ran_ns = 0;
	flush(t);
	assert_false(cpulist_contains(ledger_online(&t->l), 1));
}

static void an_unknown_list_stays_unknown(void **state)
{
	struct world *t = *state;

	assert_int_equal(ftruncate(t->l.online_fd, 0), 0);
	t->ran_ns = UINT64_MAX;
	flush(t);
	assert_int_equal(cpulist_count(ledger_online(&t->l)), 0);
}

/* Without a window's end to see, and without ticks, a busy CPU has to be asked. */
static void the_rest_is_interrupted(void **state)
{
	const struct ledger_sink sink = { .slices = on_slices, .arg = *state };
	struct world *t = *state;

	flush(t);
	assert_int_equal(t->runs[SLEEPER], 0);
	assert_int_equal(ledger_flush(&t->l, &sink), 0);
	assert_int_equal(t->runs[SLEEPER], 1);
	t->cpus[SLEEPER].no_tick = 1;
	flush(t);
	assert_int_equal(t->runs[SLEEPER], 2);
}

/* Nothing but a ring with a record that is finished after so long. */
static struct ledger_losses settle_with_held_ring(struct world *t, uint64_t ns, uint64_t *ret_ns)
{
	const struct ledger_sink sink = { .slices = on_slices, .arg = t };
	struct t410trace__bss bss = { 0 };
	uint64_t begin = monotonic_ns();
	struct ledger_losses losses;

	t->skel.bss = &bss;
	t->l.nr_cpus = 0;
	t->l.ring_read = &t->ring_read;
	t->l.ring_reserved = &t->ring_reserved;
	t->ring_reserved = 4096;
	t->finished_ns = begin + ns;
	assert_int_equal(ledger_flush(&t->l, &sink), 0);
	assert_int_equal(ledger_settle(&t->l, &sink), 0);
	*ret_ns = monotonic_ns() - begin;
	ledger_losses(&t->l, &losses);
	return losses;
}

static void an_unfinished_record_is_waited_for(void **state)
{
	struct world *t = *state;
	struct ledger_losses losses;
	uint64_t took;

	losses = settle_with_held_ring(t, 20000000, &took);
	assert_true(took >= 20000000);
	assert_int_equal(t->ring_read, 4096);
	assert_int_equal(losses.kept_flushes, 0);
}

static void an_unfinished_record_is_not_waited_for_for_ever(void **state)
{
	struct world *t = *state;
	struct ledger_losses losses;
	uint64_t took;

	losses = settle_with_held_ring(t, 3600000000000ull, &took);
	assert_true(took >= 200000000);
	assert_int_equal(t->ring_read, 0);
	assert_int_equal(losses.kept_flushes, 1);
}

/* All CPUs stood still, that of the record, too. */
static void a_stop_of_the_machine_ends_no_waiting(void **state)
{
	struct world *t = *state;
	struct ledger_losses losses;
	uint64_t took;

	t->stop_ns = 400000000;
	losses = settle_with_held_ring(t, t->stop_ns + 2000000, &took);
	assert_true(took >= t->stop_ns);
	assert_int_equal(t->ring_read, 4096);
	assert_int_equal(losses.kept_flushes, 0);
}

/* A ring that is never empty keeps nobody: what comes behind the flush is for the next one. */
static void later_records_are_not_waited_for(void **state)
{
	struct world *t = *state;
	const struct ledger_sink sink = { .slices = on_slices, .arg = t };
	struct ledger_losses losses;
	uint64_t took;

	losses = settle_with_held_ring(t, 0, &took);
	t->finished_ns = UINT64_MAX;
	t->ring_reserved += 4096;
	assert_int_equal(ledger_settle(&t->l, &sink), 0);
	assert_int_equal(t->l.held + losses.kept_flushes, 0);
	assert_true(t->ring_read < t->ring_reserved);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_lost_or_doubled),
		TEST(sleep_goes_on),
		TEST(who_has_just_fallen_asleep_is_not_taken),
		TEST(weights_come_along),
		TEST(unread_records_come_first),
		TEST(hidden_switches_are_not_trusted),
		TEST(offline_is_not_asleep),
		TEST(what_was_taken_is_not_adopted),
		TEST(who_comes_while_it_is_flushed_is_online),
		TEST(an_unknown_list_stays_unknown),
		TEST(the_rest_is_interrupted),
		TEST(an_unfinished_record_is_waited_for),
		TEST(an_unfinished_record_is_not_waited_for_for_ever),
		TEST(a_stop_of_the_machine_ends_no_waiting),
		TEST(later_records_are_not_waited_for),
	};

	return cmocka_run_group_tests_name("ledger_flush", tests, NULL, NULL);
}
