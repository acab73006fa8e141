// SPDX-License-Identifier: GPL-2.0-only
/*
 * The least that a program must do to know who had the CPU for how long: read the clock, who leaves
 * and in which cgroup, and add to one cell of the CPU. It tells nobody, and keeps nobody apart.
 *
 * The clock and the two loads from the task are the price of the hook under many processes, where
 * nothing of a task is in the caches for long; an empty program touches no memory at all.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

struct cell {
	__u64 since_ns;
	__u64 sum_ns;
	__u64 who;
	__u64 css_set;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cell);
} cells SEC(".maps");

SEC("tp_btf/sched_switch")
int BPF_PROG(bench_floor, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 key = 0;
	struct cell *c = bpf_map_lookup_elem(&cells, &key);

	if (!c)
		return 0;
	c->who += prev->tgid;
	c->css_set = (__u64)prev->cgroups;
	c->sum_ns += now - c->since_ns;
	c->since_ns = now;
	return 0;
}
