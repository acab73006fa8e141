// SPDX-License-Identifier: GPL-2.0-only
/*
 * One task by its number on the machine, from any pid namespace: the list of tasks.bpf.c has only
 * tasks of the reader's namespace.
 *
 * It is a separate object, because it needs functions that the kernel has since Linux 6.2. If the
 * kernel lacks a function, libbpf searches all modules for it, fails without CAP_SYS_ADMIN, and
 * gives up the whole object, even if no program that needs the function is loaded.
 */
#include "task.bpf.h"

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 v1_controller;
const volatile __u32 v1_subsys;

extern struct task_struct *bpf_task_from_pid(__s32 pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *task) __ksym __weak;

/* Its number; user space writes it. */
__u32 asked_task;

/*
 * A list of maps is a door only: the answer comes with its first map. A program for the elements of
 * one map would be called once, but some kernels refuse to load any.
 */
SEC("iter/bpf_map")
int task_one(struct bpf_iter__bpf_map *ctx)
{
	struct ledger_task r = {};
	struct task_struct *task;

	if (ctx->meta->seq_num)
		return 0;
	task = bpf_task_from_pid(asked_task);
	if (!task)
		return 0;
	task_fill(&r, task, LEDGER_TASK_NAME);
	bpf_task_release(task);
	bpf_seq_write(ctx->meta->seq, &r, sizeof(r));
	return 0;
}
