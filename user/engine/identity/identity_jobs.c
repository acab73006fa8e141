// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Jobs: which cgroups belong together for the scheduler that made them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "engine/identity/internal.h"
#include "tables/job_rules.h"

struct cgroup_name *identity_cgroup_find(const struct identity *id, uint64_t cgroup_id)
{
	struct cgroup_name *c = id->near_cgroups[cgroup_id % NEAR_CGROUPS];

	if (!c || c->id != cgroup_id)
		HASH_FIND(hh, id->cgroups, &cgroup_id, sizeof(cgroup_id), c);
	return c;
}

struct job *identity_job(const struct identity *id, uint64_t key)
{
	struct job *j;

	HASH_FIND(hh, id->jobs, &key, sizeof(key), j);
	return j;
}

bool identity_job_ended(const struct job *j)
{
	return j->gone && !j->reported_gone;
}

static void unlist(struct identity *id, struct job *j)
{
	if (j->listed)
		HASH_DELETE(hh_path, id->living, j);
	j->listed = false;
}

static void job_gone(struct identity *id, struct job *j)
{
	unlist(id, j);
	if (!j->gone)
		id->nr_ended[j->who.scheduler]++;
	j->gone = true;
}

static void forget(struct identity *id, struct job *j)
{
	unlist(id, j);
	HASH_DEL(id->jobs, j);
	free(j->path);
	free(j);
}

/* Kubernetes' tools print names of pods, too, and ids of containers, which are steps here. */
static bool is_meant(const struct job_wanted *w, const struct job *j, const char *step)
{
	const struct row_job *who = &j->who;

	if (w->scheduler && w->scheduler != who->scheduler)
		return false;
	if (job_id_fits(who->id, w->id) || job_array_fits(j->array, w->id) ||
	    (who->scheduler == SCHEDULER_KUBERNETES && who->name[0] && !strcmp(who->name, w->id)) ||
	    (who->scheduler == SCHEDULER_FLUX && !strcmp(who->id, w->flux)))
		return !w->step[0] || !strcmp(w->step, step);
	return strlen(step) >= JOB_LONG_ID && job_id_fits(step, w->id);
}

static bool is_wanted(struct identity *id, const struct job *j, const char *step)
{
	bool wanted = false;

	for (size_t i = 0; i < id->nr_wanted; i++)
		if (is_meant(&id->wanted[i].who, j, step))
			wanted = id->wanted[i].seen = true;
	return wanted;
}

/* Its name or the selection is new. */
static void choose(struct identity *id, struct job *j)
{
	struct cgroup_name *c, *next;

	if (!id->nr_wanted)
		return;
	j->chosen = is_wanted(id, j, "") || j->chosen;
	j->selected |= j->chosen;
	if (!j->nr_cgroups)
		return;
	HASH_ITER (hh, id->cgroups, c, next) {
		if (c->job != j)
			continue;
		c->selected |= is_wanted(id, j, c->step) || j->chosen;
		j->selected |= c->selected;
	}
}

static int list(struct identity *id, struct job *j)
{
	HASH_ADD_KEYPTR(hh_path, id->living, j->path, strlen(j->path), j);
	if (!j->hh_path.tbl)
		return -ENOMEM;
	j->listed = true;
	return 0;
}

/* @c: its own cgroup, or its first known one */
static int job_new(struct identity *id, const struct job_path *p, const struct cgroup_name *c,
		   struct job **ret)
{
	char *path = strndup(c->path, p->length);
	struct job *j;

	if (!path)
		return -ENOMEM;
	/* Its cgroup has another path now, or another cgroup seemed to have taken its place. */
	j = identity_job(id, c->id);
	if (!j) {
		j = calloc(1, sizeof(*j));
		if (j) {
			j->who.cgroup_id = c->id;
			HASH_ADD(hh, id->jobs, who.cgroup_id, sizeof(j->who.cgroup_id), j);
		}
		if (!j || !j->hh.tbl) {
			free(j);
			free(path);
			return -ENOMEM;
		}
	}
	unlist(id, j);
	free(j->path);
	j->path = path;
	j->own = 0;
	j->gone = j->reported_gone = false;
	j->who.scheduler = p->scheduler;
	j->who.provisional = p->provisional;
	j->who.owner = p->owner;
	memcpy(j->who.id, p->id, sizeof(j->who.id));
	id->nr_begun[p->scheduler] += !p->provisional;
	j->changes++;
	if (list(id, j)) {
		j->gone = true;
		return -ENOMEM;
	}
	choose(id, j);
	*ret = j;
	return 0;
}

/* The job's own cgroup is known from now on. A key that was reported stays. */
static int found_own(struct identity *id, struct job *j, uint64_t own)
{
	j->own = own;
	if (j->reported || j->who.cgroup_id == own || identity_job(id, own))
		return 0;
	HASH_DEL(id->jobs, j);
	j->who.cgroup_id = own;
	j->changes++;
	HASH_ADD(hh, id->jobs, who.cgroup_id, sizeof(j->who.cgroup_id), j);
	if (j->hh.tbl)
		return 0;
	/* It belongs to no job any more. */
	unlist(id, j);
	for (struct cgroup_name *c = id->cgroups; c; c = c->hh.next)
		if (c->job == j)
			c->job = NULL;
	free(j->path);
	free(j);
	return -ENOMEM;
}

void identity_job_hide(struct cgroup_name *c)
{
	row_job_release(c->shown);
	c->shown = NULL;
}

int identity_job_show(struct cgroup_name *c, struct row_job **ret)
{
	const struct job *j = c->job;

	if (c->shown && c->shown_at != j->changes)
		identity_job_hide(c);
	if (!c->shown) {
		c->shown = malloc(sizeof(*c->shown));
		if (!c->shown)
			return -ENOMEM;
		*c->shown = j->who;
		memcpy(c->shown->step, c->step, sizeof(c->step));
		c->shown_at = j->changes;
	}
	*ret = row_job_share(c->shown);
	return 0;
}

int identity_job_enter(struct identity *id, struct cgroup_name *c)
{
	struct job_path p;
	struct job *j;
	bool own;
	int err = 0;

	c->step[0] = '\0';
	identity_job_hide(c);
	if (!job_resolve_for(c->path, id->users, &p))
		return 0;
	own = !c->path[p.length];
	HASH_FIND(hh_path, id->living, c->path, p.length, j);
	/* A path is only used again after its cgroup is gone, even if that event was lost. */
	if (j && own && j->own && j->own != c->id) {
		job_gone(id, j);
		j = NULL;
	}
	if (!j)
		err = job_new(id, &p, c, &j);
	if (!err && own && j->own != c->id)
		err = found_own(id, j, c->id);
	if (err)
		return err;
	if (own) {
		j->who.made = c->made;
		j->who.begin_ns = c->made_ns;
		j->changes++;
	}
	c->job = j;
	memcpy(c->step, p.step, sizeof(c->step));
	c->step_length = p.step_length;
	c->selected |= is_wanted(id, j, c->step) || j->chosen;
	j->selected |= c->selected;
	j->nr_cgroups++;
	j->nr_living++;
	return 0;
}

void identity_job_leave(struct identity *id, struct cgroup_name *c)
{
	struct job *j = c->job;

	if (!j)
		return;
	if (!c->gone)
		identity_job_cgroup_gone(id, c);
	c->job = NULL;
	/* A job whose end was not reported yet stays until it is. */
	if (!--j->nr_cgroups && j->reported_gone)
		forget(id, j);
}

void identity_job_cgroup_gone(struct identity *id, struct cgroup_name *c)
{
	struct job *j = c->job;

	if (!j)
		return;
	j->nr_living--;
	if (j->own ? j->own == c->id : !j->nr_living)
		job_gone(id, j);
}

void identity_jobs_closed(struct identity *id)
{
	struct job *j, *next;

	HASH_ITER (hh, id->jobs, j, next) {
		j->reported = true;
		j->reported_gone |= j->gone;
		if (j->reported_gone && !j->nr_cgroups)
			forget(id, j);
	}
}

void identity_jobs_free(struct identity *id)
{
	struct job *j, *next;

	HASH_ITER (hh, id->jobs, j, next)
		forget(id, j);
	free(id->wanted);
}

void identity_job_news(struct identity *id, const struct trace_job_news *news)
{
	const struct cgroup_name *c = identity_cgroup_find(id, news->cgroup_id);
	struct job *j = c ? c->job : NULL;

	if (!j)
		return;
	if (news->id) {
		size_t n = strcspn(news->id, " ");

		snprintf(j->who.id, sizeof(j->who.id), "%.*s", (int)n, news->id);
		if (news->id[n])
			snprintf(j->array, sizeof(j->array), "%s", news->id + n + 1);
		id->nr_begun[j->who.scheduler] += j->who.provisional;
		j->who.provisional = false;
	}
	if (news->name)
		snprintf(j->who.name, sizeof(j->who.name), "%s", news->name);
	if (news->user)
		snprintf(j->who.user, sizeof(j->who.user), "%s", news->user);
	if (news->uid)
		j->who.uid = news->uid;
	j->changes++;
	choose(id, j);
}

int identity_select_jobs(struct identity *id, char *const *texts, size_t nr)
{
	struct job *j, *next;

	for (size_t i = 0; i < nr; i++) {
		if (array_reserve(id->wanted, id->cap_wanted, id->nr_wanted))
			return -ENOMEM;
		job_wanted_parse(texts[i], &id->wanted[id->nr_wanted].who);
		id->wanted[id->nr_wanted++].seen = false;
	}
	HASH_ITER (hh, id->jobs, j, next)
		choose(id, j);
	return 0;
}

static uint64_t sum_of(const uint64_t by_scheduler[NR_SCHEDULERS], uint32_t schedulers)
{
	uint64_t sum = 0;

	for (int i = 0; i < NR_SCHEDULERS; i++)
		if (schedulers & 1u << i)
			sum += by_scheduler[i];
	return sum;
}

uint64_t identity_jobs_begun(const struct identity *id, uint32_t schedulers)
{
	return sum_of(id->nr_begun, schedulers);
}

uint64_t identity_jobs_ended(const struct identity *id, uint32_t schedulers)
{
	return sum_of(id->nr_ended, schedulers);
}

bool identity_job_seen(const struct identity *id, size_t nr)
{
	return nr < id->nr_wanted && id->wanted[nr].seen;
}

int identity_each_job(const struct identity *id, int (*fn)(void *arg, const struct job *j),
		      void *arg)
{
	struct job *j, *next;
	int err = 0;

	HASH_ITER (hh, id->jobs, j, next)
		if (!err)
			err = fn(arg, j);
	return err;
}
