/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The traffic port: how a guest program tells the machine that bytes moved.
 *
 * The loads and stores of an emulated CPU cost nothing that could be counted, so
 * traffic is declared instead. The port has slots; the host's scenario binds
 * flows to them. Storing B to a slot's ADD register makes every flow bound to
 * the slot B bytes longer, and each counter that sees such a flow has grown
 * before the store retires. That is what makes a test exact: a program that
 * stores and then reads a counter must find its own bytes in it.
 *
 * Registers are 64 bits wide and take 64-bit accesses only. This header is for
 * both sides, the plugin and guest programs.
 */
#ifndef T410_PORT_H
#define T410_PORT_H

#define PORT_BASE	    0x0e800000ull /* guest physical, for mmap of /dev/mem */
#define PORT_SIZE	    0x10000u

/* For the whole port */
#define PORT_MAGIC	    0x0000 /* PORT_MAGIC_VALUE: there is a port */
#define PORT_NR_SLOTS	    0x0008 /* for programs; behind them two for each disk (shm.h) */
#define PORT_MAGIC_VALUE    0x54524f5030313454ull /* "T410PORT" in memory order */

/* For slot n, at PORT_SLOTS + n * PORT_SLOT_STRIDE */
#define PORT_SLOTS	    0x1000
#define PORT_SLOT_STRIDE    0x40
#define PORT_SLOT_ADD	    0x00 /* write: bytes moved; reads as 0 */
#define PORT_SLOT_TOTAL	    0x08 /* bytes since power-on, of all writers */
#define PORT_SLOT_WRITES    0x10 /* stores to ADD since power-on */
#define PORT_SLOT_BOUND	    0x18 /* 1: some flow listens to this slot */

/*
 * The cache model (cache.h), for the module t410_cache. It counts from the first store to
 * PORT_CACHE_ON; a store to PORT_CACHE_SAVE writes the truth file.
 */
#define PORT_CACHE_ON	    0x0010
#define PORT_CACHE_SAVE	    0x0018
/* For CPU n, at PORT_CPUS + n * PORT_CPU_STRIDE */
#define PORT_CPUS	    0x8000
#define PORT_CPU_STRIDE	    0x40
#define PORT_CPU_CGROUP	    0x00 /* write: cgroup id, then ... */
#define PORT_CPU_PID	    0x08 /* write: process for which the CPU works from now on */
#define PORT_CPU_REFILLS    0x10 /* lines that it read from memory */
#define PORT_CPU_WRITEBACKS 0x18 /* lines that left its L2 dirty */

#endif
