// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "trace/repeat_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "base/array.h"

/* Marks after which an ended task is forgotten: CPU time may come after the end. */
#define KEEP_MARKS 2

struct known_task_key {
	uint64_t start_ns;
	uint32_t pid;
	uint32_t zero; /* part of the hashed bytes */
};

struct known_task {
	struct known_task_key key;
	struct trace_task task; /* comm is owned */
	bool followed;
	bool seen; /* since the resync began */
	bool ended;
	bool unlisted;	    /* as in struct task */
	unsigned int marks; /* since the end */
	UT_hash_handle hh;
};

struct known_cgroup {
	uint64_t id;
	char *path;
	bool gone;
	bool is_job; /* more is known than the path */
	char *job_id, *job_name, *job_user;
	unsigned int marks; /* since it is gone */
	UT_hash_handle hh;
};

struct repeat_names {
	struct known_task *tasks;
	struct known_cgroup *cgroups;
	struct living_cpu {
		struct trace_cpu last;
		bool known;
	} * cpus; /* by number */
	size_t nr_cpus, cap_cpus;
	uint32_t *awaited; /* processes to follow that the list of tasks does not have */
	size_t nr_awaited, cap_awaited;
	bool resync;
};

int repeat_names_new(struct repeat_names **ret)
{
	struct repeat_names *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	*ret = l;
	return 0;
}

static void forget_task(struct repeat_names *l, struct known_task *b)
{
	HASH_DEL(l->tasks, b);
	free((char *)b->task.comm);
	free(b);
}

static void forget_cgroup(struct repeat_names *l, struct known_cgroup *p)
{
	HASH_DEL(l->cgroups, p);
	free(p->path);
	free(p->job_id);
	free(p->job_name);
	free(p->job_user);
	free(p);
}

void repeat_names_free(struct repeat_names *l)
{
	struct known_task *b, *b_next;
	struct known_cgroup *p, *p_next;

	if (!l)
		return;
	HASH_ITER (hh, l->tasks, b, b_next)
		forget_task(l, b);
	HASH_ITER (hh, l->cgroups, p, p_next)
		forget_cgroup(l, p);
	free(l->awaited);
	free(l->cpus);
	free(l);
}

static struct known_task *find(struct repeat_names *l, uint32_t pid, uint64_t start_ns)
{
	struct known_task_key key = { .pid = pid, .start_ns = start_ns };
	struct known_task *b;

	HASH_FIND(hh, l->tasks, &key, sizeof(key), b);
	return b;
}

static uint32_t *find_awaited(const struct repeat_names *l, uint32_t pid)
{
	for (size_t i = 0; i < l->nr_awaited; i++)
		if (l->awaited[i] == pid)
			return &l->awaited[i];
	return NULL;
}

/* As in identity_task() */
static bool is_followed(const struct repeat_names *l, const struct trace_task *t,
			const struct known_task *parent)
{
	return find_awaited(l, t->tgid) ||
	       (parent ? parent->followed : find_awaited(l, t->parent) != NULL);
}

static int on_task(struct repeat_names *l, const struct trace_task *t)
{
	struct known_task *b = find(l, t->pid, t->start_ns);
	struct known_task *parent = find(l, t->parent, t->parent_start_ns);
	char *comm = NULL;

	if (t->comm) {
		comm = strdup(t->comm);
		if (!comm)
			return -ENOMEM;
	}
	if (!b) {
		b = calloc(1, sizeof(*b));
		if (b) {
			b->key.pid = t->pid;
			b->key.start_ns = t->start_ns;
			HASH_ADD(hh, l->tasks, key, sizeof(b->key), b);
		}
		if (!b || !b->hh.tbl) {
			free(b);
			free(comm);
			return -ENOMEM;
		}
		b->followed = is_followed(l, t, parent);
		b->unlisted = find_awaited(l, t->tgid);
	}
	/* As in identity_task() */
	if (parent && parent->followed && parent->task.tgid == t->tgid)
		b->followed = true;
	b->ended = false;
	b->marks = 0;
	/* a name that was known stays so */
	if (comm)
		free((char *)b->task.comm);
	else
		comm = (char *)b->task.comm;
	b->task = *t;
	b->task.comm = comm;
	b->seen = true;
	return 0;
}

static void on_exit_(struct repeat_names *l, const struct trace_exit *e)
{
	struct known_task *b = find(l, e->pid, e->start_ns);
	uint32_t *awaited = find_awaited(l, e->pid);

	if (b)
		b->ended = true;
	if (awaited)
		*awaited = l->awaited[--l->nr_awaited];
}

static void on_resync(struct repeat_names *l, bool begin)
{
	struct known_task *b, *next;

	HASH_ITER (hh, l->tasks, b, next) {
		if (begin)
			b->seen = false;
		else if (!b->seen && !b->unlisted)
			b->ended = true;
	}
	l->resync = begin;
}

static int on_cgroup(struct repeat_names *l, uint64_t id, const char *path)
{
	struct known_cgroup *p;
	char *copy;

	HASH_FIND(hh, l->cgroups, &id, sizeof(id), p);
	if (!path) {
		if (p)
			p->gone = true;
		return 0;
	}
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	if (!p) {
		p = calloc(1, sizeof(*p));
		if (p) {
			p->id = id;
			HASH_ADD(hh, l->cgroups, id, sizeof(p->id), p);
		}
		if (!p || !p->hh.tbl) {
			free(p);
			free(copy);
			return -ENOMEM;
		}
	}
	free(p->path);
	p->path = copy;
	return 0;
}

/* What was known stays so. */
static int replace(char **text, const char *with)
{
	char *copy = with ? strdup(with) : NULL;

	if (with && !copy)
		return -ENOMEM;
	if (copy) {
		free(*text);
		*text = copy;
	}
	return 0;
}

static int on_job(struct repeat_names *l, const struct trace_job_news *j)
{
	struct known_cgroup *p;
	int err;

	HASH_FIND(hh, l->cgroups, &j->cgroup_id, sizeof(j->cgroup_id), p);
	if (!p)
		return 0; /* of an unknown cgroup */
	p->is_job = true;
	err = replace(&p->job_id, j->id);
	if (!err)
		err = replace(&p->job_name, j->name);
	return err ? err : replace(&p->job_user, j->user);
}

static int on_follow(struct repeat_names *l, uint32_t pid)
{
	struct known_task *b, *next;
	bool found = false;

	HASH_ITER (hh, l->tasks, b, next)
		if (b->task.tgid == pid && !b->ended)
			found = b->followed = true;
	if (found || find_awaited(l, pid))
		return 0;
	if (array_reserve(l->awaited, l->cap_awaited, l->nr_awaited))
		return -ENOMEM;
	l->awaited[l->nr_awaited++] = pid;
	return 0;
}

static int on_cpu(struct repeat_names *l, const struct trace_cpu *c)
{
	if (c->cpu >= TRACE_MAX_CPUS)
		return 0;
	while (l->nr_cpus <= c->cpu) {
		if (array_reserve(l->cpus, l->cap_cpus, l->nr_cpus))
			return -ENOMEM;
		l->cpus[l->nr_cpus++] = (struct living_cpu){ 0 };
	}
	l->cpus[c->cpu] = (struct living_cpu){ *c, true };
	return 0;
}

static void on_mark(struct repeat_names *l)
{
	struct known_task *b, *b_next;
	struct known_cgroup *p, *p_next;

	HASH_ITER (hh, l->tasks, b, b_next)
		if (b->ended && ++b->marks > KEEP_MARKS)
			forget_task(l, b);
	HASH_ITER (hh, l->cgroups, p, p_next)
		if (p->gone && ++p->marks > KEEP_MARKS)
			forget_cgroup(l, p);
}

int repeat_names_learn(struct repeat_names *l, const struct trace_event *e)
{
	switch (e->type) {
	case TRACE_TASK:
		return on_task(l, &e->task);
	case TRACE_CGROUP:
		return on_cgroup(l, e->cgroup.id, e->cgroup.path);
	case TRACE_JOB:
		return on_job(l, &e->job);
	case TRACE_EXIT:
		on_exit_(l, &e->exit);
		return 0;
	case TRACE_RESYNC:
		on_resync(l, e->resync.begin);
		return 0;
	case TRACE_FOLLOW:
		return on_follow(l, e->follow.pid);
	case TRACE_CPU:
		return on_cpu(l, &e->cpu);
	case TRACE_MARK:
		on_mark(l);
		return 0;
	default: /* exclusive use of a device is reported again and again: nothing to keep */
		return 0;
	}
}

const char *repeat_names_comm(struct repeat_names *l, uint32_t pid, uint64_t start_ns)
{
	const struct known_task *b = find(l, pid, start_ns);

	return b ? b->task.comm : NULL;
}

const char *repeat_names_path(struct repeat_names *l, uint64_t cgroup_id)
{
	struct known_cgroup *p;

	HASH_FIND(hh, l->cgroups, &cgroup_id, sizeof(cgroup_id), p);
	return p ? p->path : NULL;
}

/* Where announcements go. */
struct listener {
	const struct trace_sink *sink;
	int (*after)(void *arg);
	void *arg;
};

#define TELL(to, event, ...)                                            \
	({                                                              \
		int err_ = trace_send_##event((to)->sink, __VA_ARGS__); \
		err_ ? err_ : (to)->after((to)->arg);                   \
	})

/*
 * Tasks come before the facts about them, because following is not inherited here. Only processes
 * that the list of tasks lacks come before their tasks, as they did.
 */
static int announce_beings(struct repeat_names *l, const struct listener *to)
{
	struct known_task *b, *next;
	int err = 0;

	for (size_t i = 0; i < l->nr_awaited && !err; i++)
		err = TELL(to, follow, l->awaited[i]);
	HASH_ITER (hh, l->tasks, b, next)
		err = err ? err : TELL(to, task, &b->task);
	HASH_ITER (hh, l->tasks, b, next)
		if (b->followed && !err)
			err = TELL(to, follow, b->task.tgid);
	HASH_ITER (hh, l->tasks, b, next)
		if (b->ended && !err)
			err = TELL(to, exit, b->key.pid, b->key.start_ns);
	if (!l->resync || err)
		return err;
	/* the list was being read: its tasks so far */
	err = TELL(to, resync, true);
	HASH_ITER (hh, l->tasks, b, next)
		if (b->seen && !err)
			err = TELL(to, task, &b->task);
	return err;
}

static int announce_place(const struct known_cgroup *p, const struct listener *to)
{
	const struct trace_job_news job = {
		.cgroup_id = p->id,
		.id = p->job_id,
		.name = p->job_name,
		.user = p->job_user,
	};
	int err = TELL(to, cgroup, p->id, p->path);

	if (p->is_job && !err)
		err = TELL(to, job, &job);
	if (p->gone && !err)
		err = TELL(to, cgroup, p->id, NULL);
	return err;
}

int repeat_names_announce(struct repeat_names *l, const struct trace_sink *sink,
			  int (*after)(void *arg), void *arg)
{
	struct listener to = { .sink = sink, .after = after, .arg = arg };
	struct known_cgroup *p, *next;
	int err = 0;

	for (size_t i = 0; i < l->nr_cpus && !err; i++)
		if (l->cpus[i].known)
			err = TELL(&to, cpu, &l->cpus[i].last);
	HASH_ITER (hh, l->cgroups, p, next)
		err = err ? err : announce_place(p, &to);
	return err ? err : announce_beings(l, &to);
}
