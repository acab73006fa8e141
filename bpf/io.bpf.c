// SPDX-License-Identifier: GPL-2.0-only
/* Flushing of the tables of io.bpf.h. */
#include "io.bpf.h"

static __always_inline bool flush_kind(__u32 kind)
{
	struct ledger_io_table *t;
	bool done = true;
	__u32 i;

	for (i = 0; i < 2; i++) {
		t = io_table(kind, i);
		if (!t || !t->nr)
			continue;
		if (!io_take(t)) {
			done = false;
			continue;
		}
		io_empty(t);
		io_release(t);
	}
	return done;
}

/*
 * Run by user space on one CPU (BPF_PROG_TEST_RUN): sends its tables. Returns 1 when it interrupted
 * a program that was using one of them: then it must be run again.
 */
SEC("raw_tp/sched_switch")
int io_flush(void *ctx)
{
	bool done = true;

	done &= flush_kind(LEDGER_IO_BLOCK);
	done &= flush_kind(LEDGER_IO_SENT);
	done &= flush_kind(LEDGER_IO_RECEIVED);
	return !done;
}
