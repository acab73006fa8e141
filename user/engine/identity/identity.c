// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/identity/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/fnv.h"

int identity_new(struct identity **ret)
{
	struct identity *id = calloc(1, sizeof(*id));

	if (!id)
		return -ENOMEM;
	/* the numbers with a fixed meaning */
	while (id->nr_ids <= WORKLOAD_LOST) {
		if (array_reserve(id->by_id, id->cap_ids, id->nr_ids)) {
			identity_free(id);
			return -ENOMEM;
		}
		id->by_id[id->nr_ids++] = NULL;
	}
	*ret = id;
	return 0;
}

void identity_free(struct identity *id)
{
	struct task *t, *t_next;
	struct workload *w, *w_next;

	if (!id)
		return;
	HASH_ITER (hh, id->workloads, w, w_next) {
		HASH_DEL(id->workloads, w);
		free(w);
	}
	HASH_ITER (hh, id->tasks, t, t_next) {
		HASH_DEL(id->tasks, t);
		free(t);
	}
	identity_cgroups_free(id);
	free(id->by_id);
	free(id->free_ids);
	free(id->awaited);
	free(id);
}

static struct task *task_find(const struct identity *id, uint32_t pid, uint64_t start_ns)
{
	struct task_key key = { .start_ns = start_ns, .pid = pid };
	struct task *t;

	HASH_FIND(hh, id->tasks, &key, sizeof(key), t);
	return t;
}

static struct awaited *awaited_find(const struct identity *id, uint32_t tgid)
{
	for (size_t i = 0; i < id->nr_awaited; i++)
		if (id->awaited[i].tgid == tgid)
			return &id->awaited[i];
	return NULL;
}

static struct task *task_new(struct identity *id, uint32_t pid, uint32_t tgid, uint64_t start_ns)
{
	struct awaited *awaited = awaited_find(id, tgid);
	struct task *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->key.pid = pid;
	t->key.start_ns = start_ns;
	t->tgid = tgid;
	snprintf(t->comm, sizeof(t->comm), "?");
	HASH_ADD(hh, id->tasks, key, sizeof(t->key), t);
	if (!t->hh.tbl) {
		free(t);
		return NULL;
	}
	if (awaited)
		t->followed = t->unlisted = awaited->seen = true;
	return t;
}

static void name_task(struct task *t, const char *comm)
{
	snprintf(t->comm, sizeof(t->comm), "%s", comm);
	t->comm_known = true;
	t->comm_hash = fnv_text(FNV_BASIS, t->comm);
}

int identity_task(struct identity *id, const struct trace_task *news, struct task **ret)
{
	struct task *t = task_find(id, news->pid, news->start_ns);
	struct task *parent = task_find(id, news->parent, news->parent_start_ns);
	bool followed = parent ? parent->followed : awaited_find(id, news->parent) != NULL;

	if (!t) {
		t = task_new(id, news->pid, news->tgid, news->start_ns);
		if (!t)
			return -ENOMEM;
		t->followed |= followed;
	}
	/* By thread: it was another thread of its process until now, see feed.c. */
	if (parent && parent->followed && parent->tgid == news->tgid)
		t->followed = true;
	/* A leader ends when another thread calls exec, and that thread goes on in its place. */
	t->exited = false;
	t->seen = true;
	t->announced = true;
	t->kernel = news->kernel;
	if (news->cgroup_id)
		t->cgroup_id = news->cgroup_id;
	if (news->comm)
		name_task(t, news->comm);
	if (ret)
		*ret = t;
	return 0;
}

static void task_ended(struct task *t)
{
	if (!t->exited)
		t->idle_closes = 0;
	t->exited = true;
}

void identity_exit(struct identity *id, uint32_t pid, uint64_t start_ns)
{
	struct task *t = task_find(id, pid, start_ns);
	struct awaited *awaited = awaited_find(id, pid);

	if (t)
		task_ended(t);
	/* Its number may be given to another process from now on. */
	if (awaited)
		*awaited = id->awaited[--id->nr_awaited];
}

uint64_t identity_start_of(const struct identity *id, uint32_t pid)
{
	struct task *t, *next;

	HASH_ITER (hh, id->tasks, t, next)
		if (t->key.pid == pid && !t->exited)
			return t->key.start_ns;
	return 0;
}

struct task *identity_near(const struct identity *id, uint32_t pid, uint64_t start_ns,
			   uint64_t within_ns)
{
	struct task *t, *next;

	HASH_ITER (hh, id->tasks, t, next) {
		uint64_t first = t->key.start_ns < start_ns ? t->key.start_ns : start_ns;

		if (t->key.pid == pid && t->key.start_ns - first <= within_ns &&
		    start_ns - first <= within_ns)
			return t;
	}
	return NULL;
}

size_t identity_follow(struct identity *id, uint32_t tgid)
{
	struct task *t, *next;
	size_t nr = 0;

	HASH_ITER (hh, id->tasks, t, next)
		if (t->tgid == tgid && !t->exited) {
			t->followed = true;
			nr++;
		}
	return nr;
}

int identity_await(struct identity *id, uint32_t tgid)
{
	if (awaited_find(id, tgid))
		return 0;
	if (array_reserve(id->awaited, id->cap_awaited, id->nr_awaited))
		return -ENOMEM;
	id->awaited[id->nr_awaited++] = (struct awaited){ tgid, false };
	return 0;
}

size_t identity_followed_alive(const struct identity *id)
{
	struct task *t, *next;
	size_t nr = 0;

	HASH_ITER (hh, id->tasks, t, next)
		nr += t->followed && !t->exited;
	for (size_t i = 0; i < id->nr_awaited; i++)
		nr += !id->awaited[i].seen;
	return nr;
}

int identity_each_followed(const struct identity *id, int (*fn)(void *arg, const struct task *t),
			   void *arg)
{
	struct task *t, *next;
	int err = 0;

	HASH_ITER (hh, id->tasks, t, next)
		if (!err && t->followed && !t->exited)
			err = fn(arg, t);
	return err;
}

int identity_each_unnamed(struct identity *id, int (*fn)(void *arg, struct task *t), void *arg)
{
	struct task *t, *next;
	int err = 0;

	HASH_ITER (hh, id->tasks, t, next)
		/* Number 0 stands for an unknown task of a cgroup. */
		if (!err && !t->comm_known && t->key.pid)
			err = fn(arg, t);
	return err;
}

static int take_number(struct identity *id, struct workload *w)
{
	if (id->nr_free) {
		w->id = id->free_ids[--id->nr_free];
		id->by_id[w->id] = w;
		return 0;
	}
	if (array_reserve(id->by_id, id->cap_ids, id->nr_ids))
		return -ENOMEM;
	w->id = id->nr_ids;
	id->by_id[id->nr_ids++] = w;
	return 0;
}

int identity_workload(struct identity *id, uint32_t pid, uint32_t tgid, uint64_t start_ns,
		      uint64_t cgroup_id, uint32_t *ret)
{
	struct workload_key key = { .start_ns = start_ns, .cgroup_id = cgroup_id, .pid = pid };
	struct workload **near = &id->near[pid % NEAR_WORKLOADS], *w = *near, *fresh;

	if (!w || memcmp(&w->key, &key, sizeof(key)) != 0)
		HASH_FIND(hh, id->workloads, &key, sizeof(key), w);
	if (w) {
		*near = w;
		*ret = w->id;
		return 0;
	}
	fresh = calloc(1, sizeof(*fresh));
	if (!fresh)
		return -ENOMEM;
	fresh->key = key;
	fresh->task = task_find(id, pid, start_ns);
	if (!fresh->task)
		fresh->task = task_new(id, pid, tgid, start_ns);
	if (!fresh->task || take_number(id, fresh)) {
		free(fresh);
		return -ENOMEM;
	}
	HASH_ADD(hh, id->workloads, key, sizeof(fresh->key), fresh);
	if (!fresh->hh.tbl) {
		id->by_id[fresh->id] = NULL;
		free(fresh);
		return -ENOMEM;
	}
	*ret = fresh->id;
	return 0;
}

const struct workload *identity_get(const struct identity *id, uint32_t workload)
{
	return workload < id->nr_ids ? id->by_id[workload] : NULL;
}

uint64_t identity_kin(const struct identity *id, uint32_t workload, bool *ret_ended)
{
	const struct workload *w = identity_get(id, workload);
	uint64_t h;

	*ret_ended = w && w->task->exited;
	if (!w || !w->task->comm_known)
		return 0;
	/* Names that are alike differ in bits above those of any cgroup's number. */
	h = w->task->comm_hash ^ w->key.cgroup_id;
	return h ? h : 1;
}

void identity_keep(struct identity *id, uint32_t workload)
{
	struct workload *w = workload < id->nr_ids ? id->by_id[workload] : NULL;
	struct cgroup_name *c;

	/* Once an interval does; there are many slices. */
	if (!w || w->kept)
		return;
	w->kept = true;
	w->idle_closes = 0;
	w->task->idle_closes = 0;
	c = identity_cgroup_find(id, w->key.cgroup_id);
	if (c)
		c->idle_closes = 0;
}

void identity_active(struct identity *id, uint32_t workload)
{
	struct workload *w = workload < id->nr_ids ? id->by_id[workload] : NULL;

	identity_keep(id, workload);
	if (w)
		w->task->cgroup_id = w->key.cgroup_id;
}

/* If there is no memory to note a free number, it is just not used again. */
static void forget_workload(struct identity *id, struct workload *w)
{
	HASH_DEL(id->workloads, w);
	if (id->near[w->key.pid % NEAR_WORKLOADS] == w)
		id->near[w->key.pid % NEAR_WORKLOADS] = NULL;
	id->by_id[w->id] = NULL;
	if (id->on_forget)
		id->on_forget(id->forget_arg, w->id);
	if (!array_reserve(id->free_ids, id->cap_free, id->nr_free))
		id->free_ids[id->nr_free++] = w->id;
	free(w);
}

void identity_on_forget(struct identity *id, void (*fn)(void *arg, uint32_t workload), void *arg)
{
	id->on_forget = fn;
	id->forget_arg = arg;
}

/* For how many intervals: as long as it lives, when there is a name to keep. */
static uint32_t keep_task(const struct task *t)
{
	if (t->exited)
		return KEEP_ENDED;
	return t->announced || t->followed ? UINT32_MAX : KEEP_UNUSED;
}

void identity_forget(struct identity *id)
{
	struct workload *w, *w_next;
	struct task *t, *t_next;

	HASH_ITER (hh, id->workloads, w, w_next) {
		w->idle_closes++;
		w->kept = false;
		if (w->idle_closes > (w->task->exited ? KEEP_ENDED : KEEP_UNUSED))
			forget_workload(id, w);
		else
			w->task->idle_closes = 0; /* still referred to */
	}
	HASH_ITER (hh, id->tasks, t, t_next)
		if (t->idle_closes++ >= keep_task(t)) {
			HASH_DEL(id->tasks, t);
			free(t);
		}
}

void identity_closed(struct identity *id)
{
	identity_forget(id);
	identity_cgroups_closed(id);
}

void identity_resync(struct identity *id)
{
	struct task *t, *next;

	HASH_ITER (hh, id->tasks, t, next)
		t->seen = false;
}

void identity_resync_end(struct identity *id)
{
	struct task *t, *next;

	HASH_ITER (hh, id->tasks, t, next)
		if (!t->seen && !t->unlisted)
			task_ended(t);
}
