/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the daemon says: one line an event on the standard error, made for a journal. */
#ifndef DAEMON_SERVE_LOG_H
#define DAEMON_SERVE_LOG_H

#include <syslog.h>

#include "base/diag.h"

#define SERVE_WHO "t410trace serve"

/**
 * serve_log() - say something
 * @priority: LOG_ERR, LOG_WARNING, LOG_NOTICE or LOG_INFO
 * @fmt: one line, without a newline
 *
 * Where the standard error is the journal, the priority goes before the text the way
 * sd-daemon(3) says.
 */
void serve_log(int priority, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** serve_log_diag() - a problem and its remedy, on one line */
void serve_log_diag(int priority, const char *before, const struct diag *d);

#endif
