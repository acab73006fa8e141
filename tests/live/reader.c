// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The reader of a socket, with an event that every machine has: reader CPU
 *
 * Starts it on CPU, starts it once more as after a CPU has gone, stops it, starts it with another
 * event, and ends. Says
 *
 *	windows BEFORE AFTER STOPPED AGAIN	good windows of each part
 *	closed NR		descriptors that were closed though they were not open
 */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ledger_tool.h"

#include "platform/pmu/perf_events.h"

#define PERIOD_NS 5000000
#define BUSY_NS	  100000000

static unsigned int closed_twice;
static uint64_t windows;

/* Also for those of libbpf: what is closed twice may be somebody else's by then. */
int close(int fd)
{
	int err = syscall(SYS_close, fd);

	closed_twice += err && errno == EBADF;
	return err;
}

static void on_window(void *arg, const struct ledger_window *w)
{
	(void)arg;
	windows += w->nr == 1 && !w->readings[0].error && w->readings[0].value.count;
}

static const struct ledger_sink sink = { ignore_slices, on_window, ignore_task,
					 ignore_cgroup, NULL,	   NULL };

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* Works meanwhile: a CPU that sleeps is left asleep and has no windows. @event: -1 to go on as before */
static uint64_t run(struct ledger *l, int cpu, int event)
{
	struct diag d = { 0 };
	uint64_t before = windows, until;
	const struct ledger_reading_plan plan = {
		.cpu = cpu, .fds = &event, .nr = 1, .period_ns = PERIOD_NS
	};

	if (event >= 0 && ledger_reader_start(l, 0, &plan, &d))
		fatal("reader", &d);
	until = now_ns() + BUSY_NS;
	while (now_ns() < until)
		continue;
	if (ledger_drain(l, &sink))
		fatal("drain", NULL);
	return windows - before;
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr),
		.read_format = PERF_TIMES,
	};
	uint32_t nr_cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint32_t *cpu_socket = calloc(nr_cpus, sizeof(*cpu_socket));
	struct ledger_options o = { .cpu_socket = cpu_socket, .nr_cpus = nr_cpus, .nr_events = 1 };
	struct diag d = { 0 };
	struct ledger *l;
	uint64_t before, after, stopped, again;
	cpu_set_t here;
	int cpu, event;

	if (argc != 2 || !cpu_socket)
		return 2;
	cpu = atoi(argv[1]);
	CPU_ZERO(&here);
	CPU_SET(cpu, &here);
	if (sched_setaffinity(0, sizeof(here), &here))
		fatal("affinity", NULL);
	event = perf_kernel.open(&attr, -1, cpu, -1);
	if (event < 0)
		fatal("event", NULL);
	if (ledger_open(&o, &d, &l))
		fatal("ledger", &d);
	closed_twice = 0;
	before = run(l, cpu, event);
	after = run(l, cpu, event);
	ledger_reader_stop(l, 0);
	if (ledger_drain(l, &sink))
		fatal("drain", NULL);
	stopped = run(l, cpu, -1);
	close(event);
	event = perf_kernel.open(&attr, -1, cpu, -1);
	again = run(l, cpu, event);
	ledger_free(l);
	close(event);
	printf("windows %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", before, after, stopped,
	       again);
	printf("closed %u\n", closed_twice);
	free(cpu_socket);
	return 0;
}
