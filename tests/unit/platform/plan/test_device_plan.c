// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "port_world.h"
#include "tables/counter_rows.h"

static struct device_plan plan;

static void make(const struct plan_capacity *capacities, bool by_destination)
{
	struct diag d = { 0 };

	device_plan_free(&plan);
	assert_int_equal(world_plan(capacities, by_destination, &d, &plan), 0);
	assert_string_equal(d.what, "");
}

/* Rooms of all PMUs. */
static const struct plan_capacity *capacities_of(uint32_t events, uint32_t cycles)
{
	static struct plan_capacity capacities[64];

	for (size_t i = 0; i < ARRAY_SIZE(capacities); i++)
		capacities[i] = (struct plan_capacity){ events, cycles };
	return capacities;
}

static bool has_note(const char *text)
{
	for (size_t i = 0; i < plan.notes.nr; i++)
		if (strstr(plan.notes.items[i], text))
			return true;
	return false;
}

/* Counters of a device (from 0) of this event. */
static size_t count_of(size_t device, const char *event)
{
	size_t nr = 0;

	for (size_t i = 0; i < plan.nr_counters; i++)
		nr += plan.counters[i].device == device + 1 &&
		      !strcmp(plan.counters[i].event, event);
	return nr;
}

static const struct want *want_of(size_t device, const char *event)
{
	for (size_t i = 0; i < plan.nr_counters; i++)
		if (plan.counters[i].device == device + 1 && !strcmp(plan.counters[i].event, event))
			return &plan.wants.wants[plan.counter_wants[i]];
	return NULL;
}

/* What holds for every plan. */
static void check(void)
{
	uint32_t at = 0;

	for (size_t g = 0; g < plan.nr_groups; g++) {
		assert_int_equal(plan.groups[g].first, at);
		assert_true(plan.groups[g].nr > 0);
		for (uint32_t i = 0; i < plan.groups[g].nr; i++, at++) {
			const struct counter *c = &plan.counters[at];
			const struct want *want = &plan.wants.wants[plan.counter_wants[at]];

			assert_int_equal(c->group, g);
			assert_int_equal(c->device, plan.counters[plan.groups[g].first].device);
			assert_int_equal(c->source, SOURCE_DEVICE);
			assert_string_equal(c->pmu, want->pmu->name);
			assert_int_equal(
				want->set,
				plan.wants.wants[plan.counter_wants[plan.groups[g].first]].set);
			assert_int_equal(c->socket, plan.devices[c->device - 1].socket);
		}
	}
	assert_int_equal(at, plan.nr_counters);
	for (size_t i = 0; i < plan.nr_probes; i++) {
		const struct device_latency *l = &plan.latencies[i];
		uint32_t set = plan.wants.wants[l->cycles].set;

		assert_true(l->nr > 0 && plan.probes[i].device);
		assert_string_equal(plan.wants.wants[l->cycles].event, "cycles");
		for (uint32_t k = 0; k < l->nr; k++) {
			assert_int_equal(plan.wants.wants[l->outstanding[k]].set, set);
			assert_int_equal(plan.wants.wants[l->requests[k]].set, set);
		}
	}
}

static void test_alone(void **state)
{
	(void)state;
	world_add(0, 1, 2, true);
	make(NULL, false);
	check();
	assert_int_equal(plan.nr_devices, 1);
	assert_int_equal(plan.devices[0].filter, DEVICE_BY_PORT);
	assert_int_equal(plan.devices[0].port, 0);
	assert_int_equal(plan.nr_groups, 1);
	assert_int_equal(plan.nr_counters, 4);
	assert_int_equal(plan.nr_probes, 1);
	assert_int_equal(plan.wants.nr, 6);
	assert_int_equal(plan.notes.nr, 0);
	assert_string_equal(plan.counters[0].pmu, "nvidia_pcie_pmu_0_rc_1");
	assert_string_equal(plan.counters[0].filters, "src_rp_mask=0x4");
	assert_int_equal(plan.counters[0].direction, DIRECTION_READ);
	assert_int_equal(plan.counters[1].direction, DIRECTION_WRITE);
	assert_int_equal(plan.counters[2].unit, UNIT_REQUESTS);
	assert_true(want_of(0, "wr_bytes")->config.config1 == 0x4);
	assert_false(want_of(0, "wr_bytes")->constant);
}

static void test_by_id(void **state)
{
	(void)state;
	world_add(1, 0, 3, false);
	world_add(1, 0, 3, false);
	make(NULL, false);
	check();
	/* Both and their port */
	assert_int_equal(plan.nr_devices, 3);
	assert_int_equal(plan.devices[0].filter, DEVICE_BY_ID);
	assert_int_equal(plan.devices[0].port, 3);
	assert_int_equal(plan.devices[1].port, 3);
	assert_int_equal(plan.devices[2].kind, DEVICE_PORT);
	assert_int_equal(plan.devices[2].filter, DEVICE_BY_PORT);
	assert_int_equal(plan.devices[2].socket, 1);
	assert_true(want_of(0, "rd_bytes")->config.config1 == (0x1000000ull | 0x8100 << 8));
	assert_true(want_of(1, "rd_req")->config.config1 == (0x1000000ull | 0x8200 << 8));
	assert_true(want_of(2, "rd_bytes")->config.config1 == 0x8);
	assert_null(want_of(2, "rd_req"));
	assert_int_equal(plan.nr_groups, 3);
	assert_int_equal(plan.nr_probes, 2);
	assert_true(want_of(0, "rd_bytes")->set != want_of(1, "rd_bytes")->set);
	assert_string_equal(plan.counters[0].filters, "src_bdf=0x8100,src_bdf_en=1");
}

/* Bytes stay together in turns when there are few counters; the rest is given up in its order. */
static void test_few_counters(void **state)
{
	(void)state;
	world_add(0, 1, 0, false);
	make(capacities_of(5, 1), false);
	check();
	assert_int_equal(plan.nr_probes, 1);
	assert_int_equal(plan.notes.nr, 0);
	make(capacities_of(5, 0), false);
	check();
	assert_int_equal(plan.nr_probes, 1);
	assert_null(want_of(0, "wr_req"));
	assert_true(has_note("too few counters: left out of devices are requests of writes "
			     "(nvidia_pcie_pmu_0_rc_1)"));
	make(capacities_of(3, 1), false);
	check();
	assert_int_equal(plan.nr_probes, 0);
	assert_non_null(want_of(0, "rd_req"));
	assert_true(has_note("are latencies and requests of writes ("));
	make(capacities_of(2, 1), false);
	check();
	assert_null(want_of(0, "rd_req"));
	assert_int_equal(plan.nr_groups, 2);
	assert_true(has_note("are latencies and requests ("));
	/* One counter: bytes are apart, and nothing can be checked. */
	make(capacities_of(1, 1), false);
	check();
	assert_int_equal(plan.nr_groups, 2);
	assert_int_equal(plan.nr_devices, 1);
	assert_true(want_of(0, "rd_bytes")->set != want_of(0, "wr_bytes")->set);
}

static void test_ports_share(void **state)
{
	(void)state;
	for (uint32_t rp = 0; rp < 3; rp++)
		world_add(0, 2, rp, true);
	make(capacities_of(15, 1), false);
	check();
	assert_int_equal(plan.nr_counters, 12);
	assert_int_equal(plan.notes.nr, 0);
	assert_false(want_of(0, "rd_bytes")->constant);
	/* Bytes all the time, the rest in turns beside them */
	make(capacities_of(9, 1), false);
	check();
	assert_int_equal(plan.nr_counters, 12);
	assert_int_equal(plan.nr_groups, 6);
	assert_int_equal(plan.nr_probes, 3);
	assert_true(want_of(2, "rd_bytes")->constant);
	assert_false(want_of(2, "rd_req")->constant);
	/* Bytes alone fit. */
	make(capacities_of(6, 1), false);
	check();
	assert_int_equal(plan.nr_counters, 6);
	assert_int_equal(plan.nr_probes, 0);
	assert_int_equal(plan.notes.nr, 1);
	/* Not even they: more would only mean more turns. */
	make(capacities_of(4, 1), false);
	check();
	assert_int_equal(plan.nr_counters, 6);
	assert_false(want_of(0, "rd_bytes")->constant);
}

static void test_mixed(void **state)
{
	(void)state;
	world_add(0, 1, 0, true);
	world_add(0, 1, 1, false);
	world_add(0, 1, 1, false);
	make(capacities_of(8, 1), false);
	check();
	assert_int_equal(plan.devices[0].filter, DEVICE_BY_PORT);
	assert_int_equal(plan.devices[1].filter, DEVICE_BY_ID);
	assert_int_equal(plan.nr_devices, 4);
	assert_int_equal(plan.devices[0].port, 0);
	assert_int_equal(plan.devices[2].port, 4);
	assert_false(want_of(0, "rd_bytes")->constant);
	assert_int_equal(plan.nr_probes, 3);
}

static void test_destinations(void **state)
{
	bool seen[NR_DESTINATIONS] = { false };

	(void)state;
	world_add(0, 1, 0, false);
	make(capacities_of(8, 1), true);
	check();
	assert_int_equal(count_of(0, "rd_bytes"), 5);
	assert_int_equal(count_of(0, "wr_bytes"), 5);
	assert_int_equal(count_of(0, "rd_req"), 1);
	assert_int_equal(plan.nr_probes, 1);
	/* Reads, writes, and the port, which is counted by sums */
	assert_int_equal(plan.nr_groups, 3);
	assert_int_equal(count_of(1, "rd_bytes"), 1);
	for (size_t i = 0; i < plan.nr_counters; i++)
		if (!strcmp(plan.counters[i].event, "rd_bytes"))
			seen[plan.counters[i].destination] = true;
	assert_true(seen[DESTINATION_CMEM] && seen[DESTINATION_GMEM] && seen[DESTINATION_P2P] &&
		    seen[DESTINATION_CXL] && seen[DESTINATION_REMOTE]);
	make(capacities_of(5, 1), true);
	check();
	assert_int_equal(plan.nr_probes, 0);
	assert_int_equal(plan.nr_groups, 3);
	assert_true(has_note("are latencies and requests ("));
	/* Bytes are parted last of all. */
	make(capacities_of(3, 1), true);
	check();
	assert_int_equal(plan.nr_groups, 5);
	assert_int_equal(count_of(0, "rd_bytes"), 5);
}

static void test_not_there(void **state)
{
	(void)state;
	world_add(0, 9, 0, true);
	world_add(0, 1, 0, true);
	world_add(5, 1, 0, true);
	world_function(world_add(0, 1, 1, true))->wiring.how = WIRING_UNKNOWN;
	make(NULL, false);
	check();
	assert_int_equal(plan.nr_devices, 4);
	assert_int_equal(plan.devices[0].filter, DEVICE_NOT_COUNTED);
	assert_int_equal(plan.devices[1].filter, DEVICE_BY_PORT);
	assert_int_equal(plan.devices[2].filter, DEVICE_NOT_COUNTED);
	assert_int_equal(plan.devices[2].wiring, WIRING_UNKNOWN);
	assert_int_equal(plan.devices[3].filter, DEVICE_NOT_COUNTED);
	assert_int_equal(plan.notes.nr, 3);
	assert_true(has_note("there is no nvidia_pcie_pmu_0_rc_9"));
	assert_true(has_note("socket 5 is not among"));
	assert_true(has_note("--pci-map"));
	/* one sentence for those that share a reason */
	world_function(world_add(0, 1, 2, true))->wiring.how = WIRING_UNKNOWN;
	make(NULL, false);
	assert_int_equal(plan.notes.nr, 3);
	assert_true(has_note(" are not counted: which root port is above"));
	/* one with a name comes first */
	strcpy(world_function(world.list.nr - 1)->names, "nvme0n1");
	make(NULL, false);
	assert_true(has_note("), 000"));
	/* A port that the mask has no bit for */
	world_function(1)->wiring.rp = 8;
	make(NULL, false);
	assert_int_equal(plan.devices[1].filter, DEVICE_NOT_COUNTED);
	assert_int_equal(plan.nr_counters, 0);
	assert_int_equal(plan.wants.nr, 0);
}

static void test_nothing_to_count_with(void **state)
{
	struct device_plan_options o = { .devices = &world.list };

	(void)state;
	world_add(0, 1, 0, true);
	device_plan_free(&plan);
	assert_int_equal(device_plan_make(&o, NULL, &plan), 0);
	assert_int_equal(plan.nr_devices, 1);
	assert_int_equal(plan.devices[0].filter, DEVICE_NOT_COUNTED);
	assert_int_equal(plan.notes.nr, 0);
}

static void test_grace(void **state)
{
	(void)state;
	world_add(0, 0, 4, true);
	world_add(0, 0, 5, false);
	make(capacities_of(16, 1), false);
	check();
	assert_int_equal(plan.devices[0].filter, DEVICE_BY_PORT);
	assert_int_equal(plan.devices[1].filter, DEVICE_NOT_COUNTED);
	assert_true(has_note("others are below the same root port"));
	assert_int_equal(plan.nr_devices, 2);
	assert_true(want_of(0, "rd_bytes_loc")->config.config1 == 0x10);
	assert_non_null(want_of(0, "wr_bytes_rem"));
	assert_int_equal(plan.latencies[0].nr, 2);
	assert_string_equal(plan.counters[0].filters, "root_port=0x10");
}

/* Where the kernel numbers all PMUs of a kind, a socket may have several of one for all its ports. */
static void test_one_of_several(void **state)
{
	(void)state;
	for (size_t i = 0; i < world.pmus.nr; i++)
		if (!strcmp(world.pmus.pmus[i].name, "nvidia_pcie_pmu_1"))
			world.pmus.pmus[i].socket = 0;
	world_add(0, 0, 4, true);
	make(capacities_of(16, 1), false);
	check();
	assert_int_equal(plan.devices[0].filter, DEVICE_NOT_COUNTED);
	assert_true(has_note("names and CPUs of nvidia_pcie_pmu_<n> disagree"));
}

/* A device alone below port 0, @nr below port 1: dwc_rootport_8 and dwc_rootport_10 */
static struct pci_function *add_ports(int nr)
{
	struct pci_function *port = NULL;

	for (int i = 0; i <= nr; i++)
		world_function(world_add(0, 0, i ? 1 : 0, !i))->wiring.how = WIRING_UNKNOWN;
	for (int i = 0; i < 2; i++) {
		port = &world.functions[world_port(0, 0, i)];
		port->domain = 0;
		port->bus = 0;
		port->devfn = i ? 0x10 : 0x08;
	}
	return port;
}

/* What is counted of a device or port, as the parts of a socket's traffic have it */
static void check_bytes_of_port(size_t device, const char *pmu)
{
	const struct counter_row *row;
	size_t nr = 0, rows = 0;

	for (size_t i = 0; i < plan.nr_counters; i++) {
		const struct counter *c = &plan.counters[i];

		if (c->device != device + 1)
			continue;
		nr++;
		assert_string_equal(c->pmu, pmu);
		assert_int_equal(c->unit, UNIT_BYTES);
		for (size_t k = 0; (row = counter_row_at(k)); k++)
			rows += row->kind == PMU_DWC_PORT && !strcmp(row->event, c->event) &&
				row->direction == c->direction && row->scale == 1;
	}
	assert_int_equal(nr, 2);
	assert_int_equal(rows, 2);
	assert_int_not_equal(want_of(device, "tx_pcie_tlp_data_payload")->set,
			     want_of(device, "rx_pcie_tlp_data_payload")->set);
}

/* A root port of DesignWare has one counter for all that is below it. */
static void test_ports_of_their_own(void **state)
{
	(void)state;
	add_ports(5);
	make(capacities_of(1, 0), false);
	check();
	assert_int_equal(plan.nr_devices, 7);
	assert_int_equal(plan.nr_groups, 4);
	assert_int_equal(plan.nr_probes, 0);
	assert_int_equal(plan.devices[0].filter, DEVICE_BY_PORT);
	assert_int_equal(plan.devices[0].wiring, WIRING_UNKNOWN);
	assert_int_equal(plan.devices[0].port, 0);
	check_bytes_of_port(0, "dwc_rootport_8");
	for (size_t i = 1; i < 6; i++) {
		assert_int_equal(plan.devices[i].filter, DEVICE_NOT_COUNTED);
		assert_int_equal(plan.devices[i].port, 7);
	}
	assert_int_equal(plan.devices[6].kind, DEVICE_PORT);
	assert_string_equal(plan.devices[6].bdf, "0001:80:01.0");
	assert_string_equal(plan.devices[6].name,
			    "0001:82:00.0, 0001:83:00.0, 0001:84:00.0 and 2 more");
	check_bytes_of_port(6, "dwc_rootport_10");
	assert_false(device_plan_checks(&plan, 6));
	assert_int_equal(plan.notes.nr, 2);
	assert_true(has_note("what CPUs write to devices and read of them is in READ and WRITE"));
	assert_true(has_note("root port 0001:80:01.0 is counted as a whole (dwc_rootport_10): it "
			     "cannot tell 0001:82:00.0, 0001:83:00.0, 0001:84:00.0 and 2 more "
			     "apart"));
}

/* Devices that were not asked for share a port as well. */
static void test_ports_with_others(void **state)
{
	struct pci_function *port = add_ports(2);

	(void)state;
	world.list.nr = 2;
	make(capacities_of(1, 0), true);
	check();
	assert_int_equal(plan.nr_devices, 3);
	assert_int_equal(plan.devices[1].port, 3);
	assert_string_equal(plan.devices[2].name, "0001:82:00.0, 0001:83:00.0");
	check_bytes_of_port(2, "dwc_rootport_10");
	/* another port has no PMU */
	port->devfn = 0x18;
	make(capacities_of(1, 0), false);
	assert_int_equal(plan.nr_devices, 2);
	assert_int_equal(plan.devices[1].port, 0);
	assert_true(has_note("0001:82:00.0 is not counted: which root port is above"));
	/* that of the other device cannot be used */
	for (size_t i = 0; i < world.pmus.nr; i++)
		if (world.pmus.pmus[i].kind == PMU_DWC_PORT)
			world.pmus.pmus[i].socket = 7;
	make(capacities_of(1, 0), false);
	assert_int_equal(plan.nr_counters, 0);
	assert_true(has_note("0001:81:00.0 is not counted: dwc_rootport_8 is on no socket that is "
			     "followed"));
}

/* A port beside counted devices is a check of these. */
static void test_checks(void **state)
{
	(void)state;
	world_add(0, 1, 0, true);
	world_add(0, 1, 1, false);
	world_add(0, 1, 1, false);
	make(capacities_of(8, 1), false);
	assert_true(device_plan_checks(&plan, 3));
	assert_false(device_plan_checks(&plan, 0));
}

#define TEST(f)	 cmocka_unit_test_setup_teardown(f, world_start_t410, world_finish)
#define GRACE(f) cmocka_unit_test_setup_teardown(f, world_start_grace, world_finish)
#define PORTS(f) cmocka_unit_test_setup_teardown(f, world_start_ampereone, world_finish)

static int finish(void **state)
{
	(void)state;
	device_plan_free(&plan);
	device_plan_free(NULL);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_alone),
		TEST(test_by_id),
		TEST(test_few_counters),
		TEST(test_ports_share),
		TEST(test_mixed),
		TEST(test_destinations),
		TEST(test_not_there),
		TEST(test_nothing_to_count_with),
		GRACE(test_grace),
		GRACE(test_one_of_several),
		PORTS(test_ports_of_their_own),
		TEST(test_checks),
		PORTS(test_ports_with_others),
	};

	return cmocka_run_group_tests(tests, NULL, finish);
}
