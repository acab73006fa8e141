// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which GPU has a link, what counts it, and why it cannot be counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/text.h"
#include "port_world.h"

static struct device_plan plan;
static const char *no_fabric;

static struct pmu *pmu_at(enum pmu_kind kind, int32_t socket)
{
	for (size_t i = 0; i < world.pmus.nr; i++)
		if (world.pmus.pmus[i].kind == kind && world.pmus.pmus[i].socket == socket)
			return &world.pmus.pmus[i];
	return NULL;
}

static void peers(const char *text)
{
	for (int32_t s = 0; s < 2; s++) {
		struct pmu *p = pmu_at(PMU_NVLINK_C2C, s);

		assert_non_null(p);
		str_copy(p->peer, sizeof(p->peer), text);
	}
}

/* A GPU alone below a port; @gpu: its bit as the map tells it, from 1. */
static size_t add_gpu(uint32_t socket, uint32_t rc, uint32_t rp, uint32_t gpu)
{
	size_t item = world_add(socket, rc, rp, true);
	struct pci_function *f = world_function(item);

	f->vendor = 0x10de;
	f->device = 0x2941;
	f->class_code = 0x030200;
	f->kind = DEVICE_GPU;
	f->physfn = TOPOLOGY_NONE;
	f->wiring.gpu = gpu;
	return item;
}

static void make(const struct plan_capacity *capacities)
{
	static const uint32_t sockets[] = { 0, 1 };
	struct device_plan_options o = {
		.devices = &world.list,
		.pmus = &world.pmus,
		.capacities = capacities,
		.socket_ids = sockets,
		.nr_sockets = ARRAY_SIZE(sockets),
		.latencies = true,
		.no_fabric = no_fabric,
	};
	struct diag d = { 0 };

	device_plan_free(&plan);
	assert_int_equal(device_plan_make(&o, &d, &plan), 0);
}

static const struct device *link_of(size_t item)
{
	for (size_t i = 0; i < plan.nr_devices; i++)
		if (plan.devices[i].kind == DEVICE_LINK && plan.devices[i].function == item + 1)
			return &plan.devices[i];
	return NULL;
}

static const char *why_of(size_t item)
{
	const struct device *link = link_of(item);

	return link ? link->why : "no link";
}

/* Counters of a link of this event, term and filters (NULL: any). */
static size_t count_of(const struct device *link, const char *event, enum term term,
		       const char *filters)
{
	size_t nr = 0;

	for (size_t i = 0; i < plan.nr_counters; i++) {
		const struct counter *c = &plan.counters[i];

		nr += c->device == (size_t)(link - plan.devices) + 1 && !strcmp(c->event, event) &&
		      c->term == term && (!filters || !strcmp(c->filters, filters));
	}
	return nr;
}

static void test_one_gpu(void **state)
{
	const struct device *link;
	size_t gpu;

	(void)state;
	peers("nr_gpu=1");
	gpu = add_gpu(1, 0, 1, 0);
	world_add(1, 2, 0, true);
	make(NULL);
	link = link_of(gpu);
	assert_non_null(link);
	assert_string_equal(link->why, "");
	assert_int_equal(link->filter, DEVICE_BY_LINK);
	assert_int_equal(link->socket, 1);
	assert_string_equal(strchr(link->bdf, '/'), "/c2c");
	assert_int_equal(
		count_of(link, "slc_bytes_rd", TERM_WHOLE, "src_loc_noncpu=1,dst_loc_cmem=1"), 1);
	assert_int_equal(count_of(link, "slc_bytes_wr", TERM_WHOLE, NULL), 1);
	assert_int_equal(count_of(link, "in_rd_req", TERM_NONE, NULL), 1);
	assert_int_equal(count_of(link, "in_rd_req", TERM_WHOLE, NULL), 0);
	/* All ports of all root complexes of its socket, and of no other. */
	assert_int_equal(count_of(link, "rd_bytes", TERM_LESS, "src_rp_mask=0xff,dst_loc_cmem=1"),
			 6);
	assert_int_equal(count_of(link, "wr_bytes", TERM_LESS, NULL), 6);
	for (size_t i = 0; i < plan.nr_counters; i++)
		if (plan.counters[i].device == (size_t)(link - plan.devices) + 1)
			assert_int_equal(plan.wants.wants[plan.counter_wants[i]].pmu->socket, 1);
	/* The function's counters are its own. */
	assert_int_equal(count_of(&plan.devices[gpu], "rd_bytes", TERM_NONE, NULL), 1);
	assert_int_equal(plan.notes.nr, 0);
}

/* The setting of all ports is in the meter of devices: it takes turns with requester ids. */
static void test_turns(void **state)
{
	struct plan_capacity capacities[64];
	struct plan p;
	struct diag d = { 0 };
	size_t turns = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(capacities); i++)
		capacities[i] = (struct plan_capacity){ 8, 1 };
	peers("nr_gpu=1");
	add_gpu(1, 0, 1, 0);
	world_add(1, 2, 0, false);
	world_add(1, 2, 0, false);
	make(capacities);
	assert_int_equal(plan_make(&plan.wants, capacities, &d, &p), 0);
	for (size_t i = 0; i < p.nr_pmus; i++) {
		if (p.pmus[i].pmu->kind != PMU_PCIE || p.pmus[i].pmu->rc != 2)
			continue;
		turns = p.pmus[i].nr_turns;
		for (size_t t = 0; t < turns; t++) {
			uint64_t bits = plan_setting_bits(p.pmus[i].pmu), setting = 0;
			bool any = false;

			for (size_t e = 0; e < p.pmus[i].turns[t].nr; e++) {
				const struct want *w =
					&plan.wants.wants[p.pmus[i].turns[t].events[e]];

				if (!strcmp(w->event, "cycles"))
					continue;
				assert_true(!any || setting == (w->config.config1 & bits));
				setting = w->config.config1 & bits;
				any = true;
			}
		}
		/* cycles apart, there is no base that counts with any setting */
		for (size_t e = 0; e < p.pmus[i].nr_base; e++)
			assert_string_equal(plan.wants.wants[p.pmus[i].base[e]].event, "cycles");
	}
	/* Two devices; their port and all ports have no id and may share one. */
	assert_in_range(turns, 3, 4);
	plan_free(&p);
}

/* Counters for all ports are taken from requests and latencies, not from devices' bytes. */
static void test_room(void **state)
{
	struct plan_capacity capacities[64];
	size_t device;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(capacities); i++)
		capacities[i] = (struct plan_capacity){ 6, 1 };
	peers("nr_gpu=1");
	device = add_gpu(1, 0, 1, 0);
	make(capacities);
	assert_int_equal(count_of(&plan.devices[device], "rd_bytes", TERM_NONE, NULL), 1);
	assert_int_equal(count_of(&plan.devices[device], "wr_req", TERM_NONE, NULL), 0);
	no_fabric = "all are used";
	make(capacities);
	no_fabric = NULL;
	assert_int_equal(count_of(&plan.devices[device], "wr_req", TERM_NONE, NULL), 1);
	assert_string_equal(why_of(device), "all are used");
}

static void test_several(void **state)
{
	const struct device *link;
	size_t a, b;

	(void)state;
	peers("nr_gpu=2");
	a = add_gpu(0, 0, 1, 0);
	b = add_gpu(0, 2, 1, 0);
	make(NULL);
	link = link_of(a);
	assert_non_null(link);
	assert_non_null(strstr(why_of(a), "has 2 GPUs"));
	assert_int_equal(link->filter, DEVICE_NOT_COUNTED);
	assert_non_null(strstr(why_of(b), "--pci-map"));
	assert_int_equal(plan.notes.nr, 1);
	assert_non_null(strstr(plan.notes.items[0], "/c2c are not counted: its link has 2 GPUs"));
	for (size_t i = 0; i < plan.nr_counters; i++)
		assert_true(plan.devices[plan.counters[i].device - 1].kind != DEVICE_LINK);
	world_function(a)->wiring.gpu = 2;
	world_function(b)->wiring.gpu = 1;
	make(NULL);
	link = link_of(a);
	assert_string_equal(link->why, "");
	assert_int_equal(count_of(link, "in_rd_req", TERM_NONE, "gpu_mask=0x2"), 1);
	assert_int_equal(count_of(link, "in_rd_req", TERM_WHOLE, "gpu_mask=0x3"), 1);
	assert_int_equal(count_of(link_of(b), "in_wr_req", TERM_NONE, "gpu_mask=0x1"), 1);
	/* The map names both, so that a third one is on PCIe alone. */
	a = add_gpu(0, 4, 1, 0);
	make(NULL);
	assert_null(link_of(a));
	world_function(b)->wiring.gpu = 5;
	make(NULL);
	assert_non_null(strstr(why_of(b), "no GPU 4"));
}

static void test_which(void **state)
{
	size_t a, b;

	(void)state;
	peers("nr_gpu=1");
	a = add_gpu(0, 0, 1, 0);
	b = add_gpu(0, 2, 1, 0);
	make(NULL);
	assert_non_null(strstr(why_of(a), "which is on the link"));
	world_function(b)->wiring.gpu = 1;
	make(NULL);
	assert_null(link_of(a));
	assert_string_equal(why_of(b), "");
}

static void test_no_peer(void **state)
{
	size_t gpu;

	(void)state;
	peers("nr_cpu=1");
	gpu = add_gpu(0, 0, 1, 0);
	make(NULL);
	assert_null(link_of(gpu));
	assert_int_equal(plan.notes.nr, 0);
}

/* Devices that no root complex counts would be taken for the GPU. */
static void test_uncounted(void **state)
{
	size_t gpu, other;

	(void)state;
	peers("nr_gpu=1");
	gpu = add_gpu(0, 0, 1, 0);
	other = world_add(0, 5, 1, true);
	world_function(other)->wiring.rc = 7;
	make(NULL);
	assert_non_null(strstr(why_of(gpu), "root complex 7"));
	world_function(other)->wiring.how = WIRING_UNKNOWN;
	make(NULL);
	assert_non_null(strstr(why_of(gpu), "--pci-map tells"));
	world_function(other)->wiring.how = WIRING_USER;
	world_function(other)->wiring.rc = 5;
	make(NULL);
	assert_string_equal(why_of(gpu), "");
	pmu_at(PMU_UCF, 0)->usable = false;
	make(NULL);
	assert_non_null(strstr(why_of(gpu), "nvidia_ucf_pmu_0 cannot be read"));
	pmu_at(PMU_UCF, 0)->usable = true;
}

static void test_grace(void **state)
{
	const struct device *link;
	size_t a, b;

	(void)state;
	a = add_gpu(0, 0, 1, 0);
	make(NULL);
	link = link_of(a);
	assert_string_equal(link->why, "");
	/* Both PMUs, both destinations, no term: they are the link's bytes. */
	assert_int_equal(count_of(link, "rd_bytes_loc", TERM_NONE, "port=0x3"), 2);
	assert_int_equal(count_of(link, "rd_bytes_rem", TERM_NONE, "port=0x3"), 2);
	assert_int_equal(count_of(link, "wr_bytes_loc", TERM_NONE, NULL), 2);
	assert_int_equal(count_of(link, "wr_bytes_rem", TERM_NONE, NULL), 2);
	b = add_gpu(0, 0, 2, 0);
	make(NULL);
	assert_non_null(strstr(why_of(a), "2 GPUs"));
	world_function(a)->wiring.gpu = 1;
	world_function(b)->wiring.gpu = 2;
	make(NULL);
	assert_int_equal(count_of(link_of(b), "rd_bytes_loc", TERM_NONE, "port=0x2"), 2);
	/* A card on PCIe: there the other end of the link is a CPU. */
	world_function(a)->wiring.gpu = world_function(b)->wiring.gpu = 0;
	world_function(a)->device = world_function(b)->device = 0x2331;
	make(NULL);
	assert_null(link_of(a));
	assert_null(link_of(b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T410(test) cmocka_unit_test_setup_teardown(test, world_start_t410, world_finish)
		T410(test_one_gpu),
		T410(test_turns),
		T410(test_room),
		T410(test_several),
		T410(test_which),
		T410(test_no_peer),
		T410(test_uncounted),
		cmocka_unit_test_setup_teardown(test_grace, world_start_grace, world_finish),
	};
	int err = cmocka_run_group_tests(tests, NULL, NULL);

	device_plan_free(&plan);
	return err;
}
