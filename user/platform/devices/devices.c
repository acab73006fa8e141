// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/devices/devices.h"

#include <stdlib.h>
#include <string.h>

#include "base/bdf.h"
#include "base/text.h"
#include "platform/devices/device_internal.h"
#include "trace.h"

#define CLASS_BRIDGE	 0x06
#define CLASS_VGA	 0x0300
/* System peripherals that do not move data: interrupts, timers, clocks, slots, IOMMU, events */
#define CLASS_PERIPHERAL 0x08

bool device_class_moves(uint32_t class_code)
{
	static const uint8_t idle[] = { 0x00, 0x02, 0x03, 0x04, 0x06, 0x07 };

	if (class_code >> 16 == CLASS_BRIDGE)
		return false;
	for (size_t i = 0; i < sizeof(idle); i++)
		if (class_code >> 8 == (CLASS_PERIPHERAL << 8 | idle[i]))
			return false;
	return true;
}

bool device_moves(const struct pci_function *f)
{
	return (f->role == PCI_ROLE_ENDPOINT || f->role == PCI_ROLE_INTEGRATED) &&
	       device_class_moves(f->class_code);
}

static bool is_bridge(const struct pci_function *f)
{
	return f->role != PCI_ROLE_ENDPOINT && f->role != PCI_ROLE_INTEGRATED;
}

/* Is @below somewhere below @above? */
static bool is_below(const struct topology *t, uint32_t below, uint32_t above)
{
	/* as often as there are functions: a damaged tree may have a loop */
	for (size_t n = 0; n < t->nr && below < t->nr; n++) {
		below = t->functions[below].parent;
		if (below == above)
			return true;
	}
	return false;
}

static const char *role_text(const struct pci_function *f)
{
	switch (f->role) {
	case PCI_ROLE_ROOT_PORT:
		return "a root port";
	case PCI_ROLE_UPSTREAM:
	case PCI_ROLE_DOWNSTREAM:
		return "a port of a switch";
	default:
		return "a bridge";
	}
}

static int refuse_bridge(const struct topology *t, uint32_t index, struct diag *d)
{
	const struct pci_function *f = &t->functions[index];
	char list[256] = "";
	bool more = false;

	for (uint32_t i = 0; i < t->nr; i++)
		if (device_moves(&t->functions[i]) && is_below(t, i, index) &&
		    strlen(list) + MODEL_BDF_LEN + 8 < sizeof(list))
			str_append(list, sizeof(list), "%s%s", list[0] ? ", " : "",
				   t->functions[i].bdf);
		else
			more |= device_moves(&t->functions[i]) && is_below(t, i, index);
	diag_fail(d, -EINVAL, "-D %s is %s, which moves nothing by itself", f->bdf, role_text(f));
	if (list[0])
		diag_help(d, "devices below it: %s%s", list, more ? ", ..." : "");
	else
		diag_help(d, "there are no devices below it");
	return -EINVAL;
}

/* Devices that cannot be told from others. */
static int check_function(const struct topology *t, uint32_t index, struct diag *d)
{
	const struct pci_function *f = &t->functions[index];

	if (is_bridge(f))
		return refuse_bridge(t, index, d);
	if (f->alias_bridge != TOPOLOGY_NONE) {
		const struct pci_function *b = &t->functions[f->alias_bridge];

		diag_fail(d, -EINVAL,
			  "-D %s is behind the PCI bridge %s, which may put its own id (%02x:00.0) "
			  "on "
			  "the requests of all devices behind it",
			  f->bdf, b->bdf, b->secondary);
		return diag_advise(d, -EINVAL,
				   "they cannot be told from each other; other devices can");
	}
	return 0;
}

static int no_such(const struct sysfs *fs, const char *spec, const char *name, struct diag *d)
{
	char help[400];

	device_name_help(fs, name, help, sizeof(help));
	diag_fail(d, -ENODEV, "-D %s: there is no such device", spec);
	return diag_advise(d, -ENODEV, "%s", help);
}

/* An address without its domain is that of domain 0, or the only one like it. */
static int add_address(const struct topology *t, const char *spec, const struct bdf *want,
		       struct device_set *set, struct diag *d)
{
	bool has_domain = strchr(spec, ':') != strrchr(spec, ':');
	const struct pci_function *found = NULL;
	char list[256] = "";
	uint32_t nr = 0;

	for (uint32_t i = 0; i < t->nr; i++) {
		const struct pci_function *f = &t->functions[i];

		if (f->bus != want->bus || f->devfn != want->devfn ||
		    (f->domain != want->domain && has_domain))
			continue;
		/* domain 0 comes first */
		if (!found)
			found = f;
		nr += found->domain != want->domain || f == found;
		str_append(list, sizeof(list), "%s%s", list[0] ? ", " : "", f->bdf);
	}
	if (nr == 1) {
		device_set_add(set, found->bdf);
		return 0;
	}
	if (nr) {
		diag_fail(d, -EINVAL, "-D %s is in several PCI domains", spec);
		return diag_advise(d, -EINVAL, "name one of %s", list);
	}
	diag_fail(d, -ENODEV, "-D %s: there is no PCI device with this address", spec);
	return diag_advise(d, -ENODEV, "\"t410trace topology\" shows all devices");
}

static int add_name(const struct sysfs *fs, const char *spec, struct device_set *set,
		    struct diag *d)
{
	char real[PATH_MAX];
	const char *name = spec;
	bool known;
	int err;

	/* links in /dev have many names for a disk */
	if (!strncmp(spec, "/dev/", 5) && realpath(spec, real))
		name = real;
	if (name[0] == '/')
		name = strrchr(name, '/') + 1;
	err = device_name_find(fs, name, set, &known);
	if (err)
		return diag_error(d, err, "cannot look for the device");
	if (!known)
		return no_such(fs, spec, name, d);
	if (set->missing[0]) {
		diag_fail(d, -ENODEV, "-D %s is on %s, which was not there a moment ago", spec,
			  set->missing);
		return diag_advise(d, -ENODEV, "try again");
	}
	if (set->nr)
		return 0;
	diag_fail(d, -ENODEV, "-D %s is not on a PCI device", spec);
	return diag_advise(d, -ENODEV,
			   "only traffic of PCI devices passes the counters of root complexes");
}

/* One specification: its functions are added to @chosen. */
static int add_spec(const struct topology *t, const struct sysfs *fs, const char *spec,
		    bool *chosen, struct diag *d)
{
	struct device_set set = { .topology = t };
	const char *last = strrchr(spec, '/');
	struct bdf address;
	int err;

	set.chosen = calloc(t->nr + 1, sizeof(bool));
	if (!set.chosen)
		return diag_no_memory(d);
	/* "/sys/bus/pci/devices/0002:81:00.0", "pci/0002:81:00.0" */
	if (!bdf_parse(last ? last + 1 : spec, &address))
		err = add_address(t, last ? last + 1 : spec, &address, &set, d);
	else
		err = add_name(fs, spec, &set, d);
	for (uint32_t i = 0; i < t->nr && !err; i++) {
		if (!set.chosen[i])
			continue;
		err = check_function(t, i, d);
		chosen[i] = true;
	}
	free(set.chosen);
	return err;
}

const char *device_gpu_driver(const struct pci_function *f)
{
	static const char *const drivers[] = { "nvidia", "amdgpu", "xe", "i915" };

	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (!strcmp(f->driver, drivers[i]))
			return drivers[i];
	return NULL;
}

/* Without such a driver a VGA controller may be a mere console. */
static bool is_gpu(const struct pci_function *f)
{
	return f->kind == DEVICE_GPU && (f->class_code >> 8 != CLASS_VGA || device_gpu_driver(f));
}

/* All, or all GPUs */
static int add_all(const struct topology *t, bool gpus, bool *chosen, struct diag *d)
{
	bool any = false;

	for (uint32_t i = 0; i < t->nr; i++) {
		const struct pci_function *f = &t->functions[i];

		if (!device_moves(f) || f->alias_bridge != TOPOLOGY_NONE || (gpus && !is_gpu(f)))
			continue;
		chosen[i] = any = true;
	}
	if (any)
		return 0;
	if (gpus)
		diag_fail(d, -ENODEV, "-D gpu: there is no GPU that is a PCI device");
	else
		diag_fail(d, -ENODEV, "-D all: there are no PCI devices that move data");
	return diag_advise(d, -ENODEV, "\"t410trace topology\" shows what there is");
}

bool device_shares_mask(const struct topology *t, uint32_t index)
{
	const struct pci_function *f = &t->functions[index];

	for (uint32_t i = 0; i < t->nr && f->wiring.how != WIRING_UNKNOWN; i++) {
		const struct pci_function *g = &t->functions[i];

		if (g->port != f->port && g->wiring.how != WIRING_UNKNOWN &&
		    g->wiring.socket == f->wiring.socket && g->wiring.rc == f->wiring.rc &&
		    g->wiring.rp == f->wiring.rp && device_moves(g))
			return true;
	}
	return false;
}

static bool is_alone(const struct topology *t, uint32_t index)
{
	const struct pci_function *f = &t->functions[index];

	for (uint32_t i = 0; i < t->nr; i++)
		if (i != index && t->functions[i].port == f->port && device_moves(&t->functions[i]))
			return false;
	return f->port != TOPOLOGY_NONE && !device_shares_mask(t, index);
}

static int make_items(struct device_list *l, const bool *chosen, struct diag *d)
{
	const struct topology *t = l->topology;
	size_t nr = 0;

	for (uint32_t i = 0; i < t->nr; i++)
		nr += chosen[i];
	if (nr > TRACE_MAX_DEVICES) {
		diag_fail(d, -E2BIG, "-D: these are %zu devices, and at most %d are counted", nr,
			  TRACE_MAX_DEVICES);
		return diag_advise(d, -E2BIG, "name those that matter");
	}
	l->items = calloc(nr + 1, sizeof(*l->items));
	if (!l->items)
		return diag_no_memory(d);
	for (uint32_t i = 0; i < t->nr; i++) {
		const struct pci_function *f = &t->functions[i];

		if (chosen[i])
			l->items[l->nr++] =
				(struct device_item){ .function = i,
						      .requester_id = f->bus << 8 | f->devfn,
						      .alone = is_alone(t, i) };
	}
	return 0;
}

/* The items take over what the uses own. */
static int fill_items(struct device_list *l, const struct sysfs *fs)
{
	struct device_use *uses = calloc(l->nr + 1, sizeof(*uses));
	int err = uses ? device_uses_read(l, fs, uses) : -ENOMEM;

	for (size_t i = 0; i < l->nr && !err; i++) {
		const struct pci_function *f = &l->topology->functions[l->items[i].function];

		if (f->kind == DEVICE_GPU)
			err = device_use_gpu(fs, f->bdf, &uses[i]);
	}
	for (size_t i = 0; uses && i < l->nr; i++) {
		struct device_item *it = &l->items[i];

		it->disks = uses[i].disks;
		it->nr_disks = uses[i].nr_disks;
		it->interfaces = uses[i].interfaces;
		it->nr_interfaces = uses[i].nr_interfaces;
		it->nodes = uses[i].nodes;
		it->nr_nodes = uses[i].nr_nodes;
	}
	free(uses);
	return err;
}

int devices_select(const struct topology *t, const struct sysfs *fs, char *const *specs, size_t nr,
		   struct diag *d, struct device_list *ret)
{
	struct device_list l = { .topology = t };
	bool *chosen = calloc(t->nr + 1, sizeof(*chosen));
	int err = chosen ? 0 : diag_no_memory(d);

	for (size_t i = 0; i < nr && !err; i++) {
		bool gpus = !strcmp(specs[i], "gpu");

		err = gpus || !strcmp(specs[i], "all") ? add_all(t, gpus, chosen, d)
						       : add_spec(t, fs, specs[i], chosen, d);
	}
	if (!err)
		err = make_items(&l, chosen, d);
	if (!err && fill_items(&l, fs))
		err = diag_no_memory(d);
	free(chosen);
	if (err)
		devices_free(&l);
	else
		*ret = l;
	return err;
}

void devices_free(struct device_list *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->nr; i++) {
		free(l->items[i].disks);
		free(l->items[i].interfaces);
		free(l->items[i].nodes);
	}
	free(l->items);
	*l = (struct device_list){ 0 };
}

/* "nvme0n1 nvme0n2" becomes "nvme0n1,nvme0n2", and ends with dots when it does not fit. */
static void put_names(const char *names, char *ret, size_t size)
{
	static const char more[] = ",...";

	ret[0] = '\0';
	while (*names) {
		size_t length = strcspn(names, " ");
		const char *next = names + length + strspn(names + length, " ");

		if (strlen(ret) + length + 1 + (*next ? sizeof(more) : 1) > size) {
			str_append(ret, size, "%s", ret[0] ? more : more + 1);
			return;
		}
		str_append(ret, size, "%s%.*s", ret[0] ? "," : "", (int)length, names);
		names = next;
	}
}

void device_item_describe(const struct device_list *l, size_t item, struct device *ret)
{
	const struct pci_function *f = &l->topology->functions[l->items[item].function];

	*ret = (struct device){
		.kind = f->kind,
		.rc = f->wiring.rc,
		.rp = f->wiring.rp,
		.wiring = f->wiring.how,
	};
	str_copy(ret->bdf, sizeof(ret->bdf), f->bdf);
	put_names(f->names, ret->name, sizeof(ret->name));
}
