/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Processes that users name by their number. */
#ifndef LIVE_LOOKUP_PROCESS_H
#define LIVE_LOOKUP_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"

/** process_lives() - is it the number of a process that has not ended? A zombie has (Linux 5.3) */
bool process_lives(pid_t pid);

/** process_missing() - -ESRCH, with a suggestion */
int process_missing(pid_t pid, struct diag *d);

#endif
