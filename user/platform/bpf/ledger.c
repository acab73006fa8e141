// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/bpf/ledger.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "platform/bpf/ledger_internal.h"

/* Ring size: this much for each CPU holds some 100 ms of a busy machine. */
#define RING_PER_CPU (64u << 10)
#define RING_MIN     (1u << 20)
#define RING_MAX     (16u << 20)

#define ONLINE	     "/sys/devices/system/cpu/online"

static const char *compiler(const struct ledger *l)
{
	return (const char *)l->skel->rodata->compiler;
}

static uint32_t ring_size(uint32_t nr_cpus)
{
	uint64_t want = (uint64_t)nr_cpus * RING_PER_CPU, size = RING_MIN;

	while (size < want && size < RING_MAX)
		size *= 2;
	return size;
}

static bool weights_are_sound(const struct ledger *l, const struct ledger_weights *w, size_t size)
{
	return l->weights && w->h.cpu < l->nr_cpus &&
	       size >= offsetof(struct ledger_weights, slots) && w->nr <= LEDGER_SLOTS &&
	       w->nr_events == l->nr_weights &&
	       size >= offsetof(struct ledger_weights, slots) + w->nr * sizeof(w->slots[0]);
}

/*
 * The weights sent just before these slices. If those slices did not fit into the ring, the weights
 * are stale, and the same counts have come again.
 */
static const struct ledger_weights *weights_of(const struct ledger *l,
					       const struct ledger_slices *r)
{
	const struct ledger_weights *w;

	if (!l->weights || r->h.cpu >= l->nr_cpus)
		return NULL;
	w = &l->weights[r->h.cpu];
	return w->nr == r->nr && w->h.time_ns == r->h.time_ns ? w : NULL;
}

void ledger_came(struct ledger *l, const struct ledger_slices *r)
{
	if (r->h.cpu >= l->nr_cpus)
		return;
	if (r->until_ns > l->flushed[r->h.cpu].until_ns)
		l->flushed[r->h.cpu].until_ns = r->until_ns;
	/* It came online after the list was read. An empty list is an unknown one, and stays empty. */
	if (r->until_ns > l->online_ns && cpulist_count(&l->online))
		cpulist_set(&l->online, r->h.cpu, true);
}

/* Hands a record on. Sizes are checked here: later code trusts them. */
static int dispatch(struct ledger *l, const void *data, size_t size)
{
	const struct ledger_sink *sink = l->sink;
	const struct ledger_header *h = data;
	const struct ledger_slices *slices = data;
	const struct ledger_weights *weights = data;
	const struct ledger_window *window = data;
	const struct ledger_io *io = data;
	const struct ledger_cgroup *cgroup = data;

	if (size < sizeof(*h))
		goto bad;
	switch (h->type) {
	case LEDGER_SLICES:
		if (size < offsetof(struct ledger_slices, slots) || slices->nr > LEDGER_SLOTS ||
		    size < offsetof(struct ledger_slices, slots) +
				    slices->nr * sizeof(slices->slots[0]))
			goto bad;
		ledger_came(l, slices);
		sink->slices(sink->arg, slices, weights_of(l, slices));
		return 0;
	case LEDGER_WEIGHTS:
		if (!weights_are_sound(l, data, size))
			goto bad;
		memcpy(&l->weights[h->cpu], data,
		       offsetof(struct ledger_weights, slots) +
			       weights->nr * sizeof(weights->slots[0]));
		return 0;
	case LEDGER_WINDOW:
		if (size < offsetof(struct ledger_window, readings) ||
		    window->nr > LEDGER_MAX_EVENTS || window->reader >= l->nr_readers ||
		    size < offsetof(struct ledger_window, readings) +
				    window->nr * sizeof(window->readings[0]))
			goto bad;
		sink->window(sink->arg, window);
		return 0;
	case LEDGER_TASK_FORK:
	case LEDGER_TASK_NAME:
	case LEDGER_TASK_EXIT:
		if (size < sizeof(struct ledger_task))
			goto bad;
		sink->task(sink->arg, data);
		return 0;
	case LEDGER_CGROUP_NEW:
		if (size <= offsetof(struct ledger_cgroup, path) ||
		    !memchr(cgroup->path, '\0', size - offsetof(struct ledger_cgroup, path)))
			goto bad;
		sink->cgroup(sink->arg, data);
		return 0;
	case LEDGER_CGROUP_GONE:
		if (size < offsetof(struct ledger_cgroup, path))
			goto bad;
		sink->cgroup(sink->arg, data);
		return 0;
	case LEDGER_IO:
		if (size < offsetof(struct ledger_io, slots) || io->nr > LEDGER_IO_SLOTS ||
		    size < offsetof(struct ledger_io, slots) + io->nr * sizeof(io->slots[0]))
			goto bad;
		ledger_io_hand_on(io, sink);
		return 0;
	}
bad:
	l->bad++;
	return -EBADMSG;
}

/*
 * One record of the ring. CPUs that write faster than we read must not keep us here for ever: a
 * drain ends where the ring ended when it began.
 */
static int on_record(void *ctx, void *data, size_t size)
{
	const struct ledger_header *h = data;
	struct ledger *l = ctx;

	if (dispatch(l, data, size))
		return 0;
	return h->time_ns > l->until_ns ? -EAGAIN : 0;
}

/* The page with our read position, and behind it the page with the kernel's position. */
static int map_positions(struct ledger *l)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, 2 * page, PROT_READ, MAP_SHARED, bpf_map__fd(l->skel->maps.ring), 0);

	if (p == MAP_FAILED)
		return -errno;
	l->ring_read = (const unsigned long *)p;
	l->ring_reserved = (const unsigned long *)(p + page);
	return 0;
}

static int open_maps(struct ledger *l, const struct ledger_options *o, struct diag *d)
{
	void *memory;
	int err;

	err = ledger_map_memory(l->skel->maps.ledgers, o->nr_cpus, sizeof(struct cpu_ledger),
				&memory, &l->cpus_size);
	if (err)
		return diag_fail(d, err, "cannot map the ledgers: %s", strerror(-err));
	l->cpus = memory;
	err = ledger_map_memory(l->skel->maps.readers, l->nr_readers, sizeof(struct ledger_reader),
				&memory, &l->readers_size);
	if (err)
		return diag_fail(d, err, "cannot map the readers: %s", strerror(-err));
	l->readers = memory;
	if (o->nr_weights) {
		err = ledger_map_memory(l->skel->maps.weights, o->nr_cpus,
					sizeof(struct cpu_weights), &memory, &l->cpu_weights_size);
		if (err)
			return diag_fail(d, err, "cannot map the weights: %s", strerror(-err));
		l->cpu_weights = memory;
	}
	for (uint32_t c = 0; c < o->nr_cpus; c++) {
		l->cpus[c].socket = o->cpu_socket[c];
		l->cpus[c].reader = LEDGER_NO_READER;
		l->cpus[c].no_tick = o->quiet && cpulist_contains(o->quiet, c);
	}
	l->ring = ring_buffer__new(bpf_map__fd(l->skel->maps.ring), on_record, l, NULL);
	if (!l->ring)
		return diag_fail(d, -errno, "cannot map the ring buffer: %s", strerror(errno));
	err = map_positions(l);
	if (err)
		return diag_fail(d, err, "cannot map the ring buffer: %s", strerror(-err));
	return 0;
}

/* The kernel's own number of a controller, from its type information. */
static int subsys_number(const char *controller, uint32_t *ret)
{
	struct btf *btf = btf__load_vmlinux_btf();
	char name[64];
	int err;

	snprintf(name, sizeof(name), "%s_cgrp_id", controller);
	err = ledger_enum_value(btf, "cgroup_subsys_id", name, ret);
	btf__free(btf);
	return err;
}

/* A controller that this kernel was built without is not mounted either. */
static int find_v1(struct ledger *l, const struct ledger_options *o, struct diag *d)
{
	int err;

	if (!o->v1_number || !o->v1_controller || !o->v1_controller[0])
		return 0;
	err = subsys_number(o->v1_controller, &l->v1_subsys);
	if (err && access(KERNEL_TYPES, R_OK))
		return ledger_load_problem(err, "cannot load the BPF programs", "", d);
	if (err) {
		diag_fail(d, err, "the kernel's type information has no cgroup controller %s",
			  o->v1_controller);
		diag_help(d, "choose another one, or none, with --cgroup-v1");
		return err;
	}
	l->v1_number = o->v1_number;
	return 0;
}

/* Can programs exchange values in memory? arm64 can since Linux 5.18, x86 since 5.12. */
static bool has_exchange(void)
{
	const struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_STX | BPF_MEM | BPF_DW,
		  .dst_reg = BPF_REG_10,
		  .src_reg = BPF_REG_0,
		  .off = -8 },
		{ .code = BPF_STX | BPF_ATOMIC | BPF_DW,
		  .dst_reg = BPF_REG_10,
		  .src_reg = BPF_REG_0,
		  .off = -8,
		  .imm = BPF_XCHG },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "t410_exchange", "GPL", program,
			       ARRAY_SIZE(program), NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Opens, configures and loads the programs, with these parts of "io". */
static int load(struct ledger *l, const struct ledger_options *o, uint32_t io, struct diag *d)
{
	int err;

	ledger_load_begins();
	l->skel = t410trace__open();
	if (!l->skel)
		return diag_fail(d, -errno, "cannot open the BPF programs: %s", strerror(errno));
	l->skel->rodata->by_thread = o->by_thread;
	l->rests = has_exchange();
	l->skel->rodata->rests = l->rests;
	l->skel->rodata->ring_wake_bytes = ring_size(o->nr_cpus) / 2;
	bpf_map__set_max_entries(l->skel->maps.ring, ring_size(o->nr_cpus));
	bpf_map__set_max_entries(l->skel->maps.ledgers, o->nr_cpus);
	bpf_map__set_max_entries(l->skel->maps.readers, l->nr_readers);
	bpf_map__set_max_entries(l->skel->maps.scratch, l->nr_readers);
	bpf_map__set_max_entries(l->skel->maps.events, l->nr_events);
	l->skel->rodata->v1_controller = l->v1_number;
	l->skel->rodata->v1_subsys = l->v1_subsys;
	l->skel->rodata->nr_weights = o->nr_weights;
	if (o->nr_weights) {
		bpf_map__set_max_entries(l->skel->maps.weights, o->nr_cpus);
		bpf_map__set_max_entries(l->skel->maps.weight_events,
					 o->nr_cpus * LEDGER_MAX_WEIGHTS);
	}
	/* These programs are run by hand, on chosen CPUs or when needed. */
	bpf_program__set_autoattach(l->skel->progs.ledger_flush, false);
	bpf_program__set_autoattach(l->skel->progs.window_now, false);
	bpf_program__set_autoattach(l->skel->progs.window_tick, false);
	bpf_program__set_autoattach(l->skel->progs.task_list, false);
	bpf_program__set_autoload(l->skel->progs.ledger_tick, l->tick);
	bpf_program__set_autoload(l->skel->progs.window_tick, o->nr_events);
	bpf_program__set_autoload(l->skel->progs.window_now, o->nr_events);
	ledger_io_configure(l, o, io);
	err = ledger_preempt_use(l->skel->obj, &l->preempt);
	if (!err)
		err = t410trace__load(l->skel);
	if (!err) {
		l->io.parts = io;
		return 0;
	}
	err = ledger_load_problem(err, "cannot load the BPF programs", compiler(l), d);
	t410trace__destroy(l->skel);
	l->skel = NULL;
	return err;
}

/* The parts of "io" that load when not all do: each is tried alone, once. */
static uint32_t parts_that_load(struct ledger *l, const struct ledger_options *o, uint32_t wanted)
{
	struct diag why = { 0 };
	uint32_t good = 0;

	/* If loading fails without any part, the parts are not to blame. */
	if (load(l, o, 0, &why))
		return 0;
	t410trace__destroy(l->skel);
	for (uint32_t part = 1; part <= wanted; part <<= 1) {
		if (!(wanted & part))
			continue;
		if (load(l, o, part, &why)) {
			ledger_io_missing(l, part, ledger_load_reason());
			continue;
		}
		t410trace__destroy(l->skel);
		good |= part;
	}
	l->skel = NULL;
	return good;
}

static int load_with_io(struct ledger *l, const struct ledger_options *o, struct diag *d)
{
	uint32_t wanted = ledger_io_wanted(l, o);
	int err = load(l, o, wanted, d);

	if (err && wanted)
		err = load(l, o, parts_that_load(l, o, wanted), d);
	return err;
}

static int load_what_can_be(struct ledger *l, const struct ledger_options *o, struct diag *d)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int err;

	l->tick = o->tick && ledger_has_tracepoint(btf, "hrtimer_expire_entry");
	ledger_preempt_find(btf, &l->preempt);
	btf__free(btf);
	if (o->tick && !l->tick)
		str_copy(l->tick_missing, sizeof(l->tick_missing),
			 "the kernel has no tracepoint where timers expire");
	err = load_with_io(l, o, d);
	if (!err || !l->tick || err == -EPERM)
		return err;
	/* Try without the tick: it may be what fails. */
	l->tick = false;
	str_copy(l->tick_missing, sizeof(l->tick_missing), ledger_load_reason());
	return load_with_io(l, o, d);
}

const char *ledger_tick_missing(const struct ledger *l)
{
	return l->tick_missing;
}

int ledger_open(const struct ledger_options *o, struct diag *d, struct ledger **ret)
{
	struct ledger *l;
	int err;

	if (o->nr_weights > LEDGER_MAX_WEIGHTS)
		return diag_fail(d, -E2BIG, "more than %d events as weights", LEDGER_MAX_WEIGHTS);
	l = calloc(1, sizeof(*l));
	if (!l)
		return diag_no_memory(d);
	l->nr_cpus = o->nr_cpus;
	/* A map has one entry at least. */
	l->nr_readers = o->nr_readers ? o->nr_readers : 1;
	l->nr_events = o->nr_events ? o->nr_events : 1;
	l->nr_weights = o->nr_weights;
	l->io.cgroup_fd = -1;
	l->flushed = calloc(o->nr_cpus, sizeof(*l->flushed));
	l->online_fd = open(ONLINE, O_RDONLY | O_CLOEXEC);
	l->reader = calloc(l->nr_readers, sizeof(*l->reader));
	for (uint32_t i = 0; l->reader && i < l->nr_readers; i++)
		l->reader[i].cpu = -1;
	if (o->nr_weights) {
		l->weights = calloc(o->nr_cpus, sizeof(*l->weights));
		l->looks = calloc(o->nr_cpus, sizeof(*l->looks));
	}
	if (!l->flushed || !l->reader || (o->nr_weights && (!l->weights || !l->looks))) {
		err = diag_no_memory(d);
		goto fail;
	}
	ledger_listen(o->log);
	err = find_v1(l, o, d);
	if (!err)
		err = load_what_can_be(l, o, d);
	if (!err && o->own_pids)
		err = ledger_lookup_open(l, d);
	if (!err)
		err = open_maps(l, o, d);
	if (!err)
		err = ledger_io_start(l, o, d);
	if (err)
		goto fail;
	ledger_io_attach(l);
	*ret = l;
	return 0;
fail:
	ledger_free(l);
	return err;
}

/* The clock's descriptor is the link's: libbpf closes it. */
static void reader_stop(struct reader *r)
{
	bpf_link__destroy(r->link);
	*r = (struct reader){ .cpu = -1 };
}

/* Clocks first, then the hooks, then the maps that they write to. */
void ledger_free(struct ledger *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; l->reader && i < l->nr_readers; i++)
		reader_stop(&l->reader[i]);
	ledger_io_detach(l);
	if (l->skel)
		t410trace__detach(l->skel);
	ring_buffer__free(l->ring);
	if (l->ring_read)
		munmap((void *)l->ring_read, 2 * sysconf(_SC_PAGESIZE));
	if (l->cpus)
		munmap((void *)l->cpus, l->cpus_size);
	if (l->readers)
		munmap((void *)l->readers, l->readers_size);
	if (l->cpu_weights)
		munmap((void *)l->cpu_weights, l->cpu_weights_size);
	t410trace__destroy(l->skel);
	ledger_lookup_close(l);
	free(l->weights);
	free(l->looks);
	if (l->online_fd >= 0)
		close(l->online_fd);
	free(l->flushed);
	free(l->reader);
	free(l);
}

int ledger_weights(struct ledger *l, uint32_t event, const int *fds_by_cpu, struct diag *d)
{
	if (event >= l->nr_weights)
		return diag_fail(d, -EINVAL, "no room for weight %u", event);
	for (uint32_t cpu = 0; cpu < l->nr_cpus; cpu++) {
		int err = fds_by_cpu[cpu] < 0 ? 0
					      : ledger_weights_put(l, event, cpu, fds_by_cpu[cpu]);

		if (err)
			return diag_fail(d, err,
					 "cannot hand the event of CPU %u to the ledger: %s", cpu,
					 strerror(-err));
	}
	return 0;
}

bool ledger_weights_stand_still(struct ledger *l, uint32_t cpu)
{
	volatile struct cpu_ledger *c = &l->cpus[cpu];
	volatile struct cpu_weights *w;
	struct weights_look *look;
	bool still = false;

	if (!l->cpu_weights)
		return false;
	w = &l->cpu_weights[cpu];
	look = &l->looks[cpu];
	/* A switch reads the events before it is counted: of two, one read them after the look. */
	if (c->switches - look->switches < 2)
		return false;
	for (uint32_t e = 0; e < l->nr_weights; e++) {
		uint64_t enabled = w->last[e].enabled_ns;

		still |= enabled == look->enabled_ns[e];
		look->enabled_ns[e] = enabled;
	}
	look->switches = c->switches;
	return still;
}

int ledger_weights_drop(struct ledger *l, uint32_t cpu)
{
	int events = bpf_map__fd(l->skel->maps.weight_events);

	for (uint32_t e = 0; e < l->nr_weights; e++) {
		uint32_t key = cpu * LEDGER_MAX_WEIGHTS + e;

		if (bpf_map_delete_elem(events, &key) && errno != ENOENT)
			return -errno;
	}
	/* The flush finds no event: its next reading starts from scratch. */
	return ledger_run_on(l->skel->progs.ledger_flush, cpu, NULL);
}

int ledger_weights_put(struct ledger *l, uint32_t event, uint32_t cpu, int fd)
{
	uint32_t key = cpu * LEDGER_MAX_WEIGHTS + event;

	return bpf_map_update_elem(bpf_map__fd(l->skel->maps.weight_events), &key, &fd, BPF_ANY)
		       ? -errno
		       : 0;
}

int ledger_attach(struct ledger *l, struct diag *d)
{
	int err;

	ledger_load_begins();
	err = t410trace__attach(l->skel);
	return err ? ledger_load_problem(err, "cannot hook the scheduler", compiler(l), d) : 0;
}

static int open_clock(int cpu, uint64_t period_ns)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr),
		.sample_period = period_ns,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static void stop_clock(struct ledger *l, uint32_t reader)
{
	int cpu = l->reader[reader].cpu;

	reader_stop(&l->reader[reader]);
	l->readers[reader].nr = 0;
	if (cpu >= 0)
		l->cpus[cpu].reader = LEDGER_NO_READER;
}

int ledger_reader_start(struct ledger *l, uint32_t reader, const struct ledger_reading_plan *p,
			struct diag *d)
{
	int events = bpf_map__fd(l->skel->maps.events), clock_fd;
	volatile struct ledger_reader *rd;
	struct bpf_link *link;

	if (reader >= l->nr_readers || p->nr > LEDGER_MAX_EVENTS ||
	    p->first + p->nr > l->nr_events || p->cpu < 0 || (uint32_t)p->cpu >= l->nr_cpus)
		return diag_fail(d, -E2BIG, "no room for a reader of %u events on CPU %d", p->nr,
				 p->cpu);
	rd = &l->readers[reader];
	stop_clock(l, reader);
	rd->busy = 0; /* a reader whose CPU went offline may have been in the middle of a reading */
	for (uint32_t i = 0; i < p->nr; i++) {
		uint32_t key = p->first + i;

		if (bpf_map_update_elem(events, &key, &p->fds[i], BPF_ANY))
			return diag_fail(d, -errno,
					 "cannot hand an event to the window program: %s",
					 strerror(errno));
	}
	rd->first = p->first;
	rd->nr = p->nr;
	l->cpus[p->cpu].reader = reader;
	clock_fd = open_clock(p->cpu, p->period_ns);
	if (clock_fd < 0)
		return diag_fail(d, clock_fd, "cannot open a clock event on CPU %d: %s", p->cpu,
				 strerror(-clock_fd));
	link = bpf_program__attach_perf_event(l->skel->progs.window_tick, clock_fd);
	if (!link) {
		int err = diag_fail(d, -errno, "cannot run the window program on CPU %d: %s",
				    p->cpu, strerror(errno));

		close(clock_fd);
		return err;
	}
	l->reader[reader] = (struct reader){ .cpu = p->cpu, .link = link };
	return 0;
}

void ledger_reader_stop(struct ledger *l, uint32_t reader)
{
	int events = bpf_map__fd(l->skel->maps.events);
	uint32_t first, nr;

	if (reader >= l->nr_readers)
		return;
	first = l->readers[reader].first;
	nr = l->readers[reader].nr;
	stop_clock(l, reader);
	for (uint32_t key = first; key < first + nr; key++)
		bpf_map_delete_elem(events, &key); /* fails only if there was none */
}

int ledger_window_now(struct ledger *l, uint32_t reader)
{
	if (reader >= l->nr_readers || l->reader[reader].cpu < 0)
		return -ENXIO;
	return ledger_run_on(l->skel->progs.window_now, l->reader[reader].cpu, NULL);
}

bool ledger_cpu_runs(const struct ledger *l, uint32_t cpu)
{
	return cpu < l->nr_cpus && l->cpus[cpu].since_ns;
}

/* The CPU reads it at each switch, and finds the old one or the new one. */
void ledger_cpu_socket(struct ledger *l, uint32_t cpu, uint32_t socket)
{
	if (cpu < l->nr_cpus)
		l->cpus[cpu].socket = socket;
}

const struct cpulist *ledger_online(const struct ledger *l)
{
	return &l->online;
}

void ledger_mark(struct ledger *l, uint32_t socket, uint64_t now)
{
	if (socket < l->nr_readers)
		l->readers[socket].boundary_ns = now;
}

int ledger_drain(struct ledger *l, const struct ledger_sink *sink)
{
	int n;

	l->until_ns = monotonic_ns();
	l->sink = sink;
	n = ring_buffer__consume(l->ring);
	l->sink = NULL;
	return n < 0 && n != -EAGAIN ? n : 0;
}

int ledger_fd(const struct ledger *l)
{
	return ring_buffer__epoll_fd(l->ring);
}

static uint64_t all_misses(const struct bpf_program *const *progs, size_t nr)
{
	uint64_t all = 0;

	for (size_t i = 0; i < nr; i++)
		all += ledger_misses(progs[i]);
	return all;
}

void ledger_losses(const struct ledger *l, struct ledger_losses *ret)
{
	const struct bpf_program *const tasks[] = { l->skel->progs.task_fork,
						    l->skel->progs.task_exec,
						    l->skel->progs.task_rename,
						    l->skel->progs.task_exit };
	const struct bpf_program *const cgroups[] = { l->skel->progs.cgroup_made,
						      l->skel->progs.cgroup_renamed,
						      l->skel->progs.cgroup_removed };

	*ret = (struct ledger_losses){
		.tasks = l->skel->bss->lost_tasks + all_misses(tasks, ARRAY_SIZE(tasks)),
		.cgroups = l->skel->bss->lost_cgroups + all_misses(cgroups, ARRAY_SIZE(cgroups)),
		.io = ledger_io_losses(l),
		.kept_flushes = l->held,
		.bad = l->bad,
	};
	for (uint32_t c = 0; c < l->nr_cpus; c++) {
		ret->kept_flushes += l->cpus[c].flush_failed;
		ret->unseen += l->cpus[c].unseen;
		if (!l->cpu_weights)
			continue;
		ret->weights += l->cpu_weights[c].lost;
		for (int e = 0; e < LEDGER_MAX_WEIGHTS; e++)
			ret->unowned[e] += l->cpu_weights[c].unowned[e];
	}
	for (uint32_t i = 0; i < l->nr_readers; i++)
		ret->windows += l->readers[i].lost;
}

void ledger_cost(const struct ledger *l, struct ledger_cost *ret)
{
	*ret = (struct ledger_cost){ 0 };
	for (uint32_t c = 0; c < l->nr_cpus; c++) {
		ret->switches += l->cpus[c].switches;
		ret->timed += l->cpus[c].timed;
		ret->timed_ns += l->cpus[c].timed_ns;
	}
}
