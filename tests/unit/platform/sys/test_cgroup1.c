// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which v1 hierarchy is chosen, on machines made of folders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "platform/sys/cgroup1.h"
#include "tree.h"
#include "trace.h"

static struct tree tree;
static struct diag d;

/* A machine: hierarchies that are mounted, "+" before those that have cgroups. */
static int choose(const char *mounts, const char *wanted, struct cgroup1 *ret)
{
	char list[256], name[128], path[PATH_MAX], text[4096] = "";
	char *save = NULL;
	int err;

	tree_make(&tree);
	snprintf(list, sizeof(list), "%s", mounts);
	for (char *m = strtok_r(list, " ", &save); m; m = strtok_r(NULL, " ", &save)) {
		const char *controllers = m + strspn(m, "+");

		snprintf(name, sizeof(name), "fs/%s/%s", controllers, m[0] == '+' ? "a/x" : "x");
		tree_put(&tree, name, "");
		/* no cgroups */
		snprintf(name, sizeof(name), "fs/%s/tasks", controllers);
		tree_put(&tree, name, "");
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 !strcmp(controllers, "v2") ? "1 2 0:3 / %s/fs/%s rw - cgroup2 x rw\n"
						    : "1 2 0:3 / %s/fs/%s rw - cgroup x rw,%s\n",
			 tree.root, controllers, controllers);
	}
	tree_put(&tree, "mountinfo", text);
	tree_path(&tree, "mountinfo", path);
	d = (struct diag){ 0 };
	err = cgroup1_choose(wanted, path, &d, ret);
	tree_remove(&tree);
	return err;
}

static void test_choice(void **state)
{
	static const struct {
		const char *mounts;
		const char *wanted;
		const char *controller;
	} rows[] = {
		/* everything is in the v2 tree */
		{ "v2", "auto", "" },
		{ "+v2", "auto", "" },
		{ "", "auto", "" },
		/* hybrid: only what service managers leave alone is about jobs */
		{ "+v2 +memory +pids +devices freezer cpuset", "auto", "freezer" },
		{ "+v2 +memory +pids freezer +cpuset", "auto", "cpuset" },
		{ "+v2 +memory +cpuset +freezer", "auto", "freezer" },
		{ "+v2 +memory cpuset", "auto", "cpuset" },
		{ "+v2 +memory +pids", "auto", "" },
		/* the v2 tree says nothing, or is not there */
		{ "v2 memory +pids", "auto", "pids" },
		{ "memory +pids cpu", "auto", "pids" },
		{ "devices cpu,cpuacct memory", "auto", "memory" },
		{ "+cpu,cpuacct", "auto", "cpu" },
		/* never without being asked to */
		{ "+blkio +net_cls,net_prio", "auto", "" },
		{ "+v2 +memory +freezer", "memory", "memory" },
		{ "+v2 cpu,cpuacct", "cpuacct", "cpuacct" },
		{ "net_cls,net_prio", "net_prio", "net_prio" },
		{ "+v2 +freezer", "none", "" },
	};
	struct cgroup1 c;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(choose(rows[i].mounts, rows[i].wanted, &c), 0);
		if (strcmp(c.controller, rows[i].controller) != 0)
			print_error("%s, %s\n", rows[i].mounts, rows[i].wanted);
		assert_string_equal(c.controller, rows[i].controller);
		assert_int_equal(!c.number, !c.controller[0]);
		assert_int_equal(!c.mount[0], !c.controller[0]);
	}
}

static void test_problems(void **state)
{
	struct cgroup1 c;

	(void)state;
	assert_int_equal(choose("+v2 freezer", "memory", &c), -ENOENT);
	assert_non_null(strstr(d.what, "--cgroup-v1 memory: this controller is not mounted as v1"));
	assert_true(d.help[0]);
	assert_int_equal(choose("+v2 freezer", "floppy", &c), -EINVAL);
	assert_non_null(strstr(d.what, "no such controller"));
	/* part of a name, or of a list */
	assert_int_equal(choose("cpu,cpuacct", "cpuset", &c), -ENOENT);
	assert_int_equal(choose("cpuset", "cpu", &c), -ENOENT);
	assert_int_equal(cgroup1_choose("auto", "/nowhere", &d, &c), -ENOENT);
}

static void test_ids(void **state)
{
	struct cgroup1 c = { .controller = "freezer", .number = cgroup1_number("freezer") };
	char path[64];

	(void)state;
	/* these are in recordings: they never change */
	assert_int_equal(cgroup1_number("freezer"), 1);
	assert_int_equal(cgroup1_number("cpuset"), 2);
	assert_int_equal(cgroup1_number("misc"), 14);
	assert_int_equal(cgroup1_number("name=systemd"), 0);
	assert_int_equal(cgroup1_number(""), 0);
	assert_true(cgroup1_id(&c, 3) == (1ull << TRACE_HIERARCHY_SHIFT) + 3);
	/* all of them are numbers that every JSON reader takes exactly */
	assert_true(15ull << TRACE_HIERARCHY_SHIFT < 1ull << 53);

	assert_int_equal(cgroup1_path(&c, "/slurm", path, sizeof(path)), 0);
	assert_string_equal(path, "freezer:/slurm");
	assert_string_equal(cgroup1_below(&c, path), "/slurm");
	assert_string_equal(cgroup1_below(&c, "freezer:/"), "/");
	assert_null(cgroup1_below(&c, "/slurm"));
	assert_null(cgroup1_below(&c, "/freezer:/slurm"));
	assert_null(cgroup1_below(&c, "freezer"));
	assert_null(cgroup1_below(&c, "freezer:x"));
	assert_null(cgroup1_below(&c, "cpuset:/slurm"));
	assert_int_equal(cgroup1_path(&c, "/slurm", path, 14), -ENAMETOOLONG);
	c = (struct cgroup1){ 0 };
	assert_null(cgroup1_below(&c, ":/slurm"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_problems),
		cmocka_unit_test(test_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
