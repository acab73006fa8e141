/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Made-up PCI functions: configuration space byte by byte, as files of sysfs or as a dump. */
#ifndef TEST_PCI_WORLD_H
#define TEST_PCI_WORLD_H

#include "platform/sys/sysfs.h"
#include "tree.h"

#define CONFIG_SIZE   4096
#define EXPRESS	      0x40 /* where the PCI Express capability is put */

#define TYPE_ENDPOINT 0
#define TYPE_ROOT     4
#define TYPE_UP	      5
#define TYPE_DOWN     6
#define TYPE_TO_PCI   7
#define TYPE_INTERNAL 9

/* A root port of the T410 PMU guide. */
struct guide_port {
	const char *name;
	uint8_t segment, bus, rp, rc, socket;
};

static const struct guide_port guide[] = {
	{ "0001:00:00.0", 0x01, 0x00, 0, 0, 0 }, { "0002:80:00.0", 0x02, 0x80, 1, 1, 0 },
	{ "0002:a0:00.0", 0x02, 0xa0, 2, 1, 0 }, { "0002:c0:00.0", 0x02, 0xc0, 3, 1, 0 },
	{ "0002:e0:00.0", 0x02, 0xe0, 4, 1, 0 }, { "0003:00:00.0", 0x03, 0x00, 0, 2, 0 },
	{ "0004:00:00.0", 0x04, 0x00, 0, 3, 0 }, { "0005:00:00.0", 0x05, 0x00, 0, 4, 0 },
	{ "0005:40:00.0", 0x05, 0x40, 1, 4, 0 }, { "0005:c0:00.0", 0x05, 0xc0, 2, 4, 0 },
	{ "0006:00:00.0", 0x06, 0x00, 0, 5, 0 }, { "0009:00:00.0", 0x09, 0x00, 0, 0, 1 },
	{ "000a:80:00.0", 0x0a, 0x80, 1, 1, 1 }, { "000a:a0:00.0", 0x0a, 0xa0, 2, 1, 1 },
	{ "000a:e0:00.0", 0x0a, 0xe0, 3, 1, 1 }, { "000b:00:00.0", 0x0b, 0x00, 0, 2, 1 },
	{ "000c:00:00.0", 0x0c, 0x00, 0, 3, 1 }, { "000d:00:00.0", 0x0d, 0x00, 0, 4, 1 },
	{ "000d:40:00.0", 0x0d, 0x40, 1, 4, 1 }, { "000d:c0:00.0", 0x0d, 0xc0, 2, 4, 1 },
	{ "000e:00:00.0", 0x0e, 0x00, 0, 5, 1 },
};
#define NR_GUIDE (sizeof(guide) / sizeof(guide[0]))

static inline void put_le(uint8_t *at, uint32_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

/* An endpoint with the PCI Express capability. */
static inline void config_make(uint8_t *c, uint32_t ids, uint32_t class_code, int type)
{
	memset(c, 0, CONFIG_SIZE);
	put_le(c, ids, 4); /* device << 16 | vendor */
	put_le(c + 0x06, 0x10, 2);
	put_le(c + 0x09, class_code, 3);
	c[0x34] = EXPRESS;
	c[EXPRESS] = 0x10;
	put_le(c + EXPRESS + 2, 2u | (uint32_t)type << 4, 2);
}

/* A bridge with buses below. */
static inline void config_bridge(uint8_t *c, int type, uint8_t own, uint8_t first, uint8_t last)
{
	config_make(c, 0x22b110de, 0x060400, type);
	c[0x0e] = 1;
	c[0x18] = own;
	c[0x19] = first;
	c[0x1a] = last;
}

static inline void config_link_port(uint8_t *c, uint8_t port)
{
	c[EXPRESS + 0x0c + 3] = port;
}

/* A capability in the extended list. */
static inline void config_extended(uint8_t *c, int at, uint32_t id, int next)
{
	put_le(c + at, id | 1u << 16 | (uint32_t)next << 20, 4);
}

/* Some other DVSEC first, then that of the port. */
static inline void config_dvsec(uint8_t *c, const struct guide_port *p)
{
	config_extended(c, 0x100, 0x0023, 0x140);
	put_le(c + 0x104, 0x8086u | 0x20u << 20, 4);
	put_le(c + 0x108, 0x0004, 2);
	config_extended(c, 0x140, 0x0001, 0x200);
	config_extended(c, 0x200, 0x0023, 0);
	put_le(c + 0x204, 0x10deu | 0x14u << 20, 4);
	put_le(c + 0x208, 0x0004, 2);
	c[0x20c] = p->bus;
	c[0x20d] = p->segment;
	c[0x20e] = p->rp;
	c[0x20f] = p->rc;
	c[0x210] = p->socket;
}

static inline void config_port(uint8_t *c, const struct guide_port *p)
{
	config_bridge(c, TYPE_ROOT, p->bus, (uint8_t)(p->bus + 1), (uint8_t)(p->bus + 0x1f));
	config_link_port(c, p->rp);
	config_dvsec(c, p);
}

static inline void config_virtual(uint8_t *c, uint32_t first, uint32_t stride, uint32_t nr,
				  uint32_t device)
{
	config_extended(c, 0x100, 0x0010, 0);
	put_le(c + 0x108, 1, 2);
	put_le(c + 0x110, nr, 2);
	put_le(c + 0x114, first, 2);
	put_le(c + 0x116, stride, 2);
	put_le(c + 0x11a, device, 2);
}

struct world {
	struct tree tree;
	struct sysfs fs;
	struct diag d;
	uint8_t c[CONFIG_SIZE];
};

static inline int world_make(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	tree_make(&w->tree);
	assert_int_equal(sysfs_open(w->tree.root, &w->d, &w->fs), 0);
	*state = w;
	return 0;
}

static inline int world_free(void **state)
{
	struct world *w = *state;

	sysfs_close(&w->fs);
	tree_remove(&w->tree);
	free(w);
	return 0;
}

/* A file of a function, whose directory is devices/PARENTS/NAME. */
static inline void world_put(struct world *w, const char *parents, const char *name,
			     const char *file, const char *text)
{
	char path[512];

	snprintf(path, sizeof(path), "devices/%s/%s/%s", parents, name, file);
	tree_put(&w->tree, path, text);
}

/* The function in w->c; @size of its configuration space may be read, 0 = there is no file. */
static inline void world_add(struct world *w, const char *parents, const char *name, size_t size)
{
	const uint8_t *c = w->c;
	char path[512], target[512], text[32];

	snprintf(text, sizeof(text), "0x%02x%02x%02x\n", c[11], c[10], c[9]);
	world_put(w, parents, name, "class", text);
	snprintf(text, sizeof(text), "0x%02x%02x\n", c[1], c[0]);
	world_put(w, parents, name, "vendor", text);
	snprintf(text, sizeof(text), "0x%02x%02x\n", c[3], c[2]);
	world_put(w, parents, name, "device", text);
	snprintf(path, sizeof(path), "devices/%s/%s/config", parents, name);
	if (size)
		tree_write(&w->tree, path, c, size);
	snprintf(path, sizeof(path), "bus/pci/devices/%s", name);
	snprintf(target, sizeof(target), "../../../devices/%s/%s", parents, name);
	tree_link(&w->tree, path, target);
}

static inline void world_add_port(struct world *w, const struct guide_port *p, size_t size)
{
	char root[32];

	config_port(w->c, p);
	snprintf(root, sizeof(root), "pci%04x:%02x", p->segment, p->bus);
	world_add(w, root, p->name, size);
}

/* A device of a class, "../../devices/..." below the function's directory. */
static inline void world_class(struct world *w, const char *class, const char *name,
			       const char *place)
{
	char path[512], target[512];

	snprintf(path, sizeof(path), "devices/%s/%s/uevent", place, name);
	tree_put(&w->tree, path, "");
	snprintf(path, sizeof(path), "class/%s/%s", class, name);
	snprintf(target, sizeof(target), "../../devices/%s/%s", place, name);
	tree_link(&w->tree, path, target);
}

/* As lspci -xxxx prints it. */
static inline void dump_add(FILE *out, const char *name, const uint8_t *c, size_t size)
{
	fprintf(out, "%s Something: of Somebody (rev 01)\n", name);
	for (size_t i = 0; i < size; i++) {
		if (i % 16 == 0)
			fprintf(out, "%s%02zx:", i ? "\n" : "", i);
		fprintf(out, " %02x", c[i]);
	}
	fprintf(out, "\n\n");
}

#endif
