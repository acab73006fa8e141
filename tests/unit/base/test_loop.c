// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The event loop: descriptors, times, their order, and what ends it. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
/* after the headers that it needs */
#include <cmocka.h>

#include "base/clock.h"
#include "base/loop.h"
#include "base/text.h"

#define MS   1000000ull
#define MANY 20

static struct loop loop;
static char noted[64];	   /* the names of the sources that ran */
static unsigned int asked; /* for the time of one */
static struct diag problem;

/**
 * struct toy - a source that notes that it ran
 * @name: a letter
 * @fds: a pipe; 0 and 0: none
 * @due_ns: when it is due
 * @left: the loop ends when it has run so often
 * @err: and it fails then
 * @also, @delay_ns: becomes due when this one runs, or so long after it
 */
struct toy {
	char name;
	int fds[2];
	uint64_t due_ns;
	int left;
	int err;
	struct toy *also;
	uint64_t delay_ns;
};

static int toy_fd(void *arg)
{
	const struct toy *t = arg;

	return t->fds[1] ? t->fds[0] : -1;
}

static uint64_t toy_ns(void *arg)
{
	const struct toy *t = arg;

	asked++;
	return t->due_ns;
}

static int toy_run(void *arg, struct diag *d)
{
	struct toy *t = arg;
	char name[] = { t->name, '\0' }, byte;

	str_append(noted, sizeof(noted), name);
	t->due_ns = UINT64_MAX;
	if (t->fds[1])
		assert_int_equal(read(t->fds[0], &byte, 1), 1);
	if (t->also)
		t->also->due_ns = t->delay_ns ? monotonic_ns() + t->delay_ns : 0;
	if (--t->left)
		return 0;
	if (t->err)
		return diag_fail(d, t->err, "toy %c is broken", t->name);
	loop_end(&loop);
	return 0;
}

static const struct loop_source readable = { .fd = toy_fd, .run = toy_run };
static const struct loop_source timed = { .when = toy_ns, .run = toy_run };
static const struct loop_source both = { .fd = toy_fd, .when = toy_ns, .run = toy_run };

static void add(const struct loop_source *source, struct toy *t)
{
	assert_int_equal(loop_add(&loop, source, t, &problem), 0);
}

static void make_pipe(struct toy *t)
{
	assert_int_equal(pipe(t->fds), 0);
}

static void send_byte(const struct toy *t)
{
	assert_int_equal(write(t->fds[1], "", 1), 1);
}

static void close_pipe(const struct toy *t)
{
	close(t->fds[0]);
	close(t->fds[1]);
}

static int begin(void **state)
{
	(void)state;
	noted[0] = '\0';
	problem = (struct diag){ 0 };
	return 0;
}

static int end(void **state)
{
	(void)state;
	loop_free(&loop);
	return 0;
}

/* More than there is room for at first: only those with a byte run, in the order of loop_add(). */
static void test_many_descriptors(void **state)
{
	struct toy toys[MANY] = { 0 };

	(void)state;
	for (int i = 0; i < MANY; i++) {
		toys[i].name = (char)('a' + i);
		make_pipe(&toys[i]);
		add(&readable, &toys[i]);
	}
	toys[17].left = 1;
	send_byte(&toys[17]);
	send_byte(&toys[11]);
	send_byte(&toys[2]);
	assert_int_equal(loop_run(&loop, &problem), 0);
	assert_string_equal(noted, "clr");
	for (int i = 0; i < MANY; i++)
		close_pipe(&toys[i]);
}

/*
 * The next time of all is slept for, and nothing runs before its time. Each sets the time of the next:
 * on a busy machine all of several times may be over at once.
 */
static void test_times(void **state)
{
	uint64_t start = monotonic_ns();
	struct toy toys[] = {
		{ .name = 'a', .due_ns = UINT64_MAX, .left = 1 },
		{ .name = 'b', .due_ns = UINT64_MAX, .also = &toys[0], .delay_ns = 20 * MS },
		{ .name = 'c', .due_ns = start + 3600 * 1000 * MS },
		{ .name = 'd', .due_ns = start, .also = &toys[1], .delay_ns = 20 * MS },
	};

	(void)state;
	for (size_t i = 0; i < 4; i++)
		add(&timed, &toys[i]);
	assert_int_equal(loop_run(&loop, &problem), 0);
	assert_string_equal(noted, "dba");
	assert_true(monotonic_ns() - start >= 40 * MS);
}

/*
 * It sleeps, and does not ask again and again. Its CPU time would not tell: a host that stops a CPU may
 * leave that to be charged to whoever is on it.
 */
static void test_sleeps(void **state)
{
	struct toy toy = { .name = 'a', .due_ns = monotonic_ns() + 300 * MS, .left = 1 };

	(void)state;
	asked = 0;
	add(&timed, &toy);
	assert_int_equal(loop_run(&loop, &problem), 0);
	assert_in_range(asked, 2, 20);
}

/* A source that always has something keeps none waiting, and what one makes due runs in this turn. */
static void test_turns(void **state)
{
	struct toy last = { .name = 'c', .due_ns = UINT64_MAX, .left = 2 };
	struct toy busy = { .name = 'a' }, between = { .name = 'b', .due_ns = 0, .also = &last };

	(void)state;
	make_pipe(&busy);
	for (int i = 0; i < 3; i++)
		send_byte(&busy);
	busy.also = &last;
	add(&readable, &busy);
	add(&timed, &between);
	add(&timed, &last);
	assert_int_equal(loop_run(&loop, &problem), 0);
	assert_string_equal(noted, "abcac");
	close_pipe(&busy);
}

/* A source with both runs for one of them, and once when both have come. */
static void test_both(void **state)
{
	struct toy toy = { .name = 'a', .due_ns = UINT64_MAX }, stop = { .name = 'z', .left = 1 };

	(void)state;
	make_pipe(&toy);
	send_byte(&toy);
	add(&both, &toy);
	add(&timed, &stop);
	assert_int_equal(loop_run(&loop, &problem), 0);
	assert_string_equal(noted, "az");
	send_byte(&toy);
	toy.due_ns = stop.due_ns = 0;
	stop.left = 1;
	assert_int_equal(loop_run(&loop, &problem), 0);
	assert_string_equal(noted, "azaz");
	close_pipe(&toy);
}

/* The one that ends it is the last one; an error does so with its own words. */
static void test_ends(void **state)
{
	struct toy first = { .name = 'a', .left = 1 }, later = { .name = 'b' };

	(void)state;
	add(&timed, &first);
	add(&timed, &later);
	assert_int_equal(loop_run(&loop, &problem), 0);
	assert_string_equal(noted, "a");
	first = (struct toy){ .name = 'a', .left = 1, .err = -EPIPE };
	assert_int_equal(loop_run(&loop, &problem), -EPIPE);
	assert_string_equal(noted, "aa");
	assert_string_equal(problem.what, "toy a is broken");
}

/* The other end is closed: its reader must hear of it. A descriptor that is none is an error. */
static void test_closed(void **state)
{
	struct toy toy = { .name = 'a', .due_ns = UINT64_MAX, .left = 1 };
	struct toy never = { .name = 'b', .due_ns = UINT64_MAX };
	char byte;

	(void)state;
	make_pipe(&toy);
	make_pipe(&never);
	add(&readable, &never);
	close(never.fds[0]);
	assert_int_equal(loop_run(&loop, &problem), -EBADF);
	assert_string_equal(problem.what, "cannot wait: Bad file descriptor");
	assert_string_equal(noted, "");
	close(never.fds[1]);
	never.fds[1] = 0;
	add(&readable, &toy);
	send_byte(&toy);
	close(toy.fds[1]);
	assert_int_equal(loop_run(&loop, &problem), 0);
	assert_string_equal(noted, "a");
	assert_int_equal(read(toy.fds[0], &byte, 1), 0);
	close(toy.fds[0]);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
	(void)sig;
	alarms++;
}

/*
 * A signal that somebody handles wakes it, and it goes on. The handler stays until it has come: where
 * this test stands still behind one of its lines, it comes last.
 */
static void test_interrupted(void **state)
{
	const struct itimerval soon = { .it_value.tv_usec = 20000 };
	struct sigaction action = { .sa_handler = on_alarm }, before;
	uint64_t start = monotonic_ns();
	struct toy toy = { .name = 'a', .due_ns = start + 60 * MS, .left = 1 };

	(void)state;
	sigaction(SIGALRM, &action, &before);
	setitimer(ITIMER_REAL, &soon, NULL);
	add(&timed, &toy);
	assert_int_equal(loop_run(&loop, &problem), 0);
	assert_true(monotonic_ns() - start >= 60 * MS);
	while (!alarms)
		usleep(1000);
	sigaction(SIGALRM, &before, NULL);
	assert_string_equal(noted, "a");
}

/* One that is added by another one that runs is waited for from then on. */
static int add_another(void *arg, struct diag *d)
{
	struct toy *t = arg;

	t->due_ns = UINT64_MAX;
	return loop_add(&loop, &timed, t->also, d);
}

static const struct loop_source adding = { .when = toy_ns, .run = add_another };

static void test_added_meanwhile(void **state)
{
	struct toy another = { .name = 'b', .left = 1 };
	struct toy toy = { .name = 'a', .also = &another };

	(void)state;
	add(&adding, &toy);
	assert_int_equal(loop_run(&loop, &problem), 0);
	assert_string_equal(noted, "b");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_many_descriptors),
		TEST(test_times),
		TEST(test_sleeps),
		TEST(test_turns),
		TEST(test_both),
		TEST(test_ends),
		TEST(test_closed),
		TEST(test_interrupted),
		TEST(test_added_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
