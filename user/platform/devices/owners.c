// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/devices/owners.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "platform/devices/owner_internal.h"

/* The initial pid namespace: elsewhere not all processes can be seen. */
#define INIT_PID_NS    "pid:[4026531836]"
/* The initial cgroup namespace: elsewhere /proc/PID/cgroup has paths from a branch on. */
#define INIT_CGROUP_NS "cgroup:[4026531835]"
/* Base class of network controllers */
#define CLASS_NETWORK  0x02

int owners_new(const char *proc, const char *cgroup_mount, const struct cgroup1 *v1,
	       struct owners **ret)
{
	struct owners *o = calloc(1, sizeof(*o));
	int err;

	if (!o)
		return -ENOMEM;
	if (v1)
		o->v1 = *v1;
	o->proc = open(proc, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = o->proc < 0 ? -errno : 0;
	if (!err)
		err = str_copy(o->cgroup_mount, sizeof(o->cgroup_mount), cgroup_mount);
	if (err)
		owners_free(o);
	else
		*ret = o;
	return err;
}

void owners_ignore(struct owners *o, const struct text_list *cgroups)
{
	o->ignored = cgroups;
}

static void forget_look(struct owners *o)
{
	for (size_t i = 0; i < o->nr_networks; i++)
		free(o->networks[i].items);
	o->nr_networks = o->nr_nodes = o->nr_mounts = 0;
	free(o->states);
	o->states = NULL;
	o->l = NULL;
}

void owners_free(struct owners *o)
{
	if (!o)
		return;
	forget_look(o);
	if (o->proc >= 0)
		close(o->proc);
	free(o->found);
	free(o->nodes);
	free(o->networks);
	free(o->mounts);
	free(o);
}

static int open_file(struct owners *o, const char *pid, const struct statx *x)
{
	dev_t dev = makedev(x->stx_rdev_major, x->stx_rdev_minor);
	bool block = S_ISBLK(x->stx_mode);
	int err = 0;

	if (!block && !S_ISCHR(x->stx_mode))
		return 0;
	for (size_t i = 0; i < o->nr_nodes && !err; i++) {
		const struct owner_node *n = &o->nodes[i];

		if (n->dev != dev || n->block != block)
			continue;
		if (block)
			o->states[n->item].used = true;
		else
			err = owner_hold(o, n->item, pid, false);
	}
	return err;
}

/* Files on dead servers must not block us: cached attributes are enough. */
static int open_files(struct owners *o, const char *pid)
{
	cleanup_closedir DIR *dir = NULL;
	struct dirent *entry;
	struct statx x;
	char path[64];
	int err = 0;

	snprintf(path, sizeof(path), "%s/fd", pid);
	dir = dir_at(o->proc, path);
	if (!dir)
		return owner_is_gone(-errno) ? 0 : -errno;
	while (!err && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		if (!statx(dirfd(dir), entry->d_name, AT_STATX_DONT_SYNC, STATX_TYPE, &x))
			err = open_file(o, pid, &x);
		else if (errno == EACCES || errno == EPERM)
			err = -EACCES;
	}
	return err;
}

static int look_at(struct owners *o, const char *pid)
{
	int err = open_files(o, pid);

	if (!err && o->any_disks)
		err = owner_kernel_process(o, pid);
	if (!err && o->any_networks)
		err = owner_network_process(o, pid);
	return err;
}

static int list_pids(struct owners *o, struct text_list *pids)
{
	cleanup_closedir DIR *dir = dir_at(o->proc, ".");
	struct dirent *entry;
	int err = dir ? 0 : -errno;

	while (!err && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			err = text_list_add(pids, entry->d_name);
	return err;
}

/* The devices to look for; if there are none, nothing is read. */
static int prepare(struct owners *o, const struct device_list *l)
{
	int err = 0;

	o->l = l;
	o->nr = 0;
	o->any_disks = o->any_networks = false;
	o->states = calloc(l->nr + 1, sizeof(*o->states));
	if (!o->states)
		return -ENOMEM;
	for (size_t i = 0; i < l->nr && !err; i++) {
		const struct device_item *it = &l->items[i];
		/* Only PCI functions have interfaces. */
		const struct pci_function *f =
			l->topology ? &l->topology->functions[it->function] : NULL;
		struct owner_state *s = &o->states[i];

		if (it->gone)
			continue;
		s->by_nodes = it->nr_nodes;
		s->by_network = f && f->class_code >> 16 == CLASS_NETWORK && !it->nr_interfaces;
		o->any_disks |= s->by_nodes && it->nr_disks;
		o->any_networks |= s->by_network;
		for (size_t n = 0; n < it->nr_nodes && !err; n++)
			err = owner_add_node(o, it->nodes[n], i, false);
	}
	return err;
}

/* Are all processes there, and may their files be seen? */
static int check_rights(const struct owners *o)
{
	cleanup_close int fd = openat(o->proc, "1/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char link[64];
	int err;

	/* proc can be mounted so that processes of others are not even listed */
	if (fd < 0 || owner_link(o, "self", "ns/pid", link, sizeof(link)) ||
	    strcmp(link, INIT_PID_NS))
		return -EACCES;
	err = owner_link(o, "self", "ns/cgroup", link, sizeof(link));
	/* kernels may be built without */
	return err == -ENOENT || (!err && !strcmp(link, INIT_CGROUP_NS)) ? 0 : -EACCES;
}

static int look(struct owners *o)
{
	cleanup_texts struct text_list pids = { 0 };
	int err = check_rights(o);

	if (!err)
		err = owner_link(o, "self", "ns/net", o->own_network, sizeof(o->own_network));
	if (!err)
		err = owner_kernel_start(o);
	if (!err)
		err = list_pids(o, &pids);
	for (size_t i = 0; i < pids.nr && !err; i++)
		err = look_at(o, pids.items[i]);
	if (!err && o->any_networks)
		err = owner_network_end(o, &pids);
	return err == -EPERM ? -EACCES : err;
}

static int by_item(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	return ORDER(x->item, y->item) ?: ORDER(x->pid, y->pid);
}

/* Owners come first; of what the kernel uses there is nobody. */
static void put_in_order(struct owners *o)
{
	size_t nr = 0;

	for (size_t i = 0; i < o->nr; i++)
		if (!o->states[o->found[i].item].used)
			o->found[nr++] = o->found[i];
	o->nr = nr;
	if (nr)
		qsort(o->found, nr, sizeof(*o->found), by_item);
	for (size_t i = 0; i < nr; i++) {
		const struct owner found = o->found[i];

		if (o->states[found.item].shared)
			continue;
		memmove(o->found + o->nr_owners + 1, o->found + o->nr_owners,
			(i - o->nr_owners) * sizeof(*o->found));
		o->found[o->nr_owners++] = found;
	}
}

int owners_find(struct owners *o, const struct device_list *l, const struct owner **ret,
		size_t *ret_nr)
{
	int err = prepare(o, l);

	o->nr_owners = 0;
	if (!err && (o->nr_nodes || o->any_networks) && o->cgroup_mount[0])
		err = look(o);
	if (err)
		o->nr = 0;
	put_in_order(o);
	forget_look(o);
	if (err)
		return err;
	*ret = o->found;
	*ret_nr = o->nr_owners;
	return 0;
}

size_t owners_others(const struct owners *o, const struct owner **ret)
{
	*ret = o->nr > o->nr_owners ? o->found + o->nr_owners : NULL;
	return o->nr - o->nr_owners;
}
