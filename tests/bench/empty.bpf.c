// SPDX-License-Identifier: GPL-2.0-only
/* The least that a program at sched_switch can cost: the yardstick for ours. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("tp_btf/sched_switch")
int bench_empty(void *ctx)
{
	return 0;
}
