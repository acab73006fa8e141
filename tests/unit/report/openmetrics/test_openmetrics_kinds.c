// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Metrics of what is not in the families of workloads' memory traffic: parts, shared ports, energy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "metrics_world.h"
#include "sample_report.h"

/* Parts have families of their own, and are in no other one; without parts there are none. */
static void test_parts(void **state)
{
	static const char *const bytes = "t410trace_part_bytes_total{socket=\"0\",part=\"remote\","
					 "direction=\"read\"}";
	static const struct traffic_part part = { .name = "cha0/remote",
						  .kind = PART_REMOTE,
						  .nr_pmus = 2 };
	struct report *r = reads(0, 1, (uint64_t[]){ 1000 });
	struct sample *all;
	struct world w;

	(void)state;
	world_open(&w, 2, 1);
	world_add(&w, r);
	all = world_samples(&w);
	assert_null(sample(all, bytes));
	samples_free(&all);
	for (uint64_t i = 1; i < 3; i++) {
		r = reads(i, 1, (uint64_t[]){ 1000 });
		r->parts = calloc(1, sizeof(*r->parts));
		assert_non_null(r->parts);
		r->parts[0] = (struct report_part){ &part,	true, 700, 4000000000,
						    1000000000, 1,    600, 800 };
		r->nr_parts = 1;
		world_add(&w, r);
	}
	all = world_samples(&w);
	assert_int_equal(value_of(all, bytes), 1400);
	assert_int_equal(value_of(all, "t410trace_part_enabled_seconds_total{socket=\"0\","
				       "part=\"remote\",direction=\"read\"}"),
			 8000000000);
	assert_int_equal(value_of(all, "t410trace_part_running_seconds_total{socket=\"0\","
				       "part=\"remote\",direction=\"read\"}"),
			 2000000000);
	samples_free(&all);
	world_close(&w);
}

/* A port of devices that nobody can tell apart: its bytes are the machine's, and no workload's. */
static void test_shared_port(void **state)
{
	static const struct device port = { .bdf = "0002:80:00.0",
					    .name = "0002:81:00.0, 0002:81:00.1",
					    .kind = DEVICE_PORT,
					    .filter = DEVICE_BY_PORT };
	static const char *const bytes = "t410trace_port_bytes_total{socket=\"0\","
					 "port=\"0002:80:00.0\",direction=\"read\"}";
	struct device sharer = world_devices[0];
	struct sample *all;
	struct world w;
	char *text;

	(void)state;
	sharer.port = 2;
	world_open(&w, 2, 1);
	for (uint64_t i = 0; i < 3; i++) {
		struct report *r = world_report(i);
		struct counter of_port = world_counters[5];
		struct report_row *row = world_row(r, SCHEDULER_SLURM, "1", 71, "", true);

		of_port.device = 2;
		r->counters[5].counter = &of_port;
		r->counters[11].valid = false;
		r->devices[0].device = &sharer;
		r->devices[1].device = &port;
		r->devices[1].read.valid = true;
		world_rest(r, 5, REASON_DEVICE, 700);
		world_io(row, 0, 600, 0);
		world_add(&w, r);
	}
	all = world_samples(&w);
	assert_int_equal(value_of(all, bytes), 2100);
	assert_int_equal(value_of(all,
				  "t410trace_workload_request_bytes_total{workload=\"slurm:1\","
				  "device=\"0002:81:00.0\",direction=\"read\"}"),
			 1200);
	samples_free(&all);
	text = world_text(&w, EXPOSITION_OPENMETRICS);
	assert_null(strstr(text, "t410trace_workload_device_bytes_total{"));
	assert_null(strstr(text, "t410trace_device_bytes_total{socket=\"0\""));
	assert_null(strstr(text, "device=\"0002:80:00.0\""));
	free(text);
	world_close(&w);
}

/* Requests that nobody noted have no series, not even of the rest of the workloads. */
static void test_not_noted(void **state)
{
	struct world w;
	char *text;

	(void)state;
	world_open(&w, 2, 1);
	for (uint64_t i = 0; i < 3; i++) {
		struct report *r = world_report(i);

		r->devices[0].write.io_valid = false;
		r->devices[1].read.io_valid = r->devices[1].write.io_valid = false;
		world_io(world_row(r, SCHEDULER_SLURM, "1", 71, "", true), 0, 600, 0);
		world_add(&w, r);
	}
	text = world_text(&w, EXPOSITION_OPENMETRICS);
	assert_non_null(strstr(text, "t410trace_workload_request_bytes_total{workload=\"other\","
				     "device=\"0002:81:00.0\",direction=\"read\"}"));
	assert_null(strstr(text, "device=\"0002:81:00.0\",direction=\"write\""));
	assert_null(strstr(text, "t410trace_workload_request_bytes_total{workload=\"other\","
				 "device=\"0012:81:00.0\""));
	free(text);
	world_close(&w);
}

/* Energy has families in joules, is in none of bytes, and makes no job large beside bytes. */
static void test_energy(void **state)
{
	static const char labels[] = "socket=\"0\",counter=\"power0/energy-pkg\"";
	char key[256], *text;
	struct sample *all;
	struct world w;

	(void)state;
	world_open(&w, 1, 1);
	for (uint64_t i = 0; i < 4; i++) {
		struct report *r = world_report(i);
		struct report_row *row = world_row(r, SCHEDULER_SLURM, "1", 71, "", true);

		world_with_energy(r);
		world_share(r, row, 0, 3000);
		world_share(r, row, 3, 16000000000);
		row = world_row(r, SCHEDULER_SLURM, "2", 72, "", true);
		world_share(r, row, 0, 1000);
		world_share(r, row, 3, 900000000000);
		world_rest(r, 3, REASON_BACKGROUND, 1);
		world_add(&w, r);
	}
	all = world_samples(&w);
	snprintf(key, sizeof(key),
		 "t410trace_workload_energy_joules_total{workload=\"slurm:1\",%s}", labels);
	assert_int_equal(value_of(all, key), 48000000000);
	snprintf(key, sizeof(key),
		 "t410trace_workload_energy_uncertainty_joules_total{workload=\"slurm:1\",%s}",
		 labels);
	assert_int_equal(value_of(all, key), 6000000000);
	snprintf(key, sizeof(key), "t410trace_workload_energy_joules_total{workload=\"other\",%s}",
		 labels);
	assert_int_equal(value_of(all, key), 16000000000 + 4 * 900000000000);
	assert_int_equal(value_of(all, "t410trace_energy_joules_total{socket=\"0\","
				       "source=\"any\",counter=\"power0/energy-pkg\"}"),
			 4 * 916000000001);
	assert_int_equal(value_of(all, "t410trace_energy_attributed_joules_total{socket=\"0\","
				       "source=\"any\",counter=\"power0/energy-pkg\"}"),
			 4 * 916000000000);
	assert_int_equal(value_of(all, "t410trace_energy_unattributed_joules_total{socket=\"0\","
				       "source=\"any\",counter=\"power0/energy-pkg\","
				       "reason=\"background\"}"),
			 4);
	assert_null(sample(all, "t410trace_memory_bytes_total{socket=\"0\",source=\"any\","
				"direction=\"readwrite\",destination=\"any\"}"));
	samples_free(&all);
	text = world_text(&w, EXPOSITION_OPENMETRICS);
	sample_check_golden("metrics-energy.txt", text);
	free(text);
	world_close(&w);
}

/* What never had a value is not 0: no series of bytes, until it has one. */
static void test_never_counted(void **state)
{
	static const char *const families[] = {
		"\nt410trace_memory_bytes_total{", "\nt410trace_memory_unattributed_bytes_total{",
		"\nt410trace_device_bytes_total{", "\nt410trace_energy_joules_total{",
		"\nt410trace_part_bytes_total{",
	};
	static const struct traffic_part part = { .name = "cha0/remote",
						  .kind = PART_REMOTE,
						  .nr_pmus = 2 };
	struct world w;
	char *text;

	(void)state;
	world_open(&w, 2, 1);
	for (uint64_t i = 0; i < 3; i++) {
		struct report *r = world_report(i);

		world_with_energy(r);
		for (size_t c = 0; c < r->nr_counters && i < 2; c++) {
			r->counters[c].valid = false;
			r->counters[c].running_ns = 0;
		}
		r->parts = calloc(1, sizeof(*r->parts));
		assert_non_null(r->parts);
		r->parts[0] =
			(struct report_part){ &part, i == 2, 0, 4000, i == 2 ? 4000 : 0, 1, 0, 0 };
		r->nr_parts = 1;
		world_add(&w, r);
		text = world_text(&w, EXPOSITION_OPENMETRICS);
		for (size_t f = 0; f < ARRAY_SIZE(families); f++)
			assert_int_equal(strstr(text, families[f]) != NULL, i == 2);
		assert_non_null(strstr(text, "\nt410trace_event_missing_intervals_total{"));
		free(text);
	}
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),	      cmocka_unit_test(test_shared_port),
		cmocka_unit_test(test_not_noted),     cmocka_unit_test(test_energy),
		cmocka_unit_test(test_never_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
