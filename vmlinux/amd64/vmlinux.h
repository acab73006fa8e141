/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernel types the BPF programs use; made by "make vmlinux", not by hand.
 * Members only, no padding: CO-RE finds the offsets when a program is loaded.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

#include <linux/bpf.h>
#include <stdbool.h>

#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute push (__attribute__((preserve_access_index)), apply_to = record)
#endif

typedef __u64 u64;

typedef int __kernel_pid_t;

typedef __kernel_pid_t pid_t;

typedef struct {
	int counter;
} atomic_t;

struct sched_entity {
	u64 sum_exec_runtime;
	u64 prev_sum_exec_runtime;
};

struct signal_struct;

struct css_set;

struct task_struct {
	unsigned int flags;
	struct sched_entity se;
	pid_t pid;
	pid_t tgid;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	u64 start_time;
	char comm[16];
	struct signal_struct *signal;
	struct css_set *cgroups;
};

struct signal_struct {
	atomic_t live;
};

struct cgroup;

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct kernfs_node;

struct cgroup_root;

struct cgroup {
	struct kernfs_node *kn;
	struct cgroup_root *root;
};

struct kernfs_node {
	u64 id;
};

struct cgroup_root {
	int hierarchy_id;
};

struct bpf_iter_meta {
	union {
		void *seq;
	};
};

struct bpf_iter__task {
	union {
		struct bpf_iter_meta *meta;
	};
	union {
		struct task_struct *task;
	};
};

#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute pop
#endif

#endif /* __VMLINUX_H__ */
