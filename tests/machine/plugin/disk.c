/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Disks. QEMU's block layer keeps accounts of what guests read and write, and exports the
 * functions that show them. What an account says becomes the total of a slot, so a disk is
 * one more source of bytes for flows.
 *
 * Register accesses and the completion of requests both happen under QEMU's big lock: who
 * has seen a request complete finds its bytes in the next counter that he reads.
 */
#include <stdio.h>
#include <stdlib.h>

#include "machine.h"
#include "qemu_api.h"

/* For t410ctl, which may look when nobody reads a counter */
#define POLL_NS 5000000

static BlockAcctStats *accounts[SHM_MAX_DISKS];
static QEMUTimer *timer;

static void take_over(struct slot *s, const BlockAcctStats *account, enum block_acct_type type)
{
	__atomic_store_n(&s->bytes, account->nr_bytes[type], __ATOMIC_RELAXED);
	__atomic_store_n(&s->writes, account->nr_ops[type], __ATOMIC_RELAXED);
}

void disks_poll(void)
{
	for (int i = 0; i < SHM_MAX_DISKS && accounts[i]; i++) {
		take_over(&shm->slot[DISK_READ(i)], accounts[i], BLOCK_ACCT_READ);
		take_over(&shm->slot[DISK_WRITTEN(i)], accounts[i], BLOCK_ACCT_WRITE);
	}
}

static void poll_and_go_on(void *opaque)
{
	(void)opaque;
	disks_poll();
	timer_mod_ns(timer, qemu_clock_get_ns(QEMU_CLOCK_REALTIME) + POLL_NS);
}

void disks_init(void)
{
	if (!shm->nr_disks)
		return;
	for (uint32_t i = 0; i < shm->nr_disks && i < SHM_MAX_DISKS; i++) {
		const char *name = shm->slot[DISK_READ(i)].name;
		BlockBackend *disk = blk_by_name(name);

		if (!disk) {
			fprintf(stderr, "t410: the machine has no disk %s\n", name);
			exit(1);
		}
		accounts[i] = blk_get_stats(disk);
	}
	timer = calloc(1, TIMER_ROOM);
	if (!timer)
		abort();
	timer_init_full(timer, NULL, QEMU_CLOCK_REALTIME, SCALE_NS, 0, poll_and_go_on, NULL);
	poll_and_go_on(NULL);
}
