// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "platform/pci/pci_space.h"

#include <errno.h>
#include <limits.h>
#include <pci/pci.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

#define HEADER_SIZE	64  /* readable by all users */
#define EXTENDED	256 /* where extended capabilities begin */
#define SPACE_SIZE	4096
#define DVSEC_VENDOR	0x10de
#define DVSEC_NVIDIA_RP 0x0004
#define DVSEC_LENGTH	0x11
#define PORT_NUMBER	24 /* shift of the port number in the link capabilities */

/**
 * struct pci_space - an open libpci
 * @access: libpci's own
 * @dump: file in memory that it reads, -1 without
 * @fs: not owned; NULL with a dump
 * @listed, @nr_listed: the functions of the dump
 * @devs, @nr_devs: the same as libpci has it, in order
 * @no_names: pci.ids is missing or damaged
 * @back: where to continue when libpci gives up
 * @said: its message
 */
struct pci_space {
	struct pci_access *access;
	int dump;
	const struct sysfs *fs;
	struct bdf *listed;
	size_t nr_listed;
	struct pci_dev **devs;
	size_t nr_devs;
	bool no_names;
	jmp_buf back;
	char said[200];
};

/* libpci's error handler has no argument for its caller's data. */
static __thread struct pci_space *working;

static void __attribute__((noreturn, format(printf, 1, 2))) give_up(char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(working->said, sizeof(working->said), format, args);
	va_end(args);
	longjmp(working->back, 1);
}

static void __attribute__((format(printf, 1, 2))) say_nothing(char *format, ...)
{
	(void)format;
}

/* Run a job with libpci. Memory it holds when it gives up is released with its access. */
static int attempt(struct pci_space *s, void (*job)(struct pci_space *s, void *arg), void *arg,
		   struct diag *d)
{
	struct pci_space *before = working;

	working = s;
	if (setjmp(s->back)) {
		working = before;
		return diag_fail(d, strncmp(s->said, "Out of memory", 13) ? -EINVAL : -ENOMEM,
				 "cannot read PCI configuration space: %s", s->said);
	}
	job(s, arg);
	working = before;
	return 0;
}

static struct bdf address_of(const struct pci_dev *dev)
{
	return (struct bdf){
		.domain = (uint32_t)dev->domain,
		.bus = dev->bus,
		.devfn = (uint8_t)(dev->dev << 3 | dev->func),
	};
}

static int compare_devs(const void *a, const void *b)
{
	struct bdf first = address_of(*(struct pci_dev *const *)a);
	struct bdf second = address_of(*(struct pci_dev *const *)b);

	return bdf_compare(&first, &second);
}

/* libpci searches a dump's functions linearly, which takes long in a large one. */
static int index_devs(struct pci_space *s)
{
	struct pci_dev *dev;
	size_t nr = 0;

	for (dev = s->access->devices; dev; dev = dev->next)
		nr++;
	s->devs = calloc(nr + 1, sizeof(*s->devs));
	if (!s->devs)
		return -ENOMEM;
	for (dev = s->access->devices; dev; dev = dev->next)
		s->devs[s->nr_devs++] = dev;
	if (nr)
		qsort(s->devs, nr, sizeof(*s->devs), compare_devs);
	return 0;
}

/* Distributions keep the names in different places, and a static program runs on any. */
static void find_names(struct pci_space *s)
{
	static char *const files[] = { "/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids",
				       "/usr/share/misc/pci.ids.gz" };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (access(files[i], R_OK))
			continue;
		pci_set_name_list_path(s->access, files[i], 0);
		return;
	}
}

static void start(struct pci_space *s, void *arg)
{
	char *path = arg;

	s->access->method = s->fs ? PCI_ACCESS_SYS_BUS_PCI : PCI_ACCESS_DUMP;
	pci_set_param(s->access, s->fs ? "sysfs.path" : "dump.name", path);
	find_names(s);
	pci_init(s->access);
}

int pci_space_open(const struct sysfs *fs, const char *dump, struct diag *d, struct pci_space **ret)
{
	struct pci_space *s = calloc(1, sizeof(*s));
	char path[PATH_MAX + 16];
	int err = 0;

	if (!s)
		return diag_no_memory(d);
	s->fs = dump ? NULL : fs;
	s->dump = -1;
	if (dump)
		err = pci_dump_clean(dump, d, &s->dump, &s->listed, &s->nr_listed);
	if (!err && !(s->access = pci_alloc()))
		err = diag_no_memory(d);
	if (!err) {
		s->access->error = give_up;
		s->access->warning = say_nothing;
		s->access->debug = say_nothing;
		/* no names from the network, not even cached ones */
		s->access->id_lookup_mode = 0;
		if (dump)
			snprintf(path, sizeof(path), "/proc/self/fd/%d", s->dump);
		else
			snprintf(path, sizeof(path), "%s/bus/pci", fs->root);
		err = attempt(s, start, path, d);
	}
	if (!err && index_devs(s))
		err = diag_no_memory(d);
	if (err)
		pci_space_close(s);
	else
		*ret = s;
	return err;
}

static void stop(struct pci_space *s, void *arg)
{
	(void)arg;
	pci_cleanup(s->access);
}

void pci_space_close(struct pci_space *s)
{
	if (!s)
		return;
	if (s->access)
		attempt(s, stop, NULL, NULL);
	if (s->dump >= 0)
		close(s->dump);
	free(s->listed);
	free(s->devs);
	free(s);
}

static int compare(const void *a, const void *b)
{
	return bdf_compare(a, b);
}

/* In order, each once. */
static void sort_once(struct bdf *all, size_t *nr, size_t *odd)
{
	size_t kept = 0;

	if (*nr)
		qsort(all, *nr, sizeof(*all), compare);
	for (size_t i = 0; i < *nr; i++) {
		if (kept && !bdf_compare(&all[kept - 1], &all[i]))
			++*odd;
		else
			all[kept++] = all[i];
	}
	*nr = kept;
}

int pci_space_list(struct pci_space *s, struct bdf **ret, size_t *ret_nr, size_t *ret_odd)
{
	cleanup_texts struct text_list names = { 0 };
	struct bdf *all;
	size_t nr = 0, odd = 0;
	int err = s->fs ? sysfs_list(s->fs, &names, "bus/pci/devices") : 0;

	if (err)
		return err;
	all = calloc((s->fs ? names.nr : s->nr_listed) + 1, sizeof(*all));
	if (!all) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < names.nr; i++) {
		if (!bdf_is_name(names.items[i], strlen(names.items[i])) ||
		    bdf_parse(names.items[i], &all[nr]))
			odd++;
		else
			nr++;
	}
	if (!s->fs) {
		nr = s->nr_listed;
		memcpy(all, s->listed, nr * sizeof(*all));
	}
	sort_once(all, &nr, &odd);
	*ret = all;
	*ret_nr = nr;
	*ret_odd = odd;
	return 0;
}

/* One reading of one function. */
struct config_read {
	const struct bdf *address;
	struct pci_dev *dev;
	bool ours; /* to be released */
	struct pci_config config;
};

static void read_header(struct config_read *r)
{
	struct pci_dev *dev = r->dev;
	struct pci_config *c = &r->config;
	uint32_t ids = pci_read_long(dev, PCI_VENDOR_ID);
	uint8_t type = pci_read_byte(dev, PCI_HEADER_TYPE) & 0x7f;
	uint8_t header[HEADER_SIZE], more[4];

	if (!pci_read_block(dev, 0, header, sizeof(header)))
		return;
	c->readable = true;
	c->gone = true;
	for (size_t i = 0; i < sizeof(header); i++)
		c->gone &= header[i] == 0xff;
	c->cut = !pci_read_block(dev, HEADER_SIZE, more, sizeof(more));
	c->vendor = ids & 0xffff;
	c->device = ids >> 16;
	c->class_code = pci_read_long(dev, PCI_CLASS_REVISION) >> 8;
	c->bridge = !c->gone && (type == PCI_HEADER_TYPE_BRIDGE || type == PCI_HEADER_TYPE_CARDBUS);
	/* at the same place in both kinds of headers */
	if (c->bridge) {
		c->secondary = pci_read_byte(dev, PCI_SECONDARY_BUS);
		c->subordinate = pci_read_byte(dev, PCI_SUBORDINATE_BUS);
	}
}

static void read_express(struct config_read *r)
{
	struct pci_cap *cap = pci_find_cap(r->dev, PCI_CAP_ID_EXP, PCI_CAP_NORMAL);
	uint16_t flags;

	if (!cap)
		return;
	flags = pci_read_word(r->dev, (int)cap->addr + PCI_EXP_FLAGS);
	r->config.express = true;
	r->config.port_type = (flags & PCI_EXP_FLAGS_TYPE) >> 4;
	r->config.link_port = pci_read_long(r->dev, (int)cap->addr + PCI_EXP_LNKCAP) >> PORT_NUMBER;
}

static void read_virtual(struct config_read *r)
{
	struct pci_cap *cap = pci_find_cap(r->dev, PCI_EXT_CAP_ID_SRIOV, PCI_CAP_EXTENDED);
	struct pci_dev *dev = r->dev;
	int at = cap ? (int)cap->addr : 0;

	if (at < EXTENDED || at + PCI_IOV_BAR_BASE > SPACE_SIZE ||
	    !(pci_read_word(dev, at + PCI_IOV_CTRL) & PCI_IOV_CTRL_VFE))
		return;
	r->config.nr_vfs = pci_read_word(dev, at + PCI_IOV_NUMVF);
	r->config.first_vf = pci_read_word(dev, at + PCI_IOV_OFFSET);
	r->config.vf_stride = pci_read_word(dev, at + PCI_IOV_STRIDE);
	r->config.vf_device = pci_read_word(dev, at + PCI_IOV_DID);
}

/* Is this capability ours, and long enough? A length of 0 was never filled in. */
static bool read_dvsec(struct config_read *r, int at)
{
	uint32_t header, length;
	struct pci_dvsec *v = &r->config.dvsec;
	uint8_t bytes[DVSEC_LENGTH];

	if (at < EXTENDED || at + DVSEC_LENGTH > SPACE_SIZE ||
	    !pci_read_block(r->dev, at, bytes, sizeof(bytes)))
		return false;
	header = pci_read_long(r->dev, at + PCI_DVSEC_HEADER1);
	length = header >> 20;
	if ((header & 0xffff) != DVSEC_VENDOR || (length && length < DVSEC_LENGTH) ||
	    pci_read_word(r->dev, at + PCI_DVSEC_HEADER2) != DVSEC_NVIDIA_RP)
		return false;
	*v = (struct pci_dvsec){
		.present = true,
		.bus = bytes[0x0c],
		.segment = bytes[0x0d],
		.rp = bytes[0x0e],
		.rc = bytes[0x0f],
		.socket = bytes[0x10],
	};
	return true;
}

static void read_dvsecs(struct config_read *r)
{
	struct pci_cap *cap;
	unsigned int nr = 0;

	/* get the number of capabilities; nothing is found beyond the last one */
	pci_find_cap_nr(r->dev, PCI_EXT_CAP_ID_DVSEC, PCI_CAP_EXTENDED, &nr);
	for (unsigned int i = 0, index; i < nr; i++) {
		index = i;
		cap = pci_find_cap_nr(r->dev, PCI_EXT_CAP_ID_DVSEC, PCI_CAP_EXTENDED, &index);
		if (cap && read_dvsec(r, (int)cap->addr))
			return;
	}
}

static struct pci_dev *find_dev(const struct pci_space *s, const struct bdf *a)
{
	struct pci_dev wanted = {
		.domain = (int)a->domain,
		.bus = a->bus,
		.dev = a->devfn >> 3,
		.func = a->devfn & 7,
	};
	struct pci_dev *key = &wanted, **found;

	found = bsearch(&key, s->devs, s->nr_devs, sizeof(*s->devs), compare_devs);
	return found ? *found : NULL;
}

static void read_function(struct pci_space *s, void *arg)
{
	struct config_read *r = arg;
	const struct bdf *a = r->address;

	if (s->fs) {
		r->dev =
			pci_get_dev(s->access, (int)a->domain, a->bus, a->devfn >> 3, a->devfn & 7);
		r->ours = true;
	} else if (!(r->dev = find_dev(s, a))) {
		return;
	}
	read_header(r);
	if (r->config.readable && !r->config.gone && !r->config.cut) {
		read_express(r);
		read_virtual(r);
		read_dvsecs(r);
	}
}

static void end_function(struct pci_space *s, void *arg)
{
	struct config_read *r = arg;

	(void)s;
	pci_free_dev(r->dev);
}

int pci_space_read(struct pci_space *s, const struct bdf *a, struct diag *d, struct pci_config *ret)
{
	struct config_read r = { .address = a };
	int err = attempt(s, read_function, &r, d);

	if (r.ours)
		attempt(s, end_function, &r, NULL);
	if (!err)
		*ret = r.config;
	return err;
}

/* Words for classes where no pci.ids is installed; the first match wins. */
static const struct {
	uint32_t class_code;
	uint32_t mask;
	const char *text;
} classes[] = {
	{ 0x010802, 0xffffff, "NVMe controller" },
	{ 0x010000, 0xff0000, "Storage controller" },
	{ 0x020000, 0xffff00, "Ethernet controller" },
	{ 0x020700, 0xffff00, "InfiniBand controller" },
	{ 0x020000, 0xff0000, "Network controller" },
	{ 0x030200, 0xffff00, "3D controller" },
	{ 0x030000, 0xff0000, "Display controller" },
	{ 0x040000, 0xff0000, "Multimedia controller" },
	{ 0x050200, 0xffff00, "CXL memory" },
	{ 0x050000, 0xff0000, "Memory controller" },
	{ 0x060000, 0xffff00, "Host bridge" },
	{ 0x060400, 0xffff00, "PCI bridge" },
	{ 0x060000, 0xff0000, "Bridge" },
	{ 0x070000, 0xff0000, "Communication controller" },
	{ 0x080000, 0xff0000, "System peripheral" },
	{ 0x0c0300, 0xffff00, "USB controller" },
	{ 0x0c0000, 0xff0000, "Serial bus controller" },
	{ 0x120000, 0xff0000, "Accelerator" },
};

struct lookup {
	uint16_t vendor;
	uint16_t device;
	uint32_t class_code;
	char text[256];
};

static void look_up(struct pci_space *s, void *arg)
{
	const int flags = PCI_LOOKUP_NO_NUMBERS | PCI_LOOKUP_NO_HWDB;
	char vendor[128], class[128], *found, *kind;
	struct lookup *l = arg;

	/* an unreadable file jumps out of here; it is not read a second time */
	s->no_names = true;
	found = pci_lookup_name(s->access, l->text, sizeof(l->text),
				flags | PCI_LOOKUP_VENDOR | PCI_LOOKUP_DEVICE, l->vendor,
				l->device);
	s->no_names = false;
	if (found)
		return;
	found = pci_lookup_name(s->access, vendor, sizeof(vendor), flags | PCI_LOOKUP_VENDOR,
				l->vendor);
	kind = pci_lookup_name(s->access, class, sizeof(class), flags | PCI_LOOKUP_CLASS,
			       l->class_code >> 8);
	if (kind)
		snprintf(l->text, sizeof(l->text), "%s%s%s", found ? found : "", found ? " " : "",
			 kind);
}

void pci_space_name(struct pci_space *s, uint16_t vendor, uint16_t device, uint32_t class_code,
		    char *ret, size_t size)
{
	struct lookup l = { .vendor = vendor, .device = device, .class_code = class_code };
	size_t i;

	if (!s->no_names && !attempt(s, look_up, &l, NULL) && l.text[0]) {
		str_copy(ret, size, l.text);
		return;
	}
	for (i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		if ((class_code & classes[i].mask) == classes[i].class_code) {
			str_copy(ret, size, classes[i].text);
			return;
		}
	}
	snprintf(ret, size, "class 0x%04x", class_code >> 8);
}
