// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The self-test: what it concludes, and the programs that move known bytes. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "live/selftest/selftest.h"
#include "live/selftest/traffic.h"

#define GB 1000000000ull

/* Ten to one, and all as it should be: two seconds on a quiet machine */
static struct selftest_phase good(void)
{
	return (struct selftest_phase){
		.direction = DIRECTION_READ,
		.ns = 2 * NS_PER_S,
		.counted = true,
		.value = 11 * GB,
		.cache = 32 << 20,
		.buffer = 256 << 20,
		.parts = { { 10 * GB, true, 10 * GB, 9 * GB, 11 * GB, NS_PER_S },
			   { 1 * GB, true, 1 * GB, GB / 2, 2 * GB, NS_PER_S } },
	};
}

static enum selftest_verdict counter_verdict(const struct selftest_phase *p)
{
	return selftest_judge_counter(p).verdict;
}

static enum selftest_verdict program_verdict(const struct selftest_phase *p, size_t program)
{
	struct selftest_result counter = selftest_judge_counter(p);

	return selftest_judge_program(p, &counter, program).verdict;
}

static void all_right(void **state)
{
	struct selftest_phase p = good();
	struct selftest_result r = selftest_judge_counter(&p);

	(void)state;
	assert_int_equal(r.verdict, SELFTEST_RIGHT);
	assert_int_equal(r.known, 11 * GB);
	assert_int_equal(r.seen, 11 * GB);
	assert_string_equal(r.reason, "");
	assert_int_equal(program_verdict(&p, 0), SELFTEST_RIGHT);
	assert_int_equal(program_verdict(&p, 1), SELFTEST_RIGHT);
}

static void a_unit_that_is_wrong(void **state)
{
	struct selftest_phase p = good();

	(void)state;
	p.value = 11 * GB / 2;
	assert_int_equal(counter_verdict(&p), SELFTEST_WRONG);
	p.value = 11 * GB * 8;
	assert_int_equal(counter_verdict(&p), SELFTEST_WRONG);
	p.value = 0;
	assert_int_equal(counter_verdict(&p), SELFTEST_WRONG);
	/* Of a counter that is wrong no share can be judged. */
	assert_int_equal(program_verdict(&p, 0), SELFTEST_UNDECIDED);
}

static void what_others_move_is_subtracted(void **state)
{
	struct selftest_phase p = good();

	(void)state;
	p.before = p.after = 3e9;
	p.value += 6 * GB;
	assert_int_equal(counter_verdict(&p), SELFTEST_RIGHT);
	assert_int_equal(selftest_judge_counter(&p).seen, 11 * GB);
}

static void a_busy_machine_is_not_judged(void **state)
{
	struct selftest_phase p = good();

	(void)state;
	/* Others stopped, or began, somewhere in between. */
	p.before = 0;
	p.after = 4e9;
	assert_int_equal(counter_verdict(&p), SELFTEST_UNDECIDED);
	p.value += 8 * GB;
	assert_int_equal(counter_verdict(&p), SELFTEST_UNDECIDED);
	/* That much they cannot have moved. */
	p.value += 60 * GB;
	assert_int_equal(counter_verdict(&p), SELFTEST_WRONG);
	p = good();
	p.counted = false;
	assert_int_equal(counter_verdict(&p), SELFTEST_UNDECIDED);
	p = good();
	p.parts[0].known = p.parts[1].known = 1000;
	assert_int_equal(counter_verdict(&p), SELFTEST_UNDECIDED);
}

static void a_cache_that_is_too_large(void **state)
{
	struct selftest_phase p = good();

	(void)state;
	p.cache = 128 << 20;
	p.value = 7 * GB;
	assert_int_equal(counter_verdict(&p), SELFTEST_UNDECIDED);
	assert_non_null(strstr(selftest_judge_counter(&p).reason, "cache"));
	p.value = 3 * GB;
	assert_int_equal(counter_verdict(&p), SELFTEST_WRONG);
}

/* Whoever writes reads, too: a counter of both says nothing of the writes. */
static void reads_and_writes_together(void **state)
{
	struct selftest_phase p = good();
	struct selftest_result r;

	(void)state;
	p.together = true;
	assert_int_equal(counter_verdict(&p), SELFTEST_RIGHT);
	p.direction = DIRECTION_WRITE;
	p.counted = false;
	r = selftest_judge_counter(&p);
	assert_int_equal(r.verdict, SELFTEST_UNDECIDED);
	assert_non_null(strstr(r.reason, "writes are counted together with reads"));
	assert_int_equal(program_verdict(&p, 0), SELFTEST_UNDECIDED);
}

static void shares(void **state)
{
	struct selftest_phase p = good();

	(void)state;
	/* The interval misses, but by next to nothing of the whole */
	p.parts[1].given = 2 * GB;
	p.parts[1].low = GB + GB / 10;
	p.parts[1].high = 3 * GB;
	assert_int_equal(program_verdict(&p, 1), SELFTEST_RIGHT);
	/* Twice as far: too little to call it wrong */
	p.parts[1].given = p.parts[1].low = 3 * GB;
	assert_int_equal(program_verdict(&p, 1), SELFTEST_UNDECIDED);
	p.parts[1].given = p.parts[1].low = 5 * GB;
	p.parts[1].high = 6 * GB;
	assert_int_equal(program_verdict(&p, 1), SELFTEST_WRONG);
	/* A wide interval that holds is not wrong: it said so. */
	p.parts[1].low = GB / 2;
	assert_int_equal(program_verdict(&p, 1), SELFTEST_RIGHT);
	p.parts[1].found = false;
	assert_int_equal(program_verdict(&p, 1), SELFTEST_WRONG);
}

static void the_worst_verdict(void **state)
{
	(void)state;
	assert_int_equal(selftest_worst(SELFTEST_RIGHT, SELFTEST_RIGHT), SELFTEST_RIGHT);
	assert_int_equal(selftest_worst(SELFTEST_RIGHT, SELFTEST_UNDECIDED), SELFTEST_UNDECIDED);
	assert_int_equal(selftest_worst(SELFTEST_WRONG, SELFTEST_UNDECIDED), SELFTEST_WRONG);
	assert_int_equal(selftest_worst(SELFTEST_UNDECIDED, SELFTEST_WRONG), SELFTEST_WRONG);
}

static void wait_for(struct traffic_program *p, enum traffic_order order)
{
	int err = 0;

	traffic_order(p, order);
	while (!traffic_obeys(p, &err) && !err)
		usleep(1000);
	assert_int_equal(err, 0);
}

static struct traffic_program started(void)
{
	struct traffic_program p = {
		.name = "mover", .cpu = sched_getcpu(), .bytes = 1 << 20, .seed = 1
	};
	struct diag d = { 0 };

	assert_int_equal(traffic_start(&p, &d), 0);
	return p;
}

static void programs_count_what_they_move(void **state)
{
	struct traffic_program p = started();
	uint64_t reads;

	(void)state;
	wait_for(&p, TRAFFIC_FILL);
	assert_int_equal(traffic_moved(&p, DIRECTION_READ), 0);
	wait_for(&p, TRAFFIC_FLUSH);
	assert_int_equal(traffic_moved(&p, DIRECTION_READ), 1 << 20);
	wait_for(&p, TRAFFIC_WRITE);
	while (!traffic_moved(&p, DIRECTION_WRITE))
		usleep(1000);
	wait_for(&p, TRAFFIC_REST);
	reads = traffic_moved(&p, DIRECTION_WRITE);
	usleep(5000);
	assert_int_equal(traffic_moved(&p, DIRECTION_WRITE), reads);
	assert_int_equal(traffic_moved(&p, DIRECTION_READ), 1 << 20);
	wait_for(&p, TRAFFIC_DROP);
	assert_true(traffic_stop(&p));
	assert_int_equal(p.pid, 0);
}

static void a_program_that_dies_is_noticed(void **state)
{
	struct traffic_program p = started();
	int err = 0;

	(void)state;
	kill(p.pid, SIGKILL);
	traffic_order(&p, TRAFFIC_FILL);
	while (!traffic_obeys(&p, &err) && !err)
		usleep(1000);
	assert_int_equal(err, -ESRCH);
	traffic_stop(&p);
}

static void a_cpu_that_is_not_there(void **state)
{
	struct traffic_program p = { .name = "mover", .cpu = 4000, .bytes = 1 << 20, .seed = 1 };
	struct diag d = { 0 };
	int err = 0;

	(void)state;
	assert_int_equal(traffic_start(&p, &d), 0);
	traffic_order(&p, TRAFFIC_REST);
	while (!traffic_obeys(&p, &err) && !err)
		usleep(1000);
	assert_int_equal(err, -EINVAL);
	traffic_stop(&p);
}

/* Whom somebody traces may end, and nobody else hears of it: so may a frozen one look, or a slow one. */
static void a_program_that_does_not_end(void **state)
{
	struct traffic_program p = started();
	pid_t tracer = fork();
	uint64_t begin;
	siginfo_t seized;

	(void)state;
	assert_true(tracer >= 0);
	if (!tracer) {
		if (ptrace(PTRACE_SEIZE, p.pid, NULL, NULL))
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	assert_int_equal(waitid(P_PID, tracer, &seized, WSTOPPED | WEXITED), 0);
	assert_int_equal(seized.si_code, CLD_STOPPED);
	begin = monotonic_ns();
	assert_false(traffic_stop(&p));
	assert_true(monotonic_ns() - begin >= TRAFFIC_STOP_NS);
	assert_int_equal(p.pid, 0);
	assert_null(p.shared);
	/* it was killed, and is gone as soon as it can be */
	kill(tracer, SIGCONT);
	assert_int_equal(waitpid(tracer, NULL, 0), tracer);
	assert_true(waitpid(-1, NULL, 0) > 0);
}

/* However many sockets there are, and however slowly buffers are filled. */
static void phases_fit_in_the_time(void **state)
{
	const uint64_t ms = 1000000, s = 1000 * ms;

	(void)state;
	assert_true(selftest_phase_ns(15 * s, 2) == 3 * s);
	assert_true(selftest_phase_ns(s, 1) == 800 * ms);
	assert_true(selftest_phase_ns(500 * ms, 2) == 200 * ms);
	assert_true(selftest_phase_ns(499 * ms, 2) == 0);
	assert_true(selftest_phase_ns(0, 1) == 0);
	assert_true(selftest_fill_ns(500 * ms) == 0);
	for (uint64_t left = 501 * ms; left < 20 * s; left += ms) {
		uint64_t fill = selftest_fill_ns(left), first, second;

		assert_true(fill && fill < left);
		/* whoever is done just in time still has both phases */
		first = selftest_phase_ns(left - fill, 2);
		assert_true(first > 0);
		second = selftest_phase_ns(left - fill - first / 4 * 5, 1);
		assert_true(second > 0 && fill + (first + second) / 4 * 5 <= left);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_right),
		cmocka_unit_test(a_unit_that_is_wrong),
		cmocka_unit_test(what_others_move_is_subtracted),
		cmocka_unit_test(a_busy_machine_is_not_judged),
		cmocka_unit_test(a_cache_that_is_too_large),
		cmocka_unit_test(reads_and_writes_together),
		cmocka_unit_test(shares),
		cmocka_unit_test(the_worst_verdict),
		cmocka_unit_test(a_program_that_does_not_end),
		cmocka_unit_test(phases_fit_in_the_time),
		cmocka_unit_test(programs_count_what_they_move),
		cmocka_unit_test(a_program_that_dies_is_noticed),
		cmocka_unit_test(a_cpu_that_is_not_there),
	};

	return cmocka_run_group_tests_name("selftest", tests, NULL, NULL);
}
