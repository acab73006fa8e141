// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of cgroups made while we look on: a job's cgroup may be gone before user
 * space could read its path from cgroupfs.
 */
#include "shared.bpf.h"

/*
 * Hierarchies number their cgroups independently. Those of the default one, 0, have their number, those
 * of the chosen v1 controller another one; 0: of no interest.
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
 * A new cgroup may be a job's, whose tasks are asked for its name: user space is woken for it,
 * but not more often than this, whoever makes cgroups by the thousand.
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

/* Room for a record and @length bytes of its path, which are filled in; NULL: there is none. */
static __always_inline struct ledger_cgroup *reserve(const char *path, __u32 length, long *ret)
{
	struct ledger_cgroup *r =
		bpf_ringbuf_reserve(&ring, offsetof(struct ledger_cgroup, path) + length, 0);

	*ret = 0;
	if (!r || !length)
		return r;
	r->path[0] = '\0';
	if (path)
		*ret = bpf_probe_read_kernel_str(r->path, length, path);
	return r;
}

static __always_inline void cgroup_record(struct cgroup *cgrp, const char *path, __u32 type)
{
	struct ledger_cgroup *r;
	__u64 id = trace_id(cgrp);
	long length;

	if (!id)
		return;
	if (type == LEDGER_CGROUP_GONE) {
		r = reserve(NULL, 0, &length);
	} else {
		r = reserve(path, LEDGER_SHORT_PATH, &length);
		if (r && length >= LEDGER_SHORT_PATH) {
			bpf_ringbuf_discard(r, BPF_RB_NO_WAKEUP);
			r = reserve(path, LEDGER_PATH_LEN, &length);
		}
	}
	if (!r) {
		__sync_fetch_and_add(&lost_cgroups, 1);
		return;
	}
	r->h.type = type;
	r->h.cpu = bpf_get_smp_processor_id();
	r->h.time_ns = bpf_ktime_get_ns();
	r->id = id;
	bpf_ringbuf_submit(r, wake_flags(type, r->h.time_ns));
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
