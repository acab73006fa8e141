// SPDX-License-Identifier: GPL-2.0-only
/*
 * Moves: a process is put into another cgroup while it runs.
 *
 * The ledger looks at a task when it leaves the CPU, and then it sees the new cgroup, not the old
 * one. The mover leaves a note at the task's CPU: the time of the move, and the old cgroup. That
 * costs the mover's time; a switch only checks a mark.
 *
 * The kernel calls this after the move, one move at a time (it holds the lock of all cgroups). The
 * old cgroup is known from the ledger's note when the task was put on the CPU. That may change
 * meanwhile: the note identifies the run, and the CPU itself decides.
 */
#include "slots.bpf.h"

#define MAX_CPUS 8192 /* NR_CPUS of any kernel */

struct move {
	struct task_struct *task;
	__u64 time_ns;
	__u64 css_set;
	__u32 pid; /* as slots have it */
	int tgid;
	bool whole;
};

/*
 * The notes of this run that the CPU has not looked at yet. None if they are of another run: the
 * CPU has ended that run, or is doing so, and has no more use for them.
 */
static __always_inline __u32 notes_of(struct cpu_ledger *l, const struct ledger_move *run)
{
	__u32 nr = at_most(*(volatile __u64 *)&l->moved, LEDGER_MOVES);
	struct ledger_move *last = &l->moves[bounded(nr - 1, LEDGER_MOVES)];

	return nr && last->task == run->task && last->css_set == run->css_set ? nr : 0;
}

/*
 * The slot that a CPU would find for the task from now on may be another cgroup's: an old css_set
 * of the task was freed, and the current one has its address. The slot keeps its time, but is no
 * longer found. If the CPU is using it for another task right now, that task gets a new slot.
 */
static __always_inline void forget_slot(struct cpu_ledger *l, const struct move *m)
{
	__u32 place, i = slot_known(l, m->pid, m->css_set, &place);

	if (i < LEDGER_SLOTS)
		*(volatile __u64 *)&slot_at(l, i)->css_set = 0;
}

/* Does a CPU run a moved thread, and was that one in another cgroup until now? */
static long look_at_cpu(__u32 cpu, void *arg)
{
	struct cpu_ledger *l = bpf_map_lookup_elem(&ledgers, &cpu);
	struct move *m = arg;
	struct task_struct *running;
	struct ledger_move note;
	struct css_set *set;
	__u32 nr;

	if (!l)
		return 1;
	forget_slot(l, m);
	running = (struct task_struct *)*(volatile __u64 *)&l->task;
	set = (struct css_set *)*(volatile __u64 *)&l->css_set;
	if (!running || !set)
		return 0;
	if (m->whole ? BPF_CORE_READ(running, tgid) != m->tgid : running != m->task)
		return 0;
	note.task = (__u64)running;
	note.css_set = (__u64)set;
	nr = notes_of(l, &note);
	if (!nr && BPF_CORE_READ(running, cgroups) == set)
		return 0;
	note.from_id = nr ? l->moves[bounded(nr - 1, LEDGER_MOVES)].to_id : gone_set_cgroup_id(set);
	note.to_id = gone_task_cgroup_id(running);
	if (!note.from_id || note.from_id == note.to_id)
		return 0;
	if (nr == LEDGER_MOVES) {
		__sync_fetch_and_add(&lost_cgroups, 1);
		return 0;
	}
	note.time_ns = m->time_ns;
	note.check = move_check(&note);
	l->moves[bounded(nr, LEDGER_MOVES)] = note;
	barrier();
	*(volatile __u64 *)&l->moved = nr + 1;
	return 0;
}

SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(task_moved, struct cgroup *to, const char *path, struct task_struct *task,
	     bool threadgroup)
{
	struct move m = {
		.task = task,
		.time_ns = bpf_ktime_get_ns(),
		.css_set = (__u64)BPF_CORE_READ(task, cgroups),
		.pid = by_thread ? task->pid : task->tgid,
		.tgid = task->tgid,
		.whole = threadgroup,
	};

	/* Linux 5.17. Without it the run is not split. */
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop))
		bpf_loop(MAX_CPUS, look_at_cpu, &m, 0);
	return 0;
}
