/* SPDX-License-Identifier: GPL-2.0-only */
/* Slots of a CPU's ledger, and their hash: for ledger.bpf.c, which keeps them, and for moves.bpf.c. */
#ifndef T410TRACE_SLOTS_BPF_H
#define T410TRACE_SLOTS_BPF_H

#include "shared.bpf.h"

static __always_inline struct ledger_slot *slot_at(struct cpu_ledger *l, __u32 i)
{
	return &l->out.slots[bounded(i, LEDGER_SLOTS)];
}

static __always_inline bool slot_has_key(const struct ledger_slot *s, __u32 pid, __u64 css_set)
{
	return s->pid == pid && s->css_set == css_set;
}

static __always_inline bool slot_is(struct cpu_ledger *l, __u32 i, __u32 pid, __u64 css_set)
{
	return i < l->nr && slot_has_key(slot_at(l, i), pid, css_set);
}

/* The first place of a key. css_sets are cache line aligned; pids differ in their low bits. */
static __always_inline __u32 slot_place(__u32 pid, __u64 css_set)
{
	return bounded(pid ^ (__u32)css_set >> 6, LEDGER_INDEX);
}

/* The slot of a key; LEDGER_SLOTS: it has none, and @place is the place for its number. */
static __always_inline __u32 slot_known(struct cpu_ledger *l, __u32 pid, __u64 css_set,
					__u32 *place)
{
	__u32 p = slot_place(pid, css_set), way, i;

	for (way = 0; way < LEDGER_WAYS; way++) {
		*place = p ^ way;
		i = l->index[p ^ way];
		if (slot_is(l, i, pid, css_set))
			return i;
		if (i >= l->nr)
			break;
	}
	return LEDGER_SLOTS;
}

#endif
