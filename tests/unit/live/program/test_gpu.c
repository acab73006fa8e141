// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where t410trace-gpu is looked for, and how it is started. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/program/gpu.h"

/* Blanks, quotes and other signs of a shell are parts of a name. */
static void it_is_found_in_path(void **state)
{
	char folder[] = "/tmp/a '$(b)\"XXXXXX", file[100], path[200], command[GPU_COMMAND_LEN];
	char said[100] = "", kept[4096];
	const char *old = getenv("PATH");
	struct diag d = { 0 };
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/t410trace-gpu", folder);
	f = fopen(file, "w");
	assert_non_null(f);
	fputs("#!/bin/sh\necho \"it is $1\"\n", f);
	fclose(f);
	snprintf(kept, sizeof(kept), "%s", old ? old : "");
	snprintf(path, sizeof(path), "/nowhere::%s", folder);
	setenv("PATH", path, 1);
	/* It cannot be run yet. */
	assert_int_equal(gpu_find("--check", &d, command, sizeof(command)), -ENOENT);
	assert_int_equal(chmod(file, 0755), 0);
	assert_int_equal(gpu_find("--check", &d, command, sizeof(command)), 0);
	setenv("PATH", kept, 1);
	f = popen(command, "r");
	assert_non_null(f);
	assert_non_null(fgets(said, sizeof(said), f));
	assert_int_equal(pclose(f), 0);
	assert_string_equal(said, "it is --check\n");
	unlink(file);
	rmdir(folder);
}

static void missing_one_has_a_remedy(void **state)
{
	char command[GPU_COMMAND_LEN], kept[4096];
	const char *old = getenv("PATH");
	struct diag d = { 0 };

	(void)state;
	snprintf(kept, sizeof(kept), "%s", old ? old : "");
	unsetenv("PATH");
	assert_int_equal(gpu_find("", &d, command, sizeof(command)), -ENOENT);
	setenv("PATH", kept, 1);
	assert_non_null(strstr(d.what, "t410trace-gpu is not beside t410trace"));
	assert_non_null(strstr(d.help, "also beside a static t410trace"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_found_in_path),
		cmocka_unit_test(missing_one_has_a_remedy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
