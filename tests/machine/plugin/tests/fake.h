/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the register models have around them, for programs of their tests; included once by each.
 * Time stands still unless a test moves it, and all traffic is made by hand in a private model.
 */
#ifndef PLUGIN_FAKE_H
#define PLUGIN_FAKE_H

#include <stdbool.h>
#include <string.h>

#include "../machine.h"
#include "../port.h"

struct machine machine;
struct shm *shm;

static struct shm memory;
static uint64_t fake_ns;
static bool lines[64];

/* In place of shm.c, whose clock is real */
uint64_t now_ns(void)
{
	return fake_ns;
}

/* In place of irq.c */
void irq_set(unsigned int line, bool level)
{
	lines[line] = level;
}

/* No traffic, no interrupts, two sockets */
static void fake_start(enum shape shape, unsigned int bits)
{
	memset(&memory, 0, sizeof(memory));
	shm = &memory;
	for (int k = 0; k < NR_KINDS; k++)
		memory.clock[k].rate = DEFAULT_CLOCK_HZ;
	memset(lines, 0, sizeof(lines));
	machine = (struct machine){ .shape = shape, .sockets = 2, .counter_bits = bits };
	fake_ns = 1000;
}

/* A flow whose one event grows with slot @slot, in bytes or requests */
static struct flow *add_flow(enum kind kind, uint32_t event, enum unit unit, int slot)
{
	struct flow *f = &memory.flow[memory.nr_flows++];

	f->kind = kind;
	f->slot = slot;
	f->request_bytes = 32;
	f->latency_cycles = 100;
	f->nr_events = 1;
	f->event[0] = (struct flow_event){ .id = event, .unit = unit };
	memory.slot[slot].bound = 1;
	return f;
}

static void move(int slot, uint64_t bytes)
{
	port_write(PORT_SLOTS + (uint64_t)slot * PORT_SLOT_STRIDE + PORT_SLOT_ADD, bytes);
}

#endif
