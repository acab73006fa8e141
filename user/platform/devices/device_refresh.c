// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/array.h"
#include "base/text.h"
#include "platform/devices/device_internal.h"

/**
 * struct present - a function that sysfs has now
 * @bdf: its address
 * @path: where it is in the tree
 * @moves: it can move data
 */
struct present {
	char bdf[MODEL_BDF_LEN];
	char *path;
	bool moves;
};

struct presents {
	struct present *items;
	size_t nr, cap;
};

struct refresh {
	struct device_list *l;
	const struct sysfs *fs;
	void (*change)(void *arg, const struct device_change *c);
	void *arg;
	int nr;
};

static void presents_free(struct presents *p)
{
	for (size_t i = 0; i < p->nr; i++)
		free(p->items[i].path);
	free(p->items);
}

static const struct pci_function *known_function(const struct topology *t, const char *bdf)
{
	for (size_t i = 0; i < t->nr; i++)
		if (!strcmp(t->functions[i].bdf, bdf))
			return &t->functions[i];
	return NULL;
}

/* New functions have a file with their class; without it they may move data. */
static bool moves_now(const struct refresh *r, const char *bdf)
{
	const struct pci_function *f = known_function(r->l->topology, bdf);
	uint64_t class;

	if (f)
		return device_moves(f);
	if (sysfs_number(r->fs, &class, "bus/pci/devices/%s/class", bdf))
		return true;
	return device_class_moves(class);
}

static int read_presents(const struct refresh *r, struct presents *ret)
{
	cleanup_texts struct text_list names = { 0 };
	char target[PATH_MAX];
	int err = sysfs_list(r->fs, &names, "bus/pci/devices");

	if (err)
		return err;
	for (size_t i = 0; i < names.nr && !err; i++) {
		struct present *p;

		if (strlen(names.items[i]) >= MODEL_BDF_LEN ||
		    sysfs_link(r->fs, target, "bus/pci/devices/%s", names.items[i]))
			continue;
		err = array_reserve(ret->items, ret->cap, ret->nr);
		if (err)
			break;
		p = &ret->items[ret->nr];
		p->path = strdup(target);
		if (!p->path) {
			err = -ENOMEM;
			break;
		}
		str_copy(p->bdf, sizeof(p->bdf), names.items[i]);
		p->moves = moves_now(r, p->bdf);
		ret->nr++;
	}
	return err;
}

static bool is_present(const struct presents *p, const char *bdf)
{
	for (size_t i = 0; i < p->nr; i++)
		if (!strcmp(p->items[i].bdf, bdf))
			return true;
	return false;
}

__attribute__((format(printf, 4, 5))) static void tell(struct refresh *r, size_t item,
						       enum device_change_kind kind,
						       const char *fmt, ...)
{
	struct device_change c = { .item = item, .kind = kind };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c.text, sizeof(c.text), fmt, ap);
	va_end(ap);
	r->nr++;
	if (r->change)
		r->change(r->arg, &c);
}

static const char *bdf_of(const struct refresh *r, size_t item)
{
	return r->l->topology->functions[r->l->items[item].function].bdf;
}

static bool same_use(const struct device_item *it, const struct device_use *u)
{
	return it->nr_disks == u->nr_disks && it->nr_interfaces == u->nr_interfaces &&
	       it->nr_nodes == u->nr_nodes &&
	       (!u->nr_disks || !memcmp(it->disks, u->disks, u->nr_disks * sizeof(*u->disks))) &&
	       (!u->nr_interfaces || !memcmp(it->interfaces, u->interfaces,
					     u->nr_interfaces * sizeof(*u->interfaces))) &&
	       (!u->nr_nodes || !memcmp(it->nodes, u->nodes, u->nr_nodes * sizeof(*u->nodes)));
}

/* The item gets the new use; @u gets the old one, to be released. */
static void swap_use(struct device_item *it, struct device_use *u)
{
	struct device_use was = { .disks = it->disks,
				  .interfaces = it->interfaces,
				  .nodes = it->nodes };

	it->disks = u->disks;
	it->nr_disks = u->nr_disks;
	it->interfaces = u->interfaces;
	it->nr_interfaces = u->nr_interfaces;
	it->nodes = u->nodes;
	it->nr_nodes = u->nr_nodes;
	*u = was;
}

/* A node that only a file tells stays as long as the device does. */
static int keep_gpu(const struct device_item *it, struct device_use *u)
{
	int err = 0;

	for (size_t i = 0; i < it->nr_nodes && !err; i++)
		if (major(it->nodes[i]) == DEVICE_NVIDIA_MAJOR)
			err = device_use_add_node(u, it->nodes[i]);
	return err;
}

static int refresh_use(struct refresh *r, size_t item, struct device_use *u)
{
	struct device_item *it = &r->l->items[item];
	char what[96] = "";
	int err = keep_gpu(it, u);

	if (err || same_use(it, u))
		return err;
	swap_use(it, u);
	for (size_t i = 0; i < it->nr_disks; i++)
		str_append(what, sizeof(what), " %s", it->disks[i]);
	if (it->nr_interfaces)
		str_append(what, sizeof(what), " %zu network interface%s", it->nr_interfaces,
			   it->nr_interfaces > 1 ? "s" : "");
	if (it->nr_nodes)
		str_append(what, sizeof(what), " %zu node%s in /dev", it->nr_nodes,
			   it->nr_nodes > 1 ? "s" : "");
	tell(r, item, DEVICE_USE, "%s is used otherwise, now as:%s", bdf_of(r, item),
	     what[0] ? what : " nothing");
	return 0;
}

static int refresh_presence(struct refresh *r, size_t item, const struct presents *p,
			    struct device_use *u)
{
	struct device_item *it = &r->l->items[item];
	bool gone = !is_present(p, bdf_of(r, item));
	int err = 0;

	if (gone == it->gone)
		return gone ? 0 : refresh_use(r, item, u);
	if (!gone && r->l->topology->functions[it->function].kind == DEVICE_GPU)
		err = device_use_gpu(r->fs, bdf_of(r, item), u);
	if (err)
		return err;
	it->gone = gone;
	swap_use(it, u);
	if (gone)
		tell(r, item, DEVICE_WENT, "%s was removed", bdf_of(r, item));
	else
		tell(r, item, DEVICE_CAME_BACK, "%s is back", bdf_of(r, item));
	return 0;
}

static void refresh_crowd(struct refresh *r, size_t item, const struct presents *p)
{
	const struct topology *t = r->l->topology;
	struct device_item *it = &r->l->items[item];
	const struct pci_function *f = &t->functions[it->function];
	const struct present *first = NULL;
	size_t others = 0;

	if (f->port >= t->nr || device_shares_mask(t, it->function))
		return;
	for (size_t i = 0; i < p->nr; i++) {
		if (!p->items[i].moves || !strcmp(p->items[i].bdf, f->bdf) ||
		    !device_path_has(p->items[i].path, t->functions[f->port].bdf))
			continue;
		first = first ? first : &p->items[i];
		others++;
	}
	/* Functions that appear while it is away are counted by its port's mask as well. */
	if (it->alone == !others || (it->gone && !others))
		return;
	it->alone = !others;
	if (others > 1)
		tell(r, item, DEVICE_CROWD,
		     "%s is no longer alone below port %s: %s and %zu more came", f->bdf,
		     t->functions[f->port].bdf, first->bdf, others - 1);
	else if (others)
		tell(r, item, DEVICE_CROWD, "%s is no longer alone below port %s: %s came", f->bdf,
		     t->functions[f->port].bdf, first->bdf);
	else
		tell(r, item, DEVICE_CROWD, "%s is alone below port %s now", f->bdf,
		     t->functions[f->port].bdf);
}

int devices_refresh(struct device_list *l, const struct sysfs *fs,
		    void (*change)(void *arg, const struct device_change *c), void *arg)
{
	struct refresh r = { .l = l, .fs = fs, .change = change, .arg = arg };
	struct device_use *uses = calloc(l->nr + 1, sizeof(*uses));
	struct presents p = { 0 };
	int err = uses ? read_presents(&r, &p) : -ENOMEM;

	if (!err)
		err = device_uses_read(l, fs, uses);
	for (size_t i = 0; i < l->nr && !err; i++) {
		err = refresh_presence(&r, i, &p, &uses[i]);
		if (!err)
			refresh_crowd(&r, i, &p);
	}
	for (size_t i = 0; uses && i < l->nr; i++)
		device_use_release(&uses[i]);
	free(uses);
	presents_free(&p);
	return err ? err : r.nr;
}
