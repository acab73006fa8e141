// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>

#include "base/array.h"
#include "platform/meter/latency_fit.h"
#include "tables/events.h"
#include "tree.h"

static void rows_are_whole(void **state)
{
	char event[PMU_NAME_LEN];

	(void)state;
	for (size_t i = 0; i < nr_latency_rows; i++) {
		const struct latency_row *r = &latency_rows[i];

		assert_true(r->prefix[0] && r->suffix[0] && r->title[0] && r->source[0]);
		assert_true(strlen(r->title) < sizeof(((struct probe *)NULL)->title));
		assert_int_equal(event_on_socket(r->outstanding, 3, event, sizeof(event)), 0);
		assert_int_equal(event_on_socket(r->requests, 3, event, sizeof(event)), 0);
		assert_string_not_equal(r->outstanding, r->requests);
		/* tasks wait for what goes somewhere that a counter of traffic knows */
		assert_int_equal(r->by_tasks, r->destination != DESTINATION_ANY);
		for (size_t j = 0; j < i; j++)
			assert_false(latency_rows[j].kind == r->kind &&
				     latency_rows[j].peer == r->peer &&
				     !strcmp(latency_rows[j].suffix, r->suffix));
	}
	assert_int_equal(event_on_socket("socket_<s>_rd", 12, event, sizeof(event)), 0);
	assert_string_equal(event, "socket_12_rd");
	assert_int_equal(event_on_socket("socket_<s>_rd", 12, event, 12), -ENAMETOOLONG);
}

static void every_row_finds_its_pmu(void **state)
{
	static const char *const cpu_peer[] = { "in_wr_cum_outs", "in_wr_req", "out_wr_cum_outs",
						"out_wr_req" };
	size_t gpu = 0, cpu = 0;
	struct diag d = { 0 };
	struct pmu_list pmus;
	struct tree tree;
	struct sysfs fs;
	char path[256];

	(void)state;
	tree_make_t410(&tree);
	assert_int_equal(sysfs_open(tree.root, &d, &fs), 0);
	assert_int_equal(pmu_list_read(&fs, &d, &pmus), 0);
	for (size_t i = 0; i < nr_latency_rows; i++)
		for (size_t p = 0; p < pmus.nr; p++)
			gpu += latency_row_fits(&latency_rows[i], &pmus.pmus[p]);
	assert_int_equal(gpu, 16);

	/* the same with another socket at the end of NVLink-C2C, and no writes */
	pmu_list_free(&pmus);
#define C2C "devices/platform/NVDA2023:00/nvidia_nvlink_c2c_pmu_0"
	tree_put(&tree, C2C "/peer", "nr_cpu=1\n");
	for (size_t i = 0; i < ARRAY_SIZE(cpu_peer); i++) {
		snprintf(path, sizeof(path), C2C "/events/%s", cpu_peer[i]);
		tree_drop(&tree, path);
	}
	assert_int_equal(pmu_list_read(&fs, &d, &pmus), 0);
	for (size_t i = 0; i < nr_latency_rows; i++) {
		const struct latency_row *r = &latency_rows[i];

		if (!latency_row_fits(r, pmu_find(&pmus, PMU_NVLINK_C2C, 0, -1)))
			continue;
		cpu++;
		assert_string_equal(r->peer, "cpu");
		assert_int_equal(r->direction, DIRECTION_READ);
	}
	assert_int_equal(cpu, 2);
	pmu_list_free(&pmus);
	sysfs_close(&fs);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_whole),
		cmocka_unit_test(every_row_finds_its_pmu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
