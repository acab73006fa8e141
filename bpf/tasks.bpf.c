// SPDX-License-Identifier: GPL-2.0-only
/*
 * Identity of tasks: parents, names and ends. The ledger's slots carry numbers only; these records
 * give them names.
 */
#include "task.bpf.h"

/* include/linux/sched.h */
#define PF_EXITING 0x00000004

/*
 * Records are made on the stack and sent at once: where a kernel cannot keep a task on its CPU, room
 * that it had reserved would hold up all records behind it, see preempt_off().
 */
static __always_inline void send(const struct ledger_task *r)
{
	if (task_send((void *)r, sizeof(*r), ring_flags(ring_wake_bytes)))
		__sync_fetch_and_add(&lost_tasks, 1);
}

static __always_inline bool wanted(const struct task_struct *task)
{
	return by_thread || task->pid == task->tgid;
}

static __always_inline int threads_left(struct task_struct *task)
{
	return BPF_CORE_READ(task, signal, live.counter);
}

/*
 * Its exit record is under way, or came before the run: a zombie stays until it is reaped. A
 * process lives as long as one of its threads, even without its leader.
 */
static __always_inline bool has_ended(struct task_struct *task)
{
	return by_thread ? task->flags & PF_EXITING : !threads_left(task);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(task_fork, struct task_struct *parent, struct task_struct *child)
{
	struct ledger_task r = {};

	if (!wanted(child))
		return 0;
	task_fill(&r, child, LEDGER_TASK_FORK);
	/*
	 * real_parent may be a reaper (CLONE_PARENT, orphaned meanwhile); the children of the
	 * process that called fork are followed.
	 */
	r.parent = parent->tgid;
	r.parent_start_ns = BPF_CORE_READ(parent, group_leader, start_time);
	send(&r);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(task_exec, struct task_struct *task, pid_t old_pid)
{
	struct ledger_task r = {};

	task_fill(&r, task, LEDGER_TASK_NAME);
	/* The leader has exited, and this thread has its number and start time from now on. */
	if (by_thread && old_pid != task->pid)
		r.old_pid = old_pid;
	send(&r);
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(task_rename, struct task_struct *task, const char *comm)
{
	struct ledger_task r = {};

	/* Other threads may rename an exited leader. */
	if (!wanted(task) || has_ended(task))
		return 0;
	task_fill(&r, task, LEDGER_TASK_NAME);
	/* the task still has its old name here */
	bpf_probe_read_kernel_str(r.comm, sizeof(r.comm), comm);
	send(&r);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(task_exit, struct task_struct *task)
{
	struct ledger_task r = {};

	/* signal->live has been counted down for this thread already */
	if (!by_thread && threads_left(task))
		return 0;
	task_fill(&r, task, LEDGER_TASK_EXIT);
	/* The last thread need not be the leader; it is the process that ends. */
	if (!by_thread) {
		r.pid = r.tgid;
		r.start_ns = r.leader_start_ns;
	}
	send(&r);
	return 0;
}

/*
 * Number of a task in the reader's pid namespace. The kernel lists only tasks of that namespace,
 * which have a number in it.
 */
static __always_inline __u32 reader_number(struct task_struct *task)
{
	struct task_struct *reader = (struct task_struct *)bpf_get_current_task();
	__u32 level = BPF_CORE_READ(reader, thread_pid, level);
	const void *numbers = (const void *)BPF_CORE_READ(task, thread_pid) +
			      bpf_core_field_offset(struct pid, numbers);
	__u32 nr = 0;

	bpf_probe_read_kernel(&nr, sizeof(nr),
			      numbers + level * bpf_core_type_size(struct upid) +
				      bpf_core_field_offset(struct upid, nr));
	return nr;
}

/*
 * Existing tasks, which user space reads once at the start: the output is an array of struct
 * ledger_task.
 */
SEC("iter/task")
int task_list(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct ledger_task r = {};

	if (!task || !wanted(task) || has_ended(task))
		return 0;
	task_fill(&r, task, LEDGER_TASK_FORK);
	r.ns_pid = reader_number(task);
	bpf_seq_write(ctx->meta->seq, &r, sizeof(r));
	return 0;
}
