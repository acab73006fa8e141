// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From names to PCI functions, and what becomes of these while a run goes on. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <sys/sysmacros.h>

#include "devices_world.h"
#include "trace.h"

static int make_world(void **state)
{
	static struct pci_world w;

	world_make(&w);
	*state = &w;
	return 0;
}

static int drop_world(void **state)
{
	world_drop(*state);
	return 0;
}

/* Functions that a specification stands for, as their indexes: "3 11". */
static const char *chosen(struct pci_world *w, const char *spec, struct diag *d)
{
	static char text[256];
	char *const specs[] = { (char *)spec };
	struct device_list l = { 0 };
	int err = devices_select(&w->t, &w->fs, specs, 1, d, &l);

	text[0] = '\0';
	if (err) {
		assert_null(l.items);
		snprintf(text, sizeof(text), "error %d", err);
		assert_true(d->what[0] && d->help[0]);
	}
	for (size_t i = 0; i < l.nr; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u", i ? " " : "",
			 l.items[i].function);
	devices_free(&l);
	devices_free(&l);
	devices_free(NULL);
	return text;
}

static void addresses_in_all_spellings(void **state)
{
	static const char *const good[] = {
		"0002:81:00.0",
		"2:81:0.0",
		"0002:81:00.0",
		"00000002:81:0.0",
		"/sys/bus/pci/devices/0002:81:00.0",
		"pci/0002:81:00.0",
		"/sys/devices/pci0002:80/0002:80:00.0/0002:81:00.0",
	};
	struct diag d;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_string_equal(chosen(*state, good[i], &d), "3");
	assert_string_equal(chosen(*state, "2:A1:0.1", &d), "6");
	/* without a domain: the only one */
	assert_string_equal(chosen(*state, "c3:00.0", &d), "11");
	/* or domain 0, even if that is the wrong thing to ask for */
	assert_string_equal(chosen(*state, "00:00.0", &d), "error -22");
	assert_non_null(strstr(d.what, "-D 0000:00:00.0 is a bridge"));
	/* of several, none */
	assert_string_equal(chosen(*state, "81:00.0", &d), "error -22");
	assert_string_equal(d.what, "-D 81:00.0 is in several PCI domains");
	assert_string_equal(d.help, "name one of 0002:81:00.0, 0009:81:00.0");
	assert_string_equal(chosen(*state, "0001:81:00.0", &d), "error -19");
	assert_string_equal(d.what, "-D 0001:81:00.0: there is no PCI device with this address");
}

static void disks(void **state)
{
	struct pci_world *w = *state;
	struct diag d;

	world_add_disk(w, "nvme0n1", F_NVME, "nvme/nvme0/nvme0n1");
	world_add_disk(w, "nvme0n1p2", F_NVME, "nvme/nvme0/nvme0n1/nvme0n1p2");
	world_link(w, "sys/class/nvme/nvme0", F_NVME, "nvme/nvme0");
	world_add_disk(w, "vda", F_USER, "virtio1/block/vda");
	world_add_disk(w, "vdb", F_INTEGRATED, "virtio1/block/vdb");
	assert_string_equal(chosen(w, "nvme0n1", &d), "3");
	assert_string_equal(chosen(w, "/dev/nvme0n1", &d), "3");
	assert_string_equal(chosen(w, "nvme0n1p2", &d), "3");
	assert_string_equal(chosen(w, "nvme0", &d), "3");
	assert_string_equal(chosen(w, "vda", &d), "17");
	/* Nothing says where it is: who makes it move data can be noted all the same. */
	assert_string_equal(chosen(w, "vdb", &d), "1");
	/* RAID 1 of a partition and a mapped disk */
	world_add_disk(w, "nvme1n1", F_NVME1, "nvme/nvme1/nvme1n1");
	tree_link(&w->tree, "sys/class/block/dm-3", "../../devices/virtual/block/dm-3");
	tree_link(&w->tree, "sys/class/block/md0", "../../devices/virtual/block/md0");
	tree_link(&w->tree, "sys/class/block/md0p1", "../../devices/virtual/block/md0/md0p1");
	tree_put(&w->tree, "sys/devices/virtual/block/md0/md0p1/partition", "1\n");
	tree_put(&w->tree, "sys/devices/virtual/block/md0/slaves/nvme0n1p2", "");
	tree_put(&w->tree, "sys/devices/virtual/block/md0/slaves/dm-3", "");
	tree_put(&w->tree, "sys/devices/virtual/block/dm-3/slaves/nvme1n1", "");
	tree_put(&w->tree, "sys/devices/virtual/block/dm-3/dm/name", "vg-fast\n");
	assert_string_equal(chosen(w, "md0", &d), "3 11");
	assert_string_equal(chosen(w, "/dev/md0p1", &d), "3 11");
	assert_string_equal(chosen(w, "dm-3", &d), "11");
	assert_string_equal(chosen(w, "vg-fast", &d), "11");
	/* one that is made of itself ends, too */
	tree_put(&w->tree, "sys/devices/virtual/block/dm-3/slaves/md0", "");
	assert_string_equal(chosen(w, "md0", &d), "3 11");
	tree_link(&w->tree, "sys/class/block/loop0", "../../devices/virtual/block/loop0");
	assert_string_equal(chosen(w, "loop0", &d), "error -19");
	assert_string_equal(d.what, "-D loop0 is not on a PCI device");
}

/* Two controllers share a namespace: their paths are hidden disks. */
static void add_multipath(struct pci_world *w)
{
	static const char head[] = "../../devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1";

	tree_link(&w->tree, "sys/class/block/nvme0n1", head);
	tree_link(&w->tree, "sys/block/nvme0n1", head + 3);
	tree_link(&w->tree, "sys/class/block/nvme0n1p1",
		  "../../devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1/nvme0n1p1");
	world_link(w, "sys/block/nvme0c0n1", F_NVME, "nvme/nvme0/nvme0c0n1");
	world_link(w, "sys/block/nvme0c1n1", F_NVME1, "nvme/nvme1/nvme0c1n1");
	world_link(w, "sys/class/nvme/nvme0", F_NVME, "nvme/nvme0");
	world_link(w, "sys/class/nvme/nvme1", F_NVME1, "nvme/nvme1");
	tree_put(&w->tree, "sys/class/nvme-subsystem/nvme-subsys0/nvme0", "");
	tree_put(&w->tree, "sys/class/nvme-subsystem/nvme-subsys0/nvme1", "");
	tree_put(&w->tree, "sys/class/nvme-subsystem/nvme-subsys0/nvme0n1", "");
}

static void multipath(void **state)
{
	struct pci_world *w = *state;
	char *specs[] = { "nvme0n1" };
	struct device_list l;
	struct diag d;

	add_multipath(w);
	assert_string_equal(chosen(w, "nvme0n1p1", &d), "3 11");
	assert_int_equal(devices_select(&w->t, &w->fs, specs, 1, &d, &l), 0);
	assert_int_equal(l.nr, 2);
	assert_int_equal(l.items[0].nr_disks, 2);
	assert_string_equal(l.items[0].disks[0], "nvme0c0n1");
	assert_string_equal(l.items[0].disks[1], "nvme0n1");
	assert_int_equal(l.items[1].nr_disks, 2);
	assert_string_equal(l.items[1].disks[0], "nvme0c1n1");
	devices_free(&l);
}

static void networks(void **state)
{
	struct pci_world *w = *state;
	char *specs[] = { "eth0", "vlan5" };
	struct device_list l;
	struct diag d;

	world_add_net(w, "eth1", F_NIC1, 7);
	world_add_net(w, "eth0", F_NIC, 9);
	world_add_net(w, "bond0", NR_F, 20);
	world_add_net(w, "vlan5", NR_F, 3);
	world_add_net(w, "vlan6", NR_F, 4);
	world_add_net(w, "lo", NR_F, 1);
	tree_link(&w->tree, "sys/devices/virtual/net/bond0/lower_eth0", "../eth0");
	tree_link(&w->tree, "sys/devices/virtual/net/bond0/lower_eth1", "../eth1");
	tree_link(&w->tree, "sys/devices/virtual/net/vlan5/lower_eth0", "../eth0");
	tree_link(&w->tree, "sys/devices/virtual/net/vlan6/lower_bond0", "../bond0");
	world_link(w, "sys/class/infiniband/mlx5_0", F_NIC1, "infiniband/mlx5_0");
	assert_string_equal(chosen(w, "eth0", &d), "5");
	assert_string_equal(chosen(w, "bond0", &d), "5 6");
	assert_string_equal(chosen(w, "vlan5", &d), "5");
	assert_string_equal(chosen(w, "vlan6", &d), "5 6");
	assert_string_equal(chosen(w, "mlx5_0", &d), "6");
	assert_string_equal(chosen(w, "lo", &d), "error -19");
	assert_string_equal(d.what, "-D lo is not on a PCI device");
	/* each once; interfaces in order, and those made of it alone */
	assert_int_equal(devices_select(&w->t, &w->fs, specs, 2, &d, &l), 0);
	assert_int_equal(l.nr, 1);
	assert_int_equal(l.items[0].requester_id, 0xa100);
	assert_int_equal(l.items[0].nr_interfaces, 2);
	assert_int_equal(l.items[0].interfaces[0], 9);
	assert_int_equal(l.items[0].interfaces[1], 3 | DEVICE_STACKED);
	devices_free(&l);
}

static void nodes(void **state)
{
	struct pci_world *w = *state;
	char *specs[] = { "all" };
	struct device_list l;
	struct diag d;

	world_link(w, "sys/dev/char/237:0", F_NVME, "nvme/nvme0");
	world_link(w, "sys/dev/char/236:1", F_NVME, "nvme/nvme0/ng0n1");
	world_link(w, "sys/dev/char/231:192", F_NIC, "infiniband_verbs/uverbs0");
	world_link(w, "sys/dev/char/231:0", F_NIC, "infiniband_mad/umad0");
	world_link(w, "sys/dev/char/250:0", F_NIC, "ptp/ptp0");
	world_link(w, "sys/dev/char/226:128", F_GPU, "drm/renderD128");
	world_link(w, "sys/dev/char/89:5", F_GPU, "drm/card0/card0-DP-1/i2c-5/i2c-dev/i2c-5");
	world_link(w, "sys/dev/char/510:3", F_NVME1, "vfio-dev/vfio3");
	world_link(w, "sys/dev/char/x:3", F_NVME1, "vfio-dev/vfio4");
	tree_link(&w->tree, "sys/dev/char/241:12", "../../devices/virtual/vfio/12");
	tree_link(&w->tree, "sys/dev/char/241:13", "../../devices/virtual/vfio/13");
	tree_put(&w->tree, "sys/kernel/iommu_groups/12/devices/0002:a1:00.2", "");
	tree_put(&w->tree, "sys/kernel/iommu_groups/12/devices/0002:a1:00.1", "");
	tree_put(&w->tree, "proc/driver/nvidia/gpus/0009:81:00.0/information",
		 "Model: \t\t X\nDevice Minor: \t 3\n");
	assert_int_equal(devices_select(&w->t, &w->fs, specs, 1, &d, &l), 0);
	for (size_t i = 0; i < l.nr; i++) {
		const struct device_item *it = &l.items[i];

		switch (it->function) {
		case F_NVME:
			assert_int_equal(it->nr_nodes, 2);
			assert_int_equal(it->nodes[0], makedev(236, 1));
			assert_int_equal(it->nodes[1], makedev(237, 0));
			break;
		case F_NIC:
			assert_int_equal(it->nr_nodes, 1);
			assert_int_equal(it->nodes[0], makedev(231, 192));
			break;
		case F_NIC1:
		case F_VF:
			assert_int_equal(it->nr_nodes, 1);
			assert_int_equal(it->nodes[0], makedev(241, 12));
			break;
		case F_NVME1:
			assert_int_equal(it->nr_nodes, 1);
			assert_int_equal(it->nodes[0], makedev(510, 3));
			break;
		case F_GPU:
			assert_int_equal(it->nr_nodes, 2);
			assert_int_equal(it->nodes[0], makedev(195, 3));
			assert_int_equal(it->nodes[1], makedev(226, 128));
			break;
		}
	}
	/* the node that sysfs does not have stays */
	assert_int_equal(devices_refresh(&l, &w->fs, NULL, NULL), 0);
	devices_free(&l);
}

static void all_that_moves_data(void **state)
{
	struct pci_world *w = *state;
	struct pci_function many[TRACE_MAX_DEVICES + 3];
	struct diag d;

	/* no bridges, and nothing behind a PCI bridge */
	assert_string_equal(chosen(w, "all", &d), "1 3 5 6 7 11 16 17");
	w->functions[F_VF].class_code = 0x080600;
	w->functions[F_GPU].class_code = 0x088000;
	assert_string_equal(chosen(w, "all", &d), "1 3 5 6 11 16 17");
	w->t.nr = F_INTEGRATED;
	assert_string_equal(chosen(w, "all", &d), "error -19");
	for (size_t i = 0; i < TRACE_MAX_DEVICES + 3; i++) {
		many[i] = w->functions[i ? F_NVME : F_PORT1];
		many[i].parent = many[i].port = 0;
		snprintf(many[i].bdf, sizeof(many[i].bdf), "%04x:00:00.0", (unsigned int)i);
	}
	w->t = (struct topology){ .functions = many, .nr = TRACE_MAX_DEVICES + 3 };
	assert_string_equal(chosen(w, "all", &d), "error -7");
	assert_string_equal(d.what, "-D: these are 514 devices, and at most 512 are counted");
}

/* A console of a board's controller is none. */
static void all_gpus(void **state)
{
	struct pci_world *w = *state;
	struct diag d = { 0 };

	assert_string_equal(chosen(w, "gpu", &d), "16");
	w->functions[F_GPU].class_code = 0x030000;
	assert_string_equal(chosen(w, "gpu", &d), "error -19");
	assert_string_equal(d.what, "-D gpu: there is no GPU that is a PCI device");
	strcpy(w->functions[F_GPU].driver, "ast");
	assert_string_equal(chosen(w, "gpu", &d), "error -19");
	strcpy(w->functions[F_GPU].driver, "amdgpu");
	assert_string_equal(chosen(w, "gpu", &d), "16");
}

static void who_is_alone(void **state)
{
	struct pci_world *w = *state;
	char *specs[] = { "all" };
	struct device_list l;
	struct diag d;

	assert_int_equal(devices_select(&w->t, &w->fs, specs, 1, &d, &l), 0);
	for (size_t i = 0; i < l.nr; i++) {
		uint32_t f = l.items[i].function;

		/* switch ports are no company, other functions are; no port, no mask */
		assert_int_equal(l.items[i].alone, f == F_NVME || f == F_NVME1 || f == F_GPU);
		assert_false(l.items[i].gone);
	}
	devices_free(&l);
	/* a map calls two ports the same: its mask has the bytes of both */
	w->functions[F_GPU].wiring = w->functions[F_NVME].wiring;
	w->functions[F_GPU].wiring.how = WIRING_USER;
	assert_int_equal(devices_select(&w->t, &w->fs, specs, 1, &d, &l), 0);
	for (size_t i = 0; i < l.nr; i++)
		assert_int_equal(l.items[i].alone, l.items[i].function == F_NVME1);
	assert_int_equal(devices_refresh(&l, &w->fs, NULL, NULL), 0);
	for (size_t i = 0; i < l.nr; i++)
		assert_int_equal(l.items[i].alone, l.items[i].function == F_NVME1);
	devices_free(&l);
	/* nothing is said of where they are: nothing is the same */
	w->functions[F_GPU].wiring.how = w->functions[F_NVME].wiring.how = WIRING_UNKNOWN;
	assert_int_equal(devices_select(&w->t, &w->fs, specs, 1, &d, &l), 0);
	for (size_t i = 0; i < l.nr; i++)
		if (l.items[i].function == F_GPU)
			assert_true(l.items[i].alone);
	devices_free(&l);
}

static void what_cannot_be_counted(void **state)
{
	struct pci_world *w = *state;
	char *several[] = { "2:81:0.0", "nvme7" };
	struct device_list l = { .nr = 77 };
	struct diag d;

	assert_string_equal(chosen(w, "2:c0:0.0", &d), "error -22");
	assert_string_equal(d.what,
			    "-D 0002:c0:00.0 is a root port, which moves nothing by itself");
	assert_string_equal(d.help, "devices below it: 0002:c3:00.0");
	assert_string_equal(chosen(w, "2:c1:0.0", &d), "error -22");
	assert_string_equal(d.help, "devices below it: 0002:c3:00.0");
	assert_non_null(strstr(d.what, "a port of a switch"));
	assert_string_equal(chosen(w, "2:a0:0.0", &d), "error -22");
	assert_string_equal(d.help, "devices below it: 0002:a1:00.0, 0002:a1:00.1, 0002:a1:00.2");
	assert_string_equal(chosen(w, "0000:00:00.0", &d), "error -22");
	assert_string_equal(d.help, "there are no devices below it");
	assert_string_equal(chosen(w, "3:2:4.0", &d), "error -22");
	assert_string_equal(d.what,
			    "-D 0003:02:04.0 is behind the PCI bridge 0003:01:00.0, which may put "
			    "its own id (02:00.0) on the requests of all devices behind it");
	/* an unknown name: nothing has a name yet */
	assert_string_equal(chosen(w, "nvme0n1", &d), "error -19");
	assert_string_equal(d.help, "no disk and no network interface here is a PCI device; "
				    "\"t410trace topology\" shows the PCI devices that there are");
	/* what it may have been */
	world_add_disk(w, "nvme0n1", F_NVME, "nvme/nvme0/nvme0n1");
	world_add_net(w, "eth0", F_NIC, 9);
	tree_link(&w->tree, "sys/block/loop0", "../devices/virtual/block/loop0");
	assert_string_equal(chosen(w, "nvm0n1", &d), "error -19");
	assert_string_equal(d.what, "-D nvm0n1: there is no such device");
	assert_string_equal(d.help,
			    "did you mean \"nvme0n1\"? PCI addresses, \"gpu\", \"all\", and these "
			    "names stand for devices: nvme0n1, eth0");
	assert_string_equal(chosen(w, "/dev/nonsense", &d), "error -19");
	assert_string_equal(chosen(w, "", &d), "error -19");
	assert_string_equal(chosen(w, "..", &d), "error -19");
	assert_string_equal(chosen(w, "/", &d), "error -19");
	/* one bad one is enough, and the list stays as it was */
	assert_int_equal(devices_select(&w->t, &w->fs, several, 2, &d, &l), -ENODEV);
	assert_int_equal(l.nr, 77);
	/* a function that came after the topology was read */
	w->t.nr = F_NVME;
	assert_string_equal(chosen(w, "nvme0n1", &d), "error -19");
	assert_non_null(strstr(d.what, "0002:81:00.0, which was not there a moment ago"));
}

static void described(void **state)
{
	struct pci_world *w = *state;
	char *specs[] = { "2:81:0.0", "9:f0:0.0" };
	struct device_list l;
	struct device dev;
	struct diag d;

	assert_int_equal(devices_select(&w->t, &w->fs, specs, 2, &d, &l), 0);
	device_item_describe(&l, 0, &dev);
	assert_string_equal(dev.bdf, "0002:81:00.0");
	assert_string_equal(dev.name, "nvme0n1,nvme0n2");
	assert_int_equal(dev.kind, DEVICE_NVME);
	assert_int_equal(dev.rc, 1);
	assert_int_equal(dev.rp, F_PORT1);
	assert_int_equal(dev.wiring, WIRING_FIRMWARE);
	assert_int_equal(dev.filter, DEVICE_NOT_COUNTED);
	assert_int_equal(dev.port, 0);
	/* as many names as fit */
	memset(w->functions[F_NVME].names, 'x', 58);
	strcpy(w->functions[F_NVME].names + 58, " y z");
	device_item_describe(&l, 0, &dev);
	assert_string_equal(dev.name + 58, ",...");
	memset(w->functions[F_NVME].names, 'x', 100);
	w->functions[F_NVME].names[100] = '\0';
	device_item_describe(&l, 0, &dev);
	assert_string_equal(dev.name, "...");
	device_item_describe(&l, 1, &dev);
	assert_string_equal(dev.name, "");
	assert_int_equal(dev.wiring, WIRING_USER);
	devices_free(&l);
}

struct changes {
	struct device_list *l;
	size_t nr;
	struct device_change all[8];
};

static void on_change(void *arg, const struct device_change *c)
{
	struct changes *x = arg;

	assert_true(x->nr < 8);
	x->all[x->nr++] = *c;
}

static void hotplug(void **state)
{
	struct pci_world *w = *state;
	char *specs[] = { "2:81:0.0", "2:c3:0.0" };
	struct device_list l;
	struct changes x = { .l = &l };
	struct diag d;

	world_add_disk(w, "nvme0n1", F_NVME, "nvme/nvme0/nvme0n1");
	assert_int_equal(devices_select(&w->t, &w->fs, specs, 2, &d, &l), 0);
	assert_int_equal(devices_refresh(&l, &w->fs, on_change, &x), 0);
	assert_int_equal(x.nr, 0);
	/* it is pulled out, with its disk */
	tree_drop(&w->tree, "sys/bus/pci/devices/0002:81:00.0");
	tree_drop(&w->tree, "sys/block/nvme0n1");
	assert_int_equal(devices_refresh(&l, &w->fs, on_change, &x), 1);
	assert_int_equal(x.all[0].kind, DEVICE_WENT);
	assert_int_equal(x.all[0].item, 0);
	assert_string_equal(x.all[0].text, "0002:81:00.0 was removed");
	assert_true(l.items[0].gone);
	assert_int_equal(l.items[0].nr_disks, 0);
	assert_int_equal(devices_refresh(&l, &w->fs, on_change, &x), 0);
	/* and back, as another disk */
	world_add_pci(w, F_NVME);
	world_link(w, "sys/block/nvme5n1", F_NVME, "nvme/nvme5/nvme5n1");
	assert_int_equal(devices_refresh(&l, &w->fs, on_change, &x), 1);
	assert_int_equal(x.all[1].kind, DEVICE_CAME_BACK);
	assert_false(l.items[0].gone);
	assert_string_equal(l.items[0].disks[0], "nvme5n1");
	/* another namespace */
	world_link(w, "sys/block/nvme5n2", F_NVME, "nvme/nvme5/nvme5n2");
	assert_int_equal(devices_refresh(&l, &w->fs, on_change, &x), 1);
	assert_int_equal(x.all[2].kind, DEVICE_USE);
	assert_string_equal(x.all[2].text,
			    "0002:81:00.0 is used otherwise, now as: nvme5n1 nvme5n2");
	tree_drop(&w->tree, "sys/block/nvme5n1");
	tree_drop(&w->tree, "sys/block/nvme5n2");
	assert_int_equal(devices_refresh(&l, &w->fs, on_change, &x), 1);
	assert_string_equal(x.all[3].text, "0002:81:00.0 is used otherwise, now as: nothing");
	devices_free(&l);
}

/* Virtual functions and other newcomers below a counted port. */
static void crowds(void **state)
{
	static const char below[] = "../../../devices/x/pci0002:80/0002:80:00.0/0002:81:%02x.%x";
	struct pci_world *w = *state;
	char *specs[] = { "2:81:0.0", "2:a1:0.0" };
	char target[128], name[128];
	struct device_list l;
	struct changes x = { .l = &l };
	struct diag d;

	assert_int_equal(devices_select(&w->t, &w->fs, specs, 2, &d, &l), 0);
	assert_true(l.items[0].alone);
	assert_false(l.items[1].alone);
	for (unsigned int f = 1; f < 4; f++) {
		snprintf(target, sizeof(target), below, 0, f);
		snprintf(name, sizeof(name),
			 "sys/devices/x/pci0002:80/0002:80:00.0/0002:81:00.%u/class", f);
		/* the first one is a bridge */
		tree_put(&w->tree, name, f == 1 ? "0x060400\n" : "0x010802\n");
		snprintf(name, sizeof(name), "sys/bus/pci/devices/0002:81:00.%u", f);
		tree_link(&w->tree, name, target);
		assert_int_equal(devices_refresh(&l, &w->fs, on_change, &x), f == 2);
		assert_int_equal(l.items[0].alone, f < 2);
	}
	assert_int_equal(x.all[0].item, 0);
	assert_int_equal(x.all[0].kind, DEVICE_CROWD);
	assert_string_equal(x.all[0].text, "0002:81:00.0 is no longer alone below port "
					   "0002:80:00.0: 0002:81:00.2 came");
	tree_drop(&w->tree, "sys/bus/pci/devices/0002:81:00.2");
	assert_int_equal(devices_refresh(&l, &w->fs, on_change, &x), 0);
	tree_drop(&w->tree, "sys/bus/pci/devices/0002:81:00.3");
	/* virtual functions of the network card go, too: still its second port is there */
	tree_drop(&w->tree, "sys/bus/pci/devices/0002:a1:00.2");
	assert_int_equal(devices_refresh(&l, &w->fs, on_change, &x), 1);
	assert_string_equal(x.all[1].text, "0002:81:00.0 is alone below port 0002:80:00.0 now");
	assert_true(l.items[0].alone);
	tree_drop(&w->tree, "sys/bus/pci/devices/0002:a1:00.1");
	assert_int_equal(devices_refresh(&l, &w->fs, on_change, &x), 1);
	assert_int_equal(x.all[2].item, 1);
	assert_true(l.items[1].alone);
	/* it is pulled out, and another one comes below its port: the mask would count that */
	tree_drop(&w->tree, "sys/bus/pci/devices/0002:81:00.0");
	assert_int_equal(devices_refresh(&l, &w->fs, on_change, &x), 1);
	assert_int_equal(x.all[3].kind, DEVICE_WENT);
	assert_true(l.items[0].alone);
	snprintf(name, sizeof(name), "sys/bus/pci/devices/0002:81:00.2");
	tree_link(&w->tree, name, "../../../devices/pci0002:80/0002:80:00.0/0002:81:00.2");
	assert_int_equal(devices_refresh(&l, &w->fs, on_change, &x), 1);
	assert_int_equal(x.all[4].kind, DEVICE_CROWD);
	assert_false(l.items[0].alone);
	devices_free(&l);
}

/* Without sysfs nothing is known to have changed. */
static void refresh_without_sysfs(void **state)
{
	struct pci_world *w = *state;
	char *specs[] = { "2:81:0.0" };
	struct tree empty;
	struct device_list l;
	struct sysfs fs;
	struct diag d;

	assert_int_equal(devices_select(&w->t, &w->fs, specs, 1, &d, &l), 0);
	tree_make(&empty);
	assert_int_equal(sysfs_open(empty.root, &d, &fs), 0);
	assert_int_equal(devices_refresh(&l, &fs, NULL, NULL), -ENOENT);
	assert_false(l.items[0].gone);
	sysfs_close(&fs);
	tree_remove(&empty);
	devices_free(&l);
}

int main(void)
{
#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, make_world, drop_world)
	const struct CMUnitTest tests[] = {
		IN_WORLD(addresses_in_all_spellings),
		IN_WORLD(disks),
		IN_WORLD(multipath),
		IN_WORLD(networks),
		IN_WORLD(nodes),
		IN_WORLD(all_that_moves_data),
		IN_WORLD(all_gpus),
		IN_WORLD(who_is_alone),
		IN_WORLD(what_cannot_be_counted),
		IN_WORLD(described),
		IN_WORLD(hotplug),
		IN_WORLD(crowds),
		IN_WORLD(refresh_without_sysfs),
	};

	return cmocka_run_group_tests_name("devices", tests, NULL, NULL);
}
