/* SPDX-License-Identifier: GPL-2.0-only */
/* Records of a task: for tasks.bpf.c, and for lookup.bpf.c, which is a separate object. */
#ifndef T410TRACE_TASK_BPF_H
#define T410TRACE_TASK_BPF_H

#include "shared.bpf.h"

/* include/linux/sched.h */
#define PF_KTHREAD 0x00200000

static __always_inline void task_fill(struct ledger_task *r, struct task_struct *task, __u32 type)
{
	/* See gone_set_cgroup_id(): all of this is rare. */
	struct task_struct *parent = BPF_CORE_READ(task, real_parent);

	r->h.type = type;
	r->h.cpu = bpf_get_smp_processor_id();
	r->h.time_ns = bpf_ktime_get_ns();
	r->pid = task->pid;
	r->tgid = task->tgid;
	r->parent = BPF_CORE_READ(parent, tgid);
	r->parent_start_ns = BPF_CORE_READ(parent, group_leader, start_time);
	r->flags = task->flags & PF_KTHREAD ? LEDGER_TASK_KTHREAD : 0;
	r->start_ns = task->start_time;
	r->leader_start_ns = BPF_CORE_READ(task, group_leader, start_time);
	r->cgroup_id = gone_task_cgroup_id(task);
	r->old_pid = 0;
	r->ns_pid = 0;
	bpf_probe_read_kernel_str(r->comm, sizeof(r->comm), task->comm);
}

#endif
