/* SPDX-License-Identifier: GPL-2.0-only */
/* Cgroups of the v2 hierarchy, for programs that are one file each. */
#ifndef MACHINE_CGROUP_H
#define MACHINE_CGROUP_H
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CGROUP_MOUNT "/sys/fs/cgroup"

/* As mkdir -p; what cannot be made shows when the group is joined. */
static void make_folders(char *path)
{
	char *slash = path;

	while ((slash = strchr(slash + 1, '/'))) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	mkdir(path, 0755);
}

/* Join a group, made if needed; below the mount if @group is relative. 0 or -1, errno */
static int cgroup_join(const char *group)
{
	char path[PATH_MAX], file[PATH_MAX + 16], pid[16];
	int fd, len, written;

	len = snprintf(path, sizeof(path), "%s%s", *group == '/' ? "" : CGROUP_MOUNT "/", group);
	if (len >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	make_folders(path);
	snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	fd = open(file, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	len = snprintf(pid, sizeof(pid), "%d", getpid());
	written = write(fd, pid, len);
	close(fd);
	return written == len ? 0 : -1;
}

/* This process' group, as a path below the mount, and its id: the folder's inode */
static int cgroup_of_self(char *ret_path, size_t size, unsigned long long *ret_id)
{
	char line[PATH_MAX], folder[PATH_MAX + sizeof(CGROUP_MOUNT)];
	struct stat st;
	FILE *f = fopen("/proc/self/cgroup", "re");

	if (!f)
		return -1;
	*ret_path = '\0';
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		/* others are of version 1 hierarchies */
		if (!strncmp(line, "0::", 3))
			snprintf(ret_path, size, "%s", line + 3);
	}
	fclose(f);
	snprintf(folder, sizeof(folder), CGROUP_MOUNT "%s", ret_path);
	if (stat(folder, &st))
		return -1;
	*ret_id = st.st_ino;
	return 0;
}

#endif
