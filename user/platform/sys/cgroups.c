// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/sys/cgroups.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <linux/magic.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "platform/sys/cgroup2.h"

const char cgroups_whole_help[] = "run in the cgroup namespace of the host (docker, podman: "
				  "--cgroupns=host), or mount its /sys/fs/cgroup";

int cgroups_mount(struct diag *d, char *ret_path, size_t size)
{
	cleanup_fclose FILE *f = fopen("/proc/self/mountinfo", "re");
	int err = f ? cgroup2_mount_find(f, ret_path, size) : -errno;

	if (err == -ENOENT) {
		diag_fail(d, err, "the cgroup v2 tree is not mounted");
		diag_help(d,
			  "mount it: mount -t cgroup2 cgroup2 /sys/fs/cgroup (with v1 controllers "
			  "in use: /sys/fs/cgroup/unified)");
	} else if (err) {
		diag_error(d, err, "cannot read /proc/self/mountinfo");
	}
	return err;
}

int cgroups_walk(const char *mount, int (*fn)(void *arg, uint64_t id, const char *path), void *arg)
{
	char *roots[] = { (char *)mount, NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	size_t skip = strlen(mount);
	FTSENT *e;
	int err = 0;

	if (!tree)
		return -errno;
	while (!err && (e = fts_read(tree))) {
		/* Only folders matter; on a 64-bit kernel the inode number is the id. */
		if (e->fts_info == FTS_D)
			err = fn(arg, e->fts_statp->st_ino,
				 e->fts_level ? e->fts_path + skip : "/");
		else if (e->fts_level == 0 && e->fts_info != FTS_DP)
			err = e->fts_errno ? -e->fts_errno : -ENOTDIR;
	}
	fts_close(tree);
	return err;
}

/* The real folder, if it is below @mount of a cgroup file system. */
static int below_mount(const char *mount, long magic, const char *folder, char *ret_path,
		       size_t size)
{
	char real[PATH_MAX];
	struct statfs fs;
	struct stat st;
	size_t n = strlen(mount);

	if (!realpath(folder, real) || stat(real, &st) || statfs(real, &fs))
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if (fs.f_type != magic || strncmp(real, mount, n) || (real[n] && real[n] != '/'))
		return -EINVAL;
	return str_copy(ret_path, size, real[n] ? real + n : "/");
}

/* @text: a folder below @mount, or its part behind @mount. */
static int resolve(const char *mount, long magic, const char *text, char *ret_path, size_t size)
{
	char folder[PATH_MAX];
	int err = -ENOENT;

	if (text[0] == '/')
		err = below_mount(mount, magic, text, ret_path, size);
	if (!err)
		return 0;
	if (snprintf(folder, sizeof(folder), "%s/%s", mount, text) >= (int)sizeof(folder))
		return -ENAMETOOLONG;
	return below_mount(mount, magic, folder, ret_path, size);
}

/* "freezer:/slurm": the controller's name; "" for a path of the v2 tree. */
static void controller_of(const char *text, char *ret, size_t size)
{
	size_t n = strcspn(text, ":");

	ret[0] = '\0';
	if (text[n] != ':' || n >= size)
		return;
	memcpy(ret, text, n);
	ret[n] = '\0';
	if (!cgroup1_number(ret))
		ret[0] = '\0';
}

static int not_whole(const char *text, struct diag *d)
{
	diag_fail(d, -ENOENT, "-G %s: the root of its cgroup tree is not mounted here", text);
	return diag_advise(d, -ENOENT, "%s", cgroups_whole_help);
}

static int resolve_v1(const struct cgroup1 *v1, const char *controller, const char *text,
		      struct diag *d, char *ret_path, size_t size)
{
	char path[PATH_MAX];
	int err;

	if (strcmp(controller, v1->controller) != 0) {
		diag_fail(d, -EINVAL, "-G %s: cgroups of %s are not looked at", text, controller);
		return diag_advise(d, -EINVAL, "choose them with --cgroup-v1 %s", controller);
	}
	if (!v1->mount[0])
		return not_whole(text, d);
	err = resolve(v1->mount, CGROUP_SUPER_MAGIC, text + strlen(controller) + 1, path,
		      sizeof(path));
	if (!err)
		return cgroup1_path(v1, path, ret_path, size);
	diag_fail(d, err, "-G %s: %s", text, err == -ENOENT ? "no such cgroup" : strerror(-err));
	return diag_advise(d, err, "give a path below %s after \"%s:\"", v1->mount, controller);
}

int cgroups_resolve(const char *mount, const struct cgroup1 *v1, const char *text, struct diag *d,
		    char *ret_path, size_t size)
{
	char controller[CGROUP1_NAME_LEN];
	int err;

	if (!text[0])
		return diag_fail(d, -EINVAL, "-G: an empty cgroup name");
	controller_of(text, controller, sizeof(controller));
	if (controller[0])
		return resolve_v1(v1, controller, text, d, ret_path, size);
	if (!mount[0])
		return not_whole(text, d);
	err = resolve(mount, CGROUP2_SUPER_MAGIC, text, ret_path, size);
	if (!err)
		return 0;
	if (err == -ENAMETOOLONG)
		return diag_fail(d, err, "-G %.64s...: too long", text);
	diag_fail(d, err, "-G %s: %s", text,
		  err == -ENOENT   ? "no such cgroup"
		  : err == -EINVAL ? "not a cgroup of the v2 tree"
				   : strerror(-err));
	if (v1->number)
		diag_help(d, "give a path below %s, or one of v1 as \"%s:/PATH\"", mount,
			  v1->controller);
	else
		diag_help(d, "give a path below %s, or one as in /proc/PID/cgroup after \"0::\"",
			  mount);
	return err;
}
