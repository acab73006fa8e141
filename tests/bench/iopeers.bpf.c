// SPDX-License-Identifier: GPL-2.0-only
/*
 * What others do at the places where we are, with the means that they use: a hash map by
 * request and a record for each one, as biosnoop does; a hash map by process, addresses and
 * ports, as tcptop does. Debian's own need kernel probes, which not every kernel has. And
 * programs that do nothing: what the kernel takes for calling any, and for timing it.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

SEC("tp_btf/block_io_start")
int empty_start(void *ctx)
{
	return 0;
}

SEC("tp_btf/block_rq_complete")
int empty_complete(void *ctx)
{
	return 0;
}

SEC("tp_btf/net_dev_start_xmit")
int empty_sent(void *ctx)
{
	return 0;
}

SEC("tp_btf/net_dev_xmit")
int empty_not_sent(void *ctx)
{
	return 0;
}

/* Not where io_received is, but once a packet, too. */
SEC("tp_btf/netif_receive_skb")
int empty_received(void *ctx)
{
	return 0;
}

struct snoop_request {
	__u64 start_ns;
	__u64 issue_ns;
	__u64 cgroup;
	__u32 pid;
	__u32 pad;
	char comm[16];
};

struct snoop_record {
	__u64 ns;
	__u64 queued_ns;
	__u64 cgroup;
	__u32 pid;
	__u32 bytes;
	__u32 flags;
	__u32 pad;
	char comm[16];
	char disk[32];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 10240);
	__type(key, void *);
	__type(value, struct snoop_request);
} snoop_requests SEC(".maps");

/* Nobody reads it: it is large enough for a round. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} snoop_records SEC(".maps");

SEC("tp_btf/block_io_start")
int BPF_PROG(snoop_start, struct request *rq)
{
	struct snoop_request r = { .start_ns = bpf_ktime_get_ns() };

	r.pid = bpf_get_current_pid_tgid() >> 32;
	r.cgroup = bpf_get_current_cgroup_id();
	bpf_get_current_comm(r.comm, sizeof(r.comm));
	bpf_map_update_elem(&snoop_requests, &rq, &r, BPF_ANY);
	return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(snoop_issue, struct request *rq)
{
	struct snoop_request *r = bpf_map_lookup_elem(&snoop_requests, &rq);

	if (r)
		r->issue_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(snoop_complete, struct request *rq, int error, unsigned int bytes)
{
	struct snoop_request *r = bpf_map_lookup_elem(&snoop_requests, &rq);
	__u64 now = bpf_ktime_get_ns();
	struct snoop_record *out;

	if (!r)
		return 0;
	out = bpf_ringbuf_reserve(&snoop_records, sizeof(*out), 0);
	if (out) {
		out->ns = now - r->issue_ns;
		out->queued_ns = r->issue_ns - r->start_ns;
		out->cgroup = r->cgroup;
		out->pid = r->pid;
		out->bytes = bytes;
		out->flags = rq->cmd_flags;
		__builtin_memcpy(out->comm, r->comm, sizeof(out->comm));
		bpf_probe_read_kernel_str(out->disk, sizeof(out->disk), rq->q->disk->disk_name);
		bpf_ringbuf_submit(out, BPF_RB_NO_WAKEUP);
	}
	bpf_map_delete_elem(&snoop_requests, &rq);
	return 0;
}

struct top_key {
	__u32 local;
	__u32 remote;
	__u32 pid;
	__u16 local_port;
	__u16 remote_port;
	char comm[16];
};

struct top_sums {
	__u64 sent;
	__u64 received;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 10240);
	__type(key, struct top_key);
	__type(value, struct top_sums);
} top_connections SEC(".maps");

/* The program's own view of a kernel type that ours do not use all of. */
struct sock_common___top {
	__u32 skc_daddr;
	__u32 skc_rcv_saddr;
	__u16 skc_dport;
	__u16 skc_num;
} __attribute__((preserve_access_index));

static __always_inline int top_add(struct sock *sk, __u64 sent, __u64 received)
{
	struct sock_common___top *c = (void *)&sk->__sk_common;
	struct top_key key = { .pid = bpf_get_current_pid_tgid() >> 32 };
	struct top_sums *sums, none = {};

	bpf_probe_read_kernel(&key.local, sizeof(key.local),
			      __builtin_preserve_access_index(&c->skc_rcv_saddr));
	bpf_probe_read_kernel(&key.remote, sizeof(key.remote),
			      __builtin_preserve_access_index(&c->skc_daddr));
	bpf_probe_read_kernel(&key.local_port, sizeof(key.local_port),
			      __builtin_preserve_access_index(&c->skc_num));
	bpf_probe_read_kernel(&key.remote_port, sizeof(key.remote_port),
			      __builtin_preserve_access_index(&c->skc_dport));
	bpf_get_current_comm(key.comm, sizeof(key.comm));
	sums = bpf_map_lookup_elem(&top_connections, &key);
	if (!sums) {
		bpf_map_update_elem(&top_connections, &key, &none, BPF_NOEXIST);
		sums = bpf_map_lookup_elem(&top_connections, &key);
		if (!sums)
			return 0;
	}
	sums->sent += sent;
	sums->received += received;
	return 0;
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(top_send, struct sock *sk, int ret, int flags)
{
	return ret > 0 ? top_add(sk, ret, 0) : 0;
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(top_receive, struct sock *sk, int ret, int flags)
{
	return ret > 0 ? top_add(sk, 0, ret) : 0;
}
