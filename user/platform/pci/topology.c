// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/pci/topology.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/pci/topology_internal.h"

/* Base class of all kinds of bridges */
#define CLASS_BRIDGES 0x06

/* Bounds of what sysfs may say about a link */
#define PCI_MAX_LANES 32
#define PCI_MAX_GTS   1000.0

/* A small number in sysfs, hexadecimal with 0x or decimal with a sign. */
static bool small_number(const struct sysfs *fs, const char *bdf, const char *name, long *ret)
{
	char line[32], *end;
	long value;

	if (!fs || sysfs_read(fs, line, sizeof(line), "bus/pci/devices/%s/%s", bdf, name))
		return false;
	errno = 0;
	value = strtol(line, &end, 0);
	if (errno || end == line || (*end && !isspace((unsigned char)*end)))
		return false;
	*ret = value;
	return true;
}

/*
 * Reading configuration space can wake a device. If sysfs has everything else, only bridges are
 * read: only they know more than sysfs.
 */
static bool must_read(const struct topology_job *job, const char *bdf)
{
	const struct sysfs *fs = job->src->dump ? NULL : job->src->sysfs;
	long class;

	return !small_number(fs, bdf, "class", &class) || class >> 16 == CLASS_BRIDGES;
}

/*
 * The link below a bridge: "16.0 GT/s PCIe" and "4" in sysfs. The function below has the same, and
 * need not be woken for it.
 */
static void read_link(const struct sysfs *fs, struct pci_function *f)
{
	char speed[32];
	double gts;
	long width;

	if (!fs || !small_number(fs, f->bdf, "current_link_width", &width) || width < 1 ||
	    width > PCI_MAX_LANES ||
	    sysfs_read(fs, speed, sizeof(speed), "bus/pci/devices/%s/current_link_speed", f->bdf))
		return;
	gts = strtod(speed, NULL);
	if (!(gts > 0 && gts < PCI_MAX_GTS))
		return;
	f->link_mts = (uint32_t)(gts * 1000 + 0.5);
	f->link_width = (uint8_t)width;
}

/* The kernel's values are preferred: it corrects functions that misreport themselves. */
static void identify(const struct topology_job *job, size_t i)
{
	const struct sysfs *fs = job->src->dump ? NULL : job->src->sysfs;
	const struct pci_config *c = &job->configs[i];
	struct pci_function *f = &job->t->functions[i];
	long value;

	if (c->readable) {
		f->vendor = c->vendor;
		f->device = c->device;
		f->class_code = c->class_code;
	}
	if (small_number(fs, f->bdf, "vendor", &value))
		f->vendor = (uint16_t)value;
	if (small_number(fs, f->bdf, "device", &value))
		f->device = (uint16_t)value;
	if (small_number(fs, f->bdf, "class", &value))
		f->class_code = (uint32_t)value & 0xffffff;
	f->numa_node = -1;
	if (small_number(fs, f->bdf, "numa_node", &value) && value >= 0 && value < INT32_MAX)
		f->numa_node = (int32_t)value;
	if (f->class_code >> 16 == CLASS_BRIDGES)
		read_link(fs, f);
	if (fs)
		sysfs_link_name(fs, f->driver, sizeof(f->driver), "bus/pci/devices/%s/driver",
				f->bdf);
}

static int read_functions(struct topology_job *job, const struct bdf *all, size_t nr,
			  struct diag *d)
{
	struct topology *t = job->t;
	struct diag why = { 0 };
	size_t nr_failed = 0;
	int err;

	t->functions = calloc(nr, sizeof(*t->functions));
	job->configs = calloc(nr, sizeof(*job->configs));
	if (!t->functions || !job->configs)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct pci_function *f = &t->functions[i];

		f->domain = all[i].domain;
		f->bus = all[i].bus;
		f->devfn = all[i].devfn;
		bdf_format(&all[i], f->bdf, sizeof(f->bdf));
		f->parent = f->port = f->physfn = f->alias_bridge = TOPOLOGY_NONE;
		if (must_read(job, f->bdf)) {
			err = pci_space_read(job->space, &all[i], &why, &job->configs[i]);
			if (err == -ENOMEM)
				return diag_fail(d, err, "%s", why.what);
			nr_failed += err || !job->configs[i].readable || job->configs[i].gone;
		}
		/* other functions have nothing of interest behind the header */
		t->cut |= job->configs[i].cut && job->configs[i].bridge;
		t->nr++;
		identify(job, i);
	}
	if (!nr_failed)
		return 0;
	return topology_note(job,
			     "%zu of %zu functions have no configuration space that can be "
			     "read: what they are is known from the kernel alone",
			     nr_failed, nr);
}

static int note_rest(struct topology_job *job, size_t nr_odd)
{
	struct topology *t = job->t;
	bool ports = false;
	int err = 0;

	for (size_t i = 0; i < t->nr; i++)
		ports |= t->functions[i].port == i;
	if (!ports)
		err = topology_note(job, "no root ports here: PMUs cannot tell devices apart by "
					 "them");
	if (!err && nr_odd)
		err = topology_note(job, "%zu entries are no PCI functions, or appear twice",
				    nr_odd);
	if (!err && t->cut)
		err = topology_note(job,
				    "configuration space ends after 64 bytes: root ports do not "
				    "say where they are, and switches cannot be told from "
				    "bridges; %s",
				    job->src->dump ? "lspci -xxxx has to run as root"
						   : "run as root (CAP_SYS_ADMIN)");
	if (err || !job->nr_dropped)
		return err;
	/* at most one of them is replaced, the rest stays */
	free(t->notes.items[--t->notes.nr]);
	return text_list_print(&t->notes, "and %zu more like these", job->nr_dropped + 1);
}

static void name_functions(struct topology_job *job)
{
	for (size_t i = 0; i < job->t->nr; i++) {
		struct pci_function *f = &job->t->functions[i];

		pci_space_name(job->space, f->vendor, f->device, f->class_code, f->what,
			       sizeof(f->what));
	}
}

static int read_all(struct topology_job *job, struct diag *d)
{
	struct bdf *all = NULL;
	size_t nr = 0, odd = 0;
	int err = pci_space_list(job->space, &all, &nr, &odd);

	if (!err && !nr)
		err = -ENOENT;
	if (!err)
		err = read_functions(job, all, nr, d);
	free(all);
	if (err == -ENOENT) {
		diag_fail(d, err, "there are no PCI functions in %.200s/bus/pci/devices",
			  job->src->sysfs ? job->src->sysfs->root : "");
		return diag_advise(
			d, err,
			"a copy of sysfs needs the links there, and the directories that "
			"they lead to");
	}
	if (!err)
		err = topology_tree(job);
	if (!err)
		err = topology_wiring(job);
	if (!err)
		err = topology_occupants(job);
	if (!err)
		err = note_rest(job, odd);
	if (!err)
		name_functions(job);
	return err ? diag_error(d, err, "cannot read the PCI topology") : 0;
}

int topology_read(const struct topology_source *src, struct diag *d, struct topology *ret)
{
	struct topology t = { 0 };
	struct topology_job job = { .src = src, .t = &t };
	int err = pci_space_open(src->sysfs, src->dump, d, &job.space);

	if (!err)
		err = read_all(&job, d);
	pci_space_close(job.space);
	free(job.configs);
	if (err)
		topology_free(&t);
	else
		*ret = t;
	return err;
}

void topology_free(struct topology *t)
{
	if (!t)
		return;
	text_list_free(&t->notes);
	free(t->functions);
	*t = (struct topology){ 0 };
}

void topology_port_pmu(const struct pci_function *port, char *ret_name, size_t size)
{
	const struct pmu_family *f = pmu_family_one_port();

	ret_name[0] = '\0';
	if (f)
		pmu_family_name(f, port->domain << 16 | (uint32_t)port->bus << 8 | port->devfn, 0,
				ret_name, size);
}
