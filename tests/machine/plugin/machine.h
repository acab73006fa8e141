/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The invented part of the virtual machine: what is where, and the interfaces
 * between the plugin's files. acpi/gen.py tells the guest the same numbers.
 *
 * Guest physical addresses, in ranges that QEMU's "virt" board leaves free:
 *
 *	0x0e00_0000	registers of the PMUs, 4 MiB for each socket:
 *	  +0x00_0000	  fabric: UCF (T410) or SCF (Grace)
 *			  AmpereOne: MCU n at n * 0x2000
 *			  Kunpeng: DDRC of channel n at n * 0x1000
 *			  CMN: its nodes, in regions of 0x1_0000
 *	  +0x01_0000	  T410: PCIe of root complex n at n * 0x2000
 *			  Grace: PCIe, C2C0, C2C1, CNVLink, 0x2000 each
 *	  +0x04_0000	  T410: PCIe target of root complex n at n * 0x4000
 *	  +0x10_0000	  T410: CMEM latency
 *	  +0x12_0000	  T410: NVLink-C2C, NV-CLink, NV-DLink, 0x2_0000 each
 *	0x0e80_0000	traffic port (port.h)
 *	0x0e82_0000	monitors of an ESP, 512 bytes for each tile; no table of the machine names them
 *	0x200_0000_0000	configuration space, 256 MiB for each PCI segment
 */
#ifndef T410_MACHINE_H
#define T410_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "shm.h"

#define ARRAY_SIZE(a)	  (sizeof(a) / sizeof((a)[0]))

#define PAGE_SHIFT	  12
#define PAGE_SIZE	  (1u << PAGE_SHIFT)
#define PAGE_MASK	  (PAGE_SIZE - 1)

#define MAX_SOCKETS	  2
#define NR_RCS		  6 /* root complexes of a T410 socket */

#define PMU_BASE	  0x0e000000ull
#define PMU_SOCKET_STRIDE 0x400000u
#define PMU_SIZE	  (MAX_SOCKETS * PMU_SOCKET_STRIDE)
#define PMU_FABRIC	  0x000000u
#define PMU_PCIE	  0x010000u
#define PMU_PCIE_STRIDE	  0x2000u
#define PMU_TGT		  0x040000u
#define PMU_TGT_STRIDE	  0x4000u
#define PMU_CMEM	  0x100000u
#define PMU_LINK	  0x120000u
#define PMU_LINK_STRIDE	  0x20000u
#define NR_LINKS	  3
#define PMU_DRAM	  0x000000u
#define MCU_STRIDE	  0x2000u
#define NR_MCUS		  8 /* of a socket */
#define DDRC_STRIDE	  0x1000u
#define NR_DDRCS	  8 /* of a socket */

#define ESP_BASE	  0x0e820000ull
#define ESP_TILES	  8
#define ESP_TILE_SIZE	  0x200u
#define ESP_STUCK	  15 /* a tile that cannot be released; nothing is between it and the others */
#define ESP_SIZE	  ((ESP_STUCK + 1) * ESP_TILE_SIZE)

#define ECAM_BASE	  0x20000000000ull
#define ECAM_SEGMENTS	  32 /* Grace: 16 per socket */
#define ECAM_SIZE	  ((uint64_t)ECAM_SEGMENTS << 28)

/*
 * Overflow interrupts are shared peripheral interrupts of the board's GIC from
 * here on, one per unit that has one, in the order in which the units are set up.
 * The board itself uses numbers below 176.
 */
#define FIRST_SPI	  192

enum shape { SHAPE_T410, SHAPE_GRACE, SHAPE_AMPEREONE, SHAPE_KUNPENG, SHAPE_CMN };

/* Who is at the other end of NVLink-C2C: must be what acpi/gen.py was told */
enum peer {
	PEER_GPU,  /* two of them */
	PEER_GPU0, /* only one of the two */
	PEER_GPU1,
	PEER_CPU,
	PEER_NONE,
	NR_PEERS
};

struct machine {
	enum shape shape;
	enum peer peer;
	unsigned int sockets;
	unsigned int counter_bits; /* of CoreSight counters: PMCFGR.SIZE + 1; Kunpeng, CMN: 32 */
	unsigned int turn_us;	   /* of the emulated CPUs with -icount; 0 without it */
};
extern struct machine machine;

/* shm.c: shared memory */
extern struct shm *shm;

/**
 * shm_map() - open or make the shared memory
 * @path: file, created if missing
 *
 * Return: 0, or a negative errno.
 */
int shm_map(const char *path);

/* clock.c (or a unit test) */

/** now_ns() - time on which all rates are based */
uint64_t now_ns(void);

/** clock_init() - the board is ready, its clock is about to start */
void clock_init(void);

/* flows.c: the traffic as the units see it */

/** clock_total() - cycles of the clock of a kind of unit, in hertz times time */
uint64_t clock_total(enum kind kind, uint64_t now);

/** flow_filter() - tells whether a unit lets a flow through to counter @index */
typedef bool flow_filter(const void *unit, unsigned int index, const struct flow *f);

/**
 * flows_total() - running total of an event over all flows that pass a filter
 * @pass: the unit's filter, called with @unit and @index
 * @event: event number
 * @now: a time from now_ns()
 */
uint64_t flows_total(flow_filter *pass, const void *unit, unsigned int index, uint32_t event,
		     uint64_t now);

/**
 * even_share() - what the @nth of @parts equal units counts of a total
 *
 * The first ones take the rest. The sum over all parts is the total, and no part goes back while
 * the total grows.
 */
uint64_t even_share(uint64_t total, unsigned int nth, unsigned int parts);

/* port.c */
uint64_t port_read(uint64_t offset);
void port_write(uint64_t offset, uint64_t value);

/* watch.c: loads and stores of the guest, through the cache model; only with cache= */

/** watch_option() - sizes "L2:LLC" in KiB; 0 or -EINVAL */
int watch_option(const char *sizes);

/**
 * watch_init() - the board is ready; nothing without sizes
 * @id: the plugin's
 * @truth: file for what each process moved
 *
 * Return: 0, or a negative errno.
 */
int watch_init(uint64_t id, const char *truth);

/** watch_read(), watch_write() - registers of the traffic port; false if it is none of ours */
bool watch_read(uint64_t offset, uint64_t *ret_value);
bool watch_write(uint64_t offset, uint64_t value);

/* disk.c: what QEMU's own disks moved, as bytes of their slots */

/** disks_init() - find the disks of the traffic model; ends the process if one is missing */
void disks_init(void);

/** disks_poll() - bring their totals up to date; before anything that depends on them */
void disks_poll(void);

/* units.c: all CoreSight units of the machine; offsets count from PMU_BASE */
void units_init(void);
bool units_read(uint64_t offset, unsigned int size, uint64_t *ret_value);
bool units_write(uint64_t offset, unsigned int size, uint64_t value);

/** units_poll() - bring overflow flags and interrupt lines up to date */
void units_poll(void);

/* ddrc.c: the memory controllers of Kunpeng; offsets count from a socket's first one */
void ddrc_init(void);
uint64_t ddrc_read(unsigned int socket, unsigned int offset);
void ddrc_write(unsigned int socket, unsigned int offset, uint64_t value);
void ddrc_poll(void);

/* cmn.c: the mesh of a socket; offsets count from its configuration */
void cmn_init(void);
uint64_t cmn_read(unsigned int socket, unsigned int offset, unsigned int size);
void cmn_write(unsigned int socket, unsigned int offset, unsigned int size, uint64_t value);
void cmn_poll(void);

/* esp.c: monitors of an ESP; offsets count from ESP_BASE */
uint32_t esp_read(uint64_t offset);
void esp_write(uint64_t offset, uint32_t value);

/* cmem.c, link.c: offsets are inside the unit's block */
uint64_t cmem_read(unsigned int socket, unsigned int offset);
void cmem_write(unsigned int socket, unsigned int offset, uint64_t value);
void link_init(void);
uint64_t link_read(unsigned int socket, unsigned int which, unsigned int offset);
void link_write(unsigned int socket, unsigned int which, unsigned int offset, uint64_t value);

/* pci.c: PCI functions and their configuration space */

/**
 * pci_load() - read the list of functions that acpi/gen.py wrote
 *
 * Return: 0, or a negative errno; a bad line is reported on stderr.
 */
int pci_load(const char *path);
uint64_t pci_config_read(uint64_t offset, unsigned int size);
void pci_config_write(uint64_t offset, uint64_t value, unsigned int size);

/* tables.c: end the process on error, a machine without its tables is no use */
void tables_inject(const char *path);
void tables_dump(const char *dir);

/* irq.c (or a unit test): the overflow interrupt of unit @line */
void irq_set(unsigned int line, bool level);
void irq_init(void);

#endif
