// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Jobs in the books: rows of jobs and their steps, and the job that any other row is in. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fnv.h"
#include "base/text.h"
#include "engine/book/book_rows.h"

/* This number identifies a step, so that no list of steps is needed. */
static uint64_t number_of_step(const char *step)
{
	uint64_t hash = fnv_text(FNV_BASIS, step);

	if (!*step)
		return 0;
	return hash ? hash : 1;
}

struct book_key book_job_key(const struct cgroup_name *c)
{
	if (!c || !c->job)
		return (struct book_key){ .start_ns = BOOK_NO_JOB };
	return (struct book_key){ .cgroup_id = c->job->who.cgroup_id,
				  .start_ns = number_of_step(c->step) };
}

/* A row is in a step of a job (NULL: in none); 0 or -ENOMEM */
static int set_row_job(struct book_row *row, const struct job *j, const char *step)
{
	/* Other owners keep the old value. */
	if (!j || (row->job && row->job->shared)) {
		row_job_release(row->job);
		row->job = NULL;
	}
	if (!j)
		return 0;
	if (!row->job)
		row->job = calloc(1, sizeof(*row->job));
	if (!row->job)
		return -ENOMEM;
	*row->job = j->who;
	str_copy(row->job->step, sizeof(row->job->step), step);
	return 0;
}

/* @path, @length: of the cgroup that is the job or the step */
static int get_row(struct book *b, const struct book_key *key, const struct job *j,
		   const char *step, const char *path, size_t length, struct book_row **ret)
{
	int err = book_row_get(b, key, ret);

	if (err || !j || (*ret)->job)
		return err;
	free((*ret)->path);
	(*ret)->path = strndup(path, length);
	return (*ret)->path ? set_row_job(*ret, j, step) : -ENOMEM;
}

int book_job_row(struct book *b, const struct cgroup_name *c, struct book_row **ret)
{
	struct book_key key = book_job_key(c);

	if (!c || !c->job)
		return book_row_get(b, &key, ret);
	return get_row(b, &key, c->job, c->step, c->path, c->step_length, ret);
}

int book_job_own_row(struct book *b, const struct job *j, struct book_row **ret)
{
	const struct book_key key = { .cgroup_id = j->who.cgroup_id };

	return get_row(b, &key, j, "", j->path, strlen(j->path), ret);
}

static bool is_asked_for(const struct book *b, const struct job *j)
{
	return b->scope.all || j->selected;
}

/* Units of the service manager are many, and most of them do nothing. */
static bool is_shown(const struct book *b, const struct job *j)
{
	return is_asked_for(b, j) && (j->selected || j->who.scheduler != SCHEDULER_SYSTEMD ||
				      (b->scope.idle_units && !j->reported));
}

/* Steps that live, or ended just now. */
static int enter_step(void *arg, const struct cgroup_name *c)
{
	bool own = c->job && c->step[0] && !c->path[c->step_length];
	struct book *b = arg;
	struct book_row *row;
	int err;

	if (!c->job || !c->step[0] || !(b->scope.all || c->selected))
		return 0;
	if (c->gone ? c->reported_gone || !own : c->job->gone || !is_shown(b, c->job))
		return 0;
	err = book_job_row(b, c, &row);
	if (!err && c->gone)
		row->exited = true;
	return err;
}

/**
 * struct entering - jobs that are to be rows whatever they did
 * @b: the book
 * @keys, @nr: of jobs that have rows, ordered
 */
struct entering {
	struct book *b;
	uint64_t *keys;
	size_t nr;
};

static int compare_keys(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * One without any row gets one. The row of its cgroup outside of steps reports the end of a job,
 * which is there for this if for nothing else: see job_tree().
 */
static int enter_job(void *arg, const struct job *j)
{
	struct entering *e = arg;
	bool ended = identity_job_ended(j);
	struct book_row *row;
	int err;

	if (!is_asked_for(e->b, j) || (j->gone && !ended))
		return 0;
	if (!ended && (!is_shown(e->b, j) ||
		       bsearch(&j->who.cgroup_id, e->keys, e->nr, sizeof(*e->keys), compare_keys)))
		return 0;
	err = book_job_own_row(e->b, j, &row);
	if (!err && ended)
		row->exited = true;
	return err;
}

int book_quiet_jobs(struct book *b)
{
	cleanup_free uint64_t *keys = NULL;
	struct entering e = { .b = b };
	struct book_row *row, *next;
	int err = identity_each_cgroup(b->id, enter_step, b);

	if (err)
		return err;
	keys = calloc(HASH_COUNT(b->rows) + 1, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	HASH_ITER (hh, b->rows, row, next)
		keys[e.nr++] = row->key.cgroup_id;
	qsort(keys, e.nr, sizeof(*keys), compare_keys);
	e.keys = keys;
	return identity_each_job(b->id, enter_job, &e);
}

int book_name_job(struct book *b, struct book_row *row)
{
	const struct job *j = row->job ? identity_job(b->id, row->key.cgroup_id) : NULL;
	const struct cgroup_name *c;
	char step[JOB_STEP_LEN];
	int err;

	if (!j)
		return 0;
	memcpy(step, row->job->step, sizeof(step));
	c = row->path ? identity_cgroup_by_path(b->id, row->path) : NULL;
	if (!step[0])
		row->cgroup_id = j->who.cgroup_id;
	else
		row->cgroup_id = c && c->job == j ? c->id : 0;
	err = set_row_job(row, j, step);
	if (!err && step[0])
		row->job->begin_ns = c && c->job == j ? c->made_ns : 0;
	return err;
}
