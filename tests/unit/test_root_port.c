// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a PCI function to its root port, on trees made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "platform/root_port.h"
#include "tree.h"

#define UNTOUCHED 0x5a

/* The listing of the T410 PMU guide. */
static const struct root_port listing[] = {
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
#define NR_LISTING (sizeof(listing) / sizeof(listing[0]))

static void put_u32(uint8_t *at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = value >> (8 * i);
}

/* Configuration space with another DVSEC first, then the one of the port. */
static void make_config(const struct root_port *port, uint8_t config[4096])
{
	memset(config, 0, 4096);
	put_u32(config + 0x100, 0x0023 | 1 << 16 | 0x140 << 20);
	put_u32(config + 0x104, 0x8086 | 0x20 << 20);
	put_u32(config + 0x108, 0x0004);
	put_u32(config + 0x140, 0x0001 | 1 << 16 | 0x200 << 20);
	put_u32(config + 0x200, 0x0023 | 1 << 16);
	put_u32(config + 0x204, 0x10de | 0x14 << 20);
	put_u32(config + 0x208, 0x0004);
	config[0x20c] = port->bus;
	config[0x20d] = port->segment;
	config[0x20e] = port->rp;
	config[0x20f] = port->rc;
	config[0x210] = port->socket;
}

struct world {
	struct tree tree;
	struct sysfs fs;
	struct diag d;
};

static int world_make(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	tree_make(&w->tree);
	assert_int_equal(sysfs_open(w->tree.root, &w->d, &w->fs), 0);
	*state = w;
	return 0;
}

static int world_free(void **state)
{
	struct world *w = *state;

	sysfs_close(&w->fs);
	tree_remove(&w->tree);
	free(w);
	return 0;
}

/* A function at a real path below devices/, with its link where the kernel has it. */
static void add_function(struct world *w, const char *parents, const char *name, const char *class)
{
	char path[256], target[256];

	snprintf(path, sizeof(path), "devices/%s/%s/class", parents, name);
	tree_put(&w->tree, path, class);
	snprintf(path, sizeof(path), "bus/pci/devices/%s", name);
	snprintf(target, sizeof(target), "../../../devices/%s/%s", parents, name);
	tree_link(&w->tree, path, target);
}

static void add_config(struct world *w, const char *parents, const char *name, const void *config,
		       size_t size)
{
	char path[256];

	snprintf(path, sizeof(path), "devices/%s/%s/config", parents, name);
	tree_write(&w->tree, path, config, size);
}

static void add_port(struct world *w, const char *bridge, const struct root_port *port)
{
	uint8_t config[4096];

	make_config(port, config);
	add_function(w, bridge, port->name, "0x060400");
	add_config(w, bridge, port->name, config, sizeof(config));
}

static void test_listing(void **state)
{
	struct world *w = *state;
	struct root_port *all;
	size_t nr;

	for (size_t i = 0; i < NR_LISTING; i++) {
		const struct root_port *want = &listing[i];
		struct root_port got;
		char bridge[32];

		snprintf(bridge, sizeof(bridge), "pci00%02x:%02x", want->segment, want->bus);
		add_port(w, bridge, want);
		assert_int_equal(root_port_of(&w->fs, want->name, &w->d, &got), 0);
		assert_memory_equal(&got, want, sizeof(got));
	}
	/* All at once, beside what is no root port. */
	add_function(w, "pci0002:80/0002:80:00.0", "0002:81:00.0", "0x010802");
	assert_int_equal(root_ports_read(&w->fs, &all, &nr), 0);
	assert_int_equal(nr, NR_LISTING);
	assert_memory_equal(all, listing, sizeof(listing));
	free(all);
}

static void test_none(void **state)
{
	struct world *w = *state;
	struct root_port *all = NULL;
	size_t nr = 7;

	assert_int_equal(root_ports_read(&w->fs, &all, &nr), 0);
	assert_int_equal(nr, 0);
	free(all);
}

/* Behind switches, and behind a platform device in front of the host bridge. */
static void test_below(void **state)
{
	struct world *w = *state;
	struct root_port got;

	add_port(w, "platform/soc/pci0002:80", &listing[1]);
	add_function(w, "platform/soc/pci0002:80/0002:80:00.0/0002:81:00.0/0002:82:01.0",
		     "0002:84:00.3", "0x010802");
	assert_int_equal(root_port_of(&w->fs, "0002:84:00.3", &w->d, &got), 0);
	assert_memory_equal(&got, &listing[1], sizeof(got));
}

static void refused(struct world *w, const char *bdf, int err, const char *words)
{
	struct root_port got, before;

	memset(&got, UNTOUCHED, sizeof(got));
	before = got;
	w->d = (struct diag){ 0 };
	assert_int_equal(root_port_of(&w->fs, bdf, &w->d, &got), err);
	assert_memory_equal(&got, &before, sizeof(got));
	if (!strstr(w->d.what, words))
		fail_msg("\"%s\" does not say \"%s\"", w->d.what, words);
}

static void test_refusals(void **state)
{
	static const char *const junk[] = { "",
					    "0002:81:00",
					    "81:00.0",
					    "0002:81:00.0/",
					    "../../x:81:00.0",
					    "0002-81:00.0",
					    "000200020002000200020002:81:00.0" };
	struct world *w = *state;
	struct root_port other = listing[1];
	uint8_t config[4096] = { 0 };

	for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++)
		refused(w, junk[i], -EINVAL, "no PCI address");
	refused(w, "0002:81:00.0", -ENOENT, "no PCI device 0002:81:00.0");
	add_function(w, "pci0007:00", "0007:00:02.0", "0x010802");
	refused(w, "0007:00:02.0", -EINVAL, "root complex itself");
	add_function(w, "pci0008:00", "0008:00:00.0", "0x060400");
	refused(w, "0008:00:00.0", -ENOENT, "configuration space of 0008:00:00.0");
	add_config(w, "pci0008:00", "0008:00:00.0", config, 64);
	refused(w, "0008:00:00.0", -EACCES, "ends after 64 bytes");
	add_config(w, "pci0008:00", "0008:00:00.0", config, sizeof(config));
	refused(w, "0008:00:00.0", -ENODATA, "does not say");
	other.bus = 0x81;
	add_port(w, "pci0002:80", &other);
	refused(w, "0002:80:00.0", -ENODATA, "bus 81");
	add_function(w, "virtual", "0009:00:00.0", "0x060400");
	refused(w, "0009:00:00.0", -EINVAL, "host bridge");
}

/* Lists that lead nowhere, in circles, or end in the middle. */
static void test_parse(void **state)
{
	uint8_t config[4096];
	struct root_port port;

	(void)state;
	make_config(&listing[1], config);
	for (size_t size = 0; size < sizeof(config); size++) {
		int want = size < 0x100 ? -EACCES : size < 0x211 ? -ENODATA : 0;

		port = (struct root_port){ .rp = UNTOUCHED };
		assert_int_equal(root_port_parse(config, size, &port), want);
		assert_int_equal(port.rp, want ? UNTOUCHED : 1);
	}
	/* too short to hold the socket */
	put_u32(config + 0x204, 0x10de | 0x10 << 20);
	assert_int_equal(root_port_parse(config, sizeof(config), &port), -ENODATA);
	/* a length that nobody filled in */
	put_u32(config + 0x204, 0x10de);
	assert_int_equal(root_port_parse(config, sizeof(config), &port), 0);
	/* a circle that leaves out ours */
	put_u32(config + 0x140, 0x0001 | 1 << 16 | 0x100 << 20);
	assert_int_equal(root_port_parse(config, sizeof(config), &port), -ENODATA);
	/* a pointer below the list, a device that is gone */
	put_u32(config + 0x140, 0x0001 | 1 << 16 | 0x40 << 20);
	assert_int_equal(root_port_parse(config, sizeof(config), &port), -ENODATA);
	memset(config, 0xff, sizeof(config));
	assert_int_equal(root_port_parse(config, sizeof(config), &port), -ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_listing, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_none, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_below, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_refusals, world_make, world_free),
		cmocka_unit_test(test_parse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
