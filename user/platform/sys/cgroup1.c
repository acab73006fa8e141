// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/sys/cgroup1.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/types.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "platform/sys/cgroup2.h"
#include "records.h"

/* The index in this list plus 1 is the number in ids: add at the end only, and no more than 15. */
static const char *const controllers[] = {
	"freezer", "cpuset",	 "memory",  "pids",	"devices", "cpu",  "cpuacct",
	"blkio",   "perf_event", "net_cls", "net_prio", "hugetlb", "rdma", "misc",
};
_Static_assert(ARRAY_SIZE(controllers) <= 15, "four bits of an id");

/* In the order of preference. */
static const char *const for_jobs[] = { "freezer", "cpuset" };
static const char *const for_services[] = { "memory", "pids", "devices", "cpu" };

uint32_t cgroup1_number(const char *controller)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(controllers); i++)
		if (!strcmp(controllers[i], controller))
			return i + 1;
	return 0;
}

bool cgroup1_is_wanted(const char *text)
{
	return !strcmp(text, "none") || !strcmp(text, "auto") || cgroup1_number(text);
}

uint64_t cgroup1_id(const struct cgroup1 *c, uint64_t kernel_id)
{
	return (uint64_t)c->number << LEDGER_V1_SHIFT | kernel_id;
}

int cgroup1_path(const struct cgroup1 *c, const char *path, char *ret, size_t size)
{
	return snprintf(ret, size, "%s:%s", c->controller, path) < (int)size ? 0 : -ENAMETOOLONG;
}

const char *cgroup1_below(const struct cgroup1 *c, const char *path)
{
	size_t n = strlen(c->controller);

	return n && !strncmp(path, c->controller, n) && path[n] == ':' && path[n + 1] == '/'
		       ? path + n + 1
		       : NULL;
}

/* @controller NULL: the v2 tree. */
static int find_mount(const char *mountinfo, const char *controller, char *ret_path, size_t size)
{
	cleanup_fclose FILE *f = fopen(mountinfo, "re");

	if (!f)
		return -errno;
	return controller ? cgroup1_mount_find(f, controller, ret_path, size)
			  : cgroup2_mount_find(f, ret_path, size);
}

/* Is there a cgroup below the root? */
static bool has_cgroups(const char *mount)
{
	DIR *folder = opendir(mount);
	const struct dirent *e;
	bool found = false;

	while (folder && !found && (e = readdir(folder)))
		found = e->d_type == DT_DIR && e->d_name[0] != '.';
	if (folder)
		closedir(folder);
	return found;
}

/* The first that has cgroups, else the first that is mounted; 0 or -ENOENT. */
static int first_of(const char *const *names, size_t nr, const char *mountinfo, struct cgroup1 *ret)
{
	char path[PATH_MAX];
	bool found = false;
	int err;

	for (size_t i = 0; i < nr; i++) {
		err = find_mount(mountinfo, names[i], path, sizeof(path));
		if (err == -ENOENT || (!err && found && !has_cgroups(path)))
			continue;
		if (err)
			return err;
		str_copy(ret->controller, sizeof(ret->controller), names[i]);
		str_copy(ret->mount, sizeof(ret->mount), path);
		ret->number = cgroup1_number(names[i]);
		if (has_cgroups(path))
			return 0;
		found = true;
	}
	return found ? 0 : -ENOENT;
}

static int choose_any(const char *mountinfo, struct cgroup1 *ret)
{
	char v2[PATH_MAX];
	int err = first_of(for_jobs, ARRAY_SIZE(for_jobs), mountinfo, ret);

	if (err == -ENOENT && (find_mount(mountinfo, NULL, v2, sizeof(v2)) || !has_cgroups(v2)))
		err = first_of(for_services, ARRAY_SIZE(for_services), mountinfo, ret);
	return err == -ENOENT ? 0 : err;
}

int cgroup1_choose(const char *wanted, const char *mountinfo, struct diag *d, struct cgroup1 *ret)
{
	int err;

	*ret = (struct cgroup1){ 0 };
	if (!strcmp(wanted, "none"))
		return 0;
	if (access(mountinfo, R_OK))
		return diag_fail(d, -errno, "cannot read %s: %s", mountinfo, strerror(errno));
	if (!strcmp(wanted, "auto")) {
		err = choose_any(mountinfo, ret);
	} else if (!cgroup1_number(wanted)) {
		diag_fail(d, -EINVAL, "--cgroup-v1 %s: no such controller", wanted);
		return diag_advise(d, -EINVAL,
				   "controllers are freezer, cpuset, memory and others of "
				   "/proc/cgroups; or auto, or none");
	} else {
		err = first_of(&wanted, 1, mountinfo, ret);
	}
	if (err == -ENOENT) {
		diag_fail(d, err, "--cgroup-v1 %s: this controller is not mounted as v1", wanted);
		diag_help(
			d,
			"\"grep cgroup /proc/self/mountinfo\" shows those that are; where all are "
			"in the v2 tree, leave the option out");
	} else if (err) {
		diag_fail(d, err, "cannot read %s: %s", mountinfo, strerror(-err));
	}
	return err;
}
