// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Identity of a process and its resources, for all files that look for owners of devices. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "platform/devices/owner_internal.h"

bool owner_is_gone(int err)
{
	return err == -ENOENT || err == -ESRCH;
}

int owner_link(const struct owners *o, const char *pid, const char *name, char *ret, size_t size)
{
	char path[128];
	ssize_t length;

	snprintf(path, sizeof(path), "%s/%s", pid, name);
	length = readlinkat(o->proc, path, ret, size);
	if (length < 0)
		return -errno;
	if ((size_t)length >= size)
		return -ENAMETOOLONG;
	ret[length] = '\0';
	return 0;
}

int owner_add_node(struct owners *o, dev_t dev, uint32_t item, bool block)
{
	if (array_reserve(o->nodes, o->cap_nodes, o->nr_nodes))
		return -ENOMEM;
	o->nodes[o->nr_nodes++] = (struct owner_node){ dev, item, block };
	return 0;
}

/* Number of the folder of a cgroup, 0 when it cannot be had. */
static uint64_t folder_id(const char *mount, const char *path)
{
	char folder[PATH_MAX];
	struct stat st;

	/* "/.." is outside of our cgroup namespace */
	if (!mount[0] || !strncmp(path, "/..", 3) ||
	    snprintf(folder, sizeof(folder), "%s%s", mount, path) >= (int)sizeof(folder) ||
	    stat(folder, &st))
		return 0;
	return st.st_ino;
}

/*
 * The path in a line of /proc/PID/cgroup, "6:freezer:/slurm" or "0::/", if the line is of the v1
 * hierarchy @controller or, for "", of the v2 tree; otherwise NULL.
 */
static const char *path_in(char *line, const char *controller)
{
	char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
	const char *at;
	size_t n = strlen(controller);

	if (!path || path[1] != '/')
		return NULL;
	if (!n)
		return path == names + 1 ? path + 1 : NULL;
	for (at = names + 1; at < path; at += strcspn(at, ",:") + 1)
		if (!strncmp(at, controller, n) && (at[n] == ',' || at[n] == ':'))
			return path + 1;
	return NULL;
}

/* The cgroup of a process, 0 when it is not known; or an error when the process is gone. */
static int cgroup_of(const struct owners *o, const char *pid, uint64_t *ret)
{
	cleanup_fclose FILE *f = file_at(o->proc, "%s/cgroup", pid);
	char line[PATH_MAX];
	const char *in;
	uint64_t id;

	if (!f)
		return -errno;
	*ret = 0;
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		in = o->v1.number ? path_in(line, o->v1.controller) : NULL;
		if (in && in[1]) {
			/* not at the root: this is its cgroup, known or not */
			id = folder_id(o->v1.mount, in);
			*ret = id ? cgroup1_id(&o->v1, id) : 0;
			return 0;
		}
		in = path_in(line, "");
		if (in)
			*ret = folder_id(o->cgroup_mount, in);
	}
	return ferror(f) ? -ESRCH : 0;
}

static bool is_below(const char *path, const char *cgroup)
{
	size_t n;

	cgroup += strspn(cgroup, "/");
	n = strlen(cgroup);
	while (n && cgroup[n - 1] == '/')
		n--;
	path += strspn(path, "/");
	return n && !strncmp(path, cgroup, n) && (!path[n] || path[n] == '/');
}

/* Is it in a cgroup that is left out? One that is gone, or cannot be read, is for cgroup_of(). */
static bool is_ignored(const struct owners *o, const char *pid)
{
	cleanup_fclose FILE *f = NULL;
	char line[PATH_MAX];
	const char *in;
	bool found = false;

	if (!o->ignored || !o->ignored->nr)
		return false;
	f = file_at(o->proc, "%s/cgroup", pid);
	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		in = path_in(line, "");
		for (size_t i = 0; in && i < o->ignored->nr && !found; i++)
			found = is_below(in, o->ignored->items[i]);
	}
	return found;
}

/* When it began, to a tick: the kernel tells no more. */
static int start_of(const struct owners *o, const char *pid, uint64_t *ret)
{
	char path[64], line[1024];
	const char *at;
	uint64_t ticks = 0, hz = sysconf(_SC_CLK_TCK), since_boot;
	int64_t slept;
	int err;

	snprintf(path, sizeof(path), "%s/stat", pid);
	err = read_line_at(o->proc, path, line, sizeof(line));
	if (err)
		return err;
	/* the name may have blanks and parentheses; field 22 is the 20th behind it */
	at = strrchr(line, ')');
	for (int i = 0; at && i < 20; i++)
		at = strchr(at + 1, ' ');
	if (!at || sscanf(at, " %lu", &ticks) != 1 || !hz)
		return -ESRCH;
	slept = clock_ahead_ns(CLOCK_BOOTTIME);
	since_boot = ticks / hz * 1000000000u + ticks % hz * (1000000000u / hz);
	*ret = slept < 0 || since_boot < (uint64_t)slept ? 0 : since_boot - slept;
	return 0;
}

int owner_hold(struct owners *o, uint32_t item, const char *pid, bool whole_cgroup)
{
	struct owner_state *s = &o->states[item];
	struct owner new = { .item = item };
	int err;

	if (is_ignored(o, pid))
		return 0;
	err = cgroup_of(o, pid, &new.cgroup_id);
	if (!err && !whole_cgroup) {
		new.pid = strtoul(pid, NULL, 10);
		err = start_of(o, pid, &new.start_ns);
	}
	/* It had the device open and is gone: so are its descriptors. */
	if (err)
		return owner_is_gone(err) ? 0 : err;
	s->shared |= !new.cgroup_id || (s->held && s->cgroup_id != new.cgroup_id);
	s->held = true;
	s->cgroup_id = new.cgroup_id;
	for (size_t i = 0; i < o->nr; i++)
		if (o->found[i].item == item && o->found[i].pid == new.pid)
			return 0;
	if (array_reserve(o->found, o->cap, o->nr))
		return -ENOMEM;
	o->found[o->nr++] = new;
	return 0;
}
