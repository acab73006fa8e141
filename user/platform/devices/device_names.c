// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bdf.h"
#include "base/text.h"
#include "platform/devices/device_internal.h"
#include "base/spelling.h"

/* RAID on device-mapper on partitions: more than this many layers have a loop. */
#define MAX_LAYERS 16

void device_set_add(struct device_set *s, const char *bdf)
{
	for (size_t i = 0; i < s->topology->nr; i++) {
		if (strcmp(s->topology->functions[i].bdf, bdf))
			continue;
		s->chosen[i] = true;
		s->nr++;
		return;
	}
	str_copy(s->missing, sizeof(s->missing), bdf);
}

bool device_path_has(const char *path, const char *part)
{
	size_t want = strlen(part);

	while (*path) {
		size_t length = strcspn(path, "/");

		if (length == want && !strncmp(path, part, length))
			return true;
		path += length + (path[length] == '/');
	}
	return false;
}

/* Things of a class: interfaces, controllers, RDMA devices. */
static bool add_link(const struct sysfs *fs, const char *dir, const char *name,
		     struct device_set *set)
{
	char target[PATH_MAX], bdf[MODEL_BDF_LEN];

	if (sysfs_link(fs, target, "%s/%s", dir, name))
		return false;
	if (bdf_of_path(target, bdf))
		device_set_add(set, bdf);
	return true;
}

/* "nvme0", not "nvme0n1" */
static bool is_controller(const char *name)
{
	return !strncmp(name, "nvme", 4) && name[4] && !name[4 + strspn(name + 4, "0123456789")];
}

/* A namespace with several paths: those of all controllers of its subsystem. */
static int add_subsystem(const struct sysfs *fs, const char *target, struct device_set *set)
{
	const char *at = strstr(target, "nvme-subsystem/") + strlen("nvme-subsystem/");
	cleanup_texts struct text_list names = { 0 };
	int err;

	err = sysfs_list(fs, &names, "class/nvme-subsystem/%.*s", (int)strcspn(at, "/"), at);
	if (err)
		return err == -ENOMEM ? err : 0;
	for (size_t i = 0; i < names.nr; i++)
		if (is_controller(names.items[i]))
			add_link(fs, "class/nvme", names.items[i], set);
	return 0;
}

static int add_disk(const struct sysfs *fs, const char *name, int layers, struct device_set *set,
		    bool *ret_known);

/* The disks below a RAID or device-mapper disk. */
static int add_slaves(const struct sysfs *fs, const char *name, int layers, struct device_set *set)
{
	cleanup_texts struct text_list names = { 0 };
	bool known;
	int err;

	err = sysfs_list(fs, &names, "class/block/%s/slaves", name);
	if (err)
		return err == -ENOMEM ? err : 0;
	for (size_t i = 0; i < names.nr && !err; i++)
		err = add_disk(fs, names.items[i], layers + 1, set, &known);
	return err;
}

/* Cut "…/md0/md0p1" to "md0". */
static const char *parent_of(char *target)
{
	char *at = strrchr(target, '/');

	if (at)
		*at = '\0';
	at = strrchr(target, '/');
	return at ? at + 1 : target;
}

static int add_disk(const struct sysfs *fs, const char *name, int layers, struct device_set *set,
		    bool *ret_known)
{
	char target[PATH_MAX], bdf[MODEL_BDF_LEN];

	if (layers > MAX_LAYERS || sysfs_link(fs, target, "class/block/%s", name))
		return 0;
	*ret_known = true;
	if (bdf_of_path(target, bdf)) {
		device_set_add(set, bdf);
		return 0;
	}
	if (strstr(target, "nvme-subsystem/"))
		return add_subsystem(fs, target, set);
	if (sysfs_exists(fs, "class/block/%s/partition", name))
		return add_disk(fs, parent_of(target), layers + 1, set, ret_known);
	return add_slaves(fs, name, layers, set);
}

static int add_interface(const struct sysfs *fs, const char *name, int layers,
			 struct device_set *set, bool *ret_known)
{
	char target[PATH_MAX], bdf[MODEL_BDF_LEN];
	cleanup_texts struct text_list names = { 0 };
	bool known;
	int err;

	if (layers > MAX_LAYERS || sysfs_link(fs, target, "class/net/%s", name))
		return 0;
	*ret_known = true;
	if (bdf_of_path(target, bdf)) {
		device_set_add(set, bdf);
		return 0;
	}
	/* bonds, VLANs, bridges */
	err = sysfs_list(fs, &names, "class/net/%s", name);
	if (err)
		return err == -ENOMEM ? err : 0;
	for (size_t i = 0; i < names.nr && !err; i++)
		if (!strncmp(names.items[i], "lower_", 6))
			err = add_interface(fs, names.items[i] + 6, layers + 1, set, &known);
	return err;
}

/* The disk with this device-mapper name. */
static int add_mapped(const struct sysfs *fs, const char *name, struct device_set *set,
		      bool *ret_known)
{
	char line[256];
	cleanup_texts struct text_list names = { 0 };
	int err = sysfs_list(fs, &names, "class/block");

	if (err)
		return err == -ENOMEM ? err : 0;
	for (size_t i = 0; i < names.nr && !err; i++) {
		if (strncmp(names.items[i], "dm-", 3))
			continue;
		if (!sysfs_read(fs, line, sizeof(line), "class/block/%s/dm/name", names.items[i]) &&
		    !strcmp(line, name))
			err = add_disk(fs, names.items[i], 0, set, ret_known);
	}
	return err;
}

static const char *const classes[] = { "class/infiniband", "class/nvme", "class/drm",
				       "class/accel" };

int device_name_find(const struct sysfs *fs, const char *name, struct device_set *set,
		     bool *ret_known)
{
	int err;

	*ret_known = false;
	if (!name[0] || name[0] == '.' || strchr(name, '/'))
		return 0;
	err = add_disk(fs, name, 0, set, ret_known);
	if (!err && !*ret_known)
		err = add_interface(fs, name, 0, set, ret_known);
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]) && !*ret_known && !err; i++)
		*ret_known = add_link(fs, classes[i], name, set);
	return err || *ret_known ? err : add_mapped(fs, name, set, ret_known);
}

void device_name_help(const struct sysfs *fs, const char *name, char *ret, size_t size)
{
	static const char *const dirs[] = { "block", "class/net", "class/infiniband",
					    "class/nvme" };
	struct spelling s = { .word = name };
	char target[PATH_MAX], bdf[MODEL_BDF_LEN];

	for (size_t d = 0; d < sizeof(dirs) / sizeof(dirs[0]); d++) {
		cleanup_texts struct text_list names = { 0 };

		if (sysfs_list(fs, &names, "%s", dirs[d]))
			continue;
		for (size_t i = 0; i < names.nr; i++) {
			/* disks made of other disks are found by their own name only */
			if (!sysfs_link(fs, target, "%s/%s", dirs[d], names.items[i]) &&
			    bdf_of_path(target, bdf))
				spelling_add(&s, names.items[i]);
		}
	}
	if (s.nr)
		spelling_help(&s,
			      "PCI addresses, \"gpu\", \"all\", and these names stand for devices:",
			      ret, size);
	else
		snprintf(ret, size,
			 "no disk and no network interface here is a PCI device; \"t410trace "
			 "topology\" shows the PCI devices that there are");
	spelling_free(&s);
}
