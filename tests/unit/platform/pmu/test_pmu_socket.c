// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The socket of PMUs with a number in their names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/array.h"
#include "platform/pmu/pmu.h"
#include "platform/pmu/pmu_socket.h"
#include "tree.h"

#define DEVICES PMU_DEVICES "/"

static void put_pmu(const struct tree *tree, const char *pmu, const char *cpus)
{
	const char *const files[][2] = {
		{ "type", "9\n" },
		{ "cpumask", "0\n" },
		{ "associated_cpus", cpus },
		{ "events/cycles", "event=0x100000000\n" },
		{ "format/event", "config:0-32\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char name[128];

		snprintf(name, sizeof(name), DEVICES "%s/%s", pmu, files[i][0]);
		tree_put(tree, name, files[i][1]);
	}
}

static void read_tree(const struct tree *tree, struct pmu_list *list)
{
	struct diag d = { 0 };
	struct sysfs fs;

	assert_int_equal(sysfs_open(tree->root, &d, &fs), 0);
	assert_int_equal(pmu_list_read(&fs, &d, list), 0);
	sysfs_close(&fs);
}

/* A machine with four CPUs on two sockets: nodes and packages as the caller has them. */
static void put_cpus(const struct tree *tree, const char *const packages[4], const char *nodes[2])
{
	char name[80];

	tree_put(tree, "devices/system/cpu/possible", "0-3\n");
	for (int c = 0; c < 4; c++) {
		snprintf(name, sizeof(name),
			 "devices/system/cpu/cpu%d/topology/physical_package_id", c);
		if (packages[c])
			tree_put(tree, name, packages[c]);
	}
	for (int n = 0; n < 2; n++) {
		snprintf(name, sizeof(name), "devices/system/node/node%d/cpulist", n);
		if (nodes[n])
			tree_put(tree, name, nodes[n]);
	}
}

/* Where a kernel numbers all PMUs of a kind, their CPUs tell the socket. */
static void test_running_numbers(void **state)
{
	static const struct {
		const char *packages[4], *nodes[2];
		const char *name, *cpus;
		int32_t socket;
	} rows[] = {
		/* without nodes: the first package and the second, whatever their numbers are */
		{ { "0", "0", "1", "1" }, { 0 }, "nvidia_pcie_pmu_7", "2-3", 1 },
		{ { "0", "0", "1", "1" }, { 0 }, "nvidia_pcie_pmu_1", "0-1", 0 },
		{ { "36", "36", "2364", "2364" }, { 0 }, "nvidia_scf_pmu_1", "2-3", 1 },
		{ { "36", "36", "2364", "2364" }, { 0 }, "nvidia_pcie_pmu_2", "0-1", 0 },
		{ { "0", "0", "0", "0" }, { 0 }, "nvidia_pcie_pmu_5", "0-3", 0 },
		/* firmware tells no packages, or CPUs are offline: the name is all there is */
		{ { "-1", "-1", "-1", "-1" }, { 0 }, "nvidia_scf_pmu_1", "2-3", 1 },
		{ { NULL }, { 0 }, "nvidia_scf_pmu_1", "2-3", 1 },
		{ { "0", "0", "1", "1" }, { 0 }, "nvidia_scf_pmu_5", "1-2", 5 },
		/* the number in the name is that of a node */
		{ { "0", "0", "1", "1" }, { "0-1", "2-3" }, "nvidia_pcie_pmu_7_rc_2", "2-3", 1 },
		{ { "1", "1", "0", "0" }, { "0-1", "2-3" }, "nvidia_ucf_pmu_1", "2-3", 1 },
		{ { "-1", "-1", "-1", "-1" }, { "0-1", "2-3" }, "nvidia_scf_pmu_0", "2-3", 1 },
		{ { "0", "0", "1", NULL }, { "0-1", "2" }, "nvidia_scf_pmu_4", "2-3", 1 },
		/* one node with all CPUs: the kernel makes no nodes */
		{ { "0", "0", "1", "1" }, { "0-3" }, "nvidia_pcie_pmu_3", "2-3", 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pmu_list list;
		struct tree tree;
		struct pmu *pmu;

		tree_make(&tree);
		put_cpus(&tree, rows[i].packages, (const char **)rows[i].nodes);
		put_pmu(&tree, rows[i].name, rows[i].cpus);
		read_tree(&tree, &list);
		assert_int_equal(list.nr, 1);
		pmu = &list.pmus[0];
		if (pmu->socket != rows[i].socket)
			fail_msg("row %zu: socket %d", i, pmu->socket);
		assert_int_equal(pmu_name_misleads(pmu), pmu->instance != rows[i].socket);
		pmu_list_free(&list);
		tree_remove(&tree);
	}
}

/* Of several PMUs at one place none is the one. */
static void test_one_of_several(void **state)
{
	static const char *const packages[] = { "0", "0", "0", "0" };
	const char *nodes[] = { "0-3", NULL };
	struct pmu_list list;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	put_cpus(&tree, packages, nodes);
	put_pmu(&tree, "nvidia_pcie_pmu_3", "0-3\n");
	read_tree(&tree, &list);
	assert_ptr_equal(pmu_find(&list, PMU_GRACE_PCIE, 0, -1), &list.pmus[0]);
	pmu_list_free(&list);
	put_pmu(&tree, "nvidia_pcie_pmu_0", "0-3\n");
	read_tree(&tree, &list);
	assert_int_equal(list.nr, 2);
	assert_null(pmu_find(&list, PMU_GRACE_PCIE, 0, -1));
	pmu_list_free(&list);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_running_numbers),
		cmocka_unit_test(test_one_of_several),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
