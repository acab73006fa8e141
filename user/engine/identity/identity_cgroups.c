// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Names of cgroups, and which of them were asked for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "engine/identity/internal.h"

/* Is @path the cgroup @top or below it? */
static bool is_below(const char *path, const char *top)
{
	size_t n = strlen(top);

	if (n == 1) /* the root */
		return true;
	if (top[n - 1] == '/') /* that of a v1 hierarchy */
		n--;
	return !strncmp(path, top, n) && (path[n] == '\0' || path[n] == '/');
}

static bool is_selected(const struct identity *id, const char *path)
{
	for (size_t i = 0; i < id->nr_selected; i++)
		if (is_below(path, id->selected[i]))
			return true;
	return false;
}

struct cgroup_name *identity_cgroup_by_path(const struct identity *id, const char *path)
{
	struct cgroup_name *c;

	HASH_FIND(hh_path, id->paths, path, strlen(path), c);
	return c;
}

static void unlist(struct identity *id, struct cgroup_name *c)
{
	if (c->listed)
		HASH_DELETE(hh_path, id->paths, c);
	c->listed = false;
}

/* Instead of an earlier cgroup of the same path. */
static int list(struct identity *id, struct cgroup_name *c)
{
	struct cgroup_name *old = identity_cgroup_by_path(id, c->path);

	if (old)
		unlist(id, old);
	HASH_ADD_KEYPTR(hh_path, id->paths, c->path, strlen(c->path), c);
	if (!c->hh_path.tbl)
		return -ENOMEM;
	c->listed = true;
	return 0;
}

static int cgroup_new(struct identity *id, uint64_t cgroup_id, struct cgroup_name **ret)
{
	struct cgroup_name *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->id = cgroup_id;
	HASH_ADD(hh, id->cgroups, id, sizeof(c->id), c);
	if (!c->hh.tbl) {
		free(c);
		return -ENOMEM;
	}
	id->near_cgroups[cgroup_id % NEAR_CGROUPS] = c;
	*ret = c;
	return 0;
}

static void forget(struct identity *id, struct cgroup_name *c)
{
	identity_job_leave(id, c);
	identity_job_hide(c);
	unlist(id, c);
	HASH_DEL(id->cgroups, c);
	if (id->near_cgroups[c->id % NEAR_CGROUPS] == c)
		id->near_cgroups[c->id % NEAR_CGROUPS] = NULL;
	free(c->path);
	free(c);
}

int identity_cgroup(struct identity *id, uint64_t cgroup_id, const char *path)
{
	struct cgroup_name *c = identity_cgroup_find(id, cgroup_id);
	bool fresh = !c;
	char *copy;
	int err;

	/* It was looked for in the tree just before it was removed. */
	if (c && c->gone)
		return 0;
	/* Nothing new, unless another cgroup seemed to have taken its place. */
	if (c && c->listed && !strcmp(c->path, path) && !(c->job && c->job->gone))
		return 0;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	if (fresh && cgroup_new(id, cgroup_id, &c)) {
		free(copy);
		return -ENOMEM;
	}
	if (fresh && id->making) {
		c->made = true;
		c->made_ns = id->made_ns;
	}
	unlist(id, c);
	identity_job_leave(id, c);
	free(c->path);
	c->path = copy;
	/* Once asked for, a cgroup stays in the report, whatever it is renamed to. */
	c->selected |= is_selected(id, path);
	err = list(id, c);
	if (!err)
		err = identity_job_enter(id, c);
	if (err && fresh)
		forget(id, c);
	return err;
}

void identity_believe(struct identity *id, const struct job_users *users)
{
	id->users = users;
}

void identity_making(struct identity *id, bool making, uint64_t made_ns)
{
	id->making = making;
	id->made_ns = made_ns;
}

void identity_cgroup_gone(struct identity *id, uint64_t cgroup_id)
{
	struct cgroup_name *c = identity_cgroup_find(id, cgroup_id);

	if (!c || c->gone)
		return;
	identity_job_cgroup_gone(id, c);
	c->gone = true;
}

bool identity_has_selection(const struct identity *id)
{
	return id->nr_selected || id->nr_wanted;
}

int identity_each_cgroup(const struct identity *id,
			 int (*fn)(void *arg, const struct cgroup_name *c), void *arg)
{
	struct cgroup_name *c, *next;
	int err = 0;

	HASH_ITER (hh, id->cgroups, c, next)
		if (!err)
			err = fn(arg, c);
	return err;
}

int identity_select(struct identity *id, const char *path)
{
	struct cgroup_name *c, *next;
	char *copy = strdup(path);

	if (!copy || array_reserve(id->selected, id->cap_selected, id->nr_selected)) {
		free(copy);
		return -ENOMEM;
	}
	id->selected[id->nr_selected++] = copy;
	HASH_ITER (hh, id->cgroups, c, next) {
		c->selected |= is_below(c->path, path);
		if (c->job)
			c->job->selected |= c->selected;
	}
	return 0;
}

void identity_cgroups_closed(struct identity *id)
{
	struct cgroup_name *c, *next;

	HASH_ITER (hh, id->cgroups, c, next) {
		c->reported_gone |= c->gone;
		if (c->gone && ++c->idle_closes > KEEP_UNUSED)
			forget(id, c);
	}
	identity_jobs_closed(id);
}

void identity_cgroups_free(struct identity *id)
{
	struct cgroup_name *c, *next;

	HASH_ITER (hh, id->cgroups, c, next)
		forget(id, c);
	for (size_t i = 0; i < id->nr_selected; i++)
		free(id->selected[i]);
	free(id->selected);
	identity_jobs_free(id);
}
