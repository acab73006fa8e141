// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Does the kernel itself use a device? Its requests to disks and interfaces are noted one by one,
 * with the process that caused them; such a device has no exclusive owner.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "platform/devices/owner_internal.h"
#include "platform/sys/sysfs.h"

/* sysfs stands beside proc, in copies of both as well. */
#define SYS "../sys/"

/* "nvme0c0n1": a path to a namespace, which cannot be opened or mounted. */
static bool is_hidden(const char *disk)
{
	const char *c = strchr(disk, 'c');

	return !strncmp(disk, "nvme", 4) && c && strchr(c, 'n');
}

/* Is it the disk or a partition of it: "nvme0n1", "nvme0n1p2", "sda", "sda1"? */
static bool is_of_disk(const char *name, const char *disk)
{
	size_t length = strlen(disk);
	const char *rest = name + length;

	if (!length || strncmp(name, disk, length))
		return false;
	if (!*rest)
		return true;
	if (isdigit((unsigned char)disk[length - 1]) && *rest++ != 'p')
		return false;
	return *rest && !rest[strspn(rest, "0123456789")];
}

static void mark_named(struct owners *o, const char *name)
{
	for (size_t i = 0; i < o->l->nr; i++)
		for (size_t k = 0; k < o->l->items[i].nr_disks; k++)
			if (is_of_disk(name, o->l->items[i].disks[k]))
				o->states[i].used = true;
}

/* A disk or partition: its number, and whether RAID or device-mapper stand on it. */
static int add_block(struct owners *o, const struct sysfs *fs, const char *folder, uint32_t item,
		     bool must)
{
	cleanup_texts struct text_list holders = { 0 };
	char line[32];
	unsigned int major, minor;
	int err;

	err = sysfs_list(fs, &holders, "%s/holders", folder);
	if (err == -ENOMEM)
		return err;
	if (!err) {
		o->states[item].used |= holders.nr;
	}
	if (sysfs_read(fs, line, sizeof(line), "%s/dev", folder) ||
	    sscanf(line, "%u:%u", &major, &minor) != 2) {
		o->states[item].used |= must;
		return 0;
	}
	return owner_add_node(o, makedev(major, minor), item, true);
}

static int add_disk(struct owners *o, const struct sysfs *fs, const char *disk, uint32_t item)
{
	char folder[64], part[PATH_MAX];
	cleanup_texts struct text_list names = { 0 };
	int err;

	if (is_hidden(disk))
		return 0;
	snprintf(folder, sizeof(folder), SYS "class/block/%s", disk);
	err = add_block(o, fs, folder, item, true);
	if (err || sysfs_list(fs, &names, "%s", folder))
		return err;
	for (size_t i = 0; i < names.nr && !err; i++) {
		if (strcmp(names.items[i], disk) && !is_of_disk(names.items[i], disk))
			continue;
		snprintf(part, sizeof(part), "%s/%s", folder, names.items[i]);
		err = add_block(o, fs, part, item, true);
	}
	return err;
}

static void read_swaps(struct owners *o)
{
	cleanup_fclose FILE *f = file_at(o->proc, "swaps");
	char line[PATH_MAX + 128];

	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, " \t\n")] = '\0';
		if (!strncmp(line, "/dev/", 5))
			mark_named(o, strrchr(line, '/') + 1);
	}
}

/* An interface in our own namespace that is up is used by the kernel. */
static int read_interfaces(struct owners *o, const struct sysfs *fs)
{
	cleanup_texts struct text_list names = { 0 };
	uint64_t index, flags;
	int err = sysfs_list(fs, &names, SYS "class/net");

	for (size_t i = 0; i < o->l->nr && err; i++)
		o->states[i].used |= o->l->items[i].nr_interfaces;
	if (err)
		return err == -ENOMEM ? err : 0;
	for (size_t n = 0; n < names.nr; n++) {
		if (sysfs_number(fs, &index, SYS "class/net/%s/ifindex", names.items[n]))
			continue;
		if (sysfs_number(fs, &flags, SYS "class/net/%s/flags", names.items[n]))
			flags = IFF_UP;
		for (size_t i = 0; i < o->l->nr && flags & IFF_UP; i++)
			for (size_t k = 0; k < o->l->items[i].nr_interfaces; k++)
				if ((o->l->items[i].interfaces[k] & ~DEVICE_STACKED) == index)
					o->states[i].used = true;
	}
	return 0;
}

int owner_kernel_start(struct owners *o)
{
	const struct sysfs fs = { .fd = o->proc };
	int err = read_interfaces(o, &fs);

	for (size_t i = 0; i < o->l->nr && !err; i++)
		for (size_t k = 0; o->states[i].by_nodes && k < o->l->items[i].nr_disks && !err;
		     k++)
			err = add_disk(o, &fs, o->l->items[i].disks[k], i);
	if (!err && o->any_disks)
		read_swaps(o);
	return err;
}

/* "25 1 259:2 / /mnt rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw" */
static void take_mount(struct owners *o, char *line)
{
	unsigned int major, minor;
	char *source = strstr(line, " - ");

	if (sscanf(line, "%*d %*d %u:%u", &major, &minor) == 2)
		for (size_t i = 0; i < o->nr_nodes; i++)
			if (o->nodes[i].block && o->nodes[i].dev == makedev(major, minor))
				o->states[o->nodes[i].item].used = true;
	/* some file systems have a number of their own */
	source = source ? strchr(source + 3, ' ') : NULL;
	if (!source || strncmp(++source, "/dev/", 5))
		return;
	source[strcspn(source, " \n")] = '\0';
	mark_named(o, strrchr(source, '/') + 1);
}

int owner_kernel_process(struct owners *o, const char *pid)
{
	cleanup_fclose FILE *f = NULL;
	cleanup_free char *line = NULL;
	char link[64];
	size_t room = 0;
	int err = owner_link(o, pid, "ns/mnt", link, sizeof(link));

	if (err)
		return owner_is_gone(err) ? 0 : err;
	for (size_t i = 0; i < o->nr_mounts; i++)
		if (!strcmp(o->mounts[i].link, link))
			return 0;
	f = file_at(o->proc, "%s/mountinfo", pid);
	if (!f)
		return owner_is_gone(-errno) || errno == EINVAL ? 0 : -errno;
	while (getline(&line, &room, f) >= 0)
		take_mount(o, line);
	/* the list of one that ended meanwhile may be incomplete */
	if (ferror(f))
		return 0;
	if (array_reserve(o->mounts, o->cap_mounts, o->nr_mounts))
		return -ENOMEM;
	return str_copy(o->mounts[o->nr_mounts++].link, sizeof(link), link);
}
