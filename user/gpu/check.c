// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "gpu/check.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"

/* As much as a row of t410trace check holds */
#define FOUND_LEN 480

static const char *const drivers[] = { "nvidia", "amdgpu", "xe", "i915" };

static bool is_loaded(const char *sysfs, const char *driver)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/module/%s", sysfs, driver);
	return !access(path, F_OK);
}

static void check_drivers(const char *sysfs)
{
	char found[FOUND_LEN] = "", path[PATH_MAX], version[64];

	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++) {
		if (!is_loaded(sysfs, drivers[i]))
			continue;
		snprintf(path, sizeof(path), "%s/module/%s/version", sysfs, drivers[i]);
		version[0] = '\0';
		read_line_at(AT_FDCWD, path, version, sizeof(version));
		str_append(found, sizeof(found), "%s%s%s%s", found[0] ? ", " : "", drivers[i],
			   version[0] ? " " : "", version);
	}
	gpu_row("gpu_driver", found[0], found[0] ? "" : "load the driver of the GPU", "%s",
		found[0] ? found : "none is loaded (nvidia, amdgpu, xe, i915)");
}

/* A driver without its library: its GPUs are not seen. */
static void check_library(const char *sysfs)
{
	const char *why;
	void *library;

	if (!is_loaded(sysfs, "nvidia"))
		return;
	dlerror();
	library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	why = library ? "NVML cannot be used, or has no GPU" : dlerror();
	gpu_row("gpu_nvml", false,
		"libnvidia-ml.so.1 of the version of the driver must be where the dynamic linker "
		"looks: without it owners are those who have nodes open",
		"%.300s", why ? why : "");
	if (library)
		dlclose(library);
}

static void check_namespace(const struct processes *p)
{
	bool initial = processes_initial(p), hidden = processes_hidden(p);

	if (initial && hidden)
		gpu_row("gpu_pids", false, "this needs CAP_SYS_PTRACE: run as root",
			"/proc hides processes of others (hidepid): contexts are not known");
	else
		gpu_row("gpu_pids", initial,
			initial ? "" : "start it with the machine's pid namespace (--pid=host)",
			initial ? "numbers of processes are the machine's"
				: "this is a pid namespace of a container: contexts are not known");
}

static bool is_node(const char *link)
{
	return (!strncmp(link, "/dev/nvidia", 11) && isdigit((unsigned char)link[11])) ||
	       !strncmp(link, "/dev/dri/", 9);
}

/* 1, 0, or a negative errno where it cannot be seen. */
static int holds_node(const struct processes *p, const char *pid)
{
	cleanup_closedir DIR *files = NULL;
	struct dirent *entry;
	char path[32], link[64];
	ssize_t n;

	snprintf(path, sizeof(path), "%.16s/fd", pid);
	files = dir_at(p->proc, path);
	if (!files)
		return errno == EACCES || errno == EPERM ? -errno : 0;
	while ((entry = readdir(files))) {
		n = readlinkat(dirfd(files), entry->d_name, link, sizeof(link) - 1);
		link[n > 0 ? n : 0] = '\0';
		if (is_node(link))
			return 1;
	}
	return 0;
}

static void add_holder(const struct processes *p, const char *pid, char *found)
{
	char path[32], name[32] = "", cgroup[PATH_MAX] = "", *at;

	snprintf(path, sizeof(path), "%.16s/comm", pid);
	read_line_at(p->proc, path, name, sizeof(name));
	snprintf(path, sizeof(path), "%.16s/cgroup", pid);
	read_line_at(p->proc, path, cgroup, sizeof(cgroup));
	at = strstr(cgroup, "::");
	for (char *c = name; *c; c++)
		*c = iscntrl((unsigned char)*c) ? '?' : *c;
	str_append(found, FOUND_LEN, "%s%s %s (%.100s)", found[0] ? ", " : "", name, pid,
		   at ? at + 2 : cgroup);
}

static void check_holders(const struct processes *p, bool contexts)
{
	cleanup_closedir DIR *proc = dir_at(p->proc, ".");
	char found[FOUND_LEN] = "";
	size_t nr = 0, hidden = 0;
	struct dirent *entry;
	int held;

	while (proc && (entry = readdir(proc))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		held = holds_node(p, entry->d_name);
		hidden += held < 0;
		if (held > 0 && nr++ < 4)
			add_holder(p, entry->d_name, found);
	}
	if (nr > 4)
		str_append(found, sizeof(found), " and %zu more", nr - 4);
	if (!nr)
		str_append(found, sizeof(found), "no process has a GPU's node open");
	if (hidden)
		str_append(found, sizeof(found), "; %zu processes cannot be seen", hidden);
	gpu_row("gpu_holders", !hidden && (contexts || nr < 2),
		hidden		      ? "this needs CAP_SYS_PTRACE: run as root"
		: !contexts && nr > 1 ? "a monitor among them hides the owner: --ignore-holder "
					"CGROUP leaves its cgroup out"
				      : "",
		"%s", found);
}

void check_all(const struct processes *p, const char *sysfs, const struct nvml *n,
	       const struct fdinfo *f)
{
	check_drivers(sysfs);
	if (n)
		nvml_check(n);
	else
		check_library(sysfs);
	check_namespace(p);
	check_holders(p, n || f);
}
