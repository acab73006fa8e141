// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the kernel says that it left out is lost, as is what found no room. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "platform/bpf/ledger_internal.h"

/* Descriptors stand for programs. That of a program that was not loaded is negative. */
static int fd_of(const struct bpf_program *prog)
{
	return (int)(intptr_t)prog;
}

int __wrap_bpf_program__fd(const struct bpf_program *prog);
int __wrap_bpf_program__fd(const struct bpf_program *prog)
{
	return fd_of(prog);
}

static bool old_kernel;

int __wrap_bpf_obj_get_info_by_fd(int fd, void *info, uint32_t *size);
int __wrap_bpf_obj_get_info_by_fd(int fd, void *info, uint32_t *size)
{
	struct bpf_prog_info *of = info;

	assert_true(fd >= 0);
	assert_true(*size >= offsetof(struct bpf_prog_info, recursion_misses) + sizeof(uint64_t));
	if (old_kernel)
		return -EINVAL;
	of->recursion_misses = 1ull << fd;
	return 0;
}

static struct bpf_program *program(intptr_t fd)
{
	return (struct bpf_program *)fd; /* NOLINT */
}

static void each_program_counts(void **state)
{
	struct t410trace skel = { 0 };
	struct t410trace__bss bss = { .lost_tasks = 1000000, .lost_cgroups = 2000000 };
	struct ledger l = { .skel = &skel };
	struct ledger_losses lost;

	(void)state;
	skel.bss = &bss;
	skel.progs.task_fork = program(0);
	skel.progs.task_exec = program(1);
	skel.progs.task_rename = program(2);
	skel.progs.task_exit = program(3);
	skel.progs.cgroup_made = program(4);
	skel.progs.cgroup_renamed = program(5);
	skel.progs.cgroup_removed = program(-ENOENT);
	ledger_losses(&l, &lost);
	assert_int_equal(lost.tasks, 1000000 + 1 + 2 + 4 + 8);
	assert_int_equal(lost.cgroups, 2000000 + 16 + 32);
	old_kernel = true;
	ledger_losses(&l, &lost);
	assert_int_equal(lost.tasks, 1000000);
	assert_int_equal(lost.cgroups, 2000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_program_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
