// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "platform/bpf/ledger_internal.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71 /* Linux 5.14 */
#endif

/* A flush that interrupts a program is repeated; the program needs less than a microsecond. */
#define FLUSH_ATTEMPTS 5

/* A slot covers at most this much time and a tick. */
#define SLOT_AGE_NS    5000000

/**
 * struct io_program - a program, and when to load it
 * @parts: IO_*, any of them
 * @tracepoint: what it hooks, NULL for other things
 * @without: only on kernels that lack this tracepoint
 */
struct io_program {
	struct bpf_program *prog;
	uint32_t parts;
	const char *tracepoint;
	const char *without;
};

static int programs(const struct ledger *l, struct io_program ret[IO_MAX_PROGRAMS])
{
	const uint32_t net = IO_SENT | IO_RECEIVED;
	const struct io_program all[] = {
		{ l->skel->progs.io_start, IO_BLOCK, "block_io_start", NULL },
		{ l->skel->progs.io_insert, IO_BLOCK, "block_rq_insert", "block_io_start" },
		{ l->skel->progs.io_issue, IO_BLOCK, "block_rq_issue", "block_io_start" },
		{ l->skel->progs.io_merged, IO_BLOCK, "block_rq_merge", "block_io_start" },
		{ l->skel->progs.io_complete, IO_BLOCK, "block_rq_complete", NULL },
		{ l->skel->progs.io_sent, IO_SENT, "net_dev_start_xmit", NULL },
		{ l->skel->progs.io_not_sent, IO_SENT, "net_dev_xmit", NULL },
		{ l->skel->progs.io_received, IO_RECEIVED, NULL, NULL },
		{ l->skel->progs.io_socket_made, IO_RECEIVED, NULL, NULL },
		{ l->skel->progs.io_socket_send, net, "sock_send_length", NULL },
		{ l->skel->progs.io_socket_receive, net, "sock_recv_length", NULL },
		{ l->skel->progs.io_socket_state, net, "inet_sock_set_state", NULL },
		{ l->skel->progs.io_flush, IO_PARTS, NULL, NULL },
	};

	_Static_assert(sizeof(all) / sizeof(all[0]) <= IO_MAX_PROGRAMS, "room for all");
	memcpy(ret, all, sizeof(all));
	return sizeof(all) / sizeof(all[0]);
}

static __attribute__((format(printf, 2, 3))) void note(struct ledger *l, const char *fmt, ...)
{
	size_t used = strlen(l->io.note);
	va_list ap;

	if (used)
		used += snprintf(l->io.note + used, sizeof(l->io.note) - used, "; ");
	if (used >= sizeof(l->io.note))
		return;
	va_start(ap, fmt);
	vsnprintf(l->io.note + used, sizeof(l->io.note) - used, fmt, ap);
	va_end(ap);
}

void ledger_io_missing(struct ledger *l, uint32_t part, const char *why)
{
	/* so that all parts fit into the note */
	note(l, "%s: %.130s",
	     part == IO_BLOCK  ? "disk I/O cannot be attributed to processes"
	     : part == IO_SENT ? "sent packets cannot be attributed to processes"
			       : "received packets cannot be attributed to processes",
	     why);
}

/* Which network namespace is ours; 0 when the kernel does not tell. */
static uint64_t netns_cookie(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint64_t cookie = 0;
	socklen_t size = sizeof(cookie);

	if (fd < 0)
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size))
		cookie = 0;
	if (fd >= 0)
		close(fd);
	return cookie;
}

/*
 * Can a received packet be asked for its network namespace (Linux 6.15)? libbpf's own test looks
 * for words of the verifier that changed in 6.10: libbpf 1.1 takes the new ones for a yes.
 */
static bool packets_have_cookies(void)
{
	static const struct bpf_insn program[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_netns_cookie },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_CGROUP_SKB, "t410_cookie", "GPL", program,
			       ARRAY_SIZE(program), NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Step of the kernel's coarse clock; 10 ms is the longest of any kernel. */
uint64_t ledger_tick_ns(void)
{
	struct timespec step;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &step) || step.tv_sec)
		return 10000000;
	return step.tv_nsec;
}

uint32_t ledger_io_wanted(struct ledger *l, const struct ledger_options *o)
{
	uint32_t wanted = o->io ? IO_PARTS : 0;

	if (wanted && !netns_cookie()) {
		note(l, "senders and receivers of packets are not known: the kernel does not tell "
			"network namespaces apart (Linux 5.14 does)");
		wanted &= IO_BLOCK;
	}
	if (wanted & IO_RECEIVED && (!o->cgroup_mount || !o->cgroup_mount[0])) {
		ledger_io_missing(l, IO_RECEIVED, "the root of the cgroup v2 tree is not mounted");
		wanted &= ~(uint32_t)IO_RECEIVED;
	}
	return wanted;
}

void ledger_io_configure(struct ledger *l, const struct ledger_options *o, uint32_t parts)
{
	struct btf *btf = parts ? btf__load_vmlinux_btf() : NULL;
	struct io_program list[IO_MAX_PROGRAMS];
	int nr = programs(l, list);

	for (int i = 0; i < nr; i++) {
		bool load = list[i].parts & parts;

		/* Without this tracepoint the rest is still useful: the note tells user space. */
		if (list[i].prog == l->skel->progs.io_socket_send ||
		    list[i].prog == l->skel->progs.io_socket_receive)
			load &= ledger_has_tracepoint(btf, list[i].tracepoint);
		if (list[i].prog == l->skel->progs.io_start)
			load &= ledger_has_tracepoint(btf, list[i].tracepoint);
		if (list[i].without)
			load &= !ledger_has_tracepoint(btf, list[i].without);
		bpf_program__set_autoload(list[i].prog, load);
		bpf_program__set_autoattach(list[i].prog, false);
	}
	l->skel->rodata->io_zone_append = ledger_zone_append(btf);
	btf__free(btf);
	bpf_map__set_autocreate(l->skel->maps.io_tables, parts);
	bpf_map__set_autocreate(l->skel->maps.io_requests, parts & IO_BLOCK);
	bpf_map__set_autocreate(l->skel->maps.io_submitters, parts & IO_BLOCK);
	bpf_map__set_autocreate(l->skel->maps.io_disks, parts & IO_BLOCK);
	bpf_map__set_autocreate(l->skel->maps.io_sockets, parts & (IO_SENT | IO_RECEIVED));
	if (!parts)
		return;
	bpf_map__set_max_entries(l->skel->maps.io_tables, o->nr_cpus * LEDGER_IO_TABLES);
	bpf_map__set_max_entries(l->skel->maps.io_submitters, o->nr_cpus);
	l->skel->rodata->io_netns = netns_cookie();
	l->skel->rodata->io_age_ticks = (SLOT_AGE_NS + ledger_tick_ns() - 1) / ledger_tick_ns();
	l->skel->rodata->io_has_cookie = packets_have_cookies();
}

int ledger_io_start(struct ledger *l, const struct ledger_options *o, struct diag *d)
{
	void *memory;
	int err;

	if (!l->io.parts)
		return 0;
	l->io.taken_ns = monotonic_ns();
	err = ledger_map_memory(l->skel->maps.io_tables, o->nr_cpus * LEDGER_IO_TABLES,
				sizeof(struct ledger_io_table), &memory, &l->io.tables_size);
	if (err)
		return diag_fail(d, err, "cannot map the tables of requests: %s", strerror(-err));
	l->io.tables = memory;
	if (!(l->io.parts & IO_RECEIVED))
		return 0;
	l->io.cgroup_fd = open(o->cgroup_mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (l->io.cgroup_fd < 0) {
		ledger_io_missing(l, IO_RECEIVED, strerror(errno));
		l->io.parts &= ~(uint32_t)IO_RECEIVED;
	}
	return 0;
}

static struct bpf_link *attach(struct ledger *l, const struct io_program *p)
{
	if (p->prog == l->skel->progs.io_received || p->prog == l->skel->progs.io_socket_made)
		return bpf_program__attach_cgroup(p->prog, l->io.cgroup_fd);
	return bpf_program__attach(p->prog);
}

void ledger_io_attach(struct ledger *l)
{
	struct io_program list[IO_MAX_PROGRAMS];
	uint32_t failed = 0;
	bool users = true, made = false;
	int why = 0;

	for (int i = 0, nr = l->io.parts ? programs(l, list) : 0; i < nr; i++) {
		uint32_t part = list[i].parts & l->io.parts;

		if (list[i].prog == l->skel->progs.io_flush)
			continue;
		if (!bpf_program__autoload(list[i].prog)) {
			users &= list[i].prog != l->skel->progs.io_socket_send;
			continue;
		}
		if (!part || failed & part)
			continue;
		l->io.links[i] = attach(l, &list[i]);
		if (list[i].prog == l->skel->progs.io_socket_made)
			made = l->io.links[i];
		if (l->io.links[i])
			continue;
		/* Another program may own this attach point: its first use shows the same. */
		if (list[i].prog == l->skel->progs.io_socket_made) {
			why = errno;
			continue;
		}
		if (part & (part - 1)) {
			users = false;
			continue;
		}
		failed |= part;
		ledger_io_missing(l, part, strerror(errno));
	}
	l->io.parts &= ~failed;
	if (!users && l->io.parts & (IO_SENT | IO_RECEIVED))
		note(l,
		     "of packets, %s is known: the kernel does not report users of a socket "
		     "(Linux 6.3 does)",
		     made ? "only the maker of the socket" : "often only the cgroup");
	else if (why && l->io.parts & (IO_SENT | IO_RECEIVED))
		note(l,
		     "of packets before the first use of a socket only the cgroup is known: no "
		     "program of ours can be at cgroup/sock_create (%s), perhaps because another "
		     "one has it for itself",
		     strerror(why));
}

void ledger_io_detach(struct ledger *l)
{
	for (int i = 0; i < IO_MAX_PROGRAMS; i++) {
		bpf_link__destroy(l->io.links[i]);
		l->io.links[i] = NULL;
	}
	if (l->io.tables)
		munmap((void *)l->io.tables, l->io.tables_size);
	if (l->io.cgroup_fd >= 0)
		close(l->io.cgroup_fd);
	l->io.tables = NULL;
	l->io.cgroup_fd = -1;
}

int ledger_io_disk(struct ledger *l, const char *name, uint32_t device)
{
	char key[LEDGER_DISK_LEN] = "";
	int map, err = 0;

	if (strlen(name) >= sizeof(key))
		return -ENAMETOOLONG;
	if (device >= LEDGER_MAX_DEVICES && device != LEDGER_NO_DEVICE)
		return -EINVAL;
	if (!(l->io.parts & IO_BLOCK))
		return -EOPNOTSUPP;
	strcpy(key, name);
	map = bpf_map__fd(l->skel->maps.io_disks);
	if (device == LEDGER_NO_DEVICE) {
		if (bpf_map_delete_elem(map, key) && errno != ENOENT)
			err = -errno;
	} else if (bpf_map_update_elem(map, key, &device, BPF_ANY)) {
		err = -errno;
	}
	/* In this order: see block.bpf.c. */
	__atomic_fetch_add(&l->skel->bss->io_disk_cache.generation, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < LEDGER_DISK_CACHE; i++)
		__atomic_store_n(&l->skel->bss->io_disk_cache.entries[i], 0, __ATOMIC_SEQ_CST);
	return err;
}

int ledger_io_interface(struct ledger *l, uint32_t ifindex, bool stacked, uint32_t device)
{
	__u64 *set = &l->skel->bss->io_interfaces[ifindex % LEDGER_IF_SETS * LEDGER_IF_WAYS];
	uint32_t nr = 0, mine;

	if (!ifindex || (device >= LEDGER_MAX_DEVICES && device != LEDGER_NO_DEVICE))
		return -EINVAL;
	if (!(l->io.parts & (IO_SENT | IO_RECEIVED)))
		return -EOPNOTSUPP;
	while (nr < LEDGER_IF_WAYS && set[nr])
		nr++;
	for (mine = 0; mine < nr && set[mine] >> 32 != ifindex; mine++)
		;
	if (device != LEDGER_NO_DEVICE) {
		if (mine == LEDGER_IF_WAYS)
			return -ENOSPC;
		__atomic_store_n(&set[mine],
				 (__u64)ifindex << 32 | device | (stacked ? LEDGER_IF_STACKED : 0),
				 __ATOMIC_SEQ_CST);
	} else if (mine < nr) {
		/* Readers stop at the first hole. */
		__atomic_store_n(&set[mine], set[nr - 1], __ATOMIC_SEQ_CST);
		__atomic_store_n(&set[nr - 1], 0, __ATOMIC_SEQ_CST);
	}
	return 0;
}

enum io_noted ledger_io_noted(const struct ledger *l, enum device_kind kind)
{
	bool sent = l->io.parts & IO_SENT, received = l->io.parts & IO_RECEIVED;

	if (kind == DEVICE_NVME || kind == DEVICE_BLOCK)
		return l->io.parts & IO_BLOCK ? IO_BOTH : IO_NONE;
	if (kind != DEVICE_NET)
		return IO_NONE;
	/* Sent packets are read from memory. */
	return sent && received ? IO_BOTH : sent ? IO_READ : received ? IO_WRITE : IO_NONE;
}

const char *ledger_io_note(const struct ledger *l)
{
	return l->io.note;
}

/*
 * The time of a slot's last request or packet is a tick's number: it was before the end of that
 * tick, but not before the slot's first one.
 */
void ledger_io_hand_on(const struct ledger_io *r, const struct ledger_sink *sink)
{
	int64_t tick = ledger_tick_ns();
	struct ledger_io copy;

	if (!sink->io || r->nr > LEDGER_IO_SLOTS)
		return;
	memcpy(&copy, r, offsetof(struct ledger_io, slots) + r->nr * sizeof(r->slots[0]));
	for (uint32_t i = 0; i < copy.nr; i++) {
		struct ledger_io_slot *s = &copy.slots[i];
		int32_t later = (uint32_t)s->last_ns - r->tick;

		s->last_ns = r->h.time_ns + (later ? (later + 1) * tick : 0);
		if (s->last_ns < s->first_ns)
			s->last_ns = s->first_ns;
	}
	sink->io(sink->arg, &copy);
}

/* See adopt_offline() of ledger_flush.c. */
static void adopt(volatile struct ledger_io_table *t, uint32_t cpu, const struct ledger_sink *sink)
{
	struct ledger_io copy;

	t->busy = 0;
	if (!t->nr)
		return;
	memcpy(&copy, (const void *)&t->out, sizeof(copy));
	copy.h = (struct ledger_header){ .type = LEDGER_IO, .cpu = cpu };
	copy.nr = t->nr;
	/* Only the first slot's moment is known both in ticks and as a time. */
	copy.h.time_ns = copy.slots[0].first_ns;
	copy.tick = t->since_tick;
	t->nr = 0;
	t->undo = 0;
	ledger_io_hand_on(&copy, sink);
}

bool ledger_io_waits(const struct ledger *l, uint32_t cpu)
{
	bool waits = false;

	for (uint32_t i = 0; l->io.parts && i < LEDGER_IO_TABLES; i++)
		waits |= l->io.tables[cpu * LEDGER_IO_TABLES + i].nr != 0;
	return waits;
}

int ledger_io_flush(struct ledger *l, uint32_t cpu, const struct ledger_sink *sink)
{
	uint32_t again = 1;
	int err = 0;

	if (!l->io.parts)
		return 0;
	for (int i = 0; !err && again && i < FLUSH_ATTEMPTS; i++)
		err = ledger_run_on(l->skel->progs.io_flush, cpu, &again);
	if (err == -ENXIO)
		for (uint32_t i = 0; i < LEDGER_IO_TABLES; i++)
			adopt(&l->io.tables[cpu * LEDGER_IO_TABLES + i], cpu, sink);
	return err;
}

void ledger_io_take_lost(struct ledger *l, const struct ledger_sink *sink)
{
	struct ledger_io r = { .h = { .type = LEDGER_IO, .time_ns = monotonic_ns() } };

	if (!l->io.parts || !sink->io)
		return;
	for (uint32_t i = 0; i < LEDGER_MAX_DEVICES; i++) {
		struct ledger_io_lost *lost = &l->skel->bss->io_lost[i];
		struct ledger_io_slot *s = &r.slots[r.nr];

		/* When read while being updated, bytes can be there without their request. */
		if (!(__atomic_load_n(&lost->requests, __ATOMIC_RELAXED) |
		      __atomic_load_n(&lost->read_bytes, __ATOMIC_RELAXED) |
		      __atomic_load_n(&lost->write_bytes, __ATOMIC_RELAXED)))
			continue;
		*s = (struct ledger_io_slot){
			.pid = LEDGER_LOST_PID,
			.tgid = LEDGER_LOST_PID,
			.device = i,
			.requests = __atomic_exchange_n(&lost->requests, 0, __ATOMIC_SEQ_CST),
			.read_bytes = __atomic_exchange_n(&lost->read_bytes, 0, __ATOMIC_SEQ_CST),
			.write_bytes = __atomic_exchange_n(&lost->write_bytes, 0, __ATOMIC_SEQ_CST),
			.first_ns = l->io.taken_ns,
			.last_ns = r.h.time_ns,
		};
		if (++r.nr == LEDGER_IO_SLOTS) {
			sink->io(sink->arg, &r);
			r.nr = 0;
		}
	}
	if (r.nr)
		sink->io(sink->arg, &r);
	l->io.taken_ns = r.h.time_ns;
}

uint64_t ledger_io_losses(const struct ledger *l)
{
	if (!l->io.parts)
		return 0;
	return ledger_misses(l->skel->progs.io_complete) + ledger_misses(l->skel->progs.io_sent) +
	       l->skel->bss->io_not_undone;
}
