// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The use of functions: disks, network interfaces, RDMA devices, GPUs, VFIO groups. A class in
 * sysfs lists its devices, and the text of each link names the PCI function. So copies of sysfs
 * work, if links were copied as links.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "platform/pci/topology_internal.h"

#define CLASS_NVME	 0x010802
#define CLASS_INFINIBAND 0x0207

static bool has_name(const char *names, const char *name)
{
	size_t length = strlen(name);

	for (; *names; names += strspn(names, " ")) {
		size_t nr = strcspn(names, " ");

		if (nr == length && !memcmp(names, name, nr))
			return true;
		names += nr;
	}
	return false;
}

/* Names are complete or missing. Blanks separate them; the kernel's names contain none. */
static void add_name(struct pci_function *f, const char *name)
{
	size_t used = strlen(f->names);

	if (!*name || strpbrk(name, " \t\n") || has_name(f->names, name))
		return;
	if (used + strlen(name) + 1 < sizeof(f->names) - 4)
		str_append(f->names, sizeof(f->names), "%s%s", used ? " " : "", name);
	else if (!has_name(f->names, "..."))
		str_append(f->names, sizeof(f->names), " ...");
}

/* The function of a class's device. */
static uint32_t owner_of(const struct topology_job *job, const char *class, const char *name)
{
	const struct sysfs *fs = job->src->sysfs;
	uint32_t f = TOPOLOGY_NONE;
	char text[PATH_MAX];

	if (!sysfs_link(fs, text, "class/%s/%s", class, name))
		f = topology_link_function(job, text);
	/* old kernels, and copies with directories for links */
	if (f == TOPOLOGY_NONE && !sysfs_link(fs, text, "class/%s/%s/device", class, name))
		f = topology_link_function(job, text);
	return f;
}

static void set_kind(struct pci_function *f, enum device_kind kind)
{
	/* RDMA devices have network interfaces, too; their traffic past the kernel matters more */
	if (f->kind == DEVICE_OTHER || kind == DEVICE_RDMA)
		f->kind = kind;
}

/* All devices of a class; @take may refuse some. */
static int each_of_class(struct topology_job *job, const char *class, enum device_kind kind,
			 bool (*take)(const struct topology_job *job, const char *name))
{
	cleanup_texts struct text_list names = { 0 };
	int err;

	err = sysfs_list(job->src->sysfs, &names, "class/%s", class);
	for (size_t i = 0; !err && i < names.nr; i++) {
		uint32_t f = owner_of(job, class, names.items[i]);

		if (f == TOPOLOGY_NONE || (take && !take(job, names.items[i])))
			continue;
		set_kind(&job->t->functions[f], kind);
		add_name(&job->t->functions[f], names.items[i]);
	}
	return err == -ENOMEM ? err : 0;
}

/* "nvme0n1" is a disk, "nvme0c1n1" a path to it through controller 1. */
static bool nvme_path(const char *name, int32_t *subsystem, int32_t *controller, int32_t *disk)
{
	const char *at = name + 4;

	return !strncmp(name, "nvme", 4) && take_number(&at, subsystem) && *at++ == 'c' &&
	       take_number(&at, controller) && *at++ == 'n' && take_number(&at, disk) && !*at;
}

static bool is_whole_disk(const struct topology_job *job, const char *name)
{
	int32_t subsystem, controller, disk;

	return !sysfs_exists(job->src->sysfs, "class/block/%s/partition", name) &&
	       !nvme_path(name, &subsystem, &controller, &disk);
}

static bool is_nvme_disk(const struct topology_job *job, const char *name)
{
	return !strncmp(name, "nvme", 4) && is_whole_disk(job, name);
}

static bool is_other_disk(const struct topology_job *job, const char *name)
{
	return strncmp(name, "nvme", 4) && is_whole_disk(job, name);
}

/* "card0", not its connectors "card0-DP-1" and not "renderD128" */
static bool is_card(const struct topology_job *job, const char *name)
{
	const char *at = name + 4;
	int32_t number;

	(void)job;
	return !strncmp(name, "card", 4) && take_number(&at, &number) && !*at;
}

/* Does a controller have paths of its own, and does one lead to this disk? */
static bool leads_to(const struct topology_job *job, const char *controller, const char *disk)
{
	cleanup_texts struct text_list names = { 0 };
	const char *at = disk + 4;
	int32_t subsystem, number, s, c, n;
	bool any = false, found = false;

	if (!take_number(&at, &subsystem) || *at++ != 'n' || !take_number(&at, &number))
		return false;
	if (!sysfs_list(job->src->sysfs, &names, "class/nvme/%s", controller)) {
		for (size_t i = 0; i < names.nr; i++) {
			if (!nvme_path(names.items[i], &s, &c, &n))
				continue;
			any = true;
			found |= s == subsystem && n == number;
		}
	}
	return found || !any;
}

/* A disk of a subsystem belongs to all controllers that lead to it. */
static int add_shared(struct topology_job *job, const char *disk, const char *subsystem)
{
	cleanup_texts struct text_list names = { 0 };
	int err;

	err = sysfs_list(job->src->sysfs, &names, "class/nvme-subsystem/%s", subsystem);
	for (size_t i = 0; !err && i < names.nr; i++) {
		const char *at = names.items[i] + 4;
		int32_t number;
		uint32_t f;

		if (strncmp(names.items[i], "nvme", 4) || !take_number(&at, &number) || *at)
			continue;
		f = owner_of(job, "nvme", names.items[i]);
		if (f == TOPOLOGY_NONE || !leads_to(job, names.items[i], disk))
			continue;
		set_kind(&job->t->functions[f], DEVICE_NVME);
		add_name(&job->t->functions[f], disk);
	}
	return err == -ENOMEM ? err : 0;
}

static int add_multipath(struct topology_job *job)
{
	cleanup_texts struct text_list names = { 0 };
	int err = sysfs_list(job->src->sysfs, &names, "class/block");

	if (err)
		return err == -ENOMEM ? err : 0;
	for (size_t i = 0; !err && i < names.nr; i++) {
		char text[PATH_MAX], *at;

		if (!is_nvme_disk(job, names.items[i]) ||
		    sysfs_link(job->src->sysfs, text, "class/block/%s", names.items[i]))
			continue;
		at = strstr(text, "/nvme-subsystem/");
		if (!at)
			continue;
		at += strlen("/nvme-subsystem/");
		*strchrnul(at, '/') = '\0';
		err = add_shared(job, names.items[i], at);
	}
	return err;
}

/* Controllers without a disk are named themselves. */
static int add_controllers(struct topology_job *job)
{
	cleanup_texts struct text_list names = { 0 };
	int err = sysfs_list(job->src->sysfs, &names, "class/nvme");

	for (size_t i = 0; !err && i < names.nr; i++) {
		uint32_t f = owner_of(job, "nvme", names.items[i]);

		if (f == TOPOLOGY_NONE)
			continue;
		set_kind(&job->t->functions[f], DEVICE_NVME);
		if (!job->t->functions[f].names[0])
			add_name(&job->t->functions[f], names.items[i]);
	}
	return err == -ENOMEM ? err : 0;
}

/* Given to a user program or a virtual machine by one of the VFIO drivers. */
static void add_vfio(struct topology_job *job)
{
	for (size_t i = 0; i < job->t->nr; i++) {
		struct pci_function *f = &job->t->functions[i];
		char driver[64], group[32], name[48];

		if (sysfs_link_name(job->src->sysfs, driver, sizeof(driver),
				    "bus/pci/devices/%s/driver", f->bdf) ||
		    !strstr(driver, "vfio"))
			continue;
		f->kind = DEVICE_VFIO;
		if (sysfs_link_name(job->src->sysfs, group, sizeof(group),
				    "bus/pci/devices/%s/iommu_group", f->bdf))
			continue;
		snprintf(name, sizeof(name), "vfio/%s", group);
		add_name(f, name);
	}
}

/* Uses where no driver tells more. */
static void kind_by_class(struct pci_function *f)
{
	enum device_kind kind = DEVICE_OTHER;

	if (f->class_code == CLASS_NVME)
		kind = DEVICE_NVME;
	else if (f->class_code >> 8 == CLASS_INFINIBAND)
		kind = DEVICE_RDMA;
	else if (f->class_code >> 16 == 0x01)
		kind = DEVICE_BLOCK;
	else if (f->class_code >> 16 == 0x02)
		kind = DEVICE_NET;
	else if (f->class_code >> 16 == 0x03)
		kind = DEVICE_GPU;
	if (f->kind == DEVICE_OTHER)
		f->kind = kind;
}

int topology_occupants(struct topology_job *job)
{
	int err = 0;

	if (!job->src->dump) {
		add_vfio(job);
		err = each_of_class(job, "block", DEVICE_NVME, is_nvme_disk);
		if (!err)
			err = add_multipath(job);
		if (!err)
			err = add_controllers(job);
		if (!err)
			err = each_of_class(job, "block", DEVICE_BLOCK, is_other_disk);
		if (!err)
			err = each_of_class(job, "infiniband", DEVICE_RDMA, NULL);
		if (!err)
			err = each_of_class(job, "net", DEVICE_NET, NULL);
		if (!err)
			err = each_of_class(job, "drm", DEVICE_GPU, is_card);
	}
	for (size_t i = 0; i < job->t->nr; i++) {
		struct pci_function *f = &job->t->functions[i];

		if (f->port == i)
			f->kind = DEVICE_PORT;
		else if (f->role == PCI_ROLE_ENDPOINT || f->role == PCI_ROLE_INTEGRATED)
			kind_by_class(f);
	}
	return err;
}
