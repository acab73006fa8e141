// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Who has a device to himself: in an invented proc, and in the real one. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "base/array.h"
#include "platform/sys/cgroups.h"
#include "platform/devices/owners.h"
#include "skip.h"
#include "trace.h"
#include "tree.h"

#define INIT_NS "pid:[4026531836]"
#define OUR_NET "net:[1]"

/* Nodes of the invented devices: ones that every machine has. */
#define NODE	makedev(1, 5) /* /dev/zero */
#define NODE2	makedev(1, 7) /* /dev/full */

struct world {
	struct tree tree;
	struct owners *owners;
	struct pci_function functions[2];
	struct topology t;
	struct device_item items[2];
	struct device_list l;
	dev_t nodes[2][1];
	char disks[2][1][32];
	uint32_t interfaces[2][1];
};

static void put_process(const struct world *w, unsigned int pid, const char *cgroup,
			const char *net)
{
	char name[128], text[256];

	snprintf(name, sizeof(name), "proc/%u/cgroup", pid);
	snprintf(text, sizeof(text), "1:cpu:/old\n0::%s\n", cgroup);
	tree_put(&w->tree, name, text);
	snprintf(name, sizeof(name), "proc/%u/stat", pid);
	snprintf(text, sizeof(text),
		 "%u (a) b) S 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 %u 0 0\n", pid,
		 pid * 1000000);
	tree_put(&w->tree, name, text);
	snprintf(name, sizeof(name), "proc/%u/ns/net", pid);
	tree_link(&w->tree, name, net);
	snprintf(name, sizeof(name), "proc/%u/ns/mnt", pid);
	tree_link(&w->tree, name, "mnt:[1]");
	snprintf(name, sizeof(name), "proc/%u/fd/0", pid);
	tree_link(&w->tree, name, "/dev/null");
	snprintf(name, sizeof(name), "proc/%u/mountinfo", pid);
	tree_put(&w->tree, name, "25 1 0:5 / / rw - tmpfs tmpfs rw\n");
}

static void put_open(const struct world *w, unsigned int pid, const char *target)
{
	char name[128];

	snprintf(name, sizeof(name), "proc/%u/fd/7", pid);
	tree_link(&w->tree, name, target);
}

static uint64_t cgroup_id(const struct world *w, const char *path)
{
	char full[PATH_MAX];
	struct stat st;

	snprintf(full, sizeof(full), "%s/cgroup%s", w->tree.root, path);
	assert_int_equal(stat(full, &st), 0);
	return st.st_ino;
}

/* Two devices with a node each; processes 1, 10 and 11 in /a, 20 in /b. */
static int make_world(void **state)
{
	static struct world w;
	char proc[128], mount[128];

	memset(&w, 0, sizeof(w));
	tree_make(&w.tree);
	strcpy(w.functions[0].bdf, "0002:81:00.0");
	strcpy(w.functions[1].bdf, "0002:a1:00.2");
	w.functions[0].class_code = 0x010802;
	w.functions[1].class_code = 0x120000;
	w.t = (struct topology){ .functions = w.functions, .nr = 2 };
	w.nodes[0][0] = NODE;
	w.nodes[1][0] = NODE2;
	strcpy(w.disks[0][0], "nvme0n1");
	w.interfaces[1][0] = 5;
	for (uint32_t i = 0; i < 2; i++)
		w.items[i] = (struct device_item){ .function = i,
						   .disks = w.disks[i],
						   .interfaces = w.interfaces[i],
						   .nodes = w.nodes[i],
						   .nr_nodes = 1 };
	w.l = (struct device_list){ &w.t, w.items, 2 };
	tree_put(&w.tree, "cgroup/a/cgroup.procs", "");
	tree_put(&w.tree, "cgroup/b/cgroup.procs", "");
	tree_link(&w.tree, "proc/self/ns/pid", INIT_NS);
	tree_link(&w.tree, "proc/self/ns/net", OUR_NET);
	put_process(&w, 1, "/a", OUR_NET);
	put_process(&w, 10, "/a", OUR_NET);
	put_process(&w, 11, "/a", OUR_NET);
	put_process(&w, 20, "/b", OUR_NET);
	snprintf(proc, sizeof(proc), "%s/proc", w.tree.root);
	snprintf(mount, sizeof(mount), "%s/cgroup", w.tree.root);
	assert_int_equal(owners_new(proc, mount, NULL, &w.owners), 0);
	*state = &w;
	return 0;
}

static int drop_world(void **state)
{
	struct world *w = *state;

	owners_free(w->owners);
	tree_remove(&w->tree);
	return 0;
}

static const struct owner *find(struct world *w, size_t *ret_nr)
{
	const struct owner *found = NULL;

	assert_int_equal(owners_find(w->owners, &w->l, &found, ret_nr), 0);
	return found;
}

static void nobody_and_somebody(void **state)
{
	struct world *w = *state;
	const struct owner *found;
	size_t nr = 7;

	found = find(w, &nr);
	assert_int_equal(nr, 0);
	/* two processes of one cgroup */
	put_open(w, 11, "/dev/zero");
	put_open(w, 10, "/dev/zero");
	found = find(w, &nr);
	assert_int_equal(nr, 2);
	assert_int_equal(found[0].item, 0);
	assert_int_equal(found[0].pid, 10);
	assert_int_equal(found[1].pid, 11);
	assert_int_equal(found[1].cgroup_id, cgroup_id(w, "/a"));
	assert_true(found[0].start_ns > 0);
	assert_true(found[1].start_ns > found[0].start_ns);
	/* the other device, by another cgroup */
	put_open(w, 20, "/dev/full");
	found = find(w, &nr);
	assert_int_equal(nr, 3);
	assert_int_equal(found[2].item, 1);
	assert_int_equal(found[2].pid, 20);
	assert_int_equal(found[2].cgroup_id, cgroup_id(w, "/b"));
	/* it leaves */
	tree_drop(&w->tree, "proc/20/fd/7");
	find(w, &nr);
	assert_int_equal(nr, 2);
	w->items[0].gone = true;
	find(w, &nr);
	assert_int_equal(nr, 0);
}

/* A monitor in another cgroup is no holder if it is left out; all that is below its cgroup is. */
static void monitors_are_left_out(void **state)
{
	static const struct {
		const char *ignored;
		uint32_t owner; /* 0: there are two */
	} rows[] = { { "/m/dcgm", 10 }, { "m/", 10 }, { "/m/dc", 0 }, { "/", 0 }, { "/a", 30 } };
	struct world *w = *state;
	const struct owner *found;
	size_t nr;

	tree_put(&w->tree, "cgroup/m/dcgm/cgroup.procs", "");
	put_process(w, 30, "/m/dcgm", OUR_NET);
	put_open(w, 10, "/dev/zero");
	put_open(w, 30, "/dev/zero");
	find(w, &nr);
	assert_int_equal(nr, 0);
	/* the two are told */
	assert_int_equal(owners_others(w->owners, &found), 2);
	assert_true(found[0].pid == 10 && found[1].pid == 30);
	assert_int_equal(found[1].cgroup_id, cgroup_id(w, "/m/dcgm"));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct text_list ignored = { 0 };

		assert_int_equal(text_list_add(&ignored, "/nowhere"), 0);
		assert_int_equal(text_list_add(&ignored, rows[i].ignored), 0);
		owners_ignore(w->owners, &ignored);
		found = find(w, &nr);
		assert_int_equal(nr, rows[i].owner != 0);
		assert_true(!nr || found[0].pid == rows[i].owner);
		assert_int_equal(owners_others(w->owners, &found), rows[i].owner ? 0 : 2);
		text_list_free(&ignored);
	}
	owners_ignore(w->owners, NULL);
}

/* Paths of /proc/PID/cgroup begin elsewhere there: what they say is not known. */
static void nobody_in_a_cgroup_namespace(void **state)
{
	const struct owner *found = NULL;
	struct world *w = *state;
	size_t nr = 7;

	put_open(w, 10, "/dev/zero");
	tree_link(&w->tree, "proc/self/ns/cgroup", "cgroup:[4026531835]");
	find(w, &nr);
	assert_int_equal(nr, 1);
	tree_drop(&w->tree, "proc/self/ns/cgroup");
	tree_link(&w->tree, "proc/self/ns/cgroup", "cgroup:[4026532178]");
	assert_int_equal(owners_find(w->owners, &w->l, &found, &nr), -EACCES);
	assert_int_equal(nr, 1);
}

static void several_cgroups_own_nothing(void **state)
{
	struct world *w = *state;
	const struct owner *found;
	size_t nr;

	put_open(w, 10, "/dev/zero");
	put_open(w, 20, "/dev/zero");
	put_open(w, 11, "/dev/full");
	found = find(w, &nr);
	assert_int_equal(nr, 1);
	assert_int_equal(found[0].item, 1);
	/* a node that two devices share, as a VFIO group: both are his */
	w->nodes[0][0] = NODE2;
	found = find(w, &nr);
	assert_int_equal(nr, 2);
	assert_int_equal(found[0].item, 0);
	assert_int_equal(found[1].item, 1);
	assert_int_equal(found[1].pid, 11);
	/* devices that are no PCI functions have owners as well */
	w->l.topology = NULL;
	find(w, &nr);
	assert_int_equal(nr, 2);
}

/* Where a v1 hierarchy is chosen, its cgroups come first, but for its root. */
static void cgroups_of_v1_own(void **state)
{
	struct cgroup1 v1 = { .controller = "freezer", .number = 1 };
	struct world *w = *state;
	const struct owner *found;
	struct owners *o;
	char proc[96], mount[PATH_MAX + 32];
	struct stat st;
	size_t nr;

	tree_put(&w->tree, "v1/slurm/job_3/tasks", "");
	snprintf(v1.mount, sizeof(v1.mount), "%s/v1", w->tree.root);
	snprintf(proc, sizeof(proc), "%s/proc", w->tree.root);
	snprintf(mount, sizeof(mount), "%s/cgroup", w->tree.root);
	assert_int_equal(owners_new(proc, mount, &v1, &o), 0);
	put_open(w, 10, "/dev/zero");
	tree_put(&w->tree, "proc/10/cgroup", "3:cpuset:/x\n2:freezer:/slurm/job_3\n0::/a\n");
	assert_int_equal(owners_find(o, &w->l, &found, &nr), 0);
	assert_int_equal(nr, 1);
	snprintf(mount, sizeof(mount), "%s/slurm/job_3", v1.mount);
	assert_int_equal(stat(mount, &st), 0);
	assert_true(found[0].cgroup_id == cgroup1_id(&v1, st.st_ino));
	/* with others in the same hierarchy */
	tree_put(&w->tree, "proc/10/cgroup", "0::/a\n2:cpu,freezer,pids:/slurm\n");
	assert_int_equal(owners_find(o, &w->l, &found, &nr), 0);
	assert_int_equal(nr, 1);
	assert_true(found[0].cgroup_id >> TRACE_HIERARCHY_SHIFT == 1);
	tree_put(&w->tree, "proc/10/cgroup", "2:freezer:/\n3:freezers,free:/slurm\n0::/a\n");
	assert_int_equal(owners_find(o, &w->l, &found, &nr), 0);
	assert_int_equal(nr, 1);
	assert_int_equal(found[0].cgroup_id, cgroup_id(w, "/a"));
	/* of a v1 cgroup that is not known, the v2 one is not taken instead */
	tree_put(&w->tree, "proc/10/cgroup", "2:freezer:/gone\n0::/a\n");
	assert_int_equal(owners_find(o, &w->l, &found, &nr), 0);
	assert_int_equal(nr, 0);
	owners_free(o);
}

static void unknown_cgroups_own_nothing(void **state)
{
	static const char *const odd[] = { "/gone", "/a (deleted)", "/../elsewhere" };
	struct world *w = *state;
	size_t nr;

	put_open(w, 10, "/dev/zero");
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		char text[64];

		snprintf(text, sizeof(text), "0::%s\n", odd[i]);
		tree_put(&w->tree, "proc/10/cgroup", text);
		find(w, &nr);
		assert_int_equal(nr, 0);
	}
	tree_put(&w->tree, "proc/10/cgroup", "1:cpu:/a\n");
	find(w, &nr);
	assert_int_equal(nr, 0);
	/* known again */
	tree_put(&w->tree, "proc/10/cgroup", "0::/\n");
	find(w, &nr);
	assert_int_equal(nr, 1);
	/* it ended while we looked */
	tree_drop(&w->tree, "proc/10/cgroup");
	find(w, &nr);
	assert_int_equal(nr, 0);
}

/* A disk: mounted, swapped to, part of something, or opened as a disk. */
static void disks_are_of_the_kernel(void **state)
{
	struct world *w = *state;
	size_t nr;

	put_open(w, 10, "/dev/zero");
	w->items[0].nr_disks = 1;
	/* nothing is known of the disk */
	find(w, &nr);
	assert_int_equal(nr, 0);
	tree_put(&w->tree, "sys/class/block/nvme0n1/dev", "259:1\n");
	tree_put(&w->tree, "sys/class/block/nvme0n1/nvme0n1p2/dev", "259:3\n");
	find(w, &nr);
	assert_int_equal(nr, 1);
	/* mounted in some namespace that is not that of process 1, by number or by name */
	tree_put(&w->tree, "proc/20/mountinfo",
		 "25 1 259:3 / /mnt rw shared:1 - ext4 /dev/root rw\n");
	tree_drop(&w->tree, "proc/20/ns/mnt");
	tree_link(&w->tree, "proc/20/ns/mnt", "mnt:[2]");
	find(w, &nr);
	assert_int_equal(nr, 0);
	tree_put(&w->tree, "proc/20/mountinfo", "25 1 0:42 / /mnt rw - btrfs /dev/nvme0n1p2 rw\n");
	find(w, &nr);
	assert_int_equal(nr, 0);
	tree_put(&w->tree, "proc/20/mountinfo",
		 "25 1 0:42 / /mnt rw - btrfs /dev/nvme0n12 rw\njunk\n- -\n");
	find(w, &nr);
	assert_int_equal(nr, 1);
	tree_put(&w->tree, "proc/swaps",
		 "Filename Type Size Used Priority\n/dev/nvme0n1p2\tpartition 1 0 -2\n");
	find(w, &nr);
	assert_int_equal(nr, 0);
	tree_put(&w->tree, "proc/swaps", "Filename Type Size Used Priority\n/nvme0n1 file 1\n");
	find(w, &nr);
	assert_int_equal(nr, 1);
	tree_put(&w->tree, "sys/class/block/nvme0n1/nvme0n1p2/holders/dm-0", "");
	find(w, &nr);
	assert_int_equal(nr, 0);
}

static void interfaces_are_of_the_kernel(void **state)
{
	struct world *w = *state;
	size_t nr;

	put_open(w, 10, "/dev/full");
	w->items[1].nr_interfaces = 1;
	/* it cannot be seen whether it is up */
	find(w, &nr);
	assert_int_equal(nr, 0);
	tree_put(&w->tree, "sys/class/net/eth0/ifindex", "5\n");
	find(w, &nr);
	assert_int_equal(nr, 0);
	tree_put(&w->tree, "sys/class/net/eth0/flags", "0x1003\n");
	find(w, &nr);
	assert_int_equal(nr, 0);
	tree_put(&w->tree, "sys/class/net/eth0/flags", "0x1002\n");
	find(w, &nr);
	assert_int_equal(nr, 1);
	/* one that is made of it, too */
	w->interfaces[1][0] = 5 | DEVICE_STACKED;
	tree_put(&w->tree, "sys/class/net/eth0/flags", "0x1003\n");
	find(w, &nr);
	assert_int_equal(nr, 0);
}

/* A virtual function's interface in a container. */
static void other_networks(void **state)
{
	static const char target[] = "../../devices/pci0002:a0/0002:a0:00.0/0002:a1:00.2/net/eth0";
	struct world *w = *state;
	const struct owner *found;
	size_t nr;

	w->items[0].nr_nodes = w->items[1].nr_nodes = 0;
	w->functions[1].class_code = 0x020000;
	put_process(w, 30, "/b", "net:[2]");
	tree_link(&w->tree, "proc/30/root/sys/class/net/eth0", target);
	/* the namespace has no such interface: a sysfs of another one */
	found = find(w, &nr);
	assert_int_equal(nr, 0);
	tree_put(&w->tree, "proc/30/net/dev", "Inter-| x\n face |b\n  eth01: 0 0\n");
	find(w, &nr);
	assert_int_equal(nr, 0);
	tree_put(&w->tree, "proc/30/net/dev", "Inter-| x\n face |b\n  eth0: 0 0\n");
	found = find(w, &nr);
	assert_int_equal(nr, 1);
	assert_int_equal(found[0].item, 1);
	assert_int_equal(found[0].pid, 30);
	assert_int_equal(found[0].cgroup_id, cgroup_id(w, "/b"));
	/* with several processes, only the cgroup is known */
	put_process(w, 31, "/b", "net:[2]");
	found = find(w, &nr);
	assert_int_equal(nr, 1);
	assert_int_equal(found[0].pid, 0);
	assert_int_equal(found[0].start_ns, 0);
	assert_int_equal(found[0].cgroup_id, cgroup_id(w, "/b"));
	/* or not even that */
	put_process(w, 32, "/a", "net:[2]");
	find(w, &nr);
	assert_int_equal(nr, 0);
	tree_put(&w->tree, "proc/32/cgroup", "0::/b\n");
	find(w, &nr);
	assert_int_equal(nr, 1);
	/* an interface in our namespace is not in another one */
	w->items[1].nr_interfaces = 1;
	find(w, &nr);
	assert_int_equal(nr, 0);
	w->items[1].nr_interfaces = 0;
	/* two namespaces cannot both have it */
	put_process(w, 40, "/b", "net:[3]");
	tree_link(&w->tree, "proc/40/root/sys/class/net/eth0", target);
	tree_put(&w->tree, "proc/40/net/dev", "  eth0: 0 0\n");
	find(w, &nr);
	assert_int_equal(nr, 0);
}

static void what_cannot_be_seen(void **state)
{
	struct world *w = *state;
	const struct owner *found = (const void *)w;
	struct owners *none = (void *)w;
	struct owners *no_cgroups;
	char proc[128];
	size_t nr = 77;

	put_open(w, 10, "/dev/zero");
	tree_drop(&w->tree, "proc/self/ns/pid");
	assert_int_equal(owners_find(w->owners, &w->l, &found, &nr), -EACCES);
	tree_link(&w->tree, "proc/self/ns/pid", "pid:[4026532000]");
	assert_int_equal(owners_find(w->owners, &w->l, &found, &nr), -EACCES);
	tree_drop(&w->tree, "proc/self/ns/pid");
	tree_link(&w->tree, "proc/self/ns/pid", INIT_NS);
	tree_drop(&w->tree, "proc/1/fd/0");
	tree_drop(&w->tree, "proc/1/fd");
	assert_int_equal(owners_find(w->owners, &w->l, &found, &nr), -EACCES);
	assert_ptr_equal(found, w);
	assert_int_equal(nr, 77);
	/* without nodes nothing is looked at, and nothing is missed */
	w->items[0].nr_nodes = w->items[1].nr_nodes = 0;
	find(w, &nr);
	assert_int_equal(nr, 0);
	w->items[0].nr_nodes = 1;
	snprintf(proc, sizeof(proc), "%s/proc", w->tree.root);
	assert_int_equal(owners_new(proc, "", NULL, &no_cgroups), 0);
	assert_int_equal(owners_find(no_cgroups, &w->l, &found, &nr), 0);
	assert_int_equal(nr, 0);
	owners_free(no_cgroups);
	assert_int_equal(owners_new("/nowhere", "", NULL, &none), -ENOENT);
	assert_ptr_equal(none, w);
	owners_free(NULL);
}

/* --- the real proc */

static pid_t child_with(const char *path)
{
	pid_t child = fork();

	if (child)
		return child;
	if (open("/dev/null", O_RDONLY) < 0 || open(path, O_RDWR | O_NOCTTY) < 0)
		_exit(1);
	for (;;)
		pause();
}

static void put_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f)
		return;
	fputs(text, f);
	fclose(f);
}

/* Has the child opened its files? Its last one is the path. */
static bool has_open(pid_t child, const char *path)
{
	char name[64], target[PATH_MAX];

	for (int fd = 0; fd < 64; fd++) {
		ssize_t n;

		snprintf(name, sizeof(name), "/proc/%d/fd/%d", child, fd);
		n = readlink(name, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = '\0';
		if (!strcmp(target, path))
			return true;
	}
	return false;
}

/* A process as the kernel shows it, in a proc that has no others. */
static void show(const struct world *w, const char *as, pid_t pid)
{
	char name[64], target[64];

	snprintf(name, sizeof(name), "real/%s", as);
	snprintf(target, sizeof(target), "/proc/%d", pid);
	tree_link(&w->tree, name, target);
}

/* Give the child a cgroup of its own; false when that cannot be had. */
static bool move_child(const char *mount, pid_t child, char *folder, size_t size)
{
	char procs[PATH_MAX + 128], pid[16];

	snprintf(folder, size, "%s/t410-test-%d", mount, child);
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", folder);
	snprintf(pid, sizeof(pid), "%d\n", child);
	if (mkdir(folder, 0755))
		return false;
	put_text(procs, pid);
	return true;
}

static int look(const char *proc, const char *mount, const struct world *w, struct owner *ret,
		size_t *ret_nr)
{
	const struct owner *found = NULL;
	struct owners *o;
	int err;

	*ret_nr = 0;
	assert_int_equal(owners_new(proc, mount, NULL, &o), 0);
	err = owners_find(o, &w->l, &found, ret_nr);
	if (!err && *ret_nr)
		*ret = found[0];
	owners_free(o);
	return err;
}

/* A terminal that one child has open, and /dev/null, which we have open as well. */
static void in_the_real_proc(void **state)
{
	struct world *w = *state;
	char mount[PATH_MAX], folder[PATH_MAX + 64], link[64] = "", pts[128], view[128], pid[16];
	struct owner mine = { 0 }, seen = { 0 };
	size_t nr, nr_seen;
	struct stat st;
	struct diag d;
	bool moved;
	pid_t child;
	int master = posix_openpt(O_RDWR | O_NOCTTY), null = open("/dev/null", O_RDONLY);
	int err, err_seen;

	if (master < 0 || grantpt(master) || unlockpt(master) ||
	    ptsname_r(master, pts, sizeof(pts)) || cgroups_mount(&d, mount, sizeof(mount)) ||
	    readlink("/proc/self/ns/pid", link, sizeof(link) - 1) < 0 || strcmp(link, INIT_NS))
		skip_because("no terminal or no cgroups, or not in the first pid namespace");
	assert_int_equal(stat(pts, &st), 0);
	w->nodes[0][0] = st.st_rdev;
	w->nodes[1][0] = makedev(1, 3);
	child = child_with(pts);
	assert_true(child > 0);
	while (!has_open(child, pts) && !waitpid(child, NULL, WNOHANG))
		usleep(1000);
	moved = move_child(mount, child, folder, sizeof(folder));
	show(w, "self", getpid());
	show(w, "1", getpid());
	snprintf(pid, sizeof(pid), "%d", child);
	show(w, pid, child);
	snprintf(view, sizeof(view), "%s/real", w->tree.root);
	err = look(view, mount, w, &mine, &nr);
	/* a kernel may hide the files of pid 1 even from root: then all must be uncertain */
	err_seen = look("/proc", mount, w, &seen, &nr_seen);
	st.st_ino = 0;
	if (moved)
		stat(folder, &st);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	for (int i = 0; moved && i < 100 && rmdir(folder); i++)
		usleep(10000);
	close(master);
	close(null);
	assert_int_equal(err, 0);
	assert_true(nr >= 1);
	assert_int_equal(mine.item, 0);
	assert_int_equal(mine.pid, child);
	assert_true(mine.start_ns > 0);
	if (moved) {
		assert_int_equal(mine.cgroup_id, st.st_ino);
		assert_int_equal(nr, 1);
	}
	assert_true(err_seen == -EACCES || !err_seen);
	if (!err_seen) {
		assert_true(nr_seen >= 1);
		assert_int_equal(seen.pid, child);
	}
}

int main(void)
{
#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, make_world, drop_world)
	const struct CMUnitTest tests[] = {
		IN_WORLD(nobody_and_somebody),		IN_WORLD(nobody_in_a_cgroup_namespace),
		IN_WORLD(nobody_and_somebody),		IN_WORLD(several_cgroups_own_nothing),
		IN_WORLD(monitors_are_left_out),	IN_WORLD(cgroups_of_v1_own),
		IN_WORLD(unknown_cgroups_own_nothing),	IN_WORLD(disks_are_of_the_kernel),
		IN_WORLD(interfaces_are_of_the_kernel), IN_WORLD(other_networks),
		IN_WORLD(what_cannot_be_seen),		IN_WORLD(in_the_real_proc),
	};

	return cmocka_run_group_tests_name("owners", tests, NULL, NULL);
}
