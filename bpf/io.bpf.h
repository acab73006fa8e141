/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * I/O by task: shared by the block and the network programs.
 *
 * Requests and packets are added up in slots, one for each (task, cgroup, device), in tables of one
 * CPU, which go to the ring buffer when they are full, some milliseconds old, or flushed. Bytes are
 * never dropped: when the ring is full the slots stay and grow, and when no slot or no table is
 * free, the bytes go to a sum by device without an owner.
 *
 * A program is not run again on a CPU while it runs there, but a flush can come at any time, and
 * then the program can come during the flush. The user of a table marks it as busy; the other one
 * takes the second table, or leaves it to the caller to try again. All of them stay on their CPU,
 * so marks need no atomic operations.
 *
 * Reading the clock is the most expensive step. It is read when a slot is taken or sent; in
 * between, the kernel's tick count is good enough.
 */
#ifndef T410TRACE_IO_BPF_H
#define T410TRACE_IO_BPF_H

#include "shared.bpf.h"

#define IO_AGE_NS      5000000 /* slots older than this go at the next request */
#define IO_NO_DEVICE   1023    /* more than any index, in IO_DEVICE_BITS */
#define IO_DEVICE_BITS 10

struct io_table_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ledger_io_table);
};

/* LEDGER_IO_TABLES for each possible CPU; user space sets the size. */
extern struct io_table_map io_tables SEC(".maps");

extern struct ledger_io_lost io_lost[LEDGER_MAX_DEVICES];

/* Set before load: slots older than this go at the next request. */
extern const volatile __u64 io_age_ticks;

/* Packets that were not sent in the end, but could not be undone. */
extern __u64 io_not_undone;

/* The owner; a pid of 0 when only the cgroup is known. */
struct io_who {
	__u64 start_ns;
	__u64 cgroup_id;
	__u32 pid;
	__u32 tgid;
};

static __always_inline void io_task(struct io_who *who, const struct task_struct *task)
{
	who->pid = by_thread ? task->pid : task->tgid;
	who->tgid = task->tgid;
	who->start_ns = by_thread ? task->start_time : task->group_leader->start_time;
}

static __always_inline void io_nobody(struct io_who *who)
{
	who->pid = LEDGER_LOST_PID;
	who->tgid = LEDGER_LOST_PID;
	who->start_ns = 0;
	who->cgroup_id = 0;
}

static __always_inline struct ledger_io_table *io_table(__u32 kind, __u32 second)
{
	__u32 key = bpf_get_smp_processor_id() * LEDGER_IO_TABLES + 2 * kind + second;

	return bpf_map_lookup_elem(&io_tables, &key);
}

static __always_inline bool io_take(struct ledger_io_table *t)
{
	if (!t || *(volatile __u32 *)&t->busy)
		return false;
	*(volatile __u32 *)&t->busy = 1;
	barrier();
	return true;
}

static __always_inline void io_release(struct ledger_io_table *t)
{
	barrier();
	*(volatile __u32 *)&t->busy = 0;
}

static __always_inline struct ledger_io_slot *io_slot_at(struct ledger_io_table *t, __u32 i)
{
	return &t->out.slots[bounded(i, LEDGER_IO_SLOTS)];
}

/* Empty a table into the ring; on failure it stays as it is. */
static __noinline int io_empty(struct ledger_io_table *t)
{
	__u32 nr = at_most(t->nr, LEDGER_IO_SLOTS);

	if (!nr)
		return 0;
	t->out.h.type = LEDGER_IO;
	t->out.h.cpu = bpf_get_smp_processor_id();
	t->out.h.time_ns = bpf_ktime_get_ns();
	t->out.nr = nr;
	t->out.tick = bpf_jiffies64();
	if (bpf_ringbuf_output(&ring, &t->out,
			       __builtin_offsetof(struct ledger_io, slots) +
				       nr * sizeof(t->out.slots[0]),
			       ring_flags(ring_wake_bytes)))
		return -1;
	t->nr = 0;
	t->undo = 0;
	return 0;
}

static __always_inline bool io_slot_is(struct ledger_io_table *t, __u32 i, const struct io_who *who,
				       __u32 device)
{
	const struct ledger_io_slot *s = io_slot_at(t, i);

	return i < t->nr && s->pid == who->pid && s->device == device &&
	       s->cgroup_id == who->cgroup_id && s->start_ns == who->start_ns;
}

/* A fresh slot; LEDGER_IO_SLOTS when there is no room. */
static __noinline __u32 io_slot_new(struct ledger_io_table *t, const struct io_who *who,
				    __u32 device)
{
	struct ledger_io_slot *s;
	__u32 i;

	if (!who || (t->nr >= LEDGER_IO_SLOTS && io_empty(t)))
		return LEDGER_IO_SLOTS;
	i = bounded(t->nr, LEDGER_IO_SLOTS);
	t->nr = i + 1;
	s = io_slot_at(t, i);
	s->pid = who->pid;
	s->tgid = who->tgid;
	s->start_ns = who->start_ns;
	s->cgroup_id = who->cgroup_id;
	s->device = device;
	s->requests = 0;
	s->read_bytes = 0;
	s->write_bytes = 0;
	s->first_ns = bpf_ktime_get_ns();
	if (!i)
		t->since_tick = bpf_jiffies64();
	return i;
}

/* Find the slot by the index, when it is not the last one. */
static __noinline __u32 io_slot_search(struct ledger_io_table *t, const struct io_who *who,
				       __u32 device)
{
	__u32 place, i;

	if (!who)
		return LEDGER_IO_SLOTS;
	place = bounded(who->pid ^ (__u32)who->cgroup_id ^ device * 5, LEDGER_IO_INDEX);
	i = t->index[place];
	if (!io_slot_is(t, i, who, device)) {
		if (i < t->nr)
			place ^= 1;
		i = t->index[place];
	}
	if (!io_slot_is(t, i, who, device)) {
		i = io_slot_new(t, who, device);
		t->index[place] = i;
	}
	t->last = i;
	return i;
}

static __always_inline __u32 io_slot_of(struct ledger_io_table *t, const struct io_who *who,
					__u32 device)
{
	__u32 i = t->last;

	return io_slot_is(t, i, who, device) ? i : io_slot_search(t, who, device);
}

static __noinline int io_lose(__u32 device, __u32 read_bytes, __u32 write_bytes)
{
	struct ledger_io_lost *lost = &io_lost[bounded(device, LEDGER_MAX_DEVICES)];

	__sync_fetch_and_add(&lost->requests, 1);
	__sync_fetch_and_add(&lost->read_bytes, read_bytes);
	__sync_fetch_and_add(&lost->write_bytes, write_bytes);
	return 0;
}

/* Add to the slot of @who; returns its number, LEDGER_IO_SLOTS when there is none. */
static __always_inline __u32 io_add(struct ledger_io_table *t, const struct io_who *who,
				    __u32 device, __u32 read_bytes, __u32 write_bytes)
{
	__u64 tick = bpf_jiffies64();
	struct ledger_io_slot *s;
	__u32 i;

	if (t->nr && tick - t->since_tick >= io_age_ticks)
		io_empty(t);
	i = io_slot_of(t, who, device);
	if (i >= LEDGER_IO_SLOTS) {
		io_lose(device, read_bytes, write_bytes);
		return i;
	}
	s = io_slot_at(t, i);
	s->requests++;
	s->read_bytes += read_bytes;
	s->write_bytes += write_bytes;
	s->last_ns = tick; /* user space converts it to a time */
	return i;
}

/* A free table of the kind on this CPU, to be released; NULL when there is none. */
static __always_inline struct ledger_io_table *io_open(__u32 kind)
{
	struct ledger_io_table *t = io_table(kind, 0);

	if (io_take(t))
		return t;
	t = io_table(kind, 1);
	return io_take(t) ? t : NULL;
}

#endif
