// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Processes that the user named end, whether a record says so or not. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "live/lookup/live_tasks.h"

static pid_t sleeper(void)
{
	pid_t parent = getpid(), pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		/* It does not outlive a test that fails. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == parent)
			pause();
		_exit(0);
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
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
	end(second);
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
