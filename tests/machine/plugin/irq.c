/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Overflow interrupts. The board has given its interrupt lines to its own
 * devices, but the interrupt controller has more inputs than the board uses,
 * and QEMU lets anybody drive an input that he can name: find the controller in
 * the object tree, take its inputs, raise them.
 *
 * A counter grows without being touched, so someone has to notice that it
 * overflowed. That is a timer, and the traffic port after each store. The timer's
 * period is far below the time in which a 32-bit counter wraps at the rates of
 * the scenarios; a late interrupt delays the driver and loses nothing, as the
 * driver takes differences modulo the counter's width.
 */
#include <stdio.h>
#include <stdlib.h>

#include "machine.h"
#include "qemu_api.h"

#define MAX_LINES 32
#define POLL_NS	  1000000

static qemu_irq inputs[MAX_LINES];
static bool levels[MAX_LINES];
static QEMUTimer *timer;

void irq_set(unsigned int line, bool level)
{
	if (line >= MAX_LINES || levels[line] == level)
		return;
	levels[line] = level;
	qemu_set_irq(inputs[line], level);
}

static void poll_units(void *opaque)
{
	(void)opaque;
	units_poll();
	timer_mod_ns(timer, qemu_clock_get_ns(QEMU_CLOCK_REALTIME) + POLL_NS);
}

void irq_init(void)
{
	/* as the board has with gic-version=3 */
	Object *gic = object_resolve_path_type("", "arm-gicv3-common", NULL);

	if (!gic) {
		fprintf(stderr, "t410: the machine has no GICv3 to interrupt\n");
		exit(1);
	}
	/* Inputs of the controller are its shared peripheral interrupts, from 0 */
	for (int i = 0; i < MAX_LINES; i++)
		inputs[i] = qdev_get_gpio_in(gic, FIRST_SPI + i);
	if (machine.counter_bits == 64)
		return;
	timer = calloc(1, TIMER_ROOM);
	if (!timer)
		abort();
	timer_init_full(timer, NULL, QEMU_CLOCK_REALTIME, SCALE_NS, 0, poll_units, NULL);
	poll_units(NULL);
}
