// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windows: readings of uncore events, with their times.
 *
 * An uncore event can be read from BPF on its PMU's active CPU only, so a clock event on that CPU
 * runs window_tick every few milliseconds. It reads all PMUs active on its CPU, so that their
 * windows end at the same time. Readings are running totals: if a record finds no room or a read
 * fails, the next window simply spans more time and no byte is lost.
 */
#include "shared.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1); /* user space sets the size, as for scratch */
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} events SEC(".maps");

/* Too large for the stack. Only the reader touches its entry. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ledger_window);
} scratch SEC(".maps");

struct reading {
	struct ledger_reader *rd;
	struct ledger_window *w;
};

static long read_event(__u32 i, void *arg)
{
	const struct reading *reading = arg;
	struct ledger_reading *r = &reading->w->readings[bounded(i, LEDGER_MAX_EVENTS)];

	/*
	 * struct ledger_value is laid out as the helper's type, which would need a CO-RE
	 * relocation. On an error the helper zeroes the buffer: a wrong CPU would look like a count
	 * of 0, so the record carries the error.
	 */
	r->error = bpf_perf_event_read_value(&events, reading->rd->first + i, (void *)&r->value,
					     sizeof(r->value));
	return 0;
}

static __always_inline void read_events(struct ledger_reader *rd, struct ledger_window *w)
{
	struct reading reading = { rd, w };
	__u32 nr = at_most(rd->nr, LEDGER_MAX_EVENTS), i;

	/* Linux 5.17. In other loops the verifier walks through every iteration. */
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop)) {
		bpf_loop(nr, read_event, &reading, 0);
		return;
	}
	for (i = 0; i < LEDGER_MAX_EVENTS && opaque(i) < nr; i++)
		read_event(i, &reading);
}

static __always_inline int close_window(void)
{
	__u32 cpu = bpf_get_smp_processor_id(), reader, nr;
	struct cpu_ledger *l = bpf_map_lookup_elem(&ledgers, &cpu);
	struct ledger_reader *rd;
	struct ledger_window *w;
	__u64 size;

	if (!l)
		return 0;
	reader = l->reader;
	rd = bpf_map_lookup_elem(&readers, &reader);
	w = bpf_map_lookup_elem(&scratch, &reader);
	if (!rd || !w || !rd->nr)
		return 0;
	/* The clock interrupt can come while user space runs window_now on this CPU. */
	if (rd->busy) {
		rd->skipped++;
		return 0;
	}
	rd->busy = 1;
	nr = at_most(rd->nr, LEDGER_MAX_EVENTS);
	w->h.type = LEDGER_WINDOW;
	w->h.cpu = cpu;
	w->reader = reader;
	w->nr = nr;
	w->begin_ns = bpf_ktime_get_ns();
	read_events(rd, w);
	w->end_ns = bpf_ktime_get_ns();
	w->h.time_ns = w->begin_ns + (w->end_ns - w->begin_ns) / 2;
	size = __builtin_offsetof(struct ledger_window, readings) + nr * sizeof(w->readings[0]);
	if (bpf_ringbuf_output(&ring, w, size, ring_flags(ring_wake_bytes)))
		rd->lost++;
	else
		*(volatile __u64 *)&rd->boundary_ns = w->h.time_ns;
	rd->busy = 0;
	return 0;
}

SEC("perf_event")
int window_tick(void *ctx)
{
	return close_window();
}

/* The same on demand: the first window, and the exact end of each report. */
SEC("raw_tp/sched_switch")
int window_now(void *ctx)
{
	return close_window();
}
