// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "base/array.h"
#include "platform/check/checks.h"
#include "platform/check/checks_machine.h"
#include "platform/sys/cgroup2.h"
#include "tree.h"

static const struct check_caps no_caps;
static const struct check_caps perfmon = { .perfmon = true };
static const struct check_caps admin = { .sys_admin = true };

static void test_kernel(void **state)
{
	static const struct {
		const char *release;
		enum check_status status;
	} rows[] = {
		{ "7.2.13+deb14-arm64", CHECK_OK },
		{ "7.1.0", CHECK_OK },
		{ "10.0", CHECK_OK },
		{ "7.0.9", CHECK_LIMITED },
		{ "6.18.1-nvidia", CHECK_LIMITED },
		{ "5.15.0", CHECK_LIMITED },
		{ "5.14.99", CHECK_MISSING },
		{ "5.14.0-427.13.1.el9_4.aarch64", CHECK_LIMITED },
		{ "4.19", CHECK_MISSING },
		{ "", CHECK_LIMITED },
		{ "mainline", CHECK_LIMITED },
		{ "7", CHECK_LIMITED },
	};
	struct check_row row;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		check_judge_kernel(rows[i].release, false, &row);
		assert_string_equal(row.name, "kernel");
		assert_int_equal(row.status, rows[i].status);
		assert_non_null(strstr(row.found, rows[i].release));
		assert_int_equal(row.remedy[0] == '\0', row.status == CHECK_OK);
	}
}

static void test_paranoid(void **state)
{
	static const struct {
		const char *text;
		const struct check_caps *caps;
		enum check_status status;
		const char *remedy;
	} rows[] = {
		{ "-1", &no_caps, CHECK_OK, "" },
		{ "0", &no_caps, CHECK_OK, "" },
		{ "1", &no_caps, CHECK_MISSING, "CAP_PERFMON" },
		{ "2", &no_caps, CHECK_MISSING, "CAP_PERFMON" },
		{ "3", &no_caps, CHECK_MISSING, "CAP_SYS_ADMIN" },
		{ "1", &perfmon, CHECK_OK, "" },
		{ "2", &perfmon, CHECK_OK, "" },
		{ "3", &perfmon, CHECK_LIMITED, "CAP_SYS_ADMIN" },
		{ "4", &perfmon, CHECK_LIMITED, "CAP_SYS_ADMIN" },
		{ "3", &admin, CHECK_OK, "" },
		{ "2", &admin, CHECK_OK, "" },
		{ NULL, &admin, CHECK_MISSING, "CONFIG_PERF_EVENTS" },
		{ "", &admin, CHECK_LIMITED, "perf_event_open" },
		{ "two", &admin, CHECK_LIMITED, "perf_event_open" },
		{ "-x", &no_caps, CHECK_LIMITED, "perf_event_open" },
		{ "99999999999999999999", &no_caps, CHECK_LIMITED, "perf_event_open" },
	};
	struct check_row row;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		check_judge_paranoid(rows[i].text, rows[i].caps, &row);
		assert_string_equal(row.name, "perf_event_paranoid");
		assert_int_equal(row.status, rows[i].status);
		assert_non_null(strstr(row.remedy, rows[i].remedy));
		assert_int_equal(row.remedy[0] == '\0', row.status == CHECK_OK);
	}
}

static void test_caps(void **state)
{
	static const struct {
		struct check_caps caps;
		enum check_status status[4];
	} rows[] = {
		{ { 0 }, { CHECK_MISSING, CHECK_MISSING, CHECK_LIMITED, CHECK_LIMITED } },
		{ { .bpf = true, .perfmon = true },
		  { CHECK_OK, CHECK_OK, CHECK_LIMITED, CHECK_LIMITED } },
		{ { .sys_admin = true }, { CHECK_OK, CHECK_OK, CHECK_OK, CHECK_LIMITED } },
		{ { .bpf = true, .dac_read_search = true },
		  { CHECK_OK, CHECK_MISSING, CHECK_LIMITED, CHECK_OK } },
	};
	static const char *const names[] = { "cap_bpf", "cap_perfmon", "cap_sys_admin",
					     "cap_dac_read_search" };
	struct check_row out[4];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		check_judge_caps(&rows[i].caps, out);
		for (size_t j = 0; j < 4; j++) {
			assert_string_equal(out[j].name, names[j]);
			assert_int_equal(out[j].status, rows[i].status[j]);
			assert_int_equal(out[j].remedy[0] == '\0', out[j].status == CHECK_OK);
		}
	}
}

static void test_lockdown(void **state)
{
	static const struct {
		const char *text, *found;
		enum check_status status;
	} rows[] = {
		{ "[none] integrity confidentiality", "none", CHECK_OK },
		{ "none [integrity] confidentiality", "integrity", CHECK_OK },
		{ "none integrity [confidentiality]", "confidentiality", CHECK_MISSING },
		{ "strange", "strange", CHECK_OK },
	};
	struct check_row row;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		check_judge_lockdown(rows[i].text, &row);
		assert_string_equal(row.name, "lockdown");
		assert_string_equal(row.found, rows[i].found);
		assert_int_equal(row.status, rows[i].status);
		assert_int_equal(strstr(row.remedy, "lockdown=integrity") != NULL,
				 rows[i].status == CHECK_MISSING);
	}
}

static void test_sample_rate(void **state)
{
	static const struct {
		const char *text;
		enum check_status status;
	} rows[] = {
		{ "100000", CHECK_OK }, { "10000000", CHECK_OK },   { NULL, CHECK_OK },
		{ "many", CHECK_OK },	{ "99999", CHECK_LIMITED }, { "1", CHECK_LIMITED },
	};
	struct check_row row;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		check_judge_sample_rate(rows[i].text, &row);
		assert_string_equal(row.name, "perf_event_max_sample_rate");
		assert_string_equal(row.found, rows[i].text ? rows[i].text : "not there");
		assert_int_equal(row.status, rows[i].status);
		assert_int_equal(!strstr(row.remedy, "kernel.perf_event_max_sample_rate=100000"),
				 row.status == CHECK_OK);
	}
}

static void test_unprivileged_bpf(void **state)
{
	struct check_row row;

	(void)state;
	check_judge_unprivileged_bpf("2", &row);
	assert_int_equal(row.status, CHECK_OK);
	assert_string_equal(row.found, "2");
	check_judge_unprivileged_bpf(NULL, &row);
	assert_int_equal(row.status, CHECK_OK);
}

static void test_clock(void **state)
{
	static const struct {
		struct clock_reading c;
		int64_t lead_ns;
		const char *found;
	} rows[] = {
		{ { 5000000000, 5000000010, 5000000020 }, 0, "" },
		{ { 5000000000, 5000100020, 5000000020 }, 0, "" },
		{ { 5000000000, 5000100021, 5000000020 }, -100001, "0.0001 s behind the kernel's" },
		{ { 5000100000, 5000000000, 5000200000 }, 0, "" },
		{ { 5000100001, 5000000000, 5000200000 },
		  100001,
		  "0.0001 s ahead of the kernel's" },
		{ { 1000, 100000000000, 2000 }, -99999998000, "100.0000 s behind" },
		{ { 1000000002000, 2000, 1000000004000 }, 1000000000000, "1000.0000 s ahead" },
	};
	struct check_row row;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		bool same = !rows[i].lead_ns;

		assert_int_equal(kernel_clock_lead(&rows[i].c), rows[i].lead_ns);
		check_judge_clock(0, &rows[i].c, &row);
		assert_string_equal(row.name, "clock");
		assert_int_equal(row.status, same ? CHECK_OK : CHECK_MISSING);
		assert_non_null(strstr(row.found, rows[i].found));
		assert_int_equal(strstr(row.remedy, "nsenter -t 1 -T") != NULL, !same);
	}
	check_judge_clock(-EPERM, &rows[0].c, &row);
	assert_int_equal(row.status, CHECK_LIMITED);
	assert_non_null(strstr(row.found, "cannot be asked"));
	assert_true(row.remedy[0]);
}

static void judge(const struct tree *tree, struct check_row *row)
{
	struct pmu_list list;
	struct sysfs fs;

	assert_int_equal(sysfs_open(tree->root, NULL, &fs), 0);
	assert_int_equal(pmu_list_read(&fs, NULL, &list), 0);
	check_judge_pmus(&fs, &list, row);
	assert_string_equal(row->name, "pmus");
	pmu_list_free(&list);
	sysfs_close(&fs);
}

static void test_pmus(void **state)
{
	struct check_row row;
	struct tree tree;

	(void)state;
	tree_make_t410(&tree);
	judge(&tree, &row);
	assert_int_equal(row.status, CHECK_OK);
	assert_string_equal(row.found, "2 ucf, 12 pcie, 12 pcie_tgt, 2 cmem_latency, "
				       "2 nvlink_c2c, 2 nvclink, 2 nvdlink");
	assert_string_equal(row.remedy, "");

	tree_put(&tree, "devices/system/node/node0/cpulist", "0-3\n");
	tree_put(&tree, "devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
	judge(&tree, &row);
	assert_int_equal(row.status, CHECK_LIMITED);
	assert_non_null(strstr(row.found, "nvidia_ucf_pmu_1: name and associated_cpus disagree"));
	tree_drop(&tree, "devices/system/node/node0/cpulist");

	tree_put(&tree, PMU_DEVICES "/nvidia_pcie_pmu_0_rc_3/type", "x\n");
	judge(&tree, &row);
	assert_int_equal(row.status, CHECK_LIMITED);
	assert_non_null(strstr(row.found, "nvidia_pcie_pmu_0_rc_3: type: not understood"));
	assert_non_null(strstr(row.remedy, "t410trace list"));
	tree_remove(&tree);

	tree_make(&tree);
	judge(&tree, &row);
	assert_int_equal(row.status, CHECK_MISSING);
	assert_non_null(strstr(row.found, "looked for nvidia_ucf_pmu_<n>"));
	assert_non_null(strstr(row.remedy, "nvidia_cspmu"));
	tree_put(&tree, PMU_DEVICES "/power/type", "8\n");
	tree_put(&tree, PMU_DEVICES "/power/cpumask", "0\n");
	judge(&tree, &row);
	assert_int_equal(row.status, CHECK_MISSING);
	tree_put(&tree, PMU_DEVICES "/nvidia_uncore_pmu_0/type", "9\n");
	judge(&tree, &row);
	assert_int_equal(row.status, CHECK_MISSING);
	assert_non_null(strstr(row.found, "nvidia_uncore_pmu_0"));
	tree_put(&tree, PMU_DEVICES "/power/events/energy-pkg", "event=0x02\n");
	tree_put(&tree, "devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
	judge(&tree, &row);
	assert_int_equal(row.status, CHECK_LIMITED);
	assert_non_null(strstr(row.found, "only energy is counted; the kernel has no names"));
	tree_put(&tree, PMU_DEVICES "/nvidia_scf_pmu_0/type", "9\n");
	judge(&tree, &row);
	assert_int_equal(row.status, CHECK_LIMITED);
	assert_non_null(strstr(row.found, "1 scf, 1 power, 1 unknown"));
	tree_remove(&tree);
}

static const struct check_row *find_row(const struct check_list *list, const char *name)
{
	for (size_t i = 0; i < list->nr; i++) {
		if (!strcmp(list->rows[i].name, name))
			return &list->rows[i];
	}
	fail_msg("no row %s", name);
	return NULL;
}

/* The whole of it with a false proc and sysfs; BPF and permissions are those of the machine. */
/* What this machine has is judged as a run judges it. */
static void test_cgroup2(void **state)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "r");
	struct check_list list = { 0 };
	const struct check_row *row;
	struct sysfs fs;
	struct tree tree;
	char path[256];

	(void)state;
	assert_non_null(mounts);
	tree_make_t410(&tree);
	assert_int_equal(sysfs_open(tree.root, NULL, &fs), 0);
	assert_int_equal(check_machine(&fs, "/proc", "/nonexistent", &list), 0);
	row = find_row(&list, "cgroup2");
	if (cgroup2_mount_find(mounts, path, sizeof(path)) || !cgroup_mount_is_whole(path)) {
		assert_int_equal(row->status, CHECK_LIMITED);
	} else {
		assert_int_equal(row->status, CHECK_OK);
		assert_string_equal(row->found, path);
	}
	fclose(mounts);
	sysfs_close(&fs);
	tree_remove(&tree);
}

static void test_run(void **state)
{
	struct check_list list = { .nr = 4711 };
	struct check_list none = { 0 };
	const struct check_row *row;
	struct sysfs fs;
	struct tree tree;

	(void)state;
	tree_make_t410(&tree);
	tree_put(&tree, "self/mountinfo", "1 2 0:3 / /my\\040cgroups rw - cgroup2 none rw\n");
	tree_put(&tree, "sys/kernel/perf_event_paranoid", "-1\n");
	tree_put(&tree, "sys/kernel/perf_event_max_sample_rate", "25000\n");
	tree_put(&tree, "kernel/btf/vmlinux", "");
	assert_int_equal(sysfs_open(tree.root, NULL, &fs), 0);
	assert_int_equal(check_machine(&fs, "/nonexistent/proc", "/nonexistent", &list), -ENOENT);
	assert_int_equal(list.nr, 4711);
	assert_int_equal(check_machine(&fs, tree.root, "/nonexistent", &list), 0);
	/* The list says that it is the root: so it does in a namespace, of a branch. */
	row = find_row(&list, "cgroup2");
	assert_int_equal(row->status, CHECK_LIMITED);
	assert_string_equal(row->found,
			    "/my cgroups has only a branch of the tree: cgroups outside "
			    "it have no names");
	assert_non_null(strstr(row->remedy, "--cgroupns=host"));
	assert_string_equal(find_row(&list, "perf_event_paranoid")->found, "-1");
	assert_int_equal(find_row(&list, "perf_event_max_sample_rate")->status, CHECK_LIMITED);
	assert_string_equal(find_row(&list, "unprivileged_bpf_disabled")->found, "not there");
	assert_int_equal(find_row(&list, "bpf_jit_enable")->status, CHECK_OK);
	assert_int_equal(find_row(&list, "btf")->status, CHECK_OK);
	for (size_t i = 0; i < list.nr; i++)
		assert_string_not_equal(list.rows[i].name, "lockdown");
	assert_int_equal(find_row(&list, "pmus")->status, CHECK_OK);
	for (size_t i = 0; i < list.nr; i++) {
		assert_string_not_equal(list.rows[i].found, "");
		assert_true(list.rows[i].status == CHECK_OK || list.rows[i].remedy[0]);
	}

	tree_put(&tree, "self/mountinfo", "");
	tree_drop(&tree, "kernel/btf/vmlinux");
	tree_put(&tree, "kernel/security/lockdown", "none integrity [confidentiality]\n");
	tree_put(&tree, "sys/net/core/bpf_jit_enable", "0\n");
	assert_int_equal(check_machine(&fs, tree.root, "/nonexistent", &list), 0);
	assert_int_equal(find_row(&list, "bpf_jit_enable")->status, CHECK_MISSING);
	assert_non_null(strstr(find_row(&list, "bpf_jit_enable")->remedy, "bpf_jit_enable=1"));
	assert_int_equal(find_row(&list, "cgroup2")->status, CHECK_LIMITED);
	assert_int_equal(find_row(&list, "btf")->status, CHECK_MISSING);
	assert_int_equal(find_row(&list, "lockdown")->status, CHECK_MISSING);
	assert_false(check_all_ok(&list));
	assert_true(check_all_ok(&none));
	sysfs_close(&fs);
	tree_remove(&tree);
}

/* Debian's level 3 stops the daemon, which has no CAP_SYS_ADMIN, and not a run as root. */
static void test_serve(void **state)
{
	static const struct {
		const char *text;
		int err;
		enum check_status status;
	} rows[] = {
		{ "2", 0, CHECK_OK },
		{ "3", 0, CHECK_OK }, /* a kernel that takes it for 2 */
		{ "3", -EACCES, CHECK_LIMITED },
		{ "2", -EACCES, CHECK_LIMITED },
		{ NULL, -ENOENT, CHECK_LIMITED },
		{ "3", CHECK_NOT_TRIED, CHECK_LIMITED },
		{ "2", CHECK_NOT_TRIED, CHECK_OK },
		{ "-1", CHECK_NOT_TRIED, CHECK_OK },
		{ NULL, CHECK_NOT_TRIED, CHECK_OK },
	};
	struct check_row row;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		check_judge_serve(rows[i].text, rows[i].err, &row);
		assert_string_equal(row.name, "serve");
		assert_int_equal(row.status, rows[i].status);
		assert_int_equal(row.remedy[0] == '\0', row.status == CHECK_OK);
	}
	check_judge_serve("3", -EACCES, &row);
	assert_non_null(strstr(row.found, "perf_event_paranoid is 3"));
	assert_non_null(strstr(row.remedy, "kernel.perf_event_paranoid=2"));
	check_judge_paranoid("3", &admin, &row);
	assert_int_equal(row.status, CHECK_OK);
}

static void test_sockets(void **state)
{
	struct pmu_list list = { 0 };
	struct check_row row;
	struct sysfs fs;
	struct tree tree;
	struct diag d = { 0 };

	(void)state;
	tree_make_t410(&tree);
	tree_put(&tree, "devices/system/cpu/possible", "0-3\n");
	tree_put(&tree, "devices/system/cpu/online", "0-3\n");
	tree_put(&tree, "devices/system/node/node0/cpulist", "0-1\n");
	tree_put(&tree, "devices/system/node/node1/cpulist", "2-3\n");
	tree_put(&tree, "devices/system/node/node2/cpulist", "\n");
	tree_put(&tree, "devices/system/node/online", "0-2\n");
	assert_int_equal(sysfs_open(tree.root, NULL, &fs), 0);
	assert_int_equal(pmu_list_read(&fs, &d, &list), 0);
	assert_int_equal(check_sockets(&fs, &list, &row), 0);
	assert_string_equal(row.name, "machine");
	assert_non_null(strstr(row.found, ", 2 sockets, 4 CPUs, 3 NUMA nodes"));
	assert_ptr_equal(strstr(row.found, "PMUs of the T410, CPU "), row.found);
	pmu_list_free(&list);
	/* Without PMUs and packages they are one. */
	assert_int_equal(check_sockets(&fs, &list, &row), 0);
	assert_non_null(strstr(row.found, ", 1 socket, 4 CPUs, "));
	sysfs_close(&fs);
	tree_remove(&tree);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(check_status_name(CHECK_OK), "ok");
	assert_string_equal(check_status_name(CHECK_LIMITED), "limited");
	assert_string_equal(check_status_name(CHECK_MISSING), "missing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel),	    cmocka_unit_test(test_paranoid),
		cmocka_unit_test(test_caps),	    cmocka_unit_test(test_lockdown),
		cmocka_unit_test(test_sample_rate), cmocka_unit_test(test_unprivileged_bpf),
		cmocka_unit_test(test_clock),	    cmocka_unit_test(test_pmus),
		cmocka_unit_test(test_cgroup2),	    cmocka_unit_test(test_run),
		cmocka_unit_test(test_serve),	    cmocka_unit_test(test_sockets),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
