// SPDX-License-Identifier: GPL-2.0-only
/* The least that a program at a hook of ours can cost: the yardstick for ours. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("tp_btf/sched_switch")
int bench_empty(void *ctx)
{
	return 0;
}

SEC("tp_btf/hrtimer_expire_entry")
int bench_tick(void *ctx)
{
	return 0;
}
