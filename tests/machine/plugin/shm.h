/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The traffic model, in memory shared by the plugin (which shows it through
 * counters) and t410ctl (which describes it).
 *
 * A *flow* is traffic between two places. For each event it causes it has a
 * running total, which is a function of time and of the flow's slot:
 *
 *	total = base + rate * (now - since) + share of the slot's bytes
 *
 * Totals never go back, whatever is changed while the machine runs: t410ctl
 * folds what was counted so far into `base` before it touches a rate. Register
 * models can therefore form differences of totals without looking at how the
 * traffic came to be.
 *
 * One describer at a time (t410ctl locks the file) and any number of readers:
 * `seq` is odd while descriptions change, a reader that met an odd or moved
 * `seq` starts again. Slot totals are outside of this: only the plugin adds to
 * them.
 *
 * Behind the slots of programs each disk has two, whose totals are those of QEMU's
 * own block accounting.
 */
#ifndef T410_SHM_H
#define T410_SHM_H

#include <stdbool.h>
#include <stdint.h>

#define SHM_MAGIC		    0x76543433u
#define SHM_MAX_FLOWS		    512
#define SHM_MAX_EVENTS		    20 /* per flow; a Grace fabric write-back needs 6 */
#define SHM_MAX_SLOTS		    64 /* of programs */
#define SHM_MAX_DISKS		    4
#define SHM_ALL_SLOTS		    (SHM_MAX_SLOTS + 2 * SHM_MAX_DISKS)
/* Bytes that the cache model of a socket reads from memory, or writes to it */
#define CACHE_SLOT(socket, written) (SHM_MAX_SLOTS - 4 + 2 * (socket) + (written))
#define SHM_NAME_LEN		    32
#define NO_SLOT			    (-1)
#define NS_PER_S		    1000000000u
#define DEFAULT_CLOCK_HZ	    2000000000ull

/* The kinds of units, of all shapes. A unit sees only flows of its kind. */
enum kind {
	KIND_NONE,
	/* T410 */
	KIND_UCF,
	KIND_PCIE,
	KIND_TGT,
	KIND_CMEM,
	KIND_NVLINK,
	KIND_NVCLINK,
	KIND_NVDLINK,
	/* Grace */
	KIND_SCF,
	KIND_GPCIE,
	KIND_C2C0,
	KIND_C2C1,
	KIND_CNVLINK,
	/* Other makers' memory controllers */
	KIND_MCU,
	KIND_DDRC,
	/* Arm's mesh: home nodes, nodes of devices, bridges to memory */
	KIND_HNF,
	KIND_RND,
	KIND_SBSX,
	/* Root ports of DesignWare */
	KIND_ROOTPORT,
	/* Tiles of an ESP */
	KIND_ESP,
	NR_KINDS
};

/* What an event counts of the bytes that come through a slot */
enum unit {
	UNIT_NONE, /* nothing: the event has a constant rate only */
	UNIT_BYTES,
	UNIT_REQUESTS,	  /* of request_bytes each */
	UNIT_OUTSTANDING, /* requests, each weighted with the latency */
	UNIT_BEATS,	  /* 32 bytes on the bus */
	UNIT_LINES,	  /* 64-byte cache lines */
};

/* Bytes that were read from a disk, and those that were written to it */
#define DISK_READ(disk)	   (SHM_MAX_SLOTS + 2 * (disk))
#define DISK_WRITTEN(disk) (DISK_READ(disk) + 1)

/* Events of the UCF between its cache and memory: mem_access_* and mem_bytes_* */
#define UCF_MEM_FIRST	   0x121
#define UCF_MEM_LAST	   0x124

#define BEAT_BYTES	   32
#define LINE_BYTES	   64

/* A quantity that grows at a constant rate */
struct ramp {
	uint64_t base;	   /* at `since_ns` */
	uint64_t rate;	   /* per second */
	uint64_t since_ns; /* host CLOCK_MONOTONIC */
};

struct flow_event {
	uint32_t id;   /* event number of the unit */
	uint32_t unit; /* enum unit */
	struct ramp ramp;
};

struct flow {
	uint32_t kind; /* enum kind */
	uint32_t socket;
	uint32_t rc;   /* root complex (PCIe, PCIe target) */
	uint32_t port; /* root port, GPU, link port or remote socket */
	uint32_t bdf;
	uint32_t src, dst; /* bit numbers of the unit's filter */
	uint32_t request_bytes;
	uint32_t latency_cycles;
	int32_t slot; /* or NO_SLOT */
	uint32_t nr_events;
	uint32_t slc_hit;    /* percent of the bytes that the system-level cache serves or takes */
	uint64_t address;    /* PCIe target */
	uint64_t slot_start; /* slot's total at binding: older bytes do not count */
	struct flow_event event[SHM_MAX_EVENTS];
	char name[SHM_NAME_LEN];
};

struct slot {
	uint64_t bytes, writes;
	uint32_t bound, pad;
	char name[SHM_NAME_LEN];
};

struct shm {
	uint32_t magic, seq;
	uint32_t nr_flows, nr_disks;
	struct ramp clock[NR_KINDS];
	struct slot slot[SHM_ALL_SLOTS]; /* a disk's have its name */
	struct flow flow[SHM_MAX_FLOWS];
};

/* 128 bits inside, because rate times nanoseconds leaves 64 after some seconds */
static inline uint64_t ramp_at(const struct ramp *r, uint64_t now_ns)
{
	if (now_ns <= r->since_ns)
		return r->base;
	return r->base + (uint64_t)((unsigned __int128)r->rate * (now_ns - r->since_ns) / NS_PER_S);
}

/*
 * What a slot's bytes amount to. Always from the running total: the rests of
 * single writes add up to whole requests instead of being lost one by one.
 */
static inline uint64_t unit_count(const struct flow *f, uint32_t unit, uint64_t bytes)
{
	switch (unit) {
	case UNIT_BYTES:
		return bytes;
	case UNIT_REQUESTS:
		return bytes / f->request_bytes;
	case UNIT_OUTSTANDING:
		return bytes / f->request_bytes * f->latency_cycles;
	case UNIT_BEATS:
		return bytes / BEAT_BYTES;
	case UNIT_LINES:
		return bytes / LINE_BYTES;
	}
	return 0;
}

/* Bytes of a flow that an event may count: behind the T410's cache only those that it missed. */
static inline uint64_t bytes_seen(const struct flow *f, uint32_t event, uint64_t bytes)
{
	bool behind = f->kind == KIND_CMEM ||
		      (f->kind == KIND_UCF && event >= UCF_MEM_FIRST && event <= UCF_MEM_LAST);

	return behind ? bytes - bytes / 100 * f->slc_hit - bytes % 100 * f->slc_hit / 100 : bytes;
}

static inline uint64_t flow_event_total(const struct shm *s, const struct flow *f,
					const struct flow_event *e, uint64_t now_ns)
{
	uint64_t total = ramp_at(&e->ramp, now_ns);

	if (f->slot >= 0 && f->slot < SHM_ALL_SLOTS)
		total += unit_count(
			f, e->unit,
			bytes_seen(f, e->id,
				   __atomic_load_n(&s->slot[f->slot].bytes, __ATOMIC_RELAXED) -
					   f->slot_start));
	return total;
}

#endif
