// SPDX-License-Identifier: GPL-2.0-only
/* Definitions of the maps and globals that shared.bpf.h declares. */
#include "shared.bpf.h"

char LICENSE[] SEC("license") = "GPL";

struct ledger_map ledgers SEC(".maps");
struct reader_map readers SEC(".maps");
struct ring_map ring SEC(".maps");

__u64 lost_tasks;
__u64 lost_cgroups;

const volatile __u32 by_thread;
const volatile __u64 ring_wake_bytes = 1 << 19;
