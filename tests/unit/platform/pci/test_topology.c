// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The PCI topology of made-up machines: tree and wiring. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pci_world.h"
#include "platform/pci/topology.h"

#define PORT1 "pci0002:80/0002:80:00.0"

static void read_as(struct world *w, enum pmu_platform platform, struct topology *t)
{
	const struct topology_source src = { .sysfs = &w->fs, .platform = platform };
	int err = topology_read(&src, &w->d, t);

	if (err)
		fail_msg("%s", w->d.what);
}

static const struct pci_function *at(const struct topology *t, const char *bdf)
{
	uint32_t i = topology_find(t, bdf);

	if (i == TOPOLOGY_NONE)
		fail_msg("no function %s", bdf);
	return &t->functions[i];
}

/* Address of the function at an index; "" for none. */
static const char *name_of(const struct topology *t, uint32_t i)
{
	return i == TOPOLOGY_NONE ? "" : t->functions[i].bdf;
}

static bool noted(const struct topology *t, const char *words)
{
	for (size_t i = 0; i < t->notes.nr; i++)
		if (strstr(t->notes.items[i], words))
			return true;
	return false;
}

static void add(struct world *w, const char *parents, const char *name, uint32_t class_code,
		int type)
{
	config_make(w->c, 0x123410de, class_code, type);
	world_add(w, parents, name, CONFIG_SIZE);
}

static void add_bridge(struct world *w, const char *parents, const char *name, int type,
		       uint8_t own, uint8_t first, uint8_t last)
{
	config_bridge(w->c, type, own, first, last);
	world_add(w, parents, name, CONFIG_SIZE);
}

static void is_wired(const struct pci_wiring *w, enum wiring how, const struct guide_port *p)
{
	assert_int_equal(w->how, how);
	assert_int_equal(w->socket, p->socket);
	assert_int_equal(w->rc, p->rc);
	assert_int_equal(w->rp, p->rp);
}

static void test_guide(void **state)
{
	struct world *w = *state;
	struct topology t;

	for (size_t i = 0; i < NR_GUIDE; i++)
		world_add_port(w, &guide[i], CONFIG_SIZE);
	read_as(w, PMU_PLATFORM_UNKNOWN, &t);
	assert_int_equal(t.nr, NR_GUIDE);
	for (size_t i = 0; i < NR_GUIDE; i++) {
		const struct pci_function *f = &t.functions[i];

		assert_string_equal(f->bdf, guide[i].name);
		assert_int_equal(f->domain, guide[i].segment);
		assert_int_equal(f->bus, guide[i].bus);
		assert_int_equal(f->port, i);
		assert_int_equal(f->role, PCI_ROLE_ROOT_PORT);
		assert_int_equal(f->kind, DEVICE_PORT);
		is_wired(&f->wiring, WIRING_FIRMWARE, &guide[i]);
		assert_string_equal(f->wiring.note, "");
	}
	assert_false(t.cut);
	assert_int_equal(t.notes.nr, 0);
	topology_free(&t);
}

/* Switch, its ports, a multifunction device with a function number above 7 (ARI) below. */
static void test_tree(void **state)
{
	struct world *w = *state;
	struct topology t;

	world_add_port(w, &guide[1], CONFIG_SIZE);
	add_bridge(w, PORT1, "0002:81:00.0", TYPE_UP, 0x81, 0x82, 0x90);
	add_bridge(w, PORT1 "/0002:81:00.0", "0002:82:00.0", TYPE_DOWN, 0x82, 0x83, 0x83);
	add_bridge(w, PORT1 "/0002:81:00.0", "0002:82:01.0", TYPE_DOWN, 0x82, 0x84, 0x90);
	add(w, PORT1 "/0002:81:00.0/0002:82:00.0", "0002:83:00.0", 0x010802, TYPE_ENDPOINT);
	add(w, PORT1 "/0002:81:00.0/0002:82:01.0", "0002:84:00.0", 0x020000, TYPE_ENDPOINT);
	add(w, PORT1 "/0002:81:00.0/0002:82:01.0", "0002:84:02.4", 0x020000, TYPE_ENDPOINT);
	read_as(w, PMU_PLATFORM_UNKNOWN, &t);
	assert_int_equal(t.nr, 7);
	assert_string_equal(name_of(&t, at(&t, "0002:81:00.0")->parent), "0002:80:00.0");
	assert_string_equal(name_of(&t, at(&t, "0002:82:01.0")->parent), "0002:81:00.0");
	assert_string_equal(name_of(&t, at(&t, "0002:83:00.0")->parent), "0002:82:00.0");
	assert_string_equal(name_of(&t, at(&t, "0002:84:02.4")->parent), "0002:82:01.0");
	assert_int_equal(at(&t, "0002:81:00.0")->role, PCI_ROLE_UPSTREAM);
	assert_int_equal(at(&t, "0002:82:01.0")->role, PCI_ROLE_DOWNSTREAM);
	assert_int_equal(at(&t, "0002:84:02.4")->devfn, 20);
	assert_int_equal(at(&t, "2:84:2.4")->bus, 0x84);
	for (size_t i = 0; i < t.nr; i++) {
		assert_string_equal(name_of(&t, t.functions[i].port), "0002:80:00.0");
		is_wired(&t.functions[i].wiring, WIRING_FIRMWARE, &guide[1]);
		assert_int_equal(t.functions[i].alias_bridge, TOPOLOGY_NONE);
	}
	assert_int_equal(t.notes.nr, 0);
	topology_free(&t);
}

static void test_alias(void **state)
{
	struct world *w = *state;
	struct topology t;

	world_add_port(w, &guide[1], CONFIG_SIZE);
	add_bridge(w, PORT1, "0002:81:00.0", TYPE_TO_PCI, 0x81, 0x82, 0x84);
	add_bridge(w, PORT1 "/0002:81:00.0", "0002:82:01.0", TYPE_TO_PCI, 0x82, 0x83, 0x83);
	/* conventional bridge and device: no capability at all */
	w->c[0x06] = 0;
	tree_write(&w->tree, "devices/" PORT1 "/0002:81:00.0/0002:82:01.0/config", w->c, 256);
	add(w, PORT1 "/0002:81:00.0/0002:82:01.0", "0002:83:02.0", 0x020000, TYPE_ENDPOINT);
	add(w, PORT1 "/0002:81:00.0", "0002:82:02.0", 0x020000, TYPE_ENDPOINT);
	read_as(w, PMU_PLATFORM_UNKNOWN, &t);
	assert_int_equal(at(&t, "0002:82:01.0")->role, PCI_ROLE_PCI_BRIDGE);
	assert_string_equal(name_of(&t, at(&t, "0002:83:02.0")->alias_bridge), "0002:82:01.0");
	assert_string_equal(name_of(&t, at(&t, "0002:82:02.0")->alias_bridge), "0002:81:00.0");
	assert_int_equal(at(&t, "0002:81:00.0")->alias_bridge, TOPOLOGY_NONE);
	assert_string_equal(name_of(&t, at(&t, "0002:83:02.0")->port), "0002:80:00.0");
	topology_free(&t);
}

/* Virtual functions on the same and on another bus; domains above 0xff and 0xffff. */
static void test_virtual(void **state)
{
	static const char *const domains[] = { "0102", "10000" };
	struct world *w = *state;

	for (size_t i = 0; i < 2; i++) {
		char root[64], below[96], name[32], pf[32];
		struct guide_port p = guide[1];
		struct topology t;

		snprintf(name, sizeof(name), "%s:80:00.0", domains[i]);
		snprintf(root, sizeof(root), "pci%s:80", domains[i]);
		snprintf(below, sizeof(below), "%s/%s", root, name);
		p.segment = (uint8_t)strtoul(domains[i], NULL, 16);
		config_port(w->c, &p);
		world_add(w, root, name, CONFIG_SIZE);
		snprintf(pf, sizeof(pf), "%s:81:00.0", domains[i]);
		add(w, below, pf, 0x020000, TYPE_ENDPOINT);
		for (size_t k = 0; k < 2; k++) {
			char link[160];

			snprintf(name, sizeof(name), "%s:%s", domains[i],
				 k ? "82:10.2" : "81:00.1");
			config_make(w->c, 0xffffffff, 0x020000, TYPE_ENDPOINT);
			world_add(w, below, name, CONFIG_SIZE);
			world_put(w, below, name, "vendor", "0x15b3\n");
			snprintf(link, sizeof(link), "devices/%s/%s/physfn", below, name);
			tree_link(&w->tree, link, pf);
		}
		read_as(w, PMU_PLATFORM_UNKNOWN, &t);
		assert_string_equal(name_of(&t, at(&t, name)->physfn), pf);
		assert_int_equal(at(&t, name)->vendor, 0x15b3);
		assert_int_equal(at(&t, name)->devfn, 0x82);
		assert_int_equal(at(&t, name)->bus, 0x82);
		assert_int_equal(at(&t, pf)->physfn, TOPOLOGY_NONE);
		/* only the low 8 bits of the domain are in the capability: no mismatch */
		is_wired(&at(&t, name)->wiring, WIRING_FIRMWARE, &guide[1]);
		assert_string_equal(at(&t, name)->wiring.note, "");
		topology_free(&t);
	}
}

/* Nobody but root may read more than 64 bytes. */
static void test_cut(void **state)
{
	struct world *w = *state;
	const struct pci_function *f;
	struct topology t;

	world_add_port(w, &guide[1], 64);
	config_bridge(w->c, TYPE_UP, 0x81, 0x82, 0x90);
	world_add(w, PORT1, "0002:81:00.0", 64);
	config_bridge(w->c, TYPE_DOWN, 0x82, 0x83, 0x83);
	world_add(w, PORT1 "/0002:81:00.0", "0002:82:00.0", 64);
	config_make(w->c, 0x123410de, 0x010802, TYPE_ENDPOINT);
	world_add(w, PORT1 "/0002:81:00.0/0002:82:00.0", "0002:83:00.0", 64);
	world_put(w, PORT1 "/0002:81:00.0/0002:82:00.0", "0002:83:00.0", "numa_node", "1\n");
	/* not even T410's rule of thumb: the port number is beyond the 64 bytes */
	read_as(w, PMU_PLATFORM_T410, &t);
	assert_true(t.cut);
	assert_true(noted(&t, "CAP_SYS_ADMIN"));
	f = at(&t, "0002:83:00.0");
	assert_int_equal(f->wiring.how, WIRING_UNKNOWN);
	assert_int_equal(f->numa_node, 1);
	assert_string_equal(name_of(&t, f->port), "0002:80:00.0");
	assert_non_null(strstr(at(&t, "0002:80:00.0")->wiring.note, "CAP_SYS_ADMIN"));
	assert_int_equal(at(&t, "0002:81:00.0")->role, PCI_ROLE_UPSTREAM);
	assert_int_equal(at(&t, "0002:82:00.0")->role, PCI_ROLE_DOWNSTREAM);
	assert_int_equal(at(&t, "0002:80:00.0")->numa_node, -1);
	topology_free(&t);
}

/* Firmware that is odd, that is silent, and what is guessed then. */
static void test_wiring(void **state)
{
	const struct guide_port last = { "0008:00:00.0", 8, 0, 0, 7, 0 };
	struct guide_port odd = guide[1], port9 = guide[2];
	struct world *w = *state;
	struct topology t;

	odd.bus = 0x90;
	config_port(w->c, &odd);
	w->c[0x19] = 0x81;
	world_add(w, "pci0002:80", "0002:80:00.0", CONFIG_SIZE);
	port9.rp = 9;
	config_port(w->c, &port9);
	config_link_port(w->c, 2);
	world_add(w, "pci0002:a0", "0002:a0:00.0", CONFIG_SIZE);
	add_bridge(w, "pci000d:40", "000d:40:00.0", TYPE_ROOT, 0x40, 0x41, 0x4f);
	add_bridge(w, "pci0008:00", "0008:00:00.0", TYPE_ROOT, 0, 1, 4);
	/* a bridge of a root complex is no root port */
	add(w, "pci000d:c0", "000d:c0:01.0", 0x088000, TYPE_INTERNAL);
	read_as(w, PMU_PLATFORM_UNKNOWN, &t);
	is_wired(&at(&t, "0002:80:00.0")->wiring, WIRING_FIRMWARE, &guide[1]);
	assert_non_null(strstr(at(&t, "0002:80:00.0")->wiring.note, "bus 90"));
	assert_int_equal(at(&t, "0002:a0:00.0")->wiring.how, WIRING_UNKNOWN);
	assert_non_null(strstr(at(&t, "0002:a0:00.0")->wiring.note, "port 9"));
	assert_int_equal(at(&t, "000d:40:00.0")->wiring.how, WIRING_UNKNOWN);
	assert_int_equal(at(&t, "000d:c0:01.0")->role, PCI_ROLE_INTEGRATED);
	assert_int_equal(at(&t, "000d:c0:01.0")->port, TOPOLOGY_NONE);
	topology_free(&t);

	config_bridge(w->c, TYPE_ROOT, 0x40, 0x41, 0x4f);
	config_link_port(w->c, 1);
	tree_write(&w->tree, "devices/pci000d:40/000d:40:00.0/config", w->c, CONFIG_SIZE);
	read_as(w, PMU_PLATFORM_T410, &t);
	is_wired(&at(&t, "0002:a0:00.0")->wiring, WIRING_LOW, &guide[2]);
	is_wired(&at(&t, "000d:40:00.0")->wiring, WIRING_LOW, &guide[18]);
	is_wired(&at(&t, "0008:00:00.0")->wiring, WIRING_LOW, &last);
	assert_int_equal(at(&t, "000d:c0:01.0")->wiring.how, WIRING_UNKNOWN);
	topology_free(&t);
}

static void test_grace(void **state)
{
	struct world *w = *state;
	const struct pci_wiring *one;
	struct topology t;

	add_bridge(w, "pci0008:00", "0008:00:00.0", TYPE_ROOT, 0, 1, 3);
	add_bridge(w, "pci0018:00", "0018:00:00.0", TYPE_ROOT, 0, 1, 3);
	add_bridge(w, "pci001a:00", "001a:00:00.0", TYPE_ROOT, 0, 1, 3);
	add(w, "pci0018:00/0018:00:00.0", "0018:01:00.0", 0x010802, TYPE_ENDPOINT);
	read_as(w, PMU_PLATFORM_GRACE, &t);
	one = &at(&t, "0008:00:00.0")->wiring;
	assert_true(one->how == WIRING_MEDIUM && one->socket == 0 && one->rp == 8);
	one = &at(&t, "0018:01:00.0")->wiring;
	assert_true(one->how == WIRING_MEDIUM && one->socket == 1 && one->rp == 8);
	assert_int_equal(at(&t, "001a:00:00.0")->wiring.how, WIRING_UNKNOWN);
	topology_free(&t);
}

/* A controller with a domain of its own behind it: up to the physical device. */
static void test_domain_below(void **state)
{
	struct world *w = *state;
	struct topology t;

	world_add_port(w, &guide[1], CONFIG_SIZE);
	add(w, PORT1, "0002:81:00.0", 0x010400, TYPE_ENDPOINT);
	add_bridge(w, PORT1 "/0002:81:00.0/pci10000:00", "10000:00:02.0", TYPE_ROOT, 0, 1, 1);
	add(w, PORT1 "/0002:81:00.0/pci10000:00/10000:00:02.0", "10000:01:00.0", 0x010802,
	    TYPE_ENDPOINT);
	read_as(w, PMU_PLATFORM_UNKNOWN, &t);
	assert_string_equal(name_of(&t, at(&t, "10000:00:02.0")->parent), "0002:81:00.0");
	assert_string_equal(name_of(&t, at(&t, "10000:01:00.0")->port), "0002:80:00.0");
	assert_int_equal(t.notes.nr, 0);
	topology_free(&t);
}

/* Damaged copies: circles of links, bridges that lead nowhere, entries that are nothing. */
static void test_damage(void **state)
{
	struct world *w = *state;
	struct topology t;

	add_bridge(w, "pci0000:00/0000:02:00.0", "0000:01:00.0", TYPE_ROOT, 1, 1, 0xff);
	add_bridge(w, "pci0000:00/0000:01:00.0", "0000:02:00.0", TYPE_UP, 2, 9, 3);
	add_bridge(w, "pci0000:00", "0000:03:00.0", TYPE_ROOT, 3, 4, 9);
	add_bridge(w, "pci0000:00", "0000:03:01.0", TYPE_ROOT, 3, 4, 5);
	/* says by its path that it is somewhere else */
	add(w, "pci0000:00/0000:03:01.0", "0000:07:00.0", 0x020000, TYPE_ENDPOINT);
	tree_put(&w->tree, "bus/pci/devices/junk/class", "0x1\n");
	tree_put(&w->tree, "bus/pci/devices/00000:00:00.0/class", "0x1\n");
	/* a function without any file, one that is gone */
	tree_put(&w->tree, "bus/pci/devices/0000:08:00.0/power", "");
	memset(w->c, 0xff, sizeof(w->c));
	world_add(w, "pci0000:00", "0000:0a:00.0", CONFIG_SIZE);
	world_put(w, "pci0000:00", "0000:0a:00.0", "class", "0x060400\n");
	read_as(w, PMU_PLATFORM_T410, &t);
	assert_int_equal(t.nr, 7);
	assert_true(noted(&t, "circle"));
	assert_true(noted(&t, "2 entries"));
	assert_true(noted(&t, "same buses"));
	assert_true(noted(&t, "the kernel, which is believed"));
	assert_true(noted(&t, "2 of 7 functions"));
	assert_string_equal(name_of(&t, at(&t, "0000:07:00.0")->parent), "0000:03:01.0");
	assert_int_equal(topology_find(&t, "0000:00:00.0"), TOPOLOGY_NONE);
	assert_int_equal(topology_find(&t, "junk"), TOPOLOGY_NONE);
	topology_free(&t);
}

/* What libpci cannot cope with makes it give up: an error here, not the end. */
static void test_long_path(void **state)
{
	struct world *w = *state;
	char part[201], name[1300] = "", path[PATH_MAX];
	struct sysfs fs = { .fd = -1 };
	struct topology_source src = { .sysfs = &fs };
	struct topology t;

	memset(part, 'x', 200);
	part[200] = '\0';
	for (int i = 0; i < 6; i++)
		sprintf(name + strlen(name), "%s/", part);
	tree_path(&w->tree, name, path);
	strcat(name, "bus/pci/devices/0000:00:00.0/class");
	tree_put(&w->tree, name, "0x060400\n");
	assert_int_equal(sysfs_open(path, &w->d, &fs), 0);
	assert_int_equal(topology_read(&src, &w->d, &t), 0);
	assert_int_equal(t.nr, 1);
	assert_int_equal(t.functions[0].role, PCI_ROLE_ROOT_PORT);
	assert_int_equal(t.functions[0].wiring.how, WIRING_UNKNOWN);
	assert_true(noted(&t, "1 of 1 functions"));
	topology_free(&t);
	sysfs_close(&fs);
}

static void test_none(void **state)
{
	struct world *w = *state;
	const struct topology_source src = { .sysfs = &w->fs };
	struct topology t, before;

	memset(&t, 0x5a, sizeof(t));
	before = t;
	assert_int_equal(topology_read(&src, &w->d, &t), -ENOENT);
	assert_memory_equal(&t, &before, sizeof(t));
	assert_non_null(strstr(w->d.what, "no PCI"));
	tree_put(&w->tree, "bus/pci/devices/.keep", "");
	assert_int_equal(topology_read(&src, NULL, &t), -ENOENT);
	topology_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_guide, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_tree, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_alias, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_virtual, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_cut, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_wiring, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_grace, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_domain_below, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_damage, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_long_path, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_none, world_make, world_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
