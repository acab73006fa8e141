// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "base/array.h"
#include "base/text.h"
#include "platform/spec/want.h"
#include "tables/events.h"
#include "tree.h"

static struct pmu_list pmus;

static int read_pmus(void **state)
{
	struct diag d = { 0 };
	struct tree tree;
	struct sysfs fs;

	(void)state;
	tree_make_t410(&tree);
	/* what a link leads to decides about its events: CPUs on socket 1 */
	tree_drop(&tree, "devices/platform/NVDA2023:01/nvidia_nvlink_c2c_pmu_1/events/in_wr_req");
	/* Grace's PMU of the same kind */
	tree_put(&tree, PMU_DEVICES "/nvidia_pcie_pmu_0/type", "90\n");
	tree_put(&tree, PMU_DEVICES "/nvidia_pcie_pmu_0/associated_cpus", "0\n");
	tree_put(&tree, PMU_DEVICES "/nvidia_pcie_pmu_0/cpumask", "0\n");
	tree_put(&tree, PMU_DEVICES "/nvidia_pcie_pmu_0/events/cycles", "event=0x100000000\n");
	tree_put(&tree, PMU_DEVICES "/nvidia_pcie_pmu_0/events/rd_req_loc", "event=0x6\n");
	tree_put(&tree, PMU_DEVICES "/nvidia_pcie_pmu_0/format/event", "config:0-32\n");
	tree_put(&tree, PMU_DEVICES "/nvidia_pcie_pmu_0/format/root_port", "config1:0-9\n");
	assert_int_equal(sysfs_open(tree.root, &d, &fs), 0);
	assert_int_equal(pmu_list_read(&fs, &d, &pmus), 0);
	sysfs_close(&fs);
	tree_remove(&tree);
	return 0;
}

static int free_pmus(void **state)
{
	(void)state;
	pmu_list_free(&pmus);
	return 0;
}

static const struct pmu *pmu_of(enum pmu_kind kind, int32_t socket)
{
	bool ports = kind == PMU_PCIE || kind == PMU_PCIE_TGT;
	const struct pmu *pmu = pmu_find(&pmus, kind, socket, ports ? 1 : -1);

	assert_non_null(pmu);
	return pmu;
}

static size_t nr_terms(const struct pmu_term *terms)
{
	size_t nr = 0;

	while (terms[nr].name[0])
		nr++;
	return nr;
}

static void names_are_those_of_perf(void **state)
{
	static const struct {
		enum pmu_kind kind;
		const char *event;
		struct pmu_term terms[8];
		const char *name;
		const char *filters;
		struct pmu_config config;
	} rows[] = {
		{ PMU_UCF,
		  "mem_bytes_rd",
		  { { "", 0 } },
		  "nvidia_ucf_pmu_0/mem_bytes_rd/",
		  "",
		  { .config = 0x123 } },
		{ PMU_UCF,
		  "mem_bytes_rd",
		  { { "src_loc_cpu", 1 } },
		  "nvidia_ucf_pmu_0/mem_bytes_rd,src_loc_cpu=1/",
		  "src_loc_cpu=1",
		  { .config = 0x123, .config1 = 2 } },
		/* however the filters are sorted */
		{ PMU_UCF,
		  "cycles",
		  { { "dst_rem", 1 }, { "src_rem", 0 }, { "src_loc_cpu", 1 } },
		  "nvidia_ucf_pmu_0/cycles,src_loc_cpu=1,src_rem=0,dst_rem=1/",
		  "src_loc_cpu=1,src_rem=0,dst_rem=1",
		  { .config = 0x100000000, .config1 = 0x802 } },
		{ PMU_UCF,
		  NULL,
		  { { "src_rem", 1 }, { "event", 0x111 } },
		  "nvidia_ucf_pmu_0/event=0x111,src_rem=1/",
		  "src_rem=1",
		  { .config = 0x111, .config1 = 4 } },
		{ PMU_UCF,
		  NULL,
		  { { "event", 0 } },
		  "nvidia_ucf_pmu_0/event=0x0/",
		  "",
		  { .config = 0 } },
		{ PMU_PCIE,
		  "rd_bytes",
		  { { "dst_rem", 1 }, { "src_bdf_en", 1 }, { "src_bdf", 0x8100 } },
		  "nvidia_pcie_pmu_0_rc_1/rd_bytes,src_bdf=0x8100,src_bdf_en=1,dst_rem=1/",
		  "src_bdf=0x8100,src_bdf_en=1,dst_rem=1",
		  { .config1 = 0x1810000, .config2 = 0x10 } },
		{ PMU_PCIE_TGT,
		  "wr_bytes",
		  { { "dst_addr_en", 1 }, { "dst_addr_base", 0 }, { "dst_addr_mask", ~0xfffULL } },
		  "nvidia_pcie_tgt_pmu_0_rc_1/wr_bytes,dst_addr_en=1,dst_addr_base=0x0,"
		  "dst_addr_mask=0xfffffffffffff000/",
		  "dst_addr_en=1,dst_addr_base=0x0,dst_addr_mask=0xfffffffffffff000",
		  { .config = 0x801, .config2 = ~0xfffULL } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct pmu *pmu = pmu_of(rows[i].kind, 0);
		struct want want = { .label = "before", .set = 7, .asked = true };
		struct diag d = { 0 };

		assert_int_equal(want_make(pmu, rows[i].event, rows[i].terms,
					   nr_terms(rows[i].terms), &d, &want),
				 0);
		assert_string_equal(d.what, "");
		assert_ptr_equal(want.pmu, pmu);
		assert_int_equal(want.type, pmu->type);
		assert_string_equal(want.name, rows[i].name);
		assert_string_equal(want.event, rows[i].event ? rows[i].event : "");
		assert_string_equal(want.filters, rows[i].filters);
		assert_memory_equal(&want.config, &rows[i].config, sizeof(want.config));
		assert_string_equal(want.label, "");
		assert_int_equal(want.set, 0);
		assert_false(want.asked);
		assert_false(want.constant);
	}
}

#define FINE NR_CONSTRAINTS

static const struct {
	enum pmu_kind kind;
	int32_t socket;
	const char *event;
	struct pmu_term terms[5];
	enum constraint rule;
	size_t at;
	const char *words; /* of the first part of the message */
} rules[] = {
	{ PMU_PCIE_TGT,
	  0,
	  "rd_req",
	  { { "dst_addr_en", 1 } },
	  CONSTRAINT_EMPTY_RANGE,
	  0,
	  "dst_addr_en=1 with base 0 and mask 0: " },
	{ PMU_PCIE_TGT,
	  0,
	  "rd_req",
	  { { "dst_addr_base", 0 }, { "dst_addr_mask", 0 }, { "dst_addr_en", 1 } },
	  CONSTRAINT_EMPTY_RANGE,
	  2,
	  "dst_addr_en=1" },
	{ PMU_PCIE_TGT,
	  0,
	  "rd_req",
	  { { "dst_addr_en", 1 }, { "dst_addr_base", 1 } },
	  FINE,
	  0,
	  "" },
	{ PMU_PCIE_TGT,
	  0,
	  "rd_req",
	  { { "dst_addr_en", 1 }, { "dst_addr_mask", 1 } },
	  FINE,
	  0,
	  "" },
	{ PMU_PCIE_TGT, 0, "rd_req", { { "dst_addr_en", 0 } }, FINE, 0, "" },
	{ PMU_PCIE_TGT,
	  0,
	  "cycles",
	  { { "dst_addr_base", 0x1000 }, { "dst_addr_mask", ~0xfffULL }, { "dst_addr_en", 1 } },
	  CONSTRAINT_RANGE_ON_CYCLES,
	  2,
	  "dst_addr_en=1 on cycles: " },
	{ PMU_PCIE_TGT,
	  0,
	  NULL,
	  { { "event", 4 }, { "dst_addr_base", 0x1000 }, { "dst_addr_en", 1 } },
	  CONSTRAINT_RANGE_ON_CYCLES,
	  2,
	  "dst_addr_en=1 on cycles: " },
	{ PMU_PCIE_TGT, 0, "cycles", { { "dst_rp_mask", 1 } }, FINE, 0, "" },
	{ PMU_PCIE_TGT,
	  0,
	  "rd_req",
	  { { "dst_rp_mask", 1 }, { "dst_addr_base", 0x1000 } },
	  CONSTRAINT_RANGE_NOT_ON,
	  1,
	  "dst_addr_base=0x1000 without dst_addr_en: " },
	{ PMU_PCIE_TGT,
	  0,
	  "rd_req",
	  { { "dst_addr_en", 0 }, { "dst_addr_mask", 0 } },
	  CONSTRAINT_RANGE_NOT_ON,
	  1,
	  "dst_addr_mask=0x0 without dst_addr_en: " },
	{ PMU_PCIE_TGT, 0, "rd_req", { { "dst_rp_mask", 0 } }, FINE, 0, "" },
	{ PMU_PCIE_TGT,
	  0,
	  "rd_req",
	  { { "dst_rp_mask", 0 }, { "dst_addr_base", 0x1000 }, { "dst_addr_en", 1 } },
	  FINE,
	  0,
	  "" },
	{ PMU_PCIE,
	  0,
	  "rd_req",
	  { { "src_bdf", 0x8100 } },
	  CONSTRAINT_BDF_NOT_ON,
	  0,
	  "src_bdf=0x8100 without src_bdf_en: " },
	{ PMU_PCIE, 0, "rd_req", { { "src_bdf", 0 } }, CONSTRAINT_BDF_NOT_ON, 0, "src_bdf=0x0" },
	{ PMU_PCIE,
	  0,
	  "rd_req",
	  { { "src_bdf_en", 0 }, { "src_bdf", 1 } },
	  CONSTRAINT_BDF_NOT_ON,
	  1,
	  "src_bdf=0x1 without src_bdf_en: " },
	{ PMU_PCIE, 0, "rd_req", { { "src_bdf", 0 }, { "src_bdf_en", 1 } }, FINE, 0, "" },
	{ PMU_PCIE, 0, "rd_req", { { "src_bdf_en", 1 } }, FINE, 0, "" },
	{ PMU_PCIE,
	  0,
	  "rd_req",
	  { { "src_bdf", 1 }, { "src_rp_mask", 2 }, { "src_bdf_en", 1 } },
	  CONSTRAINT_BDF_AND_PORTS,
	  1,
	  "src_rp_mask=0x2 together with src_bdf_en: " },
	/* no ports are all ports here; perf's users write the mask that is not used as 0 */
	{ PMU_PCIE,
	  0,
	  "rd_req",
	  { { "src_rp_mask", 0 }, { "src_bdf", 1 }, { "src_bdf_en", 1 } },
	  FINE,
	  0,
	  "" },
	{ PMU_PCIE, 0, "rd_req", { { "src_rp_mask", 0 } }, FINE, 0, "" },
	{ PMU_PCIE, 0, "rd_req", { { "src_rp_mask", 0xff }, { "dst_rem", 1 } }, FINE, 0, "" },
	{ PMU_PCIE, 0, NULL, { { "event", 77 } }, FINE, 0, "" },
	{ PMU_UCF, 0, NULL, { { "event", 0x1ff } }, FINE, 0, "" },
	{ PMU_NVLINK_C2C,
	  0,
	  NULL,
	  { { "event", 9 } },
	  CONSTRAINT_UNLISTED_EVENT,
	  0,
	  "event=0x9 is not among its events: " },
	{ PMU_NVLINK_C2C,
	  0,
	  NULL,
	  { { "gpu_mask", 1 }, { "event", 15 } },
	  CONSTRAINT_UNLISTED_EVENT,
	  1,
	  "event=0xf is not among its events: " },
	{ PMU_NVLINK_C2C, 0, NULL, { { "event", 4 } }, FINE, 0, "" },
	{ PMU_NVLINK_C2C, 1, NULL, { { "event", 4 } }, CONSTRAINT_UNLISTED_EVENT, 0, "event=0x4" },
	{ PMU_NVCLINK, 0, NULL, { { "event", 3 } }, CONSTRAINT_UNLISTED_EVENT, 0, "event=0x3" },
	{ PMU_NVDLINK, 0, NULL, { { "event", 5 } }, CONSTRAINT_UNLISTED_EVENT, 0, "event=0x5" },
	{ PMU_NVDLINK, 0, "in_rd_req", { { "", 0 } }, FINE, 0, "" },
	{ PMU_GRACE_PCIE,
	  0,
	  "rd_req_loc",
	  { { "root_port", 0 } },
	  CONSTRAINT_EMPTY_PORTS,
	  0,
	  "root_port=0x0: " },
	{ PMU_GRACE_PCIE, 0, "rd_req_loc", { { "root_port", 0x100 } }, FINE, 0, "" },
};

static void rules_are_kept(void **state)
{
	bool seen[NR_CONSTRAINTS + 1] = { false };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		const struct pmu *pmu = pmu_of(rules[i].kind, rules[i].socket);
		const struct constraint_row *row = constraint_find(pmu->kind, rules[i].rule);
		struct want want = { .name = "before" };
		size_t nr = nr_terms(rules[i].terms), at = 99;
		char begin[256];
		struct diag d = { 0 };

		seen[rules[i].rule] = true;
		assert_ptr_equal(want_broken(pmu, rules[i].event, rules[i].terms, nr, &at),
				 rules[i].rule == FINE ? NULL : row);
		if (rules[i].rule == FINE) {
			assert_int_equal(want_check(pmu, rules[i].event, rules[i].terms, nr, &d),
					 0);
			assert_string_equal(d.what, "");
			assert_int_equal(
				want_make(pmu, rules[i].event, rules[i].terms, nr, &d, &want), 0);
			assert_string_not_equal(want.name, "before");
			continue;
		}
		assert_non_null(row);
		assert_int_equal(at, rules[i].at);
		assert_int_equal(want_check(pmu, rules[i].event, rules[i].terms, nr, &d), -EINVAL);
		/* the PMU, the rule, why, and what to do instead */
		snprintf(begin, sizeof(begin), "%s: %s", pmu->name, rules[i].words);
		assert_memory_equal(d.what, begin, strlen(begin));
		assert_non_null(strstr(d.what, row->why));
		assert_string_equal(d.help, row->remedy);
		assert_int_equal(want_check(pmu, rules[i].event, rules[i].terms, nr, NULL),
				 -EINVAL);
		assert_int_equal(want_make(pmu, rules[i].event, rules[i].terms, nr, &d, &want),
				 -EINVAL);
		assert_string_equal(want.name, "before");
	}
	for (enum constraint rule = 0; rule < NR_CONSTRAINTS; rule++)
		assert_int_equal(seen[rule],
				 rule != CONSTRAINT_RANGES && rule != CONSTRAINT_ONE_BDF);
}

static void errors_of_encoding_are_passed_on(void **state)
{
	static const struct {
		const char *event;
		struct pmu_term terms[3];
		int err;
	} rows[] = {
		{ "mem_bytes_xx", { { "", 0 } }, -ENOENT },
		{ "mem_bytes_rd", { { "gpu_mask", 1 } }, -ENOENT },
		{ "mem_bytes_rd", { { "src_rem", 2 } }, -ERANGE },
		{ "mem_bytes_rd", { { "src_rem", 1 }, { "src_rem", 1 } }, -EINVAL },
		{ "mem_bytes_rd", { { "event", 1 } }, -EINVAL },
		{ NULL, { { "", 0 } }, -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct want want = { .name = "before" };
		struct diag d = { 0 };

		assert_int_equal(want_make(pmu_of(PMU_UCF, 1), rows[i].event, rows[i].terms,
					   nr_terms(rows[i].terms), &d, &want),
				 rows[i].err);
		assert_string_not_equal(d.what, "");
		assert_string_equal(want.name, "before");
	}
}

/* Filters with names so long that nobody could show them. */
static void too_long(void **state)
{
	struct pmu_format formats[4] = { 0 };
	struct pmu_event event = { .name = "e" };
	struct pmu pmu = *pmu_of(PMU_UCF, 0);
	struct want want = { .name = "before" };
	struct pmu_term terms[4] = { 0 };
	struct diag d = { 0 };

	(void)state;
	pmu.events = &event;
	pmu.nr_events = 1;
	pmu.formats = formats;
	pmu.nr_formats = ARRAY_SIZE(formats);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		char text[16];

		snprintf(text, sizeof(text), "config%zu:0", i);
		assert_int_equal(pmu_format_parse(i ? text : "config:0", &formats[i]), 0);
		memset(formats[i].name, 'a' + (int)i, PMU_NAME_LEN - 1);
		memcpy(terms[i].name, formats[i].name, PMU_NAME_LEN);
	}
	assert_int_equal(want_make(&pmu, "e", terms, 1, &d, &want), 0);
	str_copy(want.name, sizeof(want.name), "before");
	assert_int_equal(want_make(&pmu, "e", terms, 2, &d, &want), -EINVAL);
	assert_int_equal(want_make(&pmu, "e", terms, 4, &d, &want), -EINVAL);
	assert_non_null(strstr(d.what, "too many filters"));
	assert_string_equal(want.name, "before");
}

static void lists_grow(void **state)
{
	struct want_list list = { 0 };
	struct want want = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		want.type = i;
		assert_int_equal(want_add(&list, &want), 0);
	}
	assert_int_equal(list.nr, 100);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(list.wants[i].type, i);
	want_list_free(&list);
	assert_int_equal(list.nr, 0);
	want_list_free(&list);
	want_list_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_those_of_perf),
		cmocka_unit_test(rules_are_kept),
		cmocka_unit_test(errors_of_encoding_are_passed_on),
		cmocka_unit_test(too_long),
		cmocka_unit_test(lists_grow),
	};

	return cmocka_run_group_tests(tests, read_pmus, free_pmus);
}
