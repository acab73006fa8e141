// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/selftest/traffic.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define LINE_BYTES	64
#define LINES_AT_ONCE	1024 /* between two checks for orders */
#define SHORTEST_MS	20   /* at work, or away */
#define LONGEST_WORK_MS 60
#define LONGEST_AWAY_MS 40

/*
 * An order is a number that grows, times ORDERS, plus the action: so the same order given twice is
 * obeyed twice.
 */
#define ORDERS		8u

struct traffic_shared {
	_Atomic uint32_t order;
	_Atomic uint32_t obeyed;
	_Atomic int32_t err;
	_Atomic uint64_t moved[2]; /* by direction */
};

/* The program itself, in its own process */
struct mover {
	const struct traffic_program *p;
	struct traffic_shared *shared;
	char *buffer;
	uint64_t at;
	uint64_t random;
	uint32_t order;
};

/* xorshift64: any uniform distribution will do */
static uint64_t between(struct mover *m, uint64_t least, uint64_t max)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return least + m->random % (max - least + 1);
}

static bool told_otherwise(const struct mover *m)
{
	return atomic_load(&m->shared->order) != m->order;
}

/* One access a line: the memory moves whole lines. */
static void move_lines(struct mover *m, enum direction direction)
{
	for (int i = 0; i < LINES_AT_ONCE; i++) {
		volatile uint64_t *line = (volatile uint64_t *)(m->buffer + m->at);

		if (direction == DIRECTION_WRITE)
			*line = m->at;
		else
			(void)*line;
		m->at += LINE_BYTES;
		if (m->at >= m->p->bytes)
			m->at = 0;
	}
	atomic_fetch_add(&m->shared->moved[direction], (uint64_t)LINES_AT_ONCE * LINE_BYTES);
}

/* Time on the CPU without memory */
static void compute(const struct mover *m, uint64_t ns)
{
	uint64_t end = monotonic_ns() + ns;

	while (monotonic_ns() < end && !told_otherwise(m))
		;
}

static void sleep_ns(uint64_t ns)
{
	nanosleep(&(struct timespec){ .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S }, NULL);
}

static void go_on(struct mover *m, enum direction direction)
{
	while (!told_otherwise(m)) {
		uint64_t end =
			monotonic_ns() + between(m, SHORTEST_MS, LONGEST_WORK_MS) * NS_PER_MS;
		uint64_t begun;

		while ((begun = monotonic_ns()) < end && !told_otherwise(m)) {
			move_lines(m, direction);
			compute(m, m->p->rest * (monotonic_ns() - begun));
		}
		if (!told_otherwise(m))
			sleep_ns(between(m, SHORTEST_MS, LONGEST_AWAY_MS) * NS_PER_MS);
	}
}

static int fill(struct mover *m)
{
	m->buffer =
		mmap(NULL, m->p->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (m->buffer == MAP_FAILED) {
		m->buffer = NULL;
		return -errno;
	}
	/* Page tables are memory traffic, too: the fewer pages the better, if they can be huge. */
	madvise(m->buffer, m->p->bytes, MADV_HUGEPAGE);
	memset(m->buffer, 1, m->p->bytes);
	m->at = 0;
	return 0;
}

static void drop(struct mover *m)
{
	if (m->buffer)
		munmap(m->buffer, m->p->bytes);
	m->buffer = NULL;
}

static void obey(struct mover *m)
{
	enum traffic_order what = m->order % ORDERS;
	bool lasting = what == TRAFFIC_READ || what == TRAFFIC_WRITE;

	if (lasting)
		atomic_store(&m->shared->obeyed, m->order);
	if (what == TRAFFIC_FILL && !atomic_load(&m->shared->err))
		atomic_store(&m->shared->err, fill(m));
	else if (what == TRAFFIC_DROP)
		drop(m);
	else if (what == TRAFFIC_FLUSH && m->buffer)
		for (uint64_t done = 0; done < m->p->bytes && !told_otherwise(m);
		     done += LINES_AT_ONCE * LINE_BYTES)
			move_lines(m, DIRECTION_READ);
	else if (lasting && m->buffer)
		go_on(m, what == TRAFFIC_READ ? DIRECTION_READ : DIRECTION_WRITE);
	if (!lasting)
		atomic_store(&m->shared->obeyed, m->order);
}

static int pin(unsigned int cpu)
{
	size_t size = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	int err;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	err = sched_setaffinity(0, size, set) ? -errno : 0;
	CPU_FREE(set);
	return err;
}

static _Noreturn void program(const struct traffic_program *p, pid_t starter)
{
	struct mover m = { .p = p, .shared = p->shared, .random = p->seed * 2654435761u + 1 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != starter)
		_exit(1);
	atomic_store(&m.shared->err, pin(p->cpu));
	for (;;) {
		uint32_t order = atomic_load(&m.shared->order);

		if (order == m.order) {
			sleep_ns(NS_PER_MS);
			continue;
		}
		m.order = order;
		obey(&m);
	}
}

int traffic_start(struct traffic_program *p, struct diag *d)
{
	char own_name[MODEL_COMM_LEN] = "";
	pid_t starter = getpid();
	int err;

	p->shared = mmap(NULL, sizeof(*p->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p->shared == MAP_FAILED) {
		p->shared = NULL;
		return diag_no_memory(d);
	}
	/* The kernel reports the name that a process has when it is forked. */
	prctl(PR_GET_NAME, own_name);
	prctl(PR_SET_NAME, p->name);
	p->pid = fork();
	err = p->pid < 0 ? -errno : 0;
	if (!p->pid)
		program(p, starter);
	prctl(PR_SET_NAME, own_name);
	if (err) {
		p->pid = 0;
		diag_error(d, err, "cannot start a process");
	}
	return err;
}

bool traffic_stop(struct traffic_program *p)
{
	uint64_t end = monotonic_ns() + TRAFFIC_STOP_NS;
	bool ended = p->pid <= 0;

	if (!ended)
		kill(p->pid, SIGKILL);
	while (!ended) {
		ended = waitpid(p->pid, NULL, WNOHANG) != 0;
		if (ended || monotonic_ns() > end)
			break;
		sleep_ns(NS_PER_MS);
	}
	if (p->shared)
		munmap(p->shared, sizeof(*p->shared));
	p->pid = 0;
	p->shared = NULL;
	return ended;
}

void traffic_order(struct traffic_program *p, enum traffic_order order)
{
	uint32_t last = atomic_load(&p->shared->order);

	atomic_store(&p->shared->order, (last / ORDERS + 1) * ORDERS + order);
}

bool traffic_obeys(struct traffic_program *p, int *ret_err)
{
	bool ended = p->pid && waitpid(p->pid, NULL, WNOHANG) == p->pid;

	if (ended)
		p->pid = 0;
	/* read after that: a program that gives up tells why before it ends */
	*ret_err = atomic_load(&p->shared->err);
	if (ended && !*ret_err)
		*ret_err = -ESRCH;
	return atomic_load(&p->shared->obeyed) == atomic_load(&p->shared->order);
}

uint64_t traffic_moved(const struct traffic_program *p, enum direction direction)
{
	return atomic_load(&p->shared->moved[direction]);
}
