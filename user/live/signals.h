/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Signals that come through a descriptor, for the event loop. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

/**
 * signals_open() - take SIGINT and SIGTERM through a descriptor from now on, and ignore SIGPIPE
 * @reload: SIGHUP as well
 * @d: gets the problem
 * @ret_mask: signals that were blocked before, for programs that are started
 * @ret_fd: readable when a signal has come; close() it
 *
 * Return: 0 or a negative errno.
 */
int signals_open(bool reload, struct diag *d, sigset_t *ret_mask, int *ret_fd);

/** signals_take() - the signal that has come, 0 when there is none */
int signals_take(int fd);

#endif
