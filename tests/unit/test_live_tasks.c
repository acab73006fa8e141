// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Processes that the user named end, whether a record says so or not. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "live/live_tasks.h"

static pid_t sleeper(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		pause();
		_exit(0);
	}
	return pid;
}

/* It has ended, and nobody has waited for it yet. */
static void end(pid_t pid)
{
	siginfo_t info;

	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
}

static void an_end_is_told_once(void **state)
{
	struct live_tasks t = { 0 };
	pid_t first = sleeper(), second = sleeper();

	(void)state;
	assert_false(live_tasks_some_ended(&t));
	assert_int_equal(live_tasks_remember(&t, first), 0);
	assert_int_equal(live_tasks_remember(&t, second), 0);
	assert_false(live_tasks_some_ended(&t));
	end(first);
	assert_true(live_tasks_some_ended(&t));
	assert_false(live_tasks_some_ended(&t));
	waitpid(first, NULL, 0);
	end(second);
	waitpid(second, NULL, 0);
	assert_true(live_tasks_some_ended(&t));
	assert_false(live_tasks_some_ended(&t));
	live_tasks_free(&t);
	assert_false(live_tasks_some_ended(&t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_end_is_told_once),
	};

	return cmocka_run_group_tests_name("live_tasks", tests, NULL, NULL);
}
