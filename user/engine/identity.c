// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "engine/identity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Intervals after which an ended task, or an unused workload, is forgotten. */
#define KEEP_ENDED  2
#define KEEP_UNUSED 16

struct identity {
	struct task *tasks;
	struct cgroup_name *cgroups;
	struct workload *workloads; /* hash */
	struct workload **by_id;    /* NULL where a number is free */
	size_t nr_ids, cap_ids;
	uint32_t *free_ids;
	size_t nr_free, cap_free;
	char **selected; /* cgroup paths asked for */
	size_t nr_selected, cap_selected;
	void (*on_forget)(void *arg, uint32_t workload);
	void *forget_arg;
};

int identity_new(struct identity **ret)
{
	struct identity *id = calloc(1, sizeof(*id));

	if (!id)
		return -ENOMEM;
	/* the numbers with a fixed meaning */
	while (id->nr_ids <= WORKLOAD_LOST) {
		if (array_room(id->by_id, id->cap_ids, id->nr_ids)) {
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
	struct cgroup_name *c, *c_next;
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
	HASH_ITER (hh, id->cgroups, c, c_next) {
		HASH_DEL(id->cgroups, c);
		free(c->path);
		free(c);
	}
	for (size_t i = 0; i < id->nr_selected; i++)
		free(id->selected[i]);
	free(id->selected);
	free(id->by_id);
	free(id->free_ids);
	free(id);
}

static struct task *task_find(const struct identity *id, uint32_t pid, uint64_t start_ns)
{
	struct task_key key = { .start_ns = start_ns, .pid = pid };
	struct task *t;

	HASH_FIND(hh, id->tasks, &key, sizeof(key), t);
	return t;
}

static struct task *task_new(struct identity *id, uint32_t pid, uint32_t tgid, uint64_t start_ns)
{
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
	return t;
}

int identity_task(struct identity *id, const struct trace_task *news, struct task **ret)
{
	struct task *t = task_find(id, news->pid, news->start_ns);
	struct task *parent = task_find(id, news->parent, news->parent_start_ns);

	if (!t) {
		t = task_new(id, news->pid, news->tgid, news->start_ns);
		if (!t)
			return -ENOMEM;
		t->followed = parent && parent->followed;
	}
	t->seen = true;
	t->kernel = news->kernel;
	if (news->cgroup_id)
		t->cgroup_id = news->cgroup_id;
	if (news->comm) {
		snprintf(t->comm, sizeof(t->comm), "%s", news->comm);
		t->comm_known = true;
	}
	if (ret)
		*ret = t;
	return 0;
}

void identity_exit(struct identity *id, uint32_t pid, uint64_t start_ns)
{
	struct task *t = task_find(id, pid, start_ns);

	if (t)
		t->exited = true;
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

size_t identity_followed_alive(const struct identity *id)
{
	struct task *t, *next;
	size_t nr = 0;

	HASH_ITER (hh, id->tasks, t, next)
		nr += t->followed && !t->exited;
	return nr;
}

/* Is @path the cgroup @top or below it? */
static bool is_below(const char *path, const char *top)
{
	size_t n = strlen(top);

	if (n == 1) /* the root of all, also of what has v1 cgroups instead */
		return true;
	return !strncmp(path, top, n) && (path[n] == '\0' || path[n] == '/' || top[n - 1] == '/');
}

static bool is_selected(const struct identity *id, const char *path)
{
	for (size_t i = 0; i < id->nr_selected; i++)
		if (is_below(path, id->selected[i]))
			return true;
	return false;
}

struct cgroup_name *identity_cgroup_find(struct identity *id, uint64_t cgroup_id)
{
	struct cgroup_name *c;

	HASH_FIND(hh, id->cgroups, &cgroup_id, sizeof(cgroup_id), c);
	return c;
}

int identity_cgroup(struct identity *id, uint64_t cgroup_id, const char *path)
{
	struct cgroup_name *c = identity_cgroup_find(id, cgroup_id);
	char *copy = strdup(path);

	if (!copy)
		return -ENOMEM;
	if (!c) {
		c = calloc(1, sizeof(*c));
		if (c) {
			c->id = cgroup_id;
			HASH_ADD(hh, id->cgroups, id, sizeof(c->id), c);
		}
		if (!c || !c->hh.tbl) {
			free(c);
			free(copy);
			return -ENOMEM;
		}
	}
	free(c->path);
	c->path = copy;
	/* Once asked for, a cgroup stays in the report, whatever it is renamed to. */
	c->selected |= is_selected(id, path);
	return 0;
}

void identity_cgroup_gone(struct identity *id, uint64_t cgroup_id)
{
	struct cgroup_name *c = identity_cgroup_find(id, cgroup_id);

	if (c)
		c->gone = true;
}

bool identity_has_selection(const struct identity *id)
{
	return id->nr_selected;
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
		/* Number 0 stands for somebody in a cgroup. */
		if (!err && !t->comm_known && t->key.pid)
			err = fn(arg, t);
	return err;
}

int identity_each_selected(const struct identity *id,
			   int (*fn)(void *arg, const struct cgroup_name *c), void *arg)
{
	struct cgroup_name *c, *next;
	int err = 0;

	HASH_ITER (hh, id->cgroups, c, next)
		if (!err && c->selected && !c->gone)
			err = fn(arg, c);
	return err;
}

struct cgroup_name *identity_cgroup_by_path(struct identity *id, const char *path)
{
	struct cgroup_name *c, *next, *found = NULL;

	/* A removed cgroup of this name may still be known; the living one wins. */
	HASH_ITER (hh, id->cgroups, c, next)
		if (!strcmp(c->path, path) && (!found || !c->gone))
			found = c;
	return found;
}

int identity_select(struct identity *id, const char *path)
{
	struct cgroup_name *c, *next;
	char *copy = strdup(path);

	if (!copy || array_room(id->selected, id->cap_selected, id->nr_selected)) {
		free(copy);
		return -ENOMEM;
	}
	id->selected[id->nr_selected++] = copy;
	HASH_ITER (hh, id->cgroups, c, next)
		c->selected |= is_below(c->path, path);
	return 0;
}

static int take_number(struct identity *id, struct workload *w)
{
	if (id->nr_free) {
		w->id = id->free_ids[--id->nr_free];
		id->by_id[w->id] = w;
		return 0;
	}
	if (array_room(id->by_id, id->cap_ids, id->nr_ids))
		return -ENOMEM;
	w->id = id->nr_ids;
	id->by_id[id->nr_ids++] = w;
	return 0;
}

int identity_workload(struct identity *id, uint32_t pid, uint32_t tgid, uint64_t start_ns,
		      uint64_t cgroup_id, uint32_t *ret)
{
	struct workload_key key = { .start_ns = start_ns, .cgroup_id = cgroup_id, .pid = pid };
	struct workload *w, *fresh;

	HASH_FIND(hh, id->workloads, &key, sizeof(key), w);
	if (w) {
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

uint32_t identity_nr(const struct identity *id)
{
	return id->nr_ids;
}

void identity_keep(struct identity *id, uint32_t workload)
{
	struct workload *w = workload < id->nr_ids ? id->by_id[workload] : NULL;
	struct cgroup_name *c;

	if (!w)
		return;
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

/* Without room to remember a free number it is just not used again. */
static void forget_workload(struct identity *id, struct workload *w)
{
	HASH_DEL(id->workloads, w);
	id->by_id[w->id] = NULL;
	if (id->on_forget)
		id->on_forget(id->forget_arg, w->id);
	if (!array_room(id->free_ids, id->cap_free, id->nr_free))
		id->free_ids[id->nr_free++] = w->id;
	free(w);
}

void identity_on_forget(struct identity *id, void (*fn)(void *arg, uint32_t workload), void *arg)
{
	id->on_forget = fn;
	id->forget_arg = arg;
}

void identity_closed(struct identity *id)
{
	struct workload *w, *w_next;
	struct task *t, *t_next;
	struct cgroup_name *c, *c_next;

	HASH_ITER (hh, id->workloads, w, w_next) {
		w->idle_closes++;
		if (w->idle_closes > (w->task->exited ? KEEP_ENDED : KEEP_UNUSED))
			forget_workload(id, w);
		else
			w->task->idle_closes = 0; /* still referred to */
	}
	HASH_ITER (hh, id->tasks, t, t_next)
		if (t->exited && ++t->idle_closes > KEEP_ENDED) {
			HASH_DEL(id->tasks, t);
			free(t);
		}
	HASH_ITER (hh, id->cgroups, c, c_next)
		if (c->gone && ++c->idle_closes > KEEP_UNUSED) {
			HASH_DEL(id->cgroups, c);
			free(c->path);
			free(c);
		}
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
		if (!t->seen)
			t->exited = true;
}
