// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/array.h"
#include "base/bdf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "platform/devices/device_internal.h"

/* VLANs on bonds on VLANs: deeper ones are left out. */
#define MAX_LAYERS 4

void device_use_release(struct device_use *u)
{
	free(u->disks);
	free(u->interfaces);
	free(u->nodes);
	*u = (struct device_use){ 0 };
}

static int add_disk(struct device_use *u, const char *name)
{
	if (strlen(name) >= sizeof(u->disks[0]))
		return 0;
	if (array_reserve(u->disks, u->cap_disks, u->nr_disks))
		return -ENOMEM;
	/* all of it: uses are compared */
	memset(u->disks[u->nr_disks], 0, sizeof(u->disks[0]));
	str_copy(u->disks[u->nr_disks++], sizeof(u->disks[0]), name);
	return 0;
}

int device_use_add_node(struct device_use *u, dev_t node)
{
	size_t at = u->nr_nodes;

	while (at > 0 && u->nodes[at - 1] >= node)
		at--;
	if (at < u->nr_nodes && u->nodes[at] == node)
		return 0;
	if (array_reserve(u->nodes, u->cap_nodes, u->nr_nodes))
		return -ENOMEM;
	memmove(&u->nodes[at + 1], &u->nodes[at], (u->nr_nodes - at) * sizeof(*u->nodes));
	u->nodes[at] = node;
	u->nr_nodes++;
	return 0;
}

/* The use of the device with an address; NULL when it was not chosen. */
static struct device_use *use_of(const struct device_list *l, struct device_use *uses,
				 const char *bdf)
{
	for (size_t i = 0; i < l->nr; i++)
		if (!strcmp(l->topology->functions[l->items[i].function].bdf, bdf))
			return &uses[i];
	return NULL;
}

/* A namespace with several paths is a disk of each of its controllers. */
static int add_shared(const struct device_list *l, const struct sysfs *fs, const char *disk,
		      struct device_use *uses)
{
	bool *chosen = calloc(l->topology->nr + 1, sizeof(*chosen)), known;
	struct device_set set = { .topology = l->topology, .chosen = chosen };
	int err = chosen ? device_name_find(fs, disk, &set, &known) : -ENOMEM;

	for (size_t i = 0; i < l->nr && !err; i++)
		if (chosen[l->items[i].function])
			err = add_disk(&uses[i], disk);
	free(chosen);
	return err;
}

static int read_disks(const struct device_list *l, const struct sysfs *fs, struct device_use *uses)
{
	char target[PATH_MAX], bdf[MODEL_BDF_LEN];
	cleanup_texts struct text_list names = { 0 };
	int err = sysfs_list(fs, &names, "block");

	if (err)
		return err == -ENOMEM ? err : 0;
	for (size_t i = 0; i < names.nr && !err; i++) {
		struct device_use *u;

		if (sysfs_link(fs, target, "block/%s", names.items[i]))
			continue;
		u = bdf_of_path(target, bdf) ? use_of(l, uses, bdf) : NULL;
		if (u)
			err = add_disk(u, names.items[i]);
		else if (strstr(target, "nvme-subsystem/"))
			err = add_shared(l, fs, names.items[i], uses);
	}
	return err;
}

/*
 * The device that an interface is made of alone: its own one, or that of all below it, which are
 * then @ret_below it. -ENOENT when there is none, or several.
 */
static int interface_address(const struct sysfs *fs, const char *name, int layers, char *ret,
			     bool *ret_below)
{
	char target[PATH_MAX], below[MODEL_BDF_LEN];
	cleanup_texts struct text_list names = { 0 };
	bool any = false, deeper;
	int err;

	if (layers > MAX_LAYERS || sysfs_link(fs, target, "class/net/%s", name))
		return -ENOENT;
	*ret_below = !bdf_of_path(target, ret);
	if (!*ret_below)
		return 0;
	err = sysfs_list(fs, &names, "class/net/%s", name);
	if (err)
		return err == -ENOMEM ? err : -ENOENT;
	for (size_t i = 0; i < names.nr && !err; i++) {
		if (strncmp(names.items[i], "lower_", 6))
			continue;
		err = interface_address(fs, names.items[i] + 6, layers + 1, below, &deeper);
		if (!err && any && strcmp(below, ret))
			err = -ENOENT;
		if (!err)
			str_copy(ret, MODEL_BDF_LEN, below);
		any = true;
	}
	return err || any ? err : -ENOENT;
}

static int add_interface(const struct sysfs *fs, const char *name, bool stacked,
			 struct device_use *u)
{
	uint64_t index;

	/* it may be gone by now */
	if (sysfs_number(fs, &index, "class/net/%s/ifindex", name) || !index || index > INT32_MAX)
		return 0;
	if (array_reserve(u->interfaces, u->cap_interfaces, u->nr_interfaces))
		return -ENOMEM;
	u->interfaces[u->nr_interfaces++] = index | (stacked ? DEVICE_STACKED : 0);
	return 0;
}

static int read_interfaces(const struct device_list *l, const struct sysfs *fs,
			   struct device_use *uses)
{
	char bdf[MODEL_BDF_LEN];
	cleanup_texts struct text_list names = { 0 };
	int err = sysfs_list(fs, &names, "class/net");

	if (err)
		return err == -ENOMEM ? err : 0;
	for (size_t i = 0; i < names.nr && err != -ENOMEM; i++) {
		struct device_use *u;
		bool stacked;

		err = interface_address(fs, names.items[i], 0, bdf, &stacked);
		u = err ? NULL : use_of(l, uses, bdf);
		if (u)
			err = add_interface(fs, names.items[i], stacked, u);
	}
	return err == -ENOMEM ? err : 0;
}

/*
 * Nodes that let a program make the device move data; clocks and sensors do not. @behind
 * ends in class and name, or in a namespace of a controller.
 */
static bool is_direct(const char *behind)
{
	static const char *const classes[] = { "drm",  "accel",	   "infiniband_verbs",
					       "nvme", "vfio-dev", "uio" };
	const char *name = strrchr(behind, '/');
	const char *class = name ? memrchr(behind, '/', name - behind) : NULL;

	if (!class)
		return false;
	class ++;
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
		if ((size_t)(name - class) == strlen(classes[i]) &&
		    !strncmp(class, classes[i], name - class))
			return true;
	return !strncmp(name, "/ng", 3) && device_path_has(behind, "nvme");
}

/* A VFIO group is the node of all functions that are in it. */
static int add_group(const struct device_list *l, const struct sysfs *fs, const char *group,
		     dev_t node, struct device_use *uses)
{
	cleanup_texts struct text_list names = { 0 };
	int err;

	err = sysfs_list(fs, &names, "kernel/iommu_groups/%s/devices", group);
	if (err)
		return err == -ENOMEM ? err : 0;
	for (size_t i = 0; i < names.nr && !err; i++) {
		struct device_use *u = use_of(l, uses, names.items[i]);

		if (u)
			err = device_use_add_node(u, node);
	}
	return err;
}

static int read_node(const struct device_list *l, const struct sysfs *fs, const char *number,
		     struct device_use *uses)
{
	static const char groups[] = "virtual/vfio/";
	char target[PATH_MAX], bdf[MODEL_BDF_LEN];
	const char *at = number, *behind;
	struct device_use *u;
	int32_t major, minor;

	if (!take_number(&at, &major) || *at++ != ':' || !take_number(&at, &minor) || *at ||
	    sysfs_link(fs, target, "dev/char/%s", number))
		return 0;
	behind = bdf_of_path(target, bdf);
	if (behind) {
		u = use_of(l, uses, bdf);
		return u && is_direct(behind) ? device_use_add_node(u, makedev(major, minor)) : 0;
	}
	at = strstr(target, groups);
	if (at)
		return add_group(l, fs, at + strlen(groups), makedev(major, minor), uses);
	return 0;
}

/* The names in this directory are numbers of nodes; its links lead to the devices. */
static int read_nodes(const struct device_list *l, const struct sysfs *fs, struct device_use *uses)
{
	cleanup_texts struct text_list names = { 0 };
	int err = sysfs_list(fs, &names, "dev/char");

	if (err)
		return err == -ENOMEM ? err : 0;
	for (size_t i = 0; i < names.nr && !err; i++)
		err = read_node(l, fs, names.items[i], uses);
	return err;
}

int device_use_gpu(const struct sysfs *fs, const char *bdf, struct device_use *u)
{
	/* beside sysfs, so that a copy of both trees works as well */
	cleanup_fclose FILE *f = file_at(fs->fd, "../proc/driver/nvidia/gpus/%s/information", bdf);
	unsigned int minor;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Device Minor: %u", &minor) == 1)
			return device_use_add_node(u, makedev(DEVICE_NVIDIA_MAJOR, minor));
	return 0;
}

static int by_index(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return ORDER(x, y);
}

int device_uses_read(const struct device_list *l, const struct sysfs *fs, struct device_use *ret)
{
	int err = read_disks(l, fs, ret);

	if (!err)
		err = read_interfaces(l, fs, ret);
	if (!err)
		err = read_nodes(l, fs, ret);
	for (size_t i = 0; i < l->nr && !err; i++)
		if (ret[i].nr_interfaces)
			qsort(ret[i].interfaces, ret[i].nr_interfaces, sizeof(uint32_t), by_index);
	return err;
}
