// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets: bytes of network interfaces by the task that caused them.
 *
 * A packet is sent or received in any context, so its owner is that of its socket: the cgroup in
 * which the socket was made, and the process that made it or used it last, which programs in that
 * process's context note in the socket. Sockets know nothing of v1 hierarchies: if one is chosen,
 * the cgroup is the process's, if it is in one of these.
 */
#include "io.bpf.h"

#define AF_INET		 2
#define AF_INET6	 10
#define AF_PACKET	 17
#define TCP_SYN_SENT	 2
#define TCP_TIME_WAIT	 6
#define TCP_LISTEN	 10
#define TCP_NEW_SYN_RECV 12

#define PACKET_LOOPBACK	 5 /* include/uapi/linux/if_packet.h */

#define LINK_HEADER	 14   /* of an Ethernet packet; received ones have it removed already */
#define XMIT_MASK	 0x0f /* from here on the driver rejected the packet */

/*
 * User of a socket, and constant facts that take many steps to find: @netns, the cookie of its
 * network namespace, and its cgroup. @check: see checked().
 */
struct socket_user {
	__u32 pid;
	__u32 tgid;
	__u64 start_ns;
	__u64 cgroup_id;
	__u64 netns;
	__u64 check;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags,
	       BPF_F_NO_PREALLOC | BPF_F_CLONE); /* accepted sockets have the listener's */
	__type(key, int);
	__type(value, struct socket_user);
} io_sockets SEC(".maps");

/* See LEDGER_IF_SETS. */
__u64 io_interfaces[LEDGER_IF_SETS * LEDGER_IF_WAYS];

/* Set before load: cookie of our network namespace; whether a packet can be asked for its own. */
const volatile __u64 io_netns;
const volatile __u32 io_has_cookie;

static __always_inline __u32 interface(__u32 ifindex, bool stacked)
{
	__u32 set = bounded(ifindex, LEDGER_IF_SETS) * LEDGER_IF_WAYS, i;
	__u64 entry;

	for (i = 0; i < LEDGER_IF_WAYS; i++) {
		entry = *(volatile __u64 *)&io_interfaces[set + i];
		if (!entry)
			break;
		if (entry >> 32 != ifindex)
			continue;
		if (entry & LEDGER_IF_STACKED && !stacked)
			break;
		return entry & (LEDGER_MAX_DEVICES - 1);
	}
	return IO_NO_DEVICE;
}

/* Other kinds are half-sockets, which have no owner and are smaller. */
static __always_inline bool is_full(const struct sock *sk)
{
	__u32 state = sk->__sk_common.skc_state;

	return state != TCP_TIME_WAIT && state != TCP_NEW_SYN_RECV;
}

/*
 * A checksum, written last and read with the rest, to detect a mixture of two users, in any order
 * of reads and writes and with any number of CPUs: barriers would cost each packet.
 */
static __always_inline __u64 checked(const struct io_who *who)
{
	return ((__u64)who->tgid << 32 | who->pid) * SPREAD ^ who->start_ns ^ who->cgroup_id << 20;
}

/* The noted user; false when there is none, or a mixture. */
static __always_inline bool read_user(struct io_who *who, const struct socket_user *user)
{
	who->pid = *(volatile __u32 *)&user->pid;
	who->tgid = *(volatile __u32 *)&user->tgid;
	who->start_ns = *(volatile __u64 *)&user->start_ns;
	who->cgroup_id = *(volatile __u64 *)&user->cgroup_id;
	return who->pid && *(volatile __u64 *)&user->check == checked(who);
}

/* Two processes may use a socket at the same time: then no owner is better than a mixture. */
static __always_inline void user_of(struct io_who *who, const struct socket_user *user)
{
	if (user && read_user(who, user))
		return;
	who->pid = 0;
	who->tgid = 0;
	who->start_ns = 0;
}

static __always_inline void socket_owner(struct io_who *who, struct sock *sk)
{
	const struct socket_user *user;

	if (!sk || !is_full(sk)) {
		io_nobody(who);
		return;
	}
	user = bpf_sk_storage_get(&io_sockets, sk, NULL, 0);
	user_of(who, user);
	if (user) {
		/* One load for both branches would be of different kinds of pointers. */
		barrier();
	} else {
		who->cgroup_id = sk->sk_cgrp_data.cgroup->kn->id;
	}
}

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(io_sent, const struct sk_buff *skb, const struct net_device *dev)
{
	__u32 device = interface(dev->ifindex, false), bytes, i;
	struct ledger_io_table *t;
	struct io_who who;

	if (device == IO_NO_DEVICE || dev->nd_net.net->net_cookie != io_netns)
		return 0;
	bytes = skb->len;
	socket_owner(&who, skb->sk);
	t = io_open(LEDGER_IO_SENT);
	if (!t)
		return io_lose(device, bytes, 0);
	i = io_add(t, &who, device, bytes, 0);
	/* as a number, see number_of() of block.bpf.c */
	t->undo = i < LEDGER_IO_SLOTS ? (__u64)skb - (__u64)io_interfaces : 0;
	t->undo_slot = i;
	t->undo_bytes = bytes;
	io_release(t);
	return 0;
}

static __always_inline bool undo(__u32 second, __u64 packet)
{
	struct ledger_io_table *t = io_table(LEDGER_IO_SENT, second);
	struct ledger_io_slot *s;
	bool found;

	if (!io_take(t))
		return false;
	found = t->undo == packet;
	if (found) {
		s = io_slot_at(t, t->undo_slot);
		s->requests--;
		s->read_bytes -= t->undo_bytes;
		t->undo = 0;
	}
	io_release(t);
	return found;
}

/* The driver had no room: the packet will come again. */
SEC("tp_btf/net_dev_xmit")
int BPF_PROG(io_not_sent, struct sk_buff *skb, int rc, struct net_device *dev, unsigned int len)
{
	__u64 packet;

	if (rc < XMIT_MASK)
		return 0;
	if (interface(dev->ifindex, false) == IO_NO_DEVICE ||
	    dev->nd_net.net->net_cookie != io_netns)
		return 0;
	packet = (__u64)skb - (__u64)io_interfaces;
	if (!undo(0, packet) && !undo(1, packet))
		__sync_fetch_and_add(&io_not_undone, 1);
	return 0;
}

/*
 * At the root of the cgroup tree, for each packet that a socket gets. Packets without a socket
 * (forwarded, refused, of the kernel itself) do not get here.
 */
SEC("cgroup_skb/ingress")
int io_received(struct __sk_buff *skb)
{
	__u32 device = interface(skb->ifindex, true), bytes = skb->len + LINK_HEADER;
	const struct socket_user *user;
	struct ledger_io_table *t;
	struct bpf_sock *sk;
	struct io_who who;
	__u64 netns = 0;

	sk = skb->sk;
	/* Our own multicasts come back without having passed the device they name. */
	if (device == IO_NO_DEVICE || !sk || skb->pkt_type == PACKET_LOOPBACK)
		return 1;
	user = bpf_sk_storage_get(&io_sockets, sk, NULL, 0);
	/* Interfaces of other namespaces may have the same numbers. */
	if (user)
		netns = user->netns;
	else if (io_has_cookie)
		netns = bpf_get_netns_cookie(skb);
	if (netns != io_netns)
		return 1;
	user_of(&who, user);
	if (!user)
		who.cgroup_id = bpf_skb_cgroup_id(skb);
	t = io_open(LEDGER_IO_RECEIVED);
	if (!t) {
		io_lose(device, 0, bytes);
		return 1;
	}
	io_add(t, &who, device, 0, bytes);
	io_release(t);
	return 1; /* let it pass */
}

static __always_inline void note_user(struct socket_user *user, const struct task_struct *task,
				      __u64 cgroup_id)
{
	struct io_who who;

	io_task(&who, task);
	who.cgroup_id = cgroup_id;
	*(volatile __u32 *)&user->pid = who.pid;
	*(volatile __u32 *)&user->tgid = who.tgid;
	*(volatile __u64 *)&user->start_ns = who.start_ns;
	*(volatile __u64 *)&user->cgroup_id = cgroup_id;
	*(volatile __u64 *)&user->check = checked(&who);
}

/*
 * At the root of the cgroup tree: gives a socket a user before its first packet, and the only one
 * on kernels that do not tell its users.
 */
SEC("cgroup/sock_create")
int io_socket_made(struct bpf_sock *sk)
{
	struct socket_user *user =
		bpf_sk_storage_get(&io_sockets, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 v1 = v1_cgroup_id(task->cgroups);

	if (!user)
		return 1;
	user->netns = bpf_get_netns_cookie(sk);
	note_user(user, task, v1 ? v1 : bpf_get_current_cgroup_id());
	return 1; /* allow it */
}

static __always_inline void socket_used(struct sock *sk)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 family = sk->__sk_common.skc_family, pid = by_thread ? task->pid : task->tgid;
	__u64 v1 = v1_cgroup_id(task->cgroups);
	struct socket_user *user;
	struct io_who who;

	if (family != AF_INET && family != AF_INET6 && family != AF_PACKET)
		return;
	user = bpf_sk_storage_get(&io_sockets, sk, NULL, 0);
	/* A mixture would stay one. */
	if (user && read_user(&who, user) && who.pid == pid && (!v1 || who.cgroup_id == v1))
		return;
	if (!user)
		user = bpf_sk_storage_get(&io_sockets, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (!user)
		return;
	user->netns = sk->__sk_common.skc_net.net->net_cookie;
	note_user(user, task, v1 ? v1 : sk->sk_cgrp_data.cgroup->kn->id);
}

/* These two since 6.3. */
SEC("tp_btf/sock_send_length")
int BPF_PROG(io_socket_send, struct sock *sk, int ret, int flags)
{
	if (ret > 0)
		socket_used(sk);
	return 0;
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(io_socket_receive, struct sock *sk, int ret, int flags)
{
	if (ret > 0)
		socket_used(sk);
	return 0;
}

/* Long before the end of a long first call: connect() and listen() get here. */
SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(io_socket_state, struct sock *sk, int old, int new)
{
	if (new == TCP_SYN_SENT || new == TCP_LISTEN)
		socket_used(sk);
	return 0;
}
