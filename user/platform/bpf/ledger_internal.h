/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the ledger's files only. */
#ifndef PLATFORM_BPF_LEDGER_INTERNAL_H
#define PLATFORM_BPF_LEDGER_INTERNAL_H

#include <bpf/libbpf.h>
#include <stddef.h>

#include "model.h"
#include "platform/bpf/ledger.h"
#include "t410lookup.skel.h"
#include "t410trace.skel.h"

/* Parts of the option "io" that work without each other. */
enum {
	IO_BLOCK = 1 << 0,
	IO_SENT = 1 << 1,
	IO_RECEIVED = 1 << 2,
	IO_PARTS = IO_BLOCK | IO_SENT | IO_RECEIVED,
};
#define IO_MAX_PROGRAMS 13

/**
 * struct io_part - state of the option "io"
 * @parts: IO_* that were loaded
 * @links: of the programs, NULL where none
 * @tables: of the kernel, LEDGER_IO_TABLES for each CPU
 * @taken_ns: when bytes without a slot were last taken
 * @cgroup_fd: root of the cgroup v2 tree, or -1
 */
struct io_part {
	uint32_t parts;
	struct bpf_link *links[IO_MAX_PROGRAMS];
	volatile struct ledger_io_table *tables;
	size_t tables_size;
	uint64_t taken_ns;
	int cgroup_fd;
	char note[MODEL_NOTE_LEN];
};

struct reader {
	int cpu;
	struct bpf_link *link;
};

/* The last reading of a CPU's core events and its switches. */
struct weights_look {
	uint64_t switches;
	uint64_t enabled_ns[LEDGER_MAX_WEIGHTS];
};

/**
 * struct flushed - a CPU at the end of an interval
 * @until_ns: its time up to then has been handed on
 * @need_ns: the time up to which the last flush wants it
 * @boundary_ns: the last end of a window at the last flush
 * @unseen: its hidden switches at the last interrupt
 * @asked: it was interrupted, and its record is on its way
 */
struct flushed {
	uint64_t until_ns;
	uint64_t need_ns;
	uint64_t boundary_ns;
	uint64_t unseen;
	bool asked;
};

/**
 * struct ledger_preempt - type IDs of the functions that turn preemption off and on
 *
 * 0: the kernel has none.
 */
struct ledger_preempt {
	int32_t off;
	int32_t on;
};

struct ledger {
	struct t410trace *skel;
	struct t410lookup *lookup; /* NULL: not requested, or not possible on this kernel */
	struct ring_buffer *ring;
	const unsigned long *ring_read;	    /* positions in the ring; NULL: not mapped */
	const unsigned long *ring_reserved; /* position up to which records are read */
	const struct ledger_sink *sink;	    /* during a drain */
	volatile struct cpu_ledger *cpus;
	size_t cpus_size;
	volatile struct ledger_reader *readers;
	size_t readers_size;
	volatile struct cpu_weights *cpu_weights;
	size_t cpu_weights_size;
	struct ledger_weights *weights; /* by CPU: the last record; NULL without weights */
	struct weights_look *looks;	/* by CPU; NULL without weights */
	uint32_t nr_cpus;
	uint32_t nr_weights;
	uint32_t v1_number; /* 0: no v1 controller */
	uint32_t v1_subsys; /* the kernel's number of it */
	uint32_t nr_readers;
	uint32_t nr_events;
	bool rests; /* CPUs publish that they sleep in a way that both sides can rely on */
	bool tick;
	struct ledger_preempt preempt;
	char tick_missing[200];
	struct reader *reader;
	struct flushed *flushed; /* by CPU */
	struct cpulist online;
	uint64_t online_ns; /* when it was read */
	int online_fd;
	struct ledger_ways ways;
	uint64_t flush_ns;	 /* when the last flush began */
	uint64_t until_ns;	 /* a drain ends at the first record after this */
	unsigned long flush_end; /* end of the ring after the last flush */
	uint64_t held;		 /* flushes held up by an unfinished record */
	uint64_t bad;
	struct io_part io;
};

/**
 * ledger_map_memory() - a map that both sides can see
 *
 * Return: 0 with the mapping, or a negative errno.
 */
int ledger_map_memory(const struct bpf_map *map, uint32_t nr, size_t value_size, void **ret,
		      size_t *ret_size);

/**
 * ledger_run_on() - run a program once on a CPU
 * @ret: what it returned; may be NULL
 *
 * Return: 0 or a negative errno, -ENXIO for a CPU that is offline.
 */
int ledger_run_on(const struct bpf_program *prog, int cpu, uint32_t *ret);

/**
 * ledger_misses() - times that the kernel did not run a program
 *
 * Because it was already running on that CPU: interrupted, or, where hooks can be preempted (Linux
 * 7.2: srcu_fast_notrace in tracepoint.h), in another task. 0 before Linux 5.12.
 */
uint64_t ledger_misses(const struct bpf_program *prog);

/** ledger_kernel_has() - does the kernel's type information have this name with this BTF_KIND_*? */
bool ledger_kernel_has(const char *name, uint32_t kind);

/** ledger_has_tracepoint() - has the kernel of @btf one of this name? NULL: it is not known to */
bool ledger_has_tracepoint(const struct btf *btf, const char *name);

/** ledger_enum_value() - a value of an enum of the kernel; -ENOENT where it has none of that name */
int ledger_enum_value(const struct btf *btf, const char *type, const char *name, uint32_t *ret);

/** ledger_zone_append() - the kernel's number of REQ_OP_ZONE_APPEND, 0 = it has none */
uint32_t ledger_zone_append(const struct btf *btf);

/** ledger_preempt_find() - functions that this kernel lets programs call */
void ledger_preempt_find(const struct btf *btf, struct ledger_preempt *ret);

/**
 * ledger_preempt_use() - have the programs of @obj, which is not loaded yet, call them
 *
 * Return: 0 or a negative errno.
 */
int ledger_preempt_use(const struct bpf_object *obj, const struct ledger_preempt *p);

#define KERNEL_TYPES "/sys/kernel/btf/vmlinux"

/** ledger_listen() - keep libbpf's words for ledger_load_problem(), and hand it to @log, or NULL */
void ledger_listen(void (*log)(const char *text));

/** ledger_load_begins() - forget earlier messages of libbpf */
void ledger_load_begins(void);

/**
 * ledger_load_problem() - say why programs could not be loaded
 * @err: negative errno of the load
 * @what: "cannot load the program"
 * @compiler: of the programs
 * @d: gets the problem
 *
 * Return: -EPERM for missing rights, @err for anything else, such as a program that the verifier
 * rejects.
 */
int ledger_load_problem(int err, const char *what, const char *compiler, struct diag *d);

/** ledger_load_reason() - reason of the last ledger_load_problem() in a few words; one line */
const char *ledger_load_reason(void);

/** ledger_lookup_open() - load ledger_task()'s programs, if possible; 0 or a negative errno */
int ledger_lookup_open(struct ledger *l, struct diag *d);

/** ledger_lookup_close() - unload them, if they were loaded */
void ledger_lookup_close(struct ledger *l);

/** ledger_tick_ns() - from one tick of the scheduler to the next */
uint64_t ledger_tick_ns(void);

/** ledger_came() - note how far a CPU has come, and that it was online, as its slices are handed on */
void ledger_came(struct ledger *l, const struct ledger_slices *r);

/**
 * ledger_io_wanted() - the parts that this machine could have
 * @o: options
 *
 * Adds parts that are missing from the outset to the note of @l.
 */
uint32_t ledger_io_wanted(struct ledger *l, const struct ledger_options *o);

/** ledger_io_configure() - choose @parts for the skeleton of @l, which is not loaded yet */
void ledger_io_configure(struct ledger *l, const struct ledger_options *o, uint32_t parts);

/** ledger_io_missing() - a part is missing; add the reason to the note */
void ledger_io_missing(struct ledger *l, uint32_t part, const char *why);

/** ledger_io_start() - after loading: map the shared tables */
int ledger_io_start(struct ledger *l, const struct ledger_options *o, struct diag *d);

/** ledger_io_attach() - attach the loaded programs; note those that cannot be attached */
void ledger_io_attach(struct ledger *l);

/** ledger_io_detach() - detach them, before the skeleton is destroyed */
void ledger_io_detach(struct ledger *l);

/** ledger_io_flush() - send the tables of @cpu; -ENXIO, but done, when it is offline */
int ledger_io_flush(struct ledger *l, uint32_t cpu, const struct ledger_sink *sink);

/** ledger_io_waits() - is there anything in the tables of @cpu? */
bool ledger_io_waits(const struct ledger *l, uint32_t cpu);

/** ledger_io_hand_on() - a record as the kernel fills it; its size has been checked */
void ledger_io_hand_on(const struct ledger_io *r, const struct ledger_sink *sink);

/** ledger_io_take_lost() - hand bytes that found no slot to the sink */
void ledger_io_take_lost(struct ledger *l, const struct ledger_sink *sink);

/** ledger_io_losses() - requests and packets whose bytes are not known */
uint64_t ledger_io_losses(const struct ledger *l);

#endif
