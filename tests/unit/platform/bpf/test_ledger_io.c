// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "platform/bpf/ledger_internal.h"

#define BASE 1000000000000ull

static struct ledger_io seen;
static int nr_seen;

static void on_io(void *arg, const struct ledger_io *r)
{
	(void)arg;
	seen = *r;
	nr_seen++;
}

static uint64_t tick_length(void)
{
	struct timespec step;

	assert_int_equal(clock_getres(CLOCK_MONOTONIC_COARSE, &step), 0);
	return step.tv_nsec;
}

/* A record that was sent at BASE, in tick @tick, with one slot. */
static struct ledger_io record(uint32_t tick, uint64_t first_ns, uint64_t last_tick)
{
	struct ledger_io r = { .h = { LEDGER_IO, 1, BASE }, .nr = 1, .tick = tick };

	r.slots[0].first_ns = first_ns;
	r.slots[0].last_ns = last_tick;
	r.slots[0].read_bytes = 17;
	return r;
}

static uint64_t last_of(uint32_t tick, uint64_t first_ns, uint64_t last_tick)
{
	const struct ledger_sink sink = { .io = on_io };
	struct ledger_io r = record(tick, first_ns, last_tick);

	nr_seen = 0;
	ledger_io_hand_on(&r, &sink);
	assert_int_equal(nr_seen, 1);
	assert_int_equal(seen.nr, 1);
	assert_int_equal(seen.slots[0].first_ns, first_ns);
	assert_int_equal(seen.slots[0].read_bytes, 17);
	/* what is in the ring stays as it is */
	assert_int_equal(r.slots[0].last_ns, last_tick);
	return seen.slots[0].last_ns;
}

static void ticks_become_times(void **state)
{
	uint64_t tick = tick_length();

	(void)state;
	/* in the same tick: no later than the record */
	assert_int_equal(last_of(500, BASE - 10, 500), BASE);
	/* the tick before has ended by then, but it is not known when */
	assert_int_equal(last_of(500, BASE - 5 * tick, 499), BASE);
	assert_int_equal(last_of(500, BASE - 5 * tick, 497), BASE - 2 * tick);
	/* never before the first */
	assert_int_equal(last_of(500, BASE - tick, 490), BASE - tick);
}

static void ticks_overflow(void **state)
{
	uint64_t tick = tick_length();

	(void)state;
	/* only the low half of the count is in the record */
	assert_int_equal(last_of(1, BASE - 9 * tick, 0x1fffffffeull), BASE - 2 * tick);
	assert_int_equal(last_of(1, BASE - 9 * tick, 0x200000001ull), BASE);
	/* a slot that an offline CPU left: the tick is that of its beginning */
	assert_int_equal(last_of(0xffffffff, BASE, 0x100000001ull), BASE + 3 * tick);
}

static void junk_is_not_handed_on(void **state)
{
	const struct ledger_sink sink = { .io = on_io }, deaf = { 0 };
	struct ledger_io r = record(1, BASE, 1);

	(void)state;
	nr_seen = 0;
	ledger_io_hand_on(&r, &deaf);
	r.nr = LEDGER_IO_SLOTS + 1;
	ledger_io_hand_on(&r, &sink);
	assert_int_equal(nr_seen, 0);
	r.nr = 0;
	ledger_io_hand_on(&r, &sink);
	assert_int_equal(nr_seen, 1);
	assert_int_equal(seen.nr, 0);
}

/* Attached programs decide what is known of a device; other kinds have no requests to note. */
static void parts_decide_what_is_noted(void **state)
{
	static const struct {
		uint32_t parts;
		enum io_noted disk, card;
	} rows[] = {
		{ IO_PARTS, IO_BOTH, IO_BOTH },
		{ IO_SENT | IO_RECEIVED, IO_NONE, IO_BOTH },
		{ IO_BLOCK | IO_RECEIVED, IO_BOTH, IO_WRITE },
		{ IO_BLOCK | IO_SENT, IO_BOTH, IO_READ },
		{ 0, IO_NONE, IO_NONE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct ledger l = { .io = { .parts = rows[i].parts } };

		assert_int_equal(ledger_io_noted(&l, DEVICE_NVME), rows[i].disk);
		assert_int_equal(ledger_io_noted(&l, DEVICE_BLOCK), rows[i].disk);
		assert_int_equal(ledger_io_noted(&l, DEVICE_NET), rows[i].card);
		assert_int_equal(ledger_io_noted(&l, DEVICE_GPU), IO_NONE);
		assert_int_equal(ledger_io_noted(&l, DEVICE_RDMA), IO_NONE);
		assert_int_equal(ledger_io_noted(&l, DEVICE_OTHER), IO_NONE);
		assert_int_equal(ledger_io_noted(&l, DEVICE_PORT), IO_NONE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_become_times),
		cmocka_unit_test(ticks_overflow),
		cmocka_unit_test(junk_is_not_handed_on),
		cmocka_unit_test(parts_decide_what_is_noted),
	};

	return cmocka_run_group_tests_name("ledger_io", tests, NULL, NULL);
}
