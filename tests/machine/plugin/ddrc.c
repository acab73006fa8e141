/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory controllers of Kunpeng 920, version 1: one for each channel, with eight counters of
 * 32 bits, each of which counts one event for ever. An overflow sets a flag and interrupts.
 *
 * As with the CoreSight units a counter that runs holds a value and the total that is in it. What
 * a socket's memory moves goes round its channels, line by line.
 */
#include <stddef.h>

#include "machine.h"

#define NR_COUNTERS  8

#define PERF_CTRL    0x010
#define PERF_CTRL_EN (1u << 1)
#define EVENT_CTRL   0x6c0 /* a bit for each counter */
#define INT_MASK     0x6c8 /* a bit that is set keeps the overflow quiet */
#define INT_STATUS   0x6cc
#define INT_CLEAR    0x6d0
#define VERSION	     0x710
#define VERSION_1    0x20 /* below that of version 2 is all that the driver asks */

#define BIT(n)	     (1u << (n))
#define ALL_COUNTERS (BIT(NR_COUNTERS) - 1)

/* By event number */
static const unsigned int counter_offset[NR_COUNTERS] = { 0x380, 0x384, 0x388, 0x38c,
							  0x3c0, 0x3c4, 0x3cc, 0x3d0 };

static struct ddrc {
	unsigned int socket, channel;
	unsigned int line; /* for irq_set() */
	uint32_t perf_ctrl, event_ctrl, int_mask, int_status;
	uint32_t value[NR_COUNTERS];
	uint64_t mark[NR_COUNTERS];
} ddrcs[MAX_SOCKETS][NR_DDRCS];

void ddrc_init(void)
{
	for (unsigned int s = 0; s < MAX_SOCKETS; s++)
		for (unsigned int c = 0; c < NR_DDRCS; c++)
			ddrcs[s][c] = (struct ddrc){
				.socket = s,
				.channel = c,
				.line = s * NR_DDRCS + c,
				.int_mask = ALL_COUNTERS,
			};
}

static bool pass_ddrc(const void *unit, unsigned int index, const struct flow *f)
{
	const struct ddrc *d = unit;

	(void)index;
	return f->kind == KIND_DDRC && f->socket == d->socket;
}

static uint64_t total_of(const struct ddrc *d, unsigned int i, uint64_t now)
{
	return even_share(flows_total(pass_ddrc, d, i, i, now), d->channel, NR_DDRCS);
}

static bool running(const struct ddrc *d, unsigned int i)
{
	return (d->perf_ctrl & PERF_CTRL_EN) && (d->event_ctrl & BIT(i));
}

/* Take over what the counters have seen so far, before anything about them changes */
static void hold(struct ddrc *d, uint64_t now)
{
	for (unsigned int i = 0; i < NR_COUNTERS; i++) {
		uint64_t total, seen;

		if (!running(d, i))
			continue;
		total = total_of(d, i, now);
		seen = total - d->mark[i];
		d->mark[i] = total;
		if (seen > UINT32_MAX - d->value[i])
			d->int_status |= BIT(i);
		d->value[i] += (uint32_t)seen;
	}
}

static void update_line(const struct ddrc *d)
{
	irq_set(d->line, (d->int_status & ~d->int_mask) != 0);
}

static void resume(struct ddrc *d, uint64_t now)
{
	for (unsigned int i = 0; i < NR_COUNTERS; i++)
		if (running(d, i))
			d->mark[i] = total_of(d, i, now);
	update_line(d);
}

static struct ddrc *ddrc_at(unsigned int socket, unsigned int offset)
{
	unsigned int channel = offset / DDRC_STRIDE;

	return socket < machine.sockets && channel < NR_DDRCS ? &ddrcs[socket][channel] : NULL;
}

uint64_t ddrc_read(unsigned int socket, unsigned int offset)
{
	struct ddrc *d = ddrc_at(socket, offset);

	if (!d)
		return 0;
	hold(d, now_ns());
	update_line(d);
	offset %= DDRC_STRIDE;
	for (unsigned int i = 0; i < NR_COUNTERS; i++)
		if (offset == counter_offset[i])
			return d->value[i];
	switch (offset) {
	case PERF_CTRL:
		return d->perf_ctrl;
	case EVENT_CTRL:
		return d->event_ctrl;
	case INT_MASK:
		return d->int_mask;
	case INT_STATUS:
		return d->int_status;
	case VERSION:
		return VERSION_1;
	}
	return 0;
}

void ddrc_write(unsigned int socket, unsigned int offset, uint64_t value)
{
	struct ddrc *d = ddrc_at(socket, offset);
	uint32_t bits = (uint32_t)value;
	uint64_t now = now_ns();

	if (!d)
		return;
	hold(d, now);
	offset %= DDRC_STRIDE;
	for (unsigned int i = 0; i < NR_COUNTERS; i++)
		if (offset == counter_offset[i])
			d->value[i] = bits;
	switch (offset) {
	case PERF_CTRL:
		d->perf_ctrl = bits;
		break;
	case EVENT_CTRL:
		d->event_ctrl = bits & ALL_COUNTERS;
		break;
	case INT_MASK:
		d->int_mask = bits & ALL_COUNTERS;
		break;
	case INT_CLEAR:
		d->int_status &= ~bits;
		break;
	}
	resume(d, now);
}

void ddrc_poll(void)
{
	uint64_t now = now_ns();

	for (unsigned int s = 0; machine.shape == SHAPE_KUNPENG && s < machine.sockets; s++)
		for (unsigned int c = 0; c < NR_DDRCS; c++) {
			hold(&ddrcs[s][c], now);
			update_line(&ddrcs[s][c]);
		}
}
