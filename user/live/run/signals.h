/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Signals that come through a descriptor, for the event loop. */
#ifndef LIVE_RUN_SIGNALS_H
#define LIVE_RUN_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

/* The meaning of SIGHUP */
enum hangup {
	HANGUP_ENDS,	/* the end, as SIGTERM; stays ignored under nohup(1) */
	HANGUP_RELOADS, /* settings are read again */
	HANGUP_OTHERS,	/* not handled: the caller does that itself */
};

/**
 * signals_open() - take SIGINT and SIGTERM through a descriptor from now on, and ignore SIGPIPE
 * @hangup: the meaning of SIGHUP
 * @d: gets the problem
 * @ret_mask: signals that were blocked before, for started programs
 * @ret_fd: readable when a signal has come; close() it
 *
 * Return: 0 or a negative errno.
 */
int signals_open(enum hangup hangup, struct diag *d, sigset_t *ret_mask, int *ret_fd);

/** signals_take() - the signal that has come, 0 when there is none */
int signals_take(int fd);

#endif
