// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The tree of functions. Bus numbers of bridges tell what is below them, which works for dumps,
 * too; with sysfs its paths show the kernel's view, and differences are noted.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/pci/topology_internal.h"

#define CLASS_HOST_BRIDGE 0x0600
#define CLASS_BRIDGE	  0x0604
#define NR_BUSES	  256
/* Identifiers of virtual functions that are looked up: more than any machine has */
#define MAX_VIRTUAL	  (1u << 20)

/* Device/port types of the PCI Express capability */
enum {
	PORT_ROOT = 4,
	PORT_UPSTREAM = 5,
	PORT_DOWNSTREAM = 6,
};

static bool is_bridge(const struct topology_job *job, uint32_t i)
{
	return job->configs[i].bridge || job->t->functions[i].class_code >> 8 == CLASS_BRIDGE;
}

/*
 * Bridges with a sound range of buses fill in the bridge above each bus; the innermost wins. Bus
 * numbers grow downwards, so there are no cycles.
 */
static int fill_buses(struct topology_job *job, size_t first, size_t end, uint32_t buses[NR_BUSES])
{
	const struct pci_function *functions = job->t->functions;
	int err = 0;

	for (int b = 0; b < NR_BUSES; b++)
		buses[b] = TOPOLOGY_NONE;
	for (size_t i = first; !err && i < end; i++) {
		const struct pci_function *f = &functions[i];

		if (!job->configs[i].bridge || (!f->secondary && !f->subordinate))
			continue;
		if (f->secondary <= f->bus || f->subordinate < f->secondary) {
			err = topology_note(job,
					    "%s: a bridge with buses %02x to %02x below it "
					    "cannot be on bus %02x",
					    f->bdf, f->secondary, f->subordinate, f->bus);
			continue;
		}
		if (buses[f->secondary] != TOPOLOGY_NONE &&
		    functions[buses[f->secondary]].secondary == f->secondary)
			err = topology_note(job, "%s: the same buses as below %s", f->bdf,
					    functions[buses[f->secondary]].bdf);
		for (int b = f->secondary; b <= f->subordinate; b++) {
			const struct pci_function *g =
				buses[b] == TOPOLOGY_NONE ? NULL : &functions[buses[b]];

			if (!g || g->secondary < f->secondary ||
			    (g->secondary == f->secondary && g->subordinate > f->subordinate))
				buses[b] = (uint32_t)i;
		}
	}
	return err;
}

static int parents_by_bus(struct topology_job *job)
{
	struct topology *t = job->t;
	uint32_t buses[NR_BUSES];
	int err = 0;

	for (size_t i = 0; i < t->nr; i++) {
		if (!job->configs[i].bridge)
			continue;
		t->functions[i].secondary = job->configs[i].secondary;
		t->functions[i].subordinate = job->configs[i].subordinate;
	}
	for (size_t first = 0, end; !err && first < t->nr; first = end) {
		for (end = first; end < t->nr; end++)
			if (t->functions[end].domain != t->functions[first].domain)
				break;
		err = fill_buses(job, first, end, buses);
		for (size_t i = first; i < end; i++)
			t->functions[i].parent = buses[t->functions[i].bus];
	}
	return err;
}

/* The index that all parts of the topology use: functions by their address. */

uint32_t topology_index(const struct topology *t, const struct bdf *a)
{
	size_t low = 0, high = t->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct pci_function *f = &t->functions[middle];
		struct bdf at = { .domain = f->domain, .bus = f->bus, .devfn = f->devfn };
		int order = bdf_compare(&at, a);

		if (!order)
			return (uint32_t)middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return TOPOLOGY_NONE;
}

uint32_t topology_find(const struct topology *t, const char *bdf)
{
	struct bdf a;

	return bdf_parse(bdf, &a) ? TOPOLOGY_NONE : topology_index(t, &a);
}

uint32_t topology_link_function(const struct topology_job *job, const char *path)
{
	char bdf[MODEL_BDF_LEN];

	return bdf_of_path(path, bdf) ? topology_find(job->t, bdf) : TOPOLOGY_NONE;
}

/* Cut off the last part, the function itself, and find the function of the remaining path. */
static bool parent_by_path(const struct topology_job *job, size_t i, uint32_t *ret)
{
	char target[PATH_MAX], *slash;

	if (sysfs_link(job->src->sysfs, target, "bus/pci/devices/%s", job->t->functions[i].bdf))
		return false;
	slash = strrchr(target, '/');
	if (!slash || strcmp(slash + 1, job->t->functions[i].bdf))
		return false;
	*slash = '\0';
	*ret = topology_link_function(job, target);
	return true;
}

static int check_paths(struct topology_job *job)
{
	struct topology *t = job->t;
	size_t nr = 0, first = 0;

	for (size_t i = 0; i < t->nr; i++) {
		struct pci_function *f = &t->functions[i];
		uint32_t parent;

		if (!parent_by_path(job, i, &parent) || parent == f->parent)
			continue;
		/*
		 * Domains behind a controller (VMD) have no bridge above them, and an unreadable
		 * bridge tells nothing.
		 */
		if (f->parent != TOPOLOGY_NONE ||
		    (parent != TOPOLOGY_NONE && job->configs[parent].readable &&
		     t->functions[parent].domain == f->domain)) {
			first = nr ? first : i;
			nr++;
		}
		f->parent = parent;
	}
	return nr ? topology_note(job,
				  "%zu functions, %s first: bus numbers of the bridges say "
				  "something else than the kernel, which is believed",
				  nr, t->functions[first].bdf)
		  : 0;
}

/* Paths in a damaged copy could form cycles. */
static int cut_circles(struct topology_job *job)
{
	struct topology *t = job->t;
	uint8_t *state = calloc(t->nr, 1); /* 1 = on the way, 2 = leads to the top */
	int err = state ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < t->nr; i++) {
		uint32_t at = i;

		while (at != TOPOLOGY_NONE && !state[at]) {
			state[at] = 1;
			if (t->functions[at].parent != TOPOLOGY_NONE &&
			    state[t->functions[at].parent] == 1) {
				err = topology_note(job, "%s: the way up leads in a circle",
						    t->functions[at].bdf);
				t->functions[at].parent = TOPOLOGY_NONE;
			}
			at = t->functions[at].parent;
		}
		for (at = i; at != TOPOLOGY_NONE && state[at] == 1; at = t->functions[at].parent)
			state[at] = 2;
	}
	free(state);
	return err;
}

static enum pci_role role_of(const struct topology_job *job, uint32_t i)
{
	const struct pci_function *f = &job->t->functions[i];
	const struct pci_config *c = &job->configs[i];
	bool unknown = !c->readable || c->cut || c->gone;

	if (c->express && c->bridge) {
		switch (c->port_type) {
		case PORT_ROOT:
			return PCI_ROLE_ROOT_PORT;
		case PORT_UPSTREAM:
			return PCI_ROLE_UPSTREAM;
		case PORT_DOWNSTREAM:
			return PCI_ROLE_DOWNSTREAM;
		default:
			return PCI_ROLE_PCI_BRIDGE;
		}
	}
	if (f->class_code >> 8 == CLASS_HOST_BRIDGE)
		return PCI_ROLE_HOST_BRIDGE;
	if (!is_bridge(job, i))
		return f->parent == TOPOLOGY_NONE ? PCI_ROLE_INTEGRATED : PCI_ROLE_ENDPOINT;
	if (!unknown)
		return PCI_ROLE_PCI_BRIDGE;
	/* Without rights the kind of a bridge cannot be read: guess it by its place. */
	if (f->parent == TOPOLOGY_NONE)
		return PCI_ROLE_ROOT_PORT;
	return job->t->functions[f->parent].role == PCI_ROLE_UPSTREAM ? PCI_ROLE_DOWNSTREAM
								      : PCI_ROLE_UPSTREAM;
}

/* From the top down; @done marks functions that are finished. */
static void settle(struct topology_job *job, uint32_t i, bool *done)
{
	struct topology *t = job->t;

	while (!done[i]) {
		struct pci_function *f, *p;
		uint32_t at = i;

		while (t->functions[at].parent != TOPOLOGY_NONE && !done[t->functions[at].parent])
			at = t->functions[at].parent;
		f = &t->functions[at];
		p = f->parent == TOPOLOGY_NONE ? NULL : &t->functions[f->parent];
		f->role = role_of(job, at);
		if (p) {
			f->port = p->port;
			f->alias_bridge =
				p->role == PCI_ROLE_PCI_BRIDGE ? f->parent : p->alias_bridge;
		} else if (f->role == PCI_ROLE_ROOT_PORT) {
			f->port = at;
		}
		done[at] = true;
	}
}

static int set_roles(struct topology_job *job)
{
	bool *done = calloc(job->t->nr, sizeof(*done));

	if (!done)
		return -ENOMEM;
	for (uint32_t i = 0; i < job->t->nr; i++)
		settle(job, i, done);
	free(done);
	return 0;
}

static void set_virtual(struct topology_job *job, uint32_t pf, uint32_t vf)
{
	struct topology *t = job->t;

	if (vf == TOPOLOGY_NONE || pf == TOPOLOGY_NONE || vf == pf ||
	    t->functions[pf].physfn != TOPOLOGY_NONE)
		return;
	t->functions[vf].physfn = pf;
}

/* Virtual functions of a dump: their addresses follow from the capability of the physical one. */
static void virtual_by_number(struct topology_job *job)
{
	struct topology *t = job->t;
	size_t budget = MAX_VIRTUAL;

	for (uint32_t i = 0; i < t->nr; i++) {
		const struct pci_config *c = &job->configs[i];
		const struct pci_function *pf = &t->functions[i];
		uint32_t id = (uint32_t)(pf->bus << 8 | pf->devfn) + c->first_vf;

		for (uint32_t k = 0; k < c->nr_vfs && id <= UINT16_MAX && budget; k++, budget--) {
			struct bdf a = { pf->domain, (uint8_t)(id >> 8), (uint8_t)id };
			uint32_t vf = topology_index(t, &a);

			set_virtual(job, i, vf);
			if (vf != TOPOLOGY_NONE && t->functions[vf].physfn == i &&
			    t->functions[vf].vendor == 0xffff) {
				t->functions[vf].vendor = pf->vendor;
				t->functions[vf].device = c->vf_device;
			}
			if (!c->vf_stride)
				break;
			id += c->vf_stride;
		}
	}
}

static void virtual_by_link(struct topology_job *job)
{
	struct topology *t = job->t;

	for (uint32_t i = 0; i < t->nr; i++) {
		char name[MODEL_BDF_LEN];

		if (!sysfs_link_name(job->src->sysfs, name, sizeof(name),
				     "bus/pci/devices/%s/physfn", t->functions[i].bdf))
			set_virtual(job, topology_find(t, name), i);
	}
}

int topology_tree(struct topology_job *job)
{
	int err = parents_by_bus(job);

	if (!err && !job->src->dump)
		err = check_paths(job);
	if (!err)
		err = cut_circles(job);
	if (!err)
		err = set_roles(job);
	if (err)
		return err;
	if (job->src->dump)
		virtual_by_number(job);
	else
		virtual_by_link(job);
	return 0;
}
