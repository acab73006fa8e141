// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "live/lookup/live_resctrl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "platform/sys/sysfs.h"

int live_resctrl_begin(struct live_resctrl *l)
{
	return resctrl_read(l->root, &l->last) == -ENOMEM ? -ENOMEM : 0;
}

/* Threads in a cgroup and below it, one by one. */
static uint64_t threads_below(int folder)
{
	cleanup_close int list = openat(folder, "cgroup.threads", O_RDONLY | O_CLOEXEC);
	int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_closedir DIR *dir = again < 0 ? NULL : fdopendir(again);
	char part[4096];
	struct dirent *e;
	uint64_t nr = 0;
	ssize_t len;

	while (list >= 0 && (len = read(list, part, sizeof(part))) > 0)
		for (ssize_t i = 0; i < len; i++)
			nr += part[i] == '\n';
	while (dir && (e = readdir(dir))) {
		cleanup_close int below = -1;

		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		below = openat(folder, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (below >= 0)
			nr += threads_below(below);
	}
	return nr;
}

/*
 * Tasks below a cgroup; 0 when the kernel does not tell. Without the pids controller, as beside v1
 * hierarchies, they are counted one by one.
 */
static uint32_t tasks_below(const struct live_resctrl *l, const char *cgroup)
{
	char path[PATH_MAX], line[32];
	cleanup_close int folder = -1;
	uint64_t nr = 0;

	if (!l->cgroups[0] ||
	    snprintf(path, sizeof(path), "%s%s", l->cgroups, cgroup) >= (int)sizeof(path))
		return 0;
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return 0;
	if (read_line_at(folder, "pids.current", line, sizeof(line)) || parse_u64(line, &nr))
		nr = threads_below(folder);
	return nr > UINT32_MAX ? 0 : (uint32_t)nr;
}

/* The cgroup of a group's tasks; @cgroup has room for a path. */
static void find_tasks(const struct live_resctrl *l, const char *group, char *cgroup,
		       struct trace_resctrl *ret)
{
	char above[RESCTRL_PATH_LEN], *slash;

	ret->tasks = resctrl_tasks(l->root, group, l->proc, cgroup, RESCTRL_PATH_LEN);
	if (!cgroup[0])
		return;
	ret->cgroup = cgroup;
	ret->of_tasks = tasks_below(l, cgroup);
	if (ret->of_tasks != ret->tasks || str_copy(above, sizeof(above), cgroup))
		return;
	while ((slash = strrchr(above, '/')) && slash != above) {
		*slash = '\0';
		if (tasks_below(l, above) != ret->tasks)
			break;
		ret->above++;
	}
}

static int send_group(const struct live_resctrl *l, const struct resctrl_group *from,
		      const struct resctrl_group *to, const struct trace_sink *out)
{
	struct trace_resctrl t = { .start_ns = from ? from->read_ns : to->read_ns,
				   .end_ns = to->read_ns };
	char cgroup[RESCTRL_PATH_LEN];
	struct report_resctrl f;

	resctrl_since(from, to, &f);
	t.group = f.group;
	t.state = resctrl_state_name(f.state);
	t.bytes = f.state == RESCTRL_VALID ? f.bytes : 0;
	t.domains = f.domains;
	t.missing = f.missing;
	find_tasks(l, f.group, cgroup, &t);
	return trace_send_resctrl(out, &t);
}

int live_resctrl_send(struct live_resctrl *l, const struct trace_sink *out, uint64_t *bad)
{
	struct resctrl_reading now;
	int err = resctrl_read(l->root, &now);

	/* unmounted meanwhile, or for a while: a remounted one starts from scratch */
	if (err) {
		resctrl_free(&l->last);
		return err == -ENOMEM ? err : 0;
	}
	resctrl_follow(&l->last, &now);
	for (size_t i = 0; i < now.nr && !err; i++) {
		const struct resctrl_group *g = &now.groups[i];

		if (g->path[0])
			err = trace_taken(send_group(l, resctrl_find(&l->last, g->path), g, out),
					  bad);
	}
	resctrl_free(&l->last);
	l->last = now;
	return err;
}

void live_resctrl_free(struct live_resctrl *l)
{
	resctrl_free(&l->last);
}
