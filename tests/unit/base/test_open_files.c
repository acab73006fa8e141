// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The limit of open files is raised for our events, not for the programs that we start. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/array.h"
#include "base/open_files.h"
#include "live/run/child.h"
#include "live/program/process.h"
#include "skip.h"
#include "temp_file.h"
#include "valgrind.h"

#define SOFT 200

static rlim_t soft(void)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	return limit.rlim_cur;
}

/* Twice, as counters and weights raise it: what a child gets is what was there first. */
static int raise_limit(void **state)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = SOFT;
	if (limit.rlim_max < 1000 || setrlimit(RLIMIT_NOFILE, &limit))
		return -1;
	return open_files_allow(300) == SOFT && open_files_allow(500) > SOFT && soft() > 700
		       ? temp_make(state)
		       : -1;
}

static void assert_told(FILE *f)
{
	char line[32];

	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	assert_int_equal(atoi(line), SOFT);
	fclose(f);
}

static void not_under_valgrind(void)
{
	if (under_valgrind(1, 0))
		skip_because("valgrind keeps limits of files to itself");
}

static void test_command(void **state)
{
	char text[128];
	char *argv[] = { "sh", "-c", text, NULL };
	struct child c;
	struct diag d = { 0 };
	sigset_t none;

	(void)state;
	not_under_valgrind();
	sigemptyset(&none);
	snprintf(text, sizeof(text), "ulimit -Sn > %s", temp_path);
	assert_int_equal(child_prepare(argv, &none, &d, &c), 0);
	assert_int_equal(child_start(&c, "sh", &d), 0);
	assert_int_equal(child_status(&c), 0);
	child_end(&c);
	assert_told(fopen(temp_path, "r"));
	assert_true(soft() > SOFT);
}

static void test_source(void **state)
{
	struct program_process p;
	struct diag d = { 0 };
	struct pollfd out;
	char text[64];

	(void)state;
	not_under_valgrind();
	assert_int_equal(program_process_start("ulimit -Sn", &d, &p), 0);
	out = (struct pollfd){ .fd = p.out, .events = POLLIN };
	assert_int_equal(poll(&out, 1, 60000), 1);
	assert_told(fdopen(dup(p.out), "r"));
	assert_true(program_process_ended(&p, true, text, sizeof(text)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_source),
	};

	return cmocka_run_group_tests(tests, raise_limit, temp_drop);
}
