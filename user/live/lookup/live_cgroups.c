// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/lookup/live_cgroups.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "platform/sys/cgroup2.h"
#include "platform/sys/cgroups.h"

/* If reading the trees does not help: first pause, doubled after each time, and its maximum. */
#define FIRST_PAUSE_NS NS_PER_S
#define MAX_PAUSE_NS   (60 * NS_PER_S)
/* After this long without missing names, the next missing one starts again with the first pause. */
#define QUIET_NS       MAX_PAUSE_NS
/* Reading helps here, but thousands of long paths must not make us read all the time. */
#define CUT_PAUSE_NS   (10 * NS_PER_S)
/* Known cgroups are checked this often, whether records were lost or not. */
#define LOOK_NS	       (60 * NS_PER_S)

/* Users who did not request v1 are not told about its problems. */
static int choose_v1(const struct run_options *args, struct diag *d, struct cgroup1 *ret)
{
	const char *wanted = args->cgroup_v1 ? args->cgroup_v1 : "auto";
	int err = cgroup1_choose(wanted, "/proc/self/mountinfo", d, ret);

	if (!err || args->cgroup_v1)
		return err;
	d->what[0] = d->help[0] = '\0';
	*ret = (struct cgroup1){ 0 };
	return 0;
}

/* Forget a mount that has no root. */
static bool drop_branch(char *mount)
{
	bool branch = mount[0] && !cgroup_mount_is_whole(mount);

	if (branch)
		mount[0] = '\0';
	return branch;
}

static void drop_branches(struct live_cgroups *c)
{
	char v2[PATH_MAX], v1[PATH_MAX];
	bool branch, branch1;

	memcpy(v2, c->mount, sizeof(v2));
	memcpy(v1, c->v1.mount, sizeof(v1));
	branch = drop_branch(c->mount);
	branch1 = drop_branch(c->v1.mount);
	if (branch || branch1)
		snprintf(c->note, sizeof(c->note),
			 "only a branch of the cgroup tree is mounted (%.100s): cgroups and jobs "
			 "from before this run have no names, nor has a job its name and user; %s",
			 branch ? v2 : v1, cgroups_whole_help);
}

int live_cgroups_open(const struct run_options *args, struct diag *d, struct live_cgroups *ret)
{
	char path[PATH_MAX];
	int err;

	*ret = (struct live_cgroups){ 0 };
	err = choose_v1(args, d, &ret->v1);
	if (err)
		return err;
	err = cgroups_mount(d, ret->mount, sizeof(ret->mount));
	/* Processes can be followed without the v2 tree, and v1 cgroups do not need it, either. */
	if (err && !ret->v1.number &&
	    (args->cgroups.nr || args->jobs.nr || args->by == ROW_CGROUP || args->by == ROW_JOB))
		return err;
	d->what[0] = d->help[0] = '\0';
	drop_branches(ret);
	ret->selected = calloc(args->cgroups.nr + 1, sizeof(*ret->selected));
	if (!ret->selected)
		return diag_no_memory(d);
	for (size_t i = 0; i < args->cgroups.nr; i++) {
		err = cgroups_resolve(ret->mount, &ret->v1, args->cgroups.items[i], d, path,
				      sizeof(path));
		if (err)
			return err;
		ret->selected[i] = strdup(path);
		if (!ret->selected[i])
			return diag_no_memory(d);
		ret->nr_selected++;
	}
	return 0;
}

void live_cgroups_release(struct live_cgroups *c)
{
	for (size_t i = 0; i < c->nr_selected; i++)
		free(c->selected[i]);
	free(c->selected);
	c->selected = NULL;
	c->nr_selected = 0;
}

/* A walk through one of the trees. */
struct walk {
	const struct trace_sink *out;
	const struct cgroup1 *v1; /* NULL: the v2 tree */
	int err;		  /* of @out */
};

static int on_folder(void *arg, uint64_t id, const char *path)
{
	struct walk *w = arg;
	char text[PATH_MAX];

	if (w->v1) {
		if (cgroup1_path(w->v1, path, text, sizeof(text)))
			return 0;
		path = text;
		id = cgroup1_id(w->v1, id);
	}
	w->err = trace_send_cgroup(w->out, id, path);
	return w->err;
}

int live_cgroups_walk(const struct live_cgroups *c, const struct trace_sink *out)
{
	struct walk w = { .out = out };

	if (c->mount[0])
		cgroups_walk(c->mount, on_folder, &w);
	if (!w.err && c->v1.mount[0]) {
		w.v1 = &c->v1;
		cgroups_walk(c->v1.mount, on_folder, &w);
	}
	return w.err;
}

/* Is there a name to find, and was the last reading long enough ago? */
static bool walk_due(const struct live_cgroups *c, const struct live_cgroups_news *news,
		     uint64_t now_ns)
{
	uint64_t since_ns = now_ns - c->walk_ns;

	return news->lost || (c->cut && (!c->walk_ns || since_ns >= CUT_PAUSE_NS)) ||
	       (c->unknown && since_ns >= c->pause_ns);
}

int live_cgroups_find(struct live_cgroups *c, const struct live_cgroups_news *news, uint64_t now_ns,
		      const struct trace_sink *out)
{
	if (news->unknown && now_ns - c->unknown_ns >= QUIET_NS)
		c->pause_ns = 0;
	if (news->unknown)
		c->unknown_ns = now_ns;
	c->unknown |= news->unknown;
	c->cut |= news->cut;
	if (!walk_due(c, news, now_ns))
		return 0;
	if (c->unknown)
		c->pause_ns = c->pause_ns ? c->pause_ns * 2 : FIRST_PAUSE_NS;
	if (c->pause_ns > MAX_PAUSE_NS)
		c->pause_ns = MAX_PAUSE_NS;
	c->unknown = c->cut = false;
	c->walk_ns = now_ns;
	return live_cgroups_walk(c, out);
}

int live_cgroups_folder(const struct live_cgroups *c, const char *path, char *ret, size_t size)
{
	const char *below = cgroup1_below(&c->v1, path);
	const char *mount = below ? c->v1.mount : c->mount;

	if (!below && path[0] == '/')
		below = path;
	if (!below || !mount[0])
		return -ENOENT;
	return snprintf(ret, size, "%s%s", mount, below) < (int)size ? 0 : -ENAMETOOLONG;
}

bool live_cgroups_look(struct live_cgroups *c, bool lost, uint64_t now_ns)
{
	bool look = lost || (c->look_ns && now_ns >= c->look_ns);

	if (look || !c->look_ns)
		c->look_ns = now_ns + LOOK_NS;
	return look;
}

/* Every tree has this file in its root. */
static bool is_mounted(const char *mount)
{
	char file[PATH_MAX];

	return snprintf(file, sizeof(file), "%s/cgroup.procs", mount) < (int)sizeof(file) &&
	       !access(file, F_OK);
}

bool live_cgroups_gone(const struct live_cgroups *c, uint64_t id, const char *path)
{
	char folder[PATH_MAX];
	struct stat st;

	bool v1 = cgroup1_below(&c->v1, path);

	if (live_cgroups_folder(c, path, folder, sizeof(folder)))
		return false;
	if (stat(folder, &st)) {
		if (errno != ENOENT)
			return false;
	} else if ((v1 ? cgroup1_id(&c->v1, st.st_ino) : st.st_ino) == id) {
		return false;
	}
	/* If its tree is not mounted, the root's folder exists, but is a different one. */
	return is_mounted(v1 ? c->v1.mount : c->mount);
}
