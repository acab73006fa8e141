// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of cgroups made during the run: a job's cgroup may be gone before user space can read its
 * path from cgroupfs.
 */
#include "shared.bpf.h"

/*
 * Hierarchies number their cgroups independently. Ids of the default one, 0, are kept, those of the
 * chosen v1 controller get a number in the upper bits; 0: irrelevant.
 */
static __always_inline __u64 trace_id(struct cgroup *cgrp)
{
	/* See gone_set_cgroup_id(): this is not done often. */
	struct cgroup_root *root = BPF_CORE_READ(cgrp, root);
	__u64 id = BPF_CORE_READ(cgrp, kn, id);

	if (!BPF_CORE_READ(root, hierarchy_id))
		return id;
	return v1_controller && BPF_CORE_READ(root, subsys_mask) >> v1_subsys & 1 ? v1_id(id) : 0;
}

/*
 * A new cgroup may be a job's, whose tasks are asked for its name: user space is woken for it, but
 * not more often than this, even if cgroups are made by the thousand.
 */
#define WAKE_PAUSE_NS 10000000

__u64 cgroups_woken_ns;

static __always_inline __u64 wake_flags(__u32 type, __u64 now)
{
	if (type != LEDGER_CGROUP_NEW || now - cgroups_woken_ns < WAKE_PAUSE_NS)
		return ring_flags(ring_wake_bytes);
	cgroups_woken_ns = now;
	return BPF_RB_FORCE_WAKEUP;
}

/*
 * A record is too large for the stack. It is built here and sent at once, see send() in
 * tasks.bpf.c. The kernel calls this for one cgroup at a time: it holds the lock of all cgroups.
 */
static struct ledger_cgroup record;

static __always_inline void cgroup_record(struct cgroup *cgrp, const char *path, __u32 type)
{
	__u64 now = bpf_ktime_get_ns();
	__u64 id = trace_id(cgrp);
	__u32 length = 0;

	if (!id)
		return;
	if (type != LEDGER_CGROUP_GONE) {
		long read =
			path ? bpf_probe_read_kernel_str(record.path, LEDGER_PATH_LEN, path) : 0;

		if (read <= 0)
			record.path[0] = '\0';
		length = at_most(read > 0 ? read : 1, LEDGER_PATH_LEN);
	}
	record.h.type = type;
	record.h.cpu = bpf_get_smp_processor_id();
	record.h.time_ns = now;
	record.id = id;
	if (task_send(&record, offsetof(struct ledger_cgroup, path) + length,
		      wake_flags(type, now)))
		__sync_fetch_and_add(&lost_cgroups, 1);
}

SEC("tp_btf/cgroup_mkdir")
int BPF_PROG(cgroup_made, struct cgroup *cgrp, const char *path)
{
	cgroup_record(cgrp, path, LEDGER_CGROUP_NEW);
	return 0;
}

SEC("tp_btf/cgroup_rename")
int BPF_PROG(cgroup_renamed, struct cgroup *cgrp, const char *path)
{
	cgroup_record(cgrp, path, LEDGER_CGROUP_NEW);
	return 0;
}

SEC("tp_btf/cgroup_rmdir")
int BPF_PROG(cgroup_removed, struct cgroup *cgrp, const char *path)
{
	cgroup_record(cgrp, NULL, LEDGER_CGROUP_GONE);
	return 0;
}
