// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Interfaces in other network namespaces. Ours cannot list them; the sysfs that a process of such
 * a namespace has mounted can, and it says which PCI function each belongs to.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bdf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "platform/devices/device_internal.h"
#include "platform/devices/owner_internal.h"

/* Number of processes of a namespace whose sysfs is checked; most have the same one. */
#define MAX_TRIES 4

/* Is there an interface of this name in the namespace? A sysfs may belong to another namespace. */
static bool has_interface(const struct owners *o, const char *pid, const char *name)
{
	size_t length = strlen(name);
	cleanup_fclose FILE *f = file_at(o->proc, "%s/net/dev", pid);
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		const char *at = line + strspn(line, " ");

		if (!strncmp(at, name, length) && at[length] == ':')
			return true;
	}
	return false;
}

static int look_at_sysfs(struct owners *o, const char *pid, struct owner_network *n)
{
	const struct sysfs fs = { .fd = o->proc };
	char dir[64], target[PATH_MAX], bdf[MODEL_BDF_LEN];
	cleanup_texts struct text_list names = { 0 };
	int err;

	snprintf(dir, sizeof(dir), "%s/root/sys/class/net", pid);
	err = sysfs_list(&fs, &names, "%s", dir);
	if (err)
		return err == -ENOMEM ? err : 0;
	for (size_t k = 0; k < names.nr && !err; k++) {
		if (sysfs_link(&fs, target, "%s/%s", dir, names.items[k]) ||
		    !bdf_of_path(target, bdf) || !has_interface(o, pid, names.items[k]))
			continue;
		for (size_t i = 0; i < o->l->nr && !err; i++) {
			uint32_t f = o->l->items[i].function;

			if (!o->states[i].by_network ||
			    strcmp(o->l->topology->functions[f].bdf, bdf))
				continue;
			if (!n->items)
				n->items = calloc(o->l->nr, sizeof(*n->items));
			if (n->items)
				n->items[i] = true;
			else
				err = -ENOMEM;
		}
	}
	return err;
}

static struct owner_network *find_network(struct owners *o, const char *link)
{
	for (size_t i = 0; i < o->nr_networks; i++)
		if (!strcmp(o->networks[i].link, link))
			return &o->networks[i];
	return NULL;
}

int owner_network_process(struct owners *o, const char *pid)
{
	struct owner_network *n;
	char link[64];
	int err = owner_link(o, pid, "ns/net", link, sizeof(link));

	if (err)
		return owner_is_gone(err) ? 0 : err;
	if (!strcmp(link, o->own_network))
		return 0;
	n = find_network(o, link);
	if (!n) {
		if (array_reserve(o->networks, o->cap_networks, o->nr_networks))
			return -ENOMEM;
		n = &o->networks[o->nr_networks++];
		*n = (struct owner_network){ 0 };
		str_copy(n->link, sizeof(n->link), link);
	}
	if (n->items || n->tries++ >= MAX_TRIES)
		return 0;
	return look_at_sysfs(o, pid, n);
}

/* Two namespaces cannot both have it: one of them was seen through an old sysfs. */
static void settle(struct owners *o)
{
	for (size_t i = 0; i < o->l->nr; i++) {
		size_t nr = 0;

		for (size_t n = 0; n < o->nr_networks; n++)
			nr += o->networks[n].items && o->networks[n].items[i];
		o->states[i].shared |= nr > 1;
	}
}

static size_t processes_in(struct owners *o, const char *link, const struct text_list *pids)
{
	char other[64];
	size_t nr = 0;

	for (size_t i = 0; i < pids->nr; i++)
		nr += !owner_link(o, pids->items[i], "ns/net", other, sizeof(other)) &&
		      !strcmp(other, link);
	return nr;
}

int owner_network_end(struct owners *o, const struct text_list *pids)
{
	char link[64];
	int err = 0;

	settle(o);
	for (size_t n = 0; n < o->nr_networks; n++) {
		struct owner_network *net = &o->networks[n];
		bool whole = net->items && processes_in(o, net->link, pids) > 1;

		for (size_t p = 0; net->items && p < pids->nr && !err; p++) {
			if (owner_link(o, pids->items[p], "ns/net", link, sizeof(link)) ||
			    strcmp(link, net->link))
				continue;
			for (size_t i = 0; i < o->l->nr && !err; i++)
				if (net->items[i])
					err = owner_hold(o, i, pids->items[p], whole);
		}
	}
	return err;
}
