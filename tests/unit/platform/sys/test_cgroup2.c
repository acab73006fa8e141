// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "platform/sys/cgroup2.h"

#define PROC  "28 2 0:25 / /proc rw,relatime - proc proc rw\n"
#define V1    "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
#define V2(p) "38 29 0:32 / " p " rw,relatime - cgroup2 cgroup2 rw\n"

static int find(const char *text, char *path, size_t size)
{
	FILE *file;
	int err;

	/* fmemopen() refuses an empty buffer. */
	file = text[0] ? fmemopen((void *)text, strlen(text), "r") : fopen("/dev/null", "r");
	assert_non_null(file);
	err = cgroup2_mount_find(file, path, size);
	fclose(file);
	return err;
}

static void test_found(void **state)
{
	static const struct {
		const char *text;
		const char *path;
	} rows[] = {
		{ PROC V2("/sys/fs/cgroup"), "/sys/fs/cgroup" },
		{ PROC V1 V2("/sys/fs/cgroup/unified"), "/sys/fs/cgroup/unified" },
		{ V2("/first") V2("/second"), "/first" },
		{ V2("/with\\040blank\\134and\\011tab\\012end"), "/with blank\\and\ttab\nend" },
		{ V2("/high\\303\\251"), "/high\303\251" },
		/* optional fields, several, one or none */
		{ "1 2 0:3 / /a rw shared:5 master:7 - cgroup2 x rw\n", "/a" },
		{ "1 2 0:3 / /a rw shared:5 - cgroup2 x rw\n", "/a" },
		/* the name of the source does not matter, nor does a missing newline */
		{ "1 2 0:3 / /a rw - cgroup2 none rw", "/a" },
		/* the root of the tree is better than a branch of it */
		{ "1 2 0:3 /branch /b rw - cgroup2 x rw\n" V2("/root") V2("/other"), "/root" },
		{ "1 2 0:3 /branch /b rw - cgroup2 x rw\n", "/b" },
		{ "1 2 0:3 /x /b rw - cgroup2 x rw\n1 2 0:3 /y /c rw - cgroup2 x rw\n", "/b" },
		/* junk before it */
		{ "junk\n\n - cgroup2\n1 2 3 4 5 - cgroup2 x rw\n" V2("/good"), "/good" },
		{ V2("/bad\\04") V2("/bad\\999") V2("/bad\\777") V2("/bad\\000") V2("/good"),
		  "/good" },
		{ V2("relative") V2("/good"), "/good" },
		/* a mount point that looks like the type */
		{ "1 2 0:3 / /cgroup2 rw - tmpfs cgroup2 rw\n" V2("/good"), "/good" },
	};
	char path[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		strcpy(path, "before");
		assert_int_equal(find(rows[i].text, path, sizeof(path)), 0);
		assert_string_equal(path, rows[i].path);
	}
}

/* Other file systems have a root with the number 1, too. */
static void test_whole(void **state)
{
	(void)state;
	assert_false(cgroup_mount_is_whole("/proc"));
	assert_false(cgroup_mount_is_whole("/sys"));
	assert_false(cgroup_mount_is_whole("/nosuch"));
	assert_false(cgroup_mount_is_whole(""));
}

static void test_not_found(void **state)
{
	static const char *const rows[] = {
		"",
		"\n",
		PROC V1,
		"junk",
		"1 2 0:3 / /a rw cgroup2 cgroup2 rw\n",
		"1 2 0:3 / /a rw -\n",
		"1 2 0:3 / /a rw - cgroup22 x rw\n",
		"1 2 0:3 / /a rw - cgroup cgroup2 rw\n",
	};
	char path[64] = "before";

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(find(rows[i], path, sizeof(path)), -ENOENT);
		assert_string_equal(path, "before");
	}
}

static void test_room(void **state)
{
	char path[8] = "before";

	(void)state;
	assert_int_equal(find(V2("/1234567"), path, sizeof(path)), -ENAMETOOLONG);
	assert_string_equal(path, "before");
	assert_int_equal(find(V2("/123456"), path, sizeof(path)), 0);
	assert_string_equal(path, "/123456");
}

static int find_v1(const char *text, const char *controller, char *path, size_t size)
{
	FILE *file = fmemopen((void *)text, strlen(text), "r");
	int err;

	assert_non_null(file);
	err = cgroup1_mount_find(file, controller, path, size);
	fclose(file);
	return err;
}

static void test_v1(void **state)
{
	static const char text[] = V2("/sys/fs/cgroup/unified") V1
		"1 2 0:3 /docker/x /branch rw - cgroup cgroup rw,freezer\n"
		"1 2 0:4 / /free\\040zer rw shared:3 - cgroup cgroup rw,nosuid,freezer\n"
		"1 2 0:5 / /joint rw - cgroup cgroup rw,net_cls,net_prio\n"
		"1 2 0:6 / /named rw - cgroup cgroup rw,xattr,name=systemd\n"
		"1 2 0:6 / /short rw - cgroup\n"
		"1 2 0:7 / /other rw - tmpfs cgroup rw,pids\n";
	char path[64];

	(void)state;
	assert_int_equal(find_v1(text, "cpu", path, sizeof(path)), 0);
	assert_string_equal(path, "/sys/fs/cgroup/cpu");
	assert_int_equal(find_v1(text, "freezer", path, sizeof(path)), 0);
	assert_string_equal(path, "/free zer");
	assert_int_equal(find_v1(text, "net_prio", path, sizeof(path)), 0);
	assert_string_equal(path, "/joint");
	assert_int_equal(find_v1(text, "net", path, sizeof(path)), -ENOENT);
	assert_int_equal(find_v1(text, "cpuset", path, sizeof(path)), -ENOENT);
	assert_int_equal(find_v1(text, "pids", path, sizeof(path)), -ENOENT);
	assert_int_equal(find_v1(text, "systemd", path, sizeof(path)), -ENOENT);
	assert_int_equal(find_v1(text, "freezer", path, 8), -ENAMETOOLONG);
}

static void test_read_error(void **state)
{
	char path[64] = "before";
	FILE *file = fopen("/", "r");

	(void)state;
	assert_non_null(file);
	assert_int_equal(cgroup2_mount_find(file, path, sizeof(path)), -EIO);
	assert_string_equal(path, "before");
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),	   cmocka_unit_test(test_not_found),
		cmocka_unit_test(test_whole),	   cmocka_unit_test(test_not_found),
		cmocka_unit_test(test_room),	   cmocka_unit_test(test_v1),
		cmocka_unit_test(test_read_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
