// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ledger: CPU time of tasks on each CPU.
 *
 * At each context switch the time since the last one is added to the slot of the task that ran.
 * Slots belong to one window; at the first switch after a window has ended they go to the ring
 * buffer in one record. The cost is one clock reading and one look-up per switch, and one copy per
 * window, regardless of the number of switches in it.
 *
 * A task is looked up when it leaves: its data is in the CPU's caches then, while that of the next
 * task is often not. Of the next task only two addresses are noted.
 *
 * Time is never dropped: when the ring is full the slots stay and grow, and when
 * no slot is left either, the time goes to the "lost" slot.
 *
 * Everything here runs with interrupts off on the CPU that owns the ledger: in sched_switch, in a
 * timer interrupt (ledger_tick), or in a function call interrupt (ledger_flush). The one exception,
 * ledger_flush on the caller's own CPU, has preemption off, so that no switch can come between, and
 * sets a mark: ledger_tick, the only one that could interrupt it, keeps off then.
 *
 * So a program always looks at the current task: the one that leaves in sched_switch, or the
 * interrupted one elsewhere. Functions that are not static are verified once and not for each call.
 * They cannot take a task as argument; they get the current one.
 */
#include "slots.bpf.h"
#include "weights.bpf.h"

/* The duration of one switch in this many is measured, to report our cost. */
#define TIMED_EVERY	 64

/* Switches that need a slot leave a full ring alone for this long. */
#define FULL_NS		 100000

/* While a task keeps running, its weights are read at ticks, but not sooner than this. */
#define WEIGHTS_EVERY_NS 2000000

/* Start without slots. */
static __noinline void forget_slots(struct cpu_ledger *l)
{
	__u64 *index = (__u64 *)l->index;
	__u32 i;

	l->nr = 0;
	/* Stale keys would block places for new ones as soon as they looked like a slot. */
	for (i = 0; i < LEDGER_INDEX / sizeof(*index); i++)
		index[i] = ~0ull;
}

/* Empty the table into the ring; on failure the table stays as it is. */
__noinline int flush_slots(struct cpu_ledger *l, __u64 now)
{
	bool weighed;
	__u64 size;
	__u32 nr;

	if (!l || !l->nr)
		return 0;
	nr = at_most(l->nr, LEDGER_SLOTS);
	l->out.h.time_ns = now;
	l->out.nr = nr;
	l->out.until_ns = l->since_ns;
	weighed = weights_send(nr, now);
	size = __builtin_offsetof(struct ledger_slices, slots) + nr * sizeof(struct ledger_slot);
	if (bpf_ringbuf_output(&ring, &l->out, size, ring_flags(ring_wake_bytes))) {
		l->flush_failed++;
		l->full_ns = now;
		return -1;
	}
	l->full_ns = 0;
	if (!weighed)
		weights_disown(nr);
	forget_slots(l);
	return 0;
}

/* The next free slot; the caller has seen that there is one. */
static __always_inline __u32 slot_take(struct cpu_ledger *l)
{
	__u32 i = bounded(l->nr, LEDGER_SLOTS);

	l->nr = i + 1;
	weights_clear(i);
	return i;
}

static __always_inline void slot_begin(struct ledger_slot *s, __u64 css_set, __u64 from)
{
	s->css_set = css_set;
	s->first_ns = from;
	s->last_ns = from;
	s->on_cpu_ns = 0;
}

/*
 * Give slot @i to the current task from @from on. For rare events, see gone_set_cgroup_id();
 * slot_new() is the fast way.
 */
__noinline int slot_fill(struct cpu_ledger *l, __u32 i, __u64 from)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct css_set *set = BPF_CORE_READ(task, cgroups);
	struct ledger_slot *s;

	if (!l)
		return 0;
	s = slot_at(l, i);
	slot_begin(s, (__u64)set, from);
	s->pid = by_thread ? task->pid : task->tgid;
	s->tgid = task->tgid;
	s->start_ns = by_thread ? task->start_time : BPF_CORE_READ(task, group_leader, start_time);
	s->cgroup_id = gone_set_cgroup_id(set);
	return 0;
}

/* No slot left and the ring is full: the time is kept, but loses its owner. */
static __always_inline __u32 lost_slot(struct cpu_ledger *l, __u64 now)
{
	struct ledger_slot *s = slot_at(l, LEDGER_LOST_SLOT);

	if (l->nr <= LEDGER_LOST_SLOT) {
		__builtin_memset(s, 0, sizeof(*s));
		s->pid = LEDGER_LOST_PID;
		s->tgid = LEDGER_LOST_PID;
		s->first_ns = now;
		s->last_ns = now;
		weights_clear(LEDGER_LOST_SLOT);
		/* The spare slot below is part of the record now: empty unless in use. */
		if (l->nr <= LEDGER_RUN_SLOT) {
			__builtin_memset(slot_at(l, LEDGER_RUN_SLOT), 0, sizeof(*s));
			weights_clear(LEDGER_RUN_SLOT);
		}
		l->nr = LEDGER_SLOTS;
	}
	return LEDGER_LOST_SLOT;
}

/*
 * All slots are taken: send them. Returns 0, or if there is no room for them the slot for a piece
 * from @from on.
 *
 * A full ring stays full until user space has the CPU. Trying at each switch would make them
 * expensive just when they are most frequent.
 */
__noinline __u32 make_room(struct cpu_ledger *l, __u64 from)
{
	if (!l)
		return 0;
	if (l->full_ns && from < l->full_ns + FULL_NS)
		return lost_slot(l, from);
	return flush_slots(l, from) ? lost_slot(l, from) : 0;
}

/*
 * A slot that cannot be found by any key, for a piece from @from on whose owner is not what the
 * current task's fields say. The lost slot if there is none.
 */
static __always_inline __u32 slot_apart(struct cpu_ledger *l, __u64 from)
{
	struct ledger_slot *s;
	__u32 i;

	if (l->nr >= LEDGER_KEY_SLOTS) {
		i = make_room(l, from);
		if (i)
			return i;
	}
	i = slot_take(l);
	s = slot_at(l, i);
	s->css_set = 0;
	s->first_ns = from;
	s->on_cpu_ns = 0;
	return i;
}

/*
 * The verifier forbids arithmetic on a kernel pointer; once it has been through
 * memory it is a number.
 */
static __always_inline __u64 address_at(__u64 *place, const void *kernel)
{
	*place = (__u64)kernel;
	return *(volatile __u64 *)place;
}

/*
 * The slot of the current task. Until the next task is put on the CPU, the place of its css_set
 * holds the css_set that the current one is in now.
 */
static __always_inline __u32 slot_of(struct cpu_ledger *l, struct task_struct *task)
{
	__u32 pid = by_thread ? task->pid : task->tgid, place;
	__u64 css_set = address_at(&l->css_set, BPF_CORE_READ(task, cgroups));
	__u32 i = slot_known(l, pid, css_set, &place);

	if (i < LEDGER_SLOTS)
		return i;
	if (l->nr >= LEDGER_KEY_SLOTS) {
		i = make_room(l, l->since_ns);
		if (i)
			return i;
	}
	i = slot_take(l);
	l->index[place] = i;
	if (!pid)
		l->idle = (__u64)task;
	slot_fill(l, i, l->since_ns);
	return i;
}

static __always_inline void slot_time(struct ledger_slot *s, __u64 from, __u64 to)
{
	s->on_cpu_ns += to - from;
	s->last_ns = to;
}

static __always_inline void slot_add(struct cpu_ledger *l, __u32 i, __u64 from, __u64 to)
{
	slot_time(slot_at(l, i), from, to);
	weights_add(i, to - from);
}

/*
 * Has the current task had the CPU since the last flush, without a break? Then the only slot is the
 * beginning of the run: ledger_tick has been here.
 */
static __always_inline bool run_goes_on(struct cpu_ledger *l, __u32 pid, __u64 css_set)
{
	struct ledger_slot *s = slot_at(l, 0);

	return l->nr == 1 && slot_is(l, 0, pid, css_set) && s->last_ns == l->since_ns &&
	       s->on_cpu_ns == s->last_ns - s->first_ns;
}

/*
 * A window has ended at @boundary while the current task was running. Its run up to there may span
 * many windows, so it gets its own record slot, which means "without a break from first to last"
 * and can be split exactly.
 */
__noinline int close_run(struct cpu_ledger *l, __u64 boundary)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 pid = by_thread ? task->pid : task->tgid, place, i;
	__u64 css_set;

	if (!l)
		return 0;
	css_set = (__u64)BPF_CORE_READ(task, cgroups);
	if (run_goes_on(l, pid, css_set)) {
		i = 0;
	} else if (l->nr <= LEDGER_RUN_SLOT) {
		i = slot_take(l);
		slot_fill(l, i, l->since_ns);
	} else {
		i = slot_known(l, pid, css_set, &place);
		if (i >= LEDGER_SLOTS)
			i = lost_slot(l, l->since_ns);
	}
	slot_add(l, i, l->since_ns, boundary);
	l->since_ns = boundary;
	return 0;
}

/* The end of the last window of this CPU's socket. */
static __always_inline __u64 last_boundary(struct cpu_ledger *l)
{
	__u32 socket = l->socket;
	struct ledger_reader *rd = bpf_map_lookup_elem(&readers, &socket);

	return rd ? *(volatile __u64 *)&rd->boundary_ns : 0;
}

/* Has the window of the slots? One whose end is set after our clock reading is for the next switch. */
static __always_inline bool has_ended(const struct cpu_ledger *l, __u64 boundary, __u64 now)
{
	return l->boundary_ns != boundary && boundary <= now;
}

/* The current task has been running since the ledger was last updated. */
static __always_inline void account(struct cpu_ledger *l, struct task_struct *task, __u64 now)
{
	__u64 boundary = last_boundary(l);

	if (unlikely(has_ended(l, boundary, now))) {
		if (boundary > l->since_ns)
			close_run(l, boundary);
		flush_slots(l, now);
		l->boundary_ns = boundary;
	}
	slot_add(l, slot_of(l, task), l->since_ns, now);
	l->since_ns = now;
}

/*
 * The current task has the CPU, but @task was put on it last: it left without a call of this
 * program. Some kernels hide the switches of some tasks. The scheduler's own books still have the
 * length of its last run; it gets that, and its successor the rest.
 *
 * Its address is from a moment ago, so it may be gone: every read may fail or return garbage, and
 * the result is only ever a number in a record.
 */
__noinline int unseen_switch(struct cpu_ledger *l, __u64 task, __u64 now)
{
	struct task_struct *gone = (struct task_struct *)task;
	struct ledger_slot *s;
	__u64 gap, ran, end;
	__u32 i;

	if (!l)
		return 0;
	l->unseen++;
	gap = now - l->since_ns;
	ran = BPF_CORE_READ(gone, se.sum_exec_runtime) -
	      BPF_CORE_READ(gone, se.prev_sum_exec_runtime);
	end = l->since_ns + (ran < gap ? ran : gap);
	i = slot_apart(l, l->since_ns);
	if (i != LEDGER_LOST_SLOT) {
		s = slot_at(l, i);
		s->tgid = BPF_CORE_READ(gone, tgid);
		s->pid = by_thread ? BPF_CORE_READ(gone, pid) : s->tgid;
		s->start_ns = by_thread ? BPF_CORE_READ(gone, start_time)
					: BPF_CORE_READ(gone, group_leader, start_time);
		s->cgroup_id = gone_task_cgroup_id(gone);
	}
	slot_add(l, i, l->since_ns, end);
	l->since_ns = end;
	return 0;
}

/*
 * A note tells that the current task was moved to another cgroup during this run (moves.bpf.c): its
 * time until then belongs to the old cgroup. The note identifies the run, because another CPU wrote
 * it, which cannot know what this one was about to do.
 */
__noinline int moved_run(struct cpu_ledger *l, __u32 note, __u64 now)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	struct ledger_move m;
	__u64 from;
	__u32 i;

	if (!l)
		return 0;
	m = l->moves[bounded(note, LEDGER_MOVES)];
	if (m.check != move_check(&m) || m.task != l->task || m.css_set != l->css_set)
		return 0;
	from = l->since_ns;
	if (m.task != (__u64)task || !from || m.time_ns <= from || m.time_ns > now)
		return 0;
	i = slot_apart(l, from);
	if (i != LEDGER_LOST_SLOT) {
		slot_fill(l, i, from);
		slot_at(l, i)->css_set = 0;
		slot_at(l, i)->cgroup_id = m.from_id;
	}
	slot_add(l, i, from, m.time_ns);
	l->since_ns = m.time_ns;
	return 0;
}

static __always_inline bool was_moved(struct cpu_ledger *l)
{
	return *(volatile __u64 *)&l->moved;
}

static __always_inline void take_moves(struct cpu_ledger *l, __u64 now)
{
	__u32 nr = at_most(*(volatile __u64 *)&l->moved, LEDGER_MOVES), i;

	for (i = 0; i < LEDGER_MOVES && opaque(i) < nr; i++)
		moved_run(l, i, now);
	*(volatile __u64 *)&l->moved = 0;
}

/*
 * The idle task no longer has the CPU. Returns the word by which user space sees how far the books
 * have come, with LEDGER_REST_TAKEN if it has taken the slots.
 */
static __always_inline __u64 end_rest(struct cpu_ledger *l)
{
	return __sync_lock_test_and_set(&l->rest, 0);
}

/*
 * User space has taken the slots and the time of the idle task: the books continue from there. Its
 * clock was read after ours, so ours is read again.
 */
static __always_inline __u64 go_on_from(struct cpu_ledger *l, __u64 rest)
{
	__u64 now;

	forget_slots(l);
	l->since_ns = rest >> LEDGER_REST_SHIFT;
	now = bpf_ktime_get_ns();
	return now > l->since_ns ? now : l->since_ns;
}

/*
 * From here on nothing of the ledger changes until end_rest(). A weakly ordered CPU may show this
 * before the slots: the current switch ends with a barrier, and user space waits for that
 * (LEDGER_REST_NS).
 */
static __always_inline void begin_rest(struct cpu_ledger *l)
{
	barrier();
	*(volatile __u64 *)&l->rest = LEDGER_RESTS(l->since_ns);
}

/*
 * The current task has the CPU at @now, and something has happened since the last update. @rest:
 * the result of end_rest(), if it was called. Returns the time up to which it must be booked.
 */
__noinline __u64 look_closer(struct cpu_ledger *l, __u64 now, __u64 rest)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	__u64 was, since;
	bool unseen;

	if (!l)
		return now;
	was = l->task;
	since = l->since_ns;
	/* Before the first switch the start of the task's run is unknown. */
	unseen = since && was != (__u64)task;
	if (rests && was == l->idle)
		rest |= end_rest(l);
	if (rest & LEDGER_REST_TAKEN)
		now = go_on_from(l, rest);
	/*
	 * Counts of two tasks between two readings cannot be separated; nor can those of one task
	 * before and after user space took its time.
	 */
	weights_read(since && !unseen && l->since_ns == since ? now - since : 0);
	if (was_moved(l))
		take_moves(l, now);
	if (unseen)
		unseen_switch(l, was, now);
	if (!since) {
		l->out.h.type = LEDGER_SLICES;
		l->out.h.cpu = bpf_get_smp_processor_id();
		forget_slots(l);
		l->since_ns = now;
	}
	return now;
}

/* Was @task put on the CPU last, and has it not been moved since? */
static __always_inline bool same_run(struct cpu_ledger *l, const struct task_struct *task)
{
	return likely(l->task == (__u64)task) && likely(!was_moved(l));
}

/*
 * The current task, @task, has the CPU at @now. @rest: see look_closer(). Returns @now, or when the
 * clock was read again.
 */
static __always_inline __u64 bring_up_to(struct cpu_ledger *l, struct task_struct *task, __u64 now,
					 __u64 rest)
{
	if (same_run(l, task) && l->task != l->idle)
		weights_read(now - l->since_ns);
	else
		now = look_closer(l, now, rest);
	if (now > l->since_ns)
		account(l, task, now);
	return now;
}

/* From here on the CPU belongs to @task. */
static __always_inline void put_on(struct cpu_ledger *l, const struct task_struct *task)
{
	l->css_set = (__u64)task->cgroups;
	l->task = (__u64)task;
}

/* The ledger stays as it is until the next switch. */
static __always_inline void leave(struct cpu_ledger *l)
{
	if (l->task == l->idle)
		begin_rest(l);
}

static __always_inline struct cpu_ledger *this_ledger(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&ledgers, &cpu);
}

/* Give a slot to @task, which leaves; slot_fill() is the slow way. */
static __always_inline void slot_new(struct ledger_slot *s, const struct task_struct *task,
				     __u32 pid, __u64 css_set, __u64 from)
{
	slot_begin(s, css_set, from);
	s->pid = pid;
	s->tgid = task->tgid;
	s->start_ns = by_thread ? task->start_time : task->group_leader->start_time;
	s->cgroup_id = task_cgroup_id(task);
}

/*
 * Book the time of @task, which leaves, if nothing else has happened: it was put on the CPU last,
 * no window has ended, and it has a slot at the first place of its key, or gets one there.
 * Otherwise false: then nothing is booked, and @rest is the result of end_rest(), if it was called.
 *
 * This is the case at nearly every switch. The code is short and contiguous, because between two
 * switches other code has used the caches, including the instruction cache. It calls nothing, or
 * weights at its very end, so it has little to save and 48 bytes of stack are enough. With more,
 * Linux 6.13 and later give a program a private stack, which is in no cache either.
 */
static __always_inline bool usual_switch(struct cpu_ledger *l, const struct task_struct *task,
					 __u64 now, __u64 *rest)
{
	__u64 since = l->since_ns, css_set;
	struct ledger_slot *s;
	__u32 pid, place, i;
	bool is_new;

	if (!same_run(l, task) || unlikely(now <= since))
		return false;
	if (unlikely(has_ended(l, last_boundary(l), now)))
		return false;
	if (rests && (__u64)task == l->idle) {
		*rest = end_rest(l);
		if (unlikely(*rest & LEDGER_REST_TAKEN))
			return false;
	}
	pid = by_thread ? task->pid : task->tgid;
	css_set = address_at(&l->css_set, task->cgroups);
	place = slot_place(pid, css_set);
	i = l->index[place];
	is_new = i >= l->nr;
	if (is_new) {
		i = l->nr;
		if (unlikely(i >= LEDGER_KEY_SLOTS) || unlikely(!pid))
			return false;
		l->nr = i + 1;
		l->index[place] = i;
		s = slot_at(l, i);
		slot_new(s, task, pid, css_set, since);
	} else {
		s = slot_at(l, i);
		if (unlikely(!slot_has_key(s, pid, css_set)))
			return false;
	}
	slot_time(s, since, now);
	l->since_ns = now;
	weights_book(i, is_new, now - since);
	return true;
}

/* Book the time of the current task, which leaves, in any case. Returns its end. */
__noinline __u64 other_switch(struct cpu_ledger *l, __u64 now, __u64 rest)
{
	return l ? bring_up_to(l, bpf_get_current_task_btf(), now, rest) : now;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(ledger_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct cpu_ledger *l = this_ledger();
	__u64 now = bpf_ktime_get_ns(), rest = 0;

	if (!l)
		return 0;
	if (!usual_switch(l, prev, now, &rest))
		now = other_switch(l, now, rest);
	put_on(l, next);
	leave(l);
	if (unlikely(!(++l->switches & (TIMED_EVERY - 1)))) {
		l->timed_ns += bpf_ktime_get_ns() - now;
		l->timed++;
	}
	return 0;
}

/* @task is the current one, and keeps running. */
static __always_inline void look_between(struct cpu_ledger *l, struct task_struct *task, __u64 now)
{
	bring_up_to(l, task, now, 0);
	l->css_set = (__u64)BPF_CORE_READ(task, cgroups);
	l->task = (__u64)task;
}

/*
 * A timer has expired. The scheduler's tick is one, and it expires while a task has the CPU: if a
 * window has ended since the last update of the ledger, close it now, as a switch would. So a task
 * that never switches has a slice, and weights, for each window.
 *
 * Weights are read in between, too, but not at every timer: counts between two readings cannot be
 * assigned to either side of a window's end.
 *
 * No CPU is woken for it, and one without a tick is not disturbed. Time of the idle task is known
 * without it.
 */
SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(ledger_tick, struct hrtimer *timer)
{
	struct cpu_ledger *l = this_ledger();
	struct task_struct *task;
	bool ended;
	__u64 now;

	if (!l || !l->since_ns)
		return 0;
	ended = l->boundary_ns != last_boundary(l);
	if ((!ended && !nr_weights && !was_moved(l)) || l->no_tick || l->asked)
		return 0;
	/* They expire in a soft interrupt: other tasks could come between. */
	if (timer->is_soft)
		return 0;
	task = bpf_get_current_task_btf();
	if (!task->pid)
		return 0;
	now = bpf_ktime_get_ns();
	if (ended || was_moved(l) || now - l->since_ns >= WEIGHTS_EVERY_NS)
		look_between(l, task, now);
	return 0;
}

/*
 * Run by user space on one CPU (BPF_PROG_TEST_RUN): updates the ledger up to now and sends it, so
 * that a task that never switches is in every report. It also starts the ledger of a CPU that has
 * not switched yet.
 */
SEC("raw_tp/sched_switch")
int ledger_flush(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct cpu_ledger *l = this_ledger();
	__u64 now;

	if (!l)
		return 0;
	*(volatile __u32 *)&l->asked = 1;
	now = bpf_ktime_get_ns();
	look_between(l, task, now);
	if (!task->pid)
		l->idle = (__u64)task;
	flush_slots(l, now);
	leave(l);
	*(volatile __u32 *)&l->asked = 0;
	return 0;
}
