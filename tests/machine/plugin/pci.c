/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Configuration space of the machine's own PCI segments, as flat memory: the
 * board knows one segment only, and nothing here does more than exist. Functions
 * come from a file, one line each:
 *
 *	root_port|upstream|downstream|end_point KEY=VALUE...	(values hexadecimal)
 *
 * with the keys below. An end point with vfs=N has an SR-IOV capability, and
 * its virtual functions answer while the guest has them enabled.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "pci.h"

#define MAX_FUNCTIONS 512

static struct pci_function *functions[MAX_FUNCTIONS];
static unsigned int nr_functions;

static const struct key {
	const char *name;
	size_t offset;
	unsigned int max;
} keys[] = {
	{ "segment", offsetof(struct pci_line, segment), ECAM_SEGMENTS - 1 },
	{ "bus", offsetof(struct pci_line, bus), 0xff },
	{ "device", offsetof(struct pci_line, device), 0x1f },
	{ "function", offsetof(struct pci_line, function), 7 },
	{ "vendor", offsetof(struct pci_line, vendor), 0xffff },
	{ "device_id", offsetof(struct pci_line, device_id), 0xffff },
	{ "class", offsetof(struct pci_line, class), 0xffffff },
	{ "multi", offsetof(struct pci_line, multi), 1 },
	{ "secondary", offsetof(struct pci_line, secondary), 0xff },
	{ "subordinate", offsetof(struct pci_line, subordinate), 0xff },
	{ "dvsec", offsetof(struct pci_line, dvsec), 1 },
	{ "port", offsetof(struct pci_line, port), 0xff },
	{ "rc", offsetof(struct pci_line, rc), 0xff },
	{ "socket", offsetof(struct pci_line, socket), 0xff },
	{ "rasdes", offsetof(struct pci_line, rasdes), 1 },
	{ "vfs", offsetof(struct pci_line, vfs), 64 },
	{ "vf_device_id", offsetof(struct pci_line, vf_device_id), 0xffff },
};

static int set_key(struct pci_line *l, const char *name, const char *value)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		unsigned long v;
		char *end;

		if (strcmp(keys[i].name, name))
			continue;
		v = strtoul(value, &end, 16);
		if (end == value || *end || v > keys[i].max)
			return -EINVAL;
		*(unsigned int *)((char *)l + keys[i].offset) = (unsigned int)v;
		return 0;
	}
	return -EINVAL;
}

static int parse_type(const char *word, enum pci_type *ret_type)
{
	static const char *const types[NR_TYPES] = {
		[TYPE_END_POINT] = "end_point",
		[TYPE_ROOT_PORT] = "root_port",
		[TYPE_UPSTREAM] = "upstream",
		[TYPE_DOWNSTREAM] = "downstream",
	};

	for (int i = 0; i < NR_TYPES; i++)
		if (!strcmp(types[i], word)) {
			*ret_type = i;
			return 0;
		}
	return -EINVAL;
}

static int parse_line(char *text, struct pci_line *ret_line)
{
	struct pci_line l = { 0 };
	char *save, *word = strtok_r(text, " \n", &save);

	if (!word || parse_type(word, &l.type))
		return -EINVAL;
	while ((word = strtok_r(NULL, " \n", &save))) {
		char *value = strchr(word, '=');

		if (!value)
			return -EINVAL;
		*value++ = 0;
		if (set_key(&l, word, value))
			return -EINVAL;
	}
	*ret_line = l;
	return 0;
}

static struct pci_function *new_function(void)
{
	struct pci_function *f = nr_functions < MAX_FUNCTIONS ? calloc(1, sizeof(*f)) : NULL;

	if (f)
		functions[nr_functions++] = f;
	return f;
}

static int add_functions(const struct pci_line *l)
{
	struct pci_function *f = new_function();

	if (!f)
		return -ENOMEM;
	pci_fill(f, l);
	if (l->rasdes) {
		f->dwc = dwc_new(l->socket, l->port, f->config);
		if (!f->dwc)
			return -ENOMEM;
	}
	for (unsigned int i = 0; i < l->vfs; i++) {
		struct pci_function *vf = new_function();

		if (!vf)
			return -ENOMEM;
		pci_fill_vf(vf, f, i);
	}
	return 0;
}

int pci_load(const char *path)
{
	FILE *file = fopen(path, "r");
	unsigned int nr = 0;
	char text[512];
	int err = 0;

	if (!file)
		return -errno;
	while (!err && fgets(text, sizeof(text), file)) {
		struct pci_line l;

		nr++;
		if (text[0] == '#' || text[0] == '\n')
			continue;
		err = parse_line(text, &l);
		if (!err)
			err = add_functions(&l);
		if (err)
			fprintf(stderr, "t410: %s:%u: %s\n", path, nr, strerror(-err));
	}
	fclose(file);
	return err;
}

static struct pci_function *find(uint64_t offset)
{
	uint32_t key = (uint32_t)(offset >> PAGE_SHIFT);

	for (unsigned int i = 0; i < nr_functions; i++) {
		struct pci_function *f = functions[i];

		if (f->key != key)
			continue;
		if (f->pf && f->vf_index >= pci_vfs_enabled(f->pf))
			return NULL;
		return f;
	}
	return NULL;
}

uint64_t pci_config_read(uint64_t offset, unsigned int size)
{
	const struct pci_function *f = find(offset);
	uint64_t value = 0;

	/* all ones is what a host bridge gives for a function that is not there */
	if (!f)
		return UINT64_MAX >> (64 - 8 * size);
	if (f->dwc && dwc_read(f->dwc, offset & PAGE_MASK, &value))
		return value;
	memcpy(&value, f->config + (offset & PAGE_MASK), size);
	return value;
}

void pci_config_write(uint64_t offset, uint64_t value, unsigned int size)
{
	struct pci_function *f = find(offset);

	if (!f)
		return;
	if (f->dwc)
		dwc_write(f->dwc, offset & PAGE_MASK, value);
	for (unsigned int i = 0; i < size; i++) {
		uint8_t *byte = &f->config[(offset & PAGE_MASK) + i];
		uint8_t mask = f->writable[(offset & PAGE_MASK) + i];

		*byte = (uint8_t)((*byte & ~mask) | (value >> 8 * i & mask));
	}
}
