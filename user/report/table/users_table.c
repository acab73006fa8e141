// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sentences about the owner and the users of a device, below its line. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "report/names.h"
#include "report/notes.h"
#include "report/table/cells.h"

/* Names of users, "python (slurm job 12), Xorg (system.slice/gdm.service) and 3 more". */
static int put_names(FILE *f, const struct device_user *users, size_t nr, size_t all)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		cleanup_free char *name = NULL;

		err = names_user(&users[i], &name);
		if (!err)
			fprintf(f, "%s%s", i ? ", " : "", name);
	}
	if (all > nr)
		fprintf(f, " and %zu more", all - nr);
	return err;
}

/* A part of the time that is known in percent, with its interval. */
static void put_share(FILE *f, const struct device_users *all, const struct device_user *u)
{
	if (all->samples)
		fprintf(f, " %.0f%% (%.0f to %.0f%%)", 100 * u->share, 100 * u->low, 100 * u->high);
	else
		fprintf(f, " %.1f%%", 100 * u->share);
}

static int put_busy(FILE *f, const struct device_users *u)
{
	size_t nr = u->nr < DEVICE_MAX_BLOCKERS ? u->nr : DEVICE_MAX_BLOCKERS;
	int err = 0;

	fprintf(f, "busy:");
	for (size_t i = 0; i < nr && !err; i++) {
		cleanup_free char *name = NULL;

		err = names_user(&u->users[i], &name);
		if (err)
			break;
		fprintf(f, "%s %s", i ? "," : "", name);
		if (u->users[i].instance != DEVICE_NO_INSTANCE)
			fprintf(f, " on instance %" PRIu32, u->users[i].instance);
		put_share(f, u, &u->users[i]);
	}
	if (u->nr_all > nr)
		fprintf(f, " and %zu more", u->nr_all - nr);
	if (u->samples)
		fprintf(f, ", by %" PRIu64 " samples", u->samples);
	return err;
}

static int put_one(FILE *f, const struct report_device *d)
{
	const struct device_users *u = &d->by;
	int err = put_names(f, u->users, 1, 1);

	fprintf(f, u->gone ? " alone had contexts, and has the bytes up to its end"
			   : " alone has contexts");
	if (u->undivided)
		fprintf(f, ": its processes' parts are unknown, --by job has its bytes");
	else if (d->shared)
		fprintf(f, ": its bytes are divided by busy time");
	return err;
}

static int put_owner(FILE *f, const struct report_device *d)
{
	const struct device_users *u = &d->by;

	if (u->found == OWNERSHIP_SHARED && u->nr_blockers) {
		fprintf(f, "shared: ");
		return put_names(f, u->blockers, u->nr_blockers, u->nr_blockers_all);
	}
	if (u->rule != OWNER_CONTEXTS)
		return 0;
	if (u->found == OWNERSHIP_ONE && u->nr)
		return put_one(f, d);
	if (u->found == OWNERSHIP_FREE) {
		fprintf(f, "no process has a context");
		return 0;
	}
	fprintf(f, "owner unknown: %s",
		u->nr ? "not all looks at its users are there, or a user is unknown: "
		      : "looks at its users are missing");
	return put_names(f, u->users, u->nr < DEVICE_MAX_BLOCKERS ? u->nr : DEVICE_MAX_BLOCKERS,
			 u->nr_all);
}

int users_write(const struct table *t, const struct report_device *d)
{
	struct sentence s;
	FILE *f = sentence_begin(&s);
	int err;

	if (!f)
		return -ENOMEM;
	err = put_owner(f, d);
	if (!err && d->by.told_ns && d->by.nr) {
		fprintf(f, "; ");
		err = put_busy(f, &d->by);
	}
	fflush(f);
	if (s.len)
		fputs("  ", t->out);
	return sentence_end(&s, t->out, t->width - 2, err);
}
