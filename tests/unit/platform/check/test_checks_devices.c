// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pci_world.h"
#include "platform/check/checks_devices.h"

static struct check_row look(const struct sysfs *fs)
{
	struct check_row row, gpus;

	assert_int_equal(check_devices(fs, &row, &gpus), 0);
	assert_null(gpus.name);
	assert_string_equal(row.name, "pci");
	assert_true(row.status == CHECK_OK || row.remedy[0]);
	return row;
}

static void test_no_pci(void **state)
{
	struct world *w = *state;
	struct check_row row;

	tree_put(&w->tree, "bus/event_source/devices/cpu/type", "4\n");
	row = look(&w->fs);
	assert_int_equal(row.status, CHECK_LIMITED);
	assert_true(row.found[0]);
}

static void test_ports_without_pmus(void **state)
{
	struct world *w = *state;
	struct check_row row;

	world_add_port(w, &guide[0], CONFIG_SIZE);
	tree_put(&w->tree, "bus/event_source/devices/cpu/type", "4\n");
	row = look(&w->fs);
	assert_int_equal(row.status, CHECK_LIMITED);
	assert_string_equal(row.found, "0 PCIe PMUs, 1 root port, place known of 1");
}

/* PMUs by hand: two names are all that it takes. */
static void add_pmu(struct world *w, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), PMU_DEVICES "/%s/type", name);
	tree_put(&w->tree, path, "30\n");
	snprintf(path, sizeof(path), PMU_DEVICES "/%s/cpumask", name);
	tree_put(&w->tree, path, "0\n");
}

static void test_all_there(void **state)
{
	struct world *w = *state;
	struct check_row row;

	add_pmu(w, "nvidia_pcie_pmu_0_rc_0");
	add_pmu(w, "nvidia_pcie_pmu_0_rc_1");
	world_add_port(w, &guide[0], CONFIG_SIZE);
	world_add_port(w, &guide[1], CONFIG_SIZE);
	row = look(&w->fs);
	assert_string_equal(row.found, "2 PCIe PMUs, 2 root ports, place known of 2");
	assert_int_equal(row.status, CHECK_OK);
	/* One that may not be read */
	world_add_port(w, &guide[2], 64);
	row = look(&w->fs);
	assert_int_equal(row.status, CHECK_LIMITED);
}

/* Ports with PMUs of their own need no place, but each needs its PMU. */
static void test_pmus_of_ports(void **state)
{
	struct world *w = *state;
	struct check_row row;

	add_pmu(w, "dwc_rootport_20000");
	world_add_port(w, &guide[0], 64);
	row = look(&w->fs);
	assert_string_equal(row.found, "1 root port, 1 with a PMU");
	assert_int_equal(row.status, CHECK_OK);
	world_add_port(w, &guide[1], 64);
	row = look(&w->fs);
	assert_int_equal(row.status, CHECK_LIMITED);
	assert_non_null(strstr(row.remedy, "devices below the other ports"));
}

static void test_gpus(void **state)
{
	struct world *w = *state;
	struct check_row row, gpus;

	world_add_port(w, &guide[0], CONFIG_SIZE);
	config_make(w->c, 0x294110de, 0x030200, 0);
	world_add(w, "pci0001:00/0001:00:00.0", "0001:01:00.0", 64);
	tree_link(&w->tree, "devices/pci0001:00/0001:00:00.0/0001:01:00.0/driver",
		  "../../../../bus/pci/drivers/nvidia");
	assert_int_equal(check_devices(&w->fs, &row, &gpus), 0);
	assert_string_equal(gpus.name, "gpus");
	assert_int_equal(gpus.status, CHECK_OK);
	assert_int_equal(strncmp(gpus.found, "1: 0001:01:00.0 NVIDIA", 22), 0);
	assert_non_null(strstr(gpus.found, " (nvidia)"));
	config_make(w->c, 0x20001a03, 0x030000, 0);
	world_add(w, "pci0001:00", "0001:00:01.0", 64);
	assert_int_equal(check_devices(&w->fs, &row, &gpus), 0);
	assert_int_equal(strncmp(gpus.found, "2: 0001:00:01.0 ", 16), 0);
	assert_non_null(strstr(gpus.found, ", 0001:01:00.0 NVIDIA"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_make, world_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_no_pci),    TEST(test_ports_without_pmus),
		TEST(test_all_there), TEST(test_pmus_of_ports),
		TEST(test_gpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
