// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whose numbers does a proc have? In invented ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/array.h"
#include "platform/sys/pid_namespace.h"
#include "tree.h"

static void test_numbers(void **state)
{
	static const struct {
		const char *status;
		const char *link;
		bool has_proc;
		bool machine;
	} rows[] = {
		{ "Name:\tx\nNSpid:\t4711\nVm:\t1\n", "pid:[4026531836]", true, true },
		/* a kernel without namespaces */
		{ "Name:\tx\n", "pid:[4026531836]", true, true },
		/* a container */
		{ "Name:\tx\nNSpid:\t7\n", "pid:[4026532200]", true, false },
		/* one with the proc of the machine, also two levels up */
		{ "Name:\tx\nNSpid:\t4711\t7\n", "pid:[4026532200]", false, false },
		{ "Name:\tx\nNSpid:\t4711\t7\t1\n", "pid:[4026532200]", false, false },
		/* a name cannot make a line of its own */
		{ "Name:\tNSpid:\nNSpid:\t4711\t7\n", "pid:[4026532200]", false, false },
		/* of a namespace that we are not in */
		{ NULL, NULL, false, false },
		{ "Name:\tx\nNSpid:\t7\n", NULL, true, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char proc[PATH_MAX];
		struct tree tree;

		tree_make(&tree);
		if (rows[i].status)
			tree_put(&tree, "proc/self/status", rows[i].status);
		if (rows[i].link)
			tree_link(&tree, "proc/self/ns/pid", rows[i].link);
		tree_path(&tree, "proc", proc);
		assert_int_equal(pid_namespace_has_proc(proc), rows[i].has_proc);
		assert_int_equal(pid_namespace_is_machine(proc), rows[i].machine);
		tree_remove(&tree);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_numbers) };

	return cmocka_run_group_tests_name("pid_namespace", tests, NULL, NULL);
}
