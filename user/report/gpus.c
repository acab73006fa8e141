// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report/gpus.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "report/devices.h"
#include "report/format.h"
#include "report/names.h"

#define NAMED 3 /* users in a sentence */

bool gpus_any(const struct report *r)
{
	for (size_t i = 0; i < r->nr_devices; i++)
		if (r->devices[i].device->kind == DEVICE_GPU)
			return true;
	return false;
}

const struct report_device *gpus_link(const struct report *r, const struct report_device *d)
{
	for (size_t i = 0; i < r->nr_devices; i++)
		if (devices_is_link(&r->devices[i]) &&
		    r->devices[i].device->function == d - r->devices + 1)
			return &r->devices[i];
	return NULL;
}

const struct device_users *gpus_users(const struct report *r, const struct report_device *d)
{
	uint32_t function = d->device->function;

	return function && function <= r->nr_devices ? &r->devices[function - 1].by : &d->by;
}

void gpus_user(const struct device_user *u, char ret[GPUS_TEXT_LEN])
{
	cleanup_free char *cgroup = NULL;

	ret[0] = '\0';
	if (u->job) {
		str_append(ret, GPUS_TEXT_LEN, "%s job %.*s", scheduler_name(u->job->scheduler),
			   (int)job_id_shown(u->job->id), FORMAT_SAFE(u->job->id));
		if (u->job->step[0])
			str_append(ret, GPUS_TEXT_LEN, " step %.*s",
				   (int)job_id_shown(u->job->step), FORMAT_SAFE(u->job->step));
	} else {
		if (u->comm[0])
			str_append(ret, GPUS_TEXT_LEN, "%s", FORMAT_SAFE(u->comm));
		else if (u->pid)
			str_append(ret, GPUS_TEXT_LEN, "process %" PRIu32, u->pid);
		if (u->cgroup && !format_terminal(u->cgroup, SIZE_MAX, &cgroup))
			str_append(ret, GPUS_TEXT_LEN, ret[0] ? " (%s)" : "%s",
				   cgroup[0] == '/' && cgroup[1] ? cgroup + 1 : cgroup);
	}
	if (u->instance != DEVICE_NO_INSTANCE)
		str_append(ret, GPUS_TEXT_LEN, " on instance %" PRIu32, u->instance);
}

/* "A, B and 3 more" */
static void put_some(char ret[GPUS_TEXT_LEN], const struct device_user *users, size_t nr,
		     size_t all)
{
	char name[GPUS_TEXT_LEN];
	size_t shown = nr < NAMED ? nr : NAMED;

	for (size_t i = 0; i < shown; i++) {
		gpus_user(&users[i], name);
		str_append(ret, GPUS_TEXT_LEN, "%s%s",
			   !i				    ? ""
			   : i + 1 == shown && shown == all ? " and "
							    : ", ",
			   name);
	}
	if (all > shown)
		str_append(ret, GPUS_TEXT_LEN, " and %zu more", all - shown);
}

/* The row that alone had it: a job has its number, other rows their key or name. */
static void put_row(char ret[GPUS_TEXT_LEN], const struct report *r, const char *key)
{
	cleanup_free char *name = NULL;

	for (size_t i = 0; i < r->nr_rows; i++)
		if (!strcmp(r->rows[i].key, key) && !names_row(&r->rows[i], &name)) {
			str_append(ret, GPUS_TEXT_LEN, "%s", name);
			return;
		}
	str_append(ret, GPUS_TEXT_LEN, "%s", key);
}

void gpus_owner(const struct report *r, const struct report_device *d, char ret[GPUS_TEXT_LEN])
{
	const struct device_users *u = gpus_users(r, d);

	ret[0] = '\0';
	if (u->found == OWNERSHIP_ONE && u->nr) {
		put_some(ret, u->users, u->nr, u->nr_all);
		if (u->undivided)
			str_append(ret, GPUS_TEXT_LEN, ", not divided among its tasks");
	} else if (d->exclusive[0]) {
		put_row(ret, r, d->exclusive);
	} else if (u->found == OWNERSHIP_SHARED && u->nr_blockers) {
		str_append(ret, GPUS_TEXT_LEN, "shared: ");
		put_some(ret, u->blockers, u->nr_blockers, u->nr_blockers_all);
	} else if (u->found == OWNERSHIP_SHARED || d->shared) {
		str_append(ret, GPUS_TEXT_LEN, "shared");
	} else {
		str_append(ret, GPUS_TEXT_LEN, u->found == OWNERSHIP_FREE ? "nobody" : "not known");
	}
}

/* Errors of users are of one sample: they are taken as independent. */
bool gpus_busy(const struct device_users *u, double *ret, double *ret_low, double *ret_high)
{
	double down = 0, up = 0;

	*ret = 0;
	for (size_t i = 0; i < u->nr; i++) {
		const struct device_user *one = &u->users[i];

		*ret += one->share;
		down += (one->share - one->low) * (one->share - one->low);
		up += (one->high - one->share) * (one->high - one->share);
	}
	*ret_low = *ret > sqrt(down) ? *ret - sqrt(down) : 0;
	*ret_high = *ret + sqrt(up);
	return u->told_ns && u->rule == OWNER_CONTEXTS;
}

bool gpus_idle(const struct device_users *u)
{
	bool idle = u->told_ns && u->nr;

	for (size_t i = 0; i < u->nr; i++)
		idle &= !u->users[i].busy_ns;
	return idle;
}
