// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Files as Linux's Documentation/filesystems/resctrl.rst describes them. */
#include "platform/sys/resctrl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"

#define TOTAL	    "mbm_total_bytes"
#define MON_DATA    "mon_data"
#define MON_GROUPS  "mon_groups"
#define CACHES	    "mon_L3_"
#define MAX_DOMAINS 1024
#define MAX_TASKS   65536
/* No memory moves this much in an interval: the counter wrapped or restarted. */
#define MOST_BYTES  (1ull << 60)

/* Kinds of domains: the first one with the file is used. */
static const char *const kinds[] = { "mon_MB_", "mon_NODE_", CACHES };

static bool is_folder(int dir, const struct dirent *e)
{
	struct stat st;

	return e->d_name[0] != '.' && !fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
	       S_ISDIR(st.st_mode);
}

/* One number, or a word for its absence. */
static void read_value(int data, const char *name, struct resctrl_domain *ret)
{
	char line[64], path[128];

	str_copy(ret->name, sizeof(ret->name), name);
	snprintf(path, sizeof(path), "%s/" TOTAL, ret->name);
	ret->state = RESCTRL_UNREADABLE;
	ret->bytes = 0;
	if (read_line_at(data, path, line, sizeof(line)))
		return;
	if (!strcmp(line, "Unavailable"))
		ret->state = RESCTRL_UNAVAILABLE;
	else if (!strcmp(line, "Unassigned"))
		ret->state = RESCTRL_UNASSIGNED;
	else if (!parse_u64(line, &ret->bytes))
		ret->state = RESCTRL_VALID;
}

static int add_domain(struct resctrl_group *g, int data, const char *name)
{
	if (g->nr == MAX_DOMAINS || strlen(name) >= sizeof(g->domains->name))
		return 0;
	if (array_reserve(g->domains, g->cap, g->nr))
		return -ENOMEM;
	read_value(data, name, &g->domains[g->nr++]);
	return 0;
}

/* A cache without a sum: use its nodes. */
static int add_nodes(struct resctrl_group *g, int data, const char *cache)
{
	cleanup_closedir DIR *dir = dir_at(data, cache);
	struct dirent *e;
	char name[300];
	int err = 0;

	while (dir && !err && (e = readdir(dir))) {
		if (strncmp(e->d_name, "mon_sub_", 8) != 0)
			continue;
		snprintf(name, sizeof(name), "%.32s/%.255s", cache, e->d_name);
		err = add_domain(g, data, name);
	}
	return err;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct resctrl_domain *)a)->name,
		      ((const struct resctrl_domain *)b)->name);
}

/* The domains of one kind; having none is no error. */
static int read_kind(struct resctrl_group *g, int data, const char *kind)
{
	cleanup_closedir DIR *dir = dir_at(data, ".");
	struct dirent *e;
	char path[300];
	int err = 0;

	while (dir && !err && (e = readdir(dir))) {
		if (strncmp(e->d_name, kind, strlen(kind)) != 0)
			continue;
		snprintf(path, sizeof(path), "%.255s/" TOTAL, e->d_name);
		if (!faccessat(data, path, F_OK, 0))
			err = add_domain(g, data, e->d_name);
		else
			err = add_nodes(g, data, e->d_name);
	}
	if (g->nr)
		qsort(g->domains, g->nr, sizeof(*g->domains), by_name);
	return err;
}

/* @parent: directory of the group @path. -ENOENT: it is not monitored, or gone. */
static int read_group(struct resctrl_reading *r, int folder, const char *path, bool control)
{
	cleanup_close int data = openat(folder, MON_DATA, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct resctrl_group g = { .control = control };
	int err = 0;

	if (data < 0)
		return -ENOENT;
	if (r->nr == RESCTRL_MAX_GROUPS) {
		r->cut = true;
		return 0;
	}
	if (str_copy(g.path, sizeof(g.path), path))
		return 0;
	for (size_t k = 0; !err && !g.nr && k < ARRAY_SIZE(kinds); k++)
		err = read_kind(&g, data, kinds[k]);
	g.read_ns = monotonic_ns();
	if (!err)
		err = array_reserve(r->groups, r->cap, r->nr);
	if (err)
		free(g.domains);
	else
		r->groups[r->nr++] = g;
	return err;
}

/* The groups in a folder of groups; a group's path is the folder's path and its name. */
static int read_groups(struct resctrl_reading *r, int folder, const char *path, bool control);

/* A group, and the monitoring groups below it. */
static int read_with_children(struct resctrl_reading *r, int folder, const char *path, bool control)
{
	cleanup_close int below = -1;
	char name[RESCTRL_GROUP_LEN + 16];
	int err = read_group(r, folder, path, control);

	if (err || !control)
		return err;
	below = openat(folder, MON_GROUPS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	snprintf(name, sizeof(name), "%s%s" MON_GROUPS "/", path, path[0] ? "/" : "");
	return below < 0 ? 0 : read_groups(r, below, name, false);
}

static bool is_group_name(const char *name)
{
	return strcmp(name, "info") != 0 && strcmp(name, MON_DATA) != 0 &&
	       strcmp(name, MON_GROUPS) != 0;
}

static int read_groups(struct resctrl_reading *r, int folder, const char *path, bool control)
{
	cleanup_closedir DIR *dir = dir_at(folder, ".");
	struct dirent *e;
	int err = 0;

	while (dir && !err && (e = readdir(dir))) {
		cleanup_close int group = -1;
		char name[2 * RESCTRL_GROUP_LEN];

		if (!is_folder(folder, e) || (control && !is_group_name(e->d_name)))
			continue;
		snprintf(name, sizeof(name), "%.255s%.255s", path, e->d_name);
		group = openat(folder, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		err = group < 0 ? 0 : read_with_children(r, group, name, control);
		/* gone meanwhile, or a folder that is no group */
		err = err == -ENOENT ? 0 : err;
	}
	return err;
}

bool resctrl_is_there(const char *root)
{
	char path[4096];

	snprintf(path, sizeof(path), "%.4000s/" MON_DATA, root);
	return !access(path, F_OK);
}

int resctrl_read(const char *root, struct resctrl_reading *ret)
{
	cleanup_close int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct resctrl_reading r = { 0 };
	int err;

	*ret = (struct resctrl_reading){ 0 };
	if (fd < 0)
		return -errno;
	err = read_with_children(&r, fd, "", true);
	if (!err)
		err = read_groups(&r, fd, "", true);
	if (err)
		resctrl_free(&r);
	else
		*ret = r;
	return err;
}

void resctrl_free(struct resctrl_reading *r)
{
	for (size_t i = 0; i < r->nr; i++)
		free(r->groups[i].domains);
	free(r->groups);
	*r = (struct resctrl_reading){ 0 };
}

const struct resctrl_group *resctrl_find(const struct resctrl_reading *r, const char *path)
{
	for (size_t i = 0; i < r->nr; i++)
		if (!strcmp(r->groups[i].path, path))
			return &r->groups[i];
	return NULL;
}

enum resctrl_state resctrl_domain_since(const struct resctrl_group *from,
					const struct resctrl_domain *to, uint64_t *ret)
{
	size_t i = 0;

	if (to->state != RESCTRL_VALID)
		return to->state;
	while (i < from->nr && strcmp(from->domains[i].name, to->name) != 0)
		i++;
	if (i == from->nr || from->domains[i].state != RESCTRL_VALID)
		return RESCTRL_NEW;
	if (to->bytes < from->domains[i].bytes || to->bytes - from->domains[i].bytes > MOST_BYTES)
		return RESCTRL_BACKWARD;
	*ret = to->bytes - from->domains[i].bytes;
	return RESCTRL_VALID;
}

int resctrl_domain_cache(const struct resctrl_domain *d)
{
	unsigned int id;

	return sscanf(d->name, CACHES "%9u", &id) == 1 ? (int)id : -1;
}

void resctrl_since(const struct resctrl_group *from, const struct resctrl_group *to,
		   struct report_resctrl *ret)
{
	enum resctrl_state why = from ? RESCTRL_UNREADABLE : RESCTRL_NEW;
	uint64_t bytes;

	str_copy(ret->group, sizeof(ret->group), to->path);
	ret->bytes = 0;
	ret->ns = from ? to->read_ns - from->read_ns : 0;
	ret->domains = to->nr;
	ret->missing = 0;
	for (size_t i = 0; from && i < to->nr; i++) {
		enum resctrl_state state = resctrl_domain_since(from, &to->domains[i], &bytes);

		if (state == RESCTRL_VALID)
			ret->bytes += bytes;
		else
			ret->missing++;
		/* going back is worse than a missing number */
		if (state != RESCTRL_VALID && why != RESCTRL_BACKWARD)
			why = state;
	}
	ret->state = ret->missing < ret->domains && ret->ns && from ? RESCTRL_VALID : why;
	if (to->broken || why == RESCTRL_BACKWARD)
		ret->state = RESCTRL_BACKWARD;
}

void resctrl_follow(const struct resctrl_reading *from, struct resctrl_reading *to)
{
	for (size_t i = 0; i < to->nr; i++) {
		const struct resctrl_group *before = resctrl_find(from, to->groups[i].path);
		struct report_resctrl r;

		if (!before)
			continue;
		resctrl_since(before, &to->groups[i], &r);
		to->groups[i].broken = before->broken || r.state == RESCTRL_BACKWARD;
	}
}

/* --- whose tasks are in it */

/* The cgroup of a task in the v2 tree, from "0::/path"; false without one. */
static bool cgroup_of(const char *proc, uint64_t tid, char *ret, size_t size)
{
	cleanup_fclose FILE *f = NULL;
	char path[300], line[4200];

	snprintf(path, sizeof(path), "%.200s/%llu/cgroup", proc, (unsigned long long)tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "0::", 3) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		return !str_copy(ret, size, line + 3);
	}
	return false;
}

/* Shorten @common to the deepest cgroup above both it and @other. */
static void meet(char *common, const char *other)
{
	size_t at = 0, slash = 0;

	for (; common[at] && common[at] == other[at]; at++)
		slash = common[at] == '/' ? at : slash;
	if (common[at] || other[at]) {
		if ((!common[at] && other[at] == '/') || (!other[at] && common[at] == '/'))
			slash = at;
		common[slash] = '\0';
	}
}

uint32_t resctrl_tasks(const char *root, const char *group, const char *proc, char *ret_cgroup,
		       size_t size)
{
	cleanup_fclose FILE *f = NULL;
	char path[4096], line[64];
	cleanup_free char *cgroup = malloc(size);
	uint32_t nr = 0;
	uint64_t tid;

	ret_cgroup[0] = '\0';
	snprintf(path, sizeof(path), "%.2000s/%.300s/tasks", root, group);
	f = fopen(path, "re");
	while (f && cgroup && nr < MAX_TASKS && next_line(f, line, sizeof(line)) > 0) {
		if (parse_u64(line, &tid) || !cgroup_of(proc, tid, cgroup, size))
			continue;
		if (!nr++)
			str_copy(ret_cgroup, size, cgroup);
		else
			meet(ret_cgroup, cgroup);
	}
	if (!strcmp(ret_cgroup, "/"))
		ret_cgroup[0] = '\0';
	return nr;
}
