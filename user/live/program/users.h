/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Turn lines about the users of devices into events of the trace: none is told twice, or made up. */
#ifndef LIVE_PROGRAM_USERS_H
#define LIVE_PROGRAM_USERS_H

#include "live/program/text.h"
#include "live/program/windows.h"

#define PROGRAM_NO_DEVICE UINT32_MAX

/**
 * struct program_looks - what was told of a device
 * @device: its index in the header of the trace; PROGRAM_NO_DEVICE: it has none, and lines about it
 *	are judged only
 * @known: the last look told all contexts
 * @seen_ns: of the last look, 0: none
 * @busy_ns: activity is told up to here
 */
struct program_looks {
	uint32_t device;
	bool known;
	uint64_t seen_ns;
	uint64_t busy_ns;
};

/**
 * program_users_take() - take a line
 * @l: of its device
 * @u: the line; it is made an event
 * @w: the sink, the begin of the books, and events that the sink rejected
 * @now_ns: the time
 * @ret: the verdict
 *
 * Return: 0, or an error of the sink.
 */
int program_users_take(struct program_looks *l, struct program_users *u, struct program_windows *w,
		       uint64_t now_ns, enum program_verdict *ret);

/** program_users_anew() - the program was restarted: nobody knows who came and went meanwhile */
void program_users_anew(struct program_looks *l, size_t nr);

#endif
