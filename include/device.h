/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Devices as traces and reports have them: see model.h. */
#ifndef T410TRACE_DEVICE_H
#define T410TRACE_DEVICE_H

#include <stdint.h>

/* Use of a PCI function. */
enum device_kind {
	DEVICE_OTHER,
	DEVICE_NVME,
	DEVICE_BLOCK, /* a disk that is not NVMe */
	DEVICE_NET,
	DEVICE_RDMA,
	DEVICE_GPU,
	DEVICE_VFIO,	    /* given to a user program or a virtual machine */
	DEVICE_PORT,	    /* a root port: everything below it, to check the sum of its devices */
	DEVICE_ACCELERATOR, /* in a tile of a system-on-chip: no PCI function */
	DEVICE_AGENT,	    /* any other agent of a system-on-chip with its own counters */
	DEVICE_LINK,	    /* of a GPU to the CPUs beside PCIe; its function is another device */
	NR_DEVICE_KINDS,
};

/* Work of an accelerator; the event of a counter of UNIT_EVENTS has its name. */
enum work {
	WORK_INVOCATIONS,
	WORK_CYCLES,	    /* from an invocation to its end */
	WORK_MEMORY_CYCLES, /* of these, cycles in which it moved data */
	WORK_TLB_CYCLES,    /* of these, cycles in which it loaded its TLB */
	NR_WORKS,
};

/* Source of a function's place: socket, root complex, root port. */
enum wiring {
	WIRING_UNKNOWN,	 /* unknown */
	WIRING_FIRMWARE, /* capability of the root port (DVSEC) */
	WIRING_USER,	 /* the user's map */
	WIRING_MEDIUM,	 /* rule seen on Grace: domain = 16 * socket + root port */
	WIRING_LOW, /* rule seen on T410: segment = 8 * socket + rc + 1, port of the link capabilities */
	NR_WIRINGS,
};

/* How counters, such as those of the root complex' PMU, select a device. */
enum device_filter {
	DEVICE_NOT_COUNTED,
	DEVICE_BY_PORT, /* mask of root ports: all below the port, which is this device alone */
	DEVICE_BY_ID,	/* requester id: one at a time for each root complex */
	DEVICE_BY_TILE, /* counters of its own tile or agent */
	DEVICE_BY_LINK, /* counters of a link, or terms (enum term) */
	NR_DEVICE_FILTERS,
};

/* Which requests of a device the kernel side of a run notes, by the device's view. */
enum io_noted {
	IO_UNTOLD, /* an older trace, or another tool's: see device_notes_io() */
	IO_NONE,
	IO_READ,
	IO_WRITE,
	IO_BOTH,
	NR_IO_NOTED,
};

/* enum device_link - between a device and its CPUs */
enum device_link { LINK_UNKNOWN, LINK_PCIE, LINK_C2C, NR_DEVICE_LINKS };

#define DEVICE_UUID_LEN 80
#define MODEL_BDF_LEN	24 /* "0002:81:00.0/c2c"; a domain may have more than four digits */
#define MODEL_WHY_LEN	112

/**
 * struct device - a PCI function or accelerator whose traffic is counted or noted
 * @bdf: its PCI address; of an accelerator its number on its system-on-chip, "acc0"; of another
 *	agent "agent0"; of a link its function's with a word, "0009:01:00.0/c2c"
 * @name: its usual name, "nvme0n1" or "eth0,eth1"; "" for nothing better than @bdf
 * @kind: its use
 * @socket: index of the socket; meaningless without @wiring
 * @rc: root complex
 * @rp: root port, the bit in port masks
 * @wiring: source of @socket, @rc and @rp
 * @filter: how its counters select it
 * @port: number (from 1) of the device that is its root port as a whole, 0 = not counted
 * @io: its requests that are noted
 * @link: to its CPUs, as a program tells it (docs/SOURCES.md)
 * @uuid: of its vendor's tools, "" for none
 * @function: of a link: number (from 1) of its PCI function, 0 = not among the devices
 * @why: of a link: why it has no value, "" where it has counters
 */
struct device {
	char bdf[MODEL_BDF_LEN];
	char name[64];
	enum device_kind kind;
	uint32_t socket;
	uint32_t rc;
	uint32_t rp;
	enum wiring wiring;
	enum device_filter filter;
	uint32_t port;
	enum io_noted io;
	enum device_link link;
	char uuid[DEVICE_UUID_LEN];
	uint32_t function;
	char why[MODEL_WHY_LEN];
};

#endif
