/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the BPF objects share. They are compiled one by one and linked into one
 * object (bpftool gen object), so maps and globals are defined in one file,
 * maps.bpf.c, and declared here for the others.
 */
#ifndef T410TRACE_SHARED_BPF_H
#define T410TRACE_SHARED_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "records.h"

/* One entry per possible CPU; user space sets the size and maps it for reading. */
struct ledger_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_ledger);
};

/* One entry per socket, see struct ledger_reader. */
struct reader_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LEDGER_MAX_SOCKETS);
	__type(key, __u32);
	__type(value, struct ledger_reader);
};

struct ring_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
};

extern struct ledger_map ledgers SEC(".maps");
extern struct reader_map readers SEC(".maps");
extern struct ring_map ring SEC(".maps");

/* Records other than slices and windows that found no room in the ring buffer. */
extern __u64 lost_tasks;
extern __u64 lost_cgroups;

/* Set before load: ledger by thread instead of by process. */
extern const volatile __u32 by_thread;

/*
 * User space empties the ring by its own clock; waking it at every record would
 * cost an interrupt each. Only a ring that fills up early calls for it.
 */
static __always_inline __u64 ring_flags(__u64 wake_above)
{
	return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > wake_above ? BPF_RB_FORCE_WAKEUP
									: BPF_RB_NO_WAKEUP;
}

/* Half of the ring's size, set before load. */
extern const volatile __u64 ring_wake_bytes;

static __always_inline __u64 task_cgroup_id(const struct task_struct *task)
{
	return task->cgroups->dfl_cgrp->kn->id;
}

#endif
