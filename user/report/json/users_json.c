// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Users of devices, and jobs. */
#include "report/json/internal.h"

#include "report/put.h"

json_t *json_job(const struct row_job *job, int *err)
{
	json_t *o = json_object();

	put_text(o, "scheduler", scheduler_name(job->scheduler), err);
	put_name(o, "id", job->id, sizeof(job->id), err);
	if (job->provisional)
		put_bool(o, "provisional", true, err);
	put_name(o, "step", job->step[0] ? job->step : NULL, sizeof(job->step), err);
	put_name(o, "name", job->name[0] ? job->name : NULL, sizeof(job->name), err);
	put_name(o, "user", job->user[0] ? job->user : NULL, sizeof(job->user), err);
	put_number(o, "cgroup_id", job->cgroup_id, err);
	return o;
}

static void put_who(json_t *o, const struct device_user *u, int *err)
{
	if (u->pid) {
		put_number(o, "pid", u->pid, err);
		put_name(o, "comm", u->comm[0] ? u->comm : NULL, sizeof(u->comm), err);
	}
	put_text(o, "cgroup", u->cgroup, err);
	if (u->job)
		put(o, "job", json_job(u->job, err), err);
	if (u->instance != DEVICE_NO_INSTANCE)
		put_number(o, "instance", u->instance, err);
}

static json_t *user_object(const struct device_users *all, const struct device_user *u, int *err)
{
	json_t *o = json_object();

	put_who(o, u, err);
	put_number(o, "processes", u->processes, err);
	if (u->key[0])
		put_name(o, "key", u->key, sizeof(u->key), err);
	put_number(o, "held_ns", u->held_ns, err);
	if (!all->told_ns)
		return o;
	put_number(o, "busy_ns", u->busy_ns, err);
	if (all->copies)
		put_number(o, "copy_ns", u->copy_ns, err);
	put(o, "share", json_real(u->share), err);
	if (all->samples) {
		put(o, "share_error", json_real(u->error), err);
		put(o, "share_low", json_real(u->low), err);
		put(o, "share_high", json_real(u->high), err);
	}
	return o;
}

void json_users(json_t *o, const struct device_users *u, int *err)
{
	json_t *users, *blockers;

	if (u->rule == OWNER_NONE)
		return;
	put_text(o, "owner_rule", owner_rule_name(u->rule), err);
	put_text(o, "ownership", ownership_name(u->found), err);
	if (u->undivided)
		put_bool(o, "undivided", true, err);
	if (u->gone)
		put_bool(o, "gone", true, err);
	if (u->told_ns) {
		put_number(o, "activity_ns", u->told_ns, err);
		put_number(o, "samples", u->samples, err);
	}
	if (u->rule == OWNER_CONTEXTS) {
		users = json_array();
		for (size_t i = 0; i < u->nr; i++)
			put_element(users, user_object(u, &u->users[i], err), err);
		put(o, "users", users, err);
		put_number(o, "users_all", u->nr_all, err);
	}
	if (!u->nr_blockers)
		return;
	blockers = json_array();
	for (size_t i = 0; i < u->nr_blockers; i++) {
		json_t *who = json_object();

		put_who(who, &u->blockers[i], err);
		put_element(blockers, who, err);
	}
	put(o, "blockers", blockers, err);
	put_number(o, "blockers_all", u->nr_blockers_all, err);
}
