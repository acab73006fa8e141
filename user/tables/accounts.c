// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>

#include "account.h"
#include "base/array.h"

const char *account_state_name(enum account_state s)
{
	static const char *const names[NR_ACCOUNT_STATES] = {
		[ACCOUNT_RUNNING] = "running",
		[ACCOUNT_ENDED] = "ended",
		[ACCOUNT_STALE] = "stale",
	};

	return (size_t)s < ARRAY_SIZE(names) ? names[s] : "unknown";
}

static void release_part(struct account_part *p)
{
	free(p->totals);
	free(p->io);
}

void account_job_release(struct account_job *j)
{
	for (size_t i = 0; i < j->nr_steps; i++)
		release_part(&j->steps[i]);
	release_part(&j->whole);
	free(j->steps);
	free(j->node);
	free(j->path);
}

void accounts_node_release(struct accounts_node *n)
{
	free(n->counters);
	free(n->totals);
}
