/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Weights: counts of core events while a task had the CPU. They lie beside the ledger's slots,
 * under the same index, and share its rules: only their own CPU touches them, without a switch in
 * between.
 *
 * A piece of time between two readings has a weight only if it is certain: both
 * readings succeeded, every event was counting all the time, and one task had the CPU.
 * The counts of other pieces are added up in "unowned", so that none disappears.
 *
 * With nr_weights 0 the verifier removes all of it from the programs.
 */
#ifndef T410TRACE_WEIGHTS_BPF_H
#define T410TRACE_WEIGHTS_BPF_H

#include "shared.bpf.h"

/* -ENOENT: the place of this event is empty. */
#define NO_EVENT -2

/* Set before load: number of core events, at most LEDGER_MAX_WEIGHTS. */
const volatile __u32 nr_weights;

/* Event e of CPU c is at c * LEDGER_MAX_WEIGHTS + e; user space sets the size. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} weight_events SEC(".maps");

/* One entry per possible CPU; user space sets the size. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_weights);
} weights SEC(".maps");

static __always_inline struct cpu_weights *this_weights(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&weights, &cpu);
}

/* Multiplexing leaves gaps; a per cent is the difference of two clock readings. */
static __always_inline bool was_counting(const struct ledger_value *last,
					 const struct ledger_value *now)
{
	__u64 enabled = now->enabled_ns - last->enabled_ns;
	__u64 running = now->running_ns - last->running_ns;

	return enabled && running <= enabled && running * 100 > enabled * 99;
}

/* Read event @e; its gain since the last reading becomes part of the piece. */
static __always_inline bool read_event(struct cpu_weights *w, __u32 cpu, __u32 e)
{
	struct ledger_value *last = &w->last[e], now;
	bool certain;
	long err;

	w->piece[e] = 0;
	/*
	 * struct ledger_value is laid out as the helper's type, see window.bpf.c. A reading that
	 * fails gives zeros: it must not become the last good one. The first reading of an event
	 * starts from 0.
	 */
	err = bpf_perf_event_read_value(&weight_events, cpu * LEDGER_MAX_WEIGHTS + e, (void *)&now,
					sizeof(now));
	if (err) {
		w->failed |= 1ull << e;
		if (err == NO_EVENT)
			__builtin_memset(last, 0, sizeof(*last));
		return false;
	}
	certain = !(w->failed & (1ull << e)) && last->enabled_ns && was_counting(last, &now);
	if (last->enabled_ns && now.count >= last->count)
		w->piece[e] = now.count - last->count;
	else
		certain = false;
	w->failed &= ~(1ull << e);
	*last = now;
	return certain;
}

static __always_inline void read_piece(struct cpu_weights *w, __u64 ns)
{
	__u32 cpu = bpf_get_smp_processor_id(), e;
	bool certain = ns != 0;

	for (e = 0; e < LEDGER_MAX_WEIGHTS && e < nr_weights; e++)
		certain &= read_event(w, cpu, e);
	w->piece_ns = certain ? ns : 0;
	if (!certain) {
		w->unowned[0] += w->piece[0];
		w->unowned[1] += w->piece[1];
	}
}

__noinline int read_events(__u64 ns)
{
	struct cpu_weights *w = this_weights();

	if (w)
		read_piece(w, ns);
	return 0;
}

/* @count * @part / @whole, rounded down, for any count and @part <= @whole. */
static __always_inline __u64 share(__u64 count, __u64 part, __u64 whole)
{
	__u64 fraction;

	if (part == whole)
		return count;
	/* Runs of many seconds lose insignificant digits, so that nothing overflows. */
	if (whole >> 48) {
		part >>= 16;
		whole >>= 16;
	}
	if (whole >> 32) {
		part >>= 16;
		whole >>= 16;
	}
	fraction = (part << 32) / whole;
	return (count >> 32) * fraction + ((count & 0xffffffff) * fraction >> 32);
}

static __always_inline struct ledger_weight *weight_at(struct cpu_weights *w, __u32 i)
{
	return &w->out.slots[bounded(i, LEDGER_SLOTS)];
}

static __always_inline void add_piece(struct cpu_weights *w, struct ledger_weight *s, __u64 ns)
{
	__u64 part;
	__u32 e;

	if (!w->piece_ns)
		return;
	if (ns > w->piece_ns)
		ns = w->piece_ns;
	for (e = 0; e < LEDGER_MAX_WEIGHTS && e < nr_weights; e++) {
		part = share(w->piece[e], ns, w->piece_ns);
		s->count[e] += part;
		w->piece[e] -= part;
	}
	s->covered_ns += ns;
	w->piece_ns -= ns;
}

__noinline int add_events(__u32 i, __u64 ns)
{
	struct cpu_weights *w = this_weights();

	if (w)
		add_piece(w, weight_at(w, i), ns);
	return 0;
}

/* Everything in one call: slot @i, new or not, gets the piece since the last reading. */
__noinline int book_events(__u32 i, bool is_new, __u64 ns)
{
	struct cpu_weights *w = this_weights();
	struct ledger_weight *s;

	if (!w)
		return 0;
	s = weight_at(w, i);
	if (is_new)
		__builtin_memset(s, 0, sizeof(*s));
	read_piece(w, ns);
	add_piece(w, s, ns);
	return 0;
}

__noinline int clear_events(__u32 i)
{
	struct cpu_weights *w = this_weights();

	if (w)
		__builtin_memset(weight_at(w, i), 0, sizeof(w->out.slots[0]));
	return 0;
}

/* The counts of slots whose weights found no room have no owner. */
__noinline int disown_events(__u32 nr)
{
	struct cpu_weights *w = this_weights();
	__u32 i;

	if (!w)
		return 0;
	w->lost++;
	for (i = 0; i < LEDGER_SLOTS && opaque(i) < nr; i++) {
		struct ledger_weight *s = weight_at(w, i);

		w->unowned[0] += s->count[0];
		w->unowned[1] += s->count[1];
	}
	return 0;
}

__noinline int send_events(__u32 nr, __u64 now)
{
	struct cpu_weights *w = this_weights();
	__u64 size;

	if (!w)
		return 0;
	nr = at_most(nr, LEDGER_SLOTS);
	w->out.h.type = LEDGER_WEIGHTS;
	w->out.h.cpu = bpf_get_smp_processor_id();
	w->out.h.time_ns = now;
	w->out.nr = nr;
	w->out.nr_events = nr_weights;
	size = __builtin_offsetof(struct ledger_weights, slots) + nr * sizeof(w->out.slots[0]);
	return bpf_ringbuf_output(&ring, &w->out, size, ring_flags(ring_wake_bytes));
}

/*
 * The ledger's entry points. Events are read before anything is booked: @ns is the current task's
 * time on the CPU, 0 when the task is unknown.
 */
static __always_inline void weights_read(__u64 ns)
{
	if (nr_weights)
		read_events(ns);
}

/* Book @ns more of the piece that was read into slot @i; the last one gets the rest. */
static __always_inline void weights_add(__u32 i, __u64 ns)
{
	if (nr_weights)
		add_events(i, ns);
}

/* Book the counts of the @ns that one task had the CPU into slot @i, new or not. */
static __always_inline void weights_book(__u32 i, bool is_new, __u64 ns)
{
	if (nr_weights)
		book_events(i, is_new, ns);
}

static __always_inline void weights_clear(__u32 i)
{
	if (nr_weights)
		clear_events(i);
}

/* Send the weights of @nr slots; the slots must follow with the same time. False: no room. */
static __always_inline bool weights_send(__u32 nr, __u64 now)
{
	return !nr_weights || !send_events(nr, now);
}

static __always_inline void weights_disown(__u32 nr)
{
	if (nr_weights)
		disown_events(nr);
}

#endif
