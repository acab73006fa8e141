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

typedef __u8 u8;

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

struct pid;

struct signal_struct;

struct css_set;

struct task_struct {
	unsigned int flags;
	struct sched_entity se;
	pid_t pid;
	pid_t tgid;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	u64 start_time;
	char comm[16];
	struct signal_struct *signal;
	struct css_set *cgroups;
};

struct upid {
	int nr;
};

struct pid {
	unsigned int level;
	struct upid numbers[0];
};

struct signal_struct {
	atomic_t live;
};

struct cgroup_subsys_state;

struct cgroup;

struct hrtimer {
	u8 is_soft;
};

struct css_set {
	struct cgroup_subsys_state *subsys[12];
	struct cgroup *dfl_cgrp;
};

struct gendisk {
	char disk_name[32];
	u64 diskseq;
};

struct sock;

struct sk_buff {
	struct sock *sk;
	unsigned int len;
};

struct kernfs_node;

struct cgroup_root;

struct cgroup {
	int level;
	struct kernfs_node *kn;
	struct cgroup_root *root;
};

struct request_queue {
	struct gendisk *disk;
};

struct blkcg_gq;

struct bio {
	struct blkcg_gq *bi_blkg;
};

struct kernfs_node {
	u64 id;
};

struct net {
	u64 net_cookie;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct cgroup_root {
	unsigned int subsys_mask;
	int hierarchy_id;
};

typedef __u32 blk_opf_t;

typedef struct {
	struct net *net;
} possible_net_t;

struct sock_common {
	short unsigned int skc_family;
	volatile unsigned char skc_state;
	possible_net_t skc_net;
};

struct sock_cgroup_data {
	struct cgroup *cgroup;
};

struct sock {
	struct sock_common __sk_common;
	struct sock_cgroup_data sk_cgrp_data;
};

struct net_device {
	int ifindex;
	possible_net_t nd_net;
};

struct bpf_iter_meta {
	union {
		void *seq;
	};
	__u64 seq_num;
};

struct request {
	struct request_queue *q;
	blk_opf_t cmd_flags;
	unsigned int __data_len;
	struct bio *bio;
};

struct bpf_iter__task {
	union {
		struct bpf_iter_meta *meta;
	};
	union {
		struct task_struct *task;
	};
};

struct bpf_iter__bpf_map {
	union {
		struct bpf_iter_meta *meta;
	};
};

struct blkcg;

struct blkcg_gq {
	struct blkcg *blkcg;
	struct blkcg_gq *parent;
};

struct blkcg {
	struct cgroup_subsys_state css;
};

#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute pop
#endif

#endif /* __VMLINUX_H__ */
