// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sentences about the owner and the users of a device, below its line. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "report/gpus.h"
#include "report/notes.h"
#include "report/table/cells.h"

/* Names of users, "slurm job 12, Xorg (system.slice/gdm.service) and 3 more". */
static void put_names(FILE *f, const struct device_user *users, size_t nr, size_t all)
{
	char name[GPUS_TEXT_LEN];

	for (size_t i = 0; i < nr; i++) {
		gpus_user(&users[i], name);
		fprintf(f, "%s%s", i ? ", " : "", name);
	}
	if (all > nr)
		fprintf(f, " and %zu more", all - nr);
}

/* A part of the time that is known in percent, with its interval. */
static void put_share(FILE *f, const struct device_users *all, const struct device_user *u)
{
	if (all->samples)
		fprintf(f, " %.0f%% (%.0f to %.0f%%)", 100 * u->share, 100 * u->low, 100 * u->high);
	else
		fprintf(f, " %.1f%%", 100 * u->share);
}

static void put_busy(FILE *f, const struct device_users *u)
{
	size_t nr = u->nr < DEVICE_MAX_BLOCKERS ? u->nr : DEVICE_MAX_BLOCKERS;
	char name[GPUS_TEXT_LEN];

	fprintf(f, "busy:");
	for (size_t i = 0; i < nr; i++) {
		gpus_user(&u->users[i], name);
		fprintf(f, "%s %s", i ? "," : "", name);
		put_share(f, u, &u->users[i]);
	}
	if (u->nr_all > nr)
		fprintf(f, " and %zu more", u->nr_all - nr);
	if (u->samples)
		fprintf(f, ", by %" PRIu64 " samples", u->samples);
}

static void put_one(FILE *f, const struct report_device *d)
{
	const struct device_users *u = &d->by;

	put_names(f, u->users, 1, 1);
	fprintf(f, u->gone ? " alone had contexts, and has the bytes up to its end"
			   : " alone has contexts");
	if (u->undivided)
		fprintf(f, ": its processes' parts are unknown, --by job has its bytes");
	else if (d->shared)
		fprintf(f, ": its bytes are divided by busy time");
}

static void put_owner(FILE *f, const struct report_device *d)
{
	const struct device_users *u = &d->by;

	if (u->found == OWNERSHIP_SHARED && u->nr_blockers) {
		fprintf(f, "shared: ");
		put_names(f, u->blockers, u->nr_blockers, u->nr_blockers_all);
	} else if (u->rule != OWNER_CONTEXTS) {
		return;
	} else if (u->found == OWNERSHIP_ONE && u->nr) {
		put_one(f, d);
	} else if (u->found == OWNERSHIP_FREE) {
		fprintf(f, "no process has a context");
	} else {
		fprintf(f, "owner unknown: %s",
			u->nr ? "not all looks at its users are there, or a user is unknown: "
			      : "looks at its users are missing");
		put_names(f, u->users, u->nr < DEVICE_MAX_BLOCKERS ? u->nr : DEVICE_MAX_BLOCKERS,
			  u->nr_all);
	}
}

int users_write(const struct table *t, const struct report_device *d)
{
	struct sentence s;
	FILE *f = sentence_begin(&s);

	if (!f)
		return -ENOMEM;
	put_owner(f, d);
	if (d->by.told_ns && d->by.nr) {
		fprintf(f, "; ");
		put_busy(f, &d->by);
	}
	fflush(f);
	if (s.len)
		fputs("  ", t->out);
	return sentence_end(&s, t->out, t->width - 2, 0);
}
