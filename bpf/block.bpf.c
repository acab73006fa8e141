// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block requests: bytes of disks by the task that caused them.
 *
 * The owner of a request is looked up when it is made, because that happens in the submitter's
 * context; another task may issue it later. The moved bytes are known when it completes, in some
 * interrupt. In between, owners are kept in a table with a few places for each hash of the
 * request's address: no locks, no allocation. An entry that was evicted, or that was never made
 * because the request is older than the run, costs the owner's name only: the bytes are booked all
 * the same.
 */
#include "io.bpf.h"

#define PF_KTHREAD    0x00200000 /* include/linux/sched.h */

/* include/linux/blk_types.h: stable since 4.10, but for zone append */
#define OP_MASK	      0xff
#define OP_READ	      0
#define OP_WRITE      1
#define OP_DRV_IN     34
#define OP_DRV_OUT    35

#define REQUEST_SETS  4096 /* power of two */
#define REQUEST_WAYS  4
#define REQUEST_TAKEN 1 /* no address: the entry is being written */

/*
 * Submitter of a request; half a cache line, because caches are cold when a disk has answered. @rq:
 * address of the request, as a number, 0 = free. @packed: see pack().
 */
struct io_request {
	__u64 rq;
	__u64 packed;
	__u64 start_ns;
	__u64 cgroup_id;
};

struct io_request_set {
	struct io_request way[REQUEST_WAYS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE); /* begins with a page: sets are aligned */
	__uint(max_entries, REQUEST_SETS);
	__type(key, __u32);
	__type(value, struct io_request_set);
} io_requests SEC(".maps");

#define SUBMITTERS 16 /* remembered by each CPU, power of two */

/*
 * A task that submitted requests, in one cache line. @task, @css_set, @blkg: addresses of the task,
 * its css_set and the request's blkg. @start_ns: its start. @who: the owner found at @tick.
 */
struct io_submitter {
	__u64 task;
	__u64 start_ns;
	__u64 css_set;
	__u64 blkg;
	__u64 tick;
	struct io_who who;
};

struct io_submitters {
	struct io_submitter by_task[SUBMITTERS];
};

/* One for each possible CPU; user space sets the size. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct io_submitters);
} io_submitters SEC(".maps");

struct disk_name {
	char text[LEDGER_DISK_LEN];
};

/* By name, filled by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4 * LEDGER_MAX_DEVICES);
	__type(key, struct disk_name);
	__type(value, __u32);
} io_disks SEC(".maps");

/*
 * Cached look-ups in that map, by the disk's sequence number, which the kernel never reuses. From
 * the top: sequence number (40 bits), generation (14), device (10). User space changes the map,
 * raises the generation, and then clears the cache: the result of an earlier look-up has the old
 * generation.
 */
struct {
	__u32 generation;
	__u64 entries[LEDGER_DISK_CACHE];
} io_disk_cache __attribute__((aligned(4096))); /* within a page: one entry of the TLB */

static __always_inline __u64 disk_tag(__u64 sequence, __u32 generation)
{
	return sequence << 14 | (generation & 0x3fff);
}

static __noinline __u32 disk_look_up(const struct gendisk *disk)
{
	struct disk_name name = {};
	__u32 device = IO_NO_DEVICE, *found;
	__u64 sequence, tag;

	if (!disk)
		return IO_NO_DEVICE;
	sequence = disk->diskseq;
	/* Read as a barrier: were the map read first, an old answer could be kept as a new one. */
	tag = disk_tag(sequence, __sync_fetch_and_add(&io_disk_cache.generation, 0));
	bpf_probe_read_kernel_str(name.text, sizeof(name.text), disk->disk_name);
	found = bpf_map_lookup_elem(&io_disks, &name);
	if (found && *found < LEDGER_MAX_DEVICES)
		device = *found;
	*(volatile __u64 *)&io_disk_cache.entries[bounded(sequence, LEDGER_DISK_CACHE)] =
		tag << IO_DEVICE_BITS | device;
	return device;
}

/* Passthrough requests of a queue without a disk have none. Since 5.17 it is in the queue. */
static __always_inline __u32 device_of(const struct request *rq)
{
	const struct gendisk *disk = rq->q->disk;
	__u64 sequence, entry, tag;

	if (!disk)
		return IO_NO_DEVICE;
	sequence = disk->diskseq;
	entry = *(volatile __u64 *)&io_disk_cache.entries[bounded(sequence, LEDGER_DISK_CACHE)];
	tag = disk_tag(sequence, *(volatile __u32 *)&io_disk_cache.generation);
	if (entry >> IO_DEVICE_BITS == (tag & (~0ull >> IO_DEVICE_BITS)))
		return entry & ((1 << IO_DEVICE_BITS) - 1);
	return disk_look_up(disk);
}

/*
 * Set before load: the zone append operation, 0 = the kernel has none. Not by CO-RE: its enum has a
 * different name before Linux 6.0, and libbpf searches all modules for a name that the kernel
 * lacks, which needs CAP_SYS_ADMIN.
 */
const volatile __u32 io_zone_append;

/* Data written to a disk is read from memory. False: no data is moved. */
static __always_inline bool direction(const struct request *rq, bool *ret_reads)
{
	__u32 op = rq->cmd_flags & OP_MASK;

	*ret_reads = op != OP_READ && op != OP_DRV_IN;
	return op <= OP_WRITE || op == OP_DRV_IN || op == OP_DRV_OUT || op == io_zone_append;
}

/*
 * From the top: generation (10 bits), device (10), process (22), thread or process (22). The
 * kernel has no larger process numbers.
 */
#define PID_BITS 22
#define PID_MASK ((1 << PID_BITS) - 1)

static __always_inline __u64 pack(const struct io_who *who, __u32 device, __u32 generation)
{
	return (__u64)(generation << IO_DEVICE_BITS | device) << 2 * PID_BITS |
	       (__u64)(who->tgid & PID_MASK) << PID_BITS | (who->pid & PID_MASK);
}

static __always_inline void unpack(const struct io_request *r, struct io_who *ret,
				   __u32 *ret_device, __u32 *ret_generation)
{
	__u64 packed = r->packed;

	ret->pid = packed & PID_MASK;
	ret->tgid = packed >> PID_BITS & PID_MASK;
	ret->start_ns = r->start_ns;
	ret->cgroup_id = r->cgroup_id;
	*ret_device = packed >> 2 * PID_BITS & ((1 << IO_DEVICE_BITS) - 1);
	*ret_generation = packed >> (2 * PID_BITS + IO_DEVICE_BITS);
}

/*
 * The difference of two pointers is a number that BPF may compute with; a request's address is not.
 */
static __always_inline __u64 number_of(const void *p)
{
	return (__u64)p - (__u64)&io_disk_cache;
}

/*
 * Queues take turns with their requests, which lie side by side in pieces of 64 KiB. So do their
 * entries here: an entry that was not used for long costs a cache miss, but no TLB miss.
 */
static __always_inline struct io_request_set *set_of(__u64 number)
{
	__u32 piece = (number >> 16) * SPREAD >> 52;
	__u32 set = (piece ^ number >> 10) & (REQUEST_SETS - 1);

	return bpf_map_lookup_elem(&io_requests, &set);
}

/* The cgroup of a blkg that can own bytes: in the v2 tree, and not its root. NULL: none. */
static __always_inline const struct cgroup *cgroup_of(const struct request *rq)
{
	const struct bio *bio = rq->bio;
	const struct blkcg_gq *blkg;
	const struct cgroup *cgrp;

	if (!bio || !bpf_core_field_exists(bio->bi_blkg))
		return NULL;
	blkg = bio->bi_blkg;
	if (!blkg || !blkg->parent)
		return NULL;
	cgrp = blkg->blkcg->css.cgroup;
	if (!cgrp || !cgrp->level || cgrp->root->hierarchy_id)
		return NULL;
	return cgrp;
}

/*
 * The current task, and its cgroup unless the request knows better: kernel threads work for other
 * tasks, and so do tasks that write back other tasks' pages. A cgroup without an I/O controller
 * uses its ancestor's, which is less precise than the task's cgroup; so is the task's own blkg when
 * the task is in a cgroup of the chosen v1 hierarchy, too.
 */
static __noinline int submitter(struct io_who *who, const struct request *rq)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	const struct cgroup *cgrp;

	if (!who || !rq)
		return 0;
	cgrp = cgroup_of(rq);
	io_task(who, task);
	if (!cgrp)
		who->cgroup_id = who->tgid ? task_cgroup_id(task) : 0;
	else if (task->flags & PF_KTHREAD ||
		 (cgrp != task->cgroups->dfl_cgrp &&
		  bpf_get_current_ancestor_cgroup_id(cgrp->level) != cgrp->kn->id))
		who->cgroup_id = cgrp->kn->id;
	else
		who->cgroup_id = task_cgroup_id(task);
	/* The idle task was interrupted; it submits nothing. */
	if (!who->tgid && !who->cgroup_id)
		io_nobody(who);
	return 0;
}

static __always_inline struct io_submitter *submitter_place(__u64 task)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct io_submitters *all = bpf_map_lookup_elem(&io_submitters, &cpu);

	return all ? &all->by_task[bounded(task * SPREAD >> 32, SUBMITTERS)] : NULL;
}

/*
 * submitter(), but cached for the same task: finding it takes ten steps from one cold cache line to
 * the next. The cache is valid until the kernel's next tick; a css_set or blkg is not freed and
 * reallocated in between, because they outlive an RCU grace period.
 */
static __always_inline void submitter_again(struct io_who *who, const struct request *rq)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	struct io_submitter now = {
		.task = number_of(task),
		.start_ns = task->start_time,
		.css_set = number_of(task->cgroups),
		.tick = bpf_jiffies64(),
	};
	struct io_submitter *last = submitter_place(now.task);

	if (rq->bio && bpf_core_field_exists(rq->bio->bi_blkg))
		now.blkg = number_of(rq->bio->bi_blkg);
	if (last && last->task == now.task && last->start_ns == now.start_ns &&
	    last->css_set == now.css_set && last->blkg == now.blkg && last->tick == now.tick) {
		*who = last->who;
		return;
	}
	submitter(&now.who, rq);
	if (last)
		*last = now;
	*who = now.who;
}

/* The place of an entry with @number, from the @way on; REQUEST_WAYS when there is none. */
static __noinline __u32 find_way(const struct io_request_set *set, __u32 way, __u64 number)
{
	__u32 i;

	if (!set)
		return REQUEST_WAYS;
	for (i = 0; i < REQUEST_WAYS; i++, way++)
		if (*(volatile __u64 *)&set->way[bounded(way, REQUEST_WAYS)].rq == number)
			return bounded(way, REQUEST_WAYS);
	return REQUEST_WAYS;
}

/* Nearly always the entry is at its first place. */
static __always_inline struct io_request *first_place(struct io_request_set *set, __u64 number)
{
	return &set->way[bounded(number >> 8, REQUEST_WAYS)];
}

/* The entry of a request; NULL when it has none. */
static __always_inline struct io_request *find(struct io_request_set *set, __u64 number)
{
	struct io_request *r = first_place(set, number);
	__u32 way;

	if (*(volatile __u64 *)&r->rq == number)
		return r;
	way = find_way(set, (number >> 8) + 1, number);
	return way < REQUEST_WAYS ? &set->way[bounded(way, REQUEST_WAYS)] : NULL;
}

/* Its possible place: its own or a free one, else the first one. */
static __always_inline struct io_request *place_for(struct io_request_set *set, __u64 number)
{
	struct io_request *r = first_place(set, number);
	__u64 seen = *(volatile __u64 *)&r->rq;
	__u32 way;

	if (!seen || seen == number)
		return r;
	way = find_way(set, (number >> 8) + 1, number);
	if (way >= REQUEST_WAYS)
		way = find_way(set, (number >> 8) + 1, 0);
	return way < REQUEST_WAYS ? &set->way[bounded(way, REQUEST_WAYS)] : r;
}

static __always_inline int request_made(const struct request *rq, bool again)
{
	__u32 generation = *(volatile __u32 *)&io_disk_cache.generation, device = device_of(rq);
	struct io_request_set *set;
	struct io_who who = {};
	struct io_request *r;
	__u64 number, seen;
	bool reads;

	if (device == IO_NO_DEVICE || !direction(rq, &reads))
		return 0;
	number = number_of(rq);
	set = set_of(number);
	if (!set || (again && find(set, number)))
		return 0;
	/* io_insert and io_issue could interrupt each other while using the cache. */
	if (again)
		submitter(&who, rq);
	else
		submitter_again(&who, rq);
	if (who.pid == LEDGER_LOST_PID)
		return 0;
	r = place_for(set, number);
	seen = *(volatile __u64 *)&r->rq;
	if (seen == REQUEST_TAKEN ||
	    __sync_val_compare_and_swap(&r->rq, seen, REQUEST_TAKEN) != seen)
		return 0;
	r->packed = pack(&who, device, generation);
	r->start_ns = who.start_ns;
	r->cgroup_id = who.cgroup_id;
	barrier();
	*(volatile __u64 *)&r->rq = number;
	return 0;
}

/* Since 6.5, for every request, before any other program sees it. */
SEC("tp_btf/block_io_start")
int BPF_PROG(io_start, struct request *rq)
{
	return request_made(rq, false);
}

/*
 * Before 6.5: the first of these two. A request that is not inserted into a queue is issued by its
 * submitter; one that was may be issued, and inserted again, by any task.
 */
SEC("tp_btf/block_rq_insert")
int BPF_PROG(io_insert, struct request *rq)
{
	return request_made(rq, true);
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(io_issue, struct request *rq)
{
	return request_made(rq, true);
}

/* The owner in a request's entry; @last: it will not be used again. */
static __always_inline bool take_owner(__u64 number, bool last, struct io_who *ret,
				       __u32 *ret_device)
{
	__u32 generation = *(volatile __u32 *)&io_disk_cache.generation, was;
	struct io_request_set *set = set_of(number);
	struct io_request *r = set ? find(set, number) : NULL;

	generation &= ~0u >> (32 - IO_DEVICE_BITS);
	if (!r)
		return false;
	unpack(r, ret, ret_device, &was);
	/* If it is still ours, the copy is valid. */
	return __sync_val_compare_and_swap(&r->rq, number, last ? 0 : number) == number &&
	       was == generation;
}

/*
 * Before 6.5, too: a merged request never completes. Its entry would be taken for that of the next
 * request at its address, which may belong to another task.
 */
SEC("tp_btf/block_rq_merge")
int BPF_PROG(io_merged, struct request *rq)
{
	struct io_who who;
	__u32 device;

	take_owner(number_of(rq), true, &who, &device);
	return 0;
}

/* The submitter of the request is unknown; its cgroup may be known. Returns its device. */
static __noinline __u32 owner_by_cgroup(const struct request *rq, struct io_who *ret)
{
	const struct cgroup *cgrp;

	if (!rq || !ret)
		return IO_NO_DEVICE;
	cgrp = cgroup_of(rq);
	io_nobody(ret);
	if (cgrp) {
		ret->pid = 0;
		ret->tgid = 0;
		ret->cgroup_id = cgrp->kn->id;
	}
	return device_of(rq);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(io_complete, struct request *rq, int error, unsigned int bytes)
{
	struct ledger_io_table *t;
	struct io_who who = {};
	__u32 device;
	bool reads;

	if (!take_owner(number_of(rq), bytes >= rq->__data_len, &who, &device)) {
		device = owner_by_cgroup(rq, &who);
		if (device == IO_NO_DEVICE)
			return 0;
	}
	/* a blk_status_t, a byte; on Linux 5.15 an errno below 0, whose low byte is not 0 */
	if (error & 0xff || !bytes || !direction(rq, &reads))
		return 0;
	/* Mostly in an interrupt, but a task may complete its own. */
	preempt_off();
	t = io_open(LEDGER_IO_BLOCK);
	if (t) {
		io_add(t, &who, device, reads ? bytes : 0, reads ? 0 : bytes);
		io_release(t);
	} else {
		io_lose(device, reads ? bytes : 0, reads ? 0 : bytes);
	}
	preempt_on();
	return 0;
}
