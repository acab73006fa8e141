// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What PCI functions are used for, and the user's map. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pci_world.h"
#include "platform/pci/topology.h"

#define PORT1 "pci0002:80/0002:80:00.0"

static void add(struct world *w, const char *name, uint32_t class_code)
{
	config_make(w->c, 0x123410de, class_code, TYPE_ENDPOINT);
	world_add(w, PORT1, name, CONFIG_SIZE);
}

static void read_with(struct world *w, const char *map, struct topology *t)
{
	struct topology_source src = { .sysfs = &w->fs };
	struct pci_map *m = NULL;
	char path[PATH_MAX];
	int err = 0;

	if (map) {
		tree_put(&w->tree, "map", map);
		tree_path(&w->tree, "map", path);
		err = pci_map_read(path, &w->d, &m);
		src.map = m;
	}
	if (!err)
		err = topology_read(&src, &w->d, t);
	pci_map_free(m);
	if (err)
		fail_msg("%s", w->d.what);
}

static void is_used(const struct topology *t, const char *bdf, enum device_kind kind,
		    const char *names)
{
	uint32_t i = topology_find(t, bdf);

	assert_int_not_equal(i, TOPOLOGY_NONE);
	assert_string_equal(t->functions[i].names, names);
	assert_int_equal(t->functions[i].kind, kind);
	assert_true(t->functions[i].what[0]);
}

static void test_kinds(void **state)
{
	struct world *w = *state;
	struct topology t;

	world_add_port(w, &guide[1], CONFIG_SIZE);
	add(w, "0002:81:00.0", 0x010802);
	world_class(w, "nvme", "nvme0", PORT1 "/0002:81:00.0/nvme");
	world_class(w, "block", "nvme0n1", PORT1 "/0002:81:00.0/nvme/nvme0");
	world_class(w, "block", "nvme0n2", PORT1 "/0002:81:00.0/nvme/nvme0");
	world_class(w, "block", "nvme0n1p1", PORT1 "/0002:81:00.0/nvme/nvme0/nvme0n1");
	tree_put(&w->tree, "devices/" PORT1 "/0002:81:00.0/nvme/nvme0/nvme0n1/nvme0n1p1/partition",
		 "1\n");
	add(w, "0002:82:00.0", 0x010802);
	world_class(w, "nvme", "nvme1", PORT1 "/0002:82:00.0/nvme");
	add(w, "0002:83:00.0", 0x010000);
	world_class(w, "block", "vda", PORT1 "/0002:83:00.0/virtio1/block");
	add(w, "0002:84:00.0", 0x020000);
	world_class(w, "net", "eth0", PORT1 "/0002:84:00.0/net");
	world_class(w, "infiniband", "mlx5_0", PORT1 "/0002:84:00.0/infiniband");
	add(w, "0002:84:00.1", 0x020000);
	world_class(w, "net", "eth1", PORT1 "/0002:84:00.1/net");
	world_class(w, "net", "lo", "virtual/net");
	add(w, "0002:85:00.0", 0x030200);
	world_class(w, "drm", "card1", PORT1 "/0002:85:00.0/drm");
	world_class(w, "drm", "card1-DP-1", PORT1 "/0002:85:00.0/drm/card1");
	world_class(w, "drm", "renderD128", PORT1 "/0002:85:00.0/drm");
	add(w, "0002:86:00.0", 0x030200);
	tree_link(&w->tree, "devices/" PORT1 "/0002:86:00.0/driver",
		  "../../../../bus/pci/drivers/vfio-pci");
	tree_link(&w->tree, "devices/" PORT1 "/0002:86:00.0/iommu_group",
		  "../../../../kernel/iommu_groups/42");
	add(w, "0002:87:00.0", 0x088000);
	read_with(w, NULL, &t);
	is_used(&t, "0002:80:00.0", DEVICE_PORT, "");
	is_used(&t, "0002:81:00.0", DEVICE_NVME, "nvme0n1 nvme0n2");
	is_used(&t, "0002:82:00.0", DEVICE_NVME, "nvme1");
	is_used(&t, "0002:83:00.0", DEVICE_BLOCK, "vda");
	is_used(&t, "0002:84:00.0", DEVICE_RDMA, "mlx5_0 eth0");
	is_used(&t, "0002:84:00.1", DEVICE_NET, "eth1");
	is_used(&t, "0002:85:00.0", DEVICE_GPU, "card1");
	is_used(&t, "0002:86:00.0", DEVICE_VFIO, "vfio/42");
	is_used(&t, "0002:87:00.0", DEVICE_OTHER, "");
	topology_free(&t);
}

/* One disk through two controllers, another through one of them only. */
static void test_multipath(void **state)
{
	struct world *w = *state;
	struct topology t;

	world_add_port(w, &guide[1], CONFIG_SIZE);
	for (int i = 0; i < 3; i++) {
		char name[32], place[96], controller[32], link[96], target[160];

		snprintf(name, sizeof(name), "0002:8%d:00.0", i + 1);
		add(w, name, 0x010802);
		snprintf(place, sizeof(place), PORT1 "/%s/nvme", name);
		snprintf(controller, sizeof(controller), "nvme%d", i);
		world_class(w, "nvme", controller, place);
		snprintf(link, sizeof(link), "class/nvme-subsystem/nvme-subsys%d/%s", i / 2,
			 controller);
		snprintf(target, sizeof(target), "../../../devices/%s/%s", place, controller);
		tree_link(&w->tree, link, target);
	}
	world_class(w, "block", "nvme0c0n1", PORT1 "/0002:81:00.0/nvme/nvme0");
	world_class(w, "block", "nvme0c1n1", PORT1 "/0002:82:00.0/nvme/nvme1");
	world_class(w, "block", "nvme0c1n2", PORT1 "/0002:82:00.0/nvme/nvme1");
	world_class(w, "block", "nvme0n1", "virtual/nvme-subsystem/nvme-subsys0");
	world_class(w, "block", "nvme0n2", "virtual/nvme-subsystem/nvme-subsys0");
	/* without paths of its own: by the subsystem */
	world_class(w, "block", "nvme1n1", "virtual/nvme-subsystem/nvme-subsys1");
	read_with(w, NULL, &t);
	is_used(&t, "0002:81:00.0", DEVICE_NVME, "nvme0n1");
	is_used(&t, "0002:82:00.0", DEVICE_NVME, "nvme0n1 nvme0n2");
	is_used(&t, "0002:83:00.0", DEVICE_NVME, "nvme1n1");
	topology_free(&t);
}

/* More names than there is room for: whole ones, and that there are more. */
static void test_many(void **state)
{
	struct world *w = *state;
	struct topology t;
	const char *names;

	world_add_port(w, &guide[1], CONFIG_SIZE);
	add(w, "0002:81:00.0", 0x020000);
	for (int i = 10; i < 60; i++) {
		char name[32];

		snprintf(name, sizeof(name), "enP2p129s0f%d", i);
		world_class(w, "net", name, PORT1 "/0002:81:00.0/net");
	}
	world_class(w, "net", "with a blank", PORT1 "/0002:81:00.0/net");
	read_with(w, NULL, &t);
	names = t.functions[topology_find(&t, "0002:81:00.0")].names;
	assert_string_equal(names + strlen(names) - 4, " ...");
	assert_int_equal((strlen(names) - 3) % 14, 0);
	assert_null(strstr(names, "blank"));
	topology_free(&t);
}

static const struct pci_wiring *wiring(const struct topology *t, const char *bdf)
{
	return &t->functions[topology_find(t, bdf)].wiring;
}

static void test_map(void **state)
{
	struct world *w = *state;
	const struct pci_wiring *x;
	struct topology t;

	world_add_port(w, &guide[1], CONFIG_SIZE);
	add(w, "0002:81:00.0", 0x010802);
	add(w, "0002:81:00.1", 0x010802);
	config_bridge(w->c, TYPE_ROOT, 0, 1, 9);
	world_add(w, "pci0003:00", "0003:00:00.0", CONFIG_SIZE);
	config_make(w->c, 0x123410de, 0x010802, TYPE_ENDPOINT);
	world_add(w, "pci0003:00/0003:00:00.0", "0003:01:00.0", CONFIG_SIZE);
	world_add(w, "pci0003:00", "0003:00:01.0", CONFIG_SIZE);
	read_with(w,
		  "# where things are\n\n"
		  "0002:80:00.0\tsocket=1 rc=5 rp=7 # the firmware knows better\r\n"
		  "2:81:0.1 rp=0x2 rc=3 gpu=1 socket=1\n"
		  "0003:* socket=0 rc=2 rp=0\n"
		  "0004:* socket=0 rc=2 rp=0",
		  &t);
	x = wiring(&t, "0002:80:00.0");
	assert_true(x->how == WIRING_FIRMWARE && x->socket == 0 && x->rc == 1 && x->rp == 1);
	assert_non_null(strstr(x->note, "line 3"));
	assert_int_equal(wiring(&t, "0002:81:00.0")->how, WIRING_FIRMWARE);
	x = wiring(&t, "0002:81:00.1");
	assert_true(x->how == WIRING_USER && x->socket == 1 && x->rc == 3 && x->rp == 2);
	assert_int_equal(x->gpu, 2);
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = { "0003:00:00.0", "0003:01:00.0",
						     "0003:00:01.0" };

		x = wiring(&t, names[i]);
		assert_true(x->how == WIRING_USER && x->socket == 0 && x->rc == 2 && x->rp == 0);
	}
	assert_int_equal(t.notes.nr, 1);
	assert_string_equal(t.notes.items[0], "line 6 of the map is about nothing here");
	topology_free(&t);
}

static void test_map_errors(void **state)
{
	static const struct {
		const char *text;
		const char *words;
	} bad[] = {
		{ "0002:80:00 socket=0 rc=1 rp=1",
		  ":1:1: \"0002:80:00\" is neither a PCI address" },
		{ "\n 0002:80:00.8 socket=0 rc=1 rp=1", ":2:2: " },
		{ "g:* socket=0 rc=1 rp=1", ":1:1: " },
		{ "80000000:* socket=0 rc=1 rp=1", ":1:1: " },
		{ ":* socket=0 rc=1 rp=1", ":1:1: " },
		{ "1:* socket=0 rc=1", ":1:18: rp= is missing" },
		{ "1:*", "socket= is missing" },
		{ "1:* socket=0 rc=1 rp=10", ":1:22: rp is not a number up to 9: \"10\"" },
		{ "1:* socket=1 rc=1 rp=1 gpu=8", "gpu is not a number up to 7: \"8\"" },
		{ "1:* socket=256 rc=1 rp=1", ":1:12: socket is not a number" },
		{ "1:* socket=-1 rc=1 rp=1", ":1:12: " },
		{ "1:* socket= rc=1 rp=1", ":1:12: " },
		{ "1:* socket=99999999999999999999 rc=1 rp=1", ":1:12: " },
		{ "1:* socket=1 socket=1 rp=1", ":1:14: socket is there twice" },
		{ "1:* Socket=1 rc=1 rp=1", ":1:5: \"Socket=1\" is none of" },
		{ "1:* socket=1 rc=1 rp=1\n01:* socket=0 rc=1 rp=1",
		  "line 1 is about 01:* already" },
		{ "1:* socket=1 rc=1 rp=1 rest", ":1:24: " },
	};
	struct world *w = *state;
	struct pci_map *m = (void *)w;
	char path[PATH_MAX];

	tree_path(&w->tree, "map", path);
	assert_int_equal(pci_map_read(path, &w->d, &m), -ENOENT);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		tree_put(&w->tree, "map", bad[i].text);
		assert_int_equal(pci_map_read(path, &w->d, &m), -EINVAL);
		assert_ptr_equal(m, w);
		if (!strstr(w->d.what, bad[i].words))
			fail_msg("\"%s\" does not say \"%s\"", w->d.what, bad[i].words);
	}
	tree_write(&w->tree, "map", "1:*\0 socket=1 rc=1 rp=1\n", 25);
	assert_int_equal(pci_map_read(path, &w->d, &m), -EINVAL);
	assert_int_equal(pci_map_read(w->tree.root, &w->d, &m), -EISDIR);
	pci_map_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_kinds, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_multipath, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_many, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_map, world_make, world_free),
		cmocka_unit_test_setup_teardown(test_map_errors, world_make, world_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
