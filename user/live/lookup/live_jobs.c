// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/lookup/live_jobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/times.h"
#include "tables/job_rules.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

/*
 * The first of several cgroups that are made together wakes us, but not the next ones; their
 * records are there this much later (WAKE_PAUSE_NS of cgroups.bpf.c).
 */
#define TOGETHER_NS    10000000ull
/* A job is asked at once, after 10 ms, and so on with doubled pauses: for 20 s in total. */
#define FIRST_PAUSE_NS 10000000ull
#define MAX_TRIES      12
/* For all jobs together: time of one step, and the pause after it, equal or nine times that. */
#define STEP_NS	       2000000ull
#define REST_NS	       18000000ull
/* With more cgroups of jobs at the same time the rest is left without names. */
#define MAX_PENDING    4096

/* A job whose name is unknown so far. */
struct pending {
	uint64_t cgroup_id;
	uint64_t due_ns;
	enum scheduler scheduler;
	bool provisional;	 /* its number is unknown so far */
	char id[JOB_ID_LEN];	 /* as in the path; "" when it has none */
	char number[JOB_ID_LEN]; /* the same, or as its tasks told */
	unsigned int tries;
	char *path;
	UT_hash_handle hh;
};

struct live_jobs {
	const struct live_cgroups *cgroups;
	const struct job_users *users;
	const char *host;
	struct live_jobs_source source;
	struct pending *pending;
	uint64_t rest_until_ns;
	uint64_t next_ns;
	uint64_t look_ns; /* more cgroups may have been made by then */
};

int live_jobs_new(const struct live_cgroups *cgroups, const struct job_users *users,
		  const char *host, const struct live_jobs_source *source, struct live_jobs **ret)
{
	struct live_jobs *j = calloc(1, sizeof(*j));

	if (!j)
		return -ENOMEM;
	j->cgroups = cgroups;
	j->users = users;
	j->host = host;
	j->source = source ? *source : (struct live_jobs_source){ job_env_read, monotonic_ns };
	j->next_ns = j->look_ns = UINT64_MAX;
	*ret = j;
	return 0;
}

static void forget(struct live_jobs *j, struct pending *p)
{
	HASH_DEL(j->pending, p);
	free(p->path);
	free(p);
}

void live_jobs_free(struct live_jobs *j)
{
	struct pending *p, *next;

	if (!j)
		return;
	HASH_ITER (hh, j->pending, p, next)
		forget(j, p);
	free(j);
}

static bool says_more(enum scheduler s)
{
	const struct job_variables *v = job_variables(s);

	return v && (v->id || v->name || v->user);
}

/* Is it the job's own cgroup, and of a scheduler whose tasks know more? */
static bool is_askable(const struct live_jobs *j, const char *path, struct job_path *ret)
{
	return job_resolve_for(path, j->users, ret) && ret->length == strlen(path) &&
	       says_more(ret->scheduler);
}

static int add(struct live_jobs *j, uint64_t id, const char *path, const struct job_path *job)
{
	struct pending *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->cgroup_id = id;
	p->scheduler = job->scheduler;
	p->provisional = job->provisional;
	if (!job->provisional)
		memcpy(p->id, job->id, sizeof(p->id));
	memcpy(p->number, p->id, sizeof(p->number));
	p->due_ns = j->source.now();
	p->path = strdup(path);
	if (p->path)
		HASH_ADD(hh, j->pending, cgroup_id, sizeof(p->cgroup_id), p);
	if (!p->path || !p->hh.tbl) {
		free(p->path);
		free(p);
		return -ENOMEM;
	}
	if (p->due_ns < j->next_ns)
		j->next_ns = p->due_ns;
	return 0;
}

/* A job found again in the tree is asked again: it has been renamed, or did not answer. */
static int on_cgroup(struct live_jobs *j, uint64_t id, const char *path)
{
	struct job_path job;
	struct pending *p;

	HASH_FIND(hh, j->pending, &id, sizeof(id), p);
	if (!path && p)
		forget(j, p);
	if (path)
		j->look_ns = j->source.now() + TOGETHER_NS;
	if (!path || p || HASH_COUNT(j->pending) >= MAX_PENDING || !is_askable(j, path, &job))
		return 0;
	return add(j, id, path, &job);
}

static int on_event(void *arg, const struct trace_event *e)
{
	return e->type == TRACE_CGROUP ? on_cgroup(arg, e->cgroup.id, e->cgroup.path) : 0;
}

struct trace_sink live_jobs_sink(struct live_jobs *j)
{
	return (struct trace_sink){ on_event, j };
}

uint64_t live_jobs_next_ns(const struct live_jobs *j)
{
	uint64_t ask = j->next_ns > j->rest_until_ns ? j->next_ns : j->rest_until_ns;

	return j->next_ns == UINT64_MAX ? j->look_ns : earlier(ask, j->look_ns);
}

/* Ask one; true when it need not be asked again. */
static bool ask(struct live_jobs *j, struct pending *p, const struct trace_sink *out, int *ret_err)
{
	struct trace_job_news news = { .cgroup_id = p->cgroup_id };
	char folder[PATH_MAX];
	char number[JOB_ID_LEN + JOB_ARRAY_LEN];
	struct job_env env;
	int err;

	if (live_cgroups_folder(j->cgroups, p->path, folder, sizeof(folder)))
		return true;
	err = j->source.read(p->scheduler, folder, j->host, &env);
	if (err && err != -EAGAIN)
		return false;
	/* It is about another job: a task that inherited its environment. */
	if (p->id[0] && env.id[0] && strcmp(p->id, env.id))
		return false;
	/* A number in the path is the scheduler's, one in the environment may be anybody's. */
	if (p->provisional)
		memcpy(p->number, env.id, sizeof(p->number));
	if (env.id[0] && (p->provisional || (env.array[0] && !strcmp(p->number, env.id)))) {
		snprintf(number, sizeof(number), "%s%s%s", env.id, env.array[0] ? " " : "",
			 env.array);
		news.id = number;
	}
	if (env.name[0])
		news.name = env.name;
	if (env.user[0])
		news.user = env.user;
	news.uid = env.uid;
	if (news.id || news.name || news.user)
		*ret_err = trace_send_job(out, &news);
	p->provisional &= !news.id;
	/* -EAGAIN: the number is known, and names will follow */
	return !err && !p->provisional;
}

/* Ask one job, and perhaps again later. */
static int ask_now(struct live_jobs *j, struct pending *p, const struct trace_sink *out)
{
	uint64_t now = j->source.now();
	int err = 0;

	if (ask(j, p, out, &err) || p->tries + 1 >= MAX_TRIES)
		forget(j, p);
	else
		p->due_ns = now + (FIRST_PAUSE_NS << p->tries++);
	return err;
}

int live_jobs_first(struct live_jobs *j, const struct trace_sink *out, bool *ret_asked)
{
	struct pending *p = j->pending;

	while (p && p->tries)
		p = p->hh.next;
	*ret_asked = p;
	return p ? ask_now(j, p, out) : 0;
}

int live_jobs_step(struct live_jobs *j, const struct trace_sink *out)
{
	uint64_t begin = j->source.now(), now = begin;
	struct pending *p, *next;
	int err = 0;

	if (begin < live_jobs_next_ns(j))
		return 0;
	/* The caller has just taken all records. */
	if (begin >= j->look_ns)
		j->look_ns = UINT64_MAX;
	if (begin < j->rest_until_ns)
		return 0;
	HASH_ITER (hh, j->pending, p, next) {
		if (p->due_ns > now || now - begin >= STEP_NS || err)
			continue;
		err = ask_now(j, p, out);
		now = j->source.now();
	}
	if (now - begin >= STEP_NS)
		j->rest_until_ns = now + REST_NS;
	j->next_ns = UINT64_MAX;
	for (p = j->pending; p; p = p->hh.next)
		j->next_ns = earlier(j->next_ns, p->due_ns);
	return err;
}
