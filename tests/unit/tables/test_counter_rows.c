// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The rows that say what is counted, against copies of both machines' sysfs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "base/array.h"
#include "base/text.h"
#include "platform/bpf/counters.h"
#include "tables/events.h"
#include "tree.h"

#define MAX_FILTERS 4

static void read_tree(const struct tree *tree, struct pmu_list *ret)
{
	struct sysfs fs;
	struct diag d = { 0 };

	assert_int_equal(sysfs_open(tree->root, &d, &fs), 0);
	assert_int_equal(pmu_list_read(&fs, &d, ret), 0);
	sysfs_close(&fs);
}

static size_t terms_of(const struct counter_row *row, struct pmu_term *ret)
{
	const char *filters = row->filters;
	size_t nr = 0;

	while (nr < MAX_FILTERS &&
	       !take_setting(&filters, ret[nr].name, sizeof(ret[nr].name), &ret[nr].value))
		nr++;
	assert_string_equal(filters, "");
	return nr;
}

/* Each row's event and filters are known to each PMU of its family. */
static void check_machine(struct tree *tree, enum pmu_platform platform, size_t nr_pmus)
{
	struct pmu_term terms[MAX_FILTERS];
	struct pmu_list list;
	size_t found = 0;

	read_tree(tree, &list);
	for (size_t i = 0; i < nr_counter_rows; i++) {
		const struct counter_row *row = &counter_rows[i];

		if (pmu_families[row->kind].platform != platform)
			continue;
		for (size_t p = 0; p < list.nr; p++) {
			struct pmu_config config;
			struct diag d = { 0 };
			char event[64];

			if (list.pmus[p].kind != row->kind)
				continue;
			found++;
			assert_int_equal(event_on_socket(row->event, list.pmus[p].socket, event,
							 sizeof(event)),
					 0);
			if (pmu_encode(&list.pmus[p], event, terms, terms_of(row, terms), &d,
				       &config))
				fail_msg("%s: %s", row->event, d.what);
		}
	}
	assert_true(found >= nr_pmus);
	pmu_list_free(&list);
	tree_remove(tree);
}

static void rows_are_known_to_the_machines(void **state)
{
	struct tree tree;

	(void)state;
	tree_make_t410(&tree);
	check_machine(&tree, PMU_PLATFORM_T410, 2 * 14);
	tree_make_grace(&tree);
	check_machine(&tree, PMU_PLATFORM_GRACE, 2 * 7);
}

static bool ends(const char *text, const char *with)
{
	return strlen(text) >= strlen(with) && !strcmp(text + strlen(text) - strlen(with), with);
}

/* Units are a trap: data of reads and write-backs are beats, all else is bytes. */
static void check_nvidia(const struct counter_row *row)
{
	bool beats = ends(row->event, "_rd_data") || ends(row->event, "_wb_data");

	assert_int_equal(row->scale, beats ? EVENT_BEAT_BYTES : 1);
	assert_true(row->source < SOURCE_ANY);
	assert_int_equal(row->direction,
			 strstr(row->event, "rd") ? DIRECTION_READ : DIRECTION_WRITE);
}

/* Memory controllers count lines, whoever it was; their terms are known without sysfs, too. */
static void check_controller(const struct counter_row *row)
{
	bool writes = strstr(row->event, "write") || strstr(row->event, "wr_wra") ||
		      ends(row->event, ".wr") || ends(row->event, "_wr") ||
		      ends(row->event, "_rmw");

	bool together = strstr(row->event, "_channel_data_") || strstr(row->event, "mc_reqs");

	assert_int_equal(row->scale, strstr(row->event, "flux") ? 32 : 64);
	assert_int_equal(row->source, SOURCE_ANY);
	assert_int_equal(row->destination, DESTINATION_CMEM);
	assert_int_equal(row->direction, together ? DIRECTION_READWRITE
					 : writes ? DIRECTION_WRITE
						  : DIRECTION_READ);
	assert_non_null(row->terms);
	assert_false(row->optional);
	assert_int_equal(row->part, PART_NONE);
}

/* 2^-32 J a count, and no more is believed to be there than sysfs names. */
static void check_energy(const struct counter_row *row)
{
	assert_int_equal(row->kind, PMU_POWER);
	assert_true((double)row->scale / row->counts == 1e9 / 4294967296.0);
	assert_int_equal(row->source, SOURCE_ANY);
	assert_int_equal(row->destination, DESTINATION_ANY);
	assert_true(row->optional && !row->terms);
	assert_false(counter_rows_have(row->kind, COUNTERS_SUMS | COUNTERS_DESTINATION));
	assert_true(counter_rows_any(row->kind, COUNTERS_SUMS));
}

/* What is counted elsewhere is in no family that has a total, or it would be there twice. */
static void check_part(const struct counter_row *row)
{
	bool flits = strstr(row->event, "flits");
	const char *const writes[] = { "bw_in_", "txl", "rx_pcie", "write",
				       "itom",	 "m2s", "outbound" };
	uint32_t bytes = row->kind == PMU_SKX_IIO     ? 4
			 : row->kind == PMU_DWC_PORT  ? 1
			 : strstr(row->event, "port") ? 32
						      : 64;
	bool write = false;

	assert_false(counter_rows_have(row->kind, COUNTERS_SUMS | COUNTERS_DESTINATION));
	assert_int_equal(row->counts ?: 1, flits ? 9 : 1);
	assert_int_equal(row->scale, bytes);
	for (size_t i = 0; i < ARRAY_SIZE(writes); i++)
		write |= strstr(row->event, writes[i]) != NULL;
	assert_int_equal(row->direction, write ? DIRECTION_WRITE : DIRECTION_READ);
	assert_in_range(row->part, PART_NONE + 1, NR_PARTS - 1);
	assert_non_null(row->terms);
}

static void rows_are_complete(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_counter_rows; i++) {
		const struct counter_row *row = &counter_rows[i];

		if (row->kind == PMU_UCF || row->kind == PMU_GRACE_SCF)
			check_nvidia(row);
		else if (row->sets == COUNTERS_PARTS)
			check_part(row);
		else if (row->unit == UNIT_NANOJOULES)
			check_energy(row);
		else
			check_controller(row);
		assert_true(row->doc && row->doc[0]);
		assert_true(row->sets == COUNTERS_PARTS ||
			    (row->sets && !(row->sets & ~(COUNTERS_SUMS | COUNTERS_DESTINATION))));
		assert_true(row->destination < NR_DESTINATIONS);
		for (size_t k = 0; k < i; k++)
			assert_false(counter_rows[k].kind == row->kind &&
				     !strcmp(counter_rows[k].event, row->event) &&
				     !strcmp(counter_rows[k].filters, row->filters));
	}
	assert_true(counter_rows_have(PMU_UCF, COUNTERS_SUMS));
	assert_true(counter_rows_have(PMU_GRACE_SCF, COUNTERS_DESTINATION));
	assert_false(counter_rows_have(PMU_PCIE, COUNTERS_SUMS));
	assert_false(counter_rows_have(PMU_UNKNOWN, COUNTERS_SUMS));
}

static bool has_filter(const struct counter_row *row, const char *name)
{
	struct pmu_term terms[MAX_FILTERS];
	size_t nr = terms_of(row, terms);

	for (size_t i = 0; i < nr; i++)
		if (!strcmp(terms[i].name, name) && terms[i].value == 1)
			return true;
	return false;
}

/*
 * What a row of the UCF counts, as bits: sources times destinations, where a filter that
 * is not given lets everything pass.
 */
static uint32_t cells_of(const struct counter_row *row)
{
	static const char *const from[] = { "src_loc_cpu", "src_loc_noncpu", "src_rem" };
	static const char *const to[] = { "dst_loc_cmem", "dst_loc_gmem", "dst_loc_other",
					  "dst_rem" };
	bool any_from = true, any_to = true;
	uint32_t bits = 0;

	for (size_t i = 0; i < ARRAY_SIZE(from); i++)
		any_from &= !has_filter(row, from[i]);
	for (size_t i = 0; i < ARRAY_SIZE(to); i++)
		any_to &= !has_filter(row, to[i]);
	for (size_t f = 0; f < ARRAY_SIZE(from); f++)
		for (size_t t = 0; t < ARRAY_SIZE(to); t++)
			if ((any_from || has_filter(row, from[f])) &&
			    (any_to || has_filter(row, to[t])))
				bits |= 1u << (f * ARRAY_SIZE(to) + t);
	return bits;
}

/* Each set has every byte of the UCF once. */
static void no_byte_is_counted_twice(void **state)
{
	(void)state;
	for (unsigned int set = COUNTERS_SUMS; set <= COUNTERS_DESTINATION; set <<= 1) {
		uint32_t seen[2] = { 0 };
		size_t nr = 0;

		for (size_t i = 0; i < nr_counter_rows; i++) {
			const struct counter_row *row = &counter_rows[i];

			if (row->kind != PMU_UCF || !(row->sets & set))
				continue;
			nr++;
			assert_int_equal(seen[row->direction] & cells_of(row), 0);
			seen[row->direction] |= cells_of(row);
		}
		assert_int_equal(seen[DIRECTION_READ], 0xfff);
		assert_int_equal(seen[DIRECTION_WRITE], 0xfff);
		assert_int_equal(nr, set == COUNTERS_SUMS ? 6 : 12);
	}
}

static void events_know_their_socket(void **state)
{
	struct counter_row row = { .event = "socket_<s>_rd_data" };
	char name[sizeof("socket_12_rd_data")] = "before";

	(void)state;
	assert_int_equal(event_on_socket(row.event, 123, name, sizeof(name)), -ENAMETOOLONG);
	assert_string_equal(name, "before");
	assert_int_equal(event_on_socket(row.event, 12, name, sizeof(name)), 0);
	assert_string_equal(name, "socket_12_rd_data");
	row.event = "gmem_rd_data";
	assert_int_equal(event_on_socket(row.event, 3, name, sizeof(name)), 0);
	assert_string_equal(name, "gmem_rd_data");
	row.event = "<s>";
	assert_int_equal(event_on_socket(row.event, 0, name, 2), 0);
	assert_string_equal(name, "0");
}

/* Counters of CPUs and others in turn, as the string says; what groups become of them. */
static void check_groups(const char *counters, size_t size, const char *want)
{
	struct counter items[32] = { 0 };
	size_t lengths[32], nr = strlen(counters), groups;
	char text[64] = "";

	for (size_t i = 0; i < nr; i++)
		items[i].source = counters[i] == 'c' ? SOURCE_CPU : SOURCE_DEVICE;
	groups = counters_groups(items, nr, size, lengths);
	for (size_t i = 0; i < groups; i++)
		str_append(text, sizeof(text), "%s%zu", i ? " " : "", lengths[i]);
	assert_string_equal(text, want);
}

static void groups_keep_cpus_together(void **state)
{
	(void)state;
	check_groups("ccdddd", 32, "6");
	check_groups("ccdddd", 6, "6");
	check_groups("ccdddd", 5, "2 4");
	check_groups("ccdddd", 3, "2 2 2");
	check_groups("ccdddd", 1, "1 1 1 1 1 1");
	check_groups("ccccccccdddd", 12, "12");
	check_groups("ccccccccdddd", 11, "8 4");
	check_groups("ccccccccdddd", 8, "8 4");
	check_groups("ccccccccdddd", 7, "4 4 4");
	check_groups("ccccccccdddd", 6, "4 4 4");
	check_groups("ccccccccdddd", 3, "3 3 2 2 2");
	check_groups("ccccccc", 6, "4 3");
	check_groups("c", 1, "1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_known_to_the_machines),
		cmocka_unit_test(rows_are_complete),
		cmocka_unit_test(no_byte_is_counted_twice),
		cmocka_unit_test(events_know_their_socket),
		cmocka_unit_test(groups_keep_cpus_together),
	};

	return cmocka_run_group_tests_name("counter_rows", tests, NULL, NULL);
}
