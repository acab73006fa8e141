/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What programs have in common that show the kernel side's books without the rest of t410trace. */
#ifndef LIVE_LEDGER_TOOL_H
#define LIVE_LEDGER_TOOL_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "platform/bpf/ledger.h"

static void __attribute__((noreturn)) fatal(const char *what, const struct diag *d)
{
	fprintf(stderr, "%s: %s: %s (%s)\n", program_invocation_short_name, what,
		d ? d->what : "failed", d ? d->help : "");
	exit(1);
}

/* Records that a program has no use for */

static inline void ignore_slices(void *arg, const struct ledger_slices *r,
				 const struct ledger_weights *w)
{
	(void)arg;
	(void)r;
	(void)w;
}

static inline void ignore_window(void *arg, const struct ledger_window *r)
{
	(void)arg;
	(void)r;
}

static inline void ignore_task(void *arg, const struct ledger_task *r)
{
	(void)arg;
	(void)r;
}

static inline void ignore_cgroup(void *arg, const struct ledger_cgroup *r)
{
	(void)arg;
	(void)r;
}

#endif
