// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* GPUs, and jobs that hold them, as metrics. */
#include "metrics_world.h"
#include "gpu_world.h"

#define LABELS_ONE   "device=\"0009:01:00.0\",UUID=\"GPU-0a\",pci_bus_id=\"00000009:01:00.0\""
/* Without a UUID there is no label; letters are large, as the driver has them. */
#define LABELS_OTHER "device=\"001b:01:00.0\",pci_bus_id=\"0000001B:01:00.0\""
#define BUSY	     "{workload=\"slurm:2\","
#define IDLE	     "{workload=\"slurm:1\","

static void machine_has_links(struct sample *all)
{
	const char *const one = "{" LABELS_ONE ",direction=\"read\"}";
	char name[256];

	assert_int_equal(value_of(all, "t410trace_gpu_info{" LABELS_ONE "}"), 1);
	assert_int_equal(value_of(all, "t410trace_gpu_info{" LABELS_OTHER "}"), 1);
	snprintf(name, sizeof(name), "t410trace_gpu_link_bytes_total%s", one);
	assert_int_equal(value_of(all, name), 3 * 1200);
	snprintf(name, sizeof(name), "t410trace_gpu_link_uncertainty_bytes_total%s", one);
	assert_int_equal(value_of(all, name), 3 * 400 / 2);
	snprintf(name, sizeof(name), "t410trace_gpu_link_attributed_bytes_total%s", one);
	assert_int_equal(value_of(all, name), 3 * 1000);
	assert_int_equal(
		value_of(all, "t410trace_gpu_link_missing_intervals_total{" LABELS_ONE "}"), 1);
	/* one without a link has no bytes of it: nothing is said, not 0 */
	assert_null(sample(all, "t410trace_gpu_link_missing_intervals_total{" LABELS_OTHER "}"));
}

/* The first interval opens the series, with 0; there are four. */
static void jobs_have_times(struct sample *all)
{
	const uint64_t s = WORLD_SECOND;

#define OF(what, job, gpu) \
	value_of(all, "t410trace_workload_gpu_" what "_seconds_total" job gpu "}")
	assert_int_equal(OF("held", BUSY, LABELS_ONE), 3 * s);
	assert_int_equal(OF("known", BUSY, LABELS_ONE), 3 * s / 2);
	assert_int_equal(OF("busy", BUSY, LABELS_ONE), 3 * s / 4);
	assert_int_equal(OF("idle", BUSY, LABELS_ONE), 0);
	/* bytes once, not for the step and the job */
	assert_int_equal(value_of(all, "t410trace_workload_gpu_link_bytes_total" BUSY LABELS_ONE
				       ",direction=\"read\"}"),
			 4 * 1000);
	assert_int_equal(
		value_of(all, "t410trace_workload_gpu_link_uncertainty_bytes_total" BUSY LABELS_ONE
			      ",direction=\"write\"}"),
		4 * 7 / 2);
	/* two instances of one GPU */
	assert_int_equal(OF("held", BUSY, LABELS_OTHER), 3 * s);
	assert_int_equal(OF("busy", BUSY, LABELS_OTHER), 9 * s / 16);
	/* held but idle */
	assert_int_equal(OF("held", IDLE, LABELS_OTHER), 3 * s);
	assert_int_equal(OF("busy", IDLE, LABELS_OTHER), 0);
	assert_int_equal(OF("idle", IDLE, LABELS_OTHER), 3 * s / 2);
	assert_null(sample(all, "t410trace_workload_gpu_held_seconds_total" IDLE LABELS_ONE "}"));
}

static void gpus_have_series(void **state)
{
	struct world w;
	struct sample *all;

	(void)state;
	world_open(&w, 4, 1);
	for (uint64_t i = 0; i < 4; i++)
		world_add(&w, gpu_report(i));
	all = world_samples(&w);
	machine_has_links(all);
	jobs_have_times(all);
	/* a link is no port, and no device of PCIe */
	assert_null(sample(all, "t410trace_port_bytes_total{socket=\"1\",port=\"0009:01:00.0/c2c\","
				"direction=\"read\"}"));
	assert_null(sample(all, "t410trace_device_bytes_total{socket=\"1\","
				"device=\"0009:01:00.0/c2c\",direction=\"read\"}"));
	samples_free(&all);
	/* they go with the workload */
	for (uint64_t i = 4; i < 8; i++) {
		struct report *r = gpu_report(i);

		for (size_t k = 0; k < r->nr_rows; k++) {
			r->rows[k].exited = i == 4;
			r->rows[k].job->cgroup_id += i > 4 ? 100 : 0;
		}
		world_add(&w, r);
	}
	all = world_samples(&w);
	assert_null(sample(all, "t410trace_workload_gpu_held_seconds_total" BUSY LABELS_ONE "}"));
	assert_int_equal(value_of(all, "t410trace_gpu_info{" LABELS_ONE "}"), 1);
	samples_free(&all);
	world_close(&w);
}

/* Found by its open nodes: nothing tells how busy it was. */
static void owners_by_nodes(void **state)
{
	struct world w;
	struct sample *all;

	(void)state;
	world_open(&w, 4, 1);
	for (uint64_t i = 0; i < 3; i++) {
		struct report *r = gpu_report(i);

		device_users_release(&r->devices[GPU_ONE].by);
		r->devices[GPU_ONE].by = (struct device_users){ .rule = OWNER_NODES };
		world_add(&w, r);
	}
	all = world_samples(&w);
	assert_int_equal(OF("held", BUSY, LABELS_ONE), 2 * WORLD_SECOND);
	assert_null(sample(all, "t410trace_workload_gpu_busy_seconds_total" BUSY LABELS_ONE "}"));
	samples_free(&all);
	world_close(&w);
}

/* Nothing is said where there is no GPU. */
static void no_families_without(void **state)
{
	struct world w;
	char *text;

	(void)state;
	world_open(&w, 4, 1);
	world_add(&w, world_report(0));
	text = world_text(&w, EXPOSITION_TEXT);
	assert_null(strstr(text, "t410trace_gpu"));
	assert_null(strstr(text, "_gpu_"));
	free(text);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gpus_have_series),
		cmocka_unit_test(owners_by_nodes),
		cmocka_unit_test(no_families_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
