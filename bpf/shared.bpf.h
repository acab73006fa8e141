/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the BPF objects. They are compiled separately and linked into one object (bpftool gen
 * object), so maps and globals are defined in one file, maps.bpf.c, and declared here for the
 * others.
 */
#ifndef T410TRACE_SHARED_BPF_H
#define T410TRACE_SHARED_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "records.h"

/* Likely code is contiguous. Newer versions of libbpf have both. */
#ifndef likely
#define likely(x) __builtin_expect(!!(x), 1)
#endif
#ifndef unlikely
#define unlikely(x) __builtin_expect(!!(x), 0)
#endif

/*
 * Use these for every bound that the verifier needs. The compiler knows more than the verifier,
 * such as the range of a global function's result, and drops a bound that follows from it. It knows
 * nothing about an opaque value. The asm is not volatile, so a value is bounded once. Loops with
 * two bounds compare an opaque counter with the second: as one bound they could lose the "<".
 */
static __always_inline __u32 opaque(__u32 value)
{
	asm("" : "+w"(value));
	return value;
}

/* An index below @size, a power of two. */
#define bounded(i, size)                                                                \
	({                                                                              \
		_Static_assert((size) > 0 && !((size) & ((size)-1)), "a power of two"); \
		opaque(i) & ((size)-1);                                                 \
	})

/* A number up to @most, used as a size. */
static __always_inline __u32 at_most(__u32 nr, __u32 most)
{
	nr = opaque(nr);
	return nr > most ? most : nr;
}

/* One entry per possible CPU; user space sets the size and maps it for reading. */
struct ledger_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_ledger);
};

/* See struct ledger_reader; user space sets the size. */
struct reader_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
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

/* Set before load: user space takes the slots of idle CPUs; needs an atomic exchange. */
extern const volatile __u32 rests;

/*
 * User space empties the ring by its own clock; waking it at every record would cost an interrupt
 * each. Only a ring that fills up early wakes it.
 */
static __always_inline __u64 ring_flags(__u64 wake_above)
{
	return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > wake_above ? BPF_RB_FORCE_WAKEUP
									: BPF_RB_NO_WAKEUP;
}

/* Half of the ring's size, set before load. */
extern const volatile __u64 ring_wake_bytes;

/*
 * Since Linux 7.2 a task can lose its CPU in the middle of a program, and a record that it has begun
 * then holds up all behind it, those of all CPUs. So where tasks run a program it sends between
 * these two. They do nothing until user space puts calls of bpf_preempt_disable() and
 * bpf_preempt_enable() in their place (ledger_preempt.c), which are not named here: where a kernel
 * has none (before 6.10) libbpf would look for them in all modules, which needs CAP_SYS_ADMIN.
 */
#define STAND_IN(number) \
	asm volatile("r0 = %0" : : "i"(number) : "r0", "r1", "r2", "r3", "r4", "r5", "memory")
#define preempt_off() STAND_IN(LEDGER_PREEMPT_OFF)
#define preempt_on()  STAND_IN(LEDGER_PREEMPT_ON)

/* Sends a record; for programs that tasks run. */
static __always_inline long task_send(void *record, __u64 size, __u64 flags)
{
	long err;

	preempt_off();
	err = bpf_ringbuf_output(&ring, record, size, flags);
	preempt_on();
	return err;
}

/*
 * Set before load: number of the v1 controller whose cgroups stand in for those of the v2 tree, 0 =
 * none, and its place in the kernel's list. With none, the verifier removes all code for v1.
 */
extern const volatile __u32 v1_controller;
extern const volatile __u32 v1_subsys;

/*
 * Offset of the controller's state in a css_set, known when the program is loaded. Opaque: as part
 * of a load it would belong to a member of another size on kernels with more or fewer controllers.
 */
static __always_inline __u64 v1_state_offset(void)
{
	return opaque(bpf_core_field_offset(struct css_set, subsys)) + v1_subsys * sizeof(void *);
}

static __always_inline __u64 v1_id(__u64 kernel_id)
{
	return (__u64)v1_controller << LEDGER_V1_SHIFT | kernel_id;
}

/* In the controller's own hierarchy and not at its root, which is no job. 0: it is not. */
static __always_inline __u64 v1_cgroup_id(const struct css_set *set)
{
	const struct cgroup_subsys_state *css;
	const struct cgroup *cgrp;

	if (!v1_controller)
		return 0;
	css = *(const struct cgroup_subsys_state *const *)((const void *)set + v1_state_offset());
	cgrp = css->cgroup;
	return cgrp->level && cgrp->root->hierarchy_id ? v1_id(cgrp->kn->id) : 0;
}

/* A large odd factor: numbers with common patterns are spread. */
#define SPREAD 0x9e3779b97f4a7c15ull

/*
 * Checksum of a note that one CPU leaves at another: a reader detects a note being written, in any
 * order in which the CPUs write and read.
 */
static __always_inline __u64 move_check(const struct ledger_move *m)
{
	return m->task * SPREAD ^ m->css_set ^ m->time_ns << 20 ^ m->from_id ^ m->to_id * SPREAD;
}

static __always_inline __u64 set_cgroup_id(const struct css_set *set)
{
	__u64 id = v1_cgroup_id(set);

	return id ? id : set->dfl_cgrp->kn->id;
}

static __always_inline __u64 task_cgroup_id(const struct task_struct *task)
{
	return set_cgroup_id(task->cgroups);
}

/*
 * The same by BPF_CORE_READ(). For a task that may be gone: any read may fail or return garbage,
 * but only a number. And for rare events: where a program follows a pointer directly, the verifier
 * searches all types of the kernel, by name, up to three times. The pointer is not const:
 * BPF_CORE_READ() would declare variables of the members' types, const and without a value.
 */
static __always_inline __u64 gone_set_cgroup_id(struct css_set *set)
{
	struct cgroup_subsys_state *css = NULL;

	if (v1_controller) {
		bpf_probe_read_kernel(&css, sizeof(css), (void *)set + v1_state_offset());
		if (BPF_CORE_READ(css, cgroup, level) &&
		    BPF_CORE_READ(css, cgroup, root, hierarchy_id))
			return v1_id(BPF_CORE_READ(css, cgroup, kn, id));
	}
	return BPF_CORE_READ(set, dfl_cgrp, kn, id);
}

static __always_inline __u64 gone_task_cgroup_id(struct task_struct *task)
{
	return gone_set_cgroup_id(BPF_CORE_READ(task, cgroups));
}

#endif
