// SPDX-License-Identifier: GPL-2.0-only
/* Definitions of the maps and globals that shared.bpf.h and io.bpf.h declare. */
#include "io.bpf.h"

char LICENSE[] SEC("license") = "GPL";

struct ledger_map ledgers SEC(".maps");
struct reader_map readers SEC(".maps");
struct ring_map ring SEC(".maps");
struct io_table_map io_tables SEC(".maps");

__u64 lost_tasks;
__u64 lost_cgroups;
__u64 io_not_undone;
struct ledger_io_lost io_lost[LEDGER_MAX_DEVICES];

/* User space names it when the verifier rejects its output. */
const volatile char compiler[] = __VERSION__;

const volatile __u32 by_thread;
const volatile __u32 rests;
const volatile __u32 v1_controller;
const volatile __u32 v1_subsys;
const volatile __u64 ring_wake_bytes = 1 << 19;
const volatile __u64 io_age_ticks = 1;
